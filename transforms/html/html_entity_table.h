/* The named character references of HTML
 * (https://html.spec.whatwg.org/#named-character-references), sorted by name in byte order. The
 * table is the standard's own entities.json, repacked. */
#ifndef TRANSFORMS_HTML_HTML_ENTITY_TABLE_H
#define TRANSFORMS_HTML_HTML_ENTITY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct html_entity {
    const char *name;
    uint32_t first, second; /* code points; second 0: there is but one */
    bool bare;              /* also counts without a semicolon */
};
extern const struct html_entity html_entity_table[];
extern const size_t html_entity_count;

#endif
