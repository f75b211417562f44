/* Queries by chance over data by chance, beside the algebra of SPARQL as it is written
 * (algebra_model.h): whatever the planner believes of the data, whichever order it is told to join
 * in, and whatever the source of quads can do, the answer is the algebra's. */
#include <string.h>

#include "base/memory.h"
#include "tests/unit/brief.h"
#include "tests/unit/query/query_case.h"
#include "tests/unit/query_model/query_maker.h"

enum { OUT_MOST = 1 << 20, TEXT_MOST = 1 << 16, QUERIES = 20 };

/* ---- data ---- */

struct data {
    struct model model;
    struct memory_source *source;
};

/* Each graph has some triple, as one without is none. */
static void
make_data(struct data *data, struct maker *maker, size_t triples)
{
    struct buf trig;
    buf_init(&trig, OUT_MOST);
    memset(&data->model, 0, sizeof data->model);
    (void)buf_append_string(&trig, "@prefix : <http://example.org/> .\n");
    while (data->model.count < triples) {
        struct triple triple = {.graphs = 1u << maker_chance(maker, GRAPHS)};
        triple.graphs |= maker_chance(maker, 4) == 0 ? 1u << maker_chance(maker, GRAPHS) : 0;
        triple.graphs = data->model.count < GRAPHS ? 1u << data->model.count : triple.graphs;
        bool known = false;
        for (unsigned i = 0; i < 3; i++) {
            triple.at[i] = (uint16_t)maker_term(maker, i);
        }
        for (size_t i = 0; i < data->model.count; i++) {
            known |= memcmp(triple.at, data->model.triples[i].at, sizeof triple.at) == 0;
        }
        if (known) {
            triples--;
            continue;
        }
        data->model.triples[data->model.count++] = triple;
        for (int graph = 0; graph < GRAPHS; graph++) {
            if (triple.graphs >> graph & 1) {
                print_place(&trig, GRAPH_0 + graph);
                (void)buf_append_string(&trig, " { ");
                for (unsigned i = 0; i < 3; i++) {
                    print_place(&trig, triple.at[i]);
                    (void)buf_append_char(&trig, ' ');
                }
                (void)buf_append_string(&trig, "}\n");
            }
        }
    }
    data->source = query_case_source(trig.data);
    buf_release(&trig);
}

/* ---- a source that is wrong about how much there is ---- */

static struct {
    const struct quad_source *inner;
    unsigned lie; /* 0: it tells the truth */
} misled;

static enum status
misled_estimate(void *context, const struct quad_oids *pattern, uint64_t *rows, struct reason *why)
{
    const unsigned bound = (pattern->subject != OID_NONE) + 2 * (pattern->predicate != OID_NONE) +
                           4 * (pattern->object != OID_NONE);
    TRY(misled.inner->estimate(context, pattern, rows, why));
    const unsigned how = (misled.lie >> bound) + (unsigned)*rows * misled.lie;
    if (misled.lie != 0 && *rows > 0) {
        *rows = how % 4 == 0 ? *rows * 1000 : how % 4 == 1 ? 1 + *rows / 10 : *rows;
    }
    return STATUS_OK;
}

static struct quad_source
source_of(struct data *data, unsigned ability)
{
    struct quad_source source = *memory_source_table(data->source);
    misled.inner = memory_source_table(data->source);
    misled.lie = ability * 7;
    source.estimate = misled_estimate;
    if (ability & 1) {
        source.count_triples = NULL;
        source.recall_lists = NULL;
        source.keep_list = NULL;
    }
    if (ability & 2) {
        source.scan_skip = NULL;
    }
    return source;
}

/* ---- the engine's answer ---- */

