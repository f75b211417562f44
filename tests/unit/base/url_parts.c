/* Parts of URLs (base/url/url.c), row by row: what browsers make of an address, as the URL standard
 * has it, and that a parse without room leaves nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/url/url.h"
#include "base/url/url_text.h"
#include "tests/unit/base/url_parts.h"

enum { ROOM = 1 << 12 };

/* parts: scheme, user name, password, host ("-" before it: there is none), port, path ("~" before
 * it: opaque), query and fragment with their first character. NULL: no URL. */
static const struct {
    const char *input, *base, *parts;
} rows[] = {
    {"http://u:p@h:81/a/./b/../c?q#f", NULL, "http|u|p|h|81|/a/c|?q|#f"},
    {"HTTP://EXAMPLE.org", NULL, "http|||example.org|-1|/||"},
    {"http://h:80/", NULL, "http|||h|-1|/||"},
    {"https://h:443/", NULL, "https|||h|-1|/||"},
    {"ws://h:80/", NULL, "ws|||h|-1|/||"},
    {"wss://h:443", NULL, "wss|||h|-1|/||"},
    {"ftp://h:21/x", NULL, "ftp|||h|-1|/x||"},
    {"ftp://h:22/x", NULL, "ftp|||h|22|/x||"},
    {"wss://h:80/", NULL, "wss|||h|80|/||"},
    {"http://h:0/", NULL, "http|||h|0|/||"},
    {"http://h:65535/", NULL, "http|||h|65535|/||"},
    {"http://h:65536/", NULL, NULL},
    {"http://h:1x/", NULL, NULL},
    {"http://h:/", NULL, "http|||h|-1|/||"},
    {"http://h:/:", NULL, "http|||h|-1|/:||"},
    {"http://h:9/", NULL, "http|||h|9|/||"},
    {"http://h: /", NULL, NULL},
    {"http://u@h/", NULL, "http|u||h|-1|/||"},
    {"http://:p@h/", NULL, "http||p|h|-1|/||"},
    {"http://u:@h/", NULL, "http|u||h|-1|/||"},
    {"http://:@h/", NULL, "http|||h|-1|/||"},
    {"http://@h/", NULL, "http|||h|-1|/||"},
    {"http://a@b@h/", NULL, "http|a%40b||h|-1|/||"},
    {"http://u:p:q@h/", NULL, "http|u|p%3Aq|h|-1|/||"},
    {"http://u@/", NULL, NULL},
    {"http://u@?", NULL, NULL},
    {"http://:p", NULL, NULL},
    {"http://u:p", NULL, NULL},
    {"x://u:pp@h", NULL, "x|u|pp|h|-1|||"},
    {"x://:p@h", NULL, "x||p|h|-1|||"},
    {"x://:pp@h", NULL, "x||pp|h|-1|||"},
    {"http://", NULL, NULL},
    {"http:///", NULL, NULL},
    {"http://?", NULL, NULL},
    {"http:", NULL, NULL},
    {"x://", NULL, "x||||-1|||"},
    {"x:///", NULL, "x||||-1|/||"},
    {"x://:1", NULL, NULL},
    {"x://a<b", NULL, NULL},
    {"x://a%b", NULL, "x|||a%b|-1|||"},
    {"x://h:1", NULL, "x|||h|1|||"},
    {"x://h:0", NULL, "x|||h|0|||"},
    {"x://?q", NULL, "x||||-1||?q|"},
    {"x://#f", NULL, "x||||-1|||#f"},
    {"x://h?q#f", NULL, "x|||h|-1||?q|#f"},
    {"x://h#f?q", NULL, "x|||h|-1|||#f?q"},
    {"x:", NULL, "x|||-|-1|~||"},
    {"x:?", NULL, "x|||-|-1|~|?|"},
    {"x:#", NULL, "x|||-|-1|~||#"},
    {"x:?#", NULL, "x|||-|-1|~|?|#"},
    {"x:a b", NULL, "x|||-|-1|~a b||"},
    {"x:a ?b", NULL, "x|||-|-1|~a%20|?b|"},
    {"x:a #b", NULL, "x|||-|-1|~a%20||#b"},
    {"x:a  ?b", NULL, "x|||-|-1|~a %20|?b|"},
    {"x: ?b", NULL, "x|||-|-1|~%20|?b|"},
    {"x: ", NULL, "x|||-|-1|~||"},
    {"x:a /b", NULL, "x|||-|-1|~a /b||"},
    {"x:?a b'\"", NULL, "x|||-|-1|~|?a%20b'%22|"},
    {"http:?a b'\"", NULL, NULL},
    {"http://h?a b'\"", NULL, "http|||h|-1|/|?a%20b%27%22|"},
    {"http://h#a b`", NULL, "http|||h|-1|/||#a%20b%60"},
    {"x:y#a b`", NULL, "x|||-|-1|~y||#a%20b%60"},
    {"x:/a", NULL, "x|||-|-1|/a||"},
    {"x:/", NULL, "x|||-|-1|/||"},
    {"x:/.//a", NULL, "x|||-|-1|//a||"},
    {"x:/..//a", NULL, "x|||-|-1|//a||"},
    {"x:/.//", NULL, "x|||-|-1|//||"},
    {"x:/a/..//b", NULL, "x|||-|-1|//b||"},
    {"x://h//a", NULL, "x|||h|-1|//a||"},
    {"x:/./a", NULL, "x|||-|-1|/a||"},
    {"x:/a/.", NULL, "x|||-|-1|/a/||"},
    {"x:/a/..", NULL, "x|||-|-1|/||"},
    {"x:/a/b/..", NULL, "x|||-|-1|/a/||"},
    {"x:/a/b/../", NULL, "x|||-|-1|/a/||"},
    {"x:/a/%2e%2E/b", NULL, "x|||-|-1|/b||"},
    {"x:/a\\b", NULL, "x|||-|-1|/a\\b||"},
    {"http:\\\\h\\a\\b", NULL, "http|||h|-1|/a/b||"},
    {"http:/h", NULL, "http|||h|-1|/||"},
    {"http:h", NULL, "http|||h|-1|/||"},
    {"http:////h//a", NULL, "http|||h|-1|//a||"},
    {"http://h/a//../b", NULL, "http|||h|-1|/a/b||"},
    {"http://h/../a", NULL, "http|||h|-1|/a||"},
    {"http://h/..", NULL, "http|||h|-1|/||"},
    {"http://h/a/..?q", NULL, "http|||h|-1|/|?q|"},
    {"a:b", NULL, "a|||-|-1|~b||"},
    {"a1+-.:b", NULL, "a1+-.|||-|-1|~b||"},
    {"1a:b", NULL, NULL},
    {":b", NULL, NULL},
    {"a", NULL, NULL},
    {"", NULL, NULL},
    {"#f", NULL, NULL},
    {"?q", NULL, NULL},
    {"//h", NULL, NULL},
    {"file:", NULL, "file||||-1|/||"},
    {"file:/", NULL, "file||||-1|/||"},
    {"file://", NULL, "file||||-1|/||"},
    {"file:///", NULL, "file||||-1|/||"},
    {"file:///a", NULL, "file||||-1|/a||"},
    {"file:a", NULL, "file||||-1|/a||"},
    {"file:?q", NULL, "file||||-1|/|?q|"},
    {"file:#f", NULL, "file||||-1|/||#f"},
    {"file:/a/b", NULL, "file||||-1|/a/b||"},
    {"file://h/a", NULL, "file|||h|-1|/a||"},
    {"file://localhost/a", NULL, "file||||-1|/a||"},
    {"file://LOCALHOST", NULL, "file||||-1|/||"},
    {"file://h", NULL, "file|||h|-1|/||"},
    {"file://h?q", NULL, "file|||h|-1|/|?q|"},
    {"file://h#f", NULL, "file|||h|-1|/||#f"},
    {"file://h\\a", NULL, "file|||h|-1|/a||"},
    {"file:\\\\h\\a", NULL, "file|||h|-1|/a||"},
    {"file:\\a", NULL, "file||||-1|/a||"},
    {"file:\\/h", NULL, "file|||h|-1|/||"},
    {"file:c:/a", NULL, "file||||-1|/c:/a||"},
    {"file:/c:/a", NULL, "file||||-1|/c:/a||"},
    {"file:/c|/a", NULL, "file||||-1|/c:/a||"},
    {"file://c:/a", NULL, "file||||-1|/c:/a||"},
    {"file://c|/a", NULL, "file||||-1|/c:/a||"},
    {"file:///c|/a", NULL, "file||||-1|/c:/a||"},
    {"file:///c:/..", NULL, "file||||-1|/c:/||"},
    {"file:///c:/../a", NULL, "file||||-1|/c:/a||"},
    {"file:///c:/a/../..", NULL, "file||||-1|/c:/||"},
    {"file:///c:", NULL, "file||||-1|/c:||"},
    {"file:///c:a/..", NULL, "file||||-1|/||"},
    {"file:///a/c|/..", NULL, "file||||-1|/a/||"},
    {"file:c|", NULL, "file||||-1|/c:||"},
    {"file://c|", NULL, "file||||-1|/c:||"},
    {"file://c|?q", NULL, "file||||-1|/c:|?q|"},
    {"file:///cd:/..", NULL, "file||||-1|/||"},
    {"file:///c:/..//", NULL, "file||||-1|/c://||"},
    {"file:////a", NULL, "file||||-1|//a||"},
    {"file:/.//a", NULL, "file||||-1|//a||"},
    {"file://h:1/a", NULL, NULL},
    {"file://u@h/a", NULL, NULL},
    {"file:///c:/d/..", NULL, "file||||-1|/c:/||"},
    {"file:///c:/d/../../e", NULL, "file||||-1|/c:/e||"},
    {"x", "file:///a/b", "file||||-1|/a/x||"},
    {"x", "file://h/a/b", "file|||h|-1|/a/x||"},
    {"/x", "file://h/a/b", "file|||h|-1|/x||"},
    {"/x", "file:///c:/a/b", "file||||-1|/c:/x||"},
    {"/x", "file:///c:", "file||||-1|/c:/x||"},
    {"/x", "file:///c:d/b", "file||||-1|/x||"},
    {"/x", "file:///cd/b", "file||||-1|/x||"},
    {"/x", "file:///c:/", "file||||-1|/c:/x||"},
    {"/", "file:///c:/a", "file||||-1|/c:/||"},
    {"x", "file:///c:/a/b", "file||||-1|/c:/a/x||"},
    {"..", "file:///c:/", "file||||-1|/c:/||"},
    {"d:/x", "file:///c:/a/b", "d|||-|-1|/x||"},
    {"d|/x", "file:///c:/a/b", "file||||-1|/d:/x||"},
    {"/d:/x", "file:///c:/a/b", "file||||-1|/d:/x||"},
    {"/d|", "file:///c:/a", "file||||-1|/d:||"},
    {"//i/x", "file://h/a", "file|||i|-1|/x||"},
    {"///x", "file://h/a", "file||||-1|/x||"},
    {"?q", "file://h/a?b#c", "file|||h|-1|/a|?q|"},
    {"#q", "file://h/a?b#c", "file|||h|-1|/a|?b|#q"},
    {"", "file://h/a?b#c", "file|||h|-1|/a|?b|"},
    {"file:x", "file://h/a/b", "file|||h|-1|/a/x||"},
    {"file:/x", "file://h/a/b", "file|||h|-1|/x||"},
    {"file:", "file://h/a?b", "file|||h|-1|/a|?b|"},
    {"file:x", "http://h/a/b", "file||||-1|/x||"},
    {"/x", "file:///a", "file||||-1|/x||"},
    {"c|", "file:///a/b", "file||||-1|/c:||"},
    {"c|x", "file:///a/b", "file||||-1|/a/c|x||"},
    {"../..", "file:///c:/a/b", "file||||-1|/c:/||"},
    {"/c:", "file:///", "file||||-1|/c:||"},
    {"file:", "x:y", "file||||-1|/||"},
    {"file:/", "x:y", "file||||-1|/||"},
    {"/x", "file:///c|/a", "file||||-1|/c:/x||"},
    {"?x", "file:///c:/a", "file||||-1|/c:/a|?x|"},
    {"x", "http://u:p@h:81/a/b?q#f", "http|u|p|h|81|/a/x||"},
    {"/x", "http://u:p@h:81/a/b?q#f", "http|u|p|h|81|/x||"},
    {"//i", "http://u:p@h:81/a/b?q#f", "http|||i|-1|/||"},
    {"\\\\i\\y", "http://u:p@h:81/a/b?q#f", "http|||i|-1|/y||"},
    {"?x", "http://u:p@h:81/a/b?q#f", "http|u|p|h|81|/a/b|?x|"},
    {"?", "http://u:p@h:81/a/b?q#f", "http|u|p|h|81|/a/b|?|"},
    {"#x", "http://u:p@h:81/a/b?q#f", "http|u|p|h|81|/a/b|?q|#x"},
    {"#", "http://u:p@h:81/a/b?q#f", "http|u|p|h|81|/a/b|?q|#"},
    {"", "http://u:p@h:81/a/b?q#f", "http|u|p|h|81|/a/b|?q|"},
    {"../x", "http://u@h/a/b/c", "http|u||h|-1|/a/x||"},
    {"../../../x", "http://:p@h/a/b/c", "http||p|h|-1|/x||"},
    {"./", "http://:p@h/a/b/c", "http||p|h|-1|/a/b/||"},
    {".", "http://h/a/b/c", "http|||h|-1|/a/b/||"},
    {"http:x", "http://h:0/a/b", "http|||h|0|/a/x||"},
    {"http:/x", "http://h:0/a/b", "http|||h|0|/x||"},
    {"http://x", "http://h:0/a/b", "http|||x|-1|/||"},
    {"HTTP:?x", "http://h:0/a/b", "http|||h|0|/a/b|?x|"},
    {"https:x", "http://h/a/b", "https|||x|-1|/||"},
    {"x", "x://h", "x|||h|-1|/x||"},
    {"x", "x://h/a/b", "x|||h|-1|/a/x||"},
    {"/x", "x://h:1/a/b", "x|||h|1|/x||"},
    {"//i/x", "x://h/a/b", "x|||i|-1|/x||"},
    {"x:x", "x://h/a/b", "x|||-|-1|~x||"},
    {"\\x", "x://h/a/b", "x|||h|-1|/a/\\x||"},
    {"///x", "x://h/a", "x||||-1|/x||"},
    {"///x", "http://h/a", "http|||x|-1|/||"},
    {"?", "x://h?q", "x|||h|-1||?|"},
    {"#", "x://h", "x|||h|-1|||#"},
    {"..", "x://h", "x|||h|-1|/||"},
    {"", "x://h?", "x|||h|-1||?|"},
    {"", "http://h/?", "http|||h|-1|/|?|"},
    {"x", "x:/a/b", "x|||-|-1|/a/x||"},
    {"/x", "x:/a/b", "x|||-|-1|/x||"},
    {"//h", "x:/a/b", "x|||h|-1|||"},
    {"..//x", "x:/a", "x|||-|-1|//x||"},
    {"?q", "x:/.//a", "x|||-|-1|//a|?q|"},
    {"#q", "x:/.//a?b", "x|||-|-1|//a|?b|#q"},
    {"", "x:/.//a?b", "x|||-|-1|//a|?b|"},
    {"b", "x:/.//a", "x|||-|-1|//b||"},
    {"./", "x:/.//a", "x|||-|-1|//||"},
    {".//b", "x:/", "x|||-|-1|//b||"},
    {"/.//b", "x:/a", "x|||-|-1|//b||"},
    {"..", "x:/a//b", "x|||-|-1|/a/||"},
    {"#f", "x:y", "x|||-|-1|~y||#f"},
    {"x:a #", NULL, "x|||-|-1|~a%20||#"},
    {"x:a ?", NULL, "x|||-|-1|~a%20|?|"},
    {"#f", "x:y?q#e", "x|||-|-1|~y|?q|#f"},
    {"#", "x:y z", "x|||-|-1|~y z||#"},
    {"?q", "x:y", NULL},
    {"a", "x:y", NULL},
    {"", "x:y", NULL},
    {"/a", "x:y", NULL},
    {"x:z", "x:y", "x|||-|-1|~z||"},
    {"#f", "mailto:a@b?c", "mailto|||-|-1|~a@b|?c|#f"},
    {" #f ", "x:y", "x|||-|-1|~y||#f"},
};

