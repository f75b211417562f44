/* How rows name their terms (index/serve/row_names.c): the first time with the term, then by
 * number; in the order of their identifiers they are resolved, and when they are too many,
 * forgotten. The linker puts the functions below in the place of the cursor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "index/protocol/service_protocol.h"
#include "index/serve/row_names.h"

enum { NAMES_MOST = 1 << 20, TERMS_MOST = 64 << 20, TEXT_MOST = 1 << 26 };

static max_align_t place;
static struct cursor *const the_cursor = (struct cursor *)(void *)&place;
static struct row_names names;
static struct buf out, resolved;
static struct reason why;
static size_t written, written_last; /* bytes */
static enum status write_status, resolve_status;
static struct slice long_value; /* of the term of every identifier; empty: its number */
static char number_text[32];

enum status __wrap_cursor_write(struct cursor *cursor, struct slice bytes, struct reason *reason);
enum status
__wrap_cursor_write(struct cursor *cursor, struct slice bytes, struct reason *reason)
{
    assert_ptr_equal(cursor, the_cursor);
    written += bytes.length;
    return write_status == STATUS_OK ? STATUS_OK
                                     : status_fail(reason, write_status, "nobody reads on");
}

enum status __wrap_cursor_write_last(struct cursor *cursor, struct slice bytes,
                                     struct reason *reason);
enum status
__wrap_cursor_write_last(struct cursor *cursor, struct slice bytes, struct reason *reason)
{
    (void)reason;
    assert_ptr_equal(cursor, the_cursor);
    written_last += bytes.length;
    return STATUS_OK;
}

static enum status
resolve(void *context, oid id, struct term *term, struct reason *reason)
{
    assert_ptr_equal(context, &names);
    (void)buf_printf(&resolved, "%u ", (unsigned)oid_number(id));
    snprintf(number_text, sizeof number_text, "%u", (unsigned)oid_number(id));
    *term = term_iri(long_value.length > 0 ? long_value : slice_string(number_text));
    return resolve_status == STATUS_OK ? STATUS_OK : status_fail(reason, resolve_status, "no term");
}

static enum status
source_resolve(void *context, oid id, struct arena *arena, struct term *term, struct reason *reason)
{
    (void)reason;
    assert_ptr_equal(context, &place);
    assert_int_equal(oid_number(id), 77);
    *term = term_iri(arena_copy(arena, SLICE("seventy-seven")));
    return STATUS_OK;
}

static const struct quad_source source = {.context = &place, .resolve = source_resolve};

static oid
stored(uint64_t number)
{
    return oid_stored(number, OID_KIND_IRI);
}

static int
set_up(void **state)
{
    (void)state;
    buf_init(&out, TEXT_MOST);
    buf_init(&resolved, TEXT_MOST);
    row_names_init(&names, &source);
    write_status = resolve_status = STATUS_OK;
    long_value = slice_of(NULL, 0);
    written = written_last = 0;
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    row_names_release(&names);
    buf_release(&out);
    buf_release(&resolved);
    return 0;
}

static void
send_chunk(size_t most, size_t *room)
{
    assert_int_equal(row_names_send(&names, &out, the_cursor, false, most, room, &why), STATUS_OK);
    assert_int_equal(out.length, 0);
}

/* A chunk of identifiers: these are resolved for it, in this order. */
static void
put_chunk(const oid *ids, size_t count, const char *resolved_ids)
{
    buf_reset(&resolved);
    (void)buf_append_string(&resolved, "");
    for (size_t i = 0; i < count; i++) {
        row_names_note(&names, ids[i]);
    }
    assert_int_equal(row_names_prepare(&names, resolve, &names, &why), STATUS_OK);
    assert_string_equal(resolved.data, resolved_ids);
    for (size_t i = 0; i < count; i++) {
        row_names_put(&names, ids[i], &out);
    }
}

static void
expect_new(struct codec_reader *in, oid id, bool has_term)
{
    struct term term;
    assert_int_equal(codec_get_varint(in), INDEX_NAME_NEW);
    assert_true(codec_get_u64(in) == id);
    if (has_term) {
        snprintf(number_text, sizeof number_text, "%u", (unsigned)oid_number(id));
        assert_true(index_get_term(in, &term) && slice_is(term.value, number_text));
    }
}

static void
terms_are_named_once(void **state)
{
    const oid first[] = {stored(9), OID_NONE, stored(3), stored(9), oid_inline_integer(5)};
    const oid second[] = {stored(3), stored(8), oid_inline_integer(5), OID_NONE, stored(7)};
    size_t room = 1;
    (void)state;
    put_chunk(first, 5, "3 9 ");
    struct codec_reader in = codec_reader_of(buf_slice(&out));
    expect_new(&in, stored(9), true);
    expect_new(&in, OID_NONE, false);
    expect_new(&in, stored(3), true);
    assert_int_equal(codec_get_varint(&in), INDEX_NAME_FIRST);
    expect_new(&in, oid_inline_integer(5), false);
    assert_true(codec_at_end(&in));
    const size_t length = out.length;
    send_chunk(100, &room);
    assert_int_equal(written, length);
    put_chunk(second, 5, "7 8 ");
    in = codec_reader_of(buf_slice(&out));
    assert_int_equal(codec_get_varint(&in), INDEX_NAME_FIRST + 2);
    expect_new(&in, stored(8), true);
    assert_int_equal(codec_get_varint(&in), INDEX_NAME_FIRST + 3);
    assert_int_equal(codec_get_varint(&in), INDEX_NAME_FIRST + 1);
    expect_new(&in, stored(7), true);
    assert_true(codec_at_end(&in));
    put_chunk(NULL, 0, "");
    /* The last bytes go out as such. */
    const size_t rest = out.length;
    assert_int_equal(row_names_send(&names, &out, the_cursor, true, 100, &room, &why), STATUS_OK);
    assert_int_equal(written_last, rest);
    assert_int_equal(written, length);
    struct term term;
    assert_int_equal(row_names_stored(&names, stored(77), &term, &why), STATUS_OK);
    assert_true(slice_is(term.value, "seventy-seven"));
}

