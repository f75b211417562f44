/* Tells what keeps the processes of a directory from working, for the commands that wait for them,
 * and for people: docs/PROCESSES.md, "States that are told". */
#ifndef CLI_SUPERVISOR_PROCESS_TROUBLES_H
#define CLI_SUPERVISOR_PROCESS_TROUBLES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/status.h"

/* Looks for a process that cannot start, after at least two tries since the command began. Returns
 * its status, and a reason that names it, what is wrong and what can be done. For a command that
 * waits until jobs are done one that only has no room on the disk does not count, and one counts
 * that runs and waits because what it must write to is damaged. */
enum status process_troubles_end(const char *directory, uint64_t began_ms, bool waits_for_jobs,
                                 struct reason *why);
/* Ends whatever a client of this process waits for when process_troubles_end says so. directory
 * must live as long as clients do. */
void process_troubles_end_waits(const char *directory, bool waits_for_jobs);

enum { TROUBLES_TOLD = 64 };
/* The troubles that were said already. */
struct process_troubles_told {
    struct {
        char name[32];
        int phase, status;
    } items[TROUBLES_TOLD];
    size_t count;
    uint64_t began_ms; /* monotonic; what failed before is not told */
};
/* A line for each process that waits or has failed, once for each kind of trouble, and for each
 * that goes on; begun with "program: ". */
void process_troubles_tell(struct process_troubles_told *told, const char *directory,
                           const char *program, FILE *out);

/* Writes what keeps the first process by name from working, "NAME failed: REASON" or the like; ""
 * when all work. */
void process_troubles_first(const char *directory, char *text, size_t size);
/* All that wait or have failed, a line each; nothing when there are none. */
void process_troubles_print(const char *directory, FILE *out);
/* Prints the troubles as a JSON array of objects. */
void process_troubles_print_json(const char *directory, FILE *out);

#endif
