#include "stages/fetch/http/http_settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"

enum { HEADER_BYTES = 128 << 10 };
/* Prefers RDF. */
static const char ACCEPT[] =
    "application/n-quads, application/trig;q=0.95, text/turtle;q=0.95, "
    "application/n-triples;q=0.95, application/rdf+xml;q=0.95, application/ld+json;q=0.8, "
    "application/xhtml+xml;q=0.6, application/xml;q=0.5, text/html;q=0.5, */*;q=0.2";
/* For what is fetched only because a document needs it: JSON-LD contexts, stylesheets. */
static const char ACCEPT_RESOURCE[] =
    "application/ld+json, application/json;q=0.9, application/xslt+xml;q=0.8, "
    "application/xml;q=0.7, */*;q=0.2";

static char *
header_line(const char *name, const char *value)
{
    struct buf line;
    buf_init(&line, REQUEST_MAXIMUM);
    buf_printf(&line, "%s: %s", name, value);
    char *copy = memory_string(line.data ? line.data : "");
    buf_release(&line);
    return copy;
}

static void
append_header(struct http_settings *settings, const char *name, const char *value)
{
    char *line = header_line(name, value);
    settings->headers = curl_slist_append(settings->headers, line);
    free(line);
}

/* "host:port", "[v6]:port" or curl's own four parts, for all schemes or, after "https=", "http=" or
 * "ftp=", for one. An item of the other kind than one_scheme asks for is passed over. */
static void
add_connect_to(struct http_settings *settings, const char *item, bool one_scheme)
{
    static const char *const names[] = {"http=", "https=", "ftp="};
    int only = SCHEME_COUNT;
    char rule[1024];
    for (int i = 0; i < SCHEME_COUNT; i++) {
        only = strncmp(item, names[i], strlen(names[i])) == 0 ? i : only;
    }
    if ((only < SCHEME_COUNT) != one_scheme) {
        return;
    }
    item += one_scheme ? strlen(names[only]) : 0;
    unsigned colons = 0;
    for (const char *c = item; *c != '\0' && item[0] != '['; c++) {
        colons += *c == ':';
    }
    snprintf(rule, sizeof rule, "%s%s", colons >= 3 ? "" : "::", item);
    for (int i = 0; i < SCHEME_COUNT; i++) {
        if (!one_scheme || only == i) {
            settings->connect[i] = curl_slist_append(settings->connect[i], rule);
        }
    }
}

/* RFC 1635: who is anonymous leaves a mail address as password. */
static char *
anonymous(const char *from)
{
    struct buf text;
    buf_init(&text, REQUEST_MAXIMUM);
    buf_printf(&text, "anonymous:%s", from[0] != '\0' ? from : "anonymous@");
    char *copy = memory_string(text.data);
    buf_release(&text);
    return copy;
}

void
http_settings_open(struct http_settings *settings, const struct opt_set *options)
{
    const char *const *items;
    if (opt_string(options, "fetch.user_agent")[0] != '\0') {
        append_header(settings, "User-Agent", opt_string(options, "fetch.user_agent"));
    }
    append_header(settings, "Accept", ACCEPT);
    settings->accept_resource = header_line("Accept", ACCEPT_RESOURCE);
    append_header(settings, "Accept-Encoding", "gzip, deflate, br, zstd");
    if (opt_string(options, "fetch.from")[0] != '\0') {
        append_header(settings, "From", opt_string(options, "fetch.from"));
    }
    const size_t n = opt_list(options, "fetch.connect_to", &items);
    /* curl takes the first that fits, so what is said for one scheme goes first. */
    for (size_t i = 0; i < 2 * n; i++) {
        add_connect_to(settings, items[i % n], i < n);
    }
    settings->user_agent = memory_string(opt_string(options, "fetch.user_agent"));
    settings->anonymous = anonymous(opt_string(options, "fetch.from"));
    settings->ca_file = memory_string(opt_string(options, "fetch.ca_file"));
    settings->timeout_ms = (long)opt_duration_ms(options, "fetch.timeout");
    settings->connect_timeout_ms = (long)opt_duration_ms(options, "fetch.connect_timeout");
    settings->stall_seconds = (long)((opt_duration_ms(options, "fetch.patience") + 999) / 1000);
    settings->size = (size_t)opt_integer(options, "fetch.size");
    settings->header_size = HEADER_BYTES;
    settings->memory = (size_t)opt_integer(options, "fetch.memory");
    settings->http2 = opt_bool(options, "fetch.http2");
}

void
http_settings_release(struct http_settings *settings)
{
    curl_slist_free_all(settings->headers);
    for (int i = 0; i < SCHEME_COUNT; i++) {
        curl_slist_free_all(settings->connect[i]);
    }
    free(settings->user_agent);
    free(settings->anonymous);
    free(settings->accept_resource);
    free(settings->ca_file);
}
