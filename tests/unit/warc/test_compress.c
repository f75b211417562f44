#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/memory.h"
#include "warc/compress.h"

static uint32_t
next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

static void
put_words(struct buf *buf, size_t n, uint32_t seed)
{
    static const char *const words[] = {"<p>",     "crawl", "archive", "of",      "the", "web",
                                        "</p>\n",  "a",     "record",  "example", "and", "link",
                                        "<a href", "title", "page",    "="};
    while (buf->length < n) {
        buf_printf(buf, "%s %u ", words[next_random(&seed) % 16], next_random(&seed) % 1000);
    }
    buf->length = n;
}

static void
put_noise(struct buf *buf, size_t n, uint32_t seed)
{
    for (size_t i = 0; i < n; i++) {
        buf_append_char(buf, (char)next_random(&seed));
    }
}

/* The member by compressor, proven to be one that zlib reads as the record; returns its length. */
static size_t
member(struct compressor *compressor, struct slice record, size_t packed_at, char *room)
{
    const size_t bound = compressor_bound(compressor, record.length);
    const size_t n = compressor_member(compressor, COMPRESSOR_CONTENT, record, packed_at, room);
    char *text = memory_alloc(record.length + 1);
    z_stream stream = {.next_in = (Bytef *)room,
                       .avail_in = (uInt)n,
                       .next_out = (Bytef *)text,
                       .avail_out = (uInt)record.length + 1};
    assert_in_range(n, 1, bound);
    assert_int_equal(inflateInit2(&stream, 16 + MAX_WBITS), Z_OK);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(stream.avail_in, 0);
    assert_int_equal(stream.total_out, record.length);
    assert_memory_equal(text, record.at, record.length);
    inflateEnd(&stream);
    free(text);
    return n;
}

static void
every_level_and_size_is_read_by_zlib(void **state)
{
    static const size_t sizes[] = {1, 2, 17, 300, 5000, 65534, 65535, 65536, 140000, 400000};
    (void)state;
    for (int level = 0; level <= 9; level++) {
        struct compressor *compressor = compressor_open(level);
        for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
            struct buf text;
            const size_t size = sizes[i / 2];
            buf_init(&text, SIZE_MAX);
            (i % 2 == 0 ? put_words : put_noise)(&text, size, (uint32_t)i);
            char *room = memory_alloc(compressor_bound(compressor, size));
            member(compressor, buf_slice(&text), size, room);
            member(compressor, buf_slice(&text), size / 2, room);
            member(compressor, buf_slice(&text), 0, room);
            free(room);
            buf_release(&text);
        }
        compressor_close(compressor);
    }
    assert_null(compressor_open(99));
}

static void
packed_bytes_are_stored_as_they_are(void **state)
{
    enum { HEAD = 600, BODY = 100000 };
    (void)state;
    struct compressor *compressor = compressor_open(1);
    struct buf record;
    buf_init(&record, SIZE_MAX);
    put_words(&record, HEAD, 1);
    put_noise(&record, BODY, 2);
    char *room = memory_alloc(compressor_bound(compressor, record.length));
    const size_t n = member(compressor, buf_slice(&record), HEAD, room);
    assert_in_range(n, BODY, BODY + HEAD);
    assert_non_null(memmem(room, n, record.data + HEAD, 30000));
    free(room);
    buf_release(&record);
    compressor_close(compressor);
}

/* Codes come from the records before, so a crawl's records are nearly as small as with codes of
 * their own, also when the records become others. */
static void
codes_are_learnt(void **state)
{
    enum { SIZE = 6000 };
    (void)state;
    struct compressor *fast = compressor_open(1), *own = compressor_open(6);
    char *room = memory_alloc(compressor_bound(fast, SIZE));
    size_t learnt = 0, best = 0;
    for (uint32_t i = 0; i < 6000; i++) {
        struct buf text;
        buf_init(&text, SIZE_MAX);
        if (i < 1000) {
            put_words(&text, SIZE, i);
        } else {
            for (uint32_t seed = i; text.length < SIZE;) {
                buf_append_char(&text, (char)('0' + next_random(&seed) % 10));
            }
        }
        if (i % 500 == 499) {
            const size_t n = member(fast, buf_slice(&text), SIZE, room);
            if (i < 1000 || i > 5000) {
                learnt += n;
                best += member(own, buf_slice(&text), SIZE, room);
            }
        } else {
            assert_int_not_equal(
                compressor_member(fast, COMPRESSOR_CONTENT, buf_slice(&text), SIZE, room), 0);
        }
        buf_release(&text);
    }
    assert_in_range(learnt, 1, best * 115 / 100);
    free(room);
    compressor_close(fast);
    compressor_close(own);
}

/* Of the first sixteen records each is a sample, then every sixteenth; codes are made when there
 * are twice as many samples, and at 128 the older ones are half forgotten. */
static void
codes_are_made_at_powers_of_two(void **state)
{
    enum { SIZE = 900, CALLS = 2900, EACH = 16 };
    static const unsigned made_at[] = {256, 768, 1792, 2816}; /* 32, 64, 128 and 128 samples */
    (void)state;
    struct compressor *compressor = compressor_open(1);
    char *room = memory_alloc(compressor_bound(compressor, SIZE));
    char *last = memory_zero(compressor_bound(compressor, SIZE), 1);
    struct buf text;
    size_t last_length = 0, made = 0;
    buf_init(&text, SIZE_MAX);
    put_words(&text, SIZE, 1);
    for (unsigned call = 0; call < CALLS; call++) {
        if (call == EACH) { /* others than were learnt from */
            buf_reset(&text);
            for (uint32_t seed = 5; text.length < SIZE;) {
                buf_append_char(&text, (char)('A' + next_random(&seed) % 26));
            }
        }
        const size_t n =
            compressor_member(compressor, COMPRESSOR_CONTENT, buf_slice(&text), SIZE, room);
        const bool other = n != last_length || memcmp(room, last, n) != 0;
        if (call > EACH && other) {
            assert_true(made < sizeof made_at / sizeof *made_at);
            assert_int_equal(call, made_at[made++]);
        }
        memcpy(last, room, n);
        last_length = n;
    }
    assert_int_equal(made, sizeof made_at / sizeof *made_at);
    free(room);
    free(last);
    buf_release(&text);
    compressor_close(compressor);
    compressor_close(NULL);
}

