#include "transforms/xml/xml_peek.h"

#include <stdint.h>

#include "rdf/core/lexical.h"

enum { ENTITIES_MAXIMUM = 64, NAMESPACE_MAXIMUM = 1024 };

struct entity {
    struct slice name, value;
};

struct peeking {
    const char *at, *end;
    struct entity entities[ENTITIES_MAXIMUM]; /* of the internal subset */
    size_t entity_count;
};

static bool
is_name_start(char c)
{
    return (c | 0x20) >= 'a' ? (c | 0x20) <= 'z' : c == '_' || c == ':' || (uint8_t)c >= 0x80;
}

static bool
is_name(char c)
{
    return is_name_start(c) || (uint8_t)c >= 0x80 || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == ':';
}

static void
skip_space(struct peeking *peeking)
{
    while (peeking->at < peeking->end && lexical_is(*peeking->at, LEXICAL_SPACE)) {
        peeking->at++;
    }
}

static bool
starts(const struct peeking *peeking, const char *text)
{
    const size_t n = strlen(text);
    return (size_t)(peeking->end - peeking->at) >= n && memcmp(peeking->at, text, n) == 0;
}

static struct slice
read_name(struct peeking *peeking)
{
    const char *from = peeking->at;
    if (peeking->at < peeking->end && is_name_start(*peeking->at)) {
        while (peeking->at < peeking->end && is_name(*peeking->at)) {
            peeking->at++;
        }
    }
    return slice_of(from, (size_t)(peeking->at - from));
}

/* A value in quotes; at == NULL: none. */
static struct slice
read_quoted(struct peeking *peeking)
{
    const char *at = peeking->at, *const end = peeking->end;
    if (at >= end || (*at != '"' && *at != '\'')) {
        return (struct slice){0};
    }
    const char *close = memchr(at + 1, *at, (size_t)(end - at - 1));
    if (!close) {
        return (struct slice){0};
    }
    peeking->at = close + 1;
    return slice_of(at + 1, (size_t)(close - at - 1));
}

static bool
skip_past(struct peeking *peeking, const char *text)
{
    const size_t n = strlen(text);
    const char *found = memmem(peeking->at, (size_t)(peeking->end - peeking->at), text, n);
    peeking->at = found ? found + n : peeking->end;
    return found != NULL;
}

/* name="value" lists; false: no more. */
static bool
read_attribute(struct peeking *peeking, struct slice *name, struct slice *value)
{
    skip_space(peeking);
    *name = read_name(peeking);
    if (name->length == 0) {
        return false;
    }
    skip_space(peeking);
    if (peeking->at >= peeking->end || *peeking->at != '=') {
        return false;
    }
    peeking->at++;
    skip_space(peeking);
    *value = read_quoted(peeking);
    return value->at != NULL;
}

static void
read_declaration(struct peeking *peeking, struct xml_peek *peek)
{
    struct peeking inner = *peeking;
    struct slice name, value;
    inner.at += 5;
    peek->declaration = true;
    while (read_attribute(&inner, &name, &value)) {
        if (slice_is(name, "encoding")) {
            peek->encoding = value;
        }
    }
    skip_past(peeking, "?>");
}

static void
read_entity(struct peeking *peeking)
{
    peeking->at += 8;
    skip_space(peeking);
    const struct slice name = read_name(peeking);
    skip_space(peeking);
    const struct slice value = read_quoted(peeking);
    if (name.length > 0 && value.at && peeking->entity_count < ENTITIES_MAXIMUM) {
        peeking->entities[peeking->entity_count++] = (struct entity){name, value};
    }
    skip_past(peeking, ">");
}

/* at stands after '['. */
static void
read_subset(struct peeking *peeking)
{
    while (peeking->at < peeking->end && *peeking->at != ']') {
        if (starts(peeking, "<!ENTITY")) {
            read_entity(peeking);
        } else if (starts(peeking, "<!--")) {
            skip_past(peeking, "-->");
        } else if (starts(peeking, "<?")) {
            skip_past(peeking, "?>");
        } else if (*peeking->at == '<') {
            skip_past(peeking, ">");
        } else {
            peeking->at++;
        }
    }
}

