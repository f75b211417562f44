/* Tries what the cage of external programs forbids, as such a program would. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "stages/sandbox/sandbox.h"

enum { NOT_STOPPED = 0, STOPPED = 1, NO_SANDBOX = 2 };

/* Holds what lies outside of the sandbox. */
struct world {
    char folder[64], file[96], other[96];
    struct sockaddr_un local, abstract;
    socklen_t abstract_length;
    int listening[2];
    pid_t stranger;
};

/* ---- files ---- */

static bool
read_file(const struct world *world)
{
    return open(world->file, O_RDONLY | O_CLOEXEC) >= 0;
}

static bool
write_file(const struct world *world)
{
    return open(world->file, O_WRONLY | O_CLOEXEC) >= 0;
}

static bool
make_file(const struct world *world)
{
    return open(world->other, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) >= 0;
}

static bool
truncate_file(const struct world *world)
{
    return truncate(world->file, 0) == 0;
}

static bool
truncate_by_opening(const struct world *world)
{
    return open(world->file, O_RDONLY | O_TRUNC | O_CLOEXEC) >= 0;
}

static bool
change_mode(const struct world *world)
{
    return chmod(world->file, 0777) == 0;
}

static bool
change_owner(const struct world *world)
{
    return chown(world->file, getuid(), getgid()) == 0;
}

static bool
change_times(const struct world *world)
{
    return utimensat(AT_FDCWD, world->file, NULL, 0) == 0;
}

static bool
set_attribute(const struct world *world)
{
    return setxattr(world->file, "user.quadrille", "1", 1, 0) == 0;
}

static bool
rename_file(const struct world *world)
{
    return rename(world->file, world->other) == 0;
}

static bool
link_file(const struct world *world)
{
    return link(world->file, world->other) == 0;
}

static bool
remove_file(const struct world *world)
{
    return unlink(world->file) == 0;
}

static bool
make_folder(const struct world *world)
{
    return mkdir(world->other, 0700) == 0;
}

static bool
mount_something(const struct world *world)
{
    return mount("none", world->folder, "tmpfs", 0, NULL) == 0;
}

/* ---- other processes ---- */

static bool
signal_stranger(const struct world *world)
{
    return kill(world->stranger, SIGKILL) == 0;
}

static bool
signal_thread(const struct world *world)
{
    return syscall(SYS_tgkill, world->stranger, world->stranger, SIGKILL) == 0;
}

static bool
queue_signal(const struct world *world)
{
    return sigqueue(world->stranger, SIGKILL, (union sigval){0}) == 0;
}

static bool
signal_worker(const struct world *world)
{
    (void)world;
    return kill(getppid(), 0) == 0;
}

static bool
signal_by_pipe(const struct world *world)
{
    int pipes[2];
    return pipe(pipes) == 0 && fcntl(pipes[0], F_SETOWN, world->stranger) == 0;
}

static bool
hold_stranger(const struct world *world)
{
    return syscall(SYS_pidfd_open, world->stranger, 0) >= 0;
}

static bool
trace_stranger(const struct world *world)
{
    return ptrace(PTRACE_SEIZE, world->stranger, NULL, NULL) == 0;
}

static bool
limit_stranger(const struct world *world)
{
    const struct rlimit none = {0, 0};
    return prlimit(world->stranger, RLIMIT_NOFILE, &none, NULL) == 0;
}

static bool
slow_stranger(const struct world *world)
{
    return setpriority(PRIO_PROCESS, (id_t)world->stranger, 19) == 0;
}

static bool
share_memory(const struct world *world)
{
    (void)world;
    return shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600) >= 0;
}

/* ---- leaving ---- */

/* Tells whether a call that leaves the process group succeeds. It is tried in a child, since the
 * program itself leads its group, and to a leader the kernel refuses such calls anyway. */
static bool
child_can(bool (*leaves)(void))
{
    const pid_t child = fork();
    if (child == 0) {
        _exit(leaves());
    }
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 1;
}

static bool
has_session(void)
{
    return setsid() >= 0;
}

