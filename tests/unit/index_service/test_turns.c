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
    assert_int_equal(strchr(got, 'L') - got, THREADS - 2); /* the eighth turn: the first was mine */
}

/* ---- accounts ---- */

/* Takes a turn for so long. */
static void
use(struct turn *turn, unsigned ms)
{
    turn_take(turn);
    burn(ms);
    turn_give(turn);
}

/* In which order the two get the turn that a third has until both wait for it. */
static const char *
order_of_two(struct turns *turns, struct waiter waiters[2])
{
    struct turn own;
    turn_open(&own, turns, 99, &never);
    turn_take(&own);
    ordered = 0;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&waiters[i].thread, NULL, wait_once, &waiters[i]), 0);
        while (!atomic_load(&waiters[i].turn.waits)) {
            (void)poll(NULL, 0, 1);
        }
    }
    turn_give(&own);
    pthread_join(waiters[0].thread, NULL);
    pthread_join(waiters[1].thread, NULL);
    turn_close(&own);
    order[ordered] = 0;
    return order;
}

/* Who comes counts as if it had had as much as the least of those present; who went away and comes
 * again, too. */
static void
who_comes_counts_as_the_least_present(void **state)
{
    (void)state;
    for (int comes_again = 0; comes_again < 2; comes_again++) {
        struct turns *turns = turns_new(1, 0);
        struct waiter waiters[2] = {{.name = 'n'}, {.name = 'l'}};
        struct turn most;
        turn_open(&most, turns, 1, &never);
        turn_open(&waiters[1].turn, turns, 2, &never);
        use(&most, 60);
        use(&waiters[1].turn, 30);
        if (comes_again) {
            struct turn before;
            turn_open(&before, turns, 3, &never);
            use(&before, 80); /* is forgotten */
            turn_close(&before);
        }
        turn_open(&waiters[0].turn, turns, 3, &never);
        use(&waiters[0].turn, 10); /* more than the least, and less than the most */
        assert_string_equal(order_of_two(turns, waiters), "ln");
        struct waiter others[2] = {{.name = 'm'}, {.name = 'n'}};
        turn_close(&most);
        turn_open(&others[0].turn, turns, 4, &never);
        use(&others[0].turn, 60);
        turn_open(&others[1].turn, turns, 3, &never); /* a second of the newcomer */
        turn_close(&waiters[0].turn);                 /* whose account stays */
        assert_string_equal(order_of_two(turns, others), "nm");
        turn_close(&others[0].turn);
        turn_close(&others[1].turn);
        turn_close(&waiters[1].turn);
        turns_free(turns);
    }
}

/* The time for which a helper used a turn that a client lent counts as time of that client. */
static void
lent_turns_count_for_the_client(void **state)
{
    (void)state;
    struct turns *turns = turns_new(2, 0);
    struct waiter waiters[2] = {{.name = 'b'}, {.name = 'o'}};
    struct turn holder;
    turn_open(&holder, turns, 98, &never);
    turn_open(&waiters[0].turn, turns, 1, &never);
    turn_open(&waiters[1].turn, turns, 2, &never);
    assert_false(turn_may_lend(&waiters[0].turn)); /* who has no turn itself needs no help */
    turn_take(&waiters[0].turn);
    assert_true(turn_lend(&waiters[0].turn));
    turn_lent_back(&waiters[0].turn, 900000);
    turn_give(&waiters[0].turn);
    use(&waiters[1].turn, 10);
    turn_take(&holder);
    assert_string_equal(order_of_two(turns, waiters), "ob");
    turn_give(&holder);
    turn_close(&holder);
    turn_close(&waiters[0].turn);
    turn_close(&waiters[1].turn);
    turns_free(turns);
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
    assert_int_equal(usual, 10); /* as turns.c has it */
    assert_int_equal(urgent, 2);
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

/* Each has as much as nobody is refused: 8 MiB, or all that one may have. */
static void
memory_that_nobody_is_refused(void **state)
{
    static const struct {
        unsigned turns;
        size_t most;
        size_t memory[2], borrowed[2]; /* of the first and of the second */
    } cases[] = {{1, 4 * MIB, {4 * MIB, 4 * MIB}, {0, 0}},
                 {1, 8 * MIB, {8 * MIB, 8 * MIB}, {0, 0}},
                 {1, 16 * MIB, {8 * MIB, 8 * MIB}, {8 * MIB, 0}},
                 {0, 16 * MIB, {8 * MIB, 8 * MIB}, {8 * MIB, 0}},
                 {2, 16 * MIB, {16 * MIB, 8 * MIB}, {16 * MIB, 8 * MIB}},
                 {4, 12 * MIB, {12 * MIB, 12 * MIB}, {12 * MIB, 12 * MIB}},
                 {2, SIZE_MAX, {SIZE_MAX / 2, SIZE_MAX / 4 + 1}, {SIZE_MAX / 2, SIZE_MAX / 4 + 1}}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct turns *turns = turns_new(cases[i].turns, cases[i].most);
        struct turn two[2];
        for (size_t k = 0; k < 2; k++) {
            turn_open(&two[k], turns, k, &never);
            assert_int_equal(two[k].memory, cases[i].memory[k]);
            assert_int_equal(two[k].borrowed, cases[i].borrowed[k]);
        }
        turn_take(&two[0]);
        turn_give(&two[0]);
        turn_close(&two[0]);
        turn_close(&two[1]);
        turns_free(turns);
    }
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
        cmocka_unit_test(short_ones_come_first),
        cmocka_unit_test(clients_share),
        cmocka_unit_test(long_ones_are_not_forgotten),
        cmocka_unit_test(spare_turn_is_lent),
        cmocka_unit_test(who_runs_long_steps_back),
        cmocka_unit_test(short_ones_are_urgent),
        cmocka_unit_test(who_is_cancelled_waits_no_more),
        cmocka_unit_test(memory_is_shared),
        cmocka_unit_test(who_comes_counts_as_the_least_present),
        cmocka_unit_test(lent_turns_count_for_the_client),
        cmocka_unit_test(memory_that_nobody_is_refused),
        cmocka_unit_test(what_never_was_is_let_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
