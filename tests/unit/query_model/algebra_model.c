#include "tests/unit/query_model/algebra_model.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* The graph that patterns are matched with: the union of all, or one. */
enum { ALL_GRAPHS = -1 };

static void solve(struct model *model, const struct group *group, int graph, bool filtered,
                  struct rows *out);

/* ---- rows ---- */

void
model_add(struct model *model, struct rows *rows, const struct row *row)
{
    if (rows->count == ROWS_MOST) {
        model->too_many = true;
        return;
    }
    if (rows->count == rows->room) {
        rows->room = rows->room ? 2 * rows->room : 16;
        rows->list = memory_resize(rows->list, rows->room, sizeof *rows->list);
    }
    rows->list[rows->count++] = *row;
}

static int
compare_rows(const void *a, const void *b)
{
    const struct row *left = a, *right = b;
    for (size_t i = 0; i < VARIABLES; i++) {
        if (left->at[i] != right->at[i]) {
            return left->at[i] < right->at[i] ? -1 : 1;
        }
    }
    return 0;
}

void
model_sort(struct rows *rows)
{
    if (rows->count > 1) {
        qsort(rows->list, rows->count, sizeof *rows->list, compare_rows);
    }
}

void
model_distinct(struct rows *rows)
{
    size_t kept = 0;
    model_sort(rows);
    for (size_t i = 0; i < rows->count; i++) {
        if (kept == 0 || compare_rows(&rows->list[kept - 1], &rows->list[i]) != 0) {
            rows->list[kept++] = rows->list[i];
        }
    }
    rows->count = kept;
}

static void
rows_take(struct rows *rows, struct rows *from)
{
    free(rows->list);
    *rows = *from;
    *from = (struct rows){0};
}

/* Two rows are compatible when they agree on what both bind. */
static bool
merge(const struct row *a, const struct row *b, struct row *out)
{
    for (size_t i = 0; i < VARIABLES; i++) {
        if (a->at[i] && b->at[i] && a->at[i] != b->at[i]) {
            return false;
        }
        out->at[i] = a->at[i] ? a->at[i] : b->at[i];
    }
    return true;
}

static bool
share_a_variable(const struct row *a, const struct row *b)
{
    for (size_t i = 0; i < VARIABLES; i++) {
        if (a->at[i] && b->at[i]) {
            return true;
        }
    }
    return false;
}

static void
join(struct model *model, struct rows *rows, struct rows *with)
{
    struct rows joined = {0};
    struct row row;
    for (size_t i = 0; i < rows->count; i++) {
        for (size_t j = 0; j < with->count; j++) {
            if (merge(&rows->list[i], &with->list[j], &row)) {
                model_add(model, &joined, &row);
            }
        }
    }
    rows_take(rows, &joined);
    free(with->list);
}

/* ---- triples ---- */

static bool
match(const struct pattern *pattern, const struct triple *triple, struct row *row)
{
    for (size_t i = 0; i < 3; i++) {
        if (pattern->at[i] >= 0) {
            if (triple->at[i] != pattern->at[i]) {
                return false;
            }
            continue;
        }
        uint16_t *bound = &row->at[~pattern->at[i]];
        if (*bound && *bound != triple->at[i]) {
            return false;
        }
        *bound = triple->at[i];
    }
    return true;
}

static void
extend(struct model *model, struct rows *rows, const struct pattern *pattern, int graph)
{
    struct rows extended = {0};
    for (size_t i = 0; i < rows->count; i++) {
        for (size_t j = 0; j < model->count; j++) {
            const struct triple *triple = &model->triples[j];
            struct row row = rows->list[i];
            if ((graph == ALL_GRAPHS || (triple->graphs >> graph & 1)) &&
                match(pattern, triple, &row)) {
                model_add(model, &extended, &row);
            }
        }
    }
    rows_take(rows, &extended);
}

/* ---- expressions ---- */

static unsigned
term_at(place at, const struct row *row)
{
    return at >= 0 ? (unsigned)at : row->at[~at];
}

static bool exists(struct model *model, const struct group *group, const struct row *row,
                   int graph);

