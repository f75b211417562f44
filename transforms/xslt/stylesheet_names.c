#include <libxml/tree.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "transforms/xml/xml_lines.h"
#include "transforms/xslt/stylesheet.h"

#define OWN "https://quadrille.example/transform#"

enum { RULES_MAXIMUM = 64, HEAD_BYTES = 64 << 10 };

struct rule {
    xmlChar *iri, *as, *prefix;
    bool lower;
};

struct stylesheet_names {
    struct rule spaces[RULES_MAXIMUM];
    size_t space_count;
    struct rule roots[RULES_MAXIMUM]; /* iri: the local name */
    size_t root_count;
    xmlChar *type, *texts;
};

static xmlChar *
value(xmlNodePtr node, const char *name)
{
    return xmlGetNoNsProp(node, BAD_CAST name);
}

static bool
is_element(const xmlNode *node)
{
    return node->type == XML_ELEMENT_NODE;
}

static void
read_rule(struct stylesheet_names *names, xmlNodePtr node)
{
    if (xmlStrEqual(node->name, BAD_CAST "namespace") && names->space_count < RULES_MAXIMUM) {
        xmlChar *letters = value(node, "names");
        names->spaces[names->space_count++] =
            (struct rule){value(node, "iri"), value(node, "as"), value(node, "prefix"),
                          letters && xmlStrEqual(letters, BAD_CAST "lower")};
        xmlFree(letters);
    } else if (xmlStrEqual(node->name, BAD_CAST "root") && names->root_count < RULES_MAXIMUM) {
        names->roots[names->root_count++] =
            (struct rule){value(node, "name"), value(node, "as"), NULL, false};
    } else if (xmlStrEqual(node->name, BAD_CAST "when") && !names->type) {
        names->type = value(node, "type");
        names->texts = value(node, "text");
    }
}

struct stylesheet_names *
stylesheet_names_read(xmlDocPtr stylesheet)
{
    struct stylesheet_names *names = memory_new(sizeof *names);
    const xmlNodePtr root = xmlDocGetRootElement(stylesheet);
    for (xmlNodePtr node = root ? root->children : NULL; node; node = node->next) {
        if (is_element(node) && node->ns && xmlStrEqual(node->ns->href, BAD_CAST OWN)) {
            read_rule(names, node);
        }
    }
    if (names->space_count == 0 && names->root_count == 0 && !names->type) {
        stylesheet_names_free(names);
        return NULL;
    }
    return names;
}

static void
free_rules(struct rule *rules, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        xmlFree(rules[i].iri);
        xmlFree(rules[i].as);
        xmlFree(rules[i].prefix);
    }
}

void
stylesheet_names_free(struct stylesheet_names *names)
{
    if (names) {
        free_rules(names->spaces, names->space_count);
        free_rules(names->roots, names->root_count);
        xmlFree(names->type);
        xmlFree(names->texts);
        free(names);
    }
}

bool
stylesheet_names_apply(const struct stylesheet_names *names, struct slice type, struct slice text)
{
    if (!names->type || !names->texts || !slice_is(type, (const char *)names->type)) {
        return true;
    }
    if (text.length > HEAD_BYTES) {
        text.length = HEAD_BYTES;
    }
    struct slice left = slice_trim(slice_string((const char *)names->texts));
    while (left.length > 0) {
        const size_t end = slice_find(left, ' ');
        if (slice_find_slice(text, slice_of(left.at, end)) < text.length) {
            return true;
        }
        left = slice_trim(slice_of(left.at + end, left.length - end));
    }
    return false;
}

/* ---- renaming ---- */

struct renaming {
    const struct stylesheet_names *names;
    xmlDocPtr document;
    xmlNodePtr root;
    const xmlChar *root_space, *root_as; /* of q:root; NULL: none */
};

static bool
same_space(const xmlChar *a, const xmlChar *b)
{
    return xmlStrEqual(a ? a : BAD_CAST "", b ? b : BAD_CAST "");
}

static const struct rule *
rule_of_space(const struct stylesheet_names *names, const xmlChar *space)
{
    for (size_t i = 0; i < names->space_count; i++) {
        if (names->spaces[i].iri && same_space(names->spaces[i].iri, space)) {
            return &names->spaces[i];
        }
    }
    return NULL;
}

