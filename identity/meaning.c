#include "identity/meaning.h"

#include <stdlib.h>
#include <string.h>

#include "identity/identity_state.h"

/* Holds what is known of the documents that define a term. */
struct authority {
    bool undefined; /* there are none */
    bool cut;       /* not all were read */
};

/* Calls visit for each axiom about the term that counts in the context, with its document. */
typedef enum status axiom_visit(void *state, const struct axiom *axiom, oid document,
                                struct reason *why);

static enum status
visit_document(struct identity *identity, oid document, oid term, axiom_visit *visit, void *state,
               struct reason *why)
{
    struct schema schema;
    size_t count;
    TRY(schema_read(identity, document, &schema, why));
    const struct axiom *axioms = schema_about(&schema, term, &count);
    for (size_t i = 0; i < count; i++) {
        TRY(visit(state, &axioms[i], document, why));
    }
    return STATUS_OK;
}

static enum status
visit_axioms(struct identity *identity, const struct documents *context, oid term,
             axiom_visit *visit, void *state, struct authority *authority, struct reason *why)
{
    struct documents documents;
    TRY(authority_of(identity, term, &documents, why));
    *authority =
        (struct authority){documents.count == 0 && !documents.fixed, documents.cut || context->cut};
    for (size_t i = 0; i < documents.count; i++) {
        TRY(visit_document(identity, documents.at[i], term, visit, state, why));
    }
    for (size_t i = 0; i < context->count; i++) {
        TRY(visit_document(identity, context->at[i], term, visit, state, why));
    }
    return STATUS_OK;
}

/* ---- properties ---- */

struct closure {
    struct implied list[CLOSURE_MOST];
    size_t count, at; /* at: the one whose axioms are read */
    struct implied_class classes[CLOSURE_MOST];
    size_t class_count;
    bool cut;
};

static void
imply(struct closure *closure, oid property, bool inverted)
{
    for (size_t i = 0; i < closure->count; i++) {
        if (closure->list[i].property == property && closure->list[i].inverted == inverted) {
            return;
        }
    }
    if (closure->count == CLOSURE_MOST) {
        closure->cut = true;
        return;
    }
    closure->list[closure->count++] = (struct implied){.property = property, .inverted = inverted};
}

static void
imply_class(struct closure *closure, oid class, bool of_object)
{
    for (size_t i = 0; i < closure->class_count; i++) {
        if (closure->classes[i].class == class && closure->classes[i].of_object == of_object) {
            return;
        }
    }
    if (closure->class_count == CLOSURE_MOST) {
        closure->cut = true;
        return;
    }
    closure->classes[closure->class_count++] = (struct implied_class){class, of_object};
}

static enum status
take_property_axiom(void *state, const struct axiom *axiom, oid document, struct reason *why)
{
    struct closure *closure = state;
    struct implied *of = &closure->list[closure->at];
    const bool inverted = of->inverted;
    (void)why;
    switch (axiom->kind) {
    case VOCABULARY_SUB_PROPERTY:
    case VOCABULARY_EQUIVALENT_PROPERTY:
        imply(closure, axiom->object, inverted);
        break;
    case VOCABULARY_INVERSE_OF:
        imply(closure, axiom->object, !inverted);
        break;
    case VOCABULARY_SYMMETRIC:
        imply(closure, axiom->subject, !inverted);
        break;
    case VOCABULARY_FUNCTIONAL:
        of->functional_by = of->functional ? of->functional_by : document;
        of->functional = true;
        break;
    case VOCABULARY_INVERSE_FUNCTIONAL:
        of->inverse_functional_by = of->inverse_functional ? of->inverse_functional_by : document;
        of->inverse_functional = true;
        break;
    case VOCABULARY_DOMAIN:
        imply_class(closure, axiom->object, inverted);
        break;
    case VOCABULARY_RANGE:
        imply_class(closure, axiom->object, !inverted);
        break;
    default:
        break;
    }
    return STATUS_OK;
}

static enum status
make_meaning(struct identity *identity, const struct documents *context, oid property,
             struct meaning *meaning, struct reason *why)
{
    struct closure closure = {.count = 0};
    imply(&closure, property, false);
    for (; closure.at < closure.count; closure.at++) {
        struct authority authority;
        TRY(visit_axioms(identity, context, closure.list[closure.at].property, take_property_axiom,
                         &closure, &authority, why));
        meaning->undefined = meaning->undefined || (closure.at == 0 && authority.undefined);
        closure.cut = closure.cut || authority.cut;
        meaning->restricted = meaning->restricted ||
                              vocabulary_may_restrict(identity, closure.list[closure.at].property);
    }
    meaning->count = closure.count;
    meaning->class_count = closure.class_count;
    meaning->cut = closure.cut;
    TRY(identity_keep(identity, closure.list, closure.count * sizeof closure.list[0],
                      &meaning->implied, why));
    return identity_keep(identity, closure.classes, closure.class_count * sizeof closure.classes[0],
                         &meaning->classes, why);
}

/* The places of a context, which stay where they are only until the next context's are made. */
static struct context_places *
places_of(struct identity *identity, uint32_t context)
{
    struct meanings *meanings = &identity->meanings;
    while (meanings->context_count <= context) {
        *(struct context_places *)list_add(&meanings->contexts, &meanings->context_count,
                                           sizeof *meanings->contexts) = (struct context_places){0};
    }
    return &meanings->contexts[context];
}

