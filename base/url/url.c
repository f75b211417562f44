/* The URL standard's basic parser (https://url.spec.whatwg.org/#url-parsing), UTF-8 only.
 *
 * The standard describes a state machine over code points. Here every component is found by its
 * delimiters and written, percent-encoded, straight to its place in the serialised URL; each
 * function below is one state, or a run of states that always follow each other. Paths stay
 * serialised: removing a path's last segment is cutting at its last slash. The one thing known
 * late is the "/." that keeps a path of two leading slashes from reading as a host.
 */

#include "base/url/url.h"

#include "base/ascii.h"
#include "base/url/url_host.h"
#include "base/url/url_percent.h"
#include "base/url/url_text.h"

struct special {
    struct slice scheme;
    int32_t port;
};

static const struct special special_schemes[] = {
    {SLICE_INIT("http"), 80}, {SLICE_INIT("https"), 443}, {SLICE_INIT("file"), -1},
    {SLICE_INIT("ftp"), 21},  {SLICE_INIT("ws"), 80},     {SLICE_INIT("wss"), 443},
};

/* A component's place in the output; length before it is written is 0. */
struct span {
    size_t at, length;
};

struct parser {
    struct slice rest;      /* input not yet read */
    const struct url *base; /* may be NULL */
    struct buf *out;
    size_t start; /* of the URL in out */
    struct reason *why;
    struct span scheme, username, password, host, path, query, fragment;
    int32_t port, default_port;
    bool special, file, has_host, has_query, has_fragment, opaque_path;
};

static bool
is_slash(const struct parser *parser, char c)
{
    return c == '/' || (parser->special && c == '\\');
}

static bool
starts_with_slash(const struct parser *parser)
{
    return parser->rest.length > 0 && is_slash(parser, parser->rest.at[0]);
}

static bool
starts_with(const struct parser *parser, char c)
{
    return parser->rest.length > 0 && parser->rest.at[0] == c;
}

static void
drop(struct parser *parser, size_t n)
{
    parser->rest = slice_of(parser->rest.at + n, parser->rest.length - n);
}

static struct slice
take(struct parser *parser, size_t n)
{
    const struct slice taken = slice_of(parser->rest.at, n);
    drop(parser, n);
    return taken;
}

static struct span
written_since(const struct parser *parser, size_t at)
{
    return (struct span){at, parser->out->length - at};
}

static enum status
bad(struct parser *parser, const char *what)
{
    return status_fail(parser->why, STATUS_BAD_INPUT, "not a URL: %s", what);
}

/* ---- scheme ---- */

static void
set_scheme(struct parser *parser, struct slice scheme)
{
    struct buf *out = parser->out;
    const size_t at = out->length;
    buf_append_slice(out, scheme);
    for (size_t i = at; i < out->length; i++) {
        out->data[i] = ascii_lower(out->data[i]);
    }
    parser->scheme = written_since(parser, at);
    buf_append_char(out, ':');
    parser->default_port = -1;
    for (size_t i = 0; i < sizeof special_schemes / sizeof special_schemes[0]; i++) {
        if (slice_equal_nocase(scheme, special_schemes[i].scheme)) {
            parser->special = true;
            parser->default_port = special_schemes[i].port;
            parser->file = slice_is(special_schemes[i].scheme, "file");
            break;
        }
    }
}

/* ---- path ---- */

static void
shorten_path(struct parser *parser)
{
    const char *path = parser->out->data + parser->path.at;
    size_t length = parser->out->length - parser->path.at;
    if (parser->out->overflowed ||
        (parser->file && length == 3 && url_is_drive_letter(slice_of(path + 1, 2), true))) {
        return;
    }
    while (length > 0 && path[--length] != '/') {
    }
    parser->out->length = parser->path.at + length;
    parser->out->data[parser->out->length] = '\0';
}

/* Path state, from after the slash; parser->path.at is set and earlier segments are written. */
static void
parse_segments(struct parser *parser)
{
    struct buf *out = parser->out;
    for (;;) {
        size_t n = 0;
        while (n < parser->rest.length && !is_slash(parser, parser->rest.at[n]) &&
               parser->rest.at[n] != '?' && parser->rest.at[n] != '#') {
            n++;
        }
        const struct slice segment = take(parser, n);
        const bool last = !starts_with_slash(parser);
        const int dots = url_dot_count(segment);
        if (dots == 2) {
            shorten_path(parser);
        }
        if (dots == 0) {
            const bool drive = parser->file && out->length == parser->path.at &&
                               url_is_drive_letter(segment, false);
            buf_append_char(out, '/');
            url_append_encoded(out, segment, ENCODE_PATH);
            if (drive && !out->overflowed) {
                out->data[out->length - 1] = ':';
            }
        } else if (last) {
            buf_append_char(out, '/');
        }
        if (last) {
            return;
        }
        drop(parser, 1);
    }
}

