#include "cli/cluster/share_forget.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/file.h"
#include "cli/cluster/cluster_root.h"
#include "cli/cluster/share_end.h"
#include "cli/shared/cli.h"
#include "config/run_lock.h"
#include "shares/share_claims.h"
#include "shares/share_owner.h"
#include "stages/skeleton/services.h"

enum { NAME_SIZE = 320, CONF_MAXIMUM = 1 << 20, ANSWER_MS = 2000, LOOK_MS = 200, PATIENCES = 4 };

struct forgetting {
    const char *root;
    const struct share_settings *settings;
    size_t share;
    char node[32];
    FILE *out;
    struct share_files files;
    bool forgotten[SHARES_MOST];
    bool told[SHARES_MOST]; /* by number of share: its queue has nothing for the one forgotten */
    uint64_t moved, dropped;
};

static void
pause_briefly(void)
{
    const struct timespec pause = {0, LOOK_MS * 1000000L};
    (void)nanosleep(&pause, NULL);
}

static enum status
read_forgotten(struct forgetting *forgetting, struct reason *why)
{
    bool others = false;
    for (size_t i = 0; i < forgetting->settings->shares; i++) {
        TRY(share_forgotten_read(&forgetting->files, i, &forgetting->forgotten[i], why));
        others = others || (i != forgetting->share && !forgetting->forgotten[i]);
    }
    return others ? STATUS_OK
                  : status_fail(why, STATUS_MISUSE, "share %zu is the last one", forgetting->share);
}

/* ---- whether it is lost ---- */

/* Nobody can see from here whether they are still there. */
static enum status
check_disk(const struct forgetting *forgetting, struct reason *why)
{
    struct share_seen seen[SHARES_MOST];
    TRY(share_claims_read(&forgetting->files, forgetting->settings->shares, seen, why));
    const struct share_place *place = &seen[forgetting->share].place;
    return place->machine[0] == '\0'
               ? STATUS_OK
               : status_fail(why, STATUS_MISUSE,
                             "share %zu lies on the disk of %s, as %zu.%s, and goes on when that "
                             "machine is back, or when a backup is restored; --force gives it up",
                             forgetting->share, place->machine, forgetting->share, place->copy);
}

static enum status
check_lost(struct forgetting *forgetting, struct reason *why)
{
    static const char *const data[] = {"queue", "metastore", "index-1", "warc"};
    char session[SESSION_NAME_SIZE], path[ROOT_PATH_SIZE + NAME_SIZE];
    struct stat info;
    TRY(share_end_owner(&forgetting->files, forgetting->settings, forgetting->share, session, why));
    snprintf(path, sizeof path, "%s/machines/%s", forgetting->root, session);
    if (session[0] != '\0' && stat(path, &info) == 0 &&
        (uint64_t)info.st_mtim.tv_sec * 1000 + share_patience_ms(forgetting->settings) >
            clock_wall_ms()) {
        return status_fail(why, STATUS_MISUSE,
                           "share %zu has an owner, session %s; --force gives it up all the same",
                           forgetting->share, session);
    }
    if (forgetting->settings->own_disks) {
        return check_disk(forgetting, why);
    }
    for (size_t i = 0; i < sizeof data / sizeof data[0]; i++) {
        snprintf(path, sizeof path, "%s/shares/%zu/%s", forgetting->root, forgetting->share,
                 data[i]);
        if (access(path, F_OK) != 0 && errno != ENOENT) {
            return status_fail_errno(why, "cannot see whether share %zu has its data, %s",
                                     forgetting->share, path);
        }
        if (access(path, F_OK) == 0) {
            return status_fail(why, STATUS_MISUSE,
                               "share %zu has its data, %s, and goes on when a machine runs it; "
                               "--force gives them up",
                               forgetting->share, path);
        }
    }
    return STATUS_OK;
}

static enum status
mark(struct forgetting *forgetting, struct reason *why)
{
    char name[NAME_SIZE];
    bool made;
    snprintf(name, sizeof name, "%s/forgotten", forgetting->root);
    TRY(file_make_folder(name, 0700, why));
    snprintf(name, sizeof name, "forgotten/%zu", forgetting->share);
    return forgetting->files.make(forgetting->files.context, name, SLICE("forgotten\n"), &made,
                                  why);
}

/* ---- the others ---- */

static enum status
drop_node(struct forgetting *forgetting, const char *name, struct reason *why)
{
    char line[NAME_SIZE];
    struct buf text, kept;
    snprintf(line, sizeof line, "node %s ", forgetting->node);
    buf_init(&text, CONF_MAXIMUM);
    buf_init(&kept, CONF_MAXIMUM);
    enum status status = forgetting->files.read(forgetting->files.context, name, &text, why);
    for (size_t at = 0; at < text.length;) {
        const char *end = memchr(text.data + at, '\n', text.length - at);
        const size_t size = end != NULL ? (size_t)(end - text.data) + 1 - at : text.length - at;
        if (!slice_starts(slice_of(text.data + at, size), slice_string(line))) {
            buf_append(&kept, text.data + at, size);
        }
        at += size;
    }
    if (status == STATUS_OK && kept.length < text.length) {
        status = forgetting->files.replace(forgetting->files.context, name, buf_slice(&kept), why);
    }
    buf_release(&text);
    buf_release(&kept);
    return status;
}

