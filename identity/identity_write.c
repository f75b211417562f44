#include "identity/identity_write.h"

#include "identity/edges.h"
#include "identity/reading.h"
#include "rdf/core/writer.h"

enum { TERM_MAXIMUM = 1 << 20 };

struct writing {
    struct identity *identity;
    struct buf *out;
    struct buf term;
    struct reason *why;
};

/* ---- terms ---- */

static enum status
read_term(struct writing *writing, oid id)
{
    struct term term;
    TRY(identity_term(writing->identity, id, &term, writing->why));
    buf_reset(&writing->term);
    return nquads_write_term(&writing->term, &term) == STATUS_OK
               ? STATUS_OK
               : status_fail(writing->why, STATUS_LIMIT, "a term of more than %d bytes",
                             TERM_MAXIMUM);
}

static enum status
put_term(struct writing *writing, const char *before, oid id, const char *after)
{
    TRY(read_term(writing, id));
    (void)buf_printf(writing->out, "%s%.*s%s", before, SLICE_PRINT(buf_slice(&writing->term)),
                     after);
    return STATUS_OK;
}

/* ,"name":"term", or nothing when there is none. */
static enum status
put_member(struct writing *writing, const char *name, oid id)
{
    if (id == OID_NONE) {
        return STATUS_OK;
    }
    TRY(read_term(writing, id));
    (void)buf_printf(writing->out, ",\"%s\":\"", name);
    (void)buf_append_json(writing->out, buf_slice(&writing->term));
    (void)buf_append_char(writing->out, '"');
    return STATUS_OK;
}

static enum status
put_list(struct writing *writing, const char *name, const oid *ids, size_t count)
{
    (void)buf_printf(writing->out, ",\"%s\":[", name);
    for (size_t i = 0; i < count; i++) {
        TRY(read_term(writing, ids[i]));
        (void)buf_append_string(writing->out, i > 0 ? ",\"" : "\"");
        (void)buf_append_json(writing->out, buf_slice(&writing->term));
        (void)buf_append_char(writing->out, '"');
    }
    (void)buf_append_char(writing->out, ']');
    return STATUS_OK;
}

/* ---- JSON ---- */

static enum status
put_edge_json(struct writing *writing, const struct identity_edge *edge)
{
    (void)buf_printf(writing->out, "{\"rule\":\"%s\"", identity_rule_name(edge->rule));
    TRY(put_member(writing, "resource", edge->resource));
    TRY(put_member(writing, "other", edge->other));
    TRY(put_member(writing, "property", edge->property));
    TRY(put_member(writing, "value", edge->value));
    TRY(put_member(writing, "stated", edge->quad.predicate));
    TRY(put_member(writing, "document", edge->quad.graph));
    TRY(put_member(writing, "ontology", edge->ontology));
    (void)buf_append_string(writing->out, edge->split ? ",\"split\":true}" : "}");
    return STATUS_OK;
}

static enum status
put_json(struct writing *writing, const struct identity_cluster *cluster)
{
    struct buf *out = writing->out;
    (void)buf_printf(out, "{\"reached\":%zu,\"tooLarge\":%s,\"cut\":%s", cluster->reached,
                     cluster->too_large ? "true" : "false", cluster->cut ? "true" : "false");
    TRY(put_member(writing, "resource", cluster->resource));
    TRY(put_list(writing, "members", cluster->members, cluster->member_count));
    (void)buf_append_string(out, ",\"reasons\":[");
    for (size_t i = 0; i < cluster->edge_count; i++) {
        (void)buf_append_string(out, i > 0 ? "," : "");
        TRY(put_edge_json(writing, &cluster->edges[i]));
    }
    (void)buf_append_string(out, "],\"setAside\":[");
    for (size_t i = 0; i < cluster->aside_count; i++) {
        const struct identity_aside *aside = &cluster->asides[i];
        (void)buf_printf(out, "%s{\"why\":\"%s\",\"resources\":%zu,\"reason\":", i > 0 ? "," : "",
                         aside->reason == IDENTITY_ASIDE_REFUSED ? "refused" : "shared",
                         aside->resources);
        TRY(put_edge_json(writing, &aside->edge));
        (void)buf_append_char(out, '}');
    }
    (void)buf_append_char(out, ']');
    TRY(put_list(writing, "undefined", cluster->undefined, cluster->undefined_count));
    (void)buf_append_string(out, "}\n");
    return STATUS_OK;
}

