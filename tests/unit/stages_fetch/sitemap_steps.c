/* What was asked of the others is told as lines of a trace. */
#include "tests/unit/stages_fetch/sitemap_steps.h"
#include "tests/unit/stand_in.h"

struct fetch fetch;
struct stage_job job;
struct task task;
bool freed, quiet;
struct buf trace, reply, entries, host, naming, *records;
unsigned entry_count, too_deep;
metastore_got *got;
void *got_context;
size_t asked;
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
    freed = true;
}

void
task_done(struct task *one, const char *state, const char *reason)
{
    assert_ptr_equal(one, &task);
    buf_printf(&trace, "done %s: %s\n", state != NULL ? state : "as it is", reason);
}

void
task_note_guess(struct task *one, const char *outcome)
{
    assert_ptr_equal(one, &task);
    buf_printf(&trace, "guess: %s\n", outcome);
}

void
task_describe(struct task *one)
{
    assert_ptr_equal(one, &task);
    buf_append_string(&trace, "describe\n");
}

void
task_note_refused(struct task *one, enum scope_refused what)
{
    one->end.refused |= (unsigned)what;
    buf_append_string(&trace, "scope refused\n");
}

void
sitemap_put_job(struct task *one, struct slice key, unsigned depth, uint8_t priority,
                struct slice via, struct slice data, uint8_t flags)
{
    struct document document;
    assert_ptr_equal(one, &task);
    assert_true(slice_equal(via, task.url));
    if (quiet) {
        return;
    }
    buf_printf(&trace, "put %.*s depth %u priority %u flags %u", SLICE_PRINT(key), depth, priority,
               flags);
    if (slice_starts(data, SLICE("naming"))) {
        buf_printf(&trace, " %.*s", SLICE_PRINT(data));
    } else if (data.length > 0) {
        assert_true(document_decode(data, &document));
        buf_printf(&trace, " claims %llu %.*s", (unsigned long long)document.claimed_ms,
                   SLICE_PRINT(document.change_frequency));
    }
    buf_append_char(&trace, '\n');
}

void
sitemap_encode_naming(struct slice origin, bool guess, uint64_t nesting, struct buf *data)
{
    assert_false(guess);
    buf_printf(data, "naming %.*s %llu", SLICE_PRINT(origin), (unsigned long long)nesting);
}

void
sitemap_note_naming(struct task *one, struct slice sitemap, struct slice origins)
{
    assert_ptr_equal(one, &task);
    buf_printf(&trace, "%.*s named by %.*s\n", SLICE_PRINT(sitemap), SLICE_PRINT(origins));
}

STAND_IN(bool, scope_allows,
         (const struct scope *scope, struct slice uri, unsigned depth, const char **why))
{
    (void)scope, (void)why;
    return slice_find_slice(uri, SLICE("out")) == uri.length && depth < too_deep;
}

STAND_IN(enum status, url_rules_key,
         (const struct url_rules *rules, struct slice url, struct slice base, struct buf *key,
          struct reason *why))
{
    assert_ptr_equal(rules, &fetch.url_rules);
    return url_crawl_key(url, base, key, why);
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
    va_list arguments;
    char text[TEXT];
    assert_ptr_equal(one, &job);
    assert_false(counts_as_attempt);
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    buf_printf(&trace, "release %llu: %s\n", (unsigned long long)delay_ms, text);
}

STAND_IN(void, stage_put_meta, (struct stage_job * one, struct slice key, struct slice fields))
{
    struct meta_value value;
    struct buf merged;
    assert_ptr_equal(one, &job);
    if (quiet) {
        return;
    }
    buf_init(&merged, TRACE);
    buf_printf(&trace, "note %.*s", SLICE_PRINT(key));
    (void)meta_merge((struct slice){0}, fields, &merged);
    for (size_t at = 0; meta_record_next(buf_slice(&merged), &at, &value);) {
        if (value.field == META_SITEMAP_SEEN || value.field == META_SITEMAP_LISTED ||
            value.field == META_SITEMAP_READ) {
            assert_true(value.number == now_ms);
            buf_printf(&trace, " %s",
                       value.field == META_SITEMAP_SEEN   ? "seen"
                       : value.field == META_SITEMAP_READ ? "read"
                                                          : "listed");
        } else if (value.is_text) {
            buf_printf(&trace, " '%.*s'", SLICE_PRINT(value.text));
        } else {
            buf_printf(&trace, " %llu", (unsigned long long)value.number);
        }
    }
    buf_append_char(&trace, '\n');
    buf_release(&merged);
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
    if (!quiet) {
        buf_append_string(&trace, "look for");
        for (size_t i = 0; i < n; i++) {
            buf_printf(&trace, " %.*s", SLICE_PRINT(keys[i]));
        }
        buf_append_char(&trace, '\n');
    }
    asked = n;
    got = done;
    got_context = context;
}

STAND_IN(void, fetch_parser_submit,
         (struct fetch_parser * parser, const struct parser_request *request, fetch_parsed *done,
          void *context))
{
    (void)parser;
    assert_int_equal(request->verb, PARSER_SITEMAP);
    assert_true(slice_equal(request->uri, task.url));
    buf_printf(&trace, "parse '%.*s' %zu%s%s\n", SLICE_PRINT(request->coding),
               request->bytes.length, request->named ? " named" : "",
               request->described ? " described" : "");
    parsed = done;
    parsed_context = context;
}

/* ---- steps ---- */

