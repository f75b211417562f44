/* One SAX pass. The root element chooses the kind; inside an entry element the children that the
 * kind's table names are gathered, if they are in the root's namespace (or the entry's, in RSS
 * 1.0, where the root is RDF's). What is of an extension, at any depth inside an entry, becomes a
 * line of its facts. */
#include "datasets/sitemap.h"

#include <string.h>

#include "base/buf.h"
#include "base/url/url.h"
#include "datasets/lenient_xml.h"

enum { TEXT_MAXIMUM = 16 << 10 };

enum field {
    FIELD_NONE,
    FIELD_LOCATION,
    FIELD_FALLBACK,
    FIELD_MODIFIED,
    FIELD_FREQUENCY,
    FIELD_PRIORITY,
    FIELD_HREF,
    FIELD_COUNT
};

struct child {
    const char *name;
    enum field field;
};

struct format {
    const char *root;
    enum sitemap_kind kind;
    const char *entry;
    struct child children[6];
};

static const struct format formats[] = {
    {"urlset",
     SITEMAP_URLSET,
     "url",
     {{"loc", FIELD_LOCATION},
      {"lastmod", FIELD_MODIFIED},
      {"changefreq", FIELD_FREQUENCY},
      {"priority", FIELD_PRIORITY}}},
    {"sitemapindex",
     SITEMAP_INDEX,
     "sitemap",
     {{"loc", FIELD_LOCATION}, {"lastmod", FIELD_MODIFIED}}},
    {"rss",
     SITEMAP_RSS,
     "item",
     {{"link", FIELD_LOCATION}, {"guid", FIELD_FALLBACK}, {"pubDate", FIELD_MODIFIED}}},
    {"RDF", SITEMAP_RSS, "item", {{"link", FIELD_LOCATION}}},
    {"feed",
     SITEMAP_ATOM,
     "entry",
     {{"link", FIELD_HREF}, {"updated", FIELD_MODIFIED}, {"modified", FIELD_MODIFIED}}},
};

/* Elements that are kept of the extensions for images, videos and news
 * (http://www.google.com/schemas/sitemap-image/1.1 and the like). They are found by prefix where
 * that is not bound. */
struct fact {
    const char *extension, *name, *label;
};

static const struct fact facts[] = {
    {"image", "loc", "image"},
    {"image", "title", "image title"},
    {"image", "caption", "image caption"},
    {"image", "license", "image license"},
    {"video", "content_loc", "video"},
    {"video", "player_loc", "video player"},
    {"video", "thumbnail_loc", "video thumbnail"},
    {"video", "title", "video title"},
    {"video", "duration", "video seconds"},
    {"news", "title", "news title"},
    {"news", "publication_date", "news date"},
    {"news", "name", "news publisher"},
    {"news", "language", "news language"},
};

struct parser {
    sitemap_visit *visit;
    void *context;
    struct sitemap_result *result;
    struct lenient_xml xml;
    const struct format *format;
    const xmlChar *space;        /* namespace of the entry element */
    unsigned depth, entry_depth; /* entry_depth 0: outside entries */
    enum field field;            /* being gathered; FIELD_NONE with entry text */
    struct buf text;             /* of the present field, or the entry's own text */
    struct buf values[FIELD_COUNT];
    const struct fact *fact; /* being gathered into fact_text, at fact_depth; NULL: none */
    unsigned fact_depth;
    struct buf fact_text, facts, alternates;
    bool root_seen;
};

/* ---- entries ---- */

static void
clear_entry(struct parser *parser)
{
    for (int i = 0; i < FIELD_COUNT; i++) {
        buf_reset(&parser->values[i]);
    }
    buf_reset(&parser->facts);
    buf_reset(&parser->alternates);
    parser->fact = NULL;
}

static struct slice
value_of(const struct parser *parser, enum field field)
{
    return slice_trim(buf_slice(&parser->values[field]));
}

static uint8_t
priority_of(struct slice text)
{
    if (text.length == 0) {
        return 50;
    }
    if (text.at[0] == '1') {
        return 100;
    }
    const size_t dot = slice_find(text, '.');
    unsigned priority = 0;
    for (size_t i = 1; i <= 2; i++) {
        const char c = dot + i < text.length ? text.at[dot + i] : '0';
        priority = priority * 10 + (c >= '0' && c <= '9' ? (unsigned)(c - '0') : 0);
    }
    return (uint8_t)priority;
}

static bool
looks_absolute(struct slice text)
{
    return slice_starts(text, SLICE("http://")) || slice_starts(text, SLICE("https://"));
}

static void
emit(struct parser *parser, const struct sitemap_entry *entry)
{
    if (parser->xml.stopped || entry->location.length == 0) {
        return;
    }
    if (parser->result->entries == SITEMAP_ENTRIES_MAXIMUM) {
        parser->result->limited = true;
        lenient_xml_stop(&parser->xml);
        return;
    }
    parser->result->entries++;
    if (!parser->visit(parser->context, entry)) {
        lenient_xml_stop(&parser->xml);
    }
}

