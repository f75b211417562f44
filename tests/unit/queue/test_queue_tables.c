/* These tests are of what the broker keeps in memory of hosts in trouble and of leases: the rules
 * at each of their bounds, and the tables beside plain arrays that do the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "queue/frontier/leases.h"
#include "queue/politeness/host_troubles.h"

static const struct trouble_rules rules = {
    .failures = 3,
    .patience_ms = 1000,
    .probe_ms = 5000,
    .probe_most_ms = 30000,
    .outage_hosts = 3,
    .outage_patience_ms = 2000,
};

enum { BEGIN_MS = 1000000 };

/* ---- what a failure makes of a host ---- */

/* The last of so many failures at one moment but for the last, which comes so much later. */
static struct trouble
failed(struct trouble_failure failure, uint32_t times, uint64_t later_ms)
{
    struct trouble trouble = {.lane = 1};
    for (uint32_t i = 0; i < times; i++) {
        failure.now_ms = BEGIN_MS + (i + 1 == times ? later_ms : 0);
        trouble_fail(&trouble, &rules, &failure);
    }
    assert_int_equal(trouble.failures, times);
    assert_int_equal(trouble.since_ms, BEGIN_MS);
    assert_int_equal(trouble.last_ms, BEGIN_MS + later_ms);
    return trouble;
}

