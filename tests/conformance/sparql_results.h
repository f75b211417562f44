/* Readers of SPARQL results (XML, JSON, and the result set vocabulary in RDF), and comparison of
 * two results with their blank nodes mapped.
 */
#ifndef TESTS_CONFORMANCE_SPARQL_RESULTS_H
#define TESTS_CONFORMANCE_SPARQL_RESULTS_H

#include <jansson.h>
#include <libxml/parser.h>
#include <libxml/tree.h>

#include "index/query/values/value.h"
#include "rdf/core/graph.h"

enum { RESULT_COLUMNS = 32, RESULT_ROWS = 4096 };
#define RESULT_SET "http://www.w3.org/2001/sw/DataAccess/tests/result-set#"

struct result {
    struct arena arena;
    bool is_boolean, boolean;
    struct slice names[RESULT_COLUMNS];
    size_t columns;
    struct term *rows[RESULT_ROWS];
    long order[RESULT_ROWS]; /* rs:index; 0: none */
    size_t count;
};

static inline struct result *
result_new(void)
{
    struct result *result = calloc(1, sizeof *result);
    arena_init(&result->arena, 0);
    return result;
}

static inline void
result_free(struct result *result)
{
    arena_release(&result->arena);
    free(result);
}

static inline struct slice
result_copy(struct result *result, const char *text)
{
    return arena_copy(&result->arena, slice_string(text ? text : ""));
}

static inline void
result_column(struct result *result, const char *name)
{
    if (result->columns < RESULT_COLUMNS) {
        result->names[result->columns++] = result_copy(result, name);
    }
}

static inline struct term *
result_row(struct result *result)
{
    struct term *row = arena_zero(&result->arena, RESULT_COLUMNS * sizeof *row);
    if (result->count < RESULT_ROWS) {
        result->rows[result->count++] = row;
    }
    return row;
}

/* The place of a variable; one that was not declared is added. */
static inline struct term *
result_cell(struct result *result, struct term *row, const char *name)
{
    for (size_t i = 0; i < result->columns; i++) {
        if (slice_is(result->names[i], name)) {
            return &row[i];
        }
    }
    result_column(result, name);
    return &row[result->columns - 1];
}

static inline void
result_literal(struct result *result, struct term *term, const char *datatype, const char *language)
{
    if (datatype && strcmp(datatype, XSD "string") != 0) {
        term->datatype = result_copy(result, datatype);
    }
    if (language) {
        term->language = result_copy(result, language);
        for (size_t i = 0; i < term->language.length; i++) {
            char *c = (char *)(uintptr_t)term->language.at + i;
            *c = (char)(*c >= 'A' && *c <= 'Z' ? *c + 32 : *c);
        }
    }
}

/* ---- XML ---- */

static inline void
result_xml_binding(struct result *result, struct term *row, xmlNode *binding)
{
    char *name = (char *)xmlGetProp(binding, BAD_CAST "name");
    struct term *cell = result_cell(result, row, name ? name : "");
    for (xmlNode *node = binding->children; node; node = node->next) {
        if (node->type != XML_ELEMENT_NODE) {
            continue;
        }
        char *text = (char *)xmlNodeGetContent(node);
        const struct slice value = result_copy(result, text);
        if (xmlStrEqual(node->name, BAD_CAST "uri")) {
            *cell = term_iri(value);
        } else if (xmlStrEqual(node->name, BAD_CAST "bnode")) {
            *cell = term_blank(value);
        } else {
            char *datatype = (char *)xmlGetProp(node, BAD_CAST "datatype");
            char *language = (char *)xmlNodeGetLang(node);
            *cell = term_literal(value);
            result_literal(result, cell, datatype, language);
            xmlFree(datatype);
            xmlFree(language);
        }
        xmlFree(text);
    }
    xmlFree(name);
}

