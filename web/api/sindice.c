/* The Sindice API, as its clients knew it: /query/v1/lookup, /v2/search, /v3/search, /v3/cache and
 * /v2/live. What is asked of the live web is answered from the index: the service fetches nothing
 * for strangers. */

#include "base/url/url.h"
#include "rdf/core/writer.h"
#include "rdf/nquads/nquads.h"
#include "web/api/lookup.h"

enum { DOCUMENT_BYTES = 32 << 20, DOCUMENT_TRIPLES = 100000 };

/* ---- searches ---- */

void
web_sindice_lookup(struct web_service *service, const struct web_request *request,
                   struct web_reply *reply)
{
    const char *uri = web_parameter(request, "uri", NULL);
    const char *keyword = web_parameter(request, "keyword", NULL);
    struct find_request wanted = {.is_uri = uri != NULL};
    struct buf memory;
    buf_init(&memory, URL_MAXIMUM);
    wanted.text = slice_string(uri != NULL ? uri : keyword);
    if (wanted.text.length > 0 || lookup_by_property(request, &wanted, &memory, reply)) {
        lookup_answer(service, request, &wanted, wanted.text, ANSWER_SINDICE_2, reply);
    }
    buf_release(&memory);
}

/* A term of a pattern: "*" and "?x" are any; "<iri>" or "<name>"; a text in quotation marks. */
static bool
take_term(struct slice *text, struct slice *value, bool *quoted)
{
    *text = slice_trim(*text);
    *quoted = false;
    *value = slice_of(NULL, 0);
    if (text->length == 0) {
        return false;
    }
    const char first = text->at[0];
    if (first == '<' || first == '"' || first == '\'') {
        const struct slice inside = slice_of(text->at + 1, text->length - 1);
        const size_t end = slice_find(inside, first == '<' ? '>' : first);
        if (end == inside.length) {
            return false;
        }
        *value = slice_of(inside.at, end);
        *quoted = first != '<';
        *text = slice_of(inside.at + end + 1, inside.length - end - 1);
        return true;
    }
    const struct slice word = slice_next_word(text);
    if (slice_is(word, "*") || word.at[0] == '?') {
        return true;
    }
    *value = word;
    return word.length > 0;
}

/* One pattern of three terms as a lookup. False: it is none that is answered. */
static bool
read_pattern(struct slice text, struct find_request *wanted, struct buf *memory)
{
    struct slice terms[3], end;
    bool quoted[3], any;
    text = slice_trim(text);
    if (text.length >= 2 && text.at[0] == '(' && text.at[text.length - 1] == ')') {
        text = slice_of(text.at + 1, text.length - 2);
    }
    for (size_t i = 0; i < 3; i++) {
        if (!take_term(&text, &terms[i], &quoted[i])) {
            return false;
        }
    }
    if (take_term(&text, &end, &any)) {
        return false;
    }
    if (terms[1].length > 0 && terms[2].length > 0 && terms[0].length == 0) {
        wanted->property = find_iri(terms[1], memory);
        wanted->text = terms[2];
        return wanted->property.length > 0;
    }
    const struct slice uri = terms[0].length > 0 ? terms[0] : terms[2];
    wanted->is_uri = true;
    wanted->text = uri;
    return terms[1].length == 0 && (terms[0].length > 0) != (terms[2].length > 0) &&
           !(quoted[0] || quoted[2]) && iri_is_absolute(uri);
}

/* All fq= together; format: is left out, since all is RDF here. False: one is none we know. */
static void
add_filters(void *context, const char *value)
{
    struct slice rest = slice_string(value);
    for (;;) {
        const struct slice word = find_next_word(&rest);
        if (word.length == 0) {
            return;
        }
        if (!slice_starts(word, SLICE("format:"))) {
            (void)buf_append_slice(context, word);
            (void)buf_append_char(context, '\n');
        }
    }
}

static void
search(struct web_service *service, const struct web_request *request, struct slice words,
       struct slice pattern, enum answer_shape shape, struct web_reply *reply)
{
    struct find_request wanted = {.text = words};
    struct buf memory, filters;
    buf_init(&memory, URL_MAXIMUM);
    buf_init(&filters, WEB_BODY_MAXIMUM);
    (void)buf_append_string(&filters, "");
    web_parameters(request, "fq", add_filters, &filters);
    wanted.filters = buf_slice(&filters);
    if (words.length + pattern.length == 0) {
        web_reply_error(reply, 400, "There must be q= or nq=.");
    } else if (words.length > 0 && pattern.length > 0) {
        web_reply_error(reply, 400, "q and nq are not answered together.");
    } else if (pattern.length > 0 && !read_pattern(pattern, &wanted, &memory)) {
        web_reply_error(reply, 400, "A pattern is * <property> \"value\", * * <uri> or <uri> * *.");
    } else {
        wanted.is_uri |=
            pattern.length == 0 &&
            (slice_starts(words, SLICE("http://")) || slice_starts(words, SLICE("https://"))) &&
            iri_is_absolute(words);
        lookup_answer(service, request, &wanted, words.length > 0 ? words : pattern, shape, reply);
    }
    buf_release(&memory);
    buf_release(&filters);
}

void
web_sindice_search2(struct web_service *service, const struct web_request *request,
                    struct web_reply *reply)
{
    const struct slice q = slice_trim(slice_string(web_parameter(request, "q", NULL)));
    const char *kind = web_parameter(request, "qt", NULL);
    const bool advanced = kind != NULL && strcmp(kind, "advanced") == 0;
    if (kind != NULL && !advanced && strcmp(kind, "term") != 0) {
        web_reply_error(reply, 400, "qt is term or advanced.");
        return;
    }
    search(service, request, advanced ? SLICE("") : q, advanced ? q : SLICE(""), ANSWER_SINDICE_2,
           reply);
}

