/* EXIF by libexif, TIFF directories, IPTC.
 * Sources: CIPA DC-008 (Exif 2.32), TIFF 6.0, IPTC IIM 4.2, Adobe's Photoshop image resources.
 *
 * libexif reads at most 64 KiB from the header on. In JPEG, PNG, WebP and HEIF the block is
 * no longer than that; the directories of a TIFF file may lie anywhere, so what is wanted of them
 * is gathered into a block of that size first.
 */
#include <libexif/exif-data.h>

#include "transforms/media/media.h"

enum exif_kind { EXIF_TEXT, EXIF_INTEGER, EXIF_DECIMAL, EXIF_DATE, EXIF_VERSION, EXIF_COMMENT };

static const struct exif_term {
    uint16_t tag;
    uint8_t kind;
    const char *name; /* in the EXIF vocabulary */
    const char *also; /* a common term that means the same */
} exif_terms[] = {
    {0x0100, EXIF_INTEGER, "imageWidth", NULL},
    {0x0101, EXIF_INTEGER, "imageLength", NULL},
    {0x0102, EXIF_INTEGER, "bitsPerSample", NULL},
    {0x0103, EXIF_INTEGER, "compression", NULL},
    {0x0106, EXIF_INTEGER, "photometricInterpretation", NULL},
    {0x010e, EXIF_TEXT, "imageDescription", VOCABULARY_DCTERMS "description"},
    {0x010f, EXIF_TEXT, "make", NULL},
    {0x0110, EXIF_TEXT, "model", NULL},
    {0x0112, EXIF_INTEGER, "orientation", NULL},
    {0x0115, EXIF_INTEGER, "samplesPerPixel", NULL},
    {0x011a, EXIF_DECIMAL, "xResolution", NULL},
    {0x011b, EXIF_DECIMAL, "yResolution", NULL},
    {0x0128, EXIF_INTEGER, "resolutionUnit", NULL},
    {0x0131, EXIF_TEXT, "software", NULL},
    {0x0132, EXIF_DATE, "dateTime", VOCABULARY_DCTERMS "modified"},
    {0x013b, EXIF_TEXT, "artist", VOCABULARY_DC "creator"},
    {0x8298, EXIF_TEXT, "copyright", VOCABULARY_DC "rights"},
    {0x829a, EXIF_DECIMAL, "exposureTime", NULL},
    {0x829d, EXIF_DECIMAL, "fNumber", NULL},
    {0x8822, EXIF_INTEGER, "exposureProgram", NULL},
    {0x8824, EXIF_TEXT, "spectralSensitivity", NULL},
    {0x8827, EXIF_INTEGER, "isoSpeedRatings", NULL},
    {0x9000, EXIF_VERSION, "exifVersion", NULL},
    {0x9003, EXIF_DATE, "dateTimeOriginal", VOCABULARY_DCTERMS "created"},
    {0x9004, EXIF_DATE, "dateTimeDigitized", NULL},
    {0x9102, EXIF_DECIMAL, "compressedBitsPerPixel", NULL},
    {0x9201, EXIF_DECIMAL, "shutterSpeedValue", NULL},
    {0x9202, EXIF_DECIMAL, "apertureValue", NULL},
    {0x9203, EXIF_DECIMAL, "brightnessValue", NULL},
    {0x9204, EXIF_DECIMAL, "exposureBiasValue", NULL},
    {0x9205, EXIF_DECIMAL, "maxApertureValue", NULL},
    {0x9206, EXIF_DECIMAL, "subjectDistance", NULL},
    {0x9207, EXIF_INTEGER, "meteringMode", NULL},
    {0x9208, EXIF_INTEGER, "lightSource", NULL},
    {0x9209, EXIF_INTEGER, "flash", NULL},
    {0x920a, EXIF_DECIMAL, "focalLength", NULL},
    {0x9286, EXIF_COMMENT, "userComment", NULL},
    {0xa000, EXIF_VERSION, "flashpixVersion", NULL},
    {0xa001, EXIF_INTEGER, "colorSpace", NULL},
    {0xa002, EXIF_INTEGER, "pixelXDimension", NULL},
    {0xa003, EXIF_INTEGER, "pixelYDimension", NULL},
    {0xa004, EXIF_TEXT, "relatedSoundFile", NULL},
    {0xa20e, EXIF_DECIMAL, "focalPlaneXResolution", NULL},
    {0xa20f, EXIF_DECIMAL, "focalPlaneYResolution", NULL},
    {0xa210, EXIF_INTEGER, "focalPlaneResolutionUnit", NULL},
    {0xa215, EXIF_DECIMAL, "exposureIndex", NULL},
    {0xa217, EXIF_INTEGER, "sensingMethod", NULL},
    {0xa401, EXIF_INTEGER, "customRendered", NULL},
    {0xa402, EXIF_INTEGER, "exposureMode", NULL},
    {0xa403, EXIF_INTEGER, "whiteBalance", NULL},
    {0xa404, EXIF_DECIMAL, "digitalZoomRatio", NULL},
    {0xa405, EXIF_INTEGER, "focalLengthIn35mmFilm", NULL},
    {0xa406, EXIF_INTEGER, "sceneCaptureType", NULL},
    {0xa407, EXIF_INTEGER, "gainControl", NULL},
    {0xa408, EXIF_INTEGER, "contrast", NULL},
    {0xa409, EXIF_INTEGER, "saturation", NULL},
    {0xa40a, EXIF_INTEGER, "sharpness", NULL},
    {0xa40c, EXIF_INTEGER, "subjectDistanceRange", NULL},
    {0xa420, EXIF_TEXT, "imageUniqueID", NULL},
};

