/* Each subject's triples are a run of the sorted graph. A blank node that is the object of
 * one triple is written inside it; what that leaves out (nodes that refer to each other in a
 * ring, or lie too deep) is written at the end with its label.
 */
#include "rdf/turtle/turtle_writer.h"

#include <stdlib.h>

#include "base/memory.h"
#include "rdf/canonical/blank_index.h"
#include "rdf/core/lexical.h"
#include "rdf/core/vocabulary.h"
#include "rdf/core/writer.h"

enum { NESTING = 32 };

const struct turtle_prefix turtle_prefixes[] = {
    {"rdf", RDF_NAMESPACE},
    {"rdfs", "http://www.w3.org/2000/01/rdf-schema#"},
    {"xsd", XSD_NAMESPACE},
    {"owl", "http://www.w3.org/2002/07/owl#"},
    {"dc", "http://purl.org/dc/elements/1.1/"},
    {"dcterms", "http://purl.org/dc/terms/"},
    {"dcat", "http://www.w3.org/ns/dcat#"},
    {"foaf", "http://xmlns.com/foaf/0.1/"},
    {"http", "http://www.w3.org/2011/http#"},
    {"prov", "http://www.w3.org/ns/prov#"},
    {"schema", "https://schema.org/"},
    {"sioc", "http://rdfs.org/sioc/ns#"},
    {"skos", "http://www.w3.org/2004/02/skos/core#"},
    {"void", "http://rdfs.org/ns/void#"},
    {"xhv", "http://www.w3.org/1999/xhtml/vocab#"},
    {NULL, NULL},
};

struct turtle_writer {
    struct buf *out;
    const struct graph *graph;
    const struct turtle_prefix *prefixes;
    bool *used; /* of each prefix */
    struct blank_index blanks;
    uint32_t *references; /* of each blank node: as object */
    bool *written;        /* of each blank node, as subject */
    unsigned depth;
};

/* The IRI behind the prefix as a local name that needs no escapes. */
static bool
is_plain_local(struct slice local)
{
    if (local.length == 0) {
        return true;
    }
    if (!lexical_is(local.at[0], LEXICAL_NAME_START | LEXICAL_DIGIT) ||
        local.at[local.length - 1] == '.') {
        return false;
    }
    for (size_t i = 0; i < local.length; i++) {
        if (!lexical_is(local.at[i], LEXICAL_NAME) && local.at[i] != '.') {
            return false;
        }
    }
    return true;
}

static void
write_iri(struct turtle_writer *writer, struct slice iri)
{
    for (size_t i = 0; writer->prefixes[i].prefix != NULL; i++) {
        const struct slice space = slice_string(writer->prefixes[i].iri);
        if (!slice_starts(iri, space)) {
            continue;
        }
        const struct slice local = slice_of(iri.at + space.length, iri.length - space.length);
        if (is_plain_local(local)) {
            writer->used[i] = true;
            buf_append_string(writer->out, writer->prefixes[i].prefix);
            buf_append_char(writer->out, ':');
            buf_append_slice(writer->out, local);
            return;
        }
    }
    const struct term term = term_iri(iri);
    nquads_write_term(writer->out, &term);
}

/* Literals that Turtle writes without quotes and datatype. */
static bool
is_bare(const struct term *literal)
{
    const struct slice text = literal->value;
    if (slice_is(literal->datatype, XSD_BOOLEAN)) {
        return slice_is(text, "true") || slice_is(text, "false");
    }
    if (!slice_is(literal->datatype, XSD_INTEGER) || text.length == 0) {
        return false;
    }
    const size_t sign = text.at[0] == '-' || text.at[0] == '+';
    for (size_t i = sign; i < text.length; i++) {
        if (!lexical_is(text.at[i], LEXICAL_DIGIT)) {
            return false;
        }
    }
    return text.length > sign;
}

static void
write_literal(struct turtle_writer *writer, const struct term *literal)
{
    if (is_bare(literal)) {
        buf_append_slice(writer->out, literal->value);
        return;
    }
    struct term untyped = *literal;
    untyped.datatype = (struct slice){NULL, 0};
    nquads_write_term(writer->out, &untyped);
    if (literal->language.length == 0 && literal->datatype.length > 0 &&
        !slice_is(literal->datatype, XSD_STRING)) {
        buf_append_string(writer->out, "^^");
        write_iri(writer, literal->datatype);
    }
}

/* ---- runs of the graph ---- */

