/* What an update asks of its target, step by step: which state it reads, what reaches the target
 * in one call, what is reported, and how it ends when the target or the source fails. */
#include <string.h>

#include "rdf/core/writer.h"
#include "rdf/nquads/nquads.h"
#include "tests/unit/query/query_case.h"
#include "tests/update_store.h"

/* ---- a target that notes what is asked of it ---- */

enum failing { NOTHING, SOURCE, CHANGE, CLEAR, LOAD, LOOKUP, ESTIMATE, SCAN, SCAN_NEXT };

static struct {
    struct update_store store;
    struct buf log;
    enum failing failing;
    unsigned fail_at, calls; /* of the calls that may fail, the first is 1 */
    struct quad_source source;
    const struct quad_source *base;
    unsigned open;
} target;

static enum status
may_fail(enum failing what, struct reason *why)
{
    /* Who wants no reason tries something out. */
    if (target.failing != what || !why || ++target.calls != target.fail_at) {
        return STATUS_OK;
    }
    return status_fail(why, STATUS_SYSTEM, "a fault of the test");
}

static enum status
lookup(void *context, const struct term *term, oid *id, struct reason *why)
{
    TRY(may_fail(LOOKUP, why));
    return target.base->lookup(context, term, id, why);
}

static enum status
estimate(void *context, const struct quad_oids *pattern, uint64_t *rows, struct reason *why)
{
    TRY(may_fail(ESTIMATE, why));
    return target.base->estimate(context, pattern, rows, why);
}

static enum status
scan(void *context, const struct quad_oids *pattern, enum quad_order order, struct quad_scan **made,
     struct reason *why)
{
    TRY(may_fail(SCAN, why));
    TRY(target.base->scan(context, pattern, order, made, why));
    target.open++;
    return STATUS_OK;
}

static enum status
scan_next(struct quad_scan *of, struct quad_oids *rows, size_t most, size_t *n, struct reason *why)
{
    TRY(may_fail(SCAN_NEXT, why));
    return target.base->scan_next(of, rows, most, n, why);
}

static void
scan_close(struct quad_scan *of)
{
    target.open--;
    target.base->scan_close(of);
}

static enum status
give_source(void *context, const struct quad_source **source, struct reason *why)
{
    (void)buf_append_string(&target.log, "read ");
    TRY(may_fail(SOURCE, why));
    TRY(update_store_source(context, &target.base, why));
    target.source = *target.base;
    target.source.lookup = lookup;
    target.source.estimate = estimate;
    target.source.scan = scan;
    target.source.scan_next = scan_next;
    target.source.scan_close = scan_close;
    *source = &target.source;
    return STATUS_OK;
}

/* IRIs of the tests are of the scheme x: and are noted without it. */
static struct slice
short_of(struct slice iri)
{
    return iri.length > 2 && memcmp(iri.at, "x:", 2) == 0 ? slice_of(iri.at + 2, iri.length - 2)
                                                          : iri;
}

static void
note_graph(const char *sign, const struct graph *graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        const struct quad *quad = &graph->quads[i];
        assert_true(quad->graph.kind == TERM_IRI);
        assert_true(i == 0 || quad_compare(&graph->quads[i - 1], quad) < 0);
        (void)buf_printf(
            &target.log, "%s%.*s%.*s@%.*s ", sign, SLICE_PRINT(short_of(quad->subject.value)),
            SLICE_PRINT(short_of(quad->object.value)), SLICE_PRINT(short_of(quad->graph.value)));
    }
}

static enum status
change(void *context, const struct graph *removed, const struct graph *added, struct reason *why)
{
    (void)buf_append_string(&target.log, "change ");
    note_graph("-", removed);
    note_graph("+", added);
    TRY(may_fail(CHANGE, why));
    return update_store_change(context, removed, added, why);
}

