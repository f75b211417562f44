#include "index/client/federation/federation_terms.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/client/federation/federation_state.h"

void
federation_terms_init(struct federation_terms *terms, size_t partitions, size_t most)
{
    *terms = (struct federation_terms){.most = most};
    term_set_init(&terms->set);
    terms->partitions = memory_zero(partitions, sizeof(*terms->partitions));
}

void
federation_terms_release(struct federation_terms *terms, size_t partitions)
{
    for (size_t i = 0; i < partitions; i++) {
        free(terms->partitions[i].ids);
    }
    free(terms->partitions);
    term_set_release(&terms->set);
}

enum status
federation_id(struct federation *federation, const struct term *term, oid *id, struct reason *why)
{
    *id = oid_inline_of(term);
    if (*id != OID_NONE) {
        return STATUS_OK;
    }
    struct federation_terms *terms = &federation->terms;
    if (term_set_bytes(&terms->set) + terms->ids_memory > terms->most) {
        return status_fail(why, STATUS_LIMIT, "the query touches too many terms");
    }
    *id = (oid)term_set_add(&terms->set, term) + 1;
    return STATUS_OK;
}

bool
federation_is_numbered(const struct federation *federation, oid id)
{
    return id != OID_NONE && id <= federation->terms.set.count;
}

struct term
federation_term(const struct federation *federation, oid id, char text[OID_INLINE_TEXT])
{
    struct term term = {.kind = TERM_NONE};
    if (federation_is_numbered(federation, id)) {
        return federation->terms.set.terms[id - 1].term;
    }
    if (id != OID_NONE) {
        (void)oid_inline_term(id, text, &term);
    }
    return term;
}

oid
federation_member_id(const struct federation *federation, size_t partition, oid id)
{
    const struct partition_ids *member = &federation->terms.partitions[partition];
    if (!federation_is_numbered(federation, id)) {
        return id;
    }
    return id < member->capacity ? member->ids[id] : OID_NONE;
}

enum status
federation_learn(struct federation *federation, size_t partition, oid id, oid its_id,
                 struct reason *why)
{
    struct federation_terms *terms = &federation->terms;
    struct partition_ids *member = &terms->partitions[partition];
    if (!federation_is_numbered(federation, id)) {
        return STATUS_OK;
    }
    if (id >= member->capacity) {
        const size_t capacity = 2 * terms->set.count + 2;
        member->ids = memory_resize(member->ids, capacity, sizeof(*member->ids));
        memset(member->ids + member->capacity, 0,
               (capacity - member->capacity) * sizeof(*member->ids));
        terms->ids_memory += (capacity - member->capacity) * sizeof(*member->ids);
        member->capacity = capacity;
        if (terms->ids_memory > terms->most) {
            return status_fail(why, STATUS_LIMIT, "the query touches too many terms");
        }
    }
    member->ids[id] = its_id;
    return STATUS_OK;
}

size_t
federation_owner(const struct federation *federation, oid graph)
{
    char text[OID_INLINE_TEXT];
    return graph == OID_NONE
               ? federation->client->count
               : client_owner(federation->client, federation_term(federation, graph, text).value);
}
