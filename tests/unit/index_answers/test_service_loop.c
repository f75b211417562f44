/* The loop of a partition's service (index/serve/index_service.c), round by round: which requests
 * are answered when and with what, and how long cursors live. */
#include "tests/unit/index_answers/told_service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { PARKED_MS = 300, IDLE_MS = 60000, WAITING_MOST = 256 };

/* ---- small requests ---- */

static void
verbs_go_where_they_belong(void **state)
{
    static const struct {
        uint8_t verb;
        const char *said;
    } cases[] = {{INDEX_VERB_STATS, NULL},
                 {INDEX_VERB_LINKS, "work 7 verb 2\n"},
                 {INDEX_VERB_ESTIMATE, "work 7 verb 3\n"},
                 {INDEX_VERB_STAR, "work 7 verb 10\n"},
                 {INDEX_VERB_CHANGE, "patch 7\n"},
                 {INDEX_VERB_END, "end session 97\n7 ''\n"},
                 {0, "7 PROTOCOL: the index does not know this verb\n"},
                 {INDEX_VERB_STAR + 1, "7 PROTOCOL: the index does not know this verb\n"},
                 {255, "7 PROTOCOL: the index does not know this verb\n"}};
    static const char number[8] = {[7] = 'a'};
    char text[40];
    (void)state;
    told_begin(4);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        told_ask(cases[i].verb, 1, 7, slice_of(number, sizeof number));
        told_round();
        if (cases[i].said == NULL) {
            snprintf(text, sizeof text, "7 11 12 13 14 15 16 %d\n", STATUS_FULL);
            told_expect(text);
        } else {
            told_expect(cases[i].said);
        }
        assert_int_equal(told_tended_ms, told_now_ms++);
    }
    /* All that have come are answered in one round. */
    told_ask(INDEX_VERB_STATS, 1, 8, SLICE(""));
    told_ask(INDEX_VERB_STATS, 1, 8, SLICE(""));
    told_round();
    snprintf(text, sizeof text, "8 11 12 13 14 15 16 %d\n", STATUS_FULL);
    assert_string_equal(told_log.data + told_log.length - strlen(text), text);
    told_log.length -= strlen(text);
    told_expect(text);
    told_ask(INDEX_VERB_END, 1, 8, slice_of(number, sizeof number));
    told_ask(INDEX_VERB_END, 1, 9, slice_of(number, sizeof number));
    told_round();
    told_expect("end session 97\n8 ''\nend session 97\n9 ''\n");
}

static struct work *
work_of(uint64_t id, enum status status, const char *reply)
{
    struct work *work = memory_new(sizeof *work);
    work->request = (struct rpc_request){.id = id, .verb = INDEX_VERB_LINKS};
    work->status = status;
    buf_init(&work->reply, 64);
    (void)buf_append_string(&work->reply, reply);
    snprintf(work->why.text, sizeof work->why.text, "no links");
    return work;
}

static struct patch *
patch_of(uint64_t id, enum status status, uint64_t removed, uint64_t added)
{
    struct patch *patch = memory_new(sizeof *patch);
    patch->request = (struct rpc_request){.id = id, .verb = INDEX_VERB_CHANGE};
    patch->status = status;
    patch->removed = removed;
    patch->added = added;
    return patch;
}

static void
what_others_have_done_is_replied(void **state)
{
    (void)state;
    told_begin(4);
    told_work = work_of(1, STATUS_OK, "one");
    told_work->next = work_of(2, STATUS_LIMIT, "");
    told_patches = patch_of(3, STATUS_OK, 5, 6);
    told_patches->next = patch_of(4, STATUS_OK, 7, 8);
    told_round();
    told_expect("1 'one'\nfree work\n2 LIMIT: no links\nfree work\n3 5 6\n4 7 8\n");
    told_round();
    told_expect("");
}

/* ---- positions ---- */

static void
ask_position(uint64_t id, bool wait, uint64_t known, const char *more)
{
    struct buf payload;
    buf_init(&payload, 64);
    codec_put_u8(&payload, wait);
    codec_put_u64(&payload, known);
    (void)buf_append_string(&payload, more);
    told_ask(INDEX_VERB_POSITION, 1, id, buf_slice(&payload));
    buf_release(&payload);
}

