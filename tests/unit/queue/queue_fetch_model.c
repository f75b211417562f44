/* These tests are of what fetch knows of URIs, beside a model: links, recrawls now and later,
 * smaller depths, revisits and slices of dumps in random order, with commits that fail and restarts
 * in between. After each step every stage must have exactly the jobs that the model has, in its
 * order. */
#include <errno.h>

#include "tests/unit/brief.h"
#include "tests/unit/queue/queue_fixture.h"
#include "tests/unit/queue/queue_suites.h"

enum {
    URIS = 24,
    HOSTS = 4,
    LISTED_HOST = 3, /* its URIs are in a sitemap */
    FETCHES = 400,
    ROUNDS = 10,
    STEPS = 220,
    DEPTHS = 10,
    USUAL_RANK = 48, /* priority_rank of depth 0 beyond the priority */
    NOT_SEEN = -1
};

enum place { AWAY, READY, DELAYED, SCHEDULED };

struct fetch {
    enum place place;
    int uri;
    uint64_t id, generation, rank, due_ms, put_in_round;
    uint16_t depth, attempt;
    uint8_t priority;
    bool leased, moved;
    struct job held;
};

struct known {
    bool exists, fetched, waiting, scheduled, placed;
    uint16_t depth;
    uint64_t generation;
    uint64_t job;
    int revisited; /* depth of the last revisit; NOT_SEEN: none */
};

/* A job of another stage that waits. */
struct passed {
    int uri;
    uint16_t depth;
    uint8_t flags;
    uint64_t generation;
};

struct model {
    struct bench *bench;
    struct known known[URIS];
    struct fetch fetches[FETCHES];
    size_t fetch_count;
    struct passed passed[STAGE_COUNT][FETCHES];
    size_t passed_count[STAGE_COUNT];
    uint64_t next_id, round, seen, done, put;
    uint32_t random;
    int failing;
    bool grace; /* the worker has not yet said what it holds */
};

static uint64_t now_ms;

static uint64_t
model_clock(void)
{
    return now_ms;
}

static uint32_t
pick(struct model *model, uint32_t below)
{
    model->random = model->random * 1664525u + 1013904223u;
    return (model->random >> 8) % below;
}

static int
fail_commit(void *context, enum store_point point)
{
    struct model *model = context;
    return point == STORE_BEFORE_COMMIT && model->failing > 0 && model->failing-- > 0 ? ENOSPC : 0;
}

static const char *
uri_of(int uri)
{
    static char names[URIS][48];
    snprintf(names[uri], sizeof names[uri], "http://h%d.example/%d", uri % HOSTS, uri);
    return names[uri];
}

static struct fetch *
find_fetch(struct model *model, uint64_t id)
{
    for (size_t i = 0; i < model->fetch_count; i++) {
        if (model->fetches[i].id == id && model->fetches[i].place != AWAY) {
            return &model->fetches[i];
        }
    }
    return NULL;
}

static bool
goes_before(const struct fetch *a, const struct fetch *b)
{
    return a->rank < b->rank || (a->rank == b->rank && a->id < b->id);
}

/* ---- the rules ---- */

static void
pass_on_in_model(struct model *model, enum stage stage, int uri, uint16_t depth, uint8_t flags,
                 uint64_t generation)
{
    assert_true(model->passed_count[stage] < FETCHES);
    model->passed[stage][model->passed_count[stage]++] =
        (struct passed){.uri = uri, .depth = depth, .flags = flags, .generation = generation};
    model->next_id++;
}

static void
extract_in_model(struct model *model, int uri, uint16_t depth, uint8_t flags, uint64_t generation)
{
    struct known *known = &model->known[uri];
    if (flags & JOB_REVISIT) {
        known->revisited = depth;
    } else if (known->revisited != NOT_SEEN && known->revisited < depth) {
        depth = (uint16_t)known->revisited;
    }
    pass_on_in_model(model, STAGE_EXTRACT, uri, depth, flags, generation);
}

