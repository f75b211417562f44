/* The counters of a partition, read in one hold of the latch so that they agree. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/memory.h"
#include "index/write/partition_state.h"
#include "rdf/core/writer.h"

enum { PIECE = 32 << 10 };

/* A predicate or a class. */
struct counted {
    oid id;
    struct statistic_count count;
    enum statistic kind;
};

struct gathered {
    struct totals totals;
    struct characteristic_totals characteristic;
    struct counted *items;
    size_t count, capacity;
    struct buf hosts; /* their lines */
    uint64_t host_count;
    struct predicate_sets sets;
};

/* Lines on their way out. */
struct count_lines {
    struct nodes_reader *nodes;
    struct buf text;
    partition_report *report;
    void *context;
};

/* ---- gathering, inside the latch ---- */

static enum status
gather_kind(struct partition *partition, enum statistic kind, struct gathered *gathered,
            struct reason *why)
{
    oid id = OID_NONE;
    struct statistic_count count;
    enum status status;
    while ((status = statistics_next(partition->statistics, kind, &id, &count, why)) == STATUS_OK) {
        gathered->items = array_grow(gathered->items, gathered->count, &gathered->capacity,
                                     sizeof(*gathered->items));
        gathered->items[gathered->count++] = (struct counted){id, count, kind};
    }
    return status == STATUS_END ? STATUS_OK : status;
}

static enum status
gather_hosts(struct partition *partition, struct gathered *gathered, struct reason *why)
{
    struct host_entry entry = {.length = 0};
    enum status status;
    while ((status = statistics_next_host(partition->statistics, gathered->host_count == 0, &entry,
                                          why)) == STATUS_OK) {
        (void)buf_printf(&gathered->hosts, "%c\t%" PRIu64 " %" PRIu64 "\t%.*s\n", STATISTIC_HOST,
                         entry.quads, entry.documents, (int)entry.length, (const char *)entry.name);
        gathered->host_count++;
    }
    return status == STATUS_END ? STATUS_OK : status;
}

static enum status
gather(struct partition *partition, bool with_sets, struct gathered *gathered, struct reason *why)
{
    latch_enter_reading(tree_latch(partition->statistics));
    enum status status = statistics_totals(partition->statistics, &gathered->totals, why);
    if (status == STATUS_OK) {
        status = gather_kind(partition, STATISTIC_PREDICATE, gathered, why);
    }
    if (status == STATUS_OK) {
        status = gather_kind(partition, STATISTIC_CLASS, gathered, why);
    }
    if (status == STATUS_OK) {
        status = gather_hosts(partition, gathered, why);
    }
    characteristic_sets_totals(partition->sets, &gathered->characteristic);
    if (with_sets) {
        characteristic_sets_copy(partition->sets, &gathered->sets);
    }
    latch_leave(tree_latch(partition->statistics));
    return status;
}

/* ---- lines ---- */

static enum status
put_term(struct count_lines *lines, oid id, struct reason *why)
{
    struct arena arena;
    struct term term;
    arena_init(&arena, 0);
    const enum status status = nodes_resolve(lines->nodes, id, &arena, &term, why);
    if (status == STATUS_OK) {
        (void)nquads_write_term(&lines->text, &term);
    }
    arena_release(&arena);
    return status;
}

static enum status
end_line(struct count_lines *lines, struct reason *why)
{
    (void)buf_append_char(&lines->text, '\n');
    if (lines->text.length < PIECE) {
        return STATUS_OK;
    }
    const enum status status = lines->report(lines->context, buf_slice(&lines->text), why);
    buf_reset(&lines->text);
    return status;
}

static void
put_totals(struct count_lines *lines, const struct gathered *gathered, uint64_t terms)
{
    const struct {
        const char *name;
        uint64_t count;
    } totals[] = {{"quads", gathered->totals.quads},
                  {"documents", gathered->totals.documents},
                  {"terms", terms},
                  {"literals", gathered->totals.literals},
                  {"subjects", gathered->characteristic.subjects},
                  {"subjects-large", gathered->characteristic.large},
                  {"subjects-other", gathered->characteristic.other}};
    for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]); i++) {
        (void)buf_printf(&lines->text, "T\t%" PRIu64 "\t%s\n", totals[i].count, totals[i].name);
    }
    (void)buf_append_slice(&lines->text, buf_slice(&gathered->hosts));
}

static enum status
put_counted(struct count_lines *lines, const struct counted *item, struct reason *why)
{
    (void)buf_printf(&lines->text, "%c\t%" PRIu64, item->kind, item->count.quads);
    if (item->kind == STATISTIC_PREDICATE) {
        (void)buf_printf(&lines->text, " %" PRIu64, item->count.subjects);
    }
    (void)buf_append_char(&lines->text, '\t');
    TRY(put_term(lines, item->id, why));
    return end_line(lines, why);
}

static enum status
put_set(struct count_lines *lines, const struct predicate_sets *sets,
        const struct predicate_set *set, struct reason *why)
{
    (void)buf_printf(&lines->text, "%c\t%" PRId64, STATISTIC_SET, set->subjects);
    for (size_t i = 0; i < set->count; i++) {
        (void)buf_printf(&lines->text, " %" PRId64, sets->rows[set->first + i]);
    }
    for (size_t i = 0; i < set->count; i++) {
        (void)buf_append_char(&lines->text, i == 0 ? '\t' : ' ');
        TRY(put_term(lines, sets->predicates[set->first + i], why));
    }
    return end_line(lines, why);
}

static enum status
put_all(struct count_lines *lines, const struct gathered *gathered, uint64_t terms,
        struct reason *why)
{
    put_totals(lines, gathered, terms);
    for (size_t i = 0; i < gathered->count; i++) {
        TRY(put_counted(lines, &gathered->items[i], why));
    }
    for (size_t i = 0; i < gathered->sets.count; i++) {
        TRY(put_set(lines, &gathered->sets, &gathered->sets.sets[i], why));
    }
    return lines->report(lines->context, buf_slice(&lines->text), why);
}

enum status
partition_counts(struct partition *partition, bool with_sets, partition_report *report,
                 void *context, struct reason *why)
{
    struct gathered gathered = {0};
    struct count_lines lines = {.report = report, .context = context};
    const uint64_t terms = partition_totals(partition).terms;
    buf_init(&lines.text, SIZE_MAX / 2);
    buf_init(&gathered.hosts, SIZE_MAX / 2);
    enum status status = gather(partition, with_sets, &gathered, why);
    if (status == STATUS_OK) {
        lines.nodes = nodes_reader_new(lexicon_nodes(partition->lexicon));
        status = put_all(&lines, &gathered, terms, why);
        nodes_reader_free(lines.nodes);
    }
    buf_release(&lines.text);
    buf_release(&gathered.hosts);
    predicate_sets_release(&gathered.sets);
    free(gathered.items);
    return status;
}
