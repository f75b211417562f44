/* Reads what the profile attribute of a page's head says (HTML 4.01 section 7.4.4.3): the metadata
 * profiles that the page follows. Told before the page is parsed, for the registry. */
#ifndef TRANSFORMS_HTML_PROFILE_H
#define TRANSFORMS_HTML_PROFILE_H

#include "base/arena.h"
#include "base/slice.h"

/* IRIs separated by white space; empty: none. bytes: the page's beginning, in an ASCII-compatible
 * encoding. The result points into bytes or the arena. */
struct slice html_profile(struct slice bytes, struct arena *arena);

#endif
