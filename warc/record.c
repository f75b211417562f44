#include "warc/record.h"

#include "warc/gzip.h"

enum { DEFAULT_LIMIT = 256 << 20, DEFAULT_RATIO = 1000 };

struct warc_limits
warc_limits_of(const struct warc_limits *limits)
{
    struct warc_limits filled = limits != NULL ? *limits : (struct warc_limits){0};
    filled.record = filled.record > 0 ? filled.record : DEFAULT_LIMIT;
    filled.body = filled.body > 0 ? filled.body : filled.record;
    filled.ratio = filled.ratio > 0 ? filled.ratio : DEFAULT_RATIO;
    return filled;
}

/* ---- header blocks ---- */

size_t
warc_header_length(struct slice text)
{
    size_t at = 0;
    while (at < text.length) {
        const size_t line = slice_find(slice_of(text.at + at, text.length - at), '\n');
        if (at + line == text.length) {
            return 0;
        }
        if (line == 0 || (line == 1 && text.at[at] == '\r')) {
            return at + line + 1;
        }
        at += line + 1;
    }
    return 0;
}

struct slice
warc_http_header(struct slice header, const char *name)
{
    const struct slice wanted = slice_string(name);
    while (header.length > 0) {
        const size_t line = slice_find(header, '\n');
        const size_t colon = slice_find(slice_of(header.at, line), ':');
        if (colon < line && colon == wanted.length &&
            slice_equal_nocase(slice_of(header.at, colon), wanted)) {
            return slice_trim(slice_of(header.at + colon + 1, line - colon - 1));
        }
        const size_t next = line < header.length ? line + 1 : line;
        header = slice_of(header.at + next, header.length - next);
    }
    return (struct slice){0};
}

static struct slice
without_angles(struct slice id)
{
    return id.length >= 2 && id.at[0] == '<' && id.at[id.length - 1] == '>'
               ? slice_of(id.at + 1, id.length - 2)
               : id;
}

static bool
parse_length(struct slice text, uint64_t *length)
{
    *length = 0;
    for (size_t i = 0; i < text.length; i++) {
        if (text.at[i] < '0' || text.at[i] > '9' || *length > UINT64_MAX / 16) {
            return false;
        }
        *length = *length * 10 + (uint64_t)(text.at[i] - '0');
    }
    return text.length > 0;
}

static uint16_t
status_of(struct slice http_header)
{
    unsigned code = 0;
    const size_t blank = slice_find(http_header, ' ');
    for (size_t i = blank + 1; i < http_header.length && i <= blank + 3; i++) {
        if (http_header.at[i] < '0' || http_header.at[i] > '9') {
            return 0;
        }
        code = code * 10 + (unsigned)(http_header.at[i] - '0');
    }
    return (uint16_t)code;
}

/* ---- the record ---- */

/* Offsets, because decoding may move the buffer. */
struct layout {
    size_t header, block, http, length;
    size_t body, body_length;
    bool decoded;
};

static void
publish(const struct buf *memory, const struct layout *layout, struct warc_record *record)
{
    const struct slice header = slice_of(memory->data, layout->header);
    const char *block = memory->data + layout->block;
    record->header = header;
    record->type = warc_http_header(header, "WARC-Type");
    record->uri = without_angles(warc_http_header(header, "WARC-Target-URI"));
    record->date = warc_http_header(header, "WARC-Date");
    record->id = without_angles(warc_http_header(header, "WARC-Record-ID"));
    record->refers_to = without_angles(warc_http_header(header, "WARC-Refers-To"));
    record->content_type = warc_http_header(header, "Content-Type");
    record->payload_digest = warc_http_header(header, "WARC-Payload-Digest");
    record->truncated = warc_http_header(header, "WARC-Truncated");
    record->http_header = slice_of(block, layout->http);
    record->payload = slice_of(block + layout->http, layout->length - layout->http);
    record->body = layout->decoded ? slice_of(memory->data + layout->body, layout->body_length)
                                   : record->payload;
}

