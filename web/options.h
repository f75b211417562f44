#ifndef WEB_OPTIONS_H
#define WEB_OPTIONS_H

#include "base/opt.h"

extern const struct opt web_options[];

#endif
