#include "stages/fetch/http/hosts_file.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/ascii.h"
#include "base/buf.h"
#include "base/digest.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/system/file.h"

enum { FILE_MAXIMUM = 1 << 30 };

struct name {
    char *host;
    char address[INET6_ADDRSTRLEN + 2];
};

struct names {
    struct name *items;
    size_t count, capacity;
    struct map places; /* of items, by digest_local of their hosts: base/map.h */
};

/* The host's name, or NULL; *hash: under which it stands, or is to stand. */
static const struct name *
name_of(const struct names *names, struct slice host, uint64_t *hash)
{
    for (*hash = digest_local(host);; ++*hash) {
        const uint32_t place = map_get(&names->places, *hash);
        if (place == (uint32_t)MAP_NONE) {
            return NULL;
        }
        if (slice_is(host, names->items[place].host)) {
            return &names->items[place];
        }
    }
}

static void
add(struct names *names, struct slice host, const char *address)
{
    uint64_t hash;
    char *lower = memory_string_n(host.at, host.length);
    for (char *at = lower; *at != '\0'; at++) {
        *at = ascii_lower(*at);
    }
    if (name_of(names, slice_string(lower), &hash) != NULL) {
        free(lower);
        return;
    }
    names->items = array_grow(names->items, names->count, &names->capacity, sizeof *names->items);
    map_set(&names->places, hash, (uint32_t)names->count);
    struct name *name = &names->items[names->count++];
    name->host = lower;
    snprintf(name->address, sizeof name->address, "%s", address);
}

static struct slice
next_word(struct slice *line)
{
    size_t from = 0;
    while (from < line->length && (line->at[from] == ' ' || line->at[from] == '\t')) {
        from++;
    }
    size_t to = from;
    while (to < line->length && line->at[to] != ' ' && line->at[to] != '\t') {
        to++;
    }
    const struct slice word = slice_of(line->at + from, to - from);
    *line = slice_of(line->at + to, line->length - to);
    return word;
}

static bool
read_line(struct names *names, struct slice line)
{
    uint8_t bytes[sizeof(struct in6_addr)];
    char address[INET6_ADDRSTRLEN + 2];
    line.length = slice_find(line, '#');
    const struct slice first = next_word(&line);
    if (first.length == 0) {
        return true;
    }
    snprintf(address, sizeof address, "%.*s", SLICE_PRINT(first));
    const bool v6 = inet_pton(AF_INET6, address, bytes) == 1;
    if (!v6 && inet_pton(AF_INET, address, bytes) != 1) {
        return false;
    }
    if (v6) {
        snprintf(address, sizeof address, "[%.*s]", SLICE_PRINT(first));
    }
    for (struct slice host = next_word(&line); host.length > 0; host = next_word(&line)) {
        add(names, host, address);
    }
    return true;
}

enum status
names_open(struct names **result, const char *path, struct reason *why)
{
    struct names *names = memory_new(sizeof *names);
    struct buf text;
    *result = names;
    if (path[0] == '\0') {
        return STATUS_OK;
    }
    buf_init(&text, FILE_MAXIMUM);
    enum status status = file_read(path, &text, why);
    struct slice rest = buf_slice(&text);
    for (size_t number = 1; status == STATUS_OK && rest.length > 0; number++) {
        if (!read_line(names, slice_take(&rest, '\n'))) {
            status = status_fail(why, STATUS_BAD_INPUT, "%s:%zu: no address begins the line", path,
                                 number);
        }
    }
    buf_release(&text);
    return status;
}

void
names_close(struct names *names)
{
    if (names == NULL) {
        return;
    }
    for (size_t i = 0; i < names->count; i++) {
        free(names->items[i].host);
    }
    free(names->items);
    map_release(&names->places);
    free(names);
}

const char *
names_find(const struct names *names, struct slice host)
{
    uint64_t hash;
    const struct name *name = name_of(names, host, &hash);
    return name != NULL ? name->address : NULL;
}
