#include "datasets/harvest.h"

#include <stdlib.h>
#include <string.h>

#include "base/url/url.h"
#include "rdf/core/writer.h"
#include "rdf/nquads/nquads.h"

/* ---- where it stands ---- */

enum { NUMBERS = 12 };

static void
numbers_of(struct harvest_position *at, uint64_t *numbers[NUMBERS])
{
    uint64_t *const all[NUMBERS] = {&at->bytes,   &at->page,    &at->number,    &at->counted,
                                    &at->triples, &at->offset,  &at->queries,   &at->before,
                                    &at->depth,   &at->shorter, &at->unordered, &at->post};
    memcpy(numbers, all, sizeof all);
}

void
harvest_encode(const struct harvest_position *position, struct buf *text)
{
    struct harvest_position copy = *position;
    uint64_t *numbers[NUMBERS];
    numbers_of(&copy, numbers);
    for (size_t i = 0; i < NUMBERS; i++) {
        buf_printf(text, "%llu ", (unsigned long long)*numbers[i]);
    }
    buf_append_slice(text, position->after);
}

void
harvest_decode(struct slice text, struct harvest_position *position)
{
    uint64_t *numbers[NUMBERS];
    *position = (struct harvest_position){0};
    numbers_of(position, numbers);
    for (size_t i = 0; i < NUMBERS; i++) {
        *numbers[i] = slice_number(slice_next_word(&text));
    }
    position->after = slice_trim(text);
}

/* ---- queries ---- */

static void
append_string(struct buf *query, struct slice text)
{
    buf_append_char(query, '"');
    for (size_t i = 0; i < text.length; i++) {
        if (text.at[i] == '"' || text.at[i] == '\\') {
            buf_append_char(query, '\\');
        }
        buf_append_char(query, text.at[i]);
    }
    buf_append_char(query, '"');
}

static void
append_filter(const struct execution *execution, const struct harvest_position *at,
              struct buf *query)
{
    buf_append_string(query, "FILTER(isIRI(?s) && (");
    for (size_t i = 0; i < execution->space_count; i++) {
        buf_append_string(query, i > 0 ? " || STRSTARTS(STR(?s), " : "STRSTARTS(STR(?s), ");
        append_string(query, execution->spaces[i].prefix);
        buf_append_char(query, ')');
    }
    buf_append_char(query, ')');
    if (at->number > 0 && at->after.length > 0 && at->unordered == 0) {
        buf_append_string(query, " && STR(?s) > ");
        append_string(query, at->after);
    }
    buf_append_char(query, ')');
}

static void
append_count(const struct execution *execution, const struct harvest_position *at,
             struct buf *query)
{
    const bool graphs = execution->graphs;
    buf_append_string(query, "SELECT (COUNT(*) AS ?n) WHERE { ");
    buf_append_string(query, graphs ? "{ SELECT DISTINCT ?s ?p ?o WHERE { GRAPH ?g { " : "");
    buf_append_string(query, "?s ?p ?o ");
    append_filter(execution, at, query);
    buf_append_string(query, graphs ? " } } } }" : " }");
}

/* ?o0 is an object, ?o1 what its blank node is said to have, and so on. */
static void
append_template(const struct harvest_position *at, struct buf *query)
{
    buf_append_string(query, "CONSTRUCT { ?s ?p0 ?o0");
    for (unsigned long long i = 1; i <= at->depth; i++) {
        buf_printf(query, " . ?o%llu ?p%llu ?o%llu", i - 1, i, i);
    }
    buf_append_string(query, " } WHERE { ");
}

static void
append_levels(const struct harvest_position *at, struct buf *query)
{
    for (unsigned long long i = 1; i <= at->depth; i++) {
        buf_printf(query, " OPTIONAL { ?o%llu ?p%llu ?o%llu FILTER(isBlank(?o%llu))", i - 1, i, i,
                   i - 1);
    }
    for (uint64_t i = 1; i <= at->depth; i++) {
        buf_append_string(query, " }");
    }
}

