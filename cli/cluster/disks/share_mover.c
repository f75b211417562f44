#include "cli/cluster/disks/share_mover.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "cli/cluster/disks/share_command.h"
#include "cli/cluster/disks/share_disk.h"
#include "shares/share_claims.h"

enum {
    RETRY_LEASES = 4, /* after a failure */
    VANISHED = 24,    /* rsync: files were removed while they were copied, as is to be expected */
    TICK_S = 2,       /* clocks of file systems are rounded by less */
    NO_SHARE = SHARES_MOST,
};

enum step { STEP_NONE, STEP_FIRST, STEP_ENDING, STEP_LAST, STEP_ANSWER, STEP_GOES };

struct share_mover {
    const char *disk;
    struct share_settings cluster;
    const struct share_files *files;
    struct share_owner *owner;
    unsigned attempts; /* at copies since share_mover_begin; each has a name of its own */

    enum step step;
    size_t share; /* NO_SHARE: none */
    struct share_target target;
    struct share_place place;   /* where it is to lie */
    char from[SHARE_COPY_SIZE]; /* the copy that lies here */
    struct share_command command, removal;
    uint64_t deadline_ms;  /* of clock_monotonic_ms */
    uint64_t first_pass_s; /* wall clock when it began; UINT64_MAX: there was none */
    struct share_extent extent;

    bool swept[SHARES_MOST];                 /* of what an earlier owner was making */
    char left[SHARES_MOST][SHARE_COPY_SIZE]; /* the copy here of a share that went away */
    char failure[SHARES_MOST][SHARE_TOLD_SIZE];
};

struct share_mover *
share_mover_open(const char *disk, const struct share_settings *cluster)
{
    struct share_mover *mover = memory_new(sizeof *mover);
    mover->disk = disk;
    mover->cluster = *cluster;
    mover->share = NO_SHARE;
    return mover;
}

void
share_mover_close(struct share_mover *mover)
{
    if (mover != NULL) {
        share_command_kill(&mover->command);
        share_command_kill(&mover->removal);
        free(mover);
    }
}

bool
share_mover_has_group(const struct share_mover *mover, pid_t group)
{
    return group > 0 && (mover->command.pid == group || mover->removal.pid == group);
}

const struct share_place *
share_mover_place(const struct share_mover *mover, size_t share)
{
    return mover->share == share && mover->step == STEP_GOES ? &mover->place : NULL;
}

void
share_mover_new_copy(struct share_mover *mover, size_t share, char copy[SHARE_COPY_SIZE])
{
    uint64_t generation;
    (void)share_owner_place(mover->owner, share, &generation);
    (void)snprintf(copy, SHARE_COPY_SIZE, "%" PRIu64 "-%u", generation, mover->attempts++);
}

/* ---- the end of an attempt ---- */

static void
remove_handover(struct share_mover *mover, size_t share)
{
    struct reason why;
    char name[SHARE_PATH_SIZE];
    share_handover_path(share, "", name);
    (void)mover->files->remove(mover->files->context, name, &why);
    share_handover_path(share, SHARE_ANSWER, name);
    (void)mover->files->remove(mover->files->context, name, &why);
}

static void
end_attempt(struct share_mover *mover)
{
    share_command_kill(&mover->command);
    remove_handover(mover, mover->share);
    mover->step = STEP_NONE;
    mover->share = NO_SHARE;
}

static enum share_moving
fail(struct share_mover *mover, const struct reason *why)
{
    const size_t share = mover->share;
    (void)snprintf(mover->failure[share], sizeof mover->failure[share],
                   "stays, since it could not be copied to %s: %.200s", mover->target.machine,
                   why->text);
    log_warning("share_not_moved", "share=%zu to=%s reason=%s", share, mover->target.machine,
                why->text);
    end_attempt(mover);
    share_owner_put_off(mover->owner, share, RETRY_LEASES * (uint64_t)mover->cluster.lease_ms);
    return MOVING_RUNS;
}

void
share_mover_drop(struct share_mover *mover, size_t share)
{
    if (mover->share == share && mover->step != STEP_GOES) {
        end_attempt(mover);
    }
}

enum status
share_mover_begin(struct share_mover *mover, const struct share_files *files,
                  struct share_owner *owner, struct reason *why)
{
    char path[MACHINE_DISK_SIZE + 64];
    share_command_kill(&mover->command);
    mover->step = STEP_NONE;
    mover->share = NO_SHARE;
    mover->files = files;
    mover->owner = owner;
    mover->attempts = 0;
    memset(mover->swept, 0, sizeof mover->swept);
    (void)snprintf(path, sizeof path, "%s/.", mover->disk);
    return access(path, W_OK | X_OK) == 0
               ? STATUS_OK
               : status_fail_errno(why, "cannot use the disk %.200s", mover->disk);
}

