#include "tests/unit/index_service/lookup_checks.h"

#include "rdf/core/writer.h"
#include "tests/unit/index/index_fixture.h"

enum { TEXT = 1 << 22 };

/* ---- lines of what is given ---- */

static enum status
put_hit(void *out, const struct index_statement *statement, struct reason *why)
{
    const struct quad *quad = &statement->quad;
    const struct term *terms[] = {&quad->object, &quad->subject, &quad->predicate, &quad->graph};
    (void)why;
    (void)buf_printf(out, "%.4f", statement->score);
    for (size_t i = 0; i < 4; i++) {
        (void)buf_append_char(out, '\t');
        (void)nquads_write_term(out, terms[i]);
    }
    (void)buf_append_char(out, '\n');
    return STATUS_OK;
}

static enum status
put_line(void *out, const struct index_statement *statement, struct reason *why)
{
    (void)why;
    return nquads_write(out, &statement->quad);
}

/* Both texts are the same, the order of equal scores and of patterns in several partitions aside.
 */
static void
find_as(struct index_client *client, const struct index_find *find, const struct buf *expected)
{
    struct reason why = {""};
    struct arena arena;
    struct buf found;
    arena_init(&arena, 0);
    buf_init(&found, TEXT);
    must(
        index_find(client, find, &arena, find->words.length > 0 ? put_hit : put_line, &found, &why),
        &why);
    struct slice lines = buf_slice(&found);
    assert_int_equal(found.length, expected->length);
    while (lines.length > 0) {
        const struct slice line = slice_take(&lines, '\n');
        assert_true(slice_find_slice(buf_slice(expected), line) < expected->length);
    }
    buf_release(&found);
    arena_release(&arena);
}

static void
check_words(struct index_client *client, const char *words, uint32_t limit)
{
    struct reason why = {""};
    struct buf expected;
    buf_init(&expected, TEXT);
    must(index_search(client, slice_string(words), limit, fixture_append, &expected, &why), &why);
    find_as(client, &(struct index_find){.words = slice_string(words), .limit = limit}, &expected);
    buf_release(&expected);
}

static void
check_patterns(struct index_client *client, const struct quad *patterns, size_t count)
{
    struct reason why = {""};
    struct buf expected;
    buf_init(&expected, TEXT);
    for (size_t i = 0; i < count; i++) {
        must(index_pattern(client, &patterns[i], 0, fixture_append, &expected, &why), &why);
    }
    find_as(client,
            &(struct index_find){.patterns = patterns, .pattern_count = count, .limit = UINT32_MAX},
            &expected);
    buf_release(&expected);
}

/* ---- statements ---- */

static enum status
count_of_pattern(void *counts, const struct index_statement *statement, struct reason *why)
{
    (void)why;
    ((size_t *)counts)[statement->pattern]++;
    return STATUS_OK;
}

enum status
lookup_count(void *count, const struct index_statement *statement, struct reason *why)
{
    (void)statement, (void)why;
    ++*(size_t *)count;
    return STATUS_OK;
}

/* So many of each pattern. */
static void
check_limit(struct index_client *client)
{
    const struct quad patterns[] = {{.predicate = {.kind = TERM_NONE}},
                                    {.subject = term_iri(SLICE("http://nobody.example/"))},
                                    {.predicate = {.kind = TERM_NONE}}};
    const struct index_find find = {.patterns = patterns, .pattern_count = 3, .limit = 17};
    size_t counts[3] = {0, 0, 0};
    struct reason why = {""};
    struct arena arena;
    arena_init(&arena, 0);
    must(index_find(client, &find, &arena, count_of_pattern, counts, &why), &why);
    assert_int_equal(counts[0], 17);
    assert_int_equal(counts[1], 0);
    assert_int_equal(counts[2], 17);
    arena_release(&arena);
    arena_init(&arena, 64);
    assert_int_equal(index_find(client, &find, &arena, count_of_pattern, counts, &why),
                     STATUS_LIMIT);
    arena_release(&arena);
}

/* ---- resources ---- */

static void
put_object(void *out, size_t resource, size_t predicate, const struct term *object)
{
    (void)buf_printf(out, "%zu %zu ", resource, predicate);
    (void)nquads_write_term(out, object);
    (void)buf_append_char(out, '\n');
}

/* Documents of different partitions in turn; one that has not the resource, and none at all. */
static void
check_descriptions(struct index_client *client)
{
    static const struct slice predicates[] = {
        SLICE_INIT("http://nobody.example/says"),
        SLICE_INIT("http://www.w3.org/1999/02/22-rdf-syntax-ns#type"),
        SLICE_INIT("http://purl.org/rss/1.0/link")};
    const struct term a = term_iri(SLICE("http://s.example/a"));
    const struct index_resource resources[] = {
        {a, term_iri(SLICE("http://host2.example/document/2"))},
        {a, term_iri(SLICE("http://host1.example/document/1"))},
        {a, term_iri(SLICE("http://nobody.example/"))},
        {a, term_iri(SLICE("http://host1.example/document/1"))}};
    struct reason why = {""};
    struct arena arena;
    struct buf said;
    arena_init(&arena, 0);
    buf_init(&said, TEXT);
    must(index_describe(client, resources, 4, predicates, 3, &arena, put_object, &said, &why),
         &why);
    assert_string_equal(said.data, "1 1 <http://own.example/Thing>\n"
                                   "1 2 \"http://t.example/2\"\n"
                                   "3 1 <http://own.example/Thing>\n"
                                   "3 2 \"http://t.example/2\"\n");
    must(index_describe(client, resources, 0, predicates, 3, &arena, put_object, &said, &why),
         &why);
    const struct index_resource anything[] = {{a, {.kind = TERM_NONE}},
                                              {{.kind = TERM_NONE}, resources[0].graph}};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(
            index_describe(client, &anything[i], 1, predicates, 3, &arena, put_object, &said, &why),
            STATUS_PROTOCOL);
    }
    buf_release(&said);
    arena_release(&arena);
}

void
lookup_checks(struct index_client *client)
{
    const struct quad patterns[] = {
        {.subject = term_iri(SLICE("http://s.example/a"))},
        {.object = term_iri(SLICE("http://t.example/1"))},
        {.predicate = term_iri(SLICE("http://own.example/link")),
         .object = term_literal(SLICE("a plain text"))},
    };
    check_words(client, "plain text", 10);
    check_words(client, "number", 100000);
    check_words(client, "nothing here", 10);
    check_patterns(client, patterns, 3);
    check_limit(client);
    check_descriptions(client);
}
