/* Requests to a partition's service as they may come from anybody (index/serve/index_service.c,
 * answers.c, work_pool.c): each verb and stream, cut at every byte and lengthened; cursors that are
 * asked for again, closed and too many; positions that are waited for. */
#include "tests/unit/index_service/served_partitions.h"

#include "base/rpc/rpc.h"
#include "index/client/index_client.h"
#include "index/client/partitions/client_calls.h"
#include "index/protocol/service_protocol.h"
#include "index/protocol/share_request.h"
#include "tests/unit/moved_clock.h"

enum { TEXT_MOST = 1 << 24, WAIT_MS = 60000, CURSORS = 64, LARGE = 1 << 17 };
enum { LITERALS = 40, FEW_LITERALS = 6 }; /* more than a piece has room for */

static char folder[SCRATCH_SIZE];
static struct served served;
static struct buf request, reply;

static enum status
ask(uint8_t verb, const struct buf *payload, struct reason *why)
{
    buf_reset(&reply);
    return rpc_call(served.client->partitions[0].rpc, verb, buf_slice(payload), WAIT_MS, &reply,
                    why);
}

static void
asks(uint8_t verb, enum status status, const char *text)
{
    struct reason why = {""};
    const enum status got = ask(verb, &request, &why);
    if (got != status || strstr(why.text, text) == NULL) {
        fail_msg("verb %u: %s: %s", verb, status_name(got), why.text);
    }
}

/* The whole answer, where it comes in pieces, which it may do at any byte. */
static enum status
ask_all(uint8_t verb, const struct buf *payload, struct reason *why)
{
    if (verb != INDEX_VERB_OPEN) {
        return ask(verb, payload, why);
    }
    buf_reset(&reply);
    client_begin(served.client, INDEX_PARTIAL_ERROR, 0, NULL);
    return stream_pass_on(served.client, 0, buf_slice(payload), fixture_append, &reply, why);
}

/* ---- data ---- */

/* Literals of LARGE bytes, so that an answer has several pieces. */
static void
fill(unsigned literals)
{
    struct reason why = {""};
    struct buf quads;
    struct index_batch *batch = index_batch_new(served.partitions[0]);
    buf_init(&quads, 1 << 26);
    for (unsigned i = 0; i < literals; i++) {
        (void)buf_printf(&quads,
                         "<a:s%u> <a:p> \"word %0*u\" <http://host1.example/document/1> .\n", i,
                         LARGE, i);
    }
    fixture_add(batch, 1, 1, &quads);
    must(index_batch_commit(batch, &why), &why);
    must(partition_settle(served.partitions[0], &why), &why);
    index_batch_free(batch);
    buf_release(&quads);
}

/* ---- requests of each kind ---- */

static void
put_any(struct buf *out, size_t n)
{
    static const struct term any = {.kind = TERM_NONE};
    for (size_t i = 0; i < n; i++) {
        index_put_term(out, &any);
    }
}

static const struct term iri = {.kind = TERM_IRI, .value = SLICE_INIT("a:p")},
                         document = {.kind = TERM_IRI,
                                     .value = SLICE_INIT("http://host1.example/document/1")};

