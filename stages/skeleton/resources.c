/* A set's URIs go through the states of enum finding. One round asks the metadata store for all
 * that are sought; a redirect makes another round. The cache holds what was found, for a short
 * while, shared with the sets that use it. */
#include "stages/skeleton/resources.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/url/url.h"

enum {
    CACHE_ENTRIES = 128,
    CACHE_BYTES = 64 << 20,
    CACHE_FOUND_MS = 60000,  /* a recrawl may change it */
    CACHE_FAILED_MS = 10000, /* so may another attempt */
    REDIRECTS = 10,
    KEY_BYTES = URL_MAXIMUM + sizeof RESOURCE_FRAGMENT
};

/* One fetched document; shared. */
struct resource {
    unsigned references;
    uint64_t until_ms;
    bool old;
    char *key;                        /* of what was asked for */
    struct transform_resource public; /* without uri; slices point to the buffers */
    struct buf document_uri, content_type, links, bytes, failure;
};

struct resources {
    struct metastore_client *metastore;
    struct content *content;
    size_t bytes_most;
    uint64_t age_ms;
    struct resource *cache[CACHE_ENTRIES]; /* latest first */
    size_t cache_count, cache_bytes;
};

enum finding {
    SOUGHT,  /* to be looked up */
    UNKNOWN, /* nobody has heard of it */
    PENDING, /* being fetched */
    FOUND    /* resource is set: at hand, or failed */
};

struct wanted {
    char *uri; /* as asked for */
    char *key; /* crawl key with fragment; NULL: it has none */
    char *at;  /* key under which it is sought now, after redirects */
    unsigned hops;
    enum finding finding;
    struct resource *resource;
};

struct resource_set {
    struct resources *resources;
    struct wanted wanted[TRANSFORM_RESOURCES];
    struct transform_resource list[TRANSFORM_RESOURCES];
    size_t count;
    bool abandoned; /* freed while an answer is on its way */
    bool asking;
    resources_gathered *done;
    void *context;
};

/* ---- resources ---- */

static struct resource *
resource_new(const char *key)
{
    struct resource *resource = memory_new(sizeof *resource);
    resource->references = 1;
    resource->key = memory_string(key);
    buf_init(&resource->document_uri, KEY_BYTES);
    buf_init(&resource->content_type, 1024);
    buf_init(&resource->links, 16 << 10);
    buf_init(&resource->bytes, CACHE_BYTES);
    buf_init(&resource->failure, 512);
    return resource;
}

static void
resource_drop(struct resource *resource)
{
    if (resource == NULL || --resource->references > 0) {
        return;
    }
    free(resource->key);
    buf_release(&resource->document_uri);
    buf_release(&resource->content_type);
    buf_release(&resource->links);
    buf_release(&resource->bytes);
    buf_release(&resource->failure);
    free(resource);
}

static void
resource_publish(struct resource *resource)
{
    resource->public = (struct transform_resource){
        .document_uri = buf_slice(&resource->document_uri),
        .content_type = buf_slice(&resource->content_type),
        .link_header = buf_slice(&resource->links),
        .bytes = buf_slice(&resource->bytes),
        .failure = buf_slice(&resource->failure),
    };
    resource->until_ms =
        clock_monotonic_ms() + (resource->failure.length > 0 ? CACHE_FAILED_MS : CACHE_FOUND_MS);
}

/* ---- the cache ---- */

static void
cache_remove(struct resources *resources, size_t place)
{
    struct resource *resource = resources->cache[place];
    resources->cache_bytes -= resource->bytes.length;
    resources->cache_count--;
    memmove(&resources->cache[place], &resources->cache[place + 1],
            (resources->cache_count - place) * sizeof(struct resource *));
    resource_drop(resource);
}

static struct resource *
cache_find(struct resources *resources, const char *key)
{
    for (size_t i = 0; i < resources->cache_count; i++) {
        struct resource *resource = resources->cache[i];
        if (strcmp(resource->key, key) != 0) {
            continue;
        }
        if (resource->until_ms < clock_monotonic_ms()) {
            cache_remove(resources, i);
            return NULL;
        }
        memmove(&resources->cache[1], resources->cache, i * sizeof(struct resource *));
        resources->cache[0] = resource;
        resource->references++;
        return resource;
    }
    return NULL;
}

static void
cache_add(struct resources *resources, struct resource *resource)
{
    while (resources->cache_count > 0 &&
           (resources->cache_count == CACHE_ENTRIES ||
            resources->cache_bytes + resource->bytes.length > CACHE_BYTES)) {
        cache_remove(resources, resources->cache_count - 1);
    }
    memmove(&resources->cache[1], resources->cache,
            resources->cache_count * sizeof(struct resource *));
    resources->cache[0] = resource;
    resources->cache_count++;
    resources->cache_bytes += resource->bytes.length;
    resource->references++;
}

