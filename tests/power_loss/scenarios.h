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

#endif
