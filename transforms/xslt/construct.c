/* Texts of feeds: which form they have, and what is made of them. See stylesheet.h. */
#include <libxml/tree.h>
#include <nettle/base64.h>

#include "base/ascii.h"
#include "transforms/html/token.h"
#include "transforms/xslt/stylesheet.h"

#define ATOM "http://www.w3.org/2005/Atom"
#define MEDIA "http://search.yahoo.com/mrss/"
#define XHTML "http://www.w3.org/1999/xhtml"

enum { MARKUP_DEPTH = 200, TEXT_MOST = 64 << 10, LINKS_MOST = 1000 };

static bool
is_in(const xmlNode *node, const char *space)
{
    return node->ns && xmlStrEqual(node->ns->href, BAD_CAST space);
}

static xmlNodePtr
first_element(const xmlNode *node)
{
    xmlNodePtr child = node->children;
    while (child && child->type != XML_ELEMENT_NODE) {
        child = child->next;
    }
    return child;
}

/* ---- markup that is not escaped ---- */

static void
escape(struct buf *out, struct slice text, bool in_attribute)
{
    for (size_t i = 0; i < text.length; i++) {
        const char c = text.at[i];
        const char *reference = c == '&'                   ? "&amp;"
                                : c == '<'                 ? "&lt;"
                                : c == '>'                 ? "&gt;"
                                : c == '"' && in_attribute ? "&quot;"
                                                           : NULL;
        if (reference) {
            buf_append_string(out, reference);
        } else {
            buf_append_char(out, c);
        }
    }
}

static void
write_attribute(struct buf *out, const xmlAttr *attribute)
{
    xmlChar *value = xmlNodeListGetString(attribute->doc, attribute->children, 1);
    if (attribute->ns && attribute->ns->prefix) {
        buf_printf(out, " %s:%s=\"", attribute->ns->prefix, attribute->name);
    } else {
        buf_printf(out, " %s=\"", attribute->name);
    }
    escape(out, slice_string((const char *)value), true);
    buf_append_char(out, '"');
    xmlFree(value);
}

static void write_nodes(struct buf *out, const xmlNode *node, unsigned depth);

static void
write_element(struct buf *out, const xmlNode *node, unsigned depth)
{
    const bool foreign =
        node->ns && !is_in(node, XHTML) &&
        (node->parent->ns == NULL || !xmlStrEqual(node->parent->ns->href, node->ns->href));
    buf_printf(out, "<%s", node->name);
    if (foreign && !is_in(node->parent, (const char *)node->ns->href)) {
        buf_append_string(out, " xmlns=\"");
        escape(out, slice_string((const char *)node->ns->href), true);
        buf_append_char(out, '"');
    }
    for (const xmlAttr *attribute = node->properties; attribute; attribute = attribute->next) {
        write_attribute(out, attribute);
    }
    buf_append_char(out, '>');
    write_nodes(out, node->children, depth + 1);
    const bool is_void =
        html_element_rules(html_element_of(slice_string((const char *)node->name))) & RULE_VOID;
    if (!is_void) {
        buf_printf(out, "</%s>", node->name);
    }
}

static void
write_nodes(struct buf *out, const xmlNode *node, unsigned depth)
{
    for (; node && depth < MARKUP_DEPTH && !out->overflowed; node = node->next) {
        if (node->type == XML_TEXT_NODE || node->type == XML_CDATA_SECTION_NODE) {
            escape(out, slice_string((const char *)node->content), false);
        } else if (node->type == XML_ELEMENT_NODE) {
            write_element(out, node, depth);
        }
    }
}

void
construct_escape(struct buf *out, struct slice text)
{
    escape(out, text, false);
}

/* ---- which form it has ---- */

struct form {
    struct slice type, mode;
};

