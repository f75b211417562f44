/* Documents that a command line has detected and transformed by workers of its own
 * (stages/parsing/document_worker.c), what DIR/transforms changes for them, and what mistakes in it
 * come to. */
#include <ftw.h>
#include <magic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/codec.h"
#include "config/config.h"
#include "stages/parsing/document_worker.h"
#include "tests/unit/scratch.h"
#include "tests/unit/stages_work/document_orders.h"

#define PAGE "http://a.example/page"
enum { REPLY = 1 << 20, PATH_SIZE = SCRATCH_SIZE + 64 };

static char directory[SCRATCH_SIZE];
static struct opt_set *options;

static int
set_up(void **state)
{
    char path[PATH_SIZE];
    (void)state;
    options = opt_set_new(config_tables);
    assert_int_equal(opt_set_assign(options, "transform.memory=384M", NULL), STATUS_OK);
    assert_true(scratch_folder(directory, "quadrille-by-hand"));
    snprintf(path, sizeof path, "%s/transforms", directory);
    assert_int_equal(mkdir(path, 0700), 0);
    return 0;
}

static int
remove_entry(const char *path, const struct stat *facts, int kind, struct FTW *place)
{
    (void)facts, (void)kind, (void)place;
    return remove(path);
}

static int
tear_down(void **state)
{
    (void)state;
    opt_set_free(options);
    return nftw(directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void
write_file(const char *name, const char *text)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/transforms/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* ---- detection ---- */

static void
assert_detected(struct slice bytes, const char *type, bool by_magic)
{
    const struct detect_input input = {.bytes = bytes};
    struct detection detection, alone;
    struct detector detector;
    struct reason why = {""};
    detector_init(&detector);
    detect(&detector, &input, &alone);
    detector_release(&detector);
    assert_int_equal(alone.undecided, by_magic);
    assert_int_equal(detect_bytes(options, &input, &detection, &why), STATUS_OK);
    assert_false(detection.undecided);
    assert_string_equal(detection.type, type);
}

static void
bytes_are_detected(void **state)
{
    (void)state;
    assert_detected(SLICE("@prefix a: <http://a.example/> .\na:b a:c a:d .\n"), "text/turtle",
                    false);
    assert_detected(SLICE("\001\002\003\004\005\006\007\010"), "application/octet-stream", true);
}

/* What is to fail of libmagic, in a fork server, too. */
static enum { NOTHING, OPENING, LOADING } magic_fault;

magic_t __real_magic_open(int flags);
magic_t __wrap_magic_open(int flags);
magic_t
__wrap_magic_open(int flags)
{
    return magic_fault == OPENING ? NULL : __real_magic_open(flags);
}

int __real_magic_load(magic_t cookie, const char *file);
int __wrap_magic_load(magic_t cookie, const char *file);
int
__wrap_magic_load(magic_t cookie, const char *file)
{
    return __real_magic_load(cookie, magic_fault == LOADING ? "/nowhere/at/all" : file);
}

static enum status
open_workers(unsigned work, struct reason *why)
{
    struct document_workers *workers = NULL;
    struct fork_server *fork_server = fork_server_start(&document_worker_program);
    const enum status status =
        document_workers_open(&workers, fork_server, options, directory, work, why);
    assert_int_equal(workers != NULL, status == STATUS_OK);
    document_workers_close(workers);
    fork_server_close(fork_server);
    return status;
}

/* Workers that only transform do without libmagic, and those that only detect without a registry.
 */
static void
workers_need_what_their_work_needs(void **state)
{
    static const char prefix[] = "libmagic cannot load its rules: ";
    struct reason why = {""};
    (void)state;
    magic_fault = OPENING;
    assert_int_equal(open_workers(DOCUMENT_DETECTION, &why), STATUS_SYSTEM);
    assert_string_equal(why.text, "libmagic cannot load its rules: no memory");
    assert_int_equal(open_workers(DOCUMENT_DETECTION | DOCUMENT_TRANSFORM, &why), STATUS_SYSTEM);
    assert_int_equal(open_workers(DOCUMENT_TRANSFORM, &why), STATUS_OK);
    magic_fault = LOADING;
    why.text[0] = '\0';
    assert_int_equal(open_workers(DOCUMENT_DETECTION, &why), STATUS_SYSTEM);
    assert_memory_equal(why.text, prefix, sizeof prefix - 1);
    assert_true(strlen(why.text) > sizeof prefix - 1);
    assert_null(strstr(why.text, "no memory"));
    assert_int_equal(open_workers(DOCUMENT_TRANSFORM, &why), STATUS_OK);
    magic_fault = NOTHING;
    write_file("registry", "match text/x-own -> nothing-of-this-name\n");
    assert_int_equal(open_workers(DOCUMENT_DETECTION, &why), STATUS_OK);
    assert_int_equal(open_workers(DOCUMENT_TRANSFORM, &why), STATUS_MISUSE);
    assert_int_equal(open_workers(DOCUMENT_DETECTION | DOCUMENT_TRANSFORM, &why), STATUS_MISUSE);
    write_file("registry", "");
}

/* ---- transforming ---- */

static enum status
transform(const char *type, const char *text, struct buf *graph, struct reason *why)
{
    struct fork_server *fork_server = fork_server_start(&document_worker_program);
    struct document_workers *workers = NULL;
    struct document_outcome outcome;
    struct buf reply;
    bool died = false;
    const struct transform_request request = {
        .uri = SLICE(PAGE), .type = slice_string(type), .bytes = slice_string(text)};
    enum status status =
        document_workers_open(&workers, fork_server, options, directory, DOCUMENT_TRANSFORM, why);
    buf_reset(graph);
    if (status != STATUS_OK) {
        assert_null(workers);
        fork_server_close(fork_server);
        return status;
    }
    buf_init(&reply, REPLY);
    status = document_transform(workers, &request, &reply, &outcome, &died, why);
    if (status == STATUS_OK) {
        buf_append_slice(graph, outcome.graph);
    }
    assert_false(died);
    buf_release(&reply);
    document_workers_close(workers);
    fork_server_close(fork_server);
    return status;
}

static void
own_transforms_and_contexts_are_used(void **state)
{
    struct reason why = {""};
    struct buf graph;
    (void)state;
    write_file("registry", "match text/x-own -> turtle\n");
    buf_init(&graph, REPLY);
    if (transform("text/x-own", "<a> <b> \"c\" .", &graph, &why) != STATUS_OK) {
        fail_msg("%s", why.text);
    }
    assert_string_equal(graph.data,
                        "<http://a.example/a> <http://a.example/b> \"c\" <" PAGE "> .\n");
    assert_int_equal(transform("text/turtle", "<a> <b> \"d\" .", &graph, &why), STATUS_OK);
    assert_non_null(strstr(graph.data, "\"d\""));
    buf_release(&graph);
}

static void
mistakes_of_the_registry_are_told(void **state)
{
    struct reason why = {""};
    struct buf graph;
    struct registry *registry = NULL;
    (void)state;
    buf_init(&graph, REPLY);
    write_file("registry", "match text/x-own -> nothing-of-this-name\n");
    assert_int_equal(transform("text/x-own", "<a> <b> <c> .", &graph, &why), STATUS_MISUSE);
    assert_non_null(strstr(why.text, "registry"));
    assert_int_not_equal(document_registry_open(&registry, options, directory, &why), STATUS_OK);
    registry_free(registry);
    write_file("registry", "");
    assert_int_equal(opt_set_assign(options, "transform.registry=/nowhere/at/all", NULL),
                     STATUS_OK);
    why.text[0] = '\0';
    assert_int_not_equal(transform("text/turtle", "", &graph, &why), STATUS_OK);
    assert_non_null(strstr(why.text, "/nowhere/at/all"));
    buf_release(&graph);
}

/* A reply of any state that there is is believed, and of no other; cut or with more behind it is
 * not. */
static void
replies_are_checked(void **state)
{
    enum { NUMBERS = 3, TEXTS = 8 };
    (void)state;
    for (unsigned told = 0; told <= TRANSFORM_WAITING + 1; told++) {
        struct document_outcome outcome;
        struct buf reply;
        buf_init(&reply, 256);
        codec_put_u8(&reply, (uint8_t)told);
        codec_put_u8(&reply, 0);
        for (int i = 0; i < NUMBERS; i++) {
            codec_put_varint(&reply, (uint64_t)i);
        }
        for (int i = 0; i < TEXTS; i++) {
            codec_put_slice(&reply, SLICE("x"));
        }
        assert_int_equal(document_outcome_decode(buf_slice(&reply), &outcome),
                         told <= TRANSFORM_WAITING);
        reply.length--;
        assert_false(document_outcome_decode(buf_slice(&reply), &outcome));
        reply.length++;
        codec_put_u8(&reply, 0);
        assert_false(document_outcome_decode(buf_slice(&reply), &outcome));
        buf_release(&reply);
    }
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(replies_are_checked),
        CASE(bytes_are_detected),
        CASE(workers_need_what_their_work_needs),
        CASE(own_transforms_and_contexts_are_used),
        CASE(mistakes_of_the_registry_are_told),
    };
    return cmocka_run_group_tests_name("by_hand", tests, NULL, NULL) + document_orders_run();
}
