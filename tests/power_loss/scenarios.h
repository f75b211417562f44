/* What is done while a trace is written, and what must hold after the power failed. */
#ifndef TESTS_POWER_LOSS_SCENARIOS_H
#define TESTS_POWER_LOSS_SCENARIOS_H

#include <stdbool.h>

#include "tests/power_loss/disk.h"

struct scenario {
    const char *name;
    /* In a process of its own under the recorder, in an empty folder. */
    void (*act)(const char *folder);
    /* In a process of its own, in what is left of the folder; so many marks were made before. False
     * or an exit: something is lost or broken, which was told on standard error. */
    bool (*check)(const char *folder, const struct disk_trace *trace, size_t marks);
    unsigned cuts; /* usually */
};

extern const struct scenario scenario_queue, scenario_metadata, scenario_archive, scenario_index,
    scenario_index_anew, scenario_settings, scenario_backup;

/* What was done up to here was acknowledged. */
void acknowledge(const char *text);

/* Processes that open a store and are killed before they sync a folder: the first one, the second
 * one, and so on, until one lives to close it. What they made is there, and its name may be lost.
 */
void die_while_opening(void (*open_and_close)(const char *folder), const char *folder);

#endif
