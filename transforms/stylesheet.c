/* XSLT 1.0 by libxslt, with its doors shut, and the functions that stylesheets may call in the
 * namespace https://quadrille.example/transform# (docs/TRANSFORMS.md):
 *
 *   q:uri()              the document's URI
 *   q:resolve(reference) an absolute IRI by xml:base and the document's URI; '' when none
 *   q:date(text)         xsd:dateTime or xsd:date of a date as feeds write it; '' when none
 *   q:text(html)         text of HTML: tags off, references decoded, white space collapsed
 *   q:mail(text)         mailto: IRI of the first mail address in the text; ''
 *
 * A stylesheet's result is RDF/XML, or with <xsl:output method="text"/> N-Quads.
 */
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>
#include <libxslt/extensions.h>
#include <libxslt/security.h>
#include <libxslt/transform.h>
#include <libxslt/xsltInternals.h>
#include <libxslt/xsltutils.h>
#include <stdio.h>
#include <stdlib.h>

#include "transforms/dates.h"
#include "transforms/html_token.h"
#include "transforms/material.h"
#include "transforms/xml.h"

#define FUNCTIONS "https://quadrille.example/transform#"

enum {
    DEPTH_MAXIMUM = 500,
    OPERATIONS_MAXIMUM = 5000000,
    VARIABLES_MAXIMUM = 15000,
    STYLESHEET_MAXIMUM = 4 << 20
};

/* ---- functions ---- */

static struct material *
material_of(xmlXPathParserContextPtr call)
{
    xsltTransformContextPtr context = xsltXPathGetTransformContext(call);
    return context ? context->_private : NULL;
}

/* The only argument as text; NULL when there is not exactly one. */
static xmlChar *
argument(xmlXPathParserContextPtr call, int count)
{
    if (count != 1) {
        xmlXPathSetArityError(call);
        return NULL;
    }
    return xmlXPathPopString(call);
}

static void
give(xmlXPathParserContextPtr call, struct slice text)
{
    valuePush(call, xmlXPathWrapString(xmlStrndup(BAD_CAST text.at, (int)text.length)));
}

static void
call_uri(xmlXPathParserContextPtr call, int count)
{
    const struct material *material = material_of(call);
    if (count != 0 || !material) {
        xmlXPathSetArityError(call);
        return;
    }
    give(call, buf_slice(&material->iri));
}

static void
call_resolve(xmlXPathParserContextPtr call, int count)
{
    struct material *material = material_of(call);
    xmlChar *reference = argument(call, count);
    if (!reference || !material) {
        return;
    }
    struct links *links = &material->extractor.links;
    struct slice iri = {"", 0};
    const xmlNodePtr node = call->context->node;
    xmlChar *base = node ? xmlNodeGetBase(node->doc, node) : NULL;
    if (!base || !links_begin(links, slice_string((const char *)base))) {
        links_begin(links, material->request->uri);
    }
    const struct slice trimmed = slice_trim(slice_string((const char *)reference));
    if (trimmed.length == 0 || !links_resolve(links, trimmed, &iri)) {
        iri = (struct slice){"", 0};
    }
    give(call, iri);
    xmlFree(base);
    xmlFree(reference);
}

static void
call_date(xmlXPathParserContextPtr call, int count)
{
    xmlChar *text = argument(call, count);
    char result[DATE_TEXT_SIZE];
    bool has_time;
    if (text) {
        const bool good = date_parse(slice_string((const char *)text), result, &has_time);
        give(call, good ? slice_string(result) : SLICE(""));
        xmlFree(text);
    }
}

static void
call_text(xmlXPathParserContextPtr call, int count)
{
    enum { MOST = 64 << 10 };
    struct material *material = material_of(call);
    xmlChar *html = argument(call, count);
    if (!html || !material) {
        return;
    }
    struct html_tree tree;
    struct html_tokenizer tokenizer;
    struct html_token token = {0};
    struct text *text = &material->extractor.text;
    struct slice raw;
    html_tree_init(&tree, &material->arena);
    html_tokenizer_init(&tokenizer, &tree, slice_string((const char *)html));
    text_begin(text, MOST);
    for (html_token_next(&tokenizer, &token); token.kind != HTML_TOKEN_END_OF_INPUT;
         html_token_next(&tokenizer, &token)) {
        const uint32_t rules = html_element_rules(token.element);
        if (token.kind == HTML_TOKEN_TEXT) {
            text_add(text, token.text);
        } else if (token.kind == HTML_TOKEN_START && (rules & RULE_RAW)) {
            html_token_raw(&tokenizer, &token, &raw);
        } else if (rules & RULE_SPECIAL) {
            text_break(text);
        }
    }
    give(call, text_end(text));
    html_tree_release(&tree);
    xmlFree(html);
}

