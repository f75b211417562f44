/* Identifiers and terms within one run: what the source has, and what the query computes.
 *
 * Equal terms have equal identifiers: interning asks the source first, so that a computed term
 * joins with a stored one. Terms that the source does not have are numbered from OID_LOCAL.
 * Resolved terms are cached; dictionary_trim, called between rows, may forget them. Interned terms
 * stay; when memory is used up, their tables and bytes are pages of the run's temporary files.
 */
#ifndef INDEX_QUERY_MEMORY_DICTIONARY_H
#define INDEX_QUERY_MEMORY_DICTIONARY_H

#include "base/arena.h"
#include "index/quad_source.h"
#include "index/query/memory/row_table.h"
#include "rdf/core/term.h"
#include "store/spill.h"

enum { DICTIONARY_CACHE = 8192 };

struct dictionary_entry {
    uint64_t hash;
    oid id;
    struct term term;
};
struct dictionary {
    const struct quad_source *source;
    struct spill *spill;
    struct arena resolved;     /* terms of the cache */
    struct spill_area *bytes;  /* of interned terms */
    size_t area_count, filled; /* of the last one */
    struct spill_area entry_area, table_area, local_area;
    struct dictionary_entry *entries;
    size_t count, room;
    uint32_t *table;  /* entry + 1, or 0; room * 2 places */
    uint32_t *locals; /* entry of each local identifier */
    size_t local_count;
    size_t trims; /* how often the terms of the cache were forgotten */
    struct {
        oid id;
        struct term term;
    } * cache;
};

void dictionary_init(struct dictionary *dictionary, const struct quad_source *source,
                     struct spill *spill);
void dictionary_release(struct dictionary *dictionary);
/* The term's bytes live until dictionary_trim. id must not be OID_NONE. */
enum status dictionary_term(struct dictionary *dictionary, oid id, struct term *term,
                            struct reason *why);
enum status dictionary_intern(struct dictionary *dictionary, const struct term *term, oid *id,
                              struct reason *why);
void dictionary_trim(struct dictionary *dictionary);

#endif
