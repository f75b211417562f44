/* When each host may be asked again (stages/fetch/hosts/host_delays.c), beside an array of what
 * each was told; of hosts that rest no more nothing is kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "stages/fetch/hosts/host_delays.h"
#include "tests/unit/memory_in_use.h"

enum { NOW = 1000000, MANY = 5000, TROUBLES = 7 };

static const struct pace no_pace, troubled = {.troubles = TROUBLES};

/* So many other hosts come and go at this time that whoever rests no more is dropped. */
static void
others_pass(struct host_delays *delays, uint64_t now_ms)
{
    static uint64_t other = 1U << 20;
    for (int i = 0; i < MANY; i++) {
        host_delays_until(delays, other++, now_ms, now_ms);
    }
}

static void
an_unknown_host_may_be_asked(void **state)
{
    struct host_delays *delays = host_delays_new();
    (void)state;
    assert_int_equal(host_delays_wait_ms(delays, 5, NOW), 0);
    assert_false(host_delays_is_busy(delays, 5));
    assert_null(host_delays_next(delays, 5));
    assert_null(host_delays_leave(delays, 5));
    host_delays_free(delays);
    host_delays_free(NULL);
}

/* Not earlier than was said before, whatever is said later. */
static void
a_host_rests_until_it_is_due(void **state)
{
    struct host_delays *delays = host_delays_new();
    (void)state;
    host_delays_until(delays, 1, NOW + 100, NOW);
    host_delays_until(delays, 2, NOW + 7, NOW);
    assert_int_equal(host_delays_wait_ms(delays, 1, NOW), 100);
    assert_int_equal(host_delays_wait_ms(delays, 2, NOW), 7);
    host_delays_until(delays, 1, NOW + 99, NOW);
    assert_int_equal(host_delays_wait_ms(delays, 1, NOW), 100);
    host_delays_until(delays, 1, NOW + 101, NOW);
    assert_int_equal(host_delays_wait_ms(delays, 1, NOW), 101);
    assert_int_equal(host_delays_wait_ms(delays, 1, NOW + 100), 1);
    assert_int_equal(host_delays_wait_ms(delays, 1, NOW + 101), 0);
    assert_int_equal(host_delays_wait_ms(delays, 1, NOW + 102), 0);
    assert_false(host_delays_is_busy(delays, 1));
    host_delays_free(delays);
}

/* The first task brings what the queue knows of the host, until the last has ended. */
static void
the_first_task_brings_the_pace(void **state)
{
    struct host_delays *delays = host_delays_new();
    (void)state;
    host_delays_join(delays, 1, &troubled, NOW);
    host_delays_join(delays, 1, &no_pace, NOW);
    host_delays_join(delays, 2, &no_pace, NOW);
    assert_int_equal(host_delays_pace(delays, 1)->troubles, TROUBLES);
    assert_int_equal(host_delays_pace(delays, 2)->troubles, 0);
    host_delays_pace(delays, 1)->troubles++;
    host_delays_part(delays, 1);
    host_delays_join(delays, 1, &troubled, NOW);
    assert_int_equal(host_delays_pace(delays, 1)->troubles, TROUBLES + 1);
    host_delays_part(delays, 1);
    host_delays_part(delays, 1);
    host_delays_join(delays, 1, &troubled, NOW); /* anew */
    assert_int_equal(host_delays_pace(delays, 1)->troubles, TROUBLES);
    host_delays_free(delays);
}

static void
turns_come_in_their_order(void **state)
{
    struct host_delays *delays = host_delays_new();
    struct host_delays_turn turns[4], other;
    (void)state;
    host_delays_begin(delays, 1, NOW);
    host_delays_begin(delays, 2, NOW);
    assert_true(host_delays_is_busy(delays, 1));
    for (size_t i = 0; i < 3; i++) {
        host_delays_line_up(delays, 1, &turns[i]);
    }
    host_delays_line_up(delays, 2, &other);
    assert_null(host_delays_next(delays, 1)); /* it is busy */
    assert_ptr_equal(host_delays_leave(delays, 1), &turns[0]);
    host_delays_end(delays, 1, NOW);
    assert_false(host_delays_is_busy(delays, 1));
    assert_true(host_delays_is_busy(delays, 2));
    assert_ptr_equal(host_delays_next(delays, 1), &turns[1]);
    host_delays_line_up(delays, 1, &turns[3]);
    assert_ptr_equal(host_delays_next(delays, 1), &turns[2]);
    assert_ptr_equal(host_delays_next(delays, 1), &turns[3]);
    assert_null(host_delays_next(delays, 1));
    assert_null(host_delays_leave(delays, 1));
    host_delays_line_up(delays, 1, &turns[0]); /* an empty line begins anew */
    assert_ptr_equal(host_delays_next(delays, 1), &turns[0]);
    assert_null(host_delays_next(delays, 1));
    assert_ptr_equal(host_delays_leave(delays, 2), &other);
    host_delays_free(delays);
}

