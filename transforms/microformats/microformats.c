/* Items and their properties.
 *
 * Outside of items the walk is a scan of the tree's array for class names that begin one. Inside,
 * it recurses (the tree is at most HTML_DEPTH deep, includes at most INCLUDE_DEPTH within each
 * other). Values of properties are read by microformats_values.c when their element is left, since
 * a nested item's own name or url may be the value. A value's text is as long as what it encloses,
 * so properties around properties could ask for the square of the page: the work is counted.
 */
#include "transforms/microformats/microformats.h"

#include "transforms/microformats/microformats_parser.h"

enum { WORK_PER_NODE = 64, WORK_FREE = 4 << 20 };

/* ---- items ---- */

static struct microformat_property *
property_for(struct microformat_parser *p, struct microformat_item *item, struct slice name)
{
    for (struct microformat_property *property = item->properties; property;
         property = property->next) {
        if (slice_equal(property->name, name)) {
            return property;
        }
    }
    struct microformat_property *property = item->property_count < MICROFORMAT_PROPERTIES
                                                ? arena_zero(p->arena, sizeof *property)
                                                : NULL;
    if (!property) {
        p->full |= item->property_count < MICROFORMAT_PROPERTIES;
        p->found->cut = true;
        return NULL;
    }
    property->name = name;
    item->property_count++;
    if (item->last_property) {
        item->last_property->next = property;
    } else {
        item->properties = property;
    }
    item->last_property = property;
    return property;
}

/* The value that a nested item gives for the whole: its own name or address. */
static bool
value_of_item(const struct microformat_item *item, struct microformat_value *value)
{
    const bool url = value->kind == MICROFORMAT_URL;
    if (!url && value->kind != MICROFORMAT_TEXT) {
        return false;
    }
    for (const struct microformat_property *property = item->properties; property;
         property = property->next) {
        if (!slice_is(property->name, url ? "url" : "name")) {
            continue;
        }
        for (const struct microformat_value *own = property->first; own; own = own->next) {
            if (own->kind == value->kind) {
                value->text = own->text;
                value->has_alt = own->has_alt;
                value->alt = own->alt;
                return true;
            }
        }
    }
    return false;
}

/* The last part of a tag's address is the tag. */
static struct slice
tag_of(struct microformat_parser *p, uint32_t node)
{
    struct slice href = {0};
    microformat_attribute(p, node, "href", &href);
    href.length = slice_find(href, '#');
    href.length = slice_find(href, '?');
    while (href.length > 0 && href.at[href.length - 1] == '/') {
        href.length--;
    }
    size_t from = href.length;
    while (from > 0 && href.at[from - 1] != '/') {
        from--;
    }
    return slice_of(href.at + from, href.length - from);
}

static bool
is_tag(const struct microformat_parser *p, uint32_t node, const struct microformat_name *name)
{
    struct slice rels, word, classes;
    if (!slice_is(name->name, "category") || !microformat_attribute(p, node, "rel", &rels) ||
        (microformat_attribute(p, node, "class", &classes) &&
         microformat_has_class(p, node, "category"))) {
        return false;
    }
    while ((word = slice_next_word(&rels)).length > 0) {
        if (slice_equal_nocase(word, SLICE("tag"))) {
            return true;
        }
    }
    return false;
}

static void
add_value(struct microformat_parser *p, struct microformat_item *item, uint32_t node,
          const struct microformat_name *name, struct microformat_item *nested)
{
    struct microformat_property *property = property_for(p, item, name->name);
    struct microformat_value *value = arena_zero(p->arena, sizeof *value);
    if (!property || !value || !microformat_spend(p, 1)) {
        p->full |= !value;
        return;
    }
    value->kind = name->kind;
    value->node = node;
    value->item = nested;
    item->has_text |= name->kind == MICROFORMAT_TEXT || name->kind == MICROFORMAT_MARKUP;
    item->has_url |= name->kind == MICROFORMAT_URL;
    if (item->classic && is_tag(p, node, name)) {
        value->text = tag_of(p, node);
    } else if (!nested || !value_of_item(nested, value)) {
        microformat_read_value(p, node, item, value);
    }
    if (property->last) {
        property->last->next = value;
    } else {
        property->first = value;
    }
    property->last = value;
}

static void
append_item(struct microformat_item **first, struct microformat_item **last,
            struct microformat_item *item)
{
    if (*last) {
        (*last)->next = item;
    } else {
        *first = item;
    }
    *last = item;
}

static void parse_children(struct microformat_parser *p, uint32_t node,
                           struct microformat_item *item);

static struct microformat_item *
parse_item(struct microformat_parser *p, uint32_t node, const struct microformat_classes *classes)
{
    struct microformat_item *item = arena_zero(p->arena, sizeof *item);
    if (!item) {
        p->full = true;
        return NULL;
    }
    item->classic = classes->classic;
    item->node = node;
    item->type_count = classes->root_count;
    memcpy(item->types, classes->roots, sizeof item->types);
    microformat_attribute(p, node, "id", &item->id);
    const bool classic = p->classic;
    p->classic = item->classic;
    parse_children(p, node, item);
    if (!item->classic) {
        microformat_imply(p, item);
    }
    p->classic = classic;
    return item;
}

