/* Pinned JSON-LD contexts: copies that come with the program, so that the common ones are never
 * fetched and always say the same. A folder has an `index`:
 *
 *   context FILE DATE LICENCE SOURCE     FILE beside the index; where and when the copy was made
 *   at URL                               a URL at which documents ask for it; many may follow
 *
 * URLs are compared without scheme, leading "www.", fragment and slashes at the end, as the same
 * context is spelt in all these ways.
 *
 * Loaded before a worker closes its sandbox, kept for the process. Loading is not thread-safe,
 * looking up is.
 */
#ifndef TRANSFORMS_COMMON_CONTEXTS_H
#define TRANSFORMS_COMMON_CONTEXTS_H

#include <stdbool.h>

#include "base/slice.h"
#include "base/status.h"

enum { CONTEXTS_FILE_BYTES = 1 << 20, CONTEXTS_FILES = 256, CONTEXTS_URLS = 2048 };

/* Reads FOLDER/index and its files; a URL that an earlier folder has too is replaced. A folder
 * without index holds none. Reading the same folder again does nothing. MISUSE names file and
 * line. */
enum status contexts_load(const char *folder, struct reason *why);
void contexts_release(void);

/* The context's JSON document; lives as long as the process. */
bool contexts_pinned(struct slice url, struct slice *json);

#endif