/* ---- values ---- */

static struct slice
entry_bytes(const ExifEntry *entry)
{
    return slice_of((const char *)entry->data, entry->data ? entry->size : 0);
}

static enum byte_order
entry_order(ExifEntry *entry)
{
    return exif_data_get_byte_order(entry->parent->parent) == EXIF_BYTE_ORDER_INTEL
               ? LITTLE_ENDIAN_BYTES
               : BIG_ENDIAN_BYTES;
}

/* The number at index i of the entry's values; false: there is none. */
static bool
entry_number(ExifEntry *entry, size_t i, double *number)
{
    const struct slice bytes = entry_bytes(entry);
    const enum byte_order order = entry_order(entry);
    const size_t size = exif_format_get_size(entry->format);
    if (i >= entry->components || size == 0 || (i + 1) * size > bytes.length) {
        return false;
    }
    const uint32_t word = media_u32(bytes, i * size, order);
    const uint32_t below = media_u32(bytes, i * size + 4, order);
    switch (entry->format) {
    case EXIF_FORMAT_BYTE:
        *number = media_u8(bytes, i);
        return true;
    case EXIF_FORMAT_SHORT:
        *number = media_u16(bytes, i * size, order);
        return true;
    case EXIF_FORMAT_SSHORT:
        *number = (int16_t)media_u16(bytes, i * size, order);
        return true;
    case EXIF_FORMAT_LONG:
        *number = word;
        return true;
    case EXIF_FORMAT_SLONG:
        *number = (int32_t)word;
        return true;
    case EXIF_FORMAT_RATIONAL:
        *number = below > 0 ? (double)word / below : 0;
        return below > 0;
    case EXIF_FORMAT_SRATIONAL:
        *number = below != 0 ? (double)(int32_t)word / (int32_t)below : 0;
        return below != 0;
    default:
        return false;
    }
}

/* Eight bytes name the character set. */
static void
say_comment(struct media *media, const char *predicate, ExifEntry *entry)
{
    const struct slice bytes = entry_bytes(entry), text = media_part(bytes, 8, SIZE_MAX);
    if (slice_starts(bytes, SLICE("UNICODE"))) {
        const char *zeros = encoding_of_zeros(text);
        const bool big = entry_order(entry) == BIG_ENDIAN_BYTES;
        media_text_encoded(media, predicate, text, zeros ? zeros : big ? "utf-16be" : "utf-16le");
    } else if (slice_starts(bytes, SLICE("JIS\0"))) {
        media_text_encoded(media, predicate, text, "iso-2022-jp");
    } else if (bytes.length > 8) {
        media_text(media, predicate, media_string(text, NULL));
    }
}

