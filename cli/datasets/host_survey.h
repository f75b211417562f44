/* Gathers what a host says of its datasets by asking it: robots.txt, sitemaps, /.well-known/void,
 * the sitemaps of others that these name, and the heads of dumps. docs/DATASETS.md. */
#ifndef CLI_DATASETS_HOST_SURVEY_H
#define CLI_DATASETS_HOST_SURVEY_H

#include "cli/shared/web_client.h"
#include "datasets/claims.h"
#include "datasets/sitemap.h"

struct surveyed_sitemap {
    struct slice uri;
    enum sitemap_kind kind;
    unsigned entries, foreign; /* of other hosts, which the sitemap may not list */
    bool limited, incomplete;
    struct slice problem;            /* why it could not be had or read; empty: it was */
    struct description *description; /* NULL: it says nothing of datasets */
};

struct survey {
    struct arena arena;
    struct slice origin;
    struct surveyed_sitemap *sitemaps;
    size_t count;
    struct claims claims;
    struct slice *locations; /* all entries of the sitemaps */
    size_t location_count;
    bool limited; /* more sitemaps or entries than are read */
};

void survey_init(struct survey *survey);
void survey_release(struct survey *survey);
/* Reads one sitemap and, of an index, the ones it names; with what they say of datasets. */
enum status survey_sitemap(struct survey *survey, struct web_client *client, struct slice uri,
                           struct reason *why);
/* All of a host. url: any crawl key of it. */
enum status survey_host(struct survey *survey, struct web_client *client, struct slice url,
                        struct reason *why);
/* Fetches the sitemaps that sub and parent links name, asks for the heads of dumps, counts
 * documents below prefixes, and judges all claims. */
void survey_finish(struct survey *survey, struct web_client *client);

#endif
