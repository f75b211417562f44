#include "cli/cluster/cluster_root.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/memory.h"
#include "base/rpc/rpc.h"
#include "base/system/clock.h"
#include "base/system/file.h"
#include "cli/cluster/share_lag.h"
#include "cli/shared/cli.h"
#include "shares/share_claims.h"
#include "shares/share_owner.h"

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
    static const char *const folders[] = {"machines", "claims", "addresses", "moves",    "drains",
                                          "shares",   "tmp",    "log",       "forgotten"};
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
    put_nodes(&text, shares, "../../", public_key);
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

/* ---- showing it ---- */

struct shown_session {
    struct share_session session;
    double silent_s; /* since its latest beat, by the file system's clocks */
    bool draining;
    size_t shares;
};

struct shown {
    const struct share_files *files;
    const char *root;
    const struct share_settings *settings;
    struct shown_session *sessions;
    size_t session_count;
    struct buf *texts; /* of the sessions */
    struct share_seen shares[SHARES_MOST];
    char moved_to[SHARES_MOST][MACHINE_NAME_SIZE];
    bool forgotten[SHARES_MOST];
    struct share_lag lags[SHARES_MOST];
};

static void
take_session(void *context, const char *name)
{
    struct shown *shown = context;
    char path[NAME_SIZE], whole[ROOT_PATH_SIZE + NAME_SIZE];
    struct stat info;
    struct reason why;
    struct buf text;
    if (shown->session_count == SESSIONS_MOST || strlen(name) >= SESSION_NAME_SIZE) {
        return;
    }
    snprintf(path, sizeof path, "machines/%s", name);
    snprintf(whole, sizeof whole, "%s/%s", shown->root, path);
    struct shown_session *session = &shown->sessions[shown->session_count];
    buf_init(&text, SHARE_TEXT_MAXIMUM);
    if (shown->files->read(shown->files->context, path, &text, &why) == STATUS_OK &&
        share_session_parse(buf_slice(&text), &session->session) && stat(whole, &info) == 0) {
        const double now = (double)clock_wall_ms() / 1000;
        const double beat = (double)info.st_mtim.tv_sec + (double)info.st_mtim.tv_nsec / 1e9;
        session->silent_s = now > beat ? now - beat : 0;
        snprintf(whole, sizeof whole, "%s/drains/%s", shown->root, session->session.machine);
        session->draining = access(whole, F_OK) == 0;
        shown->texts[shown->session_count++] = text;
        return;
    }
    buf_release(&text);
}

