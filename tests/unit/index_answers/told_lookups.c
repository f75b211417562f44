/* What the index's client makes of counters (index/client/client_statistics.c) and of lookups
 * (index/client/client_lookup.c) that several partitions answer. */
#include "tests/unit/index_answers/told_lookups.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/codec.h"
#include "index/client/client_lookup.h"
#include "index/client/partitions/client_calls.h"
#include "index/protocol/service_protocol.h"
#include "index/terms/oid.h"

enum { TEXT_MOST = 1 << 16, EACH = 70 };

static struct index_client *client;
static struct reason why;
static struct buf said;
static struct buf answers[MERGED_COUNT];

static int
set_up(void **state)
{
    (void)state;
    client = merged_begin(INDEX_PARTIAL_ERROR);
    buf_init(&said, TEXT_MOST);
    for (size_t i = 0; i < MERGED_COUNT; i++) {
        buf_init(&answers[i], TEXT_MOST);
        scripts[i] = (struct script){.text = "", .end = STATUS_END};
    }
    piece_bytes = SIZE_MAX;
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    merged_finish(client);
    buf_release(&said);
    for (size_t i = 0; i < MERGED_COUNT; i++) {
        buf_release(&answers[i]);
    }
    return 0;
}

static void
is_said(const char *expected)
{
    (void)buf_append_char(&said, '\0');
    assert_string_equal(said.data, expected);
    buf_reset(&said);
}

/* ---- counters ---- */

static const char first_counts[] = "P\t3 2\t<urn:p>\nP\t5 5\t<urn:q>\nC\t4\t<urn:c>\nC\t1\t_:b\n"
                                   "H\t6 1\texample.org\nT\t8\tquads\nT\t1\tdocuments\n"
                                   "T\t2\tsubjects\nS\t2 3 4\t<urn:p> <urn:q>\n";
/* The predicates of a set stand in another order here. */
static const char second_counts[] = "P\t10 10\t<urn:q>\nC\t40\t<urn:d>\nH\t7 2\t\n"
                                    "T\t80\tquads\nT\t10\tdocuments\nT\t20\tsubjects\n"
                                    "S\t20 40 30\t<urn:q> <urn:p>\nS\t1 1\t<urn:q>\n";

static void
say_counts(const struct index_counts *counts, const char *kinds)
{
    for (; *kinds != '\0'; kinds++) {
        size_t n;
        const struct index_count *items = index_counts_of(counts, *kinds, &n);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(items[i].kind, *kinds);
            (void)buf_printf(&said, "%c %.*s:", *kinds, SLICE_PRINT(items[i].name));
            for (size_t k = 0; k < items[i].n; k++) {
                (void)buf_printf(&said, " %u", (unsigned)items[i].numbers[k]);
            }
            (void)buf_append_char(&said, '\n');
        }
    }
}

static void
counters_of_all_partitions_are_added_up(void **state)
{
    (void)state;
    scripts[0].text = first_counts;
    scripts[1].text = second_counts;
    scripts[2].text = "T\t800\tquads\n";
    for (piece_bytes = 1; piece_bytes < 200; piece_bytes += 7) {
        struct index_counts *counts;
        assert_int_equal(index_counts_get(client, true, &counts, &why), STATUS_OK);
        assert_int_equal(asked_stream, INDEX_STREAM_COUNTS);
        say_counts(counts, "TPCHSX");
        is_said("T documents: 11\nT quads: 888\nT subjects: 22\n"
                "P <urn:p>: 3 2\nP <urn:q>: 15 15\n"
                "C <urn:c>: 4\nC <urn:d>: 40\nC _:b: 1\n"
                "H : 7 2\nH example.org: 6 1\n"
                "S <urn:p> <urn:q>: 22 33 44\nS <urn:q>: 1 1\n");
        index_counts_free(counts);
    }
    index_counts_free(NULL);
}

static void
no_counters_are_none(void **state)
{
    struct index_counts *counts;
    size_t n = 1;
    (void)state;
    assert_int_equal(index_counts_get(client, false, &counts, &why), STATUS_OK);
    (void)index_counts_of(counts, INDEX_COUNT_TOTAL, &n);
    assert_int_equal(n, 0);
    index_counts_free(counts);
}

