/* quadrille detect, transform: one document by hand, from a file or from the archive.
 *
 * Parsing happens inside the sandbox, which this process enters once it has read all it needs. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/url.h"
#include "cli/cli.h"
#include "stages/detect.h"
#include "stages/detect_magic.h"
#include "stages/document_read.h"
#include "stages/sandbox.h"
#include "transforms/transform.h"

/* A document and what is said of it, wherever it is from. */
struct material_file {
    struct buf bytes;        /* of a file; of the archive: the record */
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

static enum status
read_file(const char *path, struct buf *bytes, struct reason *why)
{
    FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    char piece[1 << 16];
    size_t n;
    if (in == NULL) {
        return status_fail_errno(why, "cannot read %s", path);
    }
    while ((n = fread(piece, 1, sizeof piece, in)) > 0 && !bytes->overflowed) {
        buf_append(bytes, piece, n);
    }
    const bool failed = ferror(in);
    const int error = errno;
    if (in != stdin) {
        fclose(in);
    }
    errno = error;
    if (failed) {
        return status_fail_errno(why, "cannot read %s", path);
    }
    return bytes->overflowed ? status_fail(why, STATUS_LIMIT, "%s has more than %zu bytes", path,
                                           bytes->maximum)
                             : STATUS_OK;
}

static void
file_uri(const char *path, struct buf *uri)
{
    char whole[PATH_MAX];
    buf_append_string(uri, "file://");
    if (strcmp(path, "-") == 0 || realpath(path, whole) == NULL) {
        buf_append_string(uri, "/stdin");
        return;
    }
    for (const char *at = whole; *at != '\0'; at++) {
        if (strchr(" <>\"{}|\\^`%#?", *at) != NULL || (unsigned char)*at < 0x20) {
            buf_printf(uri, "%%%02X", (unsigned)(unsigned char)*at);
        } else {
            buf_append_char(uri, *at);
        }
    }
}

struct file_flags {
    struct cli_common common;
    const char *uri, *content_type, *type;
    bool explain;
};

/* From FILE, or with --dir and --uri alone from the archive of a crawl. */
static enum status
take_material(const struct file_flags *flags, const char *path, struct material_file *material,
              struct reason *why)
{
    struct cli cli;
    if (flags->content_type != NULL) {
        buf_append_string(&material->content_type, flags->content_type);
    }
    if (path != NULL) {
        if (flags->uri != NULL) {
            buf_append_string(&material->uri, flags->uri);
        } else {
            file_uri(path, &material->uri);
        }
        TRY(read_file(path, &material->bytes, why));
        material->content = buf_slice(&material->bytes);
        return STATUS_OK;
    }
    if (flags->uri == NULL || flags->common.directory == NULL) {
        return status_fail(why, STATUS_MISUSE, "FILE is needed, or --dir DIR with --uri URI");
    }
    enum status status = cli_document_key(flags->uri, &material->uri, why);
    if (status == STATUS_OK) {
        status = cli_open(&cli, &flags->common, why);
        if (status == STATUS_OK) {
            status = cli_archived(&cli, buf_slice(&material->uri), &material->bytes,
                                  &material->content, &material->content_type, why);
        }
        cli_close(&cli);
    }
    return status;
}

/* ---- detect ---- */

static void
decide(const struct material_file *material, struct detection *detection)
{
    struct detector detector;
    const struct detect_input input = {
        .bytes = material->content,
        .content_type = buf_slice(&material->content_type),
        .uri = buf_slice(&material->uri),
    };
    detector_init(&detector);
    detect(&detector, &input, detection);
    if (detection->undecided) {
        detect_settle(detect_magic(material->content), detection);
    }
    detector_release(&detector);
}

static enum status
detect_one(const struct file_flags *flags, const char *path, struct reason *why)
{
    struct material_file material;
    struct detection detection;
    material_init(&material, 256 << 20);
    enum status status = take_material(flags, path, &material, why);
    if (status == STATUS_OK) {
        decide(&material, &detection);
        printf("%.*s\t%s", SLICE_PRINT(path != NULL ? slice_string(path)
                                                    : buf_slice(&material.uri)),
               detection.type[0] != '\0' ? detection.type : "unknown");
        printf(flags->explain ? "\t%s\n" : "\n", detection.reason);
    }
    material_release(&material);
    return status;
}

#define FILE_FLAGS(flags)                                                                          \
    CLI_COMMON_FLAGS((flags).common),                                                              \
        {"uri", 0, FLAG_STRING, "URI", &(flags).uri,                                               \
         "The document's URI; without FILE: take it from the archive of DIR."},                    \
    {                                                                                              \
        "content-type", 0, FLAG_STRING, "TYPE", &(flags).content_type,                             \
            "What the server's Content-Type said."                                                 \
    }

int
command_detect(int argc, char **argv)
{
    struct file_flags file = {0};
    const struct flag flags[] = {
        FILE_FLAGS(file),
        {"explain", 'e', FLAG_SWITCH, NULL, &file.explain, "Prints also the evidence that decided."},
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
        status = detect_magic_open(&why);
    }
    if (status == STATUS_OK && n == 0) {
        status = detect_one(&file, NULL, &why);
    }
    for (int i = 0; status == STATUS_OK && i < n; i++) {
        status = detect_one(&file, operands[i], &why);
    }
    detect_magic_close();
    return cli_end(&program, status, &why);
}

/* ---- transform ---- */

enum { TRANSFORM_MEMORY = 1 << 30, SANDBOX_MEMORY_FACTOR = 3 };

static void
print_result(const struct transform_result *result)
{
    fwrite(result->graph.data, 1, result->graph.length, stdout);
    fprintf(stderr, "%s: %llu quads, by %s\n", transform_state_name(result->state),
            (unsigned long long)result->quads,
            result->names.length > 0 ? result->names.data : "no transform");
    if (result->problems.length > 0) {
        fwrite(result->problems.data, 1, result->problems.length, stderr);
    }
}

static enum status
transform_in_sandbox(struct transformer *transformer, const struct material_file *material,
                     const char *type, struct reason *why)
{
    struct transform_result result;
    struct detection detection = {.type = ""};
    TRY(sandbox_enter(SANDBOX_PARSER, (size_t)TRANSFORM_MEMORY * SANDBOX_MEMORY_FACTOR, why));
    if (type == NULL) {
        decide(material, &detection);
    }
    const struct transform_request request = {
        .uri = buf_slice(&material->uri),
        .type = slice_string(type != NULL ? type : detection.type),
        .charset = document_charset(buf_slice(&material->content_type)),
        .bytes = material->content,
    };
    transform_result_init(&result, TRANSFORM_MEMORY);
    const enum status status = transform_run(transformer, &request, &result, why);
    if (status == STATUS_OK) {
        print_result(&result);
    }
    transform_result_release(&result);
    return status;
}

static enum status
transform_one(const struct file_flags *flags, const char *path, struct reason *why)
{
    const struct transform_limits limits = {
        .memory = TRANSFORM_MEMORY, .output = TRANSFORM_MEMORY, .program_ms = 10000};
    struct material_file material;
    struct transformer *transformer = NULL;
    struct registry *registry = registry_new();
    material_init(&material, TRANSFORM_MEMORY);
    enum status status = take_material(flags, path, &material, why);
    if (status == STATUS_OK) {
        status = registry_read_default(registry, why);
    }
    if (status == STATUS_OK) {
        status = transformer_new(&transformer, registry, &limits, why);
    }
    if (status == STATUS_OK) {
        status = transform_in_sandbox(transformer, &material, flags->type, why);
    }
    transformer_free(transformer);
    registry_free(registry);
    material_release(&material);
    return status;
}

int
command_transform(int argc, char **argv)
{
    struct file_flags file = {0};
    const struct flag flags[] = {
        FILE_FLAGS(file),
        {"type", 't', FLAG_STRING, "TYPE", &file.type,
         "The media type, instead of detecting it."},
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
        status = detect_magic_open(&why);
    }
    if (status == STATUS_OK) {
        status = transform_one(&file, n == 1 ? operands[0] : NULL, &why);
    }
    detect_magic_close();
    return cli_end(&program, status, &why);
}
