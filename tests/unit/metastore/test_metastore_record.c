/* Records and updates: encoding, and each merge rule of metastore/FORMAT.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "metastore/record.h"
#include "tests/unit/metastore/record_fields.h"

struct fixture {
    struct meta_update update;
    struct buf merged[2];
    size_t now; /* merged[now] is the record */
};

static int
setup(void **state)
{
    static struct fixture fixture;
    memset(&fixture, 0, sizeof fixture);
    meta_update_init(&fixture.update);
    buf_init(&fixture.merged[0], 1 << 20);
    buf_init(&fixture.merged[1], 1 << 20);
    *state = &fixture;
    return 0;
}

static int
teardown(void **state)
{
    struct fixture *fixture = *state;
    meta_update_release(&fixture->update);
    buf_release(&fixture->merged[0]);
    buf_release(&fixture->merged[1]);
    return 0;
}

static struct slice
record_of(struct fixture *fixture)
{
    return buf_slice(&fixture->merged[fixture->now]);
}

/* Merges the fixture's update into its record and empties the update. */
static enum meta_merged
merge(struct fixture *fixture)
{
    struct buf *out = &fixture->merged[1 - fixture->now];
    const enum meta_merged merged =
        meta_merge(record_of(fixture), meta_update_fields(&fixture->update), out);
    if (merged == META_MERGED) {
        fixture->now = 1 - fixture->now;
    }
    return merged;
}

static enum meta_merged
merge_once(struct fixture *fixture)
{
    const enum meta_merged merged = merge(fixture);
    meta_update_reset(&fixture->update);
    return merged;
}

static uint64_t
number(struct fixture *fixture, enum meta_field field)
{
    uint64_t value = UINT64_MAX;
    (void)meta_record_number(record_of(fixture), field, &value);
    return value;
}

static void
assert_text(struct fixture *fixture, enum meta_field field, const char *expected)
{
    struct slice text = {NULL, 0};
    const bool found = meta_record_text(record_of(fixture), field, &text);
    assert_int_equal(found, expected != NULL);
    if (expected != NULL) {
        assert_int_equal(text.length, strlen(expected));
        assert_memory_equal(text.at, expected, text.length);
    }
}

static void
set_text(struct fixture *fixture, enum meta_field field, const char *text)
{
    meta_set_text(&fixture->update, field, slice_string(text));
}

static void
test_fields_have_names_and_kinds(void **state)
{
    (void)state;
    assert_string_equal(meta_field_name(META_HTTP_STATUS), "http_status");
    assert_string_equal(meta_field_name(META_GENERATION), "generation");
    assert_null(meta_field_name((enum meta_field)99));
    assert_int_equal(meta_field_kind(META_FETCHED), META_KIND_TIME);
    assert_int_equal(meta_field_kind(META_VIA), META_KIND_URI);
}

static void
test_record_is_sorted_and_update_is_not(void **state)
{
    struct fixture *fixture = *state;
    meta_set_number(&fixture->update, META_HTTP_STATUS, 200);
    set_text(fixture, META_STATE, "fetched");
    meta_set_number(&fixture->update, META_GENERATION, 1);
    assert_int_equal(merge_once(fixture), META_MERGED);
    const char expected[] = "\x04\x01\x09\x07"
                            "fetched\x20\xc8\x01\x6c\x01"; /* STATED is the store's */
    assert_int_equal(record_of(fixture).length, sizeof expected - 1);
    assert_memory_equal(record_of(fixture).at, expected, sizeof expected - 1);
    assert_true(meta_record_valid(record_of(fixture)));
}

static void
test_fields_replace_and_others_stay(void **state)
{
    struct fixture *fixture = *state;
    set_text(fixture, META_STATE, "fetched");
    set_text(fixture, META_ETAG, "\"1\"");
    (void)merge_once(fixture);
    set_text(fixture, META_STATE, "broken");
    assert_int_equal(merge_once(fixture), META_MERGED);
    assert_text(fixture, META_STATE, "broken");
    assert_text(fixture, META_ETAG, "\"1\"");
}