static void
queue_in_model(struct model *model, int uri, const struct job *job)
{
    struct known *known = &model->known[uri];
    assert_true(model->fetch_count < FETCHES);
    const bool later = job->due_ms > now_ms;
    const uint64_t rank = job->flags & JOB_SITEMAP ? (uint64_t)RANK_SITEMAP + job->priority
                          : job->priority < RANK_USUAL
                              ? job->priority
                              : job->priority + USUAL_RANK + 2 * (uint64_t)known->depth;
    model->fetches[model->fetch_count++] = (struct fetch){
        .place = !later                     ? READY
                 : job->flags & JOB_RECRAWL ? SCHEDULED
                                            : DELAYED,
        .uri = uri,
        .id = model->next_id,
        .generation = known->generation,
        .rank = rank,
        .due_ms = job->due_ms,
        .put_in_round = model->round,
        .depth = known->depth,
        .attempt = 1,
        .priority = job->priority,
    };
    known->placed = rank > RANK_USUAL;
    known->job = model->next_id++;
    model->put++;
}

/* A page that is ready and nobody ever had is not fetched when its slice comes. */
static void
spare_in_model(struct model *model, const struct known *known)
{
    struct fetch *fetch = known->exists && known->waiting && known->placed && !model->grace
                              ? find_fetch(model, known->job)
                              : NULL;
    if (fetch != NULL && fetch->place == READY && !fetch->leased && !fetch->moved &&
        fetch->put_in_round < model->round && fetch->attempt == 1) {
        fetch->place = AWAY;
        model->done++;
    }
}

static void
put_in_model(struct model *model, int uri, const struct job *job)
{
    struct known *known = &model->known[uri];
    const uint16_t depth = job->flags & JOB_SEED ? 0 : job->depth;
    const bool again = job->flags & JOB_RECRAWL;
    const bool later = job->due_ms > now_ms;
    model->seen += !known->exists;
    if (job->flags & JOB_SLICE) {
        spare_in_model(model, known);
        known->depth = known->exists && known->depth < depth ? known->depth : depth;
        known->generation++;
        known->waiting = known->scheduled = false;
        known->exists = known->fetched = true;
        pass_on_in_model(model, STAGE_INDEX, uri, known->depth, 0, known->generation);
        return;
    }
    if (!known->exists) {
        known->exists = known->waiting = true;
        known->scheduled = again && later;
        known->depth = depth;
        known->generation = 1;
        queue_in_model(model, uri, job);
        return;
    }
    const bool nearer = depth < known->depth;
    known->depth = nearer ? depth : known->depth;
    if (again && (!known->waiting || (!later && known->scheduled))) {
        known->generation++;
        known->waiting = true;
        known->scheduled = later;
        queue_in_model(model, uri, job);
    }
    if (nearer && known->fetched) {
        extract_in_model(model, uri, known->depth, JOB_REVISIT, known->generation);
    }
}

static void
begin_round(struct model *model)
{
    model->round++;
    for (size_t i = 0; i < model->fetch_count; i++) {
        struct fetch *fetch = &model->fetches[i];
        const bool due =
            (fetch->place == DELAYED || fetch->place == SCHEDULED) && fetch->due_ms <= now_ms;
        fetch->place = due ? READY : fetch->place;
        fetch->moved = due;
    }
}

/* ---- both have the same ---- */

static void
check_look(struct model *model, int uri)
{
    struct queue_explanation look;
    const struct known *known = &model->known[uri];
    codec_put_slice(bench_payload(model->bench), slice_string(uri_of(uri)));
    const struct answer *answer = bench_submit(model->bench, "test", 1, QUEUE_LOOK, 0);
    assert_int_equal(answer->status, STATUS_OK);
    assert_true(message_get_explanation(buf_slice(&answer->payload), &look));
    assert_int_equal(look.known, known->exists);
    assert_int_equal(look.fetched, known->fetched);
    assert_int_equal(look.waiting, known->waiting);
    assert_int_equal(look.scheduled, known->scheduled);
    assert_int_equal(look.depth, known->depth);
    assert_int_equal(look.generation, known->generation);
    assert_int_equal(look.behind, 0);
    const struct fetch *found = NULL;
    uint64_t ahead = 0;
    for (size_t i = 0; i < model->fetch_count && known->waiting; i++) {
        const struct fetch *fetch = &model->fetches[i];
        if (fetch->place == READY && fetch->uri == uri &&
            (found == NULL || goes_before(fetch, found))) {
            found = fetch;
        }
    }
    assert_int_equal(look.found, found != NULL);
    if (found == NULL) {
        return;
    }
    for (size_t i = 0; i < model->fetch_count; i++) {
        const struct fetch *fetch = &model->fetches[i];
        ahead += fetch->place == READY && fetch->uri % HOSTS == uri % HOSTS && !fetch->leased &&
                 goes_before(fetch, found);
    }
    assert_int_equal(look.ahead, ahead);
    assert_int_equal(look.leased, found->leased);
    assert_int_equal(look.rank, found->rank);
    assert_int_equal(look.priority, found->priority);
}

