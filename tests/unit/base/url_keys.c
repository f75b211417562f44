/* Hosts and keys of URLs (base/url/url_host.c, base/url/url_key.c): each character, each way of a
 * host to be none, lengths at their limit, and the keys of FTP. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/ascii.h"
#include "base/url/url.h"
#include "tests/unit/base/url_parts.h"

enum { ROOM = 1 << 16 };

/* ---- hosts ---- */

/* The key of that host, or why there is none. */
static const char *
key_of_host(const char *host)
{
    static char key[4 * URL_MAXIMUM];
    struct buf out, input;
    struct reason why = {""};
    buf_init(&out, ROOM);
    buf_init(&input, 4 * ROOM);
    (void)buf_printf(&input, "http://%s/", host);
    const enum status status = url_crawl_key(buf_slice(&input), SLICE(""), &out, &why);
    snprintf(key, sizeof key, "%s", status == STATUS_OK ? out.data : why.text);
    buf_release(&out);
    buf_release(&input);
    return key;
}

static void
each_character_of_a_host(void **state)
{
    (void)state;
    for (unsigned c = 0; c < 0x80; c++) {
        char host[16], expected[64];
        const bool forbidden = c <= ' ' || c == 0x7f || strchr("#%/:<>?@[\\]^|", (int)c) != NULL;
        const bool no_iri = c != 0 && strchr("\"`{}", (int)c) != NULL;
        snprintf(host, sizeof host, "a%%%02xb", c);
        if (c == '.') {
            snprintf(expected, sizeof expected, "http://a.b/");
        } else if (forbidden) {
            snprintf(expected, sizeof expected, "a forbidden character in host \"a%cb\"",
                     c < ' ' || c == 0x7f ? ' ' : (int)c);
        } else if (no_iri) {
            snprintf(expected, sizeof expected, "\"%c\" in a host name", (int)c);
        } else {
            snprintf(expected, sizeof expected, "http://a%cb/", ascii_lower((char)c));
        }
        if (c != 0) { /* which ends the text */
            assert_string_equal(key_of_host(host), expected);
        }
    }
    assert_non_null(strstr(key_of_host("a%00b"), "a forbidden character in host"));
}

static void
hosts_may_be_wrong_as_a_whole(void **state)
{
    (void)state;
    assert_string_equal(key_of_host("[::1"), "an unclosed bracket in host \"[::1\"");
    assert_string_equal(key_of_host("\xc2\xad"), "nothing in host \"\xc2\xad\"");
    assert_non_null(strstr(key_of_host("\xcc\x80"
                                       "a"),
                           "no internationalised name (UTS 46) in host"));
    assert_string_equal(key_of_host(".a"), "an empty label in a host name");
    assert_string_equal(key_of_host("a.b.."), "an empty label in a host name");
    assert_string_equal(key_of_host("."), "an empty label in a host name");
    assert_string_equal(key_of_host("a.b."), "http://a.b/");
    assert_string_equal(key_of_host("a."), "http://a/");
    assert_string_equal(key_of_host("a.1.2.3.4.5"), "no IPv4 address in host \"a.1.2.3.4.5\"");
}

/* As it stands, in capitals, and behind escapes. */
static void
hosts_have_a_longest(void **state)
{
    enum { MOST = 2048, FORMS = 3 };
    static const char *const forms[FORMS] = {"a", "A", "%61"};
    static char host[3 * MOST + 4];
    (void)state;
    for (size_t form = 0; form < FORMS; form++) {
        for (size_t length = MOST; length <= MOST + 1; length++) {
            host[0] = '\0';
            for (size_t i = 0; i < length; i++) {
                memcpy(host + i * strlen(forms[form]), forms[form], strlen(forms[form]) + 1);
            }
            const char *key = key_of_host(host);
            if (length == MOST) {
                assert_int_equal(strlen(key), strlen("http:///") + MOST);
            } else {
                assert_non_null(strstr(key, "too many bytes in host \""));
            }
        }
    }
}

/* Characters that Unicode 16 maps or ignores: the same as what they are mapped to, in the middle of
 * a name. */
static void
newer_characters_are_mapped(void **state)
{
    static const char *const rows[][2] = {
        {"\xd3\x80", "\xd3\x8f"},             /* U+04C0, U+04CF */
        {"\xe1\x82\xa0", "\xe2\xb4\x80"},     /* U+10A0, U+2D00 */
        {"\xe1\x83\x85", "\xe2\xb4\xa5"},     /* U+10C5, U+2D25 */
        {"\xe1\x85\x9f", ""},                 /* U+115F */
        {"\xe1\x85\xa0", ""},                 /* U+1160 */
        {"\xe1\xa0\x8e", ""},                 /* U+180E */
        {"\xe1\xba\x9e", "\xc3\x9f"},         /* U+1E9E, U+00DF */
        {"\xe2\x81\xaf", ""},                 /* U+206F */
        {"\xe2\x84\xb2", "\xe2\x85\x8e"},     /* U+2132, U+214E */
        {"\xef\xbe\xa0", ""},                 /* U+FFA0 */
        {"\xf0\x9d\x85\xb3", ""},             /* U+1D173 */
        {"\xf0\xaf\xa1\xa8", "\xe3\x9b\xbc"}, /* U+2F868, U+36FC */
        {"\xf0\xaf\xa6\xbf", "\xe4\xb5\x97"}, /* U+2F9BF, U+4D57 */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char host[32], key[64];
        snprintf(host, sizeof host, "a%sb", rows[i][0]);
        snprintf(key, sizeof key, "%s", key_of_host(host));
        snprintf(host, sizeof host, "a%sb", rows[i][1]);
        assert_string_equal(key, key_of_host(host));
        assert_ptr_equal(strstr(key, "http://"), key);
    }
}

