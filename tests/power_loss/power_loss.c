/* What a power failure may do to what was acknowledged.
 *
 *   power_loss NAME...             does what the scenarios of these names do, under the recorder,
 *                                  then starts on what a disk may hold after cuts at random moments
 *   power_loss --sites NAME...     for each place in the code that syncs: is it missed if it does
 *                                  not? It must be unless syncs.tsv says that it need not
 *   power_loss --listed NAME...    only whether all of these places are in syncs.tsv
 *   power_loss --mark TEXT         under the recorder: what a script saw acknowledged
 *   power_loss --count TRACE       how many operations a trace has, and its marks
 *   power_loss --state TRACE AT SEED FOLDER    makes one state, for scripts
 *
 * QUADRILLE_POWER_SITE takes only the places whose names contain it,
 * QUADRILLE_POWER_CUTS multiplies the number of cuts, QUADRILLE_POWER_SEED gives other ones.
 * A state that fails is told by cut, fate and seed, and found again by them. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/log.h"
#include "tests/power_loss/scenarios.h"
#include "tests/power_loss/trace.h"
#include "tests/unit/scratch.h"

enum {
    CHECK_S = 120,
    TRIES_OF_SITE = 120,
    TRACE_SIZE = SCRATCH_SIZE + 16,
    LINE_SIZE = 8192,
    DEATHS_MOST = 200
};

#define SITES_TABLE "tests/power_loss/syncs.tsv"

enum task { TASK_CUTS, TASK_SITES, TASK_LISTED };

static const struct scenario *const scenarios[] = {
    &scenario_queue,      &scenario_metadata, &scenario_archive, &scenario_index,
    &scenario_index_anew, &scenario_settings, &scenario_backup,  &scenario_crawl};

static const char *const fate_names[DISK_FATES] = {"by chance",
                                                   "all lost",
                                                   "all lost, sizes kept",
                                                   "all kept",
                                                   "as a while before",
                                                   "one lost",
                                                   "one lost, size kept",
                                                   "one kept",
                                                   "mixed"};

static char base[SCRATCH_SIZE], trace_path[TRACE_SIZE], state_folder[TRACE_SIZE],
    message_path[TRACE_SIZE];
static uint64_t seed = 1;

static uint64_t
next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static void
remove_all(const char *path)
{
    char command[2 * PATH_MAX + 32];
    snprintf(command, sizeof command, "rm -rf '%s' '%s.nq'", path, path);
    if (system(command) != 0) {
        exit(1);
    }
}

void
acknowledge(const char *text)
{
    void (*mark)(const char *);
    *(void **)&mark = dlsym(RTLD_DEFAULT, TRACE_MARK_FUNCTION);
    if (mark != NULL) {
        mark(text);
    }
}

static unsigned death_at; /* the sync of a folder at which this process is killed */

void
die_from_here(void)
{
    void (*die)(unsigned);
    *(void **)&die = dlsym(RTLD_DEFAULT, TRACE_DIE_FUNCTION);
    if (die != NULL) {
        die(death_at);
    }
}

/* Returns whether it lived to its end. */
static bool
lives(void (*go_on)(const char *folder, unsigned *done), const char *folder, unsigned *done)
{
    int code = 0;
    const pid_t child = fork();
    if (child == 0) {
        go_on(folder, done);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &code, 0) != child ||
        (WIFEXITED(code) && WEXITSTATUS(code) != 0)) {
        fprintf(stderr, "a store cannot be opened after a death\n");
        exit(1);
    }
    return WIFEXITED(code);
}

void
die_while_opening(void (*go_on)(const char *folder, unsigned *done), const char *folder)
{
    unsigned done = 0;
    for (death_at = 1; death_at <= DEATHS_MOST; death_at++) {
        if (lives(go_on, folder, &done)) {
            return;
        }
    }
    fprintf(stderr, "it dies for ever\n");
    exit(1);
}

void
die_while_writing(void (*go_on)(const char *folder, unsigned *done), const char *folder)
{
    unsigned done = 0;
    unsigned *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    death_at = 1;
    for (unsigned deaths = 0; !lives(go_on, folder, shared); deaths++) {
        if (deaths == DEATHS_MOST) {
            fprintf(stderr, "it dies for ever\n");
            exit(1);
        }
        death_at = *shared == done ? death_at + 1 : 1; /* a bit later when nothing was done */
        done = *shared;
    }
    (void)munmap(shared, sizeof *shared);
}

