/* Tells which of an element's attributes are RDFa's, and the pages that have any. */
#include "transforms/rdfa/rdfa_processor.h"

static const struct slice names[RDFA_ATTRIBUTES] = {
    [RDFA_ABOUT] = SLICE_INIT("about"),       [RDFA_CONTENT] = SLICE_INIT("content"),
    [RDFA_DATATYPE] = SLICE_INIT("datatype"), [RDFA_DATETIME] = SLICE_INIT("datetime"),
    [RDFA_HREF] = SLICE_INIT("href"),         [RDFA_ID] = SLICE_INIT("id"),
    [RDFA_INLIST] = SLICE_INIT("inlist"),     [RDFA_LANG] = SLICE_INIT("lang"),
    [RDFA_PREFIX] = SLICE_INIT("prefix"),     [RDFA_PROPERTY] = SLICE_INIT("property"),
    [RDFA_REL] = SLICE_INIT("rel"),           [RDFA_RESOURCE] = SLICE_INIT("resource"),
    [RDFA_REV] = SLICE_INIT("rev"),           [RDFA_ROLE] = SLICE_INIT("role"),
    [RDFA_SRC] = SLICE_INIT("src"),           [RDFA_TYPEOF] = SLICE_INIT("typeof"),
    [RDFA_VOCAB] = SLICE_INIT("vocab"),       [RDFA_XML_BASE] = SLICE_INIT("xml:base"),
    [RDFA_XML_LANG] = SLICE_INIT("xml:lang"),
};

static const unsigned unknown_to_1_0 =
    RDFA_BIT(INLIST) | RDFA_BIT(LANG) | RDFA_BIT(PREFIX) | RDFA_BIT(VOCAB) | RDFA_BIT(DATETIME);

/* Those that have the same length; the first letter tells most others apart. */
static unsigned
attribute_of(struct slice name)
{
    static const uint32_t of_length[] = {
        [2] = RDFA_BIT(ID),
        [3] = RDFA_BIT(REL) | RDFA_BIT(REV) | RDFA_BIT(SRC),
        [4] = RDFA_BIT(HREF) | RDFA_BIT(LANG) | RDFA_BIT(ROLE),
        [5] = RDFA_BIT(ABOUT) | RDFA_BIT(VOCAB),
        [6] = RDFA_BIT(INLIST) | RDFA_BIT(PREFIX) | RDFA_BIT(TYPEOF),
        [7] = RDFA_BIT(CONTENT),
        [8] = RDFA_BIT(DATATYPE) | RDFA_BIT(DATETIME) | RDFA_BIT(PROPERTY) | RDFA_BIT(RESOURCE) |
              RDFA_BIT(XML_BASE) | RDFA_BIT(XML_LANG),
    };
    if (name.length < sizeof of_length / sizeof *of_length) {
        for (uint32_t left = of_length[name.length]; left; left &= left - 1) {
            const unsigned i = (unsigned)__builtin_ctz(left);
            if (memcmp(name.at, names[i].at, name.length) == 0) {
                return i;
            }
        }
    }
    return slice_starts(name, SLICE("xmlns")) ? RDFA_XMLNS : RDFA_ATTRIBUTES;
}

bool
rdfa_read_element(const struct rdfa *rdfa, uint32_t node, struct rdfa_element *element)
{
    const struct html_node *at = &rdfa->tree->nodes[node];
    element->node = node;
    element->present = 0;
    for (uint32_t i = 0; i < at->attribute_count; i++) {
        const struct html_attribute *attribute = &rdfa->tree->attributes[at->attribute + i];
        const unsigned which = attribute_of(attribute->name);
        if (which < RDFA_ATTRIBUTES && !(element->present & 1u << which)) {
            element->present |= 1u << which;
            element->values[which] = attribute->value;
        }
    }
    if (rdfa->host == RDFA_XHTML_1_0) {
        element->present &= ~unknown_to_1_0;
    }
    if (rdfa->host != RDFA_XML) {
        element->present &= ~RDFA_BIT(XML_BASE);
    } else {
        element->present &= ~(RDFA_BIT(LANG) | RDFA_BIT(DATETIME));
    }
    if (rdfa->host == RDFA_XHTML) {
        element->present &= ~RDFA_BIT(DATETIME);
    }
    if (!rdfa->options->roles) {
        element->present &= ~(RDFA_BIT(ROLE) | RDFA_BIT(ID));
    }
    return element->present != 0;
}

static bool
says_something(enum rdfa_host host, struct slice relations)
{
    struct slice token;
    while ((token = slice_next_word(&relations)).length > 0) {
        if (slice_find(token, ':') < token.length || rdfa_initial_term(host, token, true).at) {
            return true;
        }
    }
    return false;
}

bool
rdfa_is_likely(const struct html_tree *tree, enum rdfa_host host, unsigned features)
{
    if (features & HTML_HAS_RDFA) {
        return true;
    }
    if (!(features & HTML_HAS_REL)) {
        return false;
    }
    for (uint32_t i = 0; i < tree->attribute_count; i++) {
        const struct html_attribute *attribute = &tree->attributes[i];
        if (attribute->name.length == 3 && memcmp(attribute->name.at, "re", 2) == 0 &&
            (attribute->name.at[2] == 'l' || attribute->name.at[2] == 'v') &&
            says_something(host, attribute->value)) {
            return true;
        }
    }
    return false;
}

/* The document type decides before the version attribute, as it is what a parser sees first. */
enum rdfa_host
rdfa_host_of(const struct html_tree *tree, struct slice type)
{
    if (!slice_is(type, "application/xhtml+xml")) {
        return slice_is(type, "text/html") ? RDFA_HTML : RDFA_XML;
    }
    struct slice version = tree->doctype;
    if (slice_find_slice(version, SLICE("+RDFa 1.")) == version.length && tree->node_count > 1) {
        for (uint32_t i = 1; i < tree->node_count; i++) {
            if (tree->nodes[i].kind == HTML_ELEMENT) {
                if (!html_attribute(tree, i, "version", &version)) {
                    version = (struct slice){0};
                }
                break;
            }
        }
    }
    if (slice_find_slice(version, SLICE("XHTML+RDFa 1.0")) < version.length) {
        return RDFA_XHTML_1_0;
    }
    return slice_find_slice(version, SLICE("XHTML+RDFa 1.1")) < version.length ? RDFA_XHTML
                                                                               : RDFA_HTML;
}
