/* Messages of the queue byte for byte, and what their readers refuse (queue/PROTOCOL.md). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/url/url.h"
#include "queue/client/message.h"
#include "tests/unit/queue/queue_suites.h"

enum { BYTES = 8 << 20 };

/* Each beginning of the bytes, copied so that sanitizers see a read behind it. */
static void
assert_cut(struct slice bytes, bool (*reads)(struct slice))
{
    assert_true(reads(bytes));
    for (size_t n = 0; n < bytes.length; n++) {
        char *copy = test_malloc(n + 1);
        memcpy(copy, bytes.at, n);
        assert_false(reads(slice_of(copy, n)));
        test_free(copy);
    }
}

/* ---- keys and jobs ---- */

static void
keys_have_their_bytes_in_order(void **state)
{
    static const uint8_t expected[JOB_KEY_SIZE] = {4, 1, 2,    3,    4,    5,    6,   7,    8,
                                                   0, 0, 0,    0,    0,    0,    1,   0x2c, 0xff,
                                                   0, 0, 0xee, 0xdd, 0xcc, 0xbb, 0xaa};
    const struct job_key key = {4, 0x0102030405060708, 300, 0xff0000eeddccbbaa};
    struct job_key back = {0};
    uint8_t bytes[JOB_KEY_SIZE];
    struct buf out;
    (void)state;
    job_key_write(&key, bytes);
    assert_memory_equal(bytes, expected, sizeof bytes);
    job_key_read(bytes, &back);
    assert_memory_equal(&back.lane, &key.lane, 3 * sizeof(uint64_t));
    assert_int_equal(back.stage, 4);
    buf_init(&out, BYTES);
    job_key_encode(&out, &key);
    assert_int_equal(out.length, JOB_KEY_SIZE);
    assert_memory_equal(out.data, expected, sizeof expected);
    for (uint8_t stage = 0; stage < 8; stage++) {
        out.data[0] = (char)stage;
        struct codec_reader reader = codec_reader_of(buf_slice(&out));
        assert_int_equal(job_key_decode(&reader, &back), stage < STAGE_COUNT);
        assert_int_equal(back.lane, key.lane);
        assert_int_equal(back.rank, key.rank);
        assert_int_equal(back.id, key.id);
    }
    struct codec_reader reader = codec_reader_of(slice_of(out.data, JOB_KEY_SIZE - 1));
    assert_false(job_key_decode(&reader, &back));
    buf_release(&out);
}

static void
stages_have_names(void **state)
{
    static const char *const names[] = {"fetch", "detect", "transform", "index", "extract"};
    enum stage stage = STAGE_COUNT;
    (void)state;
    for (int i = 0; i < STAGE_COUNT; i++) {
        assert_string_equal(stage_name((enum stage)i), names[i]);
        assert_true(stage_of_name(slice_string(names[i]), &stage));
        assert_int_equal(stage, i);
    }
    assert_string_equal(stage_name(STAGE_COUNT), "none");
    assert_false(stage_of_name(SLICE("none"), &stage));
    assert_false(stage_of_name(SLICE("fetc"), &stage));
    assert_int_equal(stage, STAGE_EXTRACT); /* is left alone */
}

static bool
decodes(const struct job *job, struct job *back)
{
    struct buf bytes;
    static char kept[BYTES];
    buf_init(&bytes, BYTES);
    job_encode(&bytes, job);
    assert_false(bytes.overflowed);
    memcpy(kept, bytes.data, bytes.length);
    struct codec_reader reader = codec_reader_of(slice_of(kept, bytes.length));
    *back = (struct job){.key = job->key};
    const bool good = job_decode(&reader, back);
    assert_int_equal(good, !reader.bad);
    if (good) {
        assert_true(codec_at_end(&reader));
    }
    buf_release(&bytes);
    return good;
}

