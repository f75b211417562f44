/* Requests of hostile clients. The input is a list of messages: verb, client, length (16 bits),
 * payload; after each a round is done. Whatever comes, every request is answered at most once,
 * and the counters agree with the records. */
#include <stdlib.h>

#include "base/system/log.h"
#include "queue/broker/broker.h"
#include "queue/client/message.h"
#include "tests/fuzz/services/memory_frontier.h"

enum { REQUESTS_MOST = 64 };

struct world {
    struct broker *broker;
    bool answered[REQUESTS_MOST];
    size_t count;
};

static void
take_answer(void *context, void *token, enum status status, struct slice payload,
            const struct reason *why)
{
    struct world *world = context;
    const size_t number = (size_t)(uintptr_t)token - 1;
    (void)status;
    (void)payload;
    (void)why;
    if (number >= world->count || world->answered[number]) {
        abort();
    }
    world->answered[number] = true;
}

static void
check_counters(const struct world *world)
{
    uint64_t jobs[STAGE_COUNT] = {0};
    uint64_t later[STAGE_COUNT] = {0};
    uint64_t buried[STAGE_COUNT] = {0};
    const struct counters *counters = broker_counters(world->broker);
    uint64_t seen = 0;
    for (size_t i = 0; i < memory_latest->count; i++) {
        const struct row *row = &memory_latest->rows[i];
        if (row->tree == TREE_JOBS || row->tree == TREE_FETCH) {
            jobs[(uint8_t)row->key[0]]++;
        } else if (row->tree == TREE_LATER) {
            later[(uint8_t)row->key[8]]++;
        } else if (row->tree == TREE_BURIED) {
            buried[(uint8_t)row->key[0]]++;
        } else if (row->tree == TREE_SEEN) {
            seen++;
        }
    }
    for (int i = 0; i < STAGE_COUNT; i++) {
        const struct stage_counters *stage = &counters->stages[i];
        if (stage->jobs != jobs[i] || stage->delayed + stage->scheduled != later[i] ||
            stage->buried != buried[i] || counters->seen != seen) {
            abort();
        }
    }
}

static void
submit(struct world *world, uint8_t verb, uint8_t client, struct slice payload)
{
    static const char *const names[] = {"a", "b", "", "c"};
    struct reason why = {""};
    const struct broker_request request = {
        .verb = verb,
        .id = client >> 4,
        .incarnation = 1 + (client >> 2 & 3),
        .client = slice_string(names[client & 3]),
        .payload = payload,
        .token = (void *)(uintptr_t)(++world->count),
    };
    broker_submit(world->broker, &request);
    if (broker_work(world->broker, &why) != STATUS_OK) {
        abort();
    }
    check_counters(world);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct reason why = {""};
    struct cluster *cluster;
    struct world world = {.count = 0};
    log_open("fuzz", LOG_LEVEL_ERROR, false);
    if (cluster_parse(&cluster, SLICE("node local"), NULL, "/", &why) != STATUS_OK) {
        abort();
    }
    const struct broker_options options = {
        .directory = "/",
        .store = {.folder = "/"},
        .cluster = cluster,
        .index_partitions = 3,
        .lease_ms = 1000,
        .attempts = 2,
        .high_water = 10,
        .group_parallel = 1,
        .seen_cache_bytes = 4096,
        .domain_budget = 2,
        .troubles = {.failures = 1, .probe_ms = 1, .probe_most_ms = 4, .outage_hosts = 2},
        .domain_period_ms = 60000,
    };
    if (broker_open(&world.broker, &options, take_answer, &world, &why) != STATUS_OK) {
        abort();
    }
    broker_serve_as(world.broker, 1);
    while (size >= 4 && world.count < REQUESTS_MOST) {
        size_t length = (size_t)data[2] << 8 | data[3];
        length = length < size - 4 ? length : size - 4;
        submit(&world, data[0], data[1], slice_of((const char *)data + 4, length));
        data += 4 + length;
        size -= 4 + length;
    }
    broker_close(world.broker);
    for (size_t i = 0; i < world.count; i++) {
        if (!world.answered[i]) {
            abort();
        }
    }
    cluster_close(cluster);
    return 0;
}
