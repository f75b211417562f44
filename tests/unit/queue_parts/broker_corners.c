/* Rare ways through the broker: reads that fail in each kind of round, jobs whose records are gone,
 * what happens to a host twice in one round, and links that move a page that waits. */
#include "base/system/clock.h"
#include "queue/storage/store_batch.h"
#include "tests/unit/moved_clock.h"
#include "tests/unit/queue/queue_fixture.h"
#include "tests/unit/queue/queue_suites.h"
#include "tests/unit/queue/told_frontier.h"

#define HOST "http://example.org"
#define URI HOST "/"

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };

static const struct trouble_rules one_failure = {
    .failures = 1, .probe_ms = HOUR, .probe_most_ms = 24 * HOUR, .outage_hosts = 9};

static int
setup(void **state)
{
    struct bench *bench = bench_new(NULL, NULL);
    told_frontier_reset();
    clock_stop();
    bench_close(bench);
    bench->options.grace_ms = 0;
    bench->options.troubles = one_failure;
    bench_open(bench);
    *state = bench;
    return 0;
}

static int
teardown(void **state)
{
    told_frontier_reset();
    bench_free(*state);
    clock_go();
    return 0;
}

static struct job
take_one(struct bench *bench, enum stage stage)
{
    assert_int_equal(reserve(bench, "w", 1, stage, 1), 1);
    return bench->jobs[0];
}

/* How a job of fetch ends; the broker is asked to work by somebody else. */
static void
submit_end(struct bench *bench, const struct job *job, uint8_t words, uint64_t rest_ms)
{
    const struct completion completion = {
        .key = job->key,
        .verdict = words & HOST_FAILED ? VERDICT_RELEASE : VERDICT_DONE,
        .no_attempt = true,
        .report = REPORT(.words = words, .rest_ms = rest_ms, .cause = SLICE("refused"))};
    submit_complete(bench, "w", 1, &completion, job->attempt);
}

static void
end_in_scope(struct bench *bench, struct job job, uint64_t scope)
{
    const struct completion completion = {.key = job.key, .scope = scope};
    complete(bench, "w", 1, &completion, job.attempt);
}

static void
submit_put(struct bench *bench, const struct job *job)
{
    struct buf *payload = bench_payload(bench);
    codec_put_varint(payload, 1);
    message_put_new(payload, job);
    (void)bench_submit(bench, "test", 1, QUEUE_PUT, 0);
}

static struct job
a_seed(const char *uri)
{
    struct job seed = a_job(STAGE_FETCH, uri);
    seed.flags = JOB_SEED;
    return seed;
}

/* Sets the only host aside. */
static void
set_aside(struct bench *bench)
{
    put_uri(bench, STAGE_FETCH, URI, 0);
    const struct job job = take_one(bench, STAGE_FETCH);
    submit_end(bench, &job, HOST_FAILED, SECOND);
    bench_work(bench);
    assert_int_equal(stats(bench).hosts_aside, 1);
}

/* ---- reads that fail ---- */

/* One job of fetch and one of detect are out, others wait, and the broker was started anew. */
static struct job out[2];

static void
prepare(struct bench *bench)
{
    for (int i = 0; i < 2; i++) {
        const enum stage stage = i == 0 ? STAGE_FETCH : STAGE_DETECT;
        put_uri(bench, stage, URI "a", 5);
        put_uri(bench, stage, URI "b", 5);
        const struct job job = take_one(bench, stage);
        out[i] = (struct job){.key = job.key, .attempt = job.attempt};
    }
    put_uri(bench, STAGE_FETCH, "http://aside.example/", 0);
    const struct job job = take_one(bench, STAGE_FETCH);
    submit_end(bench, &job, HOST_FAILED, SECOND);
    bench_work(bench);
}

static void
submit_failure(struct bench *bench)
{
    submit_end(bench, &out[0], HOST_FAILED, SECOND);
}

static void
submit_success(struct bench *bench)
{
    submit_end(bench, &out[0], HOST_ANSWERED, SECOND);
}

static void
submit_touch(struct bench *bench)
{
    struct buf *payload = bench_payload(bench);
    codec_put_u8(payload, TOUCH_ANNOUNCE);
    codec_put_varint(payload, 2);
    for (int i = 0; i < 2; i++) {
        job_key_encode(payload, &out[i].key);
        codec_put_varint(payload, out[i].attempt);
    }
    (void)bench_submit(bench, "w", 1, QUEUE_TOUCH, 0);
}

