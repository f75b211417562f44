#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/federation_private.h"

/* ---- terms ---- */

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

static bool
is_numbered(const struct federation *federation, oid id)
{
    return id != OID_NONE && id <= federation->terms.count;
}

struct term
federation_term(const struct federation *federation, oid id, char text[OID_INLINE_TEXT])
{
    struct term term = {.kind = TERM_NONE};
    if (is_numbered(federation, id)) {
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
    if (!is_numbered(federation, id)) {
        return id;
    }
    return id < member->capacity ? member->ids[id] : OID_NONE;
}

enum status
federation_learn(struct federation *federation, size_t partition, oid id, oid its_id,
                 struct reason *why)
{
    struct member *member = &federation->members[partition];
    if (!is_numbered(federation, id)) {
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

static enum status
federation_lookup(void *context, const struct term *term, oid *id, struct reason *why)
{
    return federation_id(context, term, id, why);
}

static enum status
federation_resolve(void *context, oid id, struct arena *arena, struct term *term,
                   struct reason *why)
{
    char text[OID_INLINE_TEXT];
    const struct term found = federation_term(context, id, text);
    if (found.kind == TERM_NONE) {
        return status_fail(why, STATUS_CORRUPT, "no term has the identifier %llu",
                           (unsigned long long)id);
    }
    return term_copy(arena, &found, term)
               ? STATUS_OK
               : status_fail(why, STATUS_LIMIT, "a term does not fit in memory");
}

/* ---- estimates ---- */

/* One partition's. */
struct estimate {
    enum status status;
    struct reason why;
    uint64_t rows;
    bool answered, given_up; /* given up: nobody waits for it any more */
};

static void
estimated(void *context, enum status status, struct slice payload, const struct reason *why)
{
    struct estimate *estimate = context;
    if (estimate->given_up) {
        free(estimate);
        return;
    }
    struct codec_reader in = codec_reader_of(payload);
    estimate->answered = true;
    estimate->status = status;
    estimate->why = *why;
    estimate->rows = status == STATUS_OK ? codec_get_u64(&in) : 0;
}

static void
let_go(struct estimate *estimate)
{
    if (estimate != NULL && !estimate->answered) {
        estimate->given_up = true;
    } else {
        free(estimate);
    }
}

/* Adds up all partitions', or takes that of the one that has the graph. */
static enum status
add_estimates(struct federation *federation, struct slice request, size_t owner, uint64_t *rows,
              struct reason *why)
{
    struct index_client *client = federation->client;
    struct estimate **estimates = memory_zero(client->count, sizeof(struct estimate *));
    for (size_t i = 0; i < client->count; i++) {
        if (!client->partitions[i].missing && (owner == client->count || owner == i)) {
            estimates[i] = memory_zero(1, sizeof(struct estimate));
            rpc_client_post(client->partitions[i].rpc, INDEX_VERB_ESTIMATE, request,
                            client->silence_ms, estimated, estimates[i]);
        }
    }
    enum status status = STATUS_OK;
    for (size_t i = 0; i < client->count; i++) {
        struct estimate *estimate = estimates[i];
        while (estimate != NULL && !estimate->answered && status == STATUS_OK) {
            status = client_wait(client, why);
        }
        if (estimate != NULL && status == STATUS_OK) {
            *rows += estimate->rows;
            if (estimate->status != STATUS_OK) {
                status = client_miss(client, i, estimate->status, &estimate->why, why);
            }
        }
        let_go(estimate);
    }
    free(estimates);
    return status;
}

static enum status
federation_estimate(void *context, const struct quad_oids *pattern, uint64_t *rows,
                    struct reason *why)
{
    struct federation *federation = context;
    char text[4][OID_INLINE_TEXT];
    const struct quad terms = {.subject = federation_term(federation, pattern->subject, text[0]),
                               .predicate =
                                   federation_term(federation, pattern->predicate, text[1]),
                               .object = federation_term(federation, pattern->object, text[2]),
                               .graph = federation_term(federation, pattern->graph, text[3])};
    struct buf request;
    *rows = 0;
    buf_init(&request, FEDERATION_REQUEST_MAXIMUM);
    index_put_pattern(&request, &terms);
    const enum status status =
        request.overflowed ? status_fail(why, STATUS_LIMIT, "a request to the index is too long")
                           : add_estimates(federation, buf_slice(&request),
                                           federation_owner(federation, pattern->graph), rows, why);
    buf_release(&request);
    return status;
}

/* ---- life ---- */

struct federation *
federation_new(struct index_client *client, size_t memory)
{
    struct federation *federation = memory_zero(1, sizeof(*federation));
    federation->client = client;
    federation->memory = memory;
    federation->session = ++client->last_session;
    federation->members = memory_zero(client->count, sizeof(*federation->members));
    term_set_init(&federation->terms);
    federation->source = (struct quad_source){.context = federation,
                                              .lookup = federation_lookup,
                                              .resolve = federation_resolve,
                                              .scan = federation_scan,
                                              .scan_next = federation_scan_next,
                                              .scan_many = federation_scan_many,
                                              .scan_many_next = federation_scan_many_next,
                                              .scan_close = federation_scan_close,
                                              .estimate = federation_estimate,
                                              .search = federation_search,
                                              .search_next = federation_search_next,
                                              .search_close = federation_search_close};
    return federation;
}

static void
ended(void *context, enum status status, struct slice payload, const struct reason *why)
{
    (void)context, (void)status, (void)payload, (void)why;
}

void
federation_free(struct federation *federation)
{
    if (federation == NULL) {
        return;
    }
    struct index_client *client = federation->client;
    uint8_t request[8];
    codec_write_u64(request, federation->session);
    for (size_t i = 0; i < client->count; i++) {
        if (federation->members[i].begun) {
            rpc_client_post(client->partitions[i].rpc, INDEX_VERB_END,
                            slice_of((char *)request, sizeof(request)), client->silence_ms, ended,
                            NULL);
        }
        free(federation->members[i].ids);
    }
    free(federation->members);
    term_set_release(&federation->terms);
    free(federation);
}

const struct quad_source *
federation_source(struct federation *federation)
{
    return &federation->source;
}
