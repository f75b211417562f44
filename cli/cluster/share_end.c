#include "cli/cluster/share_end.h"

#include <string.h>
#include <time.h>

#include "cli/cluster/share_guard.h"
#include "shares/share_claims.h"
#include "shares/share_owner.h"

enum { LOOK_MS = 200 };

static void
pause_briefly(void)
{
    const struct timespec pause = {0, LOOK_MS * 1000000L};
    (void)nanosleep(&pause, NULL);
}

enum status
share_end_owner(const struct share_files *files, const struct share_settings *settings,
                size_t share, char session[SESSION_NAME_SIZE], struct reason *why)
{
    struct share_seen seen[SHARES_MOST];
    TRY(share_claims_read(files, settings->shares, seen, why));
    memcpy(session, seen[share].session, SESSION_NAME_SIZE);
    return STATUS_OK;
}

/* The beat of a session; 0: it has no file, so it is dead. */
static enum status
read_beat(const struct share_files *files, const char *session, uint64_t *beat, struct reason *why)
{
    struct share_session record;
    char name[SHARE_PATH_SIZE];
    struct buf text;
    *beat = 0;
    (void)snprintf(name, sizeof name, "machines/%s", session);
    buf_init(&text, SHARE_TEXT_MAXIMUM);
    const enum status status = files->read(files->context, name, &text, why);
    if (status == STATUS_OK && share_session_parse(buf_slice(&text), &record)) {
        *beat = record.beat;
    }
    buf_release(&text);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status
share_end_await(const struct share_files *files, const struct share_settings *settings,
                size_t share, bool must_be_silent, FILE *out, struct reason *why)
{
    char session[SESSION_NAME_SIZE], before[SESSION_NAME_SIZE] = "";
    uint64_t beat, last = 0, changed_ms = 0;
    for (;; pause_briefly()) {
        const uint64_t now = share_clock_ms(NULL);
        TRY(share_end_owner(files, settings, share, session, why));
        if (session[0] == '\0') {
            return STATUS_OK;
        }
        TRY(read_beat(files, session, &beat, why));
        if (beat == 0) {
            return STATUS_OK;
        }
        if (beat == last && strcmp(session, before) == 0) {
            if (now - changed_ms >= share_patience_ms(settings)) {
                return STATUS_OK;
            }
            continue;
        }
        if (last == 0) {
            fprintf(out, "share %zu: waits until %s has ended its processes\n", share, session);
            fflush(out);
        } else if (must_be_silent) {
            return status_fail(why, STATUS_MISUSE, "share %zu has an owner that lives, session %s",
                               share, session);
        }
        last = beat;
        memcpy(before, session, sizeof before);
        changed_ms = share_clock_ms(NULL);
    }
}
