/* Records as readers take them (warc/record.c, warc/reader.c): each part of a header that may be
 * missing or damaged, limits at their exact value, and which bytes of a file are read when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "tests/unit/memory_in_use.h"
#include "tests/unit/warc/packed.h"
#include "tests/unit/warc/warc_files.h"
#include "tests/unit/warc/warc_writer.h"
#include "warc/record.h"

enum { MEMORY = 1 << 20, AHEAD_BYTES = 64 << 10, OPEN_FILES = 8 };

/* ---- header blocks ---- */

static void
headers_end_with_an_empty_line(void **state)
{
    static const struct {
        const char *text;
        size_t length;
    } cases[] = {{"", 0},      {"a", 0},          {"a\n", 0},      {"a\r\n", 0},       {"\n", 1},
                 {"\r\n", 2},  {"\r\nbody", 2},   {"x\n\nb", 3},   {"a\r\n\r\nb", 5},  {"\r", 0},
                 {"a\n\r", 0}, {"\r\r\n\r\n", 5}, {"a\nb\n\n", 5}, {"\rx\n\nb\n\n", 4}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(warc_header_length(slice_string(cases[i].text)), cases[i].length);
    }
}

static void
headers_are_found_by_name(void **state)
{
    static const struct {
        const char *header, *value; /* of Name; NULL: absent */
    } cases[] = {
        {"", NULL},
        {"Name", NULL},
        {"Name\nName: x", "x"},
        {"Names: x\nNam: y\nName : z\n", NULL},
        {"nAME:\t one \r\nName: two\r\n", "one"},
        {"First line\r\nOther: Name: no\r\nName:x:y\r\n", "x:y"},
        {"Name:", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct slice value = warc_http_header(slice_string(cases[i].header), "Name");
        assert_int_equal(value.at != NULL, cases[i].value != NULL);
        assert_slice(value, cases[i].value != NULL ? cases[i].value : "");
    }
}

static void
limits_have_defaults(void **state)
{
    const struct warc_limits given[] = {{0}, {.record = 5}, {.record = 1, .body = 1, .ratio = 1}};
    (void)state;
    for (int i = -1; i < 3; i++) {
        const struct warc_limits filled = warc_limits_of(i < 0 ? NULL : &given[i]);
        const size_t record = i < 1 ? 256 << 20 : given[i].record;
        assert_int_equal(filled.record, record);
        assert_int_equal(filled.body, record);
        assert_int_equal(filled.ratio, i < 2 ? 1000 : 1);
    }
}

/* ---- records ---- */

/* Parses a record of that header, to whose end an empty line is added, and what follows it. */
static enum status
parse(struct buf *memory, const char *header, struct slice rest, const struct warc_limits *limits,
      struct warc_record *record, struct reason *why)
{
    const struct warc_limits filled = warc_limits_of(limits);
    buf_reset(memory);
    (void)buf_printf(memory, "WARC/1.1\r\n%s\r\n", header);
    (void)buf_append_slice(memory, rest);
    return warc_record_parse(memory, &filled, record, why);
}

static void
records_must_be_whole(void **state)
{
    static const struct {
        const char *header;
        bool whole; /* with five bytes behind it */
    } cases[] = {
        {"Content-Length: 5\r\n", true},
        {"Content-Length: 0\r\n", true},
        {"Content-Length: 6\r\n", false},
        {"Content-Length:\r\n", false},
        {"Content-Length: 5x\r\n", false},
        {"Content-Length: -1\r\n", false},
        {"Content-Length: /\r\n", false},
        {"Content-Length: :\r\n", false},
        {"Content-Length: 05\r\n", true},
        {"", false},
        /* 2^64, and 2^64 + 5 */
        {"Content-Length: 18446744073709551616\r\n", false},
        {"Content-Length: 18446744073709551621\r\n", false},
    };
    struct buf memory;
    struct warc_record record;
    (void)state;
    buf_init(&memory, MEMORY);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reason why = {""};
        assert_int_equal(parse(&memory, cases[i].header, SLICE("12345"), NULL, &record, &why),
                         cases[i].whole ? STATUS_OK : STATUS_CORRUPT);
        assert_string_equal(why.text, cases[i].whole ? "" : "a WARC record is not whole");
    }
    buf_reset(&memory); /* its header does not end */
    (void)buf_append_string(&memory, "WARC/1.1\r\nContent-Length: 0\r\n");
    assert_int_equal(warc_record_parse(&memory, NULL, &record, NULL), STATUS_CORRUPT);
    buf_release(&memory);
}

