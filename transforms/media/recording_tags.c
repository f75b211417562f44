/* The tags of recordings: ID3 (1, 1.1, 2.2, 2.3, 2.4), Vorbis comments, RIFF INFO.
 * Sources: https://id3.org/id3v2.4.0-structure and its kin,
 * https://xiph.org/vorbis/doc/v-comment.html, Microsoft's Multimedia Programming Interface 1.0.
 *
 * Our own because TagLib's C interface reads files by name, and there are no files in the
 * sandbox. One table says what each system's name means.
 */
#include "transforms/media/media.h"

enum tag_kind {
    TAG_TEXT,
    TAG_DATE,
    TAG_NUMBER,
    TAG_DECIMAL,
    TAG_GENRE,
    TAG_LINK,
    TAG_MILLISECONDS
};

static const struct tag_term {
    const char *predicate;
    enum tag_kind kind;
    const char *id3, *old_id3, *vorbis, *riff;
} tag_terms[] = {
    {VOCABULARY_DCTERMS "title", TAG_TEXT, "TIT2", "TT2", "TITLE", "INAM"},
    {VOCABULARY_DCTERMS "alternative", TAG_TEXT, "TIT3", "TT3", "SUBTITLE", ""},
    {VOCABULARY_DC "creator", TAG_TEXT, "TPE1", "TP1", "ARTIST", "IART"},
    {VOCABULARY_XMP_DM "albumArtist", TAG_TEXT, "TPE2", "TP2", "ALBUMARTIST", ""},
    {VOCABULARY_DC "contributor", TAG_TEXT, "TPE3", "TP3", "PERFORMER", ""},
    {VOCABULARY_DC "contributor", TAG_TEXT, "TPE4", "TP4", "CONDUCTOR", ""},
    {VOCABULARY_DC "contributor", TAG_TEXT, "TEXT", "TXT", "LYRICIST", ""},
    {VOCABULARY_XMP_DM "album", TAG_TEXT, "TALB", "TAL", "ALBUM", "IPRD"},
    {VOCABULARY_XMP_DM "composer", TAG_TEXT, "TCOM", "TCM", "COMPOSER", ""},
    {VOCABULARY_XMP_DM "genre", TAG_GENRE, "TCON", "TCO", "GENRE", "IGNR"},
    {VOCABULARY_XMP_DM "trackNumber", TAG_NUMBER, "TRCK", "TRK", "TRACKNUMBER", "ITRK"},
    {VOCABULARY_XMP_DM "discNumber", TAG_NUMBER, "TPOS", "TPA", "DISCNUMBER", ""},
    {VOCABULARY_XMP_DM "tempo", TAG_DECIMAL, "TBPM", "TBP", "BPM", ""},
    {VOCABULARY_XMP_DM "key", TAG_TEXT, "TKEY", "TKE", "KEY", ""},
    {VOCABULARY_DCTERMS "date", TAG_DATE, "TDRC", "TYE", "DATE", "ICRD"},
    {VOCABULARY_DCTERMS "date", TAG_DATE, "TYER", "", "YEAR", ""},
    {VOCABULARY_DCTERMS "issued", TAG_DATE, "TDRL", "", "", ""},
    {VOCABULARY_DCTERMS "created", TAG_DATE, "TDOR", "TOR", "ORIGINALDATE", ""},
    {VOCABULARY_DC "publisher", TAG_TEXT, "TPUB", "TPB", "ORGANIZATION", ""},
    {VOCABULARY_DC "publisher", TAG_TEXT, "", "", "LABEL", ""},
    {VOCABULARY_DC "rights", TAG_TEXT, "TCOP", "TCR", "COPYRIGHT", "ICOP"},
    {VOCABULARY_DCTERMS "language", TAG_TEXT, "TLAN", "TLA", "LANGUAGE", "ILNG"},
    {VOCABULARY_DCTERMS "identifier", TAG_TEXT, "TSRC", "TRC", "ISRC", ""},
    {VOCABULARY_XMP "CreatorTool", TAG_TEXT, "TSSE", "TSS", "ENCODER", "ISFT"},
    {VOCABULARY_RDFS "comment", TAG_TEXT, "", "", "COMMENT", "ICMT"},
    {VOCABULARY_DCTERMS "description", TAG_TEXT, "", "", "DESCRIPTION", "ISBJ"},
    {VOCABULARY_DC "subject", TAG_TEXT, "", "", "", "IKEY"},
    {VOCABULARY_XMP_DM "lyrics", TAG_TEXT, "", "", "LYRICS", ""},
    {VOCABULARY_MA "duration", TAG_MILLISECONDS, "TLEN", "TLE", "", ""},
    {VOCABULARY_SIOC "links_to", TAG_LINK, "WOAF", "WAF", "CONTACT", ""},
    {VOCABULARY_SIOC "links_to", TAG_LINK, "WOAR", "WAR", "WEBSITE", ""},
    {VOCABULARY_SIOC "links_to", TAG_LINK, "WOAS", "WAS", "URL", ""},
    {VOCABULARY_SIOC "links_to", TAG_LINK, "WPUB", "WPB", "", ""},
    {"http://www.w3.org/1999/xhtml/vocab#license", TAG_LINK, "WCOP", "WCP", "LICENSE", ""},
};

