#include "transforms/common/relations.h"

#include "base/ascii.h"
#include "base/url/url.h"
#include "transforms/common/meta_names.h"
#include "transforms/common/vocabulary.h"

enum { RELATIONS_MAXIMUM = 16 };

/* Terms of https://www.w3.org/1999/xhtml/vocab */
static const char xhtml_relations[] =
    " alternate appendix bookmark cite chapter contents copyright first glossary help icon index"
    " itsrules last license meta next p3pv1 prev previous role section start stylesheet subsection"
    " top up ";

/* Link relations registered with IANA that XHTML's vocabulary has not. */
static const char iana_relations[] =
    " about acl amphtml appendix apple-touch-icon archives author blocked-by canonical"
    " collection compression-dictionary convertedfrom create-form current describedby describes"
    " disclosure dns-prefetch duplicate edit edit-form edit-media enclosure external hosts hub"
    " item latest-version lrdd manifest mask-icon me memento micropub modulepreload monitor"
    " nofollow noopener noreferrer opener original payment pingback preconnect predecessor-version"
    " prefetch preload prerender privacy-policy profile publication related replies search"
    " self service service-desc service-doc service-meta shortlink sponsored status "
    "successor-version"
    " sunset tag terms-of-service timegate timemap token_endpoint type ugc version-history via"
    " webmention working-copy working-copy-of ";

static bool
is_listed(const char *list, struct slice word)
{
    const char *at = list;
    while ((at = memmem(at, strlen(at), word.at, word.length)) != NULL) {
        if (at[-1] == ' ' && at[word.length] == ' ') {
            return true;
        }
        at++;
    }
    return false;
}

/* Returns the predicate of a relation, in *name; NULL when the word cannot be one. */
static const char *
relation_predicate(struct slice word, struct buf *name)
{
    char lower[64];
    if (word.length == 0 || word.length >= sizeof lower) {
        return NULL;
    }
    for (size_t i = 0; i < word.length; i++) {
        const char c = word.at[i];
        lower[i] = ascii_lower(c);
        const bool good = (lower[i] >= 'a' && lower[i] <= 'z') || (c >= '0' && c <= '9') ||
                          c == '-' || c == '_' || c == '.' || c == ':' || c == '/' || c == '#';
        if (!good) {
            return NULL;
        }
    }
    const struct slice folded = {lower, word.length};
    buf_reset(name);
    if (slice_find_slice(word, SLICE("://")) < word.length) {
        buf_append_slice(name, word);
        return iri_is_absolute(word) ? name->data : NULL;
    }
    if (slice_starts(folded, SLICE("dc.")) || slice_starts(folded, SLICE("dcterms."))) {
        const size_t dot = slice_find(folded, '.');
        return meta_dublin_core(slice_of(lower + dot + 1, word.length - dot - 1), dot > 2, name);
    }
    if (slice_find(word, '/') < word.length || slice_find(word, '#') < word.length) {
        return NULL;
    }
    if (is_listed(xhtml_relations, folded)) {
        const bool its = slice_is(folded, "itsrules");
        buf_printf(name, VOCABULARY_XHV "%.*s", SLICE_PRINT(its ? SLICE("itsRules") : folded));
    } else if (is_listed(iana_relations, folded)) {
        buf_printf(name, VOCABULARY_IANA_RELATION "%.*s", SLICE_PRINT(folded));
    } else {
        buf_printf(name, VOCABULARY_QUADRILLE "rel-%.*s", SLICE_PRINT(folded));
    }
    return name->data;
}

struct slice
language_tag(struct slice tag, char text[LANGUAGE_TAG_SIZE])
{
    tag = slice_trim(tag);
    if (tag.length == 0 || tag.length >= LANGUAGE_TAG_SIZE) {
        return (struct slice){0};
    }
    size_t part = 0;
    bool first = true;
    for (size_t i = 0; i < tag.length; i++) {
        const char c = tag.at[i] == '_' ? '-' : tag.at[i];
        const char lower = ascii_lower(c);
        const bool letter = lower >= 'a' && lower <= 'z';
        if (lower == '-' ? part == 0 : !letter && (first || lower < '0' || lower > '9')) {
            return (struct slice){0};
        }
        first &= lower != '-';
        part = lower == '-' ? 0 : part + 1;
        text[i] = lower;
    }
    return part > 0 ? slice_of(text, tag.length) : (struct slice){0};
}

/* Relations to what a browser wants besides the document. */
static bool
is_furniture(struct slice word)
{
    static const char *const furniture[] = {"stylesheet",
                                            "icon",
                                            "shortcut",
                                            "apple-touch-icon",
                                            "mask-icon",
                                            "fluid-icon",
                                            "preload",
                                            "apple-touch-icon-precomposed",
                                            "prefetch",
                                            "preconnect",
                                            "dns-prefetch",
                                            "modulepreload",
                                            "prerender",
                                            "manifest",
                                            "nofollow",
                                            "noopener",
                                            "noreferrer",
                                            "external",
                                            "ugc",
                                            "sponsored",
                                            "apple-touch-startup-image"};
    for (size_t i = 0; i < sizeof furniture / sizeof *furniture; i++) {
        if (slice_equal_nocase(word, slice_string(furniture[i]))) {
            return true;
        }
    }
    return false;
}

/* Says each relation of the list; returns how many are about content. */
static unsigned
emit_list(struct emitter *emitter, struct buf *name, const struct term *from,
          const struct term *target, const struct link_relations *relations, struct slice list)
{
    unsigned content = 0;
    for (unsigned words = 0; words < RELATIONS_MAXIMUM; words++) {
        const struct slice word = slice_next_word(&list);
        if (word.length == 0) {
            break;
        }
        if (relations->is_foreign && relations->is_foreign(relations->context, word)) {
            content++;
            continue;
        }
        const char *predicate = relation_predicate(word, name);
        if (predicate) {
            emit(emitter, from, predicate, target);
            content += !is_furniture(word);
        }
    }
    return content;
}

static void
emit_about(struct emitter *emitter, const struct term *target, const char *predicate,
           struct slice text, struct slice language)
{
    struct term object = term_literal(text);
    object.language = language;
    if (text.length > 0) {
        emit(emitter, target, predicate, &object);
    }
}

/* "text/html" without parameters; empty when it is no media type. */
static struct slice
media_type(struct slice type)
{
    type = slice_trim(slice_of(type.at, slice_find(type, ';')));
    const size_t slash = slice_find(type, '/');
    for (size_t i = 0; i < type.length; i++) {
        if (type.at[i] <= ' ' || type.at[i] >= 0x7F) {
            return (struct slice){0};
        }
    }
    return slash > 0 && slash + 1 < type.length ? type : (struct slice){0};
}

void
relations_emit(struct emitter *emitter, struct buf *name, const struct term *from,
               const struct term *target, const struct link_relations *relations)
{
    char tag[LANGUAGE_TAG_SIZE];
    const unsigned content = emit_list(emitter, name, from, target, relations, relations->rel) +
                             emit_list(emitter, name, target, from, relations, relations->rev);
    if (content > 0) {
        emit_about(emitter, target, VOCABULARY_DCTERMS "format", media_type(relations->type),
                   (struct slice){0});
        emit_about(emitter, target, VOCABULARY_DCTERMS "language",
                   language_tag(relations->language, tag), (struct slice){0});
        emit_about(emitter, target, VOCABULARY_DCTERMS "title", relations->title,
                   relations->title_language);
    }
}
