/* A record is what is known of a URI or a host: typed fields with small numbers. See FORMAT.md.
 *
 * A put merges an update into the stored record: fields given replace the stored ones, cleared
 * ones go, others stay. An update with an older GENERATION than the record's is dropped. DEPTH
 * keeps the smaller value, with its VIA; SITEMAP_SEEN and LINK_SEEN keep the smaller value;
 * ATTEMPTS is a bounded, sorted set of lines, which therefore begin with their time.
 * Applying an update twice is the same as once.
 */
#ifndef METASTORE_RECORD_H
#define METASTORE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/codec.h"
#include "base/slice.h"

enum meta_kind { META_KIND_NUMBER, META_KIND_TEXT, META_KIND_TIME, META_KIND_URI };

/* tag number (never reused), NAME, kind. Documents 1..99, hosts 100..199. Numbers are part
 * of the format. */
#define META_FIELD_MAP(X)                                                                          \
    X(1, GENERATION, NUMBER)                                                                       \
    X(2, STATE, TEXT)  /* fetched, sliced, failed, denied, redirected, unknown, broken, indexed,   \
                          gone, noindex, covered */                                                \
    X(3, REASON, TEXT) /* of the state, for people */                                              \
    X(4, DEPTH, NUMBER)                                                                            \
    X(5, VIA, URI)                                                                                 \
    X(6, FETCHED, TIME)                                                                            \
    X(7, FETCH_MS, NUMBER)                                                                         \
    X(8, HTTP_STATUS, NUMBER)                                                                      \
    X(9, HTTP_VERSION, TEXT)                                                                       \
    X(10, REQUEST_HEADERS, TEXT)  /* as sent, lines separated by CR LF */                          \
    X(11, RESPONSE_HEADERS, TEXT) /* as received */                                                \
    X(12, CONTENT_TYPE, TEXT)     /* the header's value */                                         \
    X(13, ETAG, TEXT)                                                                              \
    X(14, LAST_MODIFIED, TEXT)                                                                     \
    X(15, REDIRECT_TO, URI)                                                                        \
    X(16, REDIRECT_FROM, URI)                                                                      \
    X(17, IP, TEXT)                                                                                \
    X(18, PAYLOAD_BYTES, NUMBER)                                                                   \
    X(19, PAYLOAD_DIGEST, TEXT) /* sha256:hex */                                                   \
    X(20, TRUNCATED, TEXT)      /* which limit cut the body: length, time, ... */                  \
    X(21, WARC_NODE, TEXT)                                                                         \
    X(22, WARC_FILE, TEXT)                                                                         \
    X(23, WARC_OFFSET, NUMBER)                                                                     \
    X(24, WARC_LENGTH, NUMBER)                                                                     \
    X(25, WARC_RECORD_ID, TEXT)                                                                    \
    X(26, CONTENT, NUMBER) /* the generation whose answer detect, transform, index, extract got */ \
    X(27, STATED, NUMBER)  /* the generation that STATE and REASON tell of; the store sets it */   \
    X(28, MOVED, TEXT)     /* of an update, never stored: which archived record has a new place */ \
    X(30, DETECTED_TYPE, TEXT)                                                                     \
    X(31, DETECTED_BY, TEXT) /* the evidence that decided */                                       \
    X(32, DETECTED, TIME)                                                                          \
    X(40, TRANSFORM, TEXT) /* names and versions, separated by blanks */                           \
    X(41, TRANSFORMED, TIME)                                                                       \
    X(42, TRANSFORM_MS, NUMBER)                                                                    \
    X(43, TRANSFORM_PROBLEMS, TEXT) /* first problems with line numbers */                         \
    X(44, CONVERSION_NODE, TEXT)                                                                   \
    X(45, CONVERSION_FILE, TEXT)                                                                   \
    X(46, CONVERSION_OFFSET, NUMBER)                                                               \
    X(47, CONVERSION_LENGTH, NUMBER)                                                               \
    X(48, CONVERSION_RECORD_ID, TEXT)                                                              \
    X(49, QUADS, NUMBER)                                                                           \
    X(50, INDEXED, TIME)                                                                           \
    X(51, QUADS_ADDED, NUMBER)                                                                     \
    X(52, QUADS_REMOVED, NUMBER)                                                                   \
    X(53, GRAPH_DIGEST, TEXT)              /* sha256 of the canonical graph */                     \
    X(54, TRANSFORM_QUADS, TEXT)           /* "html 12 jsonld 30": what each transform said */     \
    X(55, TRANSFORM_REPAIRS, TEXT)         /* bad input that was understood, lines with counts */  \
    X(56, TRANSFORM_PROBLEM_COUNT, NUMBER) /* all, also those not in TRANSFORM_PROBLEMS */         \
    X(57, TRANSFORM_MEMORY, NUMBER)        /* bytes the worker had taken at the document's end */  \
    X(58, TRANSFORM_RESOURCES, TEXT)       /* other documents it was made with, a URI each line */ \
    X(59, TRANSFORM_ADVICE, TEXT)          /* what publishers should mend, lines */                \
    X(60, EXTRACTED, TIME)                                                                         \
    X(61, LINKS_FOUND, NUMBER)                                                                     \
    X(62, LINKS_ACCEPTED, NUMBER)                                                                  \
    X(63, DUMP, URI)     /* the dump that it was sliced from, when it was not fetched itself */    \
    X(64, SLICING, TEXT) /* how: "cbd" */                                                          \
    X(65, VISITED, TIME) /* when it was last known whether it had changed */                       \
    X(66, DUE, TIME)     /* of the next visit; recrawling: docs/RECRAWL.md */                      \
    X(67, VISITS, NUMBER)                                                                          \
    X(68, VISITS_CHANGED, NUMBER)    /* of those after the first: that found a change */           \
    X(69, CHANGED, TIME)             /* when a change was last found */                            \
    X(70, ATTEMPTS, TEXT)            /* history: one line per attempt, time stage outcome */       \
    X(71, RATE_CHANGES, NUMBER)      /* thousandths: what is believed of its rate of change */     \
    X(72, RATE_SECONDS, NUMBER)      /* thousandths of seconds: the same */                        \
    X(73, WORTH_MS, NUMBER)          /* threshold by which the next visit was set */               \
    X(74, FAILURES, NUMBER)          /* visits in a row without an answer that tells */            \
    X(75, GONE_SINCE, TIME)          /* first 404 or 410 */                                        \
    X(76, CLAIM, TEXT)               /* what was said of the last change: held, broken, ... */     \
    X(80, ROBOTS_TAGS, TEXT)         /* what the header and the page say to robots, lines */       \
    X(81, NOFOLLOW, NUMBER)          /* 1: its links are not followed */                           \
    X(82, LINKS_TRAPPED, NUMBER)     /* links that looked like traps */                            \
    X(90, PUBLISHER, URI)            /* the authority that its Semantic Sitemap names */           \
    X(91, EXECUTION, TEXT)           /* of a dataset: what is done, datasets/execution.h */        \
    X(92, DATASET_DOCUMENTS, NUMBER) /* of a dataset: documents cut out of its dumps */            \
    X(93, DATASET_REQUESTS, NUMBER)  /* of a dataset: requests for dumps and samples; of           \
                                        an endpoint: queries */                                    \
    X(94, DATASET_DUMPED, TIME) /* of a dataset: the youngest of the dumps that were sliced */     \
    X(95, FTP_REPLY, NUMBER)    /* what was fetched by FTP: its last reply */                      \
    X(100, ROBOTS_FETCHED, TIME)                                                                   \
    X(101, ROBOTS_STATUS, NUMBER) /* HTTP status, or as if so; 0: unreachable */                   \
    X(102, ROBOTS_BODY, TEXT)     /* first 500 KiB */                                              \
    X(103, ROBOTS_EXPIRES, TIME)                                                                   \
    X(104, SITEMAPS, TEXT) /* URIs, a line each */                                                 \
    X(105, CRAWL_DELAY_MS, NUMBER)                                                                 \
    X(106, HOST_IP, TEXT)                                                                          \
    X(110, ROBOTS_FAILURE, TEXT)                                                                   \
    X(111, HOST_PERIOD, NUMBER)    /* seconds between changes of its documents, geometric mean */  \
    X(112, HOST_DOCUMENTS, NUMBER) /* that went into it, up to a bound */                          \
    X(113, CLAIMS_HELD, NUMBER)    /* lastmod of its sitemaps that held, and that did not */       \
    X(114, CLAIMS_BROKEN, NUMBER)                                                                  \
    X(115, DESCRIPTIONS, TEXT)   /* URIs of Semantic Sitemaps that speak of it, lines; a set */    \
    X(116, COVER, TEXT)          /* lines: prefix, blank, the dataset's execution; =URI */         \
    X(117, AUTHORITIES, TEXT)    /* lines: URI space, blank, authority */                          \
    X(118, DATASETS, TEXT)       /* the executions of its plan, a URI each line */                 \
    X(119, PLAN, TEXT)           /* the plan in words, a line for each dataset */                  \
    X(129, ROBOTS_SIGNALS, TEXT) /* Content-Signal and the like in robots.txt, lines */            \
    X(140, SITEMAP, URI)         /* of a sighting, docs/SITEMAPS.md: the sitemap that lists it */  \
    X(141, SITEMAP_SEEN, TIME)   /* the same: when a sitemap first listed it */                    \
    X(142, LINK_SEEN, TIME)      /* when a link first led to it */                                 \
    X(143, SITEMAP_PRIORITY, NUMBER) /* 0..100 */                                                  \
    X(144, SITEMAP_LASTMOD, TIME)                                                                  \
    X(145, SITEMAP_CHANGEFREQ, TEXT)                                                               \
    X(146, SITEMAP_FACTS, TEXT)  /* images, videos, news: lines */                                 \
    X(147, SITEMAP_HELD, TEXT)   /* why it waits in the slow class */                              \
    X(148, SITEMAP_LISTED, TIME) /* when its entry last said something new */                      \
    X(149, LINK_RANK, NUMBER)    /* per mille of the host's URLs that rank no higher: PageRank */  \
    X(150, SKETCH, TEXT)         /* of a document: by which near duplicates are known, hex */      \
    X(151, SITEMAP_KIND, TEXT)   /* of a sitemap: urlset, index, text, rss, atom */                \
    X(152, SITEMAP_ENTRIES, NUMBER)                                                                \
    X(153, SITEMAP_REFUSED, NUMBER) /* entries of other hosts */                                   \
    X(154, SITEMAP_OUTSIDE, NUMBER) /* entries outside of its folder */                            \
    X(155, SITEMAP_NEW, NUMBER)     /* entries that no sitemap listed before, last time */         \
    X(156, SITEMAP_TRUNCATED, TEXT) /* which limit cut it */                                       \
    X(157, SITEMAP_FOR, TEXT) /* of a sitemap: origins whose robots.txt names it, lines; a set */  \
    X(158, PRIORITY_RANK, NUMBER) /* the same of PriorityRank */                                   \
    X(160, SITEMAP_PERIOD, TIME)  /* of a host: since when SITEMAP_SUBMITTED is counted */         \
    X(161, SITEMAP_SUBMITTED, NUMBER)                                                              \
    X(162, SITEMAP_EXCESS, NUMBER)  /* entries over the budget, ever */                            \
    X(163, SITEMAP_SAMPLED, NUMBER) /* of a host: documents that sitemaps list, looked at */       \
    X(164, SITEMAP_USEFUL, NUMBER)  /* that brought something new */                               \
    X(165, LINK_SAMPLED, NUMBER)    /* the same of those that only links lead to */                \
    X(166, LINK_USEFUL, NUMBER)                                                                    \
    X(167, SITEMAP_SHARE, NUMBER)  /* of 256 fetches so many are of sitemaps */                    \
    X(168, UNCHANGED_HELD, NUMBER) /* lastmod that said unchanged, and was right; was wrong */     \
    X(169, UNCHANGED_BROKEN, NUMBER)                                                               \
    X(170, FREQUENCY_HELD, NUMBER) /* changefreq that foretold what was found, and that did not */ \
    X(171, FREQUENCY_BROKEN, NUMBER)                                                               \
    X(172, SCHEMAMAPS, TEXT)    /* Schemamap lines of robots.txt: URIs, lines */                   \
    X(173, SITEMAP_READ, TIME)  /* when a sitemap of the host was last read, or had not changed */ \
    X(174, SITEMAP_GUESS, TEXT) /* what /sitemap.xml is that nobody names: "found", or why not */  \
    X(175, SITEMAP_GUESS_DEPTH, NUMBER) /* smallest depth at which it was asked for */             \
    X(176, SITEMAP_FILES, NUMBER)   /* of a host: sitemaps that its indexes had fetched, ever */   \
    X(177, SITEMAP_SUBMITTER, TEXT) /* of a sitemap: the origin in whose name it is read */        \
    X(178, SITEMAP_NESTING, NUMBER) /* the same: indexes above it */                               \
    X(179, SCOPE_REFUSED,                                                                          \
      NUMBER) /* what of it was out of scope: 1 sitemaps of its host, 2 entries */

