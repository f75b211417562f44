/* What the queue's tables, the metadata store's packer and others take of memory they give back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "metastore/pack.h"
#include "queue/client/job.h"
#include "queue/cluster/cluster.h"
#include "queue/frontier/estimate_table.h"
#include "queue/frontier/leases.h"
#include "queue/frontier/priority.h"
#include "queue/frontier/seen.h"
#include "queue/frontier/sequences.h"
#include "queue/frontier/upcoming_jobs.h"
#include "queue/politeness/host_troubles.h"
#include "queue/politeness/lanes.h"
#include "queue/politeness/paces.h"
#include "queue/storage/sorted_map.h"
#include "queue/storage/store_batch.h"
#include "tests/unit/memory_in_use.h"
#include "tests/unit/queue/queue_suites.h"
#include "warc/compress.h"

static void
make_lanes(void)
{
    struct lanes *lanes = lanes_new(1, 10, 1);
    lanes_restore(lanes, 1, 0, 7);
    lanes_wake(lanes, 2);
    lanes_free(lanes);
    lanes_free(NULL);
}

static void
make_paces(void)
{
    struct paces *paces = paces_new(8);
    (void)paces_add(paces, 1);
    paces_free(paces);
    paces_free(NULL);
}

static void
make_leases(void)
{
    leases_free(leases_new());
    leases_free(NULL);
}

static void
make_troubles(void)
{
    struct troubles *troubles = troubles_new();
    troubles_set(troubles, &(struct trouble){.lane = 1, .failures = 1, .flags = TROUBLE_ASIDE});
    troubles_free(troubles);
    troubles_free(NULL);
}

static void
make_estimates(void)
{
    struct estimates *estimates = estimates_new(64, 't');
    estimates_change(estimates, 5)->weight = 1;
    estimates_free(estimates);
    estimates_free(NULL);
}

static void
make_priorities(void)
{
    struct priorities *priorities = priority_new(10, 1000);
    priority_yielded(priorities, SLICE("http://a.example/x"), 3);
    priority_spend(priorities, SLICE("http://a.example/x"), 5000);
    (void)priority_link(priorities, SLICE("http://a.example/x"), SLICE("http://b.example/"));
    priority_free(priorities);
    priority_free(NULL);
}

static void
make_seen(void)
{
    const uint8_t fingerprint[FINGERPRINT_SIZE] = {1};
    struct seen *seen = seen_new(TREE_SEEN, 4096);
    seen_want(seen, fingerprint);
    seen_free(seen);
    seen_free(NULL);
}

static void
make_sequences(void)
{
    struct sequences *sequences = sequences_new(2);
    for (uint8_t stage = STAGE_DETECT; stage < STAGE_COUNT; stage++) {
        for (uint64_t lane = 0; lane < (stage == STAGE_INDEX ? 2 : 1); lane++) {
            const struct job_key key = {.stage = stage, .lane = lane, .id = 1};
            sequence_reach(sequences_find(sequences, stage, lane), &key);
            sequence_ready(sequences_find(sequences, stage, lane), key.id);
        }
    }
    sequences_free(sequences);
    sequences_free(NULL);
}

static void
make_upcoming(void)
{
    upcoming_free(upcoming_new(4096));
    upcoming_free(NULL);
}

static void
make_cluster(void)
{
    struct cluster *cluster;
    struct cluster_services services;
    if (cluster_parse(&cluster, SLICE("node a queue=q metastore=m\nnode b queue=q metastore=m\n"),
                      "a", "/", NULL) == STATUS_OK &&
        cluster_metastore_services(cluster, "ipc://x", &services, NULL) == STATUS_OK) {
        cluster_services_release(&services);
    }
    cluster_close(cluster);
    (void)cluster_parse(&cluster, SLICE("node a\nnode b"), "a", "/", NULL); /* refused */
}

static void
make_packer(void)
{
    struct packer *packer = packer_new();
    (void)packer_add(packer, SLICE("a dictionary"));
    (void)packer_add(packer, SLICE("another one"));
    packer_free(packer);
    packer_free(NULL);
}

static void
make_compressor(void)
{
    compressor_close(compressor_open(1));
    compressor_close(compressor_open(99)); /* there is none */
}

static void
make_map(void)
{
    struct ordered map;
    ordered_init(&map);
    ordered_put(&map, SLICE("key"), SLICE("value"), false);
    ordered_release(&map);
}

static void
make_batch(void)
{
    struct store_batch batch;
    store_batch_init(&batch);
    store_batch_put(&batch, TREE_LANES, SLICE("12345678"), SLICE("value"));
    store_batch_remove(&batch, TREE_LANES, SLICE("12345679"));
    store_batch_release(&batch);
}

static void
test_what_is_freed_leaves_nothing(void **state)
{
    static const struct {
        const char *name;
        void (*make)(void);
    } cases[] = {{"lanes", make_lanes},
                 {"paces", make_paces},
                 {"leases", make_leases},
                 {"troubles", make_troubles},
                 {"estimates", make_estimates},
                 {"priorities", make_priorities},
                 {"seen", make_seen},
                 {"sequences", make_sequences},
                 {"upcoming jobs", make_upcoming},
                 {"cluster", make_cluster},
                 {"packer", make_packer},
                 {"compressor", make_compressor},
                 {"sorted map", make_map},
                 {"batch", make_batch}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!leaves_no_memory(cases[i].make)) {
            fail_msg("%s", cases[i].name);
        }
    }
}

int
freed_tables_run(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_is_freed_leaves_nothing)};
    return cmocka_run_group_tests_name("freed tables", tests, NULL, NULL);
}
