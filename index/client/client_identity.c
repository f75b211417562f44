#include "identity/identity_write.h"
#include "index/client/federation/federation.h"
#include "index/client/index_client.h"
#include "index/client/partitions/client_calls.h"
#include "index/read/provenance.h"
#include "rdf/core/writer.h"

enum { ANSWER_MAXIMUM = 1 << 30, DECISION_MAXIMUM = 1 << 20 };

static const size_t memory_of_terms = (size_t)256 << 20;

/* ---- asking ---- */

static enum status
write_cluster(const struct identity_settings *settings, const struct term *resource, bool json,
              struct buf *out, struct reason *why)
{
    struct identity *identity = identity_new(settings);
    struct identity_cluster cluster;
    struct arena arena;
    oid id;
    arena_init(&arena, 0);
    enum status status = settings->source->lookup(settings->source->context, resource, &id, why);
    if (status == STATUS_OK) {
        status = identity_find(identity, id, &arena, &cluster, why);
    }
    if (status == STATUS_OK) {
        status = identity_write(identity, &cluster, json ? IDENTITY_JSON : IDENTITY_TEXT, out, why);
    }
    arena_release(&arena);
    identity_free(identity);
    return status;
}

enum status
index_identity(struct index_client *client, const struct term *resource, bool json,
               uint32_t timeout_ms, index_piece *piece, void *context, struct reason *why)
{
    const struct query_options options = {.timeout_ms = timeout_ms, .cancel = client->cancel};
    struct buf out;
    buf_init(&out, ANSWER_MAXIMUM);
    client_begin(client, client->partial, timeout_ms, client->cancel);
    struct federation *federation = federation_new(client, memory_of_terms);
    const struct provenance_settings known = {.source = federation_source(federation),
                                              .metastore = client->metastore,
                                              .memory = memory_of_terms,
                                              .timeout_ms = timeout_ms,
                                              .cancel = client->cancel};
    struct provenance *provenance = provenance_new(&known);
    const struct identity_settings settings = {.source = provenance_source(provenance),
                                               .redirects = client->metastore != NULL,
                                               .options = &options};
    enum status status = write_cluster(&settings, resource, json, &out, why);
    provenance_free(provenance);
    federation_free(federation);
    client->deadline_ms = 0;
    if (status == STATUS_OK) {
        status = piece(context, buf_slice(&out), why);
    }
    buf_release(&out);
    return status;
}

/* ---- deciding ---- */

static void
put_statement(struct buf *out, const char *operation, const struct term *one, const char *property,
              const struct term *other)
{
    (void)buf_printf(out, "%s DATA { GRAPH <" QUERY_DECISIONS "> { ", operation);
    (void)nquads_write_term(out, one);
    (void)buf_printf(out, " <%s> ", property);
    (void)nquads_write_term(out, other);
    (void)buf_append_string(out, " } } ;\n");
}

enum status
index_identity_decide(struct index_client *client, enum index_decision decision,
                      const struct term *one, const struct term *other, struct reason *why)
{
    static const char *const properties[] = {OWL_SAME_AS, OWL_DIFFERENT_FROM};
    const struct index_update_options options = {.timeout_ms = client->timeout_ms};
    struct buf text;
    if (one->kind != TERM_IRI || other->kind != TERM_IRI || term_equal(one, other)) {
        return status_fail(why, STATUS_MISUSE,
                           "decisions are about two IRIs: blank nodes have no lasting name");
    }
    buf_init(&text, DECISION_MAXIMUM);
    for (int i = 0; i < 2; i++) {
        put_statement(&text, "DELETE", one, properties[i], other);
        put_statement(&text, "DELETE", other, properties[i], one);
    }
    if (decision != INDEX_DECISION_NONE) {
        put_statement(&text, "INSERT", one, properties[decision == INDEX_DECISION_JOIN ? 0 : 1],
                      other);
    }
    const enum status status =
        text.overflowed ? status_fail(why, STATUS_LIMIT, "an IRI of a decision is too long")
                        : index_update(client, buf_slice(&text), &options, NULL, why);
    buf_release(&text);
    return status;
}
