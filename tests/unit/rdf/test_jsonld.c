/* These tests show what the JSON-LD suite does not: dirty JSON, loading of contexts, limits, lines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rdf/core/writer.h"
#include "rdf/json/json.h"
#include "rdf/jsonld/jsonld.h"
#include "rdf/jsonld/jsonld_link.h"
#include "tests/support/jsonld_text.h"

enum { OUTPUT_MAXIMUM = 16 << 20 };

#define VOCABULARY "\"@context\":{\"@vocab\":\"http://v/\"}"

/* ---- JSON ---- */

static void
read_json(const char *text, bool lenient, struct buf *out, uint64_t *repairs)
{
    struct arena arena;
    struct json *tree;
    struct reason why;
    arena_init(&arena, 0);
    buf_reset(out);
    struct json_pool pool = {.arena = &arena};
    const struct json_options options = {.lenient = lenient, .repairs = repairs};
    /* A copy of its own, so that reading past the end is found. */
    char *copy = malloc(strlen(text) + 1);
    memcpy(copy, text, strlen(text));
    if (json_read(slice_of(copy, strlen(text)), &options, &pool, &tree, &why) == STATUS_OK) {
        json_write(out, tree);
    } else {
        buf_printf(out, "! %s", why.text);
    }
    free(copy);
    arena_release(&arena);
}

static void
test_dirty_json(void **state)
{
    static const struct {
        const char *text, *read, *repairs;
    } cases[] = {
        {"{\"a\":[1,2,],}", "{\"a\":[1,2]}", "superfluous comma 2;"},
        {"{\"a\":1 \"b\":2}", "{\"a\":1,\"b\":2}", "missing comma 1;"},
        {"[1 2 \"x\"]", "[1,2,\"x\"]", "missing comma 2;"},
        {"{\"a\":\"x\ny\"}", "{\"a\":\"x\\ny\"}", "control character in a string 1;"},
        {"// c\n{\"a\":/* b */1}", "{\"a\":1}", "comment 2;"},
        {"<!--\n{\"a\":1}\n-->", "{\"a\":1}", "HTML comment or CDATA around JSON 2;"},
        {"//<![CDATA[\n{\"a\":1}\n//]]>", "{\"a\":1}", "HTML comment or CDATA around JSON 2;"},
        {"{\"a\":1};", "{\"a\":1}", "semicolon behind JSON 1;"},
        {"{\"a\":1}{\"b\":2}", "[{\"a\":1},{\"b\":2}]", "several values in one text 1;"},
        {"{\"a\":1}}", "{\"a\":1}", "closing bracket without an opening one 1;"},
        {"{'a':'b \"c\"'}", "{\"a\":\"b \\\"c\\\"\"}", "single quotation marks 2;"},
        {"{a:1}", "{\"a\":1}", "name without quotation marks 1;"},
        {"{\"a\":,\"b\":}", "{\"a\":null,\"b\":null}", "missing value 2;"},
        {"{\"a\":undefined,\"b\":True}", "{\"a\":null,\"b\":true}",
         "literal of another language 2;"},
        {"{\"a\":05}", "{\"a\":\"05\"}", "malformed number 1;"},
        {"{\"a\":\"say \"x\" here\",\"b\":1}", "{\"a\":\"say \\\"x\\\" here\",\"b\":1}",
         "quotation mark in a string not escaped 2;"},
        {"{\"a\":\"\\q\\ud800\"}", "{\"a\":\"q\xef\xbf\xbd\"}",
         "lone surrogate 1;unknown escape 1;"},
        {"{\"a\":\"\xff\"}", "{\"a\":\"\xef\xbf\xbd\"}", "bytes that are no UTF-8 1;"},
        {"{\"a\":{\"b\":[1,{\"c\":\"cut", "{\"a\":{\"b\":[1,{}]}}", "missing end 1;"},
        {"{&quot;a&quot;:&quot;b &amp; c&quot;}", "{\"a\":\"b & c\"}", "JSON escaped as HTML 1;"},
        {"\xef\xbb\xbf{\"a\":1}", "{\"a\":1}", ""},
        {"\xc2\xa0{\"a\":1}", "{\"a\":1}", "character that is no white space between values 1;"},
        {"{\"a\":1,\"b\":2,\"a\":3}", "{\"a\":3,\"b\":2}", ""},
        {"{\"a\" 1}", "! line 1, column 6: expected a colon behind a name", ""},
        {"[1}", "! line 1, column 3: expected a comma or ] behind a value", "malformed number 0;"},
        {" ", "! line 1, column 2: the text is empty", ""},
    };
    (void)state;
    struct buf out, told;
    buf_init(&out, OUTPUT_MAXIMUM);
    buf_init(&told, OUTPUT_MAXIMUM);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t repairs[JSON_REPAIR_COUNT] = {0};
        read_json(cases[i].text, true, &out, repairs);
        assert_string_equal(out.data, cases[i].read);
        if (out.data[0] == '!') {
            continue;
        }
        buf_reset(&told);
        buf_append_string(&told, "");
        for (int r = 0; r < JSON_REPAIR_COUNT; r++) {
            if (repairs[r] > 0) {
                buf_printf(&told, "%s %llu;", json_repair_text((enum json_repair)r),
                           (unsigned long long)repairs[r]);
            }
        }
        assert_string_equal(told.data ? told.data : "", cases[i].repairs);
        if (cases[i].repairs[0] != '\0' && strstr(cases[i].repairs, "surrogate") == NULL) {
            read_json(cases[i].text, false, &out, NULL);
            assert_int_equal(out.data[0], '!');
        }
    }
    buf_release(&out);
    buf_release(&told);
}

