#include "cli/backup/directory_backup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/file.h"
#include "cli/supervisor/directory_rest.h"
#include "store/page.h"

enum { DEPTH_MOST = 16, PIECE_BYTES = 1 << 18, PIECE_MOST = 1 << 30 };

/* Belongs to what runs, not to what is kept. The shares of ROOT are places of their own. */
static const char *const left_out[] = {"run", "log", "tmp", "settings"};
static const char *const left_out_of_root[] = {"run",    "log",       "tmp",   "machines",
                                               "claims", "addresses", "shares"};

/* How far the pages of a file have been looked at. */
struct pages {
    size_t size; /* 0: not known yet */
    uint32_t next;
};

struct walk;
typedef enum status visit_file(struct walk *walk, const char *name, const struct stat *info,
                               struct reason *why);
struct walk {
    const char *folder; /* names are relative to it */
    const struct backup_place *place;
    const char *target; /* of the place */
    bool running;       /* files may go while they are looked at */
    visit_file *visit;
    struct backup_copied *copied;
    FILE *manifest;
};

/* ---- going through a directory ---- */

static enum status
join(char path[BACKUP_PATH_SIZE], const char *folder, const char *name, struct reason *why)
{
    const int n =
        snprintf(path, BACKUP_PATH_SIZE, "%s%s%s", folder, name[0] != '\0' ? "/" : "", name);
    return n > 0 && n < BACKUP_PATH_SIZE
               ? STATUS_OK
               : status_fail(why, STATUS_MISUSE, "%.200s is too long a path", folder);
}

static bool
is_root(const struct backup_place *place)
{
    return strcmp(place->name, BACKUP_OF_ROOT) == 0;
}

static bool
is_left_out(const struct walk *walk, const char *folder, const char *name)
{
    const bool of_root = is_root(walk->place);
    const char *const *names = of_root ? left_out_of_root : left_out;
    const size_t count = of_root ? sizeof left_out_of_root / sizeof left_out_of_root[0]
                                 : sizeof left_out / sizeof left_out[0];
    /* Each copy has locks of its own. */
    bool out = strcmp(name, "lock") == 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
    for (size_t i = 0; i < count && folder[0] == '\0'; i++) {
        out = out || strcmp(name, names[i]) == 0;
    }
    return out;
}

static enum status walk_folder(struct walk *walk, const char *folder, int depth,
                               struct reason *why);

static enum status
check_name(const char *path, struct reason *why)
{
    return strpbrk(path, "\t\n") == NULL
               ? STATUS_OK
               : status_fail(why, STATUS_UNSUPPORTED,
                             "%s: a name with a tab or a line end cannot stand in MANIFEST", path);
}

static enum status
walk_entry(struct walk *walk, const char *name, int depth, struct reason *why)
{
    char path[BACKUP_PATH_SIZE];
    struct stat info;
    TRY(join(path, walk->folder, name, why));
    TRY(check_name(path, why));
    if (stat(path, &info) != 0) {
        return walk->running && errno == ENOENT ? STATUS_OK
                                                : status_fail_errno(why, "cannot read %s", path);
    }
    if (S_ISDIR(info.st_mode)) {
        return walk_folder(walk, name, depth + 1, why);
    }
    return S_ISREG(info.st_mode) ? walk->visit(walk, name, &info, why) : STATUS_OK;
}

static enum status
walk_folder(struct walk *walk, const char *folder, int depth, struct reason *why)
{
    char path[BACKUP_PATH_SIZE], name[BACKUP_PATH_SIZE];
    struct dirent **entries;
    TRY(join(path, walk->folder, folder, why));
    const int count = scandir(path, &entries, NULL, alphasort);
    if (count < 0) {
        return walk->running && errno == ENOENT ? STATUS_OK
                                                : status_fail_errno(why, "cannot read %s", path);
    }
    enum status status = depth > DEPTH_MOST
                             ? status_fail(why, STATUS_LIMIT, "%s: folders in folders", path)
                             : STATUS_OK;
    for (int i = 0; i < count; i++) {
        if (status == STATUS_OK && !is_left_out(walk, folder, entries[i]->d_name)) {
            status = folder[0] != '\0' ? join(name, folder, entries[i]->d_name, why)
                                       : join(name, entries[i]->d_name, "", why);
            status = status == STATUS_OK ? walk_entry(walk, name, depth, why) : status;
        }
        free(entries[i]);
    }
    free(entries);
    return status;
}

