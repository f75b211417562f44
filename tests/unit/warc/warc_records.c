/* These tests have what the archive writer (warc/writer.c) puts into files, byte for byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/digest.h"
#include "base/options/opt.h"
#include "tests/unit/warc/warc_files.h"
#include "tests/unit/warc/warc_writer.h"

/* ---- what records look like ---- */

static void
check_info(struct slice fields, const char *node)
{
    struct buf block, expected;
    uint8_t digest[DIGEST_SHA1_SIZE];
    char base32[33], name[WARC_FILE_SIZE];
    struct warc_writer_options options = options_of(1 << 20);
    options.node = node;
    options.user_agent = fields.length > 0 ? "Agent/1\r\nx" : "";
    options.operator_contact = fields.length > 0 ? "mail:me" : NULL;
    buf_init(&block, TEXT);
    buf_init(&expected, TEXT);
    buf_printf(&block,
               "software: Quadrille/%s\r\nformat: WARC File Format 1.1\r\nconformsTo: "
               "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n",
               QUADRILLE_VERSION);
    buf_append_slice(&block, fields);
    digest_sha1_parts(buf_slice(&block), SLICE(""), digest);
    digest_base32(digest, DIGEST_SHA1_SIZE, base32);
    struct warc_writer *writer = open_with(&options);
    next_id = 0;
    const struct warc_location location = write_one(writer, SLICE(""));
    snprintf(name, sizeof name, "%s", location.file);
    assert_int_equal(file_size(name), location.offset);
    buf_printf(&expected,
               "WARC/1.1\r\nWARC-Type: warcinfo\r\n"
               "WARC-Record-ID: <urn:uuid:00f1f2f3-f4f5-46f7-b8f9-fafbfcfdfeff>\r\n"
               "WARC-Date: 2023-11-14T22:13:20.007Z\r\nWARC-Filename: %s\r\n"
               "WARC-Block-Digest: sha1:%s\r\nContent-Type: application/warc-fields\r\n"
               "Content-Length: %zu\r\n\r\n%s\r\n\r\n",
               name, base32, block.length, block.data);
    check_text(name, 0, expected.data);
    assert_int_equal(warc_writer_close(writer, NULL), STATUS_OK);
    buf_release(&block);
    buf_release(&expected);
}

static void
a_file_says_who_wrote_it(void **state)
{
    (void)state;
    check_info(SLICE("http-header-user-agent: Agent/1  x\r\noperator: mail:me\r\n"), "n");
    check_info(SLICE(""), "m");
}

static void
an_exchange_is_two_records(void **state)
{
    (void)state;
    struct warc_location location;
    struct warc_writer *writer = open_writer(1 << 20);
    struct warc_exchange exchange = exchange_of(SLICE("hello"));
    exchange.ip = SLICE("192.0.2.7");
    exchange.protocol = SLICE("h3");
    exchange.truncated = SLICE("length");
    exchange.response_header = SLICE("HTTP/3 200\r\nX-Transfer-Encoding: no\r\n"
                                     "TRANSFER-ENCODING: gzip\r\nTransfer-Encoding:\nend: x");
    assert_int_equal(warc_write_exchange(writer, &exchange, &location, NULL), STATUS_OK);
    assert_string_equal(location.file, NAME_0);
    assert_string_equal(location.id, "urn:uuid:01f1f2f3-f4f5-46f7-b8f9-fafbfcfdfeff");
    assert_int_equal(warc_sync(writer, NULL), STATUS_OK);
    static const char response[] =
        "WARC/1.1\r\nWARC-Type: response\r\n"
        "WARC-Record-ID: <urn:uuid:01f1f2f3-f4f5-46f7-b8f9-fafbfcfdfeff>\r\n"
        "WARC-Date: 2023-11-14T22:13:20.123Z\r\nWARC-Target-URI: http://example.org/a\r\n"
        "WARC-Warcinfo-ID: <urn:uuid:00f1f2f3-f4f5-46f7-b8f9-fafbfcfdfeff>\r\n"
        "WARC-IP-Address: 192.0.2.7\r\nWARC-Protocol: h3\r\nWARC-Truncated: length\r\n"
        "WARC-Payload-Digest: sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N\r\n"
        "WARC-Block-Digest: sha1:K3CVKVA35CRBZ6CSWKO37X2UJ27FGDTB\r\n"
        "Content-Type: application/http;msgtype=response\r\nContent-Length: 124\r\n\r\n"
        "HTTP/1.1 200\r\nX-Transfer-Encoding: no\r\n"
        "X-Archive-Orig-TRANSFER-ENCODING: gzip\r\nX-Archive-Orig-Transfer-Encoding:\nend: xhello"
        "\r\n\r\n";
    static const char request[] =
        "WARC/1.1\r\nWARC-Type: request\r\n"
        "WARC-Record-ID: <urn:uuid:02f1f2f3-f4f5-46f7-b8f9-fafbfcfdfeff>\r\n"
        "WARC-Date: 2023-11-14T22:13:20.123Z\r\nWARC-Target-URI: http://example.org/a\r\n"
        "WARC-Warcinfo-ID: <urn:uuid:00f1f2f3-f4f5-46f7-b8f9-fafbfcfdfeff>\r\n"
        "WARC-IP-Address: 192.0.2.7\r\nWARC-Protocol: h3\r\n"
        "WARC-Concurrent-To: <urn:uuid:01f1f2f3-f4f5-46f7-b8f9-fafbfcfdfeff>\r\n"
        "WARC-Block-Digest: sha1:FUXQR2OYSTAYDWMC5ZB7VMCNZ4JASXSO\r\n"
        "Content-Type: application/http;msgtype=request\r\nContent-Length: 19\r\n\r\n"
        "GET /a HTTP/1.1\r\n\r\n\r\n\r\n";
    char both[sizeof response + sizeof request];
    snprintf(both, sizeof both, "%s%s", response, request);
    check_text(NAME_0, location.offset, both);
    check_text(NAME_0, location.offset + location.length, request);
    assert_int_equal(warc_writer_close(writer, NULL), STATUS_OK);
}

