/* External programs: the document on stdin, N-Quads on stdout, QUADRILLE_URI and
 * QUADRILLE_TYPE in an otherwise empty environment, limits by the kernel. They run where the
 * sandbox for programs is, not the one for parsers (stages/sandbox/sandbox.h): this function fails
 * there because fork is forbidden. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/file.h"
#include "transforms/core/transformation.h"

enum { ARGUMENTS_MAXIMUM = 32, NO_CAGE = 126 };

static void
limit(int resource, uint64_t value)
{
    const struct rlimit limits = {value, value};
    setrlimit(resource, &limits);
}

static _Noreturn void
become(const struct transformation *transformation, char **arguments, char **environment, int in,
       int out)
{
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(in, 0);
    dup2(out, 1);
    dup2(nowhere, 2);
    closefrom(3);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (transformation->limits.enter_cage && !transformation->limits.enter_cage()) {
        _exit(NO_CAGE);
    }
    limit(RLIMIT_CPU, transformation->limits.program_cpu_ms / 1000 + 1);
    limit(RLIMIT_AS, transformation->limits.memory);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0);
    execvpe(arguments[0], arguments, environment);
    _exit(127);
}

/* Reads until the program closes its output, or a limit. */
static enum status
drain(struct transformation *transformation, int out, struct buf *text, struct reason *why)
{
    const uint64_t deadline = clock_monotonic_ms() + transformation->limits.program_ms;
    for (;;) {
        struct pollfd wait = {.fd = out, .events = POLLIN};
        const uint64_t now = clock_monotonic_ms();
        if (now >= deadline || poll(&wait, 1, (int)(deadline - now)) == 0) {
            return status_fail(why, STATUS_TIMEOUT, "the program took longer than %lu ms",
                               (unsigned long)transformation->limits.program_ms);
        }
        char *room = buf_reserve(text, 64 << 10);
        if (!room) {
            return status_fail(why, STATUS_LIMIT, "the program wrote more than %zu bytes",
                               text->maximum);
        }
        const ssize_t n = read(out, room, 64 << 10);
        if (n == 0) {
            return STATUS_OK;
        }
        if (n < 0 && errno != EINTR && errno != EAGAIN) {
            return status_fail_errno(why, "cannot read from the program");
        }
        buf_commit(text, n > 0 ? (size_t)n : 0);
    }
}

/* Ends what is left of the program's processes, which in the cage cannot leave its group; how the
 * program itself ended. */
static int
end_all(const struct transformation *transformation, pid_t child)
{
    int ended = 0;
    kill(-child, SIGKILL);
    while (waitpid(child, &ended, 0) < 0 && errno == EINTR) {
    }
    while (transformation->limits.enter_cage && (waitpid(-1, NULL, __WALL) > 0 || errno == EINTR)) {
    }
    return ended;
}

static enum status
run_process(struct transformation *transformation, char **arguments, int in, struct buf *text,
            struct reason *why)
{
    int pipes[2];
    if (pipe2(pipes, O_CLOEXEC) != 0) {
        return status_fail_errno(why, "cannot make a pipe");
    }
    const struct slice uri = transformation->request->uri, type = transformation->request->type;
    char *environment[] = {NULL, NULL, memory_string("PATH=/usr/bin:/bin"), NULL};
    struct buf setting;
    buf_init(&setting, 64 << 10);
    buf_printf(&setting, "QUADRILLE_URI=%.*s", SLICE_PRINT(uri));
    environment[0] = memory_string(setting.data);
    buf_reset(&setting);
    buf_printf(&setting, "QUADRILLE_TYPE=%.*s", SLICE_PRINT(type));
    environment[1] = memory_string(setting.data);
    buf_release(&setting);
    const pid_t child = fork();
    if (child == 0) {
        become(transformation, arguments, environment, in, pipes[1]);
    }
    const int error = errno;
    close(pipes[1]);
    for (size_t i = 0; environment[i]; i++) {
        free(environment[i]);
    }
    if (child < 0) {
        close(pipes[0]);
        return status_fail(why, STATUS_UNSUPPORTED, "no program can be started here: %s",
                           strerror(error));
    }
    setpgid(child, child); /* whoever of both comes first */
    const enum status status = drain(transformation, pipes[0], text, why);
    close(pipes[0]);
    const int ended = end_all(transformation, child);
    if (status != STATUS_OK) {
        return status;
    }
    if (WIFSIGNALED(ended) && WTERMSIG(ended) != SIGKILL) {
        return status_fail(why, STATUS_BAD_INPUT, "the program died of signal %d", WTERMSIG(ended));
    }
    if (WIFEXITED(ended) && WEXITSTATUS(ended) != 0) {
        return status_fail(why, STATUS_BAD_INPUT, "the program ended with code %d",
                           WEXITSTATUS(ended));
    }
    return STATUS_OK;
}

enum status
program_run(struct transformation *transformation, const char *command, struct reason *why)
{
    char *words = memory_string(command), *arguments[ARGUMENTS_MAXIMUM + 1], *save = NULL;
    size_t count = 0;
    for (char *word = strtok_r(words, " ", &save); word && count < ARGUMENTS_MAXIMUM;
         word = strtok_r(NULL, " ", &save)) {
        arguments[count++] = word;
    }
    arguments[count] = NULL;
    const int in = memfd_create("document", MFD_CLOEXEC);
    enum status status = STATUS_OK;
    if (in < 0 ||
        write(in, transformation->request->bytes.at, transformation->request->bytes.length) !=
            (ssize_t)transformation->request->bytes.length ||
        lseek(in, 0, SEEK_SET) != 0) {
        status = status_fail_errno(why, "cannot hand the document to %s", arguments[0]);
    }
    struct buf text;
    buf_init(&text, transformation->limits.output);
    if (status == STATUS_OK) {
        status = run_process(transformation, arguments, in, &text, why);
    }
    if (status == STATUS_OK) {
        const struct parse_origin unknown = {NULL, 0};
        status = rdf_run_bytes(transformation, SLICE("nquads"), buf_slice(&text), &unknown, why);
    }
    buf_release(&text);
    file_close(in);
    free(words);
    return status;
}
