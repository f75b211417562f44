/* Stored values of the metadata store: what is packed comes back, whichever dictionary it was
 * packed with; damage is seen; dictionaries are learned when they pay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "metastore/pack.h"

enum { TEXT_MOST = 4096, ENOUGH = 70000 };

/* Makes a text that is as records are: most of it is the same, `kind` says which; some is of this
 * one only. */
static struct slice
text_of(char *text, char kind, unsigned i)
{
    size_t length = 0;
    for (unsigned word = 0; word < 60; word++) {
        length += (size_t)snprintf(text + length, TEXT_MOST - length, "%c%u ", kind,
                                   (word * 2654435761u + (unsigned)kind * 40503u) % 100000);
    }
    length += (size_t)snprintf(text + length, TEXT_MOST - length, "%08x", i * 2654435761u);
    return slice_of(text, length);
}

struct packing {
    struct packer *packer;
    struct buf value, memory;
    size_t learned;
};

static int
setup(void **state)
{
    static struct packing packing;
    packing = (struct packing){.packer = packer_new()};
    buf_init(&packing.value, PACK_RECORD_MAXIMUM * 2);
    buf_init(&packing.memory, PACK_RECORD_MAXIMUM * 2);
    *state = &packing;
    return 0;
}

static int
teardown(void **state)
{
    struct packing *packing = *state;
    packer_free(packing->packer);
    buf_release(&packing->value);
    buf_release(&packing->memory);
    return 0;
}

static void
comes_back(struct packing *packing, struct slice record)
{
    struct slice found;
    buf_reset(&packing->value);
    packer_pack(packing->packer, record, &packing->value);
    assert_true(
        packer_unpack(packing->packer, buf_slice(&packing->value), &packing->memory, &found));
    assert_true(slice_equal(found, record));
    assert_true(packing->value.length <= record.length + 1);
}

/* Packs so many records; what is learned meanwhile is added at once, as the service does. */
static void
pack_many(struct packing *packing, char kind, unsigned count)
{
    char text[TEXT_MOST];
    for (unsigned i = 0; i < count; i++) {
        const struct slice learned = packer_learned(packing->packer);
        if (learned.length > 0) {
            assert_true(packer_add(packing->packer, learned));
            packing->learned++;
        }
        comes_back(packing, text_of(text, kind, i));
    }
}

static void
test_learns_what_is_said_often(void **state)
{
    struct packing *packing = *state;
    char text[TEXT_MOST];
    comes_back(packing, text_of(text, 'a', 1));
    assert_int_equal(packing->value.length, text_of(text, 'a', 1).length + 1);
    pack_many(packing, 'a', 1000);
    assert_int_equal(packing->learned, 1);
    comes_back(packing, text_of(text, 'a', 99999));
    assert_true(packing->value.length * 5 < text_of(text, 'a', 99999).length);
}

/* Of 256 records every 16th is remembered, if it is not long; short ones are not packed at all. */
static void
test_learns_from_some_records(void **state)
{
    enum { LEAST = 96, WINDOW = 256, EVERY = 16, LONGEST = 4096 };
    struct packing *packing = *state;
    static char text[LONGEST + 1];
    size_t length = 0, counted = 0;
    for (unsigned i = 0; counted < WINDOW; i++) {
        assert_int_equal(packer_learned(packing->packer).length, 0);
        memset(text, 'a' + (int)(i % 26), sizeof text);
        const size_t size = counted == EVERY       ? LONGEST
                            : counted == 2 * EVERY ? LONGEST + 1
                            : i % 2 == 0           ? LEAST - 1
                                                   : LEAST;
        comes_back(packing, slice_of(text, size));
        if (size >= LEAST) {
            length += counted % EVERY == 0 && size <= LONGEST ? size : 0;
            counted++;
        }
    }
    const struct slice learned = packer_learned(packing->packer);
    assert_int_equal(learned.length, length);
    for (unsigned i = 0; i < 2 * WINDOW; i++) { /* until it is added nothing more is learned */
        comes_back(packing, slice_of(text, LEAST));
    }
    assert_int_equal(packer_learned(packing->packer).length, length);
    assert_true(packer_add(packing->packer, packer_learned(packing->packer)));
    assert_int_equal(packer_learned(packing->packer).length, 0);
    assert_int_equal(packer_count(packing->packer), 1);
    packer_free(NULL);
}

/* What does not become shorter by the ten bytes that a head may have is stored as it is. */
static void
test_what_is_stored_is_never_longer(void **state)
{
    struct packing *packing = *state;
    char text[200];
    assert_true(packer_add(packing->packer, SLICE("0123456789")));
    srand(3);
    for (size_t same = 0; same < sizeof text; same++) {
        for (size_t i = 0; i < sizeof text; i++) {
            text[i] = (char)(i < same ? 'x' : rand());
        }
        comes_back(packing, slice_of(text, sizeof text));
        const bool packed = packing->value.data[0] == 2;
        assert_true(packed ? packing->value.length < sizeof text
                           : packing->value.length == sizeof text + 1);
        assert_true(same < 40 || packed);
    }
}

