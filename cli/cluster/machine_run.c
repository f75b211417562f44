/* See machine_run.h. One loop: step the owner some times in a lease, then bring what runs into line
 * with what is ours. A thread beside it renews the lease, because a step may have to wait. */
#include "cli/cluster/machine_run.h"

#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/log.h"
#include "cli/cluster/disks/share_disk.h"
#include "cli/cluster/disks/share_mover.h"
#include "cli/cluster/disks/share_receiver.h"
#include "cli/cluster/machine_signals.h"
#include "cli/cluster/root_settings.h"
#include "cli/cluster/share_guard.h"
#include "cli/shared/before_fetching.h"
#include "cli/shared/cli.h"
#include "cli/supervisor/process_troubles.h"
#include "shares/share_owner.h"

enum { STEPS_IN_LEASE = 5, PACE_MOST_MS = 3000, PAUSE_MS = 2000, PATH_SIZE = 4096 };

/* A share, as far as this machine runs it. */
struct run_share {
    struct share_guard guard;
    bool stopping;             /* its processes were told to end */
    bool unclean;              /* processes of ours were killed: what they asked may be under way */
    uint64_t start_at;         /* not before, after a failure */
    uint64_t rested_at;        /* fetch of it starts then */
    uint64_t settings;         /* machine->root.version, as it was when it was started */
    char directory[PATH_SIZE]; /* of what runs */
    char failure[SHARE_TOLD_SIZE];
};

/* The thread that renews the lease of one session. */
struct renewal {
    pthread_t thread;
    bool runs;
    int stop; /* an eventfd */
};

struct machine {
    const struct machine_run_settings *settings;
    struct share_files files;
    struct share_owner *owner;
    uint64_t incarnation; /* of the session that is owner's */
    struct renewal renewal;
    pthread_mutex_t guarding; /* of what share_guard_* are called with */
    struct run_share *shares;
    struct share_mover *mover;       /* NULL: shares lie in ROOT */
    struct share_receiver *receiver; /* as mover */
    struct root_settings root;
    int signals;
    bool stopping, step_failed;
    size_t turn; /* the share that is minded next */
};

static uint64_t
later_by(uint64_t ms)
{
    return share_clock_ms(NULL) + ms;
}

/* ---- the lease ---- */

/* Returns how often the lease is renewed, and how often the machine looks around. The lease of one
 * that has to wait for the file system holds for all but this of its time, and who asks for a move
 * does not wait for long. */
static uint64_t
pace_ms(const struct machine *machine)
{
    const uint64_t part = machine->settings->cluster.lease_ms / STEPS_IN_LEASE;
    return part < PACE_MOST_MS ? part : PACE_MOST_MS;
}

static void
extend_guards(void *context, uint64_t until)
{
    struct machine *machine = context;
    (void)pthread_mutex_lock(&machine->guarding);
    for (size_t i = 0; i < machine->settings->cluster.shares; i++) {
        share_guard_extend(&machine->shares[i].guard, until);
    }
    (void)pthread_mutex_unlock(&machine->guarding);
}

/* Ends with the lease; the next step finds that it has. */
static void *
renew(void *context)
{
    struct machine *machine = context;
    struct pollfd stop = {.fd = machine->renewal.stop, .events = POLLIN};
    struct reason why;
    while (poll(&stop, 1, (int)pace_ms(machine)) == 0 &&
           share_owner_renew(machine->owner, &why) != STATUS_CANCELLED) {
    }
    return NULL;
}

static enum status
start_renewal(struct machine *machine, struct reason *why)
{
    struct renewal *renewal = &machine->renewal;
    renewal->stop = eventfd(0, EFD_CLOEXEC);
    renewal->runs =
        renewal->stop >= 0 && pthread_create(&renewal->thread, NULL, renew, machine) == 0;
    return renewal->runs ? STATUS_OK
                         : status_fail(why, STATUS_SYSTEM, "cannot start the thread of the lease");
}

static void
stop_renewal(struct machine *machine)
{
    struct renewal *renewal = &machine->renewal;
    const uint64_t one = 1;
    if (renewal->runs) {
        (void)!write(renewal->stop, &one, sizeof one);
        (void)pthread_join(renewal->thread, NULL);
        (void)close(renewal->stop);
        renewal->runs = false;
    }
}

