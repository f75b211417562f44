/* quadrille backup, restore, compact: what keeps an index alive and small. docs/BACKUP.md. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/file.h"
#include "cli/backup/directory_backup.h"
#include "cli/backup/directory_restore.h"
#include "cli/cluster/cluster_root.h"
#include "cli/cluster/share_return.h"
#include "cli/shared/cli.h"
#include "index/maintenance/backup.h"
#include "stages/skeleton/services.h"

enum { PATH_SIZE = BACKUP_PATH_SIZE };
static const char manifest_head[] = "quadrille backup 1";
static const char unfinished[] = ".partial";

/* Beside the data: the settings that they depend on. */
static const char *const settings[] = {"quadrille.conf", "fixed.conf"};

/* This node's partitions, which is what a backup is of. */
static enum status
own_index(struct cli *cli, struct index_client **index, struct reason *why)
{
    struct cluster_services services;
    TRY(services_own_indexes(cli->directory, cli->options, &services, why));
    const struct index_client_options options = {
        .endpoints = services.endpoints, .count = services.count, .name = "cli"};
    const enum status status = index_client_open(index, &options, why);
    cluster_services_release(&services);
    return status;
}

static enum status
open_own(struct cli *cli, const struct cli_common *common, bool reads, struct index_client **index,
         struct reason *why)
{
    TRY((reads ? cli_open_reading : cli_open)(cli, common, why));
    TRY(cli_serve(cli, "index", why));
    return cluster_is_client(cli->cluster) ? cli_index(cli, index, why)
                                           : own_index(cli, index, why);
}

static void
close_own(struct cli *cli, struct index_client *index)
{
    index_client_close(index);
    cli_close(cli);
}

/* ---- paths ---- */

/* Without slashes at its end. */
static enum status
clean_path(const char *text, char path[PATH_SIZE], struct reason *why)
{
    size_t length = strlen(text);
    while (length > 1 && text[length - 1] == '/') {
        length--;
    }
    if (length == 0 || length + sizeof(unfinished) + 64 > PATH_SIZE) {
        return status_fail(why, STATUS_MISUSE, "%.200s is no usable path", text);
    }
    snprintf(path, PATH_SIZE, "%.*s", (int)length, text);
    return STATUS_OK;
}

static enum status
join_path(char path[PATH_SIZE], const char *folder, const char *name, struct reason *why)
{
    const int n = snprintf(path, PATH_SIZE, "%s/%s", folder, name);
    return n > 0 && n < PATH_SIZE
               ? STATUS_OK
               : status_fail(why, STATUS_MISUSE, "%.200s is too long a path", folder);
}

static enum status
make_folder(const char *path, struct reason *why)
{
    if (mkdir(path, 0700) == 0) {
        return STATUS_OK;
    }
    if (errno == EEXIST) {
        return status_fail(why, STATUS_MISUSE,
                           "%s is there already; if it is what an earlier run left unfinished, "
                           "remove it",
                           path);
    }
    return status_fail_errno(why, "cannot make %s", path);
}

/* The name that a whole result gets; rename makes it so at once, when the names in it are safe. */
static enum status
finish_folder(const char *partial, const char *path, struct reason *why)
{
    return file_rename(partial, path) == 0
               ? STATUS_OK
               : status_fail_errno(why, "cannot rename %s to %s", partial, path);
}

/* ---- backup ---- */

/* partition: the client's number of it; number: the one that it has in its data directory. */
static enum status
back_up_partition(struct index_client *index, size_t partition, size_t number, const char *folder,
                  FILE *manifest, uint64_t *bytes, struct reason *why)
{
    char path[PATH_SIZE];
    char name[32];
    snprintf(name, sizeof name, "index-%zu", number);
    TRY(join_path(path, folder, name, why));
    uint64_t more = 0;
    struct backup_receiver *receiver = backup_receiver_new(path, name, manifest);
    enum status status = index_backup(index, partition, backup_receive, receiver, why);
    if (status == STATUS_OK) {
        status = backup_receiver_end(receiver, &more, why);
    }
    backup_receiver_free(receiver);
    *bytes += more;
    return status;
}

