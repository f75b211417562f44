/* Most fields become one triple each, by the table `fields`; what needs more than one (headers,
 * times with durations, locations, digests, histories) has a function of its own. */
#include "metastore/rdf.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "metastore/record.h"
#include "rdf/graph.h"
#include "rdf/turtle_writer.h"
#include "rdf/vocabulary.h"

#define HTTP "http://www.w3.org/2011/http#"
#define HTTP_HEADERS "http://www.w3.org/2011/http-headers#"
#define HTTP_STATUS_CODES "http://www.w3.org/2011/http-statusCodes#"
#define CONTENT "http://www.w3.org/2011/content#"
#define PROV "http://www.w3.org/ns/prov#"
#define DCTERMS "http://purl.org/dc/terms/"
#define DCAT "http://www.w3.org/ns/dcat#"
#define SPDX "http://spdx.org/rdf/terms#"
#define VOID "http://rdfs.org/ns/void#"
#define OA "http://www.w3.org/ns/oa#"
#define RDFS "http://www.w3.org/2000/01/rdf-schema#"
#define SCHEMA "https://schema.org/"
#define XSD_DATE_TIME XSD_NAMESPACE "dateTime"

enum { GRAPH_MAXIMUM = 64 << 20, HEADERS_MAXIMUM = 512, LABEL_SIZE = 48 };

static const struct turtle_prefix prefixes[] = {
    {"http", HTTP},     {"httph", HTTP_HEADERS}, {"sc", HTTP_STATUS_CODES},
    {"cnt", CONTENT},   {"prov", PROV},          {"dcterms", DCTERMS},
    {"dcat", DCAT},     {"spdx", SPDX},          {"void", VOID},
    {"oa", OA},         {"rdf", RDF_NAMESPACE},  {"rdfs", RDFS},
    {"schema", SCHEMA}, {"xsd", XSD_NAMESPACE},  {"meta", META_NAMESPACE},
    {NULL, NULL}};

/* What a triple is about. All but the document are blank nodes named so. */
enum node {
    NODE_DOCUMENT,
    NODE_CONNECTION,
    NODE_REQUEST,
    NODE_RESPONSE,
    NODE_BODY,
    NODE_FETCH,
    NODE_DETECT,
    NODE_TRANSFORM,
    NODE_INDEX,
    NODE_EXTRACT,
    NODE_ROBOTS,
    NODE_COUNT
};

struct node_entry {
    const char *label, *type, *agent; /* agent: program of an activity */
};

static const struct node_entry nodes[NODE_COUNT] = {
    [NODE_DOCUMENT] = {NULL, PROV "Entity", NULL},
    [NODE_CONNECTION] = {"connection", HTTP "Connection", NULL},
    [NODE_REQUEST] = {"request", HTTP "Request", NULL},
    [NODE_RESPONSE] = {"response", HTTP "Response", NULL},
    [NODE_BODY] = {"body", PROV "Entity", NULL},
    [NODE_FETCH] = {"fetch", PROV "Activity", "quadrille-fetch"},
    [NODE_DETECT] = {"detect", PROV "Activity", "quadrille-detect"},
    [NODE_TRANSFORM] = {"transform", PROV "Activity", "quadrille-transform"},
    [NODE_INDEX] = {"index", PROV "Activity", "quadrille-index"},
    [NODE_EXTRACT] = {"extract", PROV "Activity", "quadrille-extract"},
    [NODE_ROBOTS] = {"robots", CONTENT "ContentAsText", NULL},
};

/* Fields that are one triple. Numbers without a datatype are xsd:integer. */
struct field_entry {
    enum meta_field field;
    enum node node;
    const char *predicate;
    const char *datatype; /* of TEXT and NUMBER; NULL: plain */
};

