/* Documents in a syntax of RDF, and RDF inside of other documents, by the parsers of rdf/. */
#include "rdf/format.h"
#include "transforms/core/transformation.h"

/* Lines of what is not in the document say nothing of it. */
static enum status
take_without_line(void *context, const struct quad *quad, struct reason *why)
{
    const struct quad_sink sink = transformation_sink(context);
    struct quad plain = *quad;
    plain.line = 0;
    return sink.quad(sink.context, &plain, why);
}

static void
take_problem_without_line(void *context, const struct parse_problem *problem)
{
    transformation_problem(context, 0, problem->text);
}

/* Malformed input is a problem of the document, what was read before it stays. */
enum status
rdf_run_bytes(struct transformation *transformation, struct slice syntax, struct slice bytes,
              const struct parse_origin *origin, struct reason *why)
{
    const bool foreign = origin && !slice_is(syntax, "rdfxml");
    const struct quad_sink sink = foreign ? (struct quad_sink){take_without_line, transformation}
                                          : transformation_sink(transformation);
    const struct parse_options options = {
        .base = buf_slice(&transformation->iri),
        .lenient = true,
        .lines = transformation->request->explain,
        .origin = origin,
        .problems = foreign ? (struct problem_sink){take_problem_without_line, transformation}
                            : transformation_problems(transformation)};
    struct reason problem;
    const enum status status =
        rdf_parse(rdf_format_of_name(syntax), bytes, &options, &sink, &problem);
    if (status == STATUS_BAD_INPUT) {
        transformation_problem(transformation, 0, problem.text);
        return STATUS_OK;
    }
    return status == STATUS_OK ? STATUS_OK : status_fail(why, status, "%s", problem.text);
}

enum status
rdf_run(struct transformation *transformation, const char *syntax, struct reason *why)
{
    struct slice text;
    const enum rdf_format format = rdf_format_of_name(slice_string(syntax));
    const bool xml = format == RDF_FORMAT_XML || format == RDF_FORMAT_TRIX;
    TRY(transformation_text(transformation, xml ? TEXT_XML : TEXT_UTF8, &text, why));
    return rdf_run_bytes(transformation, slice_string(syntax), text, NULL, why);
}
