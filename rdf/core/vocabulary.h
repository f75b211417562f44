/* IRIs that RDF's own syntaxes give a meaning. */
#ifndef RDF_CORE_VOCABULARY_H
#define RDF_CORE_VOCABULARY_H

#define RDF_NAMESPACE "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
#define XSD_NAMESPACE "http://www.w3.org/2001/XMLSchema#"

#define RDF_TYPE RDF_NAMESPACE "type"
#define RDF_FIRST RDF_NAMESPACE "first"
#define RDF_REST RDF_NAMESPACE "rest"
#define RDF_NIL RDF_NAMESPACE "nil"
#define RDF_SUBJECT RDF_NAMESPACE "subject"
#define RDF_PREDICATE RDF_NAMESPACE "predicate"
#define RDF_OBJECT RDF_NAMESPACE "object"
#define RDF_STATEMENT RDF_NAMESPACE "Statement"
#define RDF_LANG_STRING RDF_NAMESPACE "langString"
#define RDF_XML_LITERAL RDF_NAMESPACE "XMLLiteral"

#define XSD_STRING XSD_NAMESPACE "string"
#define XSD_INTEGER XSD_NAMESPACE "integer"
#define XSD_DECIMAL XSD_NAMESPACE "decimal"
#define XSD_DOUBLE XSD_NAMESPACE "double"
#define XSD_BOOLEAN XSD_NAMESPACE "boolean"

#endif
