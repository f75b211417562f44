/* RFC 3986 section 5 over bytes: IRIs resolve by the same algorithm, since nothing in it looks
 * at a character outside ASCII. The target is built in place at the end of the caller's buffer:
 * removing dot segments never makes a path longer, so it needs no second buffer. */
#include "base/url/url.h"

#include "base/ascii.h"

static bool
is_scheme_character(char c)
{
    return ascii_is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
}

/* Length of a leading scheme without its colon, 0 when there is none. */
static size_t
scheme_length(struct slice iri)
{
    size_t i = 0;
    if (iri.length == 0 || !ascii_is_letter(iri.at[0])) {
        return 0;
    }
    while (i < iri.length && is_scheme_character(iri.at[i])) {
        i++;
    }
    return i < iri.length && iri.at[i] == ':' ? i : 0;
}

/* Takes bytes off the front of *rest until one of the stop characters or the end. */
static struct slice
take_until(struct slice *rest, const char *stops)
{
    size_t n = 0;
    while (n < rest->length && (rest->at[n] == '\0' || strchr(stops, rest->at[n]) == NULL)) {
        n++;
    }
    const struct slice taken = slice_of(rest->at, n);
    *rest = slice_of(rest->at + n, rest->length - n);
    return taken;
}

static void
drop(struct slice *rest, size_t n)
{
    *rest = slice_of(rest->at + n, rest->length - n);
}

void
iri_split(struct slice iri, struct iri_parts *parts)
{
    struct slice rest = iri.at != NULL ? iri : SLICE("");
    *parts = (struct iri_parts){0};
    const size_t scheme = scheme_length(rest);
    if (scheme > 0) {
        parts->scheme = slice_of(rest.at, scheme);
        drop(&rest, scheme + 1);
    }
    if (slice_starts(rest, SLICE("//"))) {
        drop(&rest, 2);
        parts->authority = take_until(&rest, "/?#");
    }
    parts->path = take_until(&rest, "?#");
    if (rest.length > 0 && rest.at[0] == '?') {
        drop(&rest, 1);
        parts->query = take_until(&rest, "#");
    }
    if (rest.length > 0) {
        parts->fragment = slice_of(rest.at + 1, rest.length - 1);
    }
}

bool
iri_is_absolute(struct slice iri)
{
    /* What IRIREF of N-Triples excludes: controls, blank and these. */
    static const bool forbidden[256] = {
        [0] = 1,   [1] = 1,   [2] = 1,   [3] = 1,   [4] = 1,   [5] = 1,   [6] = 1,
        [7] = 1,   [8] = 1,   [9] = 1,   [10] = 1,  [11] = 1,  [12] = 1,  [13] = 1,
        [14] = 1,  [15] = 1,  [16] = 1,  [17] = 1,  [18] = 1,  [19] = 1,  [20] = 1,
        [21] = 1,  [22] = 1,  [23] = 1,  [24] = 1,  [25] = 1,  [26] = 1,  [27] = 1,
        [28] = 1,  [29] = 1,  [30] = 1,  [31] = 1,  [' '] = 1, ['<'] = 1, ['>'] = 1,
        ['"'] = 1, ['{'] = 1, ['}'] = 1, ['|'] = 1, ['^'] = 1, ['`'] = 1, ['\\'] = 1,
    };
    const size_t scheme = scheme_length(iri);
    if (scheme == 0) {
        return false;
    }
    for (size_t i = scheme + 1; i < iri.length; i++) {
        if (forbidden[(unsigned char)iri.at[i]]) {
            return false;
        }
    }
    return true;
}