static void
say_value(struct media *media, const char *predicate, enum exif_kind kind, ExifEntry *entry)
{
    double number;
    switch (kind) {
    case EXIF_TEXT:
        media_text(media, predicate, media_string(entry_bytes(entry), NULL));
        break;
    case EXIF_VERSION:
        media_text(media, predicate, media_part(entry_bytes(entry), 0, 4));
        break;
    case EXIF_DATE:
        media_date(media, predicate, entry_bytes(entry));
        break;
    case EXIF_COMMENT:
        say_comment(media, predicate, entry);
        break;
    case EXIF_INTEGER:
        for (size_t i = 0; i < 4 && entry_number(entry, i, &number); i++) {
            media_integer(media, predicate, (int64_t)number);
        }
        break;
    case EXIF_DECIMAL:
        if (entry_number(entry, 0, &number)) {
            media_decimal(media, predicate, number);
        }
        break;
    }
}

static void
say_entry(ExifEntry *entry, void *context)
{
    struct media *media = context;
    for (size_t i = 0; i < sizeof exif_terms / sizeof *exif_terms; i++) {
        const struct exif_term *term = &exif_terms[i];
        if (term->tag == (uint16_t)entry->tag) {
            char predicate[96];
            snprintf(predicate, sizeof predicate, "%s%s", VOCABULARY_EXIF, term->name);
            say_value(media, predicate, term->kind, entry);
            if (term->also) {
                say_value(media, term->also, term->kind, entry);
            }
            return;
        }
    }
}

static void
say_directory(ExifContent *content, void *context)
{
    exif_content_foreach_entry(content, say_entry, context);
}

/* ---- position ---- */

static char
reference_of(ExifContent *gps, unsigned tag)
{
    ExifEntry *entry = exif_content_get_entry(gps, (ExifTag)tag);
    return entry && entry->size > 0 ? (char)entry->data[0] : '\0';
}

/* Degrees, minutes, seconds. */
static void
say_angle(struct media *media, ExifContent *gps, unsigned tag, char negative, double most,
          const char *predicate)
{
    ExifEntry *entry = exif_content_get_entry(gps, (ExifTag)tag);
    double degrees, minutes, seconds;
    if (!entry || !entry_number(entry, 0, &degrees)) {
        return;
    }
    degrees += entry_number(entry, 1, &minutes) ? minutes / 60 : 0;
    degrees += entry_number(entry, 2, &seconds) ? seconds / 3600 : 0;
    if (degrees >= 0 && degrees <= most) {
        media_decimal(media, predicate,
                      reference_of(gps, tag - 1) == negative ? -degrees : degrees);
    }
}

static void
say_position(struct media *media, ExifContent *gps)
{
    double height;
    if (!gps) {
        return;
    }
    say_angle(media, gps, EXIF_TAG_GPS_LATITUDE, 'S', 90, VOCABULARY_GEO "lat");
    say_angle(media, gps, EXIF_TAG_GPS_LONGITUDE, 'W', 180, VOCABULARY_GEO "long");
    ExifEntry *altitude = exif_content_get_entry(gps, (ExifTag)EXIF_TAG_GPS_ALTITUDE);
    if (altitude && entry_number(altitude, 0, &height)) {
        const bool below = reference_of(gps, EXIF_TAG_GPS_ALTITUDE_REF) == 1;
        media_decimal(media, VOCABULARY_GEO "alt", below ? -height : height);
    }
    ExifEntry *direction = exif_content_get_entry(gps, (ExifTag)EXIF_TAG_GPS_IMG_DIRECTION);
    if (direction) {
        say_value(media, VOCABULARY_EXIF "gpsImgDirection", EXIF_DECIMAL, direction);
    }
    ExifEntry *day = exif_content_get_entry(gps, (ExifTag)EXIF_TAG_GPS_DATE_STAMP);
    if (day) {
        say_value(media, VOCABULARY_EXIF "gpsDateStamp", EXIF_DATE, day);
    }
}

