#include "identity/schema.h"

#include <stdlib.h>

#include "identity/identity_state.h"

/* ---- reading ---- */

static bool
is_one(const struct term *term)
{
    struct slice digits = slice_trim(term->value);
    while (digits.length > 1 && (digits.at[0] == '0' || digits.at[0] == '+')) {
        digits = slice_of(digits.at + 1, digits.length - 1);
    }
    return term->kind == TERM_LITERAL && slice_is(digits, "1");
}

struct gathering {
    struct identity *identity;
    enum vocabulary_term kinds[SCHEMA_KINDS]; /* of the patterns that are read */
    struct axiom *axioms;
    oid *imports;
    size_t count, import_count;
    bool lists; /* some are of classes */
    bool cut;
};

static void
add(struct gathering *gathering, oid subject, enum vocabulary_term kind, oid object)
{
    *(struct axiom *)list_add(&gathering->axioms, &gathering->count, sizeof *gathering->axioms) =
        (struct axiom){.subject = subject, .object = object, .kind = kind};
}

static enum status
add_row(void *state, uint32_t number, const struct quad_oids *row, struct reason *why)
{
    struct gathering *gathering = state;
    const enum vocabulary_term kind = gathering->kinds[number];
    struct term object;
    switch (kind) {
    case VOCABULARY_CARDINALITY:
    case VOCABULARY_MAX_CARDINALITY:
        TRY(identity_term(gathering->identity, row->object, &object, why));
        if (is_one(&object)) {
            add(gathering, row->subject, VOCABULARY_MAX_CARDINALITY, OID_NONE);
        }
        return STATUS_OK;
    case VOCABULARY_IMPORTS:
        *(oid *)list_add(&gathering->imports, &gathering->import_count, sizeof(oid)) = row->object;
        return STATUS_OK;
    case VOCABULARY_EQUIVALENT_PROPERTY:
    case VOCABULARY_EQUIVALENT_CLASS:
    case VOCABULARY_INVERSE_OF:
        add(gathering, row->object, kind, row->subject);
        break;
    case VOCABULARY_INTERSECTION:
        gathering->lists = true;
        break;
    default:
        break;
    }
    add(gathering, row->subject, kind, row->object);
    return STATUS_OK;
}

/* Reads the axioms of the kinds that the document has. */
static enum status
gather(struct gathering *gathering, oid document, const enum vocabulary_term *kinds, size_t count,
       struct reason *why)
{
    struct quad_oids patterns[SCHEMA_KINDS];
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (vocabulary_pattern(gathering->identity, kinds[i], document, &patterns[n])) {
            gathering->kinds[n++] = kinds[i];
        }
    }
    return identity_rows_many(gathering->identity, patterns, n, SCHEMA_MOST, add_row, gathering,
                              &gathering->cut, why);
}

static int
compare(const void *a, const void *b)
{
    const struct axiom *left = a, *right = b;
    if (left->subject != right->subject) {
        return left->subject < right->subject ? -1 : 1;
    }
    if (left->kind != right->kind) {
        return left->kind < right->kind ? -1 : 1;
    }
    return left->object < right->object ? -1 : left->object > right->object;
}

/* Lists stand in many documents; only those of classes matter, and in few. */
static enum status
gather_all(struct gathering *gathering, oid document, struct reason *why)
{
    static const enum vocabulary_term lists[] = {VOCABULARY_FIRST, VOCABULARY_REST};
    enum vocabulary_term kinds[SCHEMA_KINDS];
    size_t n = 0;
    for (int kind = 0; kind < SCHEMA_KINDS; kind++) {
        if (kind != VOCABULARY_FIRST && kind != VOCABULARY_REST) {
            kinds[n++] = (enum vocabulary_term)kind;
        }
    }
    TRY(gather(gathering, document, kinds, n, why));
    return gathering->lists ? gather(gathering, document, lists, 2, why) : STATUS_OK;
}

enum status
schema_read(struct identity *identity, oid document, struct schema *schema, struct reason *why)
{
    const uint32_t place = map_get(&identity->schemas.places, document);
    if (place != (uint32_t)MAP_NONE) {
        *schema = identity->schemas.list[place];
        return STATUS_OK;
    }
    bool may;
    TRY(vocabulary_may_be_used(identity, document, &may, why));
    if (!may) {
        *schema = (struct schema){.count = 0};
        return STATUS_OK;
    }
    struct gathering gathering = {.identity = identity};
    enum status status = gather_all(&gathering, document, why);
    *schema = (struct schema){
        .count = gathering.count, .import_count = gathering.import_count, .cut = gathering.cut};
    if (status == STATUS_OK && gathering.count > 0) {
        qsort(gathering.axioms, gathering.count, sizeof *gathering.axioms, compare);
        status = identity_keep(identity, gathering.axioms,
                               gathering.count * sizeof *gathering.axioms, &schema->axioms, why);
    }
    if (status == STATUS_OK) {
        status = identity_keep(identity, gathering.imports, gathering.import_count * sizeof(oid),
                               &schema->imports, why);
    }
    free(gathering.axioms);
    free(gathering.imports);
    TRY(status);
    identity->counts.schemas_read++;
    map_set(&identity->schemas.places, document, (uint32_t)identity->schemas.count);
    *(struct schema *)list_add(&identity->schemas.list, &identity->schemas.count, sizeof *schema) =
        *schema;
    return STATUS_OK;
}

const struct axiom *
schema_about(const struct schema *schema, oid subject, size_t *count)
{
    size_t low = 0, high = schema->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (schema->axioms[middle].subject < subject) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    size_t n = 0;
    while (low + n < schema->count && schema->axioms[low + n].subject == subject) {
        n++;
    }
    *count = n;
    return n > 0 ? schema->axioms + low : NULL;
}

void
schemas_release(struct schemas *schemas)
{
    map_release(&schemas->places);
    free(schemas->list);
}
