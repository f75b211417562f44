/* Values of properties: text, addresses, dates, markup. */
#include "base/url/url.h"
#include "transforms/microformats/microformats_parser.h"

/* Says what images become in the text around them. */
enum images { IMAGES_ALT, IMAGES_ALT_OR_SOURCE, IMAGES_NONE };

static struct slice
keep(struct microformat_parser *p, struct slice text)
{
    if (text.length == 0) {
        return SLICE("");
    }
    const struct slice copy = arena_copy(p->arena, text);
    p->full |= !copy.at;
    return copy;
}

struct slice
microformat_resolve(struct microformat_parser *p, struct slice reference)
{
    reference = slice_trim(reference);
    buf_reset(&p->url);
    if (iri_resolve(p->base, reference, &p->url, NULL) != STATUS_OK) {
        return reference;
    }
    return microformat_spend(p, p->url.length) ? keep(p, buf_slice(&p->url)) : (struct slice){0};
}

/* ---- text ---- */

static void
gather_image(struct microformat_parser *p, uint32_t node, enum images images)
{
    struct slice text;
    if (images == IMAGES_NONE) {
        return;
    }
    if (microformat_attribute(p, node, "alt", &text)) {
        buf_append_slice(&p->text, text);
    } else if (images == IMAGES_ALT_OR_SOURCE && microformat_attribute(p, node, "src", &text)) {
        buf_append_char(&p->text, ' ');
        buf_append_slice(&p->text, microformat_resolve(p, text));
        buf_append_char(&p->text, ' ');
    }
}

static void
gather(struct microformat_parser *p, uint32_t node, enum images images)
{
    struct microformat_children children = microformat_children_of(p, node);
    uint32_t i;
    while ((i = microformat_next(p, &children)) != 0) {
        const struct html_node *inner = &p->nodes[i];
        if (!microformat_spend(p, 1 + (inner->kind == HTML_TEXT ? inner->text.length / 16 : 0))) {
            continue;
        }
        if (inner->kind == HTML_TEXT) {
            buf_append_slice(&p->text, inner->text);
        } else if (microformat_is(inner, HTML_IMG)) {
            gather_image(p, i, images);
        } else if (!microformat_is(inner, HTML_SCRIPT) && !microformat_is(inner, HTML_STYLE)) {
            gather(p, i, images);
        }
    }
}

static struct slice
text_of_node(struct microformat_parser *p, uint32_t node, enum images images)
{
    buf_reset(&p->text);
    gather(p, node, images);
    const struct slice text = slice_trim(buf_slice(&p->text));
    return microformat_spend(p, text.length / 16) ? keep(p, text) : (struct slice){0};
}

struct slice
microformat_plain_text(struct microformat_parser *p, uint32_t node)
{
    return text_of_node(p, node, IMAGES_ALT);
}

/* ---- markup ---- */

static void
escape(struct buf *out, struct slice text, bool quoted)
{
    size_t from = 0;
    for (size_t i = 0; i < text.length; i++) {
        const char c = text.at[i];
        const char *entity = c == '&'              ? "&amp;"
                             : c == '<' && !quoted ? "&lt;"
                             : c == '>' && !quoted ? "&gt;"
                             : c == '"' && quoted  ? "&quot;"
                                                   : NULL;
        size_t skip = 1;
        if (c == (char)0xC2 && i + 1 < text.length && text.at[i + 1] == (char)0xA0) {
            entity = "&nbsp;";
            skip = 2;
        }
        if (entity) {
            buf_append(out, text.at + from, i - from);
            buf_append_string(out, entity);
            from = i + skip;
        }
        i += skip - 1;
    }
    buf_append(out, text.at + from, text.length - from);
}

static void
append_name(struct buf *out, const struct html_node *node)
{
    const char *known = node->space == HTML_SPACE_HTML ? html_element_name(node->element) : NULL;
    if (known) {
        buf_append_string(out, known);
        return;
    }
    for (size_t i = 0; i < node->text.length; i++) {
        const char c = node->text.at[i];
        const bool fold = node->space == HTML_SPACE_HTML && c >= 'A' && c <= 'Z';
        buf_append_char(out, fold ? (char)(c | 0x20) : c);
    }
}

/* Markup must say the same away from its page. */
static bool
is_address(struct slice name)
{
    return slice_is(name, "href") || slice_is(name, "src") || slice_is(name, "poster") ||
           slice_is(name, "data") || slice_is(name, "cite");
}

