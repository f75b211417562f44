/* Elements and their class names: which begin items, which are properties. */
#include "transforms/microformats/microformats_parser.h"

bool
microformat_spend(struct microformat_parser *p, uint64_t amount)
{
    if (p->work < amount || p->full) {
        p->work = 0;
        p->found->cut = true;
        return false;
    }
    p->work -= amount;
    return true;
}

bool
microformat_attribute(const struct microformat_parser *p, uint32_t node, const char *name,
                      struct slice *value)
{
    return html_attribute(p->tree, node, name, value);
}

bool
microformat_is(const struct html_node *node, enum html_element element)
{
    return node->element == element && node->space == HTML_SPACE_HTML;
}

bool
microformat_is_named(const struct html_node *node, const char *name)
{
    return node->kind == HTML_ELEMENT && slice_equal_nocase(node->text, slice_string(name));
}

/* ---- class names ---- */

/* Tells whether the text can stand behind a prefix: (-[a-z0-9]+)?(-[a-z]+)+ without its first
 * dash. */
static bool
is_name(struct slice name)
{
    size_t letters = 0, mixed = 0, parts = 0;
    bool last_is_letters = false;
    for (size_t i = 0; i < name.length; i++) {
        const char c = name.at[i];
        if (c == '-') {
            if (letters + mixed == 0 || (mixed > 0 && parts > 0)) {
                return false;
            }
            parts++;
            letters = mixed = 0;
        } else if (c >= 'a' && c <= 'z') {
            letters++;
        } else if (c >= '0' && c <= '9') {
            mixed++;
        } else {
            return false;
        }
        last_is_letters = letters > 0 && mixed == 0;
    }
    return last_is_letters;
}

/* Heights in a style sheet that many pages use: no microformats. */
static bool
is_height(struct slice name)
{
    static const struct slice names[] = {
        SLICE_INIT("full"), SLICE_INIT("screen"), SLICE_INIT("auto"), SLICE_INIT("px"),
        SLICE_INIT("min"),  SLICE_INIT("max"),    SLICE_INIT("fit"),  SLICE_INIT("svh"),
        SLICE_INIT("lvh"),  SLICE_INIT("dvh")};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (slice_equal(names[i], name)) {
            return true;
        }
    }
    return false;
}

static bool
is_root_name(struct slice word)
{
    if (word.length < 3 || word.at[0] != 'h' || word.at[1] != '-') {
        return false;
    }
    const struct slice name = {word.at + 2, word.length - 2};
    return is_name(name) && !is_height(name);
}

static bool
property_name(struct slice word, struct microformat_name *name)
{
    size_t prefix = 2;
    if (word.length < 3) {
        return false;
    }
    switch (word.at[0]) {
    case 'p':
        name->kind = MICROFORMAT_TEXT;
        break;
    case 'u':
        name->kind = MICROFORMAT_URL;
        break;
    case 'e':
        name->kind = MICROFORMAT_MARKUP;
        break;
    case 'd':
        name->kind = MICROFORMAT_DATE;
        prefix = 3;
        break;
    default:
        return false;
    }
    if (word.at[prefix - 1] != '-' || (prefix == 3 && word.at[1] != 't')) {
        return false;
    }
    name->name = slice_of(word.at + prefix, word.length - prefix);
    return is_name(name->name);
}

bool
microformat_has_class(const struct microformat_parser *p, uint32_t node, const char *name)
{
    struct slice list, word;
    if (p->nodes[node].attribute_count > 0 && microformat_attribute(p, node, "class", &list)) {
        while ((word = slice_next_word(&list)).length > 0) {
            if (slice_is(word, name)) {
                return true;
            }
        }
    }
    return false;
}

bool
microformat_is_root(const struct microformat_parser *p, uint32_t node)
{
    struct slice list, word;
    if (p->nodes[node].attribute_count > 0 && microformat_attribute(p, node, "class", &list)) {
        while ((word = slice_next_word(&list)).length > 0) {
            if (is_root_name(word) || (p->classic && microformat_classic_root(word).length > 0)) {
                return true;
            }
        }
    }
    return false;
}

bool
microformat_is_property(const struct microformat_parser *p, uint32_t node)
{
    struct slice list, word;
    struct microformat_name name;
    if (p->nodes[node].attribute_count > 0 && microformat_attribute(p, node, "class", &list)) {
        while ((word = slice_next_word(&list)).length > 0) {
            if (p->classic ? microformat_classic_is_property(word) : property_name(word, &name)) {
                return true;
            }
        }
    }
    return false;
}

/* Sorted, each once. */
static void
add_root(struct microformat_classes *classes, struct slice type)
{
    size_t i = 0;
    while (i < classes->root_count && slice_compare(classes->roots[i], type) < 0) {
        i++;
    }
    if (classes->root_count == MICROFORMAT_TYPES ||
        (i < classes->root_count && slice_equal(classes->roots[i], type))) {
        return;
    }
    memmove(&classes->roots[i + 1], &classes->roots[i],
            (classes->root_count - i) * sizeof *classes->roots);
    classes->roots[i] = type;
    classes->root_count++;
}

static void
add_name(struct microformat_classes *classes, const struct microformat_name *name)
{
    for (size_t i = 0; i < classes->name_count; i++) {
        if (classes->names[i].kind == name->kind &&
            slice_equal(classes->names[i].name, name->name)) {
            return;
        }
    }
    if (classes->name_count < MICROFORMAT_NAMES) {
        classes->names[classes->name_count++] = *name;
    }
}

void
microformat_read_roots(struct slice list, struct microformat_classes *classes)
{
    struct slice word, rest = list;
    while ((word = slice_next_word(&rest)).length > 0) {
        if (is_root_name(word)) {
            add_root(classes, word);
        }
    }
    rest = list;
    while (classes->root_count == 0 && (word = slice_next_word(&rest)).length > 0) {
        if (microformat_classic_root(word).length > 0) {
            classes->classic = true;
            break;
        }
    }
    rest = list;
    while (classes->classic && (word = slice_next_word(&rest)).length > 0) {
        const struct slice type = microformat_classic_root(word);
        if (type.length > 0) {
            add_root(classes, type);
        }
    }
}

void
microformat_read_names(struct microformat_parser *p, uint32_t node, struct slice list,
                       const struct microformat_item *item, struct microformat_classes *classes)
{
    struct slice word, rest = list;
    struct microformat_name name;
    while ((word = slice_next_word(&rest)).length > 0) {
        if (item->classic ? microformat_classic_property(item, word, false, &name)
                          : property_name(word, &name)) {
            add_name(classes, &name);
        }
        if (item->classic && classes->root_count == 0 && microformat_classic_is_item(item, word)) {
            classes->classic = true;
            add_root(classes, SLICE("h-item"));
        }
    }
    if (item->classic && microformat_attribute(p, node, "rel", &rest)) {
        while ((word = slice_next_word(&rest)).length > 0) {
            if (microformat_classic_property(item, word, true, &name)) {
                add_name(classes, &name);
            }
        }
    }
}
