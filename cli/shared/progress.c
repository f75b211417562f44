#include "cli/shared/progress.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "cli/supervisor/process_troubles.h"
#include "stages/skeleton/services.h"

enum { NODE_ANSWER_MS = 5000 }; /* of another node, until it counts as down */

struct progress_node {
    struct queue_client *queue;
    const char *name;
    struct queue_stats stats; /* the latest that it told */
    uint64_t silent_since_ms; /* wall; 0: it answered */
};

enum status
progress_open(struct progress *progress, struct cli *cli, struct reason *why)
{
    struct cluster_services services;
    enum status status;
    *progress = (struct progress){0};
    TRY(services_queues(cli->cluster, cli->directory, &services, why));
    progress->nodes = memory_zero(services.count, sizeof *progress->nodes);
    status = STATUS_OK;
    for (size_t i = 0; i < services.count && status == STATUS_OK; i++) {
        const struct queue_client_options options = {
            .endpoint = services.endpoints[i], .name = "cli.progress", .keys = services.keys};
        status = queue_client_open(&progress->nodes[i].queue, &options, why);
        progress->nodes[i].name = cluster_node(cli->cluster, i)->name;
        progress->node_count += status == STATUS_OK;
    }
    progress->is_node = !cluster_is_client(cli->cluster);
    progress->first = progress->is_node ? cluster_self(cli->cluster) : 0;
    cluster_services_release(&services);
    return status;
}

void
progress_close(struct progress *progress)
{
    for (size_t i = 0; i < progress->node_count; i++) {
        queue_client_close(progress->nodes[i].queue);
    }
    free(progress->nodes);
    free(progress->troubles);
    *progress = (struct progress){0};
}

static void
add_stage(struct queue_stage_stats *sum, const struct queue_stage_stats *stage)
{
    sum->ready += stage->ready;
    sum->leased += stage->leased;
    sum->delayed += stage->delayed;
    sum->scheduled += stage->scheduled;
    sum->buried += stage->buried;
    sum->outbox += stage->outbox;
    sum->put += stage->put;
    sum->done += stage->done;
    sum->released += stage->released;
    sum->dead += stage->dead;
    sum->aside += stage->aside;
    sum->oldest_ms = stage->oldest_ms > sum->oldest_ms ? stage->oldest_ms : sum->oldest_ms;
    sum->throttled |= stage->throttled;
}

static void
add_node(struct queue_stats *sum, const struct queue_stats *node)
{
    for (int i = 0; i < STAGE_COUNT; i++) {
        add_stage(&sum->stages[i], &node->stages[i]);
    }
    for (int i = 0; i < OUTCOME_COUNT; i++) {
        sum->outcomes[i] += node->outcomes[i];
    }
    sum->seen += node->seen;
    sum->lanes += node->lanes;
    sum->lanes_busy += node->lanes_busy;
    sum->sent += node->sent;
    sum->received += node->received;
    sum->hosts_aside += node->hosts_aside;
    sum->hosts_failing += node->hosts_failing;
    sum->network_ms = node->network_ms > sum->network_ms ? node->network_ms : sum->network_ms;
    sum->intake_stopped |= node->intake_stopped;
    sum->cut_off |= node->cut_off;
    if (sum->disk_free == 0 || node->disk_free < sum->disk_free) {
        sum->disk_free = node->disk_free;
    }
}

uint64_t
progress_waiting(const struct progress *progress, enum stage stage)
{
    const struct queue_stage_stats *s = &progress->now.stages[stage];
    return s->ready + s->leased + s->delayed + s->outbox;
}

/* ---- nodes in trouble ---- */

