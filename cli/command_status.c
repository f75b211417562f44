/* quadrille status, top, stats: the same figures once, again and again, and all of them. */
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/progress.h"

enum { ANSWER_MS = 30000 };

struct view {
    struct cli cli;
    struct progress progress;
    struct index_client *index;
};

static enum status
open_view(struct view *view, const struct cli_common *common, struct reason *why)
{
    *view = (struct view){0};
    TRY(cli_open(&view->cli, common, why));
    TRY(cli_serve(&view->cli, "queue,index", why));
    return progress_open(&view->progress, &view->cli, why);
}

static void
close_view(struct view *view)
{
    progress_close(&view->progress);
    if (view->index != NULL) {
        index_client_close(view->index);
    }
    cli_close(&view->cli);
}

static enum status
take_twice(struct view *view, unsigned ms, struct reason *why)
{
    TRY(progress_take(&view->progress, ANSWER_MS, why));
    (void)poll(NULL, 0, (int)ms);
    return progress_take(&view->progress, ANSWER_MS, why);
}

static enum status
index_figures(struct view *view, struct index_stats *stats, struct reason *why)
{
    TRY(cli_index(&view->cli, &view->index, why));
    return index_stats_get(view->index, stats, why);
}

static void
print_index(const struct index_stats *stats)
{
    printf("index: %" PRIu64 " documents, %" PRIu64 " quads, %" PRIu64 " terms, %" PRIu64
           " literals, %.1f MB\n",
           stats->documents, stats->quads, stats->terms, stats->literals,
           (double)stats->bytes_on_disk / 1e6);
}

static int
show_once(const struct program *program, const struct cli_common *common, bool json)
{
    struct reason why = {""};
    struct view view;
    struct index_stats stats;
    enum status status = open_view(&view, common, &why);
    if (status == STATUS_OK) {
        status = take_twice(&view, 1000, &why);
    }
    if (status == STATUS_OK) {
        status = index_figures(&view, &stats, &why);
    }
    if (status == STATUS_OK && json) {
        progress_print_json(&view.progress, &stats, stdout);
    } else if (status == STATUS_OK) {
        progress_print_table(&view.progress, stdout);
        print_index(&stats);
    }
    close_view(&view);
    return cli_end(program, status, &why);
}

int
command_status(int argc, char **argv)
{
    struct cli_common common = {0};
    bool json = false;
    const struct flag flags[] = {
        CLI_COMMON_FLAGS(common),
        {"json", 'j', FLAG_SWITCH, NULL, &json, "Prints one JSON object."},
        {0},
    };
    const struct program program = {
        .name = "quadrille status",
        .synopsis = "--dir DIR [--json]",
        .summary = "show every stage: rate, queue, oldest job, bottleneck",
        .description =
            "Measures for a second and prints for each stage how many documents it has done and "
            "does per second, how many wait, are being worked on, wait for another try or a "
            "recrawl, how old the oldest is, how many were set aside, and which stage would need "
            "longest to empty its queue: the bottleneck. Figures are sums over all nodes.",
        .examples = "quadrille status --dir DIR",
        .flags = flags,
    };
    struct reason why = {""};
    const enum status status = cli_parse(&program, argc, argv, &why);
    return status == STATUS_OK ? show_once(&program, &common, json)
                               : cli_end(&program, status, &why);
}

static int
describe_void(const struct program *program, const struct cli_common *common)
{
    static const struct index_void_options options = {.dataset = "urn:x-quadrille:index"};
    struct reason why = {""};
    struct cli cli = {0};
    struct index_client *index = NULL;
    struct buf text;
    buf_init(&text, (size_t)1 << 30);
    enum status status = cli_open(&cli, common, &why);
    if (status == STATUS_OK) {
        status = cli_serve(&cli, "index", &why);
    }
    if (status == STATUS_OK) {
        status = cli_index(&cli, &index, &why);
    }
    if (status == STATUS_OK) {
        status = index_void(index, &options, &text, &why);
    }
    if (status == STATUS_OK) {
        status = cli_print_piece(stdout, buf_slice(&text), &why);
    }
    if (index != NULL) {
        index_client_close(index);
    }
    cli_close(&cli);
    buf_release(&text);
    return cli_end(program, status, &why);
}

