/* The counters of a partition, read in one hold of the gate so that they agree. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "index/partition_private.h"
#include "rdf/writer.h"

enum { PIECE = 32 << 10 };

struct counted {
    oid id;
    uint64_t count;
    enum statistic kind;
};

struct counted_list {
    struct counted *items;
    size_t count, capacity;
};

static enum status
gather_kind(struct partition *partition, enum statistic kind, struct counted_list *list,
            struct reason *why)
{
    oid id = OID_NONE;
    uint64_t count;
    enum status status;
    while ((status = statistics_next(partition->statistics, kind, &id, &count, why)) == STATUS_OK) {
        if (list->count == list->capacity) {
            list->capacity = list->capacity ? 2 * list->capacity : 256;
            list->items = memory_resize(list->items, list->capacity, sizeof(*list->items));
        }
        list->items[list->count++] = (struct counted){id, count, kind};
    }
    return status == STATUS_END ? STATUS_OK : status;
}

static enum status
gather(struct partition *partition, struct totals *totals, struct counted_list *list,
       struct reason *why)
{
    gate_enter_reading(&partition->gate);
    enum status status = statistics_totals(partition->statistics, totals, why);
    if (status == STATUS_OK) {
        status = gather_kind(partition, STATISTIC_PREDICATE, list, why);
    }
    if (status == STATUS_OK) {
        status = gather_kind(partition, STATISTIC_CLASS, list, why);
    }
    gate_leave(&partition->gate);
    return status;
}

static enum status
write_list(struct nodes_reader *nodes, const struct counted_list *list, struct buf *lines,
           partition_report *report, void *context, struct reason *why)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < list->count && status == STATUS_OK; i++) {
        struct arena arena;
        struct term term;
        arena_init(&arena, 0);
        status = nodes_resolve(nodes, list->items[i].id, &arena, &term, why);
        if (status == STATUS_OK) {
            (void)buf_printf(lines, "%c\t%" PRIu64 "\t", list->items[i].kind, list->items[i].count);
            (void)nquads_write_term(lines, &term);
            (void)buf_append_char(lines, '\n');
        }
        arena_release(&arena);
        if (status == STATUS_OK && lines->length >= PIECE) {
            status = report(context, buf_slice(lines), why);
            buf_reset(lines);
        }
    }
    return status == STATUS_OK ? report(context, buf_slice(lines), why) : status;
}

enum status
partition_counts(struct partition *partition, partition_report *report, void *context,
                 struct reason *why)
{
    struct counted_list list = {0};
    struct totals totals = {0};
    struct buf lines;
    pthread_mutex_lock(&partition->mutex);
    const uint64_t terms = partition->totals.terms;
    pthread_mutex_unlock(&partition->mutex);
    buf_init(&lines, SIZE_MAX / 2);
    enum status status = gather(partition, &totals, &list, why);
    if (status == STATUS_OK) {
        struct nodes_reader *nodes = nodes_reader_new(lexicon_nodes(partition->lexicon));
        (void)buf_printf(&lines,
                         "quads\t%" PRIu64 "\ndocuments\t%" PRIu64 "\nterms\t%" PRIu64
                         "\nliterals\t%" PRIu64 "\n",
                         totals.quads, totals.documents, terms, totals.literals);
        status = write_list(nodes, &list, &lines, report, context, why);
        nodes_reader_free(nodes);
    }
    buf_release(&lines);
    free(list.items);
    return status;
}
