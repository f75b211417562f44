#include "search/find.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/url/url.h"
#include "index/client/client_lookup.h"
#include "search/facets.h"
#include "search/group.h"
#include "search/spelling.h"

#define RDF_TYPE "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"

enum { ARENA_BYTES = 64 << 20, CORRECTED_BYTES = 1 << 20 };

struct find_run {
    const struct find_access *access;
    const struct find_request *request;
    struct find_results *results;
    struct find_filters filters;
    struct row_facts facts;
    size_t most;       /* rows */
    struct slice same; /* of the statements being read */
    bool full;
};

const struct slice find_label_properties[FIND_LABEL_PROPERTIES] = {
    SLICE_INIT("http://www.w3.org/2000/01/rdf-schema#label"),
    SLICE_INIT("http://www.w3.org/2004/02/skos/core#prefLabel"),
    SLICE_INIT("http://xmlns.com/foaf/0.1/name"),
    SLICE_INIT("https://schema.org/name"),
    SLICE_INIT("http://schema.org/name"),
    SLICE_INIT("http://purl.org/dc/terms/title"),
    SLICE_INIT("http://purl.org/dc/elements/1.1/title"),
    SLICE_INIT("http://purl.org/rss/1.0/title"),
    SLICE_INIT("http://www.w3.org/2006/vcard/ns#fn"),
};

bool
find_is_label(struct slice predicate)
{
    for (size_t i = 0; i < FIND_LABEL_PROPERTIES; i++) {
        if (slice_equal(predicate, find_label_properties[i])) {
            return true;
        }
    }
    return false;
}

/* ---- statements ---- */

static unsigned
band_of(const struct find_request *request, size_t row)
{
    unsigned band = 0;
    for (size_t end = request->band; end > 0 && row >= end; end *= FIND_BAND_GROWTH) {
        band++;
    }
    return band;
}

static enum status
take_statement(void *context, const struct index_statement *statement, struct reason *why)
{
    struct find_run *run = context;
    struct find_results *results = run->results;
    (void)why;
    if (results->row_count == run->most) {
        run->full = true;
        return STATUS_OK;
    }
    results->rows[results->row_count] =
        (struct find_row){.quad = statement->quad,
                          .score = statement->score,
                          .band = band_of(run->request, results->row_count),
                          .same = run->same};
    results->row_count++;
    return STATUS_OK;
}

static enum status
search_words(struct find_run *run, struct slice words, struct reason *why)
{
    const struct find_weights *weights =
        run->request->weights != NULL ? run->request->weights : &find_usual_weights;
    const struct index_find find = {
        .words = words, .limit = (uint32_t)run->most + 1, .timeout_ms = run->access->timeout_ms};
    struct find_results *results = run->results;
    const size_t first = results->row_count;
    const enum status status =
        index_find(run->access->index, &find, &results->arena, take_statement, run, why);
    for (size_t i = first; i < results->row_count; i++) {
        if (find_is_label(results->rows[i].quad.predicate.value)) {
            results->rows[i].score *= weights->label;
        }
    }
    return status;
}

static enum status
match(struct find_run *run, const struct quad *patterns, size_t count, struct reason *why)
{
    const struct index_find find = {.patterns = patterns,
                                    .pattern_count = count,
                                    .limit = (uint32_t)run->most + 1,
                                    .timeout_ms = run->access->timeout_ms};
    return index_find(run->access->index, &find, &run->results->arena, take_statement, run, why);
}

