/* Errors, limits, and what all steps need. */
#include <string.h>

#include "rdf/jsonld/jsonld_processor.h"

enum status
jsonld_error(struct jsonld *jsonld, uint32_t line, const char *code, struct slice detail)
{
    struct reason text;
    status_fail(&text, STATUS_BAD_INPUT, "%s: %.*s", code, SLICE_PRINT(detail));
    if (jsonld->mute > 0 || !jsonld->problems.lenient) {
        return status_fail(jsonld->why, STATUS_BAD_INPUT, "line %u: %s", line, text.text);
    }
    problem_report(&jsonld->problems, line, 0, text.text, jsonld->why);
    return STATUS_BAD_INPUT;
}

enum status
jsonld_step(struct jsonld *jsonld)
{
    if (++jsonld->steps > jsonld->step_limit) {
        return status_fail(jsonld->why, STATUS_LIMIT,
                           "JSON-LD takes more than %llu steps to expand",
                           (unsigned long long)jsonld->step_limit);
    }
    const size_t used = jsonld->memory.used + jsonld->expanded.used;
    return used > jsonld->memory_limit
               ? status_fail(jsonld->why, STATUS_LIMIT, "JSON-LD takes more than %zu bytes",
                             jsonld->memory_limit)
               : STATUS_OK;
}

struct slice
jsonld_join(struct jsonld *jsonld, struct slice a, struct slice b)
{
    char *at = arena_alloc(jsonld->strings, a.length + b.length);
    if (a.length > 0) {
        memcpy(at, a.at, a.length);
    }
    if (b.length > 0) {
        memcpy(at + a.length, b.at, b.length);
    }
    return slice_of(at, a.length + b.length);
}
