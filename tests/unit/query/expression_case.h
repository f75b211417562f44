/* Expressions and their values as TSV. */
#ifndef TESTS_UNIT_QUERY_EXPRESSION_CASE_H
#define TESTS_UNIT_QUERY_EXPRESSION_CASE_H

#include <string.h>

#include "tests/unit/query/query_case.h"

#define XSD_IRI "<http://www.w3.org/2001/XMLSchema#"

struct expression_case {
    const char *expression;
    const char *output; /* as TSV; "" for an error */
};

static inline void
check_expressions(const struct expression_case *cases, size_t count)
{
    const struct query_options options = {.now_ms = 1700000000123};
    struct memory_source *source = query_case_source("");
    for (size_t i = 0; i < count; i++) {
        struct buf text, out;
        buf_init(&text, 1 << 16);
        buf_init(&out, 1 << 16);
        buf_printf(&text,
                   "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> SELECT ?x { BIND(%s AS ?x) }",
                   cases[i].expression);
        (void)query_case_output(source, text.data, "tsv", &options, &out);
        char expected[1024];
        snprintf(expected, sizeof expected, "?x\n%s\n", cases[i].output);
        if (strcmp(out.data, expected) != 0) {
            print_error("%s\n", cases[i].expression);
        }
        assert_string_equal(out.data, expected);
        buf_release(&text);
        buf_release(&out);
    }
    memory_source_free(source);
}

#define CHECK(cases) check_expressions(cases, sizeof(cases) / sizeof *(cases))
#define DOUBLE(text) "\"" text "\"^^" XSD_IRI "double>"
#define BOOL(text) "\"" text "\"^^" XSD_IRI "boolean>"

/* value_edges.c: the limits of numbers, times, texts and patterns. */
int value_edges_run(void);
/* value_limits.c: bounds of types, their order, what is kept of patterns. */
int value_limits_run(void);
/* result_rows.c */
int result_rows_run(void);

#endif
