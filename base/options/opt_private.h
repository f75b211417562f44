/* Private to opt.c and opt_print.c. */
#ifndef BASE_OPTIONS_OPT_PRIVATE_H
#define BASE_OPTIONS_OPT_PRIVATE_H

#include "base/options/opt.h"

/* One option with its present value. */
struct opt_value {
    const struct opt *opt;
    char *text; /* as written */
    bool changed;
    bool boolean;
    int64_t integer;   /* INTEGER, SIZE */
    uint64_t duration; /* ms */
    char *item_bytes;  /* LIST: the items, each NUL-terminated */
    const char **items;
    size_t item_count;
};

struct opt_set {
    struct opt_value *values; /* sorted by name */
    size_t count;
    const struct opt *const *tables; /* for printing in the tables' order */
};

#endif
