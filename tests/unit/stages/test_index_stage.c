/* These tests are of what quadrille-index does with documents and with what becomes of a batch
 * (stages/index/index_stage.c): when it commits, what it tells of each document, when it waits and
 * when it ends. The functions below stand in the place of the partition, of the service and of the
 * rest of the stage, and tell what was asked of them as lines of a trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/rpc/rpc.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "config/process_state.h"
#include "index/serve/index_service.h"
#include "index/write/partition.h"
#include "index/write/patch.h"
#include "stages/skeleton/content.h"
#include "stages/skeleton/services.h"
#include "stages/skeleton/stage.h"
#include "stages/skeleton/visit_schedule.h"
#include "tests/unit/scratch.h"
#include "tests/unit/stand_in.h"
#include "transforms/transform.h"

enum {
    DOCUMENTS = 8,
    ALL = 20, /* more quads than were added; more that were removed: */
    REMOVED = 30,
    MEMORY = 1600,
    BATCH_MEMORY = MEMORY / 16,
    PARTITIONS_HERE = 3,
    FULL_LINE = 512
};

static const struct stage_spec *spec;
static void *stage;
static struct {
    stage_ready *ready;
    void *context;
} patches;
static struct buf trace;
static struct stage_job jobs[DOCUMENTS];
static struct index_result results[DOCUMENTS];
static size_t documents, batch_bytes;
static enum status commit_status, patch_status, read_status;
static bool waits, truncated;
static bool closes_files, reads_ahead; /* of the archive, as it was told when it opened */
static uint64_t now_ms;
static unsigned worker;
static const char *publish, *cluster_index, *queries;
static unsigned lanes, own_options; /* how often these were set */
static enum status archive_status, stores_status;
static int batch_place, archive_place;
static jmp_buf at_exit_of_process;
static int exit_code;

/* ---- in the place of others ---- */

int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv);

STAND_IN(int, stage_main, (const struct stage_spec *of, int argc, char **argv))
{
    (void)argc, (void)argv;
    spec = of;
    return 0;
}

void __wrap__exit(int code) __attribute__((noreturn));
void
__wrap__exit(int code)
{
    exit_code = code;
    longjmp(at_exit_of_process, 1);
}

STAND_IN(const struct opt_set *, stage_options, (struct stage_run * run))
{
    (void)run;
    return NULL;
}

STAND_IN(int64_t, opt_integer, (const struct opt_set *set, const char *name))
{
    (void)set;
    return strcmp(name, "index.memory") == 0 ? MEMORY : PARTITIONS_HERE;
}

STAND_IN(const char *, opt_string, (const struct opt_set *set, const char *name))
{
    (void)set;
    return strcmp(name, "index.publish") == 0     ? publish
           : strcmp(name, "extract.queries") == 0 ? queries
                                                  : "";
}

STAND_IN(unsigned, stage_worker_number, (struct stage_run * run))
{
    (void)run;
    return worker;
}

STAND_IN(const char *, stage_directory, (struct stage_run * run))
{
    (void)run;
    return "/crawl";
}

STAND_IN(const struct cluster *, stage_cluster, (struct stage_run * run))
{
    (void)run;
    return NULL;
}

STAND_IN(size_t, cluster_self, (const struct cluster *cluster))
{
    (void)cluster;
    return 1;
}

STAND_IN(const struct cluster_node *, cluster_node, (const struct cluster *cluster, size_t node))
{
    static struct cluster_node self;
    (void)cluster;
    assert_int_equal(node, 1);
    self.index = cluster_index;
    return &self;
}

STAND_IN(const struct rpc_keys *, cluster_keys, (const struct cluster *cluster))
{
    static const struct rpc_keys keys;
    (void)cluster;
    return &keys;
}

STAND_IN(enum status, services_metastores,
         (const struct cluster *cluster, const char *directory, struct cluster_services *services,
          struct reason *why))
{
    (void)cluster, (void)directory, (void)why;
    *services = (struct cluster_services){0};
    return stores_status;
}

STAND_IN(void, cluster_services_release, (struct cluster_services * services))
{
    (void)services;
}