/* 1, 0, or -1 for an error. */
static int
test(struct model *model, const struct condition *condition, const struct row *row, int graph)
{
    const unsigned a = term_at(condition->a, row), b = term_at(condition->b, row);
    const unsigned c = term_at(condition->c, row);
    int left, right;
    switch (condition->kind) {
    case CONDITION_EQUAL:
        return a && b ? a == b : -1;
    case CONDITION_UNEQUAL:
        return a && b ? a != b : -1;
    case CONDITION_LESS:
        return a >= NUMBER_0 && b >= NUMBER_0 ? a < b : -1;
    case CONDITION_BOUND:
        return a != 0;
    case CONDITION_IRI:
        return a ? a < NUMBER_0 : -1;
    case CONDITION_IN:
        return !a ? -1 : a == b || a == c ? 1 : b && c ? 0 : -1;
    case CONDITION_NOT:
        left = test(model, condition->left, row, graph);
        return left < 0 ? -1 : !left;
    case CONDITION_AND:
        left = test(model, condition->left, row, graph);
        right = test(model, condition->right, row, graph);
        return left == 0 || right == 0 ? 0 : left < 0 || right < 0 ? -1 : 1;
    case CONDITION_OR:
        left = test(model, condition->left, row, graph);
        right = test(model, condition->right, row, graph);
        return left == 1 || right == 1 ? 1 : left < 0 || right < 0 ? -1 : 0;
    case CONDITION_EXISTS:
        return exists(model, condition->group, row, graph);
    default:
        return !exists(model, condition->group, row, graph);
    }
}

static void
filter(struct model *model, const struct condition *condition, int graph, struct rows *rows)
{
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i++) {
        if (test(model, condition, &rows->list[i], graph) == 1) {
            rows->list[kept++] = rows->list[i];
        }
    }
    rows->count = kept;
}

/* The groups of EXISTS have triples and filters only: what the row binds is bound in these. */
static bool
exists(struct model *model, const struct group *group, const struct row *row, int graph)
{
    struct rows rows = {0};
    model_add(model, &rows, row);
    for (int filters = 0; filters < 2; filters++) {
        for (size_t i = 0; i < group->count; i++) {
            const struct element *element = &group->elements[i];
            for (size_t j = 0; j < element->pattern_count && !filters; j++) {
                extend(model, &rows, &element->patterns[j], graph);
            }
            if (filters && element->kind == ELEMENT_FILTER) {
                filter(model, element->condition, graph, &rows);
            }
        }
    }
    const bool any = rows.count > 0;
    free(rows.list);
    return any;
}

static unsigned
value_of(struct model *model, const struct element *element, const struct row *row, int graph)
{
    const unsigned a = term_at(element->a, row), b = term_at(element->b, row);
    int chosen;
    switch (element->form) {
    case VALUE_PLACE:
        return a;
    case VALUE_PLUS:
        return a >= NUMBER_0 && b >= NUMBER_0 ? a + b - NUMBER_0 : 0;
    case VALUE_IF:
        chosen = test(model, element->condition, row, graph);
        return chosen < 0 ? 0 : chosen ? a : b;
    default:
        return a ? a : b;
    }
}

/* ---- elements ---- */

static void
left_join(struct model *model, struct rows *rows, const struct group *group, int graph)
{
    struct rows joined = {0}, right = {0};
    solve(model, group, graph, false, &right);
    for (size_t i = 0; i < rows->count; i++) {
        bool any = false;
        for (size_t j = 0; j < right.count; j++) {
            struct row row;
            bool fits = merge(&rows->list[i], &right.list[j], &row);
            for (size_t k = 0; k < group->count && fits; k++) {
                fits = group->elements[k].kind != ELEMENT_FILTER ||
                       test(model, group->elements[k].condition, &row, graph) == 1;
            }
            if (fits) {
                model_add(model, &joined, &row);
                any = true;
            }
        }
        if (!any) {
            model_add(model, &joined, &rows->list[i]);
        }
    }
    rows_take(rows, &joined);
    free(right.list);
}

static void
minus(struct model *model, struct rows *rows, const struct group *group, int graph)
{
    struct rows right = {0};
    struct row ignored;
    size_t kept = 0;
    solve(model, group, graph, true, &right);
    for (size_t i = 0; i < rows->count; i++) {
        bool removed = false;
        for (size_t j = 0; j < right.count; j++) {
            removed |= merge(&rows->list[i], &right.list[j], &ignored) &&
                       share_a_variable(&rows->list[i], &right.list[j]);
        }
        if (!removed) {
            rows->list[kept++] = rows->list[i];
        }
    }
    rows->count = kept;
    free(right.list);
}

