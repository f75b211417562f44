/* Transforms in C: extractors over the HTML tree, and the RDF parsers. */
#include "transforms/builtins.h"

#include "rdf/format.h"
#include "transforms/vocabulary.h"

struct emitter
material_emitter(struct material *material, struct quad_sink *sink, struct reason *why)
{
    *sink = material_sink(material);
    return (struct emitter){
        .sink = sink, .document = term_iri(buf_slice(&material->iri)), .why = why};
}

enum status
builtin_html(struct material *material, struct reason *why)
{
    TRY(material_html(material, why));
    struct quad_sink sink;
    struct emitter emitter = material_emitter(material, &sink, why);
    html_advise(material);
    material->extractor.lines = material->request->explain;
    return html_extract(&material->extractor, &material->tree, material->request->uri, &emitter);
}

static const struct builtin {
    const char *name;
    builtin_function *run;
} builtins[] = {
    {"calendar", builtin_calendar},
    {"csv", builtin_csv},
    {"grddl", builtin_grddl},
    {"html", builtin_html},
    {"image", builtin_image},
    {"microdata", builtin_microdata},
    {"microformats", builtin_microformats},
    {"jsonld", builtin_jsonld},
    {"links", builtin_links},
    {"pdf", builtin_pdf},
    {"recording", builtin_recording},
    {"vcard", builtin_vcard},
    {"rdfa", builtin_rdfa},
    {"rdfa-expand", builtin_rdfa_expand},
    {"rdfxml-islands", builtin_rdfxml_islands},
};

static const struct builtin *
builtin_find(const char *name)
{
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++) {
        if (strcmp(builtins[i].name, name) == 0) {
            return &builtins[i];
        }
    }
    return NULL;
}

bool
builtin_exists(const char *name)
{
    return builtin_find(name) != NULL;
}

enum status
builtin_run(struct material *material, const char *name, struct reason *why)
{
    const struct builtin *builtin = builtin_find(name);
    if (!builtin) {
        return status_fail(why, STATUS_MISUSE, "no builtin transform is called %s", name);
    }
    return builtin->run(material, why);
}

/* Lines of what is not in the document say nothing of it. */
static enum status
take_without_line(void *context, const struct quad *quad, struct reason *why)
{
    const struct quad_sink sink = material_sink(context);
    struct quad plain = *quad;
    plain.line = 0;
    return sink.quad(sink.context, &plain, why);
}

static void
take_problem_without_line(void *context, const struct parse_problem *problem)
{
    material_problem(context, 0, problem->text);
}

/* Malformed input is a problem of the document, what was read before it stays. */
enum status
rdf_run_bytes(struct material *material, struct slice syntax, struct slice bytes,
              const struct parse_origin *origin, struct reason *why)
{
    const bool foreign = origin && !slice_is(syntax, "rdfxml");
    const struct quad_sink sink =
        foreign ? (struct quad_sink){take_without_line, material} : material_sink(material);
    const struct parse_options options = {
        .base = buf_slice(&material->iri),
        .lenient = true,
        .lines = material->request->explain,
        .origin = origin,
        .problems = foreign ? (struct problem_sink){take_problem_without_line, material}
                            : material_problems(material)};
    struct reason problem;
    const enum status status =
        rdf_parse(rdf_format_of_name(syntax), bytes, &options, &sink, &problem);
    if (status == STATUS_BAD_INPUT) {
        material_problem(material, 0, problem.text);
        return STATUS_OK;
    }
    return status == STATUS_OK ? STATUS_OK : status_fail(why, status, "%s", problem.text);
}

enum status
rdf_run(struct material *material, const char *syntax, struct reason *why)
{
    struct slice text;
    const enum rdf_format format = rdf_format_of_name(slice_string(syntax));
    const bool xml = format == RDF_FORMAT_XML || format == RDF_FORMAT_TRIX;
    TRY(material_text(material, xml ? TEXT_XML : TEXT_UTF8, &text, why));
    return rdf_run_bytes(material, slice_string(syntax), text, NULL, why);
}
