#include "dumps/streaming.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "dumps/closure.h"
#include "rdf/core/writer.h"

enum { LINE_MAXIMUM = 1 << 28, VALUES_MOST = 64 << 20 };

void
streaming_init(struct streaming *streaming, struct buf *out)
{
    *streaming = (struct streaming){.out = out, .most = VALUES_MOST};
    buf_init(&streaming->line, LINE_MAXIMUM);
    buf_init(&streaming->values, SIZE_MAX / 2);
}

void
streaming_release(struct streaming *streaming)
{
    buf_release(&streaming->line);
    buf_release(&streaming->values);
    free(streaming->items);
}

/* ---- records ---- */

static bool
ends_with(struct slice text, const char *end)
{
    const size_t length = strlen(end);
    return text.length >= length && memcmp(text.at + text.length - length, end, length) == 0;
}

static void
put(struct streaming *streaming, struct slice key, const char *kind, struct slice value)
{
    buf_append_slice(streaming->out, key);
    buf_append_char(streaming->out, '\t');
    buf_append_string(streaming->out, kind);
    buf_append_slice(streaming->out, value);
    if (!ends_with(value, "\n")) {
        buf_append_char(streaming->out, '\n');
    }
}

static const struct slice_space *
space_of(const struct streaming *streaming, struct slice iri)
{
    return iri.length > 0 ? slice_space_of(streaming->spaces, streaming->count, iri) : NULL;
}

/* Tells whether a resource has the triples that begin with it (backwards: that end with it). */
static bool
takes(const struct slice_space *space, bool backwards)
{
    return space != NULL &&
           (!backwards || (space->slicing != SLICING_SUBJECT && space->slicing != SLICING_CBD));
}

/* ---- mapping ---- */

/* A triple of the resource at one end; what it wants of the blank node at the other. */
static void
map_end(struct streaming *streaming, const struct slice_space *space, struct slice iri,
        struct slice other, bool backwards)
{
    struct buf document;
    buf_init(&document, LINE_MAXIMUM);
    slice_document(space, slice_key(iri), &document);
    put(streaming, buf_slice(&document), "", buf_slice(&streaming->line));
    if (space->slicing >= SLICING_CBD && token_is_blank(other)) {
        put(streaming, other,
            space->slicing == SLICING_MSG ? "M "
            : backwards                   ? "B "
                                          : "F ",
            buf_slice(&document));
    }
    buf_release(&document);
}

static bool
follows_blank_nodes(const struct streaming *streaming)
{
    for (size_t i = 0; i < streaming->count; i++) {
        if (streaming->spaces[i].slicing >= SLICING_CBD) {
            return true;
        }
    }
    return false;
}

static enum status
write_line(struct streaming *streaming, const struct quad *quad, struct reason *why)
{
    const struct term *terms[3] = {&quad->subject, &quad->predicate, &quad->object};
    struct buf *line = &streaming->line;
    buf_reset(line);
    for (size_t i = 0; i < 3; i++) {
        if (terms[i]->kind == TERM_BLANK) {
            buf_append_string(line, "_:");
            buf_append_slice(line, streaming->label);
            buf_append_slice(line, terms[i]->value);
        } else {
            nquads_write_term(line, terms[i]);
        }
        buf_append_char(line, ' ');
    }
    buf_append_string(line, ".\n");
    return line->overflowed
               ? status_fail(why, STATUS_LIMIT, "a statement of more than %d bytes", LINE_MAXIMUM)
               : STATUS_OK;
}

enum status
streaming_map(struct streaming *streaming, const struct quad *quad, struct reason *why)
{
    TRY(write_line(streaming, quad, why));
    const struct triple_line triple = triple_line_of(buf_slice(&streaming->line));
    if (quad->graph.kind == TERM_IRI) {
        put(streaming, slice_key(quad->graph.value), "", triple.line);
        return STATUS_OK;
    }
    const struct slice subject = token_iri(triple.subject), object = token_iri(triple.object);
    const struct slice_space *of_subject = space_of(streaming, subject),
                             *of_object = space_of(streaming, object);
    if (takes(of_subject, false)) {
        map_end(streaming, of_subject, subject, triple.object, false);
    }
    if (takes(of_object, true)) {
        map_end(streaming, of_object, object, triple.subject, true);
    }
    if (follows_blank_nodes(streaming)) {
        if (token_is_blank(triple.subject)) {
            put(streaming, triple.subject, "T ", triple.line);
        }
        if (token_is_blank(triple.object)) {
            put(streaming, triple.object, "U ", triple.line);
        }
    }
    return STATUS_OK;
}

/* ---- values of a key ---- */

enum status
streaming_value(struct streaming *streaming, struct slice value, struct reason *why)
{
    if (streaming->values.length + value.length > streaming->most) {
        return status_fail(why, STATUS_LIMIT, "the values of one key are more than %llu bytes",
                           (unsigned long long)streaming->most);
    }
    streaming->items = array_grow(streaming->items, streaming->item_count,
                                  &streaming->item_capacity, sizeof *streaming->items);
    /* Places are known when all are there: the buffer may move. */
    streaming->items[streaming->item_count++] = slice_of(NULL, value.length);
    buf_append_slice(&streaming->values, value);
    return STATUS_OK;
}

