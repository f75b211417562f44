/* Calls between processes: answers, failures, servers that die and move, keys, hostile peers. */
#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include <cmocka.h>

#include "base/codec.h"
#include "base/memory.h"
#include "base/rpc/rpc.h"
#include "base/rpc/rpc_socket.h"
#include "base/system/clock.h"
#include "tests/unit/base/rpc_servers.h"
#include "tests/unit/own_address.h"
#include "tests/unit/scratch.h"

static struct rpc_client *
client_open(const char *address, const struct rpc_keys *keys)
{
    struct rpc_client *client;
    const struct rpc_client_options options = {
        .endpoint = address, .name = "test.1", .keys = keys, .resend_ms = 200};
    assert_int_equal(rpc_client_open(&client, &options, NULL), STATUS_OK);
    return client;
}

static void
call_is(struct rpc_client *client, uint8_t verb, const char *payload, const char *expected)
{
    struct buf reply;
    struct reason why = {""};
    buf_init(&reply, 1000);
    assert_int_equal(rpc_call(client, verb, slice_string(payload), 120000, &reply, &why),
                     STATUS_OK);
    assert_string_equal(reply.data, expected);
    buf_release(&reply);
}

/* ---- calls ---- */

static void
answers_and_failures(void **state)
{
    (void)state;
    struct rpc_client *client =
        client_open(rpc_place.endpoint, NULL); /* before there is a server */
    const pid_t server = server_start(rpc_place.endpoint, NULL);
    struct reason why;
    struct stat info;
    call_is(client, VERB_ECHO, "hello", "hello");
    call_is(client, VERB_CLIENT, "", "test.1");
    assert_int_equal(rpc_call(client, VERB_FAIL, SLICE("no room"), 120000, NULL, &why),
                     STATUS_FULL);
    assert_string_equal(why.text, "no room");
    assert_int_equal(rpc_client_outstanding(client), 0);
    assert_int_equal(stat(rpc_place.socket, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    rpc_client_close(client);
    server_stop(server);
}

static void
nobody_there(void **state)
{
    (void)state;
    struct rpc_client *client = client_open(rpc_place.endpoint, NULL);
    struct reason why;
    const uint64_t before = clock_monotonic_ms();
    assert_int_equal(rpc_call(client, VERB_ECHO, SLICE(""), 150, NULL, &why), STATUS_TIMEOUT);
    assert_in_range(clock_monotonic_ms() - before, 150, 60000);
    rpc_client_close(client);
}

static void
server_killed_between_request_and_reply(void **state)
{
    (void)state;
    const pid_t server = server_start(rpc_place.endpoint, NULL);
    struct rpc_client *client = client_open(rpc_place.endpoint, NULL);
    call_is(client, VERB_ECHO, "a", "a");
    const uint64_t incarnation = rpc_client_peer_incarnation(client);
    const pid_t next = server_start_after_marker();
    call_is(client, VERB_DIE, "b", "b");
    assert_true(rpc_client_peer_incarnation(client) != incarnation);
    rpc_client_close(client);
    server_stop(server);
    server_stop(next);
}

static void
a_lost_reply_is_asked_for_again(void **state)
{
    (void)state;
    const pid_t server = server_start(rpc_place.endpoint, NULL);
    struct rpc_client *client = client_open(rpc_place.endpoint, NULL);
    call_is(client, VERB_MUTE_ONCE, "again", "again");
    rpc_client_close(client);
    server_stop(server);
}

/* ---- many, late, cancelled ---- */

struct tally {
    int ok, timeout, cancelled, other, late;
    uint8_t late_verb;
    char late_payload[16];
};

static void
tally_done(void *context, enum status status, struct slice payload, const struct reason *why)
{
    struct tally *tally = context;
    (void)payload;
    (void)why;
    tally->ok += status == STATUS_OK;
    tally->timeout += status == STATUS_TIMEOUT;
    tally->cancelled += status == STATUS_CANCELLED;
    tally->other += status != STATUS_OK && status != STATUS_TIMEOUT && status != STATUS_CANCELLED;
}

static void
tally_late(void *context, uint8_t verb, enum status status, struct slice payload)
{
    struct tally *tally = context;
    tally->late += status == STATUS_OK;
    tally->late_verb = verb;
    (void)snprintf(tally->late_payload, sizeof tally->late_payload, "%.*s", SLICE_PRINT(payload));
}

static void
wait_until(struct rpc_client *client, const int *counter, int wanted)
{
    const uint64_t end = clock_monotonic_ms() + 60000;
    while (*counter < wanted && clock_monotonic_ms() < end) {
        struct pollfd descriptor = {.fd = rpc_client_descriptor(client), .events = POLLIN};
        const int wait = rpc_client_wait_ms(client);
        (void)poll(&descriptor, 1, wait < 0 ? 1000 : wait);
        rpc_client_process(client);
    }
    assert_int_equal(*counter, wanted);
}

static void
late_replies_reach_the_late_handler(void **state)
{
    (void)state;
    struct tally tally = {0};
    const pid_t server = server_start(rpc_place.endpoint, NULL);
    struct rpc_client *client;
    const struct rpc_client_options options = {.endpoint = rpc_place.endpoint,
                                               .name = "test.1",
                                               .late = tally_late,
                                               .late_context = &tally};
    assert_int_equal(rpc_client_open(&client, &options, NULL), STATUS_OK);
    call_is(client, VERB_ECHO, "a", "a");
    rpc_client_post(client, VERB_SLOW, SLICE("late"), 50, tally_done, &tally);
    wait_until(client, &tally.timeout, 1);
    wait_until(client, &tally.late, 1);
    assert_int_equal(tally.late_verb, VERB_SLOW);
    assert_string_equal(tally.late_payload, "late");
    assert_int_equal(tally.ok, 0);
    rpc_client_close(client);
    server_stop(server);
}

static void
every_request_ends_once_while_servers_die(void **state)
{
    (void)state;
    enum { REQUESTS = 20000, WINDOW = 300 };
    struct tally tally = {0};
    struct rpc_client *client = client_open(rpc_place.endpoint, NULL);
    pid_t server = server_start(rpc_place.endpoint, NULL);
    for (int posted = 0, kills = 0; posted < REQUESTS;) {
        while (posted < REQUESTS && rpc_client_outstanding(client) < WINDOW) {
            rpc_client_post(client, VERB_ECHO, SLICE("x"), 0, tally_done, &tally);
            posted++;
        }
        if (posted >= (kills + 1) * (REQUESTS / 5) && posted < REQUESTS) {
            server_stop(server);
            server = server_start(rpc_place.endpoint, NULL);
            kills++;
        }
        struct pollfd descriptor = {.fd = rpc_client_descriptor(client), .events = POLLIN};
        (void)poll(&descriptor, 1, rpc_client_wait_ms(client));
        rpc_client_process(client);
    }
    wait_until(client, &tally.ok, REQUESTS);
    assert_int_equal(tally.timeout + tally.cancelled + tally.other, 0);
    rpc_client_close(client);
    server_stop(server);
}

static void
close_cancels(void **state)
{
    (void)state;
    struct tally tally = {0};
    struct rpc_client *client = client_open(rpc_place.endpoint, NULL);
    char *large = memory_zero(RPC_PAYLOAD_MAXIMUM + 1, 1);
    rpc_client_post(client, VERB_ECHO, SLICE("x"), 0, tally_done, &tally);
    rpc_client_post(client, VERB_ECHO, slice_of(large, RPC_PAYLOAD_MAXIMUM + 1), 0, tally_done,
                    &tally);
    assert_int_equal(rpc_client_outstanding(client), 2);
    rpc_client_close(client);
    assert_int_equal(tally.cancelled, 2);
    free(large);
}

static void
too_large_a_request(void **state)
{
    (void)state;
    struct rpc_client *client = client_open(rpc_place.endpoint, NULL);
    struct reason why;
    char *large = memory_zero(RPC_PAYLOAD_MAXIMUM + 1, 1);
    assert_int_equal(
        rpc_call(client, VERB_ECHO, slice_of(large, RPC_PAYLOAD_MAXIMUM + 1), 0, NULL, &why),
        STATUS_LIMIT);
    assert_string_equal(why.text, "a request of more than 67108864 bytes");
    free(large);
    rpc_client_close(client);
}

/* The client is told; the connection stays. */
static void
too_large_an_answer(void **state)
{
    (void)state;
    const pid_t server = server_start(rpc_place.endpoint, NULL);
    struct rpc_client *client = client_open(rpc_place.endpoint, NULL);
    struct reason why = {""};
    struct buf reply;
    buf_init(&reply, RPC_PAYLOAD_MAXIMUM);
    assert_int_equal(rpc_call(client, VERB_LARGE, SLICE("x"), 0, &reply, &why), STATUS_LIMIT);
    assert_string_equal(why.text, "the answer is larger than a message may be");
    assert_int_equal(reply.length, 0);
    assert_int_equal(rpc_call(client, VERB_LARGE, SLICE(""), 0, &reply, &why), STATUS_OK);
    assert_int_equal(reply.length, RPC_PAYLOAD_MAXIMUM);
    buf_release(&reply);
    rpc_client_close(client);
    server_stop(server);
}

/* ---- many clients, forks ---- */

static int
threads_of_this_process(void)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    for (const struct dirent *entry; (entry = readdir(tasks)) != NULL;) {
        count += entry->d_name[0] != '.';
    }
    closedir(tasks);
    return count;
}

/* A process with a link to each of a hundred nodes has no more threads than one with a single link,
 * and none of ZeroMQ when the last is closed. */
static void
many_clients_share_threads(void **state)
{
    enum { CLIENTS = 100 };
    struct rpc_client *clients[CLIENTS];
    (void)state;
    const pid_t server = server_start(rpc_place.endpoint, NULL);
    const int before = threads_of_this_process();
    clients[0] = client_open(rpc_place.endpoint, NULL);
    call_is(clients[0], VERB_ECHO, "a", "a");
    const int one = threads_of_this_process();
    assert_true(one > before);
    for (int i = 1; i < CLIENTS; i++) {
        clients[i] = client_open(rpc_place.endpoint, NULL);
        call_is(clients[i], VERB_ECHO, "a", "a");
    }
    assert_int_equal(threads_of_this_process(), one);
    for (int i = 0; i < CLIENTS; i++) {
        rpc_client_close(clients[i]);
    }
    assert_int_equal(threads_of_this_process(), before);
    server_stop(server);
}

/* Of two clients of another machine's service only the one that asks something connects: had the
 * other connected, too, it would have done so before. */
static void
who_is_not_asked_is_not_connected_to(void **state)
{
    char public[RPC_KEY_SIZE], secret[RPC_KEY_SIZE], address[OWN_ADDRESS_SIZE], remote[64];
    struct sockaddr_in place = {.sin_family = AF_INET};
    socklen_t size = sizeof place;
    struct tally tally = {0};
    struct pollfd waiting = {.events = POLLIN};
    (void)state;
    own_address(address);
    assert_int_equal(rpc_keys_make(public, secret, NULL), STATUS_OK);
    const struct rpc_keys keys = {
        .server_public = public, .own_public = public, .own_secret = secret};
    waiting.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    *strchr(address, ':') = '\0';
    assert_int_equal(inet_pton(AF_INET, address, &place.sin_addr), 1);
    assert_int_equal(bind(waiting.fd, (struct sockaddr *)&place, sizeof place), 0);
    assert_int_equal(listen(waiting.fd, 10), 0);
    assert_int_equal(getsockname(waiting.fd, (struct sockaddr *)&place, &size), 0);
    (void)snprintf(remote, sizeof remote, "tcp://%s:%d", address, ntohs(place.sin_port));
    struct rpc_client *silent = client_open(remote, &keys), *asking = client_open(remote, &keys);
    rpc_client_post(asking, VERB_ECHO, SLICE("a"), 0, tally_done, &tally);
    assert_int_equal(poll(&waiting, 1, 120000), 1);
    const int connection = accept(waiting.fd, NULL, NULL);
    assert_true(connection >= 0);
    assert_int_equal(poll(&waiting, 1, 0), 0);
    rpc_client_close(silent);
    rpc_client_close(asking);
    assert_int_equal(tally.cancelled, 1);
    close(connection);
    close(waiting.fd);
}

/* A child that was forked while its parent has clients makes and closes its own, and closing what
 * it has from the parent neither hangs nor hurts the parent's. */
static void
a_forked_process_has_clients_of_its_own(void **state)
{
    int ended;
    (void)state;
    const pid_t server = server_start(rpc_place.endpoint, NULL);
    struct rpc_client *client = client_open(rpc_place.endpoint, NULL);
    call_is(client, VERB_ECHO, "a", "a");
    const pid_t child = fork();
    if (child == 0) {
        struct rpc_client *own;
        struct buf reply;
        const struct rpc_client_options options = {
            .endpoint = rpc_place.endpoint, .name = "test.2", .resend_ms = 200};
        buf_init(&reply, 1000);
        (void)alarm(120);
        const bool works =
            rpc_client_open(&own, &options, NULL) == STATUS_OK &&
            rpc_call(own, VERB_CLIENT, SLICE(""), 100000, &reply, NULL) == STATUS_OK &&
            slice_is(buf_slice(&reply), "test.2");
        rpc_client_close(own);
        rpc_client_close(client);
        _exit(works ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
    call_is(client, VERB_ECHO, "b", "b");
    rpc_client_close(client);
    server_stop(server);
}

/* ---- services that move ---- */

static void
publish(const char *path, const char *text)
{
    char new_path[SCRATCH_SIZE + 48];
    (void)snprintf(new_path, sizeof new_path, "%s.new", path);
    FILE *file = fopen(new_path, "w");
    assert_non_null(file);
    (void)fputs(text, file);
    (void)fclose(file);
    assert_int_equal(rename(new_path, path), 0);
}

/* A request waits for the first address; one that is under way when the service ends and comes up
 * elsewhere is answered there. */
static void
a_service_is_found_where_it_moved(void **state)
{
    (void)state;
    struct tally tally = {0};
    char path[SCRATCH_SIZE + 32], published[SCRATCH_SIZE + 48], line[64], address[OWN_ADDRESS_SIZE];
    (void)snprintf(path, sizeof path, "%s/address", rpc_place.folder);
    (void)snprintf(published, sizeof published, "at://%s:1", path);
    struct rpc_client *client = client_open(published, NULL);
    rpc_client_post(client, VERB_ECHO, SLICE("x"), 0, tally_done, &tally);
    rpc_client_process(client);
    publish(path, "nonsense\n");
    rpc_client_process(client);
    for (int move = 1; move <= 3; move++) {
        own_address(address);
        (void)snprintf(line, sizeof line, "%s\n", address);
        publish(path, line);
        const pid_t server = server_start(published, NULL); /* binds to what it reads there */
        wait_until(client, &tally.ok, move);
        server_stop(server);
        rpc_client_post(client, VERB_ECHO, SLICE("x"), 0, tally_done, &tally);
        rpc_client_process(client);
    }
    rpc_client_close(client);
    assert_int_equal(tally.ok, 3);
    assert_int_equal(tally.cancelled, 1);
    (void)unlink(path);
}

static void
a_published_address_of_another_machine_needs_keys(void **state)
{
    (void)state;
    struct reason why = {""};
    char path[SCRATCH_SIZE + 32], published[SCRATCH_SIZE + 48];
    (void)snprintf(path, sizeof path, "%s/address", rpc_place.folder);
    (void)snprintf(published, sizeof published, "at://%s:1", path);
    publish(path, "10.0.0.1:7000\n");
    const char *const endpoints[] = {published, NULL};
    struct rpc_server *server;
    assert_int_equal(rpc_server_open(&server, endpoints, NULL, &why), STATUS_DENIED);
    (void)unlink(path);
    assert_int_equal(rpc_server_open(&server, endpoints, NULL, &why), STATUS_NOT_FOUND);
}

/* ---- the descriptor ---- */

static void
descriptor_tells_of_what_came_during_a_reply(void **state)
{
    (void)state;
    enum { REQUESTS = 200 };
    const char *const endpoints[] = {rpc_place.endpoint, NULL};
    struct rpc_server *server;
    struct tally tally = {0};
    int answered = 0;
    assert_int_equal(rpc_server_open(&server, endpoints, NULL, NULL), STATUS_OK);
    struct rpc_client *client = client_open(rpc_place.endpoint, NULL);
    for (int i = 0; i < REQUESTS; i++) {
        rpc_client_post(client, VERB_ECHO, SLICE("x"), 0, tally_done, &tally);
    }
    while (answered < REQUESTS) {
        struct rpc_request held[3];
        int count = 0;
        struct pollfd descriptors[] = {{.fd = rpc_server_descriptor(server), .events = POLLIN},
                                       {.fd = rpc_client_descriptor(client), .events = POLLIN}};
        assert_true(poll(descriptors, 2, 120000) > 0);
        if (descriptors[0].revents) {
            /* A batch, as for one sync; what is left must be told of again. */
            while (count < 3 && rpc_server_receive(server, &held[count]) == STATUS_OK) {
                count++;
            }
            for (int i = 0; i < count; i++) {
                rpc_reply(server, &held[i], STATUS_OK, held[i].payload, NULL);
            }
            answered += count;
        }
        if (descriptors[1].revents) {
            rpc_client_process(client);
        }
    }
    wait_until(client, &tally.ok, REQUESTS);
    rpc_client_close(client);
    rpc_server_close(server);
}

/* ---- hostile peers ---- */

static void
raw_send(void *socket, const struct slice *frames, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_true(
            zmq_send(socket, frames[i].at, frames[i].length, i + 1 < count ? ZMQ_SNDMORE : 0) >= 0);
    }
}

static void
malformed_requests_are_dropped(void **state)
{
    (void)state;
    const pid_t server = server_start(rpc_place.endpoint, NULL);
    void *context = zmq_ctx_new();
    void *socket = zmq_socket(context, ZMQ_DEALER);
    const int linger = 1000;
    assert_int_equal(zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof linger), 0);
    assert_int_equal(zmq_connect(socket, rpc_place.endpoint), 0);
    struct buf header;
    buf_init(&header, 1000);
    (void)buf_append_string(&header, "Q1");
    codec_put_u8(&header, VERB_ECHO);
    codec_put_u64(&header, 1);
    codec_put_u64(&header, 1);
    codec_put_slice(&header, SLICE("raw"));
    const struct slice whole = buf_slice(&header); /* with no payload */
    for (size_t length = 0; length < whole.length; length++) {
        raw_send(socket, (struct slice[]){slice_of(whole.at, length)}, 1);
    }
    raw_send(socket, (struct slice[]){whole, SLICE("a")}, 2);
    raw_send(socket, (struct slice[]){whole, SLICE("a"), SLICE("b"), SLICE("c")}, 4);
    raw_send(socket, (struct slice[]){SLICE(""), whole}, 2);
    raw_send(socket, (struct slice[]){SLICE("Q2xxxxxxxxxxxxxxxxxxxx")}, 1);
    (void)buf_append_string(&header, "good");
    raw_send(socket, (struct slice[]){buf_slice(&header)}, 1);
    char reply[100];
    const int length = zmq_recv(socket, reply, sizeof reply, 0);
    assert_true(length > 4);
    assert_memory_equal(reply, "R1", 2);
    assert_memory_equal(reply + length - 4, "good", 4);
    struct rpc_client *client = client_open(rpc_place.endpoint, NULL);
    call_is(client, VERB_ECHO, "alive", "alive");
    rpc_client_close(client);
    (void)zmq_close(socket);
    (void)zmq_ctx_term(context);
    buf_release(&header);
    server_stop(server);
}

static void
malformed_replies_are_dropped(void **state)
{
    (void)state;
    void *context = zmq_ctx_new();
    void *socket = zmq_socket(context, ZMQ_ROUTER);
    assert_int_equal(zmq_bind(socket, rpc_place.endpoint), 0);
    struct rpc_client *client = client_open(rpc_place.endpoint, NULL);
    struct tally tally = {0};
    rpc_client_post(client, VERB_ECHO, SLICE("x"), 0, tally_done, &tally);
    char peer[64], part[256];
    int peer_length = -1;
    for (int i = 0; i < 24000 && peer_length < 0; i++) {
        (void)usleep(5000);
        rpc_client_process(client);
        peer_length = zmq_recv(socket, peer, sizeof peer, ZMQ_DONTWAIT);
    }
    assert_true(peer_length > 0);
    const struct slice to = slice_of(peer, (size_t)peer_length);
    assert_true(zmq_recv(socket, part, sizeof part, 0) > 0);
    struct buf header;
    buf_init(&header, 100);
    (void)buf_append_string(&header, "R1");
    codec_put_u8(&header, 200); /* no such status */
    codec_put_u8(&header, VERB_ECHO);
    codec_put_u64(&header, 1);
    codec_put_u64(&header, 77);
    raw_send(socket, (struct slice[]){to, SLICE("")}, 2);
    raw_send(socket, (struct slice[]){to, SLICE("R1")}, 2);
    raw_send(socket, (struct slice[]){to, buf_slice(&header), SLICE("")}, 3);
    raw_send(socket, (struct slice[]){to, buf_slice(&header)}, 2);
    wait_until(client, &tally.other, 1); /* PROTOCOL */
    assert_int_equal(rpc_client_peer_incarnation(client), 77);
    rpc_client_close(client);
    (void)zmq_close(socket);
    (void)zmq_ctx_term(context);
    buf_release(&header);
}

/* ---- who may ---- */

static void
second_server_is_refused_and_a_stale_socket_replaced(void **state)
{
    (void)state;
    const char *const endpoints[] = {rpc_place.endpoint, NULL};
    struct rpc_server *other;
    struct reason why;
    const pid_t server = server_start(rpc_place.endpoint, NULL);
    struct rpc_client *client = client_open(rpc_place.endpoint, NULL);
    call_is(client, VERB_ECHO, "a", "a");
    assert_int_equal(rpc_server_open(&other, endpoints, NULL, &why), STATUS_DENIED);
    assert_non_null(strstr(why.text, "another process serves here"));
    call_is(client, VERB_ECHO, "still", "still");
    server_stop(server);
    assert_int_equal(access(rpc_place.socket, F_OK), 0); /* left behind */
    assert_int_equal(rpc_server_open(&other, endpoints, NULL, &why), STATUS_OK);
    rpc_server_close(other);
    rpc_client_close(client);
}

static void
other_machines_need_keys(void **state)
{
    (void)state;
    const char *const endpoints[] = {"tcp://0.0.0.0:1", NULL};
    struct rpc_server *server;
    struct rpc_client *client;
    struct reason why;
    assert_int_equal(rpc_server_open(&server, endpoints, NULL, &why), STATUS_DENIED);
    assert_string_equal(why.text, "tcp://0.0.0.0:1: not a loopback address, so keys are needed");
    const struct rpc_client_options options = {.endpoint = "tcp://192.0.2.1:1", .name = "a"};
    assert_int_equal(rpc_client_open(&client, &options, &why), STATUS_DENIED);
}

static void
only_admitted_keys_are_served(void **state)
{
    (void)state;
    char remote[64], address[OWN_ADDRESS_SIZE];
    own_address(address);
    (void)snprintf(remote, sizeof remote, "tcp://%s", address);
    char public[3][RPC_KEY_SIZE],
        secret[3][RPC_KEY_SIZE]; /* the server's, an admitted one, a stranger's */
    for (int i = 0; i < 3; i++) {
        assert_int_equal(rpc_keys_make(public[i], secret[i], NULL), STATUS_OK);
    }
    const char *const admitted[] = {public[1], NULL};
    const struct rpc_keys keys = {
        .own_public = public[0], .own_secret = secret[0], .admitted = admitted};
    const pid_t server = server_start(remote, &keys);
    for (int i = 0; i < 3; i++) {
        const struct rpc_keys own = {
            .server_public = public[0], .own_public = public[i], .own_secret = secret[i]};
        struct rpc_client *client = client_open(remote, &own);
        const enum status status =
            rpc_call(client, VERB_ECHO, SLICE("x"), i < 2 ? 120000 : 500, NULL, NULL);
        assert_int_equal(status, i < 2 ? STATUS_OK : STATUS_TIMEOUT);
        rpc_client_close(client);
    }
    struct rpc_client *plain = client_open(remote, NULL);
    assert_int_equal(rpc_call(plain, VERB_ECHO, SLICE("x"), 500, NULL, NULL), STATUS_TIMEOUT);
    rpc_client_close(plain);
    server_stop(server);
}

/* ---- a look at who is to answer ---- */

static struct {
    unsigned looks, hopeless_at; /* the look that finds it so */
} around;

static enum status
look(void *context, struct reason *why)
{
    assert_ptr_equal(context, &around);
    return ++around.looks == around.hopeless_at
               ? status_fail(why, STATUS_FULL, "it cannot start: the disk is full")
               : STATUS_OK;
}

struct looked {
    unsigned times;
    enum status status;
    char why[64];
};

static void
looked_end(void *context, enum status status, struct slice payload, const struct reason *why)
{
    struct looked *looked = context;
    assert_int_equal(payload.length, 0);
    looked->times++;
    looked->status = status;
    snprintf(looked->why, sizeof looked->why, "%.60s", why->text);
}

/* Nobody answers: when that is hopeless all that was asked ends, and what is asked later begins
 * anew. */
static void
what_is_hopeless_ends(void **state)
{
    struct rpc_client *client = client_open(rpc_place.endpoint, NULL);
    (void)state;
    rpc_client_look(look, &around);
    around.looks = 0;
    rpc_client_process(client);
    assert_int_equal(around.looks, 0);
    for (around.hopeless_at = 2; around.hopeless_at < 6; around.hopeless_at += 2) {
        struct looked looked[3] = {{0}};
        const uint64_t began = clock_monotonic_ms();
        for (int i = 0; i < 3; i++) {
            rpc_client_post(client, VERB_ECHO, SLICE("x"), 0, looked_end, &looked[i]);
        }
        rpc_client_process(client);
        while (looked[2].times == 0) {
            assert_true(rpc_client_wait_ms(client) >= 0);
            usleep(1000 * (unsigned)rpc_client_wait_ms(client));
            rpc_client_process(client);
        }
        assert_true(clock_monotonic_ms() - began >= 2 * 500);
        assert_int_equal(around.looks, around.hopeless_at);
        assert_int_equal(rpc_client_outstanding(client), 0);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(looked[i].times, 1);
            assert_int_equal(looked[i].status, STATUS_FULL);
            assert_string_equal(looked[i].why, "it cannot start: the disk is full");
        }
        rpc_client_process(client); /* nothing waits: nobody is asked */
        assert_int_equal(rpc_client_wait_ms(client), -1);
    }
    rpc_client_look(NULL, NULL);
    assert_int_equal(rpc_call(client, VERB_ECHO, SLICE("x"), 600, NULL, NULL), STATUS_TIMEOUT);
    assert_int_equal(around.looks, 4);
    rpc_client_close(client);
}

