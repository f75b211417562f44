/* Lanes and their groups (queue/politeness/lanes.c and what it uses), without a broker: beside a
 * model, and each way out of a group's list; and sequences (queue/frontier/sequences.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "queue/frontier/sequences.h"
#include "queue/politeness/lanes.h"
#include "tests/unit/brief.h"
#include "tests/unit/queue/queue_suites.h"

static bool
next(struct lanes *lanes, uint64_t now, uint64_t *lane)
{
    bool known;
    return lanes_next(lanes, now, lane, &known);
}

/* The lane that goes out; there is one. */
static uint64_t
goes_out(struct lanes *lanes, uint64_t now)
{
    uint64_t lane = 0;
    assert_true(next(lanes, now, &lane));
    return lane;
}

static void
none_goes_out(struct lanes *lanes, uint64_t now)
{
    uint64_t lane;
    assert_false(next(lanes, now, &lane));
}

/* ---- beside a model ---- */

enum { MODEL_LANES = 40, STEPS = 20000 };

static struct {
    uint64_t due;
    enum { ABSENT, RESTS, OUT } state;
} model[MODEL_LANES + 1];

static uint64_t
least_due(void)
{
    uint64_t due = UINT64_MAX;
    for (size_t i = 1; i <= MODEL_LANES; i++) {
        due = model[i].state == RESTS && model[i].due < due ? model[i].due : due;
    }
    return due;
}

static void
step(struct lanes *lanes, unsigned *seed, uint64_t now)
{
    const uint64_t lane = 1 + (uint64_t)rand_r(seed) % MODEL_LANES;
    const uint64_t due = now + (uint64_t)rand_r(seed) % 50;
    const bool here = model[lane].state != ABSENT, out = model[lane].state == OUT;
    uint64_t went;
    switch (rand_r(seed) % 7) {
    case 0: /* what rests is put off only */
        lanes_restore(lanes, lane, due, 0);
        model[lane].due = here && model[lane].due > due ? model[lane].due : due;
        model[lane].state = here ? model[lane].state : RESTS;
        break;
    case 1:
        if (here) {
            lanes_postpone(lanes, lane, due);
            model[lane].due = model[lane].due < due ? due : model[lane].due;
        }
        break;
    case 2:
        if (here) {
            lanes_hasten(lanes, lane, due);
            model[lane].due = model[lane].due > due ? due : model[lane].due;
        }
        break;
    case 3: /* of lanes that are not out nothing changes */
        lanes_rest(lanes, lane, due, 0);
        if (out) {
            model[lane].due = model[lane].due < due ? due : model[lane].due;
            model[lane].state = RESTS;
        }
        break;
    case 4:
        if (rand_r(seed) % 4 == 0) {
            lanes_forget(lanes, lane);
            model[lane].state = out ? ABSENT : model[lane].state;
        } else {
            lanes_return(lanes, lane);
            model[lane].state = out ? RESTS : model[lane].state;
        }
        break;
    case 5:
        if (here) {
            assert_int_equal(lanes_take(lanes, lane), !out);
            model[lane].state = OUT;
        }
        break;
    default:
        if (least_due() <= now) {
            assert_true(next(lanes, now, &went));
            assert_int_equal(model[went].state, RESTS);
            assert_int_equal(model[went].due, least_due());
            model[went].state = OUT;
        } else {
            assert_false(next(lanes, now, &went));
        }
    }
}

static void
test_lanes_beside_a_model(void **state)
{
    struct lanes *lanes = lanes_new(0, 0, 1);
    unsigned seed = 5;
    (void)state;
    for (size_t i = 0; i <= MODEL_LANES; i++) {
        model[i].due = 0;
        model[i].state = ABSENT;
    }
    for (uint64_t i = 0; i < brief(STEPS, STEPS / 4); i++) {
        size_t count = 0, busy = 0;
        step(lanes, &seed, 100 + i / 3);
        for (size_t lane = 1; lane <= MODEL_LANES; lane++) {
            count += model[lane].state != ABSENT;
            busy += model[lane].state == OUT;
        }
        assert_int_equal(lanes_count(lanes), count);
        assert_int_equal(lanes_busy(lanes), busy);
        assert_int_equal(lanes_due(lanes), least_due());
    }
    lanes_free(lanes);
    lanes_free(NULL);
}

