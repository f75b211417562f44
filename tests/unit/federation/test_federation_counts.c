/* Triples counted over several partitions (index/client/federation/federation_counts.c): the counts
 * are those of the different triples however partitions share them, and what becomes of them when a
 * partition goes away or sends what is wrong. The linker puts the functions below in the place of
 * the streams, so there are no services: each partition is a list of triples. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/client/federation/federation_counts.h"
#include "index/protocol/triples_request.h"
#include "tests/unit/federation/told_streams.h"

enum { TRIPLES_MOST = 8, FORMS = 6, PLACES = 3, VALUES_MOST = 32 };
enum { LONG = 3 << 20, MANY = (1 << 18) + 1, MEMORY = 16 << 20 };

/* ---- partitions of the test ---- */

/* A quad for each graph that has the triple; the answers repeat it as often. */
static struct {
    const char *triples[TRIPLES_MOST][PLACES]; /* up to the first without a subject */
    unsigned graphs[TRIPLES_MOST];             /* 0: one */
    uint64_t version;
} partitions[PARTITIONS_ASKED];

/* How a partition, or PARTITIONS_ASKED for all, is false or fails. */
static struct {
    size_t partition;
    uint8_t form;
    enum { HONEST, BREAKS_OFF, ENDS_EARLY, DESCENDS, BIG_NUMBERS, BIG_COUNTS, FEW_COUNTS } how;
} fault;
static unsigned asked[FORMS]; /* requests of each form */

static size_t
graphs_of(size_t partition, size_t triple)
{
    const unsigned graphs = partitions[partition].graphs[triple];
    return graphs > 0 ? graphs : 1;
}

static bool
is_false(size_t partition, uint8_t form, int how)
{
    return fault.how == (unsigned)how && fault.form == form &&
           (fault.partition == partition || fault.partition == PARTITIONS_ASKED);
}

static void
put_name(struct buf *out, const char *text)
{
    const struct term term = {.kind = TERM_IRI, .value = slice_string(text)};
    codec_put_varint(out, INDEX_NAME_NEW);
    codec_put_u64(out, oid_stored(strlen(text) << 8 | (uint8_t)text[0], OID_KIND_IRI));
    index_put_term(out, &term);
}

static void
put_counts(size_t partition, uint8_t form, struct buf *out)
{
    const char *values[TRIPLES_MOST];
    uint64_t counts[TRIPLES_MOST] = {0};
    size_t n = 0;
    codec_put_u8(out, TRIPLES_KNOWN);
    codec_put_u64(out, partition);
    codec_put_u64(out, partitions[partition].version);
    for (size_t i = 0; i < TRIPLES_MOST && partitions[partition].triples[i][0] != NULL; i++) {
        const char *value = form == TRIPLE_ALL ? "" : partitions[partition].triples[i][form];
        size_t at = 0;
        while (at < n && strcmp(values[at], value) != 0) {
            at++;
        }
        n += at == n;
        values[at] = value;
        counts[at]++;
    }
    for (size_t i = 0; i < n; i++) {
        counts[i] = is_false(partition, form, BIG_COUNTS)   ? UINT64_MAX
                    : is_false(partition, form, FEW_COUNTS) ? 1
                                                            : counts[i];
        codec_put_varint(out, counts[i]);
        if (form != TRIPLE_ALL) {
            put_name(out, values[i]);
        }
    }
}

/* Many different triples have the same. */
static uint64_t
weak_fingerprint(const char *const *triple)
{
    return (uint64_t)(triple[0][0] % 2) + (triple[1][0] == 'q' ? UINT64_MAX - 1 : 1);
}

static void
put_fingerprint(size_t partition, uint64_t fingerprint, uint64_t number, struct buf *out)
{
    const bool descends = is_false(partition, TRIPLES_FINGERPRINTS, DESCENDS);
    const bool big = is_false(partition, TRIPLES_FINGERPRINTS, BIG_NUMBERS);
    codec_put_u64(out, descends ? UINT64_MAX - fingerprint : fingerprint);
    codec_put_varint(out, number + (big ? UINT64_C(1) << 32 : 0));
}

