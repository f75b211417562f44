#include "stages/detect.h"

#include <stdint.h>
#include <stdio.h>

#include "stages/media_type.h"
#include "transforms/encoding.h"
#include "transforms/html_entities.h"
#include "transforms/xml_peek.h"

/* What is known while deciding. */
struct evidence {
    struct slice bytes, text; /* text: the beginning in an ASCII-compatible encoding */
    struct slice claim;       /* canonical name of Content-Type's essence; empty: none */
    const char *extension;    /* type by it, or NULL */
    struct xml_peek peek;
    bool complete, has_root, binary, wide;
    struct detection *detection;
};

void
detector_init(struct detector *detector)
{
    buf_init(&detector->type_memory, 64 << 10);
    buf_init(&detector->text_memory, 4 * DETECT_HEAD);
    buf_init(&detector->peek_memory, 16 << 10);
}

void
detector_release(struct detector *detector)
{
    buf_release(&detector->type_memory);
    buf_release(&detector->text_memory);
    buf_release(&detector->peek_memory);
}

static bool
decide(struct evidence *evidence, struct slice type, const char *format, struct slice detail)
{
    struct detection *detection = evidence->detection;
    snprintf(detection->type, sizeof detection->type, "%.*s", SLICE_PRINT(type));
    snprintf(detection->reason, sizeof detection->reason, format, SLICE_PRINT(detail));
    return true;
}

static bool
claims(const struct evidence *evidence, const char *type)
{
    return slice_is(evidence->claim, type);
}

static bool
claims_nothing(const struct evidence *evidence)
{
    return evidence->claim.length == 0 || claims(evidence, "application/octet-stream") ||
           claims(evidence, "application/x-unknown") || claims(evidence, "unknown/unknown") ||
           claims(evidence, "application/unknown") || claims(evidence, "binary/octet-stream");
}

static bool
ends_with(struct slice text, const char *suffix)
{
    const size_t n = strlen(suffix);
    return text.length >= n && memcmp(text.at + text.length - n, suffix, n) == 0;
}

static bool
claims_xml(const struct evidence *evidence)
{
    return claims(evidence, "application/xml") || ends_with(evidence->claim, "+xml") ||
           claims(evidence, "text/x-opml") || claims(evidence, "application/trix");
}

static bool
claims_text_rdf(const struct evidence *evidence)
{
    static const char *const types[] = {"text/turtle", "text/n3", "application/trig",
                                        "application/n-triples", "application/n-quads"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (claims(evidence, types[i])) {
            return true;
        }
    }
    return false;
}

/* ---- XML and HTML ---- */

static bool
decide_xhtml(struct evidence *evidence)
{
    const bool as_html = claims(evidence, "text/html") || claims(evidence, "text/plain");
    if (claims(evidence, "text/plain")) {
        return false;
    }
    return decide(evidence, as_html ? SLICE("text/html") : SLICE("application/xhtml+xml"),
                  as_html ? "Content-Type says HTML, root element %.*s is XHTML's"
                          : "root element %.*s in the namespace of XHTML",
                  evidence->peek.root);
}

static bool
decide_root(struct evidence *evidence)
{
    const struct xml_peek *peek = &evidence->peek;
    struct detection *detection = evidence->detection;
    snprintf(detection->root, sizeof detection->root, "%.*s", SLICE_PRINT(peek->root));
    snprintf(detection->namespace, sizeof detection->namespace, "%.*s",
             SLICE_PRINT(peek->namespace));
    const char *type = detect_root(peek->root, peek->namespace);
    if (type && strcmp(type, "application/xhtml+xml") == 0) {
        return decide_xhtml(evidence);
    }
    if (type) {
        return decide(evidence, slice_string(type),
                      peek->namespace.length > 0 ? "root element %.*s and its namespace"
                                                 : "root element %.*s",
                      peek->root);
    }
    if (slice_equal_nocase(peek->root, SLICE("html")) ||
        (slice_equal_nocase(peek->doctype, SLICE("html")) && peek->namespace.length == 0)) {
        if (claims(evidence, "text/plain")) {
            return false;
        }
        const bool xhtml = claims(evidence, "application/xhtml+xml");
        return decide(evidence, xhtml ? evidence->claim : SLICE("text/html"),
                      xhtml ? "Content-Type, and root element %.*s"
                            : "root element or document type %.*s",
                      SLICE("html"));
    }
    static const char *const head_elements[] = {"link", "meta", "title", "base", "script"};
    for (size_t i = 0; i < sizeof head_elements / sizeof *head_elements; i++) {
        if (slice_equal_nocase(peek->root, slice_string(head_elements[i])) &&
            peek->namespace.length == 0 &&
            (claims_nothing(evidence) || claims(evidence, "text/html"))) {
            return decide(evidence, SLICE("text/html"), "first element %.*s", peek->root);
        }
    }
    const bool by_extension = evidence->extension && strstr(evidence->extension, "xml") &&
                              (claims_nothing(evidence) || claims(evidence, "text/plain"));
    if (!claims_xml(evidence) && !peek->declaration && peek->namespace.length == 0 &&
        !by_extension) {
        return false;
    }
    if (claims_xml(evidence) && !claims(evidence, "application/xml") &&
        !claims(evidence, "application/xhtml+xml")) {
        return decide(evidence, evidence->claim, "Content-Type, and root element %.*s", peek->root);
    }
    return decide(evidence, SLICE("application/xml"), "XML with root element %.*s", peek->root);
}