/* What is not known of an exchange is not said. */
static void
an_exchange_without_more_says_no_more(void **state)
{
    static const char *const fields[] = {"WARC-Protocol", "WARC-IP-Address", "WARC-Truncated"};
    (void)state;
    struct warc_location location;
    struct warc_record record;
    struct warc_writer *writer = open_writer(1 << 20);
    struct warc_exchange exchange = exchange_of(SLICE("hello"));
    struct buf memory;
    exchange.ip = exchange.protocol = exchange.truncated = (struct slice){0};
    assert_int_equal(warc_write_exchange(writer, &exchange, &location, NULL), STATUS_OK);
    assert_int_equal(warc_sync(writer, NULL), STATUS_OK);
    struct warc_reader *reader = warc_reader_open(directory, &(struct warc_limits){0});
    buf_init(&memory, 1 << 20);
    assert_int_equal(warc_read(reader, slice_string(location.file), location.offset,
                               location.length, &memory, &record, NULL),
                     STATUS_OK);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        assert_int_equal(slice_find_slice(record.header, slice_string(fields[i])),
                         record.header.length);
    }
    buf_release(&memory);
    warc_reader_close(reader);
    assert_int_equal(warc_writer_close(writer, NULL), STATUS_OK);
}

static void
a_resource_is_two_records(void **state)
{
    (void)state;
    struct warc_location location;
    struct warc_writer *writer = open_writer(1 << 20);
    struct warc_resource resource = {.uri = SLICE("ftp://example.org/a"),
                                     .content_type = SLICE("text/plain"),
                                     .body = SLICE("hello"),
                                     .dialogue = SLICE("> QUIT\r\n"),
                                     .ip = SLICE("192.0.2.7"),
                                     .truncated = SLICE("time"),
                                     .date_ms = 1700000000123};
    assert_int_equal(warc_write_resource(writer, &resource, &location, NULL), STATUS_OK);
    assert_string_equal(location.id, "urn:uuid:01f1f2f3-f4f5-46f7-b8f9-fafbfcfdfeff");
    resource.truncated = resource.ip = SLICE("");
    struct warc_location second;
    assert_int_equal(warc_write_resource(writer, &resource, &second, NULL), STATUS_OK);
    assert_int_equal(warc_sync(writer, NULL), STATUS_OK);
#define RECORD(type, id, digest, content_type, length, origin, block)                 \
    "WARC/1.1\r\nWARC-Type: " type "\r\nWARC-Record-ID: <urn:uuid:" id                \
    "f1f2f3-f4f5-46f7-b8f9-fafbfcfdfeff>\r\n"                                         \
    "WARC-Date: 2023-11-14T22:13:20.123Z\r\nWARC-Target-URI: ftp://example.org/a\r\n" \
    "WARC-Warcinfo-ID: <urn:uuid:00f1f2f3-f4f5-46f7-b8f9-fafbfcfdfeff>\r\n" origin    \
    "WARC-Block-Digest: sha1:" digest "\r\nContent-Type: " content_type               \
    "\r\nContent-Length: " length "\r\n\r\n" block "\r\n\r\n"
#define IP "WARC-IP-Address: 192.0.2.7\r\n"
#define TO(id) "WARC-Concurrent-To: <urn:uuid:" id "f1f2f3-f4f5-46f7-b8f9-fafbfcfdfeff>\r\n"
#define HELLO "VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N"
#define QUIT "EW6NJ2OPDRPZS7KLGWNENTS25LC564OO"
#define FTP "text/x-ftp-control"
    check_text(NAME_0, location.offset,
               RECORD("resource", "01", HELLO, "text/plain", "5", IP "WARC-Truncated: time\r\n",
                      "hello") RECORD("metadata", "02", QUIT, FTP, "8", IP TO("01"), "> QUIT\r\n")
                   RECORD("resource", "03", HELLO, "text/plain", "5", "", "hello")
                       RECORD("metadata", "04", QUIT, FTP, "8", TO("03"), "> QUIT\r\n"));
    assert_int_equal(warc_writer_close(writer, NULL), STATUS_OK);
}

