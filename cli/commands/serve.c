/* quadrille serve: a directory in a browser. Runs what a search needs, as any command does, and the
 * web service as a child of its own, so that what is wrong with its address is told here. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/file.h"
#include "cli/shared/cli.h"
#include "config/pass_settings.h"
#include "config/run_lock.h"
#include "config/web_address.h"

struct serving {
    struct cli cli;
    const char *directory; /* as it was asked for; it may be served by a copy */
    int lock;              /* of the name "web": a crawl's own service waits until this one ends */
    pid_t web;
    int ready; /* a newline comes from here when it listens */
};

/* In the child. */
static void
become_web(const struct serving *serving, pid_t parent, int ready)
{
    char path[4096], number[16], settings[SETTINGS_ARGUMENT_SIZE];
    const char *argv[8] = {"quadrille-web", "--dir", serving->cli.directory, "--ready-fd", number};
    struct reason why = {""};
    sigset_t none;
    sigemptyset(&none);
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    setpgid(0, 0); /* Ctrl-C is for the command, which then stops it in order */
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 16);
    path[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(path, '/');
    strcpy(slash != NULL ? slash + 1 : path, "quadrille-web");
    snprintf(number, sizeof number, "%d", ready);
    if (serving->cli.assignments->count > 0) {
        if (settings_pass(serving->cli.assignments, settings, &why) != STATUS_OK) {
            dprintf(STDERR_FILENO, "quadrille serve: %s\n", why.text);
            _exit(EXIT_SYSTEM);
        }
        argv[5] = "--set";
        argv[6] = settings;
    }
    if (getppid() == parent && fcntl(ready, F_SETFD, 0) == 0 &&
        fcntl(serving->lock, F_SETFD, 0) == 0) {
        char text[32];
        snprintf(text, sizeof text, "%d\n", (int)getpid());
        run_lock_sign(serving->lock, text);
        execv(path, (char *const *)argv);
        dprintf(STDERR_FILENO, "quadrille serve: cannot run %s: %s\n", path, strerror(errno));
    }
    _exit(EXIT_SYSTEM);
}

static enum status
start_web(struct serving *serving, struct reason *why)
{
    int ready[2];
    if (pipe2(ready, O_CLOEXEC) != 0) {
        return status_fail_errno(why, "cannot make a pipe");
    }
    const pid_t self = getpid();
    serving->web = fork();
    if (serving->web == 0) {
        become_web(serving, self, ready[1]);
    }
    (void)close(ready[1]);
    serving->ready = ready[0];
    return serving->web > 0 ? STATUS_OK : status_fail_errno(why, "cannot start quadrille-web");
}

/* Says how the web service ended: of a child of ours the end of its pipe tells that, and it has
 * printed its reason itself. */
static enum status
web_ended(struct serving *serving, struct reason *why)
{
    int how = 0;
    while (waitpid(serving->web, &how, 0) < 0 && errno == EINTR) {
    }
    serving->web = 0;
    if (WIFEXITED(how) && WEXITSTATUS(how) == EXIT_DONE) {
        return STATUS_OK;
    }
    if (WIFEXITED(how)) {
        return status_fail(why, WEXITSTATUS(how) == EXIT_MISUSE ? STATUS_MISUSE : STATUS_SYSTEM,
                           "the web service of %s does not run", serving->directory);
    }
    return status_fail(why, STATUS_SYSTEM, "quadrille-web was ended by signal %d", WTERMSIG(how));
}

