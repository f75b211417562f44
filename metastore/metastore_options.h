#ifndef METASTORE_METASTORE_OPTIONS_H
#define METASTORE_METASTORE_OPTIONS_H

#include "base/options/opt.h"

extern const struct opt metastore_options[];

#endif