struct resources *
resources_open(const struct resources_settings *settings)
{
    struct resources *resources = memory_new(sizeof *resources);
    resources->metastore = settings->metastore;
    resources->content = settings->content;
    resources->bytes_most = settings->bytes;
    resources->age_ms = settings->age_ms;
    return resources;
}

void
resources_close(struct resources *resources)
{
    if (resources == NULL) {
        return;
    }
    while (resources->cache_count > 0) {
        cache_remove(resources, resources->cache_count - 1);
    }
    free(resources);
}

/* ---- sets ---- */

struct resource_set *
resource_set_new(struct resources *resources)
{
    struct resource_set *set = memory_new(sizeof *set);
    set->resources = resources;
    return set;
}

void
resource_set_free(struct resource_set *set)
{
    if (set == NULL) {
        return;
    }
    if (set->asking) {
        set->abandoned = true;
        return;
    }
    for (size_t i = 0; i < set->count; i++) {
        free(set->wanted[i].uri);
        free(set->wanted[i].key);
        free(set->wanted[i].at);
        resource_drop(set->wanted[i].resource);
    }
    free(set);
}

static void
settle(struct wanted *wanted, struct resource *resource)
{
    wanted->finding = FOUND;
    wanted->resource = resource;
}

static struct resource *
failed(const char *key, const char *reason)
{
    struct resource *resource = resource_new(key);
    buf_append_string(&resource->failure, reason[0] != '\0' ? reason : "it was not fetched");
    resource_publish(resource);
    return resource;
}

static void
add_wanted(struct resource_set *set, struct slice uri)
{
    if (set->count == TRANSFORM_RESOURCES || uri.length == 0) {
        return;
    }
    for (size_t i = 0; i < set->count; i++) {
        if (slice_is(uri, set->wanted[i].uri)) {
            return;
        }
    }
    struct wanted *wanted = &set->wanted[set->count++];
    struct buf key;
    struct reason why;
    *wanted = (struct wanted){.uri = memory_alloc(uri.length + 1)};
    memcpy(wanted->uri, uri.at, uri.length);
    wanted->uri[uri.length] = '\0';
    buf_init(&key, KEY_BYTES);
    if (url_crawl_key(uri, (struct slice){0}, &key, &why) == STATUS_OK) {
        buf_append_string(&key, RESOURCE_FRAGMENT);
        wanted->key = memory_string(key.data);
        wanted->at = memory_string(key.data);
    } else {
        settle(wanted, failed(wanted->uri, why.text));
    }
    buf_release(&key);
}

/* ---- what the metadata store says ---- */

static struct document_record
location_of(struct slice record)
{
    struct document_record where = {0};
    meta_record_text(record, META_WARC_NODE, &where.node);
    meta_record_text(record, META_WARC_FILE, &where.file);
    meta_record_number(record, META_WARC_OFFSET, &where.offset);
    meta_record_number(record, META_WARC_LENGTH, &where.length);
    meta_record_text(record, META_WARC_RECORD_ID, &where.id);
    return where;
}

static void
copy_response(struct resource *resource, const struct warc_record *record)
{
    buf_append_slice(&resource->content_type,
                     warc_http_header(record->http_header, "Content-Type"));
    buf_append_slice(&resource->links, warc_http_header(record->http_header, "Link"));
    if (buf_append_slice(&resource->bytes, record->body) != STATUS_OK) {
        buf_append_string(&resource->failure, "it is too long");
    }
}

static bool
is_old(const struct resources *resources, struct slice record)
{
    uint64_t fetched = 0;
    return resources->age_ms > 0 && meta_record_number(record, META_FETCHED, &fetched) &&
           fetched + resources->age_ms < clock_wall_ms();
}

/* A later attempt got no answer: what an earlier one got is still in the archive. */
static bool
has_earlier(struct slice state, struct slice record)
{
    uint64_t status = 0;
    struct slice text;
    return slice_is(state, "failed") && meta_record_text(record, META_WARC_FILE, &text) &&
           meta_record_number(record, META_HTTP_STATUS, &status) && status >= 200 &&
           status <= 299 && !meta_record_text(record, META_TRUNCATED, &text);
}

