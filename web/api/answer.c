#include "web/api/answer.h"

#include "base/system/clock.h"
#include "base/url/url.h"
#include "index/query/results/result.h"
#include "web/html.h"
#include "web/http/accept.h"
#include "web/http/host.h"

#define SEARCH "http://sindice.com/vocab/search#"
#define TITLE "http://purl.org/dc/terms/title"
#define RDF_TYPE "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
#define XSD_INTEGER "http://www.w3.org/2001/XMLSchema#integer"

enum { ADDRESS_BYTES = 64 << 10, ANSWER_BYTES = 32 << 20 };

typedef void write_answer(const struct answer *answer, struct web_reply *reply);
static write_answer write_html, write_json, write_atom, write_text, write_rdf;

/* The first row of a type is the one that Accept chooses. */
static const struct format {
    const char *name, *type;
    write_answer *write;
    enum result_format result; /* of write_rdf */
} formats[] = {
    {"html", "text/html", write_html, 0},
    {"json", "application/json", write_json, 0},
    {"ttl", "text/turtle", write_rdf, RESULT_TURTLE},
    {"rdf", "application/rdf+xml", write_rdf, RESULT_RDFXML},
    {"jsonld", "application/ld+json", write_rdf, RESULT_JSONLD},
    {"nq", "application/n-quads", write_rdf, RESULT_NQUADS},
    {"nt", "application/n-triples", write_rdf, RESULT_NTRIPLES},
    {"atom", "application/atom+xml", write_atom, 0},
    {"txt", "text/plain", write_text, 0},
    {"rdfxml", "application/rdf+xml", write_rdf, RESULT_RDFXML},
    {"turtle", "text/turtle", write_rdf, RESULT_TURTLE},
    {"n3", "text/turtle", write_rdf, RESULT_TURTLE},
    {"ntriples", "application/n-triples", write_rdf, RESULT_NTRIPLES},
};
enum { FORMATS = sizeof formats / sizeof formats[0] };

int
answer_format(const struct web_request *request, struct web_reply *reply)
{
    const char *types[FORMATS];
    const char *wanted = web_parameter(request, "format", NULL);
    for (int i = 0; i < FORMATS; i++) {
        types[i] = formats[i].type;
        if (wanted != NULL && strcmp(wanted, formats[i].name) == 0) {
            return i;
        }
    }
    const int chosen =
        wanted == NULL ? web_accept_choose(web_header(request, "Accept"), types, FORMATS) : -1;
    if (chosen < 0) {
        web_reply_error(reply, 406,
                        "There are the formats html, json, ttl, rdf, jsonld, nq, nt, atom, txt.");
    }
    return chosen;
}

void
answer_write(const struct answer *answer, int format, struct web_reply *reply)
{
    reply->content_type = formats[format].type;
    formats[format].write(answer, reply);
}

/* ---- places ---- */

static size_t
first_of(const struct answer *answer)
{
    const size_t first = (answer->page - 1) * answer->per_page;
    return first < answer->results->count ? first : answer->results->count;
}

static size_t
end_of(const struct answer *answer)
{
    const size_t end = first_of(answer) + answer->per_page;
    return end < answer->results->count ? end : answer->results->count;
}

/* The address of a page of the same results: that of the request with another page. */
static const char *const carried[] = {"q",   "qt",     "nq",    "fq",       "property",  "object",
                                      "uri", "format", "field", "per_page", "sortbydate"};

struct carrying {
    struct buf *out;
    const char *name;
};

static void
carry(void *context, const char *value)
{
    const struct carrying *carrying = context;
    (void)buf_printf(carrying->out, "%s=", carrying->name);
    url_append_value(carrying->out, slice_string(value));
    (void)buf_append_char(carrying->out, '&');
}

static void
address_of_page(const struct answer *answer, size_t page, struct buf *out)
{
    const char *host = web_header(answer->request, "Host");
    (void)buf_printf(out, "http://%s%s?", host != NULL ? host : "localhost", answer->request->path);
    for (size_t i = 0; i < sizeof carried / sizeof carried[0]; i++) {
        struct carrying carrying = {out, carried[i]};
        web_parameters(answer->request, carried[i], carry, &carrying);
    }
    (void)buf_printf(out, "page=%zu", page);
}

