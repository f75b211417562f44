#include "web/web_options.h"

const struct opt web_options[] = {
    {"web.listen", OPT_STRING, "127.0.0.1:8033", 0, 0, NULL,
     "Address and port of the HTTP service; empty for none. Port 0 takes a free one, which the log "
     "names. When this is left as it is and cluster.conf has a web= URL for this node, the "
     "service listens there. Everyone who can reach it can read the archive and the index."},
    {"web.hosts", OPT_STRING, "", 0, 0, NULL,
     "Names, parted by blanks, by which browsers may ask for the service beside localhost, "
     "loopback "
     "addresses and the names in web.listen and in this node's web= URL. On loopback all others "
     "are "
     "refused (421), since a page of another site can have its own name lead there; on other "
     "addresses they are when names are given here. A proxy on this machine that passes the Host "
     "field on needs its name here; * is for all."},
    {"web.query_timeout", OPT_DURATION, "30", 0.1, 3600, NULL,
     "Longest time for one query. A request may ask for less by timeout=MILLISECONDS."},
    {"web.archive", OPT_BOOL, "yes", 0, 0, NULL,
     "Whether /warc/ serves the archive's files as they are, which nodes of a cluster without keys "
     "need of each other. Whoever reaches web.listen then reads all that was fetched, also with "
     "credentials. In a cluster with keys it never does: nodes read over their encrypted links."},
    {"web.update", OPT_CHOICE, "no", 0, 0, "no|loopback|token",
     "Who may POST SPARQL Updates to /sparql: nobody; programs on this machine, and who has the "
     "token; or only who has the token."},
    {"web.update_token", OPT_STRING, "", 0, 0, NULL,
     "The token of web.update, sent as Authorization: Bearer TOKEN. Empty: there is none."},
    {"web.ping_limit", OPT_INTEGER, "1000", 0, 1000000, NULL,
     "URLs that one address may ping in an hour, and that may be pinged of one host; of a host for "
     "which a key was proved by IndexNow, ten times as many. A publisher's whole day fits, and "
     "nobody fills the queue. Who has web.update_token is not limited; 0: only he may ping."},
    {"web.allow_origin", OPT_STRING, "", 0, 0, NULL,
     "Pages of this origin may read replies in a browser (Access-Control-Allow-Origin); * for "
     "all."},
    {NULL, OPT_STRING, NULL, 0, 0, NULL, NULL},
};
