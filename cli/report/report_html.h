/* Reports as pieces of HTML pages. All that is foreign is text there. */
#ifndef CLI_REPORT_REPORT_HTML_H
#define CLI_REPORT_REPORT_HTML_H

#include "cli/report/report_totals.h"

void report_html_totals(struct buf *out, const char *const *sites, size_t count,
                        const struct report_totals *totals);
void report_html_page(struct buf *out, const struct report_page *page);

#endif
