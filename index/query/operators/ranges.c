#include "index/query/operators/ranges.h"

#include <stdlib.h>
#include <time.h>

#include "base/memory.h"
#include "base/system/clock.h"

enum {
    HELPS_MOST = 8, /* times that somebody is asked */
    LATE_US = 200,
    MEMORY_PART = 8,          /* of what is left, for who helps */
    MEMORY_LEAST = 256 << 10, /* else nobody is asked */
    ROOM_FIRST = 64
};
static const char what[] = "ranges of a scan";

enum part_state { PART_WAITS, PART_TAKEN, PART_DONE };
struct part {
    enum part_state state;
    struct run *run; /* that evaluated it */
    oid *rows;       /* their columns */
    size_t count, room;
};

struct ranges {
    struct operator operator;
    struct ranges_spec spec;
    size_t part_count;
    uint64_t longest_us; /* that a range took here */
    bool late;           /* others wanted the processor in the last range */
    bool done, whole;    /* whole: there was no room, so the pipeline is run once for all rows */
    size_t part, row;    /* to be given next */
    struct helping *helpings[HELPS_MOST];
    size_t helping_count;
    bool helped; /* somebody was asked, and may still be at work */

    pthread_mutex_t mutex; /* guards the parts' states, and that of the helping */
    struct part parts[QUAD_CUTS + 1];
    bool helping;
};

const struct run *
ranges_run(const struct ranges *ranges)
{
    return ranges->operator.run;
}

const struct ranges_spec *
ranges_spec_of(const struct ranges *ranges)
{
    return &ranges->spec;
}

static uint64_t
clock_thread_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* ---- one range, by either thread ---- */

static struct scan_range
range_of(const struct ranges *ranges, size_t part)
{
    const struct quad_cuts *cuts = &ranges->spec.cuts;
    return (struct scan_range){.place = cuts->place,
                               .from = part > 0 ? cuts->values[part - 1] : OID_NONE,
                               .to = part < cuts->count ? cuts->values[part] : OID_NONE};
}

static void
set_range(const struct ranges_spec *own, const struct scan_range *range)
{
    if (own->counts) {
        counts_set_range(own->first, range);
    } else {
        scan_set_range(own->first, range);
    }
}

/* Keeps the columns of a batch. AGAIN: there is no room. */
static enum status
keep(struct part *part, const struct ranges_spec *own, const struct batch *batch,
     struct reason *why)
{
    struct run *run = own->root->run;
    if (part->count + batch->count > part->room) {
        const size_t least = part->count + batch->count;
        const size_t twice = part->room ? 2 * part->room : ROOM_FIRST;
        const size_t room = twice > least ? twice : least;
        const size_t bytes = (room - part->room) * (own->count + 1) * sizeof(oid);
        if (!spill_may_take(&run->spill, bytes) ||
            memory_take(&run->account, bytes, what, why) != STATUS_OK) {
            return STATUS_AGAIN;
        }
        part->rows = memory_resize(part->rows, room * (own->count + 1), sizeof *part->rows);
        part->room = room;
    }
    for (size_t i = 0; i < batch->count; i++) {
        const oid *row = batch_row(run, batch, i);
        oid *kept = part->rows + part->count++ * own->count;
        for (size_t k = 0; k < own->count; k++) {
            kept[k] = row[own->columns[k]];
        }
    }
    return STATUS_OK;
}

static void
forget(struct part *part, const struct ranges_spec *own)
{
    if (part->run) {
        memory_give(&part->run->account, part->room * (own->count + 1) * sizeof(oid));
    }
    free(part->rows);
    *part = (struct part){0};
}

static enum status
evaluate(const struct ranges *ranges, struct part *part, size_t number,
         const struct ranges_spec *own, struct reason *why)
{
    const struct scan_range range = range_of(ranges, number);
    struct batch *batch;
    part->run = own->root->run;
    set_range(own, &range);
    operator_reset(own->root);
    for (;;) {
        TRY(operator_next(own->root, &batch, why));
        if (batch->count == 0) {
            return STATUS_OK;
        }
        TRY(keep(part, own, batch, why));
    }
}

