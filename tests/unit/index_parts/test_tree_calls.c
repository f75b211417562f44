/* The calls that the index makes of its trees fail, each one in its turn, while a partition is
 * read, dumped, counted, verified, copied and compacted: the failure is told with its reason, and
 * afterwards the same is answered as before. */
#include "tests/unit/index/index_fixture.h"

#include <pthread.h>

#include "index/trees/fences.h"

enum { DOCUMENTS = 12, QUADS = 60, ANSWER = 1 << 24, CACHE = 8 << 20 };

/* ---- calls that fail ---- */

static pthread_t tester; /* the partition's own thread goes on unharmed */
static unsigned calls, fail_at;

static enum status
call(struct reason *why)
{
    if (!pthread_equal(tester, pthread_self()) || ++calls != fail_at) {
        return STATUS_OK;
    }
    return status_fail(why, STATUS_SYSTEM, "a fault of the test");
}

enum status __real_tree_get(struct tree *tree, struct transaction *transaction, struct slice key,
                            void *value, size_t *length, struct reason *why);
enum status __wrap_tree_get(struct tree *tree, struct transaction *transaction, struct slice key,
                            void *value, size_t *length, struct reason *why);
enum status
__wrap_tree_get(struct tree *tree, struct transaction *transaction, struct slice key, void *value,
                size_t *length, struct reason *why)
{
    TRY(call(why));
    return __real_tree_get(tree, transaction, key, value, length, why);
}

enum status __real_tree_position(struct tree *tree, struct slice key, double *position,
                                 struct reason *why);
enum status __wrap_tree_position(struct tree *tree, struct slice key, double *position,
                                 struct reason *why);
enum status
__wrap_tree_position(struct tree *tree, struct slice key, double *position, struct reason *why)
{
    TRY(call(why));
    return __real_tree_position(tree, key, position, why);
}

enum status __real_tree_cursor_open(struct tree_cursor **cursor, struct tree *tree,
                                    struct transaction *transaction, struct reason *why);
enum status __wrap_tree_cursor_open(struct tree_cursor **cursor, struct tree *tree,
                                    struct transaction *transaction, struct reason *why);
enum status
__wrap_tree_cursor_open(struct tree_cursor **cursor, struct tree *tree,
                        struct transaction *transaction, struct reason *why)
{
    TRY(call(why));
    return __real_tree_cursor_open(cursor, tree, transaction, why);
}

enum status __real_tree_cursor_move(struct tree_cursor *cursor, enum tree_move move, void *key,
                                    size_t key_size, size_t *key_length, void *value,
                                    size_t value_size, size_t *value_length, struct reason *why);
enum status __wrap_tree_cursor_move(struct tree_cursor *cursor, enum tree_move move, void *key,
                                    size_t key_size, size_t *key_length, void *value,
                                    size_t value_size, size_t *value_length, struct reason *why);
enum status
__wrap_tree_cursor_move(struct tree_cursor *cursor, enum tree_move move, void *key, size_t key_size,
                        size_t *key_length, void *value, size_t value_size, size_t *value_length,
                        struct reason *why)
{
    TRY(call(why));
    return __real_tree_cursor_move(cursor, move, key, key_size, key_length, value, value_size,
                                   value_length, why);
}

enum status __real_fence_seek(struct fence_cursor *cursor, struct slice key, struct reason *why);
enum status __wrap_fence_seek(struct fence_cursor *cursor, struct slice key, struct reason *why);
enum status
__wrap_fence_seek(struct fence_cursor *cursor, struct slice key, struct reason *why)
{
    TRY(call(why));
    return __real_fence_seek(cursor, key, why);
}

enum status __real_fence_next(struct fence_cursor *cursor, struct reason *why);
enum status __wrap_fence_next(struct fence_cursor *cursor, struct reason *why);
enum status
__wrap_fence_next(struct fence_cursor *cursor, struct reason *why)
{
    TRY(call(why));
    return __real_fence_next(cursor, why);
}

enum status __real_tree_copy_pages(struct tree *tree, uint32_t *page, uint8_t *bytes, size_t most,
                                   size_t *length, bool *end, struct reason *why);
enum status __wrap_tree_copy_pages(struct tree *tree, uint32_t *page, uint8_t *bytes, size_t most,
                                   size_t *length, bool *end, struct reason *why);
