/* quadrille init, up, down. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rpc/rpc.h"
#include "base/system/clock.h"
#include "base/system/file.h"
#include "cli/shared/before_fetching.h"
#include "cli/shared/cli.h"
#include "cli/supervisor/supervisor.h"
#include "config/config.h"

enum { DOWN_WAIT_MS = 60000 };

/* ---- init ---- */

static enum status
make_directory(const char *directory, struct reason *why)
{
    struct buf path;
    enum status status = STATUS_OK;
    TRY(file_make_folder(directory, 0755, why));
    buf_init(&path, 1 << 16);
    buf_printf(&path, "%s/log", directory); /* the supervisor's is opened before it runs */
    if (mkdir(path.data, 0700) != 0 && errno != EEXIST) {
        status = status_fail_errno(why, "cannot make %s", path.data);
        buf_release(&path);
        return status;
    }
    buf_reset(&path);
    buf_printf(&path, "%s/quadrille.conf", directory);
    char *text = NULL;
    size_t length = 0;
    bool made;
    struct opt_set *options = opt_set_new(config_tables);
    FILE *out = open_memstream(&text, &length);
    opt_set_print_sample(options, out);
    fclose(out);
    opt_set_free(options);
    status = file_make(path.data, slice_of(text, length), 0600, &made, why);
    free(text);
    buf_release(&path);
    return status;
}

enum status
cli_make_directory(const char *directory, struct reason *why)
{
    if (directory == NULL) {
        return status_fail(why, STATUS_MISUSE, "--dir DIR is needed: the data directory");
    }
    return make_directory(directory, why);
}

/* DIR/curve.secret, and the line of cluster.conf that goes with it on standard output. */
static enum status
make_keys(const char *directory, struct reason *why)
{
    char public_key[RPC_KEY_SIZE], secret_key[RPC_KEY_SIZE];
    struct buf path;
    TRY(rpc_keys_make(public_key, secret_key, why));
    buf_init(&path, 1 << 16);
    buf_printf(&path, "%s/curve.secret", directory);
    char line[RPC_KEY_SIZE + 1];
    bool made;
    snprintf(line, sizeof line, "%s\n", secret_key);
    enum status status = file_make(path.data, slice_string(line), 0600, &made, why);
    if (status == STATUS_OK && !made) {
        status = status_fail(why, STATUS_SYSTEM, "cannot write %s: there is one", path.data);
    }
    if (status == STATUS_OK) {
        printf("curve public=%s secret_file=curve.secret\n", public_key);
    }
    buf_release(&path);
    return status;
}

int
command_init(int argc, char **argv)
{
    const char *directory = NULL;
    bool keys = false;
    const struct flag flags[] = {
        {"dir", 'd', FLAG_STRING, "DIR", &directory, "The data directory to make."},
        {"keys", 0, FLAG_SWITCH, NULL, &keys,
         "Makes a key pair for the links between nodes: the secret goes to DIR/curve.secret, to "
         "be copied to every node; the line for cluster.conf is printed."},
        {0},
    };
    const struct program program = {
        .name = "quadrille init",
        .synopsis = "--dir DIR [--keys]",
        .summary = "make a data directory with a commented configuration",
        .description = "Makes DIR and DIR/quadrille.conf, in which every option stands with its "
                       "meaning and its default. What is there already is kept.",
        .examples = "quadrille init --dir DIR\n"
                    "quadrille init --dir DIR --keys >>DIR/cluster.conf",
        .flags = flags,
    };
    struct reason why = {""};
    enum status status = cli_parse(&program, argc, argv, &why);
    if (status == STATUS_OK) {
        status = cli_make_directory(directory, &why);
        if (status == STATUS_OK && keys) {
            status = make_keys(directory, &why);
        } else if (status == STATUS_OK) {
            printf("%s is ready; its manual is %s/quadrille.conf\n", directory, directory);
        }
    }
    return cli_end(&program, status, &why);
}

/* ---- up ---- */

