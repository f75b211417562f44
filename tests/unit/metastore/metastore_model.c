/* The metadata store's service beside a model: random batches of puts, some malformed, some that
 * the store refuses, between gets, scans and new starts. After a refused batch each record is the
 * one before or the one after, every sender is told, and sending again brings all of it. */
#include "tests/unit/metastore/metastore_model.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/codec.h"
#include "base/memory.h"
#include "metastore/metastore_service.h"
#include "metastore/protocol.h"
#include "metastore/record.h"
#include "tests/unit/brief.h"
#include "tests/unit/scratch.h"

enum { KEYS = 90, REQUESTS = 6, ROUNDS = 6, STEPS = 120, TEXT_MOST = 3000, NOT_THERE = 0 };

/* ---- a store that refuses when it is told to ---- */

static int puts_until_refusal; /* 0: none is refused */
enum status metastore_put_status;

__typeof__(meta_store_put) __wrap_meta_store_put, __real_meta_store_put;

enum status
__wrap_meta_store_put(struct meta_store *store, const struct meta_pair *pairs, size_t n,
                      struct reason *why)
{
    if (puts_until_refusal > 0 && --puts_until_refusal == 0) {
        return status_fail(why, STATUS_FULL, "the store was told to refuse");
    }
    return metastore_put_status != STATUS_OK ? status_fail(why, metastore_put_status, "no")
                                             : __real_meta_store_put(store, pairs, n, why);
}

struct fixture {
    char folder[SCRATCH_SIZE];
    struct meta_store *store;
    struct meta_service *service;
    struct buf reply;
    uint32_t random;
    uint64_t values[KEYS]; /* NOT_THERE: no record */
    uint64_t puts, gets, scans;
};

static uint32_t
pick(struct fixture *fixture, uint32_t below)
{
    fixture->random = fixture->random * 1664525u + 1013904223u;
    return (fixture->random >> 8) % below;
}

static void
fixture_open(struct fixture *fixture)
{
    const struct meta_store_options options = {.folder = fixture->folder,
                                               .cache_bytes = 4 << 20,
                                               .checkpoint_bytes = 1 << 20,
                                               .checkpoint_ms = 60000};
    struct reason why = {""};
    puts_until_refusal = 0;
    assert_int_equal(meta_store_open(&fixture->store, &options, &why), STATUS_OK);
    assert_int_equal(meta_service_open(&fixture->service, fixture->store, NULL, &why), STATUS_OK);
    fixture->puts = fixture->gets = fixture->scans = 0;
}

static void
fixture_close(struct fixture *fixture)
{
    meta_service_free(fixture->service);
    meta_store_close(fixture->store);
}

static struct fixture *
fixture_new(uint32_t seed)
{
    struct fixture *fixture = memory_new(sizeof *fixture);
    assert_true(scratch_folder(fixture->folder, "test_metastore"));
    buf_init(&fixture->reply, METASTORE_REPLY_MAXIMUM);
    fixture->random = seed;
    fixture_open(fixture);
    return fixture;
}

static void
fixture_free(struct fixture *fixture)
{
    char command[128];
    fixture_close(fixture);
    buf_release(&fixture->reply);
    snprintf(command, sizeof command, "rm -rf %s", fixture->folder);
    assert_int_equal(system(command), 0);
    free(fixture);
}

static size_t
key_of(char key[32], size_t number)
{
    return (size_t)snprintf(key, 32, "uhttp://h.example/%03zu", number);
}

static uint64_t
stat_of(struct fixture *fixture, const char *name)
{
    struct reason why = {""};
    assert_int_equal(meta_service_read(fixture->service, METASTORE_STATS, (struct slice){NULL, 0},
                                       &fixture->reply, &why),
                     STATUS_OK);
    buf_append_char(&fixture->reply, '\0');
    const char *line = strstr(fixture->reply.data, name);
    assert_non_null(line);
    return strtoull(line + strlen(name), NULL, 10);
}

/* ---- puts ---- */

/* A text that follows from the value, so that one number tells what the record must be. */
static struct slice
text_of(uint64_t value, char text[TEXT_MOST])
{
    const size_t n = value * 37 % TEXT_MOST;
    for (size_t i = 0; i < n; i++) {
        text[i] = (char)('a' + (value * 7 + i * i) % 26);
    }
    return slice_of(text, n);
}

static void
put_entry(struct buf *payload, size_t number, uint64_t value)
{
    char key[32], text[TEXT_MOST];
    struct meta_update update;
    meta_update_init(&update);
    meta_set_number(&update, META_HTTP_STATUS, value);
    meta_set_text(&update, META_ROBOTS_BODY, text_of(value, text));
    codec_put_slice(payload, slice_of(key, key_of(key, number)));
    codec_put_slice(payload, meta_update_fields(&update));
    meta_update_release(&update);
}

