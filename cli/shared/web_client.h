/* Asks the web while the command line waits: one request at a time, with the limits, addresses and
 * manners of the fetch stage (fetch.* options). robots.txt is obeyed, a host rests between
 * requests. */
#ifndef CLI_SHARED_WEB_CLIENT_H
#define CLI_SHARED_WEB_CLIENT_H

#include "base/arena.h"
#include "base/options/opt.h"
#include "base/status.h"
#include "crawl/robots.h"

struct web_client;
enum status web_client_open(struct web_client **client, const struct opt_set *options,
                            struct reason *why);
void web_client_close(struct web_client *client);

struct web_answer {
    uint16_t status;  /* HTTP */
    uint16_t reply;   /* by FTP; else 0 */
    struct slice url; /* that answered in the end, after redirects */
    struct slice header, content_type;
    struct slice body; /* content-decoded; empty for HEAD */
    bool cut;          /* longer than asked for */
};

/* Blocks. url: a crawl key, or that of a dump. size: most bytes of the body. OK for any HTTP status
 * that is no redirect; DENIED: robots.txt or the address; everything lives in the arena. */
enum status web_client_get(struct web_client *client, struct slice url, size_t size,
                           struct arena *arena, struct web_answer *answer, struct reason *why);
/* Gets a URL with another Accept header. */
enum status web_client_get_as(struct web_client *client, struct slice url, struct slice accept,
                              size_t size, struct arena *arena, struct web_answer *answer,
                              struct reason *why);
enum status web_client_head(struct web_client *client, struct slice url, struct arena *arena,
                            struct web_answer *answer, struct reason *why);
/* The rules of the URL's host, fetched when they are not known yet; NULL: it has none. */
enum status web_client_robots(struct web_client *client, struct slice url,
                              const struct robots **robots, struct reason *why);
/* So far, robots.txt included. */
void web_client_counted(const struct web_client *client, uint64_t *requests, uint64_t *bytes);

#endif
