/* What the streams FIND and DESCRIBE answer of a partition (index/serve/answer_lookup.c), beside
 * what the partition's own quads say. */
#include "tests/unit/index_answers/direct_answers.h"

#include "tests/unit/index/index_fixture.h"

#include <math.h>

#include "index/protocol/service_protocol.h"
#include "index/serve/answer_lookup.h"

enum { MEMORY = 16 << 20 };

static struct reason why;
static struct partition_needs needs;

static enum status
produce_find(void *job, struct cursor *cursor, struct reason *reason)
{
    (void)job;
    return answer_find(direct_reader, buf_slice(&direct_request), cursor, &needs, reason);
}

static enum status
produce_descriptions(void *job, struct cursor *cursor, struct reason *reason)
{
    (void)job;
    return answer_describe(direct_reader, buf_slice(&direct_request), cursor, &needs, reason);
}

/* Asks; what the answer rests on is forgotten unless it is wanted. */
static enum status
ask(cursor_produce *producer)
{
    partition_needs_init(&needs);
    const enum status status = direct_ask(producer, MEMORY);
    partition_needs_release(&needs);
    direct_name_count = 0;
    return status;
}

static struct term
iri(const char *text)
{
    return (struct term){.kind = TERM_IRI, .value = slice_string(text)};
}

static oid
id_of(const struct term *term)
{
    oid id = OID_NONE;
    if (term->kind != TERM_NONE) {
        must(direct_source->lookup(direct_source->context, term, &id, &why), &why);
    }
    return id;
}

static struct quad_oids
ids_of(const struct quad *pattern)
{
    return (struct quad_oids){id_of(&pattern->subject), id_of(&pattern->predicate),
                              id_of(&pattern->object), id_of(&pattern->graph)};
}

/* ---- statements ---- */

enum { PATTERNS = 4 };

static void
make_patterns(struct quad patterns[PATTERNS])
{
    memset(patterns, 0, PATTERNS * sizeof *patterns);
    patterns[0].predicate = iri("http://p.example/3");
    patterns[1].subject = iri("http://shared.example/7");
    patterns[3].object = iri("http://class.example/4");
}

static void
ask_patterns(const struct quad *patterns, size_t count, uint64_t limit)
{
    buf_reset(&direct_request);
    codec_put_u8(&direct_request, INDEX_FIND_PATTERNS);
    codec_put_varint(&direct_request, limit);
    codec_put_varint(&direct_request, count);
    for (size_t i = 0; i < count; i++) {
        index_put_pattern(&direct_request, &patterns[i]);
    }
    assert_int_equal(ask(produce_find), STATUS_OK);
}

static void
check_quad(struct codec_reader *in, uint64_t number, const struct quad_oids *quad)
{
    assert_int_equal(codec_get_varint(in), number);
    assert_int_equal(direct_name(in), quad->subject);
    assert_int_equal(direct_name(in), quad->predicate);
    assert_int_equal(direct_name(in), quad->object);
    assert_int_equal(direct_name(in), quad->graph);
}

/* So many of each pattern; rows are read 64 at a time, and 256 are resolved at once. */
void
quads_of_patterns_are_found(void **state)
{
    static const uint64_t limits[] = {0, 1, 2, 63, 64, 65, 255, 256, 257, 700, UINT64_MAX};
    struct quad patterns[PATTERNS];
    (void)state;
    make_patterns(patterns);
    for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
        ask_patterns(patterns, PATTERNS, limits[l]);
        struct codec_reader in = codec_reader_of(buf_slice(&direct_answer));
        for (size_t i = 0; i < PATTERNS; i++) {
            const struct quad_oids ids = ids_of(&patterns[i]);
            const size_t all = direct_scan(&ids, ORDER_COUNT);
            assert_true(all > 1);
            for (size_t k = 0; k < all && k < limits[l]; k++) {
                check_quad(&in, i, &direct_rows[k]);
            }
        }
        assert_true(codec_at_end(&in));
    }
    ask_patterns(patterns, 0, 5);
    assert_int_equal(direct_answer.length, 0);
}

