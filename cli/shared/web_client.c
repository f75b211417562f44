#include "cli/shared/web_client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/file.h"
#include "base/url/url.h"
#include "stages/fetch/http/fetch_http.h"
#include "warc/warc.h"

enum manners { ASK_GET, ASK_HEAD, ASK_FOR_RULES /* a robots.txt: no rules yet */ };
enum { HOSTS_MAXIMUM = 256, EVENTS = 16, TURN_MS = 1000 };

struct known_host {
    char *origin;
    struct robots *robots; /* NULL: none, all is allowed */
    bool closed;           /* its robots.txt could not be had: nothing is allowed, */
    struct reason why;     /* for this reason */
    uint64_t rested_ms;    /* monotonic: not before */
};

struct web_client {
    struct fetch_http *http;
    int poll;
    uint64_t tick_ms, delay_ms, delay_maximum_ms; /* tick: monotonic; UINT64_MAX: none */
    bool obey;
    const char *robots_name;
    struct known_host hosts[HOSTS_MAXIMUM];
    size_t host_count;
    uint64_t requests, bytes;
    struct slice accept; /* empty: as configured */
    /* of the request under way */
    bool done;
    struct arena *arena;
    struct web_answer *answer;
    enum status status;
    struct reason why;
};

/* ---- libcurl's events ---- */

static void
watch(void *context, int descriptor, uint32_t events)
{
    struct web_client *client = context;
    struct epoll_event event = {.events = events, .data.fd = descriptor};
    if (events == 0) {
        (void)epoll_ctl(client->poll, EPOLL_CTL_DEL, descriptor, NULL);
    } else if (epoll_ctl(client->poll, EPOLL_CTL_MOD, descriptor, &event) != 0) {
        (void)epoll_ctl(client->poll, EPOLL_CTL_ADD, descriptor, &event);
    }
}

static void
timer(void *context, uint64_t delay_ms)
{
    struct web_client *client = context;
    client->tick_ms = delay_ms == UINT64_MAX ? UINT64_MAX : clock_monotonic_ms() + delay_ms;
}

static void
turn(struct web_client *client)
{
    struct epoll_event events[EVENTS];
    const uint64_t now = clock_monotonic_ms();
    const uint64_t wait = client->tick_ms == UINT64_MAX ? TURN_MS
                          : client->tick_ms > now       ? client->tick_ms - now
                                                        : 0;
    const int n = epoll_wait(client->poll, events, EVENTS, (int)(wait < TURN_MS ? wait : TURN_MS));
    for (int i = 0; i < n; i++) {
        fetch_http_ready(client->http, events[i].data.fd, events[i].events);
    }
    if (client->tick_ms <= clock_monotonic_ms()) {
        client->tick_ms = UINT64_MAX;
        fetch_http_tick(client->http);
    }
}

/* ---- life ---- */

enum status
web_client_open(struct web_client **result, const struct opt_set *options, struct reason *why)
{
    struct web_client *client = memory_new(sizeof *client);
    const struct fetch_loop loop = {watch, timer, client};
    client->tick_ms = UINT64_MAX;
    client->delay_ms = opt_duration_ms(options, "fetch.delay");
    client->delay_maximum_ms = opt_duration_ms(options, "fetch.crawl_delay_maximum");
    client->obey = opt_bool(options, "fetch.robots");
    client->robots_name = opt_string(options, "fetch.robots_name");
    client->poll = epoll_create1(EPOLL_CLOEXEC);
    enum status status = client->poll < 0 ? status_fail_errno(why, "cannot wait for sockets")
                                          : fetch_http_open(&client->http, options, &loop, why);
    if (status != STATUS_OK) {
        web_client_close(client);
        client = NULL;
    }
    *result = client;
    return status;
}

void
web_client_close(struct web_client *client)
{
    if (client == NULL) {
        return;
    }
    fetch_http_close(client->http);
    for (size_t i = 0; i < client->host_count; i++) {
        free(client->hosts[i].origin);
        robots_free(client->hosts[i].robots);
    }
    file_close(client->poll);
    free(client);
}

void
web_client_counted(const struct web_client *client, uint64_t *requests, uint64_t *bytes)
{
    *requests = client->requests;
    *bytes = client->bytes;
}