static void
append_page(const struct execution *execution, const struct harvest_position *at, struct buf *query)
{
    const bool graphs = execution->graphs;
    append_template(at, query);
    buf_append_string(query, "{ SELECT DISTINCT ?s WHERE { ");
    buf_append_string(query, graphs ? "GRAPH ?h { ?s ?a ?b } " : "?s ?a ?b ");
    append_filter(execution, at, query);
    buf_printf(query, " } %sLIMIT %llu", at->unordered != 0 ? "" : "ORDER BY STR(?s) ",
               (unsigned long long)at->page);
    if (at->unordered != 0) {
        buf_printf(query, " OFFSET %llu", (unsigned long long)at->offset);
    }
    buf_append_string(query, graphs ? " } GRAPH ?g { ?s ?p0 ?o0" : " } ?s ?p0 ?o0");
    append_levels(at, query);
    buf_append_string(query, graphs ? " } }" : " }");
}

void
harvest_query(const struct execution *execution, const struct harvest_position *position,
              struct buf *query)
{
    (position->number == 0 ? append_count : append_page)(execution, position, query);
}

bool
harvest_endpoint(struct slice endpoint, struct slice graph, struct slice base, struct buf *key)
{
    struct buf uri;
    buf_init(&uri, URL_MAXIMUM);
    buf_append_slice(&uri, slice_of(endpoint.at, slice_find(endpoint, '#')));
    if (graph.length > 0 && !slice_is(graph, "*")) {
        buf_append_string(&uri, slice_find(endpoint, '?') < endpoint.length ? "&" : "?");
        buf_append_string(&uri, ENDPOINT_GRAPH);
        url_append_value(&uri, graph);
    }
    const bool good =
        !uri.overflowed && url_crawl_key(buf_slice(&uri), base, key, NULL) == STATUS_OK;
    buf_release(&uri);
    return good;
}

void
harvest_url(struct slice endpoint, struct slice query, struct buf *url)
{
    buf_append_slice(url, endpoint);
    buf_append_string(url, slice_find(endpoint, '?') < endpoint.length ? "&" : "?");
    buf_append_string(url, "query=");
    url_append_value(url, query);
}

/* ---- counts ---- */

static uint64_t
leading_number(struct slice text)
{
    size_t length = 0;
    while (length < text.length && text.at[length] >= '0' && text.at[length] <= '9') {
        length++;
    }
    return slice_number(slice_of(text.at, length));
}

static struct slice
behind(struct slice text, const char *marker)
{
    const struct slice sought = slice_string(marker);
    const size_t at = slice_find_slice(text, sought);
    return at == text.length
               ? slice_of(text.at + at, 0)
               : slice_of(text.at + at + sought.length, text.length - at - sought.length);
}

static struct slice
without_quote(struct slice text)
{
    text = slice_trim(text);
    return text.length > 0 && text.at[0] == '"' ? slice_of(text.at + 1, text.length - 1) : text;
}

uint64_t
harvest_counted(struct slice answer)
{
    const struct slice text = slice_trim(answer);
    if (text.length == 0) {
        return 0;
    }
    if (text.at[0] == '{') {
        const struct slice value = slice_trim(behind(text, "\"value\""));
        return value.length == 0 || value.at[0] != ':'
                   ? 0
                   : leading_number(without_quote(slice_of(value.at + 1, value.length - 1)));
    }
    if (text.at[0] == '<') {
        return leading_number(slice_trim(behind(behind(text, "<literal"), ">")));
    }
    return leading_number(without_quote(behind(text, "\n")));
}

/* ---- pages ---- */

struct row {
    size_t at; /* in the text as it came */
    struct slice line, subject;
    bool own; /* of a resource in the spaces */
};

struct reading {
    struct harvest_page *page;
    const struct execution *execution;
    uint64_t number;
    struct buf text, rows, described, used; /* struct row; labels of blank nodes, two times */
};

void
harvest_page_init(struct harvest_page *page)
{
    *page = (struct harvest_page){0};
    buf_init(&page->text, HARVEST_PAGE_BYTES);
    arena_init(&page->arena, 2 * HARVEST_PAGE_BYTES);
}

void
harvest_page_release(struct harvest_page *page)
{
    buf_release(&page->text);
    arena_release(&page->arena);
}