static enum status
clear(void *context, struct slice graph, struct slice except, struct reason *why)
{
    (void)buf_printf(&target.log, "clear[%.*s][%.*s] ", SLICE_PRINT(short_of(graph)),
                     SLICE_PRINT(short_of(except)));
    TRY(may_fail(CLEAR, why));
    return update_store_clear(context, graph, except, why);
}

static enum status
load(void *context, struct slice document, struct slice graph, struct reason *why)
{
    (void)context;
    (void)buf_printf(&target.log, "load[%.*s][%.*s] ", SLICE_PRINT(short_of(document)),
                     SLICE_PRINT(short_of(graph)));
    return may_fail(LOAD, why);
}

static const char usual_data[] = "<a> <p> \"1\" <g> .\n<a> <p> \"2\" <g> .\n<b> <p> \"2\" <g> .\n"
                                 "<a> <p> \"1\" <h> .\n<c> <p> \"3\" <h> .\n";

static const char *data = usual_data;

/* The text with the scheme of the tests in each IRI. */
static void
whole_text(struct buf *whole, const char *text)
{
    buf_reset(whole);
    for (; *text; text++) {
        (void)buf_append_char(whole, *text);
        if (text[0] == '<' && text[1] >= 'a' && text[1] <= 'z') {
            (void)buf_append_string(whole, "x:");
        }
    }
    (void)buf_append_string(whole, "");
}

static enum status
update_by(const char *text, const struct update_target *of, const struct update_options *options,
          struct update_report *report, struct reason *why)
{
    struct update *prepared;
    struct buf whole;
    const struct quad_sink sink = graph_sink(&target.store.quads);
    buf_init(&whole, 8 << 20);
    whole_text(&whole, data);
    graph_reset(&target.store.quads);
    assert_int_equal(nquads_parse(buf_slice(&whole), NULL, &sink, why), STATUS_OK);
    buf_reset(&target.log);
    target.calls = 0;
    whole_text(&whole, text);
    if (update_prepare(&prepared, buf_slice(&whole), SLICE(""), why) != STATUS_OK) {
        fail_msg("%s: %s", text, why->text);
    }
    buf_release(&whole);
    const enum status status = update_run(prepared, of, options, report, why);
    update_free(prepared);
    assert_int_equal(target.open, 0);
    return status;
}

static const struct update_target usual = {&target.store, give_source, change, clear, load};
static const struct update_options plain = {.blank_prefix = SLICE_INIT("t")};

static const char *
log_text(void)
{
    return target.log.length ? target.log.data : "";
}

static void
does(const char *text, const struct update_options *options, const char *wanted, size_t operations,
     uint64_t removed, uint64_t added)
{
    struct update_report report;
    struct reason why = {""};
    memset(&report, 0xA5, sizeof report);
    if (update_by(text, &usual, options, &report, &why) != STATUS_OK) {
        fail_msg("%s: %s", text, why.text);
    }
    if (strcmp(log_text(), wanted) != 0) {
        fail_msg("%s: %s\nand not %s", text, log_text(), wanted);
    }
    assert_int_equal(report.operations, operations);
    assert_int_equal(report.removed, removed);
    assert_int_equal(report.added, added);
}

/* ---- what is done ---- */

