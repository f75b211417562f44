/* quadrille crawl: seeds in, progress, summary out.
 *
 * It starts `quadrille up` as a child (unless one runs in DIR already) and is from then on a
 * client like any other; if that one dies, or the other one is gone, it starts one. Ctrl-C stops
 * the child; the same command line goes on later, because seeds that were seen are put in vain. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/log.h"
#include "cli/shared/before_fetching.h"
#include "cli/shared/cli.h"
#include "cli/shared/crawl_outcome.h"
#include "cli/shared/progress.h"
#include "cli/shared/scope_of_seeds.h"
#include "cli/shared/seeds.h"
#include "cli/supervisor/process_troubles.h"
#include "cli/supervisor/supervisor.h"
#include "config/pass_settings.h"
#include "config/web_address.h"

enum {
    POLL_FIRST_MS = 50,
    POLL_MS = 500,
    LINE_MS = 5000,
    NODES_TOLD_MS = 60000,
    STATS_WAIT_MS = 2000,
    MIND_MS = 500,
    SUMMARY_BYTES = 64 << 20
};

struct crawl {
    struct cli cli;
    const struct cli_common *common;
    struct queue_client *queue;
    struct progress progress;
    struct cli_patience patience; /* of putting the seeds */
    struct process_troubles_told told;
    pid_t child; /* `quadrille up`; 0: somebody else's supervisor is used */
    int signals;
    bool quiet, terminal, continuous, interrupted, json;
    uint64_t started_ms, line_ms, minded_ms;
    bool page_told;
    int lines_shown;
    size_t troubles_told; /* nodes */
    uint64_t troubles_told_ms;
};

/* ---- the child ---- */

static void
become_supervisor(const struct crawl *crawl, pid_t parent)
{
    const char *argv[8];
    size_t n = 0;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0); /* Ctrl-C is for the crawl, which stops it in order */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(EXIT_SYSTEM);
    }
    argv[n++] = "quadrille";
    argv[n++] = "up";
    argv[n++] = "--dir";
    argv[n++] = crawl->cli.directory;
    struct reason why = {""};
    char settings[SETTINGS_ARGUMENT_SIZE];
    if (crawl->common->assignments.count > 0) {
        if (settings_pass(&crawl->common->assignments, settings, &why) != STATUS_OK) {
            fprintf(stderr, "quadrille crawl: %s\n", why.text);
            _exit(EXIT_SYSTEM);
        }
        argv[n++] = "--set";
        argv[n++] = settings;
    }
    argv[n] = NULL;
    struct buf path;
    buf_init(&path, 1 << 16);
    buf_printf(&path, "%s/log/supervisor.log", crawl->cli.directory);
    (void)umask(0077);
    FILE *log = freopen(path.data, "a", stderr);
    execv("/proc/self/exe", (char *const *)argv);
    if (log != NULL) {
        fprintf(stderr, "cannot run quadrille up: %s\n", strerror(errno));
    }
    _exit(EXIT_SYSTEM);
}

static enum status
start_supervisor(struct crawl *crawl, struct reason *why)
{
    const pid_t self = getpid();
    const pid_t pid = fork();
    if (pid == 0) {
        become_supervisor(crawl, self);
    }
    if (pid < 0) {
        return status_fail_errno(why, "cannot start quadrille up");
    }
    crawl->child = pid;
    return STATUS_OK;
}

/* One supervisor lives: ours, or that of others. */
static enum status
keep_supervisor(struct crawl *crawl, struct reason *why)
{
    int how;
    if (cluster_is_client(crawl->cli.cluster)) {
        return STATUS_OK; /* the machines of the cluster run what there is to run */
    }
    if (crawl->child > 0 && waitpid(crawl->child, &how, WNOHANG) == crawl->child) {
        crawl->child = 0;
        if (WIFEXITED(how) && WEXITSTATUS(how) == EXIT_MISUSE) {
            const enum status status =
                process_troubles_end(crawl->cli.directory, crawl->started_ms, true, why);
            return status != STATUS_OK
                       ? status
                       : status_fail(why, STATUS_MISUSE,
                                     "a process refused its configuration; see %s/log",
                                     crawl->cli.directory);
        }
        if (WIFEXITED(how) && WEXITSTATUS(how) == EXIT_DONE) {
            crawl->interrupted = true; /* quadrille down */
            return STATUS_OK;
        }
        log_warning("supervisor_died", "how=%d", how); /* or came second, after another's */
    }
    if (crawl->child > 0 || crawl->interrupted || supervisor_pid(crawl->cli.directory) != 0) {
        return STATUS_OK;
    }
    return start_supervisor(crawl, why);
}

