/* The state of a process of a data directory, and why it waits or failed, for those who start it,
 * ask it and look at it: DIR/run/NAME.state. docs/PROCESSES.md has the states and the format.
 *
 * The process keeps a lock on its file while it lives (fcntl's, so that one can look without
 * taking it), and writes it in place, so that it can be written when the disk is full. A directory
 * that cannot be written has no states; nothing fails for that. */
#ifndef CONFIG_PROCESS_STATE_H
#define CONFIG_PROCESS_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"

enum process_phase {
    PROCESS_STARTING,
    PROCESS_READY,
    PROCESS_WAITING, /* it runs, and cannot do a part of its work now */
    PROCESS_FAILED,
    PROCESS_ENDED,
    PROCESS_PHASES
};

struct process_state {
    char name[32];
    enum process_phase phase;
    enum status status; /* of a failure or a wait */
    unsigned failures;  /* in a row, without having been ready between */
    pid_t pid;
    bool alive;
    uint64_t changed_ms, since_ms; /* of the phase: monotonic and wall clock */
    struct reason why;             /* also while it starts again after a failure */
};

const char *process_phase_name(enum process_phase phase);

/* ---- of this process ---- */

/* The things that a process may wait for; the first that holds is reported. */
enum process_wait { WAIT_WRITE, WAIT_METADATA, WAIT_QUEUE, WAIT_COUNT };

/* Says that the process of this name starts. */
void process_state_open(const char *directory, const char *name);
void process_state_ready(void);
/* Waits that are told again and again cost nothing. Thread-safe. */
void process_state_wait(enum process_wait wait, enum status status, const struct reason *why);
void process_state_goes_on(enum process_wait wait);
/* Its end: ENDED when status is OK or END, else FAILED with the reason. */
void process_state_end(enum status status, const struct reason *why);

/* ---- of others ---- */

typedef void process_state_look(void *context, const struct process_state *state);
/* Calls look for each process that has said something, by name. */
void process_state_each(const char *directory, process_state_look *look, void *context);
/* False: it has said nothing. */
bool process_state_read(const char *directory, const char *name, struct process_state *state);
/* Returns a sentence that says what one can do about a failure or a wait. */
const char *process_state_remedy(const struct process_state *state);

#endif
