#include "bench/jansson_reader.h"

#include <jansson.h>

bool
jansson_read(struct slice text)
{
    json_t *tree = json_loadb(text.at, text.length, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    const bool good = tree != NULL;
    json_decref(tree);
    return good;
}