void
web_sindice_search3(struct web_service *service, const struct web_request *request,
                    struct web_reply *reply)
{
    search(service, request, slice_trim(slice_string(web_parameter(request, "q", NULL))),
           slice_trim(slice_string(web_parameter(request, "nq", NULL))), ANSWER_SINDICE_3, reply);
}

/* ---- documents ---- */

static enum status
append(void *buffer, struct slice bytes, struct reason *why)
{
    const enum status status = buf_append_slice(buffer, bytes);
    return status == STATUS_OK
               ? status
               : status_fail(why, status, "the document is longer than %d bytes", DOCUMENT_BYTES);
}

static enum status
read_document(struct web_service *service, struct slice uri, struct graph *graph,
              struct reason *why)
{
    const struct quad pattern = {.graph = term_iri(uri)};
    const struct quad_sink sink = graph_sink(graph);
    struct index_client *client;
    struct buf lines;
    TRY(web_index_take(service, &client, why));
    buf_init(&lines, DOCUMENT_BYTES);
    enum status status = index_pattern(client, &pattern, DOCUMENT_TRIPLES, append, &lines, why);
    web_index_give(service, client, status == STATUS_OK);
    if (status == STATUS_OK) {
        status = nquads_parse(buf_slice(&lines), NULL, &sink, why);
    }
    buf_release(&lines);
    if (status == STATUS_OK && graph->count == 0) {
        status = status_fail(why, STATUS_NOT_FOUND, "<%.*s> is not in the index", SLICE_PRINT(uri));
    }
    return status;
}

static json_t *
json_triples(const struct graph *graph)
{
    json_t *array = json_array();
    struct buf line;
    buf_init(&line, DOCUMENT_BYTES);
    for (size_t i = 0; i < graph->count; i++) {
        struct quad triple = graph->quads[i];
        triple.graph = (struct term){.kind = TERM_NONE};
        buf_reset(&line);
        (void)nquads_write(&line, &triple);
        (void)json_array_append_new(array, find_json_text(slice_trim(buf_slice(&line))));
    }
    buf_release(&line);
    return array;
}

static json_t *
json_term(const struct term *term)
{
    static const char *const types[] = {"", "uri", "bnode", "literal"};
    json_t *object =
        json_pack("{s:s,s:o}", "type", types[term->kind], "value", find_json_text(term->value));
    if (term->language.length > 0) {
        (void)json_object_set_new(object, "xml:lang", find_json_text(term->language));
    } else if (term->datatype.length > 0) {
        (void)json_object_set_new(object, "datatype", find_json_text(term->datatype));
    }
    return object;
}

static json_t *
json_bindings(const struct graph *graph)
{
    json_t *array = json_array();
    for (size_t i = 0; i < graph->count; i++) {
        const struct quad *quad = &graph->quads[i];
        (void)json_array_append_new(
            array, json_pack("{s:o,s:o,s:o}", "s", json_term(&quad->subject), "p",
                             json_term(&quad->predicate), "o", json_term(&quad->object)));
    }
    return array;
}

/* object is taken. */
static void
reply_json(struct web_reply *reply, json_t *object, const struct web_request *request)
{
    const bool pretty = web_parameter(request, "pretty", NULL) != NULL;
    find_put_json(&reply->body, object, pretty ? JSON_INDENT(1) : JSON_COMPACT);
    reply->content_type = "application/json";
}

static void
answer_document(struct web_service *service, const struct web_request *request, bool live,
                struct web_reply *reply)
{
    const char *url = web_parameter(request, "url", NULL);
    struct reason why = {""};
    struct graph graph;
    const struct slice uri = slice_string(url);
    if (uri.length == 0 || !iri_is_absolute(uri)) {
        web_reply_error(reply, 400, "There must be url= with an absolute URL.");
        return;
    }
    struct web_query *query = web_query_take(service, request, reply);
    if (query == NULL) {
        return;
    }
    graph_init(&graph, DOCUMENT_BYTES);
    const enum status status = read_document(service, uri, &graph, &why);
    web_query_give(service, query);
    if (status != STATUS_OK) {
        web_reply_failure(reply, status, &why);
    } else if (live) {
        reply_json(reply,
                   json_pack("{s:s,s:{s:{s:{s:o},s:{s:[]}}}}", "status", "ok", "extractorResults",
                             "metadata", "explicit", "bindings", json_bindings(&graph), "implicit",
                             "bindings"),
                   request);
    } else {
        const bool cut = graph.count == DOCUMENT_TRIPLES;
        json_t *document = json_pack("{s:o,s:[],s:b,s:I}", "explicit_content", json_triples(&graph),
                                     "implicit_content", "truncated", cut,
                                     "explicit_content_length", (json_int_t)graph.count);
        json_t *object = json_object();
        (void)json_object_setn_new(object, uri.at, uri.length, document);
        reply_json(reply, object, request);
    }
    graph_release(&graph);
}

void
web_sindice_cache(struct web_service *service, const struct web_request *request,
                  struct web_reply *reply)
{
    answer_document(service, request, false, reply);
}

void
web_sindice_live(struct web_service *service, const struct web_request *request,
                 struct web_reply *reply)
{
    answer_document(service, request, true, reply);
}
