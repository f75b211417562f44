#include "datasets/semantic_sitemap.h"

#include <string.h>

#include "base/url/url.h"
#include "datasets/lenient_xml.h"
#include "datasets/sitemap.h"

enum tag {
    TAG_NONE,
    TAG_DATASET,
    TAG_LABEL,
    TAG_URI,
    TAG_LINKED_DATA,
    TAG_SPARQL,
    TAG_GRAPH,
    TAG_DUMP,
    TAG_FRAGMENT_DUMP,
    TAG_SAMPLE,
    TAG_MODIFIED,
    TAG_FREQUENCY,
    TAG_AUTHORITY,
    TAG_SUB_SITEMAP,
    TAG_PARENT_SITEMAP
};

/* The first spelling is the specification's of 2008, the others are of 2007 and seen in use. */
static const struct {
    const char *name;
    enum tag tag;
} spellings[] = {
    {"dataset", TAG_DATASET},
    {"datasetLabel", TAG_LABEL},
    {"datasetURI", TAG_URI},
    {"linkedDataPrefix", TAG_LINKED_DATA},
    {"sparqlEndpoint", TAG_SPARQL},
    {"sparqlEndpointLocation", TAG_SPARQL},
    {"sparqlGraphName", TAG_GRAPH},
    {"dataDump", TAG_DUMP},
    {"dataDumpLocation", TAG_DUMP},
    {"dataFragmentDump", TAG_FRAGMENT_DUMP},
    {"dataFragmentDumpLocation", TAG_FRAGMENT_DUMP},
    {"sampleURI", TAG_SAMPLE},
    {"lastmod", TAG_MODIFIED},
    {"changefreq", TAG_FREQUENCY},
    {"authority", TAG_AUTHORITY},
    {"subSitemap", TAG_SUB_SITEMAP},
    {"parentSitemap", TAG_PARENT_SITEMAP},
};

static const enum access_kind access_of_tag[] = {
    [TAG_LINKED_DATA] = ACCESS_LINKED_DATA,
    [TAG_SPARQL] = ACCESS_SPARQL,
    [TAG_DUMP] = ACCESS_DUMP,
    [TAG_FRAGMENT_DUMP] = ACCESS_FRAGMENT_DUMP,
    [TAG_SAMPLE] = ACCESS_SAMPLE,
};

struct reader {
    struct lenient_xml xml;
    struct arena *arena;
    struct description *description;
    struct dataset *dataset; /* the open one */
    unsigned depth, dataset_depth, tag_depth, tag_line;
    enum tag tag; /* whose text is being gathered */
    enum slicing slicing;
    struct buf text, memory;
    size_t accesses;
    bool root_seen, is_sitemap, noted_namespace;
};

#define NOTE(reader, kind, line, ...) \
    description_note((reader)->description, (reader)->arena, kind, line, __VA_ARGS__)

/* ---- names ---- */

static enum tag
tag_of(struct reader *reader, const char *name)
{
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        const char *spelling = spellings[i].name;
        if (slice_equal_nocase(slice_string(name), slice_string(spelling))) {
            if (strcmp(name, spelling) != 0) {
                NOTE(reader, NOTE_QUIRK, lenient_xml_line(&reader->xml), "<%s> should be <%s>",
                     name, spelling);
            }
            return spellings[i].tag;
        }
    }
    return TAG_NONE;
}

static bool
is_namespace(const xmlChar *space)
{
    return space != NULL && (strcmp((const char *)space, SEMANTIC_SITEMAP_NAMESPACE) == 0 ||
                             strcmp((const char *)space, SEMANTIC_SITEMAP_SCHEMA) == 0);
}

static void
check_namespace(struct reader *reader, const xmlChar *space, enum tag tag)
{
    const bool of_sitemaps = tag == TAG_MODIFIED || tag == TAG_FREQUENCY;
    if (is_namespace(space) || of_sitemaps || reader->noted_namespace) {
        return;
    }
    reader->noted_namespace = true;
    NOTE(reader, NOTE_QUIRK, lenient_xml_line(&reader->xml), "the tags' namespace is %s and not %s",
         space != NULL ? (const char *)space : "missing", SEMANTIC_SITEMAP_NAMESPACE);
}

/* ---- values ---- */

static struct slice
copy(struct reader *reader, struct slice text)
{
    return arena_copy(reader->arena, text);
}

/* Tells whether it names a host, if it is of the web. */
static bool
has_host(struct slice uri)
{
    struct buf key;
    bool has = true;
    if (slice_starts_nocase(uri, SLICE("http:")) || slice_starts_nocase(uri, SLICE("https:"))) {
        buf_init(&key, URL_MAXIMUM);
        has = url_crawl_key(uri, SLICE(""), &key, NULL) == STATUS_OK;
        buf_release(&key);
    }
    return has;
}

