#include "identity/authority.h"

#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/url/url.h"
#include "identity/identity_state.h"

enum {
    REDIRECTS_MOST = 5,       /* of a term's address, one after the other */
    BLANK_ROWS_MOST = 256,    /* of the statements about a blank node */
    BLANK_DOCUMENTS_MOST = 4, /* with statements about one blank node */
};

static void
add_document(struct documents *documents, oid document)
{
    for (size_t i = 0; i < documents->count; i++) {
        if (documents->at[i] == document) {
            return;
        }
    }
    if (documents->count == DOCUMENTS_MOST) {
        documents->cut = true;
        return;
    }
    documents->at[documents->count++] = document;
}

static enum status
look_up(const struct identity *identity, struct slice iri, oid *id, struct reason *why)
{
    const struct quad_source *source = identity->settings.source;
    const struct term term = term_iri(iri);
    return source->lookup(source->context, &term, id, why);
}

/* ---- addresses ---- */

/* The address's own document, if the index has it, and what it redirects to. */
static enum status
follow_address(struct identity *identity, oid address, struct documents *documents, oid *target,
               struct reason *why)
{
    struct rows rows = {0};
    const struct quad_oids all = {.graph = address};
    *target = OID_NONE;
    enum status status = identity_rows(identity, &all, 1, &rows, why);
    if (status == STATUS_OK && rows.count > 0) {
        add_document(documents, address);
    }
    rows.count = 0;
    if (status == STATUS_OK && identity->settings.redirects) {
        const struct quad_oids redirect = {
            .subject = address,
            .predicate = identity->vocabulary.terms[VOCABULARY_REPLACED_BY],
            .graph = identity->vocabulary.terms[VOCABULARY_PROVENANCE]};
        status = identity_rows(identity, &redirect, 1, &rows, why);
        if (status == STATUS_OK && rows.count > 0) {
            *target = rows.at[0].object;
        }
    }
    rows_release(&rows);
    return status;
}

static enum status
address_id(const struct identity *identity, struct slice iri, oid *id, struct reason *why)
{
    struct buf key;
    buf_init(&key, 2 * URL_MAXIMUM);
    /* Documents of a crawl have its keys; other graphs any IRI. */
    const bool crawled = url_crawl_key(iri, slice_of(NULL, 0), &key, NULL) == STATUS_OK;
    const enum status status = look_up(identity, crawled ? buf_slice(&key) : iri, id, why);
    buf_release(&key);
    return status;
}

static enum status
read_address(struct identity *identity, oid first, struct documents *documents, struct reason *why)
{
    oid address = first;
    for (int hops = 0; hops <= REDIRECTS_MOST && address != OID_NONE; hops++) {
        struct term target;
        TRY(follow_address(identity, address, documents, &address, why));
        if (address == OID_NONE) {
            break;
        }
        TRY(identity_term(identity, address, &target, why));
        if (target.kind != TERM_IRI) {
            break;
        }
        TRY(address_id(identity, slice_of(target.value.at, slice_find(target.value, '#')), &address,
                       why));
    }
    return STATUS_OK;
}

/* Adds the documents that an address stands for. */
static enum status
add_address(struct identity *identity, struct slice iri, struct documents *documents,
            struct reason *why)
{
    oid ids[2];
    TRY(look_up(identity, iri, &ids[0], why));
    TRY(address_id(identity, iri, &ids[1], why));
    for (int i = 0; i < 2; i++) {
        if (ids[i] == OID_NONE || (i == 1 && ids[1] == ids[0])) {
            continue;
        }
        uint32_t place = map_get(&identity->authorities.address_places, ids[i]);
        if (place == (uint32_t)MAP_NONE) {
            struct documents found = {.count = 0};
            TRY(read_address(identity, ids[i], &found, why));
            place = (uint32_t)identity->authorities.address_count;
            *(struct documents *)list_add(&identity->authorities.addresses,
                                          &identity->authorities.address_count, sizeof found) =
                found;
            map_set(&identity->authorities.address_places, ids[i], place);
        }
        for (size_t k = 0; k < identity->authorities.addresses[place].count; k++) {
            add_document(documents, identity->authorities.addresses[place].at[k]);
        }
    }
    return STATUS_OK;
}

/* Documents are added at the end while they are gone through. */
static enum status
add_imports(struct identity *identity, struct documents *documents, struct reason *why)
{
    for (size_t i = 0; i < documents->count; i++) {
        struct schema schema;
        TRY(schema_read(identity, documents->at[i], &schema, why));
        documents->cut = documents->cut || schema.cut;
        for (size_t k = 0; k < schema.import_count; k++) {
            struct term import;
            TRY(identity_term(identity, schema.imports[k], &import, why));
            if (import.kind == TERM_IRI) {
                TRY(add_address(identity, slice_of(import.value.at, slice_find(import.value, '#')),
                                documents, why));
            }
        }
    }
    return STATUS_OK;
}

/* ---- terms ---- */

