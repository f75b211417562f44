#include "web/api/reconcile.h"

#include <stdlib.h>

#include "base/ascii.h"
#include "base/url/url.h"
#include "search/spelling.h"

enum { TEXT_BYTES = 1 << 20, CANDIDATES = 50, WORDS = 64, CERTAIN = 90 };

struct slice
reconcile_local_name(struct slice iri)
{
    size_t start = iri.length;
    while (start > 0 && iri.at[start - 1] != '/' && iri.at[start - 1] != '#' &&
           iri.at[start - 1] != ':') {
        start--;
    }
    return start < iri.length ? slice_of(iri.at + start, iri.length - start) : iri;
}

static struct slice
text_of(const json_t *value)
{
    if (json_is_object(value)) {
        value = json_object_get(value, "id");
    }
    return slice_of(json_string_value(value), json_string_length(value));
}

/* ---- names ---- */

/* The next run of letters and digits; all bytes that are no ASCII count as letters. */
static struct slice
take_word(struct slice *text)
{
    size_t start = 0;
    while (start < text->length && (unsigned char)text->at[start] < 0x80 &&
           !ascii_is_letter(text->at[start]) &&
           !(text->at[start] >= '0' && text->at[start] <= '9')) {
        start++;
    }
    size_t end = start;
    while (end < text->length &&
           ((unsigned char)text->at[end] >= 0x80 || ascii_is_letter(text->at[end]) ||
            (text->at[end] >= '0' && text->at[end] <= '9'))) {
        end++;
    }
    const struct slice word = slice_of(text->at + start, end - start);
    *text = slice_of(text->at + end, text->length - end);
    return word;
}

static size_t
words_of(struct slice text, struct slice words[WORDS])
{
    size_t count = 0;
    for (; count < WORDS; count++) {
        words[count] = take_word(&text);
        if (words[count].length == 0) {
            break;
        }
    }
    return count;
}

/* 1: the same word. One that differs by errors that a search bears counts in part, so that a name
 * with an error in it is never a certain match. */
static double
word_likeness(struct slice a, struct slice b)
{
    static const double shares[] = {1, 0.75, 0.5};
    const unsigned borne = spelling_errors_borne(a.length < b.length ? a.length : b.length);
    if (slice_equal_nocase(a, b)) {
        return 1;
    }
    const unsigned errors = borne > 0 ? spelling_distance(a, b, borne) : 1;
    return errors <= borne ? shares[errors] : 0;
}

/* Of 100. */
static double
likeness(struct slice a, struct slice b)
{
    struct slice left[WORDS], right[WORDS];
    const size_t n = words_of(a, left), m = words_of(b, right);
    bool used[WORDS] = {false};
    double common = 0;
    for (size_t i = 0; i < n; i++) {
        size_t best = m;
        double alike = 0;
        for (size_t k = 0; k < m; k++) {
            const double other = used[k] ? 0 : word_likeness(left[i], right[k]);
            best = other > alike ? k : best;
            alike = other > alike ? other : alike;
        }
        if (best < m) {
            used[best] = true;
            common += alike;
        }
    }
    return n + m > 0 ? 200.0 * common / (double)(n + m) : 0;
}

/* Tells how a name is looked for, until something is found: by all of its words, by any, by all
 * with the errors that a search bears. Words in quotation marks are searched for as they are. */
static const struct way {
    const char *between, *mark;
} ways[] = {{" ", "\""}, {" OR ", "\""}, {" ", ""}};

/* The words of a name, each by itself, so that signs in it mean nothing to the search. */
static void
search_text(struct slice name, const struct way *way, struct buf *out)
{
    struct slice words[WORDS];
    const size_t count = words_of(name, words);
    for (size_t i = 0; i < count; i++) {
        const char *mark = slice_is(words[i], "OR") ? "\"" : way->mark;
        (void)buf_printf(out, "%s%s%.*s%s", i > 0 ? way->between : "", mark, SLICE_PRINT(words[i]),
                         mark);
    }
}

