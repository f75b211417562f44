#include "rdf/format.h"

#include "rdf/jsonld/jsonld.h"
#include "rdf/nquads/nquads.h"
#include "rdf/rdfxml/rdfxml.h"
#include "rdf/rdfxml/trix.h"
#include "rdf/turtle/turtle.h"

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static const struct rdf_syntax syntaxes[RDF_FORMAT_COUNT] = {
    [RDF_FORMAT_NTRIPLES] = {RDF_FORMAT_NTRIPLES, "ntriples",
                             WORDS("application/n-triples", "text/ntriples"), WORDS("nt"),
                             ntriples_parse},
    [RDF_FORMAT_NQUADS] = {RDF_FORMAT_NQUADS, "nquads",
                           WORDS("application/n-quads", "text/x-nquads", "text/nquads"),
                           WORDS("nq"), nquads_parse},
    [RDF_FORMAT_TURTLE] = {RDF_FORMAT_TURTLE, "turtle",
                           WORDS("text/turtle", "application/x-turtle", "application/turtle"),
                           WORDS("ttl"), turtle_parse},
    [RDF_FORMAT_TRIG] = {RDF_FORMAT_TRIG, "trig", WORDS("application/trig", "application/x-trig"),
                         WORDS("trig"), trig_parse},
    [RDF_FORMAT_N3] = {RDF_FORMAT_N3, "n3", WORDS("text/n3", "text/rdf+n3"), WORDS("n3"), n3_parse},
    [RDF_FORMAT_XML] = {RDF_FORMAT_XML, "rdfxml", WORDS("application/rdf+xml"),
                        WORDS("rdf", "owl", "rdfs"), rdfxml_parse},
    [RDF_FORMAT_TRIX] = {RDF_FORMAT_TRIX, "trix", WORDS("application/trix", "application/trix+xml"),
                         WORDS("trix"), trix_parse},
    [RDF_FORMAT_JSONLD] = {RDF_FORMAT_JSONLD, "jsonld", WORDS("application/ld+json"),
                           WORDS("jsonld"), jsonld_parse},
};

const struct rdf_syntax *
rdf_syntax(enum rdf_format format)
{
    return format > RDF_FORMAT_NONE && format < RDF_FORMAT_COUNT ? &syntaxes[format] : NULL;
}

enum rdf_format
rdf_format_of_name(struct slice name)
{
    for (int i = RDF_FORMAT_NONE + 1; i < RDF_FORMAT_COUNT; i++) {
        if (slice_equal_nocase(name, slice_string(syntaxes[i].name))) {
            return syntaxes[i].format;
        }
    }
    return RDF_FORMAT_NONE;
}

static bool
listed(const char *const *words, struct slice word)
{
    while (*words != NULL && !slice_equal_nocase(slice_string(*words), word)) {
        words++;
    }
    return *words != NULL;
}

enum rdf_format
rdf_format_of_media_type(struct slice media_type)
{
    for (int i = RDF_FORMAT_NONE + 1; i < RDF_FORMAT_COUNT; i++) {
        if (listed(syntaxes[i].media_types, media_type)) {
            return syntaxes[i].format;
        }
    }
    return RDF_FORMAT_NONE;
}

enum rdf_format
rdf_format_of_extension(struct slice extension)
{
    for (int i = RDF_FORMAT_NONE + 1; i < RDF_FORMAT_COUNT; i++) {
        if (listed(syntaxes[i].extensions, extension)) {
            return syntaxes[i].format;
        }
    }
    return RDF_FORMAT_NONE;
}

enum status
rdf_parse(enum rdf_format format, struct slice bytes, const struct parse_options *options,
          const struct quad_sink *sink, struct reason *why)
{
    const struct rdf_syntax *syntax = rdf_syntax(format);
    if (syntax == NULL) {
        return status_fail(why, STATUS_UNSUPPORTED, "not a syntax of RDF");
    }
    return syntax->parse(bytes, options, sink, why);
}

enum rdf_format
rdf_format_of_file(struct slice name)
{
    static const char *const packed[] = {"gz", "bz2", "xz", "zst", "zip", "lz4", "Z"};
    const char *slash = name.length > 0 ? memrchr(name.at, '/', name.length) : NULL;
    struct slice left =
        slash != NULL ? slice_of(slash + 1, (size_t)(name.at + name.length - slash - 1)) : name;
    for (;;) {
        const char *dot = left.length > 0 ? memrchr(left.at, '.', left.length) : NULL;
        if (dot == NULL) {
            return RDF_FORMAT_NONE;
        }
        const struct slice extension = slice_of(dot + 1, (size_t)(left.at + left.length - dot - 1));
        bool is_packed = false;
        for (size_t i = 0; i < sizeof packed / sizeof *packed; i++) {
            is_packed |= slice_is(extension, packed[i]);
        }
        if (!is_packed) {
            return rdf_format_of_extension(extension);
        }
        left.length = (size_t)(dot - left.at);
    }
}
