#include "index/serve/work_pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "index/serve/answers.h"

enum { REPLY_MAXIMUM = 32 << 20, LINKS_MAXIMUM = 16 << 20, LINKS_ENOUGH = 1 << 20, LINKS_MS = 100 };

struct work_pool {
    struct partition *partition;
    const struct service_options *options;
    int event;
    pthread_t *threads;
    unsigned thread_count;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t wake;
    /* To be done: estimates, for which queries wait, before links, each of which takes longer. */
    struct work_line {
        struct work *first, **last;
    } estimates, links;
    struct work *done;
    bool stopping;
};

/* Holds what one thread keeps. */
struct worker {
    struct work_pool *pool;
    struct partition_reader *reader;
    struct links_run *links;
};

/* ---- the questions ---- */

struct found_links {
    struct buf *out;
    uint64_t count;
};

static enum status
add_link(void *context, struct slice target, uint32_t query, struct reason *why)
{
    struct found_links *found = context;
    codec_put_varint(found->out, query);
    codec_put_slice(found->out, target);
    found->count++;
    return found->out->overflowed
               ? status_fail(why, STATUS_LIMIT, "more links than fit in an answer")
               : STATUS_OK;
}

/* A document that fails does so for itself. */
static void
links_of_one(struct worker *worker, struct slice document, struct buf *reply)
{
    struct reason why = {""};
    struct buf links;
    buf_init(&links, LINKS_MAXIMUM);
    struct found_links found = {.out = &links};
    const enum status status = links_of(
        worker->links, document, worker->pool->options->query_timeout_ms, add_link, &found, &why);
    codec_put_u8(reply, (uint8_t)status);
    codec_put_slice(reply, status == STATUS_OK ? buf_slice(&links) : slice_string(why.text));
    buf_release(&links);
}

/* Stops when that is much already; whoever asks asks again for the rest. */
static enum status
answer_links(struct worker *worker, struct work *work, struct reason *why)
{
    const uint64_t until = clock_monotonic_ms() + LINKS_MS;
    struct codec_reader in = codec_reader_of(work->request.payload);
    do {
        const struct slice document = codec_get_slice(&in);
        if (in.bad) {
            return status_fail(why, STATUS_PROTOCOL, "a request for links is malformed");
        }
        links_of_one(worker, document, &work->reply);
    } while (in.at < in.end && work->reply.length < LINKS_ENOUGH && clock_monotonic_ms() < until);
    return STATUS_OK;
}

static enum status
answer_estimate(struct worker *worker, struct work *work, struct reason *why)
{
    const struct quad_source *source = partition_reader_source(worker->reader);
    struct codec_reader in = codec_reader_of(work->request.payload);
    struct quad pattern;
    struct quad_oids ids;
    bool possible;
    uint64_t rows = 0;
    if (!index_get_pattern(&in, &pattern) || !codec_at_end(&in)) {
        return status_fail(why, STATUS_PROTOCOL, "a request for an estimate is malformed");
    }
    TRY(answer_pattern(source, &pattern, &ids, &possible, why));
    if (possible) {
        TRY(source->estimate(source->context, &ids, &rows, why));
    }
    codec_put_u64(&work->reply, rows);
    return STATUS_OK;
}

/* A predicate that no quad has leaves nothing. */
static enum status
answer_star(struct worker *worker, struct work *work, struct reason *why)
{
    enum { PREDICATES_MOST = 64 };
    const struct quad_source *source = partition_reader_source(worker->reader);
    struct codec_reader in = codec_reader_of(work->request.payload);
    oid predicates[PREDICATES_MOST];
    const uint64_t count = codec_get_varint(&in);
    double subjects = 0, rows = 0;
    bool possible = count > 0 && count <= PREDICATES_MOST;
    if (!possible) {
        return status_fail(why, STATUS_PROTOCOL, "a request for an estimate is malformed");
    }
    for (uint64_t i = 0; i < count; i++) {
        struct term term;
        if (!index_get_term(&in, &term)) {
            return status_fail(why, STATUS_PROTOCOL, "a request for an estimate is malformed");
        }
        TRY(source->lookup(source->context, &term, &predicates[i], why));
        possible = possible && predicates[i] != OID_NONE;
    }
    if (!codec_at_end(&in)) {
        return status_fail(why, STATUS_PROTOCOL, "a request for an estimate is malformed");
    }
    if (possible) {
        TRY(source->estimate_star(source->context, predicates, count, &subjects, &rows, why));
    }
    codec_put_u64(&work->reply, (uint64_t)(subjects * INDEX_STAR_PARTS));
    codec_put_u64(&work->reply, (uint64_t)(rows * INDEX_STAR_PARTS));
    return STATUS_OK;
}

