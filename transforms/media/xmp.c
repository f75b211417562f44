/* XMP packets. XMP is RDF/XML in a wrapper (ISO 16684-1, section 7), so our own RDF/XML reader
 * takes it as it is: nested structures, alternatives and languages stay what they were.
 * docs/FILES.md says why no XMP library is between.
 */
#include "rdf/format.h"
#include "transforms/media/media.h"

struct packet {
    struct media *media;
    struct slice about; /* what the packet calls the document */
    struct buf subject, object;
    uint64_t problems;
};

/* Two packets of one document must not share blank nodes. */
static void
rename_blank(const struct packet *packet, struct term *term, struct buf *label)
{
    if (term->kind == TERM_BLANK) {
        buf_reset(label);
        buf_printf(label, "xmp%ux%.*s", packet->media->packets, SLICE_PRINT(term->value));
        term->value = buf_slice(label);
    }
}

static enum status
take_quad(void *context, const struct quad *quad, struct reason *why)
{
    struct packet *packet = context;
    struct quad renamed = *quad;
    if (packet->media->statements++ >= MEDIA_STATEMENTS) {
        return status_fail(why, STATUS_CANCELLED, "more than %d statements", MEDIA_STATEMENTS);
    }
    rename_blank(packet, &renamed.subject, &packet->subject);
    rename_blank(packet, &renamed.object, &packet->object);
    if (packet->about.length > 0 && slice_equal(renamed.subject.value, packet->about)) {
        renamed.subject = packet->media->emitter.document;
    }
    renamed.line = 0; /* of the packet, not of the file */
    return packet->media->sink.quad(packet->media->sink.context, &renamed, why);
}

static void
take_problem(void *context, const struct parse_problem *problem)
{
    struct packet *packet = context;
    if (packet->problems++ < 3) {
        media_problem(packet->media, "XMP, line %lu of the packet: %s",
                      (unsigned long)problem->line, problem->text);
    }
}

/* The rdf:RDF element without x:xmpmeta, processing instructions and padding around it. */
static struct slice
unwrap(struct slice packet)
{
    const size_t from = slice_find_slice(packet, SLICE("<rdf:RDF"));
    const struct slice body = media_part(packet, from, SIZE_MAX);
    const size_t end = slice_find_slice(body, SLICE("</rdf:RDF"));
    const struct slice tail = media_part(body, end, SIZE_MAX);
    return tail.length > 0 ? slice_of(body.at, end + slice_find(tail, '>') + 1) : body;
}

/* Old writers name the document by a uuid: in rdf:about, all the same within a packet. */
static struct slice
about_of(struct slice packet)
{
    static const struct slice attribute = SLICE_INIT("rdf:about=");
    const struct slice rest =
        media_part(packet, slice_find_slice(packet, attribute) + attribute.length, SIZE_MAX);
    if (rest.length < 2 || (rest.at[0] != '"' && rest.at[0] != '\'')) {
        return (struct slice){0};
    }
    const struct slice value = media_part(rest, 1, SIZE_MAX);
    return slice_of(value.at, slice_find(value, rest.at[0]));
}

static struct slice
packet_text(struct media *media, struct slice packet)
{
    size_t mark;
    struct reason problem;
    const char *encoding = encoding_of_mark(packet, &mark);
    encoding = encoding ? encoding : encoding_of_zeros(packet);
    if (!encoding || strcmp(encoding, "utf-8") == 0) {
        encoding = encoding_is_utf8(packet) ? NULL : "windows-1252";
    }
    if (encoding) {
        encoding_convert(media->transformation->encodings, encoding, packet, &media->memory,
                         &packet, &problem);
    }
    return packet;
}

void
media_xmp(struct media *media, struct slice bytes)
{
    struct reason why;
    if (bytes.length > MEDIA_PACKET) {
        media_problem(media, "XMP packet of %zu bytes was left out: at most %d are read",
                      bytes.length, MEDIA_PACKET);
        return;
    }
    if (media->packets == MEDIA_PACKETS) {
        return;
    }
    const struct slice text = unwrap(packet_text(media, bytes));
    if (slice_trim(text).length == 0) {
        return;
    }
    struct packet packet = {.media = media, .about = about_of(text)};
    buf_init(&packet.subject, 64 << 10);
    buf_init(&packet.object, 64 << 10);
    media->packets++;
    const struct quad_sink sink = {take_quad, &packet};
    const struct parse_options options = {.base = media->emitter.document.value,
                                          .lenient = true,
                                          .problems = {take_problem, &packet}};
    const enum status status = rdf_parse(RDF_FORMAT_XML, text, &options, &sink, &why);
    if (status == STATUS_BAD_INPUT || status == STATUS_CANCELLED) {
        media_problem(media, "XMP packet: %s", why.text);
    } else if (status != STATUS_OK && media->emitter.status == STATUS_OK) {
        media->emitter.status = status_fail(media->emitter.why, status, "%s", why.text);
    }
    buf_release(&packet.subject);
    buf_release(&packet.object);
}
