#include "web/ping/xmlrpc.h"

#include <libxml/parser.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "web/html.h"

enum { DEPTH_MOST = 16, NODES_MOST = 1000 };

static bool
is_element(const xmlNode *node, const char *name)
{
    return node->type == XML_ELEMENT_NODE && strcmp((const char *)node->name, name) == 0;
}

static const xmlNode *
child(const xmlNode *parent, const char *name)
{
    const xmlNode *node = parent != NULL ? parent->children : NULL;
    while (node != NULL && !is_element(node, name)) {
        node = node->next;
    }
    return node;
}

/* Depth and number of all nodes below. */
static bool
is_bounded(const xmlNode *node, unsigned depth, unsigned *count)
{
    for (; node != NULL; node = node->next) {
        if (depth == DEPTH_MOST || ++*count > NODES_MOST ||
            (node->type == XML_ELEMENT_NODE && !is_bounded(node->children, depth + 1, count))) {
            return false;
        }
    }
    return true;
}

/* The text directly inside of an element, white space off its ends; NULL: too long, or something
 * else than text. */
static char *
text_in(const xmlNode *element)
{
    struct buf text;
    buf_init(&text, XMLRPC_TEXT_BYTES);
    bool good = true;
    for (const xmlNode *node = element->children; node != NULL && good; node = node->next) {
        const bool is_text = node->type == XML_TEXT_NODE || node->type == XML_CDATA_SECTION_NODE;
        good = is_text ? buf_append_string(&text, (const char *)node->content) == STATUS_OK
                       : node->type == XML_COMMENT_NODE;
    }
    const struct slice trimmed = slice_trim(buf_slice(&text));
    char *copy =
        good ? memory_string_n(trimmed.at != NULL ? trimmed.at : "", trimmed.length) : NULL;
    buf_release(&text);
    return copy;
}

/* A value without a type is a string, as is one of type string; others say nothing of URLs. */
static char *
value_of(const xmlNode *param)
{
    const xmlNode *value = child(param, "value");
    const xmlNode *string = child(value, "string");
    char *text = value == NULL ? NULL : text_in(string != NULL ? string : value);
    return text != NULL ? text : memory_string("");
}

static enum status
take_call(struct xmlrpc_call *call, const xmlDoc *document, struct reason *why)
{
    const xmlNode *root = xmlDocGetRootElement(document);
    unsigned count = 0;
    if (document->intSubset != NULL || document->extSubset != NULL) {
        return status_fail(why, STATUS_BAD_INPUT, "the call has a document type");
    }
    if (root == NULL || !is_element(root, "methodCall") || !is_bounded(root, 0, &count)) {
        return status_fail(why, STATUS_BAD_INPUT, "it is no methodCall, or a very large one");
    }
    const xmlNode *method = child(root, "methodName");
    call->method = method != NULL ? text_in(method) : NULL;
    if (call->method == NULL || call->method[0] == '\0') {
        return status_fail(why, STATUS_BAD_INPUT, "the call names no method");
    }
    const xmlNode *params = child(root, "params");
    for (const xmlNode *node = params != NULL ? params->children : NULL; node != NULL;
         node = node->next) {
        if (!is_element(node, "param")) {
            continue;
        }
        if (call->count == XMLRPC_PARAMETERS) {
            return status_fail(why, STATUS_BAD_INPUT, "the call has more than %d parameters",
                               XMLRPC_PARAMETERS);
        }
        call->parameters[call->count++] = value_of(node);
    }
    return STATUS_OK;
}

enum status
xmlrpc_read(struct xmlrpc_call *call, struct slice body, struct reason *why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    *call = (struct xmlrpc_call){0};
    if (body.length == 0 || body.length > INT32_MAX) {
        return status_fail(why, STATUS_BAD_INPUT, "the request has no body");
    }
    (void)pthread_once(&once, xmlInitParser);
    xmlDoc *document = xmlReadMemory(body.at, (int)body.length, NULL, NULL,
                                     XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
    if (document == NULL) {
        return status_fail(why, STATUS_BAD_INPUT, "the body is no well-formed XML");
    }
    const enum status status = take_call(call, document, why);
    xmlFreeDoc(document);
    if (status != STATUS_OK) {
        xmlrpc_release(call);
    }
    return status;
}

void
xmlrpc_release(struct xmlrpc_call *call)
{
    free(call->method);
    for (size_t i = 0; i < call->count; i++) {
        free(call->parameters[i]);
    }
    *call = (struct xmlrpc_call){0};
}

static void
append_member(struct buf *out, const char *name, const char *type, struct slice value)
{
    (void)buf_printf(out, "<member><name>%s</name><value><%s>", name, type);
    html_text(out, value);
    (void)buf_printf(out, "</%s></value></member>", type);
}

#define XML_DECLARATION "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"

void
xmlrpc_ping_reply(struct buf *out, bool failed, const char *message, struct slice receipt)
{
    (void)buf_append_string(out, XML_DECLARATION "<methodResponse><params><param><value><struct>");
    append_member(out, "flerror", "boolean", failed ? SLICE("1") : SLICE("0"));
    append_member(out, "message", "string", slice_string(message));
    if (receipt.length > 0) {
        append_member(out, "receipt", "string", receipt);
    }
    (void)buf_append_string(out, "</struct></value></param></params></methodResponse>\n");
}

void
xmlrpc_fault(struct buf *out, int code, const char *message)
{
    char number[16];
    (void)snprintf(number, sizeof number, "%d", code);
    (void)buf_append_string(out, XML_DECLARATION "<methodResponse><fault><value><struct>");
    append_member(out, "faultCode", "int", slice_string(number));
    append_member(out, "faultString", "string", slice_string(message));
    (void)buf_append_string(out, "</struct></value></fault></methodResponse>\n");
}
