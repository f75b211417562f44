/* Verify while batches replace all documents is clean each time; it names what was made wrong in
 * any tree; and of the bytes of all files, some of each page flipped, every flip that matters is
 * reported when opening or by verify, and none leads to a crash. */
#include "tests/unit/index/index_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include <zstd.h>

#include "base/codec.h"
#include "base/system/log.h"
#include "index/write/partition_state.h"
#include "tests/unit/brief.h"

enum { DOCUMENTS = 80, CACHE = 8 << 20, VERIFICATIONS = 12, PATH_SIZE = 256 };

static char base[SCRATCH_SIZE];
static struct buf large[DOCUMENTS], small[DOCUMENTS];
static struct buf expected;

static void
put_all(struct partition *partition, const struct buf *documents, uint64_t generation)
{
    struct reason why = {""};
    struct index_batch *batch = index_batch_new(partition);
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        fixture_add(batch, i, generation, &documents[i]);
    }
    must(index_batch_commit(batch, &why), &why);
    index_batch_free(batch);
}

static int
make_base(void **state)
{
    (void)state;
    char folder[SCRATCH_SIZE + 32];
    struct reason why = {""};
    assert_true(scratch_folder(base, "test_index_verify"));
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        buf_init(&large[i], 1 << 20);
        buf_init(&small[i], 1 << 20);
        fixture_document(i, 60, &large[i]);
        fixture_document(i, 6, &small[i]);
    }
    buf_init(&expected, 1 << 26);
    fixture_canonical(large, DOCUMENTS, &expected);
    fixture_run("mkdir %s/index%s", base, "");
    snprintf(folder, sizeof folder, "%s/index", base);
    struct partition *partition = fixture_open(folder, CACHE);
    put_all(partition, large, 1);
    must(partition_settle(partition, &why), &why);
    partition_close(partition);
    return 0;
}

static int
remove_base(void **state)
{
    (void)state;
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        buf_release(&large[i]);
        buf_release(&small[i]);
    }
    buf_release(&expected);
    fixture_run("rm -rf %s%s", base, "");
    return 0;
}

/* ---- while batches go on ---- */

struct writing {
    struct partition *partition;
    atomic_bool stop;
    atomic_uint batches;
};

static void *
replace_again_and_again(void *context)
{
    struct writing *writing = context;
    for (uint64_t generation = 2; !atomic_load(&writing->stop); generation++) {
        put_all(writing->partition, generation % 2 ? large : small, generation);
        atomic_fetch_add(&writing->batches, 1);
    }
    return NULL;
}

static void
verify_keeps_nobody_waiting(void **state)
{
    (void)state;
    char folder[SCRATCH_SIZE + 32];
    pthread_t writer;
    unsigned meanwhile = 0;
    enum { TURNS_MOST = 200 };
    fixture_copy(folder, base);
    struct writing writing = {.partition = fixture_open(folder, CACHE)};
    assert_int_equal(pthread_create(&writer, NULL, replace_again_and_again, &writing), 0);
    const unsigned verifications = (unsigned)brief(VERIFICATIONS, VERIFICATIONS / 3);
    /* On a busy machine the writer may have its turn late: then there are more of them. */
    for (unsigned i = 0; i < verifications || (meanwhile <= verifications && i < TURNS_MOST); i++) {
        const unsigned before = atomic_load(&writing.batches);
        fixture_verify(writing.partition, folder);
        meanwhile += atomic_load(&writing.batches) - before;
    }
    atomic_store(&writing.stop, true);
    pthread_join(writer, NULL);
    print_message("%u batches during %u verifications\n", meanwhile, verifications);
    assert_true(meanwhile > verifications);
    fixture_verify(writing.partition, folder);
    partition_close(writing.partition);
}

/* ---- what is made wrong is named ---- */

