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
    ROOT_PATH_SIZE = 2048,
    MACHINE_NAME_SIZE = 65,
    SESSION_NAME_SIZE = 96, /* MACHINE.INCARNATION */
    MACHINE_ADDRESS_SIZE = 256,
    MACHINE_DISK_SIZE = 1024,
    SHARE_COPY_SIZE = 48, /* GENERATION-ATTEMPT */
    SHARE_TOLD_SIZE = 400,
    SHARE_TEXT_MAXIMUM = 1 << 18,
    SHARE_PORTS = 64, /* of a share's daemons, from the machine's port on */
};

/* ROOT/cluster: what holds for the whole life of a cluster. */
struct share_settings {
    size_t shares;
    uint32_t lease_ms;
    bool own_disks; /* the data of each lie on the disk of one machine */
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
    char disk[MACHINE_DISK_SIZE];       /* absolute, there; empty: it has none for shares */
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

/* The machine and the copy that hold the data of a share, in a cluster with own_disks. */
struct share_place {
    char machine[MACHINE_NAME_SIZE]; /* empty: nowhere, the share has none yet */
    char copy[SHARE_COPY_SIZE];
};

/* ROOT/claims/SHARE.GENERATION */
struct share_claim {
    char session[SESSION_NAME_SIZE]; /* who owns it or, when `freed`, has given it back */
    bool freed;
    /* No request that was sent under an earlier owner can be under way any more but for those of
     * the session itself. */
    bool clean;
    struct share_place place;
};
bool share_claim_parse(struct slice text, struct share_claim *claim);
void share_claim_put(const struct share_claim *claim, struct buf *text);

/* A summary of a folder: two folders with the same files of the same sizes have the same one. */
struct share_extent {
    uint64_t files, bytes, digest;
};
/* ROOT/handovers/SHARE */
struct share_handover {
    char copy[SHARE_COPY_SIZE];
    char to[SESSION_NAME_SIZE];
    bool sent; /* all is there, and should have this extent */
    struct share_extent extent;
};
bool share_handover_parse(struct slice text, struct share_handover *handover);
void share_handover_put(const struct share_handover *handover, struct buf *text);

/* Letters, digits, '-', '_', 64 at most. */
bool share_machine_name_is_good(const char *name);
/* "host:port" with a port up to 65535. */
bool share_address_is_good(const char *address);
/* Digits and '-' alone, so that it is a name in a folder. */
bool share_copy_is_good(const char *copy);
/* An absolute path without blanks, since it stands in lines and lists. */
bool share_disk_is_good(const char *disk);
/* "3,4,7": false for anything else, and for shares that there are not. */
bool share_list_parse(const char *text, size_t shares, bool only[SHARES_MOST]);

#endif
