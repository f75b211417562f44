/* Rows of several partitions, some of which have nothing yet (federation_scan.c and
 * federation_share.c of index/client/federation/): what is there is given, and else it is waited.
 * Also what partitions are told of nodes that others have too. The linker puts the functions below
 * in the place of the clock, the wait and the lists of such nodes. */
#include <stdio.h>
#include <string.h>

#include "index/client/federation/federation_state.h"
#include "index/protocol/share_request.h"
#include "tests/unit/federation/told_streams.h"

enum { ROWS_MOST = 8, TEXT_MOST = 1 << 16 };

static struct {
    int64_t rows[ROWS_MOST];   /* each a row, up to the first of 0, and */
    unsigned steps[ROWS_MOST]; /* by how much its pattern is later than that of the one before */
    enum status end;
} told[PARTITIONS_ASKED];
static struct buf asked; /* what the partitions were asked */
static uint64_t now_ms;
static unsigned waits; /* how often it was waited */
static enum status wait_status;
static struct federation *federation;
static struct reason why;

/* ---- in the place of others ---- */

uint64_t __wrap_clock_monotonic_ms(void);
uint64_t
__wrap_clock_monotonic_ms(void)
{
    return now_ms;
}

/* Each wait has the answer of one partition come, the last one first. */
enum status __wrap_client_wait(struct index_client *of, struct reason *reason);
enum status
__wrap_client_wait(struct index_client *of, struct reason *reason)
{
    size_t last = PARTITIONS_ASKED;
    assert_ptr_equal(of, &client);
    waits++;
    if (wait_status != STATUS_OK) {
        return status_fail(reason, wait_status, "it took too long");
    }
    while (last > 0 && !told_waits[last - 1]) {
        last--;
    }
    if (last == 0) {
        fail_msg("nothing is awaited");
    }
    told_waits[last - 1] = false;
    return STATUS_OK;
}

void __wrap_federation_put_shared(const struct federation *of, enum key_places places,
                                  size_t partition, struct buf *out);
void
__wrap_federation_put_shared(const struct federation *of, enum key_places places, size_t partition,
                             struct buf *out)
{
    assert_ptr_equal(of, federation);
    (void)buf_printf(out, "nodes %d of %zu", places, partition);
}

static void
note_place(struct codec_reader *in)
{
    struct term term;
    const uint8_t kind = in->at < in->end ? *in->at : 0xFF;
    if (kind == INDEX_PLACE_OID) {
        (void)codec_get_u8(in);
        (void)buf_printf(&asked, " #%u", (unsigned)oid_number(codec_get_u64(in)));
    } else if (kind == INDEX_PLACE_AS_BEFORE || kind == INDEX_PLACE_SHARED) {
        (void)buf_append_string(&asked, kind == INDEX_PLACE_SHARED ? " shared" : " same");
        (void)codec_get_u8(in);
    } else {
        assert_true(index_get_term(in, &term));
        (void)buf_printf(&asked, " %.*s", SLICE_PRINT(term.value));
    }
}

enum status
told_answer(size_t partition, uint8_t kind, struct codec_reader *in, struct buf *out)
{
    (void)buf_printf(&asked, "%zu:", partition);
    if (kind == INDEX_STREAM_SHARE) {
        struct share_request request;
        struct slice keys;
        uint64_t left_ms;
        assert_true(share_request_get(in, &request, &keys, &left_ms));
        (void)buf_printf(&asked, " %.*s in %u with %.*s\n", SLICE_PRINT(request.text),
                         (unsigned)left_ms, SLICE_PRINT(keys));
    } else {
        assert_int_equal(kind, INDEX_STREAM_ROWS);
        if (told_flags & INDEX_ROWS_KEYS) {
            (void)buf_printf(&asked, " places %u", codec_get_u8(in));
            const struct slice keys = codec_get_slice(in);
            (void)buf_printf(&asked, " %.*s:", SLICE_PRINT(keys));
        }
        for (uint64_t left = codec_get_varint(in); left > 0; left--) {
            for (int i = 0; i < 4; i++) {
                note_place(in);
            }
            (void)buf_append_char(&asked, left > 1 ? ';' : '\n');
        }
    }
    for (size_t i = 0; i < ROWS_MOST && told[partition].rows[i] != 0; i++) {
        if (kind == INDEX_STREAM_ROWS) {
            codec_put_varint(out, told[partition].steps[i]);
        }
        codec_put_varint(out, INDEX_NAME_NEW);
        codec_put_u64(out, oid_inline_integer(told[partition].rows[i]));
    }
    return told[partition].end;
}

