#include "cli/cluster/cluster_show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/memory.h"
#include "base/system/clock.h"
#include "cli/cluster/cluster_root.h"
#include "cli/cluster/helper_run.h"
#include "cli/cluster/root_settings.h"
#include "cli/cluster/share_lag.h"
#include "cli/shared/cli.h"
#include "shares/share_claims.h"
#include "shares/share_files.h"
#include "shares/share_owner.h"

enum { NAME_SIZE = 320, VERSION_SIZE = 17, VERSION_SHOWN = 8 };

struct shown_session {
    struct share_session session;
    double silent_s; /* since its latest beat, by the file system's clocks */
    bool draining;
    size_t shares;
};

/* A machine that runs no share. */
struct shown_helper {
    char machine[MACHINE_NAME_SIZE];
    double silent_s;
    struct buf text;
};

struct shown {
    const struct share_files *files;
    const char *root;
    const struct share_settings *settings;
    struct shown_session *sessions;
    size_t session_count;
    struct buf *texts; /* of the sessions */
    struct shown_helper *helpers;
    size_t helper_count;
    char version_text[VERSION_SIZE];
    uint64_t version;    /* of ROOT's settings; 0: one of the files cannot be read */
    struct reason wrong; /* what keeps them from use; empty: nothing */
    struct share_seen shares[SHARES_MOST];
    char moved_to[SHARES_MOST][MACHINE_NAME_SIZE];
    bool forgotten[SHARES_MOST];
    struct share_lag lags[SHARES_MOST];
};

/* Returns how long ago it was written, by the file system's clocks. */
static double
age_s(const struct stat *info)
{
    const double now = (double)clock_wall_ms() / 1000;
    const double written = (double)info->st_mtim.tv_sec + (double)info->st_mtim.tv_nsec / 1e9;
    return now > written ? now - written : 0;
}

static void
take_helper(void *context, const char *name)
{
    struct shown *shown = context;
    char path[NAME_SIZE], whole[ROOT_PATH_SIZE + NAME_SIZE];
    struct stat info;
    struct reason why;
    if (shown->helper_count == SESSIONS_MOST || !share_machine_name_is_good(name)) {
        return;
    }
    struct shown_helper *helper = &shown->helpers[shown->helper_count];
    snprintf(path, sizeof path, HELPERS_FOLDER "/%s/" HELPER_FILE, name);
    snprintf(whole, sizeof whole, "%s/%s", shown->root, path);
    buf_init(&helper->text, SHARE_TEXT_MAXIMUM);
    if (shown->files->read(shown->files->context, path, &helper->text, &why) == STATUS_OK &&
        stat(whole, &info) == 0) {
        snprintf(helper->machine, sizeof helper->machine, "%s", name);
        helper->silent_s = age_s(&info);
        shown->helper_count++;
        return;
    }
    buf_release(&helper->text);
}

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
        session->silent_s = age_s(&info);
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
is_silent(const struct shown *shown, double silent_s)
{
    return silent_s * 1000 > (double)share_patience_ms(shown->settings);
}

/* Reads the settings as `cluster run` does; its --set is its own. */
static void
take_settings(struct shown *shown)
{
    const struct cli_common common = {.directory = shown->root, .takes_root = true};
    struct cli cli = {0};
    struct reason why;
    shown->version = root_settings_version(shown->root, &shown->wrong);
    snprintf(shown->version_text, VERSION_SIZE, "%016" PRIx64, shown->version);
    if (shown->version != 0) {
        if (cli_open_reading(&cli, &common, &why) != STATUS_OK) {
            shown->wrong = why;
        }
        cli_close(&cli);
    }
}

