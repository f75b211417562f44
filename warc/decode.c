/* Content codings of HTTP (RFC 9110 section 8.4.1). Every decoder writes into a bounded buffer
 * and keeps what it could decode, because half a page is still worth reading. */
#include <brotli/decode.h>
#include <libdeflate.h>
#include <zlib.h>
#include <zstd.h>

#include "warc/gzip.h"
#include "warc/warc.h"

enum { PIECE = 64 << 10, CODINGS_MAXIMUM = 4, RATIO_EXEMPT = 1 << 20, ZSTD_WINDOW_LOG = 27 };
enum {
    GZIP_LEAST = 18,     /* bytes of a member: header and trailer */
    DEFLATE_RATIO = 1100 /* more than deflate can make of a byte */
};

/* Takes the decoded bytes, within both limits. */
struct sink {
    struct buf *out;
    size_t limit; /* of out->length */
};

static size_t
sink_left(const struct sink *sink)
{
    return sink->out->length < sink->limit ? sink->limit - sink->out->length : 0;
}

/* Room for the next piece, NULL at the limit. */
static char *
sink_room(const struct sink *sink, size_t *room)
{
    const size_t left = sink_left(sink);
    *room = left < PIECE ? left : PIECE;
    return *room > 0 ? buf_reserve(sink->out, *room) : NULL;
}

static enum status
too_large(struct reason *why)
{
    return status_fail(why, STATUS_LIMIT, "the decoded body is larger than allowed");
}

static enum status
damaged(const char *coding, struct reason *why)
{
    return status_fail(why, STATUS_CORRUPT, "the %s coding is damaged or cut off", coding);
}

/* ---- gzip and deflate ---- */

size_t
gzip_length(struct slice member)
{
    if (member.length < GZIP_LEAST) {
        return 0;
    }
    const uint8_t *size = (const uint8_t *)member.at + member.length - 4;
    const size_t length = size[0] | size[1] << 8 | size[2] << 16 | (size_t)size[3] << 24;
    return length / DEFLATE_RATIO > member.length ? 0 : length;
}

enum status
gzip_inflate(struct slice member, char *room, size_t length, struct reason *why)
{
    static _Thread_local struct libdeflate_decompressor *decompressor;
    size_t used = 0;
    if (decompressor == NULL) {
        decompressor = libdeflate_alloc_decompressor();
        if (decompressor == NULL) {
            return status_fail(why, STATUS_SYSTEM, "libdeflate could not start");
        }
    }
    const bool whole = libdeflate_gzip_decompress_ex(decompressor, member.at, member.length, room,
                                                     length, &used, NULL) == LIBDEFLATE_SUCCESS &&
                       used == member.length;
    return whole ? STATUS_OK
                 : status_fail(why, STATUS_CORRUPT, "the gzip member is damaged or cut off");
}

/* Inflates at three times zlib's rate, but all or nothing. */
static bool
inflate_at_once(struct slice bytes, const struct sink *sink)
{
    const size_t length = gzip_length(bytes);
    char *room = length > 0 && length <= sink_left(sink) ? buf_reserve(sink->out, length) : NULL;
    if (room == NULL || gzip_inflate(bytes, room, length, NULL) != STATUS_OK) {
        return false;
    }
    buf_commit(sink->out, length);
    return true;
}

/* At the limit more is read, since a member that follows may be empty: only a byte beyond is too
 * many. */
static enum status
inflate_stream(z_stream *stream, const struct sink *sink, bool members, const char *name,
               struct reason *why)
{
    int code = Z_OK;
    for (;;) {
        size_t room;
        char beyond = 0;
        char *at = sink_room(sink, &room);
        stream->next_out = (Bytef *)(at != NULL ? at : &beyond);
        stream->avail_out = at != NULL ? (uInt)room : 1;
        code = inflate(stream, Z_NO_FLUSH);
        if (at != NULL) {
            buf_commit(sink->out, room - stream->avail_out);
        } else if (stream->avail_out == 0) {
            return too_large(why);
        }
        if (code == Z_STREAM_END) {
            /* Another member may follow; anything else behind is ignored, as browsers do. */
            if (members && stream->avail_in > 2 && stream->next_in[0] == 0x1f &&
                stream->next_in[1] == 0x8b && inflateReset(stream) == Z_OK) {
                continue;
            }
            return STATUS_OK;
        }
        if (code != Z_OK && !(code == Z_BUF_ERROR && stream->avail_in > 0)) {
            return damaged(name, why);
        }
    }
}

