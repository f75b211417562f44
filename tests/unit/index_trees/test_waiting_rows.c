/* Runs of rows that wait in a file (index/write/staging.h), beside a sorted array of them: merged,
 * after a start, taken back, cut short, with any byte changed, and without room. */
#include "tests/unit/index/index_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "index/statistics/statistics.h"
#include "index/write/staging.h"

enum { CACHE = 1 << 20, ROWS_MOST = 300000, PATH = 200 };

static char folder[SCRATCH_SIZE];
static struct environment *environment;
static struct tree *statistics;
static struct staging *staging;
static struct reason why;

static struct row rows[ROWS_MOST];
static size_t count;

static void
open_staging(void)
{
    const struct environment_options options = {
        .folder = folder, .cache_bytes = CACHE, .checkpoint_bytes = CACHE, .no_sync = true};
    must(environment_open(&environment, &options, &why), &why);
    must(tree_open(&statistics, environment, "statistics", &why), &why);
    must(staging_open(&staging, folder, statistics, &why), &why);
}

static void
close_staging(void)
{
    staging_close(staging);
    tree_close(statistics);
    environment_close(environment);
}

static struct transaction *
begun(void)
{
    struct transaction *transaction;
    must(transaction_begin(&transaction, environment, 0, &why), &why);
    return transaction;
}

static int
compare_rows(const void *a, const void *b)
{
    return row_compare(a, b);
}

/* Adds a run of rows by chance; spread: numbers of the first place. */
static size_t
add_run(size_t wanted, uint64_t spread, uint64_t terms, bool commits)
{
    static struct row run[ROWS_MOST];
    size_t n = 0;
    for (size_t i = 0; i < wanted; i++) {
        for (size_t k = 0; k < 4; k++) {
            run[i].place[k] = oid_stored(1 + random_number() % (k == 0 ? spread : 3), OID_KIND_IRI);
        }
    }
    qsort(run, wanted, sizeof *run, compare_rows);
    struct transaction *transaction = begun();
    staging_begin(staging);
    for (size_t i = 0; i < wanted; i++) {
        if (i == 0 || row_compare(&run[i - 1], &run[i]) != 0) {
            must(staging_add(staging, &run[i], &why), &why);
            if (commits) {
                rows[count++] = run[i];
            }
            n++;
        }
    }
    must(staging_end(staging, transaction, terms, &why), &why);
    if (commits) {
        must(transaction_commit(transaction, &why), &why);
        staging_committed(staging);
    } else {
        transaction_abort(transaction);
    }
    return n;
}

static void
assert_merged(void)
{
    struct staging_reader *reader;
    struct row row;
    size_t at = 0;
    qsort(rows, count, sizeof *rows, compare_rows);
    must(staging_reader_open(&reader, staging, &why), &why);
    enum status status;
    while ((status = staging_reader_next(reader, &row, &why)) == STATUS_OK) {
        assert_true(at < count && row_compare(&row, &rows[at]) == 0);
        while (at < count && row_compare(&row, &rows[at]) == 0) {
            at++; /* each once */
        }
    }
    assert_int_equal(status, STATUS_END);
    assert_int_equal(staging_reader_next(reader, &row, &why), STATUS_END);
    assert_int_equal(at, count);
    staging_reader_close(reader);
}

static void
path_of_file(char path[PATH])
{
    snprintf(path, PATH, "%s/waiting", folder);
}

static uint64_t
file_size(void)
{
    char path[PATH];
    struct stat info;
    path_of_file(path);
    assert_int_equal(stat(path, &info), 0);
    return (uint64_t)info.st_size;
}

static void
forget(bool commits)
{
    struct transaction *transaction = begun();
    must(staging_forget(staging, transaction, &why), &why);
    if (!commits) {
        transaction_abort(transaction);
        return;
    }
    must(transaction_commit(transaction, &why), &why);
    staging_forgotten(staging);
    count = 0;
    assert_int_equal(file_size(), 0);
    assert_int_equal(staging_rows(staging), 0);
    assert_int_equal(staging_runs(staging), 0);
    assert_int_equal(staging_terms(staging), UINT64_MAX);
}

static void
runs_are_read_as_one(void **state)
{
    (void)state;
    assert_merged();
    assert_int_equal(staging_terms(staging), UINT64_MAX);
    for (unsigned round = 0; round < 12; round++) {
        const size_t runs = round == 11 ? WAITING_RUNS_MOST : 1 + random_number() % 6;
        uint64_t all = 0;
        for (size_t i = 0; i < runs; i++) {
            if (random_number() % 4 == 0) { /* what it wrote is written over */
                (void)add_run(random_number() % 2000, 500, 7, false);
            }
            all += add_run(random_number() % 2000, 1 + random_number() % 500, 10 * round + i, true);
            assert_int_equal(staging_rows(staging), all);
            assert_int_equal(staging_runs(staging), i + 1);
            assert_int_equal(staging_terms(staging), 10 * round);
        }
        assert_merged();
        close_staging();
        open_staging();
        assert_int_equal(staging_rows(staging), all);
        assert_int_equal(staging_runs(staging), runs);
        assert_int_equal(staging_terms(staging), 10 * round);
        forget(false);
        assert_merged();
        forget(true);
        assert_merged();
    }
}