/* ---- what cannot be opened ---- */

static void
keys_that_are_none_are_refused(void **state)
{
    enum { MOST = 256 };
    char public[RPC_KEY_SIZE], secret[RPC_KEY_SIZE], bad[RPC_KEY_SIZE + 1];
    const char *admitted[MOST + 1] = {NULL};
    const char *const endpoints[] = {rpc_place.endpoint, NULL};
    struct rpc_keys keys = {.own_public = public, .own_secret = secret, .admitted = admitted};
    struct rpc_server *server;
    struct reason why = {""};
    (void)state;
    assert_int_equal(rpc_keys_make(public, secret, &why), STATUS_OK);
    for (int i = 0; i < 4; i++) {
        snprintf(bad, sizeof bad, "%.*s%s", i == 0 ? 39 : 40, public, i == 1 ? "0" : "");
        bad[20] = i == 2 ? '"' : bad[20]; /* no character of Z85 */
        admitted[0] = bad;
        assert_int_equal(rpc_server_open(&server, endpoints, &keys, &why),
                         i < 3 ? STATUS_MISUSE : STATUS_OK);
        if (i == 3) {
            rpc_server_close(server);
            continue;
        }
        assert_null(server);
        assert_non_null(strstr(why.text, "not a Z85 key of 40 characters: "));
        assert_non_null(strstr(why.text, bad));
    }
    keys.own_public = "short";
    assert_int_equal(rpc_server_open(&server, endpoints, &keys, &why), STATUS_MISUSE);
    keys.own_public = public;
    for (size_t i = 0; i < MOST; i++) {
        admitted[i] = public;
    }
    assert_int_equal(rpc_server_open(&server, endpoints, &keys, &why), STATUS_LIMIT);
    assert_string_equal(why.text, "more than 256 keys");
    admitted[MOST - 1] = NULL;
    assert_int_equal(rpc_server_open(&server, endpoints, &keys, &why), STATUS_OK);
    rpc_server_close(server);
}

