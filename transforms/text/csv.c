#include "transforms/text/csv.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"

enum { SNIFF_RECORDS = 50, SNIFF_BYTES = 64 << 10, TEXT_SIZE = 64 << 20 };

void
csv_begin(struct csv_reader *reader, struct slice text, char delimiter)
{
    reader->at = text.at;
    reader->end = text.at + text.length;
    reader->delimiter = delimiter;
    reader->line = reader->record = reader->open_line = 0;
    reader->next_line = 1;
    reader->count = 0;
    buf_init(&reader->text, TEXT_SIZE);
}

void
csv_release(struct csv_reader *reader)
{
    buf_release(&reader->text);
}

/* The quote that ends the cell whose content begins at `from`; NULL: it does not end. A search
 * passes only runs of quotes that are of even length, and a cell that begins with such a run ends
 * in it, so all searches together look at each byte twice at most, however many quotes never end.
 */
static const char *
closing_quote(const struct csv_reader *reader, const char *from, bool *doubled)
{
    const char *end = reader->end;
    *doubled = false;
    for (const char *at = from; (at = memchr(at, '"', (size_t)(end - at))) != NULL; at += 2) {
        if (at + 1 >= end || at[1] != '"') {
            return at;
        }
        *doubled = true;
    }
    return NULL;
}

static void
count_lines(struct csv_reader *reader, const char *from, const char *to)
{
    while (from < to && (from = memchr(from, '\n', (size_t)(to - from))) != NULL) {
        reader->next_line++;
        from++;
    }
}

/* Doubled quotes become single ones. The place in reader->text stays as an offset for now. */
static struct slice
undouble(struct csv_reader *reader, struct slice quoted)
{
    const size_t start = reader->text.length;
    char *to = buf_reserve(&reader->text, quoted.length);
    if (!to) {
        return quoted;
    }
    size_t n = 0;
    for (size_t i = 0; i < quoted.length; i++) {
        i += quoted.at[i] == '"' && i + 1 < quoted.length && quoted.at[i + 1] == '"';
        to[n++] = quoted.at[i];
    }
    buf_commit(&reader->text, n);
    return slice_of((const char *)(uintptr_t)start, n);
}

/* One cell; the reader stands behind it, on what parts it from the next. *offset: the slice is an
 * offset into reader->text. */
static struct slice
read_cell(struct csv_reader *reader, bool *offset)
{
    const char *from = reader->at;
    *offset = false;
    while (from < reader->end && *from == ' ') {
        from++;
    }
    if (from < reader->end && *from == '"') {
        bool doubled;
        const char *close = closing_quote(reader, from + 1, &doubled);
        if (!close && reader->open_line == 0) {
            reader->open_line = reader->next_line;
        }
        const char *behind = close ? close + 1 : NULL;
        while (behind && behind < reader->end && (*behind == ' ' || *behind == '\r')) {
            behind++;
        }
        if (behind && (behind == reader->end || *behind == reader->delimiter || *behind == '\n')) {
            const struct slice quoted = slice_of(from + 1, (size_t)(close - from - 1));
            count_lines(reader, from, close);
            reader->at = behind;
            *offset = doubled;
            return doubled ? undouble(reader, quoted) : quoted;
        }
    }
    const char *at = reader->at;
    while (at < reader->end && *at != reader->delimiter && *at != '\n' &&
           !(*at == '\r' && (at + 1 == reader->end || at[1] != '\n'))) {
        at++;
    }
    const struct slice cell = slice_of(reader->at, (size_t)(at - reader->at));
    reader->at = at;
    return cell;
}

/* Not into the middle of a character. */
static struct slice
bounded(struct csv_reader *reader, struct slice cell)
{
    cell = slice_trim(cell);
    if (cell.length > CSV_CELL) {
        reader->cut = true;
        cell.length = CSV_CELL;
        while (cell.length > 0 && ((unsigned char)cell.at[cell.length] & 0xC0) == 0x80) {
            cell.length--;
        }
    }
    return cell;
}

/* All cells of a line; false: none of them says anything. */
static bool
read_record(struct csv_reader *reader)
{
    bool offsets[CSV_COLUMNS], any = false;
    reader->line = reader->next_line;
    reader->count = 0;
    reader->cut = false;
    buf_reset(&reader->text);
    for (;;) {
        bool offset;
        const struct slice cell = read_cell(reader, &offset);
        if (reader->count < CSV_COLUMNS) {
            reader->cells[reader->count] = cell;
            offsets[reader->count] = offset;
        }
        reader->count++;
        if (reader->at == reader->end || *reader->at != reader->delimiter) {
            break;
        }
        reader->at++;
    }
    for (size_t i = 0; i < reader->count && i < CSV_COLUMNS; i++) {
        struct slice cell = reader->cells[i];
        if (offsets[i]) {
            cell.at = reader->text.data + (uintptr_t)cell.at;
        }
        reader->cells[i] = bounded(reader, cell);
        any |= reader->cells[i].length > 0;
    }
    if (reader->at < reader->end) {
        reader->next_line++;
        reader->at++;
    }
    reader->record++;
    return any;
}

bool
csv_read(struct csv_reader *reader)
{
    while (reader->at < reader->end) {
        if (read_record(reader)) {
            return true;
        }
    }
    return false;
}

/* ---- how it is written ---- */

/* Cells of the first records if nearly all have the same number, else 0. */
static size_t
regular_columns(struct csv_reader *reader, struct slice head, char delimiter)
{
    size_t counts[SNIFF_RECORDS], n = 0, best = 0, best_columns = 0;
    csv_begin(reader, head, delimiter);
    while (n < SNIFF_RECORDS && csv_read(reader)) {
        counts[n++] = reader->count;
    }
    csv_release(reader);
    for (size_t i = 0; i < n; i++) {
        size_t same = 0;
        for (size_t k = 0; k < n; k++) {
            same += counts[k] == counts[i];
        }
        if (counts[i] > 1 && same > best) {
            best = same;
            best_columns = counts[i];
        }
    }
    return n > 0 && best * 10 >= n * 8 ? best_columns : 0;
}

char
csv_sniff(struct slice text, size_t *skip)
{
    static const char delimiters[] = {',', ';', '\t', '|'};
    struct csv_reader *reader = memory_new(sizeof *reader);
    struct slice head = text;
    char best = 0;
    size_t most = 1;
    *skip = 0;
    if (head.length > SNIFF_BYTES) {
        head.length = SNIFF_BYTES;
        while (head.length > 0 && head.at[head.length - 1] != '\n') {
            head.length--;
        }
    }
    /* A spreadsheet writes this line for itself. */
    if (head.length > 6 && strncasecmp(head.at, "sep=", 4) == 0 &&
        (head.at[5] == '\n' || head.at[5] == '\r')) {
        best = head.at[4];
        *skip = slice_find(head, '\n') + 1;
        *skip = *skip > text.length ? text.length : *skip;
    }
    for (size_t i = 0; *skip == 0 && i < sizeof delimiters; i++) {
        const size_t columns = regular_columns(reader, head, delimiters[i]);
        if (columns > most) {
            most = columns;
            best = delimiters[i];
        }
    }
    free(reader);
    return best;
}
