/* These tests are of which replies of its parser's workers fetch believes
 * (stages/fetch/parser/fetch_parser.c): a worker that was taken over says what it likes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/codec.h"
#include "base/memory.h"
#include "stages/fetch/parser/fetch_parser.h"
#include "tests/unit/stages/parser_requests.h"

enum { ROOM = 1 << 18, TEXT_MOST = 64 << 10 /* of one text that a worker says */ };

static void
put_long(struct buf *reply, size_t length)
{
    char *text = memory_alloc(length + 1);
    memset(text, 't', length + 1);
    codec_put_slice(reply, slice_of(text, length));
    free(text);
}

static void
sitemaps_are_in_bounds(void **state)
{
    static const struct {
        unsigned kind;
        uint64_t entries;
        size_t problem;
        bool more, believed;
    } rows[] = {{SITEMAP_NONE, 0, 0, false, true},
                {SITEMAP_ATOM, SITEMAP_ENTRIES_MAXIMUM, REASON_SIZE - 1, false, true},
                {SITEMAP_ATOM + 1, 0, 0, false, false},
                {255, 0, 0, false, false},
                {SITEMAP_ATOM, SITEMAP_ENTRIES_MAXIMUM + 1, 0, false, false},
                {SITEMAP_ATOM, 0, REASON_SIZE, false, false},
                {SITEMAP_ATOM, 0, 0, true, false}};
    struct parsed_sitemap sitemap;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (unsigned flag = 0; flag <= 4; flag++) { /* each alone, the last time none */
            struct buf reply;
            buf_init(&reply, ROOM);
            codec_put_u8(&reply, 2); /* any but 0 says that it is one */
            codec_put_u8(&reply, flag == 0);
            codec_put_u8(&reply, (uint8_t)rows[i].kind);
            codec_put_varint(&reply, rows[i].entries);
            codec_put_u8(&reply, flag == 1);
            codec_put_u8(&reply, flag == 2);
            codec_put_u8(&reply, flag == 3);
            put_long(&reply, rows[i].problem);
            codec_put_slice(&reply, SLICE("entries"));
            if (rows[i].more) {
                codec_put_u8(&reply, 0);
            }
            const bool believed = parsed_sitemap_decode(buf_slice(&reply), &sitemap);
            assert_int_equal(believed, rows[i].believed);
            if (believed) {
                assert_true(sitemap.candidate);
                assert_int_equal(sitemap.result.kind, rows[i].kind);
                assert_int_equal(sitemap.result.entries, rows[i].entries);
                assert_int_equal(sitemap.describes, flag == 0);
                assert_int_equal(sitemap.result.incomplete, flag == 1);
                assert_int_equal(sitemap.result.limited, flag == 2);
                assert_int_equal(sitemap.result.too_large, flag == 3);
                assert_int_equal(sitemap.problem.length, rows[i].problem);
                assert_true(slice_is(sitemap.entries, "entries"));
            }
            buf_release(&reply);
        }
    }
    assert_true(parsed_sitemap_decode(slice_of("\0", 1), &sitemap));
    assert_false(sitemap.candidate);
    assert_false(parsed_sitemap_decode(slice_of("\0\0", 2), &sitemap));
    assert_false(parsed_sitemap_decode(SLICE(""), &sitemap));
}