static void
a_conversion_names_its_original(void **state)
{
    (void)state;
    struct warc_location first, second;
    struct warc_writer *writer = open_writer(1 << 20);
    struct warc_conversion conversion = {.uri = SLICE("ftp://example.org/a"),
                                         .refers_to = SLICE("urn:uuid:1"),
                                         .content_type = SLICE("text/plain"),
                                         .body = SLICE("hello"),
                                         .date_ms = 1700000000123};
    assert_int_equal(warc_write_conversion(writer, &conversion, &first, NULL), STATUS_OK);
    conversion.refers_to = SLICE("");
    assert_int_equal(warc_write_conversion(writer, &conversion, &second, NULL), STATUS_OK);
    assert_int_equal(warc_sync(writer, NULL), STATUS_OK);
    check_text(NAME_0, first.offset,
               RECORD("conversion", "01", HELLO, "text/plain", "5",
                      "WARC-Refers-To: <urn:uuid:1>\r\n", "hello")
                   RECORD("conversion", "02", HELLO, "text/plain", "5", "", "hello"));
    assert_int_equal(second.offset, first.offset + first.length);
    assert_int_equal(warc_writer_close(writer, NULL), STATUS_OK);
}

/* The file that a packed conversion will be in is not known yet, so its record names none. */
static void
a_packed_conversion_names_no_file(void **state)
{
    const struct warc_conversion conversion = {.uri = SLICE("http://e.example/"),
                                               .refers_to = SLICE("urn:uuid:1"),
                                               .content_type = SLICE("application/n-quads"),
                                               .body = SLICE("<s> <p> <o> .\n")};
    struct warc_writer *writer = open_writer(1 << 20);
    struct reason why = {""};
    struct slice member;
    struct buf text;
    char id[WARC_ID_SIZE], path[PATH_SIZE];
    (void)state;
    assert_int_equal(warc_pack_conversion(writer, &conversion, id, &member, &why), STATUS_OK);
    path_of("packed.warc.gz", path);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(member.at, 1, member.length, file), member.length);
    fclose(file);
    buf_init(&text, TEXT);
    text_from("packed.warc.gz", 0, &text);
    assert_true(slice_find_slice(buf_slice(&text), slice_string(id)) < text.length);
    assert_true(slice_find_slice(buf_slice(&text), SLICE("WARC-Refers-To: <urn:uuid:1>")) <
                text.length);
    assert_int_equal(slice_find_slice(buf_slice(&text), SLICE("WARC-Warcinfo-ID")), text.length);
    buf_release(&text);
    assert_int_equal(warc_writer_close(writer, &why), STATUS_OK);
}

/* The memory that a large record needs is given back, and the next record finds its own. */
static void
small_records_follow_large_ones(void **state)
{
    enum { LARGE = 5 << 20 };
    static char large[LARGE]; /* which cannot be compressed much */
    struct warc_writer *writer = open_writer(64 << 20);
    struct reason why = {""};
    struct warc_location location;
    uint64_t number = 1;
    (void)state;
    for (size_t i = 0; i < LARGE; i++) {
        number = number * 6364136223846793005u + 1442695040888963407u;
        large[i] = (char)(number >> 56);
    }
    for (int turn = 0; turn < 2; turn++) {
        assert_int_equal(write_body(writer, slice_of(large, LARGE), &location, &why), STATUS_OK);
        assert_true(location.length > LARGE / 2);
        assert_int_equal(write_body(writer, SLICE("small"), &location, &why), STATUS_OK);
        assert_true(location.length < 1 << 12);
        assert_int_equal(warc_sync(writer, &why), STATUS_OK);
    }
    assert_int_equal(warc_writer_close(writer, &why), STATUS_OK);
}

