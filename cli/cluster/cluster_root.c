#include "cli/cluster/cluster_root.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/rpc/rpc.h"
#include "base/system/file.h"
#include "cli/cluster/disks/share_nodes.h"
#include "cli/shared/cli.h"

enum { NAME_SIZE = 320 };

/* ---- making one ---- */

/* The daemons of a share listen at its first port plus these. */
enum { PORT_QUEUE = 1, PORT_METASTORE, PORT_INDEX };

/* prefix: of paths that lead from the reading directory to ROOT. */
static void
put_nodes(struct buf *text, size_t shares, const char *prefix, const char *public_key)
{
    for (size_t i = 0; i < shares; i++) {
        buf_printf(text,
                   "node share-%zu queue=at://%saddresses/%zu:%d metastore=at://%saddresses/%zu:%d "
                   "index=at://%saddresses/%zu:%d\n",
                   i, prefix, i, PORT_QUEUE, prefix, i, PORT_METASTORE, prefix, i, PORT_INDEX);
    }
    buf_printf(text, "curve public=%s secret_file=%scurve.secret\n", public_key, prefix);
}

enum status
cluster_root_make_folders(const char *root, size_t shares, struct reason *why)
{
    static const char *const folders[] = {"machines",  "claims",   "addresses", "moves",
                                          "drains",    "shares",   "tmp",       "log",
                                          "forgotten", "handovers"};
    TRY(file_make_folder(root, 0700, why));
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        char path[ROOT_PATH_SIZE + NAME_SIZE];
        snprintf(path, sizeof path, "%s/%s", root, folders[i]);
        TRY(file_make_folder(path, 0700, why));
    }
    for (size_t i = 0; i < shares; i++) {
        char path[ROOT_PATH_SIZE + NAME_SIZE];
        snprintf(path, sizeof path, "%s/shares/%zu", root, i);
        TRY(file_make_folder(path, 0700, why));
    }
    return STATUS_OK;
}

static enum status
make_share(const struct share_files *files, size_t share, size_t shares, const char *public_key,
           struct reason *why)
{
    char name[NAME_SIZE];
    struct buf text;
    buf_init(&text, 1 << 20);
    put_nodes(&text, shares, SHARE_NODES_PREFIX, public_key);
    snprintf(name, sizeof name, "shares/%zu/cluster.conf", share);
    enum status status = files->replace(files->context, name, buf_slice(&text), why);
    buf_reset(&text);
    buf_printf(&text,
               "# What holds for the whole cluster stands in ROOT/quadrille.conf.\n"
               "cluster.node = share-%zu\n",
               share);
    snprintf(name, sizeof name, "shares/%zu/quadrille.conf", share);
    if (status == STATUS_OK) {
        status = files->replace(files->context, name, buf_slice(&text), why);
    }
    buf_release(&text);
    return status;
}

/* "cluster" comes last: without it there is no cluster, and what is there is made anew. */
static enum status
make_files(const struct share_files *files, const char *root, const struct share_settings *settings,
           struct reason *why)
{
    char public_key[RPC_KEY_SIZE], secret_key[RPC_KEY_SIZE + 1];
    struct buf text;
    bool made;
    TRY(rpc_keys_make(public_key, secret_key, why));
    strcat(secret_key, "\n");
    TRY(files->replace(files->context, "curve.secret", slice_string(secret_key), why));
    for (size_t i = 0; i < settings->shares; i++) {
        TRY(make_share(files, i, settings->shares, public_key, why));
    }
    buf_init(&text, 1 << 20);
    buf_append_string(&text, "client\n");
    put_nodes(&text, settings->shares, "", public_key);
    enum status status = files->replace(files->context, "cluster.conf", buf_slice(&text), why);
    if (status == STATUS_OK) {
        status =
            cli_make_directory(root, why); /* quadrille.conf, of which all shares take theirs */
    }
    buf_reset(&text);
    share_settings_put(settings, &text);
    if (status == STATUS_OK) {
        status = files->make(files->context, "cluster", buf_slice(&text), &made, why);
    }
    if (status == STATUS_OK && !made) {
        status = status_fail(why, STATUS_MISUSE, "%s is a cluster's already", root);
    }
    buf_release(&text);
    return status;
}