enum meta_field {
#define X(number, name, kind) META_##name = number,
    META_FIELD_MAP(X)
#undef X
};

const char *meta_field_name(enum meta_field field);    /* "http_status"; NULL if unknown */
enum meta_kind meta_field_kind(enum meta_field field); /* unknown: TEXT */

/* A record is encoded fields in ascending tag order; it can be read in place.
 * Times are wall ms. A value that is longer than its field allows is cut, never refused. */
enum {
    META_VALUE_MAXIMUM = 512 << 10,
    META_FIELDS_MAXIMUM = 256, /* in one record or update */
    META_TAG_MAXIMUM = 65535,
    META_KEY_MAXIMUM = 8193,
    META_ATTEMPTS_LINES = 64,
    META_ATTEMPTS_LINE_BYTES = 255,
    META_DESCRIPTIONS_LINE_BYTES = 2048
};

/* An update being built. key: "u" + crawl URI, "h" + origin, or "s" + crawl URI: when and where it
 * was seen, and what sitemaps say of it, also while it is not fetched. */
struct meta_update {
    struct buf fields; /* encoded, any order; the store sorts */
};
void meta_update_init(struct meta_update *update);
void meta_update_release(struct meta_update *update);
void meta_update_reset(struct meta_update *update);
void meta_set_number(struct meta_update *update, enum meta_field field, uint64_t value);
/* An empty value clears the field. */
void meta_set_text(struct meta_update *update, enum meta_field field, struct slice value);
/* Removes a stored field. A later set in the same update wins. */
void meta_clear(struct meta_update *update, enum meta_field field);
struct slice meta_update_fields(const struct meta_update *update);

