#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/codec.h"
#include "base/memory.h"
#include "base/system/file.h"
#include "queue/storage/frontier_engine_state.h"

enum {
    WORK_LOOK_MS = 100,
    FULL_FACTOR = 4 /* times its limit: memory takes no more while runs cannot be written */
};

/* ---- small services ---- */

/* Returns the layer that holds a tree, or NULL when the tree is not one of layers. */
static struct layer *
frontier_layer(struct frontier *frontier, enum store_tree tree)
{
    for (int i = 0; i < FRONTIER_LAYERS; i++) {
        if (frontier_layers[i].tree == tree) {
            return &frontier->layers[i];
        }
    }
    return NULL;
}

static struct layer *
layer_of_letter(struct frontier *frontier, uint8_t letter)
{
    for (int i = 0; i < FRONTIER_LAYERS; i++) {
        if (frontier_layers[i].letter == letter) {
            return &frontier->layers[i];
        }
    }
    return NULL;
}

struct frontier_figures
frontier_figures(const struct frontier *frontier)
{
    struct frontier_figures figures = {.recent_memory = frontier_recent(frontier),
                                       .written = frontier_work_written(frontier->work)};
    for (int i = 0; i < FRONTIER_LAYERS; i++) {
        const struct layer *layer = &frontier->layers[i];
        figures.recent_memory += ordered_bytes(&layer->frozen);
        for (size_t run = 0; run < layer->run_count; run++) {
            const struct run_totals totals = run_totals(layer->runs[run].run);
            figures.runs++;
            figures.bytes += totals.bytes;
            figures.records += totals.records;
            figures.run_memory += run_memory(layer->runs[run].run);
        }
    }
    return figures;
}

/* ---- the journal ---- */

static void
journal_add(struct frontier *frontier, const struct layer *layer, struct slice key,
            struct slice value, bool removed)
{
    struct buf *journal = &frontier->journal.row;
    codec_put_u8(journal, layer->kind->letter);
    codec_put_u8(journal, removed);
    (void)buf_append_slice(journal, key);
    codec_put_slice(journal, value);
}

static bool
replay(struct frontier *frontier, struct slice row)
{
    struct codec_reader reader = codec_reader_of(row);
    while (reader.at < reader.end) {
        struct layer *layer = layer_of_letter(frontier, codec_get_u8(&reader));
        const uint8_t removed = codec_get_u8(&reader);
        if (layer == NULL || removed > 1 ||
            reader.end - reader.at < layer->kind->shape.key_length) {
            return false;
        }
        const struct slice key = {(const char *)reader.at, layer->kind->shape.key_length};
        reader.at += key.length;
        const struct slice value = codec_get_slice(&reader);
        if (reader.bad) {
            return false;
        }
        ordered_put(&layer->active, key, value, removed);
    }
    return true;
}

struct journal_scan {
    struct frontier *frontier;
    bool any, damaged;
};

static bool
read_journal(void *context, struct slice key, struct slice value)
{
    struct journal_scan *scan = context;
    struct frontier *frontier = scan->frontier;
    if (key.length != 8) {
        scan->damaged = true;
        return false;
    }
    const uint64_t sequence = codec_read_u64((const uint8_t *)key.at);
    frontier->journal.first = scan->any ? frontier->journal.first : sequence;
    frontier->journal.next = sequence + 1;
    scan->any = true;
    if (sequence > frontier->journal.flushed && !replay(frontier, value)) {
        scan->damaged = true;
    }
    return !scan->damaged;
}

/* ---- opening ---- */

struct manifest_scan {
    struct frontier *frontier;
    enum status status;
    struct reason *why;
};