/* Opens and verifies; the report, or why it could not be opened. */
static enum status
verify(const char *folder, struct buf *report)
{
    struct partition_options options;
    struct partition *partition;
    const atomic_bool cancel = false;
    struct reason why = {""};
    fixture_options(&options, folder);
    options.cache_bytes = CACHE;
    enum status status = partition_open(&partition, &options, &why);
    if (status == STATUS_OK) {
        status =
            partition_verify(partition, folder, 1 << 20, &cancel, fixture_append, report, &why);
        partition_close(partition);
    }
    (void)buf_append_string(report, why.text);
    return status;
}

enum damage { REMOVE_FIRST, REMOVE_LAST, CHANGE_FIRST, ADD_KEY };

struct wrong {
    const char *tree;
    enum damage damage;
    char prefix; /* of the key, 0: any */
    const char *named;
};

static void
do_wrong(const char *folder, const struct wrong *wrong)
{
    struct environment *environment;
    struct tree *tree;
    struct transaction *transaction;
    struct tree_cursor *cursor;
    struct reason why = {""};
    uint8_t key[192] = {(uint8_t)wrong->prefix}, value[4096];
    size_t key_length = wrong->prefix != 0, length = 0;
    const struct environment_options options = {
        .folder = folder, .cache_bytes = CACHE, .checkpoint_bytes = 1 << 20};
    must(environment_open(&environment, &options, &why), &why);
    must(tree_open(&tree, environment, wrong->tree, &why), &why);
    must(transaction_begin(&transaction, environment, 0, &why), &why);
    must(tree_cursor_open(&cursor, tree, transaction, &why), &why);
    must(tree_cursor_move(cursor, wrong->damage == REMOVE_LAST ? TREE_LAST : TREE_AT_OR_AFTER, key,
                          sizeof key, &key_length, value, sizeof value, &length, &why),
         &why);
    switch (wrong->damage) {
    case REMOVE_FIRST:
    case REMOVE_LAST:
        must(tree_cursor_delete(cursor, &why), &why);
        break;
    case CHANGE_FIRST:
        value[length - 1] ^= 1;
        must(tree_cursor_replace(cursor, slice_of((char *)value, length), &why), &why);
        break;
    case ADD_KEY:
        key[key_length - 1]++;
        break;
    }
    tree_cursor_close(cursor);
    if (wrong->damage == ADD_KEY) {
        must(tree_put(tree, transaction, slice_of((char *)key, key_length),
                      slice_of((char *)value, length), &why),
             &why);
    }
    must(transaction_commit(transaction, &why), &why);
    tree_close(tree);
    environment_close(environment);
}

