/* quadrille status: how far the stages are, once or again and again, and the counters of what the
 * index holds. */
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/memory.h"
#include "cli/shared/cli.h"
#include "cli/shared/crawl_outcome.h"
#include "cli/shared/progress.h"
#include "cli/supervisor/process_troubles.h"

enum { ANSWER_MS = 30000, MEMBERS_BYTES = 1 << 20 };

struct view {
    struct cli cli;
    struct progress progress;
    struct index_client *index;
};

static enum status
open_view(struct view *view, const struct cli_common *common, struct reason *why)
{
    *view = (struct view){0};
    TRY(cli_open_reading(&view->cli, common, why));
    TRY(cli_serve(&view->cli, "queue,index", why));
    return progress_open(&view->progress, &view->cli, why);
}

static void
close_view(struct view *view)
{
    progress_close(&view->progress);
    index_client_close(view->index);
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
    if (stats->full > 0) {
        printf("index: %" PRIu64 " partitions wait for room on the disk (index.disk_reserve); "
               "queries go on\n",
               stats->full);
    }
    if (stats->damaged > 0) {
        printf("index: %" PRIu64 " partitions cannot write because a page is damaged; see the log, "
               "`quadrille verify`, and docs/OPERATION.md\n",
               stats->damaged);
    }
}

static int
show_once(const struct program *program, const struct cli_common *common, bool json)
{
    struct reason why = {""};
    struct view view;
    struct index_stats stats;
    bool asked = true;
    enum status status = open_view(&view, common, &why);
    if (status == STATUS_OK) {
        status = take_twice(&view, 1000, &why);
    }
    if (status == STATUS_OK) {
        status = index_figures(&view, &stats, &why);
    }
    const bool counted = view.progress.before_ms != 0;
    if (counted && status != STATUS_OK && view.progress.trouble_count > 0) { /* told below */
        fprintf(stderr, "%s: the index did not answer whole: %s\n", program->name, why.text);
        asked = false;
        status = STATUS_OK;
    }
    if (counted && json) {
        struct buf members;
        buf_init(&members, MEMBERS_BYTES);
        crawl_outcome_put_json(&view.progress, &members);
        progress_print_json(&view.progress, status == STATUS_OK && asked ? &stats : NULL,
                            view.cli.directory, buf_slice(&members), stdout);
        buf_release(&members);
    } else if (counted) {
        progress_print_table(&view.progress, stdout);
        crawl_outcome_print(&view.progress.now, stdout);
        crawl_outcome_print_buried(&view.progress, stdout);
        crawl_outcome_print_waits(&view.progress, stdout);
    }
    if (status == STATUS_OK && asked && !json) {
        print_index(&stats);
    }
    if (view.cli.directory != NULL && !json) {
        process_troubles_print(view.cli.directory, stdout);
    }
    close_view(&view);
    return cli_end(program, status, &why);
}

enum counters { COUNTERS_TEXT, COUNTERS_JSON, COUNTERS_VOID };

/* The kinds of counters and what their numbers are; those of a set of predicates are one more than
 * the predicates. */
static const struct {
    char kind;
    const char *name, *numbers[2];
} counter_kinds[] = {{INDEX_COUNT_PREDICATE, "predicate", {"quads", "subjects"}},
                     {INDEX_COUNT_CLASS, "class", {"quads", NULL}},
                     {INDEX_COUNT_HOST, "host", {"quads", "documents"}},
                     {INDEX_COUNT_SET, "predicates", {"subjects", NULL}}};
enum { COUNTER_KINDS = sizeof counter_kinds / sizeof counter_kinds[0] };

static int
most_first(const void *a, const void *b)
{
    const struct index_count *const *left = a, *const *right = b;
    if ((*left)->numbers[0] != (*right)->numbers[0]) {
        return (*left)->numbers[0] > (*right)->numbers[0] ? -1 : 1;
    }
    return slice_compare((*left)->name, (*right)->name);
}

static void
put_counter_text(const struct index_count *item, int kind, struct buf *out)
{
    (void)buf_append_string(out, counter_kinds[kind].name);
    for (size_t i = 0; i < item->n; i++) {
        (void)buf_printf(out, "%c%" PRIu64, i < 2 ? '\t' : ' ', item->numbers[i]);
    }
    (void)buf_append_char(out, '\t');
    (void)buf_append_slice(out, item->name);
    (void)buf_append_char(out, '\n');
}

