/* Runs and the store made of them, to the byte: what is synced before it is told of, each call
 * that fails, limits, rows that are damaged, and which runs are merged when, beside a model. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "queue/storage/frontier_engine.h"
#include "queue/storage/run.h"
#include "queue/storage/run_merge.h"
#include "queue/storage/store_batch.h"
#include "tests/unit/metastore/failing_database.h"
#include "tests/unit/moved_clock.h"
#include "tests/unit/queue/queue_fixture.h"
#include "tests/unit/queue/queue_suites.h"

enum { RETRY_MS = 1000, LOOK_MS = 100, NEVER = 1 << 30 };

static const struct run_shape of_lanes = {
    .key_length = 8, .filter_length = 8, .block_length = 2048};

/* ---- a place for it ---- */

struct place {
    char folder[SCRATCH_SIZE];
    struct store_options options;
    struct frontier *store;
    uint64_t empty;     /* bytes of memory without records */
    atomic_int writing; /* calls of writing runs that have begun and not ended */
    int run_error;      /* errno of writing runs; 0: none */
    sem_t *wait;        /* that writing runs waits for; NULL: it does not */
};

static int
strike_store(void *context, enum store_point point)
{
    struct place *place = context;
    if (point != STORE_RUN_WRITE) {
        return 0;
    }
    place->writing++;
    if (place->wait != NULL) {
        (void)sem_wait(place->wait);
        (void)sem_post(place->wait);
    }
    place->writing--;
    return place->run_error;
}

static int
setup(void **state)
{
    static struct place place;
    place = (struct place){.run_error = 0};
    assert_true(scratch_folder(place.folder, "test_frontier"));
    place.options = (struct store_options){.folder = place.folder,
                                           .cache_bytes = 1 << 20,
                                           .checkpoint_bytes = NEVER,
                                           .checkpoint_ms = NEVER,
                                           .recent_bytes = NEVER,
                                           .fault = strike_store,
                                           .fault_context = &place};
    failing_database = (struct failing_database){.calls = -1};
    clock_stop();
    assert_int_equal(frontier_open(&place.store, &place.options, NULL), STATUS_OK);
    place.empty = frontier_figures(place.store).recent_memory;
    frontier_close(place.store);
    place.store = NULL;
    place.options.recent_bytes = place.empty + 1; /* each commit's records become a run */
    *state = &place;
    return 0;
}

static int
teardown(void **state)
{
    struct place *place = *state;
    char command[SCRATCH_SIZE + 16];
    failing_database = (struct failing_database){.calls = -1};
    frontier_close(place->store);
    clock_go();
    snprintf(command, sizeof command, "rm -rf %s", place->folder);
    return system(command);
}

/* ---- the store ---- */

static void
open_store(struct place *place)
{
    struct reason why = {""};
    if (frontier_open(&place->store, &place->options, &why) != STATUS_OK) {
        fail_msg("%s", why.text);
    }
}

/* "+key=value" puts and "-key" removes, of lanes; keys have eight letters. */
static enum status
apply_lanes(struct place *place, const char *const *changes, size_t n, struct reason *why)
{
    struct store_batch batch;
    store_batch_init(&batch);
    for (size_t i = 0; i < n; i++) {
        const struct slice key = slice_of(changes[i] + 1, 8);
        if (changes[i][0] == '-') {
            store_batch_remove(&batch, TREE_LANES, key);
        } else {
            store_batch_put(&batch, TREE_LANES, key, slice_string(changes[i] + 10));
        }
    }
    store_batch_sort(&batch);
    const enum status status = frontier_apply(
        place->store, (const struct store_operation *const *)batch.operations, batch.count, why);
    store_batch_release(&batch);
    return status;
}

static void
apply_one(struct place *place, const char *change)
{
    struct reason why = {""};
    if (apply_lanes(place, &change, 1, &why) != STATUS_OK) {
        fail_msg("%s", why.text);
    }
}

static enum status
value_of(struct place *place, const char *key, char text[16])
{
    struct slice value = {"", 0};
    struct reason why = {""};
    const enum status status =
        frontier_get(place->store, TREE_LANES, slice_string(key), &value, &why);
    snprintf(text, 16, "%.*s", SLICE_PRINT(value));
    return status;
}

