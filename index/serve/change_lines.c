#include "index/serve/change_lines.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "index/write/partition_private.h"
#include "rdf/core/writer.h"

enum { PIECE = 32 << 10, LINE_MAXIMUM = 1 << 30 };

struct change_lines {
    const struct change_request *request;
    struct nodes_reader *nodes;
    struct buf text;
    partition_report *piece;
    void *context;
    struct arena arena; /* of a quad */
    struct buf graph;   /* the text of the last row's, */
    oid graph_id;       /* its identifier, */
    bool wanted;        /* and whether it was asked for */
    oid subject_id;     /* the last row's subject and predicate, in N-Quads form */
    oid predicate_id;
    struct buf subject, predicate;
    struct change_block block;
};

static enum status
pass_on(struct change_lines *lines, size_t from, struct reason *why)
{
    if (lines->text.overflowed) {
        return status_fail(why, STATUS_LIMIT, "a change of more than %d bytes", LINE_MAXIMUM);
    }
    if (lines->text.length <= from) {
        return STATUS_OK;
    }
    const enum status status = lines->piece(lines->context, buf_slice(&lines->text), why);
    buf_reset(&lines->text);
    return status;
}

/* The term in N-Quads form; kept while the identifier stays the same. */
static enum status
write_term(struct change_lines *lines, oid id, oid *kept, struct buf *text, struct reason *why)
{
    if (id == *kept) {
        return STATUS_OK;
    }
    struct term term;
    arena_reset(&lines->arena);
    TRY(nodes_resolve(lines->nodes, id, &lines->arena, &term, why));
    buf_reset(text);
    *kept = id;
    return nquads_write_term(text, &term) == STATUS_OK
               ? STATUS_OK
               : status_fail(why, STATUS_LIMIT, "a term of more than %d bytes", LINE_MAXIMUM);
}

static bool
is_wanted(const struct change_request *request, struct slice graph)
{
    for (size_t i = 0; i < request->graph_count; i++) {
        if (slice_equal(request->graphs[i], graph)) {
            return true;
        }
    }
    return request->graph_count == 0;
}

static enum status
begin_graph(struct change_lines *lines, oid graph, uint64_t generation, struct reason *why)
{
    TRY(write_term(lines, graph, &lines->graph_id, &lines->graph, why));
    const struct slice text = buf_slice(&lines->graph); /* <URI> */
    const struct slice uri = slice_of(text.at + 1, text.length - 2);
    lines->wanted = is_wanted(lines->request, uri);
    if (lines->wanted) {
        (void)buf_printf(&lines->text, "G\t%" PRIu64 "\t", generation);
        (void)buf_append_slice(&lines->text, uri);
        (void)buf_append_char(&lines->text, '\n');
    }
    return STATUS_OK;
}

static enum status
write_change(struct change_lines *lines, const struct row *row, bool removed, struct reason *why)
{
    struct term object;
    TRY(write_term(lines, row->place[1], &lines->subject_id, &lines->subject, why));
    TRY(write_term(lines, row->place[2], &lines->predicate_id, &lines->predicate, why));
    arena_reset(&lines->arena);
    TRY(nodes_resolve(lines->nodes, row->place[3], &lines->arena, &object, why));
    (void)buf_append_char(&lines->text, removed ? '-' : '+');
    (void)buf_append_slice(&lines->text, buf_slice(&lines->subject));
    (void)buf_append_char(&lines->text, ' ');
    (void)buf_append_slice(&lines->text, buf_slice(&lines->predicate));
    (void)buf_append_char(&lines->text, ' ');
    (void)nquads_write_term(&lines->text, &object);
    (void)buf_append_char(&lines->text, ' ');
    (void)buf_append_slice(&lines->text, buf_slice(&lines->graph));
    (void)buf_append_string(&lines->text, " .\n");
    return pass_on(lines, PIECE, why);
}

static enum status
write_blocks(struct change_lines *lines, struct change_reader *reader, struct reason *why)
{
    struct change_block *block = &lines->block;
    enum status status;
    lines->graph_id = OID_NONE;
    while ((status = change_reader_block(reader, block, why)) == STATUS_OK) {
        for (size_t i = 0; i < block->count; i++) {
            const struct row *row = &block->rows[i];
            if (row->place[0] != lines->graph_id) {
                TRY(begin_graph(lines, row->place[0], block->generations[i], why));
            }
            if (lines->wanted) {
                TRY(write_change(lines, row, block->removed[i], why));
            }
        }
    }
    return status == STATUS_END ? STATUS_OK : status;
}

static enum status
write_batches(struct change_lines *lines, struct change_reader *reader,
              struct change_position *since, struct reason *why)
{
    struct change_batch batch;
    enum status status;
    while ((status = change_reader_batch(reader, &batch, why)) == STATUS_OK) {
        (void)buf_append_string(&lines->text, "B\t");
        change_position_put(&lines->text, &batch.position);
        (void)buf_append_char(&lines->text, '\t');
        change_position_put(&lines->text, &batch.previous);
        (void)buf_append_char(&lines->text, '\n');
        TRY(write_blocks(lines, reader, why));
        (void)buf_append_string(&lines->text, "C\t");
        change_position_put(&lines->text, &batch.position);
        (void)buf_append_char(&lines->text, '\n');
        *since = batch.position;
        TRY(pass_on(lines, PIECE, why));
    }
    return status == STATUS_END ? pass_on(lines, 0, why) : status;
}

enum status
partition_changes(struct partition *partition, struct change_request *request,
                  partition_report *piece, void *context, struct reason *why)
{
    struct change_reader *reader;
    TRY(change_reader_open(&reader, partition->change_log, &request->since, why));
    struct change_lines *lines = memory_zero(1, sizeof(*lines));
    lines->request = request;
    lines->nodes = nodes_reader_new(lexicon_nodes(partition->lexicon));
    lines->piece = piece;
    lines->context = context;
    arena_init(&lines->arena, 0);
    struct buf *const texts[] = {&lines->text, &lines->graph, &lines->subject, &lines->predicate};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        buf_init(texts[i], LINE_MAXIMUM);
    }
    const enum status status = write_batches(lines, reader, &request->since, why);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        buf_release(texts[i]);
    }
    arena_release(&lines->arena);
    nodes_reader_free(lines->nodes);
    free(lines);
    change_reader_close(reader);
    return status;
}
