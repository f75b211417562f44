/* What was asked of the others is told as lines of a trace. */
#include "tests/unit/stages_fetch/rules_steps.h"
#include "tests/unit/stand_in.h"

struct fetch fetch;
struct stage_job job;
struct task task;
int64_t crawl_delay_ms;
struct no_rules no_rules;
bool freed, superseded, archive_full, elsewhere, spares;
struct buf trace, records[3], noted;
metastore_got *got;
void *got_context;
fetch_parsed *parsed;
void *parsed_context;

/* ---- in the place of others ---- */

void
assert_trace(const char *text)
{
    assert_string_equal(trace.length > 0 ? trace.data : "", text);
    buf_reset(&trace);
}

void
task_free(struct task *one)
{
    assert_ptr_equal(one, &task);
    assert_false(freed);
    freed = true;
}

void
task_done(struct task *one, const char *state, const char *reason)
{
    assert_ptr_equal(one, &task);
    buf_printf(&trace, "done %s: %s\n", state != NULL ? state : "as it is",
               reason != NULL ? reason : "nothing");
}

void
task_get(struct task *one)
{
    assert_ptr_equal(one, &task);
    buf_append_string(&trace, "get\n");
}

void
task_rest(struct task *one)
{
    assert_ptr_equal(one, &task);
    buf_printf(&trace, "rest by %lld\n", (long long)crawl_delay_ms);
}

void
task_wait_for_host(struct task *one, const char *reason)
{
    assert_ptr_equal(one, &task);
    buf_printf(&trace, "wait for host: %s\n", reason);
}

void
task_put_refused_sitemaps(struct task *one)
{
    assert_ptr_equal(one, &task);
    buf_append_string(&trace, "refused sitemaps\n");
}

void
task_turn_back(struct task *one, uint64_t address)
{
    assert_ptr_equal(one, &task);
    buf_printf(&trace, "turn back %llu\n", (unsigned long long)address);
}

bool
task_archive(struct task *one, struct slice url, const struct fetch_result *result,
             struct slice truncated, struct warc_location *location)
{
    (void)one, (void)location;
    buf_printf(&trace, "archive %.*s %u%s%.*s\n", SLICE_PRINT(url), result->status,
               truncated.length > 0 ? " cut by " : "", SLICE_PRINT(truncated));
    return !archive_full;
}

void
task_note_end(struct task *one, const struct fetch_result *result)
{
    (void)result;
    assert_ptr_equal(one, &task);
    one->report.asked = true;
    buf_append_string(&trace, "ended\n");
}

void
task_ask(struct task *one, const struct fetch_request *request)
{
    assert_ptr_equal(one, &task);
    assert_ptr_equal(request->context, &task);
    assert_int_equal(request->size, ROBOTS_MAXIMUM);
    one->asking.request = *request;
    buf_printf(&trace, "ask %.*s\n", SLICE_PRINT(request->url));
}

void
task_note_no_rules(struct task *one, uint16_t status, bool silent, const char *reason)
{
    assert_ptr_equal(one, &task);
    no_rules = (struct no_rules){.told = true, .status = status, .silent = silent};
    snprintf(no_rules.reason, sizeof no_rules.reason, "%s", reason);
}

void
task_note_crawl_delay(struct task *one, int64_t delay_ms)
{
    assert_ptr_equal(one, &task);
    crawl_delay_ms = delay_ms;
}

void
task_take_visit(struct task *one, struct slice host, struct slice record, struct slice sighting)
{
    one->visit.spared = spares;
    buf_printf(&trace, "visit %d%d%d\n", host.length > 0, record.length > 0, sighting.length > 0);
}

bool
task_is_superseded(const struct task *one, struct slice record)
{
    assert_ptr_equal(one, &task);
    (void)record;
    return superseded;
}

uint64_t
task_delay_ms(const struct task *one)
{
    assert_ptr_equal(one, &task);
    return DELAY_MS;
}

STAND_IN(uint64_t, clock_wall_ms, (void))
{
    return now_ms;
}

void __wrap_stage_release(struct stage_job *one, uint64_t delay_ms, bool counts_as_attempt,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));
void
__wrap_stage_release(struct stage_job *one, uint64_t delay_ms, bool counts_as_attempt,
                     const char *format, ...)
{
    assert_ptr_equal(one, &job);
    assert_false(counts_as_attempt);
    (void)format;
    buf_printf(&trace, "release %llu\n", (unsigned long long)delay_ms);
}

STAND_IN(void, stage_put_off, (struct stage_job * one, const struct reason *why))
{
    assert_ptr_equal(one, &job);
    buf_printf(&trace, "put off: %s\n", why->text);
}

STAND_IN(void, stage_done, (struct stage_job * one))
{
    assert_ptr_equal(one, &job);
    buf_append_string(&trace, "nothing to do\n");
}

STAND_IN(void, stage_put_meta, (struct stage_job * one, struct slice key, struct slice fields))
{
    assert_ptr_equal(one, &job);
    assert_true(slice_is(key, "h" HOST));
    buf_reset(&noted);
    assert_int_equal(meta_merge((struct slice){0}, fields, &noted), META_MERGED);
    buf_append_string(&trace, "note\n");
}

STAND_IN(struct cluster *, stage_cluster, (struct stage_run * run))
{
    (void)run;
    return NULL;
}