/* The next part that nobody has taken, SIZE_MAX: there is none. */
static size_t
take(struct ranges *ranges)
{
    size_t at = 0;
    while (at < ranges->part_count && ranges->parts[at].state != PART_WAITS) {
        at++;
    }
    if (at == ranges->part_count) {
        return SIZE_MAX;
    }
    ranges->parts[at].state = PART_TAKEN;
    return at;
}

/* Inside the mutex: a range is done, or waits again; unless the other thread was faster. */
static void
put(struct ranges *ranges, size_t at, struct part *part)
{
    if (ranges->parts[at].state == PART_DONE) {
        forget(part, &ranges->spec);
    } else {
        ranges->parts[at] = *part;
    }
}

/* ---- helping ---- */

/* What was read whole before is not read again. */
static void
borrow(const struct helping *helping, const struct ranges_spec *own)
{
    struct operator* operator= own->root;
    for (size_t i = 0; operator&& i<TABLES_MOST; i++, operator= operator->input) {
        if (helping->lent[i]) {
            (void)hash_join_borrow(operator, helping->lent[i]);
        }
    }
    if (own->counts) {
        counts_lend(helping->ranges->spec.first, own->first);
    }
}

/* By the own thread. */
static void
lend(struct helping *helping, const struct ranges_spec *spec)
{
    const struct operator* operator= spec->root;
    for (size_t i = 0; operator&& i<TABLES_MOST; i++, operator= operator->input) {
        helping->lent[i] = hash_join_can_lend(operator) ? operator: NULL;
    }
}

void
ranges_help(struct helping *helping, const struct ranges_spec *own)
{
    struct ranges *ranges = helping->ranges;
    enum status status = STATUS_OK;
    struct reason why;
    borrow(helping, own);
    pthread_mutex_lock(&ranges->mutex);
    while (status == STATUS_OK && !atomic_load(&helping->stop)) {
        const size_t at = take(ranges);
        if (at == SIZE_MAX) {
            break;
        }
        struct part part = {.state = PART_DONE};
        pthread_mutex_unlock(&ranges->mutex);
        status = evaluate(ranges, &part, at, own, &why);
        if (status != STATUS_OK) {
            forget(&part, own);
        }
        pthread_mutex_lock(&ranges->mutex);
        put(ranges, at, &part);
    }
    pthread_mutex_unlock(&ranges->mutex);
}

/* In the thread that helps. */
static void
help(void *context, const struct quad_source *source)
{
    struct helping *helping = context;
    struct ranges *ranges = helping->ranges;
    ranges->operator.run->help->begin(helping, source);
    pthread_mutex_lock(&ranges->mutex);
    ranges->helping = false;
    pthread_mutex_unlock(&ranges->mutex);
}

static void
leave_if_wanted(void *context)
{
    struct helping *helping = context;
    const struct query_helper *helper = ranges_run(helping->ranges)->options->helper;
    if (helper->is_wanted(helper->context)) {
        atomic_store(&helping->stop, true);
    }
}

/* The run of who helps, in so much of the memory. */
static struct helping *
helping_new(struct ranges *ranges, size_t memory)
{
    const struct run *run = ranges->operator.run;
    struct helping *helping = memory_new(sizeof *helping);
    helping->ranges = ranges;
    helping->memory = memory;
    helping->options = *run->options;
    helping->options.helper = NULL;
    helping->options.memory = memory;
    helping->options.scratch_folder = NULL;
    helping->options.cancel = &helping->stop;
    helping->options.step = leave_if_wanted;
    helping->options.step_context = helping;
    helping->options.now_ms = run->now_ms;
    lend(helping, &ranges->spec);
    return helping;
}

/* Whoever helps stops, and has left. */
static void
end_help(struct ranges *ranges)
{
    struct run *run = ranges->operator.run;
    if (!ranges->helped) {
        return;
    }
    struct helping *helping = ranges->helpings[ranges->helping_count - 1];
    atomic_store(&helping->stop, true);
    run->options->helper->end(run->options->helper->context);
    ranges->helped = false;
    if (helping->run) {
        run->report.scans += helping->run->report.scans;
        run->report.scanned += helping->run->report.scanned;
    }
}

