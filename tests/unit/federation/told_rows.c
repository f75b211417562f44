/* Rows of several partitions (index/client/federation/federation_scan.c, federation_share.c and
 * federation_stream.c): what is asked of each, the order in which rows are given, terms that are
 * named once, and answers that are wrong. Each partition's answer is written by the test. */
#include "tests/unit/federation/told_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "index/client/federation/federation_state.h"
#include "index/protocol/share_request.h"
#include "tests/unit/federation/told_streams.h"

enum { TEXT_MOST = 1 << 16, COLUMNS_MOST = 4, NEVER = 1 << 30 };

/* ---- partitions of the test ---- */

static struct {
    struct buf answer; /* to its requests */
    enum status end;
    unsigned requests, echoes; /* echoes: a row for each pattern is the answer */
} told[PARTITIONS_ASKED];
static struct buf asked; /* what was asked, as text: "partition: patterns" */
static uint64_t time_given;

static void
write_place(struct codec_reader *in)
{
    struct term term;
    switch (in->at < in->end ? *in->at : 0xFF) {
    case INDEX_PLACE_OID:
        (void)codec_get_u8(in);
        (void)buf_printf(&asked, " #%u", (unsigned)oid_number(codec_get_u64(in)));
        break;
    case INDEX_PLACE_AS_BEFORE:
    case INDEX_PLACE_SHARED:
        (void)buf_printf(&asked, codec_get_u8(in) == INDEX_PLACE_SHARED ? " shared" : " same");
        break;
    default:
        assert_true(index_get_term(in, &term));
        (void)buf_printf(&asked, term.kind == TERM_NONE ? " any" : " %.*s",
                         (int)(term.value.length < 20 ? term.value.length : 20), term.value.at);
    }
}

static void
answer_rows(size_t partition, struct codec_reader *in, struct buf *out)
{
    if (told_flags & INDEX_ROWS_KEYS) {
        (void)buf_printf(&asked, " keys %u", codec_get_u8(in));
        (void)codec_get_slice(in);
    }
    const uint64_t patterns = codec_get_varint(in);
    for (uint64_t i = 0; i < patterns; i++) {
        (void)buf_append_string(&asked, i > 0 ? ";" : "");
        for (int place = 0; place < 4; place++) {
            write_place(in);
        }
        if (told[partition].echoes > 0) {
            codec_put_varint(out, i > 0);
            codec_put_varint(out, INDEX_NAME_NEW);
            codec_put_u64(out, oid_inline_integer((int64_t)told[partition].echoes++));
        }
    }
}

static void
answer_share(struct codec_reader *in)
{
    struct share_request request;
    struct slice keys;
    assert_true(share_request_get(in, &request, &keys, &time_given));
    (void)buf_printf(&asked, " %.*s of %u", SLICE_PRINT(request.text), (unsigned)request.columns);
}

enum status
told_rows_answer(size_t partition, uint8_t kind, struct codec_reader *in, struct buf *out)
{
    (void)buf_printf(&asked, "%s%u%s%s:", asked.length > 0 ? "\n" : "", (unsigned)partition,
                     told_flags & INDEX_ROWS_BEGIN ? "*" : "",
                     told_flags & INDEX_ROWS_NO_GRAPHS ? "-" : "");
    if (kind == INDEX_STREAM_ROWS) {
        answer_rows(partition, in, out);
    } else {
        assert_int_equal(kind, INDEX_STREAM_SHARE);
        answer_share(in);
    }
    (void)buf_append_slice(out, buf_slice(&told[partition].answer));
    told[partition].requests++;
    return told[partition].end;
}

/* ---- answers ---- */

/* A new term, the partition's number of which is given. */
static void
put_new(size_t partition, unsigned number, const char *iri)
{
    struct buf *out = &told[partition].answer;
    const struct term term = {.kind = TERM_IRI, .value = slice_string(iri)};
    codec_put_varint(out, INDEX_NAME_NEW);
    codec_put_u64(out, oid_stored(number, OID_KIND_IRI));
    index_put_term(out, &term);
}