static void
names_lose_their_angles(void **state)
{
    static const char *const cases[][2] = {{"<a>", "a"}, {"<>", ""},   {"<", "<"},      {"", ""},
                                           {"a>", "a>"}, {"<a", "<a"}, {"<<a>>", "<a>"}};
    struct buf memory;
    (void)state;
    buf_init(&memory, MEMORY);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct warc_record record;
        char header[200];
        const char *raw = cases[i][0];
        snprintf(header, sizeof header,
                 "WARC-Target-URI: %s\r\nWARC-Record-ID: %s\r\nWARC-Refers-To: %s\r\n"
                 "WARC-Date: %s\r\nWARC-Truncated: %s\r\nContent-Length: 1\r\n",
                 raw, raw, raw, raw, raw);
        assert_int_equal(parse(&memory, header, SLICE("12"), NULL, &record, NULL), STATUS_OK);
        assert_slice(record.uri, cases[i][1]);
        assert_slice(record.id, cases[i][1]);
        assert_slice(record.refers_to, cases[i][1]);
        assert_slice(record.date, raw);
        assert_slice(record.truncated, raw);
        assert_slice(record.payload, "1");
        assert_slice(record.body, "1");
    }
    buf_release(&memory);
}

static void
statuses_have_three_digits(void **state)
{
    static const struct {
        const char *block;
        unsigned status;
        const char *http_header, *payload;
    } cases[] = {
        {"HTTP/1.1 200 OK\r\n\r\nbody", 200, "HTTP/1.1 200 OK\r\n\r\n", "body"},
        {"HTTP/1.1 2045\r\n\r\n", 204, "HTTP/1.1 2045\r\n\r\n", ""},
        {"HTTP/1.1 20", 20, "HTTP/1.1 20", ""},
        {"HTTP/1.1 2/0", 0, "HTTP/1.1 2/0", ""},
        {"HTTP/1.1 2:0", 0, "HTTP/1.1 2:0", ""},
        {"HTTP/1.1 909\n\nx", 909, "HTTP/1.1 909\n\n", "x"},
        {"HTTP/1.1", 0, "HTTP/1.1", ""},
        {"GET /404 404\r\n\r\nx", 0, "GET /404 404\r\n\r\n", "x"},
        {"", 0, "", ""},
    };
    struct buf memory;
    (void)state;
    buf_init(&memory, MEMORY);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct warc_record record;
        char header[100];
        snprintf(header, sizeof header,
                 "Content-Type: application/http;msgtype=x\r\nContent-Length: %zu\r\n",
                 strlen(cases[i].block));
        assert_int_equal(parse(&memory, header, slice_string(cases[i].block), NULL, &record, NULL),
                         STATUS_OK);
        assert_int_equal(record.http_status, cases[i].status);
        assert_slice(record.http_header, cases[i].http_header);
        assert_slice(record.payload, cases[i].payload);
        assert_slice(record.body, cases[i].payload);
    }
    buf_release(&memory);
}

#define ENCODED(coding) "HTTP/1.1 200 OK\r\nContent-Encoding: " coding "\r\n\r\n"

/* The body of an answer whose payload is in a coding. */
static void
decode(struct buf *memory, const char *http_header, struct slice payload,
       const struct warc_limits *limits, struct warc_record *record)
{
    struct buf block;
    char header[100];
    buf_init(&block, MEMORY);
    (void)buf_append_string(&block, http_header);
    (void)buf_append_slice(&block, payload);
    snprintf(header, sizeof header, "Content-Type: application/http\r\nContent-Length: %zu\r\n",
             block.length);
    assert_int_equal(parse(memory, header, buf_slice(&block), limits, record, NULL), STATUS_OK);
    assert_true(slice_equal(record->payload, payload));
    buf_release(&block);
}