static enum status
first_mailbox(void *context, const struct quad *quad, struct reason *why)
{
    struct buf *found = context;
    if (found->length == 0) {
        buf_append_slice(found, quad->object.value);
    }
    return status_fail(why, STATUS_END, "found");
}

static void
call_mail(xmlXPathParserContextPtr call, int count)
{
    struct material *material = material_of(call);
    xmlChar *text = argument(call, count);
    if (!text || !material) {
        return;
    }
    struct buf found;
    buf_init(&found, 1024);
    const struct quad_sink sink = {first_mailbox, &found};
    struct emitter emitter = {.sink = &sink};
    struct html_walk walk = {.extractor = &material->extractor, .emitter = &emitter};
    html_walk_emails(&walk, slice_string((const char *)text));
    give(call, buf_slice(&found));
    buf_release(&found);
    xmlFree(text);
}

/* ---- preparing ---- */

static void
mute(void *context, const char *format, ...)
{
    (void)context, (void)format;
}

void
stylesheets_prepare(void)
{
    static const struct {
        const char *name;
        xmlXPathFunction function;
    } functions[] = {{"uri", call_uri},
                     {"resolve", call_resolve},
                     {"date", call_date},
                     {"text", call_text},
                     {"mail", call_mail}};
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
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        xsltRegisterExtModuleFunction(BAD_CAST functions[i].name, BAD_CAST FUNCTIONS,
                                      functions[i].function);
    }
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

enum status
stylesheet_open(const char *path, void **stylesheet, struct reason *why)
{
    struct buf text;
    buf_init(&text, STYLESHEET_MAXIMUM);
    TRY(read_file(path, &text, why));
    xmlDocPtr document =
        xmlReadMemory(text.data, (int)text.length, path, NULL,
                      XML_PARSE_NONET | XML_PARSE_NOENT | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
    buf_release(&text);
    xsltStylesheetPtr compiled = document ? xsltParseStylesheetDoc(document) : NULL;
    if (!compiled || compiled->errors > 0) {
        const xmlErrorPtr error = xmlGetLastError();
        const char *message = error && error->message ? error->message : "it cannot be compiled";
        status_fail(why, STATUS_MISUSE, "stylesheet %s: line %d: %.*s", path,
                    error ? error->line : 0, SLICE_PRINT(slice_trim(slice_string(message))));
        if (compiled) {
            xsltFreeStylesheet(compiled);
        } else {
            xmlFreeDoc(document);
        }
        return STATUS_MISUSE;
    }
    *stylesheet = compiled;
    return STATUS_OK;
}

void
stylesheet_close(void *stylesheet)
{
    if (stylesheet) {
        xsltFreeStylesheet(stylesheet);
    }
}

/* ---- running ---- */

static enum status
take_result(struct material *material, xsltStylesheetPtr stylesheet, xmlDocPtr output,
            struct reason *why)
{
    xmlChar *text = NULL;
    int length = 0;
    if (xsltSaveResultToString(&text, &length, output, stylesheet) != 0 || length < 0) {
        return status_fail(why, STATUS_BAD_INPUT, "the stylesheet's result cannot be written");
    }
    const bool plain = stylesheet->method && xmlStrEqual(stylesheet->method, BAD_CAST "text");
    enum status status = STATUS_OK;
    if (length > 0) {
        status = rdf_run_bytes(material, plain ? SLICE("nquads") : SLICE("rdfxml"),
                               slice_of((const char *)text, (size_t)length), why);
    }
    xmlFree(text);
    return status;
}

enum status
stylesheet_run(struct material *material, void *stylesheet, struct reason *why)
{
    TRY(material_xml(material, why));
    xsltTransformContextPtr context = xsltNewTransformContext(stylesheet, material->xml);
    if (!context) {
        return status_fail(why, STATUS_SYSTEM, "libxslt cannot start");
    }
    context->_private = material;
    context->maxTemplateDepth = DEPTH_MAXIMUM;
    context->maxTemplateVars = VARIABLES_MAXIMUM;
    context->xpathCtxt->opLimit = OPERATIONS_MAXIMUM;
    xsltSetTransformErrorFunc(context, NULL, mute);
    xmlDocPtr output =
        xsltApplyStylesheetUser(stylesheet, material->xml, NULL, NULL, NULL, context);
    const bool failed = !output || context->state != XSLT_STATE_OK;
    xsltFreeTransformContext(context);
    enum status status;
    if (failed) {
        status = status_fail(why, STATUS_LIMIT,
                             "the stylesheet failed, or passed its limits of depth or work");
    } else {
        status = take_result(material, stylesheet, output, why);
    }
    xmlFreeDoc(output);
    return status;
}