/* Files of runs of lanes: their numbers as bits, and bytes. */
struct files {
    uint64_t numbers, bytes;
    uint64_t sizes[64];
};

static struct files
files_of(const struct place *place)
{
    struct files files = {0};
    char path[SCRATCH_SIZE + 300];
    snprintf(path, sizeof path, "%s/runs", place->folder);
    DIR *folder = opendir(path);
    assert_non_null(folder);
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        unsigned number;
        struct stat about;
        if (sscanf(entry->d_name, "lanes-%u.run", &number) == 1) {
            assert_int_equal(fstatat(dirfd(folder), entry->d_name, &about, 0), 0);
            assert_true(number < 64);
            files.numbers |= (uint64_t)1 << number;
            files.sizes[number] = (uint64_t)about.st_size;
            files.bytes += (uint64_t)about.st_size;
        }
    }
    (void)closedir(folder);
    return files;
}

struct model_run {
    unsigned number, level;
};

/* Newest first. What is to be merged is chosen before the run that is just written is one of them.
 */
struct model {
    struct model_run runs[64];
    unsigned count, next;
};

static void
model_flush(struct model *model)
{
    unsigned first = 0, count = 0;
    for (unsigned at = 0; at < model->count && count < 4; at += count < 4 ? count : 0) {
        first = at;
        for (count = 0;
             at + count < model->count && model->runs[at + count].level == model->runs[at].level;) {
            count++;
        }
    }
    const unsigned number = model->next++;
    if (count >= 4) {
        model->runs[first] = (struct model_run){model->next++, model->runs[first].level + 1};
        memmove(&model->runs[first + 1], &model->runs[first + count],
                (model->count - first - count) * sizeof model->runs[0]);
        model->count -= count - 1;
    }
    memmove(&model->runs[1], &model->runs[0], model->count * sizeof model->runs[0]);
    model->runs[0] = (struct model_run){number, 0};
    model->count++;
}

/* Four runs of a level become one of the next, and all that was written is counted. */
static void
test_runs_are_merged_by_fours(void **state)
{
    struct place *place = *state;
    struct model model = {.next = 1};
    struct files before = {0};
    uint64_t written = 0;
    open_store(place);
    for (unsigned i = 0; model.next < 60; i++) {
        char change[32], text[16];
        uint64_t expected = 0;
        snprintf(change, sizeof change, "+%08u=%u", i, i);
        apply_one(place, change);
        model_flush(&model);
        const struct files now = files_of(place);
        for (unsigned run = 0; run < model.count; run++) {
            expected |= (uint64_t)1 << model.runs[run].number;
        }
        assert_int_equal(now.numbers, expected);
        for (unsigned number = 0; number < 64; number++) {
            written += (now.numbers & ~before.numbers) >> number & 1 ? now.sizes[number] : 0;
        }
        before = now;
        const struct frontier_figures figures = frontier_figures(place->store);
        assert_int_equal(figures.runs, model.count);
        assert_int_equal(figures.bytes, now.bytes);
        assert_int_equal(figures.records, i + 1);
        assert_int_equal(figures.recent_memory, place->empty);
        assert_int_equal(figures.written, written);
        assert_in_range(figures.run_memory, model.count, model.count * 4096);
        snprintf(change, sizeof change, "%08u", i / 2);
        assert_int_equal(value_of(place, change, text), STATUS_OK);
        assert_int_equal(strtoul(text, NULL, 10), i / 2);
    }
    assert_true(model.runs[model.count - 1].level == 2);
}

/* All runs become one when a third of their records say that something is not there, and what is
 * not there is in no run then. */
