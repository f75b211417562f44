/* Decides from what an owner sees which shares it may claim, and which are to go to others. */
#include <stdio.h>
#include <string.h>

#include "shares/share_owner_state.h"

enum { LEAVING_AT_A_TIME = 1 };

enum status
owner_read_moves(struct share_owner *owner, struct reason *why)
{
    const struct share_files *files = &owner->settings.files;
    for (size_t i = 0; i < owner->settings.cluster.shares; i++) {
        TRY(share_move_read(files, i, owner->shares[i].moved_to, why));
    }
    return STATUS_OK;
}

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

static bool
is_placed(const struct share_owner *owner, const struct known_share *share)
{
    return owner->settings.cluster.own_disks && share->claim.place.machine[0] != '\0';
}

static bool
lies_here(const struct share_owner *owner, const struct known_share *share)
{
    return is_placed(owner, share) && strcmp(share->claim.place.machine, owner->self.machine) == 0;
}

/* Tells whether the machine with its data lives, so that they can be run or copied. */
static bool
can_be_reached(const struct share_owner *owner, const struct known_share *share)
{
    bool lives = !is_placed(owner, share) || lies_here(owner, share);
    for (size_t i = 0; i < owner->session_count && !lives; i++) {
        const struct seen_session *seen = &owner->sessions[i];
        lives = !seen->silent && strcmp(seen->record.machine, share->claim.place.machine) == 0;
    }
    return lives;
}

/* The machine that would have to give it up. */
static int
holder_of(const struct share_owner *owner, const struct planned *planned,
          const struct known_share *share)
{
    if (is_placed(owner, share)) {
        return number_of(planned, NULL, share->claim.place.machine);
    }
    const bool owned = share->generation > 0 && !share->claim.freed;
    return owned ? number_of(planned, share->claim.session, NULL) : NOBODY;
}

void
owner_plan(const struct share_owner *owner, struct planned *planned)
{
    const size_t shares = owner->settings.cluster.shares;
    *planned = (struct planned){0};
    plan_sessions(owner, planned);
    for (size_t i = 0; i < shares; i++) {
        const struct known_share *share = &owner->shares[i];
        planned->shares[i] = (struct plan_share){
            .owner = holder_of(owner, planned, share),
            .wanted =
                share->moved_to[0] != '\0' ? number_of(planned, NULL, share->moved_to) : NOBODY,
            .for_nobody = share->forgotten || !can_be_reached(owner, share),
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
    const struct seen_session *seen = owner_find_session(owner, share->claim.session);
    return seen == NULL || seen->silent;
}

/* Tells whether the share is ours to run by the plan. One that lies on our disk is, until it has
 * been copied to the machine that is to have it. */
static bool
is_due(const struct share_owner *owner, const struct planned *planned, size_t number)
{
    const struct known_share *share = &owner->shares[number];
    if (is_placed(owner, share)) {
        return lies_here(owner, share) && planned->should[number] != NOBODY && !owner->leaving;
    }
    return planned->self != NOBODY && planned->should[number] == planned->self;
}

bool
owner_may_claim(const struct share_owner *owner, const struct planned *planned, size_t number)
{
    return is_due(owner, planned, number) && can_be_claimed(owner, &owner->shares[number]);
}

/* ---- what goes ---- */

/* Tells whether the share is to be copied to the machine that should have it. */
static bool
is_to_be_sent(const struct share_owner *owner, const struct planned *planned, size_t number)
{
    const struct known_share *share = &owner->shares[number];
    const int to = planned->should[number];
    if (!owner_has(owner, share) || !lies_here(owner, share) || to == NOBODY || owner->leaving ||
        owner_now(owner) < share->put_off_until ||
        strcmp(planned->machines[to].name, owner->self.machine) == 0) { /* also an earlier run */
        return false;
    }
    return !owner->unbalanced || owner->draining || owner->self.restricted ||
           planned->machines[to].only != NULL ||
           strcmp(share->moved_to, planned->machines[to].name) == 0;
}

/* One share at a time: a copy takes disks and network that the others work with. */
static void
send_what_is_due(struct share_owner *owner, const struct planned *planned)
{
    bool busy = false;
    for (size_t i = 0; i < owner->settings.cluster.shares; i++) {
        char *goes_to = owner->shares[i].goes_to;
        const bool stands = goes_to[0] != '\0' && is_to_be_sent(owner, planned, i) &&
                            strcmp(goes_to, planned->sessions[planned->should[i]]) == 0;
        if (!stands) {
            goes_to[0] = '\0';
        }
        busy = busy || stands;
    }
    for (size_t i = 0; i < owner->settings.cluster.shares && !busy; i++) {
        if (is_to_be_sent(owner, planned, i)) {
            (void)snprintf(owner->shares[i].goes_to, SESSION_NAME_SIZE, "%s",
                           planned->sessions[planned->should[i]]);
            busy = true;
        }
    }
}

/* One after the other, so that most of the cluster works while shares change hands; all when the
 * machine is to be empty. */
static void
leave_what_is_due(struct share_owner *owner, const struct planned *planned)
{
    const size_t shares = owner->settings.cluster.shares;
    const bool own_disks = owner->settings.cluster.own_disks;
    const bool all = owner->leaving || (owner->draining && !own_disks);
    size_t leaving = 0;
    for (size_t i = 0; i < shares; i++) {
        leaving += owner_has(owner, &owner->shares[i]) && owner->shares[i].leaving;
    }
    for (size_t i = 0; i < shares; i++) {
        struct known_share *share = &owner->shares[i];
        const int should = planned->should[i];
        const bool stays = own_disks ? should != NOBODY || !owner->draining
                                     : should == NOBODY || should == planned->self;
        if (owner_has(owner, share) && !share->leaving &&
            (all || (!stays && leaving < LEAVING_AT_A_TIME))) {
            share->leaving = true;
            leaving++;
        }
    }
}

void
owner_mark_what_goes(struct share_owner *owner, const struct planned *planned)
{
    send_what_is_due(owner, planned);
    leave_what_is_due(owner, planned);
}
