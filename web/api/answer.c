#include "web/api/answer.h"

#include "base/system/clock.h"
#include "base/url/url.h"
#include "index/query/results/result.h"
#include "search/marks.h"
#include "web/html.h"
#include "web/http/accept.h"

#define SEARCH "http://sindice.com/vocab/search#"
#define TITLE "http://purl.org/dc/terms/title"
#define RDF_TYPE "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
#define XSD_INTEGER "http://www.w3.org/2001/XMLSchema#integer"

enum { ADDRESS_BYTES = 64 << 10, ANSWER_BYTES = 32 << 20 };

typedef void write_answer(const struct answer *answer, struct web_reply *reply);
static write_answer write_json, write_atom, write_text, write_rdf;

/* The first row of a type is the one that Accept chooses. */
static const struct format {
    const char *name, *type;
    write_answer *write;
    enum result_format result; /* of write_rdf */
} formats[] = {
    {"html", "text/html", answer_write_page, 0},
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

bool
answer_shows_facets(int format)
{
    return formats[format].write == answer_write_page;
}

bool
answer_shows_documents(int format)
{
    return formats[format].write == answer_write_page || formats[format].write == write_atom;
}

/* ---- JSON ---- */

static json_t *
json_title(const struct find_entry *entry, enum answer_shape shape)
{
    json_t *text = find_json_text(answer_title(entry));
    return shape == ANSWER_SINDICE_3   ? json_pack("[{s:s,s:o}]", "type", "literal", "value", text)
           : shape == ANSWER_SINDICE_2 ? json_pack("[o]", text)
                                       : text;
}

/* The part of the text that has the words; places of words in it are counted in characters. */
static void
json_snippet(json_t *object, struct find_marks *marks, const struct find_entry *entry)
{
    struct find_snippet snippet;
    find_marks_snippet(marks, entry->object.value, entry->object.language, &snippet);
    json_t *places = json_array();
    size_t characters = 0, at = 0;
    for (size_t i = 0; i < snippet.count; i++) {
        size_t ends[2] = {snippet.marks[i].at, snippet.marks[i].at + snippet.marks[i].length};
        for (size_t k = 0; k < 2; k++) {
            for (; at < ends[k]; at++) {
                characters += ((unsigned char)snippet.text.at[at] & 0xC0) != 0x80;
            }
            ends[k] = characters;
        }
        (void)json_array_append_new(
            places, json_pack("[I,I]", (json_int_t)ends[0], (json_int_t)(ends[1] - ends[0])));
    }
    (void)json_object_set_new(object, "snippet", find_json_text(snippet.text));
    (void)json_object_set_new(object, "highlights", places);
    if (entry->object.language.length > 0) {
        (void)json_object_set_new(object, "language", find_json_text(entry->object.language));
    }
}

static json_t *
json_lines(struct slice lines)
{
    json_t *list = json_array();
    while (lines.length > 0) {
        (void)json_array_append_new(list, find_json_text(slice_take(&lines, '\n')));
    }
    return list;
}

static json_t *
json_entry(const struct answer *answer, struct find_marks *marks, size_t at)
{
    const struct find_entry *entry = &answer->results->entries[at];
    json_t *object =
        json_pack("{s:I,s:o,s:o,s:f,s:I,s:o}", "rank", (json_int_t)at + 1, "link",
                  find_json_text(entry->document), "title", json_title(entry, answer->shape),
                  "score", entry->score, "statements", (json_int_t)entry->statements, "domain",
                  find_json_text(find_host(entry->document)));
    (void)json_object_set_new(object, "formats", json_pack("[s]", "RDF"));
    (void)json_object_set_new(object, "predicate",
                              json_pack("[o]", find_json_text(entry->predicate.value)));
    if (entry->triples > 0) {
        char content[64];
        (void)snprintf(content, sizeof content, "%llu triples", (unsigned long long)entry->triples);
        (void)json_object_set_new(object, "content", json_string(content));
    }
    if (entry->type.length > 0) {
        (void)json_object_set_new(object, "class", json_pack("[o]", find_json_text(entry->type)));
    }
    if (entry->changed.length > 0) {
        (void)json_object_set_new(object, "updated", find_json_text(entry->changed));
    }
    if (entry->resource.kind == TERM_IRI) {
        (void)json_object_set_new(object, "resource", find_json_text(entry->resource.value));
    }
    if (entry->same.length > 0) {
        (void)json_object_set_new(object, "same", find_json_text(entry->same));
    }
    if (entry->alternates.length > 0) {
        (void)json_object_set_new(object, "alternates", json_lines(entry->alternates));
    }
    if (entry->object.kind == TERM_LITERAL) {
        json_snippet(object, marks, entry);
    }
    return object;
}

static json_t *
json_facets(const struct find_results *results)
{
    json_t *facets = json_object();
    for (size_t i = 0; i < results->facet_count; i++) {
        const struct find_facet *facet = &results->facets[i];
        json_t *values = json_array();
        for (size_t k = 0; k < facet->count; k++) {
            (void)json_array_append_new(
                values, json_pack("{s:o,s:I}", "value", find_json_text(facet->values[k].value),
                                  "count", (json_int_t)facet->values[k].count));
        }
        (void)json_object_set_new(facets, answer_filter_name(facet->kind),
                                  json_pack("{s:o,s:b}", "values", values, "more", facet->more));
    }
    return facets;
}

/* Finds who is the same as what was asked for, and why: docs/IDENTITY.md. */
static json_t *
json_same(const struct find_results *results)
{
    json_t *list = json_array();
    for (size_t i = 0; i < results->same_count; i++) {
        const struct find_same *same = &results->same[i];
        json_t *object =
            json_pack("{s:o,s:o,s:o}", "resource", find_json_text(same->resource), "rule",
                      find_json_text(same->rule), "document", find_json_text(same->document));
        if (same->property.length > 0) {
            (void)json_object_set_new(object, "property", find_json_text(same->property));
            (void)json_object_set_new(object, "value", find_json_text(same->value));
        }
        (void)json_array_append_new(list, object);
    }
    return list;
}

static void
json_link(const struct answer *answer, json_t *object, const char *name, size_t page)
{
    struct buf address;
    buf_init(&address, ADDRESS_BYTES);
    answer_address(answer, &(struct answer_change){.page = page}, &address);
    (void)json_object_set_new(object, name, find_json_text(buf_slice(&address)));
    buf_release(&address);
}

static void
write_json(const struct answer *answer, struct web_reply *reply)
{
    char now[CLOCK_TEXT_SIZE];
    json_t *entries = json_array();
    struct find_marks *marks = find_marks_new(answer->results->words);
    clock_text(clock_wall_ms(), 1, now);
    for (size_t i = answer_first(answer); i < answer_end(answer); i++) {
        (void)json_array_append_new(entries, json_entry(answer, marks, i));
    }
    find_marks_free(marks);
    const size_t count = answer->results->count;
    const size_t last = count > 0 ? (count + answer->per_page - 1) / answer->per_page : 1;
    json_t *object =
        json_pack("{s:o,s:s,s:I,s:b,s:I,s:I,s:{s:o},s:o}", "title",
                  find_json_text(answer->question), "updated", now, "totalResults",
                  (json_int_t)count, "totalIsAtLeast", answer->results->at_least, "itemsPerPage",
                  (json_int_t)answer->per_page, "startIndex", (json_int_t)answer_first(answer) + 1,
                  "query", "q", find_json_text(answer->question), "entries", entries);
    if (answer->results->corrected.length > 0) {
        (void)json_object_set_new(object, "corrected", find_json_text(answer->results->corrected));
    }
    if (answer->results->facet_count > 0) {
        (void)json_object_set_new(object, "facets", json_facets(answer->results));
    }
    if (answer->results->same_count > 0) {
        (void)json_object_set_new(object, "same", json_same(answer->results));
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
    for (size_t i = answer_first(answer); i < answer_end(answer); i++) {
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
    answer_address(answer, &(struct answer_change){.page = answer->page}, &address);
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
    for (size_t i = answer_first(answer); i < answer_end(answer); i++) {
        const struct find_entry *entry = &answer->results->entries[i];
        (void)buf_append_string(out, "<entry>\n");
        atom_element(out, "title", answer_title(entry));
        atom_element(out, "id", entry->document);
        (void)buf_append_string(out, "<link href=\"");
        html_text(out, entry->document);
        (void)buf_append_string(out, "\"/>\n");
        atom_element(out, "updated",
                     entry->changed.length > 0 ? entry->changed : slice_string(now));
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
    for (size_t i = answer_first(answer); i < answer_end(answer); i++) {
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
        state(describing, TITLE, term_literal(answer_title(entry)));
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
    answer_address(answer, &(struct answer_change){.page = answer->page}, &address);
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
