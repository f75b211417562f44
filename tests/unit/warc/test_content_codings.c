/* Content codings are undone, within their limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <brotli/decode.h>
#include <cmocka.h>
#include <libdeflate.h>
#include <zlib.h>
#include <zstd.h>

#include "base/memory.h"
#include "tests/unit/memory_in_use.h"
#include "tests/unit/warc/packed.h"
#include "warc/gzip.h"
#include "warc/warc.h"

/* ---- stand-ins: libraries that have no memory to start with, while this says so ---- */

static bool libraries_refuse;

struct libdeflate_decompressor *__real_libdeflate_alloc_decompressor(void);
struct libdeflate_decompressor *__wrap_libdeflate_alloc_decompressor(void);
int __real_inflateInit2_(z_streamp stream, int window, const char *version, int size);
int __wrap_inflateInit2_(z_streamp stream, int window, const char *version, int size);
BrotliDecoderState *__real_BrotliDecoderCreateInstance(brotli_alloc_func allocate,
                                                       brotli_free_func release, void *opaque);
BrotliDecoderState *__wrap_BrotliDecoderCreateInstance(brotli_alloc_func allocate,
                                                       brotli_free_func release, void *opaque);
ZSTD_DStream *__real_ZSTD_createDStream(void);
ZSTD_DStream *__wrap_ZSTD_createDStream(void);

struct libdeflate_decompressor *
__wrap_libdeflate_alloc_decompressor(void)
{
    return libraries_refuse ? NULL : __real_libdeflate_alloc_decompressor();
}

int
__wrap_inflateInit2_(z_streamp stream, int window, const char *version, int size)
{
    return libraries_refuse ? Z_MEM_ERROR : __real_inflateInit2_(stream, window, version, size);
}

BrotliDecoderState *
__wrap_BrotliDecoderCreateInstance(brotli_alloc_func allocate, brotli_free_func release,
                                   void *opaque)
{
    return libraries_refuse ? NULL : __real_BrotliDecoderCreateInstance(allocate, release, opaque);
}

ZSTD_DStream *
__wrap_ZSTD_createDStream(void)
{
    return libraries_refuse ? NULL : __real_ZSTD_createDStream();
}

/* ---- what is decoded ---- */

static void
check_coding(const char *coding, struct slice packed, const char *expected)
{
    struct buf out;
    struct reason why = {""};
    buf_init(&out, 1 << 20);
    assert_int_equal(warc_decode(slice_string(coding), packed, 0, &out, &why), STATUS_OK);
    assert_slice(buf_slice(&out), expected);
    buf_release(&out);
}

static void
every_coding_is_undone(void **state)
{
    (void)state;
    char packed[PACKED_SIZE];
    char twice[PACKED_SIZE];
    const struct slice text = SLICE("one two three");
    check_coding("gzip", pack_zlib(text, 31, packed), "one two three");
    check_coding(" X-GZIP ", pack_zlib(text, 31, packed), "one two three");
    check_coding("deflate", pack_zlib(text, 15, packed), "one two three");
    check_coding("deflate", pack_zlib(text, -15, packed), "one two three");
    check_coding("identity", text, "one two three");
    check_coding("", text, "one two three");
    check_coding("gzip", text, "one two three");
    check_coding("br",
                 SLICE("\x0b\x06\x80\x6f\x6e\x65\x20\x74\x77\x6f\x20\x74\x68\x72\x65\x65\x03"),
                 "one two three");
    const size_t length = ZSTD_compress(packed, sizeof packed, text.at, text.length, 1);
    check_coding("zstd", slice_of(packed, length), "one two three");
    check_coding("deflate, gzip", pack_zlib(pack_zlib(text, 15, packed), 31, twice),
                 "one two three");
}

static const char brotli_text[] =
    "\x0b\x06\x80\x6f\x6e\x65\x20\x74\x77\x6f\x20\x74\x68\x72\x65\x65\x03";