/* A value is the IRI, or the string; strings with a language are found by their words. */
static enum status
match_value(struct find_run *run, struct slice property, struct slice value, struct reason *why)
{
    struct find_results *results = run->results;
    const struct quad patterns[] = {
        {.predicate = term_iri(property), .object = term_literal(value)},
        {.predicate = term_iri(property), .object = term_iri(value)}};
    TRY(match(run, patterns, iri_is_absolute(value) ? 2 : 1, why));
    const size_t first = results->row_count;
    struct buf phrase;
    buf_init(&phrase, FIND_ROW_BYTES);
    (void)buf_append_char(&phrase, '"');
    for (size_t i = 0; i < value.length; i++) {
        (void)buf_append_char(&phrase, value.at[i] == '"' ? ' ' : value.at[i]);
    }
    (void)buf_append_char(&phrase, '"');
    const enum status status = search_words(run, buf_slice(&phrase), why);
    buf_release(&phrase);
    const size_t end = results->row_count;
    results->row_count = first;
    if (status == STATUS_BAD_INPUT || status == STATUS_LIMIT) {
        return STATUS_OK; /* it has no words */
    }
    TRY(status);
    for (size_t i = first; i < end; i++) {
        const struct quad *quad = &results->rows[i].quad;
        if (quad->object.language.length > 0 && slice_equal(quad->object.value, value) &&
            slice_equal(quad->predicate.value, property)) {
            results->rows[results->row_count++] = results->rows[i];
        }
    }
    return STATUS_OK;
}

static enum status
match_uri(struct find_run *run, struct slice uri, struct reason *why)
{
    const struct quad patterns[] = {{.subject = term_iri(uri)}, {.object = term_iri(uri)}};
    return match(run, patterns, 2, why);
}

/* ---- who is the same ---- */

static struct slice
keep_text(struct find_run *run, const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    const struct slice text = slice_of(json_string_value(value), json_string_length(value));
    const bool iri = text.length >= 2 && text.at[0] == '<';
    return arena_copy(&run->results->arena, iri ? slice_of(text.at + 1, text.length - 2) : text);
}

/* The first reason that names the resource. */
static void
read_reason(struct find_run *run, const json_t *reasons, const char *term, struct find_same *same)
{
    for (size_t i = 0; i < json_array_size(reasons); i++) {
        const json_t *reason = json_array_get(reasons, i);
        const char *resource = json_string_value(json_object_get(reason, "resource"));
        const char *other = json_string_value(json_object_get(reason, "other"));
        if ((resource != NULL && strcmp(resource, term) == 0) ||
            (other != NULL && strcmp(other, term) == 0)) {
            same->rule = keep_text(run, reason, "rule");
            same->property = keep_text(run, reason, "property");
            same->value = keep_text(run, reason, "value");
            same->document = keep_text(run, reason, "document");
            return;
        }
    }
}

static enum status
match_same(struct find_run *run, struct slice uri, struct reason *why)
{
    struct find_results *results = run->results;
    const struct term asked = term_iri(uri);
    struct buf text;
    buf_init(&text, FIND_ROW_BYTES);
    enum status status = index_identity(run->access->index, &asked, true, run->access->timeout_ms,
                                        find_append, &text, why);
    json_t *cluster =
        status == STATUS_OK ? json_loadb(text.data, text.length, JSON_ALLOW_NUL, NULL) : NULL;
    buf_release(&text);
    const json_t *members = json_object_get(cluster, "members");
    for (size_t i = 0; status == STATUS_OK && i < json_array_size(members); i++) {
        const char *term = json_string_value(json_array_get(members, i));
        const struct slice name = slice_string(term);
        if (name.length < 2 || name.at[0] != '<' ||
            slice_equal(slice_of(name.at + 1, name.length - 2), uri)) {
            continue; /* blank nodes are known in their documents alone */
        }
        if (results->same_count == FIND_SAME_MOST) {
            run->full = true;
            break;
        }
        struct find_same *same = &results->same[results->same_count++];
        *same = (struct find_same){
            .resource = arena_copy(&results->arena, slice_of(name.at + 1, name.length - 2))};
        read_reason(run, json_object_get(cluster, "reasons"), term, same);
        run->same = same->resource;
        status = match_uri(run, same->resource, why);
    }
    run->same = slice_of(NULL, 0);
    json_decref(cluster);
    return status;
}

/* ---- what is read ---- */

