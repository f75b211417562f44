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

/* Takes in the entry of the local context that the present one depends on. */
static enum status
define_first(struct jsonld *jsonld, struct context_build *build, struct slice name)
{
    const struct json *entry = build != NULL ? json_get(build->local, name) : NULL;
    if (entry == NULL || build->states[entry->ordinal] == DEFINE_DONE) {
        return STATUS_OK;
    }
    return jsonld_define(jsonld, build, entry);
}

/* "prefix:suffix"; *found false: it is none. */
static enum status
expand_compact(struct jsonld *jsonld, const struct jsonld_context *active,
               struct context_build *build, struct slice value, size_t colon, struct slice *iri,
               bool *found)
{
    const struct slice prefix = slice_of(value.at, colon);
    const struct slice suffix = slice_of(value.at + colon + 1, value.length - colon - 1);
    *found = true;
    *iri = value;
    if (slice_equal(prefix, SLICE("_")) || slice_starts(suffix, SLICE("//"))) {
        return STATUS_OK;
    }
    TRY(define_first(jsonld, build, prefix));
    const struct jsonld_term *term = jsonld_find_term(active, prefix);
    if (term != NULL && term->iri.at != NULL && term->prefix) {
        *iri = jsonld_join(jsonld, term->iri, suffix);
        return STATUS_OK;
    }
    *found = jsonld_is_iri(value);
    return STATUS_OK;
}

enum status
jsonld_iri(struct jsonld *jsonld, const struct jsonld_context *active, struct context_build *build,
           struct slice value, unsigned flags, struct slice *iri)
{
    *iri = value;
    if (value.length > 1 && value.at[0] == '@') {
        if (jsonld_keyword(value) != KEYWORD_NOT) {
            return STATUS_OK;
        }
        if (jsonld_like_keyword(value)) {
            *iri = (struct slice){NULL, 0};
            return STATUS_OK;
        }
    }
    TRY(define_first(jsonld, build, value));
    const struct jsonld_term *term = jsonld_find_term(active, value);
    if (term != NULL && (term->keyword != KEYWORD_NOT || (flags & IRI_VOCAB))) {
        *iri = term->iri;
        return STATUS_OK;
    }
    const size_t colon = slice_find(value, ':');
    if (colon > 0 && colon < value.length) {
        bool found;
        TRY(expand_compact(jsonld, active, build, value, colon, iri, &found));
        if (found) {
            return STATUS_OK;
        }
    }
    if ((flags & IRI_VOCAB) && active->vocab.at != NULL) {
        *iri = jsonld_join(jsonld, active->vocab, value);
    } else if (flags & IRI_DOCUMENT) {
        *iri = jsonld_resolve(jsonld, active->base, value);
    }
    return STATUS_OK;
}
