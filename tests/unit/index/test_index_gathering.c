/* Changes that are gathered before they go into the trees: many small batches, with the process
 * killed, the disk full and a write failed at writes of all of them, the flush without a batch
 * among these. After a new start the index holds the batches up to one, at least all that were
 * answered, and verifies clean. What was gathered cannot be read: nothing wrong is answered. */
#include "tests/unit/index/index_fixture.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/log.h"
#include "index/trees/environment.h"
#include "index/write/gathering.h"
#include "index/write/partition_state.h"
#include "tests/unit/brief.h"

enum { DOCUMENTS = 24, QUADS = 40, CACHE = 4 << 20, TRIES = 4, TRIES_LEAST = 1, NEVER_S = 3600 };

static char base[SCRATCH_SIZE], folder[SCRATCH_SIZE + 32];
static struct buf versions[2][DOCUMENTS];
static struct buf dumps[DOCUMENTS + 1]; /* after so many documents were replaced */
static unsigned *answered;              /* shared with the child */

static struct partition *
open_partition(const char *where)
{
    struct partition_options options;
    struct partition *partition;
    struct reason why = {""};
    fixture_options(&options, where);
    options.cache_bytes = CACHE;
    options.checkpoint_bytes = 64 << 10;
    options.pause_s = NEVER_S;
    return partition_open(&partition, &options, &why) == STATUS_OK ? partition : NULL;
}

static enum status
replace(struct partition *partition, unsigned first, unsigned end, unsigned version,
        struct reason *why)
{
    struct index_batch *batch = index_batch_new(partition);
    for (unsigned i = first; i < end; i++) {
        fixture_add(batch, i, version + 1, &versions[version][i]);
    }
    const enum status status = index_batch_commit(batch, why);
    index_batch_free(batch);
    return status;
}

/* Each document by itself; in the middle and in the end all changes are brought in. */
static enum status
replace_one_by_one(struct partition *partition, struct reason *why)
{
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        TRY(replace(partition, i, i + 1, 1, why));
        *answered = i + 1;
        bool more = i == DOCUMENTS / 2 || i == DOCUMENTS - 1;
        while (more) {
            pthread_mutex_lock(&partition->writer);
            const enum status status = gathering_flush_some(partition, &more, why);
            pthread_mutex_unlock(&partition->writer);
            TRY(status);
        }
    }
    return STATUS_OK;
}

static int
setup(void **state)
{
    (void)state;
    assert_true(scratch_folder(base, "test_index_gathering"));
    answered =
        mmap(NULL, sizeof(*answered), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(answered != MAP_FAILED);
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        for (unsigned version = 0; version < 2; version++) {
            buf_init(&versions[version][i], 1 << 20);
            fixture_document(i, QUADS, &versions[version][i]);
        }
    }
    fixture_run("mkdir %s/index%s", base, "");
    snprintf(folder, sizeof(folder), "%s/index", base);
    struct partition *partition = open_partition(folder);
    struct reason why = {""};
    must(replace(partition, 0, DOCUMENTS, 0, &why), &why);
    partition_close(partition);
    struct buf mixed[DOCUMENTS];
    for (unsigned done = 0; done <= DOCUMENTS; done++) {
        for (unsigned i = 0; i < DOCUMENTS; i++) {
            mixed[i] = versions[i < done][i];
        }
        buf_init(&dumps[done], 1 << 24);
        fixture_canonical(mixed, DOCUMENTS, &dumps[done]);
    }
    return 0;
}

static int
teardown(void **state)
{
    (void)state;
    fixture_run("rm -r %s%s", base, "");
    return 0;
}

/* ---- faults ---- */

