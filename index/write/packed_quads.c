#include "index/write/packed_quads.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/varint.h"
#include "index/sort/oid_sort.h"
#include "rdf/core/lexical.h"

/* ---- writing ---- */

static void
put_term(struct buf *out, const struct term *term)
{
    const enum oid_kind kind = oid_kind_of(term);
    codec_put_u8(out, (uint8_t)kind);
    if (kind == OID_KIND_TYPED) {
        codec_put_slice(out, term->datatype);
    } else if (kind == OID_KIND_LANGUAGE) {
        codec_put_slice(out, term->language);
    }
    codec_put_slice(out, term->value);
}

/* Returns how many graphs there are when the quads are in the order of graphs. */
static size_t
group(struct packed_quad *quads, size_t count)
{
    bool ascending = true;
    for (size_t i = 1; i < count && ascending; i++) {
        ascending = quads[i].graph >= quads[i - 1].graph;
    }
    if (!ascending) {
        struct sort_item *items = memory_alloc(count * sizeof(*items));
        struct sort_item *spare = memory_alloc(count * sizeof(*spare));
        struct packed_quad *old = memory_alloc(count * sizeof(*old));
        memcpy(old, quads, count * sizeof(*old));
        for (size_t i = 0; i < count; i++) {
            items[i] = (struct sort_item){quads[i].graph, (uint32_t)i};
        }
        const struct sort_item *sorted = oid_sort(items, spare, count);
        for (size_t i = 0; i < count; i++) {
            quads[i] = old[sorted[i].index];
        }
        free(items);
        free(spare);
        free(old);
    }
    size_t graphs = count > 0;
    for (size_t i = 1; i < count; i++) {
        graphs += quads[i].graph != quads[i - 1].graph;
    }
    return graphs;
}

void
packed_quads_write(struct buf *out, const struct term_set *terms, struct packed_quad *quads,
                   size_t count)
{
    enum { QUAD_MOST = 3 * VARINT_MAXIMUM };
    codec_put_varint(out, terms->count);
    for (size_t i = 0; i < terms->count; i++) {
        put_term(out, &terms->terms[i].term);
    }
    codec_put_varint(out, group(quads, count));
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && quads[end].graph == quads[i].graph; end++) {
        }
        codec_put_varint(out, quads[i].graph);
        codec_put_varint(out, end - i);
        char *start = buf_reserve(out, (end - i) * QUAD_MOST);
        if (start == NULL) {
            return;
        }
        uint8_t *at = (uint8_t *)start;
        for (size_t k = i; k < end; k++) {
            at = varint_put(at, quads[k].subject);
            at = varint_put(at, quads[k].predicate);
            at = varint_put(at, quads[k].object);
        }
        buf_commit(out, (size_t)((char *)at - start));
    }
}

/* ---- reading ---- */

static bool
get_term(struct codec_reader *in, struct term *term)
{
    const enum oid_kind kind = (enum oid_kind)codec_get_u8(in);
    *term = (struct term){.kind = TERM_LITERAL};
    if (kind == OID_KIND_TYPED) {
        term->datatype = codec_get_slice(in);
    } else if (kind == OID_KIND_LANGUAGE) {
        term->language = codec_get_slice(in);
    } else if (kind == OID_KIND_IRI || kind == OID_KIND_BLANK) {
        term->kind = kind == OID_KIND_IRI ? TERM_IRI : TERM_BLANK;
    }
    const struct slice text = term->value = codec_get_slice(in);
    if (in->bad) {
        return false;
    }
    switch (kind) {
    case OID_KIND_IRI:
        return lexical_iri_valid(text);
    case OID_KIND_BLANK:
        return text.length > 0 &&
               lexical_blank_label(text.at, text.at + text.length) == text.length;
    case OID_KIND_TYPED:
        return lexical_iri_valid(term->datatype) && lexical_utf8_valid(text.at, text.length);
    case OID_KIND_LANGUAGE:
        return lexical_language_valid(term->language) && lexical_utf8_valid(text.at, text.length);
    case OID_KIND_STRING:
        return lexical_utf8_valid(text.at, text.length);
    default:
        return false;
    }
}

/* A term of the request in the batch. */
struct packed_term {
    uint32_t number;
    enum term_kind kind;
    struct slice iri;
};

static bool
get_quads(struct codec_reader *in, struct index_batch *batch, const struct packed_term *terms,
          uint64_t term_count)
{
    const uint64_t graph = codec_get_varint(in), count = codec_get_varint(in);
    if (in->bad || graph >= term_count || terms[graph].kind != TERM_IRI) {
        return false;
    }
    index_batch_begin_patch(batch, terms[graph].iri);
    const uint8_t *at = in->at;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t subject, predicate, object;
        at = varint_get(at, in->end, &subject);
        at = at != NULL ? varint_get(at, in->end, &predicate) : NULL;
        at = at != NULL ? varint_get(at, in->end, &object) : NULL;
        if (at == NULL || subject >= term_count || predicate >= term_count ||
            object >= term_count || terms[subject].kind == TERM_LITERAL ||
            terms[predicate].kind != TERM_IRI) {
            return false;
        }
        index_batch_triple(batch, terms[subject].number, terms[predicate].number,
                           terms[object].number);
    }
    in->at = at;
    (void)index_batch_end(batch);
    return true;
}

/* Some terms at a time, so that the memory which each needs has come when it is looked up. */
static bool
get_terms(struct codec_reader *in, struct index_batch *batch, struct packed_term *terms,
          uint64_t count)
{
    enum { WINDOW = 16 };
    struct term window[WINDOW];
    for (uint64_t i = 0; i < count;) {
        const size_t n = count - i < WINDOW ? (size_t)(count - i) : WINDOW;
        uint32_t numbers[WINDOW];
        for (size_t k = 0; k < n; k++) {
            if (!get_term(in, &window[k])) {
                return false;
            }
        }
        index_batch_terms(batch, window, n, numbers);
        for (size_t k = 0; k < n; k++, i++) {
            terms[i] = (struct packed_term){numbers[k], window[k].kind, window[k].value};
        }
    }
    return true;
}

static bool
get_all(struct codec_reader *in, struct index_batch *batch, struct packed_term **terms)
{
    const uint64_t term_count = codec_get_varint(in);
    if (in->bad || term_count > (uint64_t)(in->end - in->at)) {
        return false;
    }
    *terms = memory_alloc(term_count * sizeof(**terms));
    if (!get_terms(in, batch, *terms, term_count)) {
        return false;
    }
    const uint64_t graphs = codec_get_varint(in);
    for (uint64_t i = 0; i < graphs; i++) {
        if (in->bad || !get_quads(in, batch, *terms, term_count)) {
            return false;
        }
    }
    return codec_at_end(in);
}

enum status
packed_quads_read(struct codec_reader *in, struct index_batch *batch, struct reason *why)
{
    struct packed_term *terms = NULL;
    const bool good = get_all(in, batch, &terms);
    free(terms);
    return good ? STATUS_OK : status_fail(why, STATUS_PROTOCOL, "a packed change is malformed");
}
