/* Sorted runs, and the engine made of them: beside a plain array as model, with kills at every
 * write, damage at every byte, and a disk that is full for a while. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "queue/frontier/upcoming_jobs.h"
#include "queue/storage/frontier_engine.h"
#include "queue/storage/run_merge.h"
#include "queue/storage/store_batch.h"
#include "tests/unit/brief.h"
#include "tests/unit/moved_clock.h"
#include "tests/unit/queue/queue_fixture.h"
#include "tests/unit/queue/queue_suites.h"

/* ---- a run ---- */

enum { RUN_RECORDS = 3000, SMALL_RECORDS = 60, KEY = 16 };

static const struct run_shape plain = {
    .key_length = KEY, .filter_length = KEY, .block_length = 512};
static const struct run_shape packed = {
    .key_length = KEY, .filter_length = 4, .compress = true, .block_length = 1024};

static char folder[SCRATCH_SIZE];

static int
setup(void **state)
{
    (void)state;
    return scratch_folder(folder, "test_frontier") ? 0 : -1;
}

static int
teardown(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* The i-th key: every second number, so that what lies between is not there. */
static struct slice
key_of(uint32_t i, bool between, uint8_t bytes[KEY])
{
    memset(bytes, 0, KEY);
    codec_write_u32(bytes, i / 7 * 2);
    codec_write_u32(bytes + 12, i * 2 + between);
    return slice_of((const char *)bytes, KEY);
}

static struct slice
value_of(uint32_t i, char text[64])
{
    const int n = snprintf(text, 64, "the value of %u", i);
    return slice_of(text, i % 5 == 0 ? 0 : (size_t)n);
}

static void
write_run(const char *path, const struct run_shape *shape, uint32_t n)
{
    struct run_writer *writer;
    struct run_totals totals;
    struct reason why = {""};
    uint8_t bytes[KEY];
    char text[64];
    assert_int_equal(run_writer_open(&writer, path, shape, n, NULL, NULL, &why), STATUS_OK);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(
            run_writer_add(writer, key_of(i, false, bytes), value_of(i, text), i % 11 == 0, &why),
            STATUS_OK);
    }
    assert_int_equal(run_writer_finish(writer, &totals, &why), STATUS_OK);
    assert_int_equal(totals.records, n);
    assert_int_equal(totals.removed, (n + 10) / 11);
}

static void
check_run(const char *path, const struct run_shape *shape)
{
    struct run *run;
    struct run_cursor cursor;
    struct reason why = {""};
    uint8_t bytes[KEY];
    char text[64];
    uint32_t wrong = 0;
    assert_int_equal(run_open(&run, path, shape, &why), STATUS_OK);
    run_cursor_init(&cursor);
    for (uint32_t i = 0; i < RUN_RECORDS; i++) {
        const struct slice key = key_of(i, false, bytes);
        assert_true(run_may_have(run, key));
        assert_int_equal(run_seek(&cursor, run, key, &why), STATUS_OK);
        assert_false(cursor.ended);
        assert_memory_equal(cursor.key, bytes, KEY);
        assert_true(slice_equal(cursor.value, value_of(i, text)));
        assert_int_equal(cursor.removed, i % 11 == 0);
        wrong += run_may_have(run, key_of(i, true, bytes));
        assert_int_equal(run_seek(&cursor, run, slice_of((char *)bytes, KEY), &why), STATUS_OK);
        assert_int_equal(cursor.ended, i == RUN_RECORDS - 1);
    }
    if (shape->filter_length == KEY) {
        assert_true(wrong < RUN_RECORDS / 25);
    }
    assert_int_equal(run_seek(&cursor, run, (struct slice){"", 0}, &why), STATUS_OK);
    for (uint32_t i = 0; i < RUN_RECORDS; i++) {
        (void)key_of(i, false, bytes);
        assert_memory_equal(cursor.key, bytes, KEY);
        assert_int_equal(run_next(&cursor, &why), STATUS_OK);
    }
    assert_true(cursor.ended);
    run_cursor_release(&cursor);
    run_close(run);
}

static void
test_run_gives_back_what_was_written(void **state)
{
    char path[SCRATCH_SIZE + 8];
    (void)state;
    snprintf(path, sizeof path, "%s/a.run", folder);
    write_run(path, &plain, RUN_RECORDS);
    check_run(path, &plain);
    write_run(path, &packed, RUN_RECORDS);
    check_run(path, &packed);
    struct run *run;
    struct reason why = {""};
    assert_int_equal(run_open(&run, path, &plain, &why), STATUS_CORRUPT); /* another shape */
}

