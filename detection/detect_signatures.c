/* Formats that magic numbers tell, and containers that are looked into for what they carry. */
#include <stdint.h>
#include <string.h>

#include "detection/detect.h"

struct signature {
    uint16_t offset;
    uint8_t length;
    const char *bytes;
    const char *type;
};

#define AT(offset, literal, type)                  \
    {                                              \
        offset, sizeof(literal) - 1, literal, type \
    }

/* In order: a longer one before its prefix. */
static const struct signature signatures[] = {
    AT(0, "%PDF-", "application/pdf"),
    AT(0, "%FDF-", "application/vnd.fdf"),
    AT(0, "%!PS-AdobeFont-", "application/x-font-type1"),
    AT(0, "%!FontType1-", "application/x-font-type1"),
    AT(0, "%!PS", "application/postscript"),
    AT(0, "\x04%!PS", "application/postscript"),
    AT(0, "\xc5\xd0\xd3\xc6", "application/postscript"),
    /* images */
    AT(0, "\x89PNG\r\n\x1a\n", "image/png"),
    AT(0, "GIF87a", "image/gif"),
    AT(0, "GIF89a", "image/gif"),
    AT(0, "\xff\xd8\xff", "image/jpeg"),
    AT(0, "II*\0\x10\0\0\0CR", "image/x-canon-cr2"),
    AT(0, "II*\0", "image/tiff"),
    AT(0, "MM\0*", "image/tiff"),
    AT(0, "II+\0", "image/tiff"),
    AT(0, "MM\0+", "image/tiff"),
    AT(0, "8BPS\0", "image/vnd.adobe.photoshop"),
    AT(0, "\xff\x0a", "image/jxl"),
    AT(0, "\0\0\0\x0cJXL \r\n\x87\n", "image/jxl"),
    AT(16, "ftypjpx ", "image/jpx"),
    AT(0, "\0\0\0\x0cjP  \r\n\x87\n", "image/jp2"),
    AT(0, "\xff\x4f\xff\x51", "image/x-jp2-codestream"),
    AT(0, "AT&TFORM", "image/vnd.djvu"),
    AT(0, "gimp xcf ", "image/x-xcf"),
    AT(0, "qoif", "image/qoi"),
    AT(0, "\xd7\xcd\xc6\x9a", "image/wmf"),
    AT(0, "II\xbc\1", "image/jxr"),
    AT(0, "\x76\x2f\x31\x01", "image/x-exr"),
    AT(0, "#?RADIANCE\n", "image/vnd.radiance"),
    AT(0, "DDS |\0\0\0", "image/x-dds"),
    AT(0, "icns\0", "image/x-icns"),
    AT(0, "\x59\xa6\x6a\x95", "image/x-sun-raster"),
    /* archives and compressed files */
    AT(0, "\x1f\x8b\x08", "application/gzip"),
    AT(0, "\x28\xb5\x2f\xfd", "application/zstd"),
    AT(4, "1AY&SY", "application/x-bzip2"),
    AT(0,
       "\xfd"
       "7zXZ\0",
       "application/x-xz"),
    AT(0, "LZIP\1", "application/lzip"),
    AT(0, "\x04\x22\x4d\x18", "application/x-lz4"),
    AT(0, "\x1f\x9d", "application/x-compress"),
    AT(0, "7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    AT(0, "Rar!\x1a\x07", "application/vnd.rar"),
    AT(0, "!<arch>\ndebian", "application/vnd.debian.binary-package"),
    AT(0, "!<arch>\n", "application/x-archive"),
    AT(0, "\xed\xab\xee\xdb", "application/x-rpm"),
    AT(0, "MSCF\0\0\0\0", "application/vnd.ms-cab-compressed"),
    AT(0, "ITSF\3\0\0\0", "application/vnd.ms-htmlhelp"),
    AT(0, "xar!", "application/x-xar"),
    AT(2, "-lh5-", "application/x-lzh-compressed"),
    AT(257, "ustar", "application/x-tar"),
    AT(32769, "CD001", "application/x-iso9660-image"),
    /* programs */
    AT(0,
       "\x7f"
       "ELF",
       "application/x-executable"),
    AT(0, "\0asm", "application/wasm"),
    AT(0, "\xcf\xfa\xed\xfe", "application/x-mach-binary"),
    AT(0, "\xce\xfa\xed\xfe", "application/x-mach-binary"),
    AT(0, "dex\n", "application/x-dex"),
    /* sound and film */
    AT(0, "fLaC", "audio/flac"),
    AT(0, "MThd\0\0\0\x06", "audio/midi"),
    AT(0, ".snd\0", "audio/basic"),
    AT(0, "#!AMR", "audio/amr"),
    AT(0, "wvpk", "audio/x-wavpack"),
    AT(0, "caff\0\1", "audio/x-caf"),
    AT(0, "Extended Module:", "audio/xm"),
    AT(0, "ADIF", "audio/aac"),
    AT(0, ".ra\xfd", "audio/vnd.rn-realaudio"),
    AT(0, ".RMF", "application/vnd.rn-realmedia"),
    AT(0, "\x30\x26\xb2\x75\x8e\x66\xcf\x11", "video/x-ms-asf"),
    AT(0, "FLV\1", "video/x-flv"),
    AT(0, "\0\0\1\xba", "video/mpeg"),
    AT(0, "\0\0\1\xb3", "video/mpeg"),
    /* fonts */
    AT(0, "wOFF", "font/woff"),
    AT(0, "wOF2", "font/woff2"),
    AT(0, "OTTO\0", "font/otf"),
    AT(0, "ttcf\0", "font/collection"),
    AT(0, "\0\1\0\0\0", "font/ttf"),
    AT(0, "true\0", "font/ttf"),
    /* data */
    AT(0, "SQLite format 3\0", "application/vnd.sqlite3"),
    AT(0, "\x89HDF\r\n\x1a\n", "application/x-hdf5"),
    AT(0, "CDF\1", "application/x-netcdf"),
    AT(0, "CDF\2", "application/x-netcdf"),
    AT(0, "PAR1\x15", "application/vnd.apache.parquet"),
    AT(0, "Obj\1", "application/avro"),
    AT(0, "SIMPLE  =", "application/fits"),
    AT(0, "glTF\2", "model/gltf-binary"),
    AT(0, "{\\rtf", "application/rtf"),
    AT(0, "\3\0\x08\0", "application/vnd.android.axml"),
    AT(0, "$HDT", "application/vnd.hdt"),
    AT(0, "WARC/0.", "application/warc"),
    AT(0, "WARC/1.", "application/warc"),
    AT(0, "filedesc://", "application/x-internet-archive"),
    AT(0, "\xd4\xc3\xb2\xa1", "application/vnd.tcpdump.pcap"),
    AT(0, "\xa1\xb2\xc3\xd4", "application/vnd.tcpdump.pcap"),
    AT(0, "\xde\x12\x04\x95", "application/x-gettext-translation"),
    AT(0, "\x95\x04\x12\xde", "application/x-gettext-translation"),
    AT(60, "BOOKMOBI", "application/x-mobipocket-ebook"),
    AT(0, "\xf7\x02\x01\x83\x92\xc0\x1c\x3b", "application/x-dvi"),
    AT(0, "STARTFONT 2.", "application/x-font-bdf"),
    AT(0, "BLENDER_v", "application/x-blender"),
    AT(0, "BLENDER-v", "application/x-blender"),
    AT(0, "d8:announce", "application/x-bittorrent"),
    AT(0, "d13:announce-list", "application/x-bittorrent"),
    AT(0, "bplist00", "application/x-bplist"),
    AT(128, "DICM", "application/dicom"),
    AT(0, "PK\5\6", "application/zip"),
};

/* ---- containers ---- */

static unsigned
number(struct slice bytes, size_t at, unsigned size, bool big_endian)
{
    unsigned value = 0;
    for (unsigned i = 0; i < size && at + i < bytes.length; i++) {
        const unsigned byte = (unsigned char)bytes.at[at + i];
        value = big_endian ? value << 8 | byte : value | byte << (8 * i);
    }
    return value;
}

struct pair {
    const char *key, *type;
};

#define OOXML "application/vnd.openxmlformats-officedocument."

/* Zip files that are something: how a member's name begins. */
static const struct pair zip_members[] = {
    {"word/", OOXML "wordprocessingml.document"},
    {"xl/", OOXML "spreadsheetml.sheet"},
    {"ppt/", OOXML "presentationml.presentation"},
    {"visio/", "application/vnd.ms-visio.drawing"},
    {"AndroidManifest.xml", "application/vnd.android.package-archive"},
    {"META-INF/MANIFEST.MF", "application/java-archive"},
    {"doc.kml", "application/vnd.google-earth.kmz"},
    {"FixedDocSeq.fdseq", "application/vnd.ms-xpsdocument"},
    {"META-INF/", "application/java-archive"},
};

static const char *
zip_member_type(struct slice name)
{
    for (size_t i = 0; i < sizeof zip_members / sizeof *zip_members; i++) {
        if (slice_starts(name, slice_string(zip_members[i].key))) {
            return zip_members[i].type;
        }
    }
    return NULL;
}

/* An uncompressed first member "mimetype" says it (ODF, EPUB); else the members' names do. */
static const char *
zip_type(struct slice bytes)
{
    static const char *const said[] = {
        "application/epub+zip",
        "application/vnd.oasis.opendocument.text-template",
        "application/vnd.oasis.opendocument.text-master",
        "application/vnd.oasis.opendocument.text-web",
        "application/vnd.oasis.opendocument.text",
        "application/vnd.oasis.opendocument.spreadsheet-template",
        "application/vnd.oasis.opendocument.spreadsheet",
        "application/vnd.oasis.opendocument.presentation-template",
        "application/vnd.oasis.opendocument.presentation",
        "application/vnd.oasis.opendocument.graphics-template",
        "application/vnd.oasis.opendocument.graphics",
        "application/vnd.oasis.opendocument.formula",
        "application/vnd.oasis.opendocument.chart",
        "application/vnd.oasis.opendocument.image",
        "application/vnd.oasis.opendocument.database",
        "application/vnd.sun.xml.writer",
        "application/vnd.sun.xml.calc",
        "application/vnd.sun.xml.impress",
        "image/openraster",
    };
    const size_t name_at = 30;
    for (size_t i = 0; bytes.length > name_at + 8 && i < sizeof said / sizeof *said; i++) {
        const struct slice first = slice_of(bytes.at + name_at, bytes.length - name_at);
        if (slice_starts(first, SLICE("mimetype")) &&
            slice_starts(slice_of(first.at + 8, first.length - 8), slice_string(said[i]))) {
            return said[i];
        }
    }
    const char *at = bytes.at, *const end = bytes.at + bytes.length;
    while ((at = memmem(at, (size_t)(end - at), "PK", 2)) != NULL && end - at > 46) {
        const bool local = memcmp(at, "PK\3\4", 4) == 0;
        if (local || memcmp(at, "PK\1\2", 4) == 0) {
            const char *name = at + (local ? 30 : 46);
            const size_t length =
                number(bytes, (size_t)(at - bytes.at) + (local ? 26 : 28), 2, false);
            const size_t left = (size_t)(end - name);
            const char *type = zip_member_type(slice_of(name, length < left ? length : left));
            if (type) {
                return type;
            }
        }
        at += 2;
    }
    return "application/zip";
}

/* Compound files: the names of streams, in UTF-16. */
static const char *
compound_type(struct slice bytes)
{
    static const struct signature streams[] = {
        AT(0, "W\0o\0r\0d\0D\0o\0c\0u\0m\0e\0n\0t\0", "application/msword"),
        AT(0, "W\0o\0r\0k\0b\0o\0o\0k\0", "application/vnd.ms-excel"),
        AT(0, "P\0o\0w\0e\0r\0P\0o\0i\0n\0t\0 \0", "application/vnd.ms-powerpoint"),
        AT(0, "V\0i\0s\0i\0o\0D\0o\0c\0", "application/vnd.visio"),
        AT(0, "_\0_\0s\0u\0b\0s\0t\0g\0", "application/vnd.ms-outlook"),
        AT(0, "B\0o\0o\0k\0\0\0", "application/vnd.ms-excel"),
    };
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        if (memmem(bytes.at, bytes.length, streams[i].bytes, streams[i].length)) {
            return streams[i].type;
        }
    }
    return "application/x-ole-storage";
}