/* ---- the trace ---- */

static bool
child_succeeds(pid_t child)
{
    int code;
    return child > 0 && waitpid(child, &code, 0) == child && WIFEXITED(code) &&
           WEXITSTATUS(code) == 0;
}

/* Runs itself again, under the recorder. */
static struct disk_trace *
record(const struct scenario *scenario)
{
    char self[PATH_MAX], recorder[PATH_MAX + 16], folder[PATH_MAX], where[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    snprintf(where, sizeof where, "%s/disk", base);
    if (length < 0 || mkdir(where, 0700) != 0 || realpath(where, folder) == NULL) {
        perror(where);
        return NULL;
    }
    self[length] = '\0';
    snprintf(recorder, sizeof recorder, "%.*s/recorder.so", (int)(strrchr(self, '/') - self), self);
    (void)unlink(trace_path);
    const pid_t child = fork();
    if (child == 0) {
        (void)setenv("LD_PRELOAD", recorder, 1);
        (void)setenv(TRACE_FOLDER_VARIABLE, folder, 1);
        (void)setenv(TRACE_FILE_VARIABLE, trace_path, 1);
        execl(self, self, "--act", scenario->name, folder, (char *)NULL);
        _exit(127);
    }
    const bool good = child_succeeds(child);
    remove_all(folder);
    if (!good) {
        fprintf(stderr, "%s: failed without any loss\n", scenario->name);
        return NULL;
    }
    return disk_trace_read(trace_path);
}

/* ---- one cut ---- */

static bool
survives(const struct scenario *scenario, const struct disk_trace *trace,
         const struct disk_cut *cut)
{
    remove_all(state_folder);
    if (!disk_build(trace, cut, state_folder)) {
        exit(1);
    }
    (void)fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        (void)alarm(CHECK_S);
        if (freopen(message_path, "w", stderr) == NULL) {
            _exit(2);
        }
        log_open("power_loss", LOG_LEVEL_ERROR, false);
        const bool good = scenario->check(state_folder, trace, disk_marks(trace, cut->at));
        (void)fflush(stderr);
        _exit(good ? 0 : 1);
    }
    int code;
    return child > 0 && waitpid(child, &code, 0) == child && WIFEXITED(code) &&
           (WEXITSTATUS(code) == 0 || (cut->torn && WEXITSTATUS(code) == EXIT_DAMAGED));
}

static void
tell_messages(void)
{
    char line[512];
    FILE *messages = fopen(message_path, "r");
    for (int i = 0; messages != NULL && i < 8 && fgets(line, sizeof line, messages) != NULL; i++) {
        fprintf(stderr, "    %s", line);
    }
    if (messages != NULL) {
        fclose(messages);
    }
}

static size_t
random_cut(const struct disk_trace *trace, size_t from)
{
    const size_t left = disk_operations(trace) - from;
    return from + (size_t)(next_random() % (left + 1));
}

/* Often just after something was acknowledged, which is when most is promised. */
static size_t
cut_after_mark(const struct disk_trace *trace, size_t from)
{
    const size_t marks = disk_marks(trace, disk_operations(trace)),
                 before = disk_marks(trace, from);
    struct slice text;
    size_t at = disk_operations(trace);
    if (before < marks) {
        (void)disk_mark(trace, before + (size_t)(next_random() % (marks - before)), &text, &at);
    }
    return at;
}

/* ---- all there is ---- */

static unsigned
many(const struct scenario *scenario)
{
    const char *text = getenv("QUADRILLE_POWER_CUTS");
    const unsigned factor = text != NULL ? (unsigned)strtoul(text, NULL, 10) : 1;
    return (scenario->cuts + scenario->torn) * (factor > 0 ? factor : 1);
}

