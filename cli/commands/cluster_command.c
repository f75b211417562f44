/* quadrille cluster: many machines that share one crawl. */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/log.h"
#include "cli/cluster/cluster_root.h"
#include "cli/cluster/cluster_show.h"
#include "cli/cluster/helper_run.h"
#include "cli/cluster/machine_run.h"
#include "cli/cluster/share_forget.h"
#include "cli/shared/cli.h"

enum { WEIGHT_MOST = 1000, LEASE_LEAST_S = 1, LEASE_MOST_S = 3600 };

struct asked {
    const char *directory, *root, *shares, *machine, *address, *stages, *disk;
    int64_t weight, lease;
    bool json, undo, force, own_disks;
    struct flag_list assignments;
};

static enum status
initialise(const struct asked *asked, struct reason *why)
{
    char *end = NULL;
    const long shares = asked->shares != NULL ? strtol(asked->shares, &end, 10) : 0;
    if (asked->root == NULL) {
        return status_fail(why, STATUS_MISUSE, "--root ROOT is needed: the folder to be made");
    }
    if (end == NULL || *end != '\0' || shares < 1 || shares > SHARES_MOST) {
        return status_fail(why, STATUS_MISUSE, "--shares N is needed, from 1 to %d", SHARES_MOST);
    }
    if (asked->lease < LEASE_LEAST_S || asked->lease > LEASE_MOST_S) {
        return status_fail(why, STATUS_MISUSE, "--lease is from %d to %d seconds", LEASE_LEAST_S,
                           LEASE_MOST_S);
    }
    const struct share_settings settings = {.shares = (size_t)shares,
                                            .lease_ms = (uint32_t)asked->lease * 1000,
                                            .own_disks = asked->own_disks};
    TRY(cluster_root_make(asked->root, &settings, why));
    printf("%s is ready, with %ld shares; what holds for all of them stands in "
           "%s/quadrille.conf\n",
           asked->root, shares, asked->root);
    return STATUS_OK;
}

static enum status
help(const struct asked *asked, const char *root, const struct share_settings *settings,
     struct reason *why)
{
    const struct helper_run_settings helper = {.root = root,
                                               .cluster = *settings,
                                               .machine = asked->machine,
                                               .stages = asked->stages,
                                               .assignments = &asked->assignments};
    TRY(helper_stages_check(asked->stages, why));
    if (asked->shares != NULL) {
        return status_fail(why, STATUS_MISUSE,
                           "--stages is of a machine that runs no share, and helps all of them");
    }
    log_open("quadrille", LOG_LEVEL_INFO, false);
    return helper_run(&helper, why);
}

/* Its absolute path; empty: shares lie in ROOT. */
static enum status
find_disk(const struct asked *asked, const struct share_settings *settings,
          char disk[MACHINE_DISK_SIZE], struct reason *why)
{
    char real[PATH_MAX];
    disk[0] = '\0';
    if (settings->own_disks != (asked->disk != NULL)) {
        return status_fail(why, STATUS_MISUSE,
                           settings->own_disks
                               ? "--disk DIR is needed, where this machine keeps its shares, since "
                                 "the cluster was made with --own-disks"
                               : "--disk is for a cluster that was made with --own-disks; the "
                                 "shares of this one lie in ROOT");
    }
    if (asked->disk == NULL) {
        return STATUS_OK;
    }
    if (realpath(asked->disk, real) == NULL) {
        return status_fail_errno(why, "cannot use the disk %.200s", asked->disk);
    }
    if (!share_disk_is_good(real)) {
        return status_fail(why, STATUS_MISUSE,
                           "--disk is a path of %d bytes at most, without blanks and braces, not "
                           "%.200s",
                           MACHINE_DISK_SIZE - 1, real);
    }
    memcpy(disk, real, strlen(real) + 1);
    return STATUS_OK;
}

