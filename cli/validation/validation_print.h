/* A survey that was judged, for people and programs. */
#ifndef CLI_VALIDATION_VALIDATION_PRINT_H
#define CLI_VALIDATION_VALIDATION_PRINT_H

#include <stdio.h>

#include "cli/validation/term_survey.h"

struct validation_totals {
    size_t by_severity[REPORT_SEVERITIES]; /* terms */
    size_t untold;
};
/* Gives since when a document fails; the text is empty for a fault of its data, which has no such
 * time. */
struct slice validation_since(const struct surveyed_term *term, size_t rule);

/* asked: a document or site. good: also the terms with nothing to mend. */
void validation_print_text(const struct term_survey *survey, const char *asked, bool good,
                           FILE *out);
void validation_print_json(const struct term_survey *survey, const char *asked, FILE *out);
/* Prints the HTML that stands in the frame of a page. */
void validation_print_html(const struct term_survey *survey, const char *asked, bool good,
                           FILE *out);
/* Prints EARL 1.0 (https://www.w3.org/TR/EARL10-Schema/): an assertion for each term and rule that
 * is about it, in a syntax of index/query/results/result.h. */
enum status validation_print_earl(const struct term_survey *survey, const char *format, FILE *out,
                                  struct reason *why);

#endif
