/* Most fields become one triple each, by the table `fields`; what needs more than one (headers,
 * times with durations, locations, digests, histories) has a function of its own. */
#include <stdio.h>

#include "base/url/url.h"
#include "metastore/record_rdf_emit.h"
#include "rdf/core/graph.h"
#include "rdf/turtle/turtle_writer.h"

enum { GRAPH_MAXIMUM = 64 << 20 };

static const struct turtle_prefix prefixes[] = {
    {"http", HTTP},     {"httph", HTTP_HEADERS}, {"sc", HTTP_STATUS_CODES},
    {"cnt", CONTENT},   {"prov", PROV},          {"dcterms", DCTERMS},
    {"dcat", DCAT},     {"spdx", SPDX},          {"void", VOID},
    {"oa", OA},         {"rdf", RDF_NAMESPACE},  {"rdfs", RDFS},
    {"schema", SCHEMA}, {"xsd", XSD_NAMESPACE},  {"meta", META_NAMESPACE},
    {NULL, NULL}};

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
    {META_DUMP, NODE_DOCUMENT, PROV "wasDerivedFrom", NULL},
    {META_SLICING, NODE_DOCUMENT, META_NAMESPACE "slicing", NULL},
    {META_PUBLISHER, NODE_DOCUMENT, DC "publisher", NULL},
    {META_DATASET_DOCUMENTS, NODE_DOCUMENT, VOID "documents", NULL},
    {META_DATASET_REQUESTS, NODE_DOCUMENT, META_NAMESPACE "requests", NULL},
    {META_VISITED, NODE_DOCUMENT, META_NAMESPACE "lastVisit", NULL},
    {META_DUE, NODE_DOCUMENT, META_NAMESPACE "nextVisit", NULL},
    {META_VISITS, NODE_DOCUMENT, META_NAMESPACE "visits", NULL},
    {META_VISITS_CHANGED, NODE_DOCUMENT, META_NAMESPACE "visitsChanged", NULL},
    {META_CHANGED, NODE_DOCUMENT, META_NAMESPACE "changeSeen", NULL},
    {META_RATE_CHANGES, NODE_DOCUMENT, META_NAMESPACE "rateMillichanges", NULL},
    {META_RATE_SECONDS, NODE_DOCUMENT, META_NAMESPACE "rateMilliseconds", NULL},
    {META_WORTH_MS, NODE_DOCUMENT, META_NAMESPACE "visitWorthMilliseconds", NULL},
    {META_FAILURES, NODE_DOCUMENT, META_NAMESPACE "failuresInARow", NULL},
    {META_GONE_SINCE, NODE_DOCUMENT, META_NAMESPACE "goneSince", NULL},
    {META_CLAIM, NODE_DOCUMENT, META_NAMESPACE "claim", NULL},
    {META_HOST_PERIOD, NODE_DOCUMENT, META_NAMESPACE "changePeriodSeconds", NULL},
    {META_CLAIMS_HELD, NODE_DOCUMENT, META_NAMESPACE "claimsHeld", NULL},
    {META_CLAIMS_BROKEN, NODE_DOCUMENT, META_NAMESPACE "claimsBroken", NULL},
    {META_UNCHANGED_HELD, NODE_DOCUMENT, META_NAMESPACE "unchangedHeld", NULL},
    {META_UNCHANGED_BROKEN, NODE_DOCUMENT, META_NAMESPACE "unchangedBroken", NULL},
    {META_FREQUENCY_HELD, NODE_DOCUMENT, META_NAMESPACE "changeFrequencyHeld", NULL},
    {META_FREQUENCY_BROKEN, NODE_DOCUMENT, META_NAMESPACE "changeFrequencyBroken", NULL},
    {META_SITEMAP, NODE_DOCUMENT, META_NAMESPACE "listedIn", NULL},
    {META_SITEMAP_SEEN, NODE_DOCUMENT, META_NAMESPACE "sitemapSeen", NULL},
    {META_LINK_SEEN, NODE_DOCUMENT, META_NAMESPACE "linkSeen", NULL},
    {META_SITEMAP_PRIORITY, NODE_DOCUMENT, META_NAMESPACE "sitemapPriorityPercent", NULL},
    {META_SITEMAP_LASTMOD, NODE_DOCUMENT, META_NAMESPACE "sitemapLastmod", NULL},
    {META_SITEMAP_CHANGEFREQ, NODE_DOCUMENT, META_NAMESPACE "sitemapChangefreq", NULL},
    {META_SITEMAP_HELD, NODE_DOCUMENT, META_NAMESPACE "sitemapHeld", NULL},
    {META_SITEMAP_LISTED, NODE_DOCUMENT, META_NAMESPACE "sitemapListed", NULL},
    {META_LINK_RANK, NODE_DOCUMENT, META_NAMESPACE "linkRankPerMille", NULL},
    {META_PRIORITY_RANK, NODE_DOCUMENT, META_NAMESPACE "priorityRankPerMille", NULL},
    {META_SKETCH, NODE_DOCUMENT, META_NAMESPACE "sketch", NULL},
    {META_SITEMAP_KIND, NODE_DOCUMENT, META_NAMESPACE "sitemapKind", NULL},
    {META_SITEMAP_ENTRIES, NODE_DOCUMENT, META_NAMESPACE "sitemapEntries", NULL},
    {META_SITEMAP_REFUSED, NODE_DOCUMENT, META_NAMESPACE "sitemapRefused", NULL},
    {META_SITEMAP_OUTSIDE, NODE_DOCUMENT, META_NAMESPACE "sitemapOutside", NULL},
    {META_SITEMAP_NEW, NODE_DOCUMENT, META_NAMESPACE "sitemapNew", NULL},
    {META_SITEMAP_TRUNCATED, NODE_DOCUMENT, META_NAMESPACE "sitemapTruncated", NULL},
    {META_SITEMAP_SUBMITTER, NODE_DOCUMENT, META_NAMESPACE "sitemapSubmitter", NULL},
    {META_SITEMAP_NESTING, NODE_DOCUMENT, META_NAMESPACE "sitemapNesting", NULL},
    {META_SCOPE_REFUSED, NODE_DOCUMENT, META_NAMESPACE "scopeRefused", NULL},
    {META_SITEMAP_READ, NODE_DOCUMENT, META_NAMESPACE "sitemapRead", NULL},
    {META_SITEMAP_GUESS, NODE_DOCUMENT, META_NAMESPACE "sitemapGuess", NULL},
    {META_SITEMAP_GUESS_DEPTH, NODE_DOCUMENT, META_NAMESPACE "sitemapGuessDepth", NULL},
    {META_SITEMAP_PERIOD, NODE_DOCUMENT, META_NAMESPACE "sitemapPeriod", NULL},
    {META_SITEMAP_SUBMITTED, NODE_DOCUMENT, META_NAMESPACE "sitemapSubmitted", NULL},
    {META_SITEMAP_EXCESS, NODE_DOCUMENT, META_NAMESPACE "sitemapExcess", NULL},
    {META_SITEMAP_FILES, NODE_DOCUMENT, META_NAMESPACE "sitemapFiles", NULL},
    {META_SITEMAP_SAMPLED, NODE_DOCUMENT, META_NAMESPACE "sitemapSampled", NULL},
    {META_SITEMAP_USEFUL, NODE_DOCUMENT, META_NAMESPACE "sitemapUseful", NULL},
    {META_LINK_SAMPLED, NODE_DOCUMENT, META_NAMESPACE "linkSampled", NULL},
    {META_LINK_USEFUL, NODE_DOCUMENT, META_NAMESPACE "linkUseful", NULL},
    {META_SITEMAP_SHARE, NODE_DOCUMENT, META_NAMESPACE "sitemapShare", NULL},
    {META_DETECTED_TYPE, NODE_DOCUMENT, DCTERMS "format", NULL},
    {META_IP, NODE_CONNECTION, HTTP "connectionAuthority", NULL},
    {META_HTTP_VERSION, NODE_RESPONSE, HTTP "httpVersion", NULL},
    {META_FETCHED, NODE_DOCUMENT, PROV "generatedAtTime", NULL},
    {META_HTTP_STATUS, NODE_DOCUMENT, HTTP "statusCodeValue", NULL},
    {META_FTP_REPLY, NODE_DOCUMENT, META_NAMESPACE "ftpReply", NULL},
    {META_PAYLOAD_BYTES, NODE_DOCUMENT, DCAT "byteSize", XSD_NAMESPACE "nonNegativeInteger"},
    {META_PAYLOAD_BYTES, NODE_BODY, DCAT "byteSize", XSD_NAMESPACE "nonNegativeInteger"},
    {META_TRUNCATED, NODE_BODY, META_NAMESPACE "truncatedBy", NULL},
    {META_DETECTED_BY, NODE_DETECT, RDFS "comment", NULL},
    {META_TRANSFORM_PROBLEMS, NODE_TRANSFORM, RDFS "comment", NULL},
    {META_TRANSFORM_REPAIRS, NODE_TRANSFORM, META_NAMESPACE "repairs", NULL},
    {META_TRANSFORM_ADVICE, NODE_TRANSFORM, META_NAMESPACE "advice", NULL},
    {META_TRANSFORM_PROBLEM_COUNT, NODE_TRANSFORM, META_NAMESPACE "problems", NULL},
    {META_TRANSFORM_MEMORY, NODE_TRANSFORM, META_NAMESPACE "memoryBytes", NULL},
    {META_QUADS_ADDED, NODE_INDEX, META_NAMESPACE "quadsAdded", NULL},
    {META_QUADS_REMOVED, NODE_INDEX, META_NAMESPACE "quadsRemoved", NULL},
    {META_LINKS_FOUND, NODE_EXTRACT, META_NAMESPACE "linksFound", NULL},
    {META_LINKS_ACCEPTED, NODE_EXTRACT, META_NAMESPACE "linksAccepted", NULL},
    {META_LINKS_TRAPPED, NODE_EXTRACT, META_NAMESPACE "linksTrapped", NULL},
    {META_ROBOTS_FETCHED, NODE_ROBOTS, DCTERMS "created", NULL},
    {META_ROBOTS_STATUS, NODE_ROBOTS, HTTP "statusCodeValue", NULL},
    {META_ROBOTS_BODY, NODE_ROBOTS, CONTENT "chars", NULL},
    {META_ROBOTS_EXPIRES, NODE_ROBOTS, DCTERMS "valid", NULL},
    {META_ROBOTS_FAILURE, NODE_ROBOTS, RDFS "comment", NULL},
    {META_ROBOTS_TAGS, NODE_DOCUMENT, META_NAMESPACE "robotsTags", NULL},
    {META_ROBOTS_SIGNALS, NODE_ROBOTS, META_NAMESPACE "signals", NULL},
    {META_CRAWL_DELAY_MS, NODE_DOCUMENT, META_NAMESPACE "crawlDelayMilliseconds", NULL},
    {META_HOST_IP, NODE_DOCUMENT, META_NAMESPACE "address", NULL},
};