static enum status
back_up_settings(const char *directory, const char *folder, FILE *manifest, struct reason *why)
{
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        char from[PATH_SIZE], to[PATH_SIZE];
        uint64_t bytes;
        TRY(join_path(from, directory, settings[i], why));
        TRY(join_path(to, folder, settings[i], why));
        if (access(from, F_OK) == 0) {
            TRY(backup_copy_file(from, to, settings[i], manifest, NULL, &bytes, why));
        }
    }
    return STATUS_OK;
}

/* One data directory's partitions, count of them from the client's `first` on. */
static enum status
back_up_into(const char *directory, struct index_client *index, size_t first, size_t count,
             const char *folder, uint64_t *bytes, struct reason *why)
{
    char path[PATH_SIZE];
    TRY(join_path(path, folder, "MANIFEST", why));
    FILE *manifest = fopen(path, "wxe");
    if (manifest == NULL) {
        return status_fail_errno(why, "cannot make %s", path);
    }
    fprintf(manifest, "%s\t%zu\n", manifest_head, count);
    enum status status = back_up_settings(directory, folder, manifest, why);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = back_up_partition(index, first + i, i, folder, manifest, bytes, why);
    }
    const bool written = fflush(manifest) == 0 && fsync(fileno(manifest)) == 0;
    if ((fclose(manifest) != 0 || !written) && status == STATUS_OK) {
        status = status_fail_errno(why, "cannot write %s", path);
    }
    return status;
}

/* Backs up each share of a cluster by itself, to TARGET/share-N. */
static enum status
back_up_all(const struct cli *cli, struct index_client *index, const char *folder, uint64_t *bytes,
            struct reason *why)
{
    const size_t partitions = index_client_partitions(index);
    const size_t places = cli_scope_places(cli);
    if (!cluster_is_client(cli->cluster)) {
        return back_up_into(cli->directory, index, 0, partitions, folder, bytes, why);
    }
    for (size_t i = 0; i < places; i++) {
        char place[CLI_PLACE_SIZE], name[32], path[PATH_SIZE];
        cli_scope_place(cli, i, place);
        snprintf(name, sizeof name, "share-%zu", cli_share_number(cli, i));
        TRY(join_path(path, folder, name, why));
        TRY(make_folder(path, why));
        TRY(back_up_into(place, index, i * (partitions / places), partitions / places, path, bytes,
                         why));
    }
    return STATUS_OK;
}

/* ---- backup of everything ---- */

static enum status
set_place(struct backup_place *place, const char *from, const char *name, const char *since,
          struct reason *why)
{
    snprintf(place->from, sizeof place->from, "%s", from);
    snprintf(place->name, sizeof place->name, "%s", name);
    place->earlier[0] = '\0';
    if (since == NULL) {
        return STATUS_OK;
    }
    return name[0] != '\0' ? join_path(place->earlier, since, name, why)
                           : clean_path(since, place->earlier, why);
}

/* No machine sees the disks of all. */
static enum status
check_in_root(const char *directory, struct reason *why)
{
    char root[ROOT_PATH_SIZE];
    struct share_settings cluster;
    TRY(cluster_root_open(directory, root, &cluster, why));
    return cluster.own_disks
               ? status_fail(why, STATUS_MISUSE,
                             "the shares lie on the disks of the machines: on each of them run "
                             "`quadrille backup --whole --dir DISK/N.COPY TARGET` for its shares; "
                             "`quadrille cluster status` says which")
               : STATUS_OK;
}

