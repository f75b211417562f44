/* Link headers (RFC 8288), the same statements that link elements make.
 *
 * Read as leniently as the RFC's appendix B.3 has it: what is no link is skipped up to the next
 * comma outside of quotes, parameters that say nothing here are passed over. */
#include "base/ascii.h"
#include "transforms/common/relations.h"
#include "transforms/core/builtins.h"

enum { LINKS_MAXIMUM = 256, TITLE_MAXIMUM = 1024 };

struct header {
    const char *at, *end;
    struct transformation *transformation;
    struct emitter *emitter;
    struct links target, anchor;
    struct buf values, name;
    struct text text;
};

struct link {
    struct slice reference, anchor, title_encoded;
    bool has_anchor;
    struct link_relations relations;
};

static void
skip_blank(struct header *header)
{
    while (header->at < header->end && (*header->at == ' ' || *header->at == '\t' ||
                                        *header->at == '\r' || *header->at == '\n')) {
        header->at++;
    }
}

/* Up to the comma that ends this link, which is taken too. */
static void
skip_link(struct header *header)
{
    bool quoted = false;
    for (; header->at < header->end; header->at++) {
        if (quoted && *header->at == '\\' && header->at + 1 < header->end) {
            header->at++;
        } else if (*header->at == '"') {
            quoted = !quoted;
        } else if (*header->at == ',' && !quoted) {
            header->at++;
            return;
        }
    }
}

/* A quoted string, its escapes undone. at stands on the quote. */
static struct slice
quoted_value(struct header *header)
{
    const size_t from = header->values.length;
    for (header->at++; header->at < header->end && *header->at != '"'; header->at++) {
        if (*header->at == '\\' && header->at + 1 < header->end) {
            header->at++;
        }
        buf_append_char(&header->values, *header->at);
    }
    header->at += header->at < header->end;
    return slice_of(header->values.data + from, header->values.length - from);
}

static struct slice
token(struct header *header, const char *stops)
{
    const char *from = header->at;
    while (header->at < header->end && !strchr(stops, *header->at)) {
        header->at++;
    }
    return slice_of(from, (size_t)(header->at - from));
}

/* charset'language'percent-encoded (RFC 8187). False: not in UTF-8. */
static bool
decode_extended(struct header *header, struct slice value, struct slice *text,
                struct slice *language)
{
    const size_t first = slice_find(value, '\'');
    const struct slice rest = slice_of(value.at + first, value.length - first);
    const size_t second =
        rest.length > 1 ? slice_find(slice_of(rest.at + 1, rest.length - 1), '\'') : rest.length;
    if (!slice_equal_nocase(slice_of(value.at, first), SLICE("utf-8")) ||
        second + 1 >= rest.length) {
        return false;
    }
    *language = slice_of(rest.at + 1, second);
    const struct slice encoded = slice_of(rest.at + second + 2, rest.length - second - 2);
    const size_t from = header->values.length;
    for (size_t i = 0; i < encoded.length; i++) {
        if (encoded.at[i] == '%' && i + 2 < encoded.length &&
            ascii_hex_value(encoded.at[i + 1]) >= 0 && ascii_hex_value(encoded.at[i + 2]) >= 0) {
            buf_append_char(&header->values, (char)(ascii_hex_value(encoded.at[i + 1]) << 4 |
                                                    ascii_hex_value(encoded.at[i + 2])));
            i += 2;
        } else {
            buf_append_char(&header->values, encoded.at[i]);
        }
    }
    *text = slice_of(header->values.data + from, header->values.length - from);
    return encoding_is_utf8(*text);
}

/* The first of a name counts. */
static void
keep(struct slice *place, struct slice value)
{
    if (!place->at) {
        *place = value.at ? value : SLICE("");
    }
}