static enum status
inflate_window(struct slice bytes, int window, const struct sink *sink, const char *name,
               struct reason *why)
{
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)bytes.at, .avail_in = (uInt)bytes.length};
    if (bytes.length > UINT32_MAX || inflateInit2(&stream, window) != Z_OK) {
        return status_fail(why, STATUS_SYSTEM, "zlib could not start");
    }
    const enum status status = inflate_stream(&stream, sink, window > 15, name, why);
    inflateEnd(&stream);
    return status;
}

static enum status
decode_gzip(struct slice bytes, const struct sink *sink, struct reason *why)
{
    return inflate_at_once(bytes, sink) ? STATUS_OK
                                        : inflate_window(bytes, 15 + 16, sink, "gzip", why);
}

/* The RFC's deflate has zlib's wrapper; some servers send the bare stream. */
static enum status
decode_deflate(struct slice bytes, const struct sink *sink, struct reason *why)
{
    const unsigned first = (unsigned char)bytes.at[0];
    const unsigned second = bytes.length > 1 ? (unsigned char)bytes.at[1] : 0;
    const bool wrapped = (first & 15) == 8 && (first << 8 | second) % 31 == 0;
    return inflate_window(bytes, wrapped ? 15 : -15, sink, "deflate", why);
}

/* ---- br ---- */

static enum status
decode_brotli(struct slice bytes, const struct sink *sink, struct reason *why)
{
    BrotliDecoderState *state = BrotliDecoderCreateInstance(NULL, NULL, NULL);
    const uint8_t *in = (const uint8_t *)bytes.at;
    size_t left = bytes.length;
    enum status status = STATUS_AGAIN;
    if (state == NULL) {
        return status_fail(why, STATUS_SYSTEM, "brotli could not start");
    }
    while (status == STATUS_AGAIN) {
        size_t room;
        char *at = sink_room(sink, &room);
        if (at == NULL) {
            status = too_large(why);
            break;
        }
        size_t free_bytes = room;
        uint8_t *to = (uint8_t *)at;
        const BrotliDecoderResult result =
            BrotliDecoderDecompressStream(state, &left, &in, &free_bytes, &to, NULL);
        buf_commit(sink->out, room - free_bytes);
        if (result == BROTLI_DECODER_RESULT_SUCCESS) {
            status = STATUS_OK;
        } else if (result != BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT) {
            status = damaged("br", why);
        }
    }
    BrotliDecoderDestroyInstance(state);
    return status;
}

/* ---- zstd ---- */

static enum status
decode_zstd(struct slice bytes, const struct sink *sink, struct reason *why)
{
    ZSTD_DStream *stream = ZSTD_createDStream();
    ZSTD_inBuffer in = {bytes.at, bytes.length, 0};
    enum status status = STATUS_AGAIN;
    if (stream == NULL) {
        return status_fail(why, STATUS_SYSTEM, "zstd could not start");
    }
    (void)ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG);
    while (status == STATUS_AGAIN) {
        size_t room;
        char *at = sink_room(sink, &room);
        if (at == NULL) {
            status = too_large(why);
            break;
        }
        ZSTD_outBuffer out = {at, room, 0};
        const size_t hint = ZSTD_decompressStream(stream, &out, &in);
        buf_commit(sink->out, out.pos);
        if (ZSTD_isError(hint)) {
            status = damaged("zstd", why);
        } else if (in.pos == in.size && (hint == 0 || out.pos < room)) {
            status = hint == 0 ? STATUS_OK : damaged("zstd", why);
        }
    }
    ZSTD_freeDStream(stream);
    return status;
}