static enum status
run(const struct asked *asked, const char *root, const struct share_settings *settings,
    struct reason *why)
{
    bool only[SHARES_MOST];
    char disk[MACHINE_DISK_SIZE];
    if (asked->machine == NULL || !share_machine_name_is_good(asked->machine)) {
        return status_fail(why, STATUS_MISUSE,
                           "--machine NAME is needed, of letters, digits, '-' and '_'");
    }
    if (asked->stages != NULL) {
        return help(asked, root, settings, why);
    }
    if (asked->address == NULL || !share_address_is_good(asked->address)) {
        return status_fail(why, STATUS_MISUSE,
                           "--address HOST:PORT is needed, where other machines reach this one");
    }
    if (asked->weight < 1 || asked->weight > WEIGHT_MOST) {
        return status_fail(why, STATUS_MISUSE, "--weight is from 1 to %d", WEIGHT_MOST);
    }
    if (asked->shares != NULL && !share_list_parse(asked->shares, settings->shares, only)) {
        return status_fail(why, STATUS_MISUSE,
                           "--shares is a list of numbers from 0 to %zu, not %.100s",
                           settings->shares - 1, asked->shares);
    }
    TRY(find_disk(asked, settings, disk, why));
    const struct machine_run_settings machine = {.root = root,
                                                 .cluster = *settings,
                                                 .machine = asked->machine,
                                                 .address = asked->address,
                                                 .weight = (unsigned)asked->weight,
                                                 .only = asked->shares != NULL ? only : NULL,
                                                 .disk = disk[0] != '\0' ? disk : NULL,
                                                 .assignments = &asked->assignments};
    log_open("quadrille", LOG_LEVEL_INFO, false);
    return machine_run(&machine, why);
}

/* Asked of the node whose data directory it is; each node that waits for the other is to be told.
 */
static enum status
forget(struct asked *asked, const char *name, struct reason *why)
{
    const struct cli_common common = {.directory = asked->directory,
                                      .assignments = asked->assignments};
    struct cli cli = {0};
    struct queue_client *queue = NULL;
    uint64_t moved = 0, dropped = 0;
    enum status status = cli_open(&cli, &common, why);
    if (status == STATUS_OK) {
        status = cli_serve(&cli, "queue,metastore", why);
    }
    if (status == STATUS_OK) {
        status = cli_queue(&cli, &queue, why);
    }
    if (status == STATUS_OK) {
        status = queue_forget(queue, slice_string(name), &moved, &dropped, why);
    }
    if (status == STATUS_OK && moved + dropped == 0) {
        printf("what %s had sent, and this node has lost, is waited for no more\n", name);
    } else if (status == STATUS_OK) {
        printf("%" PRIu64 " jobs that waited for %s go elsewhere now, %" PRIu64 " were dropped\n",
               moved, name, dropped);
    }
    queue_client_close(queue);
    cli_close(&cli);
    return status;
}

static enum status
obey(struct asked *asked, char **operands, int n, struct reason *why)
{
    char root[ROOT_PATH_SIZE];
    struct share_settings settings;
    const char *action = n > 0 ? operands[0] : "";
    if (strcmp(action, "init") == 0 && n == 1) {
        return initialise(asked, why);
    }
    if (strcmp(action, "forget") == 0 && n == 2 && asked->root == NULL) {
        return forget(asked, operands[1], why);
    }
    const bool known =
        (n == 1 && (strcmp(action, "run") == 0 || strcmp(action, "status") == 0)) ||
        (n == 2 && (strcmp(action, "drain") == 0 || strcmp(action, "forget") == 0)) ||
        (n == 3 && strcmp(action, "move") == 0);
    if (!known) {
        return status_fail(why, STATUS_MISUSE,
                           "say init, run, status, drain MACHINE, move SHARE MACHINE, or forget "
                           "SHARE; see --help");
    }
    TRY(cluster_root_open(asked->root, root, &settings, why));
    if (strcmp(action, "run") == 0) {
        return run(asked, root, &settings, why);
    }
    if (strcmp(action, "status") == 0) {
        return cluster_show(root, &settings, asked->json, stdout, why);
    }
    if (strcmp(action, "forget") == 0) {
        return share_forget(root, &settings, operands[1], asked->force, stdout, why);
    }
    return strcmp(action, "drain") == 0
               ? cluster_root_drain(root, operands[1], !asked->undo, why)
               : cluster_root_move(root, &settings, operands[1], operands[2], why);
}

