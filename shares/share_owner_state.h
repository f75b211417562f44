/* The struct that the parts of an owner have in common; for the files of this folder alone.
 * share_owner.c has its life, claims and steps, share_sessions.c watches other machines, and
 * share_assignment.c decides what follows. */
#ifndef SHARES_SHARE_OWNER_STATE_H
#define SHARES_SHARE_OWNER_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "shares/share_claims.h"
#include "shares/share_owner.h"
#include "shares/share_plan.h"

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
    char goes_to[SESSION_NAME_SIZE];  /* its data are to be copied there; empty: nowhere */
    uint64_t put_off_until;
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
    bool leaving, draining, unbalanced;
    _Atomic uint64_t until; /* 0: the session has not begun */
    struct buf about;
    pthread_mutex_t telling; /* of what is told of shares, and about all */
};

/* Who should run what, as we see it now. */
struct planned {
    struct plan_machine machines[SESSIONS_MOST];
    const char *sessions[SESSIONS_MOST];
    size_t count;
    int self; /* NOBODY: we take none */
    struct plan_share shares[SHARES_MOST];
    int should[SHARES_MOST];
};

uint64_t owner_now(const struct share_owner *owner);
void owner_session_path(const char *session, char name[SHARE_PATH_SIZE]);
bool owner_has(const struct share_owner *owner, const struct known_share *share);

/* Another session that was seen when the sessions were read last; NULL: none. */
struct seen_session *owner_find_session(const struct share_owner *owner, const char *session);
/* After the claims, whose owners it looks for. */
enum status owner_read_sessions(struct share_owner *owner, struct reason *why);

enum status owner_read_moves(struct share_owner *owner, struct reason *why);
void owner_plan(const struct share_owner *owner, struct planned *planned);
/* Tells whether it is ours to claim: it should run here, or lies here, and nobody can act for it.
 */
bool owner_may_claim(const struct share_owner *owner, const struct planned *planned, size_t number);
/* Marks what is to be copied to other machines, and what is to be given back. */
void owner_mark_what_goes(struct share_owner *owner, const struct planned *planned);

#endif