/* Who held them comes as a new process. */
static void
submit_death(struct bench *bench)
{
    submit_touch(bench);
    bench_work(bench);
    (void)submit_reserve(bench, "w", 2, STAGE_FETCH, 4, 0, 0, 0);
}

/* Who holds them says nothing for longer than a lease is. */
static void
submit_stall(struct bench *bench)
{
    submit_touch(bench);
    bench_work(bench);
    clock_move(bench->options.lease_ms);
}

static void
submit_reserves(struct bench *bench)
{
    (void)submit_reserve(bench, "w", 1, STAGE_FETCH, 4, 0, 0, 0);
}

/* What was answered is asked for again, and what was given back. */
static void
submit_repetition(struct bench *bench)
{
    enum { REQUEST = 77 };
    for (int i = 0; i < 2; i++) {
        (void)submit_reserve(bench, "w", 1, STAGE_FETCH, 4, 0, 0, REQUEST);
        if (i == 0) {
            bench_work(bench);
        }
    }
}

static void
submit_return(struct bench *bench)
{
    const struct job job = take_one(bench, STAGE_DETECT);
    give_back(bench, "w", &job, 0, true);
    (void)submit_reserve(bench, "w", 1, STAGE_DETECT, 4, 0, 0, 0);
}

static void
submit_try(struct bench *bench)
{
    const struct job seed = a_seed("http://aside.example/");
    submit_put(bench, &seed);
}

static void
submit_looks(struct bench *bench)
{
    codec_put_slice(bench_payload(bench), SLICE(URI "a"));
    (void)bench_submit(bench, "test", 1, QUEUE_LOOK, 0);
    struct buf *payload = bench_payload(bench);
    codec_put_u64(payload, 0);
    codec_put_slice(payload, SLICE(""));
    codec_put_u8(payload, 0);
    codec_put_varint(payload, 9);
    (void)bench_submit(bench, "test", 1, QUEUE_HOSTS, 0);
}

/* Whether any of the requests was answered that the store failed. */
static bool
any_was_told(const struct bench *bench)
{
    for (size_t i = 0; i < bench->tokens; i++) {
        if (bench->answers[i].given && bench->answers[i].status == STATUS_SYSTEM) {
            assert_string_equal(bench->answers[i].why, "a fault");
            return true;
        }
    }
    return false;
}

/* Lets one call of a round fail; false: it has no so many. */
static bool
fails_at(struct bench *bench, void (*submit)(struct bench *bench), int call)
{
    struct reason why = {""};
    bench_restart(bench);
    bench_forget(bench);
    told_frontier.status = STATUS_SYSTEM;
    if (submit == submit_looks) { /* they are answered at once */
        told_frontier.calls = call;
    }
    submit(bench);
    told_frontier.calls = submit == submit_looks ? told_frontier.calls : call;
    const enum status status = broker_work(bench->broker, &why);
    const bool struck = told_frontier.calls < 0;
    told_frontier.calls = -1;
    if (struck && !any_was_told(bench)) {
        assert_int_equal(status, STATUS_SYSTEM);
        assert_string_equal(why.text, "a fault");
    }
    return struck;
}

/* Each call of such a round fails once; the broker says so, or answers so. */
static void
test_each_kind_of_round_tells_of_failed_calls(void **state)
{
    static const struct {
        void (*submit)(struct bench *bench);
        int least; /* calls, so that none of those that are meant is left out */
    } rounds[] = {
        {submit_failure, 5}, {submit_success, 4},  {submit_touch, 3},  {submit_death, 3},
        {submit_stall, 3},   {submit_reserves, 3}, {submit_return, 2}, {submit_repetition, 2},
        {submit_try, 4},     {submit_looks, 4},
    };
    for (size_t i = 0; i < sizeof rounds / sizeof rounds[0]; i++) {
        struct bench *bench;
        int calls = 0;
        if (i > 0) { /* with jobs that are as they were */
            assert_int_equal(teardown(state), 0);
            assert_int_equal(setup(state), 0);
        }
        bench = *state;
        prepare(bench);
        while (fails_at(bench, rounds[i].submit, calls)) {
            calls++;
        }
        if (calls < rounds[i].least) {
            fail_msg("round %zu has %d calls", i, calls);
        }
    }
}

