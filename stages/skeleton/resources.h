/* Other documents that a document needs: JSON-LD contexts, stylesheets.
 *
 * A transform asks for URIs; here each is looked for in a small cache, then in the metadata store
 * under its URI with RESOURCE_FRAGMENT, redirects followed, and its body read from the archive.
 * What nobody knows is fetched by a job that the document's own end queues. docs/RESOURCES.md
 * says what that means for the document.
 *
 * A resource is what the archive has of the URI; it is never fetched twice in a crawl, so all
 * documents see the same one. One thread.
 */
#ifndef STAGES_SKELETON_RESOURCES_H
#define STAGES_SKELETON_RESOURCES_H

#include "metastore/metastore_client.h"
#include "stages/skeleton/content.h"
#include "transforms/transform.h"

struct resources;

struct resources_settings {
    struct metastore_client *metastore; /* must live as long; NULL: nothing is known */
    struct content *content;            /* must live as long; NULL without metastore */
    size_t bytes;                       /* most of one document's resources together */
    uint64_t age_ms;                    /* older ones are to be fetched again; 0: never */
};
struct resources *resources_open(const struct resources_settings *settings);
/* After the metadata client was closed, or when no gathering is under way. NULL is allowed. */
void resources_close(struct resources *resources);

/* The resources that one document has asked for so far. */
struct resource_set;
struct resource_set *resource_set_new(struct resources *resources);
void resource_set_free(struct resource_set *set); /* NULL is allowed */

/* Adds what lines of URIs name, and looks all of the set up that is not at hand yet. done comes
 * once, possibly at once. A status other than OK: the metadata store or another node does not
 * answer; why says which, and it is worth another try. */
typedef void resources_gathered(void *context, enum status status, const struct reason *why);
void resource_set_gather(struct resource_set *set, struct slice needs, resources_gathered *done,
                         void *context);

/* Gives a resource by hand; the first that is given for a URI counts. Before or after it was asked
 * for. */
void resource_set_give(struct resource_set *set, struct slice uri, struct slice content_type,
                       struct slice bytes);

/* URIs that are neither at hand nor known not to be had. */
size_t resource_set_missing(const struct resource_set *set);
/* Calls visit for the keys of those that nobody has queued for fetching, and of those that are so
 * old that they should be fetched again. */
typedef void resource_visit(void *context, struct slice key, bool again);
void resource_set_unknown(const struct resource_set *set, resource_visit *visit, void *context);
void resource_set_old(const struct resource_set *set, resource_visit *visit, void *context);
/* Gives up waiting: what is missing has failed for this reason. */
void resource_set_give_up(struct resource_set *set, const char *reason);

/* For a request; valid until the set changes. */
size_t resource_set_list(struct resource_set *set, const struct transform_resource **list);
/* Appends the URIs that were at hand, a line each. */
void resource_set_names(const struct resource_set *set, struct buf *lines);

#endif
