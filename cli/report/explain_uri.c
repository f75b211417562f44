/* All that is found is told as sections of facts, names with values, which are written as text or
 * as JSON in one place, so that both always say the same. */
#include "cli/report/explain_uri.h"

#include <inttypes.h>
#include <stdarg.h>

#include "base/system/clock.h"
#include "base/url/url.h"
#include "crawl/robots.h"
#include "crawl/robots_tags.h"
#include "crawl/scope.h"
#include "datasets/dump_key.h"
#include "datasets/execution.h"
#include "queue/politeness/lanes.h"

enum { RECORD_MAXIMUM = 16 << 20, TEXT_MAXIMUM = 4 << 20, JOBS_MOST = 10000, WORDS_SIZE = 256 };

struct explained {
    struct cli cli;
    struct metastore_client *metastore;
    struct queue_client *queue;
    struct buf key, document, host, sighting; /* the URI; records of it and its origin */
    struct buf job;                           /* the URI of its jobs: it may be that of a dump */
    struct buf out;
    enum stage stage; /* whose queue is looked through */
    const char *state;
    bool json, first;
};

/* ---- facts ---- */

static void
begin(struct explained *explained, const char *section)
{
    explained->first = true;
    buf_printf(&explained->out, explained->json ? ",\n  \"%s\": {" : "%s\n", section);
}

static void
end(struct explained *explained)
{
    if (explained->json) {
        buf_append_char(&explained->out, '}');
    }
}

static void
name_fact(struct explained *explained, const char *name)
{
    if (explained->json) {
        buf_printf(&explained->out, "%s\"%s\": ", explained->first ? "" : ", ", name);
    } else {
        buf_printf(&explained->out, "  %-18s", name);
    }
    explained->first = false;
}

static void
fact(struct explained *explained, const char *name, struct slice value)
{
    if (value.length == 0) {
        return;
    }
    name_fact(explained, name);
    if (explained->json) {
        buf_append_char(&explained->out, '"');
        buf_append_json(&explained->out, value);
        buf_append_char(&explained->out, '"');
        return;
    }
    while (value.length > 0) { /* a text's further lines stand below the first */
        const size_t line = slice_find(value, '\n');
        const size_t step = line < value.length ? line + 1 : line;
        buf_printf(&explained->out, "%.*s\n", (int)line, value.at);
        value = slice_of(value.at + step, value.length - step);
        if (value.length > 0) {
            buf_printf(&explained->out, "  %-18s", "");
        }
    }
}

static void
fact_number(struct explained *explained, const char *name, uint64_t number)
{
    name_fact(explained, name);
    buf_printf(&explained->out, explained->json ? "%" PRIu64 : "%" PRIu64 "\n", number);
}

struct named_field {
    enum meta_field field;
    const char *name;
};

static void
facts_of(struct explained *explained, struct slice record, const struct named_field *fields,
         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char time[CLOCK_TEXT_SIZE];
        struct slice text;
        uint64_t number;
        const enum meta_kind kind = meta_field_kind(fields[i].field);
        if ((kind == META_KIND_TEXT || kind == META_KIND_URI) &&
            meta_record_text(record, fields[i].field, &text)) {
            fact(explained, fields[i].name, text);
        } else if (meta_record_number(record, fields[i].field, &number)) {
            if (kind == META_KIND_TIME) {
                clock_text(number, 0, time);
                fact(explained, fields[i].name, slice_string(time));
            } else {
                fact_number(explained, fields[i].name, number);
            }
        }
    }
}

#define FACTS_OF(explained, record, fields) \
    facts_of(explained, record, fields, sizeof(fields) / sizeof(fields)[0])

/* ---- sections ---- */

