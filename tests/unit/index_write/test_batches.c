/* What a batch gathers before anything of it is written (index/write/batch_gather.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "index/sort/oid_sort.h"
#include "index/write/batch.h"

enum { ROOM = 1 << 20, LINES_MOST = 600 };

static struct partition partition; /* a batch does not look at it before it is written */
static struct index_batch *batch;

static int
begin_batch(void **state)
{
    (void)state;
    batch = index_batch_new(&partition);
    assert_ptr_equal(batch->partition, &partition);
    return 0;
}

static int
end_batch(void **state)
{
    (void)state;
    index_batch_free(batch);
    return 0;
}

/* ---- documents ---- */

#define DOCUMENT "http://d.example/"

static enum status
quad_of(const char *subject, const char *object, struct reason *why)
{
    const struct quad quad = {.subject = term_iri(slice_string(subject)),
                              .predicate = term_iri(SLICE("http://p.example/")),
                              .object = term_literal(slice_string(object)),
                              .graph = term_iri(SLICE("http://elsewhere.example/"))};
    return index_batch_quad(batch, &quad, why);
}

static int
compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Of the lines in their order, each once. */
static size_t
digest_of(char **lines, size_t count, uint8_t digest[DIGEST_SHA256_SIZE])
{
    struct buf text;
    size_t different = 0;
    buf_init(&text, ROOM);
    qsort(lines, count, sizeof *lines, compare_texts);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(lines[i], lines[i - 1]) != 0) {
            buf_append_string(&text, lines[i]);
            different++;
        }
    }
    digest_sha256(buf_slice(&text), digest);
    buf_release(&text);
    return different;
}

/* A document with these numbers as literals; its result must be that of its lines, whatever their
 * order is and however often each of them comes. */
static void
check_document(const unsigned *numbers, size_t count)
{
    static char texts[LINES_MOST][128];
    char *lines[LINES_MOST];
    uint8_t digest[DIGEST_SHA256_SIZE];
    struct reason why = {""};
    const size_t before = index_batch_documents(batch), quads = index_batch_quads(batch);
    const struct index_document document = {.uri = SLICE(DOCUMENT), .generation = 7 + before};
    index_batch_begin(batch, &document);
    for (size_t i = 0; i < count; i++) {
        char object[16];
        snprintf(object, sizeof object, "%03u", numbers[i]);
        snprintf(texts[i], sizeof texts[i],
                 "<http://s.example/> <http://p.example/> \"%s\" <" DOCUMENT "> .\n", object);
        lines[i] = texts[i];
        assert_int_equal(quad_of("http://s.example/", object, &why), STATUS_OK);
    }
    assert_int_equal(index_batch_documents(batch), before);
    assert_int_equal(index_batch_end(batch), before);
    assert_int_equal(index_batch_documents(batch), before + 1);
    assert_int_equal(index_batch_quads(batch), quads + count);
    const struct batch_document *d = &batch->documents[before];
    const struct index_result *result = index_batch_result(batch, before);
    assert_int_equal(d->first, quads);
    assert_int_equal(d->count, count);
    assert_int_equal(d->generation, 7 + before);
    assert_int_equal(result->quads, digest_of(lines, count, digest));
    assert_memory_equal(result->digest, digest, sizeof digest);
}

static void
a_digest_is_that_of_different_lines_in_order(void **state)
{
    (void)state;
    static const struct {
        size_t count;
        unsigned numbers[8];
    } cases[] = {{0, {0}},
                 {1, {5}},
                 {2, {1, 2}},
                 {2, {2, 1}},
                 {2, {1, 1}},
                 {3, {1, 2, 3}},
                 {3, {1, 3, 2}},
                 {3, {1, 1, 2}},
                 {3, {1, 2, 2}},
                 {4, {2, 1, 3, 4}},
                 {5, {1, 2, 3, 5, 4}},
                 {6, {3, 3, 1, 1, 2, 2}},
                 {8, {8, 7, 6, 5, 4, 3, 2, 1}},
                 {8, {1, 2, 3, 4, 5, 6, 7, 8}}};
    unsigned many[LINES_MOST];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_document(cases[i].numbers, cases[i].count);
    }
    /* More than there was room for, and fewer again. */
    for (size_t count = 10; count <= LINES_MOST; count = count * 3 + 11) {
        for (size_t i = 0; i < count; i++) {
            many[i] = (unsigned)(i * 7919 % 449);
        }
        check_document(many, count);
        check_document(many, count / 2);
    }
}

