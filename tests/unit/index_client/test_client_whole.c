/* What a client does for whole partitions, whole graphs and whole clusters (client_maintenance.c,
 * client_graph.c and client_identity.c of index/client/): what is asked of the layers below, and
 * what their failures become. The linker puts the functions below in their place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "identity/identity_write.h"
#include "index/client/client_update.h"
#include "index/client/federation/federation.h"
#include "index/client/partitions/client_calls.h"
#include "index/read/provenance.h"

enum { PARTITIONS_ASKED = 3, TERMS_MEMORY = 256 << 20 };

static struct partition_client partitions[PARTITIONS_ASKED];
static struct index_client client;
static struct buf called; /* what was called, a line for each */
static struct reason why;
static const char *failing; /* this call fails CORRUPT; NULL: none */
static atomic_bool cancel;

static enum status
outcome(const char *call, struct reason *reason)
{
    return failing != NULL && strcmp(failing, call) == 0
               ? status_fail(reason, STATUS_CORRUPT, "%s failed", call)
               : STATUS_OK;
}

static enum status
take(void *context, struct slice bytes, struct reason *reason)
{
    assert_ptr_equal(context, &called);
    (void)buf_printf(&called, "take %.*s\n", SLICE_PRINT(bytes));
    return outcome("take", reason);
}

static int
set_up(void **state)
{
    (void)state;
    memset(partitions, 0, sizeof partitions);
    client = (struct index_client){.partitions = partitions,
                                   .count = PARTITIONS_ASKED,
                                   .timeout_ms = 4321,
                                   .partial = INDEX_PARTIAL_WARN,
                                   .cancel = &cancel};
    failing = NULL;
    buf_init(&called, 1 << 22);
    (void)buf_append_string(&called, "");
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    buf_release(&called);
    return 0;
}

static void
expect_called(const char *text)
{
    assert_string_equal(called.data, text);
    buf_reset(&called);
}

/* ---- partitions ---- */

enum status __wrap_stream_pass_on(struct index_client *of, size_t partition, struct slice request,
                                  index_piece *piece, void *context, struct reason *reason);
enum status
__wrap_stream_pass_on(struct index_client *of, size_t partition, struct slice request,
                      index_piece *piece, void *context, struct reason *reason)
{
    assert_ptr_equal(of, &client);
    assert_int_equal(request.length, 1);
    (void)buf_printf(&called, "%s %zu\n",
                     request.at[0] == INDEX_STREAM_BACKUP    ? "backup"
                     : request.at[0] == INDEX_STREAM_COMPACT ? "compact"
                                                             : "other",
                     partition);
    return piece(context, SLICE("a piece"), reason);
}

static void
a_partition_is_copied_and_all_are_compacted(void **state)
{
    (void)state;
    assert_int_equal(index_client_partitions(&client), PARTITIONS_ASKED);
    assert_int_equal(index_backup(&client, 1, take, &called, &why), STATUS_OK);
    expect_called("backup 1\ntake a piece\n");
    assert_int_equal(index_compact(&client, take, &called, &why), STATUS_OK);
    expect_called("compact 0\ntake a piece\ncompact 1\ntake a piece\ncompact 2\ntake a piece\n");
    failing = "take";
    assert_int_equal(index_backup(&client, 2, take, &called, &why), STATUS_CORRUPT);
    assert_int_equal(index_compact(&client, take, &called, &why), STATUS_CORRUPT);
    assert_string_equal(why.text, "take failed");
    expect_called("backup 2\ntake a piece\ncompact 0\ntake a piece\n");
}

/* ---- graphs ---- */

static const char *present; /* quads that the graph has */

enum status __wrap_index_pattern(struct index_client *of, const struct quad *pattern,
                                 uint64_t limit, index_piece *piece, void *context,
                                 struct reason *reason);
enum status
__wrap_index_pattern(struct index_client *of, const struct quad *pattern, uint64_t limit,
                     index_piece *piece, void *context, struct reason *reason)
{
    const size_t half = strlen(present) / 2;
    assert_ptr_equal(of, &client);
    assert_int_equal(of->partial, INDEX_PARTIAL_ERROR);
    assert_ptr_equal(of->cancel, &cancel);
    assert_int_equal(limit, 0);
    assert_true(slice_is(pattern->graph.value, "x:g"));
    assert_int_equal(pattern->subject.kind, TERM_NONE);
    TRY(piece(context, slice_of(present, half), reason));
    TRY(piece(context, slice_string(present + half), reason));
    return outcome("pattern", reason);
}

