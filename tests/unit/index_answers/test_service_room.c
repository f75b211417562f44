/* Which cursors of a partition's service (index/serve/index_service.c) make way for others when too
 * many are open, and how the service begins and ends. */
#include "tests/unit/index_answers/told_service.h"

#include <stdio.h>
#include <string.h>

enum { SPARED_MS = 1000 };

/* ---- room for others ---- */

/* So many cursors of a client, one each millisecond; they wait for their first piece. */
static void
open_many(uint64_t client, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        told_open(client, 100 * client + i, INDEX_STREAM_QUERY, 'x');
        told_now_ms++;
    }
}

/* The first piece of a cursor is read. */
static void
read_first(size_t number)
{
    told_says(number, "a", false);
    told_round();
    told_cursor(number)->status = STATUS_AGAIN;
    told_now_ms++;
}

static void
expect_cancelled(const char *flags)
{
    for (size_t i = 0; i < told_cursor_count; i++) {
        if (told_cursor(i)->cancelled != (flags[i] == 'x')) {
            fail_msg("cursor %zu of %s", i, flags);
        }
    }
    assert_int_equal(told_cursor_count, strlen(flags));
}

static const char *const cut_off =
    " AGAIN: the answer was cut off, so that others are answered: too many are under way most of "
    "them for this client\n";

static void
who_has_most_makes_way(void **state)
{
    char text[300];
    (void)state;
    told_begin(4);
    open_many(1, 4);
    told_expect("");
    /* All wait: the latest makes way, for one who has fewer. */
    told_open(2, 200, INDEX_STREAM_QUERY, 'x');
    snprintf(text, sizeof text, "103%s", cut_off);
    told_expect(text);
    expect_cancelled("...x.");
    told_now_ms += 300; /* the others are told to ask again; then they do */
    told_round();
    told_expect("200 cursor 4 at 0 ''\n102 cursor 2 at 0 ''\n101 cursor 1 at 0 ''\n"
                "100 cursor 0 at 0 ''\n");
    for (size_t i = 0; i < 5; i++) {
        if (i != 3) {
            told_next(i < 4 ? 100 + i : 200, i, 0);
        }
        told_now_ms++;
    }
    told_expect("");
    /* One who has as many as the other, less one, has to wait. */
    told_open(2, 201, INDEX_STREAM_QUERY, 'x');
    snprintf(text, sizeof text, "102%s", cut_off);
    told_expect(text);
    expect_cancelled("..xx..");
    told_open(2, 202, INDEX_STREAM_QUERY, 'x');
    told_expect("202 LIMIT: too many answers are under way; try again\n");
    /* All places are taken, also by those that end. */
    told_cursor(2)->ended = true;
    told_round();
    assert_false(told_cursor(2)->open);
    told_open(2, 203, INDEX_STREAM_QUERY, 'x');
    told_expect("203 LIMIT: too many answers are under way; try again\n");
    told_open(3, 300, INDEX_STREAM_QUERY, 'x');
    snprintf(text, sizeof text, "201%s", cut_off);
    told_expect(text);
    expect_cancelled("..xx.x.");
    told_open(4, 400, INDEX_STREAM_QUERY, 'x');
    told_expect("400 LIMIT: too many answers are under way; try again\n");
    expect_cancelled("..xx.x.");
}

static void
who_is_not_read_makes_way_first(void **state)
{
    (void)state;
    told_begin(4);
    open_many(1, 4);
    read_first(2);
    read_first(1);
    told_expect("102 cursor 2 at 0 'a'\n101 cursor 1 at 0 'a'\n");
    /* The one that was not read for longest. */
    told_open(2, 200, INDEX_STREAM_QUERY, 'x');
    told_expect("");
    expect_cancelled("..x..");
    told_open(2, 201, INDEX_STREAM_QUERY, 'x');
    expect_cancelled(".xx...");
    /* It was not answered, so it is not there any more. */
    told_expect("");
}

static void
a_client_makes_way_for_itself_only_what_it_does_not_read(void **state)
{
    (void)state;
    told_begin(4);
    open_many(1, 4);
    told_open(1, 110, INDEX_STREAM_QUERY, 'x');
    told_expect("110 LIMIT: too many answers are under way; try again\n");
    read_first(1);
    read_first(0);
    told_expect("101 cursor 1 at 0 'a'\n100 cursor 0 at 0 'a'\n");
    told_now_ms += SPARED_MS - 3; /* since the first of them */
    told_open(1, 111, INDEX_STREAM_QUERY, 'x');
    told_expect("111 LIMIT: too many answers are under way; try again\n"
                "103 cursor 3 at 0 ''\n102 cursor 2 at 0 ''\n");
    told_now_ms++;
    told_open(1, 112, INDEX_STREAM_QUERY, 'x');
    expect_cancelled(".x...");
    told_open(1, 113, INDEX_STREAM_QUERY, 'x');
    told_expect("113 LIMIT: too many answers are under way; try again\n");
    told_now_ms++;
    told_open(1, 114, INDEX_STREAM_QUERY, 'x');
    expect_cancelled("xx....");
    told_expect("");
}

/* Clients are counted by whom the answers are for. */
static void
those_who_have_as_many_spare_each_other(void **state)
{
    (void)state;
    told_begin(4);
    open_many(1, 2);
    told_open(5, 500, INDEX_STREAM_QUERY, 'c');
    told_open(6, 600, INDEX_STREAM_QUERY, 'c'); /* of the same client */
    told_open(1, 102, INDEX_STREAM_QUERY, 'x');
    told_expect("102 LIMIT: too many answers are under way; try again\n");
    expect_cancelled("....");
    told_open(8, 800, INDEX_STREAM_QUERY, 'x');
    expect_cancelled("...x.");
    told_open(9, 900, INDEX_STREAM_QUERY, 'x');
    expect_cancelled(".x.x..");
}