/* block: "Exif\0\0" and the TIFF structure. */
static void
say_exif(struct media *media, struct slice block)
{
    ExifData *data = exif_data_new();
    if (!data) {
        return;
    }
    exif_data_unset_option(data, EXIF_DATA_OPTION_FOLLOW_SPECIFICATION);
    exif_data_set_option(data, EXIF_DATA_OPTION_DONT_CHANGE_MAKER_NOTE);
    exif_data_load_data(data, (const unsigned char *)block.at, (unsigned)block.length);
    say_directory(data->ifd[EXIF_IFD_0], media);
    say_directory(data->ifd[EXIF_IFD_EXIF], media);
    say_position(media, data->ifd[EXIF_IFD_GPS]);
    exif_data_unref(data);
}

void
media_exif(struct media *media, struct slice tiff)
{
    struct buf block;
    tiff = media_part(tiff, 0, 65536);
    if (!slice_starts(tiff, SLICE("II*\0")) && !slice_starts(tiff, SLICE("MM\0*"))) {
        media_problem(media, "EXIF block without a TIFF header");
        return;
    }
    buf_init(&block, 65536 + 6);
    buf_append(&block, "Exif\0\0", 6);
    buf_append_slice(&block, tiff);
    say_exif(media, buf_slice(&block));
    buf_release(&block);
}

/* ---- TIFF files ---- */

enum {
    TIFF_LISTED = 1000, /* entries of a directory that are looked at */
    TIFF_ENTRIES = 200, /* that libexif is given */
    TIFF_VALUE = 8192,  /* bytes of a value that libexif is given */
    TIFF_WIDTH = 256,
    TIFF_HEIGHT = 257,
    TIFF_XMP = 700,
    TIFF_IPTC = 33723,
    TIFF_PHOTOSHOP = 34377,
    TIFF_EXIF = 34665,
    TIFF_GPS = 34853
};

struct tiff_entry {
    uint16_t tag, type;
    uint32_t count, value; /* value: as stored, when it fits into four bytes */
    struct slice bytes;
};

static size_t
directory_length(struct slice file, size_t at, enum byte_order order)
{
    const size_t listed = media_u16(file, at, order);
    return listed < TIFF_LISTED ? listed : TIFF_LISTED;
}

static bool
read_entry(struct slice file, size_t at, enum byte_order order, struct tiff_entry *entry)
{
    static const uint8_t sizes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8};
    entry->tag = media_u16(file, at, order);
    entry->type = media_u16(file, at + 2, order);
    entry->count = media_u32(file, at + 4, order);
    entry->value = media_u32(file, at + 8, order);
    if (entry->type >= sizeof sizes || at + 12 > file.length) {
        return false;
    }
    const uint64_t length = (uint64_t)entry->count * sizes[entry->type];
    const size_t from = length <= 4 ? at + 8 : entry->value;
    entry->bytes = media_part(file, from, (size_t)length);
    return length > 0 && entry->bytes.length == length;
}

static void
put(struct buf *out, uint32_t value, size_t length, enum byte_order order)
{
    for (size_t i = 0; i < length; i++) {
        const size_t shift = 8 * (order == BIG_ENDIAN_BYTES ? length - 1 - i : i);
        buf_append_char(out, (char)(value >> shift));
    }
}

static void
put_at(struct buf *out, size_t at, uint32_t value, enum byte_order order)
{
    for (size_t i = 0; i < 4; i++) {
        const size_t shift = 8 * (order == BIG_ENDIAN_BYTES ? 3 - i : i);
        out->data[at + i] = (char)(value >> shift);
    }
}

static bool
is_wanted(const struct tiff_entry *entry, bool gps)
{
    for (size_t i = 0; !gps && i < sizeof exif_terms / sizeof *exif_terms; i++) {
        if (exif_terms[i].tag == entry->tag) {
            return entry->bytes.length <= TIFF_VALUE;
        }
    }
    return gps && entry->bytes.length <= TIFF_VALUE;
}

