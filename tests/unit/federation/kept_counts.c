/* What a client keeps of counts over several partitions
 * (index/client/federation/federation_values_cache.c and federation_repeated_cache.c): the right
 * one comes back, the one that was used least lately goes, and all has its bound. */
#include "tests/unit/federation/kept_counts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "index/client/federation/federation_counts.h"
#include "index/client/federation/federation_values.h"
#include "tests/unit/memory_in_use.h"

enum { MEMBERS = 2, VALUES_KEPT = 64, REPEATED_KEPT = 32, MEBIBYTE = 1 << 20 };

static struct index_client client;

static struct slice
question_of(unsigned number, char text[32])
{
    snprintf(text, 32, "question %u", number);
    return slice_string(text);
}

/* ---- values ---- */

static void
keep_values(unsigned number, size_t count)
{
    char text[32];
    const uint64_t versions[2 * MEMBERS] = {number, 1, number, 2};
    struct value_count *list = memory_zero(count + 1, sizeof *list);
    for (size_t i = 0; i < count; i++) {
        list[i].triples = number + i;
    }
    value_cache_keep(&client, question_of(number, text), versions, list, count, number % 2 == 1);
    free(list);
}

static bool
has_values(unsigned number, size_t count)
{
    char text[32];
    const struct kept_values *kept = value_cache_find(&client, question_of(number, text));
    if (kept == NULL) {
        return false;
    }
    assert_int_equal(kept->count, count);
    assert_int_equal(kept->versions[0], number);
    assert_int_equal(kept->versions[2 * MEMBERS - 1], 2);
    assert_int_equal(kept->too_many, number % 2 == 1);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(kept->list[i].triples, number + i);
    }
    return true;
}

static void
open_client(void)
{
    client = (struct index_client){.count = MEMBERS};
}

static void
values_that_were_asked_for_lately_stay(void **state)
{
    (void)state;
    open_client();
    assert_false(has_values(0, 0)); /* nothing is kept yet */
    for (unsigned i = 0; i < VALUES_KEPT; i++) {
        keep_values(i, i % 3);
    }
    for (unsigned i = 0; i < VALUES_KEPT; i++) {
        assert_true(has_values(i, i % 3));
    }
    assert_true(has_values(0, 0));
    keep_values(100, 5); /* in the place of 1 */
    assert_false(has_values(1, 1));
    assert_true(has_values(0, 0) && has_values(100, 5));
    keep_values(2, 7); /* in its own */
    assert_true(has_values(2, 7));
    for (unsigned i = 3; i < VALUES_KEPT; i++) {
        assert_true(has_values(i, i % 3));
    }
    assert_false(has_values(101, 0));
    value_cache_free(client.values);
    value_cache_free(NULL);
}

static void
values_have_a_bound(void **state)
{
    const size_t of_five = (size_t)5 * MEBIBYTE / sizeof(struct value_count);
    size_t found = 0;
    (void)state;
    open_client();
    for (unsigned i = 0; i < 10; i++) { /* of which six have room */
        keep_values(i, of_five);
    }
    for (unsigned i = 0; i < 10; i++) {
        found += has_values(i, of_five);
    }
    assert_int_equal(found, 6);
    assert_true(has_values(9, of_five));
    assert_false(has_values(3, of_five));
    keep_values(9, 4 * of_five); /* too long: nor is what was known of it true any more */
    assert_false(has_values(9, of_five));
    assert_true(has_values(8, of_five));
    keep_values(10, 3 * of_five);
    assert_true(has_values(10, 3 * of_five));
    assert_true(has_values(8, of_five));
    value_cache_free(client.values);
}

static void
values_are_freed(void **state)
{
    enum { TIMES = 300, COUNT = 1000 };
    (void)state;
    if (!memory_is_counted()) {
        skip();
    }
    open_client();
    const size_t before = memory_in_use();
    for (unsigned i = 0; i < TIMES; i++) {
        keep_values(i % 100, COUNT);
    }
    const size_t most = (VALUES_KEPT + 2) * (COUNT * sizeof(struct value_count) + 512);
    assert_true(memory_in_use() < before + most);
    value_cache_free(client.values);
    assert_true(memory_in_use() < before + MEBIBYTE / 2);
}

/* ---- triples that several partitions have ---- */

static struct federation federation;
static struct counting counting;

static enum status
go_on(const void *context, struct reason *why)
{
    (void)context, (void)why;
    return STATUS_OK;
}

static void
begin_question(unsigned number)
{
    char text[32];
    buf_reset(&counting.question);
    (void)buf_append_slice(&counting.question, question_of(number, text));
    counting.repeated.count = 0;
    counting.too_many = false;
}