/* Copies ROOT of a cluster last: its settings are those that its shares were stopped with. */
static enum status
copy_directories(const struct cli *cli, const char *since, const char *folder, struct reason *why)
{
    const bool cluster = cluster_is_client(cli->cluster);
    const size_t shares = cluster ? cli_scope_places(cli) : 0;
    if (cluster) {
        TRY(check_in_root(cli->directory, why));
    }
    struct backup_place *places = memory_zero(shares + 1, sizeof *places);
    struct backup_copied copied = {0};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < shares && status == STATUS_OK; i++) {
        char from[CLI_PLACE_SIZE], name[32];
        cli_scope_place(cli, i, from);
        snprintf(name, sizeof name, "share-%zu", cli_share_number(cli, i));
        status = set_place(&places[i], from, name, since, why);
    }
    if (status == STATUS_OK) {
        status =
            set_place(&places[shares], cli->directory, cluster ? BACKUP_OF_ROOT : "", since, why);
    }
    if (status == STATUS_OK) {
        status = directory_backup(places, shares + 1, shares, folder, &copied, why);
    }
    free(places);
    if (status == STATUS_OK) {
        printf("%" PRIu64 " files, %" PRIu64 " bytes, of which %" PRIu64
               " are in files of the earlier backup; at rest for %.1f s\n",
               copied.files, copied.bytes, copied.shared, (double)copied.rest_ms / 1000);
    }
    return status;
}

/* ---- the command ---- */

struct backup_asked {
    bool whole;
    const char *since; /* NULL: no earlier backup */
};

static enum status
open_for(struct cli *cli, const struct cli_common *common, const struct backup_asked *asked,
         struct index_client **index, struct reason *why)
{
    return asked->whole ? cli_open(cli, common, why) : open_own(cli, common, true, index, why);
}

static enum status
back_up_asked(const struct cli *cli, const struct backup_asked *asked, struct index_client *index,
              const char *folder, struct reason *why)
{
    uint64_t bytes = 0;
    if (asked->whole) {
        return copy_directories(cli, asked->since, folder, why);
    }
    TRY(back_up_all(cli, index, folder, &bytes, why));
    printf("%zu partitions, %" PRIu64 " bytes\n", index_client_partitions(index), bytes);
    return STATUS_OK;
}

static enum status
back_up(const struct cli_common *common, const struct backup_asked *asked, const char *target,
        struct reason *why)
{
    char path[PATH_SIZE], partial[PATH_SIZE + sizeof unfinished];
    struct cli cli = {0};
    struct index_client *index = NULL;
    TRY(clean_path(target, path, why));
    snprintf(partial, sizeof partial, "%s%s", path, unfinished);
    if (access(path, F_OK) == 0) {
        return status_fail(why, STATUS_MISUSE, "%s is there already", path);
    }
    if (asked->since != NULL && (!asked->whole || access(asked->since, F_OK) != 0)) {
        return status_fail(why, STATUS_MISUSE,
                           "--since names an earlier backup of --whole; there is none at %s",
                           asked->since);
    }
    enum status status = open_for(&cli, common, asked, &index, why);
    if (status == STATUS_OK) {
        status = make_folder(partial, why);
    }
    if (status == STATUS_OK) {
        printf("%s: ", path);
        status = back_up_asked(&cli, asked, index, partial, why);
    }
    if (status == STATUS_OK) {
        status = finish_folder(partial, path, why);
    }
    close_own(&cli, index);
    return status;
}

