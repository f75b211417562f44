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
#include "metastore/archive_keep.h"
#include "metastore/metastore_service.h"
#include "metastore/protocol.h"
#include "metastore/record.h"
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

/* Records that are to be kept have a batch of their own, of so many, and of as many bytes. */
static void
test_batches_of_records_to_keep_have_limits(void **state)
{
    enum { BATCH_KEEPS = 256, LARGE = 1 << 20 };
    struct fixture *fixture = *state;
    const struct warc_writer_options options = {.prefix = "test"};
    struct archive_keep *keep = archive_keep_new(fixture->folder, &options);
    char *zeros = memory_zero(LARGE, 1);
    meta_service_serve_archive(fixture->service, fixture->folder, keep);
    for (size_t i = 0; i < BATCH_KEEPS + 1; i++) {
        comes(METASTORE_KEEP, SLICE("no record"));
    }
    assert_true(turn(fixture, STATUS_OK));
    assert_int_equal(server.next, BATCH_KEEPS);
    const char *first = "1:PROTOCOL metastore: the keep request is malformed 2:PROTOCOL ";
    assert_memory_equal(server.said, first, strlen(first));
    server.said[0] = '\0';
    assert_false(turn(fixture, STATUS_OK));
    expect("257:PROTOCOL metastore: the keep request is malformed ");
    server.count = server.next = 0;
    for (size_t i = 0; i < BATCH_BYTES / LARGE + 1; i++) {
        comes(METASTORE_KEEP, slice_of(zeros, LARGE));
    }
    assert_true(turn(fixture, STATUS_OK));
    assert_int_equal(server.next, BATCH_BYTES / LARGE);
    assert_false(turn(fixture, STATUS_OK));
    assert_int_equal(server.next, server.count);
    free(zeros);
    archive_keep_free(keep);
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

/* ---- requests that are wrong in one place ---- */

static void
test_malformed_requests_are_told_apart(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        uint8_t verb;
        struct slice payload;
        enum status status;
    } cases[] = {
        {METASTORE_GET, SLICE_INIT("\x01\x02ua"), STATUS_OK},
        {METASTORE_GET, SLICE_INIT("\x00"), STATUS_OK},
        {METASTORE_GET, SLICE_INIT(""), STATUS_PROTOCOL},
        {METASTORE_GET, SLICE_INIT("\x01\x02xa"), STATUS_PROTOCOL},
        {METASTORE_GET, SLICE_INIT("\x01\x01u"), STATUS_PROTOCOL},
        {METASTORE_GET, SLICE_INIT("\x02\x02ua"), STATUS_PROTOCOL},
        {METASTORE_GET, SLICE_INIT("\x01\x02uab"), STATUS_PROTOCOL},
        {METASTORE_GET, SLICE_INIT("\x81\x80\x04"), STATUS_PROTOCOL}, /* 65537 keys */
        {METASTORE_PUT, SLICE_INIT("\x00"), STATUS_OK},
        {METASTORE_PUT, SLICE_INIT(""), STATUS_PROTOCOL},
        {METASTORE_PUT, SLICE_INIT("\x00x"), STATUS_PROTOCOL},
        {METASTORE_PUT, SLICE_INIT("\x81\x80\x04"), STATUS_PROTOCOL}, /* 65537 updates */
        {METASTORE_SCAN, SLICE_INIT("\x01u\x00\x05"), STATUS_OK},
        {METASTORE_SCAN, SLICE_INIT("\x01h\x00\x05"), STATUS_OK},
        {METASTORE_SCAN, SLICE_INIT("\x01s\x00\x05"), STATUS_OK},
        {METASTORE_SCAN, SLICE_INIT("\x01m\x00\x05"), STATUS_PROTOCOL},
        {METASTORE_SCAN, SLICE_INIT("\x01\x00\x00\x05"), STATUS_PROTOCOL},
        {METASTORE_SCAN, SLICE_INIT("\x00\x00\x05"), STATUS_PROTOCOL},
        {METASTORE_SCAN, SLICE_INIT("\x01u\x00"), STATUS_PROTOCOL},
        {METASTORE_SCAN, SLICE_INIT("\x01u\x00\x05x"), STATUS_PROTOCOL},
        {METASTORE_STATS, SLICE_INIT(""), STATUS_OK},
        {METASTORE_STATS, SLICE_INIT("x"), STATUS_PROTOCOL},
        {METASTORE_ARCHIVE, SLICE_INIT(""), STATUS_NOT_FOUND},
        {METASTORE_KEEP, SLICE_INIT(""), STATUS_PROTOCOL}, /* it keeps nothing */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *end = strchr(server.said, '\0');
        char expected[32];
        comes(cases[i].verb, cases[i].payload);
        assert_false(turn(fixture, STATUS_OK));
        snprintf(expected, sizeof expected, "%zu:%s ", i + 1, status_name(cases[i].status));
        if (strncmp(end, expected, strlen(expected)) != 0) {
            fail_msg("case %zu: %s", i, end);
        }
    }
}

