/* The thread that takes the samples of the status history, and who tells them: /status/history; and
 * /health. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "web/pages/health.h"
#include "web/pages/status_figures.h"
#include "web/pages/status_history.h"

struct status_recorder {
    struct web_service *service;
    struct status_history *history;
    struct health *health;
    pthread_t thread;
    bool runs;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    bool stop;
};

/* The figures' names, in their order; those of stages are done and ready of each. */
static const char *const names[] = {"documents", "quads", "seen"};
enum { TOTALS = sizeof names / sizeof names[0] };
_Static_assert(TOTALS + 2 * STAGE_COUNT == STATUS_SAMPLE_FIGURES, "a place for each figure");

static void
take_sample(struct status_recorder *recorder)
{
    struct status_sample sample = {.wall_ms = clock_wall_ms()};
    struct status_now now;
    status_take(recorder->service, false, &now);
    for (size_t i = 0; i < STATUS_SAMPLE_FIGURES; i++) {
        sample.figures[i] = STATUS_UNKNOWN;
    }
    if (now.has_index) {
        sample.figures[0] = now.index.documents;
        sample.figures[1] = now.index.quads;
    }
    if (now.has_queue) {
        sample.figures[2] = now.queue.seen;
        for (size_t i = 0; i < STAGE_COUNT; i++) {
            sample.figures[TOTALS + i] = now.queue.stages[i].done;
            sample.figures[TOTALS + STAGE_COUNT + i] = now.queue.stages[i].ready;
        }
    }
    if (now.has_index || now.has_queue) {
        status_history_add(recorder->history, &sample);
    }
    status_release(&now);
}

static void *
record(void *context)
{
    struct status_recorder *recorder = context;
    (void)pthread_mutex_lock(&recorder->lock);
    while (!recorder->stop) {
        struct timespec until;
        (void)pthread_mutex_unlock(&recorder->lock);
        take_sample(recorder);
        (void)clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += (time_t)(status_spans[0].period_ms / 1000);
        (void)pthread_mutex_lock(&recorder->lock);
        while (!recorder->stop &&
               pthread_cond_timedwait(&recorder->changed, &recorder->lock, &until) != ETIMEDOUT) {
        }
    }
    (void)pthread_mutex_unlock(&recorder->lock);
    return NULL;
}

struct status_recorder *
status_recorder_open(struct web_service *service)
{
    struct status_recorder *recorder = memory_new(sizeof *recorder);
    pthread_condattr_t attributes;
    recorder->service = service;
    recorder->history = status_history_open(service->directory);
    recorder->health = health_new();
    (void)pthread_mutex_init(&recorder->lock, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&recorder->changed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    recorder->runs = pthread_create(&recorder->thread, NULL, record, recorder) == 0;
    return recorder;
}

void
status_recorder_close(struct status_recorder *recorder)
{
    if (recorder == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&recorder->lock);
    recorder->stop = true;
    (void)pthread_cond_signal(&recorder->changed);
    (void)pthread_mutex_unlock(&recorder->lock);
    if (recorder->runs) {
        (void)pthread_join(recorder->thread, NULL);
    }
    (void)pthread_cond_destroy(&recorder->changed);
    (void)pthread_mutex_destroy(&recorder->lock);
    status_history_close(recorder->history);
    health_free(recorder->health);
    free(recorder);
}

/* ---- over HTTP ---- */

static void
put_samples(struct buf *out, const struct status_sample *samples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)buf_printf(out, "%s[%llu", i > 0 ? ",\n" : "\n",
                         (unsigned long long)samples[i].wall_ms);
        for (size_t k = 0; k < STATUS_SAMPLE_FIGURES; k++) {
            const uint64_t figure = samples[i].figures[k];
            (void)buf_printf(out, figure == STATUS_UNKNOWN ? ",null" : ",%llu",
                             (unsigned long long)figure);
        }
        (void)buf_append_char(out, ']');
    }
}

void
web_status_history(struct web_service *service, const struct web_request *request,
                   struct web_reply *reply)
{
    const char *name = web_parameter(request, "span", NULL);
    struct buf *out = &reply->body;
    size_t span = 0;
    while (name != NULL && span < STATUS_SPANS && strcmp(status_spans[span].name, name) != 0) {
        span++;
    }
    if (span == STATUS_SPANS) {
        web_reply_error(reply, 400, "span is hour, day or month.");
        return;
    }
    struct status_sample *samples = memory_zero(STATUS_SPAN_SAMPLES, sizeof *samples);
    const size_t count =
        status_history_read(service->recorder->history, span, clock_wall_ms(), samples);
    (void)buf_printf(out, "{\"span\":\"%s\",\"seconds\":%llu,\"figures\":[\"time\"",
                     status_spans[span].name,
                     (unsigned long long)status_spans[span].period_ms / 1000);
    for (size_t i = 0; i < TOTALS; i++) {
        (void)buf_printf(out, ",\"%s\"", names[i]);
    }
    for (int i = 0; i < 2 * STAGE_COUNT; i++) {
        (void)buf_printf(out, ",\"%s %s\"", stage_name((enum stage)(i % STAGE_COUNT)),
                         i < STAGE_COUNT ? "done" : "ready");
    }
    (void)buf_append_string(out, "],\"samples\":[");
    put_samples(out, samples, count);
    (void)buf_append_string(out, "]}\n");
    free(samples);
    reply->content_type = "application/json";
}

/* ---- health ---- */

static void
probe_parts(void *service, struct health_answer *answer)
{
    struct status_now figures;
    status_take(service, false, &figures);
    *answer = (struct health_answer){.index = figures.has_index, .queue = figures.has_queue};
    status_release(&figures);
}

/* The service is well when its index answers: without a queue nothing is crawled, but all is found.
 */
void
web_health(struct web_service *service, const struct web_request *request, struct web_reply *reply)
{
    struct health_answer answer;
    (void)request;
    (void)health_ask(service->recorder->health, probe_parts, service, &answer);
    reply->content_type = "application/json";
    reply->status = answer.index ? 200 : 503;
    (void)buf_printf(&reply->body, "{\"status\":\"%s\",\"index\":%s,\"queue\":%s}\n",
                     answer.index ? "pass" : "fail", answer.index ? "true" : "false",
                     answer.queue ? "true" : "false");
}
