/* The rules of linked data for properties and classes, each judged from facts alone. Thread-safe.
 * Sources: https://www.w3.org/DesignIssues/LinkedData.html, https://www.w3.org/TR/cooluris/,
 * https://www.w3.org/TR/swbp-vocab-pub/. */
#ifndef CLI_VALIDATION_TERM_RULES_H
#define CLI_VALIDATION_TERM_RULES_H

#include "base/arena.h"
#include "cli/report/report_page.h"
#include "cli/validation/term_facts.h"

enum rule_outcome {
    RULE_PASSED,
    RULE_FAILED,
    RULE_UNTOLD,      /* what is known does not tell */
    RULE_INAPPLICABLE /* another rule has failed before, or it is about other terms */
};

struct rule_verdict {
    enum rule_outcome outcome;
    enum report_severity severity; /* of what failed or is untold */
    struct slice text;             /* what was found, in the arena or constant */
    const char *remedy;            /* what its publisher, or who asks, can do */
};

struct term_rule {
    const char *name;        /* "resolves"; part of its IRI in EARL */
    const char *requirement; /* what is to be so, a sentence */
    enum report_severity severity;
    const char *remedy; /* unless the verdict has a better one */
    void (*judge)(const struct term_facts *facts, struct arena *arena,
                  struct rule_verdict *verdict);
};
enum { TERM_RULES = 13 };
extern const struct term_rule term_rules[TERM_RULES];

struct rule_verdict term_judge(const struct term_rule *rule, const struct term_facts *facts,
                               struct arena *arena);

#endif
