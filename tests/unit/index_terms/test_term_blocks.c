/* The bytes of terms: entries and blocks of nodes (index/terms/node_block.c), keys of terms, the
 * blocks that hold them and the fences between these (index/terms/term_blocks.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/memory.h"
#include "index/terms/node_block.h"
#include "index/terms/term_blocks.h"

/* ---- entries of nodes ---- */

static const struct {
    struct term term;
    enum oid_kind kind;
    struct slice bytes;
} entries[] = {
    {{.kind = TERM_IRI, .value = SLICE_INIT("a:x")}, OID_KIND_IRI, SLICE_INIT("\1\3a:x")},
    {{.kind = TERM_BLANK, .value = SLICE_INIT("b")}, OID_KIND_BLANK, SLICE_INIT("\2\1b")},
    {{.kind = TERM_LITERAL, .value = SLICE_INIT("")}, OID_KIND_STRING, SLICE_INIT("\3\0")},
    {{.kind = TERM_LITERAL, .value = SLICE_INIT("text")}, OID_KIND_STRING, SLICE_INIT("\3\4text")},
    {{.kind = TERM_LITERAL, .value = SLICE_INIT("7"), .datatype = SLICE_INIT("a:d")},
     OID_KIND_TYPED,
     SLICE_INIT("\4\3a:d\1"
                "7")},
    {{.kind = TERM_LITERAL, .value = SLICE_INIT("ami"), .language = SLICE_INIT("fr")},
     OID_KIND_LANGUAGE,
     SLICE_INIT("\5\2fr\3ami")},
};
enum { ENTRIES = sizeof entries / sizeof *entries };

/* Each kind has its bytes, which are read as they were written; no part of them is an entry. */
static void
nodes_have_their_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < ENTRIES; i++) {
        struct buf raw;
        struct term term;
        enum oid_kind kind;
        buf_init(&raw, 100);
        node_block_put(&raw, &entries[i].term);
        assert_true(slice_equal(buf_slice(&raw), entries[i].bytes));
        (void)buf_append_char(&raw, 'x'); /* what follows is left */
        struct codec_reader reader = codec_reader_of(buf_slice(&raw));
        assert_true(node_block_get(&reader, &kind, &term));
        assert_int_equal(kind, entries[i].kind);
        assert_true(term_equal(&term, &entries[i].term));
        assert_int_equal(reader.end - reader.at, 1);
        for (size_t length = 0; length < entries[i].bytes.length; length++) {
            reader = codec_reader_of(slice_of(raw.data, length));
            assert_false(node_block_get(&reader, &kind, &term));
        }
        buf_release(&raw);
    }
    static const char kinds[] = {OID_KIND_NONE, OID_KIND_TRIPLE, OID_KIND_DIRECTION, 8, (char)255};
    for (size_t i = 0; i < sizeof kinds; i++) {
        const char bytes[] = {kinds[i], 1, 'a', 1, 'b'};
        struct codec_reader reader = codec_reader_of(slice_of(bytes, sizeof bytes));
        struct term term;
        enum oid_kind kind;
        assert_false(node_block_get(&reader, &kind, &term));
    }
}

/* ---- blocks of nodes ---- */

static void
fill_block(struct node_block *block, uint64_t first, size_t count)
{
    buf_reset(&block->raw);
    block->first = first;
    block->count = count;
    for (size_t i = 0; i < count; i++) {
        node_block_put(&block->raw, &entries[i % ENTRIES].term);
    }
}

