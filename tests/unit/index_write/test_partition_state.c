/* The state that writers of a partition share (index/write/partition_state.c), and whether all
 * trees of it are there (index/write/partition_whole.c): the linker puts the functions below where
 * the stores would be. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/system/watchdog.h"
#include "index/write/partition_state.h"
#include "tests/unit/stand_in.h"

enum { TREES = 2 + ORDER_COUNT, DOCUMENTS = ORDER_COUNT, TERMS };

static struct world {
    struct partition partition;
    char empty[TREES + 1];  /* of each tree: - it has something, 0 nothing, ! it cannot be read */
    unsigned missing;       /* orders that were said to be missing */
    bool broken, committed; /* committed: nodes know of it */
    int paused, notes;
    char trees[TREES], things[8]; /* whose addresses stand for stores */
} world;

static const char *const names[TREES] = {
    [ORDER_SPOC] = "spoc", [ORDER_CSPO] = "cspo", [DOCUMENTS] = "documents", [TERMS] = "terms"};

#define THING(type, i) ((type *)(void *)&world.things[i])
#define TREE(i) ((struct tree *)(void *)&world.trees[i])

static size_t
number_of(const struct tree *tree)
{
    const size_t number = (size_t)((const char *)(const void *)tree - world.trees);
    assert_true(number < TREES);
    return number;
}

STAND_IN(enum status, tree_is_empty, (struct tree * tree, bool *empty, struct reason *why))
{
    const char state = world.empty[number_of(tree)];
    *empty = state == '0';
    return state == '!' ? status_fail(why, STATUS_CORRUPT, "a damaged page") : STATUS_OK;
}

STAND_IN(const char *, tree_name, (const struct tree *tree))
{
    const char *const name = names[number_of(tree)];
    return name != NULL ? name : "another";
}

STAND_IN(struct tree *, quads_tree, (const struct quads *quads, enum quad_order order))
{
    assert_ptr_equal(quads, world.partition.quads);
    return TREE(order);
}

STAND_IN(struct tree *, lexicon_terms, (const struct lexicon *lexicon))
{
    assert_ptr_equal(lexicon, world.partition.lexicon);
    return TREE(TERMS);
}

STAND_IN(void, snapshots_set_missing, (struct snapshots * snapshots, const struct reason *why))
{
    assert_ptr_equal(snapshots, world.partition.snapshots);
    assert_non_null(strstr(why->text, "missing or has lost"));
    world.missing++;
}

