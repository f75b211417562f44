/* These tests are of what quadrille-extract puts for fetch, and when it does not
 * (stages/extract/extract_stage.c, scope_sweep.c). The index and the metadata stores are stood in
 * for; scope and rules are real. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "crawl/scope.h"
#include "datasets/execution.h"
#include "index/client/index_client.h"
#include "metastore/metastore_client.h"
#include "stages/extract/scope_sweep.h"
#include "stages/skeleton/services.h"
#include "tests/unit/stages_work/stage_steps.h"

#define PAGE "http://a.example/page"
/* Versions are wall times, or one more than the last. */
#define SCOPE "scope 1000000"
#define SCOPE_NEXT "scope 1000001"
enum { LINKS_MOST = 20000, STEP_RECORDS = 500, STORES = 3, TEXT = 1 << 10 };

static struct {
    index_linked *done; /* of the document whose links were asked for */
    void *done_context;
    struct buf endpoints; /* of the index */
    bool sealed, timed;
    uint16_t owners[PARTITIONS];
    metastore_got *got;
    void *got_context;
    struct buf stores; /* endpoints of the metadata stores, a line each */
    size_t store_count, store_opened, store_closed, processed, index_opened, index_closed;
    int wait_ms;
    enum status scan_status, store_status, index_status;
    size_t records; /* that a scan finds */
    const char *kind;
    bool owns;                   /* all partitions are this node's, but */
    unsigned indexed, extracted; /* of these index and extract, which are another's */
} others;

/* ---- in the place of others ---- */

STAND_IN(enum status, index_client_open,
         (struct index_client * *client, const struct index_client_options *options,
          struct reason *why))
{
    if (others.index_status != STATUS_OK) {
        *client = NULL;
        return status_fail(why, others.index_status, "no such index");
    }
    *client = (struct index_client *)&others;
    others.index_opened++;
    for (size_t i = 0; i < options->count; i++) {
        buf_printf(&others.endpoints, "%s\n", options->endpoints[i]);
    }
    assert_string_equal(options->name, "worker.1");
    others.sealed = options->keys != NULL;
    others.timed = options->timeout_ms > 0;
    if (options->owner_of_partition != NULL) {
        memcpy(others.owners, options->owner_of_partition, sizeof others.owners);
    }
    return STATUS_OK;
}

size_t __real_cluster_owner_of(const struct cluster *cluster, enum stage stage, unsigned partition);
STAND_IN(size_t, cluster_owner_of,
         (const struct cluster *cluster, enum stage stage, unsigned partition))
{
    assert_true(partition < PARTITIONS);
    if (!others.owns) {
        return __real_cluster_owner_of(cluster, stage, partition);
    }
    return (stage == STAGE_INDEX && partition == others.indexed) ||
                   (stage == STAGE_EXTRACT && partition == others.extracted)
               ? 1
               : cluster_self(cluster);
}

STAND_IN(void, index_client_close, (struct index_client * client))
{
    assert_ptr_equal(client, &others);
    others.index_closed++;
}

STAND_IN(size_t, index_client_descriptors,
         (struct index_client * client, int *descriptors, size_t most))
{
    (void)client;
    assert_true(most >= 2);
    descriptors[0] = 71;
    descriptors[1] = 72;
    return 2;
}

STAND_IN(void, index_client_process, (struct index_client * client))
{
    (void)client;
    others.processed++;
}

STAND_IN(int, index_client_wait_ms, (const struct index_client *client))
{
    (void)client;
    return others.wait_ms;
}

STAND_IN(void, index_links,
         (struct index_client * client, struct slice document, index_linked *done, void *context))
{
    (void)client;
    others.done = done;
    others.done_context = context;
    buf_printf(&steps.trace, "links of %.*s?\n", SLICE_PRINT(document));
}

STAND_IN(void, metastore_get,
         (struct metastore_client * client, const struct slice *keys, size_t n, metastore_got *done,
          void *context))
{
    (void)client;
    assert_int_equal(n, 1);
    others.got = done;
    others.got_context = context;
    buf_printf(&steps.trace, "record of %.*s?\n", SLICE_PRINT(keys[0]));
}

static char store_places[STORES];

STAND_IN(enum status, metastore_client_open,
         (struct metastore_client * *client, const struct metastore_client_options *options,
          struct reason *why))
{
    assert_int_equal(options->endpoint_count, 1);
    assert_string_equal(options->name, "worker.1.sweep");
    assert_true(others.store_count < STORES);
    *client = (struct metastore_client *)&store_places[others.store_count++];
    buf_printf(&others.stores, "%s\n", options->endpoints[0]);
    if (others.store_status != STATUS_OK && others.store_count == 2) {
        return status_fail(why, others.store_status, "no such store");
    }
    others.store_opened++;
    return STATUS_OK;
}

STAND_IN(void, metastore_client_close, (struct metastore_client * client))
{
    (void)client;
    others.store_closed++;
}

