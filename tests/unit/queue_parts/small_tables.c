/* Two tables of the queue beside models of them: in what order jobs of a stage go out that became
 * ready again, and which paces are forgotten when others need their places. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "queue/frontier/sequences.h"
#include "queue/politeness/paces.h"
#include "tests/unit/queue/queue_suites.h"

/* ---- sequences ---- */

static void
test_each_stage_has_its_lanes(void **state)
{
    enum { PARTITIONS = 3 };
    static const uint64_t lanes[STAGE_COUNT] = {
        [STAGE_DETECT] = 1, [STAGE_TRANSFORM] = 1, [STAGE_INDEX] = PARTITIONS, [STAGE_EXTRACT] = 1};
    struct sequences *sequences = sequences_new(PARTITIONS);
    (void)state;
    for (uint8_t stage = 0; stage < STAGE_COUNT; stage++) {
        for (uint64_t lane = 0; lane <= PARTITIONS + 1; lane++) {
            struct sequence *sequence = sequences_find(sequences, stage, lane);
            struct job_key key;
            assert_int_equal(sequence != NULL, lane < lanes[stage]);
            if (sequence == NULL) {
                continue;
            }
            key = sequence_cursor(sequence);
            assert_int_equal(key.stage, stage);
            assert_int_equal(key.lane, lane);
            assert_int_equal(key.rank, 0);
            assert_int_equal(key.id, 0);
            assert_false(sequence_returned(sequence, &key));
            key.id = 10 * stage + lane; /* nobody else's */
            sequence_reach(sequence, &key);
        }
        assert_null(sequences_find(sequences, stage, UINT64_MAX));
    }
    for (uint8_t stage = 0; stage < STAGE_COUNT; stage++) {
        for (uint64_t lane = 0; lane < lanes[stage]; lane++) {
            const struct job_key key = sequence_cursor(sequences_find(sequences, stage, lane));
            assert_int_equal(key.id, 10 * stage + lane);
        }
    }
    sequences_free(sequences);
}

/* What was passed comes back, smallest first; what was not is met where it is. */
static void
test_what_is_ready_again_comes_in_order(void **state)
{
    enum { STEPS = 4000, CURSOR = 100, IDS = CURSOR + 4, RANK = 7 };
    struct sequences *sequences = sequences_new(1);
    struct sequence *sequence = sequences_find(sequences, STAGE_DETECT, 0);
    const struct job_key cursor = {.stage = STAGE_DETECT, .rank = RANK, .id = CURSOR};
    unsigned seed = 3, waiting[IDS] = {0};
    size_t count = 0;
    (void)state;
    sequence_reach(sequence, &cursor);
    for (int step = 0; step < STEPS; step++) {
        const bool grows = step % 200 < 100; /* so that it becomes large, and empty, in turn */
        struct job_key key;
        if (rand_r(&seed) % 8 < (grows ? 6 : 2)) {
            const uint64_t id = 1 + (uint64_t)rand_r(&seed) % (IDS - 1);
            sequence_ready(sequence, id);
            waiting[id] += id <= CURSOR;
            count += id <= CURSOR;
        } else if (sequence_returned(sequence, &key)) {
            waiting[key.id]--;
            count--;
            sequence_pop_returned(sequence);
        }
        uint64_t first = 0;
        while (count > 0 && waiting[first] == 0) {
            first++;
        }
        assert_int_equal(sequence_returned(sequence, &key), count > 0);
        assert_int_equal(key.id, first);
        assert_int_equal(key.stage, STAGE_DETECT);
        assert_int_equal(key.rank, RANK);
        assert_int_equal(sequence_cursor(sequence).id, CURSOR);
    }
    sequences_free(sequences);
}

/* ---- paces ---- */

enum { WAYS = 4, KEYS = 40 };

struct known {
    uint64_t looked; /* 0: it is not in the table */
    uint64_t due_ms;
};

/* Whoever was not looked for the longest makes room for it, once its set is full. */
static void
model_forget(struct known *known, size_t sets, uint64_t of)
{
    size_t count = 0, oldest = 0;
    for (uint64_t key = 1; key < KEYS; key++) {
        if (key % sets == of % sets && known[key].looked > 0) {
            count++;
            oldest = oldest == 0 || known[key].looked < known[oldest].looked ? key : oldest;
        }
    }
    if (count == WAYS) {
        known[oldest].looked = 0;
    }
}

static void
check_places(size_t places, size_t sets)
{
    enum { STEPS = 3000 };
    struct paces *paces = paces_new(places);
    struct known known[KEYS] = {{0}};
    unsigned seed = 5;
    for (uint64_t step = 1; step <= STEPS; step++) {
        const uint64_t of = 1 + (uint64_t)rand_r(&seed) % (KEYS - 1);
        const unsigned kind = (unsigned)rand_r(&seed) % 400;
        struct known_pace *found;
        if (kind == 0) {
            paces_clear(paces);
            memset(known, 0, sizeof known);
            continue;
        }
        if (kind < 150) {
            if (known[of].looked == 0) {
                model_forget(known, sets, of);
                known[of].due_ms = 0;
            }
            known[of].looked = step;
            found = paces_add(paces, of);
            assert_non_null(found);
        } else {
            found = paces_find(paces, of);
            assert_int_equal(found != NULL, known[of].looked > 0);
            known[of].looked = known[of].looked > 0 ? step : 0;
        }
        if (found != NULL) {
            assert_int_equal(found->of, of);
            assert_int_equal(found->pace.until_ms, known[of].due_ms);
            assert_int_equal(found->written.until_ms, known[of].due_ms);
            found->pace.until_ms = found->written.until_ms = known[of].due_ms = step;
        }
    }
    paces_free(paces);
}

static void
test_paces_beside_a_model(void **state)
{
    static const struct {
        size_t places, sets;
    } cases[] = {{1, 1}, {4, 1}, {5, 2}, {8, 2}, {9, 3}, {12, 3}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_places(cases[i].places, cases[i].sets);
    }
}

int
small_tables_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_stage_has_its_lanes),
        cmocka_unit_test(test_what_is_ready_again_comes_in_order),
        cmocka_unit_test(test_paces_beside_a_model),
    };
    return cmocka_run_group_tests_name("small tables", tests, NULL, NULL);
}