static unsigned
try_cuts(const struct scenario *scenario, const struct disk_trace *trace)
{
    unsigned failed = 0;
    const size_t pages = scenario->torn > 0 ? disk_page_writes(trace) : 0;
    for (unsigned i = 0; i < many(scenario) && failed < 10; i++) {
        const bool torn = i % (scenario->cuts + scenario->torn) >= scenario->cuts;
        const struct disk_cut cut = {
            .at = torn         ? disk_page_write(trace, (size_t)(next_random() % (pages + 1)))
                  : i % 2 == 0 ? random_cut(trace, 0)
                               : cut_after_mark(trace, 0),
            .fate = torn ? DISK_MIXED : (enum disk_fate)(next_random() % DISK_MIXED),
            .seed = next_random(),
            .without = SIZE_MAX,
            .victim = SIZE_MAX,
            .torn = torn};
        if (!survives(scenario, trace, &cut)) {
            failed++;
            fprintf(stderr, "%s: cut at %zu of %zu, %s, seed %llu%s\n", scenario->name, cut.at,
                    disk_operations(trace), fate_names[cut.fate], (unsigned long long)cut.seed,
                    torn ? ", torn" : "");
            tell_messages();
        }
    }
    return failed;
}

/* Returns whether some cut is not survived that is survived when these syncs work. */
static bool
is_noticed(const struct scenario *scenario, const struct disk_trace *trace, size_t site)
{
    static const enum disk_fate fates[] = {DISK_ONE_LOST, DISK_ONE_LONG, DISK_LOST, DISK_CHANCE};
    const size_t syncs = disk_site_syncs(trace, site);
    for (unsigned i = 0; i < TRIES_OF_SITE; i++) {
        const size_t n = i < syncs
                             ? (syncs <= TRIES_OF_SITE / 4 ? i % syncs : i * syncs / TRIES_OF_SITE)
                             : (size_t)(next_random() % syncs);
        const size_t sync = disk_site_at(trace, site, n);
        const size_t near = sync + 1 + (size_t)(next_random() % 12);
        struct disk_cut cut = {
            .at = i % 3 == 0   ? cut_after_mark(trace, sync)
                  : i % 3 == 1 ? random_cut(trace, sync)
                               : (near < disk_operations(trace) ? near : disk_operations(trace)),
            .fate = fates[next_random() % (sizeof fates / sizeof fates[0])],
            .seed = next_random(),
            .without = site,
            .victim = sync};
        if (!survives(scenario, trace, &cut)) {
            cut.without = SIZE_MAX;
            if (survives(scenario, trace, &cut)) {
                return true;
            }
        }
    }
    return false;
}

/* ---- the table of places that sync ---- */

/* Returns what syncs.tsv says of it: "needed", or why it need not be missed; NULL: it is not there.
 * The table's names are those of the sites without their lines. */
static const char *
told_of(const char *scenario, const char *site)
{
    static char line[LINE_SIZE];
    char name[LINE_SIZE], *rest;
    const size_t colon = strcspn(site, ":"), digits = strspn(site + colon + 1, "0123456789");
    snprintf(name, sizeof name, "%.*s%s", (int)colon, site, site + colon + 1 + digits);
    FILE *table = fopen(SITES_TABLE, "re");
    const char *told = NULL;
    while (table != NULL && told == NULL && fgets(line, sizeof line, table) != NULL) {
        const char *of = strtok_r(line, "\t", &rest), *place = strtok_r(NULL, "\t", &rest);
        const char *need = strtok_r(NULL, "\n", &rest);
        if (need != NULL && strcmp(of, scenario) == 0 && strcmp(place, name) == 0) {
            told = need;
        }
    }
    if (table != NULL) {
        fclose(table);
    }
    return told;
}

static unsigned
try_sites(const struct scenario *scenario, struct disk_trace *trace, bool only_listed)
{
    const char *only = getenv("QUADRILLE_POWER_SITE");
    unsigned missed = 0;
    disk_find_sites(trace);
    for (size_t site = 0; site < disk_sites(trace); site++) {
        const char *name = disk_site_name(trace, site), *told = told_of(scenario->name, name);
        if (only != NULL && strstr(name, only) == NULL) {
            continue;
        }
        const bool noticed = !only_listed && is_noticed(scenario, trace, site);
        const bool good = told != NULL && (only_listed || noticed || strcmp(told, "needed") != 0);
        missed += !good;
        if (!only_listed || !good) {
            printf("%s\t%zu\t%s\t%s\t%s\n", scenario->name, disk_site_syncs(trace, site),
                   only_listed ? "not tried" : (noticed ? "noticed" : "MISSED"), name,
                   told != NULL ? told : "not in " SITES_TABLE);
            (void)fflush(stdout);
        }
    }
    return missed;
}

