/* The suite "semantic-sitemaps": our own cases, written from both specifications, in
 * tests/conformance/suites/semantic-sitemaps. A case is
 *
 *   case ID RULE                what it is about
 *   at URI                      a sitemap; until the next of these words its content, in urlset.
 *   raw, gzip, bom, utf16 URI   the same: as it is; packed; behind a byte order mark; in UTF-16
 *   expect                      until the next case: lines that judging all of them must give
 *   not LINE                    or must not
 *
 * Lines are compared as parts of the lines of what describe() writes. */
#include <stdint.h>
#include <zlib.h>

#include "base/system/clock.h"
#include "datasets/claims.h"
#include "datasets/semantic_sitemap.h"
#include "tests/conformance/row.h"

enum { SITEMAPS = 8, TEXT_BYTES = 1 << 20 };

struct the_case {
    struct row *row;
    char id[80];
    struct arena arena;
    struct description *sitemaps[SITEMAPS];
    size_t count;
    char how[16], uri[512];
    struct buf body, expected, told;
    bool open, expecting;
};

/* ---- sitemaps ---- */

static void
wrap(struct slice inside, struct buf *text)
{
    buf_printf(
        text,
        "<?xml version=\"1.0\"?><urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" "
        "xmlns:sc=\"%s\">\n%.*s</urlset>",
        SEMANTIC_SITEMAP_NAMESPACE, SLICE_PRINT(inside));
}

static void
pack(struct slice text, struct buf *packed)
{
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)text.at, .avail_in = (uInt)text.length};
    char *space = buf_reserve(packed, text.length + 1024);
    stream.next_out = (Bytef *)space;
    stream.avail_out = (uInt)text.length + 1024;
    if (deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK) {
        (void)deflate(&stream, Z_FINISH);
        buf_commit(packed, stream.total_out);
        deflateEnd(&stream);
    }
}

static void
encode(const char *how, struct slice text, struct buf *bytes)
{
    if (strcmp(how, "gzip") == 0) {
        pack(text, bytes);
    } else if (strcmp(how, "utf16") == 0) {
        buf_append(bytes, "\xff\xfe", 2);
        for (size_t i = 0; i < text.length; i++) {
            buf_append_char(bytes, text.at[i]);
            buf_append_char(bytes, '\0');
        }
    } else {
        buf_append_string(bytes, strcmp(how, "bom") == 0 ? "\xef\xbb\xbf" : "");
        buf_append_slice(bytes, text);
    }
}

static void
end_sitemap(struct the_case *one)
{
    struct buf text, bytes;
    struct reason why = {""};
    if (one->uri[0] == '\0') {
        return;
    }
    buf_init(&text, TEXT_BYTES);
    buf_init(&bytes, TEXT_BYTES);
    if (strcmp(one->how, "raw") == 0) {
        buf_append_slice(&text, buf_slice(&one->body));
    } else {
        wrap(buf_slice(&one->body), &text);
    }
    encode(one->how, buf_slice(&text), &bytes);
    struct description *description = arena_zero(&one->arena, sizeof *description);
    const enum status status = semantic_sitemap_parse(
        arena_copy(&one->arena, buf_slice(&bytes)), arena_copy(&one->arena, slice_string(one->uri)),
        &one->arena, description, &why);
    if (status != STATUS_OK) {
        buf_printf(&one->told, "no sitemap: %s\n", why.text);
    } else if (one->count < SITEMAPS) {
        one->sitemaps[one->count++] = description;
    }
    one->uri[0] = '\0';
    buf_reset(&one->body);
    buf_release(&bytes);
    buf_release(&text);
}

/* ---- what was understood ---- */

static void
describe_dataset(const struct dataset *dataset, struct buf *told)
{
    char date[CLOCK_TEXT_SIZE] = "-";
    if (dataset->modified_ms > 0) {
        clock_text(dataset->modified_ms, 1, date);
    }
    buf_printf(told, "dataset uri=%.*s label=\"%.*s\" graph=%.*s lastmod=%s changefreq=%.*s\n",
               SLICE_PRINT(dataset->uri), SLICE_PRINT(dataset->label), SLICE_PRINT(dataset->graph),
               date, SLICE_PRINT(dataset->change_frequency));
    for (size_t i = 0; i < dataset->access_count; i++) {
        const struct dataset_access *access = &dataset->accesses[i];
        buf_printf(told, "%s %.*s slicing=%s%s%.*s\n", access_kind_name(access->kind),
                   SLICE_PRINT(access->uri),
                   access->slicing == SLICING_NONE ? "none" : slicing_name(access->slicing),
                   access->refused.length > 0 ? " refused: " : "", SLICE_PRINT(access->refused));
    }
}