/* A line of terms as they are written in queries. */
static enum status
take_row(void *context, const struct term *terms, size_t n, struct reason *why)
{
    struct buf *out = context;
    (void)why;
    for (size_t i = 0; i < n; i++) {
        const struct slice value = terms[i].value;
        if (terms[i].kind == TERM_IRI) {
            assert_true(slice_starts(value, SLICE(CASE_BASE)));
            (void)buf_printf(out, ":%.*s", (int)(value.length - strlen(CASE_BASE)),
                             value.at + strlen(CASE_BASE));
        } else {
            (void)buf_append_slice(out, value);
        }
        (void)buf_append_char(out, i + 1 < n ? '\t' : '\n');
    }
    return buf_append_char(out, '\0') == STATUS_OK ? (out->length--, STATUS_OK) : STATUS_LIMIT;
}

static void
ask(const struct quad_source *source, const char *text, const char *join_order, struct buf *out)
{
    const struct query_options options = {.join_order = join_order};
    const struct query_sink sink = {.context = out, .row = take_row};
    struct query *query;
    struct reason why = {""};
    if (query_prepare(&query, slice_string(text), SLICE(CASE_BASE), &why) != STATUS_OK ||
        query_run(query, source, &options, &sink, NULL, &why) != STATUS_OK) {
        fail_msg("%s\n%s", text, why.text);
    }
    query_free(query);
}

static int
compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Lines in the order of bytes, for answers that have none. */
static void
sort_lines(struct buf *text)
{
    enum { LINES_MOST = ROWS_MOST + 1 };
    static char *lines[LINES_MOST];
    size_t count = 0;
    struct buf sorted;
    if (text->length == 0) {
        return;
    }
    buf_init(&sorted, OUT_MOST);
    for (char *at = text->data; at < text->data + text->length; at += strlen(at) + 1) {
        char *end = strchr(at, '\n');
        assert_true(count < LINES_MOST);
        lines[count++] = at;
        *end = '\0';
    }
    qsort(lines, count, sizeof *lines, compare_lines);
    for (size_t i = 0; i < count; i++) {
        (void)buf_printf(&sorted, "%s\n", lines[i]);
    }
    buf_release(text);
    *text = sorted;
}

static void
check(struct data *data, const char *text, bool ordered, struct buf *expected)
{
    static const char *const orders[] = {NULL, "ba", "cba", "bca", "dcba", "badc"};
    if (!ordered) {
        sort_lines(expected);
    }
    for (unsigned ability = 0; ability < 4; ability++) {
        const struct quad_source source = source_of(data, ability);
        for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i += 1 + ability) {
            struct buf out;
            buf_init(&out, OUT_MOST);
            ask(&source, text, orders[i], &out);
            if (!ordered) {
                sort_lines(&out);
            }
            if (!slice_equal(buf_slice(&out), buf_slice(expected))) {
                fail_msg("%s\nability %u, order %s, gives\n%.*s\nin place of\n%.*s", text, ability,
                         orders[i] ? orders[i] : "of the planner", SLICE_PRINT(buf_slice(&out)),
                         SLICE_PRINT(buf_slice(expected)));
            }
            buf_release(&out);
        }
    }
}

/* ---- what is asked of the solutions ---- */

static void
print_row(struct buf *out, const struct row *row, unsigned projected)
{
    const char *before = "";
    for (unsigned v = 0; v < VARIABLES; v++) {
        if (projected >> v & 1) {
            (void)buf_append_string(out, before);
            if (row->at[v] != 0) {
                print_place(out, row->at[v]);
            }
            before = "\t";
        }
    }
    (void)buf_append_char(out, '\n');
}

static void
print_variables(struct buf *out, unsigned variables)
{
    for (unsigned v = 0; v < VARIABLES; v++) {
        if (variables >> v & 1) {
            (void)buf_printf(out, " ?v%u", v);
        }
    }
}

static void
project(struct rows *rows, unsigned projected)
{
    for (size_t i = 0; i < rows->count; i++) {
        for (unsigned v = 0; v < VARIABLES; v++) {
            if (!(projected >> v & 1)) {
                rows->list[i].at[v] = 0;
            }
        }
    }
}

