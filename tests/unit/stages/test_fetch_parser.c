/* These tests are of what fetch has parsed in workers: the same as parsed directly, whatever
 * hostile bytes do to a worker, and no reply is believed that is not whole. */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <cmocka.h>
#include <zlib.h>

#include "datasets/execution.h"
#include "datasets/semantic_sitemap.h"
#include "stages/fetch/http/fetch_http.h"
#include "stages/fetch/parser/fetch_parser.h"
#include "tests/unit/stages/parser_requests.h"
#include "transforms/transform.h"

static struct fork_server *fork_server;
static struct fetch_parser *parser;

static int
set_up(void **state)
{
    static const struct opt *tables[] = {fetch_options, transforms_options, NULL};
    struct reason why = {""};
    struct opt_set *options = opt_set_new(tables);
    (void)state;
    opt_set_assign(options, "transform.memory=384M", NULL);
    opt_set_assign(options, "transform.cpu=1", NULL);
    fork_server = fork_server_start(&fetch_parser_program);
    if (fetch_parser_open(&parser, fork_server, options, NULL, &why) != STATUS_OK) {
        print_error("%s\n", why.text);
        return 1;
    }
    opt_set_free(options);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    fetch_parser_close(parser);
    fork_server_close(fork_server);
    return 0;
}

struct answer {
    enum status status;
    bool done;
    struct buf reply;
    char why[REASON_SIZE];
};

static void
take(void *context, enum status status, struct slice reply, const struct reason *why)
{
    struct answer *answer = context;
    answer->status = status;
    answer->done = true;
    buf_init(&answer->reply, PARSER_BYTES_MAXIMUM);
    buf_append_slice(&answer->reply, reply);
    snprintf(answer->why, sizeof answer->why, "%s", why->text);
}

/* The answer is to be released with buf_release(&answer->reply). */
static void
ask(const struct parser_request *request, struct answer *answer)
{
    *answer = (struct answer){0};
    fetch_parser_submit(parser, request, take, answer);
    while (!answer->done) {
        struct pollfd wait = {worker_pool_descriptor(fetch_parser_pool(parser)), POLLIN, 0};
        poll(&wait, 1, 1000);
        assert_int_equal(worker_pool_process(fetch_parser_pool(parser), NULL), STATUS_OK);
    }
}

