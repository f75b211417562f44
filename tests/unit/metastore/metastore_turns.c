/* Turns of the metadata store's service: what of the requests that came is answered when, how large
 * a batch becomes, and who is told what when it cannot be written. The linker puts the functions
 * below in the place of the server, as long as the test plays it. */
#include "tests/unit/metastore/metastore_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/rpc/rpc.h"
#include "config/process_state.h"
#include "metastore/metastore_service.h"
#include "metastore/protocol.h"
#include "tests/unit/scratch.h"

enum { REQUESTS_MOST = 5000, BATCH_REQUESTS = 4096, BATCH_BYTES = 32 << 20, TEXT = 4096 };

#define PUT_A SLICE_INIT("\x01\x02ua\x02\x10\x01")
#define PUT_B SLICE_INIT("\x01\x02ub\x02\x10\x01")
#define PUT_BAD SLICE_INIT("\x01")
#define GET_A SLICE_INIT("\x01\x02ua")

/* ---- the server ---- */

static struct {
    bool plays;
    struct rpc_request requests[REQUESTS_MOST];
    size_t count, next;
    size_t dropped;
    char said[TEXT]; /* answers, in order */
    bool waits;      /* as the process says of itself */
} server;

enum status __real_rpc_server_receive(struct rpc_server *from, struct rpc_request *request);
enum status __wrap_rpc_server_receive(struct rpc_server *from, struct rpc_request *request);
void __real_rpc_reply(struct rpc_server *from, struct rpc_request *request, enum status status,
                      struct slice payload, const struct reason *why);
void __wrap_rpc_reply(struct rpc_server *from, struct rpc_request *request, enum status status,
                      struct slice payload, const struct reason *why);
void __real_rpc_request_drop(struct rpc_request *request);
void __wrap_rpc_request_drop(struct rpc_request *request);
void __wrap_process_state_wait(enum process_wait wait, enum status status,
                               const struct reason *why);
void __wrap_process_state_goes_on(enum process_wait wait);

enum status
__wrap_rpc_server_receive(struct rpc_server *from, struct rpc_request *request)
{
    if (!server.plays) {
        return __real_rpc_server_receive(from, request);
    }
    if (server.next == server.count) {
        return STATUS_AGAIN;
    }
    *request = server.requests[server.next++];
    return STATUS_OK;
}

void
__wrap_rpc_reply(struct rpc_server *from, struct rpc_request *request, enum status status,
                 struct slice payload, const struct reason *why)
{
    if (!server.plays) {
        __real_rpc_reply(from, request, status, payload, why);
        return;
    }
    const size_t used = strlen(server.said);
    snprintf(server.said + used, TEXT - used, "%lu:%s%s%s ", (unsigned long)request->id,
             status_name(status), status != STATUS_OK ? " " : "",
             status != STATUS_OK ? why->text : "");
}

void
__wrap_rpc_request_drop(struct rpc_request *request)
{
    if (!server.plays) {
        __real_rpc_request_drop(request);
    }
    server.dropped++;
}

void
__wrap_process_state_wait(enum process_wait wait, enum status status, const struct reason *why)
{
    (void)status;
    (void)why;
    server.waits = server.waits || wait == WAIT_WRITE;
}

void
__wrap_process_state_goes_on(enum process_wait wait)
{
    server.waits = server.waits && wait != WAIT_WRITE;
}

/* ---- the store ---- */

static bool is_broken;

__typeof__(meta_store_broken) __wrap_meta_store_broken, __real_meta_store_broken;

bool
__wrap_meta_store_broken(const struct meta_store *store)
{
    return is_broken || __real_meta_store_broken(store);
}

struct fixture {
    char folder[SCRATCH_SIZE];
    struct meta_store *store;
    struct meta_service *service;
};

static int
setup(void **state)
{
    static struct fixture fixture;
    struct reason why = {""};
    memset(&server, 0, sizeof server);
    server.plays = true;
    metastore_put_status = STATUS_OK;
    is_broken = false;
    assert_true(scratch_folder(fixture.folder, "test_metastore"));
    const struct meta_store_options options = {.folder = fixture.folder,
                                               .cache_bytes = 1 << 20,
                                               .checkpoint_bytes = 1 << 20,
                                               .checkpoint_ms = 60000};
    assert_int_equal(meta_store_open(&fixture.store, &options, &why), STATUS_OK);
    assert_int_equal(meta_service_open(&fixture.service, fixture.store, NULL, &why), STATUS_OK);
    *state = &fixture;
    return 0;
}