static void
test_many_members(void **state)
{
    (void)state;
    struct buf text, out;
    buf_init(&text, OUTPUT_MAXIMUM);
    buf_init(&out, OUTPUT_MAXIMUM);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 50000; i++) {
            buf_printf(&text, "%s\"k%d\":%d", text.length ? "," : "{", i, i + round);
        }
    }
    buf_append_char(&text, '}');
    read_json(text.data, false, &out, NULL);
    assert_memory_equal(out.data, "{\"k0\":1,\"k1\":2,", 15);
    assert_memory_equal(out.data + out.length - 15, "\"k49999\":50000}", 15);
    buf_release(&text);
    buf_release(&out);
}

static void
test_canonical_json(void **state)
{
    static const char text[] =
        "{\"\xf0\x90\x80\x80\":1e21,\"\xee\x80\x80\":[1.0,-0,1e-7,0.000001,"
        "123456789012345680000,4.50,333333333.33333329],\"a\":\"\\u001f\\n/\"}";
    static const char canonical[] =
        "{\"a\":\"\\u001f\\n/\",\"\xf0\x90\x80\x80\":1e+21,\"\xee\x80\x80\":[1,0,1e-7,0.000001,"
        "123456789012345680000,4.5,333333333.3333333]}";
    (void)state;
    struct arena arena;
    struct json *tree;
    struct buf out;
    arena_init(&arena, 0);
    buf_init(&out, OUTPUT_MAXIMUM);
    struct json_pool pool = {.arena = &arena};
    assert_int_equal(json_read(SLICE(text), &(struct json_options){.line = 1}, &pool, &tree, NULL),
                     STATUS_OK);
    assert_int_equal(json_write_canonical(&out, tree), STATUS_OK);
    assert_string_equal(out.data, canonical);
    buf_release(&out);
    arena_release(&arena);
}

/* ---- JSON-LD ---- */

struct world {
    struct buf out;   /* quads with their lines, problems */
    struct buf asked; /* URLs */
    const char *missing;
    enum status missing_status;
};

static enum status
take_quad(void *context, const struct quad *quad, struct reason *why)
{
    struct world *world = context;
    (void)why;
    buf_printf(&world->out, "%u ", quad->line);
    return nquads_write(&world->out, quad);
}