static struct slice
title_of(const struct find_entry *entry)
{
    return entry->title.length > 0            ? entry->title
           : entry->resource.kind == TERM_IRI ? entry->resource.value
                                              : entry->document;
}

/* ---- HTML ---- */

static void
html_page_link(const struct answer *answer, size_t page, const char *text, struct buf *out)
{
    struct buf address;
    buf_init(&address, ADDRESS_BYTES);
    address_of_page(answer, page, &address);
    (void)buf_append_string(out, " <a href=\"");
    html_text(out, buf_slice(&address));
    (void)buf_printf(out, "\">%s</a>", text);
    buf_release(&address);
}

static void
html_entry(struct buf *out, const struct find_entry *entry)
{
    (void)buf_append_string(out, "<div class=\"hit\"><p><b>");
    html_text(out, title_of(entry));
    (void)buf_append_string(out, "</b></p><p class=\"where\">");
    if (entry->resource.kind == TERM_IRI) {
        html_iri(out, entry->resource.value);
        (void)buf_append_string(out, " · <a href=\"/resource?uri=");
        url_append_value(out, entry->resource.value);
        (void)buf_append_string(out, "\">who says what of it</a> · ");
    }
    html_iri(out, entry->predicate.value);
    (void)buf_append_string(out, ": ");
    html_text(out, slice_of(entry->object.value.at,
                            entry->object.value.length < 400 ? entry->object.value.length : 400));
    (void)buf_append_string(out, "</p><p class=\"where\">in ");
    html_iri(out, entry->document);
    (void)buf_printf(out, " · %u found there · <a href=\"/meta?uri=", entry->statements);
    url_append_value(out, entry->document);
    (void)buf_append_string(out, "\">about this document</a></p></div>\n");
}

static void
write_html(const struct answer *answer, struct web_reply *reply)
{
    struct buf *out = &reply->body;
    reply->content_type = "text/html; charset=utf-8";
    html_begin(out, "Lookup", answer->question);
    (void)buf_printf(out, "<h1>%s%zu found</h1>\n", answer->results->at_least ? "at least " : "",
                     answer->results->count);
    if (answer->results->corrected.length > 0) {
        (void)buf_append_string(out, "<p>Nothing has those words. This is what was found for <b>");
        html_text(out, answer->results->corrected);
        (void)buf_append_string(out, "</b>.</p>\n");
    }
    for (size_t i = first_of(answer); i < end_of(answer); i++) {
        html_entry(out, &answer->results->entries[i]);
    }
    (void)buf_append_string(out, "<p>");
    if (answer->page > 1) {
        html_page_link(answer, answer->page - 1, "before", out);
    }
    if (end_of(answer) < answer->results->count) {
        html_page_link(answer, answer->page + 1, "next", out);
    }
    (void)buf_append_string(out, "</p>\n");
    html_end(out);
}

/* ---- JSON ---- */

static json_t *
json_title(const struct find_entry *entry, enum answer_shape shape)
{
    json_t *text = find_json_text(title_of(entry));
    return shape == ANSWER_SINDICE_3   ? json_pack("[{s:s,s:o}]", "type", "literal", "value", text)
           : shape == ANSWER_SINDICE_2 ? json_pack("[o]", text)
                                       : text;
}

static json_t *
json_entry(const struct answer *answer, size_t at)
{
    const struct find_entry *entry = &answer->results->entries[at];
    char content[64];
    (void)snprintf(content, sizeof content, "%llu triples", (unsigned long long)entry->triples);
    json_t *object = json_pack("{s:I,s:o,s:o,s:s,s:f,s:I,s:o}", "rank", (json_int_t)at + 1, "link",
                               find_json_text(entry->document), "title",
                               json_title(entry, answer->shape), "content", content, "score",
                               entry->score, "statements", (json_int_t)entry->statements, "domain",
                               find_json_text(web_host_of(entry->document)));
    (void)json_object_set_new(object, "formats", json_pack("[s]", "RDF"));
    (void)json_object_set_new(object, "predicate",
                              json_pack("[o]", find_json_text(entry->predicate.value)));
    if (entry->type.length > 0) {
        (void)json_object_set_new(object, "class", json_pack("[o]", find_json_text(entry->type)));
    }
    if (entry->fetched.length > 0) {
        (void)json_object_set_new(object, "updated", find_json_text(entry->fetched));
    }
    if (entry->resource.kind == TERM_IRI) {
        (void)json_object_set_new(object, "resource", find_json_text(entry->resource.value));
    }
    return object;
}

