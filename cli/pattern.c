/* Terms and patterns as people type them. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/cli.h"
#include "rdf/nquads.h"

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
    const bool bare = strchr("<\"_", text[0]) == NULL;
    buf_printf(&line, "<urn:s> <urn:p> %s%s%s .\n", bare ? "<" : "", text, bare ? ">" : "");
    enum status status = line.overflowed ? status_fail(why, STATUS_LIMIT, "term too long")
                                         : nquads_parse(buf_slice(&line), NULL, &sink, NULL);
    buf_release(&line);
    if (status == STATUS_BAD_INPUT || (status == STATUS_OK && term->kind == TERM_NONE)) {
        status = status_fail(why, STATUS_MISUSE,
                             "%.200s is no term: write <IRI>, \"text\", \"text\"@en, "
                             "\"5\"^^<IRI>, or an IRI",
                             text);
    }
    return status;
}

/* Where the term at text ends: blanks part terms, but not inside of quotes. */
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
cli_parse_pattern(const char *text, struct arena *arena, struct quad *pattern, struct reason *why)
{
    struct term *const places[] = {&pattern->subject, &pattern->predicate, &pattern->object,
                                   &pattern->graph};
    size_t count = 0;
    enum status status = STATUS_OK;
    *pattern = (struct quad){0};
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
        if (text[0] != '?') {
            char *term = memory_string_n(text, length);
            status = cli_parse_term(term, arena, places[count], why);
            free(term);
        }
        count++;
        text += length;
    }
    if (status == STATUS_OK && count < 3) {
        status = status_fail(why, STATUS_MISUSE,
                             "a pattern is subject, predicate, object and, as you like, document; "
                             "? stands for any");
    }
    return status;
}
