/* A call over several partitions (index/client/partitions/client_calls.c): what it waits for and
 * how long, when it ends, and when it goes on without a partition. The linker puts the functions
 * below in the place of the links, of the clock and of poll(2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <poll.h>

#include "index/client/partitions/client_calls.h"

enum { PARTITIONS_ASKED = 3, WAIT_MS = 200 };

static struct partition_client partitions[PARTITIONS_ASKED];
static struct pollfd descriptors[PARTITIONS_ASKED];
static char endpoint[] = "an endpoint";
static struct index_client client;
static int due_ms[PARTITIONS_ASKED]; /* when a link has something to do by itself; -1: never */
static uint64_t now_ms;
static int polled_ms; /* for so long; -1: it was not waited */
static char processed[100];

static size_t
partition_of_link(const struct rpc_client *rpc)
{
    for (size_t i = 0; i < PARTITIONS_ASKED; i++) {
        if (partitions[i].rpc == rpc) {
            return i;
        }
    }
    fail_msg("there is no such link");
    return 0;
}

int __wrap_rpc_client_descriptor(struct rpc_client *rpc);
int
__wrap_rpc_client_descriptor(struct rpc_client *rpc)
{
    return 100 + (int)partition_of_link(rpc);
}

int __wrap_rpc_client_wait_ms(const struct rpc_client *rpc);
int
__wrap_rpc_client_wait_ms(const struct rpc_client *rpc)
{
    return due_ms[partition_of_link(rpc)];
}

void __wrap_rpc_client_process(struct rpc_client *rpc);
void
__wrap_rpc_client_process(struct rpc_client *rpc)
{
    snprintf(processed + strlen(processed), sizeof processed - strlen(processed), "process %zu ",
             partition_of_link(rpc));
}

void __wrap_client_links_post(struct index_client *of, size_t partition);
void
__wrap_client_links_post(struct index_client *of, size_t partition)
{
    assert_ptr_equal(of, &client);
    snprintf(processed + strlen(processed), sizeof processed - strlen(processed), "post %zu ",
             partition);
}

uint64_t __wrap_clock_monotonic_ms(void);
uint64_t
__wrap_clock_monotonic_ms(void)
{
    return now_ms;
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int
__wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    assert_ptr_equal(fds, descriptors);
    assert_int_equal(count, client.count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(fds[i].fd, 100 + i);
        assert_int_equal(fds[i].events, POLLIN);
    }
    polled_ms = timeout_ms;
    return 0;
}

static int
set_up(void **state)
{
    static char links[PARTITIONS_ASKED];
    (void)state;
    memset(partitions, 0, sizeof partitions);
    memset(descriptors, 0, sizeof descriptors);
    for (size_t i = 0; i < PARTITIONS_ASKED; i++) {
        partitions[i].rpc = (struct rpc_client *)(void *)&links[i];
        partitions[i].endpoint = endpoint;
        due_ms[i] = -1;
    }
    client = (struct index_client){
        .partitions = partitions, .count = PARTITIONS_ASKED, .descriptors = descriptors};
    now_ms = 5000;
    polled_ms = -1;
    processed[0] = '\0';
    return 0;
}

static void
descriptors_are_those_of_all_links(void **state)
{
    (void)state;
    for (size_t most = 0; most <= PARTITIONS_ASKED + 1; most++) {
        int list[PARTITIONS_ASKED + 1] = {-1, -1, -1, -1};
        const size_t n = most < PARTITIONS_ASKED ? most : PARTITIONS_ASKED;
        assert_int_equal(index_client_descriptors(&client, list, most), n);
        for (size_t i = 0; i <= PARTITIONS_ASKED; i++) {
            assert_int_equal(list[i], i < n ? 100 + (int)i : -1);
        }
    }
}

/* What is asked for goes out before answers are taken, and what they ask for after it. */
static void
links_are_worked_on_one_after_the_other(void **state)
{
    (void)state;
    index_client_process(&client);
    assert_string_equal(processed, "post 0 process 0 post 0 post 1 process 1 post 1 "
                                   "post 2 process 2 post 2 ");
}

static void
the_first_that_is_due_is_waited_for(void **state)
{
    static const struct {
        int due_ms[PARTITIONS_ASKED], least_ms, wait_ms;
    } cases[] = {{{-1, -1, -1}, -1, WAIT_MS}, {{7, -1, -1}, 7, 7},
                 {{-1, 7, 9}, 7, 7},          {{9, 8, 7}, 7, 7},
                 {{0, 8, 7}, 0, 0},           {{8, 0, -1}, 0, 0},
                 {{-1, 8, 0}, 0, 0},          {{300, 400, -1}, 300, WAIT_MS},
                 {{-1, -1, 199}, 199, 199},   {{1, 2, 3}, 1, 1}};
    struct reason why = {""};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memcpy(due_ms, cases[i].due_ms, sizeof due_ms);
        processed[0] = '\0';
        assert_int_equal(index_client_wait_ms(&client), cases[i].least_ms);
        assert_int_equal(client_wait(&client, &why), STATUS_OK);
        assert_int_equal(polled_ms, cases[i].wait_ms);
        assert_int_equal(strlen(processed), strlen("post 0 process 0 post 0 ") * 3);
    }
    /* Links of documents that are to be asked for do not wait. */
    memcpy(due_ms, cases[3].due_ms, sizeof due_ms);
    for (size_t i = 0; i < PARTITIONS_ASKED; i++) {
        partitions[i].links = (struct links_request *)(void *)&due_ms;
        assert_int_equal(index_client_wait_ms(&client), 0);
        partitions[i].links = NULL;
    }
}