static void
field_triple(struct emit *emit, const struct field_entry *entry, const struct meta_value *value)
{
    const struct term subject = meta_named(emit, entry->node);
    switch (meta_field_kind(entry->field)) {
    case META_KIND_NUMBER:
        meta_number(emit, subject, entry->predicate, value->number, entry->datatype);
        break;
    case META_KIND_TIME:
        meta_date_time(emit, subject, entry->predicate, value->number);
        break;
    case META_KIND_URI:
        meta_uri(emit, subject, entry->predicate, value->text);
        break;
    case META_KIND_TEXT:
        meta_literal(emit, subject, entry->predicate, value->text, entry->datatype);
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
    meta_triple(emit, subject, SPDX "checksum", node);
    meta_triple(emit, node, RDF_TYPE, meta_iri(SPDX "Checksum"));
    if (slice_equal(slice_of(text.at, colon), SLICE("sha256"))) {
        meta_triple(emit, node, SPDX "algorithm", meta_iri(SPDX "checksumAlgorithm_sha256"));
    }
    const size_t from = colon < text.length ? colon + 1 : 0;
    meta_literal(emit, node, SPDX "checksumValue", slice_of(text.at + from, text.length - from),
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
    if (meta_record_text(emit->record, location->id, &text) && meta_is_iri(text)) {
        record = term_iri(text);
    }
    if (!meta_record_text(emit->record, location->file, &text)) {
        return record;
    }
    char label[LABEL_SIZE];
    meta_triple(emit, record, RDF_TYPE, meta_iri(PROV "Entity"));
    meta_triple(emit, record, PROV "wasGeneratedBy", meta_named(emit, location->made_by));
    meta_triple(emit, meta_named(emit, location->made_by), PROV "generated", record);
    snprintf(label, sizeof label, "%sFile", location->label);
    const struct term file = term_blank(slice_string(label));
    meta_triple(emit, record, OA "hasSource", file);
    meta_literal(emit, file, DCTERMS "title", text, NULL);
    if (meta_record_text(emit->record, location->node, &text)) {
        meta_literal(emit, file, META_NAMESPACE "node", text, NULL);
    }
    if (meta_record_number(emit->record, location->offset, &offset) &&
        meta_record_number(emit->record, location->length, &length)) {
        char range_label[LABEL_SIZE];
        snprintf(range_label, sizeof range_label, "%sRange", location->label);
        const struct term range = term_blank(slice_string(range_label));
        meta_triple(emit, record, OA "hasSelector", range);
        meta_triple(emit, range, RDF_TYPE, meta_iri(OA "DataPositionSelector"));
        meta_number(emit, range, OA "start", offset, XSD_NAMESPACE "nonNegativeInteger");
        meta_number(emit, range, OA "end", offset + length, XSD_NAMESPACE "nonNegativeInteger");
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
    const struct term term = meta_named(emit, node);
    meta_triple(emit, emit->document, META_NAMESPACE "activity", term);
    const bool known = ms != 0 && meta_record_number(emit->record, ms, &took);
    if (after) {
        meta_date_time(emit, term, PROV "startedAtTime", at);
        if (known) {
            meta_date_time(emit, term, PROV "endedAtTime", at + took);
        }
        return true;
    }
    if (known && took <= at) {
        meta_date_time(emit, term, PROV "startedAtTime", at - took);
    }
    meta_date_time(emit, term, PROV "endedAtTime", at);
    return true;
}

/* TRANSFORM_QUADS: "html 12 jsonld 30". Empty: the transform said nothing. */
static struct slice
quads_of(const struct emit *emit, struct slice name)
{
    struct slice rest;
    if (!meta_record_text(emit->record, META_TRANSFORM_QUADS, &rest)) {
        return (struct slice){0};
    }
    while (rest.length > 0) {
        const struct slice who = slice_next_word(&rest), count = slice_next_word(&rest);
        if (slice_equal(who, name)) {
            return count;
        }
    }
    return (struct slice){0};
}

/* TRANSFORM: names with versions. What each said is a subset of the conversion. */
static void
transforms(struct emit *emit, struct term conversion)
{
    struct slice rest;
    if (!meta_record_text(emit->record, META_TRANSFORM, &rest)) {
        return;
    }
    for (unsigned i = 0; rest.length > 0; i++) {
        char subset_label[32], extractor_label[32];
        const struct slice word = slice_next_word(&rest);
        const size_t slash = slice_find(word, '/');
        const struct slice name = slice_of(word.at, slash);
        const struct slice quads = quads_of(emit, name);
        snprintf(subset_label, sizeof subset_label, "subset%u", i);
        snprintf(extractor_label, sizeof extractor_label, "extractor%u", i);
        const struct term subset = term_blank(slice_string(subset_label));
        const struct term extractor = term_blank(slice_string(extractor_label));
        if (slash < word.length) {
            meta_triple(emit, conversion, VOID "subset", subset);
            meta_triple(emit, subset, PROV "wasAttributedTo", extractor);
            meta_literal(emit, subset, VOID "triples", quads.length > 0 ? quads : SLICE("0"),
                         XSD_NAMESPACE "integer");
            meta_triple(emit, extractor, RDF_TYPE, meta_iri(PROV "SoftwareAgent"));
            meta_literal(emit, extractor, DCTERMS "title", name, NULL);
            meta_literal(emit, extractor, DCTERMS "hasVersion",
                         slice_of(word.at + slash + 1, word.length - slash - 1), NULL);
        }
    }
}

static void
emit_provenance(struct emit *emit)
{
    uint64_t quads;
    const struct term document = emit->document;
    struct term original = document;
    if (activity(emit, NODE_FETCH, META_FETCHED, META_FETCH_MS, true)) {
        meta_triple(emit, document, PROV "wasGeneratedBy", meta_named(emit, NODE_FETCH));
        original = warc_record(emit, &locations[0]);
        meta_triple(emit, document, PROV "alternateOf", original);
        struct slice digest;
        if (meta_record_text(emit->record, META_PAYLOAD_DIGEST, &digest)) {
            checksum(emit, meta_named(emit, NODE_BODY), META_PAYLOAD_DIGEST, "bodyChecksum");
            meta_triple(emit, document, SPDX "checksum", term_blank(SLICE("bodyChecksum")));
        }
    }
    if (activity(emit, NODE_DETECT, META_DETECTED, 0, false)) {
        meta_triple(emit, meta_named(emit, NODE_DETECT), PROV "used", original);
    }
    struct term conversion = term_blank(SLICE("conversion"));
    if (activity(emit, NODE_TRANSFORM, META_TRANSFORMED, META_TRANSFORM_MS, false)) {
        meta_triple(emit, meta_named(emit, NODE_TRANSFORM), PROV "used", original);
        conversion = warc_record(emit, &locations[1]);
        transforms(emit, conversion);
        meta_triple(emit, conversion, PROV "wasDerivedFrom", original);
        meta_triple(emit, conversion, RDF_TYPE, meta_iri(VOID "Dataset"));
        if (meta_record_number(emit->record, META_QUADS, &quads)) {
            meta_number(emit, conversion, VOID "triples", quads, NULL);
        }
        checksum(emit, conversion, META_GRAPH_DIGEST, "graphChecksum");
    }
    if (activity(emit, NODE_INDEX, META_INDEXED, 0, false)) {
        meta_triple(emit, meta_named(emit, NODE_INDEX), PROV "used", conversion);
    }
    if (activity(emit, NODE_EXTRACT, META_EXTRACTED, 0, false)) {
        meta_triple(emit, meta_named(emit, NODE_EXTRACT), PROV "used", document);
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
        const struct slice line = slice_trim(slice_take(&rest, '\n'));
        if (line.length > 0 && are_uris) {
            meta_uri(emit, emit->document, predicate, line);
        } else if (line.length > 0) {
            meta_literal(emit, emit->document, predicate, line, NULL);
        }
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
    if (!meta_is_iri(name)) {
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
    (void)meta_named(&emit, NODE_DOCUMENT);
    emit_fields(&emit);
    if (key.at[0] == 's') {
        lines(&emit, META_SITEMAP_FACTS, META_NAMESPACE "sitemapSays", false);
    } else if (key.at[0] == 'u') {
        const struct slice origin = url_origin(name);
        if (origin.length > 0 && origin.length < name.length) {
            meta_uri(&emit, emit.document, DCTERMS "isPartOf", origin);
        }
        meta_exchange(&emit);
        emit_provenance(&emit);
        lines(&emit, META_TRANSFORM_RESOURCES, DCTERMS "requires", true);
        lines(&emit, META_ATTEMPTS, META_NAMESPACE "attempt", false);
        lines(&emit, META_SITEMAP_FOR, META_NAMESPACE "sitemapFor", true);
    } else {
        if (emit.named[NODE_ROBOTS]) {
            meta_triple(&emit, emit.document, META_NAMESPACE "robots",
                        meta_node(&emit, NODE_ROBOTS));
        }
        lines(&emit, META_SITEMAPS, META_NAMESPACE "sitemap", true);
        lines(&emit, META_SCHEMAMAPS, META_NAMESPACE "schemamap", true);
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
