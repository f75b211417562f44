/* What each request for a stream has a partition do (index/serve/answers.c), with which arguments
 * and limits, and how its pieces and failures come out. The linker puts the functions below in the
 * place of the partition, of what reads it, and of the cursor. */
#include "tests/unit/index_answers/told_answers.h"

#include <string.h>

#include "index/protocol/share_request.h"
#include "index/query/plan/share_parts.h"
#include "index/serve/answers.h"

enum { PIECE = 32 << 10, LINE_MAXIMUM = 1 << 28 };

static const char folder[] = "/scratch";
static max_align_t metastore_place;
static struct service_options options;
static struct buf request;
static struct reason why;

/* ---- asking ---- */

static void
begin(enum index_stream stream)
{
    buf_reset(&request);
    codec_put_u8(&request, (uint8_t)stream);
}

static enum status
make(struct answer **answer)
{
    why = (struct reason){""};
    return answer_new(answer, told_partition, &options, told_sessions, buf_slice(&request), &why);
}

/* What was called and written is in told_calls and told_written. */
static enum status
ask(void)
{
    struct answer *answer;
    told_reset();
    enum status status = make(&answer);
    if (status == STATUS_OK) {
        memset(request.data, 'x', request.length); /* it has copies */
        told_needs = answer_needs(answer);
        status = answer_produce(answer, told_cursor, &why);
        assert_ptr_equal(answer_needs(answer), told_needs);
        answer_free(answer);
    }
    told_end();
    return status;
}

static void
expect(const char *calls, const char *written)
{
    struct buf again;
    buf_init(&again, 1 << 20);
    (void)buf_append_slice(&again, buf_slice(&request));
    const enum status status = ask();
    if (status != STATUS_OK) {
        fail_msg("%s: %s", calls, why.text);
    }
    assert_string_equal(told_calls.data, calls);
    assert_string_equal(told_written.data, written);
    /* A failure below comes back as it is. */
    told_status = STATUS_CORRUPT;
    buf_reset(&request);
    (void)buf_append_slice(&request, buf_slice(&again));
    assert_int_equal(ask(), STATUS_CORRUPT);
    assert_string_equal(why.text, "it went wrong");
    told_status = STATUS_OK;
    /* No request is shorter, or longer. */
    for (size_t length = 0; length <= again.length + 1; length++) {
        struct answer *answer;
        buf_reset(&request);
        (void)buf_append_slice(&request, slice_of(again.data, length));
        const bool open_ended =
            again.data[0] == INDEX_STREAM_FIND || again.data[0] == INDEX_STREAM_DESCRIBE ||
            again.data[0] == INDEX_STREAM_ROWS || again.data[0] == INDEX_STREAM_TRIPLES ||
            again.data[0] == INDEX_STREAM_KEYS;
        if (length != again.length && (length == 0 || !open_ended)) {
            assert_int_equal(make(&answer), STATUS_PROTOCOL);
            assert_string_equal(why.text, "a request to the index is malformed");
        }
    }
    buf_release(&again);
}

/* ---- requests ---- */

static void
put_query(uint64_t timeout_ms, enum index_answer kind)
{
    begin(INDEX_STREAM_QUERY);
    codec_put_slice(&request, SLICE("ASK {}"));
    codec_put_slice(&request, SLICE("json"));
    codec_put_varint(&request, timeout_ms);
    codec_put_slice(&request, SLICE("default"));
    codec_put_u8(&request, (uint8_t)kind);
    codec_put_slice(&request, SLICE("graphs"));
    codec_put_slice(&request, SLICE("named"));
    codec_put_u64(&request, 4711);
}

static void
put_share(uint64_t timeout_ms, bool partition_wise)
{
    const struct share_request share = {.text = SLICE("SELECT"),
                                        .default_graph = SLICE("d"),
                                        .graphs = SLICE("g"),
                                        .named_graphs = SLICE("n"),
                                        .form = SHARE_PARTS,
                                        .node = 3,
                                        .most = 4,
                                        .now_ms = 5,
                                        .columns = 6,
                                        .partition_wise = partition_wise,
                                        .key = 7,
                                        .places = (enum key_places)1};
    begin(INDEX_STREAM_SHARE);
    codec_put_u64(&request, 9);
    codec_put_u8(&request, INDEX_ROWS_BEGIN);
    share_request_put(&request, &share, SLICE("keys"), timeout_ms);
}