static void
pack(struct slice bytes, struct buf *packed)
{
    z_stream stream = {.next_in = (void *)(uintptr_t)bytes.at, .avail_in = (uInt)bytes.length};
    assert_int_equal(deflateInit2(&stream, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    buf_init(packed, bytes.length + 1024);
    (void)buf_reserve(packed, bytes.length + 1024);
    stream.next_out = (void *)packed->data;
    stream.avail_out = (uInt)packed->capacity;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    packed->length = stream.total_out;
    deflateEnd(&stream);
}

/* ---- sitemaps ---- */

#define SITEMAP_URI SLICE("http://a.example/map.xml")

/* Locations of the entries, each with what else was said. */
static void
locations(struct slice reply, struct parsed_sitemap *sitemap, char *text, size_t size)
{
    struct sitemap_entry entry;
    text[0] = '\0';
    assert_true(parsed_sitemap_decode(reply, sitemap));
    for (struct slice rest = sitemap->entries; parsed_sitemap_next(&rest, &entry);) {
        const size_t used = strlen(text);
        snprintf(text + used, size - used, "%.*s %.*s %u %.*s|", SLICE_PRINT(entry.location),
                 SLICE_PRINT(entry.change_frequency), entry.priority, SLICE_PRINT(entry.facts));
    }
}

static void
sitemaps_are_parsed_whatever_their_coding(void **state)
{
    static const char text[] =
        "<urlset xmlns:image='http://www.google.com/schemas/sitemap-image/1.1'><url><loc>/a</loc>"
        "<changefreq>daily</changefreq><priority>0.7</priority><image:image><image:loc>/i.png"
        "</image:loc></image:image></url><url><loc>/b</loc></url></urlset>";
    struct parser_request request = {
        .verb = PARSER_SITEMAP, .uri = SITEMAP_URI, .bytes = SLICE(text), .named = true};
    struct parsed_sitemap sitemap;
    struct answer answer;
    struct buf packed;
    char found[400];
    (void)state;
    pack(SLICE(text), &packed);
    for (int i = 0; i < 3; i++) { /* plain; packed; packed once more, by the server */
        struct buf twice = {0};
        request.bytes = i > 0 ? buf_slice(&packed) : SLICE(text);
        if (i == 2) {
            pack(buf_slice(&packed), &twice);
            request.bytes = buf_slice(&twice);
            request.coding = SLICE("gzip");
        }
        ask(&request, &answer);
        assert_int_equal(answer.status, STATUS_OK);
        locations(buf_slice(&answer.reply), &sitemap, found, sizeof found);
        assert_string_equal(found, "/a daily 70 image /i.png\n|/b  50 |");
        assert_int_equal(sitemap.result.kind, SITEMAP_URLSET);
        assert_int_equal(sitemap.result.entries, 2);
        assert_false(sitemap.describes);
        buf_release(&answer.reply);
        buf_release(&twice);
    }
    buf_release(&packed);
}

/* Though a worker can read no file that tells of them. */
static void
encodings_are_known_in_the_sandbox(void **state)
{
    static const struct {
        const char *name, *bytes;
    } cases[] = {{"windows-1251", "\xe6"},
                 {"KOI8-R", "\xd6"},
                 {"GB18030", "\xa7\xd8"},
                 {"UTF-8", "\xd0\xb6"},
                 {"utf-8", "\xd0\xb6"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct parsed_sitemap sitemap;
        struct answer answer;
        char text[300], found[300];
        snprintf(text, sizeof text,
                 "<?xml version='1.0' encoding='%s'?><urlset><url><loc>/%s</loc></url></urlset>",
                 cases[i].name, cases[i].bytes);
        const struct parser_request request = {
            .verb = PARSER_SITEMAP, .uri = SITEMAP_URI, .bytes = slice_string(text), .named = true};
        ask(&request, &answer);
        locations(buf_slice(&answer.reply), &sitemap, found, sizeof found);
        assert_string_equal(found, "/\xd0\xb6  50 |");
        buf_release(&answer.reply);
    }
}

static void
pages_are_no_sitemaps(void **state)
{
    static const struct {
        const char *text;
        bool named, candidate;
        enum sitemap_kind kind;
    } cases[] = {
        {"<!DOCTYPE html><p>urlset", false, false, SITEMAP_NONE},
        {"<!DOCTYPE html><p>urlset", true, true, SITEMAP_NONE},
        {"<x:sitemapindex xmlns:x='x'/>", false, true, SITEMAP_INDEX},
        {"<feed/>", false, false, SITEMAP_NONE},
        {"<feed/>", true, true, SITEMAP_ATOM},
        {"", true, true, SITEMAP_NONE},
    };
    (void)state;
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        struct parsed_sitemap sitemap;
        struct answer answer;
        struct buf packed;
        pack(slice_string(cases[i / 2].text), &packed);
        const struct parser_request request = {
            .verb = PARSER_SITEMAP,
            .uri = SITEMAP_URI,
            .coding = i % 2 == 0 ? (struct slice){0} : SLICE("gzip"),
            .bytes = i % 2 == 0 ? slice_string(cases[i / 2].text) : buf_slice(&packed),
            .named = cases[i / 2].named};
        ask(&request, &answer);
        assert_true(parsed_sitemap_decode(buf_slice(&answer.reply), &sitemap));
        assert_int_equal(sitemap.candidate, cases[i / 2].candidate);
        assert_int_equal(sitemap.result.kind, cases[i / 2].kind);
        assert_int_equal(sitemap.problem.length > 0,
                         sitemap.candidate && sitemap.result.kind == SITEMAP_NONE);
        buf_release(&answer.reply);
        buf_release(&packed);
    }
}

/* ---- what is hostile ---- */

/* Each is followed by a good one, which is answered. */
static void
bombs_end_and_harm_no_other(void **state)
{
    enum { MEGABYTES = 60 };
    static const char good[] = "<urlset><url><loc>/a</loc></url></urlset>";
    static char head[] = "<urlset><url><loc>/a</loc></url>";
    const size_t length = (size_t)MEGABYTES << 20;
    char *text = malloc(length);
    struct buf once, bombs[3];
    struct parsed_sitemap sitemap;
    struct answer answer;
    char found[100];
    (void)state;
    assert_non_null(text);
    for (int i = 0; i < 3; i++) { /* nothing but blanks; elements in elements; ampersands */
        static const char fills[] = " <&";
        memset(text, fills[i], length);
        for (size_t at = 0; i == 1 && at + 3 <= length; at += 3) {
            memcpy(text + at, "<a>", 3);
        }
        memcpy(text, head, sizeof head - 1);
        pack(slice_of(text, length), &once);
        pack(buf_slice(&once), &bombs[i]);
        buf_release(&once);
    }
    free(text);
    for (int i = 0; i < 3; i++) {
        struct parser_request request = {.verb = PARSER_SITEMAP,
                                         .uri = SITEMAP_URI,
                                         .coding = SLICE("gzip, gzip"),
                                         .bytes = buf_slice(&bombs[i]),
                                         .named = true};
        ask(&request, &answer);
        if (answer.status == STATUS_OK) { /* it was cut, and says so */
            locations(buf_slice(&answer.reply), &sitemap, found, sizeof found);
            assert_true(sitemap.result.too_large || sitemap.result.incomplete);
        } else {
            assert_true(answer.status == STATUS_LIMIT || answer.status == STATUS_TIMEOUT);
            assert_true(answer.why[0] != '\0');
        }
        buf_release(&answer.reply);
        request.coding = (struct slice){0};
        request.bytes = SLICE(good);
        ask(&request, &answer);
        assert_int_equal(answer.status, STATUS_OK);
        locations(buf_slice(&answer.reply), &sitemap, found, sizeof found);
        assert_string_equal(found, "/a  50 |");
        buf_release(&answer.reply);
        buf_release(&bombs[i]);
    }
}

static void
only_so_much_is_decoded(void **state)
{
    struct answer answer;
    struct buf packed;
    (void)state;
    pack(SLICE("User-agent: *\nDisallow: /x\n"), &packed);
    struct parser_request request = {
        .verb = PARSER_DECODE, .coding = SLICE("gzip"), .bytes = buf_slice(&packed), .most = 1000};
    ask(&request, &answer);
    assert_true(slice_is(buf_slice(&answer.reply), "User-agent: *\nDisallow: /x\n"));
    buf_release(&answer.reply);
    request.most = 5;
    ask(&request, &answer);
    assert_true(slice_is(buf_slice(&answer.reply), "User-"));
    buf_release(&answer.reply);
    request.bytes.length /= 2; /* cut off: what could be decoded counts */
    request.most = 1000;
    ask(&request, &answer);
    assert_int_equal(answer.status, STATUS_OK);
    buf_release(&answer.reply);
    buf_release(&packed);
}

/* ---- descriptions ---- */

static const char described[] =
    "<urlset xmlns:sc='http://sw.deri.org/2007/07/sitemapextension'><sc:dataset>"
    "<sc:datasetLabel>Both\nlines</sc:datasetLabel><sc:datasetURI>http://a.example/d</"
    "sc:datasetURI>"
    "<sc:linkedDataPrefix slicing='cbd'>http://a.example/r/</sc:linkedDataPrefix>"
    "<sc:sparqlEndpointLocation>http://a.example/sparql</sc:sparqlEndpointLocation>"
    "<sc:dataDumpLocation>http://a.example/dump.nt.gz</sc:dataDumpLocation>"
    "<sc:sampleURI>http://a.example/r/1</sc:sampleURI></sc:dataset></urlset>";

/* What /.well-known/void describes is of its whole host; any other is of its folder. */
static void
the_well_known_description_is_of_the_host(void **state)
{
    static const char text[] =
        "<http://a.example/d> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
        "<http://rdfs.org/ns/void#Dataset> .\n"
        "<http://a.example/d> <http://rdfs.org/ns/void#dataDump> <http://a.example/d.nt> .\n";
    static const struct {
        const char *uri, *space;
    } cases[] = {{"http://a.example/.well-known/void", "http://a.example/"},
                 {"http://a.example/.well-known/other", "http://a.example/.well-known/"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena arena;
        struct description parsed;
        struct answer answer;
        const struct parser_request request = {.verb = PARSER_DESCRIPTION,
                                               .uri = slice_string(cases[i].uri),
                                               .rdf = true,
                                               .bytes = SLICE(text)};
        arena_init(&arena, 1 << 20);
        ask(&request, &answer);
        assert_int_equal(answer.status, STATUS_OK);
        assert_true(
            parsed_description_decode(buf_slice(&answer.reply), request.uri, &arena, &parsed));
        assert_int_equal(parsed.dataset_count, 1);
        assert_true(slice_is(parsed.space, cases[i].space));
        arena_release(&arena);
        buf_release(&answer.reply);
    }
}

static void
descriptions_come_as_they_are_read(void **state)
{
    struct arena arena;
    struct description direct, parsed;
    struct answer answer;
    (void)state;
    const struct parser_request request = {
        .verb = PARSER_DESCRIPTION, .uri = SITEMAP_URI, .bytes = SLICE(described)};
    arena_init(&arena, 1 << 24);
    assert_int_equal(semantic_sitemap_parse(SLICE(described), SITEMAP_URI, &arena, &direct, NULL),
                     STATUS_OK);
    ask(&request, &answer);
    assert_int_equal(answer.status, STATUS_OK);
    assert_true(parsed_description_decode(buf_slice(&answer.reply), SITEMAP_URI, &arena, &parsed));
    assert_true(slice_equal(parsed.uri, direct.uri));
    assert_true(slice_equal(parsed.space, direct.space));
    assert_int_equal(parsed.dataset_count, 1);
    const struct dataset *one = &parsed.datasets[0], *other = &direct.datasets[0];
    assert_true(slice_equal(one->uri, other->uri));
    assert_true(slice_equal(one->label, other->label));
    assert_int_equal(one->line, other->line);
    assert_int_equal(one->access_count, 4);
    assert_int_equal(other->access_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(one->accesses[i].kind, other->accesses[i].kind);
        assert_int_equal(one->accesses[i].slicing, other->accesses[i].slicing);
        assert_true(slice_equal(one->accesses[i].uri, other->accesses[i].uri));
    }
    for (size_t n = 0; n < answer.reply.length; n++) { /* cut anywhere it is none */
        struct description cut;
        assert_false(
            parsed_description_decode(slice_of(answer.reply.data, n), SITEMAP_URI, &arena, &cut));
    }
    buf_release(&answer.reply);
    arena_release(&arena);
}

/* A sitemap that describes datasets is read again for that; others, which only look so, are not. */
static void
sitemaps_that_describe_datasets_are_told(void **state)
{
    const struct {
        struct slice bytes;
        bool looked_for, describes;
    } cases[] = {
        {SLICE(described), true, true},
        {SLICE(described), false, false},
        {SLICE("<urlset><url><loc>http://a.example/dataset/1</loc></url></urlset>"), true, false},
        {SLICE("<urlset xmlns:sc='http://sw.deri.org/2007/07/sitemapextension'><url><loc>/a</loc>"
               "</url></urlset>"),
         true, false},
        {SLICE("<urlset><url><loc>/a</loc></url></urlset>"), true, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct parser_request request = {.verb = PARSER_SITEMAP,
                                               .uri = SITEMAP_URI,
                                               .bytes = cases[i].bytes,
                                               .named = true,
                                               .described = cases[i].looked_for};
        struct parsed_sitemap sitemap;
        struct answer answer;
        ask(&request, &answer);
        assert_int_equal(answer.status, STATUS_OK);
        assert_true(parsed_sitemap_decode(buf_slice(&answer.reply), &sitemap));
        assert_int_equal(sitemap.describes, cases[i].describes);
        buf_release(&answer.reply);
    }
}

/* A worker that was taken over says what it likes. */
static void
what_a_worker_says_is_checked(void **state)
{
    struct arena arena;
    struct description description;
    struct answer answer;
    unsigned taken = 0;
    (void)state;
    const struct parser_request request = {
        .verb = PARSER_DESCRIPTION, .uri = SITEMAP_URI, .bytes = SLICE(described)};
    ask(&request, &answer);
    assert_int_equal(answer.status, STATUS_OK);
    for (size_t at = 0; at < answer.reply.length; at++) {
        const char before = answer.reply.data[at];
        for (int value = 0; value < 256; value += 5) {
            answer.reply.data[at] = (char)value;
            arena_init(&arena, 1 << 20);
            if (parsed_description_decode(buf_slice(&answer.reply), SITEMAP_URI, &arena,
                                          &description)) {
                taken++;
                assert_true(slice_is(description.space, "http://a.example/"));
                for (size_t i = 0; i < description.dataset_count; i++) {
                    const struct slice uri = description.datasets[i].uri;
                    assert_int_equal(slice_find(uri, '\n'), uri.length);
                }
            }
            arena_release(&arena);
        }
        answer.reply.data[at] = before;
    }
    assert_true(taken > 0); /* a changed letter is no fault */
    buf_release(&answer.reply);
}

#define VOID "http://rdfs.org/ns/void#"
#define TYPE "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"

/* Those in RDF, of a page that was transformed. */
static void
descriptions_by_rdf_come_as_they_are_read(void **state)
{
    static const struct {
        const char *quads, *problem;
    } cases[] = {
        {"<http://a.example/d> " TYPE " <" VOID "Dataset> .\n"
         "<http://a.example/d> <" VOID "dataDump> <http://a.example/d.nt> .\n",
         NULL},
        {"<http://a.example/d> " TYPE " <" VOID "Dataset> .\n",
         "it offers neither dumps nor endpoints"},
        {"<http://a.example/d> <http://a.example/p> \"o\" .\n", "it does not speak of datasets"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct description description;
        struct answer answer;
        struct arena arena;
        const struct parser_request request = {.verb = PARSER_DESCRIPTION,
                                               .uri = SITEMAP_URI,
                                               .rdf = true,
                                               .bytes = slice_string(cases[i].quads)};
        ask(&request, &answer);
        arena_init(&arena, 1 << 20);
        if (cases[i].problem == NULL) {
            assert_int_equal(answer.status, STATUS_OK);
            assert_true(parsed_description_decode(buf_slice(&answer.reply), SITEMAP_URI, &arena,
                                                  &description));
            assert_true(description.rdf);
            assert_int_equal(description.dataset_count, 1);
            assert_int_equal(description.datasets[0].access_count, 1);
            assert_true(slice_is(description.datasets[0].accesses[0].uri, "http://a.example/d.nt"));
        } else {
            assert_int_equal(answer.status, STATUS_BAD_INPUT);
            assert_string_equal(answer.why, cases[i].problem);
            assert_int_equal(answer.reply.length, 0);
        }
        arena_release(&arena);
        buf_release(&answer.reply);
    }
}

/* A worker does nothing with fields that are cut or too many, and knows no other requests. */
static void
malformed_requests_are_refused(void **state)
{
    static const struct slice requests[] = {
        {"", 0},
        {"\005ab", 3},
        {"\000", 1},
        {"\001\377", 2},
        {"\014\000\000\000\000\000\000\000\000\000\000\000\000", 13},
    };
    (void)state;
    for (uint8_t verb = 0; verb <= PARSER_PAGE + 1; verb++) {
        for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
            struct reason why = {""};
            struct buf reply;
            bool died = true;
            buf_init(&reply, 1 << 16);
            assert_int_equal(worker_call(fetch_parser_pool(parser), SANDBOX_PARSER, verb,
                                         &requests[i], 1, &reply, &died, &why),
                             STATUS_PROTOCOL);
            assert_false(died);
            buf_release(&reply);
        }
    }
}

/* ---- endpoints ---- */

static void
pages_of_endpoints_come_as_they_are_read(void **state)
{
    static const char rows[] = "<http://a.example/r/2> <http://p> \"b\" .\n"
                               "<http://a.example/r/1> <http://p> _:x .\n"
                               "<http://b.example/> <http://p> \"other\" .\n";
    struct slice_space space = {.prefix = SLICE("http://a.example/r/")};
    const struct execution execution = {.spaces = &space, .space_count = 1};
    const struct harvest_position position = {.number = 3};
    struct harvest_page page;
    struct answer answer;
    (void)state;
    struct parser_request request = {
        .verb = PARSER_PAGE, .bytes = SLICE(rows), .execution = &execution, .position = &position};
    ask(&request, &answer);
    assert_int_equal(answer.status, STATUS_OK);
    harvest_page_init(&page);
    assert_true(parsed_page_decode(buf_slice(&answer.reply), &page));
    assert_int_equal(page.triples, 2);
    assert_int_equal(page.resources, 2);
    assert_true(page.deeper);
    assert_true(slice_is(page.last, "http://a.example/r/2"));
    assert_true(slice_find_slice(buf_slice(&page.text), SLICE("_:p3.x")) < page.text.length);
    const size_t fields = answer.reply.length - page.text.length;
    harvest_page_release(&page);
    for (size_t length = 0; length <= fields;
         length++) { /* none is believed whose fields are cut */
        harvest_page_init(&page);
        assert_int_equal(parsed_page_decode(slice_of(answer.reply.data, length), &page),
                         length == fields);
        harvest_page_release(&page);
    }
    harvest_page_init(&page);
    page.text.maximum = answer.reply.length - fields - 1;
    assert_false(parsed_page_decode(buf_slice(&answer.reply), &page));
    harvest_page_release(&page);
    buf_release(&answer.reply);
    request.bytes = SLICE("<html>");
    ask(&request, &answer);
    assert_int_equal(answer.status, STATUS_BAD_INPUT);
    buf_release(&answer.reply);
    request.verb = PARSER_COUNT;
    request.bytes = SLICE("n\r\n42\r\n");
    ask(&request, &answer);
    assert_int_equal(parsed_count(buf_slice(&answer.reply)), 42);
    buf_release(&answer.reply);
}

/* Who gives back what he never had does no harm. */
static void
what_never_was_is_let_go(void **state)
{
    (void)state;
    fetch_parser_close(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sitemaps_are_parsed_whatever_their_coding),
        cmocka_unit_test(encodings_are_known_in_the_sandbox),
        cmocka_unit_test(pages_are_no_sitemaps),
        cmocka_unit_test(bombs_end_and_harm_no_other),
        cmocka_unit_test(only_so_much_is_decoded),
        cmocka_unit_test(descriptions_come_as_they_are_read),
        cmocka_unit_test(the_well_known_description_is_of_the_host),
        cmocka_unit_test(descriptions_by_rdf_come_as_they_are_read),
        cmocka_unit_test(malformed_requests_are_refused),
        cmocka_unit_test(sitemaps_that_describe_datasets_are_told),
        cmocka_unit_test(what_a_worker_says_is_checked),
        cmocka_unit_test(pages_of_endpoints_come_as_they_are_read),
        cmocka_unit_test(what_never_was_is_let_go),
    };
    return parser_requests_run() +
           cmocka_run_group_tests_name("fetch_parser", tests, set_up, tear_down);
}