static enum status
search_corrected(struct find_run *run, struct slice words, struct reason *why)
{
    struct find_results *results = run->results;
    struct buf corrected;
    bool changed;
    buf_init(&corrected, CORRECTED_BYTES);
    enum status status = spelling_correct(run->access->index, words, &corrected, &changed, why);
    if (status == STATUS_OK && changed) {
        status = search_words(run, buf_slice(&corrected), why);
    }
    if (results->row_count > 0) {
        results->corrected = arena_copy(&results->arena, buf_slice(&corrected));
        results->words = results->corrected;
    }
    buf_release(&corrected);
    return status;
}

/* Filters without words: what has the first class, or the first predicate. */
static enum status
match_filters(struct find_run *run, struct reason *why)
{
    for (size_t i = 0; i < run->filters.count; i++) {
        const struct find_filter *filter = &run->filters.all[i];
        struct quad pattern = {.predicate = term_iri(filter->value)};
        if (!filter->is_iri || filter->without) {
            continue;
        }
        if (filter->kind == FILTER_CLASS) {
            pattern.predicate = term_iri(SLICE(RDF_TYPE));
            pattern.object = term_iri(filter->value);
        }
        return match(run, &pattern, 1, why);
    }
    return run->filters.count == 0
               ? STATUS_OK
               : status_fail(why, STATUS_BAD_INPUT,
                             "filters need words beside them, unless one is class: or predicate: "
                             "with an IRI or a name with a usual prefix");
}

static enum status
gather(struct find_run *run, struct reason *why)
{
    const struct find_request *request = run->request;
    const struct slice words = run->results->words;
    const bool shares = request->is_uri || request->property.length > 0 || words.length == 0;
    if (request->is_uri) {
        TRY(match_uri(run, request->text, why));
        TRY(request->same ? match_same(run, request->text, why) : STATUS_OK);
    } else if (request->property.length > 0) {
        TRY(match_value(run, request->property, request->text, why));
    } else if (words.length == 0) {
        TRY(match_filters(run, why));
    } else {
        TRY(search_words(run, words, why));
        TRY(run->results->row_count > 0 ? STATUS_OK : search_corrected(run, words, why));
    }
    for (size_t i = 0; shares && i < run->results->row_count; i++) {
        run->results->rows[i].score = log2(1 + FIND_ROWS / (double)run->results->row_count);
    }
    return STATUS_OK;
}

static enum status
run_all(struct find_run *run, struct reason *why)
{
    const struct find_request *request = run->request;
    struct find_results *results = run->results;
    const bool words = !request->is_uri && request->property.length == 0;
    if (words) {
        TRY(find_filters_read(&run->filters, request->text, false, &results->arena, why));
    }
    TRY(find_filters_read(&run->filters, request->filters, true, &results->arena, why));
    results->words = arena_copy(&results->arena, buf_slice(&run->filters.words));
    TRY(gather(run, why));
    TRY(find_filter_rows(results, &run->filters, &run->facts, why));
    find_group_rows(results, request->group,
                    request->weights != NULL ? request->weights : &find_usual_weights);
    return request->facets ? find_count_facets(results, &run->facts, why) : STATUS_OK;
}

enum status
find_run(const struct find_access *access, const struct find_request *request,
         struct find_results *results, struct reason *why)
{
    struct find_run run = {.access = access,
                           .request = request,
                           .results = results,
                           .facts = {.access = access},
                           .most = request->rows > 0 ? request->rows : FIND_ROWS};
    *results = (struct find_results){.count = 0};
    arena_init(&results->arena, ARENA_BYTES);
    results->rows = memory_alloc((run.most + 1) * sizeof *results->rows);
    find_filters_init(&run.filters);
    const enum status status = run_all(&run, why);
    results->at_least = run.full || run.facts.cut;
    find_filters_release(&run.filters);
    row_facts_release(&run.facts);
    return status;
}

void
find_release(struct find_results *results)
{
    free(results->entries);
    free(results->rows);
    results->entries = NULL;
    results->rows = NULL;
    arena_release(&results->arena);
}