/* ID3v1's list and Winamp's additions, by number. */
static const char *const genres[] = {"Blues",
                                     "Classic Rock",
                                     "Country",
                                     "Dance",
                                     "Disco",
                                     "Funk",
                                     "Grunge",
                                     "Hip-Hop",
                                     "Jazz",
                                     "Metal",
                                     "New Age",
                                     "Oldies",
                                     "Other",
                                     "Pop",
                                     "R&B",
                                     "Rap",
                                     "Reggae",
                                     "Rock",
                                     "Techno",
                                     "Industrial",
                                     "Alternative",
                                     "Ska",
                                     "Death Metal",
                                     "Pranks",
                                     "Soundtrack",
                                     "Euro-Techno",
                                     "Ambient",
                                     "Trip-Hop",
                                     "Vocal",
                                     "Jazz+Funk",
                                     "Fusion",
                                     "Trance",
                                     "Classical",
                                     "Instrumental",
                                     "Acid",
                                     "House",
                                     "Game",
                                     "Sound Clip",
                                     "Gospel",
                                     "Noise",
                                     "Alternative Rock",
                                     "Bass",
                                     "Soul",
                                     "Punk",
                                     "Space",
                                     "Meditative",
                                     "Instrumental Pop",
                                     "Instrumental Rock",
                                     "Ethnic",
                                     "Gothic",
                                     "Darkwave",
                                     "Techno-Industrial",
                                     "Electronic",
                                     "Pop-Folk",
                                     "Eurodance",
                                     "Dream",
                                     "Southern Rock",
                                     "Comedy",
                                     "Cult",
                                     "Gangsta",
                                     "Top 40",
                                     "Christian Rap",
                                     "Pop/Funk",
                                     "Jungle",
                                     "Native US",
                                     "Cabaret",
                                     "New Wave",
                                     "Psychedelic",
                                     "Rave",
                                     "Showtunes",
                                     "Trailer",
                                     "Lo-Fi",
                                     "Tribal",
                                     "Acid Punk",
                                     "Acid Jazz",
                                     "Polka",
                                     "Retro",
                                     "Musical",
                                     "Rock & Roll",
                                     "Hard Rock",
                                     "Folk",
                                     "Folk-Rock",
                                     "National Folk",
                                     "Swing",
                                     "Fast Fusion",
                                     "Bebop",
                                     "Latin",
                                     "Revival",
                                     "Celtic",
                                     "Bluegrass",
                                     "Avantgarde",
                                     "Gothic Rock",
                                     "Progressive Rock",
                                     "Psychedelic Rock",
                                     "Symphonic Rock",
                                     "Slow Rock",
                                     "Big Band",
                                     "Chorus",
                                     "Easy Listening",
                                     "Acoustic",
                                     "Humour",
                                     "Speech",
                                     "Chanson",
                                     "Opera",
                                     "Chamber Music",
                                     "Sonata",
                                     "Symphony",
                                     "Booty Bass",
                                     "Primus",
                                     "Porn Groove",
                                     "Satire",
                                     "Slow Jam",
                                     "Club",
                                     "Tango",
                                     "Samba",
                                     "Folklore",
                                     "Ballad",
                                     "Power Ballad",
                                     "Rhythmic Soul",
                                     "Freestyle",
                                     "Duet",
                                     "Punk Rock",
                                     "Drum Solo",
                                     "A Cappella",
                                     "Euro-House",
                                     "Dance Hall"};