static void
jobs_come_back_whole(void **state)
{
    const struct job job = {.key.stage = STAGE_FETCH,
                            .uri = SLICE("https://a.example/x#y"),
                            .via = SLICE("http://b.example/"),
                            .data = SLICE("\001\002"),
                            .priority = 1,
                            .flags = 0x82,
                            .hops = 3,
                            .depth = UINT16_MAX,
                            .attempt = UINT16_MAX - 1,
                            .deaths = UINT16_MAX - 2,
                            .generation = UINT64_MAX,
                            .due_ms = 1700000000001,
                            .queued_ms = 1700000000002};
    struct job back;
    (void)state;
    assert_true(decodes(&job, &back));
    assert_true(slice_equal(back.uri, job.uri));
    assert_true(slice_equal(back.via, job.via));
    assert_true(slice_equal(back.data, job.data));
    assert_true(slice_is(back.lane_name, "https://a.example"));
    assert_int_equal(back.priority, 1);
    assert_int_equal(back.flags, 0x82);
    assert_int_equal(back.hops, 3);
    assert_int_equal(back.depth, UINT16_MAX);
    assert_int_equal(back.attempt, UINT16_MAX - 1);
    assert_int_equal(back.deaths, UINT16_MAX - 2);
    assert_true(back.generation == UINT64_MAX);
    assert_int_equal(back.due_ms, 1700000000001);
    assert_int_equal(back.queued_ms, 1700000000002);
    struct job other = job;
    other.key.stage = STAGE_DETECT; /* only hosts have lanes */
    assert_true(decodes(&other, &back));
    assert_int_equal(back.lane_name.length, 0);
}

static void
lengths_of_jobs_have_their_most(void **state)
{
    static char text[JOB_METADATA_MAXIMUM + 1];
    struct job back;
    (void)state;
    memset(text, 'x', sizeof text);
    memcpy(text, "http://a/", 9);
    for (int more = 0; more < 2; more++) {
        const struct job uri = {.uri = slice_of(text, (size_t)URL_MAXIMUM + more)};
        const struct job via = {.uri = SLICE("http://a/"),
                                .via = slice_of(text, (size_t)URL_MAXIMUM + more)};
        const struct job data = {.uri = SLICE("http://a/"),
                                 .data = slice_of(text, (size_t)JOB_DATA_MAXIMUM + more)};
        const struct job metadata = {.uri = SLICE(JOB_METADATA_URI),
                                     .data = slice_of(text, (size_t)JOB_METADATA_MAXIMUM + more)};
        const struct job of_another_stage = {.key.stage = STAGE_DETECT,
                                             .uri = SLICE(JOB_METADATA_URI),
                                             .data = slice_of(text, (size_t)JOB_DATA_MAXIMUM + 1)};
        assert_int_equal(decodes(&uri, &back), more == 0);
        assert_int_equal(decodes(&via, &back), more == 0);
        assert_int_equal(decodes(&data, &back), more == 0);
        assert_int_equal(decodes(&metadata, &back), more == 0);
        assert_false(decodes(&of_another_stage, &back));
    }
    const struct job none = {.via = SLICE("http://a/"), .data = SLICE("d")};
    assert_false(decodes(&none, &back));
    assert_int_equal(back.via.length, 0); /* nothing of what is refused */
    assert_int_equal(back.data.length, 0);
    assert_int_equal(back.lane_name.length, 0);
}

/* Depth, tries and deaths are numbers of 16 bits. */
static void
numbers_of_jobs_have_their_most(void **state)
{
    (void)state;
    for (int field = 0; field < 3; field++) {
        for (uint64_t value = UINT16_MAX; value <= UINT16_MAX + 1; value++) {
            struct buf bytes;
            struct job back = {0};
            buf_init(&bytes, BYTES);
            codec_put_u8(&bytes, 1);
            for (int i = 0; i < 3; i++) {
                codec_put_u8(&bytes, 0);
            }
            for (int i = 0; i < 6; i++) {
                codec_put_varint(&bytes, i == field ? value : 0);
            }
            codec_put_slice(&bytes, SLICE("http://a/"));
            codec_put_slice(&bytes, SLICE(""));
            codec_put_slice(&bytes, SLICE(""));
            struct codec_reader reader = codec_reader_of(buf_slice(&bytes));
            assert_int_equal(job_decode(&reader, &back), value == UINT16_MAX);
            buf_release(&bytes);
        }
    }
}