/* Asks for one pattern, and sees that its answer rests on this and nothing else. */
static void
rests_on(const struct quad *pattern, enum partition_place place, oid id)
{
    struct partition_needs expected;
    buf_reset(&direct_request);
    codec_put_u8(&direct_request, INDEX_FIND_PATTERNS);
    codec_put_varint(&direct_request, 3);
    codec_put_varint(&direct_request, 1);
    index_put_pattern(&direct_request, pattern);
    partition_needs_init(&needs);
    partition_needs_init(&expected);
    assert_int_equal(direct_ask(produce_find, MEMORY), STATUS_OK);
    partition_need(&expected, place, id);
    assert_true(slice_equal(buf_slice(&needs.commits), buf_slice(&expected.commits)));
    assert_int_equal(needs.words.length, 0);
    partition_needs_release(&needs);
    partition_needs_release(&expected);
    direct_name_count = 0;
}

void
patterns_have_what_their_answers_rest_on(void **state)
{
    char uri[64];
    struct quad pattern = {.predicate = iri("http://p.example/3")};
    (void)state;
    fixture_uri(4, uri);
    rests_on(&pattern, PARTITION_GRAPH, OID_NONE); /* all quads */
    pattern.graph = iri(uri);
    rests_on(&pattern, PARTITION_GRAPH, id_of(&pattern.graph));
    pattern.object = iri("http://class.example/4");
    rests_on(&pattern, PARTITION_OBJECT, id_of(&pattern.object));
    pattern.subject = iri("http://shared.example/7");
    rests_on(&pattern, PARTITION_SUBJECT, id_of(&pattern.subject));
    /* A term that is not there may come with any commit. */
    pattern.subject = iri("http://nobody.example/");
    rests_on(&pattern, PARTITION_GRAPH, OID_NONE);
    assert_int_equal(direct_answer.length, 0);
}

static void
ask_words(const char *words, uint64_t limit)
{
    buf_reset(&direct_request);
    codec_put_u8(&direct_request, INDEX_FIND_WORDS);
    codec_put_varint(&direct_request, limit);
    codec_put_slice(&direct_request, slice_string(words));
    assert_int_equal(ask(produce_find), STATUS_OK);
}

void
quads_of_words_are_found(void **state)
{
    static const uint64_t limits[] = {1, 3, 40, 200, 500};
    (void)state;
    ask_words("nowhere", 10);
    assert_int_equal(direct_answer.length, 0);
    for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
        struct text_scan *scan;
        uint64_t left = limits[l];
        ask_words("gamma", left);
        struct codec_reader in = codec_reader_of(buf_slice(&direct_answer));
        must(partition_reader_search(direct_reader, SLICE("gamma"), (uint32_t)left, &scan, &why),
             &why);
        for (bool end = false; !end && left > 0;) {
            struct quad_oids pattern = {0};
            double score;
            must(direct_source->search_next(scan, &pattern.object, &score, &end, &why), &why);
            const size_t all = end ? 0 : direct_scan(&pattern, ORDER_COUNT);
            for (size_t i = 0; i < all && left > 0; i++, left--) {
                check_quad(&in, (uint64_t)llround(score * INDEX_SCORE_PARTS), &direct_rows[i]);
            }
        }
        direct_source->search_close(scan);
        assert_true(codec_at_end(&in));
        assert_true(l > 1 || left == 0);
    }
}

/* ---- resources ---- */

enum { ASKED_PREDICATES = 12, RESOURCES = 40 };

static struct term described[RESOURCES][2]; /* subject and graph */
static char subjects[RESOURCES][72], graphs[RESOURCES][64];

static void
make_resources(void)
{
    for (unsigned i = 0; i < RESOURCES; i++) {
        fixture_uri(i == 5 ? 60 : i, graphs[i]);
        snprintf(subjects[i], sizeof subjects[i], "%s#it", graphs[i]);
        if (i % 3 == 2) {
            snprintf(subjects[i], sizeof subjects[i], "http://shared.example/%u", i);
        }
        if (i == 5) {
            snprintf(subjects[i], sizeof subjects[i], "http://s.example/long");
        } else if (i == 7 || i == 8) {
            snprintf(i == 7 ? subjects[i] : graphs[i], sizeof graphs[i], "http://nobody.example/");
        }
        described[i][0] = iri(subjects[i]);
        described[i][1] = iri(graphs[i]);
    }
}

