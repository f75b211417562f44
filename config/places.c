/* Makes the paths of things in a data directory. */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "config/config.h"

enum { PATH_BYTES = 4096, OPEN_FOLDERS_MAXIMUM = 16 };

void
config_path(const char *directory, const char *name, struct buf *out)
{
    (void)buf_printf(out, "%s/%s", directory, name);
}

void
config_scope_folder(const char *directory, struct buf *out)
{
    struct stat info;
    struct buf link;
    buf_init(&link, PATH_BYTES);
    config_path(directory, "settings", &link);
    const bool elsewhere =
        link.data != NULL && lstat(link.data, &info) == 0 && S_ISLNK(info.st_mode);
    (void)buf_append_string(out, elsewhere ? link.data : directory);
    buf_release(&link);
}

/* A descriptor of the folder that stays open; -1 when there is none. One per folder. */
static int
folder_descriptor(const char *path)
{
    static struct {
        dev_t device;
        ino_t inode;
        int descriptor;
    } open_folders[OPEN_FOLDERS_MAXIMUM];
    static size_t count;
    struct stat info;
    const int descriptor = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0 || fstat(descriptor, &info) != 0) {
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        if (open_folders[i].device == info.st_dev && open_folders[i].inode == info.st_ino) {
            (void)close(descriptor);
            return open_folders[i].descriptor;
        }
    }
    if (count == OPEN_FOLDERS_MAXIMUM) {
        (void)close(descriptor);
        return -1;
    }
    open_folders[count].device = info.st_dev;
    open_folders[count].inode = info.st_ino;
    open_folders[count++].descriptor = descriptor;
    return descriptor;
}

void
config_endpoint(const char *directory, const char *service, struct buf *out)
{
    char real[PATH_MAX];
    struct buf run;
    buf_init(&run, PATH_BYTES);
    config_path(realpath(directory, real) ? real : directory, "run", &run);
    if (run.data) {
        (void)mkdir(run.data, 0700); /* where it fails, binding tells why */
        const size_t longest = sizeof((struct sockaddr_un *)NULL)->sun_path - 1;
        const size_t length = run.length + 1 + strlen(service) + strlen(".sock");
        const int descriptor = length > longest ? folder_descriptor(run.data) : -1;
        if (descriptor >= 0) {
            buf_reset(&run);
            (void)buf_printf(&run, "/proc/self/fd/%d", descriptor);
        }
        (void)buf_printf(out, "ipc://%s/%s.sock", run.data, service);
    }
    buf_release(&run);
}