static void
bodies_are_decoded_as_far_as_they_can_be(void **state)
{
    const struct warc_limits encoded = {.encoded = true};
    char packed[PACKED_SIZE];
    struct warc_record record;
    struct buf memory;
    struct slice whole = pack_zlib(SLICE("one two three"), 31, packed);
    (void)state;
    buf_init(&memory, MEMORY);
    decode(&memory, ENCODED("gzip"), whole, NULL, &record);
    assert_slice(record.body, "one two three");
    assert_slice(record.encoding_problem, "");
    assert_false(record.body_truncated);
    decode(&memory, ENCODED("gzip"), whole, &encoded, &record);
    assert_true(slice_equal(record.body, whole));
    decode(&memory, ENCODED("gzip"), slice_of(whole.at, whole.length - 9), NULL, &record);
    assert_true(record.body_truncated);
    assert_true(record.body.length > 0 && slice_starts(SLICE("one two three"), record.body));
    assert_slice(record.encoding_problem, "the gzip coding is damaged or cut off");
    decode(&memory, ENCODED("sdch"), SLICE("as it is"), NULL, &record);
    assert_false(record.body_truncated);
    assert_slice(record.body, "as it is");
    assert_slice(record.encoding_problem, "content coding \"sdch\" is not known");
    decode(&memory, "ICY 200 OK\r\nContent-Encoding: gzip\r\n\r\n", whole, NULL, &record);
    assert_int_equal(record.http_status, 0); /* no answer of HTTP has a coding that is known */
    assert_true(slice_equal(record.body, whole));
    decode(&memory, ENCODED("sdch"), SLICE(""), NULL, &record);
    assert_slice(record.encoding_problem, "");
    decode(&memory, ENCODED("gzip"), SLICE("as it is"), NULL, &record);
    assert_slice(record.body, "as it is");
    assert_slice(record.encoding_problem, "the body is not gzip, though its header says so");
    buf_release(&memory);
}

/* A memory that is full has no room for the problem, and is told none the less. */
static void
problems_need_no_room(void **state)
{
    struct warc_record record;
    struct buf memory;
    (void)state;
    buf_init(&memory, MEMORY);
    decode(&memory, ENCODED("sdch"), SLICE("as it is"), NULL, &record);
    const size_t whole = memory.length - record.encoding_problem.length;
    buf_release(&memory);
    buf_init(&memory, whole);
    decode(&memory, ENCODED("sdch"), SLICE("as it is"), NULL, &record);
    assert_slice(record.body, "as it is");
    assert_slice(record.encoding_problem, "the body could not be decoded");
    buf_release(&memory);
}

/* ---- members ---- */

static const char plain[] = "WARC/1.1\r\nContent-Length: 3\r\n\r\nabc\r\n\r\n";

static void
members_have_limits(void **state)
{
    static const struct {
        int record, memory; /* bytes more than the record has */
        enum status status;
    } cases[] = {{0, 1, STATUS_OK},
                 {1, 0, STATUS_OK},
                 {-1, 99, STATUS_LIMIT},
                 {99, -1, STATUS_LIMIT},
                 {-2, -1, STATUS_LIMIT}};
    const size_t length = sizeof plain - 1;
    char packed[PACKED_SIZE];
    const struct slice members[] = {slice_of(plain, length),
                                    pack_zlib(slice_of(plain, length), 31, packed)};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t coded = 0; coded < 2; coded++) {
            const size_t most = length + (size_t)cases[i].record;
            const size_t room = length + (size_t)cases[i].memory;
            struct warc_record record;
            struct reason why = {""};
            char expected[64] = "";
            struct buf memory;
            buf_init(&memory, room);
            assert_int_equal(warc_read_member(members[coded], &(struct warc_limits){.record = most},
                                              &memory, &record, &why),
                             cases[i].status);
            if (cases[i].status == STATUS_OK) {
                assert_slice(record.body, "abc");
            } else if (coded > 0) {
                snprintf(expected, sizeof expected, "a WARC record larger than %zu bytes",
                         most < room ? most : room);
            } else {
                snprintf(expected, sizeof expected, "a WARC record of %zu bytes", length);
            }
            assert_string_equal(why.text, expected);
            buf_release(&memory);
        }
    }
}

