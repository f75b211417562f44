#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/url/url.h"
#include "tests/unit/base/url_parts.h"

enum { ROOM = 1 << 16 };

static void
check_resolve(const char *base, const char *reference, const char *expected)
{
    struct buf out;
    buf_init(&out, ROOM);
    const enum status status = iri_resolve(slice_string(base), slice_string(reference), &out, NULL);
    assert_string_equal(status == STATUS_OK ? out.data : status_name(status), expected);
    assert_true(status != STATUS_OK || out.length == strlen(out.data));
    buf_release(&out);
}

static void
references_resolve_as_in_rfc_3986(void **state)
{
    (void)state;
    check_resolve("http://a/b/c/d;p?q", "../../../g", "http://a/g");
    check_resolve("http://a/b/c/d;p?q", "g;x=1/../y", "http://a/b/c/y");
    check_resolve("http://a/b/c/d;p?q", "http:g", "http:g");
    check_resolve("http://a/b/c/d;p?q", "", "http://a/b/c/d;p?q");
    check_resolve("http://a/b/c/d;p?q", "#s", "http://a/b/c/d;p?q#s");
    check_resolve("http://a", "b", "http://a/b");
    check_resolve("http://a?q", "b", "http://a/b");
    check_resolve("urn:a:b", "#c", "urn:a:b#c");
    check_resolve("file:/a/b", "/..//c", "file:/.//c");
    check_resolve("http://é/ü/x", "./ö", "http://é/ü/ö");
    check_resolve("", "x:y", "x:y");
    check_resolve("a/b", "c", "BAD_INPUT");
    check_resolve("", "", "BAD_INPUT");
}

