#include "metastore/record_rdf_emit.h"

#include <stdio.h>

#include "base/system/clock.h"
#include "rdf/core/lexical.h"

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

const char *
meta_node_label(enum node node)
{
    return nodes[node].label;
}

struct term
meta_node(const struct emit *emit, enum node node)
{
    return node == NODE_DOCUMENT ? emit->document : term_blank(slice_string(nodes[node].label));
}

void
meta_triple(struct emit *emit, struct term subject, const char *predicate, struct term object)
{
    if (emit->status == STATUS_OK) {
        const struct quad quad = {subject, term_iri(slice_string(predicate)), object, emit->graph};
        emit->status = emit->sink->quad(emit->sink->context, &quad, emit->why);
    }
}

struct term
meta_iri(const char *iri)
{
    return term_iri(slice_string(iri));
}

/* Bytes of a header that are no UTF-8 are Latin-1, as HTTP once had it. */
static struct slice
as_utf8(struct emit *emit, struct slice text)
{
    if (lexical_utf8_valid(text.at, text.length)) {
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

void
meta_literal(struct emit *emit, struct term subject, const char *predicate, struct slice text,
             const char *datatype)
{
    struct term object = term_literal(as_utf8(emit, text));
    object.datatype = slice_string(datatype);
    meta_triple(emit, subject, predicate, object);
}

void
meta_number(struct emit *emit, struct term subject, const char *predicate, uint64_t value,
            const char *datatype)
{
    char text[24];
    const int length = snprintf(text, sizeof text, "%lu", (unsigned long)value);
    meta_literal(emit, subject, predicate, slice_of(text, (size_t)length),
                 datatype != NULL ? datatype : XSD_INTEGER);
}

void
meta_date_time(struct emit *emit, struct term subject, const char *predicate, uint64_t wall_ms)
{
    char text[CLOCK_TEXT_SIZE];
    clock_text(wall_ms, 1, text);
    meta_literal(emit, subject, predicate, slice_string(text), XSD_DATE_TIME);
}

/* Not every stored URI is an IRI that RDF allows: servers redirect to anything. */
bool
meta_is_iri(struct slice text)
{
    for (size_t i = 0; i < text.length; i++) {
        const unsigned char c = (unsigned char)text.at[i];
        if (c <= ' ' || c == '<' || c == '>' || c == '"' || c == '{' || c == '}' || c == '|' ||
            c == '\\' || c == '^' || c == '`') {
            return false;
        }
    }
    return slice_find(text, ':') < text.length && lexical_utf8_valid(text.at, text.length);
}

void
meta_uri(struct emit *emit, struct term subject, const char *predicate, struct slice text)
{
    if (meta_is_iri(text)) {
        meta_triple(emit, subject, predicate, term_iri(text));
    } else {
        meta_literal(emit, subject, predicate, text, NULL);
    }
}

/* The node, its type told once; activities get their program, and what they used. */
struct term
meta_named(struct emit *emit, enum node node)
{
    const struct term term = meta_node(emit, node);
    if (emit->named[node]) {
        return term;
    }
    emit->named[node] = true;
    meta_triple(emit, term, RDF_TYPE, meta_iri(nodes[node].type));
    if (nodes[node].agent != NULL) {
        char label[64];
        snprintf(label, sizeof label, "%sAgent", nodes[node].label);
        const struct term agent = term_blank(slice_string(label));
        meta_triple(emit, term, PROV "wasAssociatedWith", agent);
        meta_triple(emit, agent, RDF_TYPE, meta_iri(PROV "SoftwareAgent"));
        meta_literal(emit, agent, DCTERMS "title", slice_string(nodes[node].agent), NULL);
    }
    return term;
}
