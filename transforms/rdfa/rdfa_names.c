/* Terms, CURIEs and IRIs: RDFa Core 1.1, section 7.4. */

#include "base/memory.h"
#include "base/url/url.h"
#include "transforms/common/links.h"
#include "transforms/rdfa/rdfa_processor.h"

/* ---- prefixes ---- */

static struct slice
find_mapping(const struct rdfa *rdfa, size_t count, struct slice prefix)
{
    for (size_t i = count; i > 0; i--) {
        if (slice_equal_nocase(rdfa->mappings[i - 1].prefix, prefix)) {
            return rdfa->mappings[i - 1].iri;
        }
    }
    return (struct slice){0};
}

static void
add_mapping(struct rdfa *rdfa, struct slice prefix, struct slice iri)
{
    if (prefix.length == 0 || slice_is(prefix, "_")) {
        rdfa_tell(rdfa, RDFA_MALFORMED, "\"%.*s:\" cannot be declared as a prefix",
                  rdfa_shown(prefix), prefix.at);
        return;
    }
    if (rdfa->mapping_count == RDFA_MAPPINGS) {
        rdfa_tell(rdfa, RDFA_TOO_MUCH, "more than %d prefixes", RDFA_MAPPINGS);
        return;
    }
    struct slice old = find_mapping(rdfa, rdfa->mapping_count, prefix);
    if (!old.at && rdfa->host != RDFA_XHTML_1_0) {
        old = rdfa_initial_prefix(prefix);
    }
    if (old.at && !slice_equal(old, iri)) {
        rdfa_tell(rdfa, RDFA_PREFIX_REDEFINITION, "prefix %.*s: is declared as another IRI again",
                  rdfa_shown(prefix), prefix.at);
    }
    if (rdfa->mapping_count == rdfa->mapping_capacity) {
        rdfa->mapping_capacity = rdfa->mapping_capacity * 2 + 16;
        rdfa->mappings =
            memory_resize(rdfa->mappings, rdfa->mapping_capacity, sizeof *rdfa->mappings);
    }
    rdfa->mappings[rdfa->mapping_count++] = (struct rdfa_mapping){prefix, iri};
}

static void
read_prefixes(struct rdfa *rdfa, struct slice list)
{
    struct slice prefix, iri;
    while ((prefix = slice_next_word(&list)).length > 0) {
        const bool named = prefix.at[prefix.length - 1] == ':';
        if (!named) {
            rdfa_tell(rdfa, RDFA_MALFORMED, "prefix: \"%.*s\" should end with a colon",
                      rdfa_shown(prefix), prefix.at);
            continue;
        }
        if ((iri = slice_next_word(&list)).length == 0) {
            rdfa_tell(rdfa, RDFA_MALFORMED, "prefix: no IRI after \"%.*s\"", rdfa_shown(prefix),
                      prefix.at);
            return;
        }
        add_mapping(rdfa, slice_of(prefix.at, prefix.length - 1), iri);
    }
}

/* xmlns first, so that prefix overrides it. */
void
rdfa_declare(struct rdfa *rdfa, const struct rdfa_context *context,
             const struct rdfa_element *element)
{
    const struct html_node *node = &rdfa->tree->nodes[element->node];
    rdfa->mapping_count = context->mapping_count;
    if (!rdfa_has(element, RDFA_BIT(XMLNS) | RDFA_BIT(PREFIX))) {
        return;
    }
    rdfa->scope++;
    if (rdfa_has(element, RDFA_BIT(XMLNS))) {
        for (uint32_t i = 0; i < node->attribute_count; i++) {
            const struct html_attribute *attribute = &rdfa->tree->attributes[node->attribute + i];
            if (slice_starts(attribute->name, SLICE("xmlns:"))) {
                add_mapping(rdfa, slice_of(attribute->name.at + 6, attribute->name.length - 6),
                            slice_trim(attribute->value));
            }
        }
    }
    if (rdfa_has(element, RDFA_BIT(PREFIX))) {
        read_prefixes(rdfa, element->values[RDFA_PREFIX]);
    }
}

/* ---- IRIs ---- */

static bool
is_plain(struct slice iri)
{
    return memmem(iri.at, iri.length, "/.", 2) == NULL && iri_is_absolute(iri);
}

