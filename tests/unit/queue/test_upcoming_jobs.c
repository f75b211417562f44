/* The next jobs of lanes (queue/frontier/upcoming_jobs.c) beside the store that they are read of,
 * which is an array here that counts how often it is read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "queue/frontier/upcoming_jobs.h"

enum {
    JOBS = 2000,
    LANES = 6,
    RECORD = 64,
    PLENTY = 64 << 20,
    READ_AT_ONCE = 16,
    READ_BYTES = 16 << 10,
    HEAD_SIZE = 56 /* of a head without its jobs, about */
};

struct stored {
    struct job_key key;
    size_t length; /* of its record */
    bool there, out;
};

static struct stored jobs[JOBS];
static size_t job_count, scans, visited;
static enum status scan_status;
static struct upcoming_jobs *heads;
static struct leases *leases;
static uint32_t worker;

/* ---- in the place of the store ---- */

static bool
precedes(const struct job_key *a, const struct job_key *b)
{
    return a->rank < b->rank || (a->rank == b->rank && a->id < b->id);
}

static struct stored *
following(uint64_t lane, const struct job_key *after, bool or_same)
{
    struct stored *first = NULL;
    for (size_t i = 0; i < job_count; i++) {
        struct stored *stored = &jobs[i];
        const bool behind =
            precedes(after, &stored->key) ||
            (or_same && stored->key.rank == after->rank && stored->key.id == after->id);
        if (stored->there && stored->key.lane == lane && behind &&
            (first == NULL || precedes(&stored->key, &first->key))) {
            first = stored;
        }
    }
    return first;
}

static struct slice
record_of(const struct stored *stored)
{
    static char bytes[4 * READ_BYTES];
    memset(bytes, 'a' + (int)(stored->key.id % 26), stored->length);
    return slice_of(bytes, stored->length);
}

enum status __wrap_frontier_scan_within(struct frontier *frontier, enum store_tree tree,
                                        struct slice from, size_t within, store_visit *visit,
                                        void *context, struct reason *why);
enum status
__wrap_frontier_scan_within(struct frontier *frontier, enum store_tree tree, struct slice from,
                            size_t within, store_visit *visit, void *context, struct reason *why)
{
    struct job_key after;
    uint8_t bytes[JOB_KEY_SIZE];
    (void)frontier;
    assert_int_equal(tree, TREE_FETCH);
    assert_int_equal(from.length, JOB_KEY_SIZE);
    assert_int_equal(within, 9); /* the stage and the lane */
    job_key_read((const uint8_t *)from.at, &after);
    assert_int_equal(after.stage, STAGE_FETCH);
    scans++;
    bool goes_on = true;
    for (struct stored *next = following(after.lane, &after, true); next != NULL && goes_on;
         next = following(after.lane, &next->key, false)) {
        job_key_write(&next->key, bytes);
        visited++;
        goes_on = visit(context, slice_of((const char *)bytes, sizeof bytes), record_of(next));
    }
    return scan_status == STATUS_OK ? STATUS_OK : status_fail(why, scan_status, "a fault");
}

/* ---- steps ---- */

static struct stored *
put(uint64_t lane, uint64_t rank, size_t length)
{
    assert_true(job_count < JOBS);
    struct stored *stored = &jobs[job_count++];
    *stored = (struct stored){
        .key = {STAGE_FETCH, lane, rank, job_count}, .length = length, .there = true};
    upcoming_ready(heads, &stored->key);
    return stored;
}

/* The job that is next, which stays where it is; NULL: none. */
static struct stored *
look(uint64_t lane, enum upcoming_class class)
{
    const struct upcoming_source source = {.frontier = NULL, .leases = leases};
    struct job_key key;
    struct slice record;
    struct reason why;
    assert_int_equal(upcoming_next(heads, &source, lane, class, &key, &record, &why), STATUS_OK);
    if (record.at == NULL) {
        return NULL;
    }
    assert_int_equal(key.stage, STAGE_FETCH);
    assert_int_equal(key.lane, lane);
    struct stored *stored = &jobs[key.id - 1];
    assert_int_equal(key.rank, stored->key.rank);
    assert_int_equal(record.length, stored->length);
    assert_memory_equal(record.at, record_of(stored).at, stored->length);
    return stored;
}

