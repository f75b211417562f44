/* These tests are of how a machine that helps another transforms: what it makes of a document is
 * archived by the node whose document it is, and the job goes on when that node has answered. */
#include "tests/unit/stages_work/transform_help.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "metastore/protocol.h"
#include "stages/transform/transform_document.h"
#include "tests/unit/stages_work/stage_steps.h"

#define NODE(name, port)                                                            \
    "node " name " queue=tcp://127.0.0.1:" port "1 metastore=tcp://127.0.0.1:" port \
    "2 index=tcp://127.0.0.1:" port "3\n"

enum { HOME = 1 }; /* the second node that has a store is the one that is helped */

static struct {
    metastore_kept *kept; /* of the record that is on its way */
    void *context;
    struct slice member;
    char id[WARC_ID_SIZE];
    /* What packing comes to; length 0: what the archive makes of the record. */
    enum status pack_status;
    size_t length;
} home;

/* ---- between the transforms and the node that keeps ---- */

enum status __real_warc_pack_conversion(struct warc_writer *writer,
                                        const struct warc_conversion *conversion,
                                        char id[WARC_ID_SIZE], struct slice *member,
                                        struct reason *why);
STAND_IN(enum status, warc_pack_conversion,
         (struct warc_writer * writer, const struct warc_conversion *conversion,
          char id[WARC_ID_SIZE], struct slice *member, struct reason *why))
{
    assert_true(slice_is(conversion->uri, PAGE));
    assert_true(slice_is(conversion->refers_to, "urn:uuid:1"));
    assert_true(slice_is(conversion->content_type, "application/n-quads"));
    assert_true(slice_is(conversion->body, GRAPH));
    assert_int_equal(conversion->date_ms, steps.now_ms);
    if (home.pack_status != STATUS_OK) {
        return status_fail(why, home.pack_status, "it cannot be packed");
    }
    const enum status status = __real_warc_pack_conversion(writer, conversion, id, member, why);
    member->length = home.length > 0 ? home.length : member->length;
    memcpy(home.id, id, WARC_ID_SIZE);
    home.member = *member;
    return status;
}

STAND_IN(void, metastore_keep,
         (struct metastore_client * client, size_t endpoint, const char *id, struct slice member,
          metastore_kept *done, void *context))
{
    assert_null(client);
    assert_int_equal(endpoint, HOME);
    assert_string_equal(id, home.id);
    assert_ptr_equal(member.at, home.member.at);
    assert_int_equal(member.length, home.member.length);
    assert_null(home.kept);
    home.kept = done;
    home.context = context;
    buf_append_string(&steps.trace, "keep\n");
}

static void
home_answers(enum status status)
{
    const struct reason why = {"it is far"};
    const struct warc_location location = {
        .file = "other.warc.gz", .id = "urn:uuid:2", .offset = 70, .length = 30};
    metastore_kept *done = home.kept;
    home.kept = NULL;
    done(home.context, status, status == STATUS_OK ? &location : NULL, &why);
}

/* ---- tests ---- */

static void
begin(void)
{
    memset(&home, 0, sizeof home);
    transform_begin_in(NODE("there", "1") NODE("here", "2") "helper box\n");
}

static void
have_transformed(enum stage stage)
{
    transform_start_in(stage);
    buf_reset(&steps.trace);
    transform_answer();
}

static void
a_graph_is_kept_by_the_node_that_is_helped(void **state)
{
    (void)state;
    begin();
    have_transformed(STAGE_TRANSFORM);
    assert_trace("keep\n");
    assert_number(META_TRANSFORMED, UINT64_MAX);
    home_answers(STATUS_OK);
    assert_trace("counts as transformed\nnext index\ndone\n");
    const struct document_record *record = &steps.next.conversion;
    assert_true(slice_is(record->node, "here"));
    assert_true(slice_is(record->file, "other.warc.gz"));
    assert_true(slice_is(record->id, "urn:uuid:2"));
    assert_int_equal(record->offset, 70);
    assert_int_equal(record->length, 30);
    assert_text(META_CONVERSION_FILE, "other.warc.gz");
    assert_text(META_TRANSFORM, "turtle/1");
    assert_number(META_TRANSFORM_MS, 1000); /* as the worker said, before the node was asked */
}

