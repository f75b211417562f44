/* A broker in a temporary folder, spoken to by messages and without sockets: shared by the queue
 * tests. One request is one round unless said otherwise. */
#ifndef TESTS_UNIT_QUEUE_QUEUE_FIXTURE_H
#define TESTS_UNIT_QUEUE_QUEUE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/url/url.h"
#include "queue/broker/broker.h"
#include "queue/client/message.h"
#include "queue/politeness/host_report.h"
#include "queue/storage/frontier_engine.h"
#include "tests/unit/scratch.h"

enum { ANSWERS_MOST = 64, JOBS_MOST = 4096, INCARNATION = 7 };

struct answer {
    bool given;
    enum status status;
    char why[REASON_SIZE];
    struct buf payload;
};

struct bench {
    char folder[SCRATCH_SIZE];
    struct cluster *cluster;
    struct broker_options options;
    struct broker *broker;
    struct answer answers[ANSWERS_MOST]; /* by token */
    size_t tokens;
    struct buf payloads[ANSWERS_MOST]; /* requests live until they are answered */
    uint64_t last_id;
    uint64_t scope;             /* as the latest reserve was told */
    struct job jobs[JOBS_MOST]; /* of the latest reserve; bytes live in its answer */
    size_t job_count;
};

static void
bench_answer(void *context, void *token, enum status status, struct slice payload,
             const struct reason *why)
{
    struct bench *bench = context;
    struct answer *answer = &bench->answers[(uintptr_t)token - 1];
    assert_false(answer->given);
    answer->given = true;
    answer->status = status;
    snprintf(answer->why, sizeof answer->why, "%s", why != NULL ? why->text : "");
    buf_append_slice(&answer->payload, payload);
}

static inline void
bench_open(struct bench *bench)
{
    struct reason why = {""};
    const enum status status =
        broker_open(&bench->broker, &bench->options, bench_answer, bench, &why);
    if (status != STATUS_OK) {
        fail_msg("%s: %s", status_name(status), why.text);
    }
    broker_serve_as(bench->broker, INCARNATION);
}

static inline void
bench_forget(struct bench *bench)
{
    for (size_t i = 0; i < ANSWERS_MOST; i++) {
        buf_release(&bench->answers[i].payload);
        buf_release(&bench->payloads[i]);
        buf_init(&bench->answers[i].payload, 64 << 20);
        buf_init(&bench->payloads[i], 64 << 20);
        bench->answers[i].given = false;
    }
    bench->tokens = 0;
}

/* cluster: text of a cluster.conf; NULL for one node. */
static inline struct bench *
bench_new(const char *cluster, const char *self)
{
    struct reason why = {""};
    struct bench *bench = memory_new(sizeof *bench);
    assert_true(scratch_folder(bench->folder, "test_queue"));
    if (cluster_parse(&bench->cluster, slice_string(cluster != NULL ? cluster : "node local"), self,
                      "/", &why) != STATUS_OK) {
        fail_msg("%s", why.text);
    }
    bench->options = (struct broker_options){
        .directory = "/data",
        .store = {.folder = bench->folder,
                  .cache_bytes = 8 << 20,
                  .checkpoint_bytes = 16 << 20,
                  .checkpoint_ms = 60000,
                  .sync = false,
                  .lock_wait_ms = 1000,
                  .recent_bytes = 10000},
        .cluster = bench->cluster,
        .index_partitions = 1,
        .lease_ms = 60000,
        .grace_ms = 60000,
        .attempts = 3,
        .high_water = 100000,
        .group_parallel = 0,
        .seen_cache_bytes = 64 << 10,
        .upcoming_bytes = 4096,
    };
    bench_forget(bench);
    bench_open(bench);
    return bench;
}

static inline void
bench_close(struct bench *bench)
{
    broker_close(bench->broker);
    bench->broker = NULL;
}

/* The daemon ends and begins anew. */
static inline void
bench_restart(struct bench *bench)
{
    bench_close(bench);
    bench_open(bench);
}

static inline void
bench_free(struct bench *bench)
{
    char command[128];
    if (bench->broker != NULL) {
        bench_close(bench);
    }
    cluster_close(bench->cluster);
    for (size_t i = 0; i < ANSWERS_MOST; i++) {
        buf_release(&bench->answers[i].payload);
        buf_release(&bench->payloads[i]);
    }
    snprintf(command, sizeof command, "rm -rf %s", bench->folder);
    assert_int_equal(system(command), 0);
    free(bench);
}

/* Serves cases with a broker of their own, in *state. */
static inline int
bench_set_up(void **state)
{
    *state = bench_new(NULL, NULL);
    return 0;
}

static inline int
bench_tear_down(void **state)
{
    bench_free(*state);
    return 0;
}

