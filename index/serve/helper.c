#include "index/serve/helper.h"

#include <unistd.h>

/* As the query's own thread has: who writes comes first. */
enum { NICE = 3 };
/* To begin, and to put together what comes of it, takes a fraction of a millisecond. */
enum { ROWS_LEAST = 100000, US_LEAST = 8000, LATE_MOST = 25 };

static bool
is_free(void *context)
{
    const struct helper *helper = context;
    return turn_may_lend(helper->turn);
}

static bool
is_wanted(void *context)
{
    const struct helper *helper = context;
    return turn_is_wanted(helper->turn);
}

static void *
run(void *argument)
{
    struct helper *helper = argument;
    const int niceness = nice(NICE); /* of this thread */
    (void)niceness;
    helper->help(helper->argument, partition_reader_source(helper->own));
    turn_lent_back(helper->turn, turn_cpu_us());
    return NULL;
}

static bool
begin(void *context, query_help *help, void *argument)
{
    struct helper *helper = context;
    if (!turn_lend(helper->turn)) {
        return false;
    }
    helper->help = help;
    helper->argument = argument;
    helper->own = partition_reader_share(helper->reader);
    if (pthread_create(&helper->thread, NULL, run, helper) != 0) {
        partition_reader_close(helper->own);
        turn_lent_back(helper->turn, 0);
        return false;
    }
    return true;
}

static void
end(void *context)
{
    struct helper *helper = context;
    pthread_join(helper->thread, NULL);
    partition_reader_close(helper->own);
}

void
helper_init(struct helper *helper, struct turn *turn, struct partition_reader *reader)
{
    *helper = (struct helper){.functions = {.context = helper,
                                            .rows_least = ROWS_LEAST,
                                            .us_least = US_LEAST,
                                            .late_most = LATE_MOST,
                                            .is_free = is_free,
                                            .begin = begin,
                                            .end = end,
                                            .is_wanted = is_wanted},
                              .turn = turn,
                              .reader = reader};
}
