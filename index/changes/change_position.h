/* Positions of the change stream as text: of one partition "124.19aef3b21c0" (batch, stamp in
 * hexadecimal), of all "0:124.19aef3b21c0,1:99.19aef3b2007". To users they are opaque. */
#ifndef INDEX_CHANGES_CHANGE_POSITION_H
#define INDEX_CHANGES_CHANGE_POSITION_H

#include <stddef.h>

#include "base/buf.h"
#include "base/slice.h"
#include "base/status.h"

struct change_position {
    uint64_t batch, stamp; /* 0, 0: before the first batch */
};

void change_position_put(struct buf *out, const struct change_position *position);
/* False when the text is none. */
bool change_position_get(struct slice text, struct change_position *position);
void change_positions_put(struct buf *out, const struct change_position *positions, size_t count);
/* MISUSE unless there is one position for each of `count` partitions. */
enum status change_positions_get(struct slice text, struct change_position *positions, size_t count,
                                 struct reason *why);

#endif