static struct progress_trouble *
trouble_of(struct progress *progress, struct slice name)
{
    for (size_t i = 0; i < progress->trouble_count; i++) {
        if (slice_is(name, progress->troubles[i].name)) {
            return &progress->troubles[i];
        }
    }
    progress->troubles =
        memory_resize(progress->troubles, progress->trouble_count + 1, sizeof *progress->troubles);
    struct progress_trouble *trouble = &progress->troubles[progress->trouble_count++];
    *trouble = (struct progress_trouble){0};
    (void)snprintf(trouble->name, sizeof trouble->name, "%.*s", SLICE_PRINT(name));
    return trouble;
}

/* Adds what one node says of another; of several that say when it was last heard, the latest
 * counts. */
static void
note_node(void *context, const struct queue_node *node)
{
    struct progress *progress = context;
    if (!node->down && !node->unknown && node->trouble.length == 0) {
        return;
    }
    struct progress_trouble *trouble = trouble_of(progress, node->name);
    trouble->down |= node->down;
    trouble->unknown |= node->unknown;
    trouble->jobs += node->jobs;
    trouble->since_ms = node->since_ms > trouble->since_ms ? node->since_ms : trouble->since_ms;
    if (node->trouble.length > 0) {
        (void)snprintf(trouble->text.text, REASON_SIZE, "%.*s", SLICE_PRINT(node->trouble));
    }
}

