#include "cli/cluster/disks/share_receiver.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/log.h"
#include "cli/cluster/disks/share_command.h"
#include "cli/cluster/disks/share_disk.h"
#include "shares/share_claims.h"

enum { TIDY_STEPS = 20, OF_SESSION = 160 };

/* A check of one copy. */
struct check {
    const char *root, *disk;
    size_t share;
    struct share_handover handover;
    pthread_t thread;
    _Atomic bool done;
};

struct share_receiver {
    const char *root, *disk, *machine;
    struct share_settings cluster;
    bool checks; /* a thread does */
    struct check check;
    char answered[SHARES_MOST][SHARE_COPY_SIZE];
    unsigned steps;
    bool looked; /* for old copies */
    struct share_command removal;
};

struct share_receiver *
share_receiver_open(const char *root, const char *disk, const char *machine,
                    const struct share_settings *cluster)
{
    struct share_receiver *receiver = memory_new(sizeof *receiver);
    receiver->root = root;
    receiver->disk = disk;
    receiver->machine = machine;
    receiver->cluster = *cluster;
    return receiver;
}

void
share_receiver_close(struct share_receiver *receiver)
{
    if (receiver != NULL) {
        if (receiver->checks) {
            (void)pthread_join(receiver->check.thread, NULL);
        }
        share_command_kill(&receiver->removal);
        free(receiver);
    }
}

bool
share_receiver_has_group(const struct share_receiver *receiver, pid_t group)
{
    return group > 0 && receiver->removal.pid == group;
}

/* ---- whether it is whole ---- */