static bool
has_group(void)
{
    return setpgid(0, 0) == 0;
}

static bool
begin_session(const struct world *world)
{
    (void)world;
    return child_can(has_session);
}

static bool
leave_group(const struct world *world)
{
    (void)world;
    return child_can(has_group);
}

static bool
make_namespace(const struct world *world)
{
    (void)world;
    return unshare(CLONE_NEWUSER) == 0;
}

static bool
start_in_namespace(const struct world *world)
{
    (void)world;
    const long child = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, 0);
    if (child == 0) {
        _exit(0);
    }
    return child > 0;
}

/* ---- sockets ---- */

static bool
connect_local(const struct world *world)
{
    const int end = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return end >= 0 &&
           connect(end, (const struct sockaddr *)&world->local, sizeof world->local) == 0;
}

static bool
connect_abstract(const struct world *world)
{
    const int end = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return end >= 0 &&
           connect(end, (const struct sockaddr *)&world->abstract, world->abstract_length) == 0;
}

static bool
make_datagrams(const struct world *world)
{
    (void)world;
    int pair[2];
    return socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0;
}

static bool
make_network_socket(const struct world *world)
{
    (void)world;
    return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0;
}

static bool
make_kernel_socket(const struct world *world)
{
    (void)world;
    return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0) >= 0;
}

/* ---- the kernel ---- */

static bool
ring(const struct world *world)
{
    (void)world;
    char parameters[256] = {0};
    return syscall(SYS_io_uring_setup, 1, parameters) >= 0;
}

static bool
handle_faults(const struct world *world)
{
    (void)world;
    return syscall(SYS_userfaultfd, O_CLOEXEC) >= 0;
}

static bool
load_program(const struct world *world)
{
    (void)world;
    char attributes[128] = {1}; /* an array */
    attributes[4] = attributes[8] = attributes[12] = 4;
    return syscall(SYS_bpf, 0, attributes, sizeof attributes) >= 0;
}

static bool
use_keys(const struct world *world)
{
    (void)world;
    return syscall(SYS_keyctl, 0, -3, 0, 0, 0) >= 0;
}

static const struct trial {
    const char *name;
    bool (*succeeds)(const struct world *world);
    bool needs_landlock;
} trials[] = {
    {"read a file of others", read_file, true},
    {"write to a file", write_file, false},
    {"make a file", make_file, false},
    {"truncate a file", truncate_file, false},
    {"truncate a file by opening it", truncate_by_opening, false},
    {"change a file's mode", change_mode, false},
    {"change a file's owner", change_owner, false},
    {"change a file's times", change_times, false},
    {"set an attribute of a file", set_attribute, false},
    {"rename a file", rename_file, false},
    {"link a file", link_file, false},
    {"remove a file", remove_file, false},
    {"make a folder", make_folder, false},
    {"mount", mount_something, false},
    {"kill another process", signal_stranger, false},
    {"kill a thread of another process", signal_thread, false},
    {"queue a signal for another process", queue_signal, false},
    {"signal the worker", signal_worker, false},
    {"have the kernel signal another process", signal_by_pipe, false},
    {"hold another process", hold_stranger, false},
    {"trace another process", trace_stranger, false},
    {"limit another process", limit_stranger, false},
    {"slow another process", slow_stranger, false},
    {"share memory", share_memory, false},
    {"begin a session", begin_session, false},
    {"leave the process group", leave_group, false},
    {"make a namespace", make_namespace, false},
    {"start a process in a namespace", start_in_namespace, false},
    {"connect to a local socket", connect_local, false},
    {"connect to an abstract socket", connect_abstract, false},
    {"make a socket for local datagrams", make_datagrams, false},
    {"open a network socket", make_network_socket, false},
    {"open a socket to the kernel", make_kernel_socket, false},
    {"use io_uring", ring, false},
    {"use userfaultfd", handle_faults, false},
    {"use bpf", load_program, false},
    {"use keys", use_keys, false},
};

/* ---- the world outside ---- */

