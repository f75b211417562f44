/* The Berkeley DB environment of one partition: the only files here that see db.h are
 * environment.c, environment_build.c, environment_copy.c and environment_io.c. Trees, transactions
 * and cursors are opaque types, and failures as status and reason.
 *
 * One process per folder (flock on DIR/lock). Opening always recovers. The environment has no
 * lock subsystem: readers and the writer are kept apart by a latch for each tree (latch.h), which
 * whoever calls has entered. After a failed write the environment is `broken`: nothing more is
 * written until the process starts again.
 */
#ifndef INDEX_TREES_ENVIRONMENT_H
#define INDEX_TREES_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "base/status.h"
#include "index/trees/latch.h"

struct environment;
struct tree;
struct transaction;
struct tree_cursor;

struct environment_options {
    const char *folder;
    uint64_t cache_bytes;
    uint64_t checkpoint_bytes; /* of log between checkpoints */
    uint64_t disk_reserve;     /* writing stops below this much free disk; FULL */
    uint32_t lock_wait_ms;     /* how long to wait for another owner's lock */
    bool no_sync;              /* a crash of the machine may lose the last commits */
};

enum status environment_open(struct environment **environment,
                             const struct environment_options *options, struct reason *why);
void environment_close(struct environment *environment); /* checkpoints first */
/* After a failed write. Not by a damaged page that was to be read (CORRUPT): the transaction has to
 * be aborted, and all other pages stay usable. */
bool environment_is_broken(const struct environment *environment);
/* Writes dirty pages out when enough log has come together (always with force). FULL leaves them in
 * the cache: try again. */
enum status environment_checkpoint(struct environment *environment, bool force, struct reason *why);
uint64_t environment_bytes(const struct environment *environment); /* of files in the folder */

enum status tree_open(struct tree **tree, struct environment *environment, const char *name,
                      struct reason *why);
void tree_close(struct tree *tree);
const char *tree_name(const struct tree *tree);
/* Gives the name of the file that has the tree. The name changes when the tree is built anew, so
 * only the writer may ask, or who holds the latch. */
enum { TREE_FILE_SIZE = 64 };
void tree_file(const struct tree *tree, char file[TREE_FILE_SIZE]);
struct latch *tree_latch(struct tree *tree);

#define TRANSACTION_WITHIN_RESERVE UINT64_MAX /* a few pages, for which the reserve is kept */
/* bytes: how much it may write, about. FULL when disk_reserve is not left besides. */
enum status transaction_begin(struct transaction **transaction, struct environment *environment,
                              uint64_t bytes, struct reason *why);
/* Durable when OK. Both end the transaction. A failure means broken. */
enum status transaction_commit(struct transaction *transaction, struct reason *why);
/* Commits without syncing to the disk: a crash may undo the transaction, unless a later one is
 * synced. */
enum status transaction_commit_unsynced(struct transaction *transaction, struct reason *why);
void transaction_abort(struct transaction *transaction);

/* Values are copied into the caller's memory: *length in is its size, out the value's length.
 * NOT_FOUND; LIMIT with *length set when it does not fit. */
enum status tree_get(struct tree *tree, struct transaction *transaction, struct slice key,
                     void *value, size_t *length, struct reason *why);
enum status tree_put(struct tree *tree, struct transaction *transaction, struct slice key,
                     struct slice value, struct reason *why);
/* Puts a key that is past the end of the tree, which fills the pages better than tree_put. */
enum status tree_append(struct tree *tree, struct transaction *transaction, struct slice key,
                        struct slice value, struct reason *why);
/* No error when absent. */
enum status tree_delete(struct tree *tree, struct transaction *transaction, struct slice key,
                        struct reason *why);
/* Finds where a key lies in the tree, 0 .. 1, by a look at the pages on its path. */
enum status tree_position(struct tree *tree, struct slice key, double *position,
                          struct reason *why);

enum tree_move { TREE_FIRST, TREE_LAST, TREE_NEXT, TREE_PREVIOUS, TREE_AT_OR_AFTER };
enum status tree_cursor_open(struct tree_cursor **cursor, struct tree *tree,
                             struct transaction *transaction, struct reason *why);
void tree_cursor_close(struct tree_cursor *cursor);
/* key: in for TREE_AT_OR_AFTER, out always; lengths as tree_get. END when there is none. */
enum status tree_cursor_move(struct tree_cursor *cursor, enum tree_move move, void *key,
                             size_t key_size, size_t *key_length, void *value, size_t value_size,
                             size_t *value_length, struct reason *why);