static inline void
result_xml_node(struct result *result, xmlNode *node)
{
    for (; node; node = node->next) {
        if (xmlStrEqual(node->name, BAD_CAST "variable")) {
            char *name = (char *)xmlGetProp(node, BAD_CAST "name");
            result_column(result, name);
            xmlFree(name);
        } else if (xmlStrEqual(node->name, BAD_CAST "boolean")) {
            char *text = (char *)xmlNodeGetContent(node);
            result->is_boolean = true;
            result->boolean = strstr(text, "true") != NULL;
            xmlFree(text);
        } else if (xmlStrEqual(node->name, BAD_CAST "result")) {
            struct term *row = result_row(result);
            for (xmlNode *child = node->children; child; child = child->next) {
                if (xmlStrEqual(child->name, BAD_CAST "binding")) {
                    result_xml_binding(result, row, child);
                }
            }
        } else {
            result_xml_node(result, node->children);
        }
    }
}

static inline bool
result_read_xml(struct result *result, struct slice text)
{
    xmlDoc *document = xmlReadMemory(text.at, (int)text.length, "results", NULL,
                                     XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
    if (!document) {
        return false;
    }
    result_xml_node(result, xmlDocGetRootElement(document));
    xmlFreeDoc(document);
    return true;
}

/* ---- JSON ---- */

static inline void
result_json_term(struct result *result, struct term *cell, json_t *value)
{
    const char *type = json_string_value(json_object_get(value, "type"));
    json_t *text = json_object_get(value, "value");
    const struct slice copy =
        arena_copy(&result->arena, slice_of(json_string_value(text), json_string_length(text)));
    if (type && strcmp(type, "uri") == 0) {
        *cell = term_iri(copy);
    } else if (type && strcmp(type, "bnode") == 0) {
        *cell = term_blank(copy);
    } else {
        *cell = term_literal(copy);
        result_literal(result, cell, json_string_value(json_object_get(value, "datatype")),
                       json_string_value(json_object_get(value, "xml:lang")));
    }
}

static inline bool
result_read_json(struct result *result, struct slice text)
{
    json_t *root = json_loadb(text.at, text.length, JSON_ALLOW_NUL, NULL), *item, *value;
    size_t at;
    const char *name;
    json_array_foreach(json_object_get(json_object_get(root, "head"), "vars"), at, item)
    {
        result_column(result, json_string_value(item));
    }
    json_t *boolean = json_object_get(root, "boolean");
    result->is_boolean = boolean != NULL;
    result->boolean = json_is_true(boolean);
    json_array_foreach(json_object_get(json_object_get(root, "results"), "bindings"), at, item)
    {
        struct term *row = result_row(result);
        json_object_foreach(item, name, value)
        {
            result_json_term(result, result_cell(result, row, name), value);
        }
    }
    json_decref(root);
    return root != NULL;
}

/* ---- RDF ---- */

static inline const struct term *
graph_value(const struct graph *graph, const struct term *subject, const char *predicate,
            size_t *from)
{
    for (size_t i = *from; i < graph->count; i++) {
        const struct quad *quad = &graph->quads[i];
        if ((!subject || term_equal(&quad->subject, subject)) &&
            slice_is(quad->predicate.value, predicate)) {
            *from = i + 1;
            return &quad->object;
        }
    }
    return NULL;
}

static inline void
result_graph_solution(struct result *result, const struct graph *graph, const struct term *solution)
{
    const struct term *binding, *index;
    struct term *row = result_row(result);
    size_t at = 0, first = 0;
    index = graph_value(graph, solution, RESULT_SET "index", &first);
    if (index) {
        result->order[result->count - 1] = atol(index->value.at);
    }
    while ((binding = graph_value(graph, solution, RESULT_SET "binding", &at))) {
        size_t a = 0, b = 0;
        const struct term *name = graph_value(graph, binding, RESULT_SET "variable", &a);
        const struct term *value = graph_value(graph, binding, RESULT_SET "value", &b);
        if (name && value) {
            char text[128];
            snprintf(text, sizeof text, "%.*s", SLICE_PRINT(name->value));
            struct term *cell = result_cell(result, row, text);
            (void)term_copy(&result->arena, value, cell);
            if (slice_is(cell->datatype, XSD "string")) {
                cell->datatype = (struct slice){NULL, 0};
            }
        }
    }
}

/* False when the graph holds no result set: it is then a graph to compare as such. */
static inline bool
result_read_graph(struct result *result, const struct graph *graph)
{
    size_t at = 0;
    const struct term *found;
    bool any = false;
    if ((found = graph_value(graph, NULL, RESULT_SET "boolean", &at))) {
        result->is_boolean = true;
        result->boolean = slice_is(found->value, "true");
        return true;
    }
    at = 0;
    while ((found = graph_value(graph, NULL, RESULT_SET "resultVariable", &at))) {
        char text[128];
        snprintf(text, sizeof text, "%.*s", SLICE_PRINT(found->value));
        result_column(result, text);
        any = true;
    }
    at = 0;
    while ((found = graph_value(graph, NULL, RESULT_SET "solution", &at))) {
        result_graph_solution(result, graph, found);
        any = true;
    }
    for (size_t i = 1; i < result->count; i++) { /* by rs:index */
        for (size_t k = i; k > 0 && result->order[k] < result->order[k - 1]; k--) {
            struct term *row = result->rows[k];
            const long order = result->order[k];
            result->rows[k] = result->rows[k - 1];
            result->order[k] = result->order[k - 1];
            result->rows[k - 1] = row;
            result->order[k - 1] = order;
        }
    }
    return any;
}

/* ---- comparing ---- */

struct blank_map {
    struct slice from[256], to[256];
    size_t count;
};

static inline bool
terms_match(const struct term *a, const struct term *b, struct blank_map *map)
{
    if (a->kind != b->kind) {
        return false;
    }
    if (a->kind == TERM_BLANK) {
        for (size_t i = 0; i < map->count; i++) {
            const bool from = slice_equal(map->from[i], a->value);
            if (from || slice_equal(map->to[i], b->value)) {
                return from && slice_equal(map->to[i], b->value);
            }
        }
        if (map->count < 256) {
            map->from[map->count] = a->value;
            map->to[map->count++] = b->value;
        }
        return true;
    }
    if (a->kind == TERM_NONE || term_equal(a, b)) {
        return true;
    }
    /* Numbers and times may be written differently. */
    struct value x, y;
    value_of_term(a, &x);
    value_of_term(b, &y);
    return x.kind >= VALUE_BOOLEAN && x.kind <= VALUE_DOUBLE && x.kind == y.kind &&
           slice_equal(a->datatype, b->datatype) && value_equals(&x, &y) == 1;
}

static inline bool
rows_match(const struct result *a, size_t row_a, const struct result *b, size_t row_b,
           const size_t *columns, struct blank_map *map)
{
    for (size_t i = 0; i < a->columns; i++) {
        if (!terms_match(&a->rows[row_a][i], &b->rows[row_b][columns[i]], map)) {
            return false;
        }
    }
    return true;
}

/* Matches rows from `at` on by trying; used says which of b's are taken. */
static inline bool
bags_match(const struct result *a, size_t at, const struct result *b, bool *used,
           const size_t *columns, struct blank_map *map, unsigned *work)
{
    if (at == a->count) {
        return true;
    }
    const size_t before = map->count;
    for (size_t i = 0; i < b->count && *work; i++) {
        if (used[i]) {
            continue;
        }
        --*work;
        if (rows_match(a, at, b, i, columns, map)) {
            used[i] = true;
            if (bags_match(a, at + 1, b, used, columns, map, work)) {
                return true;
            }
            used[i] = false;
        }
        map->count = before;
    }
    return false;
}

static inline bool
results_match(const struct result *a, const struct result *b, bool ordered)
{
    static bool used[RESULT_ROWS];
    struct blank_map map = {.count = 0};
    size_t columns[RESULT_COLUMNS];
    unsigned work = 10000000;
    if (a->is_boolean || b->is_boolean) {
        return a->is_boolean == b->is_boolean && a->boolean == b->boolean;
    }
    if (a->columns != b->columns || a->count != b->count) {
        return false;
    }
    for (size_t i = 0; i < a->columns; i++) {
        for (columns[i] = 0; columns[i] < b->columns; columns[i]++) {
            if (slice_equal(a->names[i], b->names[columns[i]])) {
                break;
            }
        }
        if (columns[i] == b->columns) {
            return false;
        }
    }
    for (size_t i = 0; ordered && i < a->count; i++) {
        if (!rows_match(a, i, b, i, columns, &map)) {
            return false;
        }
    }
    memset(used, 0, sizeof used);
    return ordered || bags_match(a, 0, b, used, columns, &map, &work);
}

#endif