static void
parse_opaque_path(struct parser *parser)
{
    size_t n = 0;
    parser->opaque_path = true;
    parser->path.at = parser->out->length;
    while (n < parser->rest.length && parser->rest.at[n] != '?' && parser->rest.at[n] != '#') {
        n++;
    }
    struct slice path = take(parser, n);
    /* A blank before "?" or "#" would be lost when the serialisation is parsed again. */
    const bool blank = parser->rest.length > 0 && n > 0 && path.at[n - 1] == ' ';
    path.length -= blank ? 1 : 0;
    url_append_encoded(parser->out, path, ENCODE_CONTROL);
    if (blank) {
        buf_append_string(parser->out, "%20");
    }
}

/* ---- query and fragment ---- */

static void
parse_query_and_fragment(struct parser *parser)
{
    struct buf *out = parser->out;
    if (starts_with(parser, '?')) {
        buf_append_char(out, '?');
        drop(parser, 1);
        const size_t at = out->length;
        url_append_encoded(out, take(parser, slice_find(parser->rest, '#')),
                           parser->special ? ENCODE_SPECIAL_QUERY : ENCODE_QUERY);
        parser->query = written_since(parser, at);
        parser->has_query = true;
    }
    if (starts_with(parser, '#')) {
        buf_append_char(out, '#');
        drop(parser, 1);
        const size_t at = out->length;
        url_append_encoded(out, take(parser, parser->rest.length), ENCODE_FRAGMENT);
        parser->fragment = written_since(parser, at);
        parser->has_fragment = true;
    }
}

/* Writes "/." before a path that begins with two slashes when there is no host. */
static void
guard_path(struct parser *parser)
{
    struct buf *out = parser->out;
    const size_t at = parser->path.at;
    if (!parser->has_host && !parser->opaque_path && out->length - at >= 2 &&
        memcmp(out->data + at, "//", 2) == 0 && buf_append(out, "/.", 2) == STATUS_OK) {
        memmove(out->data + at + 2, out->data + at, out->length - at - 2);
        memcpy(out->data + at, "/.", 2);
        parser->path.at += 2;
    }
}

static void
end_path(struct parser *parser)
{
    guard_path(parser);
    parser->path = written_since(parser, parser->path.at);
    parse_query_and_fragment(parser);
}

/* Path start state: after an authority. */
static enum status
parse_path_start(struct parser *parser)
{
    parser->path.at = parser->out->length;
    if (starts_with_slash(parser)) {
        drop(parser, 1);
        parse_segments(parser);
    } else if (parser->special) {
        parse_segments(parser);
    }
    end_path(parser);
    return STATUS_OK;
}

/* ---- authority ---- */

static void
write_credentials(struct parser *parser, struct slice username, struct slice password)
{
    struct buf *out = parser->out;
    size_t at = out->length;
    url_append_encoded(out, username, ENCODE_USERINFO);
    parser->username = written_since(parser, at);
    if (password.length > 0) {
        buf_append_char(out, ':');
        at = out->length;
        url_append_encoded(out, password, ENCODE_USERINFO);
        parser->password = written_since(parser, at);
    }
    if (username.length > 0 || password.length > 0) {
        buf_append_char(out, '@');
    }
}

static enum status
write_host(struct parser *parser, struct slice host)
{
    const size_t at = parser->out->length;
    TRY(url_host_parse(host, parser->special, parser->out, parser->why));
    parser->host = written_since(parser, at);
    return STATUS_OK;
}

static enum status
write_port(struct parser *parser, struct slice digits)
{
    int32_t port = 0;
    for (size_t i = 0; i < digits.length; i++) {
        if (digits.at[i] < '0' || digits.at[i] > '9') {
            return bad(parser, "the port is no number");
        }
        port = port * 10 + (digits.at[i] - '0');
        if (port > UINT16_MAX) {
            return bad(parser, "the port is too large");
        }
    }
    if (digits.length > 0 && port != parser->default_port) {
        parser->port = port;
        url_append_port(parser->out, port);
    }
    return STATUS_OK;
}

