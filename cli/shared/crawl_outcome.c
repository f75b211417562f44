#include "cli/shared/crawl_outcome.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/url/url.h"
#include "metastore/record.h"

enum {
    REASONS_MOST = 64,
    REASONS_SHOWN = 10,
    REASON_BYTES = 120,
    SEEDS_SHOWN = 20,
    SEEDS_AT_A_TIME = 256,
    WAITS_SHOWN = 3,
    REDIRECTED_MOST = 1000, /* redirects followed, loops among them */
    RECORD_BYTES = 1 << 20,
    WAIT_MS = 100
};

/* ---- counts ---- */

void
crawl_outcome_print(const struct queue_stats *stats, FILE *out)
{
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        const char *between = ": ";
        for (int i = 1; i < OUTCOME_COUNT; i++) {
            if ((int)outcome_words[i].stage != stage || stats->outcomes[i] == 0) {
                continue;
            }
            fprintf(out, "%s%s%" PRIu64 " %s",
                    between[0] == ':' ? stage_name((enum stage)stage) : "", between,
                    stats->outcomes[i], outcome_words[i].text);
            between = ", ";
        }
        fputs(between[0] == ',' ? "\n" : "", out);
    }
}

/* ---- buried jobs ---- */

struct reasons {
    struct {
        char text[REASON_BYTES];
        enum stage stage;
        uint64_t count;
    } items[REASONS_MOST];
    size_t count;
    uint64_t others;
};

/* Reasons that differ in numbers only are one. */
static void
without_numbers(struct slice reason, char text[REASON_BYTES])
{
    size_t n = 0;
    bool digits = false;
    for (size_t i = 0; i < reason.length && n + 1 < REASON_BYTES; i++) {
        const bool digit = reason.at[i] >= '0' && reason.at[i] <= '9';
        if (!digit || !digits) {
            text[n++] = reason.at[i];
        }
        if (digit) {
            text[n - 1] = 'N';
        }
        digits = digit;
    }
    text[n] = '\0';
}

static bool
take_buried(void *context, const struct job *job, struct slice state, struct slice reason,
            struct slice reproducer)
{
    struct reasons *reasons = context;
    char text[REASON_BYTES];
    size_t i = 0;
    (void)state;
    (void)reproducer;
    without_numbers(reason, text);
    while (i < reasons->count && ((int)reasons->items[i].stage != job->key.stage ||
                                  strcmp(reasons->items[i].text, text) != 0)) {
        i++;
    }
    if (i == REASONS_MOST) {
        reasons->others++;
        return true;
    }
    if (i == reasons->count) {
        reasons->items[i].stage = (enum stage)job->key.stage;
        memcpy(reasons->items[i].text, text, sizeof text);
        reasons->items[i].count = 0;
        reasons->count++;
    }
    reasons->items[i].count++;
    return true;
}

static int
most_first(const void *a, const void *b)
{
    const uint64_t left =
        *(const uint64_t *)((const char *)a + offsetof(struct reasons, items[0].count));
    const uint64_t right =
        *(const uint64_t *)((const char *)b + offsetof(struct reasons, items[0].count));
    return left < right ? 1 : left > right ? -1 : 0;
}

static struct reasons *
buried_reasons(const struct progress *progress)
{
    struct reasons *reasons = memory_new(sizeof *reasons);
    struct reason why;
    (void)progress_buried(progress, take_buried, reasons, &why); /* counts of what was told */
    qsort(reasons->items, reasons->count, sizeof reasons->items[0], most_first);
    return reasons;
}

void
crawl_outcome_print_buried(const struct progress *progress, FILE *out)
{
    struct reasons *reasons = buried_reasons(progress);
    uint64_t rest = reasons->others;
    for (size_t i = 0; i < reasons->count; i++) {
        if (i < REASONS_SHOWN) {
            fprintf(out, "buried: %" PRIu64 " in %s: %s\n", reasons->items[i].count,
                    stage_name(reasons->items[i].stage), reasons->items[i].text);
        } else {
            rest += reasons->items[i].count;
        }
    }
    if (rest > 0) {
        fprintf(out, "buried: %" PRIu64 " for other reasons\n", rest);
    }
    free(reasons);
}

static void
put_member(struct buf *out, const char *name, const char *text)
{
    buf_printf(out, "\"%s\":\"", name);
    buf_append_json(out, slice_string(text));
    buf_append_char(out, '"');
}

