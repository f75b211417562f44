#include "identity/vocabulary.h"

#include "identity/identity_state.h"

enum { LIST_AFTER = 64 }; /* documents whose axioms were asked for one by one */

static enum status
find_terms(struct identity *identity, struct reason *why)
{
    static const char *const iris[VOCABULARY_COUNT] = {
#define X(name, iri) [VOCABULARY_##name] = iri,
        VOCABULARY_MAP(X)
#undef X
    };
    const struct quad_source *source = identity->settings.source;
    for (int i = 0; i < VOCABULARY_COUNT; i++) {
        const struct term term = term_iri(slice_string(iris[i]));
        TRY(source->lookup(source->context, &term, &identity->vocabulary.terms[i], why));
    }
    return STATUS_OK;
}

/* Some sources have an identifier for every term; those of axioms that nobody states go. */
static enum status
drop_unused(struct identity *identity, struct reason *why)
{
    for (int kind = 0; kind < SCHEMA_KINDS; kind++) {
        struct quad_oids pattern;
        struct rows rows = {0};
        if (!vocabulary_pattern(identity, (enum vocabulary_term)kind, OID_NONE, &pattern)) {
            continue;
        }
        const enum status status = identity_rows(identity, &pattern, 1, &rows, why);
        if (status == STATUS_OK && rows.count == 0) {
            identity->vocabulary.terms[kind] = OID_NONE;
        }
        rows_release(&rows);
        TRY(status);
    }
    return STATUS_OK;
}

static enum status
note_restricted(struct identity *identity, enum vocabulary_term kind, bool *blank,
                struct reason *why)
{
    struct quad_oids pattern;
    struct rows rows = {0};
    if (!vocabulary_pattern(identity, kind, OID_NONE, &pattern)) {
        return STATUS_OK;
    }
    enum status status = identity_rows(identity, &pattern, SCHEMA_MOST, &rows, why);
    identity->vocabulary.all_restricted = identity->vocabulary.all_restricted || rows.cut;
    for (size_t i = 0; i < rows.count && status == STATUS_OK; i++) {
        struct term property;
        (void)map_add(&identity->vocabulary.restricted, rows.at[i].object);
        if (kind == VOCABULARY_INVERSE_OF) {
            (void)map_add(&identity->vocabulary.restricted, rows.at[i].subject);
        } else if (!*blank) {
            status = identity_term(identity, rows.at[i].object, &property, why);
            *blank = status == STATUS_OK && property.kind == TERM_BLANK;
        }
    }
    rows_release(&rows);
    return status;
}

/* Only of properties that some class restricts are the classes of what they connect asked for. */
static enum status
find_restricted(struct identity *identity, struct reason *why)
{
    bool blank = false;
    if (identity->vocabulary.terms[VOCABULARY_CARDINALITY] == OID_NONE &&
        identity->vocabulary.terms[VOCABULARY_MAX_CARDINALITY] == OID_NONE) {
        return STATUS_OK;
    }
    TRY(note_restricted(identity, VOCABULARY_ON_PROPERTY, &blank, why));
    return blank ? note_restricted(identity, VOCABULARY_INVERSE_OF, &blank, why) : STATUS_OK;
}

bool
vocabulary_pattern(const struct identity *identity, enum vocabulary_term kind, oid document,
                   struct quad_oids *pattern)
{
    const oid *vocabulary = identity->vocabulary.terms;
    const bool is_type = kind > VOCABULARY_REST;
    *pattern = (struct quad_oids){
        .predicate = vocabulary[is_type ? VOCABULARY_TYPE : kind],
        .object = is_type ? vocabulary[kind] : OID_NONE,
        .graph = document,
    };
    return vocabulary[kind] != OID_NONE && pattern->predicate != OID_NONE;
}

static enum status
list_documents(struct identity *identity, struct reason *why)
{
    identity->vocabulary.listed = identity->vocabulary.listed_all = true;
    for (int kind = 0; kind < SCHEMA_KINDS && identity->vocabulary.listed_all; kind++) {
        struct quad_oids pattern;
        struct rows rows = {0};
        /* Lists alone are no axioms. */
        if (kind == VOCABULARY_FIRST || kind == VOCABULARY_REST ||
            !vocabulary_pattern(identity, (enum vocabulary_term)kind, OID_NONE, &pattern)) {
            continue;
        }
        const enum status status = identity_rows(identity, &pattern, SCHEMA_MOST, &rows, why);
        for (size_t i = 0; i < rows.count; i++) {
            (void)map_add(&identity->vocabulary.with_axioms, rows.at[i].graph);
        }
        identity->vocabulary.listed_all = !rows.cut;
        rows_release(&rows);
        TRY(status);
    }
    return STATUS_OK;
}

enum status
vocabulary_may_be_used(struct identity *identity, oid document, bool *may, struct reason *why)
{
    if (!identity->vocabulary.listed && identity->counts.schemas_read >= LIST_AFTER) {
        TRY(list_documents(identity, why));
    }
    *may = !identity->vocabulary.listed_all ||
           map_get(&identity->vocabulary.with_axioms, document) != (uint32_t)MAP_NONE;
    return STATUS_OK;
}

enum status
vocabulary_find(struct identity *identity, struct reason *why)
{
    if (!identity->vocabulary.ready) {
        TRY(find_terms(identity, why));
        TRY(drop_unused(identity, why));
        TRY(find_restricted(identity, why));
        identity->vocabulary.ready = true;
    }
    return STATUS_OK;
}

bool
vocabulary_may_restrict(const struct identity *identity, oid property)
{
    return identity->vocabulary.all_restricted ||
           map_get(&identity->vocabulary.restricted, property) != (uint32_t)MAP_NONE;
}

void
vocabulary_release(struct vocabulary *vocabulary)
{
    map_release(&vocabulary->with_axioms);
    map_release(&vocabulary->restricted);
}
