#include "bench/sample.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/query/quad_walk.h"

enum { WORD_LEAST = 4 };

uint64_t
sample_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static int
compare_numbers(const void *a, const void *b)
{
    const uint64_t *left = a;
    const uint64_t *right = b;
    return *left < *right ? -1 : *left > *right;
}

uint64_t
sample_percentile(uint64_t *times, size_t count, double share)
{
    qsort(times, count, sizeof(*times), compare_numbers);
    return count > 0 ? times[(size_t)((double)(count - 1) * share)] : 0;
}

static enum status
take_documents(struct sample *sample, struct partition_reader *reader, struct reason *why)
{
    const struct quad_source *source = partition_reader_source(reader);
    size_t capacity = 0;
    oid graph = OID_NONE;
    struct document_entry entry;
    enum status status;
    while ((status = partition_reader_document(reader, &graph, &entry, why)) == STATUS_OK) {
        struct term term;
        TRY(source->resolve(source->context, graph, &sample->arena, &term, why));
        if (sample->document_count == capacity) {
            capacity = capacity > 0 ? 2 * capacity : 4096;
            sample->documents =
                memory_resize(sample->documents, capacity, sizeof(*sample->documents));
        }
        if (!entry.removed) {
            sample->documents[sample->document_count++] = term.value;
        }
        graph++;
    }
    return status == STATUS_END ? STATUS_OK : status;
}

static enum status
take_quad(void *context, const struct quad *quad, struct reason *why)
{
    struct sample *sample = context;
    struct quad *copy = &sample->quads[sample->quad_count];
    (void)why;
    *copy = *quad;
    if (!quad_copy(&sample->arena, quad, copy)) {
        return STATUS_END;
    }
    sample->quad_count++;
    return STATUS_OK;
}

struct limited {
    struct sample *sample;
    size_t left;
};

static enum status
take_some(void *context, const struct quad *quad, struct reason *why)
{
    struct limited *limited = context;
    return limited->left-- == 0 ? STATUS_END : take_quad(limited->sample, quad, why);
}

static enum status
take_quads(struct sample *sample, struct partition_reader *reader, size_t documents, size_t each,
           struct reason *why)
{
    const struct quad_source *source = partition_reader_source(reader);
    uint64_t state = 88172645463325252u;
    sample->quads = memory_alloc((documents * each + 1) * sizeof(*sample->quads));
    for (size_t i = 0; i < documents && sample->document_count > 0; i++) {
        const size_t chosen = sample_random(&state) % sample->document_count;
        const struct term graph = term_iri(sample->documents[chosen]);
        struct quad_oids pattern = {.graph = OID_NONE};
        TRY(source->lookup(source->context, &graph, &pattern.graph, why));
        struct limited limited = {sample, each};
        const struct quad_sink sink = {take_some, &limited};
        TRY(quad_walk(source, &pattern, ORDER_COUNT, &sink, why));
    }
    return STATUS_OK;
}

static void
take_words(struct sample *sample)
{
    size_t capacity = 0;
    for (size_t i = 0; i < sample->quad_count; i++) {
        const struct term *object = &sample->quads[i].object;
        const bool text = object->kind == TERM_LITERAL && object->datatype.length == 0;
        for (size_t at = 0; text && at < object->value.length;) {
            const size_t first = at;
            while (at < object->value.length && isalpha((unsigned char)object->value.at[at])) {
                at++;
            }
            if (at - first >= WORD_LEAST) {
                if (sample->word_count == capacity) {
                    capacity = capacity > 0 ? 2 * capacity : 4096;
                    sample->words = memory_resize(sample->words, capacity, sizeof(*sample->words));
                }
                sample->words[sample->word_count++] =
                    slice_of(object->value.at + first, at - first);
            }
            at += at == first;
        }
    }
}

enum status
sample_take(struct sample *sample, struct partition *partition, size_t documents, size_t quads_each,
            struct reason *why)
{
    *sample = (struct sample){.documents = NULL};
    arena_init(&sample->arena, 0);
    struct partition_reader *reader;
    TRY(partition_reader_open(&reader, partition, why));
    enum status status = take_documents(sample, reader, why);
    if (status == STATUS_OK) {
        status = take_quads(sample, reader, documents, quads_each, why);
    }
    partition_reader_close(reader);
    if (status == STATUS_OK && sample->quad_count == 0) {
        status = status_fail(why, STATUS_NOT_FOUND, "the index is empty");
    }
    take_words(sample);
    if (status == STATUS_OK && sample->word_count == 0) {
        status = status_fail(why, STATUS_NOT_FOUND, "the index has no words");
    }
    return status;
}

void
sample_release(struct sample *sample)
{
    free(sample->documents);
    free(sample->quads);
    free(sample->words);
    arena_release(&sample->arena);
}