int
command_backup(int argc, char **argv)
{
    struct cli_common common = {.takes_root = true};
    struct backup_asked asked = {0};
    const struct flag flags[] = {
        CLI_COMMON_FLAGS(common),
        {"whole", 'w', FLAG_SWITCH, NULL, &asked.whole,
         "Copies all that a crawl needs to go on: queue, metadata store, archive, index, scope and "
         "settings, as of one moment, for which processes end and after which they start again."},
        {"since", 0, FLAG_STRING, "EARLIER", &asked.since,
         "With --whole: files that an earlier backup has just so are linked, not copied."},
        {0},
    };
    const struct program program = {
        .name = "quadrille backup",
        .synopsis = "[--whole [--since EARLIER]] --dir DIR TARGET",
        .summary = "copy the index while it is in use, or all of a directory",
        .description =
            "Makes the folder TARGET with a consistent copy of this node's index partitions and "
            "with DIR's settings: for each partition the state after one commit during the copy. "
            "Batches and queries go on meanwhile. TARGET gets its name when all is on the disk; "
            "TARGET.partial is what did not come to an end. Of a cluster's ROOT each share becomes "
            "a backup by itself, TARGET/share-N.\n\n"
            "Queue, metadata store and archive (DIR/warc) are in it with --whole only. Then the "
            "processes of DIR, or of all shares of ROOT, end for as long as the copying of what "
            "has "
            "changed takes, wherever they run, and start again; the archive is copied before.",
        .examples = "quadrille backup --dir DIR saved\n"
                    "quadrille backup --whole --dir DIR monday\n"
                    "quadrille backup --whole --since monday --dir DIR tuesday",
        .flags = flags,
    };
    struct reason why = {""};
    char *operand;
    enum status status =
        program_parse_one(&program, argc, argv, "one TARGET is needed; see --help", &operand, &why);
    if (status == STATUS_OK) {
        status = cli_check_directory(common.directory, &why);
    }
    if (status == STATUS_OK) {
        status = back_up(&common, &asked, operand, &why);
    }
    return cli_end(&program, status, &why);
}

/* ---- restore ---- */

static bool
is_empty_or_missing(const char *path)
{
    DIR *folder = opendir(path);
    if (folder == NULL) {
        return errno == ENOENT;
    }
    const struct dirent *entry;
    bool empty = true;
    while (empty && (entry = readdir(folder)) != NULL) {
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    }
    closedir(folder);
    return empty;
}

/* Starts what was restored, which recovers it, and checks it. */
static enum status
check_restored(const struct cli_common *common, const char *folder, int64_t partitions,
               struct reason *why)
{
    struct cli cli = {0};
    struct index_client *index = NULL;
    struct cli_common there = *common;
    there.directory = folder;
    enum status status = cli_open(&cli, &there, why);
    if (status == STATUS_OK && opt_integer(cli.options, "index.partitions") != partitions) {
        status = status_fail(why, STATUS_MISUSE,
                             "the backup has %" PRId64 " partitions; give --set "
                             "index.partitions=%" PRId64,
                             partitions, partitions);
    }
    if (status == STATUS_OK) {
        status = cli_serve(&cli, "index", why);
    }
    if (status == STATUS_OK) {
        status = own_index(&cli, &index, why);
    }
    if (status == STATUS_OK) {
        status = index_verify(index, cli_print_piece, stdout, why);
    }
    close_own(&cli, index);
    return status;
}

/* One data directory, checked; its folder is there. */
static enum status
restore_directory(const struct cli_common *common, const char *source, const char *folder,
                  struct restored *restored, struct reason *why)
{
    TRY(directory_restore(source, folder, restored, why));
    if (restored->kind == BACKUP_OF_CLUSTER) {
        return status_fail(why, STATUS_CORRUPT, "%s is not the backup of a data directory", source);
    }
    if (restored->count > 0) {
        TRY(check_restored(common, folder, restored->count, why));
    }
    return directory_restore_end(folder, why);
}

