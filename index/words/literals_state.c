#include "index/words/literals_state.h"

#include <string.h>

#include "base/codec.h"

enum { STATE_VERSION = 1, STATE_MOST = 1 + 5 * 10 + WORD_MOST };

enum status
literals_state_get(struct tree *tree, struct literals_state *state, struct reason *why)
{
    uint8_t bytes[STATE_MOST];
    size_t length = sizeof(bytes);
    *state = (struct literals_state){.next = 1};
    const enum status status = tree_get(tree, NULL, LITERALS_STATE_KEY, bytes, &length, why);
    if (status != STATUS_OK) {
        return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    }
    struct codec_reader in = codec_reader_of(slice_of((char *)bytes, length));
    const uint8_t version = codec_get_u8(&in);
    state->next = codec_get_varint(&in);
    state->literals = codec_get_varint(&in);
    state->words = codec_get_varint(&in);
    state->until = codec_get_varint(&in);
    const struct slice done = codec_get_slice(&in);
    if (version != STATE_VERSION || !codec_at_end(&in) || done.length > sizeof(state->done)) {
        return literals_damaged(why, "its state is malformed");
    }
    memcpy(state->done, done.at ? done.at : "", done.length);
    state->done_length = done.length;
    return STATUS_OK;
}

enum status
literals_damaged(struct reason *why, const char *what)
{
    return status_fail(why, STATUS_CORRUPT, "tree words: %s", what);
}

void
literals_state_encode(const struct literals_state *state, struct buf *record)
{
    buf_init(record, STATE_MOST);
    codec_put_u8(record, STATE_VERSION);
    codec_put_varint(record, state->next);
    codec_put_varint(record, state->literals);
    codec_put_varint(record, state->words);
    codec_put_varint(record, state->until);
    codec_put_slice(record, slice_of((const char *)state->done, state->done_length));
}

enum status
literals_state_put(struct tree *tree, struct transaction *transaction,
                   const struct literals_state *state, struct reason *why)
{
    struct buf record;
    literals_state_encode(state, &record);
    const enum status status =
        tree_put(tree, transaction, LITERALS_STATE_KEY, buf_slice(&record), why);
    buf_release(&record);
    return status;
}

void
literals_state_finish(struct literals_state *state, const struct posting_memtable *written)
{
    state->next = state->until;
    state->literals += posting_memtable_literals(written);
    state->words += posting_memtable_words(written);
    state->until = 0;
    state->done_length = 0;
}