static void
operations_reach_the_target_in_one_call(void **state)
{
    (void)state;
    does("", &plain, "", 0, 0, 0);
    /* Quads come sorted, each once, whatever the solutions repeat. */
    does("INSERT { GRAPH <n> { <z> <p> ?o . ?s <p> ?o } } WHERE { GRAPH ?g { ?s <p> ?o } }", &plain,
         "read change +a1@n +a2@n +b2@n +c3@n +z1@n +z2@n +z3@n ", 1, 0, 7);
    does("DELETE { ?s <p> ?o } WHERE { GRAPH ?g { ?s <p> ?o } FILTER(?o < \"3\") }", &plain,
         "read change -a1@g -a1@h -a2@g -b2@g ", 1, 4, 0);
    does("DELETE { GRAPH <g> { ?s <p> ?o } } INSERT { GRAPH <g> { ?o <p> ?o, ?s } } "
         "WHERE { GRAPH <g> { ?s <p> ?o } }",
         &plain, "read change -a1@g -a2@g -b2@g ", 1, 3, 0);
    /* Where nothing is changed, nothing is called. */
    does("INSERT { ?s <p> 1 } WHERE { ?s <none> ?o }", &plain, "read ", 1, 0, 0);
    does("DELETE DATA { <a> <p> \"none\" . <none> <p> \"1\" . <a> <none> \"1\" }", &plain, "read ",
         1, 0, 0);
    /* An operation sees those before it, and hands on nothing of theirs. */
    does("INSERT DATA { GRAPH <n> { <x> <p> \"1\" } } ; "
         "DELETE DATA { GRAPH <n> { <x> <p> \"1\" } } ; "
         "INSERT { GRAPH <n> { <y> <p> ?o } } WHERE { GRAPH <n> { <x> <p> ?o } } ; "
         "DELETE WHERE { GRAPH <h> { ?s <p> ?o } } ; "
         "INSERT DATA { GRAPH <n> { <z> <p> \"2\" } }",
         &plain,
         "read change +x1@n read change -x1@n read read change -a1@h -c3@h read change +z2@n ", 5,
         3, 2);
    /* What bounds answers bounds no change. */
    const struct update_options one_row = {.query = {.rows = 1}, .blank_prefix = SLICE("t")};
    does("DELETE WHERE { GRAPH <g> { ?s <p> ?o } }", &one_row, "read change -a1@g -a2@g -b2@g ", 1,
         3, 0);
}

static void
graphs_are_transferred_in_one_change(void **state)
{
    const struct update_options default_h = {.query = {.default_graph = SLICE("x:h")},
                                             .blank_prefix = SLICE("t")};
    (void)state;
    does("ADD <g> TO <h>", &plain, "read change +a1@h +a2@h +b2@h ", 1, 0, 3);
    does("COPY <g> TO <h>", &plain, "read change -a1@h -c3@h +a1@h +a2@h +b2@h ", 1, 2, 3);
    does("MOVE <g> TO <h>", &plain, "read change -a1@g -a1@h -a2@g -b2@g -c3@h +a1@h +a2@h +b2@h ",
         1, 5, 3);
    does("MOVE <g> TO <new>", &plain, "read change -a1@g -a2@g -b2@g +a1@new +a2@new +b2@new ", 1,
         3, 3);
    does("COPY DEFAULT TO <g>", &default_h, "read change -a1@g -a2@g -b2@g +a1@g +c3@g ", 1, 3, 2);
    does("MOVE <g> TO DEFAULT", &default_h,
         "read change -a1@g -a1@h -a2@g -b2@g -c3@h +a1@h +a2@h +b2@h ", 1, 5, 3);
    /* A default graph may be empty: ADD then adds nothing, the others empty the other graph. */
    does("ADD DEFAULT TO <g>", &plain, "read ", 1, 0, 0);
    does("COPY DEFAULT TO <h>", &plain, "read change -a1@h -c3@h ", 1, 2, 0);
    does("MOVE DEFAULT TO <h>", &plain, "read change -a1@h -c3@h ", 1, 2, 0);
    /* A graph that goes to itself is not even read. */
    does("ADD <g> TO <g> ; COPY <h> TO <h> ; MOVE <none> TO <none> ; MOVE DEFAULT TO DEFAULT",
         &plain, "", 4, 0, 0);
    does("MOVE DEFAULT TO <h> ; COPY <h> TO DEFAULT", &default_h, "", 2, 0, 0);
}