/* A header that HTTP/1 or none wrote is stored as it is; so is one that ends in mid-line. */
static void
headers_are_stored_as_they_came(void **state)
{
    (void)state;
    static const char *const headers[][2] = {
        {"HTTP/1.0 200\r\n\r\n", "HTTP/1.0 200\r\n\r\n"},
        {"HTTP/2 200 \r\n\r\n", "HTTP/1.1 200 \r\n\r\n"},
        {"HTTP/2", "HTTP/1.1"},
        {"HTTP/2.0 204\na", "HTTP/1.1 204\na"},
        {"Transfer-Encoding:", "Transfer-Encoding:"},
        {"Transfer-Encoding: x", "X-Archive-Orig-Transfer-Encoding: x"},
        {"Transfer-Encodings: x\r\n", "Transfer-Encodings: x\r\n"},
        {"a", "a"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        struct warc_location location;
        struct buf expected, text;
        struct warc_writer *writer = open_writer(1 << 20);
        struct warc_exchange exchange = exchange_of(SLICE(""));
        exchange.response_header = slice_string(headers[i][0]);
        assert_int_equal(warc_write_exchange(writer, &exchange, &location, NULL), STATUS_OK);
        assert_int_equal(warc_sync(writer, NULL), STATUS_OK);
        text_from(location.file, location.offset, &text);
        buf_init(&expected, TEXT);
        buf_printf(&expected, "Content-Length: %zu\r\n\r\n%s\r\n\r\nWARC/1.1\r\n",
                   strlen(headers[i][1]), headers[i][1]);
        assert_non_null(strstr(text.data, expected.data));
        assert_int_equal(warc_writer_close(writer, NULL), STATUS_OK);
        buf_release(&text);
        buf_release(&expected);
    }
}

static void
identifiers_do_not_repeat(void **state)
{
    (void)state;
    char expected[64];
    struct warc_writer *writer = open_writer(1 << 20);
    for (unsigned i = 0; i < 100; i++) { /* each takes two, and the file's own is the first */
        const struct warc_location location = write_one(writer, SLICE(""));
        snprintf(expected, sizeof expected, "urn:uuid:%02xf1f2f3-f4f5-46f7-b8f9-fafbfcfdfeff",
                 2 * i + 1);
        assert_string_equal(location.id, expected);
    }
    assert_int_equal(warc_writer_close(writer, NULL), STATUS_OK);
}

static void
names_of_files_are_plain(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"", "node"},
        {NULL, "node"},
        {"azAZ09._", "azAZ09._"},
        {"`{@[/:", "______"},
        {"a-b c\xc3\xa9", "a_b_c__"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char expected[WARC_FILE_SIZE];
        struct warc_writer_options options = options_of(1);
        options.prefix = options.node = options.process = names[i][0];
        struct warc_writer *writer = open_with(&options);
        const struct warc_location location = write_one(writer, SLICE(""));
        snprintf(expected, sizeof expected, "%s-20231114221320007-00000-%s-%s.warc.gz", names[i][1],
                 names[i][1], names[i][1]);
        assert_string_equal(location.file, expected);
        assert_int_equal(warc_writer_close(writer, NULL), STATUS_OK);
        each_file(true);
    }
}

/* The longest name is one byte shorter than its room. */
static void
too_long_names_are_refused(void **state)
{
    (void)state;
    char node[WARC_FILE_SIZE];
    struct warc_location location;
    struct reason why = {""};
    const size_t most = WARC_FILE_SIZE - 1 - (sizeof NAME_0 - 1) + 1;
    for (size_t length = most; length <= most + 1; length++) {
        memset(node, 'a', length);
        node[length] = '\0';
        struct warc_writer_options options = options_of(1 << 20);
        options.node = node;
        struct warc_writer *writer = open_with(&options);
        const enum status status = write_body(writer, SLICE(""), &location, &why);
        assert_int_equal(status, length == most ? STATUS_OK : STATUS_MISUSE);
        assert_int_equal(warc_writer_close(writer, NULL), STATUS_OK);
    }
    assert_string_equal(why.text, "the name of the WARC file is too long");
    assert_int_equal(each_file(false), 1);
}

int
warc_records_run(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
        CASE(a_file_says_who_wrote_it),
        CASE(an_exchange_is_two_records),
        CASE(an_exchange_without_more_says_no_more),
        CASE(a_resource_is_two_records),
        CASE(a_conversion_names_its_original),
        CASE(a_packed_conversion_names_no_file),
        CASE(small_records_follow_large_ones),
        CASE(headers_are_stored_as_they_came),
        CASE(identifiers_do_not_repeat),
        CASE(names_of_files_are_plain),
        CASE(too_long_names_are_refused),
    };
    return cmocka_run_group_tests_name("warc records", tests, NULL, NULL);
}
