/* Datasets as RDF tells of them. Sources: Describing Linked Datasets with the VoID Vocabulary
 * (https://www.w3.org/TR/void/), Data Catalog Vocabulary (https://www.w3.org/TR/vocab-dcat-3/),
 * https://schema.org/Dataset. No I/O.
 *
 * VoID: void:dataDump, sparqlEndpoint, uriSpace, exampleResource, rootResource, triples, documents,
 * entities; uriRegexPattern as far as it is a prefix; subsets are datasets of their own. DCAT and
 * schema.org: distributions, of those only what is RDF by its media type or, without one, by its
 * name; data services that speak SPARQL.
 */
#ifndef DATASETS_RDF_DESCRIPTION_H
#define DATASETS_RDF_DESCRIPTION_H

#include "datasets/description.h"
#include "rdf/core/graph.h"

/* Returns whether N-Quads speak of dumps or endpoints at all: cheap, may err to yes. */
bool rdf_description_likely(struct slice quads);
/* Returns whether there is a dump or an endpoint to plan with. */
bool rdf_description_offers(const struct description *description);
/* Sorts the graph. uri: of the document that it is from; its folder, or the whole host for
 * /.well-known/void, is the description's space. No dataset in it is no error. */
void rdf_description_read(struct graph *graph, struct slice uri, struct arena *arena,
                          struct description *description);

#endif