/* The body from the archive. Other statuses than OK are worth another try. */
static enum status
read_body(struct resource_set *set, struct wanted *wanted, struct slice stored, struct reason *why)
{
    const struct document_record where = location_of(stored);
    struct buf memory;
    struct warc_record record;
    struct reason problem;
    buf_init(&memory, 4 * set->resources->bytes_most + (8 << 20));
    const enum status status =
        content_read(set->resources->content, &where, &memory, &record, &problem);
    if (status == STATUS_TIMEOUT || status == STATUS_SYSTEM || status == STATUS_UNAVAILABLE) {
        buf_release(&memory);
        return status_fail(why, status, "%s", problem.text);
    }
    struct resource *resource = resource_new(wanted->key);
    if (status != STATUS_OK) {
        buf_append_string(&resource->failure, problem.text);
    } else {
        copy_response(resource, &record);
        buf_append(&resource->document_uri, wanted->at,
                   strlen(wanted->at) - (sizeof RESOURCE_FRAGMENT - 1));
    }
    buf_release(&memory);
    resource->old = is_old(set->resources, stored);
    resource_publish(resource);
    cache_add(set->resources, resource);
    settle(wanted, resource);
    return STATUS_OK;
}

static void
follow_redirect(struct wanted *wanted, struct slice record)
{
    struct slice target;
    if (!meta_record_text(record, META_REDIRECT_TO, &target) || ++wanted->hops > REDIRECTS) {
        settle(wanted, failed(wanted->key, "it redirects too often"));
        return;
    }
    struct buf key;
    buf_init(&key, KEY_BYTES);
    buf_append_slice(&key, target);
    buf_append_string(&key, RESOURCE_FRAGMENT);
    free(wanted->at);
    wanted->at = memory_string(key.data ? key.data : "");
    buf_release(&key);
}

/* Failures are told in words. */
static void
take_failure(struct resource_set *set, struct wanted *wanted, struct slice state,
             struct slice record)
{
    struct slice reason = {0};
    char text[300];
    meta_record_text(record, META_REASON, &reason);
    snprintf(text, sizeof text, "%.*s%s%.*s", SLICE_PRINT(state), reason.length > 0 ? ": " : "",
             SLICE_PRINT(reason));
    struct resource *resource = failed(wanted->key, text);
    buf_append(&resource->document_uri, wanted->at,
               strlen(wanted->at) - (sizeof RESOURCE_FRAGMENT - 1));
    resource->old = is_old(set->resources, record);
    resource_publish(resource);
    cache_add(set->resources, resource);
    settle(wanted, resource);
}

static enum status
take_record(struct resource_set *set, struct wanted *wanted, struct slice record,
            struct reason *why)
{
    struct slice state;
    if (record.length == 0) { /* fetch itself queues the targets of redirects */
        wanted->finding = wanted->hops > 0 ? PENDING : UNKNOWN;
    } else if (!meta_record_text(record, META_STATE, &state)) {
        wanted->finding = PENDING; /* tried, to be tried again */
    } else if (slice_is(state, "redirected")) {
        follow_redirect(wanted, record);
    } else if (slice_is(state, "fetched") || has_earlier(state, record)) {
        return read_body(set, wanted, record, why);
    } else {
        take_failure(set, wanted, state, record);
    }
    return STATUS_OK;
}

/* ---- rounds ---- */

static void read_records(struct resource_set *set);

static void
finish(struct resource_set *set, enum status status, const struct reason *why)
{
    set->asking = false;
    if (set->abandoned) {
        resource_set_free(set);
    } else {
        set->done(set->context, status, why);
    }
}

static void
answered(void *context, enum status status, const struct slice *records, size_t n,
         const struct reason *problem)
{
    struct resource_set *set = context;
    struct reason why = {""};
    size_t at = 0;
    if (problem != NULL) {
        why = *problem;
    }
    for (size_t i = 0; status == STATUS_OK && !set->abandoned && i < set->count; i++) {
        if (set->wanted[i].finding == SOUGHT && at < n) {
            status = take_record(set, &set->wanted[i], records[at++], &why);
        }
    }
    if (status == STATUS_OK && !set->abandoned) {
        read_records(set);
    } else {
        finish(set, status, &why);
    }
}