enum status
meaning_of(struct identity *identity, uint32_t context, oid property, struct meaning *meaning,
           struct reason *why)
{
    const uint32_t place = map_get(&places_of(identity, context)->properties, property);
    if (place != (uint32_t)MAP_NONE) {
        identity->counts.meanings_found++;
        *meaning = identity->meanings.list[place];
        return STATUS_OK;
    }
    const struct documents documents = *context_documents(identity, context);
    *meaning = (struct meaning){.count = 0};
    TRY(make_meaning(identity, &documents, property, meaning, why));
    identity->counts.meanings_made++;
    map_set(&places_of(identity, context)->properties, property,
            (uint32_t)identity->meanings.count);
    *(struct meaning *)list_add(&identity->meanings.list, &identity->meanings.count,
                                sizeof *meaning) = *meaning;
    return STATUS_OK;
}

/* ---- classes ---- */

struct class_closure {
    struct identity *identity;
    const struct documents *context;
    oid list[CLOSURE_MOST];
    size_t count, at;
    struct restriction found[CLOSURE_MOST];
    size_t found_count;
    oid on_property, at_most_one_by; /* of the present class, if it is a restriction */
};

static void
include_class(struct class_closure *closure, oid class)
{
    for (size_t i = 0; i < closure->count; i++) {
        if (closure->list[i] == class) {
            return;
        }
    }
    if (closure->count < CLOSURE_MOST) {
        closure->list[closure->count++] = class;
    }
}

/* Members of an intersection are members of each class in the list. */
static enum status
include_list(struct class_closure *closure, oid document, oid node, struct reason *why)
{
    struct schema schema;
    TRY(schema_read(closure->identity, document, &schema, why));
    for (size_t cells = 0; node != OID_NONE && cells < CLOSURE_MOST; cells++) {
        size_t count;
        const struct axiom *axioms = schema_about(&schema, node, &count);
        node = OID_NONE;
        for (size_t i = 0; i < count; i++) {
            if (axioms[i].kind == VOCABULARY_FIRST) {
                include_class(closure, axioms[i].object);
            } else if (axioms[i].kind == VOCABULARY_REST) {
                node = axioms[i].object;
            }
        }
    }
    return STATUS_OK;
}

static enum status
take_class_axiom(void *state, const struct axiom *axiom, oid document, struct reason *why)
{
    struct class_closure *closure = state;
    switch (axiom->kind) {
    case VOCABULARY_SUB_CLASS:
    case VOCABULARY_EQUIVALENT_CLASS:
        include_class(closure, axiom->object);
        break;
    case VOCABULARY_INTERSECTION:
        return include_list(closure, document, axiom->object, why);
    case VOCABULARY_ON_PROPERTY:
        closure->on_property = axiom->object;
        break;
    case VOCABULARY_MAX_CARDINALITY:
        closure->at_most_one_by = document;
        break;
    default:
        break;
    }
    return STATUS_OK;
}

static void
add_restriction(struct class_closure *closure, oid property, bool inverted)
{
    if (closure->found_count < CLOSURE_MOST) {
        closure->found[closure->found_count++] =
            (struct restriction){property, inverted, closure->at_most_one_by};
    }
}

/* A blank node stands for the inverse of a property. */
static enum status
take_inverse(void *state, const struct axiom *axiom, oid document, struct reason *why)
{
    (void)document, (void)why;
    if (axiom->kind == VOCABULARY_INVERSE_OF) {
        add_restriction(state, axiom->object, true);
    }
    return STATUS_OK;
}

static enum status
take_restriction(struct class_closure *closure, struct reason *why)
{
    struct term property;
    struct authority authority;
    if (closure->on_property == OID_NONE || closure->at_most_one_by == OID_NONE) {
        return STATUS_OK;
    }
    TRY(identity_term(closure->identity, closure->on_property, &property, why));
    if (property.kind == TERM_IRI) {
        add_restriction(closure, closure->on_property, false);
        return STATUS_OK;
    }
    return visit_axioms(closure->identity, closure->context, closure->on_property, take_inverse,
                        closure, &authority, why);
}

enum status
restrictions_of(struct identity *identity, uint32_t context, oid class,
                struct restrictions *restrictions, struct reason *why)
{
    const uint32_t place = map_get(&places_of(identity, context)->classes, class);
    if (place != (uint32_t)MAP_NONE) {
        *restrictions = identity->meanings.restrictions[place];
        return STATUS_OK;
    }
    const struct documents documents = *context_documents(identity, context);
    struct class_closure closure = {.identity = identity, .context = &documents};
    include_class(&closure, class);
    for (; closure.at < closure.count; closure.at++) {
        struct authority authority;
        closure.on_property = closure.at_most_one_by = OID_NONE;
        TRY(visit_axioms(identity, &documents, closure.list[closure.at], take_class_axiom, &closure,
                         &authority, why));
        TRY(take_restriction(&closure, why));
    }
    restrictions->count = closure.found_count;
    TRY(identity_keep(identity, closure.found, closure.found_count * sizeof closure.found[0],
                      &restrictions->at, why));
    map_set(&places_of(identity, context)->classes, class,
            (uint32_t)identity->meanings.restriction_count);
    *(struct restrictions *)list_add(&identity->meanings.restrictions,
                                     &identity->meanings.restriction_count, sizeof *restrictions) =
        *restrictions;
    return STATUS_OK;
}

void
meanings_release(struct meanings *meanings)
{
    for (size_t i = 0; i < meanings->context_count; i++) {
        map_release(&meanings->contexts[i].properties);
        map_release(&meanings->contexts[i].classes);
    }
    free(meanings->contexts);
    free(meanings->list);
    free(meanings->restrictions);
}
