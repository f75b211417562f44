/* The records of each host's URLs are read once in each order: by what sitemaps listed ("s"), and
 * by what was fetched ("u"). Links come from the index. Memory: sitemap_study.h. */
#include "cli/report/report_sitemaps.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/digest.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/url/url.h"
#include "cli/report/sitemap_plot.h"
#include "cli/shared/cli.h"
#include "crawl/url_rules.h"
#include "datasets/sitemap.h"
#include "index/client/index_client.h"

enum {
    SCAN_MS = 60000,
    LINKS_WINDOW = 64,
    LINKED_MOST = 100000, /* documents of a host whose links are read */
    URIS_MEMORY = 256 << 20,
    PUTS = 1000,
    KEY_BYTES = 16 << 10,
    RECORD_BYTES = 8 << 20
};

struct flags {
    struct cli_common common;
    bool json, keep;
    const char *plot;
};

struct totals { /* of the sitemaps of a host */
    uint64_t sitemaps, entries, refused, outside, truncated;
};

struct reporter {
    const struct flags *flags;
    struct metastore_client *metastore;
    struct index_client *index;
    struct url_rules url_rules;
    char **origins;
    size_t origin_count;
    struct plot_host *hosts;
    size_t host_count;
    /* of the present host */
    const char *origin;
    struct study study;
    struct totals totals;
    struct arena arena;
    struct slice *linked; /* documents whose links are read */
    size_t linked_count, linked_capacity, asked, answered;
    bool too_many; /* documents for ranks */
    struct buf record;
};

/* ---- which hosts ---- */

static void
add_origin(struct reporter *reporter, struct slice origin)
{
    const size_t n = reporter->origin_count;
    if (n > 0 && slice_is(origin, reporter->origins[n - 1])) {
        return;
    }
    reporter->origins = memory_resize(reporter->origins, n + 1, sizeof *reporter->origins);
    reporter->origins[reporter->origin_count++] = memory_string_n(origin.at, origin.length);
}

/* Keys of one origin follow each other. */
static bool
take_origin(void *context, struct slice key, struct slice record)
{
    uint64_t seen;
    if (meta_record_number(record, META_SITEMAP_SEEN, &seen)) {
        add_origin(context, url_origin(slice_of(key.at + 1, key.length - 1)));
    }
    return true;
}

static enum status
find_origins(struct reporter *reporter, char **operands, int n, struct reason *why)
{
    for (int i = 0; i < n; i++) {
        static const char *const schemes[] = {"http://", "https://"};
        const bool whole = strstr(operands[i], "://") != NULL;
        for (int k = 0; k < (whole ? 1 : 2); k++) {
            struct buf text, key;
            buf_init(&text, URL_MAXIMUM);
            buf_init(&key, URL_MAXIMUM);
            buf_printf(&text, "%s%s", whole ? "" : schemes[k], operands[i]);
            const enum status status = cli_document_key(text.data, &key, why);
            if (status == STATUS_OK) {
                add_origin(reporter, url_origin(buf_slice(&key)));
            }
            buf_release(&text);
            buf_release(&key);
            TRY(status);
        }
    }
    return n > 0 ? STATUS_OK
                 : metastore_scan(reporter->metastore, SLICE("s"), (struct slice){0}, UINT32_MAX,
                                  take_origin, reporter, SCAN_MS, why);
}

/* ---- the URLs of a host ---- */

static bool
take_sighting(void *context, struct slice key, struct slice record)
{
    struct reporter *reporter = context;
    struct slice kind;
    if (meta_record_text(record, META_SITEMAP_KIND, &kind)) {
        return true; /* a sitemap that an index lists */
    }
    struct study_url *url =
        study_url(&reporter->study, fingerprint64(slice_of(key.at + 1, key.length - 1)));
    if (url != NULL) {
        uint64_t stated = 50;
        url->sitemap_ms = meta_record_count(record, META_SITEMAP_SEEN);
        url->link_ms = meta_record_count(record, META_LINK_SEEN);
        (void)meta_record_number(record, META_SITEMAP_PRIORITY, &stated);
        url->stated = (uint8_t)stated;
    }
    return true;
}