/* ---- candidates ---- */

struct candidate {
    struct slice id, name;
    json_t *types;
    double name_score, score;
    bool holds[RECONCILE_PROPERTIES];
};

struct matching {
    struct web_service *service;
    const struct web_query *query;
    const struct reconcile_query *asked;
    struct slice properties[RECONCILE_PROPERTIES]; /* whole IRIs */
    struct arena arena;
    struct candidate candidates[CANDIDATES];
    size_t count;
    struct buf filters; /* class: of each type */
};

static struct candidate *
candidate_of(struct matching *matching, struct slice id)
{
    for (size_t i = 0; i < matching->count; i++) {
        if (slice_equal(matching->candidates[i].id, id)) {
            return &matching->candidates[i];
        }
    }
    return NULL;
}

static enum status
add_found(struct matching *matching, const struct find_request *request, struct reason *why)
{
    struct find_results results;
    const struct find_page page = {.count = CANDIDATES};
    const enum status status =
        find_for(matching->service, matching->query, request, &page, NULL, &results, why);
    for (size_t i = 0; status == STATUS_OK && i < results.count && i < CANDIDATES; i++) {
        const struct find_entry *entry = &results.entries[i];
        if (entry->resource.kind != TERM_IRI || !iri_is_absolute(entry->resource.value) ||
            matching->count == CANDIDATES ||
            candidate_of(matching, entry->resource.value) != NULL) {
            continue;
        }
        struct candidate *candidate = &matching->candidates[matching->count++];
        const struct slice name =
            entry->title.length > 0 ? entry->title : reconcile_local_name(entry->resource.value);
        *candidate = (struct candidate){.id = arena_copy(&matching->arena, entry->resource.value),
                                        .name = arena_copy(&matching->arena, name),
                                        .types = json_array()};
    }
    find_release(&results);
    return status;
}

static enum status
find_by_name(struct matching *matching, struct reason *why)
{
    struct buf words;
    enum status status = STATUS_OK;
    buf_init(&words, TEXT_BYTES);
    for (size_t i = 0;
         status == STATUS_OK && i < sizeof ways / sizeof *ways && matching->count == 0; i++) {
        buf_reset(&words);
        search_text(matching->asked->name, &ways[i], &words);
        const struct find_request request = {.text = buf_slice(&words),
                                             .filters = buf_slice(&matching->filters),
                                             .group = FIND_BY_RESOURCE};
        status = words.length > 0 ? add_found(matching, &request, why) : STATUS_OK;
    }
    buf_release(&words);
    return status;
}

/* Calls for each value, which may be one or an array. */
static const json_t *
value_at(const json_t *values, size_t i)
{
    return json_is_array(values) ? json_array_get(values, i) : i == 0 ? values : NULL;
}

static enum status
find_by_values(struct matching *matching, struct reason *why)
{
    const struct reconcile_query *asked = matching->asked;
    for (size_t i = 0; i < asked->value_count; i++) {
        for (size_t k = 0; k < RECONCILE_PROPERTIES; k++) {
            const struct slice value = text_of(value_at(asked->values[i].values, k));
            const struct find_request request = {.text = value,
                                                 .property = matching->properties[i],
                                                 .filters = buf_slice(&matching->filters),
                                                 .group = FIND_BY_RESOURCE};
            if (value.length > 0) {
                TRY(add_found(matching, &request, why));
            }
        }
    }
    return STATUS_OK;
}

/* ---- what is said of them ---- */

static void
list_candidates(const struct matching *matching, struct buf *out)
{
    (void)buf_append_string(out, "VALUES ?s {");
    for (size_t i = 0; i < matching->count; i++) {
        (void)buf_printf(out, " <%.*s>", SLICE_PRINT(matching->candidates[i].id));
    }
    (void)buf_append_string(out, " } ");
}

