/* These tests are of what a job leaves for later and for others: the next visit of its document
 * (stages/skeleton/visit_schedule.c), metadata of other nodes, and how long it waits for a node
 * that is away (stages/skeleton/stage_metadata.c). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/system/clock.h"
#include "crawl/recrawl.h"
#include "stages/skeleton/stage_run.h"
#include "stages/skeleton/visit_schedule.h"

enum { OUTPUTS_MOST = 8 };
static const uint64_t now_ms = 1700000000000;
static const double least = 900, most = 60.0 * 86400;
static const char uri[] = "http://a.example/x";

static struct opt_set *options;
static struct job outputs[OUTPUTS_MOST];
static struct buf bytes[OUTPUTS_MOST]; /* their data */
static size_t output_count;
static uint64_t released_ms;

void __wrap_stage_output(struct stage_job *job, const struct job *output);
void
__wrap_stage_output(struct stage_job *job, const struct job *output)
{
    (void)job;
    assert_true(output_count < OUTPUTS_MOST);
    buf_reset(&bytes[output_count]);
    buf_append_slice(&bytes[output_count], output->data);
    outputs[output_count] = *output;
    outputs[output_count].data = buf_slice(&bytes[output_count]);
    output_count++;
}

const struct opt_set *__wrap_stage_options(struct stage_run *run);
const struct opt_set *
__wrap_stage_options(struct stage_run *run)
{
    (void)run;
    return options;
}

void __wrap_stage_release(struct stage_job *job, uint64_t delay_ms, bool counts, const char *format,
                          ...) __attribute__((format(printf, 4, 5)));
void
__wrap_stage_release(struct stage_job *job, uint64_t delay_ms, bool counts, const char *format, ...)
{
    (void)job, (void)format;
    assert_false(counts);
    released_ms = delay_ms;
}

uint64_t __wrap_clock_wall_ms(void);
uint64_t
__wrap_clock_wall_ms(void)
{
    return now_ms;
}

/* Two nodes: the other one has what is in its domain. */
size_t __wrap_cluster_self(const struct cluster *cluster);
size_t
__wrap_cluster_self(const struct cluster *cluster)
{
    (void)cluster;
    return 1;
}

size_t __wrap_cluster_key_owner(const struct cluster *cluster, struct slice key);
size_t
__wrap_cluster_key_owner(const struct cluster *cluster, struct slice key)
{
    (void)cluster;
    return slice_find(key, '9') < key.length ? 0 : 1;
}

static int
set_up(void **state)
{
    static const struct opt *tables[] = {recrawl_options, NULL};
    (void)state;
    options = opt_set_new(tables);
    for (size_t i = 0; i < OUTPUTS_MOST; i++) {
        buf_init(&bytes[i], JOB_METADATA_MAXIMUM);
    }
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    opt_set_free(options);
    for (size_t i = 0; i < OUTPUTS_MOST; i++) {
        buf_release(&bytes[i]);
    }
    return 0;
}

/* ---- the next visit ---- */

struct told {
    struct buf record;
    uint64_t due_ms;
};

/* Makes what is in the record after a visit; the record before it had a failure. */
static void
visit(const struct document_visit *before, enum visit_outcome outcome, uint64_t generation,
      struct told *told)
{
    struct meta_update old;
    struct buf record;
    struct stage_job job = {.job = {.uri = slice_string(uri),
                                    .generation = generation,
                                    .via = SLICE("http://a.example/"),
                                    .priority = 7,
                                    .depth = 3,
                                    .flags = JOB_SEED | JOB_RESOURCE}};
    meta_update_init(&old);
    buf_init(&record, 1 << 12);
    buf_init(&told->record, 1 << 12);
    meta_set_number(&old, META_FAILURES, 77);
    meta_set_text(&old, META_CLAIM, SLICE("earlier"));
    (void)meta_merge((struct slice){0}, meta_update_fields(&old), &record);
    meta_update_init(&job.meta);
    output_count = 0;
    schedule_visit(&job, before, outcome, SLICE("data"));
    (void)meta_merge(buf_slice(&record), meta_update_fields(&job.meta), &told->record);
    assert_int_equal(output_count, 1);
    const struct job *next = &outputs[0];
    assert_int_equal(next->key.stage, STAGE_FETCH);
    assert_true(slice_is(next->uri, uri) && slice_is(next->lane_name, "http://a.example"));
    assert_true(slice_is(next->via, "http://a.example/") && slice_is(next->data, "data"));
    assert_int_equal(next->priority, 7);
    assert_int_equal(next->depth, 3);
    assert_int_equal(next->flags, JOB_RECRAWL | JOB_SEED);
    told->due_ms = next->due_ms;
    meta_update_release(&old);
    meta_update_release(&job.meta);
    buf_release(&record);
}

