/* Turtle and TriG by recursive descent, a function for each production of the grammars.
 *
 * Only [ ] and ( ) recurse; their depth is bounded. Terms are slices of the document where
 * nothing has to be decoded, expanded or resolved; else they lie in a scratch stack, which
 * each loop rewinds after the statements that used them.
 */
#include "rdf/turtle/turtle.h"

#include <stdlib.h>

#include "rdf/core/blank_label.h"
#include "rdf/core/lexical.h"
#include "rdf/core/vocabulary.h"
#include "rdf/turtle/turtle_reader.h"

static enum status read_object(struct turtle_reader *reader, struct term *object);
static enum status read_predicate_object_list(struct turtle_reader *reader,
                                              const struct term *subject);

uint32_t
turtle_line_at(struct turtle_reader *reader, const char *at)
{
    if (at < reader->counted) {
        reader->counted = reader->line_start = reader->start;
        reader->line = reader->first_line;
    }
    const char *newline;
    while (reader->counted < at &&
           (newline = memchr(reader->counted, '\n', (size_t)(at - reader->counted))) != NULL) {
        reader->line++;
        reader->counted = reader->line_start = newline + 1;
    }
    return (uint32_t)reader->line;
}

uint32_t
turtle_line(struct turtle_reader *reader)
{
    return reader->lines ? turtle_line_at(reader, reader->at) : 0;
}

enum status
turtle_emit(struct turtle_reader *reader, uint32_t line, const struct term *subject,
            const struct term *predicate, const struct term *object)
{
    if (reader->n3 && !n3_is_triple(reader, subject, predicate, object)) {
        return STATUS_OK;
    }
    const struct quad quad = {*subject, *predicate, *object, reader->graph, line, 0};
    return reader->sink.quad(reader->sink.context, &quad, reader->why);
}

static enum status
expect(struct turtle_reader *reader, char c, const char *message)
{
    turtle_skip(reader);
    if (turtle_peek(reader) != c) {
        return turtle_fail(reader, reader->at, message);
    }
    reader->at++;
    return STATUS_OK;
}

static enum status
descend(struct turtle_reader *reader)
{
    if (reader->depth == reader->depth_maximum) {
        return status_fail(reader->why, STATUS_LIMIT, "nesting is deeper than %u levels",
                           reader->depth_maximum);
    }
    reader->depth++;
    return STATUS_OK;
}

struct term
turtle_made_blank(struct turtle_reader *reader)
{
    char *text = scratch_take(&reader->scratch, BLANK_LABEL_SIZE);
    return term_blank(blank_label_made(reader->generated++, text));
}

/* '[' predicateObjectList ']', or ANON; then *empty. */
static enum status
read_blank_property_list(struct turtle_reader *reader, struct term *node, bool *empty)
{
    *node = turtle_made_blank(reader);
    reader->at++;
    turtle_skip(reader);
    *empty = turtle_peek(reader) == ']';
    if (*empty) {
        reader->at++;
        return STATUS_OK;
    }
    TRY(descend(reader));
    TRY(read_predicate_object_list(reader, node));
    reader->depth--;
    return expect(reader, ']', "expected ']'");
}

/* '(' object* ')' */
static enum status
read_collection(struct turtle_reader *reader, struct term *head)
{
    const struct term first = term_iri(SLICE(RDF_FIRST)), rest = term_iri(SLICE(RDF_REST));
    const struct term nil = term_iri(SLICE(RDF_NIL));
    char labels[2][BLANK_LABEL_SIZE]; /* of this cell and the next */
    struct term cell = nil;
    *head = nil;
    reader->at++;
    TRY(descend(reader));
    for (unsigned i = 0;; i++) {
        turtle_skip(reader);
        if (turtle_peek(reader) == ')') {
            reader->at++;
            break;
        }
        const uint32_t line = turtle_line(reader);
        struct term next;
        if (i == 0) {
            next = *head = turtle_made_blank(reader);
        } else {
            next = term_blank(blank_label_made(reader->generated++, labels[i % 2]));
            TRY(turtle_emit(reader, line, &cell, &rest, &next));
        }
        cell = next;
        const struct scratch_mark mark = scratch_mark(&reader->scratch);
        struct term object;
        TRY(read_object(reader, &object));
        TRY(turtle_emit(reader, line, &cell, &first, &object));
        scratch_rewind(&reader->scratch, mark);
    }
    reader->depth--;
    return cell.kind == TERM_IRI ? STATUS_OK
                                 : turtle_emit(reader, turtle_line(reader), &cell, &rest, &nil);
}