static void
test_learns_anew_when_records_change(void **state)
{
    struct packing *packing = *state;
    char text[TEXT_MOST];
    pack_many(packing, 'a', ENOUGH);
    assert_int_equal(packing->learned, 1);
    comes_back(packing, text_of(text, 'a', 7));
    struct buf old;
    buf_init(&old, TEXT_MOST);
    (void)buf_append_slice(&old, buf_slice(&packing->value));
    pack_many(packing, 'b', ENOUGH);
    assert_int_equal(packing->learned, 2);
    comes_back(packing, text_of(text, 'b', 8));
    assert_true(packing->value.length * 5 < text_of(text, 'b', 8).length);
    struct slice found; /* what was packed with the first is still understood */
    assert_true(packer_unpack(packing->packer, buf_slice(&old), &packing->memory, &found));
    assert_true(slice_equal(found, text_of(text, 'a', 7)));
    buf_release(&old);
}

static void
test_odd_records_come_back(void **state)
{
    struct packing *packing = *state;
    static char large[3 << 20];
    assert_true(packer_add(packing->packer, SLICE("a dictionary of no use")));
    comes_back(packing, SLICE(""));
    comes_back(packing, SLICE("short"));
    memset(large, 'x', sizeof large);
    comes_back(packing, slice_of(large, sizeof large));
    assert_true(packing->value.length < sizeof large / 100);
    srand(7);
    for (size_t i = 0; i < sizeof large; i++) {
        large[i] = (char)rand();
    }
    comes_back(packing, slice_of(large, sizeof large)); /* does not become shorter: kept plain */
    comes_back(packing, slice_of(large, 96));
}

static bool
understood(struct packing *packing, struct slice value)
{
    struct slice found;
    return packer_unpack(packing->packer, value, &packing->memory, &found);
}

static void
test_damage_is_seen(void **state)
{
    struct packing *packing = *state;
    char text[TEXT_MOST];
    pack_many(packing, 'a', 1000);
    comes_back(packing, text_of(text, 'a', 3));
    const struct slice value = buf_slice(&packing->value);
    for (size_t length = 0; length < value.length; length++) {
        assert_false(understood(packing, slice_of(value.at, length)));
    }
    char changed[TEXT_MOST];
    memcpy(changed, value.at, value.length);
    changed[0] = 3; /* a version that is not known */
    assert_false(understood(packing, slice_of(changed, value.length)));
    changed[0] = 2;
    changed[1] = 0; /* no dictionary */
    assert_false(understood(packing, slice_of(changed, value.length)));
    changed[1] = 2; /* one that is not there */
    assert_false(understood(packing, slice_of(changed, value.length)));
    changed[1] = 1;
    assert_true(understood(packing, slice_of(changed, value.length)));
    changed[2]++; /* another length */
    assert_false(understood(packing, slice_of(changed, value.length)));
    assert_false(understood(packing, SLICE("\x02\x01\xff\xff\xff\xff\x7f\x00")));
}

static void
test_dictionaries_are_bounded(void **state)
{
    struct packing *packing = *state;
    static char large[PACK_DICTIONARY_BYTES + 1];
    assert_false(packer_add(packing->packer, SLICE("")));
    assert_false(packer_add(packing->packer, slice_of(large, sizeof large)));
    for (size_t i = 0; i < PACK_DICTIONARIES_MAXIMUM; i++) {
        assert_true(packer_add(packing->packer, SLICE("some words")));
    }
    assert_false(packer_add(packing->packer, SLICE("some words")));
    pack_many(packing, 'a', 10000);
    assert_int_equal(packing->learned, 0);
}

/* ---- when another dictionary is learned ---- */

/* One window of records after another, beside the rule. */
struct learning {
    struct packing *packing;
    uint64_t dictionaries, windows, best; /* of the latest dictionary */
    struct buf sample;                    /* of the window */
    unsigned seed;
};

/* Packs a record of bytes that are all the same, or that no two are, and returns what it takes. */
static size_t
pack_one(struct learning *learning, bool repeats, uint64_t counted)
{
    enum { LENGTH = 128, HEAD = 4, EVERY = 16 };
    struct buf *const value = &learning->packing->value;
    char text[LENGTH];
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = (char)(repeats ? 'x' : rand_r(&learning->seed) >> 8);
    }
    comes_back(learning->packing, slice_of(text, sizeof text));
    if (counted % EVERY == 0) {
        (void)buf_append(&learning->sample, text, sizeof text);
    }
    return value->data[0] == 1 ? sizeof text : value->length - HEAD;
}

