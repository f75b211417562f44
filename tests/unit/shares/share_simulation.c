/* See share_simulation.h. Each machine is two coroutines, one that steps and one that renews the
 * lease, which give way before and after the effect of every operation on a file; the scheduler
 * lets the one go on whose time is next. */
#include "tests/unit/shares/share_simulation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "base/memory.h"
#include "shares/share_owner.h"

enum {
    MACHINES = 3,
    SHARES = 3,
    LEASE_MS = 1000,
    STEP_MS = 250,
    TROUBLED_MS = 12000, /* faults happen until then */
    END_MS = 40000,
    FILES = 64,
    COPIES = 512,
    STACK = 256 << 10,
    TASK_STEPS = 0,
    TASK_RENEWALS,
    TASKS,
};

struct file {
    char name[160];
    char *text; /* NULL: there is none */
    size_t length;
};

struct task {
    ucontext_t context;
    char *stack;
    uint64_t wake_ms; /* true time at which it goes on */
};

struct simulation;
struct machine {
    struct simulation *simulation;
    unsigned number;
    char name[16];
    struct task tasks[TASKS];
    bool renewing;
    double rate; /* of its clock */
    uint64_t offset;
    uint64_t cut_until;
    bool killed, ended;
    struct share_owner *owner;
    uint64_t incarnation;
    bool acts[SHARES];
    struct share_place freeing[SHARES]; /* its release may have been done, with that place */
    unsigned attempts;
    uint64_t until; /* what the guard of its processes was told, by its own clock */
};

/* The data of a share, on the disk of a machine. */
struct data {
    size_t share;
    struct share_place place;
    uint64_t version; /* how much was done for the share by then */
};

struct simulation {
    uint64_t random, now_ms;
    enum simulation_fault fault;
    struct file files[FILES];
    bool own_disks;
    struct data copies[COPIES];
    size_t copy_count;
    uint64_t done[SHARES]; /* versions: all that was ever done for the share */
    struct machine machines[MACHINES];
    ucontext_t scheduler;
    struct task *current;
    bool ended;
    struct simulation_result *result;
};

