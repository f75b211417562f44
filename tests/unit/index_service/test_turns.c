/* Whose turn it is: by what threads and clients have had, whatever the clock says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "index/serve/turns.h"
#include "tests/unit/moved_clock.h"

enum { THREADS = 8, MIB = 1 << 20 };

static atomic_bool never;

static uint64_t
cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void
burn(unsigned ms)
{
    for (const uint64_t end = cpu_ms() + ms; cpu_ms() < end;) {
    }
}

/* ---- one turn, and others who wait for it ---- */

struct waiter {
    char name;
    uint64_t client;
    unsigned had_ms;        /* of turns */
    unsigned client_had_ms; /* beside */
    pthread_t thread;
    struct turn turn;
};

static char order[THREADS + 1]; /* of those who had the one turn */
static size_t ordered;

static void *
wait_once(void *argument)
{
    struct waiter *waiter = argument;
    turn_take(&waiter->turn);
    order[ordered++] = waiter->name;
    turn_give(&waiter->turn);
    return NULL;
}

/* In which order they get the turn that the caller holds until all wait for it. */
static const char *
order_of(struct waiter *waiters, size_t count)
{
    struct turns *turns = turns_new(1, 0);
    struct turn own;
    turn_open(&own, turns, 99, &never);
    ordered = 0;
    for (size_t i = 0; i < count; i++) {
        turn_open(&waiters[i].turn, turns, waiters[i].client, &never);
        waiters[i].turn.used_us = waiters[i].had_ms * 1000;
    }
    for (size_t i = 0; i < count; i++) {
        struct turn other;
        if (waiters[i].client_had_ms == 0) {
            continue; /* each turn that is handed out counts */
        }
        turn_open(&other, turns, waiters[i].client, &never);
        turn_take(&other);
        burn(waiters[i].client_had_ms);
        turn_give(&other);
        turn_close(&other);
    }
    turn_take(&own);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(pthread_create(&waiters[i].thread, NULL, wait_once, &waiters[i]), 0);
        while (!atomic_load(&waiters[i].turn.waits)) {
            (void)poll(NULL, 0, 1);
        }
    }
    turn_give(&own);
    for (size_t i = 0; i < count; i++) {
        pthread_join(waiters[i].thread, NULL);
        turn_close(&waiters[i].turn);
    }
    turn_close(&own);
    turns_free(turns);
    order[ordered] = 0;
    return order;
}

static void
short_ones_come_first(void **state)
{
    (void)state;
    struct waiter waiters[] = {{'a', 1, 5000, 0}, {'b', 1, 200, 0}, {'c', 1, 50, 0},
                               {'d', 1, 2000, 0}, {'e', 1, 0, 0},   {'f', 1, 99, 0}};
    assert_string_equal(order_of(waiters, 6), "ecfbda");
}

/* Who has many threads has no more than who has one. */
static void
clients_share(void **state)
{
    (void)state;
    struct waiter waiters[] = {{'a', 1, 200, 60}, {'b', 1, 200, 0}, {'c', 1, 200, 0},
                               {'d', 2, 900, 10}, {'e', 3, 10, 30}, {'f', 4, 10, 5}};
    assert_memory_equal(order_of(waiters, 6), "fed", 3);
}

/* However many short ones come. */
static void
long_ones_are_not_forgotten(void **state)
{
    (void)state;
    struct waiter waiters[THREADS] = {{'L', 1, 5000, 0}};
    for (size_t i = 1; i < THREADS; i++) {
        waiters[i] = (struct waiter){.name = (char)('a' + i), .client = 1 + i};
    }
    const char *got = order_of(waiters, THREADS);
    assert_non_null(strchr(got, 'L'));
    assert_true(strchr(got, 'L') < got + THREADS - 1);
}

/* ---- lending ---- */

static void *
take_and_give(void *turn)
{
    turn_take(turn);
    turn_give(turn);
    return NULL;
}

/* A turn is lent while it is spare, and who waits has it as soon as it is back. */
static void
spare_turn_is_lent(void **state)
{
    (void)state;
    struct turns *turns = turns_new(2, 0);
    struct turn own, other;
    pthread_t thread;
    turn_open(&own, turns, 1, &never);
    turn_open(&other, turns, 2, &never);
    assert_false(turn_lend(&own)); /* who has no turn itself needs no help */
    turn_take(&own);
    assert_true(turn_may_lend(&own));
    assert_true(turn_lend(&own));
    assert_false(turn_may_lend(&own));
    assert_false(turn_lend(&own));
    assert_false(turn_is_wanted(&own));
    assert_int_equal(pthread_create(&thread, NULL, take_and_give, &other), 0);
    while (!turn_is_wanted(&own)) {
        sched_yield();
    }
    turn_lent_back(&own, 5000);
    pthread_join(thread, NULL);
    assert_true(turn_may_lend(&own));
    turn_give(&own);
    turn_close(&other);
    turn_close(&own);
    turns_free(turns);
}

/* ---- stepping back ---- */

static void *
run_shortly(void *argument)
{
    struct turn *turn = argument;
    turn_take(turn);
    turn_give(turn);
    return NULL;
}

