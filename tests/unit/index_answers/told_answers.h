/* A partition without data: the linker puts told_answers.c in the place of what reads it, of the
 * cursor and of the turns. It writes down what is asked of it, and answers as the test says. */
#ifndef TESTS_UNIT_INDEX_ANSWERS_TOLD_ANSWERS_H
#define TESTS_UNIT_INDEX_ANSWERS_TOLD_ANSWERS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "index/serve/answers.h"

extern struct partition *const told_partition;
extern struct sessions *const told_sessions;
extern struct cursor *const told_cursor;
extern const struct metastore_client_options *told_metastore;

extern struct buf told_calls;   /* a line for each */
extern struct buf told_written; /* '|' after each piece, '$' after the last */
extern size_t told_readers;     /* that are open */
extern size_t told_refused;     /* the cursor refuses this piece; SIZE_MAX: none */

/* How what is below fails, where it is not OK. */
extern enum status told_status, told_open_status, told_session_status, told_next_status,
    told_term_status, told_scan_status, told_rows_status;

/* A query asks for help; whether a turn is spare, and a thread can be had. */
extern bool told_help, told_spare, told_thread;

extern const size_t *told_lengths; /* of three lines, up to the first of 0; NULL: one of 5 */
extern bool told_impossible;       /* a term of the pattern is not stored */
/* How many literals a search finds: 2, 4, ..., and how many rows have each. */
extern size_t told_found, told_rows;

extern const struct partition_needs *told_needs; /* that the latest lookup was given */

void told_set_up(void);
void told_tear_down(void);
/* Begins an answer, and checks that all is given back after it. */
void told_reset(void);
void told_end(void);

#endif
