#include "cli/validation/vocabulary_terms.h"

#include "cli/validation/term_facts.h"
#include "rdf/core/vocabulary.h"

#define RDFS "http://www.w3.org/2000/01/rdf-schema#"
#define OWL "http://www.w3.org/2002/07/owl#"
#define SKOS "http://www.w3.org/2004/02/skos/core#"
#define TERMS "http://purl.org/dc/terms/"
#define FOAF "http://xmlns.com/foaf/0.1/"
#define XHV "http://www.w3.org/1999/xhtml/vocab#"

struct named {
    const char *iri;
    unsigned value;
};

static unsigned
value_of(const struct named *table, size_t count, struct slice iri)
{
    for (size_t i = 0; i < count; i++) {
        if (slice_is(iri, table[i].iri)) {
            return table[i].value;
        }
    }
    return 0;
}

unsigned
vocabulary_role(struct slice predicate)
{
    static const struct named roles[] = {
        {RDFS "label", ROLE_LABEL},
        {SKOS "prefLabel", ROLE_LABEL},
        {TERMS "title", ROLE_LABEL},
        {RDFS "comment", ROLE_TEXT},
        {SKOS "definition", ROLE_TEXT},
        {TERMS "description", ROLE_TEXT},
        {XHV "alternate", ROLE_FORM | ROLE_PAGE},
        {TERMS "hasFormat", ROLE_FORM | ROLE_PAGE},
        {FOAF "page", ROLE_PAGE},
        {FOAF "homepage", ROLE_PAGE},
        {FOAF "isPrimaryTopicOf", ROLE_PAGE},
        {RDFS "seeAlso", ROLE_PAGE},
        {RDFS "subPropertyOf", ROLE_PROPERTY},
        {OWL "equivalentProperty", ROLE_PROPERTY},
        {OWL "inverseOf", ROLE_PROPERTY},
        {OWL "onProperty", ROLE_PROPERTY},
        {RDFS "subClassOf", ROLE_CLASS},
        {OWL "equivalentClass", ROLE_CLASS},
        {RDFS "domain", ROLE_CLASS},
        {RDFS "range", ROLE_CLASS},
        {RDF_TYPE, ROLE_CLASS},
    };
    return value_of(roles, sizeof roles / sizeof roles[0], predicate);
}

unsigned vocabulary_kind(struct slice class)
{
    static const struct named kinds[] = {
        {RDF_NAMESPACE "Property", SAID_PROPERTY},
        {OWL "ObjectProperty", SAID_PROPERTY},
        {OWL "DatatypeProperty", SAID_PROPERTY},
        {OWL "AnnotationProperty", SAID_PROPERTY},
        {OWL "OntologyProperty", SAID_PROPERTY},
        {OWL "FunctionalProperty", SAID_PROPERTY},
        {OWL "InverseFunctionalProperty", SAID_PROPERTY},
        {OWL "SymmetricProperty", SAID_PROPERTY},
        {OWL "TransitiveProperty", SAID_PROPERTY},
        {OWL "DeprecatedProperty", SAID_PROPERTY},
        {RDFS "ContainerMembershipProperty", SAID_PROPERTY},
        {RDFS "Class", SAID_CLASS},
        {RDFS "Datatype", SAID_CLASS},
        {OWL "Class", SAID_CLASS},
        {OWL "DeprecatedClass", SAID_CLASS},
    };
    return value_of(kinds, sizeof kinds / sizeof kinds[0], class);
}

bool
vocabulary_is_standard(struct slice iri)
{
    static const char *const namespaces[] = {RDF_NAMESPACE, RDFS, OWL, XSD_NAMESPACE};
    for (size_t i = 0; i < sizeof namespaces / sizeof namespaces[0]; i++) {
        if (slice_starts(iri, slice_string(namespaces[i]))) {
            return true;
        }
    }
    return false;
}
