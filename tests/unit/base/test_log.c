#include <errno.h>
#include <fcntl.h>
#include <math.h>
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

/* A format that the compiler would refuse may still come, from a program that makes formats: the
 * line then ends where the format is wrong. */
static void
formats_that_are_wrong_end_the_line(void **state)
{
    static const struct {
        const char *format, *line;
    } cases[] = {
        {"a=%", "a=\"\"\n"},
        {"a=x%", "a=x\n"},
        {"a=%0000000000000d b=2", "a=7 b=2\n"}, /* fifteen bytes */
        {"a=%00000000000000d b=2", "a=\"\"\n"},
        {"a=1 no pair", "a=1\n"},
        {"no pair", "\n"},
        {"", "\n"},
    };
    (void)state;
    log_open("test", LOG_LEVEL_INFO, false);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *volatile format = cases[i].format;
        char expected[64];
        log_event(LOG_LEVEL_INFO, "event", format, 7);
        snprintf(expected, sizeof expected, "level=info program=test event=event%s%s",
                 cases[i].line[0] != '\n' ? " " : "", cases[i].line);
        assert_string_equal(captured(), expected);
    }
}

static void
each_character_is_quoted_or_not(void **state)
{
    (void)state;
    log_open("test", LOG_LEVEL_INFO, false);
    for (unsigned c = 1; c < 0x100; c++) {
        const char text[] = {'a', (char)c, '\0'};
        const bool plain = c > ' ' && c < 0x7f && strchr("\"=\\", (int)c) == NULL;
        log_info("event", "v=%s", text);
        const char *value = strstr(captured(), " v=") + 3;
        assert_int_equal(value[0] == '"', !plain);
        if (plain) {
            assert_memory_equal(value, text, 2);
        }
    }
}

/* A value has 4 KiB at most, to the last byte; what does not fit whole of a text is cut. */
static void
long_values_are_cut(void **state)
{
    enum { VALUE = 4 << 10 };
    static char text[2 * VALUE];
    (void)state;
    memset(text, 'x', sizeof text - 1);
    log_open("test", LOG_LEVEL_INFO, false);
    for (int first = VALUE - 2; first <= VALUE + 1; first++) {
        log_info("event", "v=%.*s%s w=%.*s%s", first, text, "yz", 0, text, "z");
        const char *value = strstr(captured(), " v=") + 3;
        assert_int_equal(strspn(value, "xyz"), VALUE);
        assert_int_equal(strspn(value, "x"), first < VALUE ? first : VALUE);
        assert_string_equal(value + VALUE, " w=z\n");
    }
    log_info("event", "v=%.*s", -1, "all of it"); /* as printf takes a negative precision */
    assert_non_null(strstr(captured(), " v=\"all of it\"\n"));
}

static void
lines_begin_with_the_time(void **state)
{
    (void)state;
    for (int json = 0; json < 2; json++) {
        log_open("test", LOG_LEVEL_INFO, json);
        log_info("event", "ms=%dms n=%f nan=%f", 5, 2.5, (double)NAN);
        const ssize_t length = read(pipe_end, line, sizeof line - 1);
        assert_true(length > 0);
        line[length] = '\0';
        const char *time = json ? "{\"time\":\"2" : "time=2";
        assert_memory_equal(line, time, strlen(time));
        assert_non_null(strstr(line, json ? "\"level\":\"info\"" : " level=info "));
        assert_non_null(strstr(line, json ? "\"ms\":\"5ms\"" : " ms=5ms "));
        assert_non_null(strstr(line, json ? "\"n\":2.500000" : " n=2.500000 "));
        assert_non_null(strstr(line, json ? "\"nan\":\"nan\"}\n" : " nan=nan\n"));
    }
}

/* Each level is silent from its own next one on, and errno stays what it was. */
static void
levels_are_in_order(void **state)
{
    static const enum log_level levels[] = {LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO,
                                            LOG_LEVEL_DEBUG};
    (void)state;
    for (size_t open = 0; open < 4; open++) {
        log_open("test", levels[open], false);
        for (size_t said = 0; said < 4; said++) {
            assert_int_equal(log_enabled(levels[said]), said <= open);
            errno = 77;
            log_event(levels[said], "event", "a=%d", 1);
            assert_int_equal(errno, 77);
            assert_int_equal(*captured() != '\0', said <= open);
        }
    }
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
        cmocka_unit_test_setup_teardown(formats_that_are_wrong_end_the_line, capture, uncapture),
        cmocka_unit_test_setup_teardown(each_character_is_quoted_or_not, capture, uncapture),
        cmocka_unit_test_setup_teardown(long_values_are_cut, capture, uncapture),
        cmocka_unit_test_setup_teardown(lines_begin_with_the_time, capture, uncapture),
        cmocka_unit_test_setup_teardown(levels_are_in_order, capture, uncapture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