static void
blocks_know_where_nodes_begin(void **state)
{
    (void)state;
    enum { FIRST = 100 };
    struct node_block block;
    struct reason why = {""};
    struct arena arena;
    struct term term;
    node_block_init(&block);
    assert_false(node_block_has(&block, 0));
    for (size_t count = 1; count < 40; count = 2 * count + 1) {
        fill_block(&block, FIRST, count);
        assert_int_equal(node_block_index(&block, &why), STATUS_OK);
        assert_false(node_block_has(&block, FIRST - 1));
        assert_false(node_block_has(&block, FIRST + count));
        for (size_t i = 0; i < count; i++) {
            assert_true(node_block_has(&block, FIRST + i));
            assert_true(
                slice_equal(node_block_entry(&block, FIRST + i), entries[i % ENTRIES].bytes));
            arena_init(&arena, 0);
            assert_int_equal(
                node_block_copy(&block, FIRST + i, entries[i % ENTRIES].kind, &arena, &term, &why),
                STATUS_OK);
            assert_true(term_equal(&term, &entries[i % ENTRIES].term));
            assert_int_equal(
                node_block_copy(&block, FIRST + i, OID_KIND_TRIPLE, &arena, &term, &why),
                STATUS_CORRUPT);
            char expected[64];
            snprintf(expected, sizeof expected, "term %zu is of another kind", FIRST + i);
            assert_string_equal(why.text, expected);
            arena_release(&arena);
        }
    }
    node_block_trim(&block);
    assert_int_equal(block.raw.capacity, block.raw.length + 1);
    assert_int_equal(node_block_index(&block, &why), STATUS_OK);
    assert_true(slice_equal(node_block_entry(&block, FIRST), entries[0].bytes));
    node_block_release(&block);
}

/* A block that holds less than it should, or more, is damaged. */
static void
damaged_blocks_are_told(void **state)
{
    (void)state;
    struct node_block block;
    struct reason why = {""};
    node_block_init(&block);
    fill_block(&block, 7, 3);
    block.count = 4;
    assert_int_equal(node_block_index(&block, &why), STATUS_CORRUPT);
    assert_string_equal(why.text, "term 10 is malformed");
    block.count = 2;
    assert_int_equal(node_block_index(&block, &why), STATUS_CORRUPT);
    assert_string_equal(why.text, "bytes after term 9");
    block.count = 3;
    block.raw.data[entries[0].bytes.length] = OID_KIND_DIRECTION;
    assert_int_equal(node_block_index(&block, &why), STATUS_CORRUPT);
    assert_string_equal(why.text, "term 8 is malformed");
    node_block_release(&block);
}

/* A copy takes the length of its entry; one for which there is no room says how long its text is.
 */
static void
copies_take_one_entry(void **state)
{
    (void)state;
    struct reason why = {""};
    struct arena arena;
    struct term term;
    static const char bytes[] = "\5\2fr\3ami\1\3a:x";
    struct slice entry = slice_of(bytes, sizeof bytes - 1);
    arena_init(&arena, 0);
    assert_int_equal(node_block_entry_copy(&entry, 5, OID_KIND_LANGUAGE, &arena, &term, &why),
                     STATUS_OK);
    assert_int_equal(entry.length, 8);
    assert_true(slice_is(term.value, "ami") && slice_is(term.language, "fr"));
    assert_true(term.value.at < bytes || term.value.at >= bytes + sizeof bytes);
    entry = slice_of(bytes, 7);
    assert_int_equal(node_block_entry_copy(&entry, 5, OID_KIND_LANGUAGE, &arena, &term, &why),
                     STATUS_CORRUPT);
    assert_string_equal(why.text, "term 5 is of another kind");
    arena_release(&arena);
    arena_init(&arena, 1);
    entry = slice_of(bytes, sizeof bytes - 1);
    assert_int_equal(node_block_entry_copy(&entry, 5, OID_KIND_LANGUAGE, &arena, &term, &why),
                     STATUS_LIMIT);
    assert_string_equal(why.text, "a term of 3 bytes does not fit in memory");
    arena_release(&arena);
}

/* ---- keys of terms ---- */

/* Texts are their own keys up to a length; longer ones keep their beginning and have a fingerprint
 * of all of it behind. */
static void
texts_are_keys_up_to_a_length(void **state)
{
    (void)state;
    enum { BEGINNING = 128, LONGEST = TERM_KEY_MAXIMUM - 1 };
    char text[2 * TERM_KEY_MAXIMUM];
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = (char)('a' + i % 26);
    }
    for (size_t length = 0; length < sizeof text; length++) {
        for (int blank = 0; blank < 2; blank++) {
            const struct term term = {.kind = blank ? TERM_BLANK : TERM_IRI,
                                      .value = slice_of(text, length)};
            struct term_key key;
            term_key_of(&term, &key);
            assert_int_equal(key.bytes[0], blank ? 'B' : 'I');
            if (length <= LONGEST) {
                assert_int_equal(key.length, 1 + length);
                assert_memory_equal(key.bytes + 1, text, length);
                continue;
            }
            uint8_t fingerprint[FINGERPRINT_SIZE];
            fingerprint_of(term.value, fingerprint);
            assert_int_equal(key.length, 2 + BEGINNING + FINGERPRINT_SIZE);
            assert_memory_equal(key.bytes + 1, text, BEGINNING);
            assert_int_equal(key.bytes[1 + BEGINNING], 0);
            assert_memory_equal(key.bytes + 2 + BEGINNING, fingerprint, FINGERPRINT_SIZE);
        }
    }
}