static void
test_cleared_and_empty_fields_go(void **state)
{
    struct fixture *fixture = *state;
    set_text(fixture, META_REASON, "no route");
    set_text(fixture, META_ETAG, "\"1\"");
    meta_set_number(&fixture->update, META_HTTP_STATUS, 500);
    (void)merge_once(fixture);
    set_text(fixture, META_REASON, "");
    meta_clear(&fixture->update, META_HTTP_STATUS);
    meta_clear(&fixture->update, META_ETAG);
    set_text(fixture, META_ETAG, "\"2\""); /* later wins */
    assert_int_equal(merge_once(fixture), META_MERGED);
    assert_text(fixture, META_REASON, NULL);
    assert_text(fixture, META_ETAG, "\"2\"");
    assert_int_equal(number(fixture, META_HTTP_STATUS), UINT64_MAX);
}

static void
test_older_generation_is_dropped_whole(void **state)
{
    struct fixture *fixture = *state;
    meta_set_number(&fixture->update, META_GENERATION, 3);
    set_text(fixture, META_STATE, "indexed");
    (void)merge_once(fixture);
    meta_set_number(&fixture->update, META_GENERATION, 2);
    set_text(fixture, META_STATE, "fetched");
    set_text(fixture, META_ATTEMPTS, "late\n");
    assert_int_equal(merge_once(fixture), META_STALE);
    meta_set_number(&fixture->update, META_GENERATION, 4);
    assert_int_equal(merge_once(fixture), META_MERGED);
    assert_text(fixture, META_STATE, "indexed");
    assert_int_equal(number(fixture, META_GENERATION), 4);
}

/* A visit that finds nothing new, or that fails, comes before the stages have done with the content
 * of the last: these still tell of the content, not of the visit. */
static void
test_visits_do_not_overtake_work_on_content(void **state)
{
    struct fixture *fixture = *state;
    for (int fails = 0; fails < 2; fails++) {
        buf_reset(&fixture->merged[fixture->now]);
        meta_set_number(&fixture->update, META_GENERATION, 4);
        meta_set_number(&fixture->update, META_CONTENT, 4);
        set_text(fixture, META_STATE, "fetched");
        (void)merge_once(fixture);
        meta_set_number(&fixture->update, META_GENERATION, 5);
        meta_set_number(&fixture->update, META_DUE, 2000);
        meta_set_number(&fixture->update, META_VISITS, 2);
        if (fails) {
            set_text(fixture, META_STATE, "failed");
            set_text(fixture, META_REASON, "timed out");
        }
        (void)merge_once(fixture);
        meta_set_number(&fixture->update, META_CONTENT, 4);
        meta_set_number(&fixture->update, META_INDEXED, 1500);
        meta_set_number(&fixture->update, META_CHANGED, 1500);
        meta_set_number(&fixture->update, META_DUE, 1000);
        meta_set_number(&fixture->update, META_VISITS, 1);
        set_text(fixture, META_STATE, "indexed");
        assert_int_equal(merge_once(fixture), META_MERGED);
        assert_int_equal(number(fixture, META_INDEXED), 1500);
        assert_int_equal(number(fixture, META_CHANGED), 1500);
        assert_int_equal(number(fixture, META_DUE), 2000);
        assert_int_equal(number(fixture, META_VISITS), 2);
        assert_int_equal(number(fixture, META_GENERATION), 5);
        assert_int_equal(number(fixture, META_STATED), fails ? 5 : 4);
        assert_text(fixture, META_STATE, fails ? "failed" : "indexed");
        assert_text(fixture, META_REASON, fails ? "timed out" : NULL);
    }
}