/* A share that was forgotten has no folder in the backup. */
static enum status
restore_cluster(const struct cli_common *common, const char *source, const char *folder,
                struct reason *why)
{
    char from[PATH_SIZE], to[PATH_SIZE], name[64];
    struct restored root, share;
    TRY(join_path(from, source, BACKUP_OF_ROOT, why));
    TRY(directory_restore(from, folder, &root, why));
    TRY(directory_restore_end(folder, why));
    if (root.kind != BACKUP_OF_CLUSTER || root.count < 1 || root.count > SHARES_MOST) {
        return status_fail(why, STATUS_CORRUPT, "%s is not the backup of a cluster", from);
    }
    struct share_settings cluster;
    char real[ROOT_PATH_SIZE];
    TRY(cluster_root_open(folder, real, &cluster, why));
    TRY(cluster_root_make_folders(folder, cluster.shares, why));
    int64_t found = 0;
    for (size_t i = 0; i < cluster.shares; i++) {
        snprintf(name, sizeof name, "share-%zu", i);
        TRY(join_path(from, source, name, why));
        snprintf(name, sizeof name, "shares/%zu", i);
        TRY(join_path(to, folder, name, why));
        if (access(from, F_OK) == 0) {
            TRY(restore_directory(common, from, to, &share, why));
            found++;
        }
    }
    return found == root.count
               ? STATUS_OK
               : status_fail(why, STATUS_CORRUPT, "%s has %" PRId64 " shares of %" PRId64, source,
                             found, root.count);
}

/* Marks a node that was restored alone among several: it is older than what the others know of
 * it. */
static enum status
mark_older(const char *folder, const struct restored *restored, struct reason *why)
{
    char path[PATH_SIZE];
    bool made;
    TRY(join_path(path, folder, "cluster.conf", why));
    if (restored->kind != BACKUP_OF_DIRECTORY || access(path, F_OK) != 0) {
        return STATUS_OK;
    }
    TRY(join_path(path, folder, "queue", why));
    if (access(path, F_OK) != 0) {
        return STATUS_OK;
    }
    TRY(join_path(path, folder, "queue/" QUEUE_RESTORED, why));
    return file_make(path, SLICE("older than what other nodes know\n"), 0600, &made, why);
}

static enum status
restore(const struct cli_common *common, const char *from, bool moved, struct reason *why)
{
    char path[PATH_SIZE], source[PATH_SIZE], manifest[PATH_SIZE], root[PATH_SIZE],
        partial[PATH_SIZE + sizeof unfinished];
    struct restored restored;
    if (common->directory == NULL) {
        return status_fail(why, STATUS_MISUSE, "--dir DIR is needed: the folder to be made");
    }
    TRY(clean_path(common->directory, path, why));
    TRY(clean_path(from, source, why));
    snprintf(partial, sizeof partial, "%s%s", path, unfinished);
    if (!is_empty_or_missing(path)) {
        return status_fail(why, STATUS_MISUSE, "%s is not empty", path);
    }
    if (access(source, F_OK) != 0) {
        return status_fail_errno(why, "cannot read %s", source);
    }
    TRY(join_path(manifest, source, "MANIFEST", why));
    TRY(join_path(root, source, BACKUP_OF_ROOT "/MANIFEST", why));
    const bool cluster = access(root, R_OK) == 0;
    if (!cluster && access(manifest, R_OK) != 0) { /* before anything is made */
        return status_fail(why, STATUS_MISUSE, "%s is no backup: cannot read its MANIFEST", source);
    }
    TRY(make_folder(partial, why));
    TRY(cluster ? restore_cluster(common, source, partial, why)
                : restore_directory(common, source, partial, &restored, why));
    if (!cluster && !moved) {
        TRY(mark_older(partial, &restored, why));
    }
    return finish_folder(partial, path, why);
}

/* Onto the disk of a machine of a cluster. */
static enum status
restore_share(const struct share_return_asked *asked, const struct cli_common *common,
              const char *source, bool moved, struct reason *why)
{
    struct share_return back;
    struct cli_common there = *common;
    if (common->directory != NULL) {
        return status_fail(why, STATUS_MISUSE,
                           "--dir is not for --root: the folder is named for "
                           "the share and its copy");
    }
    TRY(share_return_begin(&back, asked, why));
    there.directory = back.directory;
    enum status status = restore(&there, source, moved, why);
    if (status == STATUS_OK) {
        status = share_return_end(&back, why);
    }
    if (status == STATUS_OK) {
        printf("share %zu lies in %s from now on, on the disk of %s\n", back.share, back.directory,
               back.place.machine);
    }
    share_return_close(&back);
    return status;
}