/* item: what the element is in, NULL: nothing. True: it began an item of its own. */
static bool
parse_element(struct microformat_parser *p, uint32_t node, struct microformat_item *item)
{
    struct microformat_classes classes = {0};
    struct slice list;
    if (p->nodes[node].attribute_count > 0) {
        if (microformat_attribute(p, node, "class", &list)) {
            microformat_read_roots(list, &classes);
        } else {
            list = (struct slice){0};
        }
        if (item && (list.length > 0 || item->classic)) {
            microformat_read_names(p, node, list, item, &classes);
        }
    }
    struct microformat_item *nested = NULL;
    if (classes.root_count > 0) {
        nested = parse_item(p, node, &classes);
        if (!nested) {
            return true;
        }
        if (!item) {
            append_item(&p->found->items, &p->found->last_item, nested);
            return true;
        }
        item->has_nested = true;
        if (classes.name_count == 0) {
            append_item(&item->children, &item->last_child, nested);
        }
    }
    for (size_t i = 0; i < classes.name_count; i++) {
        add_value(p, item, node, &classes.names[i], nested);
    }
    if (!nested && item) {
        parse_children(p, node, item);
    }
    return nested != NULL;
}

static void
parse_children(struct microformat_parser *p, uint32_t node, struct microformat_item *item)
{
    struct microformat_children children = microformat_children_of(p, node);
    uint32_t i;
    while ((i = microformat_next(p, &children)) != 0) {
        if (p->nodes[i].kind == HTML_ELEMENT && microformat_spend(p, 1)) {
            parse_element(p, i, item);
        }
    }
}

/* ---- relations ---- */

static void
read_relation(struct microformat_parser *p, uint32_t node)
{
    const struct html_node *element = &p->nodes[node];
    struct slice rels, href;
    if ((!microformat_is(element, HTML_A) && !microformat_is(element, HTML_AREA) &&
         !microformat_is(element, HTML_LINK)) ||
        !microformat_attribute(p, node, "rel", &rels) ||
        !microformat_attribute(p, node, "href", &href)) {
        return;
    }
    struct microformat_relation *relation = arena_zero(p->arena, sizeof *relation);
    if (!relation) {
        p->full = true;
        return;
    }
    *relation = (struct microformat_relation){
        .node = node, .rels = rels, .url = microformat_resolve(p, href)};
    if (p->found->last_relation) {
        p->found->last_relation->next = relation;
    } else {
        p->found->relations = relation;
    }
    p->found->last_relation = relation;
}

/* base href applies to the base itself. */
static struct slice
base_of(struct microformat_parser *p, struct slice base)
{
    p->base = base;
    for (uint32_t i = 1; i < p->tree->node_count; i++) {
        struct slice href;
        if (p->nodes[i].kind == HTML_ELEMENT && microformat_is(&p->nodes[i], HTML_BASE) &&
            microformat_attribute(p, i, "href", &href)) {
            const struct slice resolved = microformat_resolve(p, href);
            return resolved.length > 0 ? resolved : base;
        }
    }
    return base;
}

enum status
microformats_parse(const struct html_tree *tree, struct slice base, bool relations,
                   struct microformats *found, struct reason *why)
{
    *found = (struct microformats){0};
    struct microformat_parser p = {.tree = tree,
                                   .nodes = tree->nodes,
                                   .arena = tree->arena,
                                   .found = found,
                                   .work = (uint64_t)tree->node_count * WORK_PER_NODE + WORK_FREE +
                                           tree->input.length};
    buf_init(&p.text, SIZE_MAX / 2);
    buf_init(&p.url, 1 << 20);
    p.base = base_of(&p, base);
    for (uint32_t i = 1; i < tree->node_count && !p.full;) {
        const struct html_node *node = &tree->nodes[i];
        if (node->kind != HTML_ELEMENT || microformat_is(node, HTML_TEMPLATE)) {
            i = node->kind == HTML_ELEMENT ? node->end : i + 1;
            continue;
        }
        i = node->attribute_count > 0 && parse_element(&p, i, NULL) ? node->end : i + 1;
    }
    for (uint32_t i = 1; relations && i < tree->node_count && !p.full;) {
        const struct html_node *node = &tree->nodes[i];
        const bool template = node->kind == HTML_ELEMENT && microformat_is(node, HTML_TEMPLATE);
        if (node->kind == HTML_ELEMENT && !template && node->attribute_count > 0) {
            read_relation(&p, i);
        }
        i = template ? node->end : i + 1;
    }
    buf_release(&p.text);
    buf_release(&p.url);
    return p.full ? status_fail(why, STATUS_LIMIT, "microformats need too much memory") : STATUS_OK;
}
