/* One element: RDFa Core 1.1, section 7.5; RDFa 1.0, section 5.5; HTML+RDFa 1.1, section 3.1.
 * Comments give the steps' numbers in RDFa Core. */
#include "transforms/rdfa/rdfa_steps.h"

#include "base/ascii.h"
#include "base/memory.h"
#include "rdf/core/vocabulary.h"

/* Holds what the steps hand on. */
struct step {
    struct rdfa *rdfa;
    const struct rdfa_context *outer;
    const struct rdfa_element *element;
    struct rdfa_context *inner;
    bool is_root, is_head_or_body;
    bool relates; /* rel or rev count */
    bool skip;    /* the element is as if it were not there */
    struct slice rel, rev;
    struct term subject; /* new subject */
    struct term object;  /* current object resource */
    struct term type;    /* typed resource */
    struct rdfa_incomplete *incomplete;
};

static bool
has(const struct step *step, unsigned bits)
{
    return rdfa_has(step->element, bits);
}

static bool
is_1_0(const struct step *step)
{
    return step->rdfa->host == RDFA_XHTML_1_0;
}

/* ---- resources ---- */

static struct term
resource_of(const struct step *step, enum rdfa_attribute attribute)
{
    const struct rdfa_element *element = step->element;
    if (!(element->present & 1u << attribute)) {
        return (struct term){0};
    }
    return attribute == RDFA_HREF || attribute == RDFA_SRC
               ? rdfa_link(step->rdfa, step->inner, element->values[attribute])
               : rdfa_resource(step->rdfa, step->inner, element->values[attribute]);
}

/* The first that gives one. */
static struct term
first_resource(const struct step *step, enum rdfa_attribute a, enum rdfa_attribute b,
               enum rdfa_attribute c)
{
    struct term term = resource_of(step, a);
    if (term.kind == TERM_NONE) {
        term = resource_of(step, b);
    }
    return term.kind == TERM_NONE ? resource_of(step, c) : term;
}

static struct term
base_of(const struct step *step)
{
    const struct slice iri = rdfa_resolve(step->rdfa, step->inner->base, SLICE(""));
    return iri.at ? term_iri(iri) : step->outer->parent_object;
}

/* ---- steps 2 to 4 ---- */

static struct slice
language_of(struct rdfa *rdfa, struct slice tag)
{
    tag = slice_trim(tag);
    if (tag.length == 0 || tag.length > 35) {
        return (struct slice){0};
    }
    char lower[36];
    size_t part = 0;
    bool first = true;
    for (size_t i = 0; i < tag.length; i++) {
        const char c = tag.at[i] == '_' ? '-' : tag.at[i];
        lower[i] = ascii_lower(c);
        const bool letter = lower[i] >= 'a' && lower[i] <= 'z';
        if (lower[i] == '-' ? part == 0 : !letter && (first || lower[i] < '0' || lower[i] > '9')) {
            return (struct slice){0};
        }
        first &= lower[i] != '-';
        part = lower[i] == '-' ? 0 : part + 1;
    }
    return part > 0 ? rdfa_keep(rdfa, slice_of(lower, tag.length)) : (struct slice){0};
}

static void
use_vocabulary(struct step *step)
{
    struct rdfa *rdfa = step->rdfa;
    const struct slice value = slice_trim(step->element->values[RDFA_VOCAB]);
    step->inner->vocabulary = (struct slice){0};
    if (value.length == 0) {
        return;
    }
    const struct slice iri = rdfa_resolve(rdfa, step->inner->base, value);
    if (!iri.at) {
        rdfa_tell(rdfa, RDFA_MALFORMED, "vocab is no IRI");
        return;
    }
    step->inner->vocabulary = iri;
    const struct term document = term_iri(rdfa->base), object = term_iri(iri);
    rdfa_add(rdfa, &document, SLICE(RDFA_NAMESPACE "usesVocabulary"), &object);
    for (size_t i = 0; i < rdfa->vocabulary_count; i++) {
        if (slice_equal(rdfa->vocabularies[i], iri)) {
            return;
        }
    }
    if (rdfa->options->vocabulary && rdfa->vocabulary_count < RDFA_TOKENS) {
        rdfa->vocabularies = memory_resize(rdfa->vocabularies, rdfa->vocabulary_count + 1,
                                           sizeof *rdfa->vocabularies);
        rdfa->vocabularies[rdfa->vocabulary_count++] = iri;
    }
}

