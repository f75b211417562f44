/* Figures over time (web/pages/status_history.c), and health that one asks for all
 * (web/pages/health.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/scratch.h"
#include "web/pages/health.h"
#include "web/pages/status_history.h"

static char folder[SCRATCH_SIZE];
static const uint64_t noon = 1795435200000; /* a multiple of all periods */

static void
file_path(char path[SCRATCH_SIZE + 32])
{
    snprintf(path, SCRATCH_SIZE + 32, "%s/status-history", folder);
}

static int
set_up(void **state)
{
    (void)state;
    return scratch_folder(folder, "test_status") ? 0 : -1;
}

static int
tear_down(void **state)
{
    char path[SCRATCH_SIZE + 32];
    (void)state;
    file_path(path);
    (void)unlink(path);
    return rmdir(folder);
}

static void
add(struct status_history *history, uint64_t wall_ms, uint64_t quads)
{
    struct status_sample sample = {.wall_ms = wall_ms};
    sample.figures[0] = STATUS_UNKNOWN;
    sample.figures[1] = quads;
    sample.figures[STATUS_SAMPLE_FIGURES - 1] = ~quads;
    status_history_add(history, &sample);
}

static size_t
read_span(struct status_history *history, size_t span, uint64_t now_ms,
          struct status_sample samples[STATUS_SPAN_SAMPLES])
{
    memset(samples, 0, STATUS_SPAN_SAMPLES * sizeof *samples);
    return status_history_read(history, span, now_ms, samples);
}

static struct status_sample samples[STATUS_SPAN_SAMPLES];

static void
samples_outlast_the_process(void **state)
{
    (void)state;
    for (int round = 0; round < 2; round++) {
        struct status_history *history = status_history_open(folder);
        if (round == 0) {
            assert_int_equal(read_span(history, 0, noon, samples), 0);
            add(history, noon, 7);
            add(history, noon + 3000, 8); /* the same ten seconds */
            add(history, noon + 10000, 9);
        }
        assert_int_equal(read_span(history, 0, noon + 12000, samples), 2);
        assert_int_equal(samples[0].wall_ms, noon);
        assert_int_equal(samples[0].figures[0], STATUS_UNKNOWN);
        assert_int_equal(samples[0].figures[1], 7);
        assert_int_equal(samples[1].figures[1], 9);
        assert_int_equal(samples[1].figures[STATUS_SAMPLE_FIGURES - 1], ~UINT64_C(9));
        for (size_t span = 1; span < STATUS_SPANS; span++) {
            assert_int_equal(read_span(history, span, noon + 12000, samples), 1);
            assert_int_equal(samples[0].figures[1], 7);
        }
        status_history_close(history);
    }
}

static void
rings_keep_the_latest_and_the_file_stays_small(void **state)
{
    enum { SAMPLES = 1000 };
    struct status_history *history = status_history_open(folder);
    char path[SCRATCH_SIZE + 32];
    struct stat file;
    (void)state;
    for (uint64_t i = 0; i < SAMPLES; i++) {
        add(history, noon + i * 10000, i);
    }
    const uint64_t now = noon + (SAMPLES - 1) * 10000;
    assert_int_equal(read_span(history, 0, now, samples), STATUS_SPAN_SAMPLES);
    for (size_t i = 0; i < STATUS_SPAN_SAMPLES; i++) {
        assert_int_equal(samples[i].figures[1], SAMPLES - STATUS_SPAN_SAMPLES + i);
    }
    assert_int_equal(read_span(history, 1, now, samples), 42); /* each 24th */
    assert_int_equal(samples[1].figures[1], 24);
    assert_int_equal(read_span(history, 2, now, samples), 2);
    /* An hour later they are no part of the last hour, and of the time before them nothing is. */
    assert_int_equal(read_span(history, 0, now + 3600000, samples), 0);
    assert_int_equal(read_span(history, 1, now + 3600000, samples), 42);
    assert_int_equal(read_span(history, 0, noon, samples), 0);
    status_history_close(history);
    file_path(path);
    assert_int_equal(stat(path, &file), 0);
    assert_true(file.st_size <= 200000);
}

static void
what_was_torn_is_left_out(void **state)
{
    char path[SCRATCH_SIZE + 32];
    struct status_history *history = status_history_open(folder);
    (void)state;
    for (uint64_t i = 0; i < 3; i++) {
        add(history, noon + i * 10000, i);
    }
    status_history_close(history);
    file_path(path);
    const int file = open(path, O_RDWR);
    const uint64_t place = (noon + 10000) / 10000 % STATUS_SPAN_SAMPLES;
    assert_int_equal(pwrite(file, "torn", 4, (off_t)(8 + place * 120 + 40)), 4);
    history = status_history_open(folder);
    assert_int_equal(read_span(history, 0, noon + 20000, samples), 2);
    assert_int_equal(samples[1].figures[1], 2);
    status_history_close(history);
    /* A file of another kind is begun anew. */
    assert_int_equal(pwrite(file, "other   ", 8, 0), 8);
    (void)close(file);
    history = status_history_open(folder);
    assert_int_equal(read_span(history, 0, noon + 20000, samples), 0);
    add(history, noon, 5);
    status_history_close(history);
    history = status_history_open(folder);
    assert_int_equal(read_span(history, 0, noon, samples), 1);
    status_history_close(history);
}

static void
without_a_file_memory_has_them(void **state)
{
    struct status_history *history = status_history_open("/nonexistent/folder");
    (void)state;
    add(history, noon, 5);
    assert_int_equal(read_span(history, 0, noon, samples), 1);
    status_history_close(history);
}

/* ---- health ---- */

enum { ASKING = 8 };

int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *lock,
                                  const struct timespec *until);

/* However long the machine is busy with others, nobody gives up. */
int
__wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *lock,
                              const struct timespec *until)
{
    (void)until;
    return pthread_cond_wait(condition, lock);
}

struct asked {
    struct health *health;
    atomic_uint probes, waiting;
    atomic_bool may_end;
};

static void
probe(void *context, struct health_answer *answer)
{
    struct asked *asked = context;
    atomic_fetch_add(&asked->probes, 1);
    while (!atomic_load(&asked->may_end)) {
        (void)usleep(1000);
    }
    *answer = (struct health_answer){.index = true, .queue = false};
}

static void *
ask(void *context)
{
    struct asked *asked = context;
    struct health_answer answer = {.queue = true};
    atomic_fetch_add(&asked->waiting, 1);
    const bool answered = health_ask(asked->health, probe, asked, &answer);
    return answered && answer.index && !answer.queue ? asked : NULL;
}

static void
one_asks_for_all(void **state)
{
    struct asked asked = {.health = health_new()};
    pthread_t threads[ASKING];
    (void)state;
    for (int i = 0; i < ASKING; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &asked), 0);
    }
    while (atomic_load(&asked.waiting) < ASKING) {
        (void)usleep(1000);
    }
    atomic_store(&asked.may_end, true);
    for (int i = 0; i < ASKING; i++) {
        void *result;
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_ptr_equal(result, &asked);
    }
    assert_in_range(atomic_load(&asked.probes), 1,
                    ASKING - 1); /* one, unless threads stood still */
    health_free(asked.health);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(samples_outlast_the_process, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rings_keep_the_latest_and_the_file_stays_small, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_was_torn_is_left_out, set_up, tear_down),
        cmocka_unit_test(without_a_file_memory_has_them),
        cmocka_unit_test(one_asks_for_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