struct batch {
    struct buf payloads[REQUESTS];
    bool malformed[REQUESTS];
    size_t count;
    uint64_t after[KEYS];
};

static void
make_batch(struct fixture *fixture, struct batch *batch)
{
    batch->count = 1 + pick(fixture, REQUESTS);
    memcpy(batch->after, fixture->values, sizeof batch->after);
    for (size_t r = 0; r < batch->count; r++) {
        struct buf *payload = &batch->payloads[r];
        const size_t entries = pick(fixture, 5);
        buf_init(payload, 1 << 20);
        batch->malformed[r] = pick(fixture, 8) == 0;
        codec_put_varint(payload, entries + batch->malformed[r]);
        for (size_t i = 0; i < entries; i++) {
            const size_t number = pick(fixture, KEYS);
            const uint64_t value = 1 + pick(fixture, 60);
            put_entry(payload, number, value);
            batch->after[number] = batch->malformed[r] ? batch->after[number] : value;
        }
    }
}

static void
release_batch(struct batch *batch)
{
    for (size_t r = 0; r < batch->count; r++) {
        buf_release(&batch->payloads[r]);
    }
}

/* Sends it; the status that all well-formed requests are told. */
static enum status
send_batch(struct fixture *fixture, struct batch *batch)
{
    struct slice payloads[REQUESTS];
    enum status statuses[REQUESTS];
    struct reason reasons[REQUESTS] = {{""}};
    struct reason why = {""};
    for (size_t r = 0; r < batch->count; r++) {
        payloads[r] = buf_slice(&batch->payloads[r]);
        fixture->puts += !batch->malformed[r];
    }
    const enum status status =
        meta_service_write(fixture->service, payloads, batch->count, statuses, reasons, &why);
    for (size_t r = 0; r < batch->count; r++) {
        assert_int_equal(statuses[r], batch->malformed[r] ? STATUS_PROTOCOL : status);
        if (!batch->malformed[r] && status != STATUS_OK) {
            assert_string_equal(reasons[r].text, "the store was told to refuse");
        }
    }
    return status;
}

static void
step_put(struct fixture *fixture)
{
    struct batch batch;
    make_batch(fixture, &batch);
    const uint64_t written = stat_of(fixture, "records_written ");
    uint64_t changes = 0;
    assert_int_equal(send_batch(fixture, &batch), STATUS_OK);
    for (size_t i = 0; i < KEYS; i++) {
        changes += batch.after[i] != fixture->values[i];
    }
    const uint64_t now = stat_of(fixture, "records_written ");
    assert_true(now - written >= changes); /* a dictionary may have been written, too */
    memcpy(fixture->values, batch.after, sizeof fixture->values);
    /* The same again changes nothing, unless a later request of the batch has the last word. */
    assert_int_equal(send_batch(fixture, &batch), STATUS_OK);
    release_batch(&batch);
}

static void
step_refused(struct fixture *fixture)
{
    struct batch batch;
    make_batch(fixture, &batch);
    puts_until_refusal = 1;
    if (send_batch(fixture, &batch) == STATUS_FULL) {
        assert_int_equal(puts_until_refusal, 0);
        assert_int_equal(send_batch(fixture, &batch), STATUS_OK);
    }
    puts_until_refusal = 0;
    memcpy(fixture->values, batch.after, sizeof fixture->values);
    release_batch(&batch);
}

/* ---- gets and scans ---- */

static void
check_record(struct slice record, uint64_t value)
{
    char text[TEXT_MOST];
    uint64_t found = 0;
    struct slice body = {NULL, 0};
    if (value == NOT_THERE) {
        assert_int_equal(record.length, 0);
        return;
    }
    assert_true(meta_record_number(record, META_HTTP_STATUS, &found));
    assert_int_equal(found, value);
    (void)meta_record_text(record, META_ROBOTS_BODY, &body);
    assert_true(slice_equal(body, text_of(value, text)));
}

static void
step_get(struct fixture *fixture)
{
    size_t numbers[40];
    const size_t n = pick(fixture, 40);
    struct buf payload;
    struct reason why = {""};
    buf_init(&payload, 1 << 20);
    codec_put_varint(&payload, n);
    for (size_t i = 0; i < n; i++) {
        char key[32];
        numbers[i] = pick(fixture, KEYS);
        codec_put_slice(&payload, slice_of(key, key_of(key, numbers[i])));
    }
    const uint64_t read = stat_of(fixture, "keys_read ");
    assert_int_equal(meta_service_read(fixture->service, METASTORE_GET, buf_slice(&payload),
                                       &fixture->reply, &why),
                     STATUS_OK);
    struct codec_reader reader = codec_reader_of(buf_slice(&fixture->reply));
    assert_int_equal(codec_get_u32(&reader), n);
    for (size_t i = 0; i < n; i++) {
        check_record(codec_get_slice(&reader), fixture->values[numbers[i]]);
    }
    assert_true(codec_at_end(&reader));
    assert_int_equal(stat_of(fixture, "keys_read "), read + n);
    fixture->gets++;
    buf_release(&payload);
}

