#include "index/terms/node_block.h"

#include <stdlib.h>

#include "base/memory.h"

void
node_block_init(struct node_block *block)
{
    *block = (struct node_block){0};
    buf_init(&block->raw, NODE_BLOCK_MOST + 1);
}

void
node_block_release(struct node_block *block)
{
    buf_release(&block->raw);
    free(block->offsets);
}

void
node_block_trim(struct node_block *block)
{
    if (block->raw.capacity > block->raw.length + 1) {
        block->raw.capacity = block->raw.length + 1;
        block->raw.data = memory_resize(block->raw.data, block->raw.capacity, 1);
    }
}

void
node_block_put(struct buf *raw, const struct term *term)
{
    const enum oid_kind kind = oid_kind_of(term);
    codec_put_u8(raw, (uint8_t)kind);
    if (kind == OID_KIND_TYPED) {
        codec_put_slice(raw, term->datatype);
    } else if (kind == OID_KIND_LANGUAGE) {
        codec_put_slice(raw, term->language);
    }
    codec_put_slice(raw, term->value);
}

bool
node_block_get(struct codec_reader *reader, enum oid_kind *kind, struct term *term)
{
    *kind = (enum oid_kind)codec_get_u8(reader);
    *term = (struct term){.kind = TERM_LITERAL};
    switch (*kind) {
    case OID_KIND_IRI:
        term->kind = TERM_IRI;
        break;
    case OID_KIND_BLANK:
        term->kind = TERM_BLANK;
        break;
    case OID_KIND_STRING:
        break;
    case OID_KIND_TYPED:
        term->datatype = codec_get_slice(reader);
        break;
    case OID_KIND_LANGUAGE:
        term->language = codec_get_slice(reader);
        break;
    default:
        return false;
    }
    term->value = codec_get_slice(reader);
    return !reader->bad;
}

enum status
node_block_index(struct node_block *block, struct reason *why)
{
    if (block->count > block->room) {
        block->room = block->count;
        block->offsets = memory_resize(block->offsets, block->room, sizeof(*block->offsets));
    }
    struct codec_reader reader = codec_reader_of(buf_slice(&block->raw));
    const uint8_t *start = reader.at;
    for (size_t i = 0; i < block->count; i++) {
        enum oid_kind kind;
        struct term term;
        block->offsets[i] = (uint32_t)(reader.at - start);
        if (!node_block_get(&reader, &kind, &term)) {
            return status_fail(why, STATUS_CORRUPT, "term %llu is malformed",
                               (unsigned long long)(block->first + i));
        }
    }
    return codec_at_end(&reader) ? STATUS_OK
                                 : status_fail(why, STATUS_CORRUPT, "bytes after term %llu",
                                               (unsigned long long)(block->first + block->count));
}

struct slice
node_block_entry(const struct node_block *block, uint64_t number)
{
    const size_t i = number - block->first;
    const size_t end = i + 1 < block->count ? block->offsets[i + 1] : block->raw.length;
    return slice_of(block->raw.data + block->offsets[i], end - block->offsets[i]);
}

enum status
node_block_entry_copy(struct slice *entry, uint64_t number, enum oid_kind kind, struct arena *arena,
                      struct term *term, struct reason *why)
{
    struct codec_reader reader = codec_reader_of(*entry);
    enum oid_kind found_kind;
    struct term found;
    if (!node_block_get(&reader, &found_kind, &found) || found_kind != kind) {
        return status_fail(why, STATUS_CORRUPT, "term %llu is of another kind",
                           (unsigned long long)number);
    }
    entry->length = (size_t)((const char *)reader.at - entry->at);
    return term_copy(arena, &found, term)
               ? STATUS_OK
               : status_fail(why, STATUS_LIMIT, "a term of %zu bytes does not fit in memory",
                             found.value.length);
}

enum status
node_block_copy(const struct node_block *block, uint64_t number, enum oid_kind kind,
                struct arena *arena, struct term *term, struct reason *why)
{
    struct slice entry = node_block_entry(block, number);
    return node_block_entry_copy(&entry, number, kind, arena, term, why);
}
