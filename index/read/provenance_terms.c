#include "index/read/provenance_terms.h"

#include <stdlib.h>

#include "base/memory.h"
#include "index/read/provenance_many.h"
#include "index/terms/term_set.h"

enum { PREDICATES = 64 };

/* Identifiers of nodes: OID_OVERLAY, NODE, number of the record, number of the label. */
#define NODE ((oid)1 << 58)
#define LABEL_BITS 20
#define LABEL_MASK (((oid)1 << LABEL_BITS) - 1)

struct provenance_terms {
    const struct quad_source *inner;
    size_t memory;
    struct term_set terms; /* that only records have */
    struct term_set keys;  /* of records with nodes, as IRIs */
    struct term_set labels;
    struct term_set owners; /* id: number of the key */
    struct {
        const char *at;
        oid id;
    } predicates[PREDICATES];
};

struct provenance_terms *
provenance_terms_new(const struct quad_source *inner, size_t memory)
{
    struct provenance_terms *terms = memory_new(sizeof *terms);
    terms->inner = inner;
    terms->memory = memory;
    term_set_init(&terms->terms);
    term_set_init(&terms->keys);
    term_set_init(&terms->labels);
    term_set_init(&terms->owners);
    return terms;
}

void
provenance_terms_free(struct provenance_terms *terms)
{
    if (terms != NULL) {
        term_set_release(&terms->terms);
        term_set_release(&terms->keys);
        term_set_release(&terms->labels);
        term_set_release(&terms->owners);
        free(terms);
    }
}

static enum status
check_memory(const struct provenance_terms *terms, struct reason *why)
{
    const size_t bytes = term_set_bytes(&terms->terms) + term_set_bytes(&terms->keys) +
                         term_set_bytes(&terms->owners);
    return bytes <= terms->memory
               ? STATUS_OK
               : status_fail(why, STATUS_LIMIT, "the query touches too many terms of metadata");
}

/* Own terms first: a term that came to be stored meanwhile keeps its identifier. */
enum status
provenance_identify(struct provenance_terms *terms, const struct term *term, oid *id,
                    struct reason *why)
{
    const struct term normal = term_normal(term);
    const uint64_t hash = term_hash(&normal);
    struct set_term *own = term_set_find(&terms->terms, &normal, hash);
    if (own == NULL) {
        TRY(terms->inner->lookup(terms->inner->context, term, id, why));
        if (*id != OID_NONE) {
            return STATUS_OK;
        }
        TRY(check_memory(terms, why));
        own = term_set_insert(&terms->terms, &normal, hash);
    }
    *id = OID_OVERLAY | (oid)(own - terms->terms.terms);
    return STATUS_OK;
}

enum status
provenance_identify_predicate(struct provenance_terms *terms, const struct term *term, oid *id,
                              struct reason *why)
{
    const size_t place = ((uintptr_t)term->value.at >> 3) % PREDICATES;
    if (terms->predicates[place].at != term->value.at) {
        TRY(provenance_identify(terms, term, &terms->predicates[place].id, why));
        terms->predicates[place].at = term->value.at;
    }
    *id = terms->predicates[place].id;
    return STATUS_OK;
}

enum status
provenance_identify_node(struct provenance_terms *terms, size_t record, const struct term *term,
                         oid *id, struct reason *why)
{
    TRY(check_memory(terms, why));
    const oid label = term_set_add(&terms->labels, term);
    if (label > LABEL_MASK) {
        return status_fail(why, STATUS_LIMIT, "a record of metadata has too many nodes");
    }
    *id = OID_OVERLAY | NODE | (oid)record << LABEL_BITS | label;
    return STATUS_OK;
}

enum status
provenance_resolve(const struct provenance_terms *terms, oid id, struct arena *arena,
                   struct term *term, struct reason *why)
{
    if (!provenance_owns(id)) {
        return terms->inner->resolve(terms->inner->context, id, arena, term, why);
    }
    if (provenance_is_node(id)) {
        *term = term_blank(arena_printf(arena, "p%zu%.*s", provenance_node_record(id),
                                        SLICE_PRINT(provenance_node_label(terms, id))));
        return term->value.length > 0
                   ? STATUS_OK
                   : status_fail(why, STATUS_LIMIT, "a term does not fit in memory");
    }
    return term_copy(arena, &terms->terms.terms[id & ~OID_OVERLAY].term, term)
               ? STATUS_OK
               : status_fail(why, STATUS_LIMIT, "a term does not fit in memory");
}

/* ---- records ---- */

size_t
provenance_number_record(struct provenance_terms *terms, struct slice key)
{
    const struct term iri = term_iri(key);
    return term_set_add(&terms->keys, &iri);
}

bool
provenance_is_node(oid id)
{
    return provenance_owns(id) && (id & NODE) != 0;
}

size_t
provenance_node_record(oid id)
{
    return (size_t)((id & (NODE - 1)) >> LABEL_BITS);
}

struct slice
provenance_node_label(const struct provenance_terms *terms, oid id)
{
    return terms->labels.terms[id & LABEL_MASK].term.value;
}

bool
provenance_is_archived(const struct term *term)
{
    return term->kind == TERM_IRI && slice_starts(term->value, SLICE("urn:uuid:"));
}

enum status
provenance_remember_owner(struct provenance_terms *terms, const struct term *term, size_t record,
                          struct reason *why)
{
    const uint64_t hash = term_hash(term);
    TRY(check_memory(terms, why));
    if (term_set_find(&terms->owners, term, hash) == NULL) {
        term_set_insert(&terms->owners, term, hash)->id = record;
    }
    return STATUS_OK;
}

bool
provenance_leads_to_record(const struct provenance_terms *terms, oid id, const struct term *term,
                           struct buf *key)
{
    if (provenance_is_node(id)) {
        (void)buf_append_slice(key, terms->keys.terms[provenance_node_record(id)].term.value);
        return true;
    }
    if (!provenance_is_archived(term)) {
        return false;
    }
    const struct set_term *owner = term_set_find(&terms->owners, term, term_hash(term));
    if (owner != NULL) {
        (void)buf_append_slice(key, terms->keys.terms[owner->id].term.value);
    }
    return owner != NULL;
}