/* ---- bursts ---- */

static void
test_bursts_have_a_most(void **state)
{
    static const struct {
        uint32_t burst, most;
    } cases[] = {{1, 1},
                 {2, 2},
                 {LANES_BURST_MOST, LANES_BURST_MOST},
                 {LANES_BURST_MOST + 1, LANES_BURST_MOST}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lanes *lanes = lanes_new(0, 0, cases[i].burst);
        lanes_restore(lanes, 1, 0, 7); /* with nothing to keep to, groups are none */
        assert_int_equal(lanes_group(lanes, 1), 0);
        assert_int_equal(goes_out(lanes, 1), 1);
        lanes_set_eased(lanes, 1, true);
        uint32_t out = 1;
        while (lanes_more(lanes, 1)) {
            out++;
        }
        assert_int_equal(out, cases[i].most);
        assert_int_equal(lanes_view(lanes, 1).out, out);
        assert_false(lanes_take(lanes, 1));
        for (uint32_t left = out; left > 1; left--) {
            lanes_no_more(lanes, 1);
            assert_int_equal(lanes_view(lanes, 1).out, left - 1);
        }
        lanes_no_more(lanes, 1); /* the last goes by a rest */
        assert_int_equal(lanes_busy(lanes), 1);
        lanes_rest(lanes, 1, 0, 0);
        assert_int_equal(lanes_busy(lanes), 0);
        assert_false(lanes_more(lanes, 1)); /* it is not out */
        lanes_no_more(lanes, 1);
        assert_false(lanes_more(lanes, 2)); /* nor is it there */
        lanes_free(lanes);
    }
}

/* ---- groups ---- */

static void
test_no_group_is_no_group(void **state)
{
    struct lanes *lanes = lanes_new(1, 10, 1);
    (void)state;
    lanes_restore(lanes, 1, 0, 0);
    lanes_restore(lanes, 2, 0, 0);
    (void)goes_out(lanes, 1);
    (void)goes_out(lanes, 1);
    lanes_free(lanes);
    for (int which = 0; which < 2; which++) { /* either rule is enough for groups to count */
        lanes = lanes_new(which == 0, which == 0 ? 0 : 10, 1);
        lanes_restore(lanes, 1, 0, 7);
        lanes_restore(lanes, 2, 0, 7);
        assert_int_equal(lanes_group(lanes, 1), 7);
        (void)goes_out(lanes, 1);
        none_goes_out(lanes, 1);
        lanes_free(lanes);
    }
}

/* Lanes 1 to 4 of one group, of which one may be out at a time: one is, and the others wait. */
static struct lanes *
waiting_lanes(uint64_t delay)
{
    struct lanes *lanes = lanes_new(1, delay, 1);
    for (uint64_t lane = 1; lane <= 4; lane++) {
        lanes_restore(lanes, lane, lane, 7);
    }
    assert_int_equal(goes_out(lanes, 100), 1);
    none_goes_out(lanes, 100);
    assert_int_equal(lanes_view(lanes, 3).place, LANE_WAITS_FOR_GROUP);
    return lanes;
}

/* All that are not out have their turn, one behind the other. */
static void
all_have_a_turn(struct lanes *lanes, size_t count)
{
    uint64_t now = 1000;
    for (size_t i = 0; i < count; i++) {
        const uint64_t lane = goes_out(lanes, now);
        none_goes_out(lanes, now);
        lanes_forget(lanes, lane);
        now += 1000;
    }
    none_goes_out(lanes, now);
    assert_int_equal(lanes_count(lanes), 0);
    assert_int_equal(lanes_due(lanes), UINT64_MAX);
}

/* A worker announces what it held, wherever that stands in the list of those that wait. */
static void
test_lanes_are_taken_while_they_wait(void **state)
{
    (void)state;
    for (uint64_t taken = 2; taken <= 4; taken++) {
        struct lanes *lanes = waiting_lanes(0);
        assert_true(lanes_take(lanes, taken));
        assert_int_equal(lanes_view(lanes, taken).place, LANE_OUT);
        assert_int_equal(lanes_busy(lanes), 2);
        lanes_rest(lanes, 1, 200, 7);
        none_goes_out(lanes, 300); /* the other is out */
        lanes_rest(lanes, taken, 400, 7);
        all_have_a_turn(lanes, 4);
        lanes_free(lanes);
    }
}

