#include "queue/storage/frontier_engine_work.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/codec.h"
#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "queue/storage/frontier_engine_state.h"

enum {
    REMOVED_PART = 3, /* a tree is merged whole when removals are one in so many records */
    FAN = 4,          /* runs of a level that are merged to one of the next */
    RUNS_MOST = 40,   /* of a tree; with more, commits wait for merges */
    RETRY_MS = 1000
};

enum work_kind { WORK_FLUSH, WORK_MERGE, WORK_KINDS };

/* A new run, or none. */
struct work_output {
    uint64_t number; /* 0: none */
    uint8_t level;
    struct run *run; /* NULL: not written yet, or nothing was left */
};

struct work {
    struct frontier *frontier;
    enum work_kind kind;
    bool under_way, threaded;
    pthread_t thread;
    atomic_bool ended;
    struct work_output outputs[FRONTIER_LAYERS];
    /* a merge */
    struct layer *layer;
    struct held_run inputs[MERGE_SOURCES]; /* newest first */
    size_t input_count;
    bool drop_removed;
    enum status status;
    struct reason why;
    uint64_t retry_ms; /* monotonic: not before */
};

struct frontier_work {
    struct work works[WORK_KINDS];
    bool frozen;
    uint64_t frozen_end; /* the last row of what is frozen */
    uint64_t written;
};

/* ---- what runs beside the owner's thread ---- */

static int
strike(void *context)
{
    const struct frontier *frontier = context;
    const struct store_options *options = &frontier->options;
    return options->fault == NULL ? 0 : options->fault(options->fault_context, STORE_RUN_WRITE);
}

static enum status
write_all(struct merge *merge, struct run_writer *writer, bool drop_removed, struct reason *why)
{
    TRY(merge_next(merge, why));
    while (!merge->ended) {
        if (!merge->removed || !drop_removed) {
            TRY(run_writer_add(writer, merge->key, merge->value, merge->removed, why));
        }
        TRY(merge_next(merge, why));
    }
    return STATUS_OK;
}

static void
remove_run(const struct frontier *frontier, const struct layer_kind *kind, uint64_t number)
{
    struct buf path;
    frontier_run_path(frontier, kind, number, &path);
    (void)unlink(path.data);
    buf_release(&path);
}

/* Writes what the merge gives to a new run and opens that. */
static enum status
write_run(struct work *work, const struct layer_kind *kind, struct merge *merge, uint64_t prefixes,
          struct work_output *output, struct reason *why)
{
    struct frontier *frontier = work->frontier;
    struct run_writer *writer;
    struct run_totals totals;
    struct buf path;
    frontier_run_path(frontier, kind, output->number, &path);
    enum status status =
        run_writer_open(&writer, path.data, &kind->shape, prefixes, strike, frontier, why);
    if (status == STATUS_OK) {
        status = write_all(merge, writer, work->drop_removed, why);
        if (status == STATUS_OK) {
            status = run_writer_finish(writer, &totals, why);
        } else {
            run_writer_drop(writer);
        }
    }
    if (status == STATUS_OK && totals.records > 0) {
        status = run_open(&output->run, path.data, &kind->shape, why);
    }
    if (output->run == NULL) {
        (void)unlink(path.data);
    }
    buf_release(&path);
    return status;
}

static uint64_t
count_prefixes(const struct ordered *map, size_t length)
{
    uint64_t n = 0;
    const char *last = NULL;
    for (struct ordered_cursor cursor = ordered_seek(map, (struct slice){"", 0});
         cursor.record != NULL; ordered_next(&cursor)) {
        n += last == NULL || memcmp(last, cursor.record->bytes, length) != 0;
        last = cursor.record->bytes;
    }
    return n;
}

