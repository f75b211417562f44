/* Small questions to a partition (index/serve/work_pool.c): what is answered, in which order, and
 * what becomes of those that are wrong. The linker puts the functions below in the place of
 * threads, so that the worker's work is done when the test says, and of the partition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>

#include "base/codec.h"
#include "base/memory.h"
#include "index/protocol/service_protocol.h"
#include "index/read/query_answer.h"
#include "index/serve/work_pool.h"
#include "tests/unit/index_answers/told_locks.h"

enum { TEXT_MOST = 1 << 26, EVENT = 4711, TIMEOUT_MS = 99, STAR_MOST = 64, ENOUGH = 1 << 20 };

static max_align_t places[5];
#define PLACE(type, number) ((struct type *)(void *)&places[number])

/* ---- the worker, which works until it would wait ---- */

static void *(*worker)(void *);
static void *worker_argument;
static jmp_buf idle;
static unsigned threads, threads_most, readers, runs, renewals, events;
static uint64_t drops; /* the ids of what was dropped, each a digit */
static enum status reader_status;
static uint64_t now_ms;

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*work)(void *), void *argument);
int
__wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *),
                      void *argument)
{
    (void)thread, (void)attributes;
    if (threads == threads_most) {
        return EAGAIN;
    }
    threads++;
    worker = work;
    worker_argument = argument;
    return 0;
}

int __wrap_pthread_join(pthread_t thread, void **result);
int
__wrap_pthread_join(pthread_t thread, void **result)
{
    (void)thread, (void)result;
    assert_null(worker(worker_argument)); /* it does not work any more */
    threads--;
    return 0;
}

int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int
__wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    (void)condition;
    pthread_mutex_unlock(mutex);
    longjmp(idle, 1);
}

static void
work_until_idle(void)
{
    if (setjmp(idle) == 0) {
        (void)worker(worker_argument);
        fail_msg("it ended");
    }
    readers--, runs--; /* it would keep them */
}

uint64_t __wrap_clock_monotonic_ms(void);
uint64_t
__wrap_clock_monotonic_ms(void)
{
    return now_ms;
}

ssize_t __wrap_write(int fd, const void *from, size_t count);
ssize_t
__wrap_write(int fd, const void *from, size_t count)
{
    (void)from;
    assert_int_equal(fd, EVENT);
    events++;
    return (ssize_t)count;
}

void __wrap_rpc_request_drop(struct rpc_request *request);
void
__wrap_rpc_request_drop(struct rpc_request *request)
{
    drops = drops * 10 + request->id;
}

/* ---- the partition ---- */

static enum status pattern_status, estimate_status, lookup_status, star_status;
static bool possible;
static const char *unknown_predicate;
static size_t star_count;

enum status __wrap_partition_reader_open(struct partition_reader **reader,
                                         struct partition *partition, struct reason *why);
enum status
__wrap_partition_reader_open(struct partition_reader **reader, struct partition *partition,
                             struct reason *why)
{
    assert_ptr_equal(partition, PLACE(partition, 0));
    if (reader_status != STATUS_OK) {
        return status_fail(why, reader_status, "no reader");
    }
    readers++;
    *reader = PLACE(partition_reader, 1);
    return STATUS_OK;
}

void __wrap_partition_reader_close(struct partition_reader *reader);
void
__wrap_partition_reader_close(struct partition_reader *reader)
{
    assert_ptr_equal(reader, PLACE(partition_reader, 1));
    readers--;
}

void __wrap_partition_reader_renew(struct partition_reader *reader);
void
__wrap_partition_reader_renew(struct partition_reader *reader)
{
    assert_ptr_equal(reader, PLACE(partition_reader, 1));
    renewals++;
}

static enum status
outcome(enum status status, struct reason *why)
{
    return status == STATUS_OK ? STATUS_OK : status_fail(why, status, "it went wrong");
}