/* Jobs of a host that was set aside are counted by a scan of their own. */
static void
test_counting_tells_of_a_failed_scan(void **state)
{
    struct bench *bench = *state;
    struct reason why = {""};
    set_aside(bench);
    bench_restart(bench); /* they are counted anew */
    told_frontier.calls = 0;
    told_frontier.status = STATUS_SYSTEM;
    assert_int_equal(broker_work(bench->broker, &why), STATUS_SYSTEM);
    told_frontier.calls = -1;
    assert_int_equal(stats(bench).stages[STAGE_FETCH].aside, 0);
    bench_work(bench);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].aside, 1);
}

/* ---- records that are gone, though their jobs are out ---- */

static uint8_t missing_key[JOB_KEY_SIZE];

static struct job
take_and_lose(struct bench *bench, enum stage stage)
{
    put_uri(bench, stage, URI, 0);
    const struct job job = take_one(bench, stage);
    job_key_write(&job.key, missing_key);
    told_frontier.missing = slice_of((const char *)missing_key, sizeof missing_key);
    return job;
}

static void
test_a_dead_worker_gives_back_what_is_there(void **state)
{
    struct bench *bench = *state;
    (void)take_and_lose(bench, STAGE_DETECT);
    put_uri(bench, STAGE_DETECT, URI "other", 0);
    (void)take_one(bench, STAGE_DETECT);
    assert_int_equal(stats(bench).stages[STAGE_DETECT].leased, 2);
    touch(bench, "w", 2, NULL, 0);
    assert_int_equal(stats(bench).stages[STAGE_DETECT].leased, 0);
    assert_int_equal(stats(bench).stages[STAGE_DETECT].dead, 1);
}

static void
test_an_answer_is_repeated_without_what_is_gone(void **state)
{
    enum { REQUEST = 77 };
    struct bench *bench = *state;
    put_uri(bench, STAGE_DETECT, URI "a", 0);
    put_uri(bench, STAGE_DETECT, URI "b", 0);
    for (size_t expected = 2; expected >= 1; expected--) {
        const struct answer *answer = submit_reserve(bench, "w", 1, STAGE_DETECT, 5, 0, 0, REQUEST);
        bench_work(bench);
        read_answer(bench, answer);
        assert_int_equal(bench->job_count, expected);
        job_key_write(&bench->jobs[0].key, missing_key);
        told_frontier.missing = slice_of((const char *)missing_key, sizeof missing_key);
    }
}

static void
test_what_is_gone_puts_no_host_into_trouble(void **state)
{
    struct bench *bench = *state;
    const struct job job = take_and_lose(bench, STAGE_FETCH);
    const struct completion completion = {.key = job.key, .report = REPORT(.words = HOST_FAILED)};
    complete(bench, "w", 1, &completion, job.attempt);
    assert_int_equal(stats(bench).hosts_failing + stats(bench).hosts_aside, 0);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].done, 1);
}

static void
test_what_is_gone_is_not_considered_again(void **state)
{
    struct bench *bench = *state;
    broker_set_scope(bench->broker, 5, (struct slice){"", 0});
    const struct job job = take_and_lose(bench, STAGE_EXTRACT);
    broker_set_scope(bench->broker, 6, (struct slice){"", 0});
    end_in_scope(bench, job, 5);
    assert_int_equal(stats(bench).stages[STAGE_EXTRACT].done, 1);
    assert_int_equal(stats(bench).stages[STAGE_EXTRACT].ready, 1); /* the sweep alone */
}

/* A worker that has not heard the answer asks once more, and gets the same, its hosts' paces, too.
 */