/* Reading a stored record: */
struct meta_value {
    enum meta_field field; /* a tag of a newer version has no meta_field_name */
    bool is_text;          /* which of the two follows */
    uint64_t number;       /* NUMBER, TIME */
    struct slice text;     /* TEXT, URI */
};
/* *at starts at 0. False at the end or at damage. */
bool meta_record_next(struct slice record, size_t *at, struct meta_value *value);
bool meta_record_number(struct slice record, enum meta_field field, uint64_t *number);
/* Returns the number, or 0 when the record has none. */
uint64_t meta_record_count(struct slice record, enum meta_field field);
bool meta_record_text(struct slice record, enum meta_field field, struct slice *text);

/* Two to META_KEY_MAXIMUM bytes that start with 'u', 'h' or 's'. */
bool meta_key_valid(struct slice key);
bool meta_record_valid(struct slice record);
bool meta_update_valid(struct slice fields);

/* record + update -> *merged (reset first). */
enum meta_merged {
    META_MERGED,    /* *merged is the new record */
    META_UNCHANGED, /* nothing to write: equal, or the update is older (counted as stale) */
    META_STALE,
    META_DAMAGED_RECORD,
    META_DAMAGED_UPDATE
};
enum meta_merged meta_merge(struct slice record, struct slice fields, struct buf *merged);

#endif