static void
test_removals_are_merged_away(void **state)
{
    struct place *place = *state;
    char text[16];
    open_store(place);
    assert_int_equal(apply_lanes(place,
                                 (const char *const[]){"+aaaaaaaa=1", "+bbbbbbbb=2", "+cccccccc=3"},
                                 3, NULL),
                     STATUS_OK);
    apply_one(place, "-aaaaaaaa");
    apply_one(place, "+dddddddd=4"); /* a removal and three records; this one is the fourth */
    assert_int_equal(frontier_figures(place->store).runs, 3);
    apply_one(place, "-bbbbbbbb");
    assert_int_equal(frontier_figures(place->store).records, 6);
    apply_one(place, "+eeeeeeee=5"); /* two of six */
    assert_int_equal(frontier_figures(place->store).runs, 2);
    assert_int_equal(frontier_figures(place->store).records, 3); /* c and d, and e */
    assert_int_equal(value_of(place, "aaaaaaaa", text), STATUS_NOT_FOUND);
    assert_int_equal(value_of(place, "cccccccc", text), STATUS_OK);
    apply_one(place, "-cccccccc");
    apply_one(place, "-dddddddd");
    apply_one(place, "-eeeeeeee");
    for (int i = 0; i < 3; i++) {
        uint64_t wait_ms;
        assert_int_equal(frontier_tick(place->store, &wait_ms, NULL), STATUS_OK);
    }
    assert_int_equal(frontier_figures(place->store).runs, 0); /* nothing was left */
    assert_int_equal(files_of(place).numbers, 0);
}

/* Figures are of the runs of all trees. */
static void
test_each_tree_counts(void **state)
{
    static const enum store_tree trees[] = {TREE_SEEN, TREE_REVISITS, TREE_LANES, TREE_FETCH};
    struct place *place = *state;
    open_store(place);
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
        struct store_batch batch;
        store_batch_init(&batch);
        const size_t length = trees[i] == TREE_LANES ? 8 : trees[i] == TREE_FETCH ? 25 : 16;
        store_batch_put(&batch, trees[i], slice_of("abcdefghijklmnopqrstuvwxy", length),
                        SLICE("1"));
        store_batch_sort(&batch);
        assert_int_equal(frontier_apply(place->store,
                                        (const struct store_operation *const *)batch.operations,
                                        batch.count, NULL),
                         STATUS_OK);
        store_batch_release(&batch);
        assert_int_equal(frontier_figures(place->store).records, i + 1);
        assert_int_equal(frontier_figures(place->store).runs, i + 1);
    }
    assert_true(frontier_figures(place->store).recent_memory >= place->empty);
    assert_true(place->empty > 0);
}

/* ---- what waits ---- */

/* Merging needs the room of what it reads, and is tried again after a while. */
static void
test_merges_wait_for_room(void **state)
{
    struct place *place = *state;
    uint64_t wait_ms;
    place->options.cache_bytes = 0; /* so that no pages of it are promised */
    open_store(place);
    for (int i = 0; i < 4; i++) {
        char change[32];
        snprintf(change, sizeof change, "+%08d=%d", i, i);
        apply_one(place, change);
    }
    const uint64_t bytes = frontier_figures(place->store).bytes + place->empty;
    failing_database.free = bytes - 1;
    assert_int_equal(frontier_tick(place->store, &wait_ms, NULL), STATUS_OK);
    assert_int_equal(frontier_figures(place->store).runs, 4);
    failing_database.free = bytes;
    clock_move(RETRY_MS - 1);
    assert_int_equal(frontier_tick(place->store, &wait_ms, NULL), STATUS_OK);
    assert_int_equal(frontier_figures(place->store).runs, 4);
    clock_move(1);
    assert_int_equal(frontier_tick(place->store, &wait_ms, NULL), STATUS_OK);
    assert_int_equal(frontier_figures(place->store).runs, 1);
}

static void
test_runs_that_cannot_be_written_are_tried_again(void **state)
{
    struct place *place = *state;
    uint64_t wait_ms;
    char text[16];
    open_store(place);
    place->run_error = EIO;
    apply_one(place, "+aaaaaaaa=1");
    assert_int_equal(files_of(place).numbers, 0);
    assert_int_equal(value_of(place, "aaaaaaaa", text), STATUS_OK);
    place->run_error = 0;
    clock_move(RETRY_MS - 1);
    assert_int_equal(frontier_tick(place->store, &wait_ms, NULL), STATUS_OK);
    assert_int_equal(frontier_figures(place->store).runs, 0);
    clock_move(1);
    assert_int_equal(frontier_tick(place->store, &wait_ms, NULL), STATUS_OK);
    assert_int_equal(frontier_figures(place->store).runs, 1);
    assert_int_equal(frontier_figures(place->store).recent_memory, place->empty);
}

