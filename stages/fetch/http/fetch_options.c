#include "stages/fetch/http/fetch_http.h"

const struct opt fetch_options[] = {
    {"fetch.window", OPT_INTEGER, "1024", 1, 10000, NULL,
     "The number of documents that a fetch process has in flight at a time, each from another "
     "host. Half as many more may be slow ones, so that they do not keep others waiting. The "
     "process's limit of open files (ulimit -Hn) must be larger."},
    {"fetch.delay", OPT_DURATION, "1", 0, 86400, NULL,
     "The shortest time between the end of a request and the next one to the same host. A "
     "Crawl-delay of its robots.txt makes it longer."},
    {"fetch.delay_factor", OPT_INTEGER, "2", 0, 1000, NULL,
     "The delay of a host is at least this many times as long as it takes to answer (smoothed "
     "over its last answers), unless fetch.delay is 0. With 0 response times do not count."},
    {"fetch.delay_maximum", OPT_DURATION, "30", 0, 86400, NULL,
     "The longest delay that follows from response times."},
    {"fetch.backoff", OPT_DURATION, "2", 0, 86400, NULL,
     "The delay of a host that answers 429 or 503, or not at all. It is doubled for each such end "
     "in a row, also over the hosts of one address."},
    {"fetch.backoff_maximum", OPT_DURATION, "5m", 0, 86400, NULL,
     "The longest delay that fetch.backoff leads to. Retry-After may ask for more: "
     "fetch.retry_maximum."},
    {"fetch.crawl_delay_maximum", OPT_DURATION, "30", 0, 86400, NULL,
     "The longest Crawl-delay that is kept; a longer one is taken as this."},
    {"fetch.user_agent", OPT_STRING,
     "Quadrille/0.1 (crawler of structured data; +https://example.org/please-set-fetch.user_agent)",
     0, 0, NULL,
     "The User-Agent header. Name yourself, and a page that says what you do and how to reach "
     "you."},
    {"fetch.from", OPT_STRING, "", 0, 0, NULL,
     "A mail address for the From header, for anonymous FTP, and as the operator in WARC files. "
     "It may be empty."},
    {"fetch.robots_name", OPT_STRING, "quadrille", 0, 0, NULL,
     "The product token whose rules in robots.txt are obeyed."},
    {"fetch.timeout", OPT_DURATION, "120", 0.05, 86400, NULL,
     "The longest time of a request, from name lookup to the last byte."},
    {"fetch.connect_timeout", OPT_DURATION, "15", 0.05, 3600, NULL,
     "The longest time to look up the name, connect and agree on TLS."},
    {"fetch.patience", OPT_DURATION, "30", 0.05, 3600, NULL,
     "The longest time from a request to the first byte of its answer, and the longest time in "
     "which a server sends less than 32 bytes a second. The first one is shorter for hosts that "
     "answered sooner before, or that never did."},
    {"fetch.size", OPT_SIZE, "32M", 1024, 0, NULL,
     "The largest size of a body as sent. The beginning of a longer one is archived and goes on "
     "to the other stages."},
    {"fetch.memory", OPT_SIZE, "512M", 1048576, 0, NULL,
     "The memory that all bodies in flight in a process take together. A body that does not fit "
     "is fetched again later."},
    {"fetch.attempts", OPT_INTEGER, "3", 1, 1000, NULL,
     "The number of times a document is tried that a server or the network fails to deliver. The "
     "queue buries it after two further attempts that a process has begun and died of."},
    {"fetch.retry", OPT_DURATION, "10", 0, 86400, NULL,
     "The time from the start of the first attempt to the second. It is doubled for each further "
     "one."},
    {"fetch.retry_maximum", OPT_DURATION, "1h", 0, 0, NULL,
     "The longest time before an attempt, also when Retry-After asks for more."},
    {"fetch.robots", OPT_BOOL, "yes", 0, 0, NULL,
     "Whether robots.txt is fetched and obeyed. Say no for your own sites only."},
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
     "Whether entries outside of a sitemap's folder, which no robots.txt vouches for, are taken "
     "and counted (note) or refused (obey)."},
    {"sitemaps.budget", OPT_INTEGER, "100000", 0, 0, NULL,
     "The number of new URLs that the sitemaps of a host may submit a day, times the share of its "
     "earlier ones that were useful (half at first); 0 for no limit. Further ones wait behind all "
     "others of the host."},
    {"sitemaps.files", OPT_INTEGER, "10000", 1, 0, NULL,
     "The largest number of sitemaps that are fetched because the indexes of a host name them, "
     "ever, and that are taken from its robots.txt; others are left out. The default allows for "
     "half a billion URLs of a host."},
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
     "The way to a dataset that is taken where it is possible. With cost it is the one that costs "
     "the publisher least."},
    {"datasets.page", OPT_INTEGER, "500", 1, 100000, NULL,
     "The number of resources that one query to a SPARQL endpoint asks for. It becomes less when "
     "the endpoint cannot give so many."},
    {"datasets.dump_size", OPT_SIZE, "10G", 1024, 0, NULL,
     "The largest size of a dump. The documents of a larger one are fetched one by one."},
    {"fetch.connections", OPT_INTEGER, "2048", 1, 100000, NULL,
     "The number of idle connections that are kept open for further requests. It is best as large "
     "as the number of hosts that are visited in a few seconds; with more hosts each new "
     "connection costs a search for the oldest. The process's limit of open files (ulimit -Hn) "
     "bounds it."},
    {"fetch.http2", OPT_BOOL, "yes", 0, 0, NULL, "Whether HTTP/2 is offered over TLS."},
    {"fetch.allow_address", OPT_LIST, "", 0, 0, NULL,
     "Addresses or prefixes such as 127.0.0.0/8 that may be connected to although they are "
     "private, loopback, link-local or otherwise not of the public internet."},
    {"fetch.connect_to", OPT_LIST, "", 0, 0, NULL,
     "A host:port that every connection goes to, whatever the URI says. https=host:port, "
     "http=host:port and ftp=host:port are for that scheme only and come before one for all. This "
     "is for tests and for mirrors."},
    {"fetch.hosts_file", OPT_STRING, "", 0, 0, NULL,
     "A file in the format of hosts(5), whose addresses come before fetch.connect_to and DNS. "
     "This is for mirrors and tests. Hosts to which it gives the same address share "
     "queue.group_parallel and queue.group_delay, whatever fetch.allow_address says."},
    {"fetch.dns_servers", OPT_LIST, "", 0, 0, NULL,
     "Name servers to ask, as address or address:port. Without any, those of the system are "
     "asked."},
    {"fetch.proxy", OPT_STRING, "", 0, 0, NULL,
     "A proxy that requests go through, as http://, https://, socks5:// or "
     "socks5h://[USER:PASSWORD@]HOST:PORT. The proxy looks up names and connects, so it has to "
     "judge itself which addresses are private. It is not used for hosts of fetch.hosts_file nor "
     "with fetch.connect_to."},
    {"fetch.no_proxy", OPT_LIST, "", 0, 0, NULL,
     "Hosts that are asked without the proxy, each with all hosts below it; * stands for all."},
    {"fetch.credentials", OPT_STRING, "", 0, 0, NULL,
     "A file of credentials by origin, with lines \"https://host basic user:password\" or "
     "\"https://host bearer token\", and for dumps also \"ftp://host basic user:password\". Only "
     "its owner may have rights to it. Credentials are sent to that origin only and are archived "
     "nowhere."},
    {"fetch.ca_file", OPT_STRING, "", 0, 0, NULL,
     "A file of certificates (PEM) of the authorities that are trusted instead of the system's."},
    {NULL, OPT_STRING, NULL, 0, 0, NULL, NULL},
};