static void
put_pattern(uint64_t limit)
{
    const struct quad pattern = {.subject = term_iri(SLICE("x:s"))};
    begin(INDEX_STREAM_PATTERN);
    codec_put_varint(&request, limit);
    index_put_pattern(&request, &pattern);
}

static void
put_search(enum index_stream stream, uint64_t limit)
{
    begin(stream);
    codec_put_slice(&request, SLICE("words"));
    codec_put_varint(&request, limit);
}

/* With a session, of which the byte after it says whether it begins. */
static void
put_session(enum index_stream stream, uint64_t session, const char *rest)
{
    begin(stream);
    codec_put_u64(&request, session);
    (void)buf_append_string(&request, rest);
}

/* ---- tests ---- */

static void
streams_of_the_whole_partition_are_asked_for(void **state)
{
    (void)state;
    for (uint8_t flag = 0; flag < 3; flag++) {
        begin(INDEX_STREAM_DUMP);
        codec_put_u8(&request, flag);
        expect(flag ? "dump 1 /scratch 77\n" : "dump 0 /scratch 77\n", "piece|");
        begin(INDEX_STREAM_COUNTS);
        codec_put_u8(&request, flag);
        expect(flag ? "counts 1\n" : "counts 0\n", "piece|");
    }
    begin(INDEX_STREAM_VERIFY);
    expect("verify /scratch 77\n", "piece|");
    begin(INDEX_STREAM_BACKUP);
    expect("backup\n", "piece|");
    begin(INDEX_STREAM_COMPACT);
    expect("compact\n", "piece|");
    begin(INDEX_STREAM_LAST_CHANGE);
    codec_put_slice(&request, SLICE("http://a.example/"));
    expect("last change http://a.example/\n", "piece|");
    begin(INDEX_STREAM_CHANGES);
    codec_put_varint(&request, 12);
    codec_put_varint(&request, 34);
    codec_put_varint(&request, 0);
    expect("changes 12.34\n", "piece|");
    begin(INDEX_STREAM_CHANGES);
    codec_put_varint(&request, 12);
    codec_put_varint(&request, 34);
    codec_put_varint(&request, 2);
    codec_put_slice(&request, SLICE("a"));
    codec_put_slice(&request, SLICE("bc"));
    expect("changes 12.34 a bc\n", "piece|");
}

static void
requests_that_are_wrong_are_refused(void **state)
{
    struct answer *answer;
    (void)state;
    for (int stream = 0; stream < 256; stream++) {
        if (stream < INDEX_STREAM_QUERY || stream > INDEX_STREAM_KEYS) {
            begin((enum index_stream)stream);
            assert_int_equal(make(&answer), STATUS_PROTOCOL);
        }
    }
    put_query(0, (enum index_answer)(INDEX_ANSWER_MEASURED + 1));
    assert_int_equal(make(&answer), STATUS_PROTOCOL);
    /* More graphs than bytes are left. */
    begin(INDEX_STREAM_CHANGES);
    codec_put_varint(&request, 12);
    codec_put_varint(&request, 34);
    codec_put_varint(&request, UINT64_C(1) << 60);
    (void)buf_append_string(&request, "abc");
    assert_int_equal(make(&answer), STATUS_PROTOCOL);
    put_session(INDEX_STREAM_ROWS, 0, ""); /* no flags */
    assert_int_equal(make(&answer), STATUS_PROTOCOL);
}

static void
answers_say_what_they_are(void **state)
{
    static const struct {
        const char *rest;
        enum index_stream stream;
        bool query, maintenance;
    } cases[] = {
        {"", INDEX_STREAM_VERIFY, false, true},    {"", INDEX_STREAM_BACKUP, false, true},
        {"", INDEX_STREAM_COMPACT, false, true},   {"\1", INDEX_STREAM_DUMP, false, true},
        {"\1", INDEX_STREAM_COUNTS, false, false}, {"abc", INDEX_STREAM_FIND, false, false}};
    struct answer *answer;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(cases[i].stream);
        (void)buf_append_string(&request, cases[i].rest);
        assert_int_equal(make(&answer), STATUS_OK);
        assert_int_equal(answer_is_query(answer), cases[i].query);
        assert_int_equal(answer_is_maintenance(answer), cases[i].maintenance);
        assert_int_equal(answer_client(answer), 0);
        answer_free(answer);
    }
    put_query(0, INDEX_ANSWER_PLAN);
    assert_int_equal(make(&answer), STATUS_OK);
    assert_true(answer_is_query(answer));
    assert_false(answer_is_maintenance(answer));
    assert_int_equal(answer_client(answer), 4711);
    answer_free(answer);
    answer_free(NULL);
}

