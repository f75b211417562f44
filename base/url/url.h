/* URIs two ways, and names of hosts. No I/O.
 *
 * RDF: RFC 3986 strict resolution of IRIs, nothing normalised (RDF 1.1 compares IRIs by
 * characters). HTML links: the WHATWG URL standard (https://url.spec.whatwg.org/), which
 * repairs what people write. Crawl keys: WHATWG parse, http(s) only, fragment off; for dumps also
 * ftp(s).
 * IDN by ICU (UTS #46 non-transitional, docs/URLS.md), registrable domains by libpsl. Thread-safe.
 */
#ifndef BASE_URL_URL_H
#define BASE_URL_URL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"
#include "base/status.h"

enum { URL_MAXIMUM = 8192 }; /* bytes of a URL that is crawled; longer is STATUS_LIMIT */

/* ---- RFC 3986 (IRIs of RDF) ---- */

/* The five components of RFC 3986 appendix B; at == NULL means "undefined". */
struct iri_parts {
    struct slice scheme, authority, path, query, fragment;
};
void iri_split(struct slice iri, struct iri_parts *parts);
/* Absolute: a scheme, and no character that an IRI must not have (RFC 3987; N-Triples IRIREF). */
bool iri_is_absolute(struct slice iri);
/* Section 5.2, strict. Appends the target to out. BAD_INPUT when the reference is relative and
 * the base has no scheme. A path that would read as an authority is kept apart by "/.". */
enum status iri_resolve(struct slice base, struct slice reference, struct buf *out,
                        struct reason *why);

/* ---- WHATWG ---- */

struct url {
    struct slice scheme, username, password, host, path, query, fragment;
    int32_t port; /* -1: none or the scheme's default */
    bool has_host, has_query, has_fragment, opaque_path;
    struct slice href; /* the serialised URL; the other slices point into the same buffer */
};

/* Parses input against base (NULL for none); result in *url, its bytes appended to memory
 * (which must outlive *url and not be appended to meanwhile). BAD_INPUT on failure. */
enum status url_parse(struct slice input, const struct url *base, struct buf *memory,
                      struct url *url, struct reason *why);

/* Makes the crawl key of a document: the WHATWG serialisation of an http or https URL without
 * fragment and credentials. UNSUPPORTED for other schemes, LIMIT past URL_MAXIMUM. */
enum status url_crawl_key(struct slice input, struct slice base, struct buf *out,
                          struct reason *why);
/* Makes the key of a dump by FTP from an absolute ftp or ftps URL; documents have no such keys. */
enum status url_ftp_key(struct slice input, struct buf *out, struct reason *why);
bool url_is_ftp(struct slice key);
/* "http://host:port" without default ports: the robots origin, and the fetch lane's name.
 * For these keys only. Points into url. */
struct slice url_origin(struct slice crawl_key);
struct slice url_host(struct slice crawl_key);       /* "example.org", "[::1]"; no port */
struct slice url_path_query(struct slice crawl_key); /* "/path?query" */
/* The registrable domain by the Public Suffix List; the host itself for addresses and suffixes. */
struct slice url_registrable_domain(struct slice host);
bool url_host_is_address(struct slice host);

/* Appends a value of a query string or a form: all but unreserved characters (RFC 3986,
 * section 2.3) percent-encoded. */
void url_append_value(struct buf *out, struct slice value);

#endif
