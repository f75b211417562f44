/* See helper_run.h. One loop: for each share the processes run of a directory that has no data,
 * under a guard whose time each round extends. They hold nothing that anybody waits for: their jobs
 * are leased by the shares' queues. */
#include "cli/cluster/helper_run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/file.h"
#include "base/system/log.h"
#include "cli/cluster/cluster_root.h"
#include "cli/cluster/disks/share_nodes.h"
#include "cli/cluster/machine_signals.h"
#include "cli/cluster/root_settings.h"
#include "cli/cluster/share_guard.h"
#include "config/run_lock.h"
#include "shares/share_claims.h"
#include "shares/share_files.h"

enum {
    ROUND_MOST_MS = 1000,
    ROUNDS_IN_LEASE = 5,
    HANGS_MS = 60000, /* the loop, until the processes are ended: their guards have a time */
    PAUSE_MS = 2000,
    NAME_SIZE = 320,
    PATH_SIZE = 4096,
    CONF_MAXIMUM = 1 << 20
};

struct helped {
    struct share_guard guard;
    bool forgotten, stopping;
    uint64_t start_at; /* not before, after a failure */
    uint64_t settings; /* version of ROOT's that it was started with */
    char failure[SHARE_TOLD_SIZE];
};

struct helper {
    const struct helper_run_settings *settings;
    struct share_files files;
    struct root_settings root;
    struct helped *shares;
    int signals, lock;
    bool stopping;
};

enum status
helper_stages_check(const char *stages, struct reason *why)
{
    static const char *const names[] = {"detect", "transform"};
    const char *at = stages;
    do {
        const struct slice word = slice_of(at, strcspn(at, ","));
        if (!slice_is(word, names[0]) && !slice_is(word, names[1])) {
            return status_fail(why, STATUS_MISUSE,
                               "--stages: \"%.*s\" is not detect or transform, which alone can be "
                               "done on a machine that does not run the share (docs/SHARES.md)",
                               SLICE_PRINT(word));
        }
        at += word.length + (at[word.length] == ',');
    } while (*at != '\0');
    return STATUS_OK;
}

/* ---- the directory of a share's processes ---- */

/* The share's own cluster.conf, whose paths lead to ROOT from two folders under it, and that here
 * is a helper. */
static enum status
make_nodes(const struct helper *helper, size_t share, struct reason *why)
{
    char path[PATH_SIZE], name[NAME_SIZE];
    struct buf text, present;
    buf_init(&text, 2 * CONF_MAXIMUM);
    buf_init(&present, 2 * CONF_MAXIMUM);
    enum status status = share_nodes_read(helper->settings->root, share, "../../../", &text, why);
    buf_printf(&text, "helper %s\n", helper->settings->machine);
    snprintf(name, sizeof name, HELPERS_FOLDER "/%s/%zu/cluster.conf", helper->settings->machine,
             share);
    snprintf(path, sizeof path, "%s/%s", helper->settings->root, name);
    const bool same = status == STATUS_OK && file_read(path, &present, why) == STATUS_OK &&
                      slice_equal(buf_slice(&text), buf_slice(&present));
    if (status == STATUS_OK && !same) {
        status = helper->files.replace(helper->files.context, name, buf_slice(&text), why);
    }
    buf_release(&text);
    buf_release(&present);
    return status;
}

static enum status
make_settings(const struct helper *helper, size_t share, struct reason *why)
{
    char name[NAME_SIZE], text[64];
    snprintf(name, sizeof name, HELPERS_FOLDER "/%s/%zu/quadrille.conf", helper->settings->machine,
             share);
    snprintf(text, sizeof text, "cluster.node = share-%zu\n", share);
    return helper->files.replace(helper->files.context, name, slice_string(text), why);
}