static bool
value_is_wanted(const json_t *values, struct slice found)
{
    for (size_t i = 0; i < RECONCILE_PROPERTIES; i++) {
        const json_t *value = value_at(values, i);
        if (json_is_number(value)) {
            char number[SLICE_NUMBER_MOST + 1] = "";
            memcpy(number, found.at,
                   found.length < SLICE_NUMBER_MOST ? found.length : SLICE_NUMBER_MOST);
            if (found.length > 0 && strtod(number, NULL) == json_number_value(value)) {
                return true;
            }
        } else if (text_of(value).length > 0 && slice_equal_nocase(text_of(value), found)) {
            return true;
        }
    }
    return false;
}

static void
note_statement(struct matching *matching, const json_t *binding)
{
    struct candidate *candidate = candidate_of(matching, find_value(binding, "s"));
    const struct slice property = find_value(binding, "p"), value = find_value(binding, "o");
    if (candidate == NULL) {
        return;
    }
    if (property.length == 0) {
        if (json_array_size(candidate->types) < RECONCILE_PROPERTIES) {
            (void)json_array_append_new(candidate->types,
                                        json_pack("{s:o,s:o}", "id", find_json_text(value), "name",
                                                  find_json_text(reconcile_local_name(value))));
        }
        return;
    }
    for (size_t i = 0; i < matching->asked->value_count; i++) {
        candidate->holds[i] |= slice_equal(property, matching->properties[i]) &&
                               value_is_wanted(matching->asked->values[i].values, value);
    }
}

static enum status
read_statements(struct matching *matching, bool types, struct reason *why)
{
    struct buf text;
    json_t *bindings = NULL;
    buf_init(&text, TEXT_BYTES);
    (void)buf_append_string(&text, types ? "SELECT DISTINCT ?s ?o { " : "SELECT ?s ?p ?o { ");
    list_candidates(matching, &text);
    if (types) {
        (void)buf_append_string(&text, "?s a ?o FILTER(isIRI(?o)) }");
    } else {
        (void)buf_append_string(&text, "VALUES ?p {");
        for (size_t i = 0; i < matching->asked->value_count; i++) {
            (void)buf_printf(&text, " <%.*s>", SLICE_PRINT(matching->properties[i]));
        }
        (void)buf_append_string(&text, " } ?s ?p ?o }");
    }
    const enum status status =
        find_select(matching->service, matching->query, buf_slice(&text), &bindings, why);
    for (size_t i = 0; i < json_array_size(bindings); i++) {
        note_statement(matching, json_array_get(bindings, i));
    }
    json_decref(bindings);
    buf_release(&text);
    return status;
}

/* ---- answers ---- */

static void
score(const struct matching *matching, struct candidate *candidate)
{
    const struct reconcile_query *asked = matching->asked;
    double sum = 0, parts = (double)asked->value_count;
    if (asked->name.length > 0) {
        candidate->name_score = likeness(asked->name, candidate->name);
        sum += candidate->name_score;
        parts++;
    }
    for (size_t i = 0; i < asked->value_count; i++) {
        sum += candidate->holds[i] ? 100 : 0;
        if (asked->values[i].required && !candidate->holds[i]) {
            candidate->id = slice_of(NULL, 0); /* none, after all */
        }
    }
    candidate->score = parts > 0 ? sum / parts : 0;
}

static int
compare_candidates(const void *a, const void *b)
{
    const struct candidate *left = a, *right = b;
    if (left->score != right->score) {
        return left->score < right->score ? 1 : -1;
    }
    return slice_compare(left->id, right->id);
}