static void
keep_linked(struct reporter *reporter, struct slice uri)
{
    const struct slice copy = arena_copy(&reporter->arena, uri);
    if (copy.at == NULL || reporter->linked_count == LINKED_MOST) {
        reporter->too_many = true;
        return;
    }
    if (reporter->linked_count == reporter->linked_capacity) {
        reporter->linked_capacity = reporter->linked_capacity * 2 + 64;
        reporter->linked =
            memory_resize(reporter->linked, reporter->linked_capacity, sizeof *reporter->linked);
    }
    reporter->linked[reporter->linked_count++] = copy;
}

static void
add_totals(struct totals *totals, struct slice record)
{
    struct slice text;
    struct slice kind = {0};
    totals->sitemaps++;
    (void)meta_record_text(record, META_SITEMAP_KIND, &kind);
    if (!slice_is(kind, sitemap_kind_name(SITEMAP_INDEX))) {
        totals->entries += meta_record_count(record, META_SITEMAP_ENTRIES);
    }
    totals->refused += meta_record_count(record, META_SITEMAP_REFUSED);
    totals->outside += meta_record_count(record, META_SITEMAP_OUTSIDE);
    totals->truncated += meta_record_text(record, META_SITEMAP_TRUNCATED, &text) ? 1 : 0;
}

static bool
take_document(void *context, struct slice key, struct slice record)
{
    struct reporter *reporter = context;
    const struct slice uri = slice_of(key.at + 1, key.length - 1);
    struct slice text = {0};
    if (meta_record_text(record, META_SITEMAP_KIND, &text)) {
        add_totals(&reporter->totals, record);
        return true;
    }
    if (slice_find(uri, '#') < uri.length || meta_record_count(record, META_GENERATION) == 0 ||
        !meta_record_text(record, META_STATE, &text)) {
        return true; /* without a state: a sitemap that the crawl guessed and that is not there */
    }
    struct study_url *url = study_url(&reporter->study, fingerprint64(uri));
    if (url == NULL) {
        return true;
    }
    url->crawled = meta_record_count(record, META_HTTP_STATUS) > 0;
    url->indexed = slice_is(text, "indexed") && meta_record_count(record, META_QUADS) > 0;
    url->sketched = url->indexed && meta_record_text(record, META_SKETCH, &text) &&
                    minhash_read(text, &url->minhash);
    if (url->link_ms == 0 && url->sitemap_ms == 0) {
        url->link_ms = meta_record_count(record, META_FETCHED); /* a seed */
    }
    if (url->indexed) {
        keep_linked(reporter, uri);
    }
    return true;
}

/* ---- links ---- */

struct asked {
    struct reporter *reporter;
    struct slice uri;
};

static void
take_links(void *context, enum status status, const struct index_link *links, size_t n,
           const struct reason *why)
{
    struct asked *asked = context;
    struct reporter *reporter = asked->reporter;
    struct map targets = {0};
    struct buf key;
    (void)why;
    reporter->answered++;
    reporter->too_many |= status != STATUS_OK;
    buf_init(&key, 2 * URL_MAXIMUM);
    for (size_t i = 0; status == STATUS_OK && i < n; i++) {
        buf_reset(&key);
        if (url_rules_key(&reporter->url_rules, links[i].target, asked->uri, &key, NULL) ==
                STATUS_OK &&
            map_add(&targets, fingerprint64(buf_slice(&key)))) {
            study_link(&reporter->study, fingerprint64(asked->uri), fingerprint64(buf_slice(&key)));
        }
    }
    map_release(&targets);
    buf_release(&key);
}

static void
wait_for_index(struct index_client *index)
{
    int descriptors[256];
    struct pollfd polled[256];
    const size_t n = index_client_descriptors(index, descriptors, 256);
    for (size_t i = 0; i < n && i < 256; i++) {
        polled[i] = (struct pollfd){.fd = descriptors[i], .events = POLLIN};
    }
    const int wait = index_client_wait_ms(index);
    (void)poll(polled, n < 256 ? n : 256, wait >= 0 && wait < 1000 ? wait : 1000);
    index_client_process(index);
}