static void
note_quads(const struct graph *graph, char sign)
{
    for (size_t i = 0; i < graph->count; i++) {
        (void)buf_printf(&called, "%c%c", sign, graph->quads[i].object.value.at[2]);
    }
}

enum status __wrap_client_change(struct index_client *of, const struct graph *removed,
                                 const struct graph *added, struct index_update_report *report,
                                 struct reason *reason);
enum status
__wrap_client_change(struct index_client *of, const struct graph *removed,
                     const struct graph *added, struct index_update_report *report,
                     struct reason *reason)
{
    assert_ptr_equal(of, &client);
    note_quads(removed, '-');
    note_quads(added, '+');
    report->removed = 100 + removed->count;
    report->added = 200 + added->count;
    return outcome("change", reason);
}

/* Puts quads with these objects, a digit each. */
static enum status
put(const char *objects, enum index_graph_mode mode, size_t memory,
    struct index_graph_report *report)
{
    struct graph wanted;
    graph_init(&wanted, 1 << 20);
    for (const char *at = objects; *at != '\0'; at++) {
        const char name[] = {'x', ':', *at};
        const struct quad quad = {.subject = term_iri(SLICE("x:s")),
                                  .predicate = term_iri(SLICE("x:p")),
                                  .object = term_iri(slice_of(name, 3)),
                                  .graph = term_iri(SLICE("x:g"))};
        assert_int_equal(graph_add(&wanted, &quad, &why), STATUS_OK);
    }
    *report = (struct index_graph_report){true, 77, 77};
    client.partial = INDEX_PARTIAL_WARN;
    const enum status status =
        index_graph_put(&client, SLICE("x:g"), &wanted, mode, memory, report, &why);
    graph_release(&wanted);
    return status;
}

static void
the_difference_of_a_graph_is_changed(void **state)
{
#define QUAD(object) "<x:s> <x:p> <x:" object "> <x:g> .\n"
    static const struct {
        const char *present, *wanted, *replaced, *added;
    } cases[] = {{"", "", "", ""},
                 {"", "312", "+1+2+3", "+1+2+3"},
                 {QUAD("1") QUAD("3"), "", "-1-3", ""},
                 {QUAD("1") QUAD("3"), "31", "", ""},
                 {QUAD("1") QUAD("3"), "2", "-1-3+2", "+2"},
                 {QUAD("2"), "13", "-2+1+3", "+1+3"},
                 {QUAD("3") QUAD("1") QUAD("2"), "224", "-1-3+4", "+4"},
                 {QUAD("1") QUAD("2"), "23", "-1+3", "+3"}};
    (void)state;
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const bool replaces = i % 2 == 0;
        const char *changed = replaces ? cases[i / 2].replaced : cases[i / 2].added;
        size_t removed = 0, added = 0;
        struct index_graph_report report;
        present = cases[i / 2].present;
        for (const char *at = changed; *at != '\0'; at++) {
            removed += *at == '-';
            added += *at == '+';
        }
        assert_int_equal(
            put(cases[i / 2].wanted, replaces ? INDEX_GRAPH_REPLACE : INDEX_GRAPH_ADD, 0, &report),
            STATUS_OK);
        expect_called(changed);
        assert_int_equal(report.existed, *present != '\0');
        assert_int_equal(report.removed, removed + added > 0 ? 100 + removed : 0);
        assert_int_equal(report.added, removed + added > 0 ? 200 + added : 0);
    }
}

static void
a_graph_that_cannot_be_put_is_told(void **state)
{
    struct index_graph_report report;
    (void)state;
    present = QUAD("1");
    failing = "pattern";
    assert_int_equal(put("2", INDEX_GRAPH_REPLACE, 0, &report), STATUS_CORRUPT);
    expect_called("");
    assert_int_equal(report.removed + report.added, 0);
    failing = "change";
    assert_int_equal(put("2", INDEX_GRAPH_REPLACE, 0, &report), STATUS_CORRUPT);
    assert_string_equal(why.text, "change failed");
    expect_called("-1+2");
    failing = NULL;
    present = QUAD("1") "<x:s> <x:p>"; /* its last line is not whole */
    assert_int_not_equal(put("2", INDEX_GRAPH_ADD, 0, &report), STATUS_OK);
    present = "no quad\n";
    assert_int_not_equal(put("2", INDEX_GRAPH_ADD, 0, &report), STATUS_OK);
    present = QUAD("1");
    assert_int_equal(put("2", INDEX_GRAPH_ADD, 1, &report), STATUS_LIMIT); /* of memory */
    expect_called("");
}

/* ---- clusters ---- */

static char source_place, provenance_place, identity_place, federation_place;
static const struct metastore_client_options *the_metastore;
static uint64_t the_timeout_ms;
static unsigned made; /* parts that are not freed */

