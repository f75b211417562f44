/* Finds what a document says by the detection and the transforms of a crawl, but without a crawl:
 * nothing is archived or indexed. Foreign bytes are parsed in sandboxed workers only. One thread.
 * / */
#ifndef CLI_INSPECTION_INSPECTION_H
#define CLI_INSPECTION_INSPECTION_H

#include "base/arena.h"
#include "cli/report/report_page.h"
#include "cli/shared/offline_transform.h"
#include "cli/shared/web_client.h"
#include "rdf/core/term.h"

enum {
    INSPECTION_BYTES = 8 << 20,   /* of a document; what is behind them is cut off, and told */
    INSPECTION_STATEMENTS = 20000 /* of one document; more are counted */
};

struct inspected_statement {
    struct quad quad;
    struct slice transform; /* "turtle/1" */
    uint64_t line;          /* of the document; 0: unknown */
};

struct inspection {
    struct slice asked;    /* the address that was asked for, when a redirect led away from it */
    struct slice evidence; /* by which its type was told */
    struct report_page page;
    struct inspected_statement *statements; /* sorted by quad; said by two transforms: twice */
    size_t count;
    uint64_t left_out; /* statements */
    struct buf record; /* what page is made of */
    struct arena arena, answer;
};

struct inspection_request {
    const char *place;         /* a file, "-" or an http or https URL, which is fetched */
    struct web_client *client; /* that asks for the URL; NULL: one is made for it */
    struct slice accept;       /* types to ask for; empty: those of a crawl */
    struct cli *archive;       /* the URL's document is taken out of it instead; NULL: none */
    const char *uri;           /* of a file's document; NULL: made of its path */
    const char *content_type;  /* what a server would say of a file; NULL: nothing is said */
};

/* A server that answers with an error, or a worker that dies of the document, is a finding, not a
 * failure. DENIED: robots.txt or the rules of addresses. */
enum status inspect(struct inspection *inspection, const struct inspection_request *request,
                    const struct offline_settings *settings, struct reason *why);
void inspection_release(struct inspection *inspection); /* also after a failure */

#endif
