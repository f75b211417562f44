/* The transform "image": what image files say of themselves. The container is recognised by
 * its own first bytes. Sources: ITU-T T.81 annex B, PNG (W3C, third edition), GIF89a, RFC 9649
 * (WebP), TIFF 6.0, ISO/IEC 23008-12 (HEIF).
 */
#include "transforms/core/builtins.h"
#include "transforms/media/media.h"

/* ---- JPEG ---- */

static void
read_jpeg_segment(struct media *media, uint8_t marker, struct slice segment)
{
    static const struct slice exif = SLICE_INIT("Exif\0\0"),
                              photoshop = SLICE_INIT("Photoshop 3.0"),
                              xmp = SLICE_INIT("http://ns.adobe.com/xap/1.0/");
    if (marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc) {
        media_size(media, media_u16(segment, 3, BIG_ENDIAN_BYTES),
                   media_u16(segment, 1, BIG_ENDIAN_BYTES));
    } else if (marker == 0xe1 && slice_starts(segment, exif)) {
        media_exif(media, media_part(segment, exif.length, SIZE_MAX));
    } else if (marker == 0xe1 && slice_starts(segment, xmp)) {
        media_xmp(media, media_part(segment, xmp.length + 1, SIZE_MAX));
    } else if (marker == 0xed && slice_starts(segment, photoshop)) {
        media_photoshop(media, media_part(segment, photoshop.length + 1, SIZE_MAX));
    } else if (marker == 0xfe) {
        media_text(media, VOCABULARY_RDFS "comment", media_string(segment, NULL));
    }
}

/* Metadata stand before the first scan. */
static void
read_jpeg(struct media *media)
{
    enum { START_OF_SCAN = 0xda, END_OF_IMAGE = 0xd9 };
    const struct slice file = media->bytes;
    size_t at = 2;
    for (unsigned i = 0; i < MEDIA_PARTS; i++) {
        while (media_u8(file, at) == 0xff && media_u8(file, at + 1) == 0xff) {
            at++;
        }
        const uint8_t marker = media_u8(file, at + 1);
        const size_t length = media_u16(file, at + 2, BIG_ENDIAN_BYTES);
        if (marker == START_OF_SCAN || marker == END_OF_IMAGE) {
            return;
        }
        if (media_u8(file, at) != 0xff || length < 2 || at + 2 + length > file.length) {
            media_problem(media, "JPEG is cut or damaged at byte %zu", at);
            return;
        }
        read_jpeg_segment(media, marker, media_part(file, at + 4, length - 2));
        at += 2 + length;
    }
}

/* ---- PNG ---- */

static const struct {
    const char *keyword, *predicate;
    bool date;
} png_keywords[] = {
    {"Title", VOCABULARY_DCTERMS "title", false},
    {"Author", VOCABULARY_DC "creator", false},
    {"Description", VOCABULARY_DCTERMS "description", false},
    {"Copyright", VOCABULARY_DC "rights", false},
    {"Creation Time", VOCABULARY_DCTERMS "created", true},
    {"Software", VOCABULARY_EXIF "software", false},
    {"Source", VOCABULARY_DCTERMS "source", false},
    {"Comment", VOCABULARY_RDFS "comment", false},
    {"Disclaimer", VOCABULARY_DC "rights", false},
    {"Warning", VOCABULARY_RDFS "comment", false},
};

/* ImageMagick's way: "\nexif\n    1234\n" and hexadecimal digits. */
static struct slice
unpack_profile(struct media *media, struct slice text)
{
    size_t at = 0;
    for (int lines = 0; lines < 3 && at < text.length; at++) {
        lines += text.at[at] == '\n';
    }
    const size_t most = (text.length - at) / 2;
    char *room = arena_alloc(&media->transformation->arena, most + 1);
    size_t length = 0;
    int high = -1;
    for (; room && at < text.length; at++) {
        const char c = text.at[at];
        const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit >= 0 && high >= 0) {
            room[length++] = (char)(high << 4 | digit);
            high = -1;
        } else if (digit >= 0) {
            high = digit;
        }
    }
    return slice_of(room, length);
}

static void
read_png_profile(struct media *media, struct slice kind, struct slice text)
{
    const struct slice block = unpack_profile(media, text);
    if (slice_is(kind, "exif") || slice_is(kind, "APP1")) {
        if (slice_starts(block, SLICE("Exif\0\0"))) {
            media_exif(media, media_part(block, 6, SIZE_MAX));
        }
    } else if (slice_is(kind, "iptc") || slice_is(kind, "8bim")) {
        if (slice_starts(block, SLICE("8BIM"))) {
            media_photoshop(media, block);
        } else {
            media_iptc(media, block);
        }
    } else if (slice_is(kind, "xmp")) {
        media_xmp(media, block);
    }
}

