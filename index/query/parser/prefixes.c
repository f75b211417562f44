#include "index/query/parser/prefixes.h"

#include <stddef.h>

#include "index/query/query.h"
#include "rdf/core/vocabulary.h"

const struct known_prefix known_prefixes[] = {
    {"as", "https://www.w3.org/ns/activitystreams#"},
    {"bibo", "http://purl.org/ontology/bibo/"},
    {"cc", "http://creativecommons.org/ns#"},
    {"csvw", "http://www.w3.org/ns/csvw#"},
    {"dbo", "http://dbpedia.org/ontology/"},
    {"dbr", "http://dbpedia.org/resource/"},
    {"dc", "http://purl.org/dc/elements/1.1/"},
    {"dcat", "http://www.w3.org/ns/dcat#"},
    {"dcterms", "http://purl.org/dc/terms/"},
    {"dctype", "http://purl.org/dc/dcmitype/"},
    {"doap", "http://usefulinc.com/ns/doap#"},
    {"exif", "http://www.w3.org/2003/12/exif/ns#"},
    {"foaf", "http://xmlns.com/foaf/0.1/"},
    {"geo", "http://www.w3.org/2003/01/geo/wgs84_pos#"},
    {"gr", "http://purl.org/goodrelations/v1#"},
    {"http", "http://www.w3.org/2011/http#"},
    {"ical", "http://www.w3.org/2002/12/cal/icaltzd#"},
    {"ma", "http://www.w3.org/ns/ma-ont#"},
    {"meta", "urn:x-quadrille:meta#"},
    {"oa", "http://www.w3.org/ns/oa#"},
    {"og", "http://ogp.me/ns#"},
    {"org", "http://www.w3.org/ns/org#"},
    {"owl", "http://www.w3.org/2002/07/owl#"},
    {"prov", "http://www.w3.org/ns/prov#"},
    {"q", QUERY_NAMESPACE},
    {"rdf", RDF_NAMESPACE},
    {"rdfs", "http://www.w3.org/2000/01/rdf-schema#"},
    {"rev", "http://purl.org/stuff/rev#"},
    {"rss", "http://purl.org/rss/1.0/"},
    {"schema", "https://schema.org/"},
    {"sd", "http://www.w3.org/ns/sparql-service-description#"},
    {"sioc", "http://rdfs.org/sioc/ns#"},
    {"skos", "http://www.w3.org/2004/02/skos/core#"},
    {"time", "http://www.w3.org/2006/time#"},
    {"vcard", "http://www.w3.org/2006/vcard/ns#"},
    {"void", "http://rdfs.org/ns/void#"},
    {"wd", "http://www.wikidata.org/entity/"},
    {"wdt", "http://www.wikidata.org/prop/direct/"},
    {"xhv", "http://www.w3.org/1999/xhtml/vocab#"},
    {"xsd", XSD_NAMESPACE},
    {NULL, NULL},
};

const char *
prefix_iri(struct slice prefix)
{
    for (const struct known_prefix *known = known_prefixes; known->prefix != NULL; known++) {
        if (slice_is(prefix, known->prefix)) {
            return known->iri;
        }
    }
    return NULL;
}