void
media_genre(struct media *media, unsigned number)
{
    if (number < sizeof genres / sizeof *genres) {
        media_text(media, VOCABULARY_XMP_DM "genre", slice_string(genres[number]));
    }
}

static bool
leading_number(struct slice text, unsigned *number, struct slice *rest)
{
    size_t i = 0;
    for (*number = 0; i < text.length && i < 6 && text.at[i] >= '0' && text.at[i] <= '9'; i++) {
        *number = *number * 10 + (unsigned)(text.at[i] - '0');
    }
    *rest = media_part(text, i, SIZE_MAX);
    return i > 0;
}

/* "(17)", "17", "(4)Eurodisco", "Rock" */
static void
say_genre(struct media *media, const char *predicate, struct slice text)
{
    struct slice rest;
    unsigned number;
    if (leading_number(text, &number, &rest) && rest.length == 0) {
        media_genre(media, number);
        return;
    }
    while (slice_starts(text, SLICE("(")) &&
           leading_number(media_part(text, 1, SIZE_MAX), &number, &rest) &&
           slice_starts(rest, SLICE(")"))) {
        media_genre(media, number);
        text = media_part(rest, 1, SIZE_MAX);
    }
    media_text(media, predicate, text);
}

/* value: UTF-8, or bytes of an unsure encoding. */
static void
say_tag(struct media *media, const struct tag_term *term, struct slice value)
{
    struct slice rest;
    unsigned number;
    value = slice_trim(value);
    switch (term->kind) {
    case TAG_TEXT:
        media_text(media, term->predicate, value);
        break;
    case TAG_DATE:
        media_date(media, term->predicate, value);
        break;
    case TAG_NUMBER:
        if (leading_number(value, &number, &rest) && number > 0) {
            media_integer(media, term->predicate, number);
        }
        break;
    case TAG_DECIMAL:
        if (leading_number(value, &number, &rest) && number > 0) {
            media_decimal(media, term->predicate, number);
        }
        break;
    case TAG_GENRE:
        say_genre(media, term->predicate, value);
        break;
    case TAG_LINK:
        media_link(media, term->predicate, value);
        break;
    case TAG_MILLISECONDS: {
        char digits[16];
        snprintf(digits, sizeof digits, "%.*s", (int)(value.length < 15 ? value.length : 15),
                 value.at);
        const long long length = strtoll(digits, NULL, 10);
        if (length > 0) {
            media_decimal(media, term->predicate, (double)length / 1000);
        }
        break;
    }
    }
}

/* ---- ID3v2 ---- */

struct id3 {
    struct media *media;
    uint8_t version; /* 2, 3, 4 */
    struct buf memory;
};

static const char *const id3_encodings[] = {NULL, "utf-16", "utf-16be", "utf-8"};

/* Text up to its end sign in that encoding; *rest: behind the sign. */
static struct slice
encoded_string(struct slice bytes, uint8_t encoding, struct slice *rest)
{
    if (encoding == 0 || encoding > 2) {
        return media_string(bytes, rest);
    }
    size_t at = 0;
    while (at + 1 < bytes.length && (bytes.at[at] != 0 || bytes.at[at + 1] != 0)) {
        at += 2;
    }
    *rest = media_part(bytes, at + 2, SIZE_MAX);
    return media_part(bytes, 0, at);
}

/* Turns the text into UTF-8 where the encoding says so, in id3->memory. */
static struct slice
decoded(struct id3 *id3, struct slice text, uint8_t encoding)
{
    size_t mark;
    struct reason problem;
    const char *name = encoding < 4 ? id3_encodings[encoding] : NULL;
    if (encoding == 1) {
        const char *by_mark = encoding_of_mark(text, &mark);
        name = by_mark ? by_mark : "utf-16le";
    }
    if (encoding == 1 || encoding == 2) {
        encoding_convert(id3->media->transformation->encodings, name,
                         media_part(text, 0, 4 * MEDIA_TEXT), &id3->memory, &text, &problem);
    }
    return text;
}

/* Several values are separated by end signs. */
static void
read_text_frame(struct id3 *id3, const struct tag_term *term, struct slice body)
{
    const uint8_t encoding = media_u8(body, 0);
    struct slice rest = media_part(body, 1, SIZE_MAX);
    for (int i = 0; i < 16 && rest.length > 0; i++) {
        const struct slice value = encoded_string(rest, encoding, &rest);
        say_tag(id3->media, term, decoded(id3, value, encoding));
    }
}