static void
describe(const struct url *url, char *text, size_t size)
{
    snprintf(text, size, "%.*s|%.*s|%.*s|%s%.*s|%d|%s%.*s|%s%.*s|%s%.*s", SLICE_PRINT(url->scheme),
             SLICE_PRINT(url->username), SLICE_PRINT(url->password), url->has_host ? "" : "-",
             SLICE_PRINT(url->host), url->port, url->opaque_path ? "~" : "", SLICE_PRINT(url->path),
             url->has_query ? "?" : "", SLICE_PRINT(url->query), url->has_fragment ? "#" : "",
             SLICE_PRINT(url->fragment));
}

/* The URL as the standard serialises its parts. */
static void
join(const struct url *url, char *text, size_t size)
{
    char port[16] = "";
    if (url->port >= 0) {
        snprintf(port, sizeof port, ":%d", url->port);
    }
    const bool credentials = url->username.length + url->password.length > 0;
    const bool guarded = !url->has_host && slice_starts(url->path, SLICE("//"));
    snprintf(text, size, "%.*s:%s%.*s%s%.*s%s%.*s%s%s%.*s%s%.*s%s%.*s", SLICE_PRINT(url->scheme),
             url->has_host ? "//" : "", SLICE_PRINT(url->username),
             url->password.length > 0 ? ":" : "", SLICE_PRINT(url->password),
             credentials ? "@" : "", SLICE_PRINT(url->host), port, guarded ? "/." : "",
             SLICE_PRINT(url->path), url->has_query ? "?" : "", SLICE_PRINT(url->query),
             url->has_fragment ? "#" : "", SLICE_PRINT(url->fragment));
}