static void
json_link(const struct answer *answer, json_t *object, const char *name, size_t page)
{
    struct buf address;
    buf_init(&address, ADDRESS_BYTES);
    address_of_page(answer, page, &address);
    (void)json_object_set_new(object, name, find_json_text(buf_slice(&address)));
    buf_release(&address);
}

static void
write_json(const struct answer *answer, struct web_reply *reply)
{
    char now[CLOCK_TEXT_SIZE];
    json_t *entries = json_array();
    clock_text(clock_wall_ms(), 1, now);
    for (size_t i = first_of(answer); i < end_of(answer); i++) {
        (void)json_array_append_new(entries, json_entry(answer, i));
    }
    const size_t count = answer->results->count;
    const size_t last = count > 0 ? (count + answer->per_page - 1) / answer->per_page : 1;
    json_t *object =
        json_pack("{s:o,s:s,s:I,s:b,s:I,s:I,s:{s:o},s:o}", "title",
                  find_json_text(answer->question), "updated", now, "totalResults",
                  (json_int_t)count, "totalIsAtLeast", answer->results->at_least, "itemsPerPage",
                  (json_int_t)answer->per_page, "startIndex", (json_int_t)first_of(answer) + 1,
                  "query", "q", find_json_text(answer->question), "entries", entries);
    if (answer->results->corrected.length > 0) {
        (void)json_object_set_new(object, "corrected", find_json_text(answer->results->corrected));
    }
    json_link(answer, object, "link", answer->page);
    json_link(answer, object, "first", 1);
    json_link(answer, object, "last", last);
    if (answer->page > 1) {
        json_link(answer, object, "previous", answer->page - 1);
    }
    if (answer->page < last) {
        json_link(answer, object, "next", answer->page + 1);
    }
    find_put_json(&reply->body, object, JSON_INDENT(1));
}

/* ---- plain text ---- */

static void
write_text(const struct answer *answer, struct web_reply *reply)
{
    reply->content_type = "text/plain; charset=utf-8";
    for (size_t i = first_of(answer); i < end_of(answer); i++) {
        (void)buf_append_slice(&reply->body, answer->results->entries[i].document);
        (void)buf_append_char(&reply->body, '\n');
    }
}

/* ---- Atom: RFC 4287 ---- */

static void
atom_element(struct buf *out, const char *name, struct slice text)
{
    (void)buf_printf(out, "<%s>", name);
    html_text(out, text);
    (void)buf_printf(out, "</%s>\n", name);
}

static void
write_atom(const struct answer *answer, struct web_reply *reply)
{
    struct buf *out = &reply->body;
    char now[CLOCK_TEXT_SIZE];
    struct buf address;
    clock_text(clock_wall_ms(), 1, now);
    buf_init(&address, ADDRESS_BYTES);
    address_of_page(answer, answer->page, &address);
    (void)buf_append_string(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                                 "<feed xmlns=\"http://www.w3.org/2005/Atom\" "
                                 "xmlns:os=\"http://a9.com/-/spec/opensearch/1.1/\">\n");
    atom_element(out, "title", answer->question);
    atom_element(out, "id", buf_slice(&address));
    atom_element(out, "updated", slice_string(now));
    (void)buf_append_string(out,
                            "<author><name>Quadrille</name></author>\n<link rel=\"self\" href=\"");
    html_text(out, buf_slice(&address));
    (void)buf_printf(out,
                     "\"/>\n<os:totalResults>%zu</os:totalResults>\n"
                     "<os:itemsPerPage>%zu</os:itemsPerPage>\n",
                     answer->results->count, answer->per_page);
    for (size_t i = first_of(answer); i < end_of(answer); i++) {
        const struct find_entry *entry = &answer->results->entries[i];
        (void)buf_append_string(out, "<entry>\n");
        atom_element(out, "title", title_of(entry));
        atom_element(out, "id", entry->document);
        (void)buf_append_string(out, "<link href=\"");
        html_text(out, entry->document);
        (void)buf_append_string(out, "\"/>\n");
        atom_element(out, "updated",
                     entry->fetched.length > 0 ? entry->fetched : slice_string(now));
        atom_element(out, "summary", entry->object.value);
        (void)buf_append_string(out, "</entry>\n");
    }
    (void)buf_append_string(out, "</feed>\n");
    buf_release(&address);
}

