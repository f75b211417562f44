/* A report as text of at most 100 columns, as rows separated by tabs, as one JSON object,
 * as what stands in the frame of a page of HTML.
 * report_print_begin, then report_print_page of each page, then report_print_end. */
#ifndef CLI_REPORT_REPORT_PRINT_H
#define CLI_REPORT_REPORT_PRINT_H

#include <stdio.h>

#include "cli/report/report_totals.h"

enum report_format { REPORT_TEXT, REPORT_TSV, REPORT_JSON, REPORT_HTML };
enum { REPORT_WIDTH = 100 };

struct report_printer {
    FILE *out;
    enum report_format format;
    uint64_t pages; /* printed so far */
    struct buf memory;
};

void report_print_begin(struct report_printer *printer, const char *const *sites, size_t count,
                        const struct report_totals *totals);
void report_print_page(struct report_printer *printer, const struct report_page *page);
/* left_out: pages that were not printed. */
void report_print_end(struct report_printer *printer, uint64_t left_out);

#endif