/* Asks for all that is sought. */
static void
read_records(struct resource_set *set)
{
    struct slice keys[TRANSFORM_RESOURCES];
    size_t starts[TRANSFORM_RESOURCES];
    struct buf text;
    size_t n = 0;
    buf_init(&text, TRANSFORM_RESOURCES * (KEY_BYTES + 2));
    for (size_t i = 0; i < set->count; i++) {
        if (set->wanted[i].finding == SOUGHT) {
            starts[n++] = text.length;
            buf_printf(&text, "u%s", set->wanted[i].at);
        }
    }
    for (size_t i = 0; i < n; i++) {
        const size_t end = i + 1 < n ? starts[i + 1] : text.length;
        keys[i] = slice_of(text.data + starts[i], end - starts[i]);
    }
    set->asking = true;
    if (n > 0 && set->resources->metastore == NULL) {
        for (size_t i = 0; i < set->count; i++) {
            set->wanted[i].finding =
                set->wanted[i].finding == SOUGHT ? UNKNOWN : set->wanted[i].finding;
        }
        finish(set, STATUS_OK, NULL);
    } else if (n > 0) {
        metastore_get(set->resources->metastore, keys, n, answered, set);
    } else {
        finish(set, STATUS_OK, NULL);
    }
    buf_release(&text);
}

void
resource_set_gather(struct resource_set *set, struct slice needs, resources_gathered *done,
                    void *context)
{
    while (needs.length > 0) {
        const size_t end = slice_find(needs, '\n');
        add_wanted(set, slice_of(needs.at, end));
        const size_t used = end < needs.length ? end + 1 : end;
        needs = slice_of(needs.at + used, needs.length - used);
    }
    for (size_t i = 0; i < set->count; i++) {
        struct wanted *wanted = &set->wanted[i];
        if (wanted->finding == FOUND) {
            continue;
        }
        struct resource *resource = cache_find(set->resources, wanted->key);
        wanted->finding = SOUGHT;
        if (resource != NULL) {
            settle(wanted, resource);
        }
    }
    set->done = done;
    set->context = context;
    read_records(set);
}

void
resource_set_give(struct resource_set *set, struct slice uri, struct slice content_type,
                  struct slice bytes)
{
    add_wanted(set, uri);
    for (size_t i = 0; i < set->count; i++) {
        struct wanted *wanted = &set->wanted[i];
        if (slice_is(uri, wanted->uri) && (wanted->finding != FOUND || wanted->key == NULL)) {
            struct resource *resource = resource_new(wanted->uri);
            buf_append_slice(&resource->document_uri, uri);
            buf_append_slice(&resource->content_type, content_type);
            buf_append_slice(&resource->bytes, bytes);
            resource_publish(resource);
            resource_drop(wanted->resource);
            settle(wanted, resource);
        }
    }
}

/* ---- what came of it ---- */

size_t
resource_set_missing(const struct resource_set *set)
{
    size_t n = 0;
    for (size_t i = 0; i < set->count; i++) {
        n += set->wanted[i].finding != FOUND;
    }
    return n;
}

void
resource_set_unknown(const struct resource_set *set, resource_visit *visit, void *context)
{
    for (size_t i = 0; i < set->count; i++) {
        if (set->wanted[i].finding == UNKNOWN) {
            visit(context, slice_string(set->wanted[i].key), false);
        }
    }
}

void
resource_set_old(const struct resource_set *set, resource_visit *visit, void *context)
{
    struct buf key;
    buf_init(&key, KEY_BYTES);
    for (size_t i = 0; i < set->count; i++) {
        const struct resource *resource = set->wanted[i].resource;
        if (resource != NULL && resource->old) {
            buf_reset(&key);
            buf_append_slice(&key, buf_slice(&resource->document_uri));
            buf_append_string(&key, RESOURCE_FRAGMENT);
            visit(context, buf_slice(&key), true);
        }
    }
    buf_release(&key);
}

void
resource_set_give_up(struct resource_set *set, const char *reason)
{
    for (size_t i = 0; i < set->count; i++) {
        if (set->wanted[i].finding != FOUND) {
            settle(&set->wanted[i], failed(set->wanted[i].uri, reason));
        }
    }
}

size_t
resource_set_list(struct resource_set *set, const struct transform_resource **list)
{
    size_t bytes = 0;
    for (size_t i = 0; i < set->count; i++) {
        struct transform_resource *one = &set->list[i];
        *one = (struct transform_resource){0};
        if (set->wanted[i].resource != NULL) {
            *one = set->wanted[i].resource->public;
        }
        one->uri = slice_string(set->wanted[i].uri);
        if (one->bytes.length > set->resources->bytes_most - bytes) {
            one->bytes = (struct slice){0};
            one->failure = SLICE(
                "the documents needed have more bytes than a document may have: transform.input");
        }
        bytes += one->bytes.length;
    }
    *list = set->list;
    return set->count;
}

void
resource_set_names(const struct resource_set *set, struct buf *lines)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct resource *resource = set->wanted[i].resource;
        if (resource != NULL && resource->failure.length == 0) {
            buf_printf(lines, "%s\n", set->wanted[i].uri);
        }
    }
}
