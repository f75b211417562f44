/* A loop around fetch_http for tests. Included after cmocka.h. */
#ifndef TESTS_UNIT_STAGES_FETCH_CLIENT_H
#define TESTS_UNIT_STAGES_FETCH_CLIENT_H

#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/system/clock.h"
#include "queue/cluster/queue_options.h"
#include "stages/fetch/http/fetch_http.h"

struct client {
    struct opt_set *options;
    struct fetch_http *http;
    int epoll;
    uint64_t due_ms;           /* of the timer; UINT64_MAX: none */
    unsigned waiting, watches; /* calls of watch */
    /* of the last result: */
    enum fetch_end end;
    unsigned status, reply;
    struct buf header, body, request;
    uint64_t retry_after_ms;
    bool flowing;
    char problem[256], ip[64];
};

static void
watch(void *context, int descriptor, uint32_t events)
{
    struct client *client = context;
    client->watches++;
    struct epoll_event event = {.events = events, .data.fd = descriptor};
    if (events == 0) {
        epoll_ctl(client->epoll, EPOLL_CTL_DEL, descriptor, NULL);
    } else if (epoll_ctl(client->epoll, EPOLL_CTL_MOD, descriptor, &event) != 0) {
        epoll_ctl(client->epoll, EPOLL_CTL_ADD, descriptor, &event);
    }
}

static void
set_timer(void *context, uint64_t delay_ms)
{
    struct client *client = context;
    client->due_ms = delay_ms == UINT64_MAX ? UINT64_MAX : clock_monotonic_ms() + delay_ms;
}

static void
done(void *context, const struct fetch_result *result)
{
    struct client *client = context;
    client->waiting--;
    client->end = result->end;
    client->flowing = result->flowing;
    client->status = result->status;
    client->reply = result->reply;
    client->retry_after_ms = result->retry_after_ms;
    buf_reset(&client->header);
    buf_reset(&client->body);
    buf_reset(&client->request);
    buf_append_slice(&client->header, result->response_header);
    buf_append_slice(&client->body, result->body);
    buf_append_slice(&client->request, result->request);
    snprintf(client->problem, sizeof client->problem, "%s", result->problem);
    snprintf(client->ip, sizeof client->ip, "%.*s", SLICE_PRINT(result->ip));
}

enum { STEP_MS = 20 };

/* Does what happens within STEP_MS. */
static void
step(struct client *client)
{
    struct epoll_event events[16];
    const uint64_t now = clock_monotonic_ms();
    const uint64_t wait = client->due_ms > now ? client->due_ms - now : 0;
    const int n = epoll_wait(client->epoll, events, 16, wait < STEP_MS ? (int)wait : STEP_MS);
    for (int i = 0; i < n; i++) {
        fetch_http_ready(client->http, events[i].data.fd, events[i].events);
    }
    if (clock_monotonic_ms() >= client->due_ms) {
        client->due_ms = UINT64_MAX;
        fetch_http_tick(client->http);
    }
}

static void
run(struct client *client)
{
    while (client->waiting > 0) {
        step(client);
    }
}

static struct client *
open_client(const char *const *assignments)
{
    static struct client client;
    static const struct opt *tables[] = {fetch_options, queue_options, NULL};
    struct reason why = {""};
    client = (struct client){.epoll = epoll_create1(EPOLL_CLOEXEC), .due_ms = UINT64_MAX};
    client.options = opt_set_new(tables);
    for (size_t i = 0; assignments[i] != NULL; i++) {
        assert_int_equal(opt_set_assign(client.options, assignments[i], &why), STATUS_OK);
    }
    buf_init(&client.header, 1 << 20);
    buf_init(&client.body, 1 << 20);
    buf_init(&client.request, 1 << 20);
    const struct fetch_loop loop = {watch, set_timer, &client};
    assert_int_equal(fetch_http_open(&client.http, client.options, &loop, &why), STATUS_OK);
    return &client;
}

static void
close_client(struct client *client)
{
    fetch_http_close(client->http);
    opt_set_free(client->options);
    buf_release(&client->header);
    buf_release(&client->body);
    buf_release(&client->request);
    close(client->epoll);
}

static void
get_url(struct client *client, const char *url)
{
    const struct fetch_request request = {
        .url = slice_string(url), .done = done, .context = client};
    client->waiting++;
    fetch_http_start(client->http, &request);
    run(client);
}

#endif
