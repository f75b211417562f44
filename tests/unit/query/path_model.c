/* Property paths by chance over small graphs by chance, beside the same computed with tables of who
 * is reached from whom: whichever end is bound, and by what. */
#include "tests/unit/query/path_model.h"

#include <string.h>

#include "tests/unit/query/query_case.h"

enum { NODES = 6, PREDICATES = 2, GRAPHS = 25, PATHS = 12, DEPTH = 3, TEXT = 4096 };
#define PREFIXES "PREFIX : <http://example.org/> "

/* Bit y of row x: y is reached from x. */
struct reach {
    uint8_t rows[NODES];
};

static struct reach edges[PREDICATES];
static uint8_t in_graph; /* the nodes */
static unsigned seed;

static unsigned
chance(unsigned most)
{
    return (unsigned)rand_r(&seed) % most;
}

/* ---- the model ---- */

static struct reach
inverse(struct reach of)
{
    struct reach result = {{0}};
    for (unsigned x = 0; x < NODES; x++) {
        for (unsigned y = 0; y < NODES; y++) {
            result.rows[y] |= (uint8_t)((of.rows[x] >> y & 1) << x);
        }
    }
    return result;
}

static struct reach
either(struct reach a, struct reach b)
{
    for (unsigned x = 0; x < NODES; x++) {
        a.rows[x] |= b.rows[x];
    }
    return a;
}

static struct reach
one_after_other(struct reach a, struct reach b)
{
    struct reach result = {{0}};
    for (unsigned x = 0; x < NODES; x++) {
        for (unsigned y = 0; y < NODES; y++) {
            result.rows[x] |= a.rows[x] >> y & 1 ? b.rows[y] : 0;
        }
    }
    return result;
}

static struct reach
itself(void)
{
    struct reach result;
    for (unsigned x = 0; x < NODES; x++) {
        result.rows[x] = (uint8_t)(1u << x);
    }
    return result;
}

static struct reach
often(struct reach of)
{
    for (unsigned i = 0; i < NODES; i++) {
        of = either(of, one_after_other(of, of));
    }
    return of;
}

/* ---- paths ---- */

static struct reach make_path(unsigned depth, struct buf *text);

/* !(a|^b): some of each direction; a direction of which none is named does not count. */
static struct reach
make_negated(struct buf *text)
{
    const unsigned forward = chance(4), backward = forward == 0 ? 1 + chance(3) : chance(4);
    struct reach result = {{0}};
    const char *before = "";
    (void)buf_append_string(text, "!(");
    for (unsigned p = 0; p < PREDICATES; p++) {
        if (forward >> p & 1) {
            (void)buf_printf(text, "%s:p%u", before, p);
            before = "|";
        } else if (forward != 0) {
            result = either(result, edges[p]);
        }
        if (backward >> p & 1) {
            (void)buf_printf(text, "%s^:p%u", before, p);
            before = "|";
        } else if (backward != 0) {
            result = either(result, inverse(edges[p]));
        }
    }
    (void)buf_append_char(text, ')');
    return result;
}

static struct reach
make_pair(unsigned depth, bool sequence, struct buf *text)
{
    (void)buf_append_char(text, '(');
    const struct reach left = make_path(depth - 1, text);
    (void)buf_append_char(text, sequence ? '/' : '|');
    const struct reach right = make_path(depth - 1, text);
    (void)buf_append_char(text, ')');
    return sequence ? one_after_other(left, right) : either(left, right);
}

static struct reach
make_path(unsigned depth, struct buf *text)
{
    static const char signs[] = {'?', '*', '+'};
    const unsigned kind = depth == 0 ? 0 : chance(8);
    if (kind < 2) {
        const unsigned predicate = chance(PREDICATES);
        (void)buf_printf(text, ":p%u", predicate);
        return edges[predicate];
    }
    if (kind == 2) {
        return make_negated(text);
    }
    if (kind == 3) {
        (void)buf_append_string(text, "^(");
        const struct reach of = make_path(depth - 1, text);
        (void)buf_append_char(text, ')');
        return inverse(of);
    }
    if (kind < 6) {
        return make_pair(depth, kind == 4, text);
    }
    const unsigned sign = chance(3);
    (void)buf_append_char(text, '(');
    const struct reach of = make_path(depth - 1, text);
    (void)buf_printf(text, ")%c", signs[sign]);
    return sign == 2 ? often(of) : either(itself(), sign == 1 ? often(of) : of);
}

/* ---- the engine ---- */

/* Node of an IRI in a row of ?x ?y. */
static unsigned
node_of(const struct term *term)
{
    assert_int_equal(term->kind, TERM_IRI);
    const unsigned node = (unsigned)(term->value.at[term->value.length - 1] - '0');
    assert_true(node < NODES);
    return node;
}