/* In ascending order, each with the number of its row. */
static void
put_fingerprints(size_t partition, struct buf *out)
{
    static const uint64_t ascending[] = {1, 2, UINT64_MAX - 1, UINT64_MAX};
    codec_put_u8(out, TRIPLES_KNOWN);
    for (size_t f = 0; f < sizeof ascending / sizeof *ascending; f++) {
        uint64_t number = 0;
        for (size_t i = 0; i < TRIPLES_MOST && partitions[partition].triples[i][0] != NULL; i++) {
            const bool has = weak_fingerprint(partitions[partition].triples[i]) == ascending[f];
            for (size_t k = 0; k < graphs_of(partition, i); k++, number++) {
                if (has) {
                    put_fingerprint(partition, ascending[f], number, out);
                }
            }
        }
    }
}

static void
put_rows(size_t partition, struct codec_reader *in, struct buf *out)
{
    uint64_t wanted = 0;
    for (uint64_t left = codec_get_varint(in); left > 0; left--) {
        wanted += codec_get_varint(in);
        uint64_t number = 0;
        for (size_t i = 0; i < TRIPLES_MOST && partitions[partition].triples[i][0] != NULL; i++) {
            const uint64_t graphs = graphs_of(partition, i);
            for (size_t k = 0; wanted - number < graphs && k < PLACES; k++) {
                put_name(out, partitions[partition].triples[i][k]);
            }
            number += graphs;
        }
        assert_true(wanted < number);
    }
    assert_true(codec_at_end(in));
}

enum status
told_answer(size_t partition, uint8_t kind, struct codec_reader *in, struct buf *out)
{
    struct term term;
    assert_int_equal(kind, INDEX_STREAM_TRIPLES);
    const uint8_t form = codec_get_u8(in);
    assert_in_range(form, TRIPLE_PREDICATE, TRIPLES_ROWS);
    for (int i = 0; i < PLACES; i++) {
        assert_true(index_get_term(in, &term) && term.kind == TERM_NONE);
    }
    asked[form]++;
    if (form == TRIPLES_ROWS) {
        put_rows(partition, in, out);
    } else if (form == TRIPLES_FINGERPRINTS) {
        put_fingerprints(partition, out);
    } else {
        put_counts(partition, form, out);
    }
    if (is_false(partition, form, BREAKS_OFF) || is_false(partition, form, ENDS_EARLY)) {
        out->length -= 3;
        return is_false(partition, form, BREAKS_OFF) ? STATUS_SYSTEM : STATUS_OK;
    }
    return STATUS_OK;
}

/* ---- counting ---- */

static size_t looks, ended_at; /* at the time; 0: it does not end */

static enum status
look(const void *context, struct reason *why)
{
    (void)context;
    looks++;
    return looks == ended_at ? status_fail(why, STATUS_CANCELLED, "time is over") : STATUS_OK;
}

/* How many different triples of all partitions have the value. */
static uint64_t
count_slowly(enum triple_place by, struct slice value)
{
    uint64_t count = 0;
    for (size_t p = 0; p < PARTITIONS_ASKED; p++) {
        for (size_t i = 0; i < TRIPLES_MOST && partitions[p].triples[i][0] != NULL; i++) {
            const char *const *triple = partitions[p].triples[i];
            bool before = false;
            for (size_t q = 0; q < p; q++) {
                for (size_t k = 0; k < TRIPLES_MOST && partitions[q].triples[k][0] != NULL; k++) {
                    const char *const *other = partitions[q].triples[k];
                    before = before ||
                             (strcmp(triple[0], other[0]) == 0 &&
                              strcmp(triple[1], other[1]) == 0 && strcmp(triple[2], other[2]) == 0);
                }
            }
            count += !before && (by == TRIPLE_ALL || slice_is(value, triple[by]));
        }
    }
    return count;
}

