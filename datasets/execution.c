#include "datasets/execution.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"

enum { NAME_BYTES = 100 };

/* Room for one more item; arrays whose count is a power of two are full. */
static void *
grown(void *items, size_t count, size_t size, struct arena *arena)
{
    if ((count & (count - 1)) != 0) {
        return items;
    }
    void *larger = arena_zero(arena, (count > 0 ? 2 * count : 1) * size);
    if (larger != NULL && count > 0) {
        memcpy(larger, items, count * size);
    }
    return larger;
}

bool
slices_add(struct slices *slices, struct slice slice, struct arena *arena)
{
    struct slice *items = grown(slices->items, slices->count, sizeof *items, arena);
    if (items == NULL) {
        return false;
    }
    slices->items = items;
    items[slices->count++] = slice;
    return true;
}

bool
execution_add_space(struct execution *execution, struct slice prefix, enum slicing slicing,
                    struct arena *arena)
{
    for (size_t i = 0; i < prefix.length; i++) {
        if ((unsigned char)prefix.at[i] <= ' ') {
            return true; /* no IRI: it would be two words, or two lines */
        }
    }
    struct slice_space *spaces =
        grown(execution->spaces, execution->space_count, sizeof *spaces, arena);
    if (spaces == NULL) {
        return false;
    }
    execution->spaces = spaces;
    spaces[execution->space_count++] = (struct slice_space){.prefix = prefix, .slicing = slicing};
    return true;
}

static void
append_line(struct buf *text, const char *word, struct slice value)
{
    if (value.length > 0 && memchr(value.at, '\n', value.length) == NULL) {
        buf_printf(text, "%s ", word);
        buf_append_slice(text, value);
        buf_append_char(text, '\n');
    }
}

static void
append_lines(struct buf *text, const char *word, const struct slices *slices)
{
    for (size_t i = 0; i < slices->count; i++) {
        append_line(text, word, slices->items[i]);
    }
}

void
execution_encode(const struct execution *execution, struct buf *text)
{
    append_line(text, "dataset", execution->dataset);
    append_line(text, "label", execution->label);
    append_line(text, "description", execution->description);
    append_line(text, "way", execution->way);
    append_line(text, "why", execution->why);
    append_line(text, "authority", execution->authority);
    append_line(text, "endpoint", execution->endpoint ? SLICE("yes") : SLICE(""));
    append_line(text, "graphs", execution->graphs ? SLICE("yes") : SLICE(""));
    append_lines(text, "dump", &execution->dumps);
    append_lines(text, "sample", &execution->samples);
    append_lines(text, "own", &execution->own);
    append_lines(text, "other", &execution->other);
    for (size_t i = 0; i < execution->space_count; i++) {
        const struct slice_space *space = &execution->spaces[i];
        const char *method = slicing_name(space->slicing);
        buf_printf(text, "space %s %.*s\n", method[0] != '\0' ? method : "-",
                   SLICE_PRINT(space->prefix));
    }
    buf_printf(text, "depth %u\n%s", execution->depth,
               execution->provisional ? "provisional yes\n" : "");
}

bool
execution_line(struct slice *rest, struct slice *line)
{
    if (rest->length == 0) {
        return false;
    }
    const size_t end = slice_find(*rest, '\n');
    const size_t step = end < rest->length ? end + 1 : end;
    *line = slice_of(rest->at, end);
    *rest = slice_of(rest->at + step, rest->length - step);
    return true;
}

static bool
take_space(struct execution *execution, struct slice value, struct arena *arena)
{
    enum slicing slicing = SLICING_NONE;
    const struct slice method = slice_next_word(&value);
    (void)slicing_of_name(method, &slicing);
    return execution_add_space(execution, slice_trim(value), slicing, arena);
}

bool
execution_decode(struct slice text, struct arena *arena, struct execution *execution)
{
    struct slice line;
    *execution = (struct execution){0};
    const struct {
        const char *word;
        struct slice *value;
        struct slices *values;
    } words[] = {
        {"dataset", &execution->dataset, NULL},
        {"label", &execution->label, NULL},
        {"description", &execution->description, NULL},
        {"way", &execution->way, NULL},
        {"why", &execution->why, NULL},
        {"authority", &execution->authority, NULL},
        {"dump", NULL, &execution->dumps},
        {"sample", NULL, &execution->samples},
        {"own", NULL, &execution->own},
        {"other", NULL, &execution->other},
    };
    while (execution_line(&text, &line)) {
        const size_t blank = slice_find(line, ' ');
        const struct slice word = slice_of(line.at, blank);
        const struct slice value = slice_trim(slice_of(line.at + blank, line.length - blank));
        bool fits = true;
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            if (slice_is(word, words[i].word) && words[i].value != NULL) {
                *words[i].value = value;
            } else if (slice_is(word, words[i].word)) {
                fits = slices_add(words[i].values, value, arena);
            }
        }
        if (slice_is(word, "space")) {
            fits = take_space(execution, value, arena);
        } else if (slice_is(word, "depth") && value.length > 0) {
            execution->depth = (unsigned)strtoul(value.at, NULL, 10);
        }
        execution->provisional |= slice_is(word, "provisional");
        execution->endpoint |= slice_is(word, "endpoint");
        execution->graphs |= slice_is(word, "graphs");
        if (!fits) {
            return false;
        }
    }
    return true;
}

static bool
begins_with_one(struct slice uri, const struct slices *prefixes)
{
    for (size_t i = 0; i < prefixes->count; i++) {
        if (slice_starts(uri, prefixes->items[i])) {
            return true;
        }
    }
    return false;
}

bool
execution_owns(const struct execution *execution, struct slice document)
{
    return begins_with_one(document, &execution->own) &&
           !begins_with_one(document, &execution->other);
}

void
execution_file_name(struct slice uri, struct buf *name)
{
    const struct slice path = slice_of(uri.at, slice_find(uri, '?'));
    const char *slash = path.length > 0 ? memrchr(path.at, '/', path.length) : NULL;
    struct slice end =
        slash != NULL ? slice_of(slash + 1, (size_t)(path.at + path.length - slash - 1)) : path;
    if (end.length > NAME_BYTES) {
        end = slice_of(end.at + end.length - NAME_BYTES, NAME_BYTES);
    }
    buf_printf(name, "%016llx-", (unsigned long long)fingerprint64(uri));
    for (size_t i = 0; i < end.length; i++) {
        const unsigned char c = (unsigned char)end.at[i];
        buf_append_char(name, isalnum(c) || c == '.' || c == '-' ? (char)c : '_');
    }
}
