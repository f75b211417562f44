/* The terms that transforms say things with. */
#ifndef TRANSFORMS_COMMON_VOCABULARY_H
#define TRANSFORMS_COMMON_VOCABULARY_H

#define VOCABULARY_RDF "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
#define VOCABULARY_XSD "http://www.w3.org/2001/XMLSchema#"
#define VOCABULARY_DC "http://purl.org/dc/elements/1.1/"
#define VOCABULARY_DCTERMS "http://purl.org/dc/terms/"
#define VOCABULARY_FOAF "http://xmlns.com/foaf/0.1/"
#define VOCABULARY_SIOC "http://rdfs.org/sioc/ns#"
#define VOCABULARY_XHV "http://www.w3.org/1999/xhtml/vocab#"
#define VOCABULARY_OGP "http://ogp.me/ns"
#define VOCABULARY_TWITTER "https://dev.twitter.com/cards#"
#define VOCABULARY_BIBO "http://purl.org/ontology/bibo/"
#define VOCABULARY_PRISM "http://prismstandard.org/namespaces/basic/2.0/"
#define VOCABULARY_GEO "http://www.w3.org/2003/01/geo/wgs84_pos#"
#define VOCABULARY_IANA_RELATION "http://www.iana.org/assignments/relation/"
/* Our own: what has no name elsewhere. Never to be changed: stored graphs use it. */
#define VOCABULARY_QUADRILLE "https://quadrille.example/ns#"

#endif
