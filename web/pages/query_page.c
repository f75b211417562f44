/* The page of queries: a form, and the answer of the query in its address as a table. Scripts make
 * an editor of the form, and charts, maps and graphs of the table (assets/query.js, views.js). */
#include <stdio.h>
#include <stdlib.h>

#include "base/system/clock.h"
#include "base/url/url.h"
#include "rdf/core/vocabulary.h"
#include "web/assets/assets.h"
#include "web/html.h"
#include "web/pages/page_terms.h"
#include "web/query_form.h"

enum { ROWS = 1000, COLUMNS = 100, TERM_BYTES = 16 << 20 };

static const struct {
    const char *title, *query;
} examples[] = {
    {"Classes by how often they are used",
     "SELECT ?class (COUNT(?s) AS ?n)\nWHERE { GRAPH ?document { ?s a ?class } }\n"
     "GROUP BY ?class ORDER BY DESC(?n) LIMIT 20"},
    {"Words, with the best hits first",
     "SELECT ?thing ?text ?score\nWHERE { ?text q:matches \"apple\" ; q:score ?score .\n"
     "        ?thing ?property ?text }\nORDER BY DESC(?score) LIMIT 20"},
    {"Places on a map",
     "SELECT ?place ?name ?lat ?long\nWHERE { ?place geo:lat ?lat ; geo:long ?long .\n"
     "        OPTIONAL { ?place rdfs:label ?name } }\nLIMIT 500"},
    {"Who knows whom, as a graph",
     "SELECT ?one ?other\nWHERE { ?one foaf:knows ?other }\nLIMIT 200"},
    {"When documents were fetched, and from where",
     "SELECT ?document ?when ?status\nWHERE { GRAPH q:provenance { ?document prov:generatedAtTime "
     "?when ;\n        http:statusCodeValue ?status } }\nORDER BY DESC(?when) LIMIT 50"}};
enum { EXAMPLES = sizeof examples / sizeof examples[0] };

/* Media types of answers, for links below the table and for the form. */
static const char *const table_formats[] = {"csv", "tsv", "json", "xml", NULL};
static const char *const graph_formats[] = {"ttl", "nt", "nq", "rdf", "jsonld", NULL};

static void
put_formats(struct buf *out, const char *label, const char *const *formats)
{
    (void)buf_printf(out, "<optgroup label=\"%s\">", label);
    for (size_t i = 0; formats[i] != NULL; i++) {
        (void)buf_printf(out, "<option>%s</option>", formats[i]);
    }
    (void)buf_append_string(out, "</optgroup>");
}

static void
put_form(struct buf *out, struct slice query)
{
    (void)buf_append_string(
        out, "<h1>Query</h1>\n<form id=\"query-form\" action=\"/sparql\">"
             "<label class=\"unseen\" for=\"query\">Query in SPARQL</label>"
             "<textarea id=\"query\" name=\"query\" rows=\"12\" spellcheck=\"false\" "
             "autocapitalize=\"off\" required>");
    html_text(out, query);
    (void)buf_append_string(out, "</textarea><div class=\"row\"><button>Run</button>"
                                 "<label>Answer <select name=\"format\">"
                                 "<option value=\"html\">on this page</option>");
    put_formats(out, "Tables", table_formats);
    put_formats(out, "Graphs", graph_formats);
    (void)buf_append_string(
        out, "</select></label><button type=\"button\" class=\"plain\" id=\"share\" hidden>"
             "Copy link</button><span id=\"told\" role=\"status\" class=\"where\"></span></div>"
             "</form>\n<details><summary>Examples, and what may be asked</summary><ul>");
    for (size_t i = 0; i < EXAMPLES; i++) {
        (void)buf_append_string(out, "<li><a href=\"/sparql?format=html&amp;query=");
        url_append_value(out, slice_string(examples[i].query));
        (void)buf_printf(out, "\">%s</a></li>", examples[i].title);
    }
    (void)buf_append_string(
        out, "</ul><p>Usual prefixes (<code>rdf:</code>, <code>rdfs:</code>, <code>foaf:</code>, "
             "<code>dcterms:</code>, <code>schema:</code>, <code>skos:</code> and others that "
             "<code>quadrille prefixes</code> lists) need no declaration. This is a SPARQL 1.1 "
             "Protocol endpoint: GET or POST, the format of the answer by Accept or "
             "<code>format=</code>, <code>timeout=</code> in milliseconds.</p></details>\n");
}