static void
decode_each(void)
{
    static char packed[4][PACKED_SIZE];
    static struct slice coded[4];
    static const char *const codings[] = {"gzip", "deflate", "zstd", "br"};
    const struct slice text = SLICE("one two three");
    if (coded[0].length == 0) { /* what packs keeps memory of its own */
        coded[0] = pack_zlib(text, 31, packed[0]);
        coded[1] = pack_zlib(text, 15, packed[1]);
        coded[2] =
            slice_of(packed[2], ZSTD_compress(packed[2], PACKED_SIZE, text.at, text.length, 1));
        coded[3] = slice_of(brotli_text, sizeof brotli_text - 1);
    }
    for (size_t i = 0; i < 4; i++) {
        for (size_t whole = 0; whole < 2; whole++) { /* also what is cut short */
            struct buf out;
            struct reason why;
            buf_init(&out, 1 << 12);
            (void)warc_decode(slice_string(codings[i]),
                              slice_of(coded[i].at, coded[i].length - 3 * (1 - whole)), 0, &out,
                              &why);
            buf_release(&out);
        }
    }
}

static void
check_refused(const char *coding, struct slice packed, const char *expected)
{
    struct buf out;
    struct reason why = {""};
    buf_init(&out, 1 << 12);
    assert_int_equal(warc_decode(slice_string(coding), packed, 0, &out, &why), STATUS_SYSTEM);
    assert_string_equal(why.text, expected);
    assert_int_equal(out.length, 0);
    buf_release(&out);
}

/* A body is not called damaged because a library has no memory: it is read again later. What
 * inflates at once is started by the first body, so this comes before the other cases. */
static void
a_library_that_cannot_start_is_named(void **state)
{
    (void)state;
    char packed[PACKED_SIZE], room[16];
    struct reason why = {""};
    const struct slice text = SLICE("one two three");
    const struct slice member = pack_zlib(text, 31, packed);
    libraries_refuse = true;
    assert_int_equal(gzip_inflate(member, room, text.length, &why), STATUS_SYSTEM);
    assert_string_equal(why.text, "libdeflate could not start");
    check_refused("gzip", member, "zlib could not start");
    check_refused("deflate", pack_zlib(text, 15, packed), "zlib could not start");
    check_refused("br", slice_of(brotli_text, sizeof brotli_text - 1), "brotli could not start");
    check_refused("zstd",
                  slice_of(packed, ZSTD_compress(packed, sizeof packed, text.at, text.length, 1)),
                  "zstd could not start");
    libraries_refuse = false;
}

/* One decompressor of a kind is enough for all records, and the others are given back. */
static void
decoding_leaves_no_memory(void **state)
{
    (void)state;
    assert_true(leaves_no_memory(decode_each));
}

/* Decodes into a buffer of that maximum; the result's length must be right. */
static enum status
decode_into(const char *coding, struct slice packed, uint32_t ratio, size_t maximum, size_t length)
{
    struct buf out;
    struct reason why = {""};
    buf_init(&out, maximum);
    const enum status status = warc_decode(slice_string(coding), packed, ratio, &out, &why);
    assert_int_equal(out.length, length);
    assert_int_equal(why.text[0] != '\0', status != STATUS_OK);
    buf_release(&out);
    return status;
}

static struct slice
pack(const char *coding, struct slice text, char *packed)
{
    if (strcmp(coding, "zstd") == 0) {
        return slice_of(packed, ZSTD_compress(packed, PACKED_SIZE, text.at, text.length, 1));
    }
    return pack_zlib(text, strcmp(coding, "gzip") == 0 ? 31 : 15, packed);
}

/* Decoding gives what fits into the room, cuts what is longer, and tells that an end is lacking. */
static void
each_coding_has_its_limits(void **state)
{
    static const char *const codings[] = {"gzip", "deflate", "zstd", "br", "identity"};
    const struct slice text = SLICE("one two three");
    (void)state;
    for (size_t i = 0; i < sizeof codings / sizeof codings[0]; i++) {
        char packed[PACKED_SIZE];
        const struct slice whole = i == 3   ? slice_of(brotli_text, sizeof brotli_text - 1)
                                   : i == 4 ? text
                                            : pack(codings[i], text, packed);
        for (size_t spare = 0; spare <= 1; spare++) {
            assert_int_equal(decode_into(codings[i], whole, 0, text.length + spare, text.length),
                             STATUS_OK);
        }
        assert_int_equal(
            decode_into(codings[i], whole, 0, text.length - 1, i == 4 ? 0 : text.length - 1),
            STATUS_LIMIT);
        for (size_t length = 4; length < whole.length && i < 4; length++) {
            struct buf out;
            buf_init(&out, 1000);
            assert_int_equal(
                warc_decode(slice_string(codings[i]), slice_of(whole.at, length), 0, &out, NULL),
                STATUS_CORRUPT);
            buf_release(&out);
        }
    }
}

