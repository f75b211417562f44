/* The broker beside a model of its rules: the same random steps are done to both, with commits that
 * fail and restarts in between, and after each step the broker must hand out, count and show
 * exactly what the model has. The wall clock is the test's own, so that delays need no waiting. */
#include "tests/unit/queue/queue_suites.h"

#include <errno.h>

#include "tests/unit/brief.h"
#include "tests/unit/queue/queue_fixture.h"

enum {
    JOBS = 160,
    WORKERS = 3,
    HOSTS = 7,
    ROUNDS = 12,
    STEPS = 160,
    ATTEMPTS = 3,
    DEATH_REST_MS = 1000, /* a host whose fetcher died rests so long */
    PARTITIONS_OF_INDEX = 2
};

enum place { AWAY, READY, DELAYED, BURIED };

struct model_job {
    enum place place;
    enum stage stage;
    uint64_t id, due_ms, queued_ms, lane, rank;
    int worker; /* -1: nobody has it */
    uint16_t attempt, deaths;
    char uri[64], reason[64];
    struct job held; /* as it was handed out; its slices are not used */
};

struct model_counts {
    uint64_t put, done, released, dead;
};

struct model {
    struct bench *bench;
    struct model_job jobs[JOBS];
    size_t count;
    uint64_t incarnations[WORKERS], next_id;
    uint64_t host_due_ms[HOSTS], stored_due_ms[HOSTS]; /* a death's rest is not stored */
    struct model_counts counts[STAGE_COUNT];
    uint32_t random;
    int failing; /* commits to come that fail */
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
worker_name(int worker)
{
    static const char *const names[WORKERS] = {"w0", "w1", "w2"};
    return names[worker];
}

/* ---- what the model knows ---- */

static int
host_of(const struct model_job *job)
{
    return atoi(strstr(job->uri, "://h") + 4);
}

static bool
lane_is_busy(const struct model *model, int host)
{
    for (size_t i = 0; i < model->count; i++) {
        const struct model_job *job = &model->jobs[i];
        if (job->place == READY && job->stage == STAGE_FETCH && job->worker >= 0 &&
            host_of(job) == host) {
            return true;
        }
    }
    return false;
}

static struct model_job *
model_find(struct model *model, uint64_t id)
{
    for (size_t i = 0; i < model->count; i++) {
        if (model->jobs[i].id == id && model->jobs[i].place != AWAY) {
            return &model->jobs[i];
        }
    }
    return NULL;
}

/* The ready job of a lane that goes out next. */
static struct model_job *
first_ready(struct model *model, enum stage stage, uint64_t lane)
{
    struct model_job *first = NULL;
    for (size_t i = 0; i < model->count; i++) {
        struct model_job *job = &model->jobs[i];
        if (job->place == READY && job->stage == stage && job->lane == lane && job->worker < 0 &&
            (first == NULL || job->rank < first->rank ||
             (job->rank == first->rank && job->id < first->id))) {
            first = job;
        }
    }
    return first;
}

static uint32_t
held_by(const struct model *model, int worker)
{
    uint32_t held = 0;
    for (size_t i = 0; i < model->count; i++) {
        held += model->jobs[i].place == READY && model->jobs[i].worker == worker;
    }
    return held;
}

/* What is due goes from delayed to ready at the round that sees it. */
static void
model_move_due(struct model *model)
{
    for (size_t i = 0; i < model->count; i++) {
        struct model_job *job = &model->jobs[i];
        if (job->place == DELAYED && job->due_ms <= now_ms) {
            job->place = READY;
        }
    }
}

static struct queue_stats
checked_stats(struct model *model)
{
    const struct queue_stats now = stats(model->bench);
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        uint64_t ready = 0, leased = 0, delayed = 0, buried = 0, oldest = 0;
        const struct model_job *first = NULL;
        for (size_t i = 0; i < model->count; i++) {
            const struct model_job *job = &model->jobs[i];
            if (job->stage != (enum stage)stage) {
                continue;
            }
            ready += job->place == READY && job->worker < 0;
            leased += job->place == READY && job->worker >= 0;
            delayed += job->place == DELAYED;
            buried += job->place == BURIED;
            if (job->place == READY && job->worker < 0 &&
                (first == NULL || job->lane < first->lane ||
                 (job->lane == first->lane && job->id < first->id))) {
                first = job;
            }
        }
        const struct queue_stage_stats *of = &now.stages[stage];
        assert_int_equal(of->ready, ready);
        assert_int_equal(of->leased, leased);
        assert_int_equal(of->delayed, delayed);
        assert_int_equal(of->scheduled, 0);
        assert_int_equal(of->buried, buried);
        assert_int_equal(of->outbox, 0);
        assert_int_equal(of->put, model->counts[stage].put);
        assert_int_equal(of->done, model->counts[stage].done);
        assert_int_equal(of->released, model->counts[stage].released);
        assert_int_equal(of->dead, model->counts[stage].dead);
        if (first != NULL && stage != STAGE_FETCH) {
            const uint64_t since =
                first->queued_ms > first->due_ms ? first->queued_ms : first->due_ms;
            oldest = since < now_ms ? now_ms - since : 0;
            assert_int_equal(of->oldest_ms, oldest);
        }
    }
    return now;
}

