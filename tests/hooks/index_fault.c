/* Makes a program for tests fail at a write to the index: QUADRILLE_INDEX_FAULT in the environment
 * is ACTION:N, what happens at the N-th write (environment_fault). */
#include <stdlib.h>
#include <string.h>

#include "index/trees/environment.h"

__attribute__((constructor)) static void
read_variable(void)
{
    static const struct {
        const char *prefix;
        enum fault_action action;
    } words[] = {{"kill:", FAULT_KILL},
                 {"torn:", FAULT_KILL_TORN},
                 {"full:", FAULT_FULL},
                 {"once:", FAULT_ONCE}};
    const char *text = getenv("QUADRILLE_INDEX_FAULT");
    for (size_t i = 0; text != NULL && i < sizeof(words) / sizeof(words[0]); i++) {
        const size_t length = strlen(words[i].prefix);
        if (strncmp(text, words[i].prefix, length) == 0) {
            environment_fault(words[i].action, strtoull(text + length, NULL, 10));
        }
    }
}