static enum status
take_all(struct shown *shown, struct reason *why)
{
    const struct share_files *files = shown->files;
    struct reason none;
    (void)files->list(files->context, HELPERS_FOLDER, take_helper, shown, &none);
    take_settings(shown);
    TRY(files->list(files->context, "machines", take_session, shown, why));
    TRY(share_claims_read(files, shown->settings->shares, shown->shares, why));
    for (size_t i = 0; i < shown->settings->shares; i++) {
        const int owner = session_number(shown, shown->shares[i].session);
        if (owner >= 0) {
            shown->sessions[owner].shares++;
        }
        (void)share_move_read(files, i, shown->moved_to[i], &none);
        (void)share_forgotten_read(files, i, &shown->forgotten[i], &none);
    }
    return STATUS_OK;
}

/* The machine that has its data, if these lie on a disk and nobody runs it now; since: "" when no
 * session of that machine says anything. */
static void
describe_place(const struct shown *shown, size_t share, char state[SHARE_TOLD_SIZE])
{
    const struct share_place *place = &shown->shares[share].place;
    double silent_s = -1;
    for (size_t i = 0; i < shown->session_count; i++) {
        const struct shown_session *one = &shown->sessions[i];
        if (strcmp(one->session.machine, place->machine) == 0 &&
            (silent_s < 0 || one->silent_s < silent_s)) {
            silent_s = one->silent_s;
        }
    }
    if (silent_s < 0) {
        snprintf(state, SHARE_TOLD_SIZE, "lies on the disk of %s, which does not run",
                 place->machine);
    } else if (is_silent(shown, silent_s)) {
        snprintf(state, SHARE_TOLD_SIZE, "lies on the disk of %s, which is away for %.0f s",
                 place->machine, silent_s);
    } else {
        snprintf(state, SHARE_TOLD_SIZE, "lies on the disk of %s", place->machine);
    }
}

/* Machine and state of a share; both may be "". */
static void
describe(const struct shown *shown, size_t share, const char **machine, char state[SHARE_TOLD_SIZE])
{
    const struct share_seen *seen = &shown->shares[share];
    const int owner = session_number(shown, seen->session);
    *machine = owner >= 0 ? shown->sessions[owner].session.machine : "";
    const bool runs = owner >= 0 && !is_silent(shown, shown->sessions[owner].silent_s);
    if (seen->place.machine[0] != '\0' && !runs && !shown->forgotten[share]) {
        describe_place(shown, share, state);
    } else if (seen->session[0] == '\0') {
        snprintf(state, SHARE_TOLD_SIZE, shown->forgotten[share] ? "forgotten" : "free");
    } else if (!runs) {
        snprintf(state, SHARE_TOLD_SIZE, "its owner is silent");
    } else {
        share_session_told(buf_slice(&shown->texts[owner]), share, state);
        if (state[0] == '\0') {
            snprintf(state, SHARE_TOLD_SIZE, "claimed");
        }
    }
}

/* The version of the settings that a share runs with; "": nobody runs it. */
static void
version_of(const struct shown *shown, size_t share, char version[VERSION_SIZE])
{
    const int owner = session_number(shown, shown->shares[share].session);
    char name[32];
    snprintf(name, sizeof name, SHARE_SETTINGS_LINE, share);
    if (owner < 0 || is_silent(shown, shown->sessions[owner].silent_s) ||
        !share_text_line(buf_slice(&shown->texts[owner]), name, version, VERSION_SIZE)) {
        version[0] = '\0';
    }
}

/* Tells whether it is not the present one. */
static bool
is_outdated(const struct shown *shown, const char *version)
{
    return version[0] != '\0' && strtoull(version, NULL, 16) != shown->version;
}

/* Only of shares that run: nobody waits for answers of the others. Without settings nobody can ask.
 */