static void
malformed_counters_are_refused(void **state)
{
    static const char *const wrong[] = {"\n",          "T\n",        "T\t\n",        "T\t7\n",
                                        "T7\tquads\n", "T 7\tx\n",   "T\t7 quads\n", "T\t7\t8 x",
                                        "T\tx\n",      "T\t7\tquads"};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct index_counts *counts;
        char line[512];
        snprintf(line, sizeof line, "%s%s", wrong[i], i == 7 ? "\n\n" : "");
        scripts[1].text = line;
        if (index_counts_get(client, true, &counts, &why) != STATUS_PROTOCOL) {
            fail_msg("\"%s\" is taken", line);
        }
        assert_null(counts);
    }
    /* A line has 64 numbers at most. */
    for (size_t numbers = 64; numbers <= 65; numbers++) {
        struct index_counts *many;
        (void)buf_append_string(&answers[1], "T");
        for (size_t i = 0; i < numbers; i++) {
            (void)buf_append_string(&answers[1], i == 0 ? "\t1" : " 1");
        }
        (void)buf_append_string(&answers[1], "\tx\n");
        scripts[1].text = NULL;
        scripts[1].bytes = buf_slice(&answers[1]);
        assert_int_equal(index_counts_get(client, true, &many, &why),
                         numbers == 64 ? STATUS_OK : STATUS_PROTOCOL);
        index_counts_free(many);
        buf_reset(&answers[1]);
    }
    struct index_counts *counts;
    scripts[1] = (struct script){.text = "T\t7\tquads\n", .end = STATUS_TIMEOUT};
    assert_int_equal(index_counts_get(client, true, &counts, &why), STATUS_TIMEOUT);
    assert_null(counts);
}

/* ---- descriptions of the whole ---- */

static const char prefixes[] = "@prefix void: <http://rdfs.org/ns/void#> .\n"
                               "@prefix sd: <http://www.w3.org/ns/sparql-service-description#> .\n"
                               "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"
                               "@prefix q: <urn:x-quadrille:void#> .\n\n";

static void
the_whole_is_described(void **state)
{
    struct index_void_options options = {.dataset = "#all"};
    char expected[4096];
    (void)state;
    scripts[0].text = first_counts;
    scripts[1].text = second_counts;
    assert_int_equal(index_void(client, &options, &said, &why), STATUS_OK);
    static const char dataset[] =
        "<#all> a void:Dataset ;\n    void:triples 88 ;\n    void:documents 11 ;\n"
        "    void:properties 2 ;\n    void:classes 2 ;\n    q:documentSubjects 22 ;\n"
        "    q:hosts 2";
    static const char parts[] =
        " ;\n    void:propertyPartition"
        "\n        [ void:property <urn:p> ; void:triples 3 ; q:documentSubjects 2 ] ,"
        "\n        [ void:property <urn:q> ; void:triples 15 ; q:documentSubjects 15 ]"
        " ;\n    void:classPartition"
        "\n        [ void:class <urn:c> ; void:entities 4 ] ,"
        "\n        [ void:class <urn:d> ; void:entities 40 ] .\n";
    snprintf(expected, sizeof expected, "%s%s%s", prefixes, dataset, parts);
    is_said(expected);
    options.endpoint = "/sparql";
    options.search = "/search";
    assert_int_equal(index_void(client, &options, &said, &why), STATUS_OK);
    snprintf(expected, sizeof expected, "%s%s ;\n    void:sparqlEndpoint </sparql>%s%s%s", prefixes,
             dataset, parts,
             "\n[] a sd:Service ;\n    sd:endpoint </sparql> ;\n"
             "    sd:supportedLanguage sd:SPARQL11Query ;\n"
             "    sd:feature sd:UnionDefaultGraph ;\n"
             "    sd:propertyFeature <urn:x-quadrille:query#matches> .\n",
             "\n<#all> <http://xmlns.com/foaf/0.1/page> </search> .\n");
    is_said(expected);
    /* There may be nothing to describe, and little room for it. */
    scripts[0].text = scripts[1].text = "P\t1\t<urn:p>\nC\t1\tx\n";
    assert_int_equal(index_void(client, &options, &said, &why), STATUS_OK);
    assert_non_null(memmem(said.data, said.length, "void:triples 0 ;", 16));
    assert_non_null(memmem(said.data, said.length, "triples 2 ; q:documentSubjects 0 ]", 34));
    assert_null(memmem(said.data, said.length, "classPartition", 14));
    struct buf little;
    buf_init(&little, 100);
    assert_int_equal(index_void(client, &options, &little, &why), STATUS_LIMIT);
    buf_release(&little);
}

