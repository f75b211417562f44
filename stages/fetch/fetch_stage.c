/* quadrille-fetch: asks the web for documents, politely.
 *
 * A job goes through the host's rules (rules.c), the GET (page.c) and, when it is a
 * sitemap, its entries (sitemap_fetch.c). Datasets go ways of their own (plan_read.c).
 * stages/fetch/http/fetch_http.h moves the bytes; WARC files keep them; the next stage gets the
 * place in the archive. Nobody hears of a place before it is synced: the skeleton calls flush
 * first.
 *
 * Hostile input: servers, their headers, robots.txt, redirects. What needs a library to be unpacked
 * or parsed (sitemaps, descriptions, answers of endpoints) goes to sandboxed workers
 * (stages/fetch/parser/fetch_parser.h), which were forked before this process knew anything.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "base/url/url.h"
#include "stages/fetch/datasets/dataset_tasks.h"
#include "stages/fetch/fetch_steps.h"

enum {
    SCOPE_CHECK_MS = 1000,
    HOSTS = 20000 /* whose robots rules are in memory */
};

static struct fork_server *fork_server; /* forked before anything else is known */

/* ---- libcurl's descriptors in the skeleton's loop ---- */

struct watched {
    struct fetch *fetch;
    int descriptor;
};

static void
descriptor_ready(void *context, uint32_t epoll_events)
{
    const struct watched *watched = context;
    fetch_http_ready(watched->fetch->http, watched->descriptor, epoll_events);
}

static void
watch(void *context, int descriptor, uint32_t epoll_events)
{
    struct fetch *fetch = context;
    const size_t needed = (size_t)descriptor + 1;
    if (needed > fetch->watched.count) {
        const size_t count = needed * 2;
        fetch->watched.all = memory_resize(fetch->watched.all, count, sizeof(struct watched *));
        for (size_t i = fetch->watched.count; i < count; i++) {
            fetch->watched.all[i] = NULL;
        }
        fetch->watched.count = count;
    }
    if (fetch->watched.all[descriptor] == NULL) {
        fetch->watched.all[descriptor] = memory_alloc(sizeof(struct watched));
        *fetch->watched.all[descriptor] = (struct watched){fetch, descriptor};
    }
    stage_watch(fetch->run, descriptor, epoll_events, descriptor_ready,
                fetch->watched.all[descriptor]);
}

static void
tick(void *context)
{
    struct fetch *fetch = context;
    fetch_http_tick(fetch->http);
}

static void
timer(void *context, uint64_t delay_ms)
{
    struct fetch *fetch = context;
    stage_timer(fetch->run, delay_ms, tick, fetch);
}

/* ---- the stage ---- */

static void
fetch_start(void *context, struct stage_job *job)
{
    struct fetch *fetch = context;
    struct task *task = memory_new(sizeof *task);
    struct pace pace;
    task->fetch = fetch;
    task->job = job;
    stage_set_scope(job, scope_at_least(fetch->scope, stage_scope(fetch->run)));
    task->url = slice_of(job->job.uri.at, slice_find(job->job.uri, '#'));
    task->resource = job->job.flags & JOB_RESOURCE;
    task->unverified = job->document.unverified;
    const enum task_kind kind = task_kind(job->job.uri);
    task->origin = url_origin(task->url);
    buf_init(&task->robots.url, URL_MAXIMUM);
    (void)pace_decode(job->job.pace, clock_wall_ms(), &pace);
    host_delays_join(fetch->host_delays, digest_local(task->origin), &pace, clock_monotonic_ms());
    if (job->job.deaths > 0) {
        task_rest(task); /* who held the job and died may just have asked the host */
    }
    task->end.visit = VISIT_FAILED;
    const bool first = job->job.generation <= 1 && job->job.attempt <= 1 && job->job.deaths == 0;
    if (first && !(job->job.flags & JOB_SEED) && !task->resource &&
        !trap_budget_take(fetch->queries, task->url)) {
        task_done(task, "denied", "traps.queries: too many queries of one path");
        return;
    }
    if (kind == TASK_PLAN) {
        task_plan(task);
    } else if (kind == TASK_LISTING) {
        task_list_again(task);
    } else if (kind == TASK_SLICE) {
        task_slice(task);
    } else {
        task_begin(task);
    }
}

