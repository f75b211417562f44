/* quadrille queue: waiting and buried jobs, hosts in trouble. */
#include <inttypes.h>
#include <string.h>

#include "base/system/clock.h"
#include "cli/shared/cli.h"
#include "cli/shared/progress.h"

enum { PEEK_USUAL = 20 };

struct listing {
    uint64_t shown;
};

static bool
print_job(void *context, const struct job *job, struct slice state, struct slice reason,
          struct slice reproducer)
{
    struct listing *listing = context;
    char due[CLOCK_TEXT_SIZE] = "now";
    if (job->due_ms > 0) {
        clock_text(job->due_ms, 0, due);
    }
    printf("%s\t%.*s\t%.*s\tdepth=%u attempt=%u due=%s\n", stage_name((enum stage)job->key.stage),
           SLICE_PRINT(state), SLICE_PRINT(job->uri), job->depth, job->attempt, due);
    if (reason.length > 0) {
        printf("\treason: %.*s\n", SLICE_PRINT(reason));
    }
    if (reproducer.length > 0) {
        printf("\tagain:  %.*s\n", SLICE_PRINT(reproducer));
    }
    listing->shown++;
    return true;
}

struct selection {
    const char *stage, *state;
    int64_t most;
};

static bool
is_state(const char *word)
{
    static const char *const states[] = {"ready",     "aside",  "delayed",
                                         "scheduled", "buried", "outbox"};
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        if (strcmp(states[i], word) == 0) {
            return true;
        }
    }
    return false;
}

static enum status
each_stage(struct queue_client *queue, const struct selection *selection, const char *state,
           struct reason *why)
{
    struct listing listing = {0};
    enum stage only = STAGE_FETCH;
    if (selection->stage != NULL && !stage_of_name(slice_string(selection->stage), &only)) {
        return status_fail(why, STATUS_MISUSE, "%s is no stage", selection->stage);
    }
    if (!is_state(state)) {
        return status_fail(why, STATUS_MISUSE,
                           "%s is no state: ready, aside, delayed, scheduled, buried, outbox",
                           state);
    }
    for (int i = 0; i < STAGE_COUNT; i++) {
        if (selection->stage == NULL || i == (int)only) {
            TRY(queue_peek(queue, (enum stage)i, state, (uint32_t)selection->most, print_job,
                           &listing, why));
        }
    }
    if (listing.shown == 0) {
        puts("none");
    }
    return STATUS_OK;
}

static enum status
kick(struct queue_client *queue, const struct selection *selection, const char *uri,
     struct reason *why)
{
    uint64_t kicked = 0, sum = 0, hosts = 0, jobs = 0;
    enum stage only = STAGE_FETCH;
    if (selection->stage != NULL && !stage_of_name(slice_string(selection->stage), &only)) {
        return status_fail(why, STATUS_MISUSE, "%s is no stage", selection->stage);
    }
    for (int i = 0; i < STAGE_COUNT; i++) {
        if (selection->stage == NULL || i == (int)only) {
            TRY(queue_kick(queue, (enum stage)i, slice_string(uri), &kicked, why));
            sum += kicked;
        }
    }
    if (only == STAGE_FETCH) {
        TRY(queue_retry(queue, slice_string(uri), &hosts, &jobs, why));
    }
    printf("%" PRIu64 " jobs get another try\n", sum);
    if (hosts > 0) {
        printf("%" PRIu64 " hosts that were set aside, with %" PRIu64 " jobs, too\n", hosts, jobs);
    }
    return STATUS_OK;
}

static bool
print_host(void *context, const struct queue_host *host)
{
    char since[CLOCK_TEXT_SIZE], next[CLOCK_TEXT_SIZE];
    clock_text(host->since_ms, 0, since);
    clock_text(host->next_ms, 0, next);
    ((struct listing *)context)->shown++;
    printf("%.*s\t%s\t", SLICE_PRINT(host->origin),
           host->aside     ? "aside"
           : host->doubted ? "silent, perhaps by our own network"
                           : "failing");
    if (host->aside) {
        printf("%s%" PRIu64 " URIs\t", host->counted ? "" : "at least ", host->jobs);
    }
    printf("failures=%" PRIu64 " since=%s next=%s\n\treason: %.*s\n", host->failures, since, next,
           SLICE_PRINT(host->cause));
    return true;
}