static void
test_a_damaged_run_stops_its_merge(void **state)
{
    struct place *place = *state;
    struct reason why = {""};
    uint64_t wait_ms;
    char path[SCRATCH_SIZE + 32];
    open_store(place);
    for (int i = 0; i < 4; i++) {
        char change[32];
        snprintf(change, sizeof change, "+%08d=%d", i, i);
        apply_one(place, change);
    }
    snprintf(path, sizeof path, "%s/runs/lanes-2.run", place->folder);
    const int file = open(path, O_WRONLY);
    assert_int_equal(pwrite(file, "X", 1, 12), 1);
    (void)close(file);
    assert_int_equal(frontier_tick(place->store, &wait_ms, &why), STATUS_CORRUPT);
    assert_non_null(strstr(why.text, path));
    assert_int_equal(files_of(place).numbers, 30); /* 1 to 4, and none that is half done */
}

/* While a run is written beside, what goes into it is still read, and is looked at soon. */
static void
test_work_under_way_is_looked_at(void **state)
{
    struct place *place = *state;
    sem_t wait;
    uint64_t wait_ms = 0;
    char text[16];
    assert_int_equal(sem_init(&wait, 0, 0), 0);
    place->options.threads = true;
    place->options.recent_bytes = place->empty + 100;
    place->options.checkpoint_ms = LOOK_MS + 1;
    open_store(place);
    assert_int_equal(frontier_tick(place->store, &wait_ms, NULL), STATUS_OK);
    assert_int_equal(wait_ms, LOOK_MS + 1);
    place->wait = &wait;
    apply_one(place, "+aaaaaaaa=a value of more than a hundred bytes, with what each record takes "
                     "beside it, so that it leaves memory");
    apply_one(place, "+bbbbbbbb=2");
    assert_int_equal(frontier_tick(place->store, &wait_ms, NULL), STATUS_OK);
    assert_int_equal(wait_ms, LOOK_MS);
    assert_int_equal(value_of(place, "aaaaaaaa", text), STATUS_OK);
    assert_int_equal(value_of(place, "bbbbbbbb", text), STATUS_OK);
    assert_int_equal(frontier_figures(place->store).runs, 0);
    (void)sem_post(&wait);
    while (frontier_figures(place->store).runs == 0) {
        (void)usleep(100);
        assert_int_equal(frontier_tick(place->store, &wait_ms, NULL), STATUS_OK);
    }
    place->wait = NULL;
    assert_int_equal(value_of(place, "aaaaaaaa", text), STATUS_OK);
    assert_int_equal(value_of(place, "bbbbbbbb", text), STATUS_OK);
    frontier_close(place->store);
    place->store = NULL;
    (void)sem_destroy(&wait);
}

static void *
let_go_soon(void *context)
{
    (void)usleep(50000);
    (void)sem_post(context);
    return NULL;
}

/* Who closes waits for what is being written, and leaves no run that nobody knows of. */
static void
test_closing_waits_for_work(void **state)
{
    struct place *place = *state;
    sem_t wait;
    pthread_t helper;
    char text[16];
    assert_int_equal(sem_init(&wait, 0, 0), 0);
    place->options.threads = true;
    open_store(place);
    place->wait = &wait;
    apply_one(place, "+aaaaaaaa=1");
    while (place->writing == 0) {
        (void)usleep(100);
    }
    assert_int_equal(pthread_create(&helper, NULL, let_go_soon, &wait), 0);
    frontier_close(place->store);
    assert_int_equal(place->writing, 0);
    place->store = NULL;
    place->wait = NULL;
    assert_int_equal(pthread_join(helper, NULL), 0);
    (void)sem_destroy(&wait);
    assert_int_equal(files_of(place).numbers, 0);
    open_store(place);
    assert_int_equal(value_of(place, "aaaaaaaa", text), STATUS_OK);
}

