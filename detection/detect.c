#include "detection/detect.h"

#include <stdio.h>

#include "detection/media_type.h"
#include "transforms/common/encoding.h"
#include "transforms/common/unpack.h"
#include "transforms/xml/xml_peek.h"

/* Holds what is known while the type is decided. */
struct evidence {
    struct slice bytes, text; /* text: the beginning in an ASCII-compatible encoding */
    struct slice claim;       /* canonical name of Content-Type's essence; empty: none */
    struct slice uri;
    const char *extension; /* type by it, or NULL */
    const char *truncated; /* what lacks, or NULL */
    struct xml_peek peek;
    bool complete, has_root, binary, wide, packed; /* packed: found inside gzip or zstd */
    struct detection *detection;
};

void
detector_init(struct detector *detector)
{
    buf_init(&detector->type_memory, 64 << 10);
    buf_init(&detector->text_memory, 4 * DETECT_HEAD);
    buf_init(&detector->peek_memory, 16 << 10);
    buf_init(&detector->unpacked, DETECT_HEAD);
}

void
detector_release(struct detector *detector)
{
    buf_release(&detector->type_memory);
    buf_release(&detector->text_memory);
    buf_release(&detector->peek_memory);
    buf_release(&detector->unpacked);
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

/* The last tag of a whole document ends. */
static void
note_truncation(struct evidence *evidence)
{
    const struct slice text = slice_trim(evidence->text);
    if (evidence->complete && text.length > 0 && text.at[text.length - 1] != '>') {
        evidence->truncated = "cut off: it does not end with a tag";
    }
}

static bool
decide_markup(struct evidence *evidence)
{
    const bool xml = evidence->has_root && evidence->peek.declaration;
    if (xml) {
        note_truncation(evidence);
    }
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
    static const struct {
        const char *claim, *also;
    } wider[] = {
        {"text/turtle", "application/n-triples"},
        {"application/n-quads", "application/n-triples"},
        {"application/trig", "application/n-triples"},
        {"application/trig", "text/turtle"},
        {"text/n3", "text/turtle"},
        {"text/n3", "application/n-triples"},
    };
    for (size_t i = 0; i < sizeof wider / sizeof *wider; i++) {
        if (claims(evidence, wider[i].claim) && slice_is(sniffed, wider[i].also)) {
            return claim;
        }
    }
    return sniffed;
}

static bool
decide_rdf(struct evidence *evidence)
{
    const char *found = NULL;
    static const char *const others[] = {"text/shex", "application/sparql-query",
                                         "application/sparql-update", "text/css"};
    bool open = true;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        open &= !claims(evidence, others[i]) &&
                !(evidence->extension && strcmp(evidence->extension, others[i]) == 0);
    }
    if (open) {
        found = detect_rdf_text(evidence->text, evidence->complete);
    }
    if (!found) {
        return claims_text_rdf(evidence) &&
               decide(evidence, evidence->claim, "Content-Type %.*s", evidence->claim);
    }
    struct slice type = reconcile(evidence, found);
    /* The first lines of Turtle can look like N-Triples; the name knows better. */
    if (evidence->extension && slice_is(type, "application/n-triples") &&
        (strcmp(evidence->extension, "text/turtle") == 0 ||
         strcmp(evidence->extension, "text/n3") == 0 ||
         strcmp(evidence->extension, "application/n-quads") == 0 ||
         strcmp(evidence->extension, "application/trig") == 0)) {
        type = slice_string(evidence->extension);
    }
    if (evidence->extension && slice_is(type, "text/turtle") && !claims(evidence, "text/turtle") &&
        strcmp(evidence->extension, "text/n3") == 0) {
        type = slice_string(evidence->extension);
    }
    return decide(evidence, type,
                  slice_equal(type, evidence->claim) ? "Content-Type, and statements of %.*s"
                                                     : "the text begins with statements of %.*s",
                  slice_string(found));
}

/* Decides for a text that is JSON and no more: it is what Content-Type or the name says more
 * exactly. */
