/* The input is a configuration file. Whatever it holds: accepted, or refused with a reason that
 * names a line. */
#include <stdlib.h>
#include <string.h>

#include "base/options/opt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct opt table[] = {{"a.duration", OPT_DURATION, "1", 0, 3600, NULL, "d"},
                                   {"a.integer", OPT_INTEGER, "5", -10, 1024, NULL, "i"},
                                   {"a.size", OPT_SIZE, "10M", 1, 0, NULL, "s"},
                                   {"b.bool", OPT_BOOL, "yes", 0, 0, NULL, "b"},
                                   {"b.choice", OPT_CHOICE, "x", 0, 0, "x|yy|zzz", "c"},
                                   {"b.list", OPT_LIST, "a b", 0, 0, NULL, "l"},
                                   {"b.string", OPT_STRING, "", 0, 0, NULL, "t"},
                                   {.name = NULL}};
static const struct opt *const tables[] = {table, NULL};

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct opt_set *set = opt_set_new(tables);
    struct reason why = {""};
    const char *const *items;
    const enum status status =
        opt_set_load_text(set, slice_of((const char *)data, size), "conf", &why);
    if (status != STATUS_OK && strncmp(why.text, "conf:", 5) != 0) {
        abort();
    }
    if (opt_integer(set, "a.integer") > 1024 || opt_integer(set, "a.size") < 1 ||
        opt_duration_ms(set, "a.duration") > 3600000) {
        abort();
    }
    for (size_t i = opt_list(set, "b.list", &items); i > 0; i--) {
        if (items[i - 1][0] == '\0') {
            abort();
        }
    }
    opt_set_free(set);
    return 0;
}