/* The parent leaves; the child has no terminal and logs to DIR/log/supervisor.log. */
static enum status
to_background(const char *directory, struct reason *why)
{
    struct buf path;
    buf_init(&path, 1 << 16);
    buf_printf(&path, "%s/log", directory);
    (void)mkdir(path.data, 0700); /* the open below tells when it is not there */
    buf_append_string(&path, "/supervisor.log");
    const int log = open(path.data, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    enum status status = STATUS_OK;
    if (log < 0 || null < 0) {
        status = status_fail_errno(why, "cannot write %s", path.data);
    } else {
        const pid_t pid = fork();
        if (pid > 0) {
            _exit(EXIT_DONE);
        }
        if (pid < 0 || setsid() < 0 || dup2(null, STDIN_FILENO) < 0 ||
            dup2(null, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0) {
            status = status_fail_errno(why, "cannot go to the background");
        }
    }
    buf_release(&path);
    return status;
}

enum { FETCH_AFTER_MOST_S = 86400 };

static uint64_t
fetch_after_ms(int64_t seconds)
{
    const int64_t least = seconds > 0 ? seconds : 0;
    return 1000 * (uint64_t)(least < FETCH_AFTER_MOST_S ? least : FETCH_AFTER_MOST_S);
}

int
command_up(int argc, char **argv)
{
    struct cli_common common = {0};
    bool background = false;
    const char *only = NULL;
    int64_t fetch_after = 0;
    const struct flag flags[] = {
        CLI_COMMON_FLAGS(common),
        {"fetch-after", 0, FLAG_INTEGER, "SECONDS", &fetch_after,
         "Starts fetch so much later: somebody else may have asked the hosts just now."},
        {"only", 0, FLAG_STRING, "NAMES", &only,
         "Starts only these, separated by commas: queue, metastore, fetch, detect, transform, "
         "index, "
         "extract, web."},
        {"background", 'b', FLAG_SWITCH, NULL, &background,
         "Returns at once and goes on without a terminal; its log is DIR/log/supervisor.log."},
        {0},
    };
    const struct program program = {
        .name = "quadrille up",
        .synopsis = "--dir DIR [OPTION]...",
        .summary = "start all processes of this machine and keep them running",
        .description =
            "Starts the queue daemon, the metadata store and the stage processes that "
            "DIR/quadrille.conf (processes.*) and DIR/cluster.conf ask for, restarts those that "
            "die, and stops all of them on SIGTERM or Ctrl-C. One such supervisor runs in a data "
            "directory. Logs go to DIR/log.\n\n"
            "Where it fetches, something must say where it may go (scope.*, `quadrille scope`; "
            "scope.hosts=* is everywhere) and who crawls (fetch.user_agent).",
        .examples = "quadrille up --dir DIR\n"
                    "quadrille up --dir DIR --background --set processes.transform=2\n"
                    "quadrille down --dir DIR",
        .flags = flags,
    };
    struct reason why = {""};
    struct cli cli = {0};
    struct supervisor *supervisor = NULL;
    enum status status = cli_parse(&program, argc, argv, &why);
    if (status == STATUS_OK) {
        status = cli_make_directory(common.directory, &why);
    }
    if (status == STATUS_OK) {
        status = cli_open(&cli, &common, &why);
    }
    if (status == STATUS_OK) {
        const struct supervisor_settings settings = {.directory = cli.directory,
                                                     .options = cli.options,
                                                     .cluster = cli.cluster,
                                                     .assignments = &common.assignments,
                                                     .only = only,
                                                     .fetch_after_ms = fetch_after_ms(fetch_after)};
        status = supervisor_open(&supervisor, &settings, &why);
    }
    if (status == STATUS_OK && supervisor_fetches(supervisor)) {
        status = require_scope(&cli, &why);
    }
    if (status == STATUS_OK && supervisor_fetches(supervisor)) {
        status = require_user_agent(&cli, &why);
    }
    if (status == STATUS_OK && background) { /* with the lock: what is said next meets it */
        status = to_background(cli.directory, &why);
    }
    if (status == STATUS_OK) {
        status = supervisor_run(supervisor, &why);
    }
    supervisor_close(supervisor);
    cli_close(&cli);
    return cli_end(&program, status, &why);
}

/* ---- down ---- */

static enum status
stop_supervisor(const char *directory, struct reason *why)
{
    const uint64_t until = clock_monotonic_ms() + DOWN_WAIT_MS;
    char name[32];
    int process, told = 0;
    if (!supervisor_any_process(directory, name, &process)) {
        puts("nothing runs there");
        return STATUS_OK;
    }
    while (supervisor_any_process(directory, name, &process)) {
        const int pid = supervisor_pid(directory);
        if (pid > 0 && pid != told && kill(pid, SIGTERM) != 0 && errno != ESRCH) {
            return status_fail_errno(why, "cannot stop process %d", pid);
        }
        told = pid > 0 ? pid : told;
        if (clock_monotonic_ms() > until) {
            return status_fail(why, STATUS_TIMEOUT, "%s (process %d) has not stopped in %d s%s",
                               name, process, DOWN_WAIT_MS / 1000,
                               pid > 0 ? "" : "; another command uses it");
        }
        usleep(50000);
    }
    return STATUS_OK;
}

int
command_down(int argc, char **argv)
{
    struct cli_common common = {0};
    const struct flag flags[] = {CLI_COMMON_FLAGS(common), {0}};
    const struct program program = {
        .name = "quadrille down",
        .synopsis = "--dir DIR",
        .summary = "stop what `quadrille up` or `quadrille crawl` started",
        .description =
            "Sends SIGTERM to the supervisor of DIR and waits until no process of DIR runs. "
            "Nothing "
            "is lost: the next up or crawl goes on from here. Other commands that are under way "
            "keep the processes that they use; when one does for a minute, the exit status is 111.",
        .examples = "quadrille down --dir DIR",
        .flags = flags,
    };
    struct reason why = {""};
    enum status status = cli_parse(&program, argc, argv, &why);
    if (status == STATUS_OK) {
        status = cli_check_directory(common.directory, &why);
    }
    if (status == STATUS_OK) {
        status = stop_supervisor(common.directory, &why);
    }
    return cli_end(&program, status, &why);
}