static void
put_stream(enum index_stream stream, struct buf *out)
{
    static const struct share_request share = {.text = SLICE_INIT("SELECT ?s { ?s <a:none> ?o }"),
                                               .columns = 1};
    codec_put_u8(out, (uint8_t)stream);
    switch (stream) {
    case INDEX_STREAM_QUERY:
        codec_put_slice(out, SLICE("ASK { ?s ?p ?o }"));
        codec_put_slice(out, SLICE("csv"));
        codec_put_varint(out, 0);
        codec_put_slice(out, SLICE(""));
        codec_put_u8(out, INDEX_ANSWER_RESULT);
        codec_put_slice(out, SLICE(""));
        codec_put_slice(out, SLICE(""));
        codec_put_u64(out, 0);
        break;
    case INDEX_STREAM_PATTERN:
        codec_put_varint(out, 1);
        put_any(out, 4);
        break;
    case INDEX_STREAM_SEARCH:
    case INDEX_STREAM_LITERALS:
        codec_put_slice(out, SLICE("word"));
        codec_put_varint(out, 1);
        break;
    case INDEX_STREAM_DUMP:
    case INDEX_STREAM_COUNTS:
        codec_put_u8(out, 1);
        break;
    case INDEX_STREAM_VERIFY:
    case INDEX_STREAM_BACKUP:
    case INDEX_STREAM_COMPACT:
        break;
    case INDEX_STREAM_ROWS:
        codec_put_u64(out, 77);
        codec_put_u8(out, INDEX_ROWS_BEGIN);
        codec_put_varint(out, 1);
        index_put_term(out, &(const struct term){.kind = TERM_IRI, .value = SLICE_INIT("a:s1")});
        put_any(out, 3);
        break;
    case INDEX_STREAM_CHANGES:
        codec_put_varint(out, 0);
        codec_put_varint(out, 0);
        codec_put_varint(out, 1);
        codec_put_slice(out, SLICE("a:none"));
        break;
    case INDEX_STREAM_SHARE:
        codec_put_u64(out, 78);
        codec_put_u8(out, INDEX_ROWS_BEGIN);
        share_request_put(out, &share, SLICE(""), 1000);
        break;
    case INDEX_STREAM_FIND:
        codec_put_u8(out, INDEX_FIND_PATTERNS);
        codec_put_varint(out, 1);
        codec_put_varint(out, 1);
        put_any(out, 1);
        index_put_term(out, &iri);
        put_any(out, 2);
        break;
    case INDEX_STREAM_DESCRIBE:
        codec_put_varint(out, 1);
        index_put_term(out, &iri);
        index_put_term(out, &iri);
        index_put_term(out, &document);
        break;
    case INDEX_STREAM_TRIPLES:
        codec_put_u64(out, 79);
        codec_put_u8(out, INDEX_ROWS_BEGIN);
        codec_put_u8(out, 3);
        put_any(out, 3);
        break;
    case INDEX_STREAM_LAST_CHANGE:
        codec_put_slice(out, SLICE("a:none"));
        break;
    case INDEX_STREAM_KEYS:
        codec_put_u64(out, 80);
        codec_put_u8(out, INDEX_ROWS_BEGIN);
        codec_put_u8(out, KEYS_NODES);
        codec_put_u64(out, 1);
        codec_put_varint(out, 1);
        break;
    }
}

/* A cut request is refused, or, where what is cut off may be left out, answered; it is never
 * taken for more than there is. */
static void
check_cuts(uint8_t verb, bool may_be_less)
{
    struct buf whole, cut;
    struct reason why = {""};
    buf_init(&whole, TEXT_MOST);
    (void)buf_append_slice(&whole, buf_slice(&request));
    must(ask_all(verb, &whole, &why), &why);
    buf_init(&cut, TEXT_MOST);
    for (size_t length = 0; length <= whole.length + 1; length++) {
        if (length == whole.length) {
            continue;
        }
        buf_reset(&cut);
        (void)buf_append_slice(&cut,
                               slice_of(whole.data, length < whole.length ? length : whole.length));
        if (length > whole.length) {
            codec_put_u8(&cut, 0);
        }
        const enum status status = ask_all(verb, &cut, &why);
        if (status != STATUS_PROTOCOL && !(may_be_less && status == STATUS_OK)) {
            fail_msg("verb %u, stream %u, %zu bytes of %zu: %s", verb, whole.data[0], length,
                     whole.length, status_name(status));
        }
    }
    buf_release(&whole);
    buf_release(&cut);
}

static void
cut_streams_are_refused(void **state)
{
    (void)state;
    for (int stream = INDEX_STREAM_QUERY; stream <= INDEX_STREAM_KEYS; stream++) {
        /* The list of DESCRIBE's resources goes to the end. */
        const bool may_be_less = stream == INDEX_STREAM_DESCRIBE;
        buf_reset(&request);
        put_stream((enum index_stream)stream, &request);
        check_cuts(INDEX_VERB_OPEN, may_be_less);
    }
    buf_reset(&request);
    codec_put_u8(&request, 0);
    asks(INDEX_VERB_OPEN, STATUS_PROTOCOL, "malformed");
    buf_reset(&request);
    codec_put_u8(&request, INDEX_STREAM_KEYS + 1);
    asks(INDEX_VERB_OPEN, STATUS_PROTOCOL, "malformed");
    /* More graphs than the request can hold; an answer that is none. */
    buf_reset(&request);
    codec_put_u8(&request, INDEX_STREAM_CHANGES);
    codec_put_varint(&request, 0);
    codec_put_varint(&request, 0);
    codec_put_varint(&request, UINT64_MAX);
    asks(INDEX_VERB_OPEN, STATUS_PROTOCOL, "malformed");
    buf_reset(&request);
    put_stream(INDEX_STREAM_QUERY, &request);
    request.data[request.length - 11] = INDEX_ANSWER_MEASURED + 1;
    asks(INDEX_VERB_OPEN, STATUS_PROTOCOL, "malformed");
}