static void
tell_seen(struct explained *explained)
{
    static const struct named_field fields[] = {{META_STATE, "state"},
                                                {META_REASON, "reason"},
                                                {META_VIA, "via"},
                                                {META_DEPTH, "depth"},
                                                {META_REDIRECT_FROM, "redirect from"},
                                                {META_REDIRECT_TO, "redirect to"},
                                                {META_DUMP, "sliced from"}};
    const struct slice record = buf_slice(&explained->document);
    struct slice via;
    begin(explained, "seen");
    if (record.length == 0) {
        fact(explained, "known", SLICE("no: it was never met, or no fetch of it has ended"));
    } else if (!meta_record_text(record, META_VIA, &via)) {
        fact(explained, "known", SLICE("as a seed"));
    }
    FACTS_OF(explained, record, fields);
    end(explained);
}

/* Says what sitemaps state about the URI. */
static void
tell_sitemap(struct explained *explained)
{
    static const struct named_field fields[] = {
        {META_SITEMAP, "listed in"},       {META_SITEMAP_SEEN, "first listed"},
        {META_LINK_SEEN, "first linked"},  {META_SITEMAP_PRIORITY, "priority, percent"},
        {META_SITEMAP_LASTMOD, "lastmod"}, {META_SITEMAP_CHANGEFREQ, "changefreq"},
        {META_SITEMAP_FACTS, "says"},      {META_SITEMAP_HELD, "waits because"}};
    static const struct named_field of_host[] = {{META_SITEMAP_SHARE, "share of 256"},
                                                 {META_SITEMAP_EXCESS, "host's excess"}};
    begin(explained, "sitemap");
    FACTS_OF(explained, buf_slice(&explained->sighting), fields);
    FACTS_OF(explained, buf_slice(&explained->host), of_host);
    end(explained);
}

static enum status
tell_scope(struct explained *explained, struct reason *why)
{
    struct scope *scope;
    const char *because;
    uint64_t depth = 0;
    if (url_is_ftp(buf_slice(&explained->key))) {
        begin(explained, "scope");
        fact(explained, "verdict", SLICE("out"));
        fact(explained, "rule", SLICE("by FTP only dumps of datasets are fetched, no documents"));
        end(explained);
        return STATUS_OK;
    }
    char place[CLI_PLACE_SIZE];
    cli_scope_place(&explained->cli, 0, place);
    TRY(scope_open(&scope, explained->cli.options, place, why));
    (void)meta_record_number(buf_slice(&explained->document), META_DEPTH, &depth);
    begin(explained, "scope");
    const bool allowed = scope_allows(scope, buf_slice(&explained->key), (uint32_t)depth, &because);
    fact(explained, "verdict", allowed ? SLICE("in") : SLICE("out"));
    fact(explained, "rule", slice_string(allowed ? "" : because));
    end(explained);
    scope_close(scope);
    return STATUS_OK;
}

static void
tell_rules(struct explained *explained, struct slice body)
{
    struct robots *robots =
        robots_parse(body, slice_string(opt_string(explained->cli.options, "fetch.robots_name")));
    const struct slice path = url_path_query(buf_slice(&explained->key));
    struct buf line;
    buf_init(&line, RECORD_MAXIMUM);
    robots_rule(robots, path, &line);
    fact(explained, "verdict", robots_allows(robots, path) ? SLICE("allowed") : SLICE("forbidden"));
    fact(explained, "rule", line.length > 0 ? buf_slice(&line) : SLICE("none matches"));
    if (signals_reserve(robots_signals(robots), path)) {
        fact(explained, "reserved", SLICE("yes: see fetch.robots_signals"));
    }
    buf_release(&line);
    robots_free(robots);
}