/* ---- one request ---- */

static void
answered(void *context, const struct fetch_result *result)
{
    struct web_client *client = context;
    struct web_answer *answer = client->answer;
    client->done = true;
    client->bytes += result->response_header.length + result->body.length;
    if (result->end != FETCH_ANSWERED && result->end != FETCH_CUT_LENGTH) {
        client->status = status_fail(
            &client->why, result->end == FETCH_REFUSED_ADDRESS ? STATUS_DENIED : STATUS_SYSTEM,
            "%s", result->problem);
        return;
    }
    struct buf body;
    buf_init(&body, client->arena->maximum > 0 ? client->arena->maximum : SIZE_MAX / 2);
    const struct slice coding = warc_http_header(result->response_header, "Content-Encoding");
    (void)warc_decode(coding, result->body, 0, &body, NULL);
    answer->status = result->status;
    answer->reply = result->reply;
    answer->cut = result->end == FETCH_CUT_LENGTH;
    answer->header = arena_copy(client->arena, result->response_header);
    answer->content_type = warc_http_header(answer->header, "Content-Type");
    answer->body = arena_copy(client->arena, buf_slice(&body));
    if (body.length > 0 && answer->body.at == NULL) {
        client->status = status_fail(&client->why, STATUS_LIMIT, "the answer is too long");
    }
    buf_release(&body);
}

static enum status
request_once(struct web_client *client, struct slice url, size_t size, enum manners manners,
             struct arena *arena, struct web_answer *answer, struct reason *why)
{
    const struct fetch_request request = {
        .url = url,
        .size = size,
        .head = manners == ASK_HEAD,
        /* Rules of a host that a redirect leads to are asked for in between. */
        .accept = manners == ASK_FOR_RULES ? (struct slice){0} : client->accept,
        .done = answered,
        .context = client,
    };
    client->done = false;
    client->status = STATUS_OK;
    client->arena = arena;
    client->answer = answer;
    client->requests++;
    fetch_http_start(client->http, &request);
    while (!client->done) {
        turn(client);
    }
    return client->status == STATUS_OK
               ? STATUS_OK
               : status_fail(why, client->status, "%.*s: %s", SLICE_PRINT(url), client->why.text);
}

/* ---- manners ---- */

static void
wait_for_delay(struct known_host *host)
{
    const uint64_t now = clock_monotonic_ms();
    if (host->rested_ms > now) {
        usleep((useconds_t)(host->rested_ms - now) * 1000);
    }
}

static void
begin_delay(const struct web_client *client, struct known_host *host)
{
    uint64_t delay_ms = client->delay_ms;
    const int64_t asked_ms = host->robots != NULL ? robots_crawl_delay_ms(host->robots) : -1;
    if (asked_ms > (int64_t)delay_ms) {
        delay_ms = (uint64_t)asked_ms < client->delay_maximum_ms ? (uint64_t)asked_ms
                                                                 : client->delay_maximum_ms;
    }
    host->rested_ms = clock_monotonic_ms() + delay_ms;
}

/* Tells whether, and when, the host may be asked for the URL; on OK its rest is over. */
static enum status enter(struct web_client *client, struct slice url, struct known_host **host,
                         struct reason *why);

/* Each redirect is a request like any other. */
static enum status
follow(struct web_client *client, struct slice url, size_t size, enum manners manners,
       struct arena *arena, struct web_answer *answer, struct reason *why)
{
    struct buf next;
    buf_init(&next, URL_MAXIMUM);
    enum status status = STATUS_OK;
    for (unsigned hops = 0;; hops++) {
        struct known_host *host = NULL;
        *answer = (struct web_answer){.url = arena_copy(arena, url)};
        status = manners == ASK_FOR_RULES ? STATUS_OK : enter(client, answer->url, &host, why);
        if (status == STATUS_OK) {
            status = request_once(client, answer->url, size, manners, arena, answer, why);
        }
        if (host != NULL) {
            begin_delay(client, host);
        }
        const struct slice location = warc_http_header(answer->header, "Location");
        if (status != STATUS_OK || answer->status < 300 || answer->status >= 400 ||
            answer->status == 304 || location.length == 0) {
            break;
        }
        buf_reset(&next);
        if (hops == REDIRECTS_MOST) {
            status = status_fail(why, STATUS_LIMIT, "%.*s: too many redirects", SLICE_PRINT(url));
            break;
        }
        status = url_crawl_key(location, answer->url, &next, why);
        if (status != STATUS_OK) {
            break;
        }
        url = buf_slice(&next);
    }
    buf_release(&next);
    return status;
}

