#include "tests/unit/index_write/keeper_world.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/system/watchdog.h"
#include "index/write/gathering.h"

struct world world;

#define LITERALS ((struct literals *)(void *)&world.things[0])
#define NODES ((struct nodes *)(void *)&world.things[1])
#define ENVIRONMENT ((struct environment *)(void *)&world.things[2])

static void
called(const char *call)
{
    const size_t length = strlen(world.calls);
    assert_true(length + strlen(call) + 2 < CALLS_ROOM);
    (void)snprintf(world.calls + length, CALLS_ROOM - length, "%s%s", length > 0 ? " " : "", call);
}

static bool come(char what);

static enum status
call(const char *name, struct reason *why)
{
    called(name);
    const size_t length = strlen(name);
    if (strncmp(world.meanwhile, name, length) == 0 && world.meanwhile[length] == ' ') {
        (void)come(world.meanwhile[length + 1]);
        world.meanwhile = "";
    }
    if (world.times == 0 || strcmp(world.fails, name) != 0) {
        return STATUS_OK;
    }
    world.times--;
    return status_fail(why, world.status, "%s failed", name);
}

static bool
is_held(pthread_mutex_t *mutex)
{
    if (pthread_mutex_trylock(mutex) != 0) {
        return true;
    }
    pthread_mutex_unlock(mutex);
    return false;
}

static void
assert_held(bool mutex, bool writer)
{
    assert_int_equal(is_held(&world.partition.mutex), mutex);
    assert_int_equal(is_held(&world.partition.writer), writer);
    assert_int_equal(world.paused, 0);
}

/* ---- stores ---- */

struct nodes *__wrap_lexicon_nodes(struct lexicon *lexicon);
struct nodes *
__wrap_lexicon_nodes(struct lexicon *lexicon)
{
    assert_ptr_equal(lexicon, world.partition.lexicon);
    return NODES;
}

uint64_t __wrap_literals_next(const struct literals *literals);
uint64_t
__wrap_literals_next(const struct literals *literals)
{
    assert_ptr_equal(literals, LITERALS);
    return world.next;
}

uint64_t __wrap_literals_written(const struct literals *literals);
uint64_t
__wrap_literals_written(const struct literals *literals)
{
    assert_ptr_equal(literals, LITERALS);
    return world.written;
}

bool __wrap_literals_to_write(const struct literals *literals, bool all);
bool
__wrap_literals_to_write(const struct literals *literals, bool all)
{
    assert_ptr_equal(literals, LITERALS);
    return world.next > world.written && (all || world.full);
}

enum status __wrap_literals_catch_up(struct literals *literals, struct nodes *nodes, uint64_t limit,
                                     struct reason *why);
enum status
__wrap_literals_catch_up(struct literals *literals, struct nodes *nodes, uint64_t limit,
                         struct reason *why)
{
    assert_ptr_equal(literals, LITERALS);
    assert_ptr_equal(nodes, NODES);
    assert_held(false, false);
    const enum status status = call("follow", why);
    if (status == STATUS_OK) {
        world.next = world.next + world.step < limit ? world.next + world.step : limit;
    }
    return status;
}

enum status __wrap_literals_write_step(struct literals *literals, bool copying, struct reason *why);
enum status
__wrap_literals_write_step(struct literals *literals, bool copying, struct reason *why)
{
    assert_ptr_equal(literals, LITERALS);
    assert_held(false, true);
    assert_int_equal(copying, world.partition.staged.held > 0);
    const enum status status = call("write", why);
    world.written = status == STATUS_OK ? world.next : world.written;
    return status;
}

enum status __wrap_partition_merge_staged(struct partition *partition, uint64_t *added,
                                          struct reason *why);
enum status
__wrap_partition_merge_staged(struct partition *partition, uint64_t *added, struct reason *why)
{
    assert_ptr_equal(partition, &world.partition);
    assert_null(added);
    assert_held(false, false);
    const enum status status = call("merge", why);
    world.staged = status == STATUS_OK ? 0 : world.staged;
    return status;
}

enum status __wrap_gathering_flush_some(struct partition *partition, bool *more,
                                        struct reason *why);
