/* The suites "robots" and "robots-real". docs/ROBOTS.md names the cases decided otherwise. */
#include <stdint.h>

#include "base/buf.h"
#include "base/system/file.h"
#include "base/url/url.h"
#include "crawl/robots.h"
#include "tests/conformance/row.h"

enum { BODY_MAXIMUM = 16 << 20 };

static const char *suite_folder;

/* The bytes of a file; freed by the caller. */
static struct slice
load(const char *folder, const char *file)
{
    char path[PATH_MAX];
    struct buf bytes;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    buf_init(&bytes, BODY_MAXIMUM);
    (void)file_read(path, &bytes, NULL);
    return buf_slice(&bytes);
}

/* A full User-Agent header's or a list's first product token. */
static struct slice
token_of(const char *agent)
{
    return slice_of(agent, strcspn(agent, "/ ,;("));
}

/* The suite's URLs are matched as they stand. */
static bool
allows(const struct robots *robots, const char *url)
{
    struct iri_parts parts;
    iri_split(slice_string(url), &parts);
    struct slice path = parts.path;
    if (parts.query.at != NULL) {
        path.length += 1 + parts.query.length;
    }
    return robots_allows(robots, path);
}

static void
run_verdict(struct row *row, const char *id, const char *expect, char *agent, char *url,
            const char *body_file)
{
    const struct slice body = load(suite_folder, body_file);
    struct robots *robots = robots_parse(body, token_of(row_unescape(agent)));
    const bool allowed = allows(robots, row_unescape(url));
    row_case(row, id, allowed == (strcmp(expect, "allow") == 0), "%.200s for %s, expected %s", url,
             agent, expect);
    robots_free(robots);
    free((char *)(uintptr_t)body.at);
}

static bool rfc_only;

static void
run_case(struct row *row, char *line)
{
    char *fields[6];
    if (row_fields(line, fields, 6) < 6 || strcmp(fields[0], "id") == 0 ||
        (strcmp(fields[1], "rfc9309") == 0) != rfc_only) {
        return;
    }
    char id[512];
    snprintf(id, sizeof id, "%s (%s)", fields[0], fields[1]);
    run_verdict(row, rfc_only ? fields[0] : id, fields[2], fields[3], fields[4], fields[5]);
}

static void
run_real(struct row *row, char *line)
{
    char *fields[5];
    if (row_fields(line, fields, 5) == 5 && strcmp(fields[0], "id") != 0) {
        run_verdict(row, fields[0], fields[1], fields[2], fields[3], fields[4]);
    }
}

static bool
fact_holds(const struct robots *robots, const char *fact, const char *value, char *got, size_t room)
{
    const struct slice *sitemaps;
    const size_t sitemap_count = robots_sitemaps(robots, &sitemaps);
    const struct robots_counts counts = robots_count(robots);
    got[0] = '\0';
    if (strcmp(fact, "crawl_delay_ms") == 0) {
        if (robots_crawl_delay_ms(robots) >= 0) {
            snprintf(got, room, "%lld", (long long)robots_crawl_delay_ms(robots));
        }
    } else if (strcmp(fact, "sitemap_count") == 0) {
        snprintf(got, room, "%zu", sitemap_count);
    } else if (strcmp(fact, "sitemaps") == 0) {
        for (size_t i = 0; i < sitemap_count; i++) {
            const size_t used = strlen(got);
            snprintf(got + used, room - used, "%s%.*s", i > 0 ? " " : "", SLICE_PRINT(sitemaps[i]));
        }
    } else {
        snprintf(got, room, "%u",
                 strcmp(fact, "valid_directives") == 0     ? counts.valid
                 : strcmp(fact, "unknown_directives") == 0 ? counts.unknown
                                                           : counts.lines);
    }
    return strcmp(got, value) == 0;
}

static void
run_fact(struct row *row, char *line)
{
    char *fields[6];
    char got[4096];
    if (row_fields(line, fields, 6) < 6 || strcmp(fields[0], "id") == 0) {
        return;
    }
    const struct slice body = load(suite_folder, fields[5]);
    struct robots *robots = robots_parse(body, token_of(row_unescape(fields[4])));
    const bool good = fact_holds(robots, fields[2], fields[3], got, sizeof got);
    row_case(row, fields[0], good, "(%s) %s is \"%s\", expected \"%s\"", fields[1], fields[2], got,
             fields[3]);
    robots_free(robots);
    free((char *)(uintptr_t)body.at);
}

int
main(int argc, char **argv)
{
    char folder[PATH_MAX - 64];
    struct row row;
    if (argc != 3) {
        fprintf(stderr, "usage: %s SUITES OUTPUT\n", argv[0]);
        return 100;
    }
    snprintf(folder, sizeof folder, "%s/robots", argv[1]);
    suite_folder = folder;
    rfc_only = true;
    row_open(&row, "robots-rfc9309", argv[2]);
    row_lines(&row, folder, "cases.tsv", run_case);
    row_close(&row);
    rfc_only = false;
    row_open(&row, "robots-others", argv[2]);
    row_lines(&row, folder, "cases.tsv", run_case);
    row_close(&row);
    row_open(&row, "robots-facts", argv[2]);
    row_lines(&row, folder, "facts.tsv", run_fact);
    row_close(&row);
    snprintf(folder, sizeof folder, "%s/robots-real", argv[1]);
    row_open(&row, "robots-real", argv[2]);
    row_lines(&row, folder, "cases.tsv", run_real);
    row_close(&row);
    return 0;
}