/* One query: its first terms are others than those of the query before. */
static enum status
ask(enum triple_place by, size_t others, struct reason *why)
{
    struct federation *federation = federation_new(&client, 1 << 28);
    const struct quad_source *source = federation_source(federation);
    const struct count_request request = {.by = by, .memory = MEMORY, .check = look};
    struct triple_count *counts;
    size_t n;
    oid id;
    for (size_t i = 0; i < others; i++) {
        const char text[] = {'o', (char)('a' + i), '\0'};
        const struct term term = {.kind = TERM_IRI, .value = slice_string(text)};
        assert_int_equal(source->lookup(source->context, &term, &id, why), STATUS_OK);
    }
    memset(asked, 0, sizeof asked);
    looks = 0;
    client_begin(&client, client.partial, 0, NULL);
    const enum status status = source->count_triples(source->context, &request, &counts, &n, why);
    uint64_t sum = 0;
    for (size_t i = 0; status == STATUS_OK && i < n; i++) {
        char text[OID_INLINE_TEXT];
        const struct term term = federation_term(federation, counts[i].value, text);
        assert_int_equal(counts[i].triples, count_slowly(by, term.value));
        sum += counts[i].triples;
    }
    if (status == STATUS_OK) {
        assert_int_equal(sum, count_slowly(TRIPLE_ALL, SLICE("")));
    } else {
        assert_null(counts);
        assert_string_not_equal(why->text, "");
    }
    free(counts);
    federation_free(federation);
    return status;
}

static void
expect(enum triple_place by, size_t others, enum status expected)
{
    struct reason why = {""};
    const enum status status = ask(by, others, &why);
    if (status != expected) {
        fail_msg("%s instead of %s: %s", status_name(status), status_name(expected), why.text);
    }
}

static void
expect_scan(enum triple_place by)
{
    expect(by, 0, STATUS_UNSUPPORTED);
}

/* ---- tests ---- */

static int
set_up(void **state)
{
    /* One triple is in all, one in two, and one is in several graphs. */
    static const char *const triples[PARTITIONS_ASKED][TRIPLES_MOST][PLACES] = {
        {{"a", "p", "x"}, {"b", "p", "x"}, {"c", "q", "y"}, {"d", "q", "z"}},
        {{"a", "p", "x"}, {"c", "p", "y"}, {"c", "q", "y"}, {"e", "r", "x"}, {"f", "r", "y"}},
        {{"a", "p", "x"}, {"g", "q", "z"}, {"h", "p", "w"}}};
    (void)state;
    for (size_t i = 0; i < PARTITIONS_ASKED; i++) {
        memcpy(partitions[i].triples, triples[i], sizeof triples[i]);
        memset(partitions[i].graphs, 0, sizeof partitions[i].graphs);
        partitions[i].version = 1;
    }
    partitions[0].graphs[0] = 5;
    fault.how = HONEST;
    told_begin();
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    assert_int_equal(told_open, 0);
    repeated_cache_free(client.repeated);
    return 0;
}

static void
triples_of_several_partitions_count_once(void **state)
{
    (void)state;
    for (int by = TRIPLE_PREDICATE; by <= TRIPLE_ALL; by++) {
        expect((enum triple_place)by, 0, STATUS_OK);
        assert_int_equal(asked[TRIPLES_FINGERPRINTS], PARTITIONS_ASKED);
        expect((enum triple_place)by, 0, STATUS_OK);
        assert_int_equal(asked[TRIPLES_FINGERPRINTS], 0);
    }
    partitions[1].triples[5][0] = "b";
    partitions[1].triples[5][1] = "p";
    partitions[1].triples[5][2] = "x";
    partitions[1].version++;
    for (int by = TRIPLE_PREDICATE; by <= TRIPLE_ALL; by++) {
        expect((enum triple_place)by, 0, STATUS_OK);
        assert_int_equal(asked[TRIPLES_FINGERPRINTS], PARTITIONS_ASKED);
    }
    expect_scan(TRIPLE_SUBJECT);
}

/* No rows are asked for where no fingerprint is of several partitions, and sessions are ended. */
static void
partitions_with_nothing_in_common_are_asked_once(void **state)
{
    (void)state;
    partitions[0].triples[1][0] = NULL;
    partitions[1].triples[0][0] = NULL;
    partitions[2].triples[0][0] = NULL;
    sessions_ended = 0;
    for (int by = TRIPLE_PREDICATE; by <= TRIPLE_ALL; by++) {
        expect((enum triple_place)by, 0, STATUS_OK);
        assert_int_equal(asked[TRIPLES_ROWS], 0);
    }
    assert_int_equal(asked[TRIPLES_FINGERPRINTS], PARTITIONS_ASKED);
}