static const struct field_entry fields[] = {
    {META_GENERATION, NODE_DOCUMENT, META_NAMESPACE "generation", NULL},
    {META_STATE, NODE_DOCUMENT, SCHEMA "creativeWorkStatus", NULL},
    {META_REASON, NODE_DOCUMENT, RDFS "comment", NULL},
    {META_DEPTH, NODE_DOCUMENT, META_NAMESPACE "depth", NULL},
    {META_VIA, NODE_DOCUMENT, DCTERMS "isReferencedBy", NULL},
    {META_REDIRECT_TO, NODE_DOCUMENT, DCTERMS "isReplacedBy", NULL},
    {META_REDIRECT_FROM, NODE_DOCUMENT, DCTERMS "replaces", NULL},
    {META_DETECTED_TYPE, NODE_DOCUMENT, DCTERMS "format", NULL},
    {META_IP, NODE_CONNECTION, HTTP "connectionAuthority", NULL},
    {META_HTTP_VERSION, NODE_RESPONSE, HTTP "httpVersion", NULL},
    {META_HTTP_STATUS, NODE_RESPONSE, HTTP "statusCodeNumber", XSD_NAMESPACE "int"},
    {META_PAYLOAD_BYTES, NODE_BODY, DCAT "byteSize", XSD_NAMESPACE "nonNegativeInteger"},
    {META_TRUNCATED, NODE_BODY, META_NAMESPACE "truncatedBy", NULL},
    {META_DETECTED_BY, NODE_DETECT, RDFS "comment", NULL},
    {META_TRANSFORM_PROBLEMS, NODE_TRANSFORM, RDFS "comment", NULL},
    {META_QUADS_ADDED, NODE_INDEX, META_NAMESPACE "quadsAdded", NULL},
    {META_QUADS_REMOVED, NODE_INDEX, META_NAMESPACE "quadsRemoved", NULL},
    {META_LINKS_FOUND, NODE_EXTRACT, META_NAMESPACE "linksFound", NULL},
    {META_LINKS_ACCEPTED, NODE_EXTRACT, META_NAMESPACE "linksAccepted", NULL},
    {META_ROBOTS_FETCHED, NODE_ROBOTS, DCTERMS "created", NULL},
    {META_ROBOTS_STATUS, NODE_ROBOTS, HTTP "statusCodeNumber", XSD_NAMESPACE "int"},
    {META_ROBOTS_BODY, NODE_ROBOTS, CONTENT "chars", NULL},
    {META_ROBOTS_EXPIRES, NODE_ROBOTS, DCTERMS "valid", NULL},
    {META_ROBOTS_FAILURE, NODE_ROBOTS, RDFS "comment", NULL},
    {META_CRAWL_DELAY_MS, NODE_DOCUMENT, META_NAMESPACE "crawlDelayMilliseconds", NULL},
    {META_HOST_IP, NODE_DOCUMENT, META_NAMESPACE "address", NULL},
    {META_HOST_ERRORS, NODE_DOCUMENT, META_NAMESPACE "errorsInARow", NULL},
    {META_HOST_ERROR, NODE_DOCUMENT, RDFS "comment", NULL},
    {META_HOST_LAST_FETCH, NODE_DOCUMENT, META_NAMESPACE "lastFetch", NULL},
};

/* http://www.w3.org/2011/http-statusCodes: the fragment of a code is its reason phrase. */
static const struct {
    uint16_t code;
    const char *name;
} status_codes[] = {{200, "OK"},
                    {203, "NonAuthoritativeInformation"},
                    {204, "NoContent"},
                    {206, "PartialContent"},
                    {300, "MultipleChoices"},
                    {301, "MovedPermanently"},
                    {302, "Found"},
                    {303, "SeeOther"},
                    {304, "NotModified"},
                    {307, "TemporaryRedirect"},
                    {400, "BadRequest"},
                    {401, "Unauthorized"},
                    {403, "Forbidden"},
                    {404, "NotFound"},
                    {406, "NotAcceptable"},
                    {408, "RequestTimeout"},
                    {410, "Gone"},
                    {429, "TooManyRequests"},
                    {500, "InternalServerError"},
                    {502, "BadGateway"},
                    {503, "ServiceUnavailable"},
                    {504, "GatewayTimeout"}};

