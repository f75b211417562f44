/* Links, images and mail addresses of a page. */
#include "transforms/html_extract.h"
#include "transforms/vocabulary.h"

enum { ANCHOR_MAXIMUM = 1024, ADDRESS_MAXIMUM = 254, RELATIONS_MAXIMUM = 16 };

/* ---- relations ---- */

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

/* The predicate of a relation in extractor->name; NULL when the word cannot be one. */
static const char *
relation_predicate(struct html_walk *walk, struct slice word)
{
    struct buf *name = &walk->extractor->name;
    char lower[64];
    if (word.length == 0 || word.length >= sizeof lower) {
        return NULL;
    }
    for (size_t i = 0; i < word.length; i++) {
        const char c = word.at[i];
        lower[i] = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
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

static bool
is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f';
}

void
html_walk_relations(struct html_walk *walk, struct slice rel, const struct term *target)
{
    size_t i = 0;
    for (unsigned words = 0; words < RELATIONS_MAXIMUM && i < rel.length; words++) {
        while (i < rel.length && is_space(rel.at[i])) {
            i++;
        }
        const size_t from = i;
        while (i < rel.length && !is_space(rel.at[i])) {
            i++;
        }
        const char *predicate = relation_predicate(walk, slice_of(rel.at + from, i - from));
        if (predicate) {
            emit(walk->emitter, &walk->emitter->document, predicate, target);
        }
    }
}

/* ---- mail addresses ---- */

static bool
is_alphanumeric(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static bool
is_local(char c)
{
    return is_alphanumeric(c) || c == '.' || c == '_' || c == '%' || c == '+' || c == '-';
}

/* Labels of letters, digits and hyphens, at least two, the last of letters. */
static bool
is_mail_domain(struct slice domain)
{
    size_t label = 0, labels = 1, letters = 0;
    for (size_t i = 0; i < domain.length; i++) {
        const char c = domain.at[i];
        if (c == '.') {
            if (label == 0 || domain.at[i - 1] == '-') {
                return false;
            }
            label = letters = 0;
            labels++;
            continue;
        }
        if (c == '-' && label == 0) {
            return false;
        }
        label++;
        letters += (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
    }
    return labels >= 2 && label >= 2 && letters == label;
}

static void
emit_mailbox(struct html_walk *walk, struct slice local, struct slice domain)
{
    struct buf *name = &walk->extractor->name;
    while (local.length > 0 && local.at[0] == '.') {
        local = slice_of(local.at + 1, local.length - 1);
    }
    if (local.length == 0 || local.at[local.length - 1] == '.' ||
        local.length + domain.length >= ADDRESS_MAXIMUM || !is_mail_domain(domain)) {
        return;
    }
    buf_reset(name);
    buf_append_string(name, "mailto:");
    for (size_t i = 0; i < local.length; i++) {
        if (local.at[i] == '%') {
            buf_append_string(name, "%25");
        } else {
            buf_append_char(name, local.at[i]);
        }
    }
    buf_append_char(name, '@');
    for (size_t i = 0; i < domain.length; i++) {
        const char c = domain.at[i];
        buf_append_char(name, c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c);
    }
    emit_iri(walk->emitter, VOCABULARY_FOAF "mbox", buf_slice(name));
}

void
html_walk_emails(struct html_walk *walk, struct slice text)
{
    const char *at = text.at, *const end = text.at + text.length;
    while (at < end && (at = memchr(at, '@', (size_t)(end - at))) != NULL) {
        const char *from = at, *to = at + 1;
        while (from > text.at && at - from < 65 && is_local(from[-1])) {
            from--;
        }
        while (to < end && to - at < 190 && (is_alphanumeric(*to) || *to == '-' || *to == '.')) {
            to++;
        }
        const char *const next = to;
        while (to > at + 1 && (to[-1] == '.' || to[-1] == '-')) {
            to--;
        }
        emit_mailbox(walk, slice_of(from, (size_t)(at - from)),
                     slice_of(at + 1, (size_t)(to - at - 1)));
        at = next;
    }
}

static unsigned
hex_digit(char c)
{
    return c >= '0' && c <= '9'                     ? (unsigned)(c - '0')
           : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (unsigned)((c | 0x20) - 'a' + 10)
                                                    : 99;
}

void
html_walk_mailto(struct html_walk *walk, struct slice href)
{
    char decoded[1024];
    size_t length = 0;
    for (size_t i = 7; i < href.length && href.at[i] != '?' && length < sizeof decoded; i++) {
        char c = href.at[i];
        if (c == '%' && i + 2 < href.length && hex_digit(href.at[i + 1]) < 16 &&
            hex_digit(href.at[i + 2]) < 16) {
            c = (char)(hex_digit(href.at[i + 1]) << 4 | hex_digit(href.at[i + 2]));
            i += 2;
        }
        decoded[length++] = c;
    }
    html_walk_emails(walk, slice_of(decoded, length));
}

/* ---- links ---- */

/* Text of everything inside the node, images by their alternative text. */
static struct slice
anchor_text(struct html_walk *walk, uint32_t node)
{
    struct text *text = &walk->extractor->text;
    const struct html_tree *tree = walk->tree;
    struct slice alternative;
    text_begin(text, ANCHOR_MAXIMUM);
    for (uint32_t i = node + 1; i < tree->nodes[node].end && !text_is_full(text);) {
        const struct html_node *inner = &tree->nodes[i];
        if (inner->kind == HTML_TEXT) {
            text_add(text, inner->text);
        } else if (inner->element == HTML_SCRIPT || inner->element == HTML_STYLE ||
                   inner->element == HTML_TEMPLATE || inner->element == HTML_IFRAME) {
            i = inner->end;
            continue;
        } else if (html_element_rules(inner->element) & RULE_SPECIAL) {
            text_break(text);
            if (inner->element == HTML_IMG && html_attribute(tree, i, "alt", &alternative)) {
                text_add(text, alternative);
                text_break(text);
            }
        }
        i++;
    }
    return text_end(text);
}

/* A reference to a place inside the same document is no link to another. */
static bool
is_fragment_of_document(struct html_walk *walk, struct slice iri)
{
    const size_t mark = slice_find(iri, '#');
    return mark < iri.length && slice_equal(slice_of(iri.at, mark), walk->emitter->document.value);
}

static bool
starts_nocase(struct slice text, const char *prefix)
{
    const size_t n = strlen(prefix);
    return text.length >= n && slice_equal_nocase(slice_of(text.at, n), slice_of(prefix, n));
}

void
html_walk_anchor(struct html_walk *walk)
{
    struct slice href, iri, rel;
    if (!html_attribute(walk->tree, walk->node, "href", &href) &&
        !(walk->tree->nodes[walk->node].space == HTML_SPACE_SVG &&
          html_attribute(walk->tree, walk->node, "xlink:href", &href))) {
        return;
    }
    href = slice_trim(href);
    if (starts_nocase(href, "mailto:")) {
        html_walk_mailto(walk, href);
        return;
    }
    if (!links_resolve(&walk->extractor->links, href, &iri) || is_fragment_of_document(walk, iri)) {
        return;
    }
    const struct term target = term_iri(iri);
    emit(walk->emitter, &walk->emitter->document, VOCABULARY_SIOC "links_to", &target);
    if (html_attribute(walk->tree, walk->node, "rel", &rel)) {
        html_walk_relations(walk, rel, &target);
    }
    struct slice text = anchor_text(walk, walk->node);
    if (text.length == 0 && walk->tree->nodes[walk->node].element == HTML_AREA &&
        html_attribute(walk->tree, walk->node, "alt", &text)) {
        text = text_of(&walk->extractor->text, text, ANCHOR_MAXIMUM);
    }
    if (text.length > 0) {
        const struct term object = term_literal(text);
        emit(walk->emitter, &target, VOCABULARY_QUADRILLE "anchorText", &object);
    }
}

void
html_walk_link(struct html_walk *walk)
{
    struct slice href, iri, rel;
    if (html_attribute(walk->tree, walk->node, "href", &href) &&
        html_attribute(walk->tree, walk->node, "rel", &rel) &&
        links_resolve(&walk->extractor->links, slice_trim(href), &iri)) {
        const struct term target = term_iri(iri);
        html_walk_relations(walk, rel, &target);
    }
}

void
html_walk_source(struct html_walk *walk)
{
    struct slice source, iri;
    if (html_attribute(walk->tree, walk->node, "src", &source) &&
        links_resolve(&walk->extractor->links, slice_trim(source), &iri) &&
        !is_fragment_of_document(walk, iri)) {
        emit_iri(walk->emitter, VOCABULARY_SIOC "links_to", iri);
    }
}

void
html_walk_image(struct html_walk *walk)
{
    struct slice source, iri, alternative;
    if (!html_attribute(walk->tree, walk->node, "src", &source) ||
        !links_resolve(&walk->extractor->links, slice_trim(source), &iri)) {
        return;
    }
    const struct term image = term_iri(iri);
    emit(walk->emitter, &walk->emitter->document, VOCABULARY_FOAF "depiction", &image);
    if (html_attribute(walk->tree, walk->node, "alt", &alternative)) {
        alternative = text_of(&walk->extractor->text, alternative, ANCHOR_MAXIMUM);
        const struct term text = term_literal(alternative);
        if (alternative.length > 0) {
            emit(walk->emitter, &image, VOCABULARY_QUADRILLE "alternativeText", &text);
        }
    }
}
