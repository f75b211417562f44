/* Unpacks and parses for fetch what strangers wrote, in sandboxed workers
 * (stages/sandbox/worker.h): the fetch process holds connections, the archive and
 * fetch.credentials, and never gives the bytes of a server to libxml2 or to an unpacker. Workers
 * answer with plain records, which are checked like any other message before they are believed.
 *
 *   content codings   robots.txt
 *   sitemaps          whether it is one, its entries, whether it describes datasets
 *   descriptions      Semantic Sitemaps, and RDF that describes datasets, for a host's plan
 *   pages             what a SPARQL endpoint answers
 *
 * robots.txt itself, without a coding, is read in the process: lines of text, by a reader of our
 * own that allocates nothing by what they say. One thread.
 */
#ifndef STAGES_FETCH_PARSER_FETCH_PARSER_H
#define STAGES_FETCH_PARSER_FETCH_PARSER_H

#include "base/options/opt.h"
#include "datasets/description.h"
#include "datasets/harvest.h"
#include "datasets/sitemap.h"
#include "stages/sandbox/worker.h"

extern const struct worker_program fetch_parser_program;

enum parser_verb {
    PARSER_DECODE = 1,  /* undoes the coding; at most `most` bytes */
    PARSER_SITEMAP,     /* parsed_sitemap_decode */
    PARSER_DESCRIPTION, /* parsed_description_decode */
    PARSER_COUNT,       /* parsed_count */
    PARSER_PAGE         /* parsed_page_decode */
};

enum {
    PARSER_BYTES_MAXIMUM = 64 << 20, /* of what is parsed, and of what comes of it */
    PARSER_ENTRIES_BYTES = PARSER_BYTES_MAXIMUM - (64 << 10)
};

struct parser_request {
    enum parser_verb verb;
    struct slice uri;
    struct slice coding; /* Content-Encoding; empty: none */
    struct slice bytes;
    size_t most;    /* DECODE */
    bool named;     /* SITEMAP: it is said to be one; else only a sitemap's root makes it one */
    bool described; /* SITEMAP: looks whether it describes datasets, too */
    bool rdf;       /* DESCRIPTION: bytes are N-Quads */
    const struct execution *execution;       /* PAGE: its spaces */
    const struct harvest_position *position; /* PAGE */
};

struct fetch_parser;
struct fetch_http;
/* Starts the workers. Bytes that wait for a worker count with the bodies in flight of http; with
 * NULL they are not counted. */
enum status fetch_parser_open(struct fetch_parser **parser, struct fork_server *fork_server,
                              const struct opt_set *options, struct fetch_http *http,
                              struct reason *why);
/* Requests that are not answered end with CANCELLED. NULL is allowed. */
void fetch_parser_close(struct fetch_parser *parser);
/* For descriptor and process. */
struct worker_pool *fetch_parser_pool(const struct fetch_parser *parser);

/* reply lives until it returns. Statuses besides the parser's: LIMIT, TIMEOUT, SYSTEM when the
 * worker died, CANCELLED. */
typedef void fetch_parsed(void *context, enum status status, struct slice reply,
                          const struct reason *why);
/* Copies all of the request. done may be called from inside, when the request is too long. */
void fetch_parser_submit(struct fetch_parser *parser, const struct parser_request *request,
                         fetch_parsed *done, void *context);

/* ---- replies; false: malformed ---- */

struct parsed_sitemap {
    bool candidate; /* else it is none, and was not parsed */
    bool describes; /* it speaks of datasets, joined sitemaps or an authority */
    struct sitemap_result result;
    struct slice problem; /* why it is no sitemap, when kind is NONE */
    struct slice entries; /* for parsed_sitemap_next */
};
bool parsed_sitemap_decode(struct slice reply, struct parsed_sitemap *sitemap);
/* The next of the entries. False: there is none. */
bool parsed_sitemap_next(struct slice *rest, struct sitemap_entry *entry);

/* Copies into the arena. uri: the request's, which also says whose URIs it may speak of. */
bool parsed_description_decode(struct slice reply, struct slice uri, struct arena *arena,
                               struct description *description);

uint64_t parsed_count(struct slice reply);
/* page: harvest_page_init'ed. */
bool parsed_page_decode(struct slice reply, struct harvest_page *page);

#endif