#define BENCH_CASE(name) cmocka_unit_test_setup_teardown(name, bench_set_up, bench_tear_down)

static inline void
bench_work(struct bench *bench)
{
    struct reason why = {""};
    const enum status status = broker_work(bench->broker, &why);
    if (status != STATUS_OK) {
        fail_msg("%s: %s", status_name(status), why.text);
    }
}

/* The payload of the next request: fill it, then bench_submit. */
static inline struct buf *
bench_payload(struct bench *bench)
{
    if (bench->tokens == ANSWERS_MOST) {
        bench_forget(bench);
    }
    return &bench->payloads[bench->tokens];
}

/* The answer's place. id 0: a new one. */
static inline struct answer *
bench_submit(struct bench *bench, const char *worker, uint64_t incarnation, uint8_t verb,
             uint64_t id)
{
    const size_t token = bench->tokens++;
    const struct broker_request request = {
        .verb = verb,
        .id = id != 0 ? id : ++bench->last_id,
        .incarnation = incarnation,
        .client = slice_string(worker),
        .payload = buf_slice(&bench->payloads[token]),
        .token = (void *)(token + 1),
    };
    broker_submit(bench->broker, &request);
    return &bench->answers[token];
}

/* ---- requests ---- */

/* The bytes of what a job tells of its host. They live until some others were made. */
static inline struct slice
report_of(const struct host_report *report)
{
    static char bytes[4][HOST_CAUSE_MAXIMUM];
    static unsigned at;
    struct buf made;
    buf_init(&made, sizeof bytes[0]);
    host_report_encode(&made, report);
    assert_false(made.overflowed);
    char *const place = bytes[at++ % 4];
    if (made.length > 0) {
        memcpy(place, made.data, made.length);
    }
    const struct slice report_bytes = {place, made.length};
    buf_release(&made);
    return report_bytes;
}

#define REPORT(...) report_of(&(const struct host_report){__VA_ARGS__})

static inline struct job
a_job(enum stage stage, const char *uri)
{
    return (struct job){
        .key.stage = (uint8_t)stage, .uri = slice_string(uri), .priority = 128, .generation = 1};
}

static inline enum status
put_jobs(struct bench *bench, const struct job *jobs, size_t n)
{
    struct buf *payload = bench_payload(bench);
    codec_put_varint(payload, n);
    for (size_t i = 0; i < n; i++) {
        message_put_new(payload, &jobs[i]);
    }
    const struct answer *answer = bench_submit(bench, "test", 1, QUEUE_PUT, 0);
    bench_work(bench);
    assert_true(answer->given);
    return answer->status;
}

static inline void
put_uri(struct bench *bench, enum stage stage, const char *uri, uint16_t depth)
{
    struct job job = a_job(stage, uri);
    job.depth = depth;
    assert_int_equal(put_jobs(bench, &job, 1), STATUS_OK);
}

static inline void
read_answer(struct bench *bench, const struct answer *answer)
{
    struct codec_reader reader = codec_reader_of(buf_slice(&answer->payload));
    assert_true(answer->given);
    assert_int_equal(answer->status, STATUS_OK);
    (void)codec_get_varint(&reader);
    bench->scope = codec_get_varint(&reader);
    bench->job_count = codec_get_u32(&reader);
    assert_true(bench->job_count <= JOBS_MOST);
    for (size_t i = 0; i < bench->job_count; i++) {
        assert_true(job_key_decode(&reader, &bench->jobs[i].key));
        assert_true(job_decode(&reader, &bench->jobs[i]));
        bench->jobs[i].pace = codec_get_slice(&reader);
    }
    assert_true(codec_at_end(&reader));
}

static inline struct answer *
submit_reserve(struct bench *bench, const char *worker, uint64_t incarnation, enum stage stage,
               uint32_t most, uint32_t wait_ms, uint64_t known, uint64_t id)
{
    struct buf *payload = bench_payload(bench);
    codec_put_u8(payload, (uint8_t)stage);
    codec_put_u64(payload, 0);
    codec_put_varint(payload, most);
    codec_put_varint(payload, wait_ms);
    codec_put_u64(payload, known);
    return bench_submit(bench, worker, incarnation, QUEUE_RESERVE, id);
}

/* How many; they are in bench->jobs. */
static inline size_t
reserve(struct bench *bench, const char *worker, uint64_t incarnation, enum stage stage,
        uint32_t most)
{
    const struct answer *answer = submit_reserve(bench, worker, incarnation, stage, most, 0, 0, 0);
    bench_work(bench);
    read_answer(bench, answer);
    return bench->job_count;
}

static inline void
submit_complete(struct bench *bench, const char *worker, uint64_t incarnation,
                const struct completion *completion, uint16_t attempt)
{
    struct buf *payload = bench_payload(bench);
    codec_put_varint(payload, 1);
    message_put_completion(payload, completion, attempt);
    (void)bench_submit(bench, worker, incarnation, QUEUE_COMPLETE, 0);
}