/* RFC 9309, section 2.3.1: as the fetch stage reads it. */
static void
fetch_rules(struct web_client *client, struct known_host *host)
{
    struct arena arena;
    struct web_answer answer;
    arena_init(&arena, (size_t)16 << 20);
    const struct slice url = arena_printf(&arena, "%s/robots.txt", host->origin);
    const enum status status =
        follow(client, url, ROBOTS_MAXIMUM, ASK_FOR_RULES, &arena, &answer, &host->why);
    if (status == STATUS_OK && (answer.status >= 500 || answer.status == 429)) {
        (void)status_fail(&host->why, STATUS_DENIED, "the server answered %u", answer.status);
    }
    if (status == STATUS_OK && answer.status >= 200 && answer.status < 300) {
        host->robots = robots_parse(answer.body.at != NULL ? answer.body : SLICE(""),
                                    slice_string(client->robots_name));
    } else {
        host->closed = status != STATUS_LIMIT &&
                       (status != STATUS_OK || answer.status >= 500 || answer.status == 429);
    }
    begin_delay(client, host);
    arena_release(&arena);
}

static enum status
host_of(struct web_client *client, struct slice url, struct known_host **result, struct reason *why)
{
    const struct slice origin = url_origin(url);
    for (size_t i = 0; i < client->host_count; i++) {
        if (slice_is(origin, client->hosts[i].origin)) {
            *result = &client->hosts[i];
            return STATUS_OK;
        }
    }
    if (client->host_count == HOSTS_MAXIMUM) {
        return status_fail(why, STATUS_LIMIT, "%.*s: more than %d hosts would be asked",
                           SLICE_PRINT(url), HOSTS_MAXIMUM);
    }
    struct known_host *host = &client->hosts[client->host_count++];
    *host = (struct known_host){.origin = memory_string_n(origin.at, origin.length)};
    if (client->obey) {
        fetch_rules(client, host);
    }
    *result = host;
    return STATUS_OK;
}

static enum status
enter(struct web_client *client, struct slice url, struct known_host **result, struct reason *why)
{
    struct known_host *host;
    TRY(host_of(client, url, &host, why));
    if (host->closed) {
        return status_fail(why, STATUS_DENIED, "%.*s: the robots.txt of its host cannot be had: %s",
                           SLICE_PRINT(url), host->why.text);
    }
    if (host->robots != NULL && !robots_allows(host->robots, url_path_query(url))) {
        return status_fail(why, STATUS_DENIED, "%.*s: robots.txt forbids it", SLICE_PRINT(url));
    }
    wait_for_delay(host);
    *result = host;
    return STATUS_OK;
}

enum status
web_client_get(struct web_client *client, struct slice url, size_t size, struct arena *arena,
               struct web_answer *answer, struct reason *why)
{
    return follow(client, url, size, ASK_GET, arena, answer, why);
}

enum status
web_client_get_as(struct web_client *client, struct slice url, struct slice accept, size_t size,
                  struct arena *arena, struct web_answer *answer, struct reason *why)
{
    client->accept = accept;
    const enum status status = follow(client, url, size, ASK_GET, arena, answer, why);
    client->accept = (struct slice){0};
    return status;
}

enum status
web_client_head(struct web_client *client, struct slice url, struct arena *arena,
                struct web_answer *answer, struct reason *why)
{
    return follow(client, url, 1, ASK_HEAD, arena, answer, why);
}

enum status
web_client_robots(struct web_client *client, struct slice url, const struct robots **robots,
                  struct reason *why)
{
    struct known_host *host;
    TRY(host_of(client, url, &host, why));
    if (host->closed) {
        return status_fail(why, STATUS_DENIED, "%s/robots.txt cannot be had: %s", host->origin,
                           host->why.text);
    }
    *robots = host->robots;
    return STATUS_OK;
}
