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

#endif