static bool
run_child(const char *copy, enum fault_action action, uint64_t at)
{
    int result;
    *answered = 0;
    const pid_t child = fork();
    if (child == 0) {
        struct reason why = {""};
        log_open("test", LOG_LEVEL_ERROR, false);
        if (freopen("/dev/null", "w", stderr) == NULL) {
            _exit(9);
        }
        struct partition *partition = open_partition(copy);
        environment_fault(action, at);
        _exit(partition == NULL || replace_one_by_one(partition, &why) != STATUS_OK);
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    /* SIGABRT: Berkeley DB 5.3 frees what is not its own when a commit cannot be written. */
    assert_true(WIFEXITED(result) || WTERMSIG(result) == SIGKILL ||
                (action >= FAULT_FULL && WTERMSIG(result) == SIGABRT));
    return WIFEXITED(result) && WEXITSTATUS(result) == 0;
}

static void
check_dump(struct partition *partition, const char *copy, unsigned least, unsigned most)
{
    struct buf dump;
    buf_init(&dump, 1 << 24);
    fixture_dump(partition, copy, &dump);
    unsigned done = least;
    while (done <= most && !slice_equal(buf_slice(&dump), buf_slice(&dumps[done]))) {
        done++;
    }
    if (done > most) {
        fail_msg("not what %u to %u batches make", least, most);
    }
    buf_release(&dump);
}

static void
try(enum fault_action action, uint64_t at)
{
    char copy[SCRATCH_SIZE + 32];
    struct reason why = {""};
    fixture_copy(copy, base);
    const bool done = run_child(copy, action, at);
    struct partition *partition = open_partition(copy);
    assert_non_null(partition);
    const unsigned least = *answered;
    assert_true(!done || least == DOCUMENTS);
    check_dump(partition, copy, least, least < DOCUMENTS ? least + 1 : least);
    fixture_verify(partition, copy);
    must(replace_one_by_one(partition, &why), &why);
    check_dump(partition, copy, DOCUMENTS, DOCUMENTS);
    fixture_verify(partition, copy);
    partition_close(partition);
}

static void
batches_are_there_up_to_one(void **state)
{
    char copy[SCRATCH_SIZE + 32];
    struct reason why = {""};
    (void)state;
    fixture_copy(copy, base);
    struct partition *partition = open_partition(copy);
    environment_fault(FAULT_NONE, 0);
    must(replace_one_by_one(partition, &why), &why);
    const uint64_t writes = environment_writes();
    partition_close(partition);
    const char *text = getenv("QUADRILLE_KILL_STEP");
    const uint64_t step =
        text != NULL ? strtoull(text, NULL, 10) : 1 + writes / brief(TRIES, TRIES_LEAST);
    for (enum fault_action action = FAULT_KILL; action <= FAULT_ONCE; action++) {
        for (uint64_t at = 1 + action; at <= writes; at += step) {
            try(action, at);
        }
    }
    print_message("%lu writes, each %luth\n", (unsigned long)writes, (unsigned long)step);
}

/* ---- starts ---- */

static size_t
gathered(struct partition *partition)
{
    return snapshots_gathered_changes(partition->snapshots);
}

/* Replaces documents, and leaves changes gathered when it is closed. */
static void
leave_gathered(const char *copy, unsigned count)
{
    struct reason why = {""};
    struct partition *partition = open_partition(copy);
    for (unsigned i = 0; i < count; i++) {
        must(replace(partition, i, i + 1, 1, &why), &why);
    }
    assert_true(gathered(partition) > 0);
    partition_close(partition);
}

static void
a_start_has_what_was_gathered(void **state)
{
    char copy[SCRATCH_SIZE + 32];
    (void)state;
    fixture_copy(copy, base);
    leave_gathered(copy, 1);
    struct partition *partition = open_partition(copy);
    const size_t count = gathered(partition);
    assert_true(count > QUADS / 2);
    check_dump(partition, copy, 1, 1);
    fixture_verify(partition, copy);
    partition_close(partition);
    partition = open_partition(copy);
    assert_int_equal(gathered(partition), count);
    partition_close(partition);
}

/* Documents that are fetched again and are as before make batches without changes. */
static void
batches_without_changes_take_no_room(void **state)
{
    enum { BATCHES = 2 * MEMTABLE_SETS };
    char copy[SCRATCH_SIZE + 32];
    struct reason why = {""};
    (void)state;
    fixture_copy(copy, base);
    leave_gathered(copy, 1);
    struct partition *partition = open_partition(copy);
    const size_t count = gathered(partition);
    for (unsigned i = 0; i < BATCHES; i++) {
        struct index_batch *batch = index_batch_new(partition);
        fixture_add(batch, 1, 2 + i, &versions[0][1]);
        must(index_batch_commit(batch, &why), &why);
        index_batch_free(batch);
        assert_int_equal(gathered(partition), count);
    }
    for (unsigned starts = 0; starts < 2; starts++) {
        check_dump(partition, copy, 1, 1);
        fixture_verify(partition, copy);
        partition_close(partition);
        partition = open_partition(copy);
        assert_int_equal(gathered(partition), count);
    }
    partition_close(partition);
}

/* A batch that is too large to be gathered comes after what was gathered, in all trees. */
static void
a_large_batch_comes_after(void **state)
{
    char copy[SCRATCH_SIZE + 32];
    struct reason why = {""};
    (void)state;
    fixture_copy(copy, base);
    leave_gathered(copy, 1);
    struct partition *partition = open_partition(copy);
    struct buf mixed[DOCUMENTS];
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        mixed[i] = versions[i > 0][i];
    }
    struct index_batch *batch = index_batch_new(partition);
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        fixture_add(batch, i, 9, &mixed[i]); /* the first as it was before */
    }
    must(index_batch_commit(batch, &why), &why);
    index_batch_free(batch);
    assert_int_equal(gathered(partition), 0);
    struct buf expected, dump;
    buf_init(&expected, 1 << 24);
    buf_init(&dump, 1 << 24);
    fixture_canonical(mixed, DOCUMENTS, &expected);
    fixture_dump(partition, copy, &dump);
    assert_true(slice_equal(buf_slice(&dump), buf_slice(&expected)));
    fixture_verify(partition, copy);
    partition_close(partition);
    buf_release(&expected);
    buf_release(&dump);
}