static void
put_counter_json(const struct index_count *item, int kind, struct buf *out)
{
    const char *const *names = counter_kinds[kind].numbers;
    (void)buf_printf(out, "{\"%s\": \"", counter_kinds[kind].name);
    (void)buf_append_json(out, item->name);
    (void)buf_printf(out, "\", \"%s\": %" PRIu64, names[0], item->numbers[0]);
    if (item->kind == INDEX_COUNT_SET) {
        (void)buf_append_string(out, ", \"quads\": [");
        for (size_t i = 1; i < item->n; i++) {
            (void)buf_printf(out, "%s%" PRIu64, i > 1 ? ", " : "", item->numbers[i]);
        }
        (void)buf_append_char(out, ']');
    } else if (names[1] != NULL && item->n > 1) {
        (void)buf_printf(out, ", \"%s\": %" PRIu64, names[1], item->numbers[1]);
    }
    (void)buf_append_char(out, '}');
}

/* Each kind's counters, the greatest first. */
static void
put_counters(const struct index_counts *counts, bool json, struct buf *out)
{
    size_t n;
    const struct index_count *totals = index_counts_of(counts, INDEX_COUNT_TOTAL, &n);
    (void)buf_append_string(out, json ? "{\"total\": {" : "");
    for (size_t i = 0; i < n; i++) {
        (void)buf_printf(out, json ? "%s\"%.*s\": %" PRIu64 : "%stotal\t%.*s\t%" PRIu64 "\n",
                         json && i > 0 ? ", " : "", SLICE_PRINT(totals[i].name),
                         totals[i].numbers[0]);
    }
    (void)buf_append_string(out, json ? "}" : "");
    for (int kind = 0; kind < COUNTER_KINDS; kind++) {
        const struct index_count *items = index_counts_of(counts, counter_kinds[kind].kind, &n);
        const struct index_count **sorted = memory_alloc((n + 1) * sizeof *sorted);
        for (size_t i = 0; i < n; i++) {
            sorted[i] = &items[i];
        }
        qsort(sorted, n, sizeof *sorted, most_first);
        if (json) {
            (void)buf_printf(out, ",\n \"%s\": [", counter_kinds[kind].name);
        }
        for (size_t i = 0; i < n; i++) {
            if (json) {
                (void)buf_append_string(out, i > 0 ? ",\n  " : "\n  ");
                put_counter_json(sorted[i], kind, out);
            } else {
                put_counter_text(sorted[i], kind, out);
            }
        }
        (void)buf_append_string(out, json ? "]" : "");
        free(sorted);
    }
    (void)buf_append_string(out, json ? "}\n" : "");
}

static enum status
write_counters(struct index_client *index, enum counters format, bool sets, struct buf *out,
               struct reason *why)
{
    static const struct index_void_options options = {.dataset = "urn:x-quadrille:index"};
    struct index_counts *counts;
    if (format == COUNTERS_VOID) {
        return index_void(index, &options, out, why);
    }
    TRY(index_counts_get(index, sets, &counts, why));
    put_counters(counts, format == COUNTERS_JSON, out);
    index_counts_free(counts);
    return out->overflowed ? status_fail(why, STATUS_LIMIT, "too many counters") : STATUS_OK;
}

static int
show_counters(const struct program *program, const struct cli_common *common, enum counters format,
              bool sets)
{
    struct reason why = {""};
    struct cli cli = {0};
    struct index_client *index = NULL;
    struct buf text;
    buf_init(&text, (size_t)1 << 30);
    enum status status = cli_open_reading(&cli, common, &why);
    if (status == STATUS_OK) {
        status = cli_serve(&cli, "index", &why);
    }
    if (status == STATUS_OK) {
        status = cli_index(&cli, &index, &why);
    }
    if (status == STATUS_OK) {
        status = write_counters(index, format, sets, &text, &why);
    }
    if (status == STATUS_OK) {
        status = cli_print_piece(stdout, buf_slice(&text), &why);
    }
    index_client_close(index);
    cli_close(&cli);
    buf_release(&text);
    return cli_end(program, status, &why);
}

/* ---- again and again ---- */

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
        if (fflush(stdout) != 0) {
            close(signals);
            return status_fail_errno(why, "cannot write the output");
        }
    } while (wait_or_stop(signals, (int)seconds * 1000));
    close(signals);
    return STATUS_OK;
}