static enum status
begin_session(struct machine *machine, struct reason *why)
{
    const struct machine_run_settings *settings = machine->settings;
    char unique[SESSION_NAME_SIZE];
    machine->incarnation++;
    snprintf(unique, sizeof unique, "%s.%016" PRIx64, settings->machine, machine->incarnation);
    stop_renewal(machine);
    root_files_close(&machine->files);
    TRY(root_files_open(&machine->files, settings->root, unique, why));
    const struct share_owner_settings owner = {.files = machine->files,
                                               .now_ms = share_clock_ms,
                                               .renewed = extend_guards,
                                               .renewed_context = machine,
                                               .cluster = settings->cluster,
                                               .machine = settings->machine,
                                               .address = settings->address,
                                               .incarnation = machine->incarnation,
                                               .weight = settings->weight,
                                               .only = settings->only,
                                               .disk = settings->disk};
    share_owner_close(machine->owner);
    machine->owner = share_owner_open(&owner);
    log_info("session", "name=%s", share_owner_session(machine->owner));
    return machine->mover != NULL
               ? share_mover_begin(machine->mover, &machine->files, machine->owner, why)
               : STATUS_OK;
}

/* ---- one share ---- */

/* Returns how long hosts are left alone at the start: the pauses that they are due at most, and
 * before them, unless the last owner ended in order, the longest request that may be under way. */
static uint64_t
rest_ms(const struct opt_set *options, bool clean)
{
    static const char *const pauses[] = {"fetch.delay", "fetch.delay_maximum",
                                         "fetch.crawl_delay_maximum"};
    const bool hosts_are_ours = opt_duration_ms(options, "fetch.delay") == 0;
    uint64_t longest = 0;
    for (size_t i = 0; i < sizeof pauses / sizeof pauses[0] && !hosts_are_ours; i++) {
        const uint64_t pause = opt_duration_ms(options, pauses[i]);
        longest = pause > longest ? pause : longest;
    }
    return longest + (clean ? 0 : opt_duration_ms(options, "fetch.timeout"));
}

/* Fails, with the reason, where `quadrille up` would refuse these settings. */
static enum status
check_settings(const struct machine *machine, struct reason *why)
{
    enum { PORTS_OF_OTHERS = 3 };
    if (machine->root.wrong.text[0] != '\0') {
        *why = machine->root.wrong;
        return STATUS_MISUSE;
    }
    const int64_t partitions = opt_integer(machine->root.cli.options, "index.partitions");
    if (partitions > SHARE_PORTS - PORTS_OF_OTHERS) {
        return status_fail(why, STATUS_MISUSE,
                           "index.partitions is %" PRId64 ", and a share has ports for %d",
                           partitions, SHARE_PORTS - PORTS_OF_OTHERS);
    }
    TRY(require_scope(&machine->root.cli, why));
    return require_user_agent(&machine->root.cli, why);
}

/* A disk that is not mounted, or was lost, leaves an empty folder: a share that began anew in it
 * would forget what it has, and others would pass over its jobs. */
static enum status
check_present(const char *directory, struct reason *why)
{
    char path[PATH_SIZE + sizeof "/cluster.conf"];
    snprintf(path, sizeof path, "%s/cluster.conf", directory);
    return access(path, F_OK) == 0
               ? STATUS_OK
               : status_fail(why, STATUS_MISUSE,
                             "its folder has no cluster.conf: it is not mounted, or is to be "
                             "restored (docs/BACKUP.md)");
}

/* On the disk of this machine: a share that has no data yet gets some, and is found there with the
 * next look at the claims. */
static enum status
find_on_disk(struct machine *machine, size_t number, char directory[PATH_SIZE], struct reason *why)
{
    const char *disk = machine->settings->disk;
    uint64_t generation;
    struct share_place place = *share_owner_place(machine->owner, number, &generation);
    if (place.machine[0] == '\0') {
        snprintf(place.machine, sizeof place.machine, "%s", machine->settings->machine);
        share_mover_new_copy(machine->mover, number, place.copy);
        TRY(share_disk_make(disk, number, place.copy, why));
        TRY(share_owner_settle(machine->owner, number, &place, why));
        place = *share_owner_place(machine->owner, number, &generation);
    }
    if (share_owner_has(machine->owner, number) != SHARE_OURS ||
        strcmp(place.machine, machine->settings->machine) != 0) {
        return status_fail(why, STATUS_AGAIN, "it is not known where its data lie");
    }
    return share_disk_prepare(machine->settings->root, disk, number, place.copy, directory, why);
}

