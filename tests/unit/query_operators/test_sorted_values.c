/* Values of every kind in ORDER BY (index/query/operators/order_by.c), in memory and in files,
 * ascending and descending, all and the first ones; and what it takes to compare them. */
#include <string.h>

#include "rdf/nquads/nquads.h"
#include "tests/unit/query_operators/operator_stand.h"

enum { WIDTH = 3, VALUE = 1, MOST = 40, EQUALS = 3 };

/* ---- how often terms are read as values ---- */

static unsigned values_read;

void __real_value_of_term(const struct term *term, struct value *value);
void __wrap_value_of_term(const struct term *term, struct value *value);
void
__wrap_value_of_term(const struct term *term, struct value *value)
{
    values_read++;
    __real_value_of_term(term, value);
}

/* ---- lists in their order ---- */

#define TYPE "^^<http://www.w3.org/2001/XMLSchema#"
#define INTEGER(text) "\"" text "\"" TYPE "integer>"
#define DOUBLE(text) "\"" text "\"" TYPE "double>"
#define FLOAT(text) "\"" text "\"" TYPE "float>"
#define MOMENT(text) "\"" text "\"" TYPE "dateTime>"
#define DATE(text) "\"" text "\"" TYPE "date>"

static const struct list {
    const char *terms[MOST]; /* of N-Quads; "": unbound */
    bool decided;            /* kind, number and text tell them apart */
} lists[] = {
    {{"", "_:a", "_:b", "<e:a>", "<e:aa>", "<e:b>", "\"a\""}, true},
    {{"\"\"", "\"A\"", "\"B\"", "\"a\"", "\"aa\"", "\"ab\"", "\"b\"", "\"\xC3\xA9\""}, true},
    {{DOUBLE("-INF"), INTEGER("-7"), FLOAT("-1.25"), INTEGER("-1"), DOUBLE("0"), DOUBLE("0.2"),
      INTEGER("1"), DOUBLE("1.5"), FLOAT("1.75"), INTEGER("2"), INTEGER("9007199254740992"),
      DOUBLE("1e300"), DOUBLE("INF")},
     true},
    {{FLOAT("-INF"), INTEGER("1"), FLOAT("2"), DOUBLE("INF")}, true},
    /* Numbers of which a double does not tell the difference. */
    {{INTEGER("-9007199254740993"), INTEGER("-9007199254740992"), INTEGER("9007199254740992"),
      INTEGER("9007199254740993"), INTEGER("9007199254740994")},
     false},
    {{MOMENT("-0500-01-01T00:00:00Z"), MOMENT("1999-12-31T22:00:00-01:00"),
      MOMENT("1999-12-31T23:00:01Z"), MOMENT("2000-01-01T01:00:02+02:00"),
      MOMENT("2000-01-01T00:00:00Z"), MOMENT("2000-01-01T00:00:00.1Z"),
      MOMENT("2000-01-01T00:00:01Z"), MOMENT("12000-01-01T00:00:00Z")},
     true},
    {{MOMENT("2000-01-01T00:00:00Z"), MOMENT("2000-01-01T00:00:00.0005Z"),
      MOMENT("2000-01-01T00:00:00.001Z"), MOMENT("2000-01-01T00:00:00.0011Z"),
      MOMENT("2000-01-01T00:00:00.003Z")},
     false},
    {{DATE("1999-12-31Z"), DATE("2000-01-01Z"), DATE("2000-01-02Z"), DATE("2001-01-01Z")}, true},
    /* Without a zone there are no seconds to compare. */
    {{MOMENT("1999-12-31T00:00:00"), MOMENT("2000-01-01T00:00:00"), MOMENT("2000-01-01T00:00:01"),
      MOMENT("2001-01-01T00:00:00")},
     false},
    {{DATE("1999-12-31"), DATE("2000-01-01"), DATE("2000-01-02")}, false},
    {{"\"false\"" TYPE "boolean>", "\"true\"" TYPE "boolean>"}, false},
    {{"\"a\"@de", "\"a\"@en", "\"b\"@de"}, false},
    {{"\"a\"^^<e:s>", "\"a\"^^<e:t>", "\"b\"^^<e:s>"}, false},
};