static void
put_integer(size_t partition, int64_t integer)
{
    codec_put_varint(&told[partition].answer, INDEX_NAME_NEW);
    codec_put_u64(&told[partition].answer, oid_inline_integer(integer));
}

/* The term that came as the n-th one, from 0 on. */
static void
put_known(size_t partition, unsigned n)
{
    codec_put_varint(&told[partition].answer, INDEX_NAME_FIRST + n);
}

static void
put_step(size_t partition, unsigned step)
{
    codec_put_varint(&told[partition].answer, step);
}

/* ---- asking ---- */

static struct federation *federation;
static struct buf found; /* rows as text */
static struct reason why;

static oid
id_of(const char *iri)
{
    oid id = OID_NONE;
    const struct term term = {.kind = TERM_IRI, .value = slice_string(iri)};
    assert_int_equal(federation_id(federation, &term, &id, &why), STATUS_OK);
    return id;
}

static void
write_term(oid id)
{
    char text[OID_INLINE_TEXT];
    const struct term term = federation_term(federation, id, text);
    (void)buf_printf(&found, id == OID_NONE ? " -" : " %.*s", SLICE_PRINT(term.value));
}

static enum status
take_rows(struct quad_scan *scan, size_t most, size_t *n)
{
    struct quad_oids rows[16];
    uint32_t numbers[16];
    const struct quad_source *source = federation_source(federation);
    const enum status status = source->scan_many_next(scan, rows, numbers, most, n, &why);
    for (size_t i = 0; i < *n && status == STATUS_OK; i++) {
        (void)buf_printf(&found, "%s%u", found.length > 0 ? "\n" : "", numbers[i]);
        write_term(rows[i].subject);
        write_term(rows[i].predicate);
        write_term(rows[i].object);
        write_term(rows[i].graph);
    }
    return status;
}

/* Reads all rows, so many at a time. */
static enum status
scan_all(const struct quad_oids *patterns, size_t count, bool graphs, size_t most)
{
    const struct quad_source *source = federation_source(federation);
    struct quad_scan *scan;
    size_t n = 1;
    buf_reset(&found);
    buf_reset(&asked);
    enum status status = source->scan_many(source->context, patterns, count, graphs, &scan, &why);
    assert_int_equal(scan == NULL, status != STATUS_OK);
    while (n > 0 && status == STATUS_OK) {
        status = take_rows(scan, most, &n);
    }
    source->scan_close(scan);
    return status;
}

/* Reads all rows of a part of a query. */
static enum status
share_all(size_t columns, size_t most)
{
    const struct quad_source *source = federation_source(federation);
    const struct share_request request = {
        .text = SLICE("a query"), .most = UINT64_MAX, .columns = columns};
    struct share_scan *scan;
    oid rows[16 * COLUMNS_MOST];
    size_t n = 1;
    buf_reset(&found);
    buf_reset(&asked);
    enum status status = source->share(source->context, &request, &scan, &why);
    assert_int_equal(scan == NULL, status != STATUS_OK);
    while (n > 0 && status == STATUS_OK) {
        status = source->share_next(scan, rows, most, &n, &why);
        for (size_t i = 0; i < n && status == STATUS_OK; i++) {
            (void)buf_append_string(&found, found.length > 0 ? "\n+" : "+");
            for (size_t k = 0; k < columns; k++) {
                write_term(rows[i * columns + k]);
            }
        }
    }
    source->share_close(scan);
    return status;
}

static void
expect_text(struct buf *text, const char *expected)
{
    (void)buf_append_char(text, '\0');
    assert_string_equal(text->data, expected);
    text->length--;
}

static void
begin_with(size_t memory)
{
    federation_free(federation);
    federation = federation_new(&client, memory);
}

