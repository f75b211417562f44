/* quadrille slice map, follow, reduce. */
#ifndef CLI_DATASETS_SLICE_STEPS_H
#define CLI_DATASETS_SLICE_STEPS_H

#include <stdbool.h>

bool slice_step_is(const char *name);
int slice_step(int argc, char **argv);

#endif