static bool
hand_out(struct stored *stored, enum upcoming_class class)
{
    const bool last = upcoming_pop(heads, stored->key.lane, class);
    leases_add(leases, &(struct lease){.key = stored->key, .worker = worker});
    stored->out = true;
    return last;
}

static struct stored *
take(uint64_t lane, enum upcoming_class class)
{
    struct stored *stored = look(lane, class);
    if (stored != NULL) {
        (void)hand_out(stored, class);
    }
    return stored;
}

static void
let_go(struct stored *stored)
{
    if (stored->out) {
        leases_remove(leases, leases_find(leases, stored->key.id));
        stored->out = false;
    }
}

static void
end(struct stored *stored)
{
    let_go(stored);
    stored->there = false;
    upcoming_gone(heads, &stored->key);
}

static void
give_back(struct stored *stored)
{
    let_go(stored);
    upcoming_ready(heads, &stored->key);
}

static void
open_heads(size_t bytes)
{
    upcoming_free(heads);
    heads = upcoming_new(bytes);
    leases_free(leases);
    leases = leases_new();
    worker = leases_worker_add(leases, SLICE("w"));
    job_count = scans = visited = 0;
}

static int
set_up(void **state)
{
    (void)state;
    scan_status = STATUS_OK;
    open_heads(PLENTY);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    upcoming_free(heads);
    leases_free(leases);
    heads = NULL;
    leases = NULL;
    upcoming_free(NULL);
    return 0;
}

/* ---- reading ---- */

static void
so_many_are_read_at_once(void **state)
{
    (void)state;
    for (size_t n = READ_AT_ONCE - 1; n <= READ_AT_ONCE + 1; n++) {
        open_heads(PLENTY);
        for (size_t i = 0; i < n; i++) {
            (void)put(7, 128, RECORD);
        }
        for (size_t i = 0; i < n; i++) {
            struct stored *next = look(7, UPCOMING_USUAL);
            assert_ptr_equal(next, &jobs[i]); /* in their order */
            assert_ptr_equal(look(7, UPCOMING_USUAL), next);
            const bool last = i + 1 == n || (i + 1) % READ_AT_ONCE == 0;
            assert_int_equal(hand_out(next, UPCOMING_USUAL), last);
            assert_int_equal(scans, i < READ_AT_ONCE ? 1 : 2);
        }
        assert_null(look(7, UPCOMING_USUAL));
        assert_int_equal(scans, n <= READ_AT_ONCE ? 1 : 2);
        assert_true(upcoming_pop(heads, 7, UPCOMING_USUAL));
        assert_null(look(7, UPCOMING_USUAL)); /* nothing is kept of it: it is read anew */
        assert_int_equal(scans, n <= READ_AT_ONCE ? 2 : 3);
    }
}

