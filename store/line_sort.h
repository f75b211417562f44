/* Sorting lines, more than memory holds (store/sorter.h). Order is that of bytes (slice_compare).
 * One thread per sort. */
#ifndef STORE_LINE_SORT_H
#define STORE_LINE_SORT_H

#include "base/slice.h"
#include "base/status.h"

struct line_sort;

/* folder: where runs go; made when missing. memory: bytes, at least a few MiB. */
struct line_sort *line_sort_new(const char *folder, size_t memory);
void line_sort_free(struct line_sort *sort);
/* Copies the line. FULL when the disk is. */
enum status line_sort_add(struct line_sort *sort, struct slice line, struct reason *why);
/* After the last line. */
enum status line_sort_finish(struct line_sort *sort, struct reason *why);
/* The next line in order; lives until the next call. END. */
enum status line_sort_next(struct line_sort *sort, struct slice *line, struct reason *why);

#endif
