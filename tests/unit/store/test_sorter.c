/* Sorting beside qsort: in memory, over runs in files that are merged several times, with lines
 * longer than all memory, and what ends it before its time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "store/line_sort.h"
#include "store/sorter.h"
#include "tests/unit/memory_in_use.h"
#include "tests/unit/scratch.h"

static char folder[SCRATCH_SIZE];

static int
setup(void **state)
{
    (void)state;
    return scratch_folder(folder, "test_sorter") ? 0 : -1;
}

static int
teardown(void **state)
{
    char command[SCRATCH_SIZE + 32];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static uint32_t
pick(uint32_t *random, uint32_t below)
{
    *random = *random * 1664525u + 1013904223u;
    return (*random >> 8) % below;
}

static int
compare_slices(const void *a, const void *b)
{
    return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

/* Lines of 0 to `longest` bytes, among them equal ones and such as begin alike. */
static struct slice *
make_lines(size_t count, uint32_t longest, uint32_t seed)
{
    struct slice *lines = memory_zero(count, sizeof *lines);
    for (size_t i = 0; i < count; i++) {
        const size_t length = pick(&seed, longest + 1);
        char *text = memory_alloc(length + 1);
        for (size_t at = 0; at < length; at++) {
            text[at] = (char)(pick(&seed, 20) == 0 ? pick(&seed, 256) : 'a');
        }
        lines[i] = slice_of(text, length);
    }
    return lines;
}

static void
sorts_as_qsort(size_t count, uint32_t longest, size_t memory)
{
    char place[SCRATCH_SIZE + 8];
    struct reason why = {""};
    struct slice line;
    struct slice *lines = make_lines(count, longest, (uint32_t)(count + longest));
    snprintf(place, sizeof place, "%s/tmp", folder);
    struct line_sort *sort = line_sort_new(place, memory);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(line_sort_add(sort, lines[i], &why), STATUS_OK);
    }
    assert_int_equal(line_sort_finish(sort, &why), STATUS_OK);
    qsort(lines, count, sizeof *lines, compare_slices);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(line_sort_next(sort, &line, &why), STATUS_OK);
        assert_true(slice_equal(line, lines[i]));
    }
    assert_int_equal(line_sort_next(sort, &line, &why), STATUS_END);
    line_sort_free(sort);
    line_sort_free(NULL);
    for (size_t i = 0; i < count; i++) {
        free((char *)(uintptr_t)lines[i].at);
    }
    free(lines);
}

static void
lines_come_in_order(void **state)
{
    (void)state;
    sorts_as_qsort(0, 10, 0);
    sorts_as_qsort(1, 0, 0);
    sorts_as_qsort(5000, 30, 0);    /* in memory */
    sorts_as_qsort(60000, 200, 0);  /* some runs */
    sorts_as_qsort(40, 3 << 20, 0); /* most lines are longer than all memory: a run of each */
    sorts_as_qsort(5000, 100, 1 << 30);
}

/* Whether this process has an unnamed file of that folder. */
static bool
has_file_of(const char *place)
{
    char name[64], path[SCRATCH_SIZE + 64];
    for (int descriptor = 0; descriptor < 256; descriptor++) {
        snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
        const ssize_t n = readlink(name, path, sizeof path - 1);
        path[n > 0 ? n : 0] = '\0';
        if (strncmp(path, place, strlen(place)) == 0) {
            return true;
        }
    }
    return false;
}

/* Lines go to a file when their share of memory is full, and not before; the folder is for its
 * owner alone, since the lines may be of documents that others may not read. */