static void
stop_child(struct crawl *crawl)
{
    if (crawl->child > 0) {
        kill(crawl->child, SIGUSR1); /* other crawls may go on */
        while (waitpid(crawl->child, NULL, 0) < 0 && errno == EINTR) {
        }
        crawl->child = 0;
    }
}

/* ---- showing ---- */

static void
show(struct crawl *crawl, bool last)
{
    const uint64_t now = clock_monotonic_ms();
    const struct progress *progress = &crawl->progress;
    if (crawl->quiet || crawl->json || progress->now_ms == 0) {
        return;
    }
    if (crawl->terminal) {
        if (crawl->lines_shown > 0) {
            printf("\033[%dA\033[J", crawl->lines_shown);
        }
        progress_print_table(progress, stdout);
        const double left = progress_left(progress);
        printf("running %" PRIu64 " s", (now - crawl->started_ms) / 1000);
        if (left > 0) {
            printf(", known work done in about %.0f s", left);
        }
        putchar('\n');
        crawl->lines_shown = STAGE_COUNT + 3 + progress->now.intake_stopped +
                             progress->now.cut_off + (int)progress->trouble_count;
    } else if (last || now - crawl->line_ms >= LINE_MS) {
        crawl->line_ms = now;
        printf("%" PRIu64 "s", (now - crawl->started_ms) / 1000);
        for (int i = 0; i < STAGE_COUNT; i++) {
            printf("  %s %" PRIu64 " (%.0f/s, %" PRIu64 " waiting)", stage_name((enum stage)i),
                   progress->now.stages[i].done, progress_rate(progress, (enum stage)i),
                   progress_waiting(progress, (enum stage)i));
        }
        if (progress->now.hosts_aside > 0) {
            printf("  set aside %" PRIu64 " hosts with %" PRIu64 " URIs", progress->now.hosts_aside,
                   progress->now.stages[STAGE_FETCH].aside);
        }
        if (progress->now.cut_off) {
            printf("  no host answers: is this machine's network up?");
        }
        const double left = progress_left(progress);
        if (left > 0) {
            printf("  about %.0f s for what is known", left);
        }
        putchar('\n');
        if (!last && now - crawl->started_ms >= LINE_MS &&
            progress_rate(progress, STAGE_FETCH) <= 0) {
            crawl_outcome_print_waits(progress, stdout);
        }
    }
    fflush(stdout);
}

enum { HOSTS_SHOWN = 20 };

/* Gathers the hosts that are set aside, those with most URIs first. */
struct aside {
    char *lines[HOSTS_SHOWN];
    uint64_t jobs[HOSTS_SHOWN];
    size_t shown;
    uint64_t hosts, all_jobs;
    bool silent; /* all of them */
};

static bool
take_aside(void *context, const struct queue_host *host)
{
    struct aside *aside = context;
    char since[CLOCK_TEXT_SIZE];
    struct buf line;
    size_t at = aside->shown;
    aside->hosts++;
    aside->all_jobs += host->jobs;
    aside->silent &= host->silent;
    while (at > 0 && aside->jobs[at - 1] < host->jobs) {
        at--;
    }
    if (at == HOSTS_SHOWN) {
        return true;
    }
    if (aside->shown == HOSTS_SHOWN) {
        free(aside->lines[--aside->shown]);
    }
    memmove(&aside->lines[at + 1], &aside->lines[at], (aside->shown - at) * sizeof *aside->lines);
    memmove(&aside->jobs[at + 1], &aside->jobs[at], (aside->shown - at) * sizeof *aside->jobs);
    clock_text(host->since_ms, 0, since);
    buf_init(&line, 1 << 14);
    buf_printf(&line, "  %.*s: %" PRIu64 " URIs, since %s: %.*s", SLICE_PRINT(host->origin),
               host->jobs, since, SLICE_PRINT(host->cause));
    aside->lines[at] = line.data; /* the list's now */
    aside->jobs[at] = host->jobs;
    aside->shown++;
    return true;
}