static int
set_up(void **state)
{
    (void)state;
    told_begin();
    buf_init(&asked, TEXT_MOST);
    buf_init(&found, TEXT_MOST);
    for (size_t i = 0; i < PARTITIONS_ASKED; i++) {
        told[i].end = STATUS_OK;
        told[i].requests = told[i].echoes = 0;
        buf_init(&told[i].answer, TEXT_MOST);
    }
    begin_with(1 << 28);
    client_begin(&client, INDEX_PARTIAL_ERROR, 0, NULL);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    assert_int_equal(told_open, 0);
    federation_free(federation);
    federation = NULL;
    buf_release(&asked);
    buf_release(&found);
    for (size_t i = 0; i < PARTITIONS_ASKED; i++) {
        buf_release(&told[i].answer);
    }
    return 0;
}

static void
forget_answers(void)
{
    for (size_t i = 0; i < PARTITIONS_ASKED; i++) {
        buf_reset(&told[i].answer);
    }
}

/* ---- rows ---- */

/* Three patterns: of one subject each, the last with an object too. */
static void
three_patterns(struct quad_oids patterns[3])
{
    patterns[0] = (struct quad_oids){id_of("urn:a"), OID_NONE, OID_NONE, OID_NONE};
    patterns[1] = (struct quad_oids){id_of("urn:b"), OID_NONE, OID_NONE, OID_NONE};
    patterns[2] = (struct quad_oids){id_of("urn:b"), OID_NONE, id_of("urn:c"), OID_NONE};
}

static void
answer_three_patterns(void)
{
    forget_answers();
    put_step(0, 0);
    put_new(0, 5, "urn:p");
    put_new(0, 6, "urn:c");
    put_new(0, 7, "urn:g");
    put_step(0, 0);
    put_known(0, 0);
    put_integer(0, 12);
    put_known(0, 2);
    put_step(0, 2);
    put_known(0, 3); /* the integer */
    put_known(0, 1);
    put_step(1, 1);
    put_new(1, 9, "urn:p");
    put_known(1, 0);
    put_new(1, 8, "urn:h");
    put_step(1, 0);
    codec_put_varint(&told[1].answer, INDEX_NAME_FORGET);
    put_new(1, 8, "urn:h");
    put_known(1, 0);
    put_known(1, 0);
}

static const char three_answers[] = "0 urn:a urn:p urn:c urn:g\n"
                                    "0 urn:a urn:p 12 urn:g\n"
                                    "1 urn:b urn:p urn:p urn:h\n"
                                    "1 urn:b urn:h urn:h urn:h\n"
                                    "2 urn:b 12 urn:c urn:c";

static void
rows_come_in_the_order_of_their_patterns(void **state)
{
    struct quad_oids patterns[3];
    (void)state;
    three_patterns(patterns);
    answer_three_patterns();
    assert_int_equal(scan_all(patterns, 3, true, 16), STATUS_OK);
    expect_text(&found, three_answers);
    expect_text(&asked, "0*: urn:a any any any; urn:b any any any; same any urn:c any\n"
                        "1*: urn:a any any any; urn:b any any any; same any urn:c any\n"
                        "2*: urn:a any any any; urn:b any any any; same any urn:c any");
    /* The session has begun, so partition 0 is asked for a name that it gave by its own number,
     * #6. */
    for (size_t most = 1; most < 4; most++) {
        assert_int_equal(scan_all(patterns, 3, true, most), STATUS_OK);
        expect_text(&found, three_answers);
        expect_text(&asked, "0: urn:a any any any; urn:b any any any; same any #6 any\n"
                            "1: urn:a any any any; urn:b any any any; same any urn:c any\n"
                            "2: urn:a any any any; urn:b any any any; same any urn:c any");
    }
    for (piece = 1; piece <= 64; piece += piece < 32 ? 1 : 32) {
        assert_int_equal(scan_all(patterns, 3, true, 16), STATUS_OK);
        expect_text(&found, three_answers);
    }
}

