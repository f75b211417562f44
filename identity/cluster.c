/* The cluster of a resource: all that live edges lead to, then divided where an operator has
 * split it. Resources are joined to values, so pairs are never made. */
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/memory.h"
#include "identity/edges.h"
#include "identity/identity_state.h"
#include "identity/refused_values.h"

enum { VISITED_BETWEEN_CHECKS = 256 };

/* A property and value that were met. */
struct key {
    oid property, value;
    bool inverse;
};
struct split {
    oid one, other;
};
/* Holds who has the value that is looked at. */
struct sharing {
    const struct key *key;
    struct map seen;
    size_t resources;
};

struct search {
    struct identity *identity;
    oid *members;
    struct map member_places;
    size_t member_count;
    struct key *keys;
    struct map key_places;
    size_t key_count;
    struct identity_edge *edges;
    size_t edge_count;
    struct identity_aside *asides;
    size_t aside_count;
    struct split *splits;
    size_t split_count;
    struct map undefined_seen;
    oid *undefined;
    size_t undefined_count;
    struct identity_edge *met; /* what the rows of one resource or value say */
    size_t met_count;
    struct sharing *sharing; /* NULL: a resource is looked at */
    bool too_large, cut;
};

static bool
is_pair(const struct identity_edge *edge)
{
    return edge->rule == IDENTITY_SAME_AS || edge->rule == IDENTITY_JOINED;
}

static struct key
key_of(const struct identity_edge *edge)
{
    return (struct key){edge->property, edge->value, rule_is_inverse(edge->rule)};
}

/* The place of a key, and whether it was there already. */
static uint32_t
find_key(struct search *search, const struct key *key, bool *known)
{
    const uint64_t parts[3] = {key->property, key->value, key->inverse};
    uint64_t hash = digest_local(slice_of((const char *)parts, sizeof parts));
    uint32_t place;
    while ((place = map_get(&search->key_places, hash)) != (uint32_t)MAP_NONE) {
        const struct key *other = &search->keys[place];
        if (other->property == key->property && other->value == key->value &&
            other->inverse == key->inverse) {
            *known = true;
            return place;
        }
        hash++;
    }
    *known = false;
    place = (uint32_t)search->key_count;
    map_set(&search->key_places, hash, place);
    *(struct key *)list_add(&search->keys, &search->key_count, sizeof *key) = *key;
    return place;
}

/* ---- rows to edges ---- */

static bool
same_key(const struct identity_edge *edge, const struct key *key)
{
    return !is_pair(edge) && edge->property == key->property && edge->value == key->value &&
           rule_is_inverse(edge->rule) == key->inverse;
}

/* While a value is looked at, only what is of its key is kept, until too many have it. */
static enum status
keep_met(void *state, const struct identity_edge *edge, struct reason *why)
{
    struct search *search = state;
    struct sharing *sharing = search->sharing;
    if (sharing != NULL) {
        struct term resource;
        if (!same_key(edge, sharing->key)) {
            return STATUS_OK;
        }
        TRY(identity_term(search->identity, edge->resource, &resource, why));
        if (resource.kind == TERM_LITERAL) {
            return STATUS_OK;
        }
        sharing->resources += map_add(&sharing->seen, edge->resource);
        if (sharing->resources > search->identity->settings.limits.shared) {
            return STATUS_END;
        }
    }
    *(struct identity_edge *)list_add(&search->met, &search->met_count, sizeof *edge) = *edge;
    return STATUS_OK;
}

/* Appends to search->met all that the rows of a pattern say. END: more share the value than may. */
static enum status
meet_rows(struct search *search, const struct quad_oids *pattern, struct reason *why)
{
    struct identity *identity = search->identity;
    struct rows rows = {0};
    enum status status =
        identity_rows(identity, pattern, identity->settings.limits.rows, &rows, why);
    search->cut = search->cut || rows.cut;
    for (size_t i = 0; status == STATUS_OK && i < rows.count; i++) {
        bool undefined;
        status = edges_of(identity, &rows.at[i], keep_met, search, &undefined, &search->cut, why);
        if (status == STATUS_OK && undefined &&
            map_add(&search->undefined_seen, rows.at[i].predicate)) {
            *(oid *)list_add(&search->undefined, &search->undefined_count, sizeof(oid)) =
                rows.at[i].predicate;
        }
        if (status == STATUS_OK && i % VISITED_BETWEEN_CHECKS == 0) {
            status = deadline_check(&identity->deadline, why);
        }
    }
    rows_release(&rows);
    return status;
}