/* ---- what is refused ---- */

static void
test_records_that_no_run_can_hold_are_refused(void **state)
{
    struct place *place = *state;
    struct reason why = {""};
    char *value = memory_zero(RUN_VALUE_MAXIMUM + 1, 1);
    static const struct slice keys[] = {SLICE_INIT("1234567"), SLICE_INIT("12345678"),
                                        SLICE_INIT("123456789")};
    open_store(place);
    for (int k = 0; k < 3; k++) {
        for (int more = 0; more < 2; more++) {
            struct store_batch batch;
            struct slice found;
            const bool fits = k == 1 && more == 0;
            store_batch_init(&batch);
            store_batch_put(&batch, TREE_LANES, keys[k],
                            slice_of(value, RUN_VALUE_MAXIMUM + (size_t)more));
            store_batch_put(&batch, TREE_PEERS, SLICE("beside"), SLICE("1"));
            store_batch_sort(&batch);
            assert_int_equal(frontier_get(place->store, TREE_PEERS, SLICE("beside"), &found, &why),
                             k > 1 || (k == 1 && more > 0) ? STATUS_OK : STATUS_NOT_FOUND);
            assert_int_equal(frontier_apply(place->store,
                                            (const struct store_operation *const *)batch.operations,
                                            batch.count, &why),
                             fits ? STATUS_OK : STATUS_MISUSE);
            assert_true(fits || strstr(why.text, "a record that no run can hold") != NULL);
            store_batch_release(&batch);
        }
    }
    free(value);
}

/* What is in memory wants room when it leaves it. */
static void
test_room_is_less_what_is_in_memory(void **state)
{
    struct place *place = *state;
    uint64_t room = 0;
    place->options.recent_bytes = NEVER;
    place->options.cache_bytes = 0; /* the library has one of its own */
    failing_database.free = 1 << 20;
    open_store(place);
    apply_one(place, "+aaaaaaaa=1");
    const uint64_t recent = frontier_figures(place->store).recent_memory;
    assert_true(recent > place->empty);
    assert_int_equal(frontier_room(place->store, &room, NULL), STATUS_OK);
    assert_int_equal(room, (1 << 20) - recent);
    failing_database.free = recent - 1;
    assert_int_equal(frontier_room(place->store, &room, NULL), STATUS_OK);
    assert_int_equal(room, 0);
    failing_database.no_disk = true;
    assert_int_equal(frontier_room(place->store, &room, NULL), STATUS_SYSTEM);
}

/* ---- rows below ---- */

static void
write_below(struct place *place, enum store_tree tree, struct slice key, struct slice value)
{
    struct store *below;
    struct store_batch batch;
    struct reason why = {""};
    assert_int_equal(store_open(&below, &place->options, &why), STATUS_OK);
    store_batch_init(&batch);
    if (value.at == NULL) {
        store_batch_remove(&batch, tree, key);
    } else {
        store_batch_put(&batch, tree, key, value);
    }
    store_batch_sort(&batch);
    assert_int_equal(store_apply(below, (const struct store_operation *const *)batch.operations,
                                 batch.count, &why),
                     STATUS_OK);
    store_batch_release(&batch);
    store_close(below);
}

