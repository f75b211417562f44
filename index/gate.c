#include "index/gate.h"

#include "base/watchdog.h"

void
gate_init(struct gate *gate)
{
    *gate = (struct gate){0};
    pthread_mutex_init(&gate->mutex, NULL);
    pthread_cond_init(&gate->may_read, NULL);
    pthread_cond_init(&gate->may_write, NULL);
}

void
gate_release(struct gate *gate)
{
    pthread_cond_destroy(&gate->may_write);
    pthread_cond_destroy(&gate->may_read);
    pthread_mutex_destroy(&gate->mutex);
}

void
gate_enter_reading(struct gate *gate)
{
    pthread_mutex_lock(&gate->mutex);
    if (gate->writing || gate->writers > 0) {
        /* The writer that leaves counts this reader among those inside. */
        const uint64_t phase = gate->phase;
        gate->readers++;
        watchdog_pause();
        while (gate->phase == phase) {
            pthread_cond_wait(&gate->may_read, &gate->mutex);
        }
        watchdog_resume();
    } else {
        gate->reading++;
    }
    pthread_mutex_unlock(&gate->mutex);
}

void
gate_enter_writing(struct gate *gate)
{
    pthread_mutex_lock(&gate->mutex);
    gate->writers++;
    if (gate->writing || gate->reading > 0) {
        watchdog_pause();
        do {
            pthread_cond_wait(&gate->may_write, &gate->mutex);
        } while (gate->writing || gate->reading > 0);
        watchdog_resume();
    }
    gate->writers--;
    gate->writing = true;
    pthread_mutex_unlock(&gate->mutex);
}

void
gate_leave(struct gate *gate)
{
    pthread_mutex_lock(&gate->mutex);
    if (gate->writing) {
        gate->writing = false;
        gate->phase++;
        gate->reading = gate->readers;
        gate->readers = 0;
        pthread_cond_broadcast(&gate->may_read);
    } else {
        gate->reading--;
    }
    if (gate->reading == 0 && gate->writers > 0) {
        pthread_cond_signal(&gate->may_write);
    }
    pthread_mutex_unlock(&gate->mutex);
}
