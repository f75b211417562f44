/* Values counted over several partitions by their digests
 * (index/client/federation/federation_values.c): the numbers are those of the different triples,
 * what is kept holds until a partition commits, and what is wrong is no count. The linker puts the
 * functions below in the place of the streams: each partition is a list of triples. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/client/federation/federation_values.h"
#include "index/protocol/triples_request.h"
#include "tests/unit/federation/kept_counts.h"
#include "tests/unit/federation/told_streams.h"

enum { TRIPLES_MOST = 8, MEMORY = 16 << 20 };

/* ---- partitions of the test ---- */

/* Value and rest of each triple, up to the first without a value. */
static struct {
    uint64_t triples[TRIPLES_MOST][2];
    uint64_t version;
} partitions[PARTITIONS_ASKED];

/* How a partition is false or fails in a form. */
static struct {
    size_t partition;
    uint8_t form;
    enum {
        HONEST,
        BREAKS_OFF,
        ENDS_EARLY,
        UNKNOWN,
        DESCENDS,
        BIG_NUMBERS,
        NO_TRIPLES,
        REPEATS,
        COUNTS_NOTHING,
        COUNTS_TOO_MUCH
    } how;
} fault;
/* Instead of its triples, each of the first two partitions has so many values, or so many triples
 * of those that both have. */
static size_t many_values, many_triples[2];
static unsigned asked[TRIPLES_OF_VALUES + 1]; /* requests of each form */
static size_t told;                           /* values that partitions sent */

static bool
is_false(size_t partition, uint8_t form, int how)
{
    return fault.how == (unsigned)how && fault.form == form && fault.partition == partition;
}

/* Halves are equal among some values, so that both matter. */
static struct term_digest
digest_of(uint64_t number)
{
    return (struct term_digest){number / 4, number % 4 + 1};
}

static void
put_digest(struct buf *out, uint64_t number)
{
    codec_put_u64(out, digest_of(number).high);
    codec_put_u64(out, digest_of(number).low);
}

static void
put_values(size_t partition, struct codec_reader *in, struct buf *out)
{
    enum { VALUES = 32 };
    uint64_t counts[VALUES] = {0};
    uint64_t known[2];
    known[0] = codec_get_u64(in);
    known[1] = codec_get_u64(in);
    codec_put_u8(out,
                 is_false(partition, TRIPLES_VALUES, UNKNOWN) ? TRIPLES_UNKNOWN : TRIPLES_KNOWN);
    codec_put_u64(out, partition + 1);
    codec_put_u64(out, partitions[partition].version);
    if (known[0] == partition + 1 && known[1] == partitions[partition].version) {
        return;
    }
    for (uint64_t i = 0; i < many_values && partition < 2; i++, told++) {
        codec_put_u64(out, i);
        codec_put_u64(out, 1);
        codec_put_varint(out, 1);
    }
    if (many_values > 0) {
        return;
    }
    for (size_t i = 0; i < TRIPLES_MOST && partitions[partition].triples[i][0] > 0; i++) {
        counts[partitions[partition].triples[i][0]]++;
    }
    const bool descends = is_false(partition, TRIPLES_VALUES, DESCENDS);
    for (uint64_t i = 0; i < VALUES; i++) {
        const uint64_t value = descends ? VALUES - 1 - i : i;
        const int times = is_false(partition, TRIPLES_VALUES, REPEATS) ? 2 : 1;
        for (int k = 0; counts[value] > 0 && k < times; k++) {
            put_digest(out, value);
            codec_put_varint(out, is_false(partition, TRIPLES_VALUES, COUNTS_NOTHING) ? 0
                                  : is_false(partition, TRIPLES_VALUES, COUNTS_TOO_MUCH)
                                      ? UINT64_MAX
                                      : counts[value]);
            told++;
        }
    }
}

/* A triple comes twice, as one of two graphs may. */
static void
put_triples(size_t partition, struct codec_reader *in, struct buf *out)
{
    const uint64_t count = codec_get_varint(in);
    const bool big = is_false(partition, TRIPLES_OF_VALUES, BIG_NUMBERS);
    codec_put_u8(out, TRIPLES_KNOWN);
    for (uint64_t n = 0; partition < 2 && n < many_triples[partition]; n++) {
        codec_put_varint(out, 0);
        codec_put_u64(out, n);
        codec_put_u64(out, n);
    }
    for (uint64_t n = 0; n < count; n++) {
        struct term_digest wanted;
        wanted.high = codec_get_u64(in);
        wanted.low = codec_get_u64(in);
        for (size_t i = 0; i < TRIPLES_MOST && partitions[partition].triples[i][0] > 0; i++) {
            const struct term_digest value = digest_of(partitions[partition].triples[i][0]);
            const bool has = term_digest_compare(&value, &wanted) == 0 && fault.how != NO_TRIPLES;
            for (int times = 0; has && times < 2; times++) {
                codec_put_varint(out, n + (big ? count : 0));
                put_digest(out, partitions[partition].triples[i][1]);
            }
        }
    }
}

