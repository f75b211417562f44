#include "web/api/find.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/url/url.h"
#include "rdf/nquads/nquads.h"
#include "web/http/host.h"
#include "web/spelling.h"

enum { ROW_BYTES = 16 << 20, ARENA_BYTES = 64 << 20, FILTERS_MOST = 16, CLASS_SUBJECTS = 500 };

static const char *const label_properties[] = {
    "http://www.w3.org/2000/01/rdf-schema#label",
    "http://www.w3.org/2004/02/skos/core#prefLabel",
    "http://xmlns.com/foaf/0.1/name",
    "https://schema.org/name",
    "http://schema.org/name",
    "http://purl.org/dc/terms/title",
    "http://purl.org/dc/elements/1.1/title",
    "http://purl.org/rss/1.0/title",
    "http://www.w3.org/2006/vcard/ns#fn",
};
enum { LABELS = sizeof label_properties / sizeof label_properties[0] };

static bool
is_label(struct slice predicate)
{
    for (size_t i = 0; i < LABELS; i++) {
        if (slice_is(predicate, label_properties[i])) {
            return true;
        }
    }
    return false;
}

/* ---- statements ---- */

struct row {
    struct quad quad;
    double score;
};

struct gathering {
    struct find_results *results;
    struct row *rows;
    size_t count;
    bool full;
    double score; /* of the line being read */
};

static enum status
take_quad(void *context, const struct quad *quad, struct reason *why)
{
    struct gathering *gathering = context;
    if (gathering->count == FIND_ROWS) {
        gathering->full = true;
        return STATUS_OK;
    }
    struct row *row = &gathering->rows[gathering->count];
    if (!quad_copy(&gathering->results->arena, quad, &row->quad)) {
        return status_fail(why, STATUS_LIMIT, "what was found is longer than %d bytes",
                           ARENA_BYTES);
    }
    row->score = gathering->score;
    gathering->count++;
    return STATUS_OK;
}

static enum status
append(void *buffer, struct slice bytes, struct reason *why)
{
    const enum status status = buf_append_slice(buffer, bytes);
    return status == STATUS_OK ? status
                               : status_fail(why, status, "longer than %d bytes", ROW_BYTES);
}

/* Lines of index_search. */
static enum status
read_hits(struct gathering *gathering, struct slice lines, struct reason *why)
{
    const struct quad_sink sink = {take_quad, gathering};
    struct buf statement;
    enum status status = STATUS_OK;
    buf_init(&statement, ROW_BYTES);
    while (lines.length > 0 && status == STATUS_OK) {
        struct slice line = slice_take(&lines, '\n');
        const struct slice score = slice_take(&line, '\t'), literal = slice_take(&line, '\t'),
                           subject = slice_take(&line, '\t'), predicate = slice_take(&line, '\t');
        char number[SLICE_NUMBER_MOST + 1] = "";
        memcpy(number, score.at,
               score.length < SLICE_NUMBER_MOST ? score.length : SLICE_NUMBER_MOST);
        gathering->score = strtod(number, NULL);
        buf_reset(&statement);
        (void)buf_printf(&statement, "%.*s %.*s %.*s %.*s .\n", SLICE_PRINT(subject),
                         SLICE_PRINT(predicate), SLICE_PRINT(literal), SLICE_PRINT(line));
        status = nquads_parse(buf_slice(&statement), NULL, &sink, why);
    }
    buf_release(&statement);
    return status;
}

static enum status
search_words(struct index_client *client, struct slice words, struct gathering *gathering,
             struct reason *why)
{
    struct buf lines;
    buf_init(&lines, ROW_BYTES);
    enum status status = index_search(client, words, FIND_ROWS + 1, append, &lines, why);
    if (status == STATUS_OK) {
        status = read_hits(gathering, buf_slice(&lines), why);
    }
    buf_release(&lines);
    for (size_t i = 0; i < gathering->count; i++) {
        gathering->rows[i].score *=
            is_label(gathering->rows[i].quad.predicate.value) ? FIND_LABEL_WEIGHT : 1;
    }
    return status;
}

static enum status
match(struct index_client *client, const struct quad *pattern, struct gathering *gathering,
      struct reason *why)
{
    const struct quad_sink sink = {take_quad, gathering};
    struct buf lines;
    buf_init(&lines, ROW_BYTES);
    enum status status = index_pattern(client, pattern, FIND_ROWS + 1, append, &lines, why);
    if (status == STATUS_OK) {
        status = nquads_parse(buf_slice(&lines), NULL, &sink, why);
    }
    buf_release(&lines);
    return status;
}