static void
metadata_has_a_key_and_fields(void **state)
{
    static const struct {
        const char *key, *rest;
        bool good;
    } cases[] = {{"u", "", false}, {"ua", "", true}, {"ua", "more", false}};
    struct slice key, fields;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf bytes;
        buf_init(&bytes, BYTES);
        codec_put_slice(&bytes, slice_string(cases[i].key));
        codec_put_slice(&bytes, SLICE("fields"));
        buf_append_string(&bytes, cases[i].rest);
        struct job job = {.uri = SLICE(JOB_METADATA_URI), .data = buf_slice(&bytes)};
        assert_true(job_is_metadata(&job));
        assert_int_equal(job_metadata(&job, &key, &fields), cases[i].good);
        if (cases[i].good) {
            assert_true(slice_is(key, cases[i].key));
            assert_true(slice_is(fields, "fields"));
        }
        job.key.stage = STAGE_EXTRACT;
        assert_false(job_is_metadata(&job));
        buf_release(&bytes);
    }
}

/* ---- what is new ---- */

static bool
takes(uint8_t stage, const char *uri, struct slice data, struct job *job)
{
    struct buf bytes;
    static char kept[BYTES];
    const struct job given = {.key.stage = stage, .uri = slice_string(uri), .data = data};
    buf_init(&bytes, BYTES);
    message_put_new(&bytes, &given);
    assert_int_equal((uint8_t)bytes.data[0], stage);
    memcpy(kept, bytes.data, bytes.length);
    struct codec_reader reader = codec_reader_of(slice_of(kept, bytes.length));
    const bool good = message_get_new(&reader, job);
    assert_int_equal(good, !reader.bad);
    buf_release(&bytes);
    return good;
}

static void
only_jobs_with_a_host_are_put_to_fetch(void **state)
{
    static const struct {
        const char *uri;
        bool fetch;
    } cases[] = {{"http://a/", true},   {"https://a/", true}, {"ftp://a/", true},
                 {"http:///x", false},  {"https://", false},  {"ftp:///x", false},
                 {"urn:a", false},      {"//a/", false},      {"scope:1", false},
                 {"gopher://a/", false}};
    struct job job;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(takes(STAGE_FETCH, cases[i].uri, SLICE(""), &job), cases[i].fetch);
        assert_true(takes(STAGE_EXTRACT, cases[i].uri, SLICE(""), &job));
        assert_int_equal(job.key.stage, STAGE_EXTRACT);
        assert_false(takes(STAGE_COUNT, cases[i].uri, SLICE(""), &job));
        assert_int_equal(job.key.stage, 0);
    }
    assert_true(takes(STAGE_FETCH, JOB_METADATA_URI, SLICE("\002ua\001f"), &job));
    assert_false(takes(STAGE_FETCH, JOB_METADATA_URI, SLICE("\001u\001f"), &job));
    assert_false(takes(STAGE_FETCH, JOB_METADATA_URI, SLICE("\002ua\001f+"), &job));
}

static void
counts_have_their_most_and_their_bytes(void **state)
{
    static uint8_t zeros[MESSAGE_ENTRIES_MAXIMUM + 16];
    static const struct {
        uint64_t count;
        size_t least, left;
        bool good;
    } cases[] = {
        {0, 14, 0, true},
        {1, 14, 14, true},
        {1, 14, 13, false},
        {3, 5, 15, true},
        {3, 5, 14, false},
        {MESSAGE_ENTRIES_MAXIMUM, 1, MESSAGE_ENTRIES_MAXIMUM, true},
        {MESSAGE_ENTRIES_MAXIMUM, 0, 0, true},
        {MESSAGE_ENTRIES_MAXIMUM + 1, 0, 0, false},
        {MESSAGE_ENTRIES_MAXIMUM + 1, 1, MESSAGE_ENTRIES_MAXIMUM + 1, false},
        {UINT64_MAX / 2 + 1, 2, 0, false}, /* of which the product is nothing */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf head;
        buf_init(&head, 16);
        codec_put_varint(&head, cases[i].count);
        memcpy(zeros, head.data, head.length);
        struct codec_reader reader =
            codec_reader_of(slice_of((const char *)zeros, head.length + cases[i].left));
        const size_t count = message_get_count(&reader, cases[i].least);
        assert_int_equal(count, cases[i].good ? cases[i].count : 0);
        assert_int_equal(reader.bad, !cases[i].good);
        buf_release(&head);
    }
    struct codec_reader reader = codec_reader_of(SLICE(""));
    assert_int_equal(message_get_count(&reader, 0), 0);
    assert_true(reader.bad);
}