static void
answer_work(struct worker *worker, struct work *work)
{
    partition_reader_renew(worker->reader);
    buf_init(&work->reply, REPLY_MAXIMUM);
    work->status = work->request.verb == INDEX_VERB_LINKS ? answer_links(worker, work, &work->why)
                   : work->request.verb == INDEX_VERB_STAR
                       ? answer_star(worker, work, &work->why)
                       : answer_estimate(worker, work, &work->why);
}

/* ---- threads ---- */

static void *
run(void *argument)
{
    struct worker worker = {.pool = argument};
    struct work_pool *pool = worker.pool;
    if (partition_reader_open(&worker.reader, pool->partition, NULL) != STATUS_OK) {
        return NULL;
    }
    worker.links = links_run_new(pool->options->links, worker.reader);
    pthread_mutex_lock(&pool->mutex);
    while (!pool->stopping) {
        struct work_line *line = pool->estimates.first != NULL ? &pool->estimates : &pool->links;
        struct work *work = line->first;
        if (work == NULL) {
            pthread_cond_wait(&pool->wake, &pool->mutex);
            continue;
        }
        line->first = work->next;
        line->last = line->first ? line->last : &line->first;
        pthread_mutex_unlock(&pool->mutex);
        answer_work(&worker, work);
        pthread_mutex_lock(&pool->mutex);
        work->next = pool->done;
        pool->done = work;
        const uint64_t one = 1;
        const ssize_t written = write(pool->event, &one, sizeof(one));
        (void)written;
    }
    pthread_mutex_unlock(&pool->mutex);
    links_run_free(worker.links);
    partition_reader_close(worker.reader);
    return NULL;
}

enum status
work_pool_start(struct work_pool **result, struct partition *partition,
                const struct service_options *options, int event, struct reason *why)
{
    struct work_pool *pool = memory_new(sizeof(*pool));
    pool->partition = partition;
    pool->options = options;
    pool->event = event;
    pool->estimates.last = &pool->estimates.first;
    pool->links.last = &pool->links.first;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pool->threads = memory_zero(options->query_threads, sizeof(*pool->threads));
    for (unsigned i = 0; i < options->query_threads; i++) {
        if (pthread_create(&pool->threads[i], NULL, run, pool) != 0) {
            work_pool_stop(pool);
            return status_fail(why, STATUS_SYSTEM, "cannot start a thread");
        }
        pool->thread_count++;
    }
    *result = pool;
    return STATUS_OK;
}

void
work_free(struct work *work)
{
    buf_release(&work->reply);
    free(work);
}

static void
drop(struct work *work)
{
    while (work != NULL) {
        struct work *next = work->next;
        rpc_request_drop(&work->request);
        work_free(work);
        work = next;
    }
}

void
work_pool_stop(struct work_pool *pool)
{
    if (pool == NULL) {
        return;
    }
    pthread_mutex_lock(&pool->mutex);
    pool->stopping = true;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
    for (unsigned i = 0; i < pool->thread_count; i++) {
        pthread_join(pool->threads[i], NULL);
    }
    drop(pool->estimates.first);
    drop(pool->links.first);
    drop(pool->done);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->mutex);
    free(pool->threads);
    free(pool);
}

void
work_pool_add(struct work_pool *pool, const struct rpc_request *request)
{
    struct work *work = memory_new(sizeof(*work));
    work->request = *request;
    pthread_mutex_lock(&pool->mutex);
    struct work_line *line = request->verb == INDEX_VERB_LINKS ? &pool->links : &pool->estimates;
    *line->last = work;
    line->last = &work->next;
    pthread_cond_signal(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
}

struct work *
work_pool_take(struct work_pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    struct work *done = pool->done;
    pool->done = NULL;
    pthread_mutex_unlock(&pool->mutex);
    return done;
}
