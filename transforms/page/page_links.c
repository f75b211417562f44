/* Links, images and mail addresses of a page. */
#include "base/ascii.h"
#include "transforms/common/relations.h"
#include "transforms/common/vocabulary.h"
#include "transforms/page/page_extract.h"

enum { ANCHOR_MAXIMUM = 1024, ADDRESS_MAXIMUM = 254 };

/* ---- relations ---- */

static bool
is_rdfa_word(void *context, struct slice word)
{
    const struct html_walk *walk = context;
    return slice_find(word, ':') < word.length && html_is_rdfa_name(walk->tree, walk->node, word);
}

/* rel, rev and what is said of the target. */
static void
walk_relations(struct html_walk *walk, const struct term *target)
{
    const struct html_tree *tree = walk->tree;
    struct link_relations relations = {.is_foreign = is_rdfa_word, .context = walk};
    const bool rel = html_attribute(tree, walk->node, "rel", &relations.rel);
    const bool rev = html_attribute(tree, walk->node, "rev", &relations.rev);
    char tag[LANGUAGE_TAG_SIZE];
    if (!rel && !rev) {
        return;
    }
    html_attribute(tree, walk->node, "type", &relations.type);
    html_attribute(tree, walk->node, "hreflang", &relations.language);
    if (html_attribute(tree, walk->node, "title", &relations.title)) {
        relations.title = text_of(&walk->extractor->text, relations.title, ANCHOR_MAXIMUM);
        relations.title_language = html_walk_language(walk, walk->node, tag);
    }
    relations_emit(walk->emitter, &walk->extractor->name, &walk->emitter->document, target,
                   &relations);
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
        buf_append_char(name, ascii_lower(c));
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

static void
html_walk_mailto(struct html_walk *walk, struct slice href)
{
    char decoded[1024];
    size_t length = 0;
    for (size_t i = 7; i < href.length && href.at[i] != '?' && length < sizeof decoded; i++) {
        char c = href.at[i];
        if (c == '%' && i + 2 < href.length && ascii_hex_value(href.at[i + 1]) >= 0 &&
            ascii_hex_value(href.at[i + 2]) >= 0) {
            c = (char)(ascii_hex_value(href.at[i + 1]) << 4 | ascii_hex_value(href.at[i + 2]));
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

void
html_walk_anchor(struct html_walk *walk)
{
    struct slice href, iri;
    if (!html_attribute(walk->tree, walk->node, "href", &href) &&
        !(walk->tree->nodes[walk->node].space == HTML_SPACE_SVG &&
          html_attribute(walk->tree, walk->node, "xlink:href", &href))) {
        return;
    }
    href = slice_trim(href);
    if (slice_starts_nocase(href, SLICE("mailto:"))) {
        html_walk_mailto(walk, href);
        return;
    }
    if (!links_resolve(&walk->extractor->links, href, &iri) || is_fragment_of_document(walk, iri)) {
        return;
    }
    const struct term target = term_iri(iri);
    emit(walk->emitter, &walk->emitter->document, VOCABULARY_SIOC "links_to", &target);
    walk_relations(walk, &target);
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
    struct slice href, iri, rev, prefix;
    if (!html_attribute(walk->tree, walk->node, "href", &href) ||
        html_is_schema(walk->tree, walk->node, &prefix)) {
        return;
    }
    href = slice_trim(href);
    if (slice_starts_nocase(href, SLICE("mailto:"))) {
        if (html_attribute(walk->tree, walk->node, "rev", &rev) &&
            slice_equal_nocase(slice_trim(rev), SLICE("made"))) {
            html_walk_mailto(walk, href);
        }
    } else if (links_resolve(&walk->extractor->links, href, &iri)) {
        const struct term target = term_iri(iri);
        walk_relations(walk, &target);
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
