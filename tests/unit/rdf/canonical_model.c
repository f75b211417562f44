/* Canonical graphs (rdf/canonical/canonical.c) beside RDFC-1.0 as the recommendation has it, which
 * copies issuers where ours takes back, on small graphs that have much symmetry. It counts the
 * work, too, whose limit is tried at both sides. */
#include "tests/unit/rdf/canonical_model.h"

#include <stdio.h>

#include <nettle/sha2.h>

#include "base/digest.h"
#include "rdf/canonical/canonical.h"
#include "rdf/nquads/nquads.h"
#include "tests/unit/rdf/rdf_case.h"

enum { NODES = 8, QUADS = 40, GRAPHS = 900, LIST = 64, ROOM = 1 << 16, HEX = 2 * 48 + 1 };

static uint64_t seed = 521288629u;
static unsigned
random_below(unsigned n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 16) % n;
}

/* ---- graphs ---- */

enum { NONE = -1, CONSTANTS = 100 }; /* places: a node, NONE, or a term from CONSTANTS on */

struct made_quad {
    int places[3]; /* subject, object, graph */
    int predicate;
};

struct made_graph {
    struct made_quad quads[QUADS];
    size_t count;
};

static void
add(struct made_graph *graph, int subject, int predicate, int object, int name)
{
    assert_true(graph->count < QUADS);
    graph->quads[graph->count++] = (struct made_quad){{subject, object, name}, predicate};
}

static int
any_place(int nodes)
{
    return random_below(5) == 0 ? CONSTANTS + (int)random_below(2)
                                : (int)random_below((unsigned)nodes);
}

static void
make_graph(struct made_graph *graph, unsigned kind)
{
    const int n = 1 + (int)random_below(kind % 7 == 1 ? 4 : 5);
    graph->count = 0;
    switch (kind % 7) {
    case 0: /* rings, of which one may be marked */
        for (int i = 0; i < NODES; i++) {
            add(graph, i, 0, i % n == n - 1 || i == NODES - 1 ? i - i % n : i + 1, NONE);
        }
        if (random_below(2)) {
            add(graph, (int)random_below(NODES), 1, CONSTANTS, NONE);
        }
        break;
    case 1: /* all to all */
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                if (i != j) {
                    add(graph, i, 0, j, NONE);
                }
            }
        }
        break;
    case 2: /* a ring with hairs */
        for (int i = 0; i < 4; i++) {
            add(graph, i, 0, (i + 1) % 4, NONE);
            add(graph, i, (int)random_below(2), 4 + i, NONE);
        }
        break;
    case 3: /* a ring in graphs that its nodes name */
        for (int i = 0; i < n; i++) {
            add(graph, i, (int)(kind / 7 % 2), (i + 1) % n, (i + 1 + (int)(kind / 14 % 3)) % n);
        }
        break;
    default: /* anything, also in graphs, of which nodes are the names; some quads twice */
        for (unsigned quads = 1 + random_below(9); quads > 0; quads--) {
            const int name = random_below(3) > 0 ? NONE : any_place(n);
            add(graph, any_place(n), (int)random_below(2), any_place(n), name);
            if (random_below(6) == 0) {
                graph->quads[graph->count] = graph->quads[random_below((unsigned)graph->count)];
                graph->count++;
            }
        }
        break;
    }
}

/* The quads as lines, shuffled; nodes are named at random when they are named by nobody. */
static void
print_graph(const struct made_graph *graph, const char *const *names, struct buf *text)
{
    size_t order[QUADS];
    for (size_t i = 0; i < graph->count; i++) {
        const size_t other = random_below((unsigned)i + 1);
        order[i] = order[other];
        order[other] = i;
    }
    for (size_t i = 0; i < graph->count; i++) {
        const struct made_quad *quad = &graph->quads[order[i]];
        for (int place = 0; place < 3; place++) {
            const int term = quad->places[place];
            if (term >= CONSTANTS) {
                buf_printf(text, "<a:%d> ", term);
            } else if (term != NONE) {
                buf_printf(text, "_:%s ", names[term]);
            }
            if (place == 0) {
                buf_printf(text, "<a:p%d> ", quad->predicate);
            }
        }
        buf_append_string(text, ".\n");
    }
}

