#include "stages/skeleton/document.h"

#include <string.h>

#include "base/codec.h"

enum { DOCUMENT_VERSION = 1 };

/* Tags are part of the format and never reused. */
enum tag {
    TAG_HTTP_STATUS = 1,
    TAG_CONTENT_TYPE,
    TAG_LINK_HEADER,
    TAG_TYPE,
    TAG_CHARSET,
    TAG_FETCHED,
    TAG_QUADS,
    TAG_REMOVED,
    TAG_BROKEN,
    TAG_WAITING,
    TAG_NOFOLLOW,
    TAG_RESPONSE = 16,   /* five tags: node, file, offset, length, id */
    TAG_CONVERSION = 24, /* the same five */
    TAG_VISIT = 40,      /* varints, in the order of the struct */
    TAG_CLAIMED = 41,
    TAG_CHANGE_FREQUENCY = 42,
    TAG_MAPPED = 43,
    TAG_NESTING = 44,
    TAG_UNVERIFIED = 45,
    TAG_SAID = 46, /* the last; one for each update */
};

static void
put_text(struct buf *out, unsigned tag, struct slice text)
{
    if (text.length > 0) {
        codec_put_varint(out, tag);
        codec_put_slice(out, text);
    }
}

static void
put_number(struct buf *out, unsigned tag, uint64_t number)
{
    if (number != 0) {
        uint8_t bytes[8];
        codec_write_u64(bytes, number);
        codec_put_varint(out, tag);
        codec_put_slice(out, slice_of((const char *)bytes, sizeof bytes));
    }
}

static void
put_record(struct buf *out, unsigned tag, const struct document_record *record)
{
    put_text(out, tag, record->node);
    put_text(out, tag + 1, record->file);
    put_number(out, tag + 2, record->offset);
    put_number(out, tag + 3, record->length);
    put_text(out, tag + 4, record->id);
}

enum { VISIT_NUMBERS = sizeof(struct document_visit) / sizeof(uint64_t), VISIT_BYTES = 128 };

static void
put_visit(struct buf *out, const struct document_visit *visit)
{
    uint64_t numbers[VISIT_NUMBERS];
    struct buf bytes;
    if (visit->threshold_ms == 0) {
        return;
    }
    memcpy(numbers, visit, sizeof numbers);
    buf_init(&bytes, VISIT_BYTES);
    for (int i = 0; i < VISIT_NUMBERS; i++) {
        codec_put_varint(&bytes, numbers[i]);
    }
    put_text(out, TAG_VISIT, buf_slice(&bytes));
    buf_release(&bytes);
}

static void
take_visit(struct document_visit *visit, struct slice bytes)
{
    uint64_t numbers[VISIT_NUMBERS];
    struct codec_reader reader = codec_reader_of(bytes);
    for (int i = 0; i < VISIT_NUMBERS; i++) {
        numbers[i] = codec_get_varint(&reader);
    }
    if (!reader.bad) {
        memcpy(visit, numbers, sizeof numbers);
    }
}

void
document_encode(struct buf *out, const struct document *document)
{
    codec_put_u8(out, DOCUMENT_VERSION);
    put_number(out, TAG_HTTP_STATUS, document->http_status);
    put_text(out, TAG_CONTENT_TYPE, document->content_type);
    put_text(out, TAG_LINK_HEADER, document->link_header);
    put_text(out, TAG_TYPE, document->type);
    put_text(out, TAG_CHARSET, document->charset);
    put_number(out, TAG_FETCHED, document->fetched_ms);
    put_number(out, TAG_QUADS, document->quads);
    put_number(out, TAG_REMOVED, document->removed);
    put_number(out, TAG_BROKEN, document->broken);
    put_number(out, TAG_WAITING, document->waiting_ms);
    put_number(out, TAG_NOFOLLOW, document->nofollow);
    put_number(out, TAG_MAPPED, document->mapped);
    put_visit(out, &document->visit);
    put_number(out, TAG_CLAIMED, document->claimed_ms);
    put_text(out, TAG_CHANGE_FREQUENCY, document->change_frequency);
    put_number(out, TAG_NESTING, document->nesting);
    put_number(out, TAG_UNVERIFIED, document->unverified);
    put_record(out, TAG_RESPONSE, &document->response);
    put_record(out, TAG_CONVERSION, &document->conversion);
}