static enum status
take_lags(struct shown *shown, struct reason *why)
{
    if (shown->wrong.text[0] != '\0') {
        return STATUS_OK;
    }
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

/* Prints what the machine could not use of the settings that it has read. */
static void
print_refused(struct slice text, FILE *out)
{
    char refused[REASON_SIZE];
    if (share_text_line(text, "refused", refused, sizeof refused)) {
        fprintf(out, "; cannot use the settings: %s", refused);
    }
    fputc('\n', out);
}

static void
print_helpers(const struct shown *shown, FILE *out)
{
    if (shown->helper_count > 0) {
        fprintf(out, "\n%-16s %-24s %s\n", "helper", "stages", "state");
    }
    for (size_t i = 0; i < shown->helper_count; i++) {
        const struct shown_helper *one = &shown->helpers[i];
        char stages[NAME_SIZE] = "";
        (void)share_text_line(buf_slice(&one->text), "stages", stages, sizeof stages);
        fprintf(out, "%-16s %-24s ", one->machine, stages);
        if (is_silent(shown, one->silent_s)) {
            fprintf(out, "silent for %.0f s\n", one->silent_s);
            continue;
        }
        size_t helped = 0;
        for (size_t share = 0; share < shown->settings->shares; share++) {
            char told[SHARE_TOLD_SIZE];
            share_session_told(buf_slice(&one->text), share, told);
            helped += strcmp(told, "helped") == 0;
        }
        fprintf(out, "helps %zu shares", helped);
        print_refused(buf_slice(&one->text), out);
    }
}

static void
print_settings(const struct shown *shown, FILE *out)
{
    if (shown->wrong.text[0] != '\0') {
        fprintf(out,
                "settings cannot be used, so that what runs goes on with earlier ones, and "
                "nothing is started: %s\n\n",
                shown->wrong.text);
    } else {
        fprintf(out, "settings %.*s\n\n", VERSION_SHOWN, shown->version_text);
    }
}

static void
print_text(const struct shown *shown, FILE *out)
{
    print_settings(shown, out);
    fprintf(out, "%-16s %-24s %6s %6s  %s\n", "machine", "address", "weight", "shares", "state");
    for (size_t i = 0; i < shown->session_count; i++) {
        const struct shown_session *one = &shown->sessions[i];
        fprintf(out, "%-16s %-24s %6u %6zu  ", one->session.machine, one->session.address,
                one->session.weight, one->shares);
        if (is_silent(shown, one->silent_s)) {
            fprintf(out, "silent for %.0f s\n", one->silent_s);
        } else {
            fputs(one->draining ? "drains" : "alive", out);
            print_refused(buf_slice(&shown->texts[i]), out);
        }
    }
    print_helpers(shown, out);
    fprintf(out, "\n%-6s %-16s %-10s %-8s %9s %8s %8s  %s\n", "share", "machine", "generation",
            "settings", "jobs", "oldest s", "outboxes", "state");
    for (size_t i = 0; i < shown->settings->shares; i++) {
        const char *machine;
        char state[SHARE_TOLD_SIZE], version[VERSION_SIZE];
        describe(shown, i, &machine, state);
        version_of(shown, i, version);
        fprintf(out, "%-6zu %-16s %-10" PRIu64 " %-8.*s ", i, machine, shown->shares[i].generation,
                VERSION_SHOWN, version[0] != '\0' ? version : "-");
        print_lag(&shown->lags[i], out);
        fputs(state, out);
        if (is_outdated(shown, version)) {
            fputs("; with earlier settings", out);
        }
        if (shown->shares[i].place.copy[0] != '\0') {
            fprintf(out, "; in %zu.%s", i, shown->shares[i].place.copy);
        }
        if (shown->moved_to[i][0] != '\0' && strcmp(shown->moved_to[i], machine) != 0) {
            fprintf(out, "; to go to %s", shown->moved_to[i]);
        }
        fputc('\n', out);
    }
}

static void
put_text(const char *text, FILE *out)
{
    struct buf json;
    buf_init(&json, 1 << 20);
    buf_append_char(&json, '"');
    buf_append_json(&json, slice_string(text));
    buf_append_char(&json, '"');
    fputs(json.data, out);
    buf_release(&json);
}

/* Prints what a session or helper says of its settings. */
static void
print_json_settings(struct slice told, FILE *out)
{
    char version[VERSION_SIZE] = "", refused[REASON_SIZE] = "";
    (void)share_text_line(told, "settings", version, sizeof version);
    (void)share_text_line(told, "refused", refused, sizeof refused);
    fprintf(out, ",\"settings\":\"%s\",\"refused\":", version);
    put_text(refused, out);
}

static void
print_json_machines(const struct shown *shown, FILE *out)
{
    for (size_t i = 0; i < shown->session_count; i++) {
        const struct shown_session *one = &shown->sessions[i];
        fprintf(out,
                "%s{\"name\":\"%s\",\"session\":\"%s\",\"address\":\"%s\",\"weight\":%u,"
                "\"shares\":%zu,\"draining\":%s,\"silent\":%s,\"beat_seconds\":%.1f",
                i > 0 ? "," : "", one->session.machine, one->session.session, one->session.address,
                one->session.weight, one->shares, one->draining ? "true" : "false",
                is_silent(shown, one->silent_s) ? "true" : "false", one->silent_s);
        print_json_settings(buf_slice(&shown->texts[i]), out);
        fputc('}', out);
    }
    fputs("],\"helpers\":[", out);
    for (size_t i = 0; i < shown->helper_count; i++) {
        const struct shown_helper *one = &shown->helpers[i];
        char stages[NAME_SIZE] = "";
        (void)share_text_line(buf_slice(&one->text), "stages", stages, sizeof stages);
        fprintf(out, "%s{\"name\":\"%s\",\"stages\":", i > 0 ? "," : "", one->machine);
        put_text(stages, out);
        fprintf(out, ",\"silent\":%s", is_silent(shown, one->silent_s) ? "true" : "false");
        print_json_settings(buf_slice(&one->text), out);
        fputc('}', out);
    }
}

static void
print_json_shares(const struct shown *shown, FILE *out)
{
    for (size_t i = 0; i < shown->settings->shares; i++) {
        const struct share_lag *lag = &shown->lags[i];
        const char *machine;
        char state[SHARE_TOLD_SIZE], version[VERSION_SIZE];
        describe(shown, i, &machine, state);
        version_of(shown, i, version);
        fprintf(out,
                "%s{\"share\":%zu,\"machine\":\"%s\",\"generation\":%" PRIu64
                ",\"settings\":\"%s\",\"state\":",
                i > 0 ? "," : "", i, machine, shown->shares[i].generation, version);
        put_text(state, out);
        fprintf(
            out,
            ",\"disk\":\"%s\",\"copy\":\"%s\",\"moved_to\":\"%s\",\"answers\":%s,\"jobs\":%" PRIu64
            ",\"oldest_ms\":%" PRIu64 ",\"outboxes\":%" PRIu64 "}",
            shown->shares[i].place.machine, shown->shares[i].place.copy, shown->moved_to[i],
            lag->answers ? "true" : "false", lag->jobs, lag->oldest_ms, lag->outbox);
    }
}

static void
print_json(const struct shown *shown, FILE *out)
{
    fprintf(out,
            "{\"lease_ms\":%" PRIu32 ",\"settings\":\"%s\",\"refused\":", shown->settings->lease_ms,
            shown->version_text);
    put_text(shown->wrong.text, out);
    fputs(",\"machines\":[", out);
    print_json_machines(shown, out);
    fputs("],\"shares\":[", out);
    print_json_shares(shown, out);
    fputs("]}\n", out);
}

enum status
cluster_show(const char *root, const struct share_settings *settings, bool json, FILE *out,
             struct reason *why)
{
    struct share_files files;
    TRY(root_files_open(&files, root, "status", why));
    struct shown *shown = memory_new(sizeof *shown);
    shown->files = &files;
    shown->root = root;
    shown->settings = settings;
    shown->sessions = memory_zero(SESSIONS_MOST, sizeof *shown->sessions);
    shown->texts = memory_zero(SESSIONS_MOST, sizeof *shown->texts);
    shown->helpers = memory_zero(SESSIONS_MOST, sizeof *shown->helpers);
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
    for (size_t i = 0; i < shown->helper_count; i++) {
        buf_release(&shown->helpers[i].text);
    }
    free(shown->helpers);
    free(shown->texts);
    free(shown->sessions);
    free(shown);
    root_files_close(&files);
    return status;
}