static void
read_doctype(struct peeking *peeking, struct xml_peek *peek)
{
    peeking->at += 9;
    skip_space(peeking);
    peek->doctype = read_name(peeking);
    while (peeking->at < peeking->end && *peeking->at != '>') {
        const char c = *peeking->at;
        if (c == '"' || c == '\'') {
            const struct slice quoted = read_quoted(peeking);
            if (!quoted.at) {
                peeking->at = peeking->end;
            } else if (!peek->public_id.at) {
                peek->public_id = quoted;
            }
        } else if (c == '[') {
            peeking->at++;
            read_subset(peeking);
        } else {
            peeking->at++;
        }
    }
    skip_past(peeking, ">");
}

/* Entities of the internal subset and the five of XML; one level, which is what documents use. */
static struct slice
expand(const struct peeking *peeking, struct slice value, struct buf *memory)
{
    if (slice_find(value, '&') == value.length) {
        return value;
    }
    buf_reset(memory);
    for (size_t i = 0; i < value.length && memory->length < NAMESPACE_MAXIMUM; i++) {
        const struct slice rest = {value.at + i + 1, value.length - i - 1};
        const size_t end = slice_find(rest, ';');
        bool known = false;
        for (size_t n = 0; value.at[i] == '&' && n < peeking->entity_count && !known; n++) {
            if (slice_equal(peeking->entities[n].name, slice_of(rest.at, end))) {
                buf_append_slice(memory, peeking->entities[n].value);
                known = true;
            }
        }
        if (known) {
            i += end + 1;
        } else if (value.at[i] == '&' && slice_starts(rest, SLICE("amp;"))) {
            buf_append_char(memory, '&');
            i += 4;
        } else {
            buf_append_char(memory, value.at[i]);
        }
    }
    return buf_slice(memory);
}

/* at stands on '<' of the root. */
static bool
read_root(struct peeking *peeking, struct buf *memory, struct xml_peek *peek)
{
    peeking->at++;
    struct slice name = read_name(peeking);
    if (name.length == 0) {
        return false;
    }
    const size_t colon = slice_find(name, ':');
    if (colon < name.length) {
        peek->prefix = slice_of(name.at, colon);
        name = slice_of(name.at + colon + 1, name.length - colon - 1);
    }
    struct slice attribute, value;
    while (read_attribute(peeking, &attribute, &value)) {
        const bool declares =
            peek->prefix.length == 0
                ? slice_is(attribute, "xmlns")
                : slice_starts(attribute, SLICE("xmlns:")) &&
                      slice_equal(slice_of(attribute.at + 6, attribute.length - 6), peek->prefix);
        if (declares) {
            peek->namespace = expand(peeking, value, memory);
        }
    }
    skip_space(peeking);
    if (peeking->at < peeking->end && *peeking->at != '>' && *peeking->at != '/') {
        return false;
    }
    peek->root = name;
    return name.length > 0;
}

bool
xml_peek(struct slice bytes, struct buf *memory, struct xml_peek *peek)
{
    struct peeking peeking = {.at = bytes.at, .end = bytes.at + bytes.length};
    *peek = (struct xml_peek){0};
    if (starts(&peeking, "\xEF\xBB\xBF")) {
        peeking.at += 3;
    }
    skip_space(&peeking);
    if (starts(&peeking, "<?xml") && peeking.end - peeking.at > 5 &&
        lexical_is(peeking.at[5], LEXICAL_SPACE)) {
        read_declaration(&peeking, peek);
    }
    for (;;) {
        skip_space(&peeking);
        if (starts(&peeking, "<!--")) {
            skip_past(&peeking, "-->");
        } else if (starts(&peeking, "<?")) {
            skip_past(&peeking, "?>");
        } else if (starts(&peeking, "<!DOCTYPE")) {
            read_doctype(&peeking, peek);
        } else if (peeking.at < peeking.end && *peeking.at == '<') {
            return read_root(&peeking, memory, peek);
        } else {
            return false;
        }
    }
}