static enum status
take_pair(void *context, const struct term *terms, size_t n, struct reason *why)
{
    struct reach *found = context;
    (void)why;
    assert_int_equal(n, 2);
    found->rows[node_of(&terms[0])] |= (uint8_t)(1u << node_of(&terms[1]));
    return STATUS_OK;
}

static void
check(struct memory_source *source, const char *text, const struct reach *expected)
{
    struct reach found = {{0}};
    const struct query_options options = {0};
    const struct query_sink sink = {.context = &found, .row = take_pair};
    struct query *query;
    struct reason why = {""};
    if (query_prepare(&query, slice_string(text), SLICE(""), &why) != STATUS_OK) {
        fail_msg("%s: %s", text, why.text);
    }
    assert_int_equal(query_run(query, memory_source_table(source), &options, &sink, NULL, &why),
                     STATUS_OK);
    query_free(query);
    if (memcmp(&found, expected, sizeof found) != 0) {
        fail_msg("%s: other pairs", text);
    }
}

/* Of the pairs only those with this node at an end, NODES: with any. */
static struct reach
only(const struct reach *of, unsigned x, unsigned y)
{
    struct reach result = {{0}};
    for (unsigned i = 0; i < NODES; i++) {
        result.rows[i] = x == NODES || x == i ? of->rows[i] : 0;
        result.rows[i] &= y == NODES ? 0xff : (uint8_t)(1u << y);
    }
    return result;
}

static void
check_path(struct memory_source *source, const char *path, const struct reach *pairs)
{
    char text[TEXT];
    /* Ends that are free are nodes of the graph. */
    struct reach inside = *pairs;
    for (unsigned x = 0; x < NODES; x++) {
        inside.rows[x] &= in_graph >> x & 1 ? in_graph : 0;
    }
    snprintf(text, sizeof text, PREFIXES "SELECT DISTINCT ?x ?y { ?x %s ?y }", path);
    check(source, text, &inside);
    snprintf(text, sizeof text, PREFIXES "SELECT DISTINCT ?x ?y { GRAPH :g { ?x %s ?y } }", path);
    check(source, text, &inside);
    snprintf(text, sizeof text,
             PREFIXES "SELECT DISTINCT ?x ?y { VALUES ?x { :n5 :n4 :n3 :n2 :n1 :n0 } ?x %s ?y }",
             path);
    check(source, text, pairs);
    snprintf(text, sizeof text,
             PREFIXES "SELECT DISTINCT ?x ?y { VALUES ?y { :n0 :n1 :n2 :n3 :n4 :n5 } ?x %s ?y }",
             path);
    check(source, text, pairs);
    for (unsigned node = 0; node < NODES; node += 2) {
        struct reach some = only(pairs, node, NODES);
        snprintf(text, sizeof text, PREFIXES "SELECT DISTINCT (:n%u AS ?x) ?y { :n%u %s ?y }", node,
                 node, path);
        check(source, text, &some);
        some = only(pairs, NODES, node);
        snprintf(text, sizeof text, PREFIXES "SELECT DISTINCT ?x (:n%u AS ?y) { ?x %s :n%u }", node,
                 path, node);
        check(source, text, &some);
        some = only(pairs, node, (node + 1) % NODES);
        snprintf(text, sizeof text,
                 PREFIXES "SELECT DISTINCT (:n%u AS ?x) (:n%u AS ?y) { :n%u %s :n%u }", node,
                 (node + 1) % NODES, node, path, (node + 1) % NODES);
        check(source, text, &some);
    }
}

static struct memory_source *
make_graph(void)
{
    struct buf trig;
    buf_init(&trig, TEXT);
    memset(edges, 0, sizeof edges);
    in_graph = 0;
    (void)buf_append_string(&trig, "@prefix : <http://example.org/> . :g {");
    for (unsigned i = 0; i < 7; i++) { /* the last node is often in no edge */
        const unsigned x = chance(NODES - 1), y = chance(NODES - chance(2)), p = chance(PREDICATES);
        edges[p].rows[x] |= (uint8_t)(1u << y);
        in_graph |= (uint8_t)(1u << x | 1u << y);
        (void)buf_printf(&trig, ":n%u :p%u :n%u .", x, p, y);
    }
    (void)buf_append_string(&trig, "}");
    struct memory_source *source = query_case_source(trig.data);
    buf_release(&trig);
    return source;
}

void
paths_reach_what_they_should(void **state)
{
    (void)state;
    seed = 7;
    for (unsigned graph = 0; graph < GRAPHS; graph++) {
        struct memory_source *source = make_graph();
        for (unsigned i = 0; i < PATHS; i++) {
            struct buf path;
            buf_init(&path, TEXT);
            const struct reach pairs = make_path(DEPTH, &path);
            check_path(source, path.data, &pairs);
            buf_release(&path);
        }
        memory_source_free(source);
    }
}
