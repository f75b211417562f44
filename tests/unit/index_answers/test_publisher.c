/* Messages about changes (index/serve/publisher.c): what subscribers are sent of each batch. The
 * linker puts the functions below in the place of the socket and the changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/system/file.h"
#include "index/serve/change_lines.h"
#include "index/serve/publisher.h"

enum { TEXT_MOST = 1 << 20, WAIT_MS = 60000 };

static max_align_t place;
static int socket_event = -1;
static atomic_bool wanted;
static atomic_uint rounds; /* ended, of asking who listens */
static unsigned asked;
static const char *lines; /* of the changes */
static struct change_position since, reached, present;
static enum status socket_status, ends;
static struct buf sent;

/* ---- threads and descriptors are counted, and may fail ---- */

static unsigned threads, open_sockets;
static int events, fails_at; /* events that are open; 1: no event can be made, 2: no thread */

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*work)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*work)(void *), void *argument);
int
__wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *),
                      void *argument)
{
    if (fails_at == 2) {
        return EAGAIN;
    }
    threads++;
    return __real_pthread_create(thread, attributes, work, argument);
}

int __real_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result);
int
__wrap_pthread_join(pthread_t thread, void **result)
{
    threads--;
    return __real_pthread_join(thread, result);
}

int __real_eventfd(unsigned initial, int flags);
int __wrap_eventfd(unsigned initial, int flags);
int
__wrap_eventfd(unsigned initial, int flags)
{
    if (fails_at == 1) {
        errno = EMFILE;
        return -1;
    }
    events++;
    return __real_eventfd(initial, flags);
}

void __real_file_close(int fd);
void __wrap_file_close(int fd);
void
__wrap_file_close(int fd)
{
    events -= fd >= 0;
    __real_file_close(fd);
}

/* ---- in the place of the socket and the changes ---- */

enum status __wrap_rpc_publisher_open(struct rpc_publisher **publisher,
                                      const char *const *endpoints, const struct rpc_keys *keys,
                                      struct reason *why);
enum status
__wrap_rpc_publisher_open(struct rpc_publisher **publisher, const char *const *endpoints,
                          const struct rpc_keys *keys, struct reason *why)
{
    assert_string_equal(endpoints[0], "ipc://somewhere");
    assert_null(keys);
    if (socket_status != STATUS_OK) {
        return status_fail(why, socket_status, "no socket");
    }
    open_sockets++;
    *publisher = (struct rpc_publisher *)&place;
    return STATUS_OK;
}

void __wrap_rpc_publisher_close(struct rpc_publisher *publisher);
void
__wrap_rpc_publisher_close(struct rpc_publisher *publisher)
{
    assert_ptr_equal(publisher, open_sockets > 0 ? &place : NULL);
    open_sockets -= publisher != NULL;
}

int __wrap_rpc_publisher_descriptor(struct rpc_publisher *publisher);
int
__wrap_rpc_publisher_descriptor(struct rpc_publisher *publisher)
{
    assert_ptr_equal(publisher, &place);
    atomic_fetch_add(&rounds, 1); /* all of the round before is done */
    return socket_event;
}

bool __wrap_rpc_publisher_wanted(struct rpc_publisher *publisher);
bool
__wrap_rpc_publisher_wanted(struct rpc_publisher *publisher)
{
    assert_ptr_equal(publisher, &place);
    return atomic_load(&wanted);
}

/* A message is a line of its frames. */
void __wrap_rpc_publish(struct rpc_publisher *publisher, const struct slice *frames, size_t count);
void
__wrap_rpc_publish(struct rpc_publisher *publisher, const struct slice *frames, size_t count)
{
    assert_ptr_equal(publisher, &place);
    assert_int_equal(count, 3);
    (void)buf_printf(&sent, "[%.*s|%.*s|%.*s]\n", SLICE_PRINT(frames[0]), SLICE_PRINT(frames[1]),
                     SLICE_PRINT(frames[2]));
}

void __wrap_partition_position(struct partition *partition, struct change_position *position,
                               uint64_t *first);
void
__wrap_partition_position(struct partition *partition, struct change_position *position,
                          uint64_t *first)
{
    assert_ptr_equal(partition, &place);
    assert_null(first);
    *position = present;
}