/* Content of a dump is brought by no visit; the visit that was scheduled before learns of it. */
static void
test_newer_content_drops_what_is_said_of_older(void **state)
{
    struct fixture *fixture = *state;
    meta_set_number(&fixture->update, META_GENERATION, 1);
    meta_set_number(&fixture->update, META_CONTENT, 1);
    (void)merge_once(fixture);
    meta_set_number(&fixture->update, META_CONTENT, 2);
    set_text(fixture, META_STATE, "indexed");
    assert_int_equal(merge_once(fixture), META_MERGED);
    assert_int_equal(number(fixture, META_GENERATION), 2);
    meta_set_number(&fixture->update, META_CONTENT, 1);
    meta_set_number(&fixture->update, META_QUADS, 9);
    assert_int_equal(merge_once(fixture), META_STALE);
    assert_int_equal(number(fixture, META_STATED), 2);
}

/* The archive is compacted while visits go on: what a record still tells of gets its new place. */
static void
test_a_moved_record_is_found_at_its_new_place(void **state)
{
    struct fixture *fixture = *state;
    meta_set_number(&fixture->update, META_GENERATION, 1);
    set_text(fixture, META_WARC_FILE, "a.warc.gz");
    set_text(fixture, META_WARC_RECORD_ID, "urn:uuid:1");
    set_text(fixture, META_CONVERSION_FILE, "b.warc.gz");
    set_text(fixture, META_CONVERSION_RECORD_ID, "urn:uuid:2");
    (void)merge_once(fixture);
    meta_set_number(&fixture->update, META_GENERATION, 2); /* not modified */
    (void)merge_once(fixture);
    set_text(fixture, META_MOVED, "urn:uuid:1");
    set_text(fixture, META_WARC_FILE, "c.warc.gz");
    assert_int_equal(merge_once(fixture), META_MERGED);
    set_text(fixture, META_MOVED, "urn:uuid:2");
    set_text(fixture, META_CONVERSION_FILE, "c.warc.gz");
    assert_int_equal(merge_once(fixture), META_MERGED);
    assert_text(fixture, META_WARC_FILE, "c.warc.gz");
    assert_text(fixture, META_CONVERSION_FILE, "c.warc.gz");
    assert_text(fixture, META_MOVED, NULL);
    set_text(fixture, META_MOVED, "urn:uuid:2");
    set_text(fixture, META_WARC_FILE, "d.warc.gz");
    assert_int_equal(merge_once(fixture), META_STALE);
    set_text(fixture, META_MOVED, "urn:uuid:1");
    set_text(fixture, META_CONVERSION_FILE, "d.warc.gz");
    assert_int_equal(merge_once(fixture), META_STALE);
}

static void
test_update_without_generation_merges(void **state)
{
    struct fixture *fixture = *state;
    meta_set_number(&fixture->update, META_GENERATION, 3);
    (void)merge_once(fixture);
    set_text(fixture, META_STATE, "gone");
    assert_int_equal(merge_once(fixture), META_MERGED);
    assert_int_equal(number(fixture, META_GENERATION), 3);
}

/* Three discoveries of a document in every order: one result. */
static void
test_depth_and_via_do_not_depend_on_order(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        uint64_t depth;
        const char *via;
    } finds[] = {{2, "http://a.example/"}, {1, "http://c.example/"}, {1, "http://b.example/"}};
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (size_t i = 0; i < 6; i++) {
        buf_reset(&fixture->merged[0]);
        buf_reset(&fixture->merged[1]);
        for (size_t j = 0; j < 3; j++) {
            meta_set_number(&fixture->update, META_DEPTH, finds[orders[i][j]].depth);
            set_text(fixture, META_VIA, finds[orders[i][j]].via);
            (void)merge_once(fixture);
        }
        assert_int_equal(number(fixture, META_DEPTH), 1);
        assert_text(fixture, META_VIA, "http://b.example/");
    }
}

static void
test_seed_has_no_via(void **state)
{
    struct fixture *fixture = *state;
    meta_set_number(&fixture->update, META_DEPTH, 3);
    set_text(fixture, META_VIA, "http://a.example/");
    (void)merge_once(fixture);
    meta_set_number(&fixture->update, META_DEPTH, 0);
    (void)merge_once(fixture);
    assert_text(fixture, META_VIA, NULL);
    meta_set_number(&fixture->update, META_DEPTH, 3);
    set_text(fixture, META_VIA, "http://a.example/");
    assert_int_equal(merge_once(fixture), META_UNCHANGED);
}