/* All that is said with the term as subject or object; or END. */
static enum status
meet(struct search *search, oid id, struct reason *why)
{
    struct term term;
    search->met_count = 0;
    TRY(identity_term(search->identity, id, &term, why));
    if (term.kind != TERM_LITERAL) {
        const struct quad_oids said = {.subject = id};
        TRY(meet_rows(search, &said, why));
    }
    const struct quad_oids saying = {.object = id};
    return meet_rows(search, &saying, why);
}

/* ---- the component ---- */

static enum status
add_member(struct search *search, oid resource, struct reason *why)
{
    struct term term;
    if (map_get(&search->member_places, resource) != (uint32_t)MAP_NONE) {
        return STATUS_OK;
    }
    TRY(identity_term(search->identity, resource, &term, why));
    if (term.kind == TERM_LITERAL) {
        return STATUS_OK;
    }
    map_set(&search->member_places, resource, (uint32_t)search->member_count);
    *(oid *)list_add(&search->members, &search->member_count, sizeof(oid)) = resource;
    search->too_large = search->member_count > search->identity->settings.limits.members;
    return STATUS_OK;
}

static enum status
is_refused(struct search *search, oid property, oid value, bool *refused, struct reason *why)
{
    struct term name = {.kind = TERM_NONE}, term;
    if (property != OID_NONE) {
        TRY(identity_term(search->identity, property, &name, why));
    }
    TRY(identity_term(search->identity, value, &term, why));
    *refused = value_is_refused(name.value, &term);
    return STATUS_OK;
}

static void
add_aside(struct search *search, enum identity_aside_reason reason,
          const struct identity_edge *edge, size_t resources)
{
    *(struct identity_aside *)list_add(&search->asides, &search->aside_count,
                                       sizeof *search->asides) =
        (struct identity_aside){reason, *edge, resources};
}

/* Everybody who has the value. */
static enum status
expand_key(struct search *search, const struct identity_edge *first, struct reason *why)
{
    const struct key key = key_of(first);
    struct sharing sharing = {.key = &key};
    bool known, refused;
    (void)find_key(search, &key, &known);
    if (known) {
        return STATUS_OK;
    }
    TRY(is_refused(search, key.property, key.value, &refused, why));
    if (refused) {
        add_aside(search, IDENTITY_ASIDE_REFUSED, first, 1);
        return STATUS_OK;
    }
    search->sharing = &sharing;
    const enum status status = meet(search, key.value, why);
    search->sharing = NULL;
    map_release(&sharing.seen);
    if (status == STATUS_END) {
        add_aside(search, IDENTITY_ASIDE_SHARED, first, sharing.resources);
        return STATUS_OK;
    }
    TRY(status);
    /* Who has a value alone is the same as nobody by it. */
    for (size_t i = 0; i < search->met_count && sharing.resources > 1 && !search->too_large; i++) {
        *(struct identity_edge *)list_add(&search->edges, &search->edge_count,
                                          sizeof *search->edges) = search->met[i];
        TRY(add_member(search, search->met[i].resource, why));
    }
    return STATUS_OK;
}

/* The edge is seen from both its ends; from that which comes first it is kept. */
static enum status
expand_pair(struct search *search, const struct identity_edge *edge, oid from, size_t at,
            struct reason *why)
{
    const oid to = edge->resource == from ? edge->other : edge->resource;
    const uint32_t place = map_get(&search->member_places, to);
    bool refused;
    if (place != (uint32_t)MAP_NONE && place < at) {
        return STATUS_OK;
    }
    TRY(is_refused(search, OID_NONE, to, &refused, why));
    if (refused && edge->rule == IDENTITY_SAME_AS) {
        add_aside(search, IDENTITY_ASIDE_REFUSED, edge, 1);
        return STATUS_OK;
    }
    TRY(add_member(search, to, why));
    if (map_get(&search->member_places, to) != (uint32_t)MAP_NONE) {
        *(struct identity_edge *)list_add(&search->edges, &search->edge_count, sizeof *edge) =
            *edge;
    }
    return STATUS_OK;
}