int
command_restore(int argc, char **argv)
{
    struct cli_common common = {0};
    struct share_return_asked asked = {NULL, NULL, NULL, NULL};
    bool moved = false;
    const struct flag flags[] = {
        CLI_COMMON_FLAGS(common),
        {"moved", 'm', FLAG_SWITCH, NULL, &moved,
         "Of one share or node: it has not run since the backup was made, so that others know of "
         "it just what it knows itself."},
        {"root", 'r', FLAG_STRING, "ROOT", &asked.root,
         "Instead of --dir, where shares lie on the disks of machines: the cluster of the share "
         "that is restored, whose disk was lost. With --share, --machine and --disk, on that "
         "machine."},
        {"share", 0, FLAG_STRING, "N", &asked.share, "The share that SOURCE is a backup of."},
        {"machine", 0, FLAG_STRING, "NAME", &asked.machine, "The machine that is to have it."},
        {"disk", 0, FLAG_STRING, "DIR", &asked.disk, "That machine's --disk of cluster run."},
        {0},
    };
    const struct program program = {
        .name = "quadrille restore",
        .synopsis = "[--moved] --dir DIR SOURCE | [--moved] --root ROOT --share N --machine NAME "
                    "--disk DIR SOURCE",
        .summary = "make a data directory from a backup",
        .description =
            "Copies the backup SOURCE into DIR, which must be empty or missing, compares each "
            "file with its checksum, recovers the index and verifies it as `quadrille verify` "
            "does. DIR gets its name when all is well; DIR.partial is what did not come to an "
            "end.\n\n"
            "What is restored answers queries. A crawl goes on in it from where the backup was "
            "made "
            "with `backup --whole`; else it begins with an empty queue. From such a backup of a "
            "cluster DIR becomes its ROOT; one share of it, SOURCE/share-N, takes its place again "
            "as "
            "ROOT/shares/N, or, with --root, on the disk of a machine. What the share had "
            "elsewhere "
            "is never run again.",
        .examples = "quadrille restore --dir restored saved\n"
                    "quadrille restore --root ROOT --share 7 --machine beta --disk /data saved",
        .flags = flags,
    };
    struct reason why = {""};
    char *operand;
    enum status status = program_parse_one(
        &program, argc, argv, "one SOURCE is needed, and --dir; see --help", &operand, &why);
    if (status == STATUS_OK) {
        status = asked.root != NULL ? restore_share(&asked, &common, operand, moved, &why)
                                    : restore(&common, operand, moved, &why);
    }
    return cli_end(&program, status, &why);
}

/* ---- compact ---- */

int
command_compact(int argc, char **argv)
{
    struct cli_common common = {0};
    struct cli cli = {0};
    struct index_client *index = NULL;
    const struct flag flags[] = {CLI_COMMON_FLAGS(common), {0}};
    const struct program program = {
        .name = "quadrille compact",
        .synopsis = "--dir DIR",
        .summary = "give space back after many replacements",
        .description =
            "Merges thinly filled blocks and pages of this node's index partitions, returns free "
            "pages to the file system, and removes log files, and prints "
            "the bytes of each file before and after. Batches and queries go on between the "
            "steps; it may be stopped at any time. Terms that are used no more stay.",
        .examples = "quadrille compact --dir DIR",
        .flags = flags,
    };
    struct reason why = {""};
    enum status status = cli_parse(&program, argc, argv, &why);
    if (status == STATUS_OK) {
        status = open_own(&cli, &common, false, &index, &why);
    }
    if (status == STATUS_OK) {
        status = index_compact(index, cli_print_piece, stdout, &why);
    }
    close_own(&cli, index);
    return cli_end(&program, status, &why);
}
