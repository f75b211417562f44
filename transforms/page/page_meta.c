/* Meta elements of a page. */
#include <stdio.h>

#include "transforms/common/meta_names.h"
#include "transforms/common/relations.h"
#include "transforms/common/vocabulary.h"
#include "transforms/page/page_extract.h"

enum {
    META_MAXIMUM = 16 << 10,
    KEYWORD_MAXIMUM = 512,
    KEYWORDS_MAXIMUM = 256,
    PROPERTIES_MAXIMUM = 16,
    LANGUAGES_MAXIMUM = 16
};

/* ---- values ---- */

/* The next part of a list, without white space around it. False: no more. */
static bool
next_part(struct slice *list, char separator, struct slice *part)
{
    if (list->length == 0) {
        return false;
    }
    const size_t end = slice_find(*list, separator);
    const size_t skip = end < list->length ? end + 1 : end;
    *part = slice_trim(slice_of(list->at, end));
    *list = slice_of(list->at + skip, list->length - skip);
    return true;
}

static void
emit_keywords(struct html_walk *walk, const char *predicate, struct slice content,
              struct slice language)
{
    struct slice part;
    for (size_t i = 0; i < KEYWORDS_MAXIMUM && next_part(&content, ',', &part); i++) {
        emit_text(walk->emitter, predicate, text_of(&walk->extractor->text, part, KEYWORD_MAXIMUM),
                  language);
    }
}

/* A decimal number within limits, as xsd:decimal writes it. */
static bool
is_degree(struct slice text, int most)
{
    size_t i = text.length > 0 && (text.at[0] == '-' || text.at[0] == '+'), digits = 0;
    int whole = 0;
    bool dot = false;
    for (; i < text.length; i++) {
        if (text.at[i] == '.' && !dot) {
            dot = true;
        } else if (text.at[i] < '0' || text.at[i] > '9') {
            return false;
        } else {
            digits++;
            whole = dot || whole > most ? whole : whole * 10 + (text.at[i] - '0');
        }
    }
    return digits > 0 && digits < 24 && whole <= most;
}

/* "48.2; 16.3" of geo.position, "48.2, 16.3" of ICBM: the document is related to a point. */
static void
emit_place(struct html_walk *walk, struct slice content)
{
    const char separator = slice_find(content, ';') < content.length ? ';' : ',';
    struct slice latitude, longitude;
    if (!next_part(&content, separator, &latitude) || !next_part(&content, separator, &longitude) ||
        !is_degree(latitude, 90) || !is_degree(longitude, 180)) {
        return;
    }
    char label[32];
    snprintf(label, sizeof label, "place%u", walk->node);
    const struct term point = term_blank(slice_string(label)),
                      type = term_iri(SLICE(VOCABULARY_GEO "Point"));
    struct term degree = term_literal(latitude);
    degree.datatype = SLICE(VOCABULARY_XSD "decimal");
    emit(walk->emitter, &walk->emitter->document, VOCABULARY_DCTERMS "related", &point);
    emit(walk->emitter, &point, VOCABULARY_RDF "type", &type);
    emit(walk->emitter, &point, VOCABULARY_GEO "lat", &degree);
    degree.value = longitude;
    emit(walk->emitter, &point, VOCABULARY_GEO "long", &degree);
}

static bool
is_web_address(struct slice text)
{
    return (text.length > 7 && slice_equal_nocase(slice_of(text.at, 7), SLICE("http://"))) ||
           (text.length > 8 && slice_equal_nocase(slice_of(text.at, 8), SLICE("https://")));
}

static void
emit_value(struct html_walk *walk, const struct meta_term *term, struct slice content)
{
    struct html_extractor *extractor = walk->extractor;
    char tag[LANGUAGE_TAG_SIZE];
    struct slice iri, scheme;
    content = slice_trim(content);
    switch (term->value) {
    case META_PLACE:
        emit_place(walk, content);
        return;
    case META_KEYWORDS:
        emit_keywords(walk, term->predicate, content, html_walk_language(walk, walk->node, tag));
        return;
    case META_PERHAPS:
        if (!is_web_address(content)) {
            break;
        }
        /* fall through */
    case META_REFERENCE:
        if (content.length > 0 && links_resolve(&extractor->links, content, &iri)) {
            emit_iri(walk->emitter, term->predicate, iri);
            return;
        }
        break;
    default:
        break;
    }
    struct term object = term_literal(text_of(&extractor->text, content, META_MAXIMUM));
    if (object.value.length == 0) {
        return;
    }
    if (html_attribute(walk->tree, walk->node, "scheme", &scheme)) {
        object.datatype = meta_scheme_datatype(scheme, &extractor->datatype);
    }
    struct slice own;
    if (object.datatype.length == 0 &&
        (term->value == META_PROSE || html_attribute(walk->tree, walk->node, "lang", &own) ||
         html_attribute(walk->tree, walk->node, "xml:lang", &own))) {
        object.language = html_walk_language(walk, walk->node, tag);
    }
    emit(walk->emitter, &walk->emitter->document, term->predicate, &object);
}

/* ---- structured properties of Open Graph ---- */

/* Adds a property like og:image:width to the picture that was named last. Whoever wrote the names,
 * RDFa or not: RDFa knows but the document. */
