/* An answer is a request to the index service for a stream, and fills that stream's cursor. */
#ifndef INDEX_SERVE_ANSWERS_H
#define INDEX_SERVE_ANSWERS_H

#include "index/protocol/service_protocol.h"
#include "index/query/query.h"
#include "index/read/query_answer.h"
#include "index/serve/cursor.h"
#include "index/serve/index_service.h"
#include "index/serve/sessions.h"

/* A request to open a stream, with copies of its arguments. */
struct answer;
/* PROTOCOL or BAD_INPUT when the request is not understood. */
enum status answer_new(struct answer **answer, struct partition *partition,
                       const struct service_options *options, struct sessions *sessions,
                       struct slice request, struct reason *why);
bool answer_is_query(const struct answer *answer);
/* Goes through the whole partition. */
bool answer_is_maintenance(const struct answer *answer);
/* Whom it is for, if the request says so; else 0. */
uint64_t answer_client(const struct answer *answer);
/* Returns what the answer rests on, once a lookup has ended. */
const struct partition_needs *answer_needs(const struct answer *answer);
enum status answer_produce(void *answer, struct cursor *cursor, struct reason *why);
void answer_free(void *answer);

#endif
