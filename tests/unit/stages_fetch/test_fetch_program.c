/* The fetch program itself (stages/fetch/fetch_stage.c): what it makes of its options, whereto it
 * sends a job, how descriptors, timers and workers reach it, and when its flush waits. The steps of
 * a task, libcurl and the workers are stood in for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include <cmocka.h>

#include "base/digest.h"
#include "base/system/clock.h"
#include "stages/fetch/datasets/dataset_tasks.h"
#include "stages/fetch/fetch_steps.h"
#include "tests/unit/memory_in_use.h"
#include "tests/unit/stages_work/stage_steps.h"

#define PAGE "http://a.example/page"
enum { POOL_DESCRIPTOR = 50, TROUBLES = 3 };

static struct fetch_loop loop; /* as fetch_http was given it */
static int http_there, parser_there, pool_there, server_there;
static enum status http_status, parser_status, pool_status, sync_status;
static uint64_t host_of_task;

/* As the archive was opened. */
static struct {
    char folder[SCRATCH_SIZE + 8], prefix[32], node[64], process[64], contact[64], agent[128];
    uint64_t size;
    int level;
} archive;

enum status __real_warc_writer_open(struct warc_writer **writer, const char *directory,
                                    const struct warc_writer_options *given, struct reason *why);
STAND_IN(enum status, warc_writer_open,
         (struct warc_writer * *writer, const char *directory,
          const struct warc_writer_options *given, struct reason *why))
{
    snprintf(archive.folder, sizeof archive.folder, "%s", directory);
    snprintf(archive.prefix, sizeof archive.prefix, "%s", given->prefix ? given->prefix : "");
    snprintf(archive.node, sizeof archive.node, "%s", given->node);
    snprintf(archive.process, sizeof archive.process, "%s", given->process);
    snprintf(archive.contact, sizeof archive.contact, "%s",
             given->operator_contact ? given->operator_contact : "");
    snprintf(archive.agent, sizeof archive.agent, "%s", given->user_agent);
    archive.size = given->size;
    archive.level = given->level;
    return __real_warc_writer_open(writer, directory, given, why);
}

/* ---- in the place of libcurl and the workers ---- */

STAND_IN(struct fork_server *, fork_server_start, (const struct worker_program *program))
{
    assert_ptr_equal(program, &fetch_parser_program);
    return (struct fork_server *)(void *)&server_there;
}

STAND_IN(void, fork_server_close, (struct fork_server * server))
{
    assert_ptr_equal(server, &server_there);
}

STAND_IN(enum status, fetch_http_open,
         (struct fetch_http * *http, const struct opt_set *options, const struct fetch_loop *given,
          struct reason *why))
{
    assert_ptr_equal(options, steps.options);
    loop = *given;
    *http = (struct fetch_http *)(void *)&http_there;
    return http_status == STATUS_OK ? STATUS_OK : status_fail(why, http_status, "no transfers");
}

STAND_IN(void, fetch_http_close, (struct fetch_http * http))
{
    assert_true(http == NULL || (void *)http == &http_there);
    buf_printf(&steps.trace, "close transfers%s\n", http == NULL ? " that never were" : "");
}

STAND_IN(void, fetch_http_ready, (struct fetch_http * http, int descriptor, uint32_t events))
{
    assert_ptr_equal(http, &http_there);
    buf_printf(&steps.trace, "ready %d %u\n", descriptor, events);
}

STAND_IN(void, fetch_http_tick, (struct fetch_http * http))
{
    assert_ptr_equal(http, &http_there);
    buf_append_string(&steps.trace, "tick\n");
}

STAND_IN(enum status, fetch_parser_open,
         (struct fetch_parser * *parser, struct fork_server *server, const struct opt_set *options,
          struct fetch_http *http, struct reason *why))
{
    assert_ptr_equal(server, &server_there);
    assert_ptr_equal(options, steps.options);
    assert_ptr_equal(http, &http_there);
    if (parser_status != STATUS_OK) {
        return status_fail(why, parser_status, "no workers");
    }
    *parser = (struct fetch_parser *)(void *)&parser_there;
    return STATUS_OK;
}

STAND_IN(void, fetch_parser_close, (struct fetch_parser * parser))
{
    buf_printf(&steps.trace, "close workers%s\n", parser == NULL ? " that never were" : "");
}

STAND_IN(struct worker_pool *, fetch_parser_pool, (const struct fetch_parser *parser))
{
    assert_ptr_equal(parser, &parser_there);
    return (struct worker_pool *)(void *)&pool_there;
}

STAND_IN(int, worker_pool_descriptor, (const struct worker_pool *pool))
{
    assert_ptr_equal(pool, &pool_there);
    return POOL_DESCRIPTOR;
}