static void
graphs_are_cleared_by_the_target(void **state)
{
    const struct update_options other = {.query = {.default_graph = SLICE("x:h")},
                                         .blank_prefix = SLICE("t")};
    (void)state;
    does("CLEAR ALL ; DROP ALL", &plain, "clear[][] clear[][] ", 2, 0, 0);
    does("CLEAR NAMED ; DROP NAMED", &plain,
         "clear[][urn:x-quadrille:default] clear[][urn:x-quadrille:default] ", 2, 0, 0);
    does("CLEAR DEFAULT ; DROP GRAPH <g>", &plain, "clear[urn:x-quadrille:default][] clear[g][] ",
         2, 0, 0);
    does("CLEAR NAMED ; CLEAR DEFAULT ; CLEAR ALL", &other, "clear[][h] clear[h][] clear[][] ", 3,
         0, 0);
    does("LOAD <d> ; LOAD <e> INTO GRAPH <g> ; LOAD SILENT <f>", &plain,
         "load[d][] load[e][g] load[f][] ", 3, 0, 0);
    does("CREATE GRAPH <new>", &plain, "read ", 1, 0, 0);
    /* A term that is no graph is nothing that exists as one. */
    does("CREATE GRAPH <a>", &plain, "read ", 1, 0, 0);
}

/* Labels of new blank nodes have the run's prefix, at most 24 bytes of it, the operation's number
 * and the solution's. */
