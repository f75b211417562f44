#include "tests/unit/queue_daemon/daemon_stand_ins.h"
#include "tests/unit/stand_in.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct buf trace;
uint64_t now_ms;

void
assert_trace(const char *text)
{
    assert_string_equal(trace.length > 0 ? trace.data : "", text);
    buf_reset(&trace);
}

STAND_IN(uint64_t, clock_monotonic_ms, (void))
{
    return now_ms;
}

STAND_IN(uint64_t, clock_wall_ms, (void))
{
    return WALL_MS + now_ms;
}

/* ---- other nodes ---- */

static struct rpc_client clients[NODES_MOST];
int client_wait_ms[NODES_MOST], client_fails;
static struct {
    rpc_done *done;
    void *context;
    uint8_t verb;
} posts[POSTS];
static size_t post_count;
int outgoing; /* node for which something waits, */
size_t outgoing_bytes;
int processed[NODES_MOST];

STAND_IN(enum status, rpc_client_open,
         (struct rpc_client * *client, const struct rpc_client_options *options,
          struct reason *why))
{
    const int node = options->endpoint[strlen(options->endpoint) - 1] - '0';
    buf_printf(&trace, "open %s as %s\n", options->endpoint, options->name);
    if (node == client_fails) {
        return status_fail(why, STATUS_SYSTEM, "no socket");
    }
    clients[node].node = node;
    *client = &clients[node];
    return STATUS_OK;
}

STAND_IN(void, rpc_client_close, (struct rpc_client * client))
{
    if (client != NULL) {
        buf_printf(&trace, "close %d\n", client->node);
    }
}

STAND_IN(int, rpc_client_descriptor, (struct rpc_client * client))
{
    return 100 + client->node;
}

STAND_IN(void, rpc_client_process, (struct rpc_client * client))
{
    processed[client->node]++;
}

STAND_IN(int, rpc_client_wait_ms, (const struct rpc_client *client))
{
    return client_wait_ms[client->node];
}

STAND_IN(void, rpc_client_post,
         (struct rpc_client * client, uint8_t verb, struct slice payload, uint32_t timeout_ms,
          rpc_done *done, void *context))
{
    assert_int_equal(timeout_ms, 0);
    assert_true(post_count < POSTS);
    posts[post_count].verb = verb;
    posts[post_count].done = done;
    posts[post_count++].context = context;
    buf_printf(&trace, "post %u to %d:", verb, client->node);
    for (size_t i = 0; i < payload.length && i < 8; i++) {
        buf_printf(&trace, " %02x", (uint8_t)payload.at[i]);
    }
    buf_append_char(&trace, '\n');
}

void
answer_post(size_t at, enum status status, struct slice payload, const char *text)
{
    struct reason why;
    assert_true(at < post_count);
    snprintf(why.text, sizeof why.text, "%s", text);
    posts[at].done(posts[at].context, status, payload, &why);
}

/* ---- the broker ---- */

int broker_there;
uint64_t scope_in_force, broker_wait;
broker_answer *answers;
void *answers_context;
enum status open_status, work_status;
int work_left; /* calls until work_status */
struct stood_in_metadata metadata[4];
size_t metadata_count;
static struct counters counted;
void *submitted[REQUESTS];
size_t submitted_count;

STAND_IN(void, broker_tell_node,
         (struct broker * broker, size_t node, uint64_t down_since_ms, struct slice trouble))
{
    assert_ptr_equal(broker, BROKER);
    buf_printf(&trace, "node %zu down since %llu trouble '%.*s'\n", node,
               (unsigned long long)down_since_ms, SLICE_PRINT(trouble));
}

STAND_IN(bool, broker_outgoing, (struct broker * broker, size_t node, struct buf *payload))
{
    assert_ptr_equal(broker, BROKER);
    assert_int_equal(payload->length, 0);
    assert_int_not_equal(node, 1); /* that is this one */
    buf_append_string(payload, (int)node == outgoing ? "jb" : "x");
    for (size_t i = 2; i < outgoing_bytes; i++) {
        buf_append_char(payload, '.');
    }
    return (int)node == outgoing;
}

