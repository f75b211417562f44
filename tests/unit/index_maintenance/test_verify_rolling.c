/* Counts over an index that is written to meanwhile (index/maintenance/verify_rolling.c), beside a
 * model of it: whatever batches come between the steps, in the end the counts are those of what is
 * there then. */
#include "tests/unit/index_maintenance/rolling_world.h"

#include <errno.h>
#include <inttypes.h>

#include "base/buf.h"

enum { TEXT_MOST = 1 << 16 };

static struct reason why;

/* ---- counting ---- */

static int
begin(void **state)
{
    (void)state;
    size_t n = 0;
    for (oid graph = 1; graph <= GRAPHS; graph++) {
        for (oid subject = 1; subject <= SUBJECTS; subject++) {
            for (oid predicate = 0; predicate < PREDICATES; predicate++) {
                for (oid object = 1; object <= OBJECTS; object++) {
                    universe[n++] =
                        (struct quad_oids){subject, TYPE + (predicate << 3), 200 + object, graph};
                }
            }
        }
    }
    memset(here, 0, sizeof here);
    memset(written, 0, sizeof written);
    memset(&partition, 0, sizeof partition);
    assert_int_equal(pthread_mutex_init(&partition.writer, NULL), 0);
    first_batch = batch_count = late = locks = 0;
    failing = NOTHING;
    chance = 1;
    return 0;
}

static int
end(void **state)
{
    (void)state;
    assert_int_equal(readers, 0);
    assert_int_equal(scans, 0);
    return 0;
}

static void
unlock(void)
{
    assert_int_equal(pthread_mutex_trylock(&partition.writer), EBUSY);
    assert_int_equal(pthread_mutex_unlock(&partition.writer), 0);
}

static void
must_count(enum status status)
{
    if (status != STATUS_OK) {
        fail_msg("%s", why.text);
    }
}

static void
some_batches(unsigned most)
{
    for (uint64_t left = most > 0 ? next_chance(most) : 0; left > 0; left--) {
        write_batch(1 + next_chance(20));
    }
}

/* Counts one document more, as verify does; false: there is none. */
static bool
count_document(struct rolling *rolling, unsigned batches_most)
{
    some_batches(batches_most);
    must_count(rolling_lock(rolling, &why));
    assert_int_equal(batch_count, 0);
    const oid graph = rolling->next_graph > 0 ? rolling->next_graph : 1;
    struct document_entry entry = {.quads = 0};
    for (size_t i = 0; i < QUADS; i++) {
        entry.quads += here[i] && universe[i].graph == graph;
    }
    entry.removed = entry.quads == 0; /* its record is still there */
    if (graph > GRAPHS) {
        rolling->next_graph = UINT64_MAX;
    } else {
        must_count(rolling_document(rolling, graph, &entry, &why));
    }
    unlock();
    if (graph <= GRAPHS) {
        must_count(rolling_subjects(rolling, graph, &why));
    }
    return graph <= GRAPHS;
}

static void
count_all(struct rolling *rolling, unsigned batches_most)
{
    must_count(rolling_open(rolling, &partition, &why));
    for (int order = 0; order < ORDER_COUNT; order++) {
        for (bool ends = false; !ends;) {
            some_batches(batches_most);
            must_count(rolling_step(rolling, (enum quad_order)order, &ends, &why));
        }
    }
    while (count_document(rolling, batches_most)) {
    }
    some_batches(batches_most);
    late = batches_most > 0 ? next_chance(3) : 0;
    must_count(rolling_lock(rolling, &why));
    unlock();
    census_finish(&rolling->census);
}

