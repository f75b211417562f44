/* Tables as text: CSV (RFC 4180 and what passes for it) and TSV. A reader of records, and the
 * guess of how a table is written. Everything is bounded; nothing is quadratic. */
#ifndef TRANSFORMS_TEXT_CSV_H
#define TRANSFORMS_TEXT_CSV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"

enum {
    CSV_COLUMNS = 1000,    /* cells of a record that are kept */
    CSV_CELL = 256 << 10,  /* bytes of a cell; longer ones are cut */
    CSV_ROWS = 1000 * 1000 /* records that become statements */
};

struct csv_reader {
    const char *at, *end;
    char delimiter;
    uint64_t line, record; /* of the latest record, 1-based: its first line, its number */
    uint64_t next_line;
    struct slice cells[CSV_COLUMNS]; /* trimmed; valid until the next record */
    size_t count;                    /* of cells, also of those past CSV_COLUMNS */
    bool cut;                        /* a cell of this record was too long */
    uint64_t open_line;              /* a quote that begins in this line never ends; 0: none */
    struct buf text;                 /* cells that had doubled quotes */
};

void csv_begin(struct csv_reader *reader, struct slice text, char delimiter);
void csv_release(struct csv_reader *reader);
/* The next record that is not empty; false at the end. */
bool csv_read(struct csv_reader *reader);

/* The delimiter of a table: , ; tab or |, by which the first records have the same number of
 * cells (eight of ten), two at least. 0: it is no table. *skip: bytes before it ("sep=;"). */
char csv_sniff(struct slice text, size_t *skip);

#endif
