/* Receipts of pings, in DIR/pings: what was asked for, by whom and when. What became of it is not
 * kept here: finding.h makes it of the records of queue and metadata store.
 *
 * Receipts stand one behind the other in files (docs/PING.md has their bytes); the number of a file
 * and a place in it are a part of a receipt's name, so nothing is kept in memory. The oldest file
 * goes when there are too many or its last receipt is too old. Thread-safe. */
#ifndef WEB_PING_RECEIPTS_H
#define WEB_PING_RECEIPTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"
#include "base/status.h"

enum { RECEIPT_NAME_SIZE = 33, RECEIPT_URIS_MOST = 10000 };

/* Tells how a ping came, and whether its sender has proved that he speaks for the host. The values
 * are stored. */
enum receipt_way { RECEIPT_POST, RECEIPT_XMLRPC, RECEIPT_INDEXNOW };
enum receipt_proof {
    PROOF_NONE,    /* nobody asked for one */
    PROOF_AWAITED, /* the key file is being fetched; the URIs wait for it */
    PROOF_GIVEN,   /* the key file has the key */
    PROOF_WRONG,   /* it has another, or there is none */
    PROOF_COUNT
};

struct receipt {
    uint64_t time_ms; /* wall time */
    enum receipt_way way;
    enum receipt_proof proof;
    struct slice sender;            /* address, for the operator */
    struct slice key, key_location; /* of IndexNow; key_location: a crawl key */
    struct slice uris;              /* crawl keys, a line each */
    size_t count;
};

struct receipts_limits {
    uint64_t file_bytes; /* a file that has so many is followed by another */
    unsigned files;      /* most */
    uint64_t age_ms;     /* receipts that are older go with their file */
};

struct receipts;

/* Makes nothing on disk yet. */
struct receipts *receipts_new(const char *directory, const struct receipts_limits *limits);
void receipts_free(struct receipts *receipts); /* NULL is allowed */

/* Durable when it returns OK. AGAIN: another process takes this directory's pings. */
enum status receipts_add(struct receipts *receipts, const struct receipt *receipt,
                         char name[RECEIPT_NAME_SIZE], struct reason *why);
/* Durable, too. */
enum status receipts_prove(struct receipts *receipts, const char *name, enum receipt_proof proof,
                           struct reason *why);
/* The slices point into memory, which is reset. NOT_FOUND: there is none of that name, or it has
 * expired. */
enum status receipts_read(struct receipts *receipts, const char *name, struct receipt *receipt,
                          struct buf *memory, struct reason *why);
/* Calls visit with each receipt that waits for its proof; it returns false to stop. */
typedef bool receipts_visit(void *context, const char *name);
enum status receipts_awaiting(struct receipts *receipts, receipts_visit *visit, void *context,
                              struct reason *why);

#endif
