/* Values of properties by their element. */
#include "transforms/microdata/microdata_walk.h"
#include "transforms/page/page_extract.h"

static struct slice
text_content(struct microdata *m, uint32_t node)
{
    const uint32_t end = m->nodes[node].end;
    struct slice first = {0};
    size_t pieces = 0;
    buf_reset(&m->text);
    for (uint32_t i = node + 1; i < end;) {
        const struct html_node *inner = &m->nodes[i];
        if (inner->kind == HTML_TEXT) {
            if (pieces == 1) {
                buf_append_slice(&m->text, first);
            }
            if (pieces++ == 0) {
                first = inner->text;
            } else {
                buf_append_slice(&m->text, inner->text);
            }
        }
        i = inner->kind == HTML_ELEMENT && microdata_is_template(inner) ? inner->end : i + 1;
    }
    return pieces > 1 ? buf_slice(&m->text) : first;
}

/* The attribute that holds the element's value when that is an address; NULL: it is none. */
static const char *
address_attribute(const struct html_node *node)
{
    if (node->space != HTML_SPACE_HTML) {
        return NULL;
    }
    switch (node->element) {
    case HTML_A:
    case HTML_AREA:
    case HTML_LINK:
        return "href";
    case HTML_AUDIO:
    case HTML_EMBED:
    case HTML_IFRAME:
    case HTML_IMG:
    case HTML_SOURCE:
    case HTML_TRACK:
    case HTML_VIDEO:
        return "src";
    case HTML_OBJECT:
        return "data";
    default:
        return NULL;
    }
}

static struct term
literal(struct microdata *m, uint32_t node, struct slice text, const char *type, char language[36])
{
    struct term value = term_literal(text);
    if (type) {
        value.datatype = slice_string(type);
    } else {
        struct html_walk walk = {.tree = m->tree};
        value.language = html_walk_language(&walk, node, language);
    }
    return value;
}

static struct term
time_value(struct microdata *m, uint32_t node, char language[36])
{
    struct slice text;
    const bool given = microdata_attribute(m, node, "datetime", &text);
    const struct slice trimmed = slice_trim(given ? text : text_content(m, node));
    const char *type = microdata_time_type(trimmed);
    if (given && !type) {
        microdata_find(m, MICRODATA_FOUND_BAD_TIME, node, trimmed);
    }
    return literal(m, node, trimmed, type, language);
}

bool
microdata_value_of(struct microdata *m, uint32_t node, struct term *value, char language[36])
{
    const struct html_node *element = &m->nodes[node];
    const bool html = element->space == HTML_SPACE_HTML;
    const char *address = address_attribute(element);
    struct slice text, iri;
    if (address && microdata_attribute(m, node, address, &text)) {
        if (!links_resolve(m->links, text, &iri)) {
            microdata_find(m, MICRODATA_FOUND_BAD_ADDRESS, node, text);
            return false;
        }
        *value = term_iri(iri);
        return true;
    }
    if (html && element->element == HTML_TIME) {
        *value = time_value(m, node, language);
        return true;
    }
    /* meta, and wherever else HTML Microdata of W3C has let publishers write it */
    if (!microdata_attribute(m, node, "content", &text)) {
        const bool number = html && (element->element == HTML_DATA ||
                                     slice_equal_nocase(element->text, SLICE("meter")));
        if (number && microdata_attribute(m, node, "value", &text)) {
            *value = literal(m, node, text, microdata_number_type(text), language);
            return true;
        }
        text = html && element->element == HTML_META ? (struct slice){0} : text_content(m, node);
        if (address) {
            microdata_find(m, MICRODATA_FOUND_NO_ADDRESS, node, (struct slice){0});
            if (slice_trim(text).length == 0) {
                return false;
            }
        }
    }
    *value = literal(m, node, text, NULL, language);
    return true;
}