static enum status
make_directory(const struct helper *helper, size_t share, char directory[PATH_SIZE],
               struct reason *why)
{
    char path[PATH_SIZE + 16], target[64];
    snprintf(directory, PATH_SIZE, "%s/" HELPERS_FOLDER "/%s/%zu", helper->settings->root,
             helper->settings->machine, share);
    TRY(file_make_folder(directory, 0700, why));
    TRY(make_nodes(helper, share, why));
    TRY(make_settings(helper, share, why));
    snprintf(target, sizeof target, "../../../shares/%zu/transforms", share);
    snprintf(path, sizeof path, "%s/transforms", directory);
    return symlink(target, path) == 0 || errno == EEXIST
               ? STATUS_OK
               : status_fail_errno(why, "cannot link %.200s", path);
}

/* ---- one share ---- */

static enum status
start_share(struct helper *helper, size_t number, struct reason *why)
{
    struct helped *share = &helper->shares[number];
    char directory[PATH_SIZE];
    if (helper->root.wrong.text[0] != '\0') {
        *why = helper->root.wrong;
        return STATUS_MISUSE;
    }
    TRY(make_directory(helper, number, directory, why));
    const struct share_guard_settings guard = {
        .directory = directory,
        .assignments = &helper->root.common.assignments,
        .only = helper->settings->stages,
        .until_ms = share_clock_ms(NULL) + HANGS_MS,
    };
    TRY(share_guard_start(&share->guard, &guard, why));
    share->stopping = false;
    share->settings = helper->root.version;
    share->failure[0] = '\0';
    log_info("share_helped", "share=%zu", number);
    return STATUS_OK;
}

static void
stop_share(struct helped *share)
{
    if (share->guard.pid > 0 && !share->stopping) {
        share->stopping = true;
        share_guard_stop(&share->guard);
    }
}

static void
reap(struct helper *helper, size_t number)
{
    struct helped *share = &helper->shares[number];
    int code;
    if (share_guard_has_ended(&share->guard, &code) && code != EXIT_DONE) {
        share->start_at = share_clock_ms(NULL) + PAUSE_MS;
        snprintf(share->failure, sizeof share->failure,
                 "its processes ended with %d; log/supervisor.log says why", code);
        log_warning("share_died", "share=%zu code=%d", number, code);
    }
}

static void
mind_share(struct helper *helper, size_t number)
{
    struct helped *share = &helper->shares[number];
    struct reason why = {""};
    reap(helper, number);
    if (!share->forgotten) {
        (void)share_forgotten_read(&helper->files, number, &share->forgotten, &why);
    }
    const bool outdated = share->settings != helper->root.version;
    if (share->guard.pid > 0) {
        if (helper->stopping || share->forgotten ||
            (outdated && helper->root.wrong.text[0] == '\0')) {
            stop_share(share);
        }
        share_guard_extend(&share->guard, share_clock_ms(NULL) + HANGS_MS);
        return;
    }
    if (helper->stopping || share->forgotten || share_clock_ms(NULL) < share->start_at) {
        return;
    }
    if (start_share(helper, number, &why) != STATUS_OK) {
        share->start_at = share_clock_ms(NULL) + PAUSE_MS;
        if (strcmp(share->failure, why.text) != 0) {
            log_warning("share_waits", "share=%zu reason=%s", number, why.text);
        }
        snprintf(share->failure, sizeof share->failure, "%.*s", (int)sizeof share->failure - 1,
                 why.text);
    }
}

static bool
is_of_a_guard(const void *context, pid_t group)
{
    const struct helper *helper = context;
    bool found = false;
    for (size_t i = 0; i < helper->settings->cluster.shares; i++) {
        found = found || helper->shares[i].guard.pid == group;
    }
    return found;
}

static bool
anything_runs(const struct helper *helper)
{
    bool any = false;
    for (size_t i = 0; i < helper->settings->cluster.shares; i++) {
        any = any || helper->shares[i].guard.pid > 0;
    }
    return any;
}

/* ---- the loop ---- */