static enum status
source_estimate(void *context, const struct quad_oids *ids, uint64_t *rows, struct reason *why)
{
    assert_ptr_equal(context, PLACE(partition, 0));
    assert_int_equal(ids->predicate, 5);
    *rows = 1234;
    return outcome(estimate_status, why);
}

static enum status
source_lookup(void *context, const struct term *term, oid *id, struct reason *why)
{
    assert_ptr_equal(context, PLACE(partition, 0));
    *id = slice_is(term->value, unknown_predicate) ? OID_NONE : 100 + term->value.length;
    return outcome(lookup_status, why);
}

static enum status
source_estimate_star(void *context, const oid *predicates, size_t count, double *subjects,
                     double *rows, struct reason *why)
{
    assert_ptr_equal(context, PLACE(partition, 0));
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(predicates[i], 101 + i);
    }
    star_count = count;
    *subjects = 2.5;
    *rows = 7.25;
    return outcome(star_status, why);
}

static const struct quad_source source = {.context = (void *)&places[0],
                                          .estimate = source_estimate,
                                          .lookup = source_lookup,
                                          .estimate_star = source_estimate_star};

const struct quad_source *__wrap_partition_reader_source(struct partition_reader *reader);
const struct quad_source *
__wrap_partition_reader_source(struct partition_reader *reader)
{
    assert_ptr_equal(reader, PLACE(partition_reader, 1));
    return &source;
}

enum status __wrap_answer_pattern(const struct quad_source *from, const struct quad *pattern,
                                  struct quad_oids *ids, bool *is_possible, struct reason *why);
enum status
__wrap_answer_pattern(const struct quad_source *from, const struct quad *pattern,
                      struct quad_oids *ids, bool *is_possible, struct reason *why)
{
    assert_ptr_equal(from, &source);
    assert_true(slice_is(pattern->predicate.value, "x:p"));
    *ids = (struct quad_oids){.predicate = 5};
    *is_possible = possible;
    return outcome(pattern_status, why);
}

struct links_run *__wrap_links_run_new(const struct links *links, struct partition_reader *reader);
struct links_run *
__wrap_links_run_new(const struct links *links, struct partition_reader *reader)
{
    assert_ptr_equal(links, PLACE(links, 2));
    assert_ptr_equal(reader, PLACE(partition_reader, 1));
    runs++;
    return PLACE(links_run, 3);
}

void __wrap_links_run_free(struct links_run *run);
void
__wrap_links_run_free(struct links_run *run)
{
    assert_ptr_equal(run, PLACE(links_run, 3));
    runs--;
}

/* A document "3" has links a, b and c, and takes 30 ms; one that begins with '!' fails; one that
 * begins with 'l' has as many long links as the number after it. */
enum status __wrap_links_of(struct links_run *run, struct slice document, uint64_t timeout_ms,
                            links_found *found, void *context, struct reason *why);
enum status
__wrap_links_of(struct links_run *run, struct slice document, uint64_t timeout_ms,
                links_found *found, void *context, struct reason *why)
{
    static char text[ENOUGH];
    assert_ptr_equal(run, PLACE(links_run, 3));
    assert_int_equal(timeout_ms, TIMEOUT_MS);
    if (document.at[0] == '!') {
        TRY(found(context, SLICE("x"), 1, why));
        return status_fail(why, STATUS_BAD_INPUT, "it is bad");
    }
    const bool is_long = document.at[0] == 'l';
    const unsigned count = (unsigned)strtoul(document.at + is_long, NULL, 10);
    now_ms += is_long ? 0 : 10 * count;
    for (unsigned i = 0; i < count; i++) {
        const char name = (char)('a' + i);
        TRY(found(context, is_long ? slice_of(text, sizeof text) : slice_of(&name, 1), 10 + i,
                  why));
    }
    return STATUS_OK;
}

/* ---- asking ---- */

static struct work_pool *pool;
static struct buf request, answered;
static struct reason why;
static struct service_options options;