/* ---- keys ---- */

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
values_are_escaped(void **state)
{
    (void)state;
    for (unsigned c = 0; c < 0x100; c++) {
        const char byte = (char)c;
        const bool plain = ascii_is_letter(byte) || ascii_is_digit(byte) ||
                           (c != 0 && strchr("-._~", (int)c) != NULL);
        char expected[8], input[32], key[64];
        struct buf out;
        buf_init(&out, 8);
        url_append_value(&out, slice_of(&byte, 1));
        snprintf(expected, sizeof expected, plain ? "%c" : "%%%02X", c);
        assert_string_equal(out.data, expected);
        buf_release(&out);
        /* Escapes of a key are as they would be made. */
        snprintf(input, sizeof input, "http://e.org/%%%02x?%%%02x", c, c);
        snprintf(key, sizeof key, "http://e.org/%s?%s", c == '.' ? "" : expected, expected);
        check_key(input, "", key);
    }
}

static void
check_ftp_key(const char *input, const char *expected)
{
    struct buf out;
    struct reason why = {""};
    buf_init(&out, ROOM);
    const enum status status = url_ftp_key(slice_string(input), &out, &why);
    assert_string_equal(status == STATUS_OK ? out.data : why.text, expected);
    assert_int_equal(status == STATUS_OK ? 0 : out.length, 0);
    buf_release(&out);
}

static void
ftp_has_keys_of_its_own(void **state)
{
    (void)state;
    check_ftp_key("ftp://u:p@H.example:21/a/../%7eb#f", "ftp://h.example/~b");
    check_ftp_key("ftp://h.example:990/", "ftp://h.example:990/");
    check_ftp_key("FTPS://u@H.example:990/a b", "ftps://h.example/a%20b");
    check_ftp_key("ftps://h.example:21/", "ftps://h.example:21/");
    check_ftp_key("ftps://h.example/", "ftps://h.example/");
    check_ftp_key("http://h.example/", "scheme \"http\" is not crawled");
    check_ftp_key("https://h.example/", "scheme \"https\" is not crawled");
    check_ftp_key("a123456789012345678901234567890123456789b://h/",
                  "scheme \"a123456789012345678901234567890123456789\" is not crawled");
    check_ftp_key("ftp://a..b/", "an empty label in a host name");
    assert_true(url_is_ftp(SLICE("ftp://h/")) && url_is_ftp(SLICE("ftps://h/")));
    assert_false(url_is_ftp(SLICE("ftpx://h/")) || url_is_ftp(SLICE("http://ftp:/")));
    for (size_t length = 2 * URL_MAXIMUM; length <= 2 * URL_MAXIMUM + 1; length++) {
        static char text[2 * URL_MAXIMUM + 2];
        char expected[64];
        memset(text, 'u', length);
        text[length] = '\0';
        memcpy(text, "ftp://", 6);
        memcpy(text + length - 3, "@h/", 3);
        snprintf(expected, sizeof expected, "URL of %zu bytes", length);
        check_ftp_key(text, length == 2 * URL_MAXIMUM ? "ftp://h/" : expected);
        snprintf(text, 8, "http://");
        text[7] = 'u';
        check_key(text, "", length == 2 * URL_MAXIMUM ? "http://h/" : "LIMIT");
    }
}

static void
parts_of_short_keys_are_found(void **state)
{
    static const struct {
        const char *key, *origin, *host, *path;
    } cases[] = {
        {"http://h", "http://h", "h", ""},
        {"http://h?q", "http://h", "h", "?q"},
        {"http://h:1", "http://h:1", "h", ""},
        {"http://[a]:1/x", "http://[a]:1", "[a]", "/x"},
        {"urn:", "urn:", "", ""},
        {"a:b", "a:b", "", ""},
        {"", "", "", ""},
        {"x://", "x://", "", ""},
        {"x://:80/", "x://:80", "", "/"},
        {"http://h/a:b?c/d", "http://h", "h", "/a:b?c/d"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct slice key = slice_string(cases[i].key);
        assert_true(slice_is(url_origin(key), cases[i].origin));
        assert_true(slice_is(url_host(key), cases[i].host));
        assert_true(slice_is(url_path_query(key), cases[i].path));
    }
}

static void
addresses_are_told_from_names(void **state)
{
    static const struct {
        const char *host;
        bool address;
    } cases[] = {{"1.2.3.4", true},  {"1.2.3", false},   {"1.2.3.4.5", false}, {"1.2.3.a", false},
                 {"1.2.3.:", false}, {"1.2.3./", false}, {"0.0.0.9", true},    {"", false},
                 {"[", true},        {"a[", false}};
    char name[257];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(url_host_is_address(slice_string(cases[i].host)), cases[i].address);
    }
    assert_true(slice_is(url_registrable_domain(SLICE("")), ""));
    for (size_t length = 255; length <= 256; length++) {
        memset(name, 'a', length);
        memcpy(name + length - 6, ".co.uk", 6);
        name[length - 8] = '.';
        const struct slice domain = url_registrable_domain(slice_of(name, length));
        assert_int_equal(domain.length, length == 255 ? sizeof "a.co.uk" - 1 : length);
    }
}

int
url_keys_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_character_of_a_host),
        cmocka_unit_test(hosts_may_be_wrong_as_a_whole),
        cmocka_unit_test(hosts_have_a_longest),
        cmocka_unit_test(newer_characters_are_mapped),
        cmocka_unit_test(values_are_escaped),
        cmocka_unit_test(ftp_has_keys_of_its_own),
        cmocka_unit_test(parts_of_short_keys_are_found),
        cmocka_unit_test(addresses_are_told_from_names),
    };
    return cmocka_run_group_tests_name("url keys", tests, NULL, NULL);
}