static void
streams_that_read_have_a_version_of_their_own_or_the_sessions(void **state)
{
    struct answer *answer;
    (void)state;
    begin(INDEX_STREAM_FIND);
    (void)buf_append_string(&request, "abc");
    expect("open\nfind abc\n", "piece|");
    begin(INDEX_STREAM_DESCRIBE);
    (void)buf_append_string(&request, "abc");
    expect("open\ndescribe abc\n", "piece|");
    put_session(INDEX_STREAM_ROWS, 0, "\1abc");
    expect("open\nrows \1abc\n", "piece|");
    put_session(INDEX_STREAM_ROWS, 8, "\1abc");
    expect("session 8 begins\nrows \1abc\n", "piece|");
    put_session(INDEX_STREAM_ROWS, 8, "\2abc");
    expect("session 8\nrows \2abc\n", "piece|");
    put_session(INDEX_STREAM_ROWS, 8, "\3");
    expect("session 8 begins\nrows \3\n", "piece|");
    put_session(INDEX_STREAM_TRIPLES, 0, "\1abc");
    expect("open\ntriples abc\n", "piece|");
    put_session(INDEX_STREAM_TRIPLES, 7, "\1abc");
    expect("session 7 begins\ntriples abc\n", "piece|");
    put_session(INDEX_STREAM_KEYS, 7, "\2abc");
    expect("session 7\nkeys abc\n", "piece|");
    /* What is not produced gives the version back; a session that is gone is told. */
    put_session(INDEX_STREAM_KEYS, 7, "\2abc");
    assert_int_equal(make(&answer), STATUS_OK);
    assert_int_equal(told_readers, 1);
    answer_free(answer);
    assert_int_equal(told_readers, 0);
    told_session_status = STATUS_STALE;
    assert_int_equal(make(&answer), STATUS_STALE);
    assert_string_equal(why.text, "it went wrong");
    told_session_status = STATUS_OK;
    told_open_status = STATUS_SYSTEM;
    put_session(INDEX_STREAM_ROWS, 0, "\1abc");
    assert_int_equal(ask(), STATUS_SYSTEM);
    assert_string_equal(told_calls.data, "open\n");
    told_open_status = STATUS_OK;
}

