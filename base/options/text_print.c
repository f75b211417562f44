#include "base/options/text_print.h"

#include <stdbool.h>
#include <string.h>

/* The next line of text, without its end; NULL after the last. */
static const char *
line_next(const char **text, size_t *length)
{
    const char *line = *text;
    if (*line == '\0') {
        return NULL;
    }
    *length = strcspn(line, "\n");
    *text = line + *length + (line[*length] == '\n');
    return line;
}

static bool
line_is_literal(const char *line, size_t length)
{
    return length > 0 && (line[0] == ' ' || line[0] == '\t');
}

/* Appends the words of one line to the paragraph; returns the column reached. */
static size_t
wrap_words(FILE *out, const char *prefix, const char *line, size_t length, size_t column)
{
    const char *end = line + length;
    while (line < end) {
        const size_t blanks = strspn(line, " \t");
        if (blanks >= (size_t)(end - line)) {
            break;
        }
        line += blanks;
        const size_t word =
            strcspn(line, " \t\n"); /* at most up to its end, where another begins */
        if (column > 0 && column + 1 + word > TEXT_WIDTH) {
            (void)fputc('\n', out);
            column = 0;
        }
        (void)fprintf(out, "%s%.*s", column ? " " : prefix, (int)word, line);
        column += (column ? 1 : strlen(prefix)) + word;
        line += word;
    }
    return column;
}

void
text_wrap(FILE *out, const char *prefix, const char *text)
{
    size_t column = 0, length;
    const char *line;
    while ((line = line_next(&text, &length))) {
        const bool apart = length == 0 || line_is_literal(line, length);
        if (apart && column > 0) {
            (void)fputc('\n', out);
            column = 0;
        }
        if (length == 0) {
            size_t bare = strlen(prefix);
            while (bare > 0 && prefix[bare - 1] == ' ') {
                bare--;
            }
            (void)fprintf(out, "%.*s\n", (int)bare, prefix);
        } else if (apart) {
            (void)fprintf(out, "%s%.*s\n", prefix, (int)length, line);
        } else {
            column = wrap_words(out, prefix, line, length, column);
        }
    }
    if (column > 0) {
        (void)fputc('\n', out);
    }
}

static void
mdoc_escape(FILE *out, const char *text, size_t length)
{
    if (length > 0 && (text[0] == '.' || text[0] == '\'')) {
        (void)fputs("\\&", out);
    }
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\\') {
            (void)fputs("\\e", out);
        } else if (text[i] == '-') {
            (void)fputs("\\-", out);
        } else {
            (void)fputc(text[i], out);
        }
    }
}

void
text_mdoc(FILE *out, const char *text)
{
    size_t length;
    const char *line;
    bool literal = false, new_paragraph = false, begun = false;
    while ((line = line_next(&text, &length))) {
        const bool is_literal = line_is_literal(line, length);
        if (literal && !is_literal) {
            (void)fputs(".Ed\n", out);
            literal = false;
        } else if (!literal && is_literal) {
            (void)fputs(".Bd -literal -offset indent\n", out);
            literal = true;
            new_paragraph = false;
        }
        if (length == 0) {
            new_paragraph = begun;
            continue;
        }
        if (new_paragraph) {
            (void)fputs(".Pp\n", out);
            new_paragraph = false;
        }
        mdoc_escape(out, line, length);
        (void)fputc('\n', out);
        begun = true;
    }
    if (literal) {
        (void)fputs(".Ed\n", out);
    }
}

void
text_mdoc_word(FILE *out, const char *text)
{
    (void)fputs("\\&", out);
    mdoc_escape(out, text, strlen(text));
}
