/* RDFC-1.0, section numbers of the recommendation in brackets.
 *
 * The specification copies identifier issuers for every permutation it tries. Here there is
 * one temporary issuer, a list in order of issue; a "copy" is its length, and what was
 * issued since is undone, or saved when it belongs to the best path so far. The work limit
 * counts related blank nodes visited in permutations, and the quads of each node that hash
 * n-degree quads is called for: hashes, near enough.
 */
#include "rdf/canonical/canonical.h"

#include <stdio.h>
#include <stdlib.h>

#include <nettle/sha2.h>

#include "base/buf.h"
#include "base/memory.h"
#include "rdf/canonical/blank_index.h"
#include "rdf/core/writer.h"

enum { HEX_SIZE = 2 * SHA384_DIGEST_SIZE + 1 };

struct canonicalizer {
    const struct graph *graph;
    struct blank_index index;
    enum canonical_hash hash;
    struct buf lines;
    uint32_t *quads; /* numbers of the quads, duplicates left out, grouped by blank node ... */
    size_t *first;   /* ... whose group is first[node] .. first[node + 1] */
    uint8_t (*hashes)[SHA384_DIGEST_SIZE]; /* first degree [4.6]; SHA-256 leaves the rest 0 */
    uint32_t *canonical;                   /* issued numbers [4.5] or BLANK_NONE */
    uint32_t issued;
    uint32_t *temporary; /* number in the temporary issuer or BLANK_NONE */
    uint32_t *order;     /* nodes of the temporary issuer in order of issue */
    uint32_t order_count;
    uint64_t work; /* left */
    unsigned depth;
};

static void
hash_digest(const struct canonicalizer *c, struct slice bytes, uint8_t digest[SHA384_DIGEST_SIZE])
{
    if (c->hash == CANONICAL_SHA256) {
        digest_sha256(bytes, digest);
        return;
    }
    struct sha512_ctx context;
    sha384_init(&context);
    sha384_update(&context, bytes.length, (const uint8_t *)bytes.at);
    sha384_digest(&context, SHA384_DIGEST_SIZE, digest);
}

static void
hash_hex(const struct canonicalizer *c, const uint8_t *digest, char hex[HEX_SIZE])
{
    digest_hex(digest, c->hash == CANONICAL_SHA256 ? SHA256_DIGEST_SIZE : SHA384_DIGEST_SIZE, hex);
}

static void
hash_bytes(const struct canonicalizer *c, struct slice bytes, char hex[HEX_SIZE])
{
    uint8_t digest[SHA384_DIGEST_SIZE];
    hash_digest(c, bytes, digest);
    hash_hex(c, digest, hex);
}

/* ---- blank node to quads map [4.4.3, step 2] ---- */

static int
compare_quads(const void *a, const void *b, void *context)
{
    const struct quad *quads = context;
    return quad_compare(&quads[*(const uint32_t *)a], &quads[*(const uint32_t *)b]);
}

/* Numbers of the quads with blank nodes, each only once. */
static uint32_t *
distinct_quads(const struct canonicalizer *c, size_t *count)
{
    const struct graph *graph = c->graph;
    uint32_t *quads = memory_zero(graph->count, sizeof *quads);
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < graph->count; i++) {
        const uint32_t *places = c->index.places[i];
        if (places[0] != BLANK_NONE || places[1] != BLANK_NONE || places[2] != BLANK_NONE) {
            quads[n++] = (uint32_t)i;
        }
    }
    qsort_r(quads, n, sizeof *quads, compare_quads, graph->quads);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || quad_compare(&graph->quads[quads[kept - 1]], &graph->quads[quads[i]]) != 0) {
            quads[kept++] = quads[i];
        }
    }
    *count = kept;
    return quads;
}

/* Tells whether place is the first in its quad to hold its node. */
static bool
is_first_place(const uint32_t *places, int place)
{
    for (int i = 0; i < place; i++) {
        if (places[i] == places[place]) {
            return false;
        }
    }
    return places[place] != BLANK_NONE;
}

