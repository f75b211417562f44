#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "rdf/canonical/blank_index.h"
#include "rdf/canonical/canonical.h"

/* Puts "<start><number>" for each blank node; LIMIT when they do not fit the graph. */
static enum status
rename_nodes(struct graph *graph, const struct blank_index *index, const char *start,
             const uint32_t *numbers, struct reason *why)
{
    struct slice *labels = memory_zero(index->count, sizeof *labels);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < index->count && status == STATUS_OK; i++) {
        labels[i] = arena_printf(&graph->arena, "%s%u", start, numbers[i]);
        if (labels[i].at == NULL) {
            status =
                status_fail(why, STATUS_LIMIT, "graph is larger than %zu bytes", graph->maximum);
        }
    }
    if (status == STATUS_OK) {
        blank_index_rename(index, graph, labels);
    }
    free(labels);
    return status;
}

enum status
graph_canonicalize(struct graph *graph, enum canonical_hash hash, uint64_t work, struct reason *why)
{
    struct blank_index index;
    blank_index_build(&index, graph);
    enum status status = STATUS_OK;
    if (index.count > 0) {
        uint32_t *numbers = memory_zero(index.count, sizeof *numbers);
        status = canonical_number(graph, &index, hash, work, numbers);
        status = status == STATUS_OK
                     ? rename_nodes(graph, &index, "c14n", numbers, why)
                     : status_fail(why, status, "the graph's blank nodes are too alike");
        free(numbers);
    }
    blank_index_release(&index);
    if (status == STATUS_OK) {
        graph_sort_unique(graph);
    }
    return status;
}

enum status
graph_relabel(struct graph *graph, struct slice document, uint64_t work, bool *canonical,
              struct reason *why)
{
    struct blank_index index;
    blank_index_build(&index, graph);
    enum status status = STATUS_OK;
    bool issued = true;
    if (index.count > 0) {
        uint32_t *numbers = memory_zero(index.count, sizeof *numbers);
        issued = canonical_number(graph, &index, CANONICAL_SHA256, work, numbers) == STATUS_OK;
        for (uint32_t i = 0; !issued && i < index.count; i++) {
            numbers[i] = i;
        }
        char start[32];
        snprintf(start, sizeof start, "d%016llx%c", (unsigned long long)fingerprint64(document),
                 issued ? 'n' : 'p');
        status = rename_nodes(graph, &index, start, numbers, why);
        free(numbers);
    }
    blank_index_release(&index);
    if (canonical != NULL) {
        *canonical = issued;
    }
    return status;
}