static enum status
sync_disk(const char *disk, struct reason *why)
{
    const int folder = open(disk, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool good = folder >= 0 && syncfs(folder) == 0;
    const enum status status =
        good ? STATUS_OK : status_fail_errno(why, "cannot sync %.200s", disk);
    if (folder >= 0) {
        (void)close(folder);
    }
    return status;
}

static enum status
look(const struct check *check, struct reason *why)
{
    const struct share_extent *sent = &check->handover.extent;
    char path[SHARE_DISK_PATH_SIZE];
    struct share_extent found;
    share_disk_path(check->disk, check->share, check->handover.copy, SHARE_PART, path);
    TRY(share_disk_measure(path, UINT64_MAX, &found, why));
    if (found.files != sent->files || found.bytes != sent->bytes || found.digest != sent->digest) {
        return status_fail(why, STATUS_CORRUPT,
                           "%.200s has %" PRIu64 " files of %" PRIu64 " bytes, and %" PRIu64
                           " of %" PRIu64 " bytes were sent, or others",
                           path, found.files, found.bytes, sent->files, sent->bytes);
    }
    return sync_disk(check->disk, why);
}

static enum status
answer(const struct check *check, enum status whole, const struct reason *because,
       struct reason *why)
{
    char name[SHARE_PATH_SIZE], unique[OF_SESSION];
    struct share_files files;
    struct buf text;
    (void)snprintf(unique, sizeof unique, "answer.%s", check->handover.to);
    TRY(root_files_open(&files, check->root, unique, why));
    buf_init(&text, SHARE_TEXT_MAXIMUM);
    buf_printf(&text, "copy %s\n", check->handover.copy);
    if (whole == STATUS_OK) {
        buf_append_string(&text, "whole yes\n");
    } else {
        buf_printf(&text, "broken %s\n", because->text);
    }
    share_handover_path(check->share, SHARE_ANSWER, name);
    const enum status status = files.replace(files.context, name, buf_slice(&text), why);
    buf_release(&text);
    root_files_close(&files);
    return status;
}

static void *
run_check(void *context)
{
    struct check *check = context;
    struct reason because = {""}, why = {""};
    const enum status whole = look(check, &because);
    if (answer(check, whole, &because, &why) != STATUS_OK) {
        log_warning("copy_not_answered", "share=%zu reason=%s", check->share, why.text);
    } else if (whole == STATUS_OK) {
        log_info("copy_whole", "share=%zu copy=%s", check->share, check->handover.copy);
    } else {
        log_warning("copy_broken", "share=%zu reason=%s", check->share, because.text);
    }
    check->done = true;
    return NULL;
}

static void
start_check(struct share_receiver *receiver, size_t share, const struct share_handover *handover)
{
    struct check *check = &receiver->check;
    check->root = receiver->root;
    check->disk = receiver->disk;
    check->share = share;
    check->handover = *handover;
    check->done = false;
    receiver->checks = pthread_create(&check->thread, NULL, run_check, check) == 0;
    if (receiver->checks) {
        memcpy(receiver->answered[share], handover->copy, sizeof handover->copy);
    }
}

/* ---- what came to nothing ---- */

/* Tells whether a claim has the copy as the share, or its owner is making it. Read in this order:
 * an owner ends the handover of a copy after the claim that names it. */
static bool
is_of_use(const struct share_receiver *receiver, const struct share_files *files, size_t share,
          const char *copy)
{
    struct share_handover handover;
    struct share_seen seen[SHARES_MOST];
    struct reason why;
    const enum status status = share_handover_read(files, share, &handover, &why);
    if (status != STATUS_NOT_FOUND && (status != STATUS_OK || strcmp(handover.copy, copy) == 0)) {
        return true;
    }
    return share_claims_read(files, receiver->cluster.shares, seen, &why) != STATUS_OK ||
           (strcmp(seen[share].place.machine, receiver->machine) == 0 &&
            strcmp(seen[share].place.copy, copy) == 0);
}

/* "SHARE.COPY.part"; whole: "SHARE.COPY". */
static bool
parse_name(const struct share_receiver *receiver, const char *name, size_t *share,
           char copy[SHARE_COPY_SIZE], bool *whole)
{
    char *end;
    *share = name[0] >= '0' && name[0] <= '9' ? strtoul(name, &end, 10) : SHARES_MOST;
    if (*share >= receiver->cluster.shares || *end != '.') {
        return false;
    }
    const char *at = end + 1;
    const size_t length = strcspn(at, ".");
    *whole = at[length] == '\0';
    if (length >= SHARE_COPY_SIZE || (!*whole && strcmp(at + length, SHARE_PART) != 0)) {
        return false;
    }
    memcpy(copy, at, length);
    copy[length] = '\0';
    return share_copy_is_good(copy);
}

/* Calls visit with each copy on the disk that is of no use, until it returns false. */
static void
visit_useless(struct share_receiver *receiver, const struct share_files *files,
              bool visit(struct share_receiver *receiver, size_t share, const char *copy,
                         bool whole))
{
    DIR *folder = opendir(receiver->disk);
    const struct dirent *entry;
    bool goes_on = folder != NULL;
    while (goes_on && (entry = readdir(folder)) != NULL) {
        char copy[SHARE_COPY_SIZE];
        size_t share;
        bool whole;
        if (parse_name(receiver, entry->d_name, &share, copy, &whole) &&
            !is_of_use(receiver, files, share, copy)) {
            goes_on = visit(receiver, share, copy, whole);
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
}

/* One at a time. */
static bool
remove_part(struct share_receiver *receiver, size_t share, const char *copy, bool whole)
{
    char path[SHARE_DISK_PATH_SIZE];
    struct reason why;
    if (whole) {
        return true;
    }
    share_disk_path(receiver->disk, share, copy, SHARE_PART, path);
    log_info("part_removed", "share=%zu path=%s", share, path);
    (void)share_command_remove(&receiver->removal, path, &why);
    return false;
}

/* It may have what a backup that was restored elsewhere lacks, so people remove it. */
static bool
tell_old_copy(struct share_receiver *receiver, size_t share, const char *copy, bool whole)
{
    char path[SHARE_DISK_PATH_SIZE];
    if (whole) {
        share_disk_path(receiver->disk, share, copy, "", path);
        log_warning("old_copy", "share=%zu path=%s reason=%s", share, path,
                    "it lies elsewhere by now; remove the folder when nothing in it is needed");
    }
    return true;
}

void
share_receiver_mind(struct share_receiver *receiver, const struct share_files *files,
                    const char *session)
{
    int code;
    if (!receiver->looked) { /* later the mover has such copies, and removes them */
        visit_useless(receiver, files, tell_old_copy);
        receiver->looked = true;
    }
    if (receiver->checks && receiver->check.done) {
        (void)pthread_join(receiver->check.thread, NULL);
        receiver->checks = false;
    }
    for (size_t i = 0; i < receiver->cluster.shares && !receiver->checks; i++) {
        struct share_handover handover;
        struct reason why;
        if (share_handover_read(files, i, &handover, &why) == STATUS_OK && handover.sent &&
            strcmp(handover.to, session) == 0 &&
            strcmp(handover.copy, receiver->answered[i]) != 0) {
            start_check(receiver, i, &handover);
        }
    }
    if (share_command_has_ended(&receiver->removal, &code) && ++receiver->steps % TIDY_STEPS == 0) {
        visit_useless(receiver, files, remove_part);
    }
}
