/* Parts of the index that need no partition, or hardly one: sets of terms and of predicates,
 * sorting, marks of changes, terms and patterns in messages, options; and, in files of their own,
 * blocks of postings and lists of links. */
#include "index/words/literals.h"
#include "index/words/posting_memtable.h"
#include "index/words/tokenizer.h"
#include "tests/unit/index_parts/index_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "index/protocol/service_protocol.h"
#include "index/serve/index_service.h"
#include "index/sort/key_sort.h"
#include "index/statistics/predicate_sets.h"
#include "index/terms/change_marks.h"
#include "index/terms/term_set.h"
#include "index/write/partition_state.h"
#include "rdf/core/vocabulary.h"

/* ---- sets ---- */

static void
terms_differ_in_any_part(void **state)
{
    (void)state;
    const struct term terms[] = {
        {.kind = TERM_IRI, .value = SLICE_INIT("a:x")},
        {.kind = TERM_BLANK, .value = SLICE_INIT("a:x")},
        {.kind = TERM_LITERAL, .value = SLICE_INIT("a:x")},
        {.kind = TERM_LITERAL, .value = SLICE_INIT("a:y")},
        {.kind = TERM_LITERAL, .value = SLICE_INIT("a:x"), .datatype = SLICE_INIT("a:d")},
        {.kind = TERM_LITERAL, .value = SLICE_INIT("a:x"), .datatype = SLICE_INIT("a:e")},
        {.kind = TERM_LITERAL, .value = SLICE_INIT("a:x"), .language = SLICE_INIT("en")},
        {.kind = TERM_LITERAL, .value = SLICE_INIT("a:x"), .language = SLICE_INIT("de")},
    };
    enum { TERMS = sizeof terms / sizeof *terms };
    struct term_set set;
    term_set_init(&set);
    assert_null(term_set_find(&set, &terms[0], 1));
    const size_t empty = term_set_bytes(&set);
    /* All have one hash, so that nothing but their parts tells them apart. */
    for (size_t i = 0; i < TERMS; i++) {
        assert_null(term_set_find(&set, &terms[i], 77));
        assert_int_equal(term_set_add_hashed(&set, &terms[i], 77), i);
        for (size_t k = 0; k <= i; k++) {
            assert_int_equal(term_set_add_hashed(&set, &terms[k], 77), k);
            assert_ptr_equal(term_set_find(&set, &terms[k], 77), &set.terms[k]);
        }
    }
    assert_int_equal(set.count, TERMS);
    assert_true(term_set_bytes(&set) >= empty + TERMS * sizeof *set.terms);
    term_set_reset(&set);
    assert_null(term_set_find(&set, &terms[0], 77));
    assert_int_equal(set.count, 0);
    /* Their own hashes are different ones; xsd:string and a language's datatype are left out. */
    for (size_t i = 0; i < TERMS; i++) {
        for (size_t k = 0; k < i; k++) {
            assert_true(term_hash(&terms[i]) != term_hash(&terms[k]));
        }
        assert_int_equal(term_set_add(&set, &terms[i]), i);
    }
    struct term plain = terms[2], tagged = terms[6];
    plain.datatype = SLICE(XSD_STRING);
    tagged.datatype = SLICE("http://www.w3.org/1999/02/22-rdf-syntax-ns#langString");
    assert_int_equal(term_set_add(&set, &plain), 2);
    assert_int_equal(term_set_add(&set, &tagged), 6);
    assert_int_equal(term_set_add(&set, &terms[4]), 4);
    assert_int_equal(set.count, TERMS);
    term_set_release(&set);
    assert_int_equal(set.count, 0);
}

static void
many_terms_keep_their_numbers(void **state)
{
    (void)state;
    enum { MANY = 5000 };
    struct term_set set;
    term_set_init(&set);
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < MANY; i++) {
            char text[16];
            snprintf(text, sizeof text, "a:%u", i);
            const struct term term = {.kind = TERM_IRI, .value = slice_string(text)};
            assert_int_equal(term_set_add(&set, &term), i);
            assert_true(slice_is(set.terms[i].term.value, text));
            assert_true(set.terms[i].id == OID_NONE && !set.terms[i].unwanted);
        }
    }
    assert_int_equal(set.count, MANY);
    assert_true(set.mask + 1 >= 2 * MANY);
    term_set_release(&set);
}