enum status
told_answer(size_t partition, uint8_t kind, struct codec_reader *in, struct buf *out)
{
    struct term term;
    assert_int_equal(kind, INDEX_STREAM_TRIPLES);
    const uint8_t form = codec_get_u8(in);
    assert_in_range(form, TRIPLES_VALUES, TRIPLES_OF_VALUES);
    for (int i = 0; i < 3; i++) {
        assert_true(index_get_term(in, &term));
    }
    assert_int_equal(codec_get_u8(in), TRIPLE_SUBJECT);
    asked[form]++;
    if (form == TRIPLES_VALUES) {
        put_values(partition, in, out);
    } else {
        put_triples(partition, in, out);
    }
    if (is_false(partition, form, BREAKS_OFF) || is_false(partition, form, ENDS_EARLY)) {
        out->length -= 3;
        return is_false(partition, form, BREAKS_OFF) ? STATUS_SYSTEM : STATUS_OK;
    }
    return STATUS_OK;
}

/* ---- counting ---- */

static bool cancelled;
static size_t memory, looks, ended_at; /* ended_at: by the look of this number; 0: by none */
static size_t given;                   /* values that were counted */

static enum status
look(const void *context, struct reason *why)
{
    (void)context;
    return cancelled || ++looks == ended_at ? status_fail(why, STATUS_CANCELLED, "time is over")
                                            : STATUS_OK;
}

/* How many different triples of all partitions have the value. */
static uint64_t
count_slowly(uint64_t value)
{
    uint64_t rests[PARTITIONS_ASKED * TRIPLES_MOST], count = 0;
    for (size_t p = 0; p < PARTITIONS_ASKED; p++) {
        for (size_t i = 0; i < TRIPLES_MOST && partitions[p].triples[i][0] > 0; i++) {
            bool before = partitions[p].triples[i][0] != value;
            for (uint64_t k = 0; k < count; k++) {
                before = before || rests[k] == partitions[p].triples[i][1];
            }
            rests[count] = partitions[p].triples[i][1];
            count += !before;
        }
    }
    return count;
}

static enum status
ask(bool bound, bool different, struct reason *why)
{
    struct federation *federation = federation_new(&client, 1 << 28);
    const struct quad_source *source = federation_source(federation);
    struct count_request request = {.by = TRIPLE_SUBJECT, .memory = memory, .check = look};
    struct value_count *counts;
    const struct term term = term_iri(SLICE("urn:p"));
    size_t n, at = 0;
    assert_int_equal(source->lookup(source->context, &term, &request.pattern.predicate, why),
                     STATUS_OK);
    if (bound) {
        request.pattern.object = request.pattern.predicate;
    }
    memset(asked, 0, sizeof asked);
    told = looks = 0;
    client_begin(&client, client.partial, 0, NULL);
    const enum status status =
        source->count_values(source->context, &request, different, &counts, &n, why);
    given = n;
    for (uint64_t value = 1; value < 32 && status == STATUS_OK && many_values == 0; value++) {
        const struct term_digest digest = digest_of(value);
        const uint64_t expected = count_slowly(value);
        if (expected > 0) {
            assert_true(at < n && term_digest_compare(&counts[at].value, &digest) == 0);
            assert_true(different ? counts[at].triples > 0
                                  : counts[at].triples == (bound ? 1 : expected));
            at++;
        }
    }
    at = many_values > 0 ? n : at;
    assert_true(status == STATUS_OK ? at == n : counts == NULL && why->text[0] != '\0');
    free(counts);
    federation_free(federation);
    return status;
}

static void
expect(bool different, enum status expected)
{
    struct reason why = {""};
    const enum status status = ask(false, different, &why);
    if (status != expected) {
        fail_msg("%s instead of %s: %s", status_name(status), status_name(expected), why.text);
    }
}

/* ---- tests ---- */

