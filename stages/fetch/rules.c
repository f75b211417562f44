/* robots.txt: RFC 9309 section 2.3. The rules of an origin are looked for in the process's cache,
 * then in the metadata store, then at the host; what was fetched goes to both. A host's jobs come
 * one at a time (its lane), so nobody fetches the same robots.txt at the same time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/clock.h"
#include "base/url/url.h"
#include "crawl/robots_tags.h"
#include "stages/fetch/datasets/dataset_tasks.h"
#include "stages/fetch/fetch_steps.h"

/* RFC 9309, 2.4: a robots.txt is not used for longer than 24 hours. */
enum { ROBOTS_AGE_MS = 24 * 60 * 60 * 1000 };
enum { ROBOTS_HOPS = 5, PLANLESS_AGE_MS = 60000 };

/* ---- deciding ---- */

/* Returns how many sitemaps and schemamaps the host's robots.txt names. */
static size_t
count_maps(const struct host *host)
{
    const struct slice *maps;
    return host->robots == NULL
               ? 0
               : robots_sitemaps(host->robots, &maps) + robots_schemamaps(host->robots, &maps);
}

/* Tells whether a sitemap is to be looked for where nobody names one. Where there is none it is
 * asked for once, at whatever depth. */
static bool
may_guess(const struct task *task, const struct host *host)
{
    return task->fetch->sitemaps.guessed && !task_is_sitemap(task) &&
           host->access != HOST_UNREACHABLE && host->guess_depth > task->job->job.depth &&
           (host->guess_found || host->guess_depth == UINT32_MAX);
}

/* Tells whether the job is for those that an older scope refused: what was queued before, `seen`
 * knows. */
static bool
is_for_sitemaps(const struct task *task)
{
    return task_kind(task->job->job.uri) == TASK_SITEMAPS;
}

/* Tells whether the host has sitemaps that, as far as this process knows, were never queued at so
 * small a depth. */
static bool
may_queue_sitemaps(const struct task *task, const struct host *host)
{
    if (is_for_sitemaps(task)) {
        return task->fetch->sitemaps.followed &&
               (count_maps(host) > 0 || task->fetch->sitemaps.guessed);
    }
    if (!task->fetch->sitemaps.followed || task->resource) {
        return false;
    }
    return count_maps(host) > 0 ? host->sitemaps_depth > task->job->job.depth
                                : may_guess(task, host);
}

/* Tells whether a guess that this process queued came to something may be known only to the one
 * that fetched it. */
static bool
may_learn_of_guess(const struct task *task, const struct host *host)
{
    return task->fetch->sitemaps.guessed && !task->resource && !task_is_sitemap(task) &&
           !host->guess_found && host->guess_depth != UINT32_MAX &&
           host->guess_depth > task->job->job.depth;
}

/* Hosts without sitemaps seldom have a plan; where nothing new was read, less and less is to be
 * expected. */
static bool
is_cover_old(const struct task *task, const struct host *host)
{
    const uint64_t age_ms = count_maps(host) > 0 || host->cover != NULL
                                ? (uint64_t)COVER_AGE_MS << host->cover_calm
                                : PLANLESS_AGE_MS;
    return task->fetch->datasets.plan && !task->resource &&
           host->cover_read_ms + age_ms < clock_wall_ms();
}

static void
take_maps(struct task *task, const struct slice *maps, size_t n)
{
    const uint64_t most = task->fetch->sitemaps.files;
    for (size_t i = 0; task->sitemaps.urls != NULL && i < n && task->sitemaps.count < most; i++) {
        task->sitemaps.urls[task->sitemaps.count++] = arena_copy(&task->job->arena, maps[i]);
    }
}

