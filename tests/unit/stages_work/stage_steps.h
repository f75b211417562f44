/* This stands in for the skeleton (stages/skeleton/stage.h), for the archive of other stages and
 * for the clock, when a test calls a stage program's own functions. Each tells what was asked of it
 * as a line of a trace. A test may also be of a part of a program, whose main it stands in for. The
 * list of wrapped functions is work_WRAPS of stages/build.mk. */
#ifndef TESTS_UNIT_STAGES_WORK_STAGE_STEPS_H
#define TESTS_UNIT_STAGES_WORK_STAGE_STEPS_H

#include "stages/skeleton/content.h"
#include "stages/skeleton/stage.h"
#include "tests/unit/scratch.h"
#include "tests/unit/stand_in.h"
#include "warc/warc.h"

enum { STEPS_WATCHED = 4, STEPS_TIMERS = 4, STEPS_WALL_MS = 1000000 };

struct stage_steps {
    const struct stage_spec *spec; /* of the program */
    void *stage;                   /* its context, once it is opened */
    struct buf trace;
    struct opt_set *options;
    struct cluster *cluster;
    char directory[SCRATCH_SIZE];
    uint64_t now_ms, scope; /* wall time */
    struct {
        int descriptor;
        stage_ready *ready;
        void *context;
    } watched[STEPS_WATCHED];
    struct {
        stage_tick *tick;
        void *context;
        uint64_t delay_ms;
    } timers[STEPS_TIMERS];
    size_t watched_count, timer_count;
    /* The archive answers with this. */
    enum status read_status;
    struct warc_record record;
    struct warc_limits limits;
    bool closes_files;           /* of the archive, now and then, */
    content_wanted *reads_ahead; /* and reads before it is asked */
    size_t room;                 /* of the buffer that it is read into */
    /* The last document that was handed on. */
    struct document next;
    struct buf next_bytes;
    size_t arena; /* bytes of a job's */
    struct stage_job job;
};
extern struct stage_steps steps;

/* Calls the program's main, then opens the stage with these settings, "name=value", ended by NULL.
 * cluster: lines of cluster.conf, the first of them this node, named "here"; NULL: no cluster. */
void steps_begin(const char *cluster, const char *const *settings);
void steps_end(void);
/* Prepares the stage likewise, but does not open it. */
void steps_prepare(const char *cluster, const char *const *settings);
/* Returns what opening the stage comes to. */
enum status steps_open(struct reason *why);
/* The job as it came from the queue; whatever was told of another is forgotten. */
void steps_take(const struct job *job, const struct document *document);
/* Gives it to the stage, too. */
void steps_start(const struct job *job, const struct document *document);
/* One round of the loop: timers that are due at once. */
void steps_turn(void);
/* The trace since the last look. */
void assert_trace(const char *text);
/* Metadata that the job leaves: of a text "" is none, of a number UINT64_MAX. */
void assert_text(enum meta_field field, const char *text);
void assert_number(enum meta_field field, uint64_t number);
/* Returns whether calling (one of the functions below) ends the process, with EXIT_SYSTEM. */
bool steps_ends_process(void (*call)(void));

#endif