/* ---- statements ---- */

static void
put_new(size_t partition, const char *iri)
{
    const struct term term = {.kind = TERM_IRI, .value = slice_string(iri)};
    codec_put_varint(&answers[partition], INDEX_NAME_NEW);
    codec_put_u64(&answers[partition], oid_stored(1, OID_KIND_IRI));
    index_put_term(&answers[partition], &term);
}

static void
put_known(size_t partition, unsigned number)
{
    codec_put_varint(&answers[partition], INDEX_NAME_FIRST + number);
}

/* A statement of one new term, and three that are known. */
static void
put_statement(size_t partition, unsigned number, const char *subject, unsigned known)
{
    codec_put_varint(&answers[partition], number);
    put_new(partition, subject);
    for (int i = 0; i < 3; i++) {
        put_known(partition, known);
    }
}

static void
answer_with(void)
{
    for (size_t i = 0; i < MERGED_COUNT; i++) {
        scripts[i].text = NULL;
        scripts[i].bytes = buf_slice(&answers[i]);
    }
}

static enum status
say_statement(void *context, const struct index_statement *statement, struct reason *reason)
{
    (void)context, (void)reason;
    (void)buf_printf(&said, "%zu %.2f %.*s %.*s\n", statement->pattern, statement->score,
                     SLICE_PRINT(statement->quad.subject.value),
                     SLICE_PRINT(statement->quad.graph.value));
    return slice_is(statement->quad.subject.value, "urn:stop") ? STATUS_FULL : STATUS_OK;
}

static enum status
find_with(const struct index_find *find)
{
    struct arena arena;
    arena_init(&arena, 0);
    const enum status status = index_find(client, find, &arena, say_statement, NULL, &why);
    arena_release(&arena);
    return status;
}

static void
the_best_statements_come_first(void **state)
{
    struct index_find find = {.words = SLICE("w"), .limit = 10};
    (void)state;
    put_statement(0, 3 * INDEX_SCORE_PARTS, "urn:a", 0);
    put_statement(0, INDEX_SCORE_PARTS, "urn:b", 0);
    put_statement(1, 4 * INDEX_SCORE_PARTS, "urn:c", 0);
    put_statement(1, 3 * INDEX_SCORE_PARTS, "urn:d", 1);
    put_statement(2, INDEX_SCORE_PARTS / 2, "urn:e", 0);
    answer_with();
    for (piece_bytes = 1; piece_bytes < 60; piece_bytes++) {
        assert_int_equal(find_with(&find), STATUS_OK);
        is_said("0 4.00 urn:c urn:c\n0 3.00 urn:a urn:a\n0 3.00 urn:d urn:d\n"
                "0 1.00 urn:b urn:a\n0 0.50 urn:e urn:e\n");
    }
    assert_int_equal(asked, 7);
    assert_int_equal(asked_stream, INDEX_STREAM_FIND);
    struct codec_reader in = codec_reader_of(slice_of(request_text, request_length));
    assert_int_equal(codec_get_u8(&in), INDEX_FIND_WORDS);
    assert_int_equal(codec_get_varint(&in), 10);
    assert_true(slice_is(codec_get_slice(&in), "w"));
    assert_true(codec_at_end(&in));
    find.limit = 2;
    assert_int_equal(find_with(&find), STATUS_OK);
    is_said("0 4.00 urn:c urn:c\n0 3.00 urn:a urn:a\n");
    find.limit = 1; /* two partitions give more than they were asked for */
    assert_int_equal(find_with(&find), STATUS_PROTOCOL);
    is_said("");
}

