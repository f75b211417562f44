#include "cli/cluster/share_return.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cluster/share_end.h"
#include "shares/share_claims.h"

enum { UNIQUE_SIZE = 32 };

static enum status
check(const struct share_return_asked *asked, char disk[PATH_MAX], struct reason *why)
{
    if (asked->share == NULL || asked->machine == NULL || asked->disk == NULL) {
        return status_fail(why, STATUS_MISUSE,
                           "--share N, --machine NAME and --disk DIR are needed with --root: which "
                           "share it is, and the machine and folder that are to have it");
    }
    if (!share_machine_name_is_good(asked->machine)) {
        return status_fail(why, STATUS_MISUSE, "%.100s is no name of a machine", asked->machine);
    }
    return realpath(asked->disk, disk) != NULL && share_disk_is_good(disk)
               ? STATUS_OK
               : status_fail(why, STATUS_MISUSE, "cannot use the disk %.200s", asked->disk);
}

/* Its copy gets a name that no other has: of the claim that will say so, and never attempted. */
static enum status
find_place(struct share_return *back, const char *machine, const char *disk, struct reason *why)
{
    struct share_seen seen[SHARES_MOST];
    bool forgotten;
    TRY(share_forgotten_read(&back->files, back->share, &forgotten, why));
    if (forgotten) {
        return status_fail(why, STATUS_MISUSE, "share %zu was given up", back->share);
    }
    TRY(share_end_await(&back->files, &back->settings, back->share, true, stdout, why));
    TRY(share_claims_read(&back->files, back->settings.shares, seen, why));
    back->generation = seen[back->share].generation;
    snprintf(back->place.machine, sizeof back->place.machine, "%s", machine);
    snprintf(back->place.copy, sizeof back->place.copy, "%" PRIu64 "-0", back->generation + 1);
    share_disk_path(disk, back->share, back->place.copy, "", back->directory);
    return STATUS_OK;
}

enum status
share_return_begin(struct share_return *back, const struct share_return_asked *asked,
                   struct reason *why)
{
    char root[ROOT_PATH_SIZE], disk[PATH_MAX], unique[UNIQUE_SIZE];
    *back = (struct share_return){.generation = 0};
    TRY(check(asked, disk, why));
    TRY(cluster_root_open(asked->root, root, &back->settings, why));
    TRY(cluster_root_share(&back->settings, asked->share, &back->share, why));
    if (!back->settings.own_disks) {
        return status_fail(why, STATUS_MISUSE,
                           "the shares of this cluster lie in ROOT: restore to ROOT/shares/%zu",
                           back->share);
    }
    snprintf(unique, sizeof unique, "restore%d", (int)getpid());
    TRY(root_files_open(&back->files, root, unique, why));
    const enum status status = find_place(back, asked->machine, disk, why);
    if (status != STATUS_OK) {
        share_return_close(back);
    }
    return status;
}

enum status
share_return_end(struct share_return *back, struct reason *why)
{
    struct share_claim claim = {.freed = true, .place = back->place};
    char name[SHARE_PATH_SIZE];
    struct buf text;
    bool made;
    snprintf(claim.session, sizeof claim.session, "restore");
    share_claim_path(back->share, back->generation + 1, name);
    buf_init(&text, SHARE_TEXT_MAXIMUM);
    share_claim_put(&claim, &text);
    enum status status = back->files.make(back->files.context, name, buf_slice(&text), &made, why);
    buf_release(&text);
    if (status == STATUS_OK && !made) {
        status =
            status_fail(why, STATUS_AGAIN,
                        "somebody claimed share %zu meanwhile: nothing has changed, and %.200s "
                        "is of no use",
                        back->share, back->directory);
    }
    return status;
}

void
share_return_close(struct share_return *back)
{
    root_files_close(&back->files);
}