static void
test_attempts_append_once(void **state)
{
    struct fixture *fixture = *state;
    set_text(fixture, META_ATTEMPTS, "1 fetch timeout");
    (void)merge_once(fixture);
    set_text(fixture, META_ATTEMPTS, "2 fetch ok\n1 fetch timeout\n");
    assert_int_equal(merge(fixture), META_MERGED);
    assert_text(fixture, META_ATTEMPTS, "1 fetch timeout\n2 fetch ok\n");
    assert_int_equal(merge_once(fixture), META_UNCHANGED);
}

/* A line has at least a byte, and needs no end when it is the last. */
static void
test_lines_are_what_stands_between_ends(void **state)
{
    static const struct {
        const char *first, *second, *expected; /* NULL: no such field */
    } cases[] = {
        {"a", NULL, "a\n"},     {"a\n", "b", "a\nb\n"},          {"\n", NULL, NULL},
        {"\n\n\n", "\n", NULL}, {"\n\nb\n\na", "", NULL},        {"\n\nb\n\na", NULL, "a\nb\n"},
        {"b\n", "\n", "b\n"},   {"b\nb\nab\n", "ab", "ab\nb\n"}, {"ab", "a\nabc", "a\nab\nabc\n"},
    };
    static const enum meta_field sets[] = {META_ATTEMPTS, META_DESCRIPTIONS, META_SITEMAP_FOR};
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        buf_reset(&fixture->merged[fixture->now]);
        for (size_t set = 0; set < sizeof sets / sizeof *sets; set++) {
            set_text(fixture, sets[set], cases[i].first);
            (void)merge_once(fixture);
            if (cases[i].second != NULL) {
                set_text(fixture, sets[set], cases[i].second);
                (void)merge_once(fixture);
            }
            assert_text(fixture, sets[set], cases[i].expected);
        }
    }
}

static void
test_attempts_keep_the_newest(void **state)
{
    struct fixture *fixture = *state;
    char line[32];
    for (int i = 0; i < META_ATTEMPTS_LINES + 7; i++) {
        snprintf(line, sizeof line, "%03d attempt\n", i);
        set_text(fixture, META_ATTEMPTS, line);
        (void)merge_once(fixture);
    }
    struct slice text;
    assert_true(meta_record_text(record_of(fixture), META_ATTEMPTS, &text));
    assert_memory_equal(text.at, "007 attempt\n", 12);
    size_t lines = 0;
    for (size_t i = 0; i < text.length; i++) {
        lines += text.at[i] == '\n';
    }
    assert_int_equal(lines, META_ATTEMPTS_LINES);
}

static void
test_attempts_are_cut_and_sorted(void **state)
{
    struct fixture *fixture = *state;
    static char line[1000];
    static char expected[2 * (META_ATTEMPTS_LINE_BYTES + 1) + 1];
    memset(line, 'b', sizeof line - 1);
    memset(expected, 'a', sizeof expected - 1);
    memset(expected + META_ATTEMPTS_LINE_BYTES + 1, 'b', META_ATTEMPTS_LINE_BYTES);
    expected[META_ATTEMPTS_LINE_BYTES] = '\n';
    expected[sizeof expected - 2] = '\n';
    set_text(fixture, META_ATTEMPTS, line);
    (void)merge_once(fixture);
    memset(line, 'a', sizeof line - 1);
    set_text(fixture, META_ATTEMPTS, line);
    (void)merge_once(fixture);
    assert_text(fixture, META_ATTEMPTS, expected);
}

/* More new lines than are kept, some of them old: once more must change nothing. */
static void
test_many_attempts_at_once_are_idempotent(void **state)
{
    struct fixture *fixture = *state;
    char line[16];
    for (int round = 0; round < 2; round++) {
        struct buf lines;
        buf_init(&lines, 10000);
        for (int i = 50 * round; i < 100 + 30 * round; i++) {
            snprintf(line, sizeof line, "%03d\n", i);
            (void)buf_append_string(&lines, line);
        }
        meta_set_text(&fixture->update, META_ATTEMPTS, buf_slice(&lines));
        buf_release(&lines);
        assert_int_equal(merge(fixture), META_MERGED);
        assert_int_equal(merge_once(fixture), META_UNCHANGED);
    }
}

