/* A quad_source in memory: a term table and six sorted arrays. Tests of
 * queries run over it, and the index is compared with it.
 *
 * Fill it through its quad sink, then use its source; adding after the first use sorts again at
 * the next use. Keyword search is a plain scan over literals: every word of the query must occur
 * as a word, case-folded for ASCII; the score is the number of occurrences.
 */
#ifndef TESTS_SUPPORT_MEMORY_SOURCE_H
#define TESTS_SUPPORT_MEMORY_SOURCE_H

#include <stddef.h>

#include "index/quad_source.h"
#include "rdf/core/term.h"

struct memory_source;

/* maximum: bytes for terms, 0: none. */
struct memory_source *memory_source_new(size_t maximum);
void memory_source_free(struct memory_source *source);
/* Copies. A quad twice is one quad; graph TERM_NONE becomes default_graph if that was set, else is
 * STATUS_BAD_INPUT. STATUS_LIMIT past the maximum. */
enum status memory_source_add(struct memory_source *source, const struct quad *quad,
                              struct reason *why);
/* Quads without a graph go to this graph; blank node labels get this prefix (so that documents
 * loaded one after another stay apart). Both are copied; empty: none. */
enum status memory_source_begin(struct memory_source *source, struct slice default_graph,
                                struct slice blank_prefix, struct reason *why);
struct quad_sink memory_source_sink(struct memory_source *source);
const struct quad_source *memory_source_table(struct memory_source *source);
size_t memory_source_quads(struct memory_source *source);

#endif
