#include <stdlib.h>

#include "identity/identity_private.h"

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
    struct axiom *axioms;
    oid *imports;
    size_t count, import_count;
    bool cut;
};

static void
add(struct gathering *gathering, oid subject, enum vocabulary_term kind, oid object)
{
    if (gathering->count >= SCHEMA_MOST) {
        gathering->cut = true;
        return;
    }
    *(struct axiom *)list_add(&gathering->axioms, &gathering->count, sizeof *gathering->axioms) =
        (struct axiom){.subject = subject, .object = object, .kind = kind};
}

static enum status
add_row(struct gathering *gathering, enum vocabulary_term kind, const struct quad_oids *row,
        struct reason *why)
{
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
    default:
        break;
    }
    add(gathering, row->subject, kind, row->object);
    return STATUS_OK;
}

static enum status
gather(struct gathering *gathering, oid document, enum vocabulary_term kind, struct reason *why)
{
    const oid *vocabulary = gathering->identity->vocabulary;
    const bool is_type = kind > VOCABULARY_REST;
    const struct quad_oids pattern = {
        .predicate = vocabulary[is_type ? VOCABULARY_TYPE : kind],
        .object = is_type ? vocabulary[kind] : OID_NONE,
        .graph = document,
    };
    struct rows rows = {0};
    if (vocabulary[kind] == OID_NONE || pattern.predicate == OID_NONE) {
        return STATUS_OK;
    }
    enum status status = identity_rows(gathering->identity, &pattern, SCHEMA_MOST, &rows, why);
    gathering->cut = gathering->cut || rows.cut;
    for (size_t i = 0; status == STATUS_OK && i < rows.count; i++) {
        status = add_row(gathering, kind, &rows.at[i], why);
    }
    rows_release(&rows);
    return status;
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

static enum status
gather_all(struct gathering *gathering, oid document, struct reason *why)
{
    bool lists = false;
    for (int kind = 0; kind < SCHEMA_TYPES_END; kind++) {
        const size_t before = gathering->count;
        /* Lists stand in many documents; here only those of classes matter. */
        if ((kind != VOCABULARY_FIRST && kind != VOCABULARY_REST) || lists) {
            TRY(gather(gathering, document, (enum vocabulary_term)kind, why));
        }
        lists = lists || (kind == VOCABULARY_INTERSECTION && gathering->count > before);
    }
    return STATUS_OK;
}

enum status
schema_read(struct identity *identity, oid document, struct schema *schema, struct reason *why)
{
    const uint32_t place = map_get(&identity->schema_places, document);
    if (place != (uint32_t)MAP_NONE) {
        *schema = identity->schemas[place];
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
    map_set(&identity->schema_places, document, (uint32_t)identity->schema_count);
    *(struct schema *)list_add(&identity->schemas, &identity->schema_count, sizeof *schema) =
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
