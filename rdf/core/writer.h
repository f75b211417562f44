/* Canonical N-Quads out: one form for each quad, and lines whose byte order is the order of
 * quad_compare. Source: https://www.w3.org/TR/rdf-canon/#canonical-quads.
 */
#ifndef RDF_CORE_WRITER_H
#define RDF_CORE_WRITER_H

#include "base/buf.h"
#include "rdf/core/term.h"

/* Writes the canonical form of the character that text (not empty) starts with, as a C string,
 * and returns the number of bytes it takes of text. */
enum { NQUADS_ESCAPE_SIZE = 8 };
size_t nquads_escape(struct slice text, char form[NQUADS_ESCAPE_SIZE]);

/* Append; LIMIT past the buffer's maximum (nothing of the term is left then, a quad may be
 * cut: check buf->overflowed). TERM_NONE appends nothing. */
enum status nquads_write_term(struct buf *buf, const struct term *term);
/* "subject predicate object graph .\n" */
enum status nquads_write(struct buf *buf, const struct quad *quad);

/* A sink that writes to a descriptor through a buffer; every byte is written or an error
 * is returned. The descriptor stays the caller's. */
struct nquads_writer {
    int descriptor;
    struct buf buf;
    uint64_t quads, bytes; /* taken; written to the descriptor */
};
void nquads_writer_init(struct nquads_writer *writer, int descriptor);
struct quad_sink nquads_writer_sink(struct nquads_writer *writer);
/* Writes what is buffered; call before release, which does not. */
enum status nquads_writer_flush(struct nquads_writer *writer, struct reason *why);
void nquads_writer_release(struct nquads_writer *writer);

#endif
