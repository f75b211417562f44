/* Finds out from the locks in DIR/run which processes of a data directory run. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/system/file.h"
#include "cli/supervisor/supervisor.h"
#include "config/run_lock.h"

int
supervisor_pid(const char *directory)
{
    pid_t owner;
    (void)run_lock_held(directory, SUPERVISOR_LOCK, &owner);
    return (int)owner;
}

bool
supervisor_was_stopped(const char *directory)
{
    char text[sizeof SUPERVISOR_STOPPED] = "";
    const int lock = run_lock_open(directory, SUPERVISOR_LOCK);
    const bool stopped = lock >= 0 && pread(lock, text, sizeof text - 1, 0) > 0 &&
                         strcmp(text, SUPERVISOR_STOPPED) == 0;
    file_close(lock);
    return stopped;
}

int
supervisor_use(const char *directory, const char *part)
{
    const int users = run_lock_open_users(directory, part);
    if (users >= 0 && !run_lock_wait(users, LOCK_SH)) {
        close(users);
        return -1;
    }
    return users;
}

static bool
any_process(const char *directory, const char *but, char name[32], int *pid)
{
    struct buf path;
    bool found = false;
    buf_init(&path, 1 << 16);
    buf_printf(&path, "%s/run", directory);
    DIR *folder = opendir(path.data);
    for (struct dirent *entry; !found && folder != NULL && (entry = readdir(folder)) != NULL;) {
        const size_t length = strlen(entry->d_name);
        pid_t owner;
        if (length > 5 && length < 32 && strcmp(entry->d_name + length - 5, ".lock") == 0 &&
            strcmp(entry->d_name, but) != 0 && run_lock_held(directory, entry->d_name, &owner)) {
            snprintf(name, 32, "%.*s", (int)length - 5, entry->d_name);
            *pid = (int)owner;
            found = true;
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
    buf_release(&path);
    return found;
}

bool
supervisor_any_process(const char *directory, char name[32], int *pid)
{
    return any_process(directory, "", name, pid);
}

bool
supervisor_any_worker(const char *directory, char name[32], int *pid)
{
    return any_process(directory, SUPERVISOR_LOCK, name, pid);
}