struct federation *__wrap_federation_new(struct index_client *of, size_t memory);
struct federation *
__wrap_federation_new(struct index_client *of, size_t memory)
{
    assert_ptr_equal(of, &client);
    assert_int_equal(memory, TERMS_MEMORY);
    assert_int_equal(client.partial, INDEX_PARTIAL_WARN);
    assert_int_equal(client.deadline_ms > 0, the_timeout_ms > 0);
    assert_false(partitions[1].missing);
    made++;
    return (struct federation *)(void *)&federation_place;
}

void __wrap_federation_free(struct federation *federation);
void
__wrap_federation_free(struct federation *federation)
{
    assert_ptr_equal(federation, &federation_place);
    made--;
}

const struct quad_source *__wrap_federation_source(struct federation *federation);
const struct quad_source *
__wrap_federation_source(struct federation *federation)
{
    assert_ptr_equal(federation, &federation_place);
    return (const struct quad_source *)(const void *)&source_place;
}

struct provenance *__wrap_provenance_new(const struct provenance_settings *settings);
struct provenance *
__wrap_provenance_new(const struct provenance_settings *settings)
{
    assert_ptr_equal(settings->source, &source_place);
    assert_ptr_equal(settings->metastore, the_metastore);
    assert_int_equal(settings->memory, TERMS_MEMORY);
    assert_int_equal(settings->timeout_ms, the_timeout_ms);
    assert_ptr_equal(settings->cancel, &cancel);
    made++;
    return (struct provenance *)(void *)&provenance_place;
}

void __wrap_provenance_free(struct provenance *provenance);
void
__wrap_provenance_free(struct provenance *provenance)
{
    assert_ptr_equal(provenance, &provenance_place);
    made--;
}

static enum status
lookup(void *context, const struct term *term, oid *id, struct reason *reason)
{
    assert_ptr_equal(context, &provenance_place);
    *id = slice_is(term->value, "x:one") ? 11 : 12;
    return outcome("lookup", reason);
}

const struct quad_source *__wrap_provenance_source(struct provenance *provenance);
const struct quad_source *
__wrap_provenance_source(struct provenance *provenance)
{
    static const struct quad_source source = {.context = &provenance_place, .lookup = lookup};
    assert_ptr_equal(provenance, &provenance_place);
    return &source;
}

struct identity *__wrap_identity_new(const struct identity_settings *settings);
struct identity *
__wrap_identity_new(const struct identity_settings *settings)
{
    assert_int_equal(settings->redirects, the_metastore != NULL);
    assert_int_equal(settings->options->timeout_ms, the_timeout_ms);
    assert_ptr_equal(settings->options->cancel, &cancel);
    made++;
    return (struct identity *)(void *)&identity_place;
}

void __wrap_identity_free(struct identity *identity);
void
__wrap_identity_free(struct identity *identity)
{
    assert_ptr_equal(identity, &identity_place);
    made--;
}

enum status __wrap_identity_find(struct identity *identity, oid resource, struct arena *arena,
                                 struct identity_cluster *cluster, struct reason *reason);
enum status
__wrap_identity_find(struct identity *identity, oid resource, struct arena *arena,
                     struct identity_cluster *cluster, struct reason *reason)
{
    assert_ptr_equal(identity, &identity_place);
    assert_non_null(arena_alloc(arena, 1 << 12));
    (void)cluster;
    (void)buf_printf(&called, "find %u\n", (unsigned)resource);
    return outcome("find", reason);
}

enum status __wrap_identity_write(struct identity *identity, const struct identity_cluster *cluster,
                                  enum identity_format format, struct buf *out,
                                  struct reason *reason);
enum status
__wrap_identity_write(struct identity *identity, const struct identity_cluster *cluster,
                      enum identity_format format, struct buf *out, struct reason *reason)
{
    assert_ptr_equal(identity, &identity_place);
    assert_non_null(cluster);
    (void)buf_append_string(out, format == IDENTITY_JSON ? "json" : "text");
    return outcome("write", reason);
}

