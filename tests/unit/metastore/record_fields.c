/* Fields of records (metastore/record.c), one by one: names, kinds, how long values may be, sets of
 * lines, and each rule of FORMAT.md with values that are equal, absent, or one apart. */
#include "tests/unit/metastore/record_fields.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "metastore/record.h"

enum { NONE = -1, LONG = 600 << 10 };

static const struct {
    enum meta_field field;
    const char *name;
    enum meta_kind kind;
} entries[] = {
#define X(number, name, kind) {META_##name, #name, META_KIND_##kind},
    META_FIELD_MAP(X)
#undef X
};
enum { ENTRIES = sizeof entries / sizeof *entries };

static struct meta_update update;
static struct buf record;

static int
begin(void **state)
{
    (void)state;
    meta_update_init(&update);
    buf_init(&record, 1 << 20);
    return 0;
}

static int
end(void **state)
{
    (void)state;
    meta_update_release(&update);
    buf_release(&record);
    return 0;
}

/* Merges what was set, which is then forgotten; the record changes only if it is to be written. */
static enum meta_merged
merge(void)
{
    struct buf merged;
    buf_init(&merged, 1); /* it makes the room that it needs */
    const enum meta_merged how =
        meta_merge(buf_slice(&record), meta_update_fields(&update), &merged);
    if (how == META_MERGED) {
        buf_reset(&record);
        assert_true(meta_record_valid(buf_slice(&merged)));
        (void)buf_append_slice(&record, buf_slice(&merged));
    }
    buf_release(&merged);
    meta_update_reset(&update);
    return how;
}

static void
set(enum meta_field field, int64_t number)
{
    if (number != NONE) {
        meta_set_number(&update, field, (uint64_t)number);
    }
}

static void
set_text(enum meta_field field, const char *text)
{
    if (text != NULL) {
        meta_set_text(&update, field, slice_string(text));
    }
}

static void
number_is(enum meta_field field, int64_t expected)
{
    uint64_t number = 0;
    assert_int_equal(meta_record_number(buf_slice(&record), field, &number), expected != NONE);
    assert_int_equal(number, expected != NONE ? (uint64_t)expected : 0);
    assert_int_equal(meta_record_count(buf_slice(&record), field), number);
}

static void
text_is(enum meta_field field, const char *expected)
{
    struct slice text = {NULL, 0};
    assert_int_equal(meta_record_text(buf_slice(&record), field, &text), expected != NULL);
    assert_true(slice_is(text, expected != NULL ? expected : ""));
}

/* ---- names, kinds, lengths ---- */

static void
test_each_field_has_its_name_and_kind(void **state)
{
    (void)state;
    for (size_t i = 0, tag = 0; tag < 300; tag++) {
        if (i == ENTRIES || tag != (size_t)entries[i].field) {
            assert_null(meta_field_name((enum meta_field)tag));
            assert_int_equal(meta_field_kind((enum meta_field)tag), META_KIND_TEXT);
            continue;
        }
        char lower[64];
        for (size_t k = 0; k <= strlen(entries[i].name); k++) {
            const char c = entries[i].name[k];
            lower[k] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
        }
        for (int again = 0; again < 2; again++) {
            assert_string_equal(meta_field_name((enum meta_field)tag), lower);
        }
        assert_int_equal(meta_field_kind((enum meta_field)tag), entries[i].kind);
        i++;
    }
}