static enum status
read_boolean_or_name(struct turtle_reader *reader, struct term *object)
{
    const char *words[] = {"true", "false"};
    for (size_t i = 0; i < 2; i++) {
        if (*reader->at == words[i][0] && turtle_at_word(reader, words[i], false)) {
            *object = (struct term){.kind = TERM_LITERAL,
                                    .value = slice_string(words[i]),
                                    .datatype = SLICE(XSD_BOOLEAN)};
            reader->at += strlen(words[i]);
            return STATUS_OK;
        }
    }
    *object = term_iri(SLICE(""));
    return turtle_read_prefixed(reader, &object->value);
}

static enum status
read_item(struct turtle_reader *reader, struct term *object)
{
    bool empty = false;
    const char c = turtle_peek(reader);
    switch (c) {
    case '<':
        *object = term_iri(SLICE(""));
        return turtle_read_iriref(reader, &object->value);
    case '_':
        *object = term_blank(SLICE(""));
        return turtle_read_blank(reader, &object->value);
    case '[':
        return read_blank_property_list(reader, object, &empty);
    case '(':
        return read_collection(reader, object);
    case '"':
    case '\'':
        return turtle_read_literal(reader, object);
    case '+':
    case '-':
    case '.':
        return turtle_read_number(reader, object);
    case 0:
        return turtle_fail(reader, reader->at, "expected an object");
    default:
        return lexical_is(c, LEXICAL_DIGIT) ? turtle_read_number(reader, object)
                                            : read_boolean_or_name(reader, object);
    }
}

static enum status
read_object(struct turtle_reader *reader, struct term *object)
{
    if (!reader->n3) {
        return read_item(reader, object);
    }
    if (turtle_peek(reader) == '{' || turtle_peek(reader) == '?') {
        TRY(n3_read_quoted(reader, object));
    } else {
        TRY(read_item(reader, object));
    }
    return n3_read_path(reader, object, read_item);
}

/* object (',' object)*; inverse, in N3: what is read are the subjects. */
static enum status
read_object_list(struct turtle_reader *reader, const struct term *subject,
                 const struct term *predicate, bool inverse)
{
    for (;;) {
        const struct scratch_mark mark = scratch_mark(&reader->scratch);
        struct term object;
        turtle_skip(reader);
        const uint32_t line = turtle_line(reader);
        TRY(read_object(reader, &object));
        TRY(inverse ? turtle_emit(reader, line, &object, predicate, subject)
                    : turtle_emit(reader, line, subject, predicate, &object));
        scratch_rewind(&reader->scratch, mark);
        turtle_skip(reader);
        if (turtle_peek(reader) != ',') {
            return STATUS_OK;
        }
        reader->at++;
    }
}

static enum status
read_verb(struct turtle_reader *reader, struct term *verb)
{
    *verb = term_iri(SLICE(RDF_TYPE));
    if (turtle_peek(reader) == 'a' && turtle_at_word(reader, "a", false)) {
        reader->at++;
        return STATUS_OK;
    }
    return turtle_read_iri(reader, &verb->value);
}

/* verb objectList (';' (verb objectList)?)* */
static enum status
read_predicate_object_list(struct turtle_reader *reader, const struct term *subject)
{
    turtle_skip(reader);
    for (;;) {
        const struct scratch_mark mark = scratch_mark(&reader->scratch);
        struct term verb;
        bool inverse = false;
        TRY(reader->n3 ? n3_read_verb(reader, &verb, &inverse, read_object)
                       : read_verb(reader, &verb));
        TRY(read_object_list(reader, subject, &verb, inverse));
        scratch_rewind(&reader->scratch, mark);
        if (turtle_peek(reader) != ';') {
            return STATUS_OK;
        }
        while (turtle_peek(reader) == ';') {
            reader->at++;
            turtle_skip(reader);
        }
        const char c = turtle_peek(reader);
        if (c == '.' || c == ']' || c == '}' || c == 0) {
            return STATUS_OK;
        }
    }
}