void
document_say(struct buf *encoded, struct slice before, struct slice fields)
{
    buf_append_slice(encoded, before);
    put_text(encoded, TAG_SAID, fields);
}

bool
document_said(struct slice *said, struct slice *fields)
{
    struct codec_reader reader = codec_reader_of(*said);
    const uint64_t tag = codec_get_varint(&reader);
    *fields = codec_get_slice(&reader);
    if (reader.bad || tag != TAG_SAID) {
        return false;
    }
    const size_t read = (size_t)(reader.at - (const uint8_t *)said->at);
    *said = slice_of(said->at + read, said->length - read);
    return true;
}

static uint64_t
number_of(struct slice bytes)
{
    return bytes.length == 8 ? codec_read_u64((const uint8_t *)bytes.at) : 0;
}

static void
take_record(struct document_record *record, unsigned part, struct slice bytes)
{
    switch (part) {
    case 0:
        record->node = bytes;
        break;
    case 1:
        record->file = bytes;
        break;
    case 2:
        record->offset = number_of(bytes);
        break;
    case 3:
        record->length = number_of(bytes);
        break;
    case 4:
        record->id = bytes;
        break;
    default: /* of a later version */
        break;
    }
}

static void
take(struct document *document, uint64_t tag, struct slice bytes)
{
    switch (tag) {
    case TAG_HTTP_STATUS:
        document->http_status = (uint16_t)number_of(bytes);
        break;
    case TAG_CONTENT_TYPE:
        document->content_type = bytes;
        break;
    case TAG_LINK_HEADER:
        document->link_header = bytes;
        break;
    case TAG_TYPE:
        document->type = bytes;
        break;
    case TAG_CHARSET:
        document->charset = bytes;
        break;
    case TAG_FETCHED:
        document->fetched_ms = number_of(bytes);
        break;
    case TAG_QUADS:
        document->quads = number_of(bytes);
        break;
    case TAG_REMOVED:
        document->removed = number_of(bytes) != 0;
        break;
    case TAG_BROKEN:
        document->broken = number_of(bytes) != 0;
        break;
    case TAG_WAITING:
        document->waiting_ms = number_of(bytes);
        break;
    case TAG_NOFOLLOW:
        document->nofollow = number_of(bytes) != 0;
        break;
    case TAG_MAPPED:
        document->mapped = number_of(bytes) != 0;
        break;
    case TAG_VISIT:
        take_visit(&document->visit, bytes);
        break;
    case TAG_CLAIMED:
        document->claimed_ms = number_of(bytes);
        break;
    case TAG_CHANGE_FREQUENCY:
        document->change_frequency = bytes;
        break;
    case TAG_NESTING:
        document->nesting = number_of(bytes);
        break;
    case TAG_UNVERIFIED:
        document->unverified = number_of(bytes) != 0;
        break;
    default:
        if (tag >= TAG_CONVERSION && tag < TAG_CONVERSION + 8) {
            take_record(&document->conversion, (unsigned)tag - TAG_CONVERSION, bytes);
        } else if (tag >= TAG_RESPONSE && tag < TAG_RESPONSE + 8) {
            take_record(&document->response, (unsigned)tag - TAG_RESPONSE, bytes);
        }
        break;
    }
}

bool
document_decode(struct slice bytes, struct document *document)
{
    *document = (struct document){0};
    if (bytes.length == 0) { /* a job put by hand or by an earlier fetch stage */
        return true;
    }
    struct codec_reader reader = codec_reader_of(bytes);
    if (codec_get_u8(&reader) != DOCUMENT_VERSION) {
        return false;
    }
    while (!reader.bad && !codec_at_end(&reader)) {
        const char *const at = (const char *)reader.at;
        const uint64_t tag = codec_get_varint(&reader);
        const struct slice value = codec_get_slice(&reader);
        if (tag == TAG_SAID && document->said.length == 0) {
            document->said = slice_of(at, (size_t)(bytes.at + bytes.length - at));
        }
        if (!reader.bad) {
            take(document, tag, value);
        }
    }
    return !reader.bad;
}
