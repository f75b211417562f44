#include "base/opt.h"
#include "stages/extract.h"

const struct opt extract_options[] = {
    {"extract.window", OPT_INTEGER, "256", 1, 10000, NULL,
     "Documents whose links one extract process asks the index for at a time."},
    {"extract.links", OPT_INTEGER, "20000", 1, 10000000, NULL,
     "Most new URIs taken from one document; the rest are counted in its metadata."},
    {"sitemaps.study", OPT_BOOL, "yes", 0, 0, NULL,
     "Whether is noted when links first led to what sitemaps list, for `quadrille report "
     "sitemaps`. A "
     "small write for each new link inside a host that has sitemaps."},
    {NULL, OPT_STRING, NULL, 0, 0, NULL, NULL},
};