/* ---- asking ---- */

static int
set_up(void **state)
{
    (void)state;
    told_begin();
    memset(told, 0, sizeof told);
    buf_init(&asked, TEXT_MOST);
    (void)buf_append_string(&asked, "");
    wait_status = STATUS_OK;
    waits = 0;
    now_ms = 1000;
    federation = federation_new(&client, 1 << 20);
    client_begin(&client, INDEX_PARTIAL_ERROR, 0, NULL);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    federation_free(federation);
    buf_release(&asked);
    return told_open > 0;
}

static struct share_scan *
share(bool partition_wise)
{
    const struct quad_source *source = federation_source(federation);
    const struct share_request request = {.text = SLICE("q"),
                                          .most = UINT64_MAX,
                                          .columns = 1,
                                          .partition_wise = partition_wise,
                                          .places = (enum key_places)1};
    struct share_scan *scan;
    buf_reset(&asked);
    assert_int_equal(source->share(source->context, &request, &scan, &why), STATUS_OK);
    return scan;
}

/* The next rows are these; "" for the end. */
static void
expect_share(struct share_scan *scan, size_t most, const char *expected)
{
    const struct quad_source *source = federation_source(federation);
    oid rows[ROWS_MOST];
    char seen[100] = "", text[OID_INLINE_TEXT];
    size_t n = ROWS_MOST;
    assert_int_equal(source->share_next(scan, rows, most, &n, &why), STATUS_OK);
    for (size_t i = 0; i < n; i++) {
        const struct term term = federation_term(federation, rows[i], text);
        (void)snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%.*s ",
                       SLICE_PRINT(term.value));
    }
    assert_string_equal(seen, expected);
}

static void
all_wait(void)
{
    for (size_t i = 0; i < PARTITIONS_ASKED; i++) {
        told_waits[i] = true;
    }
}

static void
make_rows(void)
{
    for (size_t i = 0; i < PARTITIONS_ASKED; i++) {
        for (size_t k = 0; k < 3; k++) {
            told[i].rows[k] = (int64_t)(10 * (i + 1) + k);
        }
    }
}

/* ---- parts of queries ---- */

static void
a_part_is_told_what_time_is_left(void **state)
{
    static const struct {
        uint64_t deadline_ms;
        unsigned left_ms;
    } cases[] = {{0, 0}, {1500, 500}, {1001, 1}, {1002, 2}, {1000, 1}, {999, 1}, {1, 1}};
    const struct quad_source *source = federation_source(federation);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char expected[100];
        client.deadline_ms = cases[i].deadline_ms;
        source->share_close(share(false));
        snprintf(expected, sizeof expected,
                 "0: q in %u with \n1: q in %u with \n2: q in %u with \n", cases[i].left_ms,
                 cases[i].left_ms, cases[i].left_ms);
        assert_string_equal(asked.data, expected);
    }
    client.deadline_ms = 0;
}

static void
a_part_of_its_own_nodes_is_told_those_of_others(void **state)
{
    const struct quad_source *source = federation_source(federation);
    (void)state;
    source->share_close(share(true));
    assert_string_equal(asked.data, "0: q in 0 with nodes 1 of 0\n1: q in 0 with nodes 1 of 1\n"
                                    "2: q in 0 with nodes 1 of 2\n");
}

static void
parts_are_given_as_they_come(void **state)
{
    const struct quad_source *source = federation_source(federation);
    (void)state;
    make_rows();
    all_wait();
    piece = 1000;
    struct share_scan *scan = share(false);
    expect_share(scan, 2, "30 31 ");
    assert_int_equal(waits, 1);
    expect_share(scan, 2, "32 ");
    assert_int_equal(waits, 1);
    expect_share(scan, 3, "20 21 22 "); /* that one has ended */
    assert_int_equal(waits, 2);
    expect_share(scan, 8, "10 11 12 ");
    assert_int_equal(waits, 3);
    expect_share(scan, 8, "");
    expect_share(scan, 8, "");
    assert_int_equal(waits, 3);
    source->share_close(scan);
    /* The partition whose rows come first is read on, as long as it has rows. */
    scan = share(false);
    expect_share(scan, 1, "10 ");
    expect_share(scan, 1, "11 ");
    expect_share(scan, 8, "12 ");
    expect_share(scan, 8, "20 21 22 ");
    expect_share(scan, 1, "30 ");
    expect_share(scan, 8, "31 32 ");
    expect_share(scan, 8, "");
    source->share_close(scan);
    assert_int_equal(waits, 3);
}