static void
test_an_answer_of_fetch_is_repeated_whole(void **state)
{
    enum { REQUEST = 77 };
    struct bench *bench = *state;
    struct buf first;
    put_uri(bench, STAGE_FETCH, URI "a", 0);
    put_uri(bench, STAGE_FETCH, URI "b", 0);
    put_uri(bench, STAGE_FETCH, "http://example.com/", 0);
    const struct job job = take_one(bench, STAGE_FETCH);
    const struct completion completion = {
        .key = job.key,
        .report = REPORT(.words = HOST_ANSWERED, .rules_known = true, .crawl_delay_ms = 7000)};
    complete(bench, "w", 1, &completion, job.attempt);
    buf_init(&first, 1 << 16);
    for (int time = 0; time < 2; time++) {
        const struct answer *answer = submit_reserve(bench, "w", 1, STAGE_FETCH, 5, 0, 0, REQUEST);
        bench_work(bench);
        read_answer(bench, answer);
        assert_int_equal(bench->job_count, 2);
        size_t paced = 0;
        for (size_t i = 0; i < bench->job_count; i++) {
            paced += bench->jobs[i].pace.length > 0;
        }
        assert_int_equal(paced, 1);
        if (time == 0) {
            buf_append_slice(&first, buf_slice(&answer->payload));
        }
        assert_int_equal(answer->payload.length, first.length);
        assert_int_equal(stats(bench).stages[STAGE_FETCH].leased, 2);
    }
    buf_release(&first);
}

/* ---- one host, twice in a round ---- */

/* A seed asks for the host in the round in which it answers: it rests as after any answer. */
static void
test_who_has_just_answered_is_not_hastened(void **state)
{
    struct bench *bench = *state;
    const struct job seed = a_seed(URI "more");
    set_aside(bench);
    clock_move(HOUR);
    const struct job probe = take_one(bench, STAGE_FETCH);
    submit_put(bench, &seed);
    submit_end(bench, &probe, HOST_ANSWERED, MINUTE);
    bench_work(bench);
    assert_int_equal(stats(bench).hosts_aside, 0);
    clock_move(MINUTE - 1);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 0);
    clock_move(1);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
}

/* It fails, and is set aside, in the round in which a seed asks for it: that came too early. */
static void
test_who_has_just_failed_is_not_tried(void **state)
{
    struct bench *bench = *state;
    const struct job seed = a_seed(URI "more");
    put_uri(bench, STAGE_FETCH, URI, 0);
    const struct job job = take_one(bench, STAGE_FETCH);
    submit_end(bench, &job, HOST_FAILED, SECOND);
    submit_put(bench, &seed);
    bench_work(bench);
    assert_int_equal(stats(bench).hosts_aside, 1);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 0);
    assert_int_equal(put_jobs(bench, &seed, 1), STATUS_OK); /* in a round of its own it is */
    assert_int_equal(stats(bench).hosts_aside, 0);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
}

static void
test_a_damaged_row_of_a_host_is_named(void **state)
{
    struct bench *bench = *state;
    struct reason why = {""};
    struct store_batch batch;
    uint8_t lane[8];
    const struct job seed = a_seed(URI "more");
    set_aside(bench);
    codec_write_u64(lane, fingerprint64(SLICE(HOST)));
    store_batch_init(&batch);
    store_batch_put(&batch, TREE_TROUBLES, slice_of((char *)lane, sizeof lane), SLICE("\1"));
    store_batch_sort(&batch);
    assert_int_equal(__real_frontier_apply((struct frontier *)broker_frontier(bench->broker),
                                           (const struct store_operation *const *)batch.operations,
                                           batch.count, &why),
                     STATUS_OK);
    store_batch_release(&batch);
    submit_put(bench, &seed);
    assert_int_equal(broker_work(bench->broker, &why), STATUS_CORRUPT);
    assert_string_equal(why.text, "what is known of a host in trouble is damaged");
}

/* ---- suspects ---- */

/* A job of fetch whose worker died three times goes to nobody who holds another, and waits. */
static void
test_a_suspect_of_fetch_waits_for_who_holds_nothing(void **state)
{
    enum { DEATHS = 3, DEATH_REST_MS = 1000 };
    struct bench *bench = *state;
    bench->options.attempts = 9;
    bench_restart(bench);
    put_uri(bench, STAGE_FETCH, URI, 0);
    for (uint64_t life = 1; life <= DEATHS; life++) {
        assert_int_equal(reserve(bench, "dies", life, STAGE_FETCH, 1), 1);
        touch(bench, "dies", life + 1, NULL, 0);
        clock_move(DEATH_REST_MS - 1);
        assert_int_equal(reserve(bench, "dies", life + 1, STAGE_FETCH, 1), 0);
        clock_move(1);
    }
    assert_int_equal(stats(bench).stages[STAGE_FETCH].dead, DEATHS);
    put_uri(bench, STAGE_DETECT, URI "other", 0);
    (void)take_one(bench, STAGE_DETECT);
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 5), 0);
    assert_int_equal(stats(bench).lanes_busy, 0);
    assert_int_equal(reserve(bench, "v", 1, STAGE_FETCH, 5), 1);
    assert_int_equal(bench->jobs[0].deaths, DEATHS);
    assert_int_equal(bench->jobs[0].attempt, 1 + DEATHS);
}