static void
emit_entry(struct parser *parser)
{
    struct slice location = value_of(parser, FIELD_LOCATION);
    if (location.length == 0 && looks_absolute(value_of(parser, FIELD_FALLBACK))) {
        location = value_of(parser, FIELD_FALLBACK);
    }
    const struct sitemap_entry entry = {
        .location = location,
        .modified_ms = sitemap_date(value_of(parser, FIELD_MODIFIED)),
        .change_frequency = value_of(parser, FIELD_FREQUENCY),
        .priority = priority_of(value_of(parser, FIELD_PRIORITY)),
        .alternates = buf_slice(&parser->alternates),
        .facts = buf_slice(&parser->facts),
    };
    emit(parser, &entry);
    clear_entry(parser);
}

/* ---- extensions ---- */

/* A whole line or none of it. Line ends inside a value are blanks. */
static void
append_line(struct buf *lines, struct slice first, struct slice second)
{
    if (first.length + second.length + 2 > lines->maximum - lines->length) {
        return;
    }
    buf_append_slice(lines, first);
    buf_append_char(lines, ' ');
    for (size_t i = 0; i < second.length; i++) {
        buf_append_char(lines, (unsigned char)second.at[i] < ' ' ? ' ' : second.at[i]);
    }
    buf_append_char(lines, '\n');
}

static bool
is_extension(const char *extension, const xmlChar *prefix, const xmlChar *space)
{
    static const char marker[] = "/sitemap-";
    if (space == NULL) {
        return prefix != NULL && strcmp((const char *)prefix, extension) == 0;
    }
    const char *at = strstr((const char *)space, marker);
    return at != NULL && strncmp(at + sizeof marker - 1, extension, strlen(extension)) == 0;
}

/* rel="alternate" with a language, of XHTML's namespace as a rule; not a child of the format. */
static void
take_alternate(struct parser *parser, const xmlChar **attributes, int count)
{
    const struct slice rel = lenient_xml_attribute(attributes, count, "rel", false);
    const struct slice language = lenient_xml_attribute(attributes, count, "hreflang", false);
    const struct slice href = slice_trim(lenient_xml_attribute(attributes, count, "href", false));
    if (slice_is(rel, "alternate") && language.length > 0 && href.length > 0 &&
        slice_find(language, ' ') == language.length) {
        append_line(&parser->alternates, language, href);
    }
}

static void
begin_extension(struct parser *parser, const char *name, const xmlChar *prefix,
                const xmlChar *space, const xmlChar **attributes, int count)
{
    if (strcmp(name, "link") == 0) {
        take_alternate(parser, attributes, count);
        return;
    }
    for (size_t i = 0; i < sizeof facts / sizeof *facts && parser->fact == NULL; i++) {
        if (strcmp(name, facts[i].name) == 0 && is_extension(facts[i].extension, prefix, space)) {
            parser->fact = &facts[i];
            parser->fact_depth = parser->depth;
            buf_reset(&parser->fact_text);
        }
    }
}

static void
end_extension(struct parser *parser)
{
    const struct slice value = slice_trim(buf_slice(&parser->fact_text));
    if (value.length > 0) {
        append_line(&parser->facts, slice_string(parser->fact->label), value);
    }
    parser->fact = NULL;
}

bool
sitemap_next_alternate(struct slice *rest, struct slice *language, struct slice *location)
{
    const size_t end = slice_find(*rest, '\n');
    const size_t blank = slice_find(*rest, ' ');
    if (end >= rest->length || blank > end) {
        return false;
    }
    *language = slice_of(rest->at, blank);
    *location = slice_of(rest->at + blank + 1, end - blank - 1);
    *rest = slice_of(rest->at + end + 1, rest->length - end - 1);
    return true;
}

/* ---- SAX ---- */

static const struct format *
find_format(const char *root)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (strcmp(root, formats[i].root) == 0) {
            return &formats[i];
        }
    }
    return NULL;
}

static enum field
find_child(const struct format *format, const char *name)
{
    for (size_t i = 0; i < 6 && format->children[i].name != NULL; i++) {
        if (strcmp(name, format->children[i].name) == 0) {
            return format->children[i].field;
        }
    }
    return FIELD_NONE;
}

/* Atom's link: the alternate one, which is what a link without rel is. */
static void
take_href(struct parser *parser, const xmlChar **attributes, int count)
{
    const struct slice rel = lenient_xml_attribute(attributes, count, "rel", false);
    const struct slice href = lenient_xml_attribute(attributes, count, "href", false);
    if ((rel.at == NULL || slice_is(rel, "alternate")) &&
        parser->values[FIELD_LOCATION].length == 0) {
        buf_append_slice(&parser->values[FIELD_LOCATION], href);
    }
}

