#include "index/serve/sessions.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/system/clock.h"

enum { IDLE_MS = 300000 };

struct session {
    struct partition_reader *reader; /* holds the version; NULL: free */
    uint64_t id, used_ms;
};

struct sessions {
    struct partition *partition;
    struct session *list;
    size_t most;
};

struct sessions *
sessions_new(struct partition *partition, size_t most)
{
    struct sessions *sessions = memory_new(sizeof(*sessions));
    sessions->partition = partition;
    sessions->list = memory_zero(most, sizeof(*sessions->list));
    sessions->most = most;
    return sessions;
}

static void
end(struct session *session)
{
    partition_reader_close(session->reader);
    *session = (struct session){0};
}

void
sessions_free(struct sessions *sessions)
{
    if (sessions == NULL) {
        return;
    }
    for (size_t i = 0; i < sessions->most; i++) {
        end(&sessions->list[i]);
    }
    free(sessions->list);
    free(sessions);
}

static struct session *
find(struct sessions *sessions, uint64_t id)
{
    for (size_t i = 0; i < sessions->most; i++) {
        if (sessions->list[i].reader != NULL && sessions->list[i].id == id) {
            return &sessions->list[i];
        }
    }
    return NULL;
}

static enum status
make(struct sessions *sessions, uint64_t id, struct session **session, struct reason *why)
{
    for (size_t i = 0; i < sessions->most; i++) {
        if (sessions->list[i].reader == NULL) {
            *session = &sessions->list[i];
            (*session)->id = id;
            return partition_reader_open(&(*session)->reader, sessions->partition, why);
        }
    }
    return status_fail(why, STATUS_LIMIT, "too many queries are under way; try again");
}

enum status
sessions_reader(struct sessions *sessions, uint64_t id, bool begin,
                struct partition_reader **reader, struct reason *why)
{
    struct session *session = find(sessions, id);
    if (session == NULL) {
        if (!begin) {
            return status_fail(why, STATUS_STALE,
                               "it was restarted, or the query waited too long; ask again");
        }
        TRY(make(sessions, id, &session, why));
    }
    session->used_ms = clock_monotonic_ms();
    *reader = partition_reader_share(session->reader);
    return STATUS_OK;
}

void
sessions_end(struct sessions *sessions, uint64_t id)
{
    struct session *session = find(sessions, id);
    if (session != NULL) {
        end(session);
    }
}

void
sessions_tend(struct sessions *sessions, uint64_t now_ms)
{
    for (size_t i = 0; i < sessions->most; i++) {
        struct session *session = &sessions->list[i];
        if (session->reader != NULL && now_ms - session->used_ms > IDLE_MS) {
            end(session);
        }
    }
}