/* ROOT's comes last: machines that see it changed start all of their shares anew. */
static enum status
drop_from_all(struct forgetting *forgetting, struct reason *why)
{
    char name[NAME_SIZE];
    for (size_t i = 0; i < forgetting->settings->shares; i++) {
        if (i != forgetting->share && !forgetting->forgotten[i]) {
            snprintf(name, sizeof name, "shares/%zu/cluster.conf", i);
            TRY(drop_node(forgetting, name, why));
        }
    }
    return drop_node(forgetting, "cluster.conf", why);
}

/* Also those that cannot be told now: a share that runs with the old cluster.conf refuses. */
static void
tell_queue(struct forgetting *forgetting, const struct cli *cli, const char *endpoint,
           const struct rpc_keys *keys, size_t node)
{
    const struct queue_client_options options = {
        .endpoint = endpoint, .name = "cli.forget", .keys = keys};
    const size_t share = cli_share_number(cli, node);
    struct queue_client *queue;
    struct queue_stats stats;
    struct reason why;
    if (share >= SHARES_MOST || queue_client_open(&queue, &options, &why) != STATUS_OK) {
        return;
    }
    if (queue_stats_get(queue, &stats, ANSWER_MS, &why) == STATUS_OK) {
        uint64_t moved = 0, dropped = 0;
        const enum status status =
            queue_forget(queue, slice_string(forgetting->node), &moved, &dropped, &why);
        forgetting->moved += moved;
        forgetting->dropped += dropped;
        forgetting->told[share] = status == STATUS_NOT_FOUND; /* it has nothing for it any more */
    }
    queue_client_close(queue);
}

static enum status
tell_all(struct forgetting *forgetting, const struct cli *cli, struct reason *why)
{
    struct cluster_services services;
    const uint64_t until =
        clock_monotonic_ms() + PATIENCES * share_patience_ms(forgetting->settings);
    size_t left = 1;
    TRY(services_queues(cli->cluster, cli->directory, &services, why));
    while (left > 0 && clock_monotonic_ms() < until) {
        left = 0;
        for (size_t i = 0; i < services.count; i++) {
            const size_t share = cli_share_number(cli, i);
            if (share < SHARES_MOST && !forgetting->told[share]) {
                tell_queue(forgetting, cli, services.endpoints[i], services.keys, i);
                left += !forgetting->told[share];
            }
        }
        if (left > 0) {
            pause_briefly();
        }
    }
    cluster_services_release(&services);
    return left == 0 ? STATUS_OK
                     : status_fail(why, STATUS_TIMEOUT,
                                   "%zu shares have not been told that share %zu is forgotten: say "
                                   "it again when machines run them",
                                   left, forgetting->share);
}

/* One at a time: another one that read a cluster.conf before this one wrote it would write the line
 * of this one's share back, and two could give up the last two shares. */
static enum status
take_turn(const char *root, int *turn, struct reason *why)
{
    char path[ROOT_PATH_SIZE + NAME_SIZE];
    snprintf(path, sizeof path, "%s/cluster", root); /* which is never replaced */
    *turn = open(path, O_RDWR | O_CLOEXEC);
    return *turn >= 0 && run_lock_wait(*turn, LOCK_EX)
               ? STATUS_OK
               : status_fail_errno(why, "cannot lock %s", path);
}

static enum status
give_up(struct forgetting *forgetting, bool force, struct reason *why)
{
    TRY(read_forgotten(forgetting, why));
    if (!forgetting->forgotten[forgetting->share]) {
        if (!force) {
            TRY(check_lost(forgetting, why));
        }
        TRY(mark(forgetting, why));
    }
    TRY(share_end_await(&forgetting->files, forgetting->settings, forgetting->share, false,
                        forgetting->out, why));
    return drop_from_all(forgetting, why);
}

static enum status
forget(struct forgetting *forgetting, bool force, struct reason *why)
{
    const struct cli_common common = {.directory = forgetting->root, .takes_root = true};
    struct cli cli = {0};
    int turn = -1;
    enum status status = take_turn(forgetting->root, &turn, why);
    if (status == STATUS_OK) {
        status = give_up(forgetting, force, why);
    }
    file_close(turn);
    TRY(status);
    status = cli_open_reading(&cli, &common, why);
    if (status == STATUS_OK) {
        status = tell_all(forgetting, &cli, why);
    }
    cli_close(&cli);
    fprintf(forgetting->out,
            "share %zu is given up: %" PRIu64 " jobs that waited for it go elsewhere now, %" PRIu64
            " were dropped\n",
            forgetting->share, forgetting->moved, forgetting->dropped);
    return status;
}

enum status
share_forget(const char *root, const struct share_settings *settings, const char *share, bool force,
             FILE *out, struct reason *why)
{
    struct forgetting forgetting = {.root = root, .settings = settings, .out = out};
    char unique[32];
    TRY(cluster_root_share(settings, share, &forgetting.share, why));
    snprintf(forgetting.node, sizeof forgetting.node, "share-%zu", forgetting.share);
    snprintf(unique, sizeof unique, "forget%d", (int)getpid());
    TRY(root_files_open(&forgetting.files, root, unique, why));
    const enum status status = forget(&forgetting, force, why);
    root_files_close(&forgetting.files);
    return status;
}