/* The change log has no room, but for what is gathered. */
static void
what_is_gathered_stays_in_the_log(void **state)
{
    char copy[SCRATCH_SIZE + 32];
    struct partition_options options;
    struct partition *partition;
    struct reason why = {""};
    (void)state;
    fixture_copy(copy, base);
    fixture_options(&options, copy);
    options.change_bytes = 4 << 10; /* room for any of the batches, not for two */
    options.pause_s = NEVER_S;
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        must(partition_open(&partition, &options, &why), &why);
        must(replace(partition, i, i + 1, 1, &why), &why);
        check_dump(partition, copy, i + 1, i + 1);
        fixture_verify(partition, copy);
        partition_close(partition);
    }
}

static enum status
count_object(struct partition *partition, struct reason *why)
{
    const struct term object = term_iri(SLICE("http://class.example/3"));
    struct partition_reader *reader;
    struct quad_oids pattern = {0}, row;
    struct quad_scan *scan;
    size_t n = 0;
    must(partition_reader_open(&reader, partition, why), why);
    const struct quad_source *source = partition_reader_source(reader);
    must(lexicon_find(partition->lexicon, &object, &pattern.object, why), why);
    enum status status = source->scan(source->context, &pattern, ORDER_COUNT, &scan, why);
    if (status == STATUS_OK) {
        status = source->scan_next(scan, &row, 1, &n, why);
        source->scan_close(scan);
    }
    partition_reader_close(reader);
    return status;
}

/* So many batches are gathered; the log lacks the last one. */
static void
is_refused_without_its_log(unsigned batches)
{
    char copy[SCRATCH_SIZE + 32];
    struct environment *environment;
    struct transaction *transaction;
    struct tree *tree;
    struct reason why = {""};
    fixture_copy(copy, base);
    leave_gathered(copy, batches);
    const struct environment_options options = {.folder = copy, .cache_bytes = CACHE};
    must(environment_open(&environment, &options, &why), &why);
    must(tree_open(&tree, environment, "changes", &why), &why);
    must(transaction_begin(&transaction, environment, 0, &why), &why);
    const char last_batch[12] = {[7] = (char)(batches + 1), [11] = 1}; /* its first piece of rows */
    must(tree_put(tree, transaction, slice_of(last_batch, sizeof(last_batch)), SLICE("damaged"),
                  &why),
         &why);
    must(transaction_commit(transaction, &why), &why);
    tree_close(tree);
    environment_close(environment);
    struct partition *partition = open_partition(copy);
    assert_non_null(partition);
    assert_int_equal(count_object(partition, &why), STATUS_CORRUPT);
    assert_non_null(strstr(why.text, "changes.db"));
    assert_int_equal(replace(partition, batches, batches + 1, 1, &why), STATUS_CORRUPT);
    assert_true(partition_waits(partition, STATUS_CORRUPT));
    check_dump(partition, copy, batches, batches); /* from the tree that has all */
    partition_close(partition);
}

static void
without_its_log_nothing_wrong_is_answered(void **state)
{
    (void)state;
    is_refused_without_its_log(1);
    is_refused_without_its_log(2);
}

/* Opens a copy of the index that lacks a file. */
static void
is_refused_without(const char *file)
{
    char copy[SCRATCH_SIZE + 32];
    struct partition_options options;
    struct partition *partition;
    struct reason why = {""};
    fixture_copy(copy, base);
    fixture_run("rm %s/%s.db", copy, file);
    fixture_options(&options, copy);
    for (int i = 0; i < 2; i++) { /* nor when it is tried again */
        assert_int_equal(partition_open(&partition, &options, &why), STATUS_CORRUPT);
        assert_non_null(strstr(why.text, file));
    }
}

