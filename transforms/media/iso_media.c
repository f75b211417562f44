/* Boxes of the ISO base media file format: MP4, M4A, QuickTime; HEIF and AVIF.
 * Sources: ISO/IEC 14496-12, ISO/IEC 23008-12, Apple's QuickTime File Format ("ilst", "udta"),
 * ISO 16684-3 (XMP in a "uuid" box).
 *
 * Boxes nest: those that hold what is wanted are gone into, to a fixed depth.
 */
#include "transforms/media/media.h"

struct movie {
    struct media *media;
    unsigned boxes;
    bool timed;         /* has a duration */
    uint32_t exif_item; /* of HEIF: item numbers, 0: none */
    uint32_t xmp_item;
    uint32_t width, height; /* the largest picture's */
};

struct box {
    struct slice type, body;
    size_t length; /* with its header; 0: no box */
};

static struct box
read_box(struct slice bytes, size_t at)
{
    const uint64_t size = media_u32(bytes, at, BIG_ENDIAN_BYTES);
    uint64_t length = size, header = 8;
    if (at + 8 > bytes.length) {
        return (struct box){0};
    }
    if (size == 1) {
        length = media_u64(bytes, at + 8, BIG_ENDIAN_BYTES);
        header = 16;
    } else if (size == 0) {
        length = bytes.length - at;
    }
    if (length < header) {
        return (struct box){0};
    }
    if (length > bytes.length - at) { /* cut: as much as there is */
        length = bytes.length - at;
    }
    return (struct box){.type = media_part(bytes, at + 4, 4),
                        .body =
                            media_part(bytes, at + header, length > header ? length - header : 0),
                        .length = length};
}

/* ---- iTunes' list of tags ---- */

enum ilst_kind { ILST_TEXT, ILST_DATE, ILST_PLACE, ILST_TEMPO, ILST_GENRE };

static const struct {
    const char *type;
    enum ilst_kind kind;
    const char *predicate;
} ilst_terms[] = {
    {"\251nam", ILST_TEXT, VOCABULARY_DCTERMS "title"},
    {"\251ART", ILST_TEXT, VOCABULARY_DC "creator"},
    {"aART", ILST_TEXT, VOCABULARY_XMP_DM "albumArtist"},
    {"\251alb", ILST_TEXT, VOCABULARY_XMP_DM "album"},
    {"\251wrt", ILST_TEXT, VOCABULARY_XMP_DM "composer"},
    {"\251gen", ILST_TEXT, VOCABULARY_XMP_DM "genre"},
    {"gnre", ILST_GENRE, VOCABULARY_XMP_DM "genre"},
    {"\251day", ILST_DATE, VOCABULARY_DCTERMS "date"},
    {"\251cmt", ILST_TEXT, VOCABULARY_RDFS "comment"},
    {"\251lyr", ILST_TEXT, VOCABULARY_XMP_DM "lyrics"},
    {"\251too", ILST_TEXT, VOCABULARY_XMP "CreatorTool"},
    {"\251cpy", ILST_TEXT, VOCABULARY_DC "rights"},
    {"cprt", ILST_TEXT, VOCABULARY_DC "rights"},
    {"desc", ILST_TEXT, VOCABULARY_DCTERMS "description"},
    {"ldes", ILST_TEXT, VOCABULARY_DCTERMS "description"},
    {"trkn", ILST_PLACE, VOCABULARY_XMP_DM "trackNumber"},
    {"disk", ILST_PLACE, VOCABULARY_XMP_DM "discNumber"},
    {"tmpo", ILST_TEMPO, VOCABULARY_XMP_DM "tempo"},
};

static void
say_tag(struct media *media, struct slice type, struct slice value)
{
    for (size_t i = 0; i < sizeof ilst_terms / sizeof *ilst_terms; i++) {
        const char *predicate = ilst_terms[i].predicate;
        if (!slice_is(type, ilst_terms[i].type)) {
            continue;
        }
        switch (ilst_terms[i].kind) {
        case ILST_TEXT:
            media_text(media, predicate, value);
            break;
        case ILST_DATE:
            media_date(media, predicate, value);
            break;
        case ILST_PLACE:
            if (media_u16(value, 2, BIG_ENDIAN_BYTES) > 0) {
                media_integer(media, predicate, media_u16(value, 2, BIG_ENDIAN_BYTES));
            }
            break;
        case ILST_TEMPO:
            if (media_u16(value, 0, BIG_ENDIAN_BYTES) > 0) {
                media_decimal(media, predicate, media_u16(value, 0, BIG_ENDIAN_BYTES));
            }
            break;
        case ILST_GENRE:
            media_genre(media, media_u16(value, 0, BIG_ENDIAN_BYTES) - 1);
            break;
        }
    }
}