static void
lines_go_to_a_file_beyond_their_memory(void **state)
{
    enum { MIB = 1 << 20, LINE = 1 << 14 };
    static const struct {
        size_t memory, bytes;
        bool spilled;
    } cases[] = {
        {0, MIB / 8, false},         {0, 2 * MIB, true},        {MIB, MIB / 8, false},
        {MIB, 2 * MIB, true},        {8 * MIB, 2 * MIB, false}, {8 * MIB, 16 * MIB, true},
        {SIZE_MAX, 16 * MIB, false},
    };
    char *line = memory_zero(LINE, 1);
    const mode_t before = umask(0);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char place[SCRATCH_SIZE + 16], name[SCRATCH_SIZE + 16];
        struct reason why = {""};
        struct stat info;
        snprintf(place, sizeof place, "%s/%zu", folder, i);
        memcpy(name, place, sizeof name);
        struct line_sort *sort = line_sort_new(name, cases[i].memory);
        memset(name, 'x', sizeof name - 1); /* the name is the caller's */
        assert_int_equal(stat(place, &info), 0);
        assert_int_equal(info.st_mode & 0777, 0700);
        for (size_t bytes = 0; bytes < cases[i].bytes; bytes += LINE) {
            assert_int_equal(line_sort_add(sort, slice_of(line, LINE), &why), STATUS_OK);
        }
        assert_int_equal(has_file_of(place), cases[i].spilled);
        line_sort_free(sort);
        assert_false(has_file_of(place));
    }
    (void)umask(before);
    free(line);
}

/* ---- records ---- */

enum { RECORDS = 100000, SHARE = 256 << 10 };

static int
compare_first(void *context, const uint64_t *a, const uint64_t *b)
{
    const size_t words = 1;
    (void)context;
    return sorter_compare_words((void *)(uintptr_t)&words, a, b);
}

struct task {
    struct memory_account account;
    struct spill spill;
    struct sorter sorter;
};

static void
task_open(struct task *task, uint64_t most, uint64_t disk)
{
    *task = (struct task){.account.maximum = 2 * SHARE};
    spill_init(&task->spill, &task->account, folder, disk);
    sorter_init(&task->sorter, &task->spill, "records", compare_first, NULL, most);
}

static enum status
add_records(struct task *task, struct reason *why)
{
    enum status status = STATUS_OK;
    for (uint64_t i = 0; i < RECORDS && status == STATUS_OK; i++) {
        const uint64_t record[2] = {(i * 7919 + 3) % RECORDS, i}; /* each number once */
        status = sorter_add(&task->sorter, record, 2, why);
    }
    return status == STATUS_OK ? sorter_end(&task->sorter, why) : status;
}

/* All memory is given back, and so is all of the file. */
static void
task_close(struct task *task)
{
    sorter_release(&task->sorter);
    assert_int_equal(task->account.used, 0);
    assert_true(task->account.highest <= task->account.maximum);
    spill_release(&task->spill);
}

static void
runs_are_merged_and_the_rest_is_dropped(void **state)
{
    static const uint64_t wanted[] = {UINT64_MAX, 10, RECORDS / 2};
    (void)state;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        struct task task;
        struct reason why = {""};
        const uint64_t *record;
        const uint64_t count = wanted[i] < RECORDS ? wanted[i] : RECORDS;
        task_open(&task, wanted[i], 0);
        assert_int_equal(add_records(&task, &why), STATUS_OK);
        for (uint64_t at = 0; at < count; at++) {
            assert_int_equal(sorter_next(&task.sorter, &record, &why), STATUS_OK);
            assert_non_null(record);
            assert_int_equal(record[0], at);
            assert_int_equal((record[1] * 7919 + 3) % RECORDS, at);
        }
        assert_int_equal(sorter_next(&task.sorter, &record, &why), STATUS_OK);
        assert_null(record);
        assert_true(wanted[i] == 10 || task.sorter.first_run > 0); /* merged more than once */
        task_close(&task);
    }
}

static enum status
stop(const void *context, struct reason *why)
{
    int *left = *(int *const *)context;
    return (*left)-- > 0 ? STATUS_OK : status_fail(why, STATUS_CANCELLED, "stopped");
}