/* A value is the IRI, or the string; strings with a language are found by their words. */
static enum status
match_value(struct index_client *client, struct slice property, struct slice value,
            struct gathering *gathering, struct reason *why)
{
    struct quad pattern = {.predicate = term_iri(property)};
    if (iri_is_absolute(value)) {
        pattern.object = term_iri(value);
        TRY(match(client, &pattern, gathering, why));
    }
    pattern.object = term_literal(value);
    TRY(match(client, &pattern, gathering, why));
    struct gathering tagged = *gathering;
    struct buf phrase;
    buf_init(&phrase, ROW_BYTES);
    (void)buf_append_char(&phrase, '"');
    for (size_t i = 0; i < value.length; i++) {
        (void)buf_append_char(&phrase, value.at[i] == '"' ? ' ' : value.at[i]);
    }
    (void)buf_append_char(&phrase, '"');
    const enum status status = search_words(client, buf_slice(&phrase), &tagged, why);
    buf_release(&phrase);
    if (status == STATUS_BAD_INPUT || status == STATUS_LIMIT) {
        return STATUS_OK; /* it has no words */
    }
    TRY(status);
    for (size_t i = gathering->count; i < tagged.count; i++) {
        const struct quad *quad = &tagged.rows[i].quad;
        if (quad->object.language.length > 0 && slice_equal(quad->object.value, value) &&
            slice_equal(quad->predicate.value, property)) {
            gathering->rows[gathering->count++] = tagged.rows[i];
        }
    }
    return STATUS_OK;
}

static enum status
match_uri(struct index_client *client, struct slice uri, struct gathering *gathering,
          struct reason *why)
{
    const struct quad patterns[] = {{.subject = term_iri(uri)}, {.object = term_iri(uri)}};
    for (size_t i = 0; i < 2; i++) {
        TRY(match(client, &patterns[i], gathering, why));
    }
    return STATUS_OK;
}

/* ---- what limits a search ---- */

struct filters {
    struct slice classes[FILTERS_MOST], predicates[FILTERS_MOST], domains[FILTERS_MOST];
    size_t class_count, predicate_count, domain_count;
    struct buf words;
};

/* Takes "kind:value" out of the words; others stay. */
static void
read_filters(struct slice text, struct arena *arena, struct filters *filters)
{
    struct buf memory;
    buf_init(&memory, URL_MAXIMUM);
    for (;;) {
        const struct slice word = slice_next_word(&text);
        if (word.length == 0) {
            break;
        }
        const size_t colon = slice_find(word, ':');
        const struct slice kind = slice_of(word.at, colon);
        const struct slice value = colon < word.length
                                       ? slice_of(word.at + colon + 1, word.length - colon - 1)
                                       : slice_of(NULL, 0);
        const bool is_class = slice_is(kind, "class");
        const bool is_name = is_class || slice_is(kind, "predicate");
        if (is_name || slice_is(kind, "domain")) {
            const struct slice known = is_name ? find_iri(value, &memory) : value;
            const struct slice kept = arena_copy(arena, known.length > 0 ? known : value);
            struct slice *list = is_class  ? filters->classes
                                 : is_name ? filters->predicates
                                           : filters->domains;
            size_t *count = is_class  ? &filters->class_count
                            : is_name ? &filters->predicate_count
                                      : &filters->domain_count;
            if (*count < FILTERS_MOST && kept.length > 0) {
                list[(*count)++] = kept;
            }
            continue;
        }
        (void)buf_append_string(&filters->words, filters->words.length > 0 ? " " : "");
        (void)buf_append_slice(&filters->words, word);
    }
    buf_release(&memory);
}

static bool
is_in_domain(struct slice document, struct slice domain)
{
    const struct slice host = web_host_of(document);
    return slice_equal_nocase(host, domain) ||
           (host.length > domain.length && host.at[host.length - domain.length - 1] == '.' &&
            slice_equal_nocase(slice_of(host.at + host.length - domain.length, domain.length),
                               domain));
}

static bool
passes(const struct filters *filters, const struct quad *quad)
{
    bool predicate = filters->predicate_count == 0, domain = filters->domain_count == 0;
    for (size_t i = 0; i < filters->predicate_count; i++) {
        predicate |= slice_equal(quad->predicate.value, filters->predicates[i]);
    }
    for (size_t i = 0; i < filters->domain_count; i++) {
        domain |= is_in_domain(quad->graph.value, filters->domains[i]);
    }
    return predicate && domain;
}