static void
test_damage_below_is_named(void **state)
{
    static const char journal[] = "of the journal is damaged";
    static const char runs[] = "the list of runs is damaged";
    static const struct {
        enum store_tree tree;
        struct slice key, value;
        const char *text; /* NULL: it opens */
    } cases[] = {
        {TREE_JOURNAL, SLICE_INIT("\0\0\0\0\0\0\0\1"), SLICE_INIT("l\0aaaaaaaa\1v"), NULL},
        {TREE_JOURNAL, SLICE_INIT("\0\0\0\0\0\0\0\1"), SLICE_INIT("l\0aaaaaaaa\1vl\1bbbbbbbb\0"),
         NULL},
        {TREE_JOURNAL, SLICE_INIT("\0\0\0\0\0\0\0\1"), SLICE_INIT(""), NULL},
        {TREE_JOURNAL, SLICE_INIT("\0\0\0\0\0\0\1"), SLICE_INIT("l\0aaaaaaaa\1v"), journal},
        {TREE_JOURNAL, SLICE_INIT("\0\0\0\0\0\0\0\1"), SLICE_INIT("x\0aaaaaaaa\1v"), journal},
        {TREE_JOURNAL, SLICE_INIT("\0\0\0\0\0\0\0\1"), SLICE_INIT("l\2aaaaaaaa\1v"), journal},
        {TREE_JOURNAL, SLICE_INIT("\0\0\0\0\0\0\0\1"), SLICE_INIT("l\0aaaaaaa"), journal},
        {TREE_JOURNAL, SLICE_INIT("\0\0\0\0\0\0\0\1"), SLICE_INIT("l\0aaaaaaaa"), journal},
        {TREE_JOURNAL, SLICE_INIT("\0\0\0\0\0\0\0\1"), SLICE_INIT("l\0aaaaaaaa\2v"), journal},
        {TREE_RUNS, SLICE_INIT("l\0\0\0\0\0\0\1"), SLICE_INIT("\0"), runs},
        {TREE_RUNS, SLICE_INIT("l\0\0\0\0\0\0\0\1x"), SLICE_INIT("\0"), runs},
        {TREE_RUNS, SLICE_INIT("x\0\0\0\0\0\0\0\1"), SLICE_INIT("\0"), runs},
        {TREE_RUNS, SLICE_INIT("l\0\0\0\0\0\0\0\1"), SLICE_INIT(""), runs},
        {TREE_RUNS, SLICE_INIT("l\0\0\0\0\0\0\0\1"), SLICE_INIT("\0\0"), runs},
        {TREE_RUNS, SLICE_INIT("l\0\0\0\0\0\0\0\1"), SLICE_INIT("\0"), "lanes-1.run is missing"},
    };
    struct place *place = *state;
    place->options.recent_bytes = NEVER;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct reason why = {""};
        char text[16];
        write_below(place, cases[i].tree, cases[i].key, cases[i].value);
        const enum status status = frontier_open(&place->store, &place->options, &why);
        assert_int_equal(status, cases[i].text == NULL ? STATUS_OK : STATUS_CORRUPT);
        if (status == STATUS_OK) {
            assert_int_equal(value_of(place, "aaaaaaaa", text),
                             cases[i].value.length > 0 ? STATUS_OK : STATUS_NOT_FOUND);
            assert_int_equal(value_of(place, "bbbbbbbb", text), STATUS_NOT_FOUND);
            frontier_close(place->store);
            place->store = NULL;
        } else if (strstr(why.text, cases[i].text) == NULL) {
            fail_msg("case %zu: %s", i, why.text);
        }
        write_below(place, cases[i].tree, cases[i].key, (struct slice){NULL, 0});
    }
    /* What is in runs is not read again. */
    write_below(place, TREE_ABOUT, SLICE("flushed"), SLICE("\0\0\0\0\0\0\0\1"));
    write_below(place, TREE_JOURNAL, SLICE("\0\0\0\0\0\0\0\1"), SLICE("no journal"));
    open_store(place);
    frontier_close(place->store);
    write_below(place, TREE_JOURNAL, SLICE("\0\0\0\0\0\0\0\2"), SLICE("no journal"));
    assert_int_equal(frontier_open(&place->store, &place->options, NULL), STATUS_CORRUPT);
}