STAND_IN(struct metastore_client_options *, metastore_client_options_copy,
         (const struct metastore_client_options *options))
{
    assert_string_equal(options->name, "index-query");
    return memory_new(sizeof(struct metastore_client_options));
}

STAND_IN(void, stage_set_lane, (struct stage_run * run, uint64_t lane))
{
    (void)run;
    lanes++;
    assert_int_equal(lane, worker - 1);
}

STAND_IN(size_t, transform_output_maximum, (const struct opt_set *options))
{
    (void)options;
    return 1000;
}

STAND_IN(enum status, content_open,
         (struct content * *content, const char *directory, const struct cluster *cluster,
          const struct warc_limits *limits, struct reason *why))
{
    (void)directory, (void)cluster, (void)why;
    assert_int_equal(limits->body, 2000);
    assert_int_equal(limits->record, 2000 + (1 << 20));
    *content = (struct content *)(void *)&archive_place;
    return archive_status;
}

STAND_IN(void, content_close, (struct content * content))
{
    (void)content;
}

STAND_IN(void, content_close_files, (struct content * content, struct stage_run *run))
{
    (void)run;
    assert_ptr_equal(content, &archive_place);
    closes_files = true;
}

STAND_IN(void, content_read_ahead, (struct content * content, content_wanted *wanted))
{
    const struct document document = {0};
    (void)content;
    assert_ptr_equal(wanted(&document), &document.conversion);
    reads_ahead = true;
}

STAND_IN(enum status, partition_open,
         (struct partition * *partition, const struct partition_options *options,
          struct reason *why))
{
    (void)why;
    *partition = NULL;
    buf_printf(&trace, "open %llu\n", (unsigned long long)options->lock_wait_ms);
    return STATUS_OK;
}

STAND_IN(void, partition_options_from,
         (struct partition_options * options, const char *folder, const struct opt_set *set))
{
    (void)set;
    *options = (struct partition_options){0};
    buf_printf(&trace, "folder %s\n", folder);
}

STAND_IN(void, partition_close, (struct partition * partition))
{
    (void)partition;
    buf_append_string(&trace, "close\n");
}

STAND_IN(bool, partition_waits, (const struct partition *partition, enum status status))
{
    (void)partition;
    return waits && status != STATUS_OK;
}

STAND_IN(void, service_options_from, (struct service_options * options, const struct opt_set *set))
{
    (void)options, (void)set;
    own_options++;
}

STAND_IN(enum status, service_start,
         (struct service * *service, struct partition *partition,
          const struct service_options *options, struct reason *why))
{
    (void)partition, (void)why;
    *service = NULL;
    assert_string_equal(options->scratch_folder, "/crawl/tmp");
    assert_non_null(options->metastore);
    buf_printf(&trace, "serve %u", options->partition_number);
    for (size_t i = 0; options->endpoints[i] != NULL; i++) {
        buf_printf(&trace, " %s", options->endpoints[i]);
    }
    buf_append_string(&trace, options->keys != NULL ? " sealed; changes" : "; changes");
    for (size_t i = 0; options->published[i] != NULL; i++) {
        buf_printf(&trace, " %s", options->published[i]);
    }
    buf_append_string(&trace, options->publish_keys != NULL ? " sealed\n" : "\n");
    return STATUS_OK;
}

STAND_IN(void, service_stop, (struct service * service))
{
    (void)service;
    buf_append_string(&trace, "stop\n");
}

STAND_IN(struct patch_queue *, service_patches, (struct service * service))
{
    (void)service;
    return NULL;
}

STAND_IN(int, patch_queue_descriptor, (const struct patch_queue *queue))
{
    (void)queue;
    return 77;
}

STAND_IN(void, stage_watch,
         (struct stage_run * run, int descriptor, uint32_t events, stage_ready *ready,
          void *context))
{
    (void)run, (void)events;
    assert_int_equal(descriptor, 77);
    patches.ready = ready;
    patches.context = context;
}

