/* What detection knows by heart: signatures, root elements, extensions, names. */
#include "stages/detect.h"

#include <stdint.h>
#include <string.h>

struct signature {
    uint16_t offset;
    uint8_t length;
    const char *bytes;
    const char *type;
};

#define AT(offset, literal, type)                  \
    {                                              \
        offset, sizeof(literal) - 1, literal, type \
    }

/* In order: a longer one before its prefix. */
static const struct signature signatures[] = {
    AT(0, "%PDF-", "application/pdf"),
    AT(0, "%!PS-Adobe-", "application/postscript"),
    AT(0, "\x89PNG\r\n\x1a\n", "image/png"),
    AT(0, "GIF87a", "image/gif"),
    AT(0, "GIF89a", "image/gif"),
    AT(0, "\xff\xd8\xff", "image/jpeg"),
    AT(8, "WEBPVP", "image/webp"),
    AT(0, "\0\0\1\0", "image/x-icon"),
    AT(0, "\0\0\2\0", "image/x-icon"),
    AT(0, "II*\0", "image/tiff"),
    AT(0, "MM\0*", "image/tiff"),
    AT(0, "8BPS", "image/vnd.adobe.photoshop"),
    AT(4, "ftypavif", "image/avif"),
    AT(4, "ftypheic", "image/heic"),
    AT(4, "ftypqt", "video/quicktime"),
    AT(4, "ftypM4A", "audio/mp4"),
    AT(4, "ftyp", "video/mp4"),
    AT(0, "\x1f\x8b\x08", "application/gzip"),
    AT(0, "BZh", "application/x-bzip2"),
    AT(0,
       "\xfd"
       "7zXZ\0",
       "application/x-xz"),
    AT(0, "\x28\xb5\x2f\xfd", "application/zstd"),
    AT(0, "7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    AT(0, "Rar!\x1a\x07", "application/vnd.rar"),
    AT(257, "ustar", "application/x-tar"),
    AT(0,
       "\x7f"
       "ELF",
       "application/x-executable"),
    AT(0, "\0asm", "application/wasm"),
    AT(0, "\xca\xfe\xba\xbe", "application/java-vm"),
    AT(0, "ID3", "audio/mpeg"),
    AT(0, "\xff\xfb", "audio/mpeg"),
    AT(0, "OggS", "application/ogg"),
    AT(0, "fLaC", "audio/flac"),
    AT(8, "WAVE", "audio/wav"),
    AT(8, "AVI ", "video/x-msvideo"),
    AT(8, "AIFF", "audio/aiff"),
    AT(0, "MThd\0\0\0\x06", "audio/midi"),
    AT(0, "\x1a\x45\xdf\xa3", "video/webm"),
    AT(0, "FLV\1", "video/x-flv"),
    AT(0, "wOFF", "font/woff"),
    AT(0, "wOF2", "font/woff2"),
    AT(0, "OTTO", "font/otf"),
    AT(0, "\0\1\0\0\0", "font/ttf"),
    AT(0, "true\0", "font/ttf"),
    AT(0, "SQLite format 3\0", "application/vnd.sqlite3"),
    AT(0, "{\\rtf", "application/rtf"),
    AT(0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    AT(0, "\3\0\x08\0", "application/vnd.android.axml"),
    AT(0, "$HDT", "application/vnd.hdt"),
    AT(0, "BEGIN:VCALENDAR", "text/calendar"),
    AT(0, "BEGIN:VCARD", "text/vcard"),
    AT(0, "WARC/1.", "application/warc"),
};

struct pair {
    const char *key, *type;
};

/* Zip files that are something: the name of an early member. */
static const struct pair zip_members[] = {
    {"mimetypeapplication/epub+zip", "application/epub+zip"},
    {"mimetypeapplication/vnd.oasis.opendocument.text", "application/vnd.oasis.opendocument.text"},
    {"mimetypeapplication/vnd.oasis.opendocument.spreadsheet",
     "application/vnd.oasis.opendocument.spreadsheet"},
    {"mimetypeapplication/vnd.oasis.opendocument.presentation",
     "application/vnd.oasis.opendocument.presentation"},
    {"word/", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    {"xl/", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    {"ppt/", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
    {"META-INF/", "application/java-archive"},
};

static const char *
zip_type(struct slice bytes)
{
    for (size_t i = 0; i < sizeof zip_members / sizeof *zip_members; i++) {
        const char *key = zip_members[i].key;
        if (memmem(bytes.at, bytes.length < 8192 ? bytes.length : 8192, key, strlen(key))) {
            return zip_members[i].type;
        }
    }
    return "application/zip";
}

const char *
detect_signature(struct slice bytes)
{
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++) {
        const struct signature *signature = &signatures[i];
        if (bytes.length >= (size_t)signature->offset + signature->length &&
            memcmp(bytes.at + signature->offset, signature->bytes, signature->length) == 0) {
            return signature->type;
        }
    }
    if (slice_starts(bytes, SLICE("PK\3\4"))) {
        return zip_type(bytes);
    }
    if (bytes.length > 30 && slice_starts(bytes, SLICE("BM")) && bytes.at[6] == 0 &&
        bytes.at[7] == 0 && bytes.at[15] == 0) {
        return "image/bmp";
    }
    return NULL;
}

/* Root elements: namespace ("" none, "*" any), local name ("*" any), type. */
static const struct root {
    const char *namespace, *name, *type;
} roots[] = {
    {"http://www.w3.org/1999/02/22-rdf-syntax-ns#", "*", "application/rdf+xml"},
    {"http://www.w3.org/2005/Atom", "feed", "application/atom+xml"},
    {"http://www.w3.org/2005/Atom", "entry", "application/atom+xml"},
    {"http://purl.org/atom/ns#", "feed", "application/atom+xml"},
    {"*", "rss", "application/rss+xml"},
    {"*", "feed", "application/atom+xml"},
    {"http://www.w3.org/1999/xhtml", "*", "application/xhtml+xml"},
    {"http://www.w3.org/2000/svg", "*", "image/svg+xml"},
    {"http://www.w3.org/1998/Math/MathML", "*", "application/mathml+xml"},
    {"http://www.sitemaps.org/schemas/sitemap/0.9", "*", "application/x-sitemap+xml"},
    {"*", "urlset", "application/x-sitemap+xml"},
    {"*", "sitemapindex", "application/x-sitemap+xml"},
    {"", "opml", "text/x-opml"},
    {"http://schemas.xmlsoap.org/wsdl/", "definitions", "application/wsdl+xml"},
    {"http://www.w3.org/ns/wsdl", "description", "application/wsdl+xml"},
    {"http://www.w3.org/1999/XSL/Transform", "*", "application/xslt+xml"},
    {"http://www.w3.org/2004/03/trix/trix-1/", "*", "application/trix"},
    {"http://www.w3.org/2001/XMLSchema", "schema", "application/xsd+xml"},
    {"http://relaxng.org/ns/structure/1.0", "*", "application/relax-ng+xml"},
    {"http://www.opengis.net/kml/2.2", "kml", "application/vnd.google-earth.kml+xml"},
    {"http://earth.google.com/kml/2.0", "kml", "application/vnd.google-earth.kml+xml"},
    {"http://earth.google.com/kml/2.1", "kml", "application/vnd.google-earth.kml+xml"},
    {"http://earth.google.com/kml/2.2", "kml", "application/vnd.google-earth.kml+xml"},
    {"http://www.topografix.com/GPX/1/0", "gpx", "application/gpx+xml"},
    {"http://www.topografix.com/GPX/1/1", "gpx", "application/gpx+xml"},
    {"http://www.w3.org/2005/sparql-results#", "sparql", "application/sparql-results+xml"},
    {"http://a9.com/-/spec/opensearch/1.1/", "*", "application/opensearchdescription+xml"},
    {"http://docbook.org/ns/docbook", "*", "application/docbook+xml"},
    {"http://www.w3.org/2002/07/owl#", "Ontology", "application/owl+xml"},
    {"http://xspf.org/ns/0/", "playlist", "application/xspf+xml"},
    {"http://www.w3.org/ns/ttml", "tt", "application/ttml+xml"},
    {"", "DIF", "application/dif+xml"},
    {"http://gcmd.gsfc.nasa.gov/Aboutus/xml/dif/", "DIF", "application/dif+xml"},
};

const char *
detect_root(struct slice root, struct slice namespace)
{
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        const bool any_space = roots[i].namespace[0] == '*';
        const bool any_name = roots[i].name[0] == '*';
        if ((any_space || slice_is(namespace, roots[i].namespace)) &&
            (any_name || slice_is(root, roots[i].name))) {
            return roots[i].type;
        }
    }
    return NULL;
}

static const struct pair extensions[] = {
    {"ttl", "text/turtle"},
    {"nt", "application/n-triples"},
    {"nq", "application/n-quads"},
    {"trig", "application/trig"},
    {"n3", "text/n3"},
    {"rdf", "application/rdf+xml"},
    {"owl", "application/rdf+xml"},
    {"rdfs", "application/rdf+xml"},
    {"jsonld", "application/ld+json"},
    {"json", "application/json"},
    {"html", "text/html"},
    {"htm", "text/html"},
    {"xhtml", "application/xhtml+xml"},
    {"xht", "application/xhtml+xml"},
    {"xml", "application/xml"},
    {"rss", "application/rss+xml"},
    {"atom", "application/atom+xml"},
    {"opml", "text/x-opml"},
    {"wsdl", "application/wsdl+xml"},
    {"xsl", "application/xslt+xml"},
    {"xslt", "application/xslt+xml"},
    {"xsd", "application/xsd+xml"},
    {"svg", "image/svg+xml"},
    {"css", "text/css"},
    {"js", "text/javascript"},
    {"mjs", "text/javascript"},
    {"csv", "text/csv"},
    {"tsv", "text/tab-separated-values"},
    {"md", "text/markdown"},
    {"txt", "text/plain"},
    {"ics", "text/calendar"},
    {"vcf", "text/vcard"},
    {"rq", "application/sparql-query"},
    {"shex", "text/shex"},
    {"yaml", "application/yaml"},
    {"yml", "application/yaml"},
    {"dtd", "application/xml-dtd"},
    {"tex", "text/x-tex"},
    {"c", "text/x-c"},
    {"h", "text/x-c"},
    {"py", "text/x-python"},
    {"java", "text/x-java"},
    {"sh", "application/x-sh"},
};

const char *
detect_extension(struct slice uri)
{
    struct slice path = {uri.at, slice_find(uri, '#')};
    path.length = slice_find(path, '?');
    size_t dot = path.length;
    while (dot > 0 && path.at[dot - 1] != '.' && path.at[dot - 1] != '/') {
        dot--;
    }
    if (dot == 0 || path.at[dot - 1] != '.') {
        return NULL;
    }
    const struct slice extension = {path.at + dot, path.length - dot};
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++) {
        if (slice_equal_nocase(extension, slice_string(extensions[i].key))) {
            return extensions[i].type;
        }
    }
    return NULL;
}

/* Old and wrong names, and the one used here. */
static const struct pair names[] = {
    {"text/xml", "application/xml"},
    {"application/x-xml", "application/xml"},
    {"text/rdf", "application/rdf+xml"},
    {"application/rdf", "application/rdf+xml"},
    {"application/x-rdf+xml", "application/rdf+xml"},
    {"application/xml+rdf", "application/rdf+xml"},
    {"text/rdf+xml", "application/rdf+xml"},
    {"application/x-turtle", "text/turtle"},
    {"application/turtle", "text/turtle"},
    {"application/rdf+turtle", "text/turtle"},
    {"text/rdf+turtle", "text/turtle"},
    {"text/rdf+n3", "text/n3"},
    {"application/n3", "text/n3"},
    {"text/ntriples", "application/n-triples"},
    {"text/n-triples", "application/n-triples"},
    {"text/nquads", "application/n-quads"},
    {"text/n-quads", "application/n-quads"},
    {"text/x-nquads", "application/n-quads"},
    {"application/x-trig", "application/trig"},
    {"text/trig", "application/trig"},
    {"application/rss", "application/rss+xml"},
    {"text/rss+xml", "application/rss+xml"},
    {"text/rss", "application/rss+xml"},
    {"application/atom", "application/atom+xml"},
    {"text/atom+xml", "application/atom+xml"},
    {"application/xhtml", "application/xhtml+xml"},
    {"text/xhtml", "application/xhtml+xml"},
    {"application/vnd.wap.xhtml+xml", "application/xhtml+xml"},
    {"text/json", "application/json"},
    {"application/x-json", "application/json"},
    {"application/x-javascript", "text/javascript"},
    {"application/javascript", "text/javascript"},
    {"text/x-javascript", "text/javascript"},
    {"text/ecmascript", "text/javascript"},
    {"application/ecmascript", "text/javascript"},
    {"text/opml", "text/x-opml"},
    {"text/x-opml+xml", "text/x-opml"},
    {"application/x-gzip", "application/gzip"},
    {"application/x-zip-compressed", "application/zip"},
    {"image/jpg", "image/jpeg"},
    {"image/pjpeg", "image/jpeg"},
    {"image/vnd.microsoft.icon", "image/x-icon"},
    {"text/x-vcard", "text/vcard"},
    {"text/directory", "text/vcard"},
};

struct slice
detect_canonical_name(struct slice type)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (slice_equal_nocase(type, slice_string(names[i].key))) {
            return slice_string(names[i].type);
        }
    }
    return type;
}