enum status
cluster_root_make(const char *root, const struct share_settings *settings, struct reason *why)
{
    char path[ROOT_PATH_SIZE + NAME_SIZE];
    struct share_files files;
    snprintf(path, sizeof path, "%s/cluster", root);
    if (access(path, F_OK) == 0) {
        return status_fail(why, STATUS_MISUSE, "%s is a cluster's already", root);
    }
    TRY(cluster_root_make_folders(root, settings->shares, why));
    TRY(root_files_open(&files, root, "init", why));
    const enum status status = make_files(&files, root, settings, why);
    root_files_close(&files);
    return status;
}

enum status
cluster_root_open(const char *text, char root[ROOT_PATH_SIZE], struct share_settings *settings,
                  struct reason *why)
{
    char real[PATH_MAX], path[PATH_MAX + NAME_SIZE];
    struct buf read;
    if (text == NULL) {
        return status_fail(why, STATUS_MISUSE, "--root ROOT is needed: the folder of the cluster");
    }
    if (realpath(text, real) == NULL || strlen(real) >= ROOT_PATH_SIZE) {
        return status_fail_errno(why, "cannot use %.200s", text);
    }
    memcpy(root, real, strlen(real) + 1);
    snprintf(path, sizeof path, "%s/cluster", root);
    buf_init(&read, SHARE_TEXT_MAXIMUM);
    enum status status = file_read(path, &read, why);
    if (status == STATUS_OK) {
        status = share_settings_parse(buf_slice(&read), settings, why);
    }
    buf_release(&read);
    return status == STATUS_NOT_FOUND
               ? status_fail(why, STATUS_MISUSE,
                             "%.200s is no cluster's; `quadrille cluster init` makes one", text)
               : status;
}

/* ---- what people ask of it ---- */

static enum status
put_or_remove(const char *root, const char *name, const char *text, struct reason *why)
{
    struct share_files files;
    char unique[32];
    snprintf(unique, sizeof unique, "order%d", (int)getpid());
    TRY(root_files_open(&files, root, unique, why));
    const enum status status = text != NULL
                                   ? files.replace(files.context, name, slice_string(text), why)
                                   : files.remove(files.context, name, why);
    root_files_close(&files);
    return status;
}

static enum status
check_machine(const char *machine, struct reason *why)
{
    return share_machine_name_is_good(machine)
               ? STATUS_OK
               : status_fail(why, STATUS_MISUSE,
                             "a machine's name has letters, digits, '-' and '_', not %.100s",
                             machine);
}

enum status
cluster_root_drain(const char *root, const char *machine, bool drain, struct reason *why)
{
    char name[NAME_SIZE];
    TRY(check_machine(machine, why));
    snprintf(name, sizeof name, "drains/%s", machine);
    return put_or_remove(root, name, drain ? "\n" : NULL, why);
}

enum status
cluster_root_share(const struct share_settings *settings, const char *text, size_t *share,
                   struct reason *why)
{
    bool one[SHARES_MOST];
    if (strchr(text, ',') != NULL || !share_list_parse(text, settings->shares, one)) {
        return status_fail(why, STATUS_MISUSE, "shares are 0 to %zu, not %.100s",
                           settings->shares - 1, text);
    }
    *share = strtoul(text, NULL, 10);
    return STATUS_OK;
}

enum status
cluster_root_move(const char *root, const struct share_settings *settings, const char *share,
                  const char *machine, struct reason *why)
{
    size_t number;
    char name[NAME_SIZE];
    TRY(check_machine(machine, why));
    TRY(cluster_root_share(settings, share, &number, why));
    snprintf(name, sizeof name, "moves/%zu", number);
    return put_or_remove(root, name, strcmp(machine, "any") == 0 ? NULL : machine, why);
}
