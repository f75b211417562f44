#include "index/read/links.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/url/url.h"
#include "index/query/query.h"
#include "index/terms/term_set.h"
#include "rdf/core/vocabulary.h"

enum { ROWS = 512, GRAPH_MEMORY = 256 << 20 };

/* A query that is one pattern. */
struct pattern_query {
    struct slice predicate;
    bool of_object; /* ?uri is the object, else the subject */
    uint32_t number;
};
struct general_query {
    struct query *query;
    uint32_t number;
};

struct links {
    char *text;
    struct pattern_query *patterns;
    size_t pattern_count;
    struct general_query *queries;
    size_t query_count;
    bool linked_data, vocabularies;
    uint32_t policy, vocabulary_policy; /* numbers of the policies' lines */
    size_t count;
};

/* ---- reading the list ---- */

static struct slice
next_word(struct slice *text)
{
    *text = slice_trim(*text);
    size_t n = 0;
    if (text->length > 0 && text->at[0] == '<') {
        n = slice_find(*text, '>') + 1;
    } else if (text->length > 0 && strchr("{}.", text->at[0]) != NULL) {
        n = 1;
    } else {
        while (n < text->length && !isspace((unsigned char)text->at[n]) &&
               strchr("{}<", text->at[n]) == NULL) {
            n++;
        }
    }
    n = n < text->length ? n : text->length;
    const struct slice word = slice_of(text->at, n);
    *text = slice_of(text->at + n, text->length - n);
    return word;
}

/* SELECT [DISTINCT] ?uri [WHERE] { ?a <predicate> ?uri [.] } or with ?uri first. */
static bool
read_pattern(struct slice text, struct pattern_query *pattern)
{
    struct slice word = next_word(&text);
    if (!slice_equal_nocase(word, SLICE("select"))) {
        return false;
    }
    word = next_word(&text);
    if (slice_equal_nocase(word, SLICE("distinct"))) {
        word = next_word(&text);
    }
    if (!slice_is(word, "?uri")) {
        return false;
    }
    word = next_word(&text);
    if (slice_equal_nocase(word, SLICE("where"))) {
        word = next_word(&text);
    }
    const struct slice subject = next_word(&text);
    const struct slice predicate = next_word(&text);
    const struct slice object = next_word(&text);
    struct slice end = next_word(&text);
    if (slice_is(end, ".")) {
        end = next_word(&text);
    }
    pattern->of_object = slice_is(object, "?uri");
    const struct slice other = pattern->of_object ? subject : object;
    if (!slice_is(word, "{") || !slice_is(end, "}") || slice_trim(text).length > 0 ||
        predicate.length < 3 || predicate.at[0] != '<' || other.length < 2 || other.at[0] != '?' ||
        (!pattern->of_object && !slice_is(subject, "?uri")) || slice_equal(subject, object)) {
        return false;
    }
    pattern->predicate = slice_of(predicate.at + 1, predicate.length - 2);
    return true;
}

static enum status
add_query(struct links *links, struct slice text, struct reason *why)
{
    const uint32_t number = (uint32_t)links->count++;
    struct pattern_query pattern = {.number = number};
    if (slice_is(text, "policy linked-data")) {
        links->linked_data = true;
        links->policy = number;
        return STATUS_OK;
    }
    if (slice_is(text, "policy vocabularies")) {
        links->vocabularies = true;
        links->vocabulary_policy = number;
        return STATUS_OK;
    }
    if (read_pattern(text, &pattern)) {
        links->patterns =
            memory_resize(links->patterns, links->pattern_count + 1, sizeof(*links->patterns));
        links->patterns[links->pattern_count++] = pattern;
        return STATUS_OK;
    }
    struct query *query;
    const enum status status = query_prepare(&query, text, slice_of(NULL, 0), why);
    if (status != STATUS_OK) {
        return status_prefix(why, status, "extract query %u", number + 1);
    }
    links->queries = memory_resize(links->queries, links->query_count + 1, sizeof(*links->queries));
    links->queries[links->query_count++] = (struct general_query){query, number};
    const struct slice *names;
    const size_t n = query_form_of(query) == QUERY_SELECT ? query_columns(query, &names) : 0;
    for (size_t i = 0; i < n; i++) {
        if (slice_is(names[i], "uri")) {
            return STATUS_OK;
        }
    }
    return status_fail(why, STATUS_BAD_INPUT, "extract query %u does not select ?uri", number + 1);
}

/* Removes comments, so that queries and the blank lines between them are left; a comment line
 * inside of a query does not part it. */