static int
compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All counts that are not 0 as lines, in order. */
static void
write_counts(const struct rolling *r, struct buf *text)
{
    struct buf unsorted;
    buf_init(&unsorted, TEXT_MOST);
    for (int order = 0; order < ORDER_COUNT; order++) {
        (void)buf_printf(&unsorted, "tree %d: %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", order,
                         r->trees[order].count, r->trees[order].sums[0], r->trees[order].sums[1]);
    }
    (void)buf_printf(&unsorted, "documents %" PRIu64 " quads %" PRIu64 "\n", r->documents,
                     r->document_quads);
    for (size_t i = 0; i < PREDICATES; i++) {
        const oid predicate = TYPE + ((oid)i << 3);
        (void)buf_printf(&unsorted, "predicate %zu: %" PRId64 "\n", i,
                         tally_count(&r->predicates, predicate));
    }
    for (oid object = 201; object <= 200 + OBJECTS; object++) {
        (void)buf_printf(&unsorted, "class %" PRIu64 ": %" PRId64 "\n", object,
                         tally_count(&r->classes, object));
    }
    for (size_t i = 0; i < r->census.hosts.count; i++) {
        const struct host_count *count = &r->census.host_counts[i];
        if (count->documents != 0 || count->quads != 0) {
            (void)buf_printf(&unsorted, "host %.*s: %" PRId64 " %" PRId64 "\n",
                             SLICE_PRINT(r->census.hosts.terms[i].term.value), count->documents,
                             count->quads);
        }
    }
    for (size_t i = 0; i < r->census.sets.count; i++) {
        const struct predicate_set *set = &r->census.sets.sets[i];
        int64_t rows = 0;
        for (size_t k = 0; k < set->count; k++) {
            rows |= r->census.sets.rows[set->first + k];
        }
        if (set->subjects == 0 && rows == 0) {
            continue;
        }
        (void)buf_printf(&unsorted, "set %" PRId64, set->subjects);
        for (size_t k = 0; k < set->count; k++) {
            (void)buf_printf(&unsorted, " %" PRIu64 "=%" PRId64,
                             oid_number(r->census.sets.predicates[set->first + k]),
                             r->census.sets.rows[set->first + k]);
        }
        (void)buf_append_char(&unsorted, '\n');
    }
    (void)buf_append_char(&unsorted, '\0');
    char *lines[128];
    size_t count = 0;
    for (char *line = strtok(unsorted.data, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        assert_true(count < sizeof lines / sizeof lines[0]);
        lines[count++] = line;
    }
    qsort(lines, count, sizeof lines[0], compare_lines);
    for (size_t i = 0; i < count; i++) {
        (void)buf_printf(text, "%s\n", lines[i]);
    }
    (void)buf_append_char(text, '\0');
    buf_release(&unsorted);
}

/* What is certain of the counts without those of an index that nobody writes to. */
static void
expect_counts(const struct rolling *r)
{
    uint64_t quads = 0, documents = 0, of_graph[GRAPHS] = {0};
    int64_t predicates[PREDICATES] = {0}, classes[OBJECTS] = {0};
    for (size_t i = 0; i < QUADS; i++) {
        quads += written[i];
        of_graph[universe[i].graph - 1] += written[i];
        predicates[(universe[i].predicate - TYPE) >> 3] += written[i];
        classes[universe[i].object - 201] += written[i] && universe[i].predicate == TYPE;
    }
    for (size_t i = 0; i < GRAPHS; i++) {
        documents += of_graph[i] > 0;
    }
    for (int order = 0; order < ORDER_COUNT; order++) {
        assert_int_equal(r->trees[order].count, quads);
        assert_memory_equal(r->trees[order].sums, r->trees[0].sums, sizeof r->trees[0].sums);
    }
    assert_int_equal(r->documents, documents);
    assert_int_equal(r->document_quads, quads);
    for (size_t i = 0; i < PREDICATES; i++) {
        assert_int_equal(tally_count(&r->predicates, TYPE + ((oid)i << 3)), predicates[i]);
    }
    for (size_t i = 0; i < OBJECTS; i++) {
        assert_int_equal(tally_count(&r->classes, 201 + i), classes[i]);
    }
    for (unsigned host = 0; host < 4; host++) {
        int64_t expected[2] = {0, 0}, found[2] = {0, 0};
        char name[32];
        snprintf(name, sizeof name, "host%u.example", host);
        for (size_t i = 0; i < GRAPHS; i++) {
            expected[0] += (i + 1) % 4 == host && of_graph[i] > 0;
            expected[1] += (i + 1) % 4 == host ? (int64_t)of_graph[i] : 0;
        }
        for (size_t i = 0; i < r->census.hosts.count; i++) {
            if (slice_find_slice(r->census.hosts.terms[i].term.value, slice_string(name)) <
                r->census.hosts.terms[i].term.value.length) {
                found[0] += r->census.host_counts[i].documents;
                found[1] += r->census.host_counts[i].quads;
            }
        }
        assert_int_equal(found[0], expected[0]);
        assert_int_equal(found[1], expected[1]);
    }
    int64_t subjects = 0, rows = 0;
    for (size_t i = 0; i < QUADS; i += PREDICATES * OBJECTS) {
        bool some = false;
        for (size_t k = i; k < i + PREDICATES * OBJECTS; k++) {
            some = some || written[k];
        }
        subjects += some;
    }
    for (size_t i = 0; i < r->census.sets.count; i++) {
        const struct predicate_set *set = &r->census.sets.sets[i];
        subjects -= set->subjects;
        for (size_t k = 0; k < set->count; k++) {
            rows += r->census.sets.rows[set->first + k];
        }
    }
    assert_int_equal(subjects, 0);
    assert_int_equal(rows, quads);
}

static void
counts_are_those_of_what_is_there_at_last(void **state)
{
    (void)state;
    enum { ROUNDS = 150 };
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct rolling rolling, still;
        struct buf texts[2];
        (void)begin(NULL);
        chance = round;
        if (round % 3 > 0) {
            write_batch(round);
        }
        count_all(&rolling, round < 3 ? 0 : 1 + round % 6);
        assert_memory_equal(here, written, sizeof here);
        expect_counts(&rolling);
        count_all(&still, 0);
        expect_counts(&still);
        for (int i = 0; i < 2; i++) {
            buf_init(&texts[i], TEXT_MOST);
            write_counts(i == 0 ? &rolling : &still, &texts[i]);
        }
        assert_string_equal(texts[0].data, texts[1].data);
        for (int i = 0; i < 2; i++) {
            buf_release(&texts[i]);
        }
        rolling_close(&rolling);
        rolling_close(&still);
    }
}