static void
new_nodes_have_labels_of_their_own(void **state)
{
    static const struct {
        const char *prefix, *wanted;
    } cases[] = {
        {"", "read change +uo0x0x01@n read change +uo1x0x02@n +uo1x1x02@n "},
        {"t", "read change +uto0x0x01@n read change +uto1x0x02@n +uto1x1x02@n "},
        {"abcdefghijklmnopqrstuvw", "read change +uabcdefghijklmnopqrstuvwo0x0x01@n read change "
                                    "+uabcdefghijklmnopqrstuvwo1x0x02@n "
                                    "+uabcdefghijklmnopqrstuvwo1x1x02@n "},
        {"abcdefghijklmnopqrstuvwx", "read change +uabcdefghijklmnopqrstuvwxo0x0x01@n read change "
                                     "+uabcdefghijklmnopqrstuvwxo1x0x02@n "
                                     "+uabcdefghijklmnopqrstuvwxo1x1x02@n "},
        {"abcdefghijklmnopqrstuvwxy", "read change +uabcdefghijklmnopqrstuvwxo0x0x01@n read change "
                                      "+uabcdefghijklmnopqrstuvwxo1x0x02@n "
                                      "+uabcdefghijklmnopqrstuvwxo1x1x02@n "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct update_options options = {.blank_prefix = slice_string(cases[i].prefix)};
        does("INSERT DATA { GRAPH <n> { [] <p> \"1\" } } ; "
             "INSERT { GRAPH <n> { [] <p> ?o } } WHERE { GRAPH ?g { ?s <p> ?o } "
             "FILTER(?o = \"2\") }",
             &options, cases[i].wanted, 2, 0, 3);
    }
}

/* ---- failures ---- */

static void
fails(const char *text, const struct update_target *of, enum status status, const char *reason,
      const char *wanted, size_t operations)
{
    struct update_report report;
    struct reason why = {""};
    memset(&report, 0xA5, sizeof report);
    const enum status ended = update_by(text, of, &plain, &report, &why);
    if (ended != status || strcmp(why.text, reason) != 0 || strcmp(log_text(), wanted) != 0) {
        fail_msg("%s: %s, %s, %s", text, status_name(ended), why.text, log_text());
    }
    assert_int_equal(report.operations, operations);
    assert_int_equal(update_by(text, of, &plain, NULL, &why), status);
}

/* Operations before the one that fails stay done, those behind it do not begin. */
static void
a_failure_ends_an_update(void **state)
{
    static const struct {
        const char *operation;
        enum failing failing;
        unsigned fail_at;
        const char *log;
    } cases[] = {
        {"INSERT DATA { GRAPH <n> { <x> <p> 1 } }", SOURCE, 1, "read "},
        {"INSERT DATA { GRAPH <n> { <x> <p> 1 } }", CHANGE, 1, "read change +x1@n "},
        {"INSERT { GRAPH <n> { ?s <p> 1 } } WHERE { ?s <p> \"3\" }", SCAN, 1, "read "},
        {"INSERT { GRAPH <n> { ?s <p> 1 } } WHERE { ?s <p> \"3\" }", SCAN_NEXT, 1, "read "},
        {"INSERT { GRAPH <n> { ?s <p> 1 } } WHERE { ?s <p> \"3\" }", LOOKUP, 1, "read "},
        /* First the three constants of the template, then those of the quad that is removed. */
        {"DELETE DATA { <a> <p> \"1\" }", LOOKUP, 4, "read "},
        {"DELETE DATA { <a> <p> \"1\" }", LOOKUP, 5, "read "},
        {"DELETE DATA { <a> <p> \"1\" }", LOOKUP, 6, "read "},
        {"DELETE DATA { <a> <p> \"1\" }", SCAN, 1, "read "},
        {"DELETE DATA { <a> <p> \"1\" }", SCAN_NEXT, 1, "read "},
        {"CLEAR ALL", CLEAR, 1, "clear[][] "},
        {"CLEAR NAMED", CLEAR, 1, "clear[][urn:x-quadrille:default] "},
        {"DROP GRAPH <g>", CLEAR, 1, "clear[g][] "},
        {"LOAD <d>", LOAD, 1, "load[d][] "},
        {"CREATE GRAPH <n>", SOURCE, 1, "read "},
        {"CREATE GRAPH <n>", LOOKUP, 1, "read "},
        {"CREATE GRAPH <h>", ESTIMATE, 1, "read "},
        {"COPY <g> TO <h>", SOURCE, 1, "read "},
        {"COPY <g> TO <h>", LOOKUP, 1, "read "},
        {"COPY <g> TO <h>", LOOKUP, 2, "read "},
        {"COPY <g> TO <h>", SCAN, 1, "read "},
        {"COPY <g> TO <h>", SCAN, 2, "read "},
        {"MOVE <g> TO <h>", SCAN_NEXT, 1, "read "},
        {"MOVE <g> TO <h>", SCAN_NEXT, 3, "read "},
        {"ADD <g> TO <n>", CHANGE, 1, "read change +a1@n +a2@n +b2@n "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256], wanted[256];
        target.failing = cases[i].failing;
        target.fail_at = cases[i].fail_at;
        snprintf(text, sizeof text, "ADD <g> TO <g> ; %s ; CLEAR GRAPH <g>", cases[i].operation);
        fails(text, &usual, STATUS_SYSTEM, "operation 2: a fault of the test", cases[i].log, 1);
        /* What is silent does not fail, and the next operation comes. */
        const char *space = strchr(cases[i].operation, ' ');
        if (cases[i].operation[0] == 'I' || strncmp(cases[i].operation, "DELETE", 6) == 0) {
            continue;
        }
        struct update_report report;
        struct reason why = {""};
        snprintf(text, sizeof text, "%.*s SILENT%s ; LOAD <last>",
                 (int)(space - cases[i].operation), cases[i].operation, space);
        snprintf(wanted, sizeof wanted, "%sload[last][] ", cases[i].log);
        assert_int_equal(update_by(text, &usual, &plain, &report, &why), STATUS_OK);
        assert_string_equal(log_text(), wanted);
        assert_int_equal(report.operations, 2);
    }
    target.failing = NOTHING;
}

static void
impossible_operations_are_told(void **state)
{
    struct update_target without_load = usual;
    struct reason why = {""};
    (void)state;
    without_load.load = NULL;
    fails("CLEAR ALL ; LOAD <d>", &without_load, STATUS_UNSUPPORTED,
          "operation 2: LOAD is not possible here", "clear[][] ", 1);
    fails("CREATE GRAPH <g> ; CLEAR ALL", &usual, STATUS_BAD_INPUT,
          "operation 1: the graph <x:g> exists already", "read ", 0);
    fails("COPY <none> TO <g>", &usual, STATUS_NOT_FOUND,
          "operation 1: the graph <x:none> does not exist", "read ", 0);
    fails("ADD <a> TO DEFAULT", &usual, STATUS_NOT_FOUND,
          "operation 1: the graph <x:a> does not exist", "read ", 0);
    does("MOVE SILENT <none> TO <g>", &plain, "read ", 1, 0, 0);
    /* A dataset from outside stands beside none of an operation's own. */
    static const char *const datasets[] = {
        "CLEAR ALL ; DELETE { ?s ?p 1 } USING <g> WHERE { ?s ?p ?o }",
        "CLEAR ALL ; DELETE { ?s ?p 1 } USING NAMED <g> WHERE { ?s ?p ?o }",
        "CLEAR ALL ; WITH <g> DELETE { ?s ?p 1 } WHERE { ?s ?p ?o } ; CLEAR ALL",
    };
    for (size_t i = 0; i < 9; i++) {
        struct update_options options = plain;
        options.query.graphs = i % 3 < 2 ? SLICE("x:h\n") : SLICE("");
        options.query.named_graphs = i % 3 > 0 ? SLICE("x:g\n") : SLICE("");
        assert_int_equal(update_by(datasets[i / 3], &usual, &options, NULL, &why),
                         STATUS_BAD_INPUT);
        assert_string_equal(why.text,
                            "USING and WITH are not allowed beside a dataset given for the update");
        assert_string_equal(log_text(), "");
        assert_int_equal(update_by(datasets[i / 3], &usual, &plain, NULL, &why), STATUS_OK);
        assert_int_equal(
            update_by("CLEAR ALL ; DELETE WHERE { ?s <p> ?o }", &usual, &options, NULL, &why),
            STATUS_OK);
    }
}

/* The memory of an update bounds what it removes and what it adds, where its query takes none. */
static void
changes_that_are_too_large_fail(void **state)
{
    enum { QUADS = 400, MEMORY = 128 << 10 };
    static const char *const texts[] = {
        "INSERT { GRAPH <n> { ?s <p> ?o } } WHERE { GRAPH <g> { ?s <p> ?o } }",
        "DELETE { GRAPH <g> { ?s <p> ?o } } WHERE { GRAPH <g> { ?s <p> ?o } }",
        "DELETE { ?s <p> ?o } WHERE { GRAPH <g> { ?s <p> ?o } }",
        "ADD <g> TO <n>",
    };
    struct buf large;
    struct reason why = {""};
    const struct update_options little = {.query = {.memory = MEMORY}, .blank_prefix = SLICE("t")};
    (void)state;
    buf_init(&large, 4 << 20);
    for (unsigned i = 0; i < QUADS; i++) {
        (void)buf_printf(&large, "<s%u> <p> \"%0500u\" <g> .\n", i, i);
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        data = large.data;
        assert_int_equal(update_by(texts[i], &usual, &plain, NULL, &why), STATUS_OK);
        const enum status status = update_by(texts[i], &usual, &little, NULL, &why);
        assert_int_equal(status, STATUS_LIMIT);
        assert_memory_equal(why.text, "operation 1: ", 13);
        assert_string_equal(log_text(), "read ");
        data = usual_data;
        assert_int_equal(update_by(texts[i], &usual, &little, NULL, &why), STATUS_OK);
    }
    buf_release(&large);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_reach_the_target_in_one_call),
        cmocka_unit_test(graphs_are_transferred_in_one_change),
        cmocka_unit_test(graphs_are_cleared_by_the_target),
        cmocka_unit_test(new_nodes_have_labels_of_their_own),
        cmocka_unit_test(a_failure_ends_an_update),
        cmocka_unit_test(impossible_operations_are_told),
        cmocka_unit_test(changes_that_are_too_large_fail),
    };
    graph_init(&target.store.quads, 0);
    buf_init(&target.log, 8 << 20);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    update_store_release(&target.store);
    buf_release(&target.log);
    return failed;
}
