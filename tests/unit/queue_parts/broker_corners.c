/* Rare ways through the broker: what happens to a host twice in one round, what is due at a moment,
 * suspects, and links that move a page that waits. */
#include "tests/unit/queue_parts/still_broker.h"

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

/* Hosts of which each has one job: those of an outage, and those that a person asks for. */
static void
put_hosts(struct bench *bench, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        char uri[64];
        snprintf(uri, sizeof uri, "http://host%u.example/", i);
        put_uri(bench, STAGE_FETCH, uri, 0);
    }
}

static void
fail_all(struct bench *bench, unsigned n, uint8_t words)
{
    struct job jobs[8];
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, n), n);
    memcpy(jobs, bench->jobs, n * sizeof *jobs);
    for (unsigned i = 0; i < n; i++) {
        submit_end(bench, &jobs[i], words, SECOND);
        bench_work(bench);
    }
}

/* All hosts that are set aside are tried at once, or one of them, and rest no more; what they were
 * tried with is stored. */
static void
test_all_hosts_are_tried_at_once(void **state)
{
    enum { HOSTS = 4 };
    static const struct {
        const char *uri;
        unsigned tried;
    } cases[] = {{"", HOSTS}, {"http://host2.example/x", 1}, {"http://none.example/", 0}};
    struct bench *bench = *state;
    put_hosts(bench, HOSTS);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fail_all(bench, HOSTS, HOST_FAILED);
        for (int work = 0; work < HOSTS; work++) {
            bench_work(bench); /* their jobs are counted */
        }
        assert_int_equal(stats(bench).hosts_aside, HOSTS);
        assert_int_equal(stats(bench).stages[STAGE_FETCH].aside, HOSTS);
        codec_put_slice(bench_payload(bench), slice_string(cases[i].uri));
        const struct answer *answer = bench_submit(bench, "test", 1, QUEUE_RETRY, 0);
        bench_work(bench);
        assert_int_equal(answer->status, STATUS_OK);
        struct codec_reader reader = codec_reader_of(buf_slice(&answer->payload));
        assert_int_equal(codec_get_varint(&reader), cases[i].tried);
        assert_int_equal(codec_get_varint(&reader), cases[i].tried); /* one job each */
        assert_true(codec_at_end(&reader));
        for (int restart = 0; restart < 2; restart++) {
            assert_int_equal(stats(bench).hosts_aside, HOSTS - cases[i].tried);
            bench_restart(bench);
        }
        bench_work(bench);
        assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, HOSTS), cases[i].tried);
        for (unsigned job = 0; job < cases[i].tried; job++) {
            give_back(bench, "w", &bench->jobs[job], 0, true);
        }
        clock_move(24 * HOUR); /* so that all may be probed */
    }
}

/* Silence is doubted when so many hosts are silent, whoever is silent again being one of them. */
static void
test_as_many_silent_hosts_as_make_an_outage(void **state)
{
    enum { OUTAGE = 3 };
    for (unsigned hosts = OUTAGE - 1; hosts <= OUTAGE; hosts++) {
        if (hosts > OUTAGE - 1) {
            assert_int_equal(teardown(state), 0);
            assert_int_equal(setup(state), 0);
        }
        struct bench *bench = *state;
        bench_close(bench);
        bench->options.troubles = (struct trouble_rules){.failures = 2,
                                                         .probe_ms = HOUR,
                                                         .probe_most_ms = 24 * HOUR,
                                                         .outage_hosts = OUTAGE,
                                                         .outage_patience_ms = HOUR};
        bench_open(bench);
        put_uri(bench, STAGE_FETCH, URI, 0);
        const struct job job = take_one(bench, STAGE_FETCH);
        submit_end(bench, &job, HOST_ANSWERED, SECOND);
        bench_work(bench);
        clock_move(SECOND);
        put_hosts(bench, hosts);
        fail_all(bench, hosts, HOST_FAILED | HOST_SILENT);
        assert_int_equal(stats(bench).hosts_failing, hosts);
        clock_move(SECOND);
        fail_all(bench, hosts, HOST_FAILED | HOST_SILENT);
        assert_int_equal(stats(bench).hosts_aside, hosts < OUTAGE ? hosts : 0);
        assert_int_equal(stats(bench).cut_off, hosts >= OUTAGE);
    }
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

/* What is out of other stages, or of other hosts, is no probe of a host that is set aside. */
static void
test_other_jobs_are_no_probes(void **state)
{
    struct bench *bench = *state;
    set_aside(bench);
    bench_work(bench); /* its jobs are counted */
    put_uri(bench, STAGE_DETECT, URI, 0);
    (void)take_one(bench, STAGE_DETECT);
    put_uri(bench, STAGE_FETCH, "http://well.example/", 0);
    const struct job well = take_one(bench, STAGE_FETCH);
    const struct queue_stats now = stats(bench);
    assert_int_equal(now.stages[STAGE_FETCH].aside, 1);
    assert_int_equal(now.stages[STAGE_FETCH].leased, 1);
    assert_int_equal(now.stages[STAGE_FETCH].ready, 0);
    assert_int_equal(now.stages[STAGE_DETECT].leased, 1);
    done(bench, "w", &well);
    clock_move(HOUR);
    (void)take_one(bench, STAGE_FETCH); /* the probe, which nobody waits for */
    assert_int_equal(stats(bench).stages[STAGE_FETCH].aside, 1);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].leased, 0);
}

