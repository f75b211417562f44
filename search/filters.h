/* Filters limit a search, among its words or beside them: KIND:VALUE, or -KIND:VALUE for what is to
 * be without it. Of one kind any has to hold, of different kinds all, and none with a minus.
 *
 *   class: predicate:  an IRI, also in <>; a name with a usual prefix; or, without a colon, the end
 *                      of an IRI behind its last # or /, in whatever case
 *   domain:            a host, and those below it
 *   lang:              a language tag and those that begin with it; none for literals without a
 *                      tag. Among words the index itself reads it, so it stays there
 *   date:              of the last change: 2026, 2026-11 or 2026-11-23, for all within; FROM..TO,
 *                      FROM.. or ..TO, both ends included */
#ifndef SEARCH_FILTERS_H
#define SEARCH_FILTERS_H

#include "base/arena.h"
#include "base/buf.h"
#include "rdf/core/term.h"

enum find_filter_kind {
    FILTER_CLASS,
    FILTER_PREDICATE,
    FILTER_DOMAIN,
    FILTER_LANGUAGE,
    FILTER_DATE
};
enum { FILTER_KINDS = FILTER_DATE + 1, FILTERS_MOST = 32 };

struct find_filter {
    enum find_filter_kind kind;
    bool without;
    bool is_iri; /* class, predicate: value is the whole of it */
    struct slice value;
    struct slice from, to; /* date; empty: without end */
};
struct find_filters {
    struct find_filter all[FILTERS_MOST];
    size_t count;
    struct buf words; /* what is no filter */
};

void find_filters_init(struct find_filters *filters);
void find_filters_release(struct find_filters *filters);
/* Takes the filters out of a text and appends what is left to the words. beside: the text stands
 * beside the words, so it may have lang: and nothing but filters. BAD_INPUT names the one at fault.
 */
enum status find_filters_read(struct find_filters *filters, struct slice text, bool beside,
                              struct arena *arena, struct reason *why);
bool find_filters_have(const struct find_filters *filters, enum find_filter_kind kind);
/* Returns whether one of the values is as the filters of the kind want; without values none is. */
bool find_filters_pass(const struct find_filters *filters, enum find_filter_kind kind,
                       const struct slice *values, size_t count);

/* The word at the front of a text: up to a blank outside of quotation marks. */
struct slice find_next_word(struct slice *text);
/* "foaf:Person" by the usual prefixes, or the IRI itself; empty: neither. */
struct slice find_iri(struct slice name, struct buf *memory);
/* Host of an IRI in brackets or not, without port; empty: it has none. */
struct slice find_host(struct slice iri);
/* Gives the part of an IRI behind its last # or /. */
struct slice find_local_name(struct slice iri);

#endif