static void
begin_child(struct parser *parser, const char *name, const xmlChar **attributes, int count)
{
    const enum field field = find_child(parser->format, name);
    if (field == FIELD_HREF) {
        take_href(parser, attributes, count);
        return;
    }
    if (field == FIELD_LOCATION && parser->values[FIELD_LOCATION].length > 0) {
        emit_entry(parser); /* an entry element that was not closed before the next location */
    }
    parser->field = field;
    buf_reset(&parser->text);
}

static void
begin_element(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *space,
              int namespace_count, const xmlChar **namespaces, int attribute_count,
              int defaulted_count, const xmlChar **attributes)
{
    struct parser *parser = context;
    (void)namespace_count;
    (void)namespaces;
    (void)defaulted_count;
    parser->depth++;
    if (!parser->root_seen) {
        parser->root_seen = true;
        parser->format = find_format((const char *)name);
        if (parser->format == NULL) {
            lenient_xml_stop(&parser->xml);
            return;
        }
        parser->result->kind = parser->format->kind;
    } else if (parser->entry_depth == 0) {
        if (strcmp((const char *)name, parser->format->entry) == 0) {
            parser->entry_depth = parser->depth;
            parser->space = space;
            clear_entry(parser);
            buf_reset(&parser->text);
        }
    } else if (parser->depth == parser->entry_depth + 1 && xmlStrEqual(space, parser->space)) {
        begin_child(parser, (const char *)name, attributes, attribute_count);
    } else {
        begin_extension(parser, (const char *)name, prefix, space, attributes, attribute_count);
    }
}

static void
keep_field(struct parser *parser)
{
    struct buf *value = &parser->values[parser->field];
    if (value->length == 0) {
        buf_append_slice(value, buf_slice(&parser->text));
    }
    parser->field = FIELD_NONE;
    buf_reset(&parser->text);
}

static void
end_element(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *space)
{
    struct parser *parser = context;
    (void)name;
    (void)prefix;
    (void)space;
    if (parser->fact != NULL && parser->depth == parser->fact_depth) {
        end_extension(parser);
    }
    if (parser->entry_depth > 0 && parser->depth == parser->entry_depth + 1 &&
        parser->field != FIELD_NONE) {
        keep_field(parser);
    }
    if (parser->entry_depth > 0 && parser->depth == parser->entry_depth) {
        const struct slice own = slice_trim(buf_slice(&parser->text));
        if (parser->values[FIELD_LOCATION].length == 0 && looks_absolute(own)) {
            buf_append_slice(&parser->values[FIELD_LOCATION], own); /* <sitemap>URL</sitemap> */
        }
        emit_entry(parser);
        parser->entry_depth = 0;
    }
    parser->depth--;
}

static void
characters(void *context, const xmlChar *text, int length)
{
    struct parser *parser = context;
    if (parser->fact != NULL) {
        buf_append(&parser->fact_text, text, (size_t)length);
    } else if (parser->entry_depth > 0 &&
               (parser->field != FIELD_NONE || parser->depth == parser->entry_depth)) {
        buf_append(&parser->text, text, (size_t)length);
    }
}

/* ---- XML ---- */

/* Reads what stands in an entry that the end of the file cut. A location counts only if a tag was
 * begun behind it: else its last characters may be missing. */
static void
end_cut_entry(struct parser *parser, struct slice bytes)
{
    parser->result->incomplete = true;
    if (parser->entry_depth == 0 || parser->xml.stopped) {
        return;
    }
    const char *tag = memrchr(bytes.at, '<', bytes.length);
    const char *close = memrchr(bytes.at, '>', bytes.length);
    const bool whole = tag != NULL && (close == NULL || tag > close);
    if (parser->field != FIELD_NONE && whole) {
        keep_field(parser);
    }
    emit_entry(parser);
}

static enum status
parse_xml(struct parser *parser, struct slice bytes, struct reason *why)
{
    static const xmlSAXHandler handler = {.startElementNs = begin_element,
                                          .endElementNs = end_element,
                                          .characters = characters,
                                          .cdataBlock = characters};
    TRY(lenient_xml_parse(&parser->xml, bytes, &handler, parser, why));
    if (!parser->xml.well_formed && !parser->xml.stopped) {
        end_cut_entry(parser, bytes);
    }
    if (parser->format == NULL) {
        return status_fail(why, STATUS_BAD_INPUT, "the root element is not that of a sitemap");
    }
    return STATUS_OK;
}

/* ---- text ---- */

