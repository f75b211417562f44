#include "warc/remote.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/system/watchdog.h"
#include "warc/warc.h"

enum { DEFAULT_TIMEOUT_MS = 30000, URL_BYTES = 1024 };

struct warc_remote {
    CURL *easy;
    char error[CURL_ERROR_SIZE];
};

/* The body of a reply; stops as soon as it is longer than what was asked for. */
struct body {
    struct buf *bytes;
    uint64_t wanted;
    bool too_long;
};

static size_t
take_body(char *bytes, size_t size, size_t count, void *context)
{
    struct body *body = context;
    const size_t length = size * count;
    if (body->bytes->length + length > body->wanted ||
        buf_append(body->bytes, bytes, length) != STATUS_OK) {
        body->too_long = true;
        return 0;
    }
    return length;
}

enum status
warc_remote_open(struct warc_remote **opened, uint32_t timeout_ms, struct reason *why)
{
    *opened = NULL;
    struct warc_remote *remote = memory_new(sizeof *remote);
    remote->easy = curl_easy_init();
    if (remote->easy == NULL) {
        free(remote);
        return status_fail(why, STATUS_SYSTEM, "cannot make an HTTP client");
    }
    const long timeout = timeout_ms != 0 ? (long)timeout_ms : DEFAULT_TIMEOUT_MS;
    (void)curl_easy_setopt(remote->easy, CURLOPT_TIMEOUT_MS, timeout);
    (void)curl_easy_setopt(remote->easy, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(remote->easy, CURLOPT_PROXY, "");
    (void)curl_easy_setopt(remote->easy, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(remote->easy, CURLOPT_ERRORBUFFER, remote->error);
    (void)curl_easy_setopt(remote->easy, CURLOPT_WRITEFUNCTION, take_body);
    *opened = remote;
    return STATUS_OK;
}

void
warc_remote_close(struct warc_remote *remote)
{
    if (remote != NULL) {
        curl_easy_cleanup(remote->easy);
        free(remote);
    }
}

bool
warc_file_name_valid(struct slice file)
{
    if (file.length == 0 || file.length >= WARC_FILE_SIZE || file.at[0] == '.') {
        return false;
    }
    for (size_t i = 0; i < file.length; i++) {
        const char c = file.at[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '-' || c == '_' || c == '.')) {
            return false;
        }
    }
    return true;
}

static enum status
judge(const struct warc_remote *remote, CURLcode code, const struct body *body, const char *url,
      struct reason *why)
{
    long http = 0;
    (void)curl_easy_getinfo(remote->easy, CURLINFO_RESPONSE_CODE, &http);
    if (http == 404) {
        return status_fail(why, STATUS_NOT_FOUND, "%s: no such file", url);
    }
    if (http == 416) {
        return status_fail(why, STATUS_CORRUPT, "%s: the file is shorter than its record", url);
    }
    if (http >= 400) { /* its body is no bytes of the file */
        return status_fail(why, STATUS_SYSTEM, "%s: HTTP status %ld", url, http);
    }
    if (body->too_long) {
        return status_fail(why, body->bytes->overflowed ? STATUS_LIMIT : STATUS_PROTOCOL,
                           "%s: more bytes than asked for or allowed", url);
    }
    if (code != CURLE_OK) {
        return status_fail(why, STATUS_UNAVAILABLE, "%s: %s", url,
                           remote->error[0] != 0 ? remote->error : curl_easy_strerror(code));
    }
    if (http != 206) {
        return status_fail(why, STATUS_SYSTEM, "%s: HTTP status %ld", url, http);
    }
    return body->bytes->length == body->wanted
               ? STATUS_OK
               : status_fail(why, STATUS_CORRUPT, "%s: the file is shorter than its record", url);
}

enum status
warc_fetch_remote(struct warc_remote *remote, const char *web, struct slice file, uint64_t offset,
                  uint64_t length, struct buf *member, struct reason *why)
{
    buf_reset(member);
    if (!warc_file_name_valid(file)) {
        return status_fail(why, STATUS_MISUSE, "not the name of a WARC file: %.*s",
                           SLICE_PRINT(file));
    }
    if (length == 0 || length > member->maximum) {
        return status_fail(why, STATUS_LIMIT, "%.*s: a record of %lu bytes", SLICE_PRINT(file),
                           (unsigned long)length);
    }
    size_t web_length = strlen(web);
    while (web_length > 0 && web[web_length - 1] == '/') {
        web_length--;
    }
    char url[URL_BYTES];
    char range[64];
    if (snprintf(url, sizeof url, "%.*s/warc/%.*s", (int)web_length, web, SLICE_PRINT(file)) >=
        (int)sizeof url) {
        return status_fail(why, STATUS_MISUSE, "%s: the URL is too long", web);
    }
    snprintf(range, sizeof range, "%lu-%lu", (unsigned long)offset,
             (unsigned long)(offset + length - 1));
    struct body body = {.bytes = member, .wanted = length};
    (void)curl_easy_setopt(remote->easy, CURLOPT_URL, url);
    (void)curl_easy_setopt(remote->easy, CURLOPT_RANGE, range);
    (void)curl_easy_setopt(remote->easy, CURLOPT_WRITEDATA, &body);
    watchdog_pause();
    const CURLcode code = curl_easy_perform(remote->easy);
    watchdog_resume();
    return judge(remote, code, &body, url, why);
}