/* ISO base media: the brand, then the compatible ones. */
static const char *
iso_media_type(struct slice bytes)
{
    static const struct pair brands[] = {
        {"avif", "image/avif"}, {"avis", "image/avif"},        {"heic", "image/heic"},
        {"heix", "image/heic"}, {"hevc", "image/heic"},        {"mif1", "image/heic"},
        {"msf1", "image/heic"}, {"crx ", "image/x-canon-cr3"}, {"qt  ", "video/quicktime"},
        {"M4A ", "audio/mp4"},  {"M4B ", "audio/mp4"},         {"M4P ", "audio/mp4"},
        {"F4A ", "audio/mp4"},  {"M4V ", "video/mp4"},         {"3gp", "video/3gpp"},
        {"3g2", "video/3gpp2"}, {"jp2 ", "image/jp2"},         {"mjp2", "video/mj2"},
    };
    const size_t box = number(bytes, 0, 4, true);
    const size_t end = box < bytes.length ? box : bytes.length;
    for (size_t at = 8; at + 4 <= end && at < 64; at += at == 8 ? 8 : 4) {
        /* mif1 is what AVIF and HEIC are compatible with: as the main brand, look further */
        for (size_t i = 0; i < sizeof brands / sizeof *brands; i++) {
            const bool vague =
                strcmp(brands[i].key, "mif1") == 0 || strcmp(brands[i].key, "msf1") == 0;
            if (strncmp(bytes.at + at, brands[i].key, strlen(brands[i].key)) == 0 && !vague &&
                (at == 8 || strncmp(brands[i].type, "image/", 6) == 0)) {
                return brands[i].type;
            }
        }
    }
    if (bytes.length >= 12 && memcmp(bytes.at + 8, "mif1", 4) == 0) {
        return "image/heic";
    }
    return "video/mp4";
}