static void
tell_robots(struct explained *explained)
{
    static const struct named_field fields[] = {
        {META_ROBOTS_FETCHED, "fetched"},     {META_ROBOTS_STATUS, "status"},
        {META_ROBOTS_EXPIRES, "holds until"}, {META_ROBOTS_SIGNALS, "signals"},
        {META_SITEMAPS, "sitemaps"},          {META_SITEMAP_GUESS, "/sitemap.xml, unnamed"}};
    const struct slice record = buf_slice(&explained->host);
    struct slice body = {0}, failure = {0};
    uint64_t status = 0;
    begin(explained, "robots");
    (void)meta_record_text(record, META_ROBOTS_FAILURE, &failure);
    if (!opt_bool(explained->cli.options, "fetch.robots")) {
        fact(explained, "verdict", SLICE("allowed: fetch.robots is no"));
    } else if (!meta_record_number(record, META_ROBOTS_STATUS, &status)) {
        fact(explained, "verdict", SLICE("not known: robots.txt was not fetched"));
    } else if (failure.length > 0) {
        fact(explained, "verdict", SLICE("forbidden for now"));
        fact(explained, "rule", failure);
    } else if (status < 200 || status >= 300) {
        fact(explained, "verdict", SLICE("allowed: there is no robots.txt"));
    } else {
        (void)meta_record_text(record, META_ROBOTS_BODY, &body);
        tell_rules(explained, body);
    }
    FACTS_OF(explained, record, fields);
    end(explained);
}

static void
tell_host(struct explained *explained)
{
    static const struct named_field fields[] = {{META_HOST_IP, "address"},
                                                {META_CRAWL_DELAY_MS, "crawl-delay ms"}};
    const struct opt_set *options = explained->cli.options;
    const struct slice record = buf_slice(&explained->host);
    begin(explained, "host");
    fact(explained, "origin", url_origin(buf_slice(&explained->key)));
    fact_number(explained, "delay ms", opt_duration_ms(options, "fetch.delay"));
    FACTS_OF(explained, record, fields);
    end(explained);
}

static bool
take_job(void *context, const struct job *job, struct slice state, struct slice reason,
         struct slice reproducer)
{
    struct explained *explained = context;
    char name[64];
    char time[CLOCK_TEXT_SIZE];
    (void)state;
    (void)reproducer;
    if (!slice_equal(job->uri, buf_slice(&explained->job))) {
        return true;
    }
    snprintf(name, sizeof name, "%s", stage_name(explained->stage));
    fact(explained, name, slice_string(explained->state));
    if (job->due_ms > 0) {
        snprintf(name, sizeof name, "%s due", stage_name(explained->stage));
        clock_text(job->due_ms, 0, time);
        fact(explained, name, slice_string(time));
    }
    snprintf(name, sizeof name, "%s attempt", stage_name(explained->stage));
    fact_number(explained, name, job->attempt);
    snprintf(name, sizeof name, "%s reason", stage_name(explained->stage));
    fact(explained, name, reason);
    return false;
}

static enum status
tell_queue(struct explained *explained, struct reason *why)
{
    static const char *const states[] = {"ready",     "aside",  "delayed",
                                         "scheduled", "buried", "outbox"};
    enum status status = STATUS_OK;
    begin(explained, "queue");
    for (int stage = STAGE_FETCH; stage <= STAGE_EXTRACT; stage++) {
        for (size_t i = 0; i < sizeof states / sizeof states[0] && status == STATUS_OK; i++) {
            explained->stage = (enum stage)stage;
            explained->state = states[i];
            status = queue_peek(explained->queue, (enum stage)stage, states[i], JOBS_MOST, take_job,
                                explained, why);
        }
    }
    if (explained->first) {
        fact(explained, "jobs", SLICE("none that waits"));
    }
    end(explained);
    return status;
}

/* ---- the frontier ---- */