/* COMM and USLT: encoding, language, short description, text. */
static void
read_language_frame(struct id3 *id3, const char *predicate, struct slice body)
{
    const uint8_t encoding = media_u8(body, 0);
    struct slice rest = media_part(body, 4, SIZE_MAX);
    const struct slice about = encoded_string(rest, encoding, &rest);
    if (slice_starts(about, SLICE("iTun"))) {
        return; /* iTunes' private numbers */
    }
    media_text(id3->media, predicate,
               decoded(id3, encoded_string(rest, encoding, &rest), encoding));
}

static void
read_frame(struct id3 *id3, struct slice name, struct slice body)
{
    struct slice rest;
    for (size_t i = 0; i < sizeof tag_terms / sizeof *tag_terms; i++) {
        const struct tag_term *term = &tag_terms[i];
        if (slice_is(name, id3->version == 2 ? term->old_id3 : term->id3)) {
            if (name.at[0] == 'W') {
                say_tag(id3->media, term, media_string(body, NULL));
            } else {
                read_text_frame(id3, term, body);
            }
            return;
        }
    }
    if (slice_is(name, "COMM") || slice_is(name, "COM")) {
        read_language_frame(id3, VOCABULARY_RDFS "comment", body);
    } else if (slice_is(name, "USLT") || slice_is(name, "ULT")) {
        read_language_frame(id3, VOCABULARY_XMP_DM "lyrics", body);
    } else if (slice_is(name, "WXXX") || slice_is(name, "WXX")) {
        encoded_string(media_part(body, 1, SIZE_MAX), media_u8(body, 0), &rest);
        media_link(id3->media, VOCABULARY_SIOC "links_to", media_string(rest, NULL));
    } else if (slice_is(name, "PRIV") && slice_starts(body, SLICE("XMP\0"))) {
        media_xmp(id3->media, media_part(body, 4, SIZE_MAX));
    }
}

static uint32_t
seven_bits(uint32_t value)
{
    return (value & 0x7f) | (value >> 1 & 0x3f80) | (value >> 2 & 0x1fc000) |
           (value >> 3 & 0xfe00000);
}

/* FF 00 was written for FF. */
static struct slice
undo_unsynchronisation(struct id3 *id3, struct slice bytes)
{
    char *room = arena_alloc(&id3->media->transformation->arena, bytes.length + 1);
    size_t length = 0;
    for (size_t i = 0; room && i < bytes.length; i++) {
        room[length++] = bytes.at[i];
        if (bytes.at[i] == '\xff' && media_u8(bytes, i + 1) == 0) {
            i++;
        }
    }
    return slice_of(room, length);
}

static bool
is_frame_name(struct slice bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const uint8_t c = media_u8(bytes, i);
        if (!((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))) {
            return false;
        }
    }
    return bytes.length >= length;
}

/* In 2.4 of seven bits a byte; some writers did not know. */
static size_t
frame_size(const struct id3 *id3, struct slice frames, size_t at)
{
    const uint32_t plain = id3->version == 2 ? media_u24(frames, at + 3, BIG_ENDIAN_BYTES)
                                             : media_u32(frames, at + 4, BIG_ENDIAN_BYTES);
    if (id3->version < 4 || plain < 0x80) {
        return plain;
    }
    const size_t after = at + 10 + (size_t)plain;
    const bool fits = after < frames.length && is_frame_name(media_part(frames, after, 4), 4);
    const size_t after_seven = at + 10 + (size_t)seven_bits(plain);
    const bool seven_fits = after_seven == frames.length || media_u8(frames, after_seven) == 0 ||
                            is_frame_name(media_part(frames, after_seven, 4), 4);
    return fits && !seven_fits ? plain : seven_bits(plain);
}

static void
read_frames(struct id3 *id3, struct slice frames)
{
    const size_t name = id3->version == 2 ? 3 : 4, header = id3->version == 2 ? 6 : 10;
    size_t at = 0;
    for (unsigned i = 0; i < MEDIA_PARTS; i++) {
        if (!is_frame_name(media_part(frames, at, name), name)) {
            return;
        }
        const size_t size = frame_size(id3, frames, at);
        const uint16_t flags = name == 4 ? media_u16(frames, at + 8, BIG_ENDIAN_BYTES) : 0;
        const bool packed = id3->version == 3 ? (flags & 0xc0) != 0 : (flags & 0x0c) != 0;
        struct slice body = media_part(frames, at + header, size);
        if (id3->version == 4) {
            body = media_part(body, (flags & 0x40 ? 1u : 0) + (flags & 1 ? 4u : 0), SIZE_MAX);
            body = flags & 2 ? undo_unsynchronisation(id3, body) : body;
        } else if (flags & 0x20) {
            body = media_part(body, 1, SIZE_MAX);
        }
        if (!packed && body.length > 0) {
            read_frame(id3, media_part(frames, at, name), body);
        }
        at += header + size;
    }
}

