/* A web of ill-behaved hosts on a port of this machine; a thread a connection, which has one
 * request. It never ends before the test. */
#ifndef TESTS_UNIT_FETCH_WEB_H
#define TESTS_UNIT_FETCH_WEB_H

#include <stdint.h>

/* Returns the port. */
unsigned fetch_web_start(void);
/* Returns how often that was asked for: "host/path", or "host/path if" of a conditional request. */
unsigned fetch_web_count(const char *what);
/* Returns when it was first asked for, in monotonic milliseconds; 0: never. */
uint64_t fetch_web_moment(const char *what);
/* One more of the answers that come late is given. */
void fetch_web_answer_late(void);

#endif
