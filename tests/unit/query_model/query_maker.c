#include "tests/unit/query_model/query_maker.h"

#include <stdlib.h>
#include <string.h>

unsigned
maker_chance(struct maker *maker, unsigned below)
{
    return (unsigned)rand_r(&maker->seed) % below;
}

/* ---- places ---- */

static place
variable(struct maker *maker)
{
    return ~(place)maker_chance(maker, VARIABLES);
}

/* Terms of data at a position: nodes are subjects, and objects beside numbers. Those with small
 * numbers come more often. */
place
maker_term(struct maker *maker, unsigned position)
{
    const unsigned most = 1 + maker_chance(maker, maker->nodes);
    const unsigned node = maker_chance(maker, most);
    if (position == 1) {
        return PREDICATE_0 + (place)maker_chance(maker, PREDICATES);
    }
    return position == 2 && maker_chance(maker, 3) == 0 ? NUMBER_0 + (place)(node % 6)
                                                        : NODE_0 + (place)node;
}

static place
pattern_place(struct maker *maker, unsigned position)
{
    const unsigned of_ten = position == 1 ? maker->places / 4 : maker->places;
    return maker_chance(maker, 10) < of_ten ? variable(maker) : maker_term(maker, position);
}

static place
operand(struct maker *maker)
{
    return maker_chance(maker, 3) > 0 ? variable(maker) : maker_term(maker, 2);
}

static void
make_patterns(struct maker *maker, struct element *element)
{
    element->pattern_count = 1 + maker_chance(maker, 3);
    for (size_t i = 0; i < element->pattern_count; i++) {
        struct pattern *pattern = &element->patterns[i];
        for (unsigned position = 0; position < 3; position++) {
            pattern->at[position] = pattern_place(maker, position);
        }
        /* Most patterns have a variable of the one before. */
        if (i > 0 && pattern[-1].at[2] < 0 && maker_chance(maker, 4) > 0) {
            pattern->at[maker_chance(maker, 3) == 0 ? 2 : 0] = pattern[-1].at[2];
        }
    }
}

/* ---- variables ---- */

static unsigned
bit_of(place at)
{
    return at < 0 ? 1u << ~at : 0;
}

static unsigned
element_variables(const struct element *element)
{
    unsigned all = 0;
    for (size_t i = 0; i < element->pattern_count; i++) {
        for (size_t j = 0; j < 3; j++) {
            all |= bit_of(element->patterns[i].at[j]);
        }
    }
    for (size_t i = 0; i < 2; i++) {
        all |= element->groups[i] ? group_variables(element->groups[i]) : 0;
    }
    switch (element->kind) {
    case ELEMENT_GRAPH:
        return all | bit_of(element->graph);
    case ELEMENT_BIND:
        return all | 1u << element->variable;
    case ELEMENT_VALUES:
        return all | 1u << element->variables[0] | 1u << element->variables[1];
    case ELEMENT_SELECT:
        return element->projected;
    default:
        return all;
    }
}

unsigned
group_variables(const struct group *group)
{
    unsigned all = 0;
    for (size_t i = 0; i < group->count; i++) {
        all |= element_variables(&group->elements[i]);
    }
    return all;
}

/* ---- conditions ---- */

static const struct condition *make_condition(struct maker *maker, unsigned depth, bool exists);

/* Of EXISTS: patterns, and perhaps a filter. */
static const struct group *
make_sought(struct maker *maker)
{
    struct group *group = arena_zero(maker->arena, sizeof *group);
    make_patterns(maker, &group->elements[group->count++]);
    if (maker_chance(maker, 3) == 0) {
        group->elements[group->count].kind = ELEMENT_FILTER;
        group->elements[group->count++].condition = make_condition(maker, 1, false);
    }
    return group;
}

static const struct condition *
make_condition(struct maker *maker, unsigned depth, bool exists)
{
    struct condition *condition = arena_zero(maker->arena, sizeof *condition);
    do {
        condition->kind = maker_chance(maker, CONDITION_KINDS);
    } while ((depth == 0 && condition->kind >= CONDITION_NOT) ||
             (!exists && condition->kind >= CONDITION_EXISTS));
    condition->a = variable(maker);
    condition->b = operand(maker);
    condition->c = operand(maker);
    if (condition->kind >= CONDITION_EXISTS) {
        condition->group = make_sought(maker);
    } else if (condition->kind >= CONDITION_NOT) {
        condition->left = make_condition(maker, depth - 1, exists);
        condition->right = make_condition(maker, depth - 1, exists);
    }
    return condition;
}