static void
name_file(const struct helper *helper, char name[NAME_SIZE])
{
    snprintf(name, NAME_SIZE, HELPERS_FOLDER "/%s/" HELPER_FILE, helper->settings->machine);
}

static void
write_session(const struct helper *helper)
{
    char name[NAME_SIZE];
    struct buf text;
    struct reason why;
    buf_init(&text, SHARE_TEXT_MAXIMUM);
    buf_printf(&text, "machine %s\nstages %s\n", helper->settings->machine,
               helper->settings->stages);
    root_settings_tell(&helper->root, &text);
    for (size_t i = 0; i < helper->settings->cluster.shares; i++) {
        const struct helped *share = &helper->shares[i];
        const char *does = share->stopping ? "stops" : "helped";
        if (!share->forgotten) {
            buf_printf(&text, "share %zu %s\n", i, share->guard.pid > 0 ? does : share->failure);
        }
    }
    name_file(helper, name);
    if (helper->files.replace(helper->files.context, name, buf_slice(&text), &why) != STATUS_OK) {
        log_warning("not_told", "reason=%s", why.text);
    }
    buf_release(&text);
}

static void
loop(struct helper *helper)
{
    const uint64_t part = helper->settings->cluster.lease_ms / ROUNDS_IN_LEASE;
    const uint64_t round = part < ROUND_MOST_MS ? part : ROUND_MOST_MS;
    for (;;) {
        const uint64_t next = share_clock_ms(NULL) + round;
        bool whole = false;
        root_settings_look(&helper->root);
        while (!whole) {
            for (size_t i = 0; i < helper->settings->cluster.shares; i++) {
                mind_share(helper, i);
            }
            share_guard_reap_strays(is_of_a_guard, helper);
            if (helper->stopping && !anything_runs(helper)) {
                return;
            }
            whole = machine_signals_pause(helper->signals, next, &helper->stopping);
        }
        write_session(helper);
    }
}

/* Two of a name would be one worker to the queues, and take each other's jobs. */
static enum status
take_name(struct helper *helper, struct reason *why)
{
    const char *root = helper->settings->root, *machine = helper->settings->machine;
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/" HELPERS_FOLDER, root);
    TRY(file_make_folder(path, 0700, why));
    snprintf(path, sizeof path, "%s/" HELPERS_FOLDER "/%s", root, machine);
    TRY(file_make_folder(path, 0700, why));
    snprintf(path, sizeof path, "%s/" HELPERS_FOLDER "/%s/lock", root, machine);
    helper->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (helper->lock < 0) {
        return status_fail_errno(why, "cannot open %.200s", path);
    }
    return run_lock_try(helper->lock, LOCK_EX)
               ? STATUS_OK
               : status_fail(why, STATUS_DENIED, "%s helps already", machine);
}

enum status
helper_run(const struct helper_run_settings *settings, struct reason *why)
{
    struct helper helper = {.settings = settings, .lock = -1};
    char unique[MACHINE_NAME_SIZE + 16], name[NAME_SIZE];
    snprintf(unique, sizeof unique, "helper.%s", settings->machine);
    helper.shares = memory_zero(settings->cluster.shares, sizeof *helper.shares);
    enum status status =
        root_settings_open(&helper.root, settings->root, settings->assignments, why);
    if (status == STATUS_OK) {
        status = root_files_open(&helper.files, settings->root, unique, why);
    }
    if (status == STATUS_OK) {
        status = take_name(&helper, why);
    }
    if (status == STATUS_OK) {
        helper.signals = machine_signals_take();
        log_info("helps", "machine=%s stages=%s", settings->machine, settings->stages);
        loop(&helper);
        name_file(&helper, name);
        (void)helper.files.remove(helper.files.context, name, why);
    }
    file_close(helper.lock);
    root_files_close(&helper.files);
    root_settings_close(&helper.root);
    free(helper.shares);
    return status;
}