void
crawl_outcome_put_json(const struct progress *progress, struct buf *out)
{
    buf_append_string(out, ",\"outcomes\":{");
    for (int stage = 0, shown = 0; stage < STAGE_COUNT; stage++) {
        int here = 0;
        for (int i = 1; i < OUTCOME_COUNT; i++) {
            if ((int)outcome_words[i].stage != stage) {
                continue;
            }
            if (here++ == 0) {
                buf_printf(out, "%s\"%s\":{", shown++ > 0 ? "," : "",
                           stage_name((enum stage)stage));
            }
            buf_printf(out, "%s\"%s\":%" PRIu64, here > 1 ? "," : "", outcome_words[i].word,
                       progress->now.outcomes[i]);
        }
        buf_append_string(out, here > 0 ? "}" : "");
    }
    buf_append_string(out, "},\"buried\":[");
    struct reasons *reasons = buried_reasons(progress);
    for (size_t i = 0; i < reasons->count; i++) {
        buf_append_string(out, i > 0 ? ",{" : "{");
        put_member(out, "stage", stage_name(reasons->items[i].stage));
        buf_printf(out, ",\"jobs\":%" PRIu64 ",", reasons->items[i].count);
        put_member(out, "reason", reasons->items[i].text);
        buf_append_char(out, '}');
    }
    buf_append_char(out, ']');
    free(reasons);
}

/* ---- seeds ---- */

struct lookup {
    struct cli *cli;
    const struct seeds *seeds;
    struct seed_outcomes *outcomes;
    struct {
        size_t seed;
        char *target;
    } * redirected; /* within the scope */
    size_t redirected_count;
    size_t first;
    bool given;
    enum status status;
    struct reason why;
};

static void
note_nothing(struct lookup *lookup, const char *key, const struct reason *why)
{
    struct seed_outcomes *outcomes = lookup->outcomes;
    outcomes->items = memory_resize(outcomes->items, outcomes->count + 1, sizeof *outcomes->items);
    outcomes->items[outcomes->count++] = (struct seed_outcome){.key = key, .why = *why};
}

static bool
is_one_of(struct slice word, const char *const *words)
{
    while (*words != NULL && !slice_is(word, *words)) {
        words++;
    }
    return *words != NULL;
}

/* Seeds are judged by where they lead. More than these are taken to lead somewhere. */
static void
note_redirect(struct lookup *lookup, size_t seed, struct slice target)
{
    if (target.length == 0 || lookup->redirected_count == REDIRECTED_MOST) {
        return;
    }
    const size_t at = lookup->redirected_count++;
    lookup->redirected = memory_resize(lookup->redirected, at + 1, sizeof *lookup->redirected);
    lookup->redirected[at].seed = seed;
    lookup->redirected[at].target = memory_string_n(target.at, target.length);
}

/* Tells whether it brought something; else *why says why not, and what can be done. */
static bool
brought_something(struct lookup *lookup, size_t seed, struct slice record, struct reason *why)
{
    static const char *const nothing[] = {"failed", "gone", "denied", "covered", NULL};
    struct slice state = {NULL, 0}, reason = {NULL, 0}, target = {NULL, 0};
    uint64_t http = 0;
    if (record.length == 0 || !meta_record_text(record, META_STATE, &state) || state.length == 0) {
        (void)status_fail(why, STATUS_NOT_FOUND, "it was not fetched");
        return false;
    }
    (void)meta_record_text(record, META_REASON, &reason);
    const bool redirected =
        slice_is(state, "redirected") && meta_record_text(record, META_REDIRECT_TO, &target);
    if (redirected && reason.length == 0) {
        note_redirect(lookup, seed, target);
        return true;
    }
    if (redirected) {
        (void)status_fail(why, STATUS_DENIED,
                          "it redirects to %.*s, which is out of scope (%.*s); to crawl that, too: "
                          "quadrille crawl --dir %s %.*s",
                          SLICE_PRINT(target), SLICE_PRINT(reason), lookup->cli->directory,
                          SLICE_PRINT(target));
        return false;
    }
    if (!is_one_of(state, nothing)) {
        return true;
    }
    if (reason.length == 0 && meta_record_number(record, META_HTTP_STATUS, &http)) {
        (void)status_fail(why, STATUS_NOT_FOUND, "%.*s: the server answered %" PRIu64,
                          SLICE_PRINT(state), http);
    } else {
        (void)status_fail(why, STATUS_NOT_FOUND, "%.*s%s%.*s", SLICE_PRINT(state),
                          reason.length > 0 ? ": " : "", SLICE_PRINT(reason));
    }
    return false;
}

