#include "web/web_options.h"

const struct opt web_options[] = {
    {"web.listen", OPT_STRING, "127.0.0.1:8033", 0, 0, NULL,
     "Address and port of the HTTP service; empty for none. Port 0 takes a free one, which the log "
     "names. When this is left as it is and cluster.conf has a web= URL for this node, the "
     "service listens there. Everyone who can reach it can read the archive and the index."},
    {"web.hosts", OPT_STRING, "", 0, 0, NULL,
     "Names, separated by blanks, by which browsers may ask for the service, besides localhost, "
     "loopback addresses and the names in web.listen and in this node's web= URL. On loopback all "
     "others are refused (421), since a page of another site can have its own name lead there; on "
     "other addresses they are refused when names are given here. A proxy on this machine that "
     "passes the Host field on needs its name here; * stands for all."},
    {"web.query_timeout", OPT_DURATION, "30", 0.1, 3600, NULL,
     "The longest time of one query. A request may ask for less with timeout=MILLISECONDS."},
    {"web.archive", OPT_BOOL, "yes", 0, 0, NULL,
     "Whether /warc/ serves the archive's files as they are. Nodes of a cluster without keys need "
     "that of each other; whoever reaches web.listen can then read all that was fetched, also "
     "with credentials. In a cluster with keys it is never served, since nodes read over their "
     "encrypted links."},
    {"web.update", OPT_CHOICE, "no", 0, 0, "no|loopback|token",
     "Who may POST SPARQL Updates to /sparql: nobody; programs on this machine and those that "
     "have the token; or only those that have the token."},
    {"web.update_token", OPT_STRING, "", 0, 0, NULL,
     "The token of web.update, which is sent as Authorization: Bearer TOKEN. When it is empty "
     "there is none."},
    {"web.ping_limit", OPT_INTEGER, "1000", 0, 1000000, NULL,
     "The number of URLs that one address may ping in an hour, and that may be pinged of one "
     "host; ten times as many of a host for which a key was proved by IndexNow. A publisher's "
     "whole day fits, and nobody fills the queue. Those who have web.update_token are not "
     "limited; with 0 only they may ping."},
    {"web.allow_origin", OPT_STRING, "", 0, 0, NULL,
     "The origin whose pages may read replies in a browser (Access-Control-Allow-Origin); * for "
     "all."},
    {NULL, OPT_STRING, NULL, 0, 0, NULL, NULL},
};
