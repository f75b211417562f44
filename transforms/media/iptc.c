/* IPTC records and the Photoshop resources they come in.
 * Sources: IPTC IIM 4.2; Adobe Photoshop File Formats Specification, "Image Resource Blocks".
 */
#include "transforms/media/media.h"

static const struct {
    uint8_t dataset; /* of record 2 */
    bool date;
    const char *predicate;
} iptc_terms[] = {
    {5, false, VOCABULARY_DCTERMS "title"},
    {25, false, VOCABULARY_DC "subject"},
    {40, false, VOCABULARY_PHOTOSHOP "Instructions"},
    {55, true, VOCABULARY_DCTERMS "created"},
    {80, false, VOCABULARY_DC "creator"},
    {85, false, VOCABULARY_PHOTOSHOP "AuthorsPosition"},
    {90, false, VOCABULARY_PHOTOSHOP "City"},
    {95, false, VOCABULARY_PHOTOSHOP "State"},
    {101, false, VOCABULARY_PHOTOSHOP "Country"},
    {103, false, VOCABULARY_PHOTOSHOP "TransmissionReference"},
    {105, false, VOCABULARY_PHOTOSHOP "Headline"},
    {110, false, VOCABULARY_PHOTOSHOP "Credit"},
    {115, false, VOCABULARY_PHOTOSHOP "Source"},
    {116, false, VOCABULARY_DC "rights"},
    {120, false, VOCABULARY_DCTERMS "description"},
    {122, false, VOCABULARY_PHOTOSHOP "CaptionWriter"},
};

void
media_iptc(struct media *media, struct slice records)
{
    size_t at = 0;
    for (unsigned i = 0; i < MEDIA_PARTS && media_u8(records, at) == 0x1c; i++) {
        const uint8_t record = media_u8(records, at + 1), dataset = media_u8(records, at + 2);
        const size_t length = media_u16(records, at + 3, BIG_ENDIAN_BYTES);
        if (length >= 0x8000) { /* an extended dataset: none of ours is that long */
            return;
        }
        const struct slice value = media_part(records, at + 5, length);
        for (size_t k = 0; record == 2 && k < sizeof iptc_terms / sizeof *iptc_terms; k++) {
            if (iptc_terms[k].dataset == dataset) {
                (iptc_terms[k].date ? media_date : media_text)(media, iptc_terms[k].predicate,
                                                               value);
            }
        }
        at += 5 + length;
    }
}

void
media_photoshop(struct media *media, struct slice resources)
{
    enum { IPTC = 0x0404, URL = 0x040b, XMP = 0x0424 };
    size_t at = 0;
    for (unsigned i = 0;
         i < MEDIA_PARTS && slice_starts(media_part(resources, at, 4), SLICE("8BIM")); i++) {
        const uint16_t kind = media_u16(resources, at + 4, BIG_ENDIAN_BYTES);
        const size_t name = (1u + media_u8(resources, at + 6) + 1) & ~(size_t)1;
        const size_t length = media_u32(resources, at + 6 + name, BIG_ENDIAN_BYTES);
        const struct slice data = media_part(resources, at + 10 + name, length);
        if (kind == IPTC) {
            media_iptc(media, data);
        } else if (kind == XMP) {
            media_xmp(media, data);
        } else if (kind == URL) {
            media_link(media, VOCABULARY_SIOC "links_to", data);
        }
        at += 10 + name + length + (length & 1);
    }
}
