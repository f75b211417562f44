/* The suite "mime": parsing of media types, their charset, and detection of files.
 * docs/DETECT.md names the cases decided otherwise. */
#include <jansson.h>
#include <strings.h>

#include "base/buf.h"
#include "base/system/file.h"
#include "detection/media_type.h"
#include "stages/parsing/document_worker.h"
#include "tests/conformance/row.h"
#include "tests/support/media_type_text.h"
#include "transforms/common/encoding.h"

enum { FILE_MAXIMUM = 64 << 20 };

static const char *suite_folder;
static struct opt_set *options;

/* The standard's strings are of code points up to U+00FF, one byte each; others are no byte. */
static void
isomorphic(const char *text, size_t length, struct buf *out)
{
    for (size_t i = 0; i < length; i++) {
        const unsigned char lead = (unsigned char)text[i];
        if (lead < 0x80) {
            buf_append_char(out, (char)lead);
        } else if (lead < 0xC4 && i + 1 < length) {
            buf_append_char(out, (char)((lead & 3) << 6 | ((unsigned char)text[++i] & 0x3F)));
        } else {
            buf_append_char(out, '\1');
            while (i + 1 < length && ((unsigned char)text[i + 1] & 0xC0) == 0x80) {
                i++;
            }
        }
    }
}

static void
run_type(struct row *row, char *line)
{
    json_t *one = json_loads(line, JSON_ALLOW_NUL, NULL);
    const char *id = json_string_value(json_object_get(one, "id"));
    const json_t *input = json_object_get(one, "input"), *output = json_object_get(one, "output");
    const char *encoding = json_string_value(json_object_get(one, "encoding"));
    if (id == NULL || input == NULL) {
        json_decref(one);
        return;
    }
    struct buf bytes, memory, text, expected;
    struct media_type type;
    buf_init(&bytes, 1 << 20);
    buf_init(&memory, 1 << 20);
    buf_init(&text, 1 << 20);
    buf_init(&expected, 1 << 20);
    isomorphic(json_string_value(input), json_string_length(input), &bytes);
    const bool good = media_type_parse(buf_slice(&bytes), &memory, &type);
    if (good) {
        media_type_serialize(&type, &text);
    }
    if (json_is_string(output)) {
        isomorphic(json_string_value(output), json_string_length(output), &expected);
    }
    const bool same = good == json_is_string(output) &&
                      (!good || slice_equal(buf_slice(&text), buf_slice(&expected)));
    row_case(row, id, same, "got %s", text.data ? text.data : "failure");
    if (good && encoding != NULL) {
        const char *found = encoding_of_label(media_type_parameter(&type, "charset"));
        row_case(row, id, found && strcasecmp(found, encoding) == 0, "charset %s, expected %s",
                 found ? found : "none", encoding);
    }
    buf_release(&bytes);
    buf_release(&memory);
    buf_release(&text);
    buf_release(&expected);
    json_decref(one);
}

/* Names that mean the same are one: detection/detect_tables.c has those of media types, here are
 * file(1)'s descriptions, ours first: docs/DETECT.md. */
static bool
same_type(const char *ours, const char *theirs)
{
    static const char *const pairs[][2] = {
        {"application/json", "file(1): JSON text data"},
        {"text/plain", "file(1): ASCII text"},
        {"image/svg+xml",
         "file(1): SVG Scalable Vector Graphics image, Unicode text, UTF-16, little-endian text"},
        {"application/xml", "file(1): OpenStreetMap XML data, ASCII text"},
        {"text/plain", "file(1): GEDCOM genealogy text version 5.5, ASCII text"},
        {"application/x-empty", "application/octet-stream"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (strcmp(ours, pairs[i][0]) == 0 && strcmp(theirs, pairs[i][1]) == 0) {
            return true;
        }
    }
    return slice_equal(detect_canonical_name(slice_string(ours)),
                       detect_canonical_name(slice_string(theirs)));
}

static void
load(const char *name, struct buf *bytes)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", suite_folder, name);
    buf_init(bytes, FILE_MAXIMUM);
    (void)file_read(path, bytes, NULL);
}

static void
run_file(struct row *row, char *line)
{
    char *fields[5] = {NULL};
    if (row_fields(line, fields, 5) < 4 || strcmp(fields[0], "id") == 0) {
        return;
    }
    struct buf bytes;
    struct reason why = {""};
    load(fields[1], &bytes);
    for (int named = 0; named < 2; named++) {
        const char *name = fields[2][0] ? fields[2] : fields[1];
        const struct detect_input input = {.bytes = buf_slice(&bytes),
                                           .uri = slice_string(named ? name : fields[2])};
        struct detection detection;
        const enum status status = detect_bytes(options, &input, &detection, &why);
        row_case(row, fields[0], status == STATUS_OK && same_type(detection.type, fields[3]),
                 "got %s (%s)%s, expected %s", detection.type, detection.reason,
                 named ? " by content and name" : "", fields[3]);
    }
    buf_release(&bytes);
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
    snprintf(folder, sizeof folder, "%s/mime", argv[1]);
    suite_folder = folder;
    options = opt_set_new((const struct opt *const[]){transforms_options, NULL});
    row_open(&row, "mime-types", argv[2]);
    row_lines(&row, folder, "wpt-mime-types.jsonl", run_type);
    row_close(&row);
    row_open(&row, "mime-detect", argv[2]);
    row_lines(&row, folder, "detect.tsv", run_file);
    row_close(&row);
    opt_set_free(options);
    return 0;
}