static bool
is_known_down(const struct progress *progress, const char *name)
{
    for (size_t i = 0; i < progress->trouble_count; i++) {
        if (progress->troubles[i].down && strcmp(progress->troubles[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* This node must answer. Another that does not, or of which this one knows that it is down, is not
 * waited for. */
static enum status
ask_node(struct progress *progress, size_t at, uint32_t timeout_ms, struct reason *why)
{
    struct progress_node *node = &progress->nodes[at];
    const bool other = at != progress->first || !progress->is_node;
    const uint32_t most = other && timeout_ms > NODE_ANSWER_MS ? NODE_ANSWER_MS : timeout_ms;
    enum status status = STATUS_TIMEOUT;
    if (!other || !is_known_down(progress, node->name)) {
        struct queue_stats stats = {0};
        status = queue_stats_get(node->queue, &stats, most, why);
        node->stats = status == STATUS_OK ? stats : node->stats;
    }
    if (status == STATUS_OK && progress->node_count > 1) {
        status = queue_nodes(node->queue, note_node, progress, most, why);
    }
    if (other && status == STATUS_TIMEOUT) {
        node->silent_since_ms =
            node->silent_since_ms != 0 ? node->silent_since_ms : clock_wall_ms() - most;
        return STATUS_OK;
    }
    node->silent_since_ms = 0;
    return status;
}

/* Those that told nothing themselves are down, whether or not another node has noticed. */
static void
note_silent(struct progress *progress)
{
    for (size_t i = 0; i < progress->node_count; i++) {
        const struct progress_node *node = &progress->nodes[i];
        if (node->silent_since_ms != 0) {
            struct progress_trouble *trouble = trouble_of(progress, slice_string(node->name));
            trouble->down = true;
            trouble->since_ms = trouble->since_ms != 0 ? trouble->since_ms : node->silent_since_ms;
        }
    }
}

void
progress_print_troubles(const struct progress *progress, FILE *out)
{
    for (size_t i = 0; i < progress->trouble_count; i++) {
        const struct progress_trouble *trouble = &progress->troubles[i];
        char since[CLOCK_TEXT_SIZE];
        clock_text(trouble->since_ms, 0, since);
        if (trouble->unknown) {
            fprintf(out,
                    "Node %s is not in cluster.conf: %" PRIu64
                    " jobs wait for it until it is, or `quadrille cluster forget %s`\n",
                    trouble->name, trouble->jobs, trouble->name);
        } else if (trouble->down) {
            fprintf(out, "Node %s is down since %s: %" PRIu64 " jobs wait for it\n", trouble->name,
                    since, trouble->jobs);
        } else {
            fprintf(out, "Node %s takes nothing, %" PRIu64 " jobs wait for it: %s\n", trouble->name,
                    trouble->jobs, trouble->text.text);
        }
    }
}

static void
print_troubles_json(const struct progress *progress, FILE *out)
{
    struct buf text;
    buf_init(&text, 1 << 20);
    for (size_t i = 0; i < progress->trouble_count; i++) {
        const struct progress_trouble *trouble = &progress->troubles[i];
        char since[CLOCK_TEXT_SIZE];
        clock_text(trouble->since_ms, 0, since);
        (void)buf_printf(&text, "%s{\"node\":\"%s\",\"state\":\"%s\",", i > 0 ? "," : "",
                         trouble->name,
                         trouble->unknown ? "unknown" : (trouble->down ? "down" : "refuses"));
        if (trouble->down) {
            (void)buf_printf(&text, "\"since\":\"%s\",", since);
        }
        (void)buf_printf(&text, "\"jobs\":%" PRIu64 ",\"reason\":\"", trouble->jobs);
        (void)buf_append_json(&text, slice_string(trouble->text.text));
        (void)buf_append_string(&text, "\"}");
    }
    fprintf(out, ",\"nodes\":%zu,\"nodes_in_trouble\":[%.*s]", progress->node_count,
            SLICE_PRINT(buf_slice(&text)));
    buf_release(&text);
}

enum status
progress_take(struct progress *progress, uint32_t timeout_ms, struct reason *why)
{
    struct queue_stats sum = {0};
    size_t answered = 0;
    progress->trouble_count = 0;
    for (size_t i = 0; i < progress->node_count; i++) {
        const size_t at = (progress->first + i) % progress->node_count; /* this one first */
        TRY(ask_node(progress, at, timeout_ms, why));
        add_node(&sum, &progress->nodes[at].stats);
        answered += progress->nodes[at].silent_since_ms == 0;
    }
    if (answered == 0) {
        return status_fail(why, STATUS_TIMEOUT, "no node answers");
    }
    note_silent(progress);
    progress->before = progress->now;
    progress->before_ms = progress->now_ms;
    progress->moved_before = progress->moved;
    progress->quiet_before = progress->quiet;
    progress->now = sum;
    progress->now_ms = clock_monotonic_ms();
    progress->moved = sum.sent + sum.received;
    progress->quiet = true;
    for (int i = 0; i < STAGE_COUNT; i++) {
        progress->quiet &= progress_waiting(progress, (enum stage)i) == 0;
    }
    for (size_t i = 0; i < progress->trouble_count; i++) {
        progress->quiet &= !progress->troubles[i].down;
    }
    return STATUS_OK;
}

enum status
progress_hosts(const struct progress *progress, bool aside_only, queue_host_visit *visit,
               void *context, struct reason *why)
{
    for (size_t i = 0; i < progress->node_count; i++) {
        if (progress->nodes[i].silent_since_ms != 0) {
            continue;
        }
        TRY(queue_hosts(progress->nodes[i].queue, (struct slice){NULL, 0}, aside_only, visit,
                        context, why));
    }
    return STATUS_OK;
}

enum status
progress_buried(const struct progress *progress, queue_visit *visit, void *context,
                struct reason *why)
{
    enum { MOST = 5000 };
    for (size_t i = 0; i < progress->node_count; i++) {
        if (progress->nodes[i].silent_since_ms != 0) {
            continue;
        }
        for (int stage = 0; stage < STAGE_COUNT; stage++) {
            if (progress->now.stages[stage].buried > 0) {
                TRY(queue_peek(progress->nodes[i].queue, (enum stage)stage, "buried", MOST, visit,
                               context, why));
            }
        }
    }
    return STATUS_OK;
}

enum status
progress_delayed(const struct progress *progress, queue_visit *visit, void *context,
                 struct reason *why)
{
    enum { MOST = 3 };
    for (size_t i = 0; i < progress->node_count; i++) {
        if (progress->nodes[i].silent_since_ms != 0) {
            continue;
        }
        TRY(queue_peek(progress->nodes[i].queue, STAGE_FETCH, "delayed", MOST, visit, context,
                       why));
    }
    return STATUS_OK;
}

enum status
progress_retry_hosts(const struct progress *progress, struct reason *why)
{
    for (size_t i = 0; i < progress->node_count; i++) {
        if (progress->nodes[i].silent_since_ms != 0) {
            continue;
        }
        uint64_t hosts;
        TRY(queue_retry(progress->nodes[i].queue, (struct slice){NULL, 0}, &hosts, NULL, why));
    }
    return STATUS_OK;
}

bool
progress_exhausted(const struct progress *progress)
{
    if (progress->node_count <= 1) {
        return progress->now_ms != 0 && progress->quiet;
    }
    return progress->before_ms != 0 && progress->quiet && progress->quiet_before &&
           progress->moved == progress->moved_before;
}

double
progress_rate(const struct progress *progress, enum stage stage)
{
    if (progress->before_ms == 0 || progress->now_ms <= progress->before_ms) {
        return 0;
    }
    const uint64_t done = progress->now.stages[stage].done - progress->before.stages[stage].done;
    return (double)done * 1000.0 / (double)(progress->now_ms - progress->before_ms);
}

/* The stage that would need longest to empty its queue at its present rate; -1: none waits. */
static int
progress_bottleneck(const struct progress *progress)
{
    double longest = 0;
    int found = -1;
    for (int i = 0; i < STAGE_COUNT; i++) {
        const double rate = progress_rate(progress, (enum stage)i);
        const double waiting = (double)progress_waiting(progress, (enum stage)i);
        const double seconds = waiting / (rate > 0.01 ? rate : 0.01);
        if (waiting > 0 && seconds > longest) {
            longest = seconds;
            found = i;
        }
    }
    return found;
}

double
progress_left(const struct progress *progress)
{
    double longest = 0;
    for (int i = 0; i < STAGE_COUNT; i++) {
        const double waiting = (double)progress_waiting(progress, (enum stage)i);
        const double rate = progress_rate(progress, (enum stage)i);
        if (waiting > 0 && rate <= 0) {
            return -1;
        }
        const double seconds = waiting > 0 ? waiting / rate : 0;
        longest = seconds > longest ? seconds : longest;
    }
    return longest;
}

void
progress_print_table(const struct progress *progress, FILE *out)
{
    const int slow = progress_bottleneck(progress);
    fprintf(out, "%-10s %9s %9s %8s %8s %8s %9s %10s %8s\n", "stage", "done", "per s", "ready",
            "leased", "delayed", "oldest s", "scheduled", "buried");
    for (int i = 0; i < STAGE_COUNT; i++) {
        const struct queue_stage_stats *s = &progress->now.stages[i];
        fprintf(out,
                "%-10s %9" PRIu64 " %9.1f %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %9.1f %10" PRIu64
                " %8" PRIu64 "%s%s\n",
                stage_name((enum stage)i), s->done, progress_rate(progress, (enum stage)i),
                s->ready + s->outbox, s->leased, s->delayed, (double)s->oldest_ms / 1000.0,
                s->scheduled, s->buried, s->throttled ? "  waits for the next stage" : "",
                i == slow ? "  <- bottleneck" : "");
    }
    fprintf(out, "URIs seen %" PRIu64 ", hosts waiting %" PRIu64 " (%" PRIu64 " busy)",
            progress->now.seen, progress->now.lanes, progress->now.lanes_busy);
    if (progress->now.hosts_failing > 0) {
        fprintf(out, ", failing %" PRIu64, progress->now.hosts_failing);
    }
    if (progress->now.hosts_aside > 0) {
        fprintf(out, ", set aside %" PRIu64 " with %" PRIu64 " URIs", progress->now.hosts_aside,
                progress->now.stages[STAGE_FETCH].aside);
    }
    if (progress->node_count > 1) {
        fprintf(out, ", %zu nodes, jobs moved %" PRIu64, progress->node_count, progress->now.sent);
    }
    fputs(progress->now.intake_stopped
              ? "\nIntake is stopped: free disk space is below queue.min_free\n"
              : "\n",
          out);
    if (progress->now.cut_off) {
        char since[CLOCK_TEXT_SIZE];
        clock_text(progress->now.network_ms, 0, since);
        fprintf(out,
                "No host answers since %s: is this machine's network up? Jobs wait "
                "(an hour at most)\n",
                since);
    }
    progress_print_troubles(progress, out);
}

static void
print_stage_json(const struct progress *progress, enum stage stage, FILE *out)
{
    const struct queue_stage_stats *s = &progress->now.stages[stage];
    fprintf(out,
            "\"%s\":{\"done\":%" PRIu64 ",\"per_second\":%.3f,\"ready\":%" PRIu64
            ",\"leased\":%" PRIu64 ",\"delayed\":%" PRIu64 ",\"scheduled\":%" PRIu64
            ",\"buried\":%" PRIu64 ",\"aside\":%" PRIu64 ",\"outbox\":%" PRIu64 ",\"put\":%" PRIu64
            ",\"released\":%" PRIu64 ",\"oldest_ms\":%" PRIu64 ",\"throttled\":%s}",
            stage_name(stage), s->done, progress_rate(progress, stage), s->ready, s->leased,
            s->delayed, s->scheduled, s->buried, s->aside, s->outbox, s->put, s->released,
            s->oldest_ms, s->throttled ? "true" : "false");
}

void
progress_print_json(const struct progress *progress, const struct index_stats *index,
                    const char *directory, struct slice members, FILE *out)
{
    const int slow = progress_bottleneck(progress);
    fputs("{\"stages\":{", out);
    for (int i = 0; i < STAGE_COUNT; i++) {
        fputs(i > 0 ? "," : "", out);
        print_stage_json(progress, (enum stage)i, out);
    }
    fprintf(out,
            "},\"seen\":%" PRIu64 ",\"lanes\":%" PRIu64 ",\"lanes_busy\":%" PRIu64
            ",\"hosts_failing\":%" PRIu64 ",\"hosts_aside\":%" PRIu64 ",\"cut_off\":%s"
            ",\"sent\":%" PRIu64 ",\"received\":%" PRIu64 ",\"disk_free\":%" PRIu64
            ",\"intake_stopped\":%s,\"exhausted\":%s,\"bottleneck\":",
            progress->now.seen, progress->now.lanes, progress->now.lanes_busy,
            progress->now.hosts_failing, progress->now.hosts_aside,
            progress->now.cut_off ? "true" : "false", progress->now.sent, progress->now.received,
            progress->now.disk_free, progress->now.intake_stopped ? "true" : "false",
            progress->quiet ? "true" : "false");
    if (slow >= 0) {
        fprintf(out, "\"%s\"", stage_name((enum stage)slow));
    } else {
        fputs("null", out);
    }
    if (index != NULL) {
        fprintf(out,
                ",\"index\":{\"documents\":%" PRIu64 ",\"quads\":%" PRIu64 ",\"terms\":%" PRIu64
                ",\"literals\":%" PRIu64 ",\"bytes_on_disk\":%" PRIu64 ",\"batches\":%" PRIu64
                ",\"full\":%" PRIu64 ",\"damaged\":%" PRIu64 "}",
                index->documents, index->quads, index->terms, index->literals, index->bytes_on_disk,
                index->batches, index->full, index->damaged);
    }
    print_troubles_json(progress, out);
    fputs(",\"processes\":", out);
    process_troubles_print_json(directory, out);
    const double left = progress_left(progress);
    if (left >= 0) {
        fprintf(out, ",\"left_seconds\":%.0f", left);
    }
    (void)fwrite(members.at, 1, members.length, out);
    fputs("}\n", out);
}
