/* Facts that a crawl knows of a property or class and of the document behind its address, for the
 * rules of term_rules.h. All slices live as long as the survey that made them. */
#ifndef CLI_VALIDATION_TERM_FACTS_H
#define CLI_VALIDATION_TERM_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/slice.h"

enum { FACTS_HOPS = 6, FACTS_FORMS = 4, NEGOTIATED_FORMS = 4 };

struct fact_hop { /* a redirect */
    struct slice uri;
    uint64_t status;
};

/* Flags of what a document says of another one. */
enum said_of {
    SAID_ANYTHING = 1,
    SAID_PROPERTY = 2,
    SAID_CLASS = 4,
    SAID_LABEL = 8,
    SAID_TEXT = 16
};
struct spoken_of {
    struct slice iri;
    unsigned said; /* enum said_of, or'ed */
};

/* Tells what a server answers to a request for one type. */
struct negotiated_form {
    const char *asked;    /* "text/turtle" */
    uint64_t http_status; /* 0: there was no answer */
    struct slice type;    /* that was detected; empty: none */
    uint64_t statements;  /* of the document, without those of its Link header */
    struct slice digest;  /* of its graph, whatever its blank nodes are called; empty: unknown */
};

struct document_facts {
    struct slice address;  /* of the term, without fragment */
    struct slice document; /* where its redirects end */
    struct fact_hop hops[FACTS_HOPS];
    size_t hop_count;
    bool web;                         /* an http or https address */
    bool endless;                     /* its redirects go in a circle, or on and on */
    bool known;                       /* the crawl has seen what is there */
    struct slice state, reason, type; /* META_STATE, META_REASON, the type detected */
    uint64_t http_status;             /* 0: unknown */
    struct slice since;               /* of what fails, a time; empty: unknown */
    bool has_data;                    /* it says more than a page's title and links */
    struct slice malformed;           /* its first error; empty: none */
    uint64_t malformed_line, malformed_count;
    const char *malformed_remedy; /* NULL: none is known */
    struct slice wrong_type;      /* what is wrong with its Content-Type; empty: nothing is */
    const char *type_remedy;
    /* out of its graph: */
    bool indexed;  /* it was read */
    bool has_page; /* it is, or leads to, a document for people that the crawl has seen */
    struct spoken_of *subjects;
    size_t subject_count;
    struct map places;                               /* of subjects, by digest of their IRIs */
    const struct document_facts *forms[FACTS_FORMS]; /* the same in other syntaxes, by its links */
    size_t form_count;
    const struct negotiated_form *negotiated; /* NEGOTIATED_FORMS; NULL: nobody asked */
};

/* enum said_of, or'ed; 0: nothing. */
unsigned document_says_of(const struct document_facts *document, struct slice iri);

struct term_facts {
    struct slice iri;
    bool as_property, as_class; /* how it is used */
    const struct document_facts *at;
};

#endif