struct parsed {
    struct stand *stand;
    oid id;
};

static enum status
take_object(void *context, const struct quad *quad, struct reason *why)
{
    struct parsed *parsed = context;
    return dictionary_intern(&parsed->stand->run.dictionary, &quad->object, &parsed->id, why);
}

static oid
id_of(struct stand *stand, const char *term)
{
    struct parsed parsed = {.stand = stand};
    struct reason why = {""};
    char line[256];
    const struct quad_sink sink = {take_object, &parsed};
    if (term[0] == '\0') {
        return OID_NONE;
    }
    snprintf(line, sizeof line, "<e:s> <e:p> %s .\n", term);
    if (nquads_parse(slice_string(line), NULL, &sink, &why) != STATUS_OK) {
        fail_msg("%s: %s", term, why.text);
    }
    return parsed.id;
}

static const struct expression by_value = {.kind = EXPRESSION_VARIABLE, .number = VALUE};

static size_t
list_length(const struct list *list)
{
    size_t count = 0;
    while (count < MOST && list->terms[count]) {
        count++;
    }
    return count;
}

/* Each value in several rows, in an order that has to do with nothing. */
static void
give_list(struct stand *stand, const struct list *list, unsigned order, struct given *input)
{
    const size_t count = list_length(list), rows = count * EQUALS;
    oid ids[MOST];
    for (size_t i = 0; i < count; i++) {
        ids[i] = id_of(stand, list->terms[i]);
    }
    /* Primes that are larger than the number of rows visit each of them. */
    static const size_t steps[] = {1, 127, 131, 137, 139};
    for (size_t i = 0; i < rows; i++) {
        GIVE(input, i + 1, ids[(order + i * steps[order % 5]) % rows % count]);
    }
}

static void
check_sorted(const struct given *input, const struct given *found, const struct list *list,
             struct stand *stand, bool descending, size_t most)
{
    struct given wanted;
    const size_t count = list_length(list);
    given_init(&wanted, WIDTH);
    for (size_t i = 0; i < count; i++) {
        const oid id = id_of(stand, list->terms[descending ? count - 1 - i : i]);
        /* Those that are equal stay in their order. */
        for (size_t k = 0; k < input->count && wanted.count < most; k++) {
            if (given_row(input, k)[VALUE] == id) {
                GIVE(&wanted, given_row(input, k)[0], id);
            }
        }
    }
    assert_same_rows(found, &wanted, list->terms[count - 1]);
    given_release(&wanted);
}

static void
values_of_every_kind_are_sorted(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        for (unsigned order = 0; order < 5; order++) {
            for (unsigned descending = 0; descending < 2; descending++) {
                for (size_t most = 1; most <= MOST * EQUALS; most *= 5) {
                    struct stand stand;
                    struct given input, found;
                    stand_open(&stand, "", "SELECT * {}", WIDTH, 0);
                    given_init(&input, WIDTH);
                    given_init(&found, WIDTH);
                    give_list(&stand, &lists[i], order, &input);
                    const struct order_key key = {&by_value, descending};
                    const uint64_t wanted = most > 100 ? UINT64_MAX : most;
                    struct operator* operator=
                        order_new(&stand.run, give_rows(&stand, &input, 4), &key, 1, wanted, 6);
                    for (unsigned again = 0; again < 2; again++) {
                        values_read = 0;
                        take_rows(&stand, operator, & found);
                        /* A record has what it takes to compare it. */
                        if (lists[i].decided && values_read > input.count) {
                            fail_msg("%s: %u values read", lists[i].terms[1], values_read);
                        }
                        check_sorted(&input, &found, &lists[i], &stand, descending, wanted);
                        given_release(&found);
                        operator_reset(operator);
                    }
                    given_release(&input);
                    stand_close(&stand);
                }
            }
        }
    }
}

/* ---- a source whose identifiers tell the order of values ---- */

/* Identifiers of integers from 1000 on ascend with these but for neighbours: ten stand for one
 * tenth each. Those of texts from 3000 on tell nothing. */