static void
begin_descriptions(unsigned predicates)
{
    char text[64];
    buf_reset(&direct_request);
    codec_put_varint(&direct_request, predicates);
    for (unsigned i = 0; i < predicates; i++) {
        snprintf(text, sizeof text, "http://p.example/%u", i % 30);
        const struct term predicate = iri(text);
        index_put_term(&direct_request, &predicate);
    }
}

/* The first object that the resource has by the predicate; OID_NONE: none. */
static oid
first_object(const struct quad_oids *resource, unsigned number)
{
    char text[64];
    snprintf(text, sizeof text, "http://p.example/%u", number);
    const struct term term = iri(text);
    struct quad_oids pattern = *resource;
    pattern.predicate = id_of(&term);
    if (pattern.predicate == OID_NONE || pattern.subject == OID_NONE || pattern.graph == OID_NONE) {
        return OID_NONE;
    }
    return direct_scan(&pattern, ORDER_COUNT) > 0 ? direct_rows[0].object : OID_NONE;
}

void
resources_are_described(void **state)
{
    size_t objects = 0;
    (void)state;
    make_resources();
    begin_descriptions(ASKED_PREDICATES + 1); /* nobody has the last one */
    for (unsigned i = 0; i < RESOURCES; i++) {
        index_put_term(&direct_request, &described[i][0]);
        index_put_term(&direct_request, &described[i][1]);
    }
    assert_int_equal(ask(produce_descriptions), STATUS_OK);
    struct codec_reader in = codec_reader_of(buf_slice(&direct_answer));
    for (unsigned i = 0; i < RESOURCES; i++) {
        const struct quad_oids resource = {.subject = id_of(&described[i][0]),
                                           .graph = id_of(&described[i][1])};
        for (unsigned k = 0; k <= ASKED_PREDICATES; k++) {
            const oid object = first_object(&resource, k);
            if (object != OID_NONE) {
                assert_int_equal(codec_get_varint(&in), i);
                assert_int_equal(codec_get_varint(&in), k);
                assert_int_equal(direct_name(&in), object);
                objects++;
            }
        }
    }
    assert_true(codec_at_end(&in));
    assert_true(objects > 100);
    begin_descriptions(INDEX_DESCRIBED_PREDICATES);
    assert_int_equal(ask(produce_descriptions), STATUS_OK);
    begin_descriptions(INDEX_DESCRIBED_PREDICATES + 1);
    assert_int_equal(ask(produce_descriptions), STATUS_PROTOCOL);
}

void
malformed_lookups_are_refused(void **state)
{
    struct quad patterns[PATTERNS];
    const struct term none = {.kind = TERM_NONE};
    (void)state;
    make_patterns(patterns);
    for (int wrong = 0; wrong < 3; wrong++) {
        ask_patterns(patterns, PATTERNS, 5);
        if (wrong == 0) {
            codec_put_u8(&direct_request, 0);
        } else if (wrong == 1) {
            direct_request.length--;
        } else {
            direct_request.data[0] = INDEX_FIND_WORDS + 1;
        }
        assert_int_equal(ask(produce_find), STATUS_PROTOCOL);
        ask_words("gamma", 5);
        if (wrong == 0) {
            codec_put_u8(&direct_request, 0);
        } else if (wrong == 1) {
            direct_request.length--;
        } else {
            direct_request.length = 0;
        }
        assert_int_equal(ask(produce_find), STATUS_PROTOCOL);
        begin_descriptions(3);
        if (wrong == 0) {
            direct_request.length--;
        } else {
            index_put_term(&direct_request, wrong == 1 ? &none : &patterns[0].predicate);
            index_put_term(&direct_request, wrong == 2 ? &none : &patterns[0].predicate);
        }
        assert_int_equal(ask(produce_descriptions), STATUS_PROTOCOL);
    }
    begin_descriptions(3);
    index_put_term(&direct_request, &patterns[0].predicate);
    assert_int_equal(ask(produce_descriptions), STATUS_PROTOCOL);
}