static void
read_surroundings(struct step *step)
{
    struct rdfa *rdfa = step->rdfa;
    const struct rdfa_element *element = step->element;
    if (has(step, RDFA_BIT(XML_BASE))) {
        const struct slice base =
            rdfa_resolve(rdfa, step->outer->base, slice_trim(element->values[RDFA_XML_BASE]));
        if (base.at) {
            step->inner->base = base;
            rdfa->scope++;
        }
    }
    if (has(step, RDFA_BIT(VOCAB))) {
        use_vocabulary(step);
    }
    if (has(step, RDFA_BIT(XML_LANG))) {
        step->inner->language = language_of(rdfa, element->values[RDFA_XML_LANG]);
    } else if (has(step, RDFA_BIT(LANG))) {
        step->inner->language = language_of(rdfa, element->values[RDFA_LANG]);
    }
}

/* Beside property HTML's own link relations do not count (HTML+RDFa section 3.1). */
static struct slice
names_only(struct rdfa *rdfa, struct slice relations)
{
    struct slice token, rest = relations;
    bool all = true;
    while ((token = slice_next_word(&rest)).length > 0) {
        all &= slice_find(token, ':') < token.length;
    }
    if (all) {
        return relations;
    }
    struct buf *text = &rdfa->text;
    buf_reset(text);
    while ((token = slice_next_word(&relations)).length > 0) {
        if (slice_find(token, ':') < token.length) {
            buf_append_slice(text, token);
            buf_append_char(text, ' ');
        }
    }
    return rdfa_keep(rdfa, buf_slice(text));
}

static void
read_relations(struct step *step)
{
    const struct rdfa_element *element = step->element;
    bool has_rel = has(step, RDFA_BIT(REL)), has_rev = has(step, RDFA_BIT(REV));
    step->rel = has_rel ? element->values[RDFA_REL] : SLICE("");
    step->rev = has_rev ? element->values[RDFA_REV] : SLICE("");
    if (step->rdfa->host == RDFA_HTML && has(step, RDFA_BIT(PROPERTY))) {
        if (has_rel) {
            step->rel = names_only(step->rdfa, step->rel);
            has_rel = step->rel.length > 0;
        }
        if (has_rev) {
            step->rev = names_only(step->rdfa, step->rev);
            has_rev = step->rev.length > 0;
        }
    }
    step->relates = has_rel || has_rev;
}

/* ---- steps 5 and 6: subject and object ---- */

/* Without about: the document for its root, else what the parent is about. */
static struct term
inherited_subject(const struct step *step)
{
    return step->is_root ? base_of(step) : step->outer->parent_object;
}

/* 5.1 */
static void
find_subject_of_property(struct step *step)
{
    const struct term about = resource_of(step, RDFA_ABOUT);
    step->subject = about.kind != TERM_NONE ? about : inherited_subject(step);
    if (has(step, RDFA_BIT(TYPEOF))) {
        step->type = about;
        if (step->type.kind == TERM_NONE && step->is_root) {
            step->type = step->subject;
        }
        if (step->type.kind == TERM_NONE) {
            step->type = first_resource(step, RDFA_RESOURCE, RDFA_HREF, RDFA_SRC);
        }
        if (step->type.kind == TERM_NONE) {
            step->type = rdfa_blank(step->rdfa);
        }
        step->object = step->type;
    }
}

/* 5.2 */
static void
find_subject(struct step *step)
{
    step->subject = resource_of(step, RDFA_ABOUT);
    if (step->subject.kind == TERM_NONE) {
        step->subject = is_1_0(step) ? first_resource(step, RDFA_SRC, RDFA_RESOURCE, RDFA_HREF)
                                     : first_resource(step, RDFA_RESOURCE, RDFA_HREF, RDFA_SRC);
    }
    if (step->subject.kind == TERM_NONE) {
        if (is_1_0(step) ? step->is_head_or_body : step->is_root) {
            step->subject = base_of(step);
        } else if (step->is_head_or_body) {
            step->subject = step->outer->parent_object;
        } else if (has(step, RDFA_BIT(TYPEOF))) {
            step->subject = rdfa_blank(step->rdfa);
        } else {
            step->subject = step->outer->parent_object;
            step->skip = !has(step, RDFA_BIT(PROPERTY));
        }
    }
    if (has(step, RDFA_BIT(TYPEOF))) {
        step->type = step->subject;
    }
}