static void
test_long_values_are_cut_at_a_character(void **state)
{
    struct fixture *fixture = *state;
    static char text[(64 << 10) + 3];
    memset(text, 'x', sizeof text - 1);
    memcpy(text + (64 << 10) - 1, "\xc3\xa9", 2);
    set_text(fixture, META_REASON, text);
    (void)merge_once(fixture);
    struct slice stored;
    assert_true(meta_record_text(record_of(fixture), META_REASON, &stored));
    assert_int_equal(stored.length, (64 << 10) - 1);
}

static void
test_every_update_is_idempotent(void **state)
{
    struct fixture *fixture = *state;
    meta_set_number(&fixture->update, META_GENERATION, 1);
    meta_set_number(&fixture->update, META_DEPTH, 4);
    set_text(fixture, META_VIA, "http://a.example/");
    set_text(fixture, META_ATTEMPTS, "x\ny\n");
    meta_clear(&fixture->update, META_REASON);
    assert_int_equal(merge(fixture), META_MERGED);
    assert_int_equal(merge(fixture), META_UNCHANGED);
}

static void
test_unknown_fields_are_kept(void **state)
{
    struct fixture *fixture = *state;
    codec_put_varint(&fixture->update.fields, 9000 * 4 + 1);
    codec_put_slice(&fixture->update.fields, SLICE("future"));
    assert_int_equal(merge_once(fixture), META_MERGED);
    set_text(fixture, META_STATE, "fetched");
    assert_int_equal(merge_once(fixture), META_MERGED);
    assert_text(fixture, (enum meta_field)9000, "future");
}

static void
test_damage_is_seen(void **state)
{
    (void)state;
    const struct {
        const char *name;
        struct slice bytes;
        bool update_valid;
    } cases[] = {{"number cut", SLICE("\x04"), false},
                 {"text cut",
                  SLICE("\x09\x07"
                        "fet"),
                  false},
                 {"tag 0", SLICE("\x01\x01x"), false},
                 {"form 3", SLICE("\x07"), false},
                 {"number as text",
                  SLICE("\x05\x01"
                        "1"),
                  false},
                 {"text as number", SLICE("\x08\x01"), false},
                 {"clear", SLICE("\x0a"), true},
                 {"not ascending", SLICE("\x20\x01\x04\x01"), true},
                 {"twice", SLICE("\x04\x01\x04\x01"), true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buf merged;
        buf_init(&merged, 1000);
        if (meta_record_valid(cases[i].bytes) ||
            meta_update_valid(cases[i].bytes) != cases[i].update_valid ||
            meta_merge(cases[i].bytes, SLICE("\x04\x01"), &merged) != META_DAMAGED_RECORD) {
            fail_msg("%s", cases[i].name);
        }
        buf_release(&merged);
    }
}

/* Wherever a record is cut, the fields before the cut are read, and nothing that stands behind it,
 * though that be a field. */
static void
test_fields_behind_the_end_are_not_read(void **state)
{
    struct fixture *fixture = *state;
    size_t ends[8] = {0}, fields = 0, at = 0;
    struct meta_value value;
    meta_set_number(&fixture->update, META_GENERATION, 1);
    meta_set_number(&fixture->update, META_DEPTH, 300);
    set_text(fixture, META_VIA, "http://a.example/");
    meta_set_number(&fixture->update, META_FETCHED, 1700000000000);
    assert_int_equal(merge_once(fixture), META_MERGED);
    const struct slice record = record_of(fixture);
    while (meta_record_next(record, &at, &value)) {
        ends[++fields] = at;
    }
    assert_int_equal(fields, 4);
    assert_int_equal(at, record.length);
    for (size_t length = 0; length <= record.length; length++) {
        const struct slice cut = slice_of(record.at, length);
        size_t whole = 0, read = 0;
        while (whole < fields && ends[whole + 1] <= length) {
            whole++;
        }
        for (at = 0; meta_record_next(cut, &at, &value); read++) {
            assert_int_equal(at, ends[read + 1]);
        }
        assert_int_equal(read, whole);
        assert_int_equal(at, ends[whole]);
        assert_int_equal(meta_record_valid(cut), length == ends[whole]);
        at = length;
        assert_false(meta_record_next(cut, &at, &value));
        assert_int_equal(at, length);
    }
}

/* A field of a form or a tag that is none ends what is read, and so does one of another kind. */
static void
test_reading_ends_at_damage(void **state)
{
    static const char *const damages[] = {"\x07\x01",         "\x23\x01", "\x01\x01",
                                          "\x81\x80\x80\x08", "\x09",     "\x05\x01z"};
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        struct meta_value value;
        size_t at = 0;
        meta_update_reset(&fixture->update);
        meta_set_number(&fixture->update, META_DEPTH, 5);
        meta_set_number(&fixture->update, META_FETCHED, 6);
        const size_t good = fixture->update.fields.length;
        (void)buf_append_string(&fixture->update.fields, damages[i]);
        const struct slice fields = meta_update_fields(&fixture->update);
        assert_true(meta_record_next(fields, &at, &value));
        assert_true(meta_record_next(fields, &at, &value));
        assert_false(meta_record_next(fields, &at, &value));
        assert_int_equal(at, good);
        assert_false(meta_update_valid(fields));
    }
}