enum { INTEGERS = 1000, TEXTS = 3000 };
static unsigned resolved, orders_told;

static bool
told_before(oid a, oid b)
{
    orders_told++;
    return a < TEXTS && b < TEXTS && a / 10 < b / 10;
}

static bool
told_span(oid id, struct oid_span *span)
{
    *span = (struct oid_span){INTEGERS, id, id, TEXTS - 1};
    return id < TEXTS;
}

static enum status
told_term(void *context, oid id, struct arena *arena, struct term *term, struct reason *why)
{
    char text[32];
    (void)context;
    (void)why;
    resolved++;
    if (id < TEXTS) {
        snprintf(text, sizeof text, "%llu.%llu", (unsigned long long)(id - INTEGERS) / 10,
                 (unsigned long long)id % 10);
    } else {
        snprintf(text, sizeof text, "text %llu", (unsigned long long)id);
    }
    *term = term_literal(arena_copy(arena, slice_string(text)));
    if (id < TEXTS) {
        term->datatype = SLICE("http://www.w3.org/2001/XMLSchema#decimal");
    }
    return STATUS_OK;
}

static void
open_told(struct stand *stand, struct given *input, struct given *found)
{
    stand_open(stand, "", "SELECT * {}", WIDTH, 0);
    stand->source.before = told_before;
    stand->source.span = told_span;
    stand->source.resolve = told_term;
    given_init(input, WIDTH);
    given_init(found, WIDTH);
    resolved = orders_told = 0;
}

/* Identifiers alone decide where they tell the order; only neighbours are looked at, and values of
 * other types, which are after all numbers. */
static void
identifiers_tell_the_order(void **state)
{
    enum { ROWS = 60 };
    (void)state;
    for (unsigned texts = 0; texts < 2; texts++) {
        for (oid near = 1; near <= 10; near += 9) {
            for (unsigned descending = 0; descending < 2; descending++) {
                for (size_t most = 1; most <= 2 * ROWS; most += ROWS / 2 + 7) {
                    struct stand stand;
                    struct given input, found;
                    open_told(&stand, &input, &found);
                    for (size_t i = 0; i < ROWS; i++) {
                        const size_t number = i * 7 % ROWS;
                        GIVE(&input, number + 1,
                             texts && number > ROWS / 2 ? TEXTS + number
                                                        : INTEGERS + near * number);
                    }
                    const struct order_key key = {&by_value, descending};
                    struct operator* operator=
                        order_new(&stand.run, give_rows(&stand, &input, 4), &key, 1, most, 6);
                    take_rows(&stand, operator, & found);
                    assert_int_equal(found.count, most < ROWS ? most : ROWS);
                    for (size_t i = 0; i < found.count; i++) {
                        assert_int_equal(given_row(&found, i)[0], descending ? ROWS - i : i + 1);
                    }
                    assert_true(orders_told > 0);
                    if (near == 10 && !texts) {
                        assert_int_equal(resolved, 0);
                    } else if (near == 10) {
                        /* Each text once, and the numbers that meet one. */
                        assert_in_range(resolved, 1, ROWS);
                    }
                    given_release(&input);
                    given_release(&found);
                    stand_close(&stand);
                }
            }
        }
    }
}

/* Rows behind those wanted are not looked at further where their identifier says so, or is that of
 * one that was behind just before. */
static void
rows_behind_are_dropped(void **state)
{
    enum { ROWS = 20000 };
    (void)state;
    for (unsigned texts = 0; texts < 2; texts++) {
        for (unsigned descending = 0; descending < 2; descending++) {
            struct stand stand;
            struct given input, found;
            const oid first = texts ? TEXTS : INTEGERS;
            const oid wanted = first + 50, behind = descending ? first + 10 : first + 90;
            open_told(&stand, &input, &found);
            for (oid i = 0; i < ROWS; i++) {
                GIVE(&input, i + 1, i < 3 || i == ROWS - 50 ? wanted : behind + (i > ROWS / 2));
            }
            const struct order_key key = {&by_value, descending};
            struct operator* operator=
                order_new(&stand.run, give_rows(&stand, &input, 200), &key, 1, 3, 10);
            values_read = 0;
            take_rows(&stand, operator, & found);
            assert_int_equal(found.count, 3);
            for (size_t i = 0; i < 3; i++) {
                assert_int_equal(given_row(&found, i)[0], i + 1);
            }
            /* Few are looked at: until it is known which is the last one wanted, and when another
             * identifier comes. */
            if (values_read > ROWS / 10) {
                fail_msg("texts %u, descending %u: %u values read", texts, descending, values_read);
            }
            given_release(&input);
            given_release(&found);
            stand_close(&stand);
        }
    }
}

