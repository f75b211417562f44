/* A page for each IRI: what is said of it and by whom, and what links to it; the same data in the
 * syntaxes of RDF by content negotiation.
 *
 * Nothing is loaded from other hosts: pictures and maps elsewhere are links. */
#include <stdio.h>
#include <stdlib.h>

#include "base/url/url.h"
#include "web/html.h"
#include "web/http/accept.h"
#include "web/pages/identity_page.h"
#include "web/pages/page_terms.h"
#include "web/sparql_answer.h"

enum {
    STATEMENTS = 500,
    LINKS = 200,
    SPEAKERS = 30, /* whose fetch is told */
    PICTURES = 12,
    TEXT_BYTES = 256 << 10,
    TERM_BYTES = 16 << 20
};

/* A row of three terms: property, value or subject, document. */
struct statement {
    struct term property, other, document;
};
struct statements {
    struct statement *rows;
    size_t count;
    bool cut;
};

/* Properties of names, the better ones first. */
static const char *const names[] = {"http://www.w3.org/2000/01/rdf-schema#label",
                                    "http://www.w3.org/2004/02/skos/core#prefLabel",
                                    "http://xmlns.com/foaf/0.1/name",
                                    "http://schema.org/name",
                                    "https://schema.org/name",
                                    "http://purl.org/dc/terms/title",
                                    "http://purl.org/dc/elements/1.1/title",
                                    "http://ogp.me/ns#title",
                                    "http://xmlns.com/foaf/0.1/nick",
                                    NULL};
static const char *const pictures[] = {"http://xmlns.com/foaf/0.1/img",
                                       "http://xmlns.com/foaf/0.1/depiction",
                                       "http://xmlns.com/foaf/0.1/logo",
                                       "http://xmlns.com/foaf/0.1/thumbnail",
                                       "http://schema.org/image",
                                       "https://schema.org/image",
                                       "http://schema.org/logo",
                                       "https://schema.org/logo",
                                       "http://ogp.me/ns#image",
                                       "http://dbpedia.org/ontology/thumbnail",
                                       NULL};
static const char *const latitudes[] = {"http://www.w3.org/2003/01/geo/wgs84_pos#lat",
                                        "http://schema.org/latitude", "https://schema.org/latitude",
                                        NULL};
static const char *const longitudes[] = {"http://www.w3.org/2003/01/geo/wgs84_pos#long",
                                         "http://schema.org/longitude",
                                         "https://schema.org/longitude", NULL};

static size_t
place_among(const char *const *list, const struct term *property)
{
    size_t i = 0;
    while (list[i] != NULL && !slice_is(property->value, list[i])) {
        i++;
    }
    return i;
}

static bool
is_among(const char *const *list, const struct term *property)
{
    return list[place_among(list, property)] != NULL;
}

/* The value of the best of these properties; in English before other languages. */
static const struct term *
best_of(const struct statements *said, const char *const *list)
{
    const struct term *best = NULL;
    size_t best_place = SIZE_MAX;
    for (size_t i = 0; i < said->count; i++) {
        const struct statement *row = &said->rows[i];
        const size_t place = place_among(list, &row->property);
        const bool foreign =
            row->other.language.length > 0 && !slice_starts(row->other.language, SLICE("en"));
        if (list[place] != NULL && row->other.kind == TERM_LITERAL &&
            2 * place + foreign < best_place) {
            best = &row->other;
            best_place = 2 * place + foreign;
        }
    }
    return best;
}

static enum status
read_statements(struct web_service *service, struct web_query *query, struct slice sparql,
                uint64_t most, struct arena *arena, struct statements *found, struct reason *why)
{
    struct page_rows rows;
    *found = (struct statements){0};
    page_rows_init(&rows, most + 1);
    const enum status status = page_query(service, query, sparql, "tsv", &rows, why);
    struct slice lines = arena_copy(arena, buf_slice(&rows.lines));
    found->cut = rows.cut;
    found->rows = arena_zero(arena, (most + 1) * sizeof *found->rows);
    page_rows_release(&rows);
    (void)slice_take(&lines, '\n');
    while (status == STATUS_OK && found->rows != NULL && lines.length > 0 && found->count < most) {
        struct slice line = slice_take(&lines, '\n');
        struct statement *row = &found->rows[found->count++];
        row->property = page_term_read(slice_take(&line, '\t'), arena);
        row->other = page_term_read(slice_take(&line, '\t'), arena);
        row->document = page_term_read(slice_take(&line, '\t'), arena);
    }
    return status;
}