static int
follow(const struct program *program, const struct cli_common *common, int64_t seconds)
{
    struct reason why = {""};
    struct view view;
    enum status status = open_view(&view, common, &why);
    if (status == STATUS_OK) {
        status = show_repeatedly(&view, (unsigned)seconds, &why);
    }
    close_view(&view);
    return cli_end(program, status, &why);
}

/* ---- the command ---- */

struct asked {
    struct cli_common common;
    bool json, follow, counters, sets, description;
    int64_t seconds;
};

static enum status
check(const struct asked *asked, struct reason *why)
{
    if (asked->description && (asked->json || asked->counters || asked->follow)) {
        return status_fail(why, STATUS_MISUSE, "--void stands alone");
    }
    if (asked->sets && !asked->counters) {
        return status_fail(why, STATUS_MISUSE, "--sets goes with --counters");
    }
    if (asked->follow && (asked->json || asked->counters)) {
        return status_fail(why, STATUS_MISUSE, "--follow goes without --json and --counters");
    }
    return asked->seconds >= 1 && asked->seconds <= 3600
               ? STATUS_OK
               : status_fail(why, STATUS_MISUSE, "--interval is 1 to 3600");
}

static int
answer(const struct program *program, const struct asked *asked)
{
    if (asked->follow) {
        return follow(program, &asked->common, asked->seconds);
    }
    if (asked->description || asked->counters) {
        return show_counters(program, &asked->common,
                             asked->description ? COUNTERS_VOID
                             : asked->json      ? COUNTERS_JSON
                                                : COUNTERS_TEXT,
                             asked->sets);
    }
    return show_once(program, &asked->common, asked->json);
}

int
command_status(int argc, char **argv)
{
    struct asked asked = {.common = {.takes_root = true}, .seconds = 1};
    const struct flag flags[] = {
        CLI_COMMON_FLAGS(asked.common),
        {"json", 'j', FLAG_SWITCH, NULL, &asked.json, "Prints one JSON object."},
        {"follow", 'f', FLAG_SWITCH, NULL, &asked.follow,
         "Shows the table of the stages again and again, until Ctrl-C."},
        {"interval", 'i', FLAG_INTEGER, "SECONDS", &asked.seconds,
         "With --follow, the time between two looks (1)."},
        {"counters", 'c', FLAG_SWITCH, NULL, &asked.counters,
         "Prints the counters of what the index holds instead: for each predicate its quads and "
         "subjects, for each class its quads, for each host its quads and documents."},
        {"sets", 0, FLAG_SWITCH, NULL, &asked.sets,
         "With --counters, also each set of predicates that subjects have: how many subjects, and "
         "quads with each predicate."},
        {"void", 0, FLAG_SWITCH, NULL, &asked.description,
         "Prints a VoID description of the index instead, in Turtle: quads, documents, quads of "
         "each predicate, instances of each class."},
        {0},
    };
    const struct program program = {
        .name = "quadrille status",
        .synopsis =
            "--dir DIR [--json] [--follow [--interval SECONDS] | --counters [--sets] | --void]",
        .summary = "show every stage: rate, queue, oldest job, bottleneck; or what the index holds",
        .description =
            "Measures for a second and prints for each stage how many documents it has done and "
            "does per second, how many wait, are being worked on, wait for another try or a "
            "recrawl, how old the oldest is, how many were set aside, and which stage would need "
            "longest to empty its queue: the bottleneck; then what became of the documents so far, "
            "why jobs were buried, what is waited for, and which processes of this node wait or "
            "failed. Figures are sums over all nodes. With --json: {\"stages\": {\"fetch\": "
            "{\"done\": n, ...}, ...}, \"seen\": n, \"exhausted\": true or false, \"index\": "
            "{\"documents\": n, \"quads\": n, ...}}.\n\n"
            "--counters and --void read what every transaction keeps exact, not the quads, and so "
            "are instant. A subject counts once in each document; lines are separated by tabs, the "
            "greatest first.",
        .examples = "quadrille status --dir DIR\n"
                    "quadrille status --dir DIR --follow --interval 5\n"
                    "quadrille status --dir DIR --counters --sets\n"
                    "quadrille status --dir DIR --void",
        .flags = flags,
    };
    struct reason why = {""};
    enum status status = cli_parse(&program, argc, argv, &why);
    status = status == STATUS_OK ? check(&asked, &why) : status;
    return status == STATUS_OK ? answer(&program, &asked) : cli_end(&program, status, &why);
}
