/* Keyword search over several partitions (index/client/federation/federation_search.c): what they
 * find is put in one order, and what becomes of the search when one of them fails. The linker puts
 * the functions below in the place of the streams, so there are no services. */
#include "tests/unit/index_service/federation_searches.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "index/client/federation/federation_stream.h"
#include "index/client/federation/federation_terms.h"
#include "index/client/index_client.h"

enum { PARTITIONS_ASKED = 3, MANY = 150, PIECE = 7 };

/* ---- streams of the test ---- */

static struct {
    const char *text; /* handed out in pieces */
    enum status end;
    bool asked, closed;
} answers[PARTITIONS_ASKED];
static struct buf request_sent;
static unsigned missed;
static enum status when_missed;

void __wrap_stream_start(struct index_stream_reader *stream, struct index_client *client,
                         size_t partition, struct slice request);
enum status __wrap_stream_next(struct index_stream_reader *stream, struct slice *bytes,
                               struct reason *why);
void __wrap_stream_close(struct index_stream_reader *stream);
enum status __wrap_client_miss(struct index_client *client, size_t partition, enum status status,
                               const struct reason *what, struct reason *why);

void
__wrap_stream_start(struct index_stream_reader *stream, struct index_client *client,
                    size_t partition, struct slice request)
{
    stream->client = client;
    stream->partition = partition;
    answers[partition].asked = true;
    buf_reset(&request_sent);
    (void)buf_append_slice(&request_sent, request);
}

enum status
__wrap_stream_next(struct index_stream_reader *stream, struct slice *bytes, struct reason *why)
{
    const char *rest = answers[stream->partition].text + stream->offset;
    const size_t length = strlen(rest) < PIECE ? strlen(rest) : PIECE;
    *bytes = slice_of(rest, length);
    stream->offset += length;
    return length > 0 ? STATUS_OK : status_fail(why, answers[stream->partition].end, "it ended");
}

void
__wrap_stream_close(struct index_stream_reader *stream)
{
    assert_false(answers[stream->partition].closed);
    answers[stream->partition].closed = true;
}

enum status
__wrap_client_miss(struct index_client *client, size_t partition, enum status status,
                   const struct reason *what, struct reason *why)
{
    (void)client;
    assert_int_equal(partition, 1);
    assert_string_equal(what->text, "it ended");
    missed++;
    return when_missed == STATUS_OK ? STATUS_OK : status_fail(why, status, "partition 1 failed");
}

/* ---- tests ---- */

/* Writes what the search finds, "score literal" each, or NULL and its status. */
static enum status
search(struct index_client *client, uint32_t most, struct buf *found, struct reason *why)
{
    struct federation *federation = federation_new(client, 1 << 20);
    const struct quad_source *source = federation_source(federation);
    struct text_scan *scan;
    char text[OID_INLINE_TEXT];
    buf_reset(found);
    (void)buf_append_string(found, "");
    const enum status status =
        source->search(source->context, SLICE("some words"), most, &scan, why);
    if (status != STATUS_OK) {
        assert_null(scan);
    }
    for (bool end = status != STATUS_OK; !end;) {
        oid literal;
        double score;
        assert_int_equal(source->search_next(scan, &literal, &score, &end, why), STATUS_OK);
        if (!end) {
            const struct term term = federation_term(federation, literal, text);
            (void)buf_printf(found, "%g %.*s%s%.*s,", score, SLICE_PRINT(term.value),
                             term.language.length > 0 ? "@" : "", SLICE_PRINT(term.language));
        }
    }
    source->search_close(scan);
    federation_free(federation);
    return status;
}

static void
expect(struct index_client *client, uint32_t most, enum status expected, const char *text)
{
    struct reason why = {""};
    struct buf found;
    buf_init(&found, 1 << 16);
    const enum status status = search(client, most, &found, &why);
    (void)buf_append_char(&found, '\0');
    assert_int_equal(status, expected);
    assert_string_equal(found.data, text);
    for (size_t i = 0; i < client->count; i++) {
        assert_int_equal(answers[i].asked, !client->partitions[i].missing);
        assert_int_equal(answers[i].closed, answers[i].asked);
        answers[i].asked = answers[i].closed = false;
    }
    buf_release(&found);
}

static int
set_up(void **state)
{
    (void)state;
    static const char *const texts[] = {"2.5\t\"a\"\n1\t\"b\"@en\n", "3.5\t\"a\"\n0.5\t\"c\"\n",
                                        "1.5\t\"d\""};
    for (size_t i = 0; i < PARTITIONS_ASKED; i++) {
        answers[i].text = texts[i];
        answers[i].end = STATUS_END;
    }
    missed = 0;
    buf_init(&request_sent, 1 << 10);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    buf_release(&request_sent);
    return 0;
}

