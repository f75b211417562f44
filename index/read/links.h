/* The queries that find new URIs in a document's graph, run beside the data.
 *
 * A file of SPARQL SELECT queries with the variable ?uri, separated by blank lines; # starts a
 * comment line. Each runs with the document's graph as the only graph. A query that is one triple
 * pattern with a constant predicate and ?uri as subject or object costs no more than reading the
 * graph once, however many of them there are. The line `policy linked-data` adds every http IRI
 * that is subject or object in documents that came in an RDF syntax, the line `policy vocabularies`
 * the properties and classes of all documents, so that what they mean is crawled
 * (docs/IDENTITY.md). */
#ifndef INDEX_READ_LINKS_H
#define INDEX_READ_LINKS_H

#include "index/write/partition.h"

struct links;

/* The list that is used when none is configured. */
extern const char links_default[];

/* text: the file's bytes. BAD_INPUT names the query at fault. Read-only afterwards, shared by all
 * threads. */
enum status links_open(struct links **links, struct slice text, struct reason *why);
void links_close(struct links *links);
size_t links_count(const struct links *links);

/* Calls found for each target, an absolute IRI, once per target and document. query: index in the
 * list; the policy's is that of its line. */
typedef enum status links_found(void *context, struct slice target, uint32_t query,
                                struct reason *why);
/* The state that one thread keeps between documents. */
struct links_run;
struct links_run *links_run_new(const struct links *links, struct partition_reader *reader);
void links_run_free(struct links_run *run);
enum status links_of(struct links_run *run, struct slice document, uint64_t timeout_ms,
                     links_found *found, void *context, struct reason *why);

#endif
