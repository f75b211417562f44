#include "transforms/common/meta_names.h"

#include "base/ascii.h"
#include "transforms/common/vocabulary.h"

struct known_name {
    const char *name, *predicate;
    enum meta_value value;
};

/* Names with a term of their own; in lower case. */
static const struct known_name known_names[] = {
    {"abstract", VOCABULARY_DCTERMS "abstract", META_PROSE},
    {"author", VOCABULARY_DC "creator", META_TEXT},
    {"copyright", VOCABULARY_DC "rights", META_TEXT},
    {"description", VOCABULARY_DCTERMS "description", META_PROSE},
    {"geo.placename", VOCABULARY_DC "coverage", META_TEXT},
    {"geo.position", NULL, META_PLACE},
    {"geo.region", VOCABULARY_DC "coverage", META_TEXT},
    {"icbm", NULL, META_PLACE},
    {"keywords", VOCABULARY_DC "subject", META_KEYWORDS},
    {"language", VOCABULARY_DC "language", META_TEXT},
    {"msapplication-config", VOCABULARY_QUADRILLE "meta-msapplication-config", META_REFERENCE},
    {"msapplication-starturl", VOCABULARY_QUADRILLE "meta-msapplication-starturl", META_REFERENCE},
    {"msapplication-tileimage", VOCABULARY_QUADRILLE "meta-msapplication-tileimage",
     META_REFERENCE},
    {"news_keywords", VOCABULARY_DC "subject", META_KEYWORDS},
    {"publisher", VOCABULARY_DC "publisher", META_TEXT},
    {"subject", VOCABULARY_DC "subject", META_PROSE},
    {"thumbnail", VOCABULARY_FOAF "thumbnail", META_REFERENCE},
    {"title", VOCABULARY_DCTERMS "title", META_PROSE},
};

/* The names that scholarly search engines ask for (citation_*, also with bepress_ before): terms of
 * Dublin Core, BIBO and PRISM. */
static const struct known_name citation_names[] = {
    {"abstract", VOCABULARY_DCTERMS "abstract", META_PROSE},
    {"abstract_html_url", VOCABULARY_DCTERMS "isVersionOf", META_REFERENCE},
    {"arxiv_id", VOCABULARY_DCTERMS "identifier", META_TEXT},
    {"author", VOCABULARY_DC "creator", META_TEXT},
    {"authors", VOCABULARY_DC "creator", META_TEXT},
    {"conference_title", VOCABULARY_PRISM "event", META_TEXT},
    {"date", VOCABULARY_DCTERMS "issued", META_TEXT},
    {"doi", VOCABULARY_BIBO "doi", META_TEXT},
    {"firstpage", VOCABULARY_BIBO "pageStart", META_TEXT},
    {"fulltext_html_url", VOCABULARY_DCTERMS "hasFormat", META_REFERENCE},
    {"isbn", VOCABULARY_BIBO "isbn", META_TEXT},
    {"issn", VOCABULARY_BIBO "issn", META_TEXT},
    {"issue", VOCABULARY_BIBO "issue", META_TEXT},
    {"journal_title", VOCABULARY_PRISM "publicationName", META_TEXT},
    {"keywords", VOCABULARY_DC "subject", META_KEYWORDS},
    {"language", VOCABULARY_DC "language", META_TEXT},
    {"lastpage", VOCABULARY_BIBO "pageEnd", META_TEXT},
    {"online_date", VOCABULARY_DCTERMS "available", META_TEXT},
    {"pdf_url", VOCABULARY_DCTERMS "hasFormat", META_REFERENCE},
    {"pmid", VOCABULARY_BIBO "pmid", META_TEXT},
    {"publication_date", VOCABULARY_DCTERMS "issued", META_TEXT},
    {"publisher", VOCABULARY_DC "publisher", META_TEXT},
    {"reference", VOCABULARY_DCTERMS "references", META_PERHAPS},
    {"title", VOCABULARY_DCTERMS "title", META_PROSE},
    {"volume", VOCABULARY_BIBO "volume", META_TEXT},
    {"year", VOCABULARY_DCTERMS "issued", META_TEXT},
};

