/* The operator's proxy (stages/fetch/http/fetch_proxy.c): which hosts it is asked for, and at which
 * addresses it is. Lookups of names are counted. */
#include "tests/unit/stages/fetch_proxies.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include "base/system/clock.h"
#include "stages/fetch/http/fetch_http.h"
#include "stages/fetch/http/fetch_proxy.h"

enum { HOUR_MS = 3600000 };

static unsigned lookups;
static struct opt_set *options;

int __real_getaddrinfo(const char *host, const char *port, const struct addrinfo *wanted,
                       struct addrinfo **found);
int __wrap_getaddrinfo(const char *host, const char *port, const struct addrinfo *wanted,
                       struct addrinfo **found);
int
__wrap_getaddrinfo(const char *host, const char *port, const struct addrinfo *wanted,
                   struct addrinfo **found)
{
    lookups++;
    return __real_getaddrinfo(host, port, wanted, found);
}

static enum status
open_proxy(struct proxy *proxy, const char *url, const char *exceptions, struct reason *why)
{
    static const struct opt *tables[] = {fetch_options, NULL};
    char text[128];
    options = opt_set_new(tables);
    snprintf(text, sizeof text, "fetch.proxy=%s", url);
    assert_int_equal(opt_set_assign(options, text, NULL), STATUS_OK);
    snprintf(text, sizeof text, "fetch.no_proxy=%s", exceptions);
    assert_int_equal(opt_set_assign(options, text, NULL), STATUS_OK);
    lookups = 0;
    return proxy_from(proxy, options, why);
}

static void
close_proxy(struct proxy *proxy)
{
    proxy_release(proxy);
    opt_set_free(options);
}

static void
only_known_schemes_are_proxies(void **state)
{
    static const struct {
        const char *url;
        enum status status;
    } rows[] = {{"", STATUS_OK},
                {"http://p:1", STATUS_OK},
                {"https://p:1", STATUS_OK},
                {"socks5://p:1", STATUS_OK},
                {"socks5h://p:1", STATUS_OK},
                {"socks4://p:1", STATUS_MISUSE},
                {"ftp://p:1", STATUS_MISUSE},
                {"p:1", STATUS_MISUSE}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct proxy proxy;
        struct reason why = {""};
        assert_int_equal(open_proxy(&proxy, rows[i].url, "", &why), rows[i].status);
        assert_int_equal(why.text[0] != '\0', rows[i].status != STATUS_OK);
        close_proxy(&proxy);
    }
}

static void
exceptions_hold_for_all_below_them(void **state)
{
    static const struct {
        const char *proxy, *exceptions, *host;
        bool takes;
    } rows[] = {{"", "", "a.example", false},
                {"http://p:1", "", "a.example", true},
                {"http://p:1", "*", "a.example", false},
                {"http://p:1", "a.example", "a.example", false},
                {"http://p:1", "A.example", "a.Example", false},
                {"http://p:1", ".a.example", "a.example", false},
                {"http://p:1", ".a.example", "x.a.example", false},
                {"http://p:1", "a.example", "x.a.example", false},
                {"http://p:1", "a.example", "xa.example", true},
                {"http://p:1", "a.example", "b.example", true},
                {"http://p:1", "a.example", "x.b.example", true},
                {"http://p:1", "a.example", "example", true},
                {"http://p:1", "a.example", "e.example", true},
                {"http://p:1", "b.example, c.example", "c.example", false},
                {"http://p:1", "b.example, c.example", "x.b.example", false},
                {"http://p:1", ".", "a.example", true},
                {"http://p:1", ".", "a.example.", true}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct proxy proxy;
        assert_int_equal(open_proxy(&proxy, rows[i].proxy, rows[i].exceptions, NULL), STATUS_OK);
        if (proxy_takes(&proxy, slice_string(rows[i].host)) != rows[i].takes) {
            fail_msg("%s, exceptions %s", rows[i].host, rows[i].exceptions);
        }
        close_proxy(&proxy);
    }
}