/* Where each has one, none of those that are read makes way. */
static void
whoever_has_one_keeps_it_while_it_is_read(void **state)
{
    (void)state;
    told_begin(4);
    for (unsigned i = 1; i <= 4; i++) {
        open_many(i, 1);
    }
    told_open(5, 500, INDEX_STREAM_QUERY, 'x');
    told_expect("500 LIMIT: too many answers are under way; try again\n");
    expect_cancelled("....");
    read_first(2);
    told_now_ms += SPARED_MS - 2;
    told_open(5, 501, INDEX_STREAM_QUERY, 'x');
    expect_cancelled("....");
    told_now_ms++;
    told_open(5, 502, INDEX_STREAM_QUERY, 'x');
    expect_cancelled("..x..");
}

static void
one_more_is_not_enough_to_make_way(void **state)
{
    (void)state;
    told_begin(4);
    open_many(1, 2);
    open_many(2, 1);
    open_many(3, 1);
    told_open(2, 210, INDEX_STREAM_QUERY, 'x');
    told_expect("210 LIMIT: too many answers are under way; try again\n");
    expect_cancelled("....");
    told_open(4, 400, INDEX_STREAM_QUERY, 'x');
    expect_cancelled(".x...");
}

/* All places are looked at, also those that are taken only while others end slowly. */
static void
any_place_may_have_a_cursor(void **state)
{
    (void)state;
    told_begin(2); /* three places */
    open_many(1, 2);
    read_first(0);
    told_now_ms += SPARED_MS;
    told_expect("100 cursor 0 at 0 'a'\n");
    told_open(1, 110, INDEX_STREAM_QUERY, 'x');
    expect_cancelled("x..");
    told_expect("101 cursor 1 at 0 ''\n");
    told_open(1, 110, INDEX_STREAM_QUERY, 'x'); /* the same */
    told_expect("drop 110\n");
    told_says(2, "c", false);
    told_round();
    told_expect("110 cursor 2 at 0 'c'\n");
    told_next(111, 2, 0);
    told_expect("111 cursor 2 at 0 'c'\n");
    /* No place is left, however long the others are not read. */
    told_now_ms += SPARED_MS;
    told_open(1, 112, INDEX_STREAM_QUERY, 'x');
    told_expect("112 LIMIT: too many answers are under way; try again\n");
    expect_cancelled("x..");
    told_cursor(0)->ended = told_cursor(1)->ended = true;
    told_now_ms += 60001;
    told_round();
    expect_cancelled("xxx");
    assert_false(told_cursor(0)->open || told_cursor(1)->open);
    told_round();
    assert_int_equal(told_wait_ms, 100);
    told_cursor(2)->ended = true;
    told_round();
    assert_false(told_cursor(2)->open);
    assert_int_equal(told_wait_ms, 1000);
}

/* ---- beginning and end ---- */

static void
what_fails_to_start_leaves_nothing(void **state)
{
    static const struct {
        const char *call, *text;
        enum status status;
    } cases[] = {{"eventfd", "cannot make an eventfd: Too many open files", STATUS_SYSTEM},
                 {"server", "server failed", STATUS_DENIED},
                 {"pool", "pool failed", STATUS_DENIED},
                 {"publisher", "publisher failed", STATUS_DENIED},
                 {"thread", "cannot start a thread", STATUS_SYSTEM}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reason why = {""};
        assert_int_equal(told_start(4, cases[i].call, true, &why), cases[i].status);
        assert_string_equal(why.text, cases[i].text);
        assert_null(told_service);
        told_expect(i == 0 ? "close -1\n" : "close 4711\n");
        told_stop();
    }
    struct reason why = {""};
    assert_int_equal(told_start(4, "publisher", false, &why), STATUS_OK);
    service_stop(NULL);
}

static void
requests_that_wait_are_dropped_in_the_end(void **state)
{
    static const char known[9] = {1, [8] = 5};
    (void)state;
    told_begin(4);
    assert_non_null(service_patches(told_service));
    told_open(1, 10, INDEX_STREAM_QUERY, 'q');
    told_open(1, 11, INDEX_STREAM_QUERY, 'q');
    told_open(1, 12, INDEX_STREAM_QUERY, 'q');
    read_first(1);
    told_ask(INDEX_VERB_POSITION, 1, 13, slice_of(known, sizeof known));
    told_ask(INDEX_VERB_POSITION, 1, 14, slice_of(known, sizeof known));
    told_round();
    told_expect("11 cursor 1 at 0 'a'\n");
    service_stop(told_service);
    told_service = NULL;
    told_expect("wake\njoin\ndrop 13\ndrop 14\ndrop 12\ndrop 10\nclose 4711\n");
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_teardown(name, told_tear_down)
    const struct CMUnitTest tests[] = {
        CASE(who_has_most_makes_way),
        CASE(who_is_not_read_makes_way_first),
        CASE(a_client_makes_way_for_itself_only_what_it_does_not_read),
        CASE(those_who_have_as_many_spare_each_other),
        CASE(whoever_has_one_keeps_it_while_it_is_read),
        CASE(one_more_is_not_enough_to_make_way),
        CASE(any_place_may_have_a_cursor),
        CASE(what_fails_to_start_leaves_nothing),
        CASE(requests_that_wait_are_dropped_in_the_end),
    };
    return cmocka_run_group_tests_name("service_room", tests, NULL, NULL);
}