static void
the_cluster_of_a_resource_is_written(void **state)
{
    static max_align_t metastore;
    const struct term one = term_iri(SLICE("x:one")), two = term_iri(SLICE("x:two"));
    (void)state;
    for (int i = 0; i < 4; i++) {
        the_metastore =
            i % 2 == 0 ? NULL : (const struct metastore_client_options *)(const void *)&metastore;
        client.metastore = (struct metastore_client_options *)(uintptr_t)the_metastore;
        the_timeout_ms = i / 2 == 0 ? 0 : 60000;
        client.deadline_ms = 1; /* of a call before */
        partitions[1].missing = true;
        assert_int_equal(index_identity(&client, i == 0 ? &one : &two, i % 2 == 0,
                                        (uint32_t)the_timeout_ms, take, &called, &why),
                         STATUS_OK);
        assert_int_equal(client.deadline_ms, 0);
        assert_ptr_equal(client.cancel, &cancel);
        expect_called(i == 0       ? "find 11\ntake json\n"
                      : i % 2 == 0 ? "find 12\ntake json\n"
                                   : "find 12\ntake text\n");
        assert_int_equal(made, 0);
    }
    static const char *const calls[] = {"lookup", "find", "write", "take"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        char expected[30];
        failing = calls[i];
        assert_int_equal(index_identity(&client, &one, false, 60000, take, &called, &why),
                         STATUS_CORRUPT);
        snprintf(expected, sizeof expected, "%s failed", calls[i]);
        assert_string_equal(why.text, expected);
        expect_called(i == 0 ? "" : i < 3 ? "find 11\n" : "find 11\ntake text\n");
        assert_int_equal(made, 0);
        assert_int_equal(client.deadline_ms, 0);
    }
}

enum status __wrap_index_update(struct index_client *of, struct slice text,
                                const struct index_update_options *options,
                                struct index_update_report *report, struct reason *reason);
enum status
__wrap_index_update(struct index_client *of, struct slice text,
                    const struct index_update_options *options, struct index_update_report *report,
                    struct reason *reason)
{
    assert_ptr_equal(of, &client);
    assert_int_equal(options->timeout_ms, 4321);
    assert_null(report);
    (void)buf_append_slice(&called, text);
    return outcome("update", reason);
}

/* A decision takes the place of those before it, in whichever direction they were written. */
static void
decisions_are_about_two_iris(void **state)
{
#define DECIDED(operation, one, property, other)            \
    operation " DATA { GRAPH <" QUERY_DECISIONS "> { <" one \
              "> <http://www.w3.org/2002/07/owl#" property "> <" other "> } } ;\n"
    static const char undone[] = DECIDED("DELETE", "x:a", "sameAs", "x:b")
        DECIDED("DELETE", "x:b", "sameAs", "x:a") DECIDED("DELETE", "x:a", "differentFrom", "x:b")
            DECIDED("DELETE", "x:b", "differentFrom", "x:a");
    const struct term a = term_iri(SLICE("x:a")), b = term_iri(SLICE("x:b"));
    const struct term blank = {.kind = TERM_BLANK, .value = SLICE("b")};
    const struct term literal = term_literal(SLICE("x:b"));
    const struct term *const wrong[][2] = {{&a, &a},       {&a, &blank},   {&blank, &a},
                                           {&literal, &a}, {&a, &literal}, {&blank, &blank}};
    static const char *const last[] = {DECIDED("INSERT", "x:a", "sameAs", "x:b"),
                                       DECIDED("INSERT", "x:a", "differentFrom", "x:b"), ""};
    static const enum index_decision decisions[] = {INDEX_DECISION_JOIN, INDEX_DECISION_SPLIT,
                                                    INDEX_DECISION_NONE};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct buf expected;
        buf_init(&expected, 1 << 12);
        (void)buf_printf(&expected, "%s%s", undone, last[i]);
        assert_int_equal(index_identity_decide(&client, decisions[i], &a, &b, &why), STATUS_OK);
        expect_called(expected.data);
        buf_release(&expected);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(
            index_identity_decide(&client, INDEX_DECISION_JOIN, wrong[i][0], wrong[i][1], &why),
            STATUS_MISUSE);
    }
    expect_called("");
    failing = "update";
    assert_int_equal(index_identity_decide(&client, INDEX_DECISION_NONE, &a, &b, &why),
                     STATUS_CORRUPT);
    expect_called(undone);
    char *text = memory_zero(1 << 20, 1);
    memset(text, 'a', 1 << 20);
    const struct term long_one = term_iri(slice_of(text, 1 << 20));
    assert_int_equal(index_identity_decide(&client, INDEX_DECISION_NONE, &long_one, &b, &why),
                     STATUS_LIMIT);
    assert_string_equal(why.text, "an IRI of a decision is too long");
    expect_called("");
    free(text);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(a_partition_is_copied_and_all_are_compacted),
        CASE(the_difference_of_a_graph_is_changed),
        CASE(a_graph_that_cannot_be_put_is_told),
        CASE(the_cluster_of_a_resource_is_written),
        CASE(decisions_are_about_two_iris),
    };
    return cmocka_run_group_tests_name("client_whole", tests, NULL, NULL);
}
