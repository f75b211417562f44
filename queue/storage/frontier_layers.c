#include "queue/storage/frontier_layers.h"

#include <string.h>

#include "base/codec.h"
#include "base/memory.h"
#include "queue/storage/frontier_engine_state.h"

enum { JOURNAL_DELETES = 2 /* rows in runs that a commit removes; it adds one */ };

const struct layer_kind frontier_layers[FRONTIER_LAYERS] = {
    {TREE_SEEN, 's', {.key_length = 16, .filter_length = 16, .block_length = 2048}},
    {TREE_REVISITS, 'r', {.key_length = 16, .filter_length = 16, .block_length = 2048}},
    {TREE_LANES, 'l', {.key_length = 8, .filter_length = 8, .block_length = 2048}},
    {TREE_FETCH,
     'f',
     {.key_length = 25, .filter_length = 9, .compress = true, .block_length = 8192}},
};

void
frontier_run_name(const struct layer_kind *kind, uint64_t number, struct buf *name)
{
    buf_printf(name, "%s-%llu.run", store_tree_name(kind->tree), (unsigned long long)number);
}

void
frontier_run_path(const struct frontier *frontier, const struct layer_kind *kind, uint64_t number,
                  struct buf *path)
{
    buf_init(path, 1 << 16);
    buf_printf(path, "%s/", frontier->folder);
    frontier_run_name(kind, number, path);
}

void
frontier_add_run(struct layer *layer, size_t at, const struct held_run *held)
{
    layer->runs = memory_resize(layer->runs, layer->run_count + 1, sizeof *layer->runs);
    memmove(&layer->runs[at + 1], &layer->runs[at],
            (layer->run_count - at) * sizeof layer->runs[0]);
    layer->runs[at] = *held;
    layer->run_count++;
}

size_t
frontier_recent(const struct frontier *frontier)
{
    size_t bytes = 0;
    for (int i = 0; i < FRONTIER_LAYERS; i++) {
        bytes += ordered_bytes(&frontier->layers[i].active);
    }
    return bytes;
}

void
frontier_manifest(struct store_batch *batch, const struct layer_kind *kind, uint64_t number,
                  uint8_t level, bool remove)
{
    uint8_t key[9] = {kind->letter};
    codec_write_u64(key + 1, number);
    const struct slice bytes = {(const char *)key, sizeof key};
    if (remove) {
        store_batch_remove(batch, TREE_RUNS, bytes);
    } else {
        store_batch_put(batch, TREE_RUNS, bytes, slice_of((const char *)&level, 1));
    }
}

/* Rows in runs leave a few at a time, with other commits. */
static uint64_t
delete_flushed(struct frontier *frontier, struct store_batch *batch)
{
    uint64_t at = frontier->journal.first;
    for (int i = 0;
         i < JOURNAL_DELETES && at <= frontier->journal.flushed && at < frontier->journal.next;
         i++, at++) {
        uint8_t key[8];
        codec_write_u64(key, at);
        store_batch_remove(batch, TREE_JOURNAL, slice_of((const char *)key, sizeof key));
    }
    return at;
}

enum status
frontier_commit(struct frontier *frontier, struct store_batch *batch, struct reason *why)
{
    const uint64_t first = delete_flushed(frontier, batch);
    if (frontier->journal.row.overflowed) {
        return status_fail(why, STATUS_LIMIT, "a batch of more than %d bytes",
                           FRONTIER_JOURNAL_MAXIMUM);
    }
    if (frontier->journal.row.length > 0) {
        uint8_t key[8];
        codec_write_u64(key, frontier->journal.next);
        store_batch_put(batch, TREE_JOURNAL, slice_of((const char *)key, sizeof key),
                        buf_slice(&frontier->journal.row));
    }
    TRY(store_apply(frontier->below, (const struct store_operation *const *)batch->operations,
                    batch->count, why));
    frontier->journal.first = first;
    frontier->journal.next += frontier->journal.row.length > 0;
    return STATUS_OK;
}

/* Returns how many bytes there is room for, less what the records in memory need when they leave
 * it. */
enum status
frontier_room(struct frontier *frontier, uint64_t *bytes, struct reason *why)
{
    TRY(store_room(frontier->below, bytes, why));
    const uint64_t promised = frontier_recent(frontier);
    *bytes -= promised < *bytes ? promised : *bytes;
    return STATUS_OK;
}

bool
frontier_broken(const struct frontier *frontier)
{
    return store_broken(frontier->below);
}
