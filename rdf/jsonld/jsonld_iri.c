#include "rdf/jsonld/jsonld_processor.h"

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
