/* Pages and pictures of inspections: what is foreign stays text, and all is bounded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/inspection/graph_drawing.h"
#include "cli/report/report_html.h"

enum { MANY = 300 };

static size_t
occurrences(const struct buf *text, const char *word)
{
    size_t count = 0;
    for (const char *at = text->data; (at = strstr(at, word)) != NULL; at++) {
        count++;
    }
    return count;
}

static struct quad
statement(const char *subject, const char *predicate, struct term object)
{
    return (struct quad){.subject = term_iri(slice_string(subject)),
                         .predicate = term_iri(slice_string(predicate)),
                         .object = object};
}

static void
test_foreign_text_stays_text(void **state)
{
    (void)state;
    const struct quad quad = statement("http://a.example/\"><script>x", "http://a.example/<p>&",
                                       term_literal(SLICE("</text></svg><script>alert('1')")));
    const struct quad *quads[] = {&quad};
    struct buf out;
    buf_init(&out, 1 << 20);
    assert_int_equal(graph_drawing(&out, quads, 1), 0);
    assert_int_equal(occurrences(&out, "<script"), 0);
    assert_int_equal(occurrences(&out, "</svg>"), 1);
    assert_int_equal(occurrences(&out, "&lt;script&gt;"), 4); /* labels and titles */
    buf_release(&out);
}

static void
test_large_graph_is_cut(void **state)
{
    (void)state;
    static char names[MANY][40];
    static struct quad all[MANY];
    static const struct quad *quads[MANY];
    struct buf out, again;
    for (size_t i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "http://a.example/n%zu", i);
        all[i] = statement("http://a.example/me", "http://a.example/p",
                           term_iri(slice_string(names[i])));
        quads[i] = &all[i];
    }
    buf_init(&out, 1 << 20);
    buf_init(&again, 1 << 20);
    const size_t left_out = graph_drawing(&out, quads, MANY);
    assert_int_equal(left_out, MANY - (DRAWING_NODES - 1));
    assert_int_equal(occurrences(&out, "<circle"), DRAWING_NODES);
    assert_int_equal(occurrences(&out, "class=\"edge\""), DRAWING_NODES - 1);
    assert_null(strstr(out.data, "nan"));
    (void)graph_drawing(&again, quads, MANY);
    assert_string_equal(out.data, again.data);
    buf_release(&out);
    buf_release(&again);
}

static void
test_statement_is_drawn_once(void **state)
{
    (void)state;
    const struct quad quad =
        statement("http://a.example/me", "http://a.example/p", term_literal(SLICE("x")));
    const struct quad *quads[] = {&quad, &quad};
    struct buf out;
    buf_init(&out, 1 << 20);
    assert_int_equal(graph_drawing(&out, quads, 2), 0);
    assert_int_equal(occurrences(&out, "class=\"edge\""), 1);
    buf_reset(&out);
    assert_int_equal(graph_drawing(&out, quads, 0), 0);
    assert_int_equal(occurrences(&out, "</svg>"), 1);
    buf_release(&out);
}

/* A character of several bytes that stands where a label ends is left out whole. */
static void
test_label_is_cut_between_characters(void **state)
{
    (void)state;
    const struct quad quad = statement("http://a.example/me", "http://a.example/p",
                                       term_literal(SLICE("1234567890123456789012345\xC3\xA4xyz")));
    const struct quad *quads[] = {&quad};
    struct buf out;
    buf_init(&out, 1 << 20);
    (void)graph_drawing(&out, quads, 1);
    assert_non_null(strstr(out.data, ">1234567890123456789012345…<"));
    assert_null(strstr(out.data, "\xEF\xBF\xBD"));
    buf_release(&out);
}

static void
test_report_page(void **state)
{
    (void)state;
    struct meta_update update;
    struct report_page page;
    struct buf record, out;
    buf_init(&record, 1 << 20);
    buf_init(&out, 1 << 20);
    report_page_init(&page);
    meta_update_init(&update);
    meta_set_text(&update, META_STATE, SLICE("indexed"));
    meta_set_text(&update, META_DETECTED_TYPE, SLICE("text/turtle"));
    meta_set_text(&update, META_CONTENT_TYPE, SLICE("text/<b>"));
    meta_set_text(&update, META_TRANSFORM, SLICE("turtle/1"));
    meta_set_text(&update, META_TRANSFORM_QUADS, SLICE("turtle 3"));
    meta_set_text(&update, META_TRANSFORM_PROBLEMS,
                  SLICE("turtle: line 7: prefix is not declared: <script>\n"));
    assert_int_equal(meta_merge(slice_of(NULL, 0), meta_update_fields(&update), &record),
                     META_MERGED);
    assert_true(report_page_read(&page, SLICE("uhttp://a.example/?<i>"), buf_slice(&record)));
    report_html_page(&out, &page);
    assert_int_equal(
        occurrences(&out, "<script") + occurrences(&out, "<b>") + occurrences(&out, "<i>"), 0);
    assert_non_null(strstr(out.data, "<td class=\"number\">7</td>"));
    assert_non_null(strstr(out.data, "Declare the prefix before"));
    assert_int_equal(occurrences(&out, "<tr>"), 1 + 2); /* head; the prefix, the Content-Type */
    meta_update_release(&update);
    report_page_release(&page);
    buf_release(&record);
    buf_release(&out);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_foreign_text_stays_text),
        cmocka_unit_test(test_large_graph_is_cut),
        cmocka_unit_test(test_statement_is_drawn_once),
        cmocka_unit_test(test_label_is_cut_between_characters),
        cmocka_unit_test(test_report_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
