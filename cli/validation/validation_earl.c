/* Each assertion is a blank node, with a second one for its result. */
#include "cli/shared/cli.h"
#include "cli/validation/validation_print.h"
#include "index/query/results/result.h"
#include "rdf/core/vocabulary.h"

#define EARL "http://www.w3.org/ns/earl#"
#define TERMS "http://purl.org/dc/terms/"
/* Rules and who applied them have names of our own. */
#define VALIDATE "urn:x-quadrille:validate#"

struct earl {
    struct result_writer *writer;
    struct arena arena;
    struct term assertion, result;
};

static enum status
write_statement(struct earl *earl, struct term subject, const char *predicate, struct term object,
                struct reason *why)
{
    const struct query_sink *sink = result_writer_sink(earl->writer);
    const struct quad quad = {
        .subject = subject, .predicate = term_iri(slice_string(predicate)), .object = object};
    return sink->quad(sink->context, &quad, why);
}

static struct term
named(const char *iri)
{
    return term_iri(slice_string(iri));
}

static enum status
say_result(struct earl *earl, const struct rule_verdict *verdict, struct slice since,
           struct reason *why)
{
    static const char *const outcomes[] = {[RULE_PASSED] = EARL "passed",
                                           [RULE_FAILED] = EARL "failed",
                                           [RULE_UNTOLD] = EARL "cantTell"};
    TRY(write_statement(earl, earl->result, RDF_TYPE, named(EARL "TestResult"), why));
    TRY(write_statement(earl, earl->result, EARL "outcome", named(outcomes[verdict->outcome]),
                        why));
    if (verdict->outcome == RULE_PASSED) {
        return STATUS_OK;
    }
    TRY(write_statement(earl, earl->result, TERMS "description", term_literal(verdict->text), why));
    TRY(write_statement(earl, earl->result, EARL "info",
                        term_literal(slice_string(verdict->remedy)), why));
    TRY(write_statement(earl, earl->result, VALIDATE "severity",
                        term_literal(slice_string(report_severity_name(verdict->severity))), why));
    if (since.length > 0) {
        struct term time = term_literal(since);
        time.datatype = SLICE(XSD_NAMESPACE "dateTime");
        TRY(write_statement(earl, earl->result, VALIDATE "since", time, why));
    }
    return STATUS_OK;
}

static enum status
say_assertion(struct earl *earl, const struct surveyed_term *term, size_t term_number, size_t rule,
              struct reason *why)
{
    const struct rule_verdict *verdict = &term->verdicts[rule];
    const struct slice test = arena_printf(&earl->arena, VALIDATE "%s", term_rules[rule].name);
    earl->assertion = term_blank(arena_printf(&earl->arena, "a%zur%zu", term_number, rule));
    earl->result = term_blank(arena_printf(&earl->arena, "a%zur%zuresult", term_number, rule));
    TRY(write_statement(earl, earl->assertion, RDF_TYPE, named(EARL "Assertion"), why));
    TRY(write_statement(earl, earl->assertion, EARL "assertedBy", named(VALIDATE "quadrille"),
                        why));
    TRY(write_statement(earl, earl->assertion, EARL "mode", named(EARL "automatic"), why));
    TRY(write_statement(earl, earl->assertion, EARL "subject", term_iri(term->facts.iri), why));
    TRY(write_statement(earl, earl->assertion, EARL "test", term_iri(test), why));
    TRY(write_statement(earl, earl->assertion, EARL "result", earl->result, why));
    return say_result(earl, verdict, validation_since(term, rule), why);
}

/* Describes the tests and the one who applies them. */
static enum status
say_rules(struct earl *earl, struct reason *why)
{
    TRY(write_statement(earl, named(VALIDATE "quadrille"), RDF_TYPE, named(EARL "Software"), why));
    TRY(write_statement(earl, named(VALIDATE "quadrille"), TERMS "title",
                        term_literal(SLICE("Quadrille")), why));
    for (size_t i = 0; i < TERM_RULES; i++) {
        const struct term test =
            term_iri(arena_printf(&earl->arena, VALIDATE "%s", term_rules[i].name));
        TRY(write_statement(earl, test, RDF_TYPE, named(EARL "TestRequirement"), why));
        TRY(write_statement(earl, test, TERMS "description",
                            term_literal(slice_string(term_rules[i].requirement)), why));
    }
    return STATUS_OK;
}

static enum status
say_all(struct earl *earl, const struct term_survey *survey, struct reason *why)
{
    TRY(say_rules(earl, why));
    for (size_t i = 0; i < survey->count; i++) {
        for (size_t k = 0; k < TERM_RULES; k++) {
            if (survey->terms[i].verdicts[k].outcome != RULE_INAPPLICABLE) {
                TRY(say_assertion(earl, &survey->terms[i], i, k, why));
            }
        }
    }
    return result_writer_finish(earl->writer, why);
}

enum status
validation_print_earl(const struct term_survey *survey, const char *format, FILE *out,
                      struct reason *why)
{
    struct earl earl;
    enum result_format chosen;
    TRY(result_format_find(slice_string(format), QUERY_CONSTRUCT, &chosen, why));
    arena_init(&earl.arena, 0);
    result_writer_open(&earl.writer, chosen, cli_print_piece, out);
    const enum status status = say_all(&earl, survey, why);
    result_writer_free(earl.writer);
    arena_release(&earl.arena);
    return status;
}
