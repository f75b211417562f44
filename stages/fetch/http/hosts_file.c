/* A table by digest_local; names that fall together are told apart by their text. */
#include "stages/fetch/http/hosts_file.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "base/digest.h"
#include "base/memory.h"
#include "base/system/file.h"

enum { FILE_MAXIMUM = 1 << 30 };

struct name {
    char *host; /* NULL: the place is free */
    char address[INET6_ADDRSTRLEN + 2];
};

struct names {
    struct name *places;
    size_t mask, count;
};

/* The place where the host is or would be. */
static struct name *
place_of(const struct names *names, struct slice host)
{
    size_t at = digest_local(host) & names->mask;
    while (names->places[at].host != NULL && !slice_is(host, names->places[at].host)) {
        at = (at + 1) & names->mask;
    }
    return &names->places[at];
}

static void
grow(struct names *names)
{
    const struct names old = *names;
    names->mask = old.mask == 0 ? 63 : 2 * old.mask + 1;
    names->places = memory_zero(names->mask + 1, sizeof *names->places);
    for (size_t i = 0; old.places != NULL && i <= old.mask; i++) {
        if (old.places[i].host != NULL) {
            *place_of(names, slice_string(old.places[i].host)) = old.places[i];
        }
    }
    free(old.places);
}

static void
add(struct names *names, struct slice host, const char *address)
{
    if (4 * (names->count + 1) > 3 * names->mask) {
        grow(names);
    }
    char *lower = memory_string_n(host.at, host.length);
    for (char *at = lower; *at != '\0'; at++) {
        *at = ascii_lower(*at);
    }
    struct name *place = place_of(names, slice_string(lower));
    if (place->host != NULL) {
        free(lower);
        return;
    }
    place->host = lower;
    snprintf(place->address, sizeof place->address, "%s", address);
    names->count++;
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
    struct names *names = memory_zero(1, sizeof *names);
    struct buf text;
    *result = names;
    if (path[0] == '\0') {
        return STATUS_OK;
    }
    buf_init(&text, FILE_MAXIMUM);
    enum status status = file_read(path, &text, why);
    struct slice rest = buf_slice(&text);
    for (size_t number = 1; status == STATUS_OK && rest.length > 0; number++) {
        const size_t end = slice_find(rest, '\n');
        if (!read_line(names, slice_of(rest.at, end))) {
            status = status_fail(why, STATUS_BAD_INPUT, "%s:%zu: no address begins the line", path,
                                 number);
        }
        const size_t taken = end < rest.length ? end + 1 : end;
        rest = slice_of(rest.at + taken, rest.length - taken);
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
    for (size_t i = 0; names->places != NULL && i <= names->mask; i++) {
        free(names->places[i].host);
    }
    free(names->places);
    free(names);
}

const char *
names_find(const struct names *names, struct slice host)
{
    const struct name *place = names->count > 0 ? place_of(names, host) : NULL;
    return place != NULL && place->host != NULL ? place->address : NULL;
}
