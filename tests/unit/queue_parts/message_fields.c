/* Fields of the queue's messages that a reader must not take from what was there before, and flags
 * that are not set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "queue/client/message.h"
#include "tests/unit/queue/queue_suites.h"

enum { BYTES = 4096 };

/* Records of another version may have anything in them. */
static void
test_records_have_one_version(void **state)
{
    const struct job job = {.key.stage = STAGE_FETCH, .uri = SLICE("http://a.example/")};
    struct buf bytes;
    (void)state;
    buf_init(&bytes, BYTES);
    job_encode(&bytes, &job);
    for (int version = 0; version < 256; version++) {
        struct job back = {.key.stage = STAGE_FETCH, .pace = SLICE("of another job")};
        bytes.data[0] = (char)version;
        struct codec_reader reader = codec_reader_of(buf_slice(&bytes));
        assert_int_equal(job_decode(&reader, &back), version == 1);
        assert_int_equal(reader.bad, version != 1);
        assert_int_equal(back.uri.length, version == 1 ? job.uri.length : 0);
        assert_int_equal(back.lane_name.length, version == 1 ? job.uri.length - 1 : 0);
        assert_int_equal(back.pace.length, 0);
    }
    buf_release(&bytes);
}

static void
test_each_ending_has_its_own_flags(void **state)
{
    (void)state;
    for (int flags = 0; flags < 2; flags++) {
        const struct job_key key = {.stage = STAGE_INDEX, .lane = 1, .rank = 2, .id = 3};
        const struct completion given = {
            .key = key, .verdict = VERDICT_RELEASE, .no_attempt = flags == 1};
        struct completion back;
        struct buf bytes;
        uint16_t attempt = 0;
        buf_init(&bytes, BYTES);
        message_put_completion(&bytes, &given, 9);
        struct codec_reader reader = codec_reader_of(buf_slice(&bytes));
        memset(&back, 0xff, sizeof back);
        assert_true(message_get_completion(&reader, &back, &attempt));
        assert_true(codec_at_end(&reader));
        assert_int_equal(attempt, 9);
        assert_int_equal(back.no_attempt, flags == 1);
        assert_int_equal(back.verdict, VERDICT_RELEASE);
        assert_null(back.outputs);
        assert_int_equal(back.output_count, 0);
        assert_int_equal(back.reason.length + back.reproducer.length + back.report.length, 0);
        buf_release(&bytes);
    }
}

/* What a broker of another version tells leaves no numbers of before. */
static void
test_numbers_of_other_versions_are_none(void **state)
{
    static const char others[] = {STAGE_COUNT - 1, STAGE_COUNT + 1, 0};
    (void)state;
    for (size_t i = 0; i < sizeof others; i++) {
        const struct queue_stats none = {0};
        struct queue_stats stats;
        memset(&stats, 0xff, sizeof stats);
        assert_false(message_get_stats(slice_of(&others[i], 1), &stats));
        assert_int_equal(stats.seen, none.seen);
        assert_memory_equal(stats.stages, none.stages, sizeof none.stages);
        assert_memory_equal(stats.outcomes, none.outcomes, sizeof none.outcomes);
    }
}

int
message_fields_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records_have_one_version),
        cmocka_unit_test(test_each_ending_has_its_own_flags),
        cmocka_unit_test(test_numbers_of_other_versions_are_none),
    };
    return cmocka_run_group_tests_name("message fields", tests, NULL, NULL);
}
