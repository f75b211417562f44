/* Initial contexts: https://www.w3.org/2011/rdfa-context/rdfa-1.1 and
 * https://www.w3.org/2011/rdfa-context/xhtml-rdfa-1.1. */
#include <stdlib.h>

#include "base/ascii.h"
#include "transforms/rdfa/rdfa_processor.h"

struct name {
    struct slice name, iri;
};

#define NAME(name, iri)                   \
    {                                     \
        SLICE_INIT(name), SLICE_INIT(iri) \
    }
#define XHV(term)                                         \
    {                                                     \
        SLICE_INIT(term), SLICE_INIT(VOCABULARY_XHV term) \
    }

/* Sorted. */
static const struct name prefixes[] = {
    NAME("as", "https://www.w3.org/ns/activitystreams#"),
    NAME("cat", "http://www.w3.org/ns/dcat#"),
    NAME("cc", "http://creativecommons.org/ns#"),
    NAME("cnt", "http://www.w3.org/2008/content#"),
    NAME("csvw", "http://www.w3.org/ns/csvw#"),
    NAME("ctag", "http://commontag.org/ns#"),
    NAME("dc", VOCABULARY_DCTERMS),
    NAME("dc11", VOCABULARY_DC),
    NAME("dcat", "http://www.w3.org/ns/dcat#"),
    NAME("dcterms", VOCABULARY_DCTERMS),
    NAME("dqv", "http://www.w3.org/ns/dqv#"),
    NAME("duv", "https://www.w3.org/ns/duv#"),
    NAME("earl", "http://www.w3.org/ns/earl#"),
    NAME("foaf", VOCABULARY_FOAF),
    NAME("gldp", "http://www.w3.org/ns/people#"),
    NAME("gr", "http://purl.org/goodrelations/v1#"),
    NAME("grddl", "http://www.w3.org/2003/g/data-view#"),
    NAME("ht", "http://www.w3.org/2006/http#"),
    NAME("ical", "http://www.w3.org/2002/12/cal/icaltzd#"),
    NAME("jsonld", "http://www.w3.org/ns/json-ld#"),
    NAME("ldp", "http://www.w3.org/ns/ldp#"),
    NAME("ma", "http://www.w3.org/ns/ma-ont#"),
    NAME("oa", "http://www.w3.org/ns/oa#"),
    NAME("odrl", "http://www.w3.org/ns/odrl/2/"),
    NAME("og", VOCABULARY_OGP "#"),
    NAME("org", "http://www.w3.org/ns/org#"),
    NAME("owl", "http://www.w3.org/2002/07/owl#"),
    NAME("prov", "http://www.w3.org/ns/prov#"),
    NAME("ptr", "http://www.w3.org/2009/pointers#"),
    NAME("qb", "http://purl.org/linked-data/cube#"),
    NAME("rdf", VOCABULARY_RDF),
    NAME("rdfa", RDFA_NAMESPACE),
    NAME("rdfs", "http://www.w3.org/2000/01/rdf-schema#"),
    NAME("rev", "http://purl.org/stuff/rev#"),
    NAME("rif", "http://www.w3.org/2007/rif#"),
    NAME("rr", "http://www.w3.org/ns/r2rml#"),
    NAME("schema", "http://schema.org/"),
    NAME("sd", "http://www.w3.org/ns/sparql-service-description#"),
    NAME("sioc", VOCABULARY_SIOC),
    NAME("skos", "http://www.w3.org/2004/02/skos/core#"),
    NAME("skosxl", "http://www.w3.org/2008/05/skos-xl#"),
    NAME("sosa", "http://www.w3.org/ns/sosa/"),
    NAME("ssn", "http://www.w3.org/ns/ssn/"),
    NAME("time", "http://www.w3.org/2006/time#"),
    NAME("v", "http://rdf.data-vocabulary.org/#"),
    NAME("vcard", "http://www.w3.org/2006/vcard/ns#"),
    NAME("void", "http://rdfs.org/ns/void#"),
    NAME("wdr", "http://www.w3.org/2007/05/powder#"),
    NAME("wdrs", "http://www.w3.org/2007/05/powder-s#"),
    NAME("xhv", VOCABULARY_XHV),
    NAME("xml", "http://www.w3.org/XML/1998/namespace"),
    NAME("xsd", VOCABULARY_XSD),
};

static const struct name terms[] = {
    NAME("describedby", "http://www.w3.org/2007/05/powder-s#describedby"),
    XHV("license"),
    XHV("role"),
};

/* XHTML's link relations. */
static const struct name xhtml_terms[] = {
    XHV("alternate"), XHV("appendix"),  XHV("bookmark"),   XHV("chapter"),    XHV("cite"),
    XHV("contents"),  XHV("copyright"), XHV("first"),      XHV("glossary"),   XHV("help"),
    XHV("icon"),      XHV("index"),     XHV("last"),       XHV("license"),    XHV("meta"),
    XHV("next"),      XHV("p3pv1"),     XHV("prev"),       XHV("previous"),   XHV("role"),
    XHV("section"),   XHV("start"),     XHV("stylesheet"), XHV("subsection"), XHV("top"),
    XHV("up"),
};

static int
compare_names(const void *key, const void *entry)
{
    return slice_compare(*(const struct slice *)key, ((const struct name *)entry)->name);
}

struct slice
rdfa_initial_prefix(struct slice prefix)
{
    char lower[8];
    if (prefix.length > sizeof lower) {
        return (struct slice){0};
    }
    for (size_t i = 0; i < prefix.length; i++) {
        const char c = prefix.at[i];
        lower[i] = ascii_lower(c);
    }
    const struct slice key = {lower, prefix.length};
    const struct name *found = bsearch(&key, prefixes, sizeof prefixes / sizeof *prefixes,
                                       sizeof *prefixes, compare_names);
    return found ? found->iri : (struct slice){0};
}

/* Finds the term in any letter case (section 7.4.3). */
static struct slice
find_term(const struct name *names, size_t count, struct slice term)
{
    for (size_t i = 0; i < count; i++) {
        if (slice_equal_nocase(names[i].name, term)) {
            return names[i].iri;
        }
    }
    return (struct slice){0};
}

struct slice
rdfa_initial_term(enum rdfa_host host, struct slice term, bool relation)
{
    if (host == RDFA_XHTML_1_0 && !relation) {
        return (struct slice){0};
    }
    struct slice iri = {0};
    if (host == RDFA_XHTML || host == RDFA_XHTML_1_0) {
        iri = find_term(xhtml_terms, sizeof xhtml_terms / sizeof *xhtml_terms, term);
    }
    if (!iri.at && host != RDFA_XHTML_1_0) {
        iri = find_term(terms, sizeof terms / sizeof *terms, term);
    }
    return iri;
}