/* Identifiers of a query's terms mean nothing to the next one. */
static void
what_is_kept_holds_for_other_queries(void **state)
{
    (void)state;
    for (int by = TRIPLE_PREDICATE; by <= TRIPLE_OBJECT; by++) {
        expect((enum triple_place)by, 3, STATUS_OK);
        for (size_t others = 0; others < 6; others++) {
            expect((enum triple_place)by, others, STATUS_OK);
            assert_int_equal(asked[TRIPLES_FINGERPRINTS], 0);
        }
    }
}

/* What a partition said before it went away is not counted, and others' counts are not kept as if
 * they were its. */
static void
a_partition_that_goes_away_makes_it_a_scan(void **state)
{
    static const uint8_t forms[] = {TRIPLE_PREDICATE, TRIPLES_FINGERPRINTS, TRIPLES_ROWS};
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        for (size_t p = 0; p < PARTITIONS_ASKED; p++) {
            fault.partition = p;
            fault.form = forms[i];
            partitions[0].version++;
            client.partial = INDEX_PARTIAL_ERROR;
            fault.how = BREAKS_OFF;
            expect(TRIPLE_PREDICATE, 0, STATUS_SYSTEM);
            client.partial = INDEX_PARTIAL_WARN;
            expect_scan(TRIPLE_PREDICATE);
            expect_scan(TRIPLE_PREDICATE);
            fault.how = HONEST;
            expect(TRIPLE_PREDICATE, 0, STATUS_OK);
            fault.how = BREAKS_OFF;
            expect(TRIPLE_PREDICATE, 0,
                   forms[i] == TRIPLE_PREDICATE ? STATUS_UNSUPPORTED : STATUS_OK);
            fault.how = HONEST;
        }
    }
}

static void
what_is_wrong_is_no_count(void **state)
{
    static const struct {
        uint8_t form;
        int how;
    } faults[] = {
        {TRIPLE_PREDICATE, ENDS_EARLY},      {TRIPLES_FINGERPRINTS, ENDS_EARLY},
        {TRIPLES_ROWS, ENDS_EARLY},          {TRIPLES_FINGERPRINTS, DESCENDS},
        {TRIPLES_FINGERPRINTS, BIG_NUMBERS}, {TRIPLE_PREDICATE, BIG_COUNTS},
    };
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        partitions[0].version++;
        fault.form = faults[i].form;
        fault.how = faults[i].how;
        for (size_t p = 0; p < PARTITIONS_ASKED; p++) {
            fault.partition = p;
            expect(TRIPLE_PREDICATE, 0, STATUS_PROTOCOL);
        }
        fault.how = HONEST;
        expect(TRIPLE_PREDICATE, 0, STATUS_OK);
    }
    /* Less than what is to be taken off, also when that is known already. */
    for (size_t i = 0; i < PARTITIONS_ASKED; i++) {
        memset(partitions[i].triples[1], 0, (TRIPLES_MOST - 1) * sizeof partitions[i].triples[1]);
        partitions[i].triples[1][0] = "b";
        partitions[i].triples[1][1] = "p";
        partitions[i].triples[1][2] = "x";
    }
    partitions[0].version++;
    fault.form = TRIPLE_PREDICATE;
    fault.partition = PARTITIONS_ASKED;
    fault.how = FEW_COUNTS;
    for (size_t known = 0; known < 2; known++) {
        expect(TRIPLE_PREDICATE, 0, STATUS_PROTOCOL);
        assert_int_equal(asked[TRIPLES_FINGERPRINTS], known ? 0 : PARTITIONS_ASKED);
    }
    fault.how = HONEST;
    expect(TRIPLE_PREDICATE, 0, STATUS_OK);
}

