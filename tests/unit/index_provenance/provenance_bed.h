/* The graph of provenance over a store and a source that are told what to say: its rows as text. */
#ifndef TESTS_UNIT_INDEX_PROVENANCE_PROVENANCE_BED_H
#define TESTS_UNIT_INDEX_PROVENANCE_PROVENANCE_BED_H

#include "tests/unit/index_provenance/told_records.h"

enum { PLENTY = 1 << 24 };

/* Predicates and a record of the archive that the usual records mention. */
#define P0 "http://p.example/0"
#define P1 "http://p.example/1"
#define P2 "http://p.example/2"
#define P7 "http://known.example/7"
#define ARCHIVED "urn:uuid:1"

extern struct provenance *provenance;
extern const struct quad_source *source;
extern oid graph;
extern size_t piece; /* rows that are read at once */

struct provenance_settings settings_of(size_t memory);
void begin(void); /* with the usual records and plenty of memory */
void begin_with(const struct provenance_settings *settings);
void begin_on(struct provenance *provenance); /* which end() frees */
void end(void);
/* An IRI, a literal that starts with a quote, or a blank node that was among rows; NULL: any. */
oid id_of(const char *text);
/* Compares the rows of a pattern of the graph, or "!" and the reason of a failure. */
void rows(const char *subject, const char *predicate, const char *object, const char *expected);
/* Bytes of a set of terms with these IRIs, which come to be known in this order. */
size_t bytes_of(const char *const *iris, size_t count);

#endif