static int
session_number(const struct shown *shown, const char *name)
{
    for (size_t i = 0; i < shown->session_count; i++) {
        if (strcmp(shown->sessions[i].session.session, name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static bool
is_silent(const struct shown *shown, const struct shown_session *session)
{
    return session->silent_s * 1000 > (double)share_patience_ms(shown->settings);
}

static enum status
take_all(struct shown *shown, struct reason *why)
{
    const struct share_files *files = shown->files;
    TRY(files->list(files->context, "machines", take_session, shown, why));
    TRY(share_claims_read(files, shown->settings->shares, shown->shares, why));
    for (size_t i = 0; i < shown->settings->shares; i++) {
        struct reason none;
        const int owner = session_number(shown, shown->shares[i].session);
        if (owner >= 0) {
            shown->sessions[owner].shares++;
        }
        (void)share_move_read(files, i, shown->moved_to[i], &none);
        (void)share_forgotten_read(files, i, &shown->forgotten[i], &none);
    }
    return STATUS_OK;
}

/* Machine and state of a share; both may be "". */
static void
describe(const struct shown *shown, size_t share, const char **machine, char state[SHARE_TOLD_SIZE])
{
    const struct share_seen *seen = &shown->shares[share];
    const int owner = session_number(shown, seen->session);
    *machine = owner >= 0 ? shown->sessions[owner].session.machine : "";
    if (seen->session[0] == '\0') {
        snprintf(state, SHARE_TOLD_SIZE, shown->forgotten[share] ? "forgotten" : "free");
    } else if (owner < 0 || is_silent(shown, &shown->sessions[owner])) {
        snprintf(state, SHARE_TOLD_SIZE, "its owner is silent");
    } else {
        share_session_told(buf_slice(&shown->texts[owner]), share, state);
        if (state[0] == '\0') {
            snprintf(state, SHARE_TOLD_SIZE, "claimed");
        }
    }
}

/* Only of shares that run: nobody waits for answers of the others. */
static enum status
take_lags(struct shown *shown, struct reason *why)
{
    bool run[SHARES_MOST] = {0};
    for (size_t i = 0; i < shown->settings->shares; i++) {
        const char *machine;
        char state[SHARE_TOLD_SIZE];
        describe(shown, i, &machine, state);
        run[i] = strncmp(state, "runs", 4) == 0;
    }
    return share_lag_ask(shown->root, run, shown->lags, shown->settings->shares, why);
}

static void
print_lag(const struct share_lag *lag, FILE *out)
{
    if (lag->answers) {
        fprintf(out, "%9" PRIu64 " %8.0f ", lag->jobs, (double)lag->oldest_ms / 1000);
    } else {
        fprintf(out, "%9s %8s ", "-", "-");
    }
    fprintf(out, "%8" PRIu64 "  ", lag->outbox);
}

static void
print_text(const struct shown *shown, FILE *out)
{
    fprintf(out, "%-16s %-24s %6s %6s  %s\n", "machine", "address", "weight", "shares", "state");
    for (size_t i = 0; i < shown->session_count; i++) {
        const struct shown_session *one = &shown->sessions[i];
        fprintf(out, "%-16s %-24s %6u %6zu  ", one->session.machine, one->session.address,
                one->session.weight, one->shares);
        if (is_silent(shown, one)) {
            fprintf(out, "silent for %.0f s\n", one->silent_s);
        } else {
            fprintf(out, "%s\n", one->draining ? "drains" : "alive");
        }
    }
    fprintf(out, "\n%-6s %-16s %-10s %9s %8s %8s  %s\n", "share", "machine", "generation", "jobs",
            "oldest s", "outboxes", "state");
    for (size_t i = 0; i < shown->settings->shares; i++) {
        const char *machine;
        char state[SHARE_TOLD_SIZE];
        describe(shown, i, &machine, state);
        fprintf(out, "%-6zu %-16s %-10" PRIu64 " ", i, machine, shown->shares[i].generation);
        print_lag(&shown->lags[i], out);
        fputs(state, out);
        if (shown->moved_to[i][0] != '\0' && strcmp(shown->moved_to[i], machine) != 0) {
            fprintf(out, "; to go to %s", shown->moved_to[i]);
        }
        fputc('\n', out);
    }
}

static void
print_json(const struct shown *shown, FILE *out)
{
    struct buf text;
    buf_init(&text, 1 << 20);
    fprintf(out, "{\"lease_ms\":%" PRIu32 ",\"machines\":[", shown->settings->lease_ms);
    for (size_t i = 0; i < shown->session_count; i++) {
        const struct shown_session *one = &shown->sessions[i];
        fprintf(out,
                "%s{\"name\":\"%s\",\"session\":\"%s\",\"address\":\"%s\",\"weight\":%u,"
                "\"shares\":%zu,\"draining\":%s,\"silent\":%s,\"beat_seconds\":%.1f}",
                i > 0 ? "," : "", one->session.machine, one->session.session, one->session.address,
                one->session.weight, one->shares, one->draining ? "true" : "false",
                is_silent(shown, one) ? "true" : "false", one->silent_s);
    }
    fputs("],\"shares\":[", out);
    for (size_t i = 0; i < shown->settings->shares; i++) {
        const char *machine;
        char state[SHARE_TOLD_SIZE];
        describe(shown, i, &machine, state);
        buf_reset(&text);
        buf_append_json(&text, slice_string(state));
        fprintf(out,
                "%s{\"share\":%zu,\"machine\":\"%s\",\"generation\":%" PRIu64
                ",\"state\":\"%s\",\"moved_to\":\"%s\",\"answers\":%s,\"jobs\":%" PRIu64
                ",\"oldest_ms\":%" PRIu64 ",\"outboxes\":%" PRIu64 "}",
                i > 0 ? "," : "", i, machine, shown->shares[i].generation, text.data,
                shown->moved_to[i], shown->lags[i].answers ? "true" : "false", shown->lags[i].jobs,
                shown->lags[i].oldest_ms, shown->lags[i].outbox);
    }
    fputs("]}\n", out);
    buf_release(&text);
}

enum status
cluster_root_print(const char *root, const struct share_settings *settings, bool json, FILE *out,
                   struct reason *why)
{
    struct share_files files;
    TRY(root_files_open(&files, root, "status", why));
    struct shown *shown = memory_zero(1, sizeof *shown);
    shown->files = &files;
    shown->root = root;
    shown->settings = settings;
    shown->sessions = memory_zero(SESSIONS_MOST, sizeof *shown->sessions);
    shown->texts = memory_zero(SESSIONS_MOST, sizeof *shown->texts);
    enum status status = take_all(shown, why);
    if (status == STATUS_OK) {
        status = take_lags(shown, why);
    }
    if (status == STATUS_OK) {
        (json ? print_json : print_text)(shown, out);
    }
    for (size_t i = 0; i < shown->session_count; i++) {
        buf_release(&shown->texts[i]);
    }
    free(shown->texts);
    free(shown->sessions);
    free(shown);
    root_files_close(&files);
    return status;
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