static enum status
read_splits(struct search *search, oid resource, struct reason *why)
{
    struct identity *identity = search->identity;
    const struct quad_oids pattern = {.subject = resource,
                                      .predicate = identity->vocabulary.terms[VOCABULARY_DIFFERENT],
                                      .graph = identity->vocabulary.terms[VOCABULARY_DECISIONS]};
    struct rows rows = {0};
    if (pattern.predicate == OID_NONE || pattern.graph == OID_NONE) {
        return STATUS_OK;
    }
    const enum status status =
        identity_rows(identity, &pattern, identity->settings.limits.members, &rows, why);
    search->cut = search->cut || rows.cut;
    for (size_t i = 0; i < rows.count; i++) {
        *(struct split *)list_add(&search->splits, &search->split_count, sizeof(struct split)) =
            (struct split){resource, rows.at[i].object};
    }
    rows_release(&rows);
    return status;
}

static enum status
expand_member(struct search *search, size_t at, struct reason *why)
{
    const oid resource = search->members[at];
    TRY(read_splits(search, resource, why));
    TRY(meet(search, resource, why));
    /* search->met is used anew when a value is expanded. */
    struct identity_edge *met = search->met;
    const size_t count = search->met_count;
    search->met = NULL;
    search->met_count = 0;
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < count && !search->too_large; i++) {
        if (is_pair(&met[i])) {
            status = expand_pair(search, &met[i], resource, at, why);
        } else if (met[i].resource == resource) {
            status = expand_key(search, &met[i], why);
        }
    }
    free(met);
    return status;
}

/* ---- splits ---- */

static uint32_t
find_root(uint32_t *parents, uint32_t node)
{
    while (parents[node] != node) {
        parents[node] = parents[parents[node]];
        node = parents[node];
    }
    return node;
}

/* Tells whether to join both would bring together what is split. */
static bool
is_split(const struct search *search, uint32_t *parents, uint32_t one, uint32_t other)
{
    for (size_t i = 0; i < search->split_count; i++) {
        const uint32_t a = map_get(&search->member_places, search->splits[i].one);
        const uint32_t b = map_get(&search->member_places, search->splits[i].other);
        if (a == (uint32_t)MAP_NONE || b == (uint32_t)MAP_NONE || a == b) {
            continue;
        }
        const uint32_t first = find_root(parents, a), second = find_root(parents, b);
        if ((first == one && second == other) || (first == other && second == one)) {
            return true;
        }
    }
    return false;
}

/* Nodes are members, then keys. Edges come in their order, so that the same edges have the same
 * end in whatever order they were found. */
static void
unite(struct search *search, uint32_t *parents)
{
    for (uint32_t i = 0; i < search->member_count + search->key_count; i++) {
        parents[i] = i;
    }
    for (size_t i = 0; i < search->edge_count; i++) {
        struct identity_edge *edge = &search->edges[i];
        uint32_t other;
        if (is_pair(edge)) {
            other = map_get(&search->member_places, edge->other);
        } else {
            bool known;
            const struct key key = key_of(edge);
            other = (uint32_t)search->member_count + find_key(search, &key, &known);
        }
        const uint32_t one = find_root(parents, map_get(&search->member_places, edge->resource));
        other = find_root(parents, other);
        edge->split = one != other && is_split(search, parents, one, other);
        if (!edge->split) {
            parents[one] = other;
        }
    }
}

/* ---- order ---- */

static int
compare_ids(struct identity *identity, oid a, oid b)
{
    struct term left, right;
    if (a == b || a == OID_NONE || b == OID_NONE) {
        return a == b ? 0 : a == OID_NONE ? -1 : 1;
    }
    /* All terms of edges and members were read before. */
    return identity_term(identity, a, &left, NULL) == STATUS_OK &&
                   identity_term(identity, b, &right, NULL) == STATUS_OK
               ? term_compare(&left, &right)
               : 0;
}

static int
compare_edges(const void *a, const void *b, void *identity)
{
    const struct identity_edge *left = a, *right = b;
    const oid places[][2] = {
        {left->property, right->property},     {left->value, right->value},
        {left->resource, right->resource},     {left->other, right->other},
        {left->quad.graph, right->quad.graph}, {left->quad.predicate, right->quad.predicate}};
    /* An operator's word goes before all others. */
    const int first = (right->rule == IDENTITY_JOINED) - (left->rule == IDENTITY_JOINED);
    int order = first != 0 ? first : (int)left->rule - (int)right->rule;
    for (size_t i = 0; order == 0 && i < sizeof places / sizeof places[0]; i++) {
        order = compare_ids(identity, places[i][0], places[i][1]);
    }
    return order;
}

static int
compare_members(const void *a, const void *b, void *identity)
{
    return compare_ids(identity, *(const oid *)a, *(const oid *)b);
}

