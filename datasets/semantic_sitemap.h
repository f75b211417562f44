/* Semantic Sitemaps: datasets inside sitemaps. Sources: Cyganiak, Delbru, Tummarello: Semantic Web
 * Crawling: A Sitemap Extension (revision 8, 2007); Cyganiak, Stenzhorn, Delbru, Decker,
 * Tummarello: Semantic Sitemaps (ESWC 2008). No I/O.
 *
 * Both revisions' tags are read, in any letter case, in either namespace, with another or none; the
 * slicing attribute with or without a prefix. What generators get wrong is understood where only
 * one meaning is possible, and noted. Relative URIs are resolved against the sitemap's.
 */
#ifndef DATASETS_SEMANTIC_SITEMAP_H
#define DATASETS_SEMANTIC_SITEMAP_H

#include "datasets/description.h"

#define SEMANTIC_SITEMAP_NAMESPACE "http://sw.deri.org/2007/07/sitemapextension"
#define SEMANTIC_SITEMAP_SCHEMA SEMANTIC_SITEMAP_NAMESPACE "/scschema.xsd"

/* bytes: as fetched, content-decoded, perhaps still in gzip. uri: of the sitemap. BAD_INPUT when it
 * is no XML whose root is that of a sitemap; OK without datasets when it is one that has none. */
enum status semantic_sitemap_parse(struct slice bytes, struct slice uri, struct arena *arena,
                                   struct description *description, struct reason *why);
/* Returns whether a decoded beginning of a sitemap speaks of datasets at all: cheap, may err to
 * yes. */
bool semantic_sitemap_likely(struct slice bytes);

#endif
