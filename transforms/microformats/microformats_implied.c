/* Name, photo and url that an item has without saying so:
 * https://microformats.org/wiki/microformats2-parsing#parsing_for_implied_properties */
#include "transforms/microformats/microformats_parser.h"

/* The only child element, 0: none or several. Text does not count. */
static uint32_t
only_child(const struct microformat_parser *p, uint32_t node)
{
    uint32_t found = 0;
    for (uint32_t i = node + 1; i < p->nodes[node].end;) {
        const bool element = p->nodes[i].kind == HTML_ELEMENT;
        if (element && found != 0) {
            return 0;
        }
        found = element ? i : found;
        i = element ? p->nodes[i].end : i + 1;
    }
    return found;
}

/* The only child of its kind. */
static uint32_t
only_of_type(const struct microformat_parser *p, uint32_t node, enum html_element element)
{
    uint32_t found = 0;
    for (uint32_t i = node + 1; i < p->nodes[node].end;) {
        const struct html_node *child = &p->nodes[i];
        if (child->kind == HTML_ELEMENT && microformat_is(child, element)) {
            if (found != 0) {
                return 0;
            }
            found = i;
        }
        i = child->kind == HTML_ELEMENT ? child->end : i + 1;
    }
    return found;
}

static const struct microformat_property *
property_of(const struct microformat_item *item, const char *name)
{
    const struct microformat_property *property = item->properties;
    while (property && !slice_is(property->name, name)) {
        property = property->next;
    }
    return property;
}

static void
add(struct microformat_parser *p, struct microformat_item *item, const char *name,
    const struct microformat_value *value)
{
    struct microformat_property *property = arena_zero(p->arena, sizeof *property);
    struct microformat_value *copy = arena_alloc(p->arena, sizeof *copy);
    if (!property || !copy) {
        p->full = true;
        return;
    }
    *copy = *value;
    *property =
        (struct microformat_property){.name = slice_string(name), .first = copy, .last = copy};
    if (item->last_property) {
        item->last_property->next = property;
    } else {
        item->properties = property;
    }
    item->last_property = property;
}

/* alt of images and areas, title of abbreviations. */
static bool
name_attribute(const struct microformat_parser *p, uint32_t node, struct slice *text)
{
    const struct html_node *element = &p->nodes[node];
    if (microformat_is(element, HTML_IMG) || microformat_is(element, HTML_AREA)) {
        return microformat_attribute(p, node, "alt", text);
    }
    return microformat_is_named(element, "abbr") && microformat_attribute(p, node, "title", text);
}

static void
imply_name(struct microformat_parser *p, struct microformat_item *item)
{
    struct microformat_value value = {.kind = MICROFORMAT_TEXT, .node = item->node};
    struct slice text;
    bool found = name_attribute(p, item->node, &text);
    uint32_t node = item->node;
    for (int level = 0; !found && level < 2; level++) {
        node = only_child(p, node);
        if (node == 0 || microformat_is_root(p, node)) {
            break;
        }
        found = name_attribute(p, node, &text) && text.length > 0;
    }
    value.text = found ? slice_trim(text) : microformat_plain_text(p, item->node);
    add(p, item, "name", &value);
}

static bool
photo_of(struct microformat_parser *p, uint32_t node, struct microformat_value *value)
{
    const struct html_node *element = &p->nodes[node];
    struct slice source;
    value->node = node;
    if (microformat_is(element, HTML_IMG) && microformat_attribute(p, node, "src", &source)) {
        microformat_read_image(p, node, source, value);
        return true;
    }
    if (microformat_is(element, HTML_OBJECT) && microformat_attribute(p, node, "data", &source)) {
        value->text = microformat_resolve(p, source);
        return true;
    }
    return false;
}

static bool
url_of(struct microformat_parser *p, uint32_t node, struct microformat_value *value)
{
    const struct html_node *element = &p->nodes[node];
    struct slice href;
    value->node = node;
    if ((!microformat_is(element, HTML_A) && !microformat_is(element, HTML_AREA)) ||
        !microformat_attribute(p, node, "href", &href)) {
        return false;
    }
    value->text = microformat_resolve(p, href);
    return true;
}

/* The item's element, its only child of a type, or that of its only child. */
static void
imply(struct microformat_parser *p, struct microformat_item *item, const char *name,
      const enum html_element elements[2],
      bool (*read)(struct microformat_parser *p, uint32_t node, struct microformat_value *value))
{
    struct microformat_value value = {.kind = MICROFORMAT_URL};
    if (read(p, item->node, &value)) {
        add(p, item, name, &value);
        return;
    }
    uint32_t node = item->node;
    for (int level = 0; level < 2 && node != 0; level++) {
        for (int i = 0; i < 2; i++) {
            const uint32_t child = only_of_type(p, node, elements[i]);
            if (child != 0 && !microformat_is_root(p, child) && read(p, child, &value)) {
                add(p, item, name, &value);
                return;
            }
        }
        node = only_child(p, node);
        if (node != 0 && microformat_is_root(p, node)) {
            return;
        }
    }
}

void
microformat_imply(struct microformat_parser *p, struct microformat_item *item)
{
    static const enum html_element photos[2] = {HTML_IMG, HTML_OBJECT};
    static const enum html_element links[2] = {HTML_A, HTML_AREA};
    if (item->has_nested || !microformat_spend(p, 1)) {
        return;
    }
    const bool has_url = item->has_url;
    if (!item->has_text && !property_of(item, "name")) {
        imply_name(p, item);
    }
    if (!has_url && !property_of(item, "photo")) {
        imply(p, item, "photo", photos, photo_of);
    }
    if (!has_url && !property_of(item, "url")) {
        imply(p, item, "url", links, url_of);
    }
}
