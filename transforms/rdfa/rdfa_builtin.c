/* RDFa as a transform of the registry. */
#include "rdf/format.h"
#include "transforms/core/builtins.h"
#include "transforms/rdfa/rdfa.h"

enum { VOCABULARY_MAXIMUM = 64 << 20 };

/* Some of RDFa's attributes in the text of any XML, so that other XML is not parsed for it. */
static bool
may_have_rdfa(struct slice text)
{
    static const char *const marks[] = {"property", "typeof", "about", "rel=", "rev=", "vocab="};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        if (memmem(text.at, text.length, marks[i], strlen(marks[i]))) {
            return true;
        }
    }
    return false;
}

static void
take_report(void *context, enum rdfa_report report, uint32_t line, const char *text)
{
    if (report != RDFA_PREFIX_REDEFINITION) {
        transformation_problem(context, line, text);
    }
}

void
rdfa_read_vocabulary(struct slice content_type, struct slice bytes, struct slice base,
                     const struct quad_sink *sink)
{
    const struct slice type = slice_trim(slice_of(content_type.at, slice_find(content_type, ';')));
    const enum rdf_format format = rdf_format_of_media_type(type);
    struct reason problem;
    if (format != RDF_FORMAT_NONE) {
        const struct parse_options options = {.base = base, .lenient = true};
        (void)rdf_parse(format, bytes, &options, sink, &problem);
        return;
    }
    struct html_tree tree;
    struct arena arena;
    arena_init(&arena, VOCABULARY_MAXIMUM);
    html_tree_init(&tree, &arena);
    const bool html = slice_equal_nocase(type, SLICE("text/html"));
    const enum status status =
        html ? html_parse(&tree, bytes, &problem) : xhtml_parse(&tree, bytes, &problem);
    if (status == STATUS_OK) {
        const struct rdfa_options options = {
            .host = rdfa_host_of(&tree, type), .base = base, .memory = VOCABULARY_MAXIMUM};
        (void)rdfa_extract(&tree, &options, sink, &problem);
    }
    html_tree_release(&tree);
    arena_release(&arena);
}

/* Another document's statements, in whatever syntax it is; RDFa too. */
static void
read_vocabulary(void *context, struct slice iri, struct graph *into)
{
    struct transformation *transformation = context;
    const struct slice document = slice_of(iri.at, slice_find(iri, '#'));
    const struct transform_resource *resource = transformation_resource(transformation, document);
    if (!resource || resource->failure.length > 0) {
        if (!transformation_waits(transformation)) {
            char text[256];
            snprintf(text, sizeof text, "the vocabulary %.*s is not to be had",
                     (int)(document.length < 150 ? document.length : 150), document.at);
            transformation_problem(transformation, 0, text);
        }
        return;
    }
    const struct quad_sink sink = graph_sink(into);
    rdfa_read_vocabulary(resource->content_type, resource->bytes, document, &sink);
}

static enum status
extract(struct transformation *transformation, bool expand, struct reason *why)
{
    const bool is_html = slice_is(transformation->request->type, "text/html") ||
                         slice_is(transformation->request->type, "application/xhtml+xml");
    if (is_html) {
        TRY(transformation_html(transformation, why));
    } else {
        struct slice text;
        TRY(transformation_text(transformation, TEXT_XML, &text, why));
        if (!may_have_rdfa(text)) {
            return STATUS_OK;
        }
        TRY(transformation_xml_tree(transformation, why));
    }
    const struct html_tree *tree = &transformation->tree;
    const bool xhtml = strcmp(tree->parser, "xhtml") == 0;
    const enum rdfa_host host =
        is_html && !xhtml ? RDFA_HTML : rdfa_host_of(tree, transformation->request->type);
    if (is_html && !rdfa_is_likely(tree, host, transformation_html_features(transformation))) {
        return STATUS_OK;
    }
    const struct rdfa_options options = {.host = host,
                                         .base = buf_slice(&transformation->iri),
                                         .lines = transformation->request->explain,
                                         .memory = transformation->limits.memory,
                                         .report = take_report,
                                         .vocabulary = expand ? read_vocabulary : NULL,
                                         .context = transformation};
    const struct quad_sink sink = transformation_sink(transformation);
    return rdfa_extract(tree, &options, &sink, why);
}

enum status
builtin_rdfa(struct transformation *transformation, struct reason *why)
{
    return extract(transformation, false, why);
}

enum status
builtin_rdfa_expand(struct transformation *transformation, struct reason *why)
{
    return extract(transformation, true, why);
}
