/* One index partition: everything that lies in one folder, with one writer and many readers.
 *
 * The writer gathers documents in an index_batch and commits it: one transaction in which each
 * document's graph is replaced. A reader is a snapshot with what it needs to resolve terms; its
 * quad_source is what queries run over. A background thread takes committed literals into the
 * keyword index and writes checkpoints. */
#ifndef INDEX_WRITE_PARTITION_H
#define INDEX_WRITE_PARTITION_H

#include <stdatomic.h>

#include "index/changes/change_position.h"
#include "index/quad_source.h"
#include "index/quads/documents.h"
#include "index/statistics/statistics.h"
#include "index/terms/change_marks.h"

struct partition;

struct partition_options {
    const char *folder;
    uint64_t cache_bytes;      /* of pages */
    uint64_t term_memory;      /* of recent terms, for the writer */
    uint64_t block_memory;     /* of terms that readers resolved */
    uint64_t words_memory;     /* of words of literals that wait to be written */
    uint64_t snapshot_memory;  /* of changes kept for readers that began before them; half as much
                                * for those gathered, and again for those being flushed */
    uint64_t count_memory;     /* of counts of triples that are kept until the next commit */
    uint64_t checkpoint_bytes; /* of log between checkpoints */
    uint64_t change_bytes;     /* of the change log: index/changes/change_log.h */
    uint64_t disk_reserve;
    uint32_t lock_wait_ms;
    uint32_t pause_s;  /* quads that wait are brought in after so long without any */
    size_t build_from; /* so many at least build trees anew where most blocks change; 0: never */
    bool no_sync;
};
void partition_options_default(struct partition_options *options, const char *folder);

enum status partition_open(struct partition **partition, const struct partition_options *options,
                           struct reason *why);
void partition_close(struct partition *partition);

struct partition_stats {
    struct totals totals;
    uint64_t bytes;
    enum status writes; /* of the last batch: FULL, CORRUPT: see partition_waits */
};
void partition_stats(struct partition *partition, struct partition_stats *stats);
/* Waits until all literals committed so far can be found. */
enum status partition_settle(struct partition *partition, struct reason *why);

/* ---- writing: one thread ---- */

struct index_batch;
struct index_document {
    struct slice uri;
    uint64_t generation;
    bool removed;     /* the graph is emptied */
    bool linked_data; /* it came in an RDF syntax: index/read/links.h */
};
enum document_outcome {
    DOCUMENT_CHANGED,
    DOCUMENT_UNCHANGED, /* the same quads are there already */
    DOCUMENT_STALE,     /* the index holds a later generation */
    DOCUMENT_SUPERSEDED /* the batch itself holds a later one */
};
struct index_result {
    enum document_outcome outcome;
    uint64_t quads, added, removed;
    uint8_t digest[DIGEST_SHA256_SIZE];
};

struct index_batch *index_batch_new(struct partition *partition);
void index_batch_free(struct index_batch *batch);
void index_batch_reset(struct index_batch *batch);
/* A document's quads between begin and end; their graphs do not matter, the document's URI is
 * their graph. Duplicates are allowed. A document that is not ended is dropped by the next begin.
 */
void index_batch_begin(struct index_batch *batch, const struct index_document *document);
enum status index_batch_quad(void *batch, const struct quad *quad, struct reason *why);
size_t index_batch_end(struct index_batch *batch); /* the document's number in the batch */
/* A graph by itself, changed by quads to remove, which come first, and to add. What is there
 * already, or is not there, makes no difference; of several patches of a graph in a batch the last
 * that has a quad decides. The graph keeps its generation. There must be no document of its URI in
 * the batch. result: outcome and digest mean nothing. */
void index_batch_begin_patch(struct index_batch *batch, struct slice uri);
enum status index_batch_removal(void *batch, const struct quad *quad, struct reason *why);
/* Serve many quads of few terms: the first gives the terms' numbers in the batch, which hold until
 * reset, the second adds a quad by them. */
void index_batch_terms(struct index_batch *batch, const struct term *terms, size_t count,
                       uint32_t *numbers);
void index_batch_triple(struct index_batch *batch, uint32_t subject, uint32_t predicate,
                        uint32_t object);
/* Drops the documents after the first so many. */
void index_batch_truncate(struct index_batch *batch, size_t documents);
/* begin, all quads of these N-Quads, end; a document with a syntax error is not taken in. */
enum status index_batch_add(struct index_batch *batch, const struct index_document *document,
                            struct slice nquads, size_t *number, struct reason *why);
size_t index_batch_documents(const struct index_batch *batch);
size_t index_batch_quads(const struct index_batch *batch);
size_t index_batch_bytes(const struct index_batch *batch); /* memory held, about */

/* All or nothing; durable when OK. After a failure the process must start again, unless
 * partition_waits. */
enum status index_batch_commit(struct index_batch *batch, struct reason *why);
/* Instead, for patches that only add: durable when OK as well, but seen by readers when the next
 * batch is committed, partition_merge_staged is called, `memory` would not hold what waits, or
 * nothing came for a moment. Far faster for many quads. Results mean nothing. */
enum status index_batch_stage(struct index_batch *batch, size_t memory, struct reason *why);
size_t index_batch_staged_bytes(const struct index_batch *batch); /* memory held for that */
/* Returns whether it is time for that: the batch alone has `memory`, or its quads fill it with
 * those that wait already; with more of them, these would have to be brought in without it. Never
 * without any.
 */