/* ---- groups ---- */

static bool
has_groups(enum element_kind kind)
{
    return kind == ELEMENT_GROUP || kind == ELEMENT_OPTIONAL || kind == ELEMENT_UNION ||
           kind == ELEMENT_MINUS || kind == ELEMENT_GRAPH || kind == ELEMENT_SELECT;
}

static void
make_values(struct maker *maker, struct element *element)
{
    element->variables[0] = maker_chance(maker, VARIABLES);
    element->variables[1] =
        (element->variables[0] + 1 + maker_chance(maker, VARIABLES - 1)) % VARIABLES;
    element->value_count = maker_chance(maker, 5);
    for (size_t i = 0; i < element->value_count; i++) {
        for (size_t j = 0; j < 2; j++) {
            element->values[i][j] =
                maker_chance(maker, 5) == 0 ? 0 : (unsigned)maker_term(maker, 2);
        }
    }
}

/* False: it cannot be this, as the group is so far. */
static bool
make_element(struct maker *maker, const struct group *group, struct element *element,
             unsigned depth)
{
    const unsigned before = group_variables(group);
    if (has_groups(element->kind)) {
        if (depth == 0) {
            return false;
        }
        element->groups[0] = maker_group(maker, depth - 1);
    }
    switch (element->kind) {
    case ELEMENT_TRIPLES:
        make_patterns(maker, element);
        return true;
    case ELEMENT_UNION:
        element->groups[1] = maker_group(maker, depth - 1);
        return true;
    case ELEMENT_GRAPH:
        element->graph = maker_chance(maker, 2) == 0 ? GRAPH_0 + (place)maker_chance(maker, GRAPHS)
                                                     : variable(maker);
        return true;
    case ELEMENT_FILTER:
        element->condition = make_condition(maker, 2, true);
        return true;
    case ELEMENT_BIND:
        element->form = maker_chance(maker, VALUE_FORMS);
        element->variable = maker_chance(maker, VARIABLES);
        element->a = variable(maker);
        element->b =
            element->form == VALUE_PLUS ? NUMBER_0 + (place)maker_chance(maker, 5) : operand(maker);
        element->condition = make_condition(maker, 1, true);
        return !(before >> element->variable & 1); /* it must not have been in the group before */
    case ELEMENT_VALUES:
        make_values(maker, element);
        return true;
    case ELEMENT_SELECT:
        element->projected = 1 + maker_chance(maker, (1u << VARIABLES) - 1);
        element->distinct = maker_chance(maker, 2);
        element->limit = maker_chance(maker, 2) ? 1 + maker_chance(maker, 20) : 0;
        return true;
    default:
        return true;
    }
}

const struct group *
maker_group(struct maker *maker, unsigned depth)
{
    struct group *group = arena_zero(maker->arena, sizeof *group);
    const size_t wanted = 1 + maker_chance(maker, ELEMENTS_MOST);
    while (group->count < wanted) {
        struct element *element = &group->elements[group->count];
        *element = (struct element){0};
        /* Half of all elements are triples, and the first nearly always. */
        element->kind = maker_chance(maker, group->count == 0 ? 6 : 2) > 0
                            ? ELEMENT_TRIPLES
                            : maker_chance(maker, ELEMENT_KINDS);
        group->count += make_element(maker, group, element, depth);
    }
    return group;
}

/* ---- text ---- */

void
print_place(struct buf *out, place at)
{
    if (at < 0) {
        (void)buf_printf(out, "?v%d", ~at);
    } else if (at == 0) {
        (void)buf_append_string(out, "UNDEF");
    } else if (at >= NUMBER_0) {
        (void)buf_printf(out, "%d", at - NUMBER_0);
    } else if (at >= PREDICATE_0) {
        (void)buf_printf(out, ":p%d", at - PREDICATE_0);
    } else if (at >= NODE_0) {
        (void)buf_printf(out, ":n%02d", at - NODE_0);
    } else {
        (void)buf_printf(out, ":g%d", at - GRAPH_0);
    }
}

/* Prints a format in which each % stands for one of the places. */
static void
print_with(struct buf *out, const char *format, place a, place b, place c)
{
    const place places[] = {a, b, c};
    size_t next = 0;
    for (; *format != '\0'; format++) {
        if (*format == '%') {
            print_place(out, places[next++]);
        } else {
            (void)buf_append_char(out, *format);
        }
    }
}

