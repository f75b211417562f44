/* Meta elements of a page. */
#include "transforms/html_extract.h"
#include "transforms/vocabulary.h"

enum { META_MAXIMUM = 16 << 10, KEYWORD_MAXIMUM = 512, KEYWORDS_MAXIMUM = 256 };

struct meta_name {
    const char *name, *predicate;
};

/* Names with a term of their own. */
static const struct meta_name meta_names[] = {
    {"author", VOCABULARY_DC "creator"},
    {"copyright", VOCABULARY_DC "rights"},
    {"description", VOCABULARY_DCTERMS "description"},
    {"title", VOCABULARY_DCTERMS "title"},
};

/* Prefixes of names, and the namespaces they stand for. */
static const struct meta_name meta_prefixes[] = {
    {"og:", VOCABULARY_OGP "#"},
    {"article:", VOCABULARY_OGP "/article#"},
    {"book:", VOCABULARY_OGP "/book#"},
    {"profile:", VOCABULARY_OGP "/profile#"},
    {"video:", VOCABULARY_OGP "/video#"},
    {"music:", VOCABULARY_OGP "/music#"},
    {"dc.", VOCABULARY_DC},
    {"dc:", VOCABULARY_DC},
    {"dcterms.", VOCABULARY_DCTERMS},
    {"dcterms:", VOCABULARY_DCTERMS},
    {"foaf:", VOCABULARY_FOAF},
};

static bool
is_name_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' ||
           c == ':';
}

/* The predicate for a meta name, in extractor->name; NULL when it cannot be one. */
static const char *
meta_predicate(struct html_walk *walk, struct slice name)
{
    struct buf *out = &walk->extractor->name;
    char lower[128];
    name = slice_trim(name);
    if (name.length == 0 || name.length >= sizeof lower) {
        return NULL;
    }
    for (size_t i = 0; i < name.length; i++) {
        const char c = name.at[i];
        lower[i] = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
        if (!is_name_character(lower[i])) {
            return NULL;
        }
    }
    const struct slice folded = {lower, name.length};
    for (size_t i = 0; i < sizeof meta_names / sizeof *meta_names; i++) {
        if (slice_is(folded, meta_names[i].name)) {
            return meta_names[i].predicate;
        }
    }
    buf_reset(out);
    for (size_t i = 0; i < sizeof meta_prefixes / sizeof *meta_prefixes; i++) {
        const struct slice prefix = slice_string(meta_prefixes[i].name);
        if (folded.length > prefix.length && slice_starts(folded, prefix)) {
            /* Terms of these vocabularies are in mixed case. */
            buf_printf(out, "%s%.*s", meta_prefixes[i].predicate,
                       (int)(name.length - prefix.length), name.at + prefix.length);
            return out->data;
        }
    }
    buf_printf(out, VOCABULARY_QUADRILLE "meta-%.*s", SLICE_PRINT(folded));
    return out->data;
}

static void
emit_keywords(struct html_walk *walk, struct slice content, struct slice language)
{
    for (unsigned i = 0; i < KEYWORDS_MAXIMUM && content.length > 0; i++) {
        const size_t comma = slice_find(content, ',');
        const struct slice keyword =
            text_of(&walk->extractor->text, slice_of(content.at, comma), KEYWORD_MAXIMUM);
        emit_text(walk->emitter, VOCABULARY_DC "subject", keyword, language);
        const size_t skip = comma < content.length ? comma + 1 : comma;
        content = slice_of(content.at + skip, content.length - skip);
    }
}

/* "5; url='next.html'" of the standard's refresh pragma. */
static bool
refresh_target(struct slice content, struct slice *url)
{
    const char *at = content.at, *const end = content.at + content.length;
    while (at < end && ((*at >= '0' && *at <= '9') || *at == '.' || *at == ' ')) {
        at++;
    }
    while (at < end && (*at == ';' || *at == ',' || *at == ' ' || *at == '\t' || *at == '\n')) {
        at++;
    }
    if (end - at > 3 && slice_equal_nocase(slice_of(at, 3), SLICE("url"))) {
        const char *equals = at + 3;
        while (equals < end && *equals == ' ') {
            equals++;
        }
        if (equals < end && *equals == '=') {
            at = equals + 1;
        }
    }
    while (at < end && (*at == ' ' || *at == '\t')) {
        at++;
    }
    const char *stop = end;
    if (at < end && (*at == '"' || *at == '\'')) {
        const char *quote = memchr(at + 1, *at, (size_t)(end - at - 1));
        stop = quote ? quote : end;
        at++;
    }
    *url = slice_trim(slice_of(at, (size_t)(stop - at)));
    return url->length > 0;
}

static void
walk_pragma(struct html_walk *walk, struct slice pragma, struct slice content)
{
    struct slice url, iri;
    if (slice_equal_nocase(pragma, SLICE("refresh")) && refresh_target(content, &url) &&
        links_resolve(&walk->extractor->links, url, &iri) &&
        !slice_equal(iri, walk->emitter->document.value)) {
        emit_iri(walk->emitter, VOCABULARY_SIOC "links_to", iri);
        emit_iri(walk->emitter, VOCABULARY_QUADRILLE "refresh", iri);
    }
}

void
html_walk_meta(struct html_walk *walk)
{
    struct slice name, content;
    char tag[36];
    if (!html_attribute(walk->tree, walk->node, "content", &content)) {
        return;
    }
    if (html_attribute(walk->tree, walk->node, "http-equiv", &name)) {
        walk_pragma(walk, slice_trim(name), content);
        return;
    }
    if (!html_attribute(walk->tree, walk->node, "name", &name) &&
        !html_attribute(walk->tree, walk->node, "property", &name)) {
        return;
    }
    const struct slice language = html_walk_language(walk, walk->node, tag);
    if (slice_equal_nocase(slice_trim(name), SLICE("keywords"))) {
        emit_keywords(walk, content, language);
        return;
    }
    const char *predicate = meta_predicate(walk, name);
    if (!predicate) {
        return;
    }
    const bool prose = predicate == meta_names[2].predicate || predicate == meta_names[3].predicate;
    emit_text(walk->emitter, predicate, text_of(&walk->extractor->text, content, META_MAXIMUM),
              prose ? language : (struct slice){0});
}
