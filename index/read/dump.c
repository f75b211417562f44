#include "index/read/dump.h"

#include <sched.h>

#include "index/read/quad_text.h"
#include "store/line_sort.h"

enum { PIECE = 256 << 10 };

static enum status
sort_line(void *context, struct slice line, struct reason *why)
{
    return line_sort_add(context, line, why);
}

/* Lines leave in pieces of whole lines. */
static enum status
write_sorted(struct line_sort *sort, dump_piece *piece, void *context, struct reason *why)
{
    struct buf bytes;
    buf_init(&bytes, SIZE_MAX / 2);
    struct slice line;
    enum status status;
    while ((status = line_sort_next(sort, &line, why)) == STATUS_OK) {
        (void)buf_append_slice(&bytes, line);
        if (bytes.length >= PIECE) {
            status = piece(context, buf_slice(&bytes), why);
            buf_reset(&bytes);
        }
        if (status != STATUS_OK) {
            break;
        }
    }
    if (status == STATUS_END) {
        status = bytes.length > 0 ? piece(context, buf_slice(&bytes), why) : STATUS_OK;
    }
    buf_release(&bytes);
    return status;
}

static enum status
write_position(struct partition_reader *reader, dump_piece *piece, void *context,
               struct reason *why)
{
    struct change_position position;
    struct buf line;
    while (partition_reader_position(reader, &position) != STATUS_OK) {
        (void)sched_yield();
        partition_reader_renew(reader);
    }
    buf_init(&line, PIECE);
    (void)buf_append_string(&line, "position\t");
    change_position_put(&line, &position);
    (void)buf_append_char(&line, '\n');
    const enum status status = piece(context, buf_slice(&line), why);
    buf_release(&line);
    return status;
}

enum status
partition_dump(struct partition *partition, bool with_position, const char *scratch_folder,
               size_t sort_memory, dump_piece *piece, void *context, struct reason *why)
{
    struct partition_reader *reader;
    TRY(partition_reader_open(&reader, partition, why));
    const struct quad_oids all = {0};
    struct line_sort *sort = line_sort_new(scratch_folder, sort_memory);
    enum status status = with_position ? write_position(reader, piece, context, why) : STATUS_OK;
    if (status == STATUS_OK) {
        status =
            quad_lines(partition_reader_source(reader), &all, ORDER_CSPO, 0, sort_line, sort, why);
    }
    partition_reader_close(reader);
    if (status == STATUS_OK) {
        status = line_sort_finish(sort, why);
    }
    if (status == STATUS_OK) {
        status = write_sorted(sort, piece, context, why);
    }
    line_sort_free(sort);
    return status;
}
