/* Gathering documents and patches into a batch, and the digests of their canonical lines. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "index/sort/oid_sort.h"
#include "index/write/batch.h"
#include "rdf/core/writer.h"
#include "rdf/nquads/nquads.h"

enum { LINES_MAXIMUM = 1 << 30 };

struct index_batch *
index_batch_new(struct partition *partition)
{
    struct index_batch *batch = memory_new(sizeof(*batch));
    batch->partition = partition;
    term_set_init(&batch->terms);
    buf_init(&batch->lines, LINES_MAXIMUM);
    buf_init(&batch->sorted_lines, LINES_MAXIMUM);
    return batch;
}

void
index_batch_free(struct index_batch *batch)
{
    if (batch != NULL) {
        term_set_release(&batch->terms);
        buf_release(&batch->lines);
        buf_release(&batch->sorted_lines);
        free(batch->quads);
        free(batch->documents);
        free(batch->ends);
        free(batch->sorted);
        free(batch);
    }
}

void
index_batch_reset(struct index_batch *batch)
{
    term_set_reset(&batch->terms);
    batch->quad_count = 0;
    batch->count = 0;
    batch->open = false;
}

static struct batch_document *
begin(struct index_batch *batch, struct slice uri)
{
    if (batch->open) {
        batch->quad_count = batch->documents[batch->count].first;
    }
    batch->documents =
        array_grow(batch->documents, batch->count, &batch->capacity, sizeof(*batch->documents));
    const struct term term = term_iri(uri);
    struct batch_document *d = &batch->documents[batch->count];
    *d = (struct batch_document){.graph = term_set_add(&batch->terms, &term),
                                 .first = batch->quad_count};
    batch->open = true;
    return d;
}

void
index_batch_begin(struct index_batch *batch, const struct index_document *document)
{
    struct batch_document *d = begin(batch, document->uri);
    d->generation = document->generation;
    d->removed = document->removed;
    d->linked_data = document->linked_data;
    batch->graph = batch->terms.terms[d->graph].term.value;
    batch->ascending = true;
    batch->line_count = 0;
    buf_reset(&batch->lines);
}

void
index_batch_begin_patch(struct index_batch *batch, struct slice uri)
{
    begin(batch, uri)->patch = true;
}

void
index_batch_terms(struct index_batch *batch, const struct term *terms, size_t count,
                  uint32_t *numbers)
{
    enum { WINDOW = 16 };
    struct term normal[WINDOW];
    uint64_t hashes[WINDOW];
    for (size_t i = 0; i < count;) {
        const size_t n = count - i < WINDOW ? count - i : WINDOW;
        for (size_t k = 0; k < n; k++) {
            normal[k] = term_normal(&terms[i + k]);
            hashes[k] = term_hash(&normal[k]);
            term_set_prefetch_slot(&batch->terms, hashes[k]);
        }
        for (size_t k = 0; k < n; k++) {
            term_set_prefetch_term(&batch->terms, hashes[k]);
        }
        for (size_t k = 0; k < n; k++) {
            numbers[i++] = term_set_add_hashed(&batch->terms, &normal[k], hashes[k]);
        }
    }
}

static struct batch_quad *
push(struct index_batch *batch, uint32_t subject, uint32_t predicate, uint32_t object)
{
    batch->quads =
        array_grow(batch->quads, batch->quad_count, &batch->quad_capacity, sizeof(*batch->quads));
    struct batch_quad *q = &batch->quads[batch->quad_count++];
    *q = (struct batch_quad){subject, predicate, object};
    return q;
}

void
index_batch_triple(struct index_batch *batch, uint32_t subject, uint32_t predicate, uint32_t object)
{
    (void)push(batch, subject, predicate, object);
}

static const struct batch_quad *
push_quad(struct index_batch *batch, const struct quad *quad)
{
    const uint32_t subject = term_set_add(&batch->terms, &quad->subject);
    const uint32_t predicate = term_set_add(&batch->terms, &quad->predicate);
    return push(batch, subject, predicate, term_set_add(&batch->terms, &quad->object));
}

enum status
index_batch_removal(void *context, const struct quad *quad, struct reason *why)
{
    struct index_batch *batch = context;
    struct batch_document *d = &batch->documents[batch->count];
    if (!d->patch || d->first + d->removals != batch->quad_count) {
        return status_fail(why, STATUS_MISUSE, "removals come first, and in patches alone");
    }
    (void)push_quad(batch, quad);
    d->removals++;
    return STATUS_OK;
}

static struct slice
line_at(const struct index_batch *batch, size_t i)
{
    const size_t start = i > 0 ? batch->ends[i - 1] : 0;
    return slice_of(batch->lines.data + start, batch->ends[i] - start);
}

/* The quad's canonical line, for the digest. */
static enum status
add_line(struct index_batch *batch, const struct batch_quad *q, struct reason *why)
{
    batch->ends =
        array_grow(batch->ends, batch->line_count, &batch->line_capacity, sizeof(*batch->ends));
    const struct quad stored = {.subject = batch->terms.terms[q->subject].term,
                                .predicate = batch->terms.terms[q->predicate].term,
                                .object = batch->terms.terms[q->object].term,
                                .graph = term_iri(batch->graph)};
    if (nquads_write(&batch->lines, &stored) != STATUS_OK) {
        return status_fail(why, STATUS_LIMIT, "a document of more than %d bytes", LINES_MAXIMUM);
    }
    batch->ends[batch->line_count++] = batch->lines.length;
    if (batch->line_count > 1 && batch->ascending) {
        const struct slice last = line_at(batch, batch->line_count - 2);
        batch->ascending = slice_compare(last, line_at(batch, batch->line_count - 1)) < 0;
    }
    return STATUS_OK;
}