/* ---- how jobs end ---- */

static const struct completion whole = {
    .key = {STAGE_FETCH, 0x1111, 0x2222, 0x3333},
    .verdict = VERDICT_BURY,
    .no_attempt = true,
    .reason = {"reason", 6},
    .reproducer = {"command", 7},
    .delay_ms = 400,
    .report = {"report", 6},
    .share = 77,
    .outcome = (enum job_outcome)(OUTCOME_COUNT - 1),
    .scope = 600,
};

static bool
reads_completion(struct slice bytes)
{
    struct codec_reader reader = codec_reader_of(bytes);
    struct completion completion;
    uint16_t attempt;
    const bool good = message_get_completion(&reader, &completion, &attempt);
    assert_int_equal(good, !reader.bad);
    return good;
}

static void
completions_have_their_bytes(void **state)
{
    static const uint8_t expected[] = {
        0,    0,    0,    0,    0,    0,    0,   0x11, 0x11, 0,  0,
        0,    0,    0,    0,    0x22, 0x22, 0,   0,    0,    0,  0,
        0,    0x33, 0x33, 0xff, 0xff, 0x03,           /* the try */
        2,    1,                                      /* buried, no attempt */
        6,    'r',  'e',  'a',  's',  'o',  'n',      /* */
        7,    'c',  'o',  'm',  'm',  'a',  'n', 'd', /* */
        0x90, 0x03, 6,    'r',  'e',  'p',  'o', 'r',  't',  77, OUTCOME_COUNT - 1,
        0xd8, 0x04, 0}; /* outcome, scope, outputs */
    struct completion back;
    struct buf bytes;
    uint16_t attempt = 0;
    (void)state;
    buf_init(&bytes, BYTES);
    message_put_completion(&bytes, &whole, UINT16_MAX);
    assert_int_equal(bytes.length, sizeof expected);
    assert_memory_equal(bytes.data, expected, sizeof expected);
    struct codec_reader reader = codec_reader_of(buf_slice(&bytes));
    assert_true(message_get_completion(&reader, &back, &attempt));
    assert_true(codec_at_end(&reader));
    assert_int_equal(attempt, UINT16_MAX);
    assert_int_equal(back.key.lane, 0x1111);
    assert_int_equal(back.key.rank, 0x2222);
    assert_int_equal(back.key.id, 0x3333);
    assert_int_equal(back.verdict, VERDICT_BURY);
    assert_true(back.no_attempt);
    assert_true(slice_is(back.reason, "reason"));
    assert_true(slice_is(back.reproducer, "command"));
    assert_int_equal(back.delay_ms, 400);
    assert_true(slice_is(back.report, "report"));
    assert_int_equal(back.share, 77);
    assert_int_equal(back.outcome, OUTCOME_COUNT - 1);
    assert_int_equal(back.scope, 600);
    assert_int_equal(back.output_count, 0);
    assert_cut(buf_slice(&bytes), reads_completion);
    buf_release(&bytes);
}

