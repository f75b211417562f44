/* Records of the index's trees (index/quads/documents.c, index/words/literals_state.c): each is
 * read as it was written, and none that is cut, longer or of another version is taken. The
 * functions below stand in the place of the trees, which hold one record. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/codec.h"
#include "index/quads/documents.h"
#include "index/words/literals_index.h"
#include "tests/unit/index_parts/index_records.h"

enum { RECORD = 256, KEY = 16 };

static uint8_t record[RECORD];
static size_t record_length;
static char record_key[KEY];
static size_t record_key_length;
static enum status tree_status;

enum status __wrap_tree_get(struct tree *tree, struct transaction *transaction, struct slice key,
                            void *value, size_t *length, struct reason *why);
enum status
__wrap_tree_get(struct tree *tree, struct transaction *transaction, struct slice key, void *value,
                size_t *length, struct reason *why)
{
    (void)tree, (void)transaction;
    if (tree_status != STATUS_OK) {
        return status_fail(why, tree_status, "the tree says so");
    }
    assert_true(slice_equal(key, slice_of(record_key, record_key_length)));
    assert_true(record_length <= *length);
    memcpy(value, record, record_length);
    *length = record_length;
    return STATUS_OK;
}

enum status __wrap_tree_put(struct tree *tree, struct transaction *transaction, struct slice key,
                            struct slice value, struct reason *why);
enum status
__wrap_tree_put(struct tree *tree, struct transaction *transaction, struct slice key,
                struct slice value, struct reason *why)
{
    (void)tree, (void)transaction;
    if (tree_status != STATUS_OK) {
        return status_fail(why, tree_status, "the tree says so");
    }
    assert_true(key.length <= sizeof record_key && value.length < sizeof record);
    memcpy(record_key, key.at, key.length);
    record_key_length = key.length;
    memcpy(record, value.at, value.length);
    record_length = value.length;
    return STATUS_OK;
}

/* Whatever a record lacks or has too much, it is not read. */
static void
each_damage_is_told(enum status (*read)(struct reason *why), const char *what)
{
    const size_t whole = record_length;
    struct reason why = {""};
    for (record_length = 0; record_length <= whole + 1; record_length++) {
        if (record_length != whole) {
            assert_int_equal(read(&why), STATUS_CORRUPT);
            assert_string_equal(why.text, what);
        }
    }
    record_length = whole;
    for (int version = 0; version < 256; version += 2) {
        record[0] = (uint8_t)version;
        assert_int_equal(read(&why), STATUS_CORRUPT);
    }
    record[0] = 1;
    assert_int_equal(read(&why), STATUS_OK);
}

/* ---- documents ---- */

static enum status
read_document(struct reason *why)
{
    struct document_entry entry;
    return documents_get(NULL, 77, &entry, why);
}

static void
test_documents_are_read_as_written(void **state)
{
    static const uint64_t numbers[] = {0, 1, 127, 128, UINT64_MAX};
    (void)state;
    for (unsigned i = 0; i < 8 * sizeof numbers / sizeof numbers[0]; i++) {
        struct reason why = {""};
        struct document_entry entry = {.generation = numbers[i / 8],
                                       .quads = numbers[(i / 8 + 1) % 5],
                                       .indexed_ms = numbers[(i / 8 + 2) % 5],
                                       .removed = i & 1,
                                       .linked_data = i & 2,
                                       .patched = i & 4};
        struct document_entry found;
        memset(entry.digest, 0xd0 + (int)i % 16, sizeof entry.digest);
        assert_int_equal(documents_put(NULL, NULL, 77, &entry, &why), STATUS_OK);
        memset(&found, 0xff, sizeof found);
        assert_int_equal(documents_get(NULL, 77, &found, &why), STATUS_OK);
        if (entry.patched) {
            memset(entry.digest, 0, sizeof entry.digest);
        }
        assert_int_equal(found.generation, entry.generation);
        assert_int_equal(found.quads, entry.quads);
        assert_int_equal(found.indexed_ms, entry.indexed_ms);
        assert_int_equal(found.removed, entry.removed);
        assert_int_equal(found.linked_data, entry.linked_data);
        assert_int_equal(found.patched, entry.patched);
        assert_memory_equal(found.digest, entry.digest, sizeof found.digest);
        each_damage_is_told(read_document, "tree documents: a record is malformed");
    }
    struct document_entry entry = {0};
    struct reason why = {""};
    for (int status = STATUS_NOT_FOUND; status <= STATUS_FULL; status++) {
        tree_status = (enum status)status;
        assert_int_equal(documents_get(NULL, 77, &entry, &why), status);
        assert_int_equal(documents_put(NULL, NULL, 77, &entry, &why), status);
        tree_status = STATUS_OK;
    }
}

/* ---- how far the literals' words are ---- */

static enum status
read_state(struct reason *why)
{
    static struct literals literals;
    return literals_state_get(literals.tree, &literals.state, why);
}

static void
test_the_state_of_words_is_read_as_written(void **state)
{
    static struct literals literals;
    struct literals_state given = {.next = 1000, .literals = 7, .words = 300, .until = 2000};
    struct reason why = {""};
    (void)state;
    for (size_t length = 0; length <= WORD_MOST; length += WORD_MOST / 2) {
        memset(given.done, 'w', length);
        given.done_length = length;
        assert_int_equal(literals_state_put(literals.tree, NULL, &given, &why), STATUS_OK);
        memset(&literals.state, 0xff, sizeof literals.state);
        assert_int_equal(literals_state_get(literals.tree, &literals.state, &why), STATUS_OK);
        assert_int_equal(literals.state.next, 1000);
        assert_int_equal(literals.state.literals, 7);
        assert_int_equal(literals.state.words, 300);
        assert_int_equal(literals.state.until, 2000);
        assert_int_equal(literals.state.done_length, length);
        assert_memory_equal(literals.state.done, given.done, length);
        each_damage_is_told(read_state, "tree words: its state is malformed");
    }
    /* The word is longer than there may be. */
    struct buf longer;
    buf_init(&longer, RECORD);
    codec_put_u8(&longer, 1);
    for (int i = 0; i < 4; i++) {
        codec_put_varint(&longer, 1);
    }
    codec_put_slice(&longer, slice_of((const char *)given.done, WORD_MOST));
    longer.data[5]++;
    (void)buf_append_char(&longer, 'w');
    memcpy(record, longer.data, longer.length);
    record_length = longer.length;
    assert_int_equal(literals_state_get(literals.tree, &literals.state, &why), STATUS_CORRUPT);
    buf_release(&longer);
    /* A tree without words has none yet; other failures are told. */
    tree_status = STATUS_NOT_FOUND;
    memset(&literals.state, 0xff, sizeof literals.state);
    assert_int_equal(literals_state_get(literals.tree, &literals.state, &why), STATUS_OK);
    assert_int_equal(literals.state.next, 1);
    assert_int_equal(literals.state.literals, 0);
    assert_int_equal(literals.state.done_length, 0);
    tree_status = STATUS_SYSTEM;
    assert_int_equal(literals_state_get(literals.tree, &literals.state, &why), STATUS_SYSTEM);
    assert_int_equal(literals_state_put(literals.tree, NULL, &given, &why), STATUS_SYSTEM);
    tree_status = STATUS_OK;
}

int
index_records_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_documents_are_read_as_written),
        cmocka_unit_test(test_the_state_of_words_is_read_as_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
