/* The change log alone: beside a model (index_change_log.c), and damaged (index_change_damage.c);
 * parts of test_index_changes. */
#ifndef TESTS_UNIT_INDEX_INDEX_CHANGE_LOG_H
#define TESTS_UNIT_INDEX_INDEX_CHANGE_LOG_H

#include "index/changes/change_log.h"
#include "tests/unit/scratch.h"

struct change_log_fixture {
    char folder[SCRATCH_SIZE];
    struct environment *environment;
    struct tree *statistics;
    struct change_log *log;
    uint64_t batches;
};

/* A log that holds so many batches of three quads, with the stamps 1, 2, 3 … */
void change_log_fixture_make(struct change_log_fixture *log, uint64_t batches);
void change_log_fixture_remove(struct change_log_fixture *log);
/* Puts other bytes in the place of a piece; none: takes it out. */
void change_log_put_piece(const struct change_log_fixture *log, uint64_t batch, uint32_t piece,
                          struct slice bytes);

int index_change_log_run(void);
int index_change_damage_run(void);

#endif