static void
so_many_bytes_are_read_at_once(void **state)
{
    static const struct {
        size_t length, scans;
    } cases[] = {{READ_BYTES / 4, 2}, {READ_BYTES, 4}, {READ_BYTES / 2, 2}, {1, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_heads(PLENTY);
        for (int k = 0; k < 4; k++) {
            (void)put(7, 128, cases[i].length);
        }
        for (int k = 0; k < 4; k++) {
            assert_ptr_equal(take(7, UPCOMING_USUAL), &jobs[k]);
        }
        assert_int_equal(scans, i == 0 ? 1 : cases[i].scans);
    }
}

static void
classes_are_apart(void **state)
{
    (void)state;
    struct stored *listed = put(7, RANK_SITEMAP, RECORD), *usual = put(7, RANK_SITEMAP - 1, RECORD);
    struct stored *urgent = put(7, 0, RECORD), *other = put(8, 1, RECORD);
    assert_ptr_equal(take(7, UPCOMING_SITEMAP), listed);
    assert_null(take(7, UPCOMING_SITEMAP));
    assert_ptr_equal(take(7, UPCOMING_USUAL), urgent);
    assert_ptr_equal(take(7, UPCOMING_USUAL), usual);
    assert_null(take(7, UPCOMING_USUAL));
    assert_null(take(8, UPCOMING_SITEMAP));
    assert_ptr_equal(take(8, UPCOMING_USUAL), other);
    assert_null(take(9, UPCOMING_USUAL));
}

static void
what_is_out_is_passed_over(void **state)
{
    (void)state;
    for (int i = 0; i < READ_AT_ONCE + 4; i++) {
        struct stored *stored = put(7, 128, RECORD);
        if (i < 4) {
            leases_add(leases, &(struct lease){.key = stored->key, .worker = worker});
            stored->out = true;
        }
    }
    for (int i = 4; i < READ_AT_ONCE + 4; i++) { /* those that are out count for no reading */
        assert_ptr_equal(take(7, UPCOMING_USUAL), &jobs[i]);
        assert_int_equal(scans, 1);
    }
    assert_null(take(7, UPCOMING_USUAL));
}

static void
faults_are_told(void **state)
{
    const struct upcoming_source source = {.frontier = NULL, .leases = leases};
    struct job_key key;
    struct slice record;
    struct reason why;
    (void)state;
    struct stored *stored = put(7, 128, RECORD);
    scan_status = STATUS_SYSTEM;
    assert_int_equal(upcoming_next(heads, &source, 7, UPCOMING_USUAL, &key, &record, &why),
                     STATUS_SYSTEM);
    assert_string_equal(why.text, "a fault");
    assert_null(record.at);
    scan_status = STATUS_OK;
    assert_ptr_equal(look(7, UPCOMING_USUAL), stored);
}

/* ---- what becomes of jobs ---- */

static void
what_appears_in_front_goes_first(void **state)
{
    (void)state;
    struct stored *second = put(7, 128, RECORD), *fourth = put(7, 128, RECORD);
    assert_ptr_equal(look(7, UPCOMING_USUAL), second);
    struct stored *first = put(7, 127, RECORD);
    assert_ptr_equal(take(7, UPCOMING_USUAL), first);
    assert_ptr_equal(take(7, UPCOMING_USUAL), second);
    give_back(first);
    assert_ptr_equal(take(7, UPCOMING_USUAL), first);
    struct stored *last = put(7, 129, RECORD);
    assert_ptr_equal(take(7, UPCOMING_USUAL), fourth);
    assert_ptr_equal(take(7, UPCOMING_USUAL), last);
    assert_null(take(7, UPCOMING_USUAL));
    give_back(fourth);
    assert_ptr_equal(take(7, UPCOMING_USUAL), fourth);
    struct stored *later = put(7, 129, RECORD); /* behind what was read last */
    assert_ptr_equal(take(7, UPCOMING_USUAL), later);
}

/* Between what is held: what stands before it stays in memory. */
static void
what_appears_between_is_read_with_what_follows(void **state)
{
    (void)state;
    struct stored *a = put(7, 10, RECORD), *c = put(7, 30, RECORD), *d = put(7, 40, RECORD);
    assert_ptr_equal(look(7, UPCOMING_USUAL), a);
    assert_int_equal(scans, 1);
    struct stored *b = put(7, 20, RECORD);
    assert_ptr_equal(take(7, UPCOMING_USUAL), a);
    assert_int_equal(scans, 1);
    assert_ptr_equal(take(7, UPCOMING_USUAL), b);
    assert_int_equal(scans, 2);
    assert_ptr_equal(take(7, UPCOMING_USUAL), c);
    struct stored *same = put(7, 40, RECORD); /* of one rank the older goes first */
    assert_ptr_equal(take(7, UPCOMING_USUAL), d);
    assert_ptr_equal(take(7, UPCOMING_USUAL), same);
    assert_null(take(7, UPCOMING_USUAL));
}

/* Only that one is passed over when something is gone: others may have its rank, or, of another
 * rank, be anything. */
static void
what_is_gone_is_passed_over(void **state)
{
    (void)state;
    for (size_t gone = 0; gone < 4; gone++) {
        open_heads(PLENTY);
        for (int i = 0; i < 4; i++) {
            (void)put(7, i < 2 ? 10 : 20, RECORD);
        }
        assert_ptr_equal(look(7, UPCOMING_USUAL), &jobs[0]);
        upcoming_gone(heads, &(struct job_key){STAGE_FETCH, 8, 10, jobs[gone].key.id});
        upcoming_gone(heads, &(struct job_key){STAGE_FETCH, 7, 15, jobs[gone].key.id});
        upcoming_gone(heads, &(struct job_key){STAGE_FETCH, 7, 10, 99});
        end(&jobs[gone]);
        for (size_t i = 0; i < 4; i++) {
            if (i != gone) {
                assert_ptr_equal(take(7, UPCOMING_USUAL), &jobs[i]);
            }
        }
        assert_null(take(7, UPCOMING_USUAL));
        assert_int_equal(scans, 1);
    }
}

/* Heads that were read the longest ago make room. */
static void
memory_has_a_limit(void **state)
{
    enum { SEVERAL = 100, LONG = 1000 };
    (void)state;
    open_heads(10 * (LONG + 2 * HEAD_SIZE));
    for (uint64_t lane = 1; lane <= SEVERAL; lane++) {
        (void)put(lane, 128, LONG);
        (void)put(lane, 129, LONG);
    }
    for (uint64_t lane = 1; lane <= SEVERAL; lane++) {
        assert_ptr_equal(look(lane, UPCOMING_USUAL), &jobs[2 * (lane - 1)]);
    }
    assert_int_equal(scans, SEVERAL);
    assert_non_null(look(SEVERAL, UPCOMING_USUAL)); /* is there */
    assert_non_null(look(SEVERAL - 1, UPCOMING_USUAL));
    assert_int_equal(scans, SEVERAL);
    assert_non_null(look(1, UPCOMING_USUAL)); /* is not */
    assert_int_equal(scans, SEVERAL + 1);
    for (uint64_t lane = 1; lane <= SEVERAL; lane++) {
        assert_ptr_equal(take(lane, UPCOMING_USUAL), &jobs[2 * (lane - 1)]);
        assert_ptr_equal(take(lane, UPCOMING_USUAL), &jobs[2 * (lane - 1) + 1]);
    }
    open_heads(1); /* one at least */
    (void)put(7, 128, LONG);
    (void)put(7, 129, LONG);
    assert_ptr_equal(take(7, UPCOMING_USUAL), &jobs[0]);
    assert_ptr_equal(take(7, UPCOMING_USUAL), &jobs[1]);
    assert_int_equal(scans, 1);
}

/* Puts, takes, ends and returns at random give what the array says. */
static void
heads_are_as_the_store_is(void **state)
{
    static const size_t limits[] = {1, 4000, PLENTY};
    unsigned seed = 7;
    (void)state;
    for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
        open_heads(limits[l]);
        while (job_count < JOBS) {
            const uint64_t lane = 1 + (uint64_t)rand_r(&seed) % LANES;
            const enum upcoming_class class =
                rand_r(&seed) % 3 == 0 ? UPCOMING_SITEMAP : UPCOMING_USUAL;
            const uint64_t least = class == UPCOMING_SITEMAP ? RANK_SITEMAP : 0;
            struct stored *any = job_count > 0 ? &jobs[(size_t)rand_r(&seed) % job_count] : NULL;
            switch (rand_r(&seed) % 6) {
            case 0:
            case 1:
                (void)put(lane, least + (uint64_t)rand_r(&seed) % 40,
                          1 + (size_t)rand_r(&seed) % RECORD);
                break;
            case 2:
            case 3: {
                struct stored *expected = NULL;
                for (size_t i = 0; i < job_count; i++) {
                    struct stored *one = &jobs[i];
                    if (one->there && !one->out && one->key.lane == lane &&
                        (one->key.rank >= RANK_SITEMAP) == (class == UPCOMING_SITEMAP) &&
                        (expected == NULL || precedes(&one->key, &expected->key))) {
                        expected = one;
                    }
                }
                assert_ptr_equal(take(lane, class), expected);
                break;
            }
            case 4:
                if (any != NULL && any->there && (any->out || rand_r(&seed) % 4 == 0)) {
                    end(any);
                }
                break;
            default:
                if (any != NULL && any->there && any->out) {
                    give_back(any);
                }
                break;
            }
        }
    }
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(so_many_are_read_at_once),
        CASE(so_many_bytes_are_read_at_once),
        CASE(classes_are_apart),
        CASE(what_is_out_is_passed_over),
        CASE(faults_are_told),
        CASE(what_appears_in_front_goes_first),
        CASE(what_appears_between_is_read_with_what_follows),
        CASE(what_is_gone_is_passed_over),
        CASE(memory_has_a_limit),
        CASE(heads_are_as_the_store_is),
    };
    return cmocka_run_group_tests_name("upcoming", tests, NULL, NULL);
}