struct emit {
    struct term document, graph;
    struct slice record;
    const struct quad_sink *sink;
    struct reason *why;
    enum status status;     /* sticky */
    bool named[NODE_COUNT]; /* the node's type was told */
    struct arena arena;     /* texts that had to be recoded */
};

/* ---- single triples ---- */

static struct term
node_term(const struct emit *emit, enum node node)
{
    return node == NODE_DOCUMENT ? emit->document : term_blank(slice_string(nodes[node].label));
}

static void
triple(struct emit *emit, struct term subject, const char *predicate, struct term object)
{
    if (emit->status == STATUS_OK) {
        const struct quad quad = {subject, term_iri(slice_string(predicate)), object, emit->graph};
        emit->status = emit->sink->quad(emit->sink->context, &quad, emit->why);
    }
}

static struct term
iri_of(const char *iri)
{
    return term_iri(slice_string(iri));
}

static bool
is_utf8(struct slice text)
{
    const unsigned char *at = (const unsigned char *)text.at;
    const unsigned char *const end = at + text.length;
    while (at < end) {
        const int more = *at < 0x80 ? 0 : *at < 0xC2 ? -1 : *at < 0xE0 ? 1 : *at < 0xF0 ? 2 : 3;
        if (more < 0 || *at > 0xF4 || end - at <= more || (*at == 0xE0 && at[1] < 0xA0) ||
            (*at == 0xED && at[1] > 0x9F) || (*at == 0xF0 && at[1] < 0x90) ||
            (*at == 0xF4 && at[1] > 0x8F)) {
            return false;
        }
        for (int i = 1; i <= more; i++) {
            if ((at[i] & 0xC0) != 0x80) {
                return false;
            }
        }
        at += more + 1;
    }
    return true;
}

/* Bytes of a header that are no UTF-8 are Latin-1, as HTTP once had it. */
static struct slice
as_utf8(struct emit *emit, struct slice text)
{
    if (is_utf8(text)) {
        return text;
    }
    char *bytes = arena_alloc(&emit->arena, text.length * 2);
    size_t length = 0;
    for (size_t i = 0; i < text.length; i++) {
        const unsigned char c = (unsigned char)text.at[i];
        if (c < 0x80) {
            bytes[length++] = (char)c;
        } else {
            bytes[length++] = (char)(0xC0 | (c >> 6));
            bytes[length++] = (char)(0x80 | (c & 0x3F));
        }
    }
    return slice_of(bytes, length);
}

static void
literal(struct emit *emit, struct term subject, const char *predicate, struct slice text,
        const char *datatype)
{
    struct term object = term_literal(as_utf8(emit, text));
    object.datatype = slice_string(datatype);
    triple(emit, subject, predicate, object);
}

static void
number(struct emit *emit, struct term subject, const char *predicate, uint64_t value,
       const char *datatype)
{
    char text[24];
    const int length = snprintf(text, sizeof text, "%lu", (unsigned long)value);
    literal(emit, subject, predicate, slice_of(text, (size_t)length),
            datatype != NULL ? datatype : XSD_INTEGER);
}

static void
date_time(struct emit *emit, struct term subject, const char *predicate, uint64_t wall_ms)
{
    char text[CLOCK_TEXT_SIZE];
    clock_text(wall_ms, 1, text);
    literal(emit, subject, predicate, slice_string(text), XSD_DATE_TIME);
}

/* Not every stored URI is an IRI that RDF allows: servers redirect to anything. */
static bool
is_iri(struct slice text)
{
    for (size_t i = 0; i < text.length; i++) {
        const unsigned char c = (unsigned char)text.at[i];
        if (c <= ' ' || c == '<' || c == '>' || c == '"' || c == '{' || c == '}' || c == '|' ||
            c == '\\' || c == '^' || c == '`') {
            return false;
        }
    }
    return slice_find(text, ':') < text.length && is_utf8(text);
}

static void
uri(struct emit *emit, struct term subject, const char *predicate, struct slice text)
{
    if (is_iri(text)) {
        triple(emit, subject, predicate, term_iri(text));
    } else {
        literal(emit, subject, predicate, text, NULL);
    }
}

