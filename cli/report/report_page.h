/* One page of a report: what its record in the metadata says, and what there is to mend.
 * Sources: metastore/record.h. All slices point into the record, into constants or into the
 * page's own memory, and live until the next report_page_read. One thread. */
#ifndef CLI_REPORT_REPORT_PAGE_H
#define CLI_REPORT_REPORT_PAGE_H

#include "base/arena.h"
#include "cli/report/report_advice.h"
#include "metastore/record.h"

enum report_severity {
    REPORT_ERROR,   /* something could not be read */
    REPORT_WARNING, /* all was read, but only because readers are patient */
    REPORT_ADVICE,  /* nothing is wrong; the page could say more, or plainer */
    REPORT_GOOD,
    REPORT_SEVERITIES
};
const char *report_severity_name(enum report_severity severity); /* "error" */

struct report_finding {
    enum report_severity severity;
    struct slice where;                 /* transform, or "fetch", "detect", "report" */
    uint64_t line;                      /* 0: none */
    uint64_t times;                     /* of a repair; else 1 */
    struct slice text;                  /* no control characters */
    const struct report_advice *advice; /* NULL: none is known */
};

enum {
    REPORT_FINDINGS = 256, /* of one page; more are counted */
    REPORT_TRANSFORMS = 32 /* of one page */
};

struct report_page {
    struct slice uri, state, reason, type, content_type, truncated, via, redirect, resources;
    uint64_t http_status, milliseconds, memory_bytes; /* 0: unknown */
    uint64_t links_trapped;                           /* its links that were taken for traps */
    bool trapped; /* itself one too many of a path: traps.queries */
    struct {
        struct slice name, version;
        uint64_t quads; /* that it said, the same quad by each */
    } transforms[REPORT_TRANSFORMS];
    size_t transform_count;
    bool transformed;                                /* the fields above are known */
    bool is_html, has_data;                          /* data: more than a page's title and links */
    struct report_finding findings[REPORT_FINDINGS]; /* by severity, then as found */
    size_t finding_count, finding_left;              /* kept, left out */
    enum report_severity severity;                   /* the worst finding's */
    struct arena arena;
};

void report_page_init(struct report_page *page);
void report_page_release(struct report_page *page);
/* False: no page: a host's record, a document that others need, a description of datasets that the
 * crawl asked for and there is none, nothing known. */
bool report_page_read(struct report_page *page, struct slice key, struct slice record);

#endif