enum { NONE = -1 };

static void
assert_number(const struct told *told, enum meta_field field, int64_t expected)
{
    uint64_t number = 0;
    const bool found = meta_record_number(buf_slice(&told->record), field, &number);
    assert_int_equal(found, expected != NONE);
    assert_true(!found || number == (uint64_t)expected);
}

static void
assert_within(const struct told *told, double seconds)
{
    const double wait = (double)(told->due_ms - now_ms) / 1000;
    assert_true(told->due_ms > now_ms);
    assert_true(wait >= 0.9 * seconds && wait <= 1.1 * seconds + 0.01);
    assert_number(told, META_DUE, (int64_t)told->due_ms);
}

static void
visits_are_counted_by_what_they_found(void **state)
{
    static const struct {
        enum visit_outcome outcome;
        uint64_t visits_before;
        bool learns, changed;
        int64_t failures, visits, visits_changed;
    } cases[] = {
        {VISIT_CHANGED, 0, true, true, NONE, 1, 2},
        {VISIT_UNCHANGED, 0, true, true, NONE, 1, 2}, /* the first: all of it is new */
        {VISIT_CHANGED, 5, true, true, NONE, 6, 3},
        {VISIT_UNCHANGED, 5, true, false, NONE, 6, 2},
        {VISIT_NOTHING, 5, true, false, NONE, 6, 2},
        {VISIT_GONE, 5, true, false, NONE, 6, 2},
        {VISIT_GONE_MAYBE, 5, false, false, 77, NONE, NONE},
        {VISIT_PUT_OFF, 5, false, false, 77, NONE, NONE},
        {VISIT_FAILED, 5, false, false, 5, NONE, NONE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct told told;
        const struct document_visit before = {.threshold_ms = 1200000,
                                              .elapsed_ms = 86400000,
                                              .changes_milli = 1000,
                                              .seconds_milli = 259200000,
                                              .visits = cases[i].visits_before,
                                              .changed = 2,
                                              .failures = 4};
        visit(&before, cases[i].outcome, 1, &told);
        assert_number(&told, META_VISITED, cases[i].learns ? (int64_t)now_ms : NONE);
        assert_number(&told, META_CHANGED, cases[i].changed ? (int64_t)now_ms : NONE);
        assert_number(&told, META_FAILURES, cases[i].failures);
        assert_number(&told, META_VISITS, cases[i].visits);
        assert_number(&told, META_VISITS_CHANGED, cases[i].visits_changed);
        assert_number(&told, META_WORTH_MS, 1200000);
        struct recrawl_estimate estimate = {1, 259200};
        if (cases[i].learns && cases[i].visits_before > 0) {
            (cases[i].changed ? recrawl_changed : recrawl_unchanged)(&estimate, 86400);
        }
        assert_number(&told, META_RATE_CHANGES, (int64_t)(estimate.changes * 1000));
        assert_number(&told, META_RATE_SECONDS, (int64_t)(estimate.seconds * 1000));
        const double usual = recrawl_interval(&estimate, 1200, least, most);
        switch (cases[i].outcome) {
        case VISIT_GONE_MAYBE:
            assert_within(&told, 4 * least);
            break;
        case VISIT_NOTHING:
        case VISIT_GONE:
            assert_within(&told, most);
            break;
        case VISIT_FAILED:
            assert_within(&told, fmin(most, usual * 32));
            break;
        default:
            assert_within(&told, usual);
        }
        buf_release(&told.record);
    }
}

static void
failures_put_visits_off_up_to_the_most(void **state)
{
    const struct document_visit steady = {
        .threshold_ms = 1000, .changes_milli = 1000000, .seconds_milli = 1000, .failures = 0};
    (void)state;
    for (uint64_t failures = 0; failures < 100; failures += 3) {
        struct document_visit before = steady;
        struct told told;
        before.failures = failures;
        visit(&before, VISIT_FAILED, 1, &told);
        const struct recrawl_estimate estimate = {1000, 1};
        const double usual = recrawl_interval(&estimate, 1, least, most);
        assert_within(&told, fmin(most, ldexp(usual, (int)fmin((double)failures + 1, 16))));
        buf_release(&told.record);
    }
}

/* A server that says for how long it holds is asked no sooner, and no later than ever. */
static void
what_is_fresh_is_not_visited(void **state)
{
    static const struct {
        uint64_t fresh_seconds;
        double wait;
    } cases[] = {{0, 900}, {800, 900}, {5000, 5000}, {1000000000, 60.0 * 86400}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct told told;
        const struct document_visit before = {.threshold_ms = 1,
                                              .changes_milli = 1000000,
                                              .seconds_milli = 1000,
                                              .visits = 1,
                                              .fresh_seconds = cases[i].fresh_seconds};
        visit(&before, VISIT_PUT_OFF, 1, &told);
        assert_within(&told, cases[i].wait);
        buf_release(&told.record);
    }
}

static void
words_of_sitemaps_are_judged(void **state)
{
    enum { DAY = 86400 };
    static const struct {
        uint64_t claimed, named_seconds, visits;
        enum visit_outcome outcome;
        const char *claim;
    } cases[] = {
        {CLAIM_NONE, 0, 1, VISIT_CHANGED, "earlier"}, /* nothing was said */
        {CLAIM_CHANGED, 0, 1, VISIT_CHANGED, "held"},
        {CLAIM_CHANGED, 0, 1, VISIT_UNCHANGED, "broken"},
        {CLAIM_UNCHANGED, 0, 1, VISIT_CHANGED, "unchanged broken"},
        {CLAIM_UNCHANGED, 0, 1, VISIT_UNCHANGED, "unchanged held"},
        {CLAIM_NONE, DAY / 10, 1, VISIT_CHANGED, "changefreq held"},
        {CLAIM_NONE, DAY / 10, 1, VISIT_UNCHANGED, "changefreq broken"},
        {CLAIM_NONE, DAY * 10, 1, VISIT_CHANGED, "changefreq broken"},
        {CLAIM_NONE, DAY * 10, 1, VISIT_UNCHANGED, "changefreq held"},
        {CLAIM_CHANGED, DAY * 10, 1, VISIT_UNCHANGED, "broken,changefreq held"},
        {CLAIM_CHANGED, DAY, 0, VISIT_CHANGED, "earlier"}, /* the first visit judges nobody */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct told told;
        struct slice claim = {0};
        const struct document_visit before = {.threshold_ms = 1000,
                                              .elapsed_ms = DAY * (uint64_t)1000,
                                              .changes_milli = 1000,
                                              .seconds_milli = 1000,
                                              .visits = cases[i].visits,
                                              .claimed = cases[i].claimed,
                                              .named_seconds = cases[i].named_seconds};
        visit(&before, cases[i].outcome, 1, &told);
        (void)meta_record_text(buf_slice(&told.record), META_CLAIM, &claim);
        assert_true(slice_is(claim, cases[i].claim));
        buf_release(&told.record);
    }
}

/* Documents that were found together are spread, over the whole tenth to either side. */
static void
visits_are_spread(void **state)
{
    enum { VISITS = 200 };
    uint64_t first_ms = UINT64_MAX, last_ms = 0;
    const struct document_visit before = {
        .threshold_ms = 1000, .changes_milli = 1000, .seconds_milli = 1000};
    (void)state;
    for (uint64_t i = 0; i < VISITS; i++) {
        struct told told;
        visit(&before, VISIT_GONE, i, &told);
        const uint64_t mixed = fingerprint64(slice_string(uri)) + i * 0x9e3779b97f4a7c15u;
        const double wait = most * (0.9 + 0.2 * (double)(mixed >> 11) / 9007199254740992.0);
        assert_int_equal(told.due_ms, now_ms + (uint64_t)(wait * 1000) + 1);
        first_ms = told.due_ms < first_ms ? told.due_ms : first_ms;
        last_ms = told.due_ms > last_ms ? told.due_ms : last_ms;
        buf_release(&told.record);
    }
    assert_true((double)(first_ms - now_ms) < 0.91 * most * 1000);
    assert_true((double)(last_ms - now_ms) > 1.09 * most * 1000);
}

/* ---- other nodes ---- */

static void
the_longer_it_waited_the_longer_it_waits(void **state)
{
    static const struct {
        uint64_t age_ms, delay_ms;
    } cases[] = {{0, 1000},
                 {4000, 1000},
                 {4004, 1001},
                 {40000, 10000},
                 {240000, 60000},
                 {240004, 60000},
                 {(uint64_t)1 << 40, 60000}};
    struct stage_job job = {0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        job.job.queued_ms = now_ms - cases[i].age_ms;
        stage_put_off(&job, &(struct reason){"away"});
        assert_int_equal(released_ms, cases[i].delay_ms);
    }
    job.job.queued_ms = now_ms + 5000; /* by another clock */
    stage_put_off(&job, &(struct reason){"away"});
    assert_int_equal(released_ms, 1000);
}

static void
assert_metadata(const struct job *output, const char *key, struct slice *fields)
{
    struct slice its_key;
    assert_true(job_is_metadata(output));
    assert_int_equal(output->key.stage, STAGE_FETCH);
    assert_true(job_metadata(output, &its_key, fields));
    assert_true(slice_is(its_key, key));
    assert_true(meta_update_valid(*fields));
}

/* The metadata of what other nodes keep go with the job's outputs, in pieces of whole fields; the
 * others stay. */
static void
metadata_of_others_leave_with_the_job(void **state)
{
    enum { TEXTS = 5, BYTES = 500 << 10 };
    char *text = memory_zero(BYTES, 1);
    static struct stage_run run;
    struct held_job held = {.public = {.job = {.uri = SLICE("http://9.example/")}, .run = &run}};
    struct meta_put puts[] = {{.key = SLICE("hhttp://1.example"), .fields = SLICE("one")},
                              {.key = SLICE("hhttp://9.example")},
                              {.key = SLICE("hhttp://2.example"), .fields = SLICE("two")}};
    struct meta_update host;
    struct buf together;
    struct slice fields;
    (void)state;
    memset(text, 'a', BYTES);
    meta_update_init(&host);
    meta_update_init(&held.public.meta);
    buf_init(&together, 4 << 20);
    meta_set_number(&host, META_VISITS, 1);
    puts[1].fields = meta_update_fields(&host);
    held.puts = puts;
    held.put_count = 3;
    for (size_t i = 0; i < TEXTS; i++) {
        meta_set_number(&held.public.meta, META_VISITS, i);
        meta_set_text(&held.public.meta, META_PLAN, slice_of(text, BYTES));
        meta_clear(&held.public.meta, META_CLAIM);
    }
    struct buf whole;
    buf_init(&whole, 4 << 20);
    buf_append_slice(&whole, meta_update_fields(&held.public.meta));
    output_count = 0;
    stage_post_metadata(&held);
    assert_int_equal(output_count, 3); /* two of the document, one of the host */
    for (size_t i = 0; i + 1 < output_count; i++) {
        assert_metadata(&outputs[i], "uhttp://9.example/", &fields);
        buf_append_slice(&together, fields);
    }
    assert_true(slice_equal(buf_slice(&together), buf_slice(&whole)));
    assert_metadata(&outputs[output_count - 1], "hhttp://9.example", &fields);
    assert_true(slice_equal(fields, meta_update_fields(&host)));
    assert_int_equal(meta_update_fields(&held.public.meta).length, 0);
    assert_int_equal(held.put_count, 2);
    assert_true(slice_is(puts[0].fields, "one") && slice_is(puts[1].fields, "two"));
    output_count = 0; /* of a document of ours nothing leaves */
    held.put_count = 0;
    held.public.job.uri = SLICE("http://1.example/");
    meta_set_number(&held.public.meta, META_VISITS, 1);
    stage_post_metadata(&held);
    assert_int_equal(output_count, 0);
    assert_true(meta_update_fields(&held.public.meta).length > 0);
    meta_update_release(&held.public.meta);
    meta_update_release(&host);
    buf_release(&together);
    buf_release(&whole);
    free(text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(visits_are_counted_by_what_they_found),
        cmocka_unit_test(failures_put_visits_off_up_to_the_most),
        cmocka_unit_test(what_is_fresh_is_not_visited),
        cmocka_unit_test(words_of_sitemaps_are_judged),
        cmocka_unit_test(visits_are_spread),
        cmocka_unit_test(the_longer_it_waited_the_longer_it_waits),
        cmocka_unit_test(metadata_of_others_leave_with_the_job),
    };
    return cmocka_run_group_tests_name("next_visit", tests, set_up, tear_down);
}
