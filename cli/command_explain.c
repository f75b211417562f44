/* quadrille explain: which documents a statement is from, and how it came out of them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "cli/by_hand.h"
#include "cli/cli.h"
#include "metastore/record.h"
#include "rdf/nquads.h"
#include "rdf/writer.h"
#include "stages/media_type.h"

enum { RECORD_MAXIMUM = 16 << 20, CONTENT_MAXIMUM = 1 << 30, LIMIT_MOST = 100000 };

/* Documents that say something that matches, in the order found. */
struct sayers {
    struct arena arena;
    struct slice *uris;
    size_t count;
    size_t most;
    struct nquads_reader *lines;
};

static enum status
take_quad(void *context, const struct quad *quad, struct reason *why)
{
    struct sayers *sayers = context;
    (void)why;
    for (size_t i = 0; i < sayers->count; i++) {
        if (slice_equal(sayers->uris[i], quad->graph.value)) {
            return STATUS_OK;
        }
    }
    if (sayers->count == sayers->most) {
        return STATUS_END;
    }
    sayers->uris[sayers->count++] = arena_copy(&sayers->arena, quad->graph.value);
    return STATUS_OK;
}

static enum status
take_lines(void *context, struct slice bytes, struct reason *why)
{
    struct sayers *sayers = context;
    return nquads_reader_feed(sayers->lines, bytes, why);
}

static enum status
find_sayers(struct index_client *index, const struct quad *pattern, struct sayers *sayers,
            struct reason *why)
{
    const struct quad_sink sink = {take_quad, sayers};
    sayers->lines = nquads_reader_new(NULL, false, &sink);
    enum status status = index_pattern(index, pattern, 0, take_lines, sayers, why);
    if (status == STATUS_OK && sayers->count < sayers->most) {
        status = nquads_reader_finish(sayers->lines, why);
    }
    nquads_reader_free(sayers->lines);
    return status;
}

/* ---- what is known of a document ---- */

static void
print_text(const char *name, struct slice record, enum meta_field field)
{
    struct slice text;
    if (meta_record_text(record, field, &text)) {
        printf("  %-11s %.*s\n", name, SLICE_PRINT(text));
    }
}

static void
print_record(struct slice record)
{
    char when[CLOCK_TEXT_SIZE];
    uint64_t number;
    struct slice file;
    if (meta_record_number(record, META_FETCHED, &number)) {
        clock_text(number, 0, when);
        printf("  %-11s %s", "fetched", when);
        if (meta_record_number(record, META_HTTP_STATUS, &number)) {
            printf(", status %" PRIu64, number);
        }
        putchar('\n');
    }
    print_text("redirected", record, META_REDIRECT_FROM);
    if (meta_record_text(record, META_WARC_FILE, &file)) {
        struct slice id = SLICE("");
        uint64_t length = 0;
        number = 0;
        meta_record_number(record, META_WARC_OFFSET, &number);
        meta_record_number(record, META_WARC_LENGTH, &length);
        meta_record_text(record, META_WARC_RECORD_ID, &id);
        printf("  %-11s %.*s offset %" PRIu64 " length %" PRIu64 " record %.*s\n", "archived",
               SLICE_PRINT(file), number, length, SLICE_PRINT(id));
    }
    print_text("type", record, META_DETECTED_TYPE);
    print_text("transforms", record, META_TRANSFORM);
    print_text("said", record, META_TRANSFORM_QUADS);
    if (meta_record_number(record, META_INDEXED, &number)) {
        clock_text(number, 0, when);
        printf("  %-11s %s\n", "indexed", when);
    }
}

static enum status
known_of(struct metastore_client *metastore, struct slice uri, struct buf *record,
         struct reason *why)
{
    struct buf key;
    buf_init(&key, META_KEY_MAXIMUM);
    buf_append_char(&key, 'u');
    buf_append_slice(&key, uri);
    enum status status = STATUS_NOT_FOUND;
    if (meta_key_valid(buf_slice(&key)) && !key.overflowed) {
        status = metastore_get_wait(metastore, buf_slice(&key), record, CLI_ANSWER_MS, why);
    }
    buf_release(&key);
    return status;
}