/* The second key decides where the first does not, each in its direction. */
static void
further_keys_decide(void **state)
{
    static const struct expression first = {.kind = EXPRESSION_VARIABLE, .number = 2};
    (void)state;
    for (unsigned directions = 0; directions < 4; directions++) {
        struct stand stand;
        struct given input, found, wanted;
        stand_open(&stand, "", "SELECT * {}", WIDTH, 0);
        given_init(&input, WIDTH);
        given_init(&found, WIDTH);
        given_init(&wanted, WIDTH);
        oid ids[5];
        for (size_t i = 0; i < 5; i++) {
            char term[80];
            snprintf(term, sizeof term, INTEGER("%zu"), i);
            ids[i] = id_of(&stand, term);
        }
        for (size_t i = 0; i < 25; i++) {
            const size_t at = i * 7 % 25;
            GIVE(&input, i + 1, ids[at % 5], ids[at / 5]);
        }
        for (size_t a = 0; a < 5; a++) {
            for (size_t b = 0; b < 5; b++) {
                const oid one = ids[directions & 1 ? 4 - a : a];
                const oid two = ids[directions & 2 ? 4 - b : b];
                for (size_t i = 0; i < input.count; i++) {
                    const oid *row = given_row(&input, i);
                    if (row[2] == one && row[VALUE] == two) {
                        given_add(&wanted, row, WIDTH);
                    }
                }
            }
        }
        const struct order_key keys[] = {{&first, directions & 1}, {&by_value, directions & 2}};
        struct operator* operator=
            order_new(&stand.run, give_rows(&stand, &input, 25), keys, 2, UINT64_MAX, 25);
        take_rows(&stand, operator, & found);
        assert_same_rows(&found, &wanted, "two keys");
        given_release(&input);
        given_release(&found);
        given_release(&wanted);
        stand_close(&stand);
    }
}

/* Records of any length, in files as well; each is taken back whole. */
static void
long_texts_are_sorted_in_files(void **state)
{
    enum { ROWS = 6000, MEMORY = 768 << 10 };
    struct stand stand;
    struct given input, found;
    (void)state;
    stand_open(&stand, "", "SELECT * {}", WIDTH, MEMORY);
    given_init(&input, WIDTH);
    given_init(&found, WIDTH);
    for (size_t i = 0; i < ROWS; i++) {
        struct reason why = {""};
        char text[64];
        const size_t number = i * 7919 % ROWS;
        snprintf(text, sizeof text, "%06zu%.*s", number, (int)(number % 50),
                 "..................................................");
        const struct term term = term_literal(slice_string(text));
        oid id;
        assert_int_equal(dictionary_intern(&stand.run.dictionary, &term, &id, &why), STATUS_OK);
        GIVE(&input, number + 1, id);
    }
    const struct order_key key = {&by_value, false};
    struct operator* operator=
        order_new(&stand.run, give_rows(&stand, &input, 256), &key, 1, UINT64_MAX, 256);
    take_rows(&stand, operator, & found);
    assert_true(stand.run.spill.highest > 0);
    assert_int_equal(found.count, ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        assert_int_equal(given_row(&found, i)[0], i + 1);
    }
    given_release(&input);
    given_release(&found);
    stand_close(&stand);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_every_kind_are_sorted),
        cmocka_unit_test(identifiers_tell_the_order),
        cmocka_unit_test(rows_behind_are_dropped),
        cmocka_unit_test(further_keys_decide),
        cmocka_unit_test(long_texts_are_sorted_in_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
