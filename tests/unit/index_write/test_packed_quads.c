/* Quads packed for the way to an index (index/write/packed_quads.c): what is read is what was
 * written; anything else is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "index/write/batch.h"
#include "index/write/packed_quads.h"

enum { ROOM = 1 << 20 };

static struct partition partition; /* a batch does not look at it before it is written */
static struct index_batch *batch;

static int
begin_batch(void **state)
{
    (void)state;
    batch = index_batch_new(&partition);
    return 0;
}

static int
end_batch(void **state)
{
    (void)state;
    index_batch_free(batch);
    return 0;
}

/* Each term by itself, written as N-Quads has it. */
static void
append_term(struct buf *out, const struct term *term)
{
    buf_printf(out, "%d %.*s %.*s %.*s\n", (int)term->kind, SLICE_PRINT(term->value),
               SLICE_PRINT(term->datatype), SLICE_PRINT(term->language));
}

static const struct set_term *
term_at(const struct term_set *set, uint32_t number)
{
    assert_true(number < set->count);
    return &set->terms[number];
}

static void
append_quad(struct buf *out, const struct term_set *set, uint32_t subject, uint32_t predicate,
            uint32_t object, const struct term *graph)
{
    append_term(out, graph);
    append_term(out, &term_at(set, subject)->term);
    append_term(out, &term_at(set, predicate)->term);
    append_term(out, &term_at(set, object)->term);
}

/* Quads of many terms, their graphs as `graph_of` says: what is read is what was written, graph by
 * graph in the order of their numbers, quads of each as they came. */
static void
check_packed(size_t count, uint32_t terms_count, uint32_t graphs, bool ascending)
{
    struct term_set terms;
    struct buf packed, expected, found;
    struct reason why = {""};
    const uint32_t resources = (terms_count + 4) / 5; /* each fifth term is an IRI */
    struct packed_quad *quads = calloc(count + 1, sizeof *quads);
    term_set_init(&terms);
    buf_init(&packed, ROOM);
    buf_init(&expected, ROOM);
    buf_init(&found, ROOM);
    for (uint32_t i = 0; i < terms_count; i++) {
        char text[32];
        snprintf(text, sizeof text, "a:%u", i);
        struct term term =
            i % 5 == 1 ? term_blank(slice_string(text + 2)) : term_iri(slice_string(text));
        if (i % 5 > 1) {
            term = term_literal(slice_string(text));
            term.language = i % 5 == 2 ? SLICE("en") : SLICE("");
            term.datatype = i % 5 == 3 ? SLICE("http://t.example/") : SLICE("");
        }
        assert_int_equal(term_set_add(&terms, &term), i);
    }
    for (size_t i = 0; i < count; i++) {
        const uint32_t graph =
            (uint32_t)(ascending ? i * graphs / count : (i + 1) * 7 % graphs) % resources;
        const bool blank = i % 2 == 1 && terms_count > resources * 5 - 4;
        quads[i] = (struct packed_quad){.subject = (uint32_t)i % resources * 5 + blank,
                                        .predicate = (uint32_t)(i / 2) % resources * 5,
                                        .object = (uint32_t)(i * 3) % terms_count,
                                        .graph = graph * 5};
    }
    size_t graph_count = 0;
    for (uint32_t graph = 0; graph < terms_count; graph += 5) {
        bool any = false;
        for (size_t i = 0; i < count; i++) {
            if (quads[i].graph == graph) {
                any = true;
                append_quad(&expected, &terms, quads[i].subject, quads[i].predicate,
                            quads[i].object, &terms.terms[graph].term);
            }
        }
        graph_count += any;
    }
    packed_quads_write(&packed, &terms, quads, count);
    assert_false(packed.overflowed);
    index_batch_reset(batch);
    struct codec_reader in = codec_reader_of(buf_slice(&packed));
    assert_int_equal(packed_quads_read(&in, batch, &why), STATUS_OK);
    assert_int_equal(index_batch_documents(batch), graph_count);
    assert_int_equal(index_batch_quads(batch), count);
    for (size_t i = 0; i < graph_count; i++) {
        const struct batch_document *d = &batch->documents[i];
        assert_true(d->patch);
        assert_int_equal(d->removals, 0);
        for (size_t k = d->first; k < d->first + d->count; k++) {
            append_quad(&found, &batch->terms, batch->quads[k].subject, batch->quads[k].predicate,
                        batch->quads[k].object, &batch->terms.terms[d->graph].term);
        }
    }
    assert_true(slice_equal(buf_slice(&found), buf_slice(&expected)));
    buf_release(&packed);
    buf_release(&expected);
    buf_release(&found);
    term_set_release(&terms);
    free(quads);
}