/* The first quad whose subject is not below the term. */
static size_t
find_subject(const struct graph *graph, const struct term *subject)
{
    size_t low = 0, high = graph->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (term_compare(&graph->quads[middle].subject, subject) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static size_t
end_of_subject(const struct graph *graph, size_t from)
{
    size_t to = from + 1;
    while (to < graph->count &&
           term_equal(&graph->quads[to].subject, &graph->quads[from].subject)) {
        to++;
    }
    return to;
}

/* Tells whether the same triple stands right before, in another graph. */
static bool
is_repeated(const struct graph *graph, size_t i)
{
    return i > 0 && term_equal(&graph->quads[i - 1].subject, &graph->quads[i].subject) &&
           term_equal(&graph->quads[i - 1].predicate, &graph->quads[i].predicate) &&
           term_equal(&graph->quads[i - 1].object, &graph->quads[i].object);
}

static bool
is_type(const struct graph *graph, size_t i)
{
    return slice_is(graph->quads[i].predicate.value, RDF_TYPE);
}

/* ---- writing ---- */

static void write_properties(struct turtle_writer *writer, size_t from, size_t to);

static void
indent(struct turtle_writer *writer)
{
    buf_append_char(writer->out, '\n');
    for (unsigned i = 0; i <= writer->depth; i++) {
        buf_append_string(writer->out, "    ");
    }
}

/* A blank node as object: [ ... ] or its label. */
static void
write_blank(struct turtle_writer *writer, const struct term *node, uint32_t number)
{
    if (writer->references[number] != 1 || writer->written[number] || writer->depth == NESTING) {
        writer->references[number] = BLANK_NONE; /* it needs its label as subject, too */
        nquads_write_term(writer->out, node);
        return;
    }
    writer->written[number] = true;
    const size_t from = find_subject(writer->graph, node);
    if (from == writer->graph->count || !term_equal(&writer->graph->quads[from].subject, node)) {
        buf_append_string(writer->out, "[]");
        return;
    }
    buf_append_string(writer->out, "[");
    writer->depth++;
    write_properties(writer, from, end_of_subject(writer->graph, from));
    writer->depth--;
    indent(writer);
    buf_append_string(writer->out, "]");
}

static void
write_object(struct turtle_writer *writer, size_t i)
{
    const struct term *object = &writer->graph->quads[i].object;
    if (object->kind == TERM_IRI) {
        write_iri(writer, object->value);
    } else if (object->kind == TERM_LITERAL) {
        write_literal(writer, object);
    } else {
        write_blank(writer, object, writer->blanks.places[i][1]);
    }
}

/* The quads from..to that are types, or those that are not. */
static void
write_some(struct turtle_writer *writer, size_t from, size_t to, bool types, bool *begun)
{
    const struct term *latest = NULL;
    for (size_t i = from; i < to; i++) {
        const struct term *predicate = &writer->graph->quads[i].predicate;
        if (is_type(writer->graph, i) != types || is_repeated(writer->graph, i)) {
            continue;
        }
        if (latest != NULL && term_equal(latest, predicate)) {
            buf_append_string(writer->out, ", ");
        } else {
            buf_append_string(writer->out, *begun ? " ;" : "");
            indent(writer);
            if (types) {
                buf_append_char(writer->out, 'a');
            } else {
                write_iri(writer, predicate->value);
            }
            buf_append_char(writer->out, ' ');
        }
        latest = predicate;
        *begun = true;
        write_object(writer, i);
    }
}

static void
write_properties(struct turtle_writer *writer, size_t from, size_t to)
{
    bool begun = false;
    write_some(writer, from, to, true, &begun);
    write_some(writer, from, to, false, &begun);
}

static void
write_subject(struct turtle_writer *writer, size_t from, size_t to)
{
    const struct term *subject = &writer->graph->quads[from].subject;
    buf_append_char(writer->out, '\n');
    if (subject->kind == TERM_IRI) {
        write_iri(writer, subject->value);
    } else {
        const uint32_t number = writer->blanks.places[from][0];
        writer->written[number] = true;
        if (writer->references[number] == 0) {
            buf_append_string(writer->out, "[]");
        } else {
            nquads_write_term(writer->out, subject);
        }
    }
    write_properties(writer, from, to);
    buf_append_string(writer->out, " .\n");
}

/* Subjects that stand by themselves; then, `late`, blank nodes that nothing has written. */
static void
write_subjects(struct turtle_writer *writer, bool late)
{
    const struct graph *graph = writer->graph;
    for (size_t from = 0, to; from < graph->count; from = to) {
        to = end_of_subject(graph, from);
        bool own = !late;
        if (graph->quads[from].subject.kind == TERM_BLANK) {
            const uint32_t number = writer->blanks.places[from][0];
            own = !writer->written[number] && (late || writer->references[number] != 1);
            writer->references[number] = own && late ? BLANK_NONE : writer->references[number];
        }
        if (own) {
            write_subject(writer, from, to);
        }
    }
}

static void
count_references(struct turtle_writer *writer)
{
    for (size_t i = 0; writer->blanks.count > 0 && i < writer->graph->count; i++) {
        const uint32_t number = writer->blanks.places[i][1];
        if (number != BLANK_NONE && !is_repeated(writer->graph, i)) {
            writer->references[number]++;
        }
    }
}

static void
write_prefixes(const struct turtle_writer *writer, struct buf *out)
{
    for (size_t i = 0; writer->prefixes[i].prefix != NULL; i++) {
        if (writer->used[i]) {
            buf_append_string(out, "@prefix ");
            buf_append_string(out, writer->prefixes[i].prefix);
            buf_append_string(out, ": <");
            buf_append_string(out, writer->prefixes[i].iri);
            buf_append_string(out, "> .\n");
        }
    }
}

enum status
turtle_write(struct buf *out, struct graph *graph, const struct turtle_prefix *prefixes,
             struct reason *why)
{
    struct turtle_writer writer = {.graph = graph,
                                   .prefixes = prefixes != NULL ? prefixes : turtle_prefixes};
    size_t count = 0;
    struct buf body;
    graph_sort_unique(graph);
    while (writer.prefixes[count].prefix != NULL) {
        count++;
    }
    buf_init(&body, out->maximum);
    blank_index_build(&writer.blanks, graph);
    writer.out = &body;
    writer.used = memory_zero(count + 1, sizeof *writer.used);
    writer.references = memory_zero(writer.blanks.count + 1, sizeof *writer.references);
    writer.written = memory_zero(writer.blanks.count + 1, sizeof *writer.written);
    count_references(&writer);
    write_subjects(&writer, false);
    write_subjects(&writer, true);
    write_prefixes(&writer, out);
    buf_append_slice(out, buf_slice(&body));
    const bool fits = !body.overflowed && !out->overflowed;
    free(writer.used);
    free(writer.references);
    free(writer.written);
    blank_index_release(&writer.blanks);
    buf_release(&body);
    return fits ? STATUS_OK
                : status_fail(why, STATUS_LIMIT, "Turtle would be longer than %zu bytes",
                              out->maximum);
}
