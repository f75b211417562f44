/* A part of test_media: recordings whose containers have no example: AIFF, AVI, Matroska. */
#include <stdlib.h>

#include "tests/unit/transforms/media_case.h"
#include "tests/unit/transforms/media_recordings.h"

/* ---- AIFF, AVI ---- */

static void
add_iff_chunk(const char *type, const void *bytes, size_t length)
{
    add(type, 4);
    add_big(length, 4);
    add(bytes, length);
    add("", length & 1);
}

static void
test_aiff(void **state)
{
    (void)state;
    BEGIN("FORM\0\0\0\0AIFF");
    add_iff_chunk("NAME", "Day", 3); /* an odd length is filled up */
    add_iff_chunk("AUTH", "Ada\0x", 5);
    add_iff_chunk("(c) ", "free", 4);
    add_iff_chunk("ANNO", "one", 3);
    add_iff_chunk("ANNO", "two", 3);
    /* Two channels, 110250 frames of 16 bits, 44100 Hz. */
    add_iff_chunk("COMM", "\0\2\0\1\xae\xaa\0\x10\x40\x0e\xac\x44\0\0\0\0\0\0", 18);
    add_iff_chunk("ID3 ", "ID3\2\0\0\0\0\0\x0aTT2\0\0\4\0Set", 20);
    assert_int_equal(run("audio/aiff"), TRANSFORM_WHOLE);
    expect("dcmitype/Sound>");
    expect("title> \"Day\"");
    expect("creator> \"Ada\"");
    expect("rights> \"free\"");
    expect("comment> \"one\"");
    expect("comment> \"two\"");
    expect("samplingRate> \"44100.0\"^^");
    expect("duration> \"2.5\"^^");
    expect("\"Set\"");
    expect_none("averageBitRate");
}

/* No rate: no duration. A chunk that says it is longer than the file ends with it. */
static void
test_damaged_aiff(void **state)
{
    (void)state;
    BEGIN("FORM\0\0\0\0AIFC");
    add_iff_chunk("COMM", "\0\2\0\1\xae\xaa\0\x10\0\0\0\0\0\0\0\0\0\0", 18);
    ADD("NAME\xff\xff\xff\xff"
        "Cut");
    assert_int_equal(run("audio/aiff"), TRANSFORM_WHOLE);
    expect("title> \"Cut\"");
    expect_none("samplingRate");
    expect_none("duration");
    for (size_t length = file.length; length > 4; length--) {
        char *exact = memory_alloc(length);
        memcpy(exact, file.data, length);
        run_bytes("audio/aiff", slice_of(exact, length));
        expect("dcmitype/Sound>");
        free(exact);
    }
}

static void
test_avi(void **state)
{
    (void)state;
    char header[12 + 40] = "hdrlavih\x28";
    memcpy(header + 12, "\x40\x9c\0\0", 4);    /* 40 ms for a frame */
    memcpy(header + 12 + 16, "\x64\0\0\0", 4); /* 100 of them */
    memcpy(header + 12 + 32, "\x40\1\0\0\xf0\0\0\0", 8);
    BEGIN("RIFF\0\0\0\0AVI ");
    add_riff_chunk("LIST", header, sizeof header);
    add_riff_chunk("LIST", "INFOINAM\3\0\0\0Day\0", 16);
    add_riff_chunk("_PMX", packet, sizeof packet - 1);
    add_riff_chunk("id3 ", "ID3\2\0\0\0\0\0\x0aTT2\0\0\4\0Set", 20);
    assert_int_equal(run("video/x-msvideo"), TRANSFORM_WHOLE);
    expect("dcmitype/MovingImage>");
    expect("duration> \"4.0\"^^");
    expect("frameWidth> \"320\"^^");
    expect("frameHeight> \"240\"^^");
    expect("title> \"Day\"");
    expect("source> \"a packet\"");
    expect("\"Set\"");
}

/* ---- Matroska ---- */

/* An element: its identifier, its length as a number of that many bytes, its content. */
static void
add_element(uint32_t element, size_t length_bytes, const void *bytes, size_t length)
{
    const size_t most = element > 0xffffff ? 4 : element > 0xffff ? 3 : element > 0xff ? 2 : 1;
    add_big(element, most);
    add_big(length | (uint64_t)1 << 7 * length_bytes, length_bytes);
    add(bytes, length);
}

/* An element around what was added since `from`. */
static void
wrap_element(size_t from, uint32_t element, size_t length_bytes)
{
    struct buf inside;
    buf_init(&inside, 1 << 20);
    buf_append(&inside, file.data + from, file.length - from);
    file.length = from;
    add_element(element, length_bytes, inside.data, inside.length);
    buf_release(&inside);
}

enum {
    EBML_HEADER = 0x1a45dfa3,
    SEGMENT = 0x18538067,
    INFORMATION = 0x1549a966,
    TRACKS = 0x1654ae6b,
    CLUSTER = 0x1f43b675
};