/* The changes come in two pieces, where there are two lines. */
enum status __wrap_partition_changes(struct partition *partition, struct change_request *request,
                                     partition_report *piece, void *context, struct reason *why);
enum status
__wrap_partition_changes(struct partition *partition, struct change_request *request,
                         partition_report *piece, void *context, struct reason *why)
{
    struct slice rest = slice_string(lines);
    assert_ptr_equal(partition, &place);
    assert_int_equal(request->graph_count, 0);
    since = request->since;
    asked++;
    if (rest.length > 0) {
        const size_t first = slice_find(rest, '\n') + 1;
        TRY(piece(context, slice_of(rest.at, first), why));
        TRY(piece(context, slice_of(rest.at + first, rest.length - first), why));
    }
    request->since = reached;
    return ends == STATUS_OK ? STATUS_OK : status_fail(why, ends, "it went wrong");
}

/* Wakes the publisher, and waits until it waits again. */
static void
wake(struct publisher *publisher)
{
    const unsigned before = atomic_load(&rounds);
    publisher_wake(publisher);
    for (int i = 0; i < WAIT_MS && atomic_load(&rounds) == before; i++) {
        (void)poll(NULL, 0, 1);
    }
    assert_int_equal(atomic_load(&rounds), before + 1);
}

static struct publisher *
start(void)
{
    static const char *const endpoints[] = {"ipc://somewhere", NULL};
    struct reason why = {""};
    struct publisher *publisher;
    assert_int_equal(
        publisher_start(&publisher, (struct partition *)&place, 3, endpoints, NULL, &why),
        STATUS_OK);
    for (int i = 0; i < WAIT_MS && atomic_load(&rounds) == 0; i++) {
        (void)poll(NULL, 0, 1);
    }
    return publisher;
}

static int
set_up(void **state)
{
    (void)state;
    socket_event = eventfd(0, EFD_NONBLOCK);
    events = fails_at = 0;
    atomic_store(&wanted, true);
    atomic_store(&rounds, 0);
    asked = 0;
    lines = "";
    ends = socket_status = STATUS_OK;
    present = (struct change_position){5, 50};
    reached = (struct change_position){6, 60};
    buf_init(&sent, TEXT_MOST);
    return socket_event < 0;
}

static int
tear_down(void **state)
{
    (void)state;
    buf_release(&sent);
    close(socket_event);
    return threads > 0 || open_sockets > 0 || events > 0;
}

static void
a_message_has_changes_of_one_document(void **state)
{
    (void)state;
    struct publisher *publisher = start();
    lines = "B\t6.3c\t5.32\nG\t7\tu:a\n+<a> <b> <c> <u:a> .\n-<a> <b> <d> <u:a> .\n"
            "G\t8\tu:b\n+<a> <b> <c> <u:b> .\nC\t6.3c\n"
            "B\t7.46\t6.3c\nC\t7.46\n"
            "B\t8.50\t7.46\nG\t9\tu:c\n-<a> <b> <c> <u:c> .\nC\t8.50\n";
    wake(publisher);
    publisher_stop(publisher);
    (void)buf_append(&sent, "", 1);
    assert_string_equal(sent.data,
                        "[u:a|3:6.3c 3:5.32 1 +|+<a> <b> <c> <u:a> .\n-<a> <b> <d> <u:a> .\n]\n"
                        "[u:b|3:6.3c 3:5.32 2 .|+<a> <b> <c> <u:b> .\n]\n"
                        "[|3:7.46 3:6.3c 1 .|]\n"
                        "[u:c|3:8.50 3:7.46 1 .|-<a> <b> <c> <u:c> .\n]\n");
}

