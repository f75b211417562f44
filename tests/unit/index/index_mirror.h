/* Applies lines of the stream CHANGES to the lines of a dump, and fails where they do not fit:
 * shared by the tests of the change log. */
#ifndef TESTS_UNIT_INDEX_INDEX_MIRROR_H
#define TESTS_UNIT_INDEX_INDEX_MIRROR_H

#include "index/changes/change_position.h"
#include "tests/unit/index/index_fixture.h"

enum { MIRROR_MAXIMUM = 1 << 26 };

/* Lines in byte order, and the position that they are as of. */
struct mirror {
    struct buf lines, next;
    struct change_position position;
};

static inline int
compare_lines(const void *a, const void *b)
{
    const struct slice *left = a;
    const struct slice *right = b;
    return slice_compare(*left, *right);
}

static inline size_t
split(struct slice text, struct slice **lines)
{
    size_t count = 0;
    *lines = calloc(text.length + 1, sizeof(struct slice));
    while (text.length > 0) {
        const size_t end = slice_find(text, '\n') + 1;
        (*lines)[count++] = slice_of(text.at, end);
        text = slice_of(text.at + end, text.length - end);
    }
    return count;
}

/* Takes the changes up to the line C; returns what follows it. */
static inline struct slice
apply_batch(struct mirror *mirror, struct slice text)
{
    struct buf removed, added;
    buf_init(&removed, MIRROR_MAXIMUM);
    buf_init(&added, MIRROR_MAXIMUM);
    size_t end = slice_find(text, '\n') + 1;
    assert_int_equal(text.at[0], 'B');
    for (;;) {
        text = slice_of(text.at + end, text.length - end);
        end = slice_find(text, '\n') + 1;
        if (text.at[0] == 'C') {
            break;
        }
        if (text.at[0] != 'G') {
            (void)buf_append(text.at[0] == '-' ? &removed : &added, text.at + 1, end - 1);
        }
    }
    assert_true(change_position_get(slice_of(text.at + 2, end - 3), &mirror->position));
    struct slice *gone, *old;
    const size_t gone_count = split(buf_slice(&removed), &gone);
    qsort(gone, gone_count, sizeof(*gone), compare_lines);
    const size_t old_count = split(buf_slice(&mirror->lines), &old);
    size_t found = 0;
    for (size_t i = 0; i < old_count; i++) {
        if (bsearch(&old[i], gone, gone_count, sizeof(*gone), compare_lines) != NULL) {
            found++;
        } else {
            (void)buf_append_slice(&added, old[i]);
        }
    }
    assert_int_equal(found, gone_count); /* only what is there is removed */
    struct slice *new;
    const size_t new_count = split(buf_slice(&added), &new);
    qsort(new, new_count, sizeof(*new), compare_lines);
    buf_reset(&mirror->next);
    for (size_t i = 0; i < new_count; i++) {
        assert_true(i == 0 || slice_compare(new[i - 1], new[i]) != 0); /* only new ones come */
        (void)buf_append_slice(&mirror->next, new[i]);
    }
    const struct buf swap = mirror->lines;
    mirror->lines = mirror->next;
    mirror->next = swap;
    free(gone);
    free(old);
    free(new);
    buf_release(&removed);
    buf_release(&added);
    return slice_of(text.at + end, text.length - end);
}

static inline void
mirror_init(struct mirror *mirror)
{
    *mirror = (struct mirror){0};
    buf_init(&mirror->lines, MIRROR_MAXIMUM);
    buf_init(&mirror->next, MIRROR_MAXIMUM);
}

static inline void
mirror_release(struct mirror *mirror)
{
    buf_release(&mirror->lines);
    buf_release(&mirror->next);
}

#endif