static bool
decide_markup(struct evidence *evidence)
{
    if (evidence->has_root && decide_root(evidence)) {
        return true;
    }
    const bool may_be_html = claims(evidence, "text/html") || claims_nothing(evidence) ||
                             claims_xml(evidence) || claims_text_rdf(evidence);
    if (may_be_html && detect_html(evidence->text)) {
        return decide(evidence, SLICE("text/html"), "the text begins as HTML does%.*s",
                      (struct slice){0});
    }
    if (slice_starts(slice_trim(evidence->text), SLICE("<?xml"))) {
        return decide(evidence, claims_xml(evidence) ? evidence->claim : SLICE("application/xml"),
                      "XML declaration%.*s", (struct slice){0});
    }
    return false;
}

/* ---- other text ---- */

/* Content against a claim of another syntax of RDF: the claim stands when what is there is also
 * that (N-Triples are Turtle). */
static struct slice
reconcile(const struct evidence *evidence, const char *found)
{
    const struct slice claim = evidence->claim, sniffed = slice_string(found);
    if (!claims_text_rdf(evidence)) {
        return sniffed;
    }
    const bool triples = slice_is(sniffed, "application/n-triples");
    if (claims(evidence, "application/trig") || (claims(evidence, "text/n3")) ||
        (claims(evidence, "text/turtle") && triples) ||
        (claims(evidence, "application/n-quads") && triples)) {
        return claim;
    }
    return sniffed;
}

static bool
decide_rdf(struct evidence *evidence)
{
    const char *found = NULL;
    const bool open = claims_text_rdf(evidence) || claims_nothing(evidence) ||
                      claims(evidence, "text/plain") || claims(evidence, "text/html") ||
                      claims_xml(evidence);
    if (open) {
        found = detect_rdf_text(evidence->text, evidence->complete);
    }
    if (!found) {
        return claims_text_rdf(evidence) &&
               decide(evidence, evidence->claim, "Content-Type %.*s", evidence->claim);
    }
    struct slice type = reconcile(evidence, found);
    /* The first lines of Turtle can look like N-Triples; the name knows better. */
    if (slice_is(type, "application/n-triples") && evidence->extension &&
        (strcmp(evidence->extension, "text/turtle") == 0 ||
         strcmp(evidence->extension, "application/n-quads") == 0 ||
         strcmp(evidence->extension, "application/trig") == 0)) {
        type = slice_string(evidence->extension);
    }
    return decide(evidence, type,
                  slice_equal(type, evidence->claim) ? "Content-Type, and statements of %.*s"
                                                     : "the text begins with statements of %.*s",
                  slice_string(found));
}

static bool
decide_json(struct evidence *evidence)
{
    const bool claimed =
        claims(evidence, "application/json") || ends_with(evidence->claim, "+json");
    const bool open = claimed || claims_nothing(evidence) || claims(evidence, "text/plain") ||
                      claims(evidence, "text/html") || claims(evidence, "text/javascript");
    const char *found = open ? detect_json(evidence->text) : NULL;
    if (claimed && (!found || !claims(evidence, "application/json"))) {
        return decide(evidence, evidence->claim, "Content-Type %.*s", evidence->claim);
    }
    if (!found || (claims(evidence, "text/html") && strcmp(found, "application/json") == 0)) {
        return false;
    }
    return decide(evidence, slice_string(found), "the text is %.*s",
                  strcmp(found, "application/ld+json") == 0 ? SLICE("JSON with JSON-LD keywords")
                                                            : SLICE("JSON"));
}

/* Nothing in the content decides: what is said about it does. */
static bool
decide_by_claims(struct evidence *evidence)
{
    const bool text_claim = slice_starts(evidence->claim, SLICE("text/")) || claims_xml(evidence) ||
                            claims(evidence, "application/x-sh");
    const bool plain = claims(evidence, "text/plain");
    if (!claims_nothing(evidence) && !plain && text_claim != evidence->binary) {
        return decide(evidence, evidence->claim, "Content-Type %.*s", evidence->claim);
    }
    if (evidence->extension && !evidence->binary) {
        const struct slice type = slice_string(evidence->extension);
        const bool markup =
            strstr(evidence->extension, "xml") || strcmp(evidence->extension, "text/html") == 0;
        if (!(plain && markup)) {
            return decide(evidence, type, "text, and an extension of %.*s", type);
        }
    }
    if (plain && !evidence->binary) {
        return decide(evidence, evidence->claim, "Content-Type %.*s", evidence->claim);
    }
    if (!claims_nothing(evidence) && !evidence->binary) {
        return decide(evidence, evidence->claim, "Content-Type %.*s", evidence->claim);
    }
    return false;
}