STAND_IN(void, broker_delivered,
         (struct broker * broker, size_t node, enum status status, uint64_t last))
{
    assert_ptr_equal(broker, BROKER);
    buf_printf(&trace, "delivered to %zu %s %llu\n", node, status_name(status),
               (unsigned long long)last);
}

STAND_IN(uint64_t, broker_scope, (const struct broker *broker))
{
    assert_ptr_equal(broker, BROKER);
    return scope_in_force;
}

STAND_IN(void, broker_set_scope, (struct broker * broker, uint64_t version, struct slice change))
{
    assert_ptr_equal(broker, BROKER);
    buf_printf(&trace, "scope %llu '%.*s'\n", (unsigned long long)version, SLICE_PRINT(change));
}

STAND_IN(size_t, broker_metadata_of,
         (struct broker * broker, uint8_t verb, struct slice payload, struct broker_metadata **list,
          struct buf *bytes))
{
    assert_ptr_equal(broker, BROKER);
    assert_true(verb == QUEUE_TRANSFER || verb == QUEUE_FORGET);
    (void)payload;
    *list = memory_zero(metadata_count + 1, sizeof **list);
    for (size_t i = 0; i < metadata_count; i++) {
        (*list)[i].key = slice_string(metadata[i].key);
        (*list)[i].fields = slice_string(metadata[i].fields);
    }
    buf_append_char(bytes, 'x');
    return metadata_count;
}

STAND_IN(enum status, broker_open,
         (struct broker * *broker, const struct broker_options *options, broker_answer *answer,
          void *context, struct reason *why))
{
    assert_ptr_equal(options->take_scope, daemon_scope_take);
    assert_non_null(options->take_scope_context);
    answers = answer;
    answers_context = context;
    buf_append_string(&trace, "open broker\n");
    if (open_status != STATUS_OK) {
        return status_fail(why, open_status, "no broker");
    }
    *broker = BROKER;
    return STATUS_OK;
}

STAND_IN(void, broker_close, (struct broker * broker))
{
    buf_append_string(&trace, broker == BROKER ? "close broker\n" : "close none\n");
}

STAND_IN(void, broker_serve_as, (struct broker * broker, uint64_t incarnation))
{
    assert_ptr_equal(broker, BROKER);
    buf_printf(&trace, "serve as %llu\n", (unsigned long long)incarnation);
}

STAND_IN(const struct counters *, broker_counters, (const struct broker *broker))
{
    assert_ptr_equal(broker, BROKER);
    return &counted;
}

size_t room;

STAND_IN(bool, broker_has_room, (const struct broker *broker))
{
    assert_ptr_equal(broker, BROKER);
    return room > 0 && room-- > 0;
}

STAND_IN(void, broker_submit, (struct broker * broker, const struct broker_request *request))
{
    assert_ptr_equal(broker, BROKER);
    buf_printf(&trace, "submit %u %llu of %llu '%.*s' '%.*s'\n", request->verb,
               (unsigned long long)request->id, (unsigned long long)request->incarnation,
               SLICE_PRINT(request->client), SLICE_PRINT(request->payload));
    submitted[submitted_count++] = request->token;
}

STAND_IN(enum status, broker_work, (struct broker * broker, struct reason *why))
{
    assert_ptr_equal(broker, BROKER);
    buf_append_string(&trace, "work\n");
    return work_left-- != 0 ? STATUS_OK : status_fail(why, work_status, "a store that is no more");
}

STAND_IN(uint64_t, broker_wait_ms, (const struct broker *broker))
{
    assert_ptr_equal(broker, BROKER);
    return broker_wait;
}

/* ---- the node's metadata store ---- */

struct metastore_client store;
enum status store_status;
int store_wait_ms;
static struct {
    metastore_put_done *done;
    void *context;
} store_puts[POSTS];
size_t put_count;

STAND_IN(enum status, metastore_client_open,
         (struct metastore_client * *client, const struct metastore_client_options *options,
          struct reason *why))
{
    assert_int_equal(options->endpoint_count, 1);
    assert_string_equal(options->name, "queue");
    buf_printf(&trace, "open store %s\n", options->endpoints[0]);
    if (store_status != STATUS_OK) {
        return status_fail(why, store_status, "no store");
    }
    store.descriptor = 55;
    *client = &store;
    return STATUS_OK;
}

