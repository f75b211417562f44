/* Containers that the examples of the transforms do not show, made here byte by byte; damaged and
 * cut ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <zlib.h>

#include "tests/unit/brief.h"
#include "tests/unit/transforms/media_case.h"
#include "tests/unit/transforms/media_recordings.h"

static const char tiny_tiff[] = "II*\0\x08\0\0\0\1\0\x0f\1\2\0\5\0\0\0\x1a\0\0\0\0\0\0\0Make";

static void
add_png_chunk(const char *type, const void *bytes, size_t length)
{
    add_big(length, 4);
    add(type, 4);
    add(bytes, length);
    add_big(0, 4); /* nobody checks it */
}

static void
add_box(const char *type, const void *bytes, size_t length)
{
    add_big(length + 8, 4);
    add(type, 4);
    add(bytes, length);
}

/* A box around what was added since `from`. */
static void
wrap_box(size_t from, const char *type)
{
    struct buf inside;
    buf_init(&inside, 1 << 20);
    buf_append(&inside, file.data + from, file.length - from);
    file.length = from;
    add_box(type, inside.data, inside.length);
    buf_release(&inside);
}

/* ---- images ---- */

static void
test_png(void **state)
{
    (void)state;
    Bytef packed[256];
    uLongf length = sizeof packed - 8;
    memcpy(packed, "Comment\0\0", 9);
    length = sizeof packed - 9;
    assert_int_equal(compress(packed + 9, &length, (const Bytef *)"squeezed", 8), Z_OK);
    BEGIN("\x89PNG\r\n\x1a\n");
    add_png_chunk("IHDR", "\0\0\0\7\0\0\0\5\x08\0\0\0\0", 13);
    add_png_chunk("tEXt", "Author\0Ren\xe9", 11);
    add_png_chunk("zTXt", packed, 9 + length);
    add_png_chunk("iTXt", "Title\0\0\0de-AT\0Titel\0Bl\xc3\xbcten", 27);
    add_png_chunk("tIME", "\x07\xe8\2\x1d\x0c\0\0", 7);
    add_png_chunk("eXIf", tiny_tiff, sizeof tiny_tiff);
    add_png_chunk("IDAT", "", 0);
    add_png_chunk("tEXt", "Raw profile type iptc\0\niptc\n    9\n1c025000044164610a\n", 52);
    add_png_chunk("IEND", "", 0);
    assert_int_equal(run("image/png"), TRANSFORM_WHOLE);
    expect("ns#width> \"7\"^^");
    expect("ns#height> \"5\"^^");
    expect("creator> \"Ren\xc3\xa9\"");
    expect("comment> \"squeezed\"");
    expect("title> \"Bl\xc3\xbcten\"@de-at");
    expect("modified> \"2024-02-29T12:00:00Z\"");
    expect("ns#make> \"Make\"");
    expect("creator> \"Ada\"");
}

static void
test_gif(void **state)
{
    (void)state;
    static const char head[] = "GIF89a\x03\0\x04\0\x80\0\0......";
    begin(head, sizeof head - 1);
    ADD("!\xfe\5first\4,two\0");
    ADD("!\xff\x0bXMP DataXMP");
    add(packet, sizeof packet - 1);
    buf_append_char(&file, 1);
    for (int i = 255; i >= 0; i--) {
        buf_append_char(&file, (char)i);
    }
    ADD("\0,\0\0\0\0\1\0\1\0\0\2\2ab\0;");
    assert_int_equal(run("image/gif"), TRANSFORM_WHOLE);
    expect("ns#width> \"3\"^^");
    expect("comment> \"first,two\"");
    expect("source> \"a packet\"");
}

static void
test_webp(void **state)
{
    (void)state;
    BEGIN("RIFF\0\0\0\0WEBP");
    add_riff_chunk("VP8X", "\x0c\0\0\0\x0f\0\0\x07\0\0", 10);
    add_riff_chunk("VP8L", "\x2f\0\0\0\0", 5);
    add_riff_chunk("EXIF", tiny_tiff, sizeof tiny_tiff);
    add_riff_chunk("XMP ", packet, sizeof packet - 1);
    assert_int_equal(run("image/webp"), TRANSFORM_WHOLE);
    expect("ns#width> \"16\"^^");
    expect("ns#height> \"8\"^^");
    expect_none("ns#width> \"1\"^^");
    expect("ns#make> \"Make\"");
    expect("source> \"a packet\"");
}