/* Without another order than the first the index starts, for a dump; all else is refused. */
static void
is_dumped_without(const char *file)
{
    char copy[SCRATCH_SIZE + 32];
    struct reason why = {""};
    fixture_copy(copy, base);
    fixture_run("rm %s/%s.db", copy, file);
    struct partition *partition = open_partition(copy);
    assert_non_null(partition);
    assert_int_equal(count_object(partition, &why), STATUS_CORRUPT);
    assert_non_null(strstr(why.text, file));
    assert_int_equal(replace(partition, 0, 1, 1, &why), STATUS_CORRUPT);
    check_dump(partition, copy, 0, 0);
    partition_close(partition);
}

/* A file that somebody removed, or the file system lost, is not made anew in silence. */
static void
without_a_file_it_does_not_start(void **state)
{
    static const char *const files[] = {"quads-cspo", "terms", "nodes", "documents", "statistics"};
    static const char *const orders[] = {"quads-spoc", "quads-pocs", "quads-ocsp", "quads-ospc",
                                         "quads-cpos"};
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        is_refused_without(files[i]);
        is_dumped_without(orders[i]);
    }
}

/* Nothing comes for a moment. */
static void
a_pause_brings_all_in(void **state)
{
    char copy[SCRATCH_SIZE + 32];
    struct partition_options options;
    struct partition *partition;
    struct reason why = {""};
    (void)state;
    fixture_copy(copy, base);
    leave_gathered(copy, 1);
    fixture_options(&options, copy);
    options.pause_s = 0;
    must(partition_open(&partition, &options, &why), &why);
    while (gathered(partition) > 0) {
        usleep(1000);
    }
    check_dump(partition, copy, 1, 1);
    fixture_verify(partition, copy);
    partition_close(partition);
    partition = open_partition(copy);
    assert_int_equal(gathered(partition), 0);
    check_dump(partition, copy, 1, 1);
    partition_close(partition);
}

/* A batch of many blocks of the change log is gathered again by a new start, whole. */
static void
large_batches_are_gathered_again(void **state)
{
    enum { LARGE = 60000, MANY = 1000 };
    (void)state;
    char where[SCRATCH_SIZE + 32];
    struct reason why = {""};
    struct buf quads, before, after;
    snprintf(where, sizeof(where), "%s/large", base);
    struct partition *partition = open_partition(where);
    assert_non_null(partition);
    buf_init(&quads, 1 << 26);
    buf_init(&before, 1 << 26);
    buf_init(&after, 1 << 26);
    for (unsigned document = 1; document <= 2; document++) {
        struct index_batch *batch = index_batch_new(partition);
        char uri[64];
        fixture_uri(document, uri);
        buf_reset(&quads);
        for (unsigned i = 0; i < (document == 1 ? LARGE : MANY); i++) {
            (void)buf_printf(&quads, "<http://s.example/%u> <http://p.example/%u> \"%u\" <%s> .\n",
                             i, i % 7, document, uri);
        }
        fixture_add(batch, document, 1, &quads);
        must(index_batch_commit(batch, &why), &why);
        index_batch_free(batch);
    }
    assert_int_equal(snapshots_gathered_changes(partition->snapshots), MANY);
    fixture_dump(partition, where, &before);
    partition_close(partition);
    partition = open_partition(where);
    assert_non_null(partition);
    assert_int_equal(snapshots_gathered_changes(partition->snapshots), MANY);
    fixture_dump(partition, where, &after);
    assert_true(slice_equal(buf_slice(&after), buf_slice(&before)));
    fixture_verify(partition, where);
    partition_close(partition);
    buf_release(&quads);
    buf_release(&before);
    buf_release(&after);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_start_has_what_was_gathered),
                                       cmocka_unit_test(batches_without_changes_take_no_room),
                                       cmocka_unit_test(a_large_batch_comes_after),
                                       cmocka_unit_test(what_is_gathered_stays_in_the_log),
                                       cmocka_unit_test(without_a_file_it_does_not_start),
                                       cmocka_unit_test(without_its_log_nothing_wrong_is_answered),
                                       cmocka_unit_test(a_pause_brings_all_in),
                                       cmocka_unit_test(large_batches_are_gathered_again),
                                       cmocka_unit_test(batches_are_there_up_to_one)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
