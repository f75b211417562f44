/* Gzip members for records (RFC 1951, RFC 1952). Level 1 is ISA-L's fastest, with Huffman codes
 * that were learnt from the records before: a third of what libdeflate's fastest costs, members 4
 * to 10 per cent larger. Other levels are libdeflate's.
 *
 * Compressed bodies (content codings, images, archives) do not get smaller: at level 1 they become
 * stored blocks behind the compressed head of their record. One thread per compressor. */
#ifndef WARC_COMPRESS_H
#define WARC_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/slice.h"

struct compressor;

/* The kinds of records, which have codes of their own since they are alike. */
enum compressor_kind { COMPRESSOR_CONTENT, COMPRESSOR_REQUEST, COMPRESSOR_KINDS };

/* NULL: there is no such level (0..9). */
struct compressor *compressor_open(int level);
/* NULL is allowed. */
void compressor_close(struct compressor *compressor);

/* Bytes a member of so many bytes can have. */
size_t compressor_bound(struct compressor *compressor, size_t length);
/* Writes the member of the whole record to room, which has compressor_bound bytes; from its byte
 * packed_at on it is not worth compressing (its length: all is). Returns the member's length, 0
 * when the library fails. */
size_t compressor_member(struct compressor *compressor, enum compressor_kind kind,
                         struct slice record, size_t packed_at, char *room);

/* Returns whether the bytes look compressed or encrypted: in a sample of them each value is about
 * as frequent as any other. */
bool compressor_is_packed(struct slice bytes);

#endif
