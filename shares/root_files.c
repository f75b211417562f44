/* The files of a ROOT on a file system. A file is written under a name of its own and gets its name
 * by rename(2), or by link(2) where it must not replace another: link fails when the name is taken
 * on every POSIX file system, also over a network. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/file.h"
#include "shares/share_files.h"

enum { PATH_MAXIMUM = 4096 };

struct root_files {
    char root[PATH_MAXIMUM / 2];
    char unique[128];
};

static void
path_of(const struct root_files *files, const char *name, char path[PATH_MAXIMUM])
{
    (void)snprintf(path, PATH_MAXIMUM, "%s/%s", files->root, name);
}

static enum status
root_read(void *context, const char *name, struct buf *text, struct reason *why)
{
    char path[PATH_MAXIMUM];
    path_of(context, name, path);
    return file_read(path, text, why);
}

/* "machines/.alpha.1f" for "machines/alpha": lists leave out what begins with a dot. */
static void
path_of_draft(const struct root_files *files, const char *name, char path[PATH_MAXIMUM])
{
    const char *slash = strrchr(name, '/');
    const int folder = slash != NULL ? (int)(slash - name) + 1 : 0;
    (void)snprintf(path, PATH_MAXIMUM, "%s/%.*s.%s", files->root, folder, name, files->unique);
}

static enum status
write_draft(const char *path, struct slice text, struct reason *why)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool good = file >= 0 && file_write_all(file, text) && fsync(file) == 0;
    if (file >= 0) {
        good = close(file) == 0 && good;
    }
    return good ? STATUS_OK : status_fail_errno(why, "cannot write %.200s", path);
}

static enum status
sync_folder_of(const struct root_files *files, const char *name, struct reason *why)
{
    char path[PATH_MAXIMUM];
    path_of(files, name, path);
    *strrchr(path, '/') = '\0';
    return file_sync_folder(path, why);
}

static enum status
root_replace(void *context, const char *name, struct slice text, struct reason *why)
{
    char path[PATH_MAXIMUM], draft[PATH_MAXIMUM];
    path_of(context, name, path);
    path_of_draft(context, name, draft);
    TRY(write_draft(draft, text, why));
    if (rename(draft, path) != 0) {
        return status_fail_errno(why, "cannot rename %.200s to %.200s", draft, path);
    }
    return sync_folder_of(context, name, why);
}

static enum status
root_make(void *context, const char *name, struct slice text, bool *made, struct reason *why)
{
    char path[PATH_MAXIMUM], draft[PATH_MAXIMUM];
    struct stat info;
    *made = false;
    path_of(context, name, path);
    path_of_draft(context, name, draft);
    TRY(write_draft(draft, text, why));
    *made = link(draft, path) == 0;
    const int error = errno;
    if (!*made) { /* NFS may do it and say otherwise, when the answer is lost and it asks again */
        *made = stat(draft, &info) == 0 && info.st_nlink == 2;
    }
    (void)unlink(draft);
    if (!*made && error != EEXIST) {
        errno = error;
        return status_fail_errno(why, "cannot link %.200s", path);
    }
    return sync_folder_of(context, name, why);
}

static enum status
root_list(void *context, const char *folder, share_file_visit *visit, void *visit_context,
          struct reason *why)
{
    char path[PATH_MAXIMUM];
    path_of(context, folder, path);
    DIR *open_folder = opendir(path);
    if (open_folder == NULL) {
        return status_fail_errno(why, "cannot list %.200s", path);
    }
    const struct dirent *entry;
    errno = 0;
    while ((entry = readdir(open_folder)) != NULL) {
        if (entry->d_name[0] != '.') {
            visit(visit_context, entry->d_name);
        }
        errno = 0;
    }
    const enum status status =
        errno == 0 ? STATUS_OK : status_fail_errno(why, "cannot list %.200s", path);
    (void)closedir(open_folder);
    return status;
}

static enum status
root_remove(void *context, const char *name, struct reason *why)
{
    char path[PATH_MAXIMUM];
    path_of(context, name, path);
    return unlink(path) == 0 || errno == ENOENT
               ? STATUS_OK
               : status_fail_errno(why, "cannot remove %.200s", path);
}

enum status
root_files_open(struct share_files *files, const char *root, const char *unique, struct reason *why)
{
    struct root_files *context = memory_new(sizeof *context);
    *files = (struct share_files){.context = context,
                                  .read = root_read,
                                  .replace = root_replace,
                                  .make = root_make,
                                  .list = root_list,
                                  .remove = root_remove};
    if (strlen(root) >= sizeof context->root || strlen(unique) >= sizeof context->unique) {
        root_files_close(files);
        return status_fail(why, STATUS_MISUSE, "%.100s is too long a path", root);
    }
    (void)snprintf(context->root, sizeof context->root, "%s", root);
    (void)snprintf(context->unique, sizeof context->unique, "%s", unique);
    return STATUS_OK;
}

void
root_files_close(struct share_files *files)
{
    free(files->context);
    *files = (struct share_files){0};
}
