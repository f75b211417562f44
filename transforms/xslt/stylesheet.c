/* XSLT 1.0 by libxslt, with its doors shut. Functions and rules for names that stylesheets may use:
 * stylesheet.h, docs/REGISTRY.md. A stylesheet's result is RDF/XML, or with
 * <xsl:output method="text"/> N-Quads.
 */
#include <libxslt/security.h>
#include <libxslt/transform.h>
#include <libxslt/xsltInternals.h>
#include <libxslt/xsltutils.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "rdf/format.h"
#include "transforms/xml/xml_lines.h"
#include "transforms/xslt/stylesheet.h"

enum {
    DEPTH_MAXIMUM = 500,
    OPERATIONS_MAXIMUM = 5000000,
    OPERATIONS_PER_BYTE = 50, /* and as many for each byte of the document */
    VARIABLES_MAXIMUM = 15000,
    STYLESHEET_MAXIMUM = 4 << 20
};

/* ---- preparing ---- */

static void
mute(void *context, const char *format, ...)
{
    (void)context, (void)format;
}

void
stylesheets_prepare(void)
{
    static const xsltSecurityOption forbidden[] = {
        XSLT_SECPREF_READ_FILE, XSLT_SECPREF_WRITE_FILE, XSLT_SECPREF_CREATE_DIRECTORY,
        XSLT_SECPREF_READ_NETWORK, XSLT_SECPREF_WRITE_NETWORK};
    if (xsltGetDefaultSecurityPrefs()) {
        return;
    }
    xsltSecurityPrefsPtr security = xsltNewSecurityPrefs();
    for (size_t i = 0; i < sizeof forbidden / sizeof *forbidden; i++) {
        xsltSetSecurityPrefs(security, forbidden[i], xsltSecurityForbid);
    }
    xsltSetDefaultSecurityPrefs(security);
    xsltSetGenericErrorFunc(NULL, mute);
    xsltMaxDepth = DEPTH_MAXIMUM;
    xsltMaxVars = VARIABLES_MAXIMUM;
    stylesheet_functions_register();
}

/* xmlReadFile would ask the entity loader, which refuses everything. */
static enum status
read_file(const char *path, struct buf *text, struct reason *why)
{
    FILE *file = fopen(path, "re");
    if (!file) {
        return status_fail_errno(why, "cannot open the stylesheet %s", path);
    }
    char chunk[8192];
    size_t n;
    while ((n = fread(chunk, 1, sizeof chunk, file)) > 0) {
        buf_append(text, chunk, n);
    }
    fclose(file);
    if (text->overflowed || text->length == 0) {
        return status_fail(why, STATUS_MISUSE, "stylesheet %s is empty or too long", path);
    }
    return STATUS_OK;
}

struct stylesheet {
    xsltStylesheetPtr compiled;
    struct stylesheet_names *names; /* NULL: none */
};