/* Requests take as many keys and updates as the protocol says, and not one more, though all of them
 * are there. */
static void
test_requests_have_so_many_keys(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        uint8_t verb;
        struct slice entry;
    } cases[] = {{METASTORE_GET, SLICE_INIT("\x02ua")},
                 {METASTORE_PUT, SLICE_INIT("\x02ua\x02\x10\x01")}};
    struct buf payloads[2][2];
    for (size_t i = 0; i < 2; i++) {
        for (size_t more = 0; more < 2; more++) {
            struct buf *payload = &payloads[i][more];
            buf_init(payload, 1 << 20);
            codec_put_varint(payload, METASTORE_ENTRIES_MAXIMUM + more);
            for (size_t n = 0; n < METASTORE_ENTRIES_MAXIMUM + more; n++) {
                buf_append_slice(payload, cases[i].entry);
            }
            assert_false(payload->overflowed);
            comes(cases[i].verb, buf_slice(payload));
        }
    }
    assert_false(turn(fixture, STATUS_OK));
    expect("1:OK 2:PROTOCOL metastore: a malformed get request "
           "3:OK 4:PROTOCOL metastore: a malformed put request ");
    for (size_t i = 0; i < 4; i++) {
        buf_release(&payloads[i / 2][i % 2]);
    }
}

/* The longest names that a scan may have, and one byte more. */
static void
test_scans_have_limits(void **state)
{
    struct fixture *fixture = *state;
    char name[META_KEY_MAXIMUM + 1];
    memset(name, 'u', sizeof name);
    for (size_t which = 0; which < 4; which++) {
        struct buf payload, reply;
        struct reason why = {""};
        const size_t length = META_KEY_MAXIMUM + (which & 1);
        buf_init(&payload, 3 * META_KEY_MAXIMUM);
        buf_init(&reply, TEXT);
        codec_put_slice(&payload, slice_of(name, which < 2 ? length : 1));
        codec_put_slice(&payload, slice_of(name, which < 2 ? 1 : length));
        codec_put_varint(&payload, 5);
        assert_int_equal(
            meta_service_read(fixture->service, METASTORE_SCAN, buf_slice(&payload), &reply, &why),
            which & 1 ? STATUS_PROTOCOL : STATUS_OK);
        buf_release(&payload);
        buf_release(&reply);
    }
}

/* The keys of a scan's answer, and whether there are more. */
static bool
scan(struct fixture *fixture, struct slice after, uint64_t most, char keys[TEXT])
{
    struct buf payload, reply;
    struct reason why = {""};
    buf_init(&payload, TEXT);
    buf_init(&reply, 1 << 20);
    codec_put_slice(&payload, SLICE("u"));
    codec_put_slice(&payload, after);
    codec_put_varint(&payload, most);
    assert_int_equal(
        meta_service_read(fixture->service, METASTORE_SCAN, buf_slice(&payload), &reply, &why),
        STATUS_OK);
    struct codec_reader reader = codec_reader_of(buf_slice(&reply));
    keys[0] = '\0';
    for (uint32_t n = codec_get_u32(&reader); n > 0; n--) {
        const struct slice key = codec_get_slice(&reader);
        snprintf(strchr(keys, '\0'), 16, "%.*s ", SLICE_PRINT(key));
        assert_true(meta_record_valid(codec_get_slice(&reader)));
    }
    const bool more = codec_get_u8(&reader);
    assert_true(codec_at_end(&reader));
    buf_release(&payload);
    buf_release(&reply);
    return more;
}