/* Beside a table of all pairs. */
static void
sets_of_predicates(void **state)
{
    (void)state;
    enum { SETS = 300, PREDICATES = 200, MOST = 9 };
    static oid members[SETS][MOST];
    static size_t sizes[SETS];
    struct predicate_sets sets = {0};
    for (size_t i = 0; i < SETS; i++) {
        oid last = 0;
        sizes[i] = i % (MOST + 1);
        for (size_t k = 0; k < sizes[i]; k++) {
            last += 1 + (i * 31 + k * 17) % (PREDICATES / MOST);
            members[i][k] = oid_stored(last, OID_KIND_IRI);
        }
    }
    size_t distinct = 0;
    for (size_t i = 0; i < SETS; i++) {
        bool known = false;
        for (size_t k = 0; k < i && !known; k++) {
            known =
                sizes[k] == sizes[i] && memcmp(members[k], members[i], sizes[i] * sizeof(oid)) == 0;
        }
        assert_int_equal(predicate_sets_find(&sets, members[i], sizes[i]) != NULL, known);
        struct predicate_set *set = predicate_sets_add(&sets, members[i], sizes[i]);
        distinct += !known;
        assert_int_equal(sets.count, distinct);
        assert_int_equal(set->count, sizes[i]);
        if (!known) {
            assert_int_equal(set->subjects, 0);
            for (size_t k = 0; k < sizes[i]; k++) {
                assert_int_equal(*predicate_set_rows(&sets, set, members[i][k]), 0);
                *predicate_set_rows(&sets, set, members[i][k]) = (int64_t)(i * MOST + k);
            }
            set->number = i;
        }
    }
    for (size_t i = 0; i < SETS; i++) {
        const struct predicate_set *set = predicate_sets_find(&sets, members[i], sizes[i]);
        for (uint64_t number = 0; number <= PREDICATES + 2; number++) {
            const oid predicate = oid_stored(number, OID_KIND_IRI);
            size_t at = 0;
            while (at < sizes[i] && members[i][at] != predicate) {
                at++;
            }
            const int64_t *rows = predicate_set_rows(&sets, set, predicate);
            assert_int_equal(rows != NULL, at < sizes[i]);
            assert_true(rows == NULL || *rows == (int64_t)(set->number * MOST + at));
        }
    }
    predicate_sets_release(&sets);
    assert_int_equal(sets.count, 0);
}

/* ---- sorting ---- */

static const struct slice *sorted_keys;

static int
compare_keys(const void *a, const void *b)
{
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    const int order = slice_compare(sorted_keys[left], sorted_keys[right]);
    return order != 0 ? order : left < right ? -1 : 1;
}

/* Equal keys, keys that begin alike for longer than is looked at, keys with NULs at the end. */
static void
keys_are_sorted_as_they_compare(void **state)
{
    (void)state;
    enum { KEYS = 3000, LONG = 600 };
    static const size_t counts[] = {0, 1, 2, 12, 13, 64, 65, 200, KEYS};
    static struct slice keys[KEYS];
    static uint32_t order[KEYS], expected[KEYS];
    static char text[KEYS][LONG + 8];
    for (size_t i = 0; i < KEYS; i++) {
        size_t length = i * 7919 % 23;
        memset(text[i], i % 4 == 0 ? 'a' : 0, sizeof text[i]);
        if (i % 5 == 0) {
            length = LONG + i % 8;
            memset(text[i], 'b', LONG);
        }
        for (size_t k = 0; k < 3 && k < length; k++) {
            text[i][length - 1 - k] = (char)("\0a\xff"[(i * 31 >> k) % 3]);
        }
        keys[i] = slice_of(text[i], length);
    }
    sorted_keys = keys;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        for (uint32_t i = 0; i < counts[c]; i++) {
            expected[i] = i;
        }
        qsort(expected, counts[c], sizeof *expected, compare_keys);
        key_sort(keys, order, counts[c]);
        for (size_t i = 0; i < counts[c]; i++) {
            assert_true(slice_equal(keys[order[i]], keys[expected[i]]));
        }
    }
}

/* ---- marks ---- */

