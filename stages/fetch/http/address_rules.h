/* Decides which addresses may be connected to: public ones, and those an operator allows. */
#ifndef STAGES_FETCH_HTTP_ADDRESS_RULES_H
#define STAGES_FETCH_HTTP_ADDRESS_RULES_H

#include <stdbool.h>
#include <sys/socket.h>

#include "base/status.h"

struct address_rules;

/* cidrs: "127.0.0.0/8", "::1", ... MISUSE names the first that is none. */
enum status address_rules_open(struct address_rules **rules, const char *const *cidrs, size_t n,
                               struct reason *why);
void address_rules_close(struct address_rules *rules);

/* In the operator's list. */
bool address_is_exempt(const struct address_rules *rules, const struct sockaddr *address);
/* NULL when it may be connected to; else what kind of address it is, for people. */
const char *address_refusal(const struct address_rules *rules, const struct sockaddr *address);

#endif