/* Whoever runs long lets others in between, and only then. */
static void
who_runs_long_steps_back(void **state)
{
    (void)state;
    struct turns *turns = turns_new(1, 0);
    struct turn mine, other;
    pthread_t thread;
    turn_open(&mine, turns, 1, &never);
    turn_open(&other, turns, 2, &never);
    turn_take(&mine);
    burn(2 * TURN_SHORT_MS);
    turn_step(&mine);
    assert_int_equal(mine.used_us, 0); /* nobody waits: it went on */
    assert_int_equal(pthread_create(&thread, NULL, run_shortly, &other), 0);
    while (mine.used_us == 0) {
        turn_step(&mine);
    }
    assert_true(mine.used_us >= TURN_SHORT_MS * 1000);
    pthread_join(thread, NULL); /* it had its turn, though mine was never given up for good */
    assert_true(mine.held);
    turn_give(&mine);
    turn_close(&mine);
    turn_close(&other);
    turns_free(turns);
}

static atomic_bool ran;

static void *
run_and_tell(void *argument)
{
    struct turn *turn = argument;
    turn_take(turn);
    atomic_store(&ran, true);
    turn_give(turn);
    return NULL;
}

/* With one turn and one who waits for it, returns after how many milliseconds of the clock it is
 * given up. */
static unsigned
given_up_after(unsigned had_ms, unsigned waiting_had_ms)
{
    struct turns *turns = turns_new(1, 0);
    struct turn mine, other;
    pthread_t thread;
    unsigned ms = 0;
    turn_open(&mine, turns, 1, &never);
    turn_open(&other, turns, 2, &never);
    mine.used_us = (uint64_t)had_ms * 1000;
    other.used_us = (uint64_t)waiting_had_ms * 1000;
    atomic_store(&ran, false);
    clock_stop();
    turn_take(&mine);
    assert_int_equal(pthread_create(&thread, NULL, run_and_tell, &other), 0);
    while (!atomic_load(&other.waits)) {
        (void)poll(NULL, 0, 1);
    }
    for (;; ms++) {
        turn_step(&mine); /* comes back when the other had its turn, if it is given up */
        if (atomic_load(&ran)) {
            break;
        }
        clock_move(1);
    }
    clock_go();
    pthread_join(thread, NULL);
    turn_give(&mine);
    turn_close(&mine);
    turn_close(&other);
    turns_free(turns);
    return ms;
}

/* Those who have run long step back sooner for those who have not. */
static void
short_ones_are_urgent(void **state)
{
    enum { LONG_MS = 10 * TURN_SHORT_MS };
    (void)state;
    const unsigned usual = given_up_after(LONG_MS, LONG_MS), urgent = given_up_after(LONG_MS, 0);
    assert_true(urgent < usual);
    assert_int_equal(given_up_after(0, 0), usual);
    assert_int_equal(given_up_after(0, LONG_MS), usual);
    assert_int_equal(given_up_after(LONG_MS, TURN_SHORT_MS), usual);
    assert_int_equal(given_up_after(LONG_MS, TURN_SHORT_MS - 1), urgent);
}

static void
who_is_cancelled_waits_no_more(void **state)
{
    (void)state;
    struct turns *turns = turns_new(1, 0);
    struct turn mine, other;
    atomic_bool cancelled = false;
    pthread_t thread;
    turn_open(&mine, turns, 1, &never);
    turn_open(&other, turns, 2, &cancelled);
    turn_take(&mine);
    assert_int_equal(pthread_create(&thread, NULL, run_shortly, &other), 0);
    while (!atomic_load(&other.waits)) {
        (void)poll(NULL, 0, 1);
    }
    atomic_store(&cancelled, true);
    turns_wake(turns);
    pthread_join(thread, NULL); /* without the turn, which is still mine */
    turn_give(&mine);
    turn_take(&mine); /* and there is one, not two or none */
    turn_give(&mine);
    turn_close(&mine);
    turn_close(&other);
    turns_free(turns);
}

static void
memory_is_shared(void **state)
{
    (void)state;
    enum { MANY = 40 };
    struct turns *turns = turns_new(2, 512 * (size_t)MIB);
    struct turn some[MANY];
    size_t together = 0;
    for (unsigned i = 0; i < MANY; i++) {
        turn_open(&some[i], turns, i, &never);
        together += some[i].memory;
        assert_true(some[i].memory >= 8 * MIB);
    }
    assert_int_equal(some[0].memory, 512 * (size_t)MIB);
    assert_int_equal(some[1].memory, 256 * (size_t)MIB);
    assert_true(together <= 2 * 512 * (size_t)MIB + MANY * 8 * (size_t)MIB);
    for (unsigned i = 0; i < MANY; i++) {
        turn_close(&some[i]);
    }
    turn_open(&some[0], turns, 1, &never); /* all came back */
    turn_open(&some[1], turns, 1, &never);
    assert_int_equal(some[0].memory + some[1].memory, 768 * (size_t)MIB);
    turn_close(&some[0]);
    turn_close(&some[1]);
    turns_free(turns);
}

/* Who gives back what he never had does no harm. */
static void
what_never_was_is_let_go(void **state)
{
    (void)state;
    turns_free(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_ones_come_first),          cmocka_unit_test(clients_share),
        cmocka_unit_test(long_ones_are_not_forgotten),    cmocka_unit_test(spare_turn_is_lent),
        cmocka_unit_test(who_runs_long_steps_back),       cmocka_unit_test(short_ones_are_urgent),
        cmocka_unit_test(who_is_cancelled_waits_no_more), cmocka_unit_test(memory_is_shared),
        cmocka_unit_test(what_never_was_is_let_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