static void
read_links(struct reporter *reporter)
{
    struct asked *asked = memory_zero(reporter->linked_count + 1, sizeof *asked);
    reporter->asked = reporter->answered = 0;
    while (!reporter->too_many && reporter->answered < reporter->linked_count) {
        while (reporter->asked < reporter->linked_count &&
               reporter->asked - reporter->answered < LINKS_WINDOW) {
            const size_t at = reporter->asked++;
            asked[at] = (struct asked){reporter, reporter->linked[at]};
            index_links(reporter->index, asked[at].uri, take_links, &asked[at]);
        }
        index_client_process(reporter->index);
        if (reporter->answered < reporter->asked) {
            wait_for_index(reporter->index);
        }
    }
    while (reporter->answered < reporter->asked) {
        wait_for_index(reporter->index);
    }
    free(asked);
}

/* ---- ranks that the crawl is to use ---- */

static int
compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Per mille of the URLs whose rank is no higher. */
static uint64_t
per_mille(const double *sorted, size_t n, double rank)
{
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (sorted[middle] <= rank) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return n > 0 ? low * 1000 / n : 0;
}

struct keeping {
    struct reporter *reporter;
    double *links, *both;
    struct meta_put puts[PUTS];
    size_t count;
    enum status status;
    struct reason *why;
};

static void
flush_ranks(struct keeping *keeping)
{
    if (keeping->count > 0 && keeping->status == STATUS_OK) {
        keeping->status = cli_note_and_wait(keeping->reporter->metastore, keeping->puts,
                                            keeping->count, keeping->why);
    }
    for (size_t i = 0; i < keeping->count; i++) {
        free((char *)(uintptr_t)keeping->puts[i].key.at);
        free((char *)(uintptr_t)keeping->puts[i].fields.at);
    }
    keeping->count = 0;
}

static struct slice
copy_of(struct slice bytes)
{
    return slice_of(memory_string_n(bytes.at, bytes.length), bytes.length);
}

static bool
keep_rank(void *context, struct slice key, struct slice record)
{
    struct keeping *keeping = context;
    struct study *study = &keeping->reporter->study;
    const uint32_t at =
        map_get(&study->by_fingerprint, fingerprint64(slice_of(key.at + 1, key.length - 1)));
    if (at == (uint32_t)MAP_NONE || meta_record_count(record, META_SITEMAP_SEEN) == 0) {
        return true;
    }
    struct meta_update update;
    meta_update_init(&update);
    meta_set_number(&update, META_LINK_RANK,
                    per_mille(keeping->links, study->count, study->urls[at].page_rank));
    meta_set_number(&update, META_PRIORITY_RANK,
                    per_mille(keeping->both, study->count, study->urls[at].priority_rank));
    keeping->puts[keeping->count++] =
        (struct meta_put){copy_of(key), copy_of(meta_update_fields(&update))};
    meta_update_release(&update);
    return keeping->count < PUTS;
}

static enum status
keep_ranks(struct reporter *reporter, struct reason *why)
{
    const struct study *study = &reporter->study;
    struct keeping *keeping = memory_new(sizeof *keeping);
    struct buf prefix, after;
    *keeping = (struct keeping){.reporter = reporter, .why = why};
    keeping->links = memory_zero(study->count + 1, sizeof *keeping->links);
    keeping->both = memory_zero(study->count + 1, sizeof *keeping->both);
    for (size_t i = 0; i < study->count; i++) {
        keeping->links[i] = study->urls[i].page_rank;
        keeping->both[i] = study->urls[i].priority_rank;
    }
    qsort(keeping->links, study->count, sizeof(double), compare_doubles);
    qsort(keeping->both, study->count, sizeof(double), compare_doubles);
    buf_init(&prefix, KEY_BYTES);
    buf_init(&after, KEY_BYTES);
    buf_printf(&prefix, "s%s/", reporter->origin);
    bool more = true;
    while (more && keeping->status == STATUS_OK) {
        keeping->status = metastore_scan(reporter->metastore, buf_slice(&prefix), buf_slice(&after),
                                         UINT32_MAX, keep_rank, keeping, SCAN_MS, why);
        more = keeping->count == PUTS;
        if (more) {
            buf_reset(&after);
            buf_append_slice(&after, keeping->puts[PUTS - 1].key);
        }
        flush_ranks(keeping);
    }
    const enum status status = keeping->status;
    buf_release(&prefix);
    buf_release(&after);
    free(keeping->links);
    free(keeping->both);
    free(keeping);
    return status;
}

/* ---- printing ---- */

struct row {
    const char *name;
    double value;
};