/* ---- which extractor, from which line ---- */

static bool
fits(const struct term *wanted, const struct term *said)
{
    return wanted->kind == TERM_NONE || term_equal(wanted, said);
}

struct matching {
    const struct quad *pattern;
    bool matches;
};

static enum status
match_quad(void *context, const struct quad *quad, struct reason *why)
{
    struct matching *matching = context;
    const struct quad *pattern = matching->pattern;
    (void)why;
    matching->matches = fits(&pattern->subject, &quad->subject) &&
                        fits(&pattern->predicate, &quad->predicate) &&
                        fits(&pattern->object, &quad->object);
    return STATUS_OK;
}

/* Lines "transform/version TAB line TAB quad" whose quad matches. */
static void
print_matching(const struct quad *pattern, struct slice explanation)
{
    while (explanation.length > 0) {
        const size_t end = slice_find(explanation, '\n');
        const size_t line = end < explanation.length ? end + 1 : end;
        const struct slice whole = slice_of(explanation.at, line);
        const size_t name = slice_find(whole, '\t');
        const struct slice rest =
            name < line ? slice_of(whole.at + name + 1, line - name - 1) : SLICE("");
        const size_t number = slice_find(rest, '\t');
        explanation = slice_of(explanation.at + line, explanation.length - line);
        if (number == rest.length) {
            continue;
        }
        const struct slice quad = slice_of(rest.at + number + 1, rest.length - number - 1);
        struct matching matching = {.pattern = pattern};
        const struct quad_sink sink = {match_quad, &matching};
        if (nquads_parse(quad, NULL, &sink, NULL) == STATUS_OK && matching.matches) {
            printf("  by          %.*s from line %.*s: %.*s", (int)name, whole.at, (int)number,
                   rest.at, SLICE_PRINT(quad));
        }
    }
}

static enum status
print_extractors(struct cli *cli, struct by_hand *hand, const struct quad *pattern,
                 struct slice uri, struct slice record, struct reason *why)
{
    struct buf bytes, said, memory;
    struct slice content = {NULL, 0}, type = {NULL, 0};
    struct media_type media = {0};
    struct document_outcome outcome;
    bool died = false;
    buf_init(&bytes, CONTENT_MAXIMUM);
    buf_init(&said, 4096);
    buf_init(&memory, 1 << 16);
    enum status status = cli_archived(cli, uri, &bytes, &content, &said, why);
    if (status == STATUS_OK && meta_record_text(record, META_DETECTED_TYPE, &type)) {
        const bool has_type = media_type_parse(buf_slice(&said), &memory, &media);
        const struct transform_request request = {
            .uri = uri,
            .type = type,
            .charset = has_type ? media_type_parameter(&media, "charset") : (struct slice){NULL, 0},
            .bytes = content,
            .explain = true,
        };
        status = by_hand_transform(hand, &request, &outcome, &died, why);
        if (status == STATUS_OK) {
            print_matching(pattern, outcome.explanation);
        }
    }
    if (status == STATUS_NOT_FOUND) {
        printf("  by          unknown: %s\n", why->text);
        status = STATUS_OK;
    }
    buf_release(&bytes);
    buf_release(&said);
    buf_release(&memory);
    return status;
}

static enum status
print_sayer(struct cli *cli, struct metastore_client *metastore, struct by_hand *hand,
            const struct quad *pattern, struct slice uri, struct reason *why)
{
    struct buf record;
    buf_init(&record, RECORD_MAXIMUM);
    printf("%.*s\n", SLICE_PRINT(uri));
    enum status status = known_of(metastore, uri, &record, why);
    if (status == STATUS_OK) {
        print_record(buf_slice(&record));
        if (hand != NULL) {
            status = print_extractors(cli, hand, pattern, uri, buf_slice(&record), why);
        }
    } else if (status == STATUS_NOT_FOUND) {
        puts("  not crawled: it was imported or made by an update");
        status = STATUS_OK;
    }
    buf_release(&record);
    return status;
}

/* ---- the whole ---- */