static void
test_scans_go_on_behind_the_last(void **state)
{
    struct fixture *fixture = *state;
    char keys[TEXT];
    comes(METASTORE_PUT, SLICE("\x03\x02uc\x02\x10\x01\x02ua\x02\x10\x01\x02ub\x02\x10\x01"));
    assert_false(turn(fixture, STATUS_OK));
    expect("1:OK ");
    assert_false(scan(fixture, SLICE(""), UINT64_MAX, keys));
    assert_string_equal(keys, "ua ub uc ");
    assert_false(scan(fixture, SLICE(""), 3, keys));
    assert_string_equal(keys, "ua ub uc ");
    assert_true(scan(fixture, SLICE(""), 2, keys));
    assert_string_equal(keys, "ua ub ");
    assert_false(scan(fixture, SLICE("ub"), 2, keys));
    assert_string_equal(keys, "uc ");
    assert_true(scan(fixture, SLICE(""), 0, keys));
    assert_string_equal(keys, "");
}

/* Several updates of one record in a batch are merged one after the other, in their order. */
static void
test_updates_of_a_batch_are_merged_in_order(void **state)
{
    struct fixture *fixture = *state;
    struct buf put, reply;
    struct reason why = {""};
    struct slice text;
    char reason[200];
    memset(reason, 'r', sizeof reason);
    buf_init(&put, TEXT);
    buf_init(&reply, TEXT);
    codec_put_varint(&put, 4);
    for (int i = 0; i < 4; i++) {
        struct meta_update update;
        meta_update_init(&update);
        if (i == 0) {
            meta_set_text(&update, META_REASON, slice_of(reason, sizeof reason));
        } else if (i == 1) {
            meta_set_text(&update, META_STATE, SLICE("fetched"));
        } else if (i == 2) {
            meta_set_text(&update, META_ETAG, SLICE("etag"));
        } else {
            meta_set_text(&update, META_STATE, SLICE("a longer state"));
        }
        codec_put_slice(&put, SLICE("ua"));
        codec_put_slice(&put, meta_update_fields(&update));
        meta_update_release(&update);
    }
    comes(METASTORE_PUT, buf_slice(&put));
    assert_false(turn(fixture, STATUS_OK));
    expect("1:OK ");
    assert_int_equal(
        meta_service_read(fixture->service, METASTORE_GET, (struct slice)GET_A, &reply, &why),
        STATUS_OK);
    struct codec_reader reader = codec_reader_of(buf_slice(&reply));
    assert_int_equal(codec_get_u32(&reader), 1);
    const struct slice record = codec_get_slice(&reader);
    assert_true(meta_record_valid(record));
    assert_true(meta_record_text(record, META_STATE, &text) && slice_is(text, "a longer state"));
    assert_true(meta_record_text(record, META_ETAG, &text) && slice_is(text, "etag"));
    assert_true(meta_record_text(record, META_REASON, &text) &&
                slice_equal(text, slice_of(reason, sizeof reason)));
    buf_release(&put);
    buf_release(&reply);
}

/* A record that cannot be read, packed or plain, ends what would change it, all of it, and nothing
 * else of the batch. */
