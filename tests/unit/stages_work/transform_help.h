/* Documents that a helping machine transforms; a part of test_transform_stage, which lends it the
 * steps above the line. */
#ifndef TESTS_UNIT_STAGES_WORK_TRANSFORM_HELP_H
#define TESTS_UNIT_STAGES_WORK_TRANSFORM_HELP_H

#include "stages/skeleton/stage.h"

#define PAGE "http://a.example/page"
#define GRAPH "<http://a.example/s> <http://a.example/p> \"o\" <" PAGE "> .\n"

/* Opens the stage anew, in this cluster. */
void transform_begin_in(const char *cluster);
void transform_start_in(enum stage stage);
/* The worker's answer: the graph above, or what is no answer. */
void transform_answer(void);
void transform_answers_are_malformed(bool malformed);

/* ---- */

int transform_help_run(int (*set_up)(void **state), int (*tear_down)(void **state));

#endif