/* ---- moments ---- */

/* What is due at this very moment is due: new jobs, and those that are put again. */
static void
test_what_is_due_now_goes_out(void **state)
{
    struct bench *bench = *state;
    static const enum stage stages[] = {STAGE_FETCH, STAGE_DETECT};
    for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++) {
        for (uint64_t later = 0; later < 2; later++) {
            char uri[64];
            snprintf(uri, sizeof uri, "http://h%d.example/", (int)(2 * i + later));
            struct job job = a_job(stages[i], uri);
            job.due_ms = clock_wall_ms() + later;
            assert_int_equal(put_jobs(bench, &job, 1), STATUS_OK);
            assert_int_equal(stats(bench).stages[stages[i]].delayed, later);
            assert_int_equal(reserve(bench, "w", 1, stages[i], 1), 1 - later);
            clock_move(later);
            assert_int_equal(reserve(bench, "w", 1, stages[i], 1), later);
        }
    }
    /* A visit again that was put for later, and then for now: one, now. */
    struct job again = a_job(STAGE_FETCH, URI);
    put_uri(bench, STAGE_FETCH, URI, 0);
    done(bench, "w", &(struct job){.key = take_one(bench, STAGE_FETCH).key, .attempt = 1});
    again.flags = JOB_RECRAWL;
    again.due_ms = clock_wall_ms() + HOUR;
    assert_int_equal(put_jobs(bench, &again, 1), STATUS_OK);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].scheduled, 1);
    again.due_ms = clock_wall_ms();
    assert_int_equal(put_jobs(bench, &again, 1), STATUS_OK);
    assert_int_equal(take_one(bench, STAGE_FETCH).generation, 3);
}

/* Who renews without saying that this is all it holds is waited for. */
static void
test_grace_lasts_until_all_is_told(void **state)
{
    struct bench *bench = *state;
    bench->options.grace_ms = MINUTE;
    touch(bench, "w", 1, NULL, 0);
    put_uri(bench, STAGE_DETECT, URI, 0);
    bench_restart(bench);
    struct buf *payload = bench_payload(bench);
    codec_put_u8(payload, 0);
    codec_put_varint(payload, 0);
    const struct answer *answer = bench_submit(bench, "w", 1, QUEUE_TOUCH, 0);
    bench_work(bench);
    assert_int_equal(answer->status, STATUS_OK);
    assert_int_equal(reserve(bench, "v", 1, STAGE_DETECT, 1), 0);
    touch(bench, "w", 1, NULL, 0);
    assert_int_equal(reserve(bench, "v", 1, STAGE_DETECT, 1), 1);
}

/* Rows of workers that are damaged name nobody, so that nobody is waited for; and a queue that no
 * worker has spoken to does all in its first round. */
static void
test_nobody_is_waited_for_whom_no_row_names(void **state)
{
    static const struct slice rows[] = {SLICE_INIT(""), SLICE_INIT("\0"), SLICE_INIT("\1"),
                                        SLICE_INIT("\1w+"), SLICE_INIT("\2w")};
    struct bench *bench = *state;
    struct reason why = {""};
    struct store_batch batch;
    uint8_t keys[sizeof rows / sizeof *rows][8];
    bench->options.grace_ms = MINUTE;
    put_uri(bench, STAGE_FETCH, URI, 0);
    put_uri(bench, STAGE_DETECT, URI, 0);
    store_batch_init(&batch);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        codec_write_u64(keys[i], i + 1);
        store_batch_put(&batch, TREE_WORKERS, slice_of((char *)keys[i], 8), rows[i]);
    }
    store_batch_sort(&batch);
    assert_int_equal(__real_frontier_apply((struct frontier *)broker_frontier(bench->broker),
                                           (const struct store_operation *const *)batch.operations,
                                           batch.count, &why),
                     STATUS_OK);
    store_batch_release(&batch);
    bench_restart(bench);
    struct job slice = a_job(STAGE_FETCH, URI);
    slice.flags = JOB_SLICE;
    assert_int_equal(put_jobs(bench, &slice, 1), STATUS_OK);
    assert_int_equal(stats(bench).stages[STAGE_FETCH].ready, 0); /* no fetch is waited for */
    assert_int_equal(stats(bench).workers, 0);
    assert_int_equal(reserve(bench, "v", 1, STAGE_DETECT, 1), 1);
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