STAND_IN(enum status, metastore_scan,
         (struct metastore_client * client, struct slice prefix, struct slice after, uint32_t most,
          metastore_visit *visit, void *context, uint32_t timeout_ms, struct reason *why))
{
    struct meta_update update;
    struct buf record;
    (void)timeout_ms;
    assert_true(slice_is(prefix, "u"));
    assert_true(after.length == 0 || memchr(after.at, 0, after.length) == NULL);
    assert_int_equal(most, STEP_RECORDS);
    buf_printf(&steps.trace, "scan %d after \"%.*s\"\n", (int)((const char *)client - store_places),
               SLICE_PRINT(after));
    meta_update_init(&update);
    buf_init(&record, TEXT);
    if (strcmp(others.kind, "without depth") != 0) {
        meta_set_number(&update, META_DEPTH, 3);
    }
    meta_set_number(&update, META_LINKS_FOUND, strcmp(others.kind, "links") == 0);
    if (strcmp(others.kind, "refused") == 0) {
        meta_set_number(&update, META_SCOPE_REFUSED, REFUSED_ENTRIES);
    } else if (strcmp(others.kind, "indexed") != 0 && strcmp(others.kind, "links") != 0) {
        meta_set_text(&update, META_STATE, SLICE("redirected"));
    } else {
        meta_set_text(&update, META_STATE, SLICE("indexed"));
    }
    if (strcmp(others.kind, "deep") == 0) {
        meta_set_number(&update, META_DEPTH, 100000);
    }
    (void)meta_merge((struct slice){0}, meta_update_fields(&update), &record);
    for (size_t i = 0; i < others.records; i++) {
        char key[TEXT];
        const int n = snprintf(key, sizeof key, "uhttp://a.example/%zu%s", i,
                               strcmp(others.kind, "resource") == 0 ? RESOURCE_FRAGMENT
                               : strcmp(others.kind, "plan") == 0   ? PLAN_FRAGMENT
                                                                    : "");
        assert_true(visit(context, slice_of(key, (size_t)n), buf_slice(&record)));
    }
    buf_release(&record);
    meta_update_release(&update);
    return others.scan_status == STATUS_OK
               ? STATUS_OK
               : status_fail(why, others.scan_status, "the store is away");
}

/* ---- steps ---- */

static const char *const settings[] = {"scope.hosts=a.example b.example", "scope.depth=5",
                                       "index.partitions=2", "urls.drop=sid", NULL};

static void
prepare(const char *cluster)
{
    memset(&others, 0, sizeof others);
    buf_init(&others.endpoints, 1 << 16);
    buf_init(&others.stores, 1 << 16);
    others.wait_ms = -1;
    others.kind = "links";
    steps_prepare(cluster, settings);
}

static int
set_up(void **state)
{
    struct reason why = {""};
    (void)state;
    prepare(NULL);
    assert_int_equal(steps_open(&why), STATUS_OK);
    assert_int_equal(others.processed, 1); /* its clock runs from the beginning */
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    steps_end();
    assert_int_equal(others.index_opened, others.index_closed);
    assert_int_equal(others.store_opened, others.store_closed);
    buf_release(&others.endpoints);
    buf_release(&others.stores);
    return 0;
}

static void
start_page(uint16_t depth, uint8_t flags, const struct document *document)
{
    const struct job job = {.key.stage = STAGE_EXTRACT,
                            .uri = SLICE(PAGE),
                            .via = SLICE("http://b.example/"),
                            .priority = 150,
                            .depth = depth,
                            .hops = 2,
                            .generation = 1,
                            .flags = flags};
    steps_start(&job, document);
}

/* The index answers. */
static void
link_to(const char *const *targets)
{
    struct index_link links[16];
    size_t n = 0;
    struct reason why = {""};
    for (; targets[n] != NULL; n++) {
        links[n] = (struct index_link){.target = slice_string(targets[n])};
    }
    others.done(others.done_context, STATUS_OK, links, n, &why);
}

/* The metadata store answers; a state, a target and what was refused of its sitemaps. */
static void
recorded(const char *state, const char *target, uint64_t refused, bool nofollow)
{
    struct meta_update update;
    struct buf record;
    struct reason why = {""};
    meta_update_init(&update);
    buf_init(&record, TEXT);
    meta_set_text(&update, META_STATE, slice_string(state));
    meta_set_text(&update, META_REDIRECT_TO, slice_string(target));
    if (refused != 0) {
        meta_set_number(&update, META_SCOPE_REFUSED, refused);
    }
    if (nofollow) {
        meta_set_number(&update, META_NOFOLLOW, 1);
    }
    (void)meta_merge((struct slice){0}, meta_update_fields(&update), &record);
    const struct slice records[1] = {buf_slice(&record)};
    others.got(others.got_context, STATUS_OK, records, 1, &why);
    buf_release(&record);
    meta_update_release(&update);
}