static enum status
flush(struct work *work, struct merge *merge)
{
    for (int i = 0; i < FRONTIER_LAYERS; i++) {
        const struct layer *layer = &work->frontier->layers[i];
        if (layer->frozen.count > 0) {
            merge_reset(merge);
            merge_add_map(merge, &layer->frozen, (struct slice){"", 0});
            TRY(write_run(work, layer->kind, merge,
                          count_prefixes(&layer->frozen, layer->kind->shape.filter_length),
                          &work->outputs[i], &work->why));
        }
    }
    return STATUS_OK;
}

static enum status
merge_inputs(struct work *work, struct merge *merge)
{
    uint64_t prefixes = 0;
    merge_reset(merge);
    for (size_t i = 0; i < work->input_count; i++) {
        prefixes += run_totals(work->inputs[i].run).prefixes;
        TRY(merge_add_run(merge, work->inputs[i].run, (struct slice){"", 0}, &work->why));
    }
    return write_run(work, work->layer->kind, merge, prefixes, &work->outputs[0], &work->why);
}

static void *
do_work(void *context)
{
    struct work *work = context;
    struct merge *merge = memory_alloc(sizeof *merge);
    merge_init(merge);
    work->status = work->kind == WORK_FLUSH ? flush(work, merge) : merge_inputs(work, merge);
    merge_release(merge);
    free(merge);
    atomic_store(&work->ended, true);
    return NULL;
}

/* ---- beginning ---- */

static void
begin(struct frontier *frontier, struct work *work)
{
    work->frontier = frontier;
    work->under_way = true;
    work->why = (struct reason){""};
    atomic_store(&work->ended, false);
    work->threaded =
        frontier->options.threads && pthread_create(&work->thread, NULL, do_work, work) == 0;
    if (!work->threaded) {
        (void)do_work(work);
    }
}

static void
freeze(struct frontier *frontier)
{
    for (int i = 0; i < FRONTIER_LAYERS; i++) {
        struct layer *layer = &frontier->layers[i];
        layer->frozen = layer->active;
        ordered_init(&layer->active);
    }
    frontier->work->frozen = true;
    frontier->work->frozen_end = frontier->journal.next - 1;
}

static void
begin_flush(struct frontier *frontier)
{
    struct work *work = &frontier->work->works[WORK_FLUSH];
    *work = (struct work){.kind = WORK_FLUSH};
    for (int i = 0; i < FRONTIER_LAYERS; i++) {
        if (frontier->layers[i].frozen.count > 0) {
            work->outputs[i] = (struct work_output){.number = frontier->next_number++};
        }
    }
    begin(frontier, work);
}

/* Finds which runs of a tree should become one: those of the lowest level that has enough of them,
 * or all when too much of what they hold is removals. first and count of layer->runs. */
static bool
choose(const struct layer *layer, size_t *first, size_t *count)
{
    uint64_t records = 0;
    uint64_t removed = 0;
    for (size_t i = 0; i < layer->run_count; i++) {
        const struct run_totals totals = run_totals(layer->runs[i].run);
        records += totals.records;
        removed += totals.removed;
    }
    *first = 0;
    *count = layer->run_count;
    if (layer->run_count > 1 && removed * REMOVED_PART >= records) {
        return true;
    }
    for (size_t at = 0; at < layer->run_count; at += *count) {
        *first = at;
        *count = 0;
        while (at + *count < layer->run_count &&
               layer->runs[at + *count].level == layer->runs[at].level) {
            ++*count;
        }
        if (*count >= FAN) {
            return true;
        }
    }
    return false;
}