static void
it_ends_when_it_has_to(void **state)
{
    struct task task;
    struct reason why = {""};
    (void)state;
    task_open(&task, UINT64_MAX, SHARE);
    assert_int_equal(add_records(&task, &why), STATUS_LIMIT);
    assert_non_null(strstr(why.text, "of temporary files"));
    task_close(&task);
    for (int steps = 0; steps < 20; steps += 3) {
        int left = steps, *where = &left;
        task_open(&task, UINT64_MAX, 0);
        task.spill.check = stop;
        task.spill.check_context = &where;
        assert_int_equal(add_records(&task, &why), STATUS_CANCELLED);
        task_close(&task);
    }
    task_open(&task, UINT64_MAX, 0);
    task.spill.folder = "/nonexistent";
    assert_int_equal(add_records(&task, &why), STATUS_SYSTEM);
    assert_non_null(strstr(why.text, "/nonexistent"));
    task_close(&task);
}

/* ---- each rule alone ---- */

static void
words_are_compared_in_order(void **state)
{
    static const uint64_t rows[] = {1, 2, 3}, same[] = {1, 2, 4}, more[] = {1, 3, 0};
    size_t two = 2, three = 3, none = 0;
    (void)state;
    assert_int_equal(sorter_compare_words(&two, rows, same), 0);
    assert_int_equal(sorter_compare_words(&three, rows, same), -1);
    assert_int_equal(sorter_compare_words(&three, same, rows), 1);
    assert_int_equal(sorter_compare_words(&two, more, rows), 1);
    assert_int_equal(sorter_compare_words(&two, rows, more), -1);
    assert_int_equal(sorter_compare_words(&none, rows, more), 0);
}

static void
add(struct task *task, uint64_t number)
{
    struct reason why = {""};
    const uint64_t record[2] = {number, ~number};
    assert_int_equal(sorter_add(&task->sorter, record, 2, &why), STATUS_OK);
}

/* The next numbers in order, and no more. */
static void
come(struct task *task, const uint64_t *numbers, size_t count)
{
    struct reason why = {""};
    const uint64_t *record;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(sorter_next(&task->sorter, &record, &why), STATUS_OK);
        assert_non_null(record);
        assert_int_equal(record[0], numbers[i]);
        assert_int_equal(record[1], ~numbers[i]);
    }
    for (int again = 0; again < 2; again++) {
        assert_int_equal(sorter_next(&task->sorter, &record, &why), STATUS_OK);
        assert_null(record);
    }
}

/* No more are merged at a time than memory has buffers for: four to sixty-four runs. */
static void
runs_are_merged_as_memory_allows(void **state)
{
    enum { KB = 1 << 10, MOST_RUNS = 70 };
    static const struct {
        size_t share, runs, merged;
    } cases[] = {
        {32 * KB, 4, 0},
        {32 * KB, 5, 2},
        {160 * KB, 5, 0},
        {160 * KB, 6, 2},
        {256 * KB, 8, 0},
        {256 * KB, 9, 2},
        {32 * KB, 8, 6},
        {32 * KB, 7, 4},
        {32768 * KB, 64, 0},
        {32768 * KB, 65, 2},
        {32768 * KB, MOST_RUNS, 7},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct task task;
        struct reason why = {""};
        uint64_t numbers[MOST_RUNS];
        task_open(&task, UINT64_MAX, 0);
        task.account.maximum = 2 * cases[i].share + 256 * KB;
        task.spill.share = cases[i].share;
        for (uint64_t run = 0; run < cases[i].runs; run++) {
            numbers[run] = run;
            add(&task, cases[i].runs - 1 - run);
            assert_int_equal(sorter_flush(&task.sorter, &why), STATUS_OK);
        }
        assert_int_equal(sorter_flush(&task.sorter, &why), STATUS_OK); /* of nothing: no run */
        assert_int_equal(sorter_end(&task.sorter, &why), STATUS_OK);
        assert_int_equal(task.sorter.first_run, cases[i].merged);
        come(&task, numbers, cases[i].runs);
        task_close(&task);
    }
}