static enum status
find_directory(struct machine *machine, size_t number, char directory[PATH_SIZE],
               struct reason *why)
{
    if (machine->mover != NULL) {
        return find_on_disk(machine, number, directory, why);
    }
    snprintf(directory, PATH_SIZE, "%s/shares/%zu", machine->settings->root, number);
    return check_present(directory, why);
}

static enum status
start_share(struct machine *machine, size_t number, struct reason *why)
{
    struct run_share *share = &machine->shares[number];
    TRY(check_settings(machine, why));
    TRY(find_directory(machine, number, share->directory, why));
    const bool clean = share_owner_took_clean(machine->owner, number) && !share->unclean;
    const uint64_t now = share_clock_ms(NULL);
    const uint64_t rested_at = now + rest_ms(machine->root.cli.options, clean);
    share->rested_at = share->rested_at > rested_at ? share->rested_at : rested_at;
    struct share_guard_settings guard = {.directory = share->directory,
                                         .assignments = &machine->root.common.assignments,
                                         .fetch_after_ms = share->rested_at - now};
    (void)pthread_mutex_lock(&machine->guarding);
    guard.until_ms = share_owner_until(machine->owner);
    const enum status status = share_guard_start(&share->guard, &guard, why);
    (void)pthread_mutex_unlock(&machine->guarding);
    TRY(status);
    share->stopping = false;
    share->settings = machine->root.version;
    log_info("share_started", "share=%zu clean=%d fetch_after_ms=%" PRIu64, number, clean,
             guard.fetch_after_ms);
    return STATUS_OK;
}

/* Adds what is told of a share to what is told of it already, if it is anything. */
static void
tell_more(char told[SHARE_TOLD_SIZE], const char *more)
{
    const size_t length = strlen(told);
    if (more[0] != '\0') {
        snprintf(told + length, SHARE_TOLD_SIZE - length, "%s%.*s", length > 0 ? "; " : "",
                 (int)(SHARE_TOLD_SIZE - length), more);
    }
}

static void
tell_state(struct machine *machine, size_t number)
{
    const struct run_share *share = &machine->shares[number];
    char told[SHARE_TOLD_SIZE], more[SHARE_TOLD_SIZE];
    const uint64_t now = share_clock_ms(NULL);
    if (share->guard.pid > 0 && share->stopping) {
        snprintf(told, sizeof told, "stops");
    } else if (share->guard.pid > 0 && share->rested_at > now) {
        snprintf(told, sizeof told, "runs; fetch waits %" PRIu64 " s",
                 (share->rested_at - now + 999) / 1000);
    } else if (share->guard.pid > 0) {
        snprintf(told, sizeof told, "runs");
        process_troubles_first(share->directory, more, sizeof more);
        tell_more(told, more);
    } else {
        snprintf(told, sizeof told, "%s", share->failure);
    }
    if (machine->mover != NULL) {
        share_mover_tell(machine->mover, number, more);
        tell_more(told, more);
    }
    share_owner_tell(machine->owner, number, told);
}

static void
stop_processes(struct run_share *share)
{
    if (share->guard.pid > 0 && !share->stopping) {
        share->stopping = true;
        share_guard_stop(&share->guard);
    }
}

static void
run_ours(struct machine *machine, size_t number)
{
    struct run_share *share = &machine->shares[number];
    struct reason why = {""};
    if (share->guard.pid > 0) {
        if (share->settings != machine->root.version && machine->root.wrong.text[0] == '\0') {
            stop_processes(share); /* they start again with what is set now */
        }
        return;
    }
    if (share_clock_ms(NULL) < share->start_at) {
        return;
    }
    if (start_share(machine, number, &why) != STATUS_OK) {
        share->start_at = later_by(PAUSE_MS);
        if (strcmp(share->failure, why.text) != 0) {
            log_warning("share_waits", "share=%zu reason=%s", number, why.text);
        }
        snprintf(share->failure, sizeof share->failure, "%.*s", (int)sizeof share->failure - 1,
                 why.text);
    }
}