static enum status
fetch_flush(void *context, struct stage_job *const *jobs, size_t n, struct reason *why)
{
    struct fetch *fetch = context;
    (void)jobs;
    (void)n;
    const enum status status = warc_sync(fetch->warc, why);
    return status == STATUS_FULL ? STATUS_AGAIN : status; /* it waits for room */
}

static void
refresh_scope(void *context)
{
    struct fetch *fetch = context;
    scope_refresh(fetch->scope);
    stage_timer(fetch->run, SCOPE_CHECK_MS, refresh_scope, fetch);
}

static void
read_sitemap_options(struct fetch *fetch, const struct opt_set *options)
{
    const char *score = opt_string(options, "sitemaps.score");
    fetch->sitemaps.score = strcmp(score, "priority") == 0 ? SCORE_PRIORITY
                            : strcmp(score, "link") == 0   ? SCORE_LINK
                                                           : SCORE_BOTH;
    fetch->sitemaps.followed = strcmp(opt_string(options, "fetch.sitemaps"), "no") != 0;
    fetch->sitemaps.guessed = strcmp(opt_string(options, "fetch.sitemaps"), "yes") == 0;
    fetch->sitemaps.obey_location = strcmp(opt_string(options, "sitemaps.location"), "obey") == 0;
    fetch->sitemaps.budget = (uint64_t)opt_integer(options, "sitemaps.budget");
    fetch->sitemaps.files = (uint64_t)opt_integer(options, "sitemaps.files");
}

static void
read_options(struct fetch *fetch, const struct opt_set *options)
{
    const struct cluster *cluster = stage_cluster(fetch->run);
    fetch->node = cluster_node(cluster, cluster_self(cluster))->name;
    fetch->robots.name = opt_string(options, "fetch.robots_name");
    fetch->retry_ms = opt_duration_ms(options, "fetch.retry");
    fetch->attempts = (unsigned)opt_integer(options, "fetch.attempts");
    fetch->robots.obeyed = opt_bool(options, "fetch.robots");
    fetch->robots.signals = strcmp(opt_string(options, "fetch.robots_signals"), "honour") == 0;
    read_sitemap_options(fetch, options);
    fetch->pace_rules = pace_rules_from(options);
    fetch_read_recrawl(fetch, options);
    fetch->queries = trap_budget_new((uint32_t)opt_integer(options, "traps.queries"));
    fetch->datasets.plan = strcmp(opt_string(options, "datasets.plan"), "no") != 0;
    fetch->datasets.execute = strcmp(opt_string(options, "datasets.plan"), "yes") == 0;
    fetch->datasets.prefer = opt_string(options, "datasets.prefer");
    fetch->datasets.page_resources = (uint64_t)opt_integer(options, "datasets.page");
    const char *well_known = opt_string(options, "datasets.well_known");
    fetch->datasets.void_all = strcmp(well_known, "yes") == 0;
    fetch->datasets.void_rdf = strcmp(well_known, "rdf") == 0;
    fetch->datasets.dump_size = (uint64_t)opt_integer(options, "datasets.dump_size");
    fetch->datasets.wait_ms = opt_duration_ms(options, "transform.wait");
    fetch->hosts = hosts_new(HOSTS);
    fetch->host_delays = host_delays_new();
    fetch_slow_open(fetch, options);
}

static void
pool_ready(void *context, uint32_t events)
{
    struct fetch *fetch = context;
    struct reason why;
    (void)events;
    if (worker_pool_process(fetch_parser_pool(fetch->parser), &why) != STATUS_OK) {
        log_error("cannot go on", "reason=%s", why.text);
        exit(EXIT_SYSTEM); /* the jobs come back by their leases */
    }
}