enum status
stylesheet_compile(const char *name, struct slice text, void **stylesheet, struct reason *why)
{
    xmlDocPtr document =
        xmlReadMemory(text.at, (int)text.length, name, NULL,
                      XML_PARSE_NONET | XML_PARSE_NOENT | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
    struct stylesheet_names *names = document ? stylesheet_names_read(document) : NULL;
    xsltStylesheetPtr compiled = document ? xsltParseStylesheetDoc(document) : NULL;
    if (!compiled || compiled->errors > 0) {
        const xmlErrorPtr error = xmlGetLastError();
        const char *message = error && error->message ? error->message : "it cannot be compiled";
        status_fail(why, STATUS_MISUSE, "stylesheet %s: line %d: %.*s", name,
                    error ? error->line : 0, SLICE_PRINT(slice_trim(slice_string(message))));
        if (compiled) {
            xsltFreeStylesheet(compiled);
        } else {
            xmlFreeDoc(document);
        }
        stylesheet_names_free(names);
        return STATUS_MISUSE;
    }
    struct stylesheet *made = memory_new(sizeof *made);
    *made = (struct stylesheet){compiled, names};
    *stylesheet = made;
    return STATUS_OK;
}

enum status
stylesheet_open(const char *path, void **stylesheet, struct reason *why)
{
    struct buf text;
    buf_init(&text, STYLESHEET_MAXIMUM);
    enum status status = read_file(path, &text, why);
    if (status == STATUS_OK) {
        status = stylesheet_compile(path, buf_slice(&text), stylesheet, why);
    }
    buf_release(&text);
    return status;
}

void
stylesheet_close(void *stylesheet)
{
    struct stylesheet *made = stylesheet;
    if (made) {
        xsltFreeStylesheet(made->compiled);
        stylesheet_names_free(made->names);
        free(made);
    }
}

/* ---- running ---- */

static enum status
take_result(struct transformation *transformation, xsltStylesheetPtr stylesheet, xmlDocPtr output,
            struct reason *why)
{
    xmlChar *text = NULL;
    int length = 0;
    if (xsltSaveResultToString(&text, &length, output, stylesheet) != 0 || length < 0) {
        return status_fail(why, STATUS_BAD_INPUT, "the stylesheet's result cannot be written");
    }
    const bool plain = stylesheet->method && xmlStrEqual(stylesheet->method, BAD_CAST "text");
    const enum rdf_format format =
        rdf_format_of_media_type(slice_string((const char *)stylesheet->mediaType));
    const struct slice syntax = format != RDF_FORMAT_NONE ? slice_string(rdf_syntax(format)->name)
                                : plain                   ? SLICE("nquads")
                                                          : SLICE("rdfxml");
    enum status status = STATUS_OK;
    if (length > 0) {
        const struct parse_origin origin =
            transformation->request->explain
                ? xml_lines_origin((xmlNodePtr)output, &transformation->arena)
                : (struct parse_origin){NULL, 0};
        status = rdf_run_bytes(transformation, syntax, slice_of((const char *)text, (size_t)length),
                               &origin, why);
    }
    xmlFree(text);
    return status;
}

enum status
stylesheet_run_document(struct transformation *transformation, void *stylesheet, xmlDocPtr input,
                        struct reason *why)
{
    const struct stylesheet *made = stylesheet;
    xsltTransformContextPtr context = xsltNewTransformContext(made->compiled, input);
    struct stylesheet_state state = {transformation, xmlHashCreate(0)};
    if (!context || !state.names) {
        xmlHashFree(state.names, NULL);
        xsltFreeTransformContext(context);
        return status_fail(why, STATUS_SYSTEM, "libxslt cannot start");
    }
    context->_private = &state;
    context->maxTemplateDepth = DEPTH_MAXIMUM;
    context->maxTemplateVars = VARIABLES_MAXIMUM;
    context->xpathCtxt->opLimit =
        OPERATIONS_MAXIMUM + OPERATIONS_PER_BYTE * transformation->request->bytes.length;
    xsltSetTransformErrorFunc(context, NULL, mute);
    xmlDocPtr output =
        transformation->request->explain
            ? stylesheet_apply_with_lines(made->compiled, input, context)
            : xsltApplyStylesheetUser(made->compiled, input, NULL, NULL, NULL, context);
    const bool failed = !output || context->state != XSLT_STATE_OK;
    xsltFreeTransformContext(context);
    xmlHashFree(state.names, NULL);
    enum status status;
    if (failed) {
        status = status_fail(why, STATUS_LIMIT,
                             "the stylesheet failed, or passed its limits of depth or work");
    } else {
        status = take_result(transformation, made->compiled, output, why);
    }
    xmlFreeDoc(output);
    return status;
}

static bool
reads_page(const struct transformation *transformation)
{
    return transformation->transform->tidy || slice_is(transformation->request->type, "text/html");
}

enum status
stylesheet_input(struct transformation *transformation, xmlDocPtr *input, struct reason *why)
{
    if (transformation->transform->tidy) {
        return transformation_tidied(transformation, input, why);
    }
    if (reads_page(transformation)) {
        return transformation_page(transformation, input, why);
    }
    TRY(transformation_xml(transformation, why));
    *input = transformation->xml;
    return STATUS_OK;
}

enum status
stylesheet_run(struct transformation *transformation, void *stylesheet, struct reason *why)
{
    const struct stylesheet *made = stylesheet;
    struct slice text;
    xmlDocPtr input;
    TRY(transformation_text(transformation, reads_page(transformation) ? TEXT_HTML : TEXT_XML,
                            &text, why));
    if (made->names && !stylesheet_names_apply(made->names, transformation->request->type, text)) {
        return STATUS_OK;
    }
    TRY(stylesheet_input(transformation, &input, why));
    if (!made->names) {
        return stylesheet_run_document(transformation, stylesheet, input, why);
    }
    xmlDocPtr copy = stylesheet_names_copy(made->names, input);
    if (!copy) {
        return status_fail(why, STATUS_SYSTEM, "no memory for a copy of the document");
    }
    const enum status status = stylesheet_run_document(transformation, stylesheet, copy, why);
    xmlFreeDoc(copy);
    return status;
}