static enum status
list_hosts(struct cli *cli, struct reason *why)
{
    struct progress progress;
    struct listing listing = {0};
    enum status status = progress_open(&progress, cli, why);
    if (status == STATUS_OK) {
        status = progress_hosts(&progress, false, print_host, &listing, why);
    }
    progress_close(&progress);
    if (status == STATUS_OK && listing.shown == 0) {
        puts("none");
    }
    return status;
}

static enum status
show_stats(struct cli *cli, struct reason *why)
{
    struct progress progress;
    enum status status = progress_open(&progress, cli, why);
    if (status == STATUS_OK) {
        status = progress_take(&progress, CLI_ANSWER_MS, why);
    }
    if (status == STATUS_OK) {
        progress_print_table(&progress, stdout);
    }
    progress_close(&progress);
    return status;
}

static enum status
run(struct cli *cli, const struct selection *selection, char **operands, int n, struct reason *why)
{
    struct queue_client *queue;
    enum status status;
    const char *verb = n > 0 ? operands[0] : "stats";
    if (strcmp(verb, "stats") == 0) {
        return show_stats(cli, why);
    }
    if (strcmp(verb, "hosts") == 0) {
        return list_hosts(cli, why);
    }
    TRY(cli_queue(cli, &queue, why));
    if (strcmp(verb, "peek") == 0) {
        status = each_stage(queue, selection, selection->state, why);
    } else if (strcmp(verb, "buried") == 0) {
        status = each_stage(queue, selection, "buried", why);
    } else if (strcmp(verb, "kick") == 0) {
        status = kick(queue, selection, n > 1 ? operands[1] : "", why);
    } else {
        status = status_fail(why, STATUS_MISUSE,
                             "queue %.100s: say stats, peek, buried, hosts, or kick [URI]", verb);
    }
    queue_client_close(queue);
    return status;
}

int
command_queue(int argc, char **argv)
{
    struct cli_common common = {0};
    struct cli cli = {0};
    struct selection selection = {.state = "ready", .most = PEEK_USUAL};
    const struct flag flags[] = {
        CLI_COMMON_FLAGS(common),
        {"stage", 0, FLAG_STRING, "STAGE", &selection.stage,
         "Only this stage: fetch, detect, transform, index, extract."},
        {"state", 0, FLAG_STRING, "STATE", &selection.state,
         "peek: ready, aside, delayed, scheduled, buried or outbox (ready)."},
        {"most", 'n', FLAG_INTEGER, "N", &selection.most, "Most jobs listed per stage (20)."},
        {0},
    };
    const struct program program = {
        .name = "quadrille queue",
        .synopsis = "--dir DIR [stats | peek | buried | hosts | kick [URI]]",
        .summary = "look at waiting and buried jobs and hosts in trouble, give them another try",
        .description =
            "stats shows the queue of every stage. peek lists jobs in a state. buried lists jobs "
            "that were set aside, each with its reason and a command that repeats the failure; "
            "hosts lists hosts that fail, or are set aside with all their URIs because they failed "
            "too "
            "long (queue.host_failures): why, since when, and when they are asked again. "
            "kick gives all that is buried and all hosts that are set aside, or those of one URI, "
            "another try. The queue of this node is "
            "meant; stats adds up all nodes.",
        .examples = "quadrille queue --dir DIR stats\n"
                    "quadrille queue --dir DIR peek --stage fetch --state delayed\n"
                    "quadrille queue --dir DIR buried\n"
                    "quadrille queue --dir DIR kick --stage transform",
        .flags = flags,
    };
    struct reason why = {""};
    char **operands;
    int n;
    enum status status = program_parse(&program, argc, argv, &operands, &n, &why);
    if (status == STATUS_OK && (selection.most < 1 || selection.most > 1000000)) {
        status = status_fail(&why, STATUS_MISUSE, "--most is 1 to 1000000");
    }
    if (status == STATUS_OK) {
        const bool writes = n > 0 && strcmp(operands[0], "kick") == 0;
        status = (writes ? cli_open : cli_open_reading)(&cli, &common, &why);
    }
    if (status == STATUS_OK) {
        status = cli_serve(&cli, "queue", &why);
    }
    if (status == STATUS_OK) {
        status = run(&cli, &selection, operands, n, &why);
    }
    cli_close(&cli);
    return cli_end(&program, status, &why);
}
