/* What a service is made of, and its partition; told_service.h. */
#include <stdlib.h>
#include <string.h>

#include "index/read/answer_cache.h"
#include "index/serve/publisher.h"
#include "index/serve/sessions.h"
#include "tests/unit/index_answers/told_service.h"

enum { IDLE_THREADS = 4, NICE = 3 };

STAND_IN(struct turns *, turns_new, (unsigned most, size_t memory))
{
    assert_int_equal(most, told_options->query_threads);
    told_made++;
    return told_turns[memory == 0];
}

STAND_IN(void, turns_free, (struct turns * turns))
{
    assert_true(turns == told_turns[0] || turns == told_turns[1]);
    told_made--;
}

STAND_IN(struct threads *, threads_new, (size_t idle_most, int niceness))
{
    assert_int_equal(idle_most, IDLE_THREADS);
    assert_int_equal(niceness, NICE);
    told_made++;
    return told_threads;
}

STAND_IN(void, threads_free, (struct threads * threads))
{
    assert_ptr_equal(threads, told_threads);
    told_made--;
}

STAND_IN(struct sessions *, sessions_new, (struct partition * partition, size_t most))
{
    assert_ptr_equal(partition, PLACE(partition, 3));
    assert_int_equal(most, told_options->cursors);
    told_made++;
    return PLACE(sessions, 4);
}

STAND_IN(void, sessions_free, (struct sessions * sessions))
{
    assert_ptr_equal(sessions, PLACE(sessions, 4));
    told_made--;
}

STAND_IN(void, sessions_end, (struct sessions * sessions, uint64_t id))
{
    assert_ptr_equal(sessions, PLACE(sessions, 4));
    LOG("end session %u\n", (unsigned)id);
}

STAND_IN(void, sessions_tend, (struct sessions * sessions, uint64_t now_ms))
{
    assert_ptr_equal(sessions, PLACE(sessions, 4));
    told_tended_ms = now_ms;
}

STAND_IN(struct patch_queue *, patch_queue_new, (int finished))
{
    assert_true(finished == 4711 || told_fails("eventfd", NULL) != STATUS_OK);
    told_made++;
    return PLACE(patch_queue, 5);
}

STAND_IN(void, patch_queue_free, (struct patch_queue * queue))
{
    assert_ptr_equal(queue, PLACE(patch_queue, 5));
    told_made--;
}

STAND_IN(void, patch_queue_add, (struct patch_queue * queue, const struct rpc_request *request))
{
    assert_ptr_equal(queue, PLACE(patch_queue, 5));
    LOG("patch %u\n", (unsigned)request->id);
}

STAND_IN(struct patch *, patch_queue_take, (struct patch_queue * queue))
{
    struct patch *taken = told_patches;
    assert_ptr_equal(queue, PLACE(patch_queue, 5));
    told_patches = NULL;
    return taken;
}

STAND_IN(enum status, work_pool_start,
         (struct work_pool * *pool, struct partition *partition,
          const struct service_options *options, int event, struct reason *why))
{
    assert_ptr_equal(partition, PLACE(partition, 3));
    assert_int_equal(options->query_threads, told_options->query_threads);
    assert_int_equal(event, 4711);
    TRY(told_fails("pool", why));
    told_made++;
    *pool = PLACE(work_pool, 6);
    return STATUS_OK;
}

STAND_IN(void, work_pool_stop, (struct work_pool * pool))
{
    told_made -= pool != NULL;
}

STAND_IN(void, work_pool_add, (struct work_pool * pool, const struct rpc_request *request))
{
    assert_ptr_equal(pool, PLACE(work_pool, 6));
    LOG("work %u verb %u\n", (unsigned)request->id, request->verb);
}

STAND_IN(struct work *, work_pool_take, (struct work_pool * pool))
{
    struct work *taken = told_work;
    assert_ptr_equal(pool, PLACE(work_pool, 6));
    told_work = NULL;
    return taken;
}

