/* Reads the flags of slicing: which resources are sliced, by which method, into which documents. */
#ifndef CLI_DATASETS_SLICE_SPACES_H
#define CLI_DATASETS_SLICE_SPACES_H

#include "base/options/opt.h"
#include "dumps/slicing.h"

enum { SLICE_SPACES_MAXIMUM = FLAG_LIST_MAXIMUM };

struct slice_space_flags {
    const char *slicing, *replacement, *suffix;
    struct flag_list prefixes; /* "PREFIX" or "PREFIX=METHOD"; none: every IRI */
};
#define SLICE_SPACE_FLAGS(spaces)                                                                \
    {"slicing",                                                                                  \
     'm',                                                                                        \
     FLAG_STRING,                                                                                \
     "METHOD",                                                                                   \
     &(spaces).slicing,                                                                          \
     "Which triples describe a resource: subject (the usual), subject-object, cbd, scbd, msg."}, \
        {"prefix",           'p',                                                                \
         FLAG_REPEATED,      "IRI[=METHOD]",                                                     \
         &(spaces).prefixes, "Only resources whose IRIs begin so are described."},               \
        {"replacement",                                                                          \
         0,                                                                                      \
         FLAG_STRING,                                                                            \
         "IRI",                                                                                  \
         &(spaces).replacement,                                                                  \
         "Documents begin with this where resources begin with their prefix."},                  \
    {                                                                                            \
        "suffix", 0, FLAG_STRING, "TEXT", &(spaces).suffix,                                      \
            "Documents end with this, behind the resource's IRI without its fragment."           \
    }

/* spaces: SLICE_SPACES_MAXIMUM of them; their slices point into the flags. */
enum status slice_spaces_read(const struct slice_space_flags *flags, struct slice_space *spaces,
                              size_t *count, struct reason *why);

#endif