/* ---- copying ---- */

/* Files at rest are the same when size and time of the last write are: to the nanosecond, and
 * processes started between any two looks. */
static bool
is_same(const struct stat *a, const struct stat *b)
{
    return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static bool
copy_bytes(int from, int to)
{
    ssize_t n;
    if (ioctl(to, FICLONE, from) == 0) {
        return true;
    }
    while ((n = copy_file_range(from, NULL, to, NULL, PIECE_MOST, 0)) > 0) {
    }
    if (n == 0 || (errno != EXDEV && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP)) {
        return n == 0;
    }
    char *bytes = memory_alloc(PIECE_BYTES);
    bool good = true;
    while (good && (n = read(from, bytes, PIECE_BYTES)) > 0) {
        good = file_write_all(to, slice_of(bytes, (size_t)n));
    }
    free(bytes);
    return good && n == 0;
}

/* info: of the source, before it was read: one that is written meanwhile looks changed later. */
static enum status
copy_file(const char *from, const char *to, const struct stat *info, bool may_be_gone,
          struct reason *why)
{
    const struct timespec times[] = {{.tv_nsec = UTIME_OMIT}, info->st_mtim};
    const int in = open(from, O_RDONLY | O_CLOEXEC);
    if (in < 0) {
        return may_be_gone && errno == ENOENT ? STATUS_OK
                                              : status_fail_errno(why, "cannot read %s", from);
    }
    const int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    enum status status = STATUS_OK;
    if (out < 0 || !copy_bytes(in, out) || futimens(out, times) != 0) {
        const bool full = errno == ENOSPC || errno == EDQUOT;
        status = status_fail_errno(why, "cannot copy %s to %s", from, to);
        status = full ? STATUS_FULL : status;
    }
    (void)close(in);
    file_close(out);
    return status;
}

static enum status
make_folders_of(const char *target, const char *name, struct reason *why)
{
    char path[BACKUP_PATH_SIZE];
    TRY(join(path, target, name, why));
    for (char *slash = path + strlen(target) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        if (mkdir(path, 0700) != 0 && errno != EEXIST) {
            return status_fail_errno(why, "cannot make %s", path);
        }
        *slash = '/';
    }
    return STATUS_OK;
}

/* An earlier backup's file is never written to, so both may have it. */
static bool
share_earlier(const struct walk *walk, const char *name, const char *to, const struct stat *info)
{
    char path[BACKUP_PATH_SIZE];
    struct stat earlier;
    struct reason why;
    return walk->place->earlier[0] != '\0' &&
           join(path, walk->place->earlier, name, &why) == STATUS_OK && stat(path, &earlier) == 0 &&
           S_ISREG(earlier.st_mode) && is_same(info, &earlier) && link(path, to) == 0;
}

static enum status
take_file(struct walk *walk, const char *name, const struct stat *info, struct reason *why)
{
    char from[BACKUP_PATH_SIZE], to[BACKUP_PATH_SIZE];
    struct stat there;
    TRY(join(from, walk->folder, name, why));
    TRY(join(to, walk->target, name, why));
    if (stat(to, &there) == 0) {
        if (is_same(info, &there)) {
            return STATUS_OK;
        }
        if (unlink(to) != 0) {
            return status_fail_errno(why, "cannot remove %s", to);
        }
    }
    TRY(make_folders_of(walk->target, name, why));
    if (share_earlier(walk, name, to, info)) {
        walk->copied->shared += (uint64_t)info->st_size;
        return STATUS_OK;
    }
    return copy_file(from, to, info, walk->running, why);
}

/* Drops from the copy what is no longer in the source: it was copied while the source changed. */
static enum status
drop_gone(struct walk *walk, const char *name, const struct stat *info, struct reason *why)
{
    char from[BACKUP_PATH_SIZE], to[BACKUP_PATH_SIZE];
    (void)info;
    TRY(join(from, walk->place->from, name, why));
    TRY(join(to, walk->target, name, why));
    return access(from, F_OK) == 0 || unlink(to) == 0
               ? STATUS_OK
               : status_fail_errno(why, "cannot remove %s", to);
}

/* ---- the manifest ---- */

/* Returns whether the file is one of a queue's, a metadata store's or an index's trees. */
static bool
is_tree(const char *name)
{
    static const char *const folders[] = {"queue/", "metastore/", "index-"};
    const size_t length = strlen(name);
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        if (strncmp(name, folders[i], strlen(folders[i])) == 0) {
            return length > 3 && strcmp(name + length - 3, ".db") == 0;
        }
    }
    return false;
}