/* SELECT, of different rows or all, perhaps a part of them in their order. */
static void
check_rows(struct data *data, struct maker *maker, const struct group *group, struct rows *rows)
{
    const unsigned projected = 1 + maker_chance(maker, (1u << VARIABLES) - 1);
    const bool distinct = maker_chance(maker, 2), ordered = maker_chance(maker, 2);
    const size_t most = ordered && maker_chance(maker, 2) ? 1 + maker_chance(maker, 12) : SIZE_MAX;
    const size_t from = most < SIZE_MAX ? maker_chance(maker, 4) : 0;
    struct buf text, expected;
    buf_init(&text, TEXT_MOST);
    buf_init(&expected, OUT_MOST);
    (void)buf_printf(&text, "PREFIX : <" CASE_BASE "> SELECT%s", distinct ? " DISTINCT" : "");
    print_variables(&text, projected);
    (void)buf_append_char(&text, ' ');
    print_group(&text, group);
    if (ordered) {
        (void)buf_append_string(&text, "ORDER BY");
        print_variables(&text, projected);
    }
    if (most < SIZE_MAX) {
        (void)buf_printf(&text, " LIMIT %zu OFFSET %zu", most, from);
    }
    project(rows, projected);
    if (distinct) {
        model_distinct(rows);
    }
    model_sort(rows);
    for (size_t i = from; i < rows->count && i - from < most; i++) {
        print_row(&expected, &rows->list[i], projected);
    }
    check(data, text.data, ordered, &expected);
    buf_release(&text);
    buf_release(&expected);
}

/* The line of the rows from..to, which have one key. */
static void
print_aggregates(struct buf *out, const struct rows *rows, size_t from, size_t to, unsigned key,
                 unsigned variable)
{
    static bool seen[TERMS];
    size_t bound = 0, different = 0;
    unsigned sum = 0, least = TERMS, most = 0;
    memset(seen, 0, sizeof seen);
    for (size_t i = from; i < to; i++) {
        const unsigned term = rows->list[i].at[variable];
        const unsigned number = term ? term : NUMBER_0; /* COALESCE(?v, 0) */
        bound += term != 0;
        different += term != 0 && !seen[term];
        seen[term] = true;
        sum += term > NUMBER_0 ? term - NUMBER_0 : 0;
        least = number < least ? number : least;
        most = number > most ? number : most;
    }
    if (rows->count > 0 && rows->list[from].at[key] != 0) {
        print_place(out, rows->list[from].at[key]);
    }
    (void)buf_printf(out, "\t%zu\t%zu\t%zu\t%u\t", to - from, bound, different, sum);
    print_place(out, (place)least);
    (void)buf_append_char(out, '\t');
    print_place(out, (place)most);
    (void)buf_append_char(out, '\n');
}

/* Groups by a variable, with what aggregates say of another. */
static void
check_groups(struct data *data, struct maker *maker, const struct group *group, struct rows *rows)
{
    const unsigned key = maker_chance(maker, VARIABLES);
    const unsigned variable = (key + 1 + maker_chance(maker, VARIABLES - 1)) % VARIABLES;
    struct buf text, expected;
    buf_init(&text, TEXT_MOST);
    buf_init(&expected, OUT_MOST);
    (void)buf_printf(&text,
                     "PREFIX : <" CASE_BASE "> SELECT ?v%u (COUNT(*) AS ?rows) (COUNT(?v%u) AS "
                     "?bound) (COUNT(DISTINCT ?v%u) AS ?different) (SUM(COALESCE(?v%u + 0, 0)) AS "
                     "?sum) (MIN(COALESCE(?v%u, 0)) AS ?least) (MAX(COALESCE(?v%u, 0)) AS ?most) ",
                     key, variable, variable, variable, variable, variable);
    print_group(&text, group);
    (void)buf_printf(&text, "GROUP BY ?v%u ORDER BY ?v%u", key, key);
    project(rows, 1u << key | 1u << variable);
    /* Rows of one key lie together. */
    for (size_t i = 0; i < rows->count; i++) {
        const uint16_t first = rows->list[i].at[0];
        rows->list[i].at[0] = rows->list[i].at[key];
        rows->list[i].at[key] = first;
    }
    model_sort(rows);
    for (size_t i = 0; i < rows->count; i++) {
        const uint16_t first = rows->list[i].at[0];
        rows->list[i].at[0] = rows->list[i].at[key];
        rows->list[i].at[key] = first;
    }
    for (size_t from = 0, to; from < rows->count; from = to) {
        to = from + 1;
        while (to < rows->count && rows->list[to].at[key] == rows->list[from].at[key]) {
            to++;
        }
        print_aggregates(&expected, rows, from, to, key, variable);
    }
    check(data, text.data, true, &expected);
    buf_release(&text);
    buf_release(&expected);
}

