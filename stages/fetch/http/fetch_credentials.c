#include "stages/fetch/http/fetch_credentials.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/system/file.h"
#include "base/url/url.h"

enum { FILE_MAXIMUM = 1 << 20 };

struct credentials {
    struct credential *all;
    size_t count;
};

static bool
take_line(struct credentials *credentials, struct slice line)
{
    const struct slice origin = slice_next_word(&line);
    const struct slice kind = slice_next_word(&line);
    const struct slice secret = slice_trim(line);
    const bool bearer = slice_is(kind, "bearer");
    struct buf key;
    buf_init(&key, URL_MAXIMUM);
    const bool ftp = url_ftp_key(origin, &key, NULL) == STATUS_OK; /* which knows no tokens */
    const bool good =
        (ftp ? !bearer : url_crawl_key(origin, (struct slice){0}, &key, NULL) == STATUS_OK) &&
        secret.length > 0 && (bearer || slice_is(kind, "basic")) &&
        (bearer || slice_find(secret, ':') < secret.length);
    if (good) {
        const struct slice whole = url_origin(buf_slice(&key));
        credentials->all =
            memory_resize(credentials->all, credentials->count + 1, sizeof *credentials->all);
        credentials->all[credentials->count++] =
            (struct credential){.origin = memory_string_n(whole.at, whole.length),
                                .secret = memory_string_n(secret.at, secret.length),
                                .bearer = bearer};
    }
    buf_release(&key);
    return good;
}

static enum status
take_lines(struct credentials *credentials, struct slice text, const char *path, struct reason *why)
{
    for (size_t number = 1; text.length > 0; number++) {
        const struct slice line = slice_trim(slice_take(&text, '\n'));
        if (line.length > 0 && line.at[0] != '#' && !take_line(credentials, line)) {
            return status_fail(why, STATUS_MISUSE,
                               "%s:%zu: not \"ORIGIN basic USER:PASSWORD\" or \"ORIGIN bearer "
                               "TOKEN\"",
                               path, number);
        }
    }
    return STATUS_OK;
}

enum status
credentials_open(struct credentials **out, const char *path, struct reason *why)
{
    struct credentials *credentials = memory_new(sizeof *credentials);
    struct stat file;
    struct buf text;
    *out = credentials;
    if (path[0] == '\0') {
        return STATUS_OK;
    }
    if (stat(path, &file) != 0) {
        return status_fail_errno(why, "cannot read %s", path);
    }
    if ((file.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        return status_fail(why, STATUS_MISUSE,
                           "fetch.credentials: others than its owner may use %s; chmod 600 it",
                           path);
    }
    buf_init(&text, FILE_MAXIMUM);
    enum status status = file_read(path, &text, why);
    if (status == STATUS_OK) {
        status = take_lines(credentials, buf_slice(&text), path, why);
    }
    if (text.data != NULL) {
        explicit_bzero(text.data, text.length);
    }
    buf_release(&text);
    return status;
}

void
credentials_close(struct credentials *credentials)
{
    if (credentials == NULL) {
        return;
    }
    for (size_t i = 0; i < credentials->count; i++) {
        explicit_bzero(credentials->all[i].secret, strlen(credentials->all[i].secret));
        free(credentials->all[i].secret);
        free(credentials->all[i].origin);
    }
    free(credentials->all);
    free(credentials);
}

const struct credential *
credentials_find(const struct credentials *credentials, struct slice origin)
{
    for (size_t i = 0; i < credentials->count; i++) {
        if (slice_is(origin, credentials->all[i].origin)) {
            return &credentials->all[i];
        }
    }
    return NULL;
}

void
credentials_withhold(struct buf *request)
{
    struct buf clean;
    struct slice rest = buf_slice(request);
    buf_init(&clean, request->maximum);
    while (rest.length > 0) {
        const size_t end = slice_find(rest, '\n');
        const size_t step = end < rest.length ? end + 1 : end;
        const struct slice name = slice_of(rest.at, slice_find(rest, ':'));
        if (slice_equal_nocase(name, SLICE("Authorization")) ||
            slice_equal_nocase(name, SLICE("Proxy-Authorization"))) {
            buf_append_slice(&clean, name);
            buf_append_string(&clean, ": [withheld]\r\n");
        } else {
            buf_append(&clean, rest.at, step);
        }
        rest = slice_of(rest.at + step, rest.length - step);
    }
    buf_release(request);
    *request = clean;
}
