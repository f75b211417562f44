/* quadrille detect, transform: one document by hand, from a file or from the archive. Parsing
 * happens in a sandboxed worker, as in the stages. */

#include "base/system/file.h"
#include "base/url/url.h"
#include "cli/import/import_files.h"
#include "cli/shared/cli.h"
#include "cli/shared/offline_transform.h"
#include "config/config.h"
#include "detection/media_type.h"
#include "stages/parsing/document_worker.h"

enum { FILE_MAXIMUM = 1 << 30 };

/* A document and what is said of it, wherever it is from. */
struct material_file {
    struct buf bytes; /* of a file; of the archive: the record */
    struct slice content;
    struct buf uri;
    struct buf content_type; /* as said; empty: nothing was */
};

static void
material_init(struct material_file *material, size_t most)
{
    buf_init(&material->bytes, most);
    buf_init(&material->uri, 2 * URL_MAXIMUM);
    buf_init(&material->content_type, 4096);
    material->content = (struct slice){NULL, 0};
}

static void
material_release(struct material_file *material)
{
    buf_release(&material->bytes);
    buf_release(&material->uri);
    buf_release(&material->content_type);
}

struct file_flags {
    struct cli_common common;
    const char *uri, *content_type, *type;
    struct flag_list contexts;
    bool explain;
};

/* From FILE, or with --dir and --uri alone from the archive of a crawl. */
static enum status
take_transformation(const struct file_flags *flags, const char *path,
                    struct material_file *material, struct reason *why)
{
    struct cli cli;
    if (flags->content_type != NULL) {
        buf_append_string(&material->content_type, flags->content_type);
    }
    if (path != NULL) {
        if (flags->uri != NULL) {
            buf_append_string(&material->uri, flags->uri);
        } else {
            import_file_uri(path, &material->uri);
        }
        TRY(file_read_or_input(path, &material->bytes, why));
        material->content = buf_slice(&material->bytes);
        return STATUS_OK;
    }
    if (flags->uri == NULL || flags->common.directory == NULL) {
        return status_fail(why, STATUS_MISUSE, "FILE is needed, or --dir DIR with --uri URI");
    }
    enum status status = cli_document_key(flags->uri, &material->uri, why);
    if (status == STATUS_OK) {
        status = cli_open_reading(&cli, &flags->common, why);
        if (status == STATUS_OK) {
            status = cli_archived(&cli, buf_slice(&material->uri), &material->bytes,
                                  &material->content, &material->content_type, why);
        }
        cli_close(&cli);
    }
    return status;
}

/* The options of DIR, or the defaults without one. */
static enum status
take_options(const struct file_flags *flags, struct opt_set **options, struct reason *why)
{
    if (flags->common.directory != NULL) {
        TRY(cli_check_directory(flags->common.directory, why));
    }
    TRY(config_load(flags->common.directory, &flags->common.assignments, options, why));
    config_open_log(*options, "quadrille");
    return STATUS_OK;
}

/* ---- detect ---- */

/* Prints what content, Content-Type and name say, each on its own. */
static void
print_evidence(const struct material_file *material, const struct detection *detection)
{
    struct detector detector;
    struct buf text;
    const struct detect_input input = {
        .bytes = material->content,
        .content_type = buf_slice(&material->content_type),
        .uri = buf_slice(&material->uri),
    };
    detector_init(&detector);
    buf_init(&text, 64 << 10);
    detect_explain(&detector, &input, detection, &text);
    fputs(text.data ? text.data : "", stdout);
    buf_release(&text);
    detector_release(&detector);
}