/* Prefixes of names, and the namespaces they stand for: the rest of the name is the term. */
static const struct {
    const char *prefix, *namespace;
} namespaces[] = {
    {"og:", VOCABULARY_OGP "#"},
    {"article:", VOCABULARY_OGP "/article#"},
    {"book:", VOCABULARY_OGP "/book#"},
    {"books:", VOCABULARY_OGP "/books#"},
    {"business:", VOCABULARY_OGP "/business#"},
    {"fb:", VOCABULARY_OGP "/fb#"},
    {"music:", VOCABULARY_OGP "/music#"},
    {"place:", VOCABULARY_OGP "/place#"},
    {"product:", VOCABULARY_OGP "/product#"},
    {"profile:", VOCABULARY_OGP "/profile#"},
    {"restaurant:", VOCABULARY_OGP "/restaurant#"},
    {"video:", VOCABULARY_OGP "/video#"},
    {"website:", VOCABULARY_OGP "/website#"},
    {"al:", "http://applinks.org/ns#"},
    {"twitter:", VOCABULARY_TWITTER},
    {"foaf:", VOCABULARY_FOAF},
    {"prism.", VOCABULARY_PRISM},
    {"prism:", VOCABULARY_PRISM},
    {"schema:", "http://schema.org/"},
};

/* Terms of those whose values are URLs, by their name with prefix. */
static const struct {
    const char *name;
    enum meta_value value;
} references[] = {
    {"og:url", META_REFERENCE},
    {"og:image", META_REFERENCE},
    {"og:image:url", META_REFERENCE},
    {"og:image:secure_url", META_REFERENCE},
    {"og:video", META_REFERENCE},
    {"og:video:url", META_REFERENCE},
    {"og:video:secure_url", META_REFERENCE},
    {"og:audio", META_REFERENCE},
    {"og:audio:url", META_REFERENCE},
    {"og:audio:secure_url", META_REFERENCE},
    {"og:logo", META_REFERENCE},
    {"og:see_also", META_REFERENCE},
    {"twitter:url", META_REFERENCE},
    {"twitter:image", META_REFERENCE},
    {"twitter:image:src", META_REFERENCE},
    {"twitter:image0", META_REFERENCE},
    {"twitter:image1", META_REFERENCE},
    {"twitter:image2", META_REFERENCE},
    {"twitter:image3", META_REFERENCE},
    {"twitter:player", META_REFERENCE},
    {"twitter:player:stream", META_REFERENCE},
    {"article:author", META_PERHAPS},
    {"article:publisher", META_PERHAPS},
    {"book:author", META_PERHAPS},
    {"fb:profile_id", META_PERHAPS},
    {"music:song", META_PERHAPS},
    {"music:album", META_PERHAPS},
    {"music:musician", META_PERHAPS},
    {"music:creator", META_PERHAPS},
    {"video:actor", META_PERHAPS},
    {"video:director", META_PERHAPS},
    {"video:series", META_PERHAPS},
    {"video:writer", META_PERHAPS},
    {"al:web:url", META_PERHAPS},
    {"og:title", META_PROSE},
    {"og:description", META_PROSE},
    {"twitter:title", META_PROSE},
    {"twitter:description", META_PROSE},
};

/* Terms of http://purl.org/dc/terms/ that have capitals; the others are in lower case. */
static const char *const capital_terms[] = {
    "accessRights",  "accrualMethod",   "accrualPeriodicity",
    "accrualPolicy", "alternative",     "bibliographicCitation",
    "conformsTo",    "dateAccepted",    "dateCopyrighted",
    "dateSubmitted", "educationLevel",  "hasFormat",
    "hasPart",       "hasVersion",      "instructionalMethod",
    "isFormatOf",    "isPartOf",        "isReferencedBy",
    "isReplacedBy",  "isRequiredBy",    "isVersionOf",
    "rightsHolder",  "tableOfContents", "license",
    "abstract",      "available",       "created",
    "extent",        "issued",          "mediator",
    "medium",        "modified",        "provenance",
    "references",    "replaces",        "requires",
    "spatial",       "temporal",        "valid",
    "audience",
};
/* The syntax encoding schemes of DCMI that are datatypes. */
static const char *const datatypes[] = {
    "Box",     "ISO3166", "ISO639-2", "ISO639-3", "Period", "Point",
    "RFC1766", "RFC3066", "RFC4646",  "RFC5646",  "URI",    "W3CDTF",
};

static bool
is_name_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' ||
           c == ':';
}

static const struct known_name *
find_known(const struct known_name *names, size_t count, struct slice name)
{
    for (size_t i = 0; i < count; i++) {
        if (name.at[0] == names[i].name[0] && slice_is(name, names[i].name)) {
            return &names[i];
        }
    }
    return NULL;
}

static const char *
find_nocase(const char *const *names, size_t count, struct slice name)
{
    for (size_t i = 0; i < count; i++) {
        if (slice_equal_nocase(name, slice_string(names[i]))) {
            return names[i];
        }
    }
    return NULL;
}