/* A partition that has ended does not keep others from being waited for. */
static void
some_have_ended_and_some_wait(void **state)
{
    const struct quad_source *source = federation_source(federation);
    (void)state;
    told[1].rows[0] = 5;
    for (size_t late = 0; late < PARTITIONS_ASKED; late++) {
        struct share_scan *scan = share(false);
        told_waits[late] = true;
        waits = 0;
        if (late == 1) {
            expect_share(scan, 4, "5 ");
            assert_int_equal(waits, 1);
            expect_share(scan, 4, "");
        } else {
            expect_share(scan, 4, "5 ");
            assert_int_equal(waits, 0);
            expect_share(scan, 4, "");
            assert_int_equal(waits, 1);
        }
        source->share_close(scan);
    }
}

static void
a_wait_that_fails_ends_the_rows(void **state)
{
    const struct quad_source *source = federation_source(federation);
    const struct quad_oids any = {0};
    struct quad_scan *rows;
    struct quad_oids quads[4];
    oid row[4];
    size_t n;
    (void)state;
    make_rows();
    all_wait();
    wait_status = STATUS_TIMEOUT;
    struct share_scan *scan = share(false);
    assert_int_equal(source->share_next(scan, row, 4, &n, &why), STATUS_TIMEOUT);
    assert_string_equal(why.text, "it took too long");
    source->share_close(scan);
    assert_int_equal(source->scan(source->context, &any, ORDER_COUNT, &rows, &why), STATUS_OK);
    assert_int_equal(source->scan_next(rows, quads, 4, &n, &why), STATUS_TIMEOUT);
    source->scan_close(rows);
    assert_int_equal(waits, 2);
}

/* ---- rows ---- */

static oid
id_of(const char *iri)
{
    const struct term term = term_iri(slice_string(iri));
    oid id;
    assert_int_equal(federation_id(federation, &term, &id, &why), STATUS_OK);
    return id;
}

/* The next rows, by the values of a place, are these. */
static void
expect_rows(struct quad_scan *scan, size_t most, size_t place, const char *expected)
{
    const struct quad_source *source = federation_source(federation);
    struct quad_oids rows[ROWS_MOST];
    char seen[100] = "", text[OID_INLINE_TEXT];
    size_t n = ROWS_MOST;
    assert_int_equal(source->scan_next(scan, rows, most, &n, &why), STATUS_OK);
    for (size_t i = 0; i < n; i++) {
        const oid places[] = {rows[i].subject, rows[i].predicate, rows[i].object, rows[i].graph};
        const struct term term = federation_term(federation, places[place], text);
        (void)snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%.*s ",
                       SLICE_PRINT(term.value));
    }
    assert_string_equal(seen, expected);
}

/* Rows of one pattern have no order among partitions that have some; those of one that waits may
 * be before them no more than after them. */
static void
rows_of_a_pattern_are_waited_for(void **state)
{
    const struct quad_source *source = federation_source(federation);
    const struct quad_oids pattern = {id_of("x:s"), id_of("x:p"), OID_NONE, id_of("x:g")};
    struct quad_scan *scan;
    (void)state;
    make_rows();
    const size_t owner = client_owner(&client, SLICE("x:g"));
    char expected[100];
    told_waits[owner] = true;
    assert_int_equal(source->scan(source->context, &pattern, ORDER_COUNT, &scan, &why), STATUS_OK);
    snprintf(expected, sizeof expected, "%zu: x:s x:p  x:g\n", owner);
    assert_string_equal(asked.data, expected);
    snprintf(expected, sizeof expected, "%zu0 %zu1 ", owner + 1, owner + 1);
    expect_rows(scan, 2, 2, expected);
    assert_int_equal(waits, 1);
    snprintf(expected, sizeof expected, "%zu2 ", owner + 1);
    expect_rows(scan, 2, 2, expected);
    expect_rows(scan, 2, 2, "");
    assert_int_equal(waits, 1);
    source->scan_close(scan);
}