static void fact_words(struct explained *explained, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void
fact_words(struct explained *explained, const char *name, const char *format, ...)
{
    char text[WORDS_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fact(explained, name, slice_string(text));
}

static double
ones(uint64_t thousandths)
{
    return (double)(int64_t)thousandths / 1000;
}

/* Says what decides when the job is taken among those of its lane. */
static void
tell_rank(struct explained *explained, const struct queue_explanation *look)
{
    const bool listed = look->rank >= RANK_SITEMAP;
    const bool urgent = look->found && look->rank < RANK_USUAL;
    if (look->found) {
        fact_words(explained, "rank", "%" PRIu64 ", %s: smaller goes first",
                   listed ? look->rank - RANK_SITEMAP : look->rank,
                   urgent   ? "before all pages"
                   : listed ? "among those that sitemaps list"
                            : "among those that links lead to");
        fact_words(explained, "before it", "%" PRIu64 " jobs of the host%s", look->ahead,
                   look->leased ? "; it is being fetched" : "");
    } else if (look->behind) {
        fact_words(explained, "before it", "%" PRIu64 " jobs of the host at least", look->ahead);
    }
    if (listed || urgent) {
        fact_words(explained, "made of", "the priority %" PRIu64 "%s", look->priority,
                   listed ? ", by its sitemap's word or link rank (sitemaps.score)" : "");
        return;
    }
    fact_words(explained, "made of", "%s %.0f = %" PRIu64 " + 48 + %.0f - %.0f - %.0f, 128 to 255",
               look->found ? "now" : "would be", ones(look->weight),
               look->found ? look->priority : RANK_USUAL, ones(look->depth_cost),
               ones(look->links_gain), ones(look->yield_gain));
    fact_words(explained, "depth", "%" PRIu64 ": %+.0f", look->depth, ones(look->depth_cost));
    fact_words(explained, "linked from", "%" PRIu64 " other domains: %+.0f", look->linking,
               0 - ones(look->links_gain));
    fact_words(explained, "data yield",
               "doublings of new quads a fetch: %.1f of its pattern (%" PRIu64
               " fetches), %.1f of its host (%" PRIu64 "), %.1f of all: %+.0f",
               ones(look->mean_pattern), look->fetches_pattern, ones(look->mean_host),
               look->fetches_host, ones(look->mean_all), 0 - ones(look->yield_gain));
}

static void
tell_frontier(struct explained *explained, const struct queue_explanation *look)
{
    begin(explained, "frontier");
    if (look->node != 0) {
        fact(explained, "told by",
             slice_string(cluster_node(explained->cli.cluster, look->node - 1)->name));
        end(explained);
        return;
    }
    fact(explained, "known",
         look->waiting && look->scheduled ? SLICE("waits, as a visit scheduled for later")
         : look->waiting                  ? SLICE("waits to be fetched")
         : look->fetched                  ? SLICE("fetched before; nothing waits")
         : look->known                    ? SLICE("known; nothing waits")
                                          : SLICE("never put"));
    tell_rank(explained, look);
    end(explained);
}

/* Says why the host rests for so long. */
static void
tell_pace(struct explained *explained, const struct queue_explanation *look)
{
    const struct {
        const char *name;
        uint64_t number;
    } facts[] = {{"response ms", look->response_ms},
                 {"troubles in a row", look->troubles},
                 {"unanswered in a row", look->failures},
                 {"troubles of its address", look->address_troubles}};
    char time[CLOCK_TEXT_SIZE];
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        if (facts[i].number > 0) {
            fact_number(explained, facts[i].name, facts[i].number);
        }
    }
    if (look->quiet_until_ms > clock_wall_ms()) {
        clock_text(look->quiet_until_ms, 0, time);
        fact(explained, "Retry-After", slice_string(time));
    }
}

/* Says what decides when the turn of the job's host comes. */
static void
tell_lane(struct explained *explained, const struct queue_explanation *look)
{
    static const char *const states[] = {
        [LANE_NOT_HERE] = "empty: no job waits, or none since the start",
        [LANE_RESTS] = "rests, or is due and goes next",
        [LANE_WAITS] = "waits for its turn among the hosts that are due",
        [LANE_OUT] = "is being asked",
        [LANE_WAITS_FOR_GROUP] = "waits for the other hosts of its address",
    };
    char time[CLOCK_TEXT_SIZE];
    begin(explained, "lane");
    fact(explained, "state",
         slice_string(look->lane_state <= LANE_WAITS_FOR_GROUP ? states[look->lane_state] : "?"));
    if (look->jobs_out > 0) {
        fact_number(explained, "jobs out", look->jobs_out);
    }
    if (look->due_ms > clock_wall_ms()) {
        clock_text(look->due_ms, 0, time);
        fact(explained, "rests until", slice_string(time));
    }
    tell_pace(explained, look);
    fact_words(explained, "speed", "%" PRIu64 " of %d%s", look->speed + 1, LANES_SPEEDS,
               look->speed == 0 ? ", the fastest" : "");
    if (look->budget > 0) {
        fact_words(explained, "domain's budget",
                   "%.1f fetches of late, of %" PRIu64 " in %" PRIu64 " s (queue.domain_budget)",
                   ones(look->level), look->budget, look->period_ms / 1000);
    }
    if (look->poor) {
        fact(explained, "poor", SLICE("its pages bring a quarter of the usual: one speed less"));
    }
    fact_words(explained, "sitemaps' share", "%" PRIu64 " of 256 fetches%s",
               look->share != 0 ? look->share : 128, look->listed ? "" : "; none waits");
    if (look->eased) {
        fact(explained, "burst", SLICE("several jobs at a time: it asks for no rest"));
    }
    end(explained);
}

static bool
take_host(void *context, const struct queue_host *host)
{
    struct explained *explained = context;
    char time[CLOCK_TEXT_SIZE];
    fact(explained, "state",
         host->aside     ? SLICE("set aside, with all its URIs: it failed too often and too long")
         : host->doubted ? SLICE("silent like others: it may be this machine's own network")
                         : SLICE("fails, and is still tried"));
    fact(explained, "because", host->cause);
    fact_number(explained, "failures in a row", host->failures);
    clock_text(host->since_ms, 0, time);
    fact(explained, "fails since", slice_string(time));
    if (host->aside) {
        clock_text(host->aside_ms, 0, time);
        fact(explained, "set aside since", slice_string(time));
        fact_number(explained, "URIs set aside", host->jobs);
        fact_number(explained, "probes in vain", host->probes);
    }
    clock_text(host->next_ms, 0, time);
    fact(explained, host->aside ? "next probe" : "asked again", slice_string(time));
    return false;
}

/* Tells whether its host fails. */
static enum status
tell_trouble(struct explained *explained, struct reason *why)
{
    begin(explained, "trouble");
    const enum status status = queue_hosts(explained->queue, url_origin(buf_slice(&explained->key)),
                                           false, take_host, explained, why);
    if (explained->first) {
        fact(explained, "state", SLICE("none"));
    }
    end(explained);
    return status;
}

static enum status
tell_standing(struct explained *explained, struct reason *why)
{
    struct queue_explanation look;
    const struct slice key = buf_slice(&explained->key);
    TRY(queue_explanation(explained->queue, key, &look, why));
    tell_frontier(explained, &look);
    if (look.node == 0) {
        tell_lane(explained, &look);
        TRY(tell_trouble(explained, why));
    }
    return STATUS_OK;
}

static void
tell_fetches(struct explained *explained)
{
    static const struct named_field fetches[] = {{META_FETCHED, "fetched"},
                                                 {META_HTTP_STATUS, "status"},
                                                 {META_FTP_REPLY, "reply"},
                                                 {META_VISITS, "visits"},
                                                 {META_VISITS_CHANGED, "visits with a change"},
                                                 {META_CHANGED, "change seen"},
                                                 {META_GONE_SINCE, "gone since"},
                                                 {META_FETCH_MS, "took ms"},
                                                 {META_CONTENT_TYPE, "content type"},
                                                 {META_PAYLOAD_BYTES, "bytes"},
                                                 {META_TRUNCATED, "truncated by"},
                                                 {META_ROBOTS_TAGS, "says"},
                                                 {META_ATTEMPTS, "attempts"},
                                                 {META_WARC_FILE, "archived in"},
                                                 {META_DUE, "next visit"}};
    static const struct named_field yields[] = {{META_DETECTED_TYPE, "type"},
                                                {META_TRANSFORM, "transforms"},
                                                {META_TRANSFORM_QUADS, "quads of"},
                                                {META_QUADS, "quads"},
                                                {META_INDEXED, "indexed"},
                                                {META_QUADS_ADDED, "quads added"},
                                                {META_QUADS_REMOVED, "quads removed"},
                                                {META_LINKS_FOUND, "links found"},
                                                {META_LINKS_ACCEPTED, "links accepted"},
                                                {META_LINKS_TRAPPED, "links trapped"},
                                                {META_NOFOLLOW, "nofollow"}};
    const struct slice record = buf_slice(&explained->document);
    begin(explained, "fetches");
    FACTS_OF(explained, record, fetches);
    end(explained);
    begin(explained, "yield");
    FACTS_OF(explained, record, yields);
    end(explained);
}

/* ---- the whole ---- */

static enum status
read_record(struct explained *explained, char kind, struct slice of, struct buf *record,
            struct reason *why)
{
    struct buf key;
    buf_init(&key, META_KEY_MAXIMUM);
    buf_append_char(&key, kind);
    buf_append_slice(&key, of);
    const enum status status =
        metastore_get_wait(explained->metastore, buf_slice(&key), record, CLI_ANSWER_MS, why);
    buf_release(&key);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

/* Reads the record of the document, or else that of the dump of this URI. */
static enum status
read_document(struct explained *explained, struct reason *why)
{
    const bool ftp = url_is_ftp(buf_slice(&explained->key));
    buf_append_slice(&explained->job, buf_slice(&explained->key));
    if (!ftp) {
        TRY(read_record(explained, 'u', buf_slice(&explained->job), &explained->document, why));
    }
    if (explained->document.length == 0) {
        buf_append_string(&explained->job, DUMP_FRAGMENT);
        TRY(read_record(explained, 'u', buf_slice(&explained->job), &explained->document, why));
    }
    if (explained->document.length == 0 && !ftp) {
        buf_reset(&explained->job);
        buf_append_slice(&explained->job, buf_slice(&explained->key));
    }
    return STATUS_OK;
}

static enum status
tell_all(struct explained *explained, struct reason *why)
{
    const struct slice key = buf_slice(&explained->key);
    TRY(cli_serve(&explained->cli, "queue,metastore", why));
    TRY(cli_metastore(&explained->cli, &explained->metastore, why));
    TRY(cli_queue_of(&explained->cli, key, &explained->queue, why));
    TRY(read_document(explained, why));
    TRY(read_record(explained, 'h', url_origin(key), &explained->host, why));
    TRY(read_record(explained, 's', key, &explained->sighting, why));
    if (explained->json) {
        buf_append_string(&explained->out, "{\"uri\": \"");
        buf_append_json(&explained->out, key);
        buf_append_char(&explained->out, '"');
    } else {
        buf_printf(&explained->out, "%.*s\n", SLICE_PRINT(key));
    }
    tell_seen(explained);
    if (explained->sighting.length > 0) {
        tell_sitemap(explained);
    }
    TRY(tell_scope(explained, why));
    tell_robots(explained);
    tell_host(explained);
    TRY(tell_queue(explained, why));
    TRY(tell_standing(explained, why));
    tell_fetches(explained);
    buf_append_string(&explained->out, explained->json ? "}\n" : "");
    fwrite(explained->out.data, 1, explained->out.length, stdout);
    return STATUS_OK;
}

enum status
explain_uri(const struct cli_common *common, const char *uri, bool json, struct reason *why)
{
    struct explained explained = {.json = json};
    buf_init(&explained.key, 2 * URL_MAXIMUM);
    buf_init(&explained.job, 2 * URL_MAXIMUM);
    buf_init(&explained.document, RECORD_MAXIMUM);
    buf_init(&explained.host, RECORD_MAXIMUM);
    buf_init(&explained.sighting, RECORD_MAXIMUM);
    buf_init(&explained.out, TEXT_MAXIMUM);
    enum status status = cli_dump_key(uri, &explained.key, why);
    if (status == STATUS_OK) {
        status = cli_open_reading(&explained.cli, common, why);
    }
    if (status == STATUS_OK) {
        status = tell_all(&explained, why);
    }
    metastore_client_close(explained.metastore);
    queue_client_close(explained.queue);
    cli_close(&explained.cli);
    buf_release(&explained.key);
    buf_release(&explained.job);
    buf_release(&explained.document);
    buf_release(&explained.host);
    buf_release(&explained.sighting);
    buf_release(&explained.out);
    return status;
}