STAND_IN(enum status, worker_pool_process, (struct worker_pool * pool, struct reason *why))
{
    assert_ptr_equal(pool, &pool_there);
    buf_append_string(&steps.trace, "workers\n");
    return pool_status == STATUS_OK ? STATUS_OK : status_fail(why, pool_status, "no process");
}

STAND_IN(enum status, warc_sync, (struct warc_writer * warc, struct reason *why))
{
    assert_non_null(warc);
    return sync_status == STATUS_OK ? STATUS_OK : status_fail(why, sync_status, "no sync");
}

/* ---- in the place of the steps ---- */

/* The end of a task, here. */
static void
end_task(const char *step, struct task *task)
{
    buf_printf(&steps.trace, "%s %.*s of %.*s%s%s\n", step, SLICE_PRINT(task->url),
               SLICE_PRINT(task->origin), task->resource ? " as a resource" : "",
               task->unverified ? ", unverified" : "");
    assert_ptr_equal(task->job, &steps.job);
    assert_ptr_equal(task->fetch, steps.stage);
    assert_int_equal(task->end.visit, VISIT_FAILED);
    host_of_task = digest_local(task->origin);
    assert_int_equal(host_delays_pace(task->fetch->host_delays, host_of_task)->troubles, TROUBLES);
    host_delays_part(task->fetch->host_delays, host_of_task);
    buf_release(&task->robots.url);
    free(task);
}

void
task_plan(struct task *task)
{
    end_task("plan", task);
}

void
task_list_again(struct task *task)
{
    end_task("list", task);
}

void
task_slice(struct task *task)
{
    end_task("slice", task);
}

void
task_begin(struct task *task)
{
    end_task("begin", task);
}

void
task_done(struct task *task, const char *state, const char *reason)
{
    buf_printf(&steps.trace, "%s: %s\n", state, reason);
    end_task("done", task);
}

void
task_rest(struct task *task)
{
    (void)task;
    buf_append_string(&steps.trace, "rest\n");
}

void
fetch_read_recrawl(struct fetch *fetch, const struct opt_set *options)
{
    assert_ptr_equal(options, steps.options);
    fetch->recrawl.on = true;
}

void
fetch_slow_open(struct fetch *fetch, const struct opt_set *options)
{
    assert_ptr_equal(options, steps.options);
    fetch->slow.whole_ms = 77;
}

void
fetch_slow_close(struct fetch *fetch)
{
    assert_int_equal(fetch->slow.whole_ms, 77);
}

/* Starts a job as it comes from the queue, with what that knows of the host's pace. */
static void
start(const struct job *job, const struct document *document)
{
    struct job handed = *job;
    struct buf pace;
    buf_init(&pace, 256);
    pace_encode(&pace, &(struct pace){.troubles = TROUBLES}, steps.now_ms);
    handed.pace = buf_slice(&pace);
    steps_start(&handed, document);
    buf_release(&pace);
}

static const struct fetch *
begin(const char *const *settings)
{
    steps_begin(NULL, settings);
    assert_trace("");
    return steps.stage;
}

static int
set_up(void **state)
{
    (void)state;
    http_status = parser_status = pool_status = sync_status = STATUS_OK;
    return 0;
}

/* ---- cases ---- */

static void
options_are_taken_as_they_are_named(void **state)
{
    static const char *const settings[] = {"fetch.robots_name=robby",
                                           "fetch.retry=3",
                                           "fetch.attempts=7",
                                           "fetch.robots=no",
                                           "fetch.robots_signals=honour",
                                           "sitemaps.score=link",
                                           "fetch.sitemaps=named",
                                           "sitemaps.location=obey",
                                           "sitemaps.budget=5",
                                           "sitemaps.files=6",
                                           "datasets.plan=yes",
                                           "datasets.page=9",
                                           "datasets.well_known=yes",
                                           "datasets.dump_size=1M",
                                           "transform.wait=8",
                                           NULL};
    (void)state;
    const struct fetch *fetch = begin(NULL);
    assert_true(fetch->robots.obeyed);
    assert_false(fetch->robots.signals);
    assert_int_equal(fetch->sitemaps.score, SCORE_BOTH);
    assert_true(fetch->sitemaps.followed);
    assert_false(fetch->sitemaps.obey_location);
    assert_true(fetch->recrawl.on);
    assert_non_null(fetch->hosts);
    assert_non_null(fetch->node);
    steps_end();
    fetch = begin(settings);
    assert_string_equal(fetch->robots.name, "robby");
    assert_int_equal(fetch->retry_ms, 3000);
    assert_int_equal(fetch->attempts, 7);
    assert_false(fetch->robots.obeyed);
    assert_true(fetch->robots.signals);
    assert_int_equal(fetch->sitemaps.score, SCORE_LINK);
    assert_true(fetch->sitemaps.followed && fetch->sitemaps.obey_location);
    assert_false(fetch->sitemaps.guessed);
    assert_int_equal(fetch->sitemaps.budget, 5);
    assert_int_equal(fetch->sitemaps.files, 6);
    assert_true(fetch->datasets.plan && fetch->datasets.execute);
    assert_non_null(fetch->datasets.prefer);
    assert_int_equal(fetch->datasets.page_resources, 9);
    assert_true(fetch->datasets.void_all && !fetch->datasets.void_rdf);
    assert_int_equal(fetch->datasets.dump_size, 1 << 20);
    assert_int_equal(fetch->datasets.wait_ms, 8000);
    assert_true(fetch->pace_rules.most_ms > 0);
    steps_end();
}

