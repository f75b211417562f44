/* The functions that stylesheets may call, in the namespace https://quadrille.example/transform#;
 * docs/REGISTRY.md says what each gives. */
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>
#include <libxslt/extensions.h>
#include <libxslt/variables.h>

#include "transforms/common/dates.h"
#include "transforms/xslt/stylesheet.h"

#define FUNCTIONS "https://quadrille.example/transform#"

static struct stylesheet_state *
state_of(xmlXPathParserContextPtr call)
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
    valuePush(call,
              xmlXPathWrapString(xmlStrndup(BAD_CAST(text.at ? text.at : ""), (int)text.length)));
}

static void
call_uri(xmlXPathParserContextPtr call, int count)
{
    const struct stylesheet_state *state = state_of(call);
    if (count != 0 || !state) {
        xmlXPathSetArityError(call);
        return;
    }
    give(call, buf_slice(&state->transformation->iri));
}

static void
call_base(xmlXPathParserContextPtr call, int count)
{
    const struct stylesheet_state *state = state_of(call);
    if (count != 0 || !state) {
        xmlXPathSetArityError(call);
        return;
    }
    struct slice iri = {"", 0};
    struct links *links = &state->transformation->extractor.links;
    construct_base(state->transformation, call->context->node);
    if (!links_resolve(links, SLICE(""), &iri)) {
        iri = (struct slice){"", 0};
    }
    give(call, iri);
}

