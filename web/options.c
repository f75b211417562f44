#include "web/options.h"

const struct opt web_options[] = {
    {"web.listen", OPT_STRING, "127.0.0.1:8033", 0, 0, NULL,
     "Address and port of the HTTP service; empty for none. Port 0 takes a free one, which the log "
     "names. When this is left as it is and cluster.conf has a web= URL for this node, the "
     "service listens there. Everyone who can reach it can read the archive and the index."},
    {"web.connections", OPT_INTEGER, "128", 1, 4096, NULL,
     "Most connections at a time. For one more, the one that has waited longest for a request is "
     "closed; it is refused only while all of them are being answered."},
    {"web.connections_of_address", OPT_INTEGER, "64", 1, 4096, NULL,
     "Most of them from one IPv4 address or one /64 network of IPv6, so that nobody alone has them "
     "all; more than a browser or a proxy keeps open. Nodes of cluster.conf have no such limit."},
    {"web.connections_of_nodes", OPT_INTEGER, "32", 0, 4096, NULL,
     "Connections beyond web.connections that only nodes of cluster.conf may have, which read "
     "content here: visitors do not hold up the crawl."},
    {"web.request_time", OPT_DURATION, "20", 1, 3600, NULL,
     "A request, its body included, has to come whole within this time, or the connection is "
     "closed; the next one on the same connection, too. A megabyte at 64 KB/s takes 16 s."},
    {"web.reply_rate", OPT_SIZE, "1K", 0, 1e9, NULL,
     "A client that takes fewer bytes of a reply each second, over 10 s in which there were some "
     "to "
     "take, is cut off, since it holds a connection and perhaps a query; 0 for no limit."},
    {"web.idle", OPT_DURATION, "30", 1, 3600, NULL,
     "A connection without traffic is closed after this time."},
    {"web.hosts", OPT_STRING, "", 0, 0, NULL,
     "Names, parted by blanks, by which browsers may ask for the service beside localhost, "
     "loopback "
     "addresses and the names in web.listen and in this node's web= URL. On loopback all others "
     "are "
     "refused (421), since a page of another site can have its own name lead there; on other "
     "addresses they are when names are given here. A proxy on this machine that passes the Host "
     "field on needs its name here; * is for all."},
    {"web.queries", OPT_INTEGER, "32", 1, 256, NULL,
     "Most queries at a time. For one more, of the client that has most of them the youngest that "
     "has "
     "taken more than a second is cut off with an error that says so; while there is none such, "
     "the "
     "newcomer is answered 503. Half of index.cursors, so that others reach the index beside."},
    {"web.query_timeout", OPT_DURATION, "30", 0.1, 3600, NULL,
     "Longest time for one query. A request may ask for less by timeout=MILLISECONDS."},
    {"web.result_maximum", OPT_SIZE, "256M", 65536, 0, NULL,
     "A longer result is refused. Results above 1 MiB wait in an unnamed file in DIR/run."},
    {"web.archive", OPT_BOOL, "yes", 0, 0, NULL,
     "Whether /warc/ serves the archive's files as they are, which nodes of a cluster without keys "
     "need of each other. Whoever reaches web.listen then reads all that was fetched, also with "
     "credentials. In a cluster with keys it never does: nodes read over their encrypted links."},
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