static void
check(struct model *model)
{
    const struct queue_stats now = stats(model->bench);
    uint64_t ready = 0, leased = 0, delayed = 0, scheduled = 0;
    for (size_t i = 0; i < model->fetch_count; i++) {
        const struct fetch *fetch = &model->fetches[i];
        ready += fetch->place == READY && !fetch->leased;
        leased += fetch->place == READY && fetch->leased;
        delayed += fetch->place == DELAYED;
        scheduled += fetch->place == SCHEDULED;
    }
    const struct queue_stage_stats *of = &now.stages[STAGE_FETCH];
    assert_int_equal(of->ready, ready);
    assert_int_equal(of->leased, leased);
    assert_int_equal(of->delayed, delayed);
    assert_int_equal(of->scheduled, scheduled);
    assert_int_equal(of->put, model->put);
    assert_int_equal(of->done, model->done);
    assert_int_equal(now.seen, model->seen);
    for (int stage = STAGE_DETECT; stage < STAGE_COUNT; stage++) {
        assert_int_equal(now.stages[stage].ready, model->passed_count[stage]);
    }
    check_look(model, (int)pick(model, URIS));
}

/* ---- steps ---- */

static struct job
some_job(struct model *model, int uri)
{
    struct job job = a_job(STAGE_FETCH, uri_of(uri));
    const uint32_t kind = pick(model, 16);
    job.depth = (uint16_t)pick(model, DEPTHS);
    job.priority = pick(model, 4) == 0 ? (uint8_t)(1 + pick(model, 3)) : RANK_USUAL;
    job.flags = kind < 8 ? 0 : kind < 9 ? JOB_SEED : kind < 13 ? JOB_RECRAWL : JOB_SLICE;
    if (uri % HOSTS == LISTED_HOST) {
        job.flags |= JOB_SITEMAP;
    }
    if (kind == 0 || kind == 11 || kind == 12) {
        job.due_ms = now_ms + 1 + pick(model, 2000);
    }
    return job;
}

static void
step_put(struct model *model)
{
    struct job jobs[6];
    int uris[6];
    const size_t n = 1 + pick(model, 6);
    if (model->fetch_count + 2 * n > FETCHES) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uris[i] = (int)pick(model, URIS);
        jobs[i] = some_job(model, uris[i]);
    }
    const int failing = model->failing;
    const enum status status = put_jobs(model->bench, jobs, n);
    /* No commit of a round that changes nothing can fail. */
    assert_int_equal(status, model->failing < failing ? STATUS_FULL : STATUS_OK);
    if (status != STATUS_OK) {
        return;
    }
    begin_round(model);
    for (size_t i = 0; i < n; i++) {
        put_in_model(model, uris[i], &jobs[i]);
    }
}

static void
step_put_extract(struct model *model)
{
    const int uri = (int)pick(model, URIS);
    struct job job = a_job(STAGE_EXTRACT, uri_of(uri));
    job.depth = (uint16_t)pick(model, DEPTHS);
    job.generation = 1 + pick(model, 9);
    model->failing = 0;
    assert_int_equal(put_jobs(model->bench, &job, 1), STATUS_OK);
    begin_round(model);
    extract_in_model(model, uri, job.depth, 0, job.generation);
}

static struct fetch *
first_of_host(struct model *model, int host)
{
    struct fetch *first = NULL;
    for (size_t i = 0; i < model->fetch_count; i++) {
        struct fetch *fetch = &model->fetches[i];
        if (fetch->uri % HOSTS != host || fetch->place != READY) {
            continue;
        }
        if (fetch->leased) {
            return NULL; /* one at a time */
        }
        first = first == NULL || goes_before(fetch, first) ? fetch : first;
    }
    return first;
}