/* Authority, host and port states: from after "//". */
static enum status
parse_authority(struct parser *parser)
{
    size_t n = 0;
    size_t at_sign = SIZE_MAX;
    buf_append_string(parser->out, "//");
    parser->has_host = true;
    while (n < parser->rest.length && !is_slash(parser, parser->rest.at[n]) &&
           parser->rest.at[n] != '?' && parser->rest.at[n] != '#') {
        if (parser->rest.at[n] == '@') {
            at_sign = n;
        }
        n++;
    }
    struct slice authority = take(parser, n);
    if (at_sign != SIZE_MAX) {
        const struct slice credentials = slice_of(authority.at, at_sign);
        const size_t colon = slice_find(credentials, ':');
        const size_t password = colon < at_sign ? colon + 1 : at_sign;
        authority = slice_of(authority.at + at_sign + 1, n - at_sign - 1);
        if (authority.length == 0) {
            return bad(parser, "credentials without a host");
        }
        write_credentials(parser, slice_of(credentials.at, colon),
                          slice_of(credentials.at + password, at_sign - password));
    }
    const size_t colon = url_find_port(authority);
    if (colon == 0 && (parser->special || authority.length > 0)) {
        return bad(parser, "no host");
    }
    TRY(write_host(parser, slice_of(authority.at, colon)));
    if (colon < authority.length) {
        TRY(write_port(parser, slice_of(authority.at + colon + 1, authority.length - colon - 1)));
    }
    return parse_path_start(parser);
}

static enum status
parse_special_authority(struct parser *parser)
{
    while (starts_with_slash(parser)) {
        drop(parser, 1);
    }
    return parse_authority(parser);
}

/* ---- relative references ---- */

static struct span
copy(struct parser *parser, struct slice part)
{
    const size_t at = parser->out->length;
    buf_append_slice(parser->out, part);
    return written_since(parser, at);
}

static void
copy_authority(struct parser *parser)
{
    const struct url *base = parser->base;
    struct buf *out = parser->out;
    if (!base->has_host) {
        return;
    }
    buf_append_string(out, "//");
    parser->has_host = true;
    parser->username = copy(parser, base->username);
    if (base->password.length > 0) {
        buf_append_char(out, ':');
        parser->password = copy(parser, base->password);
    }
    if (base->username.length > 0 || base->password.length > 0) {
        buf_append_char(out, '@');
    }
    parser->host = copy(parser, base->host);
    parser->port = base->port;
    if (base->port >= 0) {
        url_append_port(out, base->port);
    }
}

static void
copy_query(struct parser *parser)
{
    if (parser->base->has_query) {
        buf_append_char(parser->out, '?');
        parser->query = copy(parser, parser->base->query);
        parser->has_query = true;
    }
}

/* A reference that is empty or begins with a query, a fragment or a segment. `keep` says whether
 * a segment replaces the last one of the base's path or, with file's drive letters, all of it. */
static enum status
parse_against_base_path(struct parser *parser, bool keep)
{
    const bool segment =
        parser->rest.length > 0 && !starts_with(parser, '?') && !starts_with(parser, '#');
    parser->path.at = parser->out->length;
    if (!segment || keep) {
        buf_append_slice(parser->out, parser->base->path);
    }
    if (segment) {
        if (keep) {
            shorten_path(parser);
        }
        parse_segments(parser);
        end_path(parser);
        return STATUS_OK;
    }
    guard_path(parser);
    parser->path = written_since(parser, parser->path.at);
    if (!starts_with(parser, '?')) {
        copy_query(parser);
    }
    parse_query_and_fragment(parser);
    return STATUS_OK;
}

/* Relative and relative slash states; the scheme is the base's. */
static enum status
parse_relative(struct parser *parser)
{
    if (!starts_with_slash(parser)) {
        copy_authority(parser);
        return parse_against_base_path(parser, true);
    }
    drop(parser, 1);
    if (starts_with_slash(parser)) {
        drop(parser, 1);
        return parser->special ? parse_special_authority(parser) : parse_authority(parser);
    }
    copy_authority(parser);
    parser->path.at = parser->out->length;
    parse_segments(parser);
    end_path(parser);
    return STATUS_OK;
}

/* ---- file ---- */

static enum status
parse_file_host(struct parser *parser)
{
    size_t n = 0;
    while (n < parser->rest.length && !url_ends_host(parser->rest.at[n])) {
        n++;
    }
    const struct slice host = slice_of(parser->rest.at, n);
    parser->host.at = parser->out->length;
    if (url_is_drive_letter(host, false)) {
        parser->path.at = parser->out->length;
        parse_segments(parser);
        end_path(parser);
        return STATUS_OK;
    }
    drop(parser, n);
    if (n > 0) {
        TRY(write_host(parser, host));
        const struct slice name =
            slice_of(parser->out->data + parser->host.at, parser->host.length);
        if (slice_is(name, "localhost")) {
            parser->out->length = parser->host.at;
            parser->host.length = 0;
        }
    }
    return parse_path_start(parser);
}