/* The subject of triples. *complete: it is a [ ] with content, so nothing need follow;
 * *label: it may name a graph. */
static enum status
read_subject(struct turtle_reader *reader, struct term *subject, bool *complete, bool *label)
{
    bool empty = true;
    enum status status;
    if (reader->n3 && turtle_peek(reader) != '[') {
        *complete = *label = false;
        TRY(read_object(reader, subject));
        turtle_skip(reader);
        *complete = turtle_peek(reader) == '.'; /* a path or a formula may stand alone */
        return STATUS_OK;
    }
    switch (turtle_peek(reader)) {
    case '[':
        status = read_blank_property_list(reader, subject, &empty);
        break;
    case '(':
        *label = false;
        *complete = false;
        return read_collection(reader, subject);
    case '_':
        *subject = term_blank(SLICE(""));
        status = turtle_read_blank(reader, &subject->value);
        break;
    default:
        *subject = term_iri(SLICE(""));
        status = turtle_read_iri(reader, &subject->value);
        break;
    }
    *complete = !empty;
    *label = empty;
    return status != STATUS_OK || !reader->n3 ? status : n3_read_path(reader, subject, read_item);
}

static enum status
read_predicates(struct turtle_reader *reader, const struct term *subject, bool complete)
{
    turtle_skip(reader);
    const char c = turtle_peek(reader);
    if (complete && (c == '.' || c == '}')) {
        return STATUS_OK;
    }
    return read_predicate_object_list(reader, subject);
}

static enum status
open_graph(struct turtle_reader *reader, const struct term *label)
{
    reader->at++;
    buf_reset(&reader->graph_label);
    if (buf_append_slice(&reader->graph_label, label->value) != STATUS_OK) {
        return turtle_fail(reader, reader->at, "graph name is too long");
    }
    reader->graph = (struct term){.kind = label->kind, .value = buf_slice(&reader->graph_label)};
    reader->in_graph = true;
    return STATUS_OK;
}

/* Outside { }: triples '.', or what names a graph and its '{'. */
static enum status
read_triples_or_graph(struct turtle_reader *reader)
{
    struct term subject;
    bool complete, label;
    TRY(read_subject(reader, &subject, &complete, &label));
    turtle_skip(reader);
    if (reader->trig && label && turtle_peek(reader) == '{') {
        return open_graph(reader, &subject);
    }
    TRY(read_predicates(reader, &subject, complete));
    return expect(reader, '.', "expected '.', ';' or ','");
}

/* Inside { }: '}', or triples and the '.' that may lack before '}'. */
static enum status
read_in_graph(struct turtle_reader *reader)
{
    if (turtle_peek(reader) == '}') {
        reader->at++;
        reader->in_graph = false;
        reader->graph = (struct term){0};
        return STATUS_OK;
    }
    struct term subject;
    bool complete, label;
    TRY(read_subject(reader, &subject, &complete, &label));
    TRY(read_predicates(reader, &subject, complete));
    return turtle_peek(reader) == '}' ? STATUS_OK
                                      : expect(reader, '.', "expected '.', ';', ',' or '}'");
}

static enum status
read_prefix_directive(struct turtle_reader *reader)
{
    struct slice prefix, iri;
    turtle_skip(reader);
    TRY(turtle_read_prefix(reader, &prefix));
    turtle_skip(reader);
    TRY(turtle_read_iriref(reader, &iri));
    return turtle_set_namespace(reader, prefix, iri);
}

static enum status
read_base_directive(struct turtle_reader *reader)
{
    struct slice iri;
    turtle_skip(reader);
    TRY(turtle_read_iriref(reader, &iri));
    return turtle_set_base(reader, iri);
}