static void
completions_out_of_bounds_are_refused(void **state)
{
    enum { ATTEMPT = JOB_KEY_SIZE, VERDICT = ATTEMPT + 1, FLAGS, OUTCOME = FLAGS + 6 };
    struct buf bytes;
    struct completion plain = {.key = whole.key};
    (void)state;
    buf_init(&bytes, BYTES);
    message_put_completion(&bytes, &plain, 1);
    assert_int_equal(bytes.length, OUTCOME + 3);
    for (int value = 0; value < 256; value++) {
        struct codec_reader reader = codec_reader_of(buf_slice(&bytes));
        struct completion back;
        uint16_t attempt;
        bytes.data[VERDICT] = (char)value;
        assert_int_equal(reads_completion(buf_slice(&bytes)), value <= VERDICT_BURY);
        bytes.data[VERDICT] = VERDICT_DONE;
        bytes.data[OUTCOME] = (char)value;
        assert_int_equal(reads_completion(buf_slice(&bytes)), value < OUTCOME_COUNT);
        bytes.data[OUTCOME] = 0;
        bytes.data[FLAGS] = (char)value;
        assert_true(message_get_completion(&reader, &back, &attempt));
        assert_int_equal(back.no_attempt, value % 2 == 1);
        bytes.data[FLAGS] = 0;
    }
    buf_release(&bytes);
    for (uint64_t attempt = UINT16_MAX; attempt <= UINT16_MAX + 1; attempt++) {
        struct buf more;
        buf_init(&more, BYTES);
        job_key_encode(&more, &whole.key);
        codec_put_varint(&more, attempt);
        for (int i = 0; i < 8; i++) {
            codec_put_u8(&more, 0);
        }
        codec_put_u8(&more, 0);
        codec_put_u8(&more, 0);
        assert_int_equal(reads_completion(buf_slice(&more)), attempt == UINT16_MAX);
        buf_release(&more);
    }
}

static void
texts_of_completions_are_cut(void **state)
{
    static char text[MESSAGE_TEXT_MAXIMUM + 1];
    (void)state;
    memset(text, 'x', sizeof text);
    for (size_t n = MESSAGE_TEXT_MAXIMUM - 1; n <= MESSAGE_TEXT_MAXIMUM + 1; n++) {
        const size_t kept = n < MESSAGE_TEXT_MAXIMUM ? n : MESSAGE_TEXT_MAXIMUM;
        const struct slice long_one = slice_of(text, n);
        const struct completion given = {.reason = long_one, .reproducer = long_one};
        struct completion back;
        struct buf bytes;
        uint16_t attempt;
        buf_init(&bytes, BYTES);
        message_put_completion(&bytes, &given, 1);
        struct codec_reader reader = codec_reader_of(buf_slice(&bytes));
        assert_true(message_get_completion(&reader, &back, &attempt));
        assert_int_equal(back.reason.length, kept);
        assert_int_equal(back.reproducer.length, kept);
        buf_release(&bytes);
    }
}

static void
outputs_stand_behind_their_completion(void **state)
{
    const struct job outputs[] = {{.key.stage = STAGE_DETECT, .uri = SLICE("http://a/")},
                                  {.key.stage = STAGE_FETCH, .uri = SLICE("http://b/")}};
    struct completion given = {.outputs = outputs, .output_count = 2}, back;
    struct buf bytes;
    struct job job;
    uint16_t attempt;
    (void)state;
    buf_init(&bytes, BYTES);
    message_put_completion(&bytes, &given, 1);
    struct codec_reader reader = codec_reader_of(buf_slice(&bytes));
    assert_true(message_get_completion(&reader, &back, &attempt));
    assert_int_equal(back.output_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_true(message_get_new(&reader, &job));
        assert_int_equal(job.key.stage, outputs[i].key.stage);
        assert_true(slice_equal(job.uri, outputs[i].uri));
    }
    assert_true(codec_at_end(&reader));
    buf_release(&bytes);
}

/* ---- what people are told ---- */

static bool
reads_stats(struct slice bytes)
{
    struct queue_stats stats;
    return message_get_stats(bytes, &stats);
}

