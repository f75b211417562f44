#include "index/read/links.h"

#define BY(predicate) "SELECT ?uri WHERE { ?document <" predicate "> ?uri }\n\n"
#define XHV "http://www.w3.org/1999/xhtml/vocab#"
#define IANA "http://www.iana.org/assignments/relation/"
#define FOAF "http://xmlns.com/foaf/0.1/"

const char links_default[] = "# Links of pages and feeds\n" BY("http://rdfs.org/sioc/ns#links_to")
    BY("http://purl.org/rss/1.0/link") BY(XHV "alternate") BY(XHV "appendix") BY(XHV "bookmark")
        BY(XHV "chapter") BY(XHV "cite") BY(XHV "contents") BY(XHV "copyright") BY(XHV "first") BY(
            XHV "glossary") BY(XHV "help") BY(XHV "index") BY(XHV "last") BY(XHV "license")
            BY(XHV "meta") BY(XHV "next") BY(XHV "prev") BY(XHV "previous") BY(XHV "section") BY(
                XHV "start") BY(XHV "subsection") BY(XHV "top") BY(XHV "up") BY(IANA "about")
                BY(IANA "author") BY(IANA "canonical") BY(IANA "collection") BY(
                    IANA "describedby") BY(IANA "describes") BY(IANA "item") BY(IANA "me")
                    BY(IANA "related") BY(IANA "via") "# Links between things\n" BY(
                        "http://www.w3.org/2000/01/rdf-schema#seeAlso")
                        BY("http://www.w3.org/2000/01/rdf-schema#isDefinedBy") BY(
                            "http://www.w3.org/2002/07/owl#sameAs")
                            BY("http://www.w3.org/2002/07/owl#imports") BY(FOAF "page") BY(
                                FOAF "homepage") BY(FOAF "weblog")
                                BY(FOAF "primaryTopicOf") BY(FOAF "isPrimaryTopicOf")
                                    BY(FOAF "workplaceHomepage") BY(FOAF "schoolHomepage") BY(
                                        "http://rdfs.org/ns/void#dataDump") "# Every http IRI that "
                                                                            "documents in RDF "
                                                                            "syntaxes speak of\n"
                                                                            "policy linked-data\n";
