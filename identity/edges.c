/* Reads from one quad what it says of identity. */
#include "identity/edges.h"
#include "identity/identity_state.h"

struct visiting {
    struct identity *identity;
    const struct quad_oids *quad;
    uint32_t context;
    edge_visit *visit;
    void *state;
};

/* The document of a context stands for all that say the same. */
static oid
said_by(const struct visiting *visiting, oid document)
{
    const struct documents *documents = context_documents(visiting->identity, visiting->context);
    return documents->count > 0 && documents->at[0] == document ? visiting->quad->graph : document;
}

static enum status
visit_identifier(const struct visiting *visiting, enum identity_rule rule,
                 const struct implied *implied, oid by, struct reason *why)
{
    const struct quad_oids *quad = visiting->quad;
    const oid subject = implied->inverted ? quad->object : quad->subject;
    const oid object = implied->inverted ? quad->subject : quad->object;
    const bool inverse = rule_is_inverse(rule);
    const struct identity_edge edge = {.rule = rule,
                                       .resource = inverse ? subject : object,
                                       .property = implied->property,
                                       .value = inverse ? object : subject,
                                       .ontology = said_by(visiting, by),
                                       .quad = *quad};
    return visiting->visit(visiting->state, &edge, why);
}

static enum status
visit_same(const struct visiting *visiting, bool joined, struct reason *why)
{
    const struct identity_edge edge = {.rule = joined ? IDENTITY_JOINED : IDENTITY_SAME_AS,
                                       .resource = visiting->quad->subject,
                                       .other = visiting->quad->object,
                                       .quad = *visiting->quad};
    return visiting->quad->subject != visiting->quad->object
               ? visiting->visit(visiting->state, &edge, why)
               : STATUS_OK;
}

/* ---- at most one ---- */

/* Restrictions of a class that the statement's subject, or object, belongs to. */
static enum status
visit_class(const struct visiting *visiting, const struct meaning *meaning, oid class,
            bool of_object, struct reason *why)
{
    struct restrictions restrictions;
    TRY(restrictions_of(visiting->identity, visiting->context, class, &restrictions, why));
    for (size_t i = 0; i < restrictions.count; i++) {
        const struct restriction *restriction = &restrictions.at[i];
        for (size_t k = 0; k < meaning->count; k++) {
            const struct implied *implied = &meaning->implied[k];
            /* fits says whether the member stands where the restriction counts from. */
            const bool fits = of_object == (implied->inverted != restriction->inverted);
            if (implied->property == restriction->property && fits) {
                TRY(visit_identifier(visiting,
                                     restriction->inverted ? IDENTITY_INVERSE_CARDINALITY
                                                           : IDENTITY_CARDINALITY,
                                     implied, restriction->by, why));
            }
        }
    }
    return STATUS_OK;
}

static enum status
visit_types(const struct visiting *visiting, const struct meaning *meaning, bool of_object,
            struct reason *why)
{
    const struct quad_oids *quad = visiting->quad;
    const struct quad_oids pattern = {.subject = of_object ? quad->object : quad->subject,
                                      .predicate =
                                          visiting->identity->vocabulary.terms[VOCABULARY_TYPE],
                                      .graph = quad->graph};
    struct rows types = {0};
    struct term member;
    TRY(identity_term(visiting->identity, pattern.subject, &member, why));
    if (member.kind == TERM_LITERAL || pattern.predicate == OID_NONE) {
        return STATUS_OK;
    }
    enum status status = identity_rows(visiting->identity, &pattern, CLOSURE_MOST, &types, why);
    for (size_t i = 0; status == STATUS_OK && i < types.count; i++) {
        status = visit_class(visiting, meaning, types.at[i].object, of_object, why);
    }
    rows_release(&types);
    return status;
}

static enum status
visit_restrictions(const struct visiting *visiting, const struct meaning *meaning,
                   struct reason *why)
{
    if (!meaning->restricted) {
        return STATUS_OK;
    }
    for (size_t i = 0; i < meaning->class_count; i++) {
        TRY(visit_class(visiting, meaning, meaning->classes[i].class, meaning->classes[i].of_object,
                        why));
    }
    TRY(visit_types(visiting, meaning, false, why));
    return visit_types(visiting, meaning, true, why);
}

enum status
edges_of(struct identity *identity, const struct quad_oids *quad, edge_visit *visit, void *state,
         bool *undefined, bool *cut, struct reason *why)
{
    const oid *vocabulary = identity->vocabulary.terms;
    struct visiting visiting = {identity, quad, 0, visit, state};
    struct meaning meaning;
    *undefined = false;
    if (quad->graph == vocabulary[VOCABULARY_DECISIONS]) {
        return quad->predicate == vocabulary[VOCABULARY_SAME] ? visit_same(&visiting, true, why)
                                                              : STATUS_OK;
    }
    if (quad->predicate == vocabulary[VOCABULARY_TYPE]) {
        return STATUS_OK;
    }
    TRY(context_of(identity, quad->graph, &visiting.context, why));
    TRY(meaning_of(identity, visiting.context, quad->predicate, &meaning, why));
    *undefined = meaning.undefined;
    *cut = *cut || meaning.cut;
    for (size_t i = 0; i < meaning.count; i++) {
        const struct implied *implied = &meaning.implied[i];
        if (implied->property == vocabulary[VOCABULARY_SAME] && !implied->inverted) {
            TRY(visit_same(&visiting, false, why));
        }
        if (implied->inverse_functional) {
            TRY(visit_identifier(&visiting, IDENTITY_INVERSE_FUNCTIONAL, implied,
                                 implied->inverse_functional_by, why));
        }
        if (implied->functional) {
            TRY(visit_identifier(&visiting, IDENTITY_FUNCTIONAL, implied, implied->functional_by,
                                 why));
        }
    }
    return visit_restrictions(&visiting, &meaning, why);
}
