/* The queue's records, the metadata store, the archive. */
#include "tests/power_loss/scenarios.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/codec.h"
#include "metastore/store.h"
#include "queue/storage/frontier_engine.h"
#include "queue/storage/store_batch.h"
#include "warc/warc.h"

enum { PATH_SIZE = 4096, VALUE_MOST = 300 };

static const char *
below(const char *folder, const char *name)
{
    static char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void
must_be(enum status status, enum status expected, const struct reason *why, const char *what)
{
    if (status != expected) {
        fprintf(stderr, "%s: %s: %s\n", what, status_name(status), why->text);
        exit(status == STATUS_CORRUPT ? EXIT_DAMAGED : 1);
    }
}

/* ---- the queue ---- */

enum { BATCHES = 60, BATCH = 60, KEYS = 400, TREES = 4, REOPEN = 25, DYING = 20 };

static const struct {
    enum store_tree tree;
    uint8_t key_length;
} trees[TREES] = {{TREE_FETCH, 25}, {TREE_SEEN, 16}, {TREE_JOBS, 25}, {TREE_LANES, 8}};

struct model {
    uint32_t values[TREES][KEYS]; /* 0: not there */
};

static struct slice
queue_key(int tree, uint32_t i, uint8_t bytes[STORE_KEY_MAXIMUM])
{
    memset(bytes, 0, STORE_KEY_MAXIMUM);
    bytes[0] = trees[tree].tree == TREE_JOBS; /* of another stage than fetch */
    codec_write_u32(bytes + 1, i / 10);
    codec_write_u16(bytes + trees[tree].key_length - 2, (uint16_t)i);
    return slice_of((char *)bytes, trees[tree].key_length);
}

/* What the n-th batch does follows from n alone. */
static void
queue_batch(uint32_t n, struct store_batch *batch, struct model *model)
{
    unsigned seed = n * 77 + 1;
    for (int i = 0; i < BATCH; i++) {
        const int tree = rand_r(&seed) % TREES;
        const uint32_t key = (uint32_t)rand_r(&seed) % KEYS, value = n * BATCH + (uint32_t)i + 1;
        const bool remove = rand_r(&seed) % 3 == 0;
        uint8_t bytes[STORE_KEY_MAXIMUM];
        char text[VALUE_MOST];
        memset(text, 'a' + i % 20, sizeof text);
        codec_write_u32((uint8_t *)text, value);
        if (batch != NULL && remove) {
            store_batch_remove(batch, trees[tree].tree, queue_key(tree, key, bytes));
        } else if (batch != NULL) {
            store_batch_put(batch, trees[tree].tree, queue_key(tree, key, bytes),
                            slice_of(text, 4 + value % (VALUE_MOST - 10)));
        }
        model->values[tree][key] = remove ? 0 : value;
    }
}

static struct frontier *
queue_open(const char *folder)
{
    const struct store_options options = {.folder = below(folder, "queue"),
                                          .cache_bytes = 1 << 20,
                                          .checkpoint_bytes = 256 << 10,
                                          .checkpoint_ms = 60000,
                                          .sync = true,
                                          .lock_wait_ms = 1000,
                                          .recent_bytes = 20000};
    struct frontier *store;
    struct reason why = {""};
    must_be(frontier_open(&store, &options, &why), STATUS_OK, &why, "opening the queue");
    return store;
}

static void
queue_open_and_close(const char *folder, unsigned *done)
{
    (void)done;
    die_from_here();
    frontier_close(queue_open(folder));
}

/* The next batch. */
static void
queue_write(struct frontier *store, unsigned *done)
{
    struct model model = {0};
    struct store_batch batch;
    struct reason why = {""};
    uint64_t wait_ms;
    store_batch_init(&batch);
    queue_batch(*done, &batch, &model);
    store_batch_sort(&batch);
    must_be(frontier_apply(store, (const struct store_operation *const *)batch.operations,
                           batch.count, &why),
            STATUS_OK, &why, "a batch");
    acknowledge("batch");
    ++*done;
    must_be(frontier_tick(store, &wait_ms, &why), STATUS_OK, &why, "housekeeping");
    store_batch_release(&batch);
}

static void
queue_dying(const char *folder, unsigned *done)
{
    struct frontier *store = queue_open(folder);
    die_from_here();
    while (*done < DYING) {
        queue_write(store, done);
    }
    frontier_close(store);
}

static void
queue_act(const char *folder)
{
    die_while_opening(queue_open_and_close, folder);
    die_while_writing(queue_dying, folder);
    struct frontier *store = queue_open(folder);
    for (unsigned done = DYING; done < BATCHES;) {
        queue_write(store, &done);
        if (done % REOPEN == 0) {
            frontier_close(store);
            store = queue_open(folder);
        }
    }
    frontier_close(store);
}

struct queue_scan {
    const struct model *model;
    int tree;
    unsigned found, wrong;
};

static bool
is_in_model(void *context, struct slice key, struct slice value)
{
    struct queue_scan *scan = context;
    const uint32_t i = codec_read_u16((const uint8_t *)key.at + key.length - 2);
    scan->found++;
    scan->wrong += i >= KEYS || value.length < 4 ||
                   scan->model->values[scan->tree][i] != codec_read_u32((const uint8_t *)value.at);
    return true;
}

static bool
queue_is(struct frontier *store, const struct model *model)
{
    struct reason why = {""};
    for (int tree = 0; tree < TREES; tree++) {
        struct queue_scan scan = {.model = model, .tree = tree};
        unsigned expected = 0;
        for (int i = 0; i < KEYS; i++) {
            expected += model->values[tree][i] != 0;
        }
        must_be(
            frontier_scan(store, trees[tree].tree, (struct slice){"", 0}, is_in_model, &scan, &why),
            STATUS_OK, &why, "reading the queue");
        if (scan.found != expected || scan.wrong > 0) {
            fprintf(stderr, "tree %d: found %u of %u, %u wrong\n", tree, scan.found, expected,
                    scan.wrong);
            return false;
        }
    }
    return true;
}

/* The store must be as after the last batch that was acknowledged, or after the one under way. */
static bool
queue_check(const char *folder, const struct disk_trace *trace, size_t marks)
{
    (void)trace;
    struct frontier *store = queue_open(folder);
    struct model model = {0};
    for (uint32_t n = 0; n < marks; n++) {
        queue_batch(n, NULL, &model);
    }
    bool good = queue_is(store, &model);
    if (!good && marks < BATCHES) {
        queue_batch((uint32_t)marks, NULL, &model);
        good = queue_is(store, &model);
    }
    if (!good) {
        fprintf(stderr, "the queue is not as after %zu batches\n", marks);
    }
    frontier_close(store);
    return good;
}

const struct scenario scenario_queue = {"queue", queue_act, queue_check, 150, 30, NULL};

/* ---- metadata ---- */

enum { META_BATCHES = 50, META_BATCH = 30, META_KEYS = 600 };

static struct meta_store *
metadata_open(const char *folder)
{
    const struct meta_store_options options = {.folder = below(folder, "metastore"),
                                               .cache_bytes = 1 << 20,
                                               .checkpoint_bytes = 128 << 10,
                                               .checkpoint_ms = 60000,
                                               .sync = true,
                                               .lock_wait_ms = 1000};
    struct meta_store *store;
    struct reason why = {""};
    must_be(meta_store_open(&store, &options, &why), STATUS_OK, &why, "opening the metadata store");
    return store;
}

/* Makes the i-th key and value of the n-th batch; keys ascend. */
static uint32_t
metadata_pair(uint32_t n, uint32_t i, char key[32], char value[900], size_t *length)
{
    unsigned seed = n * 1009 + i;
    const uint32_t number = i * (META_KEYS / META_BATCH) + (uint32_t)rand_r(&seed) % 20;
    snprintf(key, 32, "u http://a.example/%06u", number);
    *length = 20 + (size_t)rand_r(&seed) % 860;
    memset(value, 'a' + (int)(n % 26), *length);
    codec_write_u32((uint8_t *)value, n + 1);
    return number;
}

static void
metadata_open_and_close(const char *folder, unsigned *done)
{
    (void)done;
    die_from_here();
    meta_store_close(metadata_open(folder));
}

static void
metadata_act(const char *folder)
{
    die_while_opening(metadata_open_and_close, folder);
    struct meta_store *store = metadata_open(folder);
    struct reason why = {""};
    static char keys[META_BATCH][32], values[META_BATCH][900];
    for (uint32_t n = 0; n < META_BATCHES; n++) {
        struct meta_pair pairs[META_BATCH];
        int wait_ms;
        for (uint32_t i = 0; i < META_BATCH; i++) {
            size_t length;
            (void)metadata_pair(n, i, keys[i], values[i], &length);
            pairs[i] = (struct meta_pair){slice_string(keys[i]), slice_of(values[i], length)};
        }
        must_be(meta_store_put(store, pairs, META_BATCH, &why), STATUS_OK, &why, "a put");
        acknowledge("put");
        must_be(meta_store_tick(store, &wait_ms, &why), STATUS_OK, &why, "housekeeping");
        if (n % REOPEN == REOPEN - 1) {
            meta_store_close(store);
            store = metadata_open(folder);
        }
    }
    meta_store_close(store);
}

struct metadata_scan {
    uint32_t values[META_KEYS];
    unsigned found, wrong;
};

static bool
is_as_put(void *context, size_t index, struct slice key, struct slice value)
{
    struct metadata_scan *scan = context;
    char digits[7] = "";
    memcpy(digits, key.at + key.length - 6, 6);
    const uint32_t number = (uint32_t)strtoul(digits, NULL, 10);
    const uint32_t n = value.length >= 20 ? codec_read_u32((const uint8_t *)value.at) : 0;
    (void)index;
    scan->found++;
    scan->wrong += number >= META_KEYS || n == 0 || scan->values[number] != n ||
                   value.at[value.length - 1] != (char)('a' + (int)((n - 1) % 26));
    return true;
}

static bool
metadata_is(struct meta_store *store, size_t batches)
{
    static struct metadata_scan scan;
    struct reason why = {""};
    char key[32], value[900];
    size_t length;
    unsigned expected = 0;
    memset(&scan, 0, sizeof scan);
    for (uint32_t n = 0; n < batches; n++) {
        for (uint32_t i = 0; i < META_BATCH; i++) {
            scan.values[metadata_pair(n, i, key, value, &length)] = n + 1;
        }
    }
    for (int i = 0; i < META_KEYS; i++) {
        expected += scan.values[i] != 0;
    }
    must_be(meta_store_scan(store, SLICE("u "), SLICE(""), is_as_put, &scan, &why), STATUS_OK, &why,
            "reading the metadata");
    if (scan.found == expected && scan.wrong == 0) {
        return true;
    }
    fprintf(stderr, "%u of %u, %u wrong\n", scan.found, expected, scan.wrong);
    return false;
}

static bool
metadata_check(const char *folder, const struct disk_trace *trace, size_t marks)
{
    (void)trace;
    struct meta_store *store = metadata_open(folder);
    const bool good =
        metadata_is(store, marks) || (marks < META_BATCHES && metadata_is(store, marks + 1));
    if (!good) {
        fprintf(stderr, "the metadata are not as after %zu puts\n", marks);
    }
    meta_store_close(store);
    return good;
}

const struct scenario scenario_metadata = {"metadata", metadata_act, metadata_check, 150, 30, NULL};

/* ---- the archive ---- */

enum { ROUNDS = 12, RECORDS = 5, BODY = 3000 };

static void
archive_body(uint32_t round, uint32_t i, char body[BODY])
{
    unsigned seed = round * 100 + i;
    for (int k = 0; k < BODY; k++) {
        body[k] = (char)(' ' + rand_r(&seed) % 90);
    }
}

static struct warc_writer *
archive_open(const char *folder)
{
    const struct warc_writer_options options = {
        .prefix = "test", .node = "node", .process = "fetch.1", .size = 40000, .level = 1};
    struct warc_writer *writer;
    struct reason why = {""};
    must_be(warc_writer_open(&writer, below(folder, "warc"), &options, &why), STATUS_OK, &why,
            "opening the archive");
    return writer;
}

static void
archive_act(const char *folder)
{
    struct warc_writer *writer = archive_open(folder);
    struct reason why = {""};
    for (uint32_t round = 0; round < ROUNDS; round++) {
        char body[BODY], mark[PATH_SIZE] = "";
        for (uint32_t i = 0; i < RECORDS; i++) {
            struct warc_location location;
            archive_body(round, i, body);
            const struct warc_conversion record = {.uri = SLICE("http://a.example/"),
                                                   .content_type = SLICE("application/n-quads"),
                                                   .body = slice_of(body, BODY),
                                                   .date_ms = 1};
            must_be(warc_write_conversion(writer, &record, &location, &why), STATUS_OK, &why,
                    "a record");
            const size_t length = strlen(mark);
            snprintf(mark + length, sizeof mark - length, "%s %llu %llu\n", location.file,
                     (unsigned long long)location.offset, (unsigned long long)location.length);
        }
        must_be(warc_sync(writer, &why), STATUS_OK, &why, "a sync");
        acknowledge(mark);
        if (round == ROUNDS / 2) {
            must_be(warc_writer_close(writer, &why), STATUS_OK, &why, "closing");
            writer = archive_open(folder);
        }
    }
    must_be(warc_writer_close(writer, &why), STATUS_OK, &why, "closing");
}

static bool
archive_check(const char *folder, const struct disk_trace *trace, size_t marks)
{
    struct warc_reader *reader = warc_reader_open(below(folder, "warc"), NULL);
    struct buf memory;
    unsigned lost = 0;
    buf_init(&memory, 1 << 20);
    for (size_t round = 0; round < marks; round++) {
        struct slice text;
        size_t at;
        char lines[PATH_SIZE], body[BODY];
        (void)disk_mark(trace, round, &text, &at);
        snprintf(lines, sizeof lines, "%.*s", SLICE_PRINT(text));
        char *line = lines;
        for (uint32_t i = 0; i < RECORDS; i++, line = strchr(line, '\n') + 1) {
            char file[WARC_FILE_SIZE];
            unsigned long long offset, length;
            struct warc_record record;
            struct reason why = {""};
            archive_body((uint32_t)round, i, body);
            if (sscanf(line, "%199s %llu %llu", file, &offset, &length) != 3 ||
                warc_read(reader, slice_string(file), offset, length, &memory, &record, &why) !=
                    STATUS_OK ||
                !slice_equal(record.body, slice_of(body, BODY))) {
                fprintf(stderr, "record %u of round %zu is lost: %s\n", i, round, why.text);
                lost++;
            }
        }
    }
    buf_release(&memory);
    warc_reader_close(reader);
    if (lost == 0) { /* and the archive goes on */
        struct reason why = {""};
        must_be(warc_writer_close(archive_open(folder), &why), STATUS_OK, &why, "closing");
    }
    return lost == 0;
}

const struct scenario scenario_archive = {"archive", archive_act, archive_check, 200, 0, NULL};
