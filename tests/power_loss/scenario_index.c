/* A partition of the index: documents that are replaced, quads that wait, trees built anew. */
#include "tests/power_loss/scenarios.h"

#include "tests/unit/index/index_fixture.h"

enum { BATCHES = 12, DOCUMENTS = 16, EACH = 4, QUADS = 12, TEXT_MAXIMUM = 1 << 24 };

static struct partition *
index_open(const char *folder, size_t build_from)
{
    struct partition_options options;
    struct partition *partition;
    struct reason why = {""};
    char path[4096];
    snprintf(path, sizeof path, "%s/index-0", folder);
    partition_options_default(&options, path);
    options.cache_bytes = 512 << 10;
    options.checkpoint_bytes = 256 << 10;
    options.term_memory = 256 << 10;
    options.disk_reserve = 0;
    options.pause_s = 3600;
    options.build_from = build_from;
    must(partition_open(&partition, &options, &why), &why);
    return partition;
}

static bool
waits(uint32_t n)
{
    return n % 3 == 2;
}

/* The n-th batch, which follows from n alone, into the batch (NULL: none) and the documents. */
static void
index_batch_n(uint32_t n, struct index_batch *batch, struct buf documents[DOCUMENTS])
{
    struct buf quads;
    struct reason why = {""};
    char uri[64];
    buf_init(&quads, TEXT_MAXIMUM);
    fixture_seed = 88172645463325252u + n;
    for (unsigned i = 0; i < EACH; i++) {
        const unsigned document = (n * 7 + i) % DOCUMENTS;
        buf_reset(&quads);
        fixture_document(document, QUADS, &quads);
        if (!waits(n)) {
            buf_reset(&documents[document]);
        }
        (void)buf_append_slice(&documents[document], buf_slice(&quads));
        if (batch != NULL && waits(n)) {
            const struct quad_sink sink = {index_batch_quad, batch};
            fixture_uri(document, uri);
            index_batch_begin_patch(batch, slice_string(uri));
            must(nquads_parse(buf_slice(&quads), NULL, &sink, &why), &why);
            (void)index_batch_end(batch);
        } else if (batch != NULL) {
            (void)fixture_add(batch, document, n + 1, &quads);
        }
    }
    buf_release(&quads);
}

static void
act(const char *folder, size_t build_from)
{
    struct partition *partition = index_open(folder, build_from);
    struct index_batch *batch = index_batch_new(partition);
    struct buf documents[DOCUMENTS];
    struct reason why = {""};
    for (int i = 0; i < DOCUMENTS; i++) {
        buf_init(&documents[i], TEXT_MAXIMUM);
    }
    for (uint32_t n = 0; n < BATCHES; n++) {
        index_batch_reset(batch);
        index_batch_n(n, batch, documents);
        must(waits(n) ? index_batch_stage(batch, 8 << 20, &why) : index_batch_commit(batch, &why),
             &why);
        acknowledge("batch");
        if (n % 4 == 1) {
            must(partition_settle(partition, &why), &why);
        }
        if (n == BATCHES / 2) { /* with quads that wait */
            index_batch_free(batch);
            partition_close(partition);
            partition = index_open(folder, build_from);
            batch = index_batch_new(partition);
        }
    }
    index_batch_free(batch);
    partition_close(partition);
    for (int i = 0; i < DOCUMENTS; i++) {
        buf_release(&documents[i]);
    }
}

static void
open_and_close(const char *folder, unsigned *done)
{
    (void)done;
    die_from_here();
    partition_close(index_open(folder, 0));
}

static void
index_act(const char *folder)
{
    die_while_opening(open_and_close, folder);
    act(folder, 0);
}

static void
index_anew_act(const char *folder)
{
    act(folder, 1);
}

static bool
check(const char *folder, size_t build_from, size_t marks)
{
    struct partition *partition = index_open(folder, build_from);
    struct buf documents[DOCUMENTS], dump, expected;
    struct reason why = {""};
    buf_init(&dump, TEXT_MAXIMUM);
    buf_init(&expected, TEXT_MAXIMUM);
    must(partition_merge_staged(partition, NULL, &why), &why);
    fixture_dump(partition, folder, &dump);
    for (int i = 0; i < DOCUMENTS; i++) {
        buf_init(&documents[i], TEXT_MAXIMUM);
    }
    for (uint32_t n = 0; n < marks; n++) {
        index_batch_n(n, NULL, documents);
    }
    fixture_canonical(documents, DOCUMENTS, &expected);
    bool good = slice_equal(buf_slice(&dump), buf_slice(&expected));
    if (!good && marks < BATCHES) {
        buf_reset(&expected);
        index_batch_n((uint32_t)marks, NULL, documents);
        fixture_canonical(documents, DOCUMENTS, &expected);
        good = slice_equal(buf_slice(&dump), buf_slice(&expected));
    }
    if (!good) {
        fprintf(stderr, "the index is not as after %zu batches\n", marks);
    }
    must(partition_settle(partition, &why), &why);
    fixture_verify(partition, folder);
    partition_close(partition);
    for (int i = 0; i < DOCUMENTS; i++) {
        buf_release(&documents[i]);
    }
    buf_release(&dump);
    buf_release(&expected);
    return good;
}

static bool
index_check(const char *folder, const struct disk_trace *trace, size_t marks)
{
    (void)trace;
    return check(folder, 0, marks);
}

static bool
index_anew_check(const char *folder, const struct disk_trace *trace, size_t marks)
{
    (void)trace;
    return check(folder, 1, marks);
}

const struct scenario scenario_index = {"index", index_act, index_check, 60, 0, NULL};
const struct scenario scenario_index_anew = {"index_anew", index_anew_act, index_anew_check, 40, 0,
                                             NULL};