static enum status
print_sayers(struct cli *cli, struct index_client *index, const struct quad *pattern, size_t most,
             bool extractor, struct reason *why)
{
    const struct by_hand_settings settings = {
        .options = cli->options, .directory = cli->directory, .cli = cli};
    struct sayers sayers = {.most = most};
    struct metastore_client *metastore = NULL;
    struct by_hand *hand = NULL;
    arena_init(&sayers.arena, 0);
    sayers.uris = memory_zero(most, sizeof(*sayers.uris));
    enum status status = find_sayers(index, pattern, &sayers, why);
    if (status == STATUS_OK && sayers.count == 0) {
        status = status_fail(why, STATUS_NOT_FOUND, "no document says that");
    }
    if (status == STATUS_OK) {
        status = cli_metastore(cli, &metastore, why);
    }
    if (status == STATUS_OK && extractor) {
        status = by_hand_open(&hand, &settings, why);
    }
    for (size_t i = 0; i < sayers.count && status == STATUS_OK; i++) {
        status = print_sayer(cli, metastore, hand, pattern, sayers.uris[i], why);
    }
    by_hand_close(hand);
    if (metastore != NULL) {
        metastore_client_close(metastore);
    }
    arena_release(&sayers.arena);
    free(sayers.uris);
    return status;
}

static enum status
explain(struct cli *cli, const struct cli_common *common, const char *text, size_t most,
        bool extractor, struct reason *why)
{
    struct index_client *index = NULL;
    struct quad pattern;
    struct arena arena;
    arena_init(&arena, 8 * CLI_TERM_MAXIMUM);
    enum status status = cli_parse_pattern(text, &arena, &pattern, why);
    if (status == STATUS_OK) {
        status = cli_open(cli, common, why);
    }
    if (status == STATUS_OK) {
        status = cli_serve(cli, "index,metastore", why);
    }
    if (status == STATUS_OK) {
        status = cli_index(cli, &index, why);
    }
    if (status == STATUS_OK) {
        status = print_sayers(cli, index, &pattern, most, extractor, why);
    }
    if (index != NULL) {
        index_client_close(index);
    }
    cli_close(cli);
    arena_release(&arena);
    return status;
}

int
command_explain(int argc, char **argv)
{
    struct cli_common common = {0};
    struct cli cli = {0};
    int64_t limit = 10;
    bool extractor = false;
    const struct flag flags[] = {
        CLI_COMMON_FLAGS(common),
        {"limit", 'n', FLAG_INTEGER, "N", &limit, "At most N documents (10)."},
        {"extractor", 'x', FLAG_SWITCH, NULL, &extractor,
         "Transforms each document's archived content again and prints which transform said the "
         "statements, and from which line."},
        {0},
    };
    const struct program program = {
        .name = "quadrille explain",
        .synopsis = "--dir DIR [--limit N] [--extractor] PATTERN",
        .summary = "say which documents a statement is from",
        .description =
            "Names the documents that say PATTERN, which is a statement as N-Triples or N-Quads "
            "has it, with ? in place of what may be anything; <> may be left out. For each: when "
            "it was fetched, where it lies in the archive, its type, which transforms ran and how "
            "many quads each said.",
        .examples = "quadrille explain --dir DIR '? <http://purl.org/dc/terms/title> ?'\n"
                    "quadrille explain --dir DIR --extractor --limit 1 '? "
                    "http://purl.org/dc/terms/title \"How to bake an apple pie\"@en'",
        .flags = flags,
    };
    struct reason why = {""};
    char **operands;
    int n;
    enum status status = program_parse(&program, argc, argv, &operands, &n, &why);
    if (status == STATUS_OK && n != 1) {
        status = status_fail(&why, STATUS_MISUSE, "one PATTERN is needed; see --help");
    }
    if (status == STATUS_OK && (limit < 1 || limit > LIMIT_MOST)) {
        status = status_fail(&why, STATUS_MISUSE, "--limit is 1 to %d", LIMIT_MOST);
    }
    if (status == STATUS_OK) {
        status = cli_check_directory(common.directory, &why);
    }
    if (status == STATUS_OK) {
        status = explain(&cli, &common, operands[0], (size_t)limit, extractor, &why);
    }
    return cli_end(&program, status, &why);
}