static void
take_parameter(struct link *link, struct slice name, struct slice value)
{
    if (slice_equal_nocase(name, SLICE("rel"))) {
        keep(&link->relations.rel, value);
    } else if (slice_equal_nocase(name, SLICE("rev"))) {
        keep(&link->relations.rev, value);
    } else if (slice_equal_nocase(name, SLICE("anchor"))) {
        keep(&link->anchor, value);
        link->has_anchor = true;
    } else if (slice_equal_nocase(name, SLICE("hreflang"))) {
        keep(&link->relations.language, value);
    } else if (slice_equal_nocase(name, SLICE("type"))) {
        keep(&link->relations.type, value);
    } else if (slice_equal_nocase(name, SLICE("title"))) {
        keep(&link->relations.title, value);
    } else if (slice_equal_nocase(name, SLICE("title*"))) {
        keep(&link->title_encoded, value);
    }
}

/* False: what stands here is no link. */
static bool
read_link(struct header *header, struct link *link)
{
    *link = (struct link){0};
    if (header->at >= header->end || *header->at != '<') {
        return false;
    }
    header->at++;
    link->reference = token(header, ">");
    if (header->at == header->end) {
        return false;
    }
    header->at++;
    for (;;) {
        skip_blank(header);
        if (header->at == header->end || *header->at != ';') {
            return true;
        }
        header->at++;
        skip_blank(header);
        const struct slice name = slice_trim(token(header, "=;, \t\""));
        struct slice value = {"", 0};
        skip_blank(header);
        if (header->at < header->end && *header->at == '=') {
            header->at++;
            skip_blank(header);
            value = header->at < header->end && *header->at == '"'
                        ? quoted_value(header)
                        : slice_trim(token(header, ";,"));
        }
        take_parameter(link, name, value);
    }
}

static void
emit_link(struct header *header, struct link *link)
{
    struct link_relations *relations = &link->relations;
    char tag[LANGUAGE_TAG_SIZE];
    struct slice from = buf_slice(&header->transformation->iri), target, title, language = {0};
    if (!links_resolve(&header->target, slice_trim(link->reference), &target) ||
        (link->has_anchor && !links_resolve(&header->anchor, slice_trim(link->anchor), &from))) {
        return;
    }
    if (link->title_encoded.length > 0 &&
        decode_extended(header, link->title_encoded, &title, &language)) {
        relations->title = title;
    }
    if (!encoding_is_utf8(relations->title)) {
        relations->title = (struct slice){0};
    }
    relations->title = text_of(&header->text, relations->title, TITLE_MAXIMUM);
    relations->title_language = language_tag(language, tag);
    const struct term subject = term_iri(from), object = term_iri(target);
    relations_emit(header->emitter, &header->name, &subject, &object, relations);
}

static void
read_header(struct header *header)
{
    for (unsigned links = 0; links < LINKS_MAXIMUM && header->at < header->end;) {
        struct link link;
        skip_blank(header);
        if (header->at < header->end && *header->at == ',') {
            header->at++;
            continue;
        }
        buf_reset(&header->values);
        if (read_link(header, &link)) {
            links++;
            emit_link(header, &link);
        } else {
            transformation_problem(header->transformation, 0,
                                   "a Link header does not begin with <URL>");
        }
        skip_link(header);
    }
}

enum status
builtin_links(struct transformation *transformation, struct reason *why)
{
    struct quad_sink sink;
    struct emitter emitter = transformation_emitter(transformation, &sink, why);
    const struct slice text = transformation->request->link_header;
    if (text.length == 0) {
        return STATUS_OK;
    }
    struct header header = {.at = text.at,
                            .end = text.at + text.length,
                            .transformation = transformation,
                            .emitter = &emitter};
    links_init(&header.target);
    links_init(&header.anchor);
    links_begin(&header.target, transformation->request->uri);
    links_begin(&header.anchor, transformation->request->uri);
    buf_init(&header.values, 3 * text.length + 1);
    buf_reserve(&header.values, 3 * text.length); /* slices of it are kept: it must not move */
    buf_init(&header.name, 4096);
    text_init(&header.text);
    read_header(&header);
    links_release(&header.target);
    links_release(&header.anchor);
    buf_release(&header.values);
    buf_release(&header.name);
    text_release(&header.text);
    return emitter.status;
}