static enum status
parse_text(struct parser *parser, struct slice bytes, struct reason *why)
{
    while (bytes.length > 0 && !parser->xml.stopped) {
        size_t n = 0;
        while (n < bytes.length && bytes.at[n] != '\n' && bytes.at[n] != '\r') {
            n++;
        }
        const struct slice line = slice_trim(slice_of(bytes.at, n));
        if (looks_absolute(line) && line.length <= TEXT_MAXIMUM) {
            parser->result->kind = SITEMAP_TEXT;
            emit(parser, &(struct sitemap_entry){.location = line, .priority = 50});
        } else if (line.length > 0 && parser->result->entries == 0) {
            break; /* the first line is no URL: not a list of them */
        }
        n += n < bytes.length ? 1 : 0;
        bytes = slice_of(bytes.at + n, bytes.length - n);
    }
    return parser->result->kind == SITEMAP_TEXT
               ? STATUS_OK
               : status_fail(why, STATUS_BAD_INPUT, "neither XML nor a list of URLs");
}

/* ---- the whole ---- */

static enum status
parse_plain(struct parser *parser, struct slice bytes, struct reason *why)
{
    struct slice start = bytes;
    if (slice_starts(start, SLICE("\xef\xbb\xbf"))) {
        start = slice_of(start.at + 3, start.length - 3);
    }
    start = slice_trim(start);
    const bool xml = lenient_xml_is_wide(bytes) || (start.length > 0 && start.at[0] == '<');
    return xml ? parse_xml(parser, bytes, why) : parse_text(parser, start, why);
}

enum status
sitemap_parse(struct slice bytes, sitemap_visit *visit, void *context,
              struct sitemap_result *result, struct reason *why)
{
    struct parser parser = {.visit = visit, .context = context, .result = result};
    struct unpacked_bytes unpacked;
    unpack_bytes(bytes, SITEMAP_BYTES_MAXIMUM, &unpacked);
    *result =
        (struct sitemap_result){.too_large = unpacked.limited, .incomplete = unpacked.incomplete};
    buf_init(&parser.text, TEXT_MAXIMUM);
    buf_init(&parser.fact_text, TEXT_MAXIMUM);
    buf_init(&parser.facts, SITEMAP_LINES_MAXIMUM);
    buf_init(&parser.alternates, SITEMAP_LINES_MAXIMUM);
    for (int i = 0; i < FIELD_COUNT; i++) {
        buf_init(&parser.values[i], TEXT_MAXIMUM);
    }
    const enum status status = unpacked.bytes.length > 0
                                   ? parse_plain(&parser, unpacked.bytes, why)
                                   : status_fail(why, STATUS_BAD_INPUT, "the sitemap is empty");
    for (int i = 0; i < FIELD_COUNT; i++) {
        buf_release(&parser.values[i]);
    }
    buf_release(&parser.text);
    buf_release(&parser.fact_text);
    buf_release(&parser.facts);
    buf_release(&parser.alternates);
    unpacked_release(&unpacked);
    return status;
}

/* Tells whether the text begins as most pages do. */
static bool
begins_as_page(struct slice text)
{
    const struct slice trimmed = slice_trim(text);
    return slice_starts_nocase(trimmed, SLICE("<!doctype html")) ||
           slice_starts_nocase(trimmed, SLICE("<html"));
}

bool
sitemap_is_likely(struct slice bytes)
{
    static const char *const roots[] = {"urlset", "sitemapindex"};
    const struct slice text = slice_of(
        bytes.at, bytes.length < SITEMAP_SNIFF_BYTES ? bytes.length : (size_t)SITEMAP_SNIFF_BYTES);
    if (begins_as_page(text)) {
        return false;
    }
    for (size_t i = 0; i < 2; i++) {
        const size_t at = slice_find_slice(text, slice_string(roots[i]));
        if (at > 0 && at < text.length && (text.at[at - 1] == '<' || text.at[at - 1] == ':')) {
            return true;
        }
    }
    return false;
}

const char *
sitemap_kind_name(enum sitemap_kind kind)
{
    static const char *const names[] = {
        [SITEMAP_NONE] = "error", [SITEMAP_URLSET] = "urlset", [SITEMAP_INDEX] = "index",
        [SITEMAP_TEXT] = "text",  [SITEMAP_RSS] = "rss",       [SITEMAP_ATOM] = "atom",
    };
    return names[kind];
}

const char *
sitemap_truncation(const struct sitemap_result *result)
{
    return result->too_large ? "more than 50 MB" : result->limited ? "more than 50000 entries" : "";
}

bool
sitemap_is_below(struct slice sitemap, struct slice uri)
{
    const struct slice origin = url_origin(sitemap);
    struct slice path = slice_of(sitemap.at, slice_find(sitemap, '?'));
    while (path.length > origin.length && path.at[path.length - 1] != '/') {
        path.length--;
    }
    return slice_starts(uri, path.length > origin.length ? path : origin) &&
           slice_equal(url_origin(uri), origin);
}
