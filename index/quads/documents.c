#include "index/quads/documents.h"

#include <string.h>

#include "base/codec.h"
#include "base/varint.h"

enum {
    RECORD_VERSION = 1,
    KEY_SIZE = 8,
    RECORD_MOST = 96,
    FLAG_REMOVED = 1,
    FLAG_LINKED_DATA = 2,
    FLAG_PATCHED = 4
};

static struct slice
graph_key(oid graph, uint8_t key[KEY_SIZE])
{
    codec_write_u64(key, graph);
    return slice_of((const char *)key, KEY_SIZE);
}

static enum status
decode(struct slice bytes, struct document_entry *entry, struct reason *why)
{
    struct codec_reader reader = codec_reader_of(bytes);
    const uint8_t version = codec_get_u8(&reader);
    const uint8_t flags = codec_get_u8(&reader);
    entry->removed = flags & FLAG_REMOVED;
    entry->linked_data = flags & FLAG_LINKED_DATA;
    entry->generation = codec_get_varint(&reader);
    entry->quads = codec_get_varint(&reader);
    entry->indexed_ms = codec_get_varint(&reader);
    entry->patched = flags & FLAG_PATCHED;
    const size_t digest = entry->patched ? 0 : DIGEST_SHA256_SIZE;
    if (reader.bad || version != RECORD_VERSION || (size_t)(reader.end - reader.at) != digest) {
        return status_fail(why, STATUS_CORRUPT, "tree documents: a record is malformed");
    }
    memset(entry->digest, 0, sizeof(entry->digest));
    memcpy(entry->digest, reader.at, digest);
    return STATUS_OK;
}

enum status
documents_get(struct tree *documents, oid graph, struct document_entry *entry, struct reason *why)
{
    uint8_t key[KEY_SIZE];
    uint8_t value[RECORD_MOST];
    size_t length = sizeof(value);
    TRY(tree_get(documents, NULL, graph_key(graph, key), value, &length, why));
    return decode(slice_of((char *)value, length), entry, why);
}

enum status
documents_put(struct tree *documents, struct transaction *transaction, oid graph,
              const struct document_entry *entry, struct reason *why)
{
    uint8_t key[KEY_SIZE];
    uint8_t value[RECORD_MOST];
    uint8_t *at = value;
    *at++ = RECORD_VERSION;
    *at++ = (uint8_t)((entry->removed ? FLAG_REMOVED : 0) |
                      (entry->linked_data ? FLAG_LINKED_DATA : 0) |
                      (entry->patched ? FLAG_PATCHED : 0));
    at = varint_put(at, entry->generation);
    at = varint_put(at, entry->quads);
    at = varint_put(at, entry->indexed_ms);
    if (!entry->patched) {
        memcpy(at, entry->digest, DIGEST_SHA256_SIZE);
        at += DIGEST_SHA256_SIZE;
    }
    return tree_put(documents, transaction, graph_key(graph, key),
                    slice_of((char *)value, (size_t)(at - value)), why);
}

enum status
documents_next(struct tree *documents, oid *graph, struct document_entry *entry, struct reason *why)
{
    uint8_t key[KEY_SIZE];
    uint8_t value[RECORD_MOST];
    size_t key_length = KEY_SIZE;
    size_t length = 0;
    codec_write_u64(key, *graph);
    struct tree_cursor *cursor;
    TRY(tree_cursor_open(&cursor, documents, NULL, why));
    const enum status status = tree_cursor_move(cursor, TREE_AT_OR_AFTER, key, sizeof(key),
                                                &key_length, value, sizeof(value), &length, why);
    tree_cursor_close(cursor);
    TRY(status);
    *graph = codec_read_u64(key);
    return decode(slice_of((char *)value, length), entry, why);
}