/* ---- what is said, what links here ---- */

/* A property stands once above its values, and a value once beside all who say so. */
static void
put_statements(struct buf *out, const char *title, const char *value,
               const struct statements *found)
{
    (void)buf_printf(out, "<h2>%s</h2>\n", title);
    if (found->count == 0) {
        (void)buf_append_string(out, "<p class=\"where\">Nothing.</p>\n");
        return;
    }
    (void)buf_printf(
        out,
        "<table class=\"statements\"><thead><tr><th scope=\"col\">Property</th>"
        "<th scope=\"col\">%s</th><th scope=\"col\">Said by</th></tr></thead><tbody>\n",
        value);
    for (size_t i = 0; i < found->count; i++) {
        const struct statement *row = &found->rows[i], *before = i > 0 ? row - 1 : NULL;
        const bool same_property = before != NULL && term_equal(&row->property, &before->property);
        if (same_property && term_equal(&row->other, &before->other)) {
            (void)buf_append_string(out, "<br>");
        } else {
            (void)buf_append_string(out, i > 0 ? "</td></tr>\n<tr><th scope=\"row\">"
                                               : "<tr><th scope=\"row\">");
            if (!same_property) {
                page_term(out, &row->property);
            }
            (void)buf_append_string(out, "</th><td>");
            page_term(out, &row->other);
            (void)buf_append_string(out, "</td><td>");
        }
        page_document_link(out, row->document.value);
    }
    (void)buf_append_string(out, "</td></tr></tbody></table>\n");
    if (found->cut) {
        (void)buf_printf(out, "<p class=\"note\">There are more than these %zu.</p>\n",
                         found->count);
    }
}

/* ---- above them ---- */

static void
put_head(struct buf *out, struct slice uri, const struct statements *said)
{
    const struct term *name = best_of(said, names);
    (void)buf_append_string(out, "<h1><bdi>");
    html_text(out, name != NULL ? name->value : uri);
    (void)buf_append_string(out, "</bdi></h1>\n<p class=\"where\"><bdi>");
    html_text(out, uri);
    (void)buf_append_string(out, "</bdi> ");
    page_web_link(out, uri, "on the web");
    (void)buf_append_string(out, "</p>\n<p>");
    for (size_t i = 0; i < said->count; i++) {
        const struct statement *row = &said->rows[i];
        const bool again = i > 0 && term_equal(&row->other, &(row - 1)->other);
        if (slice_is(row->property.value, "http://www.w3.org/1999/02/22-rdf-syntax-ns#type") &&
            row->other.kind == TERM_IRI && !again) {
            (void)buf_append_string(out, "<span class=\"tag\">");
            page_resource_link(out, row->other.value);
            (void)buf_append_string(out, "</span>");
        }
    }
    (void)buf_append_string(out, "</p>\n");
}

static void
put_pictures(struct buf *out, const struct statements *said)
{
    size_t count = 0;
    for (size_t i = 0; i < said->count && count < PICTURES; i++) {
        const struct statement *row = &said->rows[i];
        const struct slice at = row->other.value;
        const bool again = i > 0 && term_equal(&row->other, &(row - 1)->other);
        if (!again && is_among(pictures, &row->property) &&
            (slice_starts(at, SLICE("http://")) || slice_starts(at, SLICE("https://")))) {
            (void)buf_append_string(out, count++ == 0 ? "<h2>Pictures</h2>\n<ul class=\"flat\"><li>"
                                                      : "<li>");
            html_iri(out, at);
            (void)buf_append_string(out, "</li>");
        }
    }
    (void)buf_append_string(out, count > 0 ? "</ul>\n" : "");
}

