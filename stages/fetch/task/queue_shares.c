/* Decides how a host's fetches are divided between what its sitemaps list and what links lead to:
 * notes what is fetched, looks at what became of it an epoch later, and tells queue and metadata
 * store with the host's next job. docs/SITEMAPS.md, Two queues. */
#include <stdlib.h>

#include "base/memory.h"
#include "stages/fetch/task/fetch_task.h"

/* After so many fetches of a host they are divided anew between what sitemaps list and what links
 * lead to. */
enum { EPOCH = 40 };

/* Records being read. */
struct looking {
    struct fetch *fetch;
    char *origin;
    unsigned counts[BALANCE_KINDS];
};

static void
records_read(void *context, enum status status, const struct slice *records, size_t n,
             const struct reason *why)
{
    struct looking *looking = context;
    struct host *host = hosts_find(looking->fetch->hosts, slice_string(looking->origin), 0);
    (void)n;
    (void)why;
    if (status == STATUS_OK && host != NULL && host->balance != NULL) {
        balance_look(host->balance, records[0], records + 1, looking->counts);
    }
    free(looking->origin);
    free(looking);
}

static void
read_outcomes(struct task *task, const struct balance *balance)
{
    struct slice keys[1 + BALANCE_KINDS * BALANCE_SAMPLE];
    struct arena *arena = &task->job->arena;
    struct looking *looking = memory_new(sizeof *looking);
    size_t n = 0;
    looking->fetch = task->fetch;
    looking->origin = memory_string_n(task->origin.at, task->origin.length);
    keys[n++] = arena_printf(arena, "h%.*s", SLICE_PRINT(task->origin));
    for (int kind = 0; kind < BALANCE_KINDS; kind++) {
        for (unsigned i = 0; i < balance->size && balance->before[kind].uris[i] != NULL; i++) {
            keys[n++] = arena_printf(arena, "u%s", balance->before[kind].uris[i]);
            looking->counts[kind]++;
        }
    }
    metastore_get(stage_metastore(task->job->run), keys, n, records_read, looking);
}

static void
set_share(struct task *task, struct balance *balance)
{
    struct meta_update update;
    const uint8_t share = queue_balance_share(&balance->queues);
    balance->pending = false;
    stage_set_lane_share(task->job, share);
    meta_update_init(&update);
    meta_set_number(&update, META_SITEMAP_SHARE, share);
    meta_set_number(&update, META_SITEMAP_SAMPLED, balance->sampled[BALANCE_SITEMAP]);
    meta_set_number(&update, META_SITEMAP_USEFUL, balance->useful[BALANCE_SITEMAP]);
    meta_set_number(&update, META_LINK_SAMPLED, balance->sampled[BALANCE_LINK]);
    meta_set_number(&update, META_LINK_USEFUL, balance->useful[BALANCE_LINK]);
    stage_put_meta(task->job, arena_printf(&task->job->arena, "h%.*s", SLICE_PRINT(task->origin)),
                   meta_update_fields(&update));
    meta_update_release(&update);
}

void
task_balance(struct task *task)
{
    const struct job *job = &task->job->job;
    struct host *host = hosts_find(task->fetch->hosts, task->origin, 0);
    if (host == NULL || !task->sitemaps.mapped || task->resource || task_is_sitemap(task) ||
        !task->report.asked || job->generation != 1) {
        return;
    }
    if (host->balance == NULL) {
        host->balance = balance_new(EPOCH);
    }
    if (balance_note(host->balance, job->flags & JOB_SITEMAP ? BALANCE_SITEMAP : BALANCE_LINK,
                     job->uri)) {
        read_outcomes(task, host->balance);
        balance_next_epoch(host->balance);
    }
    if (host->balance->pending) {
        set_share(task, host->balance);
    }
}
