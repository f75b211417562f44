/* The transform "recording": what audio and video files say of themselves. The container is
 * recognised by its own first bytes. Sources: ISO/IEC 11172-3 (MPEG audio frames), RFC 3533
 * (Ogg), RFC 9639 (FLAC), RFC 7845 (Opus), RIFF, AIFF-C.
 */
#include <math.h>

#include "transforms/core/builtins.h"
#include "transforms/media/media.h"

static void
say_rates(struct media *media, double hertz, double kilobits, double seconds)
{
    if (hertz > 0) {
        media_decimal(media, VOCABULARY_MA "samplingRate", hertz);
    }
    if (kilobits > 0) {
        media_decimal(media, VOCABULARY_MA "averageBitRate", kilobits);
    }
    if (seconds > 0) {
        media_decimal(media, VOCABULARY_MA "duration", round(seconds * 1000) / 1000);
    }
}

/* ---- MPEG audio ---- */

struct frame {
    unsigned hertz, kilobits, samples, length;
    bool low_rate, mono; /* MPEG 2 or 2.5 */
};

static bool
read_frame_header(struct slice bytes, size_t at, struct frame *frame)
{
    static const uint16_t rates[5][16] = {
        {0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448},
        {0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384},
        {0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
        {0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256},
        {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}};
    static const uint16_t frequencies[] = {44100, 48000, 32000, 0};
    const uint32_t bits = media_u32(bytes, at, BIG_ENDIAN_BYTES);
    const unsigned version = bits >> 19 & 3, layer = 4 - (bits >> 17 & 3);
    const unsigned rate = bits >> 12 & 15, frequency = bits >> 10 & 3;
    if (bits >> 21 != 0x7ff || version == 1 || layer == 4 || rate == 15 || rate == 0 ||
        frequency == 3) {
        return false;
    }
    frame->low_rate = version != 3;
    frame->mono = (bits >> 6 & 3) == 3;
    frame->hertz = frequencies[frequency] >> (version == 3 ? 0 : version == 2 ? 1 : 2);
    frame->kilobits = rates[frame->low_rate ? (layer == 1 ? 3 : 4) : layer - 1][rate];
    frame->samples = layer == 1 ? 384 : layer == 3 && frame->low_rate ? 576 : 1152;
    const unsigned padding = bits >> 9 & 1;
    frame->length = layer == 1
                        ? (12 * frame->kilobits * 1000 / frame->hertz + padding) * 4
                        : frame->samples / 8 * frame->kilobits * 1000 / frame->hertz + padding;
    return true;
}

/* A first frame without sound says how many follow. 0: it does not. */
static uint32_t
count_frames(struct slice bytes, size_t at, const struct frame *frame)
{
    const size_t side = frame->low_rate ? (frame->mono ? 9 : 17) : (frame->mono ? 17 : 32);
    const struct slice xing = media_part(bytes, at + 4 + side, 12);
    const struct slice vbri = media_part(bytes, at + 4 + 32, 18);
    if ((slice_starts(xing, SLICE("Xing")) || slice_starts(xing, SLICE("Info"))) &&
        media_u32(xing, 4, BIG_ENDIAN_BYTES) & 1) {
        return media_u32(xing, 8, BIG_ENDIAN_BYTES);
    }
    return slice_starts(vbri, SLICE("VBRI")) ? media_u32(vbri, 14, BIG_ENDIAN_BYTES) : 0;
}

static void
read_mpeg_audio(struct media *media)
{
    enum { SEARCH = 64 << 10 };
    const struct slice file = media->bytes;
    const size_t start = media_id3(media, file);
    size_t end = file.length;
    struct frame frame, next;
    if (file.length >= 128 && slice_starts(media_part(file, file.length - 128, 3), SLICE("TAG"))) {
        media_id3_trailer(media, media_part(file, file.length - 128, 128));
        end -= 128;
    }
    for (size_t at = start; at + 4 <= end && at < start + SEARCH; at++) {
        if (!read_frame_header(file, at, &frame) ||
            (at + frame.length + 4 <= end && !read_frame_header(file, at + frame.length, &next))) {
            continue;
        }
        const uint32_t frames = count_frames(file, at, &frame);
        const double seconds = (double)frames * frame.samples / frame.hertz;
        /* Without a count the rate is taken to be constant. */
        const double kilobits =
            frames > 0 ? round((double)(end - at) * 8 / 1000 / seconds) : frame.kilobits;
        say_rates(media, frame.hertz, kilobits,
                  frames > 0 ? seconds : (double)(end - at) * 8 / 1000 / frame.kilobits);
        return;
    }
}

/* ---- Ogg ---- */

struct ogg {
    struct slice file;
    size_t at;       /* next page */
    uint32_t serial; /* of the first stream */
    struct slice segments, body;
    size_t segment;
};

static bool
next_page(struct ogg *ogg, bool first)
{
    for (unsigned i = 0; i < 64; i++) {
        const struct slice page = media_part(ogg->file, ogg->at, SIZE_MAX);
        const size_t count = media_u8(page, 26);
        size_t length = 0;
        if (!slice_starts(page, SLICE("OggS")) || page.length < 27 + count) {
            return false;
        }
        const uint32_t serial = media_u32(page, 14, LITTLE_ENDIAN_BYTES);
        ogg->segments = media_part(page, 27, count);
        for (size_t k = 0; k < count; k++) {
            length += media_u8(ogg->segments, k);
        }
        ogg->body = media_part(page, 27 + count, length);
        ogg->segment = 0;
        ogg->at += 27 + count + length;
        ogg->serial = first ? serial : ogg->serial;
        if (serial == ogg->serial) {
            return true;
        }
    }
    return false;
}

/* Appends the next packet of the first stream. */
static bool
next_packet(struct ogg *ogg, struct buf *packet)
{
    buf_reset(packet);
    while (ogg->segment < ogg->segments.length || next_page(ogg, false)) {
        while (ogg->segment < ogg->segments.length) {
            const size_t length = media_u8(ogg->segments, ogg->segment++);
            const struct slice piece = media_part(ogg->body, 0, length);
            if (buf_append_slice(packet, piece) != STATUS_OK) {
                return false;
            }
            ogg->body = media_part(ogg->body, length, SIZE_MAX);
            if (length < 255) {
                return true;
            }
        }
    }
    return packet->length > 0;
}

/* Position of the stream's last page; 0: the end of the stream is not in the file. */
static uint64_t
last_position(const struct ogg *ogg)
{
    enum { END_OF_STREAM = 4, SEARCH = 70000 };
    const struct slice file = ogg->file;
    const size_t stop = file.length > SEARCH ? file.length - SEARCH : 0;
    for (size_t at = file.length >= 27 ? file.length - 27 : 0; at > stop; at--) {
        const struct slice page = media_part(file, at, 27);
        if (page.at[0] == 'O' && slice_starts(page, SLICE("OggS")) &&
            media_u32(page, 14, LITTLE_ENDIAN_BYTES) == ogg->serial) {
            return media_u8(page, 5) & END_OF_STREAM ? media_u64(page, 6, LITTLE_ENDIAN_BYTES) : 0;
        }
    }
    return 0;
}

static void
read_ogg(struct media *media)
{
    const enum byte_order order = LITTLE_ENDIAN_BYTES;
    struct ogg ogg = {.file = media->bytes};
    struct buf memory;
    buf_init(&memory, MEDIA_PACKET);
    if (!next_page(&ogg, true) || !next_packet(&ogg, &memory)) {
        media_problem(media, "Ogg without a first packet");
        buf_release(&memory);
        return;
    }
    const struct slice head = buf_slice(&memory);
    const double position = (double)last_position(&ogg);
    size_t skip = 0;
    if (slice_starts(head, SLICE("\1vorbis"))) {
        const uint32_t hertz = media_u32(head, 12, order);
        const int32_t bits = (int32_t)media_u32(head, 20, order);
        say_rates(media, hertz, bits > 0 ? bits / 1000.0 : 0, hertz > 0 ? position / hertz : 0);
        skip = 7;
    } else if (slice_starts(head, SLICE("OpusHead"))) {
        const uint16_t lead = media_u16(head, 10, order);
        say_rates(media, 48000, 0, position > lead ? (position - lead) / 48000 : 0);
        skip = 8;
    } else if (slice_starts(head, SLICE("\x80theora"))) {
        media_integer(media, VOCABULARY_MA "frameWidth", media_u24(head, 14, BIG_ENDIAN_BYTES));
        media_integer(media, VOCABULARY_MA "frameHeight", media_u24(head, 17, BIG_ENDIAN_BYTES));
        skip = 7;
    } else if (slice_starts(head, SLICE("\x7f"
                                        "FLAC"))) {
        skip = 4;
    }
    if (skip > 0 && next_packet(&ogg, &memory)) {
        media_vorbis_comments(media, media_part(buf_slice(&memory), skip, SIZE_MAX));
    }
    buf_release(&memory);
}

/* ---- FLAC ---- */

static void
read_flac(struct media *media)
{
    enum { STREAM_INFORMATION = 0, COMMENTS = 4 };
    size_t at = 4;
    for (unsigned i = 0; i < MEDIA_PARTS && at + 4 <= media->bytes.length; i++) {
        const uint8_t head = media_u8(media->bytes, at);
        const size_t length = media_u24(media->bytes, at + 1, BIG_ENDIAN_BYTES);
        const struct slice block = media_part(media->bytes, at + 4, length);
        if ((head & 0x7f) == STREAM_INFORMATION) {
            const uint64_t bits = media_u64(block, 10, BIG_ENDIAN_BYTES);
            const double hertz = (double)(bits >> 44);
            say_rates(media, hertz, 0, hertz > 0 ? (double)(bits & 0xfffffffff) / hertz : 0);
        } else if ((head & 0x7f) == COMMENTS) {
            media_vorbis_comments(media, block);
        }
        if (head & 0x80) {
            return;
        }
        at += 4 + length;
    }
    media_problem(media, "FLAC is cut within its metadata");
}

/* ---- RIFF (WAVE, AVI) and AIFF ---- */

static void
read_avi_header(struct media *media, struct slice header)
{
    const enum byte_order order = LITTLE_ENDIAN_BYTES;
    const double microseconds = media_u32(header, 0, order), frames = media_u32(header, 16, order);
    say_rates(media, 0, 0, microseconds * frames / 1e6);
    media_integer(media, VOCABULARY_MA "frameWidth", media_u32(header, 32, order));
    media_integer(media, VOCABULARY_MA "frameHeight", media_u32(header, 36, order));
}

static void
read_riff(struct media *media)
{
    const enum byte_order order = LITTLE_ENDIAN_BYTES;
    const struct slice file = media->bytes;
    double bytes_per_second = 0;
    size_t at = 12;
    for (unsigned i = 0; i < MEDIA_PARTS && at + 8 <= file.length; i++) {
        const struct slice type = media_part(file, at, 4);
        size_t length = media_u32(file, at + 4, order);
        const struct slice chunk = media_part(file, at + 8, length);
        if (slice_is(type, "fmt ")) {
            bytes_per_second = media_u32(chunk, 8, order);
            say_rates(media, media_u32(chunk, 4, order), bytes_per_second * 8 / 1000, 0);
        } else if (slice_is(type, "data") && bytes_per_second > 0) {
            say_rates(media, 0, 0, (double)length / bytes_per_second);
        } else if (slice_is(type, "LIST") && slice_starts(chunk, SLICE("INFO"))) {
            media_riff_info(media, media_part(chunk, 4, SIZE_MAX));
        } else if (slice_is(type, "LIST") && slice_starts(chunk, SLICE("hdrlavih"))) {
            read_avi_header(media, media_part(chunk, 12, SIZE_MAX));
        } else if (slice_is(type, "id3 ") || slice_is(type, "ID3 ")) {
            media_id3(media, chunk);
        } else if (slice_is(type, "_PMX")) {
            media_xmp(media, chunk);
        }
        at += 8 + length + (length & 1);
    }
}

/* IEEE 754's 80 bits, of whole numbers. */
static double
extended_number(struct slice bytes, size_t at)
{
    const int exponent = (media_u16(bytes, at, BIG_ENDIAN_BYTES) & 0x7fff) - 16383 - 63;
    return ldexp((double)media_u64(bytes, at + 2, BIG_ENDIAN_BYTES), exponent);
}

static void
read_aiff(struct media *media)
{
    static const struct {
        const char *type, *predicate;
    } texts[] = {{"NAME", VOCABULARY_DCTERMS "title"},
                 {"AUTH", VOCABULARY_DC "creator"},
                 {"(c) ", VOCABULARY_DC "rights"},
                 {"ANNO", VOCABULARY_RDFS "comment"}};
    const struct slice file = media->bytes;
    size_t at = 12;
    for (unsigned i = 0; i < MEDIA_PARTS && at + 8 <= file.length; i++) {
        const struct slice type = media_part(file, at, 4);
        const size_t length = media_u32(file, at + 4, BIG_ENDIAN_BYTES);
        const struct slice chunk = media_part(file, at + 8, length);
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
            if (slice_is(type, texts[k].type)) {
                media_text(media, texts[k].predicate, media_string(chunk, NULL));
            }
        }
        if (slice_is(type, "COMM")) {
            const double hertz = extended_number(chunk, 8);
            const double frames = media_u32(chunk, 2, BIG_ENDIAN_BYTES);
            say_rates(media, hertz, 0, hertz > 0 ? frames / hertz : 0);
        } else if (slice_is(type, "ID3 ")) {
            media_id3(media, chunk);
        }
        at += 8 + length + (length & 1);
    }
}