/* 6 */
static void
find_subject_and_object(struct step *step)
{
    const bool typed = has(step, RDFA_BIT(TYPEOF));
    const struct term about = resource_of(step, RDFA_ABOUT);
    step->subject = about.kind != TERM_NONE ? about : inherited_subject(step);
    step->object = first_resource(step, RDFA_RESOURCE, RDFA_HREF, RDFA_SRC);
    if (!typed) {
        return;
    }
    if (has(step, RDFA_BIT(ABOUT))) {
        step->type = about;
        return;
    }
    if (step->object.kind == TERM_NONE) {
        step->object = rdfa_blank(step->rdfa);
    }
    step->type = step->object;
}

/* Step 5 of RDFa 1.0: src is a subject, href and resource are objects, typeof is the subject's. */
static void
find_subject_and_object_1_0(struct step *step)
{
    step->subject = resource_of(step, RDFA_ABOUT);
    if (step->subject.kind == TERM_NONE) {
        step->subject = resource_of(step, RDFA_SRC);
    }
    if (step->subject.kind == TERM_NONE) {
        step->subject = step->is_head_or_body         ? base_of(step)
                        : has(step, RDFA_BIT(TYPEOF)) ? rdfa_blank(step->rdfa)
                                                      : step->outer->parent_object;
    }
    step->object = resource_of(step, RDFA_RESOURCE);
    if (step->object.kind == TERM_NONE) {
        step->object = resource_of(step, RDFA_HREF);
    }
    if (has(step, RDFA_BIT(TYPEOF))) {
        step->type = step->subject;
    }
}

/* ---- step 7 ---- */

static void
add_types(struct step *step)
{
    struct slice tokens = step->element->values[RDFA_TYPEOF], token;
    for (unsigned i = 0; i < RDFA_TOKENS && (token = slice_next_word(&tokens)).length > 0; i++) {
        const struct term type = rdfa_name(step->rdfa, step->inner, token, RDFA_USE_TYPE);
        if (type.kind != TERM_NONE) {
            rdfa_add(step->rdfa, &step->type, SLICE(RDF_TYPE), &type);
        }
    }
}

/* ---- step 8: lists ---- */

/* own: 0 for those of the subject, 1 for those of the object. */
static void
begin_lists(struct step *step, const struct term *subject, unsigned own)
{
    struct rdfa *rdfa = step->rdfa;
    struct rdfa_lists *lists = arena_zero(&rdfa->arena, sizeof *lists);
    rdfa->full |= !lists;
    if (lists) {
        step->inner->lists = lists;
        step->inner->own[own].lists = lists;
        step->inner->own[own].subject = *subject;
    }
}

/* NULL: there is no room for more. */
static struct rdfa_list *
find_list(struct step *step, struct slice predicate)
{
    struct rdfa *rdfa = step->rdfa;
    struct rdfa_lists *lists = step->inner->lists;
    for (struct rdfa_list *list = lists->first; list; list = list->next) {
        if (slice_equal(list->predicate, predicate)) {
            return list;
        }
    }
    if (lists->count == RDFA_LISTS) {
        rdfa_tell(rdfa, RDFA_TOO_MUCH, "more than %d lists of one subject", RDFA_LISTS);
        return NULL;
    }
    struct rdfa_list *list = arena_zero(&rdfa->arena, sizeof *list);
    rdfa->full |= !list;
    if (list) {
        list->predicate = predicate;
        list->line = rdfa->line;
        *(lists->last ? &lists->last->next : &lists->first) = list;
        lists->last = list;
        lists->count++;
    }
    return list;
}

static void
add_to_list(struct rdfa *rdfa, struct rdfa_list *list, const struct term *value)
{
    struct rdfa_item *item = list ? arena_zero(&rdfa->arena, sizeof *item) : NULL;
    rdfa->full |= list && !item;
    if (item) {
        item->value = *value;
        *(list->last ? &list->last->next : &list->first) = item;
        list->last = item;
    }
}