/* Reads all rows of three patterns, which must come in their order; returns how many. */
static size_t
read_in_order(const struct quad_oids *patterns, size_t most)
{
    const struct quad_source *source = federation_source(federation);
    struct quad_oids rows[ROWS_MOST];
    uint32_t numbers[ROWS_MOST], last = 0;
    struct quad_scan *scan;
    size_t all = 0, n = 1;
    assert_int_equal(source->scan_many(source->context, patterns, 3, false, &scan, &why),
                     STATUS_OK);
    while (n > 0) {
        assert_int_equal(source->scan_many_next(scan, rows, numbers, most, &n, &why), STATUS_OK);
        assert_true(n <= most);
        for (size_t i = 0; i < n; i++) {
            assert_true(numbers[i] >= last);
            assert_int_equal(rows[i].subject, patterns[numbers[i]].subject);
            last = numbers[i];
        }
        all += n;
    }
    source->scan_close(scan);
    return all;
}

/* However the rows of patterns lie in partitions, and whichever of these wait. */
static void
rows_of_all_partitions_are_in_order(void **state)
{
    static const unsigned steps[][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {2, 0}};
    const oid p = id_of("x:p");
    const struct quad_oids patterns[] = {{.subject = id_of("x:0"), .predicate = p},
                                         {.subject = id_of("x:1"), .predicate = p},
                                         {.subject = id_of("x:2"), .predicate = p}};
    (void)state;
    piece = 1000;
    for (size_t i = 0; i < 6 * 6 * 6 * 8; i++) {
        for (size_t k = 0, rest = i / 8; k < PARTITIONS_ASKED; k++, rest /= 6) {
            told[k].rows[0] = told[k].rows[1] = 1;
            told[k].steps[0] = steps[rest % 6][0];
            told[k].steps[1] = steps[rest % 6][1];
            told_waits[k] = i >> k & 1;
        }
        assert_int_equal(read_in_order(patterns, 1 + i % 3), 6);
    }
}

/* A place may stand for any node that several partitions have: it is named in each row. */
static void
patterns_of_nodes_that_several_have(void **state)
{
    const struct quad_source *source = federation_source(federation);
    const oid p = id_of("x:p"), o = id_of("x:o"), g = id_of("x:g");
    struct quad_scan *scan;
    char expected[100];
    (void)state;
    const size_t owner = client_owner(&client, SLICE("x:g"));
    told[owner].rows[0] = 7;
    told[owner].rows[1] = 8;
    for (unsigned places = 0; places < KEY_PLACES; places++) {
        const struct quad_oids patterns[] = {{OID_SHARED + places, p, o, g},
                                             {p, o, OID_SHARED + places, g}};
        for (size_t i = 0; i < 2; i++) {
            buf_reset(&asked);
            assert_int_equal(source->scan(source->context, &patterns[i], ORDER_COUNT, &scan, &why),
                             STATUS_OK);
            snprintf(expected, sizeof expected, "%zu: places %u nodes %u of %zu: %s x:g\n", owner,
                     places, places, owner, i == 0 ? "shared x:p x:o" : "x:p x:o shared");
            /* Each name is written as its text until the partition has given its own. */
            assert_string_equal(asked.data, expected);
            expect_rows(scan, 4, i == 0 ? 0 : 2, "7 8 ");
            expect_rows(scan, 4, 0, "");
            source->scan_close(scan);
        }
    }
    /* What lies beside those names is none of them. */
    assert_int_equal(federation_learn(federation, owner, p, oid_stored(5, OID_KIND_IRI), &why),
                     STATUS_OK);
    const struct quad_oids plain = {p, p, OID_NONE, g};
    buf_reset(&asked);
    assert_int_equal(source->scan(source->context, &plain, ORDER_COUNT, &scan, &why), STATUS_OK);
    snprintf(expected, sizeof expected, "%zu: #5 #5  x:g\n", owner);
    assert_string_equal(asked.data, expected);
    source->scan_close(scan);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(a_part_is_told_what_time_is_left),
        CASE(a_part_of_its_own_nodes_is_told_those_of_others),
        CASE(parts_are_given_as_they_come),
        CASE(some_have_ended_and_some_wait),
        CASE(a_wait_that_fails_ends_the_rows),
        CASE(rows_of_a_pattern_are_waited_for),
        CASE(rows_of_all_partitions_are_in_order),
        CASE(patterns_of_nodes_that_several_have),
    };
    return cmocka_run_group_tests_name("federation_waits", tests, NULL, NULL);
}