/* The daemon wakes in time for what is delayed. */
static void
check_wait(const struct model *model)
{
    const uint64_t wait = broker_wait_ms(model->bench->broker);
    for (size_t i = 0; i < model->count; i++) {
        const struct model_job *job = &model->jobs[i];
        if (job->place == DELAYED) {
            assert_true(wait <= (job->due_ms > now_ms ? job->due_ms - now_ms : 0));
        }
    }
}

/* ---- what people see ---- */

static size_t
count_shown(struct model *model, enum stage stage, const char *which, enum place place, int leased)
{
    struct buf *payload = bench_payload(model->bench);
    codec_put_u8(payload, (uint8_t)stage);
    codec_put_slice(payload, slice_string(which));
    codec_put_varint(payload, 1000);
    const struct answer *answer = bench_submit(model->bench, "test", 1, QUEUE_PEEK, 0);
    assert_int_equal(answer->status, STATUS_OK);
    struct codec_reader reader = codec_reader_of(buf_slice(&answer->payload));
    const uint32_t n = codec_get_u32(&reader);
    for (uint32_t i = 0; i < n; i++) {
        struct job job;
        assert_true(job_key_decode(&reader, &job.key));
        assert_true(job_decode(&reader, &job));
        const struct slice reason = codec_get_slice(&reader);
        (void)codec_get_slice(&reader);
        const struct model_job *known = model_find(model, job.key.id);
        assert_non_null(known);
        assert_int_equal(known->place, place);
        assert_int_equal(known->stage, stage);
        assert_true(leased < 0 || (known->worker >= 0) == leased);
        assert_true(slice_is(job.uri, known->uri));
        assert_int_equal(job.attempt, known->attempt);
        assert_int_equal(job.deaths, known->deaths);
        assert_int_equal(job.due_ms, known->due_ms);
        assert_int_equal(job.queued_ms, known->queued_ms);
        assert_true(place != BURIED || slice_is(reason, known->reason));
    }
    assert_true(codec_at_end(&reader));
    return n;
}

static void
check_views(struct model *model)
{
    const struct queue_stats now = checked_stats(model);
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        const struct queue_stage_stats *of = &now.stages[stage];
        assert_int_equal(count_shown(model, (enum stage)stage, "ready", READY, 0), of->ready);
        assert_int_equal(count_shown(model, (enum stage)stage, "jobs", READY, -1),
                         of->ready + of->leased);
        assert_int_equal(count_shown(model, (enum stage)stage, "delayed", DELAYED, -1),
                         of->delayed);
        assert_int_equal(count_shown(model, (enum stage)stage, "buried", BURIED, -1), of->buried);
        assert_int_equal(count_shown(model, (enum stage)stage, "outbox", AWAY, -1), 0);
    }
}

/* ---- steps ---- */

static struct model_job *
model_add(struct model *model, enum stage stage, const char *uri, uint8_t priority)
{
    struct model_job *job = &model->jobs[model->count++];
    *job = (struct model_job){.place = READY,
                              .stage = stage,
                              .id = model->next_id++,
                              .queued_ms = now_ms,
                              .worker = -1,
                              .attempt = 1};
    snprintf(job->uri, sizeof job->uri, "%s", uri);
    if (stage == STAGE_FETCH) {
        job->lane = fingerprint64(url_origin(slice_string(job->uri)));
        job->rank = priority;
    } else if (stage == STAGE_INDEX) {
        job->lane = (uint64_t)partition_of(slice_string(uri)) * PARTITIONS_OF_INDEX / PARTITIONS;
    }
    model->counts[stage].put++;
    return job;
}