static void
map_quads(struct canonicalizer *c)
{
    size_t count = 0;
    uint32_t *distinct = distinct_quads(c, &count);
    const size_t nodes = c->index.count;
    c->first = memory_zero(nodes + 2, sizeof *c->first);
    size_t total = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t *places = c->index.places[distinct[i]];
        for (int place = 0; place < BLANK_PLACES; place++) {
            if (is_first_place(places, place)) {
                c->first[places[place] + 2]++;
                total++;
            }
        }
    }
    for (size_t node = 0; node < nodes; node++) {
        c->first[node + 2] += c->first[node + 1];
    }
    c->quads = memory_zero(total, sizeof *c->quads);
    for (size_t i = 0; i < count; i++) {
        const uint32_t *places = c->index.places[distinct[i]];
        for (int place = 0; place < BLANK_PLACES; place++) {
            if (is_first_place(places, place)) {
                c->quads[c->first[places[place] + 1]++] = distinct[i];
            }
        }
    }
    free(distinct);
}

/* ---- hash first degree quads [4.6] ---- */

static int
compare_slices(const void *a, const void *b)
{
    return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

static void
hash_first_degree(struct canonicalizer *c, uint32_t node)
{
    const size_t from = c->first[node], count = c->first[node + 1] - from;
    size_t *ends = memory_zero(count, sizeof *ends);
    struct slice *lines = memory_zero(count, sizeof *lines);
    buf_reset(&c->lines);
    for (size_t i = 0; i < count; i++) {
        struct quad quad = c->graph->quads[c->quads[from + i]];
        const uint32_t *places = c->index.places[c->quads[from + i]];
        for (int place = 0; place < BLANK_PLACES; place++) {
            if (places[place] != BLANK_NONE) {
                blank_place(&quad, place)->value = places[place] == node ? SLICE("a") : SLICE("z");
            }
        }
        nquads_write(&c->lines, &quad);
        ends[i] = c->lines.length;
    }
    for (size_t i = 0, start = 0; i < count; start = ends[i++]) {
        lines[i] = slice_of(c->lines.data + start, ends[i] - start);
    }
    if (count > 1) {
        struct buf sorted;
        buf_init(&sorted, SIZE_MAX / 2);
        qsort(lines, count, sizeof *lines, compare_slices);
        for (size_t i = 0; i < count; i++) {
            buf_append_slice(&sorted, lines[i]);
        }
        hash_digest(c, buf_slice(&sorted), c->hashes[node]);
        buf_release(&sorted);
    } else {
        hash_digest(c, buf_slice(&c->lines), c->hashes[node]);
    }
    free(lines);
    free(ends);
}

/* ---- issuers [4.5] ---- */

static void
issue_canonical(struct canonicalizer *c, uint32_t node)
{
    if (c->canonical[node] == BLANK_NONE) {
        c->canonical[node] = c->issued++;
    }
}

static void
issue_temporary(struct canonicalizer *c, uint32_t node)
{
    if (c->temporary[node] == BLANK_NONE) {
        c->temporary[node] = c->order_count;
        c->order[c->order_count++] = node;
    }
}

static void
undo_temporary(struct canonicalizer *c, uint32_t count)
{
    while (c->order_count > count) {
        c->temporary[c->order[--c->order_count]] = BLANK_NONE;
    }
}

/* ---- hash related blank node [4.7] ---- */

static void
hash_related(const struct canonicalizer *c, uint32_t related, const struct quad *quad, int place,
             char hex[HEX_SIZE])
{
    struct buf input;
    buf_init(&input, SIZE_MAX / 2);
    buf_append_char(&input, "sog"[place]);
    if (place != 2) {
        nquads_write_term(&input, &quad->predicate);
    }
    if (c->canonical[related] != BLANK_NONE) {
        buf_printf(&input, "_:c14n%u", c->canonical[related]);
    } else if (c->temporary[related] != BLANK_NONE) {
        buf_printf(&input, "_:b%u", c->temporary[related]);
    } else {
        hash_hex(c, c->hashes[related], hex);
        buf_append_string(&input, hex);
    }
    hash_bytes(c, buf_slice(&input), hex);
    buf_release(&input);
}

/* ---- hash n-degree quads [4.8] ---- */

struct related {
    char hash[HEX_SIZE];
    uint32_t node;
};

static int
compare_related(const void *left, const void *right)
{
    const struct related *a = left, *b = right;
    const int order = strcmp(a->hash, b->hash);
    return order != 0 ? order : (a->node > b->node) - (a->node < b->node);
}

/* Step 3, sorted by hash, and by node within a hash. */
static struct related *
collect_related(const struct canonicalizer *c, uint32_t node, size_t *count)
{
    const size_t from = c->first[node], to = c->first[node + 1];
    struct related *related = memory_zero((to - from) * BLANK_PLACES, sizeof *related);
    size_t n = 0;
    for (size_t i = from; i < to; i++) {
        const uint32_t *places = c->index.places[c->quads[i]];
        for (int place = 0; place < BLANK_PLACES; place++) {
            if (places[place] != BLANK_NONE && places[place] != node) {
                related[n].node = places[place];
                hash_related(c, places[place], &c->graph->quads[c->quads[i]], place,
                             related[n].hash);
                n++;
            }
        }
    }
    qsort(related, n, sizeof *related, compare_related);
    *count = n;
    return related;
}

/* The next permutation in lexical order; equal members do not multiply them. */
static bool
next_permutation(uint32_t *nodes, size_t count)
{
    size_t i = count;
    while (i > 1 && nodes[i - 2] >= nodes[i - 1]) {
        i--;
    }
    if (i <= 1) {
        return false;
    }
    size_t j = count - 1;
    while (nodes[j] <= nodes[i - 2]) {
        j--;
    }
    uint32_t swap = nodes[i - 2];
    nodes[i - 2] = nodes[j];
    nodes[j] = swap;
    for (size_t low = i - 1, high = count - 1; low < high; low++, high--) {
        swap = nodes[low];
        nodes[low] = nodes[high];
        nodes[high] = swap;
    }
    return true;
}

/* The best way found through one group of related nodes with equal hashes. */
struct choice {
    struct buf path;
    uint32_t *issued; /* what the temporary issuer issued for it */
    uint32_t issued_count;
    bool made;
};

static enum status hash_n_degree(struct canonicalizer *c, uint32_t node, char hex[HEX_SIZE]);

static enum status
spend(struct canonicalizer *c, uint64_t work)
{
    if (c->work < work) {
        return STATUS_LIMIT;
    }
    c->work -= work;
    return STATUS_OK;
}

static bool
is_worse(const struct buf *path, const struct choice *best)
{
    return best->made && path->length >= best->path.length &&
           slice_compare(buf_slice(path), buf_slice(&best->path)) > 0;
}

/* Step 5.4 for one permutation. *worse: given up. recursion has room for count nodes. */
static enum status
follow(struct canonicalizer *c, const uint32_t *nodes, size_t count, const struct choice *best,
       uint32_t *recursion, struct buf *path, bool *worse)
{
    size_t recursions = 0;
    *worse = false;
    for (size_t i = 0; i < count && !*worse; i++) {
        const uint32_t node = nodes[i];
        TRY(spend(c, 1));
        if (c->canonical[node] != BLANK_NONE) {
            buf_printf(path, "_:c14n%u", c->canonical[node]);
        } else {
            if (c->temporary[node] == BLANK_NONE) {
                recursion[recursions++] = node;
            }
            issue_temporary(c, node);
            buf_printf(path, "_:b%u", c->temporary[node]);
        }
        *worse = is_worse(path, best);
    }
    for (size_t i = 0; i < recursions && !*worse; i++) {
        char hex[HEX_SIZE];
        TRY(hash_n_degree(c, recursion[i], hex));
        buf_printf(path, "_:b%u<%s>", c->temporary[recursion[i]], hex);
        *worse = is_worse(path, best);
    }
    return STATUS_OK;
}

static void
choose(struct canonicalizer *c, const struct buf *path, uint32_t before, struct choice *best)
{
    if (best->made && slice_compare(buf_slice(path), buf_slice(&best->path)) >= 0) {
        return;
    }
    best->made = true;
    best->issued_count = c->order_count - before;
    buf_reset(&best->path);
    buf_append_slice(&best->path, buf_slice(path));
    best->issued = memory_resize(best->issued, best->issued_count + 1, sizeof *best->issued);
    memcpy(best->issued, c->order + before, best->issued_count * sizeof *best->issued);
}

/* Steps 5.2 to 5.6: tries all permutations of the group, leaves the best issued. */
static enum status
hash_group(struct canonicalizer *c, uint32_t *nodes, size_t count, struct choice *best)
{
    const uint32_t before = c->order_count;
    uint32_t *recursion = memory_zero(count, sizeof *recursion);
    enum status status = STATUS_OK;
    struct buf path;
    buf_init(&path, SIZE_MAX / 2);
    do {
        bool worse = false;
        buf_reset(&path);
        status = follow(c, nodes, count, best, recursion, &path, &worse);
        if (status == STATUS_OK && !worse) {
            choose(c, &path, before, best);
        }
        undo_temporary(c, before);
    } while (status == STATUS_OK && next_permutation(nodes, count));
    for (uint32_t i = 0; status == STATUS_OK && i < best->issued_count; i++) {
        issue_temporary(c, best->issued[i]);
    }
    buf_release(&path);
    free(recursion);
    return status;
}

/* Steps 4 to 6 over the groups of equal hash. */
static enum status
hash_groups(struct canonicalizer *c, const struct related *related, size_t count, struct buf *data)
{
    uint32_t *nodes = memory_zero(count + 1, sizeof *nodes);
    enum status status = STATUS_OK;
    for (size_t start = 0, end; start < count && status == STATUS_OK; start = end) {
        struct choice best = {0};
        buf_init(&best.path, SIZE_MAX / 2);
        for (end = start; end < count && strcmp(related[end].hash, related[start].hash) == 0;
             end++) {
            nodes[end - start] = related[end].node;
        }
        status = hash_group(c, nodes, end - start, &best);
        buf_append_string(data, related[start].hash);
        buf_append_slice(data, buf_slice(&best.path));
        buf_release(&best.path);
        free(best.issued);
    }
    free(nodes);
    return status;
}

/* Hashes node and leaves in the temporary issuer what the best path issued. */
static enum status
hash_n_degree(struct canonicalizer *c, uint32_t node, char hex[HEX_SIZE])
{
    TRY(spend(c, 1 + c->first[node + 1] - c->first[node]));
    if (c->depth == CANONICAL_DEPTH) {
        return STATUS_LIMIT;
    }
    c->depth++;
    size_t count = 0;
    struct buf data;
    struct related *related = collect_related(c, node, &count);
    buf_init(&data, SIZE_MAX / 2);
    const enum status status = hash_groups(c, related, count, &data);
    if (status == STATUS_OK) {
        hash_bytes(c, buf_slice(&data), hex);
    }
    buf_release(&data);
    free(related);
    c->depth--;
    return status;
}

/* ---- the algorithm [4.4.3] ---- */

struct result {
    char hash[HEX_SIZE];
    uint32_t *issued; /* nodes in order of issue */
    uint32_t count;
};

static int
compare_results(const void *a, const void *b)
{
    return strcmp(((const struct result *)a)->hash, ((const struct result *)b)->hash);
}

/* Step 5 for the nodes of one hash. */
static enum status
issue_group(struct canonicalizer *c, const uint32_t *nodes, size_t count)
{
    struct result *results = memory_zero(count, sizeof *results);
    size_t n = 0;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        if (c->canonical[nodes[i]] != BLANK_NONE) {
            continue;
        }
        issue_temporary(c, nodes[i]);
        status = hash_n_degree(c, nodes[i], results[n].hash);
        results[n].count = c->order_count;
        results[n].issued = memory_zero(c->order_count, sizeof *results[n].issued);
        memcpy(results[n].issued, c->order, c->order_count * sizeof *c->order);
        n++;
        undo_temporary(c, 0);
    }
    if (status == STATUS_OK) {
        qsort(results, n, sizeof *results, compare_results);
    }
    for (size_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < results[i].count && status == STATUS_OK; j++) {
            issue_canonical(c, results[i].issued[j]);
        }
        free(results[i].issued);
    }
    free(results);
    return status;
}