/* Keeps what the end of the task needs of the host. */
static void
take_from_host(struct task *task, const struct host *host)
{
    const struct slice *maps;
    struct arena *arena = &task->job->arena;
    task->end.authority = arena_copy(arena, host_authority(host, task->url));
    if (host->access != HOST_UNREACHABLE) {
        task_note_crawl_delay(task, host->robots != NULL ? robots_crawl_delay_ms(host->robots) : 0);
    }
    task->sitemaps.mapped =
        task->fetch->sitemaps.followed && (count_maps(host) > 0 || host->guess_found);
    if (!may_queue_sitemaps(task, host)) {
        return;
    }
    if (count_maps(host) == 0) {
        const struct slice guess = SLICE("/sitemap.xml");
        task->sitemaps.guess = true;
        task->sitemaps.again = host->guess_found && !is_for_sitemaps(task);
        task->sitemaps.urls = arena_alloc(arena, sizeof *task->sitemaps.urls);
        take_maps(task, &guess, 1);
        return;
    }
    task->sitemaps.again = host->sitemaps_depth != UINT32_MAX && !is_for_sitemaps(task);
    task->sitemaps.urls = arena_alloc(arena, count_maps(host) * sizeof *task->sitemaps.urls);
    const size_t n = robots_sitemaps(host->robots, &maps);
    take_maps(task, maps, n);
    const size_t schemamaps = robots_schemamaps(host->robots, &maps);
    take_maps(task, maps, schemamaps);
}

/* The host's documents come out of dumps: docs/DATASETS.md. True: the task is over. */
static bool
end_covered(struct task *task, const struct host *host)
{
    char reason[HOST_REASON_SIZE];
    if (task->resource || task_is_sitemap(task) || task_is_sample(task)) {
        return false;
    }
    const struct slice dataset = host_covering(host, task->url);
    if (dataset.length == 0) {
        return false;
    }
    snprintf(reason, sizeof reason, "comes out of dumps: %.*s", SLICE_PRINT(dataset));
    task->end.handed_on = true; /* it is visited with its dump */
    task_done(task, "covered", reason);
    return true;
}

/* They could not be had: by this job, or by another one of late. */
static void
wait_for_rules(struct task *task, const struct host *host)
{
    char reason[HOST_REASON_SIZE];
    const uint64_t now_ms = clock_wall_ms();
    memcpy(reason, host->reason, sizeof reason);
    if (!task->report.asked && host->expires_ms > now_ms) {
        task->report.rest_ms = host->expires_ms - now_ms;
    }
    task_wait_for_host(task, reason);
}

static void
decide(struct task *task, const struct host *host)
{
    take_from_host(task, host);
    if (end_covered(task, host)) {
        return;
    }
    if (host->access == HOST_UNREACHABLE) {
        wait_for_rules(task, host);
        return;
    }
    if (is_for_sitemaps(task)) {
        task_put_refused_sitemaps(task);
        return;
    }
    if (!host_allows(host, task->url)) {
        task->end.counts_as = OUTCOME_DENIED;
        task_done(task, "denied", "robots.txt of the host");
        return;
    }
    if (task->fetch->robots.signals && host->access == HOST_BY_RULES &&
        signals_reserve(robots_signals(host->robots), url_path_query(task->url))) {
        task->end.counts_as = OUTCOME_DENIED;
        task_done(task, "denied", "robots.txt of the host reserves its use: fetch.robots_signals");
        return;
    }
    if (task->report.asked || task->job->job.deaths > 0) {
        task_rest(task); /* now that its Crawl-delay is known */
    }
    task_get(task);
}

/* ---- the host ---- */

static void fetch_robots(struct task *task);

static void
set_lines(struct meta_update *update, enum meta_field field, const struct slice *items, size_t n)
{
    struct buf lines;
    buf_init(&lines, META_VALUE_MAXIMUM);
    for (size_t i = 0; i < n; i++) {
        buf_append_slice(&lines, items[i]);
        buf_append_char(&lines, '\n');
    }
    meta_set_text(update, field, buf_slice(&lines));
    buf_release(&lines);
}

