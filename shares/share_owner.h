/* One machine's part in running the shares of a cluster, over files and a clock that may be real or
 * simulated. docs/CLUSTER.md has the protocol and why it is safe.
 *
 * The caller renews it some times in each lease. It steps it as often and, after each step, lets
 * processes run of exactly the shares that are SHARE_OURS, no longer than share_owner_until():
 * something that stands on nothing else has to end them by then. Of a share that is SHARE_LEAVING
 * it ends them in order and then calls share_owner_release. */
#ifndef SHARES_SHARE_OWNER_H
#define SHARES_SHARE_OWNER_H

#include <stdbool.h>
#include <stdint.h>

#include "shares/share_files.h"
#include "shares/share_records.h"

enum { SESSION_COUNT_BITS = 16 };

struct share_owner_settings {
    struct share_files files;
    uint64_t (*now_ms)(void *clock); /* does not go back, and goes on while the machine sleeps */
    void *clock;
    /* Called by share_owner_renew as soon as the lease holds until a later time. */
    void (*renewed)(void *context, uint64_t until);
    void *renewed_context;
    struct share_settings cluster;
    const char *machine, *address;
    /* Differs for each run of each machine but for its last SESSION_COUNT_BITS, which count the
     * sessions of one run. Nothing may act any more for those that came before. */
    uint64_t incarnation;
    unsigned weight;
    const bool *only; /* NULL: whichever */
    const char *disk; /* absolute: its folder for shares; NULL: their data lie in ROOT */
};

struct share_owner;
/* Copies what the settings point to, except for files and clock. */
struct share_owner *share_owner_open(const struct share_owner_settings *settings);
void share_owner_close(struct share_owner *owner);
/* "MACHINE.INCARNATION" */
const char *share_owner_session(const struct share_owner *owner);

/* Writes that we live: the first time the session begins by it, then it extends the lease. A thread
 * of its own may call it while another is in any function but close and end: a step waits for files
 * that a machine which died has used, on CephFS until that machine's session has ended, and must
 * not cost the lease of those that live. Not OK: the file system said so; what is ours stays ours
 * until share_owner_until(). CANCELLED: that time has passed, all is lost; begin with a new one. */
enum status share_owner_renew(struct share_owner *owner, struct reason *why);
/* Looks around and claims, while the lease holds. Results as those of share_owner_renew. */
enum status share_owner_step(struct share_owner *owner, struct reason *why);
/* The time, by the clock, from which on nothing may be done in the name of this owner; 0 before the
 * session has begun. */
uint64_t share_owner_until(const struct share_owner *owner);

enum share_ownership { SHARE_OTHERS, SHARE_OURS, SHARE_LEAVING };
enum share_ownership share_owner_has(const struct share_owner *owner, size_t share);
/* Tells of a share of ours whether no earlier owner can have a request under way. */
bool share_owner_took_clean(const struct share_owner *owner, size_t share);

/* Gives a share back whose processes have ended. clean: they ended in order, and what was to be
 * waited for when they began was. place: where its data lie from now on; NULL: where they did. Not
 * OK: it may have been done all the same, so nothing may be done for the share but this again. */
enum status share_owner_release(struct share_owner *owner, size_t share, bool clean,
                                const struct share_place *place, struct reason *why);
/* Has it claim nothing from now on, and give away all shares. */
void share_owner_leave(struct share_owner *owner);
/* Ends the session at once for all others; only when no share is ours any more. */
void share_owner_end(struct share_owner *owner);
/* Sets the line that the session writes about its share at the next renewal. */
void share_owner_tell(struct share_owner *owner, size_t share, const char *text);
/* Sets the other lines that the session's file is to have for people, "NAME VALUE", each ended. */
void share_owner_about(struct share_owner *owner, struct slice lines);

/* ---- shares that lie on the disks of machines ---- */

/* Returns where its data lie by the claim that counts; *generation: the number of that. */
const struct share_place *share_owner_place(const struct share_owner *owner, size_t share,
                                            uint64_t *generation);
/* Tells whether another session has a claim of it that counts. */
bool share_owner_is_taken(const struct share_owner *owner, size_t share);
/* Says where the data of a share of ours lie from now on, which stays ours. Not OK: as with
 * share_owner_release. */
enum status share_owner_settle(struct share_owner *owner, size_t share,
                               const struct share_place *place, struct reason *why);

struct share_target {
    char session[SESSION_NAME_SIZE], machine[MACHINE_NAME_SIZE];
    char address[MACHINE_ADDRESS_SIZE], disk[MACHINE_DISK_SIZE];
};
/* Tells of a share of ours whether a machine that lives is to have it, of one share at a time. The
 * caller copies it there and releases it with the new place. When this says something else before
 * that, it is to stay. */
bool share_owner_target(const struct share_owner *owner, size_t share, struct share_target *target);
/* A copy failed: others have their turn, this one not before so long. */
void share_owner_put_off(struct share_owner *owner, size_t share, uint64_t ms);
/* no: shares move only when people say so, by moves, drains and lists. Yes at first. */
void share_owner_balance(struct share_owner *owner, bool yes);

/* ---- looking on without taking part ---- */

/* Returns how long a session says nothing before it counts as silent. */
uint64_t share_patience_ms(const struct share_settings *cluster);

#endif
