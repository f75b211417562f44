#include "cli/cluster/disks/share_command.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"

enum { WORDS_MOST = 64, TEXT_MAXIMUM = 1 << 20, SIGNAL_CODE = 128, NOT_FOUND_CODE = 127 };

/* ---- its words ---- */

static void
put_word(struct buf *out, struct slice word, const struct share_copy_words *words)
{
    const struct {
        const char *name, *value;
    } known[] = {{"{from}", words->from},
                 {"{to}", words->to},
                 {"{address}", words->address},
                 {"{machine}", words->machine}};
    for (size_t i = 0; i < word.length;) {
        size_t taken = 0;
        for (size_t k = 0; k < sizeof known / sizeof known[0] && taken == 0; k++) {
            const struct slice rest = slice_of(word.at + i, word.length - i);
            if (slice_starts(rest, slice_string(known[k].name))) {
                buf_append_string(out, known[k].value);
                taken = strlen(known[k].name);
            }
        }
        if (taken == 0) {
            buf_append_char(out, word.at[i]);
            taken = 1;
        }
        i += taken;
    }
    buf_append_char(out, '\0');
}

/* Appends them, each ended by a zero, and returns their number; more than WORDS_MOST: too many. */
static size_t
put_words(const char *text, const struct share_copy_words *words, struct buf *out)
{
    static const char blanks[] = " \t";
    size_t count = 0;
    for (text += strspn(text, blanks); *text != '\0' && count <= WORDS_MOST;
         text += strspn(text, blanks)) {
        const size_t length = strcspn(text, blanks);
        put_word(out, slice_of(text, length), words);
        text += length;
        count++;
    }
    return count;
}

/* ---- its process ---- */

static _Noreturn void
become(char *const argv[], pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (getppid() == parent && nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 &&
        dup2(STDERR_FILENO, STDOUT_FILENO) >= 0) {
        execvp(argv[0], argv);
    }
    dprintf(STDERR_FILENO, "quadrille: cannot run %s\n", argv[0]);
    _exit(NOT_FOUND_CODE);
}

static enum status
start(struct share_command *command, char *const argv[], struct reason *why)
{
    const pid_t self = getpid();
    const pid_t pid = fork();
    if (pid == 0) {
        become(argv, self);
    }
    if (pid < 0) {
        return status_fail_errno(why, "cannot start a process");
    }
    (void)setpgid(pid, pid); /* whoever of both comes first */
    command->pid = pid;
    return STATUS_OK;
}

enum status
share_command_copy(struct share_command *command, const char *text,
                   const struct share_copy_words *words, struct reason *why)
{
    char *argv[WORDS_MOST + 1] = {NULL};
    struct buf out;
    if (strstr(text, "{from}") == NULL || strstr(text, "{to}") == NULL) {
        return status_fail(why, STATUS_MISUSE, "cluster.copy does not say {from} and {to}");
    }
    buf_init(&out, TEXT_MAXIMUM);
    const size_t count = put_words(text, words, &out);
    enum status status = count > WORDS_MOST || out.overflowed
                             ? status_fail(why, STATUS_MISUSE, "cluster.copy is too long")
                             : STATUS_OK;
    char *at = out.data;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        argv[i] = at;
        at += strlen(at) + 1;
    }
    if (status == STATUS_OK) {
        status = start(command, argv, why);
    }
    buf_release(&out);
    return status;
}

enum status
share_command_remove(struct share_command *command, const char *path, struct reason *why)
{
    char *const argv[] = {"rm", "-rf", "--", (char *)path, NULL};
    return start(command, argv, why);
}

bool
share_command_has_ended(struct share_command *command, int *code)
{
    int how;
    *code = 0;
    if (command->pid > 0 && waitpid(command->pid, &how, WNOHANG) == 0) {
        return false;
    }
    if (command->pid > 0) {
        (void)kill(-command->pid, SIGKILL); /* what it left behind */
        *code = WIFEXITED(how) ? WEXITSTATUS(how) : SIGNAL_CODE + WTERMSIG(how);
        command->pid = 0;
    }
    return true;
}

void
share_command_kill(struct share_command *command)
{
    if (command->pid > 0) {
        (void)kill(-command->pid, SIGKILL);
        (void)waitpid(command->pid, NULL, 0);
        command->pid = 0;
    }
}