/* A window of records of which so many of 100 are not worth packing. Afterwards another dictionary
 * is wanted, made of each sixteenth record, or is not; when it is, it is added. */
static void
pack_window(struct learning *learning, unsigned bad, bool wanted)
{
    enum { FIRST = 256, WINDOW = 4096, LENGTH = 128 };
    const uint64_t count = learning->dictionaries == 0 ? FIRST : WINDOW;
    struct packer *const packer = learning->packing->packer;
    uint64_t packed = 0;
    buf_reset(&learning->sample);
    for (uint64_t i = 0; i < count; i++) {
        assert_int_equal(packer_learned(packer).length, 0);
        packed += pack_one(learning, i % 100 >= bad, i);
        if (i % 64 == 0) {
            comes_back(learning->packing, SLICE("too short to count"));
        }
    }
    const uint64_t rate = packed * 1000 / (count * LENGTH) + 1;
    learning->windows++;
    const bool worse = learning->windows >= learning->dictionaries && learning->best > 0 &&
                       rate * 100 > learning->best * 125;
    assert_int_equal(learning->dictionaries == 0 || worse, wanted);
    assert_int_equal(packer_learned(packer).length > 0, wanted);
    if (!wanted) {
        learning->best = learning->best == 0 || rate < learning->best ? rate : learning->best;
        return;
    }
    const struct slice learned = packer_learned(packer);
    assert_true(learned.length <= PACK_DICTIONARY_BYTES);
    assert_true(learned.length + LENGTH > PACK_DICTIONARY_BYTES || count == FIRST);
    assert_memory_equal(learned.at, learning->sample.data, learned.length);
    assert_int_equal(learned.length, learning->sample.length < PACK_DICTIONARY_BYTES
                                         ? learning->sample.length
                                         : PACK_DICTIONARY_BYTES);
    assert_true(packer_add(packer, learned));
    learning->dictionaries++;
    learning->windows = learning->best = 0;
}

/* The first is learned from the first window; another after a window that is a quarter worse than
 * the best one since, but not before there were as many windows as there are dictionaries. */
static void
test_another_is_learned_when_it_pays(void **state)
{
    static const struct {
        unsigned bad;
        bool wanted;
    } windows[] = {
        {50, true},                                        /* whatever the first is */
        {50, false}, {55, false}, {80, true},              /* one is known */
        {30, false}, {90, true},                           /* two */
        {90, false}, {40, false}, {60, true},              /* three: the best window counts */
        {20, false}, {80, false}, {80, false}, {80, true}, /* four: not before the fourth */
        {80, false}, {70, false}, {60, false}, {50, false}, {40, false}, {90, true}};
    struct learning learning = {.packing = *state, .seed = 9};
    buf_init(&learning.sample, 1 << 20);
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        pack_window(&learning, windows[i].bad, windows[i].wanted);
    }
    assert_int_equal(packer_count(learning.packing->packer), 6);
    buf_release(&learning.sample);
}

/* From a window of which no record is short enough nothing is learned, but from the next. */
static void
test_nothing_is_learned_from_long_records(void **state)
{
    enum { FIRST = 256, EVERY = 16, LONG = 4097, USUAL = 128 };
    struct packing *packing = *state;
    static char text[LONG];
    memset(text, 'x', sizeof text);
    for (unsigned i = 0; i < 2 * FIRST; i++) {
        assert_int_equal(packer_learned(packing->packer).length, 0);
        comes_back(packing, slice_of(text, i < FIRST ? LONG : USUAL));
    }
    assert_int_equal(packer_learned(packing->packer).length, FIRST / EVERY * USUAL);
}

/* The longest dictionary and the longest record are of use; what is longer is stored as it is. */
static void
test_the_longest_are_packed(void **state)
{
    struct packing *packing = *state;
    char *large = calloc(PACK_RECORD_MAXIMUM + 1, 1);
    assert_true(packer_add(packing->packer, slice_of(large, PACK_DICTIONARY_BYTES)));
    comes_back(packing, slice_of(large, PACK_RECORD_MAXIMUM));
    assert_int_equal(packing->value.data[0], 2);
    assert_true(packing->value.length < PACK_RECORD_MAXIMUM / 100);
    comes_back(packing, slice_of(large, PACK_RECORD_MAXIMUM + 1));
    assert_int_equal(packing->value.data[0], 1);
    free(large);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_learns_what_is_said_often),      TEST(test_learns_anew_when_records_change),
        TEST(test_odd_records_come_back),          TEST(test_learns_from_some_records),
        TEST(test_what_is_stored_is_never_longer), TEST(test_damage_is_seen),
        TEST(test_dictionaries_are_bounded),       TEST(test_another_is_learned_when_it_pays),
        TEST(test_the_longest_are_packed),         TEST(test_nothing_is_learned_from_long_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
