/* Matroska and WebM: title, duration, sizes and rates. Source: RFC 9559 over EBML (RFC 8794).
 * Elements nest: identifier, length, content, both numbers of one to eight bytes.
 */
#include "transforms/media/media.h"

enum {
    SEGMENT = 0x18538067,
    INFORMATION = 0x1549a966,
    TIME_SCALE = 0x2ad7b1,
    DURATION = 0x4489,
    TITLE = 0x7ba9,
    WRITER = 0x5741,
    TRACKS = 0x1654ae6b,
    TRACK = 0xae,
    VIDEO = 0xe0,
    WIDTH = 0xb0,
    HEIGHT = 0xba,
    AUDIO = 0xe1,
    FREQUENCY = 0xb5,
    CLUSTER = 0x1f43b675
};

struct matroska {
    struct media *media;
    unsigned elements;
    double scale, duration; /* nanoseconds; in units of it */
};

/* One to eight bytes; the first set bit tells how many. *at moves on; UINT64_MAX: damaged. */
static uint64_t
read_number(struct slice bytes, size_t *at, bool keep_marker, bool *unknown)
{
    const uint8_t first = media_u8(bytes, *at);
    size_t length = 1;
    while (length <= 8 && !(first & (0x80 >> (length - 1)))) {
        length++;
    }
    if (length > 8 || *at + length > bytes.length) {
        return UINT64_MAX;
    }
    uint64_t value = keep_marker ? first : first & (0xffu >> length);
    bool ones = (first | (uint8_t)(0xff00 >> length)) == 0xff;
    for (size_t i = 1; i < length; i++) {
        const uint8_t next = media_u8(bytes, *at + i);
        value = value << 8 | next;
        ones = ones && next == 0xff;
    }
    *unknown = ones;
    *at += length;
    return value;
}

static uint64_t
integer_of(struct slice body)
{
    uint64_t value = 0;
    for (size_t i = 0; i < body.length && i < 8; i++) {
        value = value << 8 | media_u8(body, i);
    }
    return value;
}

static double
real_of(struct slice body)
{
    if (body.length == 4) {
        const uint32_t bits = media_u32(body, 0, BIG_ENDIAN_BYTES);
        float value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    const uint64_t bits = media_u64(body, 0, BIG_ENDIAN_BYTES);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void
take_value(struct matroska *matroska, uint64_t element, struct slice body)
{
    struct media *media = matroska->media;
    switch (element) {
    case TIME_SCALE:
        matroska->scale = (double)integer_of(body);
        break;
    case DURATION:
        matroska->duration = real_of(body);
        break;
    case TITLE:
        media_text(media, VOCABULARY_DCTERMS "title", body);
        break;
    case WRITER:
        media_text(media, VOCABULARY_XMP "CreatorTool", body);
        break;
    case WIDTH:
        media_integer(media, VOCABULARY_MA "frameWidth", (int64_t)(integer_of(body) & UINT32_MAX));
        break;
    case HEIGHT:
        media_integer(media, VOCABULARY_MA "frameHeight", (int64_t)(integer_of(body) & UINT32_MAX));
        break;
    case FREQUENCY:
        media_decimal(media, VOCABULARY_MA "samplingRate", real_of(body));
        break;
    default:
        break;
    }
}

static void
read_elements(struct matroska *matroska, struct slice bytes, unsigned depth)
{
    size_t at = 0;
    while (depth < 5 && at < bytes.length && matroska->elements++ < MEDIA_PARTS) {
        bool unknown;
        const uint64_t element = read_number(bytes, &at, true, &unknown);
        const uint64_t length =
            element == UINT64_MAX ? UINT64_MAX : read_number(bytes, &at, false, &unknown);
        if (length == UINT64_MAX || element == CLUSTER) {
            return; /* sound and pictures: all else that is wanted stood before */
        }
        const size_t most = bytes.length - at;
        const size_t taken = unknown || length > most ? most : (size_t)length;
        const struct slice body = slice_of(bytes.at + at, taken);
        switch (element) {
        case SEGMENT:
        case INFORMATION:
        case TRACKS:
        case TRACK:
        case VIDEO:
        case AUDIO:
            read_elements(matroska, body, depth + 1);
            break;
        default:
            take_value(matroska, element, body);
        }
        at += taken;
    }
}

void
media_matroska(struct media *media)
{
    struct matroska matroska = {.media = media, .scale = 1e6};
    read_elements(&matroska, media->bytes, 0);
    if (matroska.duration > 0) {
        media_decimal(media, VOCABULARY_MA "duration", matroska.duration * matroska.scale / 1e9);
    }
}
