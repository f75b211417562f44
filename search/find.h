/* The three lookups: what speaks of a URI, what has a value of a property, what has words. All give
 * statements with weights; grouped by document or by resource, with the best first.
 *
 * A statement found by words has the score of its literal (BM25, index/KEYWORDS.md) times the
 * weight of its property: that of labels for names and titles, 1 for all others. One found by a
 * URI or a value weighs what the thing that is shared is rare: log2(1 + FIND_ROWS / statements
 * found). A group weighs its best statement and, for each further one, half of what the one before
 * it added; a triple that several documents of the group have counts once. A group weighs more
 * when the document is on the host of the resource itself.
 *
 * A page of results must not show again what an earlier page had, though less was read for that
 * one. So a request may rank in bands: the first statements that are found, so many as it says,
 * make the first band, and each further band ends at four times the statements of the one before.
 * An entry belongs to the band of its first statement, is weighed by what it has in that band, and
 * stands before all entries of later bands. What stands in a band is the same however many are read
 * after.
 *
 * At most so many statements are read; when there are more, totals and the counts of facets are
 * lower bounds. Documents of one host that are called the same but for the ending, and have the
 * same triples found, are one document in several syntaxes, and one entry. */
#ifndef SEARCH_FIND_H
#define SEARCH_FIND_H

#include <jansson.h>

#include "index/client/index_client.h"
#include "search/filters.h"

enum { FIND_ROWS = 1000 };

/* docs/SEARCH.md has what each is worth, measured. */
struct find_weights {
    double label; /* of names and titles */
    double rest;  /* of each further statement of a group, of what the one before it added */
    double host;  /* of a group whose document is on the resource's host */
};
extern const struct find_weights find_usual_weights;

enum find_group { FIND_BY_DOCUMENT, FIND_BY_RESOURCE };

struct find_row {
    struct quad quad;
    double score;
    unsigned band;     /* that it was read in; 0 is the first */
    struct slice same; /* the name, other than the one asked for, that it was found by; or empty */
};
struct find_entry {
    struct slice document; /* of its best statement */
    struct term resource;  /* the subject of its best statement */
    struct term predicate, object;
    double score;
    unsigned band;
    size_t statements;       /* found in its band: results->rows from first_row, the best first */
    size_t first_row;        /* */
    struct slice same;       /* of its best statement */
    struct slice alternates; /* the document in other syntaxes: IRIs, each ended by a newline */
    /* Filled by find_describe. */
    struct slice title;   /* empty: it has none */
    struct slice type;    /* IRI of a class of the resource; empty: it has none */
    uint64_t triples;     /* of the document */
    struct slice changed; /* when the document did, as xsd:dateTime; empty: not known */
};

enum { FACET_VALUES = 10 };
struct find_facet {
    enum find_filter_kind kind;
    struct {
        struct slice value; /* as a filter of the kind takes it */
        size_t count;       /* entries that have it */
    } values[FACET_VALUES];
    size_t count; /* of values, the most frequent first */
    bool more;
};

/* A resource that is the same as the one asked for, with the first reason. */
struct find_same {
    struct slice resource, rule, property, value, document;
};
enum { FIND_SAME_MOST = 20 };

struct find_results {
    struct find_row *rows;
    size_t row_count;
    struct find_entry *entries;
    size_t count;
    bool at_least;          /* there are more than count */
    struct slice corrected; /* words that were searched for in place of others; empty: none */
    struct slice words;     /* that were searched for, without filters */
    struct find_facet facets[FILTER_KINDS];
    size_t facet_count;
    struct find_same same[FIND_SAME_MOST];
    size_t same_count;
    struct arena arena;
};

/* Tells how many times the statements of all bands before it a band ends at. */
enum { FIND_BAND_GROWTH = 4 };

struct find_request {
    struct slice text;     /* words with filters among them; or a URI; or a value */
    struct slice filters;  /* these alone */
    struct slice property; /* of a value; empty: else */
    bool is_uri;           /* text is a URI */
    bool same;             /* of a URI: also what speaks of those that are the same */
    bool facets;           /* count them */
    enum find_group group;
    size_t rows;                        /* read at most so many statements; 0: FIND_ROWS */
    size_t band;                        /* statements of the first band; 0: all are one band */
    const struct find_weights *weights; /* NULL: find_usual_weights */
};

/* Whom to ask, and how. The client's manner is the caller's. */
struct find_access {
    struct index_client *index;
    uint32_t timeout_ms; /* of each question to the index */
    uint64_t asker;      /* index_query_options.client */
};

/* Results must be released, also after a failure. */
enum status find_run(const struct find_access *access, const struct find_request *request,
                     struct find_results *results, struct reason *why);
void find_release(struct find_results *results);

/* Lines as of index_search, of the statements that pass the filters among the words; without any it
 * is index_search. *cut: fewer than limit, and not all that has the words was looked through. */
enum status find_lines(const struct find_access *access, struct slice words, uint32_t limit,
                       index_piece *piece, void *context, bool *cut, struct reason *why);

/* Titles and classes of entries, from and count of them; what cannot be had stays empty. */
enum status find_describe(const struct find_access *access, struct find_results *results,
                          size_t from, size_t count, struct reason *why);
/* Sizes and times of their documents. */
enum status find_describe_documents(const struct find_access *access, struct find_results *results,
                                    size_t from, size_t count, struct reason *why);
/* Newest first, by the time of the last fetch; those without one last. */
enum status find_sort_by_date(const struct find_access *access, struct find_results *results,
                              struct reason *why);

/* The bindings of a SELECT: an array of objects of {type, value, ...}. Bounded in bytes. */
enum status find_ask(const struct find_access *access, struct slice sparql, json_t **bindings,
                     struct reason *why);
/* The value of a variable in one of them; empty: unbound. */
struct slice find_value(const json_t *binding, const char *variable);
/* Values of properties that some document calls inverse functional and that several resources have,
 * those that most have first. {"values": [{property, value, resources, one, setAside}], "more"},
 * terms as N-Triples; `one` is one of the resources, whose identity has the evidence. */
enum { FIND_SHARED_VALUES = 200 };
enum status find_shared_values(const struct find_access *access, json_t **answer,
                               struct reason *why);
/* Predicates of names and titles, the best first. */
enum { FIND_LABEL_PROPERTIES = 9 };
extern const struct slice find_label_properties[FIND_LABEL_PROPERTIES];
/* Returns whether the predicate is one of them. */
bool find_is_label(struct slice predicate);

#endif