static void
step_put(struct model *model)
{
    struct job jobs[5];
    char uris[5][64];
    const size_t n = 1 + pick(model, 5);
    if (model->count + 2 * n > JOBS) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const enum stage stage = (enum stage)pick(model, STAGE_COUNT);
        snprintf(uris[i], sizeof uris[i], "http://h%u.example/%zu", pick(model, HOSTS),
                 (size_t)model->next_id + i);
        jobs[i] = a_job(stage, uris[i]);
        jobs[i].priority =
            (uint8_t)(1 + pick(model, 3)); /* more urgent than usual: the rank itself */
    }
    const bool fails = model->failing > 0;
    const enum status status = put_jobs(model->bench, jobs, n);
    assert_int_equal(status, fails ? STATUS_FULL : STATUS_OK);
    if (status == STATUS_OK) {
        model_move_due(model);
        for (size_t i = 0; i < n; i++) {
            (void)model_add(model, (enum stage)jobs[i].key.stage, uris[i], jobs[i].priority);
        }
    }
}

/* Takes what the model says goes out, in any order of lanes. */
static void
take_answer(struct model *model, int worker, size_t n, bool one_each)
{
    for (size_t i = 0; i < n; i++) {
        const struct job *given = &model->bench->jobs[i];
        struct model_job *job = model_find(model, given->key.id);
        assert_non_null(job);
        assert_ptr_equal(first_ready(model, job->stage, job->lane), job);
        if (one_each) {
            assert_false(lane_is_busy(model, host_of(job)));
            assert_true(model->host_due_ms[host_of(job)] <= now_ms);
        }
        assert_true(slice_is(given->uri, job->uri));
        assert_int_equal(given->attempt, job->attempt);
        assert_int_equal(given->deaths, job->deaths);
        assert_int_equal(given->key.stage, job->stage);
        job->held = *given;
        job->worker = worker;
    }
}

static size_t
expected_of_sequence(struct model *model, int worker, enum stage stage, uint64_t lane, size_t most)
{
    uint32_t company = UINT32_MAX, held = held_by(model, worker);
    size_t n = 0;
    static const uint32_t companies[] = {UINT32_MAX, 16, 4, 1};
    bool taken[JOBS] = {false};
    for (size_t i = 0; i < model->count; i++) {
        const struct model_job *job = &model->jobs[i];
        if (job->place == READY && job->worker == worker) {
            const uint32_t allowed = companies[job->deaths < 3 ? job->deaths : 3];
            company = allowed < company ? allowed : company;
        }
    }
    while (n < most) {
        struct model_job *next = NULL;
        for (size_t i = 0; i < model->count; i++) {
            struct model_job *job = &model->jobs[i];
            if (job->place == READY && job->stage == stage && job->lane == lane &&
                job->worker < 0 && !taken[i] && (next == NULL || job->id < next->id)) {
                next = job;
            }
        }
        if (next == NULL) {
            break;
        }
        const uint32_t allowed = companies[next->deaths < 3 ? next->deaths : 3];
        if (held >= company || held >= allowed) {
            break;
        }
        company = allowed < company ? allowed : company;
        taken[next - model->jobs] = true;
        held++;
        n++;
    }
    return n;
}