static void
test_both_number_and_time_must_be_reached(void **state)
{
    static const struct {
        bool answered_before;
        uint32_t times;
        uint64_t later_ms;
        bool aside;
    } cases[] = {
        {false, 2, 5000, false}, {false, 3, 0, true},   {true, 2, 5000, false},
        {true, 3, 999, false},   {true, 3, 1000, true}, {true, 4, 1001, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct trouble_failure failure = {.answered_before = cases[i].answered_before};
        const struct trouble trouble = failed(failure, cases[i].times, cases[i].later_ms);
        const uint64_t last_ms = BEGIN_MS + cases[i].later_ms;
        assert_int_equal(trouble.flags, cases[i].aside ? TROUBLE_ASIDE : 0);
        assert_int_equal(trouble.aside_ms, cases[i].aside ? last_ms : 0);
        assert_int_equal(trouble.next_ms, cases[i].aside ? last_ms + rules.probe_ms : last_ms);
        assert_int_equal(trouble.probes, 0);
    }
}

static void
test_silence_is_doubted_until_patience_ends(void **state)
{
    static const struct {
        bool silent;
        uint64_t network_ms, later_ms;
        uint32_t silent_hosts;
        uint8_t flags;
    } cases[] = {
        {true, BEGIN_MS - 1, 1999, 2, TROUBLE_SILENT | TROUBLE_DOUBTED},
        {true, 1, 0, 2, TROUBLE_SILENT | TROUBLE_DOUBTED},
        {true, BEGIN_MS - 1, 0, 3, TROUBLE_SILENT | TROUBLE_DOUBTED},
        {true, BEGIN_MS - 1, 2000, 2, TROUBLE_SILENT | TROUBLE_ASIDE},
        {true, BEGIN_MS - 1, 1999, 1, TROUBLE_SILENT | TROUBLE_ASIDE},
        {true, BEGIN_MS, 1999, 2, TROUBLE_SILENT | TROUBLE_ASIDE},
        {true, 0, 1999, 2, TROUBLE_SILENT | TROUBLE_ASIDE},
        {false, BEGIN_MS - 1, 1999, 2, TROUBLE_ASIDE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct trouble_failure failure = {.silent = cases[i].silent,
                                                .network_ms = cases[i].network_ms,
                                                .silent_hosts = cases[i].silent_hosts};
        const struct trouble trouble = failed(failure, 3, cases[i].later_ms);
        const bool aside = cases[i].flags & TROUBLE_ASIDE;
        assert_int_equal(trouble.flags, cases[i].flags);
        assert_int_equal(trouble.next_ms,
                         BEGIN_MS + cases[i].later_ms + (aside ? rules.probe_ms : 0));
    }
}

static void
test_a_failure_while_the_host_rests_is_the_same_one(void **state)
{
    struct trouble trouble = {.lane = 1};
    struct trouble_failure failure = {.now_ms = BEGIN_MS, .rest_ms = 500, .silent = true};
    (void)state;
    trouble_fail(&trouble, &rules, &failure);
    assert_int_equal(trouble.rest_ms, BEGIN_MS + 500);
    assert_int_equal(trouble.next_ms, BEGIN_MS + 500);
    assert_int_equal(trouble.flags, TROUBLE_SILENT);
    failure = (struct trouble_failure){.now_ms = BEGIN_MS + 499, .rest_ms = 9000};
    trouble_fail(&trouble, &rules, &failure);
    assert_int_equal(trouble.failures, 1);
    assert_int_equal(trouble.rest_ms, BEGIN_MS + 500);
    failure.now_ms = BEGIN_MS + 500;
    trouble_fail(&trouble, &rules, &failure);
    assert_int_equal(trouble.failures, 2);
    assert_int_equal(trouble.rest_ms, BEGIN_MS + 9500);
    assert_int_equal(trouble.flags, 0);
    /* The rest is longer than the time until the first probe. */
    failure.now_ms = BEGIN_MS + 9500;
    trouble_fail(&trouble, &rules, &failure);
    assert_int_equal(trouble.flags, TROUBLE_ASIDE);
    assert_int_equal(trouble.next_ms, BEGIN_MS + 18500);
    trouble.failures = UINT32_MAX;
    trouble.rest_ms = 0;
    trouble_fail(&trouble, &rules, &failure);
    assert_int_equal(trouble.failures, UINT32_MAX);
}

static void
test_probes_are_twice_as_far_apart_each_time(void **state)
{
    static const uint64_t intervals[] = {5000, 10000, 20000, 30000, 30000};
    struct trouble trouble = failed((struct trouble_failure){0}, 3, 0);
    struct trouble_failure failure = {0};
    (void)state;
    for (uint32_t i = 0; i < sizeof intervals / sizeof intervals[0]; i++) {
        assert_int_equal(trouble.probes, i);
        assert_int_equal(trouble.next_ms, trouble.last_ms + intervals[i]);
        failure.now_ms = trouble.next_ms;
        trouble_fail(&trouble, &rules, &failure);
        assert_int_equal(trouble.aside_ms, BEGIN_MS);
    }
    struct trouble_rules seldom = rules;
    seldom.probe_ms = 2 * rules.probe_most_ms;
    trouble = (struct trouble){.failures = 9};
    trouble_fail(&trouble, &seldom, &failure);
    assert_int_equal(trouble.next_ms, failure.now_ms + rules.probe_most_ms);
}

static void
test_a_doubt_gives_others_a_turn(void **state)
{
    struct trouble trouble = failed((struct trouble_failure){.silent = true}, 3, 0);
    (void)state;
    trouble.probes = 4;
    trouble_doubt(&trouble);
    const struct trouble fresh = {.lane = 1, .probes = 5};
    assert_memory_equal(&trouble, &fresh, sizeof fresh);
    trouble_doubt(&trouble); /* it is not set aside */
    assert_memory_equal(&trouble, &fresh, sizeof fresh);
}

static void
test_rows_with_impossible_numbers_are_refused(void **state)
{
    static const struct {
        uint64_t failures, probes;
        bool good;
    } cases[] = {
        {1, 0, true},
        {UINT32_MAX, UINT32_MAX, true},
        {0, 1, false},
        {UINT64_C(1) << 32, 1, false},
        {1, UINT64_C(1) << 32, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buf row;
        struct slice origin, cause;
        struct trouble read = {.lane = 9, .jobs = 3};
        buf_init(&row, 1000);
        codec_put_u8(&row, TROUBLE_SILENT);
        codec_put_varint(&row, cases[i].failures);
        codec_put_varint(&row, cases[i].probes);
        for (uint64_t time = 11; time <= 15; time++) {
            codec_put_varint(&row, time);
        }
        codec_put_slice(&row, SLICE("http://a"));
        codec_put_slice(&row, SLICE(""));
        assert_int_equal(trouble_decode(buf_slice(&row), &read, &origin, &cause), cases[i].good);
        assert_int_equal(read.lane, 9);
        assert_int_equal(read.jobs, 0);
        codec_put_u8(&row, 0);
        assert_false(trouble_decode(buf_slice(&row), &read, &origin, &cause));
        buf_release(&row);
    }
}

/* ---- the table of hosts in trouble ---- */

enum { LANES = 50, PLACES = 24, OF_A_RANK = 4 };

struct lane_model {
    struct trouble trouble; /* failures == 0: none */
    bool ready[PLACES];
    size_t counted_to; /* places before it are counted */
};

static struct job_key
key_at(uint64_t lane, size_t place)
{
    return (struct job_key){.stage = STAGE_FETCH,
                            .lane = lane,
                            .rank = 1 + place / OF_A_RANK,
                            .id = 1 + place % OF_A_RANK};
}

static uint64_t
ready_within(const struct lane_model *lane, size_t from, size_t to)
{
    uint64_t n = 0;
    for (size_t place = from; place < to; place++) {
        n += lane->ready[place];
    }
    return n;
}

/* The lane's trouble becomes what is at hand at random. */
static void
model_set(struct lane_model *lane, struct troubles *troubles, struct trouble next)
{
    const bool was_aside = lane->trouble.failures > 0 && lane->trouble.flags & TROUBLE_ASIDE;
    troubles_set(troubles, &next);
    lane->counted_to = was_aside && next.failures > 0 ? lane->counted_to : 0;
    lane->trouble = next;
}

static void
model_count(struct lane_model *lanes, struct troubles *troubles, unsigned *seed)
{
    struct job_key from;
    if (!troubles_uncounted(troubles, &from)) {
        return;
    }
    struct lane_model *lane = &lanes[from.lane];
    assert_int_equal(from.stage, STAGE_FETCH);
    assert_true(lane->trouble.failures > 0 && lane->trouble.flags & TROUBLE_ASIDE);
    assert_true(lane->counted_to < PLACES);
    if (lane->counted_to > 0) {
        const struct job_key expected = key_at(from.lane, lane->counted_to);
        assert_int_equal(from.rank, expected.rank);
        assert_int_equal(from.id, expected.id);
    } else {
        assert_int_equal(from.rank + from.id, 0);
    }
    const size_t step = 1 + (size_t)rand_r(seed) % PLACES;
    const size_t to = lane->counted_to + step < PLACES ? lane->counted_to + step : PLACES;
    const struct job_key next = key_at(from.lane, to);
    troubles_count(troubles, &next, ready_within(lane, lane->counted_to, to), to == PLACES);
    lane->counted_to = to;
}

static void
check_troubles(const struct lane_model *lanes, const struct troubles *troubles)
{
    struct troubles_totals expected = {0};
    size_t in_trouble = 0;
    bool uncounted = false;
    for (uint64_t i = 0; i < LANES; i++) {
        const struct trouble *known = &lanes[i].trouble;
        const struct trouble *found = troubles_find(troubles, i);
        const bool aside = known->failures > 0 && known->flags & TROUBLE_ASIDE;
        assert_int_equal(found != NULL, known->failures > 0);
        assert_int_equal(troubles_aside(troubles, i), aside);
        if (found == NULL) {
            continue;
        }
        in_trouble++;
        assert_int_equal(found->lane, i);
        assert_int_equal(found->failures, known->failures);
        assert_int_equal(found->flags, known->flags);
        assert_int_equal(found->next_ms, known->next_ms);
        if (aside) {
            const uint64_t jobs = ready_within(&lanes[i], 0, lanes[i].counted_to);
            assert_int_equal(found->jobs, jobs);
            assert_int_equal(found->counted, lanes[i].counted_to == PLACES);
            uncounted |= !found->counted;
            expected.aside++;
            expected.jobs += jobs;
        } else {
            expected.failing++;
            expected.silent += (known->flags & TROUBLE_SILENT) != 0;
            expected.doubted += (known->flags & TROUBLE_DOUBTED) != 0;
        }
    }
    const struct troubles_totals totals = troubles_totals(troubles);
    assert_memory_equal(&totals, &expected, sizeof expected);
    struct job_key from;
    assert_int_equal(troubles_uncounted(troubles, &from), uncounted);
    for (size_t i = 0; i < in_trouble; i++) {
        const struct trouble *at = troubles_at(troubles, i);
        assert_ptr_equal(at, troubles_find(troubles, at->lane));
    }
    assert_null(troubles_at(troubles, in_trouble));
}

static void
test_troubles_beside_an_array(void **state)
{
    enum { STEPS = 6000 };
    static struct lane_model lanes[LANES];
    struct troubles *troubles = troubles_new();
    unsigned seed = 4;
    (void)state;
    memset(lanes, 0, sizeof lanes);
    for (int step = 0; step < STEPS; step++) {
        const uint64_t at = (uint64_t)rand_r(&seed) % LANES;
        const size_t place = (size_t)rand_r(&seed) % PLACES;
        const struct job_key key = key_at(at, place);
        struct lane_model *lane = &lanes[at];
        switch (rand_r(&seed) % 6) {
        case 0:
            model_set(lane, troubles,
                      (struct trouble){.lane = at,
                                       .failures = (uint32_t)rand_r(&seed) % 4,
                                       .next_ms = (uint64_t)step,
                                       .flags = (uint8_t)(rand_r(&seed) % 8)});
            break;
        case 1:
            model_count(lanes, troubles, &seed);
            break;
        default:
            lane->ready[place] = !lane->ready[place];
            (lane->ready[place] ? troubles_came : troubles_left)(troubles, &key);
        }
        check_troubles(lanes, troubles);
    }
    /* Of a lane whose jobs are all counted, and are none, one more that left changes nothing. */
    const struct job_key end = key_at(0, PLACES), none = key_at(0, 0);
    model_set(&lanes[0], troubles, (struct trouble){.lane = 0});
    memset(lanes[0].ready, 0, sizeof lanes[0].ready);
    model_set(&lanes[0], troubles,
              (struct trouble){.lane = 0, .failures = 1, .flags = TROUBLE_ASIDE});
    troubles_count(troubles, &end, 0, true);
    lanes[0].counted_to = PLACES;
    troubles_left(troubles, &none);
    check_troubles(lanes, troubles);
    const struct job_key stranger = key_at(LANES, 3);
    troubles_count(troubles, &stranger, 5, true);
    troubles_came(troubles, &stranger);
    check_troubles(lanes, troubles);
    for (uint64_t at = 0; at < LANES; at++) {
        model_set(&lanes[at], troubles, (struct trouble){.lane = at});
        check_troubles(lanes, troubles);
    }
    troubles_free(troubles);
    troubles_free(NULL);
}

/* ---- leases ---- */

enum { WORKERS = 40, JOBS = 700 };

struct leases_model {
    uint32_t number[WORKERS]; /* WORKER_NONE: unknown */
    uint32_t holds[WORKERS];
    struct lease held[JOBS]; /* by id; worker: an index into number; its id is 0: not leased */
};

static struct slice
worker_name(uint32_t i, char text[16])
{
    snprintf(text, 16, "worker-%u", i);
    return slice_string(text);
}

static void
check_worker(const struct leases_model *model, struct leases *leases, uint32_t i)
{
    char text[16];
    const uint32_t at = leases_worker_find(leases, worker_name(i, text));
    assert_int_equal(at, model->number[i]);
    if (at == (uint32_t)WORKER_NONE) {
        return;
    }
    struct worker *worker = leases_worker(leases, at);
    assert_true(at < leases_worker_end(leases));
    assert_true(worker->used);
    assert_string_equal(worker->name, text);
    assert_int_equal(worker->count, model->holds[i]);
    uint32_t previous = (uint32_t)LEASE_NONE, count = 0, suspects = 0;
    uint16_t deaths = 0;
    for (uint32_t one = worker->first; one != (uint32_t)LEASE_NONE;) {
        const struct lease *lease = leases_at(leases, one);
        assert_int_equal(lease->worker, at);
        assert_int_equal(lease->previous, previous);
        assert_int_equal(model->held[lease->key.id].worker, i);
        suspects += lease->deaths > 0;
        deaths = lease->deaths > deaths ? lease->deaths : deaths;
        count++;
        previous = one;
        one = lease->next;
    }
    assert_int_equal(count, worker->count);
    assert_int_equal(suspects, worker->suspects);
    assert_int_equal(leases_worker_company(leases, at), leases_company(deaths));
}

static void
check_leases(const struct leases_model *model, struct leases *leases)
{
    size_t counts[STAGE_COUNT] = {0};
    for (uint64_t id = 1; id < JOBS; id++) {
        const uint32_t at = leases_find(leases, id);
        const struct lease *known = &model->held[id];
        assert_int_equal(at == (uint32_t)LEASE_NONE, known->key.id == 0);
        if (known->key.id != 0) {
            const struct lease *lease = leases_at(leases, at);
            counts[known->key.stage]++;
            assert_int_equal(lease->key.id, id);
            assert_int_equal(lease->worker, model->number[known->worker]);
            assert_int_equal(lease->deaths, known->deaths);
            assert_int_equal(lease->deadline_ms, known->deadline_ms);
        }
    }
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        assert_int_equal(leases_count(leases, (enum stage)stage), counts[stage]);
    }
    for (uint32_t i = 0; i < WORKERS; i++) {
        check_worker(model, leases, i);
    }
}

static void
model_worker_step(struct leases_model *model, struct leases *leases, uint32_t i)
{
    char text[16];
    if (model->number[i] == (uint32_t)WORKER_NONE) {
        model->number[i] = leases_worker_add(leases, worker_name(i, text));
        assert_int_equal(leases_worker(leases, model->number[i])->first, (uint32_t)LEASE_NONE);
        return;
    }
    if (model->holds[i] == 0) {
        leases_worker_remove(leases, model->number[i]);
        assert_false(leases_worker(leases, model->number[i])->used);
        model->number[i] = (uint32_t)WORKER_NONE;
    }
}

static void
model_lease_step(struct leases_model *model, struct leases *leases, uint64_t id, unsigned *seed)
{
    struct lease *held = &model->held[id];
    const uint32_t i = (uint32_t)rand_r(seed) % WORKERS;
    if (held->key.id != 0) {
        leases_remove(leases, leases_find(leases, id));
        model->holds[held->worker]--;
        *held = (struct lease){0};
    } else if (model->number[i] != (uint32_t)WORKER_NONE) {
        *held = (struct lease){
            .key = {.stage = (enum stage)(rand_r(seed) % STAGE_COUNT), .id = id},
            .worker = i,
            .deadline_ms = (uint64_t)rand_r(seed),
            .deaths = (uint16_t)(rand_r(seed) % 12 == 0 ? 1 + rand_r(seed) % 4 : 0),
        };
        struct lease given = *held;
        given.worker = model->number[i];
        leases_add(leases, &given);
        model->holds[i]++;
    }
}

static void
test_leases_beside_an_array(void **state)
{
    enum { STEPS = 6000, SELDOM = 20 };
    static struct leases_model model;
    struct leases *leases = leases_new();
    unsigned seed = 5;
    (void)state;
    memset(&model, 0, sizeof model);
    memset(model.number, 0xff, sizeof model.number);
    for (int step = 0; step < STEPS; step++) {
        if (rand_r(&seed) % 4 == 0) {
            model_worker_step(&model, leases, (uint32_t)rand_r(&seed) % WORKERS);
        } else {
            model_lease_step(&model, leases, 1 + (uint64_t)rand_r(&seed) % (JOBS - 1), &seed);
        }
        if (step % SELDOM == 0 || step + 1 == STEPS) {
            check_leases(&model, leases);
        }
    }
    /* The numbers of workers that are gone are given again. */
    assert_true(leases_worker_end(leases) <= WORKERS);
    leases_free(leases);
    leases_free(NULL);
}

static void
test_deaths_make_company_small(void **state)
{
    (void)state;
    assert_int_equal(leases_company(0), UINT32_MAX);
    assert_int_equal(leases_company(1), 16);
    assert_int_equal(leases_company(2), 4);
    assert_int_equal(leases_company(3), 1);
    assert_int_equal(leases_company(4), 1);
    assert_int_equal(leases_company(UINT16_MAX), 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_number_and_time_must_be_reached),
        cmocka_unit_test(test_silence_is_doubted_until_patience_ends),
        cmocka_unit_test(test_a_failure_while_the_host_rests_is_the_same_one),
        cmocka_unit_test(test_probes_are_twice_as_far_apart_each_time),
        cmocka_unit_test(test_a_doubt_gives_others_a_turn),
        cmocka_unit_test(test_rows_with_impossible_numbers_are_refused),
        cmocka_unit_test(test_troubles_beside_an_array),
        cmocka_unit_test(test_leases_beside_an_array),
        cmocka_unit_test(test_deaths_make_company_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