/* A triple of very many graphs of one partition is in no other. */
static void
many_graphs_are_no_many_partitions(void **state)
{
    (void)state;
    piece = 1 << 16;
    partitions[2].triples[1][1] = "s"; /* its fingerprint is shared by no other partition's */
    partitions[2].triples[2][1] = "q";
    partitions[0].triples[2][0] = partitions[1].triples[2][0] = NULL;
    partitions[2].graphs[2] = MANY;
    expect(TRIPLE_ALL, 0, STATUS_OK);
    /* What has no room is not tried again before the next commit. */
    partitions[2].graphs[0] = MANY;
    partitions[2].version++;
    expect(TRIPLE_ALL, 0, STATUS_LIMIT);
    assert_int_equal(asked[TRIPLES_FINGERPRINTS], PARTITIONS_ASKED);
    expect(TRIPLE_ALL, 0, STATUS_LIMIT);
    assert_int_equal(asked[TRIPLES_FINGERPRINTS], 0);
    partitions[2].graphs[0] = 1;
    partitions[2].version++;
    expect(TRIPLE_ALL, 0, STATUS_OK);
}

/* Reading the fingerprints and rows of many candidates, and sorting them twice, asks for the time
 * all along. */
static void
a_count_ends_when_its_time_is_over(void **state)
{
    enum { GRAPHS = 100000, LOOKED_AFTER = 4096, MERGES = 5 };
    const size_t candidates = 2 * GRAPHS + 1, sorting = MERGES * candidates / SORT_STEP;
    (void)state;
    piece = 1 << 20;
    partitions[0].graphs[0] = partitions[1].graphs[0] = GRAPHS;
    expect(TRIPLE_ALL, 0, STATUS_OK);
    const size_t all = looks;
    assert_true(all >= 2 * (candidates / LOOKED_AFTER) + 2 * sorting);
    for (ended_at = 1; ended_at <= all; ended_at += 1 + all / 40) {
        partitions[0].version++; /* what was found is kept */
        expect(TRIPLE_ALL, 0, STATUS_CANCELLED);
        assert_int_equal(looks, ended_at);
    }
    ended_at = 0;
}

/* Values of megabytes are not all kept. */
static void
what_is_kept_is_limited(void **state)
{
    char *values[4];
    (void)state;
    piece = 1 << 20;
    for (size_t i = 0; i < 4; i++) {
        values[i] = memory_alloc(LONG + 1);
        memset(values[i], 'a' + (int)i, LONG);
        values[i][LONG] = '\0';
    }
    for (size_t i = 0; i < 4; i++) {
        partitions[0].triples[0][2] = partitions[1].triples[0][2] = values[i];
        partitions[0].version++;
        expect(TRIPLE_OBJECT, 0, STATUS_OK);
        expect(TRIPLE_OBJECT, 0, STATUS_OK);
        assert_int_equal(asked[TRIPLES_FINGERPRINTS], 0);
    }
    partitions[0].version -= 3; /* the first answer had to go */
    partitions[0].triples[0][2] = partitions[1].triples[0][2] = values[0];
    expect(TRIPLE_OBJECT, 0, STATUS_OK);
    assert_int_equal(asked[TRIPLES_FINGERPRINTS], PARTITIONS_ASKED);
    partitions[0].triples[1][2] = partitions[1].triples[1][2] = values[1];
    partitions[0].triples[1][0] = partitions[1].triples[1][0] = "b";
    partitions[0].version += 4; /* this one is too long by itself */
    for (int i = 0; i < 2; i++) {
        expect(TRIPLE_OBJECT, 0, STATUS_OK);
        assert_int_equal(asked[TRIPLES_FINGERPRINTS], PARTITIONS_ASKED);
    }
    for (size_t i = 0; i < 4; i++) {
        free(values[i]);
    }
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(triples_of_several_partitions_count_once),
        CASE(partitions_with_nothing_in_common_are_asked_once),
        CASE(what_is_kept_holds_for_other_queries),
        CASE(a_partition_that_goes_away_makes_it_a_scan),
        CASE(what_is_wrong_is_no_count),
        CASE(many_graphs_are_no_many_partitions),
        CASE(a_count_ends_when_its_time_is_over),
        CASE(what_is_kept_is_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