/* The node, its type told once; activities get their program, and what they used. */
static struct term
named(struct emit *emit, enum node node)
{
    const struct term term = node_term(emit, node);
    if (emit->named[node]) {
        return term;
    }
    emit->named[node] = true;
    triple(emit, term, RDF_TYPE, iri_of(nodes[node].type));
    if (nodes[node].agent != NULL) {
        char label[64];
        snprintf(label, sizeof label, "%sAgent", nodes[node].label);
        const struct term agent = term_blank(slice_string(label));
        triple(emit, term, PROV "wasAssociatedWith", agent);
        triple(emit, agent, RDF_TYPE, iri_of(PROV "SoftwareAgent"));
        literal(emit, agent, DCTERMS "title", slice_string(nodes[node].agent), NULL);
    }
    return term;
}

static void
field_triple(struct emit *emit, const struct field_entry *entry, const struct meta_value *value)
{
    const struct term subject = named(emit, entry->node);
    switch (meta_field_kind(entry->field)) {
    case META_KIND_NUMBER:
        number(emit, subject, entry->predicate, value->number, entry->datatype);
        break;
    case META_KIND_TIME:
        date_time(emit, subject, entry->predicate, value->number);
        break;
    case META_KIND_URI:
        uri(emit, subject, entry->predicate, value->text);
        break;
    case META_KIND_TEXT:
        literal(emit, subject, entry->predicate, value->text, entry->datatype);
        break;
    }
}

static void
emit_fields(struct emit *emit)
{
    struct meta_value value;
    size_t at = 0;
    while (meta_record_next(emit->record, &at, &value)) {
        for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
            if (fields[i].field == value.field) {
                field_triple(emit, &fields[i], &value);
            }
        }
    }
}

/* ---- HTTP ---- */

/* Names that http-headers# lists have an IRI: lower case, as written there. */
static void
header_name(struct emit *emit, struct term header, struct slice name)
{
    static const char *const known[] = {"accept",
                                        "accept-encoding",
                                        "accept-language",
                                        "cache-control",
                                        "connection",
                                        "content-encoding",
                                        "content-language",
                                        "content-length",
                                        "content-location",
                                        "content-type",
                                        "date",
                                        "etag",
                                        "expires",
                                        "host",
                                        "if-modified-since",
                                        "if-none-match",
                                        "last-modified",
                                        "link",
                                        "location",
                                        "retry-after",
                                        "server",
                                        "transfer-encoding",
                                        "user-agent",
                                        "vary"};
    literal(emit, header, HTTP "fieldName", name, NULL);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (slice_equal_nocase(name, slice_string(known[i]))) {
            char iri[96];
            snprintf(iri, sizeof iri, HTTP_HEADERS "%s", known[i]);
            triple(emit, header, HTTP "hdrName", iri_of(iri));
        }
    }
}

/* The lines of a header block as the rdf:List that http:headers wants. */
static void
headers(struct emit *emit, enum node node, struct slice block, const char *type)
{
    struct term at = named(emit, node);
    const char *predicate = HTTP "headers";
    char labels[2][LABEL_SIZE];
    for (int count = 0; block.length > 0 && count < HEADERS_MAXIMUM; count++) {
        const size_t end = slice_find(block, '\n');
        const struct slice line = slice_trim(slice_of(block.at, end));
        const size_t step = end < block.length ? end + 1 : end;
        block = slice_of(block.at + step, block.length - step);
        const size_t colon = slice_find(line, ':');
        if (colon == line.length || colon == 0) {
            continue; /* the first line and the empty last one */
        }
        char *label = labels[count % 2]; /* the other one is still in `at` */
        char header_label[LABEL_SIZE];
        snprintf(label, LABEL_SIZE, "%sList%d", nodes[node].label, count);
        snprintf(header_label, sizeof header_label, "%sHeader%d", nodes[node].label, count);
        const struct term cell = term_blank(slice_string(label));
        const struct term header = term_blank(slice_string(header_label));
        triple(emit, at, predicate, cell);
        triple(emit, cell, RDF_FIRST, header);
        triple(emit, header, RDF_TYPE, iri_of(type));
        header_name(emit, header, slice_of(line.at, colon));
        literal(emit, header, HTTP "fieldValue",
                slice_trim(slice_of(line.at + colon + 1, line.length - colon - 1)), NULL);
        at = cell;
        predicate = RDF_REST;
    }
    triple(emit, at, predicate, iri_of(RDF_NIL));
}

