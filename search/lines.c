/* Finds the statements that have the words. */
#include <stdlib.h>

#include "base/memory.h"
#include "rdf/core/writer.h"
#include "search/find.h"

/* A search looks through so many lines where filters may leave few of them. */
enum { LOOKED_THROUGH = 100000, LINE_BYTES = 64 << 20 };

static int
compare_scores(const void *a, const void *b)
{
    const struct find_row *left = *(const struct find_row *const *)a,
                          *right = *(const struct find_row *const *)b;
    if (left->score != right->score) {
        return left->score < right->score ? 1 : -1;
    }
    return quad_compare(&left->quad, &right->quad);
}

static enum status
put_row(const struct find_row *row, index_piece *piece, void *context, struct reason *why)
{
    const struct quad *quad = &row->quad;
    const struct term *terms[] = {&quad->object, &quad->subject, &quad->predicate, &quad->graph};
    struct buf line;
    buf_init(&line, LINE_BYTES);
    (void)buf_printf(&line, "%.4f", row->score);
    for (size_t i = 0; i < 4; i++) {
        (void)buf_append_char(&line, '\t');
        (void)nquads_write_term(&line, terms[i]);
    }
    (void)buf_append_char(&line, '\n');
    const enum status status = piece(context, buf_slice(&line), why);
    buf_release(&line);
    return status;
}

static enum status
put_rows(const struct find_results *results, uint32_t limit, index_piece *piece, void *context,
         struct reason *why)
{
    const struct find_row **rows = memory_alloc((results->row_count + 1) * sizeof *rows);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < results->row_count; i++) {
        rows[i] = &results->rows[i];
    }
    qsort(rows, results->row_count, sizeof *rows, compare_scores);
    for (size_t i = 0; i < results->row_count && i < limit && status == STATUS_OK; i++) {
        status = put_row(rows[i], piece, context, why);
    }
    free(rows);
    return status;
}

enum status
find_lines(const struct find_access *access, struct slice words, uint32_t limit, index_piece *piece,
           void *context, bool *cut, struct reason *why)
{
    static const struct find_weights plain = {.label = 1, .rest = 0, .host = 1};
    const struct find_request request = {
        .text = words, .rows = LOOKED_THROUGH, .weights = &plain, .group = FIND_BY_RESOURCE};
    struct find_results results;
    struct find_filters filters;
    struct arena arena;
    *cut = false;
    arena_init(&arena, 0);
    find_filters_init(&filters);
    enum status status = find_filters_read(&filters, words, false, &arena, why);
    const bool filtered = filters.count > 0;
    find_filters_release(&filters);
    arena_release(&arena);
    if (status != STATUS_OK || !filtered) {
        return status == STATUS_OK ? index_search(access->index, words, limit, piece, context, why)
                                   : status;
    }
    status = find_run(access, &request, &results, why);
    if (status == STATUS_OK) {
        *cut = results.at_least && results.row_count < limit;
        status = put_rows(&results, limit, piece, context, why);
    }
    find_release(&results);
    return status;
}
