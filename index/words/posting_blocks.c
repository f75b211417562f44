#include "index/words/posting_blocks.h"

#include <string.h>

#include "base/codec.h"
#include "base/varint.h"

enum {
    CODEC_RUNS = 1,
    HEADER = 1,
    MARK_HEAD = 0, /* 1 .. WORD_CLASSES: a run of that class */
    MARK_WORD = 255,
    NUMBER_BYTES = 7,
    HEAD_BYTES = 1 + 2 * VARINT_MAXIMUM
};

static const uint32_t length_class_most[LENGTH_CLASSES - 1] = {1, 2, 3, 5, 8, 13, 22, 45, 120};
const double length_class_words[LENGTH_CLASSES] = {1, 2, 3, 4.4, 6.4, 10, 17, 31, 72, 250};
const double count_class_times[COUNT_CLASSES] = {1, 2, 3.3, 7};

unsigned
word_class(uint64_t length, uint64_t count)
{
    unsigned of_length = 0;
    while (of_length < LENGTH_CLASSES - 1 && length > length_class_most[of_length]) {
        of_length++;
    }
    const unsigned of_count = count <= 2 ? (unsigned)count - 1 : count <= 4 ? 2 : 3;
    return of_length * COUNT_CLASSES + of_count;
}

/* ---- postings ---- */

void
posting_reader_open(struct posting_reader *reader, const struct posting_run *run)
{
    reader->at = (const uint8_t *)run->gaps.at;
    reader->end = reader->at + run->gaps.length;
    reader->number = run->first >> 1;
    reader->tagged = run->first & 1;
}

bool
posting_next(struct posting_reader *reader)
{
    uint64_t code;
    const uint8_t *at = varint_get(reader->at, reader->end, &code);
    if (at == NULL) {
        return false;
    }
    reader->at = at;
    reader->number += code >> 1;
    reader->tagged = code & 1;
    return true;
}

uint64_t
posting_run_last(const struct posting_run *run)
{
    struct posting_reader reader;
    posting_reader_open(&reader, run);
    while (posting_next(&reader)) {
    }
    return reader.number;
}

size_t
word_key(struct slice word, bool head, unsigned class, uint64_t number,
         uint8_t key[WORD_KEY_MAXIMUM])
{
    uint8_t bytes[8];
    memcpy(key, word.at, word.length);
    key[word.length] = 0;
    key[word.length + 1] = head ? MARK_HEAD : (uint8_t)(1 + class);
    if (head) {
        return word.length + 2;
    }
    codec_write_u64(bytes, number);
    memcpy(key + word.length + 2, bytes + 1, NUMBER_BYTES);
    return word.length + 2 + NUMBER_BYTES;
}

/* ---- reading ---- */

void
posting_block_open(struct posting_block_reader *reader, const uint8_t *bytes, size_t length)
{
    reader->at = bytes;
    reader->end = bytes + length;
    reader->word_length = 0;
    reader->bad = length > 0 && bytes[0] != CODEC_RUNS;
    reader->at += length > 0 ? HEADER : 0;
}

static const uint8_t *
read_word(struct posting_block_reader *reader, const uint8_t *at)
{
    uint64_t shared;
    uint64_t rest;
    at = varint_get(at, reader->end, &shared);
    at = at ? varint_get(at, reader->end, &rest) : NULL;
    if (at == NULL || shared > reader->word_length || rest > WORD_MOST - shared ||
        rest >= (uint64_t)(reader->end - at)) {
        return NULL;
    }
    memcpy(reader->word + shared, at, rest);
    reader->word_length = shared + rest;
    return at + rest;
}

static const uint8_t *
read_run(struct posting_block_reader *reader, const uint8_t *at, uint8_t mark)
{
    struct posting_run *run = &reader->run;
    run->head = mark == MARK_HEAD;
    if (run->head) {
        at = varint_get(at, reader->end, &run->literals);
        return at ? varint_get(at, reader->end, &run->classes) : NULL;
    }
    uint64_t length;
    at = varint_get(at, reader->end, &length);
    if (at == NULL || mark > WORD_CLASSES || length > (uint64_t)(reader->end - at)) {
        return NULL;
    }
    const uint8_t *end = at + length;
    at = varint_get(at, end, &run->first);
    run->class = mark - 1U;
    run->gaps = slice_of((const char *)at, at ? (size_t)(end - at) : 0);
    return at ? end : NULL;
}