/* Every number is another, so that two in each other's place are seen. */
static void
stats_come_back_whole(void **state)
{
    struct queue_stats given = {0}, back;
    struct buf bytes;
    uint64_t next = 1;
    (void)state;
    for (int i = 0; i < STAGE_COUNT; i++) {
        struct queue_stage_stats *stage = &given.stages[i];
        uint64_t *const numbers[] = {&stage->ready,     &stage->leased,    &stage->delayed,
                                     &stage->scheduled, &stage->buried,    &stage->outbox,
                                     &stage->put,       &stage->done,      &stage->released,
                                     &stage->dead,      &stage->oldest_ms, &stage->aside};
        for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
            *numbers[n] = next++;
        }
        stage->throttled = i % 2 == 1;
    }
    uint64_t *const numbers[] = {&given.seen,          &given.lanes,     &given.lanes_busy,
                                 &given.sent,          &given.received,  &given.incarnation,
                                 &given.disk_free,     &given.workers,   &given.hosts_aside,
                                 &given.hosts_failing, &given.network_ms};
    for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
        *numbers[n] = next++;
    }
    for (int n = 0; n < OUTCOME_COUNT; n++) {
        given.outcomes[n] = next++;
    }
    for (int flags = 0; flags < 4; flags++) {
        given.intake_stopped = flags % 2 == 1;
        given.cut_off = flags / 2 == 1;
        memset(&back, 0xff, sizeof back);
        buf_init(&bytes, BYTES);
        message_put_stats(&bytes, &given);
        assert_true(message_get_stats(buf_slice(&bytes), &back));
        for (int i = 0; i < STAGE_COUNT; i++) {
            assert_memory_equal(&back.stages[i].ready, &given.stages[i].ready,
                                12 * sizeof(uint64_t));
            assert_int_equal(back.stages[i].throttled, given.stages[i].throttled);
        }
        assert_memory_equal(&back.seen, &given.seen,
                            offsetof(struct queue_stats, intake_stopped) -
                                offsetof(struct queue_stats, seen));
        assert_int_equal(back.intake_stopped, given.intake_stopped);
        assert_int_equal(back.cut_off, given.cut_off);
        assert_cut(buf_slice(&bytes), reads_stats);
        if (flags == 3) {
            /* The order of the message, of which another version of the client reads its own. */
            assert_int_equal((uint8_t)bytes.data[0], STAGE_COUNT);
            assert_int_equal((uint8_t)bytes.data[1], 1); /* ready */
            assert_int_equal((uint8_t)bytes.data[bytes.length - 3 - OUTCOME_COUNT], OUTCOME_COUNT);
            buf_append_char(&bytes, '\0');
            assert_false(reads_stats(buf_slice(&bytes)));
            bytes.length--;
            bytes.data[bytes.length - 3 - OUTCOME_COUNT]++;
            assert_false(reads_stats(buf_slice(&bytes)));
            bytes.data[bytes.length - 3 - OUTCOME_COUNT]--;
            bytes.data[0]--;
            assert_false(reads_stats(buf_slice(&bytes)));
        }
        buf_release(&bytes);
    }
}

static bool
reads_host(struct slice bytes)
{
    struct codec_reader reader = codec_reader_of(bytes);
    struct queue_host host;
    return message_get_host(&reader, &host);
}

static void
hosts_have_their_bytes(void **state)
{
    (void)state;
    for (int flags = 0; flags < 16; flags++) {
        const uint8_t expected[] = {0,   0,   0, 0,   0,  0, 0, 9, (uint8_t)flags,
                                    1,   2,   3, 4,   5,  6, 7, 3, 'o',
                                    'r', 'i', 2, 'c', 'a'};
        const struct queue_host given = {.lane = 9,
                                         .aside = flags & 1,
                                         .silent = flags & 2,
                                         .doubted = flags & 4,
                                         .counted = flags & 8,
                                         .failures = 1,
                                         .probes = 2,
                                         .since_ms = 3,
                                         .last_ms = 4,
                                         .aside_ms = 5,
                                         .next_ms = 6,
                                         .jobs = 7,
                                         .origin = SLICE("ori"),
                                         .cause = SLICE("ca")};
        struct queue_host back;
        struct buf bytes;
        buf_init(&bytes, BYTES);
        message_put_host(&bytes, &given);
        assert_int_equal(bytes.length, sizeof expected);
        assert_memory_equal(bytes.data, expected, sizeof expected);
        struct codec_reader reader = codec_reader_of(buf_slice(&bytes));
        assert_true(message_get_host(&reader, &back));
        assert_int_equal(back.lane, 9);
        assert_int_equal(back.aside, given.aside);
        assert_int_equal(back.silent, given.silent);
        assert_int_equal(back.doubted, given.doubted);
        assert_int_equal(back.counted, given.counted);
        assert_int_equal(back.failures, 1);
        assert_int_equal(back.probes, 2);
        assert_int_equal(back.since_ms, 3);
        assert_int_equal(back.last_ms, 4);
        assert_int_equal(back.aside_ms, 5);
        assert_int_equal(back.next_ms, 6);
        assert_int_equal(back.jobs, 7);
        assert_true(slice_is(back.origin, "ori"));
        assert_true(slice_is(back.cause, "ca"));
        assert_cut(buf_slice(&bytes), reads_host);
        buf_release(&bytes);
    }
}

