/* Fuzzers in one program, which is linked once: fuzz_x is a link to it, and it is the fuzzer by
 * whose name it was started. The Makefile makes joined_fuzzers.h, with a line FUZZER(name) for
 * each, whose LLVMFuzzerTestOneInput it renames to name_input. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUZZER(name) int name##_input(const uint8_t *data, size_t size);
#include "joined_fuzzers.h"
#undef FUZZER

#define FUZZER(name) {#name, name##_input},
static const struct fuzzer {
    const char *name;
    int (*input)(const uint8_t *data, size_t size);
} fuzzers[] = {
#include "joined_fuzzers.h"
};
#undef FUZZER

static const struct fuzzer *fuzzer;

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    const char *self = **argv;
    const char *slash = strrchr(self, '/');
    for (size_t i = 0; i < sizeof fuzzers / sizeof *fuzzers; i++) {
        if (strcmp(fuzzers[i].name, slash == NULL ? self : slash + 1) == 0) {
            fuzzer = &fuzzers[i];
            return 0;
        }
    }
    fprintf(stderr, "%s: no fuzzer has this name\n", self);
    exit(100);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzzer->input(data, size);
}
