/* bench_measure OUTPUT COMMAND [ARGUMENT]...: runs a command and writes what it and all processes
 * that came from it took, daemons included: "wall_s=N cpu_s=N peak_mib=N". The peak is of their
 * anonymous and shared memory together, looked at ten times a second; pages of files, which the
 * system may drop, do not count. Waits until the last of the processes has ended. */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/status.h"
#include "base/system/clock.h"

enum { PROCESSES_MOST = 4096, LOOK_MS = 100, PATH_BYTES = 64, LINE_BYTES = 512 };

struct process {
    pid_t id, parent;
};

static pid_t
parent_of(pid_t id)
{
    char path[PATH_BYTES];
    char line[LINE_BYTES];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)id);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return 0;
    }
    const size_t n = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    line[n] = '\0';
    int parent = 0;
    const char *name_end = strrchr(line, ')'); /* the name may hold anything */
    return name_end != NULL && sscanf(name_end, ") %*c %d", &parent) == 1 ? parent : 0;
}

static long
memory_kib(pid_t id)
{
    char path[PATH_BYTES];
    char line[LINE_BYTES];
    long total = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)id);
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        long kib;
        if (sscanf(line, "RssAnon: %ld", &kib) == 1 || sscanf(line, "RssShmem: %ld", &kib) == 1) {
            total += kib;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return total;
}

static size_t
list_processes(struct process *processes)
{
    size_t n = 0;
    DIR *folder = opendir("/proc");
    const struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL && n < PROCESSES_MOST) {
        const pid_t id = (pid_t)strtol(entry->d_name, NULL, 10);
        if (id > 0) {
            processes[n++] = (struct process){id, parent_of(id)};
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return n;
}

static bool
descends(const struct process *processes, size_t n, size_t i, pid_t from)
{
    enum { DEPTH = 32 };
    pid_t parent = processes[i].parent;
    for (int depth = 0; depth < DEPTH && parent > 1; depth++) {
        if (parent == from) {
            return true;
        }
        size_t k = 0;
        while (k < n && processes[k].id != parent) {
            k++;
        }
        parent = k < n ? processes[k].parent : 0;
    }
    return false;
}

static long
descendants_kib(void)
{
    static struct process processes[PROCESSES_MOST];
    const size_t n = list_processes(processes);
    long total = 0;
    for (size_t i = 0; i < n; i++) {
        if (descends(processes, n, i, getpid())) {
            total += memory_kib(processes[i].id);
        }
    }
    return total;
}

/* Waits for all; the exit code of `command`. */
static int
watch(pid_t command, long *peak_kib)
{
    int code = EXIT_SYSTEM;
    for (;;) {
        int result;
        const pid_t ended = waitpid(-1, &result, WNOHANG);
        if (ended < 0 && errno == ECHILD) {
            return code;
        }
        if (ended == command) {
            code = WIFEXITED(result) ? WEXITSTATUS(result) : EXIT_SYSTEM;
        }
        if (ended == 0) {
            const long kib = descendants_kib();
            *peak_kib = kib > *peak_kib ? kib : *peak_kib;
            const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
            (void)nanosleep(&pause, NULL);
        }
    }
}

int
main(int argc, char **argv)
{
    if (argc < 3) {
        fputs("usage: bench_measure OUTPUT COMMAND [ARGUMENT]...\n", stderr);
        return EXIT_MISUSE;
    }
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    const uint64_t start = clock_monotonic_ms();
    const pid_t command = fork();
    if (command == 0) {
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(EXIT_SYSTEM);
    }
    long peak_kib = 0;
    const int code = watch(command, &peak_kib);
    struct rusage usage;
    (void)getrusage(RUSAGE_CHILDREN, &usage);
    FILE *out = fopen(argv[1], "we");
    if (out == NULL) {
        perror(argv[1]);
        return EXIT_SYSTEM;
    }
    fprintf(out, "wall_s=%.2f cpu_s=%.2f peak_mib=%ld\n",
            (double)(clock_monotonic_ms() - start) / 1e3,
            (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6,
            peak_kib / 1024);
    return fclose(out) == 0 ? code : EXIT_SYSTEM;
}
