/* The fetch program between real daemons and a web of ill-behaved hosts: every end of a job that
 * docs/FETCH.md names, robots.txt asked for once by two processes, sitemaps, recrawls. Needs the
 * programs beside the tests (../bin). */
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/system/clock.h"
#include "base/url/url.h"
#include "metastore/metastore_client.h"
#include "queue/client/queue_client.h"
#include "stages/skeleton/document.h"
#include "tests/unit/fetch_web.h"
#include "tests/unit/scratch.h"
#include "warc/warc.h"

enum { PATIENCE_MS = 60000 };
static unsigned port; /* of the web */

/* ---- the programs ---- */

static char directory[SCRATCH_SIZE];
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
    snprintf(log, sizeof log, "%s/%s.%s.log", directory, name, number);
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        const int output = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        dup2(output, STDERR_FILENO);
        char *arguments[48] = {path, "--dir", directory};
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

static void
put_at(const char *uri, uint8_t flags, uint16_t depth)
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

static void
put(const char *uri, uint8_t flags)
{
    put_at(uri, flags, 0);
}

/* Until the queue of fetch is empty. */
static void
wait_for_fetch(void)
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

static void
check_meta(const char *key, enum meta_field field, const char *expected)
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

/* UINT64_MAX: the record has none. */
static uint64_t
number_in(const char *key, enum meta_field field)
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

static uint64_t
depth_of(const char *key)
{
    return number_in(key, META_DEPTH);
}

static void
wait_for_request(const char *what)
{
    const uint64_t until = clock_monotonic_ms() + PATIENCE_MS;
    while (fetch_web_count(what) == 0) {
        assert_true(clock_monotonic_ms() < until);
        usleep(5000);
    }
}

struct count {
    const char *uri;
    unsigned n;
    struct job job;
    struct buf data, reason;
};

