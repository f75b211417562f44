/* The suite "urls": RFC 3986 section 5.4, the URL standard's tests, crawler-commons' normaliser
 * and the Public Suffix List's vectors. docs/URLS.md names the cases decided otherwise. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/url/url.h"
#include "tests/conformance/row.h"

enum { TEXT_MAXIMUM = 1 << 20 };

static struct slice
text_of(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return json_is_string(value) ? slice_of(json_string_value(value), json_string_length(value))
                                 : (struct slice){0};
}

static json_t *
load_line(const char *line, size_t length)
{
    return json_loadb(line, length, JSON_ALLOW_NUL, NULL);
}

/* ---- RFC 3986 ---- */

static void
run_rfc3986(struct row *row, char *line)
{
    char *fields[4];
    struct buf out;
    if (row_fields(line, fields, 4) < 4 || strcmp(fields[0], "id") == 0) {
        return;
    }
    buf_init(&out, TEXT_MAXIMUM);
    struct reason why = {""};
    const enum status status =
        iri_resolve(slice_string(fields[1]), slice_string(fields[2]), &out, &why);
    row_case(row, fields[0], status == STATUS_OK && slice_is(buf_slice(&out), fields[3]),
             "%s, not %s %s", out.data ? out.data : "", fields[3], why.text);
    buf_release(&out);
}

/* ---- WHATWG ---- */

static bool
part_is(const json_t *expected, const char *name, const char *before, struct slice part,
        const char *after)
{
    struct buf text;
    const struct slice want = text_of(expected, name);
    if (want.at == NULL) {
        return true;
    }
    buf_init(&text, TEXT_MAXIMUM);
    if (part.length > 0) {
        buf_append_string(&text, before);
        buf_append_slice(&text, part);
        buf_append_string(&text, after);
    }
    const bool same = slice_equal(buf_slice(&text), want);
    buf_release(&text);
    return same;
}

static bool
parts_are(const json_t *expected, const struct url *url)
{
    char port[12] = "";
    if (url->port >= 0) {
        snprintf(port, sizeof port, "%d", (int)url->port);
    }
    return part_is(expected, "href", "", url->href, "") &&
           part_is(expected, "protocol", "", url->scheme, ":") &&
           part_is(expected, "username", "", url->username, "") &&
           part_is(expected, "password", "", url->password, "") &&
           part_is(expected, "hostname", "", url->host, "") &&
           part_is(expected, "port", "", slice_string(port), "") &&
           part_is(expected, "pathname", "", url->path, "") &&
           part_is(expected, "search", "?", url->query, "") &&
           part_is(expected, "hash", "#", url->fragment, "");
}

static void
run_wpt(struct row *row, char *line)
{
    json_t *expected = load_line(line, strlen(line));
    struct buf memory;
    struct buf base_memory;
    struct url url = {0};
    struct url base_url;
    struct reason why = {""};
    buf_init(&memory, TEXT_MAXIMUM);
    buf_init(&base_memory, TEXT_MAXIMUM);
    const struct slice base = text_of(expected, "base");
    const char *id = json_string_value(json_object_get(expected, "id"));
    enum status status = STATUS_OK;
    if (expected == NULL) {
        return;
    }
    if (base.at != NULL) {
        status = url_parse(base, NULL, &base_memory, &base_url, &why);
    }
    if (status == STATUS_OK) {
        status =
            url_parse(text_of(expected, "input"), base.at ? &base_url : NULL, &memory, &url, &why);
    }
    const bool fails = json_is_true(json_object_get(expected, "failure"));
    const bool good =
        fails ? status != STATUS_OK : status == STATUS_OK && parts_are(expected, &url);
    row_case(row, id, good, "%s: got %.*s %s, want %s", text_of(expected, "input").at,
             SLICE_PRINT(url.href), why.text, fails ? "failure" : text_of(expected, "href").at);
    buf_release(&memory);
    buf_release(&base_memory);
    json_decref(expected);
}

