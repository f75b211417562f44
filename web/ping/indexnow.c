#include "web/ping/indexnow.h"

#include "base/url/url.h"

enum { KEY_LEAST = 8, KEY_MOST = 128 };

static struct slice
text_of(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return slice_of(json_string_value(value), json_string_length(value));
}

static enum status
check(const struct indexnow_call *call, struct reason *why)
{
    size_t i;
    const json_t *url;
    if (!json_is_object(call->json)) {
        return status_fail(why, STATUS_BAD_INPUT, "the body is no JSON object");
    }
    if (call->host.length == 0 || call->key.length == 0) {
        return status_fail(why, STATUS_BAD_INPUT, "host and key have to be said");
    }
    if (!json_is_array(call->urls) || json_array_size(call->urls) == 0) {
        return status_fail(why, STATUS_BAD_INPUT, "urlList has to be an array of URLs");
    }
    json_array_foreach(call->urls, i, url)
    {
        if (!json_is_string(url)) {
            return status_fail(why, STATUS_BAD_INPUT, "urlList has to be an array of URLs");
        }
    }
    return STATUS_OK;
}

enum status
indexnow_read(struct indexnow_call *call, struct slice body, struct reason *why)
{
    json_error_t error;
    *call = (struct indexnow_call){0};
    call->json = json_loadb(body.at != NULL ? body.at : "", body.length, 0, &error);
    if (call->json == NULL) {
        return status_fail(why, STATUS_BAD_INPUT, "line %d: %s", error.line, error.text);
    }
    call->host = text_of(call->json, "host");
    call->key = text_of(call->json, "key");
    call->location = text_of(call->json, "keyLocation");
    call->urls = json_object_get(call->json, "urlList");
    return check(call, why);
}

bool
indexnow_key_is_valid(struct slice key)
{
    for (size_t i = 0; i < key.length; i++) {
        const char c = key.at[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '-')) {
            return false;
        }
    }
    return key.length >= KEY_LEAST && key.length <= KEY_MOST;
}

/* All that stands behind "http://" or "https://". */
static struct slice
without_scheme(struct slice crawl_key)
{
    const size_t at = slice_find_slice(crawl_key, SLICE("://"));
    return at < crawl_key.length ? slice_of(crawl_key.at + at + 3, crawl_key.length - at - 3)
                                 : crawl_key;
}

struct slice
indexnow_authority(struct slice crawl_key)
{
    const struct slice rest = without_scheme(crawl_key);
    return slice_of(rest.at, slice_find(rest, '/'));
}

enum status
indexnow_key_file(struct slice url, struct slice key, struct slice location, struct buf *out,
                  struct reason *why)
{
    if (location.length == 0) {
        (void)buf_append_slice(out, url_origin(url));
        return buf_printf(out, "/%.*s.txt", SLICE_PRINT(key));
    }
    TRY(url_crawl_key(location, slice_of(NULL, 0), out, why));
    if (!slice_equal(indexnow_authority(buf_slice(out)), indexnow_authority(url))) {
        return status_fail(why, STATUS_BAD_INPUT, "keyLocation is on another host than the URLs");
    }
    return STATUS_OK;
}

bool
indexnow_speaks_for(struct slice key_file, struct slice crawl_key)
{
    struct slice path = without_scheme(key_file);
    path.length = slice_find(path, '?');
    while (path.length > 0 && path.at[path.length - 1] != '/') {
        path.length--;
    }
    return slice_starts(without_scheme(crawl_key), path);
}