/* Reads all; false: damage was found. What is given must be right. */
static bool
read_all(const char *path, const struct run_shape *shape)
{
    struct run *run;
    struct run_cursor cursor;
    struct reason why = {""};
    uint8_t bytes[KEY];
    char text[64];
    uint32_t i = 0;
    enum status status = run_open(&run, path, shape, &why);
    if (status == STATUS_OK) {
        run_cursor_init(&cursor);
        status = run_seek(&cursor, run, (struct slice){"", 0}, &why);
        for (; status == STATUS_OK && !cursor.ended; i++) {
            const struct slice key = key_of(i, false, bytes);
            assert_true(run_may_have(run, key));
            assert_memory_equal(cursor.key, bytes, KEY);
            assert_true(slice_equal(cursor.value, value_of(i, text)));
            status = run_next(&cursor, &why);
        }
        run_cursor_release(&cursor);
        run_close(run);
    }
    if (status == STATUS_OK) {
        assert_int_equal(i, SMALL_RECORDS);
        return true;
    }
    assert_int_equal(status, STATUS_CORRUPT);
    assert_non_null(strstr(why.text, path));
    return false;
}

static void
test_damage_at_any_byte_is_named(void **state)
{
    const struct run_shape *const shapes[] = {&plain, &packed};
    char path[SCRATCH_SIZE + 8];
    (void)state;
    snprintf(path, sizeof path, "%s/b.run", folder);
    for (int shape = 0; shape < 2; shape++) {
        uint8_t byte;
        write_run(path, shapes[shape], SMALL_RECORDS);
        assert_true(read_all(path, shapes[shape]));
        const int file = open(path, O_RDWR);
        const off_t length = lseek(file, 0, SEEK_END);
        for (off_t at = 0; at < length; at++) {
            assert_int_equal(pread(file, &byte, 1, at), 1);
            byte ^= 0x10;
            assert_int_equal(pwrite(file, &byte, 1, at), 1);
            assert_false(read_all(path, shapes[shape]));
            byte ^= 0x10;
            assert_int_equal(pwrite(file, &byte, 1, at), 1);
        }
        assert_true(read_all(path, shapes[shape]));
        for (off_t at = length - 1; at >= 0; at -= 7) {
            assert_int_equal(ftruncate(file, at), 0);
            assert_false(read_all(path, shapes[shape]));
        }
        close(file);
    }
}

/* ---- the engine beside a model ---- */

enum { KEYS = 400, BATCH = 40, BATCHES = 250, TREES = 3, REOPEN = 60, RUNS_AT_REST = TREES * 8 };

static const struct {
    enum store_tree tree;
    uint8_t key_length;
} trees[TREES] = {{TREE_SEEN, 16}, {TREE_FETCH, 25}, {TREE_LANES, 8}};

struct model {
    uint32_t values[TREES][KEYS]; /* 0: not there */
};

static struct slice
tree_key(int tree, uint32_t i, uint8_t bytes[STORE_KEY_MAXIMUM])
{
    memset(bytes, 0, STORE_KEY_MAXIMUM);
    codec_write_u32(bytes + 1, i / 10); /* a lane of ten jobs */
    codec_write_u16(bytes + trees[tree].key_length - 2, (uint16_t)(i * 3));
    return slice_of((char *)bytes, trees[tree].key_length);
}

/* The n-th batch: what it does follows from n alone. */
static void
make_batch(uint32_t n, struct store_batch *batch, struct model *model)
{
    unsigned seed = n * 77 + 1;
    for (int i = 0; i < BATCH; i++) {
        const int tree = rand_r(&seed) % TREES;
        const uint32_t key = (uint32_t)rand_r(&seed) % KEYS;
        const bool remove = rand_r(&seed) % 3 == 0;
        uint8_t bytes[STORE_KEY_MAXIMUM];
        char text[300];
        const uint32_t value = n * BATCH + (uint32_t)i + 1;
        memset(text, 'a' + i % 20, sizeof text);
        codec_write_u32((uint8_t *)text, value);
        if (remove) {
            store_batch_remove(batch, trees[tree].tree, tree_key(tree, key, bytes));
        } else {
            store_batch_put(batch, trees[tree].tree, tree_key(tree, key, bytes),
                            slice_of(text, 4 + value % 290));
        }
        model->values[tree][key] = remove ? 0 : value;
    }
    store_batch_put(batch, TREE_PEERS, SLICE("batch"), slice_of((const char *)&n, sizeof n));
    store_batch_sort(batch);
}

struct model_scan {
    const struct model *model;
    int tree;
    uint32_t next, end; /* keys */
    uint32_t found;
};

