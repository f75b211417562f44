/* The parts of test_warc that are about the writer share this: the linker puts functions of
 * warc_files.c in the place of clock, random numbers and file system, so that records are the same
 * each time and any call can be refused. */
#ifndef TESTS_UNIT_WARC_WARC_FILES_H
#define TESTS_UNIT_WARC_WARC_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "tests/unit/open_descriptors.h"
#include "tests/unit/scratch.h"
#include "warc/warc.h"

enum { TEXT = 1 << 16, PATH_SIZE = SCRATCH_SIZE + WARC_FILE_SIZE };

#define OK_HEADER SLICE("HTTP/1.1 200 OK\r\n\r\n")
#define NAME_0 "p-20231114221320007-00000-n-q.warc.gz"
#define NAME_1 "p-20231114221320007-00001-n-q.warc.gz"

/* The calls that can be refused: the first `after` go through, then `times` fail with `error`. */
struct fault {
    int after, times, error;
    size_t leaves; /* of a write: bytes that it leaves all the same */
};
extern struct fault writes, cuts, data_syncs, folder_syncs, opens;
extern unsigned write_count, cut_count, data_sync_count, folder_sync_count;
extern uint8_t next_id;
extern char directory[SCRATCH_SIZE];

/* A folder for each test, and nothing that is refused. */
int begin(void **state);
/* Counts the files of the folder. */
size_t each_file(bool remove);
int end(void **state);
struct warc_writer_options options_of(uint64_t size);
struct warc_writer *open_with(const struct warc_writer_options *options);
struct warc_writer *open_writer(uint64_t size);
struct warc_exchange exchange_of(struct slice body);
/* An exchange with that body. */
enum status write_body(struct warc_writer *writer, struct slice body,
                       struct warc_location *location, struct reason *why);
struct warc_location write_one(struct warc_writer *writer, struct slice body);
void path_of(const char *file, char path[PATH_SIZE]);
uint64_t file_size(const char *file);
/* The text of all members from that offset on; every one of them is whole. */
void text_from(const char *file, uint64_t offset, struct buf *text);
void check_text(const char *file, uint64_t offset, const char *expected);
/* How many records there are whose type is that. */
unsigned count_records(const char *file, const char *type);

#endif