static void
put_downloads(struct buf *out, struct slice query, const char *const *formats)
{
    (void)buf_append_string(out, "<p class=\"where\">All of it as");
    for (size_t i = 0; formats[i] != NULL; i++) {
        (void)buf_printf(out, " <a href=\"/sparql?format=%s&amp;query=", formats[i]);
        url_append_value(out, query);
        (void)buf_printf(out, "\">%s</a>", formats[i]);
    }
    (void)buf_append_string(out, "</p>\n");
}

/* ---- tables ---- */

/* Writes the term as data of the cell, in the form that lines have it, for scripts that draw. */
static void
put_cell(struct buf *out, struct slice text, struct arena *arena)
{
    const struct term term = page_term_read(text, arena);
    const bool number = slice_is(term.datatype, XSD_INTEGER) ||
                        slice_is(term.datatype, XSD_DECIMAL) || slice_is(term.datatype, XSD_DOUBLE);
    (void)buf_append_string(out, number ? "<td class=\"number\" data-term=\"" : "<td data-term=\"");
    html_text(out, text);
    (void)buf_append_string(out, "\">");
    page_term(out, &term);
    (void)buf_append_string(out, "</td>");
}

/* The next term of a line of N-Triples, which ends with " ." */
static struct slice
take_triple_term(struct slice *line)
{
    size_t end = 0;
    if (line->length > 0 && line->at[0] == '"') {
        for (end = 1; end < line->length && line->at[end] != '"'; end++) {
            end += line->at[end] == '\\';
        }
    }
    end = end < line->length ? end : line->length;
    end += slice_find(slice_of(line->at + end, line->length - end), ' ');
    const struct slice term = slice_of(line->at, end);
    const size_t step = end < line->length ? end + 1 : end;
    *line = slice_of(line->at + step, line->length - step);
    return term;
}

static void
put_row(struct buf *out, struct slice line, size_t columns, bool graph, struct arena *arena)
{
    (void)buf_append_string(out, "<tr>");
    for (size_t i = 0; i < columns; i++) {
        put_cell(out, graph ? take_triple_term(&line) : slice_take(&line, '\t'), arena);
    }
    (void)buf_append_string(out, "</tr>\n");
    arena_reset(arena);
}

static size_t
put_head(struct buf *out, struct slice names)
{
    size_t columns = 0;
    (void)buf_append_string(out, "<thead><tr>");
    while (names.length > 0 && columns < COLUMNS) {
        struct slice name = slice_take(&names, '\t');
        (void)buf_append_string(out, "<th scope=\"col\">");
        html_text(out,
                  slice_starts(name, SLICE("?")) ? slice_of(name.at + 1, name.length - 1) : name);
        (void)buf_append_string(out, "</th>");
        columns++;
    }
    (void)buf_append_string(out, "</tr></thead><tbody>\n");
    return columns;
}