/* ---- RDF ---- */

static enum status
add_piece(void *buffer, struct slice bytes, struct reason *why)
{
    (void)why;
    return buf_append_slice(buffer, bytes);
}

struct describing {
    const struct query_sink *sink;
    struct term subject;
    enum status status;
    struct reason why;
};

static void
state(struct describing *describing, const char *predicate, struct term object)
{
    const struct quad quad = {.subject = describing->subject,
                              .predicate = term_iri(slice_string(predicate)),
                              .object = object};
    if (describing->status == STATUS_OK) {
        describing->status =
            describing->sink->quad(describing->sink->context, &quad, &describing->why);
    }
}

static struct term
number(size_t value, char text[24])
{
    (void)snprintf(text, 24, "%zu", value);
    return (struct term){
        .kind = TERM_LITERAL, .value = slice_string(text), .datatype = SLICE_INIT(XSD_INTEGER)};
}

static void
state_results(const struct answer *answer, struct slice address, struct describing *describing)
{
    char text[24];
    const struct term query = term_iri(address);
    describing->subject = query;
    state(describing, RDF_TYPE, term_iri(SLICE(SEARCH "Query")));
    state(describing, TITLE, term_literal(answer->question));
    state(describing, SEARCH "searchTerms", term_literal(answer->question));
    state(describing, SEARCH "totalResults", number(answer->results->count, text));
    state(describing, SEARCH "itemsPerPage", number(answer->per_page, text));
    for (size_t i = first_of(answer); i < end_of(answer); i++) {
        const struct find_entry *entry = &answer->results->entries[i];
        char name[40], rank[24];
        (void)snprintf(name, sizeof name, "#result%zu", i + 1);
        struct buf own;
        buf_init(&own, ADDRESS_BYTES + 32);
        (void)buf_append_slice(&own, address);
        (void)buf_append_string(&own, name);
        describing->subject = query;
        state(describing, SEARCH "result", term_iri(buf_slice(&own)));
        describing->subject = term_iri(buf_slice(&own));
        state(describing, RDF_TYPE, term_iri(SLICE(SEARCH "Result")));
        state(describing, SEARCH "rank", number(i + 1, rank));
        state(describing, SEARCH "link", term_iri(entry->document));
        state(describing, TITLE, term_literal(title_of(entry)));
        buf_release(&own);
    }
}

static void
write_rdf(const struct answer *answer, struct web_reply *reply)
{
    enum result_format format = RESULT_TURTLE;
    for (size_t i = 0; i < FORMATS; i++) {
        if (strcmp(formats[i].type, reply->content_type) == 0) {
            format = formats[i].result;
            break;
        }
    }
    struct result_writer *writer;
    struct buf address;
    buf_init(&address, ADDRESS_BYTES);
    address_of_page(answer, answer->page, &address);
    result_writer_open(&writer, format, add_piece, &reply->body);
    struct describing describing = {.sink = result_writer_sink(writer), .status = STATUS_OK};
    state_results(answer, buf_slice(&address), &describing);
    if (describing.status == STATUS_OK) {
        describing.status = result_writer_finish(writer, &describing.why);
    }
    if (describing.status != STATUS_OK) {
        web_reply_failure(reply, describing.status, &describing.why);
    }
    result_writer_free(writer);
    buf_release(&address);
}
