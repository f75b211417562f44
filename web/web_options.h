#ifndef WEB_WEB_OPTIONS_H
#define WEB_WEB_OPTIONS_H

#include "base/options/opt.h"

extern const struct opt web_options[];

#endif
