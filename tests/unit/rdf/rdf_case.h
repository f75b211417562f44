/* Parsing a text and comparing the N-Quads or the reason that come out. */
#ifndef TESTS_UNIT_RDF_RDF_CASE_H
#define TESTS_UNIT_RDF_RDF_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/buf.h"
#include "rdf/core/parse.h"
#include "rdf/core/writer.h"

struct rdf_case {
    const char *input, *output; /* output: N-Quads; or the reason when it starts with '!' */
};

static inline enum status
rdf_case_quad(void *context, const struct quad *quad, struct reason *why)
{
    (void)why;
    return nquads_write(context, quad);
}

/* Appends "! line:column text\n" to the quads, for lenient parsing. */
static inline void
rdf_case_problem(void *context, const struct parse_problem *problem)
{
    buf_printf(context, "! %llu:%llu %s\n", (unsigned long long)problem->line,
               (unsigned long long)problem->column, problem->text);
}

static inline void
rdf_case_run(parse_function *parse, const char *base, bool lenient, struct rdf_case expected)
{
    struct buf out;
    struct reason why = {{0}};
    buf_init(&out, 1 << 20);
    const struct parse_options options = {
        .base = slice_string(base),
        .lenient = lenient,
        .problems = {.problem = rdf_case_problem, .context = &out},
    };
    const struct quad_sink sink = {.quad = rdf_case_quad, .context = &out};
    /* A copy of its own, so that reading past the end is found. */
    char *input = malloc(strlen(expected.input) + 1);
    memcpy(input, expected.input, strlen(expected.input));
    const enum status status =
        parse(slice_of(input, strlen(expected.input)), &options, &sink, &why);
    free(input);
    if (!lenient && expected.output[0] == '!') {
        assert_int_equal(status, STATUS_BAD_INPUT);
        assert_string_equal(why.text, expected.output + 1);
    } else {
        assert_string_equal(why.text, "");
        assert_int_equal(status, STATUS_OK);
        assert_string_equal(out.data ? out.data : "", expected.output);
    }
    buf_release(&out);
}

#define RDF_CASES(parse, base, lenient, cases)                            \
    do {                                                                  \
        for (size_t i_ = 0; i_ < sizeof(cases) / sizeof *(cases); i_++) { \
            rdf_case_run(parse, base, lenient, (cases)[i_]);              \
        }                                                                 \
    } while (0)

#endif