static bool
is_html_type(struct slice type)
{
    return slice_equal_nocase(type, SLICE("html")) ||
           slice_equal_nocase(type, SLICE("text/html")) ||
           slice_equal_nocase(type, SLICE("xhtml")) ||
           slice_equal_nocase(type, SLICE("application/xhtml+xml"));
}

/* Atom 1.0: a media type that is neither text nor XML has its content in base64. */
static bool
is_base64(const struct form *form)
{
    if (form->mode.length > 0) {
        return slice_equal_nocase(form->mode, SLICE("base64"));
    }
    const struct slice type = form->type;
    const size_t plus = type.length > 4 ? type.length - 4 : 0;
    return slice_find(type, '/') < type.length && !slice_starts_nocase(type, SLICE("text/")) &&
           !slice_equal_nocase(slice_of(type.at + plus, type.length - plus), SLICE("+xml")) &&
           !slice_equal_nocase(type, SLICE("application/xml"));
}

static bool
decode_base64(struct slice text, struct buf *out)
{
    struct base64_decode_ctx decoder;
    base64_decode_init(&decoder);
    size_t length = BASE64_DECODE_LENGTH(text.length);
    char *room = buf_reserve(out, length + 1);
    if (!room || !base64_decode_update(&decoder, &length, (uint8_t *)room, text.length, text.at) ||
        !base64_decode_final(&decoder)) {
        return false;
    }
    buf_commit(out, length);
    return true;
}

static bool
is_text(struct slice bytes)
{
    for (size_t i = 0; i < bytes.length; i++) {
        const unsigned char c = (unsigned char)bytes.at[i];
        if (c < 0x20 && c != '\n' && c != '\r' && c != '\t') {
            return false;
        }
    }
    return encoding_is_utf8(bytes);
}

static bool
has_tag(struct slice text)
{
    for (size_t i = 0; i + 1 < text.length; i++) {
        const char c = text.at[i + 1] | 0x20;
        if (text.at[i] == '<' && ((c >= 'a' && c <= 'z') || text.at[i + 1] == '/')) {
            return true;
        }
    }
    return false;
}

/* Characters that windows-1252 has where Unicode has control characters: what numeric references
 * to them mean. 0: none. */
static const uint16_t windows_characters[32] = {
    0x20ac, 0,      0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017d, 0,      0,      0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0,      0x017e, 0x0178};

static void
append_text(struct buf *out, struct slice text)
{
    size_t done = 0;
    for (size_t i = 0; i + 1 < text.length; i++) {
        const unsigned char c = (unsigned char)text.at[i + 1];
        const unsigned value =
            text.at[i] == '\xc2' && c >= 0x80 && c < 0xa0 ? windows_characters[c - 0x80] : 0;
        if (value > 0) {
            buf_append(out, text.at + done, i - done);
            if (value >= 0x800) {
                buf_append_char(out, (char)(0xe0 | value >> 12));
                buf_append_char(out, (char)(0x80 | (value >> 6 & 0x3f)));
            } else {
                buf_append_char(out, (char)(0xc0 | value >> 6));
            }
            buf_append_char(out, (char)(0x80 | (value & 0x3f)));
            done = i + 2;
            i++;
        }
    }
    buf_append(out, text.at + done, text.length - done);
}

static enum construct_kind
read_text(const struct form *form, bool custom_html, struct slice text, struct buf *out)
{
    if (is_base64(form) && decode_base64(text, out)) {
        if (!is_text(buf_slice(out))) {
            buf_reset(out);
            return CONSTRUCT_NONE;
        }
        return is_html_type(form->type) || has_tag(buf_slice(out)) ? CONSTRUCT_HTML
                                                                   : CONSTRUCT_PLAIN;
    }
    buf_reset(out);
    append_text(out, text);
    if (is_html_type(form->type)) {
        return CONSTRUCT_HTML;
    }
    if (form->type.length == 0 && form->mode.length > 0) {
        return has_tag(text) ? CONSTRUCT_HTML : CONSTRUCT_PLAIN;
    }
    return custom_html && form->type.length == 0 ? CONSTRUCT_HTML : CONSTRUCT_PLAIN;
}

