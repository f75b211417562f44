#include "transforms/core/transformation.h"

#include "rdf/jsonld/jsonld.h"
#include "transforms/common/unpack.h"
#include "transforms/xml/xml.h"
#include "transforms/xml/xml_lines.h"
#include "transforms/xml/xml_mend.h"

/* Other forms of the document need memory beside the unpacked bytes. */
enum { UNPACKED_PART = 4 };

void
transformation_init(struct transformation *transformation, const struct transform_limits *limits)
{
    *transformation = (struct transformation){.limits = *limits};
    transformation->encodings = encodings_open();
    arena_init(&transformation->arena, limits->memory);
    for (size_t i = 0; i < TEXT_KINDS; i++) {
        buf_init(&transformation->texts[i].memory, limits->memory);
    }
    buf_init(&transformation->iri, 64 << 10);
    buf_init(&transformation->scoped_subject, limits->memory);
    buf_init(&transformation->scoped_object, limits->memory);
    buf_init(&transformation->scratch, limits->memory);
    buf_init(&transformation->unpacked, limits->memory / UNPACKED_PART);
    html_tree_init(&transformation->tree, &transformation->arena);
    html_extractor_init(&transformation->extractor);
    graph_init(&transformation->graph, limits->memory);
}

void
transformation_release(struct transformation *transformation)
{
    transformation_end(transformation);
    encodings_close(transformation->encodings);
    arena_release(&transformation->arena);
    for (size_t i = 0; i < TEXT_KINDS; i++) {
        buf_release(&transformation->texts[i].memory);
    }
    buf_release(&transformation->iri);
    buf_release(&transformation->scoped_subject);
    buf_release(&transformation->scoped_object);
    buf_release(&transformation->scratch);
    buf_release(&transformation->unpacked);
    html_tree_release(&transformation->tree);
    html_extractor_release(&transformation->extractor);
    graph_release(&transformation->graph);
    jsonld_contexts_free(transformation->jsonld);
}

enum status
transformation_begin(struct transformation *transformation, const struct transform_request *request,
                     struct transform_result *result, struct reason *why)
{
    transformation_end(transformation);
    transformation->request = request;
    transformation->result = result;
    transformation->transform = NULL;
    buf_reset(&transformation->iri);
    if (!document_iri(request->uri, &transformation->iri)) {
        return status_fail(why, STATUS_BAD_INPUT, "%.*s is not an absolute URI",
                           SLICE_PRINT(request->uri));
    }
    return STATUS_OK;
}

enum status
transformation_unpack(struct transformation *transformation, struct reason *why)
{
    const struct transform_request *packed = transformation->request;
    const char *coding = unpack_coding_inside(packed->bytes, packed->type);
    if (!coding) {
        return STATUS_OK;
    }
    struct reason problem;
    const enum status status = unpack(coding, packed->bytes, &transformation->unpacked, &problem);
    if (status == STATUS_CORRUPT) {
        transformation_problem(transformation, 0, problem.text);
    } else if (status != STATUS_OK) {
        return status_fail(why, status, "%s", problem.text);
    }
    transformation->unpacked_request = *packed;
    transformation->unpacked_request.bytes = buf_slice(&transformation->unpacked);
    transformation->request = &transformation->unpacked_request;
    return STATUS_OK;
}

void
transformation_end(struct transformation *transformation)
{
    xmlFreeDoc(transformation->xml);
    xmlFreeDoc(transformation->page);
    xmlFreeDoc(transformation->tidied);
    transformation->xml = transformation->page = transformation->tidied = NULL;
    transformation->has_tree = transformation->has_features = false;
    for (size_t i = 0; i < TEXT_KINDS; i++) {
        transformation->texts[i].made = false;
    }
    transformation->repair_count = 0;
    transformation->scope = 0;
    html_tree_reset(&transformation->tree);
    graph_reset(&transformation->graph);
    arena_reset(&transformation->arena);
}

/* ---- statements and problems ---- */

static void
scope_label(struct term *term, unsigned scope, struct buf *memory)
{
    if (term->kind == TERM_BLANK) {
        buf_reset(memory);
        buf_printf(memory, "s%ux%.*s", scope, SLICE_PRINT(term->value));
        term->value = buf_slice(memory);
    }
}

void
transformation_scope(struct transformation *transformation)
{
    transformation->scope++;
}

static enum status
take_quad(void *context, const struct quad *quad, struct reason *why)
{
    struct transformation *transformation = context;
    struct quad folded = *quad;
    if (transformation->scope > 0) {
        scope_label(&folded.subject, transformation->scope, &transformation->scoped_subject);
        scope_label(&folded.object, transformation->scope, &transformation->scoped_object);
    }
    folded.graph = term_iri(buf_slice(&transformation->iri));
    folded.source = transformation->source;
    return graph_add(&transformation->graph, &folded, why);
}

struct quad_sink
transformation_sink(struct transformation *transformation)
{
    return (struct quad_sink){take_quad, transformation};
}