/* Whoever is being asked, has tasks, is waited for or rests is held, each by that alone. */
static void
who_rests_no_more_is_forgotten(void **state)
{
    enum { BUSY, TASKS, LINE, RESTS, DUE, NOTHING, HOSTS };
    struct host_delays *delays = host_delays_new();
    struct host_delays_turn turn;
    (void)state;
    for (int host = 0; host < HOSTS; host++) {
        *host_delays_pace(delays, (uint64_t)host) = troubled;
    }
    host_delays_begin(delays, BUSY, NOW);
    host_delays_join(delays, TASKS, &troubled, NOW);
    host_delays_line_up(delays, LINE, &turn);
    host_delays_until(delays, RESTS, NOW + 1, NOW);
    host_delays_until(delays, DUE, NOW, NOW);
    others_pass(delays, NOW);
    for (int host = 0; host < HOSTS; host++) {
        assert_int_equal(host_delays_pace(delays, (uint64_t)host)->troubles,
                         host < DUE ? TROUBLES : 0);
    }
    assert_true(host_delays_is_busy(delays, BUSY));
    assert_int_equal(host_delays_wait_ms(delays, RESTS, NOW), 1);
    host_delays_end(delays, BUSY, NOW);
    host_delays_part(delays, TASKS);
    assert_ptr_equal(host_delays_next(delays, LINE), &turn);
    others_pass(delays, NOW + 1);
    for (int host = 0; host < HOSTS; host++) {
        assert_int_equal(host_delays_pace(delays, (uint64_t)host)->troubles, 0);
    }
    host_delays_free(delays);
}

/* However hosts come and go among others, each has what it was told. */
static void
each_host_has_its_own(void **state)
{
    enum { HOSTS = 4000, STEPS = 60000 };
    static struct {
        uint64_t due_ms;
        bool busy;
    } told[HOSTS];
    struct host_delays *delays = host_delays_new();
    unsigned seed = 1;
    uint64_t now_ms = NOW;
    (void)state;
    for (int step = 0; step < STEPS; step++) {
        const uint64_t host = (uint64_t)rand_r(&seed) % HOSTS;
        const uint64_t due_ms = now_ms + (uint64_t)rand_r(&seed) % 2000;
        switch (rand_r(&seed) % 4) {
        case 0:
            host_delays_begin(delays, host, now_ms);
            told[host].busy = true;
            break;
        case 1:
            host_delays_end(delays, host, now_ms);
            told[host].busy = false;
            break;
        default:
            host_delays_until(delays, host, due_ms, now_ms);
            told[host].due_ms = told[host].due_ms > due_ms ? told[host].due_ms : due_ms;
            break;
        }
        const uint64_t other = (uint64_t)rand_r(&seed) % HOSTS;
        assert_int_equal(host_delays_wait_ms(delays, other, now_ms),
                         told[other].due_ms > now_ms ? told[other].due_ms - now_ms : 0);
        assert_int_equal(host_delays_is_busy(delays, other), told[other].busy);
        now_ms++;
    }
    host_delays_free(delays);
}

/* Hosts that were asked once take no room for ever, and all is given back. */
static void
memory_is_bounded(void **state)
{
    enum { TIMES = 40, MOST = 1 << 20 };
    (void)state;
    const size_t before = memory_in_use();
    struct host_delays *delays = host_delays_new();
    for (int i = 0; i < TIMES; i++) {
        others_pass(delays, NOW + (uint64_t)i);
    }
    assert_true(memory_in_use() < before + MOST);
    host_delays_free(delays);
}

static void
use_delays(void)
{
    struct host_delays *delays = host_delays_new();
    host_delays_begin(delays, 1, NOW);
    host_delays_free(delays);
}

static void
nothing_is_left_in_memory(void **state)
{
    (void)state;
    assert_true(leaves_no_memory(use_delays));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unknown_host_may_be_asked),
        cmocka_unit_test(a_host_rests_until_it_is_due),
        cmocka_unit_test(the_first_task_brings_the_pace),
        cmocka_unit_test(turns_come_in_their_order),
        cmocka_unit_test(who_rests_no_more_is_forgotten),
        cmocka_unit_test(each_host_has_its_own),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(nothing_is_left_in_memory),
    };
    return cmocka_run_group_tests_name("host_delays", tests, NULL, NULL);
}
