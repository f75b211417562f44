/* SPARQL updates, whole graphs and decisions about identity as clients send them to partitions
 * (index/client/client_update.c, client_graph.c, client_identity.c): the outcome is that of the
 * same operations on a list of quads, however many partitions there are; and when a partition
 * fails, the reason says where the operation is done and where not. */
#include "tests/unit/index_service/served_partitions.h"

#include "index/client/client_update.h"
#include "index/client/partitions/client_calls.h"
#include "index/query/query.h"
#include "tests/update_store.h"

#define DEFAULT_GRAPH "<" UPDATE_DEFAULT_GRAPH ">"

static char folder[SCRATCH_SIZE];
static struct buf text, expected;

/* ---- calls that fail ---- */

/* The linker puts this in the place of the calls of partitions: one can be lost on its way to the
 * partition, or its reply on the way back. */
static struct {
    struct rpc_client *rpc; /* NULL: none fails */
    uint8_t verb;
    enum status status;
    bool arrives; /* the reply is what is lost */
    unsigned changes;
} fault;

enum status __real_rpc_call(struct rpc_client *client, uint8_t verb, struct slice payload,
                            uint32_t timeout_ms, struct buf *reply, struct reason *why);
enum status __wrap_rpc_call(struct rpc_client *client, uint8_t verb, struct slice payload,
                            uint32_t timeout_ms, struct buf *reply, struct reason *why);

enum status
__wrap_rpc_call(struct rpc_client *client, uint8_t verb, struct slice payload, uint32_t timeout_ms,
                struct buf *reply, struct reason *why)
{
    const bool fails = client == fault.rpc && verb == fault.verb;
    fault.changes += verb == INDEX_VERB_CHANGE;
    if (!fails || fault.arrives) {
        TRY(__real_rpc_call(client, verb, payload, timeout_ms, reply, why));
    }
    return fails ? status_fail(why, fault.status, "a fault of the test") : STATUS_OK;
}

static void
fail_calls(const struct served *served, size_t partition, uint8_t verb, enum status status)
{
    memset(&fault, 0, sizeof fault);
    fault.rpc = served->client->partitions[partition].rpc;
    fault.verb = verb;
    fault.status = status;
}

static void
fail_no_calls(void)
{
    memset(&fault, 0, sizeof fault);
}

/* ---- the same as on a list of quads ---- */

static enum status
update(struct served *served, const char *operations, struct index_update_report *report,
       struct reason *why)
{
    const struct index_update_options options = {0};
    return index_update(served->client, slice_string(operations), &options, report, why);
}

static void
update_model(struct update_store *store, const char *operations)
{
    const struct update_target target = update_store_target(store, NULL);
    const struct update_options options = {.blank_prefix = SLICE("t")};
    struct update *prepared;
    struct reason why = {""};
    must(update_prepare(&prepared, slice_string(operations), SLICE(""), &why), &why);
    must(update_run(prepared, &target, &options, NULL, &why), &why);
    update_free(prepared);
}

static void
write_model(struct update_store *store, struct buf *out)
{
    buf_reset(out);
    graph_sort_unique(&store->quads);
    for (size_t i = 0; i < store->quads.count; i++) {
        (void)nquads_write(out, &store->quads.quads[i]);
    }
    (void)buf_append_string(out, "");
}

static size_t
count_new(const struct graph *quads, const struct graph *before)
{
    size_t n = 0;
    for (size_t i = 0; i < quads->count; i++) {
        n += !update_store_holds(before, &quads->quads[i]);
    }
    return n;
}

static void
copy_graph(const struct graph *from, struct graph *to)
{
    struct reason why = {""};
    graph_reset(to);
    for (size_t i = 0; i < from->count; i++) {
        must(graph_add(to, &from->quads[i], &why), &why);
    }
}