static void
tell_hosts_aside(const struct crawl *crawl)
{
    struct aside aside = {.silent = true};
    struct reason why = {""};
    if (crawl->progress.now.hosts_aside == 0) {
        return;
    }
    if (progress_hosts(&crawl->progress, true, take_aside, &aside, &why) != STATUS_OK) {
        printf("the queue did not say which hosts it set aside: %s\n", why.text);
    }
    printf("hosts set aside: %" PRIu64 ", with %" PRIu64
           " URIs that wait for them; `quadrille crawl --dir %s` tries them again\n",
           aside.hosts, aside.all_jobs, crawl->cli.directory);
    for (size_t i = 0; i < aside.shown; i++) {
        puts(aside.lines[i]);
        free(aside.lines[i]);
    }
    if (aside.hosts > aside.shown) {
        printf("  and %" PRIu64 " more: quadrille queue hosts --dir %s\n",
               aside.hosts - aside.shown, crawl->cli.directory);
    }
    if (aside.silent && crawl->progress.now.network_ms == 0) {
        puts("no host answered at all: is this machine's network up?");
    }
}

/* Once, as soon as the web service listens. */
static void
tell_page(struct crawl *crawl)
{
    char url[WEB_ADDRESS_SIZE];
    if (crawl->quiet || crawl->json || crawl->page_told ||
        web_address_read(crawl->cli.directory, url, NULL) != STATUS_OK) {
        return;
    }
    crawl->page_told = true;
    if (crawl->lines_shown > 0) {
        printf("\033[%dA\033[J", crawl->lines_shown);
        crawl->lines_shown = 0;
    }
    printf("its page, for a browser: %s\n", url);
    fflush(stdout);
}

/* Prints what became of the seeds, and fails when none of them could be fetched. */
static enum status
judge_seeds(const struct crawl *crawl, const struct seed_outcomes *outcomes, struct reason *why)
{
    if (crawl->continuous || outcomes->seeds == 0 || outcomes->count < outcomes->seeds) {
        return STATUS_OK;
    }
    return status_fail(why, STATUS_NOT_FOUND, "no seed could be fetched; %s: %s",
                       outcomes->items[0].key, outcomes->items[0].why.text);
}

static void
summarise_json(struct crawl *crawl, const struct index_stats *stats,
               const struct seed_outcomes *outcomes)
{
    struct buf members;
    buf_init(&members, SUMMARY_BYTES);
    crawl_outcome_put_json(&crawl->progress, &members);
    seed_outcomes_put_json(outcomes, &members);
    progress_print_json(&crawl->progress, stats, crawl->cli.directory, buf_slice(&members), stdout);
    buf_release(&members);
}

/* Asks for what the summary tells. Status and `judged` are of the seeds; `told`: whether the index
 * answered, else `why` says why not. */
static enum status
ask_summary(struct crawl *crawl, const struct seeds *seeds, struct seed_outcomes *outcomes,
            struct index_stats *stats, bool *told, struct reason *judged, struct reason *why)
{
    struct index_client *index = NULL;
    enum status status =
        crawl_outcome_of_seeds(&crawl->cli, &crawl->progress, seeds, outcomes, judged);
    if (status == STATUS_OK) {
        status = judge_seeds(crawl, outcomes, judged);
    }
    *told = cli_index(&crawl->cli, &index, why) == STATUS_OK &&
            index_stats_get(index, stats, why) == STATUS_OK;
    index_client_close(index);
    return status;
}

