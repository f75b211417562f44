#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/read/provenance_private.h"

enum { OPEN_MOST = 1024 /* scans whose records are asked for in one go */ };

/* Patterns of this graph, of which up to OPEN_MOST are opened at a time, and of the other source,
 * one after the other. */
struct provenance_many {
    const struct quad_oids *patterns;
    size_t count, next; /* the first not opened */
    bool graphs;
    struct quad_scan *open[OPEN_MOST];
    size_t first, opened;    /* open[0] is of pattern `first` */
    size_t at;               /* the one being read */
    struct quad_scan *inner; /* of the other source, patterns from `first` on */
};

static void
close_opened(const struct provenance *provenance, struct provenance_many *many)
{
    for (size_t i = 0; i < many->opened; i++) {
        provenance_scan_close(many->open[i]);
    }
    if (many->inner != NULL) {
        provenance->inner->scan_close(many->inner);
    }
    many->inner = NULL;
    many->opened = many->at = 0;
}

void
provenance_many_free(const struct provenance *provenance, struct provenance_many *many)
{
    if (many != NULL) {
        close_opened(provenance, many);
        free(many);
    }
}

/* The other source takes it: it has all the terms. */
static bool
is_of_inner(const struct provenance *provenance, const struct quad_oids *pattern)
{
    return (pattern->graph == OID_NONE || pattern->graph != provenance->graph) &&
           !provenance_owns(pattern->subject) && !provenance_owns(pattern->predicate) &&
           !provenance_owns(pattern->object) && !provenance_owns(pattern->graph);
}

bool
provenance_rather_many(void *context, oid graph)
{
    const struct provenance *provenance = context;
    const struct quad_source *inner = provenance->inner;
    return (graph != OID_NONE && graph == provenance->graph) ||
           (inner->scan_many != NULL &&
            (inner->rather_many == NULL || inner->rather_many(inner->context, graph)));
}

enum status
provenance_scan_many(void *context, const struct quad_oids *patterns, size_t count, bool graphs,
                     struct quad_scan **result, struct reason *why)
{
    struct quad_scan *scan = memory_zero(1, sizeof *scan);
    (void)why;
    scan->provenance = context;
    scan->many = memory_alloc(sizeof *scan->many);
    scan->many->patterns = patterns;
    scan->many->count = count;
    scan->many->graphs = graphs;
    scan->many->next = scan->many->first = scan->many->opened = scan->many->at = 0;
    scan->many->inner = NULL;
    *result = scan;
    return STATUS_OK;
}

/* Opens the next patterns that go together. */
static enum status
open_next(struct provenance *provenance, struct provenance_many *many, struct reason *why)
{
    const struct quad_source *inner = provenance->inner;
    struct slice keys[OPEN_MOST];
    size_t n = 0;
    close_opened(provenance, many);
    many->first = many->next;
    if (inner->scan_many != NULL) {
        while (many->next < many->count && is_of_inner(provenance, &many->patterns[many->next])) {
            many->next++;
        }
        if (many->next > many->first) {
            return inner->scan_many(inner->context, &many->patterns[many->first],
                                    many->next - many->first, many->graphs, &many->inner, why);
        }
    }
    while (many->next < many->count && many->opened < OPEN_MOST &&
           (inner->scan_many == NULL || !is_of_inner(provenance, &many->patterns[many->next]))) {
        struct quad_scan **scan = &many->open[many->opened];
        TRY(provenance_scan(provenance, &many->patterns[many->next], ORDER_COUNT, scan, why));
        many->opened++;
        many->next++;
        if ((*scan)->reading == READ_KEY) {
            keys[n++] = buf_slice(&(*scan)->key);
        }
    }
    return n > 0 ? provenance_records_fetch(provenance->records, keys, n, why) : STATUS_OK;
}

enum status
provenance_scan_many_next(struct quad_scan *scan, struct quad_oids *rows, uint32_t *numbers,
                          size_t most, size_t *n, struct reason *why)
{
    struct provenance *provenance = scan->provenance;
    struct provenance_many *many = scan->many;
    *n = 0;
    while (*n == 0) {
        if (many->inner != NULL) {
            TRY(provenance->inner->scan_many_next(many->inner, rows, numbers, most, n, why));
        } else if (many->at < many->opened) {
            TRY(provenance_scan_next(many->open[many->at], rows, most, n, why));
            memset(numbers, 0, *n * sizeof *numbers);
        }
        for (size_t i = 0; i < *n; i++) {
            numbers[i] += (uint32_t)(many->first + many->at);
        }
        if (*n == 0 && many->at + 1 < many->opened) {
            many->at++;
        } else if (*n == 0 && many->next < many->count) {
            TRY(open_next(provenance, many, why));
        } else if (*n == 0) {
            break;
        }
    }
    return STATUS_OK;
}