/* Runs them on the partitions and on the list, and compares quads and numbers. */
static void
both(struct served *served, struct update_store *store, const char *operations)
{
    struct reason why = {""};
    struct index_update_report report = {99, 99, 99};
    struct graph before;
    graph_init(&before, 0);
    copy_graph(&store->quads, &before);
    if (update(served, operations, &report, &why) != STATUS_OK) {
        fail_msg("%s: %s", operations, why.text);
    }
    update_model(store, operations);
    write_model(store, &expected);
    served_dump(served, &text);
    assert_true(slice_equal(buf_slice(&text), buf_slice(&expected)));
    assert_int_equal(report.operations, 1);
    assert_int_equal(report.added, count_new(&store->quads, &before));
    assert_int_equal(report.removed, count_new(&before, &store->quads));
    graph_release(&before);
}

/* GRAPH <name> { pattern } for the n-th graph of the partition. */
static const char *
in_graph(const struct served *served, size_t partition, unsigned n, const char *pattern)
{
    enum { TEXTS = 8 };
    static char texts[TEXTS][512];
    static unsigned next;
    char uri[SERVED_URI];
    char *const at = texts[next++ % TEXTS];
    snprintf(at, sizeof texts[0], "GRAPH <%s> { %s } ",
             served_graph(served, partition % served->count, n, uri), pattern);
    return at;
}

static const char *
operation(const char *format, const char *a, const char *b, const char *c)
{
    static char buffer[2048];
    snprintf(buffer, sizeof buffer, format, a, b, c);
    return buffer;
}

static void
check_updates(size_t count)
{
    struct served served;
    struct update_store store = {0};
    char uri[SERVED_URI], other[SERVED_URI];
    served_start(&served, folder, count);
    /* Into graphs of all partitions at once, and into the default graph. */
    both(&served, &store,
         operation("INSERT DATA { %s%s%s <a:s> <a:p> <a:o>, 7 }",
                   in_graph(&served, 0, 0, "<a:s> <a:p> 1, 2, \"three\"@en"),
                   in_graph(&served, 1, 1, "<a:s> <a:p> 2, <a:o> . <a:t> <a:q> <a:s>"),
                   in_graph(&served, 2, 2, "<a:t> <a:q> \"caf\xc3\xa9\\n\"")));
    /* What is there already makes no difference. */
    both(&served, &store,
         operation("INSERT DATA { %s%s%s }", in_graph(&served, 0, 0, "<a:s> <a:p> 1, 5"),
                   in_graph(&served, 2, 2, "<a:t> <a:q> \"caf\xc3\xa9\\n\""), ""));
    /* WHERE reads all partitions; removals and additions meet in one graph. */
    both(&served, &store,
         operation("DELETE { GRAPH ?g { ?s <a:p> ?o } } INSERT { %s %s } "
                   "WHERE { GRAPH ?g { ?s <a:p> ?o } ?t <a:q> ?s FILTER(isNumeric(?o)) }",
                   in_graph(&served, 0, 0, "?s <a:was> ?o . ?t <a:p> ?o"),
                   in_graph(&served, 1, 0, "?g <a:had> ?o"), ""));
    both(&served, &store,
         operation("INSERT DATA { %s%s%s }",
                   in_graph(&served, 0, 1, "<a:k> <a:p> \"kept\" . <a:s> <a:p> 3"),
                   in_graph(&served, 1, 0, "<a:s> <a:p> 3"),
                   in_graph(&served, 2, 0, "<a:l> <a:p> 4")));
    /* Deleted from every graph that has it. */
    both(&served, &store, "DELETE DATA { <a:s> <a:p> 3 }");
    both(&served, &store,
         operation("DELETE DATA { %s%s%s }", in_graph(&served, 0, 1, "<a:none> <a:p> 1"), "", ""));
    /* One graph, all but the default graph, the default graph, all. */
    both(&served, &store, operation("CLEAR GRAPH <%s>", served_graph(&served, 0, 1, uri), "", ""));
    both(&served, &store, "CLEAR GRAPH <http://none.example/>");
    both(&served, &store,
         operation("COPY <%s> TO <%s>", served_graph(&served, count - 1, 0, uri),
                   served_graph(&served, 0, 3, other), ""));
    both(&served, &store, "CLEAR NAMED");
    assert_non_null(strstr(text.data, DEFAULT_GRAPH));
    both(&served, &store, "INSERT DATA { GRAPH <a:g> { <a:s> <a:p> 1 } }");
    both(&served, &store, "CLEAR DEFAULT");
    assert_null(strstr(text.data, DEFAULT_GRAPH));
    both(&served, &store, "CLEAR ALL");
    assert_int_equal(text.length, 0);
    served_stop(&served);
    update_store_release(&store);
}

