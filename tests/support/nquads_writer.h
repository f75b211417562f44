/* Quads as canonical N-Quads to a descriptor. */
#ifndef TESTS_SUPPORT_NQUADS_WRITER_H
#define TESTS_SUPPORT_NQUADS_WRITER_H

#include <stdint.h>

#include "base/buf.h"
#include "rdf/core/term.h"

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
