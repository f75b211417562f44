/* Slicing as programs over lines that somebody else sorts and sends around: mappers and reducers as
 * Hadoop Streaming calls them. docs/SLICING.md has the protocol.
 *
 * A record is KEY, a tab, VALUE, a newline. Keys are documents, whose values are lines of canonical
 * N-Triples; or blank nodes, whose values are what is known and asked of them:
 *
 *   T LINE   a triple whose subject it is
 *   U LINE   a triple whose object it is
 *   F DOC    the document wants the triples that begin with the node, and on from their objects
 *   B DOC    ... that end with it, and back from their subjects
 *   M DOC    ... that have it, and on to both sides
 *   f, b, m  the same, and it was given
 *
 * Following turns wants into lines and further wants, until there are none. All records are plain
 * functions of what comes in: a task that is done again gives the same.
 */
#ifndef DUMPS_STREAMING_H
#define DUMPS_STREAMING_H

#include "dumps/slicing.h"
#include "rdf/core/term.h"

struct streaming {
    const struct slice_space *spaces;
    size_t count;
    struct slice label;      /* before labels of blank nodes: tells files apart */
    struct buf *out;         /* records, or N-Quads; whoever calls empties it */
    uint64_t most;           /* bytes of one key's values: more are LIMIT */
    uint64_t wanted;         /* wants given out by following */
    struct buf line, values; /* of the work */
    struct slice *items;
    size_t item_count, item_capacity;
};
void streaming_init(struct streaming *streaming, struct buf *out);
void streaming_release(struct streaming *streaming);

/* Writes the records of a statement. */
enum status streaming_map(struct streaming *streaming, const struct quad *quad, struct reason *why);

/* Values of one key, in any order; then what is to be done with them. A record that is cut off or
 * is none: BAD_INPUT. */
enum status streaming_value(struct streaming *streaming, struct slice value, struct reason *why);
enum status streaming_reduce(struct streaming *streaming, struct slice key, struct reason *why);
enum status streaming_follow(struct streaming *streaming, struct slice key, struct reason *why);

#endif