static void
one_partition_is_changed_as_a_list_is(void **state)
{
    (void)state;
    check_updates(1);
}

static void
three_partitions_are_changed_as_a_list_is(void **state)
{
    (void)state;
    check_updates(3);
}

/* ---- options ---- */

static enum status
note_load(void *context, struct slice document, struct slice graph, struct reason *why)
{
    (void)why;
    (void)buf_printf(context, "%.*s>%.*s", SLICE_PRINT(document), SLICE_PRINT(graph));
    return STATUS_OK;
}

static enum status
refuse_load(void *context, struct slice document, struct slice graph, struct reason *why)
{
    (void)context, (void)document, (void)graph;
    return status_fail(why, STATUS_DENIED, "not this one");
}

static void
check_load(struct served *served)
{
    static const char operations[] = "INSERT DATA { GRAPH <a:g> { <a:s> <a:p> 1 } } ; "
                                     "LOAD <http://d.example/> INTO GRAPH <a:h>";
    struct reason why = {""};
    struct index_update_report report = {0};
    struct index_update_options options = {.load = note_load, .context = &text};
    buf_reset(&text);
    must(index_update(served->client, slice_string(operations), &options, &report, &why), &why);
    assert_string_equal(text.data, "http://d.example/>a:h");
    assert_int_equal(report.operations, 2);
    options.load = refuse_load;
    assert_int_equal(
        index_update(served->client, slice_string(operations), &options, &report, &why),
        STATUS_DENIED);
    assert_non_null(strstr(why.text, "not this one"));
    assert_int_equal(report.operations, 1);
    options.load = NULL;
    assert_int_equal(index_update(served->client, slice_string(operations), &options, NULL, &why),
                     STATUS_UNSUPPORTED);
    assert_non_null(strstr(why.text, "LOAD is not possible here"));
}

/* WHERE reads the dataset or the default graph that the request names. */
static void
check_datasets(struct served *served)
{
    static const char copy[] = "INSERT { GRAPH <a:out> { ?s <a:saw> ?o } } WHERE { ?s <a:d> ?o }";
    struct reason why = {""};
    struct index_update_report report;
    struct index_update_options options = {.graphs = SLICE("http://one.example/\n")};
    must(update(served,
                "INSERT DATA { GRAPH <http://one.example/> { <a:s> <a:d> 1 } "
                "GRAPH <http://two.example/> { <a:s> <a:d> 2, 3 } }",
                NULL, &why),
         &why);
    must(index_update(served->client, slice_string(copy), &options, &report, &why), &why);
    assert_int_equal(report.added, 1);
    options = (struct index_update_options){.named_graphs = SLICE("http://two.example/\n")};
    must(index_update(served->client, slice_string(copy), &options, &report, &why), &why);
    assert_int_equal(report.added, 0);
    options = (struct index_update_options){.default_graph = SLICE("http://two.example/")};
    must(index_update(served->client, slice_string(copy), &options, &report, &why), &why);
    assert_int_equal(report.added, 2);
    options = (struct index_update_options){.graphs = SLICE("http://one.example/\n")};
    assert_int_equal(index_update(served->client,
                                  SLICE("WITH <a:g> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }"),
                                  &options, NULL, &why),
                     STATUS_BAD_INPUT);
    options = (struct index_update_options){.memory = 64};
    assert_int_equal(index_update(served->client, slice_string(copy), &options, NULL, &why),
                     STATUS_LIMIT);
}