/* The absolute URI of the text, without dot segments, which could lead out of a folder that it
 * seems to begin with. Notes what had to be done for it. */
static bool
resolve(struct reader *reader, struct slice text, struct slice *uri)
{
    buf_reset(&reader->memory);
    if (iri_resolve(reader->description->uri, text, &reader->memory, NULL) != STATUS_OK ||
        !iri_is_absolute(buf_slice(&reader->memory)) || !has_host(buf_slice(&reader->memory))) {
        NOTE(reader, NOTE_ERROR, reader->tag_line, "\"%.*s\" is no URI", SLICE_PRINT(text));
        return false;
    }
    if (!slice_equal(text, buf_slice(&reader->memory))) {
        NOTE(reader, NOTE_QUIRK, reader->tag_line, "\"%.*s\" is no absolute URI: read as %.*s",
             SLICE_PRINT(text), SLICE_PRINT(buf_slice(&reader->memory)));
    }
    *uri = copy(reader, buf_slice(&reader->memory));
    return true;
}

static void
add_access(struct reader *reader, struct slice text)
{
    struct dataset_access *access;
    struct slice uri;
    const enum access_kind kind = access_of_tag[reader->tag];
    if (!resolve(reader, text, &uri)) {
        return;
    }
    for (size_t i = 0; i < reader->dataset->access_count; i++) {
        access = &reader->dataset->accesses[i];
        if (access->kind == kind && slice_equal(access->uri, uri)) {
            NOTE(reader, NOTE_QUIRK, reader->tag_line, "%.*s is given twice", SLICE_PRINT(uri));
            return;
        }
        if (kind == ACCESS_SPARQL && access->kind == kind) {
            NOTE(reader, NOTE_QUIRK, reader->tag_line,
                 "a dataset has one endpoint; %.*s is another", SLICE_PRINT(uri));
        }
    }
    access = reader->accesses < DESCRIPTION_ACCESSES
                 ? dataset_add_access(reader->dataset, reader->arena)
                 : NULL;
    if (access == NULL) {
        reader->description->limited = true;
        return;
    }
    reader->accesses++;
    *access = (struct dataset_access){
        .kind = kind, .uri = uri, .slicing = reader->slicing, .line = reader->tag_line};
}

static void
set_once(struct reader *reader, struct slice *field, struct slice value, const char *name)
{
    if (field->length > 0 && !slice_equal(*field, value)) {
        NOTE(reader, NOTE_ERROR, reader->tag_line, "a second %s, \"%.*s\"", name,
             SLICE_PRINT(value));
        return;
    }
    *field = copy(reader, value);
}

static void
set_uri_once(struct reader *reader, struct slice *field, struct slice value, const char *name)
{
    struct slice uri;
    if (resolve(reader, value, &uri)) {
        set_once(reader, field, uri, name);
    }
}

static void
add_sitemap(struct reader *reader, struct slice **sitemaps, size_t *count, struct slice text)
{
    struct slice uri;
    if (resolve(reader, text, &uri)) {
        struct slice *sitemap = description_add_sitemap(sitemaps, count, reader->arena);
        if (sitemap != NULL) {
            *sitemap = uri;
        } else {
            reader->description->limited = true;
        }
    }
}

static void
set_modified(struct reader *reader, struct slice text)
{
    reader->dataset->modified_ms = sitemap_date(text);
    if (reader->dataset->modified_ms == 0) {
        NOTE(reader, NOTE_ERROR, reader->tag_line, "lastmod \"%.*s\" is no W3C date",
             SLICE_PRINT(text));
    }
}

static void
set_frequency(struct reader *reader, struct slice text)
{
    static const char *const frequencies[] = {"always",  "hourly", "daily", "weekly",
                                              "monthly", "yearly", "never"};
    for (size_t i = 0; i < sizeof frequencies / sizeof *frequencies; i++) {
        if (slice_equal_nocase(text, slice_string(frequencies[i]))) {
            reader->dataset->change_frequency = slice_string(frequencies[i]);
            return;
        }
    }
    NOTE(reader, NOTE_ERROR, reader->tag_line, "changefreq \"%.*s\" is none of the seven values",
         SLICE_PRINT(text));
}

/* sparqlGraphName: a URI or "*". */
static void
set_graph(struct reader *reader, struct slice text)
{
    if (slice_is(text, "*")) {
        set_once(reader, &reader->dataset->graph, text, "sparqlGraphName");
    } else {
        set_uri_once(reader, &reader->dataset->graph, text, "sparqlGraphName");
    }
}

