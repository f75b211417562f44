/* The suite "sitemaps". Where it offers a strict and a lenient policy, ours is the lenient one,
 * and the strict cases are skipped. */
#include <jansson.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/system/clock.h"
#include "base/system/file.h"
#include "datasets/sitemap.h"
#include "tests/conformance/row.h"

static const char *suite_folder;

struct found {
    const char *wanted; /* location looked for */
    const json_t *expected;
    unsigned count;
    bool here, same;
};

static struct slice
load(const char *file)
{
    char path[PATH_MAX];
    struct buf bytes;
    snprintf(path, sizeof path, "%s/%s", suite_folder, file);
    buf_init(&bytes, SITEMAP_BYTES_MAXIMUM);
    (void)file_read(path, &bytes, NULL);
    return buf_slice(&bytes);
}

static bool
entry_is(const struct sitemap_entry *entry, const json_t *expected)
{
    const json_t *changes = json_object_get(expected, "changefreq");
    const json_t *modified = json_object_get(expected, "lastmod");
    const json_t *epoch = json_object_get(expected, "lastmod_epoch_ms");
    const json_t *priority = json_object_get(expected, "priority");
    bool same = true;
    if (json_is_string(changes)) {
        same = same && slice_is(entry->change_frequency, json_string_value(changes));
    }
    if (json_is_string(modified)) {
        same =
            same && entry->modified_ms == sitemap_date(slice_string(json_string_value(modified)));
    }
    if (json_is_null(modified)) {
        same = same && entry->modified_ms == 0;
    }
    if (json_is_integer(epoch)) {
        same = same && (json_int_t)entry->modified_ms == json_integer_value(epoch);
    }
    if (json_is_string(priority)) {
        same = same && entry->priority == (int)(atof(json_string_value(priority)) * 100 + 0.5);
    }
    return same;
}

static bool
look_for(void *context, const struct sitemap_entry *entry)
{
    struct found *found = context;
    found->count++;
    if (found->wanted != NULL && slice_is(entry->location, found->wanted)) {
        found->here = true;
        found->same = entry_is(entry, found->expected);
    }
    return true;
}

static void
run_case(struct row *row, char *line)
{
    char *fields[9];
    struct reason why = {""};
    struct sitemap_result result;
    struct found found = {0};
    if (row_fields(line, fields, 9) < 8 || strcmp(fields[0], "id") == 0) {
        return;
    }
    if (strcmp(fields[7], "policy-strict") == 0) {
        row->skipped++;
        return;
    }
    const struct slice bytes = load(fields[3]);
    const enum status status = sitemap_parse(bytes, look_for, &found, &result, &why);
    const char *kind = status == STATUS_OK ? sitemap_kind_name(result.kind) : "error";
    unsigned least = 0;
    unsigned most = 0;
    if (sscanf(fields[5], "%u..%u", &least, &most) == 1) {
        most = least;
    }
    const unsigned count = found.count;
    /* The expectation "error" with entries allowed asks for containment only. */
    bool good =
        (strstr(fields[4], kind) != NULL || most > least) && count >= least && count <= most;
    json_t *expected = json_loads(fields[6][0] == '[' ? fields[6] : "[]", 0, NULL);
    const json_t *one;
    size_t i;
    const char *missing = "";
    json_array_foreach(expected, i, one)
    {
        found.wanted = json_string_value(json_object_get(one, "loc"));
        found.expected = one;
        found.here = false;
        if (count > 0 && (sitemap_parse(bytes, look_for, &found, &result, &why) != STATUS_OK ||
                          !found.here || !found.same)) {
            good = false;
            missing = found.wanted;
        }
    }
    row_case(row, fields[0], good,
             "%s with %u entries, expected %s with %s; wrong or missing: %s %s", kind, count,
             fields[4], fields[5], missing, why.text);
    json_decref(expected);
    free((char *)(uintptr_t)bytes.at);
}

static void
run_date(struct row *row, char *line)
{
    char *fields[2];
    char text[CLOCK_TEXT_SIZE] = "";
    if (row_fields(line, fields, 2) < 2 || strcmp(fields[0], "input") == 0) {
        return;
    }
    const uint64_t ms = sitemap_date(slice_string(fields[0]));
    if (ms > 0) {
        clock_text(ms, ms % 1000 != 0, text);
    }
    if (strlen(fields[1]) == 10 && strcmp(text + 10, "T00:00:00Z") == 0) {
        text[10] = '\0';
    }
    row_case(row, fields[0], strcmp(text, fields[1]) == 0, "got \"%s\", expected \"%s\"", text,
             fields[1]);
}

static void
run_place(struct row *row, char *line)
{
    char *fields[3];
    if (row_fields(line, fields, 3) < 3 || strcmp(fields[0], "sitemap_url") == 0) {
        return;
    }
    const bool below = sitemap_is_below(slice_string(fields[0]), slice_string(fields[1]));
    row_case(row, fields[1], below == (strcmp(fields[2], "in") == 0), "%s for %s, expected %s",
             below ? "in" : "out", fields[0], fields[2]);
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
    snprintf(folder, sizeof folder, "%s/sitemaps", argv[1]);
    suite_folder = folder;
    row_open(&row, "sitemaps", argv[2]);
    row_lines(&row, folder, "cases.tsv", run_case);
    row_lines(&row, folder, "dates.tsv", run_date);
    row_lines(&row, folder, "location-rule.tsv", run_place);
    row_close(&row);
    return 0;
}