static void
entries_are_in_bounds(void **state)
{
    static const struct {
        size_t location, frequency, alternates, facts;
        uint8_t priority;
        bool believed;
    } rows[] = {
        {TEXT_MOST, TEXT_MOST, SITEMAP_LINES_MAXIMUM, SITEMAP_LINES_MAXIMUM, 100, true},
        {0, 0, 0, 0, 0, true},
        {TEXT_MOST + 1, 0, 0, 0, 0, false},
        {0, TEXT_MOST + 1, 0, 0, 0, false},
        {0, 0, SITEMAP_LINES_MAXIMUM + 1, 0, 0, false},
        {0, 0, 0, SITEMAP_LINES_MAXIMUM + 1, 0, false},
        {0, 0, 0, 0, 101, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sitemap_entry entry;
        struct buf reply;
        buf_init(&reply, ROOM);
        put_long(&reply, rows[i].location);
        codec_put_varint(&reply, 1700000000000);
        put_long(&reply, rows[i].frequency);
        codec_put_u8(&reply, rows[i].priority);
        put_long(&reply, rows[i].alternates);
        put_long(&reply, rows[i].facts);
        struct slice rest = buf_slice(&reply);
        assert_int_equal(parsed_sitemap_next(&rest, &entry), rows[i].believed);
        assert_int_equal(entry.modified_ms, 1700000000000);
        assert_int_equal(rest.length, 0);
        rest = slice_of(reply.data, reply.length - 1);
        assert_false(parsed_sitemap_next(&rest, &entry));
        buf_release(&reply);
    }
}

/* A description of one sitemap of each kind and one dataset with one access. */
struct said {
    const char *authority, *sub, *parent, *uri, *label, *graph, *frequency, *access;
    unsigned vocabulary, kind, slicing;
    size_t label_length; /* in place of label */
};

static bool
believes(const struct said *said, struct arena *arena, struct description *description)
{
    struct buf reply;
    buf_init(&reply, ROOM);
    codec_put_u8(&reply, 1);
    codec_put_u8(&reply, 0);
    codec_put_u8(&reply, 1);
    codec_put_slice(&reply, slice_string(said->authority));
    codec_put_varint(&reply, 1);
    codec_put_slice(&reply, slice_string(said->sub));
    codec_put_varint(&reply, 1);
    codec_put_slice(&reply, slice_string(said->parent));
    codec_put_varint(&reply, 1);
    codec_put_u8(&reply, (uint8_t)said->vocabulary);
    codec_put_slice(&reply, slice_string(said->uri));
    if (said->label != NULL) {
        codec_put_slice(&reply, slice_string(said->label));
    } else {
        put_long(&reply, said->label_length);
    }
    codec_put_slice(&reply, slice_string(said->graph));
    codec_put_slice(&reply, slice_string(said->frequency));
    codec_put_varint(&reply, 1700000000000);
    codec_put_varint(&reply, 1000000);
    codec_put_varint(&reply, 2000);
    codec_put_varint(&reply, 30);
    codec_put_varint(&reply, 1);
    codec_put_u8(&reply, (uint8_t)said->kind);
    codec_put_slice(&reply, slice_string(said->access));
    codec_put_u8(&reply, (uint8_t)said->slicing);
    codec_put_varint(&reply, 31);
    const bool believed = parsed_description_decode(
        buf_slice(&reply), SLICE("http://a.example/sitemap.xml"), arena, description);
    buf_release(&reply);
    return believed;
}

#define SAID_WELL                                                                                \
    .authority = "http://c.example/", .sub = "http://s.example/", .parent = "http://p.example/", \
    .uri = "http://a.example/d", .label = "two\nlines", .graph = "http://a.example/g",           \
    .frequency = "daily", .access = "http://a.example/\xc3\xa4 dump"

static void
descriptions_are_in_bounds(void **state)
{
    static const struct said good = {SAID_WELL, .vocabulary = DESCRIPTION_SCHEMA,
                                     .kind = ACCESS_SAMPLE, .slicing = SLICING_MSG};
    struct said rows[] = {good, good, good, good, good, good, good, good, good, good, good, good};
    bool believed[sizeof rows / sizeof *rows] = {false};
    struct description description;
    struct arena arena;
    (void)state;
    rows[0].authority = "a\n";
    rows[1].sub = "\x1f";
    rows[2].parent = "\tp";
    rows[3].uri = "u\r";
    rows[4].graph = "g\n";
    rows[5].access = "a\001";
    rows[6].vocabulary++;
    rows[7].kind++;
    rows[8].slicing++;
    rows[9].label = NULL;
    rows[9].label_length = TEXT_MOST + 1;
    rows[10].label = NULL;
    rows[10].label_length = TEXT_MOST;
    rows[11].frequency = "now\nand then";
    believed[10] = believed[11] = true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        arena_init(&arena, ROOM);
        assert_int_equal(believes(&rows[i], &arena, &description), believed[i]);
        arena_release(&arena);
    }
    arena_init(&arena, ROOM);
    assert_true(believes(&good, &arena, &description));
    assert_true(description.rdf);
    assert_false(description.limited);
    assert_true(description.incomplete);
    assert_true(slice_is(description.uri, "http://a.example/sitemap.xml"));
    assert_true(slice_is(description.space, "http://a.example/"));
    assert_true(slice_is(description.authority, good.authority));
    assert_true(slice_is(description.sub_sitemaps[0], good.sub));
    assert_true(slice_is(description.parent_sitemaps[0], good.parent));
    assert_int_equal(description.dataset_count, 1);
    const struct dataset *dataset = &description.datasets[0];
    assert_int_equal(dataset->vocabulary, DESCRIPTION_SCHEMA);
    assert_true(slice_is(dataset->uri, good.uri));
    assert_true(slice_is(dataset->label, good.label));
    assert_true(slice_is(dataset->graph, good.graph));
    assert_true(slice_is(dataset->change_frequency, good.frequency));
    assert_int_equal(dataset->modified_ms, 1700000000000);
    assert_int_equal(dataset->triples, 1000000);
    assert_int_equal(dataset->documents, 2000);
    assert_int_equal(dataset->line, 30);
    assert_int_equal(dataset->access_count, 1);
    assert_int_equal(dataset->accesses[0].kind, ACCESS_SAMPLE);
    assert_true(slice_is(dataset->accesses[0].uri, good.access));
    assert_int_equal(dataset->accesses[0].slicing, SLICING_MSG);
    assert_int_equal(dataset->accesses[0].line, 31);
    arena_release(&arena);
    arena_init(&arena, 16); /* where it has no room it is none */
    assert_false(believes(&good, &arena, &description));
    arena_release(&arena);
}

/* Each of several is taken, so many datasets at most, and lines of any length that a text may have.
 */
