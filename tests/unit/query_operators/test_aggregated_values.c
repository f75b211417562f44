/* Aggregates: what values come to, one by one, many times over, and put together from parts that
 * were written as words. */
#include <string.h>

#include "base/memory.h"
#include "index/query/operators/aggregate.h"
#include "tests/unit/query_operators/operator_stand.h"

enum { CONCAT_MOST = 16 << 20 };

#define XSD "http://www.w3.org/2001/XMLSchema#"

static struct stand stand;

static oid
intern(const struct term *term)
{
    struct reason why = {""};
    oid id;
    assert_int_equal(dictionary_intern(&stand.run.dictionary, term, &id, &why), STATUS_OK);
    return id;
}

/* "i5" is an integer, "d1.5" a decimal, "ft" a string, "<iri" an IRI, "_b" a blank node; "" no
 * value. */
static oid
id_of(const char *text)
{
    const struct slice rest = slice_string(text + 1);
    struct term term = {.kind = TERM_LITERAL, .value = rest};
    switch (text[0]) {
    case '<':
        term = term_iri(rest);
        break;
    case '_':
        term = term_blank(rest);
        break;
    case 'i':
        term.datatype = SLICE(XSD "integer");
        break;
    case 'd':
        term.datatype = SLICE(XSD "decimal");
        break;
    default:
        term.datatype = SLICE(XSD "string");
    }
    return intern(&term);
}

static void
add(const struct aggregate *aggregate, struct accumulator *accumulator, const char *text,
    uint64_t weight)
{
    struct reason why = {""};
    evaluation_next_row(&stand.run.evaluation);
    assert_int_equal(aggregate_add(&stand.run, aggregate, accumulator, id_of(text), weight, &why),
                     STATUS_OK);
}

/* text: of the result; NULL for an error. */
static void
check_result(const struct aggregate *aggregate, const struct accumulator *accumulator,
             const char *text)
{
    struct reason why = {""};
    struct term term = {0};
    evaluation_next_row(&stand.run.evaluation);
    const oid id = aggregate_result(&stand.run, aggregate, accumulator);
    if (id) {
        assert_int_equal(dictionary_term(&stand.run.dictionary, id, &term, &why), STATUS_OK);
    }
    if ((id == OID_NONE) != (text == NULL) || (text && !slice_is(term.value, text))) {
        fail_msg("aggregate %d: '%.*s', and not '%s'", (int)aggregate->kind,
                 SLICE_PRINT(term.value), text ? text : "(error)");
    }
}

static const char *const lists[][6] = {
    {"i5", "i3", "i4", "i3", "i9", "i6"},  {"d1.5", "i2", "d0.25", "i2", "d1.5", "i2"},
    {"fb", "fa", "fdd", "fcc", "f", "fa"}, {"i1", "<urn:x", "i2", "i3", "i4", "i5"},
    {"fx", "_b", "fy", "fz", "fx", "fx"},
};
/* COUNT, SUM, MIN, MAX, AVG, SAMPLE, GROUP_CONCAT. */
static const char *const wanted[][7] = {
    {"6", "30", "3", "9", "5", "5", "5, 3, 4, 3, 9, 6"},
    {"6", "9.25", "0.25", "2", "1.541666666666666666", "1.5", "1.5, 2, 0.25, 2, 1.5, 2"},
    {"6", NULL, "", "dd", NULL, "b", "b, a, dd, cc, , a"},
    {"6", NULL, "urn:x", "5", NULL, "1", "1, urn:x, 2, 3, 4, 5"},
    {"6", NULL, "b", "z", NULL, "x", NULL},
};

/* The values all at once, and in two parts wherever they are cut, are the same. */
static void
parts_come_to_the_whole(void **state)
{
    (void)state;
    stand_open(&stand, "", "SELECT * {}", 2, 0);
    for (size_t list = 0; list < 5; list++) {
        for (int kind = AGGREGATE_COUNT; kind <= AGGREGATE_GROUP_CONCAT; kind++) {
            const struct aggregate aggregate = {.kind = (enum aggregate_kind)kind,
                                                .separator = SLICE(", ")};
            for (size_t cut = 0; cut <= 6; cut++) {
                struct accumulator parts[2] = {{0}}, whole = {0};
                struct reason why = {""};
                for (size_t i = 0; i < 6; i++) {
                    add(&aggregate, &parts[i >= cut], lists[list][i], 1);
                }
                for (int part = 0; part < 2; part++) {
                    const size_t words = aggregate_words(&parts[part]);
                    uint64_t *written = memory_alloc((words + 1) * sizeof *written);
                    written[words] = 77;
                    aggregate_write(&parts[part], written);
                    assert_int_equal(written[words], 77);
                    assert_int_equal(words, (sizeof(struct accumulator) + 7) / 8 +
                                                (parts[part].length + 7) / 8);
                    aggregate_release(&stand.run, &parts[part]);
                    assert_true(parts[part].text == NULL && parts[part].count == 0);
                    assert_int_equal(aggregate_merge(&stand.run, &aggregate, &whole, written, &why),
                                     STATUS_OK);
                    free(written);
                }
                check_result(&aggregate, &whole, wanted[list][kind]);
                const size_t used = stand.run.account.used, held = whole.room;
                aggregate_release(&stand.run, &whole);
                assert_int_equal(used - stand.run.account.used, held);
            }
        }
    }
    stand_close(&stand);
}