static void
members_may_be_damaged(void **state)
{
    char packed[PACKED_SIZE];
    struct slice member = pack_zlib(slice_of(plain, sizeof plain - 1), 31, packed);
    struct warc_record record;
    struct reason why = {""};
    struct buf memory;
    (void)state;
    buf_init(&memory, MEMORY);
    assert_int_equal(warc_read_member(slice_of(member.at, 17), NULL, &memory, &record, &why),
                     STATUS_CORRUPT);
    assert_string_equal(why.text, "a WARC record's gzip member is damaged or torn");
    member.length--;
    assert_int_equal(warc_read_member(member, NULL, &memory, &record, &why), STATUS_CORRUPT);
    member.length++;
    packed[12] ^= 0x55;
    assert_int_equal(warc_read_member(member, NULL, &memory, &record, &why), STATUS_CORRUPT);
    assert_string_equal(why.text, "the gzip member is damaged or cut off");
    assert_int_equal(memory.length, 0);
    buf_release(&memory);
}

/* ---- files ---- */

/* A file of plain records of that many bytes each; their bodies are one letter, repeated. */
static void
make_file(const char *name, const size_t *lengths, size_t count, const char *letters)
{
    char path[PATH_SIZE];
    path_of(name, path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (size_t i = 0; i < count; i++) {
        char header[64];
        const int head = snprintf(header, sizeof header,
                                  "WARC/1.1\r\nContent-Length: %08zu\r\n\r\n", lengths[i]);
        const size_t body = lengths[i] - (size_t)head;
        (void)fprintf(file, "WARC/1.1\r\nContent-Length: %08zu\r\n\r\n", body);
        for (size_t n = 0; n < body; n++) {
            (void)fputc(letters[i], file);
        }
    }
    assert_int_equal(fclose(file), 0);
}

/* The letter of the record that is there. */
static char
letter_at(struct warc_reader *reader, const char *file, uint64_t offset, uint64_t length)
{
    struct warc_record record;
    struct reason why = {""};
    struct buf memory;
    buf_init(&memory, 16 << 20);
    const enum status status =
        warc_read(reader, slice_string(file), offset, length, &memory, &record, &why);
    if (status != STATUS_OK) {
        fail_msg("%s", why.text);
    }
    const char letter = record.body.at[0];
    assert_int_equal(record.body.at[record.body.length - 1], letter);
    buf_release(&memory);
    return letter;
}

static enum status
status_of(struct warc_reader *reader, struct slice name, uint64_t offset, uint64_t length,
          struct reason *why)
{
    struct warc_record record;
    struct buf memory;
    buf_init(&memory, MEMORY);
    const enum status status = warc_read(reader, name, offset, length, &memory, &record, why);
    buf_release(&memory);
    return status;
}

static void
places_have_limits(void **state)
{
    enum { LENGTH = 100 };
    static const char zero[] = "a\0b";
    static const size_t lengths[] = {LENGTH};
    struct reason why = {""};
    struct warc_reader *reader =
        warc_reader_open(directory, &(struct warc_limits){.record = LENGTH});
    char longest[WARC_FILE_SIZE], too_long[WARC_FILE_SIZE + 1], path[PATH_SIZE];
    (void)state;
    make_file("a", lengths, 1, "x");
    memset(longest, 'a', sizeof longest);
    memset(too_long, 'a', sizeof too_long);
    assert_int_equal(letter_at(reader, "a", 0, LENGTH), 'x');
    assert_int_equal(status_of(reader, SLICE(""), 0, 1, &why), STATUS_BAD_INPUT);
    assert_string_equal(why.text, "\"\" names no WARC file");
    assert_int_equal(status_of(reader, SLICE(".a"), 0, 1, &why), STATUS_BAD_INPUT);
    assert_int_equal(status_of(reader, SLICE("./a"), 0, 1, &why), STATUS_BAD_INPUT);
    assert_int_equal(status_of(reader, SLICE("b/a"), 0, 1, &why), STATUS_BAD_INPUT);
    assert_int_equal(status_of(reader, slice_of(zero, 3), 0, 1, &why), STATUS_BAD_INPUT);
    assert_int_equal(status_of(reader, slice_of(longest, WARC_FILE_SIZE - 1), 0, 1, &why),
                     STATUS_NOT_FOUND);
    assert_int_equal(status_of(reader, slice_of(too_long, WARC_FILE_SIZE), 0, 1, &why),
                     STATUS_BAD_INPUT);
    assert_int_equal(strlen(why.text), strlen("\"\" names no WARC file") + 100); /* of the name */
    assert_int_equal(status_of(reader, SLICE("a"), INT64_MAX / 2 + 1, 1, &why), STATUS_BAD_INPUT);
    assert_int_equal(status_of(reader, SLICE("a"), INT64_MAX / 2, 1, &why), STATUS_CORRUPT);
    assert_non_null(strstr(why.text, "a ends before offset 4611686018427387904"));
    assert_int_equal(status_of(reader, SLICE("a"), 0, 0, &why), STATUS_LIMIT);
    assert_int_equal(status_of(reader, SLICE("a"), 0, LENGTH + 1, &why), STATUS_LIMIT);
    assert_non_null(strstr(why.text, "/a: a WARC record of 101 bytes"));
    assert_int_equal(status_of(reader, SLICE("a"), 1, LENGTH, &why), STATUS_CORRUPT);
    path_of("folder", path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(status_of(reader, SLICE("folder"), 0, 1, &why), STATUS_SYSTEM);
    assert_non_null(strstr(why.text, "cannot read folder"));
    assert_int_equal(rmdir(path), 0);
    warc_reader_close(reader);
    warc_reader_close(NULL);
}

/* What is read before it is asked for is known by its being what the file held then. */
static void
what_follows_is_read_with_a_record(void **state)
{
    enum { SMALL = 100, NEAR = AHEAD_BYTES / 4 };
    static const struct {
        size_t gap;     /* between the first record and the second */
        size_t second;  /* bytes of that */
        uint64_t third; /* offset from the second */
        bool ahead;     /* the third was read with the second */
    } cases[] = {
        {0, SMALL, SMALL, true},
        {NEAR - 1, SMALL, SMALL, true},
        {NEAR, SMALL, SMALL, false},
        {0, SMALL, AHEAD_BYTES - SMALL, true},
        {0, SMALL, AHEAD_BYTES - SMALL + 1, false},
        {0, AHEAD_BYTES - SMALL, AHEAD_BYTES - SMALL, true},
        {0, AHEAD_BYTES - 1, AHEAD_BYTES - 1, false},
        {0, AHEAD_BYTES, AHEAD_BYTES, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t gap = cases[i].gap, between = cases[i].third - cases[i].second;
        const uint64_t third = SMALL + gap + cases[i].third;
        size_t lengths[5] = {SMALL}, n = 1;
        if (gap > 0) {
            lengths[n++] = gap;
        }
        lengths[n++] = cases[i].second;
        if (between > 0) {
            lengths[n++] = between;
        }
        lengths[n++] = SMALL;
        struct warc_reader *reader = warc_reader_open(directory, NULL);
        make_file("a", lengths, n, "ooooo");
        assert_int_equal(letter_at(reader, "a", 0, SMALL), 'o');
        assert_int_equal(letter_at(reader, "a", SMALL + gap, cases[i].second), 'o');
        make_file("a", lengths, n, "nnnnn");
        assert_int_equal(letter_at(reader, "a", third, SMALL), cases[i].ahead ? 'o' : 'n');
        assert_int_equal(letter_at(reader, "a", third, SMALL), 'n'); /* again: anew */
        warc_reader_close(reader);
    }
}

/* Only of the file that was read last, and only until a rest. */
static void
what_was_read_ahead_is_of_one_file(void **state)
{
    enum { SMALL = 100 };
    static const size_t lengths[] = {SMALL, SMALL, SMALL, SMALL};
    (void)state;
    for (int way = 0; way < 3; way++) {
        struct warc_reader *reader = warc_reader_open(directory, NULL);
        make_file("a", lengths, 4, "oooo");
        make_file("b", lengths, 4, "bbbb");
        assert_int_equal(letter_at(reader, "a", 0, SMALL), 'o');
        assert_int_equal(letter_at(reader, "a", SMALL, SMALL), 'o');
        make_file("a", lengths, 4, "nnnn");
        if (way == 0) {
            assert_int_equal(letter_at(reader, "b", 2 * SMALL, SMALL), 'b');
        } else if (way == 1) {
            assert_true(warc_reader_rest(reader));
        }
        assert_int_equal(letter_at(reader, "a", 2 * SMALL, SMALL), way < 2 ? 'n' : 'o');
        /* Of the file that was read last the next record is read alone, for it follows nothing. */
        make_file("a", lengths, 4, "mmmm");
        assert_int_equal(letter_at(reader, "a", 3 * SMALL, SMALL), way < 2 ? 'm' : 'o');
        warc_reader_close(reader);
    }
}

/* The one that was used longest ago makes room. A file that was renamed is found while it is open.
 */
static void
files_used_last_stay_open(void **state)
{
    enum { SMALL = 100 };
    static const size_t lengths[] = {SMALL};
    struct warc_reader *reader = warc_reader_open(directory, NULL);
    struct reason why = {""};
    char name[16], path[PATH_SIZE], elsewhere[PATH_SIZE + 2];
    (void)state;
    for (int i = 0; i <= OPEN_FILES; i++) {
        snprintf(name, sizeof name, "f%d", i);
        make_file(name, lengths, 1, "x");
        assert_int_equal(letter_at(reader, name, 0, SMALL), 'x');
        if (i == OPEN_FILES - 1) {
            assert_int_equal(letter_at(reader, "f0", 0, SMALL), 'x');
            assert_int_equal(letter_at(reader, "f1", 0, SMALL), 'x');
        }
    }
    for (int i = 0; i <= OPEN_FILES; i++) {
        snprintf(name, sizeof name, "f%d", i);
        path_of(name, path);
        snprintf(elsewhere, sizeof elsewhere, "%s.x", path);
        assert_int_equal(rename(path, elsewhere), 0);
    }
    for (int i = 0; i <= OPEN_FILES; i++) {
        snprintf(name, sizeof name, "f%d", i);
        if (i != 2) {
            assert_int_equal(letter_at(reader, name, 0, SMALL), 'x');
        }
    }
    assert_int_equal(status_of(reader, SLICE("f2"), 0, SMALL, &why), STATUS_NOT_FOUND);
    assert_true(warc_reader_rest(reader));
    assert_int_equal(letter_at(reader, "f5", 0, SMALL), 'x');
    assert_true(warc_reader_rest(reader));
    assert_int_equal(status_of(reader, SLICE("f4"), 0, SMALL, &why), STATUS_NOT_FOUND);
    assert_int_equal(letter_at(reader, "f5", 0, SMALL), 'x');
    warc_reader_close(reader);
}

static void
use_a_reader(void)
{
    struct warc_reader *reader = warc_reader_open(directory, NULL);
    struct reason why = {""};
    assert_int_equal(status_of(reader, SLICE("a"), 0, 100, &why), STATUS_OK);
    warc_reader_close(reader);
}

static void
use_a_writer(void)
{
    struct warc_location location;
    struct warc_writer *writer = open_writer(1 << 20);
    (void)write_body(writer, SLICE("hello"), &location, NULL);
    assert_int_equal(warc_writer_close(writer, NULL), STATUS_OK);
    const struct warc_writer_options none = {.level = 99};
    assert_int_equal(warc_writer_open(&writer, directory, &none, NULL), STATUS_SYSTEM);
}

static void
readers_and_writers_leave_nothing(void **state)
{
    static const size_t lengths[] = {100};
    (void)state;
    make_file("a", lengths, 1, "x");
    const size_t open = open_descriptors();
    assert_true(leaves_no_memory(use_a_reader));
    assert_true(leaves_no_memory(use_a_writer));
    assert_int_equal(open_descriptors(), open);
    assert_int_equal(warc_writer_close(NULL, NULL), STATUS_OK);
}

int
warc_members_run(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
        cmocka_unit_test(headers_end_with_an_empty_line),
        cmocka_unit_test(headers_are_found_by_name),
        cmocka_unit_test(limits_have_defaults),
        cmocka_unit_test(records_must_be_whole),
        cmocka_unit_test(names_lose_their_angles),
        cmocka_unit_test(statuses_have_three_digits),
        cmocka_unit_test(bodies_are_decoded_as_far_as_they_can_be),
        cmocka_unit_test(problems_need_no_room),
        cmocka_unit_test(members_have_limits),
        cmocka_unit_test(members_may_be_damaged),
        CASE(places_have_limits),
        CASE(what_follows_is_read_with_a_record),
        CASE(what_was_read_ahead_is_of_one_file),
        CASE(files_used_last_stay_open),
        CASE(readers_and_writers_leave_nothing),
    };
    return cmocka_run_group_tests_name("warc members", tests, NULL, NULL);
}
