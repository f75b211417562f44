/* bench_http PORT FILE [name=value]...: how many requests a second an HTTP server on this machine
 * answers, and how long they take.
 *
 *   connections=N   kept open, each with one request under way at a time (default 8)
 *   seconds=N       (default 10)
 *   accept=TYPE     what the requests ask for (default application/json)
 *   servers=PID,... processes that answer: their processor time for each request is told, which
 *                   other load on the machine changes less than rates
 *
 * FILE has a path with its query on each line; they are asked in turn, from the first again after
 * the last. Prints one line; an answer that is none of status 200 counts as failed. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/system/clock.h"
#include "bench/sample.h"

enum {
    CONNECTIONS_MOST = 256,
    ANSWER_MOST = 64 << 20,
    FILE_MOST = 256 << 20,
    TIMES_MOST = 4 << 20,
    SERVERS_MOST = 8
};

struct connection {
    int socket;
    struct buf answer;
    uint64_t asked_us;
};

struct load {
    uint16_t port;
    const char *accept;
    struct buf file;
    struct slice rest; /* of the file: what is asked next */
    struct connection connections[CONNECTIONS_MOST];
    uint64_t *times;
    uint64_t done, failed, bytes;
    clockid_t servers[SERVERS_MOST]; /* clocks of their processor time */
    size_t server_count;
};

static void
fail(const char *what)
{
    fprintf(stderr, "bench_http: %s: %s\n", what, strerror(errno));
    exit(EXIT_SYSTEM);
}

static void
read_servers(struct load *load, const char *pids)
{
    while (*pids != '\0' && load->server_count < SERVERS_MOST) {
        char *end;
        const pid_t pid = (pid_t)strtol(pids, &end, 10);
        if (end == pids || clock_getcpuclockid(pid, &load->servers[load->server_count++]) != 0) {
            fail(pids);
        }
        pids = *end == ',' ? end + 1 : end;
    }
}

/* Processor time of all servers. */
static uint64_t
servers_us(const struct load *load)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < load->server_count; i++) {
        struct timespec time;
        if (clock_gettime(load->servers[i], &time) != 0) {
            fail("a server has ended");
        }
        sum += (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
    }
    return sum;
}

static void
connect_to(struct load *load, struct connection *connection)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons(load->port),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int yes = 1;
    connection->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection->socket < 0 ||
        connect(connection->socket, (const struct sockaddr *)&address, sizeof address) != 0) {
        fail("cannot connect");
    }
    (void)setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

static void
ask(struct load *load, struct connection *connection)
{
    char head[16 << 10];
    if (load->rest.length == 0) {
        load->rest = buf_slice(&load->file);
    }
    const struct slice path = slice_take(&load->rest, '\n');
    const int length =
        snprintf(head, sizeof head, "GET %.*s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nAccept: %s\r\n\r\n",
                 SLICE_PRINT(path), load->port, load->accept);
    buf_reset(&connection->answer);
    connection->asked_us = clock_monotonic_us();
    if (length >= (int)sizeof head ||
        send(connection->socket, head, (size_t)length, MSG_NOSIGNAL) != length) {
        fail("cannot ask");
    }
}

/* Tells whether the whole answer has arrived. */
static bool
is_whole(struct slice answer)
{
    const size_t end = slice_find_slice(answer, SLICE("\r\n\r\n"));
    const size_t body = end + 4;
    if (end == answer.length) {
        return false;
    }
    const struct slice head = slice_of(answer.at, end);
    for (struct slice rest = head; rest.length > 0;) {
        struct slice line = slice_take(&rest, '\n');
        if (slice_starts_nocase(line, SLICE("Content-Length: "))) {
            (void)slice_take(&line, ' ');
            return answer.length >= body + strtoull(line.at, NULL, 10);
        }
    }
    return answer.length >= body + 5 && memcmp(answer.at + answer.length - 5, "0\r\n\r\n", 5) == 0;
}