/* What is damaged is not kept as if it were whole. A part of a page at the end was never finished;
 * recovery writes it anew. */
static enum status
check_pages(const struct walk *walk, const char *name, const uint8_t *bytes, size_t length,
            struct pages *pages, struct reason *why)
{
    if (pages->size == 0) {
        pages->size = length >= PAGE_LEAST ? page_size_told(bytes) : 0;
    }
    const size_t size = pages->size;
    for (size_t at = 0; size == 0 || at + size <= length; at += size, pages->next++) {
        if (size == 0 || !page_is_sound(bytes + at, size, pages->next)) {
            return status_fail(why, STATUS_CORRUPT, "%s/%s: page %" PRIu32 " is damaged",
                               walk->place->from, name, pages->next);
        }
    }
    return STATUS_OK;
}

static enum status
list_file(struct walk *walk, const char *name, const struct stat *info, struct reason *why)
{
    char path[BACKUP_PATH_SIZE], digest[2 * SHA256_DIGEST_SIZE + 1];
    uint8_t sum[SHA256_DIGEST_SIZE];
    struct sha256_ctx sha;
    ssize_t n = -1;
    if (strcmp(name, "MANIFEST") == 0) {
        return STATUS_OK;
    }
    TRY(join(path, walk->target, name, why));
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    uint8_t *bytes = memory_alloc(PIECE_BYTES);
    struct pages pages = {0};
    enum status status = STATUS_OK;
    sha256_init(&sha);
    while (status == STATUS_OK && file >= 0 && (n = read(file, bytes, PIECE_BYTES)) > 0) {
        sha256_update(&sha, (size_t)n, bytes);
        status = is_tree(name) ? check_pages(walk, name, bytes, (size_t)n, &pages, why) : STATUS_OK;
    }
    if (status == STATUS_OK && (file < 0 || n != 0 || fsync(file) != 0)) {
        status = status_fail_errno(why, "cannot read and sync %s", path);
    }
    file_close(file);
    free(bytes);
    sha256_digest(&sha, sizeof sum, sum);
    digest_hex(sum, sizeof sum, digest);
    walk->copied->files++;
    walk->copied->bytes += (uint64_t)info->st_size;
    (void)fprintf(walk->manifest, "%s\t%" PRIu64 "\t%s\n", digest, (uint64_t)info->st_size, name);
    return status;
}

static enum status
sync_folder(const char *target, const char *folder, int depth, struct reason *why)
{
    char path[BACKUP_PATH_SIZE];
    struct dirent **entries;
    TRY(join(path, target, folder, why));
    const int count = scandir(path, &entries, NULL, alphasort);
    enum status status =
        count >= 0 ? file_sync_folder(path, why) : status_fail_errno(why, "cannot read %s", path);
    for (int i = 0; i < count; i++) {
        if (status == STATUS_OK && entries[i]->d_type == DT_DIR && entries[i]->d_name[0] != '.' &&
            depth < DEPTH_MOST) {
            status = sync_folder(path, entries[i]->d_name, depth + 1, why);
        }
        free(entries[i]);
    }
    free(count >= 0 ? entries : NULL);
    return status;
}

static size_t
count_partitions(const char *target)
{
    size_t count = 0;
    char path[BACKUP_PATH_SIZE], name[32];
    struct reason why;
    for (;; count++) {
        (void)snprintf(name, sizeof name, "index-%zu", count);
        if (join(path, target, name, &why) != STATUS_OK || access(path, F_OK) != 0) {
            return count;
        }
    }
}