/* Rows are read on from where their last piece ended, also where a name is forgotten in it. */
static void
names_are_read_again_with_their_row(void **state)
{
    (void)state;
    const struct quad_oids any = {0};
    for (unsigned row = 0; row < 4; row++) {
        put_step(2, 0);
        put_new(2, 10 + row, "urn:s");
        put_new(2, 20 + row, row % 2 ? "urn:p" : "urn:q");
        put_known(2, 2 * row);
        put_known(2, 2 * row + 1);
    }
    for (piece = 1; piece <= 40; piece++) {
        assert_int_equal(scan_all(&any, 1, true, 16), STATUS_OK);
        expect_text(&found, "0 urn:s urn:q urn:s urn:q\n0 urn:s urn:p urn:s urn:p\n"
                            "0 urn:s urn:q urn:s urn:q\n0 urn:s urn:p urn:s urn:p");
    }
}

static void
graphs_that_are_not_wanted_do_not_come(void **state)
{
    struct quad_oids pattern = {.predicate = id_of("urn:p")};
    (void)state;
    put_step(1, 0);
    put_new(1, 3, "urn:s");
    put_known(1, 0);
    assert_int_equal(scan_all(&pattern, 1, false, 16), STATUS_OK);
    expect_text(&found, "0 urn:s urn:p urn:s -");
    expect_text(&asked, "0*-: any urn:p any any\n1*-: any urn:p any any\n2*-: any urn:p any any");
}

/* A graph is in one partition, and one that is missing is not asked. */
static void
patterns_go_where_their_rows_can_be(void **state)
{
    struct quad_oids patterns[2] = {{.graph = id_of("urn:g")}, {.subject = id_of("urn:s")}};
    const size_t owner = client_owner(&client, SLICE("urn:g")), missing = (owner + 1) % 3,
                 last = 3 - owner - missing;
    char expected[128];
    (void)state;
    for (size_t i = 0; i < PARTITIONS_ASKED; i++) {
        told[i].echoes = 0;
    }
    client.partitions[missing].missing = true;
    put_step(last, 0); /* the only pattern of its request, which is the second one */
    put_new(last, 1, "urn:p");
    put_new(last, 2, "urn:o");
    put_known(last, 0);
    assert_int_equal(scan_all(patterns, 2, true, 16), STATUS_OK);
    expect_text(&found, "1 urn:s urn:p urn:o urn:p");
    snprintf(expected, sizeof expected, "%zu*: %s", owner, "any any any urn:g; urn:s any any any");
    const char *const at = memmem(asked.data, asked.length, expected, strlen(expected));
    assert_non_null(at);
    snprintf(expected, sizeof expected, "%zu*: urn:s any any any", last);
    assert_non_null(memmem(asked.data, asked.length, expected, strlen(expected)));
    assert_int_equal(told[missing].requests, 0);
    assert_int_equal(told[last].requests + told[owner].requests, 2);
    /* The graph alone is the owner's. */
    assert_int_equal(scan_all(patterns, 1, true, 16), STATUS_OK);
    assert_int_equal(told[last].requests, 1);
    assert_int_equal(told[owner].requests, 2);
}

/* Rows of an earlier pattern do not wait for a partition that can only have later ones; rows of
 * the same one, or of later ones, do. */