static void
take_value(struct reader *reader)
{
    struct description *description = reader->description;
    const struct slice text = slice_trim(buf_slice(&reader->text));
    if (reader->text.overflowed) {
        NOTE(reader, NOTE_ERROR, reader->tag_line, "a value of more than %d bytes",
             DESCRIPTION_TEXT);
        return;
    }
    if (text.length == 0) {
        NOTE(reader, NOTE_ERROR, reader->tag_line, "a tag without text");
        return;
    }
    switch (reader->tag) {
    case TAG_LABEL:
        set_once(reader, &reader->dataset->label, text, "datasetLabel");
        break;
    case TAG_URI:
        set_uri_once(reader, &reader->dataset->uri, text, "datasetURI");
        break;
    case TAG_GRAPH:
        set_graph(reader, text);
        break;
    case TAG_MODIFIED:
        set_modified(reader, text);
        break;
    case TAG_FREQUENCY:
        set_frequency(reader, text);
        break;
    case TAG_AUTHORITY:
        set_uri_once(reader, &description->authority, text, "authority");
        break;
    case TAG_SUB_SITEMAP:
        add_sitemap(reader, &description->sub_sitemaps, &description->sub_count, text);
        break;
    case TAG_PARENT_SITEMAP:
        add_sitemap(reader, &description->parent_sitemaps, &description->parent_count, text);
        break;
    default:
        add_access(reader, text);
    }
}

/* ---- events ---- */

static void
begin_dataset(struct reader *reader)
{
    reader->dataset_depth = reader->depth;
    reader->dataset = description_add_dataset(reader->description, reader->arena);
    if (reader->dataset == NULL) {
        lenient_xml_stop(&reader->xml);
        return;
    }
    reader->dataset->line = lenient_xml_line(&reader->xml);
}

static void
take_slicing(struct reader *reader, const xmlChar **attributes, int count)
{
    const struct slice name = lenient_xml_attribute(attributes, count, "slicing", true);
    reader->slicing = SLICING_NONE;
    if (name.at != NULL && !slicing_of_name(name, &reader->slicing)) {
        NOTE(reader, NOTE_ERROR, reader->tag_line, "unknown slicing \"%.*s\"", SLICE_PRINT(name));
    }
    if (name.at != NULL && reader->tag != TAG_LINKED_DATA && reader->tag != TAG_SPARQL) {
        NOTE(reader, NOTE_QUIRK, reader->tag_line,
             "slicing belongs to linkedDataPrefix and sparqlEndpoint");
    }
}

/* Tags of the whole sitemap stand beside datasets; inside of one they mean the same. */
static bool
is_of_sitemap(enum tag tag)
{
    return tag == TAG_AUTHORITY || tag == TAG_SUB_SITEMAP || tag == TAG_PARENT_SITEMAP;
}

static void
begin_root(struct reader *reader, const char *name)
{
    static const char *const roots[] = {"urlset", "sitemapindex"};
    reader->root_seen = true;
    for (size_t i = 0; i < 2; i++) {
        reader->is_sitemap |= slice_equal_nocase(slice_string(name), slice_string(roots[i]));
    }
    if (!reader->is_sitemap && tag_of(reader, name) == TAG_DATASET) {
        NOTE(reader, NOTE_QUIRK, lenient_xml_line(&reader->xml),
             "the dataset stands by itself and not inside urlset");
        reader->is_sitemap = true;
        begin_dataset(reader);
    } else if (!reader->is_sitemap) {
        lenient_xml_stop(&reader->xml);
    }
}

static void
begin_element(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *space,
              int namespace_count, const xmlChar **namespaces, int attribute_count,
              int defaulted_count, const xmlChar **attributes)
{
    struct reader *reader = context;
    (void)prefix;
    (void)namespace_count;
    (void)namespaces;
    (void)defaulted_count;
    reader->depth++;
    if (!reader->root_seen) {
        begin_root(reader, (const char *)name);
        return;
    }
    const enum tag tag = reader->tag == TAG_NONE ? tag_of(reader, (const char *)name) : TAG_NONE;
    const bool inside = reader->dataset_depth > 0;
    if (tag == TAG_NONE ||
        (!inside && !is_namespace(space) && (tag == TAG_MODIFIED || tag == TAG_FREQUENCY))) {
        return; /* of url entries, or something else's */
    }
    check_namespace(reader, space, tag);
    if (tag == TAG_DATASET) {
        if (inside) {
            NOTE(reader, NOTE_QUIRK, lenient_xml_line(&reader->xml),
                 "a dataset begins inside of another");
        }
        begin_dataset(reader);
        return;
    }
    reader->tag_line = lenient_xml_line(&reader->xml);
    if (!inside && !is_of_sitemap(tag)) {
        NOTE(reader, NOTE_ERROR, reader->tag_line, "%s outside of a dataset", (const char *)name);
        return;
    }
    if (inside && is_of_sitemap(tag)) {
        NOTE(reader, NOTE_QUIRK, reader->tag_line, "%s belongs beside the datasets",
             (const char *)name);
    }
    reader->tag = tag;
    reader->tag_depth = reader->depth;
    buf_reset(&reader->text);
    take_slicing(reader, attributes, attribute_count);
}

