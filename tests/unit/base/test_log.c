#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/system/log.h"

/* Standard error goes to a pipe during a test; a line fits into it. */
static int saved_stderr, pipe_end;

static int
capture(void **state)
{
    (void)state;
    int ends[2];
    saved_stderr = dup(STDERR_FILENO);
    if (saved_stderr < 0 || pipe2(ends, O_NONBLOCK) != 0 || dup2(ends[1], STDERR_FILENO) < 0) {
        return -1;
    }
    (void)close(ends[1]);
    pipe_end = ends[0];
    return 0;
}

static int
uncapture(void **state)
{
    (void)state;
    (void)dup2(saved_stderr, STDERR_FILENO);
    (void)close(saved_stderr);
    return close(pipe_end);
}

static char line[16384];

/* The captured line; without the time when it is not JSON. */
static const char *
captured(void)
{
    const ssize_t length = read(pipe_end, line, sizeof line - 1);
    line[length > 0 ? length : 0] = '\0';
    return line[0] == 't' ? strchr(line, ' ') + 1 : line;
}

static void
pairs_are_quoted_when_needed(void **state)
{
    (void)state;
    log_open("test", LOG_LEVEL_INFO, false);
    log_info("event", "plain=%s blank=%s quote=%s equals=%s empty=%s line=%s", "a/b:c", "a b",
             "a\"b", "a=b", "", "a\nlevel=error");
    assert_string_equal(captured(), "level=info program=test event=event plain=a/b:c "
                                    "blank=\"a b\" quote=\"a\\\"b\" equals=\"a=b\" empty=\"\" "
                                    "line=\"a\\nlevel=error\"\n");
}

static void
every_conversion(void **state)
{
    (void)state;
    log_open("test", LOG_LEVEL_INFO, false);
    log_warning("event", "d=%d u=%u ld=%ld lu=%lu zu=%zu g=%g f=%.3f s=%.*s both=%s:%d pc=%d%%", -1,
                4294967295U, -5L, 18446744073709551615UL, (size_t)7, 0.5, 1.0, 2, "xyz", "h", 80,
                5);
    assert_string_equal(captured(), "level=warning program=test event=event d=-1 u=4294967295 "
                                    "ld=-5 lu=18446744073709551615 zu=7 g=0.5 f=1.000 s=xy "
                                    "both=h:80 pc=5%\n");
}

/* What stands behind a conversion is not taken for a part of it. */
static void
conversions_without_anything_between(void **state)
{
    (void)state;
    log_open("test", LOG_LEVEL_INFO, false);
    log_info("event", "a=%s%.*s b=%d%ld%u c=%.*s%s", "no", 2, "xyz", 1, -2L, 3U, 1, "pq", "rs");
    assert_string_equal(captured(), "level=info program=test event=event a=noxy b=1-23 c=prs\n");
}

static void
null_strings_are_empty(void **state)
{
    (void)state;
    const char *volatile none = NULL;
    log_open("test", LOG_LEVEL_INFO, false);
    log_error("event", "a=%s b=%.*s", none, 3, none);
    assert_string_equal(captured(), "level=error program=test event=event a=\"\" b=\"\"\n");
}

static void
json_lines_parse(void **state)
{
    (void)state;
    log_open("test", LOG_LEVEL_INFO, true);
    log_info("two words", "text=%s number=%d real=%.2f mixed=%d:%d infinite=%g", "a\"\xff\n", 5,
             0.25, 1, 2, 1e308 * 10);
    json_t *object = json_loads(captured(), 0, NULL);
    assert_non_null(object);
    assert_string_equal(json_string_value(json_object_get(object, "event")), "two words");
    assert_string_equal(json_string_value(json_object_get(object, "text")), "a\"\xef\xbf\xbd\n");
    assert_int_equal(json_integer_value(json_object_get(object, "number")), 5);
    assert_true(json_real_value(json_object_get(object, "real")) == 0.25);
    assert_string_equal(json_string_value(json_object_get(object, "mixed")), "1:2");
    assert_string_equal(json_string_value(json_object_get(object, "infinite")), "inf");
    json_decref(object);
}

static void
long_lines_are_cut_well_formed(void **state)
{
    (void)state;
    static char text[10000];
    memset(text, '"', sizeof text - 1);
    log_open("test", LOG_LEVEL_INFO, true);
    log_info("event", "first=%d long=%s plain=%.*s last=%d", 1, text, 100, text, 2);
    const char *json = captured();
    assert_true(strlen(json) <= 8192);
    json_t *object = json_loads(json, 0, NULL);
    assert_non_null(object);
    assert_int_equal(json_integer_value(json_object_get(object, "first")), 1);
    assert_null(json_object_get(object, "long"));
    assert_int_equal(json_string_length(json_object_get(object, "plain")), 100);
    assert_string_equal(json_string_value(json_object_get(object, "cut")), "yes");
    json_decref(object);
}

static void
levels_below_are_silent(void **state)
{
    (void)state;
    log_open("test", LOG_LEVEL_WARNING, false);
    assert_false(log_enabled(LOG_LEVEL_INFO));
    log_info("event", "a=%d", 1);
    assert_string_equal(captured(), "");
    log_open("test", LOG_LEVEL_DEBUG, false);
    log_debug("event", "a=%d", 1);
    assert_string_equal(captured(), "level=debug program=test event=event a=1\n");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pairs_are_quoted_when_needed, capture, uncapture),
        cmocka_unit_test_setup_teardown(every_conversion, capture, uncapture),
        cmocka_unit_test_setup_teardown(conversions_without_anything_between, capture, uncapture),
        cmocka_unit_test_setup_teardown(null_strings_are_empty, capture, uncapture),
        cmocka_unit_test_setup_teardown(json_lines_parse, capture, uncapture),
        cmocka_unit_test_setup_teardown(long_lines_are_cut_well_formed, capture, uncapture),
        cmocka_unit_test_setup_teardown(levels_below_are_silent, capture, uncapture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