/* Copies what is wanted of the directory at `at`. `to`: in out, its first byte after "Exif\0\0" +
 * header. Returns the directory's place in the block, 0: none. */
static uint32_t
gather(struct slice file, size_t at, enum byte_order order, unsigned level, struct buf *out)
{
    struct tiff_entry entries[TIFF_ENTRIES], entry;
    size_t count = 0;
    for (size_t i = 0; i < directory_length(file, at, order) && count < TIFF_ENTRIES; i++) {
        if (!read_entry(file, at + 2 + 12 * i, order, &entry)) {
            continue;
        }
        if (level == 0 && (entry.tag == TIFF_EXIF || entry.tag == TIFF_GPS)) {
            entry.value = gather(file, media_u32(entry.bytes, 0, order), order,
                                 entry.tag == TIFF_GPS ? 2 : 1, out);
            entry.type = 4;
            entry.count = 1;
            entry.bytes.length = 0;
            entries[count++] = entry;
        } else if (is_wanted(&entry, level == 2)) {
            entries[count++] = entry;
        }
    }
    const size_t from = out->length;
    if (from + 6 + 12 * count > 60000) {
        return 0;
    }
    put(out, (uint32_t)count, 2, order);
    for (size_t i = 0; i < count; i++) {
        put(out, entries[i].tag, 2, order);
        put(out, entries[i].type, 2, order);
        put(out, entries[i].count, 4, order);
        if (entries[i].bytes.length > 0 && entries[i].bytes.length <= 4) {
            buf_append(out, "\0\0\0\0", 4);
            memcpy(out->data + out->length - 4, entries[i].bytes.at, entries[i].bytes.length);
        } else {
            put(out, entries[i].value, 4, order);
        }
    }
    put(out, 0, 4, order);
    for (size_t i = 0; i < count; i++) {
        if (entries[i].bytes.length > 4 && out->length + entries[i].bytes.length < 65000) {
            put_at(out, from + 2 + 12 * i + 8, (uint32_t)(out->length - 6), order);
            buf_append_slice(out, entries[i].bytes);
        }
    }
    return (uint32_t)(from - 6);
}

void
media_tiff(struct media *media)
{
    const struct slice file = media->bytes;
    const enum byte_order order =
        slice_starts(file, SLICE("MM")) ? BIG_ENDIAN_BYTES : LITTLE_ENDIAN_BYTES;
    const size_t directory = media_u32(file, 4, order);
    const size_t listed = directory_length(file, directory, order);
    uint32_t width = 0, height = 0;
    struct tiff_entry entry;
    if (listed == 0) {
        media_problem(media, "the image file directory at byte %zu is missing", directory);
        return;
    }
    for (size_t i = 0; i < listed; i++) {
        if (!read_entry(file, directory + 2 + 12 * i, order, &entry)) {
            continue;
        }
        const uint32_t number =
            entry.type == 3 ? media_u16(entry.bytes, 0, order) : media_u32(entry.bytes, 0, order);
        if (entry.tag == TIFF_WIDTH) {
            width = number;
        } else if (entry.tag == TIFF_HEIGHT) {
            height = number;
        } else if (entry.tag == TIFF_XMP) {
            media_xmp(media, entry.bytes);
        } else if (entry.tag == TIFF_IPTC) {
            media_iptc(media, entry.bytes);
        } else if (entry.tag == TIFF_PHOTOSHOP) {
            media_photoshop(media, entry.bytes);
        }
    }
    media_size(media, width, height);
    struct buf block;
    buf_init(&block, 128 << 10);
    buf_append(&block, "Exif\0\0", 6);
    buf_append_slice(&block, media_part(file, 0, 4));
    put(&block, 0, 4, order);
    const uint32_t place = gather(file, directory, order, 0, &block);
    put_at(&block, 10, place, order);
    if (place > 0) {
        say_exif(media, buf_slice(&block));
    }
    buf_release(&block);
}
