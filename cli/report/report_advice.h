/* Tells how publishers mend what transforms and stages complain of: sentences by pieces of the
 * complaints' texts. Constant data; thread-safe. */
#ifndef CLI_REPORT_REPORT_ADVICE_H
#define CLI_REPORT_REPORT_ADVICE_H

#include "base/slice.h"

struct report_advice {
    const char *where;   /* the transform or stage that complains; NULL: any */
    const char *pattern; /* a piece of its text */
    const char *advice;  /* a sentence; NULL: the complaint says it already */
};

/* Returns the advice of the first entry that fits; NULL when none does. */
const struct report_advice *report_advice_find(struct slice where, struct slice text);
/* The entries in order; NULL past the last. */
const struct report_advice *report_advice_at(size_t index);

#endif