static bool
decide_plain_json(struct evidence *evidence, bool claimed)
{
    if (claims(evidence, "text/html")) {
        return false;
    }
    if (claimed && !claims(evidence, "application/json")) {
        return decide(evidence, evidence->claim, "Content-Type, and the text is JSON%.*s",
                      (struct slice){0});
    }
    const struct slice name = slice_string(evidence->extension);
    if (!claimed && ends_with(name, "+json")) {
        return decide(evidence, name, "the text is JSON, and an extension of %.*s", name);
    }
    return decide(evidence, SLICE("application/json"), "the text is JSON%.*s", (struct slice){0});
}

static bool
decide_json(struct evidence *evidence)
{
    const bool claimed = claims(evidence, "application/json") ||
                         claims(evidence, "application/x-ndjson") ||
                         ends_with(evidence->claim, "+json");
    const bool open = claimed || claims_nothing(evidence) || claims(evidence, "text/plain") ||
                      claims(evidence, "text/html") || claims(evidence, "text/javascript") ||
                      claims_xml(evidence) || claims_text_rdf(evidence);
    bool cut = false;
    const char *found = open ? detect_json(evidence->text, &cut) : NULL;
    if (!found) {
        return claimed && decide(evidence, evidence->claim, "Content-Type %.*s", evidence->claim);
    }
    evidence->truncated = cut && evidence->complete ? "cut off before its last bracket" : NULL;
    const struct slice linked = SLICE("application/ld+json");
    if (claims(evidence, linked.at) ||
        (evidence->extension && slice_is(linked, evidence->extension))) {
        return decide(evidence, linked, "the text is JSON, said to be %.*s", linked);
    }
    if (strcmp(found, "application/json") == 0) {
        return decide_plain_json(evidence, claimed);
    }
    if (claims(evidence, "application/x-ndjson") ||
        (claims(evidence, "application/geo+json") && strcmp(found, "application/ld+json") != 0)) {
        return decide(evidence, evidence->claim, "Content-Type, and the text is JSON%.*s",
                      (struct slice){0});
    }
    if (strcmp(found, "application/ld+json") == 0) {
        return decide(evidence, slice_string(found), "the text is %.*s",
                      SLICE("JSON with JSON-LD keywords"));
    }
    return decide(evidence, slice_string(found), "the text is JSON with the keys of %.*s",
                  slice_string(found));
}

/* Formats that begin with a word of their own, unless something more exact is claimed. */
static bool
decide_text(struct evidence *evidence)
{
    const bool open = claims_nothing(evidence) || claims(evidence, "text/plain") ||
                      claims(evidence, "text/html") || claims_xml(evidence);
    const char *found = detect_text(evidence->text);
    if (!found ||
        (!open && strcmp(found, "text/calendar") != 0 && strcmp(found, "text/vcard") != 0)) {
        return false;
    }
    return decide(evidence, slice_string(found), "the text begins as %.*s does",
                  slice_string(found));
}

/* Tables, where neither Content-Type nor the name knows better. */
static bool
decide_table(struct evidence *evidence)
{
    const bool open = claims_nothing(evidence) || claims(evidence, "text/plain") ||
                      slice_starts(evidence->claim, SLICE("application/vnd.ms-excel"));
    const bool named = evidence->extension && strcmp(evidence->extension, "text/plain") != 0 &&
                       strcmp(evidence->extension, "application/vnd.ms-excel") != 0;
    const char *found = open && !named ? detect_table(evidence->text) : NULL;
    return found &&
           decide(evidence, slice_string(found),
                  "lines with the same number of fields, as %.*s has", slice_string(found));
}

