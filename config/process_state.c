#include "config/process_state.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/system/clock.h"

enum { RECORD_BYTES = 1024, PATH_BYTES = 1 << 16, READ_TRIES = 5, FORMAT = 1 };
static const char SUFFIX[] = ".state";

static const char *const phase_names[PROCESS_PHASES] = {"starting", "ready", "waiting", "failed",
                                                        "ended"};

const char *
process_phase_name(enum process_phase phase)
{
    return (unsigned)phase < PROCESS_PHASES ? phase_names[phase] : "unknown";
}

/* ---- the file ---- */

static bool
lock_file(int file, int command, struct flock *lock)
{
    lock->l_whence = SEEK_SET;
    lock->l_len = 1;
    return fcntl(file, command, lock) == 0;
}

/* The number of the writing stands at both ends, so that half a record is none. */
static void
encode(const struct process_state *state, unsigned sequence, char record[RECORD_BYTES])
{
    memset(record, 0, RECORD_BYTES);
    snprintf(record, RECORD_BYTES, "%u %d %d %d %u %d %llu %llu\n%s\n%u\n", sequence, FORMAT,
             (int)state->phase, (int)state->status, state->failures, (int)state->pid,
             (unsigned long long)state->changed_ms, (unsigned long long)state->since_ms,
             state->why.text, sequence);
}

static bool
decode(const char *record, struct process_state *state, unsigned *sequence)
{
    int format, phase, status, pid, used = 0;
    unsigned long long changed, since;
    if (sscanf(record, "%u %d %d %d %u %d %llu %llu%n", sequence, &format, &phase, &status,
               &state->failures, &pid, &changed, &since, &used) != 8 ||
        format != FORMAT || phase < 0 || phase >= PROCESS_PHASES || status < 0 ||
        status >= STATUS_COUNT || record[used] != '\n') {
        return false;
    }
    const char *why = record + used + 1;
    const char *end = strchr(why, '\n');
    if (end == NULL || (size_t)(end - why) >= REASON_SIZE ||
        strtoul(end + 1, NULL, 10) != *sequence) {
        return false;
    }
    state->phase = (enum process_phase)phase;
    state->status = (enum status)status;
    state->pid = (pid_t)pid;
    state->changed_ms = changed;
    state->since_ms = since;
    memcpy(state->why.text, why, (size_t)(end - why));
    state->why.text[end - why] = '\0';
    return true;
}

/* DIR/run is not made for it: the folder may be somebody else's. -1: there is none. */
static int
open_file(const char *directory, const char *name, int flags)
{
    struct buf path;
    buf_init(&path, PATH_BYTES);
    buf_printf(&path, "%s/run/%s%s", directory, name, SUFFIX);
    const int file = path.overflowed ? -1 : open(path.data, flags | O_CLOEXEC, 0600);
    buf_release(&path);
    return file;
}

static bool
read_record(int file, struct process_state *state, unsigned *sequence)
{
    char record[RECORD_BYTES + 1] = "";
    for (int i = 0; i < READ_TRIES; i++) {
        if (pread(file, record, RECORD_BYTES, 0) <= 0) {
            return false;
        }
        if (decode(record, state, sequence)) {
            return true;
        }
    }
    return false;
}

/* ---- of this process ---- */

static struct {
    pthread_mutex_t mutex;
    int file;
    unsigned sequence;
    struct process_state state;
    struct {
        enum status status; /* OK: it does not wait for that */
        struct reason why;
    } waits[WAIT_COUNT];
} own = {.mutex = PTHREAD_MUTEX_INITIALIZER, .file = -1};

static void
write_own(enum process_phase phase, enum status status, const char *why)
{
    struct process_state *state = &own.state;
    char record[RECORD_BYTES];
    if (own.file < 0 || (phase == state->phase && status == state->status && own.sequence > 0 &&
                         strcmp(why, state->why.text) == 0)) {
        return;
    }
    if (phase != state->phase) {
        state->changed_ms = clock_monotonic_ms();
        state->since_ms = clock_wall_ms();
    }
    state->phase = phase;
    state->status = status;
    snprintf(state->why.text, sizeof state->why.text, "%s", why);
    encode(state, ++own.sequence, record);
    (void)!pwrite(own.file, record, sizeof record, 0); /* there is nobody else to tell */
}

/* With the mutex. */
static void
tell_waits(void)
{
    for (int i = 0; i < WAIT_COUNT; i++) {
        if (own.waits[i].status != STATUS_OK) {
            write_own(PROCESS_WAITING, own.waits[i].status, own.waits[i].why.text);
            return;
        }
    }
    write_own(PROCESS_READY, STATUS_OK, "");
}