static void
take_problem(void *context, const struct parse_problem *problem)
{
    struct world *world = context;
    buf_printf(&world->out, "! %llu %s\n", (unsigned long long)problem->line, problem->text);
}

static enum status
load(void *context, struct slice url, struct jsonld_remote *remote, struct reason *why)
{
    struct world *world = context;
    buf_printf(&world->asked, "%.*s ", SLICE_PRINT(url));
    if (world->missing != NULL && slice_is(url, world->missing)) {
        return status_fail(why, world->missing_status, "answered 404");
    }
    remote->bytes =
        SLICE("{\"@context\":{\"@vocab\":\"http://v/\",\"@base\":\"http://ignored/\"}}");
    remote->fixed = slice_is(url, "http://c/fixed");
    return STATUS_OK;
}

static enum status
run(struct world *world, const char *text, bool lenient, struct jsonld_options options,
    struct reason *why)
{
    const struct quad_sink sink = {.quad = take_quad, .context = world};
    options.parse.base = SLICE("http://d/doc");
    options.parse.lenient = lenient;
    options.parse.problems = (struct problem_sink){take_problem, world};
    options.loader = (struct jsonld_loader){load, world};
    buf_reset(&world->out);
    buf_append_string(&world->out, "");
    return jsonld_read(slice_string(text), &options, &sink, why);
}

static int
setup(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    buf_init(&world->out, OUTPUT_MAXIMUM);
    buf_init(&world->asked, OUTPUT_MAXIMUM);
    *state = world;
    return 0;
}

static int
teardown(void **state)
{
    struct world *world = *state;
    buf_release(&world->out);
    buf_release(&world->asked);
    free(world);
    return 0;
}

static void
test_lines(void **state)
{
    struct world *world = *state;
    const struct jsonld_options options = {.line = 10};
    assert_int_equal(run(world,
                         "{" VOCABULARY ",\n\"@id\":\"a\",\n\"p\":[1,\n\"x\",\n{\"@id\":\"b\",\n"
                         "\"q\":true}],\n\"@type\":\"T\"}",
                         false, options, NULL),
                     STATUS_OK);
    assert_string_equal(
        world->out.data,
        "12 <http://d/a> <http://v/p> \"1\"^^<http://www.w3.org/2001/XMLSchema#integer> .\n"
        "13 <http://d/a> <http://v/p> \"x\" .\n"
        "14 <http://d/a> <http://v/p> <http://d/b> .\n"
        "15 <http://d/b> <http://v/q> \"true\"^^<http://www.w3.org/2001/XMLSchema#boolean> .\n"
        "16 <http://d/a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://v/T> .\n");
}

/* One bad entry costs itself alone. */
static void
test_lenient_skips(void **state)
{
    struct world *world = *state;
    const struct jsonld_options options = {.line = 1};
    assert_int_equal(run(world,
                         "{\"@context\":{\"@vocab\":\"http://v/\",\"bad\":{\"@id\":7},"
                         "\"n\":{\"@container\":\"@nowhere\"}},\"@id\":5,\n"
                         "\"p\":[{\"@value\":{}},\"x\"],\"@language\":\"de\",\"q\":\"y\",}",
                         true, options, NULL),
                     STATUS_OK);
    assert_string_equal(world->out.data,
                        "! 1 invalid IRI mapping: bad\n"
                        "! 1 invalid container mapping: n\n"
                        "! 1 invalid @id value: @id must be a string\n"
                        "! 2 invalid value object value: @value must be a string, a number, a "
                        "boolean or null\n"
                        "2 _:g0 <http://v/p> \"x\" .\n2 _:g0 <http://v/q> \"y\" .\n");
}

