/* See share_owner.h. Steps read and write in an order that the protocol stands on:
 *
 *   our session is there and lives; read the claims; read the sessions, those of owners among them,
 *   which were there before they claimed anything; claim what the plan gives us; read the claims
 *   again,
 * because a claim counts only while no later one is there.
 */
#include "shares/share_owner.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "shares/share_claims.h"
#include "shares/share_plan.h"

enum { GRACE_PARTS = 8, FORGET_LEASES = 20, LEAVING_AT_A_TIME = 1 };

/* Another session, as we have seen it. */
struct seen_session {
    struct share_session record;
    uint64_t changed_ms; /* our clock, after the read that saw its beat first */
    bool absent;         /* its file is gone: it ended, or ended long ago */
    bool silent, draining;
};

struct known_share {
    uint64_t generation;
    struct share_claim claim;
    char moved_to[MACHINE_NAME_SIZE]; /* empty: nowhere */
    bool leaving, forgotten;
    char told[SHARE_TOLD_SIZE];
};

struct share_owner {
    struct share_owner_settings settings;
    struct share_session self;
    bool only[SHARES_MOST];
    struct seen_session *sessions; /* sorted by name of session */
    size_t session_count;
    struct known_share *shares;
    bool leaving, draining;
    _Atomic uint64_t until; /* 0: the session has not begun */
    struct buf about;
    pthread_mutex_t telling; /* of what is told of shares, and about all */
};

static uint64_t
now(const struct share_owner *owner)
{
    return owner->settings.now_ms(owner->settings.clock);
}

/* ---- life ---- */

struct share_owner *
share_owner_open(const struct share_owner_settings *settings)
{
    struct share_owner *owner = memory_zero(1, sizeof *owner);
    owner->settings = *settings;
    owner->sessions = memory_zero(SESSIONS_MOST, sizeof *owner->sessions);
    owner->shares = memory_zero(settings->cluster.shares, sizeof *owner->shares);
    (void)pthread_mutex_init(&owner->telling, NULL);
    buf_init(&owner->about, SHARE_TEXT_MAXIMUM / 2);
    struct share_session *self = &owner->self;
    (void)snprintf(self->machine, sizeof self->machine, "%s", settings->machine);
    (void)snprintf(self->address, sizeof self->address, "%s", settings->address);
    (void)snprintf(self->session, sizeof self->session, "%s.%016" PRIx64, self->machine,
                   settings->incarnation);
    self->weight = settings->weight;
    self->restricted = settings->only != NULL;
    if (settings->only != NULL) {
        memcpy(self->only, settings->only, sizeof self->only);
    }
    return owner;
}

void
share_owner_close(struct share_owner *owner)
{
    if (owner != NULL) {
        (void)pthread_mutex_destroy(&owner->telling);
        buf_release(&owner->about);
        free(owner->sessions);
        free(owner->shares);
        free(owner);
    }
}

const char *
share_owner_session(const struct share_owner *owner)
{
    return owner->self.session;
}

uint64_t
share_owner_until(const struct share_owner *owner)
{
    return owner->until;
}

void
share_owner_leave(struct share_owner *owner)
{
    owner->leaving = true;
}

void
share_owner_tell(struct share_owner *owner, size_t share, const char *text)
{
    char *told = owner->shares[share].told;
    (void)pthread_mutex_lock(&owner->telling);
    (void)snprintf(told, SHARE_TOLD_SIZE, "%s", text);
    for (char *c = told; *c != '\0'; c++) {
        *c = *c == '\n' ? ' ' : *c;
    }
    (void)pthread_mutex_unlock(&owner->telling);
}

void
share_owner_about(struct share_owner *owner, struct slice lines)
{
    (void)pthread_mutex_lock(&owner->telling);
    buf_reset(&owner->about);
    (void)buf_append_slice(&owner->about, lines);
    (void)pthread_mutex_unlock(&owner->telling);
}

static void
session_path(const char *session, char name[SHARE_PATH_SIZE])
{
    (void)snprintf(name, SHARE_PATH_SIZE, "machines/%s", session);
}

void
share_owner_end(struct share_owner *owner)
{
    char name[SHARE_PATH_SIZE];
    struct reason why;
    session_path(owner->self.session, name);
    (void)owner->settings.files.remove(owner->settings.files.context, name, &why);
    owner->until = 0;
}

/* ---- our own session ---- */

static bool
is_ours(const struct share_owner *owner, const struct known_share *share)
{
    return share->generation > 0 && !share->claim.freed &&
           strcmp(share->claim.session, owner->self.session) == 0;
}