static void
test_too_many_fields_are_refused(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < META_FIELDS_MAXIMUM; i++) {
        codec_put_varint(&fixture->update.fields, (uint64_t)(1000 + i) * 4);
        codec_put_varint(&fixture->update.fields, 1);
    }
    assert_true(meta_update_valid(meta_update_fields(&fixture->update)));
    assert_int_equal(merge_once(fixture), META_MERGED);
    meta_set_number(&fixture->update, META_DEPTH, 1);
    assert_int_equal(merge_once(fixture), META_DAMAGED_UPDATE);
}

static void
test_keys(void **state)
{
    (void)state;
    static char longest[META_KEY_MAXIMUM + 1];
    memset(longest, 'u', sizeof longest);
    assert_true(meta_key_valid(SLICE("uhttp://a.example/")));
    assert_true(meta_key_valid(SLICE("hhttp://a.example")));
    assert_false(meta_key_valid(SLICE("u")));
    assert_false(meta_key_valid(SLICE("")));
    assert_false(meta_key_valid(SLICE("mepoch")));
    assert_true(meta_key_valid(slice_of(longest, META_KEY_MAXIMUM)));
    assert_false(meta_key_valid(slice_of(longest, META_KEY_MAXIMUM + 1)));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_fields_have_names_and_kinds),
        TEST(test_record_is_sorted_and_update_is_not),
        TEST(test_fields_replace_and_others_stay),
        TEST(test_cleared_and_empty_fields_go),
        TEST(test_older_generation_is_dropped_whole),
        TEST(test_visits_do_not_overtake_work_on_content),
        TEST(test_newer_content_drops_what_is_said_of_older),
        TEST(test_a_moved_record_is_found_at_its_new_place),
        TEST(test_update_without_generation_merges),
        TEST(test_depth_and_via_do_not_depend_on_order),
        TEST(test_seed_has_no_via),
        TEST(test_attempts_append_once),
        TEST(test_lines_are_what_stands_between_ends),
        TEST(test_attempts_keep_the_newest),
        TEST(test_attempts_are_cut_and_sorted),
        TEST(test_many_attempts_at_once_are_idempotent),
        TEST(test_long_values_are_cut_at_a_character),
        TEST(test_every_update_is_idempotent),
        TEST(test_unknown_fields_are_kept),
        TEST(test_damage_is_seen),
        TEST(test_fields_behind_the_end_are_not_read),
        TEST(test_reading_ends_at_damage),
        TEST(test_too_many_fields_are_refused),
        TEST(test_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) + record_fields_run();
}