STAND_IN(void, metastore_client_close, (struct metastore_client * client))
{
    if (client != NULL) {
        buf_append_string(&trace, "close store\n");
    }
}

STAND_IN(size_t, metastore_descriptors,
         (struct metastore_client * client, int *descriptors, size_t most))
{
    assert_int_equal(most, 1);
    *descriptors = client->descriptor;
    return 1;
}

STAND_IN(void, metastore_process, (struct metastore_client * client))
{
    assert_ptr_equal(client, &store);
    buf_append_string(&trace, "process store\n");
}

STAND_IN(int, metastore_wait_ms, (const struct metastore_client *client))
{
    assert_ptr_equal(client, &store);
    return store_wait_ms;
}

STAND_IN(void, metastore_put,
         (struct metastore_client * client, const struct meta_put *list, size_t n,
          metastore_put_done *done, void *context))
{
    assert_ptr_equal(client, &store);
    buf_append_string(&trace, "put");
    for (size_t i = 0; i < n; i++) {
        buf_printf(&trace, " %.*s+%zu", SLICE_PRINT(list[i].key), list[i].fields.length);
    }
    buf_append_char(&trace, '\n');
    store_puts[put_count].done = done;
    store_puts[put_count++].context = context;
}

void
end_put(size_t at, enum status status)
{
    struct reason why = {"the store says"};
    store_puts[at].done(store_puts[at].context, status, &why);
}

/* ---- files of the scope ---- */

char folder[SCRATCH_SIZE];
struct stood_in_files files;

STAND_IN(bool, scope_edition_read, (const char *directory, struct scope_edition *edition))
{
    assert_string_equal(directory, folder);
    *edition = (struct scope_edition){.version = files.version};
    buf_append_string(&trace, "edition\n");
    return files.version > 0;
}

STAND_IN(enum status, scope_file_read,
         (const char *directory, struct buf *text, bool *whole, struct reason *why))
{
    assert_string_equal(directory, folder);
    assert_int_equal(text->length, 0);
    *whole = files.whole;
    if (files.read != STATUS_OK) {
        return status_fail(why, files.read, "no rules");
    }
    return buf_append_string(text, "scope.hosts = a, b\n");
}

STAND_IN(enum status, scope_told_read,
         (const char *directory, struct buf *text, struct reason *why))
{
    assert_string_equal(directory, folder);
    if (files.told != STATUS_OK) {
        return status_fail(why, files.told, "not told");
    }
    return buf_append_string(text, "scope.hosts = a\n");
}

STAND_IN(enum status, scope_told_write,
         (const char *directory, struct slice text, struct reason *why))
{
    assert_string_equal(directory, folder);
    buf_printf(&trace, "told '%.*s'\n", SLICE_PRINT(text));
    return files.write != STATUS_OK ? status_fail(why, files.write, "full") : STATUS_OK;
}

STAND_IN(enum status, scope_change_take,
         (const char *directory, const struct opt_set *configured, struct slice change,
          struct reason *why))
{
    assert_string_equal(directory, folder);
    (void)why;
    buf_printf(&trace, "take '%.*s'%s\n", SLICE_PRINT(change), configured != NULL ? " and" : "");
    return STATUS_AGAIN;
}

/* ---- sockets and signals ---- */

struct rpc_request *to_come;
size_t come, come_count;
static uint64_t replied;
enum status bind_status;
int bind_failures;
unsigned binds;

STAND_IN(enum status, rpc_server_open,
         (struct rpc_server * *server, const char *const *endpoints, const struct rpc_keys *keys,
          struct reason *why))
{
    (void)keys;
    assert_string_equal(endpoints[0], "ipc://own");
    binds++;
    if (bind_failures != 0) {
        bind_failures -= bind_failures > 0;
        return status_fail(why, bind_status, "another serves");
    }
    *server = (struct rpc_server *)(void *)&broker_there;
    return STATUS_OK;
}

STAND_IN(void, rpc_server_close, (struct rpc_server * server))
{
    assert_non_null(server);
    buf_append_string(&trace, "close server\n");
}

STAND_IN(int, rpc_server_descriptor, (struct rpc_server * server))
{
    assert_non_null(server);
    return 44;
}