static enum status
detect_one(const struct file_flags *flags, const struct opt_set *options, const char *path,
           struct reason *why)
{
    struct material_file material;
    struct detection detection;
    material_init(&material, FILE_MAXIMUM);
    enum status status = take_transformation(flags, path, &material, why);
    if (status == STATUS_OK) {
        const struct detect_input input = {
            .bytes = material.content,
            .content_type = buf_slice(&material.content_type),
            .uri = buf_slice(&material.uri),
        };
        status = detect_bytes(options, &input, &detection, why);
    }
    if (status == STATUS_OK) {
        printf("%.*s\t%s",
               SLICE_PRINT(path != NULL ? slice_string(path) : buf_slice(&material.uri)),
               detection.type[0] != '\0' ? detection.type : "unknown");
        if (flags->explain) {
            printf("\t%s", detection.reason);
        }
        putchar('\n');
        if (flags->explain) {
            print_evidence(&material, &detection);
        }
    }
    material_release(&material);
    return status;
}

static enum status
detect_all(const struct file_flags *flags, char **paths, int n, struct reason *why)
{
    struct opt_set *options;
    TRY(take_options(flags, &options, why));
    enum status status = n == 0 ? detect_one(flags, options, NULL, why) : STATUS_OK;
    for (int i = 0; status == STATUS_OK && i < n; i++) {
        status = detect_one(flags, options, paths[i], why);
    }
    opt_set_free(options);
    return status;
}

#define FILE_FLAGS(flags)                                                                     \
    CLI_COMMON_FLAGS((flags).common),                                                         \
        {"uri",        0,                                                                     \
         FLAG_STRING,  "URI",                                                                 \
         &(flags).uri, "The document's URI; without FILE: take it from the archive of DIR."}, \
    {                                                                                         \
        "content-type", 0, FLAG_STRING, "TYPE", &(flags).content_type,                        \
            "What the server's Content-Type said."                                            \
    }

int
command_detect(int argc, char **argv)
{
    struct file_flags file = {0};
    const struct flag flags[] = {
        FILE_FLAGS(file),
        {"explain", 'e', FLAG_SWITCH, NULL, &file.explain,
         "Prints also what decided and what spoke against it, then what content, Content-Type and "
         "name say each on their own."},
        {0},
    };
    const struct program program = {
        .name = "quadrille detect",
        .synopsis = "[OPTION]... FILE...",
        .summary = "say which type a file has",
        .description = "Prints FILE, a tab, and the media type that the detect stage would find "
                       "from content, Content-Type and name; \"unknown\" if none.",
        .examples = "quadrille detect --explain FILE\n"
                    "quadrille detect --dir DIR --uri http://example.org/",
        .flags = flags,
    };
    struct reason why = {""};
    char **operands;
    int n;
    enum status status = program_parse(&program, argc, argv, &operands, &n, &why);
    if (status == STATUS_OK) {
        status = detect_all(&file, operands, n, &why);
    }
    return cli_end(&program, status, &why);
}

/* ---- transform ---- */

static void
print_outcome(const struct document_outcome *outcome, bool explain)
{
    const struct slice text = explain ? outcome->explanation : outcome->graph;
    fwrite(text.at, 1, text.length, stdout);
    fprintf(stderr, "%s: %llu quads, by %.*s\n", transform_state_name(outcome->state),
            (unsigned long long)outcome->quads,
            SLICE_PRINT(outcome->names.length > 0 ? outcome->names : SLICE("no transform")));
    if (explain) {
        fprintf(stderr, "said: %.*s\n", SLICE_PRINT(outcome->counts));
    }
    fprintf(stderr, "%.*s%.*s%.*s", SLICE_PRINT(outcome->repairs), SLICE_PRINT(outcome->problems),
            SLICE_PRINT(outcome->advice));
}

