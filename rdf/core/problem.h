/* Says what a parser does about an error: it ends (strict), or reports it and goes on (lenient). */
#ifndef RDF_CORE_PROBLEM_H
#define RDF_CORE_PROBLEM_H

#include "rdf/core/parse.h"

struct problems {
    struct problem_sink sink;
    bool lenient;
    uint32_t count;
};

void problems_init(struct problems *problems, const struct parse_options *options);
/* Strict: BAD_INPUT, *why "line L, column C: text". Lenient: reports, OK.
 * line or column 0: not known. */
enum status problem_report(struct problems *problems, uint64_t line, uint64_t column,
                           const char *text, struct reason *why);

#endif