static int
run_scenario(const char *name, enum task task)
{
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        if (strcmp(scenarios[i]->name, name) != 0) {
            continue;
        }
        if (scenarios[i]->begin != NULL && !scenarios[i]->begin(base)) {
            return 1;
        }
        struct disk_trace *trace = record(scenarios[i]);
        if (trace == NULL) {
            return 1;
        }
        const unsigned failed = task == TASK_CUTS
                                    ? try_cuts(scenarios[i], trace)
                                    : try_sites(scenarios[i], trace, task == TASK_LISTED);
        if (task == TASK_CUTS) {
            printf("%s: %zu operations, %zu marks, %u cuts, %u not survived\n", name,
                   disk_operations(trace), disk_marks(trace, disk_operations(trace)),
                   many(scenarios[i]), failed);
        }
        disk_trace_free(trace);
        return failed > 0;
    }
    fprintf(stderr, "%s is no scenario\n", name);
    return 100;
}

static int
act(const char *name, const char *folder)
{
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        if (strcmp(scenarios[i]->name, name) == 0) {
            log_open("power_loss", LOG_LEVEL_ERROR, false);
            scenarios[i]->act(folder);
            return 0;
        }
    }
    return 100;
}

static int
count(const char *path)
{
    struct disk_trace *trace = disk_trace_read(path);
    struct slice text;
    size_t at;
    if (trace == NULL) {
        return 1;
    }
    printf("%zu\n", disk_operations(trace));
    for (size_t i = 0; disk_mark(trace, i, &text, &at); i++) {
        printf("%zu\t%.*s\n", at, SLICE_PRINT(text));
    }
    disk_trace_free(trace);
    return 0;
}

static int
state(const char *path, const char *at, const char *with_seed, const char *folder)
{
    struct disk_trace *trace = disk_trace_read(path);
    if (trace == NULL) {
        return 1;
    }
    seed = strtoull(with_seed, NULL, 10) * 2 + 1;
    (void)next_random();
    const struct disk_cut cut = {.at = strtoull(at, NULL, 10),
                                 .fate = (enum disk_fate)(next_random() % DISK_MIXED),
                                 .seed = next_random(),
                                 .without = SIZE_MAX,
                                 .victim = SIZE_MAX};
    const bool good = disk_build(trace, &cut, folder);
    printf("%s\n", fate_names[cut.fate]);
    disk_trace_free(trace);
    return good ? 0 : 1;
}

int
main(int argc, char **argv)
{
    const char *given = getenv("QUADRILLE_POWER_SEED");
    if (argc == 4 && strcmp(argv[1], "--act") == 0) {
        return act(argv[2], argv[3]);
    }
    if (argc == 3 && strcmp(argv[1], "--mark") == 0) {
        acknowledge(argv[2]);
        return 0;
    }
    if (argc == 3 && strcmp(argv[1], "--count") == 0) {
        return count(argv[2]);
    }
    if (argc == 6 && strcmp(argv[1], "--state") == 0) {
        return state(argv[2], argv[3], argv[4], argv[5]);
    }
    if (!scratch_folder(base, "power_loss")) {
        perror("power_loss");
        return 111;
    }
    snprintf(trace_path, sizeof trace_path, "%s/trace", base);
    snprintf(state_folder, sizeof state_folder, "%s/state", base);
    snprintf(message_path, sizeof message_path, "%s/messages", base);
    const enum task task = argc > 1 && strcmp(argv[1], "--sites") == 0    ? TASK_SITES
                           : argc > 1 && strcmp(argv[1], "--listed") == 0 ? TASK_LISTED
                                                                          : TASK_CUTS;
    int code = 0;
    for (int i = task != TASK_CUTS ? 2 : 1; i < argc; i++) {
        seed = given != NULL ? strtoull(given, NULL, 10) * 2 + 1 : 88172645463325252u;
        const int result = run_scenario(argv[i], task);
        code = code > result ? code : result;
        remove_all(trace_path);
    }
    remove_all(base);
    return code;
}