static void
test_each_text_has_its_length(void **state)
{
    static const enum meta_field long_ones[] = {META_ROBOTS_BODY, META_SITEMAPS,  META_COVER,
                                                META_EXECUTION,   META_DATASETS,  META_AUTHORITIES,
                                                META_PLAN,        META_SCHEMAMAPS};
    static char text[LONG + 1];
    (void)state;
    memset(text, 'x', LONG);
    for (size_t i = 0; i < ENTRIES; i++) {
        const bool uri = entries[i].kind == META_KIND_URI;
        const enum meta_field field = entries[i].field;
        size_t expected = uri ? 8 << 10 : 64 << 10;
        struct slice stored;
        if ((!uri && entries[i].kind != META_KIND_TEXT) || field == META_MOVED ||
            field == META_ATTEMPTS || field == META_DESCRIPTIONS || field == META_SITEMAP_FOR) {
            continue;
        }
        for (size_t k = 0; k < sizeof long_ones / sizeof *long_ones; k++) {
            expected = field == long_ones[k] ? META_VALUE_MAXIMUM : expected;
        }
        for (size_t length = expected; length <= expected + 1; length++) {
            buf_reset(&record);
            meta_set_text(&update, field, slice_of(text, length));
            assert_int_equal(merge(), META_MERGED);
            assert_true(meta_record_text(buf_slice(&record), field, &stored));
            assert_int_equal(stored.length, expected);
        }
    }
}

/* What another program has put into an update may be longer than what is set here. */
static void
test_merging_cuts_too(void **state)
{
    static char text[LONG];
    struct slice stored;
    (void)state;
    memset(text, 'x', LONG);
    codec_put_varint(&update.fields, META_VIA * 4 + 1);
    codec_put_slice(&update.fields, slice_of(text, LONG));
    codec_put_varint(&update.fields, META_ETAG * 4 + 1);
    codec_put_slice(&update.fields, slice_of(text, LONG));
    codec_put_varint(&update.fields, META_STATE * 4 + 1);
    codec_put_slice(&update.fields, SLICE(""));
    assert_int_equal(merge(), META_MERGED);
    assert_true(meta_record_text(buf_slice(&record), META_ETAG, &stored));
    assert_int_equal(stored.length, 64 << 10);
    text_is(META_STATE, NULL);
}

static void
test_no_character_is_cut(void **state)
{
    enum { MOST = 64 << 10 };
    static const struct {
        const char *character;
        int before; /* bytes of it that are within the maximum */
        int kept;   /* of these */
    } cases[] = {
        {"a", 0, 0},
        {"a", 1, 1},
        {"\xc3\xa9", 1, 0},
        {"\xc3\xa9", 2, 2},
        {"\xe2\x82\xac", 1, 0},
        {"\xe2\x82\xac", 2, 0},
        {"\xe2\x82\xac", 3, 3},
        {"\xf0\x9f\x98\x80", 1, 0},
        {"\xf0\x9f\x98\x80", 3, 0},
        {"\xf0\x9f\x98\x80", 4, 4},
        {"\x80\x80\x80\x80\x80\x80", 5, 2}, /* no character: three bytes at most */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static char text[MOST + 8];
        struct slice stored;
        const size_t at = MOST - (size_t)cases[i].before;
        memset(text, 'x', sizeof text);
        memcpy(text + at, cases[i].character, strlen(cases[i].character));
        buf_reset(&record);
        meta_set_text(&update, META_REASON, slice_of(text, sizeof text));
        assert_int_equal(merge(), META_MERGED);
        assert_true(meta_record_text(buf_slice(&record), META_REASON, &stored));
        /* Before a byte that continues nothing up to three others are left out, too. */
        assert_int_equal(stored.length, at + (size_t)cases[i].kept);
        meta_set_text(&update, META_REASON, slice_of(text, MOST)); /* whatever stands behind it */
        (void)merge();
        assert_true(meta_record_text(buf_slice(&record), META_REASON, &stored));
        assert_int_equal(stored.length, MOST);
    }
}