static void
print_condition(struct buf *out, const struct condition *condition)
{
    static const char *const simple[] = {"% = %",    "% != %",   "% < %",
                                         "BOUND(%)", "ISIRI(%)", "% IN (%, %)"};
    switch (condition->kind) {
    case CONDITION_NOT:
        (void)buf_append_string(out, "!(");
        print_condition(out, condition->left);
        (void)buf_append_char(out, ')');
        break;
    case CONDITION_AND:
    case CONDITION_OR:
        (void)buf_append_char(out, '(');
        print_condition(out, condition->left);
        (void)buf_append_string(out, condition->kind == CONDITION_AND ? ") && (" : ") || (");
        print_condition(out, condition->right);
        (void)buf_append_char(out, ')');
        break;
    case CONDITION_EXISTS:
    case CONDITION_NOT_EXISTS:
        (void)buf_append_string(out,
                                condition->kind == CONDITION_EXISTS ? "EXISTS " : "NOT EXISTS ");
        print_group(out, condition->group);
        break;
    default:
        print_with(out, simple[condition->kind], condition->a, condition->b, condition->c);
    }
}

static void
print_bind(struct buf *out, const struct element *element)
{
    (void)buf_append_string(out, "BIND(");
    if (element->form == VALUE_IF) {
        (void)buf_append_string(out, "IF(");
        print_condition(out, element->condition);
        print_with(out, ", %, %)", element->a, element->b, 0);
    } else {
        print_with(out,
                   element->form == VALUE_PLACE  ? "%"
                   : element->form == VALUE_PLUS ? "% + %"
                                                 : "COALESCE(%, %)",
                   element->a, element->b, 0);
    }
    (void)buf_printf(out, " AS ?v%u) ", element->variable);
}

static void
print_values(struct buf *out, const struct element *element)
{
    (void)buf_printf(out, "VALUES (?v%u ?v%u) { ", element->variables[0], element->variables[1]);
    for (size_t i = 0; i < element->value_count; i++) {
        print_with(out, "(% %) ", (place)element->values[i][0], (place)element->values[i][1], 0);
    }
    (void)buf_append_string(out, "} ");
}

static void
print_select(struct buf *out, const struct element *element)
{
    (void)buf_append_string(out, element->distinct ? "{ SELECT DISTINCT" : "{ SELECT");
    for (int order = 0; order < 2; order++) {
        for (unsigned v = 0; v < VARIABLES; v++) {
            if (element->projected >> v & 1) {
                (void)buf_printf(out, " ?v%u", v);
            }
        }
        if (order == 0) {
            (void)buf_append_char(out, ' ');
            print_group(out, element->groups[0]);
            (void)buf_append_string(out, "ORDER BY");
        }
    }
    if (element->limit) {
        (void)buf_printf(out, " LIMIT %zu", element->limit);
    }
    (void)buf_append_string(out, " } ");
}

static void
print_element(struct buf *out, const struct element *element)
{
    static const char *const words[ELEMENT_KINDS] = {
        [ELEMENT_OPTIONAL] = "OPTIONAL ", [ELEMENT_MINUS] = "MINUS "};
    for (size_t i = 0; i < element->pattern_count; i++) {
        const struct pattern *pattern = &element->patterns[i];
        print_with(out, "% % % . ", pattern->at[0], pattern->at[1], pattern->at[2]);
    }
    switch (element->kind) {
    case ELEMENT_TRIPLES:
        break;
    case ELEMENT_FILTER:
        (void)buf_append_string(out, "FILTER(");
        print_condition(out, element->condition);
        (void)buf_append_string(out, ") ");
        break;
    case ELEMENT_BIND:
        print_bind(out, element);
        break;
    case ELEMENT_VALUES:
        print_values(out, element);
        break;
    case ELEMENT_SELECT:
        print_select(out, element);
        break;
    case ELEMENT_UNION:
        print_group(out, element->groups[0]);
        (void)buf_append_string(out, "UNION ");
        print_group(out, element->groups[1]);
        break;
    case ELEMENT_GRAPH:
        print_with(out, "GRAPH % ", element->graph, 0, 0);
        print_group(out, element->groups[0]);
        break;
    default:
        (void)buf_append_string(out, words[element->kind] ? words[element->kind] : "");
        print_group(out, element->groups[0]);
    }
}

void
print_group(struct buf *out, const struct group *group)
{
    (void)buf_append_string(out, "{ ");
    for (size_t i = 0; i < group->count; i++) {
        print_element(out, &group->elements[i]);
    }
    (void)buf_append_string(out, "} ");
}
