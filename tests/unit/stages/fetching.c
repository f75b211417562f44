#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/system/clock.h"
#include "base/url/url.h"
#include "tests/unit/stages/fetching.h"

enum { PATIENCE_MS = 60000 };
static unsigned port; /* of the web */

char fetching_directory[SCRATCH_SIZE];
static char programs[4096]; /* their folder */
static pid_t children[8];
static size_t child_count;

static void
start_program(const char *name, const char *number)
{
    char path[4200];
    char connect_to[64];
    char log[128];
    snprintf(path, sizeof path, "%s/%s", programs, name);
    snprintf(connect_to, sizeof connect_to, "fetch.connect_to=127.0.0.1:%u", port);
    snprintf(log, sizeof log, "%s/%s.%s.log", fetching_directory, name, number);
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        const int output = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        dup2(output, STDERR_FILENO);
        char *arguments[48] = {path, "--dir", fetching_directory};
        char *const settings[] = {
            "fetch.allow_address=127.0.0.1",
            connect_to,
            "fetch.delay=0",
            "fetch.retry=0.2",
            "fetch.backoff=0.4",
            "fetch.backoff_maximum=1",
            "fetch.timeout=60",
            "fetch.patience=60",
            "fetch.size=64K",
            "sitemaps.files=5",
            "scope.domains=plain.example rules.example maps.example "
            "down.example fails.example elsewhere.example deep.example late.example "
            "busy.example hop.example foreign.example "
            "unnamed.example away.example page.example shut.example "
            "nest.example wide.example names.example ring.example"};
        size_t n = 3;
        const bool fetch = strcmp(name, "quadrille-fetch") == 0;
        const bool paces = fetch || strcmp(name, "quadrille-queue") == 0;
        for (size_t i = 0; paces && i < sizeof settings / sizeof settings[0]; i++) {
            arguments[n++] = "--set";
            arguments[n++] = settings[i];
        }
        if (strcmp(name, "quadrille-queue") == 0) {
            arguments[n++] = "--set";
            arguments[n++] = "queue.host_failures=3";
        }
        if (fetch) {
            arguments[n++] = "--number";
            arguments[n++] = (char *)(uintptr_t)number;
        }
        execv(path, arguments);
        _exit(111);
    }
    children[child_count++] = child;
}