enum status
__wrap_tree_copy_pages(struct tree *tree, uint32_t *page, uint8_t *bytes, size_t most,
                       size_t *length, bool *end, struct reason *why)
{
    TRY(call(why));
    return __real_tree_copy_pages(tree, page, bytes, most, length, end, why);
}

enum status __real_tree_compact_step(struct tree *tree, struct transaction *transaction,
                                     uint8_t *key, size_t *length, bool *end, struct reason *why);
enum status __wrap_tree_compact_step(struct tree *tree, struct transaction *transaction,
                                     uint8_t *key, size_t *length, bool *end, struct reason *why);
enum status
__wrap_tree_compact_step(struct tree *tree, struct transaction *transaction, uint8_t *key,
                         size_t *length, bool *end, struct reason *why)
{
    TRY(call(why));
    return __real_tree_compact_step(tree, transaction, key, length, end, why);
}

/* ---- what is done ---- */

static char folder[SCRATCH_SIZE];

static enum status
write_rows(const struct quad_source *source, const struct quad_oids *pattern, enum quad_order order,
           struct buf *out, struct reason *why)
{
    struct quad_scan *scan;
    struct quad_oids rows[7];
    size_t n = 1;
    enum status status = source->scan(source->context, pattern, order, &scan, why);
    if (status != STATUS_OK) {
        return status;
    }
    while (status == STATUS_OK && n > 0) {
        status = source->scan_next(scan, rows, 7, &n, why);
        for (size_t i = 0; status == STATUS_OK && i < n; i++) {
            (void)buf_append(out, &rows[i], sizeof rows[i]);
        }
    }
    source->scan_close(scan);
    return status;
}

static enum status
scan_orders(struct partition_reader *reader, struct buf *out, struct reason *why)
{
    const struct quad_oids all = {0};
    for (int order = 0; order < ORDER_COUNT; order++) {
        TRY(write_rows(partition_reader_source(reader), &all, (enum quad_order)order, out, why));
    }
    return STATUS_OK;
}

static enum status
find_id(const struct quad_source *source, const char *iri, oid *id, struct reason *why)
{
    const struct term term = term_iri(slice_string(iri));
    return source->lookup(source->context, &term, id, why);
}

static enum status
scan_patterns(struct partition_reader *reader, struct buf *out, struct reason *why)
{
    const struct quad_source *source = partition_reader_source(reader);
    for (unsigned bound = 1; bound < 16; bound++) {
        struct quad_oids pattern = {0};
        char uri[64];
        uint64_t rows;
        fixture_uri(3, uri);
        TRY(bound & 1 ? find_id(source, "http://shared.example/7", &pattern.subject, why)
                      : STATUS_OK);
        TRY(bound & 2 ? find_id(source, "http://p.example/3", &pattern.predicate, why) : STATUS_OK);
        TRY(bound & 4 ? find_id(source, "http://host1.example/document/1", &pattern.object, why)
                      : STATUS_OK);
        TRY(bound & 8 ? find_id(source, uri, &pattern.graph, why) : STATUS_OK);
        TRY(source->estimate(source->context, &pattern, &rows, why));
        TRY(write_rows(source, &pattern, ORDER_COUNT, out, why));
    }
    return STATUS_OK;
}

static enum status
resolve_all(struct partition_reader *reader, struct buf *out, struct reason *why)
{
    const struct quad_source *source = partition_reader_source(reader);
    struct buf rows;
    struct arena arena;
    buf_init(&rows, ANSWER);
    arena_init(&arena, 0);
    const struct quad_oids all = {0};
    enum status status = write_rows(source, &all, ORDER_SPOC, &rows, why);
    for (size_t at = 0; status == STATUS_OK && at < rows.length; at += sizeof(oid)) {
        oid id;
        struct term term;
        memcpy(&id, rows.data + at, sizeof id);
        status = source->resolve(source->context, id, &arena, &term, why);
        if (status == STATUS_OK) {
            (void)nquads_write_term(out, &term);
        }
        arena_reset(&arena);
    }
    arena_release(&arena);
    buf_release(&rows);
    return status;
}