/* Sums tell which quads there are, also where there are as many. */
static void
sums_are_of_the_quads_themselves(void **state)
{
    (void)state;
    uint64_t sums[QUADS][2];
    for (size_t i = 0; i < QUADS; i++) {
        struct rolling rolling;
        memset(here, 0, sizeof here);
        here[i] = written[i] = true;
        count_all(&rolling, 0);
        expect_counts(&rolling);
        memcpy(sums[i], rolling.trees[0].sums, sizeof sums[i]);
        rolling_close(&rolling);
        written[i] = false;
        for (size_t k = 0; k < i; k++) {
            assert_true(sums[i][0] != sums[k][0] && sums[i][1] != sums[k][1]);
        }
    }
}

/* Few batches are taken in while the writer goes on; when there are more it waits. */
static void
the_writer_waits_when_it_is_faster(void **state)
{
    (void)state;
    enum { BEHIND_MOST = 4 };
    for (size_t waiting = 0; waiting < 8; waiting++) {
        struct rolling rolling;
        bool ends;
        must_count(rolling_open(&rolling, &partition, &why));
        for (size_t i = 0; i < waiting; i++) {
            write_batch(2);
        }
        locks = 0;
        must_count(rolling_step(&rolling, ORDER_SPOC, &ends, &why));
        assert_int_equal(locks, waiting >= BEHIND_MOST);
        assert_int_equal(batch_count, 0);
        for (size_t i = 0; i < waiting; i++) {
            write_batch(2);
        }
        late = 2;
        must_count(rolling_lock(&rolling, &why));
        unlock();
        assert_int_equal(behind, waiting > BEHIND_MOST ? waiting - BEHIND_MOST : 0);
        assert_int_equal(batch_count, 0);
        rolling_close(&rolling);
    }
}

/* What fails is told, and the writer is locked all the same by what locks it. */
static void
each_step_can_fail(void **state)
{
    (void)state;
    struct rolling rolling;
    const struct document_entry entry = {.quads = 1};
    bool ends;
    failing = OPEN;
    assert_int_equal(rolling_open(&rolling, &partition, &why), STATUS_CORRUPT);
    assert_string_equal(why.text, "failure 1");
    rolling_close(&rolling);
    failing = NOTHING;
    must_count(rolling_open(&rolling, &partition, &why));
    failing = FIND;
    assert_int_equal(rolling_lock(&rolling, &why), STATUS_CORRUPT);
    assert_string_equal(why.text, "failure 2");
    unlock();
    assert_int_equal(rolling_step(&rolling, ORDER_SPOC, &ends, &why), STATUS_CORRUPT);
    failing = CHECK;
    assert_int_equal(rolling_step(&rolling, ORDER_SPOC, &ends, &why), STATUS_CORRUPT);
    assert_string_equal(why.text, "failure 6");
    assert_int_equal(rolling.trees[ORDER_SPOC].count, 0);
    failing = RESOLVE;
    assert_int_equal(rolling_document(&rolling, 1, &entry, &why), STATUS_CORRUPT);
    assert_string_equal(why.text, "failure 3");
    failing = SCAN;
    assert_int_equal(rolling_subjects(&rolling, 1, &why), STATUS_CORRUPT);
    assert_string_equal(why.text, "failure 4");
    failing = READ;
    assert_int_equal(rolling_subjects(&rolling, 1, &why), STATUS_CORRUPT);
    assert_string_equal(why.text, "failure 5");
    rolling_close(&rolling);
    /* Of a batch: its documents' hosts, and what was there before. */
    for (unsigned fails = RESOLVE; fails <= READ; fails++) {
        char text[32];
        (void)begin(NULL);
        must_count(rolling_open(&rolling, &partition, &why));
        write_batch(30);
        must_count(rolling_lock(&rolling, &why));
        unlock();
        rolling.next_graph = GRAPHS;
        write_batch(30);
        failing = fails;
        assert_int_equal(rolling_lock(&rolling, &why), STATUS_CORRUPT);
        snprintf(text, sizeof text, "failure %u", fails);
        assert_string_equal(why.text, text);
        unlock();
        assert_int_equal(batch_count, 1); /* it is not left behind */
        assert_int_equal(rolling_step(&rolling, ORDER_SPOC, &ends, &why), STATUS_CORRUPT);
        rolling_close(&rolling);
        go_on();
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(counts_are_those_of_what_is_there_at_last),
        CASE(sums_are_of_the_quads_themselves),
        CASE(the_writer_waits_when_it_is_faster),
        CASE(each_step_can_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
