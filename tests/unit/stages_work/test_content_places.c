/* Where archived records are read (stages/skeleton/content.c) in a cluster without keys: this
 * node's from its files, another's from its web service; and what becomes of a job whose record is
 * not to be had. The web is stood in for, the archive is real. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "stages/skeleton/content.h"
#include "tests/unit/stages_work/stage_steps.h"
#include "warc/remote.h"

enum { MEMORY = 1 << 20, REST_MS = 5000 };

static struct {
    enum status status; /* of what is asked for */
    size_t opened, closed;
    uint64_t now_ms;
    struct buf member; /* what the other node has */
} web;
static struct content *content;
static struct warc_location location;
static struct buf memory;

/* ---- in the place of the web ---- */

STAND_IN(enum status, warc_remote_open,
         (struct warc_remote * *remote, uint32_t timeout_ms, struct reason *why))
{
    (void)why;
    assert_true(timeout_ms > 0);
    *remote = (struct warc_remote *)&web;
    web.opened++;
    return STATUS_OK;
}

STAND_IN(void, warc_remote_close, (struct warc_remote * remote))
{
    assert_ptr_equal(remote, &web);
    web.closed++;
}

STAND_IN(enum status, warc_fetch_remote,
         (struct warc_remote * remote, const char *address, struct slice file, uint64_t offset,
          uint64_t length, struct buf *member, struct reason *why))
{
    assert_ptr_equal(remote, &web);
    buf_printf(&steps.trace, "%s %.*s %llu %llu\n", address, SLICE_PRINT(file),
               (unsigned long long)offset, (unsigned long long)length);
    buf_reset(member);
    buf_append_slice(member, buf_slice(&web.member));
    return web.status == STATUS_OK ? STATUS_OK : status_fail(why, web.status, "nobody");
}

STAND_IN(uint64_t, clock_monotonic_ms, (void))
{
    return web.now_ms;
}

/* ---- steps ---- */

static int
set_up(void **state)
{
    static const char nodes[] =
        "node here queue=tcp://127.0.0.1:1 metastore=tcp://127.0.0.1:2\n"
        "node there queue=tcp://127.0.0.2:1 metastore=tcp://127.0.0.2:2 web=http://there/\n"
        "node mute queue=tcp://127.0.0.3:1 metastore=tcp://127.0.0.3:2\n";
    const struct warc_limits limits = {.record = MEMORY};
    struct warc_writer_options options = {0};
    struct warc_writer *writer;
    struct reason why = {""};
    char folder[SCRATCH_SIZE + 8], path[SCRATCH_SIZE + 8 + WARC_FILE_SIZE];
    (void)state;
    memset(&web, 0, sizeof web);
    buf_init(&web.member, MEMORY);
    buf_init(&memory, MEMORY);
    web.now_ms = REST_MS;
    steps_prepare(nodes, NULL);
    warc_writer_options_from(&options, steps.options);
    options.node = "here";
    options.process = "fetch.1";
    snprintf(folder, sizeof folder, "%s/warc", steps.directory);
    assert_int_equal(warc_writer_open(&writer, folder, &options, &why), STATUS_OK);
    const struct warc_conversion record = {.uri = SLICE("http://a.example/"),
                                           .content_type = SLICE("text/plain"),
                                           .body = SLICE("a body")};
    assert_int_equal(warc_write_conversion(writer, &record, &location, &why), STATUS_OK);
    assert_int_equal(warc_writer_close(writer, &why), STATUS_OK);
    snprintf(path, sizeof path, "%s/%s", folder, location.file);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, (long)location.offset, SEEK_SET), 0);
    assert_true(buf_reserve(&web.member, location.length));
    web.member.length = fread(web.member.data, 1, location.length, file);
    assert_int_equal(web.member.length, location.length);
    fclose(file);
    return content_open(&content, steps.directory, steps.cluster, &limits, &why) == STATUS_OK ? 0
                                                                                              : -1;
}

static int
tear_down(void **state)
{
    (void)state;
    content_close(content);
    content_close(NULL);
    assert_int_equal(web.opened, web.closed);
    buf_release(&web.member);
    buf_release(&memory);
    steps_end();
    return 0;
}

/* Reads the record in the file as a node has it. */
static enum status
read_of(const char *node, struct reason *why)
{
    const struct document_record where = {.node = slice_string(node),
                                          .file = slice_string(location.file),
                                          .offset = location.offset,
                                          .length = location.length};
    struct warc_record record = {0};
    const enum status status = content_read(content, &where, &memory, &record, why);
    if (status == STATUS_OK) {
        assert_true(slice_is(record.body, "a body"));
    }
    return status;
}

