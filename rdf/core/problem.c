#include "rdf/core/problem.h"

void
problems_init(struct problems *problems, const struct parse_options *options)
{
    *problems = (struct problems){0};
    if (options != NULL) {
        problems->lenient = options->lenient;
        problems->sink = options->problems;
    }
}

enum status
problem_report(struct problems *problems, uint64_t line, uint64_t column, const char *text,
               struct reason *why)
{
    if (!problems->lenient) {
        return line == 0 ? status_fail(why, STATUS_BAD_INPUT, "%s", text)
                         : status_fail(why, STATUS_BAD_INPUT, "line %llu, column %llu: %s",
                                       (unsigned long long)line, (unsigned long long)column, text);
    }
    if (problems->sink.problem != NULL && problems->count < PARSE_PROBLEM_MAXIMUM) {
        const struct parse_problem problem = {.line = line, .column = column, .text = text};
        problems->count++;
        problems->sink.problem(problems->sink.context, &problem);
    }
    return STATUS_OK;
}