/* A value that comes many times, and one that is the sum of many. */
static void
numbers_of_values_count(void **state)
{
    static const struct expression weight = {.kind = EXPRESSION_VARIABLE};
    const struct aggregate count = {.kind = AGGREGATE_COUNT}, sum = {.kind = AGGREGATE_SUM},
                           average = {.kind = AGGREGATE_AVG},
                           parts = {.kind = AGGREGATE_AVG, .weight = &weight},
                           sums = {.kind = AGGREGATE_SUM, .weight = &weight};
    struct accumulator accumulator = {0};
    (void)state;
    stand_open(&stand, "", "SELECT * {}", 2, 0);
    check_result(&count, &accumulator, "0");
    check_result(&sum, &accumulator, "0");
    check_result(&average, &accumulator, "0");
    add(&count, &accumulator, "i7", 5);
    add(&count, &accumulator, "<urn:x", 2);
    check_result(&count, &accumulator, "7");
    accumulator = (struct accumulator){0};
    add(&sum, &accumulator, "i7", 5);
    add(&sum, &accumulator, "i1", 1);
    check_result(&sum, &accumulator, "36");
    assert_int_equal(accumulator.count, 6);
    check_result(&average, &accumulator, "6");
    accumulator = (struct accumulator){0};
    add(&parts, &accumulator, "i20", 8);
    add(&parts, &accumulator, "i10", 4);
    check_result(&parts, &accumulator, "2.5");
    check_result(&sums, &accumulator, "30");
    accumulator = (struct accumulator){0};
    add(&sum, &accumulator, "i0", (uint64_t)INT64_MAX);
    check_result(&sum, &accumulator, "0");
    add(&sum, &accumulator, "i0", (uint64_t)INT64_MAX + 1);
    check_result(&sum, &accumulator, NULL);
    stand_close(&stand);
}

/* An error is an error of the whole, but where values are counted or any of them is taken. */
static void
errors_are_of_the_whole(void **state)
{
    (void)state;
    stand_open(&stand, "", "SELECT * {}", 2, 0);
    for (int kind = AGGREGATE_COUNT; kind <= AGGREGATE_GROUP_CONCAT; kind++) {
        const struct aggregate aggregate = {.kind = (enum aggregate_kind)kind};
        const bool passes = kind == AGGREGATE_COUNT || kind == AGGREGATE_SAMPLE;
        struct accumulator accumulator = {0}, merged = {0};
        uint64_t words[32];
        struct reason why = {""};
        aggregate_error(&aggregate, &accumulator);
        assert_int_equal(accumulator.error, !passes);
        assert_true(aggregate_words(&accumulator) <= 32);
        aggregate_write(&accumulator, words);
        assert_int_equal(aggregate_merge(&stand.run, &aggregate, &merged, words, &why), STATUS_OK);
        assert_int_equal(merged.error, !passes);
        add(&aggregate, &merged, "i5", 1);
        check_result(&aggregate, &merged, kind == AGGREGATE_COUNT ? "1" : passes ? "5" : NULL);
        aggregate_release(&stand.run, &merged);
    }
    stand_close(&stand);
}

/* Texts are joined up to 16 MiB with the byte behind them; twice what is needed is held, and
 * counted. */
static void
joined_texts_take_their_memory(void **state)
{
    const struct aggregate aggregate = {.kind = AGGREGATE_GROUP_CONCAT, .separator = SLICE("--")};
    (void)state;
    for (size_t more = 0; more < 2; more++) {
        struct accumulator accumulator = {0};
        struct reason why = {""};
        stand_open(&stand, "", "SELECT * {}", 2, 0);
        const size_t first = CONCAT_MOST / 2, second = CONCAT_MOST / 2 - 3 + more;
        char *text = memory_alloc(first + 1);
        memset(text, 'a', first);
        const struct term terms[2] = {
            {.kind = TERM_LITERAL, .value = slice_of(text, first), .datatype = SLICE(XSD "string")},
            {.kind = TERM_LITERAL,
             .value = slice_of(text, second),
             .datatype = SLICE(XSD "string")}};
        const oid ids[2] = {intern(&terms[0]), intern(&terms[1])};
        const size_t before = stand.run.account.used;
        assert_int_equal(aggregate_add(&stand.run, &aggregate, &accumulator, ids[0], 1, &why),
                         STATUS_OK);
        assert_int_equal(accumulator.room, 2 * (first + 1));
        assert_int_equal(stand.run.account.used - before, accumulator.room);
        assert_int_equal(aggregate_add(&stand.run, &aggregate, &accumulator, ids[1], 1, &why),
                         more ? STATUS_LIMIT : STATUS_OK);
        if (more) {
            assert_string_equal(why.text, "a GROUP_CONCAT is longer than 16777216 bytes");
        } else {
            assert_int_equal(accumulator.length, CONCAT_MOST - 1);
            assert_memory_equal(accumulator.text + first - 1, "a--a", 4);
            assert_int_equal(stand.run.account.used - before, accumulator.room);
        }
        aggregate_release(&stand.run, &accumulator);
        assert_int_equal(stand.run.account.used, before);
        free(text);
        stand_close(&stand);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_come_to_the_whole),
        cmocka_unit_test(numbers_of_values_count),
        cmocka_unit_test(errors_are_of_the_whole),
        cmocka_unit_test(joined_texts_take_their_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