static void
read_ilst(struct movie *movie, struct slice list)
{
    struct box tag;
    for (size_t at = 0; movie->boxes++ < MEDIA_PARTS && (tag = read_box(list, at)).length > 0;
         at += tag.length) {
        const struct box data = read_box(tag.body, 0);
        if (data.length > 0 && slice_is(data.type, "data")) {
            say_tag(movie->media, tag.type, media_part(data.body, 8, SIZE_MAX));
        }
    }
}

/* QuickTime's own user data: length, language, text. */
static void
read_user_text(struct movie *movie, struct box *box)
{
    const size_t length = media_u16(box->body, 0, BIG_ENDIAN_BYTES);
    if (length > 0 && length + 4 <= box->body.length) {
        say_tag(movie->media, box->type, media_part(box->body, 4, length));
    }
}

/* ---- boxes of movies ---- */

/* version, flags, two dates, scale, duration: 32 bits or 64 */
static void
read_movie_header(struct movie *movie, struct slice body)
{
    const bool wide = media_u8(body, 0) == 1;
    const uint32_t scale = media_u32(body, wide ? 20 : 12, BIG_ENDIAN_BYTES);
    const uint64_t length =
        wide ? media_u64(body, 24, BIG_ENDIAN_BYTES) : media_u32(body, 16, BIG_ENDIAN_BYTES);
    const bool known = length > 0 && length != UINT32_MAX && length != UINT64_MAX;
    if (scale > 0 && known && !movie->timed) {
        media_decimal(movie->media, VOCABULARY_MA "duration", (double)length / scale);
        movie->timed = true;
    }
}

static void
read_track_header(struct movie *movie, struct slice body)
{
    const size_t at = media_u8(body, 0) == 1 ? 88 : 76;
    const uint32_t width = media_u32(body, at, BIG_ENDIAN_BYTES) >> 16;
    const uint32_t height = media_u32(body, at + 4, BIG_ENDIAN_BYTES) >> 16;
    if ((uint64_t)width * height > (uint64_t)movie->width * movie->height) {
        movie->width = width;
        movie->height = height;
    }
}

/* The first sample description of sound. */
static void
read_sample_description(struct movie *movie, struct slice body)
{
    const struct slice type = media_part(body, 12, 4);
    if (slice_is(type, "mp4a") || slice_is(type, "alac") || slice_is(type, "Opus") ||
        slice_is(type, "fLaC")) {
        const uint32_t rate = media_u32(body, 8 + 32, BIG_ENDIAN_BYTES) >> 16;
        if (rate > 0) {
            media_decimal(movie->media, VOCABULARY_MA "samplingRate", rate);
        }
    }
}

/* ---- HEIF ---- */

static void
read_item_info(struct movie *movie, struct slice body)
{
    const bool wide = media_u8(body, 0) > 0;
    struct box item;
    for (size_t at = wide ? 8 : 6;
         movie->boxes++ < MEDIA_PARTS && (item = read_box(body, at)).length > 0;
         at += item.length) {
        const uint8_t version = media_u8(item.body, 0);
        const uint32_t number = version == 2 ? media_u16(item.body, 4, BIG_ENDIAN_BYTES)
                                             : media_u32(item.body, 4, BIG_ENDIAN_BYTES);
        const size_t type_at = version == 2 ? 8 : 10;
        const struct slice type = media_part(item.body, type_at, 4);
        if (version < 2) {
            continue;
        }
        if (slice_is(type, "Exif")) {
            movie->exif_item = number;
        } else if (slice_is(type, "mime") &&
                   slice_find_slice(media_part(item.body, type_at, 256),
                                    SLICE("application/rdf+xml")) < item.body.length - type_at) {
            movie->xmp_item = number;
        }
    }
}

static uint64_t
sized_number(struct slice bytes, size_t *at, size_t size)
{
    const size_t from = *at;
    *at += size;
    return size == 8   ? media_u64(bytes, from, BIG_ENDIAN_BYTES)
           : size == 4 ? media_u32(bytes, from, BIG_ENDIAN_BYTES)
           : size == 2 ? media_u16(bytes, from, BIG_ENDIAN_BYTES)
                       : 0;
}

static void
read_item(struct movie *movie, uint32_t number, uint64_t from, uint64_t length)
{
    const struct slice file = movie->media->bytes;
    if (from >= file.length || length == 0) {
        return;
    }
    const struct slice item = media_part(file, (size_t)from, (size_t)length);
    if (number == movie->exif_item) {
        movie->exif_item = 0; /* once */
        const size_t skip = 4 + (size_t)media_u32(item, 0, BIG_ENDIAN_BYTES);
        media_exif(movie->media, media_part(item, skip, SIZE_MAX));
    } else if (number == movie->xmp_item) {
        movie->xmp_item = 0;
        media_xmp(movie->media, item);
    }
}

