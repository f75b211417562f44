#include "index/words/posting_runs.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/varint.h"

/* Reads the postings of the word at hand. */
static void
read_postings(struct memtable_runs *runs)
{
    const struct memory_head *head = memtable_runs_word(runs);
    if (head != NULL && head->literals > runs->code_capacity) {
        runs->code_capacity = 2 * head->literals;
        runs->postings.codes =
            memory_resize(runs->postings.codes, runs->code_capacity, sizeof(*runs->postings.codes));
    }
    if (head != NULL) {
        memory_postings_read(&runs->postings, head);
    }
}

void
memtable_runs_open(struct memtable_runs *runs, const struct memory_head *sorted, size_t count,
                   size_t first)
{
    *runs = (struct memtable_runs){.sorted = sorted, .count = count, .word = first};
    read_postings(runs);
}

void
memtable_runs_close(struct memtable_runs *runs)
{
    free(runs->postings.codes);
    runs->postings.codes = NULL;
}

const struct memory_head *
memtable_runs_word(const struct memtable_runs *runs)
{
    return runs->word < runs->count ? &runs->sorted[runs->word] : NULL;
}

void
memtable_runs_copy(const struct memtable_runs *runs, struct posting_run *run, struct arena *arena)
{
    size_t count;
    const uint64_t *codes = memory_postings_of(&runs->postings, run->class, &count);
    uint8_t *bytes = arena_alloc(arena, VARINT_MAXIMUM * count);
    uint8_t *at = bytes;
    run->first = codes[0];
    for (size_t i = 1; i < count; i++) {
        at = varint_put(at, codes[i] - (codes[i - 1] & ~UINT64_C(1)));
    }
    run->gaps = slice_of((const char *)bytes, (size_t)(at - bytes));
}

bool
memtable_runs_peek(const struct memtable_runs *runs, struct posting_run *run,
                   uint8_t key[WORD_KEY_MAXIMUM], size_t *length)
{
    const struct memory_head *head = memtable_runs_word(runs);
    if (head == NULL) {
        return false;
    }
    *run = (struct posting_run){.word = head->word, .head = !runs->head_done};
    uint64_t number = 0;
    if (run->head) {
        run->literals = head->literals;
        run->classes = head->classes;
    } else {
        run->class = runs->class;
        size_t count;
        number = *memory_postings_of(&runs->postings, runs->class, &count) >> 1;
    }
    *length = word_key(run->word, run->head, run->class, number, key);
    return true;
}

void
memtable_runs_advance(struct memtable_runs *runs)
{
    const struct memory_head *head = memtable_runs_word(runs);
    runs->class = runs->head_done ? runs->class + 1 : 0;
    runs->head_done = true;
    while (runs->class < WORD_CLASSES && !(head->classes >> runs->class & 1)) {
        runs->class += 1;
    }
    if (runs->class >= WORD_CLASSES) {
        runs->word++;
        runs->head_done = false;
        runs->class = 0;
        read_postings(runs);
    }
}

int
posting_runs_compare(const struct posting_run *a, const struct posting_run *b)
{
    const int words = slice_compare(a->word, b->word);
    if (words != 0) {
        return words;
    }
    return a->head || b->head ? b->head - a->head : (int)a->class - (int)b->class;
}