static void
cut_questions_are_refused(void **state)
{
    (void)state;
    buf_reset(&request);
    put_any(&request, 4);
    check_cuts(INDEX_VERB_ESTIMATE, false);
    buf_reset(&request);
    codec_put_varint(&request, 2);
    index_put_term(&request, &iri);
    index_put_term(&request, &document);
    check_cuts(INDEX_VERB_STAR, false);
    enum { PREDICATES_MOST = 64 };
    static const unsigned counts[] = {0, 1, PREDICATES_MOST, PREDICATES_MOST + 1};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct reason why = {""};
        buf_reset(&request);
        codec_put_varint(&request, counts[i]);
        for (unsigned k = 0; k < counts[i]; k++) {
            index_put_term(&request, &iri);
        }
        assert_int_equal(ask_all(INDEX_VERB_STAR, &request, &why),
                         counts[i] >= 1 && counts[i] <= PREDICATES_MOST ? STATUS_OK
                                                                        : STATUS_PROTOCOL);
    }
    buf_reset(&request);
    codec_put_u8(&request, 0);
    codec_put_u64(&request, 0);
    check_cuts(INDEX_VERB_POSITION, false);
    buf_reset(&request);
    codec_put_slice(&request, SLICE("a:none"));
    check_cuts(INDEX_VERB_LINKS, true); /* a list to the end, of nothing too */
    buf_reset(&request);
    asks(0, STATUS_PROTOCOL, "does not know this verb");
    asks(INDEX_VERB_STAR + 1, STATUS_PROTOCOL, "does not know this verb");
}

/* ---- cursors ---- */

/* The head of a piece. */
static uint64_t
piece_of(bool *end, uint64_t *offset, struct slice *bytes)
{
    struct codec_reader in = codec_reader_of(buf_slice(&reply));
    *end = codec_get_u8(&in) & INDEX_PIECE_END;
    const uint64_t cursor = codec_get_u64(&in);
    *offset = codec_get_u64(&in);
    assert_false(in.bad);
    *bytes = slice_of((const char *)in.at, (size_t)(in.end - in.at));
    return cursor;
}

static uint64_t
open_dump(void)
{
    bool end;
    uint64_t offset;
    struct slice bytes;
    buf_reset(&request);
    codec_put_u8(&request, INDEX_STREAM_DUMP);
    codec_put_u8(&request, 0);
    asks(INDEX_VERB_OPEN, STATUS_OK, "");
    const uint64_t cursor = piece_of(&end, &offset, &bytes);
    assert_false(end);
    assert_int_equal(offset, 0);
    return cursor;
}

static void
next_request(uint64_t cursor, uint64_t offset)
{
    buf_reset(&request);
    codec_put_u64(&request, cursor);
    codec_put_u64(&request, offset);
}

/* Pieces by offset; one may be asked for again until a later one is. */
static void
pieces_may_be_asked_for_again(void **state)
{
    (void)state;
    struct buf whole, again;
    struct reason why = {""};
    bool end = false;
    uint64_t offset, at = 0;
    struct slice bytes;
    buf_init(&whole, TEXT_MOST);
    buf_init(&again, TEXT_MOST);
    const uint64_t cursor = open_dump();
    while (!end) {
        next_request(cursor, at);
        must(ask(INDEX_VERB_NEXT, &request, &why), &why);
        assert_int_equal(piece_of(&end, &offset, &bytes), cursor);
        assert_int_equal(offset, at);
        assert_true(bytes.length <= INDEX_PIECE_BYTES);
        buf_reset(&again);
        (void)buf_append_slice(&again, bytes);
        must(ask(INDEX_VERB_NEXT, &request, &why), &why);
        (void)piece_of(&end, &offset, &bytes);
        assert_int_equal(offset, at);
        assert_true(bytes.length >= again.length &&
                    slice_equal(slice_of(bytes.at, again.length), buf_slice(&again)));
        (void)buf_append_slice(&whole, bytes);
        at += bytes.length;
    }
    served_dump(&served, &again);
    assert_true(slice_equal(buf_slice(&whole), buf_slice(&again)));
    assert_true(whole.length > LITERALS * LARGE);
    next_request(cursor, 0); /* dropped long ago */
    asks(INDEX_VERB_NEXT, STATUS_NOT_FOUND, "");
    next_request(cursor, whole.length + 1);
    asks(INDEX_VERB_NEXT, STATUS_NOT_FOUND, "");
    buf_reset(&request);
    codec_put_u64(&request, cursor);
    asks(INDEX_VERB_CLOSE, STATUS_OK, "");
    buf_release(&whole);
    buf_release(&again);
}