static enum status
write_manifest(struct walk *walk, size_t shares, struct reason *why)
{
    char path[BACKUP_PATH_SIZE];
    const bool of_root = is_root(walk->place);
    TRY(join(path, walk->target, "MANIFEST", why));
    walk->manifest = fopen(path, "wxe");
    if (walk->manifest == NULL) {
        return status_fail_errno(why, "cannot make %s", path);
    }
    (void)fprintf(walk->manifest, "%s\t%zu\n", of_root ? BACKUP_CLUSTER_HEAD : BACKUP_WHOLE_HEAD,
                  of_root ? shares : count_partitions(walk->target));
    walk->folder = walk->target;
    walk->visit = list_file;
    enum status status = walk_folder(walk, "", 0, why);
    const bool written = fflush(walk->manifest) == 0 && fsync(fileno(walk->manifest)) == 0;
    if ((fclose(walk->manifest) != 0 || !written) && status == STATUS_OK) {
        status = status_fail_errno(why, "cannot write %s", path);
    }
    return status == STATUS_OK ? sync_folder(walk->target, "", 0, why) : status;
}

/* ---- the whole ---- */

struct backup {
    struct backup_place *places;
    size_t count, shares;
    const char *target;
    struct backup_copied *copied;
};
typedef enum status place_step(struct walk *walk, const struct backup *backup, struct reason *why);

static enum status
each_place(const struct backup *backup, place_step *step, struct reason *why)
{
    for (size_t i = 0; i < backup->count; i++) {
        char target[BACKUP_PATH_SIZE];
        struct walk walk = {.place = &backup->places[i],
                            .folder = backup->places[i].from,
                            .target = target,
                            .visit = take_file,
                            .copied = backup->copied};
        TRY(join(target, backup->target, walk.place->name, why));
        if (mkdir(target, 0700) != 0 && errno != EEXIST) {
            return status_fail_errno(why, "cannot make %s", target);
        }
        TRY(step(&walk, backup, why));
    }
    return STATUS_OK;
}

/* Most bytes are the archive's, whose files are not written to any more once they are full. */
static enum status
copy_archive(struct walk *walk, const struct backup *backup, struct reason *why)
{
    static const char archive[] = "warc";
    char path[BACKUP_PATH_SIZE];
    (void)backup;
    walk->running = true;
    TRY(join(path, walk->folder, archive, why));
    return access(path, F_OK) == 0 ? walk_folder(walk, archive, 1, why) : STATUS_OK;
}

static enum status
copy_rest(struct walk *walk, const struct backup *backup, struct reason *why)
{
    (void)backup;
    TRY(walk_folder(walk, "", 0, why));
    walk->folder = walk->target;
    walk->visit = drop_gone;
    return walk_folder(walk, "", 0, why);
}

static enum status
list_place(struct walk *walk, const struct backup *backup, struct reason *why)
{
    return write_manifest(walk, backup->shares, why);
}

/* All are asked before any is waited for: what one still sends another is done before both rest, or
 * stays in the outbox of the sender. */
static enum status
bring_to_rest(const struct backup *backup, struct reason *why)
{
    for (size_t i = 0; i < backup->count; i++) {
        TRY(directory_rest_ask(backup->places[i].from, &backup->places[i].rest, why));
    }
    for (size_t i = 0; i < backup->count; i++) {
        TRY(directory_rest_await(backup->places[i].from, why));
    }
    return STATUS_OK;
}

static void
end_rest(const struct backup *backup)
{
    for (size_t i = 0; i < backup->count; i++) {
        if (backup->places[i].rest >= 0) {
            (void)close(backup->places[i].rest);
            backup->places[i].rest = -1;
        }
    }
}

enum status
directory_backup(struct backup_place *places, size_t count, size_t shares, const char *target,
                 struct backup_copied *copied, struct reason *why)
{
    const struct backup backup = {
        .places = places, .count = count, .shares = shares, .target = target, .copied = copied};
    for (size_t i = 0; i < count; i++) {
        places[i].rest = -1;
    }
    TRY(each_place(&backup, copy_archive, why));
    const uint64_t began = clock_monotonic_ms();
    enum status status = bring_to_rest(&backup, why);
    if (status == STATUS_OK) {
        status = each_place(&backup, copy_rest, why);
    }
    end_rest(&backup);
    copied->rest_ms = clock_monotonic_ms() - began;
    return status == STATUS_OK ? each_place(&backup, list_place, why) : status;
}
