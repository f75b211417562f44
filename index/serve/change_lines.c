#include "index/serve/change_lines.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "index/write/partition_state.h"
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

static void
write_begin(struct change_lines *lines, const struct change_batch *batch)
{
    (void)buf_append_string(&lines->text, "B\t");
    change_position_put(&lines->text, &batch->position);
    (void)buf_append_char(&lines->text, '\t');
    change_position_put(&lines->text, &batch->previous);
    (void)buf_append_char(&lines->text, '\n');
}

static void
write_commit(struct change_lines *lines, const struct change_batch *batch)
{
    (void)buf_append_string(&lines->text, "C\t");
    change_position_put(&lines->text, &batch->position);
    (void)buf_append_char(&lines->text, '\n');
}

static enum status
write_batches(struct change_lines *lines, struct change_reader *reader,
              struct change_position *since, struct reason *why)
{
    struct change_batch batch;
    enum status status;
    while ((status = change_reader_batch(reader, &batch, why)) == STATUS_OK) {
        write_begin(lines, &batch);
        TRY(write_blocks(lines, reader, why));
        write_commit(lines, &batch);
        *since = batch.position;
        TRY(pass_on(lines, PIECE, why));
    }
    return status == STATUS_END ? pass_on(lines, 0, why) : status;
}

static struct change_lines *
lines_new(struct partition *partition, const struct change_request *request,
          partition_report *piece, void *context)
{
    struct change_lines *lines = memory_new(sizeof(*lines));
    lines->request = request;
    lines->nodes = nodes_reader_new(lexicon_nodes(partition->lexicon));
    lines->piece = piece;
    lines->context = context;
    arena_init(&lines->arena, 0);
    struct buf *const texts[] = {&lines->text, &lines->graph, &lines->subject, &lines->predicate};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        buf_init(texts[i], LINE_MAXIMUM);
    }
    return lines;
}

static void
lines_free(struct change_lines *lines)
{
    struct buf *const texts[] = {&lines->text, &lines->graph, &lines->subject, &lines->predicate};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        buf_release(texts[i]);
    }
    arena_release(&lines->arena);
    nodes_reader_free(lines->nodes);
    free(lines);
}

enum status
partition_changes(struct partition *partition, struct change_request *request,
                  partition_report *piece, void *context, struct reason *why)
{
    struct change_reader *reader;
    TRY(change_reader_open(&reader, partition->change_log, &request->since, why));
    struct change_lines *lines = lines_new(partition, request, piece, context);
    const enum status status = write_batches(lines, reader, &request->since, why);
    lines_free(lines);
    change_reader_close(reader);
    return status;
}

/* ---- the last change of one document ---- */

/* Writes what a batch changed of the graph. END: that was all, or nothing. */
static enum status
write_graph(struct change_lines *lines, struct change_reader *reader,
            const struct change_batch *batch, oid graph, struct reason *why)
{
    struct change_block *block = &lines->block;
    lines->graph_id = OID_NONE;
    for (;;) {
        TRY(change_reader_block(reader, block, why));
        for (size_t i = 0; i < block->count; i++) {
            const struct row *row = &block->rows[i];
            if (row->place[0] > graph) {
                return STATUS_END;
            }
            if (row->place[0] < graph) {
                continue;
            }
            if (lines->graph_id != graph) {
                write_begin(lines, batch);
                TRY(begin_graph(lines, graph, block->generations[i], why));
            }
            TRY(write_change(lines, row, block->removed[i], why));
        }
    }
}

static enum status
write_if_changed(struct change_lines *lines, struct change_log *log, uint64_t number, oid graph,
                 bool *found, struct reason *why)
{
    struct change_reader *reader;
    struct change_batch batch;
    struct change_position last;
    uint64_t first;
    enum status status = change_reader_open_at(&reader, log, number, why);
    if (status != STATUS_OK) {
        change_log_state(log, &last, &first);
        return number <= first ? STATUS_STALE : status; /* it went meanwhile */
    }
    status = change_reader_batch(reader, &batch, why);
    if (status == STATUS_OK) {
        status = write_graph(lines, reader, &batch, graph, why);
    }
    change_reader_close(reader);
    *found = lines->graph_id == graph;
    if (status == STATUS_END && *found) {
        write_commit(lines, &batch);
        return pass_on(lines, 0, why);
    }
    return status == STATUS_END ? STATUS_OK : status;
}

static enum status
find_document(struct partition *partition, struct slice uri, oid *graph,
              struct document_entry *entry, struct reason *why)
{
    const struct term term = term_iri(uri);
    struct latch *latch = tree_latch(partition->documents);
    TRY(lexicon_find(partition->lexicon, &term, graph, why));
    if (*graph == OID_NONE) {
        return STATUS_NOT_FOUND;
    }
    latch_enter_reading(latch);
    const enum status status = documents_get(partition->documents, *graph, entry, why);
    latch_leave(latch);
    return status;
}

/* A batch takes its stamp before the documents' times, or shortly after: so the change is in the
 * last batch that was written by then or in the next. A clock that was put back, or a change of
 * other things than quads, is why older ones are looked at, too. */
enum status
partition_last_change(struct partition *partition, struct slice uri, partition_report *piece,
                      void *context, struct reason *why)
{
    const struct change_request all = {.graph_count = 0};
    struct change_log *log = partition->change_log;
    struct document_entry entry;
    struct change_position last;
    uint64_t number, first;
    bool found = false;
    oid graph;
    enum status status = find_document(partition, uri, &graph, &entry, why);
    if (status == STATUS_NOT_FOUND) {
        return STATUS_OK;
    }
    TRY(status);
    TRY(change_log_after(log, entry.indexed_ms, &number, why));
    change_log_state(log, &last, &first);
    number = number > last.batch ? last.batch : number;
    struct change_lines *lines = lines_new(partition, &all, piece, context);
    for (; !found && status == STATUS_OK && number > first; number--) {
        status = write_if_changed(lines, log, number, graph, &found, why);
    }
    lines_free(lines);
    if (found || (status != STATUS_OK && status != STATUS_STALE)) {
        return status;
    }
    char when[CLOCK_TEXT_SIZE];
    clock_text(entry.indexed_ms, 0, when);
    return status_fail(why, STATUS_STALE,
                       "its last change, of %s, is no longer kept: the index keeps its latest "
                       "changes, up to the option index.changes",
                       when);
}