/* The text ends where a piece of what is decoded does, or beside it. */
static void
texts_of_whole_pieces(void **state)
{
    static const char *const codings[] = {"gzip", "deflate", "zstd"};
    enum { DECODED_PIECE = 64 << 10 };
    char *zeros = memory_zero(2 * DECODED_PIECE + 1, 1);
    char packed[PACKED_SIZE];
    (void)state;
    for (size_t i = 0; i < sizeof codings / sizeof codings[0]; i++) {
        for (size_t pieces = 1; pieces <= 2; pieces++) {
            for (size_t less = 0; less <= 2; less++) {
                const size_t length = pieces * DECODED_PIECE + 1 - less;
                const struct slice whole = pack(codings[i], slice_of(zeros, length), packed);
                assert_int_equal(decode_into(codings[i], whole, 0, 1 << 20, length), STATUS_OK);
                assert_int_equal(decode_into(codings[i], whole, 0, length, length), STATUS_OK);
                assert_int_equal(decode_into(codings[i], whole, 0, length - 1, length - 1),
                                 STATUS_LIMIT);
            }
        }
    }
    free(zeros);
}

/* One block that is not compressed (RFC 7932, section 9.2), and an empty one, the last. */
static void
brotli_fills_its_room(void **state)
{
    enum { DECODED_PIECE = 64 << 10, LENGTH = DECODED_PIECE - 1 };
    char *packed = memory_zero(4 + LENGTH, 1);
    const struct slice whole = slice_of(packed, 4 + LENGTH);
    (void)state;
    packed[0] = (char)(0x0b | ((LENGTH - 1) & 1) << 7);
    packed[1] = (char)((LENGTH - 1) >> 1 & 0xff);
    packed[2] = (char)((LENGTH - 1) >> 9 | 0x80);
    packed[3 + LENGTH] = 0x03;
    for (size_t spare = 0; spare <= 2; spare++) {
        assert_int_equal(decode_into("br", whole, 0, LENGTH + spare, LENGTH), STATUS_OK);
    }
    assert_int_equal(decode_into("br", whole, 0, LENGTH - 1, LENGTH - 1), STATUS_LIMIT);
    free(packed);
}

/* A gzip body of several members ends with one that is empty, as bgzip writes them. */
static void
members_fill_their_room(void **state)
{
    char packed[2 * PACKED_SIZE];
    const struct slice text = SLICE("one two three");
    (void)state;
    struct slice whole = pack("gzip", text, packed);
    whole.length += pack("gzip", SLICE(""), packed + whole.length).length;
    for (size_t spare = 0; spare <= 1; spare++) {
        assert_int_equal(decode_into("gzip", whole, 0, text.length + spare, text.length),
                         STATUS_OK);
    }
    assert_int_equal(decode_into("gzip", whole, 0, text.length - 1, text.length - 1), STATUS_LIMIT);
}

/* A body may be so many times as long as what was sent, or a MiB in any case. */
static void
ratios_have_limits(void **state)
{
    static const char *const codings[] = {"gzip", "deflate", "zstd"};
    enum { MIB = 1 << 20 };
    char *zeros = memory_zero(4, MIB);
    char packed[PACKED_SIZE];
    (void)state;
    for (size_t i = 0; i < sizeof codings / sizeof codings[0]; i++) {
        struct slice whole = pack(codings[i], slice_of(zeros, MIB - 1), packed);
        assert_int_equal(decode_into(codings[i], whole, 1, 8 * MIB, MIB - 1), STATUS_OK);
        whole = pack(codings[i], slice_of(zeros, MIB + 1), packed);
        assert_int_equal(decode_into(codings[i], whole, 1, 8 * MIB, MIB), STATUS_LIMIT);
        whole = pack(codings[i], slice_of(zeros, 4 * MIB), packed);
        const uint32_t least = (uint32_t)(4 * MIB / whole.length) + 1;
        assert_int_equal(decode_into(codings[i], whole, least, 8 * MIB, 4 * MIB), STATUS_OK);
        assert_int_equal(
            decode_into(codings[i], whole, least - 1, 8 * MIB, (least - 1) * whole.length),
            STATUS_LIMIT);
        assert_int_equal(decode_into(codings[i], whole, UINT32_MAX, 4 * MIB + 1, 4 * MIB),
                         STATUS_OK);
    }
    free(zeros);
}