static json_t *
features_of(const struct matching *matching, const struct candidate *candidate, bool named)
{
    json_t *features = json_array();
    if (matching->asked->name.length > 0) {
        json_t *feature = json_pack("{s:s,s:f}", "id", "name", "value", candidate->name_score);
        if (named) {
            (void)json_object_set_new(feature, "name", json_string("likeness of names, of 100"));
        }
        (void)json_array_append_new(features, feature);
    }
    for (size_t i = 0; i < matching->asked->value_count; i++) {
        const struct slice property = matching->properties[i];
        json_t *feature =
            json_pack("{s:o,s:b}", "id", find_json_text(property), "value", candidate->holds[i]);
        if (named) {
            (void)json_object_set_new(feature, "name",
                                      find_json_text(reconcile_local_name(property)));
        }
        (void)json_array_append_new(features, feature);
    }
    return features;
}

static json_t *
write_candidates(struct matching *matching, bool features_named)
{
    json_t *array = json_array();
    size_t certain = 0, written = 0;
    for (size_t i = 0; i < matching->count; i++) {
        score(matching, &matching->candidates[i]);
        certain +=
            matching->candidates[i].id.length > 0 && matching->candidates[i].score >= CERTAIN;
    }
    qsort(matching->candidates, matching->count, sizeof *matching->candidates, compare_candidates);
    for (size_t i = 0; i < matching->count && written < matching->asked->limit; i++) {
        const struct candidate *candidate = &matching->candidates[i];
        if (candidate->id.length == 0) {
            continue;
        }
        written++;
        (void)json_array_append_new(
            array,
            json_pack("{s:o,s:o,s:f,s:b,s:O,s:o}", "id", find_json_text(candidate->id), "name",
                      find_json_text(candidate->name), "score", candidate->score, "match",
                      certain == 1 && candidate->score >= CERTAIN, "type", candidate->types,
                      "features", features_of(matching, candidate, features_named)));
    }
    return array;
}

static enum status
read_names(struct matching *matching, struct reason *why)
{
    struct buf memory;
    buf_init(&memory, URL_MAXIMUM);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < matching->asked->value_count && status == STATUS_OK; i++) {
        const struct slice iri = find_iri(matching->asked->values[i].property, &memory);
        matching->properties[i] = arena_copy(&matching->arena, iri);
        if (iri.length == 0 || !iri_is_absolute(iri)) {
            status = status_fail(why, STATUS_BAD_INPUT, "'%.*s' is no property: it is no IRI",
                                 SLICE_PRINT(matching->asked->values[i].property));
        }
    }
    for (size_t i = 0; i < RECONCILE_PROPERTIES; i++) {
        const struct slice type = text_of(value_at(matching->asked->types, i));
        if (type.length > 0 && memchr(type.at, ' ', type.length) == NULL) {
            (void)buf_printf(&matching->filters, "class:%.*s ", SLICE_PRINT(type));
        }
    }
    buf_release(&memory);
    return status;
}

enum status
reconcile_run(struct web_service *service, const struct web_query *query,
              const struct reconcile_query *asked, bool features_named, json_t **candidates,
              struct reason *why)
{
    struct matching matching = {.service = service, .query = query, .asked = asked};
    *candidates = NULL;
    arena_init(&matching.arena, 64 << 20);
    buf_init(&matching.filters, TEXT_BYTES);
    (void)buf_append_string(&matching.filters, "");
    enum status status = read_names(&matching, why);
    if (status == STATUS_OK && asked->name.length > 0) {
        status = find_by_name(&matching, why);
    }
    if (status == STATUS_OK) {
        status = find_by_values(&matching, why);
    }
    if (status == STATUS_OK && matching.count > 0) {
        status = read_statements(&matching, true, why);
    }
    if (status == STATUS_OK && matching.count > 0 && asked->value_count > 0) {
        status = read_statements(&matching, false, why);
    }
    if (status == STATUS_OK) {
        *candidates = write_candidates(&matching, features_named);
    }
    for (size_t i = 0; i < matching.count; i++) {
        json_decref(matching.candidates[i].types);
    }
    buf_release(&matching.filters);
    arena_release(&matching.arena);
    return status;
}