static void
marks_pass_with_time(void **state)
{
    (void)state;
    struct change_marks *marks = change_marks_new();
    struct buf needs;
    buf_init(&needs, 1 << 10);
    assert_false(change_marks_passed(marks, buf_slice(&needs), 0));
    change_needs_add(&needs, 5);
    change_needs_add(&needs, 6);
    assert_int_equal(needs.length, 2 * sizeof(uint64_t));
    change_marks_set(marks, 7, 10);
    assert_false(change_marks_passed(marks, buf_slice(&needs), 0));
    change_marks_set(marks, 6, 10);
    assert_true(change_marks_passed(marks, buf_slice(&needs), 9));
    assert_false(change_marks_passed(marks, buf_slice(&needs), 10));
    change_marks_set(marks, 5, 11);
    assert_true(change_marks_passed(marks, buf_slice(&needs), 10));
    assert_false(change_marks_passed(marks, buf_slice(&needs), 11));
    change_marks_set_all(marks, 12);
    assert_true(change_marks_passed(marks, slice_of(NULL, 0), 11));
    assert_false(change_marks_passed(marks, buf_slice(&needs), 12));
    change_marks_free(marks);
    buf_release(&needs);
}

static bool
is_passed(const struct partition *partition, enum partition_place place, oid id, uint64_t time)
{
    struct partition_needs needs;
    partition_needs_init(&needs);
    partition_need(&needs, place, id);
    assert_int_equal(needs.commits.length, sizeof(uint64_t));
    assert_int_equal(needs.words.length, 0);
    const bool passed = change_marks_passed(partition->marks, buf_slice(&needs.commits), time);
    partition_needs_release(&needs);
    return passed;
}

/* A commit passes the marks of the subjects, objects and graphs of all its quads, each in its
 * place, and that of all commits; one with too many changes passes every mark. */
static void
commits_mark_what_they_change(void **state)
{
    (void)state;
    enum { FIRST = 1000, QUADS = 3 };
    static struct quad_change changes[CHANGE_MARKS_MOST + 1];
    struct partition partition = {.marks = change_marks_new()};
    struct change_set set = {.changes = changes, .count = QUADS, .version = 7};
    for (size_t i = 0; i < QUADS; i++) {
        changes[i].quad =
            (struct quad_oids){.subject = oid_stored(FIRST + 4 * i, OID_KIND_IRI),
                               .predicate = oid_stored(FIRST + 4 * i + 1, OID_KIND_IRI),
                               .object = oid_stored(FIRST + 4 * i + 2, OID_KIND_IRI),
                               .graph = oid_stored(FIRST + 4 * i + 3, OID_KIND_IRI)};
        changes[i].removed = i == 1;
    }
    assert_false(is_passed(&partition, PARTITION_SUBJECT, OID_NONE, 6));
    partition_mark(&partition, &set);
    static const enum partition_place places[] = {PARTITION_SUBJECT, PARTITION_OBJECT,
                                                  PARTITION_GRAPH};
    for (size_t i = 0; i < QUADS; i++) {
        const struct quad_oids *quad = &changes[i].quad;
        for (size_t p = 0; p < 3; p++) {
            assert_int_equal(is_passed(&partition, places[p], quad->subject, 6),
                             places[p] == PARTITION_SUBJECT);
            assert_int_equal(is_passed(&partition, places[p], quad->object, 6),
                             places[p] == PARTITION_OBJECT);
            assert_int_equal(is_passed(&partition, places[p], quad->graph, 6),
                             places[p] == PARTITION_GRAPH);
            assert_false(is_passed(&partition, places[p], quad->predicate, 6));
        }
        assert_false(is_passed(&partition, PARTITION_SUBJECT, quad->subject, 7));
    }
    assert_true(is_passed(&partition, PARTITION_GRAPH, OID_NONE, 6));
    assert_false(is_passed(&partition, PARTITION_GRAPH, OID_NONE, 7));
    /* One quad that is added again and again is marked alone, until there are too many. */
    for (size_t i = 0; i <= CHANGE_MARKS_MOST; i++) {
        changes[i].quad = changes[0].quad;
    }
    set.count = CHANGE_MARKS_MOST;
    set.version = 8;
    partition_mark(&partition, &set);
    assert_true(is_passed(&partition, PARTITION_SUBJECT, changes[0].quad.subject, 7));
    assert_false(is_passed(&partition, PARTITION_SUBJECT, changes[0].quad.predicate, 7));
    set.count++;
    set.version = 9;
    partition_mark(&partition, &set);
    assert_true(is_passed(&partition, PARTITION_SUBJECT, changes[0].quad.predicate, 8));
    assert_false(is_passed(&partition, PARTITION_SUBJECT, changes[0].quad.predicate, 9));
    change_marks_free(partition.marks);
}

/* ---- messages ---- */