/* ---- RDFC-1.0 ---- */

struct issuer {
    int number[NODES]; /* or NONE */
    int order[NODES], count;
};

struct model {
    const struct made_graph *graph; /* without doubles; nodes by first appearance */
    int nodes;
    bool sha384;
    char first[NODES][HEX];
    struct issuer canonical;
    uint64_t work;
};

static void
hash(const struct model *m, const struct buf *text, char hex[HEX])
{
    uint8_t digest[SHA384_DIGEST_SIZE];
    if (m->sha384) {
        struct sha384_ctx context;
        sha384_init(&context);
        sha384_update(&context, text->length, (const uint8_t *)text->data);
        sha384_digest(&context, SHA384_DIGEST_SIZE, digest);
    } else {
        digest_sha256(buf_slice(text), digest);
    }
    digest_hex(digest, m->sha384 ? SHA384_DIGEST_SIZE : SHA256_DIGEST_SIZE, hex);
}

static const struct issuer nothing = {{NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE}, {0}, 0};

static int
issue(struct issuer *issuer, int node)
{
    if (issuer->number[node] == NONE) {
        issuer->number[node] = issuer->count;
        issuer->order[issuer->count++] = node;
    }
    return issuer->number[node];
}

static bool
mentions(const struct made_quad *quad, int node)
{
    return quad->places[0] == node || quad->places[1] == node || quad->places[2] == node;
}