static void
statements_come_pattern_by_pattern(void **state)
{
    const struct quad patterns[3] = {{.subject = {.kind = TERM_IRI, .value = SLICE("urn:x")}},
                                     {.object = {.kind = TERM_NONE}}};
    const struct index_find find = {.patterns = patterns, .pattern_count = 3, .limit = 2};
    (void)state;
    put_statement(0, 0, "urn:a", 0);
    put_statement(0, 0, "urn:b", 0);
    put_statement(0, 2, "urn:c", 0);
    put_statement(1, 0, "urn:d", 0);
    put_statement(1, 1, "urn:e", 0);
    put_statement(2, 2, "urn:f", 0);
    put_statement(2, 2, "urn:g", 0);
    answer_with();
    assert_int_equal(find_with(&find), STATUS_OK);
    is_said("0 0.00 urn:a urn:a\n0 0.00 urn:b urn:a\n1 0.00 urn:e urn:d\n2 0.00 urn:c urn:a\n"
            "2 0.00 urn:f urn:f\n");
    struct codec_reader in = codec_reader_of(slice_of(request_text, request_length));
    struct quad pattern;
    assert_int_equal(codec_get_u8(&in), INDEX_FIND_PATTERNS);
    assert_int_equal(codec_get_varint(&in), 2);
    assert_int_equal(codec_get_varint(&in), 3);
    for (int i = 0; i < 3; i++) {
        assert_true(index_get_pattern(&in, &pattern));
        assert_int_equal(pattern.subject.kind, i == 0 ? TERM_IRI : TERM_NONE);
    }
    assert_true(codec_at_end(&in));
    put_statement(0, 1, "urn:h", 0); /* the second pattern after the third */
    answer_with();
    assert_int_equal(find_with(&find), STATUS_PROTOCOL);
    buf_reset(&answers[0]);
    put_statement(0, 3, "urn:h", 0); /* there is no fourth */
    answer_with();
    assert_int_equal(find_with(&find), STATUS_PROTOCOL);
    buf_reset(&answers[0]);
    put_statement(0, 0, "urn:stop", 0);
    put_statement(0, 0, "urn:after", 0);
    answer_with();
    buf_reset(&said);
    assert_int_equal(find_with(&find), STATUS_FULL); /* whoever takes them ends it */
    is_said("0 0.00 urn:stop urn:stop\n");
}

/* Hundreds of names, which may be forgotten in between. */
static void
many_statements_are_read(void **state)
{
    enum { MANY = 300 };
    const struct index_find find = {.words = SLICE("w"), .limit = MANY};
    char iri[32], line[64];
    (void)state;
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(iri, sizeof iri, "urn:%u", i);
        codec_put_varint(&answers[1], (MANY - i) * INDEX_SCORE_PARTS);
        if (i == 200) {
            codec_put_varint(&answers[1], INDEX_NAME_FORGET);
        }
        put_new(1, iri);
        for (int k = 0; k < 3; k++) {
            put_known(1, i < 200 ? i / 2 : (i - 200) / 2);
        }
    }
    answer_with();
    assert_int_equal(find_with(&find), STATUS_OK);
    struct slice rest = buf_slice(&said);
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(line, sizeof line, "0 %u.00 urn:%u urn:%u", MANY - i, i,
                 i < 200 ? i / 2 : 200 + (i - 200) / 2);
        assert_true(slice_is(slice_take(&rest, '\n'), line));
    }
    assert_int_equal(rest.length, 0);
    put_statement(1, 0, "urn:x", 101); /* as many are known since some were forgotten */
    answer_with();
    assert_int_equal(find_with(&(struct index_find){.words = SLICE("w"), .limit = MANY + 1}),
                     STATUS_PROTOCOL);
}

static void
equal_statements_keep_their_order(void **state)
{
    const struct index_find find = {.words = SLICE("w"), .limit = MERGED_COUNT * EACH};
    struct buf expected;
    (void)state;
    buf_init(&expected, TEXT_MOST);
    for (unsigned i = 0; i < MERGED_COUNT * EACH; i++) {
        char iri[32];
        snprintf(iri, sizeof iri, "urn:%u", i);
        put_statement(i / EACH, INDEX_SCORE_PARTS, iri, 0);
        (void)buf_printf(&expected, "0 1.00 %s urn:%u\n", iri, i / EACH * EACH);
    }
    answer_with();
    assert_int_equal(find_with(&find), STATUS_OK);
    is_said(expected.data);
    buf_release(&expected);
    struct arena arena;
    arena_init(&arena, 100); /* too little room */
    assert_int_equal(index_find(client, &find, &arena, say_statement, NULL, &why), STATUS_LIMIT);
    arena_release(&arena);
}