static void
step_reserve(struct model *model)
{
    const size_t most = 1 + pick(model, 5);
    size_t due = 0;
    model->failing = 0;
    const size_t n = reserve(model->bench, "w", 1, STAGE_FETCH, (uint32_t)most);
    begin_round(model);
    for (int host = 0; host < HOSTS; host++) {
        due += first_of_host(model, host) != NULL;
    }
    assert_int_equal(n, due < most ? due : most);
    for (size_t i = 0; i < n; i++) {
        const struct job *job = &model->bench->jobs[i];
        struct fetch *fetch = find_fetch(model, job->key.id);
        assert_non_null(fetch);
        assert_ptr_equal(fetch, first_of_host(model, fetch->uri % HOSTS));
        assert_true(slice_is(job->uri, uri_of(fetch->uri)));
        assert_int_equal(job->key.rank, fetch->rank);
        assert_int_equal(job->generation, fetch->generation);
        assert_int_equal(job->depth, fetch->depth);
        assert_int_equal(job->attempt, fetch->attempt);
        fetch->leased = true;
        fetch->held = *job;
    }
}

static struct fetch *
one_held(struct model *model)
{
    const size_t from = pick(model, FETCHES);
    for (size_t i = 0; i < model->fetch_count; i++) {
        struct fetch *fetch = &model->fetches[(from + i) % model->fetch_count];
        if (fetch->place == READY && fetch->leased) {
            return fetch;
        }
    }
    return NULL;
}

static void
end_in_model(struct model *model, struct fetch *fetch, const struct completion *completion,
             const int *uris)
{
    struct known *known = &model->known[fetch->uri];
    fetch->leased = false;
    if (completion->verdict == VERDICT_RELEASE) {
        fetch->attempt += !completion->no_attempt;
        if (fetch->attempt > 1 && fetch->rank >= RANK_USUAL) { /* behind what was not tried */
            fetch->rank = fetch->rank >= RANK_SITEMAP ? RANK_SITEMAP + 255 : 255;
        }
        fetch->due_ms = completion->delay_ms > 0 ? now_ms + completion->delay_ms : 0;
        fetch->place = completion->delay_ms > 0 ? DELAYED : READY;
        return;
    }
    const int lift = known->depth < fetch->depth ? fetch->depth - known->depth : 0;
    known->fetched = true;
    if (known->generation == fetch->generation) {
        known->waiting = known->scheduled = false;
    }
    for (size_t i = 0; i < completion->output_count; i++) {
        struct job job = completion->outputs[i];
        const int depth = job.flags & JOB_SEED || job.depth < lift ? 0 : job.depth - lift;
        job.depth = (uint16_t)depth;
        if (job.key.stage == STAGE_FETCH) {
            put_in_model(model, uris[i], &job);
        } else {
            pass_on_in_model(model, (enum stage)job.key.stage, uris[i], job.depth, 0,
                             job.generation);
        }
    }
    fetch->place = AWAY;
    model->done++;
}

/* Fetch hands its document on, and puts what it redirects to. */
static void
step_complete(struct model *model)
{
    struct job outputs[3];
    int uris[3];
    struct fetch *fetch = one_held(model);
    if (fetch == NULL || model->fetch_count + 6 > FETCHES) {
        return;
    }
    struct completion completion = {.key = fetch->held.key};
    if (pick(model, 4) == 0) {
        completion.verdict = VERDICT_RELEASE;
        completion.reason = SLICE("it failed");
        completion.no_attempt = pick(model, 2) > 0;
        completion.delay_ms = pick(model, 2) * 500;
    } else {
        completion.outputs = outputs;
        completion.output_count = 1 + pick(model, 3);
        uris[0] = fetch->uri;
        outputs[0] = a_job(STAGE_DETECT, uri_of(fetch->uri));
        outputs[0].depth = fetch->depth;
        outputs[0].generation = fetch->generation;
        for (size_t i = 1; i < completion.output_count; i++) {
            uris[i] = (int)pick(model, URIS);
            outputs[i] = some_job(model, uris[i]);
            outputs[i].flags &= (uint8_t)~JOB_SEED;
        }
    }
    const bool fails = model->failing > 0;
    submit_complete(model->bench, "w", 1, &completion, fetch->held.attempt);
    bench_work(model->bench);
    assert_int_equal(model->bench->answers[model->bench->tokens - 1].status,
                     fails ? STATUS_CANCELLED : STATUS_OK);
    if (!fails) {
        begin_round(model);
        end_in_model(model, fetch, &completion, uris);
    }
}