static void
rows_wait_for_those_that_may_come_before_them(void **state)
{
    const struct quad_source *source = federation_source(federation);
    struct quad_oids patterns[3];
    struct quad_scan *scan;
    size_t n;
    (void)state;
    three_patterns(patterns);
    answer_three_patterns();
    piece = NEVER;
    told_waits[1] = true;
    assert_int_equal(source->scan_many(source->context, patterns, 3, true, &scan, &why), STATUS_OK);
    assert_int_equal(take_rows(scan, 16, &n), STATUS_OK);
    expect_text(&found, "0 urn:a urn:p urn:c urn:g\n0 urn:a urn:p 12 urn:g");
    told_waits[1] = false;
    assert_int_equal(take_rows(scan, 2, &n), STATUS_OK);
    assert_int_equal(take_rows(scan, 2, &n), STATUS_OK);
    expect_text(&found, three_answers);
    assert_int_equal(take_rows(scan, 2, &n), STATUS_OK);
    assert_int_equal(n, 0);
    source->scan_close(scan);
}

/* Two megabytes of patterns are a round, and no request becomes longer than eight. */
static void
long_lists_of_patterns_go_out_in_rounds(void **state)
{
    enum { LONG = 1200 * 1000, TOO_LONG = 9 << 20 };
    struct quad_oids patterns[5];
    struct buf iri;
    (void)state;
    buf_init(&iri, TOO_LONG);
    piece = NEVER;
    for (unsigned i = 0; i < 5; i++) {
        buf_reset(&iri);
        (void)buf_printf(&iri, "urn:%u%0*d", i, LONG, 0);
        (void)buf_append_char(&iri, '\0');
        patterns[i] = (struct quad_oids){id_of(iri.data), id_of("urn:p"), OID_NONE, OID_NONE};
    }
    for (size_t i = 0; i < PARTITIONS_ASKED; i++) {
        told[i].echoes = 1;
    }
    const struct quad_source *source = federation_source(federation);
    struct quad_scan *scan;
    struct quad_oids rows[16];
    uint32_t numbers[16];
    size_t n = 1, all = 0;
    assert_int_equal(source->scan_many(source->context, patterns, 5, false, &scan, &why),
                     STATUS_OK);
    while (n > 0) {
        assert_int_equal(source->scan_many_next(scan, rows, numbers, 16, &n, &why), STATUS_OK);
        for (size_t i = 0; i < n; i++, all++) {
            assert_int_equal(numbers[i], all / 3);
            assert_int_equal(rows[i].subject, patterns[all / 3].subject);
            assert_int_equal(rows[i].object, oid_inline_integer((int64_t)all / 3 + 1));
        }
    }
    source->scan_close(scan);
    assert_int_equal(all, 15);
    assert_int_equal(told[0].requests, 3);
    buf_reset(&iri);
    (void)buf_printf(&iri, "urn:%0*d", TOO_LONG - 100, 0);
    (void)buf_append_char(&iri, '\0');
    patterns[0].subject = id_of(iri.data);
    assert_int_equal(scan_all(patterns, 1, false, 16), STATUS_LIMIT);
    assert_int_equal(told[0].requests, 3);
    buf_release(&iri);
}

static void
rows_of_one_pattern_have_no_order(void **state)
{
    const struct quad_source *source = federation_source(federation);
    struct quad_oids pattern = {.subject = id_of("urn:s")}, row;
    struct quad_scan *scan;
    size_t n;
    (void)state;
    assert_int_equal(source->scan(source->context, &pattern, ORDER_SPOC, &scan, &why),
                     STATUS_UNSUPPORTED);
    assert_null(scan);
    put_step(2, 0);
    put_new(2, 1, "urn:p");
    put_known(2, 0);
    put_known(2, 0);
    assert_int_equal(source->scan(source->context, &pattern, ORDER_COUNT, &scan, &why), STATUS_OK);
    const oid subject = pattern.subject;
    pattern = (struct quad_oids){0}; /* the scan has a copy */
    assert_int_equal(source->scan_next(scan, &row, 1, &n, &why), STATUS_OK);
    assert_int_equal(n, 1);
    assert_int_equal(row.subject, subject);
    assert_int_equal(row.graph, id_of("urn:p"));
    assert_int_equal(source->scan_next(scan, &row, 1, &n, &why), STATUS_OK);
    assert_int_equal(n, 0);
    source->scan_close(scan);
}