static int
compare_lines(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void
hash_first_degree(struct model *m, int node)
{
    char lines[QUADS][256];
    const char *names[NODES];
    size_t n = 0;
    struct buf text;
    buf_init(&text, ROOM);
    for (int i = 0; i < m->nodes; i++) {
        names[i] = i == node ? "a" : "z";
    }
    for (size_t i = 0; i < m->graph->count; i++) {
        if (mentions(&m->graph->quads[i], node)) {
            const struct made_graph one = {{m->graph->quads[i]}, 1};
            buf_reset(&text);
            print_graph(&one, names, &text);
            snprintf(lines[n++], sizeof lines[0], "%s", text.data);
        }
    }
    qsort(lines, n, sizeof lines[0], compare_lines);
    buf_reset(&text);
    for (size_t i = 0; i < n; i++) {
        buf_append_string(&text, lines[i]);
    }
    hash(m, &text, m->first[node]);
    buf_release(&text);
}

static void
hash_related(const struct model *m, const struct made_quad *quad, int place, int related,
             const struct issuer *issuer, char hex[HEX])
{
    struct buf text;
    buf_init(&text, ROOM);
    buf_append_char(&text, "sog"[place]);
    if (place != 2) {
        buf_printf(&text, "<a:p%d>", quad->predicate);
    }
    if (m->canonical.number[related] != NONE) {
        buf_printf(&text, "_:c14n%d", m->canonical.number[related]);
    } else if (issuer->number[related] != NONE) {
        buf_printf(&text, "_:b%d", issuer->number[related]);
    } else {
        buf_append_string(&text, m->first[related]);
    }
    hash(m, &text, hex);
    buf_release(&text);
}

struct related {
    char hash[HEX];
    int node;
};

static int
compare_related(const void *left, const void *right)
{
    const struct related *a = left, *b = right;
    const int order = strcmp(a->hash, b->hash);
    return order != 0 ? order : a->node - b->node;
}

struct path {
    struct buf text;
    struct issuer issuer;
    bool made;
};

/* The permutations of a list, the smallest first; `order` has `done` places of one. */
struct permuting {
    struct model *m;
    int list[LIST], order[LIST];
    bool used[LIST];
    size_t count;
    const struct issuer *issuer;
    struct path best;
};

static void hash_n_degree(struct model *m, int node, struct issuer *issuer, char hex[HEX]);

static bool
is_worse(const struct permuting *p, const struct buf *text)
{
    return p->best.made && text->length >= p->best.text.length &&
           strcmp(text->data, p->best.text.data) > 0;
}

static void
try_order(struct permuting *p)
{
    struct model *m = p->m;
    struct path path = {.issuer = *p->issuer};
    int recursion[LIST];
    size_t recursions = 0;
    bool worse = false;
    buf_init(&path.text, ROOM);
    for (size_t i = 0; i < p->count && !worse; i++) {
        const int node = p->order[i];
        m->work++;
        if (m->canonical.number[node] != NONE) {
            buf_printf(&path.text, "_:c14n%d", m->canonical.number[node]);
        } else {
            if (path.issuer.number[node] == NONE) {
                recursion[recursions++] = node;
            }
            buf_printf(&path.text, "_:b%d", issue(&path.issuer, node));
        }
        worse = is_worse(p, &path.text);
    }
    for (size_t i = 0; i < recursions && !worse; i++) {
        char hex[HEX];
        hash_n_degree(m, recursion[i], &path.issuer, hex);
        buf_printf(&path.text, "_:b%d<%s>", issue(&path.issuer, recursion[i]), hex);
        worse = is_worse(p, &path.text);
    }
    if (!worse && (!p->best.made || strcmp(path.text.data, p->best.text.data) < 0)) {
        buf_release(&p->best.text);
        p->best = path;
        p->best.made = true;
    } else {
        buf_release(&path.text);
    }
}

static void
permute(struct permuting *p, size_t done)
{
    if (done == p->count) {
        try_order(p);
        return;
    }
    for (size_t i = 0; i < p->count; i++) {
        const bool same = i > 0 && p->list[i] == p->list[i - 1] && !p->used[i - 1];
        if (!p->used[i] && !same) {
            p->used[i] = true;
            p->order[done] = p->list[i];
            permute(p, done + 1);
            p->used[i] = false;
        }
    }
}

/* *issuer becomes what the best path made of it. */
static void
hash_n_degree(struct model *m, int node, struct issuer *issuer, char hex[HEX])
{
    struct related related[LIST] = {0};
    struct buf data;
    size_t count = 0;
    m->work++;
    buf_init(&data, ROOM);
    for (size_t i = 0; i < m->graph->count; i++) {
        const struct made_quad *quad = &m->graph->quads[i];
        m->work += mentions(quad, node);
        for (int place = 0; place < 3 && mentions(quad, node); place++) {
            const int other = quad->places[place];
            if (other >= 0 && other < CONSTANTS && other != node) {
                hash_related(m, quad, place, other, issuer, related[count].hash);
                related[count++].node = other;
            }
        }
    }
    qsort(related, count, sizeof *related, compare_related);
    for (size_t start = 0, end; start < count; start = end) {
        struct permuting p = {.m = m, .issuer = issuer};
        buf_init(&p.best.text, ROOM);
        for (end = start; end < count && strcmp(related[end].hash, related[start].hash) == 0;) {
            p.list[p.count++] = related[end++].node;
        }
        permute(&p, 0);
        buf_append_string(&data, related[start].hash);
        buf_append_slice(&data, buf_slice(&p.best.text));
        *issuer = p.best.issuer;
        buf_release(&p.best.text);
    }
    hash(m, &data, hex);
    buf_release(&data);
}

struct result {
    char hash[HEX];
    struct issuer issuer;
};

static int
compare_results(const void *a, const void *b)
{
    return strcmp(((const struct result *)a)->hash, ((const struct result *)b)->hash);
}

static void
canonicalize(struct model *m)
{
    struct related nodes[NODES] = {0};
    m->canonical = nothing;
    for (int i = 0; i < m->nodes; i++) {
        hash_first_degree(m, i);
        nodes[i].node = i;
        memcpy(nodes[i].hash, m->first[i], HEX);
    }
    qsort(nodes, (size_t)m->nodes, sizeof *nodes, compare_related);
    for (int pass = 0; pass < 2; pass++) {
        for (int start = 0, end; start < m->nodes; start = end) {
            struct result results[NODES];
            size_t count = 0;
            for (end = start; end < m->nodes && !strcmp(nodes[end].hash, nodes[start].hash);) {
                end++;
            }
            if (pass == 0 && end == start + 1) {
                (void)issue(&m->canonical, nodes[start].node);
            }
            for (int i = start; pass == 1 && end > start + 1 && i < end; i++) {
                if (m->canonical.number[nodes[i].node] == NONE) {
                    struct result *result = &results[count++];
                    result->issuer = nothing;
                    (void)issue(&result->issuer, nodes[i].node);
                    hash_n_degree(m, nodes[i].node, &result->issuer, result->hash);
                }
            }
            qsort(results, count, sizeof *results, compare_results);
            for (size_t i = 0; i < count; i++) {
                for (int k = 0; k < results[i].issuer.count; k++) {
                    (void)issue(&m->canonical, results[i].issuer.order[k]);
                }
            }
        }
    }
}

/* ---- both ---- */

static void
load(struct graph *graph, const struct buf *text)
{
    graph_init(graph, 0);
    const struct quad_sink sink = graph_sink(graph);
    assert_int_equal(nquads_parse(buf_slice(text), NULL, &sink, NULL), STATUS_OK);
}

/* The graph as the model has it: doubles gone, nodes by first appearance in `text`. */
static int
number_nodes(const struct made_graph *made, const char *const *names,
             const struct canonical_map *map, struct made_graph *graph)
{
    graph->count = 0;
    for (size_t i = 0; i < made->count; i++) {
        struct made_quad quad = made->quads[i];
        bool again = false;
        for (int place = 0; place < 3; place++) {
            for (int k = 0;
                 quad.places[place] == made->quads[i].places[place] && quad.places[place] >= 0 &&
                 quad.places[place] < CONSTANTS && k < (int)map->count;
                 k++) {
                if (slice_is(map->labels[k], names[made->quads[i].places[place]])) {
                    quad.places[place] = k;
                    break;
                }
            }
        }
        for (size_t k = 0; k < graph->count; k++) {
            again = again || memcmp(&graph->quads[k], &quad, sizeof quad) == 0;
        }
        if (!again) {
            graph->quads[graph->count++] = quad;
        }
    }
    return (int)map->count;
}

/* The lines of the graph with the model's numbers, sorted. */
static void
print_canonical(const struct model *m, struct buf *text)
{
    char labels[NODES][16];
    const char *names[NODES];
    struct buf lines;
    struct graph graph;
    buf_init(&lines, ROOM);
    for (int i = 0; i < m->nodes; i++) {
        snprintf(labels[i], sizeof labels[i], "c14n%d", m->canonical.number[i]);
        names[i] = labels[i];
    }
    print_graph(m->graph, names, &lines);
    load(&graph, &lines);
    graph_sort_unique(&graph);
    for (size_t i = 0; i < graph.count; i++) {
        assert_int_equal(nquads_write(text, &graph.quads[i]), STATUS_OK);
    }
    graph_release(&graph);
    buf_release(&lines);
}

static void
check_limits(struct graph *graph, const struct model *m, enum canonical_hash kind)
{
    struct canonical_map map;
    struct reason why = {""};
    if (m->work == 0) {
        return; /* and 0 is the default */
    }
    assert_int_equal(canonical_issue(graph, kind, m->work, &map, &why), STATUS_OK);
    canonical_map_release(&map);
    if (m->work > 1) {
        const uint64_t less = m->work - 1 - random_below(2) * random_below((unsigned)m->work - 1);
        assert_int_equal(canonical_issue(graph, kind, less, &map, &why), STATUS_LIMIT);
        for (size_t i = 0; i < map.count; i++) {
            assert_int_equal(map.numbers[i], UINT32_MAX);
        }
        canonical_map_release(&map);
    }
}

static void
check_graph(const struct made_graph *made, enum canonical_hash kind, struct buf *expected)
{
    static const char *const names[][NODES] = {{"a", "b", "c", "d", "e", "f", "g", "h"},
                                               {"h", "x1", "e", "d", "q", "b", "a", "z"}};
    struct buf first;
    buf_init(&first, ROOM);
    for (size_t naming = 0; naming < 2; naming++) {
        struct buf text, out;
        struct graph graph;
        struct canonical_map map;
        struct made_graph numbered;
        struct reason why = {""};
        buf_init(&text, ROOM);
        buf_init(&out, ROOM);
        print_graph(made, names[naming], &text);
        load(&graph, &text);
        assert_int_equal(canonical_issue(&graph, kind, 0, &map, &why), STATUS_OK);
        struct model m = {.graph = &numbered, .sha384 = kind == CANONICAL_SHA384};
        m.nodes = number_nodes(made, names[naming], &map, &numbered);
        canonical_map_release(&map);
        canonicalize(&m);
        buf_reset(expected);
        print_canonical(&m, expected);
        check_limits(&graph, &m, kind);
        assert_int_equal(graph_canonicalize(&graph, kind, 0, &why), STATUS_OK);
        for (size_t i = 0; i < graph.count; i++) {
            assert_int_equal(nquads_write(&out, &graph.quads[i]), STATUS_OK);
        }
        if (!slice_equal(buf_slice(&out), buf_slice(expected))) {
            fail_msg("%.*s\nis\n%.*s\nnot\n%.*s", SLICE_PRINT(buf_slice(&text)),
                     SLICE_PRINT(buf_slice(&out)), SLICE_PRINT(buf_slice(expected)));
        }
        if (naming == 0) { /* names and order do not matter */
            buf_append_slice(&first, buf_slice(&out));
        }
        assert_true(slice_equal(buf_slice(&out), buf_slice(&first)));
        graph_release(&graph);
        buf_release(&text);
        buf_release(&out);
    }
    buf_release(&first);
}

static void
graphs_are_canonical_as_the_recommendation_has_it(void **state)
{
    struct buf expected;
    (void)state;
    buf_init(&expected, ROOM);
    for (unsigned i = 0; i < GRAPHS; i++) {
        struct made_graph graph;
        make_graph(&graph, i);
        check_graph(&graph, i % 4 == 3 ? CANONICAL_SHA384 : CANONICAL_SHA256, &expected);
    }
    buf_release(&expected);
}

/* When there are two rings of which each node has its like in the other, one is followed all
 * around. */
static void
depth_is_limited_at_its_limit(void **state)
{
    (void)state;
    for (unsigned size = CANONICAL_DEPTH - 1; size <= CANONICAL_DEPTH + 1; size++) {
        struct buf text;
        struct graph graph;
        struct canonical_map map;
        struct reason why = {""};
        buf_init(&text, 1 << 20);
        for (unsigned i = 0; i < size; i++) {
            buf_printf(&text, "_:a%u <a:p> _:a%u .\n_:b%u <a:p> _:b%u .\n", i, (i + 1) % size, i,
                       (i + 1) % size);
            buf_printf(&text, "_:a%u <a:q> \"%u\" .\n_:b%u <a:q> \"%u\" .\n", i, i, i, i);
        }
        load(&graph, &text);
        const enum status status =
            canonical_issue(&graph, CANONICAL_SHA256, UINT64_MAX, &map, &why);
        assert_int_equal(status, size <= CANONICAL_DEPTH ? STATUS_OK : STATUS_LIMIT);
        canonical_map_release(&map);
        graph_release(&graph);
        buf_release(&text);
    }
}

static void
graphs_without_blank_nodes_cost_nothing(void **state)
{
    struct graph graph;
    struct canonical_map map;
    (void)state;
    graph_init(&graph, 0);
    assert_int_equal(canonical_issue(&graph, CANONICAL_SHA256, 1, &map, NULL), STATUS_OK);
    assert_int_equal(map.count, 0);
    canonical_map_release(&map);
    assert_null(map.numbers);
    graph_release(&graph);
}

int
canonical_model_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_are_canonical_as_the_recommendation_has_it),
        cmocka_unit_test(depth_is_limited_at_its_limit),
        cmocka_unit_test(graphs_without_blank_nodes_cost_nothing),
    };
    return cmocka_run_group_tests_name("canonical graphs", tests, NULL, NULL);
}
