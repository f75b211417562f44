/* Media types as HTTP carries them. Source: https://mimesniff.spec.whatwg.org/#parsing-a-mime-type.
 * No state; input is bytes ("isomorphic" strings of the standard). */
#ifndef DETECTION_MEDIA_TYPE_H
#define DETECTION_MEDIA_TYPE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/slice.h"

enum { MEDIA_TYPE_PARAMETERS = 64 /* more are dropped */ };

struct media_type {
    struct slice essence; /* "text/html", lower case */
    size_t parameter_count;
    struct {
        struct slice name; /* lower case */
        struct slice value;
    } parameters[MEDIA_TYPE_PARAMETERS];
};

/* False: not a media type. Slices point into memory, which is reset. */
bool media_type_parse(struct slice input, struct buf *memory, struct media_type *type);
struct slice media_type_parameter(const struct media_type *type, const char *name);

#endif