static void
either(struct model *model, struct rows *rows, const struct element *element, int graph)
{
    struct rows both = {0};
    for (size_t i = 0; i < 2; i++) {
        struct rows one = {0};
        solve(model, element->groups[i], graph, true, &one);
        for (size_t j = 0; j < one.count; j++) {
            model_add(model, &both, &one.list[j]);
        }
        free(one.list);
    }
    join(model, rows, &both);
}

static void
within_graphs(struct model *model, struct rows *rows, const struct element *element)
{
    struct rows all = {0};
    for (int graph = 0; graph < GRAPHS; graph++) {
        struct rows one = {0};
        if (element->graph >= 0 && element->graph != GRAPH_0 + graph) {
            continue;
        }
        solve(model, element->groups[0], graph, true, &one);
        for (size_t i = 0; i < one.count; i++) {
            struct row named = {0}, row;
            if (element->graph < 0) {
                named.at[~element->graph] = (uint16_t)(GRAPH_0 + graph);
            }
            if (merge(&one.list[i], &named, &row)) {
                model_add(model, &all, &row);
            }
        }
        free(one.list);
    }
    join(model, rows, &all);
}

static void
select_rows(struct model *model, struct rows *rows, const struct element *element, int graph)
{
    struct rows selected = {0};
    solve(model, element->groups[0], graph, true, &selected);
    for (size_t i = 0; i < selected.count; i++) {
        for (size_t v = 0; v < VARIABLES; v++) {
            if (!(element->projected >> v & 1)) {
                selected.list[i].at[v] = 0;
            }
        }
    }
    if (element->distinct) {
        model_distinct(&selected);
    }
    model_sort(&selected);
    if (element->limit && selected.count > element->limit) {
        selected.count = element->limit;
    }
    join(model, rows, &selected);
}

static void
values(struct model *model, struct rows *rows, const struct element *element)
{
    struct rows table = {0};
    for (size_t i = 0; i < element->value_count; i++) {
        struct row row = {0};
        row.at[element->variables[0]] = (uint16_t)element->values[i][0];
        row.at[element->variables[1]] = (uint16_t)element->values[i][1];
        model_add(model, &table, &row);
    }
    join(model, rows, &table);
}

static void
apply(struct model *model, const struct element *element, int graph, struct rows *rows)
{
    struct rows other = {0};
    switch (element->kind) {
    case ELEMENT_TRIPLES:
        for (size_t i = 0; i < element->pattern_count; i++) {
            extend(model, rows, &element->patterns[i], graph);
        }
        break;
    case ELEMENT_GROUP:
        solve(model, element->groups[0], graph, true, &other);
        join(model, rows, &other);
        break;
    case ELEMENT_OPTIONAL:
        left_join(model, rows, element->groups[0], graph);
        break;
    case ELEMENT_UNION:
        either(model, rows, element, graph);
        break;
    case ELEMENT_MINUS:
        minus(model, rows, element->groups[0], graph);
        break;
    case ELEMENT_GRAPH:
        within_graphs(model, rows, element);
        break;
    case ELEMENT_BIND:
        for (size_t i = 0; i < rows->count; i++) {
            rows->list[i].at[element->variable] =
                (uint16_t)value_of(model, element, &rows->list[i], graph);
        }
        break;
    case ELEMENT_VALUES:
        values(model, rows, element);
        break;
    case ELEMENT_SELECT:
        select_rows(model, rows, element, graph);
        break;
    default:
        break; /* filters come after all others */
    }
}

static void
solve(struct model *model, const struct group *group, int graph, bool filtered, struct rows *out)
{
    const struct row none = {0};
    model_add(model, out, &none);
    for (size_t i = 0; i < group->count; i++) {
        apply(model, &group->elements[i], graph, out);
    }
    for (size_t i = 0; i < group->count && filtered; i++) {
        if (group->elements[i].kind == ELEMENT_FILTER) {
            filter(model, group->elements[i].condition, graph, out);
        }
    }
}

void
model_solve(struct model *model, const struct group *group, struct rows *out)
{
    *out = (struct rows){0};
    solve(model, group, ALL_GRAPHS, true, out);
}