/* The first record that is there from this number on; the test fails if there is none. */
static size_t
next_there(const struct fixture *fixture, size_t number)
{
    for (size_t i = number; i < KEYS; i++) {
        if (fixture->values[i] != NOT_THERE) {
            return i;
        }
    }
    fail_msg("there is no record from %zu on", number);
    return 0;
}

/* All records, a few at a time. */
static void
step_scan(struct fixture *fixture)
{
    char after[32] = "";
    size_t next = 0;
    bool more = true;
    const uint64_t most = 1 + pick(fixture, KEYS);
    while (more) {
        struct buf payload;
        struct reason why = {""};
        buf_init(&payload, 1000);
        codec_put_slice(&payload, SLICE("uhttp://h.example/"));
        codec_put_slice(&payload, slice_string(after));
        codec_put_varint(&payload, most);
        assert_int_equal(meta_service_read(fixture->service, METASTORE_SCAN, buf_slice(&payload),
                                           &fixture->reply, &why),
                         STATUS_OK);
        fixture->scans++;
        struct codec_reader reader = codec_reader_of(buf_slice(&fixture->reply));
        const uint32_t n = codec_get_u32(&reader);
        assert_true(n <= most);
        for (uint32_t i = 0; i < n; i++) {
            char key[32];
            next = next_there(fixture, next);
            (void)key_of(key, next);
            assert_true(slice_is(codec_get_slice(&reader), key));
            check_record(codec_get_slice(&reader), fixture->values[next++]);
            snprintf(after, sizeof after, "%s", key);
        }
        more = codec_get_u8(&reader) != 0;
        assert_true(!more || n == most);
        assert_true(codec_at_end(&reader));
        buf_release(&payload);
    }
    for (; next < KEYS; next++) {
        assert_int_equal(fixture->values[next], NOT_THERE);
    }
}

static void
step_restart(struct fixture *fixture)
{
    fixture_close(fixture);
    fixture_open(fixture);
}

typedef void fixture_step(struct fixture *fixture);

static void
test_service_beside_model(void **state)
{
    static fixture_step *const steps[] = {step_put, step_put, step_put, step_refused, step_refused,
                                          step_get, step_get, step_get, step_scan,    step_restart};
    (void)state;
    for (uint32_t seed = 1; seed <= (uint32_t)brief(ROUNDS, 2); seed++) {
        struct fixture *fixture = fixture_new(seed);
        for (int i = 0; i < STEPS; i++) {
            steps[pick(fixture, sizeof steps / sizeof steps[0])](fixture);
            assert_int_equal(stat_of(fixture, "put_requests "), fixture->puts);
            assert_int_equal(stat_of(fixture, "get_requests "), fixture->gets);
            assert_int_equal(stat_of(fixture, "scan_requests "), fixture->scans);
        }
        fixture_free(fixture);
    }
}

/* ---- single rules ---- */

