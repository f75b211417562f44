/* Options of the extract stage, the last of the pipeline. */
#ifndef STAGES_EXTRACT_H
#define STAGES_EXTRACT_H

#include "base/opt.h"

extern const struct opt extract_options[];

#endif
