#include "web/options.h"

const struct opt web_options[] = {
    {"web.listen", OPT_STRING, "127.0.0.1:8033", 0, 0, NULL,
     "Address and port of the HTTP service; empty for none. Port 0 takes a free one, which the log "
     "names. When this is left as it is and cluster.conf has a web= URL for this node, the "
     "service listens there. Everyone who can reach it can read the archive and the index."},
    {"web.connections", OPT_INTEGER, "128", 1, 4096, NULL,
     "Most connections at a time; one more waits."},
    {"web.idle", OPT_DURATION, "30", 1, 3600, NULL,
     "A connection without traffic is closed after this time."},
    {"web.queries", OPT_INTEGER, "8", 1, 256, NULL,
     "Most queries at a time; one more is answered 503."},
    {"web.query_timeout", OPT_DURATION, "30", 0.1, 3600, NULL,
     "Longest time for one query. A request may ask for less by timeout=MILLISECONDS."},
    {"web.result_maximum", OPT_SIZE, "256M", 65536, 0, NULL,
     "A longer result is refused. Results above 1 MiB wait in an unnamed file in DIR/run."},
    {"web.update", OPT_CHOICE, "no", 0, 0, "no|loopback|token",
     "Who may POST SPARQL Updates to /sparql: nobody; programs on this machine, and who has the "
     "token; or only who has the token."},
    {"web.update_token", OPT_STRING, "", 0, 0, NULL,
     "The token of web.update, sent as Authorization: Bearer TOKEN. Empty: there is none."},
    {"web.allow_origin", OPT_STRING, "", 0, 0, NULL,
     "Pages of this origin may read replies in a browser (Access-Control-Allow-Origin); * for "
     "all."},
    {NULL, OPT_STRING, NULL, 0, 0, NULL, NULL},
};
