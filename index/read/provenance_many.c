#include "index/read/provenance_many.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { OPEN_MOST = 1024 /* scans whose records are asked for in one go */ };

struct provenance_many {
    struct provenance *provenance;
    const struct quad_source *other;
    const struct quad_oids *patterns;
    size_t count, next; /* the first not opened */
    bool graphs;
    struct quad_scan *open[OPEN_MOST];
    size_t first, opened;    /* open[0] is of pattern `first` */
    size_t at;               /* the one being read */
    struct quad_scan *inner; /* of the other source, patterns from `first` on */
};

static void
close_opened(struct provenance_many *many)
{
    for (size_t i = 0; i < many->opened; i++) {
        provenance_scan_close(many->open[i]);
    }
    if (many->inner != NULL) {
        many->other->scan_close(many->inner);
    }
    many->inner = NULL;
    many->opened = many->at = 0;
}

void
provenance_many_free(struct provenance_many *many)
{
    if (many != NULL) {
        close_opened(many);
        free(many);
    }
}

/* The other source takes it: it has all the terms. */
static bool
is_of_inner(const struct provenance *provenance, const struct quad_oids *pattern)
{
    return !provenance_is_graph(provenance, pattern->graph) && !provenance_owns(pattern->subject) &&
           !provenance_owns(pattern->predicate) && !provenance_owns(pattern->object) &&
           !provenance_owns(pattern->graph);
}

struct provenance_many *
provenance_many_new(struct provenance *provenance, const struct quad_oids *patterns, size_t count,
                    bool graphs)
{
    struct provenance_many *many = memory_alloc(sizeof *many);
    many->provenance = provenance;
    many->other = provenance_inner(provenance);
    many->patterns = patterns;
    many->count = count;
    many->graphs = graphs;
    many->next = many->first = many->opened = many->at = 0;
    many->inner = NULL;
    return many;
}

/* Opens the next patterns that go together. */
static enum status
open_next(struct provenance_many *many, struct reason *why)
{
    struct provenance *provenance = many->provenance;
    const struct quad_source *inner = many->other;
    struct slice keys[OPEN_MOST];
    size_t n = 0;
    close_opened(many);
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
        keys[n] = provenance_scan_key(*scan);
        n += keys[n].length > 0;
    }
    return n > 0 ? provenance_records_fetch(provenance_records_of(provenance), keys, n, why)
                 : STATUS_OK;
}

enum status
provenance_many_next(struct provenance_many *many, struct quad_oids *rows, uint32_t *numbers,
                     size_t most, size_t *n, struct reason *why)
{
    *n = 0;
    while (*n == 0) {
        if (many->inner != NULL) {
            TRY(many->other->scan_many_next(many->inner, rows, numbers, most, n, why));
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
            TRY(open_next(many, why));
        } else if (*n == 0) {
            break;
        }
    }
    return STATUS_OK;
}