static void
run_to_ascii(struct row *row, size_t number, const json_t *expected)
{
    struct buf input;
    struct buf memory;
    struct url url = {0};
    struct reason why = {""};
    char id[32];
    const struct slice want = text_of(expected, "output");
    buf_init(&input, TEXT_MAXIMUM);
    buf_init(&memory, TEXT_MAXIMUM);
    buf_append_string(&input, "https://");
    buf_append_slice(&input, text_of(expected, "input"));
    buf_append_string(&input, "/x");
    snprintf(id, sizeof id, "toascii/%zu", number);
    const enum status status = url_parse(buf_slice(&input), NULL, &memory, &url, &why);
    row_case(row, id,
             want.at == NULL ? status != STATUS_OK
                             : status == STATUS_OK && slice_equal(url.host, want),
             "%s: got %.*s %s, want %s", input.data, SLICE_PRINT(url.host), why.text,
             want.at ? want.at : "failure");
    buf_release(&input);
    buf_release(&memory);
}

/* Cases in UTF-8 alone are run: other encodings of a query are not ours (docs/URLS.md). */
static void
run_percent_encoding(struct row *row, size_t number, const json_t *expected)
{
    struct buf input;
    struct buf memory;
    struct url url = {0};
    struct reason why = {""};
    char id[32];
    const struct slice want = text_of(json_object_get(expected, "output"), "utf-8");
    buf_init(&input, TEXT_MAXIMUM);
    buf_init(&memory, TEXT_MAXIMUM);
    buf_append_string(&input, "https://doesnotmatter.invalid/?");
    buf_append_slice(&input, text_of(expected, "input"));
    snprintf(id, sizeof id, "percent-encoding/%zu", number);
    const enum status status = url_parse(buf_slice(&input), NULL, &memory, &url, &why);
    row_case(row, id, status == STATUS_OK && slice_equal(url.query, want), "got %.*s, want %s",
             SLICE_PRINT(url.query), want.at);
    buf_release(&input);
    buf_release(&memory);
}

static void
run_array(struct row *row, const char *folder, const char *file,
          void (*run)(struct row *row, size_t number, const json_t *expected))
{
    char path[4096];
    size_t number;
    json_t *expected;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    json_t *cases = json_load_file(path, JSON_ALLOW_NUL, NULL);
    json_array_foreach(cases, number, expected)
    {
        if (json_is_object(expected)) {
            run(row, number, expected);
        }
    }
    json_decref(cases);
}

/* ---- crawler-commons ---- */

/* One value of a comma-separated line: quoted or plain, blanks around it trimmed. */
static struct slice
csv_value(char **rest, struct buf *unquoted)
{
    char *at = *rest + strspn(*rest, " ");
    if (*at != '"') {
        char *comma = strchr(at, ',');
        const size_t n = comma ? (size_t)(comma - at) : strlen(at);
        *rest = comma ? comma + 1 : at + n;
        buf_append_slice(unquoted, slice_trim(slice_of(at, n)));
        return buf_slice(unquoted);
    }
    for (at++; *at != '\0'; at++) {
        if (at[0] == '"' && at[1] != '"') {
            break;
        }
        at += *at == '"';
        buf_append_char(unquoted, *at);
    }
    *rest = strchr(at, ',') ? strchr(at, ',') + 1 : at + strlen(at);
    return unquoted->length > 0 ? buf_slice(unquoted) : SLICE("");
}

static void
run_resolve(struct row *row, char *line)
{
    struct buf fields[3];
    struct buf out;
    struct reason why = {""};
    char *rest = line;
    if (line[0] == '#' || line[0] == '\0') {
        return;
    }
    buf_init(&out, TEXT_MAXIMUM);
    for (int i = 0; i < 3; i++) {
        buf_init(&fields[i], TEXT_MAXIMUM);
        csv_value(&rest, &fields[i]);
    }
    const enum status status =
        iri_resolve(buf_slice(&fields[1]), buf_slice(&fields[0]), &out, &why);
    row_case(row, line, status == STATUS_OK && slice_equal(buf_slice(&out), buf_slice(&fields[2])),
             "got %s %s", out.data ? out.data : "", why.text);
    for (int i = 0; i < 3; i++) {
        buf_release(&fields[i]);
    }
    buf_release(&out);
}