static void
terms_in_messages(void **state)
{
    (void)state;
    const struct term terms[] = {
        {.kind = TERM_NONE},
        {.kind = TERM_IRI, .value = SLICE_INIT("a:x")},
        {.kind = TERM_BLANK, .value = SLICE_INIT("b")},
        {.kind = TERM_LITERAL, .value = SLICE_INIT("t"), .datatype = SLICE_INIT("a:d")},
        {.kind = TERM_LITERAL, .value = SLICE_INIT("t"), .language = SLICE_INIT("en")},
    };
    struct buf out;
    struct term term;
    buf_init(&out, 1 << 10);
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        buf_reset(&out);
        index_put_term(&out, &terms[i]);
        struct codec_reader in = codec_reader_of(buf_slice(&out));
        assert_true(index_get_term(&in, &term));
        assert_true(codec_at_end(&in));
        assert_true(term_equal(&term, &terms[i]));
        for (size_t length = 0; length < out.length; length++) {
            in = codec_reader_of(slice_of(out.data, length));
            assert_false(index_get_term(&in, &term));
        }
    }
    buf_reset(&out);
    codec_put_u8(&out, TERM_LITERAL + 1);
    (void)buf_append(&out, "\1a\1b\1c", 6);
    struct codec_reader in = codec_reader_of(buf_slice(&out));
    assert_false(index_get_term(&in, &term));
    buf_reset(&out);
    const struct quad quad = {terms[1], terms[2], terms[3], terms[0]};
    struct quad read;
    index_put_pattern(&out, &quad);
    in = codec_reader_of(buf_slice(&out));
    assert_true(index_get_pattern(&in, &read) && codec_at_end(&in));
    assert_int_equal(quad_compare(&read, &quad), 0);
    for (size_t length = 0; length < out.length; length++) {
        in = codec_reader_of(slice_of(out.data, length));
        assert_false(index_get_pattern(&in, &read));
    }
    buf_release(&out);
}

/* ---- options ---- */

static void
memory_is_parted(void **state)
{
    (void)state;
    static const struct opt *const tables[] = {index_options, NULL};
    struct opt_set *set = opt_set_new(tables);
    struct service_options service = {.partition_number = 3, .scratch_folder = "kept"};
    struct partition_options partition;
    struct reason why = {""};
    const uint64_t mega = 1 << 20;
    service_options_from(&service, set);
    partition_options_from(&partition, "folder", set);
    assert_int_equal(service.query_threads, 2);
    assert_int_equal(service.cursors, 64);
    assert_int_equal(service.query_timeout_ms, 60000);
    assert_true(service.query_memory == 512 * mega && service.query_disk == 8192 * mega);
    assert_true(service.answer_bytes == 4096 * mega);
    assert_true(service.sort_memory == 64 * mega && service.answer_memory == 64 * mega);
    assert_int_equal(service.partition_number, 3);
    assert_string_equal(service.scratch_folder, "kept");
    assert_string_equal(partition.folder, "folder");
    assert_true(partition.cache_bytes == 256 * mega && partition.words_memory == 256 * mega &&
                partition.snapshot_memory == 256 * mega && partition.count_memory == 128 * mega);
    assert_true(partition.term_memory == 64 * mega && partition.block_memory == 64 * mega);
    assert_true(partition.checkpoint_bytes == 256 * mega);
    assert_true(partition.change_bytes == 16 * mega && partition.disk_reserve == 64 * mega);
    static const char *const assignments[] = {"index.memory=32M",        "index.changes=3",
                                              "index.disk_reserve=5",    "index.query_threads=7",
                                              "index.query_timeout=1.5", "index.query_memory=1M"};
    for (size_t i = 0; i < sizeof assignments / sizeof *assignments; i++) {
        assert_int_equal(opt_set_assign(set, assignments[i], &why), STATUS_OK);
    }
    service_options_from(&service, set);
    partition_options_from(&partition, "folder", set);
    assert_int_equal(service.query_threads, 7);
    assert_int_equal(service.query_timeout_ms, 1500);
    assert_true(service.query_memory == mega && service.query_disk == 16 * mega);
    assert_true(service.sort_memory == 2 * mega && service.answer_memory == 2 * mega);
    assert_true(partition.cache_bytes == 8 * mega && partition.checkpoint_bytes == 8 * mega);
    assert_true(partition.term_memory == 2 * mega && partition.block_memory == 2 * mega);
    assert_true(partition.count_memory == 4 * mega);
    assert_true(partition.change_bytes == 3 && partition.disk_reserve == 5);
    /* Past it the log of a start after a crash would be long. */
    assert_int_equal(opt_set_assign(set, "index.memory=2G", &why), STATUS_OK);
    partition_options_from(&partition, "folder", set);
    assert_true(partition.checkpoint_bytes == 256 * mega && partition.cache_bytes == 512 * mega);
    assert_int_equal(opt_set_assign(set, "index.memory=1020M", &why), STATUS_OK);
    partition_options_from(&partition, "folder", set);
    assert_true(partition.checkpoint_bytes == 255 * mega);
    opt_set_free(set);
}