static void
packed_quads_come_back(void **state)
{
    (void)state;
    static const uint32_t terms[] = {1, 2, 5, 15, 16, 17, 31, 32, 33, 300, 1000};
    static const size_t counts[] = {0, 1, 2, 3, 10, 500};
    for (size_t t = 0; t < sizeof terms / sizeof *terms; t++) {
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            for (uint32_t graphs = 1; graphs < 5; graphs++) {
                check_packed(counts[c], terms[t], graphs, true);
                check_packed(counts[c], terms[t], graphs, false);
            }
        }
    }
}

/* Quads that do not fit are told by the buffer. Those of a graph have room for the longest numbers
 * before they are written. */
static void
packed_quads_need_room(void **state)
{
    (void)state;
    enum { FIRST = 50, SECOND = 100, NEEDED = 1 + 5 + 5 + 1 + 2 + FIRST * 3 + 2 + SECOND * 30 };
    static const size_t rooms[] = {1, 5, 10, 11, 12, 13, 14, 100, 1513, 1514, NEEDED - 1, NEEDED};
    const struct term one = term_iri(SLICE("a:b")), other = term_iri(SLICE("a:c"));
    struct packed_quad quads[FIRST + SECOND];
    struct term_set terms;
    struct buf packed;
    term_set_init(&terms);
    assert_int_equal(term_set_add(&terms, &one), 0);
    assert_int_equal(term_set_add(&terms, &other), 1);
    memset(quads, 0, sizeof quads);
    for (size_t i = 0; i < SECOND; i++) {
        quads[FIRST + i].graph = 1;
    }
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        buf_init(&packed, rooms[i]);
        packed_quads_write(&packed, &terms, quads, FIRST + SECOND);
        assert_int_equal(packed.overflowed, rooms[i] < NEEDED);
        buf_release(&packed);
    }
    term_set_release(&terms);
}

#define TERMS_OF_ALL_KINDS "\5" IRI BLANK STRING TYPED LANGUAGE
#define IRI "\1\3a:s"
#define BLANK "\2\1b"
#define STRING "\3\1t"
#define TYPED "\4\3a:t\1t"
#define LANGUAGE "\5\2en\1t"