static bool
reads_node(struct slice bytes)
{
    struct codec_reader reader = codec_reader_of(bytes);
    struct queue_node node;
    return message_get_node(&reader, &node);
}

static void
nodes_have_their_bytes(void **state)
{
    (void)state;
    for (int flags = 0; flags < 4; flags++) {
        const uint8_t expected[] = {1, 'n', (uint8_t)flags, 3, 4, 2, 't', 'r'};
        const struct queue_node given = {.name = SLICE("n"),
                                         .down = flags & 1,
                                         .unknown = flags & 2,
                                         .since_ms = 3,
                                         .jobs = 4,
                                         .trouble = SLICE("tr")};
        struct queue_node back;
        struct buf bytes;
        buf_init(&bytes, BYTES);
        message_put_node(&bytes, &given);
        assert_int_equal(bytes.length, sizeof expected);
        assert_memory_equal(bytes.data, expected, sizeof expected);
        struct codec_reader reader = codec_reader_of(buf_slice(&bytes));
        assert_true(message_get_node(&reader, &back));
        assert_true(slice_is(back.name, "n"));
        assert_int_equal(back.down, given.down);
        assert_int_equal(back.unknown, given.unknown);
        assert_int_equal(back.since_ms, 3);
        assert_int_equal(back.jobs, 4);
        assert_true(slice_is(back.trouble, "tr"));
        assert_cut(buf_slice(&bytes), reads_node);
        buf_release(&bytes);
    }
}

static bool
reads_explanation(struct slice bytes)
{
    struct queue_explanation look;
    return message_get_explanation(bytes, &look);
}

static void
explanations_come_back_whole(void **state)
{
    enum { NUMBERS = sizeof(struct queue_explanation) / sizeof(uint64_t) };
    struct queue_explanation given, back;
    uint64_t numbers[NUMBERS];
    struct buf bytes;
    (void)state;
    for (uint64_t i = 0; i < NUMBERS; i++) {
        numbers[i] = i + 1;
    }
    memcpy(&given, numbers, sizeof given);
    buf_init(&bytes, BYTES);
    message_put_explanation(&bytes, &given);
    assert_int_equal(bytes.length, NUMBERS);
    assert_true(message_get_explanation(buf_slice(&bytes), &back));
    assert_memory_equal(&back, &given, sizeof back);
    assert_cut(buf_slice(&bytes), reads_explanation);
    buf_append_char(&bytes, '\0');
    assert_false(reads_explanation(buf_slice(&bytes)));
    buf_release(&bytes);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_have_their_bytes_in_order),
        cmocka_unit_test(stages_have_names),
        cmocka_unit_test(jobs_come_back_whole),
        cmocka_unit_test(lengths_of_jobs_have_their_most),
        cmocka_unit_test(numbers_of_jobs_have_their_most),
        cmocka_unit_test(metadata_has_a_key_and_fields),
        cmocka_unit_test(only_jobs_with_a_host_are_put_to_fetch),
        cmocka_unit_test(counts_have_their_most_and_their_bytes),
        cmocka_unit_test(completions_have_their_bytes),
        cmocka_unit_test(completions_out_of_bounds_are_refused),
        cmocka_unit_test(texts_of_completions_are_cut),
        cmocka_unit_test(outputs_stand_behind_their_completion),
        cmocka_unit_test(stats_come_back_whole),
        cmocka_unit_test(hosts_have_their_bytes),
        cmocka_unit_test(nodes_have_their_bytes),
        cmocka_unit_test(explanations_come_back_whole),
    };
    return cmocka_run_group_tests_name("queue_messages", tests, NULL, NULL) + message_fields_run();
}
