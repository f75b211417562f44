#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/codec.h"
#include "base/digest.h"
#include "base/system/clock.h"

static void
integers_are_big_endian(void **state)
{
    (void)state;
    static const uint8_t expected[] = {0x01, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09,
                                       0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f};
    struct buf buf;
    buf_init(&buf, 100);
    codec_put_u8(&buf, 0x01);
    codec_put_u32(&buf, 0x04050607);
    codec_put_u64(&buf, UINT64_C(0x08090a0b0c0d0e0f));
    assert_int_equal(buf.length, sizeof expected);
    assert_memory_equal(buf.data, expected, sizeof expected);
    struct codec_reader reader = codec_reader_of(buf_slice(&buf));
    assert_int_equal(codec_get_u8(&reader), 0x01);
    assert_int_equal(codec_get_u32(&reader), 0x04050607);
    assert_int_equal(codec_get_u64(&reader), UINT64_C(0x08090a0b0c0d0e0f));
    assert_true(codec_at_end(&reader));
    buf_release(&buf);
}

static void
varints(void **state)
{
    (void)state;
    static const uint64_t values[] = {
        0,         1, 127, 128, 300, 16383, 16384, UINT32_MAX, UINT64_C(1) << 62, UINT64_C(1) << 63,
        UINT64_MAX};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        struct buf buf;
        buf_init(&buf, 10);
        codec_put_varint(&buf, values[i]);
        assert_false(buf.overflowed);
        struct codec_reader reader = codec_reader_of(buf_slice(&buf));
        assert_true(codec_get_varint(&reader) == values[i]);
        assert_true(codec_at_end(&reader));
        reader = codec_reader_of(buf_slice(&buf));
        assert_true(codec_get_varint32(&reader) == (uint32_t)values[i]);
        assert_true(reader.bad == (values[i] > UINT32_MAX));
        /* every cut is bad */
        for (size_t length = 0; length < buf.length; length++) {
            reader = codec_reader_of(slice_of(buf.data, length));
            assert_int_equal(codec_get_varint(&reader), 0);
            assert_true(reader.bad);
        }
        buf_release(&buf);
    }
}

static void
varints_past_64_bits_are_bad(void **state)
{
    (void)state;
    struct codec_reader reader = codec_reader_of(SLICE("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"));
    assert_int_equal(codec_get_varint(&reader), 0);
    assert_true(reader.bad);
    reader = codec_reader_of(SLICE("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"));
    assert_int_equal(codec_get_varint(&reader), 0);
    assert_true(reader.bad);
}

static void
bad_is_sticky(void **state)
{
    (void)state;
    struct codec_reader reader = codec_reader_of(SLICE("\x05"
                                                       "abc"));
    const struct slice slice = codec_get_slice(&reader);
    assert_int_equal(slice.length, 0);
    assert_true(reader.bad);
    assert_int_equal(codec_get_u8(&reader), 0);
    assert_false(codec_at_end(&reader));
    reader = codec_reader_of(slice_of(NULL, 0));
    assert_true(codec_at_end(&reader));
    assert_int_equal(codec_get_u32(&reader), 0);
    assert_true(reader.bad);
}

static void
slices_round_trip(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 1000);
    codec_put_slice(&buf, SLICE("a\0b"));
    codec_put_slice(&buf, SLICE(""));
    struct codec_reader reader = codec_reader_of(buf_slice(&buf));
    assert_true(slice_equal(codec_get_slice(&reader), SLICE("a\0b")));
    assert_int_equal(codec_get_slice(&reader).length, 0);
    assert_true(codec_at_end(&reader));
    buf_release(&buf);
}

static void
two_digests_are_as_one_after_the_other(void **state)
{
    (void)state;
    enum { MOST = 300 };
    static const size_t firsts[] = {0, 1, 55, 56, 63, 64, 65, 127, 128, 200};
    char bytes[MOST];
    uint8_t both[DIGEST_SHA1_SIZE], alone[DIGEST_SHA1_SIZE], expected[DIGEST_SHA1_SIZE];
    for (size_t i = 0; i < MOST; i++) {
        bytes[i] = (char)(i * 7 + i / 3);
    }
    for (size_t i = 0; i < sizeof firsts / sizeof firsts[0]; i++) {
        for (size_t n = 0; n <= MOST; n++) {
            const struct slice first = slice_of(bytes, firsts[i]), second = slice_of(bytes, n);
            digest_sha1_pair(first, second, both, alone);
            digest_sha1_parts(first, second, expected);
            assert_memory_equal(both, expected, sizeof expected);
            digest_sha1_parts(second, SLICE(""), expected);
            assert_memory_equal(alone, expected, sizeof expected);
        }
    }
}