/* Requests have codes of their own. */
static void
kinds_are_learnt_apart(void **state)
{
    enum { SIZE = 900 };
    (void)state;
    struct compressor *one = compressor_open(1), *both = compressor_open(1);
    char *room = memory_alloc(compressor_bound(one, SIZE));
    char *other = memory_alloc(compressor_bound(one, SIZE));
    struct buf text, noise;
    buf_init(&text, SIZE_MAX);
    buf_init(&noise, SIZE_MAX);
    put_words(&text, SIZE, 1);
    put_noise(&noise, SIZE, 2);
    for (int i = 0; i < 5; i++) {
        (void)compressor_member(both, COMPRESSOR_REQUEST, buf_slice(&noise), SIZE, other);
        const size_t n = compressor_member(one, COMPRESSOR_CONTENT, buf_slice(&text), SIZE, room);
        assert_int_equal(compressor_member(both, COMPRESSOR_CONTENT, buf_slice(&text), SIZE, other),
                         n);
        assert_memory_equal(room, other, n);
    }
    free(room);
    free(other);
    buf_release(&text);
    buf_release(&noise);
    compressor_close(one);
    compressor_close(both);
}

/* Sixty-four bytes of text in the middle, and how even the rest is. */
static void
samples_are_from_the_middle(void **state)
{
    enum { SAMPLE = 512, TEXT = 64, BYTES = SAMPLE + 200 };
    char bytes[BYTES];
    (void)state;
    for (size_t length = SAMPLE - 1; length <= SAMPLE; length++) {
        for (size_t i = 0; i < length; i++) {
            bytes[i] = (char)(i * 167 + 0x80);
        }
        assert_int_equal(compressor_is_packed(slice_of(bytes, length)), length == SAMPLE);
    }
    for (size_t text = TEXT - 1; text <= TEXT; text++) {
        for (size_t i = 0; i < BYTES; i++) {
            const size_t at = i - (BYTES - SAMPLE) / 2;
            bytes[i] = (char)(at < text ? '\t' + at * 7 % ('~' - '\t' + 1) : i * 167 + 0x80);
        }
        assert_int_equal(compressor_is_packed(slice_of(bytes, BYTES)), text < TEXT);
    }
    bytes[(BYTES - SAMPLE) / 2] = '\b'; /* no text, and neither is the last byte of ASCII */
    assert_true(compressor_is_packed(slice_of(bytes, BYTES)));
    bytes[(BYTES - SAMPLE) / 2] = 0x7f;
    assert_true(compressor_is_packed(slice_of(bytes, BYTES)));
    /* 1 in 200: 512 bytes of which so many are the same are as even as that, or less. */
    for (size_t same = 1; same < 64; same++) {
        size_t squares = 0;
        unsigned counts[256] = {0};
        for (size_t i = 0; i < SAMPLE; i++) {
            bytes[i] = (char)(i < same ? 0 : i * 167 + 0x80);
            counts[(unsigned char)bytes[i]]++;
        }
        for (size_t i = 0; i < 256; i++) {
            squares += counts[i] * counts[i];
        }
        assert_int_equal(compressor_is_packed(slice_of(bytes, SAMPLE)),
                         squares - SAMPLE < SAMPLE * SAMPLE / 200);
    }
}

static void
what_is_packed_is_told_from_text(void **state)
{
    (void)state;
    struct buf text, noise, zipped;
    buf_init(&text, SIZE_MAX);
    buf_init(&noise, SIZE_MAX);
    buf_init(&zipped, SIZE_MAX);
    put_words(&text, 50000, 3);
    put_noise(&noise, 2000, 4);
    struct compressor *compressor = compressor_open(6);
    char *room = buf_reserve(&zipped, compressor_bound(compressor, text.length));
    buf_commit(&zipped, compressor_member(compressor, COMPRESSOR_CONTENT, buf_slice(&text),
                                          text.length, room));
    assert_false(compressor_is_packed(buf_slice(&text)));
    assert_true(compressor_is_packed(buf_slice(&noise)));
    assert_true(compressor_is_packed(buf_slice(&zipped)));
    assert_false(compressor_is_packed(slice_of(noise.data, 500))); /* too short to tell */
    assert_false(compressor_is_packed(SLICE("")));
    compressor_close(compressor);
    buf_release(&text);
    buf_release(&noise);
    buf_release(&zipped);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_level_and_size_is_read_by_zlib),
        cmocka_unit_test(packed_bytes_are_stored_as_they_are),
        cmocka_unit_test(codes_are_learnt),
        cmocka_unit_test(codes_are_made_at_powers_of_two),
        cmocka_unit_test(kinds_are_learnt_apart),
        cmocka_unit_test(samples_are_from_the_middle),
        cmocka_unit_test(what_is_packed_is_told_from_text),
    };
    return cmocka_run_group_tests_name("compress", tests, NULL, NULL);
}