static bool
count_job(void *context, const struct job *job, struct slice state, struct slice reason,
          struct slice reproducer)
{
    struct count *count = context;
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

/* The jobs of a URI in a stage and state; the last one's data and reason. */
static struct count
look(enum stage stage, const char *state, const char *uri)
{
    struct count count = {.uri = uri};
    struct reason why;
    buf_init(&count.data, JOB_DATA_MAXIMUM);
    buf_init(&count.reason, 4096);
    assert_int_equal(queue_peek(queue, stage, state, 1000, count_job, &count, &why), STATUS_OK);
    return count;
}

/* Returns what the queue knows of a URI and its host. */
static struct queue_explanation
look_at(const char *uri)
{
    struct queue_explanation found;
    struct reason why;
    assert_int_equal(queue_explanation(queue, slice_string(uri), &found, &why), STATUS_OK);
    return found;
}

static unsigned
count_jobs(enum stage stage, const char *state, const char *uri)
{
    struct count count = look(stage, state, uri);
    buf_release(&count.data);
    buf_release(&count.reason);
    return count.n;
}

static bool
take_host(void *context, const struct queue_host *host)
{
    struct count *count = context;
    count->n = host->aside && host->counted ? (unsigned)host->jobs : 0;
    buf_append_slice(&count->reason, host->cause);
    return true;
}

/* The host is set aside with so many URIs. */
static void
check_aside(const char *origin, unsigned jobs, const char *cause)
{
    struct count count = {0};
    struct reason why;
    buf_init(&count.reason, 1 << 16);
    assert_int_equal(queue_hosts(queue, slice_string(origin), true, take_host, &count, &why),
                     STATUS_OK);
    assert_int_equal(count.n, jobs);
    assert_string_equal(count.reason.data, cause);
    buf_release(&count.reason);
}

static bool
find_programs(void)
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

static int
start(void **state)
{
    static char queue_endpoint[100];
    static char metastore_endpoint[100];
    static const char *endpoints[] = {metastore_endpoint};
    char run[100];
    struct reason why;
    (void)state;
    assert_true(scratch_folder(directory, "test_fetch_stage"));
    snprintf(run, sizeof run, "%s/run", directory);
    assert_int_equal(mkdir(run, 0755), 0);
    snprintf(run, sizeof run, "%s/quadrille.conf", directory); /* which makes it a data directory */
    const int made = open(run, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(made >= 0);
    close(made);
    port = fetch_web_start();
    start_program("quadrille-queue", "1");
    start_program("quadrille-metastore", "1");
    start_program("quadrille-fetch", "1");
    start_program("quadrille-fetch", "2");
    snprintf(queue_endpoint, sizeof queue_endpoint, "ipc://%s/run/queue.sock", directory);
    snprintf(metastore_endpoint, sizeof metastore_endpoint, "ipc://%s/run/metastore.sock",
             directory);
    const struct queue_client_options to_queue = {.endpoint = queue_endpoint, .name = "test"};
    const struct metastore_client_options to_store = {
        .endpoints = endpoints, .endpoint_count = 1, .name = "test"};
    assert_int_equal(queue_client_open(&queue, &to_queue, &why), STATUS_OK);
    assert_int_equal(metastore_client_open(&metastore, &to_store, &why), STATUS_OK);
    return 0;
}

static int
stop(void **state)
{
    char command[200];
    (void)state;
    queue_client_close(queue);
    metastore_client_close(metastore);
    end_programs();
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

/* ---- cases ---- */

static void
a_page_goes_to_detect_with_its_place_in_the_archive(void **state)
{
    char warc[100];
    struct buf memory;
    struct warc_record record;
    struct document document;
    struct reason why = {""};
    (void)state;
    put("http://plain.example/a", JOB_SEED);
    put("http://plain.example/moved", JOB_SEED);
    wait_for_fetch();
    check_meta("uhttp://plain.example/a", META_STATE, "fetched");
    check_meta("uhttp://plain.example/a", META_PAYLOAD_DIGEST, "sha256:");
    check_meta("uhttp://plain.example/moved", META_STATE, "redirected");
    check_meta("uhttp://plain.example/moved", META_REDIRECT_TO, "http://plain.example/a");
    struct count found = look(STAGE_DETECT, "ready", "http://plain.example/a");
    assert_int_equal(found.n, 1);
    assert_true(document_decode(buf_slice(&found.data), &document));
    assert_int_equal(document.http_status, 200);
    assert_true(slice_is(document.charset, "latin1"));
    assert_true(slice_is(document.link_header, "</b>; rel=x, </c>"));
    snprintf(warc, sizeof warc, "%s/warc", directory);
    buf_init(&memory, 1 << 20);
    struct warc_reader *reader = warc_reader_open(warc, NULL);
    const enum status status = warc_read(reader, document.response.file, document.response.offset,
                                         document.response.length, &memory, &record, &why);
    assert_string_equal(why.text, "");
    assert_int_equal(status, STATUS_OK);
    assert_true(slice_is(record.body, "<p>a</p>"));
    assert_true(slice_equal(record.id, document.response.id));
    warc_reader_close(reader);
    buf_release(&memory);
    buf_release(&found.data);
    buf_release(&found.reason);
    assert_int_equal(fetch_web_count("plain.example/a"), 1);
    assert_int_equal(fetch_web_count("plain.example/robots.txt"), 1);
}

struct expectation {
    const char *uri, *state, *reason;
    unsigned requests; /* 0: not checked */
};

static void
every_end_has_its_state(void **state)
{
    static const struct expectation expectations[] = {
        {"plain.example/empty", "fetched", "the response has no body", 1},
        {"plain.example/gone", "gone", "", 1},
        {"plain.example/missing", "gone", "", 1},
        {"plain.example/no", "failed", "the server answered 403", 1},
        {"plain.example/late", "fetched", "", 2},
        {"plain.example/never", "failed", "the server answered 500", 3},
        {"plain.example/closes", "failed", "", 0},
        {"plain.example/self", "failed", "redirects to itself", 1},
        {"plain.example/nowhere", "failed", "redirect without a target", 1},
        {"plain.example/outside", "redirected", "", 1},
        {"plain.example/loop", "redirected", "", 1},
        {"plain.example/loop2", "redirected", "", 1},
        {"plain.example/chain0", "redirected", "", 1},
        {"plain.example/chain10", "failed", "more redirects", 1},
        {"plain.example/endless", "fetched", "", 1},
        {"plain.example/header", "failed", "response header larger", 1},
    };
    const size_t n = sizeof expectations / sizeof expectations[0];
    char uri[200];
    (void)state;
    for (size_t i = 0; i < n; i++) {
        snprintf(uri, sizeof uri, "http://%s", expectations[i].uri);
        if (strcmp(expectations[i].uri, "plain.example/loop2") != 0 &&
            strcmp(expectations[i].uri, "plain.example/chain10") != 0) {
            put(uri, JOB_SEED);
        }
    }
    wait_for_fetch();
    for (size_t i = 0; i < n; i++) {
        snprintf(uri, sizeof uri, "uhttp://%s", expectations[i].uri);
        check_meta(uri, META_STATE, expectations[i].state);
        if (expectations[i].reason[0] != '\0') {
            check_meta(uri, META_REASON, expectations[i].reason);
        }
        if (expectations[i].requests > 0) {
            assert_int_equal(fetch_web_count(expectations[i].uri), expectations[i].requests);
        }
    }
    assert_int_equal(count_jobs(STAGE_DETECT, "ready", "http://plain.example/endless"), 1);
    assert_int_equal(count_jobs(STAGE_FETCH, "buried", "http://plain.example/header"), 1);
    assert_int_equal(count_jobs(STAGE_DETECT, "ready", "http://plain.example/late"), 1);
    assert_int_equal(count_jobs(STAGE_DETECT, "ready", "http://plain.example/empty"), 0);
    check_meta("uhttp://plain.example/endless", META_TRUNCATED, "length");
    assert_int_equal(fetch_web_count("outside.test/"), 0);
    assert_int_equal(fetch_web_count("plain.example/robots.txt"), 1);
}

static void
robots_rules_are_obeyed_and_sitemaps_followed(void **state)
{
    (void)state;
    put("http://rules.example/secret/1", JOB_SEED);
    put("http://rules.example/open", JOB_SEED);
    put("http://hop.example/secret", JOB_SEED);
    put("http://down.example/x", JOB_SEED);
    put("http://fails.example/x", JOB_SEED);
    put("http://elsewhere.example/x", JOB_SEED);
    wait_for_fetch();
    check_meta("uhttp://rules.example/secret/1", META_STATE, "denied");
    check_meta("uhttp://rules.example/open", META_STATE, "fetched");
    check_meta("uhttp://hop.example/secret", META_STATE, "denied");
    check_meta("uhttp://down.example/x", META_STATE, "");
    check_aside("http://down.example", 1, "robots.txt: the server answered 503");
    assert_int_equal(count_jobs(STAGE_FETCH, "aside", "http://down.example/x"), 1);
    assert_int_equal(fetch_web_count("down.example/robots.txt"), 3);
    check_aside("http://fails.example", 1, "robots.txt: the server answered 500");
    assert_int_equal(fetch_web_count("fails.example/robots.txt"), 3);
    assert_int_equal(look_at("http://fails.example/").troubles, 3);
    check_aside("http://elsewhere.example", 1, "robots.txt: the server answered 500");
    assert_int_equal(look_at("http://elsewhere.example/").troubles, 3);
    assert_int_equal(fetch_web_count("rules.example/secret/1"), 0);
    assert_int_equal(fetch_web_count("down.example/x"), 0);
    check_meta("hhttp://rules.example", META_SITEMAPS, "http://maps.example/map.xml\n");
    check_meta("uhttp://rules.example/from-map", META_STATE, "fetched");
    check_meta("uhttp://rules.example/from-map", META_VIA, "http://maps.example/1.xml");
    check_meta("uhttp://rules.example/from-list", META_STATE, "fetched");
    check_meta("uhttp://foreign.example/x", META_STATE, "");
    /* hop.example has the same robots.txt, so it names the sitemap, too; perhaps later. */
    const unsigned maps = fetch_web_count("maps.example/map.xml");
    assert_true(maps == 1 || maps == 2);
    /* Once for its own sake, once for hop.example. */
    assert_int_equal(fetch_web_count("rules.example/robots.txt"), 2);
}

/* Without limits these have no end: indexes are no deeper than what lists them. */
static void
indexes_of_sitemaps_end_at_their_limits(void **state)
{
    (void)state;
    put("http://nest.example/a", JOB_SEED);
    put("http://wide.example/a", JOB_SEED);
    put("http://names.example/a", JOB_SEED);
    wait_for_fetch();
    assert_int_equal(fetch_web_count("nest.example/nest3"), 1);
    assert_int_equal(fetch_web_count("nest.example/nest4"), 0);
    check_meta("uhttp://nest.example/nest2", META_SITEMAP_TRUNCATED, "");
    check_meta("uhttp://nest.example/nest3", META_SITEMAP_TRUNCATED,
               "more indexes above a sitemap than are followed");
    assert_int_equal(fetch_web_count("wide.example/5"), 1);
    assert_int_equal(fetch_web_count("wide.example/6"), 0);
    check_meta("uhttp://wide.example/wide", META_SITEMAP_TRUNCATED,
               "more sitemaps of the host than sitemaps.files");
    assert_int_equal(number_in("hhttp://wide.example", META_SITEMAP_FILES), 5);
    /* Sitemaps that another host names are fetched again, and so are those that they list. */
    assert_in_range(fetch_web_count("ring.example/1"), 1, 6);
    assert_in_range(fetch_web_count("ring.example/2"), 1, 6);
}

static void
sitemaps_are_followed_again_at_a_smaller_depth(void **state)
{
    (void)state;
    put_at("http://deep.example/x", 0, 5);
    wait_for_fetch();
    assert_int_equal(fetch_web_count("deep.example/map.xml"), 1);
    check_meta("uhttp://deep.example/entry", META_STATE, "fetched");
    assert_int_equal(depth_of("hhttp://deep.example"), 5);
    assert_int_equal(depth_of("uhttp://deep.example/entry"), 6);
    put_at("http://deep.example/y", 0, 7);
    wait_for_fetch();
    assert_int_equal(fetch_web_count("deep.example/map.xml"), 1);
    put_at("http://deep.example/z", 0, 1);
    wait_for_fetch();
    assert_int_equal(fetch_web_count("deep.example/map.xml"), 2);
    assert_int_equal(fetch_web_count("deep.example/entry"), 1);
    assert_int_equal(depth_of("hhttp://deep.example"), 1);
    assert_int_equal(count_jobs(STAGE_EXTRACT, "ready", "http://deep.example/entry"), 1);
}

/* After the first good page, once; where it is one, again at a smaller depth. */
static void
a_sitemap_that_nobody_names_is_looked_for(void **state)
{
    (void)state;
    put_at("http://unnamed.example/missing", 0, 4);
    wait_for_fetch();
    assert_int_equal(fetch_web_count("unnamed.example/sitemap.xml"), 0);
    put_at("http://unnamed.example/a", 0, 4);
    put("http://away.example/a", JOB_SEED);
    put("http://page.example/a", JOB_SEED);
    put("http://shut.example/a", JOB_SEED);
    wait_for_fetch();
    check_meta("hhttp://unnamed.example", META_SITEMAP_GUESS, "found");
    check_meta("uhttp://unnamed.example/sitemap.xml", META_VIA,
               "http://unnamed.example/robots.txt");
    check_meta("uhttp://unnamed.example/entry", META_STATE, "fetched");
    assert_int_equal(depth_of("uhttp://unnamed.example/entry"), 5);
    put_at("http://unnamed.example/b", 0, 6);
    wait_for_fetch();
    assert_int_equal(fetch_web_count("unnamed.example/sitemap.xml"), 1);
    put_at("http://unnamed.example/c", 0, 1);
    wait_for_fetch();
    assert_int_equal(fetch_web_count("unnamed.example/sitemap.xml"), 2);
    assert_int_equal(number_in("hhttp://unnamed.example", META_SITEMAP_GUESS_DEPTH), 1);
    assert_int_equal(count_jobs(STAGE_EXTRACT, "ready", "http://unnamed.example/entry"), 1);
    check_meta("hhttp://away.example", META_SITEMAP_GUESS, "found");
    check_meta("uhttp://away.example/entry", META_VIA, "http://away.example/maps/all.xml");
    /* What is there may be a page. */
    check_meta("hhttp://page.example", META_SITEMAP_GUESS, "what is there is none");
    check_meta("uhttp://page.example/sitemap.xml", META_STATE, "fetched");
    assert_int_equal(fetch_web_count("page.example/b"), 0);
    check_meta("hhttp://shut.example", META_SITEMAP_GUESS, "robots.txt of the host");
    assert_int_equal(fetch_web_count("shut.example/sitemap.xml"), 0);
    /* No document: it has no state that a report would count. */
    check_meta("hhttp://plain.example", META_SITEMAP_GUESS, "gone");
    check_meta("uhttp://plain.example/sitemap.xml", META_STATE, "");
    assert_int_equal(fetch_web_count("plain.example/sitemap.xml"), 1);
    assert_int_equal(fetch_web_count("rules.example/sitemap.xml"), 0);
}

/* One document's 503 makes the whole host rest; a good answer ends that. */
static void
trouble_slows_the_whole_host(void **state)
{
    (void)state;
    put("http://busy.example/a", JOB_SEED);
    wait_for_request("busy.example/a");
    put("http://busy.example/b", JOB_SEED);
    put("http://busy.example/c", JOB_SEED);
    wait_for_request("busy.example/b");
    /* The server notes a request before it answers it, so the rest begins later than that. */
    assert_true(fetch_web_moment("busy.example/b") - fetch_web_moment("busy.example/a") >= 300);
    wait_for_fetch();
    check_meta("uhttp://busy.example/a", META_STATE, "fetched");
    check_meta("uhttp://busy.example/c", META_STATE, "fetched");
    assert_int_equal(look_at("http://busy.example/").troubles, 0);
    assert_in_range(look_at("http://busy.example/").response_ms, 1, 9999);
}

/* Only those of its own host are taken. */
static void
late_robots_and_sitemaps_hold_up_no_pages(void **state)
{
    static const char *const late[] = {"late.example/robots.txt", "late.example/map.xml"};
    static const char *const pages_meanwhile[] = {"rules.example/meanwhile", "rules.example/also"};
    char uri[64];
    (void)state;
    put("http://late.example/a", JOB_SEED);
    for (size_t i = 0; i < 2; i++) {
        wait_for_request(late[i]);
        snprintf(uri, sizeof uri, "http://%s", pages_meanwhile[i]);
        put(uri, JOB_SEED);
        wait_for_request(pages_meanwhile[i]);
        assert_int_equal(fetch_web_count(i == 0 ? "late.example/a" : "late.example/entry"), 0);
        fetch_web_answer_late();
    }
    wait_for_fetch();
    check_meta("uhttp://late.example/a", META_STATE, "fetched");
    assert_int_equal(fetch_web_count("late.example/entry"), 1);
}

static void
a_recrawl_is_conditional_and_empties_what_is_gone(void **state)
{
    (void)state;
    put("http://plain.example/a", JOB_SEED | JOB_RECRAWL);
    put("http://plain.example/gone", JOB_SEED | JOB_RECRAWL);
    wait_for_fetch();
    assert_int_equal(fetch_web_count("plain.example/a if"), 1);
    assert_int_equal(number_in("uhttp://plain.example/a", META_HTTP_STATUS), 304);
    check_meta("uhttp://plain.example/a", META_STATE, "fetched"); /* of what detect has */
    check_meta("uhttp://plain.example/a", META_REASON, "");
    check_meta("uhttp://plain.example/a", META_ETAG, "\"1\"");
    assert_int_equal(count_jobs(STAGE_DETECT, "ready", "http://plain.example/a"), 1);
    struct document document;
    struct count found = look(STAGE_INDEX, "ready", "http://plain.example/gone");
    assert_int_equal(found.n, 1);
    assert_true(document_decode(buf_slice(&found.data), &document));
    assert_true(document.removed);
    buf_release(&found.data);
    buf_release(&found.reason);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_goes_to_detect_with_its_place_in_the_archive),
        cmocka_unit_test(every_end_has_its_state),
        cmocka_unit_test(robots_rules_are_obeyed_and_sitemaps_followed),
        cmocka_unit_test(indexes_of_sitemaps_end_at_their_limits),
        cmocka_unit_test(sitemaps_are_followed_again_at_a_smaller_depth),
        cmocka_unit_test(a_sitemap_that_nobody_names_is_looked_for),
        cmocka_unit_test(trouble_slows_the_whole_host),
        cmocka_unit_test(late_robots_and_sitemaps_hold_up_no_pages),
        cmocka_unit_test(a_recrawl_is_conditional_and_empties_what_is_gone),
    };
    if (!find_programs()) {
        puts("the programs are not built: make all");
        return 77;
    }
    return cmocka_run_group_tests_name("fetch_stage", tests, start, stop);
}
