/* The terms of a federation, and what each partition calls them. */
#include <string.h>

#include "base/memory.h"
#include "index/client/federation/federation_private.h"

enum status
federation_id(struct federation *federation, const struct term *term, oid *id, struct reason *why)
{
    *id = oid_inline_of(term);
    if (*id != OID_NONE) {
        return STATUS_OK;
    }
    if (term_set_bytes(&federation->terms) + federation->ids_memory > federation->memory) {
        return status_fail(why, STATUS_LIMIT, "the query touches too many terms");
    }
    *id = (oid)term_set_add(&federation->terms, term) + 1;
    return STATUS_OK;
}

bool
federation_is_numbered(const struct federation *federation, oid id)
{
    return id != OID_NONE && id <= federation->terms.count;
}

struct term
federation_term(const struct federation *federation, oid id, char text[OID_INLINE_TEXT])
{
    struct term term = {.kind = TERM_NONE};
    if (federation_is_numbered(federation, id)) {
        return federation->terms.terms[id - 1].term;
    }
    if (id != OID_NONE) {
        (void)oid_inline_term(id, text, &term);
    }
    return term;
}

oid
federation_member_id(const struct federation *federation, size_t partition, oid id)
{
    const struct member *member = &federation->members[partition];
    if (!federation_is_numbered(federation, id)) {
        return id;
    }
    return id < member->capacity ? member->ids[id] : OID_NONE;
}

enum status
federation_learn(struct federation *federation, size_t partition, oid id, oid its_id,
                 struct reason *why)
{
    struct member *member = &federation->members[partition];
    if (!federation_is_numbered(federation, id)) {
        return STATUS_OK;
    }
    if (id >= member->capacity) {
        const size_t capacity = 2 * federation->terms.count + 2;
        member->ids = memory_resize(member->ids, capacity, sizeof(*member->ids));
        memset(member->ids + member->capacity, 0,
               (capacity - member->capacity) * sizeof(*member->ids));
        federation->ids_memory += (capacity - member->capacity) * sizeof(*member->ids);
        member->capacity = capacity;
        if (federation->ids_memory > federation->memory) {
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