static void
put_session(struct share_owner *owner, struct buf *text)
{
    owner->self.beat++;
    share_session_put(&owner->self, text);
    (void)pthread_mutex_lock(&owner->telling);
    for (size_t i = 0; i < owner->settings.cluster.shares; i++) {
        if (owner->shares[i].told[0] != '\0') {
            buf_printf(text, "share %zu %s\n", i, owner->shares[i].told);
        }
    }
    (void)buf_append_slice(text, buf_slice(&owner->about));
    (void)pthread_mutex_unlock(&owner->telling);
}

static enum status
lease_is_lost(struct reason *why)
{
    return status_fail(why, STATUS_CANCELLED, "the lease could not be renewed in time");
}

/* The lease counts from before the write: whoever sees the new beat begins to count later. */
enum status
share_owner_renew(struct share_owner *owner, struct reason *why)
{
    const struct share_files *files = &owner->settings.files;
    const uint64_t before = now(owner), had = owner->until;
    const uint64_t until = before + owner->settings.cluster.lease_ms;
    char name[SHARE_PATH_SIZE];
    struct buf text;
    if (had > 0 && before >= had) {
        return lease_is_lost(why);
    }
    session_path(owner->self.session, name);
    buf_init(&text, SHARE_TEXT_MAXIMUM);
    put_session(owner, &text);
    const enum status status = files->replace(files->context, name, buf_slice(&text), why);
    buf_release(&text);
    if (now(owner) >= (had > 0 ? had : until)) {
        return lease_is_lost(why);
    }
    if (status == STATUS_OK) {
        owner->until = until;
        owner->settings.renewed(owner->settings.renewed_context, until);
    }
    return status;
}

/* ---- the sessions of others ---- */

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