void
process_state_open(const char *directory, const char *name)
{
    struct flock lock = {.l_type = F_WRLCK};
    struct process_state before = {.phase = PROCESS_ENDED};
    pthread_mutex_lock(&own.mutex);
    own.file = open_file(directory, name, O_RDWR | O_CREAT);
    if (own.file >= 0 && !lock_file(own.file, F_SETLK, &lock)) {
        close(own.file); /* another one runs, and will be met */
        own.file = -1;
    }
    if (own.file >= 0) {
        own.sequence = 0;
        const bool failed =
            read_record(own.file, &before, &own.sequence) && before.phase == PROCESS_FAILED;
        own.state = (struct process_state){
            .phase = PROCESS_PHASES, .pid = getpid(), .failures = failed ? before.failures : 0};
        write_own(PROCESS_STARTING, failed ? before.status : STATUS_OK,
                  failed ? before.why.text : "");
    }
    pthread_mutex_unlock(&own.mutex);
}

void
process_state_ready(void)
{
    pthread_mutex_lock(&own.mutex);
    own.state.failures = 0;
    tell_waits();
    pthread_mutex_unlock(&own.mutex);
}

void
process_state_wait(enum process_wait wait, enum status status, const struct reason *why)
{
    pthread_mutex_lock(&own.mutex);
    own.waits[wait].status = status;
    own.waits[wait].why = *why;
    tell_waits();
    pthread_mutex_unlock(&own.mutex);
}

void
process_state_goes_on(enum process_wait wait)
{
    pthread_mutex_lock(&own.mutex);
    if (own.waits[wait].status != STATUS_OK) {
        own.waits[wait].status = STATUS_OK;
        tell_waits();
    }
    pthread_mutex_unlock(&own.mutex);
}

void
process_state_end(enum status status, const struct reason *why)
{
    pthread_mutex_lock(&own.mutex);
    if (status == STATUS_OK || status == STATUS_END) {
        write_own(PROCESS_ENDED, STATUS_OK, "");
    } else {
        own.state.failures++;
        write_own(PROCESS_FAILED, status, why->text);
    }
    pthread_mutex_unlock(&own.mutex);
}

/* ---- of others ---- */

bool
process_state_read(const char *directory, const char *name, struct process_state *state)
{
    unsigned sequence;
    const int file = open_file(directory, name, O_RDONLY);
    if (file < 0) {
        return false;
    }
    struct flock lock = {.l_type = F_RDLCK};
    *state = (struct process_state){.alive = false};
    snprintf(state->name, sizeof state->name, "%s", name);
    const bool known = read_record(file, state, &sequence);
    state->alive = lock_file(file, F_GETLK, &lock) && lock.l_type == F_WRLCK;
    close(file);
    return known;
}

static int
is_state(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return length > sizeof SUFFIX - 1 && length < 32 &&
           strcmp(entry->d_name + length - (sizeof SUFFIX - 1), SUFFIX) == 0;
}

void
process_state_each(const char *directory, process_state_look *look, void *context)
{
    struct buf path;
    struct dirent **entries = NULL;
    buf_init(&path, PATH_BYTES);
    buf_printf(&path, "%s/run", directory);
    const int n = path.overflowed ? -1 : scandir(path.data, &entries, is_state, alphasort);
    for (int i = 0; i < n; i++) {
        struct process_state state;
        char *name = entries[i]->d_name;
        name[strlen(name) - (sizeof SUFFIX - 1)] = '\0';
        if (process_state_read(directory, name, &state)) {
            look(context, &state);
        }
        free(entries[i]);
    }
    free(entries);
    buf_release(&path);
}

const char *
process_state_remedy(const struct process_state *state)
{
    const bool index = strncmp(state->name, "index", 5) == 0;
    const bool store = strcmp(state->name, "queue") == 0 || strcmp(state->name, "metastore") == 0;
    switch (state->status) {
    case STATUS_FULL:
        return "free room on that disk; it goes on by itself";
    case STATUS_CORRUPT:
        return index ? "docs/OPERATION.md, A damaged page, says what can be done"
               : store
                   ? "docs/OPERATION.md, A damaged queue or metadata store, says what can be done"
                   : "docs/OPERATION.md says what can be done";
    case STATUS_DENIED:
        return "end what has it, or give it the permission";
    case STATUS_MISUSE:
        return "change DIR/quadrille.conf, DIR/cluster.conf or the --set";
    default:
        return "DIR/log has more";
    }
}
