#include "web/assets/assets.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/system/file.h"

/* The bytes of a file of this folder, between two symbols. */
#define EMBED(symbol, file)                                                                    \
    __asm__(".section .rodata\n" #symbol ": .incbin \"web/assets/" file "\"\n" #symbol "_end:" \
            " .byte 0\n"                                                                       \
            ".previous\n");                                                                    \
    extern const char symbol[] __attribute__((visibility("hidden")));                          \
    extern const char symbol##_end[] __attribute__((visibility("hidden")))

EMBED(style_css, "style.css");
EMBED(site_js, "site.js");
EMBED(query_js, "query.js");
EMBED(views_js, "views.js");
EMBED(status_js, "status.js");
EMBED(icon_svg, "icon.svg");

static const struct own_file {
    const char *name, *type, *begin, *end;
} own_files[] = {{"style.css", "text/css; charset=utf-8", style_css, style_css_end},
                 {"site.js", "text/javascript; charset=utf-8", site_js, site_js_end},
                 {"query.js", "text/javascript; charset=utf-8", query_js, query_js_end},
                 {"views.js", "text/javascript; charset=utf-8", views_js, views_js_end},
                 {"status.js", "text/javascript; charset=utf-8", status_js, status_js_end},
                 {"icon.svg", "image/svg+xml", icon_svg, icon_svg_end}};
enum { OWN_FILES = sizeof own_files / sizeof own_files[0] };

/* Names the files of CodeMirror that the page of queries loads. */
#define EDITOR_FOLDER "/usr/share/javascript/"
static const char *const editor_files[][2] = {
    {"codemirror/lib/codemirror.js", "text/javascript; charset=utf-8"},
    {"codemirror/lib/codemirror.css", "text/css; charset=utf-8"},
    {"codemirror/mode/sparql/sparql.js", "text/javascript; charset=utf-8"},
    {"codemirror/addon/hint/show-hint.js", "text/javascript; charset=utf-8"},
    {"codemirror/addon/hint/show-hint.css", "text/css; charset=utf-8"},
    {"codemirror/addon/edit/matchbrackets.js", "text/javascript; charset=utf-8"}};
enum { EDITOR_FILES = sizeof editor_files / sizeof editor_files[0], EDITOR_BYTES = 2 << 20 };

static uint64_t versions[OWN_FILES];

static void
find_versions(void)
{
    for (size_t i = 0; i < OWN_FILES; i++) {
        const struct own_file *file = &own_files[i];
        versions[i] = fingerprint64(slice_of(file->begin, (size_t)(file->end - file->begin)));
    }
}

/* The place among our own files; OWN_FILES: it is none. */
static size_t
own_file_of(const char *name)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    size_t i = 0;
    (void)pthread_once(&once, find_versions);
    while (i < OWN_FILES && strcmp(own_files[i].name, name) != 0) {
        i++;
    }
    return i;
}

void
asset_address(const char *name, char address[ASSET_ADDRESS_BYTES])
{
    const size_t i = own_file_of(name);
    (void)snprintf(address, ASSET_ADDRESS_BYTES, "/assets/%s?v=%016" PRIx64, name,
                   i < OWN_FILES ? versions[i] : 0);
}

bool
asset_has_editor(void)
{
    char path[128];
    for (size_t i = 0; i < EDITOR_FILES; i++) {
        (void)snprintf(path, sizeof path, EDITOR_FOLDER "%s", editor_files[i][0]);
        if (access(path, R_OK) != 0) {
            return false;
        }
    }
    return true;
}

/* True: the client has this version already, and the reply says so. */
static bool
is_known(const struct web_request *request, uint64_t version, struct web_reply *reply)
{
    char tag[24];
    const char *wanted = web_header(request, "If-None-Match");
    (void)snprintf(tag, sizeof tag, "\"%016" PRIx64 "\"", version);
    web_reply_header(reply, "ETag", "%s", tag);
    if (wanted == NULL || strstr(wanted, tag) == NULL) {
        return false;
    }
    reply->status = 304;
    return true;
}

static void
reply_own(const struct web_request *request, size_t i, struct web_reply *reply)
{
    const struct own_file *file = &own_files[i];
    const char *asked = web_parameter(request, "v", NULL);
    char version[20];
    (void)snprintf(version, sizeof version, "%016" PRIx64, versions[i]);
    reply->content_type = file->type;
    web_reply_header(reply, "Cache-Control", "%s",
                     asked != NULL && strcmp(asked, version) == 0
                         ? "public, max-age=31536000, immutable"
                         : "no-cache");
    if (!is_known(request, versions[i], reply)) {
        (void)buf_append(&reply->body, file->begin, (size_t)(file->end - file->begin));
    }
}

static void
reply_editor(const struct web_request *request, const char *name, const char *type,
             struct web_reply *reply)
{
    char path[128];
    struct stat info;
    (void)snprintf(path, sizeof path, EDITOR_FOLDER "%s", name);
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0 || fstat(file, &info) != 0 || !S_ISREG(info.st_mode) ||
        info.st_size > EDITOR_BYTES) {
        web_reply_error(reply, 404, "The editor is not installed here: libjs-codemirror.");
    } else if (!is_known(request, (uint64_t)info.st_mtime ^ ((uint64_t)info.st_size << 40),
                         reply)) {
        char *bytes = buf_reserve(&reply->body, (size_t)info.st_size);
        const ssize_t length = bytes != NULL ? read(file, bytes, (size_t)info.st_size) : -1;
        if (length == info.st_size) {
            buf_commit(&reply->body, (size_t)length);
        } else {
            web_reply_error(reply, 500, "A file of the editor cannot be read.");
        }
    }
    if (reply->problem[0] == '\0') { /* what failed is asked for again */
        reply->content_type = type;
        web_reply_header(reply, "Cache-Control", "public, max-age=86400");
    }
    file_close(file);
}

void
web_assets(struct web_service *service, const struct web_request *request, struct web_reply *reply)
{
    const bool icon =
        strcmp(request->path, "/favicon.ico") == 0; /* of what has no page around it */
    const char *name = icon ? "icon.svg" : request->path + strlen("/assets/");
    const size_t own = own_file_of(name);
    (void)service;
    if (own < OWN_FILES) {
        reply_own(request, own, reply);
        return;
    }
    for (size_t i = 0; i < EDITOR_FILES; i++) {
        if (strcmp(editor_files[i][0], name) == 0) {
            reply_editor(request, name, editor_files[i][1], reply);
            return;
        }
    }
    web_reply_error(reply, 404, "There is no such file.");
}
