#include "rdf/turtle/turtle_cut.h"

/* A quote of an open or just opened string. */
static void
take_quote(struct turtle_cut *cut)
{
    cut->quotes++;
    if (cut->is_long && cut->quotes == 3) {
        cut->quote = 0;
        cut->is_long = false;
        cut->quotes = 0;
    }
}

/* Inside of a string, an IRI or a comment. */
static void
take_inside(struct turtle_cut *cut, char c)
{
    if (cut->escaped) {
        cut->escaped = false;
        cut->quotes = 0;
    } else if (c == '\\' && cut->quote != '\n') {
        cut->escaped = true;
        cut->quotes = 0;
    } else if (cut->is_long) {
        if (c == cut->quote) {
            take_quote(cut);
        } else {
            cut->quotes = 0;
        }
    } else if (c == cut->quote || c == '\n') {
        cut->quote = 0;
    }
}

/* Behind '"' or '""' it is not yet told which kind of string this is. false: c is not part of it.
 */
static bool
take_opening(struct turtle_cut *cut, char c)
{
    if (c == cut->quote) {
        if (++cut->quotes == 3) {
            cut->is_long = true;
            cut->quotes = 0;
        }
        return true;
    }
    const bool is_empty = cut->quotes == 2;
    cut->quotes = 0;
    if (is_empty) {
        cut->quote = 0;
        return false;
    }
    take_inside(cut, c);
    return true;
}

static void
take_outside(struct turtle_cut *cut, char c)
{
    const char last = cut->last;
    cut->last = c;
    if (cut->escaped) {
        cut->escaped = false;
        cut->last = 'x';
        return;
    }
    switch (c) {
    case '\\':
        cut->escaped = true;
        break;
    case '"':
    case '\'':
        cut->quote = c;
        cut->quotes = 1;
        break;
    case '<':
        cut->quote = '>';
        break;
    case '#':
        cut->quote = '\n';
        cut->last = last;
        break;
    case '[':
    case '(':
        cut->depth++;
        break;
    case ']':
    case ')':
        cut->depth--;
        break;
    case ' ':
    case '\t':
    case '\r':
    case '\n':
        cut->last = last;
        break;
    default:
        break;
    }
}

size_t
turtle_cut_find(struct turtle_cut *cut, struct slice bytes)
{
    size_t found = 0;
    for (size_t i = 0; i < bytes.length; i++) {
        const char c = bytes.at[i];
        if (cut->quote != 0 && !cut->is_long && cut->quotes > 0) {
            if (take_opening(cut, c)) {
                continue;
            }
        } else if (cut->quote != 0) {
            take_inside(cut, c);
            if (c != '\n' || cut->quote != 0) {
                continue;
            }
        }
        take_outside(cut, c);
        if (c == '\n' && cut->depth <= 0 && (cut->last == '.' || cut->last == '}')) {
            found = i + 1;
        }
    }
    return found;
}