/* Only items that lie in the file as one piece. */
static void
read_item_locations(struct movie *movie, struct slice body)
{
    const uint8_t version = media_u8(body, 0), sizes = media_u8(body, 4);
    const size_t offset_size = sizes >> 4, length_size = sizes & 15;
    const size_t base_size = media_u8(body, 5) >> 4;
    const size_t index_size = version > 0 ? media_u8(body, 5) & 15 : 0;
    size_t at = 6;
    uint64_t count = sized_number(body, &at, version == 2 ? 4 : 2);
    for (; count > 0 && at < body.length && movie->boxes++ < MEDIA_PARTS; count--) {
        const uint32_t number = (uint32_t)sized_number(body, &at, version == 2 ? 4 : 2);
        const unsigned method =
            version > 0 ? (unsigned)sized_number(body, &at, 2) & 15 : 0; /* 0: in the file */
        at += 2;                                                         /* data reference */
        const uint64_t base = sized_number(body, &at, base_size);
        const unsigned extents = (unsigned)sized_number(body, &at, 2);
        const size_t next = at + extents * (index_size + offset_size + length_size);
        at += index_size;
        const uint64_t offset = sized_number(body, &at, offset_size);
        const uint64_t length = sized_number(body, &at, length_size);
        if (extents == 1 && method == 0 && number > 0 && offset <= UINT64_MAX - base) {
            read_item(movie, number, base + offset, length);
        }
        at = next;
    }
}

/* ---- all boxes ---- */

static void read_boxes(struct movie *movie, struct slice bytes, unsigned depth);

static bool
is_container(struct slice type)
{
    static const char *const containers[] = {"moov", "trak", "mdia", "minf",
                                             "stbl", "udta", "iprp", "ipco"};
    for (size_t i = 0; i < sizeof containers / sizeof *containers; i++) {
        if (slice_is(type, containers[i])) {
            return true;
        }
    }
    return false;
}

/* A full box with version and flags, but in QuickTime a plain one. */
static void
read_meta(struct movie *movie, struct slice body, unsigned depth)
{
    const bool plain = slice_is(media_part(body, 4, 4), "hdlr");
    const struct slice boxes = media_part(body, plain ? 0 : 4, SIZE_MAX);
    read_boxes(movie, boxes, depth);
    struct box box;
    for (size_t at = 0; movie->boxes++ < MEDIA_PARTS && (box = read_box(boxes, at)).length > 0;
         at += box.length) {
        if (slice_is(box.type, "iloc")) { /* may stand before the list of items */
            read_item_locations(movie, box.body);
        }
    }
}

static void
read_inside(struct movie *movie, struct box *box, unsigned depth)
{
    static const struct slice xmp =
        SLICE_INIT("\xbe\x7a\xcf\xcb\x97\xa9\x42\xe8\x9c\x71\x99\x94\x91\xe3\xaf\xac");
    if (is_container(box->type)) {
        read_boxes(movie, box->body, depth);
    } else if (slice_is(box->type, "meta")) {
        read_meta(movie, box->body, depth);
    } else if (slice_is(box->type, "ilst")) {
        read_ilst(movie, box->body);
    } else if (slice_is(box->type, "mvhd")) {
        read_movie_header(movie, box->body);
    } else if (slice_is(box->type, "tkhd")) {
        read_track_header(movie, box->body);
    } else if (slice_is(box->type, "stsd")) {
        read_sample_description(movie, box->body);
    } else if (slice_is(box->type, "iinf")) {
        read_item_info(movie, box->body);
    } else if (slice_is(box->type, "ispe")) {
        const uint32_t width = media_u32(box->body, 4, BIG_ENDIAN_BYTES);
        const uint32_t height = media_u32(box->body, 8, BIG_ENDIAN_BYTES);
        if ((uint64_t)width * height > (uint64_t)movie->width * movie->height) {
            movie->width = width;
            movie->height = height;
        }
    } else if (slice_is(box->type, "uuid") && slice_starts(box->body, xmp)) {
        media_xmp(movie->media, media_part(box->body, xmp.length, SIZE_MAX));
    } else if (slice_is(box->type, "XMP_")) {
        media_xmp(movie->media, box->body);
    } else if (box->type.at[0] == '\251') {
        read_user_text(movie, box);
    }
}

static void
read_boxes(struct movie *movie, struct slice bytes, unsigned depth)
{
    struct box box;
    for (size_t at = 0;
         depth < 8 && movie->boxes++ < MEDIA_PARTS && (box = read_box(bytes, at)).length > 0;
         at += box.length) {
        read_inside(movie, &box, depth + 1);
    }
}

void
media_iso(struct media *media)
{
    struct movie movie = {.media = media};
    read_boxes(&movie, media->bytes, 0);
    const bool moves = slice_starts(media->transformation->request->type, SLICE("video/"));
    if (movie.width > 0 && moves) {
        media_integer(media, VOCABULARY_MA "frameWidth", movie.width);
        media_integer(media, VOCABULARY_MA "frameHeight", movie.height);
    } else {
        media_size(media, movie.width, movie.height);
    }
}