/* SplitMix64 */
static uint64_t
draw(struct simulation *simulation)
{
    uint64_t z = simulation->random += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static uint64_t
below(struct simulation *simulation, uint64_t most)
{
    return draw(simulation) % most;
}

static bool
is_troubled(const struct simulation *simulation)
{
    return simulation->now_ms < TROUBLED_MS;
}

static uint64_t
local_ms(const struct machine *machine)
{
    return machine->offset + (uint64_t)((double)machine->simulation->now_ms * machine->rate);
}

static uint64_t
clock_of(void *context)
{
    return local_ms(context);
}

/* ---- time ---- */

static void
sleep_for(struct simulation *simulation, uint64_t ms)
{
    simulation->current->wake_ms = simulation->now_ms + ms;
    swapcontext(&simulation->current->context, &simulation->scheduler);
}

static void
give_way(struct machine *machine, uint64_t ms)
{
    if (ms > 0 && !machine->killed) {
        sleep_for(machine->simulation, ms);
    }
}

/* How long one half of an operation takes: most often nothing, at times longer than a lease. */
static uint64_t
delay(struct simulation *simulation)
{
    const uint64_t kind = below(simulation, 400);
    if (!is_troubled(simulation) || kind >= 40) {
        return below(simulation, 8) == 0;
    }
    if (kind >= 4) {
        return below(simulation, 120);
    }
    return below(simulation, kind == 0 ? 6 * LEASE_MS : 2 * LEASE_MS);
}

/* ---- files ---- */

static struct file *
find_file(struct simulation *simulation, const char *name)
{
    struct file *unused = NULL;
    for (size_t i = 0; i < FILES; i++) {
        struct file *file = &simulation->files[i];
        if (file->text != NULL && strcmp(file->name, name) == 0) {
            return file;
        }
        unused = file->text == NULL && unused == NULL ? file : unused;
    }
    if (unused == NULL) {
        abort();
    }
    (void)snprintf(unused->name, sizeof unused->name, "%s", name);
    return unused;
}

static void
put_file(struct file *file, struct slice text)
{
    free(file->text);
    file->text = memory_string_n(text.at, text.length);
    file->length = text.length;
}

static void
remove_file(struct file *file)
{
    free(file->text);
    file->text = NULL;
}

/* Where the machine cannot reach the file system the operation fails, before its effect or after
 * it. */
static enum status
reach(struct machine *machine, struct reason *why)
{
    give_way(machine, delay(machine->simulation));
    return machine->killed || machine->cut_until > machine->simulation->now_ms
               ? status_fail(why, STATUS_SYSTEM, "the file system is away")
               : STATUS_OK;
}

static enum status
sim_read(void *context, const char *name, struct buf *text, struct reason *why)
{
    struct machine *machine = context;
    TRY(reach(machine, why));
    const struct file *file = find_file(machine->simulation, name);
    const bool there = file->text != NULL;
    if (there) {
        buf_append(text, file->text, file->length);
    }
    TRY(reach(machine, why));
    return there ? STATUS_OK : status_fail(why, STATUS_NOT_FOUND, "no %s", name);
}

static enum status
sim_replace(void *context, const char *name, struct slice text, struct reason *why)
{
    struct machine *machine = context;
    TRY(reach(machine, why));
    put_file(find_file(machine->simulation, name), text);
    return reach(machine, why);
}

static enum status
sim_make(void *context, const char *name, struct slice text, bool *made, struct reason *why)
{
    struct machine *machine = context;
    *made = false;
    TRY(reach(machine, why));
    struct file *file = find_file(machine->simulation, name);
    *made = file->text == NULL || machine->simulation->fault == FAULT_MAKE_REPLACES;
    if (*made) {
        machine->simulation->result->claims++;
        put_file(file, text);
    }
    return reach(machine, why);
}

/* Names one by one: what others do meanwhile is seen or not. */
static enum status
sim_list(void *context, const char *folder, share_file_visit *visit, void *visit_context,
         struct reason *why)
{
    struct machine *machine = context;
    const size_t length = strlen(folder);
    TRY(reach(machine, why));
    for (size_t i = 0; i < FILES; i++) {
        const struct file *file = &machine->simulation->files[i];
        if (file->text != NULL && strncmp(file->name, folder, length) == 0 &&
            file->name[length] == '/') {
            visit(visit_context, file->name + length + 1);
            if (below(machine->simulation, 8) == 0) {
                TRY(reach(machine, why));
            }
        }
    }
    return reach(machine, why);
}

static enum status
sim_remove(void *context, const char *name, struct reason *why)
{
    struct machine *machine = context;
    TRY(reach(machine, why));
    remove_file(find_file(machine->simulation, name));
    return reach(machine, why);
}

/* ---- what must never be ---- */

/* The processes of a machine act until they are ended, and never past what their guard was told. */
static bool
acts_for(const struct machine *machine, size_t share)
{
    return machine->acts[share] &&
           (machine->simulation->fault == FAULT_NO_DEADLINE || local_ms(machine) < machine->until);
}

static void
check(struct simulation *simulation)
{
    for (size_t share = 0; share < SHARES; share++) {
        const struct machine *first = NULL;
        for (unsigned m = 0; m < MACHINES; m++) {
            const struct machine *machine = &simulation->machines[m];
            if (acts_for(machine, share) && first != NULL && !simulation->result->broken) {
                simulation->result->broken = true;
                (void)snprintf(simulation->result->what, sizeof simulation->result->what,
                               "share %zu at %lu ms: %s and %s", share,
                               (unsigned long)simulation->now_ms, share_owner_session(first->owner),
                               share_owner_session(machine->owner));
            }
            first = acts_for(machine, share) ? machine : first;
        }
    }
}

/* ---- a machine ---- */

/* A guard that lives is told; one that has ended its processes is not. */
static void
tell_guard(void *context, uint64_t until)
{
    struct machine *machine = context;
    if (local_ms(machine) < machine->until) {
        machine->until = until;
    }
}

/* Begins a session of the same run, after the lease was lost, or of another one. */
static void
begin_session(struct machine *machine, bool same_run)
{
    machine->incarnation = same_run ? machine->incarnation + 1
                                    : ((machine->incarnation >> SESSION_COUNT_BITS) + 1)
                                          << SESSION_COUNT_BITS;
    const struct share_owner_settings settings = {
        .files = {.context = machine,
                  .read = sim_read,
                  .replace = sim_replace,
                  .make = sim_make,
                  .list = sim_list,
                  .remove = sim_remove},
        .now_ms = clock_of,
        .clock = machine,
        .renewed = tell_guard,
        .renewed_context = machine,
        .cluster = {.shares = SHARES,
                    .lease_ms = LEASE_MS,
                    .own_disks = machine->simulation->own_disks},
        .disk = machine->simulation->own_disks ? "/disk" : NULL,
        .machine = machine->name,
        .address = "127.0.0.1:7000",
        .incarnation = machine->incarnation,
        .weight = 1 + machine->number % 2,
    };
    share_owner_close(machine->owner);
    machine->owner = share_owner_open(&settings);
    memset(machine->acts, 0, sizeof machine->acts);
    memset(machine->freeing, 0, sizeof machine->freeing);
    machine->until = 0;
}

/* ---- disks ---- */

static struct data *
find_data(struct simulation *simulation, size_t share, const struct share_place *place)
{
    for (size_t i = 0; i < simulation->copy_count; i++) {
        struct data *data = &simulation->copies[i];
        if (data->share == share && strcmp(data->place.machine, place->machine) == 0 &&
            strcmp(data->place.copy, place->copy) == 0) {
            return data;
        }
    }
    return NULL;
}

static void
put_data(struct simulation *simulation, size_t share, const struct share_place *place,
         uint64_t version)
{
    if (simulation->copy_count == COPIES || find_data(simulation, share, place) != NULL) {
        abort();
    }
    simulation->copies[simulation->copy_count++] =
        (struct data){.share = share, .place = *place, .version = version};
}

static struct share_place
new_place(struct machine *machine, size_t share, const char *where)
{
    struct share_place place = {{0}, {0}};
    uint64_t generation;
    (void)share_owner_place(machine->owner, share, &generation);
    (void)snprintf(place.machine, sizeof place.machine, "%s", where);
    (void)snprintf(place.copy, sizeof place.copy, "%lu-%u", (unsigned long)generation,
                   machine->attempts++);
    return place;
}

/* Its processes do something that is acknowledged. */
static void
work(struct machine *machine, size_t share)
{
    struct simulation *simulation = machine->simulation;
    uint64_t generation;
    if (!simulation->own_disks || !machine->acts[share] || local_ms(machine) >= machine->until) {
        return;
    }
    const struct share_place *place = share_owner_place(machine->owner, share, &generation);
    struct data *data = find_data(simulation, share, place);
    if ((data == NULL || data->version != simulation->done[share] ||
         strcmp(place->machine, machine->name) != 0) &&
        !simulation->result->broken) {
        simulation->result->broken = true;
        (void)snprintf(simulation->result->what, sizeof simulation->result->what,
                       "share %zu at %lu ms: %s runs copy %s of %s, which is not whole", share,
                       (unsigned long)simulation->now_ms, machine->name, place->copy,
                       place->machine);
        return;
    }
    if (data != NULL) {
        data->version = ++simulation->done[share];
    }
}

/* False: it has no data yet, and gets some. */
static bool
has_data(struct machine *machine, size_t share)
{
    struct reason why;
    uint64_t generation;
    if (!machine->simulation->own_disks ||
        share_owner_place(machine->owner, share, &generation)->machine[0] != '\0') {
        return true;
    }
    const struct share_place place = new_place(machine, share, machine->name);
    put_data(machine->simulation, share, &place, 0);
    (void)share_owner_settle(machine->owner, share, &place, &why);
    return false;
}

static void
send_away(struct machine *machine, size_t share, const struct share_target *target)
{
    struct simulation *simulation = machine->simulation;
    struct share_target still;
    struct reason why;
    uint64_t generation;
    const struct share_place from = *share_owner_place(machine->owner, share, &generation);
    const struct share_place to = new_place(machine, share, target->machine);
    uint64_t version = find_data(simulation, share, &from)->version;
    give_way(machine, delay(simulation));
    work(machine, share);
    machine->acts[share] = false;
    if (simulation->fault != FAULT_NO_LAST_PASS) {
        version = find_data(simulation, share, &from)->version;
    }
    give_way(machine, delay(simulation));
    if (machine->killed) {
        return;
    }
    put_data(simulation, share, &to, version);
    if (below(simulation, 8) == 0 || !share_owner_target(machine->owner, share, &still) ||
        strcmp(still.session, target->session) != 0) {
        share_owner_put_off(machine->owner, share, below(simulation, LEASE_MS));
        return;
    }
    simulation->result->copies++;
    machine->freeing[share] = to;
    (void)share_owner_release(machine->owner, share, true, &to, &why);
}

static void
mind_share(struct machine *machine, size_t share)
{
    struct reason why;
    struct share_target target;
    const struct share_place *freeing = &machine->freeing[share];
    switch (share_owner_has(machine->owner, share)) {
    case SHARE_OURS:
        if (machine->killed) {
            break;
        }
        if (freeing->machine[0] != '\0') {
            (void)share_owner_release(machine->owner, share, true, freeing, &why);
            break;
        }
        if (!has_data(machine, share)) {
            break;
        }
        if (share_owner_target(machine->owner, share, &target)) {
            send_away(machine, share, &target);
            break;
        }
        if (!machine->acts[share] && !share_owner_took_clean(machine->owner, share)) {
            machine->simulation->result->takeovers++;
        }
        machine->acts[share] = true;
        work(machine, share);
        break;
    case SHARE_LEAVING:
        give_way(machine, delay(machine->simulation)); /* they end in order */
        machine->acts[share] = false;
        machine->simulation->result->releases++;
        (void)share_owner_release(machine->owner, share, true,
                                  freeing->machine[0] != '\0' ? freeing : NULL, &why);
        break;
    case SHARE_OTHERS:
        machine->acts[share] = false;
        machine->freeing[share] = (struct share_place){{0}, {0}};
        break;
    }
}

/* Where the guard has ended, with all it guarded, there is another. */
static void
begin_guard(struct machine *machine)
{
    if (local_ms(machine) >= machine->until) {
        memset(machine->acts, 0, sizeof machine->acts);
        machine->until = share_owner_until(machine->owner);
    }
}

/* No session ends before what renews it has. */
static void
await_renewal(struct machine *machine)
{
    while (machine->renewing) {
        sleep_for(machine->simulation, 1);
    }
}

/* Its next run, after it was killed; never one after the end of all. */
static void
come_back(struct machine *machine)
{
    struct simulation *simulation = machine->simulation;
    await_renewal(machine);
    begin_session(machine, false);
    do {
        machine->killed = false; /* also when the end of all comes while it is away */
        machine->ended = simulation->ended;
        sleep_for(simulation, 1 + below(simulation, 3 * LEASE_MS));
    } while (simulation->ended);
}

static void
run_machine(struct machine *machine)
{
    for (;;) {
        struct reason why;
        enum status status = STATUS_OK;
        if (share_owner_until(machine->owner) == 0) {
            status = share_owner_renew(machine->owner, &why);
        }
        if (status == STATUS_OK) {
            status = share_owner_step(machine->owner, &why);
        }
        if (machine->killed) {
            come_back(machine);
            continue;
        }
        if (status == STATUS_CANCELLED) {
            machine->simulation->result->losses++;
            await_renewal(machine);
            begin_session(machine, true);
            continue;
        }
        begin_guard(machine);
        for (size_t share = 0; share < SHARES; share++) {
            mind_share(machine, share);
        }
        give_way(machine, 1 + below(machine->simulation, 2 * STEP_MS));
    }
}

static void
renew_lease(struct machine *machine)
{
    for (;;) {
        struct reason why;
        if (!machine->killed && share_owner_until(machine->owner) > 0) {
            machine->renewing = true;
            (void)share_owner_renew(machine->owner, &why);
            machine->renewing = false;
        }
        sleep_for(machine->simulation, 1 + below(machine->simulation, STEP_MS));
    }
}

static void
enter(unsigned high, unsigned low)
{
    struct machine *machine = (struct machine *)(((uintptr_t)high << 32) | low);
    if (machine->simulation->current == &machine->tasks[TASK_STEPS]) {
        run_machine(machine);
    } else {
        renew_lease(machine);
    }
}

static void
make_task(struct machine *machine, struct task *task)
{
    const uintptr_t address = (uintptr_t)machine;
    task->stack = memory_zero(STACK, 1);
    getcontext(&task->context);
    task->context.uc_stack.ss_sp = task->stack;
    task->context.uc_stack.ss_size = STACK;
    task->context.uc_link = NULL;
    makecontext(&task->context, (void (*)(void))enter, 2, (unsigned)(address >> 32),
                (unsigned)address);
}

static void
make_machine(struct simulation *simulation, unsigned number)
{
    struct machine *machine = &simulation->machines[number];
    machine->simulation = simulation;
    machine->number = number;
    (void)snprintf(machine->name, sizeof machine->name, "m%u", number);
    machine->rate = 0.95 + (double)below(simulation, 100) / 1000;
    machine->offset = below(simulation, 1000000);
    begin_session(machine, false);
    for (size_t i = 0; i < TASKS; i++) {
        make_task(machine, &machine->tasks[i]);
        machine->tasks[i].wake_ms = below(simulation, 3000);
    }
}

/* ---- what happens to them ---- */

/* Its processes are gone at once; what was being written stays as it was or is written. */
static void
kill_machine(struct simulation *simulation, struct machine *machine)
{
    memset(machine->acts, 0, sizeof machine->acts);
    machine->killed = true;
    for (size_t i = 0; i < TASKS; i++) {
        machine->tasks[i].wake_ms = simulation->now_ms;
    }
}

static void
people_change(struct simulation *simulation)
{
    char name[32];
    const unsigned machine = (unsigned)below(simulation, MACHINES);
    if (below(simulation, 2) == 0) {
        (void)snprintf(name, sizeof name, "drains/m%u", machine);
    } else {
        (void)snprintf(name, sizeof name, "moves/%u", (unsigned)below(simulation, SHARES));
    }
    struct file *file = find_file(simulation, name);
    if (file->text != NULL) {
        remove_file(file);
    } else {
        put_file(file, slice_string(simulation->machines[machine].name));
    }
}

static void
trouble(struct simulation *simulation)
{
    struct machine *machine = &simulation->machines[below(simulation, MACHINES)];
    switch (below(simulation, 4)) {
    case 0: /* stopped, with all its processes */
        for (size_t i = 0, ms = below(simulation, 4 * LEASE_MS); i < TASKS; i++) {
            machine->tasks[i].wake_ms += ms;
        }
        break;
    case 1: /* evicted from the file system, or cut off from it */
        machine->cut_until = simulation->now_ms + below(simulation, 4 * LEASE_MS);
        break;
    case 2:
        if (below(simulation, 4) == 0) {
            kill_machine(simulation, machine);
        }
        break;
    default:
        people_change(simulation);
    }
}

static void
end_trouble(struct simulation *simulation)
{
    for (size_t i = 0; i < FILES; i++) {
        struct file *file = &simulation->files[i];
        if (file->text != NULL && strncmp(file->name, "drains/", 7) == 0) {
            remove_file(file);
        }
    }
}

static struct task *
next_task(struct simulation *simulation)
{
    struct task *next = &simulation->machines[0].tasks[0];
    for (unsigned m = 0; m < MACHINES; m++) {
        for (size_t i = 0; i < TASKS; i++) {
            struct task *task = &simulation->machines[m].tasks[i];
            next = task->wake_ms < next->wake_ms ? task : next;
        }
    }
    return next;
}

static void
go_on(struct simulation *simulation, struct task *task)
{
    simulation->current = task;
    swapcontext(&simulation->scheduler, &task->context);
}

static bool
all_run(const struct simulation *simulation)
{
    for (size_t share = 0; share < SHARES; share++) {
        bool run = false;
        for (unsigned m = 0; m < MACHINES; m++) {
            run |= acts_for(&simulation->machines[m], share);
        }
        if (!run) {
            return false;
        }
    }
    return true;
}

void
simulate(uint64_t schedule, bool own_disks, enum simulation_fault fault,
         struct simulation_result *result)
{
    struct simulation *simulation = memory_new(sizeof *simulation);
    uint64_t trouble_ms;
    *result = (struct simulation_result){0};
    simulation->random = schedule;
    simulation->result = result;
    simulation->own_disks = own_disks;
    for (unsigned m = 0; m < MACHINES; m++) {
        make_machine(simulation, m);
    }
    simulation->fault = fault;
    trouble_ms = below(simulation, 2000);
    while (!result->settled && !result->broken && simulation->now_ms < END_MS) {
        struct task *task = next_task(simulation);
        if (is_troubled(simulation) && trouble_ms <= task->wake_ms) {
            simulation->now_ms = trouble_ms > simulation->now_ms ? trouble_ms : simulation->now_ms;
            trouble(simulation);
            trouble_ms = simulation->now_ms + below(simulation, 1500);
            continue;
        }
        simulation->now_ms =
            task->wake_ms > simulation->now_ms ? task->wake_ms : simulation->now_ms;
        go_on(simulation, task);
        check(simulation);
        if (!is_troubled(simulation)) {
            end_trouble(simulation);
            result->settled =
                simulation->now_ms > TROUBLED_MS + 8 * LEASE_MS && all_run(simulation);
        }
    }
    simulation->ended = true;
    for (unsigned m = 0; m < MACHINES; m++) {
        struct machine *machine = &simulation->machines[m];
        machine->killed = true; /* what it is in the middle of fails, and it comes to its end */
        while (machine->renewing) {
            go_on(simulation, &machine->tasks[TASK_RENEWALS]);
        }
        while (!machine->ended) {
            go_on(simulation, &machine->tasks[TASK_STEPS]);
        }
        share_owner_close(machine->owner);
        for (size_t i = 0; i < TASKS; i++) {
            free(machine->tasks[i].stack);
        }
    }
    for (size_t i = 0; i < FILES; i++) {
        free(simulation->files[i].text);
    }
    free(simulation);
}