/* Literals have keys of one length, which differ in whatever the literals differ. */
static void
literals_have_keys_of_one_length(void **state)
{
    (void)state;
    static const struct term literals[] = {
        {.kind = TERM_LITERAL, .value = SLICE_INIT("")},
        {.kind = TERM_LITERAL, .value = SLICE_INIT("a")},
        {.kind = TERM_LITERAL, .value = SLICE_INIT("a"), .datatype = SLICE_INIT("en")},
        {.kind = TERM_LITERAL, .value = SLICE_INIT("a"), .language = SLICE_INIT("en")},
        {.kind = TERM_LITERAL, .value = SLICE_INIT("a"), .language = SLICE_INIT("e")},
        {.kind = TERM_LITERAL, .value = SLICE_INIT("na"), .language = SLICE_INIT("e")},
    };
    enum { LITERALS = sizeof literals / sizeof *literals };
    struct term_key keys[LITERALS], again;
    for (size_t i = 0; i < LITERALS; i++) {
        term_key_of(&literals[i], &keys[i]);
        assert_int_equal(keys[i].length, 1 + FINGERPRINT_SIZE);
        assert_int_equal(keys[i].bytes[0], 'L');
        term_key_of(&literals[i], &again);
        assert_memory_equal(again.bytes, keys[i].bytes, keys[i].length);
        for (size_t k = 0; k < i; k++) {
            assert_memory_not_equal(keys[k].bytes, keys[i].bytes, keys[i].length);
        }
    }
}

/* ---- fences ---- */

/* A fence is the shortest beginning of the right key that is after the left one, or else the left
 * key. */
static void
fences_lie_between_keys(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"", "b", ""},       {"", "bc", "b"},       {"a", "b", "a"},      {"a", "bc", "b"},
        {"ab", "abc", "ab"}, {"ab", "abcd", "abc"}, {"abx", "acy", "ac"}, {"abx", "ac", "abx"},
        {"a", "abcd", "ab"}, {"abcd", "b", "abcd"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct slice left = slice_string(cases[i][0]), right = slice_string(cases[i][1]);
        const struct slice fence = term_fence(left, right);
        assert_true(slice_is(fence, cases[i][2]));
        assert_true(slice_compare(left, fence) <= 0 && slice_compare(fence, right) < 0);
    }
}

/* ---- blocks of keys ---- */

static struct term_entry
entry_of(unsigned i, char key[8])
{
    snprintf(key, 8, "k%04u", i);
    return (struct term_entry){
        .key = (const uint8_t *)key,
        .length = 5,
        .id = oid_stored(i % 2 ? 1000000 - i : i, i % 3 ? OID_KIND_IRI : OID_KIND_BLANK)};
}

static unsigned
write_block(uint8_t *bytes, size_t size, unsigned count, size_t *length)
{
    static char keys[2][8]; /* the last key lives until the next call */
    struct term_block_writer writer;
    unsigned added = 0;
    term_block_begin(&writer, bytes, size);
    for (; added < count; added++) {
        const struct term_entry entry = entry_of(added, keys[added % 2]);
        if (!term_block_add(&writer, &entry)) {
            break;
        }
    }
    assert_int_equal(writer.count, added);
    *length = term_block_end(&writer);
    return added;
}

