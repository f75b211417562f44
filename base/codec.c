#include "base/codec.h"

enum { VARINT_BYTES_MAXIMUM = 10 };

void
codec_write_u16(uint8_t *at, uint16_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

void
codec_write_u32(uint8_t *at, uint32_t value)
{
    codec_write_u16(at, (uint16_t)(value >> 16));
    codec_write_u16(at + 2, (uint16_t)value);
}

void
codec_write_u64(uint8_t *at, uint64_t value)
{
    codec_write_u32(at, (uint32_t)(value >> 32));
    codec_write_u32(at + 4, (uint32_t)value);
}

uint16_t
codec_read_u16(const uint8_t *at)
{
    return (uint16_t)(at[0] << 8 | at[1]);
}

uint32_t
codec_read_u32(const uint8_t *at)
{
    return (uint32_t)codec_read_u16(at) << 16 | codec_read_u16(at + 2);
}

uint64_t
codec_read_u64(const uint8_t *at)
{
    return (uint64_t)codec_read_u32(at) << 32 | codec_read_u32(at + 4);
}

/* Appends set buf->overflowed themselves; the caller looks once at the end. */

void
codec_put_u8(struct buf *buf, uint8_t value)
{
    (void)buf_append_char(buf, (char)value);
}

void
codec_put_u32(struct buf *buf, uint32_t value)
{
    uint8_t bytes[4];
    codec_write_u32(bytes, value);
    (void)buf_append(buf, bytes, sizeof bytes);
}

void
codec_put_u64(struct buf *buf, uint64_t value)
{
    uint8_t bytes[8];
    codec_write_u64(bytes, value);
    (void)buf_append(buf, bytes, sizeof bytes);
}

void
codec_put_varint(struct buf *buf, uint64_t value)
{
    uint8_t bytes[VARINT_BYTES_MAXIMUM];
    size_t n = 0;
    if (value < 0x80) {
        codec_put_u8(buf, (uint8_t)value);
        return;
    }
    while (value >= 0x80) {
        bytes[n++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    bytes[n++] = (uint8_t)value;
    (void)buf_append(buf, bytes, n);
}

void
codec_put_slice(struct buf *buf, struct slice value)
{
    codec_put_varint(buf, value.length);
    (void)buf_append_slice(buf, value);
}

struct codec_reader
codec_reader_of(struct slice bytes)
{
    static const uint8_t nothing[1];
    const uint8_t *at = bytes.at ? (const uint8_t *)bytes.at : nothing;
    return (struct codec_reader){.at = at, .end = at + bytes.length};
}

/* The next n bytes, or NULL and bad for ever after. */
static const uint8_t *
take(struct codec_reader *reader, uint64_t n)
{
    if (reader->bad || n > (uint64_t)(reader->end - reader->at)) {
        reader->bad = true;
        return NULL;
    }
    const uint8_t *at = reader->at;
    reader->at += n;
    return at;
}

uint8_t
codec_get_u8(struct codec_reader *reader)
{
    const uint8_t *at = take(reader, 1);
    return at ? at[0] : 0;
}

uint32_t
codec_get_u32(struct codec_reader *reader)
{
    const uint8_t *at = take(reader, 4);
    return at ? codec_read_u32(at) : 0;
}

uint64_t
codec_get_u64(struct codec_reader *reader)
{
    const uint8_t *at = take(reader, 8);
    return at ? codec_read_u64(at) : 0;
}

uint64_t
codec_get_varint(struct codec_reader *reader)
{
    uint64_t value = 0;
    for (int i = 0; i < VARINT_BYTES_MAXIMUM; i++) {
        const uint8_t *at = take(reader, 1);
        if (!at) {
            return 0;
        }
        if (i == VARINT_BYTES_MAXIMUM - 1 && *at > 1) {
            break; /* past 64 bits */
        }
        value |= (uint64_t)(*at & 0x7f) << (7 * i);
        if (*at < 0x80) {
            return value;
        }
    }
    reader->bad = true;
    return 0;
}

uint32_t
codec_get_varint32(struct codec_reader *reader)
{
    const uint64_t number = codec_get_varint(reader);
    reader->bad |= number > UINT32_MAX;
    return (uint32_t)number;
}

struct slice
codec_get_slice(struct codec_reader *reader)
{
    const uint64_t length = codec_get_varint(reader);
    const uint8_t *at = take(reader, length);
    return at ? slice_of((const char *)at, (size_t)length) : (struct slice){NULL, 0};
}

bool
codec_at_end(const struct codec_reader *reader)
{
    return !reader->bad && reader->at == reader->end;
}
