/* A scenario says what is done while a trace is written, and what must hold after the power failed.
 */
#ifndef TESTS_POWER_LOSS_SCENARIOS_H
#define TESTS_POWER_LOSS_SCENARIOS_H

#include <stdbool.h>

#include "tests/power_loss/disk.h"

struct scenario {
    const char *name;
    /* Runs in a process of its own under the recorder, in an empty folder. */
    void (*act)(const char *folder);
    /* Runs in a process of its own, in what is left of the folder; so many marks were made before.
     * False or an exit: something is lost or broken, which was told on standard error. */
    bool (*check)(const char *folder, const struct disk_trace *trace, size_t marks);
    unsigned cuts; /* usually */
    unsigned
        torn; /* more of them, with torn pages: survived, or refused by the name of the damage */
    /* Makes what all of its processes need, in a folder of its own; NULL: nothing. */
    bool (*begin)(const char *folder);
};

extern const struct scenario scenario_queue, scenario_metadata, scenario_archive, scenario_index,
    scenario_index_anew, scenario_settings, scenario_backup, scenario_crawl;

/* The exit code of a check to which a store said that it is damaged. */
#define EXIT_DAMAGED 3

/* Says that what was done up to here was acknowledged. */
void acknowledge(const char *text);

/* Processes that open a store, call die_from_here before, and are killed before they sync a folder:
 * the first one, the second one, and so on, until one lives to close it. What they made is there,
 * and its name may be lost. */
void die_while_opening(void (*go_on)(const char *folder, unsigned *done), const char *folder);

/* Processes that go on with steps until all are done; each is killed before it syncs a folder, so
 * that a file which it made has no name for good and the next process goes on with it. `go_on`
 * opens, calls die_from_here, and counts in *done what was acknowledged. */
void die_while_writing(void (*go_on)(const char *folder, unsigned *done), const char *folder);
void die_from_here(void);

#endif