/* ---- steps 9 and 10: relations ---- */

static void
relate(struct step *step, enum rdfa_direction direction, struct slice predicate)
{
    struct rdfa *rdfa = step->rdfa;
    struct rdfa_list *list = direction == RDFA_INTO_LIST ? find_list(step, predicate) : NULL;
    if (step->object.kind == TERM_NONE) {
        struct rdfa_incomplete *incomplete = arena_zero(&rdfa->arena, sizeof *incomplete);
        rdfa->full |= !incomplete;
        if (incomplete && (list || direction != RDFA_INTO_LIST)) {
            *incomplete = (struct rdfa_incomplete){direction, predicate, list, step->incomplete};
            step->incomplete = incomplete;
        }
    } else if (direction == RDFA_INTO_LIST) {
        add_to_list(rdfa, list, &step->object);
    } else if (direction == RDFA_FORWARD) {
        rdfa_add(rdfa, &step->subject, predicate, &step->object);
    } else if (step->object.kind != TERM_LITERAL) {
        rdfa_add(rdfa, &step->object, predicate, &step->subject);
    }
}

static void
add_relations(struct step *step, struct slice tokens, enum rdfa_direction direction)
{
    struct slice token;
    unsigned count = 0;
    while ((token = slice_next_word(&tokens)).length > 0) {
        const struct term name = rdfa_name(step->rdfa, step->inner, token, RDFA_USE_RELATION);
        if (name.kind == TERM_NONE) {
            continue;
        }
        if (count++ == RDFA_INCOMPLETE) {
            rdfa_tell(step->rdfa, RDFA_TOO_MUCH, "more than %d relations", RDFA_INCOMPLETE);
            return;
        }
        relate(step, direction, name.value);
    }
}

static void
add_all_relations(struct step *step)
{
    const bool in_list = has(step, RDFA_BIT(INLIST));
    add_relations(step, step->rel, in_list ? RDFA_INTO_LIST : RDFA_FORWARD);
    add_relations(step, step->rev, RDFA_REVERSE);
    if (step->incomplete) {
        step->object = rdfa_blank(step->rdfa);
    }
}

/* ---- step 11: properties ---- */

/* NONE: a literal is wanted. */
static struct term
resource_value(const struct step *step)
{
    if (is_1_0(step) || has(step, RDFA_BIT(CONTENT) | RDFA_BIT(DATATYPE) | RDFA_BIT(DATETIME))) {
        return (struct term){0};
    }
    if (!step->relates) {
        const struct term term = first_resource(step, RDFA_RESOURCE, RDFA_HREF, RDFA_SRC);
        if (term.kind != TERM_NONE) {
            return term;
        }
    }
    const bool typed = has(step, RDFA_BIT(TYPEOF)) && !has(step, RDFA_BIT(ABOUT));
    return typed ? step->type : (struct term){0};
}

/* false: RDFa 1.0 made an XMLLiteral, whose inside says nothing more. */
static bool
add_properties(struct step *step)
{
    struct rdfa *rdfa = step->rdfa;
    struct slice tokens = step->element->values[RDFA_PROPERTY], token;
    struct term value = {0};
    bool is_xml = false;
    unsigned count = 0;
    while ((token = slice_next_word(&tokens)).length > 0) {
        const struct term name = rdfa_name(rdfa, step->inner, token, RDFA_USE_PROPERTY);
        if (name.kind == TERM_NONE) {
            continue;
        }
        if (count++ == RDFA_TOKENS) {
            rdfa_tell(rdfa, RDFA_TOO_MUCH, "more than %d properties", RDFA_TOKENS);
            break;
        }
        if (value.kind == TERM_NONE) {
            value = resource_value(step);
        }
        if (value.kind == TERM_NONE) {
            value = rdfa_literal(rdfa, step->inner, step->element, &is_xml);
        }
        if (has(step, RDFA_BIT(INLIST))) {
            add_to_list(rdfa, find_list(step, name.value), &value);
        } else {
            rdfa_add(rdfa, &step->subject, name.value, &value);
        }
    }
    return !(is_1_0(step) && is_xml);
}