STAND_IN(struct nodes *, lexicon_nodes, (struct lexicon * lexicon))
{
    assert_ptr_equal(lexicon, world.partition.lexicon);
    return THING(struct nodes, 0);
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

STAND_IN(void, nodes_committed, (struct nodes * nodes))
{
    assert_ptr_equal(nodes, THING(struct nodes, 0));
    assert_int_equal(world.notes, 0); /* before anybody hears of it */
    world.committed = true;
}

STAND_IN(void, keeper_note_commit, (struct partition * partition))
{
    assert_ptr_equal(partition, &world.partition);
    assert_true(is_held(&partition->mutex));
    world.notes++;
}

STAND_IN(uint64_t, keeper_words, (struct partition * partition))
{
    assert_ptr_equal(partition, &world.partition);
    return 123;
}

STAND_IN(uint64_t, snapshots_committed, (struct snapshots * snapshots))
{
    assert_ptr_equal(snapshots, world.partition.snapshots);
    return 45;
}

STAND_IN(void, change_log_state,
         (struct change_log * log, struct change_position *last, uint64_t *first))
{
    assert_ptr_equal(log, world.partition.change_log);
    *last = (struct change_position){.batch = 67};
    *first = 8;
}

STAND_IN(uint64_t, environment_bytes, (const struct environment *environment))
{
    assert_ptr_equal(environment, world.partition.environment);
    return 910;
}

STAND_IN(bool, environment_is_broken, (const struct environment *environment))
{
    assert_ptr_equal(environment, world.partition.environment);
    return world.broken;
}

/* Whoever waits for the lock is not watched. */
STAND_IN(void, watchdog_pause, (void))
{
    assert_false(is_held(&world.partition.writer));
    world.paused++;
}

STAND_IN(void, watchdog_resume, (void))
{
    assert_true(is_held(&world.partition.writer));
    world.paused--;
}

/* Who locks a mutex has not done so before, who unlocks it has. */
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
STAND_IN(int, pthread_mutex_lock, (pthread_mutex_t * mutex))
{
    assert_int_equal(__real_pthread_mutex_lock(mutex), 0);
    return 0;
}

int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
STAND_IN(int, pthread_mutex_unlock, (pthread_mutex_t * mutex))
{
    assert_int_equal(__real_pthread_mutex_unlock(mutex), 0);
    return 0;
}

static void
init_mutex(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

static int
begin(void **state)
{
    (void)state;
    world = (struct world){.partition = {.quads = THING(struct quads, 1),
                                         .lexicon = THING(struct lexicon, 2),
                                         .snapshots = THING(struct snapshots, 3),
                                         .change_log = THING(struct change_log, 4),
                                         .environment = THING(struct environment, 5),
                                         .documents = TREE(DOCUMENTS),
                                         .folder = (char *)(uintptr_t) "a/folder",
                                         .announce = -1}};
    init_mutex(&world.partition.mutex);
    init_mutex(&world.partition.writer);
    return 0;
}

static int
end(void **state)
{
    (void)state;
    const bool held = is_held(&world.partition.mutex) || is_held(&world.partition.writer);
    pthread_mutex_destroy(&world.partition.mutex);
    pthread_mutex_destroy(&world.partition.writer);
    return held || world.paused != 0;
}

/* ---- trees ---- */

static void
a_tree_that_was_lost_is_told(void **state)
{
    /* Trees in the order of the orders, then documents and terms. */
    static const struct {
        uint64_t quads, terms, batches, gathered;
        const char *empty;
        enum status status;
        const char *text;
        unsigned missing;
    } cases[] = {
        {0, 0, 0, 0, "00000000", STATUS_OK, "", 0},
        {0, 0, 5, 0, "--------", STATUS_OK, "", 0},
        {0, 0, 1, 0, "--------", STATUS_OK, "", 0},
        {0, 9, 0, 0, "00000000", STATUS_OK, "", 0},
        {0, 0, 0, 0, "--------", STATUS_CORRUPT,
         "a/folder: the file of statistics is missing or has lost what was in it", 0},
        {0, 0, 0, 0, "!!!!!!!!", STATUS_CORRUPT, "a damaged page", 0},
        {7, 3, 1, 0, "--------", STATUS_OK, "", 0},
        {1, 1, 1, 0, "--------", STATUS_OK, "", 0},
        {7, 0, 1, 0, "--------", STATUS_CORRUPT,
         "a/folder: the file of nodes is missing or has lost what was in it", 0},
        {7, 3, 1, 0, "------0-", STATUS_CORRUPT,
         "a/folder: the file of documents is missing or has lost what was in it (7 quads are "
         "known)",
         0},
        {7, 3, 1, 0, "-------0", STATUS_CORRUPT,
         "a/folder: the file of terms is missing or has lost what was in it (7 quads are known)",
         0},
        {1, 3, 1, 0, "cspo", STATUS_CORRUPT,
         "a/folder: the file of cspo is missing or has lost what was in it (1 quads are known)", 0},
        {7, 3, 1, 0, "!!!!!!!!", STATUS_OK, "", 0},
        {7, 3, 1, 0, "0-------", STATUS_OK, "", 1},
        {7, 3, 1, 0, "others", STATUS_OK, "", ORDER_COUNT - 1},
        {7, 3, 1, 9, "others", STATUS_OK, "", 0}, /* they may lack what is gathered */
        {7, 3, 1, 1, "others", STATUS_OK, "", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reason why = {""};
        const bool others = strcmp(cases[i].empty, "others") == 0;
        world.partition.totals = (struct totals){
            .quads = cases[i].quads, .terms = cases[i].terms, .batches = cases[i].batches};
        world.partition.gathered.from = cases[i].gathered;
        world.missing = 0;
        memset(world.empty, others ? '0' : '-', TREES);
        if (others) {
            world.empty[ORDER_CSPO] = world.empty[DOCUMENTS] = world.empty[TERMS] = '-';
        } else if (strcmp(cases[i].empty, "cspo") == 0) {
            world.empty[ORDER_CSPO] = '0';
        } else {
            memcpy(world.empty, cases[i].empty, TREES);
        }
        const enum status status = partition_check_whole(&world.partition, &why);
        if (status != cases[i].status || strcmp(why.text, cases[i].text) != 0) {
            fail_msg("case %zu: %s: %s", i, status_name(status), why.text);
        }
        assert_int_equal(world.missing, cases[i].missing);
    }
}

/* ---- state ---- */

static void
a_commit_is_announced(void **state)
{
    (void)state;
    struct partition *partition = &world.partition;
    const struct totals totals = {.quads = 5, .terms = 6, .batches = 7};
    uint64_t count;
    for (unsigned announce = 0; announce < 2; announce++) {
        const int event = eventfd(0, EFD_NONBLOCK);
        partition_announce_to(partition, announce ? event : -1);
        assert_int_equal(partition->announce, announce ? event : -1);
        world.committed = false;
        world.notes = 0;
        partition->totals = (struct totals){.quads = 1};
        partition_committed(partition, &totals);
        assert_true(world.committed);
        assert_int_equal(world.notes, 1);
        const struct totals now = partition_totals(partition);
        assert_true(now.quads == 5 && now.terms == 6 && now.batches == 7);
        assert_int_equal(read(event, &count, sizeof count), announce ? (int)sizeof count : -1);
        if (announce) {
            assert_int_equal(count, 1);
        }
        partition_announce_to(partition, -1);
        close(event);
    }
}

/* Any descriptor may be told, the first one as well. */
static void
a_commit_is_announced_to_the_first_descriptor(void **state)
{
    (void)state;
    uint64_t count = 0;
    const int kept = dup(STDIN_FILENO), event = eventfd(0, EFD_NONBLOCK);
    assert_int_equal(dup2(event, STDIN_FILENO), STDIN_FILENO);
    partition_announce_to(&world.partition, STDIN_FILENO);
    partition_committed(&world.partition, &(struct totals){.quads = 1});
    const ssize_t got = read(event, &count, sizeof count);
    assert_int_equal(kept >= 0 ? dup2(kept, STDIN_FILENO) : close(STDIN_FILENO), 0);
    close(kept);
    close(event);
    assert_int_equal(got, sizeof count);
    assert_int_equal(count, 1);
}

static void
its_numbers_are_told(void **state)
{
    (void)state;
    struct partition *partition = &world.partition;
    struct partition_version version = {0, 0};
    struct partition_stats stats;
    struct change_position position;
    uint64_t first;
    partition_version(partition, &version);
    assert_int_equal(version.words, 123);
    assert_int_equal(version.commits, 45);
    partition_position(partition, &position, &first);
    assert_int_equal(position.batch, 67);
    assert_int_equal(first, 8);
    partition->totals.documents = 11;
    atomic_store(&partition->writes, STATUS_FULL);
    partition_stats(partition, &stats);
    assert_int_equal(stats.totals.documents, 11);
    assert_int_equal(stats.bytes, 910);
    assert_int_equal(stats.writes, STATUS_FULL);
}

static void
the_writer_is_locked(void **state)
{
    (void)state;
    partition_lock_writer(&world.partition);
    assert_true(is_held(&world.partition.writer));
    assert_int_equal(world.paused, 0);
    pthread_mutex_unlock(&world.partition.writer);
}

static void
some_failures_may_be_waited_for(void **state)
{
    (void)state;
    for (enum status status = STATUS_OK; status < STATUS_COUNT; status++) {
        world.broken = false;
        assert_int_equal(partition_waits(&world.partition, status),
                         status == STATUS_FULL || status == STATUS_CORRUPT);
        world.broken = true;
        assert_false(partition_waits(&world.partition, status));
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_tree_that_was_lost_is_told),
        TEST(a_commit_is_announced),
        TEST(a_commit_is_announced_to_the_first_descriptor),
        TEST(its_numbers_are_told),
        TEST(the_writer_is_locked),
        TEST(some_failures_may_be_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