static void
leave_share(struct machine *machine, size_t number)
{
    struct run_share *share = &machine->shares[number];
    struct reason why = {""};
    const struct share_place *place = NULL;
    if (machine->mover != NULL) {
        share_mover_drop(machine->mover, number);
        place = share_mover_place(machine->mover, number);
    }
    if (share->guard.pid > 0) {
        stop_processes(share);
        return;
    }
    const bool clean = !share->unclean && share_clock_ms(NULL) >= share->rested_at;
    share_owner_tell(machine->owner, number, "");
    if (share_owner_release(machine->owner, number, clean, place, &why) != STATUS_OK) {
        log_warning("release_failed", "share=%zu reason=%s", number, why.text);
        return;
    }
    log_info("share_released", "share=%zu clean=%d", number, clean);
    *share = (struct run_share){0};
}

static void
mind_ours(struct machine *machine, size_t number)
{
    struct run_share *share = &machine->shares[number];
    const enum share_moving moving =
        machine->mover != NULL ? share_mover_mind(machine->mover, number, share->guard.pid > 0,
                                                  machine->root.cli.options)
                               : MOVING_RUNS;
    if (moving == MOVING_GOES) {
        leave_share(machine, number);
        return;
    }
    if (moving == MOVING_STOPS) {
        stop_processes(share);
    } else {
        run_ours(machine, number);
    }
    tell_state(machine, number);
}

static void
reap(struct machine *machine, size_t number)
{
    struct run_share *share = &machine->shares[number];
    int code;
    (void)pthread_mutex_lock(&machine->guarding);
    const bool ended = share_guard_has_ended(&share->guard, &code);
    (void)pthread_mutex_unlock(&machine->guarding);
    if (!ended) {
        return;
    }
    if (code == EXIT_DONE) {
        log_info("share_ended", "share=%zu", number);
        return;
    }
    share->unclean = true;
    share->start_at = later_by(PAUSE_MS);
    snprintf(share->failure, sizeof share->failure,
             "its processes ended with %d; log/supervisor.log of the share says why", code);
    log_warning("share_died", "share=%zu code=%d", number, code);
}

static bool
is_of_a_guard(const void *context, pid_t group)
{
    const struct machine *machine = context;
    bool found = machine->mover != NULL && (share_mover_has_group(machine->mover, group) ||
                                            share_receiver_has_group(machine->receiver, group));
    for (size_t i = 0; i < machine->settings->cluster.shares; i++) {
        found = found || machine->shares[i].guard.pid == group;
    }
    return found;
}

/* Until the next step is due: nothing here may cost the lease. */
static void
mind_shares(struct machine *machine, uint64_t next)
{
    const size_t shares = machine->settings->cluster.shares;
    for (size_t n = 0; n < shares && (n == 0 || share_clock_ms(NULL) < next); n++) {
        const size_t i = machine->turn++ % shares;
        struct run_share *share = &machine->shares[i];
        reap(machine, i);
        switch (share_owner_has(machine->owner, i)) {
        case SHARE_OURS:
            mind_ours(machine, i);
            break;
        case SHARE_LEAVING:
            leave_share(machine, i);
            break;
        case SHARE_OTHERS:
            if (machine->mover != NULL) {
                share_mover_tidy(machine->mover, i);
            }
            share_guard_kill(&share->guard);
            if (share->guard.pid <= 0) {
                *share = (struct run_share){0};
            }
            break;
        }
    }
}

/* Writes to the log what was read of ROOT's settings, and which of them each share runs with. */
static void
tell_settings(struct machine *machine)
{
    struct buf text;
    buf_init(&text, SHARE_TEXT_MAXIMUM);
    root_settings_tell(&machine->root, &text);
    for (size_t i = 0; i < machine->settings->cluster.shares; i++) {
        const struct run_share *share = &machine->shares[i];
        if (share->guard.pid > 0) {
            buf_printf(&text, SHARE_SETTINGS_LINE " %016" PRIx64 "\n", i, share->settings);
        }
    }
    share_owner_about(machine->owner, buf_slice(&text));
    buf_release(&text);
}

/* ---- the loop ---- */