#define PUT(uri, lane, depth) \
    "put fetch " uri " lane " lane " via " PAGE " priority 150 flags 0 depth " depth "\n"

/* ---- links ---- */

static void
links_in_scope_are_put_once(void **state)
{
    (void)state;
    start_page(2, 0, NULL);
    assert_trace("scope 0\nlinks of " PAGE "?\n");
    link_to((const char *const[]){"http://b.example/x#part", "http://b.example/x",
                                  "http://other.example/", PAGE "#top", "mailto:a@a.example",
                                  "HTTP://A.example:80/y?sid=7", "http://a.example/y",
                                  "http://a.example/r/r/r/r/r/r/r/r/", "http://", NULL});
    assert_trace(PUT("http://b.example/x", "http://b.example", "3")
                     PUT("http://a.example/y", "http://a.example", "3") "done\n");
    assert_number(META_EXTRACTED, steps.now_ms);
    assert_number(META_LINKS_FOUND, 9);
    assert_number(META_LINKS_ACCEPTED, 2);
    assert_number(META_LINKS_TRAPPED, 1);
}

static void
links_may_be_too_deep(void **state)
{
    (void)state;
    start_page(4, 0, NULL);
    link_to((const char *const[]){"http://a.example/y", NULL});
    assert_number(META_LINKS_ACCEPTED, 1);
    start_page(5, 0, NULL);
    link_to((const char *const[]){"http://a.example/y", NULL});
    assert_trace("scope 0\nlinks of " PAGE "?\ndone\n");
    assert_number(META_LINKS_FOUND, 1);
    assert_number(META_LINKS_ACCEPTED, 0);
}

static void
urgency_is_inherited_but_that_of_descriptions(void **state)
{
    static const struct {
        uint8_t of_page, of_link;
    } cases[] = {{0, 0},
                 {SITEMAP_PRIORITY - 1, SITEMAP_PRIORITY - 1},
                 {SITEMAP_PRIORITY, PAGE_PRIORITY},
                 {PAGE_PRIORITY - 1, PAGE_PRIORITY},
                 {PAGE_PRIORITY, PAGE_PRIORITY},
                 {255, 255}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char wanted[TEXT];
        const struct job job = {.key.stage = STAGE_EXTRACT,
                                .uri = SLICE(PAGE),
                                .priority = cases[i].of_page,
                                .generation = 1};
        steps_start(&job, NULL);
        buf_reset(&steps.trace);
        link_to((const char *const[]){"http://a.example/y", NULL});
        snprintf(wanted, sizeof wanted,
                 "put fetch http://a.example/y lane http://a.example via " PAGE
                 " priority %u flags 0 depth 1\ndone\n",
                 cases[i].of_link);
        assert_trace(wanted);
    }
}

static void
a_document_has_so_many_links_at_most(void **state)
{
    enum { LINKS = LINKS_MOST + 5 };
    static struct index_link links[LINKS];
    static char targets[LINKS][40];
    struct reason why = {""};
    (void)state;
    for (size_t i = 0; i < LINKS; i++) {
        const int n = snprintf(targets[i], sizeof targets[i], "http://a.example/%zu", i);
        links[i].target = slice_of(targets[i], (size_t)n);
    }
    start_page(0, 0, NULL);
    others.done(others.done_context, STATUS_OK, links, LINKS, &why);
    assert_number(META_LINKS_FOUND, LINKS);
    assert_number(META_LINKS_ACCEPTED, LINKS_MOST);
}

/* Links within a host that has sitemaps: when they were first seen, noted once. */
static void
first_links_are_noted(void **state)
{
    const struct document mapped = {.mapped = true};
    char wanted[TEXT];
    (void)state;
    for (int round = 0; round < 2; round++) {
        start_page(0, 0, &mapped);
        buf_reset(&steps.trace);
        link_to((const char *const[]){"http://b.example/", "http://a.example/y", NULL});
        snprintf(wanted, sizeof wanted,
                 "meta s"
                 "http://a.example/y %d=%llu\n",
                 META_LINK_SEEN, (unsigned long long)steps.now_ms);
        char whole[2 * TEXT];
        snprintf(whole, sizeof whole, "%s%s%sdone\n",
                 PUT("http://b.example/", "http://b.example", "1"),
                 PUT("http://a.example/y", "http://a.example", "1"), round == 0 ? wanted : "");
        assert_trace(whole);
    }
}