static void
take_records(void *context, enum status status, const struct slice *records, size_t n,
             const struct reason *why)
{
    struct lookup *lookup = context;
    lookup->given = true;
    lookup->status = status;
    if (status != STATUS_OK) {
        lookup->why = *why;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        struct reason nothing;
        if (!brought_something(lookup, lookup->first + i, records[i], &nothing)) {
            note_nothing(lookup, lookup->seeds->keys[lookup->first + i], &nothing);
        }
    }
}

/* One request for some of the seeds. */
static enum status
ask_some(struct lookup *lookup, struct metastore_client *metastore, size_t n, struct reason *why)
{
    struct slice *keys = memory_zero(n, sizeof *keys);
    struct buf text;
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++) {
        bytes += strlen(lookup->seeds->keys[lookup->first + i]) + 1;
    }
    buf_init(&text, bytes + 1);
    buf_reserve(&text, bytes); /* so that slices into it stay */
    for (size_t i = 0; i < n; i++) {
        const size_t start = text.length;
        buf_append_char(&text, 'u');
        buf_append_string(&text, lookup->seeds->keys[lookup->first + i]);
        keys[i] = slice_of(text.data + start, text.length - start);
    }
    const uint64_t until = clock_monotonic_ms() + CLI_ANSWER_MS;
    lookup->given = false;
    metastore_get(metastore, keys, n, take_records, lookup);
    while (!lookup->given && clock_monotonic_ms() < until) {
        metastore_wait(metastore, WAIT_MS);
    }
    free(keys);
    buf_release(&text);
    if (!lookup->given) {
        return status_fail(why, STATUS_TIMEOUT, "the metadata store did not answer");
    }
    return lookup->status == STATUS_OK ? STATUS_OK
                                       : status_fail(why, lookup->status, "%s", lookup->why.text);
}

/* Finds where a redirected seed leads in the end. Each round goes one redirect on. */
static enum status
follow_redirects(struct lookup *lookup, struct metastore_client *metastore, struct reason *why)
{
    struct buf key, record;
    enum status status = STATUS_OK;
    buf_init(&key, URL_MAXIMUM + 1);
    buf_init(&record, RECORD_BYTES);
    for (size_t i = 0; i < lookup->redirected_count && status == STATUS_OK; i++) {
        const size_t seed = lookup->redirected[i].seed;
        struct reason nothing;
        buf_reset(&key);
        buf_reset(&record);
        buf_append_char(&key, 'u');
        buf_append_string(&key, lookup->redirected[i].target);
        status = metastore_get_wait(metastore, buf_slice(&key), &record, CLI_ANSWER_MS, why);
        status = status == STATUS_NOT_FOUND ? STATUS_OK : status;
        if (status == STATUS_OK && !brought_something(lookup, seed, buf_slice(&record), &nothing)) {
            (void)status_prefix(&nothing, STATUS_NOT_FOUND, "it redirects to %.200s",
                                lookup->redirected[i].target);
            note_nothing(lookup, lookup->seeds->keys[seed], &nothing);
        }
    }
    buf_release(&key);
    buf_release(&record);
    return status;
}

/* A host that is set aside says why its seeds were not fetched. */
static bool
take_host(void *context, const struct queue_host *host)
{
    struct seed_outcomes *outcomes = context;
    for (size_t i = 0; i < outcomes->count; i++) {
        if (slice_equal(url_origin(slice_string(outcomes->items[i].key)), host->origin)) {
            (void)status_fail(&outcomes->items[i].why, STATUS_TIMEOUT,
                              "the host was set aside: %.*s", SLICE_PRINT(host->cause));
        }
    }
    return true;
}