static void
remove_comments(char *text)
{
    char *to = text;
    for (const char *line = text; *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        const size_t whole = length + (line[length] == '\n');
        if (line[strspn(line, " \t")] != '#') {
            memmove(to, line, whole);
            to += whole;
        }
        line += whole;
    }
    *to = '\0';
}

enum status
links_open(struct links **result, struct slice text, struct reason *why)
{
    struct links *links = memory_new(sizeof(*links));
    links->text = memory_string_n(text.at, text.length);
    remove_comments(links->text);
    enum status status = STATUS_OK;
    char *at = links->text;
    while (*at != '\0' && status == STATUS_OK) {
        char *end = at;
        bool blank = false;
        while (*end != '\0' && !(blank && *end == '\n')) {
            blank = *end == '\n' || (blank && isspace((unsigned char)*end));
            end++;
        }
        const struct slice query = slice_trim(slice_of(at, (size_t)(end - at)));
        if (query.length > 0) {
            status = add_query(links, query, why);
        }
        at = *end != '\0' ? end + 1 : end;
    }
    if (status != STATUS_OK) {
        links_close(links);
        links = NULL;
    }
    *result = links;
    return status;
}

void
links_close(struct links *links)
{
    if (links != NULL) {
        for (size_t i = 0; i < links->query_count; i++) {
            query_free(links->queries[i].query);
        }
        free(links->queries);
        free(links->patterns);
        free(links->text);
        free(links);
    }
}

size_t
links_count(const struct links *links)
{
    return links->count;
}

/* ---- running it ---- */

/* Remembers what a predicate means. It is found once, since an identifier never changes its
 * term. */
struct known_predicate {
    uint32_t object_query, subject_query; /* number + 1 of the pattern query, 0: none */
    bool is_type;                         /* its objects are classes */
};

struct links_run {
    const struct links *links;
    struct partition_reader *reader;
    struct known_predicate *known;
    size_t known_count, known_capacity;
    struct map known_at;     /* places in it, by id */
    struct term_set targets; /* found in the present document */
    struct arena arena;
    links_found *found;
    void *context;
    uint32_t number; /* of the general query that runs */
    size_t column;
};

struct links_run *
links_run_new(const struct links *links, struct partition_reader *reader)
{
    struct links_run *run = memory_new(sizeof(*run));
    run->links = links;
    run->reader = reader;
    map_init(&run->known_at);
    term_set_init(&run->targets);
    arena_init(&run->arena, GRAPH_MEMORY);
    return run;
}

void
links_run_free(struct links_run *run)
{
    if (run != NULL) {
        term_set_release(&run->targets);
        arena_release(&run->arena);
        free(run->known);
        map_release(&run->known_at);
        free(run);
    }
}

static enum status
meaning_of(struct links_run *run, oid id, struct known_predicate *meaning, struct reason *why)
{
    const uint32_t at = map_get(&run->known_at, id);
    if (at != (uint32_t)MAP_NONE) {
        *meaning = run->known[at];
        return STATUS_OK;
    }
    const struct quad_source *source = partition_reader_source(run->reader);
    struct term term;
    TRY(source->resolve(source->context, id, &run->arena, &term, why));
    *meaning = (struct known_predicate){.is_type = term.kind == TERM_IRI &&
                                                   slice_is(term.value, RDF_TYPE)};
    for (size_t i = 0; i < run->links->pattern_count; i++) {
        const struct pattern_query *pattern = &run->links->patterns[i];
        if (term.kind == TERM_IRI && slice_equal(term.value, pattern->predicate)) {
            uint32_t *query = pattern->of_object ? &meaning->object_query : &meaning->subject_query;
            *query = *query ? *query : pattern->number + 1;
        }
    }
    run->known =
        array_grow(run->known, run->known_count, &run->known_capacity, sizeof(*run->known));
    map_set(&run->known_at, id, (uint32_t)run->known_count);
    run->known[run->known_count++] = *meaning;
    return STATUS_OK;
}

static bool
is_http(struct slice text)
{
    return slice_starts(text, SLICE("http://")) || slice_starts(text, SLICE("https://"));
}

/* RSS 1.0 says rss:link with a literal; so text that is a web address counts as a target. */
static enum status
take_term(struct links_run *run, const struct term *term, uint32_t number, struct reason *why)
{
    const bool target =
        term->kind == TERM_IRI
            ? iri_is_absolute(term->value)
            : term->kind == TERM_LITERAL && is_http(term->value) && iri_is_absolute(term->value);
    if (!target) {
        return STATUS_OK;
    }
    const struct term iri = term_iri(term->value);
    const size_t before = run->targets.count;
    (void)term_set_add(&run->targets, &iri);
    return run->targets.count > before ? run->found(run->context, term->value, number, why)
                                       : STATUS_OK;
}

