/* These tests are of what a task of fetch puts and notes beside its own document
 * (stages/fetch/task/: task_jobs.c, task_kind.c, task_output.c, sitemap_notes.c). Jobs and notes
 * are told as lines of a trace; the linker puts the functions below in the place of the stage's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/url/url.h"
#include "stages/fetch/task/fetch_task.h"

enum { NOW_MS = 5000, TRACE = 1 << 14, DEEP = 9 };

static struct fetch fetch;
static struct stage_job job;
static struct task task;
static struct buf trace;

/* ---- in the place of others ---- */

uint64_t __wrap_clock_wall_ms(void);
uint64_t
__wrap_clock_wall_ms(void)
{
    return NOW_MS;
}

bool __wrap_scope_allows(const struct scope *scope, struct slice uri, unsigned depth,
                         const char **why);
bool
__wrap_scope_allows(const struct scope *scope, struct slice uri, unsigned depth, const char **why)
{
    (void)scope, (void)why;
    return slice_find_slice(uri, SLICE("out")) == uri.length && depth < DEEP;
}

enum status __wrap_url_rules_key(const struct url_rules *rules, struct slice url, struct slice base,
                                 struct buf *key, struct reason *why);
enum status
__wrap_url_rules_key(const struct url_rules *rules, struct slice url, struct slice base,
                     struct buf *key, struct reason *why)
{
    assert_ptr_equal(rules, &fetch.url_rules);
    return url_crawl_key(url, base, key, why);
}

void __wrap_stage_output(struct stage_job *one, const struct job *output);
void
__wrap_stage_output(struct stage_job *one, const struct job *output)
{
    struct document document = {0};
    assert_ptr_equal(one, &job);
    assert_int_equal(output->key.stage, STAGE_FETCH);
    assert_true(output->data.length == 0 || document_decode(output->data, &document));
    (void)buf_printf(&trace, "put %.*s lane %.*s via %.*s priority %u flags %u depth %u",
                     SLICE_PRINT(output->uri), SLICE_PRINT(output->lane_name),
                     SLICE_PRINT(output->via), output->priority, output->flags, output->depth);
    (void)buf_printf(&trace, " '%.*s' '%.*s' %llu\n", SLICE_PRINT(document.type),
                     SLICE_PRINT(document.content_type), (unsigned long long)document.nesting);
}

void __wrap_stage_put_meta(struct stage_job *one, struct slice key, struct slice fields);
void
__wrap_stage_put_meta(struct stage_job *one, struct slice key, struct slice fields)
{
    struct meta_value value;
    struct buf merged;
    assert_ptr_equal(one, &job);
    buf_init(&merged, TRACE);
    (void)buf_printf(&trace, "note %.*s", SLICE_PRINT(key));
    (void)meta_merge((struct slice){0}, fields, &merged);
    for (size_t at = 0; meta_record_next(buf_slice(&merged), &at, &value);) {
        if (value.is_text) {
            const struct slice text = slice_trim(value.text); /* lists end their lines */
            (void)buf_printf(&trace, " %d '%.*s'", (int)value.field, SLICE_PRINT(text));
        } else {
            (void)buf_printf(&trace, " %d %llu", (int)value.field,
                             (unsigned long long)value.number);
        }
    }
    (void)buf_append_char(&trace, '\n');
    buf_release(&merged);
}

static void
assert_trace(const char *format, ...)
{
    char expected[2000];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(expected, sizeof expected, format, arguments);
    va_end(arguments);
    assert_string_equal(trace.length > 0 ? trace.data : "", expected);
    buf_reset(&trace);
}

/* ---- a task ---- */

static struct host *
put_host(const char *origin)
{
    struct host *host =
        hosts_put(fetch.hosts, slice_string(origin), HOST_OPEN, NULL, 2 * NOW_MS, NULL);
    host->sitemaps_depth = host->guess_depth = UINT32_MAX;
    return host;
}

