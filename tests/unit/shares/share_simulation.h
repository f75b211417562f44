/* Machines that run the shares of a cluster by the real code of shares/, over a simulated file
 * system and simulated clocks. A schedule is a number: it decides how long every single operation
 * takes before and after its effect, when processes stall, lose the file system, are killed and
 * come back, how clocks differ, what people drain and move. */
#ifndef TESTS_UNIT_SHARES_SHARE_SIMULATION_H
#define TESTS_UNIT_SHARES_SHARE_SIMULATION_H

#include <stdbool.h>
#include <stdint.h>

struct simulation_result {
    bool broken; /* two machines acted for one share at once, or one with data that are not whole */
    char what[256];
    uint64_t claims, takeovers, releases, losses; /* in all: whether anything was tried */
    uint64_t copies;
    bool settled; /* in the quiet at the end every share was run */
};

/* Faults to be put into the rules, so that it is seen that the simulation finds them. */
enum simulation_fault {
    FAULT_NONE,
    FAULT_NO_DEADLINE,   /* an owner acts on when its lease has run out */
    FAULT_MAKE_REPLACES, /* a claim replaces one that is there */
    FAULT_NO_LAST_PASS,  /* with disks: what changed while it was copied is not copied */
};
/* own_disks: shares lie on the disks of the machines and are copied between them. */
void simulate(uint64_t schedule, bool own_disks, enum simulation_fault fault,
              struct simulation_result *result);

#endif