static void
the_archive_says_who_crawls(void **state)
{
    static const char *const settings[] = {"fetch.from=me@a.example", "fetch.user_agent=robby/1",
                                           "warc.size=3M", "warc.level=7", NULL};
    char folder[SCRATCH_SIZE + 8];
    (void)state;
    memset(&archive, 0, sizeof archive);
    const struct fetch *fetch = begin(settings);
    snprintf(folder, sizeof folder, "%s/warc", steps.directory);
    assert_string_equal(archive.folder, folder);
    assert_string_equal(archive.prefix, "quadrille");
    assert_string_equal(archive.node, fetch->node);
    assert_string_equal(archive.process, "worker.1");
    assert_string_equal(archive.contact, "me@a.example");
    assert_string_equal(archive.agent, "robby/1");
    assert_int_equal(archive.size, 3 << 20);
    assert_int_equal(archive.level, 7);
    steps_end();
}

static void
words_of_options_have_their_meaning(void **state)
{
    static const struct {
        const char *setting;
        bool followed, guessed, plan, execute, void_all, void_rdf;
        enum sitemap_score score;
    } rows[] = {
        {"fetch.sitemaps=no", false, false, true, true, false, false, SCORE_BOTH},
        {"fetch.sitemaps=yes", true, true, true, true, false, false, SCORE_BOTH},
        {"datasets.plan=print", true, true, true, false, false, false, SCORE_BOTH},
        {"datasets.plan=no", true, true, false, false, false, false, SCORE_BOTH},
        {"datasets.well_known=rdf", true, true, true, true, false, true, SCORE_BOTH},
        {"sitemaps.score=priority", true, true, true, true, false, false, SCORE_PRIORITY},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const settings[] = {"fetch.sitemaps=yes",     "datasets.plan=yes",
                                        "datasets.well_known=no", "sitemaps.score=both",
                                        rows[i].setting,          NULL};
        const struct fetch *fetch = begin(settings);
        assert_int_equal(fetch->sitemaps.followed, rows[i].followed);
        assert_int_equal(fetch->sitemaps.guessed, rows[i].guessed);
        assert_int_equal(fetch->datasets.plan, rows[i].plan);
        assert_int_equal(fetch->datasets.execute, rows[i].execute);
        assert_int_equal(fetch->datasets.void_all, rows[i].void_all);
        assert_int_equal(fetch->datasets.void_rdf, rows[i].void_rdf);
        assert_int_equal(fetch->sitemaps.score, rows[i].score);
        steps_end();
    }
}

static void
jobs_go_their_ways(void **state)
{
    static const struct {
        const char *uri;
        uint8_t flags;
        bool unverified, suspect;
        const char *trace;
    } rows[] = {
        {PAGE, 0, false, false, "begin " PAGE " of http://a.example\n"},
        {PAGE "?q#dump", 0, false, false, "begin " PAGE "?q of http://a.example\n"},
        {PAGE, JOB_RESOURCE, false, false, "begin " PAGE " of http://a.example as a resource\n"},
        {PAGE, 0, true, false, "begin " PAGE " of http://a.example, unverified\n"},
        {PAGE, 0, false, true, "rest\nbegin " PAGE " of http://a.example\n"},
        {"http://a.example/#plan", 0, false, false, "plan http://a.example/ of http://a.example\n"},
        {"http://a.example/m" LISTING_FRAGMENT, 0, false, false,
         "list http://a.example/m of http://a.example\n"},
        {"http://a.example/#slice=0", 0, false, false,
         "slice http://a.example/ of http://a.example\n"},
    };
    (void)state;
    (void)begin(NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char expected[256];
        const struct job job = {.uri = slice_string(rows[i].uri),
                                .flags = rows[i].flags,
                                .deaths = rows[i].suspect ? 1 : 0,
                                .generation = 1,
                                .attempt = 1};
        const struct document document = {.unverified = rows[i].unverified};
        steps.scope = i;
        start(&job, &document);
        snprintf(expected, sizeof expected, "scope 0\n%s", rows[i].trace);
        assert_trace(expected);
    }
    steps_end();
}