static void
queries_have_the_limits_of_the_service(void **state)
{
    static const struct {
        uint64_t most, wanted, is;
    } cases[] = {{0, 0, 0},       {0, 50, 50},     {100, 0, 100}, {100, 99, 99},
                 {100, 100, 100}, {100, 101, 100}, {1, 5, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char calls[200];
        options.query_timeout_ms = cases[i].most;
        put_query(cases[i].wanted, (enum index_answer)(i % 3));
        snprintf(calls, sizeof calls,
                 "open\nquery ASK {} as json kind %zu of default+graphs+named timeout %u memory "
                 "55 disk 66 /scratch\n",
                 i % 3, (unsigned)cases[i].is);
        expect(calls, "piece|");
        put_share(cases[i].wanted, false);
        snprintf(
            calls, sizeof calls,
            "session 9 begins\nshare SELECT of d+g+n form %d node 3 most 4 now 5 columns 6 key "
            "0 timeout %u memory 55 disk 66 /scratch\n",
            SHARE_PARTS, (unsigned)cases[i].is);
        expect(calls, "piece|");
    }
    options.query_timeout_ms = 0;
    put_share(1, true);
    char calls[200];
    snprintf(calls, sizeof calls,
             "session 9 begins\nkeys set 1 keys\nshare SELECT of d+g+n form %d node 3 most 4 now "
             "5 columns 6 key 7 shared timeout 1 memory 55 disk 66 /scratch\n",
             SHARE_PARTS);
    expect(calls, "piece|");
    told_rows_status = STATUS_STALE; /* the nodes that others have are not known any more */
    put_share(1, true);
    assert_int_equal(ask(), STATUS_STALE);
    assert_string_equal(told_calls.data, "session 9 begins\nkeys set 1 keys\n");
}

/* The second thread of a query takes a turn, reads the same version, and gives both back. */
static void
a_query_is_helped_while_a_turn_is_spare(void **state)
{
    const char *query = "open\nquery ASK {} as json kind 0 of default+graphs+named timeout 0 "
                        "memory 55 disk 66 /scratch\n";
    (void)state;
    for (unsigned how = 0; how < 4; how++) {
        char calls[400];
        put_query(0, INDEX_ANSWER_RESULT);
        told_help = true;
        told_spare = how % 2 == 1;
        told_thread = how / 2 == 1;
        snprintf(calls, sizeof calls, "%s%s%s", query, told_spare ? "lend\nshare\n" : "lend\n",
                 !told_spare    ? "alone\n"
                 : !told_thread ? "close own\nlent back 0\nalone\n"
                                : "helped\nlent back 250\njoin\nclose own\n");
        expect(calls, "piece|");
    }
    told_help = false;
}

static void
quads_of_a_pattern_come_in_pieces(void **state)
{
    static const struct {
        size_t lines[3];
        const char *written;
    } cases[] = {{{3, 4, 0}, "7$"},
                 {{PIECE - 1, 0, 0}, "32767$"},
                 {{PIECE, 0, 0}, "32768|"},
                 {{PIECE - 1, 1, 5}, "32768|5$"},
                 {{PIECE + 1, 5, PIECE}, "32769|32773|"},
                 {{1, 0, 0}, "1$"},
                 {{0, 0, 0}, ""}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        told_lengths = cases[i].lines;
        put_pattern(20 + i);
        char calls[100];
        snprintf(calls, sizeof calls, "open\npattern x:s\nlines of 5 limit %zu\n", 20 + i);
        expect(calls, cases[i].written);
    }
    told_impossible = true;
    put_pattern(20);
    expect("open\npattern x:s\n", "");
    told_impossible = false;
    /* A line that is too long is told; so is a reader that has gone. */
    static const size_t long_lines[2][3] = {{10, LINE_MAXIMUM, 0}, {LINE_MAXIMUM + 1, 0, 0}};
    static const size_t two[3] = {PIECE, PIECE, 0};
    for (size_t i = 0; i < 2; i++) {
        told_lengths = long_lines[i];
        put_pattern(20);
        assert_int_equal(ask(), STATUS_LIMIT);
        assert_string_equal(why.text, "a line of more than 268435456 bytes");
    }
    told_lengths = two;
    for (told_refused = 0; told_refused < 2; told_refused++) {
        put_pattern(20);
        assert_int_equal(ask(), STATUS_CANCELLED);
    }
    told_lengths = cases[0].lines;
    told_refused = SIZE_MAX;
    told_rows_status = STATUS_CORRUPT;
    put_pattern(20);
    assert_int_equal(ask(), STATUS_CORRUPT);
    assert_string_equal(told_written.data, "");
    told_rows_status = STATUS_OK;
    told_refused = 0;
    put_pattern(20);
    assert_int_equal(ask(), STATUS_CANCELLED);
    told_refused = SIZE_MAX;
}

static void
literals_that_are_found_come_up_to_the_limit(void **state)
{
    (void)state;
    told_found = 3;
    put_search(INDEX_STREAM_LITERALS, 0);
    expect("open\nsearch words most 4294967295\n",
           "3.5\t\"t2\"\n1.16666667\t\"t4\"\n0.7\t\"t6\"\n$");
    put_search(INDEX_STREAM_LITERALS, 2);
    expect("open\nsearch words most 2\n", "3.5\t\"t2\"\n1.16666667\t\"t4\"\n$");
    put_search(INDEX_STREAM_LITERALS, UINT64_C(1) << 32);
    expect("open\nsearch words most 4294967295\n",
           "3.5\t\"t2\"\n1.16666667\t\"t4\"\n0.7\t\"t6\"\n$");
    told_found = 0;
    put_search(INDEX_STREAM_LITERALS, 2);
    expect("open\nsearch words most 2\n", "");
    told_found = 3;
    for (int i = 0; i < 2; i++) {
        put_search(INDEX_STREAM_LITERALS, 2);
        *(i == 0 ? &told_next_status : &told_term_status) = STATUS_CORRUPT;
        assert_int_equal(ask(), STATUS_CORRUPT);
        assert_string_equal(told_written.data, "");
        told_next_status = told_term_status = STATUS_OK;
    }
}

static void
quads_with_the_literals_come_up_to_the_limit(void **state)
{
    static const char first[] = "3.5000\t\"t2\"\t<t102>\t<t202>\t<t302>\n";
    static const char second[] = "1.1667\t\"t4\"\t<t104>\t<t204>\t<t304>\n";
    struct buf expected;
    (void)state;
    buf_init(&expected, 1 << 20);
    /* Rows of each literal, and the limit. */
    static const struct {
        size_t rows, limit;
        const char *scans; /* how many rows are asked for */
    } cases[] = {{1, 0, "scan 2\n64\n64\nscan 4\n64\n64\n"},
                 {1, 1, "scan 2\n1\n"},
                 {1, 2, "scan 2\n2\n1\nscan 4\n1\n"},
                 {70, 0, "scan 2\n64\n64\n64\nscan 4\n64\n64\n64\n"},
                 {70, 65, "scan 2\n64\n1\n"},
                 {70, 71, "scan 2\n64\n7\n1\nscan 4\n1\n"},
                 {0, 5, "scan 2\n5\nscan 4\n5\n"}};
    told_found = 2;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t most = cases[i].limit > 0 ? cases[i].limit : SIZE_MAX;
        char calls[200];
        told_rows = cases[i].rows;
        buf_reset(&expected);
        (void)buf_append_string(&expected, "");
        for (size_t k = 0; k < 2 * cases[i].rows && k < most; k++) {
            (void)buf_append_string(&expected, k < cases[i].rows ? first : second);
        }
        if (expected.length > 0) {
            (void)buf_append_char(&expected, '$');
        }
        snprintf(calls, sizeof calls, "open\nsearch words most %lu\n%s",
                 cases[i].limit > 0 ? (unsigned long)cases[i].limit : (unsigned long)UINT32_MAX,
                 cases[i].scans);
        put_search(INDEX_STREAM_SEARCH, cases[i].limit);
        expect(calls, expected.data);
    }
    for (int i = 0; i < 3; i++) {
        told_rows = 1;
        put_search(INDEX_STREAM_SEARCH, 5);
        *(i == 0   ? &told_scan_status
          : i == 1 ? &told_rows_status
                   : &told_term_status) = STATUS_CORRUPT;
        assert_int_equal(ask(), STATUS_CORRUPT);
        assert_string_equal(told_written.data, "");
        told_scan_status = told_rows_status = told_term_status = STATUS_OK;
    }
    buf_release(&expected);
}

