/* Explicit bytes for messages and stored records: big-endian integers, LEB128 varints,
 * and byte strings with a varint length. No struct layout ever reaches a disk or a wire.
 *
 * Encoding appends to a struct buf (check buf->overflowed once at the end). Decoding reads
 * through a cursor whose `bad` is sticky: after a short or malformed read every further
 * read yields zero or an empty slice, so a decoder checks once at the end.
 */
#ifndef BASE_CODEC_H
#define BASE_CODEC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"

void codec_put_u8(struct buf *buf, uint8_t value);
void codec_put_u32(struct buf *buf, uint32_t value);
void codec_put_u64(struct buf *buf, uint64_t value);
void codec_put_varint(struct buf *buf, uint64_t value);
void codec_put_slice(struct buf *buf, struct slice value); /* varint length, bytes */

struct codec_reader {
    const uint8_t *at;
    const uint8_t *end;
    bool bad;
};

struct codec_reader codec_reader_of(struct slice bytes);
uint8_t codec_get_u8(struct codec_reader *reader);
uint32_t codec_get_u32(struct codec_reader *reader);
uint64_t codec_get_u64(struct codec_reader *reader);
uint64_t codec_get_varint(struct codec_reader *reader);    /* more than 10 bytes or 64 bits: bad */
uint32_t codec_get_varint32(struct codec_reader *reader);  /* the same; more than 32 bits: bad */
struct slice codec_get_slice(struct codec_reader *reader); /* points into the input */
/* True when nothing was bad and every byte was read. */
bool codec_at_end(const struct codec_reader *reader);

/* Fixed places inside a key or header. */
void codec_write_u16(uint8_t *at, uint16_t value);
void codec_write_u32(uint8_t *at, uint32_t value);
void codec_write_u64(uint8_t *at, uint64_t value);
uint16_t codec_read_u16(const uint8_t *at);
uint32_t codec_read_u32(const uint8_t *at);
uint64_t codec_read_u64(const uint8_t *at);

#endif