/* ---- where a page waits ---- */

static void
link_to(struct bench *bench, const char *uri, const char *via)
{
    struct job link = a_job(STAGE_FETCH, uri);
    link.via = slice_string(via);
    link.depth = 3;
    assert_int_equal(put_jobs(bench, &link, 1), STATUS_OK);
}

/* Links of other domains move a page before those that came first: it has one place, in memory and
 * in the store, and goes out once. */
static void
test_links_of_other_domains_move_a_page(void **state)
{
    static const char *const vias[] = {"http://a.example/", "http://b.example/",
                                       "http://c.example/", "http://d.example/"};
    for (int start = 0; start < 2; start++) { /* also when the store is all that knows it */
        struct bench *bench = *state;
        char early[64], late[64];
        snprintf(early, sizeof early, "http://h%d.example/early", start);
        snprintf(late, sizeof late, "http://h%d.example/late", start);
        link_to(bench, early, vias[0]);
        link_to(bench, late, vias[0]);
        const uint64_t before = look(bench, late).rank;
        assert_int_equal(look(bench, early).rank, before);
        assert_int_equal(look(bench, late).ahead, 1);
        for (size_t i = 0; i < sizeof vias / sizeof vias[0]; i++) {
            link_to(bench, late, vias[i]);
        }
        const struct queue_explanation moved = look(bench, late);
        assert_true(moved.rank < before);
        assert_int_equal(moved.ahead, 0);
        assert_true(moved.linking > 1);
        assert_int_equal(stats(bench).stages[STAGE_FETCH].put, 2 * (uint64_t)start + 2);
        if (start == 1) {
            bench_restart(bench);
        }
        const struct job first = take_one(bench, STAGE_FETCH);
        assert_true(slice_is(first.uri, late));
        assert_int_equal(first.key.rank, moved.rank);
        done(bench, "w", &first);
        const struct job second = take_one(bench, STAGE_FETCH);
        assert_true(slice_is(second.uri, early));
        done(bench, "w", &second);
        assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 0);
        assert_int_equal(stats(bench).stages[STAGE_FETCH].ready, 0);
    }
}

/* What the index tells of a page counts for its host. */
static void
test_yields_are_learned(void **state)
{
    enum { QUADS = 1023 };
    struct bench *bench = *state;
    struct buf data;
    struct job yield = a_job(STAGE_FETCH, URI "page");
    yield.flags = JOB_YIELD;
    buf_init(&data, 16);
    codec_put_varint(&data, QUADS);
    yield.data = buf_slice(&data);
    assert_int_equal(look(bench, URI).fetches_host, 0);
    assert_int_equal(put_jobs(bench, &yield, 1), STATUS_OK);
    const struct queue_explanation known = look(bench, URI);
    assert_int_equal(known.fetches_host, 1);
    assert_int_equal(known.mean_all, 10000); /* thousandths of log2 of 1024 */
    assert_int_equal(stats(bench).stages[STAGE_FETCH].put, 0);
    buf_release(&data);
}

/* A document's links were considered at a smaller depth since: the older scope's do, too. */
static void
test_what_is_outdated_has_the_depth_of_its_revisit(void **state)
{
    struct bench *bench = *state;
    broker_set_scope(bench->broker, 5, (struct slice){"", 0});
    put_uri(bench, STAGE_FETCH, URI, 5);
    end_in_scope(bench, take_one(bench, STAGE_FETCH), 5);
    put_uri(bench, STAGE_EXTRACT, URI, 5);
    const struct job extract = take_one(bench, STAGE_EXTRACT);
    put_uri(bench, STAGE_FETCH, URI, 2); /* nearer: its revisit is noted */
    const struct job revisit = take_one(bench, STAGE_EXTRACT);
    assert_int_equal(revisit.depth, 2);
    end_in_scope(bench, revisit, 5);
    bench_restart(bench); /* what is noted of it is in the store alone */
    broker_set_scope(bench->broker, 6, (struct slice){"", 0});
    end_in_scope(bench, extract, 5);
    assert_int_equal(reserve(bench, "w", 1, STAGE_EXTRACT, 5), 2); /* beside the sweep */
    const struct job *again = &bench->jobs[slice_is(bench->jobs[0].uri, URI) ? 0 : 1];
    assert_true(slice_is(again->uri, URI));
    assert_int_equal(again->depth, 2);
}