static void
names_of_clients_have_a_limit(void **state)
{
    char name[RPC_NAME_MAXIMUM + 2];
    (void)state;
    memset(name, 'n', sizeof name);
    for (size_t length = RPC_NAME_MAXIMUM; length <= RPC_NAME_MAXIMUM + 1; length++) {
        name[length] = '\0';
        struct rpc_client *client;
        struct reason why = {""};
        const struct rpc_client_options options = {.endpoint = rpc_place.endpoint, .name = name};
        assert_int_equal(rpc_client_open(&client, &options, &why),
                         length == RPC_NAME_MAXIMUM ? STATUS_OK : STATUS_MISUSE);
        assert_int_equal(client != NULL, length == RPC_NAME_MAXIMUM);
        rpc_client_close(client);
        name[length] = 'n';
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_and_failures),
        cmocka_unit_test(nobody_there),
        cmocka_unit_test_teardown(server_killed_between_request_and_reply, rpc_marker_remove),
        cmocka_unit_test_teardown(a_lost_reply_is_asked_for_again, rpc_marker_remove),
        cmocka_unit_test(many_clients_share_threads),
        cmocka_unit_test(who_is_not_asked_is_not_connected_to),
        cmocka_unit_test(a_forked_process_has_clients_of_its_own),
        cmocka_unit_test(late_replies_reach_the_late_handler),
        cmocka_unit_test(every_request_ends_once_while_servers_die),
        cmocka_unit_test(close_cancels),
        cmocka_unit_test(too_large_a_request),
        cmocka_unit_test(too_large_an_answer),
        cmocka_unit_test(a_service_is_found_where_it_moved),
        cmocka_unit_test(a_published_address_of_another_machine_needs_keys),
        cmocka_unit_test(descriptor_tells_of_what_came_during_a_reply),
        cmocka_unit_test(malformed_requests_are_dropped),
        cmocka_unit_test(malformed_replies_are_dropped),
        cmocka_unit_test(second_server_is_refused_and_a_stale_socket_replaced),
        cmocka_unit_test(other_machines_need_keys),
        cmocka_unit_test(only_admitted_keys_are_served),
        cmocka_unit_test(what_is_hopeless_ends),
        cmocka_unit_test(keys_that_are_none_are_refused),
        cmocka_unit_test(names_of_clients_have_a_limit),
    };
    return cmocka_run_group_tests(tests, rpc_place_make, rpc_place_remove) + rpc_publishers_run() +
           rpc_texts_run() + rpc_faults_run();
}