/* Keeps rows whose subject has one of the classes; blank nodes cannot be asked for. */
static enum status
keep_classes(struct web_service *service, const struct web_query *query,
             const struct filters *filters, struct gathering *gathering, struct reason *why)
{
    struct buf text;
    json_t *bindings = NULL;
    size_t asked = 0, kept = 0;
    buf_init(&text, ROW_BYTES);
    (void)buf_append_string(&text, "SELECT DISTINCT ?s { VALUES ?s {");
    for (; asked < gathering->count && asked < CLASS_SUBJECTS; asked++) {
        const struct term *subject = &gathering->rows[asked].quad.subject;
        if (subject->kind == TERM_IRI && iri_is_absolute(subject->value)) {
            (void)buf_printf(&text, " <%.*s>", SLICE_PRINT(subject->value));
        }
    }
    (void)buf_append_string(&text, " } VALUES ?c {");
    for (size_t i = 0; i < filters->class_count; i++) {
        if (iri_is_absolute(filters->classes[i])) {
            (void)buf_printf(&text, " <%.*s>", SLICE_PRINT(filters->classes[i]));
        }
    }
    (void)buf_append_string(&text, " } ?s a ?c }");
    const enum status status = find_select(service, query, buf_slice(&text), &bindings, why);
    buf_release(&text);
    TRY(status);
    json_t *members = json_object();
    for (size_t i = 0; i < json_array_size(bindings); i++) {
        const struct slice value = find_value(json_array_get(bindings, i), "s");
        (void)json_object_setn_new(members, value.at, value.length, json_true());
    }
    gathering->full |= asked < gathering->count;
    for (size_t i = 0; i < asked; i++) {
        const struct slice subject = gathering->rows[i].quad.subject.value;
        if (json_object_getn(members, subject.at, subject.length) != NULL) {
            gathering->rows[kept++] = gathering->rows[i];
        }
    }
    gathering->count = kept;
    json_decref(members);
    json_decref(bindings);
    return STATUS_OK;
}

static enum status
keep_passing(struct web_service *service, const struct web_query *query,
             const struct filters *filters, struct gathering *gathering, struct reason *why)
{
    size_t kept = 0;
    for (size_t i = 0; i < gathering->count; i++) {
        if (passes(filters, &gathering->rows[i].quad)) {
            gathering->rows[kept++] = gathering->rows[i];
        }
    }
    gathering->count = kept;
    return filters->class_count > 0 && gathering->count > 0
               ? keep_classes(service, query, filters, gathering, why)
               : STATUS_OK;
}

static enum status
search_corrected(struct index_client *client, struct slice words, struct gathering *gathering,
                 struct reason *why)
{
    struct buf corrected;
    bool changed;
    buf_init(&corrected, WEB_BODY_MAXIMUM);
    enum status status = spelling_correct(client, words, &corrected, &changed, why);
    if (status == STATUS_OK && changed) {
        status = search_words(client, buf_slice(&corrected), gathering, why);
    }
    if (gathering->count > 0) {
        gathering->results->corrected =
            arena_copy(&gathering->results->arena, buf_slice(&corrected));
    }
    buf_release(&corrected);
    return status;
}

static enum status
gather(struct index_client *client, const struct find_request *request, struct slice words,
       struct gathering *gathering, struct reason *why)
{
    if (request->is_uri) {
        return match_uri(client, request->text, gathering, why);
    }
    if (request->property.length > 0) {
        return match_value(client, request->property, request->text, gathering, why);
    }
    if (words.length == 0) {
        return STATUS_OK;
    }
    TRY(search_words(client, words, gathering, why));
    return gathering->count > 0 ? STATUS_OK : search_corrected(client, words, gathering, why);
}

/* ---- groups ---- */

static const struct term *
key_of(const struct row *row, enum find_group group)
{
    return group == FIND_BY_DOCUMENT ? &row->quad.graph : &row->quad.subject;
}

static int
compare_rows(const void *a, const void *b, void *group)
{
    const struct row *left = a, *right = b;
    const enum find_group by = *(const enum find_group *)group;
    const int order = term_compare(key_of(left, by), key_of(right, by));
    if (order != 0) {
        return order;
    }
    if (left->score != right->score) {
        return left->score < right->score ? 1 : -1;
    }
    return quad_compare(&left->quad, &right->quad);
}