/* Degrees that are in the text of a literal. */
static bool
degrees_of(const struct term *term, double most, double *degrees)
{
    char text[40], *end;
    if (term == NULL || term->value.length == 0 || term->value.length >= sizeof text) {
        return false;
    }
    (void)snprintf(text, sizeof text, "%.*s", SLICE_PRINT(term->value));
    *degrees = strtod(text, &end);
    return *end == '\0' && *degrees >= -most && *degrees <= most;
}

static void
put_place(struct buf *out, const struct statements *said)
{
    double latitude, longitude;
    if (!degrees_of(best_of(said, latitudes), 90, &latitude) ||
        !degrees_of(best_of(said, longitudes), 180, &longitude)) {
        return;
    }
    (void)buf_printf(out,
                     "<h2>Place</h2>\n<div id=\"place\" data-latitude=\"%.6f\" "
                     "data-longitude=\"%.6f\"></div><p>%.5f°, %.5f° · "
                     "<a rel=\"noreferrer\" href=\"https://www.openstreetmap.org/"
                     "?mlat=%.6f&amp;mlon=%.6f#map=12/%.6f/%.6f\">on a map elsewhere</a></p>\n",
                     latitude, longitude, latitude, longitude, latitude, longitude, latitude,
                     longitude);
}

static void
put_formats(struct buf *out, struct slice uri)
{
    static const char *const formats[][2] = {{"ttl", "Turtle"},
                                             {"rdf", "RDF/XML"},
                                             {"jsonld", "JSON-LD"},
                                             {"nt", "N-Triples"},
                                             {"nq", "N-Quads"}};
    (void)buf_append_string(out, "<p class=\"where\">The same as data:");
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        (void)buf_printf(out, " <a href=\"/resource?format=%s&amp;uri=", formats[i][0]);
        url_append_value(out, uri);
        (void)buf_printf(out, "\">%s</a>", formats[i][1]);
    }
    (void)buf_append_string(out, "</p>\n");
}

/* ---- who speaks of it ---- */

static bool
is_listed(const struct slice *list, size_t count, struct slice uri)
{
    for (size_t i = 0; i < count; i++) {
        if (slice_equal(list[i], uri)) {
            return true;
        }
    }
    return false;
}

/* When the documents that say something of it were fetched, and what read them. What cannot be had
 * is left out. */
static void
put_speakers(struct web_service *service, struct web_query *query, const struct statements *said,
             struct arena *arena, struct buf *out)
{
    struct slice documents[SPEAKERS];
    struct statements found;
    struct reason why;
    struct buf text;
    size_t count = 0;
    buf_init(&text, TEXT_BYTES);
    (void)buf_append_string(&text, "SELECT ?when ?how ?document { VALUES ?document {");
    for (size_t i = 0; i < said->count && count < SPEAKERS; i++) {
        const struct slice uri = said->rows[i].document.value;
        if (!is_listed(documents, count, uri)) {
            documents[count++] = uri;
            (void)buf_printf(&text, " <%.*s>", SLICE_PRINT(uri));
        }
    }
    (void)buf_append_string(
        &text, " } GRAPH q:provenance { ?document prov:generatedAtTime ?when OPTIONAL { "
               "?document meta:activity/prov:generated/void:subset/prov:wasAttributedTo/"
               "dcterms:title ?how } } } ORDER BY DESC(?when) ?document ?how");
    if (count > 0 &&
        read_statements(service, query, buf_slice(&text), 4 * SPEAKERS, arena, &found, &why) ==
            STATUS_OK &&
        found.count > 0) {
        (void)buf_append_string(out,
                                "<h2>Who speaks of it</h2>\n<div class=\"wide\"><table><thead><tr>"
                                "<th scope=\"col\">Document</th><th scope=\"col\">Lines</th>"
                                "<th scope=\"col\">Fetched</th>"
                                "<th scope=\"col\">Read by</th></tr></thead><tbody>\n");
        for (size_t i = 0; i < found.count; i++) {
            const struct statement *row = &found.rows[i];
            if (i > 0 && term_equal(&row->document, &(row - 1)->document)) {
                (void)buf_append_string(out, ", ");
            } else {
                (void)buf_append_string(out, i > 0 ? "</td></tr>\n<tr><td>" : "<tr><td>");
                page_document_link(out, row->document.value);
                (void)buf_append_string(out, "</td><td><a href=\"/inspect?archived=");
                url_append_value(out, row->document.value);
                (void)buf_append_string(out, "\">line by line</a></td><td>");
                html_text(out, slice_of(row->property.value.at, row->property.value.length < 19
                                                                    ? row->property.value.length
                                                                    : 19));
                (void)buf_append_string(out, "</td><td>");
            }
            html_text(out, row->other.value);
        }
        (void)buf_append_string(out, "</td></tr></tbody></table></div>\n");
    }
    buf_release(&text);
}