static void
receive(struct load *load, struct connection *connection)
{
    char bytes[64 << 10];
    const ssize_t n = recv(connection->socket, bytes, sizeof bytes, 0);
    if (n <= 0 && connection->answer.length > 0) {
        fail("the server closed a connection within an answer");
    }
    if (n <= 0) {
        close(connection->socket);
        connect_to(load, connection);
        ask(load, connection);
        return;
    }
    (void)buf_append(&connection->answer, bytes, (size_t)n);
    if (!is_whole(buf_slice(&connection->answer))) {
        return;
    }
    load->failed += !slice_starts(buf_slice(&connection->answer), SLICE("HTTP/1.1 200"));
    load->bytes += connection->answer.length;
    if (load->done < TIMES_MOST) {
        load->times[load->done++] = clock_monotonic_us() - connection->asked_us;
    }
    ask(load, connection);
}

static void
run(struct load *load, size_t count, uint64_t seconds)
{
    struct pollfd waits[CONNECTIONS_MOST];
    for (size_t i = 0; i < count; i++) {
        buf_init(&load->connections[i].answer, ANSWER_MOST);
        connect_to(load, &load->connections[i]);
        ask(load, &load->connections[i]);
        waits[i] = (struct pollfd){.events = POLLIN};
    }
    const uint64_t cpu = servers_us(load);
    const uint64_t begin = clock_monotonic_us(), end = begin + seconds * 1000000;
    while (clock_monotonic_us() < end) {
        for (size_t i = 0; i < count; i++) {
            waits[i].fd = load->connections[i].socket;
        }
        (void)poll(waits, count, 100);
        for (size_t i = 0; i < count; i++) {
            if (waits[i].revents != 0) {
                receive(load, &load->connections[i]);
            }
        }
    }
    const double took = (double)(clock_monotonic_us() - begin) / 1e6;
    const uint64_t each = (servers_us(load) - cpu) / (load->done > 0 ? load->done : 1);
    printf("requests=%llu failed=%llu rate=%.0f cpu_us=%llu p50_ms=%.2f p99_ms=%.2f max_ms=%.2f "
           "bytes=%llu\n",
           (unsigned long long)load->done, (unsigned long long)load->failed,
           (double)load->done / took, (unsigned long long)each,
           (double)sample_percentile(load->times, load->done, 0.5) / 1e3,
           (double)sample_percentile(load->times, load->done, 0.99) / 1e3,
           (double)sample_percentile(load->times, load->done, 1) / 1e3,
           (unsigned long long)(load->bytes / (load->done > 0 ? load->done : 1)));
}

static void
read_file(struct buf *out, const char *path)
{
    char bytes[64 << 10];
    ssize_t n;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    buf_init(out, FILE_MOST);
    while (file >= 0 && (n = read(file, bytes, sizeof bytes)) > 0) {
        (void)buf_append(out, bytes, (size_t)n);
    }
    if (file < 0 || out->length == 0) {
        fail(path);
    }
    close(file);
}

int
main(int argc, char **argv)
{
    static struct load load = {.accept = "application/json"};
    uint64_t connections = 8, seconds = 10;
    if (argc < 3) {
        fputs("usage: bench_http PORT FILE [connections=N] [seconds=N] [accept=TYPE] "
              "[servers=PID,...]\n",
              stderr);
        return EXIT_MISUSE;
    }
    load.port = (uint16_t)strtoul(argv[1], NULL, 10);
    read_file(&load.file, argv[2]);
    for (int i = 3; i < argc; i++) {
        if (strncmp(argv[i], "connections=", 12) == 0) {
            connections = strtoull(argv[i] + 12, NULL, 10);
        } else if (strncmp(argv[i], "seconds=", 8) == 0) {
            seconds = strtoull(argv[i] + 8, NULL, 10);
        } else if (strncmp(argv[i], "accept=", 7) == 0) {
            load.accept = argv[i] + 7;
        } else if (strncmp(argv[i], "servers=", 8) == 0) {
            read_servers(&load, argv[i] + 8);
        }
    }
    load.times = memory_alloc(TIMES_MOST * sizeof *load.times);
    run(&load, connections < CONNECTIONS_MOST ? connections : CONNECTIONS_MOST, seconds);
    return load.failed > 0 ? EXIT_SYSTEM : EXIT_DONE;
}