struct slice
rdfa_resolve(struct rdfa *rdfa, struct slice base, struct slice reference)
{
    if (reference.length > 0 && is_plain(reference)) {
        return reference;
    }
    struct buf *work = &rdfa->work;
    buf_reset(work);
    if (iri_resolve(base, reference, work, NULL) != STATUS_OK) {
        return (struct slice){0};
    }
    const size_t end = work->length;
    if (iri_is_absolute(buf_slice(work))) {
        return rdfa_keep(rdfa, buf_slice(work));
    }
    const struct slice raw = rdfa_keep(rdfa, buf_slice(work));
    if (!document_iri(raw, work)) {
        return (struct slice){0};
    }
    return rdfa_keep(rdfa, slice_of(work->data + end, work->length - end));
}

static struct term
iri_term(struct slice iri)
{
    return iri.at ? term_iri(iri) : (struct term){0};
}

/* ---- CURIEs ---- */

/* Labels keep letters and digits; every other byte is written _HH, so that no two meet. */
static struct term
named_blank(struct rdfa *rdfa, struct slice label)
{
    static const char hex[] = "0123456789abcdef";
    struct buf *work = &rdfa->work;
    buf_reset(work);
    buf_append_string(work, "rdfax");
    for (size_t i = 0; i < label.length; i++) {
        const char c = label.at[i];
        if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
            buf_append_char(work, c);
        } else {
            const char escape[3] = {'_', hex[(uint8_t)c >> 4], hex[(uint8_t)c & 15]};
            buf_append(work, escape, 3);
        }
    }
    return term_blank(rdfa_keep(rdfa, buf_slice(work)));
}

static struct slice
find_prefix(const struct rdfa *rdfa, struct slice prefix)
{
    if (prefix.length == 0) {
        return SLICE(VOCABULARY_XHV);
    }
    const struct slice iri = find_mapping(rdfa, rdfa->mapping_count, prefix);
    return iri.at || rdfa->host == RDFA_XHTML_1_0 ? iri : rdfa_initial_prefix(prefix);
}

/* NONE: not a CURIE, or its prefix is unknown. */
static struct term
read_curie(struct rdfa *rdfa, const struct rdfa_context *context, struct slice curie)
{
    const size_t colon = slice_find(curie, ':');
    if (colon == curie.length) {
        return (struct term){0};
    }
    const struct slice prefix = slice_of(curie.at, colon);
    const struct slice reference = slice_of(curie.at + colon + 1, curie.length - colon - 1);
    if (slice_is(prefix, "_")) {
        return named_blank(rdfa, reference);
    }
    if (slice_starts(reference, SLICE("//"))) {
        return (struct term){0};
    }
    const struct slice namespace = find_prefix(rdfa, prefix);
    if (!namespace.at) {
        return (struct term){0};
    }
    struct buf *text = &rdfa->text;
    buf_reset(text);
    buf_append_slice(text, namespace);
    buf_append_slice(text, reference);
    return iri_term(rdfa_resolve(rdfa, context->base, rdfa_keep(rdfa, buf_slice(text))));
}

struct term
rdfa_resource(struct rdfa *rdfa, const struct rdfa_context *context, struct slice value)
{
    value = slice_trim(value);
    if (value.length > 1 && value.at[0] == '[' && value.at[value.length - 1] == ']') {
        const struct slice curie = slice_of(value.at + 1, value.length - 2);
        const struct term term = read_curie(rdfa, context, curie);
        if (term.kind == TERM_NONE && curie.length > 0) {
            rdfa_tell(rdfa, RDFA_UNRESOLVED_CURIE, "the prefix of [%.*s] is not declared",
                      rdfa_shown(curie), curie.at);
        }
        return term;
    }
    if (rdfa->host != RDFA_XHTML_1_0) {
        const struct term term = read_curie(rdfa, context, value);
        if (term.kind != TERM_NONE) {
            return term;
        }
    }
    return iri_term(rdfa_resolve(rdfa, context->base, value));
}

struct term
rdfa_link(struct rdfa *rdfa, const struct rdfa_context *context, struct slice value)
{
    return iri_term(rdfa_resolve(rdfa, context->base, slice_trim(value)));
}

/* ---- names ---- */