static int
listen_at(const struct sockaddr_un *address, socklen_t length)
{
    const int end = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (end >= 0 && bind(end, (const struct sockaddr *)address, length) == 0) {
        (void)listen(end, 8);
    }
    return end;
}

static pid_t
start_stranger(void)
{
    const pid_t stranger = fork();
    if (stranger == 0) {
        for (;;) {
            pause();
        }
    }
    return stranger;
}

static bool
build(struct world *world)
{
    enum { TEMPORARY_MOST = 32 }; /* paths of sockets are short */
    const char *temporary = getenv("TMPDIR");
    if (!temporary || strlen(temporary) > TEMPORARY_MOST) {
        temporary = "/tmp";
    }
    snprintf(world->folder, sizeof world->folder, "%.32s/quadrille-selftest.XXXXXX", temporary);
    if (!mkdtemp(world->folder)) {
        return false;
    }
    snprintf(world->file, sizeof world->file, "%s/file", world->folder);
    snprintf(world->other, sizeof world->other, "%s/other", world->folder);
    const int file = open(world->file, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    const bool written = file >= 0 && write(file, "text", 4) == 4;
    close(file);
    world->local.sun_family = world->abstract.sun_family = AF_UNIX;
    snprintf(world->local.sun_path, sizeof world->local.sun_path, "%s/socket", world->folder);
    world->abstract_length =
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                    (size_t)snprintf(world->abstract.sun_path + 1,
                                     sizeof world->abstract.sun_path - 1, "%s", world->folder));
    world->listening[0] = listen_at(&world->local, sizeof world->local);
    world->listening[1] = listen_at(&world->abstract, world->abstract_length);
    world->stranger = start_stranger();
    return written && world->stranger > 0;
}

static void
clear(struct world *world)
{
    close(world->listening[0]);
    close(world->listening[1]);
    if (world->stranger > 0) {
        kill(world->stranger, SIGKILL);
        while (waitpid(world->stranger, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    unlink(world->file);
    unlink(world->other);
    rmdir(world->other);
    unlink(world->local.sun_path);
    rmdir(world->folder);
}

/* A worker in its cage, which starts the program in the inner one. */
static int
run_trial(const struct trial *trial, const struct world *world, int *status)
{
    const pid_t worker = fork();
    if (worker == 0) {
        int ended = 0;
        if (sandbox_enter(SANDBOX_PROGRAM, 0, NULL) != STATUS_OK) {
            _exit(NO_SANDBOX);
        }
        const pid_t program = fork();
        if (program == 0) {
            setpgid(0, 0);
            _exit(!sandbox_enter_program() ? NO_SANDBOX
                  : trial->succeeds(world) ? NOT_STOPPED
                                           : STOPPED);
        }
        if (program < 0 || waitpid(program, &ended, 0) != program || !WIFEXITED(ended)) {
            _exit(NO_SANDBOX);
        }
        _exit(WEXITSTATUS(ended));
    }
    if (worker < 0) {
        return -1;
    }
    while (waitpid(worker, status, 0) < 0 && errno == EINTR) {
    }
    return 0;
}

unsigned
sandbox_selftest_program(sandbox_report *report, void *context)
{
    unsigned failures = 0;
    struct world world = {.listening = {-1, -1}};
    if (!build(&world)) {
        report(context, "prepare for the trials", false, "no folder or no process could be made");
        clear(&world);
        return 1;
    }
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        int status = 0;
        if (trials[i].needs_landlock && !sandbox_has_landlock()) {
            continue;
        }
        const bool ran = run_trial(&trials[i], &world, &status) == 0 && WIFEXITED(status);
        const bool stopped = ran && WEXITSTATUS(status) == STOPPED;
        failures += !stopped;
        report(context, trials[i].name, stopped,
               stopped                                     ? "the call failed"
               : !ran || WEXITSTATUS(status) == NO_SANDBOX ? "the sandbox could not be entered"
                                                           : "it succeeded");
    }
    clear(&world);
    return failures;
}
