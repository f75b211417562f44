/* Locks in DIR/run: who runs a process of a data directory, and who uses it. docs/PROCESSES.md has
 * the protocol. They are flock(2)'s: the kernel gives one back when the last process that has its
 * descriptor ends, however it ends. */
#ifndef CONFIG_RUN_LOCK_H
#define CONFIG_RUN_LOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define SUPERVISOR_LOCK "supervisor.lock"
/* Locked while a command has the directory at rest. It is no process, so its name is no NAME.lock.
 */
#define REST_LOCK "rest"
#define SUPERVISOR_STOPPED "stopped\n" /* what it holds after the supervisor was told to end */

/* DIR/run/NAME, which is made where it is missing. A descriptor, close-on-exec; -1 and errno. */
int run_lock_open(const char *directory, const char *name);
/* DIR/run/PART.users. */
int run_lock_open_users(const char *directory, const char *part);
/* operation: LOCK_EX, LOCK_SH. Waits, also when signals come in. False when it fails. */
bool run_lock_wait(int lock, int operation);
/* Takes the lock at once; false when somebody has it. */
bool run_lock_try(int lock, int operation);

/* Writes what the file says of its owner: his process id, or a word that he leaves behind. */
void run_lock_sign(int lock, const char *text);
/* The process id that the file has; 0: none. Without looking whether it lives. */
pid_t run_lock_signed(int lock);
/* Removes those files of the directory's locks, DIR/run/NAME and DIR/FOLDER/lock, that cannot be
 * locked any more, so that new ones take their place, and returns their number. CephFS fails with
 * EIO on every file of which a process had a lock when the client lost its session, also after that
 * process has ended. Only for who knows by other means that nobody uses the directory. */
size_t run_locks_remove_lost(const char *directory);
/* Returns whether somebody has DIR/run/NAME for himself alone; owner: his process id, 0 when he has
 * not signed yet. */
bool run_lock_held(const char *directory, const char *name, pid_t *owner);

#endif
