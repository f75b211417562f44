/* These tests are of what processes say of themselves, as others read it: also after their end, and
 * of a file that is damaged or half written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "cli/supervisor/process_troubles.h"
#include "config/process_state.h"

static char folder[64];

static int
make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/test_process_state.XXXXXX");
    char run[96];
    if (mkdtemp(folder) == NULL) {
        return -1;
    }
    snprintf(run, sizeof run, "%s/run", folder);
    return mkdir(run, 0700);
}

static int
remove_folder(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static void
fail_of(const char *name, enum status status, const char *text)
{
    struct reason why;
    process_state_open(folder, name);
    process_state_end(status_fail(&why, status, "%s", text), &why);
}

static void
wait_and_stay(void)
{
    struct reason why;
    process_state_open(folder, "metastore");
    process_state_ready();
    process_state_wait(WAIT_QUEUE, status_fail(&why, STATUS_SYSTEM, "the later"), &why);
    process_state_wait(WAIT_WRITE, status_fail(&why, STATUS_FULL, "the first"), &why);
    pause();
}

static void
go_on(void)
{
    struct reason why;
    process_state_open(folder, "fetch.1");
    process_state_ready();
    process_state_wait(WAIT_METADATA, status_fail(&why, STATUS_FULL, "no room"), &why);
    process_state_goes_on(WAIT_METADATA);
    pause();
}

static void
fail_to_start(void)
{
    fail_of("index.1", STATUS_CORRUPT, "words.db: page 1 is damaged");
    _exit(0);
}

static void
find_no_room(void)
{
    fail_of("queue", STATUS_FULL, "no room");
    _exit(0);
}

static pid_t
run(void (*what)(void))
{
    const pid_t pid = fork();
    if (pid == 0) {
        what();
    }
    assert_true(pid > 0);
    return pid;
}

static void
end(pid_t pid, int number)
{
    if (number != 0) {
        kill(pid, number);
    }
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void
read_until(const char *name, enum process_phase phase, struct process_state *found)
{
    for (int i = 0; i < 24000; i++) {
        if (process_state_read(folder, name, found) && found->phase == phase) {
            return;
        }
        usleep(5000);
    }
    fail_msg("%s never came to phase %d", name, (int)phase);
}

static void
tells_who_waits_and_whether_he_lives(void **state)
{
    struct process_state found;
    (void)state;
    assert_false(process_state_read(folder, "metastore", &found));
    const pid_t pid = run(wait_and_stay);
    for (int i = 0; i < 24000; i++) { /* both waits are said one after the other */
        read_until("metastore", PROCESS_WAITING, &found);
        if (strcmp(found.why.text, "the first") == 0) {
            break;
        }
        usleep(5000);
    }
    assert_string_equal(found.why.text, "the first");
    assert_int_equal(found.status, STATUS_FULL);
    assert_int_equal(found.pid, pid);
    assert_true(found.alive);
    end(pid, SIGKILL);
    assert_true(process_state_read(folder, "metastore", &found));
    assert_false(found.alive);
}

static void
forgets_a_wait_that_is_over(void **state)
{
    struct process_state found;
    (void)state;
    const pid_t pid = run(go_on);
    read_until("fetch.1", PROCESS_READY, &found);
    assert_string_equal(found.why.text, "");
    end(pid, SIGKILL);
}

/* The first failure may be chance; the second in a row is told, with its file and what to do. */
static void
ends_the_wait_for_one_that_cannot_start(void **state)
{
    struct process_state found;
    struct reason why;
    const uint64_t began = clock_monotonic_ms();
    (void)state;
    end(run(fail_to_start), 0);
    assert_true(process_state_read(folder, "index.1", &found));
    assert_int_equal(found.failures, 1);
    assert_int_equal(process_troubles_end(folder, began, false, &why), STATUS_OK);
    end(run(fail_to_start), 0);
    assert_int_equal(process_troubles_end(folder, began, true, &why), STATUS_CORRUPT);
    assert_non_null(strstr(why.text, "index.1 cannot start: words.db: page 1 is damaged"));
    assert_non_null(strstr(why.text, "docs/OPERATION.md"));
    usleep(2000);
    /* What failed before a command began says nothing of what it starts. */
    assert_int_equal(process_troubles_end(folder, clock_monotonic_ms(), false, &why), STATUS_OK);
}

