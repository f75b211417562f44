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

/* So many statements are given of each pattern. */
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
    must(index_describe(client, resources, 4, predicates, 3, 0, &arena, put_object, &said, &why),
         &why);
    assert_string_equal(said.data, "1 1 <http://own.example/Thing>\n"
                                   "1 2 \"http://t.example/2\"\n"
                                   "3 1 <http://own.example/Thing>\n"
                                   "3 2 \"http://t.example/2\"\n");
    must(index_describe(client, resources, 0, predicates, 3, 0, &arena, put_object, &said, &why),
         &why);
    const struct index_resource anything[] = {{a, {.kind = TERM_NONE}},
                                              {{.kind = TERM_NONE}, resources[0].graph}};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(index_describe(client, &anything[i], 1, predicates, 3, 0, &arena,
                                        put_object, &said, &why),
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

/* ---- answers that are kept ---- */

static enum status
count_lines(void *count, struct slice bytes, struct reason *why)
{
    (void)why;
    for (size_t i = 0; i < bytes.length; i++) {
        *(size_t *)count += bytes.at[i] == '\n';
    }
    return STATUS_OK;
}

static size_t
count_found(struct index_client *client, const struct index_find *find)
{
    struct reason why = {""};
    struct arena arena;
    size_t count = 0;
    arena_init(&arena, 0);
    must(index_find(client, find, &arena, lookup_count, &count, &why), &why);
    arena_release(&arena);
    return count;
}

static void
ask_words(struct index_client *client, const char *words)
{
    const struct index_find find = {.words = slice_string(words), .limit = 100};
    struct reason why = {""};
    size_t expected = 0;
    must(index_search(client, find.words, find.limit, count_lines, &expected, &why), &why);
    assert_int_equal(count_found(client, &find), expected);
}

static void
ask_pattern(struct index_client *client, const struct quad *pattern)
{
    const struct index_find find = {.patterns = pattern, .pattern_count = 1, .limit = 100};
    struct reason why = {""};
    size_t expected = 0;
    must(index_pattern(client, pattern, 0, count_lines, &expected, &why), &why);
    assert_int_equal(count_found(client, &find), expected);
}

static void
take_label(void *label, size_t resource, size_t predicate, const struct term *object)
{
    (void)resource, (void)predicate;
    (void)buf_append_slice(label, object->value);
}

static void
ask_label(struct index_client *client, const char *expected)
{
    static const struct slice predicate = SLICE_INIT("http://p.example/label");
    char document[64];
    fixture_uri(14, document);
    const struct index_resource resource = {term_iri(SLICE("http://x.example/new")),
                                            term_iri(slice_string(document))};
    struct reason why = {""};
    struct arena arena;
    struct buf label;
    arena_init(&arena, 0);
    buf_init(&label, TEXT);
    must(index_describe(client, &resource, 1, &predicate, 1, 0, &arena, take_label, &label, &why),
         &why);
    assert_true(slice_is(buf_slice(&label), expected));
    buf_release(&label);
    arena_release(&arena);
}

/* All is asked twice, so that the second answer is one that was kept. */
static void
ask_all_twice(struct index_client *client, const char *label)
{
    static const char *const words[] = {"cat",         "\"cat\"",    "cat*",
                                        "cat -dog",    "cat OR dog", "dog",
                                        "lang:en cat", "\"a cat\"",  "-lang:en cat"};
    const struct quad patterns[] = {{.subject = term_iri(SLICE("http://x.example/a"))},
                                    {.subject = term_iri(SLICE("http://x.example/new"))},
                                    {.object = term_iri(SLICE("http://x.example/o"))},
                                    {.object = term_literal(SLICE("cat"))},
                                    {.predicate = term_iri(SLICE("http://p.example/label"))}};
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
            ask_words(client, words[i]);
        }
        for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
            ask_pattern(client, &patterns[i]);
        }
        ask_label(client, label);
    }
}

void
lookup_checks_kept(struct index_client *client, struct partition *partition)
{
    static const struct {
        unsigned document;
        const char *quads, *label;
    } steps[] = {
        {11, "<http://x.example/a> <http://p.example/says> \"cat\" .\n", ""},
        /* another document says a literal that is there */
        {12, "<http://x.example/b> <http://p.example/says> \"cat\" .\n", ""},
        /* it is said no more, by anybody, and then again */
        {11, "", ""},
        {12, "", ""},
        {13, "<http://x.example/a> <http://p.example/says> \"cat\" .\n", ""},
        /* a stem, the first one of a language, a word that begins so, one that excludes */
        {15, "<http://x.example/b> <http://p.example/says> \"cats\"@en .\n", ""},
        {19, "<http://x.example/b> <http://p.example/says> \"cats\"@da .\n", ""},
        {16, "<http://x.example/b> <http://p.example/says> \"catalogue\" .\n", ""},
        {17, "<http://x.example/b> <http://p.example/says> \"a cat, a dog\" .\n", ""},
        /* terms that were not there */
        {14, "<http://x.example/new> <http://p.example/label> \"one\" .\n", "one"},
        {14, "<http://x.example/new> <http://p.example/label> \"two\" .\n", "two"},
        {18, "<http://x.example/a> <http://p.example/has> <http://x.example/o> .\n", "two"},
        {14, "", ""}};
    struct reason why = {""};
    ask_all_twice(client, "");
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct index_batch *batch = index_batch_new(partition);
        struct buf quads;
        buf_init(&quads, TEXT);
        (void)buf_append_string(&quads, steps[i].quads);
        fixture_add(batch, steps[i].document, i + 1, &quads);
        must(index_batch_commit(batch, &why), &why);
        must(partition_settle(partition, &why), &why);
        index_batch_free(batch);
        buf_release(&quads);
        ask_all_twice(client, steps[i].label);
    }
}