/* Directories behind 64 KiB of pixels, the EXIF directory behind them. */
static void
test_tiff(void **state)
{
    (void)state;
    enum { PIXELS = 100000 };
    BEGIN("MM\0*");
    add_big(8 + PIXELS, 4);
    for (int i = 0; i < PIXELS; i++) {
        buf_append_char(&file, 'p');
    }
    add_big(5, 2);
    static const uint32_t entries[][4] = {{256, 3, 1, 9u << 16},
                                          {257, 4, 1, 6},
                                          {315, 2, 4, 0x41646100},
                                          {700, 1, 0, 0},
                                          {34665, 4, 1, 8 + PIXELS + 66}};
    for (size_t i = 0; i < 5; i++) {
        const bool xmp = entries[i][0] == 700;
        add_big(entries[i][0], 2);
        add_big(entries[i][1], 2);
        add_big(xmp ? sizeof packet - 1 : entries[i][2], 4);
        add_big(xmp ? 8 + PIXELS + 66 + 18 + 8 : entries[i][3], 4);
    }
    add_big(0, 4);
    add_big(1, 2);
    add_big(0x829a, 2);
    add_big(5, 2);
    add_big(1, 4);
    add_big(8 + PIXELS + 66 + 18, 4);
    add_big(0, 4);
    add_big(1, 4);
    add_big(8, 4);
    add(packet, sizeof packet - 1);
    assert_int_equal(run("image/tiff"), TRANSFORM_WHOLE);
    expect("ns#width> \"9\"^^");
    expect("ns#height> \"6\"^^");
    expect("creator> \"Ada\"");
    expect("exposureTime> \"0.125\"^^");
    expect("source> \"a packet\"");
}

static void
test_heif(void **state)
{
    (void)state;
    BEGIN("");
    add_box("ftyp", "heic\0\0\0\0", 8);
    const size_t meta = file.length;
    add_big(0, 4);
    add_box("hdlr", "", 0);
    const size_t info = file.length;
    add_big(0, 4);
    add_big(1, 2);
    add_box("infe", "\2\0\0\0\0\1\0\0Exif\0", 13);
    wrap_box(info, "iinf");
    const size_t properties = file.length;
    add_box("ispe", "\0\0\0\0\0\0\0\x20\0\0\0\x10", 12);
    wrap_box(properties, "ipco");
    wrap_box(properties, "iprp");
    const size_t place = file.length + 8 + 4 + 2 + 2 + 4 + 2 + 4 + 4 + 8; /* of the item */
    static const char location[] = "\0\0\0\0\x44\0\0\1\0\1\0\0\0\1";
    const size_t locations = file.length;
    add(location, sizeof location - 1);
    add_big(place, 4);
    add_big(4 + sizeof tiny_tiff, 4);
    wrap_box(locations, "iloc");
    wrap_box(meta, "meta");
    const size_t item = file.length;
    add_big(0, 4);
    add(tiny_tiff, sizeof tiny_tiff);
    /* Now that it is known where the item lies. */
    for (size_t i = 0; i < 4; i++) {
        file.data[item - 8 + i] = (char)(item >> 8 * (3 - i));
    }
    assert_int_equal(run("image/heic"), TRANSFORM_WHOLE);
    expect("ns#width> \"32\"^^");
    expect("ns#make> \"Make\"");
}

/* ---- recordings ---- */