int
command_stats(int argc, char **argv)
{
    struct cli_common common = {0};
    bool json = false;
    bool description = false;
    const struct flag flags[] = {
        CLI_COMMON_FLAGS(common),
        {"json", 'j', FLAG_SWITCH, NULL, &json, "Prints one JSON object."},
        {"void", 0, FLAG_SWITCH, NULL, &description,
         "Prints a VoID description of the index instead, in Turtle: quads, documents, quads of "
         "each predicate, instances of each class."},
        {0},
    };
    const struct program program = {
        .name = "quadrille stats",
        .synopsis = "--dir DIR [--json | --void]",
        .summary = "print all counters, as text or JSON",
        .description = "Counters of queue and index since the data directory was made. With "
                       "--json: {\"stages\": {\"fetch\": {\"done\": n, ...}, ...}, \"seen\": n, "
                       "\"exhausted\": true or false, \"index\": {\"documents\": n, \"quads\": n, "
                       "...}}.",
        .examples = "quadrille stats --dir DIR --json\n"
                    "quadrille stats --dir DIR --void",
        .flags = flags,
    };
    struct reason why = {""};
    enum status status = cli_parse(&program, argc, argv, &why);
    if (status == STATUS_OK && json && description) {
        status = status_fail(&why, STATUS_MISUSE, "--json or --void, not both");
    }
    if (status == STATUS_OK && description) {
        return describe_void(&program, &common);
    }
    return status == STATUS_OK ? show_once(&program, &common, json)
                               : cli_end(&program, status, &why);
}

/* ---- top ---- */

static bool
wait_or_stop(int signals, int ms)
{
    struct pollfd descriptor = {.fd = signals, .events = POLLIN};
    return poll(&descriptor, 1, ms) <= 0;
}

static enum status
show_repeatedly(struct view *view, unsigned seconds, struct reason *why)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    const int signals = signalfd(-1, &set, SFD_CLOEXEC);
    const bool terminal = isatty(STDOUT_FILENO);
    do {
        TRY(progress_take(&view->progress, ANSWER_MS, why));
        if (view->progress.before_ms == 0) {
            continue;
        }
        fputs(terminal ? "\033[H\033[J" : "", stdout);
        progress_print_table(&view->progress, stdout);
        fflush(stdout);
    } while (wait_or_stop(signals, (int)seconds * 1000));
    close(signals);
    return STATUS_OK;
}

int
command_top(int argc, char **argv)
{
    struct cli_common common = {0};
    int64_t seconds = 1;
    struct view view = {0};
    const struct flag flags[] = {
        CLI_COMMON_FLAGS(common),
        {"interval", 'i', FLAG_INTEGER, "SECONDS", &seconds, "Time between two looks (1)."},
        {0},
    };
    const struct program program = {
        .name = "quadrille top",
        .synopsis = "--dir DIR [--interval SECONDS]",
        .summary = "show status again and again",
        .description = "Shows what `quadrille status` shows until Ctrl-C.",
        .examples = "quadrille top --dir DIR --interval 5",
        .flags = flags,
    };
    struct reason why = {""};
    enum status status = cli_parse(&program, argc, argv, &why);
    if (status == STATUS_OK && (seconds < 1 || seconds > 3600)) {
        status = status_fail(&why, STATUS_MISUSE, "--interval is 1 to 3600");
    }
    if (status == STATUS_OK) {
        status = open_view(&view, &common, &why);
        if (status == STATUS_OK) {
            status = show_repeatedly(&view, (unsigned)seconds, &why);
        }
        close_view(&view);
    }
    return cli_end(&program, status, &why);
}
