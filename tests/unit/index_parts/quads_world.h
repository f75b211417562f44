/* Six trees of quads whose blocks lie in memory, and a model of what is in them. The linker puts
 * them in the place of the environment's. */
#ifndef TESTS_UNIT_INDEX_PARTS_QUADS_WORLD_H
#define TESTS_UNIT_INDEX_PARTS_QUADS_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "index/quads/quads.h"

enum { VALUES = 4, QUADS = VALUES * VALUES * VALUES * VALUES, STATES = 3 };

struct block {
    uint8_t fence[ROW_KEY_SIZE], bytes[BLOCK_MAXIMUM + ROW_BYTES_MOST];
    size_t fence_length, length;
};

extern struct block blocks[ORDER_COUNT][QUADS];
extern size_t block_counts[ORDER_COUNT];
extern struct quad_oids universe[QUADS];
extern bool states[STATES][QUADS]; /* what snapshots see */
extern struct snapshots *snapshots;
extern bool latched;
extern size_t open_cursors, block_reads;
extern size_t current;   /* block, of the cursor moved last */
extern bool wide_values; /* quads are of values that take much room */
extern uint64_t chance;
extern unsigned call, failing;
struct tree *__wrap_quads_tree(const struct quads *quads, enum quad_order order);
extern double positions[2]; /* that the tree gives in turn */
extern unsigned asked_positions;
extern struct reason why;

/* Counts a call, and fails it when its turn has come. */
enum status may_fail(struct reason *reason);
size_t tree_of(const struct tree *tree);
void fill_universe(void); /* by wide_values */
int begin_quads(void **state);
int end_quads(void **state);
uint64_t next_chance(uint64_t below);
/* Writes the quads of a state as blocks of at most so many rows. */
void build(enum quad_order order, const bool *state, size_t rows_most);
oid value(unsigned place, size_t number);
/* The changes that lead from one state to another. */
struct change_set *difference(const bool *old, const bool *new);
/* Rows of a state that match a pattern, from one on and before another, NULL: no bound. */
size_t expected_rows(const bool *state, enum quad_order order, const struct quad_oids *pattern,
                     const struct row *from, const struct row *to, struct row *rows);
/* Some places of a quad of the universe, or of one that is not. */
struct quad_oids some_pattern(void);

#endif