static void
add_tracks(size_t length_bytes)
{
    const size_t tracks = file.length;
    const size_t video = file.length;
    add_element(0xb0, length_bytes, "\1\x40", 2);
    add_element(0xba, length_bytes, "\xf0", 1);
    wrap_element(video, 0xe0, length_bytes);
    wrap_element(video, 0xae, length_bytes);
    const size_t audio = file.length;
    add_element(0xb5, length_bytes, "\x47\x3b\x80\0", 4); /* 48000 */
    wrap_element(audio, 0xe1, length_bytes);
    wrap_element(audio, 0xae, length_bytes);
    wrap_element(tracks, TRACKS, length_bytes);
}

/* Lengths may be written with any number of bytes. */
static void
test_matroska(void **state)
{
    (void)state;
    for (size_t length_bytes = 2; length_bytes <= 8; length_bytes++) {
        BEGIN("");
        add_element(EBML_HEADER, length_bytes, "\x42\x82\x84webm", 7);
        const size_t segment = file.length;
        const size_t information = file.length;
        add_element(0x2ad7b1, length_bytes, "\x1e\x84\x80", 3); /* units of two milliseconds */
        add_element(0x4489, length_bytes, "\x40\x93\x88\0\0\0\0\0", 8); /* 1250 of them */
        add_element(0x7ba9, length_bytes, "Day", 3);
        add_element(0x5741, length_bytes, "a muxer", 7);
        wrap_element(information, INFORMATION, length_bytes);
        add_element(0xec, length_bytes, "nothing", 7);
        add_tracks(length_bytes);
        add_element(CLUSTER, length_bytes, "sound", 5);
        add_element(0x7ba9, length_bytes, "Late", 4);
        wrap_element(segment, SEGMENT, length_bytes);
        assert_int_equal(run("video/webm"), TRANSFORM_WHOLE);
        expect("dcmitype/MovingImage>");
        expect("duration> \"2.5\"^^");
        expect("title> \"Day\"");
        expect("CreatorTool> \"a muxer\"");
        expect("frameWidth> \"320\"^^");
        expect("frameHeight> \"240\"^^");
        expect("samplingRate> \"48000.0\"^^");
        expect_none("Late");
        expect_none("nothing");
    }
}

/* What is written live has a segment without a length; without a scale the unit is a millisecond.
 */
static void
test_live_matroska(void **state)
{
    static const char *const unknown[] = {"\xff", "\x7f\xff", "\x01\xff\xff\xff\xff\xff\xff\xff"};
    (void)state;
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        BEGIN("\x1a\x45\xdf\xa3\x80\x18\x53\x80\x67");
        add(unknown[i], strlen(unknown[i]));
        const size_t information = file.length;
        add_element(0x4489, 1, "\x44\x9c\x40\0", 4); /* 1250 as a short number */
        wrap_element(information, INFORMATION, 1);
        add_tracks(1);
        assert_int_equal(run("video/x-matroska"), TRANSFORM_WHOLE);
        expect("duration> \"1.25\"^^");
        expect("frameWidth> \"320\"^^");
    }
}

/* A length beyond the file ends with it; numbers that are none end the reading; what is nested too
 * deep is not looked at; no prefix is read past its end. */
static void
test_damaged_matroska(void **state)
{
    (void)state;
    BEGIN("\x1a\x45\xdf\xa3\x80\x7b\xa9\x88"
          "Cut");
    assert_int_equal(run("video/webm"), TRANSFORM_WHOLE);
    expect("title> \"Cut\"");
    BEGIN("\x1a\x45\xdf\xa3\x80\0\x7b\xa9\x83"
          "Bad");
    run("video/webm");
    expect_none("Bad");
    BEGIN("\x1a\x45\xdf\xa3\x80\xec\0\x7b\xa9\x83"
          "Bad");
    run("video/webm");
    expect_none("Bad");
    for (unsigned depth = 3; depth < 7; depth++) {
        BEGIN("\x1a\x45\xdf\xa3\x80");
        const size_t from = file.length;
        add_element(0x7ba9, 1, "Deep", 4);
        for (unsigned i = 0; i < depth; i++) {
            wrap_element(from, SEGMENT, 1);
        }
        run("video/webm");
        (depth < 5 ? expect : expect_none)("\"Deep\"");
    }
    BEGIN("\x1a\x45\xdf\xa3\x80");
    const size_t from = file.length;
    add_element(0x4489, 1, "\x44\x9c\x40\0", 4);
    wrap_element(from, SEGMENT, 8);
    for (size_t length = file.length; length > 4; length--) {
        char *exact = memory_alloc(length);
        memcpy(exact, file.data, length);
        run_bytes("video/webm", slice_of(exact, length));
        expect("dcmitype/MovingImage>");
        free(exact);
    }
}

int
media_recordings_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_aiff),          cmocka_unit_test(test_damaged_aiff),
        cmocka_unit_test(test_avi),           cmocka_unit_test(test_matroska),
        cmocka_unit_test(test_live_matroska), cmocka_unit_test(test_damaged_matroska),
    };
    return cmocka_run_group_tests_name("recordings", tests, open_transformer, close_transformer);
}