static void
positions_are_waited_for(void **state)
{
    (void)state;
    told_begin(4);
    told_batch = 5;
    ask_position(1, false, 9, "");
    ask_position(2, true, 4, "");
    ask_position(3, true, 5, "");
    ask_position(4, true, 6, "");
    ask_position(5, true, 5, "x");
    told_ask(INDEX_VERB_POSITION, 1, 6, SLICE("\1abc"));
    told_round();
    told_expect("1 5 1005 3\n5 PROTOCOL: a request to the index is malformed\n"
                "6 PROTOCOL: a request to the index is malformed\n2 5 1005 3\n");
    assert_int_equal(told_wait_ms, 100);
    told_batch = 6;
    told_round();
    told_expect("3 6 1006 3\n");
    told_now_ms += PARKED_MS - 1;
    told_round();
    told_expect("");
    assert_int_equal(told_wait_ms, 100);
    told_now_ms++;
    told_round();
    told_expect("4 6 1006 3\n");
    assert_int_equal(told_wait_ms, 1000);
}

/* Those that wait keep their order, and each its own time. */
static void
many_wait_for_positions(void **state)
{
    struct buf expected;
    (void)state;
    told_begin(4);
    buf_init(&expected, 1 << 20);
    for (unsigned i = 0; i < WAITING_MOST + 2; i++) {
        ask_position(i, true, 0, "");
    }
    told_round();
    told_expect("256 0 1000 3\n257 0 1000 3\n");
    told_now_ms += PARKED_MS;
    for (unsigned i = 0; i < WAITING_MOST; i++) {
        (void)buf_printf(&expected, "%u 0 1000 3\n", i);
    }
    told_round();
    told_expect(expected.data);
    buf_reset(&expected);
    for (unsigned i = 0; i < 4; i++) {
        ask_position(i, true, i % 2, "");
        told_round();
        told_now_ms += PARKED_MS / 2;
    }
    told_expect("0 0 1000 3\n1 0 1000 3\n");
    told_batch = 1;
    told_round();
    told_expect("2 1 1001 3\n");
    buf_release(&expected);
}

static void
batches_are_published(void **state)
{
    (void)state;
    told_begin(4);
    told_round();
    assert_int_equal(told_publishes, 0);
    told_batch = 5;
    told_round();
    assert_int_equal(told_publishes, 1);
    told_round();
    assert_int_equal(told_publishes, 1);
    told_batch = 3; /* put back */
    told_round();
    assert_int_equal(told_publishes, 2);
}

/* ---- cursors ---- */

static void
an_answer_comes_piece_by_piece(void **state)
{
    (void)state;
    told_begin(4);
    told_open(1, 10, INDEX_STREAM_QUERY, 'q');
    told_expect("");
    told_now_ms += PARKED_MS - 1;
    told_round();
    told_expect("");
    assert_int_equal(told_wait_ms, 100);
    told_now_ms++;
    told_round();
    told_expect("10 cursor 0 at 0 ''\n"); /* ask again */
    told_next(11, 0, 0);
    told_expect("");
    told_says(0, "abc", false);
    told_round();
    told_expect("11 cursor 0 at 0 'abc'\n");
    told_says(0, "def", false);
    told_next(12, 0, 3);
    told_expect("12 cursor 0 at 3 'def'\n");
    told_round();
    told_expect("");
    /* A later question takes the place of one that waits. */
    told_cursor(0)->status = STATUS_AGAIN;
    told_next(13, 0, 6);
    told_next(14, 0, 6);
    told_expect("drop 13\n");
    told_says(0, "g", true);
    told_round();
    told_expect("14 cursor 0 at 6 end 'g'\n");
    /* It may ask for the last piece once more. */
    told_next(15, 0, 6);
    told_expect("15 cursor 0 at 6 end 'g'\n");
    assert_false(told_cursor(0)->cancelled);
    told_ask(INDEX_VERB_CLOSE, 1, 16, SLICE(""));
    told_round();
    told_expect("16 ''\n");
    assert_false(told_cursor(0)->cancelled);
    told_cursor(0)->ended = true;
    told_round();
    assert_true(told_cursor(0)->open);
}

static void
close_cursor(uint64_t request, uint64_t id)
{
    struct buf payload;
    buf_init(&payload, 64);
    codec_put_u64(&payload, told_first_id + id);
    told_ask(INDEX_VERB_CLOSE, 1, request, buf_slice(&payload));
    buf_release(&payload);
    told_round();
}

