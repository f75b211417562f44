/* A dataset had from its SPARQL endpoint, page by page: what is asked, what the answers say, where
 * it stands. No I/O: stages/fetch/datasets/endpoint.c does that.
 *
 *   count   SELECT (COUNT(*)): how many triples have a subject in the dataset's spaces
 *   page    CONSTRUCT of so many resources, in the order of their IRIs behind the last one; of
 *           those that refuse to order, by OFFSET
 *
 * Blank nodes that hang on a resource come with it, so deep as the position says; those of each
 * page get names of their own. Every triple of a page counts once, however often it is said.
 *
 * Text of a position: its numbers, then the last resource, separated by blanks.
 *
 * Source: https://www.w3.org/TR/sparql11-query/, https://www.w3.org/TR/sparql11-protocol/ */
#ifndef DATASETS_HARVEST_H
#define DATASETS_HARVEST_H

#include "datasets/execution.h"

enum {
    HARVEST_PAGE_BYTES = 64 << 20, /* of an answer, and of what is made of it */
    HARVEST_QUERY_BYTES = 256 << 10,
    HARVEST_DEPTH = 2, /* of blank nodes, until there are deeper ones */
    HARVEST_DEPTH_MAXIMUM = 8
};

struct harvest_position {
    uint64_t bytes;     /* of the file that count */
    uint64_t page;      /* resources at a time */
    uint64_t number;    /* of this page; 0: counts */
    uint64_t counted;   /* triples; 0: not known */
    uint64_t triples;   /* had so far */
    uint64_t offset;    /* resources had so far */
    uint64_t queries;   /* answered, or not, all in all */
    uint64_t before;    /* triples that an earlier harvest by other pages came to; 0: none */
    uint64_t depth;     /* of blank nodes */
    uint64_t shorter;   /* 1: the page before had fewer resources than asked for: it is the last */
    uint64_t unordered; /* 1: the endpoint does not order */
    uint64_t post;      /* 1: it does not take queries by GET */
    struct slice after; /* the last resource; empty: none yet */
};

void harvest_encode(const struct harvest_position *position, struct buf *text);
/* The last resource points into text; what is missing is 0. */
void harvest_decode(struct slice text, struct harvest_position *position);

#define HARVEST_TRIPLE_SYNTAX "application/n-triples, text/plain;q=0.5"
#define HARVEST_COUNT_SYNTAX \
    "text/csv, application/sparql-results+json;q=0.7, application/sparql-results+xml;q=0.5"

/* Appends the crawl key of the endpoint, with the graph that is meant as ENDPOINT_GRAPH; "*" and
 * none leave it as it is. False when it is nothing of the web. */
bool harvest_endpoint(struct slice endpoint, struct slice graph, struct slice base,
                      struct buf *key);
/* Appends the URL that asks the endpoint the query by GET. */
void harvest_url(struct slice endpoint, struct slice query, struct buf *url);

/* Appends what is asked next. */
void harvest_query(const struct execution *execution, const struct harvest_position *position,
                   struct buf *query);

/* The one number of an answer in CSV, JSON or XML; 0: there is none. */
uint64_t harvest_counted(struct slice answer);

struct harvest_page {
    struct buf text;    /* N-Triples, sorted, each once */
    uint64_t triples;   /* of resources in the spaces; */
    uint64_t resources; /* these, */
    struct slice last;  /* and the greatest of them; in the arena */
    bool deeper;        /* there are blank nodes of which nothing is said */
    struct arena arena;
};

void harvest_page_init(struct harvest_page *page);
void harvest_page_release(struct harvest_page *page);
/* answer: N-Triples. BAD_INPUT; LIMIT past HARVEST_PAGE_BYTES. */
enum status harvest_read(struct harvest_page *page, const struct execution *execution,
                         const struct harvest_position *position, struct slice answer,
                         struct reason *why);

#endif
