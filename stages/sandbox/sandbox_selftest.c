/* Tries what the sandbox forbids, each in a child of its own. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stages/sandbox/sandbox.h"

enum { NOT_STOPPED = 0, STOPPED = 1, NO_SANDBOX = 2, MEMORY = 64 << 20 };

static bool
read_file(void)
{
    return open("/etc/passwd", O_RDONLY | O_CLOEXEC) >= 0;
}

static bool
write_file(void)
{
    return open("/tmp/quadrille-selftest", O_WRONLY | O_CREAT | O_CLOEXEC, 0600) >= 0;
}

static bool
list_folder(void)
{
    return open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) >= 0;
}

static bool
make_folder(void)
{
    return mkdir("/tmp/quadrille-selftest.d", 0700) == 0;
}

static bool
make_socket(void)
{
    return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0;
}

static bool
make_process(void)
{
    const pid_t child = fork();
    if (child == 0) {
        _exit(0);
    }
    return child > 0;
}

static bool
execute(void)
{
    char *arguments[] = {(char[]){"true"}, NULL};
    execv("/bin/true", arguments);
    return false; /* still here */
}

static bool
signal_parent(void)
{
    return kill(getppid(), 0) == 0;
}

static bool
trace(void)
{
    return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0;
}

static bool
executable_memory(void)
{
    return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                0) != MAP_FAILED;
}

static bool
much_memory(void)
{
    return mmap(NULL, (size_t)MEMORY * 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                0) != MAP_FAILED;
}

static const struct trial {
    const char *name;
    bool (*succeeds)(void);
} trials[] = {
    {"read a file", read_file},
    {"write a file", write_file},
    {"list a folder", list_folder},
    {"make a folder", make_folder},
    {"open a network socket", make_socket},
    {"start a process", make_process},
    {"execute a program", execute},
    {"signal another process", signal_parent},
    {"trace a process", trace},
    {"make memory executable", executable_memory},
    {"take more memory than allowed", much_memory},
};

static int
run_trial(const struct trial *trial, int *status)
{
    const pid_t child = fork();
    if (child == 0) {
        if (sandbox_enter(SANDBOX_PARSER, MEMORY, NULL) != STATUS_OK) {
            _exit(NO_SANDBOX);
        }
        _exit(trial->succeeds() ? NOT_STOPPED : STOPPED);
    }
    if (child < 0) {
        return -1;
    }
    while (waitpid(child, status, 0) < 0 && errno == EINTR) {
    }
    return 0;
}

unsigned
sandbox_selftest(sandbox_report *report, void *context)
{
    unsigned failures = 0;
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        int status = 0;
        char how[64] = "the call failed";
        bool stopped = false;
        if (run_trial(&trials[i], &status) != 0) {
            snprintf(how, sizeof how, "no child could be started");
        } else if (WIFSIGNALED(status)) {
            stopped = true;
            snprintf(how, sizeof how, "ended by signal %d", WTERMSIG(status));
        } else if (WIFEXITED(status) && WEXITSTATUS(status) == STOPPED) {
            stopped = true;
        } else if (WIFEXITED(status) && WEXITSTATUS(status) == NO_SANDBOX) {
            snprintf(how, sizeof how, "the sandbox could not be entered");
        } else {
            snprintf(how, sizeof how, "it succeeded");
        }
        failures += !stopped;
        report(context, trials[i].name, stopped, how);
    }
    return failures;
}
