/* Quads that were imported and wait to be brought into the trees, many at once: sorted runs of rows
 * in the file `waiting`. WRITING.md, "Quads that wait".
 *
 * A run is added in a transaction: it is written and synced first, then its record is put, and with
 * the commit it is there. All are read merged, and forgotten in the transaction that brings them
 * in. What the file has past the last record means nothing. The writer's thread, but for
 * waiting_rows. */
#ifndef INDEX_WAITING_H
#define INDEX_WAITING_H

#include "index/environment.h"
#include "index/rows.h"

struct waiting;

/* statistics: the tree that has the records. */
enum status waiting_open(struct waiting **waiting, const char *folder, struct tree *statistics,
                         struct reason *why);
void waiting_close(struct waiting *waiting);
/* Returns the rows of all runs together, duplicates counted. Any thread may call it. */
uint64_t waiting_rows(const struct waiting *waiting);
/* Terms that the lexicon had before the first run: rows with a later one are nowhere else. */
uint64_t waiting_terms(const struct waiting *waiting);
/* Runs are merged together, so there should not be more. */
enum { WAITING_RUNS_MOST = 64 };
size_t waiting_runs(const struct waiting *waiting);

/* ---- adding a run ---- */

void waiting_begin(struct waiting *waiting);
/* Rows of CSPO, ascending, each once. FULL. */
enum status waiting_add(struct waiting *waiting, const struct row *row, struct reason *why);
/* terms: of the lexicon before this run. */
enum status waiting_end(struct waiting *waiting, struct transaction *transaction, uint64_t terms,
                        struct reason *why);
void waiting_committed(struct waiting *waiting); /* the run of waiting_end is there now */

/* ---- taking them all ---- */

struct waiting_reader;
enum status waiting_reader_open(struct waiting_reader **reader, struct waiting *waiting,
                                struct reason *why);
/* The next row, each once; END. CORRUPT. */
enum status waiting_reader_next(struct waiting_reader *reader, struct row *row, struct reason *why);
void waiting_reader_close(struct waiting_reader *reader);
enum status waiting_forget(struct waiting *waiting, struct transaction *transaction,
                           struct reason *why);
void waiting_forgotten(struct waiting *waiting); /* that was committed */

#endif
