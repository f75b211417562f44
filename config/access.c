#include "config/access.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/system/log.h"
#include "config/config.h"

const struct opt access_options[] = {
    {"files.readers", OPT_CHOICE, "owner", 0, 0, "owner|group|everyone",
     "Who may read archive, index, metadata and downloads of the data directory besides root: the "
     "user whose processes write them, because what was crawled may be meant for nobody else; that "
     "user's group; or everyone. Sockets, locks, logs and the configuration are the owner's "
     "alone."},
    {.name = NULL}};

enum { PATH_BYTES = 1 << 16 };

void
access_restrict(const struct opt_set *options)
{
    const char *readers = opt_string(options, "files.readers");
    (void)umask(strcmp(readers, "owner") == 0 ? 0077 : strcmp(readers, "group") == 0 ? 0027 : 0022);
}

/* Folders keep what is in them, of whatever mode, from those who may not enter. */
static const struct {
    const char *name;
    bool always; /* the owner's alone, whatever files.readers says */
} guarded[] = {{"run", true},
               {"log", true},
               {"tmp", true},
               {"pings", true},
               {"import", true},
               {"queue", true},
               {"quadrille.conf", true},
               {"curve.secret", true},
               {"warc", false},
               {"metastore", false},
               {"dumps", false},
               {"slices", false}};

static void
narrow(const char *path, mode_t denied)
{
    struct stat info;
    const int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) {
        return; /* not there, or not ours to read */
    }
    const mode_t mode = fstat(file, &info) == 0 ? info.st_mode & 07777 : 0;
    if ((mode & denied) != 0) {
        if (fchmod(file, mode & ~denied) == 0) {
            log_info("narrowed", "path=%s from=%04o to=%04o", path, (unsigned)mode,
                     (unsigned)(mode & ~denied));
        } else {
            log_warning("readable_by_others", "path=%s mode=%04o reason=%s", path, (unsigned)mode,
                        strerror(errno));
        }
    }
    close(file);
}

void
access_narrow(const char *directory)
{
    const mode_t mask = umask(0077);
    (void)umask(mask);
    struct buf path;
    buf_init(&path, PATH_BYTES);
    for (size_t i = 0; i < sizeof guarded / sizeof guarded[0]; i++) {
        buf_reset(&path);
        config_path(directory, guarded[i].name, &path);
        if (path.data != NULL) {
            narrow(path.data, guarded[i].always ? 0077 : mask);
        }
    }
    buf_release(&path);
}
