/* Reads what the files of ROOT say of shares, for owners and for those who look on. */
#include "shares/share_claims.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static void
take_claim(void *context, const char *name)
{
    struct share_latest *latest = context;
    uint64_t share, generation;
    char end;
    if (sscanf(name, "%" SCNu64 ".%" SCNu64 "%c", &share, &generation, &end) == 2 &&
        share < latest->shares && generation > latest->generations[share]) {
        latest->generations[share] = generation;
    }
}

enum status
share_claims_list(const struct share_files *files, size_t shares, struct share_latest *latest,
                  struct reason *why)
{
    *latest = (struct share_latest){
        .shares = shares, .generations = memory_zero(shares, sizeof *latest->generations)};
    return files->list(files->context, "claims", take_claim, latest, why);
}

void
share_claim_path(size_t share, uint64_t generation, char name[SHARE_PATH_SIZE])
{
    (void)snprintf(name, SHARE_PATH_SIZE, "claims/%zu.%" PRIu64, share, generation);
}

enum status
share_claim_read(const struct share_files *files, size_t share, uint64_t generation,
                 struct share_claim *claim, struct reason *why)
{
    char name[SHARE_PATH_SIZE];
    struct buf text;
    share_claim_path(share, generation, name);
    buf_init(&text, SHARE_TEXT_MAXIMUM);
    enum status status = files->read(files->context, name, &text, why);
    if (status == STATUS_OK && !share_claim_parse(buf_slice(&text), claim)) {
        status = status_fail(why, STATUS_CORRUPT, "%s is no claim", name);
    }
    buf_release(&text);
    return status;
}

void
share_handover_path(size_t share, const char *suffix, char name[SHARE_PATH_SIZE])
{
    (void)snprintf(name, SHARE_PATH_SIZE, SHARE_HANDOVERS "/%zu%s", share, suffix);
}

enum status
share_handover_read(const struct share_files *files, size_t share, struct share_handover *handover,
                    struct reason *why)
{
    char name[SHARE_PATH_SIZE];
    struct buf text;
    share_handover_path(share, "", name);
    buf_init(&text, SHARE_TEXT_MAXIMUM);
    enum status status = files->read(files->context, name, &text, why);
    if (status == STATUS_OK && !share_handover_parse(buf_slice(&text), handover)) {
        status = status_fail(why, STATUS_CORRUPT, "%s is no handover", name);
    }
    buf_release(&text);
    return status;
}

enum status
share_claims_read(const struct share_files *files, size_t shares, struct share_seen *seen,
                  struct reason *why)
{
    struct share_latest latest;
    enum status status = share_claims_list(files, shares, &latest, why);
    for (size_t i = 0; i < shares && status == STATUS_OK; i++) {
        struct share_claim claim = {.freed = true};
        seen[i] = (struct share_seen){.generation = latest.generations[i]};
        if (latest.generations[i] > 0) {
            status = share_claim_read(files, i, latest.generations[i], &claim, why);
        }
        if (status == STATUS_OK && !claim.freed) {
            memcpy(seen[i].session, claim.session, sizeof claim.session);
        }
        seen[i].place = claim.place;
        status = status == STATUS_NOT_FOUND ? STATUS_OK : status;
    }
    free(latest.generations);
    return status;
}

enum status
share_move_read(const struct share_files *files, size_t share, char machine[MACHINE_NAME_SIZE],
                struct reason *why)
{
    char name[SHARE_PATH_SIZE];
    struct buf text;
    (void)snprintf(name, sizeof name, "moves/%zu", share);
    buf_init(&text, SHARE_TEXT_MAXIMUM);
    const enum status status = files->read(files->context, name, &text, why);
    const struct slice to = slice_trim(buf_slice(&text));
    (void)snprintf(machine, MACHINE_NAME_SIZE, "%.*s",
                   status == STATUS_OK && to.length < MACHINE_NAME_SIZE ? (int)to.length : 0,
                   to.length > 0 ? to.at : "");
    buf_release(&text);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status
share_file_is_there(const struct share_files *files, const char *name, bool *there,
                    struct reason *why)
{
    struct buf text;
    buf_init(&text, SHARE_TEXT_MAXIMUM);
    const enum status status = files->read(files->context, name, &text, why);
    buf_release(&text);
    *there = status == STATUS_OK;
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status
share_forgotten_read(const struct share_files *files, size_t share, bool *forgotten,
                     struct reason *why)
{
    char name[SHARE_PATH_SIZE];
    (void)snprintf(name, sizeof name, "forgotten/%zu", share);
    return share_file_is_there(files, name, forgotten, why);
}