struct place {
    union {
        struct sockaddr any;
        struct sockaddr_in four;
        struct sockaddr_in6 six;
    } address;
};

static struct place
place_of(const char *host, unsigned port)
{
    struct place place = {0};
    if (inet_pton(AF_INET, host, &place.address.four.sin_addr) == 1) {
        place.address.four.sin_family = AF_INET;
        place.address.four.sin_port = htons((uint16_t)port);
    } else {
        assert_int_equal(inet_pton(AF_INET6, host, &place.address.six.sin6_addr), 1);
        place.address.six.sin6_family = AF_INET6;
        place.address.six.sin6_port = htons((uint16_t)port);
    }
    return place;
}

static void
it_is_where_its_url_says(void **state)
{
    static const struct {
        const char *url, *host;
        unsigned port;
        bool is_there;
    } rows[] = {{"", "127.0.0.1", 3128, false},
                {"http://127.0.0.1:3128", "127.0.0.1", 3128, true},
                {"http://127.0.0.1:3128", "127.0.0.1", 3129, false},
                {"http://127.0.0.1:3128", "127.0.0.2", 3128, false},
                {"http://127.0.0.1:3128", "::1", 3128, false},
                {"http://127.0.0.1", "127.0.0.1", 1080, true},
                {"http://127.0.0.1", "127.0.0.1", 443, false},
                {"https://127.0.0.1", "127.0.0.1", 443, true},
                {"socks5h://127.0.0.1", "127.0.0.1", 1080, true},
                {"http://[::1]:3128", "::1", 3128, true},
                {"http://[::1]:3128", "::1", 3129, false},
                {"http://[::1]:3128", "::2", 3128, false},
                {"http://[::1]:3128", "127.0.0.1", 3128, false},
                {"http://:x", "127.0.0.1", 1080, false}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct proxy proxy;
        const struct place place = place_of(rows[i].host, rows[i].port);
        assert_int_equal(open_proxy(&proxy, rows[i].url, "", NULL), STATUS_OK);
        if (proxy_is_at(&proxy, &place.address.any) != rows[i].is_there) {
            fail_msg("%s at %s port %u", rows[i].url, rows[i].host, rows[i].port);
        }
        close_proxy(&proxy);
    }
}

/* Its name is looked up when first asked, and again some seconds later, where it is not found. */
static void
it_is_looked_up_seldom(void **state)
{
    struct proxy proxy;
    const struct place there = place_of("127.0.0.1", 3128), elsewhere = place_of("127.0.0.2", 3128);
    (void)state;
    assert_int_equal(open_proxy(&proxy, "http://127.0.0.1:3128", "", NULL), STATUS_OK);
    assert_false(proxy_is_at(&proxy, &elsewhere.address.any));
    assert_int_equal(lookups, 1);
    assert_true(proxy_is_at(&proxy, &there.address.any));
    proxy.looked_ms = clock_monotonic_ms() + HOUR_MS; /* a moment ago, however slow this is */
    assert_false(proxy_is_at(&proxy, &elsewhere.address.any));
    assert_int_equal(lookups, 1);
    proxy.looked_ms = 1; /* when the machine was started, which can be less than an hour ago */
    assert_true(proxy_is_at(&proxy, &there.address.any)); /* which is known */
    assert_int_equal(lookups, 1);
    assert_false(proxy_is_at(&proxy, &elsewhere.address.any));
    assert_int_equal(lookups, 2);
    assert_true(proxy.looked_ms > 0);
    assert_true(proxy_is_at(&proxy, &there.address.any));
    close_proxy(&proxy);
    assert_null(proxy.addresses);
}

int
fetch_proxies_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_known_schemes_are_proxies),
        cmocka_unit_test(exceptions_hold_for_all_below_them),
        cmocka_unit_test(it_is_where_its_url_says),
        cmocka_unit_test(it_is_looked_up_seldom),
    };
    return cmocka_run_group_tests_name("proxies", tests, NULL, NULL);
}