STAND_IN(uint64_t, rpc_server_incarnation, (const struct rpc_server *server))
{
    assert_non_null(server);
    return 4711;
}

STAND_IN(enum status, rpc_server_receive, (struct rpc_server * server, struct rpc_request *request))
{
    assert_non_null(server);
    if (come == come_count) {
        return STATUS_AGAIN;
    }
    *request = to_come[come++];
    return STATUS_OK;
}

STAND_IN(void, rpc_reply,
         (struct rpc_server * server, struct rpc_request *request, enum status status,
          struct slice payload, const struct reason *why))
{
    assert_non_null(server);
    replied++;
    buf_printf(&trace, "reply to %llu %s '%.*s' %s\n", (unsigned long long)request->id,
               status_name(status), SLICE_PRINT(payload), why != NULL ? why->text : "");
}

STAND_IN(void, rpc_request_drop, (struct rpc_request * request))
{
    buf_printf(&trace, "drop %llu\n", (unsigned long long)request->id);
}

STAND_IN(void, daemon_tell_ready, (int ready_descriptor))
{
    buf_printf(&trace, "ready %d\n", ready_descriptor);
}

STAND_IN(int, nanosleep, (const struct timespec *pause, struct timespec *left))
{
    (void)left;
    assert_int_equal(pause->tv_sec, 0);
    assert_int_equal(pause->tv_nsec, 20000000);
    now_ms += 20;
    return 0;
}

int polls_left; /* before a signal comes */
int readable;   /* the descriptor at which every poll finds something; 0: none */
void (*between)(void);

STAND_IN(int, poll, (struct pollfd * list, nfds_t n, int wait))
{
    buf_printf(&trace, "poll %d:", wait);
    for (nfds_t i = 1; i < n; i++) {
        assert_int_equal(list[i].events, POLLIN);
        list[i].revents = readable != 0 && list[i].fd == readable ? POLLIN : 0;
        buf_printf(&trace, " %d", list[i].fd);
    }
    buf_append_char(&trace, '\n');
    assert_int_equal(list[0].events, POLLIN);
    if (between != NULL) {
        between();
    }
    if (polls_left-- > 0) {
        list[0].revents = 0;
        return 1; /* something else */
    }
    assert_int_equal(raise(SIGTERM), 0); /* which is blocked: its descriptor has it */
    list[0].revents = POLLIN;
    return 1;
}

/* ---- set up ---- */

struct cluster *cluster;

void
read_cluster(size_t nodes, const char *self)
{
    struct reason why;
    char text[1024] = "";
    for (size_t i = 0; i < nodes; i++) {
        const size_t at = strlen(text);
        snprintf(text + at, sizeof text - at,
                 "node n%zu queue=ipc:///run/s%zu metastore=tcp://127.0.0.1:1%zu "
                 "stages=fetch,detect,transform,index,extract\n",
                 i, i, i);
    }
    if (cluster_parse(&cluster, slice_string(text), self, folder, &why) != STATUS_OK) {
        fail_msg("%s", why.text);
    }
}

int
set_up(void **state)
{
    (void)state;
    log_open("test_daemon_steps", LOG_LEVEL_ERROR, false);
    buf_init(&trace, TRACE);
    assert_true(scratch_folder(folder, "test_daemon_steps"));
    now_ms = 100;
    client_fails = outgoing = -1;
    outgoing_bytes = 0;
    memset(processed, 0, sizeof processed);
    post_count = put_count = submitted_count = metadata_count = 0;
    for (int i = 0; i < NODES_MOST; i++) {
        client_wait_ms[i] = -1;
    }
    scope_in_force = 0;
    open_status = work_status = bind_status = store_status = STATUS_OK;
    bind_failures = 0;
    binds = 0;
    work_left = -1;
    store_wait_ms = -1;
    broker_wait = 700;
    room = 0;
    come = come_count = 0;
    polls_left = readable = 0;
    between = NULL;
    files.version = 0;
    files.read = files.told = files.write = STATUS_OK;
    files.whole = true;
    return 0;
}

int
tear_down(void **state)
{
    char command[SCRATCH_SIZE + 16];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
    buf_release(&trace);
    cluster_close(cluster);
    cluster = NULL;
    return 0;
}