static void
what_is_not_kept_comes_again(void **state)
{
    (void)state;
    begin();
    have_transformed(STAGE_TRANSFORM);
    assert_trace("keep\n");
    home_answers(STATUS_SYSTEM);
    assert_trace("release 1000: it is far\n");
    assert_number(META_TRANSFORMED, UINT64_MAX);
    have_transformed(STAGE_TRANSFORM);
    assert_trace("keep\n");
    home_answers(STATUS_CANCELLED);
    assert_trace("release 0: it is far\n");
    assert_number(META_TRANSFORMED, UINT64_MAX);
    have_transformed(STAGE_DETECT);
    assert_trace("keep\n");
    home_answers(STATUS_SYSTEM);
    assert_trace("next transform\ndone\n");
}

/* The answer is read twice: before the record is made, and when it is kept. */
static void
an_answer_that_cannot_be_read_again_is_refused(void **state)
{
    (void)state;
    begin();
    have_transformed(STAGE_TRANSFORM);
    assert_trace("keep\n");
    transform_answers_are_malformed(true);
    home_answers(STATUS_OK);
    assert_trace("bury: the worker's answer is malformed (type text/turtle)\n");
    assert_number(META_TRANSFORMED, UINT64_MAX);
}

static void
what_no_message_takes_is_refused(void **state)
{
    (void)state;
    begin();
    home.length = METASTORE_KEEP_MAXIMUM;
    have_transformed(STAGE_TRANSFORM);
    assert_trace("keep\n");
    home_answers(STATUS_OK);
    assert_trace("counts as transformed\nnext index\ndone\n");
    home.length = METASTORE_KEEP_MAXIMUM + 1;
    have_transformed(STAGE_TRANSFORM);
    assert_trace("bury: it is too much RDF to be sent to the node that it is of (type "
                 "text/turtle)\n");
    assert_null(home.kept);
}

static void
what_cannot_be_packed_ends_the_process(void **state)
{
    (void)state;
    begin();
    home.pack_status = STATUS_SYSTEM;
    transform_start_in(STAGE_TRANSFORM);
    buf_reset(&steps.trace);
    assert_true(steps_ends_process(transform_answer));
    assert_trace(""); /* the job comes back by its lease */
    home.pack_status = STATUS_OK;
    transform_answer(); /* frees what the end of the process would have */
    home_answers(STATUS_OK);
}

/* A document is in hand until the node has answered. When the process ends meanwhile, the answer
 * comes after the transforms are closed. */
static void
documents_are_in_hand_until_they_are_kept(void **state)
{
    static const struct {
        size_t length;
        enum status answer;
    } cases[] = {{0, STATUS_OK},
                 {0, STATUS_SYSTEM},
                 {METASTORE_KEEP_MAXIMUM + 1, STATUS_OK},
                 {0, STATUS_CANCELLED}};
    const struct job job = {.key.stage = STAGE_TRANSFORM, .uri = SLICE(PAGE)};
    const struct document document = {.response.id = SLICE("urn:uuid:1")};
    struct document_transforms *transforms = NULL;
    struct reason why = {""};
    (void)state;
    begin();
    assert_int_equal(document_transforms_open(&transforms, NULL, NULL, NULL, 0, &why), STATUS_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf memory;
        buf_init(&memory, 1 << 20);
        steps_take(&job, &document);
        home.length = cases[i].length;
        document_transforms_start(transforms, &steps.job, &memory, SLICE("body"));
        steps_turn();
        assert_int_equal(document_transforms_in_hand(transforms), 1);
        transform_answer();
        if (cases[i].answer == STATUS_CANCELLED) {
            document_transforms_close(transforms);
            home_answers(STATUS_CANCELLED);
        } else if (cases[i].length == 0) {
            assert_int_equal(document_transforms_in_hand(transforms), 1);
            home_answers(cases[i].answer);
            assert_int_equal(document_transforms_in_hand(transforms), 0);
        } else {
            assert_int_equal(document_transforms_in_hand(transforms), 0);
        }
        buf_release(&memory);
    }
}

int
transform_help_run(int (*set_up)(void **state), int (*tear_down)(void **state))
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(a_graph_is_kept_by_the_node_that_is_helped),
        CASE(what_is_not_kept_comes_again),
        CASE(an_answer_that_cannot_be_read_again_is_refused),
        CASE(what_no_message_takes_is_refused),
        CASE(what_cannot_be_packed_ends_the_process),
        CASE(documents_are_in_hand_until_they_are_kept),
    };
    return cmocka_run_group_tests_name("transform_help", tests, NULL, NULL);
}