/* Queries of one path are let in so often; seeds, resources, and what was let in before, always. */
static void
queries_of_a_path_have_a_budget(void **state)
{
    static const char *const settings[] = {"traps.queries=2", NULL};
    static const struct {
        const char *uri;
        uint8_t flags, attempt, deaths;
        uint64_t generation;
        bool denied;
    } rows[] = {{PAGE "?1", 0, 1, 0, 1, false},
                {PAGE "?2", 0, 0, 0, 0, false},
                {PAGE "?3", 0, 1, 0, 1, true},
                {PAGE "?4", JOB_SEED, 1, 0, 1, false},
                {PAGE "?5", JOB_RESOURCE, 1, 0, 1, false},
                {PAGE "?6", 0, 2, 0, 1, false},
                {PAGE "?7", 0, 1, 1, 1, false},
                {PAGE "?8", 0, 1, 0, 2, false},
                {PAGE "?9", 0, 1, 0, 1, true},
                {PAGE "/x?1", 0, 1, 0, 1, false}};
    (void)state;
    (void)begin(settings);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct job job = {.uri = slice_string(rows[i].uri),
                                .flags = rows[i].flags,
                                .attempt = rows[i].attempt,
                                .deaths = rows[i].deaths,
                                .generation = rows[i].generation};
        start(&job, NULL);
        assert_int_equal(
            strstr(steps.trace.data, "denied: traps.queries: too many queries of one path") != NULL,
            rows[i].denied);
        assert_int_equal(strstr(steps.trace.data, "begin") == NULL, rows[i].denied);
        buf_reset(&steps.trace);
    }
    steps_end();
}

/* A descriptor is always told by the same thing, however many come after it. */
static void
descriptors_and_timers_reach_the_transfers(void **state)
{
    static const int descriptors[] = {1, 40, 1};
    void *first = NULL;
    (void)state;
    (void)begin(NULL);
    const size_t before = steps.watched_count;
    assert_int_equal(before, 1); /* the workers */
    assert_int_equal(steps.watched[0].descriptor, POOL_DESCRIPTOR);
    for (size_t i = 0; i < 3; i++) {
        loop.watch(loop.context, descriptors[i], EPOLLIN);
        char expected[64];
        assert_int_equal(steps.watched_count, before + i + 1);
        assert_int_equal(steps.watched[before + i].descriptor, descriptors[i]);
        steps.watched[before + i].ready(steps.watched[before + i].context, EPOLLOUT);
        snprintf(expected, sizeof expected, "ready %d %u\n", descriptors[i], (unsigned)EPOLLOUT);
        assert_trace(expected);
        first = i == 0 ? steps.watched[before].context : first;
    }
    assert_ptr_equal(steps.watched[before + 2].context, first);
    loop.timer(loop.context, 0);
    steps_turn();
    assert_trace("tick\n");
    loop.timer(loop.context, 5);
    steps_turn();
    assert_trace("");
    steps_end();
}

static void
the_scope_is_looked_at_each_second(void **state)
{
    (void)state;
    (void)begin(NULL);
    assert_int_equal(steps.timer_count, 1);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(steps.timers[0].delay_ms, 1000);
        steps.timers[0].delay_ms = 0;
        steps_turn();
        assert_int_equal(steps.timer_count, 1);
    }
    steps_end();
}

/* Rules of the settings hold, and those that somebody saves meanwhile in their place. */
static void
rules_are_those_of_the_settings_until_others_are_saved(void **state)
{
    static const char *const settings[] = {"scope.hosts=a.example", "urls.drop=sid", NULL};
    struct reason why = {""};
    struct buf key;
    (void)state;
    const struct fetch *fetch = begin(settings);
    assert_true(scope_allows(fetch->scope, SLICE("http://a.example/"), 0, NULL));
    assert_false(scope_allows(fetch->scope, SLICE("http://b.example/"), 0, NULL));
    assert_int_equal(
        scope_save(steps.directory, (const char *const[]){"scope.hosts=b.example"}, 1, &why),
        STATUS_OK);
    steps.timers[0].delay_ms = 0;
    steps_turn();
    assert_false(scope_allows(fetch->scope, SLICE("http://a.example/"), 0, NULL));
    assert_true(scope_allows(fetch->scope, SLICE("http://b.example/"), 0, NULL));
    buf_init(&key, 256);
    assert_int_equal(url_rules_key(&fetch->url_rules, SLICE("http://a.example/?sid=1&b=2"),
                                   (struct slice){0}, &key, &why),
                     STATUS_OK);
    assert_true(slice_is(buf_slice(&key), "http://a.example/?b=2"));
    buf_release(&key);
    steps_end();
}