/* ---- word of another node's scope ---- */

struct taken {
    enum status status;
    unsigned times;
    char change[64];
};

static enum status
take_change(void *context, struct slice change, struct reason *why)
{
    struct taken *taken = context;
    taken->times++;
    snprintf(taken->change, sizeof taken->change, "%.*s", SLICE_PRINT(change));
    return taken->status == STATUS_OK ? STATUS_OK : status_fail(why, taken->status, "not now");
}

/* Transfers so many jobs, of which the so-manieth of the sender's outbox is the first. */
static const struct answer *
transfer(struct bench *bench, uint64_t first, const struct job *jobs, size_t n)
{
    struct buf *payload = bench_payload(bench);
    codec_put_u64(payload, 1);
    codec_put_u64(payload, 1);
    codec_put_u64(payload, first);
    codec_put_varint(payload, n);
    for (size_t i = 0; i < n; i++) {
        message_put_new(payload, &jobs[i]);
    }
    const struct answer *answer = bench_submit(bench, "queue@other", 1, QUEUE_TRANSFER, 0);
    bench_work(bench);
    assert_true(answer->given);
    return answer;
}

/* A message's words are taken together, once, and only with a change in them; whoever has no files
 * of the scope takes the message all the same. */
static void
test_words_of_the_scope_are_taken_together(void **state)
{
    struct bench *bench = *state;
    struct taken taken = {.status = STATUS_OK};
    struct job jobs[4], link = a_job(STAGE_FETCH, URI);
    for (size_t i = 0; i < 4; i++) {
        jobs[i] = a_job(STAGE_EXTRACT, JOB_SWEEP_URI);
    }
    jobs[0].data = SLICE("+a\n");
    jobs[1] = a_job(STAGE_EXTRACT, URI);
    jobs[1].data = SLICE("of a document");
    jobs[2].data = SLICE("-b\n");
    assert_int_equal(transfer(bench, 1, jobs, 3)->status, STATUS_OK);
    bench_close(bench);
    bench->options.take_scope = take_change;
    bench->options.take_scope_context = &taken;
    bench_open(bench);
    assert_int_equal(transfer(bench, 4, jobs, 3)->status, STATUS_OK);
    assert_int_equal(taken.times, 1);
    assert_string_equal(taken.change, "+a\n-b\n");
    jobs[3].data = SLICE("\n");
    assert_int_equal(transfer(bench, 4, jobs, 4)->status, STATUS_OK); /* three are known */
    assert_int_equal(taken.times, 2);
    assert_string_equal(taken.change, "\n");
    assert_int_equal(transfer(bench, 4, jobs, 4)->status, STATUS_OK);
    assert_int_equal(transfer(bench, 8, &jobs[1], 1)->status, STATUS_OK);
    assert_int_equal(transfer(bench, 9, &link, 1)->status, STATUS_OK);
    jobs[0].data = SLICE("");
    assert_int_equal(transfer(bench, 10, jobs, 1)->status, STATUS_OK);
    assert_int_equal(taken.times, 2);
    /* What cannot be taken now is refused whole. */
    const uint64_t received = stats(bench).received;
    taken.status = STATUS_AGAIN;
    jobs[0].data = SLICE("+c\n");
    const struct answer *answer = transfer(bench, 11, jobs, 2);
    assert_int_equal(answer->status, STATUS_AGAIN);
    assert_string_equal(answer->why, "not now");
    assert_int_equal(stats(bench).received, received);
    taken.status = STATUS_OK;
    assert_int_equal(transfer(bench, 11, jobs, 2)->status, STATUS_OK);
    assert_string_equal(taken.change, "+c\n");
    assert_int_equal(stats(bench).received, received + 2);
}

int
broker_corners_run(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_who_has_just_answered_is_not_hastened),
        CASE(test_who_has_just_failed_is_not_tried),
        CASE(test_all_hosts_are_tried_at_once),
        CASE(test_as_many_silent_hosts_as_make_an_outage),
        CASE(test_a_damaged_row_of_a_host_is_named),
        CASE(test_other_jobs_are_no_probes),
        CASE(test_what_is_due_now_goes_out),
        CASE(test_grace_lasts_until_all_is_told),
        CASE(test_nobody_is_waited_for_whom_no_row_names),
        CASE(test_a_suspect_of_fetch_waits_for_who_holds_nothing),
        CASE(test_links_of_other_domains_move_a_page),
        CASE(test_yields_are_learned),
        CASE(test_what_is_outdated_has_the_depth_of_its_revisit),
        CASE(test_an_outdated_sweep_ends),
        CASE(test_an_unknown_document_has_the_depth_it_is_put_with),
        CASE(test_a_page_that_waits_is_not_moved_back),
        CASE(test_words_of_the_scope_are_taken_together),
    };
    return cmocka_run_group_tests_name("broker corners", tests, NULL, NULL);
}
