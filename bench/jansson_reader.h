/* jansson's reader beside our own, whose names it shares: so it is seen in one file only. */
#ifndef BENCH_JANSSON_READER_H
#define BENCH_JANSSON_READER_H

#include <stdbool.h>

#include "base/slice.h"

/* Reads the text and frees what came of it. False: jansson refuses it. */
bool jansson_read(struct slice text);

#endif
