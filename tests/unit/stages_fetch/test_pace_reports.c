/* What a host's answers and troubles tell of its pace, and what a process takes from the host's
 * record (stages/fetch/task/pace_reports.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/system/clock.h"
#include "stages/fetch/task/fetch_task.h"

#define STAND_IN(type, name, parameters) \
    type __wrap_##name parameters;       \
    type __wrap_##name parameters

enum { TRACE = 1 << 12, ADDRESS = 9 };
static const uint64_t now_ms = 1700000000000;

static struct fetch fetch;
static struct stage_job job;
static struct task task;
static struct buf told; /* the host's record */
static unsigned notes;

STAND_IN(uint64_t, clock_wall_ms, (void))
{
    return now_ms;
}

STAND_IN(void, stage_put_meta, (struct stage_job * one, struct slice key, struct slice fields))
{
    struct buf merged;
    assert_ptr_equal(one, &job);
    assert_true(slice_is(key, "hhttp://a.example"));
    buf_init(&merged, TRACE);
    (void)meta_merge(buf_slice(&told), fields, &merged);
    buf_release(&told);
    told = merged;
    notes++;
}

static int
set_up(void **state)
{
    (void)state;
    fetch = (struct fetch){.paces = paces_new(64),
                           .slow.patience_ms = 60000,
                           .pace_rules = {.least_ms = 1000,
                                          .most_ms = 30000,
                                          .factor = 4,
                                          .backoff_ms = 2000,
                                          .backoff_most_ms = 60000,
                                          .retry_after_most_ms = 90000}};
    job.job.attempt = 1;
    task = (struct task){.fetch = &fetch, .job = &job, .origin = SLICE("http://a.example")};
    buf_init(&told, TRACE);
    notes = 0;
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    paces_free(fetch.paces);
    buf_release(&told);
    return 0;
}

static uint64_t
number(enum meta_field field)
{
    uint64_t found = UINT64_MAX;
    (void)meta_record_number(buf_slice(&told), field, &found);
    return found;
}

static void
learn(enum fetch_end end, uint16_t status, bool rules)
{
    const struct fetch_result result = {
        .end = end, .status = status, .milliseconds = 500, .problem = "nobody is there"};
    task_learn_pace(&task, &result, rules);
}