static const char *
ogg_type(struct slice bytes)
{
    static const struct signature codecs[] = {
        AT(28, "OpusHead", "audio/ogg"),
        AT(28, "\1vorbis", "audio/ogg"),
        AT(28,
           "\x7f"
           "FLAC",
           "audio/ogg"),
        AT(28, "Speex   ", "audio/ogg"),
        AT(28, "\x80theora", "video/ogg"),
        AT(28, "\1video", "video/ogg"),
        AT(28, "fishead", "video/ogg"),
    };
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++) {
        if (bytes.length >= (size_t)28 + codecs[i].length &&
            memcmp(bytes.at + 28, codecs[i].bytes, codecs[i].length) == 0) {
            return codecs[i].type;
        }
    }
    return "application/ogg";
}

static const char *
matroska_type(struct slice bytes)
{
    const size_t head = bytes.length < 128 ? bytes.length : 128;
    return memmem(bytes.at, head, "webm", 4)       ? "video/webm"
           : memmem(bytes.at, head, "matroska", 8) ? "video/x-matroska"
                                                   : "video/webm";
}

/* Java's class files and Apple's fat binaries share a number; classes begin at version 45. */
static const char *
cafebabe_type(struct slice bytes)
{
    return bytes.length >= 8 && number(bytes, 6, 2, true) < 45 ? "application/x-mach-binary"
                                                               : "application/java-vm";
}

