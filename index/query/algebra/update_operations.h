/* Between the parser of updates and their execution. */
#ifndef INDEX_QUERY_ALGEBRA_UPDATE_OPERATIONS_H
#define INDEX_QUERY_ALGEBRA_UPDATE_OPERATIONS_H

#include "index/query/algebra/algebra.h"
#include "index/query/update.h"

enum update_kind {
    UPDATE_MODIFY, /* and INSERT DATA, DELETE DATA, DELETE WHERE: a query with templates */
    UPDATE_LOAD,
    UPDATE_CLEAR,
    UPDATE_CREATE,
    UPDATE_ADD,
    UPDATE_MOVE,
    UPDATE_COPY
};

enum update_reference { REFERENCE_GRAPH, REFERENCE_DEFAULT, REFERENCE_NAMED, REFERENCE_ALL };
struct graph_reference {
    enum update_reference kind;
    struct slice iri; /* GRAPH */
};

struct update_operation {
    enum update_kind kind;
    bool silent;
    struct query query;                    /* MODIFY; its memory is the update's arena */
    struct graph_reference source, target; /* CLEAR, CREATE: target; ADD, MOVE, COPY: both */
    struct slice document;                 /* LOAD, into target */
    bool into;                             /* LOAD: target was given */
};

struct update {
    struct arena arena;
    struct update_operation *operations;
    size_t count, room;
};

#endif