/* ---- the transform ---- */

static const struct {
    uint8_t at;
    struct slice signature;
    void (*read)(struct media *media);
} recordings[] = {
    {0, SLICE_INIT("OggS"), read_ogg},    {0, SLICE_INIT("fLaC"), read_flac},
    {0, SLICE_INIT("RIFF"), read_riff},   {0, SLICE_INIT("FORM"), read_aiff},
    {4, SLICE_INIT("ftyp"), media_iso},   {4, SLICE_INIT("moov"), media_iso},
    {4, SLICE_INIT("mdat"), media_iso},   {0, SLICE_INIT("\x1a\x45\xdf\xa3"), media_matroska},
    {0, SLICE_INIT(""), read_mpeg_audio},
};

enum status
builtin_recording(struct transformation *transformation, struct reason *why)
{
    struct media media;
    media_begin(&media, transformation, why);
    const bool video = slice_starts(transformation->request->type, SLICE("video/"));
    media_class(&media, VOCABULARY_MA "MediaResource");
    media_class(&media, video ? VOCABULARY_DCMITYPE "MovingImage" : VOCABULARY_DCMITYPE "Sound");
    media_format(&media);
    size_t i = 0;
    while (!slice_starts(media_part(media.bytes, recordings[i].at, SIZE_MAX),
                         recordings[i].signature)) {
        i++;
    }
    recordings[i].read(&media);
    return media_end(&media);
}
