/* See share_owner.h. Steps read and write in an order that the protocol stands on:
 *
 *   our session is there and lives; read the claims; read the sessions, those of owners among them,
 *   which were there before they claimed anything; claim what the plan gives us; read the claims
 *   again,
 * because a claim counts only while no later one is there.
 */
#include "shares/share_owner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "shares/share_owner_state.h"

uint64_t
owner_now(const struct share_owner *owner)
{
    return owner->settings.now_ms(owner->settings.clock);
}

void
owner_session_path(const char *session, char name[SHARE_PATH_SIZE])
{
    (void)snprintf(name, SHARE_PATH_SIZE, "machines/%s", session);
}

bool
owner_has(const struct share_owner *owner, const struct known_share *share)
{
    return share->generation > 0 && !share->claim.freed &&
           strcmp(share->claim.session, owner->self.session) == 0;
}

/* ---- life ---- */

struct share_owner *
share_owner_open(const struct share_owner_settings *settings)
{
    struct share_owner *owner = memory_new(sizeof *owner);
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
    if (settings->disk != NULL) {
        (void)snprintf(self->disk, sizeof self->disk, "%s", settings->disk);
    }
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

void
share_owner_end(struct share_owner *owner)
{
    char name[SHARE_PATH_SIZE];
    struct reason why;
    owner_session_path(owner->self.session, name);
    (void)owner->settings.files.remove(owner->settings.files.context, name, &why);
    owner->until = 0;
}

/* ---- our own session ---- */

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
    const uint64_t before = owner_now(owner), had = owner->until;
    const uint64_t until = before + owner->settings.cluster.lease_ms;
    char name[SHARE_PATH_SIZE];
    struct buf text;
    if (had > 0 && before >= had) {
        return lease_is_lost(why);
    }
    owner_session_path(owner->self.session, name);
    buf_init(&text, SHARE_TEXT_MAXIMUM);
    put_session(owner, &text);
    const enum status status = files->replace(files->context, name, buf_slice(&text), why);
    buf_release(&text);
    if (owner_now(owner) >= (had > 0 ? had : until)) {
        return lease_is_lost(why);
    }
    if (status == STATUS_OK) {
        owner->until = until;
        owner->settings.renewed(owner->settings.renewed_context, until);
    }
    return status;
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

/* Tries to make the next claim; who got it is what the claims say when they are read again. */
static enum status
make_next_claim(struct share_owner *owner, size_t number, struct share_claim *claim,
                struct reason *why)
{
    const struct share_files *files = &owner->settings.files;
    char name[SHARE_PATH_SIZE];
    struct buf text;
    bool made;
    memcpy(claim->session, owner->self.session, sizeof claim->session);
    share_claim_path(number, owner->shares[number].generation + 1, name);
    buf_init(&text, SHARE_TEXT_MAXIMUM);
    share_claim_put(claim, &text);
    const enum status status = files->make(files->context, name, buf_slice(&text), &made, why);
    buf_release(&text);
    return status;
}

static enum status
claim_share(struct share_owner *owner, size_t number, struct reason *why)
{
    const struct known_share *share = &owner->shares[number];
    struct share_claim claim = {.clean = share->generation == 0 ||
                                         (share->claim.freed && share->claim.clean),
                                .place = share->claim.place};
    return make_next_claim(owner, number, &claim, why);
}

static enum status
claim_what_is_due(struct share_owner *owner, const struct planned *planned, struct reason *why)
{
    bool any = false;
    for (size_t i = 0; i < owner->settings.cluster.shares; i++) {
        if (owner_may_claim(owner, planned, i)) {
            TRY(claim_share(owner, i, why));
            any = true;
        }
    }
    if (any) {
        TRY(read_marks_and_claims(owner, why));
    }
    return STATUS_OK;
}

/* Removes what stands under a claim of ours that is in force: it is of no use to anybody. */
static enum status
tidy(struct share_owner *owner, struct reason *why)
{
    const struct share_files *files = &owner->settings.files;
    for (size_t i = 0; i < owner->settings.cluster.shares; i++) {
        const struct known_share *share = &owner->shares[i];
        if (!owner_has(owner, share)) {
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
    return owner_now(owner) >= owner->until ? lease_is_lost(why) : STATUS_OK;
}

enum status
share_owner_step(struct share_owner *owner, struct reason *why)
{
    TRY(check_lease(owner, why));
    TRY(read_marks_and_claims(owner, why));
    TRY(owner_read_sessions(owner, why));
    TRY(owner_read_moves(owner, why));
    TRY(check_lease(owner, why));
    struct planned *planned = memory_new(sizeof *planned);
    owner_plan(owner, planned);
    owner_mark_what_goes(owner, planned);
    const enum status status = claim_what_is_due(owner, planned, why);
    free(planned);
    TRY(status);
    return tidy(owner, why);
}

/* ---- what is ours ---- */

enum share_ownership
share_owner_has(const struct share_owner *owner, size_t share)
{
    if (!owner_has(owner, &owner->shares[share]) || owner_now(owner) >= owner->until) {
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

/* A claim of ours that stands; the one after it says what is so from now on. */
static enum status
follow_up(struct share_owner *owner, size_t share, struct share_claim claim,
          const struct share_place *place, struct reason *why)
{
    if (!owner_has(owner, &owner->shares[share])) {
        return STATUS_OK; /* somebody took it over meanwhile */
    }
    claim.place = place != NULL ? *place : owner->shares[share].claim.place;
    TRY(make_next_claim(owner, share, &claim, why));
    return read_claims(owner, why);
}

enum status
share_owner_release(struct share_owner *owner, size_t share, bool clean,
                    const struct share_place *place, struct reason *why)
{
    const struct share_claim claim = {.freed = true, .clean = clean};
    return follow_up(owner, share, claim, place, why);
}

/* ---- where it lies ---- */

const struct share_place *
share_owner_place(const struct share_owner *owner, size_t share, uint64_t *generation)
{
    *generation = owner->shares[share].generation;
    return &owner->shares[share].claim.place;
}

bool
share_owner_is_taken(const struct share_owner *owner, size_t number)
{
    const struct known_share *share = &owner->shares[number];
    return share->generation > 0 && !share->claim.freed && !owner_has(owner, share);
}

enum status
share_owner_settle(struct share_owner *owner, size_t share, const struct share_place *place,
                   struct reason *why)
{
    const struct share_claim claim = {.clean = owner->shares[share].claim.clean};
    return follow_up(owner, share, claim, place, why);
}

bool
share_owner_target(const struct share_owner *owner, size_t share, struct share_target *target)
{
    const char *session = owner->shares[share].goes_to;
    const struct seen_session *seen =
        session[0] != '\0' ? owner_find_session(owner, session) : NULL;
    if (seen == NULL || share_owner_has(owner, share) != SHARE_OURS) {
        return false;
    }
    *target = (struct share_target){{0}, {0}, {0}, {0}};
    memcpy(target->session, seen->record.session, sizeof target->session);
    memcpy(target->machine, seen->record.machine, sizeof target->machine);
    memcpy(target->address, seen->record.address, sizeof target->address);
    memcpy(target->disk, seen->record.disk, sizeof target->disk);
    return true;
}

void
share_owner_put_off(struct share_owner *owner, size_t share, uint64_t ms)
{
    owner->shares[share].put_off_until = owner_now(owner) + ms;
    owner->shares[share].goes_to[0] = '\0';
}

void
share_owner_balance(struct share_owner *owner, bool yes)
{
    owner->unbalanced = !yes;
}