static void
codings_may_be_four(void **state)
{
    (void)state;
    check_coding(" , identity,identity ,,Identity, identity,", SLICE("a"), "a");
    assert_int_equal(
        decode_into("identity,identity,identity,identity,identity", SLICE("a"), 0, 10, 0),
        STATUS_UNSUPPORTED);
    assert_int_equal(decode_into("identity, sdch", SLICE("a"), 0, 10, 0), STATUS_UNSUPPORTED);
    assert_int_equal(decode_into("sdch", SLICE(""), 0, 10, 0), STATUS_UNSUPPORTED);
}

static void
damage_keeps_what_was_decoded(void **state)
{
    (void)state;
    char packed[PACKED_SIZE];
    struct buf out;
    buf_init(&out, 1 << 20);
    struct slice whole = pack_zlib(SLICE("one two three"), 31, packed);
    whole.length -= 9;
    assert_int_equal(warc_decode(SLICE("gzip"), whole, 0, &out, NULL), STATUS_CORRUPT);
    assert_true(slice_starts(SLICE("one two three"), buf_slice(&out)));
    assert_true(out.length > 5);
    assert_int_equal(warc_decode(SLICE("sdch"), whole, 0, &out, NULL), STATUS_UNSUPPORTED);
    buf_release(&out);
}

/* The length in the last bytes may be that of another member, or these bytes may be no length. */
static void
gzip_is_decoded_whatever_follows_it(void **state)
{
    (void)state;
    char packed[PACKED_SIZE], second[PACKED_SIZE];
    struct buf bytes, out;
    buf_init(&bytes, 2 * PACKED_SIZE);
    buf_init(&out, 1 << 20);
    buf_append_slice(&bytes, pack_zlib(SLICE("one two three"), 31, packed));
    const size_t first = bytes.length;
    buf_append_slice(&bytes, pack_zlib(SLICE(" four"), 31, second));
    assert_int_equal(warc_decode(SLICE("gzip"), buf_slice(&bytes), 0, &out, NULL), STATUS_OK);
    assert_slice(buf_slice(&out), "one two three four");
    bytes.length = first;
    buf_append_slice(&bytes, SLICE("garbage"));
    buf_reset(&out);
    assert_int_equal(warc_decode(SLICE("gzip"), buf_slice(&bytes), 0, &out, NULL), STATUS_OK);
    assert_slice(buf_slice(&out), "one two three");
    bytes.data[first - 1] = 1; /* the length of 13 becomes one that cannot be */
    bytes.length = first;
    buf_reset(&out);
    assert_int_equal(warc_decode(SLICE("gzip"), buf_slice(&bytes), 0, &out, NULL), STATUS_CORRUPT);
    assert_slice(buf_slice(&out), "one two three");
    buf_release(&bytes);
    buf_release(&out);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_library_that_cannot_start_is_named),
        cmocka_unit_test(every_coding_is_undone),
        cmocka_unit_test(decoding_leaves_no_memory),
        cmocka_unit_test(each_coding_has_its_limits),
        cmocka_unit_test(texts_of_whole_pieces),
        cmocka_unit_test(brotli_fills_its_room),
        cmocka_unit_test(members_fill_their_room),
        cmocka_unit_test(ratios_have_limits),
        cmocka_unit_test(codings_may_be_four),
        cmocka_unit_test(damage_keeps_what_was_decoded),
        cmocka_unit_test(gzip_is_decoded_whatever_follows_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