/* ---- cases ---- */

static void
own_records_are_read_from_files(void **state)
{
    static const struct document_record nothing;
    struct warc_record record;
    struct reason why = {""};
    (void)state;
    assert_int_equal(read_of("here", &why), STATUS_OK);
    assert_int_equal(read_of("", &why), STATUS_OK); /* of a time without a cluster */
    assert_trace("");
    assert_int_equal(steps.timer_count, 0); /* nobody keeps the loop */
    assert_int_equal(content_read(content, &nothing, &memory, &record, &why), STATUS_NOT_FOUND);
    assert_string_equal(why.text, "nothing was archived");
    assert_int_equal(read_of("elsewhere", &why), STATUS_NOT_FOUND);
    assert_string_equal(why.text, "cluster.conf has no node elsewhere");
}

static void
files_are_closed_when_nobody_reads(void **state)
{
    struct reason why = {""};
    (void)state;
    content_close_files(content, (struct stage_run *)&web);
    assert_int_equal(read_of("here", &why), STATUS_OK);
    assert_int_equal(steps.timer_count, 1);
    assert_int_equal(steps.timers[0].delay_ms, REST_MS);
    steps.timers[0].delay_ms = 1;
    steps.timers[0].tick(steps.timers[0].context); /* it was read from meanwhile */
    assert_int_equal(steps.timers[0].delay_ms, REST_MS);
    steps.timers[0].delay_ms = 1;
    steps.timers[0].tick(steps.timers[0].context);
    assert_int_equal(steps.timers[0].delay_ms, 1); /* none is open any more */
    assert_int_equal(read_of("here", &why), STATUS_OK);
    assert_int_equal(steps.timers[0].delay_ms, REST_MS);
}

static void
records_of_others_come_by_the_web(void **state)
{
    struct reason why = {""};
    char wanted[2 * WARC_FILE_SIZE];
    (void)state;
    snprintf(wanted, sizeof wanted, "http://there/ %s %llu %llu\n", location.file,
             (unsigned long long)location.offset, (unsigned long long)location.length);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(read_of("there", &why), STATUS_OK);
        assert_trace(wanted);
    }
    assert_int_equal(web.opened, 1);
    assert_int_equal(read_of("mute", &why), STATUS_MISUSE);
    assert_string_equal(why.text,
                        "cluster.conf: node mute has no web=, which its archive is read by");
    web.member.length = 9; /* cut on its way */
    assert_int_equal(read_of("there", &why), STATUS_CORRUPT);
}

/* A node that does not answer is waited for once, then left alone for a while. */
static void
nodes_that_are_away_rest(void **state)
{
    struct reason why = {""};
    (void)state;
    web.status = STATUS_UNAVAILABLE;
    assert_int_equal(read_of("there", &why), STATUS_UNAVAILABLE);
    assert_string_equal(why.text, "nobody");
    buf_reset(&steps.trace);
    web.status = STATUS_OK;
    web.now_ms += REST_MS - 1;
    assert_int_equal(read_of("there", &why), STATUS_UNAVAILABLE);
    assert_string_equal(why.text, "node there does not answer");
    assert_trace("");
    web.now_ms++;
    assert_int_equal(read_of("there", &why), STATUS_OK);
    web.status = STATUS_TIMEOUT; /* of one record: others are asked for at once */
    assert_int_equal(read_of("there", &why), STATUS_TIMEOUT);
    web.status = STATUS_OK;
    assert_int_equal(read_of("there", &why), STATUS_OK);
}

static void
jobs_end_by_what_was_met(void **state)
{
    static const struct {
        enum status status;
        const char *trace;
    } cases[] = {
        {STATUS_UNAVAILABLE, "put off: why\n"},
        {STATUS_TIMEOUT, "release 1000 counted: why\n"},
        {STATUS_SYSTEM, "release 1000 counted: why\n"},
        {STATUS_CORRUPT, "bury: why\n"},
        {STATUS_NOT_FOUND, "bury: why\n"},
        {STATUS_LIMIT, "bury: why\n"},
    };
    const struct reason why = {"why"};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        content_refused(&steps.job, cases[i].status, &why);
        assert_trace(cases[i].trace);
    }
}

/* In the place of a program's. */
int
main(void)
{
    return 0;
}

STAND_IN(int, main, (int argc, char **argv))
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(own_records_are_read_from_files),   CASE(files_are_closed_when_nobody_reads),
        CASE(records_of_others_come_by_the_web), CASE(nodes_that_are_away_rest),
        CASE(jobs_end_by_what_was_met),
    };
    (void)argc, (void)argv;
    return cmocka_run_group_tests_name("content_places", tests, NULL, NULL);
}
