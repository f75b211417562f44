/* mutant_client DAEMON ADDRESS PID SEED COUNT [FILE...]: sends COUNT random and mutated messages to
 * a daemon and looks in between whether it still answers others.
 *
 * DAEMON is queue, metastore or index, with a ZeroMQ endpoint (ipc://PATH), or http, with
 * HOST:PORT. PID is the daemon's; its memory is looked at. Each FILE holds messages of a fuzzer's
 * corpus: verb, client, length (16 bits), payload. Exit code 1: the daemon is gone, does not
 * answer, or has taken too much memory. Which messages are sent follows from SEED alone. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <zmq.h>

#include "base/codec.h"
#include "base/rpc/rpc.h"
#include "tests/messages/mutate.h"
#include "tests/messages/seeds.h"

enum {
    LOOK_EACH = 100,   /* messages */
    ANSWER_MS = 60000, /* the healthy client waits so long at most */
    GROWTH_MB = 600,   /* of the daemon's memory at most */
    RAW_EACH = 20,     /* messages: bytes that are no ZeroMQ */
    LARGE_EACH = 500,  /* a megabyte */
    CLIENTS = 4,
    FRAME_MOST = 2 << 20
};

struct target {
    const char *daemon, *address;
    int pid;
    struct chance chance;
    struct seed seeds[SEEDS_MOST];
    size_t seed_count;
    uint8_t stats;
    void *context, *sockets[CLIENTS];
    struct rpc_client *healthy;
    uint64_t sent, answered;
};

static _Noreturn void
give_up(const struct target *target, const char *what)
{
    fprintf(stderr, "%s after %lu messages: %s\n", target->daemon, (unsigned long)target->sent,
            what);
    exit(1);
}

static unsigned long
memory_mb(const struct target *target)
{
    char path[64], line[256];
    unsigned long kb = 0;
    snprintf(path, sizeof path, "/proc/%d/status", target->pid);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        (void)sscanf(line, "VmRSS: %lu", &kb);
    }
    if (file) {
        fclose(file);
    }
    return kb / 1024;
}

static struct slice
seed_payload(struct target *target)
{
    return buf_slice(&target->seeds[chance_below(&target->chance, target->seed_count)].payload);
}

/* ---- HTTP ---- */

static int
connect_http(const struct target *target)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    char host[64];
    const char *colon = strrchr(target->address, ':');
    snprintf(host, sizeof host, "%.*s", (int)(colon - target->address), target->address);
    address.sin_port = htons((uint16_t)atoi(colon + 1));
    (void)inet_pton(AF_INET, host, &address.sin_addr);
    const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(connection, (const struct sockaddr *)&address, sizeof address) != 0) {
        give_up(target, "no connection");
    }
    return connection;
}

/* What comes within so long; the number of bytes. */
static size_t
receive(int connection, char *bytes, size_t most, int wait_ms)
{
    size_t length = 0;
    struct pollfd wait = {.fd = connection, .events = POLLIN};
    while (length < most && poll(&wait, 1, wait_ms) > 0) {
        const ssize_t n = recv(connection, bytes + length, most - length, 0);
        if (n <= 0) {
            break;
        }
        length += (size_t)n;
        wait_ms = 0;
    }
    return length;
}

static void
send_http(struct target *target)
{
    struct buf request;
    char reply[4096];
    buf_init(&request, FRAME_MOST);
    (void)buf_append_slice(&request, seed_payload(target));
    if (chance_below(&target->chance, 16) > 0) {
        mutate(&target->chance, &request, seed_payload(target));
    }
    const int connection = connect_http(target);
    (void)send(connection, request.data, request.length, MSG_NOSIGNAL);
    if (chance_below(&target->chance, 2) == 0) {
        (void)shutdown(connection, SHUT_WR);
    }
    target->answered += receive(connection, reply, sizeof reply, 5) > 0;
    (void)close(connection);
    buf_release(&request);
}

static void
look_http(const struct target *target)
{
    static const char request[] = "GET /void HTTP/1.1\r\nHost: localhost\r\n\r\n";
    char reply[64] = "";
    const int connection = connect_http(target);
    (void)send(connection, request, sizeof request - 1, MSG_NOSIGNAL);
    (void)receive(connection, reply, sizeof reply - 1, ANSWER_MS);
    (void)close(connection);
    if (strncmp(reply, "HTTP/1.1 200", 12) != 0) {
        give_up(target, "a healthy client is not answered");
    }
}

/* ---- ZeroMQ ---- */

static void
open_clients(struct target *target)
{
    const struct rpc_client_options options = {.endpoint = target->address, .name = "healthy"};
    const int none = 0;
    struct reason why;
    target->context = zmq_ctx_new();
    for (size_t i = 0; i < CLIENTS; i++) {
        target->sockets[i] = zmq_socket(target->context, ZMQ_DEALER);
        (void)zmq_setsockopt(target->sockets[i], ZMQ_LINGER, &none, sizeof none);
        if (zmq_connect(target->sockets[i], target->address) != 0) {
            give_up(target, "no endpoint");
        }
    }
    if (rpc_client_open(&target->healthy, &options, &why) != STATUS_OK) {
        give_up(target, why.text);
    }
}

static void
close_clients(struct target *target)
{
    for (size_t i = 0; i < CLIENTS; i++) {
        (void)zmq_close(target->sockets[i]);
    }
    (void)zmq_ctx_term(target->context);
    rpc_client_close(target->healthy);
}

static void
look_rpc(const struct target *target)
{
    struct reason why = {""};
    if (rpc_call(target->healthy, target->stats, slice_of(NULL, 0), ANSWER_MS, NULL, &why) !=
        STATUS_OK) {
        give_up(target, why.text);
    }
}