static int
set_up(void **state)
{
    /* One triple is in all, one in two; values 3 and 9 have others in each, 8 in one alone. */
    static const uint64_t triples[PARTITIONS_ASKED][TRIPLES_MOST][2] = {
        {{1, 1}, {3, 1}, {3, 2}, {8, 5}, {9, 1}},
        {{1, 1}, {3, 2}, {3, 3}, {3, 7}, {10, 2}, {9, 2}},
        {{1, 1}, {9, 3}, {11, 4}}};
    (void)state;
    for (size_t i = 0; i < PARTITIONS_ASKED; i++) {
        memcpy(partitions[i].triples, triples[i], sizeof triples[i]);
        partitions[i].version = 1;
    }
    fault.how = HONEST;
    cancelled = false;
    memory = MEMORY;
    ended_at = many_values = many_triples[0] = many_triples[1] = 0;
    told_begin();
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    value_cache_free(client.values);
    return 0;
}

static void
triples_of_several_partitions_count_once(void **state)
{
    (void)state;
    struct reason why = {""};
    expect(false, STATUS_OK);
    assert_int_equal(asked[TRIPLES_OF_VALUES], PARTITIONS_ASKED);
    /* Which values there are needs no triples, nor where a triple is nothing but its value. */
    expect(true, STATUS_OK);
    assert_int_equal(asked[TRIPLES_OF_VALUES], 0);
    for (size_t i = 0; i < PARTITIONS_ASKED; i++) {
        for (size_t k = 0; k < TRIPLES_MOST; k++) {
            for (size_t other = 0; other < k; other++) {
                if (partitions[i].triples[k][0] == partitions[i].triples[other][0]) {
                    partitions[i].triples[k][0] = 0;
                }
            }
        }
    }
    assert_int_equal(ask(true, false, &why), STATUS_OK);
    assert_int_equal(asked[TRIPLES_OF_VALUES], 0);
}

static void
what_is_kept_holds_until_a_commit(void **state)
{
    (void)state;
    expect(false, STATUS_OK);
    assert_true(told > 0);
    for (int times = 0; times < 3; times++) {
        expect(false, STATUS_OK);
        assert_int_equal(told, 0);
        assert_int_equal(asked[TRIPLES_VALUES], PARTITIONS_ASKED);
        assert_int_equal(asked[TRIPLES_OF_VALUES], 0);
    }
    /* Those that have not committed are asked once more. */
    partitions[1].triples[4][0] = 9;
    partitions[1].version++;
    expect(false, STATUS_OK);
    assert_int_equal(asked[TRIPLES_VALUES], 2 * PARTITIONS_ASKED - 1);
    expect(false, STATUS_OK);
    assert_int_equal(told, 0);
    for (size_t i = 0; i < PARTITIONS_ASKED; i++) {
        partitions[i].version++;
    }
    expect(false, STATUS_OK);
    assert_int_equal(asked[TRIPLES_VALUES], PARTITIONS_ASKED);
}

static void
a_partition_that_goes_away_is_told(void **state)
{
    static const uint8_t forms[] = {TRIPLES_VALUES, TRIPLES_OF_VALUES};
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        for (size_t p = 0; p < PARTITIONS_ASKED; p++) {
            fault.partition = p;
            fault.form = forms[i];
            partitions[0].version++;
            fault.how = BREAKS_OFF;
            client.partial = INDEX_PARTIAL_ERROR;
            expect(false, STATUS_SYSTEM);
            client.partial = INDEX_PARTIAL_WARN;
            expect(false, STATUS_UNSUPPORTED);
            fault.how = HONEST;
            expect(false, STATUS_OK);
        }
    }
}