bool index_batch_is_full(const struct index_batch *batch, size_t memory);
/* Brings in the quads that wait, so that readers see them. *added (may be NULL) gets how many quads
 * that waited were not there before, of all since the last call that asked. */
enum status partition_merge_staged(struct partition *partition, uint64_t *added,
                                   struct reason *why);
/* Returns whether after such a status of a batch nothing was changed, the partition is as usable as
 * before, and the batch may be tried again: the disk has no room now (FULL), or a page is damaged
 * that the batch needs (CORRUPT). */
bool partition_waits(const struct partition *partition, enum status status);
/* After a commit, until reset. */
const struct index_result *index_batch_result(const struct index_batch *batch, size_t number);

/* ---- reading: any thread, one reader each ---- */

struct partition_reader;
enum status partition_reader_open(struct partition_reader **reader, struct partition *partition,
                                  struct reason *why);
/* Another reader of the same version. */
struct partition_reader *partition_reader_share(const struct partition_reader *other);
void partition_reader_close(struct partition_reader *reader);
/* Sees the newest state from now on; scans must be closed. */
void partition_reader_renew(struct partition_reader *reader);
const struct quad_source *partition_reader_source(struct partition_reader *reader);
/* Returns the version that the reader sees: the same numbers mean the same quads, in any partition
 * and after any restart of it. */
void partition_reader_version(const struct partition_reader *reader, uint64_t version[2]);
/* index/terms/term_digests.h, of the reader's partition. */
enum status partition_reader_digest(struct partition_reader *reader, oid id, struct arena *arena,
                                    struct term_digest *digest, struct reason *why);
/* Searches as the source does, but also finds literals that no quad has any more, for who asks for
 * their quads anyway; and without an end at `most`, about so many are wanted. */
enum status partition_reader_search(struct partition_reader *reader, struct slice words,
                                    uint32_t most, struct text_scan **scan, struct reason *why);
/* Begins a scan of a partition's source anew, for another pattern with the same places bound. */
void partition_scan_again(struct quad_scan *scan, const struct quad_oids *pattern);
/* The version that readers which are opened from now on see at least: how many commits, and the
 * literals up to which number by their words. While it is the same, so is what they find. */
struct partition_version {
    uint64_t commits, words;
};
void partition_version(struct partition *partition, struct partition_version *version);

/* Holds what an answer rests on, and when that last changed (index/terms/change_marks.h): the
 * answer stays good while no mark is passed by what came after the version that was read before it
 * was begun. Scores alone also depend on how many literals there are in all. */
struct partition_needs {
    struct buf commits, words;
};
enum partition_place { PARTITION_SUBJECT, PARTITION_OBJECT, PARTITION_GRAPH };
void partition_needs_init(struct partition_needs *needs);
void partition_needs_release(struct partition_needs *needs);
/* The quads that have the term there; OID_NONE: all quads. */
void partition_need(struct partition_needs *needs, enum partition_place place, oid id);
/* Finds which literals are found by the words of a search; their quads are not among it. */
void partition_need_words(struct partition_needs *needs, const struct text_scan *scan);
void partition_marks(const struct partition *partition, const struct change_marks **commits,
                     const struct change_marks **words);
/* Gives the position as of which the reader sees the partition. AGAIN when it was opened in the
 * moment between a commit and its being announced, or later ones came since: renew, and ask again
 * at once. */
enum status partition_reader_position(const struct partition_reader *reader,
                                      struct change_position *position);
/* The documents in order of their graph identifiers, from *graph on (OID_NONE: all); END. */
enum status partition_reader_document(struct partition_reader *reader, oid *graph,
                                      struct document_entry *entry, struct reason *why);

/* ---- verifying (index/maintenance/verify.c): batches and queries go on; the result is that of one
 * commit ---- */

typedef enum status partition_report(void *context, struct slice line, struct reason *why);
/* Writes report lines; CORRUPT when something is not right. Terms resolved at least once each. */
enum status partition_verify(struct partition *partition, const char *scratch_folder,
                             size_t sort_memory, const atomic_bool *cancel,
                             partition_report *report, void *context, struct reason *why);

/* ---- care: each fails with AGAIN while another one is under way ---- */

/* The partition's files as of one commit during the call, in frames (index/maintenance/backup.h).
 * Batches and queries go on. */
enum status partition_backup(struct partition *partition, partition_report *piece, void *context,
                             struct reason *why);
/* Gives space back in steps between which batches and queries go on; report lines. Ended by
 * cancel between two steps, or by a crash anywhere, the partition is whole. */
enum status partition_compact(struct partition *partition, const atomic_bool *cancel,
                              partition_report *report, void *context, struct reason *why);

/* The last batch that is durable, and (first may be NULL) the oldest that one can go on from. */
void partition_position(struct partition *partition, struct change_position *position,
                        uint64_t *first);
/* An eventfd that is written after each commit; -1: none. */
void partition_announce_to(struct partition *partition, int event);

/* Lines of counters, all as of one commit: PROTOCOL.md, stream COUNTS. */
enum status partition_counts(struct partition *partition, bool with_sets, partition_report *report,
                             void *context, struct reason *why);

#endif
