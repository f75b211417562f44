/* Shares on the disk of a machine: what of a folder is compared, which copy is run, and the command
 * that copies. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/system/file.h"
#include "cli/cluster/disks/share_command.h"
#include "cli/cluster/disks/share_disk.h"
#include "tests/unit/scratch.h"

enum { OLD = 1000000, PATH_SIZE = SCRATCH_SIZE + 64, LOOK_US = 10000 };

static char folder[SCRATCH_SIZE];

static int
setup(void **state)
{
    (void)state;
    return scratch_folder(folder, "test_share_disk") ? 0 : -1;
}

static int
teardown(void **state)
{
    char command[SCRATCH_SIZE + 16];
    (void)state;
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static const char *
in(const char *name)
{
    static char paths[4][PATH_SIZE];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    (void)snprintf(path, PATH_SIZE, "%s/%s", folder, name);
    return path;
}

static void
put(const char *name, const char *text)
{
    FILE *file = fopen(in(name), "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void
set_time(const char *name, time_t seconds)
{
    const struct timespec times[] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
    assert_int_equal(utimensat(AT_FDCWD, in(name), times, 0), 0);
}

static time_t
time_of(const char *name)
{
    struct stat info;
    assert_int_equal(stat(in(name), &info), 0);
    return info.st_mtim.tv_sec;
}

static struct share_extent
measure(const char *name, uint64_t since)
{
    struct share_extent extent;
    struct reason why;
    assert_int_equal(share_disk_measure(in(name), since, &extent, &why), STATUS_OK);
    return extent;
}

static void
make_data(const char *name)
{
    char path[64];
    assert_int_equal(mkdir(in(name), 0700), 0);
    (void)snprintf(path, sizeof path, "%s/queue", name);
    assert_int_equal(mkdir(in(path), 0700), 0);
    (void)snprintf(path, sizeof path, "%s/queue/jobs", name);
    put(path, "seven..");
    (void)snprintf(path, sizeof path, "%s/fixed.conf", name);
    put(path, "1");
}

static void
folders_are_compared_by_names_and_sizes(void **state)
{
    (void)state;
    make_data("a");
    make_data("b");
    struct share_extent a = measure("a", UINT64_MAX), b = measure("b", UINT64_MAX);
    assert_int_equal(a.files, 2);
    assert_int_equal(a.bytes, 8);
    assert_memory_equal(&a, &b, sizeof a);
    assert_int_equal(mkdir(in("b/run"), 0700), 0); /* what runs is no part of it, links are none */
    put("b/run/queue.lock", "x");
    assert_int_equal(symlink("/nowhere", in("b/settings")), 0);
    b = measure("b", UINT64_MAX);
    assert_memory_equal(&a, &b, sizeof a);
    put("b/queue/jobs", "seven.");
    put("b/fixed.conf", "12"); /* as many files and bytes as before */
    b = measure("b", UINT64_MAX);
    assert_int_equal(b.bytes, 8);
    assert_true(a.digest != b.digest);
    struct reason why;
    assert_int_not_equal(share_disk_measure(in("c"), UINT64_MAX, &b, &why), STATUS_OK);
}

/* A copy that goes by sizes and times looks again at what it may have read half. */
static void
what_was_written_lately_counts_as_written_now(void **state)
{
    (void)state;
    make_data("lately");
    set_time("lately/queue/jobs", OLD);
    set_time("lately/fixed.conf", OLD - 1);
    (void)measure("lately", UINT64_MAX);
    (void)measure("lately", OLD + 1);
    assert_int_equal(time_of("lately/queue/jobs"), OLD);
    (void)measure("lately", OLD);
    assert_true(time_of("lately/queue/jobs") > OLD);
    assert_int_equal(time_of("lately/fixed.conf"), OLD - 1);
}