static bool
read_run(void *context, struct slice key, struct slice value)
{
    struct manifest_scan *scan = context;
    struct frontier *frontier = scan->frontier;
    struct layer *layer = key.length == 9 ? layer_of_letter(frontier, (uint8_t)key.at[0]) : NULL;
    if (layer == NULL || value.length != 1) {
        scan->status = status_fail(scan->why, STATUS_CORRUPT, "%s: the list of runs is damaged",
                                   frontier->options.folder);
        return false;
    }
    struct held_run held = {.number = codec_read_u64((const uint8_t *)key.at + 1),
                            .level = (uint8_t)value.at[0]};
    struct buf path;
    frontier_run_path(frontier, layer->kind, held.number, &path);
    scan->status = run_open(&held.run, path.data, &layer->kind->shape, scan->why);
    buf_release(&path);
    if (scan->status == STATUS_OK && layer->run_count == MERGE_SOURCES - 2) {
        scan->status = status_fail(scan->why, STATUS_CORRUPT, "%s: too many runs of one tree",
                                   frontier->options.folder);
        run_close(held.run);
    }
    if (scan->status != STATUS_OK) {
        return false;
    }
    /* Runs are in order of level, then the newest first. */
    size_t at = 0;
    while (at < layer->run_count &&
           (layer->runs[at].level < held.level ||
            (layer->runs[at].level == held.level && layer->runs[at].number > held.number))) {
        at++;
    }
    frontier_add_run(layer, at, &held);
    frontier->next_number =
        held.number >= frontier->next_number ? held.number + 1 : frontier->next_number;
    return true;
}

static bool
is_listed(const struct frontier *frontier, const char *name)
{
    struct buf own;
    bool listed = false;
    buf_init(&own, 1 << 10);
    for (int i = 0; i < FRONTIER_LAYERS; i++) {
        const struct layer *layer = &frontier->layers[i];
        for (size_t run = 0; run < layer->run_count && !listed; run++) {
            buf_reset(&own);
            frontier_run_name(layer->kind, layer->runs[run].number, &own);
            listed = slice_is(buf_slice(&own), name);
        }
    }
    buf_release(&own);
    return listed;
}

/* Removes the files that work which was never installed has written. */
static enum status
remove_unlisted(const struct frontier *frontier, struct reason *why)
{
    DIR *folder = opendir(frontier->folder);
    if (folder == NULL) {
        return status_fail_errno(why, "cannot read %s", frontier->folder);
    }
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        const size_t length = strlen(entry->d_name);
        if (length > 4 && strcmp(entry->d_name + length - 4, ".run") == 0 &&
            !is_listed(frontier, entry->d_name)) {
            (void)unlinkat(dirfd(folder), entry->d_name, 0);
        }
    }
    (void)closedir(folder);
    return STATUS_OK;
}

static void
put_recent(struct frontier *frontier, const struct store_operation *operation)
{
    struct layer *layer = frontier_layer(frontier, (enum store_tree)operation->tree);
    ordered_put(&layer->active, slice_of((const char *)operation->key, operation->key_length),
                operation->value, operation->remove);
}

static enum status
open_all(struct frontier *frontier, struct reason *why)
{
    struct manifest_scan manifest = {.frontier = frontier, .why = why};
    struct journal_scan journal = {.frontier = frontier};
    struct slice value;
    TRY(file_make_folder(frontier->folder, 0700, why));
    TRY(store_scan(frontier->below, TREE_RUNS, (struct slice){"", 0}, read_run, &manifest, why));
    TRY(manifest.status);
    TRY(remove_unlisted(frontier, why));
    const enum status status =
        store_get(frontier->below, TREE_ABOUT, SLICE("flushed"), &value, why);
    if (status == STATUS_OK && value.length == 8) {
        frontier->journal.flushed = codec_read_u64((const uint8_t *)value.at);
    } else if (status != STATUS_NOT_FOUND) {
        TRY(status);
    }
    frontier->journal.first = frontier->journal.next = frontier->journal.flushed + 1;
    TRY(store_scan(frontier->below, TREE_JOURNAL, (struct slice){"", 0}, read_journal, &journal,
                   why));
    if (journal.damaged) {
        return status_fail(why, STATUS_CORRUPT, "%s: row %llu of the journal is damaged",
                           frontier->options.folder,
                           (unsigned long long)frontier->journal.next - 1);
    }
    return STATUS_OK;
}