static enum status
parse_file(struct parser *parser)
{
    const struct url *base = parser->base;
    const bool with_base = base != NULL && slice_is(base->scheme, "file");
    parser->has_host = true;
    buf_append_string(parser->out, "//");
    if (starts_with_slash(parser)) {
        drop(parser, 1);
        if (starts_with_slash(parser)) {
            drop(parser, 1);
            return parse_file_host(parser);
        }
        if (with_base) {
            parser->host = copy(parser, base->host);
        }
        parser->path.at = parser->out->length;
        if (with_base && !url_starts_with_drive_letter(parser->rest) && base->path.length >= 3 &&
            url_is_drive_letter(slice_of(base->path.at + 1, 2), true) &&
            (base->path.length == 3 || base->path.at[3] == '/')) {
            buf_append(parser->out, base->path.at, 3);
        }
        parse_segments(parser);
        end_path(parser);
        return STATUS_OK;
    }
    if (with_base) {
        parser->host = copy(parser, base->host);
        return parse_against_base_path(parser, !url_starts_with_drive_letter(parser->rest));
    }
    parser->path.at = parser->out->length;
    parse_segments(parser);
    end_path(parser);
    return STATUS_OK;
}

/* ---- the whole ---- */

static enum status
parse_with_scheme(struct parser *parser, size_t scheme)
{
    const struct url *base = parser->base;
    const struct slice name = take(parser, scheme);
    drop(parser, 1);
    set_scheme(parser, name);
    if (parser->file) {
        return parse_file(parser);
    }
    if (parser->special) {
        const bool slashes = slice_starts(parser->rest, SLICE("//"));
        const bool same = base != NULL && slice_equal_nocase(base->scheme, name);
        return same && !slashes ? parse_relative(parser) : parse_special_authority(parser);
    }
    if (slice_starts(parser->rest, SLICE("//"))) {
        drop(parser, 2);
        return parse_authority(parser);
    }
    if (starts_with(parser, '/')) {
        return parse_path_start(parser);
    }
    parse_opaque_path(parser);
    end_path(parser);
    return STATUS_OK;
}

static enum status
parse_without_scheme(struct parser *parser)
{
    if (parser->base == NULL) {
        return bad(parser, "no scheme, and no base to resolve against");
    }
    if (parser->base->opaque_path && !starts_with(parser, '#')) {
        return bad(parser, "relative to a base that has no hierarchy");
    }
    set_scheme(parser, parser->base->scheme);
    if (parser->base->opaque_path) {
        parser->opaque_path = true;
        parser->path = copy(parser, parser->base->path);
        copy_query(parser);
        parse_query_and_fragment(parser);
        return STATUS_OK;
    }
    return parser->file ? parse_file(parser) : parse_relative(parser);
}

static struct slice
slice_at(const struct parser *parser, struct span span)
{
    return span.length > 0 ? slice_of(parser->out->data + span.at, span.length) : SLICE("");
}

static void
publish(const struct parser *parser, struct url *url)
{
    *url = (struct url){
        .scheme = slice_at(parser, parser->scheme),
        .username = slice_at(parser, parser->username),
        .password = slice_at(parser, parser->password),
        .host = slice_at(parser, parser->host),
        .path = slice_at(parser, parser->path),
        .query = slice_at(parser, parser->query),
        .fragment = slice_at(parser, parser->fragment),
        .port = parser->port,
        .has_host = parser->has_host,
        .has_query = parser->has_query,
        .has_fragment = parser->has_fragment,
        .opaque_path = parser->opaque_path,
        .href = slice_of(parser->out->data + parser->start, parser->out->length - parser->start),
    };
}

enum status
url_parse(struct slice input, const struct url *base, struct buf *memory, struct url *url,
          struct reason *why)
{
    struct buf clean;
    buf_init(&clean, input.length + 1);
    struct parser parser = {
        .rest = url_without_newlines(url_trim(input), &clean),
        .base = base,
        .out = memory,
        .start = memory->length,
        .why = why,
        .port = -1,
    };
    const size_t scheme = url_scheme_length(parser.rest);
    enum status status =
        scheme > 0 ? parse_with_scheme(&parser, scheme) : parse_without_scheme(&parser);
    if (status == STATUS_OK && memory->overflowed) {
        status = status_fail(why, STATUS_LIMIT, "URL is longer than %zu bytes", memory->maximum);
    }
    if (status == STATUS_OK) {
        publish(&parser, url);
    } else if (memory->data != NULL && memory->length > parser.start) {
        memory->length = parser.start;
        memory->data[memory->length] = '\0';
    }
    buf_release(&clean);
    return status;
}
