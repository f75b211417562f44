/* The table says what a key of feedparser's dictionaries is in our graph. "feed." and "entry." and
 * "source." begin the key by whose dictionary it is; those three have most keys in common.
 * docs/CONFORMANCE.md. */
#ifndef TESTS_CONFORMANCE_FEED_PATHS_H
#define TESTS_CONFORMANCE_FEED_PATHS_H

enum feed_kind {
    FEED_TEXT,     /* plain text; expected markup is compared by its text and links */
    FEED_HTML,     /* markup: the same */
    FEED_STRING,   /* a string */
    FEED_IRI,      /* an IRI; an expected relative one is resolved */
    FEED_MAIL,     /* a mailto: IRI */
    FEED_DATE,     /* the same moment */
    FEED_PERSON,   /* "Name (address)" */
    FEED_PART,     /* a part of the string */
    FEED_LANGUAGE, /* the language of the literal */
    FEED_YES,      /* "yes", "true" */
    FEED_POINT,    /* numbers, two by two */
    FEED_SHAPE,    /* a place of this shape */
    FEED_COUNT,    /* how many */
    FEED_RELATION, /* there is such a link */
    FEED_IS_LINK,  /* the identifier is the link */
    FEED_NOT       /* is not in the graph; path says why */
};

struct feed_path {
    const char *key, *path;
    enum feed_kind kind;
};

#define EACH(key, path, kind)                              \
    {"feed." key, path, kind}, {"entry." key, path, kind}, \
    {                                                      \
        "source." key, path, kind                          \
    }

#define PERSON(key, name, agent)                                                             \
    EACH(key ".name", name, FEED_PERSON), EACH(key ".email", agent "/foaf:mbox", FEED_MAIL), \
        EACH(key ".url", agent "/foaf:homepage", FEED_IRI),                                  \
        EACH(key ".href", agent "/foaf:homepage", FEED_IRI)

#define DESCRIPTION "rss:description|itunes:subtitle|itunes:summary"
#define LINKS "rss:link|enc:enclosure|dcterms:license|*"

#define PLACES                                                                         \
    "georss:point|georss:box|georss:line|georss:polygon|gml:Point/gml:pos|"            \
    "georss:where/gml:Point/gml:pos|georss:where/gml:LineString/gml:posList|"          \
    "gml:LineString/gml:posList|gml:Polygon/gml:exterior/gml:LinearRing/gml:posList|"  \
    "georss:where/gml:Point/gml:pos/rdf:value|georss:where/gml:Point/gml:coordinates|" \
    "georss:where/gml:LineString/gml:posList/rdf:value|"                               \
    "georss:where/gml:Polygon/gml:exterior/gml:LinearRing/gml:posList"