static void
open_and_close(void)
{
    (void)begin(NULL);
    loop.watch(loop.context, 9, EPOLLIN);
    loop.watch(loop.context, 10, EPOLLIN);
    steps_end();
}

static void
nothing_is_left_in_memory(void **state)
{
    (void)state;
    assert_true(leaves_no_memory(open_and_close));
}

static void
process_workers(void)
{
    steps.watched[0].ready(steps.watched[0].context, EPOLLIN);
}

static void
without_workers_it_ends(void **state)
{
    (void)state;
    (void)begin(NULL);
    assert_false(steps_ends_process(process_workers));
    assert_trace("workers\n");
    pool_status = STATUS_SYSTEM;
    assert_true(steps_ends_process(process_workers));
    steps_end();
}

static void
a_full_disk_is_waited_for(void **state)
{
    static const enum status rows[][2] = {
        {STATUS_OK, STATUS_OK}, {STATUS_FULL, STATUS_AGAIN}, {STATUS_SYSTEM, STATUS_SYSTEM}};
    struct reason why;
    (void)state;
    (void)begin(NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sync_status = rows[i][0];
        assert_int_equal(steps.spec->flush(steps.stage, NULL, 0, &why), rows[i][1]);
    }
    sync_status = STATUS_OK;
    steps_end();
}

static void
what_cannot_be_opened_is_told(void **state)
{
    struct reason why = {""};
    (void)state;
    http_status = STATUS_MISUSE;
    steps_prepare(NULL, NULL);
    assert_int_equal(steps_open(&why), STATUS_MISUSE);
    assert_string_equal(why.text, "no transfers");
    steps.spec->close(steps.stage);
    assert_trace("close workers that never were\nclose transfers\n");
    steps.spec = NULL;
    steps_end();
    steps_prepare(NULL, NULL);
    char path[SCRATCH_SIZE + 8];
    snprintf(path, sizeof path, "%s/warc", steps.directory);
    FILE *file = fopen(path, "w"); /* where a folder should be */
    assert_non_null(file);
    fclose(file);
    assert_int_not_equal(steps_open(&why), STATUS_OK);
    steps.spec->close(steps.stage);
    assert_trace("close workers that never were\nclose transfers that never were\n");
    steps.spec = NULL;
    steps_end();
    http_status = STATUS_OK;
    parser_status = STATUS_SYSTEM;
    steps_prepare(NULL, NULL);
    assert_int_equal(steps_open(&why), STATUS_SYSTEM);
    assert_int_equal(steps.watched_count, 0);
    steps.spec->close(steps.stage);
    assert_trace("close workers that never were\nclose transfers\n");
    steps.spec = NULL;
    steps_end();
}

static void
it_closes_what_it_opened(void **state)
{
    (void)state;
    (void)begin(NULL);
    loop.watch(loop.context, 9, EPOLLIN);
    steps.spec->close(steps.stage);
    assert_trace("close workers\nclose transfers\n");
    assert_string_equal(steps.spec->window_option, "fetch.window");
    assert_int_equal(steps.spec->stage, STAGE_FETCH);
    steps.spec = NULL;
    steps_end();
}

/* In the place of the program's. */
STAND_IN(int, main, (int argc, char **argv))
{
#define CASE(name) cmocka_unit_test_setup(name, set_up)
    const struct CMUnitTest tests[] = {
        CASE(options_are_taken_as_they_are_named),
        CASE(the_archive_says_who_crawls),
        CASE(words_of_options_have_their_meaning),
        CASE(jobs_go_their_ways),
        CASE(queries_of_a_path_have_a_budget),
        CASE(descriptors_and_timers_reach_the_transfers),
        CASE(the_scope_is_looked_at_each_second),
        CASE(rules_are_those_of_the_settings_until_others_are_saved),
        CASE(nothing_is_left_in_memory),
        CASE(without_workers_it_ends),
        CASE(a_full_disk_is_waited_for),
        CASE(what_cannot_be_opened_is_told),
        CASE(it_closes_what_it_opened),
    };
    (void)argc, (void)argv;
    return cmocka_run_group_tests_name("fetch_program", tests, NULL, NULL);
}
