#include "base/options/opt.h"
#include "stages/skeleton/visit_schedule.h"

const struct opt recrawl_options[] = {
    {"recrawl.enabled", OPT_BOOL, "no", 0, 0, NULL,
     "Whether documents are visited again, each at its own time. `quadrille crawl --continuous` "
     "sets it to yes."},
    {"recrawl.least", OPT_DURATION, "15m", 0.01, 0, NULL,
     "The shortest time between two visits of a document. One that is answered with 404 or 410 is "
     "asked for once more after four times as long, before its graph is emptied; without "
     "recrawl.enabled it is emptied at once."},
    {"recrawl.most", OPT_DURATION, "60d", 0.01, 0, NULL,
     "The longest time between two visits, also of documents that are gone or have no data. "
     "JSON-LD contexts and stylesheets older than half of it are fetched again when a document "
     "needs them."},
    {"recrawl.first", OPT_DURATION, "3d", 0.01, 0, NULL,
     "The time between two changes of a document that is expected while nothing is known of it, "
     "its host, or its sitemap."},
    {"recrawl.worth", OPT_DURATION, "20m", 0.01, 0, NULL,
     "A visit is made when the copy is expected to become fresher by at least this much time. A "
     "larger value means fewer visits. It rises by itself when recrawl.budget does not suffice."},
    {"recrawl.budget", OPT_INTEGER, "36000", 0, 0, NULL,
     "The number of visits that a fetch process repeats in an hour; 0 for no limit. New documents "
     "do not count, and the delay of every host holds besides."},
    {NULL, OPT_STRING, NULL, 0, 0, NULL, NULL},
};