static void
add(uint8_t verb, uint64_t id)
{
    const struct rpc_request asked = {.verb = verb, .id = id, .payload = buf_slice(&request)};
    const unsigned signals_before = told_signals;
    work_pool_add(pool, &asked);
    assert_int_equal(told_signals, signals_before + 1);
}

/* Has the request answered; its reply is in `answered`. */
static enum status
ask(enum index_verb verb)
{
    add((uint8_t)verb, 1);
    const unsigned events_before = events, renewals_before = renewals;
    work_until_idle();
    assert_int_equal(events, events_before + 1);
    assert_int_equal(renewals, renewals_before + 1);
    struct work *work = work_pool_take(pool);
    assert_non_null(work);
    assert_null(work->next);
    buf_reset(&answered);
    (void)buf_append_slice(&answered, buf_slice(&work->reply));
    const enum status status = work->status;
    why = work->why;
    work_free(work);
    return status;
}

static void
put_pattern(void)
{
    const struct quad pattern = {.predicate = term_iri(SLICE("x:p"))};
    buf_reset(&request);
    index_put_pattern(&request, &pattern);
}

/* The predicates have names of 1, 2, ... characters. */
static void
put_star(size_t count)
{
    static const char names[] =
        "pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp";
    buf_reset(&request);
    codec_put_varint(&request, count);
    for (size_t i = 0; i < count; i++) {
        const struct term term = term_iri(slice_of(names, i + 1));
        index_put_term(&request, &term);
    }
}

static void
put_documents(const char *const *documents)
{
    buf_reset(&request);
    for (; *documents != NULL; documents++) {
        codec_put_slice(&request, slice_string(*documents));
    }
}

static struct codec_reader
reader_of_answer(void)
{
    return codec_reader_of(buf_slice(&answered));
}

static int
set_up(void **state)
{
    (void)state;
    options = (struct service_options){
        .links = PLACE(links, 2), .query_threads = 1, .query_timeout_ms = TIMEOUT_MS};
    pattern_status = estimate_status = lookup_status = star_status = reader_status = STATUS_OK;
    possible = true;
    unknown_predicate = "";
    threads = readers = runs = 0;
    drops = 0;
    threads_most = 10;
    buf_init(&request, TEXT_MOST);
    buf_init(&answered, TEXT_MOST);
    return work_pool_start(&pool, PLACE(partition, 0), &options, EVENT, &why) != STATUS_OK ||
           told_made_locks != 2;
}

static int
tear_down(void **state)
{
    (void)state;
    work_pool_stop(pool);
    pool = NULL;
    buf_release(&request);
    buf_release(&answered);
    return threads > 0 || readers > 0 || runs > 0 || told_made_locks > 0 || told_held_locks > 0;
}

/* ---- tests ---- */

static void
rows_of_a_pattern_are_estimated(void **state)
{
    (void)state;
    put_pattern();
    for (int i = 0; i < 2; i++) {
        possible = i == 0;
        assert_int_equal(ask(INDEX_VERB_ESTIMATE), STATUS_OK);
        struct codec_reader in = reader_of_answer();
        assert_int_equal(codec_get_u64(&in), i == 0 ? 1234 : 0);
        assert_true(codec_at_end(&in));
    }
    possible = true;
    for (int i = 0; i < 2; i++) {
        *(i == 0 ? &pattern_status : &estimate_status) = STATUS_CORRUPT;
        assert_int_equal(ask(INDEX_VERB_ESTIMATE), STATUS_CORRUPT);
        pattern_status = STATUS_OK;
    }
    const size_t whole = request.length;
    for (size_t length = 0; length < whole; length++) {
        request.length = length;
        assert_int_equal(ask(INDEX_VERB_ESTIMATE), STATUS_PROTOCOL);
        assert_string_equal(why.text, "a request for an estimate is malformed");
    }
    request.length = whole;
    (void)buf_append_char(&request, 'x');
    assert_int_equal(ask(INDEX_VERB_ESTIMATE), STATUS_PROTOCOL);
}