/* RDFa Core takes any "a:b" whose prefix is unknown for an absolute IRI; few of them are meant so.
 */
static bool
looks_absolute(struct slice token, size_t colon)
{
    static const char *const schemes[] = {"urn", "tag", "info", "did", "doi", "mailto", "tel"};
    if (slice_starts(slice_of(token.at + colon, token.length - colon), SLICE("://"))) {
        return true;
    }
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        if (slice_equal_nocase(slice_of(token.at, colon), slice_string(schemes[i]))) {
            return true;
        }
    }
    return false;
}

/* Tells whether it is a meta element, which is understood without RDFa, too. */
static bool
is_meta(const struct rdfa *rdfa)
{
    return rdfa->host == RDFA_HTML && !rdfa->options->processor_graph &&
           rdfa->tree->nodes[rdfa->node].element == HTML_META;
}

static struct term
read_term(struct rdfa *rdfa, const struct rdfa_context *context, struct slice term,
          enum rdfa_use use)
{
    if (context->vocabulary.at) {
        struct buf *text = &rdfa->text;
        buf_reset(text);
        buf_append_slice(text, context->vocabulary);
        buf_append_slice(text, term);
        const struct slice iri = rdfa_keep(rdfa, buf_slice(text));
        return iri_is_absolute(iri) ? term_iri(iri) : (struct term){0};
    }
    const struct slice iri = rdfa_initial_term(rdfa->host, term, use == RDFA_USE_RELATION);
    if (!iri.at) {
        const bool quiet = use == RDFA_USE_RELATION && !rdfa->options->processor_graph;
        if (!quiet && !is_meta(rdfa)) {
            rdfa_tell(rdfa, RDFA_UNRESOLVED_TERM, "\"%.*s\" is no term: there is no vocab here",
                      rdfa_shown(term), term.at);
        }
        return (struct term){0};
    }
    return term_iri(iri);
}

static struct term
read_name(struct rdfa *rdfa, const struct rdfa_context *context, struct slice token,
          enum rdfa_use use)
{
    if (token.length > 2 && token.at[0] == '[' && token.at[token.length - 1] == ']') {
        return read_curie(rdfa, context, slice_of(token.at + 1, token.length - 2));
    }
    const size_t colon = slice_find(token, ':');
    if (colon == token.length) {
        return read_term(rdfa, context, token, use);
    }
    const struct term curie = read_curie(rdfa, context, token);
    if (curie.kind != TERM_NONE) {
        return curie;
    }
    const bool known = looks_absolute(token, colon);
    if (!known && is_meta(rdfa)) {
        return (struct term){0};
    }
    if (!known) {
        rdfa_tell(rdfa, RDFA_UNRESOLVED_CURIE, "the prefix of %.*s is not declared",
                  rdfa_shown(token), token.at);
    }
    if (rdfa->host != RDFA_XHTML_1_0 && iri_is_absolute(token)) {
        return term_iri(token);
    }
    return (struct term){0};
}

static struct rdfa_cached *
cache_slot(struct rdfa *rdfa, struct slice token)
{
    const unsigned hash = (unsigned)token.length * 7 + (uint8_t)token.at[token.length - 1] * 13 +
                          (uint8_t)token.at[token.length / 2];
    return &rdfa->cache[hash % RDFA_CACHE];
}

/* Returns the term of the name, from a cache: the same few names come again and again. */
struct term
rdfa_name(struct rdfa *rdfa, const struct rdfa_context *context, struct slice token,
          enum rdfa_use use)
{
    const bool curie = slice_find(token, ':') < token.length;
    struct rdfa_cached *slot = cache_slot(rdfa, token);
    if (curie && slot->scope == rdfa->scope && slot->mapping_count == rdfa->mapping_count &&
        slice_equal(slot->token, token)) {
        return term_iri(slot->iri);
    }
    const struct term term = read_name(rdfa, context, token, use);
    if (curie && term.kind == TERM_IRI) {
        *slot = (struct rdfa_cached){token, term.value, rdfa->mapping_count, rdfa->scope};
    }
    const bool blank_fits = use == RDFA_USE_TYPE;
    return term.kind == TERM_IRI || (term.kind == TERM_BLANK && blank_fits) ? term
                                                                            : (struct term){0};
}