static void
serialise(struct microformat_parser *p, uint32_t node)
{
    struct buf *out = &p->text;
    const bool raw = (html_element_rules(p->nodes[node].element) & RULE_RAW) != 0;
    for (uint32_t i = node + 1; i < p->nodes[node].end;) {
        const struct html_node *inner = &p->nodes[i];
        if (!microformat_spend(p, 1 + (inner->kind == HTML_TEXT ? inner->text.length / 16 : 0))) {
            return;
        }
        if (inner->kind == HTML_TEXT) {
            raw ? (void)buf_append_slice(out, inner->text) : escape(out, inner->text, false);
            i++;
            continue;
        }
        buf_append_char(out, '<');
        append_name(out, inner);
        for (uint32_t k = 0; k < inner->attribute_count; k++) {
            const struct html_attribute *attribute = &p->tree->attributes[inner->attribute + k];
            buf_append_char(out, ' ');
            buf_append_slice(out, attribute->name);
            buf_append_string(out, "=\"");
            escape(out,
                   is_address(attribute->name) ? microformat_resolve(p, attribute->value)
                                               : attribute->value,
                   true);
            buf_append_char(out, '"');
        }
        buf_append_char(out, '>');
        if (inner->space != HTML_SPACE_HTML || !(html_element_rules(inner->element) & RULE_VOID)) {
            serialise(p, i);
            buf_append_string(out, "</");
            append_name(out, inner);
            buf_append_char(out, '>');
        }
        i = inner->end;
    }
}

static void
read_markup(struct microformat_parser *p, uint32_t node, struct microformat_value *value)
{
    value->text = text_of_node(p, node, IMAGES_ALT_OR_SOURCE);
    buf_reset(&p->text);
    serialise(p, node);
    const struct slice html = slice_trim(buf_slice(&p->text));
    value->html = microformat_spend(p, html.length / 16) ? keep(p, html) : (struct slice){0};
    value->has_html = true;
}

/* ---- the value class pattern ---- */

struct pieces {
    bool any, date;
    struct microformat_moment moment;
    struct buf text;
};

/* Returns what an element with class value says. */
static struct slice
piece_of(struct microformat_parser *p, uint32_t node, bool title, bool date)
{
    const struct html_node *element = &p->nodes[node];
    struct slice text = {0};
    if (title) {
        microformat_attribute(p, node, "title", &text);
        return text;
    }
    if (microformat_is(element, HTML_IMG) || microformat_is(element, HTML_AREA)) {
        microformat_attribute(p, node, "alt", &text);
        return text;
    }
    if ((microformat_is(element, HTML_DATA) && microformat_attribute(p, node, "value", &text)) ||
        (microformat_is_named(element, "abbr") && microformat_attribute(p, node, "title", &text)) ||
        (date &&
         (microformat_is(element, HTML_TIME) || microformat_is_named(element, "ins") ||
          microformat_is_named(element, "del")) &&
         microformat_attribute(p, node, "datetime", &text))) {
        return text;
    }
    return text_of_node(p, node, IMAGES_ALT);
}

static void
find_pieces(struct microformat_parser *p, uint32_t node, struct pieces *pieces)
{
    struct microformat_children children = microformat_children_of(p, node);
    uint32_t i;
    while ((i = microformat_next(p, &children)) != 0) {
        if (p->nodes[i].kind != HTML_ELEMENT || !microformat_spend(p, 1)) {
            continue;
        }
        const bool plain = microformat_has_class(p, i, "value");
        if (plain || microformat_has_class(p, i, "value-title")) {
            const struct slice piece = piece_of(p, i, !plain, pieces->date);
            pieces->any = true;
            if (pieces->date) {
                microformat_moment_add(&pieces->moment, piece);
            } else {
                buf_append_slice(&pieces->text, piece);
            }
        } else if (!microformat_is_root(p, i) && !microformat_is_property(p, i)) {
            find_pieces(p, i, pieces);
        }
    }
}

static bool
read_pieces(struct microformat_parser *p, uint32_t node, struct slice *text)
{
    struct pieces pieces = {0};
    buf_init(&pieces.text, 64 << 20);
    find_pieces(p, node, &pieces);
    if (pieces.any) {
        *text = keep(p, buf_slice(&pieces.text));
    }
    buf_release(&pieces.text);
    return pieces.any;
}

/* ---- by kind ---- */

static void
read_text(struct microformat_parser *p, uint32_t node, struct microformat_value *value)
{
    const struct html_node *element = &p->nodes[node];
    if (read_pieces(p, node, &value->text)) {
        return;
    }
    if (((microformat_is_named(element, "abbr") || microformat_is(element, HTML_LINK)) &&
         microformat_attribute(p, node, "title", &value->text)) ||
        ((microformat_is(element, HTML_DATA) || microformat_is(element, HTML_INPUT)) &&
         microformat_attribute(p, node, "value", &value->text)) ||
        ((microformat_is(element, HTML_IMG) || microformat_is(element, HTML_AREA)) &&
         microformat_attribute(p, node, "alt", &value->text))) {
        return;
    }
    value->text = microformat_plain_text(p, node);
}

void
microformat_read_image(struct microformat_parser *p, uint32_t node, struct slice source,
                       struct microformat_value *value)
{
    value->text = microformat_resolve(p, source);
    value->has_alt = !p->classic && microformat_attribute(p, node, "alt", &value->alt);
}

