/* Tells how rows of identifiers name terms on the wire: the first time with the term, then by
 * number. PROTOCOL.md, "Rows". Rows are gathered in chunks, and a chunk's new terms are resolved in
 * the order of their identifiers: terms are packed in blocks, and a block is then unpacked once for
 * all that are in it. */
#ifndef INDEX_SERVE_ROW_NAMES_H
#define INDEX_SERVE_ROW_NAMES_H

#include "base/arena.h"
#include "base/buf.h"
#include "index/quad_source.h"
#include "index/serve/cursor.h"

/* The term of an identifier that is stored or local; it lives until the next call. */
typedef enum status row_names_resolve(void *context, oid id, struct term *term, struct reason *why);

struct row_names {
    const struct quad_source *source;
    struct arena arena;     /* of the stored term that was resolved last */
    struct row_name *table; /* identifiers that were sent, or are about to be; open addressing */
    size_t places;          /* a power of two */
    size_t count;
    uint32_t sent;
    bool forget;
    oid *fresh; /* the chunk's new identifiers */
    size_t fresh_count, fresh_capacity;
    struct buf terms; /* their terms' bytes */
};

void row_names_init(struct row_names *names, const struct quad_source *source);
void row_names_release(struct row_names *names);
/* Resolves a stored identifier by the source; context: the struct row_names. */
enum status row_names_stored(void *context, oid id, struct term *term, struct reason *why);
/* An identifier of the chunk. */
void row_names_note(struct row_names *names, oid id);
/* Before a chunk's names are put. LIMIT: its terms are too long. */
enum status row_names_prepare(struct row_names *names, row_names_resolve *resolve, void *context,
                              struct reason *why);
void row_names_put(struct row_names *names, oid id, struct buf *out);
/* Sends a chunk whose rows are in out, and empties it; then all names are forgotten when there are
 * too many. *room: rows, or identifiers, that the next chunk may have: more each time, up to most,
 * but one when this chunk's terms were long. LIMIT: out has overflowed. */
enum status row_names_send(struct row_names *names, struct buf *out, struct cursor *cursor,
                           bool last, size_t most, size_t *room, struct reason *why);
enum { ROW_NAMES_PIECE = 1 << 30 }; /* bytes of out at most */

#endif