static void
note_problem(struct transformation *transformation, struct buf *lines, uint64_t line,
             const char *text)
{
    buf_printf(lines, "%s: ", transformation->transform ? transformation->transform->name : "");
    if (line > 0) {
        buf_printf(lines, "line %lu: ", (unsigned long)line);
    }
    buf_printf(lines, "%.*s\n", PROBLEM_TEXT, text);
}

void
transformation_problem(struct transformation *transformation, uint64_t line, const char *text)
{
    if (transformation->result->problem_count++ < PROBLEMS_KEPT) {
        note_problem(transformation, &transformation->result->problems, line, text);
    }
}

void
transformation_advice(struct transformation *transformation, uint64_t line, const char *text)
{
    note_problem(transformation, &transformation->result->advice, line, text);
}

static void
take_problem(void *context, const struct parse_problem *problem)
{
    transformation_problem(context, problem->line, problem->text);
}

struct problem_sink
transformation_problems(struct transformation *transformation)
{
    return (struct problem_sink){take_problem, transformation};
}

static void
take_advice(void *context, const struct parse_problem *problem)
{
    transformation_advice(context, problem->line, problem->text);
}

struct problem_sink
transformation_advices(struct transformation *transformation)
{
    return (struct problem_sink){take_advice, transformation};
}

void
transformation_repair(struct transformation *transformation, const char *what, uint64_t count)
{
    size_t i = 0;
    while (i < transformation->repair_count &&
           (transformation->repairs[i].source != transformation->source ||
            strcmp(transformation->repairs[i].what, what) != 0)) {
        i++;
    }
    if (i == REPAIRS_KEPT || count == 0) {
        return;
    }
    if (i == transformation->repair_count) {
        transformation->repairs[transformation->repair_count++].count = 0;
    }
    transformation->repairs[i].source = transformation->source;
    transformation->repairs[i].what = what;
    transformation->repairs[i].count += count;
}

/* ---- other documents ---- */

static bool
is_asked_for(const struct buf *needs, struct slice uri)
{
    struct slice left = buf_slice(needs);
    while (left.length > 0) {
        const size_t end = slice_find(left, '\n');
        if (slice_equal(slice_of(left.at, end), uri)) {
            return true;
        }
        left = slice_of(left.at + end + 1, left.length - end - 1);
    }
    return false;
}

const struct transform_resource *
transformation_resource(struct transformation *transformation, struct slice uri)
{
    const struct transform_request *request = transformation->request;
    for (size_t i = 0; i < request->resource_count; i++) {
        if (slice_equal(request->resources[i].uri, uri)) {
            return &request->resources[i];
        }
    }
    struct buf *needs = &transformation->result->needs;
    if (request->can_wait && request->resource_count < TRANSFORM_RESOURCES &&
        uri.length + 1 <= needs->maximum - needs->length && !is_asked_for(needs, uri)) {
        buf_append(needs, uri.at, uri.length);
        buf_append_char(needs, '\n');
    }
    return NULL;
}

bool
transformation_waits(const struct transformation *transformation)
{
    return transformation->result->needs.length > 0;
}

/* ---- forms ---- */

/* The declaration names an encoding that the text is no longer in: blanks of the same length
 * keep line and column. */
static struct slice
blank_declaration(struct transformation *transformation, struct slice text)
{
    if (!slice_starts(text, SLICE("<?xml"))) {
        return text;
    }
    const size_t end = slice_find(text, '>');
    if (end == text.length) {
        return text;
    }
    const struct slice copy = arena_copy(&transformation->arena, text);
    char *at = (char *)(uintptr_t)copy.at;
    for (size_t i = 0; at && i <= end; i++) {
        at[i] = at[i] == '\n' ? '\n' : ' ';
    }
    return copy.at ? copy : text;
}

static const char *
encoding_for(enum text_kind kind, const struct transform_request *request)
{
    size_t mark;
    switch (kind) {
    case TEXT_HTML:
        return encoding_of_html(request->bytes, request->charset, NULL);
    case TEXT_XML:
        return encoding_of_xml(request->bytes, request->charset);
    default:
        return encoding_of_mark(request->bytes, &mark);
    }
}

enum status
transformation_text(struct transformation *transformation, enum text_kind kind, struct slice *text,
                    struct reason *why)
{
    const struct transform_request *request = transformation->request;
    struct slice *made = &transformation->texts[kind].text;
    if (!transformation->texts[kind].made) {
        const char *encoding = encoding_for(kind, request);
        *made = request->bytes;
        if (encoding && (kind != TEXT_UTF8 || strcmp(encoding, "utf-8") != 0)) {
            TRY(encoding_convert(transformation->encodings, encoding, request->bytes,
                                 &transformation->texts[kind].memory, made, why));
        }
        if (kind == TEXT_XML && strcmp(encoding, "utf-8") != 0) {
            *made = blank_declaration(transformation, *made);
        }
        transformation->texts[kind].made = true;
    }
    *text = *made;
    return STATUS_OK;
}

