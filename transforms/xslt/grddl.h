/* GRDDL (https://www.w3.org/TR/grddl/): documents that name the XSLT which makes RDF of them.
 *
 * Where transformations are found (grddl_find.c):
 *   HTML   head profile http://www.w3.org/2003/g/data-view: rel=transformation of link, a, area;
 *          the documents of other profiles: their profileTransformation
 *   XML    grddl:transformation of the root element; the document of its namespace: its
 *          namespaceTransformation
 * Documents of profiles and namespaces are one hop: they name stylesheets, and are not themselves
 * transformed. They are asked for only when some stylesheet is allowed at all.
 *
 * Stylesheets are run when their SHA-256 is allowed, with the limits and the shut doors of our own
 * (stylesheet.c), and are kept compiled, by digest, in the process.
 */
#ifndef TRANSFORMS_XSLT_GRDDL_H
#define TRANSFORMS_XSLT_GRDDL_H

#include "transforms/core/transformation.h"

#define GRDDL_NAMESPACE "http://www.w3.org/2003/g/data-view#"
#define GRDDL_PROFILE "http://www.w3.org/2003/g/data-view"

enum { GRDDL_STYLESHEETS = 8 /* of one document; more are a problem */ };

/* Reads a list of digests, before the sandbox. A file that is not there allows nothing. MISUSE
 * names file and line. One thread. */
enum status grddl_allow(const char *path, struct reason *why);

struct grddl_list {
    struct slice iris[GRDDL_STYLESHEETS]; /* in the transformation's arena */
    size_t count;
    bool full;
    bool allows_any; /* some stylesheet may run */
};
/* Finds, into an empty list, the stylesheets that the document names and those that its profiles
 * and namespace name, each once. */
enum status grddl_find(struct transformation *transformation, struct grddl_list *list,
                       struct reason *why);

#endif
