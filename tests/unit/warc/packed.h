/* Bodies in a content coding, for tests of what undoes them. */
#ifndef TESTS_UNIT_WARC_PACKED_H
#define TESTS_UNIT_WARC_PACKED_H

#include "base/slice.h"

enum { PACKED_SIZE = 1 << 16 };

/* Packs a text as deflateInit2 does with this number of window bits; returns what lies in packed,
 * of PACKED_SIZE bytes. */
struct slice pack_zlib(struct slice text, int window, char *packed);

#define assert_slice(slice, text)            \
    assert_true(slice_is((slice), (text)) || \
                (print_message("got \"%.*s\"\n", SLICE_PRINT(slice)), 0))

#endif