static void
what_is_begun_and_not_ended_is_dropped(void **state)
{
    (void)state;
    struct reason why = {""};
    const struct index_document one = {.uri = SLICE(DOCUMENT), .generation = 1};
    const struct index_document gone = {
        .uri = SLICE(DOCUMENT), .generation = 2, .removed = true, .linked_data = true};
    index_batch_begin(batch, &one);
    assert_int_equal(quad_of("a:s", "1", &why), STATUS_OK);
    assert_int_equal(index_batch_end(batch), 0);
    index_batch_begin(batch, &one);
    assert_int_equal(quad_of("a:s", "2", &why), STATUS_OK);
    assert_int_equal(quad_of("a:s", "3", &why), STATUS_OK);
    assert_int_equal(index_batch_quads(batch), 3);
    /* A document that is gone has no quads. */
    index_batch_begin(batch, &gone);
    assert_int_equal(index_batch_quads(batch), 1);
    assert_int_equal(quad_of("a:s", "4", &why), STATUS_OK);
    assert_int_equal(index_batch_end(batch), 1);
    assert_int_equal(index_batch_quads(batch), 1);
    assert_int_equal(index_batch_result(batch, 1)->quads, 0);
    assert_false(batch->documents[0].removed || batch->documents[0].linked_data);
    assert_true(batch->documents[1].removed && batch->documents[1].linked_data);
    assert_int_equal(batch->documents[1].generation, 2);
    assert_int_equal(batch->documents[1].count, 0);
    /* Nothing is open any more: what follows keeps the quads. */
    index_batch_begin_patch(batch, SLICE("a:g"));
    assert_int_equal(quad_of("a:s", "5", &why), STATUS_OK);
    assert_int_equal(index_batch_end(batch), 2);
    assert_int_equal(index_batch_quads(batch), 2);
    assert_true(batch->documents[2].patch);
    index_batch_reset(batch);
    assert_int_equal(index_batch_documents(batch), 0);
    assert_int_equal(index_batch_quads(batch), 0);
    assert_int_equal(batch->terms.count, 0);
    /* One that was open is dropped by that, too. */
    for (int i = 0; i < 2; i++) {
        index_batch_begin(batch, &one);
        assert_int_equal(quad_of("a:s", "6", &why), STATUS_OK);
        if (i == 0) {
            index_batch_reset(batch);
        }
    }
    assert_int_equal(index_batch_end(batch), 0);
    assert_int_equal(index_batch_quads(batch), 1);
}

static void
what_is_cut_off_is_dropped(void **state)
{
    (void)state;
    struct reason why = {""};
    const struct index_document document = {.uri = SLICE(DOCUMENT)};
    for (size_t open = 0; open < 2; open++) {
        for (size_t kept = 0; kept < 5; kept++) {
            index_batch_reset(batch);
            for (size_t i = 0; i < 3 + open; i++) {
                index_batch_begin(batch, &document);
                for (size_t k = 0; k <= i; k++) {
                    assert_int_equal(quad_of("a:s", "1", &why), STATUS_OK);
                }
                if (i < 3) {
                    (void)index_batch_end(batch);
                }
            }
            if (open == 1 && kept == 4) {
                continue; /* there are not so many */
            }
            index_batch_truncate(batch, kept);
            const size_t left = kept < 3 ? kept : 3;
            assert_int_equal(index_batch_documents(batch), left);
            assert_int_equal(index_batch_quads(batch), left * (left + 1) / 2);
            assert_false(batch->open);
        }
    }
}

static void
a_document_with_a_mistake_is_no_part_of_it(void **state)
{
    (void)state;
    struct reason why = {""};
    size_t number = 77;
    const struct index_document document = {.uri = SLICE(DOCUMENT)};
    assert_int_equal(
        index_batch_add(batch, &document, SLICE("<a:s> <a:p> <a:o> .\n<a:s> <a:p"), &number, &why),
        STATUS_BAD_INPUT);
    assert_true(why.text[0] != '\0');
    assert_int_equal(number, 77);
    assert_int_equal(index_batch_documents(batch), 0);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(
            index_batch_add(batch, &document, SLICE("<a:s> <a:p> <a:o> .\n"), &number, &why),
            STATUS_OK);
        assert_int_equal(number, i);
        assert_int_equal(index_batch_quads(batch), i + 1);
    }
}

/* The limit of a document's lines is made small here. */
static void
a_document_has_a_greatest_size(void **state)
{
    (void)state;
    enum { LINE = 56 }; /* bytes of each */
    struct reason why = {""};
    const struct index_document document = {.uri = SLICE(DOCUMENT)};
    buf_release(&batch->lines);
    buf_init(&batch->lines, 3 * LINE - 1);
    index_batch_begin(batch, &document);
    assert_int_equal(quad_of("http://s.example/", "1", &why), STATUS_OK);
    assert_int_equal(quad_of("http://s.example/", "2", &why), STATUS_OK);
    assert_int_equal(quad_of("http://s.example/", "3", &why), STATUS_LIMIT);
    assert_string_equal(why.text, "a document of more than 1073741824 bytes");
    /* A patch has no lines. */
    index_batch_begin_patch(batch, SLICE("a:g"));
    for (int i = 0; i < 20; i++) {
        assert_int_equal(quad_of("http://s.example/", "1", &why), STATUS_OK);
    }
    assert_int_equal(index_batch_end(batch), 0);
    assert_int_equal(index_batch_quads(batch), 20);
}