static void
describe(const struct description *description, struct buf *told)
{
    buf_printf(told, "sitemap %.*s space=%.*s authority=%.*s datasets=%zu notes=%zu\n",
               SLICE_PRINT(description->uri), SLICE_PRINT(description->space),
               SLICE_PRINT(description->authority), description->dataset_count,
               description->note_count);
    for (size_t i = 0; i < description->sub_count; i++) {
        buf_printf(told, "sub %.*s\n", SLICE_PRINT(description->sub_sitemaps[i]));
    }
    for (size_t i = 0; i < description->parent_count; i++) {
        buf_printf(told, "parent %.*s\n", SLICE_PRINT(description->parent_sitemaps[i]));
    }
    for (size_t i = 0; i < description->dataset_count; i++) {
        describe_dataset(&description->datasets[i], told);
    }
    for (size_t i = 0; i < description->note_count; i++) {
        const struct description_note *note = &description->notes[i];
        buf_printf(told, "%s: %.*s\n", note->kind == NOTE_ERROR ? "error" : "quirk",
                   SLICE_PRINT(note->text));
    }
}

/* ---- cases ---- */

static void
check(struct the_case *one)
{
    struct claims claims = {one->sitemaps, one->count, &one->arena};
    struct buf why;
    claims_judge(&claims);
    for (size_t i = 0; i < one->count; i++) {
        describe(one->sitemaps[i], &one->told);
    }
    buf_init(&why, TEXT_BYTES);
    struct slice rest = buf_slice(&one->expected);
    while (rest.length > 0) {
        const size_t end = slice_find(rest, '\n');
        struct slice line = slice_of(rest.at, end);
        rest = end < rest.length ? slice_of(rest.at + end + 1, rest.length - end - 1)
                                 : (struct slice){0};
        const bool unwanted = slice_starts(line, SLICE("not "));
        line = unwanted ? slice_of(line.at + 4, line.length - 4) : line;
        const struct slice told = buf_slice(&one->told);
        if ((slice_find_slice(told, line) < told.length) == unwanted) {
            buf_printf(&why, "%s: %.*s; ", unwanted ? "unwanted" : "missing", SLICE_PRINT(line));
        }
    }
    if (why.length > 0) {
        buf_append_string(&why, "told: ");
        buf_append_slice(&why, buf_slice(&one->told));
    }
    for (size_t i = 0; i < why.length; i++) {
        why.data[i] = why.data[i] == '\n' ? '|' : why.data[i];
    }
    row_case(one->row, one->id, why.length == 0 && one->expected.length > 0, "%.*s",
             (int)why.length, why.length > 0 ? why.data : "");
    buf_release(&why);
}

static void
end_case(struct the_case *one)
{
    if (one->open) {
        end_sitemap(one);
        check(one);
    }
    arena_reset(&one->arena);
    buf_reset(&one->body);
    buf_reset(&one->expected);
    buf_reset(&one->told);
    one->count = 0;
    one->expecting = false;
    one->uri[0] = '\0';
}

static bool
take_word(struct the_case *one, const char *line)
{
    char word[16] = "";
    static const char *const words[] = {"at", "raw", "gzip", "bom", "utf16"};
    if (strncmp(line, "case ", 5) == 0) {
        end_case(one);
        one->open = sscanf(line + 5, "%79s", one->id) == 1;
        return true;
    }
    if (strcmp(line, "expect") == 0) {
        end_sitemap(one);
        one->expecting = true;
        return true;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char uri[512] = "";
        if (sscanf(line, "%15s %511s", word, uri) == 2 && strcmp(word, words[i]) == 0) {
            end_sitemap(one);
            snprintf(one->how, sizeof one->how, "%s", word);
            snprintf(one->uri, sizeof one->uri, "%s", uri);
            return true;
        }
    }
    return false;
}

static void
run_file(struct the_case *one, const char *path)
{
    char line[8192];
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        perror(path);
        exit(111);
    }
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#' || (line[0] == '\0' && one->expecting) || take_word(one, line)) {
            continue;
        }
        struct buf *part = one->expecting ? &one->expected : &one->body;
        buf_append_string(part, line);
        buf_append_char(part, '\n');
    }
    fclose(file);
    end_case(one);
    one->open = false;
}

int
main(int argc, char **argv)
{
    static const char *const files[] = {"tags", "slicing", "spelling", "spaces", "joining"};
    struct row row;
    struct the_case one = {.row = &row};
    if (argc != 3) {
        fprintf(stderr, "usage: run_semantic_sitemaps SUITES OUTPUT\n");
        return 100;
    }
    arena_init(&one.arena, 64 << 20);
    buf_init(&one.body, TEXT_BYTES);
    buf_init(&one.expected, TEXT_BYTES);
    buf_init(&one.told, TEXT_BYTES);
    row_open(&row, "semantic-sitemaps", argv[2]);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "tests/conformance/suites/semantic-sitemaps/%s.txt", files[i]);
        run_file(&one, path);
    }
    row_close(&row);
    buf_release(&one.told);
    buf_release(&one.expected);
    buf_release(&one.body);
    arena_release(&one.arena);
    return 0;
}