static int
begin(void **state)
{
    (void)state;
    fetch = (struct fetch){.hosts = hosts_new(16)};
    job = (struct stage_job){.job = {.uri = SLICE("http://h/p"), .depth = 3}};
    task = (struct task){
        .fetch = &fetch, .job = &job, .origin = SLICE("http://h"), .url = SLICE("http://h/p")};
    arena_init(&job.arena, 0);
    meta_update_init(&job.meta);
    buf_init(&trace, TRACE);
    return 0;
}

static int
finish(void **state)
{
    (void)state;
    hosts_free(fetch.hosts);
    arena_release(&job.arena);
    meta_update_release(&job.meta);
    buf_release(&trace);
    return 0;
}

/* ---- kinds ---- */

static void
test_kinds_of_jobs(void **state)
{
    static const struct {
        const char *uri;
        enum task_kind kind;
    } cases[] = {
        {"http://h/", TASK_PAGE},          {"http://h/#plans", TASK_PLAN},
        {"http://h/#plan", TASK_PLAN},     {"http://h/#plan=joined", TASK_PLAN},
        {"http://h/#pla", TASK_PAGE},      {"http://h/d.nt#dump", TASK_DUMP},
        {"http://h/#dumps", TASK_PAGE},    {"http://h/#slice=1", TASK_SLICE},
        {"http://h/#slice", TASK_PAGE},    {"http://h/#sitemaps", TASK_SITEMAPS},
        {"http://h/#sitemap", TASK_PAGE},  {"http://h/x#listing", TASK_LISTING},
        {"http://h/#resource", TASK_PAGE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(task_kind(slice_string(cases[i].uri)), cases[i].kind);
    }
}

static void
test_what_a_task_is_for(void **state)
{
    static const struct {
        const char *type;
        bool sitemap, guess, sample;
    } types[] = {{"sitemap", true, false, false},
                 {"sitemap?", true, true, false},
                 {"sample", false, false, true},
                 {"", false, false, false}};
    static const struct {
        const char *url, *via;
        unsigned hops;
        bool is;
    } voids[] = {
        {"http://h/.well-known/void", "", 0, true},
        {"http://h/.well-known/void?x", "", 0, false},
        {"http://h/v", "http://h/.well-known/void", 1, true},
        {"http://h/v", "http://h/.well-known/void", 0, false},
        {"http://h/v", "", 1, false},
        {"http://h/v", "http://h/p", 1, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        job.document.type = slice_string(types[i].type);
        assert_int_equal(task_is_sitemap(&task), types[i].sitemap);
        assert_int_equal(task_is_guess(&task), types[i].guess);
        assert_int_equal(task_is_sample(&task), types[i].sample);
    }
    for (size_t i = 0; i < sizeof voids / sizeof voids[0]; i++) {
        task.url = slice_string(voids[i].url);
        job.job.via = slice_string(voids[i].via);
        job.job.hops = (uint8_t)voids[i].hops;
        assert_int_equal(task_is_void(&task), voids[i].is);
    }
    assert_true(task_may_ask(&task, SLICE("http://h/a"))); /* nothing is known of the host */
    struct robots *robots = robots_parse(SLICE("User-agent: *\nDisallow: /a"), SLICE("test"));
    hosts_put(fetch.hosts, task.origin, HOST_BY_RULES, robots, NOW_MS + 1, NULL);
    assert_false(task_may_ask(&task, SLICE("http://h/a")));
    assert_true(task_may_ask(&task, SLICE("http://h/b")));
}

/* ---- jobs ---- */

static void
test_jobs_that_a_task_puts(void **state)
{
    (void)state;
    task_put(&task, SLICE("http://h/#plan"), 5, SLICE("type"), SLICE("about"));
    assert_trace("put http://h/#plan lane http://h via http://h/p priority 5 flags %d depth 3 "
                 "'type' 'about' 0\n",
                 JOB_RESOURCE | JOB_RECRAWL);
    task_put_first(&task, SLICE("http://i/x"), 6, SLICE("type"), SLICE(""));
    assert_trace("put http://i/x lane http://i via http://h/p priority 6 flags %d depth 3 'type' "
                 "'' 0\n",
                 JOB_RESOURCE);
    task_put_sample(&task, SLICE("http://h/s"), JOB_RECRAWL);
    assert_trace("put http://h/s lane http://h via http://h/p priority 98 flags %d depth 3 "
                 "'sample' '' 0\n",
                 JOB_RECRAWL);
    for (int again = 0; again < 2; again++) {
        task.before.known = again;
        task_describe(&task);
        assert_trace("note hhttp://h %d 'http://h/p'\nput http://h/#plan lane http://h via "
                     "http://h/p priority 97 flags %d depth 3 '%s' '' 0\n",
                     META_DESCRIPTIONS, JOB_RESOURCE | JOB_RECRAWL, again ? "again" : "");
    }
}

static void
test_a_host_is_asked_for_its_void_once(void **state)
{
    static const char asked[] = "put http://h/.well-known/void lane http://h via http://h/p "
                                "priority 96 flags 0 depth 3 '' '' 0\n";
    uint64_t refused = 0;
    (void)state;
    task_ask_void(&task); /* a host that was forgotten is asked each time */
    assert_trace(asked);
    task_ask_void(&task);
    assert_trace(asked);
    struct host *host = put_host("http://h");
    job.job.depth = DEEP;
    task_ask_void(&task);
    assert_trace("");
    assert_false(host->void_asked);
    assert_int_equal(task.end.refused, REFUSED_VOID);
    task_note_refused(&task, REFUSED_ENTRIES);
    assert_int_equal(task.end.refused, REFUSED_VOID | REFUSED_ENTRIES);
    struct buf record;
    buf_init(&record, 1000);
    (void)meta_merge((struct slice){0}, meta_update_fields(&job.meta), &record);
    assert_true(meta_record_number(buf_slice(&record), META_SCOPE_REFUSED, &refused));
    assert_int_equal(refused, REFUSED_VOID | REFUSED_ENTRIES);
    buf_release(&record);
    job.job.depth = 3;
    task_ask_void(&task);
    assert_trace(asked);
    assert_true(host->void_asked);
    task_ask_void(&task);
    assert_trace("");
    job.job.uri = SLICE("http://h/#plan"); /* no page: its document says so already */
    task_note_refused(&task, REFUSED_SITEMAPS);
    assert_int_equal(task.end.refused, REFUSED_VOID | REFUSED_ENTRIES);
}

/* ---- sitemaps ---- */

static void
test_sitemaps_of_robots_become_jobs(void **state)
{
    struct slice sitemaps[] = {SLICE("/a.xml"), SLICE("http://i/b.xml"), SLICE("http://h/out"),
                               SLICE("http://h:x/")};
    (void)state;
    task.sitemaps.urls = sitemaps;
    task_queue_sitemaps(&task, true);
    assert_trace(""); /* none is named */
    task.sitemaps.count = 4;
    for (int known = 0; known < 2; known++) {
        struct host *host = known ? put_host("http://h") : NULL;
        for (int again = 0; again < 2; again++) {
            task.sitemaps.again = again;
            task_queue_sitemaps(&task, false);
            assert_trace("put http://h/a.xml lane http://h via http://h/robots.txt priority 96 "
                         "flags %d depth 3 'sitemap' 'http://h' 0\n"
                         "note uhttp://i/b.xml %d 'http://h'\n"
                         "put http://i/b.xml lane http://i via http://h/robots.txt priority 96 "
                         "flags %d depth 3 'sitemap' 'http://h' 0\n"
                         "note hhttp://h %d 3\n",
                         again ? JOB_RECRAWL : 0, META_SITEMAP_FOR, JOB_RECRAWL, META_DEPTH);
            assert_int_equal(task.end.refused, REFUSED_SITEMAPS);
        }
        if (known) {
            assert_int_equal(host->sitemaps_depth, 3);
            assert_int_equal(host->guess_depth, UINT32_MAX);
            host->sitemaps_depth = 2;
            task_queue_sitemaps(&task, true);
            buf_reset(&trace);
            assert_int_equal(host->sitemaps_depth, 2);
        }
    }
}

static void
test_a_guess_is_queued_after_a_good_page(void **state)
{
    struct slice sitemap = SLICE("http://h/sitemap.xml");
    struct host *host = put_host("http://h");
    (void)state;
    task.sitemaps.urls = &sitemap;
    task.sitemaps.count = 1;
    task.sitemaps.guess = true;
    task_queue_sitemaps(&task, false);
    assert_trace("");
    assert_int_equal(host->guess_depth, UINT32_MAX);
    task_queue_sitemaps(&task, true);
    assert_trace("put http://h/sitemap.xml lane http://h via http://h/robots.txt priority 96 "
                 "flags 0 depth 3 'sitemap?' 'http://h' 0\nnote hhttp://h %d 3\n",
                 META_SITEMAP_GUESS_DEPTH);
    assert_int_equal(host->guess_depth, 3);
    assert_int_equal(host->sitemaps_depth, UINT32_MAX);
    assert_int_equal(task.end.refused, 0);
}

static void
test_what_is_noted_of_sitemaps(void **state)
{
    (void)state;
    job.document.content_type = SLICE("http://i");
    task_note_reading(&task);
    assert_trace("note hhttp://i %d %d\n", META_SITEMAP_READ, NOW_MS);
    task_note_guess(&task, "found"); /* of a host that is not known */
    assert_trace("note hhttp://i %d 'found'\n", META_SITEMAP_GUESS);
    struct host *host = put_host("http://i");
    task_note_guess(&task, "found");
    assert_true(host->guess_found);
    task_note_guess(&task, "no sitemap");
    assert_false(host->guess_found);
    assert_trace("note hhttp://i %d 'found'\nnote hhttp://i %d 'no sitemap'\n", META_SITEMAP_GUESS,
                 META_SITEMAP_GUESS);
    sitemap_put_job(&task, SLICE("http://h/s"), 70000, 9, SLICE("via"), SLICE(""), 1);
    assert_trace("put http://h/s lane http://h via via priority 9 flags 1 depth 65535 '' '' 0\n");
}

/* The task is of a page that was found by a link, on a host with sitemaps, at its first fetch. */
static void
test_first_links_are_noted(void **state)
{
    enum { CASES = 8 };
    (void)state;
    for (int i = 0; i < CASES; i++) {
        task.sitemaps.mapped = i != 1;
        task.resource = i == 2;
        job.job = (struct job){.uri = SLICE("http://h/p"),
                               .via = i == 4 ? SLICE("") : SLICE("http://h/"),
                               .generation = i == 3 ? 2 : 1,
                               .hops = i == 5,
                               .flags = i == 6 ? JOB_SITEMAP : 0,
                               .queued_ms = 77};
        job.document.type = i == 7 ? SLICE("sitemap") : SLICE("");
        task_note_first_link(&task);
        if (i == 0) {
            assert_trace("note %chttp://h/p %d 77\n", 's', META_LINK_SEEN);
        } else {
            assert_trace("");
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_kinds_of_jobs, begin, finish),
        cmocka_unit_test_setup_teardown(test_what_a_task_is_for, begin, finish),
        cmocka_unit_test_setup_teardown(test_jobs_that_a_task_puts, begin, finish),
        cmocka_unit_test_setup_teardown(test_a_host_is_asked_for_its_void_once, begin, finish),
        cmocka_unit_test_setup_teardown(test_sitemaps_of_robots_become_jobs, begin, finish),
        cmocka_unit_test_setup_teardown(test_a_guess_is_queued_after_a_good_page, begin, finish),
        cmocka_unit_test_setup_teardown(test_what_is_noted_of_sitemaps, begin, finish),
        cmocka_unit_test_setup_teardown(test_first_links_are_noted, begin, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
