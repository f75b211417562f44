/* Tells from its URI and what it carries what a job is for, and what its host's rules allow. */
#include <string.h>

#include "base/system/clock.h"
#include "base/url/url.h"
#include "stages/fetch/task/fetch_task.h"

enum task_kind
task_kind(struct slice uri)
{
    const struct slice fragment =
        slice_of(uri.at + slice_find(uri, '#'), uri.length - slice_find(uri, '#'));
    return slice_is(fragment, DUMP_FRAGMENT)                                       ? TASK_DUMP
           : slice_is(fragment, LISTING_FRAGMENT)                                  ? TASK_LISTING
           : slice_is(fragment, strchr(SITEMAPS_FRAGMENT, '#'))                    ? TASK_SITEMAPS
           : slice_starts(fragment, slice_string(strchr(PLAN_FRAGMENT, '#')))      ? TASK_PLAN
           : slice_starts(fragment, slice_string(strchr(EXECUTION_FRAGMENT, '#'))) ? TASK_SLICE
                                                                                   : TASK_PAGE;
}

bool
task_is_sitemap(const struct task *task)
{
    return slice_is(task->job->document.type, SITEMAP_TYPE) || task_is_guess(task);
}

bool
task_is_guess(const struct task *task)
{
    return slice_is(task->job->document.type, GUESS_TYPE);
}

bool
task_is_sample(const struct task *task)
{
    return slice_is(task->job->document.type, SAMPLE_TYPE);
}

bool
task_is_void(const struct task *task)
{
    const struct slice path = url_path_query(task->url), via = task->job->job.via;
    return slice_is(path, WELL_KNOWN_VOID) || (task->job->job.hops > 0 && via.length > 0 &&
                                               slice_is(url_path_query(via), WELL_KNOWN_VOID));
}

bool
task_may_ask(const struct task *task, struct slice url)
{
    const struct host *host = hosts_find(task->fetch->hosts, task->origin, clock_wall_ms());
    return host == NULL || host_allows(host, url);
}