/* Blank nodes of one operation are one node; those of the next run are others. */
static void
check_blank_nodes(struct served *served)
{
    static const char operations[] =
        "INSERT DATA { GRAPH <a:blank> { _:x <a:self> _:x . _:x <a:other> _:y } }";
    struct reason why = {""};
    for (unsigned runs = 1; runs <= 2; runs++) {
        struct index_update_report report;
        must(update(served, operations, &report, &why), &why);
        assert_int_equal(report.added, 2);
    }
    const struct index_query_options options = {0};
    buf_reset(&text);
    must(index_query(served->client,
                     SLICE("SELECT (COUNT(*) AS ?n) { GRAPH <a:blank> "
                           "{ ?x <a:self> ?x . ?x <a:other> ?y FILTER(?x != ?y) } }"),
                     "csv", &options, fixture_append, &text, &why),
         &why);
    assert_string_equal(text.data, "n\r\n2\r\n");
}

static void
options_are_kept(void **state)
{
    (void)state;
    struct served served;
    struct reason why = {""};
    served_start(&served, folder, 2);
    check_load(&served);
    check_datasets(&served);
    check_blank_nodes(&served);
    assert_int_equal(update(&served, "INSERT nonsense", NULL, &why), STATUS_BAD_INPUT);
    served_stop(&served);
}

/* ---- what may not be changed ---- */

static void
what_the_index_computes_is_not_changed(void **state)
{
    (void)state;
    static const char *const graphs[] = {QUERY_PROVENANCE, QUERY_IDENTITY};
    struct served served;
    served_start(&served, folder, 2);
    const uint64_t batches = served_batches(&served);
    for (size_t i = 0; i < 4; i++) {
        struct reason why = {""};
        struct index_update_report report = {9, 9, 9};
        const char *operations =
            operation("%s DATA { GRAPH <%s> { <a:s> <a:p> 1 } GRAPH <a:g> { <a:s> <a:p> 2 } }",
                      i < 2 ? "INSERT" : "DELETE", graphs[i % 2], "");
        assert_int_equal(update(&served, operations, &report, &why), STATUS_MISUSE);
        assert_non_null(strstr(why.text, graphs[i % 2]));
        assert_non_null(strstr(why.text, "cannot be changed"));
        assert_int_equal(report.operations + report.added + report.removed, 0);
    }
    assert_int_equal(served_batches(&served), batches);
    served_stop(&served);
}

/* More of one partition than a request has room for; nothing of it is sent to any. */
static void
too_much_at_once_changes_nothing(void **state)
{
    (void)state;
    struct served served;
    struct reason why = {""};
    struct graph none, added;
    struct index_update_report report = {0};
    char uri[SERVED_URI];
    char *const large = malloc(RPC_PAYLOAD_MAXIMUM / 2);
    served_start(&served, folder, 2);
    memset(large, 'x', RPC_PAYLOAD_MAXIMUM / 2);
    graph_init(&none, 0);
    graph_init(&added, 0);
    for (unsigned i = 0; i < 3; i++) { /* two of them in the second partition */
        const struct quad quad = {
            .subject = term_iri(SLICE("a:s")),
            .predicate = term_iri(SLICE("a:p")),
            .object = term_literal(slice_of(large, i == 0 ? 1 : RPC_PAYLOAD_MAXIMUM / 2)),
            .graph = term_iri(slice_string(served_graph(&served, i > 0, i, uri)))};
        must(graph_add(&added, &quad, &why), &why);
    }
    fail_no_calls();
    assert_int_equal(client_change(served.client, &none, &added, &report, &why), STATUS_LIMIT);
    assert_non_null(strstr(why.text, "one operation changes more than"));
    assert_int_equal(fault.changes, 0);
    graph_release(&none);
    graph_release(&added);
    free(large);
    served_stop(&served);
}

/* ---- partitions that fail ---- */