static void
what_is_wrong_is_named(void **state)
{
    (void)state;
    static const struct wrong cases[] = {
        {"quads-spoc", REMOVE_FIRST, 0, "quads-spoc"},
        {"quads-pocs", REMOVE_FIRST, 0, "quads-pocs"},
        {"quads-ocsp", REMOVE_FIRST, 0, "quads-ocsp"},
        {"quads-cspo", REMOVE_FIRST, 0, "quads-cspo"},
        {"quads-cpos", REMOVE_LAST, 0, "quads-cpos"},
        {"quads-ospc", REMOVE_LAST, 0, "quads-ospc"},
        {"quads-spoc", CHANGE_FIRST, 0, "quads-spoc"},
        {"terms", REMOVE_FIRST, 0, "is found as 0"},
        {"terms", CHANGE_FIRST, 0, "is found as"},
        {"nodes", REMOVE_FIRST, 0, "no term has the number"},
        {"documents", REMOVE_FIRST, 0, "documents are recorded"},
        {"documents", CHANGE_FIRST, 0, "the digest differs"},
        {"documents", ADD_KEY, 0, "document"},
        {"statistics", REMOVE_FIRST, 'P', "of kind predicate"},
        {"statistics", CHANGE_FIRST, 'C', "class"},
        {"statistics", CHANGE_FIRST, 'H', "host"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char folder[SCRATCH_SIZE + 32];
        struct buf report;
        buf_init(&report, 1 << 20);
        fixture_copy(folder, base);
        do_wrong(folder, &cases[i]);
        assert_int_equal(verify(folder, &report), STATUS_CORRUPT);
        (void)buf_append(&report, "", 1);
        if (strstr(report.data, cases[i].named) == NULL) {
            fail_msg("case %zu, %s: \"%s\" is not named in:\n%s", i, cases[i].tree, cases[i].named,
                     report.data);
        }
        buf_release(&report);
    }
}

/* ---- changed bytes of what is stored ---- */

enum { FEW = 3, FEW_QUADS = 14, RECORD_MOST = 4096 };

struct record {
    uint8_t key[TREE_KEY_MAXIMUM], value[RECORD_MOST];
    size_t key_length, length;
};

static struct tree *
tree_of(const struct partition *partition, const char *name)
{
    struct tree *tree = environment_tree(partition->environment, NULL);
    while (tree != NULL && strcmp(tree_name(tree), name) != 0) {
        tree = environment_tree(partition->environment, tree);
    }
    assert_non_null(tree);
    return tree;
}

/* The record after this one; false: there is none. */
static bool
next_record(struct tree *tree, struct record *record, bool first)
{
    struct tree_cursor *cursor;
    struct reason why = {""};
    must(tree_cursor_open(&cursor, tree, NULL, &why), &why);
    enum status status = STATUS_OK;
    for (int i = first ? 1 : 0; i < 2 && status == STATUS_OK; i++) {
        status =
            tree_cursor_move(cursor, first ? TREE_FIRST : (i == 0 ? TREE_AT_OR_AFTER : TREE_NEXT),
                             record->key, sizeof record->key, &record->key_length, record->value,
                             sizeof record->value, &record->length, &why);
    }
    tree_cursor_close(cursor);
    assert_true(status == STATUS_OK || status == STATUS_END);
    return status == STATUS_OK;
}

static void
store(struct partition *partition, struct tree *tree, const struct record *record)
{
    struct transaction *transaction;
    struct reason why = {""};
    must(transaction_begin(&transaction, partition->environment, 0, &why), &why);
    latch_enter_writing(tree_latch(tree));
    must(tree_put(tree, transaction, slice_of((const char *)record->key, record->key_length),
                  slice_of((const char *)record->value, record->length), &why),
         &why);
    latch_leave(tree_latch(tree));
    must(transaction_commit_unsynced(transaction, &why), &why);
}

static enum status
verify_open(struct partition *partition, struct buf *report)
{
    const atomic_bool cancel = false;
    struct reason why = {""};
    buf_reset(report);
    return partition_verify(partition, base, 1 << 20, &cancel, fixture_append, report, &why);
}

/* Tells whether a block of terms unpacks to the same entries when this byte is changed: of some
 * bits zstd takes no notice. */
static bool
unpacks_alike(const struct record *record, size_t at)
{
    enum { ZSTD = 1, UNPACKED_MOST = 1 << 16 };
    static char entries[2][UNPACKED_MOST];
    uint8_t changed[RECORD_MOST];
    struct codec_reader reader =
        codec_reader_of(slice_of((const char *)record->value, record->length));
    const uint8_t codec = codec_get_u8(&reader);
    for (int i = 0; i < 3; i++) {
        (void)codec_get_varint(&reader); /* first term, count, length */
    }
    const size_t begin = (size_t)(reader.at - record->value), length = record->length - begin;
    if (codec != ZSTD || reader.bad || at < begin) {
        return false;
    }
    memcpy(changed, record->value, record->length);
    changed[at] ^= 1;
    const size_t one = ZSTD_decompress(entries[0], UNPACKED_MOST, record->value + begin, length);
    const size_t other = ZSTD_decompress(entries[1], UNPACKED_MOST, changed + begin, length);
    assert_false(ZSTD_isError(one));
    return one == other && memcmp(entries[0], entries[1], one) == 0;
}

/* Another way to write the same rows or terms; what is in memory since the start; and of a document
 * what nothing else tells, its generation and time. */
static bool
tells_nothing(const char *tree, const struct record *record, size_t at)
{
    static struct row rows[2][ROWS_BLOCK_MOST];
    if (strcmp(tree, "documents") == 0) {
        return at > 0 && at < 10 && at != 3;
    }
    if (strcmp(tree, "statistics") == 0) {
        return strchr("FGLST", record->key[0]) != NULL;
    }
    if (strcmp(tree, "nodes") == 0) {
        return unpacks_alike(record, at);
    }
    for (int order = 0; order < ORDER_COUNT; order++) {
        static const char *const names[] = {"quads-spoc", "quads-pocs", "quads-ocsp",
                                            "quads-cspo", "quads-cpos", "quads-ospc"};
        uint8_t changed[RECORD_MOST];
        size_t counts[2];
        struct reason why = {""};
        memcpy(changed, record->value, record->length);
        changed[at] ^= 1;
        if (strcmp(tree, names[order]) == 0) {
            must(rows_read((enum quad_order)order, record->value, record->length, rows[0],
                           &counts[0], &why),
                 &why);
            return rows_read((enum quad_order)order, changed, record->length, rows[1], &counts[1],
                             &why) == STATUS_OK &&
                   counts[0] == counts[1] &&
                   memcmp(rows[0], rows[1], counts[0] * sizeof(struct row)) == 0;
        }
    }
    return strcmp(tree, "words") == 0 && record->key[0] == 0;
}

/* Whatever is changed in blocks and records of an index in use is found. */
static void
every_changed_record_is_found(void **state)
{
    (void)state;
    static const char *const trees[] = {"quads-spoc", "quads-pocs", "quads-ocsp", "quads-cspo",
                                        "quads-cpos", "quads-ospc", "terms",      "nodes",
                                        "documents",  "statistics", "words"};
    static struct record record;
    char folder[SCRATCH_SIZE + 32];
    struct reason why = {""};
    struct buf quads, report;
    buf_init(&quads, 1 << 20);
    buf_init(&report, 1 << 20);
    snprintf(folder, sizeof folder, "%s/few", base);
    struct partition_options options;
    struct partition *partition;
    fixture_options(&options, folder);
    options.cache_bytes = CACHE;
    options.change_bytes = 0; /* so nothing is gathered: all trees have all */
    must(partition_open(&partition, &options, &why), &why);
    struct index_batch *batch = index_batch_new(partition);
    for (unsigned i = 0; i < FEW; i++) {
        buf_reset(&quads);
        fixture_document(i, FEW_QUADS, &quads);
        (void)fixture_add(batch, i, 1, &quads);
    }
    must(index_batch_commit(batch, &why), &why);
    must(partition_settle(partition, &why), &why);
    assert_int_equal(verify_open(partition, &report), STATUS_OK);
    const atomic_bool cancel = true;
    assert_int_equal(
        partition_verify(partition, base, 1 << 20, &cancel, fixture_append, &report, &why),
        STATUS_CANCELLED);
    for (size_t t = 0; t < sizeof trees / sizeof *trees; t++) {
        struct tree *tree = tree_of(partition, trees[t]);
        bool first = true;
        for (unsigned number = 0; next_record(tree, &record, first); number++, first = false) {
            const size_t step = record.length / 24 + 1;
            for (size_t i = 0; i < record.length; i += step) {
                if (tells_nothing(trees[t], &record, i)) {
                    continue;
                }
                record.value[i] ^= 1;
                store(partition, tree, &record);
                if (verify_open(partition, &report) != STATUS_CORRUPT) {
                    fail_msg("%s: byte %zu of %zu of record %u", trees[t], i, record.length,
                             number);
                }
                record.value[i] ^= 1;
            }
            store(partition, tree, &record);
        }
        assert_false(first);
    }
    assert_int_equal(verify_open(partition, &report), STATUS_OK);
    index_batch_free(batch);
    partition_close(partition);
    buf_release(&quads);
    buf_release(&report);
}

/* ---- flipped bytes ---- */

enum { PAGE = 4096, PAGES_TRIED = 3 };
static const unsigned places[] = {9, 22, 28, 60, 492, 2000};

enum found { FOUND_NOTHING = 0, FOUND_DAMAGE = 1, FOUND_DIFFERENCE = 2 };

/* The child: what verify says, and whether the quads are still the same. */
static enum found
look(const char *folder)
{
    struct buf report, dump;
    buf_init(&report, 1 << 24);
    if (verify(folder, &report) != STATUS_OK) {
        return FOUND_DAMAGE;
    }
    buf_init(&dump, 1 << 26);
    struct partition *partition = fixture_open(folder, CACHE);
    fixture_dump(partition, folder, &dump);
    partition_close(partition);
    return slice_equal(buf_slice(&dump), buf_slice(&expected)) ? FOUND_NOTHING : FOUND_DIFFERENCE;
}

static void
flip(const char *path, long at)
{
    FILE *file = fopen(path, "r+e");
    assert_non_null(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    const int c = fgetc(file);
    if (c != EOF) {
        assert_int_equal(fseek(file, at, SEEK_SET), 0);
        fputc(c ^ 0x5a, file);
    }
    fclose(file);
}

static enum found
try_flip(const char *name, long at)
{
    char folder[SCRATCH_SIZE + 32], path[PATH_SIZE];
    int result;
    fixture_copy(folder, base);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    flip(path, at);
    const pid_t child = fork();
    if (child == 0) {
        log_open("test", LOG_LEVEL_ERROR, false);
        if (freopen("/dev/null", "w", stderr) == NULL) {
            _exit(9);
        }
        _exit(look(folder));
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    if (!WIFEXITED(result) || WEXITSTATUS(result) > FOUND_DIFFERENCE) {
        fail_msg("%s: a flip at %ld ends with %x", name, at, (unsigned)result);
    }
    return (enum found)WEXITSTATUS(result);
}

static long
file_size(const char *name)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/index/%s", base, name);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    const long size = ftell(file);
    fclose(file);
    return size;
}

static void
every_flip_that_matters_is_found(void **state)
{
    (void)state;
    static const char *const trees[] = {"quads-spoc", "quads-pocs", "quads-ocsp",
                                        "quads-cspo", "quads-cpos", "quads-ospc",
                                        "terms",      "documents",  "statistics"};
    unsigned flips = 0;
    for (size_t i = 0; i < sizeof trees / sizeof trees[0]; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s.db", trees[i]);
        const long pages = file_size(name) / PAGE;
        const long tried = (long)brief(PAGES_TRIED, 1);
        const long step = pages > tried ? pages / tried : 1;
        for (long page = 0; page < pages; page += step) {
            for (size_t k = 0; k < sizeof places / sizeof places[0]; k++) {
                /* of the first page only 512 bytes mean something */
                const enum found found = try_flip(name, page * PAGE + places[k]);
                if (found != (page > 0 || places[k] < 512 ? FOUND_DAMAGE : FOUND_NOTHING)) {
                    fail_msg("%s: a flip in page %ld at %u is %s", name, page, places[k],
                             found == FOUND_DIFFERENCE ? "another content" : "not found");
                }
                flips++;
            }
        }
    }
    for (long at = 0, size = file_size("log.0000000001"); at < size; at += size / 12 + 1, flips++) {
        if (try_flip("log.0000000001", at) == FOUND_DIFFERENCE) {
            fail_msg("a flip in the log at %ld is another content", at);
        }
    }
    print_message("%u flips\n", flips);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verify_keeps_nobody_waiting),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(every_changed_record_is_found),
        cmocka_unit_test(every_flip_that_matters_is_found),
    };
    log_open("test", LOG_LEVEL_ERROR, false);
    return cmocka_run_group_tests(tests, make_base, remove_base);
}