static void
closed_cursors_are_gone(void **state)
{
    (void)state;
    const uint64_t cursor = open_dump(), kept = open_dump();
    assert_true(cursor != kept);
    next_request(cursor + 1000, 0);
    asks(INDEX_VERB_NEXT, STATUS_NOT_FOUND, "no longer there");
    next_request(kept, 0);
    codec_put_u8(&request, 0);
    asks(INDEX_VERB_NEXT, STATUS_NOT_FOUND, "no longer there");
    buf_reset(&request);
    codec_put_u64(&request, cursor);
    asks(INDEX_VERB_CLOSE, STATUS_OK, "");
    next_request(cursor, 0);
    asks(INDEX_VERB_NEXT, STATUS_NOT_FOUND, "no longer there");
    next_request(kept, 0);
    asks(INDEX_VERB_NEXT, STATUS_OK, "");
    buf_reset(&request);
    codec_put_u64(&request, cursor); /* again, and one that never was */
    asks(INDEX_VERB_CLOSE, STATUS_OK, "");
    buf_reset(&request);
    codec_put_u64(&request, kept);
    asks(INDEX_VERB_CLOSE, STATUS_OK, "");
}

/* So many answers may be open, each read a moment ago; one that is closed makes room. */
static void
answers_under_way_are_bounded(void **state)
{
    (void)state;
    uint64_t cursors[CURSORS];
    for (size_t i = 0; i < CURSORS; i++) {
        cursors[i] = open_dump();
        for (size_t k = 0; k < i; k++) {
            assert_true(cursors[k] != cursors[i]);
        }
    }
    buf_reset(&request);
    codec_put_u64(&request, cursors[CURSORS / 2]);
    asks(INDEX_VERB_CLOSE, STATUS_OK, "");
    (void)open_dump();
    for (size_t i = 0; i < CURSORS; i++) {
        buf_reset(&request);
        codec_put_u64(&request, cursors[i]);
        asks(INDEX_VERB_CLOSE, STATUS_OK, "");
    }
}

/* The same client has no more: what it read lately is not taken from it, what it left for a while
 * makes way. */
static void
a_client_has_so_many_answers(void **state)
{
    enum { SPARED_MS = 1000 };
    (void)state;
    uint64_t cursors[CURSORS];
    size_t gone = 0;
    clock_stop();
    for (size_t i = 0; i < CURSORS; i++) {
        cursors[i] = open_dump();
    }
    clock_move(SPARED_MS - 1);
    buf_reset(&request);
    codec_put_u8(&request, INDEX_STREAM_DUMP);
    codec_put_u8(&request, 0);
    asks(INDEX_VERB_OPEN, STATUS_LIMIT, "too many answers are under way; try again");
    clock_move(1);
    const uint64_t late = open_dump();
    for (size_t i = 0; i < CURSORS; i++) {
        struct reason why = {""};
        next_request(cursors[i], 0);
        const enum status status = ask(INDEX_VERB_NEXT, &request, &why);
        assert_true(status == STATUS_OK || status == STATUS_NOT_FOUND);
        gone += status == STATUS_NOT_FOUND;
        buf_reset(&request);
        codec_put_u64(&request, cursors[i]);
        asks(INDEX_VERB_CLOSE, STATUS_OK, "");
    }
    assert_int_equal(gone, 1);
    next_request(late, 0);
    asks(INDEX_VERB_NEXT, STATUS_OK, "");
    buf_reset(&request);
    codec_put_u64(&request, late);
    asks(INDEX_VERB_CLOSE, STATUS_OK, "");
    clock_go();
}

/* ---- sessions ---- */

static void
session_request(uint64_t session, uint8_t flags)
{
    buf_reset(&request);
    codec_put_u8(&request, INDEX_STREAM_TRIPLES);
    codec_put_u64(&request, session);
    codec_put_u8(&request, flags);
    codec_put_u8(&request, 3);
    put_any(&request, 3);
}