static void
run_normalise(struct row *row, char *line)
{
    struct buf fields[2];
    struct buf out;
    struct reason why = {""};
    char *rest = line;
    if (line[0] == '#' || line[0] == '\0') {
        return;
    }
    buf_init(&out, TEXT_MAXIMUM);
    for (int i = 0; i < 2; i++) {
        buf_init(&fields[i], TEXT_MAXIMUM);
        csv_value(&rest, &fields[i]);
    }
    const enum status status = url_crawl_key(buf_slice(&fields[0]), (struct slice){0}, &out, &why);
    const bool good =
        fields[1].length == 0
            ? status != STATUS_OK
            : status == STATUS_OK && slice_equal(buf_slice(&out), buf_slice(&fields[1]));
    row_case(row, line, good, "got %s %s", out.data ? out.data : "", why.text);
    buf_release(&fields[0]);
    buf_release(&fields[1]);
    buf_release(&out);
}

/* ---- Public Suffix List ---- */

static void
run_psl(struct row *row, char *line)
{
    char input[256];
    char want[256];
    struct buf memory;
    struct buf want_memory;
    struct url url = {0};
    struct url want_url = {0};
    char text[300];
    if (line[0] == '/' || sscanf(line, "%255s %255s", input, want) != 2 ||
        strcmp(input, "null") == 0 || input[0] == '.') {
        return; /* comments, and what is no host */
    }
    buf_init(&memory, TEXT_MAXIMUM);
    buf_init(&want_memory, TEXT_MAXIMUM);
    snprintf(text, sizeof text, "http://%s/", input);
    const enum status status = url_parse(slice_string(text), NULL, &memory, &url, NULL);
    snprintf(text, sizeof text, "http://%s/", strcmp(want, "null") == 0 ? input : want);
    url_parse(slice_string(text), NULL, &want_memory, &want_url, NULL);
    const struct slice got = url_registrable_domain(url.host);
    row_case(row, input, status == STATUS_OK && slice_equal(got, want_url.host),
             "got %.*s, want %s", SLICE_PRINT(got), want);
    buf_release(&memory);
    buf_release(&want_memory);
}

int
main(int argc, char **argv)
{
    struct row row;
    if (argc != 3) {
        fprintf(stderr, "usage: %s SUITES OUTPUT\n", argv[0]);
        return 100;
    }
    char folder[3000];
    snprintf(folder, sizeof folder, "%s/urls", argv[1]);
    row_open(&row, "urls-rfc3986", argv[2]);
    row_lines(&row, folder, "rfc3986-5.4.tsv", run_rfc3986);
    row_close(&row);
    row_open(&row, "urls-whatwg", argv[2]);
    row_lines(&row, folder, "wpt-urltestdata.jsonl", run_wpt);
    run_array(&row, folder, "wpt-toascii.json", run_to_ascii);
    run_array(&row, folder, "wpt-percent-encoding.json", run_percent_encoding);
    row_close(&row);
    row_open(&row, "urls-resolve", argv[2]);
    row_lines(&row, folder, "crawler-commons/url-resolve.csv", run_resolve);
    row_close(&row);
    row_open(&row, "urls-normalise", argv[2]);
    row_lines(&row, folder, "crawler-commons/weirdToNormalizedUrls.csv", run_normalise);
    row_lines(&row, folder, "crawler-commons/invalidUrls.csv", run_normalise);
    row_close(&row);
    row_open(&row, "urls-public-suffix", argv[2]);
    row_lines(&row, folder, "psl/tests.txt", run_psl);
    row_close(&row);
    return 0;
}