static void
chunks_grow(void **state)
{
    static const struct {
        size_t room, most, next;
    } cases[] = {{1, 100, 4},    {4, 100, 16},    {24, 100, 96}, {25, 100, 100},
                 {26, 100, 100}, {100, 100, 100}, {1, 4, 4},     {1, 8, 4}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t room = cases[i].room;
        send_chunk(cases[i].most, &room);
        assert_int_equal(room, cases[i].next);
    }
}

static void
what_fails_is_told(void **state)
{
    const oid one[] = {stored(1)};
    size_t room = 1;
    (void)state;
    write_status = STATUS_CANCELLED;
    assert_int_equal(row_names_send(&names, &out, the_cursor, false, 9, &room, &why),
                     STATUS_CANCELLED);
    assert_string_equal(why.text, "nobody reads on");
    out.overflowed = true;
    assert_int_equal(row_names_send(&names, &out, the_cursor, false, 9, &room, &why), STATUS_LIMIT);
    assert_string_equal(why.text, "rows of more than 1073741824 bytes");
    row_names_note(&names, one[0]);
    resolve_status = STATUS_CORRUPT;
    assert_int_equal(row_names_prepare(&names, resolve, &names, &why), STATUS_CORRUPT);
    assert_string_equal(why.text, "no term");
    resolve_status = STATUS_OK;
    long_value = slice_of(number_text, 1 << 30); /* which is not read */
    assert_int_equal(row_names_prepare(&names, resolve, &names, &why), STATUS_LIMIT);
    assert_string_equal(why.text, "terms of more than 1073741824 bytes");
}

/* After a chunk of long terms the next one has one row. */
static void
long_terms_go_out_one_by_one(void **state)
{
    enum { HEAD = 5 }; /* bytes of the kind and the length */
    char *text = calloc(1, TERMS_MOST);
    (void)state;
    assert_non_null(text);
    for (size_t over = 0; over < 2; over++) {
        size_t room = 50;
        long_value = slice_of(text, TERMS_MOST - HEAD + over);
        row_names_note(&names, stored(1 + over));
        assert_int_equal(row_names_prepare(&names, resolve, &names, &why), STATUS_OK);
        assert_int_equal(names.terms.length, TERMS_MOST + over);
        send_chunk(1000, &room);
        assert_int_equal(room, over > 0 ? 1 : 200);
    }
    long_value = slice_of(NULL, 0);
    size_t room = 1;
    put_chunk((const oid[]){stored(5)}, 1, "5 ");
    send_chunk(1000, &room);
    assert_int_equal(room, 4);
    free(text);
}

/* The numbers of many terms stay what they are; when there are too many, all begin anew. */
static void
many_terms_are_forgotten(void **state)
{
    size_t room = 1;
    (void)state;
    for (int64_t i = 0; i < NAMES_MOST; i++) {
        row_names_note(&names, oid_inline_integer(i));
    }
    assert_int_equal(row_names_prepare(&names, resolve, &names, &why), STATUS_OK);
    for (int64_t i = 0; i < NAMES_MOST; i++) {
        row_names_put(&names, oid_inline_integer(i), &out);
        if (out.length > 1 << 20) {
            buf_reset(&out);
        }
    }
    send_chunk(100, &room);
    for (int64_t i = 0; i < NAMES_MOST; i += i < NAMES_MOST - 1000 ? 997 : 1) {
        buf_reset(&out);
        row_names_note(&names, oid_inline_integer(i));
        row_names_put(&names, oid_inline_integer(i), &out);
        struct codec_reader in = codec_reader_of(buf_slice(&out));
        assert_int_equal(codec_get_varint(&in), INDEX_NAME_FIRST + i);
        assert_true(codec_at_end(&in));
    }
    buf_reset(&out);
    put_chunk((const oid[]){stored(5)}, 1, "5 ");
    struct codec_reader in = codec_reader_of(buf_slice(&out));
    expect_new(&in, stored(5), true); /* one more than are kept */
    send_chunk(100, &room);
    for (int times = 0; times < 2; times++) {
        put_chunk((const oid[]){stored(5), stored(6), stored(5)}, 3, times == 0 ? "5 6 " : "");
        in = codec_reader_of(buf_slice(&out));
        if (times == 0) {
            assert_int_equal(codec_get_varint(&in), INDEX_NAME_FORGET);
            expect_new(&in, stored(5), true);
            expect_new(&in, stored(6), true);
        } else {
            assert_int_equal(codec_get_varint(&in), INDEX_NAME_FIRST);
            assert_int_equal(codec_get_varint(&in), INDEX_NAME_FIRST + 1);
        }
        assert_int_equal(codec_get_varint(&in), INDEX_NAME_FIRST);
        assert_true(codec_at_end(&in));
        send_chunk(100, &room);
    }
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(terms_are_named_once),     CASE(chunks_grow),
        CASE(what_fails_is_told),       CASE(long_terms_go_out_one_by_one),
        CASE(many_terms_are_forgotten),
    };
    return cmocka_run_group_tests_name("row_names", tests, NULL, NULL);
}