/* A session is there from the request that begins it until END. */
static void
sessions_begin_and_end(void **state)
{
    (void)state;
    struct reason why = {""};
    session_request(5, 0);
    asks(INDEX_VERB_OPEN, STATUS_STALE, "");
    session_request(5, INDEX_ROWS_BEGIN);
    must(ask_all(INDEX_VERB_OPEN, &request, &why), &why);
    session_request(5, 0);
    must(ask_all(INDEX_VERB_OPEN, &request, &why), &why);
    buf_reset(&request);
    codec_put_u64(&request, 6);
    asks(INDEX_VERB_END, STATUS_OK, "");
    session_request(5, 0);
    must(ask_all(INDEX_VERB_OPEN, &request, &why), &why);
    buf_reset(&request);
    codec_put_u64(&request, 5);
    asks(INDEX_VERB_END, STATUS_OK, "");
    session_request(5, 0);
    asks(INDEX_VERB_OPEN, STATUS_STALE, "");
}

/* ---- other streams ---- */

/* The best literals, each a line, as many as are wanted. */
static void
literals_come_with_their_score(void **state)
{
    (void)state;
    struct reason why = {""};
    buf_reset(&request);
    codec_put_u8(&request, INDEX_STREAM_LITERALS);
    codec_put_slice(&request, SLICE("word"));
    codec_put_varint(&request, 2);
    must(ask_all(INDEX_VERB_OPEN, &request, &why), &why);
    struct slice bytes = buf_slice(&reply);
    size_t lines = 0;
    while (bytes.length > 0) {
        const size_t line = slice_find(bytes, '\n'), tab = slice_find(bytes, '\t');
        char score[32] = "";
        assert_true(tab < sizeof score && line > LARGE && line < bytes.length);
        memcpy(score, bytes.at, tab);
        assert_true(strtod(score, NULL) > 0);
        assert_true(slice_starts(slice_of(bytes.at + tab + 1, line), SLICE("\"word 0000")));
        bytes = slice_of(bytes.at + line + 1, bytes.length - line - 1);
        lines++;
    }
    assert_int_equal(lines, 2);
}

/* Waiting for a batch after one that is known ends when it comes, or after a while without it. */
static void
positions_tell_of_new_batches(void **state)
{
    (void)state;
    struct index_stats stats;
    struct reason why = {""};
    must(index_stats_get(served.client, &stats, &why), &why);
    static const struct {
        bool wait;
        uint64_t behind;
    } cases[] = {{false, 0}, {true, 1}, {true, 0}};
    for (size_t i = 0; i < 3; i++) {
        buf_reset(&request);
        codec_put_u8(&request, cases[i].wait);
        codec_put_u64(&request, stats.batches - cases[i].behind);
        asks(INDEX_VERB_POSITION, STATUS_OK, "");
        struct codec_reader in = codec_reader_of(buf_slice(&reply));
        assert_int_equal(codec_get_u64(&in), stats.batches);
        assert_true(codec_get_u64(&in) != 0);
        assert_true(codec_get_u64(&in) <= stats.batches);
        assert_true(codec_at_end(&in));
    }
}

/* ---- setup ---- */

static int
serve(unsigned literals)
{
    if (!scratch_folder(folder, "requests")) {
        return -1;
    }
    buf_init(&request, TEXT_MOST);
    buf_init(&reply, TEXT_MOST);
    served_start(&served, folder, 1);
    fill(literals);
    return 0;
}

static int
set_up(void **state)
{
    (void)state;
    return serve(LITERALS);
}

static int
set_up_few(void **state)
{
    (void)state;
    return serve(FEW_LITERALS);
}

static int
tear_down(void **state)
{
    (void)state;
    served_stop(&served);
    buf_release(&request);
    buf_release(&reply);
    fixture_run("rm -rf %s%s", folder, "");
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_streams_are_refused),
        cmocka_unit_test(cut_questions_are_refused),
        cmocka_unit_test(pieces_may_be_asked_for_again),
        cmocka_unit_test(closed_cursors_are_gone),
        cmocka_unit_test(sessions_begin_and_end),
        cmocka_unit_test(literals_come_with_their_score),
        cmocka_unit_test(positions_tell_of_new_batches),
    };
    /* With a service of their own each: a cursor that was closed takes its time to end. */
    const struct CMUnitTest many[] = {
        cmocka_unit_test_setup_teardown(answers_under_way_are_bounded, set_up_few, tear_down),
        cmocka_unit_test_setup_teardown(a_client_has_so_many_answers, set_up_few, tear_down),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down) +
           cmocka_run_group_tests(many, NULL, NULL);
}