static void
what_is_wrong_is_no_count(void **state)
{
    static const struct {
        uint8_t form;
        int how;
        enum status expected;
    } faults[] = {
        {TRIPLES_VALUES, ENDS_EARLY, STATUS_PROTOCOL},
        {TRIPLES_VALUES, DESCENDS, STATUS_PROTOCOL},
        {TRIPLES_VALUES, UNKNOWN, STATUS_UNSUPPORTED},
        {TRIPLES_VALUES, REPEATS, STATUS_PROTOCOL},
        {TRIPLES_VALUES, COUNTS_NOTHING, STATUS_PROTOCOL},
        {TRIPLES_VALUES, COUNTS_TOO_MUCH, STATUS_PROTOCOL},
        {TRIPLES_OF_VALUES, ENDS_EARLY, STATUS_PROTOCOL},
        {TRIPLES_OF_VALUES, BIG_NUMBERS, STATUS_PROTOCOL},
        {TRIPLES_OF_VALUES, NO_TRIPLES, STATUS_PROTOCOL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        for (size_t p = 0; p < PARTITIONS_ASKED; p++) {
            partitions[0].version++;
            fault.form = faults[i].form;
            fault.how = faults[i].how;
            fault.partition = p;
            expect(false, faults[i].expected);
            fault.how = HONEST;
            expect(false, STATUS_OK);
        }
    }
}

static void
it_ends_in_time_and_in_its_memory(void **state)
{
    (void)state;
    memory = 64;
    expect(false, STATUS_LIMIT);
    memory = MEMORY;
    expect(false, STATUS_OK);
    partitions[0].version++;
    cancelled = true;
    expect(false, STATUS_CANCELLED);
    cancelled = false;
    expect(false, STATUS_OK);
}

/* Only the values' own numbers decide: a partition may have so many, and all together. */
static void
values_have_a_part_of_the_memory(void **state)
{
    enum { VALUE = sizeof(struct value_count) };
    static const uint64_t several[PARTITIONS_ASKED][TRIPLES_MOST][2] = {
        {{1, 1}, {2, 1}, {3, 1}}, {{4, 1}, {5, 1}, {6, 1}}, {{7, 1}}};
    (void)state;
    for (size_t i = 0; i < PARTITIONS_ASKED; i++) {
        memcpy(partitions[i].triples, several[i], sizeof several[i]);
    }
    memory = 4 * 3 * VALUE - 1; /* three of one partition are too many */
    expect(false, STATUS_LIMIT);
    memory++;
    partitions[2].triples[0][0] = 6; /* six values in all, as many as may be */
    partitions[2].version++;
    expect(false, STATUS_OK);
    assert_int_equal(given, 6);
    expect(false, STATUS_OK); /* from what is kept */
    assert_int_equal(told, 0);
    partitions[2].triples[0][0] = 7;
    partitions[2].version++;
    expect(false, STATUS_LIMIT);
    expect(false, STATUS_LIMIT); /* from what is kept */
    assert_int_equal(told, 0);
    memory = MEMORY;
    expect(false, STATUS_OK);
    assert_int_equal(told, 0);
}

/* The cache of values also keeps the answer that there are too many of them. */
static void
too_many_values_or_triples_are_not_counted(void **state)
{
    enum { VALUES = 1 << 18, TRIPLES = 1 << 21 };
    (void)state;
    piece = 1 << 20;
    memory = 256 << 20;
    many_values = VALUES + 1;
    for (int times = 0; times < 3; times++) {
        expect(false, STATUS_LIMIT);
        assert_int_equal(told, times == 0 ? 2 * many_values : 0);
        assert_int_equal(asked[TRIPLES_OF_VALUES], 0);
    }
    many_values = 1;
    many_triples[0] = TRIPLES / 2;
    many_triples[1] = TRIPLES / 2 + 1;
    partitions[0].version++;
    for (int times = 0; times < 2; times++) {
        expect(false, STATUS_LIMIT);
        assert_int_equal(asked[TRIPLES_OF_VALUES], times == 0 ? PARTITIONS_ASKED : 0);
    }
}

/* It is asked before values are merged, and after each few thousand. */
static void
it_is_asked_now_and_then_whether_to_go_on(void **state)
{
    enum { CHECKED = 4096 };
    (void)state;
    piece = 1 << 20;
    many_values = 2 * CHECKED;
    expect(true, STATUS_OK);
    assert_int_equal(looks, 3);
    for (ended_at = 1; ended_at <= 3; ended_at++) {
        partitions[0].version++;
        expect(true, STATUS_CANCELLED);
    }
    many_values--;
    expect(true, STATUS_OK);
    assert_int_equal(looks, 2);
    client.partitions[2].missing = true;
    struct federation *federation = federation_new(&client, 1 << 20);
    const struct quad_source *source = federation_source(federation);
    const struct count_request request = {.by = TRIPLE_SUBJECT, .memory = memory, .check = look};
    struct value_count *counts;
    struct reason why = {""};
    size_t n;
    assert_int_equal(source->count_values(source->context, &request, false, &counts, &n, &why),
                     STATUS_UNSUPPORTED);
    assert_string_equal(why.text, "a partition is missing");
    assert_null(counts);
    federation_free(federation);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(triples_of_several_partitions_count_once, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_is_kept_holds_until_a_commit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_partition_that_goes_away_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_wrong_is_no_count, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_ends_in_time_and_in_its_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(values_have_a_part_of_the_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(too_many_values_or_triples_are_not_counted, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(it_is_asked_now_and_then_whether_to_go_on, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) + kept_counts_run();
}
