#include "tests/unit/search/made_index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "index/client/client_lookup.h"
#include "rdf/nquads/nquads.h"

struct made_index made;
const struct find_access made_access = {.timeout_ms = MADE_TIMEOUT_MS, .asker = MADE_ASKER};

int
made_forget(void **state)
{
    (void)state;
    made = (struct made_index){.hits = NULL};
    return 0;
}

static enum status
give(index_piece *piece, void *context, const char *text, struct reason *why)
{
    return text != NULL ? piece(context, slice_string(text), why) : STATUS_OK;
}

static enum status
ask_words(struct slice words, uint32_t limit, struct reason *why)
{
    made.searches++;
    made.limit = limit;
    (void)snprintf(made.words_asked, sizeof made.words_asked, "%.*s", SLICE_PRINT(words));
    return made.words_fail == STATUS_OK || made.searches < made.fails_from
               ? STATUS_OK
               : status_fail(why, made.words_fail, "no words");
}

static const char *
hits(void)
{
    const bool found = made.hits_word == NULL || strstr(made.words_asked, made.hits_word) != NULL;
    return found ? made.hits : NULL;
}

enum status
index_search(struct index_client *client, struct slice words, uint32_t limit, index_piece *piece,
             void *context, struct reason *why)
{
    (void)client;
    TRY(ask_words(words, limit, why));
    return give(piece, context, hits(), why);
}

/* Statements from lines. */
struct giving {
    struct arena *arena;
    index_statement_take *take;
    void *context;
    const struct quad *pattern; /* NULL: all */
    struct index_statement statement;
};

static bool
fits(const struct term *wanted, const struct term *said)
{
    return wanted->kind == TERM_NONE || term_equal(wanted, said);
}

static enum status
give_quad(void *context, const struct quad *quad, struct reason *why)
{
    struct giving *giving = context;
    const struct quad *pattern = giving->pattern;
    if (pattern != NULL &&
        !(fits(&pattern->subject, &quad->subject) && fits(&pattern->predicate, &quad->predicate) &&
          fits(&pattern->object, &quad->object) && fits(&pattern->graph, &quad->graph))) {
        return STATUS_OK;
    }
    assert_true(quad_copy(giving->arena, quad, &giving->statement.quad));
    return giving->take(giving->context, &giving->statement, why);
}

static enum status
give_hits(struct giving *giving, struct slice lines, struct reason *why)
{
    const struct quad_sink sink = {give_quad, giving};
    while (lines.length > 0) {
        struct slice line = slice_take(&lines, '\n');
        char text[1024];
        giving->statement.score = (double)slice_number(slice_take(&line, '\t'));
        const struct slice literal = slice_take(&line, '\t'), subject = slice_take(&line, '\t'),
                           predicate = slice_take(&line, '\t');
        const int length =
            snprintf(text, sizeof text, "%.*s %.*s %.*s %.*s .\n", SLICE_PRINT(subject),
                     SLICE_PRINT(predicate), SLICE_PRINT(literal), SLICE_PRINT(line));
        TRY(nquads_parse(slice_of(text, (size_t)length), NULL, &sink, why));
    }
    return STATUS_OK;
}

enum status
index_find(struct index_client *client, const struct index_find *find, struct arena *arena,
           index_statement_take *take, void *context, struct reason *why)
{
    (void)client;
    struct giving giving = {.arena = arena, .take = take, .context = context};
    const struct quad_sink sink = {give_quad, &giving};
    assert_int_equal(find->timeout_ms, MADE_TIMEOUT_MS);
    if (find->words.length > 0) {
        TRY(ask_words(find->words, find->limit, why));
        return give_hits(&giving, slice_string(hits()), why);
    }
    made.limit = find->limit;
    for (size_t i = 0; i < find->pattern_count; i++) {
        const size_t number = made.patterns_asked++;
        assert_true(number < (made.patterns_most > 0 ? made.patterns_most : MADE_PATTERNS));
        const char *lines = number < MADE_PATTERNS ? made.pattern_lines[number] : NULL;
        giving.pattern = &find->patterns[i];
        giving.statement.pattern = i;
        TRY(nquads_parse(slice_string(lines), NULL, &sink, why));
    }
    return STATUS_OK;
}

enum status
index_describe(struct index_client *client, const struct index_resource *resources, size_t count,
               const struct slice *predicates, size_t predicate_count, uint32_t timeout_ms,
               struct arena *arena, index_object_take *take, void *context, struct reason *why)
{
    (void)client, (void)resources, (void)arena, (void)why;
    assert_int_equal(timeout_ms, MADE_TIMEOUT_MS);
    for (size_t i = 0; i < made.said_count; i++) {
        for (size_t k = 0; k < predicate_count; k++) {
            if (made.said[i].resource < count && slice_is(predicates[k], made.said[i].predicate)) {
                const struct term object = term_literal(slice_string(made.said[i].value));
                take(context, made.said[i].resource, k, &object);
            }
        }
    }
    return STATUS_OK;
}

enum status
index_query(struct index_client *client, struct slice sparql, const char *format,
            const struct index_query_options *options, index_piece *piece, void *context,
            struct reason *why)
{
    (void)client;
    static const struct {
        const char *word;
        const char *const *rows;
    } kinds[] = {{"generatedAtTime", &made.times},
                 {"COUNT(DISTINCT", &made.shared},
                 {"COUNT(*)", &made.sizes},
                 {"", &made.classes}};
    size_t kind = 0;
    assert_string_equal(format, "json");
    assert_int_equal(options->timeout_ms, MADE_TIMEOUT_MS);
    assert_int_equal(options->client, MADE_ASKER);
    made.queries_asked++;
    (void)snprintf(made.query, sizeof made.query, "%.*s", SLICE_PRINT(sparql));
    if (made.queries_fail != STATUS_OK) {
        return status_fail(why, made.queries_fail, "no queries");
    }
    if (made.answer != NULL) {
        return give(piece, context, made.answer, why);
    }
    while (strstr(made.query, kinds[kind].word) == NULL) {
        kind++;
    }
    TRY(piece(context, SLICE("{\"results\":{\"bindings\":["), why));
    TRY(give(piece, context, *kinds[kind].rows, why));
    return piece(context, SLICE("]}}"), why);
}

enum status
index_identity(struct index_client *client, const struct term *resource, bool json,
               uint32_t timeout_ms, index_piece *piece, void *context, struct reason *why)
{
    (void)client, (void)resource;
    assert_int_equal(timeout_ms, MADE_TIMEOUT_MS);
    assert_true(json);
    return give(piece, context, made.cluster, why);
}

enum status
find_made(struct find_request request, struct find_results *results)
{
    struct reason why = {""};
    made.patterns_asked = made.queries_asked = made.searches = 0;
    made.words_asked[0] = made.query[0] = '\0';
    return find_run(&made_access, &request, results, &why);
}
