/* Crawl keys: what the crawler calls a document, and the host part of it.
 *
 * A key is the WHATWG serialisation without credentials and fragment, brought to RFC 3986's form
 * where the URL standard leaves more than one spelling (section 6.2.2: hexadecimal digits upper
 * case, unreserved characters decoded) or characters that no IRI may have ("|", "[", "%" without
 * digits, ...), because a key is also the name of a graph. A host's final dot goes: it would make
 * a second lane to the same server. */
#include <libpsl.h>

#include "base/ascii.h"
#include "base/url/url.h"
#include "base/url/url_percent.h"
#include "base/url/url_text.h"

static bool
is_unreserved(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

void
url_append_value(struct buf *out, struct slice value)
{
    for (size_t i = 0; i < value.length; i++) {
        const unsigned char c = (unsigned char)value.at[i];
        if (is_unreserved(c)) {
            buf_append_char(out, (char)c);
        } else {
            url_append_percent(out, c);
        }
    }
}

static void
append_normalised(struct buf *out, struct slice part)
{
    /* Escapes, and what no IRI may have. */
    static const bool looked_at[256] = {
        [0] = true,   ['%'] = true, ['"'] = true, ['<'] = true,  ['>'] = true,
        ['['] = true, [']'] = true, ['^'] = true, ['\\'] = true, ['`'] = true,
        ['{'] = true, ['|'] = true, ['}'] = true};
    size_t plain = 0; /* from there on nothing was looked at */
    for (size_t i = 0; i < part.length; i++) {
        const unsigned char c = (unsigned char)part.at[i];
        if (!looked_at[c]) {
            continue;
        }
        const int high = i + 2 < part.length ? ascii_hex_value(part.at[i + 1]) : -1;
        const int low = i + 2 < part.length ? ascii_hex_value(part.at[i + 2]) : -1;
        buf_append(out, part.at + plain, i - plain);
        if (c == '%' && high >= 0 && low >= 0) {
            const unsigned char decoded = (unsigned char)(high << 4 | low);
            if (is_unreserved(decoded)) {
                buf_append_char(out, (char)decoded);
            } else {
                url_append_percent(out, decoded);
            }
            i += 2;
        } else {
            url_append_percent(out, c);
        }
        plain = i + 1;
    }
    buf_append(out, part.at + plain, part.length - plain);
}

static enum status
write_key(const struct url *url, struct buf *out, struct reason *why)
{
    struct slice host = url->host;
    for (size_t i = 0; i < host.length; i++) {
        const char c = host.at[i];
        if (host.at[0] != '[' && (c == '"' || c == '`' || c == '{' || c == '}')) {
            return status_fail(why, STATUS_BAD_INPUT, "\"%c\" in a host name", c);
        }
    }
    if (host.length > 1 && host.at[host.length - 1] == '.') {
        host.length--;
    }
    if (host.at[0] == '.' || host.at[host.length - 1] == '.' ||
        slice_find_slice(host, SLICE("..")) < host.length) {
        return status_fail(why, STATUS_BAD_INPUT, "an empty label in a host name");
    }
    buf_append_slice(out, url->scheme);
    buf_append_string(out, "://");
    buf_append_slice(out, host);
    if (url->port >= 0) {
        url_append_port(out, url->port);
    }
    append_normalised(out, url->path);
    if (url->has_query) {
        buf_append_char(out, '?');
        append_normalised(out, url->query);
    }
    return STATUS_OK;
}

/* Appends the key of a URL that parse has read; memory holds what it points to. */
static enum status
append_key(const struct url *url, struct buf *out, struct reason *why)
{
    const size_t start = out->length;
    enum status status = write_key(url, out, why);
    if (status == STATUS_OK && (out->overflowed || out->length - start > URL_MAXIMUM)) {
        status = status_fail(why, STATUS_LIMIT, "URL is longer than %d bytes", URL_MAXIMUM);
    }
    if (status != STATUS_OK && out->data != NULL) {
        out->length = start;
        out->data[start] = '\0';
    }
    return status;
}

static enum status
refuse_scheme(struct slice scheme, struct reason *why)
{
    return status_fail(why, STATUS_UNSUPPORTED, "scheme \"%.*s\" is not crawled",
                       (int)(scheme.length < 40 ? scheme.length : 40), scheme.at);
}

/* So that nothing of the base is used. */
static bool
is_absolute(struct slice input)
{
    input = url_trim(input);
    return slice_starts_nocase(input, SLICE("http://")) ||
           slice_starts_nocase(input, SLICE("https://"));
}

enum status
url_crawl_key(struct slice input, struct slice base, struct buf *out, struct reason *why)
{
    struct buf memory;
    struct buf base_memory;
    struct url url = {0};
    struct url base_url;
    /* The key may be shorter than what is read (credentials, fragment, escapes). */
    buf_init(&memory, (size_t)URL_MAXIMUM * 8);
    buf_init(&base_memory, (size_t)URL_MAXIMUM * 8);
    enum status status = STATUS_OK;
    if (input.length > (size_t)URL_MAXIMUM * 2) {
        status = status_fail(why, STATUS_LIMIT, "URL of %zu bytes", input.length);
    }
    const bool relative = base.length > 0 && !is_absolute(input);
    if (status == STATUS_OK && relative) {
        status = url_parse(base, NULL, &base_memory, &base_url, why);
    }
    if (status == STATUS_OK) {
        status = url_parse(input, relative ? &base_url : NULL, &memory, &url, why);
    }
    if (status == STATUS_OK && !slice_is(url.scheme, "http") && !slice_is(url.scheme, "https")) {
        status = refuse_scheme(url.scheme, why);
    }
    if (status == STATUS_OK) {
        status = append_key(&url, out, why);
    }
    buf_release(&base_memory);
    buf_release(&memory);
    return status;
}

/* The URL standard has no rules for ftps: it is read as https is, so that hosts and paths come out
 * as those of ftp do, and its own port is the one left out. */
enum status
url_ftp_key(struct slice input, struct buf *out, struct reason *why)
{
    enum { FTPS_PORT = 990 };
    struct buf memory, text;
    struct url url;
    const size_t colon = slice_find(input, ':');
    const bool secure = slice_equal_nocase(slice_of(input.at, colon), SLICE("ftps"));
    buf_init(&memory, (size_t)URL_MAXIMUM * 8);
    buf_init(&text, (size_t)URL_MAXIMUM * 2);
    buf_append_slice(&text, secure ? SLICE("https") : slice_of(input.at, colon));
    buf_append_slice(&text, slice_of(input.at + colon, input.length - colon));
    enum status status = text.overflowed
                             ? status_fail(why, STATUS_LIMIT, "URL of %zu bytes", input.length)
                             : url_parse(buf_slice(&text), NULL, &memory, &url, why);
    if (status == STATUS_OK && !secure && !slice_is(url.scheme, "ftp")) {
        status = refuse_scheme(url.scheme, why);
    }
    if (status == STATUS_OK && secure) {
        url.scheme = SLICE("ftps");
        url.port = url.port == FTPS_PORT ? -1 : url.port;
    }
    if (status == STATUS_OK) {
        status = append_key(&url, out, why);
    }
    buf_release(&text);
    buf_release(&memory);
    return status;
}

bool
url_is_ftp(struct slice key)
{
    return slice_starts(key, SLICE("ftp:")) || slice_starts(key, SLICE("ftps:"));
}

/* Finds where the host begins: after "http://" or "https://". */
static size_t
host_start(struct slice key)
{
    const size_t colon = slice_find(key, ':');
    return colon + 3 <= key.length ? colon + 3 : key.length;
}

static size_t
authority_end(struct slice key)
{
    size_t i = host_start(key);
    while (i < key.length && key.at[i] != '/' && key.at[i] != '?') {
        i++;
    }
    return i;
}

struct slice
url_origin(struct slice crawl_key)
{
    return slice_of(crawl_key.at, authority_end(crawl_key));
}

struct slice
url_host(struct slice crawl_key)
{
    const size_t start = host_start(crawl_key);
    size_t end = authority_end(crawl_key);
    for (size_t i = end; i > start && crawl_key.at[i - 1] != ']'; i--) {
        if (crawl_key.at[i - 1] == ':') {
            end = i - 1;
            break;
        }
    }
    return slice_of(crawl_key.at + start, end - start);
}

struct slice
url_path_query(struct slice crawl_key)
{
    const size_t end = authority_end(crawl_key);
    return slice_of(crawl_key.at + end, crawl_key.length - end);
}

bool
url_host_is_address(struct slice host)
{
    size_t dots = 0;
    if (host.length > 0 && host.at[0] == '[') {
        return true;
    }
    for (size_t i = 0; i < host.length; i++) {
        if (host.at[i] == '.') {
            dots++;
        } else if (host.at[i] < '0' || host.at[i] > '9') {
            return false;
        }
    }
    return dots == 3;
}

struct slice
url_registrable_domain(struct slice host)
{
    char text[256];
    if (host.length == 0 || host.length >= sizeof text || url_host_is_address(host)) {
        return host;
    }
    memcpy(text, host.at, host.length);
    text[host.length] = '\0';
    const char *domain = psl_registrable_domain(psl_builtin(), text);
    return domain == NULL
               ? host
               : slice_of(host.at + (domain - text), host.length - (size_t)(domain - text));
}