static void
an_index_that_fails_is_asked_again(void **state)
{
    static const struct {
        enum status status;
        const char *trace;
    } cases[] = {
        {STATUS_SYSTEM, "release 1000 counted: the index did not tell the links: broken\n"},
        {STATUS_CANCELLED, "release 1000: the index did not tell the links: broken\n"},
        {STATUS_TIMEOUT, "release 1000: the index did not tell the links: broken\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct reason why = {"broken"};
        start_page(0, 0, NULL);
        buf_reset(&steps.trace);
        others.done(others.done_context, cases[i].status, NULL, 0, &why);
        assert_trace(cases[i].trace);
        assert_number(META_EXTRACTED, UINT64_MAX);
    }
}

static void
links_are_left_where_the_publisher_says_so(void **state)
{
    const struct document document = {.nofollow = true};
    (void)state;
    start_page(0, 0, &document);
    assert_trace("scope 0\ndone\n");
    assert_number(META_LINKS_FOUND, 0);
    assert_number(META_EXTRACTED, steps.now_ms);
}

/* ---- documents that are considered again ---- */

static void
a_revisit_does_what_is_known_of_the_document(void **state)
{
    (void)state;
    start_page(2, JOB_REVISIT, NULL);
    assert_trace("scope 0\nrecord of u" PAGE "?\n");
    recorded("indexed", "", 0, false);
    assert_trace("links of " PAGE "?\n");
    start_page(2, JOB_REVISIT, NULL);
    recorded("redirected", "http://b.example/new", 0, false);
    assert_trace("scope 0\nrecord of u" PAGE "?\nput fetch http://b.example/new lane "
                 "http://b.example via " PAGE " priority 150 flags 0 depth 2 hops 3\ndone\n");
    start_page(2, JOB_REVISIT, NULL);
    recorded("redirected", "http://other.example/", 0, false);
    assert_trace("scope 0\nrecord of u" PAGE "?\ndone\n");
    start_page(2, JOB_REVISIT, NULL);
    recorded("indexed", "http://b.example/old", 0, true);
    assert_trace("scope 0\nrecord of u" PAGE "?\ndone\n");
    assert_number(META_LINKS_FOUND, 0);
    start_page(2, JOB_REVISIT, NULL);
    recorded("indexed", "http://b.example/old", 0, false); /* it was redirected once */
    assert_trace("scope 0\nrecord of u" PAGE "?\nlinks of " PAGE "?\n");
}

static void
what_was_refused_is_put_again(void **state)
{
#define ERRAND(uri)                                                                     \
    "put fetch " uri " lane http://a.example via http://b.example/ priority 97 flags 9" \
    " depth 2\n"
    (void)state;
    start_page(2, JOB_REVISIT | JOB_REFILTER, NULL);
    buf_reset(&steps.trace);
    recorded("indexed", "", REFUSED_SITEMAPS, false);
    assert_trace(ERRAND("http://a.example/#sitemaps") "links of " PAGE "?\n");
    start_page(2, JOB_REVISIT | JOB_REFILTER, NULL);
    buf_reset(&steps.trace);
    recorded("indexed", "", REFUSED_ENTRIES, true);
    assert_trace(ERRAND(PAGE "#listing") "done\n");
    start_page(2, JOB_REVISIT | JOB_REFILTER, NULL);
    buf_reset(&steps.trace);
    recorded("indexed", "", REFUSED_VOID, true);
    assert_trace(PUT("http://a.example/.well-known/void", "http://a.example", "2") "done\n");
    start_page(6, JOB_REVISIT | JOB_REFILTER, NULL);
    buf_reset(&steps.trace);
    recorded("indexed", "", REFUSED_VOID, true); /* still too deep */
    assert_trace("done\n");
    start_page(2, JOB_REVISIT, NULL);
    buf_reset(&steps.trace);
    recorded("indexed", "", REFUSED_SITEMAPS | REFUSED_ENTRIES | REFUSED_VOID, true);
    assert_trace("done\n"); /* the scope is as it was */
#undef ERRAND
}

static void
metadata_that_are_away_are_waited_for(void **state)
{
    const struct reason why = {"no answer"};
    (void)state;
    start_page(2, JOB_REVISIT | JOB_REFILTER, NULL);
    buf_reset(&steps.trace);
    others.got(others.got_context, STATUS_UNAVAILABLE, NULL, 0, &why);
    assert_trace("put off: no answer\n");
    start_page(2, JOB_REVISIT, NULL);
    buf_reset(&steps.trace);
    others.got(others.got_context, STATUS_CORRUPT, NULL, 0, &why);
    assert_trace("release 1000: metadata could not be read: no answer\n");
    start_page(2, JOB_REVISIT, NULL);
    buf_reset(&steps.trace);
    others.got(others.got_context, STATUS_OK, NULL, 0, &why); /* nothing is known */
    assert_trace("links of " PAGE "?\n");
}

/* ---- the scope ---- */

static void
errands_go_back_to_fetch(void **state)
{
    static const char *const uris[] = {"http://a.example/#plan", "http://a.example/#sitemaps",
                                       "http://a.example/map.xml#listing"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        const struct job job = {.key.stage = STAGE_EXTRACT,
                                .uri = slice_string(uris[i]),
                                .via = SLICE("http://b.example/"),
                                .depth = 4,
                                .flags = JOB_REVISIT | JOB_REFILTER};
        char wanted[TEXT];
        steps_start(&job, NULL);
        snprintf(wanted, sizeof wanted,
                 "scope 0\nput fetch %s lane http://a.example via http://b.example/ priority 97 "
                 "flags 9 depth 4\ndone\n",
                 uris[i]);
        assert_trace(wanted);
    }
}

static void
no_link_is_judged_by_an_older_scope(void **state)
{
    struct reason why = {""};
    (void)state;
    steps.scope = STEPS_WALL_MS;
    start_page(0, 0, NULL);
    assert_trace("scope 0\nrelease 200: the scope is being written\n");
    assert_int_equal(scope_save(steps.directory,
                                (const char *const[]){"scope.hosts=a.example c.example"}, 1, &why),
                     STATUS_OK);
    start_page(0, 0, NULL);
    assert_trace(SCOPE "\nlinks of " PAGE "?\n");
    link_to((const char *const[]){"http://b.example/", "http://c.example/", NULL});
    assert_trace(PUT("http://c.example/", "http://c.example", "1") "done\n");
}

static void
start_sweep(const char *uri, uint64_t generation)
{
    const struct job job = {.key.stage = STAGE_EXTRACT,
                            .uri = slice_string(uri),
                            .priority = 128,
                            .generation = generation,
                            .flags = JOB_REVISIT};
    steps_start(&job, NULL);
}

static void
a_sweep_puts_what_may_lead_on(void **state)
{
    static const struct {
        const char *kind, *trace;
    } cases[] = {
        {"links", "put fetch http://a.example/0 lane http://a.example via  priority 128 flags 128 "
                  "depth 3\n"},
        {"refused", "put fetch http://a.example/0 lane http://a.example via  priority 128 flags "
                    "128 depth 3\n"},
        {"redirected", "put fetch http://a.example/0 lane http://a.example via  priority 128 flags "
                       "128 depth 3\n"},
        {"deep", "put fetch http://a.example/0 lane http://a.example via  priority 128 flags 128 "
                 "depth 65535\n"},
        {"without depth", "put fetch http://a.example/0 lane http://a.example via  priority 128 "
                          "flags 128 depth 0\n"},
        {"plan", "put fetch http://a.example/0/#plan lane http://a.example via  priority 128 flags "
                 "128 depth 3\n"},
        {"indexed", ""},
        {"resource", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char wanted[TEXT];
        others.kind = cases[i].kind;
        others.records = 1;
        start_sweep("scope:", 4);
        snprintf(wanted, sizeof wanted, "scope 0\nscan 0 after \"\"\n%sdone\n", cases[i].trace);
        assert_trace(wanted);
    }
}

static void
a_sweep_goes_on_where_it_was(void **state)
{
    (void)state;
    others.kind = "indexed";
    others.records = STEP_RECORDS;
    start_sweep("scope:uhttp://0.example/", 4);
    assert_trace("scope 0\nscan 0 after \"uhttp://0.example/\"\nput extract "
                 "scope:uhttp://a.example/499 lane  via  priority 128 flags 2 depth 0\ndone\n");
    others.records = STEP_RECORDS - 1;
    start_sweep("scope:uhttp://a.example/499", 4);
    assert_trace("scope 0\nscan 0 after \"uhttp://a.example/499\"\ndone\n");
    start_sweep("scope:1:", 4); /* a store that is there no more */
    assert_trace("scope 0\ndone\n");
    others.scan_status = STATUS_TIMEOUT;
    start_sweep("scope:", 4);
    buf_reset(&steps.trace);
    others.records = 0;
    start_sweep("scope:", 4);
    assert_trace("scope 0\nscan 0 after \"\"\n"
                 "release 1000: metadata could not be read: the store is away\n");
}

static void
a_sweep_of_an_older_scope_is_over(void **state)
{
    struct reason why = {""};
    (void)state;
    assert_int_equal(
        scope_save(steps.directory, (const char *const[]){"scope.hosts=a.example"}, 1, &why),
        STATUS_OK);
    assert_int_equal(
        scope_save(steps.directory, (const char *const[]){"scope.hosts=c.example"}, 1, &why),
        STATUS_OK);
    steps.scope = STEPS_WALL_MS + 1;
    start_sweep("scope:", STEPS_WALL_MS);
    assert_trace(SCOPE_NEXT "\ndone\n");
    start_sweep("scope:", STEPS_WALL_MS + 1);
    assert_trace(SCOPE_NEXT "\nscan 0 after \"\"\ndone\n");
}

/* ---- who is asked ---- */

static void
the_index_is_asked_when_it_is_ready(void **state)
{
    (void)state;
    assert_int_equal(steps.watched_count, 2);
    assert_int_equal(steps.watched[1].descriptor, 72);
    const size_t before = others.processed;
    steps.watched[1].ready(steps.watched[1].context, 1);
    assert_int_equal(others.processed, before + 1);
    size_t tick = 0; /* the timer that asks the index again */
    start_page(0, 0, NULL);
    while (tick < steps.timer_count && steps.timers[tick].delay_ms != 0) {
        tick++;
    }
    assert_true(tick < steps.timer_count);
    others.wait_ms = 40;
    steps.timers[tick].tick(steps.timers[tick].context);
    assert_int_equal(others.processed, before + 2);
    assert_int_equal(steps.timers[tick].delay_ms, 40);
    others.wait_ms = -1;
    steps.timers[tick].tick(steps.timers[tick].context);
    assert_int_equal(steps.timers[tick].delay_ms, 1000);
}

static void
the_scope_is_looked_at_now_and_then(void **state)
{
    struct reason why = {""};
    (void)state;
    assert_int_equal(
        scope_save(steps.directory, (const char *const[]){"scope.hosts=c.example"}, 1, &why),
        STATUS_OK);
    for (size_t i = 0; i < steps.timer_count; i++) {
        steps.timers[i].tick(steps.timers[i].context);
        assert_int_equal(steps.timers[i].delay_ms, 1000);
    }
    start_page(0, 0, NULL);
    assert_trace(SCOPE "\nlinks of " PAGE "?\n");
}

static void
own_indexes_and_stores_are_asked(void **state)
{
    char wanted[TEXT];
    (void)state;
    snprintf(wanted, sizeof wanted, "ipc://%s/run/index-0.sock\nipc://%s/run/index-1.sock\n",
             steps.directory, steps.directory);
    assert_string_equal(others.endpoints.data, wanted);
    snprintf(wanted, sizeof wanted, "ipc://%s/run/metastore.sock\n", steps.directory);
    assert_string_equal(others.stores.data, wanted);
    assert_false(others.sealed);
    assert_false(others.timed);
}

/* Nodes whose documents nobody else sweeps are the first extracting node's. */
static void
indexes_and_stores_of_other_nodes_are_asked(void **state)
{
    static const char nodes[] =
        "node here queue=tcp://127.0.0.1:7001 metastore=tcp://127.0.0.1:7002 "
        "stages=fetch,extract\n"
        "node there queue=tcp://127.0.0.2:7001 metastore=tcp://127.0.0.2:7002 "
        "index=tcp://127.0.0.2:7010 stages=fetch,detect,transform,index\n"
        "node same queue=tcp://127.0.0.3:7001 metastore=tcp://127.0.0.3:7002 "
        "index=tcp://127.0.0.3:7010 stages=index,extract\n";
    char wanted[TEXT];
    struct reason why = {""};
    bool owned[4] = {false};
    (void)state;
    prepare(nodes);
    assert_int_equal(steps_open(&why), STATUS_OK);
    assert_string_equal(others.endpoints.data,
                        "tcp://127.0.0.2:7010\ntcp://127.0.0.2:7011\ntcp://127.0.0.3:7010\n"
                        "tcp://127.0.0.3:7011\n");
    for (unsigned i = 0; i < PARTITIONS; i++) {
        const size_t node = cluster_owner_of(steps.cluster, STAGE_INDEX, i);
        assert_int_equal(others.owners[i], (node == 1 ? 0 : 2) + (i >= PARTITIONS / 2));
        owned[others.owners[i]] = true;
    }
    assert_true(owned[0] && owned[1] && owned[2] && owned[3]);
    snprintf(wanted, sizeof wanted, "ipc://%s/run/metastore.sock\ntcp://127.0.0.2:7002\n",
             steps.directory);
    assert_string_equal(others.stores.data, wanted);
    others.kind = "indexed";
    start_sweep("scope:", 4); /* one store after the other */
    assert_trace("scope 0\nscan 0 after \"\"\nput extract scope:1: lane  via  priority 128 flags 2 "
                 "depth 0\ndone\n");
    others.records = STEP_RECORDS;
    start_sweep("scope:1:uhttp://a.example/", 4);
    assert_trace("scope 0\nscan 1 after \"uhttp://a.example/\"\nput extract "
                 "scope:1:uhttp://a.example/499 lane  via  priority 128 flags 2 depth 0\ndone\n");
}

/* One partition is enough whose links are read here and whose documents are indexed elsewhere. */
static void
each_partition_may_be_indexed_elsewhere(void **state)
{
    static const unsigned partitions[] = {0, 1, PARTITIONS / 2, PARTITIONS - 1};
    static const char two[] =
        "node here queue=tcp://127.0.0.1:7001 metastore=tcp://127.0.0.1:7002 "
        "index=tcp://127.0.0.1:7010\n"
        "node there queue=tcp://127.0.0.2:7001 metastore=tcp://127.0.0.2:7002 "
        "index=tcp://127.0.0.2:7010\n";
    enum { COUNT = sizeof partitions / sizeof *partitions };
    (void)state;
    for (size_t i = 0; i <= 2 * COUNT; i++) {
        char wanted[TEXT];
        struct reason why = {""};
        const bool elsewhere = i < COUNT;
        prepare(two);
        others.owns = true;
        others.indexed = i < 2 * COUNT ? partitions[i % COUNT] : UINT_MAX;
        others.extracted = elsewhere ? UINT_MAX : others.indexed;
        assert_int_equal(steps_open(&why), STATUS_OK);
        snprintf(wanted, sizeof wanted, "ipc://%s/run/index-0.sock\nipc://%s/run/index-1.sock\n%s",
                 steps.directory, steps.directory,
                 elsewhere ? "tcp://127.0.0.2:7010\ntcp://127.0.0.2:7011\n" : "");
        assert_string_equal(others.endpoints.data, wanted);
        if (i < 2 * COUNT) {
            (void)tear_down(NULL);
        }
    }
}

/* It is told by a fragment, behind something, that a document is fetched for others. */
static void
errands_are_told_by_their_fragments(void **state)
{
    static const struct {
        const char *uri;
        bool errand;
    } rows[] = {{"http://a.example/" PLAN_FRAGMENT, true},
                {"http://a.example/" SITEMAPS_FRAGMENT, true},
                {"http://a.example/" LISTING_FRAGMENT, true},
                {"x" PLAN_FRAGMENT, true},
                {PLAN_FRAGMENT, false},
                {SITEMAPS_FRAGMENT, false},
                {LISTING_FRAGMENT, false},
                {"http://a.example/" PLAN_FRAGMENT "x", false},
                {"http://a.example/", false},
                {"http://a.example/" RESOURCE_FRAGMENT, false},
                {"", false}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(sweep_is_errand(slice_string(rows[i].uri)), rows[i].errand);
    }
}

/* The first node that has extract sweeps the stores of all before and behind it that have not, and
 * its own if it has one. Which store is next stands in front of the key. */
static void
stores_are_swept_by_the_first_that_extracts(void **state)
{
#define LACKS                                                     \
    " queue=tcp://127.0.0.9:7001 metastore=tcp://127.0.0.9:7002 " \
    "stages=fetch,detect,transform,index\n"
#define INDEX " index=tcp://127.0.0.8:7010"
#define HAS(store) " queue=tcp://127.0.0.1:7001" store INDEX " stages=index,extract\n"
#define STORE " metastore=tcp://127.0.0.1:7002"
    static const struct {
        const char *nodes;
        bool own;
        const char *others;
    } rows[] = {{"node there" INDEX LACKS "node here" HAS(STORE) "node last" HAS(STORE), true,
                 "tcp://127.0.0.9:7002\n"},
                {"node there" INDEX LACKS "node first" HAS(STORE) "node here" HAS(STORE), true, ""},
                {"node here" HAS("") "node there" INDEX LACKS, false, "tcp://127.0.0.9:7002\n"},
                {"node first" HAS(STORE) "node here" HAS("") "node there" INDEX LACKS, false, ""}};
    static const struct {
        const char *uri, *trace;
    } steps_of[] = {{"scope:0:uhttp://b.example/", "scan 0 after \"uhttp://b.example/\"\n"},
                    {"scope:01:ux", "scan 1 after \"ux\"\n"},
                    {"scope:1", "scan 1 after \"\"\n"},
                    {"scope:2:ux", ""},
                    {"scope:9:ux", ""},
                    {"scope:10:ux", ""}};
    char wanted[TEXT];
    struct reason why = {""};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        prepare(rows[i].nodes);
        assert_int_equal(steps_open(&why), STATUS_OK);
        wanted[0] = '\0';
        if (rows[i].own) {
            snprintf(wanted, sizeof wanted, "ipc://%s/run/metastore.sock\n", steps.directory);
        }
        snprintf(wanted + strlen(wanted), sizeof wanted - strlen(wanted), "%s", rows[i].others);
        assert_string_equal(others.stores.length > 0 ? others.stores.data : "", wanted);
        others.kind = "indexed";
        others.records = 1;
        for (size_t k = 0; i == 0 && k < sizeof steps_of / sizeof *steps_of; k++) {
            start_sweep(steps_of[k].uri, 4);
            const bool next = k == 0; /* there is a second store */
            snprintf(wanted, sizeof wanted, "scope 0\n%s%sdone\n", steps_of[k].trace,
                     next ? "put extract scope:1: lane  via  priority 128 flags 2 depth 0\n" : "");
            assert_trace(wanted);
        }
        if (i + 1 < sizeof rows / sizeof *rows) {
            (void)tear_down(NULL);
        }
    }
}

/* Queues are found as the queue client has them: this node's own by its socket. */
static void
queues_of_all_nodes_are_found(void **state)
{
    struct cluster_services services;
    struct reason why = {""};
    char wanted[TEXT];
    (void)state;
    prepare("node there queue=tcp://127.0.0.2:7001 metastore=tcp://127.0.0.2:7002\n"
            "node here queue=tcp://127.0.0.1:7001 metastore=tcp://127.0.0.1:7002 "
            "index=tcp://127.0.0.1:7010\n"
            "node last queue=tcp://127.0.0.3:7001 metastore=tcp://127.0.0.3:7002\n");
    assert_int_equal(services_queues(steps.cluster, steps.directory, &services, &why), STATUS_OK);
    assert_int_equal(services.count, 3);
    assert_string_equal(services.endpoints[0], "tcp://127.0.0.2:7001");
    snprintf(wanted, sizeof wanted, "ipc://%s/run/queue.sock", steps.directory);
    assert_string_equal(services.endpoints[1], wanted);
    assert_string_equal(services.endpoints[2], "tcp://127.0.0.3:7001");
    cluster_services_release(&services);
    assert_int_equal(services_metastores(steps.cluster, steps.directory, &services, &why),
                     STATUS_OK);
    snprintf(wanted, sizeof wanted, "ipc://%s/run/metastore.sock", steps.directory);
    assert_string_equal(services.endpoints[1], wanted);
    cluster_services_release(&services);
    assert_int_equal(steps_open(&why), STATUS_OK);
}

static void
an_index_that_cannot_be_opened_ends_the_stage(void **state)
{
    struct reason why = {""};
    (void)state;
    prepare(NULL);
    others.index_status = STATUS_MISUSE;
    assert_int_equal(steps_open(&why), STATUS_MISUSE);
    assert_string_equal(why.text, "no such index");
}

static void
a_store_that_cannot_be_opened_ends_the_stage(void **state)
{
    static const char nodes[] =
        "node here queue=tcp://127.0.0.1:7001 metastore=tcp://127.0.0.1:7002 stages=extract\n"
        "node there queue=tcp://127.0.0.2:7001 metastore=tcp://127.0.0.2:7002 "
        "index=tcp://127.0.0.2:7010 "
        "stages=fetch,detect,transform,index\n";
    struct reason why = {""};
    (void)state;
    prepare(nodes);
    others.store_status = STATUS_MISUSE;
    assert_int_equal(steps_open(&why), STATUS_MISUSE);
    assert_string_equal(why.text, "no such store");
}

static void
a_node_without_an_address_of_its_index_is_named(void **state)
{
    struct reason why = {""};
    (void)state;
    prepare("node here queue=tcp://127.0.0.1:7001 metastore=tcp://127.0.0.1:7002 "
            "stages=extract\nnode there "
            "queue=tcp://127.0.0.2:7001 metastore=tcp://127.0.0.2:7002 "
            "stages=fetch,detect,transform,index\n");
    assert_int_equal(steps_open(&why), STATUS_MISUSE);
    assert_string_equal(why.text,
                        "cluster.conf: node there serves index and has no index=tcp://host:port");
}

/* main is that of the program. */
STAND_IN(int, main, (int argc, char **argv))
{
    (void)argc, (void)argv;
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(links_in_scope_are_put_once),
        CASE(links_may_be_too_deep),
        CASE(urgency_is_inherited_but_that_of_descriptions),
        CASE(a_document_has_so_many_links_at_most),
        CASE(first_links_are_noted),
        CASE(an_index_that_fails_is_asked_again),
        CASE(links_are_left_where_the_publisher_says_so),
        CASE(a_revisit_does_what_is_known_of_the_document),
        CASE(what_was_refused_is_put_again),
        CASE(metadata_that_are_away_are_waited_for),
        CASE(errands_go_back_to_fetch),
        CASE(no_link_is_judged_by_an_older_scope),
        CASE(a_sweep_puts_what_may_lead_on),
        CASE(a_sweep_goes_on_where_it_was),
        CASE(a_sweep_of_an_older_scope_is_over),
        CASE(errands_are_told_by_their_fragments),
        CASE(the_index_is_asked_when_it_is_ready),
        CASE(the_scope_is_looked_at_now_and_then),
        CASE(own_indexes_and_stores_are_asked),
        cmocka_unit_test_teardown(indexes_and_stores_of_other_nodes_are_asked, tear_down),
        cmocka_unit_test_teardown(each_partition_may_be_indexed_elsewhere, tear_down),
        cmocka_unit_test_teardown(stores_are_swept_by_the_first_that_extracts, tear_down),
        cmocka_unit_test_teardown(queues_of_all_nodes_are_found, tear_down),
        cmocka_unit_test_teardown(an_index_that_cannot_be_opened_ends_the_stage, tear_down),
        cmocka_unit_test_teardown(a_store_that_cannot_be_opened_ends_the_stage, tear_down),
        cmocka_unit_test_teardown(a_node_without_an_address_of_its_index_is_named, tear_down),
    };
    return cmocka_run_group_tests_name("extract_stage", tests, NULL, NULL);
}