static void
test_fields_are_read_as_what_they_are(void **state)
{
    uint64_t number = 7;
    struct slice text = SLICE("before");
    (void)state;
    set(META_DEPTH, 0);
    set_text(META_STATE, "fetched");
    assert_int_equal(merge(), META_MERGED);
    assert_true(meta_record_number(buf_slice(&record), META_DEPTH, &number));
    assert_int_equal(number, 0);
    number = 7;
    assert_false(meta_record_number(buf_slice(&record), META_STATE, &number));
    assert_false(meta_record_number(buf_slice(&record), META_GENERATION, &number));
    assert_false(meta_record_number(buf_slice(&record), META_FETCHED, &number));
    assert_int_equal(number, 7);
    assert_false(meta_record_text(buf_slice(&record), META_DEPTH, &text));
    assert_false(meta_record_text(buf_slice(&record), META_REASON, &text));
    assert_false(meta_record_text(buf_slice(&record), META_VIA, &text));
    assert_true(slice_is(text, "before"));
    size_t at = record.length;
    struct meta_value value;
    assert_false(meta_record_next(buf_slice(&record), &at, &value));
    at++;
    assert_false(meta_record_next(buf_slice(&record), &at, &value));
    at = 0;
    assert_false(meta_record_next(SLICE("\x0a"), &at, &value)); /* it clears */
    assert_int_equal(at, 0);
}

static void
test_keys_are_of_three_kinds(void **state)
{
    (void)state;
    for (unsigned c = 0; c < 0x100; c++) {
        const char key[] = {(char)c, 'x'};
        assert_int_equal(meta_key_valid(slice_of(key, 2)), c == 'u' || c == 'h' || c == 's');
    }
}

/* ---- limits of numbers of fields ---- */

static void
put_numbers(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        codec_put_varint(&update.fields, (1000 + i) * 4);
        codec_put_varint(&update.fields, 1);
    }
}

static void
test_fields_are_not_too_many(void **state)
{
    struct buf merged;
    (void)state;
    put_numbers(META_FIELDS_MAXIMUM + 1);
    assert_false(meta_update_valid(meta_update_fields(&update)));
    assert_false(meta_record_valid(meta_update_fields(&update)));
    buf_init(&merged, 1 << 20);
    assert_int_equal(meta_merge(meta_update_fields(&update), SLICE("\x04\x01"), &merged),
                     META_DAMAGED_RECORD);
    buf_release(&merged);
    assert_int_equal(merge(), META_DAMAGED_UPDATE);
    put_numbers(META_FIELDS_MAXIMUM);
    assert_true(meta_record_valid(meta_update_fields(&update)));
    assert_int_equal(merge(), META_MERGED);
    put_numbers(META_FIELDS_MAXIMUM);
    assert_int_equal(merge(), META_UNCHANGED);
    codec_put_varint(&update.fields, 1000 * 4); /* one that is there takes no place */
    codec_put_varint(&update.fields, 2);
    assert_int_equal(merge(), META_MERGED);
    set_text(META_ATTEMPTS, "one more");
    assert_int_equal(merge(), META_DAMAGED_UPDATE);
}

static void
test_tags_end_somewhere(void **state)
{
    (void)state;
    for (uint64_t tag = META_TAG_MAXIMUM; tag <= META_TAG_MAXIMUM + 1; tag++) {
        codec_put_varint(&update.fields, tag * 4);
        codec_put_varint(&update.fields, 1);
        assert_int_equal(meta_update_valid(meta_update_fields(&update)), tag == META_TAG_MAXIMUM);
        assert_int_equal(merge(), tag == META_TAG_MAXIMUM ? META_MERGED : META_DAMAGED_UPDATE);
    }
}

/* ---- sets of lines ---- */