/* With less room than it needs, or none, nothing is added to what is there. */
static void
check_limit(const char *input, const struct url *base, size_t needed)
{
    struct url url;
    for (size_t room = 0; room < needed; room++) {
        struct buf memory;
        buf_init(&memory, strlen("kept") + room);
        buf_append_string(&memory, "kept");
        assert_int_equal(url_parse(slice_string(input), base, &memory, &url, NULL), STATUS_LIMIT);
        assert_string_equal(memory.data, "kept");
        assert_int_equal(memory.length, strlen("kept"));
        buf_release(&memory);
    }
}

/* The text where memory ends, so that reading past it is seen. */
static struct slice
at_the_end(const char *text)
{
    static char *end;
    if (end == NULL) {
        const size_t page = (size_t)sysconf(_SC_PAGESIZE);
        end = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(end, MAP_FAILED);
        end += page;
        assert_int_equal(mprotect(end, page, PROT_NONE), 0);
    }
    return slice_of(memcpy(end - strlen(text), text, strlen(text)), strlen(text));
}

static void
each_part_is_that_of_the_standard(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf base_memory, memory;
        struct url base = {0}, url = {0};
        char text[512] = "", whole[512];
        buf_init(&base_memory, ROOM);
        buf_init(&memory, ROOM);
        buf_append_string(&memory, "kept");
        const char *from = rows[i].base;
        if (from != NULL) {
            assert_int_equal(url_parse(slice_string(from), NULL, &base_memory, &base, NULL),
                             STATUS_OK);
        }
        const struct url *given = from != NULL ? &base : NULL;
        const enum status status = url_parse(at_the_end(rows[i].input), given, &memory, &url, NULL);
        if (status == STATUS_OK) {
            describe(&url, text, sizeof text);
            join(&url, whole, sizeof whole);
            assert_true(slice_is(url.href, whole));
            assert_ptr_equal(url.href.at, memory.data + strlen("kept"));
            check_limit(rows[i].input, given, url.href.length);
        }
        if (strcmp(text, rows[i].parts != NULL ? rows[i].parts : "") != 0 ||
            (status != STATUS_OK && (status != STATUS_BAD_INPUT || memory.length != 4))) {
            fail_msg("%s from %s is %s, not %s", rows[i].input, from, text, rows[i].parts);
        }
        buf_release(&base_memory);
        buf_release(&memory);
    }
}