static enum status
summarise(struct crawl *crawl, const struct seeds *seeds, struct reason *judged)
{
    struct seed_outcomes outcomes = {0};
    struct index_stats stats = {0};
    struct reason why = {""};
    const struct queue_stats *now = &crawl->progress.now;
    uint64_t buried = 0;
    bool told;
    (void)keep_supervisor(crawl, &why); /* else nobody answers, which is told */
    const pid_t asked = supervisor_pid(crawl->cli.directory);
    enum status status = ask_summary(crawl, seeds, &outcomes, &stats, &told, judged, &why);
    if ((status == STATUS_TIMEOUT || !told) && supervisor_pid(crawl->cli.directory) != asked &&
        keep_supervisor(crawl, &why) == STATUS_OK) {
        /* The processes were those of another crawl, which ended and took them along. */
        seed_outcomes_release(&outcomes);
        outcomes = (struct seed_outcomes){0};
        status = ask_summary(crawl, seeds, &outcomes, &stats, &told, judged, &why);
    }
    if (crawl->json) {
        summarise_json(crawl, told ? &stats : NULL, &outcomes);
    } else if (told) {
        printf("documents=%" PRIu64 " quads=%" PRIu64 " terms=%" PRIu64 " literals=%" PRIu64 "\n",
               stats.documents, stats.quads, stats.terms, stats.literals);
    } else {
        printf("the index did not answer: %s\n", why.text);
    }
    for (int i = 0; i < STAGE_COUNT && !crawl->json; i++) {
        printf("%s=%" PRIu64 " ", stage_name((enum stage)i), now->stages[i].done);
        buried += now->stages[i].buried;
    }
    const double seconds = (double)(clock_monotonic_ms() - crawl->started_ms) / 1000.0;
    if (!crawl->json) {
        printf("seen=%" PRIu64 " buried=%" PRIu64 " seconds=%.1f\n", now->seen, buried, seconds);
        crawl_outcome_print(now, stdout);
        crawl_outcome_print_buried(&crawl->progress, stdout);
        seed_outcomes_print(&outcomes, stdout);
        tell_hosts_aside(crawl);
    }
    if (buried > 0 && !crawl->json) {
        printf("quadrille queue buried --dir %s   shows what was buried and why\n",
               crawl->cli.directory);
    }
    seed_outcomes_release(&outcomes);
    return status;
}

/* ---- loop ---- */

static void
pause_for(struct crawl *crawl, int ms)
{
    struct pollfd descriptor = {.fd = crawl->signals, .events = POLLIN};
    struct signalfd_siginfo info;
    if (poll(&descriptor, 1, ms) > 0) {
        while (read(crawl->signals, &info, sizeof info) == sizeof info) {
            crawl->interrupted |= info.ssi_signo != SIGCHLD;
        }
    }
}

/* Says who waits and why, also when it is to be quiet; fails when a process cannot start. One that
 * lacks room on the disk goes on by itself. */
static enum status
mind_processes(struct crawl *crawl, struct reason *why)
{
    const uint64_t now = clock_monotonic_ms();
    if (now < crawl->minded_ms + MIND_MS) {
        return STATUS_OK;
    }
    crawl->minded_ms = now;
    process_troubles_tell(&crawl->told, crawl->cli.directory, "quadrille crawl", stderr);
    return process_troubles_end(crawl->cli.directory, crawl->started_ms, true, why);
}

/* Says which nodes are waited for, also when it is to be quiet: at once, then now and then. */
static void
mind_nodes(struct crawl *crawl)
{
    const struct progress *progress = &crawl->progress;
    const uint64_t now = clock_monotonic_ms();
    const bool due = progress->trouble_count != crawl->troubles_told ||
                     now >= crawl->troubles_told_ms + NODES_TOLD_MS;
    if (progress->trouble_count > 0 && due && !(crawl->terminal && !crawl->quiet)) {
        progress_print_troubles(progress, stderr);
        crawl->troubles_told_ms = now;
    } else if (progress->trouble_count == 0 && crawl->troubles_told > 0) {
        fputs("All nodes answer again\n", stderr);
    }
    crawl->troubles_told = progress->trouble_count;
}

