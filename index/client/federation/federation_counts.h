/* Counting triples over all partitions (SEVERAL.md, "Counts of triples"): what its parts share.
 * The sum of what each partition counts (federation_counts.c), less the triples that several have
 * (federation_repeated.c), which are kept for the next time (federation_repeated_cache.c); sums of
 * each (federation_totals.c). */
#ifndef INDEX_CLIENT_FEDERATION_FEDERATION_COUNTS_H
#define INDEX_CLIENT_FEDERATION_FEDERATION_COUNTS_H

#include "index/client/federation/federation_state.h"
#include "index/sort/checked_sort.h"

struct totals {
    struct triple_count *list;
    size_t count, room;
};

struct candidate;
struct repeated_counts;

/* One count that is under way. */
struct counting {
    struct federation *federation;
    const struct count_request *request;
    struct sort_check check; /* the request's */
    struct row_stream *streams;
    struct buf question; /* the pattern, the place, and each partition's version */
    struct totals totals, repeated;
    struct candidate *candidates; /* rows that were asked for, by partition and number */
    size_t candidate_count, candidate_room;
    bool too_many;  /* candidates */
    size_t missing; /* partitions, when it began */
};

/* Begins with the partitions that are there now. */
void counting_init(struct counting *counting, struct federation *federation,
                   const struct count_request *request);
/* Leaves the totals alone. */
void counting_release(struct counting *counting);
/* UNSUPPORTED when a partition went away since it began. */
enum status counting_check_missing(const struct counting *counting, struct reason *why);

void totals_add(struct totals *totals, oid value, uint64_t triples);
/* Sorts by value, each once. */
enum status totals_sum(struct totals *totals, const struct sort_check *check, struct reason *why);

/* ---- streams of the answers ---- */

void counting_put_pattern(const struct counting *counting, struct buf *out);
/* Closes the streams and makes them ready for the next request. */
void counting_close(struct counting *counting);
/* Asks all partitions that are there. form: of TRIPLES. The rows wanted are those of the
 * candidates, which are sorted by partition and number. */
enum status counting_start(struct counting *counting, uint8_t form, struct reason *why);
/* Begins an answer of which so many bytes are its head. UNSUPPORTED when the partition cannot
 * tell. */
enum status counting_head(struct row_stream *stream, size_t bytes, struct codec_reader *in,
                          struct reason *why);

/* ---- what several partitions have ---- */

/* Fills counting->repeated: a triple counts once too often for each partition that has it but
 * one. */
enum status counting_find_repeated(struct counting *counting, struct reason *why);

/* Returns what is kept for the counting's question, or NULL. */
struct repeated_counts *repeated_find(const struct counting *counting);
/* Keeps counting->repeated, or that there were too many. */
void repeated_keep(struct counting *counting);
/* Gives counting->repeated; LIMIT when there were too many. */
enum status repeated_recall(struct counting *counting, struct repeated_counts *kept,
                            struct reason *why);

#endif