int
command_cluster(int argc, char **argv)
{
    struct asked asked = {.weight = 1, .lease = LEASE_USUAL_MS / 1000};
    const struct flag flags[] = {
        {"dir", 'd', FLAG_STRING, "DIR", &asked.directory,
         "forget: the data directory of the node that is to forget another."},
        {"root", 'r', FLAG_STRING, "ROOT", &asked.root,
         "The folder of the cluster, which every machine has mounted."},
        {"shares", 0, FLAG_STRING, "N", &asked.shares,
         "init: how many shares the crawl is divided into, for ever: 2 to 4 times as many as "
         "machines will ever share it. run: runs exactly these (3,4), where something else says "
         "which machine runs what."},
        {"lease", 0, FLAG_INTEGER, "SECONDS", &asked.lease,
         "init: how long a machine that cannot reach ROOT goes on, and how long others wait for it "
         "(50): longer than the file system makes others wait for a client that died, shorter than "
         "until it declares it dead; docs/CLUSTER_STORAGE.md."},
        {"own-disks", 0, FLAG_SWITCH, NULL, &asked.own_disks,
         "init: each share lies on the disk of one machine, and is copied when it moves; ROOT has "
         "but what is small. docs/CLUSTER_DISKS.md."},
        {"disk", 0, FLAG_STRING, "DIR", &asked.disk,
         "run: the folder on this machine's disk in which its shares lie, in a cluster that was "
         "made with --own-disks."},
        {"machine", 'm', FLAG_STRING, "NAME", &asked.machine, "run: which machine this is."},
        {"address", 'a', FLAG_STRING, "HOST:PORT", &asked.address,
         "run: where others reach it; share N has the 64 ports from PORT + 64 N on."},
        {"weight", 'w', FLAG_INTEGER, "W", &asked.weight,
         "run: how many shares it takes beside the others (1)."},
        {"stages", 0, FLAG_STRING, "LIST", &asked.stages,
         "run: of detect and transform; the machine runs no share and does these of all shares, "
         "wherever they run. It needs no --address."},
        {"set", 's', FLAG_REPEATED, "NAME=VALUE", &asked.assignments,
         "run: sets an option of all shares that run on this machine; @FILE: those of a file."},
        {"undo", 0, FLAG_SWITCH, NULL, &asked.undo, "drain: the machine takes shares again."},
        {"force", 0, FLAG_SWITCH, NULL, &asked.force,
         "forget: also a share that has an owner, or whose data are there; they are given up."},
        {"json", 'j', FLAG_SWITCH, NULL, &asked.json, "status: prints one JSON object."},
        {0},
    };
    const struct program program = {
        .name = "quadrille cluster",
        .synopsis =
            "[init | run | status | drain MACHINE | move SHARE MACHINE | forget SHARE] --root "
            "ROOT [OPTION]... | forget NODE --dir DIR",
        .summary = "run one crawl on many machines, by shares that move between them",
        .description =
            "A cluster is a folder ROOT that all machines have mounted, with a fixed number of "
            "shares, each a data directory. URIs and hosts belong to shares for ever; which "
            "machine runs a share changes. docs/CLUSTER.md is the guide.\n\n"
            "init makes ROOT. run, in the foreground on each machine, takes the shares that are "
            "its part and runs their processes; it takes over those of a machine that has fallen "
            "silent, hands some to one that comes, and all on SIGTERM. When it cannot renew its "
            "lease it ends all of its processes. With --stages it only helps. status shows "
            "machines, shares, how far these are "
            "behind, and "
            "moves under way. drain has a machine give all its shares away. move gives a share to "
            "a machine "
            "for as long as that one lives; to the machine \"any\": takes that back.\n\n"
            "forget SHARE gives up a share that is lost for good: no machine takes it any more, "
            "its "
            "URIs and hosts belong to the others, and what waits for it goes to them, with counts. "
            "What only that share had is lost. It is refused while the share has an owner or its "
            "data, unless --force says so.\n\n"
            "forget NODE --dir DIR has the node of a data directory wait no more for one that is "
            "gone for good: "
            "what is to go to it goes to those that have its part by the present cluster.conf, "
            "which must not name it; or, when this node has lost its own data, takes what NODE "
            "sends although what came before is missing.\n\n"
            "crawl, add, scope, status, query, search, dump, verify, explain, meta and report take "
            "--dir ROOT, on any machine.",
        .examples = "quadrille cluster init --root ROOT --shares 12\n"
                    "quadrille cluster run --root ROOT --machine alpha --address 10.0.0.1:7000\n"
                    "quadrille cluster run --root ROOT --machine beta --stages transform --set "
                    "processes.transform=4\n"
                    "quadrille cluster status --root ROOT\n"
                    "quadrille cluster forget --root ROOT 7\n"
                    "quadrille cluster forget --dir DIR gamma\n"
                    "quadrille crawl --dir ROOT https://example.org/",
        .flags = flags,
    };
    struct reason why = {""};
    char **operands;
    int n;
    enum status status = program_parse(&program, argc, argv, &operands, &n, &why);
    if (status == STATUS_OK) {
        status = obey(&asked, operands, n, &why);
    }
    return cli_end(&program, status, &why);
}