static int
compare_entries(const void *a, const void *b)
{
    const struct find_entry *left = a, *right = b;
    if (left->score != right->score) {
        return left->score < right->score ? 1 : -1;
    }
    const int order = slice_compare(left->document, right->document);
    return order != 0 ? order : term_compare(&left->resource, &right->resource);
}

static void
group_rows(struct gathering *gathering, enum find_group group)
{
    struct find_results *results = gathering->results;
    qsort_r(gathering->rows, gathering->count, sizeof *gathering->rows, compare_rows, &group);
    results->entries = memory_zero(gathering->count + 1, sizeof *results->entries);
    for (size_t i = 0; i < gathering->count;) {
        const struct row *first = &gathering->rows[i];
        struct find_entry *entry = &results->entries[results->count++];
        double share = 1;
        entry->document = first->quad.graph.value;
        entry->resource = first->quad.subject;
        entry->predicate = first->quad.predicate;
        entry->object = first->quad.object;
        for (; i < gathering->count &&
               term_equal(key_of(&gathering->rows[i], group), key_of(first, group));
             i++) {
            entry->score += gathering->rows[i].score * share;
            entry->statements++;
            share /= 2;
        }
        if (entry->resource.kind == TERM_IRI &&
            slice_equal_nocase(web_host_of(entry->resource.value), web_host_of(entry->document))) {
            entry->score *= 1.5;
        }
    }
    qsort(results->entries, results->count, sizeof *results->entries, compare_entries);
}

enum status
find_run(struct web_service *service, const struct find_request *request,
         struct find_results *results, struct reason *why)
{
    struct index_client *client;
    const bool shares = request->is_uri || request->property.length > 0;
    *results = (struct find_results){.count = 0};
    arena_init(&results->arena, ARENA_BYTES);
    TRY(web_index_take(service, &client, why));
    struct filters filters = {.class_count = 0};
    struct gathering gathering = {.results = results, .score = 1};
    buf_init(&filters.words, WEB_BODY_MAXIMUM);
    gathering.rows = memory_zero(FIND_ROWS + 1, sizeof *gathering.rows);
    if (!shares) {
        read_filters(request->text, &results->arena, &filters);
    }
    read_filters(request->filters, &results->arena, &filters);
    index_client_manner(client, INDEX_PARTIAL_ERROR, &request->query->cancelled);
    enum status status = gather(client, request, buf_slice(&filters.words), &gathering, why);
    index_client_manner(client, INDEX_PARTIAL_ERROR, NULL);
    web_index_give(service, client, status == STATUS_OK || status == STATUS_BAD_INPUT);
    for (size_t i = 0; shares && i < gathering.count; i++) {
        gathering.rows[i].score = log2(1 + FIND_ROWS / (double)gathering.count);
    }
    if (status == STATUS_OK) {
        status = keep_passing(service, request->query, &filters, &gathering, why);
    }
    if (status == STATUS_OK) {
        results->at_least = gathering.full;
        group_rows(&gathering, request->group);
    }
    buf_release(&filters.words);
    free(gathering.rows);
    return web_query_status(request->query, status, why);
}

void
find_release(struct find_results *results)
{
    free(results->entries);
    results->entries = NULL;
    arena_release(&results->arena);
}

/* ---- descriptions ---- */

static void
list_entries(struct buf *text, const struct find_results *results, size_t from, size_t count)
{
    (void)buf_append_string(text, "{");
    for (size_t i = from; i < from + count && i < results->count; i++) {
        const struct find_entry *entry = &results->entries[i];
        if (!iri_is_absolute(entry->document)) {
            continue;
        }
        (void)buf_printf(text, " (<%.*s> ", SLICE_PRINT(entry->document));
        if (entry->resource.kind == TERM_IRI && iri_is_absolute(entry->resource.value)) {
            (void)buf_printf(text, "<%.*s>)", SLICE_PRINT(entry->resource.value));
        } else {
            (void)buf_append_string(text, "UNDEF)");
        }
    }
    (void)buf_append_string(text, " }");
}