void
frontier_close(struct frontier *frontier)
{
    if (frontier == NULL) {
        return;
    }
    frontier_work_free(frontier, frontier->work);
    store_close(frontier->below);
    for (int i = 0; i < FRONTIER_LAYERS; i++) {
        struct layer *layer = &frontier->layers[i];
        ordered_release(&layer->active);
        ordered_release(&layer->frozen);
        for (size_t run = 0; run < layer->run_count; run++) {
            run_close(layer->runs[run].run);
        }
        free(layer->runs);
        run_cursor_release(&layer->cursor);
    }
    merge_release(frontier->merge);
    free(frontier->merge);
    buf_release(&frontier->value);
    buf_release(&frontier->journal.row);
    free(frontier->folder);
    free(frontier);
}

enum status
frontier_open(struct frontier **opened, const struct store_options *options, struct reason *why)
{
    struct buf folder;
    *opened = NULL;
    struct frontier *frontier = memory_new(sizeof *frontier);
    buf_init(&folder, 1 << 16);
    buf_printf(&folder, "%s/runs", options->folder);
    frontier->options = *options;
    frontier->folder = memory_string(folder.data);
    buf_release(&folder);
    frontier->next_number = 1;
    frontier->work = frontier_work_new();
    frontier->merge = memory_alloc(sizeof *frontier->merge);
    merge_init(frontier->merge);
    buf_init(&frontier->value, RUN_VALUE_MAXIMUM + 1);
    buf_init(&frontier->journal.row, FRONTIER_JOURNAL_MAXIMUM);
    for (int i = 0; i < FRONTIER_LAYERS; i++) {
        frontier->layers[i].kind = &frontier_layers[i];
        ordered_init(&frontier->layers[i].active);
        run_cursor_init(&frontier->layers[i].cursor);
    }
    enum status status = store_open(&frontier->below, options, why);
    if (status == STATUS_OK) {
        status = open_all(frontier, why);
    }
    if (status != STATUS_OK) {
        frontier_close(frontier);
        return status;
    }
    *opened = frontier;
    return STATUS_OK;
}

/* ---- reading ---- */

uint64_t
frontier_epoch(const struct frontier *frontier)
{
    return store_epoch(frontier->below);
}

/* Finds a record in memory. */
static bool
found_recent(const struct ordered *map, struct slice key, struct slice *value, bool *removed)
{
    const struct ordered_record *record = map->root == NULL ? NULL : ordered_find(map, key);
    if (record != NULL) {
        *value = ordered_value(record);
        *removed = record->removed;
    }
    return record != NULL;
}

static enum status
find_in_runs(struct frontier *frontier, struct layer *layer, struct slice key, struct slice *value,
             bool *removed, struct reason *why)
{
    struct run_cursor *cursor = &layer->cursor;
    for (size_t i = 0; i < layer->run_count; i++) {
        if (!run_may_have(layer->runs[i].run, key)) {
            continue;
        }
        TRY(run_seek(cursor, layer->runs[i].run, key, why));
        if (!cursor->ended && memcmp(cursor->key, key.at, key.length) == 0) {
            buf_reset(&frontier->value);
            (void)buf_append_slice(&frontier->value, cursor->value);
            *value = buf_slice(&frontier->value);
            *removed = cursor->removed;
            return STATUS_OK;
        }
    }
    return STATUS_NOT_FOUND;
}

enum status
frontier_get(struct frontier *frontier, enum store_tree tree, struct slice key, struct slice *value,
             struct reason *why)
{
    struct layer *layer = frontier_layer(frontier, tree);
    bool removed = false;
    if (layer == NULL) {
        return store_get(frontier->below, tree, key, value, why);
    }
    if (!found_recent(&layer->active, key, value, &removed) &&
        !found_recent(&layer->frozen, key, value, &removed)) {
        TRY(find_in_runs(frontier, layer, key, value, &removed, why));
    }
    return removed ? STATUS_NOT_FOUND : STATUS_OK;
}

