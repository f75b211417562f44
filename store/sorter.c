#include "store/sorter.h"

#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/memory.h"

enum {
    ROOM_LEAST = 32 << 10,
    READ_LEAST = 8 << 10,
    READ_MOST = 256 << 10,
    WRITE_BYTES = 64 << 10,
    FAN_LEAST = 4,
    FAN_MOST = 64,
    CUT_AT_LEAST = 512,
    CHECK_EVERY = 1 << 16
};

struct sorter_run {
    struct spill_list list;
    struct spill_reader reader;
    uint64_t *record; /* its size in bytes, and its words */
    size_t room;
    bool ended;
};

void
sorter_init(struct sorter *sorter, struct spill *spill, const char *what, sorter_compare *compare,
            void *context, uint64_t most)
{
    *sorter = (struct sorter){
        .spill = spill, .what = what, .compare = compare, .context = context, .most = most};
}

int
sorter_compare_words(void *context, const uint64_t *a, const uint64_t *b)
{
    const size_t count = *(const size_t *)context;
    for (size_t i = 0; i < count; i++) {
        if (a[i] != b[i]) {
            return a[i] < b[i] ? -1 : 1;
        }
    }
    return 0;
}

static void
close_run(struct sorter *sorter, struct sorter_run *run)
{
    spill_reader_release(&run->reader);
    spill_list_release(&run->list);
    memory_give(sorter->spill->account, run->room);
    free(run->record);
    run->record = NULL;
    run->room = 0;
}

static void
free_memory(struct sorter *sorter)
{
    memory_give(sorter->spill->account,
                sorter->bytes_room + sorter->places_room * sizeof *sorter->places);
    free(sorter->bytes);
    free(sorter->places);
    sorter->bytes = NULL;
    sorter->places = NULL;
    sorter->bytes_room = sorter->places_room = sorter->filled = sorter->count = 0;
    sorter->bounded = false;
}

void
sorter_reset(struct sorter *sorter)
{
    for (size_t i = sorter->first_run; i < sorter->run_count; i++) {
        close_run(sorter, &sorter->runs[i]);
    }
    sorter->run_count = sorter->first_run = sorter->heap_count = 0;
    sorter->filled = sorter->count = sorter->given = 0;
    sorter->ended = sorter->advance = sorter->bounded = false;
}

void
sorter_release(struct sorter *sorter)
{
    if (sorter->spill == NULL) {
        return;
    }
    sorter_reset(sorter);
    free_memory(sorter);
    free(sorter->runs);
    free(sorter->heap);
    sorter->runs = NULL;
    sorter->heap = NULL;
    sorter->run_room = 0;
}

/* ---- in memory ---- */

static const uint64_t *
record_at(const struct sorter *sorter, size_t place)
{
    return (const uint64_t *)(const void *)(sorter->bytes + place) + 1;
}

/* After a limit or cancellation all records are equal, so that sorting ends soon. */
static int
compare_places(const void *a, const void *b, void *context)
{
    struct sorter *sorter = context;
    if (++sorter->work % CHECK_EVERY == 0 && sorter->stopped == STATUS_OK) {
        sorter->stopped = spill_may_go_on(sorter->spill, NULL);
    }
    return sorter->stopped != STATUS_OK
               ? 0
               : sorter->compare(sorter->context, record_at(sorter, *(const size_t *)a),
                                 record_at(sorter, *(const size_t *)b));
}

static enum status
sort(struct sorter *sorter, struct reason *why)
{
    if (sorter->count > 1) {
        qsort_r(sorter->places, sorter->count, sizeof *sorter->places, compare_places, sorter);
    }
    return spill_may_go_on(sorter->spill, why);
}

static size_t
size_at(const struct sorter *sorter, size_t place)
{
    return sizeof(uint64_t) + record_at(sorter, place)[-1];
}

/* Only the first `most` of these can be among the first of all; they move to the front. */
static enum status
cut(struct sorter *sorter, struct reason *why)
{
    TRY(sort(sorter, why));
    sorter->count = sorter->most < sorter->count ? (size_t)sorter->most : sorter->count;
    char *bytes = memory_alloc(sorter->bytes_room);
    sorter->filled = 0;
    for (size_t i = 0; i < sorter->count; i++) {
        const size_t size = size_at(sorter, sorter->places[i]);
        memcpy(bytes + sorter->filled, sorter->bytes + sorter->places[i], size);
        sorter->places[i] = sorter->filled;
        sorter->filled += size;
    }
    free(sorter->bytes);
    sorter->bytes = bytes;
    sorter->bounded = sorter->most > 0 && sorter->count == sorter->most;
    return STATUS_OK;
}

