/* What the service's cursors produce. */
#ifndef INDEX_ANSWERS_H
#define INDEX_ANSWERS_H

#include "index/client.h"
#include "index/cursor.h"
#include "index/query/query.h"
#include "index/service.h"
#include "index/service_protocol.h"
#include "index/sessions.h"

/* A request to open a stream, with copies of its arguments. */
struct answer;
/* PROTOCOL or BAD_INPUT when the request is not understood. */
enum status answer_new(struct answer **answer, struct partition *partition,
                       const struct service_options *options, struct sessions *sessions,
                       struct slice request, struct reason *why);
bool answer_is_query(const struct answer *answer);
/* Goes through the whole partition. */
bool answer_is_care(const struct answer *answer);
/* Whom it is for, if the request says so; else 0. */
uint64_t answer_client(const struct answer *answer);
enum status answer_produce(void *answer, struct cursor *cursor, struct reason *why);
void answer_free(void *answer);

/* Evaluates, or explains, and hands the text on. metastore: for q:provenance; NULL: none. */
enum status answer_query(const struct quad_source *source,
                         const struct metastore_client_options *metastore, struct slice sparql,
                         struct slice format, const struct query_options *options,
                         enum index_answer answer, index_piece *piece, void *context,
                         struct reason *why);

/* The pattern's places as identifiers; *possible is false when one is a term that is not stored. */
enum status answer_pattern(const struct quad_source *source, const struct quad *pattern,
                           struct quad_oids *ids, bool *possible, struct reason *why);

#endif