/* Remembers what is known now of the host's rules, here and in the metadata store. */
static struct host *
remember(struct task *task, enum host_access access, uint16_t status, struct slice body,
         const char *reason)
{
    struct fetch *fetch = task->fetch;
    const uint64_t now_ms = clock_wall_ms();
    /* As long as the host rests nobody asks again. */
    const uint64_t age_ms = access == HOST_UNREACHABLE ? task_delay_ms(task) : ROBOTS_AGE_MS;
    const struct slice *maps = NULL;
    struct meta_update update;
    struct buf key;
    struct robots *robots =
        access == HOST_BY_RULES ? robots_parse(body, slice_string(fetch->robots.name)) : NULL;
    meta_update_init(&update);
    meta_set_number(&update, META_ROBOTS_FETCHED, now_ms);
    meta_set_number(&update, META_ROBOTS_STATUS, status);
    meta_set_number(&update, META_ROBOTS_EXPIRES, now_ms + age_ms);
    meta_set_text(&update, META_ROBOTS_BODY, body);
    meta_set_text(&update, META_ROBOTS_FAILURE, slice_string(reason));
    const size_t sitemaps = robots != NULL ? robots_sitemaps(robots, &maps) : 0;
    set_lines(&update, META_SITEMAPS, maps, sitemaps);
    const size_t schemamaps = robots != NULL ? robots_schemamaps(robots, &maps) : 0;
    set_lines(&update, META_SCHEMAMAPS, maps, schemamaps);
    if (robots != NULL && robots_crawl_delay_ms(robots) >= 0) {
        meta_set_number(&update, META_CRAWL_DELAY_MS, (uint64_t)robots_crawl_delay_ms(robots));
    } else {
        meta_clear(&update, META_CRAWL_DELAY_MS);
    }
    meta_set_text(&update, META_ROBOTS_SIGNALS,
                  robots != NULL ? robots_signals(robots) : (struct slice){0});
    meta_set_text(&update, META_HOST_IP, task->asking.ip);
    buf_init(&key, URL_MAXIMUM + 1);
    buf_append_char(&key, 'h');
    buf_append_slice(&key, task->origin);
    stage_put_meta(task->job, buf_slice(&key), meta_update_fields(&update));
    buf_release(&key);
    meta_update_release(&update);
    return hosts_put(fetch->hosts, task->origin, access, robots, now_ms + age_ms, reason);
}

static void
unreachable(struct task *task, uint16_t status, bool silent, const char *problem)
{
    char reason[HOST_REASON_SIZE];
    snprintf(reason, sizeof reason, "robots.txt: %.200s", problem);
    task_note_no_rules(task, status, silent, reason);
    decide(task, remember(task, HOST_UNREACHABLE, status, (struct slice){0}, reason));
}

static void
follow_robots(struct task *task, const struct fetch_result *result)
{
    struct buf next;
    const struct slice location = warc_http_header(result->response_header, "Location");
    buf_init(&next, URL_MAXIMUM);
    if (task->robots.hops++ == ROBOTS_HOPS || location.length == 0 ||
        url_crawl_key(location, buf_slice(&task->robots.url), &next, NULL) != STATUS_OK) {
        /* Section 2.3.1.2: after five, as if there were none. */
        decide(task, remember(task, HOST_OPEN, result->status, (struct slice){0}, ""));
        buf_release(&next);
        return;
    }
    buf_release(&task->robots.url);
    task->robots.url = next;
    fetch_robots(task);
}

static void
robots_decoded(void *context, enum status status, struct slice reply, const struct reason *why)
{
    struct task *task = context;
    if (status == STATUS_OK) {
        const struct slice text = reply.length > 0 ? reply : SLICE("");
        decide(task, remember(task, HOST_BY_RULES, task->robots.status, text, ""));
    } else if (status != STATUS_CANCELLED) { /* else the process ends */
        unreachable(task, task->robots.status, false, why->text);
    }
}

static void
rules_from(struct task *task, const struct fetch_result *result)
{
    /* The part that could be decoded counts, as does the beginning of a file that is too long. */
    const struct parser_request request = {
        .verb = PARSER_DECODE,
        .coding = warc_http_header(result->response_header, "Content-Encoding"),
        .bytes = result->body,
        .most = ROBOTS_MAXIMUM};
    task->robots.status = result->status;
    if (request.coding.length > 0) {
        fetch_parser_submit(task->fetch->parser, &request, robots_decoded, task);
    } else {
        robots_decoded(task, STATUS_OK, result->body, NULL);
    }
}