static void
walk_structured(struct html_walk *walk, struct slice name, struct slice content)
{
    static const struct {
        struct slice name;
        const char *predicate;
    } kinds[HTML_MEDIA_KINDS] = {
        {SLICE_INIT("og:image"), VOCABULARY_FOAF "depiction"},
        {SLICE_INIT("og:video"), VOCABULARY_DCTERMS "relation"},
        {SLICE_INIT("og:audio"), VOCABULARY_DCTERMS "relation"},
    };
    struct html_extractor *extractor = walk->extractor;
    for (size_t i = 0; i < HTML_MEDIA_KINDS; i++) {
        const size_t length = kinds[i].name.length;
        if (name.length < length || !slice_equal_nocase(slice_of(name.at, length), kinds[i].name)) {
            continue;
        }
        struct buf *subject = &extractor->media[i];
        const struct slice rest = slice_of(name.at + length, name.length - length);
        struct slice iri;
        if (rest.length == 0 || slice_equal_nocase(rest, SLICE(":url"))) {
            buf_reset(subject);
            if (links_resolve(&extractor->links, slice_trim(content), &iri)) {
                buf_append_slice(subject, iri);
                emit_iri(walk->emitter, kinds[i].predicate, iri);
            }
            return;
        }
        struct meta_term term;
        if (rest.at[0] != ':' || subject->length == 0 ||
            !meta_term_of(name, &extractor->name, &term)) {
            return;
        }
        const struct term about = term_iri(buf_slice(subject));
        struct term object = term_literal(text_of(&extractor->text, content, META_MAXIMUM));
        if (term.value == META_REFERENCE &&
            links_resolve(&extractor->links, slice_trim(content), &iri)) {
            object = term_iri(iri);
        }
        if (object.value.length > 0) {
            emit(walk->emitter, &about, term.predicate, &object);
        }
        return;
    }
}

/* The term of a name whose prefix the page declares. False: it declares none such. */
static bool
declared_term(struct html_walk *walk, struct slice name, struct meta_term *term)
{
    struct html_extractor *extractor = walk->extractor;
    const size_t dot = slice_find(name, '.');
    for (size_t i = 0; i < extractor->schema_count && dot < name.length; i++) {
        if (!slice_equal_nocase(slice_of(name.at, dot), extractor->schemas[i].prefix)) {
            continue;
        }
        const struct slice namespace = extractor->schemas[i].namespace,
                           local = slice_of(name.at + dot + 1, name.length - dot - 1);
        *term = (struct meta_term){.value = META_TEXT};
        if (slice_is(namespace, VOCABULARY_DC) || slice_is(namespace, VOCABULARY_DCTERMS)) {
            term->predicate =
                meta_dublin_core(local, slice_is(namespace, VOCABULARY_DCTERMS), &extractor->name);
        } else {
            buf_reset(&extractor->name);
            buf_printf(&extractor->name, "%.*s%.*s", SLICE_PRINT(namespace), SLICE_PRINT(local));
            term->predicate =
                iri_is_absolute(buf_slice(&extractor->name)) ? extractor->name.data : NULL;
        }
        return term->predicate != NULL;
    }
    return false;
}

static void
walk_name(struct html_walk *walk, struct slice name, struct slice content)
{
    struct meta_term term;
    if (declared_term(walk, name, &term) || meta_term_of(name, &walk->extractor->name, &term)) {
        emit_value(walk, &term, content);
    }
}

/* Words of a property attribute; those that RDFa reads are left to it. */
static void
walk_properties(struct html_walk *walk, struct slice names, struct slice content)
{
    struct slice word;
    for (unsigned i = 0; i < PROPERTIES_MAXIMUM && html_next_word(&names, &word); i++) {
        if (!html_is_rdfa_name(walk->tree, walk->node, word)) {
            walk_name(walk, word, content);
        }
        walk_structured(walk, word, content);
    }
}

/* ---- pragmas ---- */

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

/* Languages of what the page says, by the server's or the author's header. */
static void
walk_languages(struct html_walk *walk, struct slice content)
{
    struct slice part;
    char tag[LANGUAGE_TAG_SIZE];
    for (unsigned i = 0; i < LANGUAGES_MAXIMUM && next_part(&content, ',', &part); i++) {
        emit_text(walk->emitter, VOCABULARY_DCTERMS "language", language_tag(part, tag),
                  (struct slice){0});
    }
}

static void
walk_pragma(struct html_walk *walk, struct slice pragma, struct slice content)
{
    static const struct slice misplaced[] = {SLICE_INIT("author"), SLICE_INIT("copyright"),
                                             SLICE_INIT("description"), SLICE_INIT("keywords")};
    struct slice url, iri;
    if (slice_equal_nocase(pragma, SLICE("refresh"))) {
        if (refresh_target(content, &url) && links_resolve(&walk->extractor->links, url, &iri) &&
            !slice_equal(iri, walk->emitter->document.value)) {
            emit_iri(walk->emitter, VOCABULARY_SIOC "links_to", iri);
            emit_iri(walk->emitter, VOCABULARY_QUADRILLE "refresh", iri);
        }
        return;
    }
    if (slice_equal_nocase(pragma, SLICE("content-language"))) {
        walk_languages(walk, content);
        return;
    }
    for (size_t i = 0; i < sizeof misplaced / sizeof *misplaced; i++) {
        if (slice_equal_nocase(pragma, misplaced[i])) {
            walk_name(walk, pragma, content);
        }
    }
}

void
html_walk_meta(struct html_walk *walk)
{
    struct slice name, content;
    if (!html_attribute(walk->tree, walk->node, "content", &content)) {
        return;
    }
    if (html_attribute(walk->tree, walk->node, "http-equiv", &name)) {
        walk_pragma(walk, slice_trim(name), content);
    }
    if (html_attribute(walk->tree, walk->node, "name", &name)) {
        name = slice_trim(name);
        walk_name(walk, name, content);
        walk_structured(walk, name, content);
    }
    if (html_attribute(walk->tree, walk->node, "property", &name)) {
        walk_properties(walk, name, content);
    }
}
