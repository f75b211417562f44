#include "cli/supervisor/process_troubles.h"

#include <inttypes.h>
#include <string.h>

#include "base/rpc/rpc.h"
#include "base/system/clock.h"
#include "cli/supervisor/supervisor.h"
#include "config/process_state.h"

/* A supervisor tries again every 5 s at the latest. */
enum { TRIES = 2, RECENT_MS = 6000, TEXT_BYTES = 4096 };

static bool
is_troubled(const struct process_state *state)
{
    return state->phase == PROCESS_FAILED || (state->phase == PROCESS_WAITING && state->alive) ||
           (state->phase == PROCESS_STARTING && state->alive && state->status != STATUS_OK);
}

static const char *
verb_of(const struct process_state *state)
{
    if (state->phase == PROCESS_WAITING) {
        return "waits";
    }
    return state->phase == PROCESS_STARTING ? "starts again" : "failed";
}

/* ---- ending a wait ---- */

struct looking {
    uint64_t after_ms, now_ms;
    bool waits_for_jobs;
    enum status status;
    struct reason *why;
};

/* Nobody who asks for jobs or quads needs these two. */
static bool
is_needed(const char *name)
{
    return strcmp(name, "web") != 0 && strcmp(name, "retain") != 0;
}

/* A page does not heal: the jobs that need it are never done. */
static bool
waits_for_ever(const struct looking *looking, const struct process_state *state)
{
    return looking->waits_for_jobs && state->phase == PROCESS_WAITING && state->alive &&
           state->status == STATUS_CORRUPT;
}

static bool
cannot_start(const struct looking *looking, const struct process_state *state)
{
    return state->phase == PROCESS_FAILED &&
           (state->status == STATUS_MISUSE || state->failures >= TRIES) &&
           state->changed_ms >= looking->after_ms && state->changed_ms <= looking->now_ms &&
           !(looking->waits_for_jobs && state->status == STATUS_FULL);
}

static void
find_hopeless(void *context, const struct process_state *state)
{
    struct looking *looking = context;
    if (looking->status != STATUS_OK || !is_needed(state->name)) {
        return;
    }
    if (waits_for_ever(looking, state)) {
        looking->status = status_fail(looking->why, state->status, "%s cannot go on: %s (%s)",
                                      state->name, state->why.text, process_state_remedy(state));
        return;
    }
    if (!cannot_start(looking, state)) {
        return;
    }
    looking->status =
        state->status == STATUS_MISUSE
            ? status_fail(looking->why, STATUS_MISUSE, "%s refused its configuration: %s",
                          state->name, state->why.text)
            : status_fail(looking->why, state->status, "%s cannot start: %s (%s)", state->name,
                          state->why.text, process_state_remedy(state));
}

enum status
process_troubles_end(const char *directory, uint64_t began_ms, bool waits_for_jobs,
                     struct reason *why)
{
    struct looking looking = {.after_ms = began_ms,
                              .now_ms = clock_monotonic_ms(),
                              .waits_for_jobs = waits_for_jobs,
                              .status = STATUS_OK,
                              .why = why};
    if (supervisor_pid(directory) != 0 && began_ms > RECENT_MS) {
        looking.after_ms = began_ms - RECENT_MS;
    }
    process_state_each(directory, find_hopeless, &looking);
    return looking.status;
}

static struct {
    const char *directory;
    uint64_t began_ms;
    bool waits_for_jobs;
} waited;

static enum status
look_around(void *context, struct reason *why)
{
    (void)context;
    return process_troubles_end(waited.directory, waited.began_ms, waited.waits_for_jobs, why);
}

void
process_troubles_end_waits(const char *directory, bool waits_for_jobs)
{
    waited.directory = directory;
    waited.began_ms = clock_monotonic_ms();
    waited.waits_for_jobs = waits_for_jobs;
    rpc_client_look(directory != NULL ? look_around : NULL, NULL);
}

/* ---- telling people ---- */

struct telling {
    struct process_troubles_told *told;
    const char *program;
    FILE *out;
};

static void
print_change(void *context, const struct process_state *state)
{
    struct telling *telling = context;
    struct process_troubles_told *told = telling->told;
    size_t i = 0;
    while (i < told->count && strcmp(told->items[i].name, state->name) != 0) {
        i++;
    }
    const bool known = i < told->count;
    if (known && state->phase == PROCESS_READY) {
        fprintf(telling->out, "%s: %s goes on\n", telling->program, state->name);
        told->items[i] = told->items[--told->count];
        return;
    }
    if (!is_troubled(state) || state->phase == PROCESS_STARTING ||
        (known && told->items[i].phase == (int)state->phase &&
         told->items[i].status == (int)state->status) ||
        (!state->alive && state->changed_ms < told->began_ms) ||
        (!known && told->count == TROUBLES_TOLD)) {
        return;
    }
    memcpy(told->items[i].name, state->name, sizeof state->name);
    told->items[i].phase = (int)state->phase;
    told->items[i].status = (int)state->status;
    told->count += !known;
    fprintf(telling->out, "%s: %s %s: %s (%s)\n", telling->program, state->name, verb_of(state),
            state->why.text, process_state_remedy(state));
}

void
process_troubles_tell(struct process_troubles_told *told, const char *directory,
                      const char *program, FILE *out)
{
    struct telling telling = {.told = told, .program = program, .out = out};
    process_state_each(directory, print_change, &telling);
}

static void
print_one(void *context, const struct process_state *state)
{
    const uint64_t now = clock_wall_ms();
    const uint64_t seconds = now > state->since_ms ? (now - state->since_ms) / 1000 : 0;
    if (is_troubled(state)) {
        fprintf(context, "%s %s since %" PRIu64 " s: %s (%s)\n", state->name, verb_of(state),
                seconds, state->why.text, process_state_remedy(state));
    }
}

struct first {
    char *text;
    size_t size;
};

static void
take_first(void *context, const struct process_state *state)
{
    struct first *first = context;
    if (first->text[0] == '\0' && is_troubled(state)) {
        snprintf(first->text, first->size, "%s %s: %s", state->name, verb_of(state),
                 state->why.text);
    }
}

void
process_troubles_first(const char *directory, char *text, size_t size)
{
    struct first first = {text, size};
    text[0] = '\0';
    process_state_each(directory, take_first, &first);
}

void
process_troubles_print(const char *directory, FILE *out)
{
    process_state_each(directory, print_one, out);
}

struct printing {
    FILE *out;
    size_t count;
};

static void
print_one_json(void *context, const struct process_state *state)
{
    struct printing *printing = context;
    struct buf why;
    if (!is_troubled(state)) {
        return;
    }
    buf_init(&why, TEXT_BYTES);
    buf_append_json(&why, slice_string(state->why.text));
    fprintf(printing->out,
            "%s{\"name\":\"%s\",\"state\":\"%s\",\"since_ms\":%" PRIu64
            ",\"failures\":%u,\"reason\":\"%s\",\"do\":\"%s\"}",
            printing->count++ > 0 ? "," : "", state->name, process_phase_name(state->phase),
            state->since_ms, state->failures, why.data != NULL ? why.data : "",
            process_state_remedy(state));
    buf_release(&why);
}

void
process_troubles_print_json(const char *directory, FILE *out)
{
    struct printing printing = {.out = out};
    fputc('[', out);
    process_state_each(directory, print_one_json, &printing);
    fputc(']', out);
}
