#include "transforms/material.h"

#include "rdf/jsonld.h"
#include "transforms/unpack.h"
#include "transforms/xml.h"
#include "transforms/xml_lines.h"
#include "transforms/xml_mend.h"

/* Other forms of the document need memory beside the unpacked bytes. */
enum { UNPACKED_PART = 4 };

void
material_init(struct material *material, const struct transform_limits *limits)
{
    *material = (struct material){.limits = *limits};
    material->encodings = encodings_open();
    arena_init(&material->arena, limits->memory);
    for (size_t i = 0; i < TEXT_KINDS; i++) {
        buf_init(&material->texts[i].memory, limits->memory);
    }
    buf_init(&material->iri, 64 << 10);
    buf_init(&material->scoped_subject, limits->memory);
    buf_init(&material->scoped_object, limits->memory);
    buf_init(&material->scratch, limits->memory);
    buf_init(&material->unpacked, limits->memory / UNPACKED_PART);
    html_tree_init(&material->tree, &material->arena);
    html_extractor_init(&material->extractor);
    graph_init(&material->graph, limits->memory);
}

void
material_release(struct material *material)
{
    material_end(material);
    encodings_close(material->encodings);
    arena_release(&material->arena);
    for (size_t i = 0; i < TEXT_KINDS; i++) {
        buf_release(&material->texts[i].memory);
    }
    buf_release(&material->iri);
    buf_release(&material->scoped_subject);
    buf_release(&material->scoped_object);
    buf_release(&material->scratch);
    buf_release(&material->unpacked);
    html_tree_release(&material->tree);
    html_extractor_release(&material->extractor);
    graph_release(&material->graph);
    jsonld_contexts_free(material->jsonld);
}

enum status
material_begin(struct material *material, const struct transform_request *request,
               struct transform_result *result, struct reason *why)
{
    material_end(material);
    material->request = request;
    material->result = result;
    material->transform = NULL;
    buf_reset(&material->iri);
    if (!document_iri(request->uri, &material->iri)) {
        return status_fail(why, STATUS_BAD_INPUT, "%.*s is not an absolute URI",
                           SLICE_PRINT(request->uri));
    }
    return STATUS_OK;
}

enum status
material_unpack(struct material *material, struct reason *why)
{
    const struct transform_request *packed = material->request;
    const char *coding = unpack_coding_inside(packed->bytes, packed->type);
    if (!coding) {
        return STATUS_OK;
    }
    struct reason problem;
    const enum status status = unpack(coding, packed->bytes, &material->unpacked, &problem);
    if (status == STATUS_CORRUPT) {
        material_problem(material, 0, problem.text);
    } else if (status != STATUS_OK) {
        return status_fail(why, status, "%s", problem.text);
    }
    material->unpacked_request = *packed;
    material->unpacked_request.bytes = buf_slice(&material->unpacked);
    material->request = &material->unpacked_request;
    return STATUS_OK;
}