/* How many rows there are, and whether there is one. */
static void
check_count(struct data *data, const struct group *group, const struct rows *rows)
{
    struct buf text, expected;
    buf_init(&text, TEXT_MOST);
    buf_init(&expected, OUT_MOST);
    (void)buf_append_string(&text, "PREFIX : <" CASE_BASE "> SELECT (COUNT(*) AS ?n) ");
    print_group(&text, group);
    (void)buf_printf(&expected, "%zu\n", rows->count);
    check(data, text.data, true, &expected);
    buf_reset(&text);
    buf_reset(&expected);
    (void)buf_append_string(&text, "PREFIX : <" CASE_BASE "> SELECT (EXISTS ");
    print_group(&text, group);
    (void)buf_append_string(&text, "AS ?any) {}");
    (void)buf_printf(&expected, "%s\n", rows->count > 0 ? "true" : "false");
    check(data, text.data, true, &expected);
    buf_release(&text);
    buf_release(&expected);
}

static void
ask_many(unsigned seed, unsigned nodes, size_t triples, unsigned depth, unsigned queries)
{
    struct data *data = memory_new(sizeof *data);
    struct arena arena;
    struct maker maker = {.arena = &arena, .seed = seed, .nodes = nodes, .places = 8};
    unsigned answered = 0;
    arena_init(&arena, 0);
    make_data(data, &maker, triples);
    while (answered < queries) {
        struct rows rows;
        maker.places = 6 + maker_chance(&maker, 4);
        const struct group *group = maker_group(&maker, depth);
        data->model.too_many = false;
        model_solve(&data->model, group, &rows);
        /* Of the many without a solution some are enough. */
        if (!data->model.too_many && (rows.count > 0 || maker_chance(&maker, 8) == 0)) {
            answered++;
            check_count(data, group, &rows);
            if (maker_chance(&maker, 3) == 0) {
                check_groups(data, &maker, group, &rows);
            } else {
                check_rows(data, &maker, group, &rows);
            }
        }
        free(rows.list);
        arena_reset(&arena);
    }
    arena_release(&arena);
    memory_source_free(data->source);
    free(data);
}

/* Of as many seeds as there are, a brief test takes the few whose turn it is. */
static void
ask_by_turns(uint64_t seeds, uint64_t few, unsigned nodes, size_t triples, unsigned depth)
{
    const uint64_t count = brief(seeds, few);
    for (uint64_t i = 0; i < count; i++) {
        ask_many(1 + (unsigned)((brief_commit() * few + i) % seeds), nodes, triples, depth,
                 QUERIES);
    }
}

static void
groups_in_groups_over_little_data(void **state)
{
    (void)state;
    ask_by_turns(60, 6, 6, 30, 2);
}

static void
joins_over_more_data(void **state)
{
    (void)state;
    ask_by_turns(30, 3, 70, 400, 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_in_groups_over_little_data),
        cmocka_unit_test(joins_over_more_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