static void
malformed_quads_are_refused(void **state)
{
    (void)state;
    const struct {
        struct slice packed;
        size_t quads; /* SIZE_MAX: it is refused */
    } cases[] = {
        {SLICE(""), SIZE_MAX},
        {SLICE("\0"), SIZE_MAX},
        {SLICE("\0\0"), 0},
        {SLICE("\0\0\0"), SIZE_MAX},
        {SLICE("\x80"), SIZE_MAX},
        {SLICE("\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), SIZE_MAX},
        {SLICE("\1\1\3a:s\0"), 0},
        {SLICE("\2\1\3a:s\0"), SIZE_MAX},
        {SLICE("\6\1\3a:s\0"), SIZE_MAX}, /* more terms than bytes */
        {SLICE("\5\1\3a:s\0"), SIZE_MAX},
        {SLICE(TERMS_OF_ALL_KINDS "\0"), 0},
        /* terms */
        {SLICE("\1\0\1t\0"), SIZE_MAX},
        {SLICE("\1\6\1t\0"), SIZE_MAX},
        {SLICE("\1\7\1t\0"), SIZE_MAX},
        {SLICE("\1\1\3a s\0"), SIZE_MAX},
        {SLICE("\1\1\0\0"), SIZE_MAX},
        {SLICE("\1\2\0\0"), SIZE_MAX},
        {SLICE("\1\2\2b.\0"), SIZE_MAX},
        {SLICE("\1\2\3b.c\0"), 0},
        {SLICE("\1\2\1 \0"), SIZE_MAX},
        {SLICE("\1\3\0\0"), 0},
        {SLICE("\1\3\1\xff\0"), SIZE_MAX},
        {SLICE("\1\4\3a:t\1\xff\0"), SIZE_MAX},
        {SLICE("\1\4\3a t\1t\0"), SIZE_MAX},
        {SLICE("\1\4\3a:t\0\0"), 0},
        {SLICE("\1\5\2en\1\xff\0"), SIZE_MAX},
        {SLICE("\1\5\2e!\1t\0"), SIZE_MAX},
        {SLICE("\1\5\0\1t\0"), SIZE_MAX},
        /* quads */
        {SLICE(TERMS_OF_ALL_KINDS "\1\0\0"), 0},
        {SLICE(TERMS_OF_ALL_KINDS "\1\0\1\0\0\0"), 1},
        {SLICE(TERMS_OF_ALL_KINDS "\1\0\2\0\0\0"), SIZE_MAX},
        {SLICE(TERMS_OF_ALL_KINDS "\1\0\1\0\0\0\0"), SIZE_MAX},
        {SLICE(TERMS_OF_ALL_KINDS "\1\0\1\1\0\4"), 1},
        {SLICE(TERMS_OF_ALL_KINDS "\1\0\1\1\0\5"), SIZE_MAX},
        {SLICE(TERMS_OF_ALL_KINDS "\1\0\1\5\0\4"), SIZE_MAX},
        {SLICE(TERMS_OF_ALL_KINDS "\1\0\1\1\5\4"), SIZE_MAX},
        {SLICE(TERMS_OF_ALL_KINDS "\1\0\1\2\0\4"), SIZE_MAX}, /* a literal is no subject */
        {SLICE(TERMS_OF_ALL_KINDS "\1\0\1\1\1\4"), SIZE_MAX}, /* a blank node no predicate */
        {SLICE(TERMS_OF_ALL_KINDS "\1\0\1\1\3\4"), SIZE_MAX},
        {SLICE(TERMS_OF_ALL_KINDS "\1\0\1\0\0\x80"), SIZE_MAX},
        {SLICE(TERMS_OF_ALL_KINDS "\1\0\1\0\x80"), SIZE_MAX},
        {SLICE(TERMS_OF_ALL_KINDS "\1\0\1\x80"), SIZE_MAX},
        {SLICE(TERMS_OF_ALL_KINDS "\1\0\1"), SIZE_MAX},
        {SLICE(TERMS_OF_ALL_KINDS "\1\1\0"), SIZE_MAX}, /* nor a graph */
        {SLICE(TERMS_OF_ALL_KINDS "\1\4\0"), SIZE_MAX},
        {SLICE(TERMS_OF_ALL_KINDS "\1\5\0"), SIZE_MAX},
        {SLICE(TERMS_OF_ALL_KINDS "\1\xff\xff\xff\xff\x7f\0"), SIZE_MAX},
        {SLICE(TERMS_OF_ALL_KINDS "\1\0"), SIZE_MAX},
        {SLICE(TERMS_OF_ALL_KINDS "\1\0\x80"), SIZE_MAX},
        {SLICE(TERMS_OF_ALL_KINDS "\1"), SIZE_MAX},
        {SLICE(TERMS_OF_ALL_KINDS "\2\0\1\0\0\0\0\1\1\0\1"), 2},
        {SLICE(TERMS_OF_ALL_KINDS "\2\0\1\0\0\0"), SIZE_MAX},
        {SLICE(TERMS_OF_ALL_KINDS "\x80"), SIZE_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reason why = {""};
        const bool good = cases[i].quads != SIZE_MAX;
        char *bytes = malloc(cases[i].packed.length + 1); /* so that reading past it is found */
        memcpy(bytes, cases[i].packed.at, cases[i].packed.length);
        struct codec_reader in = codec_reader_of(slice_of(bytes, cases[i].packed.length));
        index_batch_reset(batch);
        const enum status status = packed_quads_read(&in, batch, &why);
        if (status != (good ? STATUS_OK : STATUS_PROTOCOL)) {
            fail_msg("case %zu: %s", i, status_name(status));
        }
        assert_string_equal(why.text, good ? "" : "a packed change is malformed");
        if (good) {
            assert_int_equal(index_batch_quads(batch), cases[i].quads);
        }
        free(bytes);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packed_quads_come_back),
        cmocka_unit_test(packed_quads_need_room),
        cmocka_unit_test(malformed_quads_are_refused),
    };
    return cmocka_run_group_tests(tests, begin_batch, end_batch);
}