static bool
next_is_as_in_model(void *context, struct slice key, struct slice value)
{
    struct model_scan *scan = context;
    uint8_t bytes[STORE_KEY_MAXIMUM];
    while (scan->next < scan->end && scan->model->values[scan->tree][scan->next] == 0) {
        scan->next++;
    }
    if (scan->next == scan->end || !slice_equal(key, tree_key(scan->tree, scan->next, bytes)) ||
        codec_read_u32((const uint8_t *)value.at) != scan->model->values[scan->tree][scan->next]) {
        scan->found = UINT32_MAX;
        return false;
    }
    scan->next++;
    scan->found++;
    return true;
}

static uint32_t
count_of(const struct model *model, int tree, uint32_t first, uint32_t end)
{
    uint32_t n = 0;
    for (uint32_t i = first; i < end; i++) {
        n += model->values[tree][i] != 0;
    }
    return n;
}

/* What the store holds is what the model does: by scans of all, of parts, and one by one. */
static bool
is_as_model(struct frontier *store, const struct model *model)
{
    struct reason why = {""};
    uint8_t bytes[STORE_KEY_MAXIMUM];
    for (int tree = 0; tree < TREES; tree++) {
        struct model_scan scan = {.model = model, .tree = tree, .end = KEYS};
        if (frontier_scan(store, trees[tree].tree, (struct slice){"", 0}, next_is_as_in_model,
                          &scan, &why) != STATUS_OK) {
            fail_msg("%s", why.text);
        }
        if (scan.found != count_of(model, tree, 0, KEYS)) {
            return false;
        }
        for (uint32_t lane = 0; lane < KEYS / 10 && trees[tree].tree == TREE_FETCH; lane++) {
            scan = (struct model_scan){
                .model = model, .tree = tree, .next = lane * 10 + 3, .end = lane * 10 + 10};
            assert_int_equal(frontier_scan_within(store, TREE_FETCH,
                                                  tree_key(tree, scan.next, bytes), 9,
                                                  next_is_as_in_model, &scan, &why),
                             STATUS_OK);
            if (scan.found != count_of(model, tree, lane * 10 + 3, lane * 10 + 10)) {
                return false;
            }
        }
        for (uint32_t i = 0; i < KEYS; i++) {
            struct slice value;
            const enum status status =
                frontier_get(store, trees[tree].tree, tree_key(tree, i, bytes), &value, &why);
            const uint32_t wanted = model->values[tree][i];
            if (status != (wanted == 0 ? STATUS_NOT_FOUND : STATUS_OK) ||
                (wanted != 0 && codec_read_u32((const uint8_t *)value.at) != wanted)) {
                return false;
            }
        }
    }
    return true;
}

static struct store_options
options_of(store_fault *fault, void *context, bool threads)
{
    return (struct store_options){.folder = folder,
                                  .cache_bytes = 1 << 20,
                                  .checkpoint_bytes = 1 << 20,
                                  .checkpoint_ms = 60000,
                                  .lock_wait_ms = 1000,
                                  .recent_bytes = 20000,
                                  .threads = threads,
                                  .fault = fault,
                                  .fault_context = context};
}

static struct frontier *
open_store(store_fault *fault, void *context, bool threads)
{
    const struct store_options options = options_of(fault, context, threads);
    struct frontier *store;
    struct reason why = {""};
    if (frontier_open(&store, &options, &why) != STATUS_OK) {
        fail_msg("%s", why.text);
    }
    return store;
}

static enum status
apply(struct frontier *store, uint32_t n, struct model *model, struct reason *why)
{
    struct store_batch batch;
    store_batch_init(&batch);
    make_batch(n, &batch, model);
    const enum status status = frontier_apply(
        store, (const struct store_operation *const *)batch.operations, batch.count, why);
    store_batch_release(&batch);
    return status;
}

static void
beside_model(bool threads)
{
    struct model model = {0};
    struct reason why = {""};
    struct frontier *store = open_store(NULL, NULL, threads);
    const uint32_t batches = (uint32_t)brief(BATCHES, BATCHES / 2);
    uint64_t written = 0;
    for (uint32_t n = 0; n < batches; n++) {
        assert_int_equal(apply(store, n, &model, &why), STATUS_OK);
        if (n % 10 == 9) {
            assert_true(is_as_model(store, &model));
        }
        if (n % REOPEN == REOPEN - 1) {
            written += frontier_figures(store).written;
            frontier_close(store);
            store = open_store(NULL, NULL, threads);
            assert_true(is_as_model(store, &model));
        }
    }
    /* Merges catch up when nothing comes. */
    for (int i = 0; i < 10000 && frontier_figures(store).runs >= RUNS_AT_REST; i++) {
        uint64_t wait_ms;
        assert_int_equal(frontier_tick(store, &wait_ms, &why), STATUS_OK);
        (void)usleep(1000);
    }
    const struct frontier_figures figures = frontier_figures(store);
    assert_true(figures.runs > 0 && figures.runs < RUNS_AT_REST);
    assert_true(written + figures.written > 0);
    frontier_close(store);
}