static void
the_best_of_all_partitions_come_first(void **state)
{
    struct partition_client partitions[PARTITIONS_ASKED] = {{0}};
    struct index_client client = {.partitions = partitions, .count = PARTITIONS_ASKED};
    struct buf request;
    (void)state;
    expect(&client, 10, STATUS_OK, "3.5 a,1.5 d,1 b@en,0.5 c,");
    expect(&client, 4, STATUS_OK, "3.5 a,1.5 d,1 b@en,0.5 c,");
    expect(&client, 2, STATUS_OK, "3.5 a,1.5 d,");
    buf_init(&request, 1 << 10);
    codec_put_u8(&request, INDEX_STREAM_LITERALS);
    codec_put_slice(&request, SLICE("some words"));
    codec_put_varint(&request, 2);
    assert_true(slice_equal(buf_slice(&request), buf_slice(&request_sent)));
    buf_release(&request);
    partitions[1].missing = true; /* it is not asked */
    expect(&client, 10, STATUS_OK, "2.5 a,1.5 d,1 b@en,");
    partitions[1].missing = false;
    /* The same literals come with scores that are not beside each other. */
    answers[0].text = "9\t\"a\"\n8\t\"b\"\n7\t\"c\"\n";
    answers[1].text = "6\t\"a\"\n5\t\"b\"\n4\t\"c\"\n";
    answers[2].text = "3\t\"c\"\n2\t\"a\"\n";
    expect(&client, 10, STATUS_OK, "9 a,8 b,7 c,");
    expect(&client, 3, STATUS_OK, "9 a,8 b,7 c,");
    expect(&client, 1, STATUS_OK, "9 a,");
    /* The best of a literal's scores is the last one's. */
    answers[0].text = "1\t\"a\"\n";
    answers[1].text = "2\t\"a\"\n2\t\"b\"\n";
    answers[2].text = "3\t\"a\"\n";
    expect(&client, 10, STATUS_OK, "3 a,2 b,");
    partitions[1].missing = true;
    answers[0].text = answers[2].text = "";
    expect(&client, 10, STATUS_OK, "");
    /* A score may have more digits than are read. */
    answers[0].text = "2.50000000000000000000000000000000000000\t\"long\"\n";
    expect(&client, 10, STATUS_OK, "2.5 long,");
}

static void
hundreds_are_found(void **state)
{
    struct partition_client partition = {0};
    struct index_client client = {.partitions = &partition, .count = 1};
    struct buf lines, expected;
    (void)state;
    buf_init(&lines, 1 << 16);
    buf_init(&expected, 1 << 16);
    for (unsigned i = 0; i < MANY; i++) {
        (void)buf_printf(&lines, "%u\t\"literal %u\"\n", 1 + i * 7 % MANY, 1 + i * 7 % MANY);
        (void)buf_printf(&expected, "%u literal %u,", MANY - i, MANY - i);
    }
    (void)buf_append_char(&lines, '\0');
    (void)buf_append_char(&expected, '\0');
    answers[0].text = lines.data;
    expect(&client, 2 * MANY, STATUS_OK, expected.data);
    buf_release(&lines);
    buf_release(&expected);
}

static void
a_partition_that_fails_ends_the_search_or_is_left_out(void **state)
{
    struct partition_client partitions[PARTITIONS_ASKED] = {{0}};
    atomic_bool cancel = false;
    struct index_client client = {
        .partitions = partitions, .count = PARTITIONS_ASKED, .cancel = &cancel};
    (void)state;
    answers[1].end = STATUS_SYSTEM;
    when_missed = STATUS_OK;
    expect(&client, 10, STATUS_OK, "2.5 a,1.5 d,1 b@en,");
    assert_int_equal(missed, 1);
    when_missed = STATUS_SYSTEM;
    expect(&client, 10, STATUS_SYSTEM, "");
    assert_int_equal(missed, 2);
    /* A call that is to end is no partition's failure. */
    cancel = true;
    answers[1].end = STATUS_CANCELLED;
    expect(&client, 10, STATUS_CANCELLED, "");
    assert_int_equal(missed, 2);
    cancel = false;
    answers[1].end = STATUS_END;
    answers[1].text = "1\t\"no literal\n";
    struct reason why = {""};
    struct buf found;
    buf_init(&found, 1 << 10);
    const enum status status = search(&client, 10, &found, &why);
    assert_true(status != STATUS_OK && why.text[0] != '\0');
    buf_release(&found);
}

int
federation_searches_run(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(the_best_of_all_partitions_come_first),
        CASE(hundreds_are_found),
        CASE(a_partition_that_fails_ends_the_search_or_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