static enum status
read_graph_keyword(struct turtle_reader *reader)
{
    struct term graph;
    bool complete, label;
    turtle_skip(reader);
    const char *start = reader->at;
    TRY(read_subject(reader, &graph, &complete, &label));
    if (!label) {
        return turtle_fail(reader, start, "expected the name of a graph");
    }
    turtle_skip(reader);
    return turtle_peek(reader) == '{' ? open_graph(reader, &graph)
                                      : turtle_fail(reader, reader->at, "expected '{'");
}

/* A word that starts a statement. `dot`: of Turtle, ended by '.'; else of SPARQL. */
static const struct directive {
    const char *word;
    bool dot, trig;
    enum status (*read)(struct turtle_reader *reader);
} directives[] = {
    {"@prefix", true, false, read_prefix_directive}, {"@base", true, false, read_base_directive},
    {"PREFIX", false, false, read_prefix_directive}, {"BASE", false, false, read_base_directive},
    {"GRAPH", false, true, read_graph_keyword},
};

static const struct directive *
find_directive(const struct turtle_reader *reader)
{
    const char c = *reader->at;
    if (c != '@' && strchr("pPbBgG", c) == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++) {
        const struct directive *directive = &directives[i];
        if ((reader->trig || !directive->trig) &&
            turtle_at_word(reader, directive->word, !directive->dot)) {
            return directive;
        }
    }
    return NULL;
}

static enum status
read_statement(struct turtle_reader *reader)
{
    if (reader->in_graph) {
        return read_in_graph(reader);
    }
    if (reader->trig && *reader->at == '{') {
        return open_graph(reader, &(struct term){0});
    }
    if (reader->n3 && n3_at_declaration(reader)) {
        TRY(n3_skip_declaration(reader));
        return expect(reader, '.', "expected '.'");
    }
    const struct directive *directive = find_directive(reader);
    if (directive == NULL) {
        return read_triples_or_graph(reader);
    }
    reader->at += strlen(directive->word);
    TRY(directive->read(reader));
    return directive->dot ? expect(reader, '.', "expected '.'") : STATUS_OK;
}

/* ---- errors ---- */

enum status
turtle_report(struct turtle_reader *reader)
{
    const uint32_t line = turtle_line_at(reader, reader->fault);
    return problem_report(&reader->problems, line,
                          (uint64_t)(reader->fault - reader->line_start) + 1, reader->message,
                          reader->why);
}

/* Behind the next line that ends in '.' or, in a graph, '}'. */
static void
recover(struct turtle_reader *reader)
{
    const char *from = reader->fault > reader->at ? reader->fault : reader->at;
    reader->depth = 0;
    reader->at = reader->end;
    for (const char *at = from; at < reader->end; at++) {
        const char *newline = memchr(at, '\n', (size_t)(reader->end - at));
        if (newline == NULL) {
            return;
        }
        const char *last = newline;
        while (last > from && lexical_is(last[-1], LEXICAL_SPACE)) {
            last--;
        }
        if (last > from && (last[-1] == '.' || (reader->in_graph && last[-1] == '}'))) {
            if (last[-1] == '}') {
                reader->in_graph = false;
                reader->graph = (struct term){0};
            }
            reader->at = newline + 1;
            return;
        }
        at = newline;
    }
}

enum status
turtle_read_statements(struct turtle_reader *reader, bool last)
{
    const struct scratch_mark mark = scratch_mark(&reader->scratch);
    for (;;) {
        enum status status;
        turtle_skip(reader);
        if (reader->at < reader->end) {
            status = read_statement(reader);
        } else if (reader->in_graph && last) {
            reader->in_graph = false;
            status = turtle_fail(reader, reader->at, "expected '}'");
        } else {
            return STATUS_OK;
        }
        scratch_rewind(&reader->scratch, mark);
        if (status == STATUS_BAD_INPUT && reader->message != NULL) {
            TRY(turtle_report(reader));
            recover(reader);
            reader->message = NULL;
        } else if (status != STATUS_OK) {
            return status;
        }
    }
}