/* Asks for help if that is worth it, and there is memory. left: ranges that nobody has taken. */
static void
ask(struct ranges *ranges, size_t left)
{
    struct run *run = ranges->operator.run;
    const struct query_helper *helper = run->options->helper;
    const size_t memory = (run->account.maximum - run->account.used) / MEMORY_PART;
    struct reason why;
    if (!helper || ranges->late || ranges->helping_count == HELPS_MOST || memory < MEMORY_LEAST ||
        ranges->longest_us * left < helper->us_least || !helper->is_free(helper->context)) {
        return;
    }
    end_help(ranges);
    if (memory_take(&run->account, memory, what, &why) != STATUS_OK) {
        return;
    }
    struct helping *helping = helping_new(ranges, memory);
    ranges->helpings[ranges->helping_count++] = helping;
    ranges->helping = true; /* until it has left, which may be at once */
    ranges->helped = helper->begin(helper->context, help, helping);
    if (!ranges->helped) {
        ranges->helping = false;
    }
}

/* ---- the own thread ---- */

/* Forgets what ranges gave, and who helped. */
static void
forget_all(struct ranges *ranges)
{
    struct run *run = ranges->operator.run;
    end_help(ranges);
    for (size_t i = 0; i < ranges->part_count; i++) {
        forget(&ranges->parts[i], &ranges->spec);
    }
    for (size_t i = 0; i < ranges->helping_count; i++) {
        struct helping *helping = ranges->helpings[i];
        memory_give(&run->account, helping->memory);
        run->help->close(helping);
        free(helping);
    }
    ranges->helping_count = 0;
}

/* There is no room to keep what ranges give: the pipeline is run for all rows at once. */
static void
run_whole(struct ranges *ranges)
{
    const struct scan_range all = {0};
    forget_all(ranges);
    set_range(&ranges->spec, &all);
    operator_reset(ranges->spec.root);
    ranges->whole = true;
}

/* Inside the mutex. Whether the first ranges have as many rows as are wanted; *left: ranges that
 * nobody has taken. */
static bool
have_enough(const struct ranges *ranges, size_t *left)
{
    uint64_t rows = 0;
    bool first = true;
    *left = 0;
    for (size_t i = 0; i < ranges->part_count; i++) {
        const struct part *part = &ranges->parts[i];
        first = first && part->state == PART_DONE;
        rows += first ? part->count : 0;
        *left += part->state == PART_WAITS;
    }
    return rows >= ranges->spec.enough;
}

/* Inside the mutex: takes a range, in the end one that who helps is still at: it may have been left
 * without a processor, and is not waited for. SIZE_MAX: all are done. */
static size_t
next_part(struct ranges *ranges)
{
    size_t at = take(ranges);
    for (size_t i = 0; at == SIZE_MAX && i < ranges->part_count; i++) {
        at = ranges->parts[i].state != PART_DONE ? i : SIZE_MAX;
    }
    return at;
}

/* Whether others wanted the processor. */
static bool
is_late(const struct ranges *ranges, uint64_t us, uint64_t used)
{
    const struct query_helper *helper = ranges->operator.run->options->helper;
    return helper && helper->late_most && us > used + used * helper->late_most / 100 + LATE_US;
}

/* Evaluates a range, and sees how long that takes. */
static enum status
evaluate_one(struct ranges *ranges, size_t at, struct part *part, struct reason *why)
{
    const uint64_t began = clock_monotonic_us(), used = clock_thread_us();
    const enum status status = evaluate(ranges, part, at, &ranges->spec, why);
    const uint64_t us = clock_monotonic_us() - began;
    ranges->longest_us = us > ranges->longest_us ? us : ranges->longest_us;
    ranges->late = is_late(ranges, us, clock_thread_us() - used);
    return status;
}