static enum status
search_words(struct partition_reader *reader, struct buf *out, struct reason *why)
{
    static const char *const words[] = {"alpha", "num*", "\"number 3*\"", "caf\xc3\xa9 beta",
                                        "none"};
    const struct quad_source *source = partition_reader_source(reader);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct text_scan *scan;
        bool end = false;
        TRY(source->search(source->context, slice_string(words[i]), 20, &scan, why));
        enum status status = STATUS_OK;
        while (status == STATUS_OK && !end) {
            oid literal = OID_NONE;
            double score;
            status = source->search_next(scan, &literal, &score, &end, why);
            if (status == STATUS_OK && !end) {
                (void)buf_append(out, &literal, sizeof literal);
            }
        }
        source->search_close(scan);
        TRY(status);
    }
    return STATUS_OK;
}

static enum status
list_documents(struct partition_reader *reader, struct buf *out, struct reason *why)
{
    struct document_entry entry;
    oid graph = OID_NONE;
    enum status status;
    while ((status = partition_reader_document(reader, &graph, &entry, why)) == STATUS_OK) {
        (void)buf_printf(out, "%llx %llu\n", (unsigned long long)graph,
                         (unsigned long long)entry.generation);
        graph++;
    }
    return status == STATUS_END ? STATUS_OK : status;
}

static enum status
read_by(enum status (*read)(struct partition_reader *, struct buf *, struct reason *),
        struct partition *partition, struct buf *out, struct reason *why)
{
    struct partition_reader *reader;
    TRY(partition_reader_open(&reader, partition, why));
    const enum status status = read(reader, out, why);
    partition_reader_close(reader);
    return status;
}

enum task {
    SCAN,
    PATTERNS,
    RESOLVE,
    SEARCH,
    LIST,
    DUMP,
    COUNTS,
    SETS,
    VERIFY,
    BACKUP,
    COMPACT,
    TASKS
};

/* Nothing stays in out of what may differ from time to time. */
static enum status
carry_out(enum task task, struct partition *partition, struct buf *out, struct reason *why)
{
    const atomic_bool cancel = false;
    enum status status = STATUS_OK;
    buf_reset(out);
    switch (task) {
    case SCAN:
        return read_by(scan_orders, partition, out, why);
    case PATTERNS:
        return read_by(scan_patterns, partition, out, why);
    case RESOLVE:
        return read_by(resolve_all, partition, out, why);
    case SEARCH:
        return read_by(search_words, partition, out, why);
    case LIST:
        return read_by(list_documents, partition, out, why);
    case DUMP:
        return partition_dump(partition, true, folder, 1 << 20, fixture_append, out, why);
    case COUNTS:
    case SETS:
        return partition_counts(partition, task == SETS, fixture_append, out, why);
    case VERIFY:
        status = partition_verify(partition, folder, 1 << 20, &cancel, fixture_append, out, why);
        break;
    case BACKUP:
        status = partition_backup(partition, fixture_append, out, why);
        break;
    case COMPACT:
    case TASKS:
        status = partition_compact(partition, &cancel, fixture_append, out, why);
        break;
    }
    buf_reset(out);
    return status;
}

/* Steps grow, so that tasks of many calls take no long time. */
static void
try_task(enum task task, struct partition *partition)
{
    struct reason why = {""};
    struct buf expected, out;
    buf_init(&expected, ANSWER);
    buf_init(&out, ANSWER);
    unsigned failures = 0;
    bool failed = true;
    for (unsigned at = 1; failed; at += 1 + at / 60) {
        struct reason because = {""};
        calls = 0;
        fail_at = at;
        const enum status status = carry_out(task, partition, &out, &because);
        failed = calls >= at;
        fail_at = 0;
        if (failed) {
            failures++;
            if (status != STATUS_SYSTEM || strstr(because.text, "a fault of the test") == NULL) {
                fail_msg("task %d, call %u: %s: %s", (int)task, at, status_name(status),
                         because.text);
            }
        } else {
            must(status, &because);
        }
    }
    must(carry_out(task, partition, &expected, &why), &why);
    must(carry_out(task, partition, &out, &why), &why);
    assert_true(failures > 0);
    assert_true(slice_equal(buf_slice(&out), buf_slice(&expected)));
    buf_release(&expected);
    buf_release(&out);
}

/* Opens the partition while a call fails, and commits another version of a document while one does.
 * What is there after a new start is the version before or, if the commit was OK, the new one. */