static void
troubles_are_told_and_forgiven(void **state)
{
    static const struct {
        enum fetch_end end;
        uint16_t status;
        bool rules, trouble;
    } cases[] = {
        {FETCH_FAILED, 0, false, true},           {FETCH_CUT_CONNECTION, 0, false, true},
        {FETCH_CUT_TIME, 200, false, true},       {FETCH_ANSWERED, 429, false, true},
        {FETCH_ANSWERED, 503, false, true},       {FETCH_ANSWERED, 500, false, false},
        {FETCH_ANSWERED, 500, true, true},        {FETCH_CUT_LENGTH, 503, false, true},
        {FETCH_ANSWERED, 404, false, false},      {FETCH_CUT_LENGTH, 200, false, false},
        {FETCH_REFUSED_ADDRESS, 0, false, false}, {FETCH_CROWDED, 0, false, false},
        {FETCH_ANSWERED, 301, true, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        (void)tear_down(NULL);
        (void)set_up(NULL);
        learn(cases[i].end, cases[i].status, cases[i].rules);
        assert_int_equal(task_is_troubled(&task), cases[i].trouble);
        assert_int_equal(task_pace_ms(&task) >= 2000, cases[i].trouble || notes > 0);
        if (cases[i].trouble) {
            struct slice reason = {0};
            assert_int_equal(number(META_HOST_ERRORS), 1);
            assert_true(meta_record_text(buf_slice(&told), META_HOST_ERROR, &reason));
            assert_int_equal(slice_is(reason, "nobody is there"), cases[i].status == 0);
        }
        assert_int_equal(task_host_failures(&task), cases[i].end == FETCH_FAILED);
    }
    learn(FETCH_FAILED, 0, false);
    assert_int_equal(number(META_HOST_ERRORS), 1);
    learn(FETCH_ANSWERED, 200, false);
    assert_int_equal(number(META_HOST_ERRORS), 0);
    assert_int_equal(task_host_failures(&task), 0);
    struct slice reason = {0};
    assert_false(meta_record_text(buf_slice(&told), META_HOST_ERROR, &reason) && reason.length > 0);
}

static void
a_long_body_is_no_trouble(void **state)
{
    struct fetch_result result = {.end = FETCH_CUT_TIME, .flowing = true, .problem = ""};
    (void)state;
    task_learn_pace(&task, &result, false);
    assert_false(task_is_troubled(&task));
    assert_int_equal(notes, 0);
}

static void
retry_after_is_told(void **state)
{
    const struct fetch_result result = {
        .end = FETCH_ANSWERED, .status = 429, .retry_after_ms = 50000, .problem = ""};
    (void)state;
    task_learn_pace(&task, &result, false);
    assert_int_equal(number(META_HOST_REST_UNTIL), now_ms + 50000);
    assert_int_equal(task_pace_ms(&task), 50000);
    learn(FETCH_ANSWERED, 200, false);
    assert_int_equal(number(META_HOST_REST_UNTIL), UINT64_MAX);
}

/* Trouble is shared by the hosts of an address, response times are not. */
static void
an_address_shares_trouble(void **state)
{
    struct task other = task;
    (void)state;
    other.origin = SLICE("http://b.example");
    other.address = task.address = ADDRESS;
    learn(FETCH_ANSWERED, 200, false);
    assert_int_equal(task_pace_ms(&task), 2000);
    assert_int_equal(task_pace_ms(&other), 1000);
    learn(FETCH_FAILED, 0, false);
    learn(FETCH_FAILED, 0, false);
    assert_int_equal(task_pace_ms(&other), 4000);
    assert_false(task_is_troubled(&other));
    other.address = 0;
    assert_int_equal(task_pace_ms(&other), 1000);
}

static void
a_host_of_rules_elsewhere_rests_like_one_that_failed(void **state)
{
    struct slice reason = {0};
    (void)state;
    task_learn_trouble(&task, "its rules are not to be had");
    assert_true(task_is_troubled(&task));
    assert_int_equal(notes, 1);
    assert_true(meta_record_text(buf_slice(&told), META_HOST_ERROR, &reason));
    assert_true(slice_is(reason, "its rules are not to be had"));
}

static struct slice
record_with(uint64_t response_ms, uint64_t errors, uint64_t until_ms, struct buf *record)
{
    struct meta_update update;
    meta_update_init(&update);
    buf_init(record, TRACE);
    meta_set_number(&update, META_HOST_RESPONSE_MS, response_ms);
    meta_set_number(&update, META_HOST_ERRORS, errors);
    meta_set_number(&update, META_HOST_REST_UNTIL, until_ms);
    (void)meta_merge((struct slice){0}, meta_update_fields(&update), record);
    meta_update_release(&update);
    return buf_slice(record);
}

static void
what_is_known_is_taken_once(void **state)
{
    struct buf record;
    (void)state;
    task_take_pace(&task, record_with(2000, 2, now_ms + 20000, &record));
    assert_int_equal(task_pace_ms(&task), 20000);
    assert_true(task_is_troubled(&task));
    buf_release(&record);
    task_take_pace(&task, record_with(3, 0, 0, &record)); /* what was learned here counts */
    assert_int_equal(task_pace_ms(&task), 20000);
    assert_true(task_is_troubled(&task));
    buf_release(&record);
    struct task other = task;
    other.origin = SLICE("http://b.example");
    task_take_pace(&other, record_with(UINT64_MAX, UINT64_MAX, 0, &record)); /* damaged */
    assert_int_equal(task_pace_ms(&other), 1000);
    buf_release(&record);
    other.origin = SLICE("http://c.example"); /* what is noted already is not noted again */
    task_take_pace(&other, record_with(500, 0, 0, &record));
    buf_release(&record);
    const struct fetch_result same = {.end = FETCH_ANSWERED, .status = 200, .milliseconds = 500};
    task_learn_pace(&other, &same, false);
    assert_int_equal(notes, 0);
}

/* Nothing is known: all of it; then several times the usual, twice as much with each attempt. */
static void
patience_follows_the_pace(void **state)
{
    (void)state;
    assert_int_equal(task_patience_ms(&task), 60000);
    learn(FETCH_FAILED, 0, false);
    assert_int_equal(task_patience_ms(&task), 30000);
    learn(FETCH_ANSWERED, 200, false);
    assert_int_equal(task_patience_ms(&task), 15000);
    job.job.attempt = 2;
    assert_int_equal(task_patience_ms(&task), 30000);
}

/* It failed before, and others were answered since. */
static void
a_page_that_fails_alone_is_at_fault(void **state)
{
    static const struct {
        enum fetch_end end;
        bool unsent, flawed;
    } cases[] = {{FETCH_FAILED, false, true},          {FETCH_FAILED, true, false},
                 {FETCH_CUT_CONNECTION, false, true},  {FETCH_CUT_TIME, false, true},
                 {FETCH_ANSWERED, false, false},       {FETCH_CUT_LENGTH, false, false},
                 {FETCH_REFUSED_HEADER, false, false}, {FETCH_REFUSED_ADDRESS, false, false}};
    (void)state;
    learn(FETCH_FAILED, 0, false);
    learn(FETCH_ANSWERED, 200, false);
    job.job.attempt = 2;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct fetch_result result = {.end = cases[i].end, .unsent = cases[i].unsent};
        assert_int_equal(task_is_at_fault(&task, &result), cases[i].flawed);
    }
    const struct fetch_result result = {.end = FETCH_FAILED};
    job.job.attempt = 1;
    assert_false(task_is_at_fault(&task, &result));
    job.job.attempt = 2;
    learn(FETCH_FAILED, 0, false); /* it may be the host again */
    assert_false(task_is_at_fault(&task, &result));
    learn(FETCH_ANSWERED, 200, false);
    task.download = (struct download *)&told;
    assert_false(task_is_at_fault(&task, &result));
    task.download = NULL;
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(troubles_are_told_and_forgiven),
        CASE(a_long_body_is_no_trouble),
        CASE(retry_after_is_told),
        CASE(an_address_shares_trouble),
        CASE(a_host_of_rules_elsewhere_rests_like_one_that_failed),
        CASE(what_is_known_is_taken_once),
        CASE(patience_follows_the_pace),
        CASE(a_page_that_fails_alone_is_at_fault),
    };
    return cmocka_run_group_tests_name("pace_reports", tests, NULL, NULL);
}
