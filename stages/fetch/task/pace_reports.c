/* Reports what the ends of a task's requests say about the pace of its host and its address. */
#include <stdio.h>

#include "base/digest.h"
#include "base/system/clock.h"
#include "base/url/url.h"
#include "stages/fetch/task/fetch_task.h"

static uint64_t
origin_number(const struct task *task)
{
    return digest_local(task->origin);
}

/* rules: robots.txt was asked for. A server that fails at it lets nothing be fetched (RFC 9309,
 * 2.3.1.4), so any of its errors makes the host rest; at a document they may be the document's. */
static bool
is_trouble(const struct fetch_result *result, bool rules)
{
    switch (result->end) {
    case FETCH_FAILED:
    case FETCH_CUT_CONNECTION:
        return true;
    case FETCH_CUT_TIME: /* a body that flows and does not end is no fault of the host */
        return !result->flowing;
    case FETCH_ANSWERED:
    case FETCH_CUT_LENGTH:
        return result->status == 429 || result->status == 503 || (rules && result->status >= 500);
    default:
        return false;
    }
}

/* For other processes, for the next start and for people. reason: of the latest trouble. */
static void
note_pace(struct task *task, const struct pace *pace, const char *reason)
{
    struct meta_update update;
    struct buf key;
    meta_update_init(&update);
    meta_set_number(&update, META_HOST_RESPONSE_MS, pace->response_ms);
    meta_set_number(&update, META_HOST_ERRORS, pace->troubles);
    meta_set_text(&update, META_HOST_ERROR, slice_string(pace->troubles > 0 ? reason : ""));
    if (pace->until_ms > 0) {
        meta_set_number(&update, META_HOST_REST_UNTIL, pace->until_ms);
    } else {
        meta_clear(&update, META_HOST_REST_UNTIL);
    }
    buf_init(&key, URL_MAXIMUM + 1);
    buf_append_char(&key, 'h');
    buf_append_slice(&key, task->origin);
    stage_put_meta(task->job, buf_slice(&key), meta_update_fields(&update));
    buf_release(&key);
    meta_update_release(&update);
}

void
task_learn_pace(struct task *task, const struct fetch_result *result, bool rules)
{
    struct fetch *fetch = task->fetch;
    const bool trouble = is_trouble(result, rules);
    char words[FETCH_WORDS_SIZE];
    fetch_answer_words(result->status, result->reply, words);
    const uint64_t numbers[2] = {origin_number(task), task->address};
    if (!trouble && result->end != FETCH_ANSWERED && result->end != FETCH_CUT_LENGTH) {
        return;
    }
    if (rules && result->status >= 300 && result->status < 400) {
        return; /* what comes of it tells */
    }
    for (size_t i = 0; i < 2 && numbers[i] != 0; i++) {
        struct pace *pace = paces_find(fetch->paces, numbers[i]);
        const uint32_t troubles = pace->troubles;
        pace_heard(pace, result->end != FETCH_FAILED);
        if (trouble) {
            pace_troubled(pace, &fetch->pace_rules, i == 0 ? result->retry_after_ms : 0,
                          clock_wall_ms());
        } else {
            pace_answered(pace, result->milliseconds);
        }
        if (i == 0 && (pace_worth_noting(pace) || troubles != pace->troubles)) {
            note_pace(task, pace, result->status > 0 ? words : result->problem);
        }
    }
}

void
task_learn_trouble(struct task *task, const char *reason)
{
    struct pace *pace = paces_find(task->fetch->paces, origin_number(task));
    pace_troubled(pace, &task->fetch->pace_rules, 0, clock_wall_ms());
    note_pace(task, pace, reason);
}

void
task_take_pace(struct task *task, struct slice record)
{
    struct pace *pace = paces_find(task->fetch->paces, origin_number(task));
    uint64_t number;
    if (pace->response_ms > 0 || pace->troubles > 0) {
        return;
    }
    if (meta_record_number(record, META_HOST_RESPONSE_MS, &number) && number < UINT32_MAX) {
        pace->response_ms = (uint32_t)number;
        pace->noted_ms = number;
    }
    if (meta_record_number(record, META_HOST_ERRORS, &number) && number < UINT32_MAX) {
        pace->troubles = (uint32_t)number;
    }
    (void)meta_record_number(record, META_HOST_REST_UNTIL, &pace->until_ms);
}

uint64_t
task_pace_ms(const struct task *task)
{
    const struct fetch *fetch = task->fetch;
    const uint64_t now_ms = clock_wall_ms();
    uint64_t rest_ms =
        pace_rest_ms(paces_find(fetch->paces, origin_number(task)), &fetch->pace_rules, now_ms);
    if (task->address != 0) {
        /* Its hosts' response times differ for good reasons; trouble is shared. */
        const uint64_t shared_ms =
            pace_backoff_ms(paces_find(fetch->paces, task->address), &fetch->pace_rules);
        rest_ms = rest_ms > shared_ms ? rest_ms : shared_ms;
    }
    return rest_ms;
}

bool
task_is_at_fault(const struct task *task, const struct fetch_result *result)
{
    const bool failed = (result->end == FETCH_FAILED && !result->unsent) ||
                        result->end == FETCH_CUT_CONNECTION || result->end == FETCH_CUT_TIME;
    return failed && task->download == NULL &&
           pace_blames_document(paces_find(task->fetch->paces, origin_number(task)),
                                task->job->job.attempt);
}

uint32_t
task_host_failures(const struct task *task)
{
    return paces_find(task->fetch->paces, origin_number(task))->failures;
}

bool
task_is_troubled(const struct task *task)
{
    return paces_find(task->fetch->paces, origin_number(task))->troubles > 0;
}

uint64_t
task_patience_ms(const struct task *task)
{
    return pace_patience_ms(paces_find(task->fetch->paces, origin_number(task)),
                            task->fetch->slow.patience_ms, task->job->job.attempt);
}
