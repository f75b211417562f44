/* When things last changed, for answers that stay good while nothing they rest on changes. A thing
 * is known by a hash, and several may share a mark: then one seems to have changed with the other,
 * which costs an answer and does no harm. One thread sets marks, any asks. */
#ifndef INDEX_TERMS_CHANGE_MARKS_H
#define INDEX_TERMS_CHANGE_MARKS_H

#include "base/buf.h"

struct change_marks;
struct change_marks *change_marks_new(void);
void change_marks_free(struct change_marks *marks);
/* time: a count that only grows. To be set before the change can be seen. */
void change_marks_set(struct change_marks *marks, uint64_t thing, uint64_t time);
void change_marks_set_all(struct change_marks *marks, uint64_t time);
/* With more changes at once hardly a mark would stay, so all are set. */
enum { CHANGE_MARKS_MOST = 1 << 16 };

/* Needs are the hashes of what an answer rests on. */
void change_needs_add(struct buf *needs, uint64_t thing);
/* Tells whether one of them changed after the time. */
bool change_marks_passed(const struct change_marks *marks, struct slice needs, uint64_t time);

#endif
