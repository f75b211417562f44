#include "cli/supervisor/process_log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/system/file.h"
#include "base/system/log.h"

static void
log_path(const char *directory, const char *name, const char *suffix, struct buf *out)
{
    buf_init(out, 1 << 16);
    buf_printf(out, "%s/log/%s.log%s", directory, name, suffix);
}

int
process_log_open(const char *directory, const char *name)
{
    struct buf path;
    log_path(directory, name, "", &path);
    const int log = open(path.data, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    buf_release(&path);
    return log;
}

/* Copies and truncates: the child keeps its O_APPEND descriptor and writes on from 0. */
void
process_log_bound(const char *directory, const char *name, uint64_t most)
{
    struct buf path, old;
    struct stat info;
    log_path(directory, name, "", &path);
    log_path(directory, name, ".1", &old);
    const int in = open(path.data, O_RDWR | O_CLOEXEC);
    if (in >= 0 && fstat(in, &info) == 0 && (uint64_t)info.st_size > most) {
        const int out = open(old.data, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        while (out >= 0 && sendfile(out, in, NULL, 1 << 20) > 0) {
        }
        file_close(out);
        if (ftruncate(in, 0) != 0) {
            log_warning("log_kept", "file=%s reason=%s", path.data, strerror(errno));
        }
    }
    file_close(in);
    buf_release(&path);
    buf_release(&old);
}
