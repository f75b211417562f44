#include "index/client/federation/federation.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/client/federation/federation_state.h"

/* ---- terms ---- */

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

enum { ESTIMATE_NUMBERS = 2, ESTIMATES_KEPT = 256 };

/* A question and what all partitions said together. */
struct known_estimate {
    enum index_verb verb;
    char *request;
    size_t length;
    uint64_t numbers[ESTIMATE_NUMBERS];
};
struct known_estimates {
    struct known_estimate list[ESTIMATES_KEPT];
    size_t count;
};

/* One partition's. */
struct estimate {
    enum status status;
    struct reason why;
    uint64_t numbers[ESTIMATE_NUMBERS]; /* rows; of a star subjects and rows */
    bool answered, given_up;            /* given up: nobody waits for it any more */
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
    for (int i = 0; status == STATUS_OK && i < ESTIMATE_NUMBERS; i++) {
        estimate->numbers[i] = codec_get_u64(&in);
    }
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
add_estimates(struct federation *federation, enum index_verb verb, struct slice request,
              size_t owner, uint64_t numbers[ESTIMATE_NUMBERS], struct reason *why)
{
    struct index_client *client = federation->client;
    struct estimate **estimates = memory_zero(client->count, sizeof(struct estimate *));
    for (size_t i = 0; i < client->count; i++) {
        if (!client->partitions[i].missing && (owner == client->count || owner == i)) {
            estimates[i] = memory_new(sizeof(struct estimate));
            rpc_client_post(client->partitions[i].rpc, verb, request, client->silence_ms, estimated,
                            estimates[i]);
        }
    }
    enum status status = STATUS_OK;
    for (size_t i = 0; i < client->count; i++) {
        struct estimate *estimate = estimates[i];
        while (estimate != NULL && !estimate->answered && status == STATUS_OK) {
            status = client_wait(client, why);
        }
        if (estimate != NULL && status == STATUS_OK) {
            for (int k = 0; k < ESTIMATE_NUMBERS; k++) {
                numbers[k] += estimate->numbers[k];
            }
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
ask_estimates(struct federation *federation, enum index_verb verb, const struct buf *request,
              size_t owner, uint64_t numbers[ESTIMATE_NUMBERS], struct reason *why)
{
    const size_t length = request->length;
    memset(numbers, 0, ESTIMATE_NUMBERS * sizeof(*numbers));
    if (request->overflowed) {
        return status_fail(why, STATUS_LIMIT, "a request to the index is too long");
    }
    struct known_estimates *estimates = federation->estimates;
    for (size_t i = 0; i < estimates->count; i++) {
        const struct known_estimate *known = &estimates->list[i];
        if (known->verb == verb && known->length == length &&
            memcmp(known->request, request->data, length) == 0) {
            memcpy(numbers, known->numbers, sizeof(known->numbers));
            return STATUS_OK;
        }
    }
    TRY(add_estimates(federation, verb, buf_slice(request), owner, numbers, why));
    if (estimates->count < ESTIMATES_KEPT) {
        struct known_estimate *known = &estimates->list[estimates->count++];
        *known = (struct known_estimate){verb, memory_string_n(request->data, length), length, {0}};
        memcpy(known->numbers, numbers, sizeof(known->numbers));
    }
    return STATUS_OK;
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
    uint64_t numbers[ESTIMATE_NUMBERS];
    buf_init(&request, FEDERATION_REQUEST_MAXIMUM);
    index_put_pattern(&request, &terms);
    const enum status status =
        ask_estimates(federation, INDEX_VERB_ESTIMATE, &request,
                      federation_owner(federation, pattern->graph), numbers, why);
    *rows = numbers[0];
    buf_release(&request);
    return status;
}

static int
compare_oids(const void *a, const void *b)
{
    const oid left = *(const oid *)a, right = *(const oid *)b;
    return left < right ? -1 : left > right;
}

/* Subjects of several partitions count in each, as those of several documents do. */
static enum status
federation_estimate_star(void *context, const oid *predicates, size_t count, double *subjects,
                         double *rows, struct reason *why)
{
    struct federation *federation = context;
    struct buf request;
    uint64_t numbers[ESTIMATE_NUMBERS];
    oid *sorted = memory_alloc(count * sizeof(*sorted));
    memcpy(sorted, predicates, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), compare_oids);
    buf_init(&request, FEDERATION_REQUEST_MAXIMUM);
    codec_put_varint(&request, count);
    for (size_t i = 0; i < count; i++) {
        char text[OID_INLINE_TEXT];
        const struct term term = federation_term(federation, sorted[i], text);
        index_put_term(&request, &term);
    }
    free(sorted);
    const enum status status = ask_estimates(federation, INDEX_VERB_STAR, &request,
                                             federation->client->count, numbers, why);
    *subjects = (double)numbers[0] / INDEX_STAR_PARTS;
    *rows = (double)numbers[1] / INDEX_STAR_PARTS;
    buf_release(&request);
    return status;
}

/* ---- life ---- */

struct federation *
federation_new(struct index_client *client, size_t memory)
{
    struct federation *federation = memory_new(sizeof(*federation));
    federation->client = client;
    federation->session = ++client->last_session;
    federation->begun = memory_zero(client->count, sizeof(*federation->begun));
    federation->estimates = memory_new(sizeof(*federation->estimates));
    federation_terms_init(&federation->terms, client->count, memory);
    federation->source = (struct quad_source){.context = federation,
                                              .lookup = federation_lookup,
                                              .resolve = federation_resolve,
                                              .scan = federation_scan,
                                              .scan_next = federation_scan_next,
                                              .scan_many = federation_scan_many,
                                              .scan_many_next = federation_scan_many_next,
                                              .scan_close = federation_scan_close,
                                              .count_triples = federation_count_triples,
                                              .count_values = federation_count_values,
                                              .estimate = federation_estimate,
                                              .estimate_star = federation_estimate_star,
                                              .part = federation_part,
                                              .share = federation_share,
                                              .share_next = federation_share_next,
                                              .share_close = federation_share_close,
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
        if (federation->begun[i]) {
            rpc_client_post(client->partitions[i].rpc, INDEX_VERB_END,
                            slice_of((char *)request, sizeof(request)), client->silence_ms, ended,
                            NULL);
        }
    }
    for (size_t i = 0; i < federation->estimates->count; i++) {
        free(federation->estimates->list[i].request);
    }
    free(federation->estimates);
    free(federation->begun);
    federation_terms_release(&federation->terms, client->count);
    free(federation);
}

const struct quad_source *
federation_source(struct federation *federation)
{
    return &federation->source;
}