/* ---- preparing ---- */

/* "Binary data byte" of the MIME Sniffing standard. */
static bool
has_binary(struct slice bytes)
{
    for (size_t i = 0; i < bytes.length; i++) {
        const uint8_t c = (uint8_t)bytes.at[i];
        if (c <= 0x08 || c == 0x0B || (c >= 0x0E && c <= 0x1A) || (c >= 0x1C && c <= 0x1F)) {
            return true;
        }
    }
    return false;
}

/* UTF-16 to UTF-8, for looking only: surrogates are not joined. */
static struct slice
narrow(struct detector *detector, struct slice bytes, bool big_endian)
{
    const uint8_t *at = (const uint8_t *)bytes.at;
    buf_reset(&detector->text_memory);
    for (size_t i = 0; i + 1 < bytes.length; i += 2) {
        const uint32_t unit = (uint32_t)at[i + !big_endian] << 8 | at[i + big_endian];
        char *room = buf_reserve(&detector->text_memory, 4);
        if (!room) {
            break;
        }
        if (unit != 0xFEFF) {
            buf_commit(&detector->text_memory,
                       utf8_put(room, unit >= 0xD800 && unit < 0xE000 ? 0xFFFD : unit));
        }
    }
    return buf_slice(&detector->text_memory);
}

static void
prepare_text(struct detector *detector, struct evidence *evidence)
{
    const struct slice bytes = evidence->bytes;
    size_t mark = 0;
    const char *encoding = encoding_of_mark(bytes, &mark);
    if (!encoding) {
        encoding = encoding_of_zeros(bytes);
    }
    evidence->wide = encoding && strcmp(encoding, "utf-8") != 0;
    evidence->text = evidence->wide ? narrow(detector, bytes, strcmp(encoding, "utf-16be") == 0)
                                    : slice_of(bytes.at + mark, bytes.length - mark);
    const size_t resource_header = 1445;
    evidence->binary = has_binary(
        slice_of(evidence->text.at, evidence->text.length < resource_header ? evidence->text.length
                                                                            : resource_header));
    evidence->has_root = evidence->text.length > 0 &&
                         xml_peek(evidence->text, &detector->peek_memory, &evidence->peek);
}

static void
decide_all(struct detector *detector, struct evidence *evidence)
{
    const struct slice none = {0};
    if (evidence->bytes.length == 0) {
        decide(evidence, SLICE("application/x-empty"), "the document is empty%.*s", none);
        return;
    }
    const char *signature = detect_signature(evidence->bytes);
    if (signature) {
        decide(evidence, slice_string(signature), "signature of %.*s", slice_string(signature));
        return;
    }
    prepare_text(detector, evidence);
    if (decide_markup(evidence) ||
        /* Literals may hold control characters, so a claim of RDF stands against binary bytes. */
        ((!evidence->binary || claims_text_rdf(evidence)) && decide_rdf(evidence)) ||
        (!evidence->binary && decide_json(evidence)) || decide_by_claims(evidence)) {
        return;
    }
    evidence->detection->undecided = true;
    decide(evidence, evidence->binary ? SLICE("application/octet-stream") : SLICE("text/plain"),
           evidence->binary ? "binary of no known kind%.*s" : "text of no known kind%.*s", none);
}

void
detect(struct detector *detector, const struct detect_input *input, struct detection *detection)
{
    struct media_type claimed;
    *detection = (struct detection){0};
    struct evidence evidence = {.bytes = input->bytes,
                                .complete = input->bytes.length <= DETECT_HEAD,
                                .extension = detect_extension(input->uri),
                                .detection = detection};
    if (!evidence.complete) {
        evidence.bytes.length = DETECT_HEAD;
    }
    if (media_type_parse(input->content_type, &detector->type_memory, &claimed) &&
        claimed.essence.length < DETECT_TYPE_SIZE) {
        evidence.claim = detect_canonical_name(claimed.essence);
    }
    decide_all(detector, &evidence);
}

void
detect_settle(struct slice magic, struct detection *detection)
{
    detection->undecided = false;
    const struct slice type = detect_canonical_name(magic);
    if (type.length == 0 || type.length >= DETECT_TYPE_SIZE ||
        slice_is(type, "application/octet-stream") || slice_find(type, '/') == type.length) {
        return;
    }
    snprintf(detection->type, sizeof detection->type, "%.*s", SLICE_PRINT(type));
    snprintf(detection->reason, sizeof detection->reason, "libmagic says %.*s", SLICE_PRINT(magic));
}
