/* Whether the parts answer, asked by one at a time however many want to know: others wait for the
 * answer on its way, for a bounded time, and one that is young enough is given again. */
#ifndef WEB_PAGES_HEALTH_H
#define WEB_PAGES_HEALTH_H

#include <stdbool.h>

struct health_answer {
    bool index, queue;
};
typedef void health_probe(void *context, struct health_answer *answer);

enum { HEALTH_YOUNG_MS = 1000, HEALTH_WAIT_MS = 5000 };

struct health;
struct health *health_new(void);
void health_free(struct health *health); /* NULL is allowed */
/* False: whoever asks has had no answer within HEALTH_WAIT_MS. */
bool health_ask(struct health *health, health_probe *probe, void *context,
                struct health_answer *answer);

#endif
