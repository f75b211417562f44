/* Finds what a crawl knows of documents: records of the metadata store, graphs of the index. Each
 * document is looked up once. One thread. */
#ifndef CLI_VALIDATION_DOCUMENT_FACTS_H
#define CLI_VALIDATION_DOCUMENT_FACTS_H

#include "base/arena.h"
#include "cli/report/report_page.h"
#include "cli/validation/negotiation.h"
#include "index/client/index_client.h"
#include "metastore/metastore_client.h"
#include "rdf/core/term.h"

enum {
    FACTS_DOCUMENTS = 4000, /* that are looked up */
    FACTS_QUADS = 20000     /* of a graph that are read */
};

struct facts_reader {
    struct metastore_client *metastore;
    struct index_client *index;
    struct arena *arena;
    struct document_facts **documents; /* private from here on */
    size_t count;
    struct map places;
    struct report_page page;
    struct buf record;
    bool cut; /* there were more documents, or larger ones */
};

void facts_reader_init(struct facts_reader *reader, struct metastore_client *metastore,
                       struct index_client *index, struct arena *arena);
void facts_reader_release(struct facts_reader *reader);

/* Reads the facts of the document that defines the term, or that the URI names. Past
 * FACTS_DOCUMENTS nothing is known. */
enum status document_facts_of(struct facts_reader *reader, struct slice uri,
                              const struct document_facts **facts, struct reason *why);
/* Asks the server of a document for its forms. */
enum status document_facts_negotiate(struct facts_reader *reader,
                                     const struct document_facts *facts, struct web_client *client,
                                     const struct offline_settings *settings, struct reason *why);
/* Hands out the quads of a document, FACTS_QUADS at most. */
enum status document_quads(struct facts_reader *reader, struct slice document,
                           const struct quad_sink *sink, struct reason *why);

#endif