/* ---- answers that are wrong ---- */

static void
refused(enum status expected)
{
    const struct quad_oids any[2] = {{0}, {.subject = id_of("urn:s")}};
    assert_int_equal(scan_all(any, 2, true, 16), expected);
    forget_answers();
}

static void
malformed_rows_are_refused(void **state)
{
    (void)state;
    put_step(1, 2); /* there are two patterns */
    refused(STATUS_PROTOCOL);
    put_step(1, 1);
    for (int i = 0; i < 3; i++) {
        put_integer(1, 1);
    }
    put_step(1, 1); /* there is none after the second */
    refused(STATUS_PROTOCOL);
    put_step(1, 0);
    put_integer(1, 1);
    put_known(1, 1); /* one term has come */
    refused(STATUS_PROTOCOL);
    put_step(1, 0);
    put_integer(1, 1);
    codec_put_varint(&told[1].answer, INDEX_NAME_FORGET);
    put_known(1, 0); /* which is forgotten */
    refused(STATUS_PROTOCOL);
    put_step(1, 0);
    codec_put_varint(&told[1].answer, INDEX_NAME_NEW);
    codec_put_u64(&told[1].answer, OID_LOCAL); /* nothing computed is stored */
    codec_put_u8(&told[1].answer, TERM_IRI);
    codec_put_slice(&told[1].answer, SLICE("urn:s"));
    put_known(1, 0);
    put_known(1, 0);
    refused(STATUS_PROTOCOL);
    put_step(1, 0);
    codec_put_varint(&told[1].answer, INDEX_NAME_NEW);
    codec_put_u64(&told[1].answer, oid_stored(1, OID_KIND_IRI));
    codec_put_u8(&told[1].answer, TERM_LITERAL + 1); /* there is no such kind */
    (void)buf_append_string(&told[1].answer, "more than enough for a row");
    refused(STATUS_PROTOCOL);
    put_step(1, 0);
    codec_put_varint(&told[1].answer, INDEX_NAME_NEW);
    codec_put_u64(&told[1].answer, oid_stored(1, OID_KIND_IRI));
    codec_put_u8(&told[1].answer, TERM_NONE); /* a term is missing */
    refused(STATUS_PROTOCOL);
    put_step(1, 0);
    codec_put_varint(&told[1].answer, INDEX_NAME_NEW);
    codec_put_u64(&told[1].answer, OID_NONE); /* a place is bound */
    refused(STATUS_PROTOCOL);
    put_step(1, 0);
    put_integer(1, 1); /* the row ends too early */
    refused(STATUS_PROTOCOL);
    told[1].end = STATUS_SYSTEM;
    refused(STATUS_SYSTEM);
    assert_non_null(strstr(why.text, "partition 1"));
    told[1].end = STATUS_AGAIN; /* is a failure, too, where nothing is awaited */
    refused(STATUS_AGAIN);
    told[1].end = STATUS_SYSTEM;
    client.partial = INDEX_PARTIAL_WARN; /* now it is left out */
    put_step(2, 1);
    put_integer(2, 7);
    put_integer(2, 8);
    put_integer(2, 9);
    refused(STATUS_OK);
    expect_text(&found, "1 urn:s 7 8 9");
    assert_true(client.partitions[1].missing);
}

/* The terms of a query and the identifiers that partitions have for them share a room; there are
 * identifiers for twice the terms that are known, and two more. */
