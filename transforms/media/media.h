/* Declarations that the readers of images, recordings and PDF share: bytes of containers read
 * without passing their end, text of unsure encodings, dates, numbers, and the metadata blocks that
 * several containers embed. Private to this folder.
 *
 * No reader decodes pictures or sound; all are linear in the file and bounded in what they say.
 */
#ifndef TRANSFORMS_MEDIA_MEDIA_H
#define TRANSFORMS_MEDIA_MEDIA_H

#include "transforms/common/emit.h"
#include "transforms/common/vocabulary.h"
#include "transforms/core/transformation.h"

#define VOCABULARY_EXIF "http://www.w3.org/2003/12/exif/ns#"
#define VOCABULARY_GEO "http://www.w3.org/2003/01/geo/wgs84_pos#"
#define VOCABULARY_MA "http://www.w3.org/ns/ma-ont#"
#define VOCABULARY_DCMITYPE "http://purl.org/dc/dcmitype/"
#define VOCABULARY_XMP "http://ns.adobe.com/xap/1.0/"
#define VOCABULARY_XMP_DM "http://ns.adobe.com/xmp/1.0/DynamicMedia/"
#define VOCABULARY_PHOTOSHOP "http://ns.adobe.com/photoshop/1.0/"
#define VOCABULARY_RDFS "http://www.w3.org/2000/01/rdf-schema#"

enum {
    MEDIA_TEXT = 16 << 10,   /* bytes of a literal; longer ones are cut */
    MEDIA_STATEMENTS = 4000, /* of one document; the rest is left out */
    MEDIA_PACKET = 2 << 20,  /* bytes of one embedded block, unpacked */
    MEDIA_PARTS = 20000,     /* segments, chunks, boxes looked at */
    MEDIA_UNPACK_PARTS = 16, /* compressed texts of one document */
    MEDIA_PACKETS = 8        /* of XMP */
};

struct media {
    struct transformation *transformation;
    struct quad_sink sink;
    struct emitter emitter;
    struct slice bytes;
    struct text text;
    struct buf memory; /* converted text */
    unsigned packets;  /* XMP packets read: their blank nodes are told apart by it */
    unsigned statements, unpacked;
};

void media_begin(struct media *media, struct transformation *transformation, struct reason *why);
/* Frees the reader, and returns what the sink said last. */
enum status media_end(struct media *media);
void media_problem(struct media *media, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- bytes ---- */

enum byte_order { LITTLE_ENDIAN_BYTES, BIG_ENDIAN_BYTES };
/* Past the end: 0. */
uint16_t media_u16(struct slice bytes, size_t at, enum byte_order order);
uint32_t media_u24(struct slice bytes, size_t at, enum byte_order order);
uint32_t media_u32(struct slice bytes, size_t at, enum byte_order order);
uint64_t media_u64(struct slice bytes, size_t at, enum byte_order order);
uint8_t media_u8(struct slice bytes, size_t at);
/* Returns as much of the part as there is. */
struct slice media_part(struct slice bytes, size_t at, size_t length);
/* Up to the first NUL; *rest (may be NULL): behind it. */
struct slice media_string(struct slice bytes, struct slice *rest);
/* zlib's format, at most MEDIA_PACKET bytes, in the transformation's arena; empty: damaged. */
struct slice media_inflate(struct media *media, struct slice packed);

/* ---- statements about the document ---- */

void media_class(struct media *media, const char *class);
/* dcterms:format, the detected type. */
void media_format(struct media *media);
/* UTF-8 when it is that, else windows-1252; white space collapsed; nothing when empty. */
void media_text(struct media *media, const char *predicate, struct slice bytes);
/* encoding: a name of encoding_convert. */
void media_text_encoded(struct media *media, const char *predicate, struct slice bytes,
                        const char *encoding);
void media_tagged_text(struct media *media, const char *predicate, struct slice bytes,
                       struct slice language);
void media_integer(struct media *media, const char *predicate, int64_t value);
/* At most nine digits behind the point. Not finite, or past 1e15: nothing. */
void media_decimal(struct media *media, const char *predicate, double value);
/* "2024:01:02 03:04:05", "2024-01-02T03:04:05+01:00", "D:20240102030405+01'00'", "2024": as
 * xsd:dateTime (without zone when none is written), date, gYearMonth or gYear; else plain text. */
void media_date(struct media *media, const char *predicate, struct slice text);
/* The resolved reference; nothing when it is no IRI. */
void media_link(struct media *media, const char *predicate, struct slice reference);
/* Width and height in pixels; 0: nothing. */
void media_size(struct media *media, uint32_t width, uint32_t height);
/* The lexical form and datatype (xsd: local name) of a date, or false. */
bool media_date_form(struct slice text, char form[40], const char **datatype);

/* ---- embedded blocks ---- */

/* A TIFF structure (what follows "Exif\0\0"), by libexif. */
void media_exif(struct media *media, struct slice tiff);
/* A TIFF file: directories may lie anywhere, XMP and IPTC among the entries. */
void media_tiff(struct media *media);
/* The IPTC Information Interchange Model's records (what Photoshop's resource 0x0404 holds). */
void media_iptc(struct media *media, struct slice records);
/* Photoshop's image resources: "8BIM" blocks. */
void media_photoshop(struct media *media, struct slice resources);
/* An XMP packet, wrappers or not. */
void media_xmp(struct media *media, struct slice packet);
/* ISO base media file format: MP4, M4A, QuickTime, HEIF, AVIF. */
void media_iso(struct media *media);
/* Matroska, WebM. */
void media_matroska(struct media *media);
/* ID3v2 at the start of bytes; returns its length, 0: none. */
size_t media_id3(struct media *media, struct slice bytes);
/* Vorbis comments: vendor and NAME=VALUE list. */
void media_vorbis_comments(struct media *media, struct slice block);
/* ID3v1: the last 128 bytes, "TAG". */
void media_id3_trailer(struct media *media, struct slice tag);
/* A RIFF INFO list. */
void media_riff_info(struct media *media, struct slice list);
/* The number of a genre in ID3v1's list; nothing when it is not in it. */
void media_genre(struct media *media, unsigned number);

#endif