enum status
index_batch_quad(void *context, const struct quad *quad, struct reason *why)
{
    struct index_batch *batch = context;
    const struct batch_document *d = &batch->documents[batch->count];
    if (d->removed) {
        return STATUS_OK;
    }
    const struct batch_quad *q = push_quad(batch, quad);
    return d->patch ? STATUS_OK : add_line(batch, q, why);
}

static int
compare_slices(const void *a, const void *b)
{
    const struct slice *left = a;
    const struct slice *right = b;
    return slice_compare(*left, *right);
}

/* SHA-256 of the sorted lines, each once. *count: how many. */
static void
digest_lines(struct index_batch *batch, uint8_t digest[DIGEST_SHA256_SIZE], uint64_t *count)
{
    *count = batch->line_count;
    if (batch->ascending) {
        digest_sha256(buf_slice(&batch->lines), digest);
        return;
    }
    if (batch->line_count > batch->sorted_capacity) {
        batch->sorted_capacity = batch->line_capacity;
        batch->sorted = memory_resize(batch->sorted, batch->sorted_capacity, sizeof(struct slice));
    }
    for (size_t i = 0; i < batch->line_count; i++) {
        batch->sorted[i] = line_at(batch, i);
    }
    qsort(batch->sorted, batch->line_count, sizeof(struct slice), compare_slices);
    buf_reset(&batch->sorted_lines);
    for (size_t i = 0; i < batch->line_count; i++) {
        if (i > 0 && slice_equal(batch->sorted[i - 1], batch->sorted[i])) {
            --*count;
        } else {
            (void)buf_append_slice(&batch->sorted_lines, batch->sorted[i]);
        }
    }
    digest_sha256(buf_slice(&batch->sorted_lines), digest);
}

size_t
index_batch_end(struct index_batch *batch)
{
    struct batch_document *d = &batch->documents[batch->count];
    d->count = batch->quad_count - d->first;
    if (!d->patch) {
        digest_lines(batch, d->result.digest, &d->result.quads);
    }
    batch->open = false;
    return batch->count++;
}

void
index_batch_truncate(struct index_batch *batch, size_t documents)
{
    if (documents < batch->count || batch->open) {
        batch->quad_count = batch->documents[documents].first;
        batch->count = documents;
        batch->open = false;
    }
}

enum status
index_batch_add(struct index_batch *batch, const struct index_document *document,
                struct slice nquads, size_t *number, struct reason *why)
{
    const struct quad_sink sink = {index_batch_quad, batch};
    index_batch_begin(batch, document);
    TRY(nquads_parse(nquads, NULL, &sink, why));
    *number = index_batch_end(batch);
    return STATUS_OK;
}

size_t
index_batch_documents(const struct index_batch *batch)
{
    return batch->count;
}

size_t
index_batch_quads(const struct index_batch *batch)
{
    return batch->quad_count;
}

/* Keys, their order and new entries are counted for each term. */
size_t
index_batch_staged_bytes(const struct index_batch *batch)
{
    enum { PER_TERM = 128 };
    return term_set_bytes(&batch->terms) + batch->terms.count * PER_TERM +
           batch->quad_count * sizeof(*batch->quads) + batch->count * sizeof(*batch->documents);
}

/* Returns the bytes of the batch, with those that the commit will take: changes, their six orders
 * and what sorts them for each quad. */
size_t
index_batch_bytes(const struct index_batch *batch)
{
    enum {
        CHANGES = 2 * sizeof(struct quad_change), /* its array grows by doubling */
        ORDERS = ORDER_COUNT * sizeof(uint32_t) + 2 * sizeof(struct sort_item)
    };
    return index_batch_staged_bytes(batch) + batch->quad_count * (CHANGES + ORDERS);
}

const struct index_result *
index_batch_result(const struct index_batch *batch, size_t number)
{
    return &batch->documents[number].result;
}