static enum status
read_terms(struct search *search, struct reason *why)
{
    struct term term;
    for (size_t i = 0; i < search->edge_count; i++) {
        const struct identity_edge *edge = &search->edges[i];
        const oid ids[] = {edge->property,   edge->value,          edge->resource, edge->other,
                           edge->quad.graph, edge->quad.predicate, edge->ontology};
        for (size_t k = 0; k < sizeof ids / sizeof ids[0]; k++) {
            if (ids[k] != OID_NONE) {
                TRY(identity_term(search->identity, ids[k], &term, why));
            }
        }
    }
    return STATUS_OK;
}

/* ---- the answer ---- */

static enum status
copy(struct arena *arena, const void *from, size_t size, void *result, struct reason *why)
{
    return keep_in(arena, from, size, result, "a cluster does not fit in memory", why);
}

/* Chooses what concerns the resource itself; of a cluster that is too large nothing else is
 * told. */
static void
choose_own(struct search *search, oid resource)
{
    size_t kept = 0;
    for (size_t i = 0; i < search->edge_count; i++) {
        if (search->edges[i].resource == resource || search->edges[i].other == resource) {
            search->edges[kept++] = search->edges[i];
        }
    }
    search->edge_count = kept;
    search->member_count = 1;
}

/* Keeps who is the same as the resource, why, and what was not followed because of a split. */
static void
choose_class(struct search *search, uint32_t *parents)
{
    const uint32_t root = find_root(parents, 0);
    size_t members = 0, edges = 0;
    for (size_t i = 0; i < search->edge_count; i++) {
        struct identity_edge *edge = &search->edges[i];
        const uint32_t one = map_get(&search->member_places, edge->resource);
        if (find_root(parents, one) == root || edge->split) {
            search->edges[edges++] = *edge;
        }
    }
    for (uint32_t i = 0; i < search->member_count; i++) {
        if (find_root(parents, i) == root) {
            search->members[members++] = search->members[i];
        }
    }
    search->edge_count = edges;
    search->member_count = members;
}

static enum status
make_cluster(struct search *search, oid resource, struct arena *arena,
             struct identity_cluster *cluster, struct reason *why)
{
    struct identity *identity = search->identity;
    *cluster = (struct identity_cluster){.resource = resource,
                                         .reached = search->member_count,
                                         .too_large = search->too_large,
                                         .cut = search->cut};
    if (search->too_large) {
        choose_own(search, resource);
    }
    TRY(read_terms(search, why));
    if (search->edge_count > 0) {
        qsort_r(search->edges, search->edge_count, sizeof *search->edges, compare_edges, identity);
    }
    if (!search->too_large) {
        uint32_t *parents =
            memory_alloc((search->member_count + search->key_count) * sizeof *parents);
        unite(search, parents);
        choose_class(search, parents);
        free(parents);
    }
    qsort_r(search->members, search->member_count, sizeof(oid), compare_members, identity);
    cluster->member_count = search->member_count;
    cluster->edge_count = search->edge_count;
    cluster->aside_count = search->aside_count;
    cluster->undefined_count = search->undefined_count;
    TRY(copy(arena, search->members, search->member_count * sizeof(oid), &cluster->members, why));
    TRY(copy(arena, search->edges, search->edge_count * sizeof *search->edges, &cluster->edges,
             why));
    TRY(copy(arena, search->asides, search->aside_count * sizeof *search->asides, &cluster->asides,
             why));
    return copy(arena, search->undefined, search->undefined_count * sizeof(oid),
                &cluster->undefined, why);
}

enum status
identity_find(struct identity *identity, oid resource, struct arena *arena,
              struct identity_cluster *cluster, struct reason *why)
{
    struct search search = {.identity = identity};
    TRY(vocabulary_find(identity, why));
    enum status status = add_member(&search, resource, why);
    for (size_t at = 0; status == STATUS_OK && at < search.member_count && !search.too_large;
         at++) {
        status = expand_member(&search, at, why);
    }
    if (status == STATUS_OK && search.member_count == 0) {
        status = status_fail(why, STATUS_MISUSE, "a literal is the same as nothing else");
    }
    if (status == STATUS_OK) {
        status = make_cluster(&search, resource, arena, cluster, why);
    }
    map_release(&search.member_places);
    map_release(&search.key_places);
    map_release(&search.undefined_seen);
    free(search.members);
    free(search.keys);
    free(search.edges);
    free(search.asides);
    free(search.splits);
    free(search.undefined);
    free(search.met);
    return status;
}