/* What RDF cannot hold is told of. */
static void
test_lenient_drops(void **state)
{
    struct world *world = *state;
    const struct jsonld_options options = {.line = 1};
    run(world,
        "{\"@id\":\"http://d/a b\",\"@type\":\"http://d/T\",\"a:p\":[{\"@id\":\"http://d/<\"},"
        "{\"@value\":\"x\",\"@language\":\"not a tag\"},{\"@id\":\"_:b\",\"a:q\":1}]}",
        true, options, NULL);
    assert_string_equal(world->out.data,
                        "! 1 no well-formed absolute IRI: http://d/a b\n! 1 no well-formed "
                        "absolute IRI: http://d/<\n"
                        "! 1 no well-formed language tag: not a tag\n"
                        "1 _:b <a:q> \"1\"^^<http://www.w3.org/2001/XMLSchema#integer> .\n");
}

/* A context that cannot be had costs the object that asks for it. */
static void
test_missing_context(void **state)
{
    struct world *world = *state;
    const struct jsonld_options options = {.line = 1};
    world->missing = "http://c/none";
    world->missing_status = STATUS_NOT_FOUND;
    static const char text[] = "[{\"@context\":\"http://c/none\",\"a\":1},\n"
                               "{\"@context\":\"http://c/it\",\"a\":\"b\"}]";
    assert_int_equal(run(world, text, true, options, NULL), STATUS_OK);
    assert_string_equal(world->out.data,
                        "! 1 loading remote context failed: http://c/none: answered 404\n"
                        "2 _:g0 <http://v/a> \"b\" .\n");
    struct reason why;
    assert_int_equal(run(world, text, false, options, &why), STATUS_BAD_INPUT);
    assert_string_equal(why.text,
                        "line 1: loading remote context failed: http://c/none: answered 404");
}

static void
test_context_not_at_hand(void **state)
{
    struct world *world = *state;
    const struct jsonld_options options = {.line = 1};
    world->missing = "http://c/later";
    world->missing_status = STATUS_AGAIN;
    assert_int_equal(run(world,
                         "[{\"@context\":[\"http://c/later\",\"rel\"],\"a\":[{\"@context\":"
                         "\"http://c/inner\"}]},{\"@context\":{\"@import\":\"http://c/i\"}}]",
                         true, options, NULL),
                     STATUS_AGAIN);
    assert_string_equal(world->asked.data,
                        "http://c/later http://c/later http://d/rel http://c/inner http://c/i ");
    assert_string_equal(world->out.data, "");
}

/* What is fixed is asked for once, however many documents use it; bases stay the documents'. */
static void
test_contexts_are_kept(void **state)
{
    struct world *world = *state;
    struct jsonld_contexts *contexts = jsonld_contexts_new();
    const struct jsonld_options options = {.contexts = contexts};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(run(world,
                             "{\"@context\":[\"http://c/fixed\",{\"@base\":\"x/\"}],\"@id\":\"y\","
                             "\"a\":\"b\"}",
                             false, options, NULL),
                         STATUS_OK);
        assert_string_equal(world->out.data, "1 <http://d/x/y> <http://v/a> \"b\" .\n");
    }
    assert_string_equal(world->asked.data, "http://c/fixed ");
    jsonld_contexts_free(contexts);
}

static void
test_numbers(void **state)
{
    static const struct {
        const char *number, *term;
    } cases[] = {
        {"12345678901234567890", "\"12345678901234567890\"^^<xsd:integer>"},
        {"-0", "\"0\"^^<xsd:integer>"},
        {"1.0", "\"1\"^^<xsd:integer>"},
        {"1e3", "\"1000\"^^<xsd:integer>"},
        {"0.1", "\"1.0E-1\"^^<xsd:double>"},
        {"-12.50", "\"-1.25E1\"^^<xsd:double>"},
        {"1e21", "\"1.0E21\"^^<xsd:double>"},
        {"1e999", "\"INF\"^^<xsd:double>"},
    };
    struct world *world = *state;
    const struct jsonld_options options = {.line = 1};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200], want[200], datatype[100];
        snprintf(text, sizeof text, "{\"@id\":\"\",\"a:p\":%s}", cases[i].number);
        const char *type = strstr(cases[i].term, "xsd:") + 4;
        snprintf(datatype, sizeof datatype, "http://www.w3.org/2001/XMLSchema#%s", type);
        snprintf(want, sizeof want, "1 <http://d/doc> <a:p> %.*s%s .\n",
                 (int)(type - 4 - cases[i].term), cases[i].term, datatype);
        assert_int_equal(run(world, text, false, options, NULL), STATUS_OK);
        assert_string_equal(world->out.data, want);
    }
}