static void
cursors_end_when_their_producers_have(void **state)
{
    (void)state;
    told_begin(4);
    told_open(1, 10, INDEX_STREAM_QUERY, 'q');
    told_open(1, 11, INDEX_STREAM_QUERY, 'q');
    told_open(1, 12, INDEX_STREAM_QUERY, 'q');
    told_says(1, "b", false);
    told_round();
    told_expect("11 cursor 1 at 0 'b'\n");
    close_cursor(20, 1);
    told_expect("20 ''\n");
    assert_true(told_cursor(1)->cancelled && told_cursor(1)->open);
    assert_false(told_cursor(0)->cancelled || told_cursor(2)->cancelled);
    close_cursor(21, 1); /* once more */
    told_expect("21 ''\n");
    told_next(22, 1, 0);
    told_expect("22 NOT_FOUND: the answer is no longer there\n");
    told_next(23, 3, 0);
    told_expect("23 NOT_FOUND: the answer is no longer there\n");
    told_ask(INDEX_VERB_NEXT, 1, 24, SLICE("short"));
    told_round();
    told_expect("24 NOT_FOUND: the answer is no longer there\n");
    told_cursor(1)->ended = true;
    told_round();
    assert_false(told_cursor(1)->open);
    assert_true(told_cursor(0)->open && told_cursor(2)->open);
    /* One that is closed while it waits is answered first. */
    close_cursor(25, 2);
    told_expect("25 ''\n");
    assert_true(told_cursor(2)->cancelled);
    told_cursor(2)->status = STATUS_CANCELLED;
    told_cursor(2)->ended = true;
    told_round();
    told_expect("12 CANCELLED: it broke off\n");
}

/* What is said in the first piece, or fails there, is done. */
static void
short_answers_and_failures_are_done_at_once(void **state)
{
    (void)state;
    told_begin(4);
    told_open(1, 10, INDEX_STREAM_QUERY, 'q');
    told_says(0, "all", true);
    told_cursor(0)->ended = true;
    told_round();
    told_expect("10 cursor 0 at 0 end 'all'\n");
    assert_true(told_cursor(0)->cancelled);
    assert_false(told_cursor(0)->open);
    told_open(1, 11, INDEX_STREAM_QUERY, 'q');
    told_cursor(1)->status = STATUS_LIMIT;
    told_round();
    told_expect("11 LIMIT: it broke off\n");
    assert_true(told_cursor(1)->cancelled);
    told_open(1, 12, INDEX_STREAM_QUERY, 'q');
    told_says(2, "part", false);
    told_round();
    told_cursor(2)->status = STATUS_CORRUPT;
    told_next(13, 2, 4);
    told_expect("12 cursor 2 at 0 'part'\n13 CORRUPT: it broke off\n");
    assert_false(told_cursor(2)->cancelled);
    told_next(14, 2, 4); /* it may be asked again */
    told_expect("14 CORRUPT: it broke off\n");
}

static void
cursors_that_nobody_reads_are_dropped(void **state)
{
    (void)state;
    told_begin(4);
    told_open(1, 10, INDEX_STREAM_QUERY, 'q');
    told_open(1, 11, INDEX_STREAM_QUERY, 'q');
    told_now_ms += 100;
    told_says(0, "a", false);
    told_round();
    told_expect("10 cursor 0 at 0 'a'\n");
    told_now_ms += IDLE_MS;
    told_round(); /* the other one is answered by now, and is new */
    told_expect("11 cursor 1 at 0 ''\n");
    assert_false(told_cursor(0)->cancelled || told_cursor(1)->cancelled);
    told_now_ms++;
    told_round();
    assert_true(told_cursor(0)->cancelled);
    assert_false(told_cursor(1)->cancelled);
    told_now_ms += IDLE_MS;
    told_round();
    assert_true(told_cursor(1)->cancelled);
    told_round();
    assert_true(told_cursor(0)->open && told_cursor(1)->open);
    assert_int_equal(told_wait_ms, 100);
    told_cursor(0)->ended = told_cursor(1)->ended = true;
    told_round();
    assert_false(told_cursor(0)->open || told_cursor(1)->open);
    assert_int_equal(told_wait_ms, 1000);
}

static void
an_opening_that_comes_again_is_the_same_cursor(void **state)
{
    (void)state;
    told_begin(4);
    told_open(1, 10, INDEX_STREAM_QUERY, 'q');
    told_open(1, 10, INDEX_STREAM_QUERY, 'q');
    assert_int_equal(told_cursor_count, 1);
    told_expect("drop 10\n");
    told_open(2, 10, INDEX_STREAM_QUERY, 'q');
    told_open(1, 11, INDEX_STREAM_QUERY, 'q');
    assert_int_equal(told_cursor_count, 3);
    told_says(0, "a", false);
    told_round();
    told_expect("10 cursor 0 at 0 'a'\n");
    told_open(1, 10, INDEX_STREAM_QUERY, 'q');
    told_expect("10 cursor 0 at 0 'a'\n");
    close_cursor(12, 0);
    told_expect("12 ''\n");
    told_open(1, 10, INDEX_STREAM_QUERY, 'q'); /* it ended meanwhile */
    assert_int_equal(told_cursor_count, 4);
}

