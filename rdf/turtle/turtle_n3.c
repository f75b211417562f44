/* N3 beyond Turtle: https://www.w3.org/TeamSubmission/n3/.
 *
 * What RDF can say is read: paths, inverse and symbolic verbs, the empty prefix that is `<#>`.
 * A formula is quoted, not asserted, so nothing in { } becomes a statement, nor does a triple
 * that has a formula, a variable, a literal subject or a verb that is no IRI: such are left out
 * with a problem in lenient parsing, silently else.
 */
#include "rdf/core/lexical.h"
#include "rdf/core/vocabulary.h"
#include "rdf/turtle/turtle_reader.h"

#define OWL_SAME_AS "http://www.w3.org/2002/07/owl#sameAs"
#define LOG_IMPLIES "http://www.w3.org/2000/10/swap/log#implies"

static void
leave_out(struct turtle_reader *reader, const char *message)
{
    if (reader->problems.lenient) {
        turtle_fail(reader, reader->at, message);
        (void)turtle_report(reader);
        reader->message = NULL;
    }
}

bool
n3_is_triple(struct turtle_reader *reader, const struct term *subject, const struct term *predicate,
             const struct term *object)
{
    if (subject->kind == TERM_NONE || predicate->kind == TERM_NONE || object->kind == TERM_NONE) {
        leave_out(reader, "a formula or variable, which RDF does not have: statement left out");
        return false;
    }
    if (subject->kind == TERM_LITERAL || predicate->kind != TERM_IRI) {
        leave_out(reader, "not allowed in RDF at its place: statement left out");
        return false;
    }
    return true;
}

enum status
n3_begin(struct turtle_reader *reader, struct slice base)
{
    base.length = slice_find(base, '#');
    const struct slice space = scratch_join(&reader->scratch, base, SLICE("#"));
    return turtle_set_namespace(reader, (struct slice){0}, space);
}

/* Behind the string that begins here; `end` when it does not end. */
static const char *
behind_string(const char *at, const char *end)
{
    const char quote = *at;
    const bool is_long = end - at > 2 && at[1] == quote && at[2] == quote;
    at += is_long ? 3 : 1;
    while (at < end) {
        if (*at == '\\') {
            at += end - at > 1 ? 2 : 1;
        } else if (*at == quote &&
                   (!is_long || (end - at > 2 && at[1] == quote && at[2] == quote))) {
            return at + (is_long ? 3 : 1);
        } else {
            at++;
        }
    }
    return end;
}

/* Behind <IRI>, or one further when it is an arrow. */
static const char *
behind_iri(const char *at, const char *end)
{
    const char *to = at + 1;
    while (to < end && !lexical_is(*to, LEXICAL_IRI_STOP)) {
        to++;
    }
    return to < end && *to == '>' ? to + 1 : at + 1;
}

static enum status
skip_formula(struct turtle_reader *reader)
{
    const char *start = reader->at;
    size_t depth = 0;
    while (reader->at < reader->end) {
        const char c = *reader->at;
        if (c == '#') {
            turtle_skip(reader);
        } else if (c == '"' || c == '\'') {
            reader->at = behind_string(reader->at, reader->end);
        } else if (c == '<') {
            reader->at = behind_iri(reader->at, reader->end);
        } else {
            reader->at++;
            depth += c == '{';
            if (c == '}' && --depth == 0) {
                return STATUS_OK;
            }
        }
    }
    return turtle_fail(reader, start, "formula does not end");
}

enum status
n3_read_quoted(struct turtle_reader *reader, struct term *term)
{
    *term = (struct term){0};
    if (*reader->at == '{') {
        return skip_formula(reader);
    }
    reader->at++;
    const char *start = reader->at;
    int length;
    while (reader->at < reader->end &&
           (length = lexical_name_length(reader->at, reader->end)) > 0) {
        reader->at += length;
    }
    return reader->at > start ? STATUS_OK
                              : turtle_fail(reader, start, "expected the name of a variable");
}

enum status
n3_read_path(struct turtle_reader *reader, struct term *term, turtle_read_term *read_item)
{
    for (;;) {
        turtle_skip(reader);
        const char c = turtle_peek(reader);
        if (c != '!' && c != '^') {
            return STATUS_OK;
        }
        reader->at++;
        turtle_skip(reader);
        struct term predicate;
        TRY(read_item(reader, &predicate));
        const struct term node = turtle_made_blank(reader);
        const uint32_t line = turtle_line(reader);
        TRY(c == '!' ? turtle_emit(reader, line, term, &predicate, &node)
                     : turtle_emit(reader, line, &node, &predicate, term));
        *term = node;
    }
}

/* A keyword, with or without its @. */
static bool
take_word(struct turtle_reader *reader, const char *word)
{
    const char *start = reader->at;
    reader->at += turtle_peek(reader) == '@';
    if (turtle_at_word(reader, word, false)) {
        reader->at += strlen(word);
        turtle_skip(reader);
        return true;
    }
    reader->at = start;
    return false;
}

/* =, =>, <= */
static bool
take_symbol(struct turtle_reader *reader, struct term *verb, bool *inverse)
{
    const char c = turtle_peek(reader);
    const char next = reader->end - reader->at > 1 ? reader->at[1] : 0;
    const bool implies = (c == '=' && next == '>') || (c == '<' && next == '=');
    if (!implies && c != '=') {
        return false;
    }
    *verb = term_iri(implies ? SLICE(LOG_IMPLIES) : SLICE(OWL_SAME_AS));
    *inverse = c == '<';
    reader->at += implies ? 2 : 1;
    return true;
}

enum status
n3_read_verb(struct turtle_reader *reader, struct term *verb, bool *inverse,
             turtle_read_term *read_object)
{
    if (take_symbol(reader, verb, inverse)) {
        return STATUS_OK;
    }
    if (take_word(reader, "a")) {
        *verb = term_iri(SLICE(RDF_TYPE));
        return STATUS_OK;
    }
    if (take_word(reader, "is")) {
        *inverse = true;
        TRY(read_object(reader, verb));
        turtle_skip(reader);
        return take_word(reader, "of") ? STATUS_OK
                                       : turtle_fail(reader, reader->at, "expected 'of'");
    }
    take_word(reader, "has");
    return read_object(reader, verb);
}

bool
n3_at_declaration(const struct turtle_reader *reader)
{
    return *reader->at == '@' &&
           (turtle_at_word(reader, "@forAll", false) || turtle_at_word(reader, "@forSome", false) ||
            turtle_at_word(reader, "@keywords", false));
}

enum status
n3_skip_declaration(struct turtle_reader *reader)
{
    leave_out(reader, "a declaration of N3 was passed over");
    while (reader->at < reader->end) {
        const char c = *reader->at;
        if (c == '.' &&
            (reader->at + 1 == reader->end || lexical_is(reader->at[1], LEXICAL_SPACE))) {
            return STATUS_OK;
        }
        if (c == '#') {
            turtle_skip(reader);
        } else if (c == '<') {
            reader->at = behind_iri(reader->at, reader->end);
        } else {
            reader->at++;
        }
    }
    return STATUS_OK;
}
