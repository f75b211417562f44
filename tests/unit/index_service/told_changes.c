/* A follower that writes down what it is told of changes, and fails where a test wants it to. */
#include "tests/unit/index_service/told_changes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

struct buf told_events;
const char *told_refused;
uint64_t told_began_ms;

static enum status
told(const char *kind, struct reason *why)
{
    (void)buf_append_char(&told_events, '\n');
    return told_refused != NULL && strcmp(kind, told_refused) == 0
               ? status_fail(why, STATUS_FULL, "no room")
               : STATUS_OK;
}

static enum status
begin(void *context, const struct index_changes_begin *batch, struct reason *why)
{
    assert_ptr_equal(context, &told_events);
    (void)buf_printf(&told_events, "begin %zu ", batch->partition);
    (void)buf_append_slice(&told_events, batch->position);
    (void)buf_append_string(&told_events, " after ");
    (void)buf_append_slice(&told_events, batch->previous);
    (void)buf_append_string(&told_events, " reached ");
    (void)buf_append_slice(&told_events, batch->reached);
    told_began_ms = batch->wall_ms;
    return told("begin", why);
}

static enum status
document(void *context, struct slice uri, uint64_t generation, struct reason *why)
{
    (void)context;
    (void)buf_append_string(&told_events, "document ");
    (void)buf_append_slice(&told_events, uri);
    (void)buf_printf(&told_events, " %llu", (unsigned long long)generation);
    return told("document", why);
}

static enum status
quad(void *context, bool removed, struct slice line, struct reason *why)
{
    (void)context;
    (void)buf_append_string(&told_events, removed ? "less" : "more");
    (void)buf_append_slice(&told_events, line);
    return told("quad", why);
}

static enum status
commit(void *context, struct slice position, struct reason *why)
{
    (void)context;
    (void)buf_append_string(&told_events, "commit ");
    (void)buf_append_slice(&told_events, position);
    return told("commit", why);
}

static enum status
abort_batch(void *context, struct reason *why)
{
    (void)context;
    (void)buf_append_string(&told_events, "abort");
    return told("abort", why);
}

const struct index_follower told_follower = {begin,  document,    quad,
                                             commit, abort_batch, &told_events};