STAND_IN(enum status, patch_queue_work,
         (struct patch_queue * queue, struct partition *partition, size_t memory,
          struct reason *why))
{
    (void)queue, (void)partition;
    assert_int_equal(memory, MEMORY);
    buf_append_string(&trace, "patch\n");
    return patch_status == STATUS_OK ? STATUS_OK : status_fail(why, patch_status, "no patch");
}

STAND_IN(void, patch_queue_refuse,
         (struct patch_queue * queue, enum status status, const struct reason *why))
{
    (void)queue;
    buf_printf(&trace, "refuse %d: %s\n", status == STATUS_FULL, why->text);
}

STAND_IN(struct index_batch *, index_batch_new, (struct partition * partition))
{
    (void)partition;
    return (struct index_batch *)(void *)&batch_place;
}

STAND_IN(void, index_batch_free, (struct index_batch * batch))
{
    (void)batch;
}

STAND_IN(void, index_batch_reset, (struct index_batch * batch))
{
    assert_ptr_equal(batch, &batch_place);
    documents = 0;
    buf_append_string(&trace, "reset\n");
}

STAND_IN(size_t, index_batch_documents, (const struct index_batch *batch))
{
    assert_ptr_equal(batch, &batch_place);
    return documents;
}

STAND_IN(size_t, index_batch_bytes, (const struct index_batch *batch))
{
    assert_ptr_equal(batch, &batch_place);
    return batch_bytes;
}

STAND_IN(enum status, index_batch_add,
         (struct index_batch * batch, const struct index_document *document, struct slice nquads,
          size_t *number, struct reason *why))
{
    assert_ptr_equal(batch, &batch_place);
    (void)why;
    *number = documents++;
    buf_printf(&trace, "add %.*s %llu%s%s: %.*s\n", SLICE_PRINT(document->uri),
               (unsigned long long)document->generation, document->removed ? " removed" : "",
               document->linked_data ? " rdf" : "", SLICE_PRINT(nquads));
    return STATUS_OK;
}

STAND_IN(enum status, index_batch_commit, (struct index_batch * batch, struct reason *why))
{
    assert_ptr_equal(batch, &batch_place);
    buf_printf(&trace, "commit %zu\n", documents);
    return commit_status == STATUS_OK ? STATUS_OK : status_fail(why, commit_status, "no commit");
}

STAND_IN(const struct index_result *, index_batch_result,
         (const struct index_batch *batch, size_t number))
{
    assert_ptr_equal(batch, &batch_place);
    assert_true(number < documents);
    return &results[number];
}

STAND_IN(enum status, content_read,
         (struct content * content, const struct document_record *where, struct buf *memory,
          struct warc_record *record, struct reason *why))
{
    (void)content, (void)where, (void)memory;
    *record = (struct warc_record){
        .body = SLICE("quads"), .body_truncated = truncated, .encoding_problem = SLICE("too long")};
    return read_status == STATUS_OK ? STATUS_OK : status_fail(why, read_status, "unreadable");
}

STAND_IN(void, content_refused,
         (struct stage_job * job, enum status status, const struct reason *why))
{
    (void)job;
    buf_printf(&trace, "refused %d: %s\n", status == STATUS_CORRUPT, why->text);
}

STAND_IN(void, process_state_wait,
         (enum process_wait wait, enum status status, const struct reason *why))
{
    assert_int_equal(wait, WAIT_WRITE);
    buf_printf(&trace, "wait %d: %s\n", status == STATUS_FULL, why->text);
}

STAND_IN(void, process_state_goes_on, (enum process_wait wait))
{
    assert_int_equal(wait, WAIT_WRITE);
    buf_append_string(&trace, "goes on\n");
}

STAND_IN(void, process_state_end, (enum status status, const struct reason *why))
{
    assert_int_not_equal(status, STATUS_OK);
    buf_printf(&trace, "end: %s\n", why->text);
}