static void
print_counts(const char *name, const struct study_count *count)
{
    printf("  %-18s %" PRIu64 ": %" PRIu64 " by sitemaps, %" PRIu64 " by links, %" PRIu64
           " by both\n",
           name, count->all, count->listed, count->linked, count->both);
}

static void
print_share(const char *name, double share, const char *more)
{
    if (share < 0) {
        printf("  %-18s -%s\n", name, more);
    } else {
        printf("  %-18s %.3f%s\n", name, share, more);
    }
}

static void
print_pair(const char *name, struct slice record, enum meta_field held, enum meta_field broken)
{
    const uint64_t good = meta_record_count(record, held), bad = meta_record_count(record, broken);
    if (good + bad > 0) {
        printf("  %-18s %" PRIu64 " held, %" PRIu64 " did not\n", name, good, bad);
    }
}

static void
print_text(const struct reporter *reporter, const struct study_measures *measures)
{
    const struct totals *totals = &reporter->totals;
    const struct slice host = buf_slice(&reporter->record);
    char more[100] = "";
    printf("%s\n", reporter->origin);
    printf("  %-18s %" PRIu64 ": %" PRIu64 " entries, %" PRIu64 " refused, %" PRIu64
           " outside, %" PRIu64 " sitemaps cut, %" PRIu64 " over the budget\n",
           "sitemaps", totals->sitemaps, totals->entries, totals->refused, totals->outside,
           totals->truncated, meta_record_count(host, META_SITEMAP_EXCESS));
    if (reporter->study.dropped_bits > 0) {
        printf("  %-18s one URL of %llu\n", "sample", 1ULL << reporter->study.dropped_bits);
    }
    print_counts("seen", &measures->seen);
    print_counts("crawled", &measures->crawled);
    print_counts("indexed", &measures->indexed);
    print_counts("unique", &measures->unique);
    print_share("Coverage", measures->coverage, "");
    print_share("UniqueCoverage", measures->unique_coverage, "");
    print_share("IndexCoverage", measures->index_coverage, "");
    print_share("PageRankCoverage", measures->page_rank_coverage,
                reporter->too_many ? " (too many documents)" : "");
    snprintf(more, sizeof more, "; of sitemaps %.3f, of links %.3f",
             measures->signal_to_noise_listed, measures->signal_to_noise_linked);
    print_share("SignalToNoise", measures->signal_to_noise, more);
    printf("  %-18s %.3f s over %" PRIu64 " URLs: mean %.3f, median %.3f; sitemaps first %" PRIu64
           ", links first %" PRIu64 "\n",
           "SeenDelta", measures->delta_sum, measures->seen.both, measures->delta_mean,
           measures->delta_median, measures->sitemaps_first, measures->links_first);
    print_pair("lastmod, changed", host, META_CLAIMS_HELD, META_CLAIMS_BROKEN);
    print_pair("lastmod, unchanged", host, META_UNCHANGED_HELD, META_UNCHANGED_BROKEN);
    print_pair("changefreq", host, META_FREQUENCY_HELD, META_FREQUENCY_BROKEN);
    if (meta_record_count(host, META_SITEMAP_SHARE) > 0) {
        printf("  %-18s %" PRIu64 " of 256; useful %" PRIu64 " of %" PRIu64 " by sitemaps, %" PRIu64
               " of %" PRIu64 " by links\n",
               "share of fetches", meta_record_count(host, META_SITEMAP_SHARE),
               meta_record_count(host, META_SITEMAP_USEFUL),
               meta_record_count(host, META_SITEMAP_SAMPLED),
               meta_record_count(host, META_LINK_USEFUL),
               meta_record_count(host, META_LINK_SAMPLED));
    }
}

static void
json_counts(const char *name, const struct study_count *count)
{
    printf("\"%s\":{\"all\":%" PRIu64 ",\"sitemaps\":%" PRIu64 ",\"links\":%" PRIu64
           ",\"both\":%" PRIu64 "},",
           name, count->all, count->listed, count->linked, count->both);
}