STAND_IN(size_t, cluster_self, (const struct cluster *cluster))
{
    (void)cluster;
    return 0;
}

STAND_IN(size_t, cluster_key_owner, (const struct cluster *cluster, struct slice key))
{
    (void)cluster;
    assert_int_equal(key.at[0], 'u');
    return elsewhere ? 1 : 0;
}

STAND_IN(struct metastore_client *, stage_metastore, (struct stage_run * run))
{
    (void)run;
    return NULL;
}

STAND_IN(void, metastore_get,
         (struct metastore_client * client, const struct slice *keys, size_t n, metastore_got *done,
          void *context))
{
    (void)client;
    buf_append_string(&trace, "look for");
    for (size_t i = 0; i < n; i++) {
        buf_printf(&trace, " %.*s", SLICE_PRINT(keys[i]));
    }
    buf_append_char(&trace, '\n');
    got = done;
    got_context = context;
}

STAND_IN(void, fetch_parser_submit,
         (struct fetch_parser * parser, const struct parser_request *request, fetch_parsed *done,
          void *context))
{
    (void)parser;
    assert_int_equal(request->verb, PARSER_DECODE);
    assert_int_equal(request->most, ROBOTS_MAXIMUM);
    buf_printf(&trace, "decode %.*s %zu\n", SLICE_PRINT(request->coding), request->bytes.length);
    parsed = done;
    parsed_context = context;
}

/* ---- steps ---- */

void
set_number(int of, enum meta_field field, uint64_t number)
{
    struct meta_update update;
    struct buf merged;
    meta_update_init(&update);
    buf_init(&merged, TRACE);
    meta_set_number(&update, field, number);
    (void)meta_merge(buf_slice(&records[of]), meta_update_fields(&update), &merged);
    buf_release(&records[of]);
    records[of] = merged;
    meta_update_release(&update);
}

void
set_text(int of, enum meta_field field, const char *text)
{
    struct meta_update update;
    struct buf merged;
    meta_update_init(&update);
    buf_init(&merged, TRACE);
    meta_set_text(&update, field, slice_string(text));
    (void)meta_merge(buf_slice(&records[of]), meta_update_fields(&update), &merged);
    buf_release(&records[of]);
    records[of] = merged;
    meta_update_release(&update);
}

void
answer_records(size_t n)
{
    const struct slice given[] = {buf_slice(&records[0]), buf_slice(&records[1]),
                                  buf_slice(&records[2])};
    got(got_context, STATUS_OK, given, n, NULL);
}

uint64_t
noted_number(enum meta_field field)
{
    uint64_t number = UINT64_MAX;
    (void)meta_record_number(buf_slice(&noted), field, &number);
    return number;
}

void
assert_noted(enum meta_field field, const char *text)
{
    struct slice value = {0};
    (void)meta_record_text(buf_slice(&noted), field, &value);
    assert_true(slice_is(value, text));
}

void
make_task(void)
{
    freed = false;
    buf_release(&task.robots.url);
    task = (struct task){.fetch = &fetch, .job = &job, .origin = SLICE(HOST), .url = job.job.uri};
    crawl_delay_ms = -2; /* it was not told */
    no_rules.told = false;
    task.url.length = slice_find(task.url, '#');
    buf_init(&task.robots.url, URL_MAXIMUM);
}

void
clear_records(void)
{
    for (int i = 0; i < 3; i++) {
        buf_reset(&records[i]);
    }
}

struct host *
put_host(const char *rules)
{
    return hosts_put(fetch.hosts, SLICE(HOST), rules != NULL ? HOST_BY_RULES : HOST_OPEN,
                     rules != NULL ? robots_parse(slice_string(rules), SLICE("quadrille")) : NULL,
                     now_ms + HOUR_MS, NULL);
}

void
forget_hosts(void)
{
    hosts_free(fetch.hosts);
    fetch.hosts = hosts_new(4);
}

int
set_up(void **state)
{
    (void)state;
    buf_init(&trace, TRACE);
    buf_init(&noted, TRACE);
    for (int i = 0; i < 3; i++) {
        buf_init(&records[i], TRACE);
    }
    fetch = (struct fetch){.hosts = hosts_new(4),
                           .robots = {.name = "quadrille", .obeyed = true},
                           .sitemaps.files = 100};
    superseded = archive_full = elsewhere = spares = false;
    job = (struct stage_job){
        .job = {.key.stage = STAGE_FETCH, .uri = SLICE(PAGE), .generation = 1, .depth = 2}};
    arena_init(&job.arena, TRACE);
    make_task();
    return 0;
}

int
tear_down(void **state)
{
    (void)state;
    hosts_free(fetch.hosts);
    arena_release(&job.arena);
    buf_release(&task.robots.url);
    buf_release(&trace);
    buf_release(&noted);
    for (int i = 0; i < 3; i++) {
        buf_release(&records[i]);
    }
    return 0;
}

/* Nothing is known: the request for robots.txt is under way. */
void
ask_robots(void)
{
    forget_hosts();
    make_task();
    clear_records();
    task_check_rules(&task);
    answer_records(1);
    assert_trace("look for h" HOST "\nvisit 000\nask " ROBOTS "\n");
}

void
finish(const struct fetch_result *result)
{
    task.asking.request.done(task.asking.request.context, result);
}
