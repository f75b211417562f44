#ifndef METASTORE_OPTIONS_H
#define METASTORE_OPTIONS_H

#include "base/opt.h"

extern const struct opt metastore_options[];

#endif