static void
last_modified(struct emit *emit)
{
    struct slice text;
    char date[64];
    struct tm broken_down = {0};
    if (!meta_record_text(emit->record, META_LAST_MODIFIED, &text) || text.length >= sizeof date) {
        return;
    }
    memcpy(date, text.at, text.length);
    date[text.length] = 0;
    const char *end = strptime(date, "%a, %d %b %Y %H:%M:%S GMT", &broken_down);
    const time_t seconds = end != NULL && *end == 0 ? timegm(&broken_down) : -1;
    if (seconds >= 0) {
        char iso[CLOCK_TEXT_SIZE];
        clock_text((uint64_t)seconds * 1000, 0, iso);
        literal(emit, emit->document, DCTERMS "modified", slice_string(iso), XSD_DATE_TIME);
    }
}

static void
emit_exchange(struct emit *emit)
{
    uint64_t status;
    struct slice text;
    if (meta_record_text(emit->record, META_REQUEST_HEADERS, &text)) {
        headers(emit, NODE_REQUEST, text, HTTP "RequestHeader");
    }
    if (meta_record_text(emit->record, META_RESPONSE_HEADERS, &text)) {
        headers(emit, NODE_RESPONSE, text, HTTP "ResponseHeader");
    } else if (meta_record_text(emit->record, META_CONTENT_TYPE, &text)) {
        literal(emit, named(emit, NODE_BODY), DCTERMS "format", text, NULL);
    }
    last_modified(emit);
    if (!meta_record_number(emit->record, META_HTTP_STATUS, &status)) {
        return;
    }
    const struct term request = named(emit, NODE_REQUEST);
    const struct term response = named(emit, NODE_RESPONSE);
    literal(emit, request, HTTP "methodName", SLICE("GET"), NULL);
    uri(emit, request, HTTP "absoluteURI", emit->document.value);
    triple(emit, request, HTTP "resp", response);
    const struct term requests = term_blank(SLICE("requests"));
    triple(emit, named(emit, NODE_CONNECTION), HTTP "requests", requests);
    triple(emit, requests, RDF_FIRST, request);
    triple(emit, requests, RDF_REST, iri_of(RDF_NIL));
    triple(emit, response, HTTP "body", named(emit, NODE_BODY));
    for (size_t i = 0; i < sizeof status_codes / sizeof status_codes[0]; i++) {
        if (status_codes[i].code == status) {
            char iri[96];
            snprintf(iri, sizeof iri, HTTP_STATUS_CODES "%s", status_codes[i].name);
            triple(emit, response, HTTP "sc", iri_of(iri));
        }
    }
}

/* ---- provenance ---- */

/* "sha256:hex" as an SPDX checksum. */
static void
checksum(struct emit *emit, struct term subject, enum meta_field field, const char *label)
{
    struct slice text;
    if (!meta_record_text(emit->record, field, &text)) {
        return;
    }
    const size_t colon = slice_find(text, ':');
    const struct term node = term_blank(slice_string(label));
    triple(emit, subject, SPDX "checksum", node);
    triple(emit, node, RDF_TYPE, iri_of(SPDX "Checksum"));
    if (slice_equal(slice_of(text.at, colon), SLICE("sha256"))) {
        triple(emit, node, SPDX "algorithm", iri_of(SPDX "checksumAlgorithm_sha256"));
    }
    const size_t from = colon < text.length ? colon + 1 : 0;
    literal(emit, node, SPDX "checksumValue", slice_of(text.at + from, text.length - from),
            XSD_NAMESPACE "hexBinary");
}

struct location {
    enum meta_field node, file, offset, length, id;
    enum node made_by;
    const char *label;
};