/* A merge that fails gives back what it had taken. */
static void
merges_may_fail(void **state)
{
    enum { RUNS = 5, RUN_RECORDS = 10000, RECORD = 24, DISK = 5 * RUN_RECORDS * RECORD };
    struct task task;
    struct reason why = {""};
    (void)state;
    task_open(&task, UINT64_MAX, DISK + RUN_RECORDS * RECORD);
    task.account.maximum = 4 << 20;
    for (uint64_t run = 0; run < RUNS; run++) {
        task.spill.share = 2 << 20;
        for (uint64_t i = 0; i < RUN_RECORDS; i++) {
            add(&task, i * RUNS + run);
        }
        assert_int_equal(sorter_flush(&task.sorter, &why), STATUS_OK);
    }
    task.spill.share = 32 << 10;
    assert_int_equal(sorter_end(&task.sorter, &why), STATUS_LIMIT);
    assert_int_equal(task.sorter.first_run, 0);
    task_close(&task);
}

/* The last record that may be among the first is known when there are so many. */
static void
the_bound_is_the_last_of_the_first(void **state)
{
    enum { MOST = 300, CUT_AT = 2 * MOST };
    struct task task;
    struct reason why = {""};
    (void)state;
    task_open(&task, MOST, 0);
    for (uint64_t i = 0; i < CUT_AT; i++) {
        assert_null(sorter_bound(&task.sorter));
        add(&task, 10000 - i);
    }
    assert_null(sorter_bound(&task.sorter));
    add(&task, 1); /* which makes it drop half of them */
    assert_int_equal(task.sorter.count, MOST + 1);
    assert_int_equal(sorter_bound(&task.sorter)[0], 10000 - CUT_AT + MOST);
    assert_int_equal(sorter_end(&task.sorter, &why), STATUS_OK);
    assert_int_equal(sorter_bound(&task.sorter)[0], 10000 - CUT_AT + MOST - 1);
    sorter_reset(&task.sorter);
    assert_null(sorter_bound(&task.sorter));
    for (uint64_t count = MOST - 1; count <= MOST; count++) {
        for (uint64_t i = 0; i < count; i++) {
            add(&task, i);
        }
        assert_int_equal(sorter_end(&task.sorter, &why), STATUS_OK);
        assert_int_equal(sorter_bound(&task.sorter) != NULL, count == MOST);
        sorter_reset(&task.sorter);
    }
    task_close(&task);
    task_open(&task, 0, 0); /* who wants none has no bound */
    for (uint64_t i = 0; i < 5; i++) {
        add(&task, i);
    }
    assert_int_equal(sorter_end(&task.sorter, &why), STATUS_OK);
    assert_null(sorter_bound(&task.sorter));
    come(&task, NULL, 0);
    task_close(&task);
}

/* Used again, it begins anew: of runs, and of memory. */
static void
it_can_be_used_again(void **state)
{
    static const uint64_t first[] = {1, 2, 3}, second[] = {4, 5};
    struct task task;
    struct reason why = {""};
    (void)state;
    for (int files = 0; files < 2; files++) {
        task_open(&task, UINT64_MAX, 0);
        for (size_t i = 3; i-- > 0;) {
            add(&task, first[i]);
            if (files) {
                assert_int_equal(sorter_flush(&task.sorter, &why), STATUS_OK);
            }
        }
        assert_int_equal(sorter_end(&task.sorter, &why), STATUS_OK);
        if (files) { /* in the middle */
            const uint64_t *record;
            assert_int_equal(sorter_next(&task.sorter, &record, &why), STATUS_OK);
        } else {
            come(&task, first, 3);
        }
        sorter_reset(&task.sorter);
        assert_int_equal(task.sorter.run_count, 0);
        add(&task, second[1]);
        add(&task, second[0]);
        assert_int_equal(sorter_end(&task.sorter, &why), STATUS_OK);
        come(&task, second, 2);
        task_close(&task);
    }
}