static void
print_json(const struct reporter *reporter, const struct study_measures *measures)
{
    const struct totals *totals = &reporter->totals;
    const struct slice host = buf_slice(&reporter->record);
    const struct row rows[] = {
        {"coverage", measures->coverage},
        {"uniqueCoverage", measures->unique_coverage},
        {"indexCoverage", measures->index_coverage},
        {"pageRankCoverage", measures->page_rank_coverage},
        {"signalToNoise", measures->signal_to_noise},
        {"signalToNoiseSitemaps", measures->signal_to_noise_listed},
        {"signalToNoiseLinks", measures->signal_to_noise_linked},
    };
    const struct {
        const char *name;
        enum meta_field field;
    } numbers[] = {
        {"claimsHeld", META_CLAIMS_HELD},         {"claimsBroken", META_CLAIMS_BROKEN},
        {"unchangedHeld", META_UNCHANGED_HELD},   {"unchangedBroken", META_UNCHANGED_BROKEN},
        {"changefreqHeld", META_FREQUENCY_HELD},  {"changefreqBroken", META_FREQUENCY_BROKEN},
        {"overBudget", META_SITEMAP_EXCESS},      {"share", META_SITEMAP_SHARE},
        {"sitemapSampled", META_SITEMAP_SAMPLED}, {"sitemapUseful", META_SITEMAP_USEFUL},
        {"linkSampled", META_LINK_SAMPLED},       {"linkUseful", META_LINK_USEFUL},
    };
    printf("{\"host\":\"%s\",\"sitemaps\":%" PRIu64 ",\"entries\":%" PRIu64 ",\"refused\":%" PRIu64
           ",\"outside\":%" PRIu64 ",\"cut\":%" PRIu64 ",\"sample\":%llu,",
           reporter->origin, totals->sitemaps, totals->entries, totals->refused, totals->outside,
           totals->truncated, 1ULL << reporter->study.dropped_bits);
    json_counts("seen", &measures->seen);
    json_counts("crawled", &measures->crawled);
    json_counts("indexed", &measures->indexed);
    json_counts("unique", &measures->unique);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        printf(rows[i].value < 0 ? "\"%s\":null," : "\"%s\":%.6f,", rows[i].name, rows[i].value);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        printf("\"%s\":%" PRIu64 ",", numbers[i].name, meta_record_count(host, numbers[i].field));
    }
    printf("\"seenDelta\":{\"sum\":%.3f,\"mean\":%.3f,\"median\":%.3f,\"sitemapsFirst\":%" PRIu64
           ",\"linksFirst\":%" PRIu64 "}}\n",
           measures->delta_sum, measures->delta_mean, measures->delta_median,
           measures->sitemaps_first, measures->links_first);
}

/* ---- a host ---- */

static enum status
scan(struct reporter *reporter, char kind, metastore_visit *visit, struct reason *why)
{
    struct buf prefix;
    buf_init(&prefix, KEY_BYTES);
    buf_printf(&prefix, "%c%s/", kind, reporter->origin);
    const enum status status =
        metastore_scan(reporter->metastore, buf_slice(&prefix), (struct slice){0}, UINT32_MAX,
                       visit, reporter, SCAN_MS, why);
    buf_release(&prefix);
    return status;
}