static void
digests(void **state)
{
    (void)state;
    uint8_t digest[DIGEST_SHA256_SIZE];
    char text[2 * DIGEST_SHA256_SIZE + 1];
    digest_sha1_parts(SLICE("abc"), SLICE(""), digest); /* FIPS 180 */
    digest_hex(digest, DIGEST_SHA1_SIZE, text);
    assert_string_equal(text, "a9993e364706816aba3e25717850c26c9cd0d89d");
    digest_sha1_parts(SLICE("a"), SLICE("bc"), digest);
    digest_base32(digest, DIGEST_SHA1_SIZE, text);
    assert_string_equal(text, "VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5");
    digest_sha256(SLICE(""), digest);
    digest_hex(digest, DIGEST_SHA256_SIZE, text);
    assert_string_equal(text, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    digest_base32((const uint8_t *)"f", 1, text); /* RFC 4648, without padding */
    assert_string_equal(text, "MY");
    digest_base32((const uint8_t *)"foobar", 6, text);
    assert_string_equal(text, "MZXW6YTBOI");
}

static void
fingerprints_are_stable(void **state)
{
    (void)state;
    uint8_t print[FINGERPRINT_SIZE];
    char text[2 * FINGERPRINT_SIZE + 1];
    fingerprint_of(SLICE(""), print);
    digest_hex(print, FINGERPRINT_SIZE, text);
    assert_string_equal(text, "cae66941d9efbd404e4d88758ea67670"); /* BLAKE2b-128 of nothing */
    assert_true(fingerprint64(SLICE("")) == UINT64_C(0xcae66941d9efbd40));
    assert_true(digest_local(SLICE("a")) == digest_local(SLICE("a")));
    assert_true(digest_local(SLICE("a")) != digest_local(SLICE("b")));
    assert_int_equal(partition_of(SLICE("")), 0x7670 % PARTITIONS);
}

static void
partitions_are_even(void **state)
{
    (void)state;
    static unsigned counts[PARTITIONS];
    char uri[64];
    for (int i = 0; i < 100 * PARTITIONS; i++) {
        (void)snprintf(uri, sizeof uri, "http://example.org/%d", i);
        counts[partition_of(slice_string(uri))]++;
    }
    for (int i = 0; i < PARTITIONS; i++) {
        assert_in_range(counts[i], 40, 180);
    }
}

static void
times(void **state)
{
    (void)state;
    static const struct {
        uint64_t ms;
        const char *with_ms, *without;
    } cases[] = {
        {0, "1970-01-01T00:00:00.000Z", "1970-01-01T00:00:00Z"},
        {UINT64_C(951782399999), "2000-02-28T23:59:59.999Z", "2000-02-28T23:59:59Z"},
        {UINT64_C(951868799000), "2000-02-29T23:59:59.000Z", "2000-02-29T23:59:59Z"},
        {UINT64_C(951868800001), "2000-03-01T00:00:00.001Z", "2000-03-01T00:00:00Z"},
        {UINT64_C(4107542400000), "2100-03-01T00:00:00.000Z", "2100-03-01T00:00:00Z"},
        {UINT64_MAX, "9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59Z"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[CLOCK_TEXT_SIZE];
        clock_text(cases[i].ms, 1, text);
        assert_string_equal(text, cases[i].with_ms);
        clock_text(cases[i].ms, 0, text);
        assert_string_equal(text, cases[i].without);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_big_endian),
        cmocka_unit_test(varints),
        cmocka_unit_test(varints_past_64_bits_are_bad),
        cmocka_unit_test(bad_is_sticky),
        cmocka_unit_test(slices_round_trip),
        cmocka_unit_test(digests),
        cmocka_unit_test(two_digests_are_as_one_after_the_other),
        cmocka_unit_test(fingerprints_are_stable),
        cmocka_unit_test(partitions_are_even),
        cmocka_unit_test(times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