/* A share that is forgotten is waited for no more. */
static enum status
follow_cluster(struct crawl *crawl, struct reason *why)
{
    bool changed;
    TRY(cli_follow_cluster(&crawl->cli, &changed, why));
    if (changed) {
        progress_close(&crawl->progress);
        return progress_open(&crawl->progress, &crawl->cli, why);
    }
    return STATUS_OK;
}

static enum status
follow(struct crawl *crawl, struct reason *why)
{
    int wait_ms = POLL_FIRST_MS;
    while (!crawl->interrupted) {
        if (crawl->child <= 0 && supervisor_pid(crawl->cli.directory) == 0 &&
            supervisor_was_stopped(crawl->cli.directory)) {
            break;
        }
        TRY(keep_supervisor(crawl, why));
        TRY(mind_processes(crawl, why));
        tell_page(crawl);
        TRY(follow_cluster(crawl, why));
        const enum status status = progress_take(&crawl->progress, STATS_WAIT_MS, why);
        if (status == STATUS_OK) {
            mind_nodes(crawl);
            if (!crawl->continuous && progress_exhausted(&crawl->progress)) {
                show(crawl, true);
                return STATUS_OK;
            }
            show(crawl, false);
        } else if (status != STATUS_TIMEOUT) {
            return status;
        }
        pause_for(crawl, wait_ms);
        wait_ms = wait_ms * 2 < POLL_MS ? wait_ms * 2 : POLL_MS;
    }
    return STATUS_CANCELLED;
}

static enum status
look_after(void *context, struct reason *why)
{
    struct crawl *crawl = context;
    TRY(keep_supervisor(crawl, why));
    TRY(mind_processes(crawl, why));
    pause_for(crawl, 0);
    return crawl->interrupted ? STATUS_CANCELLED : STATUS_OK;
}

/* Putting can only be answered once the daemon runs, and it may be killed meanwhile. */
static enum status
put_seeds(struct crawl *crawl, const struct seeds *seeds, struct reason *why)
{
    crawl->patience = (struct cli_patience){.look = look_after, .context = crawl};
    return seeds_put(seeds, crawl->queue, JOB_SEED, &crawl->patience, why);
}

/* Who crawls again gives all hosts another chance. */
static enum status
retry_hosts(struct crawl *crawl, struct reason *why)
{
    enum status status = STATUS_TIMEOUT;
    while (status == STATUS_TIMEOUT) {
        TRY(look_after(crawl, why));
        status = progress_take(&crawl->progress, STATS_WAIT_MS, why);
        if (status == STATUS_OK) {
            status = progress_retry_hosts(&crawl->progress, why);
        }
    }
    return status;
}

static enum status
run(struct crawl *crawl, struct seeds *seeds, struct reason *why)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    crawl->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    crawl->started_ms = clock_monotonic_ms();
    crawl->terminal = isatty(STDOUT_FILENO);
    crawl->told.began_ms = crawl->started_ms;
    process_troubles_end_waits(crawl->cli.directory, true);
    TRY(seeds_apply_rules(seeds, crawl->cli.options, why));
    TRY(scope_of_seeds(&crawl->cli, seeds, why));
    TRY(require_scope(&crawl->cli, why));
    TRY(require_user_agent(&crawl->cli, why));
    TRY(keep_supervisor(crawl, why));
    TRY(cli_queue(&crawl->cli, &crawl->queue, why));
    TRY(progress_open(&crawl->progress, &crawl->cli, why));
    TRY(put_seeds(crawl, seeds, why));
    TRY(retry_hosts(crawl, why));
    return follow(crawl, why);
}

static enum status
read_seeds(struct seeds *seeds, const struct flag_list *files, char **operands, int operand_count,
           struct reason *why)
{
    for (size_t i = 0; i < files->count; i++) {
        TRY(seeds_add_file(seeds, files->items[i], why));
    }
    for (int i = 0; i < operand_count; i++) {
        TRY(seeds_add(seeds, operands[i], why));
    }
    return STATUS_OK;
}