/* ---- the steps ---- */

static enum status
tell_target(struct share_mover *mover, bool sent, struct reason *why)
{
    struct share_handover handover = {.sent = sent, .extent = mover->extent};
    char name[SHARE_PATH_SIZE];
    struct buf text;
    memcpy(handover.copy, mover->place.copy, sizeof handover.copy);
    memcpy(handover.to, mover->target.session, sizeof handover.to);
    buf_init(&text, SHARE_TEXT_MAXIMUM);
    share_handover_put(&handover, &text);
    share_handover_path(mover->share, "", name);
    const enum status status =
        mover->files->replace(mover->files->context, name, buf_slice(&text), why);
    buf_release(&text);
    return status;
}

static enum status
start_copy(struct share_mover *mover, const struct opt_set *options, struct reason *why)
{
    struct share_copy_words words = {.machine = mover->target.machine};
    const char *colon = strrchr(mover->target.address, ':');
    if (options == NULL) {
        return status_fail(why, STATUS_MISUSE, "the settings cannot be used");
    }
    share_disk_path(mover->disk, mover->share, mover->from, "", words.from);
    share_disk_path(mover->target.disk, mover->share, mover->place.copy, SHARE_PART, words.to);
    (void)snprintf(words.address, sizeof words.address, "%.*s",
                   (int)(colon != NULL ? colon - mover->target.address : 0), mover->target.address);
    return share_command_copy(&mover->command, opt_string(options, "cluster.copy"), &words, why);
}

static enum status
begin(struct share_mover *mover, size_t share, bool runs, const struct opt_set *options,
      struct reason *why)
{
    uint64_t generation;
    memcpy(mover->from, share_owner_place(mover->owner, share, &generation)->copy,
           sizeof mover->from);
    mover->share = share;
    mover->failure[share][0] = '\0';
    mover->step = runs ? STEP_FIRST : STEP_ENDING;
    mover->deadline_ms =
        clock_monotonic_ms() + (uint64_t)opt_duration_ms(options, "cluster.copy_timeout");
    mover->first_pass_s = runs ? clock_wall_ms() / 1000 : UINT64_MAX;
    mover->place = (struct share_place){{0}, {0}};
    memcpy(mover->place.machine, mover->target.machine, sizeof mover->place.machine);
    share_mover_new_copy(mover, share, mover->place.copy);
    log_info("share_copied", "share=%zu to=%s copy=%s", share, mover->target.machine,
             mover->place.copy);
    if (mover->target.disk[0] == '\0') {
        return status_fail(why, STATUS_MISUSE, "it runs without --disk");
    }
    TRY(tell_target(mover, false, why));
    return runs ? start_copy(mover, options, why) : STATUS_OK;
}

/* Begins the last pass. Files that were written since the first one began, less a tick of the
 * clock, count as changed, so that the command compares them again. */
static enum status
begin_last(struct share_mover *mover, const struct opt_set *options, struct reason *why)
{
    const uint64_t since =
        mover->first_pass_s == UINT64_MAX ? UINT64_MAX : mover->first_pass_s - TICK_S;
    char path[SHARE_DISK_PATH_SIZE];
    share_disk_path(mover->disk, mover->share, mover->from, "", path);
    TRY(share_disk_measure(path, since, &mover->extent, why));
    mover->step = STEP_LAST;
    return start_copy(mover, options, why);
}

static enum status
await_copy(struct share_mover *mover, enum step next, struct reason *why)
{
    int code;
    if (!share_command_has_ended(&mover->command, &code)) {
        return STATUS_OK;
    }
    if (code != 0 && (code != VANISHED || mover->step != STEP_FIRST)) {
        return status_fail(why, STATUS_SYSTEM,
                           "the command of cluster.copy ended with %d; the log of this machine has "
                           "what it said",
                           code);
    }
    mover->step = next;
    return next == STEP_ANSWER ? tell_target(mover, true, why) : STATUS_OK;
}

static enum status
await_answer(struct share_mover *mover, struct reason *why)
{
    char name[SHARE_PATH_SIZE], copy[SHARE_COPY_SIZE], broken[SHARE_TOLD_SIZE / 2];
    struct buf text;
    struct reason none;
    share_handover_path(mover->share, SHARE_ANSWER, name);
    buf_init(&text, SHARE_TEXT_MAXIMUM);
    const bool there = mover->files->read(mover->files->context, name, &text, &none) == STATUS_OK &&
                       share_text_line(buf_slice(&text), "copy", copy, sizeof copy) &&
                       strcmp(copy, mover->place.copy) == 0;
    enum status status = STATUS_OK;
    if (there && share_text_line(buf_slice(&text), "broken", broken, sizeof broken)) {
        status = status_fail(why, STATUS_CORRUPT, "it says of the copy: %s", broken);
    } else if (there && share_text_line(buf_slice(&text), "whole", broken, sizeof broken)) {
        mover->step = STEP_GOES;
    }
    buf_release(&text);
    return status;
}