/* RFC 3986, 5.4, beside the base http://a/b/c/d;p?q. */
static void
examples_of_the_rfc(void **state)
{
    static const char *const rows[][2] = {
        {"g:h", "g:h"},
        {"g", "http://a/b/c/g"},
        {"./g", "http://a/b/c/g"},
        {"g/", "http://a/b/c/g/"},
        {"/g", "http://a/g"},
        {"//g", "http://g"},
        {"?y", "http://a/b/c/d;p?y"},
        {"g?y", "http://a/b/c/g?y"},
        {"#s", "http://a/b/c/d;p?q#s"},
        {"g#s", "http://a/b/c/g#s"},
        {"g?y#s", "http://a/b/c/g?y#s"},
        {";x", "http://a/b/c/;x"},
        {"g;x?y#s", "http://a/b/c/g;x?y#s"},
        {"", "http://a/b/c/d;p?q"},
        {".", "http://a/b/c/"},
        {"./", "http://a/b/c/"},
        {"..", "http://a/b/"},
        {"../", "http://a/b/"},
        {"../g", "http://a/b/g"},
        {"../..", "http://a/"},
        {"../../", "http://a/"},
        {"../../../../g", "http://a/g"},
        {"/./g", "http://a/g"},
        {"/../g", "http://a/g"},
        {"g.", "http://a/b/c/g."},
        {".g", "http://a/b/c/.g"},
        {"g..", "http://a/b/c/g.."},
        {"..g", "http://a/b/c/..g"},
        {"./../g", "http://a/b/g"},
        {"./g/.", "http://a/b/c/g/"},
        {"g/./h", "http://a/b/c/g/h"},
        {"g/../h", "http://a/b/c/h"},
        {"g;x=1/./y", "http://a/b/c/g;x=1/y"},
        {"g?y/../x", "http://a/b/c/g?y/../x"},
        {"g#s/../x", "http://a/b/c/g#s/../x"},
        {"?", "http://a/b/c/d;p?"},
        {"#", "http://a/b/c/d;p?q#"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_resolve("http://a/b/c/d;p?q", rows[i][0], rows[i][1]);
    }
}

/* A path that nothing stands before may begin with dots; they go. */
static void
dots_at_the_front_of_a_path_go(void **state)
{
    static const char *const rows[][2] = {
        {"../g", "x:g"},      {"./g", "x:g"},       {"../../g", "x:g"}, {".././g", "x:g"},
        {".", "x:"},          {"..", "x:"},         {"../..", "x:"},    {"./.", "x:"},
        {"...", "x:..."},     {".../g", "x:.../g"}, {"..g", "x:..g"},   {"../g/..", "x:/"},
        {"g/../h", "x:/h"},   {".//g", "x:/g"},     {"/a", "x:/a"},     {"./", "x:"},
        {"/.//g", "x:/.//g"}, {"/.//", "x:/.//"},   {"//g", "x://g"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_resolve("x:a", rows[i][0], rows[i][1]);
    }
    check_resolve("x:a/b", "g", "x:a/g");
    check_resolve("x:a/b", "../g", "x:/g");
    check_resolve("x://h", "g", "x://h/g");
    check_resolve("x://h?q#f", "", "x://h?q");
}

static void
a_result_that_is_too_long_leaves_nothing(void **state)
{
    static const char result[] = "keephttp://a/bcdef";
    (void)state;
    for (size_t maximum = 4; maximum < sizeof result; maximum++) {
        struct buf out;
        struct reason why = {""};
        char expected[64];
        const bool whole = maximum == sizeof result - 1;
        buf_init(&out, maximum);
        buf_append_string(&out, "keep");
        assert_int_equal(iri_resolve(SLICE("http://a/"), SLICE("bcdef"), &out, &why),
                         whole ? STATUS_OK : STATUS_LIMIT);
        assert_string_equal(out.data, whole ? result : "keep");
        assert_int_equal(out.length, strlen(out.data));
        snprintf(expected, sizeof expected, "resolved IRI is longer than %zu bytes", maximum);
        assert_string_equal(why.text, whole ? "" : expected);
        buf_release(&out);
    }
    struct buf none;
    buf_init(&none, 0);
    assert_int_equal(iri_resolve(SLICE("http://a/"), SLICE("b"), &none, NULL), STATUS_LIMIT);
    buf_release(&none);
}

static void
bases_must_be_absolute(void **state)
{
    struct buf out;
    struct reason why = {""};
    (void)state;
    buf_init(&out, ROOM);
    assert_int_equal(iri_resolve(SLICE("a/b"), SLICE("c"), &out, &why), STATUS_BAD_INPUT);
    assert_string_equal(why.text, "base IRI is not absolute: no scheme");
    assert_int_equal(iri_resolve(SLICE(""), SLICE("c"), &out, &why), STATUS_BAD_INPUT);
    assert_string_equal(why.text, "base IRI is not absolute: none given");
    assert_int_equal(out.length, 0);
    buf_release(&out);
}

static void
absolute_iris_are_told_from_others(void **state)
{
    (void)state;
    assert_true(iri_is_absolute(SLICE("http://é.example/{")) == false);
    assert_true(iri_is_absolute(SLICE("http://é.example/ü")));
    assert_true(iri_is_absolute(SLICE("urn:x")));
    assert_false(iri_is_absolute(SLICE("//a/b")));
    assert_false(iri_is_absolute(SLICE("1a:b")));
    assert_false(iri_is_absolute(SLICE("a b:c")));
    assert_false(iri_is_absolute(SLICE("a:b c")));
    assert_false(iri_is_absolute(SLICE("")));
}

static void
check_key(const char *input, const char *base, const char *expected)
{
    struct buf out;
    buf_init(&out, ROOM);
    const enum status status = url_crawl_key(slice_string(input), slice_string(base), &out, NULL);
    assert_string_equal(status == STATUS_OK ? out.data : status_name(status), expected);
    buf_release(&out);
}

static void
crawl_keys_have_one_spelling(void **state)
{
    (void)state;
    check_key(" HTTP://User:pw@EXAMPLE.org:80/a/../b c?d#e ", "", "http://example.org/b%20c?d");
    check_key("../x", "https://e.org/a/b/c", "https://e.org/a/x");
    check_key("//e.org./", "https://a/", "https://e.org/");
    check_key("http://e.org/%7ea%2f%c3%bc|[]^", "", "http://e.org/~a%2F%C3%BC%7C%5B%5D%5E");
    check_key("http://e.org/100%", "", "http://e.org/100%25");
    check_key("http://bücher.example/", "", "http://xn--bcher-kva.example/");
    check_key("http://0x7f.1/", "", "http://127.0.0.1/");
    check_key("https:\\\\e.org\\a", "", "https://e.org/a");
    check_key("http://e.org?", "", "http://e.org/?");
    check_key("mailto:a@b", "", "UNSUPPORTED");
    check_key("http://", "", "BAD_INPUT");
    check_key("http://a..b/", "", "BAD_INPUT");
    check_key("http://a{b/", "", "BAD_INPUT");
    check_key("x", "", "BAD_INPUT");
}

/* Names that are written as they stand are told from those that are read as numbers or mapped. */
static void
hosts_and_ports_have_one_spelling(void **state)
{
    (void)state;
    check_key("http://a.1.example:0/", "", "http://a.1.example:0/");
    check_key("http://1.2.3/", "", "http://1.2.0.3/");
    check_key("http://a.0x10./", "", "BAD_INPUT");
    check_key("http://a.09/", "", "BAD_INPUT");
    check_key("http://a.9b/", "", "http://a.9b/");
    check_key("http://a_b.example:65535/", "", "http://a_b.example:65535/");
    check_key("http://a-.x%41:8080/", "", "http://a-.xa:8080/");
    check_key("https://e.org:443/", "", "https://e.org/");
    check_key("http://e.org:443/", "", "http://e.org:443/");
    check_key("http://e.org:65536/", "", "BAD_INPUT");
    check_key("//f.org/", "http://e.org:81/", "http://f.org/");
    check_key("a%2", "http://e.org:81/b/c", "http://e.org:81/b/a%252");
}

/* Numbers of one part less than the address has take the rest of it; zeros are left out once, the
 * longest run of them. */
static void
addresses_have_one_spelling(void **state)
{
    static const char *const rows[][2] = {
        {"1.2.3.255", "1.2.3.255"},
        {"1.2.3.256", NULL},
        {"1.2.65535", "1.2.255.255"},
        {"1.2.65536", NULL},
        {"1.16777215", "1.255.255.255"},
        {"1.16777216", NULL},
        {"4294967295", "255.255.255.255"},
        {"4294967296", NULL},
        {"255.2.3.4", "255.2.3.4"},
        {"256.2.3.4", NULL},
        {"1.256.3.4", NULL},
        {"1.2.256.4", NULL},
        {"1.2.3.4.5", NULL},
        {"1..3.4", NULL},
        {"1.2.3.4.", "1.2.3.4"},
        {"0x7f.1", "127.0.0.1"},
        {"0300.0250.1", "192.168.0.1"},
        {"[::]", "[::]"},
        {"[0:0:0:0:0:0:0:1]", "[::1]"},
        {"[1:0:0:0:0:0:0:0]", "[1::]"},
        {"[1:0:0:2:0:0:0:3]", "[1:0:0:2::3]"},
        {"[1:0:0:2:3:0:0:4]", "[1::2:3:0:0:4]"},
        {"[1:0:2:3:4:5:6:7]", "[1:0:2:3:4:5:6:7]"},
        {"[1:2:3:4:5:6:0:0]", "[1:2:3:4:5:6::]"},
        {"[2001:DB8::a:0]", "[2001:db8::a:0]"},
        {"[::1.2.3.4]", "[::102:304]"},
        {"[::1.2.3.256]", NULL},
        {"[::1.2.3.255]", "[::102:3ff]"},
        {"[::1.2.3.0]", "[::102:300]"},
        {"[::1.2.3.04]", NULL},
        {"[::1.2.3.1000]", NULL},
        {"[::1.2.3.a]", NULL},
        {"[::1.2.3./]", NULL},
        {"[::1.2..4]", NULL},
        {"[::1.2.3.4.]", NULL},
        {"[::1.2.3.4.5]", NULL},
        {"[::1.2.3]", NULL},
        {"[1::2::3]", NULL},
        {"[::1::2]", NULL},
        {"[1:2:3:4:5:6:1.2.3.4]", "[1:2:3:4:5:6:102:304]"},
        {"[1:2:3:4:5:6:7:1.2.3.4]", NULL},
        {"[::.1.2.3]", NULL},
        {"[::g]", NULL},
        {"[1:2:3:4:5:6:7]", NULL},
        {"[1:2:3:4:5:6:7:8:9]", NULL},
        {"[1:2:3:4:5:6:7::8]", NULL},
        {"[::12345]", NULL},
        {"[1:2:3:4:5:6:7:]", NULL},
        {"[:1]", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char input[64], expected[64] = "BAD_INPUT";
        snprintf(input, sizeof input, "http://%s/", rows[i][0]);
        if (rows[i][1] != NULL) {
            snprintf(expected, sizeof expected, "http://%s/", rows[i][1]);
        }
        check_key(input, "", expected);
    }
}

/* A base is used by what is not absolute, also when that begins with the base's scheme. */
static void
absolute_links_need_no_base(void **state)
{
    (void)state;
    check_key(" HTTPS://f.org/x", "http://e.org/a/b", "https://f.org/x");
    check_key("http:x", "http://e.org/a/b", "http://e.org/a/x");
    check_key("http:/x", "http://e.org/a/b", "http://e.org/x");
    check_key("ht\ntp:/\t/f.org/x", "http://e.org/a/b", "http://f.org/x");
    check_key("http:///f.org/x", "http://e.org/a/b", "http://f.org/x");
}

static void
long_urls_are_limited(void **state)
{
    char text[URL_MAXIMUM + 1];
    (void)state;
    memset(text, 'a', URL_MAXIMUM);
    text[URL_MAXIMUM] = '\0';
    memcpy(text, "http://e.org/", 13);
    check_key(text, "", text);
    text[URL_MAXIMUM / 2] = ' ';
    check_key(text, "", "LIMIT");
}

static void
parts_of_keys_are_found(void **state)
{
    const struct slice key = SLICE("http://e.org:8080/a?b");
    (void)state;
    assert_true(slice_is(url_origin(key), "http://e.org:8080"));
    assert_true(slice_is(url_host(key), "e.org"));
    assert_true(slice_is(url_path_query(key), "/a?b"));
    assert_true(slice_is(url_host(SLICE("https://[::1]:9/")), "[::1]"));
    assert_true(slice_is(url_host(SLICE("https://[::1]/")), "[::1]"));
    assert_true(slice_is(url_origin(SLICE("https://e.org/")), "https://e.org"));
    assert_true(url_host_is_address(SLICE("127.0.0.1")));
    assert_true(url_host_is_address(SLICE("[::1]")));
    assert_false(url_host_is_address(SLICE("1.example")));
    assert_true(slice_is(url_registrable_domain(SLICE("a.b.co.uk")), "b.co.uk"));
    assert_true(slice_is(url_registrable_domain(SLICE("co.uk")), "co.uk"));
    assert_true(slice_is(url_registrable_domain(SLICE("10.0.0.1")), "10.0.0.1"));
}

/* What a reference does not say is its base's: who asks, whom, on which port. */
static void
references_keep_the_authority_of_their_base(void **state)
{
    static const struct {
        const char *reference, *href, *username, *password;
        int port;
    } rows[] = {
        {"x", "http://u:p@h:81/a/x", "u", "p", 81},    {"/x", "http://u:p@h:81/x", "u", "p", 81},
        {"?x", "http://u:p@h:81/a/b?x", "u", "p", 81}, {"", "http://u:p@h:81/a/b?q", "u", "p", 81},
        {"//i/x", "http://i/x", "", "", -1},
    };
    struct buf base_memory, memory;
    struct url base, url;
    (void)state;
    buf_init(&base_memory, ROOM);
    buf_init(&memory, ROOM);
    assert_int_equal(url_parse(SLICE("http://u:p@h:81/a/b?q#f"), NULL, &base_memory, &base, NULL),
                     STATUS_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        buf_reset(&memory);
        assert_int_equal(url_parse(slice_string(rows[i].reference), &base, &memory, &url, NULL),
                         STATUS_OK);
        assert_true(slice_is(url.href, rows[i].href));
        assert_true(slice_is(url.username, rows[i].username));
        assert_true(slice_is(url.password, rows[i].password));
        assert_int_equal(url.port, rows[i].port);
    }
    buf_release(&base_memory);
    buf_release(&memory);
}

static void
the_standard_parser_repairs_what_people_write(void **state)
{
    struct buf memory;
    struct url url;
    (void)state;
    buf_init(&memory, ROOM);
    assert_int_equal(url_parse(SLICE("ht\ntp://u:p@h:81/p?q#f"), NULL, &memory, &url, NULL),
                     STATUS_OK);
    assert_true(slice_is(url.href, "http://u:p@h:81/p?q#f"));
    assert_true(slice_is(url.username, "u"));
    assert_true(slice_is(url.password, "p"));
    assert_true(slice_is(url.host, "h"));
    assert_int_equal(url.port, 81);
    assert_true(slice_is(url.path, "/p"));
    assert_true(slice_is(url.query, "q"));
    assert_true(slice_is(url.fragment, "f"));
    buf_release(&memory);
}

/* Bytes that are no UTF-8: each longest beginning of a character is one replacement character. */
static void
bytes_of_paths_are_read_as_utf8(void **state)
{
    static const struct {
        const char *bytes, *expected;
    } rows[] = {
        {"\xc2\x80", "%C2%80"},
        {"\xdf\xbf", "%DF%BF"},
        {"\xc3\xa9", "%C3%A9"},
        {"\xc1\x81", "%EF%BF%BD%EF%BF%BD"},
        {"\xc3", "%EF%BF%BD"},
        {"\xc3"
         "a",
         "%EF%BF%BDa"},
        {"\xe0\xa0\x80", "%E0%A0%80"},
        {"\xe0\x9f\xbf", "%EF%BF%BD%EF%BF%BD%EF%BF%BD"},
        {"\xe2", "%EF%BF%BD"},
        {"\xe2\x82", "%EF%BF%BD"},
        {"\xe2\x82"
         "a",
         "%EF%BF%BDa"},
        {"\xe2\xc3\xa9", "%EF%BF%BD%C3%A9"},
        {"\xed\x9f\xbf", "%ED%9F%BF"},
        {"\xed\xa0\x80", "%EF%BF%BD%EF%BF%BD%EF%BF%BD"},
        {"\xee\x80\x80", "%EE%80%80"},
        {"\xef\xbf\xbf", "%EF%BF%BF"},
        {"\xe1\x80\xc0", "%EF%BF%BD%EF%BF%BD"},
        {"\xf0\x90\x80\x80", "%F0%90%80%80"},
        {"\xf0\x8f\xbf\xbf", "%EF%BF%BD%EF%BF%BD%EF%BF%BD%EF%BF%BD"},
        {"\xf0\x9f\x98", "%EF%BF%BD"},
        {"\xf0\x9f\x98"
         "a",
         "%EF%BF%BDa"},
        {"\xf4\x8f\xbf\xbf", "%F4%8F%BF%BF"},
        {"\xf4\x90\x80\x80", "%EF%BF%BD%EF%BF%BD%EF%BF%BD%EF%BF%BD"},
        {"\xf3\xbf\xbf\xbf", "%F3%BF%BF%BF"},
        {"\xf5\x80", "%EF%BF%BD%EF%BF%BD"},
        {"\x80", "%EF%BF%BD"},
        {"\xbf"
         "A",
         "%EF%BF%BDA"},
        {"\xff", "%EF%BF%BD"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char input[64], expected[64];
        struct buf memory;
        struct url url;
        buf_init(&memory, ROOM);
        snprintf(input, sizeof input, "http://h/-%s", rows[i].bytes);
        snprintf(expected, sizeof expected, "/-%s", rows[i].expected);
        assert_int_equal(url_parse(slice_string(input), NULL, &memory, &url, NULL), STATUS_OK);
        assert_true(slice_is(url.path, expected));
        buf_release(&memory);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(references_resolve_as_in_rfc_3986),
        cmocka_unit_test(examples_of_the_rfc),
        cmocka_unit_test(dots_at_the_front_of_a_path_go),
        cmocka_unit_test(a_result_that_is_too_long_leaves_nothing),
        cmocka_unit_test(bases_must_be_absolute),
        cmocka_unit_test(absolute_iris_are_told_from_others),
        cmocka_unit_test(crawl_keys_have_one_spelling),
        cmocka_unit_test(hosts_and_ports_have_one_spelling),
        cmocka_unit_test(addresses_have_one_spelling),
        cmocka_unit_test(absolute_links_need_no_base),
        cmocka_unit_test(long_urls_are_limited),
        cmocka_unit_test(parts_of_keys_are_found),
        cmocka_unit_test(references_keep_the_authority_of_their_base),
        cmocka_unit_test(the_standard_parser_repairs_what_people_write),
        cmocka_unit_test(bytes_of_paths_are_read_as_utf8),
    };
    return cmocka_run_group_tests_name("url", tests, NULL, NULL) + url_parts_run() + url_keys_run();
}
