/* How stages gather jobs: how long they wait before they ask again, and after they flushed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stages/skeleton/stage_run.h"
#include "tests/unit/stages_work/stage_batches.h"

enum { LEAST = 16, MOST = 100 };

static void
asks_seldom_without_backlog(void **state)
{
    (void)state;
    for (size_t came = 0; came < 256; came++) {
        assert_int_equal(stage_pace_ms(STAGE_DETECT, 256, came), MOST);
    }
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
    assert_int_equal(batch_rest_ms(1, 0, 500), 4);
    assert_int_equal(batch_rest_ms(1, 250, 500), 250);
    assert_int_equal(batch_rest_ms(100, 250, 500), 400);
    assert_int_equal(batch_rest_ms(2000, 250, 500), 500);
    assert_int_equal(batch_rest_ms(2000, 250, 0), 250);
    assert_int_equal(batch_rest_ms(2000, 0, 0), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asks_seldom_without_backlog),
        cmocka_unit_test(backlog_and_hosts_do_not_wait),
        cmocka_unit_test(rests_grow_with_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) + stage_batches_run() + stage_metadata_run() +
           stage_timers_run();
}