static unsigned
read_block(const uint8_t *bytes, size_t length, bool *bad)
{
    struct term_block_reader reader;
    char key[8];
    unsigned count = 0;
    uint8_t *own = memory_alloc(length > 0 ? length : 1); /* so that reading past it is found */
    memcpy(own, bytes, length);
    for (term_block_open(&reader, own, length); term_block_next(&reader); count++) {
        const struct term_entry entry = entry_of(count, key);
        assert_int_equal(reader.count, count + 1);
        assert_int_equal(reader.id, entry.id);
        assert_true(slice_equal(slice_of((char *)reader.key.bytes, reader.key.length),
                                term_entry_key(&entry)));
    }
    assert_false(term_block_next(&reader));
    *bad = reader.bad;
    free(own);
    return count;
}

/* A block takes entries while there is room, up to a number; what is in it comes back, and a part
 * of it is damage unless it ends with an entry. */
static void
blocks_take_so_many_keys(void **state)
{
    (void)state;
    enum { LARGE = 1 << 14 };
    static uint8_t bytes[LARGE + TERM_ENTRY_BYTES];
    size_t length, last = 0;
    bool bad;
    assert_int_equal(write_block(bytes, LARGE, 1000, &length), TERM_ENTRY_MOST);
    assert_int_equal(read_block(bytes, length, &bad), TERM_ENTRY_MOST);
    assert_false(bad);
    /* One entry more than there may be. */
    memcpy(bytes + length, "\0\1z\1", 4);
    assert_int_equal(read_block(bytes, length + 4, &bad), TERM_ENTRY_MOST);
    assert_true(bad);
    /* Just as much room as the entries need, and a byte less. */
    for (unsigned count = 1; count < 30; count++) {
        size_t whole;
        assert_int_equal(write_block(bytes, LARGE, count, &whole), count);
        assert_int_equal(write_block(bytes, whole, count + 1, &length), count);
        assert_int_equal(length, whole);
        assert_int_equal(write_block(bytes, whole - 1, count, &length), count - 1);
        assert_true(length == (count > 1 ? last : TERM_BLOCK_HEADER));
        last = whole;
    }
    (void)write_block(bytes, LARGE, 12, &length);
    unsigned wholes = 0;
    for (size_t cut = 1; cut < length; cut++) {
        const unsigned count = read_block(bytes, cut, &bad);
        assert_true(count < 12);
        wholes += !bad;
    }
    assert_int_equal(wholes, 12); /* none to eleven entries */
    assert_int_equal(read_block(bytes, 0, &bad), 0);
    assert_false(bad);
    bytes[0]++;
    assert_int_equal(read_block(bytes, length, &bad), 0);
    assert_true(bad);
}

static bool
is_bad(const char *block, size_t length)
{
    struct term_block_reader reader;
    term_block_open(&reader, (const uint8_t *)block, length);
    while (term_block_next(&reader)) {
    }
    return reader.bad;
}

/* A key shares no more than the one before it has, and is no longer than keys are. */
static void
malformed_keys_are_bad(void **state)
{
    (void)state;
    char block[4 * TERM_KEY_MAXIMUM];
    assert_false(is_bad("\1\0\2ab\1\2\1c\1", 10));
    assert_true(is_bad("\1\0\2ab\1\3\1c\1", 10));
    assert_true(is_bad("\1\1\2ab\1", 6));
    assert_true(is_bad("\1\0\4ab\1", 6));
    for (size_t length = TERM_KEY_MAXIMUM - 1; length <= TERM_KEY_MAXIMUM + 1; length++) {
        size_t at = 0;
        memcpy(block, "\1\0\2ab\1\2", 7);
        at = 7;
        block[at++] = (char)((length - 2) | 0x80); /* a number of two bytes */
        block[at++] = (char)((length - 2) >> 7);
        memset(block + at, 'k', length - 2);
        at += length - 2;
        block[at++] = 1;
        assert_int_equal(is_bad(block, at), length > TERM_KEY_MAXIMUM);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_have_their_bytes),
        cmocka_unit_test(blocks_know_where_nodes_begin),
        cmocka_unit_test(damaged_blocks_are_told),
        cmocka_unit_test(copies_take_one_entry),
        cmocka_unit_test(texts_are_keys_up_to_a_length),
        cmocka_unit_test(literals_have_keys_of_one_length),
        cmocka_unit_test(fences_lie_between_keys),
        cmocka_unit_test(blocks_take_so_many_keys),
        cmocka_unit_test(malformed_keys_are_bad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
