/* Reads what the files of ROOT say of shares, for owners and for those who look on: FORMAT.md. */
#ifndef SHARES_SHARE_CLAIMS_H
#define SHARES_SHARE_CLAIMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shares/share_files.h"
#include "shares/share_records.h"

enum { SHARE_PATH_SIZE = 160 };

struct share_latest {
    size_t shares;
    uint64_t *generations; /* 0: no claim */
};
/* The latest generation of each share. latest->generations is to be freed. */
enum status share_claims_list(const struct share_files *files, size_t shares,
                              struct share_latest *latest, struct reason *why);
void share_claim_path(size_t share, uint64_t generation, char name[SHARE_PATH_SIZE]);
enum status share_claim_read(const struct share_files *files, size_t share, uint64_t generation,
                             struct share_claim *claim, struct reason *why);

#define SHARE_HANDOVERS "handovers"
#define SHARE_ANSWER ".answer"
/* suffix: "" or SHARE_ANSWER. */
void share_handover_path(size_t share, const char *suffix, char name[SHARE_PATH_SIZE]);
/* NOT_FOUND: there is none. */
enum status share_handover_read(const struct share_files *files, size_t share,
                                struct share_handover *handover, struct reason *why);

struct share_seen {
    uint64_t generation;             /* 0: nobody has ever had it */
    char session[SESSION_NAME_SIZE]; /* the latest owner; empty: freed, or never had */
    struct share_place place;
};
/* The machine that a person moved the share to; empty: none. */
enum status share_move_read(const struct share_files *files, size_t share,
                            char machine[MACHINE_NAME_SIZE], struct reason *why);
/* The latest claim of each share, of what the files say now. */
enum status share_claims_read(const struct share_files *files, size_t shares,
                              struct share_seen *seen, struct reason *why);
/* Tells whether ROOT has the file, whose mere presence says something: drains/NAME, forgotten/N. */
enum status share_file_is_there(const struct share_files *files, const char *name, bool *there,
                                struct reason *why);
/* Tells whether a person gave the share up for good. */
enum status share_forgotten_read(const struct share_files *files, size_t share, bool *forgotten,
                                 struct reason *why);

#endif
