#include "web/query_form.h"

#include "base/ascii.h"
#include "rdf/core/lexical.h"

static struct slice
skip(struct slice text, size_t n)
{
    n = n < text.length ? n : text.length;
    return slice_of(text.at + n, text.length - n);
}

static struct slice
skip_blank(struct slice text)
{
    while (text.length > 0) {
        if (lexical_is(text.at[0], LEXICAL_SPACE)) {
            text = skip(text, 1);
        } else if (text.at[0] == '#') {
            text = skip(text, slice_find(text, '\n'));
        } else {
            break;
        }
    }
    return text;
}

static struct slice
word(struct slice *text)
{
    size_t length = 0;
    while (length < text->length && ascii_is_letter(text->at[length])) {
        length++;
    }
    const struct slice found = slice_of(text->at, length);
    *text = skip(*text, length);
    return found;
}

/* "<iri>"; nothing is left when there is none. */
static struct slice
skip_iri(struct slice text)
{
    text = skip_blank(text);
    return text.length > 0 && text.at[0] == '<' ? skip(text, slice_find(text, '>') + 1)
                                                : slice_of(NULL, 0);
}

enum web_query_form
web_query_form_of(struct slice query)
{
    static const struct {
        const char *word;
        enum web_query_form form;
    } forms[] = {
        {"select", WEB_FORM_TABLE},   {"ask", WEB_FORM_TABLE},     {"construct", WEB_FORM_GRAPH},
        {"describe", WEB_FORM_GRAPH}, {"insert", WEB_FORM_UPDATE}, {"delete", WEB_FORM_UPDATE},
        {"load", WEB_FORM_UPDATE},    {"clear", WEB_FORM_UPDATE},  {"drop", WEB_FORM_UPDATE},
        {"create", WEB_FORM_UPDATE},  {"add", WEB_FORM_UPDATE},    {"move", WEB_FORM_UPDATE},
        {"copy", WEB_FORM_UPDATE},    {"with", WEB_FORM_UPDATE}};
    if (slice_starts(query, SLICE("\xEF\xBB\xBF"))) {
        query = skip(query, 3);
    }
    for (;;) {
        query = skip_blank(query);
        const struct slice found = word(&query);
        if (slice_equal_nocase(found, SLICE("base"))) {
            query = skip_iri(query);
            continue;
        }
        if (slice_equal_nocase(found, SLICE("prefix"))) {
            query = skip_iri(skip(query, slice_find(query, ':') + 1));
            continue;
        }
        for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
            if (slice_equal_nocase(found, slice_string(forms[i].word))) {
                return forms[i].form;
            }
        }
        return WEB_FORM_UNKNOWN;
    }
}