static enum status
read_host(struct reporter *reporter, struct reason *why)
{
    struct buf key;
    TRY(scan(reporter, 's', take_sighting, why));
    TRY(scan(reporter, 'u', take_document, why));
    buf_init(&key, KEY_BYTES);
    buf_printf(&key, "h%s", reporter->origin);
    buf_reset(&reporter->record);
    const enum status status = metastore_get_wait(reporter->metastore, buf_slice(&key),
                                                  &reporter->record, CLI_ANSWER_MS, why);
    buf_release(&key);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status
write_plot(const struct reporter *reporter, struct reason *why)
{
    FILE *out = fopen(reporter->flags->plot, "w");
    if (out == NULL) {
        return status_fail(why, STATUS_SYSTEM, "%.200s: %s", reporter->flags->plot,
                           strerror(errno));
    }
    plot_sitemaps(out, reporter->hosts, reporter->host_count,
                  reporter->host_count == 1 ? &reporter->study : NULL);
    const bool bad = ferror(out) != 0;
    return fclose(out) != 0 || bad
               ? status_fail(why, STATUS_SYSTEM, "%.200s cannot be written", reporter->flags->plot)
               : STATUS_OK;
}

static enum status
report_host(struct reporter *reporter, struct reason *why)
{
    struct study_measures measures;
    struct buf root;
    buf_init(&root, KEY_BYTES);
    buf_printf(&root, "%s/", reporter->origin);
    study_release(&reporter->study);
    study_init(&reporter->study, STUDY_MOST, fingerprint64(buf_slice(&root)));
    buf_release(&root);
    arena_release(&reporter->arena);
    arena_init(&reporter->arena, URIS_MEMORY);
    reporter->totals = (struct totals){0};
    reporter->linked_count = 0;
    reporter->too_many = false;
    TRY(read_host(reporter, why));
    if (reporter->study.count == 0) {
        return STATUS_OK;
    }
    read_links(reporter);
    const bool ranked = !reporter->too_many;
    if (ranked) {
        study_rank(&reporter->study);
    }
    study_measure(&reporter->study, ranked, &measures);
    (reporter->flags->json ? print_json : print_text)(reporter, &measures);
    reporter->hosts =
        memory_resize(reporter->hosts, reporter->host_count + 1, sizeof *reporter->hosts);
    reporter->hosts[reporter->host_count++] =
        (struct plot_host){.name = reporter->origin, .measures = measures};
    return reporter->flags->keep && ranked ? keep_ranks(reporter, why) : STATUS_OK;
}

static enum status
run(struct reporter *reporter, struct cli *cli, char **operands, int n, struct reason *why)
{
    TRY(cli_serve(cli, "metastore,index", why));
    TRY(cli_metastore(cli, &reporter->metastore, why));
    TRY(cli_index(cli, &reporter->index, why));
    TRY(url_rules_open(&reporter->url_rules, cli->options, why));
    TRY(find_origins(reporter, operands, n, why));
    for (size_t i = 0; i < reporter->origin_count; i++) {
        reporter->origin = reporter->origins[i];
        TRY(report_host(reporter, why));
    }
    if (reporter->host_count == 0) {
        return status_fail(why, STATUS_NOT_FOUND, "no sitemap is known of %.200s",
                           n > 0 ? operands[0] : "any host");
    }
    return reporter->flags->plot != NULL ? write_plot(reporter, why) : STATUS_OK;
}

static void
release(struct reporter *reporter)
{
    url_rules_close(&reporter->url_rules);
    metastore_client_close(reporter->metastore);
    index_client_close(reporter->index);
    for (size_t i = 0; i < reporter->origin_count; i++) {
        free(reporter->origins[i]);
    }
    free(reporter->origins);
    free(reporter->hosts);
    free(reporter->linked);
    study_release(&reporter->study);
    arena_release(&reporter->arena);
    buf_release(&reporter->record);
}

int
report_sitemaps(int argc, char **argv)
{
    struct flags options = {0};
    struct cli cli = {0};
    struct reporter reporter = {.flags = &options};
    const struct flag flags[] = {
        CLI_COMMON_FLAGS(options.common),
        {"json", 'j', FLAG_SWITCH, NULL, &options.json, "Prints one JSON object for each host."},
        {"plot", 'p', FLAG_STRING, "FILE", &options.plot, "Draws the measures to an SVG file."},
        {"keep", 'k', FLAG_SWITCH, NULL, &options.keep,
         "Keeps link ranks with the URLs that sitemaps list, for sitemaps.score."},
        {0},
    };
    const struct program program = {
        .name = "quadrille report sitemaps",
        .synopsis = "--dir DIR [--json] [--plot FILE] [--keep] [HOST]...",
        .summary = "say what the sitemaps of hosts are worth",
        .description =
            "For each HOST, or every host of which a sitemap lists something: how much of what was "
            "seen, crawled and indexed its sitemaps list, how much of it is unique, and whether "
            "sitemaps or links saw URLs first; docs/SITEMAPS.md has the formulas.",
        .examples = "quadrille report sitemaps --dir DIR example.org\n"
                    "quadrille report sitemaps --dir DIR --plot sitemaps.svg",
        .flags = flags,
    };
    struct reason why = {""};
    char **operands;
    int n;
    arena_init(&reporter.arena, URIS_MEMORY);
    buf_init(&reporter.record, RECORD_BYTES);
    enum status status = program_parse(&program, argc, argv, &operands, &n, &why);
    if (status == STATUS_OK) {
        status = cli_open_reading(&cli, &options.common, &why);
    }
    if (status == STATUS_OK) {
        status = run(&reporter, &cli, operands, n, &why);
    }
    release(&reporter);
    cli_close(&cli);
    return cli_end(&program, status, &why);
}
