#include "transforms/xslt/grddl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/digest.h"
#include "base/memory.h"
#include "transforms/core/builtins.h"
#include "transforms/xslt/stylesheet.h"

enum {
    HEX_SIZE = 2 * DIGEST_SHA256_SIZE,
    ALLOWED_MAXIMUM = 4096,
    CACHED_MAXIMUM = 64,
    STYLESHEET_MAXIMUM = 4 << 20
};

/* Belongs to the process: filled before the sandbox, then only read. */
static char (*allowed)[HEX_SIZE];
static size_t allowed_count;

/* Compiled ones of this process, in the order of their first use; the oldest makes room. */
static struct compiled {
    char digest[HEX_SIZE];
    void *stylesheet; /* NULL: it cannot be compiled */
} cached[CACHED_MAXIMUM];
static size_t cached_next;

/* ---- what is allowed ---- */

static bool
is_allowed(const char *digest)
{
    for (size_t i = 0; i < allowed_count; i++) {
        if (memcmp(allowed[i], digest, HEX_SIZE) == 0) {
            return true;
        }
    }
    return false;
}

static bool
read_digest(struct slice line, char digest[HEX_SIZE])
{
    if (line.length < HEX_SIZE) {
        return false;
    }
    for (size_t i = 0; i < HEX_SIZE; i++) {
        const char c = line.at[i];
        digest[i] = c >= 'A' && c <= 'F' ? (char)(c | 0x20) : c;
        if (!((digest[i] >= '0' && digest[i] <= '9') || (digest[i] >= 'a' && digest[i] <= 'f'))) {
            return false;
        }
    }
    return line.length == HEX_SIZE || line.at[HEX_SIZE] == ' ' || line.at[HEX_SIZE] == '\t';
}

enum status
grddl_allow(const char *path, struct reason *why)
{
    char *line = NULL, digest[HEX_SIZE];
    size_t room = 0, number = 0;
    enum status status = STATUS_OK;
    FILE *file = fopen(path, "re");
    if (!file) {
        return errno == ENOENT || errno == ENOTDIR
                   ? STATUS_OK
                   : status_fail_errno(why, "cannot open the list of stylesheets %s", path);
    }
    while (status == STATUS_OK && getline(&line, &room, file) > 0) {
        const struct slice text = slice_trim(slice_string(line));
        number++;
        if (text.length == 0 || text.at[0] == '#') {
            continue;
        }
        if (!read_digest(text, digest)) {
            status = status_fail(why, STATUS_MISUSE, "%s, line %zu: not a SHA-256 in hexadecimal",
                                 path, number);
        } else if (!is_allowed(digest) && allowed_count == ALLOWED_MAXIMUM) {
            status = status_fail(why, STATUS_MISUSE, "%s, line %zu: too many", path, number);
        } else if (!is_allowed(digest)) {
            allowed = memory_resize(allowed, allowed_count + 1, sizeof *allowed);
            memcpy(allowed[allowed_count++], digest, HEX_SIZE);
        }
    }
    free(line);
    fclose(file);
    return status;
}

/* ---- running ---- */

static void *
compile(struct transformation *transformation, const char *digest,
        const struct transform_resource *resource)
{
    for (size_t i = 0; i < CACHED_MAXIMUM; i++) {
        if (memcmp(cached[i].digest, digest, HEX_SIZE) == 0) {
            return cached[i].stylesheet;
        }
    }
    struct compiled *place = &cached[cached_next++ % CACHED_MAXIMUM];
    struct reason problem;
    stylesheet_close(place->stylesheet);
    place->stylesheet = NULL;
    memcpy(place->digest, digest, HEX_SIZE);
    char name[512];
    snprintf(name, sizeof name, "%.*s", SLICE_PRINT(resource->uri));
    if (stylesheet_compile(name, resource->bytes, &place->stylesheet, &problem) != STATUS_OK) {
        transformation_problem(transformation, 0, problem.text);
        place->stylesheet = NULL;
    }
    return place->stylesheet;
}

static void problem_of(struct transformation *transformation, struct slice uri, const char *format,
                       ...) __attribute__((format(printf, 3, 4)));

static void
problem_of(struct transformation *transformation, struct slice uri, const char *format, ...)
{
    struct buf text;
    va_list arguments;
    buf_init(&text, 4096);
    buf_printf(&text, "the stylesheet %.*s ", SLICE_PRINT(uri));
    va_start(arguments, format);
    buf_vprintf(&text, format, arguments);
    va_end(arguments);
    transformation_problem(transformation, 0, text.data);
    buf_release(&text);
}

static enum status
run_one(struct transformation *transformation, struct slice uri, struct reason *why)
{
    uint8_t digest[DIGEST_SHA256_SIZE];
    char text[HEX_SIZE + 1];
    const struct transform_resource *resource = transformation_resource(transformation, uri);
    if (!resource) {
        if (!transformation_waits(transformation)) {
            problem_of(transformation, uri, "is not at hand");
        }
        return STATUS_OK;
    }
    if (resource->failure.length > 0 || resource->bytes.length > STYLESHEET_MAXIMUM) {
        problem_of(transformation, uri, "cannot be had: %.*s",
                   SLICE_PRINT(resource->failure.length > 0 ? resource->failure
                                                            : SLICE("it is too long")));
        return STATUS_OK;
    }
    digest_sha256(resource->bytes, digest);
    digest_hex(digest, DIGEST_SHA256_SIZE, text);
    if (!is_allowed(text)) {
        problem_of(transformation, uri,
                   "is not allowed to run; to allow it, write %s into "
                   "DIR/transforms/grddl-allowed",
                   text);
        return STATUS_OK;
    }
    void *stylesheet = compile(transformation, text, resource);
    if (!stylesheet) {
        problem_of(transformation, uri, "cannot be compiled");
        return STATUS_OK;
    }
    xmlDocPtr input;
    TRY(stylesheet_input(transformation, &input, why));
    transformation_scope(transformation);
    return stylesheet_run_document(transformation, stylesheet, input, why);
}

enum status
builtin_grddl(struct transformation *transformation, struct reason *why)
{
    struct grddl_list list = {.allows_any = allowed_count > 0};
    TRY(grddl_find(transformation, &list, why));
    if (list.full) {
        transformation_problem(transformation, 0, "more stylesheets than are run for one document");
    }
    enum status status = STATUS_OK;
    for (size_t i = 0; i < list.count && status == STATUS_OK; i++) {
        status = run_one(transformation, list.iris[i], why);
    }
    return status;
}
