#include "store/line_sort.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "store/sorter.h"

enum { MEMORY_LEAST = 1 << 20 };

struct line_sort {
    char *folder;
    struct memory_account account;
    struct spill spill;
    struct sorter sorter;
    uint64_t *record; /* the line's length in bytes, and its bytes, as words */
    size_t room;
};

static int
compare_lines(void *context, const uint64_t *a, const uint64_t *b)
{
    (void)context;
    return slice_compare(slice_of((const char *)(a + 1), *a), slice_of((const char *)(b + 1), *b));
}

struct line_sort *
line_sort_new(const char *folder, size_t memory)
{
    struct line_sort *sort = memory_new(sizeof(*sort));
    sort->folder = memory_string(folder);
    (void)mkdir(folder, 0700);        /* if it cannot be made, opening a file in it says so */
    sort->account.maximum = SIZE_MAX; /* one line may be longer than its share */
    spill_init(&sort->spill, &sort->account, sort->folder, UINT64_MAX);
    sort->spill.share = memory < MEMORY_LEAST ? MEMORY_LEAST : memory;
    sorter_init(&sort->sorter, &sort->spill, "lines", compare_lines, NULL, UINT64_MAX);
    return sort;
}

void
line_sort_free(struct line_sort *sort)
{
    if (sort != NULL) {
        sorter_release(&sort->sorter);
        spill_release(&sort->spill);
        free(sort->record);
        free(sort->folder);
        free(sort);
    }
}

enum status
line_sort_add(struct line_sort *sort, struct slice line, struct reason *why)
{
    const size_t words = 1 + (line.length + sizeof(uint64_t) - 1) / sizeof(uint64_t);
    if (words > sort->room) {
        sort->room = 2 * words;
        sort->record = memory_resize(sort->record, sort->room, sizeof(*sort->record));
    }
    sort->record[words - 1] = 0; /* what fills up the last word */
    sort->record[0] = line.length;
    if (line.length > 0) {
        memcpy(sort->record + 1, line.at, line.length);
    }
    return sorter_add(&sort->sorter, sort->record, words, why);
}

enum status
line_sort_finish(struct line_sort *sort, struct reason *why)
{
    return sorter_end(&sort->sorter, why);
}

enum status
line_sort_next(struct line_sort *sort, struct slice *line, struct reason *why)
{
    const uint64_t *record;
    TRY(sorter_next(&sort->sorter, &record, why));
    if (record == NULL) {
        return STATUS_END;
    }
    *line = slice_of((const char *)(record + 1), *record);
    return STATUS_OK;
}