static void
expect_star(size_t count, uint64_t subjects, uint64_t rows)
{
    star_count = 0;
    put_star(count);
    assert_int_equal(ask(INDEX_VERB_STAR), STATUS_OK);
    struct codec_reader in = reader_of_answer();
    assert_int_equal(codec_get_u64(&in), subjects);
    assert_int_equal(codec_get_u64(&in), rows);
    assert_true(codec_at_end(&in));
    assert_int_equal(star_count, subjects > 0 ? count : 0);
}

static void
stars_are_estimated(void **state)
{
    (void)state;
    expect_star(1, 2500, 7250);
    expect_star(3, 2500, 7250);
    expect_star(STAR_MOST, 2500, 7250);
    /* A predicate that is not known leaves nothing, wherever it stands. */
    static const char *const unknown[] = {"p", "pp", "ppp"};
    for (size_t i = 0; i < 3; i++) {
        unknown_predicate = unknown[i];
        expect_star(3, 0, 0);
    }
    unknown_predicate = "";
    put_star(2);
    for (int i = 0; i < 2; i++) {
        *(i == 0 ? &lookup_status : &star_status) = STATUS_CORRUPT;
        assert_int_equal(ask(INDEX_VERB_STAR), STATUS_CORRUPT);
        lookup_status = star_status = STATUS_OK;
    }
    for (size_t length = 0; length < request.length; length++) {
        put_star(2);
        request.length = length;
        assert_int_equal(ask(INDEX_VERB_STAR), STATUS_PROTOCOL);
        put_star(2);
    }
    put_star(0);
    assert_int_equal(ask(INDEX_VERB_STAR), STATUS_PROTOCOL);
    put_star(STAR_MOST + 1);
    assert_int_equal(ask(INDEX_VERB_STAR), STATUS_PROTOCOL);
    put_star(2);
    (void)buf_append_char(&request, 'x');
    assert_int_equal(ask(INDEX_VERB_STAR), STATUS_PROTOCOL);
}

/* The next document's links: "10 a 11 b", or the reason why there are none. */
static void
expect_document(struct codec_reader *in, enum status status, const char *text)
{
    char seen[100] = "";
    assert_int_equal(codec_get_u8(in), status);
    const struct slice said = codec_get_slice(in);
    if (status != STATUS_OK) {
        assert_true(slice_is(said, text));
        return;
    }
    struct codec_reader links = codec_reader_of(said);
    while (links.at < links.end) {
        const unsigned query = (unsigned)codec_get_varint(&links);
        const struct slice target = codec_get_slice(&links);
        assert_false(links.bad);
        snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%u %.*s ", query,
                 SLICE_PRINT(target));
    }
    assert_string_equal(seen, text);
}

static void
links_of_documents_are_found(void **state)
{
    static const char *const documents[] = {"2", "!", "0", "1", NULL};
    (void)state;
    put_documents(documents);
    assert_int_equal(ask(INDEX_VERB_LINKS), STATUS_OK);
    struct codec_reader in = reader_of_answer();
    expect_document(&in, STATUS_OK, "10 a 11 b ");
    expect_document(&in, STATUS_BAD_INPUT, "it is bad");
    expect_document(&in, STATUS_OK, "");
    expect_document(&in, STATUS_OK, "10 a ");
    assert_true(codec_at_end(&in));
    request.length--;
    assert_int_equal(ask(INDEX_VERB_LINKS), STATUS_PROTOCOL);
    assert_string_equal(why.text, "a request for links is malformed");
    buf_reset(&request);
    assert_int_equal(ask(INDEX_VERB_LINKS), STATUS_PROTOCOL);
}

/* How many documents the answer is about. */
static size_t
documents_answered(void)
{
    struct codec_reader in = reader_of_answer();
    size_t count = 0;
    for (; in.at < in.end; count++) {
        (void)codec_get_u8(&in);
        (void)codec_get_slice(&in);
        assert_false(in.bad);
    }
    return count;
}