const uint64_t *
sorter_bound(const struct sorter *sorter)
{
    return sorter->bounded ? record_at(sorter, sorter->places[sorter->most - 1]) : NULL;
}

enum status
sorter_flush(struct sorter *sorter, struct reason *why)
{
    if (sorter->count == 0) {
        free_memory(sorter);
        return STATUS_OK;
    }
    TRY(sort(sorter, why));
    if (sorter->run_count == sorter->run_room) {
        sorter->run_room = sorter->run_room ? sorter->run_room * 2 : 8;
        sorter->runs = memory_resize(sorter->runs, sorter->run_room, sizeof *sorter->runs);
    }
    struct sorter_run *run = &sorter->runs[sorter->run_count++];
    *run = (struct sorter_run){0};
    spill_list_init(&run->list, sorter->spill, WRITE_BYTES);
    for (size_t i = 0; i < sorter->count && i < sorter->most; i++) {
        const size_t place = sorter->places[i];
        TRY(spill_list_write(&run->list, sorter->bytes + place, size_at(sorter, place), why));
    }
    free_memory(sorter);
    return spill_list_finish(&run->list, why);
}

/* Room for one record more. What does not fit is dropped if it can be, else sorted away into a
 * file, but for the first record, which must. */
static enum status
make_room(struct sorter *sorter, size_t size, struct reason *why)
{
    size_t bytes = sorter->bytes_room ? sorter->bytes_room : ROOM_LEAST;
    size_t places = sorter->places_room ? sorter->places_room : ROOM_LEAST / 64;
    while (bytes - sorter->filled < size) {
        bytes *= 2;
    }
    places *= places == sorter->count ? 2 : 1;
    const size_t more =
        bytes - sorter->bytes_room + (places - sorter->places_room) * sizeof *sorter->places;
    if (more == 0) {
        return STATUS_OK;
    }
    if (sorter->count && !spill_may_take(sorter->spill, more)) {
        TRY(sorter->count / 2 > sorter->most ? cut(sorter, why) : sorter_flush(sorter, why));
        return make_room(sorter, size, why);
    }
    TRY(memory_take(sorter->spill->account, more, sorter->what, why));
    sorter->bytes = memory_resize(sorter->bytes, bytes, 1);
    sorter->places = memory_resize(sorter->places, places, sizeof *sorter->places);
    sorter->bytes_room = bytes;
    sorter->places_room = places;
    return STATUS_OK;
}

enum status
sorter_add(struct sorter *sorter, const uint64_t *record, size_t words, struct reason *why)
{
    const uint64_t size = words * sizeof *record;
    if (sorter->most < SIZE_MAX / 4 && sorter->count >= CUT_AT_LEAST &&
        sorter->count >= 2 * sorter->most) {
        TRY(cut(sorter, why));
    }
    TRY(make_room(sorter, sizeof size + size, why));
    sorter->places[sorter->count++] = sorter->filled;
    memcpy(sorter->bytes + sorter->filled, &size, sizeof size);
    memcpy(sorter->bytes + sorter->filled + sizeof size, record, size);
    sorter->filled += sizeof size + size;
    return STATUS_OK;
}

/* ---- merging ---- */

static enum status
next_of_run(struct sorter *sorter, struct sorter_run *run, struct reason *why)
{
    uint64_t size;
    TRY(spill_read(&run->reader, &size, sizeof size, &run->ended, why));
    if (run->ended) {
        return STATUS_OK;
    }
    if (sizeof size + size > run->room) {
        const size_t room = 2 * (sizeof size + size);
        TRY(memory_take(sorter->spill->account, room - run->room, sorter->what, why));
        run->record = memory_resize(run->record, room, 1);
        run->room = room;
    }
    *run->record = size;
    return spill_read(&run->reader, run->record + 1, size, &run->ended, why);
}

static bool
is_before(const void *heap, size_t a, size_t b)
{
    const struct sorter *sorter = heap;
    return sorter->compare(sorter->context, sorter->runs[sorter->heap[a]].record + 1,
                           sorter->runs[sorter->heap[b]].record + 1) < 0;
}