static void
requests_that_are_too_long_are_not_sent(void **state)
{
    static char text[17 << 20];
    const struct index_find find = {.words = slice_of(text, sizeof text), .limit = 1};
    (void)state;
    client->deadline_ms = 1; /* of a call before */
    client->partitions[0].missing = true;
    assert_int_equal(find_with(&find), STATUS_LIMIT);
    assert_int_equal(client->deadline_ms, 0);
    assert_false(client->partitions[0].missing);
}

/* A lookup may go on without a partition that fails, of which nothing is given then. */
static void
partitions_that_break_off_give_nothing(void **state)
{
    const struct index_find find = {.words = SLICE("w"), .limit = 5};
    (void)state;
    put_statement(0, INDEX_SCORE_PARTS, "urn:a", 0);
    put_statement(1, INDEX_SCORE_PARTS, "urn:b", 0);
    answer_with();
    scripts[1].end = STATUS_TIMEOUT;
    assert_int_equal(find_with(&find), STATUS_TIMEOUT);
    is_said("");
    index_client_manner(client, INDEX_PARTIAL_WARN, NULL);
    assert_int_equal(find_with(&find), STATUS_OK);
    is_said("0 1.00 urn:a urn:a\n");
    index_client_manner(client, INDEX_PARTIAL_ERROR, NULL);
    scripts[1].end = STATUS_END;
    assert_int_equal(find_with(&find), STATUS_OK);
    is_said("0 1.00 urn:a urn:a\n0 1.00 urn:b urn:b\n");
}

/* What was asked wrongly is so everywhere; and of no partition there is no answer. */
static void
only_some_failures_are_passed_over(void **state)
{
    static const struct {
        enum status failed, told;
        bool passed_over;
    } cases[] = {{STATUS_TIMEOUT, STATUS_TIMEOUT, true},
                 {STATUS_SYSTEM, STATUS_SYSTEM, true},
                 {STATUS_CORRUPT, STATUS_CORRUPT, true},
                 {STATUS_NOT_FOUND, STATUS_AGAIN, true},
                 {STATUS_STALE, STATUS_AGAIN, true},
                 {STATUS_CANCELLED, STATUS_AGAIN, true},
                 {STATUS_BAD_INPUT, STATUS_BAD_INPUT, false},
                 {STATUS_LIMIT, STATUS_LIMIT, false},
                 {STATUS_UNSUPPORTED, STATUS_UNSUPPORTED, false},
                 {STATUS_MISUSE, STATUS_MISUSE, false}};
    const struct reason what = {"it broke off"};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        client_begin(client, INDEX_PARTIAL_ERROR, 0, NULL);
        assert_int_equal(client_miss(client, 1, cases[i].failed, &what, &why), cases[i].told);
        assert_string_equal(why.text, "index partition 1 (ipc:///nonexistent/1): it broke off");
        client_begin(client, INDEX_PARTIAL_WARN, 0, NULL);
        for (size_t partition = 0; partition < MERGED_COUNT; partition++) {
            const bool last = partition + 1 == MERGED_COUNT;
            const bool missing = cases[i].passed_over && !last;
            assert_int_equal(client_miss(client, partition, cases[i].failed, &what, &why),
                             missing ? STATUS_OK : cases[i].told);
            assert_int_equal(client->partitions[partition].missing, missing);
            if (missing) {
                assert_string_equal(client->partitions[partition].why.text, "it broke off");
            }
        }
        client_begin(client, INDEX_PARTIAL_ERROR, 0, NULL);
        assert_false(client->partitions[0].missing || client->partitions[1].missing);
    }
}

/* ---- resources ---- */

static void
say_object(void *context, size_t resource, size_t predicate, const struct term *object)
{
    (void)context;
    (void)buf_printf(&said, "%zu %zu %.*s\n", resource, predicate, SLICE_PRINT(object->value));
}

static void
put_object(size_t partition, unsigned number, unsigned predicate, const char *object)
{
    codec_put_varint(&answers[partition], number);
    codec_put_varint(&answers[partition], predicate);
    put_new(partition, object);
}

enum { RESOURCES = 6, PREDICATES = 2 };
static char graphs[RESOURCES][32];
static struct index_resource resources[RESOURCES];