static const struct rule *
rule_of_prefix(const struct stylesheet_names *names, const xmlChar *name, size_t length)
{
    for (size_t i = 0; i < names->space_count; i++) {
        const xmlChar *prefix = names->spaces[i].prefix;
        if (prefix && (size_t)xmlStrlen(prefix) == length && memcmp(prefix, name, length) == 0) {
            return &names->spaces[i];
        }
    }
    return NULL;
}

/* Tells whether elements that come to be in this namespace are written in lower case. */
static bool
is_lower(const struct stylesheet_names *names, const xmlChar *as)
{
    for (size_t i = 0; i < names->space_count; i++) {
        if (names->spaces[i].lower && same_space(names->spaces[i].as, as)) {
            return true;
        }
    }
    return false;
}

/* A namespace node of the document's root for the IRI: one for each, so that a search finds it. */
static xmlNsPtr
space_node(const struct renaming *renaming, const xmlChar *iri)
{
    for (xmlNsPtr space = renaming->root->nsDef; space; space = space->next) {
        if (xmlStrEqual(space->href, iri) && space->prefix &&
            xmlStrncmp(space->prefix, BAD_CAST "q-", 2) == 0) {
            return space;
        }
    }
    char prefix[24];
    for (unsigned n = 0; n <= 2 * RULES_MAXIMUM; n++) {
        snprintf(prefix, sizeof prefix, "q-%u", n);
        const xmlNsPtr space = xmlNewNs(renaming->root, iri, BAD_CAST prefix);
        if (space) {
            return space;
        }
    }
    return NULL;
}

static void
lower(xmlNodePtr node, const xmlChar *name)
{
    bool has_upper = false;
    for (const xmlChar *at = name; *at; at++) {
        has_upper = has_upper || (*at >= 'A' && *at <= 'Z');
    }
    xmlChar *copy = has_upper ? xmlStrdup(name) : NULL;
    for (xmlChar *at = copy; at && *at; at++) {
        *at = *at >= 'A' && *at <= 'Z' ? *at | 0x20 : *at;
    }
    if (copy) {
        xmlNodeSetName(node, copy);
        xmlFree(copy);
    }
}

static void
rename_element(const struct renaming *renaming, xmlNodePtr node)
{
    const struct stylesheet_names *names = renaming->names;
    const xmlChar *space = node->ns ? node->ns->href : NULL;
    const xmlChar *colon = node->ns ? NULL : xmlStrchr(node->name, ':');
    const xmlChar *as = space;
    if (colon) {
        const struct rule *rule = rule_of_prefix(names, node->name, (size_t)(colon - node->name));
        if (!rule) {
            return;
        }
        as = rule->as;
        xmlChar *local = xmlStrdup(colon + 1);
        xmlNodeSetName(node, local);
        xmlFree(local);
    } else if (renaming->root_as && same_space(space, renaming->root_space)) {
        as = renaming->root_as;
    } else {
        const struct rule *rule = rule_of_space(names, space);
        as = rule ? rule->as : space;
    }
    if (as && !same_space(as, space)) {
        node->ns = space_node(renaming, as);
    }
    if (as && is_lower(names, as)) {
        lower(node, node->name);
        for (xmlAttrPtr attribute = node->properties; attribute; attribute = attribute->next) {
            if (!attribute->ns) {
                lower((xmlNodePtr)attribute, attribute->name);
            }
        }
    }
}

xmlDocPtr
stylesheet_names_copy(const struct stylesheet_names *names, xmlDocPtr document)
{
    xmlDocPtr copy = xmlCopyDoc(document, 1);
    struct renaming renaming = {names, copy, copy ? xmlDocGetRootElement(copy) : NULL, NULL, NULL};
    if (!renaming.root) {
        return copy;
    }
    const xmlNodePtr original = xmlDocGetRootElement(document);
    if (original->_private) {
        xml_lines_copy(original, renaming.root);
    }
    for (size_t i = 0; i < names->root_count; i++) {
        if (xmlStrcasecmp(names->roots[i].iri, renaming.root->name) == 0) {
            renaming.root_as = names->roots[i].as;
            renaming.root_space = original->ns ? original->ns->href : NULL;
        }
    }
    for (xmlNodePtr node = renaming.root; node;) {
        if (is_element(node)) {
            rename_element(&renaming, node);
        }
        if (is_element(node) && node->children) {
            node = node->children;
            continue;
        }
        while (node && node != renaming.root && !node->next) {
            node = node->parent;
        }
        node = node == renaming.root ? NULL : node->next;
    }
    return copy;
}
