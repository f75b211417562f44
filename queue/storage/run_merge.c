#include "queue/storage/run_merge.h"

void
merge_init(struct merge *merge)
{
    *merge = (struct merge){0};
    for (size_t i = 0; i < MERGE_SOURCES; i++) {
        run_cursor_init(&merge->sources[i].run);
    }
}

void
merge_release(struct merge *merge)
{
    for (size_t i = 0; i < MERGE_SOURCES; i++) {
        run_cursor_release(&merge->sources[i].run);
    }
}

void
merge_reset(struct merge *merge)
{
    merge->count = 0;
    merge->key = (struct slice){NULL, 0};
    merge->ended = false;
}

static void
note_key(struct merge_source *source, size_t key_length)
{
    if (source->map != NULL) {
        source->key = source->ordered.record != NULL ? ordered_key(source->ordered.record)
                                                     : (struct slice){NULL, 0};
    } else {
        source->key = source->run.ended ? (struct slice){NULL, 0}
                                        : slice_of((const char *)source->run.key, key_length);
    }
}

void
merge_add_map(struct merge *merge, const struct ordered *map, struct slice from)
{
    struct merge_source *source = &merge->sources[merge->count++];
    source->map = map;
    source->ordered = ordered_seek(map, from);
    note_key(source, 0);
}

enum status
merge_add_run(struct merge *merge, const struct run *run, struct slice from, struct reason *why)
{
    struct merge_source *source = &merge->sources[merge->count++];
    source->map = NULL;
    TRY(run_seek(&source->run, run, from, why));
    note_key(source, run_key_length(run));
    return STATUS_OK;
}

static enum status
advance(struct merge_source *source, struct reason *why)
{
    if (source->map != NULL) {
        ordered_next(&source->ordered);
    } else {
        TRY(run_next(&source->run, why));
    }
    note_key(source, source->key.length);
    return STATUS_OK;
}

/* Sources that stand at the record which was given before move on only now, because its bytes may
 * be theirs. */
enum status
merge_next(struct merge *merge, struct reason *why)
{
    const struct merge_source *least = NULL;
    if (merge->key.at != NULL) {
        uint8_t last[RUN_KEY_MAXIMUM];
        const size_t length = merge->key.length;
        memcpy(last, merge->key.at, length);
        for (size_t i = 0; i < merge->count; i++) {
            struct merge_source *source = &merge->sources[i];
            if (source->key.at != NULL && memcmp(source->key.at, last, length) == 0) {
                TRY(advance(source, why));
            }
        }
    }
    for (size_t i = 0; i < merge->count; i++) {
        const struct merge_source *source = &merge->sources[i];
        if (source->key.at != NULL &&
            (least == NULL || memcmp(source->key.at, least->key.at, least->key.length) < 0)) {
            least = source;
        }
    }
    merge->ended = least == NULL;
    if (merge->ended) {
        return STATUS_OK;
    }
    merge->key = least->key;
    if (least->map != NULL) {
        merge->value = ordered_value(least->ordered.record);
        merge->removed = least->ordered.record->removed;
    } else {
        merge->value = least->run.value;
        merge->removed = least->run.removed;
    }
    return STATUS_OK;
}