static void
note(struct find_results *results, size_t from, size_t count, const json_t *binding)
{
    const struct slice document = find_value(binding, "g"), subject = find_value(binding, "s");
    const struct slice title = find_value(binding, "title"), type = find_value(binding, "type");
    const struct slice triples = find_value(binding, "n"), fetched = find_value(binding, "time");
    for (size_t i = from; i < from + count && i < results->count; i++) {
        struct find_entry *entry = &results->entries[i];
        if (!slice_equal(entry->document, document)) {
            continue;
        }
        if (triples.length > 0) {
            entry->triples = slice_number(triples);
        }
        if (fetched.length > 0) {
            entry->fetched = arena_copy(&results->arena, fetched);
        }
        if (!slice_equal(entry->resource.value, subject)) {
            continue;
        }
        if (title.length > 0 && entry->title.length == 0) {
            entry->title = arena_copy(&results->arena, title);
        }
        if (type.length > 0 && entry->type.length == 0) {
            entry->type = arena_copy(&results->arena, type);
        }
    }
}

/* When documents were fetched, by what the metadata store knows. */
static enum status
note_times(struct web_service *service, const struct find_request *request,
           struct find_results *results, size_t from, size_t count, struct reason *why)
{
    struct buf text;
    json_t *bindings = NULL;
    buf_init(&text, ROW_BYTES);
    (void)buf_append_string(&text, "SELECT ?g ?time { { SELECT DISTINCT ?g { VALUES (?g ?s) ");
    list_entries(&text, results, from, count);
    (void)buf_append_string(&text, " } } GRAPH <urn:x-quadrille:query#provenance> { ?g "
                                   "<http://www.w3.org/ns/prov#generatedAtTime> ?time } }");
    const enum status status =
        find_select(service, request->query, buf_slice(&text), &bindings, why);
    for (size_t i = 0; i < json_array_size(bindings); i++) {
        note(results, from, count, json_array_get(bindings, i));
    }
    json_decref(bindings);
    buf_release(&text);
    return status;
}

static int
compare_times(const void *a, const void *b)
{
    const struct find_entry *left = a, *right = b;
    const int order = slice_compare(right->fetched, left->fetched);
    return order != 0 ? order : compare_entries(a, b);
}

enum status
find_sort_by_date(struct web_service *service, const struct find_request *request,
                  struct find_results *results, struct reason *why)
{
    TRY(note_times(service, request, results, 0, results->count, why));
    qsort(results->entries, results->count, sizeof *results->entries, compare_times);
    return STATUS_OK;
}

enum status
find_describe(struct web_service *service, const struct find_request *request,
              struct find_results *results, size_t from, size_t count, struct reason *why)
{
    struct buf text, list, labels;
    enum status status = STATUS_OK;
    buf_init(&text, ROW_BYTES);
    buf_init(&list, ROW_BYTES);
    buf_init(&labels, ROW_BYTES);
    list_entries(&list, results, from, count);
    for (size_t i = 0; i < LABELS; i++) {
        (void)buf_printf(&labels, " <%s>", label_properties[i]);
    }
    for (size_t i = from; i < from + count && i < results->count; i++) {
        if (is_label(results->entries[i].predicate.value)) {
            results->entries[i].title = results->entries[i].object.value;
        }
    }
    for (size_t i = 0; results->count > from && status == STATUS_OK && i < 3; i++) {
        json_t *bindings = NULL;
        const struct slice entries = buf_slice(&list);
        buf_reset(&text);
        if (i == 0) {
            (void)buf_printf(&text,
                             "SELECT ?g ?s ?title { VALUES (?g ?s) %.*s VALUES ?p {%.*s } "
                             "GRAPH ?g { ?s ?p ?title } }",
                             SLICE_PRINT(entries), SLICE_PRINT(buf_slice(&labels)));
        } else if (i == 1) {
            (void)buf_printf(&text,
                             "SELECT ?g ?s ?type { VALUES (?g ?s) %.*s GRAPH ?g { ?s a ?type } }",
                             SLICE_PRINT(entries));
        } else {
            (void)buf_printf(&text,
                             "SELECT ?g (COUNT(*) AS ?n) { { SELECT DISTINCT ?g { VALUES (?g ?s) "
                             "%.*s } } GRAPH ?g { ?a ?b ?c } } GROUP BY ?g",
                             SLICE_PRINT(entries));
        }
        status = find_select(service, request->query, buf_slice(&text), &bindings, why);
        for (size_t k = 0; k < json_array_size(bindings); k++) {
            note(results, from, count, json_array_get(bindings, k));
        }
        json_decref(bindings);
    }
    buf_release(&text);
    buf_release(&list);
    buf_release(&labels);
    if (status == STATUS_OK && results->count > from) {
        struct reason unknown; /* without the metadata store there are no times */
        (void)note_times(service, request, results, from, count, &unknown);
    }
    return status;
}