static void
call_resolve(xmlXPathParserContextPtr call, int count)
{
    const struct stylesheet_state *state = state_of(call);
    xmlChar *reference = argument(call, count);
    if (!reference || !state) {
        return;
    }
    struct slice iri = {"", 0};
    const struct slice trimmed = slice_trim(slice_string((const char *)reference));
    if (trimmed.length > 0) {
        construct_base(state->transformation, call->context->node);
        if (!links_resolve(&state->transformation->extractor.links, trimmed, &iri)) {
            iri = (struct slice){"", 0};
        }
    }
    give(call, iri);
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

/* ---- texts ---- */

/* The text argument: of the first node of a node set by its form, else of escaped HTML.
 * *node: the node, or NULL. */
static enum construct_kind
text_argument(xmlXPathParserContextPtr call, int count, struct buf *text, xmlNodePtr *node)
{
    *node = NULL;
    if (count != 1) {
        xmlXPathSetArityError(call);
        return CONSTRUCT_NONE;
    }
    enum construct_kind kind = CONSTRUCT_NONE;
    if (xmlXPathStackIsNodeSet(call)) {
        xmlNodeSetPtr nodes = xmlXPathPopNodeSet(call);
        if (nodes && nodes->nodeNr > 0) {
            *node = nodes->nodeTab[0];
            kind = construct_read(*node, text);
        }
        xmlXPathFreeNodeSet(nodes);
        return kind;
    }
    xmlChar *string = xmlXPathPopString(call);
    if (string) {
        buf_append_slice(text, slice_string((const char *)string));
        kind = CONSTRUCT_HTML;
    }
    xmlFree(string);
    return kind;
}

static struct slice
collapse(struct transformation *transformation, struct slice plain)
{
    struct text *text = &transformation->extractor.text;
    text_begin(text, CONSTRUCT_MAXIMUM);
    text_add(text, plain);
    return text_end(text);
}

static void
call_text(xmlXPathParserContextPtr call, int count)
{
    const struct stylesheet_state *state = state_of(call);
    struct buf raw;
    xmlNodePtr node;
    if (!state) {
        return;
    }
    buf_init(&raw, CONSTRUCT_MAXIMUM);
    const enum construct_kind kind = text_argument(call, count, &raw, &node);
    if (count == 1) {
        give(call, kind == CONSTRUCT_HTML ? construct_text(state->transformation, buf_slice(&raw))
                                          : collapse(state->transformation, buf_slice(&raw)));
    }
    buf_release(&raw);
}

static void
call_html(xmlXPathParserContextPtr call, int count)
{
    const struct stylesheet_state *state = state_of(call);
    struct buf raw, html;
    xmlNodePtr node;
    if (!state) {
        return;
    }
    buf_init(&raw, CONSTRUCT_MAXIMUM);
    buf_init(&html, CONSTRUCT_MAXIMUM);
    const enum construct_kind kind = text_argument(call, count, &raw, &node);
    if (count == 1) {
        if (kind == CONSTRUCT_HTML) {
            construct_html(state->transformation, node ? node : call->context->node,
                           buf_slice(&raw), &html);
        } else {
            construct_escape(&html, buf_slice(&raw));
        }
        give(call, slice_trim(buf_slice(&html)));
    }
    buf_release(&raw);
    buf_release(&html);
}

/* The links found: elements a and img of a tree that lives as long as the template. */
struct link_nodes {
    xmlDocPtr tree;
    xmlNodeSetPtr nodes;
};

static void
take_link(void *context, bool is_image, struct slice iri)
{
    struct link_nodes *found = context;
    xmlNodePtr node = xmlNewDocNode(found->tree, NULL, BAD_CAST(is_image ? "img" : "a"), NULL);
    xmlNodePtr text = xmlNewTextLen(BAD_CAST iri.at, (int)iri.length);
    if (node && text) {
        xmlAddChild(node, text);
        xmlAddChild((xmlNodePtr)found->tree, node);
        xmlXPathNodeSetAddUnique(found->nodes, node);
    }
}

static void
call_links(xmlXPathParserContextPtr call, int count)
{
    const struct stylesheet_state *state = state_of(call);
    xsltTransformContextPtr context = xsltXPathGetTransformContext(call);
    struct buf raw;
    xmlNodePtr node;
    if (!state) {
        return;
    }
    buf_init(&raw, CONSTRUCT_MAXIMUM);
    const enum construct_kind kind = text_argument(call, count, &raw, &node);
    if (count == 1) {
        struct link_nodes found = {NULL, xmlXPathNodeSetCreate(NULL)};
        if (kind == CONSTRUCT_HTML && slice_find(buf_slice(&raw), '<') < raw.length) {
            found.tree = xsltCreateRVT(context);
        }
        if (found.tree) {
            xsltRegisterLocalRVT(context, found.tree);
            construct_links(state->transformation, node ? node : call->context->node,
                            buf_slice(&raw), take_link, &found);
        }
        valuePush(call, xmlXPathWrapNodeSet(found.nodes));
    }
    buf_release(&raw);
}

/* q:split(list, separator): the parts, blanks off, without empty ones, as elements. */
static void
call_split(xmlXPathParserContextPtr call, int count)
{
    enum { PARTS_MAXIMUM = 1000 };
    xsltTransformContextPtr context = xsltXPathGetTransformContext(call);
    if (count != 2 || !context) {
        xmlXPathSetArityError(call);
        return;
    }
    xmlChar *separator = xmlXPathPopString(call), *list = xmlXPathPopString(call);
    struct link_nodes found = {xsltCreateRVT(context), xmlXPathNodeSetCreate(NULL)};
    struct slice left = slice_string((const char *)list);
    if (found.tree) {
        xsltRegisterLocalRVT(context, found.tree);
    }
    for (unsigned n = 0; found.tree && separator && left.length > 0 && n < PARTS_MAXIMUM;) {
        const size_t end = slice_find(left, (char)separator[0]);
        const struct slice part = slice_trim(slice_of(left.at, end));
        if (part.length > 0) {
            take_link(&found, false, part);
            n++;
        }
        left = end < left.length ? slice_of(left.at + end + 1, left.length - end - 1)
                                 : (struct slice){0};
    }
    valuePush(call, xmlXPathWrapNodeSet(found.nodes));
    xmlFree(separator);
    xmlFree(list);
}

/* ---- people ---- */

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
find_mailbox(struct transformation *transformation, struct slice text, struct buf *found)
{
    const struct quad_sink sink = {first_mailbox, found};
    struct emitter emitter = {.sink = &sink};
    struct html_walk walk = {.extractor = &transformation->extractor, .emitter = &emitter};
    html_walk_emails(&walk, text);
}

static void
call_mail(xmlXPathParserContextPtr call, int count)
{
    const struct stylesheet_state *state = state_of(call);
    xmlChar *text = argument(call, count);
    if (!text || !state) {
        return;
    }
    struct buf found;
    buf_init(&found, 1024);
    find_mailbox(state->transformation, slice_string((const char *)text), &found);
    give(call, buf_slice(&found));
    buf_release(&found);
    xmlFree(text);
}

static bool
is_around_name(char c)
{
    return (c >= 0 && c <= ' ') || strchr("()<>[]\"',;:-|", c) != NULL;
}

/* The text without the address, and without <> or mailto: about it. */
static void
cut_address(struct slice text, struct slice address, struct buf *rest)
{
    size_t from = slice_find_slice(text, address);
    if (from == text.length) {
        buf_append_slice(rest, text);
        return;
    }
    size_t to = from + address.length;
    if (from >= 7 && memcmp(text.at + from - 7, "mailto:", 7) == 0) {
        from -= 7;
    }
    if (from > 0 && to < text.length && text.at[from - 1] == '<' && text.at[to] == '>') {
        from--;
        to++;
    }
    buf_append(rest, text.at, from);
    buf_append_char(rest, ' ');
    buf_append(rest, text.at + to, text.length - to);
}

/* "Ada (ada@x.example)", "ada@x.example (Ada)", "Ada <ada@x.example>": the name; '' when the text
 * is nothing but an address. */
static void
call_name(xmlXPathParserContextPtr call, int count)
{
    static const char scheme[] = "mailto:";
    const struct stylesheet_state *state = state_of(call);
    xmlChar *given = argument(call, count);
    if (!given || !state) {
        return;
    }
    struct buf found, rest;
    buf_init(&found, 1024);
    buf_init(&rest, CONSTRUCT_MAXIMUM);
    const struct slice text = slice_trim(slice_string((const char *)given));
    struct slice name = text;
    find_mailbox(state->transformation, text, &found);
    if (found.length > sizeof scheme - 1) {
        const struct slice address = {found.data + sizeof scheme - 1,
                                      found.length - (sizeof scheme - 1)};
        cut_address(text, address, &rest);
        name = buf_slice(&rest);
    }
    name = construct_text(state->transformation, name);
    while (found.length > 0 && name.length > 0 && is_around_name(name.at[0])) {
        name = slice_of(name.at + 1, name.length - 1);
    }
    while (found.length > 0 && name.length > 0 && is_around_name(name.at[name.length - 1])) {
        name.length--;
    }
    give(call, name);
    buf_release(&found);
    buf_release(&rest);
    xmlFree(given);
}

/* ---- names ---- */

static bool
is_tag(struct slice text)
{
    for (size_t i = 0; i < text.length; i++) {
        const char c = text.at[i] | 0x20;
        const bool letter = c >= 'a' && c <= 'z';
        const bool digit = text.at[i] >= '0' && text.at[i] <= '9';
        if (!letter && (i < 2 || !(digit || text.at[i] == '-'))) {
            return false;
        }
    }
    return text.length >= 2 && text.length <= 35;
}

static void
give_tag(xmlXPathParserContextPtr call, struct slice text)
{
    char tag[40];
    text = slice_trim(text);
    for (size_t i = 0; i < text.length && i < sizeof tag; i++) {
        tag[i] = text.at[i] == '_' ? '-' : text.at[i];
    }
    const struct slice mended = {tag, text.length};
    const bool good = text.length < sizeof tag && is_tag(mended) && tag[text.length - 1] != '-' &&
                      !memmem(tag, text.length, "--", 2);
    give(call, good ? mended : SLICE(""));
}

/* The language of the context node: xml:lang, or what the argument says for nodes without. */
static void
call_language(xmlXPathParserContextPtr call, int count)
{
    xmlChar *fallback = argument(call, count);
    if (!fallback) {
        return;
    }
    xmlChar *language = call->context->node ? xmlNodeGetLang(call->context->node) : NULL;
    give_tag(call, slice_string((const char *)(language ? language : fallback)));
    xmlFree(language);
    xmlFree(fallback);
}

/* The argument when it is given for the first time in this document, else ''. */
static void
call_once(xmlXPathParserContextPtr call, int count)
{
    struct stylesheet_state *state = state_of(call);
    xmlChar *name = argument(call, count);
    if (!name || !state) {
        return;
    }
    const bool is_new = *name && xmlHashAddEntry(state->names, name, state) == 0;
    give(call, is_new ? slice_string((const char *)name) : SLICE(""));
    xmlFree(name);
}

/* Length of an IRI's part that can be a namespace, with a name after it; 0: none. */
static size_t
name_start(struct slice iri)
{
    size_t at = iri.length;
    while (at > 0) {
        const char c = iri.at[at - 1];
        const bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
        if (!letter && c != '_' && c != '-' && c != '.' && !(c >= '0' && c <= '9')) {
            break;
        }
        at--;
    }
    while (at < iri.length && !((iri.at[at] | 0x20) >= 'a' && (iri.at[at] | 0x20) <= 'z') &&
           iri.at[at] != '_') {
        at++;
    }
    return at < iri.length ? at : 0;
}

static void
call_namespace(xmlXPathParserContextPtr call, int count)
{
    xmlChar *text = argument(call, count);
    if (text) {
        const struct slice iri = slice_string((const char *)text);
        give(call, slice_of(iri.at, name_start(iri)));
        xmlFree(text);
    }
}

static void
call_local(xmlXPathParserContextPtr call, int count)
{
    xmlChar *text = argument(call, count);
    if (text) {
        const struct slice iri = slice_string((const char *)text);
        const size_t at = name_start(iri);
        give(call, at > 0 ? slice_of(iri.at + at, iri.length - at) : SLICE(""));
        xmlFree(text);
    }
}

void
stylesheet_functions_register(void)
{
    static const struct {
        const char *name;
        xmlXPathFunction function;
    } functions[] = {
        {"uri", call_uri},     {"base", call_base},          {"resolve", call_resolve},
        {"date", call_date},   {"text", call_text},          {"html", call_html},
        {"links", call_links}, {"mail", call_mail},          {"name", call_name},
        {"split", call_split}, {"once", call_once},          {"language", call_language},
        {"local", call_local}, {"namespace", call_namespace}};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        xsltRegisterExtModuleFunction(BAD_CAST functions[i].name, BAD_CAST FUNCTIONS,
                                      functions[i].function);
    }
}
