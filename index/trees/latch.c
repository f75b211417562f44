#include "index/trees/latch.h"

#include "base/system/watchdog.h"

void
latch_init(struct latch *latch)
{
    *latch = (struct latch){0};
    pthread_mutex_init(&latch->mutex, NULL);
    pthread_cond_init(&latch->may_read, NULL);
    pthread_cond_init(&latch->may_write, NULL);
}

void
latch_release(struct latch *latch)
{
    pthread_cond_destroy(&latch->may_write);
    pthread_cond_destroy(&latch->may_read);
    pthread_mutex_destroy(&latch->mutex);
}

void
latch_enter_reading(struct latch *latch)
{
    pthread_mutex_lock(&latch->mutex);
    if (latch->writing || latch->writers > 0) {
        /* The writer that leaves counts this reader among those inside. */
        const uint64_t phase = latch->phase;
        latch->readers++;
        watchdog_pause();
        while (latch->phase == phase) {
            pthread_cond_wait(&latch->may_read, &latch->mutex);
        }
        watchdog_resume();
    } else {
        latch->reading++;
    }
    pthread_mutex_unlock(&latch->mutex);
}

void
latch_enter_writing(struct latch *latch)
{
    pthread_mutex_lock(&latch->mutex);
    latch->writers++;
    if (latch->writing || latch->reading > 0) {
        watchdog_pause();
        do {
            pthread_cond_wait(&latch->may_write, &latch->mutex);
        } while (latch->writing || latch->reading > 0);
        watchdog_resume();
    }
    latch->writers--;
    latch->writing = true;
    pthread_mutex_unlock(&latch->mutex);
}

void
latch_leave(struct latch *latch)
{
    pthread_mutex_lock(&latch->mutex);
    if (latch->writing) {
        latch->writing = false;
        latch->phase++;
        latch->reading = latch->readers;
        latch->readers = 0;
        pthread_cond_broadcast(&latch->may_read);
    } else {
        latch->reading--;
    }
    if (latch->reading == 0 && latch->writers > 0) {
        pthread_cond_signal(&latch->may_write);
    }
    pthread_mutex_unlock(&latch->mutex);
}
