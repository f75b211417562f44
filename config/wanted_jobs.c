#include "config/wanted_jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/file.h"
#include "config/config.h"
#include "config/pass_settings.h"
#include "config/run_lock.h"

enum { PATH_BYTES = 1 << 16, SETTINGS_BYTES = 1 << 20 };
static const char CLAIMS[] = "jobs.wanted";

static bool
lock_claims(int claims, int command, struct flock *lock)
{
    lock->l_whence = SEEK_SET;
    lock->l_len = 1;
    while (fcntl(claims, command, lock) != 0) {
        if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

static bool
write_settings(const char *directory, struct slice text)
{
    struct buf path, fresh;
    buf_init(&path, PATH_BYTES);
    buf_init(&fresh, PATH_BYTES);
    config_path(directory, "run/settings", &path);
    buf_printf(&fresh, "%s.%d", path.data, (int)getpid());
    const int file = open(fresh.data, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool good = file >= 0 && file_write_all(file, text);
    if (file >= 0) {
        good = close(file) == 0 && good && rename(fresh.data, path.data) == 0;
    }
    buf_release(&path);
    buf_release(&fresh);
    return good;
}

enum status
wanted_jobs_claim(const char *directory, const struct flag_list *assignments, int *claim,
                  struct reason *why)
{
    struct flock lock = {.l_type = F_RDLCK};
    struct buf text;
    *claim = -1;
    buf_init(&text, SETTINGS_BYTES);
    enum status status = settings_text(assignments, &text, why);
    if (status == STATUS_OK) {
        *claim = run_lock_open(directory, CLAIMS);
        /* The settings first: whoever sees the lock finds them. */
        if (*claim < 0 || !write_settings(directory, buf_slice(&text)) ||
            !lock_claims(*claim, F_OFD_SETLKW, &lock)) {
            status = status_fail_errno(why, "cannot write what jobs are wanted with in %s/run",
                                       directory);
        }
    }
    buf_release(&text);
    if (status != STATUS_OK && *claim >= 0) {
        close(*claim);
        *claim = -1;
    }
    return status;
}

enum status
wanted_jobs_open(struct wanted_jobs *wanted, const char *directory, struct reason *why)
{
    *wanted =
        (struct wanted_jobs){.directory = directory, .claims = run_lock_open(directory, CLAIMS)};
    return wanted->claims >= 0
               ? STATUS_OK
               : status_fail_errno(why, "cannot open %s/run/jobs.wanted", directory);
}

bool
wanted_jobs_any(const struct wanted_jobs *wanted)
{
    struct flock lock = {.l_type = F_WRLCK}; /* one that could not be had beside theirs */
    return lock_claims(wanted->claims, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
}

enum status
wanted_jobs_settings(struct wanted_jobs *wanted, struct opt_set **options, struct reason *why)
{
    struct buf file;
    struct stat info;
    *options = NULL;
    buf_init(&file, PATH_BYTES);
    buf_append_char(&file, '@');
    config_path(wanted->directory, "run/settings", &file);
    const char *path = file.data + 1;
    const struct flag_list assignments = {.items = {file.data}, .count = 1};
    enum status status =
        stat(path, &info) == 0 ? STATUS_OK : status_fail_errno(why, "cannot read %s", path);
    const bool known = status == STATUS_OK && info.st_ino == wanted->settings &&
                       info.st_mtim.tv_sec == wanted->written.tv_sec &&
                       info.st_mtim.tv_nsec == wanted->written.tv_nsec;
    if (status == STATUS_OK && !known) {
        status = config_load(wanted->directory, &assignments, options, why);
        if (status == STATUS_OK) {
            wanted->settings = info.st_ino;
            wanted->written = info.st_mtim;
        }
    }
    buf_release(&file);
    return status;
}

void
wanted_jobs_close(struct wanted_jobs *wanted)
{
    if (wanted->claims > 0) {
        close(wanted->claims);
    }
    *wanted = (struct wanted_jobs){0};
}