void
material_end(struct material *material)
{
    xmlFreeDoc(material->xml);
    xmlFreeDoc(material->page);
    xmlFreeDoc(material->tidied);
    material->xml = material->page = material->tidied = NULL;
    material->has_tree = material->has_features = false;
    for (size_t i = 0; i < TEXT_KINDS; i++) {
        material->texts[i].made = false;
    }
    material->repair_count = 0;
    material->scope = 0;
    html_tree_reset(&material->tree);
    graph_reset(&material->graph);
    arena_reset(&material->arena);
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
material_scope(struct material *material)
{
    material->scope++;
}

static enum status
take_quad(void *context, const struct quad *quad, struct reason *why)
{
    struct material *material = context;
    struct quad folded = *quad;
    if (material->scope > 0) {
        scope_label(&folded.subject, material->scope, &material->scoped_subject);
        scope_label(&folded.object, material->scope, &material->scoped_object);
    }
    folded.graph = term_iri(buf_slice(&material->iri));
    folded.source = material->source;
    return graph_add(&material->graph, &folded, why);
}

struct quad_sink
material_sink(struct material *material)
{
    return (struct quad_sink){take_quad, material};
}

static void
note_problem(struct material *material, struct buf *lines, uint64_t line, const char *text)
{
    buf_printf(lines, "%s: ", material->transform ? material->transform->name : "");
    if (line > 0) {
        buf_printf(lines, "line %lu: ", (unsigned long)line);
    }
    buf_printf(lines, "%.*s\n", PROBLEM_TEXT, text);
}

void
material_problem(struct material *material, uint64_t line, const char *text)
{
    if (material->result->problem_count++ < PROBLEMS_KEPT) {
        note_problem(material, &material->result->problems, line, text);
    }
}

void
material_advice(struct material *material, uint64_t line, const char *text)
{
    note_problem(material, &material->result->advice, line, text);
}

static void
take_problem(void *context, const struct parse_problem *problem)
{
    material_problem(context, problem->line, problem->text);
}

struct problem_sink
material_problems(struct material *material)
{
    return (struct problem_sink){take_problem, material};
}

static void
take_advice(void *context, const struct parse_problem *problem)
{
    material_advice(context, problem->line, problem->text);
}

struct problem_sink
material_advices(struct material *material)
{
    return (struct problem_sink){take_advice, material};
}

void
material_repair(struct material *material, const char *what, uint64_t count)
{
    size_t i = 0;
    while (i < material->repair_count && (material->repairs[i].source != material->source ||
                                          strcmp(material->repairs[i].what, what) != 0)) {
        i++;
    }
    if (i == REPAIRS_KEPT || count == 0) {
        return;
    }
    if (i == material->repair_count) {
        material->repairs[material->repair_count++].count = 0;
    }
    material->repairs[i].source = material->source;
    material->repairs[i].what = what;
    material->repairs[i].count += count;
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
material_resource(struct material *material, struct slice uri)
{
    const struct transform_request *request = material->request;
    for (size_t i = 0; i < request->resource_count; i++) {
        if (slice_equal(request->resources[i].uri, uri)) {
            return &request->resources[i];
        }
    }
    struct buf *needs = &material->result->needs;
    if (request->can_wait && request->resource_count < TRANSFORM_RESOURCES &&
        uri.length + 1 <= needs->maximum - needs->length && !is_asked_for(needs, uri)) {
        buf_append(needs, uri.at, uri.length);
        buf_append_char(needs, '\n');
    }
    return NULL;
}

bool
material_waits(const struct material *material)
{
    return material->result->needs.length > 0;
}

/* ---- forms ---- */

/* The declaration names an encoding that the text is no longer in: blanks of the same length
 * keep line and column. */
static struct slice
blank_declaration(struct material *material, struct slice text)
{
    if (!slice_starts(text, SLICE("<?xml"))) {
        return text;
    }
    const size_t end = slice_find(text, '>');
    if (end == text.length) {
        return text;
    }
    const struct slice copy = arena_copy(&material->arena, text);
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
material_text(struct material *material, enum text_kind kind, struct slice *text,
              struct reason *why)
{
    const struct transform_request *request = material->request;
    struct slice *made = &material->texts[kind].text;
    if (!material->texts[kind].made) {
        const char *encoding = encoding_for(kind, request);
        *made = request->bytes;
        if (encoding && (kind != TEXT_UTF8 || strcmp(encoding, "utf-8") != 0)) {
            TRY(encoding_convert(material->encodings, encoding, request->bytes,
                                 &material->texts[kind].memory, made, why));
        }
        if (kind == TEXT_XML && strcmp(encoding, "utf-8") != 0) {
            *made = blank_declaration(material, *made);
        }
        material->texts[kind].made = true;
    }
    *text = *made;
    return STATUS_OK;
}

static void
report_repairs(struct material *material)
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
        if (material->tree.repair & repairs[i].repair) {
            material_repair(material, repairs[i].what, 1);
        }
    }
}

enum status
material_html(struct material *material, struct reason *why)
{
    if (material->has_tree) {
        return STATUS_OK;
    }
    struct slice text;
    const bool xhtml = slice_is(material->request->type, "application/xhtml+xml");
    TRY(material_text(material, xhtml ? TEXT_XML : TEXT_HTML, &text, why));
    struct reason problem;
    enum status status = STATUS_BAD_INPUT;
    if (xhtml) {
        status = xhtml_parse(&material->tree, text, &problem);
        if (status == STATUS_BAD_INPUT) {
            material_problem(material, 0, problem.text);
            TRY(material_text(material, TEXT_HTML, &text, why));
        }
    }
    if (status == STATUS_BAD_INPUT) {
        status = html_parse(&material->tree, text, &problem);
    }
    if (status != STATUS_OK) {
        return status_fail(why, status, "%s", problem.text);
    }
    material->has_tree = true;
    report_repairs(material);
    return STATUS_OK;
}

enum status
material_xml_tree(struct material *material, struct reason *why)
{
    struct slice text;
    if (material->has_tree) {
        return STATUS_OK;
    }
    TRY(material_text(material, TEXT_XML, &text, why));
    TRY(xhtml_parse(&material->tree, text, why));
    material->has_tree = true;
    return STATUS_OK;
}

unsigned
material_html_features(struct material *material)
{
    if (!material->has_features) {
        material->features = html_features(&material->tree);
        material->has_features = true;
    }
    return material->features;
}

/* Whether it was well-formed; else why not. */
static bool
parse_xml(struct material *material, struct slice text, struct reason *problem)
{
    xmlParserCtxtPtr parser = xml_parser_new();
    if (material->request->explain) {
        xml_lines_watch(parser);
    }
    xmlFreeDoc(material->xml);
    material->xml = xmlCtxtReadMemory(parser, text.at, (int)text.length, material->iri.data,
                                      "UTF-8", XML_SAFE_OPTIONS | XML_PARSE_RECOVER);
    const bool good = parser->wellFormed;
    if (!good) {
        xml_error_reason(parser, problem);
    }
    xml_parser_free(parser);
    return good;
}

static void
mend_xml(struct material *material, struct slice text, struct reason *problem)
{
    struct buf mended;
    uint64_t mistakes[XML_MISTAKES];
    buf_init(&mended,
             material->limits.memory < INT32_MAX / 2 ? material->limits.memory : INT32_MAX / 2);
    xml_mend(text, &mended, mistakes);
    if (mended.overflowed) {
        material_problem(material, 0, problem->text);
    } else {
        if (!parse_xml(material, buf_slice(&mended), problem)) {
            material_problem(material, 0, problem->text);
        }
        for (size_t i = 0; i < XML_MISTAKES; i++) {
            material_repair(material, xml_mistake_names[i], mistakes[i]);
        }
    }
    buf_release(&mended);
}

enum status
material_xml(struct material *material, struct reason *why)
{
    if (material->xml) {
        return STATUS_OK;
    }
    struct slice text;
    struct reason problem = {"no root element"};
    TRY(material_text(material, TEXT_XML, &text, why));
    if (text.length > INT32_MAX / 2) {
        return status_fail(why, STATUS_LIMIT, "XML of %zu bytes is too long", text.length);
    }
    if (!parse_xml(material, text, &problem)) {
        mend_xml(material, text, &problem);
    }
    if (!material->xml || !xmlDocGetRootElement(material->xml)) {
        xmlFreeDoc(material->xml);
        material->xml = NULL;
        return status_fail(why, STATUS_BAD_INPUT, "%s", problem.text);
    }
    return STATUS_OK;
}

struct emitter
material_emitter(struct material *material, struct quad_sink *sink, struct reason *why)
{
    *sink = material_sink(material);
    return (struct emitter){
        .sink = sink, .document = term_iri(buf_slice(&material->iri)), .why = why};
}
