/* The HTTP exchange in the terms of HTTP in RDF 1.0 (W3C Note, 2 February 2017). */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/system/clock.h"
#include "metastore/record_rdf_emit.h"

enum { HEADERS_MAXIMUM = 512 };

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
    meta_literal(emit, header, HTTP "fieldName", name, NULL);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (slice_equal_nocase(name, slice_string(known[i]))) {
            char iri[96];
            snprintf(iri, sizeof iri, HTTP_HEADERS "%s", known[i]);
            meta_triple(emit, header, HTTP "hdrName", meta_iri(iri));
        }
    }
}

/* The lines of a header block as the rdf:List that http:headers wants. */
static void
headers(struct emit *emit, enum node node, struct slice block, const char *type)
{
    struct term at = meta_named(emit, node);
    const char *predicate = HTTP "headers";
    char labels[2][LABEL_SIZE];
    for (int count = 0; block.length > 0 && count < HEADERS_MAXIMUM; count++) {
        const struct slice line = slice_trim(slice_take(&block, '\n'));
        const size_t colon = slice_find(line, ':');
        if (colon == line.length || colon == 0) {
            continue; /* the first line and the empty last one */
        }
        char *label = labels[count % 2]; /* the other one is still in `at` */
        char header_label[LABEL_SIZE];
        snprintf(label, LABEL_SIZE, "%sList%d", meta_node_label(node), count);
        snprintf(header_label, sizeof header_label, "%sHeader%d", meta_node_label(node), count);
        const struct term cell = term_blank(slice_string(label));
        const struct term header = term_blank(slice_string(header_label));
        meta_triple(emit, at, predicate, cell);
        meta_triple(emit, cell, RDF_FIRST, header);
        meta_triple(emit, header, RDF_TYPE, meta_iri(type));
        header_name(emit, header, slice_of(line.at, colon));
        meta_literal(emit, header, HTTP "fieldValue",
                     slice_trim(slice_of(line.at + colon + 1, line.length - colon - 1)), NULL);
        at = cell;
        predicate = RDF_REST;
    }
    meta_triple(emit, at, predicate, meta_iri(RDF_NIL));
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
        meta_literal(emit, emit->document, DCTERMS "modified", slice_string(iso), XSD_DATE_TIME);
    }
}

void
meta_exchange(struct emit *emit)
{
    uint64_t status;
    struct slice text;
    if (meta_record_text(emit->record, META_REQUEST_HEADERS, &text)) {
        headers(emit, NODE_REQUEST, text, HTTP "RequestHeader");
    }
    if (meta_record_text(emit->record, META_RESPONSE_HEADERS, &text)) {
        headers(emit, NODE_RESPONSE, text, HTTP "ResponseHeader");
    } else if (meta_record_text(emit->record, META_CONTENT_TYPE, &text)) {
        meta_literal(emit, meta_named(emit, NODE_BODY), DCTERMS "format", text, NULL);
    }
    last_modified(emit);
    if (!meta_record_number(emit->record, META_HTTP_STATUS, &status)) {
        return;
    }
    const struct term request = meta_named(emit, NODE_REQUEST);
    const struct term response = meta_named(emit, NODE_RESPONSE);
    meta_literal(emit, request, HTTP "methodName", SLICE("GET"), NULL);
    meta_uri(emit, request, HTTP "absoluteURI", emit->document.value);
    meta_triple(emit, request, HTTP "resp", response);
    meta_triple(emit, meta_named(emit, NODE_FETCH), PROV "used", request);
    meta_triple(emit, meta_node(emit, NODE_FETCH), PROV "generated", response);
    const struct term requests = term_blank(SLICE("requests"));
    meta_triple(emit, meta_named(emit, NODE_CONNECTION), HTTP "requests", requests);
    meta_triple(emit, requests, RDF_FIRST, request);
    meta_triple(emit, requests, RDF_REST, meta_iri(RDF_NIL));
    meta_triple(emit, response, HTTP "body", meta_named(emit, NODE_BODY));
    for (size_t i = 0; i < sizeof status_codes / sizeof status_codes[0]; i++) {
        if (status_codes[i].code == status) {
            char iri[96];
            snprintf(iri, sizeof iri, HTTP_STATUS_CODES "%s", status_codes[i].name);
            meta_triple(emit, response, HTTP "sc", meta_iri(iri));
        }
    }
}
