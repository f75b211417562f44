/* Bytes that are almost what was meant. The same state gives the same bytes. */
#ifndef TESTS_MESSAGES_MUTATE_H
#define TESTS_MESSAGES_MUTATE_H

#include <stdint.h>

#include "base/buf.h"

struct chance {
    uint64_t state;
};

uint64_t chance_next(struct chance *chance);
/* 0 .. below - 1. */
uint64_t chance_below(struct chance *chance, uint64_t below);
/* Changes bytes here and there, takes some away, repeats some, puts others in. */
void mutate(struct chance *chance, struct buf *bytes, struct slice other);

#endif