static void
wait_for_a_page(void)
{
    struct reason why;
    process_state_open(folder, "index.2");
    process_state_ready();
    process_state_wait(WAIT_WRITE, status_fail(&why, STATUS_CORRUPT, "page 7 is damaged"), &why);
    pause();
}

/* It answers what can be answered; what is to be written there waits for ever. */
static void
jobs_are_not_waited_for_where_a_page_is_damaged(void **state)
{
    struct process_state found;
    struct reason why;
    (void)state;
    const pid_t pid = run(wait_for_a_page);
    read_until("index.2", PROCESS_WAITING, &found);
    const uint64_t began = clock_monotonic_ms();
    assert_int_equal(process_troubles_end(folder, began, false, &why), STATUS_OK);
    assert_int_equal(process_troubles_end(folder, began, true, &why), STATUS_CORRUPT);
    assert_non_null(strstr(why.text, "index.2 cannot go on: page 7 is damaged"));
    assert_non_null(strstr(why.text, "docs/OPERATION.md"));
    end(pid, SIGKILL);
    assert_int_equal(process_troubles_end(folder, began, true, &why), STATUS_OK);
}

static void
room_is_waited_for_by_who_wants_to(void **state)
{
    struct reason why;
    const uint64_t began = clock_monotonic_ms();
    (void)state;
    end(run(find_no_room), 0);
    end(run(find_no_room), 0);
    assert_int_equal(process_troubles_end(folder, began, true, &why), STATUS_OK);
    assert_int_equal(process_troubles_end(folder, began, false, &why), STATUS_FULL);
}

static void
count_all(void *context, const struct process_state *state)
{
    (void)state;
    ++*(int *)context;
}

static void
half_a_record_is_none(void **state)
{
    char path[128];
    char record[2048];
    struct process_state found;
    (void)state;
    end(run(fail_to_start), 0);
    snprintf(path, sizeof path, "%s/run/index.1.state", folder);
    const int file = open(path, O_RDWR);
    const ssize_t length = pread(file, record, sizeof record - 1, 0);
    assert_true(length > 0);
    record[length] = '\0';
    const size_t used = strlen(record);
    for (size_t i = 0; i + 1 < used; i++) { /* the number at the end may lack its line's end */
        assert_int_equal(ftruncate(file, (off_t)i), 0);
        assert_false(process_state_read(folder, "index.1", &found));
        assert_int_equal(pwrite(file, record, used, 0), (ssize_t)used);
    }
    assert_true(process_state_read(folder, "index.1", &found));
    record[0] = record[0] == '9' ? '1' : '9'; /* another writing began */
    assert_int_equal(pwrite(file, record, used, 0), (ssize_t)used);
    assert_false(process_state_read(folder, "index.1", &found));
    close(file);
    int count = 0;
    process_state_each(folder, count_all, &count);
    assert_int_equal(count, 0);
}

/* Who cannot write his state works all the same. */
static void
a_folder_that_cannot_be_written_does_not_matter(void **state)
{
    (void)state;
    struct reason why;
    process_state_open("/proc/none", "index.1");
    process_state_ready();
    process_state_wait(WAIT_WRITE, status_fail(&why, STATUS_FULL, "no room"), &why);
    process_state_end(STATUS_OK, NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(tells_who_waits_and_whether_he_lives, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(forgets_a_wait_that_is_over, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(ends_the_wait_for_one_that_cannot_start, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(room_is_waited_for_by_who_wants_to, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(jobs_are_not_waited_for_where_a_page_is_damaged,
                                        make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(half_a_record_is_none, make_folder, remove_folder),
        cmocka_unit_test(a_folder_that_cannot_be_written_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
