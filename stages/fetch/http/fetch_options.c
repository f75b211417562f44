#include "stages/fetch/http/fetch_http.h"

const struct opt fetch_options[] = {
    {"fetch.window", OPT_INTEGER, "1024", 1, 10000, NULL,
     "Documents that a fetch process has in flight at a time; each from another host. Half "
     "as many more may be slow ones, so that they do not keep others waiting. The process's limit "
     "of open files (ulimit -Hn) must be larger."},
    {"fetch.delay", OPT_DURATION, "1", 0, 86400, NULL,
     "Least time between the end of a request and the next one to the same host. A Crawl-delay "
     "of its robots.txt makes it longer."},
    {"fetch.delay_factor", OPT_INTEGER, "2", 0, 1000, NULL,
     "A host rests at least so many times as long as it takes to answer (smoothed over its last "
     "answers), unless fetch.delay is 0. 0: response times do not count."},
    {"fetch.delay_maximum", OPT_DURATION, "30", 0, 86400, NULL,
     "Longest rest that follows from response times."},
    {"fetch.backoff", OPT_DURATION, "2", 0, 86400, NULL,
     "Rest of a host that answers 429 or 503, or not at all; doubled for each such end in a row, "
     "also over the hosts of one address."},
    {"fetch.backoff_maximum", OPT_DURATION, "5m", 0, 86400, NULL,
     "Longest of these rests. What Retry-After asks for may be longer: fetch.retry_maximum."},
    {"fetch.crawl_delay_maximum", OPT_DURATION, "30", 0, 86400, NULL,
     "A longer Crawl-delay is taken as this."},
    {"fetch.user_agent", OPT_STRING,
     "Quadrille/0.1 (crawler of structured data; +https://example.org/please-set-fetch.user_agent)",
     0, 0, NULL,
     "The User-Agent header. Name yourself and a page that tells what you do and how to reach "
     "you."},
    {"fetch.from", OPT_STRING, "", 0, 0, NULL,
     "A mail address for the From header, for anonymous FTP, and as the operator in WARC files; "
     "may be empty."},
    {"fetch.robots_name", OPT_STRING, "quadrille", 0, 0, NULL,
     "The product token that is looked for in robots.txt."},
    {"fetch.timeout", OPT_DURATION, "120", 0.05, 86400, NULL,
     "Longest time of a request from name lookup to the last byte."},
    {"fetch.connect_timeout", OPT_DURATION, "15", 0.05, 3600, NULL,
     "Longest time to look up the name, connect and agree on TLS."},
    {"fetch.patience", OPT_DURATION, "30", 0.05, 3600, NULL,
     "Longest time from a request to the first byte of its answer (less for hosts that answered "
     "sooner before, or never did), and longest time in which a server sends less than 32 bytes a "
     "second."},
    {"fetch.size", OPT_SIZE, "32M", 1024, 0, NULL,
     "Most bytes of a body as sent. Of a longer one the beginning is archived and goes on to the "
     "other stages."},
    {"fetch.memory", OPT_SIZE, "512M", 1048576, 0, NULL,
     "Most bytes that all bodies in flight in a process hold together; what passes it is fetched "
     "again later."},
    {"fetch.attempts", OPT_INTEGER, "3", 1, 1000, NULL,
     "How often a document is tried that a server or the network fails to deliver. The queue "
     "buries it after two more, which a process that dies of it has begun."},
    {"fetch.retry", OPT_DURATION, "10", 0, 86400, NULL,
     "Time from the start of the first attempt to the second; doubled for each further one."},
    {"fetch.retry_maximum", OPT_DURATION, "1h", 0, 0, NULL,
     "Longest time before an attempt, also when Retry-After asks for more."},
    {"fetch.robots", OPT_BOOL, "yes", 0, 0, NULL,
     "Whether robots.txt is fetched and obeyed. Only for one's own sites, no."},
    {"fetch.robots_tags", OPT_CHOICE, "obey", 0, 0, "obey|note",
     "Whether noindex and nofollow in X-Robots-Tag and in the meta elements of a page are obeyed, "
     "or only noted in the metadata."},
    {"fetch.robots_signals", OPT_CHOICE, "note", 0, 0, "note|honour",
     "Whether Content-Signal and Content-Usage that say no to search, and TDM-Reservation, keep "
     "documents out of the index, or are only noted in the metadata."},
    {"fetch.sitemaps", OPT_CHOICE, "yes", 0, 0, "yes|named|no",
     "Which sitemaps are followed. With \"named\" these are the ones that robots.txt names and "
     "those "
     "met on the way. With \"yes\" a host that names none is also asked for /sitemap.xml, once, "
     "after its first good page."},
    {"sitemaps.location", OPT_CHOICE, "note", 0, 0, "note|obey",
     "Entries outside of a sitemap's folder, when no robots.txt names it: taken and counted, or "
     "refused."},
    {"sitemaps.budget", OPT_INTEGER, "100000", 0, 0, NULL,
     "New URLs that the sitemaps of a host may submit a day, times the share of its "
     "earlier ones that were useful (half at first); 0 for no limit. More wait behind all others "
     "of the host."},
    {"sitemaps.files", OPT_INTEGER, "10000", 1, 0, NULL,
     "Most sitemaps that the indexes of a host have fetched, ever, and most that are taken from "
     "its robots.txt; more are left out. So many hold half a billion URLs: raise it for a host "
     "that "
     "has more."},
    {"sitemaps.score", OPT_CHOICE, "both", 0, 0, "priority|link|both",
     "Which of a sitemap's URLs go first: by the priority that it gives, by link rank, or by "
     "PriorityRank, which is of both. Ranks are those that `quadrille report sitemaps --keep` has "
     "found; until then PriorityRank is the priority."},
    {"datasets.plan", OPT_CHOICE, "yes", 0, 0, "yes|print|no",
     "Whether dumps that Semantic Sitemaps and VoID offer are taken instead of the documents that "
     "they hold. print: plans are made and can be printed, and pages are fetched all the same."},
    {"datasets.well_known", OPT_CHOICE, "rdf", 0, 0, "rdf|yes|no",
     "Which hosts are asked, once, for /.well-known/void, where a host may describe its datasets: "
     "those that have answered with RDF, all, or none."},
    {"datasets.prefer", OPT_CHOICE, "cost", 0, 0, "cost|dump|endpoint|pages",
     "The way to a dataset that is gone if it can be; cost: the one that costs its publisher "
     "least."},
    {"datasets.page", OPT_INTEGER, "500", 1, 100000, NULL,
     "Resources asked of a SPARQL endpoint at a time; less when it cannot give so many."},
    {"datasets.dump_size", OPT_SIZE, "10G", 1024, 0, NULL,
     "Most bytes of a dump; of a larger one the documents are fetched one by one."},
    {"fetch.connections", OPT_INTEGER, "2048", 1, 100000, NULL,
     "Idle connections kept open for the next request. Best as many as hosts are visited in a few "
     "seconds: with more hosts each new connection costs a search for the oldest. No more than the "
     "process's limit of open files (ulimit -Hn) allows."},
    {"fetch.http2", OPT_BOOL, "yes", 0, 0, NULL, "Whether HTTP/2 is offered over TLS."},
    {"fetch.allow_address", OPT_LIST, "", 0, 0, NULL,
     "Addresses or prefixes such as 127.0.0.0/8 that may be connected to although they are "
     "private, loopback, link-local or otherwise not of the public internet."},
    {"fetch.connect_to", OPT_LIST, "", 0, 0, NULL,
     "host:port that every connection goes to, whatever the URI says; https=host:port, "
     "http=host:port and ftp=host:port only for that scheme, before one for all. For tests and for "
     "mirrors."},
    {"fetch.hosts_file", OPT_STRING, "", 0, 0, NULL,
     "File in the format of hosts(5): addresses of hosts, before fetch.connect_to and DNS. For "
     "mirrors and tests. Hosts that it gives one address share queue.group_parallel and "
     "queue.group_delay, whatever fetch.allow_address says."},
    {"fetch.dns_servers", OPT_LIST, "", 0, 0, NULL,
     "Name servers to ask, as address or address:port; empty: those of the system."},
    {"fetch.proxy", OPT_STRING, "", 0, 0, NULL,
     "http://, https://, socks5:// or socks5h://[USER:PASSWORD@]HOST:PORT that requests go "
     "through. "
     "The proxy looks up names and connects: which addresses are private it must judge itself. Not "
     "for hosts of fetch.hosts_file nor with fetch.connect_to."},
    {"fetch.no_proxy", OPT_LIST, "", 0, 0, NULL,
     "Hosts, each with all below it, that are asked directly; * is all."},
    {"fetch.credentials", OPT_STRING, "", 0, 0, NULL,
     "File of credentials by origin, lines \"https://host basic user:password\" or \"https://host "
     "bearer token\", for dumps also \"ftp://host basic user:password\"; only its owner may have "
     "rights to it. They are sent to that origin only and "
     "archived nowhere."},
    {"fetch.ca_file", OPT_STRING, "", 0, 0, NULL,
     "Certificates (PEM) of the authorities that are trusted, instead of the system's."},
    {NULL, OPT_STRING, NULL, 0, 0, NULL, NULL},
};