/* Takes of the log only what tells people of a wait. */
void __wrap_log_event(enum log_level level, const char *event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void
__wrap_log_event(enum log_level level, const char *event, const char *format, ...)
{
    (void)format;
    if (level == LOG_LEVEL_ERROR && strcmp(event, "writing_waits") == 0) {
        buf_append_string(&trace, "told\n");
    }
}

STAND_IN(uint64_t, clock_monotonic_ms, (void))
{
    return now_ms;
}

STAND_IN(uint64_t, clock_wall_ms, (void))
{
    return 4321;
}

STAND_IN(void, stage_done, (struct stage_job * job))
{
    buf_printf(&trace, "done %.*s\n", SLICE_PRINT(job->job.uri));
}

STAND_IN(void, stage_output_next,
         (struct stage_job * job, enum stage next, const struct document *document))
{
    (void)job;
    assert_int_equal(next, STAGE_EXTRACT);
    assert_int_equal(document->conversion.file.length + document->type.length, 0);
    buf_printf(&trace, "extract%s%s\n", document->nofollow ? " nofollow" : "",
               document->mapped ? " mapped" : "");
}

STAND_IN(void, stage_count_as, (struct stage_job * job, enum job_outcome outcome))
{
    buf_printf(&trace, "%.*s %s\n", SLICE_PRINT(job->job.uri), outcome_words[outcome].word);
}

STAND_IN(void, stage_yield, (struct stage_job * job, uint64_t quads))
{
    (void)job;
    buf_printf(&trace, "yield %llu\n", (unsigned long long)quads);
}

STAND_IN(void, schedule_visit,
         (struct stage_job * job, const struct document_visit *visit, enum visit_outcome outcome,
          struct slice data))
{
    assert_ptr_equal(visit, &job->document.visit);
    assert_int_equal(data.length, 0);
    buf_printf(&trace, "visit %s\n", outcome == VISIT_CHANGED ? "changed" : "unchanged");
}

/* ---- steps ---- */

static void
assert_trace(const char *text)
{
    assert_string_equal(trace.length > 0 ? trace.data : "", text);
    buf_reset(&trace);
}

static struct stage_job *
start(size_t number, const char *uri)
{
    struct stage_job *job = &jobs[number];
    job->job.uri = slice_string(uri);
    job->job.generation = number + 1;
    spec->start(stage, job);
    return job;
}

/* Returns whether the process ended. */
static bool
patch(void)
{
    if (setjmp(at_exit_of_process) == 0) {
        patches.ready(patches.context, 1);
        return false;
    }
    assert_int_equal(exit_code, EXIT_SYSTEM);
    return true;
}

static enum status
flush(size_t n)
{
    struct stage_job *list[DOCUMENTS];
    struct reason why = {""};
    for (size_t i = 0; i < n; i++) {
        list[i] = &jobs[i];
    }
    return spec->flush(stage, list, n, &why);
}

static int
set_up(void **state)
{
    struct reason why = {""};
    (void)state;
    buf_init(&trace, 1 << 16);
    for (size_t i = 0; i < DOCUMENTS; i++) {
        jobs[i] = (struct stage_job){0};
        arena_init(&jobs[i].arena, 1 << 16);
        meta_update_init(&jobs[i].meta);
        results[i] = (struct index_result){.outcome = DOCUMENT_CHANGED,
                                           .added = i + 5,
                                           .quads = i + 5 + ALL,
                                           .removed = i + 5 + REMOVED};
        memset(results[i].digest, 0xa0 + (int)i, sizeof results[i].digest);
    }
    documents = batch_bytes = 0;
    commit_status = patch_status = read_status = STATUS_OK;
    waits = truncated = false;
    now_ms = 1000;
    worker = 2;
    publish = queries = "";
    cluster_index = NULL;
    closes_files = reads_ahead = false;
    lanes = own_options = 0;
    archive_status = stores_status = STATUS_OK;
    assert_int_equal(spec->open(NULL, &stage, &why), STATUS_OK);
    assert_true(closes_files && reads_ahead);
    assert_int_equal(lanes, 1);
    assert_int_equal(own_options, 1);
    buf_reset(&trace);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    spec->close(stage);
    for (size_t i = 0; i < DOCUMENTS; i++) {
        arena_release(&jobs[i].arena);
        meta_update_release(&jobs[i].meta);
    }
    buf_release(&trace);
    return 0;
}

/* Is what the job tells the metadata store; "" of a text, UINT64_MAX of a number: nothing. */
static void
assert_told(const struct stage_job *job, uint64_t indexed, const char *text, uint64_t added)
{
    struct buf record;
    uint64_t number = UINT64_MAX;
    struct slice found = {0};
    buf_init(&record, 1 << 12);
    (void)meta_merge((struct slice){0}, meta_update_fields(&job->meta), &record);
    (void)meta_record_number(buf_slice(&record), META_INDEXED, &number);
    assert_true(number == indexed);
    (void)meta_record_text(buf_slice(&record), META_STATE, &found);
    assert_true(slice_is(found, text));
    number = UINT64_MAX;
    (void)meta_record_number(buf_slice(&record), META_QUADS_ADDED, &number);
    assert_true(number == added);
    if (added != UINT64_MAX) {
        char digest[2 * DIGEST_SHA256_SIZE + 1];
        assert_int_equal(meta_record_count(buf_slice(&record), META_QUADS), added + ALL);
        assert_int_equal(meta_record_count(buf_slice(&record), META_QUADS_REMOVED),
                         added + REMOVED);
        digest_hex(results[added - 5].digest, DIGEST_SHA256_SIZE, digest);
        (void)meta_record_text(buf_slice(&record), META_GRAPH_DIGEST, &found);
        assert_true(slice_is(found, digest));
    }
    buf_release(&record);
}

/* ---- cases ---- */

static void
it_serves_where_it_is_told(void **state)
{
    static const struct {
        unsigned worker;
        const char *publish, *index, *trace;
    } cases[] = {
        {1, "", NULL,
         "serve 0 ipc:///crawl/run/index-0.sock; changes ipc:///crawl/run/changes-0.sock\n"},
        {3, "tcp://*:7000", "tcp://10.0.0.1:8000",
         "serve 2 ipc:///crawl/run/index-2.sock tcp://10.0.0.1:8002 sealed; changes "
         "ipc:///crawl/run/changes-2.sock tcp://*:7002 sealed\n"},
        {1, "", "ipc:///somewhere",
         "serve 0 ipc:///crawl/run/index-0.sock; changes ipc:///crawl/run/changes-0.sock\n"},
    };
    void *other = NULL;
    struct reason why = {""};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char expected[FULL_LINE];
        worker = cases[i].worker;
        publish = cases[i].publish;
        cluster_index = cases[i].index;
        assert_int_equal(spec->open(NULL, &other, &why), STATUS_OK);
        snprintf(expected, sizeof expected, "folder /crawl/index-%u\nopen 10000\n%s", worker - 1,
                 cases[i].trace);
        assert_trace(expected);
        spec->close(other);
        assert_trace("stop\nclose\n");
    }
    publish = "tcp://*";
    worker = 1;
    assert_int_equal(spec->open(NULL, &other, &why), STATUS_MISUSE);
    assert_string_equal(why.text, "index.publish has no port: tcp://*");
    spec->close(other);
    worker = PARTITIONS_HERE + 1;
    assert_int_equal(spec->open(NULL, &other, &why), STATUS_MISUSE);
    assert_string_equal(why.text, "there is no index partition 3: see index.partitions");
    spec->close(other);
    worker = 1; /* what does not open keeps the stage from it, and is told */
    publish = "";
    archive_status = STATUS_SYSTEM;
    assert_int_equal(spec->open(NULL, &other, &why), STATUS_SYSTEM);
    spec->close(other);
    archive_status = STATUS_OK;
    stores_status = STATUS_MISUSE;
    assert_int_equal(spec->open(NULL, &other, &why), STATUS_MISUSE);
    spec->close(other);
    worker = 2; /* whose stage the end of the case closes */
}