/* A blank node is said by the document that has it. */
static enum status
documents_of_blank(struct identity *identity, oid term, struct documents *documents,
                   struct reason *why)
{
    struct rows rows = {0};
    const struct quad_oids pattern = {.subject = term};
    const enum status status = identity_rows(identity, &pattern, BLANK_ROWS_MOST, &rows, why);
    for (size_t i = 0; i < rows.count && documents->count < BLANK_DOCUMENTS_MOST; i++) {
        add_document(documents, rows.at[i].graph);
    }
    rows_release(&rows);
    return status;
}

/* Tells whether the term is one of RDF, RDFS or OWL, whose meaning is fixed. */
static bool
is_of_language(struct slice iri)
{
    return slice_starts(iri, SLICE(RDF_NAMESPACE)) || slice_starts(iri, SLICE(RDFS_NAMESPACE)) ||
           slice_starts(iri, SLICE(OWL_NAMESPACE));
}

static enum status
documents_of_iri(struct identity *identity, struct slice iri, struct documents *documents,
                 struct reason *why)
{
    const size_t fragment = slice_find(iri, '#');
    size_t slash = fragment;
    TRY(add_address(identity, slice_of(iri.at, fragment), documents, why));
    if (fragment < iri.length) {
        TRY(add_address(identity, slice_of(iri.at, fragment + 1), documents, why));
        return STATUS_OK;
    }
    while (slash > 0 && iri.at[slash - 1] != '/') {
        slash--;
    }
    if (slash > 2 && iri.at[slash - 2] != '/') {
        TRY(add_address(identity, slice_of(iri.at, slash), documents, why));
        TRY(add_address(identity, slice_of(iri.at, slash - 1), documents, why));
    }
    return STATUS_OK;
}

enum status
authority_of(struct identity *identity, oid id, struct documents *documents, struct reason *why)
{
    const uint32_t place = map_get(&identity->authorities.term_places, id);
    struct term term;
    if (place != (uint32_t)MAP_NONE) {
        *documents = identity->authorities.terms[place];
        return STATUS_OK;
    }
    *documents = (struct documents){.count = 0};
    TRY(identity_term(identity, id, &term, why));
    if (term.kind == TERM_BLANK) {
        TRY(documents_of_blank(identity, id, documents, why));
    } else if (term.kind == TERM_IRI && is_of_language(term.value)) {
        documents->fixed = true;
    } else if (term.kind == TERM_IRI) {
        TRY(documents_of_iri(identity, term.value, documents, why));
        TRY(add_imports(identity, documents, why));
    }
    map_set(&identity->authorities.term_places, id, (uint32_t)identity->authorities.term_count);
    *(struct documents *)list_add(&identity->authorities.terms, &identity->authorities.term_count,
                                  sizeof *documents) = *documents;
    return STATUS_OK;
}

/* ---- contexts ---- */

/* Returns the digest of what a document says of properties and classes itself, and of what it
 * imports. */
static uint64_t
context_digest(const struct schema *schema, const struct documents *documents)
{
    const uint64_t parts[2] = {
        digest_local(slice_of((const char *)schema->axioms, schema->count * sizeof(struct axiom))),
        digest_local(slice_of((const char *)(documents->at + 1),
                              (documents->count - 1) * sizeof documents->at[0]))};
    return digest_local(slice_of((const char *)parts, sizeof parts));
}

static uint32_t
add_context(struct identity *identity, const struct documents *documents)
{
    struct authorities *authorities = &identity->authorities;
    *(struct documents *)list_add(&authorities->contexts, &authorities->context_count,
                                  sizeof *documents) = *documents;
    identity->counts.contexts_made++;
    return (uint32_t)authorities->context_count - 1;
}

enum status
context_of(struct identity *identity, oid document, uint32_t *context, struct reason *why)
{
    *context = map_get(&identity->authorities.context_places, document);
    if (*context != (uint32_t)MAP_NONE) {
        identity->counts.contexts_found++;
        return STATUS_OK;
    }
    struct schema schema;
    struct documents documents = {.at = {document}, .count = 1};
    TRY(schema_read(identity, document, &schema, why));
    if (schema.count + schema.import_count == 0) {
        documents.count = 0;
    } else {
        TRY(add_imports(identity, &documents, why));
    }
    const uint64_t digest = documents.count > 0 ? context_digest(&schema, &documents) : 0;
    *context = map_get(&identity->authorities.digest_places, digest);
    if (*context == (uint32_t)MAP_NONE) {
        *context = add_context(identity, &documents);
        map_set(&identity->authorities.digest_places, digest, *context);
    }
    map_set(&identity->authorities.context_places, document, *context);
    return STATUS_OK;
}

const struct documents *
context_documents(const struct identity *identity, uint32_t context)
{
    return &identity->authorities.contexts[context];
}

void
authorities_release(struct authorities *authorities)
{
    map_release(&authorities->term_places);
    map_release(&authorities->address_places);
    map_release(&authorities->context_places);
    map_release(&authorities->digest_places);
    free(authorities->terms);
    free(authorities->addresses);
    free(authorities->contexts);
}