/* ---- steps 12 and 13 ---- */

static void
complete(struct step *step)
{
    struct rdfa *rdfa = step->rdfa;
    for (struct rdfa_incomplete *at = step->outer->incomplete; at; at = at->next) {
        switch (at->direction) {
        case RDFA_FORWARD:
            rdfa_add(rdfa, &step->outer->parent_subject, at->predicate, &step->subject);
            break;
        case RDFA_REVERSE:
            rdfa_add(rdfa, &step->subject, at->predicate, &step->outer->parent_subject);
            break;
        case RDFA_INTO_LIST:
            add_to_list(rdfa, at->list, &step->subject);
            break;
        }
    }
}

/* Hands on to what is inside an element: with an object it speaks of that, and its lists are
 * others. */
static void
hand_on(struct step *step)
{
    if (step->skip) {
        return;
    }
    step->inner->parent_subject = step->subject;
    step->inner->parent_object = step->subject;
    if (step->object.kind != TERM_NONE) {
        step->inner->parent_object = step->object;
        if (!term_equal(&step->object, &step->subject)) {
            begin_lists(step, &step->object, 1);
        }
    }
    step->inner->incomplete = step->incomplete;
}

/* ---- roles ---- */

/* The role attribute: https://www.w3.org/TR/role-attribute/#using-role-in-conjunction-with-rdfa */
static void
add_roles(struct step *step)
{
    struct rdfa *rdfa = step->rdfa;
    const struct rdfa_element *element = step->element;
    struct rdfa_context context = *step->inner;
    struct slice tokens = element->values[RDFA_ROLE], token;
    struct term subject = {0};
    context.vocabulary = SLICE(VOCABULARY_XHV);
    for (unsigned i = 0; i < RDFA_TOKENS && (token = slice_next_word(&tokens)).length > 0; i++) {
        const struct term role = rdfa_name(rdfa, &context, token, RDFA_USE_TYPE);
        if (subject.kind == TERM_NONE && has(step, RDFA_BIT(ID))) {
            const struct slice id = slice_trim(element->values[RDFA_ID]);
            const struct slice reference = arena_printf(&rdfa->arena, "#%.*s", SLICE_PRINT(id));
            const struct slice iri = rdfa_resolve(rdfa, context.base, reference);
            subject = iri.at ? term_iri(iri) : subject;
        }
        if (subject.kind == TERM_NONE) {
            subject = rdfa_blank(rdfa);
        }
        if (role.kind != TERM_NONE) {
            rdfa_add(rdfa, &subject, SLICE(VOCABULARY_XHV "role"), &role);
        }
    }
}

bool
rdfa_process(struct rdfa *rdfa, const struct rdfa_context *outer,
             const struct rdfa_element *element, bool is_root, bool is_head_or_body,
             struct rdfa_context *inner)
{
    struct step step = {.rdfa = rdfa,
                        .outer = outer,
                        .element = element,
                        .inner = inner,
                        .is_root = is_root,
                        .is_head_or_body = is_head_or_body};
    bool recurse = true;
    read_surroundings(&step);
    read_relations(&step);
    if (step.relates && is_1_0(&step)) {
        find_subject_and_object_1_0(&step);
    } else if (step.relates) {
        find_subject_and_object(&step);
    } else if (!is_1_0(&step) && has(&step, RDFA_BIT(PROPERTY)) &&
               !has(&step, RDFA_BIT(CONTENT) | RDFA_BIT(DATATYPE))) {
        find_subject_of_property(&step);
    } else {
        find_subject(&step);
    }
    if (step.type.kind != TERM_NONE) {
        add_types(&step);
    }
    if (!step.skip && !term_equal(&step.subject, &outer->parent_object)) {
        begin_lists(&step, &step.subject, 0);
    }
    if (step.relates) {
        add_all_relations(&step);
    }
    if (has(&step, RDFA_BIT(PROPERTY))) {
        recurse = add_properties(&step);
    }
    if (!step.skip) {
        complete(&step);
    }
    if (has(&step, RDFA_BIT(ROLE))) {
        add_roles(&step);
    }
    hand_on(&step);
    return recurse;
}