/* Who gives back what he never had does no harm. */
static void
what_never_was_is_let_go(void **state)
{
    (void)state;
    literals_close(NULL);
    posting_memtable_free(NULL);
    tokenizer_free(NULL);
    literals_search_close(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_differ_in_any_part),
        cmocka_unit_test(many_terms_keep_their_numbers),
        cmocka_unit_test(sets_of_predicates),
        cmocka_unit_test(keys_are_sorted_as_they_compare),
        cmocka_unit_test(marks_pass_with_time),
        cmocka_unit_test(commits_mark_what_they_change),
        cmocka_unit_test(terms_in_messages),
        cmocka_unit_test(memory_is_parted),
        cmocka_unit_test(words_have_classes_and_keys),
        cmocka_unit_test(postings_come_back),
        cmocka_unit_test(malformed_postings_are_bad),
        cmocka_unit_test(lists_of_links_are_read),
        cmocka_unit_test(links_are_found),
        cmocka_unit_test(subjects_are_counted_by_their_predicates),
        cmocka_unit_test(a_subject_has_many_predicates),
        cmocka_unit_test(documents_are_counted_by_their_hosts),
        cmocka_unit_test(hosts_are_many),
        cmocka_unit_test(searches_are_read),
        cmocka_unit_test(searches_have_bounds),
        cmocka_unit_test(what_never_was_is_let_go),
        cmocka_unit_test_setup_teardown(malformed_sets_are_refused, open_statistics,
                                        close_statistics),
        cmocka_unit_test_setup_teardown(sets_change_by_differences, open_statistics,
                                        close_statistics),
        cmocka_unit_test_setup_teardown(subjects_of_large_sets_are_only_counted, open_statistics,
                                        close_statistics),
        cmocka_unit_test_setup_teardown(stars_are_estimated_by_sets_and_by_the_rest,
                                        open_statistics, close_statistics),
        cmocka_unit_test_setup_teardown(sets_with_subjects_are_copied, open_statistics,
                                        close_statistics),
        cmocka_unit_test_setup_teardown(counts_are_gone_through, open_statistics, close_statistics),
        cmocka_unit_test_setup_teardown(hosts_are_gone_through, open_statistics, close_statistics),
        cmocka_unit_test_setup_teardown(totals_come_back, open_statistics, close_statistics),
        cmocka_unit_test_setup_teardown(statistics_of_this_format_are_opened, open_batches,
                                        close_batches),
        cmocka_unit_test_setup_teardown(a_batch_changes_the_counts, open_batches, close_batches),
        cmocka_unit_test_setup_teardown(without_a_type_there_are_no_classes, open_batches,
                                        close_batches),
        cmocka_unit_test_setup_teardown(a_damaged_count_ends_the_batch, open_batches,
                                        close_batches),
        cmocka_unit_test_setup_teardown(what_is_well_is_reported, open_verified, close_verified),
        cmocka_unit_test_setup_teardown(what_comes_between_is_counted, open_verified,
                                        close_verified),
        cmocka_unit_test_setup_teardown(wrong_counts_are_named, open_verified, close_verified),
        cmocka_unit_test_setup_teardown(wrong_sets_are_named, open_verified, close_verified),
        cmocka_unit_test_setup_teardown(verifying_can_be_ended, open_verified, close_verified),
        cmocka_unit_test(words_in_memory_are_found),
        cmocka_unit_test(words_count_from_the_end_of_their_literal),
        cmocka_unit_test(words_in_memory_are_freed),
        cmocka_unit_test(tokenizers_are_freed),
        cmocka_unit_test_setup_teardown(sets_are_freed, open_statistics, close_statistics),
        cmocka_unit_test_setup_teardown(a_backup_is_the_whole_partition, open_verified,
                                        close_verified),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