static void
test_each_set_has_its_lines(void **state)
{
    static const struct {
        enum meta_field field;
        size_t longest;
    } sets[] = {{META_ATTEMPTS, META_ATTEMPTS_LINE_BYTES},
                {META_DESCRIPTIONS, META_DESCRIPTIONS_LINE_BYTES},
                {META_SITEMAP_FOR, META_DESCRIPTIONS_LINE_BYTES}};
    enum { SETS = sizeof sets / sizeof *sets };
    static char long_line[META_DESCRIPTIONS_LINE_BYTES + 2];
    char text[3][16];
    struct slice stored;
    (void)state;
    memset(long_line, 'z', sizeof long_line - 1);
    for (size_t i = 0; i < SETS; i++) {
        set_text(sets[i].field, "\n");
        assert_int_equal(merge(), META_UNCHANGED);
        text_is(sets[i].field, NULL);
    }
    for (size_t i = 0; i < SETS; i++) { /* all by one update */
        snprintf(text[i], sizeof text[i], "b%zu\n\na%zu\nb%zu", i, i, i);
        set_text(sets[i].field, text[i]);
    }
    assert_int_equal(merge(), META_MERGED);
    for (size_t i = 0; i < SETS; i++) {
        char expected[16];
        snprintf(expected, sizeof expected, "a%zu\nb%zu\n", i, i);
        text_is(sets[i].field, expected);
        set_text(sets[i].field, long_line);
        assert_int_equal(merge(), META_MERGED);
        assert_true(meta_record_text(buf_slice(&record), sets[i].field, &stored));
        assert_int_equal(stored.length, strlen(expected) + sets[i].longest + 1);
        set_text(sets[i].field, "");
        assert_int_equal(merge(), META_MERGED);
        text_is(sets[i].field, NULL);
    }
}

static void
test_full_sets_lose_their_least(void **state)
{
    struct slice stored;
    (void)state;
    for (int i = 0; i < META_ATTEMPTS_LINES; i++) {
        char line[16];
        snprintf(line, sizeof line, "%03d\n", 10 + 2 * i);
        set_text(META_ATTEMPTS, line);
        assert_int_equal(merge(), META_MERGED);
    }
    set_text(META_ATTEMPTS, "009");
    assert_int_equal(merge(), META_UNCHANGED);
    set_text(META_ATTEMPTS, "010");
    assert_int_equal(merge(), META_UNCHANGED);
    set_text(META_ATTEMPTS, "011"); /* in the place of 010 */
    assert_int_equal(merge(), META_MERGED);
    assert_true(meta_record_text(buf_slice(&record), META_ATTEMPTS, &stored));
    assert_int_equal(stored.length, 4 * META_ATTEMPTS_LINES);
    assert_true(slice_starts(stored, SLICE("011\n012\n014\n")));
    set_text(META_ATTEMPTS, "015"); /* in the middle */
    assert_int_equal(merge(), META_MERGED);
    assert_true(meta_record_text(buf_slice(&record), META_ATTEMPTS, &stored));
    assert_true(slice_starts(stored, SLICE("012\n014\n015\n016\n")));
    set_text(META_ATTEMPTS, "999"); /* at the end */
    assert_int_equal(merge(), META_MERGED);
    assert_true(meta_record_text(buf_slice(&record), META_ATTEMPTS, &stored));
    assert_true(slice_starts(stored, SLICE("014\n015\n")));
    assert_int_equal(stored.length, 4 * META_ATTEMPTS_LINES);
    assert_memory_equal(stored.at + stored.length - 8, "136\n999\n", 8);
}

/* ---- rules of merging ---- */

static void
test_the_first_sighting_counts(void **state)
{
    static const enum meta_field fields[] = {META_SITEMAP_SEEN, META_LINK_SEEN};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        set(fields[i], 5);
        assert_int_equal(merge(), META_MERGED);
        set(fields[i], 6);
        assert_int_equal(merge(), META_UNCHANGED);
        set(fields[i], 5);
        assert_int_equal(merge(), META_UNCHANGED);
        set(fields[i], 4);
        assert_int_equal(merge(), META_MERGED);
        number_is(fields[i], 4);
        meta_clear(&update, fields[i]);
        assert_int_equal(merge(), META_MERGED);
        number_is(fields[i], NONE);
    }
    set(META_SITEMAP_LASTMOD, 5); /* of others the last */
    assert_int_equal(merge(), META_MERGED);
    set(META_SITEMAP_LASTMOD, 6);
    assert_int_equal(merge(), META_MERGED);
    number_is(META_SITEMAP_LASTMOD, 6);
}