static void
a_call_ends_when_its_time_is_over_or_it_is_cancelled(void **state)
{
    struct reason why = {""};
    atomic_bool cancel = false;
    (void)state;
    partitions[0].missing = partitions[2].missing = true;
    client_begin(&client, INDEX_PARTIAL_WARN, 10, &cancel);
    assert_int_equal(client.partial, INDEX_PARTIAL_WARN);
    assert_int_equal(client.deadline_ms, 5010);
    for (size_t i = 0; i < PARTITIONS_ASKED; i++) {
        assert_false(partitions[i].missing);
    }
    now_ms = 5009;
    assert_false(client_ended(&client));
    assert_int_equal(client_wait(&client, &why), STATUS_OK);
    polled_ms = -1;
    for (now_ms = 5010; now_ms < 5012; now_ms++) {
        assert_true(client_ended(&client));
        assert_int_equal(client_wait(&client, &why), STATUS_TIMEOUT);
        assert_string_equal(why.text, "the query took longer than it may");
    }
    atomic_store(&cancel, true);
    assert_true(client_ended(&client));
    assert_int_equal(client_wait(&client, &why), STATUS_CANCELLED);
    assert_string_equal(why.text, "cancelled");
    client_begin(&client, INDEX_PARTIAL_ERROR, 1, &cancel);
    assert_int_equal(client.deadline_ms, 5013);
    assert_int_equal(client_wait(&client, &why), STATUS_CANCELLED);
    assert_int_equal(polled_ms, -1);
    atomic_store(&cancel, false);
    client_begin(&client, INDEX_PARTIAL_ERROR, 0, NULL);
    assert_int_equal(client.partial, INDEX_PARTIAL_ERROR);
    assert_int_equal(client.deadline_ms, 0);
    assert_false(client_ended(&client));
    client.deadline_ms = 1;
    assert_true(client_ended(&client));
}

static void
a_failure_names_its_partition(void **state)
{
    const struct reason what = {"it is ill"};
    (void)state;
    for (int status = STATUS_OK + 1; status <= STATUS_CANCELLED; status++) {
        struct reason why = {""};
        const bool gone =
            status == STATUS_NOT_FOUND || status == STATUS_STALE || status == STATUS_CANCELLED;
        assert_int_equal(client_fail(&client, 2, (enum status)status, &what, &why),
                         gone ? STATUS_AGAIN : status);
        assert_string_equal(why.text, "index partition 2 (an endpoint): it is ill");
    }
}

/* A call that may be partial goes on without a partition that fails, but not without the last one,
 * and not where the question was wrong. */
static void
a_partition_may_be_missed(void **state)
{
    static const enum status wrong[] = {STATUS_BAD_INPUT, STATUS_LIMIT, STATUS_UNSUPPORTED,
                                        STATUS_MISUSE};
    const struct reason what = {"it is ill"};
    struct reason why = {""};
    (void)state;
    client_begin(&client, INDEX_PARTIAL_WARN, 0, NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(client_miss(&client, 1, wrong[i], &what, &why), wrong[i]);
        assert_string_equal(why.text, "index partition 1 (an endpoint): it is ill");
        assert_false(partitions[1].missing);
    }
    assert_int_equal(client_miss(&client, 1, STATUS_TIMEOUT, &what, &why), STATUS_OK);
    assert_true(partitions[1].missing);
    assert_string_equal(partitions[1].why.text, "it is ill");
    assert_false(partitions[0].missing || partitions[2].missing);
    assert_int_equal(client_miss(&client, 0, STATUS_SYSTEM, &what, &why), STATUS_OK);
    assert_true(partitions[0].missing);
    assert_int_equal(client_miss(&client, 2, STATUS_SYSTEM, &what, &why), STATUS_SYSTEM);
    assert_string_equal(why.text, "index partition 2 (an endpoint): it is ill");
    assert_false(partitions[2].missing);
    /* It may fail once more. */
    assert_int_equal(client_miss(&client, 0, STATUS_NOT_FOUND, &what, &why), STATUS_OK);
    client_begin(&client, INDEX_PARTIAL_WARN, 0, NULL);
    assert_int_equal(client_miss(&client, 1, STATUS_SYSTEM, &what, &why), STATUS_OK);
    assert_int_equal(client_miss(&client, 2, STATUS_SYSTEM, &what, &why), STATUS_OK);
    assert_int_equal(client_miss(&client, 0, STATUS_SYSTEM, &what, &why), STATUS_SYSTEM);
    client_begin(&client, INDEX_PARTIAL_ERROR, 0, NULL);
    assert_int_equal(client_miss(&client, 1, STATUS_NOT_FOUND, &what, &why), STATUS_AGAIN);
    assert_false(partitions[1].missing);
    client.count = 1;
    client_begin(&client, INDEX_PARTIAL_WARN, 0, NULL);
    assert_int_equal(client_miss(&client, 0, STATUS_SYSTEM, &what, &why), STATUS_SYSTEM);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup(name, set_up)
    const struct CMUnitTest tests[] = {
        CASE(descriptors_are_those_of_all_links),
        CASE(links_are_worked_on_one_after_the_other),
        CASE(the_first_that_is_due_is_waited_for),
        CASE(a_call_ends_when_its_time_is_over_or_it_is_cancelled),
        CASE(a_failure_names_its_partition),
        CASE(a_partition_may_be_missed),
    };
    return cmocka_run_group_tests_name("client_calls", tests, NULL, NULL);
}