static bool
anything_runs(const struct machine *machine)
{
    for (size_t i = 0; i < machine->settings->cluster.shares; i++) {
        if (machine->shares[i].guard.pid > 0 ||
            share_owner_has(machine->owner, i) != SHARE_OTHERS) {
            return true;
        }
    }
    return false;
}

/* False when it was woken by a signal. */
static bool
pause_until(struct machine *machine, uint64_t time)
{
    bool told = false;
    const bool whole = machine_signals_pause(machine->signals, time, &told);
    if (told && !machine->stopping) {
        machine->stopping = true;
        share_owner_leave(machine->owner);
    }
    return whole;
}

/* Kills all that runs. The next session declares the one before it ended, so it begins only when
 * nothing acts for that one any more. */
static bool
have_all_ended(struct machine *machine)
{
    bool all = true;
    for (size_t i = 0; i < machine->settings->cluster.shares; i++) {
        share_guard_kill(&machine->shares[i].guard);
        reap(machine, i);
        all = all && machine->shares[i].guard.pid <= 0;
    }
    return all;
}

static enum status
step(struct machine *machine)
{
    struct reason why = {""};
    enum status status = STATUS_OK;
    if (!machine->renewal.runs) {
        status = share_owner_renew(machine->owner, &why);
        if (status == STATUS_OK) {
            TRY(start_renewal(machine, &why));
        }
    }
    if (status == STATUS_OK) {
        status = share_owner_step(machine->owner, &why);
    }
    if (status != STATUS_OK && (status == STATUS_CANCELLED || !machine->step_failed)) {
        log_warning("lease", "session=%s reason=%s", share_owner_session(machine->owner), why.text);
    }
    machine->step_failed = status != STATUS_OK;
    if (status == STATUS_CANCELLED) {
        if (!have_all_ended(machine)) {
            return STATUS_OK; /* the next step comes here again */
        }
        status = begin_session(machine, &why);
        if (status == STATUS_OK && machine->stopping) {
            share_owner_leave(machine->owner);
        }
        return status;
    }
    return STATUS_OK;
}

static enum status
loop(struct machine *machine)
{
    for (;;) {
        root_settings_look(&machine->root);
        share_owner_balance(machine->owner,
                            machine->root.cli.options == NULL ||
                                opt_bool(machine->root.cli.options, "cluster.balance"));
        TRY(step(machine));
        if (machine->receiver != NULL) {
            share_receiver_mind(machine->receiver, &machine->files,
                                share_owner_session(machine->owner));
        }
        const uint64_t next = later_by(pace_ms(machine));
        tell_settings(machine);
        do {
            mind_shares(machine, next);
            share_guard_reap_strays(is_of_a_guard, machine);
            if (machine->stopping && !anything_runs(machine)) {
                return STATUS_OK;
            }
        } while (!pause_until(machine, next));
    }
}

static enum status
open_machine(struct machine *machine, struct reason *why)
{
    const struct machine_run_settings *settings = machine->settings;
    TRY(root_settings_open(&machine->root, settings->root, settings->assignments, why));
    machine->shares = memory_zero(settings->cluster.shares, sizeof *machine->shares);
    (void)pthread_mutex_init(&machine->guarding, NULL);
    machine->signals = machine_signals_take();
    if (getrandom(&machine->incarnation, sizeof machine->incarnation, 0) !=
        sizeof machine->incarnation) {
        return status_fail_errno(why, "cannot get a random number");
    }
    if (settings->disk != NULL) {
        machine->mover = share_mover_open(settings->disk, &settings->cluster);
        machine->receiver = share_receiver_open(settings->root, settings->disk, settings->machine,
                                                &settings->cluster);
    }
    machine->incarnation = machine->incarnation >> SESSION_COUNT_BITS << SESSION_COUNT_BITS;
    return begin_session(machine, why);
}

enum status
machine_run(const struct machine_run_settings *settings, struct reason *why)
{
    struct machine machine = {.settings = settings};
    enum status status = open_machine(&machine, why);
    if (status == STATUS_OK) {
        status = loop(&machine);
    }
    stop_renewal(&machine);
    if (status == STATUS_OK) {
        share_owner_end(machine.owner);
    }
    share_mover_close(machine.mover);
    share_receiver_close(machine.receiver);
    root_settings_close(&machine.root);
    share_owner_close(machine.owner);
    root_files_close(&machine.files);
    free(machine.shares);
    return status;
}