static void
test_the_nearest_way_counts(void **state)
{
    static const struct {
        int64_t depth; /* NONE: not said */
        const char *via;
        int64_t new_depth;
        const char *new_via;
        int64_t then_depth;
        const char *then_via;
    } cases[] = {
        {NONE, NULL, NONE, "b", NONE, "b"}, {NONE, "b", NONE, "c", NONE, "c"},
        {2, "b", NONE, NULL, 2, "b"},       {2, "b", NONE, "c", 2, "c"},
        {2, NULL, NONE, "c", 2, "c"},       {NONE, "b", 2, NULL, 2, "b"},
        {NONE, "b", 2, "c", 2, "c"},        {NONE, NULL, 2, NULL, 2, NULL},
        {2, "b", 1, "c", 1, "c"},           {2, "b", 1, NULL, 1, NULL},
        {2, "b", 3, "a", 2, "b"},           {2, NULL, 3, "a", 2, NULL},
        {2, "b", 2, "a", 2, "a"},           {2, "b", 2, "c", 2, "b"},
        {2, "b", 2, "b", 2, "b"},           {2, "b", 2, NULL, 2, "b"},
        {2, NULL, 2, "c", 2, "c"},          {0, NULL, 0, NULL, 0, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        buf_reset(&record);
        set(META_DEPTH, cases[i].depth);
        set_text(META_VIA, cases[i].via);
        (void)merge();
        set(META_DEPTH, cases[i].new_depth);
        set_text(META_VIA, cases[i].new_via);
        (void)merge();
        number_is(META_DEPTH, cases[i].then_depth);
        text_is(META_VIA, cases[i].then_via);
    }
}

/* What the stages tell of older content says nothing of a visit; with the same generation it does.
 */
static void
test_visits_are_told_by_the_newest(void **state)
{
    static const enum meta_field of_visit[] = {
        META_VISITED,      META_DUE,          META_VISITS,   META_VISITS_CHANGED,
        META_RATE_CHANGES, META_RATE_SECONDS, META_WORTH_MS, META_FAILURES};
    enum { FIELDS = sizeof of_visit / sizeof *of_visit };
    (void)state;
    static const int64_t visits[] = {1, 2, 4, 5};
    for (size_t at = 0; at < sizeof visits / sizeof *visits; at++) {
        const int64_t visit = visits[at], content = visit < 3 ? 1 : 4;
        buf_reset(&record);
        set(META_GENERATION, visit);
        set(META_CONTENT, content);
        assert_int_equal(merge(), META_MERGED);
        for (size_t i = 0; i < FIELDS; i++) {
            set(of_visit[i], 1);
        }
        set_text(META_CLAIM, "held");
        set(META_LINKS_FOUND, 1);
        set(META_CONTENT, content);
        assert_int_equal(merge(), META_MERGED);
        for (size_t i = 0; i < FIELDS; i++) {
            number_is(of_visit[i], visit == content ? 1 : NONE);
        }
        text_is(META_CLAIM, visit == content ? "held" : NULL);
        number_is(META_LINKS_FOUND, 1);
        number_is(META_GENERATION, visit);
        /* A visit itself, and who names no generation, may say all. */
        for (int named = 0; named < 2; named++) {
            set(META_GENERATION, named ? visit : NONE);
            set(META_CONTENT, named ? content : NONE);
            set(META_DUE, 7 + named);
            assert_int_equal(merge(), META_MERGED);
            number_is(META_DUE, 7 + named);
        }
    }
}

static void
test_states_are_of_the_newest(void **state)
{
    (void)state;
    set_text(META_STATE, "unknown"); /* of no generation */
    assert_int_equal(merge(), META_MERGED);
    number_is(META_STATED, NONE);
    set(META_GENERATION, 4);
    set(META_CONTENT, 4);
    assert_int_equal(merge(), META_MERGED);
    number_is(META_STATED, NONE);
    set(META_GENERATION, 5);
    set_text(META_STATE, "failed");
    set_text(META_REASON, "why");
    assert_int_equal(merge(), META_MERGED);
    number_is(META_STATED, 5);
    for (int64_t content = 4; content <= 5; content++) {
        set(META_CONTENT, content);
        set_text(META_STATE, "indexed");
        set_text(META_REASON, "well");
        set(META_STATED, 99); /* nobody may say so */
        assert_int_equal(merge(), content == 4 ? META_UNCHANGED : META_MERGED);
        text_is(META_STATE, content == 4 ? "failed" : "indexed");
        text_is(META_REASON, content == 4 ? "why" : "well");
        number_is(META_STATED, 5);
    }
}

static void
test_equal_generations_are_not_stale(void **state)
{
    (void)state;
    assert_int_equal(merge(), META_UNCHANGED); /* an update of nothing */
    set(META_GENERATION, 3);
    set(META_CONTENT, 2);
    assert_int_equal(merge(), META_MERGED);
    assert_int_equal(merge(), META_UNCHANGED);
    static const struct {
        int64_t visit, content;
        enum meta_merged merged;
    } cases[] = {{2, NONE, META_STALE}, {1, NONE, META_STALE},     {3, NONE, META_UNCHANGED},
                 {NONE, 1, META_STALE}, {NONE, 2, META_UNCHANGED}, {3, 1, META_STALE},
                 {2, 2, META_STALE},    {0, NONE, META_MERGED},    {4, 2, META_MERGED}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set(META_GENERATION, cases[i].visit);
        set(META_CONTENT, cases[i].content);
        assert_int_equal(merge(), cases[i].merged);
    }
}

/* Which of two archived records was moved is told by the field with its new file. */
static void
test_moves_are_of_what_is_there(void **state)
{
    (void)state;
    set_text(META_MOVED, "urn:uuid:1");
    set_text(META_WARC_FILE, "a");
    assert_int_equal(merge(), META_STALE); /* the record has none */
    set_text(META_WARC_RECORD_ID, "urn:uuid:1");
    set_text(META_CONVERSION_RECORD_ID, "urn:uuid:2");
    assert_int_equal(merge(), META_MERGED);
    set_text(META_MOVED, "urn:uuid:1");
    set_text(META_WARC_FILE, "a");
    assert_int_equal(merge(), META_MERGED);
    set_text(META_WARC_FILE, "b");
    set_text(META_MOVED, "urn:uuid:2");
    assert_int_equal(merge(), META_STALE);
    set_text(META_MOVED, "urn:uuid:2");
    set_text(META_CONVERSION_FILE, "b");
    assert_int_equal(merge(), META_MERGED);
    text_is(META_WARC_FILE, "a");
    text_is(META_CONVERSION_FILE, "b");
    text_is(META_MOVED, NULL);
    meta_clear(&update, META_MOVED); /* says nothing */
    set_text(META_WARC_FILE, "c");
    assert_int_equal(merge(), META_MERGED);
    text_is(META_WARC_FILE, "c");
}

int
record_fields_run(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(test_each_field_has_its_name_and_kind),
        TEST(test_each_text_has_its_length),
        TEST(test_merging_cuts_too),
        TEST(test_no_character_is_cut),
        TEST(test_fields_are_read_as_what_they_are),
        TEST(test_keys_are_of_three_kinds),
        TEST(test_fields_are_not_too_many),
        TEST(test_tags_end_somewhere),
        TEST(test_each_set_has_its_lines),
        TEST(test_full_sets_lose_their_least),
        TEST(test_the_first_sighting_counts),
        TEST(test_the_nearest_way_counts),
        TEST(test_visits_are_told_by_the_newest),
        TEST(test_states_are_of_the_newest),
        TEST(test_equal_generations_are_not_stale),
        TEST(test_moves_are_of_what_is_there),
    };
    return cmocka_run_group_tests_name("record fields", tests, NULL, NULL);
}
