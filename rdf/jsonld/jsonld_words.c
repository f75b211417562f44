/* Finds out what a string is by itself: a keyword, an IRI, a blank node; references and their
 * base. */
#include <string.h>

#include "base/url/url.h"
#include "rdf/core/lexical.h"
#include "rdf/jsonld/jsonld_processor.h"

static const struct slice keywords[KEYWORD_COUNT] = {
#define X(name, text) [KEYWORD_##name] = SLICE_INIT(text),
    KEYWORD_MAP(X)
#undef X
};

enum keyword
jsonld_keyword(struct slice text)
{
    if (text.length < 3 || text.at[0] != '@') {
        return KEYWORD_NOT;
    }
    for (int i = 1; i < KEYWORD_COUNT; i++) {
        if (slice_equal(keywords[i], text)) {
            return (enum keyword)i;
        }
    }
    return KEYWORD_NOT;
}

struct slice
jsonld_keyword_text(enum keyword keyword)
{
    return keywords[keyword];
}

bool
jsonld_like_keyword(struct slice text)
{
    if (text.length < 2 || text.at[0] != '@') {
        return false;
    }
    size_t i = 1;
    while (i < text.length && lexical_is(text.at[i], LEXICAL_LETTER)) {
        i++;
    }
    return i == text.length;
}

bool
jsonld_is_iri(struct slice text)
{
    if (!lexical_has_scheme(text)) {
        return false;
    }
    size_t i = 0;
    while (i < text.length && !lexical_is(text.at[i], LEXICAL_SPACE)) {
        i++;
    }
    return i == text.length;
}

bool
jsonld_is_blank(struct slice text)
{
    return slice_starts(text, SLICE("_:"));
}

struct slice
jsonld_resolve(struct jsonld *jsonld, struct slice base, struct slice reference)
{
    jsonld->used_base = true;
    buf_reset(&jsonld->work);
    if (base.length == 0 || iri_resolve(base, reference, &jsonld->work, NULL) != STATUS_OK) {
        return reference;
    }
    return arena_copy(jsonld->strings, buf_slice(&jsonld->work));
}