STAND_IN(void, work_free, (struct work * work))
{
    LOG("free work\n");
    buf_release(&work->reply);
    free(work);
}

STAND_IN(enum status, publisher_start,
         (struct publisher * *publisher, struct partition *partition, unsigned number,
          const char *const *endpoints, const struct rpc_keys *keys, struct reason *why))
{
    assert_ptr_equal(partition, PLACE(partition, 3));
    assert_int_equal(number, told_options->partition_number);
    assert_ptr_equal(endpoints, told_options->published);
    assert_ptr_equal(keys, told_options->publish_keys);
    TRY(told_fails("publisher", why));
    told_made++;
    *publisher = PLACE(publisher, 7);
    return STATUS_OK;
}

STAND_IN(void, publisher_wake, (struct publisher * publisher))
{
    told_publishes++;
    (void)publisher;
}

STAND_IN(void, publisher_stop, (struct publisher * publisher))
{
    told_made -= publisher != NULL;
}

STAND_IN(struct answer_cache *, answer_cache_new, (size_t memory, const struct answer_marks *marks))
{
    assert_int_equal(memory, told_options->answer_memory);
    assert_ptr_equal(marks->commits, PLACE(change_marks, 8));
    assert_ptr_equal(marks->words, PLACE(change_marks, 9));
    told_made++;
    return PLACE(answer_cache, 10);
}

STAND_IN(void, answer_cache_free, (struct answer_cache * cache))
{
    assert_ptr_equal(cache, PLACE(answer_cache, 10));
    told_made--;
}

STAND_IN(bool, answer_cache_find,
         (struct answer_cache * cache, struct slice request, struct slice *answer))
{
    assert_ptr_equal(cache, PLACE(answer_cache, 10));
    LOG("find %u\n", (unsigned)request.length);
    *answer = SLICE("kept");
    return told_in_cache;
}

STAND_IN(void, answer_cache_put,
         (struct answer_cache * cache, const struct partition_version *version,
          struct slice request, struct slice answer, const struct partition_needs *needs))
{
    assert_ptr_equal(cache, PLACE(answer_cache, 10));
    assert_ptr_equal(needs, PLACE(partition_needs, 11));
    assert_int_equal(answer.at[0], INDEX_PIECE_END);
    LOG("keep %.*s of %u.%u: %.*s\n", SLICE_PRINT(slice_of(request.at + 1, request.length - 1)),
        (unsigned)version->commits, (unsigned)version->words,
        SLICE_PRINT(slice_of(answer.at + 17, answer.length - 17)));
}

/* ---- the partition ---- */

STAND_IN(void, partition_stats, (struct partition * partition, struct partition_stats *stats))
{
    assert_ptr_equal(partition, PLACE(partition, 3));
    memset(stats, 0, sizeof *stats);
    stats->totals.documents = 11;
    stats->totals.quads = 12;
    stats->totals.terms = 13;
    stats->totals.literals = 14;
    stats->bytes = 15;
    stats->totals.batches = 16;
    stats->writes = STATUS_FULL;
}

STAND_IN(void, partition_position,
         (struct partition * partition, struct change_position *position, uint64_t *first))
{
    assert_ptr_equal(partition, PLACE(partition, 3));
    *position = (struct change_position){.batch = told_batch, .stamp = 1000 + told_batch};
    if (first != NULL) {
        *first = 3;
    }
}

STAND_IN(void, partition_version, (struct partition * partition, struct partition_version *version))
{
    assert_ptr_equal(partition, PLACE(partition, 3));
    *version = (struct partition_version){told_batch, 2 * told_batch};
}

STAND_IN(void, partition_marks,
         (const struct partition *partition, const struct change_marks **commits,
          const struct change_marks **words))
{
    assert_ptr_equal(partition, PLACE(partition, 3));
    *commits = PLACE(change_marks, 8);
    *words = PLACE(change_marks, 9);
}

STAND_IN(void, partition_announce_to, (struct partition * partition, int event))
{
    assert_ptr_equal(partition, PLACE(partition, 3));
    told_announced = event;
}