void
set_number(struct buf *of, enum meta_field field, uint64_t number)
{
    struct meta_update update;
    struct buf merged;
    meta_update_init(&update);
    buf_init(&merged, TRACE);
    meta_set_number(&update, field, number);
    (void)meta_merge(buf_slice(of), meta_update_fields(&update), &merged);
    buf_release(of);
    *of = merged;
    meta_update_release(&update);
}

void
set_text(struct buf *of, enum meta_field field, const char *text)
{
    struct meta_update update;
    struct buf merged;
    meta_update_init(&update);
    buf_init(&merged, TRACE);
    meta_set_text(&update, field, slice_string(text));
    (void)meta_merge(buf_slice(of), meta_update_fields(&update), &merged);
    buf_release(of);
    *of = merged;
    meta_update_release(&update);
}

void
list(const char *location, uint64_t modified_ms, const char *frequency, uint8_t priority,
     const char *alternates, const char *facts)
{
    codec_put_slice(&entries, slice_string(location));
    codec_put_varint(&entries, modified_ms);
    codec_put_slice(&entries, slice_string(frequency));
    codec_put_u8(&entries, priority);
    codec_put_slice(&entries, slice_string(alternates));
    codec_put_slice(&entries, slice_string(facts));
    entry_count++;
}

void
make_task(const char *uri, const char *type)
{
    freed = false;
    job.job.uri = slice_string(uri);
    job.document = (struct document){.type = slice_string(type), .content_type = SLICE(HOST)};
    meta_update_reset(&job.meta);
    task = (struct task){.fetch = &fetch, .job = &job, .origin = SLICE(HOST)};
    task.url = slice_of(job.job.uri.at, slice_find(job.job.uri, '#'));
}

/* The answer of a worker: what was listed. */
void
answer(enum sitemap_kind kind, bool describes, const char *problem)
{
    struct reason why = {"it died"};
    buf_reset(&reply);
    codec_put_u8(&reply, 1);
    codec_put_u8(&reply, describes);
    codec_put_u8(&reply, (uint8_t)kind);
    codec_put_varint(&reply, entry_count);
    codec_put_u8(&reply, 0);
    codec_put_u8(&reply, 0);
    codec_put_u8(&reply, 0);
    codec_put_slice(&reply, slice_string(problem));
    codec_put_slice(&reply, buf_slice(&entries));
    parsed(parsed_context, STATUS_OK, buf_slice(&reply), &why);
    buf_reset(&entries);
    entry_count = 0;
}

void
begin(void)
{
    const struct fetch_result result = {.end = FETCH_ANSWERED,
                                        .status = 200,
                                        .response_header = SLICE("HTTP/1.1 200 OK\r\n\r\n"),
                                        .body = SLICE("<urlset>")};
    task_follow_sitemap(&task, &result);
    buf_reset(&trace);
}

void
answer_records(size_t n)
{
    struct slice given[RECORDS];
    assert_int_equal(asked, n);
    for (size_t i = 0; i < n; i++) {
        given[i] = buf_slice(&records[i]);
    }
    got(got_context, STATUS_OK, given, n, NULL);
}

/* The first two: of the submitter and of the sitemap. */
void
answer_host(void)
{
    const struct slice given[] = {buf_slice(&host), buf_slice(&naming)};
    assert_int_equal(asked, 2);
    got(got_context, STATUS_OK, given, 2, NULL);
}

void
clear_records(void)
{
    for (size_t i = 0; i < RECORDS; i++) {
        buf_reset(&records[i]);
    }
    buf_reset(&host);
    buf_reset(&naming);
}

int
set_up(void **state)
{
    (void)state;
    buf_init(&trace, TRACE);
    buf_init(&reply, TRACE);
    buf_init(&entries, TRACE);
    buf_init(&host, TRACE);
    buf_init(&naming, TRACE);
    records = memory_zero(RECORDS, sizeof *records);
    for (size_t i = 0; i < RECORDS; i++) {
        buf_init(&records[i], TRACE);
    }
    fetch = (struct fetch){.hosts = hosts_new(4), .sitemaps = {.followed = true, .files = 2}};
    quiet = false;
    entry_count = 0;
    too_deep = 100;
    job = (struct stage_job){.job = {.key.stage = STAGE_FETCH, .generation = 1, .depth = 4}};
    arena_init(&job.arena, TRACE);
    meta_update_init(&job.meta);
    make_task(MAP, SITEMAP_TYPE);
    return 0;
}

int
tear_down(void **state)
{
    (void)state;
    hosts_free(fetch.hosts);
    arena_release(&job.arena);
    meta_update_release(&job.meta);
    buf_release(&trace);
    buf_release(&reply);
    buf_release(&entries);
    buf_release(&host);
    buf_release(&naming);
    for (size_t i = 0; i < RECORDS; i++) {
        buf_release(&records[i]);
    }
    free(records);
    return 0;
}

void
assert_meta(enum meta_field field, const char *text, uint64_t number)
{
    struct buf merged;
    struct slice value = {0};
    uint64_t found = UINT64_MAX;
    buf_init(&merged, TRACE);
    (void)meta_merge((struct slice){0}, meta_update_fields(&job.meta), &merged);
    if (text != NULL) {
        (void)meta_record_text(buf_slice(&merged), field, &value);
        assert_true(slice_is(value, text));
    } else {
        (void)meta_record_number(buf_slice(&merged), field, &found);
        assert_int_equal(found, number);
    }
    buf_release(&merged);
}