/* What is equal is not written, and is counted; so is what is older. */
static void
test_unchanged_and_stale_are_counted(void **state)
{
    struct fixture *fixture = fixture_new(1);
    struct reason why = {""};
    enum status status;
    struct buf payload;
    (void)state;
    static const struct {
        uint64_t generation, number, written, unchanged, stale;
    } rows[] = {{2, 5, 1, 0, 0}, {2, 5, 1, 1, 0}, {1, 9, 1, 1, 1}, {3, 5, 2, 1, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct meta_update update;
        meta_update_init(&update);
        meta_set_number(&update, META_GENERATION, rows[i].generation);
        meta_set_number(&update, META_HTTP_STATUS, rows[i].number);
        buf_init(&payload, 1000);
        codec_put_varint(&payload, 1);
        codec_put_slice(&payload, SLICE("uhttp://a/"));
        codec_put_slice(&payload, meta_update_fields(&update));
        const struct slice bytes = buf_slice(&payload);
        assert_int_equal(meta_service_write(fixture->service, &bytes, 1, &status, &why, &why),
                         STATUS_OK);
        assert_int_equal(status, STATUS_OK);
        assert_int_equal(stat_of(fixture, "records_written "), rows[i].written);
        assert_int_equal(stat_of(fixture, "updates_unchanged "), rows[i].unchanged);
        assert_int_equal(stat_of(fixture, "updates_stale "), rows[i].stale);
        buf_release(&payload);
        meta_update_release(&update);
    }
    fixture_free(fixture);
}

/* A batch that is larger than what one transaction takes: bytes that do not pack, 500 KB a record.
 */
static void
test_large_batches_take_several_passes(void **state)
{
    enum { RECORDS = 150, SAME = 5, BYTES = 500 << 10 };
    struct fixture *fixture = fixture_new(1);
    struct buf payload;
    struct reason reasons[2] = {{""}, {""}}, why = {""};
    enum status statuses[2];
    char *body = memory_alloc(BYTES);
    (void)state;
    for (size_t i = 0; i < BYTES; i++) {
        body[i] = (char)pick(fixture, 256);
    }
    buf_init(&payload, 100 << 20);
    codec_put_varint(&payload, RECORDS);
    for (size_t i = 0; i < RECORDS; i++) {
        char key[32];
        struct meta_update update;
        meta_update_init(&update);
        body[i] ^= 1;
        meta_set_text(&update, META_ROBOTS_BODY, slice_of(body, BYTES));
        codec_put_slice(&payload, slice_of(key, key_of(key, i)));
        codec_put_slice(&payload, meta_update_fields(&update));
        meta_update_release(&update);
    }
    const struct slice payloads[2] = {buf_slice(&payload), SLICE("\x01\x02ua\x02\x10\x01")};
    puts_until_refusal = 2; /* the second pass */
    assert_int_equal(meta_service_write(fixture->service, payloads, 2, statuses, reasons, &why),
                     STATUS_FULL);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(statuses[i], STATUS_FULL);
        assert_string_equal(reasons[i].text, "the store was told to refuse");
    }
    const uint64_t first = stat_of(fixture, "records_written ");
    assert_true(first > 0 && first < RECORDS);
    assert_int_equal(meta_service_write(fixture->service, payloads, 2, statuses, reasons, &why),
                     STATUS_OK);
    assert_int_equal(statuses[0], STATUS_OK);
    assert_int_equal(statuses[1], STATUS_OK);
    assert_int_equal(stat_of(fixture, "records_written "), RECORDS + 1);

    /* An answer ends after 8 MB, and says so; of 150 asked for at once the first come. */
    size_t seen = 0;
    while (seen < RECORDS) {
        struct buf ask;
        buf_init(&ask, 1 << 20);
        codec_put_varint(&ask, RECORDS - seen);
        for (size_t i = seen; i < RECORDS; i++) {
            char key[32];
            codec_put_slice(&ask, slice_of(key, key_of(key, i)));
        }
        assert_int_equal(meta_service_read(fixture->service, METASTORE_GET, buf_slice(&ask),
                                           &fixture->reply, &why),
                         STATUS_OK);
        assert_true(fixture->reply.length < (9 << 20));
        struct codec_reader reader = codec_reader_of(buf_slice(&fixture->reply));
        const uint32_t n = codec_get_u32(&reader);
        assert_true(n > 0);
        for (uint32_t i = 0; i < n; i++) {
            assert_true(codec_get_slice(&reader).length > BYTES);
        }
        assert_true(codec_at_end(&reader));
        seen += n;
        buf_release(&ask);
    }
    assert_int_equal(seen, RECORDS);

    /* Later passes know what is stored, too: only what changes is written. */
    for (size_t from = RECORDS - SAME;; from = 0) {
        const uint64_t before = stat_of(fixture, "records_written ");
        buf_reset(&payload);
        codec_put_varint(&payload, RECORDS - from);
        for (size_t i = from; i < RECORDS; i++) {
            char key[32];
            struct meta_update update;
            meta_update_init(&update);
            meta_set_number(&update, META_HTTP_STATUS, 200);
            codec_put_slice(&payload, slice_of(key, key_of(key, i)));
            codec_put_slice(&payload, meta_update_fields(&update));
            meta_update_release(&update);
        }
        const struct slice bytes = buf_slice(&payload);
        assert_int_equal(meta_service_write(fixture->service, &bytes, 1, statuses, reasons, &why),
                         STATUS_OK);
        assert_int_equal(stat_of(fixture, "records_written ") - before,
                         from > 0 ? SAME : RECORDS - SAME);
        if (from == 0) {
            break;
        }
    }
    buf_release(&payload);
    free(body);
    fixture_free(fixture);
}

int
metastore_model_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_service_beside_model),
        cmocka_unit_test(test_unchanged_and_stale_are_counted),
        cmocka_unit_test(test_large_batches_take_several_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