/* Whoever was to go next for its group is taken: another goes in its place. */
static void
test_the_next_of_a_group_is_taken(void **state)
{
    struct lanes *lanes = waiting_lanes(10);
    uint64_t scout = 0;
    (void)state;
    lanes_rest(lanes, 1, 500, 7);
    for (uint64_t lane = 2; lane <= 4; lane++) {
        scout = lanes_view(lanes, lane).place == LANE_RESTS ? lane : scout;
    }
    assert_int_not_equal(scout, 0);
    assert_int_equal(lanes_due(lanes), 110); /* the group's */
    assert_true(lanes_take(lanes, scout));
    lanes_rest(lanes, scout, 500, 7);
    const uint64_t other = goes_out(lanes, 110);
    assert_true(other != scout && other != 1);
    lanes_rest(lanes, other, 500, 7);
    all_have_a_turn(lanes, 4);
    lanes_free(lanes);
}

/* A group without members is forgotten with what it waits for, and its place is used again. */
static void
test_groups_end_with_their_last_member(void **state)
{
    (void)state;
    for (uint64_t members = 1; members <= 2; members++) {
        struct lanes *lanes = lanes_new(1, 1000, 1);
        for (uint64_t lane = 1; lane <= members; lane++) {
            lanes_restore(lanes, lane, lane * 10000 - 10000, 7);
            lanes_restore(lanes, lane, 0, 7); /* again: it is one member */
        }
        assert_int_equal(goes_out(lanes, 100), 1);
        lanes_rest(lanes, 1, 50000, 8); /* it has another address now */
        assert_int_equal(lanes_group(lanes, 1), 8);
        lanes_restore(lanes, 9, 0, 7);
        if (members == 1) {
            assert_int_equal(goes_out(lanes, 101), 9);
        } else {
            none_goes_out(lanes, 101);
            assert_int_equal(goes_out(lanes, 1100), 9);
        }
        lanes_free(lanes);
    }
}

/* Who went out in vain makes nobody wait. */
static void
test_turns_that_were_not_used_do_not_count(void **state)
{
    (void)state;
    for (int forgets = 0; forgets < 2; forgets++) {
        struct lanes *lanes = lanes_new(2, 10, 1);
        lanes_restore(lanes, 1, 0, 7);
        lanes_restore(lanes, 2, 1, 7);
        assert_int_equal(goes_out(lanes, 100), 1);
        none_goes_out(lanes, 100);
        if (forgets) {
            lanes_forget(lanes, 1);
        } else {
            lanes_hasten(lanes, 2, 0);
            lanes_postpone(lanes, 1, 500);
            lanes_return(lanes, 1);
        }
        lanes_return(lanes, 1); /* it is not out any more */
        lanes_forget(lanes, 1);
        assert_int_equal(lanes_count(lanes), forgets ? 1 : 2);
        lanes_restore(lanes, 3, 2, 7);
        const uint64_t first = goes_out(lanes, 101);
        assert_true(first == 2 || first == 3);
        lanes_free(lanes);
    }
}

/* ---- turns ---- */

static void
test_marks_are_of_lanes_that_are_there(void **state)
{
    struct lanes *lanes = lanes_new(0, 0, 1);
    (void)state;
    lanes_set_eased(lanes, 1, true);
    lanes_set_share(lanes, 1, 5);
    lanes_set_answered(lanes, 1);
    lanes_set_listed(lanes, 1, true);
    lanes_set_speed(lanes, 1, 1);
    lanes_end_turn(lanes, 1);
    lanes_return(lanes, 1);
    assert_int_equal(lanes_count(lanes), 0);
    assert_false(lanes_answered(lanes, 1) || lanes_listed(lanes, 1) || lanes_turn(lanes, 1));
    assert_int_equal(lanes_share(lanes, 1), 0);
    assert_int_equal(lanes_group(lanes, 1), 0);
    assert_int_equal(lanes_view(lanes, 1).place, LANE_NOT_HERE);
    lanes_wake(lanes, 1);
    assert_int_equal(lanes_view(lanes, 1).place, LANE_WAITS);
    assert_int_equal(lanes_due(lanes), 0);
    assert_false(lanes_answered(lanes, 1) || lanes_listed(lanes, 1));
    lanes_set_share(lanes, 1, 5);
    lanes_set_answered(lanes, 1);
    lanes_set_listed(lanes, 1, true);
    lanes_set_eased(lanes, 1, true);
    assert_true(lanes_answered(lanes, 1) && lanes_listed(lanes, 1));
    const struct lane_view view = lanes_view(lanes, 1);
    assert_true(view.listed && view.eased && view.share == 5 && view.out == 0);
    lanes_set_listed(lanes, 1, false);
    assert_false(lanes_listed(lanes, 1) || lanes_turn(lanes, 1));
    lanes_free(lanes);
}