/* ---- the page ---- */

static void
put_page(struct web_service *service, struct web_query *query, struct slice uri,
         const struct statements *said, const struct statements *links, struct arena *arena,
         struct buf *out)
{
    html_begin(out, "Resource", slice_of(NULL, 0));
    put_head(out, uri, said);
    put_formats(out, uri);
    identity_put_members(service, query, uri, out);
    put_place(out, said);
    put_pictures(out, said);
    put_statements(out, "What is said of it", "Value", said);
    put_statements(out, "What links to it", "From", links);
    put_speakers(service, query, said, arena, out);
    html_script(out, "views.js");
    html_end(out);
}

static enum status
write_page(struct web_service *service, struct web_query *query, struct slice uri, struct buf *out,
           struct reason *why)
{
    struct buf text;
    struct arena arena;
    struct statements said, links;
    buf_init(&text, TEXT_BYTES);
    arena_init(&arena, TERM_BYTES);
    /* Only so many members of a class of millions are read, and only these are sorted. */
    (void)buf_printf(
        &text,
        "SELECT ?p ?o ?g { { SELECT ?p ?o ?g { GRAPH ?g { <%.*s> ?p ?o } } LIMIT %d } } "
        "ORDER BY ?p ?o ?g",
        SLICE_PRINT(uri), STATEMENTS + 1);
    enum status status =
        read_statements(service, query, buf_slice(&text), STATEMENTS, &arena, &said, why);
    buf_reset(&text);
    (void)buf_printf(
        &text,
        "SELECT ?p ?s ?g { { SELECT ?p ?s ?g { GRAPH ?g { ?s ?p <%.*s> } } LIMIT %d } } "
        "ORDER BY ?p ?s ?g",
        SLICE_PRINT(uri), LINKS + 1);
    if (status == STATUS_OK) {
        status = read_statements(service, query, buf_slice(&text), LINKS, &arena, &links, why);
    }
    if (status == STATUS_OK && said.count + links.count == 0) {
        status = status_fail(why, STATUS_NOT_FOUND, "nothing is said of <%.*s>", SLICE_PRINT(uri));
    }
    if (status == STATUS_OK) {
        put_page(service, query, uri, &said, &links, &arena, out);
    }
    arena_release(&arena);
    buf_release(&text);
    return status;
}

void
web_resource(struct web_service *service, const struct web_request *request,
             struct web_reply *reply)
{
    static const char *const page_types[] = {"text/turtle", "text/html"};
    const struct slice uri = slice_string(web_parameter(request, "uri", NULL));
    const char *format = web_parameter(request, "format", NULL);
    const char *accept = web_header(request, "Accept");
    const bool page = format != NULL
                          ? strcmp(format, "html") == 0
                          : accept != NULL && web_accept_choose(accept, page_types, 2) == 1;
    struct reason why = {""};
    if (!iri_is_absolute(uri)) {
        web_reply_error(reply, 400, "uri is no IRI.");
        return;
    }
    if (!page) {
        const int chosen = web_choose_type(request, &web_graph_types, reply);
        char *text = NULL;
        if (chosen >= 0 && asprintf(&text, "DESCRIBE <%.*s>", SLICE_PRINT(uri)) > 0) {
            web_answer_query(service, request, text, &web_graph_types, chosen, reply);
        }
        return;
    }
    struct web_query *query = web_query_take(service, request, reply);
    if (query == NULL) {
        return;
    }
    const enum status status = write_page(service, query, uri, &reply->body, &why);
    web_query_give(service, query);
    if (status != STATUS_OK) {
        web_reply_failure(reply, status, &why);
    }
}
