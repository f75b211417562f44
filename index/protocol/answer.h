/* Tells how answers come out of the index: in pieces, of a query in which of three ways, and what
 * becomes of them when a partition is away. */
#ifndef INDEX_PROTOCOL_ANSWER_H
#define INDEX_PROTOCOL_ANSWER_H

#include "base/slice.h"
#include "base/status.h"

/* A status other than OK stops the call, which returns it. */
typedef enum status index_piece(void *context, struct slice bytes, struct reason *why);

enum index_answer {
    INDEX_ANSWER_RESULT,
    INDEX_ANSWER_PLAN,    /* text: the plan with estimates; nothing is evaluated */
    INDEX_ANSWER_MEASURED /* text: the plan after evaluating, with rows and times; no results */
};

/* The choices of a query, pattern or search when a partition does not answer, stops in the middle
 * of its answer, or loses its data. */
enum index_partial {
    INDEX_PARTIAL_ERROR, /* fails, naming it */
    INDEX_PARTIAL_WARN   /* gives what the others have; index_client_missing tells */
};

#endif