static void
test_runs_of_a_tree_have_a_limit(void **state)
{
    enum { MOST = MERGE_SOURCES - 2 };
    struct place *place = *state;
    struct reason why = {""};
    open_store(place);
    frontier_close(place->store);
    place->store = NULL;
    for (uint8_t i = 1; i <= MOST + 1; i++) {
        uint8_t key[9] = {'l', [8] = i};
        struct run_writer *writer;
        struct run_totals totals;
        char path[SCRATCH_SIZE + 32];
        snprintf(path, sizeof path, "%s/runs/lanes-%u.run", place->folder, (unsigned)i);
        assert_int_equal(run_writer_open(&writer, path, &of_lanes, 1, NULL, NULL, &why), STATUS_OK);
        assert_int_equal(
            run_writer_add(writer, slice_of((char *)key + 1, 8), SLICE("v"), false, &why),
            STATUS_OK);
        assert_int_equal(run_writer_finish(writer, &totals, &why), STATUS_OK);
        /* Each of a level of its own, so that none are merged. */
        write_below(place, TREE_RUNS, slice_of((char *)key, 9), slice_of((const char *)&i, 1));
        if (i == MOST) {
            open_store(place);
            assert_int_equal(frontier_figures(place->store).runs, MOST);
            frontier_close(place->store);
            place->store = NULL;
        }
    }
    assert_int_equal(frontier_open(&place->store, &place->options, &why), STATUS_CORRUPT);
    assert_non_null(strstr(why.text, "too many runs of one tree"));
}

/* A start removes the runs that nobody installed, and nothing else. */
static void
test_what_nobody_installed_is_removed(void **state)
{
    static const struct {
        const char *name;
        bool stays;
    } files[] = {{"lanes-1.run", true}, {"lanes-9.run", false}, {"seen-1.run", false},
                 {".run", true},        {"notes.txt", true},    {"lanes-8.run.txt", true}};
    struct place *place = *state;
    char path[SCRATCH_SIZE + 64], text[16];
    open_store(place);
    apply_one(place, "+aaaaaaaa=1");
    frontier_close(place->store);
    for (size_t i = 1; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "%s/runs/%s", place->folder, files[i].name);
        (void)close(open(path, O_CREAT | O_WRONLY, 0600));
    }
    open_store(place);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "%s/runs/%s", place->folder, files[i].name);
        assert_int_equal(access(path, F_OK) == 0, files[i].stays);
    }
    assert_int_equal(value_of(place, "aaaaaaaa", text), STATUS_OK);
}

static bool
count_row(void *context, struct slice key, struct slice value)
{
    size_t *rows = context;
    (void)key;
    (void)value;
    ++*rows;
    return true;
}

/* Rows whose records are in runs leave two with each commit, which adds one. */
static void
test_the_journal_becomes_short_again(void **state)
{
    enum { LONG = 12 };
    struct place *place = *state;
    size_t first = 1, next = 1, flushed = 0;
    place->options.recent_bytes = place->empty + 4000;
    open_store(place);
    for (int i = 0; i < 3 * LONG; i++) {
        char change[5000];
        size_t rows = 0;
        const bool large = i == LONG;
        snprintf(change, sizeof change, "+%08d=%0*d", i, large ? 4500 : 1, 0);
        const uint64_t runs = frontier_figures(place->store).runs;
        apply_one(place, change);
        for (int n = 0; n < 2 && first <= flushed; n++) {
            first++;
        }
        next++;
        if (frontier_figures(place->store).runs > runs) {
            for (int n = 0; n < 2 && first <= flushed; n++) {
                first++; /* of the commit that installed the run */
            }
            flushed = next - 1;
        }
        assert_int_equal(frontier_scan(place->store, TREE_JOURNAL, (struct slice){"", 0}, count_row,
                                       &rows, NULL),
                         STATUS_OK);
        assert_int_equal(rows, next - first);
    }
    assert_int_equal(flushed, LONG + 1);
    assert_int_equal(first, flushed + 1);
}

int
frontier_runs_run(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_runs_are_merged_by_fours),
        CASE(test_removals_are_merged_away),
        CASE(test_each_tree_counts),
        CASE(test_merges_wait_for_room),
        CASE(test_runs_that_cannot_be_written_are_tried_again),
        CASE(test_a_damaged_run_stops_its_merge),
        CASE(test_work_under_way_is_looked_at),
        CASE(test_closing_waits_for_work),
        CASE(test_records_that_no_run_can_hold_are_refused),
        CASE(test_room_is_less_what_is_in_memory),
        CASE(test_damage_below_is_named),
        CASE(test_runs_of_a_tree_have_a_limit),
        CASE(test_what_nobody_installed_is_removed),
        CASE(test_the_journal_becomes_short_again),
    };
    return cmocka_run_group_tests_name("frontier runs", tests, NULL, NULL);
}
