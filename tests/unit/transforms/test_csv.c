/* Tables as text, and documents packed as files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "transforms/common/unpack.h"
#include "transforms/text/csv.h"
#include "transforms/transform.h"

/* Records as "line:cell|cell\n". */
static void
write_records(struct slice text, char delimiter, struct buf *out)
{
    struct csv_reader *reader = memory_new(sizeof *reader);
    csv_begin(reader, text, delimiter);
    while (csv_read(reader)) {
        buf_printf(out, "%u:", (unsigned)reader->line);
        for (size_t i = 0; i < reader->count && i < CSV_COLUMNS; i++) {
            buf_printf(out, "%s%.*s", i > 0 ? "|" : "", SLICE_PRINT(reader->cells[i]));
        }
        buf_append_char(out, '\n');
    }
    csv_release(reader);
    free(reader);
}

static void
test_records(void **state)
{
    static const struct {
        const char *text;
        char delimiter;
        const char *records;
    } cases[] = {
        {"a,b\nc,d", ',', "1:a|b\n2:c|d\n"},
        {"a,b\r\n\r\nc,d\r\n", ',', "1:a|b\n3:c|d\n"},
        {" \"a\" , b ,\n,,\n", ',', "1:a|b|\n"},
        {"\"a\n1\",b\n\"x \"\"y\"\"\",\"\"\nz", ',', "1:a\n1|b\n3:x \"y\"|\n4:z\n"},
        {"\"a\"b,c\"d\n\"\"\"\",e", ',', "1:\"a\"b|c\"d\n2:\"|e\n"},
        {"a;\"never\nends;b\n\"c\";d", ';', "1:a|\"never\n2:ends|b\n3:c|d\n"},
        {"a\tb c\n1\t\"2\t3\"\n", '\t', "1:a|b c\n2:1|2\t3\n"},
        {"", ',', ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf out;
        buf_init(&out, 1 << 20);
        write_records(slice_string(cases[i].text), cases[i].delimiter, &out);
        assert_string_equal(out.data ? out.data : "", cases[i].records);
        buf_release(&out);
    }
}

static void
test_delimiters_are_guessed(void **state)
{
    static const struct {
        const char *text;
        char delimiter;
        size_t skip;
    } cases[] = {
        {"a,b\n1,2\n", ',', 0},
        {"a;b;c\n\"1,5\";2,5;3\n4;5,5;6\n", ';', 0},
        {"a\tb\n1,2\t3\n", '\t', 0},
        {"a|b|c\n1|2|3", '|', 0},
        {"sep=;\r\na,b;c\n", ';', 7},
        {"Dear all,\n\nsome words, and more, of text,\nwith commas; nothing\nelse here\n", 0, 0},
        {"one\ntwo\n", 0, 0},
        {"", 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t skip;
        assert_int_equal(csv_sniff(slice_string(cases[i].text), &skip), cases[i].delimiter);
        assert_int_equal(skip, cases[i].skip);
    }
}

static struct transformer *transformer;

static const char *
run(const char *type, struct slice bytes, struct transform_result *result)
{
    struct reason why;
    const struct transform_request request = {
        .uri = SLICE("http://h.example/t"), .type = slice_string(type), .bytes = bytes};
    assert_int_equal(transform_run(transformer, &request, result, &why), STATUS_OK);
    return result->graph.data ? result->graph.data : "";
}

#define D "http://h.example/t"
#define G " <" D "> .\n"

static void
test_tables_become_rows(void **state)
{
    struct transform_result result;
    (void)state;
    transform_result_init(&result, 64 << 20);
    assert_string_equal(run("text/csv", SLICE("Name,Years old\nAda,36\nAda,36\n"), &result),
                        "<" D "#row=2> <" D "#Name> \"Ada\"" G "<" D "#row=2> <" D
                        "#Years%20old> \"36\"" G "<" D "#row=3> <" D "#Name> \"Ada\"" G "<" D
                        "#row=3> <" D "#Years%20old> \"36\"" G);
    assert_int_equal(result.state, TRANSFORM_WHOLE);
    /* windows-1252, no header */
    assert_string_equal(run("text/csv", SLICE("1;\xE9\n2;x\n"), &result),
                        "<" D "#row=1> <" D "#_col.1> \"1\"" G "<" D "#row=1> <" D
                        "#_col.2> \"\xC3\xA9\"" G "<" D "#row=2> <" D "#_col.1> \"2\"" G "<" D
                        "#row=2> <" D "#_col.2> \"x\"" G);
    assert_int_equal(result.state, TRANSFORM_PART);
    assert_string_equal(run("text/csv", SLICE("Dear all,\nno table\nat all\n"), &result), "");
    assert_int_equal(result.state, TRANSFORM_BROKEN);
    transform_result_release(&result);
}

static void
pack(struct slice text, struct buf *out)
{
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (Bytef *)(uintptr_t)text.at;
    stream.avail_in = (uInt)text.length;
    stream.next_out = (Bytef *)buf_reserve(out, text.length + 1024);
    stream.avail_out = (uInt)text.length + 1024;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    buf_commit(out, text.length + 1024 - stream.avail_out);
    deflateEnd(&stream);
}

static void
test_packed_documents_are_unpacked(void **state)
{
    static const char text[] = "<a:s> <a:p> \"1\" .\n<a:s> <a:p> \"2\" .\n<a:s> <a:q> <b:x> .\n";
    struct transform_result result;
    struct buf packed;
    (void)state;
    transform_result_init(&result, 1 << 20);
    buf_init(&packed, 1 << 20);
    pack(SLICE(text), &packed);
    run("application/n-triples", buf_slice(&packed), &result);
    assert_int_equal(result.quads, 3);
    assert_int_equal(result.state, TRANSFORM_WHOLE);
    /* cut off, and with a wrong sum: what came out is used */
    run("application/n-triples", slice_of(packed.data, packed.length - 9), &result);
    assert_int_equal(result.state, TRANSFORM_PART);
    packed.data[packed.length - 6] ^= 1;
    run("application/n-triples", buf_slice(&packed), &result);
    assert_int_equal(result.quads, 3);
    assert_int_equal(result.state, TRANSFORM_PART);
    assert_non_null(strstr(result.problems.data, "gzip around the document is damaged"));
    /* what is gzip by type stays as it is */
    run("application/gzip", buf_slice(&packed), &result);
    assert_int_equal(result.state, TRANSFORM_NONE);
    buf_release(&packed);
    transform_result_release(&result);
}

static void
test_packed_xml_matches_by_its_root(void **state)
{
    struct transform_result result;
    struct buf packed;
    (void)state;
    transform_result_init(&result, 1 << 20);
    buf_init(&packed, 1 << 20);
    pack(SLICE("<Channel xmlns='http://purl.org/net/rss1.1#' "
               "xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' rdf:about='http://c/'>"
               "<title>T</title></Channel>"),
         &packed);
    run("application/xml", buf_slice(&packed), &result);
    assert_true(result.quads > 0);
    buf_release(&packed);
    transform_result_release(&result);
}

static void
test_bombs_are_refused(void **state)
{
    enum { ZEROS = 8 << 20 };
    struct buf packed, zeros, out;
    struct reason why;
    (void)state;
    buf_init(&zeros, ZEROS);
    buf_init(&packed, ZEROS + 2048);
    buf_init(&out, 1 << 20);
    memset(buf_reserve(&zeros, ZEROS), 0, ZEROS);
    buf_commit(&zeros, ZEROS);
    pack(buf_slice(&zeros), &packed);
    assert_int_equal(unpack("gzip", buf_slice(&packed), &out, &why), STATUS_LIMIT);
    buf_release(&zeros);
    buf_release(&packed);
    buf_release(&out);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records),
        cmocka_unit_test(test_delimiters_are_guessed),
        cmocka_unit_test(test_tables_become_rows),
        cmocka_unit_test(test_packed_documents_are_unpacked),
        cmocka_unit_test(test_packed_xml_matches_by_its_root),
        cmocka_unit_test(test_bombs_are_refused),
    };
    struct reason why;
    struct registry *registry = registry_new();
    const struct transform_limits limits = {.memory = 256 << 20, .output = 64 << 20};
    if (registry_read_default(registry, &why) != STATUS_OK ||
        transformer_new(&transformer, registry, &limits, &why) != STATUS_OK) {
        fprintf(stderr, "%s\n", why.text);
        return 1;
    }
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    transformer_free(transformer);
    registry_free(registry);
    return failed;
}
