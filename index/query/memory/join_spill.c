#include "index/query/memory/join_spill.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { PART_BYTES = 8 << 10, ROWS_LEAST = 64 };

void
join_spill_init(struct join_spill *join, struct spill *spill, size_t keys, size_t stored_width,
                size_t row_width)
{
    *join = (struct join_spill){
        .spill = spill, .keys = keys, .stored_width = stored_width, .row_width = row_width};
    for (size_t i = 0; i < JOIN_PARTS; i++) {
        spill_list_init(&join->built[i], spill, PART_BYTES);
        spill_list_init(&join->input[i], spill, PART_BYTES);
    }
    row_table_init(&join->rows, spill->account, "joins", keys + row_width, keys);
    join->stored = memory_alloc(stored_width * sizeof *join->stored);
    join->wide = memory_alloc((keys + row_width) * sizeof *join->wide);
}

static void
forget_rows(struct join_spill *join)
{
    row_table_release(&join->rows);
    memory_give(join->spill->account, join->matched_room);
    free(join->matched);
    join->matched = NULL;
    join->matched_room = 0;
}

void
join_spill_restart(struct join_spill *join)
{
    spill_reader_release(&join->input_reader);
    spill_reader_release(&join->built_reader);
    for (size_t i = 0; i < JOIN_PARTS; i++) {
        spill_list_release(&join->input[i]);
    }
    forget_rows(join);
    join->part = 0;
    join->loaded = join->input_open = false;
}

void
join_spill_release(struct join_spill *join)
{
    join_spill_restart(join);
    for (size_t i = 0; i < JOIN_PARTS; i++) {
        spill_list_release(&join->built[i]);
    }
    free(join->stored);
    free(join->wide);
}

/* Another hash than that of the tables, whose places a part would fill unevenly. */
static size_t
part_of(const struct join_spill *join, const oid *keys)
{
    return hash_bytes(1, keys, join->keys * sizeof *keys) % JOIN_PARTS;
}

enum status
join_spill_build(struct join_spill *join, const oid *stored, struct reason *why)
{
    return spill_list_write(&join->built[part_of(join, stored)], stored,
                            join->stored_width * sizeof *stored, why);
}

enum status
join_spill_built(struct join_spill *join, struct reason *why)
{
    for (size_t i = 0; i < JOIN_PARTS; i++) {
        TRY(spill_list_finish(&join->built[i], why));
    }
    return STATUS_OK;
}

enum status
join_spill_input(struct join_spill *join, const oid *keys, const oid *row, struct reason *why)
{
    struct spill_list *part = &join->input[part_of(join, keys)];
    TRY(spill_list_write(part, keys, join->keys * sizeof *keys, why));
    return spill_list_write(part, row, join->row_width * sizeof *row, why);
}

enum status
join_spill_begin(struct join_spill *join, struct reason *why)
{
    for (size_t i = 0; i < JOIN_PARTS; i++) {
        TRY(spill_list_finish(&join->input[i], why));
    }
    return STATUS_OK;
}

static enum status
mark_room(struct join_spill *join, struct reason *why)
{
    if (join->rows.room > join->matched_room) {
        TRY(memory_take(join->spill->account, join->rows.room - join->matched_room, "joins", why));
        join->matched = memory_resize(join->matched, join->rows.room, 1);
        join->matched_room = join->rows.room;
    }
    if (join->rows.count) {
        memset(join->matched, 0, join->rows.count);
    }
    return STATUS_OK;
}

/* Loads as many input rows of the part as there is room for, and none when it is done. */
static enum status
load_rows(struct join_spill *join, struct reason *why)
{
    const size_t bytes = (join->keys + join->row_width) * sizeof(oid);
    bool end = false;
    if (!join->input_open) {
        spill_reader_init(&join->input_reader, &join->input[join->part], PART_BYTES);
        join->input_open = true;
    }
    row_table_reset(&join->rows);
    while (join->rows.count < ROWS_LEAST ||
           spill_may_take(join->spill, row_table_growth(&join->rows))) {
        TRY(spill_read(&join->input_reader, join->wide, bytes, &end, why));
        if (end) {
            break;
        }
        TRY(row_table_add(&join->rows, join->wide, why));
    }
    TRY(mark_room(join, why));
    spill_reader_release(&join->built_reader);
    spill_reader_init(&join->built_reader, &join->built[join->part], PART_BYTES);
    join->loaded = true;
    join->read = false;
    join->row = SIZE_MAX;
    join->unmatched = 0;
    return STATUS_OK;
}

static void
next_part(struct join_spill *join)
{
    spill_reader_release(&join->input_reader);
    spill_list_release(&join->input[join->part]);
    join->input_open = join->loaded = false;
    join->part++;
}

/* Goes to the next pair; join->read when there is none in what is loaded. */
static enum status
advance(struct join_spill *join, struct reason *why)
{
    if (join->row != SIZE_MAX) {
        join->row = row_table_next(&join->rows, join->stored, join->row);
    }
    while (join->row == SIZE_MAX) {
        TRY(spill_read(&join->built_reader, join->stored, join->stored_width * sizeof *join->stored,
                       &join->read, why));
        if (join->read) {
            return STATUS_OK;
        }
        join->row = row_table_find(&join->rows, join->stored);
    }
    return STATUS_OK;
}

enum status
join_spill_next(struct join_spill *join, const oid **row, const oid **stored, uint8_t **matched,
                struct reason *why)
{
    *row = *stored = NULL;
    *matched = NULL;
    for (;;) {
        if (!join->loaded) {
            if (join->part == JOIN_PARTS) {
                return STATUS_OK;
            }
            TRY(load_rows(join, why));
            if (join->rows.count == 0) {
                next_part(join);
                continue;
            }
        }
        if (!join->read) {
            TRY(advance(join, why));
            if (!join->read) {
                *row = row_table_row(&join->rows, join->row) + join->keys;
                *stored = join->stored;
                *matched = &join->matched[join->row];
                return STATUS_OK;
            }
        }
        while (join->unmatched < join->rows.count) {
            const size_t at = join->unmatched++;
            if (!join->matched[at]) {
                *row = row_table_row(&join->rows, at) + join->keys;
                return STATUS_OK;
            }
        }
        join->loaded = false;
    }
}