static void
swap_runs(void *heap, size_t a, size_t b)
{
    struct sorter *sorter = heap;
    const size_t run = sorter->heap[a];
    sorter->heap[a] = sorter->heap[b];
    sorter->heap[b] = run;
}

static void
sink(struct sorter *sorter, size_t at)
{
    heap_sink(sorter, sorter->heap_count, at, is_before, swap_runs);
}

static size_t
fan(const struct sorter *sorter)
{
    const size_t runs = sorter->spill->share / 4 / READ_LEAST;
    return runs < FAN_LEAST ? FAN_LEAST : runs > FAN_MOST ? FAN_MOST : runs;
}

/* A heap of the runs from first_run to before last. */
static enum status
open_runs(struct sorter *sorter, size_t last, struct reason *why)
{
    const size_t share = sorter->spill->share / 4 / (last - sorter->first_run);
    const size_t bytes = share < READ_LEAST ? READ_LEAST : share > READ_MOST ? READ_MOST : share;
    sorter->heap = memory_resize(sorter->heap, last - sorter->first_run, sizeof *sorter->heap);
    sorter->heap_count = 0;
    for (size_t i = sorter->first_run; i < last; i++) {
        struct sorter_run *run = &sorter->runs[i];
        spill_reader_init(&run->reader, &run->list, bytes);
        TRY(next_of_run(sorter, run, why));
        if (!run->ended) {
            sorter->heap[sorter->heap_count++] = i;
        }
    }
    for (size_t i = sorter->heap_count / 2; i-- > 0;) {
        sink(sorter, i);
    }
    return STATUS_OK;
}

static enum status
advance(struct sorter *sorter, struct reason *why)
{
    struct sorter_run *run = &sorter->runs[sorter->heap[0]];
    TRY(next_of_run(sorter, run, why));
    if (run->ended) {
        close_run(sorter, run);
        sorter->heap[0] = sorter->heap[--sorter->heap_count];
    }
    sink(sorter, 0);
    return STATUS_OK;
}

/* Makes one run of the first ones. */
static enum status
merge_some(struct sorter *sorter, size_t count, struct reason *why)
{
    const size_t last = sorter->first_run + count;
    struct sorter_run merged = {0};
    spill_list_init(&merged.list, sorter->spill, WRITE_BYTES);
    enum status status = open_runs(sorter, last, why);
    while (status == STATUS_OK && sorter->heap_count) {
        const uint64_t *record = sorter->runs[sorter->heap[0]].record;
        status = spill_list_write(&merged.list, record, sizeof *record + *record, why);
        status = status == STATUS_OK ? advance(sorter, why) : status;
    }
    status = status == STATUS_OK ? spill_list_finish(&merged.list, why) : status;
    if (status != STATUS_OK) {
        close_run(sorter, &merged);
        return status;
    }
    sorter->first_run = last;
    if (sorter->run_count == sorter->run_room) {
        sorter->run_room *= 2;
        sorter->runs = memory_resize(sorter->runs, sorter->run_room, sizeof *sorter->runs);
    }
    sorter->runs[sorter->run_count++] = merged;
    return STATUS_OK;
}

enum status
sorter_end(struct sorter *sorter, struct reason *why)
{
    sorter->ended = true;
    sorter->given = 0;
    if (sorter->run_count == 0) {
        sorter->bounded = sorter->most > 0 && sorter->count >= sorter->most;
        return sort(sorter, why);
    }
    TRY(sorter_flush(sorter, why));
    const size_t most = fan(sorter);
    while (sorter->run_count - sorter->first_run > most) {
        const size_t over = sorter->run_count - sorter->first_run - most + 1;
        TRY(merge_some(sorter, over < most ? over : most, why));
    }
    return open_runs(sorter, sorter->run_count, why);
}

enum status
sorter_next(struct sorter *sorter, const uint64_t **record, struct reason *why)
{
    *record = NULL;
    if (sorter->given >= sorter->most) {
        return STATUS_OK;
    }
    if (sorter->run_count == 0) {
        if (sorter->given < sorter->count) {
            *record = record_at(sorter, sorter->places[sorter->given++]);
        }
        return STATUS_OK;
    }
    if (sorter->advance) {
        sorter->advance = false;
        TRY(advance(sorter, why));
    }
    if (sorter->heap_count) {
        *record = sorter->runs[sorter->heap[0]].record + 1;
        sorter->advance = true;
        sorter->given++;
    }
    return STATUS_OK;
}
