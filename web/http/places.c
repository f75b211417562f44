#include "web/http/places.h"

#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/memory.h"
#include "base/system/log.h"

enum {
    ENDING_MOST = 64,  /* ended, and not yet gone */
    SLOW_MS = 10000,   /* over which the rate of a reply is measured */
    NODES_MOST = 1024, /* addresses */
    KEY = WEB_ADDRESS_KEY,
    HOST_BYTES = 256
};

enum state { FREE, WAITING, ANSWERING };

struct web_place {
    enum state state;
    bool ending;
    bool reserved; /* one of the nodes' own places */
    int socket;
    unsigned char address[KEY];
    uint64_t since_ms; /* it waits */
    uint64_t order;    /* in which they began to wait: many do in one millisecond */
    bool measured;     /* its reply, at measured_ms: taken bytes had been taken */
    uint64_t measured_ms;
    uint64_t taken;
};

struct web_places {
    struct web_places_limits limits;
    unsigned char (*nodes)[KEY];
    size_t node_count;
    pthread_mutex_t mutex; /* guards what follows */
    struct web_place *places;
    unsigned count;
    uint64_t waits; /* so far */
};

/* An IPv4 address as it is mapped into IPv6; of others the network that one customer has. */
void
web_address_key(const struct sockaddr *address, unsigned char key[KEY])
{
    memset(key, 0, KEY);
    if (address->sa_family == AF_INET) {
        key[10] = key[11] = 0xFF;
        memcpy(key + 12, &((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
    } else if (address->sa_family == AF_INET6) {
        const struct in6_addr *six =
            &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
        memcpy(key, six, IN6_IS_ADDR_V4MAPPED(six) ? KEY : KEY / 2);
    }
}

static bool
is_node(const struct web_places *places, const unsigned char key[KEY])
{
    for (size_t i = 0; i < places->node_count; i++) {
        if (memcmp(places->nodes[i], key, KEY) == 0) {
            return true;
        }
    }
    return false;
}

struct web_places *
web_places_new(const struct web_places_limits *limits)
{
    struct web_places *places = memory_new(sizeof *places);
    places->limits = *limits;
    places->count = web_places_most(places);
    places->places = memory_zero(places->count, sizeof *places->places);
    (void)pthread_mutex_init(&places->mutex, NULL);
    return places;
}

void
web_places_free(struct web_places *places)
{
    if (places != NULL) {
        (void)pthread_mutex_destroy(&places->mutex);
        free(places->places);
        free(places->nodes);
        free(places);
    }
}

void
web_places_add_node(struct web_places *places, struct slice host)
{
    char name[HOST_BYTES];
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    if (host.length == 0 || host.length >= sizeof name) {
        return;
    }
    (void)snprintf(name, sizeof name, "%.*s", SLICE_PRINT(host));
    const int error = getaddrinfo(name, NULL, &hints, &found);
    if (error != 0) {
        log_warning("node_unknown", "host=%s reason=%s effect=%s", name, gai_strerror(error),
                    "it has no places of its own");
        return;
    }
    for (const struct addrinfo *one = found; one != NULL; one = one->ai_next) {
        unsigned char key[KEY];
        web_address_key(one->ai_addr, key);
        if (!is_node(places, key) && places->node_count < NODES_MOST) {
            places->nodes =
                memory_resize(places->nodes, places->node_count + 1, sizeof *places->nodes);
            memcpy(places->nodes[places->node_count++], key, KEY);
        }
    }
    freeaddrinfo(found);
}

unsigned
web_places_most(const struct web_places *places)
{
    return places->limits.connections + places->limits.of_nodes + ENDING_MOST;
}

static void
end(struct web_place *place)
{
    place->ending = true;
    (void)shutdown(place->socket, SHUT_RDWR);
}

/* Places that count, of one address or (NULL) of all. */
struct held {
    unsigned count;
    struct web_place *longest; /* waiting */
};

static struct held
held_by(struct web_places *places, bool reserved, const unsigned char *key)
{
    struct held held = {0, NULL};
    for (unsigned i = 0; i < places->count; i++) {
        struct web_place *place = &places->places[i];
        if (place->state == FREE || place->ending || place->reserved != reserved ||
            (key != NULL && memcmp(place->address, key, KEY) != 0)) {
            continue;
        }
        held.count++;
        if (place->state == WAITING &&
            (held.longest == NULL || place->order < held.longest->order)) {
            held.longest = place;
        }
    }
    return held;
}

/* Tells whether there is room for one more; if need be after the one that waited longest was
 * ended. */
static bool
make_room(struct web_places *places, bool reserved, const unsigned char *key, unsigned most)
{
    const struct held held = held_by(places, reserved, key);
    if (held.count < most) {
        return true;
    }
    if (held.longest == NULL) {
        return false;
    }
    end(held.longest);
    return true;
}

bool
web_places_admit(struct web_places *places, const struct sockaddr *address)
{
    unsigned char key[KEY];
    web_address_key(address, key);
    const bool node = is_node(places, key);
    (void)pthread_mutex_lock(&places->mutex);
    bool room = (node || make_room(places, false, key, places->limits.of_address)) &&
                make_room(places, false, NULL, places->limits.connections);
    if (!room && node) {
        room = make_room(places, true, NULL, places->limits.of_nodes);
    }
    (void)pthread_mutex_unlock(&places->mutex);
    return room;
}

struct web_place *
web_places_enter(struct web_places *places, int socket, const struct sockaddr *address,
                 uint64_t now_ms)
{
    struct web_place *found = NULL;
    (void)pthread_mutex_lock(&places->mutex);
    const bool reserved = held_by(places, false, NULL).count >= places->limits.connections;
    for (unsigned i = 0; i < places->count && found == NULL; i++) {
        found = places->places[i].state == FREE ? &places->places[i] : NULL;
    }
    if (found != NULL) {
        *found = (struct web_place){.state = WAITING,
                                    .reserved = reserved,
                                    .socket = socket,
                                    .since_ms = now_ms,
                                    .order = ++places->waits};
        web_address_key(address, found->address);
    }
    (void)pthread_mutex_unlock(&places->mutex);
    return found;
}

void
web_places_leave(struct web_places *places, struct web_place *place)
{
    (void)pthread_mutex_lock(&places->mutex);
    place->state = FREE;
    (void)pthread_mutex_unlock(&places->mutex);
}

void
web_places_asked(struct web_places *places, struct web_place *place, uint64_t now_ms)
{
    (void)pthread_mutex_lock(&places->mutex);
    place->state = ANSWERING;
    place->measured = false;
    place->since_ms = now_ms;
    (void)pthread_mutex_unlock(&places->mutex);
}

void
web_places_answered(struct web_places *places, struct web_place *place, uint64_t now_ms)
{
    (void)pthread_mutex_lock(&places->mutex);
    place->state = WAITING;
    place->since_ms = now_ms;
    place->order = ++places->waits;
    (void)pthread_mutex_unlock(&places->mutex);
}

/* Returns how long it is since then; another thread may have noted a later moment than now. */
static uint64_t
passed(uint64_t since_ms, uint64_t now_ms)
{
    return now_ms > since_ms ? now_ms - since_ms : 0;
}

/* Bytes wait to be taken, and few were in the last SLOW_MS. */
static bool
is_slow(struct web_place *place, uint64_t rate, uint64_t now_ms)
{
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    int unsent = 0;
    if (ioctl(place->socket, SIOCOUTQ, &unsent) != 0 ||
        getsockopt(place->socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) {
        return false;
    }
    const uint64_t ms = passed(place->measured_ms, now_ms);
    const bool due = place->measured && unsent > 0;
    if (due && ms < SLOW_MS) {
        return false;
    }
    const bool slow = due && info.tcpi_bytes_acked - place->taken < rate * ms / 1000;
    place->measured = true;
    place->measured_ms = now_ms;
    place->taken = info.tcpi_bytes_acked;
    return slow;
}

unsigned
web_places_tend(struct web_places *places, uint64_t now_ms)
{
    unsigned ended = 0;
    (void)pthread_mutex_lock(&places->mutex);
    for (unsigned i = 0; i < places->count; i++) {
        struct web_place *place = &places->places[i];
        const uint64_t rate = places->limits.reply_rate;
        const bool late =
            place->state == WAITING && passed(place->since_ms, now_ms) >= places->limits.request_ms;
        const bool slow = place->state == ANSWERING && rate > 0 && is_slow(place, rate, now_ms);
        if (place->ending || !(late || slow)) {
            continue;
        }
        end(place);
        ended++;
    }
    (void)pthread_mutex_unlock(&places->mutex);
    return ended;
}