static void
test_mp4(void **state)
{
    (void)state;
    BEGIN("");
    add_box("ftyp", "M4A \0\0\0\0", 8);
    const size_t movie = file.length;
    add_box("mvhd", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x03\xe8\0\0\x09\xc4", 20);
    const size_t user = file.length;
    add_big(0, 4);
    const size_t list = file.length;
    add_box("data", "\0\0\0\1\0\0\0\0Eng\xc3\xbc", 13);
    wrap_box(list, "\251nam");
    const size_t track = file.length;
    add_box("data", "\0\0\0\0\0\0\0\0\0\0\0\7\0\x0c\0\0", 16);
    wrap_box(track, "trkn");
    wrap_box(list, "ilst");
    wrap_box(user, "meta");
    wrap_box(user, "udta");
    wrap_box(movie, "moov");
    assert_int_equal(run("audio/mp4"), TRANSFORM_WHOLE);
    expect("title> \"Eng\xc3\xbc\"");
    expect("trackNumber> \"7\"^^");
    expect("duration> \"2.5\"^^");
}

static const char comments[] =
    "\4\0\0\0test\2\0\0\0\x0b\0\0\0title=A day\x10\0\0\0DATE=2024-02-30x";

static void
test_flac(void **state)
{
    (void)state;
    BEGIN("fLaC\0\0\0\x22..........");
    add_big(44100ull << 44 | 1ull << 41 | 15ull << 36 | 88200, 8);
    ADD("................");
    ADD("\x84\0\0");
    buf_append_char(&file, sizeof comments - 1);
    add(comments, sizeof comments - 1);
    assert_int_equal(run("audio/flac"), TRANSFORM_WHOLE);
    expect("title> \"A day\"");
    expect("date> \"2024-02-30x\" "); /* no date, so plain text */
    expect("samplingRate> \"44100.0\"^^");
    expect("duration> \"2.0\"^^");
}

static void
add_ogg_page(uint8_t flags, uint64_t position, const void *packet_bytes, size_t length)
{
    ADD("OggS\0");
    buf_append_char(&file, (char)flags);
    add_little(position, 8);
    add_little(77, 4);
    add_little(0, 8);
    buf_append_char(&file, 1);
    buf_append_char(&file, (char)length);
    add(packet_bytes, length);
}

static void
test_ogg(void **state)
{
    (void)state;
    char second[128] = "OpusTags";
    memcpy(second + 8, comments, sizeof comments - 1);
    BEGIN("");
    add_ogg_page(2, 0, "OpusHead\1\2\x38\1\0\0\0\0\0\0\0", 19);
    add_ogg_page(0, 0, second, 8 + sizeof comments - 1);
    add_ogg_page(4, 0x138 + 96000, "sound", 5);
    assert_int_equal(run("audio/ogg"), TRANSFORM_WHOLE);
    expect("title> \"A day\"");
    expect("duration> \"2.0\"^^");
}

static void
test_wave(void **state)
{
    (void)state;
    BEGIN("RIFF\0\0\0\0WAVE");
    add_riff_chunk("fmt ", "\1\0\1\0\x40\x1f\0\0\x40\x1f\0\0\1\0\x08\0", 16);
    add_riff_chunk("LIST", "INFOINAM\4\0\0\0Day\0", 16);
    add_riff_chunk("data", "........", 8);
    assert_int_equal(run("audio/wav"), TRANSFORM_WHOLE);
    expect("title> \"Day\"");
    expect("samplingRate> \"8000.0\"^^");
    expect("averageBitRate> \"64.0\"^^");
    expect("duration> \"0.001\"^^");
}

static void
test_id3(void **state)
{
    (void)state;
    BEGIN("ID3\4\0\0\0\0\0\x31");
    ADD("TPE1\0\0\0\x08\0\0\3Ada\0Bob");       /* two values */
    ADD("TIT2\0\0\0\x06\0\0\2\0D\0ay");        /* UTF-16BE, one byte short */
    ADD("TDRC\0\0\0\5\0\0\0\x32\x30\x30\x31"); /* a year */
    assert_int_equal(run("audio/mpeg"), TRANSFORM_WHOLE);
    expect("creator> \"Ada\"");
    expect("creator> \"Bob\"");
    expect("date> \"2001\"^^");
    BEGIN("ID3\2\0\0\0\0\0\x0a");
    ADD("TT2\0\0\4\0Day");
    ADD("..TAG");
    char trailer[125] = "Trailed";
    trailer[124] = 17;
    add(trailer, sizeof trailer);
    assert_int_equal(run("audio/mpeg"), TRANSFORM_WHOLE);
    expect("title> \"Day\"");
    expect("title> \"Trailed\"");
    expect("genre> \"Rock\"");
}

/* ---- damaged ---- */

static void
test_xmp(void **state)
{
    (void)state;
    static const char damaged[] =
        XMP("<dc:title>kept</dc:title>") "<dc:creator>not closed</rdf:Description>";
    BEGIN("GIF89a\1\0\1\0\0\0\0!\xff\x0bXMP DataXMP");
    add(damaged, sizeof damaged - 1);
    ADD("\0;");
    run("image/gif");
    expect("ns#width> \"1\"^^");
    expect("title> \"kept\"");
}

/* Every prefix of the examples is read without complaint of a sanitizer, and says no more than the
 * whole. */
static void
test_cut(void **state)
{
    (void)state;
    static const char *const examples[][2] = {{"image", "image/jpeg"},
                                              {"recording", "audio/mpeg"},
                                              {"pdf", "application/pdf"},
                                              {"calendar", "text/calendar"},
                                              {"vcard", "text/vcard"}};
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        char path[4096], bytes[4096];
        snprintf(path, sizeof path, "%s/examples/%s/input", registry_folder(registry),
                 examples[i][0]);
        FILE *input = fopen(path, "rb");
        assert_non_null(input);
        const size_t length = fread(bytes, 1, sizeof bytes, input);
        fclose(input);
        for (size_t cut = 1; cut < length; cut += brief(7, 35)) {
            char *exact = memory_alloc(cut);
            memcpy(exact, bytes, cut);
            run_bytes(examples[i][1], slice_of(exact, cut));
            free(exact);
        }
    }
}