static void
put_answer(struct buf *out, struct slice query, const struct page_rows *rows, bool graph,
           uint64_t milliseconds)
{
    struct slice lines = buf_slice(&rows->lines);
    struct arena arena;
    if (slice_is(lines, "true\n") || slice_is(lines, "false\n") || slice_is(lines, "true") ||
        slice_is(lines, "false")) {
        (void)buf_printf(out, "<section id=\"results\"><h2>%s</h2></section>\n",
                         lines.at[0] == 't' ? "Yes" : "No");
        return;
    }
    const struct slice names =
        graph ? SLICE("?subject\t?predicate\t?object") : slice_take(&lines, '\n');
    const uint64_t count = graph || rows->rows == 0 ? rows->rows : rows->rows - 1;
    (void)buf_append_string(out, "<section id=\"results\" aria-label=\"Answer\">"
                                 "<p><strong>");
    (void)buf_append_string(out, rows->cut ? "The first " : "");
    page_number(out, count);
    (void)buf_printf(out, " %s</strong> <span class=\"where\">in %llu ms</span></p>\n",
                     graph        ? "triples"
                     : count == 1 ? "row"
                                  : "rows",
                     (unsigned long long)milliseconds);
    put_downloads(out, query, graph ? graph_formats : table_formats);
    (void)buf_append_string(out, "<div class=\"tabs\" id=\"tabs\" hidden></div>"
                                 "<div class=\"wide\" id=\"view-table\"><table id=\"rows\">");
    const size_t columns = put_head(out, names);
    arena_init(&arena, TERM_BYTES);
    while (lines.length > 0) {
        put_row(out, slice_take(&lines, '\n'), columns, graph, &arena);
    }
    arena_release(&arena);
    (void)buf_append_string(out,
                            "</tbody></table></div><div id=\"view\" hidden></div></section>\n");
}

/* ---- the page ---- */

static void
put_editor(struct buf *out)
{
    static const char *const styles[] = {"lib/codemirror.css", "addon/hint/show-hint.css"};
    static const char *const scripts[] = {"lib/codemirror.js", "mode/sparql/sparql.js",
                                          "addon/hint/show-hint.js", "addon/edit/matchbrackets.js"};
    for (size_t i = 0; asset_has_editor() && i < sizeof styles / sizeof styles[0]; i++) {
        (void)buf_printf(out, "<link rel=\"stylesheet\" href=\"/assets/codemirror/%s\">",
                         styles[i]);
    }
    for (size_t i = 0; asset_has_editor() && i < sizeof scripts / sizeof scripts[0]; i++) {
        (void)buf_printf(out, "<script src=\"/assets/codemirror/%s\" defer></script>", scripts[i]);
    }
    html_script(out, "views.js");
    html_script(out, "query.js");
}

/* A query that fails is told beside the form that still has it. */
static enum status
answer(struct web_service *service, struct web_query *place, struct slice query, struct buf *out,
       struct reason *why)
{
    const enum web_query_form form = web_query_form_of(query);
    const bool graph = form == WEB_FORM_GRAPH;
    const uint64_t begin = clock_monotonic_ms();
    struct page_rows rows;
    if (form == WEB_FORM_UPDATE) {
        return status_fail(why, STATUS_BAD_INPUT, "This is an update; it is POSTed.");
    }
    page_rows_init(&rows, graph ? ROWS : ROWS + 1);
    const enum status status = page_query(service, place, query, graph ? "nt" : "tsv", &rows, why);
    if (status == STATUS_OK) {
        put_answer(out, query, &rows, graph, clock_monotonic_ms() - begin);
    }
    page_rows_release(&rows);
    return status;
}

void
web_query_page(struct web_service *service, const struct web_request *request,
               struct web_reply *reply)
{
    const char *given = web_parameter(request, "query", NULL);
    const struct slice query = slice_string(given != NULL ? given : examples[0].query);
    struct buf *out = &reply->body;
    struct reason why = {""};
    enum status status = STATUS_OK;
    struct web_query *place = given != NULL ? web_query_take(service, request, reply) : NULL;
    if (given != NULL && place == NULL) {
        return;
    }
    html_begin(out, "Query", slice_of(NULL, 0));
    put_form(out, query);
    if (given != NULL) {
        status = answer(service, place, query, out, &why);
        web_query_give(service, place);
    }
    if (status != STATUS_OK) {
        web_reply_failure(reply, status, &why);
        reply->problem[0] = '\0'; /* it stands on the page */
        (void)buf_append_string(out, "<p class=\"bad\" role=\"alert\">");
        html_text(out, slice_string(why.text));
        (void)buf_append_string(out, "</p>\n");
    }
    put_editor(out);
    html_end(out);
}
