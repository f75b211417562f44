#include "index/read/query_answer.h"

#include "identity/identity_graph.h"
#include "index/query/results/result.h"
#include "index/read/provenance.h"

enum { PLAN_MAXIMUM = 4 << 20 };

static enum status
write_result(const struct query *query, const struct quad_source *source, struct slice format,
             const struct query_options *options, index_piece *piece, void *context,
             struct reason *why)
{
    enum result_format result;
    struct result_writer *writer;
    TRY(result_format_find(format, query_form_of(query), &result, why));
    result_writer_open(&writer, result, piece, context);
    enum status status = query_run(query, source, options, result_writer_sink(writer), NULL, why);
    if (status == STATUS_OK) {
        status = result_writer_finish(writer, why);
    }
    result_writer_free(writer);
    return status;
}

static enum status
write_plan(const struct query *query, const struct quad_source *source,
           const struct query_options *options, bool measured, index_piece *piece, void *context,
           struct reason *why)
{
    struct buf text;
    buf_init(&text, PLAN_MAXIMUM);
    enum status status = query_explain(query, source, options, measured, &text, why);
    if (status == STATUS_OK) {
        status = piece(context, buf_slice(&text), why);
    }
    buf_release(&text);
    return status;
}

/* NULL unless the query mentions q:identity. */
static struct identity_graph *
identity_for_query(const struct query *query, const struct quad_source *source, bool redirects,
                   const struct query_options *options)
{
    const struct identity_settings settings = {
        .source = source, .redirects = redirects, .options = options};
    return query_mentions(query, SLICE(QUERY_IDENTITY)) ? identity_graph_new(&settings) : NULL;
}

enum status
answer_query(const struct quad_source *source, const struct metastore_client_options *metastore,
             struct slice sparql, struct slice format, const struct query_options *options,
             enum index_answer answer, index_piece *piece, void *context, struct reason *why)
{
    struct query *query;
    struct provenance *provenance;
    struct query_options own = *options;
    TRY(query_prepare(&query, sparql, slice_of(NULL, 0), why));
    provenance = provenance_for_query(query, source, metastore, options);
    if (provenance != NULL) {
        source = provenance_source(provenance);
    }
    struct identity_graph *identity = identity_for_query(query, source, metastore != NULL, options);
    if (identity != NULL) {
        source = identity_graph_source(identity);
    }
    if (provenance != NULL || identity != NULL) {
        own.helper = NULL; /* its source would not have these graphs */
    }
    const enum status status =
        answer == INDEX_ANSWER_RESULT
            ? write_result(query, source, format, &own, piece, context, why)
            : write_plan(query, source, &own, answer == INDEX_ANSWER_MEASURED, piece, context, why);
    identity_graph_free(identity);
    provenance_free(provenance);
    query_free(query);
    return status;
}

enum status
answer_pattern(const struct quad_source *source, const struct quad *pattern, struct quad_oids *ids,
               bool *possible, struct reason *why)
{
    const struct term *const terms[] = {&pattern->subject, &pattern->predicate, &pattern->object,
                                        &pattern->graph};
    oid *const places[] = {&ids->subject, &ids->predicate, &ids->object, &ids->graph};
    *possible = true;
    for (int i = 0; i < 4; i++) {
        *places[i] = OID_NONE;
        if (terms[i]->kind != TERM_NONE) {
            TRY(source->lookup(source->context, terms[i], places[i], why));
            *possible = *possible && *places[i] != OID_NONE;
        }
    }
    return STATUS_OK;
}