static void
refusals_say_what_is_wrong(void **state)
{
    static const struct {
        const char *input, *base, *words;
    } cases[] = {
        {"http://h:x/", NULL, "the port is no number"},
        {"http://h:65536/", NULL, "the port is too large"},
        {"http://u@/", NULL, "credentials without a host"},
        {"http://:1/", NULL, "no host"},
        {"a", NULL, "no scheme, and no base to resolve against"},
        {"a", "x:y", "relative to a base that has no hierarchy"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf memory;
        struct url base, url;
        struct reason why = {""};
        buf_init(&memory, ROOM);
        if (cases[i].base != NULL) {
            assert_int_equal(url_parse(slice_string(cases[i].base), NULL, &memory, &base, NULL),
                             STATUS_OK);
        }
        assert_int_equal(url_parse(slice_string(cases[i].input),
                                   cases[i].base != NULL ? &base : NULL, &memory, &url, &why),
                         STATUS_BAD_INPUT);
        assert_non_null(strstr(why.text, cases[i].words));
        buf_release(&memory);
    }
}

/* Text without them is not copied; other control characters stay. */
static void
newlines_are_taken_out(void **state)
{
    static const struct {
        const char *input, *without;
    } cases[] = {{"", ""},
                 {"ab", "ab"},
                 {"a\rb", "ab"},
                 {"a\nb", "ab"},
                 {"a\tb", "ab"},
                 {"\ra\r", "a"},
                 {"\n\n\n", ""},
                 {"a\vb\fc", "a\vb\fc"},
                 {"\va\r\f", "\va\f"},
                 {"a\016b\nc", "a\016bc"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf copy;
        buf_init(&copy, ROOM);
        const struct slice input = slice_string(cases[i].input);
        const struct slice found = url_without_newlines(input, &copy);
        assert_true(slice_is(found, cases[i].without));
        assert_true((found.at == input.at) == (found.length == input.length));
        buf_release(&copy);
    }
}

static void
schemes_begin_with_a_letter(void **state)
{
    static const struct {
        const char *text;
        size_t length;
    } cases[] = {{"", 0},     {":", 0},   {"a", 0},      {"a:", 1},   {"az09+-.AZ:/x", 9},
                 {"1a:", 0},  {"+a:", 0}, {"-a:", 0},    {".a:", 0},  {"a_b:", 0},
                 {"a/b:", 0}, {"a;:", 0}, {"a\x7f:", 0}, {"a b:", 0}, {"a,b:", 0},
                 {"a@b:", 0}, {"a[:", 0}, {"a`:", 0},    {"a{:", 0},  {"a:b:", 1}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(url_scheme_length(slice_string(cases[i].text)), cases[i].length);
    }
    assert_int_equal(url_scheme_length(slice_of("a:", 1)), 0); /* what is behind it is not read */
}

int
url_parts_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_part_is_that_of_the_standard),
        cmocka_unit_test(refusals_say_what_is_wrong),
        cmocka_unit_test(newlines_are_taken_out),
        cmocka_unit_test(schemes_begin_with_a_letter),
    };
    return cmocka_run_group_tests_name("url parts", tests, NULL, NULL);
}
