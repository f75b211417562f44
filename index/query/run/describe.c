#include "index/query/run/describe.h"

enum { QUADS = 128 };

struct description {
    struct run *run;
    const struct query_sink *sink;
    struct row_table nodes;   /* to describe, in order; also those already done */
    struct row_table triples; /* of the present node, one graph after another */
};

static enum status
want(struct description *description, oid id, struct reason *why)
{
    bool added;
    size_t at;
    return oid_is_of_source(id) ? row_table_put(&description->nodes, &id, &added, &at, why)
                                : STATUS_OK;
}

static enum status
send(struct description *description, const oid *triple, bool *full, struct reason *why)
{
    struct run *run = description->run;
    struct quad quad = {0};
    *full = run->options->rows && run->report.rows >= run->options->rows;
    run->report.truncated = run->report.truncated || *full;
    if (*full) {
        return STATUS_OK;
    }
    dictionary_trim(&run->dictionary);
    TRY(dictionary_term(&run->dictionary, triple[0], &quad.subject, why));
    TRY(dictionary_term(&run->dictionary, triple[1], &quad.predicate, why));
    TRY(dictionary_term(&run->dictionary, triple[2], &quad.object, why));
    if (quad.object.kind == TERM_BLANK) {
        TRY(want(description, triple[2], why));
    }
    run->report.rows++;
    return description->sink->quad ? description->sink->quad(description->sink->context, &quad, why)
                                   : STATUS_OK;
}

/* Collects the node's triples of one graph (OID_NONE: of all). */
static enum status
collect(struct description *description, oid node, oid graph, struct reason *why)
{
    struct run *run = description->run;
    const struct quad_oids pattern = {.subject = node, .graph = graph};
    struct quad_oids quads[QUADS];
    struct quad_scan *scan;
    size_t count = 0;
    TRY(run_check(run, why));
    TRY(run->source->scan(run->source->context, &pattern, ORDER_COUNT, &scan, why));
    run->report.scans++;
    enum status status;
    do {
        status = run->source->scan_next(scan, quads, QUADS, &count, why);
        run->report.scanned += count;
        for (size_t i = 0; status == STATUS_OK && i < count; i++) {
            const oid key[3] = {quads[i].subject, quads[i].predicate, quads[i].object};
            bool added;
            size_t at;
            status = row_table_put(&description->triples, key, &added, &at, why);
        }
    } while (status == STATUS_OK && count);
    run->source->scan_close(scan);
    return status;
}

static enum status
describe_node(struct description *description, oid node, bool *full, struct reason *why)
{
    const struct graphs *graphs = &description->run->default_graphs;
    row_table_reset(&description->triples);
    if (graphs->kind == GRAPHS_ALL) {
        TRY(collect(description, node, OID_NONE, why));
    }
    for (size_t i = 0; graphs->kind != GRAPHS_ALL && i < graphs->count; i++) {
        if (graphs->ids[i] < OID_LOCAL) {
            TRY(collect(description, node, graphs->ids[i], why));
        }
    }
    for (size_t i = 0; i < description->triples.count && !*full; i++) {
        TRY(send(description, row_table_row(&description->triples, i), full, why));
    }
    return STATUS_OK;
}

static enum status
describe_all(struct description *description, struct operator* root, struct reason *why)
{
    const struct run *run = description->run;
    const struct query *query = run->query;
    for (;;) {
        struct batch *batch;
        TRY(operator_next(root, &batch, why));
        if (batch->count == 0) {
            break;
        }
        for (size_t i = 0; i < batch->count; i++) {
            const oid *row = batch_row(run, batch, i);
            for (size_t k = 0; k < query->described_count; k++) {
                const struct place place = query->described[k];
                if (place.kind == PLACE_SLOT) {
                    TRY(want(description, row[place.number], why));
                }
            }
        }
    }
    for (size_t k = 0; k < query->described_count; k++) {
        if (query->described[k].kind == PLACE_CONSTANT) {
            TRY(want(description, run->constants[query->described[k].number], why));
        }
    }
    bool full = false;
    for (size_t i = 0; i < description->nodes.count && !full; i++) {
        TRY(describe_node(description, *row_table_row(&description->nodes, i), &full, why));
    }
    return STATUS_OK;
}

enum status
describe(struct run *run, struct operator* root, const struct query_sink *sink, struct reason *why)
{
    struct description description = {.run = run, .sink = sink};
    row_table_init(&description.nodes, &run->account, "DESCRIBE", 1, 1);
    row_table_init(&description.triples, &run->account, "DESCRIBE", 3, 3);
    const enum status status = describe_all(&description, root, why);
    row_table_release(&description.nodes);
    row_table_release(&description.triples);
    return status;
}