/* After a tenth of a second, or with a MiB of links, the rest has to be asked for again. */
static void
an_answer_about_links_has_bounds(void **state)
{
    static const char *const slow[] = {"5", "4", "1", "1", NULL};
    static const char *const slower[] = {"5", "4", "0", "1", "1", NULL};
    static const char *const long_ones[] = {"l1", "l1", NULL};
    static const char *const too_long[] = {"l17", NULL};
    (void)state;
    now_ms = 7;
    put_documents(slow);
    assert_int_equal(ask(INDEX_VERB_LINKS), STATUS_OK);
    assert_int_equal(documents_answered(), 3);
    put_documents(slower);
    assert_int_equal(ask(INDEX_VERB_LINKS), STATUS_OK);
    assert_int_equal(documents_answered(), 4);
    put_documents(long_ones);
    assert_int_equal(ask(INDEX_VERB_LINKS), STATUS_OK);
    assert_int_equal(documents_answered(), 1);
    assert_true(answered.length > ENOUGH);
    put_documents(too_long);
    assert_int_equal(ask(INDEX_VERB_LINKS), STATUS_OK);
    struct codec_reader in = reader_of_answer();
    expect_document(&in, STATUS_LIMIT, "more links than fit in an answer");
}

/* Takes what is done: the latest first, each id a digit. */
static uint64_t
take_done(void)
{
    uint64_t ids = 0;
    for (struct work *work = work_pool_take(pool), *next; work != NULL; work = next) {
        next = work->next;
        ids = ids * 10 + work->request.id;
        work_free(work);
    }
    return ids;
}

static void
estimates_come_before_links(void **state)
{
    (void)state;
    for (int round = 0; round < 2; round++) {
        put_pattern();
        add(INDEX_VERB_LINKS, 1);
        add(INDEX_VERB_LINKS, 2);
        add(INDEX_VERB_ESTIMATE, 3);
        add(INDEX_VERB_STAR, 4);
        add(INDEX_VERB_LINKS, 5);
        add(INDEX_VERB_ESTIMATE, 6);
        assert_int_equal(take_done(), 0);
        work_until_idle();
        assert_int_equal(take_done(), 521643);
        assert_int_equal(take_done(), 0);
    }
}

static void
what_is_not_answered_is_dropped(void **state)
{
    (void)state;
    put_pattern();
    add(INDEX_VERB_ESTIMATE, 1);
    add(INDEX_VERB_ESTIMATE, 2);
    work_until_idle();
    add(INDEX_VERB_LINKS, 3);
    add(INDEX_VERB_LINKS, 4);
    add(INDEX_VERB_STAR, 5);
    told_broadcasts = 0;
    work_pool_stop(pool);
    pool = NULL;
    assert_int_equal(told_broadcasts, 1);
    assert_int_equal(drops, 53421);
}

static void
threads_that_cannot_be_started_are_told(void **state)
{
    (void)state;
    work_pool_stop(pool);
    options.query_threads = 3;
    for (threads_most = 0; threads_most < 3; threads_most++) {
        assert_int_equal(work_pool_start(&pool, PLACE(partition, 0), &options, EVENT, &why),
                         STATUS_SYSTEM);
        assert_string_equal(why.text, "cannot start a thread");
        assert_int_equal(threads, 0);
    }
    assert_int_equal(work_pool_start(&pool, PLACE(partition, 0), &options, EVENT, &why), STATUS_OK);
    assert_int_equal(threads, 3);
    /* A thread without a reader ends. */
    reader_status = STATUS_SYSTEM;
    assert_null(worker(worker_argument));
    work_pool_stop(NULL);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(rows_of_a_pattern_are_estimated),
        CASE(stars_are_estimated),
        CASE(links_of_documents_are_found),
        CASE(an_answer_about_links_has_bounds),
        CASE(estimates_come_before_links),
        CASE(what_is_not_answered_is_dropped),
        CASE(threads_that_cannot_be_started_are_told),
    };
    return cmocka_run_group_tests_name("work_pool", tests, NULL, NULL);
}
