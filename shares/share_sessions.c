/* The sessions of other machines, as an owner sees them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "shares/share_owner_state.h"

enum { GRACE_PARTS = 8, FORGET_LEASES = 20 };

struct names {
    char (*items)[SESSION_NAME_SIZE];
    size_t count;
};

static void
take_name(void *context, const char *name)
{
    struct names *names = context;
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->items[i], name) == 0) {
            return;
        }
    }
    if (names->count < SESSIONS_MOST && strlen(name) < SESSION_NAME_SIZE) {
        (void)snprintf(names->items[names->count++], SESSION_NAME_SIZE, "%s", name);
    }
}

struct seen_session *
owner_find_session(const struct share_owner *owner, const char *session)
{
    for (size_t i = 0; i < owner->session_count; i++) {
        if (strcmp(owner->sessions[i].record.session, session) == 0) {
            return &owner->sessions[i];
        }
    }
    return NULL;
}

static struct seen_session *
session_of(struct share_owner *owner, const char *session)
{
    struct seen_session *known = owner_find_session(owner, session);
    if (known != NULL) {
        return known;
    }
    if (owner->session_count == SESSIONS_MOST) {
        return NULL;
    }
    struct seen_session *fresh = &owner->sessions[owner->session_count++];
    *fresh = (struct seen_session){.changed_ms = owner_now(owner)};
    (void)snprintf(fresh->record.session, SESSION_NAME_SIZE, "%s", session);
    return fresh;
}

uint64_t
share_patience_ms(const struct share_settings *cluster)
{
    /* Clocks may differ by less than this part. */
    return cluster->lease_ms + (uint64_t)cluster->lease_ms / GRACE_PARTS;
}

/* A session is silent when it had a whole lease and the grace, all of them by our clock and after
 * we saw its beat, to change it, and a read that began afterwards finds it as it was. */
static enum status
read_session(struct share_owner *owner, const char *session, struct reason *why)
{
    const struct share_files *files = &owner->settings.files;
    const uint64_t before = owner_now(owner);
    struct share_session record;
    char name[SHARE_PATH_SIZE];
    struct buf text;
    owner_session_path(session, name);
    buf_init(&text, SHARE_TEXT_MAXIMUM);
    enum status status = files->read(files->context, name, &text, why);
    const bool good = status == STATUS_OK && share_session_parse(buf_slice(&text), &record) &&
                      strcmp(record.session, session) == 0;
    buf_release(&text);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        return status;
    }
    struct seen_session *seen = session_of(owner, session);
    if (seen == NULL) {
        return STATUS_OK;
    }
    seen->absent = !good;
    if (seen->absent) {
        return STATUS_OK;
    }
    if (seen->record.beat != record.beat) {
        seen->changed_ms = owner_now(owner);
        seen->silent = false;
    } else {
        seen->silent = seen->silent ||
                       before - seen->changed_ms >= share_patience_ms(&owner->settings.cluster);
    }
    seen->record = record;
    return STATUS_OK;
}

/* Nobody has use for the file of a session that ended long ago. */
static void
remove_old(struct share_owner *owner, const struct seen_session *seen)
{
    const struct share_files *files = &owner->settings.files;
    char name[SHARE_PATH_SIZE];
    struct reason why;
    if (seen->silent && owner_now(owner) - seen->changed_ms >=
                            FORGET_LEASES * (uint64_t)owner->settings.cluster.lease_ms) {
        owner_session_path(seen->record.session, name);
        (void)files->remove(files->context, name, &why);
    }
}

static int
by_session(const void *a, const void *b)
{
    return strcmp(((const struct seen_session *)a)->record.session,
                  ((const struct seen_session *)b)->record.session);
}

/* Tells whether ROOT/drains has the machine's name. */
static enum status
is_drained(const struct share_owner *owner, const char *machine, bool *drained, struct reason *why)
{
    char name[SHARE_PATH_SIZE];
    (void)snprintf(name, sizeof name, "drains/%s", machine);
    return share_file_is_there(&owner->settings.files, name, drained, why);
}

/* Tells whether it is one that this run had before it lost its lease: all that acted for it is
 * dead. */
static bool
is_earlier_of_run(const struct share_owner *owner, const char *session)
{
    const char *dot = strrchr(session, '.'), *own = strrchr(owner->self.session, '.');
    const size_t length = (size_t)(own - owner->self.session);
    char *end;
    if (dot == NULL || (size_t)(dot - session) != length ||
        memcmp(session, owner->self.session, length) != 0) {
        return false;
    }
    const uint64_t theirs = strtoull(dot + 1, &end, 16), ours = owner->settings.incarnation;
    return *end == '\0' && theirs < ours &&
           theirs >> SESSION_COUNT_BITS == ours >> SESSION_COUNT_BITS;
}

/* Nobody, we ourselves least of all, has to wait until it is silent. */
static enum status
end_earlier(struct share_owner *owner, const char *session, struct reason *why)
{
    const struct share_files *files = &owner->settings.files;
    char name[SHARE_PATH_SIZE];
    owner_session_path(session, name);
    return files->remove(files->context, name, why);
}

/* A folder that is being listed may leave out a file that is replaced meanwhile, so what we know
 * and what owners are named is read, too. */
static void
name_known(const struct share_owner *owner, struct names *names)
{
    for (size_t i = 0; i < owner->session_count; i++) {
        take_name(names, owner->sessions[i].record.session);
    }
    for (size_t i = 0; i < owner->settings.cluster.shares; i++) {
        const struct known_share *share = &owner->shares[i];
        if (share->generation > 0 && !share->claim.freed) {
            take_name(names, share->claim.session);
        }
    }
}

enum status
owner_read_sessions(struct share_owner *owner, struct reason *why)
{
    const struct share_files *files = &owner->settings.files;
    struct names names = {.items = memory_zero(SESSIONS_MOST, SESSION_NAME_SIZE)};
    size_t kept = 0;
    name_known(owner, &names);
    enum status status = files->list(files->context, "machines", take_name, &names, why);
    for (size_t i = 0; i < names.count && status == STATUS_OK; i++) {
        if (is_earlier_of_run(owner, names.items[i])) {
            status = end_earlier(owner, names.items[i], why);
        } else if (strcmp(names.items[i], owner->self.session) != 0) {
            status = read_session(owner, names.items[i], why);
        }
    }
    free(names.items);
    TRY(status);
    for (size_t i = 0; i < owner->session_count; i++) {
        if (!owner->sessions[i].absent) {
            owner->sessions[kept++] = owner->sessions[i];
        }
    }
    owner->session_count = kept;
    qsort(owner->sessions, kept, sizeof *owner->sessions, by_session);
    for (size_t i = 0; i < kept; i++) {
        struct seen_session *seen = &owner->sessions[i];
        remove_old(owner, seen);
        TRY(is_drained(owner, seen->record.machine, &seen->draining, why));
    }
    return is_drained(owner, owner->self.machine, &owner->draining, why);
}