/* Of 256 turns so many are of sitemaps; without a share half of them. */
static void
test_shares_are_of_256_turns(void **state)
{
    static const uint8_t shares[] = {0, 1, 64, 255};
    (void)state;
    for (size_t i = 0; i < sizeof shares; i++) {
        struct lanes *lanes = lanes_new(0, 0, 1);
        unsigned turns = 0;
        lanes_wake(lanes, 1);
        lanes_set_listed(lanes, 1, true);
        lanes_set_share(lanes, 1, shares[i]);
        for (int turn = 0; turn < 256; turn++) {
            turns += lanes_turn(lanes, 1);
        }
        assert_int_equal(turns, shares[i] != 0 ? shares[i] : 128);
        lanes_free(lanes);
    }
}

/* Lanes of the second speed go once in four turns, of the third once in sixteen, of the fourth once
 * in sixty-four, as long as others wait. */
static void
test_speeds_are_shares_of_the_turns(void **state)
{
    enum { TURNS = 256, EACH = 300 };
    unsigned turns[LANES_SPEEDS] = {0};
    struct lanes *lanes = lanes_new(0, 0, 1);
    (void)state;
    for (uint64_t lane = 0; lane < EACH * LANES_SPEEDS; lane++) {
        lanes_wake(lanes, lane + 1);
        lanes_set_speed(lanes, lane + 1, (uint8_t)(lane % LANES_SPEEDS));
    }
    for (int turn = 0; turn < TURNS; turn++) {
        const uint64_t lane = goes_out(lanes, 1);
        const unsigned speed = (unsigned)((lane - 1) % LANES_SPEEDS);
        assert_int_equal(lane, turns[speed] * LANES_SPEEDS + speed + 1); /* in order */
        turns[speed]++;
    }
    assert_int_equal(turns[3], TURNS / 64);
    assert_int_equal(turns[2], TURNS / 16 - TURNS / 64);
    assert_int_equal(turns[1], TURNS / 4 - TURNS / 16);
    assert_int_equal(turns[0], TURNS - TURNS / 4);
    lanes_free(lanes);
}

/* Whoever leaves a line, at its front, in its middle, or at its end, leaves it whole. */
static void
test_lines_stay_whole(void **state)
{
    enum { LANES = 5 };
    (void)state;
    for (uint64_t leaves = 1; leaves <= LANES; leaves++) {
        for (int way = 0; way < 3; way++) {
            struct lanes *lanes = lanes_new(0, 0, 1);
            for (uint64_t lane = 1; lane <= LANES; lane++) {
                lanes_wake(lanes, lane);
            }
            if (way == 0) {
                assert_true(lanes_take(lanes, leaves));
            } else {
                lanes_set_speed(lanes, leaves, 1);
            }
            if (way == 2) { /* and comes back behind the last */
                lanes_set_speed(lanes, leaves, 0);
            }
            for (uint64_t lane = 1; lane <= LANES; lane++) {
                if (lane != leaves) {
                    uint64_t went = goes_out(lanes, 1);
                    went = went == leaves && way == 1 ? goes_out(lanes, 1) : went;
                    assert_int_equal(went, lane);
                }
            }
            lanes_free(lanes);
        }
    }
}