/* Section 5.2.4 in place; returns the new length. A segment is read with the slash before it. */
static size_t
remove_dot_segments(char *path, size_t length)
{
    size_t in = 0;
    size_t out = 0;
    /* Rules A and D: leading "../", "./", and a path of dots only. */
    for (;;) {
        const struct slice rest = slice_of(path + in, length - in);
        if (slice_starts(rest, SLICE("../"))) {
            in += 3;
        } else if (slice_starts(rest, SLICE("./"))) {
            in += 2;
        } else {
            break;
        }
    }
    if (slice_is(slice_of(path + in, length - in), ".") ||
        slice_is(slice_of(path + in, length - in), "..")) {
        return 0;
    }
    while (in < length) {
        size_t end = in + 1;
        while (end < length && path[end] != '/') {
            end++;
        }
        const struct slice segment = slice_of(path + in, end - in);
        const bool up = slice_is(segment, "/..");
        if (up || slice_is(segment, "/.")) {
            if (up) {
                while (out > 0 && path[--out] != '/') {
                }
            }
            if (end == length) {
                path[out++] = '/';
            }
        } else {
            memmove(path + out, path + in, segment.length);
            out += segment.length;
        }
        in = end;
    }
    return out;
}

/* The part of the base's path that stays before a relative path (section 5.2.3). */
static struct slice
merge_prefix(const struct iri_parts *base)
{
    if (base->authority.at != NULL && base->path.length == 0) {
        return SLICE("/");
    }
    size_t n = base->path.length;
    while (n > 0 && base->path.at[n - 1] != '/') {
        n--;
    }
    return slice_of(base->path.at, n);
}

static void
append_path(struct buf *out, struct slice prefix, struct slice path, bool has_authority)
{
    const size_t start = out->length;
    buf_append_slice(out, prefix);
    buf_append_slice(out, path);
    if (out->overflowed) {
        return;
    }
    if (out->length > start) {
        out->length = start + remove_dot_segments(out->data + start, out->length - start);
        out->data[out->length] = '\0';
    }
    /* Without an authority "//" would begin one (section 3.3). */
    if (!has_authority && out->length - start >= 2 && memcmp(out->data + start, "//", 2) == 0 &&
        buf_append(out, "/.", 2) == STATUS_OK) {
        memmove(out->data + start + 2, out->data + start, out->length - start - 2);
        memcpy(out->data + start, "/.", 2);
    }
}

static void
append_component(struct buf *out, const char *mark, struct slice component)
{
    if (component.at != NULL) {
        buf_append_string(out, mark);
        buf_append_slice(out, component);
    }
}

enum status
iri_resolve(struct slice base, struct slice reference, struct buf *out, struct reason *why)
{
    struct iri_parts from;
    struct iri_parts to;
    const size_t start = out->length;
    iri_split(reference, &to);
    if (to.scheme.at == NULL) {
        iri_split(base, &from);
        if (from.scheme.at == NULL) {
            return status_fail(why, STATUS_BAD_INPUT, "base IRI is not absolute: %.200s",
                               base.length > 0 ? "no scheme" : "none given");
        }
    } else {
        from = to;
    }
    struct slice prefix = SLICE("");
    struct slice query = to.query;
    struct slice authority = to.authority;
    struct slice path = to.path;
    bool keep_path = false;
    if (to.scheme.at == NULL && to.authority.at == NULL) {
        authority = from.authority;
        if (to.path.length == 0) {
            path = from.path;
            keep_path = true;
            query = to.query.at != NULL ? to.query : from.query;
        } else if (to.path.at[0] != '/') {
            prefix = merge_prefix(&from);
        }
    }
    buf_append_slice(out, from.scheme);
    buf_append_char(out, ':');
    append_component(out, "//", authority);
    if (keep_path) {
        buf_append_slice(out, path);
    } else {
        append_path(out, prefix, path, authority.at != NULL);
    }
    append_component(out, "?", query);
    append_component(out, "#", to.fragment);
    if (out->overflowed) {
        if (out->data != NULL && out->length > start) {
            out->length = start;
            out->data[start] = '\0';
        }
        return status_fail(why, STATUS_LIMIT, "resolved IRI is longer than %zu bytes",
                           out->maximum);
    }
    return STATUS_OK;
}
