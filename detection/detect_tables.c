/* Tables by which detection knows types: root elements, extensions, names. */
#include "detection/detect.h"

#include <stdio.h>
#include <string.h>

struct pair {
    const char *key, *type;
};

/* Root elements: namespace ("" none, "*" any), local name ("*" any), type. */
static const struct root {
    const char *namespace, *name, *type;
} roots[] = {
    {"http://www.w3.org/1999/02/22-rdf-syntax-ns#", "*", "application/rdf+xml"},
    {"http://www.w3.org/2005/Atom", "feed", "application/atom+xml"},
    {"http://www.w3.org/2005/Atom", "entry", "application/atom+xml"},
    {"http://purl.org/atom/ns#", "feed", "application/atom+xml"},
    {"http://purl.org/net/rss1.1#", "Channel", "application/rdf+xml"},
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
    {"http://www.w3.org/2006/12/owl2-xml#", "Ontology", "application/owl+xml"},
    {"http://www.w3.org/2007/app", "service", "application/atomsvc+xml"},
    {"http://www.w3.org/2007/app", "categories", "application/atomcat+xml"},
    {"http://schemas.xmlsoap.org/soap/envelope/", "Envelope", "application/soap+xml"},
    {"http://www.w3.org/2003/05/soap-envelope", "Envelope", "application/soap+xml"},
    {"urn:mpeg:dash:schema:mpd:2011", "MPD", "application/dash+xml"},
    {"http://www.collada.org/2005/11/COLLADASchema", "COLLADA", "model/vnd.collada+xml"},
    {"http://www.gribuser.ru/xml/fictionbook/2.0", "FictionBook", "application/x-fictionbook+xml"},
    {"urn:oasis:names:tc:xliff:document:1.2", "xliff", "application/xliff+xml"},
    {"http://www.loc.gov/MARC21/slim", "*", "application/marcxml+xml"},
    {"http://www.loc.gov/mods/v3", "*", "application/mods+xml"},
    {"http://www.tei-c.org/ns/1.0", "*", "application/tei+xml"},
    {"urn:ietf:params:xml:ns:metalink", "metalink", "application/metalink4+xml"},
    {"http://docs.oasis-open.org/ns/xri/xrd-1.0", "XRD", "application/xrd+xml"},
    {"http://www.w3.org/ns/SMIL", "smil", "application/smil+xml"},
    {"http://www.w3.org/2001/SMIL20/Language", "smil", "application/smil+xml"},
    {"", "smil", "application/smil+xml"},
    {"", "svg", "image/svg+xml"},
    {"", "xbel", "application/x-xbel"},
    {"", "jnlp", "application/x-java-jnlp-file"},
    {"", "glade-interface", "application/x-glade"},
    {"", "score-partwise", "application/vnd.recordare.musicxml+xml"},
    {"", "abiword", "application/x-abiword"},
    {"http://www.abisource.com/awml.dtd", "abiword", "application/x-abiword"},
    {"http://www.gnumeric.org/v10.dtd", "Workbook", "application/x-gnumeric"},
    {"http://www.lysator.liu.se/~alla/dia/", "diagram", "application/x-dia-diagram"},
    {"http://www.metalinker.org/", "metalink", "application/metalink+xml"},
    {"http://www.w3.org/1999/XSL/Format", "root", "text/x-xslfo"},
    {"http://www.opengis.net/gml", "*", "application/gml+xml"},
    {"http://www.opengis.net/gml/3.2", "*", "application/gml+xml"},
    {"http://www.mozilla.org/keymaster/gatekeeper/there.is.only.xul", "*",
     "application/vnd.mozilla.xul+xml"},
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
    {"trix", "application/trix"},
    {"rj", "application/rdf+json"},
    {"owx", "application/owl+xml"},
    {"jsonld", "application/ld+json"},
    {"json", "application/json"},
    {"geojson", "application/geo+json"},
    {"ndjson", "application/x-ndjson"},
    {"jsonl", "application/x-ndjson"},
    {"srx", "application/sparql-results+xml"},
    {"srj", "application/sparql-results+json"},
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
    {"svgz", "image/svg+xml"},
    {"mml", "application/mathml+xml"},
    {"kml", "application/vnd.google-earth.kml+xml"},
    {"gpx", "application/gpx+xml"},
    {"css", "text/css"},
    {"js", "text/javascript"},
    {"mjs", "text/javascript"},
    {"csv", "text/csv"},
    {"tsv", "text/tab-separated-values"},
    {"tab", "text/tab-separated-values"},
    {"md", "text/markdown"},
    {"markdown", "text/markdown"},
    {"txt", "text/plain"},
    {"ics", "text/calendar"},
    {"vcf", "text/vcard"},
    {"eml", "message/rfc822"},
    {"mbox", "application/mbox"},
    {"rq", "application/sparql-query"},
    {"ru", "application/sparql-update"},
    {"shex", "text/shex"},
    {"yaml", "application/yaml"},
    {"yml", "application/yaml"},
    {"toml", "application/toml"},
    {"dtd", "application/xml-dtd"},
    {"tex", "text/x-tex"},
    {"c", "text/x-c"},
    {"h", "text/x-c"},
    {"cc", "text/x-c++"},
    {"cpp", "text/x-c++"},
    {"hpp", "text/x-c++"},
    {"cs", "text/x-csharp"},
    {"go", "text/x-go"},
    {"rs", "text/x-rust"},
    {"py", "text/x-python"},
    {"pl", "text/x-perl"},
    {"pm", "text/x-perl"},
    {"rb", "text/x-ruby"},
    {"php", "text/x-php"},
    {"java", "text/x-java"},
    {"lua", "text/x-lua"},
    {"sql", "application/sql"},
    {"sh", "application/x-sh"},
    {"diff", "text/x-diff"},
    {"patch", "text/x-diff"},
    {"vtt", "text/vtt"},
    {"srt", "application/x-subrip"},
    {"po", "text/x-gettext-translation"},
    {"pgn", "application/vnd.chess-pgn"},
    {"desktop", "application/x-desktop"},
    {"ipynb", "application/x-ipynb+json"},
    {"bib", "text/x-bibtex"},
    {"hs", "text/x-haskell"},
    {"scala", "text/x-scala"},
    {"scss", "text/x-scss"},
    {"mathml", "application/mathml+xml"},
    {"m3u8", "application/vnd.apple.mpegurl"},
    {"doc", "application/msword"},
    {"xls", "application/vnd.ms-excel"},
    {"ppt", "application/vnd.ms-powerpoint"},
    {"msg", "application/vnd.ms-outlook"},
    {"msi", "application/x-msi"},
    {"vsd", "application/vnd.visio"},
    {"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    {"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    {"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
    {"jar", "application/java-archive"},
    {"apk", "application/vnd.android.package-archive"},
    {"kmz", "application/vnd.google-earth.kmz"},
    {"epub", "application/epub+zip"},
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

struct slice
detect_inner_name(struct slice uri)
{
    static const char *const suffixes[] = {".gz", ".gzip", ".zst", ".z"};
    struct slice path = {uri.at, slice_find(uri, '#')};
    path.length = slice_find(path, '?');
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        const size_t n = strlen(suffixes[i]);
        if (path.length > n &&
            slice_equal_nocase(slice_of(path.at + path.length - n, n), slice_string(suffixes[i]))) {
            return slice_of(path.at, path.length - n);
        }
    }
    return path;
}

bool
detect_is_kept_in(bool zip, struct slice type)
{
    static const struct {
        bool zip;
        const char *type;
    } kept[] = {
        {true, "application/vnd.openxmlformats"},
        {true, "application/epub+zip"},
        {true, "application/java-archive"},
        {true, "application/vnd.android.package-archive"},
        {true, "application/vnd.oasis.opendocument"},
        {true, "application/vnd.google-earth.kmz"},
        {false, "application/msword"},
        {false, "application/vnd.ms-excel"},
        {false, "application/vnd.ms-powerpoint"},
        {false, "application/vnd.ms-outlook"},
        {false, "application/vnd.visio"},
        {false, "application/x-msi"},
    };
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        if (kept[i].zip == zip && slice_starts(type, slice_string(kept[i].type))) {
            return true;
        }
    }
    return false;
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
    {"application/x-gzip", "application/gzip"},
    {"application/x-zip-compressed", "application/zip"},
    {"image/jpg", "image/jpeg"},
    {"image/pjpeg", "image/jpeg"},
    {"image/vnd.microsoft.icon", "image/x-icon"},
    {"text/x-vcard", "text/vcard"},
    {"text/directory", "text/vcard"},
    {"application/x-class-file", "application/java-vm"},
    {"application/x-lha", "application/x-lzh-compressed"},
    {"application/x-lhz", "application/x-lzh-compressed"},
    {"application/x-compressed-tar", "application/gzip"},
    {"application/x-bzip-compressed-tar", "application/x-bzip2"},
    {"application/x-bzip2-compressed-tar", "application/x-bzip2"},
    {"application/x-xz-compressed-tar", "application/x-xz"},
    {"application/x-zstd-compressed-tar", "application/zstd"},
    {"application/x-lz4-compressed-tar", "application/x-lz4"},
    {"application/x-source-rpm", "application/x-rpm"},
    {"image/heif", "image/heic"},
    {"image/heic-sequence", "image/heic"},
    {"image/heif-sequence", "image/heic"},
    {"text/tcl", "text/x-tcl"},
    {"video/x-m4v", "video/mp4"},
    {"audio/amr", "audio/amr"},
    {"text/rust", "text/x-rust"},
    {"audio/x-xm", "audio/xm"},
    {"audio/x-aifc", "audio/aiff"},
    {"audio/x-m4b", "audio/mp4"},
    {"audio/x-m4r", "audio/mp4"},
    {"application/x-awk", "text/x-awk"},
    {"application/x-pcx", "image/x-pcx"},
    {"image/vnd.zbrush.pcx", "image/x-pcx"},
    {"application/x-matroska", "video/x-matroska"},
    {"application/octetstream", "application/octet-stream"},
    {"text/x-turtle", "text/turtle"},
    {"application/x-n3", "text/n3"},
    {"text/x-n3", "text/n3"},
    {"application/x-trix", "application/trix"},
    {"application/trix+xml", "application/trix"},
    {"text/trix", "application/trix"},
    {"application/rdf+n3", "text/n3"},
    {"application/x-nquads", "application/n-quads"},
    {"application/x-ntriples", "application/n-triples"},
    {"application/jsonld", "application/ld+json"},
    {"application/json-ld", "application/ld+json"},
    {"text/ld+json", "application/ld+json"},
    {"application/x-ld+json", "application/ld+json"},
    {"application/x-rss+xml", "application/rss+xml"},
    {"text/atom", "application/atom+xml"},
    {"text/jsonfeed", "application/feed+json"},
    {"application/vnd.geo+json", "application/geo+json"},
    {"application/jsonl", "application/x-ndjson"},
    {"application/ndjson", "application/x-ndjson"},
    {"application/jsonlines", "application/x-ndjson"},
    {"application/x-jsonlines", "application/x-ndjson"},
    {"application/json-lines", "application/x-ndjson"},
    {"text/yaml", "application/yaml"},
    {"text/x-yaml", "application/yaml"},
    {"application/x-yaml", "application/yaml"},
    {"text/vnd.yaml", "application/yaml"},
    {"text/comma-separated-values", "text/csv"},
    {"text/x-comma-separated-values", "text/csv"},
    {"text/x-csv", "text/csv"},
    {"application/csv", "text/csv"},
    {"application/x-csv", "text/csv"},
    {"text/tsv", "text/tab-separated-values"},
    {"application/x-ical", "text/calendar"},
    {"text/x-vcalendar", "text/calendar"},
    {"application/ics", "text/calendar"},
    {"text/javascript1.5", "text/javascript"},
    {"text/jscript", "text/javascript"},
    {"text/x-opml+xml", "text/x-opml"},
    {"application/x-opml+xml", "text/x-opml"},
    {"application/opml+xml", "text/x-opml"},
    {"image/svg", "image/svg+xml"},
    {"image/svg-xml", "image/svg+xml"},
    {"image/svg+xml-compressed", "image/svg+xml"},
    {"text/mathml", "application/mathml+xml"},
    {"application/xml-external-parsed-entity", "application/xml"},
    {"text/xml-external-parsed-entity", "application/xml"},
    {"text/xsl", "application/xslt+xml"},
    {"text/xslt", "application/xslt+xml"},
    {"application/xsl+xml", "application/xslt+xml"},
    {"application/xml-sitemap", "application/x-sitemap+xml"},
    {"application/gpx", "application/gpx+xml"},
    {"application/x-gpx+xml", "application/gpx+xml"},
    {"application/x-docbook+xml", "application/docbook+xml"},
    {"application/vnd.oasis.docbook+xml", "application/docbook+xml"},
    {"text/rtf", "application/rtf"},
    {"application/x-rtf", "application/rtf"},
    {"application/x-pdf", "application/pdf"},
    {"text/pdf", "application/pdf"},
    {"application/x-bzip", "application/x-bzip2"},
    {"application/bzip2", "application/x-bzip2"},
    {"application/bzip", "application/x-bzip2"},
    {"application/x-zip", "application/zip"},
    {"application/x-rar", "application/vnd.rar"},
    {"application/x-rar-compressed", "application/vnd.rar"},
    {"application/rar", "application/vnd.rar"},
    {"application/xz", "application/x-xz"},
    {"application/x-zstd", "application/zstd"},
    {"application/x-lzip", "application/lzip"},
    {"application/x-deb", "application/vnd.debian.binary-package"},
    {"application/x-debian-package", "application/vnd.debian.binary-package"},
    {"application/x-redhat-package-manager", "application/x-rpm"},
    {"application/x-gtar", "application/x-tar"},
    {"application/x-cd-image", "application/x-iso9660-image"},
    {"application/x-java-archive", "application/java-archive"},
    {"application/x-java", "application/java-vm"},
    {"application/x-java-class", "application/java-vm"},
    {"application/x-elf", "application/x-executable"},
    {"application/x-sharedlib", "application/x-executable"},
    {"application/x-pie-executable", "application/x-executable"},
    {"application/x-object", "application/x-executable"},
    {"application/x-dosexec", "application/vnd.microsoft.portable-executable"},
    {"application/x-msdownload", "application/vnd.microsoft.portable-executable"},
    {"application/x-ms-dos-executable", "application/vnd.microsoft.portable-executable"},
    {"application/x-shellscript", "application/x-sh"},
    {"text/x-shellscript", "application/x-sh"},
    {"text/x-sh", "application/x-sh"},
    {"application/x-php", "text/x-php"},
    {"application/x-perl", "text/x-perl"},
    {"application/x-ruby", "text/x-ruby"},
    {"application/x-python", "text/x-python"},
    {"text/x-python3", "text/x-python"},
    {"text/x-script.python", "text/x-python"},
    {"application/x-tex", "text/x-tex"},
    {"application/x-latex", "text/x-tex"},
    {"text/x-csrc", "text/x-c"},
    {"text/x-chdr", "text/x-c"},
    {"text/x-c++src", "text/x-c++"},
    {"text/x-c++hdr", "text/x-c++"},
    {"text/x-java-source", "text/x-java"},
    {"text/x-patch", "text/x-diff"},
    {"text/x-web-markdown", "text/markdown"},
    {"text/x-markdown", "text/markdown"},
    {"application/x-sqlite3", "application/vnd.sqlite3"},
    {"application/x-shockwave-flash", "application/vnd.adobe.flash.movie"},
    {"application/x-mbox", "application/mbox"},
    {"application/x-photoshop", "image/vnd.adobe.photoshop"},
    {"image/psd", "image/vnd.adobe.photoshop"},
    {"image/x-psd", "image/vnd.adobe.photoshop"},
    {"image/x-ms-bmp", "image/bmp"},
    {"image/x-bmp", "image/bmp"},
    {"image/x-win-bitmap", "image/x-icon"},
    {"image/ico", "image/x-icon"},
    {"image/icon", "image/x-icon"},
    {"image/vnd.djvu+multipage", "image/vnd.djvu"},
    {"image/jpeg2000", "image/jp2"},
    {"image/x-tiff", "image/tiff"},
    {"application/x-hdf", "application/x-hdf5"},
    {"audio/mp3", "audio/mpeg"},
    {"audio/x-mp3", "audio/mpeg"},
    {"audio/x-mpeg", "audio/mpeg"},
    {"audio/x-wav", "audio/wav"},
    {"audio/wave", "audio/wav"},
    {"audio/vnd.wave", "audio/wav"},
    {"audio/x-aiff", "audio/aiff"},
    {"audio/x-flac", "audio/flac"},
    {"audio/x-aac", "audio/aac"},
    {"audio/aacp", "audio/aac"},
    {"audio/x-m4a", "audio/mp4"},
    {"audio/mp4a-latm", "audio/mp4"},
    {"audio/vorbis", "audio/ogg"},
    {"audio/opus", "audio/ogg"},
    {"audio/x-vorbis+ogg", "audio/ogg"},
    {"audio/x-opus+ogg", "audio/ogg"},
    {"audio/x-flac+ogg", "audio/ogg"},
    {"audio/x-speex+ogg", "audio/ogg"},
    {"video/x-theora+ogg", "video/ogg"},
    {"audio/x-midi", "audio/midi"},
    {"audio/mid", "audio/midi"},
    {"application/x-midi", "audio/midi"},
    {"audio/x-mpegurl", "application/vnd.apple.mpegurl"},
    {"application/x-mpegurl", "application/vnd.apple.mpegurl"},
    {"video/matroska", "video/x-matroska"},
    {"video/avi", "video/x-msvideo"},
    {"video/msvideo", "video/x-msvideo"},
    {"video/vnd.avi", "video/x-msvideo"},
    {"video/flv", "video/x-flv"},
    {"application/vnd.ms-asf", "video/x-ms-asf"},
    {"video/mp4v-es", "video/mp4"},
    {"application/font-woff", "font/woff"},
    {"application/x-font-woff", "font/woff"},
    {"application/font-woff2", "font/woff2"},
    {"application/x-font-ttf", "font/ttf"},
    {"application/x-font-truetype", "font/ttf"},
    {"application/x-font-otf", "font/otf"},
    {"application/x-font-opentype", "font/otf"},
    {"application/vnd.ms-opentype", "font/otf"},
    {"font/opentype", "font/otf"},
    {"font/sfnt", "font/ttf"},
    {"application/x-zerosize", "application/x-empty"},
    {"inode/x-empty", "application/x-empty"},
    {"text/x-calendar", "text/calendar"},
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

void
detect_settle(struct slice magic, struct detection *detection)
{
    detection->undecided = false;
    const struct slice type = detect_canonical_name(magic);
    if (type.length == 0 || type.length >= DETECT_TYPE_SIZE ||
        slice_is(type, "application/octet-stream") || slice_find(type, '/') == type.length) {
        return;
    }
    snprintf(detection->type, sizeof detection->type, "%.*s", SLICE_PRINT(type));
    snprintf(detection->reason, sizeof detection->reason, "libmagic says %.*s", SLICE_PRINT(magic));
}