/* AGAIN: there are no ranges. */
static enum status
evaluate_all(struct ranges *ranges, struct reason *why)
{
    enum status status = STATUS_OK;
    size_t left;
    if (ranges->spec.counts) {
        ranges->spec.cuts.count = ranges->spec.most_cuts;
        TRY(counts_divide(ranges->spec.first, &ranges->spec.cuts, why));
    }
    ranges->part_count = ranges->spec.cuts.count + 1;
    if (ranges->part_count == 1) {
        return STATUS_AGAIN;
    }
    pthread_mutex_lock(&ranges->mutex);
    while (status == STATUS_OK && !have_enough(ranges, &left)) {
        const size_t at = next_part(ranges);
        if (at == SIZE_MAX) {
            break;
        }
        const bool alone = !ranges->helping;
        pthread_mutex_unlock(&ranges->mutex);
        if (alone && at > 0) {
            ask(ranges, left);
        }
        struct part part = {.state = PART_DONE};
        status = evaluate_one(ranges, at, &part, why);
        pthread_mutex_lock(&ranges->mutex);
        put(ranges, at, &part);
    }
    pthread_mutex_unlock(&ranges->mutex);
    end_help(ranges);
    return status;
}

/* ---- giving ---- */

/* A term that the other run computed, as one of this run. */
static enum status
own_term(struct run *run, const struct part *part, oid *id, struct reason *why)
{
    struct term term;
    if (*id < OID_LOCAL || part->run == run) {
        return STATUS_OK;
    }
    TRY(dictionary_term(&part->run->dictionary, *id, &term, why));
    return dictionary_intern(&run->dictionary, &term, id, why);
}

static enum status
give(struct ranges *ranges, struct batch *batch, struct reason *why)
{
    struct operator* operator= & ranges->operator;
    struct run *run = operator->run;
    const struct ranges_spec *spec = &ranges->spec;
    while (batch->count < operator->batch_rows && ranges->part<ranges->part_count) {
        const struct part *part = &ranges->parts[ranges->part];
        if (ranges->row == part->count) {
            ranges->part++;
            ranges->row = 0;
            continue;
        }
        const oid *kept = part->rows + ranges->row++ * spec->count;
        oid *row = batch_row(run, batch, batch->count++);
        row_copy(run, row, run->base_row);
        for (size_t k = 0; k < spec->count; k++) {
            oid id = kept[k];
            TRY(own_term(run, part, &id, why));
            row[spec->columns[k]] = id;
        }
    }
    return run_check(run, why);
}

static enum status
ranges_next(struct operator* operator, struct batch ** batch, struct reason *why)
{
    struct ranges *ranges = (struct ranges *)operator;
    if (!ranges->done) {
        const enum status status = evaluate_all(ranges, why);
        ranges->done = true;
        if (status == STATUS_AGAIN || (status == STATUS_LIMIT && ranges->helping_count)) {
            run_whole(ranges);
        } else {
            TRY(status);
        }
    }
    if (ranges->whole) {
        return operator_next(ranges->spec.root, batch, why);
    }
    TRY(operator_batch(operator, batch, why));
    return give(ranges, *batch, why);
}

static void ranges_reset(struct operator* operator)
{
    struct ranges *ranges = (struct ranges *)operator;
    forget_all(ranges);
    ranges->part = ranges->row = 0;
    ranges->done = ranges->whole = false;
}

static void ranges_close(struct operator* operator)
{
    struct ranges *ranges = (struct ranges *)operator;
    forget_all(ranges);
    pthread_mutex_destroy(&ranges->mutex);
}

struct operator* ranges_new(struct run *run, const struct ranges_spec *spec, size_t batch_rows)
{
    static const struct operator_kind kind = {"ranges", sizeof(struct ranges), ranges_next,
                                              ranges_reset, ranges_close};
    struct ranges *ranges = (struct ranges *)operator_new(run, &kind, NULL, batch_rows);
    if (!ranges) {
        return NULL;
    }
    ranges->spec = *spec;
    pthread_mutex_init(&ranges->mutex, NULL);
    operator_contain(&ranges->operator, spec->root);
    return &ranges->operator;
}
