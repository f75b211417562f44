/* Quads that were imported and wait to be brought into the trees, many at once: sorted runs of rows
 * in the file `waiting`. WRITING.md, "Quads that wait".
 *
 * A run is added in a transaction: it is written and synced first, then its record is put, and with
 * the commit it is there. All are read merged, and forgotten in the transaction that brings them
 * in. What the file has past the last record means nothing. The writer's thread, but for
 * staging_rows. */
#ifndef INDEX_WRITE_STAGING_H
#define INDEX_WRITE_STAGING_H

#include "index/quads/rows.h"
#include "index/trees/environment.h"

struct staging;

/* statistics: the tree that has the records. */
enum status staging_open(struct staging **staging, const char *folder, struct tree *statistics,
                         struct reason *why);
void staging_close(struct staging *staging);
/* Returns the rows of all runs together, duplicates counted. Any thread may call it. */
uint64_t staging_rows(const struct staging *staging);
/* Terms that the lexicon had before the first run: rows with a later one are nowhere else. */
uint64_t staging_terms(const struct staging *staging);
/* Runs are merged together, so there should not be more. */
enum { WAITING_RUNS_MOST = 64 };
size_t staging_runs(const struct staging *staging);

/* ---- adding a run ---- */

void staging_begin(struct staging *staging);
/* Rows of CSPO, ascending, each once. FULL. */
enum status staging_add(struct staging *staging, const struct row *row, struct reason *why);
/* terms: of the lexicon before this run. */
enum status staging_end(struct staging *staging, struct transaction *transaction, uint64_t terms,
                        struct reason *why);
void staging_committed(struct staging *staging); /* the run of staging_end is there now */

/* ---- taking them all ---- */

struct staging_reader;
enum status staging_reader_open(struct staging_reader **reader, struct staging *staging,
                                struct reason *why);
/* The next row, each once; END. CORRUPT. */
enum status staging_reader_next(struct staging_reader *reader, struct row *row, struct reason *why);
void staging_reader_close(struct staging_reader *reader);
enum status staging_forget(struct staging *staging, struct transaction *transaction,
                           struct reason *why);
void staging_forgotten(struct staging *staging); /* that was committed */

#endif