enum construct_kind
construct_read(xmlNodePtr node, struct buf *out)
{
    xmlChar *type = node->type == XML_ELEMENT_NODE ? xmlGetNoNsProp(node, BAD_CAST "type") : NULL;
    xmlChar *mode = node->type == XML_ELEMENT_NODE ? xmlGetNoNsProp(node, BAD_CAST "mode") : NULL;
    const struct form form = {slice_trim(slice_string((const char *)type)),
                              slice_trim(slice_string((const char *)mode))};
    const xmlNodePtr child = node->type == XML_ELEMENT_NODE ? first_element(node) : NULL;
    enum construct_kind kind;
    buf_reset(out);
    if (child) {
        const bool wrapped = is_in(node, ATOM) && is_html_type(form.type) &&
                             xmlStrEqual(child->name, BAD_CAST "div") && !child->next;
        write_nodes(out, wrapped ? child->children : node->children, 0);
        kind = CONSTRUCT_HTML;
    } else {
        xmlChar *text = xmlNodeGetContent(node);
        struct slice content = slice_string((const char *)text);
        if (content.length > CONSTRUCT_MAXIMUM / 2) {
            content.length = CONSTRUCT_MAXIMUM / 2;
        }
        kind = read_text(&form, !is_in(node, ATOM) && !is_in(node, MEDIA), content, out);
        xmlFree(text);
    }
    xmlFree(type);
    xmlFree(mode);
    return kind;
}

/* ---- what is made of it ---- */

void
construct_base(struct transformation *transformation, xmlNodePtr node)
{
    struct links *links = &transformation->extractor.links;
    xmlChar *base = node ? xmlNodeGetBase(node->doc, node) : NULL;
    if (!base || !links_begin(links, slice_string((const char *)base))) {
        links_begin(links, transformation->request->uri);
    }
    xmlFree(base);
}

static void
add_alternative(struct text *text, const struct html_tree *tree, const struct html_token *token)
{
    for (uint32_t i = 0; i < token->attribute_count; i++) {
        const struct html_attribute *attribute = &tree->attributes[token->attribute + i];
        if (slice_is(attribute->name, "alt")) {
            text_add(text, attribute->value);
        }
    }
}

/* Images stand for what they are instead of: in a text that has nothing else. */
static struct slice
read_words(struct transformation *transformation, struct slice html, bool images)
{
    struct html_tree tree;
    struct html_tokenizer tokenizer;
    struct html_token token = {0};
    struct text *text = &transformation->extractor.text;
    struct slice raw;
    html_tree_init(&tree, &transformation->arena);
    html_tokenizer_init(&tokenizer, &tree, html);
    text_begin(text, TEXT_MOST);
    for (html_token_next(&tokenizer, &token);
         token.kind != HTML_TOKEN_END_OF_INPUT && !text_is_full(text);
         html_token_next(&tokenizer, &token)) {
        const uint32_t rules = html_element_rules(token.element);
        if (token.kind == HTML_TOKEN_TEXT) {
            text_add(text, token.text);
        } else if (token.kind == HTML_TOKEN_START && (rules & RULE_RAW)) {
            html_token_raw(&tokenizer, &token, &raw);
        } else if (token.kind == HTML_TOKEN_START && images && token.element == HTML_IMG) {
            add_alternative(text, &tree, &token);
        } else if (rules & RULE_SPECIAL) {
            text_break(text);
        }
        tree.attribute_count = 0;
    }
    html_tree_release(&tree);
    return text_end(text);
}

struct slice
construct_text(struct transformation *transformation, struct slice html)
{
    const struct slice words = read_words(transformation, html, false);
    return words.length > 0 ? words : read_words(transformation, html, true);
}

