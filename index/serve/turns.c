#include "index/serve/turns.h"

#include <stdlib.h>
#include <time.h>

#include "base/memory.h"
#include "base/system/clock.h"

enum {
    SLICE_MS = 10,
    URGENT_MS = 2, /* while somebody short waits for one who has run long */
    LONG_EACH = 8,
    MEMORY_LEAST = 8 << 20
};

struct turn_client {
    uint64_t id, used_us;
    unsigned turns; /* opened */
    struct turn_client *next;
};

struct turns {
    size_t memory_most;
    atomic_uint waiting, waiting_short;
    pthread_mutex_t mutex; /* guards what follows */
    unsigned left, handed;
    size_t memory_left;
    struct turn *first; /* waiting, in the order of their coming */
    struct turn_client *clients;
};

struct turns *
turns_new(unsigned most, size_t memory)
{
    struct turns *turns = memory_new(sizeof *turns);
    pthread_mutex_init(&turns->mutex, NULL);
    turns->left = most > 0 ? most : 1;
    turns->memory_most = memory;
    turns->memory_left = memory > SIZE_MAX / turns->left ? SIZE_MAX : memory * turns->left;
    return turns;
}

void
turns_free(struct turns *turns)
{
    if (turns != NULL) {
        pthread_mutex_destroy(&turns->mutex);
        free(turns);
    }
}

/* ---- accounts ---- */

static struct turn_client *
join(struct turns *turns, uint64_t id)
{
    uint64_t least = UINT64_MAX;
    for (struct turn_client *client = turns->clients; client != NULL; client = client->next) {
        if (client->id == id) {
            client->turns++;
            return client;
        }
        least = client->used_us < least ? client->used_us : least;
    }
    struct turn_client *client = memory_new(sizeof *client);
    *client = (struct turn_client){.id = id,
                                   .used_us = turns->clients != NULL ? least : 0,
                                   .turns = 1,
                                   .next = turns->clients};
    turns->clients = client;
    return client;
}

static void
part(struct turns *turns, struct turn_client *client)
{
    if (--client->turns > 0) {
        return;
    }
    struct turn_client **at = &turns->clients;
    while (*at != client) {
        at = &(*at)->next;
    }
    *at = client->next;
    free(client);
}

void
turn_open(struct turn *turn, struct turns *turns, uint64_t client, const atomic_bool *cancelled)
{
    *turn = (struct turn){.turns = turns, .cancelled = cancelled};
    pthread_cond_init(&turn->granted, NULL);
    const size_t least = turns->memory_most < MEMORY_LEAST ? turns->memory_most : MEMORY_LEAST;
    pthread_mutex_lock(&turns->mutex);
    turn->client = join(turns, client);
    const size_t half = turns->memory_left / 2;
    turn->memory = half < turns->memory_most ? half : turns->memory_most;
    if (turn->memory >= least) {
        turn->borrowed = turn->memory;
        turns->memory_left -= turn->borrowed;
    } else {
        turn->memory = least;
    }
    pthread_mutex_unlock(&turns->mutex);
}

void
turn_close(struct turn *turn)
{
    struct turns *turns = turn->turns;
    pthread_mutex_lock(&turns->mutex);
    part(turns, turn->client);
    turns->memory_left += turn->borrowed;
    pthread_mutex_unlock(&turns->mutex);
    pthread_cond_destroy(&turn->granted);
}

/* ---- who is next ---- */

static bool
is_short(const struct turn *turn)
{
    return turn->used_us < TURN_SHORT_MS * 1000;
}

static bool
comes_before(const struct turn *a, const struct turn *b, bool for_long)
{
    if (is_short(a) != is_short(b)) {
        return is_short(a) != for_long;
    }
    if (a->client->used_us != b->client->used_us) {
        return a->client->used_us < b->client->used_us;
    }
    return a->used_us < b->used_us;
}

static void
set_waiting(struct turn *turn, bool waits)
{
    const unsigned one = waits ? 1 : UINT32_MAX; /* added, or taken away */
    turn->waits = waits;
    (void)atomic_fetch_add(&turn->turns->waiting, one);
    if (is_short(turn)) {
        (void)atomic_fetch_add(&turn->turns->waiting_short, one);
    }
}