/* ---- text ---- */

static enum status
put_edge_text(struct writing *writing, const struct identity_edge *edge)
{
    if (edge->property == OID_NONE) {
        TRY(put_term(writing, "  ", edge->resource,
                     edge->rule == IDENTITY_JOINED ? " joined with " : " sameAs "));
        TRY(put_term(writing, "", edge->other, "\n"));
    } else {
        TRY(put_term(writing, "  ", edge->resource, " has "));
        (void)buf_printf(writing->out, "%s ", identity_rule_name(edge->rule));
        TRY(put_term(writing, rule_is_inverse(edge->rule) ? "" : "^", edge->property, " "));
        TRY(put_term(writing, "", edge->value, "\n"));
    }
    TRY(put_term(writing, "    in ", edge->quad.graph, ""));
    if (edge->property != OID_NONE && edge->quad.predicate != edge->property) {
        TRY(put_term(writing, ", stated with ", edge->quad.predicate, ""));
    }
    if (edge->ontology != OID_NONE) {
        TRY(put_term(writing, ", by ", edge->ontology, ""));
    }
    (void)buf_append_char(writing->out, '\n');
    return STATUS_OK;
}

static enum status
put_edges_text(struct writing *writing, const struct identity_cluster *cluster, bool split,
               const char *title)
{
    bool any = false;
    for (size_t i = 0; i < cluster->edge_count; i++) {
        if (cluster->edges[i].split == split) {
            (void)buf_append_string(writing->out, any ? "" : title);
            any = true;
            TRY(put_edge_text(writing, &cluster->edges[i]));
        }
    }
    return STATUS_OK;
}

static enum status
put_text(struct writing *writing, const struct identity_cluster *cluster)
{
    struct buf *out = writing->out;
    TRY(put_term(writing, "", cluster->resource, ""));
    (void)buf_append_string(out, cluster->member_count > 1 ? " is the same as\n"
                                                           : " is the same as nothing else\n");
    for (size_t i = 0; i < cluster->member_count; i++) {
        if (cluster->members[i] != cluster->resource) {
            TRY(put_term(writing, "  ", cluster->members[i], "\n"));
        }
    }
    if (cluster->too_large) {
        (void)buf_printf(out, "set aside: at least %zu resources would be the same\n",
                         cluster->reached);
    }
    TRY(put_edges_text(writing, cluster, false,
                       cluster->member_count > 1 ? "because\n" : "said of it\n"));
    TRY(put_edges_text(writing, cluster, true,
                       "not followed, for they would join what is split\n"));
    for (size_t i = 0; i < cluster->aside_count; i++) {
        const struct identity_aside *aside = &cluster->asides[i];
        if (aside->reason == IDENTITY_ASIDE_REFUSED) {
            (void)buf_append_string(out, "set aside, a value that identifies nothing\n");
        } else {
            (void)buf_printf(out, "set aside, a value that at least %zu resources have\n",
                             aside->resources);
        }
        TRY(put_edge_text(writing, &aside->edge));
    }
    for (size_t i = 0; i < cluster->undefined_count; i++) {
        TRY(put_term(writing, i > 0 ? "  " : "without an ontology in the index\n  ",
                     cluster->undefined[i], "\n"));
    }
    if (cluster->cut) {
        (void)buf_append_string(out, "more was there than the limits allow to read\n");
    }
    return STATUS_OK;
}

enum status
identity_write(struct identity *identity, const struct identity_cluster *cluster,
               enum identity_format format, struct buf *out, struct reason *why)
{
    struct writing writing = {identity, out, {0}, why};
    buf_init(&writing.term, TERM_MAXIMUM);
    const enum status status =
        format == IDENTITY_JSON ? put_json(&writing, cluster) : put_text(&writing, cluster);
    buf_release(&writing.term);
    return status != STATUS_OK || !out->overflowed
               ? status
               : status_fail(why, STATUS_LIMIT, "a cluster's reasons are too long");
}