static void
robots_fetched(void *context, const struct fetch_result *result)
{
    struct task *task = context;
    struct warc_location location;
    const bool whole = result->end == FETCH_ANSWERED;
    if (result->end == FETCH_NEEDLESS) {
        decide(task, hosts_find(task->fetch->hosts, task->origin, clock_wall_ms()));
        return;
    }
    task_note_end(task, result);
    if (result->end == FETCH_CROWDED) {
        task_turn_back(task, result->address);
        return;
    }
    if (result->end == FETCH_NO_MEMORY) {
        stage_release(task->job, METADATA_RETRY_MS, false, "%s", result->problem);
        task_free(task);
        return;
    }
    if (result->end == FETCH_REFUSED_ADDRESS) {
        task_done(task, "denied", result->problem);
        return;
    }
    if (!whole && result->end != FETCH_CUT_LENGTH) {
        unreachable(task, 0, result->silent, result->problem);
        return;
    }
    if (!task_archive(task, buf_slice(&task->robots.url), result,
                      whole ? (struct slice){0} : SLICE("length"), &location)) {
        return;
    }
    if (result->status >= 200 && result->status < 300) {
        rules_from(task, result);
    } else if (result->status >= 300 && result->status < 400) {
        follow_robots(task, result);
    } else if (result->status >= 400 && result->status < 500 && result->status != 429) {
        decide(task, remember(task, HOST_OPEN, result->status, (struct slice){0}, ""));
    } else {
        char words[FETCH_WORDS_SIZE];
        fetch_answer_words(result->status, result->reply, words);
        unreachable(task, result->status, false, words);
    }
}

static void
fetch_robots(struct task *task)
{
    const struct fetch_request request = {
        .url = buf_slice(&task->robots.url),
        .size = ROBOTS_MAXIMUM,
        .done = robots_fetched,
        .context = task,
    };
    task_ask(task, &request);
}

/* ---- the metadata store ---- */

static struct host *
host_from_record(struct task *task, struct slice record)
{
    struct fetch *fetch = task->fetch;
    uint64_t expires_ms = 0;
    uint64_t status = 0;
    struct slice body = {0};
    struct slice failure = {0};
    char reason[HOST_REASON_SIZE];
    if (!meta_record_number(record, META_ROBOTS_EXPIRES, &expires_ms) ||
        expires_ms <= clock_wall_ms()) {
        return NULL;
    }
    (void)meta_record_number(record, META_ROBOTS_STATUS, &status);
    if (meta_record_text(record, META_ROBOTS_FAILURE, &failure) && failure.length > 0) {
        snprintf(reason, sizeof reason, "%.*s", SLICE_PRINT(failure));
        return hosts_put(fetch->hosts, task->origin, HOST_UNREACHABLE, NULL, expires_ms, reason);
    }
    if (status < 200 || status >= 300) {
        return hosts_put(fetch->hosts, task->origin, HOST_OPEN, NULL, expires_ms, NULL);
    }
    (void)meta_record_text(record, META_ROBOTS_BODY, &body);
    return hosts_put(fetch->hosts, task->origin, HOST_BY_RULES,
                     robots_parse(body, slice_string(fetch->robots.name)), expires_ms, NULL);
}

/* Another process may have made the host's plan, or queued its sitemaps meanwhile. */
static void
take_shared(struct host *host, struct slice record)
{
    struct slice cover = {0}, authorities = {0};
    (void)meta_record_text(record, META_COVER, &cover);
    (void)meta_record_text(record, META_AUTHORITIES, &authorities);
    host_set_cover(host, cover, authorities, clock_wall_ms());
    uint64_t depth;
    struct slice guess;
    if (meta_record_number(record, META_DEPTH, &depth) && depth < host->sitemaps_depth) {
        host->sitemaps_depth = (uint32_t)depth;
    }
    if (meta_record_number(record, META_SITEMAP_GUESS_DEPTH, &depth) && depth < host->guess_depth) {
        host->guess_depth = (uint32_t)depth;
    }
    if (meta_record_text(record, META_SITEMAP_GUESS, &guess)) {
        host->guess_found |= slice_is(guess, GUESS_FOUND);
        host->guess_depth = host->guess_found ? host->guess_depth : 0; /* it is not asked again */
    }
}

