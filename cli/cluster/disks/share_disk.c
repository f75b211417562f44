#include "cli/cluster/disks/share_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/system/file.h"
#include "cli/cluster/disks/share_nodes.h"
#include "shares/share_files.h"

enum { CONF_MAXIMUM = 2 << 20, OPEN_FOLDERS = 16, LINE_MAXIMUM = 1 << 16 };

void
share_disk_path(const char *disk, size_t share, const char *copy, const char *suffix,
                char path[SHARE_DISK_PATH_SIZE])
{
    (void)snprintf(path, SHARE_DISK_PATH_SIZE, "%s/%zu.%s%s", disk, share, copy, suffix);
}

enum status
share_disk_make(const char *disk, size_t share, const char *copy, struct reason *why)
{
    char path[SHARE_DISK_PATH_SIZE];
    share_disk_path(disk, share, copy, SHARE_PART, path);
    return file_make_folder(path, 0700, why);
}

/* ---- before it is started ---- */

/* A disk that is not mounted, or was lost, leaves nothing: a share that began anew would forget
 * what it has, and others would pass over its jobs. */
static enum status
name_whole(const char *disk, size_t share, const char *copy, const char *directory,
           struct reason *why)
{
    char part[SHARE_DISK_PATH_SIZE];
    share_disk_path(disk, share, copy, SHARE_PART, part);
    if (access(directory, F_OK) == 0) {
        return STATUS_OK;
    }
    if (errno == ENOENT && rename(part, directory) == 0) {
        return file_sync_folder(disk, why);
    }
    return status_fail(why, STATUS_MISUSE,
                       "%.300s is not there: the disk is not mounted, or the share is to be "
                       "restored (docs/BACKUP.md)",
                       directory);
}

static enum status
link_to(const char *target, const char *directory, const char *name, struct reason *why)
{
    char path[SHARE_DISK_PATH_SIZE + 16];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    (void)unlink(path); /* of a machine that has ROOT mounted elsewhere */
    return symlink(target, path) == 0 ? STATUS_OK
                                      : status_fail_errno(why, "cannot link %.200s", path);
}

static enum status
put_settings(const char *root, size_t share, const char *directory, struct reason *why)
{
    char prefix[ROOT_PATH_SIZE + 1], text[64], unique[32], settings[ROOT_PATH_SIZE + 64],
        transforms[ROOT_PATH_SIZE + 80];
    struct share_files files;
    struct buf nodes;
    (void)snprintf(prefix, sizeof prefix, "%s/", root);
    (void)snprintf(text, sizeof text, "cluster.node = share-%zu\n", share);
    (void)snprintf(unique, sizeof unique, "disk%d", (int)getpid());
    (void)snprintf(settings, sizeof settings, "%s/shares/%zu", root, share);
    (void)snprintf(transforms, sizeof transforms, "%s/transforms", settings);
    TRY(root_files_open(&files, directory, unique, why));
    buf_init(&nodes, CONF_MAXIMUM);
    enum status status = share_nodes_read(root, share, prefix, &nodes, why);
    if (status == STATUS_OK) {
        status = files.replace(files.context, "./cluster.conf", buf_slice(&nodes), why);
    }
    if (status == STATUS_OK) {
        status = files.replace(files.context, "./quadrille.conf", slice_string(text), why);
    }
    buf_release(&nodes);
    root_files_close(&files);
    TRY(status);
    TRY(link_to(settings, directory, "settings", why));
    return access(transforms, F_OK) == 0 ? link_to(transforms, directory, "transforms", why)
                                         : STATUS_OK;
}

enum status
share_disk_prepare(const char *root, const char *disk, size_t share, const char *copy,
                   char directory[SHARE_DISK_PATH_SIZE], struct reason *why)
{
    share_disk_path(disk, share, copy, "", directory);
    TRY(name_whole(disk, share, copy, directory, why));
    return put_settings(root, share, directory, why);
}

/* ---- what there is ---- */

/* nftw has no context. */
static struct {
    size_t length; /* of the path of the folder, with its slash */
    uint64_t since;
    struct share_extent extent;
    struct buf line;
    pthread_mutex_t lock;
} measured = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int
measure_one(const char *path, const struct stat *info, int type, struct FTW *place)
{
    (void)place;
    if (type == FTW_NS || type == FTW_DNR) {
        return -1;
    }
    const char *name = path + measured.length;
    if (type != FTW_F || !S_ISREG(info->st_mode) || strncmp(name, "run/", 4) == 0) {
        return 0;
    }
    const struct timespec times[] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_NOW}};
    if ((uint64_t)info->st_mtim.tv_sec >= measured.since &&
        utimensat(AT_FDCWD, path, times, 0) != 0) {
        return -1;
    }
    buf_reset(&measured.line);
    buf_printf(&measured.line, "%s\t%" PRIu64, name, (uint64_t)info->st_size);
    measured.extent.files++;
    measured.extent.bytes += (uint64_t)info->st_size;
    measured.extent.digest += fingerprint64(buf_slice(&measured.line));
    return 0;
}

enum status
share_disk_measure(const char *directory, uint64_t since, struct share_extent *extent,
                   struct reason *why)
{
    (void)pthread_mutex_lock(&measured.lock);
    measured.length = strlen(directory) + 1;
    measured.since = since;
    measured.extent = (struct share_extent){0};
    buf_init(&measured.line, LINE_MAXIMUM);
    const enum status status = nftw(directory, measure_one, OPEN_FOLDERS, FTW_PHYS) == 0
                                   ? STATUS_OK
                                   : status_fail_errno(why, "cannot read all of %.200s", directory);
    *extent = measured.extent;
    buf_release(&measured.line);
    (void)pthread_mutex_unlock(&measured.lock);
    return status;
}