static void
step_reserve(struct model *model)
{
    const int worker = (int)pick(model, WORKERS);
    const enum stage stage = (enum stage)pick(model, STAGE_COUNT);
    const uint64_t lane = stage == STAGE_INDEX ? pick(model, PARTITIONS_OF_INDEX) : 0;
    const size_t most = 1 + pick(model, 8);
    struct buf *payload = bench_payload(model->bench);
    codec_put_u8(payload, (uint8_t)stage);
    codec_put_u64(payload, lane);
    codec_put_varint(payload, most);
    codec_put_varint(payload, 0);
    codec_put_u64(payload, 0);
    model->failing = 0;
    const struct answer *answer = bench_submit(model->bench, worker_name(worker),
                                               model->incarnations[worker], QUEUE_RESERVE, 0);
    bench_work(model->bench);
    model_move_due(model);
    read_answer(model->bench, answer);
    const size_t n = model->bench->job_count;
    if (stage != STAGE_FETCH) {
        assert_int_equal(n, expected_of_sequence(model, worker, stage, lane, most));
        take_answer(model, worker, n, false);
        return;
    }
    size_t due = 0;
    uint16_t deaths = 0;
    for (int host = 0; host < HOSTS; host++) {
        char origin[32];
        snprintf(origin, sizeof origin, "http://h%d.example", host);
        const struct model_job *first =
            first_ready(model, STAGE_FETCH, fingerprint64(slice_string(origin)));
        due += first != NULL && !lane_is_busy(model, host) && model->host_due_ms[host] <= now_ms;
        deaths = first != NULL && first->deaths > deaths ? first->deaths : deaths;
    }
    for (size_t i = 0; i < model->count; i++) {
        deaths = model->jobs[i].worker == worker && model->jobs[i].deaths > deaths
                     ? model->jobs[i].deaths
                     : deaths;
    }
    take_answer(model, worker, n, true);
    assert_true(n <= most);
    if (deaths == 0) { /* suspects may have no company, so it depends on the order of lanes */
        assert_int_equal(n, due < most ? due : most);
    }
}

static struct model_job *
one_held(struct model *model, int *worker)
{
    const size_t from = model->count > 0 ? pick(model, (uint32_t)model->count) : 0;
    for (size_t i = 0; i < model->count; i++) {
        struct model_job *job = &model->jobs[(from + i) % model->count];
        if (job->place == READY && job->worker >= 0) {
            *worker = job->worker;
            return job;
        }
    }
    return NULL;
}

static void
bury_in_model(struct model_job *job, const char *reason)
{
    job->place = BURIED;
    snprintf(job->reason, sizeof job->reason, "%s", reason);
}

static void
end_in_model(struct model *model, struct model_job *job, const struct completion *completion)
{
    const enum stage stage = job->stage;
    struct host_report told;
    assert_true(host_report_decode(completion->report, &told));
    job->worker = -1;
    if (stage == STAGE_FETCH) {
        const int host = host_of(job);
        model->host_due_ms[host] = model->stored_due_ms[host] = now_ms + told.rest_ms;
    }
    switch (completion->verdict) {
    case VERDICT_DONE:
        job->place = AWAY;
        model->counts[stage].done++;
        if (completion->output_count > 0) {
            (void)model_add(model, stage + 1, job->uri, 0);
        }
        return;
    case VERDICT_RELEASE:
        model->counts[stage].released++;
        job->attempt += !completion->no_attempt;
        job->due_ms = completion->delay_ms > 0 ? now_ms + completion->delay_ms : 0;
        if (job->attempt > ATTEMPTS) {
            bury_in_model(job, "it failed");
        } else if (completion->delay_ms > 0) {
            job->place = DELAYED;
        }
        return;
    default:
        bury_in_model(job, "it is bad");
    }
}

static void
step_complete(struct model *model)
{
    int worker;
    struct model_job *job = one_held(model, &worker);
    if (job == NULL || model->count == JOBS) {
        return;
    }
    static const enum verdict verdicts[] = {VERDICT_DONE, VERDICT_DONE, VERDICT_RELEASE,
                                            VERDICT_RELEASE, VERDICT_BURY};
    struct job output = a_job(job->stage + 1, job->uri);
    struct completion completion = {.key = job->held.key, .verdict = verdicts[pick(model, 5)]};
    output.priority = 1;
    if (completion.verdict == VERDICT_DONE && job->stage != STAGE_EXTRACT && pick(model, 2) > 0) {
        completion.outputs = &output;
        completion.output_count = 1;
    } else if (completion.verdict == VERDICT_RELEASE) {
        completion.reason = SLICE("it failed");
        completion.no_attempt = pick(model, 2) > 0;
        completion.delay_ms = pick(model, 3) * 400;
    } else if (completion.verdict == VERDICT_BURY) {
        completion.reason = SLICE("it is bad");
    }
    completion.report = REPORT(.rest_ms = job->stage == STAGE_FETCH ? pick(model, 3) * 700 : 0);
    const bool fails = model->failing > 0;
    submit_complete(model->bench, worker_name(worker), model->incarnations[worker], &completion,
                    job->held.attempt);
    bench_work(model->bench);
    const struct answer *answer = &model->bench->answers[model->bench->tokens - 1];
    assert_int_equal(answer->status, fails ? STATUS_CANCELLED : STATUS_OK);
    if (fails) {
        return;
    }
    model_move_due(model);
    end_in_model(model, job, &completion);
    /* An answer that was lost is asked for again. The attempt tells a repetition from the first. */
    if (!completion.no_attempt && pick(model, 4) == 0) {
        checked_stats(model);
        submit_complete(model->bench, worker_name(worker), model->incarnations[worker], &completion,
                        job->held.attempt);
        bench_work(model->bench);
        model_move_due(model);
    }
}

