/* Terms and patterns as people type them. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/shared/cli.h"
#include "index/query/parser/prefixes.h"
#include "rdf/core/vocabulary.h"
#include "rdf/nquads/nquads.h"

struct term_taker {
    struct arena *arena;
    struct term *term;
};

static enum status
take_object(void *context, const struct quad *quad, struct reason *why)
{
    struct term_taker *taker = context;
    (void)why;
    return term_copy(taker->arena, &quad->object, taker->term) ? STATUS_OK : STATUS_LIMIT;
}

/* Schemes that people write IRIs with, so that a prefix that is not known is told. */
static bool
has_scheme(const char *text)
{
    static const char *const opaque[] = {"urn:", "mailto:", "tel:", "tag:", "info:", "doi:"};
    for (size_t i = 0; i < sizeof opaque / sizeof opaque[0]; i++) {
        if (strncasecmp(text, opaque[i], strlen(opaque[i])) == 0) {
            return true;
        }
    }
    return strstr(text, "://") != NULL;
}

/* Appends the term at text in the form of N-Triples. */
static enum status
spell_term(const char *text, struct buf *out, struct reason *why)
{
    const char *colon = strchr(text, ':');
    if (strchr("<\"_", text[0]) != NULL) {
        const char *datatype = text[0] == '"' ? strrchr(text, '^') : NULL;
        if (datatype == NULL || datatype[1] == '<' || strchr(datatype, '"') != NULL) {
            buf_append_string(out, text);
            return STATUS_OK;
        }
        buf_append(out, text, (size_t)(datatype + 1 - text));
        return spell_term(datatype + 1, out, why);
    }
    if (strcmp(text, "a") == 0) {
        buf_append_string(out, "<" RDF_TYPE ">");
        return STATUS_OK;
    }
    const char *iri = colon != NULL && strncmp(colon, "://", 3) != 0
                          ? prefix_iri(slice_of(text, (size_t)(colon - text)))
                          : NULL;
    if (iri != NULL) {
        buf_printf(out, "<%s%s>", iri, colon + 1);
        return STATUS_OK;
    }
    if (colon != NULL && !has_scheme(text)) {
        return status_fail(
            why, STATUS_MISUSE,
            "the prefix of %.200s is not known (quadrille prefixes); if it is an IRI, "
            "write <%.200s>",
            text, text);
    }
    buf_printf(out, "<%s>", text);
    return STATUS_OK;
}

enum status
cli_parse_term(const char *text, struct arena *arena, struct term *term, struct reason *why)
{
    struct term_taker taker = {arena, term};
    const struct quad_sink sink = {take_object, &taker};
    struct buf line;
    if (text == NULL) {
        return STATUS_OK;
    }
    buf_init(&line, CLI_TERM_MAXIMUM);
    buf_append_string(&line, "<urn:s> <urn:p> ");
    enum status status = spell_term(text, &line, why);
    buf_append_string(&line, " .\n");
    if (status == STATUS_OK) {
        status = line.overflowed ? status_fail(why, STATUS_LIMIT, "term too long")
                                 : nquads_parse(buf_slice(&line), NULL, &sink, NULL);
    }
    buf_release(&line);
    if (status == STATUS_BAD_INPUT || (status == STATUS_OK && term->kind == TERM_NONE)) {
        status = status_fail(why, STATUS_MISUSE,
                             "%.200s is no term: write <IRI>, \"text\", \"text\"@en, "
                             "\"5\"^^<IRI>, an IRI, or a name like dcterms:title",
                             text);
    }
    return status;
}

/* Finds where the term at text ends: blanks part terms, but not inside of quotes. */
static size_t
term_length(const char *text)
{
    size_t n = 0;
    if (text[0] == '"') {
        for (n = 1; text[n] != '\0' && text[n] != '"'; n++) {
            n += text[n] == '\\' && text[n + 1] != '\0';
        }
    }
    while (text[n] != '\0' && !isspace((unsigned char)text[n])) {
        n++;
    }
    return n;
}

enum status
cli_parse_pattern(const char *text, struct arena *arena, struct cli_pattern *pattern,
                  struct reason *why)
{
    struct quad *quad = &pattern->quad;
    struct term *const places[] = {&quad->subject, &quad->predicate, &quad->object, &quad->graph};
    struct slice names[4];
    unsigned count = 0;
    enum status status = STATUS_OK;
    *pattern = (struct cli_pattern){.same = {0, 1, 2, 3}};
    while (status == STATUS_OK) {
        text += strspn(text, " \t\r\n");
        const size_t length = term_length(text);
        if (length == 0 ||
            (length == 1 && text[0] == '.' && text[1 + strspn(text + 1, " \t\r\n")] == '\0')) {
            break;
        }
        if (count == 4) {
            return status_fail(why, STATUS_MISUSE, "a pattern has three or four terms");
        }
        names[count] = slice_of(text, text[0] == '?' ? length : 0);
        if (text[0] != '?') {
            char *term = memory_string_n(text, length);
            status = cli_parse_term(term, arena, places[count], why);
            free(term);
        }
        for (unsigned i = count; names[count].length > 1 && i-- > 0;) {
            pattern->same[count] = slice_equal(names[i], names[count]) ? i : pattern->same[count];
        }
        count++;
        text += length;
    }
    if (status == STATUS_OK && count < 3) {
        status = status_fail(why, STATUS_MISUSE,
                             "a pattern is subject, predicate, object and, as you like, document; "
                             "? or ?name stands for any");
    }
    return status;
}

bool
cli_pattern_fits(const struct cli_pattern *pattern, const struct quad *quad)
{
    const struct term *const places[] = {&quad->subject, &quad->predicate, &quad->object,
                                         &quad->graph};
    for (unsigned i = 0; i < 4; i++) {
        if (!term_equal(places[i], places[pattern->same[i]])) {
            return false;
        }
    }
    return true;
}
