/* Limits how many URLs may be pinged in an hour: of a sender, of a host, with a key. What was taken
 * drains away evenly. The memory is fixed: each is counted in two places found by its hash, and the
 * lesser count holds, so strangers who fall together in both are held to less, never to more. Not
 * thread-safe. */
#ifndef WEB_PING_PING_LIMITS_H
#define WEB_PING_PING_LIMITS_H

#include <stddef.h>
#include <stdint.h>

struct ping_limits;

struct ping_limits *ping_limits_new(void);
void ping_limits_free(struct ping_limits *limits); /* NULL is allowed */

struct ping_claim {
    uint64_t who;  /* a hash */
    uint64_t most; /* an hour, and at a time */
    uint64_t n;    /* URLs */
};
/* Takes all claims, and returns 0, or takes none, and returns in how many seconds to come again. */
uint64_t ping_limits_take(struct ping_limits *limits, const struct ping_claim *claims, size_t count,
                          uint64_t now_ms);

#endif
