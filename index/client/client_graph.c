/* A whole graph, put: what it has is read, and the difference is one change. */
#include "index/client/client_update.h"
#include "index/client/partitions/client_calls.h"
#include "rdf/nquads/nquads.h"

static const size_t usual_memory = (size_t)256 << 20;

static enum status
feed(void *reader, struct slice bytes, struct reason *why)
{
    return nquads_reader_feed(reader, bytes, why);
}

static enum status
read_graph(struct index_client *client, struct slice iri, struct graph *graph, struct reason *why)
{
    const struct quad pattern = {.graph = term_iri(iri)};
    const struct quad_sink sink = graph_sink(graph);
    struct nquads_reader *reader = nquads_reader_new(NULL, false, &sink);
    enum status status = index_pattern(client, &pattern, 0, feed, reader, why);
    if (status == STATUS_OK) {
        status = nquads_reader_finish(reader, why);
    }
    nquads_reader_free(reader);
    graph_sort_unique(graph);
    return status;
}

/* The quads of `of` that `without` has not; both are sorted. */
static enum status
difference(const struct graph *of, const struct graph *without, struct graph *result,
           struct reason *why)
{
    size_t other = 0;
    for (size_t i = 0; i < of->count; i++) {
        while (other < without->count && quad_compare(&without->quads[other], &of->quads[i]) < 0) {
            other++;
        }
        if (other == without->count || quad_compare(&without->quads[other], &of->quads[i]) != 0) {
            TRY(graph_add(result, &of->quads[i], why));
        }
    }
    return STATUS_OK;
}

enum status
index_graph_put(struct index_client *client, struct slice iri, struct graph *wanted,
                enum index_graph_mode mode, size_t memory, struct index_graph_report *report,
                struct reason *why)
{
    struct graph present, removed, added;
    struct index_update_report counts = {0};
    graph_init(&present, memory > 0 ? memory : usual_memory);
    graph_init(&removed, 0);
    graph_init(&added, 0);
    graph_sort_unique(wanted);
    index_client_manner(client, INDEX_PARTIAL_ERROR, client->cancel);
    enum status status = read_graph(client, iri, &present, why);
    report->existed = present.count > 0;
    if (status == STATUS_OK && mode == INDEX_GRAPH_REPLACE) {
        status = difference(&present, wanted, &removed, why);
    }
    if (status == STATUS_OK) {
        status = difference(wanted, &present, &added, why);
    }
    if (status == STATUS_OK && removed.count + added.count > 0) {
        status = client_change(client, &removed, &added, &counts, why);
    }
    report->removed = counts.removed;
    report->added = counts.added;
    graph_release(&present);
    graph_release(&removed);
    graph_release(&added);
    return status;
}