/* A worker dies: its next incarnation speaks, and gets nothing. */
static void
step_die(struct model *model)
{
    const int worker = (int)pick(model, WORKERS);
    const uint32_t held = held_by(model, worker);
    model->failing = 0;
    model->incarnations[worker]++;
    touch(model->bench, worker_name(worker), model->incarnations[worker], NULL, 0);
    model_move_due(model);
    for (size_t i = 0; i < model->count; i++) {
        struct model_job *job = &model->jobs[i];
        if (job->place != READY || job->worker != worker) {
            continue;
        }
        job->worker = -1;
        job->deaths++;
        job->attempt += held == 1;
        model->counts[job->stage].dead++;
        if (job->stage == STAGE_FETCH) {
            model->host_due_ms[host_of(job)] = now_ms + DEATH_REST_MS;
        }
        if (job->attempt > ATTEMPTS) {
            char reason[64];
            snprintf(reason, sizeof reason, "worker died or stalled %u times",
                     (unsigned)job->deaths);
            bury_in_model(job, reason);
        }
    }
}

static void
step_kick(struct model *model)
{
    const enum stage stage = (enum stage)pick(model, STAGE_COUNT);
    const struct model_job *chosen = NULL;
    uint64_t expected = 0;
    for (size_t i = 0; i < model->count && pick(model, 3) > 0; i++) {
        chosen = model->jobs[i].place == BURIED && model->jobs[i].stage == stage ? &model->jobs[i]
                                                                                 : chosen;
    }
    struct buf *payload = bench_payload(model->bench);
    codec_put_u8(payload, (uint8_t)stage);
    codec_put_slice(payload, slice_string(chosen != NULL ? chosen->uri : ""));
    model->failing = 0;
    const struct answer *answer = bench_submit(model->bench, "test", 1, QUEUE_KICK, 0);
    bench_work(model->bench);
    model_move_due(model);
    for (size_t i = 0; i < model->count; i++) {
        struct model_job *job = &model->jobs[i];
        if (job->place == BURIED && job->stage == stage &&
            (chosen == NULL || strcmp(job->uri, chosen->uri) == 0)) {
            job->place = READY;
            job->attempt = 1;
            job->due_ms = 0;
            job->queued_ms = now_ms;
            expected++;
        }
    }
    struct codec_reader reader = codec_reader_of(buf_slice(&answer->payload));
    assert_int_equal(codec_get_varint(&reader), expected);
}

/* Workers say what they hold, and hold it then. */
static void
step_restart(struct model *model)
{
    model->failing = 0;
    bench_close(model->bench);
    bench_open(model->bench);
    memcpy(model->host_due_ms, model->stored_due_ms, sizeof model->host_due_ms);
    for (int worker = 0; worker < WORKERS; worker++) {
        struct job held[JOBS];
        size_t n = 0;
        for (size_t i = 0; i < model->count; i++) {
            if (model->jobs[i].place == READY && model->jobs[i].worker == worker) {
                held[n++] = model->jobs[i].held;
            }
        }
        touch(model->bench, worker_name(worker), model->incarnations[worker], held, n);
    }
    model_move_due(model);
}

static void
step_time(struct model *model)
{
    now_ms += pick(model, 1500);
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
    if (model->failing == 0) { /* it struck: the broker pauses until a restart, or for a second */
        step_restart(model);
    }
    model->failing = 0;
}

typedef void model_step(struct model *model);

