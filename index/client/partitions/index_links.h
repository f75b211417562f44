/* Links of documents for the extract stage: asked for without waiting, by an index client whose
 * descriptors the caller watches. One thread per client. */
#ifndef INDEX_CLIENT_PARTITIONS_INDEX_LINKS_H
#define INDEX_CLIENT_PARTITIONS_INDEX_LINKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "base/status.h"

struct index_client;

/* One link that a configured query found in a document's graph. */
struct index_link {
    struct slice target; /* absolute IRI */
    uint32_t query;      /* which query: index into the configured list */
};
typedef void index_linked(void *context, enum status status, const struct index_link *links,
                          size_t n, const struct reason *why);
/* Runs the extract queries over the document's graph; callback inside index_client_process, which
 * asks for what was wanted since the last call together. */
void index_links(struct index_client *client, struct slice document, index_linked *done,
                 void *context);
size_t index_client_descriptors(struct index_client *client, int *descriptors, size_t most);
void index_client_process(struct index_client *client);
int index_client_wait_ms(const struct index_client *client);

#endif