static void
the_copy_that_a_claim_names_is_run(void **state)
{
    char directory[SHARE_DISK_PATH_SIZE], link[PATH_SIZE];
    char root[SCRATCH_SIZE + 8];
    struct reason why = {""};
    struct buf text;
    (void)state;
    (void)snprintf(root, sizeof root, "%s/root", folder);
    assert_int_equal(mkdir(in("root"), 0700), 0);
    assert_int_equal(mkdir(in("root/shares"), 0700), 0);
    assert_int_equal(mkdir(in("root/shares/3"), 0700), 0);
    put("root/shares/3/cluster.conf", "node share-3 queue=at://../../addresses/3:1\n");
    assert_int_equal(share_disk_make(folder, 3, "1-0", &why), STATUS_OK);
    assert_int_equal(share_disk_make(folder, 3, "2-7", &why), STATUS_OK);
    assert_int_equal(share_disk_prepare(root, folder, 3, "9-9", directory, &why), STATUS_MISUSE);
    assert_int_equal(share_disk_prepare(root, folder, 3, "2-7", directory, &why), STATUS_OK);
    assert_string_equal(directory, in("3.2-7"));
    assert_int_equal(access(in("3.1-0.part"), F_OK), 0);
    assert_int_not_equal(access(in("3.1-0"), F_OK), 0);
    assert_int_equal(share_disk_prepare(root, folder, 3, "2-7", directory, &why), STATUS_OK);
    buf_init(&text, PATH_SIZE * 2);
    assert_int_equal(file_read(in("3.2-7/cluster.conf"), &text, &why), STATUS_OK);
    (void)snprintf(link, sizeof link, "queue=at://%s/addresses/3:1\n", root);
    assert_non_null(strstr(text.data, link));
    buf_release(&text);
    const ssize_t length = readlink(in("3.2-7/settings"), link, sizeof link - 1);
    assert_true(length > 0);
    link[length] = '\0';
    assert_string_equal(link, in("root/shares/3"));
}

/* ---- commands ---- */

static int
end_of(struct share_command *command)
{
    int code;
    while (!share_command_has_ended(command, &code)) {
        (void)usleep(LOOK_US);
    }
    return code;
}

static void
commands_get_their_words(void **state)
{
    struct share_command command = {0};
    struct share_copy_words words = {.address = "10.0.0.2", .machine = "beta"};
    struct reason why = {""};
    struct buf text;
    (void)state;
    put("script", "printf '%s\\n' \"$@\" >\"$1\"; exit 3\n");
    (void)snprintf(words.from, sizeof words.from, "%s", in("script"));
    (void)snprintf(words.to, sizeof words.to, "%s", in("out"));
    assert_int_equal(
        share_command_copy(&command, "sh  {from} {to} {address}:{machine}/ $HOME{x}", &words, &why),
        STATUS_OK);
    assert_int_equal(end_of(&command), 3);
    buf_init(&text, PATH_SIZE * 2);
    assert_int_equal(file_read(in("out"), &text, &why), STATUS_OK);
    assert_non_null(strstr(text.data, "out\n10.0.0.2:beta/\n$HOME{x}\n"));
    buf_release(&text);
    assert_int_equal(share_command_copy(&command, "sh {from}", &words, &why), STATUS_MISUSE);
    assert_int_equal(share_command_copy(&command, "./no-such {from} {to}", &words, &why),
                     STATUS_OK);
    assert_int_equal(end_of(&command), 127);
}

static void
commands_end_when_they_are_killed(void **state)
{
    struct share_command command = {0};
    struct share_copy_words words = {.machine = "beta"};
    struct reason why = {""};
    int code;
    (void)state;
    put("endless", "touch \"$1\"; while :; do sleep 1; done\n");
    (void)snprintf(words.from, sizeof words.from, "%s", in("endless"));
    (void)snprintf(words.to, sizeof words.to, "%s", in("begun"));
    assert_int_equal(share_command_copy(&command, "sh {from} {to}", &words, &why), STATUS_OK);
    while (access(in("begun"), F_OK) != 0) {
        (void)usleep(LOOK_US);
    }
    assert_false(share_command_has_ended(&command, &code));
    share_command_kill(&command);
    assert_true(share_command_has_ended(&command, &code));
    make_data("heap");
    assert_int_equal(share_command_remove(&command, in("heap"), &why), STATUS_OK);
    assert_int_equal(end_of(&command), 0);
    assert_int_not_equal(access(in("heap"), F_OK), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folders_are_compared_by_names_and_sizes),
        cmocka_unit_test(what_was_written_lately_counts_as_written_now),
        cmocka_unit_test(the_copy_that_a_claim_names_is_run),
        cmocka_unit_test(commands_get_their_words),
        cmocka_unit_test(commands_end_when_they_are_killed),
    };
    return cmocka_run_group_tests_name("share_disk", tests, setup, teardown);
}