/* ---- patches ---- */

static void
removals_come_first_and_in_patches(void **state)
{
    (void)state;
    struct reason why = {""};
    const struct term term = term_iri(SLICE("a:x"));
    const struct quad quad = {.subject = term, .predicate = term, .object = term};
    for (size_t i = 0; i < 2; i++) {
        index_batch_begin_patch(batch, SLICE("a:g"));
        for (size_t k = 0; k < 3; k++) {
            assert_int_equal(index_batch_removal(batch, &quad, &why), STATUS_OK);
            assert_int_equal(batch->documents[i].removals, k + 1);
        }
        assert_int_equal(index_batch_quad(batch, &quad, &why), STATUS_OK);
        assert_int_equal(index_batch_removal(batch, &quad, &why), STATUS_MISUSE);
        assert_string_equal(why.text, "removals come first, and in patches alone");
        assert_int_equal(batch->documents[i].removals, 3);
        assert_int_equal(index_batch_end(batch), i);
        assert_int_equal(batch->documents[i].first, 4 * i);
        assert_int_equal(batch->documents[i].count, 4);
    }
    index_batch_begin(batch, &(struct index_document){.uri = SLICE(DOCUMENT)});
    assert_int_equal(index_batch_removal(batch, &quad, &why), STATUS_MISUSE);
    assert_int_equal(index_batch_quads(batch), 8);
}

/* ---- terms ---- */

static struct term
nth_term(size_t i, char text[32])
{
    snprintf(text, 32, "a:%zu", i % 29);
    struct term term = i % 3 == 0 ? term_iri(slice_string(text)) : term_literal(slice_string(text));
    if (i % 3 == 2) {
        term.datatype = SLICE("http://www.w3.org/2001/XMLSchema#string");
    }
    return term;
}

static void
many_terms_are_numbered_as_each_alone(void **state)
{
    (void)state;
    enum { MOST = 70 };
    static char texts[MOST][32];
    struct term terms[MOST];
    for (size_t count = 0; count <= MOST; count++) {
        uint32_t numbers[MOST + 1];
        struct term_set set;
        index_batch_reset(batch);
        term_set_init(&set);
        numbers[count] = 12345;
        for (size_t i = 0; i < count; i++) {
            terms[i] = nth_term(i, texts[i]);
        }
        index_batch_terms(batch, terms, count, numbers);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(numbers[i], term_set_add(&set, &terms[i]));
        }
        assert_int_equal(batch->terms.count, set.count);
        assert_int_equal(numbers[count], 12345);
        term_set_release(&set);
    }
}

static void
it_tells_its_memory(void **state)
{
    (void)state;
    enum {
        TERM = 128,
        CHANGE = 2 * sizeof(struct quad_change) + ORDER_COUNT * sizeof(uint32_t) +
                 2 * sizeof(struct sort_item)
    };
    assert_int_equal(index_batch_bytes(batch), 0);
    for (uint32_t i = 1; i < 40; i++) {
        char text[32];
        const struct term term = nth_term(i, text);
        uint32_t number;
        index_batch_begin_patch(batch, SLICE("a:g"));
        index_batch_terms(batch, &term, 1, &number);
        for (uint32_t k = 0; k < i; k++) {
            index_batch_triple(batch, number, 0, k % 2);
        }
        (void)index_batch_end(batch);
        const size_t quads = (size_t)i * (i + 1) / 2;
        assert_int_equal(batch->quads[quads - 1].subject, number);
        assert_int_equal(batch->quads[quads - 1].predicate, 0);
        assert_int_equal(batch->quads[quads - 1].object, (i - 1) % 2);
        assert_int_equal(index_batch_quads(batch), quads);
        assert_int_equal(index_batch_staged_bytes(batch),
                         term_set_bytes(&batch->terms) + batch->terms.count * TERM +
                             quads * sizeof(struct batch_quad) + i * sizeof(struct batch_document));
        assert_int_equal(index_batch_bytes(batch),
                         index_batch_staged_bytes(batch) + quads * CHANGE);
    }
}

/* Who gives back what he never had does no harm. */
static void
what_never_was_is_let_go(void **state)
{
    (void)state;
    index_batch_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_batch, end_batch)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_digest_is_that_of_different_lines_in_order),
        TEST(what_is_begun_and_not_ended_is_dropped),
        TEST(what_is_cut_off_is_dropped),
        TEST(a_document_with_a_mistake_is_no_part_of_it),
        TEST(a_document_has_a_greatest_size),
        TEST(removals_come_first_and_in_patches),
        TEST(many_terms_are_numbered_as_each_alone),
        TEST(it_tells_its_memory),
        cmocka_unit_test(what_never_was_is_let_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
