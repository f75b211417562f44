/* Results of a lookup as a page: hits with their words marked, facets that lead on, further pages.
 */
#include "base/url/url.h"
#include "search/marks.h"
#include "web/api/answer.h"
#include "web/html.h"

enum { ADDRESS_BYTES = 64 << 10, SAME_SHOWN = 5 };

static void
begin_link(const struct answer *answer, const struct answer_change *change, const char *more,
           struct buf *out)
{
    struct buf address;
    buf_init(&address, ADDRESS_BYTES);
    answer_address(answer, change, &address);
    (void)buf_printf(out, "<a%s href=\"", more);
    /* Relative to the host: the page may be behind a proxy with another name. */
    struct slice path = buf_slice(&address);
    (void)slice_take(&path, '/');
    (void)slice_take(&path, '/');
    (void)slice_take(&path, '/');
    (void)buf_append_char(out, '/');
    html_text(out, path);
    (void)buf_append_string(out, "\">");
    buf_release(&address);
}

static void
link_to(struct buf *out, const char *address, struct slice value, const char *text)
{
    (void)buf_printf(out, "<a href=\"%s", address);
    url_append_value(out, value);
    (void)buf_printf(out, "\">%s</a>", text);
}

/* ---- hits ---- */

static void
put_text(struct buf *out, struct find_marks *marks, const struct term *object)
{
    struct find_snippet snippet;
    find_marks_snippet(marks, object->value, object->language, &snippet);
    (void)buf_append_string(out, "<span dir=\"auto\"");
    if (object->language.length > 0) {
        (void)buf_append_string(out, " lang=\"");
        html_text(out, object->language);
        (void)buf_append_char(out, '"');
    }
    (void)buf_append_string(out, snippet.cut_before ? ">…" : ">");
    size_t at = 0;
    for (size_t i = 0; i < snippet.count; i++) {
        const struct find_mark *mark = &snippet.marks[i];
        html_text(out, slice_of(snippet.text.at + at, mark->at - at));
        (void)buf_append_string(out, "<mark>");
        html_text(out, slice_of(snippet.text.at + mark->at, mark->length));
        (void)buf_append_string(out, "</mark>");
        at = mark->at + mark->length;
    }
    html_text(out, slice_of(snippet.text.at + at, snippet.text.length - at));
    (void)buf_append_string(out, snippet.cut_after ? "…</span>" : "</span>");
}

static void
put_alternates(struct buf *out, struct slice lines)
{
    if (lines.length > 0) {
        (void)buf_append_string(out, "<p class=\"where\">The same in ");
    }
    for (bool first = true; lines.length > 0; first = false) {
        (void)buf_append_string(out, first ? "" : ", ");
        html_iri(out, slice_take(&lines, '\n'));
        (void)buf_append_string(out, lines.length > 0 ? "" : "</p>");
    }
}

static void
put_entry(struct buf *out, struct find_marks *marks, const struct find_entry *entry)
{
    const struct term title = term_literal(answer_title(entry));
    const bool named = entry->resource.kind == TERM_IRI;
    (void)buf_printf(out, "<div class=\"hit\"><p><a href=\"%s",
                     named ? "/resource?uri=" : "/document?uri=");
    url_append_value(out, named ? entry->resource.value : entry->document);
    (void)buf_append_string(out, "\"><b>");
    put_text(out, marks, &title);
    (void)buf_append_string(out, "</b></a>");
    if (entry->type.length > 0) {
        (void)buf_append_string(out, " <span class=\"tag\">");
        html_text(out, find_local_name(entry->type));
        (void)buf_append_string(out, "</span>");
    }
    (void)buf_append_string(out, "</p>");
    if (entry->object.kind == TERM_LITERAL && !slice_equal(entry->object.value, title.value)) {
        (void)buf_append_string(out, "<p>");
        put_text(out, marks, &entry->object);
        (void)buf_append_string(out, "</p>");
    } else if (entry->object.kind == TERM_IRI) {
        (void)buf_append_string(out, "<p>");
        html_iri(out, entry->object.value);
        (void)buf_append_string(out, "</p>");
    }
    (void)buf_append_string(out, "<p class=\"where\">");
    html_iri(out, entry->predicate.value);
    if (named) {
        (void)buf_append_string(out, " of ");
        html_iri(out, entry->resource.value);
    }
    (void)buf_append_string(out, "</p><p class=\"where\">in ");
    html_iri(out, entry->document);
    (void)buf_printf(out, " · %zu found there", entry->statements);
    if (entry->changed.length > 0) {
        (void)buf_append_string(out, " · ");
        html_text(out, slice_of(entry->changed.at,
                                entry->changed.length < 10 ? entry->changed.length : 10));
    }
    (void)buf_append_string(out, " · ");
    link_to(out, "/document?uri=", entry->document, "about this document");
    (void)buf_append_string(out, "</p>");
    put_alternates(out, entry->alternates);
    (void)buf_append_string(out, "</div>\n");
}

/* ---- what is around them ---- */

static void
put_filters(const struct answer *answer, struct buf *out)
{
    struct slice filters = answer->filters;
    for (bool first = true;; first = false) {
        const struct slice filter = find_next_word(&filters);
        if (filter.length == 0) {
            (void)buf_append_string(out, first ? "" : "</p>\n");
            return;
        }
        (void)buf_append_string(out, first ? "<p>Only " : " ");
        (void)buf_append_string(out, "<span class=\"tag\">");
        html_text(out, filter);
        (void)buf_append_char(out, ' ');
        begin_link(answer, &(struct answer_change){.page = 1, .without = filter},
                   " aria-label=\"without this filter\"", out);
        (void)buf_append_string(out, "×</a></span>");
    }
}