static void
documents_gather_until_they_are_flushed(void **state)
{
    (void)state;
    jobs[0].document = (struct document){.type = SLICE("text/turtle"), .mapped = true};
    jobs[1].document = (struct document){.removed = true};
    jobs[2].document =
        (struct document){.type = SLICE("text/html"), .broken = true, .nofollow = true};
    start(0, "a");
    start(1, "b");
    start(2, "c");
    assert_trace("add a 1 rdf: quads\nextract mapped\ndone a\nadd b 2 removed: \ndone b\n"
                 "add c 3: quads\nextract nofollow\ndone c\n");
    assert_int_equal(flush(3), STATUS_OK);
    assert_trace("commit 3\nreset\nyield 5\na indexed\nb removed\nyield 7\nc indexed\n");
    assert_told(&jobs[0], 4321, "indexed", 5);
    assert_told(&jobs[1], 4321, "", 6);
    assert_told(&jobs[2], 4321, "", 7);
    assert_int_equal(flush(0), STATUS_OK);
    assert_trace("");
}

static void
what_became_of_each_is_told(void **state)
{
    static const struct {
        enum document_outcome outcome;
        bool removed;
        uint64_t threshold_ms;
        const char *trace;
        bool told;
    } cases[] = {
        {DOCUMENT_CHANGED, false, 0, "yield 5\na indexed\n", true},
        {DOCUMENT_CHANGED, false, 1, "yield 5\na indexed\nvisit changed\n", true},
        {DOCUMENT_UNCHANGED, false, 1, "yield 5\na unchanged\nvisit unchanged\n", true},
        {DOCUMENT_CHANGED, true, 1, "a removed\nvisit changed\n", true},
        {DOCUMENT_STALE, false, 1, "a stale\n", false},
        {DOCUMENT_STALE, true, 1, "a stale\n", false},
        {DOCUMENT_SUPERSEDED, false, 1, "a stale\n", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        jobs[0].document = (struct document){.removed = cases[i].removed,
                                             .visit.threshold_ms = cases[i].threshold_ms};
        results[0].outcome = cases[i].outcome;
        meta_update_reset(&jobs[0].meta);
        start(0, "a");
        buf_reset(&trace);
        assert_int_equal(flush(1), STATUS_OK);
        char expected[FULL_LINE];
        snprintf(expected, sizeof expected, "commit 1\nreset\n%s", cases[i].trace);
        assert_trace(expected);
        assert_told(&jobs[0], cases[i].told ? 4321 : UINT64_MAX,
                    cases[i].told && !cases[i].removed ? "indexed" : "",
                    cases[i].told ? 5 : UINT64_MAX);
    }
}

static void
a_batch_that_is_full_is_committed_at_once(void **state)
{
    (void)state;
    batch_bytes = BATCH_MEMORY - 1;
    start(0, "a");
    assert_trace("add a 1: quads\nextract\ndone a\n");
    batch_bytes = BATCH_MEMORY;
    start(1, "b");
    assert_trace("add b 2: quads\nextract\ndone b\ncommit 2\nreset\n");
    batch_bytes = 0;
    start(2, "c");
    buf_reset(&trace);
    assert_int_equal(flush(2), STATUS_OK); /* both are committed */
    assert_trace("yield 5\na indexed\nyield 6\nb indexed\n");
    batch_bytes = BATCH_MEMORY;
    waits = true;
    commit_status = STATUS_FULL; /* the flush tries again */
    if (setjmp(at_exit_of_process) == 0) {
        start(3, "d");
        assert_trace("add d 4: quads\nextract\ndone d\ncommit 2\nwait 1: no commit\ntold\n");
        waits = false;
        commit_status = STATUS_SYSTEM;
        start(4, "e");
        fail();
    }
    assert_int_equal(exit_code, EXIT_SYSTEM);
    assert_trace("add e 5: quads\nextract\ndone e\ncommit 3\nend: no commit\n");
}

static void
what_cannot_be_read_is_refused(void **state)
{
    (void)state;
    truncated = true;
    start(0, "a");
    assert_trace("refused 1: too long\n");
    truncated = false;
    read_status = STATUS_TIMEOUT;
    start(1, "b");
    assert_trace("refused 0: unreadable\n");
    assert_int_equal(flush(2), STATUS_OK); /* of which nothing is told */
    assert_trace("");
    assert_told(&jobs[0], UINT64_MAX, "", UINT64_MAX);
    jobs[2].arena.maximum = 1;
    start(2, "c");
    assert_trace("refused 0: its records need too much memory\n");
}

/* The log has it once a minute, the state of the process each time. */
static void
without_room_it_waits(void **state)
{
    (void)state;
    start(0, "a");
    buf_reset(&trace);
    waits = true;
    commit_status = STATUS_FULL;
    assert_int_equal(flush(1), STATUS_AGAIN);
    assert_trace("commit 1\nwait 1: no commit\ntold\n");
    now_ms += 59999;
    assert_int_equal(flush(1), STATUS_AGAIN);
    assert_trace("commit 1\nwait 1: no commit\n");
    now_ms++;
    assert_int_equal(flush(1), STATUS_AGAIN);
    assert_trace("commit 1\nwait 1: no commit\ntold\n");
    commit_status = STATUS_OK;
    assert_int_equal(flush(1), STATUS_OK);
    assert_trace("commit 1\ngoes on\nreset\nyield 5\na indexed\n");
    start(0, "a");
    buf_reset(&trace);
    assert_int_equal(flush(1), STATUS_OK);
    assert_trace("commit 1\nreset\nyield 5\na indexed\n");
    start(0, "a"); /* and another wait is told of at once */
    buf_reset(&trace);
    commit_status = STATUS_CORRUPT;
    assert_int_equal(flush(1), STATUS_AGAIN);
    assert_trace("commit 1\nwait 0: no commit\ntold\n");
    waits = false;
    commit_status = STATUS_SYSTEM;
    assert_int_equal(flush(1), STATUS_SYSTEM);
    assert_trace("commit 1\n");
}

/* Documents go first: a change that comes after them is made to what they left. */
static void
patches_come_after_documents(void **state)
{
    (void)state;
    assert_false(patch());
    assert_trace("patch\n");
    start(0, "a");
    buf_reset(&trace);
    assert_false(patch());
    assert_trace("commit 1\nreset\npatch\n");
    assert_int_equal(flush(1), STATUS_OK);
    assert_trace("yield 5\na indexed\n");
    start(0, "a");
    buf_reset(&trace);
    waits = true;
    commit_status = STATUS_FULL;
    assert_false(patch());
    assert_trace("commit 1\nwait 1: no commit\ntold\nrefuse 1: no commit\n");
}

static void
what_cannot_be_committed_ends_the_process(void **state)
{
    (void)state;
    patch_status = STATUS_SYSTEM;
    assert_true(patch());
    assert_trace("patch\nend: no patch\n");
    patch_status = STATUS_OK;
    start(0, "a");
    buf_reset(&trace);
    commit_status = STATUS_CORRUPT;
    assert_true(patch());
    assert_trace("commit 1\nend: no commit\n");
}

/* The queries that say what are links are those of a file, if the crawl has one. */
static void
queries_come_from_their_file(void **state)
{
    static const struct {
        const char *text; /* NULL: there is no such file */
        enum status status;
    } cases[] = {
        {"# Links\nSELECT ?uri WHERE { ?document <http://e.example/p> ?uri }\n\n", STATUS_OK},
        {"this is no query", STATUS_BAD_INPUT},
        {NULL, STATUS_NOT_FOUND}};
    char path[SCRATCH_SIZE];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reason why = {""};
        const int file = scratch_file(path, "queries");
        assert_true(file >= 0);
        if (cases[i].text != NULL) {
            const size_t length = strlen(cases[i].text);
            assert_int_equal(write(file, cases[i].text, length), length);
        } else {
            assert_int_equal(unlink(path), 0);
        }
        close(file);
        queries = path;
        spec->close(stage);
        const enum status status = spec->open(NULL, &stage, &why);
        if (status != cases[i].status) {
            fail_msg("%zu: %d %s", i, (int)status, why.text);
        }
        (void)unlink(path);
    }
}

/* main is that of the program. */
int
__wrap_main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_serves_where_it_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(documents_gather_until_they_are_flushed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_became_of_each_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_batch_that_is_full_is_committed_at_once, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_read_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_room_it_waits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(patches_come_after_documents, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_committed_ends_the_process, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(queries_come_from_their_file, set_up, tear_down),
    };
    if (__real_main(argc, argv) != 0) {
        return 1;
    }
    return cmocka_run_group_tests_name("index_stage", tests, NULL, NULL);
}