static enum status
open_archive(struct fetch *fetch, const struct opt_set *options, struct reason *why)
{
    struct warc_writer_options archive = {
        .node = fetch->node,
        .process = stage_worker_name(fetch->run),
        .user_agent = opt_string(options, "fetch.user_agent"),
    };
    struct buf path;
    warc_writer_options_from(&archive, options);
    buf_init(&path, 4096);
    buf_printf(&path, "%s/warc", stage_directory(fetch->run));
    const enum status status = warc_writer_open(&fetch->warc, path.data, &archive, why);
    buf_release(&path);
    return status;
}

static enum status
fetch_open(struct stage_run *run, void **context, struct reason *why)
{
    struct fetch *fetch = memory_new(sizeof *fetch);
    const struct opt_set *options = stage_options(run);
    const struct fetch_loop loop = {.watch = watch, .timer = timer, .context = fetch};
    bool named;
    *context = fetch;
    fetch->run = run;
    read_options(fetch, options);
    TRY(url_rules_open(&fetch->url_rules, options, why));
    TRY(scope_open(&fetch->scope, options, stage_directory(run), why));
    TRY(open_archive(fetch, options, why));
    TRY(fetch_http_open(&fetch->http, options, &loop, why));
    TRY(fetch_parser_open(&fetch->parser, fork_server, options, fetch->http, why));
    stage_watch(run, worker_pool_descriptor(fetch_parser_pool(fetch->parser)), EPOLLIN, pool_ready,
                fetch);
    refresh_scope(fetch);
    (void)opt_text(options, "fetch.user_agent", &named);
    if (!named) {
        log_info("anonymous", "reason=%s",
                 "fetch.user_agent is the default: say who crawls and how to reach you");
    }
    return STATUS_OK;
}

static void
fetch_close(void *context)
{
    struct fetch *fetch = context;
    struct reason why;
    fetch_parser_close(fetch->parser);
    fetch_http_close(fetch->http);
    if (warc_writer_close(fetch->warc, &why) != STATUS_OK) {
        log_error("archive_failed", "reason=%s", why.text);
    }
    scope_close(fetch->scope);
    url_rules_close(&fetch->url_rules);
    content_close(fetch->content);
    hosts_free(fetch->hosts);
    trap_budget_free(fetch->queries);
    fetch_slow_close(fetch);
    host_delays_free(fetch->host_delays);
    for (size_t i = 0; i < fetch->watched.count; i++) {
        free(fetch->watched.all[i]);
    }
    free(fetch->watched.all);
    free(fetch);
}

static const struct program fetch_program = {
    .name = "quadrille-fetch",
    .synopsis = "--dir DIR [OPTION]...",
    .summary = "fetch documents from the web",
    .description =
        "Takes URIs from the queue of the fetch stage, obeys robots.txt, keeps the wanted distance "
        "between two requests to a host, and writes requests and responses to WARC files in "
        "DIR/warc. Documents go on to the detect stage; targets of redirects and entries of "
        "sitemaps come back to the queue of the fetch stage.\n\n"
        "Hostile input: servers. Time, size, header, redirects and decompression are limited, and "
        "addresses that are not public are refused unless fetch.allow_address names them. "
        "Sitemaps, "
        "descriptions of datasets and answers of SPARQL endpoints are parsed in worker processes "
        "without files, network or privileges.\n\n"
        "It is started by `quadrille up`; any number may run. It stops cleanly on SIGTERM.",
    .examples = "quadrille-fetch --dir DIR --set fetch.window=1000\n"
                "# crawl a mirror on this machine\n"
                "quadrille-fetch --dir DIR --set fetch.connect_to=127.0.0.1:8080 "
                "--set fetch.allow_address=127.0.0.0/8",
};

static const struct stage_spec fetch_spec = {
    .stage = STAGE_FETCH,
    .program = &fetch_program,
    .open = fetch_open,
    .start = fetch_start,
    .flush = fetch_flush,
    .close = fetch_close,
    .window_option = "fetch.window",
};

int
main(int argc, char **argv)
{
    fork_server = fork_server_start(&fetch_parser_program);
    const int code = stage_main(&fetch_spec, argc, argv);
    fork_server_close(fork_server);
    return code;
}