enum status
__wrap_gathering_flush_some(struct partition *partition, bool *more, struct reason *why)
{
    assert_ptr_equal(partition, &world.partition);
    assert_held(false, true);
    assert_false(*more);
    TRY(call("flush", why));
    *more = world.pieces > 1;
    world.pieces -= world.pieces > 0;
    world.gathered = *more ? world.gathered : 0;
    return STATUS_OK;
}

enum status __wrap_environment_checkpoint(struct environment *environment, bool force,
                                          struct reason *why);
enum status
__wrap_environment_checkpoint(struct environment *environment, bool force, struct reason *why)
{
    assert_ptr_equal(environment, ENVIRONMENT);
    assert_false(force);
    assert_false(is_held(&world.partition.mutex));
    return call(is_held(&world.partition.writer) ? "(checkpoint)" : "checkpoint", why);
}

bool __wrap_environment_is_broken(const struct environment *environment);
bool
__wrap_environment_is_broken(const struct environment *environment)
{
    assert_ptr_equal(environment, ENVIRONMENT);
    return world.broken;
}

uint64_t __wrap_staging_rows(const struct staging *staging);
uint64_t
__wrap_staging_rows(const struct staging *staging)
{
    assert_ptr_equal(staging, world.partition.staging);
    return world.staged;
}

enum status __wrap_snapshots_health(struct snapshots *snapshots, struct reason *why);
enum status
__wrap_snapshots_health(struct snapshots *snapshots, struct reason *why)
{
    assert_ptr_equal(snapshots, world.partition.snapshots);
    return world.missing ? status_fail(why, STATUS_CORRUPT, "missing") : STATUS_OK;
}

size_t __wrap_snapshots_gathered_changes(struct snapshots *snapshots);
size_t
__wrap_snapshots_gathered_changes(struct snapshots *snapshots)
{
    assert_ptr_equal(snapshots, world.partition.snapshots);
    return world.gathered;
}

/* ---- the system ---- */

int __wrap_malloc_trim(size_t pad);
int
__wrap_malloc_trim(size_t pad)
{
    assert_int_equal(pad, 0);
    assert_held(false, false);
    called("trim");
    return 1;
}

void __wrap_watchdog_pause(void);
void
__wrap_watchdog_pause(void)
{
    world.paused++;
}

void __wrap_watchdog_resume(void);
void
__wrap_watchdog_resume(void)
{
    world.paused--;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int
__wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    assert_int_equal(clock, CLOCK_REALTIME);
    *now = (struct timespec){NOW_S, NOW_NS};
    return 0;
}

/* Who locks a mutex has not done so before, who unlocks it has. */
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int
__wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    assert_int_equal(__real_pthread_mutex_lock(mutex), 0);
    return 0;
}

int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int
__wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    assert_int_equal(__real_pthread_mutex_unlock(mutex), 0);
    return 0;
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *argument), void *argument);
int
__wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                      void *(*run)(void *argument), void *argument)
{
    assert_ptr_equal(thread, &world.partition.keeper.thread);
    assert_null(attributes);
    world.run = run;
    world.argument = argument;
    return call("start", NULL) == STATUS_OK ? 0 : EAGAIN;
}

int __wrap_pthread_join(pthread_t thread, void **result);
int
__wrap_pthread_join(pthread_t thread, void **result)
{
    (void)thread;
    assert_null(result);
    assert_held(false, false);
    assert_true(world.partition.keeper.stopping);
    called("join");
    return 0;
}

static void
called_of(const char *what, const pthread_cond_t *condition)
{
    char text[32];
    const bool wake = condition == &world.partition.keeper.wake;
    assert_true(wake || condition == &world.partition.keeper.settled);
    snprintf(text, sizeof text, "%s%s", wake ? "wake" : "settled", what);
    called(text);
}

int __wrap_pthread_cond_destroy(pthread_cond_t *condition);
int
__wrap_pthread_cond_destroy(pthread_cond_t *condition)
{
    called_of("-ends", condition);
    return 0;
}

int __wrap_pthread_cond_signal(pthread_cond_t *condition);
int
__wrap_pthread_cond_signal(pthread_cond_t *condition)
{
    assert_true(is_held(&world.partition.mutex));
    called_of("!", condition);
    return 0;
}

