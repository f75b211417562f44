#include "cli/datasets/slice_spaces.h"

#include <string.h>

enum status
slice_spaces_read(const struct slice_space_flags *flags, struct slice_space *spaces, size_t *count,
                  struct reason *why)
{
    enum slicing usual = SLICING_SUBJECT;
    if (flags->slicing != NULL && !slicing_of_name(slice_string(flags->slicing), &usual)) {
        return status_fail(why, STATUS_MISUSE,
                           "--slicing %s is not subject, subject-object, cbd, scbd or msg",
                           flags->slicing);
    }
    const struct slice_space space = {.slicing = usual,
                                      .replaced = flags->replacement != NULL,
                                      .replacement = slice_string(flags->replacement),
                                      .suffix = slice_string(flags->suffix)};
    spaces[0] = space;
    *count = flags->prefixes.count > 0 ? flags->prefixes.count : 1;
    for (size_t i = 0; i < flags->prefixes.count; i++) {
        const char *text = flags->prefixes.items[i], *method = strrchr(text, '=');
        spaces[i] = space;
        spaces[i].prefix = slice_string(text);
        if (method != NULL && slicing_of_name(slice_string(method + 1), &spaces[i].slicing)) {
            spaces[i].prefix.length = (size_t)(method - text);
        }
    }
    return STATUS_OK;
}