/* A message is full when it has more than 64 KiB; no line is divided. */
static void
long_changes_of_a_document_are_several_messages(void **state)
{
    enum { LINE = 1024, FULL = 65 };
    (void)state;
    for (unsigned over = 0; over < 2; over++) {
        struct buf text, expected;
        buf_init(&text, TEXT_MOST);
        buf_init(&expected, TEXT_MOST);
        buf_reset(&sent);
        atomic_store(&rounds, 0);
        (void)buf_append_string(&text, "B\t6.3c\t5.32\nG\t7\tu:a\n");
        (void)buf_printf(&expected, "[u:a|3:6.3c 3:5.32 1 %c|", over > 0 ? '+' : '.');
        for (unsigned i = 0; i < FULL + over; i++) {
            (void)buf_append_string(&expected, i == FULL ? "]\n[u:a|3:6.3c 3:5.32 2 .|" : "");
            (void)buf_printf(&text, "+%0*u\n", LINE - 2, i);
            (void)buf_printf(&expected, "+%0*u\n", LINE - 2, i);
        }
        (void)buf_append(&text, "C\t6.3c\n", sizeof "C\t6.3c\n");
        (void)buf_append_string(&expected, "]\n");
        lines = text.data;
        struct publisher *publisher = start();
        wake(publisher);
        publisher_stop(publisher);
        assert_true(slice_equal(buf_slice(&sent), buf_slice(&expected)));
        buf_release(&text);
        buf_release(&expected);
    }
}

static void
changes_are_asked_for_from_what_was_published_on(void **state)
{
    (void)state;
    struct publisher *publisher = start();
    wake(publisher);
    assert_int_equal(since.batch, 5);
    assert_int_equal(since.stamp, 50);
    wake(publisher);
    assert_int_equal(since.batch, 6);
    assert_int_equal(since.stamp, 60);
    /* A change that comes while nobody listens, or is not kept, is not told later. */
    atomic_store(&wanted, false);
    present = (struct change_position){9, 90};
    wake(publisher);
    assert_int_equal(asked, 2);
    atomic_store(&wanted, true);
    ends = STATUS_STALE;
    wake(publisher);
    assert_int_equal(asked, 3);
    assert_int_equal(since.batch, 9);
    present = (struct change_position){11, 110};
    wake(publisher);
    ends = STATUS_OK;
    wake(publisher);
    assert_int_equal(since.batch, 11);
    assert_int_equal(asked, 5);
    publisher_stop(publisher);
}

/* What is left of a batch that was not told to its end is not sent with the next one. */
static void
a_batch_that_breaks_off_leaves_nothing(void **state)
{
    static const enum status failures[] = {STATUS_CORRUPT, STATUS_STALE, STATUS_CANCELLED};
    (void)state;
    struct publisher *publisher = start();
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        buf_reset(&sent);
        lines = "B\t6.3c\t5.32\nG\t7\tu:a\n+<a> <b> <c> <u:a> .\n";
        ends = failures[i];
        present.batch = 20 + i;
        wake(publisher);
        lines = "B\t7.46\t6.3c\nC\t7.46\n";
        ends = STATUS_OK;
        wake(publisher);
        assert_int_equal(since.batch, 20 + i);
        (void)buf_append(&sent, "", 1);
        assert_string_equal(sent.data, "[|3:7.46 3:6.3c 1 .|]\n");
    }
    publisher_stop(publisher);
}

static void
what_cannot_be_started_is_told(void **state)
{
    static const char *const endpoints[] = {"ipc://somewhere", NULL};
    static const struct {
        const char *text;
        enum status socket, status;
        int fails_at;
    } cases[] = {{"no socket", STATUS_DENIED, STATUS_DENIED, 0},
                 {"cannot make an eventfd: Too many open files", STATUS_OK, STATUS_SYSTEM, 1},
                 {"cannot start a thread", STATUS_OK, STATUS_SYSTEM, 2}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reason why = {""};
        struct publisher *publisher = (struct publisher *)&place;
        socket_status = cases[i].socket;
        fails_at = cases[i].fails_at;
        assert_int_equal(
            publisher_start(&publisher, (struct partition *)&place, 3, endpoints, NULL, &why),
            cases[i].status);
        assert_null(publisher);
        assert_string_equal(why.text, cases[i].text);
        assert_int_equal(events, 0);
        assert_int_equal(threads, 0);
        assert_int_equal(open_sockets, 0);
    }
    publisher_wake(NULL);
    publisher_stop(NULL);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(a_message_has_changes_of_one_document),
        CASE(long_changes_of_a_document_are_several_messages),
        CASE(changes_are_asked_for_from_what_was_published_on),
        CASE(a_batch_that_breaks_off_leaves_nothing),
        CASE(what_cannot_be_started_is_told),
    };
    return cmocka_run_group_tests_name("publisher", tests, NULL, NULL);
}
