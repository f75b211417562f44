#include "index/terms/term_blocks.h"

#include <sodium.h>
#include <string.h>

#include "base/digest.h"
#include "base/varint.h"

enum {
    CODEC_FRONT = 1,
    KIND_BITS = 3,
    PREFIX = 128, /* bytes of a long IRI or label that stay readable in its key */
    TEXT_MOST = TERM_KEY_MAXIMUM - 1
};

static void
key_text(struct term_key *key, char kind, struct slice text)
{
    key->bytes[0] = (uint8_t)kind;
    if (text.length <= TEXT_MOST) {
        memcpy(key->bytes + 1, text.at ? text.at : "", text.length);
        key->length = (uint8_t)(1 + text.length);
        return;
    }
    memcpy(key->bytes + 1, text.at, PREFIX);
    key->bytes[1 + PREFIX] = 0;
    fingerprint_of(text, key->bytes + 2 + PREFIX);
    key->length = 2 + PREFIX + FINGERPRINT_SIZE;
}

static void
key_literal(struct term_key *key, const struct term *term)
{
    const uint8_t kind = (uint8_t)oid_kind_of(term);
    const struct slice mark = term->language.length > 0 ? term->language : term->datatype;
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, FINGERPRINT_SIZE);
    crypto_generichash_update(&state, &kind, 1);
    crypto_generichash_update(&state, (const uint8_t *)mark.at, mark.length);
    crypto_generichash_update(&state, (const uint8_t *)"", 1);
    crypto_generichash_update(&state, (const uint8_t *)term->value.at, term->value.length);
    key->bytes[0] = 'L';
    crypto_generichash_final(&state, key->bytes + 1, FINGERPRINT_SIZE);
    key->length = 1 + FINGERPRINT_SIZE;
}

void
term_key_of(const struct term *normal, struct term_key *key)
{
    switch (normal->kind) {
    case TERM_IRI:
        key_text(key, 'I', normal->value);
        break;
    case TERM_BLANK:
        key_text(key, 'B', normal->value);
        break;
    default:
        key_literal(key, normal);
        break;
    }
}

static size_t
common_length(struct slice a, struct slice b)
{
    const size_t most = a.length < b.length ? a.length : b.length;
    size_t common = 0;
    while (common < most && a.at[common] == b.at[common]) {
        common++;
    }
    return common;
}

struct slice
term_fence(struct slice left, struct slice right)
{
    const size_t common = common_length(left, right);
    return common + 1 < right.length ? slice_of(right.at, common + 1) : left;
}

/* ---- writing ---- */

void
term_block_begin(struct term_block_writer *writer, uint8_t *bytes, size_t size)
{
    writer->start = bytes;
    writer->at = bytes + TERM_BLOCK_HEADER;
    writer->limit = bytes + size;
    writer->count = 0;
    writer->number = 0;
    writer->last = slice_of(NULL, 0);
}

bool
term_block_add(struct term_block_writer *writer, const struct term_entry *entry)
{
    const struct slice key = term_entry_key(entry);
    const size_t shared = common_length(writer->last, key);
    uint8_t *at = varint_put(writer->at, shared);
    at = varint_put(at, key.length - shared);
    memcpy(at, key.at + shared, key.length - shared);
    at += key.length - shared;
    const uint64_t number = oid_number(entry->id);
    at = varint_put(at,
                    zigzag((int64_t)(number - writer->number)) << KIND_BITS | oid_kind(entry->id));
    if (at > writer->limit || writer->count == TERM_ENTRY_MOST) {
        return false;
    }
    writer->at = at;
    writer->number = number;
    writer->last = key;
    writer->count++;
    return true;
}

size_t
term_block_end(struct term_block_writer *writer)
{
    writer->start[0] = CODEC_FRONT;
    return (size_t)(writer->at - writer->start);
}

/* ---- reading ---- */

void
term_block_open(struct term_block_reader *reader, const uint8_t *bytes, size_t length)
{
    reader->at = bytes;
    reader->end = bytes + length;
    reader->count = 0;
    reader->number = 0;
    reader->key.length = 0;
    reader->bad = false;
    if (length == 0) {
        return;
    }
    if (length < TERM_BLOCK_HEADER || bytes[0] != CODEC_FRONT) {
        reader->bad = true;
        return;
    }
    reader->at += TERM_BLOCK_HEADER;
}

bool
term_block_next(struct term_block_reader *reader)
{
    if (reader->at == reader->end || reader->bad) {
        return false;
    }
    uint64_t shared;
    uint64_t rest;
    uint64_t code;
    const uint8_t *at = varint_get(reader->at, reader->end, &shared);
    at = at ? varint_get(at, reader->end, &rest) : NULL;
    reader->bad = true;
    if (reader->count++ == TERM_ENTRY_MOST || at == NULL || shared > reader->key.length ||
        rest > TERM_KEY_MAXIMUM - shared || rest > (uint64_t)(reader->end - at)) {
        return false;
    }
    memcpy(reader->key.bytes + shared, at, rest);
    reader->key.length = (uint8_t)(shared + rest);
    at = varint_get(at + rest, reader->end, &code);
    if (at == NULL) {
        return false;
    }
    reader->number += (uint64_t)unzigzag(code >> KIND_BITS);
    reader->id = oid_stored(reader->number & OID_NUMBER_MAXIMUM,
                            (enum oid_kind)(code & ((1 << KIND_BITS) - 1)));
    reader->at = at;
    reader->bad = false;
    return true;
}