static bool
begin_merge_of(struct frontier *frontier, struct layer *layer)
{
    struct work *work = &frontier->work->works[WORK_MERGE];
    size_t first;
    size_t count;
    uint64_t bytes = 0;
    uint64_t room = 0;
    struct reason why;
    if (!choose(layer, &first, &count)) {
        return false;
    }
    const uint8_t level = layer->runs[first + count - 1].level;
    const bool oldest = first + count == layer->run_count;
    *work = (struct work){.kind = WORK_MERGE,
                          .layer = layer,
                          .input_count = count,
                          .drop_removed = oldest,
                          .retry_ms = work->retry_ms};
    for (size_t i = 0; i < count; i++) {
        work->inputs[i] = layer->runs[first + i];
        bytes += run_totals(work->inputs[i].run).bytes;
    }
    if (frontier_room(frontier, &room, &why) != STATUS_OK || room < bytes) {
        log_warning("merge_waits", "tree=%s bytes=%lu free=%lu", store_tree_name(layer->kind->tree),
                    (unsigned long)bytes, (unsigned long)room);
        work->retry_ms = clock_monotonic_ms() + RETRY_MS;
        return true;
    }
    work->outputs[0] = (struct work_output){
        .number = frontier->next_number++,
        .level = (uint8_t)(layer->runs[first].level == level ? level + 1 : level)};
    begin(frontier, work);
    return true;
}

static void
begin_merge(struct frontier *frontier)
{
    for (int i = 0; i < FRONTIER_LAYERS; i++) {
        if (begin_merge_of(frontier, &frontier->layers[i])) {
            return;
        }
    }
}

/* ---- ending ---- */

static enum status
install_flush(struct frontier *frontier, struct work *work, struct store_batch *batch,
              struct reason *why)
{
    uint8_t flushed[8];
    for (int i = 0; i < FRONTIER_LAYERS; i++) {
        if (work->outputs[i].run != NULL) {
            frontier_manifest(batch, &frontier_layers[i], work->outputs[i].number, 0, false);
        }
    }
    codec_write_u64(flushed, frontier->work->frozen_end);
    store_batch_put(batch, TREE_ABOUT, SLICE("flushed"), slice_of((char *)flushed, sizeof flushed));
    TRY(frontier_commit(frontier, batch, why));
    for (int i = 0; i < FRONTIER_LAYERS; i++) {
        struct layer *layer = &frontier->layers[i];
        const struct work_output *output = &work->outputs[i];
        if (output->run != NULL) {
            frontier_add_run(layer, 0,
                             &(struct held_run){.run = output->run, .number = output->number});
        }
        ordered_release(&layer->frozen);
    }
    frontier->journal.flushed = frontier->work->frozen_end;
    frontier->work->frozen = false;
    return STATUS_OK;
}

static enum status
install_merge(struct frontier *frontier, struct work *work, struct store_batch *batch,
              struct reason *why)
{
    struct layer *layer = work->layer;
    const struct work_output *output = &work->outputs[0];
    size_t at = 0;
    for (size_t i = 0; i < work->input_count; i++) {
        frontier_manifest(batch, layer->kind, work->inputs[i].number, 0, true);
    }
    if (output->run != NULL) {
        frontier_manifest(batch, layer->kind, output->number, output->level, false);
    }
    TRY(frontier_commit(frontier, batch, why));
    while (layer->runs[at].number != work->inputs[0].number) {
        at++; /* runs may have come before it, none between */
    }
    layer->run_count -= work->input_count;
    memmove(&layer->runs[at], &layer->runs[at + work->input_count],
            (layer->run_count - at) * sizeof layer->runs[0]);
    if (output->run != NULL) {
        frontier_add_run(layer, at,
                         &(struct held_run){
                             .run = output->run, .number = output->number, .level = output->level});
    }
    for (size_t i = 0; i < work->input_count; i++) {
        run_close(work->inputs[i].run);
        remove_run(frontier, layer->kind, work->inputs[i].number);
    }
    layer->cursor.block = SIZE_MAX; /* its run may be one of them */
    return STATUS_OK;
}

static void
drop_outputs(struct frontier *frontier, struct work *work)
{
    for (int i = 0; i < FRONTIER_LAYERS; i++) {
        if (work->outputs[i].run != NULL) {
            run_close(work->outputs[i].run);
            work->outputs[i].run = NULL;
            remove_run(frontier, work->kind == WORK_MERGE ? work->layer->kind : &frontier_layers[i],
                       work->outputs[i].number);
        }
    }
}