static void
test_labels(void **state)
{
    struct world *world = *state;
    uint64_t labels = 0;
    const struct jsonld_options options = {.labels = &labels};
    run(world, "{\"a:p\":{\"@id\":\"_:g0\"}}", false, options, NULL);
    assert_string_equal(world->out.data, "1 _:g0 <a:p> _:gxg0 .\n");
    run(world, "{\"a:p\":{\"@id\":\"_:a b\"}}", false, options, NULL);
    assert_string_equal(world->out.data, "1 _:g1 <a:p> _:gz612062 .\n");
}

static void
test_limits(void **state)
{
    struct world *world = *state;
    struct buf text;
    struct reason why;
    buf_init(&text, OUTPUT_MAXIMUM);
    struct jsonld_options options = {.work = 1000};
    for (int i = 0; i < 300; i++) {
        buf_append_string(&text, "{\"a:p\":");
    }
    assert_int_equal(run(world, text.data, true, options, &why), STATUS_LIMIT);
    buf_reset(&text);
    buf_append_string(&text, "{\"a:p\":[0");
    for (int i = 0; i < 2000; i++) {
        buf_append_string(&text, ",1");
    }
    buf_append_string(&text, "]}");
    assert_int_equal(run(world, text.data, true, options, &why), STATUS_LIMIT);
    options.work = 0;
    assert_int_equal(run(world, text.data, true, options, &why), STATUS_OK);
    options.remotes = 1;
    assert_int_equal(
        run(world, "{\"@context\":[\"http://c/1\",\"http://c/2\"]}", false, options, &why),
        STATUS_BAD_INPUT);
    assert_non_null(strstr(why.text, "context overflow"));
    buf_release(&text);
}

static void
test_links(void **state)
{
    (void)state;
    struct jsonld_links links = jsonld_links(
        SLICE("</a>; rel=next, <c.jsonld>; type=\"application/ld+json\"; rel=\"x "
              "http://www.w3.org/ns/json-ld#context\", </d,e>;rel=alternate; "
              "type=\"application/ld+json;profile=x\", <f>; rel=alternate; type=text/html"));
    assert_true(slice_is(links.context, "c.jsonld"));
    assert_true(slice_is(links.alternate, "/d,e"));
    assert_false(links.several_contexts);
    links = jsonld_links(SLICE("<a>;rel=http://www.w3.org/ns/json-ld#context,"
                               "<b>;rel=\"http://www.w3.org/ns/json-ld#context\""));
    assert_true(links.several_contexts);
    assert_true(jsonld_is_plain_json(SLICE("application/geo+json; charset=utf-8")));
    assert_false(jsonld_is_plain_json(SLICE("application/ld+json")));
    assert_true(jsonld_is_json_ld(SLICE(" Application/LD+JSON ;profile=x")));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dirty_json),
        cmocka_unit_test(test_many_members),
        cmocka_unit_test(test_canonical_json),
        cmocka_unit_test_setup_teardown(test_lines, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lenient_skips, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lenient_drops, setup, teardown),
        cmocka_unit_test_setup_teardown(test_missing_context, setup, teardown),
        cmocka_unit_test_setup_teardown(test_context_not_at_hand, setup, teardown),
        cmocka_unit_test_setup_teardown(test_contexts_are_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(test_numbers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_labels, setup, teardown),
        cmocka_unit_test_setup_teardown(test_limits, setup, teardown),
        cmocka_unit_test(test_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