static void
commits_are_whole_or_not(struct buf documents[DOCUMENTS])
{
    struct buf canonical[2], dump, versions[2];
    struct reason why = {""};
    bool failed = true;
    unsigned now = 0; /* the version that is there */
    buf_init(&dump, ANSWER);
    for (unsigned v = 0; v < 2; v++) {
        buf_init(&versions[v], 1 << 20);
        buf_init(&canonical[v], ANSWER);
        const struct buf kept = documents[2];
        if (v == 1) {
            fixture_document(2, QUADS, &versions[v]);
            documents[2] = versions[v];
        } else {
            (void)buf_append_slice(&versions[v], buf_slice(&documents[2]));
        }
        fixture_canonical(documents, DOCUMENTS, &canonical[v]);
        documents[2] = kept;
    }
    for (unsigned at = 1; failed; at += 1 + at / 12) {
        struct partition *partition = fixture_open(folder, CACHE);
        struct index_batch *batch = index_batch_new(partition);
        (void)fixture_add(batch, 2, 1 + at, &versions[!now]);
        struct reason because = {""};
        calls = 0;
        fail_at = at;
        const enum status status = index_batch_commit(batch, &because);
        failed = calls >= at;
        fail_at = 0;
        index_batch_free(batch);
        partition_close(partition);
        if (status == STATUS_OK) {
            assert_false(failed);
            now = !now;
        } else if (status != STATUS_SYSTEM || strstr(because.text, "a fault") == NULL) {
            fail_msg("call %u: %s: %s", at, status_name(status), because.text);
        }
        partition = fixture_open(folder, CACHE);
        fixture_dump(partition, folder, &dump);
        assert_true(slice_equal(buf_slice(&dump), buf_slice(&canonical[now])));
        partition_close(partition);
    }
    if (now == 1) {
        struct partition *partition = fixture_open(folder, CACHE);
        struct index_batch *batch = index_batch_new(partition);
        (void)fixture_add(batch, 2, UINT32_MAX, &versions[0]);
        must(index_batch_commit(batch, &why), &why);
        index_batch_free(batch);
        fixture_verify(partition, folder);
        partition_close(partition);
    }
    for (unsigned v = 0; v < 2; v++) {
        buf_release(&versions[v]);
        buf_release(&canonical[v]);
    }
    buf_release(&dump);
}

/* A partition that cannot be opened says why, and can be opened afterwards. */
static void
openings_are_whole_or_not(void)
{
    bool failed = true;
    unsigned failures = 0;
    for (unsigned at = 1; failed; at++) {
        struct partition_options options;
        struct partition *partition = NULL;
        struct reason because = {""};
        fixture_options(&options, folder);
        options.cache_bytes = CACHE;
        calls = 0;
        fail_at = at;
        const enum status status = partition_open(&partition, &options, &because);
        failed = calls >= at;
        fail_at = 0;
        failures += failed;
        if (status == STATUS_OK) {
            assert_false(failed);
            partition_close(partition);
        } else if (status != STATUS_SYSTEM || strstr(because.text, "a fault") == NULL) {
            fail_msg("call %u: %s: %s", at, status_name(status), because.text);
        }
    }
    assert_true(failures > 0);
}

static void
calls_that_fail_are_told(void **state)
{
    (void)state;
    struct buf documents[DOCUMENTS], canonical, dump;
    struct reason why = {""};
    assert_true(scratch_folder(folder, "tree_calls"));
    tester = pthread_self();
    struct partition *partition = fixture_open(folder, CACHE);
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        buf_init(&documents[i], 1 << 20);
        fixture_document(i, QUADS, &documents[i]);
        struct index_batch *batch = index_batch_new(partition);
        (void)fixture_add(batch, i, 1, &documents[i]);
        must(index_batch_commit(batch, &why), &why);
        index_batch_free(batch);
    }
    must(partition_settle(partition, &why), &why);
    partition_close(partition);
    buf_init(&canonical, ANSWER);
    buf_init(&dump, ANSWER);
    fixture_canonical(documents, DOCUMENTS, &canonical);
    for (enum task task = SCAN; task < TASKS; task++) {
        partition = fixture_open(folder, CACHE); /* caches are empty */
        try_task(task, partition);
        fixture_dump(partition, folder, &dump);
        assert_true(slice_equal(buf_slice(&dump), buf_slice(&canonical)));
        partition_close(partition);
    }
    openings_are_whole_or_not();
    commits_are_whole_or_not(documents);
    partition = fixture_open(folder, CACHE);
    fixture_verify(partition, folder);
    partition_close(partition);
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        buf_release(&documents[i]);
    }
    buf_release(&canonical);
    buf_release(&dump);
    fixture_run("rm -r %s%s", folder, "");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(calls_that_fail_are_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
