/* A hash join whose table has no room: both sides are parted by the hash of their keys into
 * temporary files, and then joined part by part (grace hash join; Kitsuregawa et al. 1983).
 *
 * Of a part, as many input rows as there is memory for are hashed, and the built side is read past
 * them; with more input rows than that, it is read again. So neither a key that most rows have nor
 * a join without keys needs more memory, only more reading.
 */
#ifndef INDEX_QUERY_MEMORY_JOIN_SPILL_H
#define INDEX_QUERY_MEMORY_JOIN_SPILL_H

#include "index/query/memory/row_table.h"
#include "store/spill.h"

enum { JOIN_PARTS = 16 };

struct join_spill {
    struct spill *spill;
    size_t keys, stored_width, row_width; /* words */
    struct spill_list built[JOIN_PARTS];  /* stored rows, their keys first */
    struct spill_list input[JOIN_PARTS];  /* keys, rows */
    size_t part;
    struct row_table rows; /* input rows in memory: keys, row */
    uint8_t *matched;      /* of each */
    size_t matched_room;
    struct spill_reader input_reader, built_reader;
    oid *stored, *wide; /* the present stored row; an input row with its keys */
    size_t row;         /* that pairs with stored, SIZE_MAX: none */
    size_t unmatched;   /* next row to look at */
    bool loaded, read;  /* rows are in memory; all stored rows of the part were read past them */
    bool input_open;
};

void join_spill_init(struct join_spill *join, struct spill *spill, size_t keys, size_t stored_width,
                     size_t row_width);
void join_spill_release(struct join_spill *join);
enum status join_spill_build(struct join_spill *join, const oid *stored, struct reason *why);
enum status join_spill_built(struct join_spill *join, struct reason *why);
enum status join_spill_input(struct join_spill *join, const oid *keys, const oid *row,
                             struct reason *why);
/* After the last input row. */
enum status join_spill_begin(struct join_spill *join, struct reason *why);
/* Forgets the input; the built side stays. */
void join_spill_restart(struct join_spill *join);

/* The next pair with equal keys: *stored, and *row with *matched to be set when it is one; then,
 * for each input row that nobody marked, *stored NULL; in the end *row NULL. */
enum status join_spill_next(struct join_spill *join, const oid **row, const oid **stored,
                            uint8_t **matched, struct reason *why);

#endif