static void
check_fault(struct served *served, enum status status, const char *where, const char *there)
{
    struct reason why = {""};
    struct index_update_report report = {9, 9, 9};
    char wanted[256];
    assert_int_equal(
        update(served,
               operation("INSERT DATA { %s%s%s }", in_graph(served, 0, 0, "<a:s> <a:p> 0"),
                         in_graph(served, 1, 0, "<a:s> <a:p> 1"),
                         in_graph(served, 2, 0, "<a:s> <a:p> 2")),
               &report, &why),
        status);
    snprintf(wanted, sizeof wanted, "operation 1: index partition 1 (%s): a fault of the test%s",
             served->endpoints[1], where);
    assert_string_equal(why.text, wanted);
    fail_no_calls();
    served_dump(served, &text);
    for (size_t i = 0; i < 3; i++) {
        char value[16];
        snprintf(value, sizeof value, "\"%zu\"", i);
        assert_int_equal(strstr(text.data != NULL ? text.data : "", value) != NULL,
                         strchr(there, '0' + (int)i) != NULL);
    }
    assert_int_equal(report.operations, 0);
    must(update(served, "CLEAR ALL", NULL, &why), &why);
}

static void
failures_say_where_it_is_done(void **state)
{
    (void)state;
    struct served served;
    struct reason why = {""};
    served_start(&served, folder, 3);
    /* Down before anything was sent: nothing is changed, and all are told. */
    fail_calls(&served, 1, INDEX_VERB_STATS, STATUS_TIMEOUT);
    check_fault(&served, STATUS_TIMEOUT, "; it is not done in partition 0, 1, 2", "");
    /* Refused: the first has it, the last does not get it. */
    fail_calls(&served, 1, INDEX_VERB_CHANGE, STATUS_SYSTEM);
    check_fault(&served, STATUS_SYSTEM,
                "; it is done in partition 0; it is not done in partition 1, 2", "0");
    /* No reply: it may be there, as here. */
    fail_calls(&served, 1, INDEX_VERB_CHANGE, STATUS_TIMEOUT);
    fault.arrives = true;
    check_fault(&served, STATUS_TIMEOUT,
                "; it is done in partition 0; it may be done in partition 1; "
                "it is not done in partition 2",
                "01");
    /* One that is not changed is not asked. */
    fail_calls(&served, 1, INDEX_VERB_STATS, STATUS_TIMEOUT);
    must(update(&served,
                operation("INSERT DATA { %s%s%s }", in_graph(&served, 0, 0, "<a:s> <a:p> 0"),
                          in_graph(&served, 2, 0, "<a:s> <a:p> 2"), ""),
                NULL, &why),
         &why);
    assert_int_equal(fault.changes, 2);
    /* Where only one is changed nothing is asked before. */
    must(update(
             &served,
             operation("INSERT DATA { %s%s%s }", in_graph(&served, 1, 0, "<a:s> <a:p> 1"), "", ""),
             NULL, &why),
         &why);
    fail_no_calls();
    /* A partition's own reason comes through, also when graphs are cleared. */
    fail_calls(&served, 2, INDEX_VERB_CHANGE, STATUS_CORRUPT);
    assert_int_equal(update(&served, "CLEAR ALL", NULL, &why), STATUS_CORRUPT);
    assert_non_null(
        strstr(why.text, "; it is done in partition 0, 1; it is not done in partition 2"));
    fail_no_calls();
    served_stop(&served);
}

/* ---- whole graphs ---- */

static void
put(struct served *served, const char *quads, enum index_graph_mode mode,
    const struct index_graph_report *wanted, bool writes)
{
    struct reason why = {""};
    struct graph graph;
    struct index_graph_report report = {0};
    const uint64_t batches = served_batches(served);
    graph_init(&graph, 0);
    const struct quad_sink sink = graph_sink(&graph);
    must(nquads_parse(slice_string(quads), NULL, &sink, &why), &why);
    must(index_graph_put(served->client, SLICE("a:g"), &graph, mode, 0, &report, &why), &why);
    graph_release(&graph);
    assert_int_equal(report.existed, wanted->existed);
    assert_int_equal(report.removed, wanted->removed);
    assert_int_equal(report.added, wanted->added);
    assert_int_equal(served_batches(served) != batches, writes);
}