static inline void
complete(struct bench *bench, const char *worker, uint64_t incarnation,
         const struct completion *completion, uint16_t attempt)
{
    submit_complete(bench, worker, incarnation, completion, attempt);
    bench_work(bench);
    assert_int_equal(bench->answers[bench->tokens - 1].status, STATUS_OK);
}

/* Ends a job DONE with the same URI for the next stage. */
static inline void
pass_on(struct bench *bench, const char *worker, const struct job *job)
{
    struct job output = a_job((enum stage)(job->key.stage + 1), "");
    output.uri = job->uri;
    output.depth = job->depth;
    output.generation = job->generation;
    const struct completion completion = {.key = job->key, .outputs = &output, .output_count = 1};
    complete(bench, worker, 1, &completion, job->attempt);
}

static inline void
done(struct bench *bench, const char *worker, const struct job *job)
{
    const struct completion completion = {.key = job->key};
    complete(bench, worker, 1, &completion, job->attempt);
}

static inline void
give_back(struct bench *bench, const char *worker, const struct job *job, uint64_t delay_ms,
          bool no_attempt)
{
    const struct completion completion = {.key = job->key,
                                          .verdict = VERDICT_RELEASE,
                                          .reason = SLICE("it failed"),
                                          .delay_ms = delay_ms,
                                          .no_attempt = no_attempt};
    complete(bench, worker, 1, &completion, job->attempt);
}

static inline void
touch(struct bench *bench, const char *worker, uint64_t incarnation, const struct job *jobs,
      size_t n)
{
    struct buf *payload = bench_payload(bench);
    codec_put_u8(payload, TOUCH_ANNOUNCE);
    codec_put_varint(payload, n);
    for (size_t i = 0; i < n; i++) {
        job_key_encode(payload, &jobs[i].key);
        codec_put_varint(payload, jobs[i].attempt);
    }
    const struct answer *answer = bench_submit(bench, worker, incarnation, QUEUE_TOUCH, 0);
    bench_work(bench);
    assert_int_equal(answer->status, STATUS_OK);
}

static inline struct queue_stats
stats(struct bench *bench)
{
    struct queue_stats stats;
    (void)bench_payload(bench);
    const struct answer *answer = bench_submit(bench, "test", 1, QUEUE_STATS, 0);
    assert_true(message_get_stats(buf_slice(&answer->payload), &stats));
    return stats;
}

/* ---- what people see and do ---- */

static inline bool
note_buried(void *context, struct slice reason, struct slice reproducer, const struct job *job)
{
    char *text = context;
    snprintf(text, 1024, "%.*s|%.*s|%.*s", SLICE_PRINT(job->uri), SLICE_PRINT(reason),
             SLICE_PRINT(reproducer));
    return true;
}

static inline size_t
peek(struct bench *bench, enum stage stage, const char *which, char *text)
{
    struct buf *payload = bench_payload(bench);
    codec_put_u8(payload, (uint8_t)stage);
    codec_put_slice(payload, slice_string(which));
    codec_put_varint(payload, 100);
    const struct answer *answer = bench_submit(bench, "test", 1, QUEUE_PEEK, 0);
    assert_int_equal(answer->status, STATUS_OK);
    struct codec_reader reader = codec_reader_of(buf_slice(&answer->payload));
    const uint32_t n = codec_get_u32(&reader);
    for (uint32_t i = 0; i < n; i++) {
        struct job job;
        assert_true(job_key_decode(&reader, &job.key));
        assert_true(job_decode(&reader, &job));
        const struct slice reason = codec_get_slice(&reader);
        note_buried(text, reason, codec_get_slice(&reader), &job);
    }
    assert_true(codec_at_end(&reader));
    return n;
}

static inline uint64_t
kick(struct bench *bench, enum stage stage, const char *uri)
{
    struct buf *payload = bench_payload(bench);
    codec_put_u8(payload, (uint8_t)stage);
    codec_put_slice(payload, slice_string(uri));
    const struct answer *answer = bench_submit(bench, "test", 1, QUEUE_KICK, 0);
    bench_work(bench);
    struct codec_reader reader = codec_reader_of(buf_slice(&answer->payload));
    return codec_get_varint(&reader);
}

static inline struct queue_explanation
look(struct bench *bench, const char *uri)
{
    struct queue_explanation look;
    codec_put_slice(bench_payload(bench), slice_string(uri));
    const struct answer *answer = bench_submit(bench, "test", 1, QUEUE_LOOK, 0);
    assert_int_equal(answer->status, STATUS_OK);
    assert_true(message_get_explanation(buf_slice(&answer->payload), &look));
    return look;
}

#endif