static const struct location locations[] = {
    {META_WARC_NODE, META_WARC_FILE, META_WARC_OFFSET, META_WARC_LENGTH, META_WARC_RECORD_ID,
     NODE_FETCH, "warc"},
    {META_CONVERSION_NODE, META_CONVERSION_FILE, META_CONVERSION_OFFSET, META_CONVERSION_LENGTH,
     META_CONVERSION_RECORD_ID, NODE_TRANSFORM, "conversion"},
};

/* A WARC record: an entity, its file, its bytes. Returns its term. */
static struct term
warc_record(struct emit *emit, const struct location *location)
{
    struct slice text;
    uint64_t offset;
    uint64_t length;
    struct term record = term_blank(slice_string(location->label));
    if (meta_record_text(emit->record, location->id, &text) && is_iri(text)) {
        record = term_iri(text);
    }
    if (!meta_record_text(emit->record, location->file, &text)) {
        return record;
    }
    char label[LABEL_SIZE];
    triple(emit, record, RDF_TYPE, iri_of(PROV "Entity"));
    triple(emit, record, PROV "wasGeneratedBy", named(emit, location->made_by));
    snprintf(label, sizeof label, "%sFile", location->label);
    const struct term file = term_blank(slice_string(label));
    triple(emit, record, OA "hasSource", file);
    literal(emit, file, DCTERMS "title", text, NULL);
    if (meta_record_text(emit->record, location->node, &text)) {
        literal(emit, file, META_NAMESPACE "node", text, NULL);
    }
    if (meta_record_number(emit->record, location->offset, &offset) &&
        meta_record_number(emit->record, location->length, &length)) {
        char range_label[LABEL_SIZE];
        snprintf(range_label, sizeof range_label, "%sRange", location->label);
        const struct term range = term_blank(slice_string(range_label));
        triple(emit, record, OA "hasSelector", range);
        triple(emit, range, RDF_TYPE, iri_of(OA "DataPositionSelector"));
        number(emit, range, OA "start", offset, XSD_NAMESPACE "nonNegativeInteger");
        number(emit, range, OA "end", offset + length, XSD_NAMESPACE "nonNegativeInteger");
    }
    return record;
}

/* An activity that `ended` tells of; ms: how long it took; after: the time is its start. */
static bool
activity(struct emit *emit, enum node node, enum meta_field time, enum meta_field ms, bool after)
{
    uint64_t at;
    uint64_t took;
    if (!meta_record_number(emit->record, time, &at)) {
        return false;
    }
    const struct term term = named(emit, node);
    const bool known = ms != 0 && meta_record_number(emit->record, ms, &took);
    if (after) {
        date_time(emit, term, PROV "startedAtTime", at);
        if (known) {
            date_time(emit, term, PROV "endedAtTime", at + took);
        }
        return true;
    }
    if (known && took <= at) {
        date_time(emit, term, PROV "startedAtTime", at - took);
    }
    date_time(emit, term, PROV "endedAtTime", at);
    return true;
}

/* TRANSFORM: names with versions, a plan each. */
static void
transforms(struct emit *emit)
{
    struct slice rest;
    if (!meta_record_text(emit->record, META_TRANSFORM, &rest)) {
        return;
    }
    while (rest.length > 0) {
        const size_t end = slice_find(rest, ' ');
        if (end > 0) {
            literal(emit, term_blank(SLICE("transformAgent")), DCTERMS "hasVersion",
                    slice_of(rest.at, end), NULL);
        }
        const size_t step = end < rest.length ? end + 1 : end;
        rest = slice_of(rest.at + step, rest.length - step);
    }
}

