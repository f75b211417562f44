#include "cli/validation/term_survey.h"

#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/memory.h"
#include "cli/validation/vocabulary_terms.h"
#include "rdf/core/vocabulary.h"

void
term_survey_init(struct term_survey *survey, struct metastore_client *metastore,
                 struct index_client *index)
{
    *survey = (struct term_survey){.count = 0};
    arena_init(&survey->arena, 0);
    map_init(&survey->places);
    survey->terms = memory_zero(SURVEY_TERMS, sizeof *survey->terms);
    facts_reader_init(&survey->reader, metastore, index, &survey->arena);
}

void
term_survey_release(struct term_survey *survey)
{
    facts_reader_release(&survey->reader);
    map_release(&survey->places);
    arena_release(&survey->arena);
    free(survey->terms);
}

/* ---- which terms ---- */

/* NULL: there are too many. */
static struct surveyed_term *
term_of(struct term_survey *survey, struct slice iri)
{
    uint32_t place;
    uint64_t hash = digest_local(iri);
    for (; (place = map_get(&survey->places, hash)) != (uint32_t)MAP_NONE; hash++) {
        if (slice_equal(survey->terms[place].facts.iri, iri)) {
            return &survey->terms[place];
        }
    }
    if (survey->count == SURVEY_TERMS) {
        survey->cut = true;
        return NULL;
    }
    map_set(&survey->places, hash, (uint32_t)survey->count);
    struct surveyed_term *term = &survey->terms[survey->count++];
    term->facts.iri = arena_copy(&survey->arena, iri);
    return term;
}

static void
use(struct term_survey *survey, struct slice iri, bool as_class, struct slice document,
    uint64_t line, unsigned depth)
{
    struct surveyed_term *term = vocabulary_is_standard(iri) ? NULL : term_of(survey, iri);
    if (term == NULL) {
        return;
    }
    if (term->uses++ == 0) {
        term->document = arena_copy(&survey->arena, document);
        term->depth = depth;
    }
    if (line > 0 && (term->line == 0 || line < term->line) &&
        slice_equal(term->document, document)) {
        term->line = line;
    }
    term->facts.as_class = term->facts.as_class || as_class;
    term->facts.as_property = term->facts.as_property || !as_class;
}

void
term_survey_statement(struct term_survey *survey, const struct quad *quad, struct slice document,
                      uint64_t line, unsigned depth)
{
    const unsigned role = vocabulary_role(quad->predicate.value);
    use(survey, quad->predicate.value, false, document, line, depth);
    if (quad->object.kind == TERM_IRI && (role & (ROLE_PROPERTY | ROLE_CLASS)) != 0) {
        use(survey, quad->object.value, (role & ROLE_CLASS) != 0, document, line, depth);
    }
    /* A term that a vocabulary declares is to be found at its address, too. */
    if (quad->subject.kind == TERM_IRI && quad->object.kind == TERM_IRI &&
        slice_is(quad->predicate.value, RDF_TYPE)) {
        const unsigned kind = vocabulary_kind(quad->object.value);
        if (kind != 0) {
            use(survey, quad->subject.value, (kind & SAID_CLASS) != 0, document, line, depth);
        }
    }
}

void
term_survey_add(struct term_survey *survey, struct slice iri)
{
    (void)term_of(survey, iri);
}

struct document_use {
    struct term_survey *survey;
    struct slice document;
    unsigned depth;
};

static enum status
take_quad(void *context, const struct quad *quad, struct reason *why)
{
    const struct document_use *reading = context;
    (void)why;
    term_survey_statement(reading->survey, quad, reading->document, 0, reading->depth);
    return STATUS_OK;
}

enum status
term_survey_document(struct term_survey *survey, struct slice document, unsigned depth,
                     struct reason *why)
{
    struct document_use reading = {survey, document, depth};
    const struct quad_sink sink = {take_quad, &reading};
    survey->documents++;
    return document_quads(&survey->reader, document, &sink, why);
}

/* ---- judging ---- */

static void
judge(struct term_survey *survey, struct surveyed_term *term)
{
    term->severity = REPORT_GOOD;
    for (size_t i = 0; i < TERM_RULES; i++) {
        struct rule_verdict *verdict = &term->verdicts[i];
        *verdict = term_judge(&term_rules[i], &term->facts, &survey->arena);
        if ((verdict->outcome == RULE_FAILED || verdict->outcome == RULE_UNTOLD) &&
            verdict->severity < term->severity) {
            term->severity = verdict->severity;
        }
    }
    const struct document_facts *at = term->facts.at;
    term->untold = at->web && !at->endless && !at->known;
}

static int
compare_terms(const void *left, const void *right)
{
    const struct surveyed_term *a = left, *b = right;
    if (a->severity != b->severity) {
        return a->severity < b->severity ? -1 : 1;
    }
    return slice_compare(a->facts.iri, b->facts.iri);
}

/* The vocabulary's own terms, once. */
static enum status
descend(struct term_survey *survey, const struct surveyed_term *term, struct map *seen,
        size_t *vocabularies, struct reason *why)
{
    const struct document_facts *at = term->facts.at;
    const unsigned depth = term->depth + 1;
    if (!at->indexed || !map_add(seen, digest_local(at->document))) {
        return STATUS_OK;
    }
    if (*vocabularies == SURVEY_VOCABULARIES) {
        survey->cut = true;
        return STATUS_OK;
    }
    ++*vocabularies;
    return term_survey_document(survey, at->document, depth, why);
}

/* Asks the servers of the first documents for their forms, once each, however many terms a document
 * has. What a rule forbids is left out. */
static enum status
ask_servers(struct term_survey *survey, struct reason *why)
{
    struct map seen;
    enum status status = STATUS_OK;
    map_init(&seen);
    for (size_t i = 0; i < survey->count && survey->client != NULL && status == STATUS_OK; i++) {
        const struct document_facts *at = survey->terms[i].facts.at;
        if (!at->web || !map_add(&seen, digest_local(at->address))) {
            continue;
        }
        if (seen.count > NEGOTIATIONS_MOST) {
            survey->cut = true;
            break;
        }
        status =
            document_facts_negotiate(&survey->reader, at, survey->client, survey->settings, why);
        status = status == STATUS_DENIED ? STATUS_OK : status;
    }
    map_release(&seen);
    return status;
}

enum status
term_survey_judge(struct term_survey *survey, struct reason *why)
{
    struct map seen;
    size_t vocabularies = 0;
    enum status status = STATUS_OK;
    map_init(&seen);
    for (size_t i = 0; i < survey->count && status == STATUS_OK; i++) { /* their number grows */
        struct surveyed_term *term = &survey->terms[i];
        status = document_facts_of(&survey->reader, term->facts.iri, &term->facts.at, why);
        if (status == STATUS_OK) {
            status = descend(survey, term, &seen, &vocabularies, why);
        }
    }
    map_release(&seen);
    if (status == STATUS_OK) {
        status = ask_servers(survey, why);
    }
    for (size_t i = 0; i < survey->count && status == STATUS_OK; i++) {
        judge(survey, &survey->terms[i]);
    }
    if (status == STATUS_OK) {
        qsort(survey->terms, survey->count, sizeof *survey->terms, compare_terms);
    }
    survey->cut = survey->cut || survey->reader.cut;
    return status;
}