/* Replaces or removes the value under the cursor. */
enum status tree_cursor_replace(struct tree_cursor *cursor, struct slice value, struct reason *why);
enum status tree_cursor_delete(struct tree_cursor *cursor, struct reason *why);

/* ---- building a tree anew (environment_build.c), for changes to most of it ---- */

struct tree_build;
/* Begins to build a tree anew in a file of its own; until the end the tree is only read. Between
 * begin and end transactions may come and go. */
enum status tree_build_begin(struct tree_build **build, struct tree *tree, struct reason *why);
/* Adds the next key, in the order of keys. */
enum status tree_build_add(struct tree_build *build, struct slice key, struct slice value,
                           struct reason *why);
/* Syncs what was added to the disk, so that the end has less to write. */
enum status tree_build_sync(struct tree_build *build, struct reason *why);
/* All of it is on the disk; the transaction's commit makes it the tree, its abort drops it: the
 * build is the transaction's, even after a failure. Not while the log is held, nor inside of any
 * latch, as the commit. */
enum status tree_build_end(struct tree_build *build, struct transaction *transaction,
                           struct reason *why);
/* Before its end; NULL is fine. */
void tree_build_drop(struct tree_build *build);
/* Tells whether the tree has no key at all. */
enum status tree_is_empty(struct tree *tree, bool *empty, struct reason *why);
/* Pages of the tree, and their bytes. */
uint32_t tree_pages(struct tree *tree);
uint64_t tree_bytes(struct tree *tree);

/* A file of the environment that is not Berkeley DB's: writes and syncs that tests count. FULL. */
enum status environment_write_file(int descriptor, struct slice bytes, uint64_t offset,
                                   struct reason *why);
enum status environment_sync_file(int descriptor, struct reason *why);

/* ---- care (environment_copy.c): copies while others write, and giving space back ---- */

/* Between hold and release no checkpoint is written and no log file removed. Hold writes one first,
 * so that what it takes to recover later states is all in the log from there on. */
enum status environment_hold_log(struct environment *environment, struct reason *why);
void environment_release_log(struct environment *environment);
/* Open trees, one after the other; NULL: the first, or no more. */
struct tree *environment_tree(const struct environment *environment, const struct tree *after);
/* Enters the latches of all trees, writing: for what touches more than one at a time. Not inside
 * any.
 */
void environment_close_latches(struct environment *environment);
void environment_open_latches(struct environment *environment);

/* Appends pages of the tree's file from *page on, as they are on the disk, at most `most` bytes to
 * *length; *page = the next one. *end when there are no more. CORRUPT when the checksum of *page is
 * wrong; one may go on after it. Any thread; batches go on. */
enum status tree_copy_pages(struct tree *tree, uint32_t *page, uint8_t *bytes, size_t most,
                            size_t *length, bool *end, struct reason *why);
/* After the pages: everything logged so far is in the files whose names are called out. */
typedef enum status environment_log_file(void *context, const char *name, struct reason *why);
enum status environment_log_files(struct environment *environment, environment_log_file *visit,
                                  void *context, struct reason *why);

/* Keys are at most this long in trees that are compacted. */
enum { TREE_KEY_MAXIMUM = 192 };
/* One bounded step through the tree from *length bytes of key on (none: the start), merging pages
 * that are not full, moving those at the file's end into free ones, and cutting the file; key =
 * where to go on. Inside the latch, writing, within a transaction. */
enum status tree_compact_step(struct tree *tree, struct transaction *transaction,
                              uint8_t key[TREE_KEY_MAXIMUM], size_t *length, bool *end,
                              struct reason *why);

/* ---- for tests: every write, sync and truncation of the environment's files is counted ---- */

enum fault_action { FAULT_NONE, FAULT_KILL, FAULT_KILL_TORN, FAULT_FULL, FAULT_ONCE };
/* Makes writes fail from the at-th after the call on (1-based): KILL ends the process by SIGKILL
 * before it, KILL_TORN after half of it if it goes to the log (pages of 4 KiB are never torn by a
 * kill, since the kernel looks for signals only between pages), FULL makes it and all later ones
 * fail with ENOSPC, ONCE makes it alone fail with EIO. */
void environment_fault(enum fault_action action, uint64_t at);
uint64_t environment_writes(void); /* since then */

#endif