/* Nothing in the content decides: what is said about it does. */
static bool
decide_by_claims(struct evidence *evidence)
{
    const bool text_claim = slice_starts(evidence->claim, SLICE("text/")) || claims_xml(evidence) ||
                            claims(evidence, "application/x-sh");
    const bool plain = claims(evidence, "text/plain");
    const struct slice claim = evidence->claim;
    const bool media = slice_starts(claim, SLICE("image/")) ||
                       slice_starts(claim, SLICE("audio/")) ||
                       slice_starts(claim, SLICE("video/")) || slice_starts(claim, SLICE("font/"));
    if (media && !text_claim && !evidence->binary) {
        return false; /* text is none of these */
    }
    if (!claims_nothing(evidence) && !plain && text_claim != evidence->binary) {
        return decide(evidence, evidence->claim, "Content-Type %.*s", evidence->claim);
    }
    if (evidence->extension && !evidence->binary) {
        const struct slice type = slice_string(evidence->extension);
        const bool markup =
            strstr(evidence->extension, "xml") || strcmp(evidence->extension, "text/html") == 0;
        const bool container = detect_is_kept_in(true, type) || detect_is_kept_in(false, type);
        if (!(plain && markup) && !container) {
            return decide(evidence, type, "text, and an extension of %.*s", type);
        }
    }
    if (!evidence->binary && decide_table(evidence)) {
        return true;
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
    evidence->text = evidence->wide ? detect_narrow(bytes, strcmp(encoding, "utf-16be") == 0,
                                                    &detector->text_memory)
                                    : slice_of(bytes.at + mark, bytes.length - mark);
    const size_t resource_header = 1445;
    evidence->binary = detect_binary(
        slice_of(evidence->text.at, evidence->text.length < resource_header ? evidence->text.length
                                                                            : resource_header));
    evidence->has_root = evidence->text.length > 0 &&
                         xml_peek(evidence->text, &detector->peek_memory, &evidence->peek);
}

/* ---- packed documents ---- */

static void decide_all(struct detector *detector, struct evidence *evidence);

/* Text that somebody may read is worth unpacking; programs, pictures and mere text are not. */
static bool
is_worth_unpacking(const struct detection *inner)
{
    const struct slice type = slice_string(inner->type);
    return !inner->undecided && !inner->by_signature && !slice_is(type, "text/plain") &&
           !slice_is(type, "application/x-empty") && !slice_is(type, "application/x-sh") &&
           (!slice_starts(type, SLICE("text/x-")) || slice_is(type, "text/x-opml"));
}

/* Decides by what is inside of gzip or zstd, when that is a document. */
static bool
decide_packed(struct detector *detector, struct evidence *evidence, const char *signature)
{
    const char *coding = unpack_coding(evidence->bytes);
    bool damaged = false;
    if (!coding || evidence->packed ||
        !unpack_head(coding, evidence->bytes, &detector->unpacked, &damaged)) {
        return false;
    }
    struct detection inner = {0};
    struct evidence within = {.bytes = buf_slice(&detector->unpacked),
                              .uri = detect_inner_name(evidence->uri),
                              .packed = true,
                              .detection = &inner};
    const size_t length = within.bytes.length;
    within.complete = evidence->complete && !damaged && length < DETECT_HEAD;
    within.extension = detect_extension(within.uri);
    if (!slice_is(evidence->claim, signature)) {
        within.claim = evidence->claim;
    }
    decide_all(detector, &within);
    if (!is_worth_unpacking(&inner)) {
        return false;
    }
    struct detection *detection = evidence->detection;
    *detection = inner;
    snprintf(detection->reason, sizeof detection->reason, "%s around %.100s: %.200s", coding,
             inner.type, inner.reason);
    evidence->extension = within.extension;
    evidence->claim = within.claim;
    evidence->truncated =
        damaged && evidence->complete ? "the packed file is damaged or cut off" : within.truncated;
    return true;
}

/* ---- the order of evidence ---- */

/* Zip and compound files that say too little are what their name or Content-Type says. */
static bool
decide_container(struct evidence *evidence, const char *signature)
{
    const bool zip = strcmp(signature, "application/zip") == 0;
    if (!zip && strcmp(signature, "application/x-ole-storage") != 0) {
        return false;
    }
    const struct slice said[] = {slice_string(evidence->extension), evidence->claim};
    for (size_t i = 0; i < 2; i++) {
        if (detect_is_kept_in(zip, said[i])) {
            return decide(evidence, said[i],
                          i == 0 ? "a container, and an extension of %.*s"
                                 : "a container, and Content-Type %.*s",
                          said[i]);
        }
    }
    return false;
}

static bool
decide_signature(struct detector *detector, struct evidence *evidence)
{
    const char *signature = detect_signature(evidence->bytes);
    if (!signature) {
        return false;
    }
    if (decide_packed(detector, evidence, signature)) {
        return true;
    }
    evidence->detection->by_signature = true;
    return decide_container(evidence, signature) ||
           decide(evidence, slice_string(signature), "signature of %.*s", slice_string(signature));
}

static void
decide_all(struct detector *detector, struct evidence *evidence)
{
    const struct slice none = {0};
    if (evidence->bytes.length == 0) {
        decide(evidence, SLICE("application/x-empty"), "the document is empty%.*s", none);
        return;
    }
    if (decide_signature(detector, evidence)) {
        return;
    }
    prepare_text(detector, evidence);
    if (decide_markup(evidence) ||
        /* Literals may hold control characters, so a claim of RDF stands against binary bytes. */
        ((!evidence->binary || claims_text_rdf(evidence)) && decide_rdf(evidence)) ||
        (!evidence->binary && (decide_json(evidence) || decide_text(evidence))) ||
        decide_by_claims(evidence)) {
        return;
    }
    evidence->detection->undecided = true;
    decide(evidence, evidence->binary ? SLICE("application/octet-stream") : SLICE("text/plain"),
           evidence->binary ? "binary of no known kind%.*s" : "text of no known kind%.*s", none);
}

/* Adds findings about evidence that disagrees with the type, and about evidence that is missing. */
static void
add_contradictions(const struct evidence *evidence)
{
    struct detection *detection = evidence->detection;
    size_t used = strlen(detection->reason);
    char *const reason = detection->reason;
    if (!claims_nothing(evidence) && !claims(evidence, detection->type)) {
        used += (size_t)snprintf(reason + used, sizeof detection->reason - used,
                                 "; against Content-Type %.*s", SLICE_PRINT(evidence->claim));
    }
    if (evidence->extension && strcmp(evidence->extension, detection->type) != 0 &&
        used < sizeof detection->reason) {
        used += (size_t)snprintf(reason + used, sizeof detection->reason - used,
                                 "; the name says %s", evidence->extension);
    }
    if (evidence->truncated && used < sizeof detection->reason) {
        snprintf(reason + used, sizeof detection->reason - used, "; %s", evidence->truncated);
    }
}

static struct slice
claim_of(struct detector *detector, struct slice content_type)
{
    struct media_type claimed;
    return media_type_parse(content_type, &detector->type_memory, &claimed) &&
                   claimed.essence.length < DETECT_TYPE_SIZE
               ? detect_canonical_name(claimed.essence)
               : (struct slice){0};
}

void
detect(struct detector *detector, const struct detect_input *input, struct detection *detection)
{
    *detection = (struct detection){0};
    struct evidence evidence = {.bytes = input->bytes,
                                .uri = input->uri,
                                .claim = claim_of(detector, input->content_type),
                                .complete = input->bytes.length <= DETECT_HEAD,
                                .extension = detect_extension(input->uri),
                                .detection = detection};
    if (!evidence.complete) {
        evidence.bytes.length = DETECT_HEAD;
    }
    decide_all(detector, &evidence);
    add_contradictions(&evidence);
}

void
detect_explain(struct detector *detector, const struct detect_input *input,
               const struct detection *detection, struct buf *out)
{
    const struct detect_input bare = {.bytes = input->bytes};
    struct detection content;
    detect(detector, &bare, &content);
    const struct slice claim = claim_of(detector, input->content_type);
    const char *name = detect_extension(detect_inner_name(input->uri));
    buf_printf(out, "  content\t%s\t%s\n", content.undecided ? "-" : content.type, content.reason);
    if (content.root[0]) {
        buf_printf(out, "  root\t%s\t%s\n", content.root,
                   content.namespace[0] ? content.namespace : "no namespace");
    }
    buf_printf(out, "  Content-Type\t%.*s\t%.*s\n",
               SLICE_PRINT(claim.length > 0 ? claim : SLICE("-")),
               SLICE_PRINT(input->content_type));
    buf_printf(out, "  name\t%s\t%.*s\n", name ? name : "-", SLICE_PRINT(input->uri));
    buf_printf(out, "  decision\t%s\t%s\n", detection->type, detection->reason);
}