static void
test_broker_beside_model(void **state)
{
    static model_step *const steps[] = {
        step_put,     step_put,      step_put,      step_reserve,  step_reserve,  step_reserve,
        step_reserve, step_complete, step_complete, step_complete, step_complete, step_complete,
        step_time,    step_time,     step_kick,     step_die,      step_restart,  step_fail,
    };
    (void)state;
    for (uint32_t seed = 1; seed <= (uint32_t)brief(ROUNDS, 2); seed++) {
        struct model *model = memory_new(sizeof *model);
        now_ms = 1000000000;
        model->random = seed;
        model->next_id = 1;
        model->bench = bench_new(NULL, NULL);
        bench_close(model->bench);
        model->bench->options.clock = model_clock;
        model->bench->options.index_partitions = PARTITIONS_OF_INDEX;
        model->bench->options.attempts = ATTEMPTS;
        model->bench->options.store.fault = fail_commit;
        model->bench->options.store.fault_context = model;
        bench_open(model->bench);
        for (int i = 0; i < WORKERS; i++) {
            model->incarnations[i] = 1;
            touch(model->bench, worker_name(i), 1, NULL, 0);
        }
        for (int i = 0; i < STEPS; i++) {
            steps[pick(model, sizeof steps / sizeof steps[0])](model);
            checked_stats(model);
            check_wait(model);
            if (i % 16 == 0) {
                check_views(model);
            }
        }
        bench_free(model->bench);
        free(model);
    }
}

/* ---- how much a round takes ---- */

static void
count_answer(void *context, void *token, enum status status, struct slice payload,
             const struct reason *why)
{
    size_t *answers = context;
    (void)token;
    (void)payload;
    (void)why;
    *answers += status == STATUS_OK || status == STATUS_CANCELLED;
}

/* Submits the payload until the round is full; returns how often. */
static size_t
fill_round(const struct broker_options *options, uint8_t verb, struct slice payload)
{
    struct reason why = {""};
    struct broker *broker;
    size_t answers = 0, n = 0;
    assert_int_equal(broker_open(&broker, options, count_answer, &answers, &why), STATUS_OK);
    while (broker_has_room(broker)) {
        const struct broker_request request = {
            .verb = verb, .id = ++n, .incarnation = 1, .client = SLICE("w"), .payload = payload};
        broker_submit(broker, &request);
        assert_int_equal(answers, 0);
    }
    broker_close(broker);
    assert_int_equal(answers, n);
    return n;
}

static void
test_round_is_bounded(void **state)
{
    enum { LONG = 8000, MANY = 1000 };
    struct bench *bench = bench_new(NULL, NULL);
    struct buf payload;
    char uri[LONG + 1];
    const struct job_key nothing = {.stage = STAGE_DETECT, .id = 99};
    const struct completion ending = {.key = nothing};
    (void)state;
    bench_close(bench);
    buf_init(&payload, 16 << 20);
    codec_put_u8(&payload, 0);
    codec_put_varint(&payload, 0);
    assert_int_equal(fill_round(&bench->options, QUEUE_TOUCH, buf_slice(&payload)), 4096);

    memset(uri, 'u', LONG);
    memcpy(uri, "http://h.example/", 17);
    uri[LONG] = '\0';
    const struct job long_job = a_job(STAGE_DETECT, uri);
    buf_reset(&payload);
    codec_put_varint(&payload, MANY);
    for (int i = 0; i < MANY; i++) {
        message_put_new(&payload, &long_job);
    }
    assert_int_equal(fill_round(&bench->options, QUEUE_PUT, buf_slice(&payload)),
                     ((16 << 20) + payload.length - 1) / payload.length);

    const struct job short_job = a_job(STAGE_DETECT, "http://h.example/");
    buf_reset(&payload);
    codec_put_varint(&payload, MANY);
    for (int i = 0; i < MANY; i++) {
        message_put_new(&payload, &short_job);
    }
    assert_int_equal(fill_round(&bench->options, QUEUE_PUT, buf_slice(&payload)), 50);

    buf_reset(&payload);
    codec_put_varint(&payload, MANY);
    for (int i = 0; i < MANY; i++) {
        message_put_completion(&payload, &ending, 1);
    }
    assert_int_equal(fill_round(&bench->options, QUEUE_COMPLETE, buf_slice(&payload)), 50);
    buf_release(&payload);
    bench_free(bench);
}

int
queue_model_run(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_broker_beside_model),
                                       cmocka_unit_test(test_round_is_bounded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