/* Everybody who waits for the keeper is told of what there is now, and of no less. */
int __wrap_pthread_cond_broadcast(pthread_cond_t *condition);
int
__wrap_pthread_cond_broadcast(pthread_cond_t *condition)
{
    assert_ptr_equal(condition, &world.partition.keeper.settled);
    assert_true(is_held(&world.partition.mutex));
    assert_int_equal(world.partition.keeper.next, world.next);
    assert_int_equal(world.partition.keeper.written, world.written);
    called(".");
    return 0;
}

/* Something comes. Returns whether a wait ends of itself. */
static bool
come(char what)
{
    struct partition *partition = &world.partition;
    switch (what) {
    case 'c': /* a batch with literals */
        partition->totals.terms += 10;
        partition->keeper.checkpoint_due = true;
        break;
    case 'w': /* somebody who wants all words of now written */
        partition->keeper.words_until = partition->totals.terms + 1;
        break;
    case 'q': /* quads that wait */
        world.staged = 1;
        break;
    case 'g': /* changes that are gathered, in three pieces */
        world.gathered = 1;
        world.pieces = 3;
        break;
    case 'x': /* what was gathered is damaged */
        world.missing = true;
        break;
    case 'm': /* a batch that will wait is being gathered; it is no longer */
        keeper_expect(partition, true);
        break;
    case 'n':
        keeper_expect(partition, false);
        break;
    case 's': /* the end */
        partition->keeper.stopping = true;
        break;
    case '-': /* nothing, and the wait ends before its time */
        break;
    default: /* nothing until its time */
        assert_int_equal(what, 't');
        return true;
    }
    return false;
}

/* Each letter is a wait; those between parentheses come in one. */
int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *until);
int
__wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                              const struct timespec *until)
{
    char text[32];
    assert_ptr_equal(condition, &world.partition.keeper.wake);
    assert_ptr_equal(mutex, &world.partition.mutex);
    assert_held(true, false);
    assert_int_equal(until->tv_nsec, NOW_NS);
    snprintf(text, sizeof text, "%ds", (int)(until->tv_sec - NOW_S));
    called(text);
    if (*world.waits == '\0') {
        fail_msg("one wait too many: %s", world.calls);
    }
    if (*world.waits != '(') {
        return come(*world.waits++) ? ETIMEDOUT : 0;
    }
    bool late = false;
    for (world.waits++; *world.waits != ')'; world.waits++) {
        late = come(*world.waits) || late;
    }
    world.waits++;
    return late ? ETIMEDOUT : 0;
}

/* Somebody waits for the keeper, who takes a literal in, and writes one, each time; at last it
 * fails, or finds that the disk is full. */
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int
__wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    struct keeper *keeper = &world.partition.keeper;
    assert_ptr_equal(condition, &keeper->settled);
    assert_ptr_equal(mutex, &world.partition.mutex);
    assert_true(is_held(mutex));
    assert_int_equal(world.paused, 1);
    called("wait");
    keeper->next++;
    keeper->written++;
    if (--world.settling == 0) {
        keeper->failed = world.status;
        keeper->failure = (struct reason){"a fault of the test"};
        keeper->words_until = world.full ? 0 : keeper->words_until;
    }
    assert_true(world.settling > -20);
    return 0;
}

/* ---- the bed ---- */

static void
init_mutex(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    /* Whoever locks it twice fails instead of waiting for himself. */
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

void
world_begin(void)
{
    world = (struct world){
        .next = 11, .written = 9, .step = 100, .waits = "", .fails = "", .meanwhile = ""};
    struct partition *partition = &world.partition;
    partition->literals = LITERALS;
    partition->environment = ENVIRONMENT;
    partition->totals.terms = 10;
    init_mutex(&partition->mutex);
    init_mutex(&partition->writer);
    keeper_init(&partition->keeper, PAUSE_S);
    assert_int_equal(keeper_start(partition, NULL), STATUS_OK);
    assert_string_equal(world.calls, "start");
    world.calls[0] = '\0';
}

void
world_end(void)
{
    assert_held(false, false);
    pthread_mutex_destroy(&world.partition.mutex);
    pthread_mutex_destroy(&world.partition.writer);
}
