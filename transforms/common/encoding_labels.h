/* Names and labels of https://encoding.spec.whatwg.org/#names-and-labels. */
#ifndef TRANSFORMS_COMMON_ENCODING_LABELS_H
#define TRANSFORMS_COMMON_ENCODING_LABELS_H

#include "base/slice.h"

struct encoding_entry {
    const char *name;   /* lower case */
    const char *iconv;  /* name for iconv_open; NULL: converted by our own code */
    const char *labels; /* lower case, separated by blanks */
};

extern const struct encoding_entry encoding_entries[];
extern const size_t encoding_entry_count;

/* label in any case, blanks around it allowed; NULL: unknown. */
const struct encoding_entry *encoding_entry_of(struct slice label);

#endif