static const struct feed_path feed_paths[] = {
    EACH("title", "rss:title", FEED_TEXT),
    EACH("title_detail.value", "rss:title", FEED_TEXT),
    EACH("title_detail.language", "rss:title", FEED_LANGUAGE),
    EACH("subtitle", DESCRIPTION, FEED_TEXT),
    EACH("subtitle_detail.value", DESCRIPTION, FEED_TEXT),
    EACH("subtitle_detail.language", "rss:description", FEED_LANGUAGE),
    EACH("tagline", DESCRIPTION, FEED_TEXT),
    EACH("tagline_detail.value", DESCRIPTION, FEED_TEXT),
    EACH("tagline_detail.language", "rss:description", FEED_LANGUAGE),
    EACH("description", DESCRIPTION "|content:encoded", FEED_TEXT),
    EACH("description_detail.value", DESCRIPTION, FEED_TEXT),
    EACH("description_detail.language", "rss:description", FEED_LANGUAGE),
    EACH("summary", DESCRIPTION, FEED_TEXT),
    EACH("summary_detail.value", DESCRIPTION, FEED_TEXT),
    EACH("summary_detail.language", "rss:description", FEED_LANGUAGE),
    EACH("info", "rdfs:comment|feedburner:browserFriendly", FEED_TEXT),
    EACH("info_detail.value", "rdfs:comment", FEED_TEXT),
    EACH("info_detail.language", "rdfs:comment", FEED_LANGUAGE),
    EACH("rights", "dc:rights", FEED_TEXT),
    EACH("rights_detail.value", "dc:rights", FEED_TEXT),
    EACH("rights_detail.language", "dc:rights", FEED_LANGUAGE),
    EACH("copyright", "dc:rights", FEED_TEXT),
    EACH("copyright_detail.value", "dc:rights", FEED_TEXT),
    EACH("copyright_detail.language", "dc:rights", FEED_LANGUAGE),
    EACH("content.N.value", "content:encoded|rss:description", FEED_HTML),
    EACH("content.N.language", "content:encoded", FEED_LANGUAGE),
    EACH("content.N.src", "dcterms:hasFormat", FEED_IRI),

    EACH("link", "rss:link", FEED_IRI),
    EACH("links.len", "rss:link|enc:enclosure", FEED_COUNT),
    EACH("links.N.rel", "", FEED_RELATION),
    EACH("links.N.href", LINKS, FEED_IRI),
    EACH("links.N.url", LINKS, FEED_IRI),
    EACH("links.N.type", "*/dc:format", FEED_STRING),
    EACH("links.N.length", "*/enc:length", FEED_STRING),
    EACH("links.N.hreflang", "*/dc:language", FEED_STRING),
    EACH("links.N.title", "*/rdfs:label", FEED_TEXT),
    EACH("enclosures.len", "enc:enclosure", FEED_COUNT),
    EACH("enclosures.N.url", "enc:enclosure", FEED_IRI),
    EACH("enclosures.N.href", "enc:enclosure", FEED_IRI),
    EACH("enclosures.N.type", "enc:enclosure/dc:format", FEED_STRING),
    EACH("enclosures.N.length", "enc:enclosure/enc:length", FEED_STRING),
    EACH("id", "dcterms:identifier", FEED_IRI),
    EACH("guid", "dcterms:identifier", FEED_IRI),
    EACH("guidislink", "dcterms:identifier", FEED_IS_LINK),
    EACH("href", "", FEED_NOT),
    EACH("comments", "sioc:links_to", FEED_IRI),
    EACH("wfw_comment", "sioc:links_to", FEED_IRI),
    EACH("wfw_commentrss", "sioc:links_to", FEED_IRI),
    EACH("docs", "dcterms:conformsTo", FEED_IRI),
    EACH("license", "dcterms:license", FEED_IRI),
    EACH("newlocation", "dcterms:isReplacedBy", FEED_IRI),
    EACH("feedburner_origlink", "feedburner:origLink", FEED_IRI),

    EACH("author", "dc:creator", FEED_PERSON),
    PERSON("author_detail", "dc:creator", "foaf:maker"),
    PERSON("authors.N", "dc:creator", "foaf:maker"),
    EACH("contributor", "dc:contributor", FEED_PERSON),
    PERSON("contributors.N", "dc:contributor", "dcterms:contributor"),
    EACH("publisher", "dc:publisher", FEED_PERSON),
    PERSON("publisher_detail", "dc:publisher", "dcterms:publisher"),

    EACH("updated", "dcterms:modified|dcterms:date", FEED_DATE),
    EACH("updated_parsed", "dcterms:modified|dcterms:date", FEED_DATE),
    EACH("modified", "dcterms:modified|dcterms:date", FEED_DATE),
    EACH("modified_parsed", "dcterms:modified|dcterms:date", FEED_DATE),
    EACH("date", "dcterms:modified|dcterms:date", FEED_DATE),
    EACH("date_parsed", "dcterms:modified|dcterms:date", FEED_DATE),
    EACH("published", "dcterms:date|dcterms:issued", FEED_DATE),
    EACH("published_parsed", "dcterms:date|dcterms:issued", FEED_DATE),
    EACH("issued", "dcterms:date|dcterms:issued", FEED_DATE),
    EACH("issued_parsed", "dcterms:date|dcterms:issued", FEED_DATE),
    EACH("created", "dcterms:created", FEED_DATE),
    EACH("created_parsed", "dcterms:created", FEED_DATE),
    EACH("expired", "dcterms:valid", FEED_DATE),
    EACH("expired_parsed", "dcterms:valid", FEED_DATE),
    EACH("errorreportsto", "admin:errorReportsTo", FEED_IRI),
    EACH("validity_start", "dcterms:valid", FEED_PART),
    EACH("validity_end", "dcterms:valid", FEED_PART),
    EACH("validity_*", "the interval is kept as it is written", FEED_NOT),

    EACH("category", "dc:subject|skos:notation", FEED_STRING),
    EACH("tags.len", "dc:subject", FEED_COUNT),
    EACH("tags.N.term", "dc:subject|skos:notation", FEED_STRING),
    EACH("tags.N.scheme", "dcterms:subject/skos:inScheme|dcterms:subject/skos:inScheme/rdfs:label",
         FEED_IRI),
    EACH("tags.N.label", "dcterms:subject/skos:prefLabel", FEED_STRING),
    EACH("language", "dcterms:language", FEED_STRING),

    EACH("image.href", "foaf:depiction", FEED_IRI),
    EACH("image.url", "foaf:depiction", FEED_IRI),
    EACH("image.title", "foaf:depiction/rss:title", FEED_TEXT),
    EACH("image.link", "foaf:depiction/rss:link", FEED_IRI),
    EACH("image.description", "foaf:depiction/rss:description", FEED_TEXT),
    EACH("image.width", "foaf:depiction/rss091:width", FEED_STRING),
    EACH("image.height", "foaf:depiction/rss091:height", FEED_STRING),
    EACH("icon", "foaf:depiction", FEED_IRI),
    EACH("logo", "foaf:depiction", FEED_IRI),
    EACH("generator", "admin:generatorAgent/rdfs:label|admin:generatorAgent", FEED_STRING),
    EACH("generator_detail.name", "admin:generatorAgent/rdfs:label", FEED_STRING),
    EACH("generator_detail.href", "admin:generatorAgent", FEED_IRI),
    EACH("generator_detail.url", "admin:generatorAgent", FEED_IRI),
    EACH("generator_detail.version", "admin:generatorAgent/dcterms:hasVersion", FEED_STRING),
    EACH("textinput.name", "rss:textinput/rss:name", FEED_STRING),
    EACH("textinput.link", "rss:textinput/rss:link", FEED_IRI),
    EACH("textinput.title", "rss:textinput/rss:title", FEED_TEXT),
    EACH("textinput.description", "rss:textinput/rss:description", FEED_TEXT),
    EACH("cloud.domain", "rss2:cloud/rss2:domain", FEED_STRING),
    EACH("cloud.path", "rss2:cloud/rss2:path", FEED_STRING),
    EACH("cloud.port", "rss2:cloud/rss2:port", FEED_STRING),
    EACH("cloud.protocol", "rss2:cloud/rss2:protocol", FEED_STRING),
    EACH("cloud.registerprocedure", "rss2:cloud/rss2:registerprocedure", FEED_STRING),
    EACH("ttl", "rss2:ttl", FEED_STRING),
    EACH("rating", "rss091:rating", FEED_STRING),

    EACH("itunes_block", "itunes:block", FEED_YES),
    EACH("itunes_explicit", "itunes:explicit", FEED_YES),
    EACH("itunes_duration", "itunes:duration", FEED_STRING),
    EACH("itunes_order", "itunes:order", FEED_STRING),
    EACH("itunes_episode", "itunes:episode", FEED_STRING),
    EACH("itunes_season", "itunes:season", FEED_STRING),
    EACH("itunes_episodetype", "itunes:episodeType", FEED_STRING),
    EACH("itunes_type", "itunes:type", FEED_STRING),
    EACH("itunes_title", "itunes:title", FEED_TEXT),
    EACH("media_thumbnail.N.url", "media:thumbnail", FEED_IRI),
    EACH("media_thumbnail.N.width", "media:thumbnail/media:width", FEED_STRING),
    EACH("media_thumbnail.N.height", "media:thumbnail/media:height", FEED_STRING),
    EACH("media_player.url", "media:player|media:content/media:player", FEED_IRI),
    EACH("media_content.N.url", "media:content", FEED_IRI),
    EACH("media_content.N.type", "media:content/media:type", FEED_STRING),
    EACH("media_content.N.height", "media:content/media:height", FEED_STRING),
    EACH("media_content.N.width", "media:content/media:width", FEED_STRING),
    EACH("media_content.N.medium", "media:content/media:medium", FEED_STRING),
    EACH("media_content.N.duration", "media:content/media:duration", FEED_STRING),
    EACH("media_content.N.filesize", "media:content/media:fileSize", FEED_STRING),
    EACH("media_content.N.isdefault", "media:content/media:isDefault", FEED_STRING),
    EACH("media_thumbnail.N.time", "media:thumbnail/media:time", FEED_STRING),
    EACH("media_player.width", "media:player/media:width", FEED_STRING),
    EACH("media_player.height", "media:player/media:height", FEED_STRING),
    EACH("media_player.content", "media:player/rdf:value", FEED_STRING),
    EACH("media_keywords", "dc:subject", FEED_STRING),
    EACH("media_credit.N.content", "media:credit/rdf:value|media:credit", FEED_STRING),
    EACH("media_credit.N.role", "media:credit/media:role", FEED_STRING),
    EACH("media_credit.N.scheme", "media:credit/media:scheme", FEED_STRING),
    EACH("credit", "media:credit/rdf:value|media:credit", FEED_STRING),
    EACH("media_rating.content", "media:rating/rdf:value|media:rating", FEED_STRING),
    EACH("media_rating.scheme", "media:rating/media:scheme", FEED_STRING),
    EACH("media_restriction.content", "media:restriction/rdf:value|media:restriction", FEED_STRING),
    EACH("media_restriction.relationship", "media:restriction/media:relationship", FEED_STRING),
    EACH("media_restriction.type", "media:restriction/media:type", FEED_STRING),
    EACH("media_license.content", "media:license/rdf:value|media:license", FEED_STRING),
    EACH("media_license.href", "media:license/media:href", FEED_IRI),
    EACH("media_license.type", "media:license/media:type", FEED_STRING),
    EACH("psc_chapters.version", "psc:chapters/psc:version", FEED_STRING),
    EACH("psc_chapters.chapters.len", "psc:chapters/psc:chapter", FEED_COUNT),
    EACH("psc_chapters.chapters.N.title", "psc:chapters/psc:chapter/psc:title", FEED_STRING),
    EACH("slash_comments", "slash:comments", FEED_STRING),
    EACH("thr_total", "thr:total", FEED_STRING),
    EACH("where.type", "", FEED_SHAPE),
    EACH("where.coordinates", PLACES, FEED_POINT),
    EACH("where.coordinates.N", PLACES, FEED_POINT),
    EACH("geo_lat", "geo:lat", FEED_STRING),
    EACH("geo_long", "geo:long", FEED_STRING),
    EACH("madeup_element", "*", FEED_STRING),

    EACH("*",
         "types and bases of texts are used, not kept; shapes and dictionaries have no "
         "counterpart",
         FEED_NOT),
    {"*", "which dialect a feed was in, and what HTTP said, is not in the graph", FEED_NOT},
    {0}};

#endif