static void
emit_provenance(struct emit *emit)
{
    uint64_t quads;
    const struct term document = emit->document;
    struct term original = document;
    if (activity(emit, NODE_FETCH, META_FETCHED, META_FETCH_MS, true)) {
        triple(emit, document, PROV "wasGeneratedBy", named(emit, NODE_FETCH));
        original = warc_record(emit, &locations[0]);
        triple(emit, document, PROV "alternateOf", original);
        struct slice digest;
        if (meta_record_text(emit->record, META_PAYLOAD_DIGEST, &digest)) {
            checksum(emit, named(emit, NODE_BODY), META_PAYLOAD_DIGEST, "bodyChecksum");
        }
    }
    if (activity(emit, NODE_DETECT, META_DETECTED, 0, false)) {
        triple(emit, named(emit, NODE_DETECT), PROV "used", original);
    }
    struct term conversion = term_blank(SLICE("conversion"));
    if (activity(emit, NODE_TRANSFORM, META_TRANSFORMED, META_TRANSFORM_MS, false)) {
        triple(emit, named(emit, NODE_TRANSFORM), PROV "used", original);
        conversion = warc_record(emit, &locations[1]);
        transforms(emit);
        triple(emit, conversion, PROV "wasDerivedFrom", original);
        triple(emit, conversion, RDF_TYPE, iri_of(VOID "Dataset"));
        if (meta_record_number(emit->record, META_QUADS, &quads)) {
            number(emit, conversion, VOID "triples", quads, NULL);
        }
        checksum(emit, conversion, META_GRAPH_DIGEST, "graphChecksum");
    }
    if (activity(emit, NODE_INDEX, META_INDEXED, 0, false)) {
        triple(emit, named(emit, NODE_INDEX), PROV "used", conversion);
    }
    if (activity(emit, NODE_EXTRACT, META_EXTRACTED, 0, false)) {
        triple(emit, named(emit, NODE_EXTRACT), PROV "used", document);
    }
}

/* One triple for each line of a field. */
static void
lines(struct emit *emit, enum meta_field field, const char *predicate, bool are_uris)
{
    struct slice rest;
    if (!meta_record_text(emit->record, field, &rest)) {
        return;
    }
    while (rest.length > 0) {
        const size_t end = slice_find(rest, '\n');
        const struct slice line = slice_trim(slice_of(rest.at, end));
        if (line.length > 0 && are_uris) {
            uri(emit, emit->document, predicate, line);
        } else if (line.length > 0) {
            literal(emit, emit->document, predicate, line, NULL);
        }
        const size_t step = end < rest.length ? end + 1 : end;
        rest = slice_of(rest.at + step, rest.length - step);
    }
}

enum status
meta_quads(struct slice key, struct slice record, const struct term *graph,
           const struct quad_sink *sink, struct reason *why)
{
    struct slice name = {NULL, 0};
    if (meta_key_valid(key)) {
        name = slice_of(key.at + 1, key.length - 1);
    }
    if (name.length == 0 || !is_iri(name)) {
        return status_fail(why, STATUS_MISUSE, "not a key of the metadata store: %.*s",
                           SLICE_PRINT(key));
    }
    struct emit emit = {.document = term_iri(name),
                        .graph = *graph,
                        .record = record,
                        .sink = sink,
                        .why = why,
                        .status = STATUS_OK};
    arena_init(&emit.arena, 0);
    (void)named(&emit, NODE_DOCUMENT);
    emit_fields(&emit);
    if (key.at[0] == 'u') {
        emit_exchange(&emit);
        emit_provenance(&emit);
        lines(&emit, META_ATTEMPTS, META_NAMESPACE "attempt", false);
    } else {
        if (emit.named[NODE_ROBOTS]) {
            triple(&emit, emit.document, META_NAMESPACE "robots", node_term(&emit, NODE_ROBOTS));
        }
        lines(&emit, META_SITEMAPS, META_NAMESPACE "sitemap", true);
    }
    arena_release(&emit.arena);
    return emit.status;
}

enum status
meta_turtle(struct slice key, struct slice record, struct buf *out, struct reason *why)
{
    struct graph graph;
    graph_init(&graph, GRAPH_MAXIMUM);
    const struct quad_sink sink = graph_sink(&graph);
    const struct term none = {.kind = TERM_NONE};
    enum status status = meta_quads(key, record, &none, &sink, why);
    if (status == STATUS_OK) {
        status = turtle_write(out, &graph, prefixes, why);
    }
    graph_release(&graph);
    return status;
}