static void
end_programs(void)
{
    while (child_count > 0) {
        const pid_t child = children[--child_count];
        int status;
        kill(child, SIGTERM);
        waitpid(child, &status, 0);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

static struct queue_client *queue;
static struct metastore_client *metastore;
static unsigned unanswered;

static void
put_answered(void *context, enum status status, const struct reason *why)
{
    (void)context;
    unanswered--;
    if (status != STATUS_OK) {
        fail_msg("put: %s", why->text);
    }
}

void
fetching_put_at(const char *uri, uint8_t flags, uint16_t depth)
{
    const struct slice key = slice_string(uri);
    const struct job job = {.key.stage = STAGE_FETCH,
                            .uri = key,
                            .lane_name = url_origin(key),
                            .priority = 128,
                            .flags = flags,
                            .depth = depth};
    unanswered++;
    queue_put(queue, &job, 1, put_answered, NULL);
    while (unanswered > 0) {
        struct pollfd ready = {queue_client_descriptor(queue), POLLIN, 0};
        poll(&ready, 1, 20);
        queue_client_process(queue);
    }
}

void
fetching_put(const char *uri, uint8_t flags)
{
    fetching_put_at(uri, flags, 0);
}

void
fetching_wait(void)
{
    struct reason why;
    const uint64_t until = clock_monotonic_ms() + PATIENCE_MS;
    for (;;) {
        struct queue_stats stats;
        assert_int_equal(queue_stats_get(queue, &stats, PATIENCE_MS, &why), STATUS_OK);
        const struct queue_stage_stats *fetch = &stats.stages[STAGE_FETCH];
        if (fetch->ready + fetch->leased + fetch->delayed == 0) {
            return;
        }
        assert_true(clock_monotonic_ms() < until);
        usleep(50000);
    }
}

void
fetching_check(const char *key, enum meta_field field, const char *expected)
{
    struct buf record;
    struct reason why;
    struct slice text = {0};
    buf_init(&record, 4 << 20);
    const enum status status =
        metastore_get_wait(metastore, slice_string(key), &record, PATIENCE_MS, &why);
    assert_true(status == STATUS_OK || (status == STATUS_NOT_FOUND && expected[0] == '\0'));
    (void)meta_record_text(buf_slice(&record), field, &text);
    if (!slice_starts(text, slice_string(expected)) || (expected[0] == '\0' && text.length > 0)) {
        fail_msg("%s: %s is \"%.*s\", not \"%s\"", key, meta_field_name(field), SLICE_PRINT(text),
                 expected);
    }
    buf_release(&record);
}

uint64_t
fetching_number(const char *key, enum meta_field field)
{
    struct buf record;
    struct reason why;
    uint64_t number = UINT64_MAX;
    buf_init(&record, 4 << 20);
    assert_int_equal(metastore_get_wait(metastore, slice_string(key), &record, PATIENCE_MS, &why),
                     STATUS_OK);
    (void)meta_record_number(buf_slice(&record), field, &number);
    buf_release(&record);
    return number;
}

uint64_t
fetching_depth(const char *key)
{
    return fetching_number(key, META_DEPTH);
}

void
fetching_wait_for_request(const char *what)
{
    const uint64_t until = clock_monotonic_ms() + PATIENCE_MS;
    while (fetch_web_count(what) == 0) {
        assert_true(clock_monotonic_ms() < until);
        usleep(5000);
    }
}

static bool
count_job(void *context, const struct job *job, struct slice state, struct slice reason,
          struct slice reproducer)
{
    struct found_jobs *count = context;
    (void)state;
    (void)reproducer;
    if (slice_is(job->uri, count->uri)) {
        count->n++;
        buf_reset(&count->data);
        buf_reset(&count->reason);
        buf_append_slice(&count->data, job->data);
        buf_append_slice(&count->reason, reason);
        count->job = *job;
    }
    return true;
}

struct found_jobs
fetching_look(enum stage stage, const char *state, const char *uri)
{
    struct found_jobs count = {.uri = uri};
    struct reason why;
    buf_init(&count.data, JOB_DATA_MAXIMUM);
    buf_init(&count.reason, 4096);
    assert_int_equal(queue_peek(queue, stage, state, 1000, count_job, &count, &why), STATUS_OK);
    return count;
}

struct queue_explanation
fetching_explain(const char *uri)
{
    struct queue_explanation found;
    struct reason why;
    assert_int_equal(queue_explanation(queue, slice_string(uri), &found, &why), STATUS_OK);
    return found;
}

unsigned
fetching_count_jobs(enum stage stage, const char *state, const char *uri)
{
    struct found_jobs count = fetching_look(stage, state, uri);
    buf_release(&count.data);
    buf_release(&count.reason);
    return count.n;
}

static bool
take_host(void *context, const struct queue_host *host)
{
    struct found_jobs *count = context;
    count->n = host->aside && host->counted ? (unsigned)host->jobs : 0;
    buf_append_slice(&count->reason, host->cause);
    return true;
}

void
fetching_check_aside(const char *origin, unsigned jobs, const char *cause)
{
    struct found_jobs count = {0};
    struct reason why;
    buf_init(&count.reason, 1 << 16);
    assert_int_equal(queue_hosts(queue, slice_string(origin), true, take_host, &count, &why),
                     STATUS_OK);
    assert_int_equal(count.n, jobs);
    assert_string_equal(count.reason.data, cause);
    buf_release(&count.reason);
}

bool
fetching_find_programs(void)
{
    const ssize_t n = readlink("/proc/self/exe", programs, sizeof programs - 32);
    if (n <= 0) {
        return false;
    }
    programs[n] = '\0';
    *strrchr(programs, '/') = '\0';
    strcpy(strrchr(programs, '/'), "/bin/quadrille-fetch");
    const bool found = access(programs, X_OK) == 0;
    *strrchr(programs, '/') = '\0';
    return found;
}

int
fetching_start(void **state)
{
    static char queue_endpoint[100];
    static char metastore_endpoint[100];
    static const char *endpoints[] = {metastore_endpoint};
    char run[100];
    struct reason why;
    (void)state;
    assert_true(scratch_folder(fetching_directory, "test_fetch_stage"));
    snprintf(run, sizeof run, "%s/run", fetching_directory);
    assert_int_equal(mkdir(run, 0755), 0);
    snprintf(run, sizeof run, "%s/quadrille.conf",
             fetching_directory); /* which makes it a data directory */
    const int made = open(run, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(made >= 0);
    close(made);
    port = fetch_web_start();
    start_program("quadrille-queue", "1");
    start_program("quadrille-metastore", "1");
    start_program("quadrille-fetch", "1");
    start_program("quadrille-fetch", "2");
    snprintf(queue_endpoint, sizeof queue_endpoint, "ipc://%s/run/queue.sock", fetching_directory);
    snprintf(metastore_endpoint, sizeof metastore_endpoint, "ipc://%s/run/metastore.sock",
             fetching_directory);
    const struct queue_client_options to_queue = {.endpoint = queue_endpoint, .name = "test"};
    const struct metastore_client_options to_store = {
        .endpoints = endpoints, .endpoint_count = 1, .name = "test"};
    assert_int_equal(queue_client_open(&queue, &to_queue, &why), STATUS_OK);
    assert_int_equal(metastore_client_open(&metastore, &to_store, &why), STATUS_OK);
    return 0;
}

int
fetching_stop(void **state)
{
    char command[200];
    (void)state;
    queue_client_close(queue);
    metastore_client_close(metastore);
    end_programs();
    snprintf(command, sizeof command, "rm -rf %s", fetching_directory);
    return system(command);
}