static uint64_t
written_by(const struct work *work)
{
    uint64_t bytes = 0;
    for (int i = 0; i < FRONTIER_LAYERS; i++) {
        bytes += work->outputs[i].run == NULL ? 0 : run_totals(work->outputs[i].run).bytes;
    }
    return bytes;
}

/* Work that failed for lack of room, or because the disk refused, begins again later: what it would
 * have written is still where it was. Damage does not mend. */
static enum status
end(struct frontier *frontier, struct work *work, struct reason *why)
{
    struct store_batch batch;
    if (work->threaded) {
        (void)pthread_join(work->thread, NULL);
        work->threaded = false;
    }
    work->under_way = false;
    enum status status = work->status;
    if (status == STATUS_OK) {
        const uint64_t bytes = written_by(work);
        store_batch_init(&batch);
        buf_reset(&frontier->journal.row);
        status = work->kind == WORK_FLUSH ? install_flush(frontier, work, &batch, &work->why)
                                          : install_merge(frontier, work, &batch, &work->why);
        store_batch_release(&batch);
        frontier->work->written += bytes;
    }
    if (status == STATUS_OK) {
        memset(work->outputs, 0, sizeof work->outputs); /* they are the tree's now */
        return STATUS_OK;
    }
    drop_outputs(frontier, work);
    if (status == STATUS_CORRUPT || frontier_broken(frontier)) {
        return status_fail(why, status, "%s", work->why.text);
    }
    log_error("run_not_written", "reason=%s", work->why.text);
    work->retry_ms = clock_monotonic_ms() + RETRY_MS;
    return STATUS_OK;
}

/* ---- both ---- */

/* Memory has no room for what comes meanwhile, or reading would have to look in too many places. */
static bool
must_wait(const struct frontier *frontier, const struct work *work)
{
    bool many = false;
    for (int i = 0; i < FRONTIER_LAYERS; i++) {
        many |= frontier->layers[i].run_count >= RUNS_MOST;
    }
    return work->kind == WORK_MERGE
               ? many
               : frontier_recent(frontier) >= 2 * frontier->options.recent_bytes;
}

static enum status
end_all(struct frontier *frontier, struct reason *why)
{
    for (int i = 0; i < WORK_KINDS; i++) {
        struct work *work = &frontier->work->works[i];
        if (work->under_way && (atomic_load(&work->ended) || must_wait(frontier, work))) {
            TRY(end(frontier, work, why));
        }
    }
    return STATUS_OK;
}

enum status
frontier_advance(struct frontier *frontier, struct reason *why)
{
    const uint64_t now = clock_monotonic_ms();
    TRY(end_all(frontier, why));
    if (!frontier->work->frozen && frontier_recent(frontier) >= frontier->options.recent_bytes) {
        freeze(frontier);
    }
    const struct work *flushing = &frontier->work->works[WORK_FLUSH];
    if (frontier->work->frozen && !flushing->under_way && now >= flushing->retry_ms) {
        begin_flush(frontier);
    }
    const struct work *merging = &frontier->work->works[WORK_MERGE];
    if (!merging->under_way && now >= merging->retry_ms) {
        begin_merge(frontier);
    }
    return end_all(frontier, why);
}

struct frontier_work *
frontier_work_new(void)
{
    return memory_new(sizeof(struct frontier_work));
}

void
frontier_work_free(struct frontier *frontier, struct frontier_work *work)
{
    for (int i = 0; work != NULL && i < WORK_KINDS; i++) {
        if (work->works[i].threaded) {
            (void)pthread_join(work->works[i].thread, NULL);
        }
        drop_outputs(frontier, &work->works[i]);
    }
    free(work);
}

bool
frontier_work_goes_on(const struct frontier_work *work)
{
    bool any = false;
    for (int i = 0; i < WORK_KINDS; i++) {
        any |= work->works[i].under_way;
    }
    return any;
}

uint64_t
frontier_work_written(const struct frontier_work *work)
{
    return work->written;
}