/* Bytes to the socket itself, as from one who speaks no ZeroMQ, or speaks it badly. */
static void
send_raw(struct target *target)
{
    static const char greeting[] =
        "\xFF\0\0\0\0\0\0\0\1\x7F\3\0NULL\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
        "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
        "\4\x26\5READY\x0BSocket-Type\0\0\0\6DEALER\0\0\0\0\0\5Q1";
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct buf bytes;
    buf_init(&bytes, FRAME_MOST);
    (void)buf_append(&bytes, greeting, sizeof greeting - 1);
    mutate(&target->chance, &bytes, seed_payload(target));
    snprintf(address.sun_path, sizeof address.sun_path, "%s", target->address + strlen("ipc://"));
    const int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(connection, (const struct sockaddr *)&address, sizeof address) == 0) {
        (void)send(connection, bytes.data, bytes.length, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    (void)close(connection);
    buf_release(&bytes);
}

static void
make_frame(struct target *target, struct buf *frame)
{
    struct chance *chance = &target->chance;
    const struct seed *seed = &target->seeds[chance_below(chance, target->seed_count)];
    struct buf payload;
    buf_init(&payload, FRAME_MOST);
    (void)buf_append_slice(&payload, buf_slice(&seed->payload));
    if (chance_below(chance, 8) > 0) {
        mutate(chance, &payload, seed_payload(target));
    }
    if (target->sent % LARGE_EACH == LARGE_EACH - 1) {
        char *room = buf_reserve(&payload, 1 << 20);
        memset(room, (int)chance_below(chance, 256), 1 << 20);
        buf_commit(&payload, 1 << 20);
    }
    (void)buf_append_string(frame, "Q1");
    codec_put_u8(frame, chance_below(chance, 16) > 0 ? seed->verb : (uint8_t)chance_next(chance));
    codec_put_u64(frame, target->sent - chance_below(chance, 3));
    codec_put_u64(frame, 1 + chance_below(chance, CLIENTS));
    codec_put_slice(frame, SLICE("mutant"));
    (void)buf_append_slice(frame, buf_slice(&payload));
    if (chance_below(chance, 16) == 0) {
        mutate(chance, frame, buf_slice(&payload));
    }
    buf_release(&payload);
}

static void
send_rpc(struct target *target)
{
    void *socket = target->sockets[chance_below(&target->chance, CLIENTS)];
    char reply[16];
    struct buf frame;
    buf_init(&frame, FRAME_MOST);
    make_frame(target, &frame);
    if (chance_below(&target->chance, 64) == 0) { /* more parts than one */
        (void)zmq_send(socket, frame.data, frame.length / 2, ZMQ_SNDMORE | ZMQ_DONTWAIT);
    }
    if (zmq_send(socket, frame.data, frame.length, ZMQ_DONTWAIT) < 0 && errno != EAGAIN) {
        give_up(target, zmq_strerror(errno));
    }
    buf_release(&frame);
    for (size_t i = 0; i < CLIENTS; i++) {
        while (zmq_recv(target->sockets[i], reply, sizeof reply, ZMQ_DONTWAIT) >= 0) {
            target->answered++;
        }
    }
    if (target->sent % RAW_EACH == 0) {
        send_raw(target);
    }
}

/* ---- all ---- */

static void
read_corpus(struct target *target, const char *path)
{
    uint8_t bytes[1 << 16];
    FILE *file = fopen(path, "re");
    const size_t n = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file) {
        fclose(file);
    }
    for (size_t at = 0; at + 4 <= n && target->seed_count < SEEDS_MOST;) {
        struct seed *seed = &target->seeds[target->seed_count++];
        size_t length = (size_t)(bytes[at + 2] << 8 | bytes[at + 3]);
        length = length < n - at - 4 ? length : n - at - 4;
        seed->verb = bytes[at];
        buf_init(&seed->payload, FRAME_MOST);
        (void)buf_append(&seed->payload, (const char *)bytes + at + 4, length);
        at += 4 + length;
    }
}

int
main(int argc, char **argv)
{
    struct target target = {0};
    if (argc < 6) {
        fprintf(stderr, "mutant_client DAEMON ADDRESS PID SEED COUNT [FILE...]\n");
        return 100;
    }
    target.daemon = argv[1];
    target.address = argv[2];
    target.pid = atoi(argv[3]);
    target.chance.state = strtoull(argv[4], NULL, 10);
    const uint64_t count = strtoull(argv[5], NULL, 10);
    target.seed_count = seeds_of(target.daemon, target.seeds, &target.stats);
    for (int i = 6; i < argc; i++) {
        read_corpus(&target, argv[i]);
    }
    const bool http = strcmp(target.daemon, "http") == 0;
    if (!http) {
        open_clients(&target);
    }
    const unsigned long before = memory_mb(&target);
    unsigned long most = before;
    for (; target.sent < count; target.sent++) {
        if (target.sent % LOOK_EACH == 0) {
            (http ? look_http : look_rpc)(&target);
            const unsigned long now = memory_mb(&target);
            most = now > most ? now : most;
        }
        (http ? send_http : send_rpc)(&target);
    }
    (http ? look_http : look_rpc)(&target);
    printf("%s: %lu messages, %lu answers, memory %lu MB before, %lu at most\n", target.daemon,
           (unsigned long)target.sent, (unsigned long)target.answered, before, most);
    if (kill(target.pid, 0) != 0) {
        give_up(&target, "it is gone");
    }
    if (before == 0 || most > before + GROWTH_MB) {
        give_up(&target, "it has taken too much memory");
    }
    for (size_t i = 0; i < target.seed_count; i++) {
        buf_release(&target.seeds[i].payload);
    }
    if (!http) {
        close_clients(&target);
    }
    return 0;
}