static void
report_repairs(struct transformation *transformation)
{
    static const struct {
        unsigned repair;
        const char *what;
    } repairs[] = {
        {HTML_REPAIR_MOVED, "misnested tags"},
        {HTML_REPAIR_DEPTH, "elements nested too deep"},
        {HTML_REPAIR_RAW, "title, script, style or textarea without end tag"},
    };
    for (size_t i = 0; i < sizeof repairs / sizeof *repairs; i++) {
        if (transformation->tree.repair & repairs[i].repair) {
            transformation_repair(transformation, repairs[i].what, 1);
        }
    }
}

enum status
transformation_html(struct transformation *transformation, struct reason *why)
{
    if (transformation->has_tree) {
        return STATUS_OK;
    }
    struct slice text;
    const bool xhtml = slice_is(transformation->request->type, "application/xhtml+xml");
    TRY(transformation_text(transformation, xhtml ? TEXT_XML : TEXT_HTML, &text, why));
    struct reason problem;
    enum status status = STATUS_BAD_INPUT;
    if (xhtml) {
        status = xhtml_parse(&transformation->tree, text, &problem);
        if (status == STATUS_BAD_INPUT) {
            transformation_problem(transformation, 0, problem.text);
            TRY(transformation_text(transformation, TEXT_HTML, &text, why));
        }
    }
    if (status == STATUS_BAD_INPUT) {
        status = html_parse(&transformation->tree, text, &problem);
    }
    if (status != STATUS_OK) {
        return status_fail(why, status, "%s", problem.text);
    }
    transformation->has_tree = true;
    report_repairs(transformation);
    return STATUS_OK;
}

enum status
transformation_xml_tree(struct transformation *transformation, struct reason *why)
{
    struct slice text;
    if (transformation->has_tree) {
        return STATUS_OK;
    }
    TRY(transformation_text(transformation, TEXT_XML, &text, why));
    TRY(xhtml_parse(&transformation->tree, text, why));
    transformation->has_tree = true;
    return STATUS_OK;
}

unsigned
transformation_html_features(struct transformation *transformation)
{
    if (!transformation->has_features) {
        transformation->features = html_features(&transformation->tree);
        transformation->has_features = true;
    }
    return transformation->features;
}

/* Tells whether it was well-formed; else why not. */
static bool
parse_xml(struct transformation *transformation, struct slice text, struct reason *problem)
{
    xmlParserCtxtPtr parser = xml_parser_new();
    if (transformation->request->explain) {
        xml_lines_watch(parser);
    }
    xmlFreeDoc(transformation->xml);
    transformation->xml =
        xmlCtxtReadMemory(parser, text.at, (int)text.length, transformation->iri.data, "UTF-8",
                          XML_SAFE_OPTIONS | XML_PARSE_RECOVER);
    const bool good = parser->wellFormed;
    if (!good) {
        xml_error_reason(parser, problem);
    }
    xml_parser_free(parser);
    return good;
}

static void
mend_xml(struct transformation *transformation, struct slice text, struct reason *problem)
{
    struct buf mended;
    uint64_t mistakes[XML_MISTAKES];
    buf_init(&mended, transformation->limits.memory < INT32_MAX / 2 ? transformation->limits.memory
                                                                    : INT32_MAX / 2);
    xml_mend(text, &mended, mistakes);
    if (mended.overflowed) {
        transformation_problem(transformation, 0, problem->text);
    } else {
        if (!parse_xml(transformation, buf_slice(&mended), problem)) {
            transformation_problem(transformation, 0, problem->text);
        }
        for (size_t i = 0; i < XML_MISTAKES; i++) {
            transformation_repair(transformation, xml_mistake_names[i], mistakes[i]);
        }
    }
    buf_release(&mended);
}

enum status
transformation_xml(struct transformation *transformation, struct reason *why)
{
    if (transformation->xml) {
        return STATUS_OK;
    }
    struct slice text;
    struct reason problem = {"no root element"};
    TRY(transformation_text(transformation, TEXT_XML, &text, why));
    if (text.length > INT32_MAX / 2) {
        return status_fail(why, STATUS_LIMIT, "XML of %zu bytes is too long", text.length);
    }
    if (!parse_xml(transformation, text, &problem)) {
        mend_xml(transformation, text, &problem);
    }
    if (!transformation->xml || !xmlDocGetRootElement(transformation->xml)) {
        xmlFreeDoc(transformation->xml);
        transformation->xml = NULL;
        return status_fail(why, STATUS_BAD_INPUT, "%s", problem.text);
    }
    return STATUS_OK;
}

struct emitter
transformation_emitter(struct transformation *transformation, struct quad_sink *sink,
                       struct reason *why)
{
    *sink = transformation_sink(transformation);
    return (struct emitter){
        .sink = sink, .document = term_iri(buf_slice(&transformation->iri)), .why = why};
}