static int
compare_by_hash(const void *left, const void *right, void *context)
{
    const uint8_t(*hashes)[SHA384_DIGEST_SIZE] = context;
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const int order = memcmp(hashes[a], hashes[b], SHA384_DIGEST_SIZE);
    return order != 0 ? order : (a > b) - (a < b);
}

static size_t
group_end(const struct canonicalizer *c, const uint32_t *nodes, size_t start)
{
    size_t end = start + 1;
    while (end < c->index.count &&
           memcmp(c->hashes[nodes[start]], c->hashes[nodes[end]], SHA384_DIGEST_SIZE) == 0) {
        end++;
    }
    return end;
}

static enum status
issue_all(struct canonicalizer *c)
{
    const size_t count = c->index.count;
    uint32_t *nodes = memory_zero(count, sizeof *nodes);
    for (uint32_t node = 0; node < count; node++) {
        hash_first_degree(c, node);
        nodes[node] = node;
        c->canonical[node] = c->temporary[node] = BLANK_NONE;
    }
    qsort_r(nodes, count, sizeof *nodes, compare_by_hash, c->hashes);
    for (size_t start = 0, end; start < count; start = end) {
        end = group_end(c, nodes, start);
        if (end == start + 1) {
            issue_canonical(c, nodes[start]);
        }
    }
    enum status status = STATUS_OK;
    for (size_t start = 0, end; start < count && status == STATUS_OK; start = end) {
        end = group_end(c, nodes, start);
        if (end > start + 1) {
            status = issue_group(c, nodes + start, end - start);
        }
    }
    free(nodes);
    return status;
}