static int
compare_items(const void *a, const void *b)
{
    return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

/* In order, each once. */
static void
sort_values(struct streaming *streaming)
{
    const char *at = streaming->values.data;
    size_t count = 0;
    for (size_t i = 0; i < streaming->item_count; i++) {
        streaming->items[i].at = at;
        at += streaming->items[i].length;
    }
    qsort(streaming->items, streaming->item_count, sizeof *streaming->items, compare_items);
    for (size_t i = 0; i < streaming->item_count; i++) {
        if (count == 0 || !slice_equal(streaming->items[i], streaming->items[count - 1])) {
            streaming->items[count++] = streaming->items[i];
        }
    }
    streaming->item_count = count;
}

static void
forget_values(struct streaming *streaming)
{
    streaming->item_count = 0;
    buf_reset(&streaming->values);
}

/* ---- reducing ---- */

static bool
is_statement(struct slice line)
{
    return ends_with(line, " .") && (line.at[0] == '<' || line.at[0] == '_');
}

enum status
streaming_reduce(struct streaming *streaming, struct slice key, struct reason *why)
{
    const bool node = slice_starts(key, SLICE("_:"));
    sort_values(streaming);
    for (size_t i = 0; i < streaming->item_count && !node; i++) {
        const struct slice line = streaming->items[i];
        if (!is_statement(line)) {
            return status_fail(why, STATUS_BAD_INPUT, "%.*s: this is no triple: %.*s",
                               SLICE_PRINT(key), SLICE_PRINT(line));
        }
        buf_append_slice(streaming->out, slice_of(line.at, line.length - 1));
        buf_append_char(streaming->out, '<');
        buf_append_slice(streaming->out, key);
        buf_append_string(streaming->out, "> .\n");
    }
    forget_values(streaming);
    return STATUS_OK;
}

/* ---- following ---- */

/* Gives the document what it wants of this node: lines to it, wants to the nodes at their other
 * ends. */
static void
give(struct streaming *streaming, char want, struct slice document)
{
    const char kind[] = {want, ' ', '\0'};
    for (size_t i = 0; i < streaming->item_count; i++) {
        const struct slice item = streaming->items[i];
        const bool forward = item.at[0] == 'T', backward = item.at[0] == 'U';
        if (!(forward && want != 'B') && !(backward && want != 'F')) {
            continue;
        }
        buf_reset(&streaming->line);
        buf_append(&streaming->line, item.at + 2, item.length - 2);
        buf_append_char(&streaming->line, '\n');
        const struct triple_line triple = triple_line_of(buf_slice(&streaming->line));
        const struct slice end = forward ? triple.object : triple.subject;
        put(streaming, document, "", triple.line);
        if (token_is_blank(end)) {
            put(streaming, end, kind, document);
            streaming->wanted++;
        }
    }
}

static bool
was_given(const struct streaming *streaming, struct slice item)
{
    struct buf text;
    buf_init(&text, SIZE_MAX / 2);
    buf_append_slice(&text, item);
    text.data[0] = (char)(item.at[0] - 'A' + 'a');
    const struct slice given = buf_slice(&text);
    const bool found = bsearch(&given, streaming->items, streaming->item_count,
                               sizeof *streaming->items, compare_items) != NULL;
    buf_release(&text);
    return found;
}

static enum status
follow_item(struct streaming *streaming, struct slice key, struct slice item, struct reason *why)
{
    if (item.length < 3 || item.at[1] != ' ' || strchr("TUFBMfbm", item.at[0]) == NULL ||
        (strchr("TU", item.at[0]) != NULL &&
         !is_statement(slice_of(item.at + 2, item.length - 2)))) {
        return status_fail(why, STATUS_BAD_INPUT, "%.*s: this is no record: %.*s", SLICE_PRINT(key),
                           SLICE_PRINT(item));
    }
    if (strchr("FBM", item.at[0]) == NULL) {
        put(streaming, key, "", item);
    } else if (!was_given(streaming, item)) {
        const char kind[] = {(char)(item.at[0] - 'A' + 'a'), ' ', '\0'};
        const struct slice document = slice_of(item.at + 2, item.length - 2);
        put(streaming, key, kind, document);
        give(streaming, item.at[0], document);
    }
    return STATUS_OK;
}

enum status
streaming_follow(struct streaming *streaming, struct slice key, struct reason *why)
{
    const bool node = slice_starts(key, SLICE("_:"));
    sort_values(streaming);
    for (size_t i = 0; i < streaming->item_count; i++) {
        if (node) {
            TRY(follow_item(streaming, key, streaming->items[i], why));
        } else {
            put(streaming, key, "", streaming->items[i]);
        }
    }
    forget_values(streaming);
    return STATUS_OK;
}
