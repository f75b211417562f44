/* How stages gather jobs: how long they wait before they ask again, and after they flushed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stages/skeleton/stage_private.h"
#include "tests/unit/stages/stage_batches.h"

enum { LEAST = 16, MOST = 100 };

static void
asks_seldom_when_much_comes(void **state)
{
    uint64_t before = 0;
    (void)state;
    for (size_t came = 0; came < 256; came++) {
        const uint64_t pace = stage_pace_ms(STAGE_DETECT, 256, came);
        assert_true(pace >= LEAST && pace <= MOST && pace >= before);
        before = pace;
    }
    assert_int_equal(stage_pace_ms(STAGE_DETECT, 256, 1), LEAST);
    assert_int_equal(stage_pace_ms(STAGE_DETECT, 256, 255), MOST);
}

/* Jobs that come at a rate bring it about that the pace grows or falls to its limit. */
static void
pace_follows_the_rate(void **state)
{
    uint64_t fast = LEAST, slow = MOST;
    (void)state;
    for (int i = 0; i < 20; i++) {
        fast = stage_pace_ms(STAGE_EXTRACT, 1000, (size_t)fast * 700 / 1000);
        slow = stage_pace_ms(STAGE_EXTRACT, 1000, (size_t)slow * 300 / 1000);
    }
    assert_int_equal(fast, MOST);
    assert_int_equal(slow, LEAST);
}

static void
backlog_and_hosts_do_not_wait(void **state)
{
    (void)state;
    assert_int_equal(stage_pace_ms(STAGE_DETECT, 64, 64), LEAST);
    assert_int_equal(stage_pace_ms(STAGE_FETCH, 256, 100), LEAST);
}

static void
rests_grow_with_batches(void **state)
{
    (void)state;
    assert_int_equal(batch_rest_ms(1, 500), 4);
    assert_int_equal(batch_rest_ms(100, 500), 400);
    assert_int_equal(batch_rest_ms(2000, 500), 500);
    assert_int_equal(batch_rest_ms(2000, 0), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asks_seldom_when_much_comes),
        cmocka_unit_test(pace_follows_the_rate),
        cmocka_unit_test(backlog_and_hosts_do_not_wait),
        cmocka_unit_test(rests_grow_with_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) + stage_batches_run();
}