static void
take_conditions(struct task *task, struct slice record)
{
    struct slice text;
    if (meta_record_text(record, META_ETAG, &text)) {
        task->before.etag = arena_copy(&task->job->arena, text);
    }
    if (meta_record_text(record, META_LAST_MODIFIED, &text)) {
        task->before.last_modified = arena_copy(&task->job->arena, text);
    }
}

static bool
is_description(const struct task *task, struct slice host)
{
    struct slice lines = {0}, line;
    (void)meta_record_text(host, META_DESCRIPTIONS, &lines);
    while (execution_line(&lines, &line)) {
        if (slice_equal(line, task->url)) {
            return true;
        }
    }
    return false;
}

static void
records_read(void *context, enum status status, const struct slice *records, size_t n,
             const struct reason *why)
{
    struct task *task = context;
    struct fetch *fetch = task->fetch;
    if (status != STATUS_OK) {
        stage_put_off(task->job, why);
        task_free(task);
        return;
    }
    if (n > 1 && task_is_superseded(task, records[1])) {
        stage_done(task->job);
        task_free(task);
        return;
    }
    const struct slice none = {0};
    task_take_visit(task, records[0], n > 1 ? records[1] : none, n > 2 ? records[2] : none);
    if (task->visit.spared) {
        task->end.visit = VISIT_PUT_OFF;
        task_done(task, NULL, NULL);
        return;
    }
    /* A sitemap that is asked for again for its entries is needed whole. */
    if (n > 1 && (!task_is_sitemap(task) || task->job->job.due_ms > 0)) {
        task->before.known = true;
        task->before.describes = is_description(task, records[0]);
        take_conditions(task, records[1]);
    }
    if (!fetch->robots.obeyed) {
        task_get(task);
        return;
    }
    struct host *host = hosts_find(fetch->hosts, task->origin, clock_wall_ms());
    if (host == NULL) {
        host = host_from_record(task, records[0]);
    }
    if (host != NULL) {
        take_shared(host, records[0]);
        decide(task, host);
        return;
    }
    buf_append_slice(&task->robots.url, task->origin);
    buf_append_string(&task->robots.url, "/robots.txt");
    fetch_robots(task);
}

static void
sitemap_readable(void *context, enum status status, const struct slice *records, size_t n,
                 const struct reason *why)
{
    struct task *task = context;
    (void)records;
    (void)n;
    if (status == STATUS_OK) {
        task->robots.readable = true;
        task_check_rules(task);
    } else {
        stage_put_off(task->job, why);
        task_free(task);
    }
}

/* Its entries are judged by what another node knows of it, which is asked for again then: when that
 * node is away the host must not be asked in vain. */
static bool
await_sitemap(struct task *task)
{
    const struct slice key =
        arena_printf(&task->job->arena, "u%.*s", SLICE_PRINT(task->job->job.uri));
    if (task->robots.readable || !task_is_sitemap(task) ||
        cluster_key_owner(stage_cluster(task->fetch->run), key) ==
            cluster_self(stage_cluster(task->fetch->run))) {
        return false;
    }
    metastore_get(stage_metastore(task->job->run), &key, 1, sitemap_readable, task);
    return true;
}

void
task_check_rules(struct task *task)
{
    if (await_sitemap(task)) {
        return;
    }
    struct fetch *fetch = task->fetch;
    const struct job *job = &task->job->job;
    const bool again = (job->flags & JOB_RECRAWL) != 0 || job->generation > 1;
    const struct host *host = hosts_find(fetch->hosts, task->origin, clock_wall_ms());
    if (!again && host != NULL && !may_queue_sitemaps(task, host) &&
        !may_learn_of_guess(task, host) && !is_cover_old(task, host)) {
        decide(task, host);
        return;
    }
    if (!again && !fetch->robots.obeyed) {
        task_get(task);
        return;
    }
    struct arena *arena = &task->job->arena;
    const struct slice keys[3] = {
        arena_printf(arena, "h%.*s", SLICE_PRINT(task->origin)),
        arena_printf(arena, "u%.*s", SLICE_PRINT(job->uri)),
        arena_printf(arena, "s%.*s", SLICE_PRINT(job->uri)),
    };
    const size_t known = fetch->recrawl.on ? 3 : 2;
    metastore_get(stage_metastore(task->job->run), keys, again ? known : 1, records_read, task);
}
