/* Options of the extract stage, the last of the pipeline. */
#ifndef STAGES_EXTRACT_EXTRACT_STAGE_H
#define STAGES_EXTRACT_EXTRACT_STAGE_H

#include "base/options/opt.h"

extern const struct opt extract_options[];

#endif
