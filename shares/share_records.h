/* Reads and writes the files by which machines agree on who runs a share: FORMAT.md. */
#ifndef SHARES_SHARE_RECORDS_H
#define SHARES_SHARE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"
#include "base/status.h"

enum {
    SHARES_MOST = 256,
    SESSIONS_MOST = 256,
    MACHINE_NAME_SIZE = 65,
    SESSION_NAME_SIZE = 96, /* MACHINE.INCARNATION */
    MACHINE_ADDRESS_SIZE = 256,
    SHARE_TOLD_SIZE = 400,
    SHARE_TEXT_MAXIMUM = 1 << 18,
    SHARE_PORTS = 64, /* of a share's daemons, from the machine's port on */
};

/* ROOT/cluster: what holds for the whole life of a cluster. */
struct share_settings {
    size_t shares;
    uint32_t lease_ms;
};
enum status share_settings_parse(struct slice text, struct share_settings *settings,
                                 struct reason *why);
void share_settings_put(const struct share_settings *settings, struct buf *text);

/* ROOT/machines/SESSION: one run of `quadrille cluster run`, which lives while its beat changes. */
struct share_session {
    char session[SESSION_NAME_SIZE];
    char machine[MACHINE_NAME_SIZE];
    uint64_t beat;
    char address[MACHINE_ADDRESS_SIZE]; /* host:port */
    unsigned weight;
    bool restricted; /* runs none but `only` */
    bool only[SHARES_MOST];
};
bool share_session_parse(struct slice text, struct share_session *session);
void share_session_put(const struct share_session *session, struct buf *text);
/* The value of the first line "NAME VALUE" of a text; false: it has none, or a longer one. */
bool share_text_line(struct slice text, const char *name, char *value, size_t size);
/* Returns what a session says of its share, or "" when it says nothing. */
void share_session_told(struct slice text, size_t share, char told[SHARE_TOLD_SIZE]);

/* ROOT/claims/SHARE.GENERATION */
struct share_claim {
    char session[SESSION_NAME_SIZE]; /* who owns it or, when `freed`, has given it back */
    bool freed;
    /* No request that was sent under an earlier owner can be under way any more but for those of
     * the session itself. */
    bool clean;
};
bool share_claim_parse(struct slice text, struct share_claim *claim);
void share_claim_put(const struct share_claim *claim, struct buf *text);

/* Letters, digits, '-', '_', 64 at most. */
bool share_machine_name_is_good(const char *name);
/* "host:port" with a port up to 65535. */
bool share_address_is_good(const char *address);
/* "3,4,7": false for anything else, and for shares that there are not. */
bool share_list_parse(const char *text, size_t shares, bool only[SHARES_MOST]);

#endif