size_t
media_id3(struct media *media, struct slice bytes)
{
    const uint8_t version = media_u8(bytes, 3), flags = media_u8(bytes, 5);
    if (!slice_starts(bytes, SLICE("ID3")) || version < 2 || version > 4) {
        return 0;
    }
    const size_t size = seven_bits(media_u32(bytes, 6, BIG_ENDIAN_BYTES));
    struct id3 id3 = {.media = media, .version = version};
    struct slice frames = media_part(bytes, 10, size);
    buf_init(&id3.memory, 1 << 20);
    if (frames.length < size) {
        media_problem(media, "ID3 tag is cut: %zu bytes of %zu", frames.length, size);
    }
    if (flags & 0x80 && version < 4) {
        frames = undo_unsynchronisation(&id3, frames);
    }
    if (flags & 0x40 && version > 2) {
        const uint32_t extended = media_u32(frames, 0, BIG_ENDIAN_BYTES);
        frames = media_part(frames, version == 3 ? 4 + (size_t)extended : seven_bits(extended),
                            SIZE_MAX);
    }
    read_frames(&id3, frames);
    buf_release(&id3.memory);
    return 10 + size + (flags & 0x10 ? 10 : 0);
}

void
media_id3_trailer(struct media *media, struct slice tag)
{
    static const struct {
        uint8_t at, length;
        const char *predicate;
    } fields[] = {{3, 30, VOCABULARY_DCTERMS "title"},
                  {33, 30, VOCABULARY_DC "creator"},
                  {63, 30, VOCABULARY_XMP_DM "album"}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        media_text(media, fields[i].predicate,
                   media_string(media_part(tag, fields[i].at, fields[i].length), NULL));
    }
    media_date(media, VOCABULARY_DCTERMS "date", media_part(tag, 93, 4));
    media_text(media, VOCABULARY_RDFS "comment", media_string(media_part(tag, 97, 30), NULL));
    if (media_u8(tag, 125) == 0 && media_u8(tag, 126) > 0) {
        media_integer(media, VOCABULARY_XMP_DM "trackNumber", media_u8(tag, 126));
    }
    media_genre(media, media_u8(tag, 127));
}

/* ---- Vorbis comments, RIFF INFO ---- */

void
media_vorbis_comments(struct media *media, struct slice block)
{
    const enum byte_order order = LITTLE_ENDIAN_BYTES;
    size_t at = 4 + (size_t)media_u32(block, 0, order);
    const uint32_t count = media_u32(block, at, order);
    at += 4;
    for (uint32_t i = 0; i < count && i < 1000 && at < block.length; i++) {
        const size_t length = media_u32(block, at, order);
        const struct slice comment = media_part(block, at + 4, length);
        const struct slice name = {comment.at, slice_find(comment, '=')};
        at += 4 + length;
        for (size_t k = 0; name.length > 0 && k < sizeof tag_terms / sizeof *tag_terms; k++) {
            if (slice_equal_nocase(name, slice_string(tag_terms[k].vorbis))) {
                say_tag(media, &tag_terms[k], media_part(comment, name.length + 1, SIZE_MAX));
            }
        }
    }
}

void
media_riff_info(struct media *media, struct slice list)
{
    size_t at = 0;
    for (unsigned i = 0; i < MEDIA_PARTS && at + 8 <= list.length; i++) {
        const struct slice name = media_part(list, at, 4);
        const size_t length = media_u32(list, at + 4, LITTLE_ENDIAN_BYTES);
        const struct slice value = media_string(media_part(list, at + 8, length), NULL);
        for (size_t k = 0; k < sizeof tag_terms / sizeof *tag_terms; k++) {
            if (slice_is(name, tag_terms[k].riff)) {
                say_tag(media, &tag_terms[k], value);
            }
        }
        at += 8 + length + (length & 1);
    }
}
