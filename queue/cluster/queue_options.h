/* Options of the queue daemon and of the cluster. */
#ifndef QUEUE_CLUSTER_QUEUE_OPTIONS_H
#define QUEUE_CLUSTER_QUEUE_OPTIONS_H

#include "base/options/opt.h"

extern const struct opt queue_options[];

#endif
