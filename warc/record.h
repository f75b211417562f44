/* One record in memory: its headers are parsed and its body decoded within limits. reader.c finds
 * records in files; a scanner of whole files uses the same functions. Thread-safe. */
#ifndef WARC_RECORD_H
#define WARC_RECORD_H

#include "warc/warc.h"

/* Returns the limits with defaults filled in; NULL: all are defaults. */
struct warc_limits warc_limits_of(const struct warc_limits *limits);

/* Parses the record that memory holds from its "WARC/" on; fills *record, whose slices point into
 * memory, and decodes the body behind the record. CORRUPT when it is not whole. */
enum status warc_record_parse(struct buf *memory, const struct warc_limits *limits,
                              struct warc_record *record, struct reason *why);

/* Returns the length of the header block at the front of text, its empty line included; 0: it does
 * not end in text. */
size_t warc_header_length(struct slice text);

#endif