static void
unlink_waiting(struct turns *turns, struct turn *turn)
{
    struct turn **at = &turns->first;
    while (*at != turn) {
        at = &(*at)->next;
    }
    *at = turn->next;
    turn->next = NULL;
    set_waiting(turn, false);
}

static void
hand_out(struct turns *turns)
{
    while (turns->left > 0 && turns->first != NULL) {
        const bool for_long = turns->handed % LONG_EACH == LONG_EACH - 1;
        struct turn *best = turns->first;
        for (struct turn *turn = best->next; turn != NULL; turn = turn->next) {
            best = comes_before(turn, best, for_long) ? turn : best;
        }
        unlink_waiting(turns, best);
        best->held = true;
        turns->left--;
        turns->handed++;
        pthread_cond_signal(&best->granted);
    }
}

/* ---- turns ---- */

uint64_t
turn_cpu_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

void
turn_take(struct turn *turn)
{
    struct turns *turns = turn->turns;
    pthread_mutex_lock(&turns->mutex);
    struct turn **last = &turns->first;
    while (*last != NULL) {
        last = &(*last)->next;
    }
    *last = turn;
    set_waiting(turn, true);
    hand_out(turns);
    while (turn->waits && !atomic_load(turn->cancelled)) {
        pthread_cond_wait(&turn->granted, &turns->mutex);
    }
    if (turn->waits) {
        unlink_waiting(turns, turn);
    }
    pthread_mutex_unlock(&turns->mutex);
    turn->cpu_us = turn_cpu_us();
    turn->wall_ms = clock_monotonic_ms();
}

void
turn_give(struct turn *turn)
{
    struct turns *turns = turn->turns;
    const uint64_t used_us = turn_cpu_us() - turn->cpu_us;
    pthread_mutex_lock(&turns->mutex);
    turn->used_us += used_us;
    turn->client->used_us += used_us;
    turns->left += turn->held;
    turn->held = false;
    hand_out(turns);
    pthread_mutex_unlock(&turns->mutex);
}

void
turn_step(struct turn *turn)
{
    struct turns *turns = turn->turns;
    if (atomic_load_explicit(&turns->waiting, memory_order_relaxed) == 0 || !turn->held) {
        return;
    }
    const bool urgent =
        atomic_load_explicit(&turns->waiting_short, memory_order_relaxed) > 0 && !is_short(turn);
    if (clock_monotonic_ms() - turn->wall_ms >= (urgent ? URGENT_MS : SLICE_MS)) {
        turn_give(turn);
        turn_take(turn);
    }
}

static bool
is_spare(const struct turns *turns)
{
    return turns->left > 0 && turns->first == NULL;
}

bool
turn_may_lend(struct turn *turn)
{
    struct turns *turns = turn->turns;
    pthread_mutex_lock(&turns->mutex);
    const bool spare = turn->held && is_spare(turns);
    pthread_mutex_unlock(&turns->mutex);
    return spare;
}

bool
turn_lend(struct turn *turn)
{
    struct turns *turns = turn->turns;
    pthread_mutex_lock(&turns->mutex);
    const bool spare = turn->held && is_spare(turns);
    turns->left -= spare;
    pthread_mutex_unlock(&turns->mutex);
    return spare;
}

void
turn_lent_back(struct turn *turn, uint64_t used_us)
{
    struct turns *turns = turn->turns;
    pthread_mutex_lock(&turns->mutex);
    turn->client->used_us += used_us;
    turns->left++;
    hand_out(turns);
    pthread_mutex_unlock(&turns->mutex);
}

bool
turn_is_wanted(const struct turn *turn)
{
    return atomic_load_explicit(&turn->turns->waiting, memory_order_relaxed) > 0;
}

void
turns_wake(struct turns *turns)
{
    pthread_mutex_lock(&turns->mutex);
    for (struct turn *turn = turns->first; turn != NULL; turn = turn->next) {
        pthread_cond_signal(&turn->granted);
    }
    pthread_mutex_unlock(&turns->mutex);
}