static struct slice
after(struct slice text, size_t n)
{
    return slice_of(text.at + n, text.length - n);
}

static void
append_lower(struct buf *memory, struct slice text)
{
    for (size_t i = 0; i < text.length; i++) {
        const char c = text.at[i];
        buf_append_char(memory, ascii_lower(c));
    }
}

/* A refinement ("date.issued") is a term of its own where DCMI has it, else it is left off. */
const char *
meta_dublin_core(struct slice name, bool terms, struct buf *memory)
{
    const size_t capitals = sizeof capital_terms / sizeof *capital_terms;
    const size_t dot = slice_find(name, '.');
    const char *capital = NULL;
    if (dot < name.length) {
        capital = find_nocase(capital_terms, capitals, after(name, dot + 1));
        name = slice_of(name.at, dot);
    } else if (terms) {
        capital = find_nocase(capital_terms, capitals, name);
    }
    buf_reset(memory);
    if (capital) {
        buf_printf(memory, VOCABULARY_DCTERMS "%s", capital);
    } else {
        buf_append_string(memory, terms ? VOCABULARY_DCTERMS : VOCABULARY_DC);
        append_lower(memory, name);
    }
    return name.length > 0 ? memory->data : NULL;
}

struct slice
meta_scheme_datatype(struct slice scheme, struct buf *memory)
{
    scheme = slice_trim(scheme);
    const size_t dot = slice_find(scheme, '.');
    if (dot < scheme.length && slice_equal_nocase(slice_of(scheme.at, dot), SLICE("dcterms"))) {
        scheme = after(scheme, dot + 1);
    }
    const char *known = find_nocase(datatypes, sizeof datatypes / sizeof *datatypes, scheme);
    buf_reset(memory);
    if (!known) {
        return (struct slice){0};
    }
    buf_printf(memory, VOCABULARY_DCTERMS "%s", known);
    return buf_slice(memory);
}

static bool
in_namespace(struct slice name, struct slice folded, struct buf *memory, struct meta_term *term)
{
    static const struct slice dublin_core[] = {SLICE_INIT("dc."), SLICE_INIT("dc:"),
                                               SLICE_INIT("dcterms."), SLICE_INIT("dcterms:")};
    for (size_t i = 0; i < sizeof dublin_core / sizeof *dublin_core; i++) {
        if (slice_starts(folded, dublin_core[i])) {
            term->predicate = meta_dublin_core(after(name, dublin_core[i].length), i >= 2, memory);
            return true;
        }
    }
    for (size_t i = 0; i < sizeof namespaces / sizeof *namespaces; i++) {
        const struct slice prefix = slice_string(namespaces[i].prefix);
        if (folded.length > prefix.length && slice_starts(folded, prefix)) {
            /* The terms of some are in mixed case. */
            buf_printf(memory, "%s%.*s", namespaces[i].namespace,
                       SLICE_PRINT(after(name, prefix.length)));
            term->predicate = memory->data;
            for (size_t k = 0; k < sizeof references / sizeof *references; k++) {
                if (slice_is(folded, references[k].name)) {
                    term->value = references[k].value;
                }
            }
            return true;
        }
    }
    return false;
}

bool
meta_term_of(struct slice name, struct buf *memory, struct meta_term *term)
{
    char lower[META_NAME_MAXIMUM];
    name = slice_trim(name);
    if (name.length == 0 || name.length > sizeof lower) {
        return false;
    }
    for (size_t i = 0; i < name.length; i++) {
        const char c = name.at[i];
        lower[i] = ascii_lower(c);
        if (!is_name_character(lower[i])) {
            return false;
        }
    }
    struct slice folded = {lower, name.length};
    *term = (struct meta_term){.value = META_TEXT};
    buf_reset(memory);
    const struct known_name *known =
        find_known(known_names, sizeof known_names / sizeof *known_names, folded);
    if (!known && slice_starts(folded, SLICE("bepress_citation_"))) {
        folded = after(folded, 8);
    }
    if (!known && slice_starts(folded, SLICE("citation_")) && folded.length > 9) {
        known = find_known(citation_names, sizeof citation_names / sizeof *citation_names,
                           after(folded, 9));
    }
    if (known) {
        *term = (struct meta_term){known->predicate, known->value};
        return true;
    }
    if (!in_namespace(name, folded, memory, term)) {
        buf_printf(memory, VOCABULARY_QUADRILLE "meta-%.*s", SLICE_PRINT(folded));
        term->predicate = memory->data;
    }
    return term->predicate != NULL;
}
