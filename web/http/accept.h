/* The Accept header, RFC 9110 section 12.5.1. */
#ifndef WEB_HTTP_ACCEPT_H
#define WEB_HTTP_ACCEPT_H

#include <stddef.h>

/* The index of the type that the header likes best, the earlier one of equals; -1: none is
 * acceptable. header NULL or empty: 0. types are "type/subtype". */
int web_accept_choose(const char *header, const char *const *types, size_t count);

#endif
