#include "transforms/common/contexts.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "base/memory.h"
#include "base/system/file.h"

enum { FOLDERS = 8, LINE_BYTES = 4096, URL_KEY_BYTES = 2048 };

static struct {
    char *folders[FOLDERS];
    size_t folder_count;
    struct buf files[CONTEXTS_FILES];
    size_t file_count;
    struct pinned {
        char *key;
        size_t file;
    } urls[CONTEXTS_URLS]; /* sorted by key */
    size_t url_count;
} contexts;

/* Returns the part that the spellings of one URL have in common; points into url. */
static struct slice
significant(struct slice url)
{
    static const char *const prefixes[] = {"https://", "http://"};
    for (size_t i = 0; i < 2; i++) {
        const struct slice prefix = slice_string(prefixes[i]);
        if (url.length > prefix.length &&
            slice_equal_nocase(slice_of(url.at, prefix.length), prefix)) {
            url = slice_of(url.at + prefix.length, url.length - prefix.length);
            break;
        }
    }
    if (url.length > 4 && slice_equal_nocase(slice_of(url.at, 4), SLICE("www."))) {
        url = slice_of(url.at + 4, url.length - 4);
    }
    url.length = slice_find(url, '#');
    while (url.length > 0 && url.at[url.length - 1] == '/') {
        url.length--;
    }
    return url;
}

/* The host in lower case, the path as it is. */
static int
compare_key(struct slice url, const char *key)
{
    bool host = true;
    for (size_t i = 0; i < url.length; i++) {
        host = host && url.at[i] != '/';
        const unsigned char a = (unsigned char)(host ? ascii_lower(url.at[i]) : url.at[i]);
        const unsigned char b = (unsigned char)key[i];
        if (a != b) {
            return a < b ? -1 : 1;
        }
    }
    return key[url.length] == '\0' ? 0 : -1;
}

/* Finds where url is, or where it belongs. */
static size_t
place_of(struct slice url, bool *found)
{
    size_t low = 0, high = contexts.url_count;
    *found = false;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = compare_key(url, contexts.urls[middle].key);
        if (order == 0) {
            *found = true;
            return middle;
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

bool
contexts_pinned(struct slice url, struct slice *json)
{
    bool found;
    const size_t place = place_of(significant(url), &found);
    if (found) {
        *json = buf_slice(&contexts.files[contexts.urls[place].file]);
    }
    return found;
}

/* ---- loading ---- */

static enum status
add_url(struct slice url, struct reason *why)
{
    bool found;
    url = significant(url);
    const size_t place = place_of(url, &found);
    if (found) {
        contexts.urls[place].file = contexts.file_count - 1;
        return STATUS_OK;
    }
    if (url.length == 0 || url.length >= URL_KEY_BYTES) {
        return status_fail(why, STATUS_MISUSE, "that is no URL");
    }
    if (contexts.url_count == CONTEXTS_URLS) {
        return status_fail(why, STATUS_MISUSE, "more than %d URLs", CONTEXTS_URLS);
    }
    char *key = memory_alloc(url.length + 1);
    bool host = true;
    for (size_t i = 0; i < url.length; i++) {
        host = host && url.at[i] != '/';
        key[i] = host ? ascii_lower(url.at[i]) : url.at[i];
    }
    key[url.length] = '\0';
    memmove(&contexts.urls[place + 1], &contexts.urls[place],
            (contexts.url_count - place) * sizeof *contexts.urls);
    contexts.urls[place] = (struct pinned){key, contexts.file_count - 1};
    contexts.url_count++;
    return STATUS_OK;
}

static enum status
add_file(const char *folder, struct slice name, struct reason *why)
{
    if (contexts.file_count == CONTEXTS_FILES) {
        return status_fail(why, STATUS_MISUSE, "more than %d contexts", CONTEXTS_FILES);
    }
    char path[LINE_BYTES];
    struct buf *file = &contexts.files[contexts.file_count];
    snprintf(path, sizeof path, "%s/%.*s", folder, SLICE_PRINT(name));
    buf_init(file, CONTEXTS_FILE_BYTES);
    const enum status status = file_read(path, file, why);
    if (status != STATUS_OK) {
        buf_release(file);
        return status;
    }
    contexts.file_count++;
    return STATUS_OK;
}

static enum status
read_line(const char *folder, struct slice line, bool *in_context, struct reason *why)
{
    const struct slice verb = slice_next_word(&line), name = slice_next_word(&line);
    if (verb.length == 0 || verb.at[0] == '#') {
        return STATUS_OK;
    }
    if (slice_is(verb, "context")) {
        const struct slice date = slice_next_word(&line), licence = slice_next_word(&line);
        const struct slice source = slice_next_word(&line);
        if (name.length == 0 || date.length == 0 || licence.length == 0 || source.length == 0) {
            return status_fail(why, STATUS_MISUSE, "expected: context FILE DATE LICENCE SOURCE");
        }
        *in_context = true;
        return add_file(folder, name, why);
    }
    if (slice_is(verb, "at") && *in_context && name.length > 0) {
        return add_url(name, why);
    }
    return status_fail(why, STATUS_MISUSE, "expected: context FILE DATE LICENCE SOURCE, at URL");
}

static enum status
read_index(const char *folder, struct slice text, struct reason *why)
{
    bool in_context = false;
    for (unsigned number = 1; text.length > 0; number++) {
        const size_t end = slice_find(text, '\n');
        struct reason problem;
        const enum status status = read_line(folder, slice_of(text.at, end), &in_context, &problem);
        if (status != STATUS_OK) {
            return status_fail(why, STATUS_MISUSE, "%s/index, line %u: %s", folder, number,
                               problem.text);
        }
        const size_t used = end < text.length ? end + 1 : end;
        text = slice_of(text.at + used, text.length - used);
    }
    return STATUS_OK;
}

enum status
contexts_load(const char *folder, struct reason *why)
{
    char path[LINE_BYTES];
    for (size_t i = 0; i < contexts.folder_count; i++) {
        if (strcmp(contexts.folders[i], folder) == 0) {
            return STATUS_OK;
        }
    }
    if (contexts.folder_count == FOLDERS) {
        return status_fail(why, STATUS_MISUSE, "more than %d folders of contexts", FOLDERS);
    }
    struct buf index;
    struct reason problem;
    buf_init(&index, CONTEXTS_FILE_BYTES);
    snprintf(path, sizeof path, "%s/index", folder);
    enum status status = file_read(path, &index, &problem);
    if (status == STATUS_OK) {
        contexts.folders[contexts.folder_count++] = memory_string(folder);
        status = read_index(folder, buf_slice(&index), why);
    } else if (status == STATUS_NOT_FOUND) {
        status = STATUS_OK;
    } else {
        status = status_fail(why, status, "%s", problem.text);
    }
    buf_release(&index);
    return status;
}

void
contexts_release(void)
{
    for (size_t i = 0; i < contexts.url_count; i++) {
        free(contexts.urls[i].key);
    }
    for (size_t i = 0; i < contexts.file_count; i++) {
        buf_release(&contexts.files[i]);
    }
    for (size_t i = 0; i < contexts.folder_count; i++) {
        free(contexts.folders[i]);
    }
    contexts.url_count = contexts.file_count = contexts.folder_count = 0;
}