#define QUAD(s, o) "<a:" s "> <a:p> \"" o "\" <a:g> .\n"
#define OTHER "<a:b> <a:p> \"2\" <a:other> .\n"

static void
graphs_are_put_by_their_difference(void **state)
{
    (void)state;
    struct served served;
    struct reason why = {""};
    served_start(&served, folder, 3);
    must(update(&served, "INSERT DATA { GRAPH <a:other> { <a:b> <a:p> '2' } }", NULL, &why), &why);
    put(&served, "", INDEX_GRAPH_REPLACE, &(struct index_graph_report){false, 0, 0}, false);
    put(&served, QUAD("c", "3") QUAD("a", "1") QUAD("a", "1"), INDEX_GRAPH_REPLACE,
        &(struct index_graph_report){false, 0, 2}, true);
    put(&served, QUAD("a", "1") QUAD("b", "2"), INDEX_GRAPH_ADD,
        &(struct index_graph_report){true, 0, 1}, true);
    put(&served, QUAD("a", "1") QUAD("c", "3"), INDEX_GRAPH_ADD,
        &(struct index_graph_report){true, 0, 0}, false);
    put(&served, QUAD("b", "2") QUAD("a", "1") QUAD("c", "3"), INDEX_GRAPH_REPLACE,
        &(struct index_graph_report){true, 0, 0}, false);
    put(&served, QUAD("d", "4") QUAD("b", "2"), INDEX_GRAPH_REPLACE,
        &(struct index_graph_report){true, 2, 1}, true);
    served_dump(&served, &text);
    assert_string_equal(text.data, QUAD("b", "2") OTHER QUAD("d", "4"));
    /* As many are added as are removed. */
    put(&served, QUAD("e", "5") QUAD("b", "2"), INDEX_GRAPH_REPLACE,
        &(struct index_graph_report){true, 1, 1}, true);
    served_dump(&served, &text);
    assert_string_equal(text.data, QUAD("b", "2") OTHER QUAD("e", "5"));
    put(&served, "", INDEX_GRAPH_REPLACE, &(struct index_graph_report){true, 2, 0}, true);
    served_dump(&served, &text);
    assert_string_equal(text.data, OTHER);
    served_stop(&served);
}

/* What a graph has is read within bounds, and nothing is changed when it does not fit or when it
 * cannot be read. */
static void
graphs_that_cannot_be_read_stay(void **state)
{
    (void)state;
    struct served served;
    struct reason why = {""};
    struct index_graph_report report = {0};
    struct graph none;
    served_start(&served, folder, 2);
    must(update(&served, "INSERT DATA { GRAPH <a:g> { <a:b> <a:p> '1', '2', '3' } }", NULL, &why),
         &why);
    const uint64_t batches = served_batches(&served);
    graph_init(&none, 0);
    assert_int_equal(
        index_graph_put(served.client, SLICE("a:g"), &none, INDEX_GRAPH_REPLACE, 1, &report, &why),
        STATUS_LIMIT);
    assert_int_equal(report.removed + report.added, 0);
    assert_int_equal(served_batches(&served), batches);
    must(index_graph_put(served.client, SLICE("a:g"), &none, INDEX_GRAPH_REPLACE, 1 << 20, &report,
                         &why),
         &why);
    assert_int_equal(report.removed, 3);
    graph_release(&none);
    served_stop(&served);
}

/* ---- identity ---- */

#define ONE "<http://one.example/a>"
#define TWO "<http://two.example/b>"
#define SAME " <http://www.w3.org/2002/07/owl#sameAs> "
#define DIFFERENT " <http://www.w3.org/2002/07/owl#differentFrom> "

static void
decide(struct served *served, enum index_decision decision, bool turned, const char *wanted)
{
    struct reason why = {""};
    const struct term one = term_iri(SLICE("http://one.example/a")),
                      two = term_iri(SLICE("http://two.example/b"));
    must(index_identity_decide(served->client, decision, turned ? &two : &one, turned ? &one : &two,
                               &why),
         &why);
    served_dump(served, &text);
    assert_string_equal(text.data != NULL ? text.data : "", wanted);
}