static void
descriptions_may_have_many(void **state)
{
    enum { ROOMY = 1 << 24 };
    static const struct {
        size_t datasets, accesses, authority;
        bool believed;
    } rows[] = {{2, 3, TEXT_MOST, true},
                {1, 0, TEXT_MOST + 1, false},
                {0, 0, 0, true},
                {DESCRIPTION_DATASETS, 1, 0, true},
                {DESCRIPTION_DATASETS + 1, 0, 0, false}};
    (void)state;
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        struct description description;
        struct arena arena;
        struct buf reply;
        buf_init(&reply, ROOMY);
        arena_init(&arena, ROOMY);
        codec_put_u8(&reply, 0);
        codec_put_u8(&reply, 1);
        codec_put_u8(&reply, 0);
        put_long(&reply, rows[row].authority);
        for (int of = 0; of < 2; of++) {
            codec_put_varint(&reply, 2);
            codec_put_slice(&reply, of == 0 ? SLICE("http://s.example/1") : SLICE("http://p/1"));
            codec_put_slice(&reply, of == 0 ? SLICE("http://s.example/2") : SLICE("http://p/2"));
        }
        codec_put_varint(&reply, rows[row].datasets);
        for (size_t i = 0; i < rows[row].datasets; i++) {
            codec_put_u8(&reply, DESCRIPTION_VOID);
            for (int text = 0; text < 4; text++) {
                codec_put_slice(&reply, text == 0 ? SLICE("http://d.example/") : SLICE(""));
            }
            for (uint64_t number = 0; number < 4; number++) {
                codec_put_varint(&reply, number == 3 ? i : 0);
            }
            codec_put_varint(&reply, rows[row].accesses);
            for (size_t k = 0; k < rows[row].accesses; k++) {
                codec_put_u8(&reply, ACCESS_DUMP);
                codec_put_slice(&reply, SLICE("http://d.example/dump"));
                codec_put_u8(&reply, SLICING_NONE);
                codec_put_varint(&reply, k);
            }
        }
        const bool believed = parsed_description_decode(
            buf_slice(&reply), SLICE("http://a.example/f/void.ttl"), &arena, &description);
        assert_int_equal(believed, rows[row].believed);
        if (believed) {
            assert_false(description.rdf || description.incomplete);
            assert_true(description.limited);
            assert_true(slice_is(description.space, "http://a.example/f/"));
            assert_int_equal(description.authority.length, rows[row].authority);
            assert_int_equal(description.sub_count, 2);
            assert_int_equal(description.parent_count, 2);
            assert_true(slice_is(description.sub_sitemaps[0], "http://s.example/1"));
            assert_true(slice_is(description.sub_sitemaps[1], "http://s.example/2"));
            assert_true(slice_is(description.parent_sitemaps[0], "http://p/1"));
            assert_true(slice_is(description.parent_sitemaps[1], "http://p/2"));
            assert_int_equal(description.dataset_count, rows[row].datasets);
        }
        for (size_t i = 0; believed && i < rows[row].datasets; i++) {
            const struct dataset *dataset = &description.datasets[i];
            assert_int_equal(dataset->line, i);
            assert_int_equal(dataset->access_count, rows[row].accesses);
            for (size_t k = 0; k < rows[row].accesses; k++) {
                assert_int_equal(dataset->accesses[k].line, k);
            }
        }
        arena_release(&arena);
        buf_release(&reply);
    }
}

static void
counts_are_one_number(void **state)
{
    (void)state;
    assert_int_equal(parsed_count(SLICE("\x2a")), 42);
    assert_int_equal(parsed_count(SLICE("\x2a\x2a")), 0);
    assert_int_equal(parsed_count(SLICE("")), 0);
}

static void
last_resources_are_one_line(void **state)
{
    static const struct {
        const char *last;
        bool believed;
    } rows[] = {{"http://a.example/ \x7f", true}, {"", true}, {"http://a.example/\x1f", false}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct harvest_page page;
        struct buf reply;
        buf_init(&reply, ROOM);
        codec_put_varint(&reply, 5);
        codec_put_varint(&reply, 4);
        codec_put_u8(&reply, i == 0);
        codec_put_slice(&reply, slice_string(rows[i].last));
        buf_append_string(&reply, "triples");
        harvest_page_init(&page);
        assert_int_equal(parsed_page_decode(buf_slice(&reply), &page), rows[i].believed);
        assert_int_equal(page.triples, 5);
        assert_int_equal(page.resources, 4);
        assert_int_equal(page.deeper, i == 0);
        assert_true(!rows[i].believed || slice_is(buf_slice(&page.text), "triples"));
        harvest_page_release(&page);
        buf_release(&reply);
    }
}

int
parser_replies_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sitemaps_are_in_bounds),     cmocka_unit_test(entries_are_in_bounds),
        cmocka_unit_test(descriptions_are_in_bounds), cmocka_unit_test(descriptions_may_have_many),
        cmocka_unit_test(counts_are_one_number),      cmocka_unit_test(last_resources_are_one_line),
    };
    return cmocka_run_group_tests_name("parser_replies", tests, NULL, NULL);
}
