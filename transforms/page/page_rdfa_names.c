/* Tells which names of `property`, `rel` and `rev` are RDFa's to say something of, so that the
 * page's meta and link elements are not read twice: those with a prefix of RDFa's initial context
 * (https://www.w3.org/2011/rdfa-context/rdfa-1.1) or one that the element or an ancestor declares,
 * absolute IRIs, and plain terms where a vocabulary is set. */
#include <stdio.h>

#include "base/ascii.h"
#include "transforms/page/page_extract.h"

static const char initial_prefixes[] =
    " as cat cnt csvw dcat dqv duv earl gldp grddl ht jsonld ldp ma oa odrl org owl prov ptr qb "
    "rdf rdfa rdfs rif rr sd skos"
    " skosxl sosa ssn time void wdr wdrs xhv xml xsd cc ctag dc dc11 dcterms foaf gr ical og rev"
    " schema sioc v vcard ";

enum { PREFIX_MAXIMUM = 64 };

/* Tells whether the value of a prefix attribute, "a: http://... b: http://...", declares it. */
static bool
is_declared_in(struct slice declarations, struct slice prefix)
{
    const char *at = declarations.at, *const end = at + declarations.length;
    while (at < end) {
        const char *colon = memchr(at, ':', (size_t)(end - at));
        if (!colon) {
            return false;
        }
        const char *from = colon;
        while (from > at && from[-1] > ' ') {
            from--;
        }
        if (colon + 1 < end && colon[1] <= ' ' &&
            slice_equal_nocase(slice_of(from, (size_t)(colon - from)), prefix)) {
            return true;
        }
        at = colon + 1;
    }
    return false;
}

/* Tells whether the node or an ancestor has what `holds` looks for. */
static bool
is_declared(const struct html_tree *tree, uint32_t node, struct slice prefix)
{
    char name[8 + PREFIX_MAXIMUM];
    struct slice value;
    snprintf(name, sizeof name, "xmlns:%.*s", SLICE_PRINT(prefix));
    for (; node > 0; node = tree->nodes[node].parent) {
        if ((html_attribute(tree, node, "prefix", &value) && is_declared_in(value, prefix)) ||
            html_attribute(tree, node, name, &value)) {
            return true;
        }
    }
    return false;
}

static bool
has_vocabulary(const struct html_tree *tree, uint32_t node)
{
    struct slice value;
    for (; node > 0; node = tree->nodes[node].parent) {
        if (html_attribute(tree, node, "vocab", &value)) {
            return slice_trim(value).length > 0;
        }
    }
    return false;
}

bool
html_is_rdfa_name(const struct html_tree *tree, uint32_t node, struct slice word)
{
    const size_t colon = slice_find(word, ':');
    char folded[PREFIX_MAXIMUM + 3];
    if (colon == word.length) {
        return has_vocabulary(tree, node);
    }
    if (colon + 2 < word.length && word.at[colon + 1] == '/' && word.at[colon + 2] == '/') {
        return true;
    }
    if (colon == 0 || colon > PREFIX_MAXIMUM) {
        return false;
    }
    folded[0] = ' ';
    for (size_t i = 0; i < colon; i++) {
        const char c = word.at[i];
        folded[i + 1] = ascii_lower(c);
    }
    folded[colon + 1] = ' ';
    folded[colon + 2] = 0;
    return strstr(initial_prefixes, folded) != NULL ||
           is_declared(tree, node, slice_of(folded + 1, colon));
}