/* Undoes the content coding into memory, behind the record; from a copy, because that may move. */
static void
decode_body(struct buf *memory, const struct warc_limits *limits, struct layout *layout,
            struct warc_record *record)
{
    struct buf encoded;
    struct reason why = {""};
    const char *block = memory->data + layout->block;
    const struct slice payload = slice_of(block + layout->http, layout->length - layout->http);
    struct slice coding = warc_http_header(slice_of(block, layout->http), "Content-Encoding");
    if (coding.length == 0 || payload.length == 0 || limits->encoded) {
        return;
    }
    buf_init(&encoded, coding.length + payload.length);
    buf_append_slice(&encoded, coding);
    buf_append_slice(&encoded, payload);
    coding.at = encoded.data;
    const struct buf before = *memory;
    if (limits->body < memory->maximum - memory->length) {
        memory->maximum = memory->length + limits->body;
    }
    const enum status status =
        warc_decode(coding, slice_of(encoded.data + coding.length, payload.length), limits->ratio,
                    memory, &why);
    memory->maximum = before.maximum;
    memory->overflowed = before.overflowed;
    buf_release(&encoded);
    record->body_truncated = status != STATUS_OK && status != STATUS_UNSUPPORTED;
    layout->decoded = status != STATUS_UNSUPPORTED;
    layout->body = before.length;
    layout->body_length = memory->length - before.length;
    if (why.text[0] != '\0') {
        const size_t n = strlen(why.text);
        record->encoding_problem = buf_append(memory, why.text, n) == STATUS_OK
                                       ? slice_of(memory->data + memory->length - n, n)
                                       : SLICE("the body could not be decoded");
    }
}

enum status
warc_record_parse(struct buf *memory, const struct warc_limits *limits, struct warc_record *record,
                  struct reason *why)
{
    struct layout layout = {0};
    uint64_t length;
    *record = (struct warc_record){0};
    const struct slice text = buf_slice(memory);
    if (!slice_starts(text, SLICE("WARC/1."))) {
        return status_fail(why, STATUS_CORRUPT, "no WARC record begins there");
    }
    layout.header = warc_header_length(text);
    layout.block = layout.header;
    const struct slice header = slice_of(text.at, layout.header);
    if (layout.header == 0 || !parse_length(warc_http_header(header, "Content-Length"), &length) ||
        length > text.length - layout.header) {
        return status_fail(why, STATUS_CORRUPT, "a WARC record is not whole");
    }
    layout.length = (size_t)length;
    const struct slice type = warc_http_header(header, "Content-Type");
    if (slice_starts(type, SLICE("application/http"))) {
        const struct slice block = slice_of(text.at + layout.block, layout.length);
        layout.http = warc_header_length(block);
        layout.http = layout.http > 0 ? layout.http : layout.length;
        record->http_status =
            slice_starts(block, SLICE("HTTP/")) ? status_of(slice_of(block.at, layout.http)) : 0;
        if (record->http_status > 0) {
            decode_body(memory, limits, &layout, record);
        }
    }
    const struct slice problem = record->encoding_problem;
    publish(memory, &layout, record);
    record->encoding_problem = problem;
    return STATUS_OK;
}

/* ---- one member ---- */

static enum status
inflate_member(struct slice member, size_t most, struct buf *memory, struct reason *why)
{
    const size_t length = gzip_length(member);
    if (length > most || (length > 0 && buf_reserve(memory, length) == NULL)) {
        return status_fail(why, STATUS_LIMIT, "a WARC record larger than %zu bytes",
                           most < memory->maximum ? most : memory->maximum);
    }
    if (length == 0) {
        return status_fail(why, STATUS_CORRUPT, "a WARC record's gzip member is damaged or torn");
    }
    TRY(gzip_inflate(member, memory->data, length, why));
    buf_commit(memory, length);
    return STATUS_OK;
}

enum status
warc_read_member(struct slice member, const struct warc_limits *given, struct buf *memory,
                 struct warc_record *record, struct reason *why)
{
    const struct warc_limits limits = warc_limits_of(given);
    buf_reset(memory);
    if (!slice_starts(member, SLICE("\x1f\x8b"))) {
        if (member.length > limits.record || buf_append_slice(memory, member) != STATUS_OK) {
            return status_fail(why, STATUS_LIMIT, "a WARC record of %zu bytes", member.length);
        }
        return warc_record_parse(memory, &limits, record, why);
    }
    TRY(inflate_member(member, limits.record, memory, why));
    return warc_record_parse(memory, &limits, record, why);
}