static void
test_engine_beside_model(void **state)
{
    (void)state;
    beside_model(false);
}

static void
test_engine_with_threads_beside_model(void **state)
{
    (void)state;
    beside_model(true);
}

/* ---- kills ---- */

struct killer {
    uint32_t left, *applied;
};

static int
count_down(void *context, enum store_point point)
{
    struct killer *killer = context;
    (void)point;
    if (killer->left-- == 0) {
        _exit(9);
    }
    return 0;
}

enum { KILL_BATCHES = 60 };

/* Applies batches from the first that is not there, until all are, or the kill strikes. */
static void
run_until_killed(uint32_t strikes, uint32_t *applied)
{
    struct killer killer = {.left = strikes};
    struct model model = {0};
    struct reason why = {""};
    struct frontier *store = open_store(count_down, &killer, false);
    for (uint32_t n = *applied; n < KILL_BATCHES; n++) {
        if (apply(store, n, &model, &why) != STATUS_OK) {
            _exit(1);
        }
        *applied = n + 1;
    }
    frontier_close(store);
    _exit(0);
}

/* All up to the last that was confirmed, and perhaps one more. */
static void
check_after_kill(uint32_t *applied)
{
    struct model model = {0};
    struct frontier *store = open_store(NULL, NULL, false);
    for (uint32_t n = 0; n < *applied; n++) {
        struct store_batch batch;
        store_batch_init(&batch);
        make_batch(n, &batch, &model);
        store_batch_release(&batch);
    }
    if (!is_as_model(store, &model)) {
        struct store_batch batch;
        store_batch_init(&batch);
        make_batch((*applied)++, &batch, &model);
        store_batch_release(&batch);
        assert_true(is_as_model(store, &model));
    }
    frontier_close(store);
}

/* Each start is killed a step later than the one before, on what that left; when all is done, from
 * the beginning: so steps of every kind, at all states, are the last ones. */
