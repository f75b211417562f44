/* Character references of HTML, named and numeric. No state. */
#ifndef TRANSFORMS_HTML_HTML_ENTITIES_H
#define TRANSFORMS_HTML_HTML_ENTITIES_H

#include <stdbool.h>

#include "base/slice.h"

enum { ENTITY_TEXT_MAXIMUM = 8, ENTITY_NAME_MAXIMUM = 32, ENTITY_BARE_MAXIMUM = 6 };

/* text starts with '&'. Returns how many bytes the reference takes (0: it is none) and writes
 * its UTF-8 text, *written bytes. in_attribute: the stricter rule for missing semicolons. */
size_t entity_decode(struct slice text, bool in_attribute, char out[ENTITY_TEXT_MAXIMUM],
                     size_t *written);

#endif