static const char *
cluster_of(struct served *served, const char *iri, bool json)
{
    struct reason why = {""};
    const struct term term = term_iri(slice_string(iri));
    buf_reset(&text);
    must(index_identity(served->client, &term, json, 10000, fixture_append, &text, &why), &why);
    return text.data;
}

/* The last decision about two is the one that holds, whichever is named first. */
static void
decisions_take_the_place_of_earlier_ones(void **state)
{
    (void)state;
    struct served served;
    served_start(&served, folder, 2);
    decide(&served, INDEX_DECISION_NONE, false, "");
    decide(&served, INDEX_DECISION_JOIN, false, ONE SAME TWO " <" QUERY_DECISIONS "> .\n");
    assert_non_null(strstr(cluster_of(&served, "http://one.example/a", false),
                           ONE " is the same as\n  " TWO "\nbecause\n"));
    assert_non_null(
        strstr(cluster_of(&served, "http://two.example/b", true), "\"<http://one.example/a>\""));
    assert_int_equal(text.data[0], '{');
    assert_string_equal(text.data + text.length - 2, "}\n");
    decide(&served, INDEX_DECISION_SPLIT, true, TWO DIFFERENT ONE " <" QUERY_DECISIONS "> .\n");
    assert_non_null(strstr(cluster_of(&served, "http://one.example/a", false),
                           ONE " is the same as nothing else\n"));
    decide(&served, INDEX_DECISION_JOIN, true, TWO SAME ONE " <" QUERY_DECISIONS "> .\n");
    decide(&served, INDEX_DECISION_SPLIT, false, ONE DIFFERENT TWO " <" QUERY_DECISIONS "> .\n");
    decide(&served, INDEX_DECISION_NONE, true, "");
    served_stop(&served);
}

static void
decisions_are_about_two_iris(void **state)
{
    (void)state;
    struct served served;
    served_start(&served, folder, 1);
    const struct term iri = term_iri(SLICE("a:b")), same = term_iri(SLICE("a:b")),
                      other = term_iri(SLICE("a:c")),
                      blank = {.kind = TERM_BLANK, .value = SLICE("b")};
    const struct term *pairs[][2] = {{&iri, &same}, {&blank, &other}, {&other, &blank}};
    for (size_t i = 0; i < 3; i++) {
        struct reason why = {""};
        assert_int_equal(index_identity_decide(served.client, INDEX_DECISION_JOIN, pairs[i][0],
                                               pairs[i][1], &why),
                         STATUS_MISUSE);
        assert_non_null(strstr(why.text, "two IRIs"));
    }
    char *const large = malloc(2 << 20);
    memset(large, 'x', 2 << 20);
    struct reason why = {""};
    const struct term long_iri = term_iri(slice_of(large, 2 << 20));
    assert_int_equal(
        index_identity_decide(served.client, INDEX_DECISION_JOIN, &iri, &long_iri, &why),
        STATUS_LIMIT);
    free(large);
    served_dump(&served, &text);
    assert_int_equal(text.length, 0);
    served_stop(&served);
}

/* ---- setup ---- */

static int
make_folder(void **state)
{
    (void)state;
    buf_init(&text, SERVED_ANSWER);
    buf_init(&expected, SERVED_ANSWER);
    return scratch_folder(folder, "updates") ? 0 : -1;
}

static int
remove_folder(void **state)
{
    (void)state;
    buf_release(&text);
    buf_release(&expected);
    fixture_run("rm -rf %s%s", folder, "");
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_partition_is_changed_as_a_list_is, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(three_partitions_are_changed_as_a_list_is, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(options_are_kept, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(what_the_index_computes_is_not_changed, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(too_much_at_once_changes_nothing, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(failures_say_where_it_is_done, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(graphs_are_put_by_their_difference, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(graphs_that_cannot_be_read_stay, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(decisions_take_the_place_of_earlier_ones, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(decisions_are_about_two_iris, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