static void
stop_web(struct serving *serving)
{
    if (serving->web > 0) {
        (void)kill(serving->web, SIGTERM);
        while (waitpid(serving->web, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    file_close(serving->ready);
    file_close(serving->lock);
}

static enum status
wait_for_end(struct serving *serving, const sigset_t *signals, struct reason *why)
{
    struct signalfd_siginfo info;
    const int descriptor = signalfd(-1, signals, SFD_CLOEXEC);
    if (descriptor < 0) {
        return status_fail_errno(why, "cannot take signals");
    }
    bool child = false;
    while (read(descriptor, &info, sizeof info) < 0 && errno == EINTR) {
    }
    child = info.ssi_signo == SIGCHLD;
    (void)close(descriptor);
    return child ? web_ended(serving, why) : STATUS_OK;
}

/* Waits until the index answers, which after a crash recovers first. */
static enum status
wait_for_index(struct cli *cli, struct reason *why)
{
    struct index_client *index;
    struct index_stats stats;
    TRY(cli_index(cli, &index, why));
    const enum status status = index_stats_get(index, &stats, why);
    index_client_close(index);
    return status;
}

/* While nothing is served yet there is nothing to be ended in order: the helper ends by itself. */
static void
leave(int number)
{
    (void)number;
    _exit(EXIT_DONE);
}

/* Has the place of the web service, and what is behind it. A directory that may only be read is
 * served by a copy, which nobody else has. */
static enum status
take_directory(struct serving *serving, struct reason *why)
{
    static const char parts[] = "queue,metastore,index";
    struct cli *cli = &serving->cli;
    if (cli->reading) {
        TRY(cli_serve(cli, parts, why));
    }
    serving->lock = run_lock_open(cli->directory, "web.lock");
    if (serving->lock < 0 || !run_lock_try(serving->lock, LOCK_EX)) {
        return status_fail(why, STATUS_DENIED,
                           "another quadrille has the web service of %s in hand; its log is "
                           "%s/log/web.log",
                           cli->directory, cli->directory);
    }
    return cli_serve(cli, parts, why);
}

static enum status
run(struct serving *serving, const sigset_t *signals, struct reason *why)
{
    char url[WEB_ADDRESS_SIZE], byte;
    struct cli *cli = &serving->cli;
    if (opt_string(cli->options, "web.listen")[0] == '\0') {
        return status_fail(why, STATUS_MISUSE,
                           "web.listen is empty in %s/quadrille.conf: say --set "
                           "web.listen=127.0.0.1:8033",
                           cli->directory);
    }
    if (web_address_read(cli->directory, url, NULL) == STATUS_OK) {
        printf("%s is served already: %s\n", cli->directory, url);
        return STATUS_OK;
    }
    (void)signal(SIGINT, leave);
    (void)signal(SIGTERM, leave);
    TRY(take_directory(serving, why));
    TRY(wait_for_index(cli, why));
    sigprocmask(SIG_BLOCK, signals, NULL);
    TRY(start_web(serving, why));
    if (read(serving->ready, &byte, 1) != 1) {
        return web_ended(serving, why);
    }
    TRY(web_address_read(cli->directory, url, why));
    printf("%s serves %s: search at %ssearch, queries at %ssparql; Ctrl-C ends it\n", url,
           serving->directory, url, url);
    fflush(stdout);
    return wait_for_end(serving, signals, why);
}

int
command_serve(int argc, char **argv)
{
    struct cli_common common = {.takes_root = true};
    struct serving serving = {.lock = -1, .ready = -1};
    const struct flag flags[] = {CLI_COMMON_FLAGS(common), {0}};
    const struct program program = {
        .name = "quadrille serve",
        .synopsis = "--dir DIR [--set NAME=VALUE]...",
        .summary = "serve a crawled directory: search and queries in a browser",
        .description =
            "Runs what a crawl that is over needs to be searched and queried, index, metadata "
            "store and queue, and the web service in front of them; prints its address, and ends "
            "all of them on Ctrl-C or SIGTERM. Nothing is fetched. Where a crawl or `quadrille up` "
            "serves DIR already, it prints that address and returns. Of a cluster (--dir ROOT) it "
            "runs the web service only, for all shares, on any machine. A directory that may only "
            "be "
            "read is served as it is now, by a private copy.\n\n"
            "The address is web.listen (127.0.0.1:8033). When something else listens there, the "
            "exit status is 111; --set web.listen=127.0.0.1:0 takes a free port.",
        .examples = "quadrille serve --dir DIR\n"
                    "quadrille serve --dir DIR --set web.listen=127.0.0.1:0",
        .flags = flags,
    };
    struct reason why = {""};
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGCHLD);
    enum status status = cli_parse(&program, argc, argv, &why);
    if (status == STATUS_OK) {
        status = cli_open_reading(&serving.cli, &common, &why);
    }
    if (status == STATUS_OK) {
        serving.directory = common.directory;
        status = run(&serving, &signals, &why);
    }
    stop_web(&serving);
    cli_close(&serving.cli);
    return cli_end(&program, status, &why);
}