enum status
crawl_outcome_of_seeds(struct cli *cli, const struct progress *progress, const struct seeds *seeds,
                       struct seed_outcomes *outcomes, struct reason *why)
{
    struct metastore_client *metastore = NULL;
    struct lookup *lookup = memory_new(sizeof *lookup);
    *outcomes = (struct seed_outcomes){.seeds = seeds->count};
    *lookup = (struct lookup){.cli = cli, .seeds = seeds, .outcomes = outcomes};
    enum status status = cli_metastore(cli, &metastore, why);
    while (status == STATUS_OK && lookup->first < seeds->count) {
        const size_t left = seeds->count - lookup->first;
        const size_t n = left < SEEDS_AT_A_TIME ? left : SEEDS_AT_A_TIME;
        status = ask_some(lookup, metastore, n, why);
        lookup->first += n;
    }
    if (status == STATUS_OK) {
        status = follow_redirects(lookup, metastore, why);
    }
    metastore_client_close(metastore);
    for (size_t i = 0; i < lookup->redirected_count; i++) {
        free(lookup->redirected[i].target);
    }
    free(lookup->redirected);
    free(lookup);
    if (status == STATUS_OK && outcomes->count > 0 && progress->now.hosts_aside > 0) {
        status = progress_hosts(progress, true, take_host, outcomes, why);
    }
    return status;
}

void
seed_outcomes_release(struct seed_outcomes *outcomes)
{
    free(outcomes->items);
    *outcomes = (struct seed_outcomes){0};
}

void
seed_outcomes_print(const struct seed_outcomes *outcomes, FILE *out)
{
    if (outcomes->count == 0) {
        return;
    }
    fprintf(out, "seeds that brought nothing: %zu of %zu\n", outcomes->count, outcomes->seeds);
    for (size_t i = 0; i < outcomes->count && i < SEEDS_SHOWN; i++) {
        fprintf(out, "  %s: %s\n", outcomes->items[i].key, outcomes->items[i].why.text);
    }
    if (outcomes->count > SEEDS_SHOWN) {
        fprintf(out, "  and %zu more: quadrille meta URI tells of each\n",
                outcomes->count - SEEDS_SHOWN);
    }
}

void
seed_outcomes_put_json(const struct seed_outcomes *outcomes, struct buf *out)
{
    buf_printf(out, ",\"seeds\":{\"count\":%zu,\"brought_nothing\":[", outcomes->seeds);
    for (size_t i = 0; i < outcomes->count; i++) {
        buf_append_string(out, i > 0 ? ",{" : "{");
        put_member(out, "uri", outcomes->items[i].key);
        buf_append_char(out, ',');
        put_member(out, "reason", outcomes->items[i].why.text);
        buf_append_char(out, '}');
    }
    buf_append_string(out, "]}");
}

/* ---- waiting ---- */

struct waiting {
    FILE *out;
    int shown;
};

static bool
print_host_wait(void *context, const struct queue_host *host)
{
    struct waiting *waiting = context;
    char next[CLOCK_TEXT_SIZE];
    if (host->aside) {
        return true;
    }
    clock_text(host->next_ms, 0, next);
    fprintf(waiting->out, "  waits for %.*s until %s: %.*s\n", SLICE_PRINT(host->origin), next,
            SLICE_PRINT(host->cause));
    return ++waiting->shown < WAITS_SHOWN;
}

static bool
print_job_wait(void *context, const struct job *job, struct slice state, struct slice reason,
               struct slice reproducer)
{
    struct waiting *waiting = context;
    char next[CLOCK_TEXT_SIZE];
    (void)state;
    (void)reason;
    (void)reproducer;
    clock_text(job->due_ms, 0, next);
    fprintf(waiting->out, "  waits for another try of %.*s at %s\n", SLICE_PRINT(job->uri), next);
    return ++waiting->shown < WAITS_SHOWN;
}

void
crawl_outcome_print_waits(const struct progress *progress, FILE *out)
{
    const struct queue_stage_stats *fetch = &progress->now.stages[STAGE_FETCH];
    struct waiting waiting = {.out = out};
    struct reason why;
    if (progress->now.hosts_failing > 0) {
        (void)progress_hosts(progress, false, print_host_wait, &waiting, &why);
    }
    if (waiting.shown == 0 && fetch->delayed > 0) {
        (void)progress_delayed(progress, print_job_wait, &waiting, &why);
    }
    if (waiting.shown == 0 && fetch->ready > 0) {
        fprintf(out,
                "  %" PRIu64 " hosts wait for their turn (fetch.delay, Crawl-delay, Retry-After)\n",
                progress->now.lanes);
    }
}
