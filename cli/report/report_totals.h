/* Sums over all pages of a report, in bounded memory: names past the bounds are summed up under
 * "others". One thread. */
#ifndef CLI_REPORT_REPORT_TOTALS_H
#define CLI_REPORT_REPORT_TOTALS_H

#include "base/buf.h"
#include "cli/report/report_page.h"

enum {
    REPORT_NAMES = 64,   /* states; transforms */
    REPORT_KINDS = 512,  /* of findings */
    REPORT_FREQUENT = 10 /* that are shown */
};

struct report_tally {
    char name[80];
    uint64_t pages, quads;
};
struct report_tallies {
    struct report_tally of[REPORT_NAMES];
    size_t count;
};

/* Findings that are mended the same way, or have the same text but for quotations and numbers. */
struct report_kind {
    char where[40];
    char text[160]; /* the first one's */
    char shape[160];
    const struct report_advice *advice;
    enum report_severity severity;
    uint64_t pages, line; /* line of the example */
    char *example;        /* a URI */
    uint64_t last;        /* page that was counted last */
};

struct report_totals {
    uint64_t pages, by_severity[REPORT_SEVERITIES], html, without_data;
    uint64_t links_trapped, with_traps, trapped; /* links; pages that have them; pages refused */
    struct report_tallies states, transforms;
    struct report_kind kinds[REPORT_KINDS];
    size_t kind_count;
    uint64_t uncounted; /* findings of further kinds */
};

void report_totals_add(struct report_totals *totals, const struct report_page *page);
/* Most pages first; ends the counting. */
void report_totals_sort(struct report_totals *totals);
void report_totals_release(struct report_totals *totals);

#endif
