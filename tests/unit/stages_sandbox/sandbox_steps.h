/* Tests what the sandbox is built of; a part of test_worker. */
#ifndef TESTS_UNIT_STAGES_SANDBOX_SANDBOX_STEPS_H
#define TESTS_UNIT_STAGES_SANDBOX_SANDBOX_STEPS_H

#include <stddef.h>
#include <stdint.h>

#include <seccomp.h>

/* A rule as it was added to a filter. */
struct filter_rule {
    uint32_t action;
    int call;
    unsigned count; /* of the comparisons */
    struct scmp_arg_cmp comparisons[6];
};
enum { FILTER_RULES = 512 };
extern struct filter_rule filter_rules[FILTER_RULES]; /* the first since the count was set to 0 */
extern size_t filter_rule_count;

/* Each returns how many tests failed. */
int sandbox_steps_run(void);
int sandbox_rules_run(void);

#endif