static enum status
go_on(struct share_mover *mover, bool runs, const struct opt_set *options, struct reason *why)
{
    switch (mover->step) {
    case STEP_FIRST:
        return await_copy(mover, STEP_ENDING, why);
    case STEP_ENDING:
        return runs ? STATUS_OK : begin_last(mover, options, why);
    case STEP_LAST:
        return await_copy(mover, STEP_ANSWER, why);
    case STEP_ANSWER:
        return await_answer(mover, why);
    case STEP_NONE:
    case STEP_GOES:
        break;
    }
    return STATUS_OK;
}

/* Before the release, which alone says that the copy is the share, all may be given up. */
static enum share_moving
step_on(struct share_mover *mover, bool runs, const struct opt_set *options)
{
    struct share_target target;
    struct reason why = {""};
    if (!share_owner_target(mover->owner, mover->share, &target) ||
        strcmp(target.session, mover->target.session) != 0) {
        log_info("share_stays", "share=%zu not_to=%s", mover->share, mover->target.machine);
        end_attempt(mover);
        return MOVING_RUNS;
    }
    enum status status = go_on(mover, runs, options, &why);
    if (status == STATUS_OK && mover->step != STEP_GOES &&
        clock_monotonic_ms() >= mover->deadline_ms) {
        status = status_fail(&why, STATUS_TIMEOUT, "it took longer than cluster.copy_timeout");
    }
    if (status != STATUS_OK) {
        return fail(mover, &why);
    }
    return mover->step == STEP_GOES ? MOVING_GOES
                                    : (mover->step == STEP_FIRST ? MOVING_RUNS : MOVING_STOPS);
}

enum share_moving
share_mover_mind(struct share_mover *mover, size_t share, bool runs, const struct opt_set *options)
{
    struct reason why = {""};
    if (mover->share == share) {
        return mover->step == STEP_GOES ? MOVING_GOES : step_on(mover, runs, options);
    }
    if (!mover->swept[share]) {
        remove_handover(mover, share);
        mover->swept[share] = true;
    }
    if (mover->share != NO_SHARE || options == NULL ||
        !share_owner_target(mover->owner, share, &mover->target)) {
        return MOVING_RUNS;
    }
    if (begin(mover, share, runs, options, &why) != STATUS_OK) {
        return fail(mover, &why);
    }
    return mover->step == STEP_FIRST ? MOVING_RUNS : MOVING_STOPS;
}

/* ---- when it is gone ---- */

/* One after the other; rm reports what it cannot remove in the log. */
static void
remove_left(struct share_mover *mover, size_t share)
{
    char path[SHARE_DISK_PATH_SIZE];
    struct reason why;
    int code;
    if (!share_command_has_ended(&mover->removal, &code)) {
        return;
    }
    share_disk_path(mover->disk, share, mover->left[share], "", path);
    log_info("old_copy_removed", "share=%zu path=%s", share, path);
    (void)share_command_remove(&mover->removal, path, &why);
    mover->left[share][0] = '\0';
}

void
share_mover_tidy(struct share_mover *mover, size_t share)
{
    uint64_t generation;
    int code;
    if (mover->share == share) {
        const struct share_place *place = share_owner_place(mover->owner, share, &generation);
        if (mover->step == STEP_GOES && strcmp(place->copy, mover->place.copy) == 0) {
            memcpy(mover->left[share], mover->from, sizeof mover->from);
        }
        end_attempt(mover);
    }
    (void)share_command_has_ended(&mover->removal, &code);
    if (mover->left[share][0] != '\0' && share_owner_is_taken(mover->owner, share)) {
        remove_left(mover, share);
    }
}

void
share_mover_tell(const struct share_mover *mover, size_t share, char told[SHARE_TOLD_SIZE])
{
    static const char *const doing[] = {[STEP_FIRST] = "is copied",
                                        [STEP_ENDING] = "stops, to be copied",
                                        [STEP_LAST] = "is copied, and does not run",
                                        [STEP_ANSWER] = "was copied, which is checked",
                                        [STEP_GOES] = "was copied, and goes"};
    if (mover->share == share && mover->step != STEP_NONE) {
        (void)snprintf(told, SHARE_TOLD_SIZE, "%s to %s", doing[mover->step],
                       mover->target.machine);
    } else {
        (void)snprintf(told, SHARE_TOLD_SIZE, "%s", mover->failure[share]);
    }
}