bool
posting_block_next(struct posting_block_reader *reader)
{
    if (reader->bad || reader->at == reader->end) {
        return false;
    }
    const uint8_t *at = reader->at;
    uint8_t mark = *at++;
    if (mark == MARK_WORD) {
        at = read_word(reader, at);
        mark = at != NULL ? *at++ : 0;
    }
    reader->run.word = slice_of((const char *)reader->word, reader->word_length);
    at = at != NULL && reader->word_length > 0 ? read_run(reader, at, mark) : NULL;
    reader->bad = at == NULL;
    reader->at = at ? at : reader->end;
    return at != NULL;
}

/* ---- writing ---- */

void
posting_block_begin(struct posting_block_writer *writer, uint8_t *bytes, size_t size)
{
    writer->start = bytes;
    writer->at = bytes + HEADER;
    writer->size = size;
    writer->word = slice_of(NULL, 0);
    writer->any = false;
    bytes[0] = CODEC_RUNS;
}

size_t
posting_run_size(const struct posting_run *run)
{
    return run->head ? run->word.length / 2 + 6 : run->gaps.length + 7;
}

/* Writes the word if it is another one than before. */
static uint8_t *
put_word(const struct posting_block_writer *writer, uint8_t *at, struct slice word)
{
    if (writer->any && slice_equal(writer->word, word)) {
        return at;
    }
    size_t shared = 0;
    while (shared < writer->word.length && shared < word.length &&
           writer->word.at[shared] == word.at[shared]) {
        shared++;
    }
    *at++ = MARK_WORD;
    at = varint_put(at, shared);
    at = varint_put(at, word.length - shared);
    memcpy(at, word.at + shared, word.length - shared);
    return at + word.length - shared;
}

static void
added(struct posting_block_writer *writer, uint8_t *at, const struct posting_run *run,
      uint64_t number)
{
    writer->at = at;
    writer->word = run->word;
    writer->any = true;
    writer->last_key_length = word_key(run->word, run->head, run->class, number, writer->last_key);
}

/* Returns how much of the gaps fits into the room; *last becomes the number of the last posting
 * taken. */
static size_t
fitting(const struct posting_run *run, size_t room, uint64_t *last)
{
    struct posting_reader reader;
    posting_reader_open(&reader, run);
    const uint8_t *start = reader.at;
    size_t taken = 0;
    *last = reader.number;
    while (posting_next(&reader) && (size_t)(reader.at - start) <= room) {
        taken = (size_t)(reader.at - start);
        *last = reader.number;
    }
    return taken;
}

bool
posting_block_add(struct posting_block_writer *writer, struct posting_run *run)
{
    enum { LENGTH_BYTES = 2 };
    uint8_t front[5 + WORD_MOST + HEAD_BYTES + VARINT_MAXIMUM];
    uint8_t *at = put_word(writer, front, run->word);
    const size_t room = writer->size - (size_t)(writer->at - writer->start);
    if (run->head) {
        *at++ = MARK_HEAD;
        at = varint_put(at, run->literals);
        at = varint_put(at, run->classes);
        if ((size_t)(at - front) > room) {
            return false;
        }
        memcpy(writer->at, front, (size_t)(at - front));
        added(writer, writer->at + (at - front), run, 0);
        return true;
    }
    *at++ = (uint8_t)(1 + run->class);
    const size_t first_size = varint_size(run->first);
    const size_t least = (size_t)(at - front) + LENGTH_BYTES + first_size;
    if (least > room) {
        return false;
    }
    uint64_t last;
    const size_t taken = fitting(run, room - least, &last);
    at = varint_put(at, first_size + taken);
    at = varint_put(at, run->first);
    uint8_t *target = writer->at;
    memcpy(target, front, (size_t)(at - front));
    target += at - front;
    memcpy(target, run->gaps.at ? run->gaps.at : "", taken);
    added(writer, target + taken, run, last);
    if (taken == run->gaps.length) {
        return true;
    }
    uint64_t gap = 0;
    const uint8_t *rest = (const uint8_t *)run->gaps.at + taken;
    const uint8_t *end = (const uint8_t *)run->gaps.at + run->gaps.length;
    const uint8_t *next = varint_get(rest, end, &gap);
    run->first = (last << 1) + gap;
    run->gaps = slice_of((const char *)next, next ? (size_t)(end - next) : 0);
    return next == NULL;
}

size_t
posting_block_length(const struct posting_block_writer *writer)
{
    return (size_t)(writer->at - writer->start);
}