static void
test_truncated_jpeg(void **state)
{
    (void)state;
    BEGIN("\xff\xd8\xff\xe1\0\x29"
          "Exif\0\0");
    add(tiny_tiff, sizeof tiny_tiff);
    add_big(0, 2);
    ADD("\xff\xdb\0");
    assert_int_equal(run("image/jpeg"), TRANSFORM_PART);
    expect("ns#make> \"Make\"");
}

/* ---- calendars and cards ---- */

static void
test_calendar(void **state)
{
    (void)state;
    BEGIN("BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Ren\xe9\nno colon\nDTSTART:20240101\n"
          "DURATION:P2W\nDTEND:tomorrow\nRRULE:FREQ=NEVER\nATTENDEE:MAILTO:a@b.example\n"
          "END:VEVENT\nEND:VTODO\n");
    assert_int_equal(run("text/calendar"), TRANSFORM_PART);
    expect("summary> \"Ren\xc3\xa9\"");
    expect("dtstart> \"2024-01-01\"^^<http://www.w3.org/2001/XMLSchema#date>");
    expect("duration> \"P14D\"^^");
    expect("dtend> \"tomorrow\" ");
    expect("calAddress> <mailto:a@b.example>");
    assert_non_null(strstr(result.problems.data, "line 4: no colon"));
    assert_non_null(strstr(result.problems.data, "line 7: DTEND"));
    assert_non_null(strstr(result.problems.data, "line 8: RRULE"));
    assert_non_null(strstr(result.problems.data, "line 11: END without"));
}

static void
test_deep_calendar(void **state)
{
    (void)state;
    BEGIN("BEGIN:VCALENDAR\n");
    for (int i = 0; i < 5000; i++) {
        ADD("BEGIN:VEVENT\nUID:1\n");
    }
    run("text/calendar");
    expect("#1> ");
}

static void
test_vcard(void **state)
{
    (void)state;
    BEGIN("BEGIN:VCARD\r\nVERSION:3.0\r\nFN:A\\, B\r\nTEL;TYPE=\"cell,pref\":+43 1\r\n"
          "EMAIL:no address\r\nGEO:48.5;16\r\nPHOTO;ENCODING=b;TYPE=JPEG:AAAA\r\n"
          "NOTE:folded \r\n  here\r\nX-OTHER:no\r\nEND:VCARD\r\n");
    assert_int_equal(run("text/vcard"), TRANSFORM_PART);
    expect("fn> \"A, B\"");
    expect("hasValue> <tel:+43-1>");
    expect("ns#Cell>");
    expect("hasGeo> <geo:48.500000,16.000000>");
    expect("note> \"folded  here\"");
    expect_none("AAAA");
    assert_non_null(strstr(result.problems.data, "line 5: EMAIL"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_png),      cmocka_unit_test(test_gif),
        cmocka_unit_test(test_webp),     cmocka_unit_test(test_tiff),
        cmocka_unit_test(test_heif),     cmocka_unit_test(test_mp4),
        cmocka_unit_test(test_flac),     cmocka_unit_test(test_ogg),
        cmocka_unit_test(test_wave),     cmocka_unit_test(test_id3),
        cmocka_unit_test(test_xmp),      cmocka_unit_test(test_cut),
        cmocka_unit_test(test_calendar), cmocka_unit_test(test_truncated_jpeg),
        cmocka_unit_test(test_vcard),    cmocka_unit_test(test_deep_calendar),
    };
    return cmocka_run_group_tests(tests, open_transformer, close_transformer) +
           media_recordings_run();
}