static void
cursors_have_the_settings_of_their_kind(void **state)
{
    static const struct {
        char kind;
        uint64_t client, bytes;
        size_t turns;
    } cases[] = {{'q', 9, 55, 0}, {'m', 9, 0, 1}, {'c', 77, 0, 0}, {'x', 9, 0, 0}};
    (void)state;
    told_begin(4);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        told_open(9, i, INDEX_STREAM_QUERY, cases[i].kind);
        assert_int_equal(told_cursor(i)->settings.client, cases[i].client);
        assert_int_equal(told_cursor(i)->settings.bytes_most, cases[i].bytes);
        assert_ptr_equal(told_cursor(i)->settings.turns, told_turns[cases[i].turns]);
    }
    told_expect("");
    close_cursor(20, 0);
    told_cursor(0)->ended = true;
    told_cursor(0)->status = STATUS_CANCELLED;
    told_round();
    told_expect("20 ''\n0 CANCELLED: it broke off\n");
    /* What cannot be begun is told, and takes no room. */
    for (int i = 0; i < 10; i++) {
        told_open(9, 30, INDEX_STREAM_QUERY, '!');
        told_cursor_status = STATUS_SYSTEM;
        told_open(9, 31, INDEX_STREAM_QUERY, 'q');
        told_cursor_status = STATUS_OK;
        told_expect("30 BAD_INPUT: it is wrong\n31 SYSTEM: no thread\n");
    }
    told_open(9, 32, INDEX_STREAM_QUERY, 'q');
    assert_int_equal(told_cursor_count, 5);
}

static void
short_answers_to_lookups_are_kept(void **state)
{
    (void)state;
    told_begin(8);
    told_batch = 4;
    told_open(1, 10, INDEX_STREAM_FIND, 'f');
    told_batch = 6; /* too late */
    told_says(0, "found", true);
    told_round();
    told_expect("find 2\nkeep f of 4.8: found\n10 cursor 0 at 0 end 'found'\n");
    told_open(1, 11, INDEX_STREAM_DESCRIBE, 'd');
    told_says(1, "said", true);
    told_round();
    told_expect("find 2\nkeep d of 6.12: said\n11 cursor 1 at 0 end 'said'\n");
    /* Not: what takes several pieces, fails, or is no lookup. */
    told_open(1, 12, INDEX_STREAM_FIND, 'f');
    told_says(2, "much", false);
    told_round();
    told_says(2, "more", true);
    told_next(13, 2, 4);
    told_expect("find 2\n12 cursor 2 at 0 'much'\n13 cursor 2 at 4 end 'more'\n");
    told_open(1, 14, INDEX_STREAM_FIND, 'f');
    told_cursor(3)->status = STATUS_CORRUPT;
    told_round();
    told_expect("find 2\n14 CORRUPT: it broke off\n");
    told_in_cache = true;
    told_open(1, 15, INDEX_STREAM_QUERY, 'q');
    told_says(4, "rows", true);
    told_round();
    told_expect("15 cursor 4 at 0 end 'rows'\n");
    told_ask(INDEX_VERB_OPEN, 1, 16, SLICE(""));
    told_round();
    told_expect("16 BAD_INPUT: it is wrong\n");
    /* What was kept is given at once. */
    told_open(1, 17, INDEX_STREAM_FIND, 'f');
    told_open(1, 18, INDEX_STREAM_DESCRIBE, 'd');
    told_expect("find 2\n17 'kept'\nfind 2\n18 'kept'\n");
    assert_int_equal(told_cursor_count, 5);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_teardown(name, told_tear_down)
    const struct CMUnitTest tests[] = {
        CASE(verbs_go_where_they_belong),
        CASE(what_others_have_done_is_replied),
        CASE(positions_are_waited_for),
        CASE(many_wait_for_positions),
        CASE(batches_are_published),
        CASE(an_answer_comes_piece_by_piece),
        CASE(cursors_end_when_their_producers_have),
        CASE(short_answers_and_failures_are_done_at_once),
        CASE(cursors_that_nobody_reads_are_dropped),
        CASE(an_opening_that_comes_again_is_the_same_cursor),
        CASE(cursors_have_the_settings_of_their_kind),
        CASE(short_answers_to_lookups_are_kept),
    };
    return cmocka_run_group_tests_name("service_loop", tests, NULL, NULL);
}