static enum status
take_place(struct links_run *run, oid id, uint32_t number, bool only_http, struct reason *why)
{
    const enum oid_kind kind = oid_kind(id);
    if (kind != OID_KIND_IRI &&
        (only_http || (kind != OID_KIND_STRING && kind != OID_KIND_TYPED))) {
        return STATUS_OK;
    }
    const struct quad_source *source = partition_reader_source(run->reader);
    struct term term;
    arena_reset(&run->arena);
    TRY(source->resolve(source->context, id, &run->arena, &term, why));
    return only_http && !is_http(term.value) ? STATUS_OK : take_term(run, &term, number, why);
}

static enum status
take_row(struct links_run *run, const struct quad_oids *row, bool linked_data, struct reason *why)
{
    struct known_predicate meaning;
    arena_reset(&run->arena);
    TRY(meaning_of(run, row->predicate, &meaning, why));
    if (meaning.object_query != 0) {
        TRY(take_place(run, row->object, meaning.object_query - 1, false, why));
    }
    if (meaning.subject_query != 0) {
        TRY(take_place(run, row->subject, meaning.subject_query - 1, false, why));
    }
    if (linked_data) {
        TRY(take_place(run, row->subject, run->links->policy, true, why));
        TRY(take_place(run, row->object, run->links->policy, true, why));
    }
    if (run->links->vocabularies) {
        const uint32_t number = run->links->vocabulary_policy;
        TRY(take_place(run, row->predicate, number, true, why));
        return meaning.is_type ? take_place(run, row->object, number, true, why) : STATUS_OK;
    }
    return STATUS_OK;
}

static enum status
read_graph(struct links_run *run, oid graph, bool linked_data, struct reason *why)
{
    const struct quad_source *source = partition_reader_source(run->reader);
    const struct quad_oids pattern = {.graph = graph};
    struct quad_scan *scan;
    TRY(source->scan(source->context, &pattern, ORDER_CSPO, &scan, why));
    struct quad_oids rows[ROWS];
    enum status status = STATUS_OK;
    for (size_t n = 1; n > 0 && status == STATUS_OK;) {
        status = source->scan_next(scan, rows, ROWS, &n, why);
        for (size_t i = 0; i < n && status == STATUS_OK; i++) {
            status = take_row(run, &rows[i], linked_data, why);
        }
    }
    source->scan_close(scan);
    return status;
}

/* ---- general queries ---- */

static enum status
take_columns(void *context, const struct slice *names, size_t n, struct reason *why)
{
    (void)why;
    struct links_run *run = context;
    for (size_t i = 0; i < n; i++) {
        if (slice_is(names[i], "uri")) {
            run->column = i;
        }
    }
    return STATUS_OK;
}

static enum status
take_answer(void *context, const struct term *terms, size_t n, struct reason *why)
{
    struct links_run *run = context;
    return run->column < n ? take_term(run, &terms[run->column], run->number, why) : STATUS_OK;
}

static enum status
run_queries(struct links_run *run, struct slice document, uint64_t timeout_ms, struct reason *why)
{
    const struct query_options options = {.only_graph = document, .timeout_ms = timeout_ms};
    const struct query_sink sink = {.context = run, .columns = take_columns, .row = take_answer};
    for (size_t i = 0; i < run->links->query_count; i++) {
        run->number = run->links->queries[i].number;
        TRY(query_run(run->links->queries[i].query, partition_reader_source(run->reader), &options,
                      &sink, NULL, why));
    }
    return STATUS_OK;
}

enum status
links_of(struct links_run *run, struct slice document, uint64_t timeout_ms, links_found *found,
         void *context, struct reason *why)
{
    const struct quad_source *source = partition_reader_source(run->reader);
    const struct term term = term_iri(document);
    struct document_entry entry;
    oid graph;
    run->found = found;
    run->context = context;
    term_set_reset(&run->targets);
    TRY(source->lookup(source->context, &term, &graph, why));
    if (graph == OID_NONE) {
        return STATUS_OK;
    }
    oid at = graph;
    const enum status status = partition_reader_document(run->reader, &at, &entry, why);
    if (status == STATUS_END || (status == STATUS_OK && at != graph)) {
        return STATUS_OK;
    }
    TRY(status);
    TRY(read_graph(run, graph, run->links->linked_data && entry.linked_data, why));
    return run_queries(run, document, timeout_ms, why);
}
