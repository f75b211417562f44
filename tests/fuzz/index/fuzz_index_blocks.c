/* Damaged blocks, requests and lists of queries: read without harm, and what is read as good rows
 * or terms is written and read again as the same. */
#include <stdlib.h>
#include <string.h>

#include "index/protocol/service_protocol.h"
#include "index/quads/rows.h"
#include "index/read/links.h"
#include "index/terms/term_blocks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A block without every third of its rows, by splicing, has the others. */
static void
try_splicing(enum quad_order order, const struct row *rows, size_t count, const uint8_t *data,
             size_t size)
{
    static struct row_change changes[ROWS_BLOCK_MOST];
    static struct row left[ROWS_BLOCK_MOST];
    static uint8_t block[4 * BLOCK_MAXIMUM * 20];
    struct rows_writer writer;
    size_t removed = 0, back = 0;
    for (size_t i = 0; i < count; i += 3) {
        changes[removed++] = (struct row_change){rows[i], true};
    }
    rows_begin(&writer, order, block, sizeof(block) - ROW_BYTES_MOST);
    if (rows_splice(data, size, changes, removed, &writer, NULL) != STATUS_OK) {
        abort();
    }
    const size_t length = rows_end(&writer);
    if (length > ROWS_HEADER && rows_read(order, block, length, left, &back, NULL) != STATUS_OK) {
        abort();
    }
    if (back != count - removed) {
        abort();
    }
    for (size_t i = 0; i < back; i++) {
        if (row_compare(&left[i], &rows[i / 2 * 3 + 1 + i % 2]) != 0) {
            abort();
        }
    }
}

static void
try_rows(enum quad_order order, const uint8_t *data, size_t size)
{
    static struct row rows[ROWS_BLOCK_MOST], again[ROWS_BLOCK_MOST];
    static uint8_t block[4 * BLOCK_MAXIMUM * 20];
    size_t count, back;
    if (rows_read(order, data, size, rows, &count, NULL) != STATUS_OK) {
        return;
    }
    struct rows_writer writer;
    rows_begin(&writer, order, block, sizeof(block) - ROW_BYTES_MOST);
    for (size_t i = 0; i < count; i++) {
        if (!rows_add(&writer, &rows[i])) {
            abort();
        }
    }
    const size_t length = count > 0 ? rows_end(&writer) : 0;
    if (rows_read(order, block, length, again, &back, NULL) != STATUS_OK || back != count ||
        memcmp(rows, again, count * sizeof(rows[0])) != 0) {
        abort();
    }
    if (count > 0) {
        try_splicing(order, rows, count, data, size);
    }
}

static void
try_terms(const uint8_t *data, size_t size)
{
    struct term_block_reader reader;
    term_block_open(&reader, data, size);
    while (term_block_next(&reader)) {
    }
}

static void
try_requests(const uint8_t *data, size_t size)
{
    struct codec_reader in = codec_reader_of(slice_of((const char *)data, size));
    struct quad pattern;
    (void)index_get_pattern(&in, &pattern);
    struct links *links;
    if (links_open(&links, slice_of((const char *)data, size), NULL) == STATUS_OK) {
        links_close(links);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    const unsigned kind = data[0] % (ORDER_COUNT + 2);
    if (kind < ORDER_COUNT) {
        try_rows((enum quad_order)kind, data + 1, size - 1);
    } else if (kind == ORDER_COUNT) {
        try_terms(data + 1, size - 1);
    } else {
        try_requests(data + 1, size - 1);
    }
    return 0;
}