static void
say_png_text(struct media *media, struct slice keyword, struct slice text, struct slice language)
{
    static const struct slice profile = SLICE_INIT("Raw profile type ");
    if (slice_is(keyword, "XML:com.adobe.xmp")) {
        media_xmp(media, text);
    } else if (slice_starts(keyword, profile)) {
        read_png_profile(media, media_part(keyword, profile.length, SIZE_MAX), text);
    }
    for (size_t i = 0; i < sizeof png_keywords / sizeof *png_keywords; i++) {
        if (slice_is(keyword, png_keywords[i].keyword)) {
            if (png_keywords[i].date) {
                media_date(media, png_keywords[i].predicate, text);
            } else {
                media_tagged_text(media, png_keywords[i].predicate, text, language);
            }
        }
    }
}

static void
read_png_international(struct media *media, struct slice chunk)
{
    struct slice rest;
    const struct slice keyword = media_string(chunk, &rest);
    const bool packed = media_u8(rest, 0) == 1;
    const struct slice language = media_string(media_part(rest, 2, SIZE_MAX), &rest);
    media_string(rest, &rest); /* the keyword translated */
    char lower[36];
    const bool tagged = language.length < sizeof lower;
    for (size_t i = 0; tagged && i < language.length; i++) {
        const char c = language.at[i];
        lower[i] = (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
    }
    say_png_text(media, keyword, packed ? media_inflate(media, rest) : rest,
                 slice_of(lower, tagged ? language.length : 0));
}

static void
read_png_chunk(struct media *media, struct slice type, struct slice chunk)
{
    struct slice rest;
    if (slice_is(type, "IHDR")) {
        media_size(media, media_u32(chunk, 0, BIG_ENDIAN_BYTES),
                   media_u32(chunk, 4, BIG_ENDIAN_BYTES));
    } else if (slice_is(type, "tEXt")) {
        const struct slice keyword = media_string(chunk, &rest);
        say_png_text(media, keyword, rest, (struct slice){0});
    } else if (slice_is(type, "zTXt")) {
        const struct slice keyword = media_string(chunk, &rest);
        say_png_text(media, keyword, media_inflate(media, media_part(rest, 1, SIZE_MAX)),
                     (struct slice){0});
    } else if (slice_is(type, "iTXt")) {
        read_png_international(media, chunk);
    } else if (slice_is(type, "eXIf")) {
        media_exif(media, chunk);
    } else if (slice_is(type, "tIME") && chunk.length == 7) {
        char date[40];
        snprintf(date, sizeof date, "%04u-%02u-%02uT%02u:%02u:%02uZ",
                 media_u16(chunk, 0, BIG_ENDIAN_BYTES), media_u8(chunk, 2), media_u8(chunk, 3),
                 media_u8(chunk, 4), media_u8(chunk, 5), media_u8(chunk, 6));
        media_date(media, VOCABULARY_DCTERMS "modified", slice_string(date));
    }
}

static void
read_png(struct media *media)
{
    const struct slice file = media->bytes;
    size_t at = 8;
    for (unsigned i = 0; i < MEDIA_PARTS && at + 8 <= file.length; i++) {
        const size_t length = media_u32(file, at, BIG_ENDIAN_BYTES);
        const struct slice type = media_part(file, at + 4, 4);
        if (slice_is(type, "IEND")) {
            return;
        }
        if (length > file.length - at - 8) {
            break;
        }
        read_png_chunk(media, type, media_part(file, at + 8, length));
        at += 12 + length;
    }
    media_problem(media, "PNG is cut or damaged at byte %zu", at);
}

/* ---- GIF ---- */

/* Data in sub-blocks, joined. */
static struct slice
join_gif_blocks(struct media *media, size_t *at, bool with_lengths)
{
    const struct slice file = media->bytes;
    const size_t from = *at;
    size_t length = 0;
    while (media_u8(file, *at) > 0 && *at < file.length) {
        *at += 1u + media_u8(file, *at);
    }
    const struct slice blocks = media_part(file, from, *at - from);
    *at += 1;
    if (with_lengths || blocks.length > MEDIA_PACKET) {
        return blocks;
    }
    char *room = arena_alloc(&media->transformation->arena, blocks.length + 1);
    for (size_t i = 0; room && i < blocks.length;) {
        const struct slice piece = media_part(blocks, i + 1, media_u8(blocks, i));
        memcpy(room + length, piece.at, piece.length);
        length += piece.length;
        i += 1u + media_u8(blocks, i);
    }
    return slice_of(room, length);
}

static void
read_gif_extension(struct media *media, size_t *at)
{
    enum { COMMENT = 0xfe, APPLICATION = 0xff };
    const uint8_t label = media_u8(media->bytes, *at + 1);
    const struct slice name = media_part(media->bytes, *at + 3, 11);
    *at += 2;
    if (label == COMMENT) {
        media_text(media, VOCABULARY_RDFS "comment", join_gif_blocks(media, at, false));
    } else if (label == APPLICATION && slice_is(name, "XMP DataXMP")) {
        *at += 12; /* the packet is not in sub-blocks; a trailer makes readers find the end */
        media_xmp(media, join_gif_blocks(media, at, true));
    } else {
        while (media_u8(media->bytes, *at) > 0 && *at < media->bytes.length) {
            *at += 1u + media_u8(media->bytes, *at);
        }
        *at += 1;
    }
}

static size_t
colour_table(uint8_t flags)
{
    return flags & 0x80 ? (size_t)3 << ((flags & 7) + 1) : 0;
}

static void
read_gif(struct media *media)
{
    const struct slice file = media->bytes;
    media_size(media, media_u16(file, 6, LITTLE_ENDIAN_BYTES),
               media_u16(file, 8, LITTLE_ENDIAN_BYTES));
    size_t at = 13 + colour_table(media_u8(file, 10));
    for (unsigned i = 0; i < MEDIA_PARTS; i++) {
        if (media_u8(file, at) == '!') {
            read_gif_extension(media, &at);
        } else if (media_u8(file, at) == ',') {
            at += 11 + colour_table(media_u8(file, at + 9));
            join_gif_blocks(media, &at, true);
        } else {
            break;
        }
    }
    if (media_u8(file, at) != ';') {
        media_problem(media, "GIF is cut or damaged at byte %zu", at);
    }
}

/* ---- WebP, BMP ---- */

static void
read_webp_chunk(struct media *media, struct slice type, struct slice chunk)
{
    const enum byte_order order = LITTLE_ENDIAN_BYTES;
    if (slice_is(type, "VP8X")) {
        media_size(media, media_u24(chunk, 4, order) + 1, media_u24(chunk, 7, order) + 1);
    } else if (slice_is(type, "VP8 ")) {
        media_size(media, media_u16(chunk, 6, order) & 0x3fff, media_u16(chunk, 8, order) & 0x3fff);
    } else if (slice_is(type, "VP8L")) {
        const uint32_t bits = media_u32(chunk, 1, order);
        media_size(media, (bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1);
    } else if (slice_is(type, "EXIF")) {
        const size_t header = slice_starts(chunk, SLICE("Exif\0\0")) ? 6 : 0;
        media_exif(media, media_part(chunk, header, SIZE_MAX));
    } else if (slice_is(type, "XMP ")) {
        media_xmp(media, chunk);
    }
}

/* In the extended form the picture's own size is the canvas's. */
static void
read_webp(struct media *media)
{
    const struct slice file = media->bytes;
    bool sized = false;
    size_t at = 12;
    for (unsigned i = 0; i < MEDIA_PARTS && at + 8 <= file.length; i++) {
        const size_t length = media_u32(file, at + 4, LITTLE_ENDIAN_BYTES);
        const struct slice type = media_part(file, at, 4);
        const bool size = slice_starts(type, SLICE("VP8"));
        if (!size || !sized) {
            read_webp_chunk(media, type, media_part(file, at + 8, length));
        }
        sized = sized || size;
        at += 8 + length + (length & 1);
    }
    if (at > file.length + 1) {
        media_problem(media, "WebP is cut: %zu bytes of %zu", file.length, at);
    }
}

static void
read_bmp(struct media *media)
{
    const enum byte_order order = LITTLE_ENDIAN_BYTES;
    const int32_t height = (int32_t)media_u32(media->bytes, 22, order);
    if (media_u32(media->bytes, 14, order) == 12) {
        media_size(media, media_u16(media->bytes, 18, order), media_u16(media->bytes, 20, order));
    } else {
        media_size(media, media_u32(media->bytes, 18, order),
                   height < 0 ? 0u - (uint32_t)height : (uint32_t)height);
    }
}

/* ---- the transform ---- */

static const struct {
    uint8_t at;
    struct slice signature;
    void (*read)(struct media *media);
} images[] = {
    {0, SLICE_INIT("\xff\xd8\xff"), read_jpeg},
    {0, SLICE_INIT("\x89PNG\r\n\x1a\n"), read_png},
    {0, SLICE_INIT("GIF8"), read_gif},
    {8, SLICE_INIT("WEBP"), read_webp},
    {0, SLICE_INIT("BM"), read_bmp},
    {0, SLICE_INIT("II*\0"), media_tiff},
    {0, SLICE_INIT("MM\0*"), media_tiff},
    {4, SLICE_INIT("ftyp"), media_iso},
};

enum status
builtin_image(struct transformation *transformation, struct reason *why)
{
    struct media media;
    media_begin(&media, transformation, why);
    media_class(&media, VOCABULARY_FOAF "Image");
    media_format(&media);
    size_t i = 0;
    const size_t count = sizeof images / sizeof *images;
    while (i < count &&
           !slice_starts(media_part(media.bytes, images[i].at, SIZE_MAX), images[i].signature)) {
        i++;
    }
    if (i < count) {
        images[i].read(&media);
    } else {
        media_problem(&media, "its first bytes are not those of a known image format");
    }
    return media_end(&media);
}
