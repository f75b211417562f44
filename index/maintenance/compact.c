/* Giving space back: what many replacements leave is blocks thinly filled, pages thinly filled,
 * free pages inside the files, and log files. Each step is a transaction of its own between two
 * batches; readers are kept out for its length only.
 *
 * Terms that no quad uses any more stay: numbers are never given twice, the keyword index and
 * copies elsewhere rely on that, and a page that comes back mostly brings its old terms with it. */
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "index/write/partition_state.h"

enum { PATH_SIZE = 4096, LINE_SIZE = 256, PAUSE_US = 500 };

struct compaction {
    struct partition *partition;
    const atomic_bool *cancel;
    partition_report *report;
    void *context;
};

struct position {
    uint8_t key[TREE_KEY_MAXIMUM];
    size_t length;
    bool end;
};

typedef enum status compact_step(struct compaction *c, int order, struct tree *tree,
                                 struct transaction *transaction, struct position *position,
                                 struct reason *why);

static enum status
merge_blocks(struct compaction *c, int order, struct tree *tree, struct transaction *transaction,
             struct position *position, struct reason *why)
{
    (void)tree;
    return quads_merge_step(c->partition->quads, (enum quad_order)order, transaction, position->key,
                            &position->length, &position->end, why);
}

static enum status
merge_pages(struct compaction *c, int order, struct tree *tree, struct transaction *transaction,
            struct position *position, struct reason *why)
{
    (void)c;
    (void)order;
    return tree_compact_step(tree, transaction, position->key, &position->length, &position->end,
                             why);
}

/* Between two batches. */
static enum status
do_step(struct compaction *c, compact_step *step, int order, struct tree *tree,
        struct position *position, struct reason *why)
{
    struct partition *partition = c->partition;
    struct transaction *transaction = NULL;
    partition_lock_writer(partition);
    enum status status = partition_health(partition, why);
    if (status == STATUS_OK) {
        status = transaction_begin(&transaction, partition->environment, 0, why);
    }
    if (status == STATUS_OK) {
        environment_close_latches(partition->environment);
        status = step(c, order, tree, transaction, position, why);
        if (status != STATUS_OK) {
            transaction_abort(transaction);
        }
        environment_open_latches(partition->environment);
        if (status == STATUS_OK) {
            status = transaction_commit(transaction, why);
        }
    }
    pthread_mutex_unlock(&partition->writer);
    return status;
}

static enum status
do_steps(struct compaction *c, compact_step *step, int order, struct tree *tree, struct reason *why)
{
    struct position position = {.length = 0};
    while (!position.end) {
        if (atomic_load(c->cancel)) {
            return status_fail(why, STATUS_CANCELLED, "compacting was ended");
        }
        TRY(do_step(c, step, order, tree, &position, why));
        TRY(environment_checkpoint(c->partition->environment, false, why));
        (void)usleep(PAUSE_US); /* a waiting batch goes first */
    }
    return STATUS_OK;
}

static uint64_t
file_bytes(const struct partition *partition, struct tree *tree)
{
    char path[PATH_SIZE];
    char name[TREE_FILE_SIZE];
    struct stat info;
    latch_enter_reading(tree_latch(tree));
    tree_file(tree, name);
    latch_leave(tree_latch(tree));
    snprintf(path, sizeof(path), "%s/%s", partition->folder, name);
    return stat(path, &info) == 0 ? (uint64_t)info.st_size : 0;
}

static enum status
report_sizes(struct compaction *c, const char *name, uint64_t before, uint64_t after,
             struct reason *why)
{
    char line[LINE_SIZE];
    const int n = snprintf(line, sizeof(line), "%s: %" PRIu64 " bytes before, %" PRIu64 " after\n",
                           name, before, after);
    return c->report(c->context, slice_of(line, (size_t)n), why);
}

static enum status
compact_trees(struct compaction *c, struct reason *why)
{
    struct partition *partition = c->partition;
    for (int order = 0; order < ORDER_COUNT; order++) {
        TRY(do_steps(c, merge_blocks, order, NULL, why));
    }
    for (struct tree *tree = environment_tree(partition->environment, NULL); tree != NULL;
         tree = environment_tree(partition->environment, tree)) {
        const uint64_t before = file_bytes(partition, tree);
        TRY(do_steps(c, merge_pages, 0, tree, why));
        char name[TREE_FILE_SIZE];
        snprintf(name, sizeof(name), "%s.db", tree_name(tree));
        TRY(report_sizes(c, name, before, file_bytes(partition, tree), why));
    }
    return STATUS_OK;
}

static enum status
compact_all(struct compaction *c, struct reason *why)
{
    struct partition *partition = c->partition;
    const uint64_t before = environment_bytes(partition->environment);
    TRY(compact_trees(c, why));
    TRY(environment_checkpoint(partition->environment, true, why)); /* also removes old log */
    return report_sizes(c, "all files", before, environment_bytes(partition->environment), why);
}

enum status
partition_compact(struct partition *partition, const atomic_bool *cancel, partition_report *report,
                  void *context, struct reason *why)
{
    struct compaction c = {partition, cancel, report, context};
    if (pthread_mutex_trylock(&partition->maintenance) != 0) {
        return status_fail(why, STATUS_AGAIN, "%s: another backup or compact is under way",
                           partition->folder);
    }
    const enum status status = compact_all(&c, why);
    pthread_mutex_unlock(&partition->maintenance);
    return status;
}