/* The attribute that is an element's address. */
static bool
address_of(struct microformat_parser *p, uint32_t node, struct slice *text)
{
    const struct html_node *element = &p->nodes[node];
    if (element->space != HTML_SPACE_HTML) {
        return false;
    }
    switch (element->element) {
    case HTML_A:
    case HTML_AREA:
    case HTML_LINK:
        return microformat_attribute(p, node, "href", text);
    case HTML_IMG:
    case HTML_AUDIO:
    case HTML_SOURCE:
    case HTML_IFRAME:
        return microformat_attribute(p, node, "src", text);
    case HTML_VIDEO:
        return microformat_attribute(p, node, "src", text) ||
               microformat_attribute(p, node, "poster", text);
    case HTML_OBJECT:
        return microformat_attribute(p, node, "data", text);
    default:
        return false;
    }
}

bool
microformat_is_mailbox(struct slice text)
{
    text = slice_trim(text);
    const size_t sign = slice_find(text, '@');
    for (size_t i = 0; i < text.length; i++) {
        const char c = text.at[i];
        if (c == ':' || c == '/' || c == '?' || c == '#' || (unsigned char)c <= ' ') {
            return false;
        }
    }
    return sign > 0 && sign + 1 < text.length;
}

static void
read_url(struct microformat_parser *p, uint32_t node, struct microformat_value *value)
{
    const struct html_node *element = &p->nodes[node];
    struct slice text;
    if (address_of(p, node, &text)) {
        if (microformat_is(element, HTML_IMG)) {
            microformat_read_image(p, node, text, value);
        } else {
            value->text = microformat_resolve(p, text);
        }
        return;
    }
    if (!read_pieces(p, node, &text) &&
        !(microformat_is_named(element, "abbr") &&
          microformat_attribute(p, node, "title", &text)) &&
        !((microformat_is(element, HTML_DATA) || microformat_is(element, HTML_INPUT)) &&
          microformat_attribute(p, node, "value", &text))) {
        text = text_of_node(p, node, IMAGES_NONE);
    }
    value->text = microformat_is_mailbox(text) ? slice_trim(text) : microformat_resolve(p, text);
}

/* The date that the item's latest dates began with. */
static struct slice
date_before(const struct microformat_item *item)
{
    struct slice date = {0};
    uint32_t latest = 0;
    for (const struct microformat_property *property = item ? item->properties : NULL; property;
         property = property->next) {
        const struct microformat_value *value = property->last;
        if (value && value->kind == MICROFORMAT_DATE && value->node >= latest &&
            microformat_date_of(value->text).length > 0) {
            date = microformat_date_of(value->text);
            latest = value->node;
        }
    }
    return date;
}

static void
read_date(struct microformat_parser *p, uint32_t node, const struct microformat_item *item,
          struct microformat_value *value)
{
    const struct html_node *element = &p->nodes[node];
    struct pieces pieces = {.date = true};
    find_pieces(p, node, &pieces);
    const struct microformat_moment *moment = &pieces.moment;
    if (moment->date[0] != '\0' || moment->time[0] != '\0') {
        const struct slice before = date_before(item);
        struct slice date = slice_string(moment->date);
        if (date.length == 0) {
            date = before;
        }
        value->text = arena_printf(p->arena, "%.*s%s%s%s", SLICE_PRINT(date),
                                   date.length > 0 && moment->time[0] != '\0' ? " " : "",
                                   moment->time, moment->time[0] != '\0' ? moment->zone : "");
        p->full |= !value->text.at;
        return;
    }
    if (((microformat_is(element, HTML_TIME) || microformat_is_named(element, "ins") ||
          microformat_is_named(element, "del")) &&
         microformat_attribute(p, node, "datetime", &value->text)) ||
        (microformat_is_named(element, "abbr") &&
         microformat_attribute(p, node, "title", &value->text)) ||
        ((microformat_is(element, HTML_DATA) || microformat_is(element, HTML_INPUT)) &&
         microformat_attribute(p, node, "value", &value->text))) {
        /* as it is written */
    } else {
        value->text = text_of_node(p, node, IMAGES_ALT);
    }
    const struct slice before = date_before(item);
    if (before.length > 0 && microformat_is_time(value->text)) {
        value->text = arena_printf(p->arena, "%.*s %.*s", SLICE_PRINT(before),
                                   SLICE_PRINT(slice_trim(value->text)));
        p->full |= !value->text.at;
    }
}

void
microformat_read_value(struct microformat_parser *p, uint32_t node,
                       const struct microformat_item *item, struct microformat_value *value)
{
    switch (value->kind) {
    case MICROFORMAT_TEXT:
        read_text(p, node, value);
        break;
    case MICROFORMAT_URL:
        read_url(p, node, value);
        break;
    case MICROFORMAT_DATE:
        read_date(p, node, item, value);
        break;
    case MICROFORMAT_MARKUP:
        read_markup(p, node, value);
        break;
    }
}
