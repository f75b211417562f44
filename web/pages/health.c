#include "web/pages/health.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/memory.h"
#include "base/system/clock.h"

struct health {
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t answered;
    bool asking;
    uint64_t answered_ms; /* monotonic; 0: never */
    struct health_answer answer;
};

struct health *
health_new(void)
{
    struct health *health = memory_new(sizeof *health);
    pthread_condattr_t attributes;
    (void)pthread_mutex_init(&health->lock, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&health->answered, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    return health;
}

void
health_free(struct health *health)
{
    if (health != NULL) {
        (void)pthread_cond_destroy(&health->answered);
        (void)pthread_mutex_destroy(&health->lock);
        free(health);
    }
}

/* Until the answer on its way is there; the lock is held. */
static bool
wait_for_answer(struct health *health)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += HEALTH_WAIT_MS / 1000;
    while (health->asking) {
        if (pthread_cond_timedwait(&health->answered, &health->lock, &until) != 0) {
            return !health->asking;
        }
    }
    return true;
}

bool
health_ask(struct health *health, health_probe *probe, void *context, struct health_answer *answer)
{
    (void)pthread_mutex_lock(&health->lock);
    bool answered = true;
    if (health->asking) {
        answered = wait_for_answer(health);
    } else if (health->answered_ms == 0 ||
               clock_monotonic_ms() - health->answered_ms >= HEALTH_YOUNG_MS) {
        struct health_answer fresh = {.index = false};
        health->asking = true;
        (void)pthread_mutex_unlock(&health->lock);
        probe(context, &fresh);
        (void)pthread_mutex_lock(&health->lock);
        health->answer = fresh;
        health->answered_ms = clock_monotonic_ms();
        health->asking = false;
        (void)pthread_cond_broadcast(&health->answered);
    }
    *answer = answered ? health->answer : (struct health_answer){.index = false};
    (void)pthread_mutex_unlock(&health->lock);
    return answered;
}