/* Blank nodes are the page's own. */
static bool
rename_blank(const struct reading *reading, struct term *term, struct buf *labels)
{
    if (term->kind != TERM_BLANK) {
        return true;
    }
    term->value = arena_printf(&reading->page->arena, "p%llu.%.*s",
                               (unsigned long long)reading->number, SLICE_PRINT(term->value));
    return term->value.at != NULL &&
           buf_append(labels, &term->value, sizeof term->value) == STATUS_OK;
}

static enum status
take_triple(void *context, const struct quad *quad, struct reason *why)
{
    struct reading *reading = context;
    const struct execution *execution = reading->execution;
    struct quad named = *quad;
    struct row row = {.at = reading->text.length};
    named.graph = (struct term){0};
    row.own =
        quad->subject.kind == TERM_IRI &&
        slice_space_of(execution->spaces, execution->space_count, quad->subject.value) != NULL;
    row.subject =
        row.own ? arena_copy(&reading->page->arena, quad->subject.value) : (struct slice){0};
    if ((row.own && row.subject.at == NULL) ||
        !rename_blank(reading, &named.subject, &reading->described) ||
        !rename_blank(reading, &named.object, &reading->used) ||
        nquads_write(&reading->text, &named) != STATUS_OK ||
        buf_append(&reading->rows, &row, sizeof row) != STATUS_OK) {
        return status_fail(why, STATUS_LIMIT, "the page is too large");
    }
    return STATUS_OK;
}

static int
compare_rows(const void *a, const void *b)
{
    return slice_compare(((const struct row *)a)->line, ((const struct row *)b)->line);
}

static int
compare_labels(const void *a, const void *b)
{
    return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

/* Tells whether a blank node is used of which nothing is said. */
static bool
lacks_descriptions(const struct buf *described, const struct buf *used)
{
    struct slice *labels = (void *)described->data;
    const struct slice *wanted = (const void *)used->data;
    const size_t count = described->length / sizeof *labels;
    const size_t n = used->length / sizeof *wanted;
    if (count > 0) {
        qsort(labels, count, sizeof *labels, compare_labels);
    }
    for (size_t i = 0; i < n; i++) {
        if (count == 0 ||
            bsearch(&wanted[i], labels, count, sizeof *labels, compare_labels) == NULL) {
            return true;
        }
    }
    return false;
}

static enum status
keep_rows(struct reading *reading, struct reason *why)
{
    struct harvest_page *page = reading->page;
    struct row *rows = (void *)reading->rows.data;
    const size_t count = reading->rows.length / sizeof *rows;
    struct slice subject = {0};
    for (size_t i = 0; i < count; i++) {
        const size_t end = i + 1 < count ? rows[i + 1].at : reading->text.length;
        rows[i].line = slice_of(reading->text.data + rows[i].at, end - rows[i].at);
    }
    if (count > 0) {
        qsort(rows, count, sizeof *rows, compare_rows);
    }
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && slice_equal(rows[i].line, rows[i - 1].line)) {
            continue;
        }
        if (buf_append_slice(&page->text, rows[i].line) != STATUS_OK) {
            return status_fail(why, STATUS_LIMIT, "the page is too large");
        }
        if (!rows[i].own) {
            continue;
        }
        page->triples++;
        page->resources += slice_equal(rows[i].subject, subject) ? 0 : 1;
        subject = rows[i].subject;
        if (slice_compare(subject, page->last) > 0) {
            page->last = subject;
        }
    }
    return STATUS_OK;
}

enum status
harvest_read(struct harvest_page *page, const struct execution *execution,
             const struct harvest_position *position, struct slice answer, struct reason *why)
{
    struct reading reading = {.page = page, .execution = execution, .number = position->number};
    const struct quad_sink sink = {take_triple, &reading};
    buf_init(&reading.text, HARVEST_PAGE_BYTES);
    buf_init(&reading.rows, 2 * HARVEST_PAGE_BYTES);
    buf_init(&reading.described, HARVEST_PAGE_BYTES);
    buf_init(&reading.used, HARVEST_PAGE_BYTES);
    enum status status = ntriples_parse(answer, NULL, &sink, why);
    if (status == STATUS_OK) {
        status = keep_rows(&reading, why);
    }
    page->deeper = status == STATUS_OK && lacks_descriptions(&reading.described, &reading.used);
    buf_release(&reading.used);
    buf_release(&reading.described);
    buf_release(&reading.rows);
    buf_release(&reading.text);
    return status;
}
