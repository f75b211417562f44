/* Options of the queue daemon and of the cluster. */
#ifndef QUEUE_OPTIONS_H
#define QUEUE_OPTIONS_H

#include "base/opt.h"

extern const struct opt queue_options[];

#endif