static int
teardown(void **state)
{
    struct fixture *fixture = *state;
    char command[SCRATCH_SIZE + 16];
    meta_service_free(fixture->service);
    meta_store_close(fixture->store);
    metastore_put_status = STATUS_OK;
    is_broken = false;
    server.plays = false;
    snprintf(command, sizeof command, "rm -rf %s", fixture->folder);
    return system(command);
}

static void
comes(uint8_t verb, struct slice payload)
{
    assert_true(server.count < REQUESTS_MOST);
    server.requests[server.count] =
        (struct rpc_request){.verb = verb, .id = server.count + 1, .payload = payload};
    server.count++;
}

/* Returns whether there may be more at once. */
static bool
turn(struct fixture *fixture, enum status expected)
{
    bool more = false;
    struct reason why = {""};
    assert_int_equal(meta_service_turn(fixture->service, &more, &why), expected);
    return more;
}

static void
expect(const char *said)
{
    assert_string_equal(server.said, said);
    server.said[0] = '\0';
}

/* Reads are answered as they come, puts together at the end, each as it deserves. */
static void
test_reads_are_answered_before_puts(void **state)
{
    struct fixture *fixture = *state;
    assert_false(turn(fixture, STATUS_OK));
    expect("");
    comes(METASTORE_PUT, (struct slice)PUT_A);
    comes(METASTORE_PUT, (struct slice)PUT_BAD);
    comes(METASTORE_GET, (struct slice)GET_A);
    comes(99, (struct slice)GET_A);
    comes(METASTORE_PUT, (struct slice)PUT_B);
    assert_false(turn(fixture, STATUS_OK));
    expect("3:OK 4:PROTOCOL metastore: verb 99 is not known 1:OK "
           "2:PROTOCOL metastore: a malformed put request 5:OK ");
    assert_int_equal(server.dropped, 0);
}

static void
test_batches_have_limits(void **state)
{
    enum { LARGE = 1 << 20 };
    struct fixture *fixture = *state;
    char *zeros = memory_zero(LARGE, 1);
    for (size_t i = 0; i < BATCH_REQUESTS + 1; i++) {
        comes(METASTORE_PUT, (struct slice)PUT_A);
    }
    assert_true(turn(fixture, STATUS_OK));
    assert_int_equal(server.next, BATCH_REQUESTS);
    assert_false(turn(fixture, STATUS_OK));
    assert_int_equal(server.next, BATCH_REQUESTS + 1);
    server.count = server.next = 0;
    for (size_t i = 0; i < BATCH_BYTES / LARGE + 1; i++) { /* of nothing, and much behind it */
        comes(METASTORE_PUT, slice_of(zeros, LARGE));
    }
    for (int i = 0; i < 2; i++) {
        comes(METASTORE_GET, (struct slice)GET_A);
    }
    assert_true(turn(fixture, STATUS_OK));
    assert_int_equal(server.next, BATCH_BYTES / LARGE);
    assert_false(turn(fixture, STATUS_OK));
    assert_int_equal(server.next, server.count);
    free(zeros);
}

static void
test_refused_puts_are_told_and_the_process_waits(void **state)
{
    struct fixture *fixture = *state;
    metastore_put_status = STATUS_FULL;
    comes(METASTORE_PUT, (struct slice)PUT_A);
    comes(METASTORE_PUT, (struct slice)PUT_BAD);
    comes(METASTORE_PUT, (struct slice)PUT_B);
    assert_false(turn(fixture, STATUS_OK));
    expect("1:FULL no 2:PROTOCOL metastore: a malformed put request 3:FULL no ");
    assert_true(server.waits);
    comes(METASTORE_GET, (struct slice)GET_A);
    assert_false(turn(fixture, STATUS_OK));
    expect("4:OK ");
    assert_true(server.waits);
    metastore_put_status = STATUS_OK;
    comes(METASTORE_PUT, (struct slice)PUT_A);
    assert_false(turn(fixture, STATUS_OK));
    expect("5:OK ");
    assert_false(server.waits);
    assert_int_equal(server.dropped, 0);
}

/* Nobody is told anything that a new start might unsay. */
static void
test_a_broken_store_answers_nobody(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < 3; i++) {
        comes(METASTORE_PUT, i == 1 ? (struct slice)PUT_BAD : (struct slice)PUT_A);
    }
    metastore_put_status = STATUS_FULL;
    is_broken = true;
    assert_false(turn(fixture, STATUS_FULL));
    expect("");
    assert_int_equal(server.dropped, 3);
    assert_false(server.waits);
}

int
metastore_turns_run(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_reads_are_answered_before_puts),
        CASE(test_batches_have_limits),
        CASE(test_refused_puts_are_told_and_the_process_waits),
        CASE(test_a_broken_store_answers_nobody),
    };
    return cmocka_run_group_tests_name("metastore turns", tests, NULL, NULL);
}
