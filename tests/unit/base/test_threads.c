/* Threads that are used again: which thread does a piece of work, and with what niceness. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

#include "base/system/threads.h"
#include "tests/unit/memory_in_use.h"

enum { WORKERS = 5, IDLE = 2, NICENESS = 1 };

static bool no_more_threads;

__typeof__(pthread_create) __wrap_pthread_create, __real_pthread_create;

int
__wrap_pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*work)(void *),
                      void *argument)
{
    return no_more_threads ? EAGAIN : __real_pthread_create(id, attributes, work, argument);
}

/* A piece of work that waits until it may go on, and says which thread did it. */
struct job {
    sem_t begun, go;
    pid_t thread;
    int niceness;
    unsigned times;
};

static void
do_job(void *argument)
{
    struct job *job = argument;
    (void)sem_post(&job->begun);
    while (sem_wait(&job->go) != 0) {
    }
    job->thread = gettid();
    job->niceness = getpriority(PRIO_PROCESS, 0);
    job->times++;
}

static void
job_init(struct job *job)
{
    memset(job, 0, sizeof *job);
    assert_int_equal(sem_init(&job->begun, 0, 0), 0);
    assert_int_equal(sem_init(&job->go, 0, 0), 0);
}

static void
wait_until_begun(struct job *job)
{
    while (sem_wait(&job->begun) != 0) {
    }
}

/* Does one piece of work to its end; returns which thread did it. */
static pid_t
run_one(struct threads *threads, struct job *job)
{
    struct thread *thread = threads_start(threads, do_job, job);
    assert_non_null(thread);
    wait_until_begun(job);
    (void)sem_post(&job->go);
    threads_join(thread);
    return job->thread;
}

static void
test_that_an_idle_thread_is_used_again(void **state)
{
    (void)state;
    struct threads *threads = threads_new(IDLE, 0);
    struct job job;
    job_init(&job);
    const pid_t first = run_one(threads, &job);
    assert_int_not_equal(first, gettid());
    for (unsigned i = 2; i < 20; i++) {
        assert_int_equal(run_one(threads, &job), first);
        assert_int_equal(job.times, i);
    }
    threads_free(threads);
}

/* More pieces of work at a time than are kept each have a thread of their own; then as many as may
 * be are there still. */
static void
test_that_all_work_at_the_same_time(void **state)
{
    (void)state;
    struct threads *threads = threads_new(IDLE, 0);
    struct job jobs[WORKERS];
    struct thread *of[WORKERS];
    for (int i = 0; i < WORKERS; i++) {
        job_init(&jobs[i]);
        of[i] = threads_start(threads, do_job, &jobs[i]);
        assert_non_null(of[i]);
    }
    for (int i = 0; i < WORKERS; i++) {
        wait_until_begun(&jobs[i]);
    }
    for (int i = 0; i < WORKERS; i++) {
        (void)sem_post(&jobs[i].go);
        threads_join(of[i]);
        assert_int_equal(jobs[i].times, 1);
        for (int k = 0; k < i; k++) {
            assert_int_not_equal(jobs[i].thread, jobs[k].thread);
        }
    }
    const pid_t last = run_one(threads, &jobs[0]);
    assert_true(last == jobs[IDLE - 1].thread);
    threads_free(threads);
}

static void
test_that_none_need_be_kept(void **state)
{
    (void)state;
    struct threads *threads = threads_new(0, 0);
    struct job job;
    job_init(&job);
    for (unsigned i = 1; i < 4; i++) {
        (void)run_one(threads, &job);
        assert_int_equal(job.times, i);
    }
    threads_free(threads);
    threads_free(NULL);
}

static void
test_that_a_thread_is_made_nice_once(void **state)
{
    (void)state;
    const int mine = getpriority(PRIO_PROCESS, 0);
    struct threads *threads = threads_new(IDLE, NICENESS);
    struct job job;
    job_init(&job);
    for (int i = 0; i < 3; i++) {
        (void)run_one(threads, &job);
        assert_int_equal(job.niceness, mine + NICENESS < 19 ? mine + NICENESS : 19);
    }
    assert_int_equal(getpriority(PRIO_PROCESS, 0), mine);
    threads_free(threads);
}

/* Who gets no thread is told so; idle ones are used all the same. */
static void
test_that_there_may_be_no_thread(void **state)
{
    (void)state;
    struct threads *threads = threads_new(IDLE, 0);
    struct job job, other;
    job_init(&job);
    job_init(&other);
    no_more_threads = true;
    assert_null(threads_start(threads, do_job, &job));
    no_more_threads = false;
    const pid_t first = run_one(threads, &job);
    no_more_threads = true;
    struct thread *thread = threads_start(threads, do_job, &job);
    assert_non_null(thread);
    assert_null(threads_start(threads, do_job, &other));
    (void)sem_post(&job.go);
    threads_join(thread);
    no_more_threads = false;
    assert_int_equal(job.thread, first);
    assert_int_equal(job.times, 2);
    assert_int_equal(other.times, 0);
    threads_free(threads);
}

static void
nothing_to_do(void *argument)
{
    (void)argument;
}

static void
use_threads(void)
{
    struct threads *threads = threads_new(IDLE, 0);
    struct thread *of[WORKERS];
    for (int i = 0; i < WORKERS; i++) {
        of[i] = threads_start(threads, nothing_to_do, NULL);
    }
    for (int i = 0; i < WORKERS; i++) {
        threads_join(of[i]);
    }
    threads_free(threads);
    threads = threads_new(0, 0);
    no_more_threads = true;
    (void)threads_start(threads, nothing_to_do, NULL);
    no_more_threads = false;
    threads_free(threads);
}

static void
test_that_threads_leave_nothing(void **state)
{
    (void)state;
    assert_true(leaves_no_memory(use_threads));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_that_an_idle_thread_is_used_again),
        cmocka_unit_test(test_that_all_work_at_the_same_time),
        cmocka_unit_test(test_that_none_need_be_kept),
        cmocka_unit_test(test_that_a_thread_is_made_nice_once),
        cmocka_unit_test(test_that_there_may_be_no_thread),
        cmocka_unit_test(test_that_threads_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