/* One that is written and read in several pieces, and another beside it. */
static void
long_runs_are_read_as_one(void **state)
{
    (void)state;
    (void)add_run(250000, UINT64_C(1) << 40, 1, true);
    assert_true(file_size() > 1 << 20);
    (void)add_run(1000, UINT64_C(1) << 40, 2, true);
    assert_merged();
    close_staging();
    open_staging();
    assert_merged();
}

static enum status
read_all(void)
{
    struct staging_reader *reader;
    struct row row;
    enum status status = staging_reader_open(&reader, staging, &why);
    if (status != STATUS_OK) {
        assert_null(reader);
        return status;
    }
    while ((status = staging_reader_next(reader, &row, &why)) == STATUS_OK) {
    }
    staging_reader_close(reader);
    return status == STATUS_END ? STATUS_OK : status;
}

static void
damage_is_found(void **state)
{
    (void)state;
    char path[PATH];
    (void)add_run(900, 400, 1, true);
    (void)add_run(100, 400, 1, true);
    path_of_file(path);
    const int file = open(path, O_RDWR);
    const uint64_t size = file_size();
    assert_true(file >= 0 && size > 1000);
    for (uint64_t at = 0; at < size; at += at < 40 ? 1 : 13) {
        uint8_t byte, other;
        assert_int_equal(pread(file, &byte, 1, (off_t)at), 1);
        other = byte ^ (uint8_t)(1u << at % 8);
        assert_int_equal(pwrite(file, &other, 1, (off_t)at), 1);
        assert_int_equal(read_all(), STATUS_CORRUPT);
        assert_non_null(strstr(why.text, "quads that wait"));
        assert_int_equal(pwrite(file, &byte, 1, (off_t)at), 1);
    }
    assert_int_equal(read_all(), STATUS_OK);
    for (uint64_t cut = 0; cut < size; cut += cut < 30 ? 1 : 101) {
        static char rest[1 << 20];
        const ssize_t length = pread(file, rest, sizeof rest, (off_t)cut);
        assert_int_equal(ftruncate(file, (off_t)cut), 0);
        assert_int_equal(read_all(), STATUS_CORRUPT);
        assert_int_equal(pwrite(file, rest, (size_t)length, (off_t)cut), length);
    }
    assert_int_equal(read_all(), STATUS_OK);
    assert_int_equal(close(file), 0);
    assert_merged();
}

/* A run without the one before it is none. */
static void
missing_records_are_told(void **state)
{
    (void)state;
    uint8_t key[STATISTIC_KEY_SIZE];
    (void)add_run(50, 400, 1, true);
    (void)add_run(60, 400, 2, true);
    const uint64_t numbers[2][4] = {{1, 60, 50, 1}, {0, 0, 0, 0}};
    for (size_t i = 0; i < 2; i++) {
        struct transaction *transaction = begun();
        must(statistics_write(statistics, transaction, statistic_key((enum statistic)'W', i, key),
                              numbers[i], 4, &why),
             &why);
        must(transaction_commit(transaction, &why), &why);
        struct staging *second;
        assert_int_equal(staging_open(&second, folder, statistics, &why), STATUS_CORRUPT);
        assert_null(second);
    }
    struct transaction *transaction = begun();
    must(tree_put(statistics, transaction, statistic_key((enum statistic)'W', 0, key),
                  SLICE("\x80"), &why),
         &why);
    must(transaction_commit(transaction, &why), &why);
    struct staging *second;
    assert_int_equal(staging_open(&second, folder, statistics, &why), STATUS_CORRUPT);
    assert_int_equal(staging_open(&second, "/dev/null", statistics, &why), STATUS_SYSTEM);
}

/* Whatever write finds no room, or fails: the run is not there, and one after it is. */
static void
a_run_without_room_is_not_there(void **state)
{
    (void)state;
    (void)add_run(100, 400, 1, true);
    static const enum fault_action actions[] = {FAULT_FULL, FAULT_ONCE};
    for (size_t i = 0; i < 2; i++) {
        for (uint64_t at = 1; at <= 2; at++) { /* the file, and its sync */
            struct transaction *transaction = begun();
            staging_begin(staging);
            must(staging_add(staging, &rows[0], &why), &why);
            environment_fault(actions[i], at);
            assert_int_equal(staging_end(staging, transaction, 1, &why),
                             i == 0 && at == 1 ? STATUS_FULL : STATUS_SYSTEM);
            environment_fault(FAULT_NONE, 0);
            transaction_abort(transaction);
            assert_int_equal(staging_runs(staging), 1);
        }
    }
    assert_merged();
    (void)add_run(100, 400, 1, true);
    assert_merged();
}

/* ---- setup ---- */

static int
set_up(void **state)
{
    (void)state;
    assert_true(scratch_folder(folder, "waiting"));
    open_staging();
    count = 0;
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    environment_fault(FAULT_NONE, 0);
    close_staging();
    fixture_run("rm -rf %s%s", folder, "");
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(runs_are_read_as_one),
        TEST(long_runs_are_read_as_one),
        TEST(damage_is_found),
        TEST(missing_records_are_told),
        TEST(a_run_without_room_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