static void
test_killed_at_every_step(void **state)
{
    uint32_t *applied =
        mmap(NULL, sizeof *applied, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char command[128];
    uint32_t kills = 0;
    (void)state;
    *applied = 0;
    for (uint32_t strikes = 0; strikes < 120; strikes++) {
        int status;
        const pid_t child = fork();
        if (child == 0) {
            run_until_killed(strikes, applied);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_true(WEXITSTATUS(status) == 9 || WEXITSTATUS(status) == 0);
        kills += WEXITSTATUS(status) == 9;
        check_after_kill(applied);
        if (*applied >= KILL_BATCHES) {
            *applied = 0;
            snprintf(command, sizeof command, "rm -rf %s/*", folder);
            assert_int_equal(system(command), 0);
        }
    }
    assert_true(kills > 80);
    munmap(applied, sizeof *applied);
}

/* ---- a full disk ---- */

static int
no_room_for_runs(void *context, enum store_point point)
{
    return point == STORE_RUN_WRITE && *(const bool *)context ? ENOSPC : 0;
}

static void
test_full_disk_loses_nothing(void **state)
{
    struct model model = {0};
    struct model before = {0};
    struct reason why = {""};
    bool full = true;
    struct frontier *store = open_store(no_room_for_runs, &full, false);
    uint32_t n = 0;
    enum status status = STATUS_OK;
    (void)state;
    for (; n < BATCHES && status == STATUS_OK; n++) {
        before = model;
        status = apply(store, n, &model, &why);
    }
    assert_int_equal(status, STATUS_FULL);
    assert_non_null(strstr(why.text, folder));
    assert_true(n > 10); /* memory takes some */
    assert_true(is_as_model(store, &before));
    full = false;
    clock_move(1100);
    uint64_t wait;
    assert_int_equal(frontier_tick(store, &wait, &why), STATUS_OK);
    model = before;
    for (n--; n < BATCHES; n++) {
        assert_int_equal(apply(store, n, &model, &why), STATUS_OK);
    }
    assert_true(is_as_model(store, &model));
    assert_true(frontier_figures(store).runs > 0);
    frontier_close(store);
}

/* ---- opening what is there ---- */

static void
test_damaged_run_is_named_at_start(void **state)
{
    struct model model = {0};
    struct reason why = {""};
    char command[160];
    struct frontier *store = open_store(NULL, NULL, false);
    const struct store_options options = options_of(NULL, NULL, false);
    (void)state;
    for (uint32_t n = 0; n < 40; n++) {
        assert_int_equal(apply(store, n, &model, &why), STATUS_OK);
    }
    frontier_close(store);
    snprintf(command, sizeof command, "for f in %s/runs/fetch-*; do truncate -s -3 $f; done",
             folder);
    assert_int_equal(system(command), 0);
    assert_int_equal(frontier_open(&store, &options, &why), STATUS_CORRUPT);
    assert_non_null(strstr(why.text, "/runs/fetch-"));
    snprintf(command, sizeof command, "rm %s/runs/fetch-*", folder);
    assert_int_equal(system(command), 0);
    assert_int_equal(frontier_open(&store, &options, &why), STATUS_CORRUPT);
    assert_non_null(strstr(why.text, "is missing"));
}

/* ---- heads ---- */

/* One lane, more jobs than a head holds: in order, each once, and what comes later but is more
 * urgent goes first; so does what was given back. */
static void
test_heads_follow_what_happens(void **state)
{
    enum { JOBS = 60 };
    struct bench *bench = bench_new(NULL, NULL);
    char uri[64];
    uint32_t turns = 0;
    (void)state;
    for (int i = 0; i < JOBS; i++) {
        snprintf(uri, sizeof uri, "http://example.org/%02d", i);
        put_uri(bench, STAGE_FETCH, uri, 1);
    }
    for (int i = 0; i < JOBS; i++, turns++) {
        snprintf(uri, sizeof uri, "http://example.org/%02d", i);
        assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 5), 1);
        if (!slice_is(bench->jobs[0].uri, uri)) {
            fail_msg("%.*s instead of %s", SLICE_PRINT(bench->jobs[0].uri), uri);
        }
        if (i % 7 == 3) {
            give_back(bench, "w", &bench->jobs[0], 0, true);
            assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 5), 1);
            assert_true(slice_is(bench->jobs[0].uri, uri));
        }
        if (i % 20 == 10) {
            struct job urgent = a_job(STAGE_FETCH, "");
            snprintf(uri, sizeof uri, "http://example.org/urgent%d", i);
            urgent.uri = slice_string(uri);
            urgent.priority = 5;
            const struct job held = bench->jobs[0];
            char held_uri[64];
            snprintf(held_uri, sizeof held_uri, "%.*s", SLICE_PRINT(held.uri));
            assert_int_equal(put_jobs(bench, &urgent, 1), STATUS_OK);
            done(bench, "w", &held);
            assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 5), 1);
            assert_true(slice_is(bench->jobs[0].uri, uri));
        }
        done(bench, "w", &bench->jobs[0]);
    }
    assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 5), 0);
    assert_int_equal(stats(bench).lanes, 0);
    bench_free(bench);
}

/* Lanes take turns: of many lanes no job waits while those of others go on and on. */
static void
test_lanes_take_turns(void **state)
{
    enum { LANES = 8, EACH = 100 };
    struct bench *bench = bench_new(NULL, NULL);
    uint32_t served[LANES] = {0};
    char uri[64];
    (void)state;
    for (int i = 0; i < LANES * EACH; i++) {
        snprintf(uri, sizeof uri, "http://host%d.example/%d", i % LANES, i);
        put_uri(bench, STAGE_FETCH, uri, 1);
    }
    for (int i = 0; i < LANES * EACH / 2; i++) {
        assert_int_equal(reserve(bench, "w", 1, STAGE_FETCH, 1), 1);
        served[bench->jobs[0].uri.at[strlen("http://host")] - '0']++;
        done(bench, "w", &bench->jobs[0]);
    }
    for (int lane = 0; lane < LANES; lane++) {
        assert_in_range(served[lane], EACH / 2 - 20, EACH / 2 + 20);
    }
    bench_free(bench);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_run_gives_back_what_was_written),
        CASE(test_damage_at_any_byte_is_named),
        CASE(test_engine_beside_model),
        CASE(test_engine_with_threads_beside_model),
        CASE(test_killed_at_every_step),
        CASE(test_full_disk_loses_nothing),
        CASE(test_damaged_run_is_named_at_start),
        cmocka_unit_test(test_heads_follow_what_happens),
        cmocka_unit_test(test_lanes_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) + run_writes_run() + frontier_runs_run() +
           run_lies_run();
}
