/* Runs a query over literal data and compares the whole output. */
#ifndef TESTS_UNIT_QUERY_QUERY_CASE_H
#define TESTS_UNIT_QUERY_QUERY_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/buf.h"
#include "index/query/results/result.h"
#include "rdf/turtle/turtle.h"
#include "tests/support/memory_source.h"

#define CASE_BASE "http://example.org/"

/* Data that most cases are about: who knows whom in the default graph, what they like in two
 * others.
 */
#define QUERY_PEOPLE                                                                       \
    "@prefix : <http://example.org/> .\n"                                                  \
    ":ann :name \"Ann\" ; :age 30 ; :knows :bob , :cid .\n"                                \
    ":bob :name \"Bob\"@en ; :age 25.5 ; :knows :cid ; :mail <mailto:bob@example.org> .\n" \
    ":cid :name \"Cid\" ; :knows :dan .\n"                                                 \
    ":g1 { :ann :knows :bob . :ann :likes \"tea\" . }\n"                                   \
    ":g2 { :ann :likes \"tea\" . :bob :likes \"coffee and tea\" . }\n"

struct query_case {
    const char *query;
    const char *output; /* TSV, or N-Triples; or the reason when it starts with '!' */
};

static inline enum status
query_case_piece(void *context, struct slice bytes, struct reason *why)
{
    (void)why;
    return buf_append_slice(context, bytes);
}

/* TriG text; triples outside a graph go to <urn:x-test:default>. */
static inline struct memory_source *
query_case_source(const char *trig)
{
    struct memory_source *source = memory_source_new(0);
    struct reason why = {{0}};
    const struct quad_sink sink = memory_source_sink(source);
    const struct parse_options options = {.base = SLICE(CASE_BASE)};
    memory_source_begin(source, SLICE("urn:x-test:default"), (struct slice){"", 0}, &why);
    (void)trig_parse(slice_string(trig), &options, &sink, &why);
    assert_string_equal(why.text, "");
    return source;
}

/* Appends the output, or "!" and the reason. */
static inline enum status
query_case_output(struct memory_source *source, const char *text, const char *format,
                  const struct query_options *options, struct buf *out)
{
    struct query *query;
    struct reason why = {{0}};
    enum result_format form = RESULT_TSV;
    struct result_writer *writer;
    /* A copy of its own, so that reading past the end is found. */
    const size_t length = strlen(text);
    char *copy = malloc(length + 1);
    memcpy(copy, text, length);
    enum status status = query_prepare(&query, slice_of(copy, length), SLICE(CASE_BASE), &why);
    free(copy);
    if (status == STATUS_OK) {
        const bool rows = query_form_of(query) == QUERY_SELECT || query_form_of(query) == QUERY_ASK;
        status = result_format_find(slice_string(rows ? format : "nt"), query_form_of(query), &form,
                                    &why);
        assert_int_equal(status, STATUS_OK);
        result_writer_open(&writer, form, query_case_piece, out);
        status = query_run(query, memory_source_table(source), options, result_writer_sink(writer),
                           NULL, &why);
        if (status == STATUS_OK) {
            status = result_writer_finish(writer, &why);
        }
        result_writer_free(writer);
        query_free(query);
    }
    if (status != STATUS_OK) {
        buf_printf(out, "!%s", why.text);
    }
    return status;
}

static inline void
query_case_run(struct memory_source *source, const struct query_options *options,
               const struct query_case *expected)
{
    struct buf out;
    buf_init(&out, 1 << 20);
    (void)query_case_output(source, expected->query, "tsv", options, &out);
    const char *text = out.data ? out.data : "";
    if (strcmp(text, expected->output) != 0) {
        print_error("%s\n", expected->query);
    }
    assert_string_equal(text, expected->output);
    buf_release(&out);
}

static inline void
query_cases_run(const char *trig, const struct query_options *options,
                const struct query_case *cases, size_t count)
{
    static const struct query_options usual = {.now_ms = 1700000000000};
    struct memory_source *source = query_case_source(trig);
    for (size_t i = 0; i < count; i++) {
        query_case_run(source, options ? options : &usual, &cases[i]);
    }
    memory_source_free(source);
}

#define QUERY_CASES(trig, options, cases) \
    query_cases_run(trig, options, cases, sizeof(cases) / sizeof *(cases))

#endif