/* ---- the header ---- */

static enum status
decode_identity(struct slice bytes, const struct sink *sink, struct reason *why)
{
    return bytes.length <= sink_left(sink) && buf_append_slice(sink->out, bytes) == STATUS_OK
               ? STATUS_OK
               : too_large(why);
}

struct coding {
    const char *name;
    enum status (*decode)(struct slice bytes, const struct sink *sink, struct reason *why);
    const char *magic; /* what it must begin with; else the body is not really encoded */
};

static const struct coding codings[] = {
    {"gzip", decode_gzip, "\x1f\x8b"},         {"x-gzip", decode_gzip, "\x1f\x8b"},
    {"deflate", decode_deflate, ""},           {"br", decode_brotli, ""},
    {"zstd", decode_zstd, "\x28\xb5\x2f\xfd"}, {"identity", decode_identity, ""},
};

static const struct coding *
find_coding(struct slice name)
{
    for (size_t i = 0; i < sizeof codings / sizeof codings[0]; i++) {
        if (slice_equal_nocase(name, slice_string(codings[i].name))) {
            return &codings[i];
        }
    }
    return NULL;
}

/* The codings in the order they were applied; their number, or -1. */
static int
parse_codings(struct slice header, const struct coding *list[CODINGS_MAXIMUM], struct reason *why)
{
    int n = 0;
    while (header.length > 0) {
        const size_t comma = slice_find(header, ',');
        const struct slice name = slice_trim(slice_of(header.at, comma));
        const size_t next = comma < header.length ? comma + 1 : comma;
        header = slice_of(header.at + next, header.length - next);
        if (name.length == 0) {
            continue;
        }
        const struct coding *coding = find_coding(name);
        if (coding == NULL || n == CODINGS_MAXIMUM) {
            (void)status_fail(why, STATUS_UNSUPPORTED, "content coding \"%.*s\" is not known",
                              (int)(name.length < 60 ? name.length : 60), name.at);
            return -1;
        }
        list[n++] = coding;
    }
    return n;
}

static enum status
decode_one(const struct coding *coding, struct slice bytes, uint32_t ratio, struct buf *out,
           struct reason *why)
{
    struct sink sink = {out, out->maximum};
    if (!slice_starts(bytes, slice_string(coding->magic))) {
        TRY(decode_identity(bytes, &sink, why));
        (void)status_fail(why, STATUS_OK, "the body is not %s, though its header says so",
                          coding->name);
        return STATUS_OK;
    }
    const size_t allowed = bytes.length > SIZE_MAX / ratio ? SIZE_MAX : bytes.length * ratio;
    const size_t most = allowed > RATIO_EXEMPT ? allowed : RATIO_EXEMPT;
    if (most < out->maximum - out->length) {
        sink.limit = out->length + most;
    }
    return coding->decode(bytes, &sink, why);
}

enum status
warc_decode(struct slice content_encoding, struct slice bytes, uint32_t ratio, struct buf *out,
            struct reason *why)
{
    const struct coding *list[CODINGS_MAXIMUM];
    struct buf between;
    struct buf next;
    const int n = parse_codings(content_encoding, list, why);
    if (n < 0) {
        return STATUS_UNSUPPORTED;
    }
    if (n == 0 || bytes.length == 0) {
        return decode_identity(bytes, &(struct sink){out, out->maximum}, why);
    }
    ratio = ratio > 0 ? ratio : 1000;
    buf_init(&between, out->maximum);
    enum status status = STATUS_OK;
    for (int i = n - 1; i > 0 && status == STATUS_OK; i--) {
        buf_init(&next, out->maximum);
        status = decode_one(list[i], bytes, ratio, &next, why);
        buf_release(&between);
        between = next;
        bytes = buf_slice(&between);
    }
    if (bytes.length > 0) {
        const enum status last = decode_one(list[0], bytes, ratio, out, why);
        status = status == STATUS_OK ? last : status;
    }
    buf_release(&between);
    return status;
}