static void
put_facet(const struct answer *answer, const struct find_facet *facet, struct buf *out)
{
    static const char *const names[FILTER_KINDS] = {"Class", "Property", "Host", "Language",
                                                    "Date"};
    const bool iris = facet->kind == FILTER_CLASS || facet->kind == FILTER_PREDICATE;
    (void)buf_printf(out, "<div><b>%s</b><ul>", names[facet->kind]);
    for (size_t i = 0; i < facet->count; i++) {
        const struct slice value = facet->values[i].value;
        struct buf filter;
        buf_init(&filter, ADDRESS_BYTES);
        (void)buf_printf(&filter, "%s:%.*s", answer_filter_name(facet->kind), SLICE_PRINT(value));
        (void)buf_append_string(out, "<li>");
        begin_link(answer, &(struct answer_change){.page = 1, .with = buf_slice(&filter)},
                   " rel=\"nofollow\"", out);
        const struct slice name = iris ? find_local_name(value) : value;
        html_text(out, name.length > 0 ? name : value);
        (void)buf_printf(out, "</a> %zu</li>", facet->values[i].count);
        buf_release(&filter);
    }
    (void)buf_append_string(out, facet->more ? "<li>…</li></ul></div>\n" : "</ul></div>\n");
}

static void
put_facets(const struct answer *answer, struct buf *out)
{
    const struct find_results *results = answer->results;
    if (results->facet_count == 0) {
        return;
    }
    (void)buf_printf(out, "<details%s><summary>Narrow down</summary><div class=\"facets\">\n",
                     results->count > answer->per_page ? " open" : "");
    for (size_t i = 0; i < results->facet_count; i++) {
        put_facet(answer, &results->facets[i], out);
    }
    (void)buf_append_string(out, "</div></details>\n");
}

static void
put_same(const struct answer *answer, struct buf *out)
{
    const struct find_results *results = answer->results;
    for (size_t i = 0; i < results->same_count && i < SAME_SHOWN; i++) {
        const struct find_same *same = &results->same[i];
        (void)buf_append_string(out, i == 0 ? "<ul class=\"where\">" : "");
        (void)buf_append_string(out, "<li>The same, and searched for, too: ");
        html_iri(out, same->resource);
        (void)buf_append_string(out, ", by ");
        html_text(out, same->rule);
        (void)buf_append_char(out, ' ');
        html_text(out, same->property);
        (void)buf_append_char(out, ' ');
        html_text(out, same->value);
        (void)buf_append_string(out, " in ");
        html_iri(out, same->document);
        (void)buf_append_string(out, "</li>\n");
    }
    if (results->same_count > 0) {
        (void)buf_append_string(out, "</ul><p class=\"where\">");
        link_to(out, "/identity?uri=", answer->question, "All reasons");
        (void)buf_append_string(out, "</p>\n");
    }
}

static void
put_pages(const struct answer *answer, struct buf *out)
{
    (void)buf_append_string(out, "<nav class=\"pager\" aria-label=\"Pages\">");
    if (answer->page > 1) {
        begin_link(answer, &(struct answer_change){.page = answer->page - 1}, " rel=\"prev\"", out);
        (void)buf_append_string(out, "Back</a>");
    }
    if (answer_end(answer) < answer->results->count) {
        begin_link(answer, &(struct answer_change){.page = answer->page + 1}, " rel=\"next\"", out);
        (void)buf_append_string(out, "Next</a>");
    }
    (void)buf_append_string(out, "</nav>\n");
}

static void
put_help(struct buf *out)
{
    (void)buf_append_string(
        out,
        "<p>Words to search for go above: they are looked up in the literals of all documents. "
        "<code>\"two words\"</code> is a phrase, <code>-word</code> leaves out, "
        "<code>word*</code> begins so; <code>lang:de</code>, <code>class:foaf:Person</code>, "
        "<code>predicate:foaf:name</code>, <code>domain:example.org</code>, "
        "<code>date:2026-11..</code> narrow down.</p>\n");
}

void
answer_write_page(const struct answer *answer, struct web_reply *reply)
{
    struct buf *out = &reply->body;
    const struct find_results *results = answer->results;
    reply->content_type = "text/html; charset=utf-8";
    html_begin(out, "Search", answer->question);
    if (answer->question.length == 0 && answer->filters.length == 0) {
        put_help(out);
        html_end(out);
        return;
    }
    if (results->count > 0) {
        (void)buf_printf(out, "<h1>%s%zu found</h1>\n", results->at_least ? "At least " : "",
                         results->count);
    } else {
        (void)buf_append_string(out, "<h1>Nothing found</h1>\n");
    }
    if (results->corrected.length > 0) {
        (void)buf_append_string(out, "<p>Nothing has those words. This is what was found for <b>");
        html_text(out, results->corrected);
        (void)buf_append_string(out, "</b>.</p>\n");
    }
    put_filters(answer, out);
    put_same(answer, out);
    put_facets(answer, out);
    struct find_marks *marks = find_marks_new(results->words);
    for (size_t i = answer_first(answer); i < answer_end(answer); i++) {
        put_entry(out, marks, &results->entries[i]);
    }
    find_marks_free(marks);
    put_pages(answer, out);
    html_end(out);
}