static void
test_damaged_records_end_their_requests_alone(void **state)
{
    struct fixture *fixture = *state;
    static const struct slice damaged[] = {SLICE_INIT("\xff"), SLICE_INIT("\x01\xff")};
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
        const struct meta_pair pair = {SLICE("ua"), damaged[i]};
        struct reason why = {""};
        char expected[TEXT];
        const size_t first = server.count + 1;
        assert_int_equal(meta_store_put(fixture->store, &pair, 1, &why), STATUS_OK);
        comes(METASTORE_PUT, (struct slice)PUT_A);
        comes(METASTORE_PUT, (struct slice)PUT_B);
        comes(METASTORE_PUT, (struct slice)PUT_A);
        assert_false(turn(fixture, STATUS_OK));
        snprintf(expected, sizeof expected,
                 "%zu:CORRUPT the record of ua is damaged or has too many fields %zu:OK "
                 "%zu:CORRUPT the record of ua is damaged or has too many fields ",
                 first, first + 1, first + 2);
        expect(expected);
        comes(METASTORE_GET, (struct slice)GET_A);
        assert_false(turn(fixture, STATUS_OK));
        snprintf(expected, sizeof expected,
                 i == 0 ? "%zu:CORRUPT the record of ua is damaged " : "%zu:OK ", first + 3);
        expect(expected);
    }
}

/* ---- what is counted, and learned ---- */

static void
stats_have(struct fixture *fixture, const char *line)
{
    struct buf reply;
    struct reason why = {""};
    buf_init(&reply, TEXT);
    assert_int_equal(meta_service_read(fixture->service, METASTORE_STATS, SLICE(""), &reply, &why),
                     STATUS_OK);
    if (strstr(reply.data, line) == NULL) {
        fail_msg("no %s in %s", line, reply.data);
    }
    buf_release(&reply);
}

static void
test_requests_are_counted(void **state)
{
    struct fixture *fixture = *state;
    char keys[TEXT];
    comes(METASTORE_PUT, (struct slice)PUT_A);
    comes(METASTORE_PUT, (struct slice)PUT_A);
    comes(METASTORE_PUT, (struct slice)PUT_B);
    comes(METASTORE_PUT, (struct slice)PUT_BAD);
    comes(METASTORE_GET, (struct slice)GET_A);
    comes(METASTORE_GET, SLICE("\x00"));
    comes(METASTORE_GET, SLICE("\x01"));
    assert_false(turn(fixture, STATUS_OK));
    (void)scan(fixture, SLICE(""), 1, keys);
    stats_have(fixture, "put_requests 3\nget_requests 2\nscan_requests 1\nrecords_written 2\n");
    stats_have(fixture, "updates_stale 0\nupdates_unchanged 1\ndictionaries 0\n");
    /* Generation 2, then 1: once stale, once in the same batch. */
    comes(METASTORE_PUT, SLICE("\x02\x02ua\x02\x04\x02\x02ua\x02\x04\x01"));
    assert_false(turn(fixture, STATUS_OK));
    comes(METASTORE_PUT, SLICE("\x01\x02ua\x02\x04\x01"));
    assert_false(turn(fixture, STATUS_OK));
    stats_have(fixture, "put_requests 5\n");
    stats_have(fixture, "records_written 3\n");
    stats_have(fixture, "updates_stale 2\nupdates_unchanged 1\n");
}

/* Records that are alike teach a dictionary, which is stored with the next write; what was packed
 * by it is read after a new start. */