enum status
canonical_number(const struct graph *graph, const struct blank_index *index,
                 enum canonical_hash hash, uint64_t work, uint32_t *numbers)
{
    struct canonicalizer c = {.graph = graph, .index = *index, .hash = hash};
    c.work = work > 0 ? work : CANONICAL_WORK;
    c.hashes = memory_zero(index->count, sizeof *c.hashes);
    c.temporary = memory_zero(index->count, sizeof *c.temporary);
    c.order = memory_zero(index->count, sizeof *c.order);
    c.canonical = numbers;
    buf_init(&c.lines, SIZE_MAX / 2);
    map_quads(&c);
    const enum status status = issue_all(&c);
    for (size_t i = 0; status != STATUS_OK && i < index->count; i++) {
        numbers[i] = BLANK_NONE;
    }
    buf_release(&c.lines);
    free(c.quads);
    free(c.first);
    free(c.hashes);
    free(c.temporary);
    free(c.order);
    return status;
}

enum status
canonical_issue(const struct graph *graph, enum canonical_hash hash, uint64_t work,
                struct canonical_map *map, struct reason *why)
{
    struct blank_index index;
    blank_index_build(&index, graph);
    *map = (struct canonical_map){.count = index.count, .labels = index.labels};
    map->numbers = memory_zero(index.count + 1, sizeof *map->numbers);
    const enum status status =
        index.count == 0 ? STATUS_OK : canonical_number(graph, &index, hash, work, map->numbers);
    index.labels = NULL; /* the map's now */
    blank_index_release(&index);
    return status == STATUS_OK
               ? STATUS_OK
               : status_fail(why, status, "the graph's blank nodes are too alike to be told apart");
}

void
canonical_map_release(struct canonical_map *map)
{
    free(map->labels);
    free(map->numbers);
    *map = (struct canonical_map){0};
}
