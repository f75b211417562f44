/* An inspection for people and programs. */
#ifndef CLI_INSPECTION_INSPECTION_PRINT_H
#define CLI_INSPECTION_INSPECTION_PRINT_H

#include "cli/inspection/inspection.h"

enum {
    INSPECTION_SHOWN = 500 /* statements that a page shows; the rest is counted there */
};

void inspection_print_text(const struct inspection *inspection, FILE *out);
void inspection_print_json(const struct inspection *inspection, FILE *out);
void inspection_print_svg(const struct inspection *inspection, FILE *out);
/* Prints the HTML that stands in the frame of a page. */
void inspection_print_html(const struct inspection *inspection, FILE *out);
/* All statements, each once, in a syntax of index/query/results/result.h: "ttl", "nq" ... */
enum status inspection_print_rdf(const struct inspection *inspection, const char *format, FILE *out,
                                 struct reason *why);

#endif