static int
crawl_all(const struct program *program, struct crawl *crawl, struct seeds *seeds)
{
    struct reason why = {""};
    enum status status = cli_make_directory(crawl->common->directory, &why);
    if (status == STATUS_OK) {
        status = cli_open(&crawl->cli, crawl->common, &why);
    }
    if (status == STATUS_OK) {
        status = run(crawl, seeds, &why);
    }
    if (status == STATUS_OK) {
        status = summarise(crawl, seeds, &why);
    } else if (status == STATUS_CANCELLED) {
        printf("stopped; the same command goes on from here\n");
        status = STATUS_OK;
    }
    fflush(stdout);
    stop_child(crawl);
    queue_client_close(crawl->queue);
    progress_close(&crawl->progress);
    cli_close(&crawl->cli);
    return cli_end(program, status, &why);
}

int
command_crawl(int argc, char **argv)
{
    struct cli_common common = {.takes_root = true};
    struct flag_list files = {0};
    struct crawl crawl = {.common = &common, .signals = -1};
    struct seeds seeds = {0};
    const struct flag flags[] = {
        CLI_COMMON_FLAGS(common),
        {"seeds", 0, FLAG_REPEATED, "FILE", &files,
         "Reads seeds from FILE, one URI a line, # for comments; - for standard input."},
        {"continuous", 'c', FLAG_SWITCH, NULL, &crawl.continuous,
         "Goes on for ever: documents are visited again, each at its own time "
         "(recrawl.enabled=yes)."},
        {"json", 'j', FLAG_SWITCH, NULL, &crawl.json,
         "Shows no progress, and prints the summary as one JSON object."},
        {"quiet", 'q', FLAG_SWITCH, NULL, &crawl.quiet, "Shows no progress, only the summary."},
        {0},
    };
    const struct program program = {
        .name = "quadrille crawl",
        .synopsis = "--dir DIR [OPTION]... [URI]...",
        .summary = "crawl seeds to the end, with progress",
        .description =
            "Makes DIR if needed, starts all processes, puts the seeds, and follows the crawl "
            "until nothing is left to do; then it stops the processes and prints a summary. "
            "The summary counts what became of the documents, and names the seeds that brought "
            "nothing and why; when none could be fetched the exit code is 111. "
            "Ctrl-C stops cleanly, and the same command goes on from there; so it does after a "
            "crash of any kind.\n\n"
            "With --continuous it never ends: what changes often is visited often, what is gone is "
            "removed (docs/RECRAWL.md). Visits that are scheduled for later do not keep a crawl "
            "without it from ending.\n\n"
            "Without any scope.* option the crawl stays on the hosts of its seeds; that scope is "
            "kept in DIR/scope.conf, grows with the seeds of later crawls, and can be changed "
            "while "
            "running by `quadrille scope`.",
        .examples = "quadrille crawl --dir DIR https://example.org/\n"
                    "quadrille crawl --dir DIR --seeds seeds.txt --set scope.depth=3\n"
                    "quadrille crawl --dir DIR --seeds seeds.txt --set 'scope.hosts=*'\n"
                    "quadrille crawl --dir DIR --continuous https://example.org/",
        .flags = flags,
    };
    struct reason why = {""};
    char **operands;
    int operand_count, code;
    enum status status = program_parse(&program, argc, argv, &operands, &operand_count, &why);
    if (status == STATUS_OK && crawl.continuous) {
        if (common.assignments.count == FLAG_LIST_MAXIMUM) {
            status = status_fail(&why, STATUS_MISUSE, "too many --set");
        } else {
            common.assignments.items[common.assignments.count++] = "recrawl.enabled=yes";
        }
    }
    if (status == STATUS_OK) {
        status = read_seeds(&seeds, &files, operands, operand_count, &why);
    }
    code =
        status == STATUS_OK ? crawl_all(&program, &crawl, &seeds) : cli_end(&program, status, &why);
    seeds_release(&seeds);
    return code;
}
