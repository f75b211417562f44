/* The RDF syntaxes read here, with their names in the world.
 * Media types and extensions: the IANA registrations in each syntax's recommendation.
 */
#ifndef RDF_FORMAT_H
#define RDF_FORMAT_H

#include "rdf/core/parse.h"

enum rdf_format {
    RDF_FORMAT_NONE = 0,
    RDF_FORMAT_NTRIPLES,
    RDF_FORMAT_NQUADS,
    RDF_FORMAT_TURTLE,
    RDF_FORMAT_TRIG,
    RDF_FORMAT_N3,
    RDF_FORMAT_XML,
    RDF_FORMAT_TRIX,
    RDF_FORMAT_JSONLD, /* without contexts of other documents */
    RDF_FORMAT_COUNT
};

struct rdf_syntax {
    enum rdf_format format;
    const char *name;               /* "turtle"; also what command lines take */
    const char *const *media_types; /* NULL-ended; the registered one first */
    const char *const *extensions;  /* NULL-ended, without the dot; the registered one first */
    parse_function *parse;
};

const struct rdf_syntax *rdf_syntax(enum rdf_format format); /* NULL for NONE */
/* RDF_FORMAT_NONE when unknown. Letter case does not matter; a media type's parameters must
 * be off. */
enum rdf_format rdf_format_of_name(struct slice name);
enum rdf_format rdf_format_of_media_type(struct slice media_type);
enum rdf_format rdf_format_of_extension(struct slice extension);
/* Returns the format by the last extension of a file's name, path or URL that is no compression:
 * "dump.nt.gz". */
enum rdf_format rdf_format_of_file(struct slice name);

/* Parses bytes with the format's parser (see rdf/core/parse.h); UNSUPPORTED for NONE. */
enum status rdf_parse(enum rdf_format format, struct slice bytes,
                      const struct parse_options *options, const struct quad_sink *sink,
                      struct reason *why);

#endif