/* One named value, one that is none. */
static void
keep_repeated(unsigned number, bool too_many)
{
    char name[32];
    oid id;
    struct reason why;
    begin_question(number);
    snprintf(name, sizeof name, "a:%u", number);
    const struct term term = term_iri(slice_string(name));
    assert_int_equal(federation_id(&federation, &term, &id, &why), STATUS_OK);
    if (!too_many) {
        totals_add(&counting.repeated, id, number);
        totals_add(&counting.repeated, OID_LOCAL, 2 * number);
    }
    counting.too_many = too_many;
    repeated_keep(&counting);
}

/* Whether it is kept, by another federation, which has other numbers for the same terms. */
static bool
has_repeated(unsigned number, bool too_many)
{
    char name[32];
    oid id;
    struct reason why = {""};
    begin_question(number);
    struct repeated_counts *kept = repeated_find(&counting);
    if (kept == NULL) {
        return false;
    }
    assert_int_equal(repeated_recall(&counting, kept, &why), too_many ? STATUS_LIMIT : STATUS_OK);
    assert_int_equal(why.text[0] != '\0', too_many);
    if (!too_many) {
        snprintf(name, sizeof name, "a:%u", number);
        const struct term term = term_iri(slice_string(name));
        assert_int_equal(federation_id(&federation, &term, &id, &why), STATUS_OK);
        assert_int_equal(counting.repeated.count, 2);
        assert_int_equal(counting.repeated.list[0].value, id);
        assert_int_equal(counting.repeated.list[0].triples, number);
        assert_true(counting.repeated.list[1].value == OID_LOCAL);
        assert_int_equal(counting.repeated.list[1].triples, 2 * number);
    }
    return true;
}

static void
open_counting(void)
{
    open_client();
    federation = (struct federation){.client = &client};
    federation_terms_init(&federation.terms, MEMBERS, MEBIBYTE);
    counting = (struct counting){.federation = &federation, .check = {.check = go_on}};
    buf_init(&counting.question, 64);
}

static void
close_counting(void)
{
    repeated_cache_free(client.repeated);
    federation_terms_release(&federation.terms, MEMBERS);
    buf_release(&counting.question);
    free(counting.repeated.list);
}

static void
repeated_triples_that_were_asked_for_lately_stay(void **state)
{
    (void)state;
    open_counting();
    assert_false(has_repeated(1, false));
    for (unsigned i = 1; i <= REPEATED_KEPT; i++) {
        keep_repeated(i, i == 3);
    }
    term_set_reset(&federation.terms.set);
    for (unsigned i = REPEATED_KEPT; i > 0; i--) {
        assert_true(has_repeated(i, i == 3));
    }
    assert_true(has_repeated(REPEATED_KEPT, false));
    keep_repeated(100, false); /* in the place of the one that is only known to be too many */
    assert_false(has_repeated(3, true));
    keep_repeated(101, false); /* in the place of who was asked for first */
    assert_false(has_repeated(REPEATED_KEPT - 1, false));
    assert_true(has_repeated(REPEATED_KEPT, false) && has_repeated(1, false));
    keep_repeated(1, true);
    assert_true(has_repeated(1, true));
    assert_true(has_repeated(2, false));
    close_counting();
    repeated_cache_free(NULL);
}

/* Eight MiB in all, of which one question has at most half. */
static void
repeated_triples_have_a_bound(void **state)
{
    enum { THREE = 3 * MEBIBYTE / sizeof(struct triple_count) };
    size_t found = 0;
    (void)state;
    open_counting();
    for (unsigned i = 1; i <= 4; i++) {
        begin_question(i);
        for (size_t k = 0; k < THREE; k++) {
            totals_add(&counting.repeated, OID_LOCAL + k, 1);
        }
        repeated_keep(&counting);
    }
    for (unsigned i = 1; i <= 4; i++) {
        begin_question(i);
        found += repeated_find(&counting) != NULL;
    }
    assert_int_equal(found, 2);
    begin_question(4);
    assert_non_null(repeated_find(&counting));
    begin_question(5);
    for (size_t k = 0; k < (size_t)THREE * 4 / 3; k++) {
        totals_add(&counting.repeated, OID_LOCAL + k, 1);
    }
    repeated_keep(&counting);
    assert_null(repeated_find(&counting));
    begin_question(4);
    assert_non_null(repeated_find(&counting));
    close_counting();
}

int
kept_counts_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_that_were_asked_for_lately_stay),
        cmocka_unit_test(values_have_a_bound),
        cmocka_unit_test(values_are_freed),
        cmocka_unit_test(repeated_triples_that_were_asked_for_lately_stay),
        cmocka_unit_test(repeated_triples_have_a_bound),
    };
    return cmocka_run_group_tests_name("kept_counts", tests, NULL, NULL);
}