static void
a_query_has_room_for_so_many_terms(void **state)
{
    enum { TERMS = 100, IDS = (2 * TERMS + 2) * sizeof(oid) };
    const struct quad_oids any = {0};
    char iri[32];
    (void)state;
    for (unsigned i = 0; i < TERMS; i++) {
        snprintf(iri, sizeof iri, "urn:%u", i);
        assert_int_equal(id_of(iri), i + 1);
    }
    const struct term next = {.kind = TERM_IRI, .value = SLICE("urn:next")};
    const size_t terms = term_set_bytes(&federation->terms.set);
    oid id;
    federation->terms.most = IDS;
    assert_int_equal(federation_learn(federation, 0, TERMS, 77, &why), STATUS_OK);
    assert_int_equal(federation_learn(federation, 0, TERMS - 1, 78, &why), STATUS_OK);
    assert_int_equal(federation_member_id(federation, 0, TERMS), 77);
    assert_int_equal(federation_member_id(federation, 0, TERMS - 1), 78);
    assert_int_equal(federation_member_id(federation, 0, 1), OID_NONE);
    assert_int_equal(federation_member_id(federation, 1, TERMS), OID_NONE);
    assert_int_equal(federation_member_id(federation, 1, OID_STORED), OID_STORED);
    federation->terms.most = 2 * IDS - 1;
    assert_int_equal(federation_learn(federation, 1, TERMS, 79, &why), STATUS_LIMIT);
    federation->terms.most = terms + 2 * IDS - 1;
    assert_int_equal(federation_id(federation, &next, &id, &why), STATUS_LIMIT);
    federation->terms.most++;
    assert_int_equal(federation_id(federation, &next, &id, &why), STATUS_OK);
    assert_int_equal(id, TERMS + 1);
    /* Names that a partition gives are refused at the same bound as names that it is asked for. */
    put_step(0, 0);
    for (unsigned i = 0; i < 3; i++) {
        snprintf(iri, sizeof iri, "urn:new%u", i);
        put_new(0, i, iri);
    }
    put_known(0, 0);
    federation->terms.most = terms;
    assert_int_equal(scan_all(&any, 1, true, 1), STATUS_LIMIT);
    federation->terms.most = 4 * terms;
    assert_int_equal(scan_all(&any, 1, true, 1), STATUS_OK);
}

/* ---- parts of queries ---- */

static void
put_computed(size_t partition, const char *text)
{
    struct buf *out = &told[partition].answer;
    const struct term term = {.kind = TERM_LITERAL,
                              .value = slice_string(text),
                              .datatype = SLICE("http://www.w3.org/2001/XMLSchema#string")};
    codec_put_varint(out, INDEX_NAME_NEW);
    codec_put_u64(out, OID_LOCAL + 5);
    index_put_term(out, &term);
}

static void
put_unbound(size_t partition)
{
    codec_put_varint(&told[partition].answer, INDEX_NAME_NEW);
    codec_put_u64(&told[partition].answer, OID_NONE);
}

static void
parts_come_from_all_partitions(void **state)
{
    (void)state;
    put_new(0, 4, "urn:a");
    put_computed(0, "sum");
    put_known(0, 0);
    put_unbound(0);
    put_known(0, 2);
    put_known(0, 1);
    put_integer(2, 3);
    put_known(2, 0);
    for (piece = 1; piece <= 40; piece++) {
        for (size_t most = 1; most <= 4; most++) {
            assert_int_equal(share_all(2, most), STATUS_OK);
            expect_text(&found, "+ urn:a sum\n+ urn:a -\n+ - sum\n+ 3 3");
        }
    }
    begin_with(1 << 28);
    assert_int_equal(share_all(2, 4), STATUS_OK);
    expect_text(&asked, "0*: a query of 2\n1*: a query of 2\n2*: a query of 2");
    assert_int_equal(time_given, 0);
    assert_int_equal(share_all(2, 4), STATUS_OK);
    expect_text(&asked, "0: a query of 2\n1: a query of 2\n2: a query of 2");
}

/* A partition answers rows without columns by their number alone. */
static void
rows_without_columns_are_counted(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        put_unbound(1);
    }
    piece = 4;
    assert_int_equal(share_all(0, 2), STATUS_OK);
    expect_text(&found, "+\n+\n+");
}