/* A lane whose turn is over goes behind those that wait; others go when they are due. */
static void
test_turns_end(void **state)
{
    struct lanes *lanes = lanes_new(0, 0, 1);
    (void)state;
    lanes_restore(lanes, 1, 0, 0);
    assert_int_equal(goes_out(lanes, 1), 1);
    lanes_wake(lanes, 2);
    lanes_rest(lanes, 1, 0, 0);
    assert_int_equal(goes_out(lanes, 1), 1); /* what is due goes before what waits */
    lanes_end_turn(lanes, 1);
    lanes_rest(lanes, 1, 0, 0);
    assert_int_equal(goes_out(lanes, 1), 2);
    assert_int_equal(goes_out(lanes, 1), 1);
    lanes_rest(lanes, 1, 0, 0); /* that turn is not over */
    lanes_end_turn(lanes, 1);   /* nor does it end when it is not out */
    lanes_wake(lanes, 3);
    assert_int_equal(goes_out(lanes, 1), 1);
    lanes_end_turn(lanes, 1);
    lanes_rest(lanes, 1, 50, 0); /* it waits, but is not due */
    assert_int_equal(goes_out(lanes, 1), 3);
    none_goes_out(lanes, 49);
    assert_int_equal(lanes_due(lanes), 50);
    assert_int_equal(goes_out(lanes, 50), 1);
    lanes_free(lanes);
}

/* ---- sequences of the other stages ---- */

static void
test_sequences_are_of_stages_and_partitions(void **state)
{
    enum { PARTITIONS_OF_INDEX = 3 };
    struct sequences *sequences = sequences_new(PARTITIONS_OF_INDEX);
    (void)state;
    for (uint8_t stage = 0; stage < STAGE_COUNT; stage++) {
        const uint64_t count = stage == STAGE_FETCH   ? 0
                               : stage == STAGE_INDEX ? PARTITIONS_OF_INDEX
                                                      : 1;
        for (uint64_t lane = 0; lane <= count; lane++) {
            const struct sequence *found = sequences_find(sequences, stage, lane);
            assert_int_equal(found != NULL, lane < count);
            if (found != NULL) {
                const struct job_key cursor = sequence_cursor(found);
                assert_int_equal(cursor.stage, stage);
                assert_int_equal(cursor.lane, lane);
                assert_int_equal(cursor.id, 0);
            }
        }
    }
    sequences_free(sequences);
}

/* What was handed out and comes back goes before what was not, the smallest first. */
static void
test_what_returns_goes_first(void **state)
{
    enum { RETURNED = 40, REACHED = 100 };
    struct sequences *sequences = sequences_new(1);
    struct sequence *sequence = sequences_find(sequences, STAGE_DETECT, 0);
    struct job_key key = sequence_cursor(sequence), found;
    (void)state;
    assert_false(sequence_returned(sequence, &found));
    assert_int_equal(found.id, 0);
    key.id = REACHED;
    sequence_reach(sequence, &key);
    assert_int_equal(sequence_cursor(sequence).id, REACHED);
    for (uint64_t i = 0; i < RETURNED; i++) {
        sequence_ready(sequence, REACHED - i * 7 % RETURNED);
    }
    sequence_ready(sequence, REACHED + 1); /* it is met when the sequence comes there */
    for (uint64_t i = 0; i < RETURNED; i++) {
        assert_true(sequence_returned(sequence, &found));
        assert_int_equal(found.stage, STAGE_DETECT);
        assert_int_equal(found.id, REACHED - RETURNED + 1 + i);
        sequence_pop_returned(sequence);
    }
    assert_false(sequence_returned(sequence, &found));
    sequences_free(sequences);
}

int
lanes_alone_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lanes_beside_a_model),
        cmocka_unit_test(test_bursts_have_a_most),
        cmocka_unit_test(test_no_group_is_no_group),
        cmocka_unit_test(test_lanes_are_taken_while_they_wait),
        cmocka_unit_test(test_the_next_of_a_group_is_taken),
        cmocka_unit_test(test_groups_end_with_their_last_member),
        cmocka_unit_test(test_turns_that_were_not_used_do_not_count),
        cmocka_unit_test(test_marks_are_of_lanes_that_are_there),
        cmocka_unit_test(test_shares_are_of_256_turns),
        cmocka_unit_test(test_speeds_are_shares_of_the_turns),
        cmocka_unit_test(test_lines_stay_whole),
        cmocka_unit_test(test_turns_end),
        cmocka_unit_test(test_sequences_are_of_stages_and_partitions),
        cmocka_unit_test(test_what_returns_goes_first),
    };
    return cmocka_run_group_tests_name("lanes alone", tests, NULL, NULL);
}