/* All that waits for a later stage goes out, in order, and ends. */
static void
step_drain(struct model *model)
{
    const enum stage stage = (enum stage)(STAGE_DETECT + pick(model, STAGE_COUNT - 1));
    struct passed *expected = model->passed[stage];
    const size_t n = model->passed_count[stage];
    model->failing = 0;
    assert_int_equal(reserve(model->bench, "w", 1, stage, JOBS_MOST), n);
    begin_round(model);
    for (size_t i = 0; i < n; i++) {
        const struct job job = model->bench->jobs[i];
        assert_true(slice_is(job.uri, uri_of(expected[i].uri)));
        assert_int_equal(job.depth, expected[i].depth);
        assert_int_equal(job.flags, expected[i].flags);
        assert_int_equal(job.generation, expected[i].generation);
    }
    struct buf *payload = bench_payload(model->bench);
    codec_put_varint(payload, n);
    for (size_t i = 0; i < n; i++) {
        const struct completion completion = {.key = model->bench->jobs[i].key};
        message_put_completion(payload, &completion, 1);
    }
    (void)bench_submit(model->bench, "w", 1, QUEUE_COMPLETE, 0);
    bench_work(model->bench);
    begin_round(model);
    model->passed_count[stage] = 0;
}

static void
step_restart(struct model *model)
{
    struct job held[FETCHES];
    size_t n = 0;
    model->failing = 0;
    for (size_t i = 0; i < model->fetch_count; i++) {
        if (model->fetches[i].place == READY && model->fetches[i].leased) {
            held[n++] = model->fetches[i].held;
        }
    }
    bench_close(model->bench);
    bench_open(model->bench);
    model->grace = true;
    if (pick(model, 2) > 0) { /* what comes before all workers have spoken */
        step_put(model);
    }
    model->grace = false;
    touch(model->bench, "w", 1, held, n);
    begin_round(model);
}

static void
step_time(struct model *model)
{
    now_ms += pick(model, 900);
}

static void
step_fail(struct model *model)
{
    model->failing = 1;
    if (pick(model, 2) > 0) {
        step_put(model);
    } else {
        step_complete(model);
    }
    if (model->failing == 0) { /* it struck: the broker pauses for a second, or until a restart */
        step_restart(model);
    }
    model->failing = 0;
}

typedef void model_step(struct model *model);

static void
test_fetch_beside_model(void **state)
{
    static model_step *const steps[] = {
        step_put,      step_put,      step_put,  step_put_extract, step_reserve, step_reserve,
        step_complete, step_complete, step_time, step_drain,       step_restart, step_fail,
    };
    (void)state;
    for (uint32_t seed = 1; seed <= (uint32_t)brief(ROUNDS, 2); seed++) {
        struct model *model = memory_new(sizeof *model);
        now_ms = 1000000000;
        model->random = seed;
        model->next_id = 1;
        for (int i = 0; i < URIS; i++) {
            model->known[i].revisited = NOT_SEEN;
        }
        model->bench = bench_new(NULL, NULL);
        bench_close(model->bench);
        model->bench->options.clock = model_clock;
        model->bench->options.attempts = STEPS;
        model->bench->options.seen_cache_bytes = 1024; /* fewer than URIs */
        model->bench->options.store.fault = fail_commit;
        model->bench->options.store.fault_context = model;
        bench_open(model->bench);
        touch(model->bench, "w", 1, NULL, 0);
        for (int i = 0; i < STEPS; i++) {
            steps[pick(model, sizeof steps / sizeof steps[0])](model);
            check(model);
        }
        bench_free(model->bench);
        free(model);
    }
}

int
queue_fetch_model_run(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fetch_beside_model)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