static bool
is_link_attribute(struct slice name)
{
    static const char *const names[] = {"href",     "src",     "cite",   "action",
                                        "longdesc", "data",    "poster", "background",
                                        "codebase", "classid", "usemap"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (slice_is(name, names[i])) {
            return true;
        }
    }
    return false;
}

static void
write_lower(struct buf *out, struct slice name)
{
    for (size_t i = 0; i < name.length; i++) {
        const char c = name.at[i];
        buf_append_char(out, ascii_lower(c));
    }
}

static void
write_tag(struct transformation *transformation, struct html_tree *tree,
          const struct html_token *token, struct buf *out)
{
    struct links *links = &transformation->extractor.links;
    buf_append_char(out, '<');
    write_lower(out, token->name);
    for (uint32_t i = 0; i < token->attribute_count; i++) {
        const struct html_attribute *attribute = &tree->attributes[token->attribute + i];
        struct slice value = attribute->value;
        const bool is_script = slice_starts(attribute->name, SLICE("on"));
        if (is_script || (is_link_attribute(attribute->name) &&
                          !links_resolve(links, slice_trim(value), &value))) {
            continue;
        }
        buf_append_char(out, ' ');
        buf_append_slice(out, attribute->name);
        buf_append_string(out, "=\"");
        escape(out, value, true);
        buf_append_char(out, '"');
    }
    buf_append_char(out, '>');
}

void
construct_html(struct transformation *transformation, xmlNodePtr node, struct slice html,
               struct buf *out)
{
    struct html_tree tree;
    struct html_tokenizer tokenizer;
    struct html_token token = {0};
    struct slice raw;
    construct_base(transformation, node);
    html_tree_init(&tree, &transformation->arena);
    html_tokenizer_init(&tokenizer, &tree, html);
    for (html_token_next(&tokenizer, &token);
         token.kind != HTML_TOKEN_END_OF_INPUT && !out->overflowed;
         html_token_next(&tokenizer, &token)) {
        if (token.kind == HTML_TOKEN_TEXT) {
            escape(out, token.text, false);
        } else if (token.kind == HTML_TOKEN_END) {
            buf_append_string(out, "</");
            write_lower(out, token.name);
            buf_append_char(out, '>');
        } else if (token.kind == HTML_TOKEN_START) {
            if (html_element_rules(token.element) & RULE_RAW) {
                html_token_raw(&tokenizer, &token, &raw);
            } else {
                write_tag(transformation, &tree, &token, out);
            }
        }
        tree.attribute_count = 0;
    }
    html_tree_release(&tree);
}

void
construct_links(struct transformation *transformation, xmlNodePtr node, struct slice html,
                void (*take)(void *context, bool is_image, struct slice iri), void *context)
{
    struct html_tree tree;
    struct html_tokenizer tokenizer;
    struct html_token token = {0};
    unsigned count = 0;
    construct_base(transformation, node);
    html_tree_init(&tree, &transformation->arena);
    html_tokenizer_init(&tokenizer, &tree, html);
    for (html_token_next(&tokenizer, &token);
         token.kind != HTML_TOKEN_END_OF_INPUT && count < LINKS_MOST;
         html_token_next(&tokenizer, &token)) {
        const bool is_image = token.element == HTML_IMG;
        const bool is_link = is_image || token.element == HTML_A || token.element == HTML_AREA;
        for (uint32_t i = 0; token.kind == HTML_TOKEN_START && is_link && i < token.attribute_count;
             i++) {
            const struct html_attribute *attribute = &tree.attributes[token.attribute + i];
            struct slice iri;
            if (slice_is(attribute->name, is_image ? "src" : "href") &&
                links_resolve(&transformation->extractor.links, slice_trim(attribute->value),
                              &iri)) {
                take(context, is_image, iri);
                count++;
            }
        }
        tree.attribute_count = 0;
    }
    html_tree_release(&tree);
}