/* RIFF and IFF: the kind stands behind the length. */
static const char *
chunk_type(struct slice bytes)
{
    static const struct pair kinds[] = {
        {"WEBPVP", "image/webp"},    {"WAVE", "audio/wav"},
        {"AVI ", "video/x-msvideo"}, {"ACON", "application/x-navi-animation"},
        {"RMID", "audio/midi"},      {"AIFF", "audio/aiff"},
        {"AIFC", "audio/aiff"},      {"ILBM", "image/x-ilbm"},
    };
    for (size_t i = 0; bytes.length > 14 && i < sizeof kinds / sizeof *kinds; i++) {
        if (strncmp(bytes.at + 8, kinds[i].key, strlen(kinds[i].key)) == 0) {
            return kinds[i].type;
        }
    }
    return NULL;
}

static const struct container {
    struct signature signature; /* .type unused */
    const char *(*type)(struct slice bytes);
} containers[] = {
    {AT(0, "PK\3\4", NULL), zip_type},
    {AT(0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", NULL), compound_type},
    {AT(4, "ftyp", NULL), iso_media_type},
    {AT(0, "OggS", NULL), ogg_type},
    {AT(0, "\x1a\x45\xdf\xa3", NULL), matroska_type},
    {AT(0, "\xca\xfe\xba\xbe", NULL), cafebabe_type},
    {AT(0, "RIFF", NULL), chunk_type},
    {AT(0, "FORM", NULL), chunk_type},
};

/* ---- what needs more than equal bytes ---- */

/* A frame's header of MPEG audio or ADTS. */
static const char *
audio_frame_type(struct slice bytes)
{
    if (bytes.length < 4 || (unsigned char)bytes.at[0] != 0xff) {
        return NULL;
    }
    const unsigned second = number(bytes, 1, 1, true), third = number(bytes, 2, 1, true);
    const unsigned layer = second >> 1 & 3;
    if ((second & 0xf6) == 0xf0 && (third >> 2 & 15) < 13) {
        return "audio/aac";
    }
    const bool sound = (second & 0xe0) == 0xe0 && (second >> 3 & 3) != 1 &&
                       (layer == 1 || layer == 2) && third >> 4 != 15 && third >> 4 != 0 &&
                       (third >> 2 & 3) != 3;
    return sound ? "audio/mpeg" : NULL;
}

/* Packets of 188 bytes, each beginning with G. */
static bool
is_transport_stream(struct slice bytes)
{
    const size_t packet = 188;
    return bytes.length > 2 * packet && bytes.at[0] == 'G' && bytes.at[packet] == 'G' &&
           bytes.at[2 * packet] == 'G' && memchr(bytes.at, '\n', 4) == NULL;
}

static bool
is_icon(struct slice bytes)
{
    const unsigned kind = number(bytes, 2, 2, false), images = number(bytes, 4, 2, false);
    return bytes.length >= 10 && number(bytes, 0, 2, false) == 0 && (kind == 1 || kind == 2) &&
           images > 0 && images < 256 && bytes.at[9] == 0;
}

/* P1 to P6, a blank, and a number or a comment. */
static const char *
netpbm_type(struct slice bytes)
{
    static const char *const types[] = {"image/x-portable-bitmap", "image/x-portable-graymap",
                                        "image/x-portable-pixmap"};
    const bool fits = bytes.length > 3 && bytes.at[0] == 'P' && bytes.at[1] >= '1' &&
                      bytes.at[1] <= '6' && strchr(" \t\r\n", bytes.at[2]) && bytes.at[2] != 0 &&
                      (bytes.at[3] == '#' || (bytes.at[3] >= '0' && bytes.at[3] <= '9'));
    return fits ? types[(bytes.at[1] - '1') % 3] : NULL;
}

/* The header before POSIX: octal numbers and a sum. */
static bool
is_old_tar(struct slice bytes)
{
    enum { HEADER = 512, SUM = 148, SUM_SIZE = 8 };
    unsigned said = 0, sum = 0;
    if (bytes.length < HEADER || bytes.at[0] == 0 || bytes.at[SUM + 6] != 0) {
        return false;
    }
    for (size_t i = SUM; i < SUM + 6; i++) {
        if (bytes.at[i] != ' ' && (bytes.at[i] < '0' || bytes.at[i] > '7')) {
            return false;
        }
        said = bytes.at[i] == ' ' ? said : said * 8 + (unsigned)(bytes.at[i] - '0');
    }
    for (size_t i = 0; i < HEADER; i++) {
        sum += i >= SUM && i < SUM + SUM_SIZE ? ' ' : (unsigned char)bytes.at[i];
    }
    return sum == said;
}

/* A program for DOS or Windows: the offset of its newer header is within reason. */
static bool
is_dos_program(struct slice bytes)
{
    return bytes.length >= 64 && bytes.at[0] == 'M' && bytes.at[1] == 'Z' &&
           number(bytes, 60, 4, false) < 1 << 20;
}

/* Words that text may begin with too, and numbers behind them that it may not. */
static const char *
weak_type(struct slice bytes)
{
    static const struct {
        const char *word;
        uint8_t at, most; /* the byte there is at most that */
        const char *type;
    } weak[] = {
        {"ID3", 3, 8, "audio/mpeg"},
        {"FWS", 3, 40, "application/vnd.adobe.flash.movie"},
        {"CWS", 3, 40, "application/vnd.adobe.flash.movie"},
        {"ZWS", 3, 40, "application/vnd.adobe.flash.movie"},
        {"AC10", 6, 0, "image/vnd.dwg"},
        {"MAC ", 5, 15, "audio/x-ape"},
    };
    for (size_t i = 0; bytes.length > 8 && i < sizeof weak / sizeof *weak; i++) {
        if (slice_starts(bytes, slice_string(weak[i].word)) &&
            (unsigned char)bytes.at[weak[i].at] <= weak[i].most &&
            (!strchr(" \n", bytes.at[weak[i].at]) || bytes.at[7] == 0)) {
            return weak[i].type;
        }
    }
    if (bytes.length > 44 && number(bytes, 0, 4, false) == 1 &&
        memcmp(bytes.at + 40, " EMF", 4) == 0) {
        return "image/emf";
    }
    const bool font = bytes.length > 36 && memcmp(bytes.at + 34, "LP", 2) == 0 &&
                      (number(bytes, 8, 4, false) | 0x30003) == 0x30003;
    return font ? "application/vnd.ms-fontobject" : NULL;
}

static const char *
detect_structure(struct slice bytes)
{
    const char *type = audio_frame_type(bytes);
    if (type) {
        return type;
    }
    if (is_icon(bytes)) {
        return "image/x-icon";
    }
    if (bytes.length > 30 && slice_starts(bytes, SLICE("BM")) && bytes.at[6] == 0 &&
        bytes.at[7] == 0 && bytes.at[15] == 0) {
        return "image/bmp";
    }
    if (is_dos_program(bytes)) {
        return "application/vnd.microsoft.portable-executable";
    }
    if (is_transport_stream(bytes)) {
        return "video/mp2t";
    }
    if (is_old_tar(bytes)) {
        return "application/x-tar";
    }
    type = netpbm_type(bytes);
    return type ? type : weak_type(bytes);
}

static bool
has(struct slice bytes, const struct signature *signature)
{
    return bytes.length >= (size_t)signature->offset + signature->length &&
           bytes.at[signature->offset] == signature->bytes[0] &&
           memcmp(bytes.at + signature->offset, signature->bytes, signature->length) == 0;
}

const char *
detect_signature(struct slice bytes)
{
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++) {
        if (has(bytes, &signatures[i])) {
            return signatures[i].type;
        }
    }
    for (size_t i = 0; i < sizeof containers / sizeof *containers; i++) {
        const char *type = has(bytes, &containers[i].signature) ? containers[i].type(bytes) : NULL;
        if (type) {
            return type;
        }
    }
    return detect_structure(bytes);
}
