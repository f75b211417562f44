#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "datasets/dataset_plan.h"

static struct arena arena;
static struct dataset dataset;
static struct dataset_plan plan;
static struct plan_assumptions assumptions;

static int
set_up(void **state)
{
    (void)state;
    arena_init(&arena, 1 << 20);
    dataset = (struct dataset){.triples = 1000000, .documents = 20000};
    plan_assumptions_default(&assumptions);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static struct dataset_access *
add(enum access_kind kind, const char *uri)
{
    struct dataset_access *access = dataset_add_access(&dataset, &arena);
    access->kind = kind;
    access->uri = slice_string(uri);
    return access;
}

static enum plan_way
way(void)
{
    plan_dataset(&dataset, &assumptions, &arena, &plan);
    return plan.way;
}

static void
test_dump_before_all(void **state)
{
    (void)state;
    add(ACCESS_SPARQL, "http://a.example/q");
    add(ACCESS_LINKED_DATA, "http://a.example/r/");
    add(ACCESS_SAMPLE, "http://a.example/r/1");
    struct dataset_access *dump = add(ACCESS_DUMP, "http://a.example/d.nt.gz");
    dump->facts.bytes = 10 << 20;
    assert_int_equal(way(), WAY_DUMP);
    assert_int_equal(plan.costs[WAY_DUMP].requests, 2);
    assert_int_equal(plan.costs[WAY_DUMP].bytes, 10 << 20);
    assert_int_equal(plan.costs[WAY_LINKED_DATA].requests, 20000);
    assert_int_equal(plan.costs[WAY_ENDPOINT].requests, 102);
}

static void
test_broken_and_old_dumps_are_passed_over(void **state)
{
    (void)state;
    add(ACCESS_SPARQL, "http://a.example/q");
    add(ACCESS_LINKED_DATA, "http://a.example/r/");
    struct dataset_access *dump = add(ACCESS_DUMP, "http://a.example/d.nt.gz");
    dump->facts = (struct access_facts){.asked = true, .problem = SLICE("the host answered 404")};
    assert_int_equal(way(), WAY_ENDPOINT);
    assert_non_null(strstr(plan.costs[WAY_DUMP].why.at, "404"));
    dump->facts = (struct access_facts){
        .asked = true, .answered = true, .bytes = 1000, .modified_ms = 1000000000000};
    dataset.modified_ms = 1000000000000 + 9ull * 86400000;
    dataset.change_frequency = SLICE("weekly");
    assert_int_equal(way(), WAY_ENDPOINT);
    assert_non_null(strstr(plan.costs[WAY_DUMP].why.at, "older"));
    dataset.change_frequency = SLICE("monthly");
    assert_int_equal(way(), WAY_DUMP);
}

static void
test_links_when_they_are_all_there_is_or_less(void **state)
{
    (void)state;
    add(ACCESS_LINKED_DATA, "http://a.example/r/");
    add(ACCESS_SAMPLE, "http://a.example/r/1");
    assert_int_equal(way(), WAY_LINKED_DATA);
    struct dataset_access *dump = add(ACCESS_DUMP, "http://a.example/d.nt.gz");
    dump->facts.bytes = 1 << 30;
    dataset.accesses[0].facts.count = 5;
    assert_int_equal(way(), WAY_LINKED_DATA);
    dataset.accesses[0].refused = SLICE("outside");
    assert_int_equal(way(), WAY_DUMP);
}

static void
test_samples_or_nothing(void **state)
{
    (void)state;
    assert_int_equal(way(), WAY_COUNT);
    add(ACCESS_SAMPLE, "http://a.example/r/1");
    assert_int_equal(way(), WAY_SAMPLES);
    dataset.triples = dataset.documents = 0;
    add(ACCESS_SPARQL, "http://a.example/q"); /* it tells how much there is */
    assert_int_equal(way(), WAY_ENDPOINT);
    assert_int_equal(plan.costs[WAY_ENDPOINT].requests,
                     assumptions.dataset_triples / assumptions.page_triples + 2);
}

/* What is not fetched is a part of the dataset: without it the others are not all. */
static void
test_each_dump_must_be_a_file_by_http_or_ftp(void **state)
{
    (void)state;
    add(ACCESS_LINKED_DATA, "http://a.example/r/");
    add(ACCESS_DUMP, "http://a.example/1.nt.gz")->facts.bytes = 10 << 20;
    add(ACCESS_DUMP, "ftp://ftp.a.example/2.nt.gz")->facts.bytes = 10 << 20;
    assert_int_equal(way(), WAY_DUMP);
    assert_int_equal(plan.costs[WAY_DUMP].requests, 2);
    assert_int_equal(plan.costs[WAY_DUMP].bytes, 20 << 20);
    add(ACCESS_DUMP, "sftp://ftp.a.example/3.nt.gz");
    assert_int_equal(way(), WAY_LINKED_DATA);
    assert_string_equal(plan.costs[WAY_DUMP].why.at,
                        "sftp://ftp.a.example/3.nt.gz: SSH is not spoken");
}

static void
test_what_the_operator_prefers(void **state)
{
    (void)state;
    add(ACCESS_DUMP, "http://a.example/d.nt.gz")->facts.bytes = 10 << 20;
    add(ACCESS_LINKED_DATA, "http://a.example/r/");
    plan_prefer(&assumptions, "pages");
    assert_int_equal(way(), WAY_LINKED_DATA);
    plan_prefer(&assumptions, "endpoint"); /* there is none */
    assert_int_equal(way(), WAY_DUMP);
    add(ACCESS_SPARQL, "http://a.example/q");
    assert_int_equal(way(), WAY_ENDPOINT);
    plan_prefer(&assumptions, "cost");
    assert_int_equal(way(), WAY_DUMP);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_dump_before_all, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_broken_and_old_dumps_are_passed_over, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_links_when_they_are_all_there_is_or_less, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_samples_or_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_each_dump_must_be_a_file_by_http_or_ftp, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_what_the_operator_prefers, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