enum status
frontier_scan_within(struct frontier *frontier, enum store_tree tree, struct slice from,
                     size_t within, store_visit *visit, void *context, struct reason *why)
{
    const struct layer *layer = frontier_layer(frontier, tree);
    struct merge *merge = frontier->merge;
    if (layer == NULL) {
        return store_scan_within(frontier->below, tree, from, within, visit, context, why);
    }
    merge_reset(merge);
    merge_add_map(merge, &layer->active, from);
    if (layer->frozen.root != NULL) {
        merge_add_map(merge, &layer->frozen, from);
    }
    const bool filtered = within >= layer->kind->shape.filter_length;
    for (size_t i = 0; i < layer->run_count; i++) {
        if (!filtered || run_may_have(layer->runs[i].run, from)) {
            TRY(merge_add_run(merge, layer->runs[i].run, from, why));
        }
    }
    TRY(merge_next(merge, why));
    while (!merge->ended && memcmp(merge->key.at, from.at, within) == 0 &&
           (merge->removed || visit(context, merge->key, merge->value))) {
        TRY(merge_next(merge, why));
    }
    return STATUS_OK;
}

enum status
frontier_scan(struct frontier *frontier, enum store_tree tree, struct slice from,
              store_visit *visit, void *context, struct reason *why)
{
    return frontier_scan_within(frontier, tree, from, 0, visit, context, why);
}

/* ---- writing ---- */

static bool
is_full(const struct frontier *frontier)
{
    return frontier_recent(frontier) >= FULL_FACTOR * frontier->options.recent_bytes;
}

enum status
frontier_apply(struct frontier *frontier, const struct store_operation *const *operations, size_t n,
               struct reason *why)
{
    struct store_batch batch;
    if (is_full(frontier)) {
        TRY(frontier_advance(frontier, why));
    }
    if (is_full(frontier)) {
        return status_fail(why, STATUS_FULL,
                           "no room on the disk of %s for its runs; free some and it goes on by "
                           "itself",
                           frontier->options.folder);
    }
    store_batch_init(&batch);
    buf_reset(&frontier->journal.row);
    bool fits = true;
    for (size_t i = 0; i < n; i++) {
        const struct store_operation *operation = operations[i];
        const struct layer *layer = frontier_layer(frontier, (enum store_tree)operation->tree);
        const struct slice key = {(const char *)operation->key, operation->key_length};
        if (layer != NULL) {
            fits &= key.length == layer->kind->shape.key_length &&
                    operation->value.length <= RUN_VALUE_MAXIMUM;
            journal_add(frontier, layer, key, operation->value, operation->remove);
        } else if (operation->remove) {
            store_batch_remove(&batch, (enum store_tree)operation->tree, key);
        } else {
            store_batch_put(&batch, (enum store_tree)operation->tree, key, operation->value);
        }
    }
    const enum status status =
        fits ? frontier_commit(frontier, &batch, why)
             : status_fail(why, STATUS_MISUSE, "%s: a record that no run can hold",
                           frontier->options.folder);
    store_batch_release(&batch);
    TRY(status);
    for (size_t i = 0; i < n; i++) {
        if (frontier_layer(frontier, (enum store_tree)operations[i]->tree) != NULL) {
            put_recent(frontier, operations[i]);
        }
    }
    return frontier_advance(frontier, why);
}

/* ---- housekeeping ---- */

enum status
frontier_tick(struct frontier *frontier, uint64_t *wait_ms, struct reason *why)
{
    TRY(store_tick(frontier->below, wait_ms, why));
    TRY(frontier_advance(frontier, why));
    if (frontier_work_goes_on(frontier->work) && *wait_ms > WORK_LOOK_MS) {
        *wait_ms = WORK_LOOK_MS;
    }
    return STATUS_OK;
}