/* The first, the third and the last are in one partition; the others are in the next one. */
static void
make_resources(size_t *one, size_t *other)
{
    *one = client_owner(client, SLICE("urn:graph:0"));
    *other = (*one + 1) % MERGED_COUNT;
    unsigned number = 0;
    for (size_t i = 0; i < RESOURCES; i++) {
        const size_t owner = i == 0 || i == 2 || i == 5 ? *one : *other;
        do {
            snprintf(graphs[i], sizeof graphs[i], "urn:graph:%u", number++);
        } while (client_owner(client, slice_string(graphs[i])) != owner);
        resources[i].subject = (struct term){.kind = TERM_IRI, .value = SLICE("urn:s")};
        resources[i].graph = (struct term){.kind = TERM_IRI, .value = slice_string(graphs[i])};
    }
}

static enum status
describe(void)
{
    static const struct slice predicates[PREDICATES] = {SLICE_INIT("urn:p"), SLICE_INIT("urn:q")};
    struct arena arena;
    arena_init(&arena, 0);
    answer_with();
    const enum status status = index_describe(client, resources, RESOURCES, predicates, PREDICATES,
                                              0, &arena, say_object, NULL, &why);
    arena_release(&arena);
    return status;
}

static void
resources_are_numbered_in_their_partitions(void **state)
{
    size_t one, other;
    (void)state;
    make_resources(&one, &other);
    put_object(one, 0, 0, "urn:a");
    put_object(one, 0, 1, "urn:b");
    put_object(one, 2, 1, "urn:c");
    put_object(other, 1, 0, "urn:d");
    put_object(other, 2, 1, "urn:e");
    asked = 0;
    assert_int_equal(describe(), STATUS_OK);
    assert_int_equal(asked, 1u << one | 1u << other);
    assert_int_equal(asked_stream, INDEX_STREAM_DESCRIBE);
    is_said(one < other ? "0 0 urn:a\n0 1 urn:b\n5 1 urn:c\n3 0 urn:d\n4 1 urn:e\n"
                        : "3 0 urn:d\n4 1 urn:e\n0 0 urn:a\n0 1 urn:b\n5 1 urn:c\n");
    struct codec_reader in = codec_reader_of(slice_of(request_text, request_length));
    struct term term;
    assert_int_equal(codec_get_varint(&in), PREDICATES);
    assert_true(index_get_term(&in, &term) && slice_is(term.value, "urn:p"));
    assert_true(index_get_term(&in, &term) && slice_is(term.value, "urn:q"));
    for (size_t i = 0; i < RESOURCES; i++) {
        const size_t last = one > other ? one : other;
        if (client_owner(client, resources[i].graph.value) == last) {
            assert_true(index_get_term(&in, &term) && slice_is(term.value, "urn:s"));
            assert_true(index_get_term(&in, &term) && slice_is(term.value, graphs[i]));
        }
    }
    assert_true(codec_at_end(&in));
}

static void
objects_of_nothing_asked_for_are_refused(void **state)
{
    static const unsigned wrong[][4] = {
        {3, 0, 3, 0}, {0, 2, 0, 2}, {1, 0, 0, 0}, {2, 1, 3, 1}, {0, 0, 0, 2}};
    size_t one, other;
    (void)state;
    make_resources(&one, &other);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        buf_reset(&answers[one]);
        put_object(one, wrong[i][0], wrong[i][1], "urn:a");
        put_object(one, wrong[i][2], wrong[i][3], "urn:b");
        assert_int_equal(describe(), STATUS_PROTOCOL);
    }
    buf_reset(&answers[one]);
    put_object(one, 0, 0, "urn:a");
    answers[one].length--;
    assert_int_equal(describe(), STATUS_PROTOCOL);
    buf_reset(&answers[one]);
    codec_put_varint(&answers[one], 0);
    codec_put_varint(&answers[one], 0);
    put_known(one, 0); /* nothing is known yet */
    assert_int_equal(describe(), STATUS_PROTOCOL);
}

int
told_lookups_run(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(counters_of_all_partitions_are_added_up),
        CASE(no_counters_are_none),
        CASE(malformed_counters_are_refused),
        CASE(the_whole_is_described),
        CASE(the_best_statements_come_first),
        CASE(statements_come_pattern_by_pattern),
        CASE(many_statements_are_read),
        CASE(equal_statements_keep_their_order),
        CASE(requests_that_are_too_long_are_not_sent),
        CASE(partitions_that_break_off_give_nothing),
        CASE(only_some_failures_are_passed_over),
        CASE(resources_are_numbered_in_their_partitions),
        CASE(objects_of_nothing_asked_for_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
