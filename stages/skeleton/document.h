/* A document is what one stage hands to the next beside the URI: the `data` of a job.
 *
 * It travels inside the queue and not only in the metadata store, because a stage's output
 * must be committed together with the end of its input: whoever takes the job then sees
 * exactly the bytes that its predecessor meant, also when the same URI was fetched twice.
 * Versioned record: u8 version 1, then fields as varint tag, varint length, bytes.
 */
#ifndef STAGES_SKELETON_DOCUMENT_H
#define STAGES_SKELETON_DOCUMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"

/* Ends the URI under which the queue and the metadata store know a document that was fetched only
 * because another needs it. No crawl key has a fragment, so the two never meet: what is crawled
 * does not depend on who needed what. */
#define RESOURCE_FRAGMENT "#resource"
/* End the URIs of jobs that consider again what an older scope refused of sitemaps: those of a
 * host, and the entries of one (stages/fetch/refused_sitemaps.c). */
#define SITEMAPS_FRAGMENT "/#sitemaps"
#define LISTING_FRAGMENT "#listing"
/* META_SCOPE_REFUSED: sitemaps of its host, entries of it, the host's WELL_KNOWN_VOID. */
enum scope_refused { REFUSED_SITEMAPS = 1, REFUSED_ENTRIES = 2, REFUSED_VOID = 4 };
#define WELL_KNOWN_VOID "/.well-known/void"

/* A WARC record somewhere in the cluster. file empty: none. */
struct document_record {
    struct slice node; /* name in cluster.conf */
    struct slice file; /* name in that node's DIR/warc */
    uint64_t offset;
    uint64_t length; /* bytes in the file (compressed) */
    struct slice id; /* WARC-Record-ID without <> */
};

enum visit_claim { CLAIM_NONE, CLAIM_CHANGED, CLAIM_UNCHANGED };

/* Recrawling: what was known when the document was asked for; docs/RECRAWL.md. */
struct document_visit {
    uint64_t threshold_ms; /* threshold for the next visit; 0: none is to be scheduled */
    uint64_t elapsed_ms;   /* since the visit before */
    uint64_t changes_milli, seconds_milli; /* struct recrawl_estimate, in thousandths */
    uint64_t visits, changed;              /* before this one; how many found a change */
    uint64_t failures;                     /* in a row, before */
    uint64_t fresh_seconds;                /* for so long it is fresh, its server says */
    uint64_t claimed;                      /* enum visit_claim: what its sitemap said */
    uint64_t named_seconds;                /* the period that its changefreq names; 0: none */
};

struct document {
    uint16_t http_status;
    struct slice content_type;         /* header's value as received */
    struct slice link_header;          /* Link header values joined by ", " */
    struct slice type;                 /* detected media type, "application/rdf+xml" */
    struct slice charset;              /* of the Content-Type; empty: none given */
    struct document_record response;   /* what fetch archived */
    struct document_record conversion; /* what transform archived */
    uint64_t fetched_ms;               /* wall time */
    uint64_t quads;                    /* in the conversion */
    bool removed;                      /* the document is gone: its graph is to be emptied */
    bool broken;                       /* too malformed to say anything: its graph is empty */
    bool nofollow;                     /* its links are not to be followed */
    bool mapped; /* its host has sitemaps: first links inside the host are noted */
    struct document_visit visit;
    uint64_t claimed_ms; /* of a sitemap's entry: when it was changed, it says; 0: nothing */
    struct slice change_frequency; /* the same: "daily" */
    uint64_t waiting_ms;           /* wall time since which it waits for others; 0: does not */
    uint64_t nesting;              /* of a sitemap: indexes above it */
    /* Updates of stages before, in order and encoded, that are not in the metadata store yet.
     * document_encode leaves them out. */
    struct slice said;
    bool
        unverified; /* a stranger named it: when it fails and nothing is known of it, that is all */
};

void document_encode(struct buf *out, const struct document *document);
/* Adds to an encoded document what stages before said of it, and another update, if any. */
void document_say(struct buf *encoded, struct slice before, struct slice fields);
/* Takes the next update out of *said; false: there is none. */
bool document_said(struct slice *said, struct slice *fields);
/* Slices point into bytes. */
bool document_decode(struct slice bytes, struct document *document);

#endif