static struct seen_session *
find_session(const struct share_owner *owner, const char *session)
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
    struct seen_session *known = find_session(owner, session);
    if (known != NULL) {
        return known;
    }
    if (owner->session_count == SESSIONS_MOST) {
        return NULL;
    }
    struct seen_session *fresh = &owner->sessions[owner->session_count++];
    *fresh = (struct seen_session){.changed_ms = now(owner)};
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
    const uint64_t before = now(owner);
    struct share_session record;
    char name[SHARE_PATH_SIZE];
    struct buf text;
    session_path(session, name);
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
        seen->changed_ms = now(owner);
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
    if (seen->silent && now(owner) - seen->changed_ms >=
                            FORGET_LEASES * (uint64_t)owner->settings.cluster.lease_ms) {
        session_path(seen->record.session, name);
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
    const struct share_files *files = &owner->settings.files;
    char name[SHARE_PATH_SIZE];
    struct buf text;
    (void)snprintf(name, sizeof name, "drains/%s", machine);
    buf_init(&text, SHARE_TEXT_MAXIMUM);
    const enum status status = files->read(files->context, name, &text, why);
    buf_release(&text);
    *drained = status == STATUS_OK;
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
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
    session_path(session, name);
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

static enum status
read_sessions(struct share_owner *owner, struct reason *why)
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

/* ---- claims ---- */

static enum status
read_claims(struct share_owner *owner, struct reason *why)
{
    const struct share_files *files = &owner->settings.files;
    const size_t shares = owner->settings.cluster.shares;
    struct share_latest latest;
    enum status status = share_claims_list(files, shares, &latest, why);
    for (size_t i = 0; i < shares && status == STATUS_OK; i++) {
        struct known_share *share = &owner->shares[i];
        struct share_claim claim;
        if (latest.generations[i] <= share->generation) {
            continue; /* a claim never changes, and the latest is never removed */
        }
        status = share_claim_read(files, i, latest.generations[i], &claim, why);
        if (status == STATUS_OK) {
            share->generation = latest.generations[i];
            share->claim = claim;
            share->leaving = false;
        } else if (status == STATUS_NOT_FOUND) {
            status = STATUS_OK; /* a later one came meanwhile */
        }
    }
    free(latest.generations);
    return status;
}

static enum status
read_forgotten(struct share_owner *owner, struct reason *why)
{
    const struct share_files *files = &owner->settings.files;
    for (size_t i = 0; i < owner->settings.cluster.shares; i++) {
        struct known_share *share = &owner->shares[i];
        if (!share->forgotten) {
            TRY(share_forgotten_read(files, i, &share->forgotten, why));
        }
    }
    return STATUS_OK;
}

/* Who gives a share up looks for claims after he has marked it, and takes none that comes later for
 * an owner: so no claim of ours counts before the marks were read after it was made. */
static enum status
read_marks_and_claims(struct share_owner *owner, struct reason *why)
{
    TRY(read_forgotten(owner, why));
    return read_claims(owner, why);
}

/* ---- the plan ---- */

static enum status
read_moves(struct share_owner *owner, struct reason *why)
{
    const struct share_files *files = &owner->settings.files;
    for (size_t i = 0; i < owner->settings.cluster.shares; i++) {
        TRY(share_move_read(files, i, owner->shares[i].moved_to, why));
    }
    return STATUS_OK;
}

struct planned {
    struct plan_machine machines[SESSIONS_MOST];
    const char *sessions[SESSIONS_MOST];
    size_t count;
    int self; /* NOBODY: we take none */
    struct plan_share shares[SHARES_MOST];
    int should[SHARES_MOST];
};

static void
plan_session(struct planned *planned, const struct share_session *session)
{
    if (planned->count < SESSIONS_MOST) {
        planned->sessions[planned->count] = session->session;
        planned->machines[planned->count++] =
            (struct plan_machine){.name = session->machine,
                                  .weight = session->weight,
                                  .only = session->restricted ? session->only : NULL};
    }
}

static void
plan_sessions(const struct share_owner *owner, struct planned *planned)
{
    bool self_placed = owner->leaving || owner->draining;
    planned->self = NOBODY;
    for (size_t i = 0; i <= owner->session_count; i++) {
        const bool end = i == owner->session_count;
        if (!self_placed &&
            (end || strcmp(owner->self.session, owner->sessions[i].record.session) < 0)) {
            planned->self = planned->count < SESSIONS_MOST ? (int)planned->count : NOBODY;
            plan_session(planned, &owner->self);
            self_placed = true;
        }
        if (!end && !owner->sessions[i].silent && !owner->sessions[i].draining) {
            plan_session(planned, &owner->sessions[i].record);
        }
    }
}

static int
number_of(const struct planned *planned, const char *session, const char *machine)
{
    for (size_t i = 0; i < planned->count; i++) {
        if ((session != NULL && strcmp(planned->sessions[i], session) == 0) ||
            (machine != NULL && strcmp(planned->machines[i].name, machine) == 0)) {
            return (int)i;
        }
    }
    return NOBODY;
}

static void
plan(const struct share_owner *owner, struct planned *planned)
{
    const size_t shares = owner->settings.cluster.shares;
    *planned = (struct planned){0};
    plan_sessions(owner, planned);
    for (size_t i = 0; i < shares; i++) {
        const struct known_share *share = &owner->shares[i];
        const bool owned = share->generation > 0 && !share->claim.freed;
        planned->shares[i] = (struct plan_share){
            .owner = owned ? number_of(planned, share->claim.session, NULL) : NOBODY,
            .wanted =
                share->moved_to[0] != '\0' ? number_of(planned, NULL, share->moved_to) : NOBODY,
            .forgotten = share->forgotten,
        };
    }
    share_plan(planned->machines, planned->count, planned->shares, shares, planned->should);
}

/* Tells whether its last owner, if any, cannot act any more. */
static bool
can_be_claimed(const struct share_owner *owner, const struct known_share *share)
{
    if (share->generation == 0 || share->claim.freed) {
        return true;
    }
    if (strcmp(share->claim.session, owner->self.session) == 0) {
        return false;
    }
    const struct seen_session *seen = find_session(owner, share->claim.session);
    return seen == NULL || seen->silent;
}

static enum status
publish(struct share_owner *owner, size_t share, struct reason *why)
{
    const struct share_files *files = &owner->settings.files;
    char name[SHARE_PATH_SIZE];
    struct buf wanted, present;
    buf_init(&wanted, SHARE_TEXT_MAXIMUM);
    buf_init(&present, SHARE_TEXT_MAXIMUM);
    const char *colon = strrchr(owner->self.address, ':');
    buf_printf(&wanted, "%.*s:%lu\n", (int)(colon - owner->self.address), owner->self.address,
               strtoul(colon + 1, NULL, 10) + share * SHARE_PORTS);
    (void)snprintf(name, sizeof name, "addresses/%zu", share);
    enum status status = files->read(files->context, name, &present, why);
    if (status == STATUS_NOT_FOUND ||
        (status == STATUS_OK && !slice_equal(buf_slice(&present), buf_slice(&wanted)))) {
        status = files->replace(files->context, name, buf_slice(&wanted), why);
    }
    buf_release(&wanted);
    buf_release(&present);
    return status;
}

static enum status
claim_share(struct share_owner *owner, size_t number, struct reason *why)
{
    const struct share_files *files = &owner->settings.files;
    const struct known_share *share = &owner->shares[number];
    struct share_claim claim = {.clean = share->generation == 0 ||
                                         (share->claim.freed && share->claim.clean)};
    char name[SHARE_PATH_SIZE];
    struct buf text;
    bool made;
    memcpy(claim.session, owner->self.session, sizeof claim.session);
    share_claim_path(number, share->generation + 1, name);
    buf_init(&text, SHARE_TEXT_MAXIMUM);
    share_claim_put(&claim, &text);
    const enum status status = files->make(files->context, name, buf_slice(&text), &made, why);
    buf_release(&text);
    return status;
}

static enum status
claim_what_is_due(struct share_owner *owner, const struct planned *planned, struct reason *why)
{
    bool any = false;
    for (size_t i = 0; i < owner->settings.cluster.shares; i++) {
        if (planned->self != NOBODY && planned->should[i] == planned->self &&
            can_be_claimed(owner, &owner->shares[i])) {
            TRY(claim_share(owner, i, why));
            any = true;
        }
    }
    if (any) {
        TRY(read_marks_and_claims(owner, why));
    }
    return STATUS_OK;
}

/* One after the other, so that most of the cluster works while shares change hands; all when the
 * machine is to be empty. */
static void
leave_what_is_due(struct share_owner *owner, const struct planned *planned)
{
    const size_t shares = owner->settings.cluster.shares;
    const bool all = owner->leaving || owner->draining;
    size_t leaving = 0;
    for (size_t i = 0; i < shares; i++) {
        leaving += is_ours(owner, &owner->shares[i]) && owner->shares[i].leaving;
    }
    for (size_t i = 0; i < shares; i++) {
        struct known_share *share = &owner->shares[i];
        const bool stays = planned->should[i] == NOBODY || planned->should[i] == planned->self;
        if (is_ours(owner, share) && !share->leaving &&
            (all || (!stays && leaving < LEAVING_AT_A_TIME))) {
            share->leaving = true;
            leaving++;
        }
    }
}

/* Removes what stands under a claim of ours that is in force: it is of no use to anybody. */
static enum status
tidy(struct share_owner *owner, struct reason *why)
{
    const struct share_files *files = &owner->settings.files;
    for (size_t i = 0; i < owner->settings.cluster.shares; i++) {
        const struct known_share *share = &owner->shares[i];
        if (!is_ours(owner, share)) {
            continue;
        }
        TRY(publish(owner, i, why));
        for (uint64_t back = 1; back <= 2 && back < share->generation; back++) {
            char name[SHARE_PATH_SIZE];
            share_claim_path(i, share->generation - back, name);
            TRY(files->remove(files->context, name, why));
        }
    }
    return STATUS_OK;
}

static enum status
check_lease(const struct share_owner *owner, struct reason *why)
{
    return now(owner) >= owner->until ? lease_is_lost(why) : STATUS_OK;
}

enum status
share_owner_step(struct share_owner *owner, struct reason *why)
{
    TRY(check_lease(owner, why));
    TRY(read_marks_and_claims(owner, why));
    TRY(read_sessions(owner, why));
    TRY(read_moves(owner, why));
    TRY(check_lease(owner, why));
    struct planned *planned = memory_zero(1, sizeof *planned);
    plan(owner, planned);
    leave_what_is_due(owner, planned);
    const enum status status = claim_what_is_due(owner, planned, why);
    free(planned);
    TRY(status);
    return tidy(owner, why);
}

/* ---- what is ours ---- */

enum share_ownership
share_owner_has(const struct share_owner *owner, size_t share)
{
    if (!is_ours(owner, &owner->shares[share]) || now(owner) >= owner->until) {
        return SHARE_OTHERS;
    }
    return owner->shares[share].leaving || owner->shares[share].forgotten ? SHARE_LEAVING
                                                                          : SHARE_OURS;
}

bool
share_owner_took_clean(const struct share_owner *owner, size_t share)
{
    return owner->shares[share].claim.clean;
}

enum status
share_owner_release(struct share_owner *owner, size_t share, bool clean, struct reason *why)
{
    const struct share_files *files = &owner->settings.files;
    struct share_claim claim = {.freed = true, .clean = clean};
    char name[SHARE_PATH_SIZE];
    struct buf text;
    bool made;
    if (!is_ours(owner, &owner->shares[share])) {
        return STATUS_OK; /* somebody took it over meanwhile */
    }
    memcpy(claim.session, owner->self.session, sizeof claim.session);
    share_claim_path(share, owner->shares[share].generation + 1, name);
    buf_init(&text, SHARE_TEXT_MAXIMUM);
    share_claim_put(&claim, &text);
    enum status status = files->make(files->context, name, buf_slice(&text), &made, why);
    buf_release(&text);
    return status == STATUS_OK ? read_claims(owner, why) : status;
}