/* Ends a dataset: some of its findings can be told only when all of it has been read. */
static void
end_dataset(struct reader *reader)
{
    const struct dataset *dataset = reader->dataset;
    bool endpoint = false, other = false;
    for (size_t i = 0; i < dataset->access_count; i++) {
        endpoint |= dataset->accesses[i].kind == ACCESS_SPARQL;
        other |= dataset->accesses[i].kind != ACCESS_SAMPLE;
    }
    if (dataset->graph.length > 0 && !endpoint) {
        NOTE(reader, NOTE_ERROR, dataset->line, "sparqlGraphName without an endpoint");
    }
    if (!other) {
        NOTE(reader, NOTE_QUIRK, dataset->line,
             "the dataset says no way to get it: no dump, endpoint or prefix");
    }
    reader->dataset = NULL;
    reader->dataset_depth = 0;
}

static void
end_element(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *space)
{
    struct reader *reader = context;
    (void)name;
    (void)prefix;
    (void)space;
    if (reader->tag != TAG_NONE && reader->depth == reader->tag_depth) {
        take_value(reader);
        reader->tag = TAG_NONE;
    } else if (reader->dataset_depth > 0 && reader->depth == reader->dataset_depth) {
        end_dataset(reader);
    }
    reader->depth--;
}

static void
characters(void *context, const xmlChar *text, int length)
{
    struct reader *reader = context;
    if (reader->tag != TAG_NONE) {
        buf_append(&reader->text, text, (size_t)length);
    }
}

/* ---- the whole ---- */

bool
semantic_sitemap_likely(struct slice bytes)
{
    static const char *const signs[] = {"sitemapextension", "dataset",   "Dataset",
                                        "DATASET",          "ubSitemap", "arentSitemap"};
    struct unpacked_bytes unpacked;
    unpack_bytes(bytes, SITEMAP_BYTES_MAXIMUM, &unpacked);
    bool likely = lenient_xml_is_wide(unpacked.bytes);
    for (size_t i = 0; !likely && i < sizeof signs / sizeof *signs; i++) {
        likely = slice_find_slice(unpacked.bytes, slice_string(signs[i])) < unpacked.bytes.length;
    }
    unpacked_release(&unpacked);
    return likely;
}

enum status
semantic_sitemap_parse(struct slice bytes, struct slice uri, struct arena *arena,
                       struct description *description, struct reason *why)
{
    static const xmlSAXHandler handler = {.startElementNs = begin_element,
                                          .endElementNs = end_element,
                                          .characters = characters,
                                          .cdataBlock = characters};
    struct unpacked_bytes unpacked;
    struct reader reader = {.arena = arena, .description = description};
    unpack_bytes(bytes, SITEMAP_BYTES_MAXIMUM, &unpacked);
    *description = (struct description){.uri = arena_copy(arena, uri),
                                        .limited = unpacked.limited,
                                        .incomplete = unpacked.incomplete};
    description->space = description_folder(description->uri);
    buf_init(&reader.text, DESCRIPTION_TEXT);
    buf_init(&reader.memory, (size_t)2 * DESCRIPTION_TEXT + URL_MAXIMUM);
    enum status status = lenient_xml_parse(&reader.xml, unpacked.bytes, &handler, &reader, why);
    if (status == STATUS_OK && !reader.is_sitemap) {
        status = status_fail(why, STATUS_BAD_INPUT,
                             "%.*s: the root element is not that of a sitemap", SLICE_PRINT(uri));
    }
    if (status == STATUS_OK && !reader.xml.well_formed && !reader.xml.stopped) {
        description->incomplete = true;
        NOTE(&reader, NOTE_ERROR, 0, "the XML is not well-formed, or cut off");
    }
    buf_release(&reader.text);
    buf_release(&reader.memory);
    unpacked_release(&unpacked);
    return status;
}