/* The sweep of an older scope is not considered again: the newer version has its own. */
static void
test_an_outdated_sweep_ends(void **state)
{
    struct bench *bench = *state;
    broker_set_scope(bench->broker, 5, (struct slice){"", 0});
    put_uri(bench, STAGE_FETCH, URI, 0);
    broker_set_scope(bench->broker, 6, (struct slice){"", 0});
    bench_work(bench);
    const struct job sweep = take_one(bench, STAGE_EXTRACT);
    broker_set_scope(bench->broker, 7, (struct slice){"", 0});
    end_in_scope(bench, sweep, 6);
    assert_int_equal(reserve(bench, "w", 1, STAGE_EXTRACT, 5), 1);
    assert_true(slice_is(bench->jobs[0].uri, JOB_SWEEP_URI));
    assert_int_equal(bench->jobs[0].generation, 7);
}

/* What is considered again of a URI that nobody has put has the depth that it comes with. */
static void
test_an_unknown_document_has_the_depth_it_is_put_with(void **state)
{
    struct bench *bench = *state;
    struct job again = a_job(STAGE_FETCH, URI);
    again.flags = JOB_REFILTER;
    again.depth = 4;
    assert_int_equal(put_jobs(bench, &again, 1), STATUS_OK);
    assert_int_equal(take_one(bench, STAGE_EXTRACT).depth, 4);
    assert_int_equal(stats(bench).seen, 0);
}

/* Yields that came after it was put make a page worse than its place, which it keeps. */
static void
test_a_page_that_waits_is_not_moved_back(void **state)
{
    struct bench *bench = *state;
    struct job yields[20];
    link_to(bench, URI "page", "http://a.example/");
    const uint64_t before = look(bench, URI "page").rank;
    for (size_t i = 0; i < sizeof yields / sizeof yields[0]; i++) {
        const bool here = i % 2 == 0;
        yields[i] = a_job(STAGE_FETCH, here ? URI "other" : "http://rich.example/");
        yields[i].flags = JOB_YIELD;
        yields[i].data = here ? SLICE("\0") : SLICE("\xff\xff\x03"); /* 65535 quads */
    }
    assert_int_equal(put_jobs(bench, yields, sizeof yields / sizeof yields[0]), STATUS_OK);
    const struct queue_explanation worse = look(bench, URI "page");
    assert_true((int64_t)worse.weight > 1000 * ((int64_t)before + 5));
    link_to(bench, URI "page", "http://b.example/");
    const struct queue_explanation after = look(bench, URI "page");
    assert_int_equal(after.linking, 2);
    assert_int_equal(after.rank, before);
}

int
broker_corners_run(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_each_kind_of_round_tells_of_failed_calls),
        CASE(test_counting_tells_of_a_failed_scan),
        CASE(test_a_dead_worker_gives_back_what_is_there),
        CASE(test_an_answer_is_repeated_without_what_is_gone),
        CASE(test_what_is_gone_puts_no_host_into_trouble),
        CASE(test_what_is_gone_is_not_considered_again),
        CASE(test_an_answer_of_fetch_is_repeated_whole),
        CASE(test_who_has_just_answered_is_not_hastened),
        CASE(test_who_has_just_failed_is_not_tried),
        CASE(test_a_damaged_row_of_a_host_is_named),
        CASE(test_a_suspect_of_fetch_waits_for_who_holds_nothing),
        CASE(test_links_of_other_domains_move_a_page),
        CASE(test_yields_are_learned),
        CASE(test_what_is_outdated_has_the_depth_of_its_revisit),
        CASE(test_an_outdated_sweep_ends),
        CASE(test_an_unknown_document_has_the_depth_it_is_put_with),
        CASE(test_a_page_that_waits_is_not_moved_back),
    };
    return cmocka_run_group_tests_name("broker corners", tests, NULL, NULL);
}