static void
what_is_ready_does_not_wait(void **state)
{
    (void)state;
    const struct quad_source *source = federation_source(federation);
    const struct share_request request = {.text = SLICE("q"), .columns = 1};
    struct share_scan *scan;
    oid rows[4];
    size_t n;
    put_integer(0, 1);
    put_integer(1, 2);
    put_integer(1, 3);
    told_waits[0] = true;
    assert_int_equal(source->share(source->context, &request, &scan, &why), STATUS_OK);
    assert_int_equal(source->share_next(scan, rows, 1, &n, &why), STATUS_OK);
    assert_int_equal(n, 1);
    assert_int_equal(rows[0], oid_inline_integer(2));
    assert_int_equal(source->share_next(scan, rows, 4, &n, &why), STATUS_OK);
    assert_int_equal(n, 1);
    assert_int_equal(rows[0], oid_inline_integer(3));
    told_waits[0] = false;
    assert_int_equal(source->share_next(scan, rows, 4, &n, &why), STATUS_OK);
    assert_int_equal(n, 1);
    assert_int_equal(rows[0], oid_inline_integer(1));
    assert_int_equal(source->share_next(scan, rows, 4, &n, &why), STATUS_OK);
    assert_int_equal(n, 0);
    source->share_close(scan);
    source->share_close(NULL);
    source->scan_close(NULL);
}

/* It is not asked when it is missing, ends the query when it fails, and is told how much of the
 * time is left. */
static void
partitions_share_the_fate_of_a_part(void **state)
{
    (void)state;
    put_integer(0, 1);
    client.partitions[1].missing = true;
    assert_int_equal(share_all(1, 4), STATUS_OK);
    expect_text(&found, "+ 1");
    assert_int_equal(told[1].requests, 0);
    client.partitions[1].missing = false;
    told[1].end = STATUS_SYSTEM;
    assert_int_equal(share_all(1, 4), STATUS_SYSTEM);
    told[1].end = STATUS_OK;
    put_known(1, 0);
    assert_int_equal(share_all(1, 4), STATUS_PROTOCOL);
    buf_reset(&told[1].answer);
    put_step(1, 1); /* a byte of a name */
    assert_int_equal(share_all(1, 4), STATUS_PROTOCOL);
    buf_reset(&told[1].answer);
    client.deadline_ms = clock_monotonic_ms() + NEVER;
    assert_int_equal(share_all(1, 4), STATUS_OK);
    assert_in_range(time_given, NEVER / 2, NEVER);
    client.deadline_ms = 1; /* long ago */
    assert_int_equal(share_all(1, 4), STATUS_OK);
    assert_int_equal(time_given, 1);
    client.deadline_ms = 0;
    char *text = memory_zero(9 << 20, 1);
    const struct quad_source *source = federation_source(federation);
    const struct share_request request = {.text = slice_of(text, 9 << 20), .columns = 1};
    struct share_scan *scan;
    const unsigned before = told[0].requests;
    assert_int_equal(source->share(source->context, &request, &scan, &why), STATUS_LIMIT);
    assert_null(scan);
    assert_int_equal(told[0].requests, before);
    free(text);
}

int
told_rows_run(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(rows_come_in_the_order_of_their_patterns),
        CASE(names_are_read_again_with_their_row),
        CASE(graphs_that_are_not_wanted_do_not_come),
        CASE(patterns_go_where_their_rows_can_be),
        CASE(rows_wait_for_those_that_may_come_before_them),
        CASE(long_lists_of_patterns_go_out_in_rounds),
        CASE(rows_of_one_pattern_have_no_order),
        CASE(malformed_rows_are_refused),
        CASE(a_query_has_room_for_so_many_terms),
        CASE(parts_come_from_all_partitions),
        CASE(rows_without_columns_are_counted),
        CASE(what_is_ready_does_not_wait),
        CASE(partitions_share_the_fate_of_a_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