/* In the sandbox; cli: of DIR, NULL without one. */
static enum status
transform_transformation(const struct file_flags *flags, const struct opt_set *options,
                         struct cli *cli, const struct material_file *material, struct reason *why)
{
    struct document_outcome outcome;
    struct media_type said = {0};
    struct detection detection;
    struct offline_transform *hand = NULL;
    struct buf memory;
    bool died = false;
    const struct offline_settings settings = {.options = options,
                                              .directory = flags->common.directory,
                                              .cli = cli,
                                              .contexts = &flags->contexts};
    const struct detect_input input = {.bytes = material->content,
                                       .content_type = buf_slice(&material->content_type),
                                       .uri = buf_slice(&material->uri)};
    if (flags->type == NULL) {
        TRY(detect_bytes(options, &input, &detection, why));
    }
    buf_init(&memory, 1 << 16);
    const bool has_type = media_type_parse(input.content_type, &memory, &said);
    const struct transform_request request = {
        .uri = input.uri,
        .type = slice_string(flags->type != NULL ? flags->type : detection.type),
        .charset = has_type ? media_type_parameter(&said, "charset") : (struct slice){NULL, 0},
        .bytes = material->content,
        .explain = flags->explain,
    };
    enum status status = offline_transform_open(&hand, &settings, why);
    if (status == STATUS_OK) {
        status = offline_transform_run(hand, &request, &outcome, &died, why);
    }
    if (status == STATUS_OK) {
        print_outcome(&outcome, flags->explain);
    }
    offline_transform_close(hand);
    buf_release(&memory);
    return status;
}

static enum status
transform_one(const struct file_flags *flags, const char *path, struct reason *why)
{
    struct material_file material;
    struct opt_set *options;
    struct cli cli = {0};
    const bool archive = flags->common.directory != NULL;
    TRY(take_options(flags, &options, why));
    material_init(&material, FILE_MAXIMUM);
    enum status status = take_transformation(flags, path, &material, why);
    if (status == STATUS_OK && archive) {
        status = cli_open_reading(&cli, &flags->common, why);
    }
    if (status == STATUS_OK) {
        status = transform_transformation(flags, options, archive ? &cli : NULL, &material, why);
    }
    if (archive) {
        cli_close(&cli);
    }
    material_release(&material);
    opt_set_free(options);
    return status;
}

int
command_transform(int argc, char **argv)
{
    struct file_flags file = {0};
    const struct flag flags[] = {
        FILE_FLAGS(file),
        {"type", 't', FLAG_STRING, "TYPE", &file.type, "The media type, instead of detecting it."},
        {"explain", 'e', FLAG_SWITCH, NULL, &file.explain,
         "Prints before each quad the transform that said it, with its version, and the line of "
         "the document, separated by tabs; what two transforms said stands there twice."},
        {"context", 0, FLAG_REPEATED, "URL=FILE", &file.contexts,
         "A document that FILE needs, a JSON-LD context or a stylesheet; may be given again. "
         "Others come from the archive of DIR; nothing is fetched."},
        {0},
    };
    const struct program program = {
        .name = "quadrille transform",
        .synopsis = "[OPTION]... [FILE]",
        .summary = "turn a file into N-Quads",
        .description =
            "Prints the quads that the transform stage would make of FILE, as canonical N-Quads, "
            "and on standard error what ran and what was malformed. With --dir and --uri and "
            "without FILE the document comes from the archive of a crawl: this repeats what "
            "failed there. It runs in the workers' sandbox.",
        .examples = "quadrille transform FILE\n"
                    "quadrille transform --uri http://example.org/ --type text/html FILE\n"
                    "quadrille transform --explain FILE\n"
                    "quadrille transform --context http://example.org/c.jsonld=FILE FILE\n"
                    "quadrille transform --dir DIR --uri http://example.org/",
        .flags = flags,
    };
    struct reason why = {""};
    char **operands;
    int n;
    enum status status = program_parse(&program, argc, argv, &operands, &n, &why);
    if (status == STATUS_OK && n > 1) {
        status = status_fail(&why, STATUS_MISUSE, "one FILE at a time");
    }
    if (status == STATUS_OK) {
        status = transform_one(&file, n == 1 ? operands[0] : NULL, &why);
    }
    return cli_end(&program, status, &why);
}