static void
test_dictionaries_are_stored(void **state)
{
    enum { RECORDS = 256, LONG = 300 };
    struct fixture *fixture = *state;
    static char texts[2 * RECORDS][LONG + 32];
    char same[LONG + 1];
    struct reason why = {""};
    for (size_t i = 0; i < LONG; i++) {
        same[i] = (char)('a' + i * i % 23);
    }
    same[LONG] = '\0';
    for (size_t round = 0; round < 2; round++) {
        struct buf put;
        buf_init(&put, 1 << 20);
        codec_put_varint(&put, RECORDS);
        for (size_t i = 0; i < RECORDS; i++) {
            char key[16], *text = texts[round * RECORDS + i];
            struct meta_update update;
            snprintf(key, sizeof key, "u%zu-%03zu", round, i);
            snprintf(text, sizeof texts[0], "%s%zu", same, i);
            meta_update_init(&update);
            meta_set_text(&update, META_REASON, slice_string(text));
            codec_put_slice(&put, slice_string(key));
            codec_put_slice(&put, meta_update_fields(&update));
            meta_update_release(&update);
        }
        comes(METASTORE_PUT, buf_slice(&put));
        assert_false(turn(fixture, STATUS_OK));
        stats_have(fixture, round == 0 ? "dictionaries 0\n" : "dictionaries 1\n");
        buf_release(&put);
    }
    meta_service_free(fixture->service);
    assert_int_equal(meta_service_open(&fixture->service, fixture->store, NULL, &why), STATUS_OK);
    stats_have(fixture, "dictionaries 1\n");
    for (size_t i = 0; i < 2 * RECORDS; i += 100) {
        struct buf get, reply;
        char key[16];
        struct slice text;
        buf_init(&get, TEXT);
        buf_init(&reply, TEXT);
        snprintf(key, sizeof key, "u%zu-%03zu", i / RECORDS, i % RECORDS);
        codec_put_varint(&get, 1);
        codec_put_slice(&get, slice_string(key));
        assert_int_equal(
            meta_service_read(fixture->service, METASTORE_GET, buf_slice(&get), &reply, &why),
            STATUS_OK);
        struct codec_reader reader = codec_reader_of(buf_slice(&reply));
        assert_int_equal(codec_get_u32(&reader), 1);
        assert_true(meta_record_text(codec_get_slice(&reader), META_REASON, &text));
        assert_true(slice_is(text, texts[i]));
        buf_release(&get);
        buf_release(&reply);
    }
    meta_service_free(NULL);
}

/* A dictionary that cannot be stored is not used: nothing that needs it would be read again. */
static void
test_dictionaries_come_before_what_needs_them(void **state)
{
    enum { RECORDS = 256 };
    struct fixture *fixture = *state;
    struct buf put;
    buf_init(&put, 1 << 20);
    codec_put_varint(&put, RECORDS);
    for (size_t i = 0; i < RECORDS; i++) {
        char key[16], text[200];
        struct meta_update update;
        snprintf(key, sizeof key, "u%03zu", i);
        snprintf(text, sizeof text, "%0*zu", 150, i);
        meta_update_init(&update);
        meta_set_text(&update, META_REASON, slice_string(text));
        codec_put_slice(&put, slice_string(key));
        codec_put_slice(&put, meta_update_fields(&update));
        meta_update_release(&update);
    }
    comes(METASTORE_PUT, buf_slice(&put));
    assert_false(turn(fixture, STATUS_OK));
    metastore_put_status = STATUS_FULL;
    comes(METASTORE_PUT, (struct slice)PUT_A);
    assert_false(turn(fixture, STATUS_OK));
    stats_have(fixture, "dictionaries 0\n");
    metastore_put_status = STATUS_OK;
    comes(METASTORE_PUT, (struct slice)PUT_A);
    assert_false(turn(fixture, STATUS_OK));
    stats_have(fixture, "dictionaries 1\n");
    buf_release(&put);
}

int
metastore_turns_run(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_reads_are_answered_before_puts),
        CASE(test_batches_have_limits),
        CASE(test_batches_of_records_to_keep_have_limits),
        CASE(test_refused_puts_are_told_and_the_process_waits),
        CASE(test_a_broken_store_answers_nobody),
        CASE(test_malformed_requests_are_told_apart),
        CASE(test_requests_have_so_many_keys),
        CASE(test_scans_have_limits),
        CASE(test_scans_go_on_behind_the_last),
        CASE(test_updates_of_a_batch_are_merged_in_order),
        CASE(test_damaged_records_end_their_requests_alone),
        CASE(test_requests_are_counted),
        CASE(test_dictionaries_are_stored),
        CASE(test_dictionaries_come_before_what_needs_them),
    };
    return cmocka_run_group_tests_name("metastore turns", tests, NULL, NULL);
}
