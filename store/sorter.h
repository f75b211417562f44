/* Sorts records: in memory while it lasts, then runs of sorted records in temporary files, which
 * are merged while they are read (D. Knuth, The Art of Computer Programming 3, 5.4.1).
 *
 *   sorter_init(&sorter, run, what, compare, context, most)
 *   sorter_add(&sorter, record, size, why)   for each
 *   sorter_end(&sorter, why)
 *   sorter_next(&sorter, &record, why)       NULL after the last
 *
 * A record is words of 64 bits. compare must give a total order (by a sequence number, say).
 * most: so many of the beginning are needed, UINT64_MAX all; the rest is dropped early.
 */
#ifndef STORE_SORTER_H
#define STORE_SORTER_H

#include "store/spill.h"

typedef int sorter_compare(void *context, const uint64_t *a, const uint64_t *b);

struct sorter_run;
struct sorter {
    struct spill *spill;
    const char *what;
    sorter_compare *compare;
    void *context;
    uint64_t most;
    char *bytes; /* records in memory: each its size in bytes as one word, and its words */
    size_t filled, bytes_room;
    size_t *places; /* of each record in bytes */
    size_t count, places_room;
    size_t given;
    struct sorter_run *runs;
    size_t run_count, run_room, first_run; /* runs before first_run were merged away */
    size_t *heap;
    size_t heap_count;
    bool ended, advance;
    bool bounded;  /* the last of the first `most` is at places[most - 1] */
    unsigned work; /* comparisons, to look at the clock now and then */
    enum status stopped;
};

void sorter_init(struct sorter *sorter, struct spill *spill, const char *what,
                 sorter_compare *compare, void *context, uint64_t most);
/* Empties it, for another use. */
void sorter_reset(struct sorter *sorter);
/* Also of one that is all zero. */
void sorter_release(struct sorter *sorter);
enum status sorter_add(struct sorter *sorter, const uint64_t *record, size_t words,
                       struct reason *why);
/* A record that no other of the first `most` is behind, until one is added; NULL: none is known. */
const uint64_t *sorter_bound(const struct sorter *sorter);
/* Puts what is in memory into a file and frees the memory. */
enum status sorter_flush(struct sorter *sorter, struct reason *why);
enum status sorter_end(struct sorter *sorter, struct reason *why);
enum status sorter_next(struct sorter *sorter, const uint64_t **record, struct reason *why);

/* Compares the first *(const size_t *)context words. */
int sorter_compare_words(void *context, const uint64_t *a, const uint64_t *b);

#endif