/* A piece goes out when it is long enough after some rows, not before. */
static void
quads_that_are_found_go_out_in_pieces(void **state)
{
    const char *lines;
    (void)state;
    told_found = 1;
    told_rows = 1200;
    put_search(INDEX_STREAM_SEARCH, 0);
    assert_int_equal(ask(), STATUS_OK);
    lines = strchr(told_written.data, '|');
    assert_non_null(lines);
    const size_t length = strlen("3.5000\t\"t2\"\t<t102>\t<t202>\t<t302>\n");
    const size_t rows = (PIECE + length * 64 - 1) / (length * 64) * 64;
    assert_int_equal(lines - told_written.data, rows * length);
    assert_int_equal(told_written.length, told_rows * length + 2);
    assert_int_equal(told_written.data[told_written.length - 1], '$');
    for (told_refused = 0; told_refused < 2; told_refused++) {
        put_search(INDEX_STREAM_SEARCH, 0);
        assert_int_equal(ask(), STATUS_CANCELLED);
    }
    told_refused = SIZE_MAX;
}

static int
set_up(void **state)
{
    (void)state;
    options = (struct service_options){
        .scratch_folder = folder,
        .sort_memory = 77,
        .query_disk = 66,
        .metastore = (const struct metastore_client_options *)(const void *)&metastore_place};
    told_metastore = options.metastore;
    buf_init(&request, 1 << 20);
    told_set_up();
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    buf_release(&request);
    told_tear_down();
    return 0;
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(streams_of_the_whole_partition_are_asked_for),
        CASE(requests_that_are_wrong_are_refused),
        CASE(answers_say_what_they_are),
        CASE(streams_that_read_have_a_version_of_their_own_or_the_sessions),
        CASE(queries_have_the_limits_of_the_service),
        CASE(a_query_is_helped_while_a_turn_is_spare),
        CASE(quads_of_a_pattern_come_in_pieces),
        CASE(literals_that_are_found_come_up_to_the_limit),
        CASE(quads_with_the_literals_come_up_to_the_limit),
        CASE(quads_that_are_found_go_out_in_pieces),
    };
    return cmocka_run_group_tests_name("answers", tests, NULL, NULL);
}
