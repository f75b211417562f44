/* The position of all partitions together (index_position of index/client/client_changes.c): all
 * are asked at once and without waiting for news, and one that fails is named. The linker puts the
 * functions below in the place of the partitions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/codec.h"
#include "index/client/index_client.h"
#include "index/client/partitions/client_calls.h"
#include "index/protocol/service_protocol.h"

enum { PARTITIONS_ASKED = 3, SILENCE_MS = 4321 };

static struct told {
    enum status status;
    uint64_t batch, stamp;
    rpc_done *done; /* of what was asked and not told */
    void *context;
} told[PARTITIONS_ASKED];
static size_t order[PARTITIONS_ASKED]; /* of the answers */
static size_t asked, answered, waits_most;
static struct index_client *client;

void __wrap_rpc_client_post(struct rpc_client *rpc, uint8_t verb, struct slice payload,
                            uint32_t timeout_ms, rpc_done *done, void *context);
void
__wrap_rpc_client_post(struct rpc_client *rpc, uint8_t verb, struct slice payload,
                       uint32_t timeout_ms, rpc_done *done, void *context)
{
    struct codec_reader in = codec_reader_of(payload);
    assert_true(asked < PARTITIONS_ASKED);
    assert_ptr_equal(rpc, client->partitions[asked].rpc);
    assert_int_equal(verb, INDEX_VERB_POSITION);
    assert_int_equal(timeout_ms, SILENCE_MS);
    assert_int_equal(codec_get_u8(&in), 0);
    assert_int_equal(codec_get_u64(&in), 0);
    assert_true(codec_at_end(&in));
    told[asked].done = done;
    told[asked++].context = context;
}

static void
tell(struct told *one)
{
    const struct reason why = {"it is down"};
    struct buf payload;
    rpc_done *done = one->done;
    buf_init(&payload, 64);
    codec_put_u64(&payload, one->batch);
    codec_put_u64(&payload, one->stamp);
    one->done = NULL;
    done(one->context, one->status, buf_slice(&payload), &why);
    buf_release(&payload);
}

enum status __wrap_client_wait(struct index_client *of, struct reason *why);
enum status
__wrap_client_wait(struct index_client *of, struct reason *why)
{
    assert_ptr_equal(of, client);
    assert_int_equal(asked, PARTITIONS_ASKED);
    assert_int_equal(of->deadline_ms, 0);
    assert_false(of->partitions[0].missing);
    if (answered == waits_most) {
        return status_fail(why, STATUS_CANCELLED, "cancelled");
    }
    tell(&told[order[answered++]]);
    return STATUS_OK;
}

/* Returns the position, or NULL and the status; how many partitions have answered by then. */
static enum status
ask(const size_t wanted[PARTITIONS_ASKED], size_t most, struct buf *position, struct reason *why)
{
    static const char *const endpoints[] = {"ipc:///nonexistent/0", "ipc:///nonexistent/1",
                                            "ipc:///nonexistent/2"};
    const struct index_client_options options = {
        .endpoints = endpoints, .count = PARTITIONS_ASKED, .name = "test"};
    *why = (struct reason){""};
    assert_int_equal(index_client_open(&client, &options, why), STATUS_OK);
    client->silence_ms = SILENCE_MS;
    client->deadline_ms = 1; /* of a call before */
    client->partitions[0].missing = true;
    memcpy(order, wanted, sizeof order);
    asked = answered = 0;
    waits_most = most;
    buf_reset(position);
    (void)buf_append_string(position, "at ");
    const enum status status = index_position(client, position, why);
    for (size_t i = 0; i < PARTITIONS_ASKED; i++) {
        if (told[i].done != NULL) {
            tell(&told[i]); /* nobody waits for it */
        }
    }
    index_client_close(client);
    return status;
}

static void
the_position_is_that_of_all_partitions(void **state)
{
    static const size_t orders[][PARTITIONS_ASKED] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};
    struct buf position;
    struct reason why;
    (void)state;
    buf_init(&position, 1 << 10);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        for (size_t k = 0; k < PARTITIONS_ASKED; k++) {
            told[k] = (struct told){STATUS_OK, 5 + k, 16 + k, NULL, NULL};
        }
        assert_int_equal(ask(orders[i], PARTITIONS_ASKED, &position, &why), STATUS_OK);
        assert_int_equal(answered, PARTITIONS_ASKED);
        assert_string_equal(position.data, "at 0:5.10,1:6.11,2:7.12");
    }
    buf_release(&position);
}

static void
a_partition_that_fails_is_named(void **state)
{
    static const size_t orders[][PARTITIONS_ASKED] = {{0, 1, 2}, {2, 1, 0}};
    static const struct {
        enum status is, becomes;
    } cases[] = {{STATUS_TIMEOUT, STATUS_TIMEOUT},
                 {STATUS_SYSTEM, STATUS_SYSTEM},
                 {STATUS_NOT_FOUND, STATUS_AGAIN}};
    struct buf position;
    struct reason why;
    (void)state;
    buf_init(&position, 1 << 10);
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        for (size_t bad = 0; bad < PARTITIONS_ASKED; bad++) {
            char expected[100];
            for (size_t k = 0; k < PARTITIONS_ASKED; k++) {
                told[k] =
                    (struct told){k == bad ? cases[i / 2].is : STATUS_OK, 5 + k, 16, NULL, NULL};
            }
            assert_int_equal(ask(orders[i % 2], PARTITIONS_ASKED, &position, &why),
                             cases[i / 2].becomes);
            snprintf(expected, sizeof expected,
                     "index partition %zu (ipc:///nonexistent/%zu): the partition does not answer",
                     bad, bad);
            assert_string_equal(why.text, expected);
            assert_string_equal(position.data, "at ");
        }
    }
    buf_release(&position);
}

/* What is told after the call was given up is dropped. */
static void
a_wait_that_is_ended_ends_the_call(void **state)
{
    static const size_t first_two[PARTITIONS_ASKED] = {0, 1, 2};
    struct buf position;
    struct reason why;
    (void)state;
    buf_init(&position, 1 << 10);
    for (size_t most = 0; most < PARTITIONS_ASKED; most++) {
        for (size_t k = 0; k < PARTITIONS_ASKED; k++) {
            told[k] = (struct told){STATUS_OK, 5 + k, 16 + k, NULL, NULL};
        }
        assert_int_equal(ask(first_two, most, &position, &why), STATUS_CANCELLED);
        assert_string_equal(why.text, "cancelled");
        assert_int_equal(answered, most);
        assert_string_equal(position.data, "at ");
    }
    buf_release(&position);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_position_is_that_of_all_partitions),
        cmocka_unit_test(a_partition_that_fails_is_named),
        cmocka_unit_test(a_wait_that_is_ended_ends_the_call),
    };
    return cmocka_run_group_tests_name("positions", tests, NULL, NULL);
}