/* Memory grows by doubling; the account says whose it is when there is none. */
static void
memory_is_taken_by_and_by(void **state)
{
    enum { KB = 1 << 10, PLACE = sizeof(size_t), FIRST = 32 * KB + 512 * PLACE };
    uint64_t large[5 * KB] = {0}; /* 40 KiB */
    struct task task;
    struct reason why = {""};
    (void)state;
    task_open(&task, UINT64_MAX, 0);
    task.spill.folder = NULL;
    for (uint64_t i = 0; i < 512; i++) {
        add(&task, i);
        assert_int_equal(task.account.used, FIRST);
    }
    add(&task, 512);
    assert_int_equal(task.account.used, FIRST + 512 * PLACE);
    assert_int_equal(sorter_add(&task.sorter, large, 5 * KB, &why), STATUS_OK);
    assert_int_equal(task.account.used, 64 * KB + 1024 * PLACE);
    task.account.maximum = task.account.used + 64 * KB - 1;
    assert_int_equal(sorter_add(&task.sorter, large, 5 * KB, &why), STATUS_LIMIT);
    assert_non_null(strstr(why.text, "(records)"));
    task.account.maximum++;
    assert_int_equal(sorter_add(&task.sorter, large, 5 * KB, &why), STATUS_OK);
    task_close(&task);
}

static enum status
count_calls(const void *context, struct reason *why)
{
    (void)why;
    ++**(unsigned *const *)context;
    return STATUS_OK;
}

/* Whether to go on is asked now and then, not for each of the comparisons. */
static void
it_asks_now_and_then(void **state)
{
    unsigned calls = 0, *where = &calls;
    struct task task;
    struct reason why = {""};
    (void)state;
    task_open(&task, UINT64_MAX, 0);
    task.account.maximum = 64 << 20;
    task.spill.share = 32 << 20;
    task.spill.check = count_calls;
    task.spill.check_context = &where;
    assert_int_equal(add_records(&task, &why), STATUS_OK);
    const unsigned compared = task.sorter.work;
    assert_true(compared > RECORDS);
    assert_int_equal(calls, compared / (1 << 16) + 1);
    task_close(&task);
}

static void
sort_lines(void)
{
    struct reason why = {""};
    struct slice line;
    struct line_sort *sort = line_sort_new(folder, 0);
    if (line_sort_add(sort, SLICE("a line"), &why) == STATUS_OK &&
        line_sort_finish(sort, &why) == STATUS_OK) {
        (void)line_sort_next(sort, &line, &why);
    }
    line_sort_free(sort);
}

static void
sort_runs(void)
{
    struct task task;
    struct reason why = {""};
    const uint64_t *record;
    task_open(&task, UINT64_MAX, 0);
    for (uint64_t i = 0; i < 3; i++) {
        add(&task, i);
        (void)sorter_flush(&task.sorter, &why);
    }
    (void)sorter_end(&task.sorter, &why);
    (void)sorter_next(&task.sorter, &record, &why);
    task_close(&task);
}

static void
sorters_leave_nothing(void **state)
{
    (void)state;
    assert_true(leaves_no_memory(sort_lines));
    assert_true(leaves_no_memory(sort_runs));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(lines_come_in_order),
        CASE(lines_go_to_a_file_beyond_their_memory),
        CASE(runs_are_merged_and_the_rest_is_dropped),
        CASE(it_ends_when_it_has_to),
        CASE(words_are_compared_in_order),
        CASE(runs_are_merged_as_memory_allows),
        CASE(merges_may_fail),
        CASE(the_bound_is_the_last_of_the_first),
        CASE(it_can_be_used_again),
        CASE(memory_is_taken_by_and_by),
        CASE(it_asks_now_and_then),
        CASE(sorters_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
