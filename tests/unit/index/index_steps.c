/* Each step of a commit fails once: before it has done anything, and after it has done all. The
 * linker puts the functions below around those of the index. Whatever fails, the batch must say so,
 * the index must be the one before, verify must find nothing, and the same batch must succeed when
 * it is tried again. */
#include "tests/unit/index/index_steps.h"

#include "index/changes/change_log.h"
#include "index/quads/documents.h"
#include "index/quads/quads.h"
#include "index/statistics/statistics.h"
#include "index/terms/lexicon.h"
#include "index/write/graph_differences.h"
#include "tests/unit/index/index_fixture.h"

enum { DOCUMENTS = 24, STEPS_MOST = 2000 };

static int steps, failing; /* calls so far; the one that fails, 0: none */
static bool afterwards;    /* it fails when it has done its work */

static enum status
step_fails(struct reason *why)
{
    return status_fail(why, STATUS_SYSTEM, "step %d failed", failing);
}

/* name(arguments) fails if its turn has come. */
#define STEP(name, parameters, arguments)                   \
    enum status __real_##name parameters;                   \
    enum status __wrap_##name parameters;                   \
    enum status __wrap_##name parameters                    \
    {                                                       \
        const bool fails = ++steps == failing;              \
        if (fails && !afterwards) {                         \
            return step_fails(why);                         \
        }                                                   \
        const enum status status = __real_##name arguments; \
        return fails ? step_fails(why) : status;            \
    }

STEP(documents_get,
     (struct tree * documents, oid graph, struct document_entry *entry, struct reason *why),
     (documents, graph, entry, why))
STEP(documents_put,
     (struct tree * documents, struct transaction *transaction, oid graph,
      const struct document_entry *entry, struct reason *why),
     (documents, transaction, graph, entry, why))
STEP(lexicon_assign,
     (struct lexicon * lexicon, struct transaction *transaction, struct term_set *set,
      size_t build_from, uint64_t *added, struct reason *why),
     (lexicon, transaction, set, build_from, added, why))
STEP(lexicon_find_all, (struct lexicon * lexicon, struct term_set *set, struct reason *why),
     (lexicon, set, why))
STEP(lexicon_find, (struct lexicon * lexicon, const struct term *term, oid *id, struct reason *why),
     (lexicon, term, id, why))
STEP(quads_apply,
     (struct quads * quads, struct transaction *transaction, const struct change_set *set,
      size_t build_from, struct reason *why),
     (quads, transaction, set, build_from, why))
STEP(change_log_append,
     (struct change_log * log, struct transaction *transaction, const struct change_set *set,
      const struct graph_generation *generations, size_t count, struct reason *why),
     (log, transaction, set, generations, count, why))
STEP(differences_add,
     (struct differences * differences, struct batch_document *const *documents, size_t n,
      struct reason *why),
     (differences, documents, n, why))
STEP(statistics_apply,
     (struct tree * statistics, struct transaction *transaction,
      const struct statistics_change *change, struct reason *why),
     (statistics, transaction, change, why))

/* New documents, changed ones, one that is gone, one that is the same, and a patch. */
static void
fill(struct index_batch *batch, uint64_t generation, uint64_t seed)
{
    struct reason why = {""};
    char uri[64];
    index_batch_reset(batch);
    fixture_seed = seed;
    for (unsigned document = 0; document < DOCUMENTS; document++) {
        struct buf text;
        buf_init(&text, 1 << 20);
        fixture_document(document, 8, &text);
        if (document % 3 != 0 || generation == 1) {
            fixture_add(batch, document, generation, &text);
        }
        buf_release(&text);
    }
    if (generation == 1) {
        return;
    }
    fixture_uri(DOCUMENTS, uri);
    const struct index_document gone = {
        .uri = slice_string(uri), .generation = generation, .removed = true};
    size_t number;
    must(index_batch_add(batch, &gone, SLICE(""), &number, &why), &why);
    fixture_uri(0, uri);
    const struct term graph = term_iri(slice_string(uri));
    const struct quad quad = {.subject = graph,
                              .predicate = term_iri(SLICE("http://p.example/patched")),
                              .object = term_iri(SLICE("http://p.example/object")),
                              .graph = graph};
    index_batch_begin_patch(batch, slice_string(uri));
    must(index_batch_quad(batch, &quad, &why), &why);
    (void)index_batch_end(batch);
}

static struct partition *
make(char *folder, struct index_batch **batch)
{
    struct reason why = {""};
    assert_true(scratch_folder(folder, "test_index_steps"));
    struct partition *partition = fixture_open(folder, 1 << 20);
    *batch = index_batch_new(partition);
    fill(*batch, 1, 88172645463325252u);
    must(index_batch_commit(*batch, &why), &why);
    fill(*batch, 2, 4101842887655102017u);
    return partition;
}

static void
clear(struct partition *partition, struct index_batch *batch, const char *folder)
{
    index_batch_free(batch);
    partition_close(partition);
    fixture_run("rm -r %s%s", folder, "");
}

static void
test_every_step_fails_once(void **state)
{
    char control_folder[SCRATCH_SIZE], folder[SCRATCH_SIZE];
    struct index_batch *control_batch, *batch;
    struct reason why = {""};
    struct buf before, after, now;
    (void)state;
    buf_init(&before, 1 << 24);
    buf_init(&after, 1 << 24);
    buf_init(&now, 1 << 24);
    steps = failing = 0;
    struct partition *control = make(control_folder, &control_batch);
    fixture_dump(control, control_folder, &before);
    steps = 0;
    must(index_batch_commit(control_batch, &why), &why);
    const int all = steps;
    assert_true(all > 9 && all < STEPS_MOST);
    fixture_dump(control, control_folder, &after);
    fixture_verify(control, control_folder);
    assert_false(slice_equal(buf_slice(&before), buf_slice(&after)));

    struct partition *partition = make(folder, &batch);
    for (int step = 1; step <= all; step++) {
        char expected[32];
        for (int late = 0; late < 2; late++) {
            steps = 0;
            failing = step;
            afterwards = late;
            assert_int_equal(index_batch_commit(batch, &why), STATUS_SYSTEM);
            snprintf(expected, sizeof expected, "step %d failed", step);
            assert_string_equal(why.text, expected);
            assert_int_equal(steps, step); /* nothing goes on behind it */
            struct partition_stats stats;
            partition_stats(partition, &stats);
            assert_int_equal(stats.writes, STATUS_SYSTEM);
            failing = 0;
        }
        fixture_dump(partition, folder, &now);
        assert_true(slice_equal(buf_slice(&now), buf_slice(&before)));
        if (step % 16 == 0 || step > all - 4) {
            fixture_verify(partition, folder);
        }
    }
    must(index_batch_commit(batch, &why), &why);
    fixture_dump(partition, folder, &now);
    assert_true(slice_equal(buf_slice(&now), buf_slice(&after)));
    fixture_verify(partition, folder);
    clear(partition, batch, folder);
    clear(control, control_batch, control_folder);
    buf_release(&before);
    buf_release(&after);
    buf_release(&now);
}

int
index_steps_run(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_step_fails_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
