/* Which addresses may be connected to (stages/fetch/http/address_rules.c): one of each kind, the
 * edges of each block, and the operator's prefixes of all lengths beside arithmetic on bits. */
#include "tests/unit/stages/fetch_addresses.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <netinet/in.h>
#include <sys/un.h>

#include "stages/fetch/http/address_rules.h"
#include "tests/unit/memory_in_use.h"

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static union address
address_of(const char *text)
{
    union address address = {.v4.sin_family = AF_INET};
    if (inet_pton(AF_INET, text, &address.v4.sin_addr) != 1) {
        address = (union address){.v6.sin6_family = AF_INET6};
        assert_int_equal(inet_pton(AF_INET6, text, &address.v6.sin6_addr), 1);
    }
    return address;
}

static struct address_rules *
rules_with(const char *cidr)
{
    struct address_rules *rules;
    struct reason why = {""};
    assert_int_equal(address_rules_open(&rules, &cidr, cidr != NULL, &why), STATUS_OK);
    return rules;
}

struct verdict {
    const char *address;
    const char *refusal; /* NULL: may be connected to */
};

static void
check_verdicts(const struct address_rules *rules, const struct verdict *verdicts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const union address address = address_of(verdicts[i].address);
        const char *refusal = address_refusal(rules, &address.any);
        const char *wanted = verdicts[i].refusal;
        if (strcmp(refusal != NULL ? refusal : "may", wanted != NULL ? wanted : "may") != 0) {
            fail_msg("%s: %s", verdicts[i].address, refusal != NULL ? refusal : "may");
        }
    }
}

static void
addresses_are_judged_by_what_they_reach(void **state)
{
    static const struct verdict verdicts[] = {
        {"8.8.8.8", NULL},
        {"2606:4700::1111", NULL},
        {"172.32.0.1", NULL},
        {"127.8.8.8", "loopback"},
        {"10.0.0.1", "private"},
        {"172.31.255.255", "private"},
        {"192.168.3.4", NULL}, /* allowed below */
        {"192.168.4.4", "private"},
        {"100.100.0.1", "shared (carrier-grade NAT)"},
        {"169.254.169.254", "link-local"},
        {"0.0.0.0", "this network"},
        {"239.1.1.1", "multicast"},
        {"255.255.255.255", "reserved"},
        {"::", "unspecified"},
        {"::1", "loopback"},
        {"::ffff:10.0.0.1", "private"},
        {"::ffff:8.8.8.8", NULL},
        {"::10.0.0.1", "not global unicast"},
        {"::8.8.8.8", "not global unicast"},
        {"::2", "not global unicast"},
        {"::ffff:0:127.0.0.1", "not global unicast"},
        {"::ffff:0:8.8.8.8", "not global unicast"},
        {"64:ff9b::8.8.8.8", NULL},
        {"64:ff9b::1:127.0.0.1", "not global unicast"},
        {"64:ff9b:1::8.8.8.8", "local-use translation"},
        {"100::1", "discard-only"},
        {"100:0:0:1::1", "dummy"},
        {"200::1", "not global unicast"},
        {"1fff::1", "not global unicast"},
        {"4000::1", "not global unicast"},
        {"5f00::1", "segment routing"},
        {"2001::1", "Teredo"},
        {"2001:0:4136:e378:8000:63bf:807f:fffe", "Teredo"},
        {"2001:2::1", "protocol assignment"},
        {"2001:10::1", "protocol assignment"},
        {"2001:20::1", "protocol assignment"},
        {"2001:1ff:ffff::1", "protocol assignment"},
        {"2001:200::1", NULL},
        {"2001:db8::1", "documentation"},
        {"2001:db9::1", NULL},
        {"3fff:fff::1", "documentation"},
        {"3fff:1000::1", NULL},
        {"2001:470:1::5efe:10.0.0.1", "private"},
        {"2001:470:1::200:5efe:127.0.0.1", "loopback"},
        {"2001:470:1::200:5efe:8.8.8.8", NULL},
        {"fe80::5efe:8.8.8.8", "link-local"},
        {"fec0::1", "site-local"},
        {"2002:808:808::1", NULL},
        {"192.0.0.170", "protocol assignment"},
        {"192.0.1.1", NULL},
        {"192.88.99.1", "6to4 relay"},
        {"198.19.255.255", "benchmark"},
        {"198.20.0.0", NULL},
        {"203.0.113.7", "documentation"},
        {"64:ff9b::7f00:1", "loopback"},
        {"2002:7f00:1::", "loopback"},
        {"fd00::1", "unique local"},
        {"fe80::1", "link-local"},
        {"ff02::1", "multicast"},
    };
    struct address_rules *rules = rules_with("192.168.3.0/24");
    (void)state;
    check_verdicts(rules, verdicts, sizeof verdicts / sizeof verdicts[0]);
    address_rules_close(rules);
}

/* The first and the last of each block, and the neighbours, where these are of no block. */
static void
blocks_end_where_they_are_registered(void **state)
{
    static const struct verdict verdicts[] = {
        {"0.255.255.255", "this network"},
        {"1.0.0.0", NULL},
        {"9.255.255.255", NULL},
        {"10.0.0.0", "private"},
        {"10.255.255.255", "private"},
        {"11.0.0.0", NULL},
        {"100.63.255.255", NULL},
        {"100.64.0.0", "shared (carrier-grade NAT)"},
        {"100.127.255.255", "shared (carrier-grade NAT)"},
        {"100.128.0.0", NULL},
        {"126.255.255.255", NULL},
        {"127.0.0.0", "loopback"},
        {"127.255.255.255", "loopback"},
        {"128.0.0.0", NULL},
        {"169.253.255.255", NULL},
        {"169.254.0.0", "link-local"},
        {"169.254.255.255", "link-local"},
        {"169.255.0.0", NULL},
        {"172.15.255.255", NULL},
        {"172.16.0.0", "private"},
        {"172.32.0.0", NULL},
        {"191.255.255.255", NULL},
        {"192.0.0.0", "protocol assignment"},
        {"192.0.0.255", "protocol assignment"},
        {"192.0.1.0", NULL},
        {"192.0.1.255", NULL},
        {"192.0.2.0", "documentation"},
        {"192.0.3.0", NULL},
        {"192.167.255.255", NULL},
        {"192.168.0.0", "private"},
        {"192.169.0.0", NULL},
        {"198.17.255.255", NULL},
        {"198.18.0.0", "benchmark"},
        {"198.51.99.255", NULL},
        {"198.51.100.0", "documentation"},
        {"198.51.101.0", NULL},
        {"203.0.112.255", NULL},
        {"203.0.114.0", NULL},
        {"223.255.255.255", NULL},
        {"224.0.0.0", "multicast"},
        {"239.255.255.255", "multicast"},
        {"240.0.0.0", "reserved"},
        {"2000::", NULL},
        {"2002:a00:1::", "private"},
        {"2003::", NULL},
        {"3ffe:ffff::", NULL},
        {"3fff::", "documentation"},
        {"3fff:ffff::", NULL},
        {"febf:ffff::1", "link-local"},
        {"feff:ffff::1", "site-local"},
        {"fdff:ffff::1", "unique local"},
        {"fbff::1", "not global unicast"},
        {"64:ff9b:1:ffff::1", "local-use translation"},
        {"64:ff9b:2::1", "not global unicast"},
        {"64:ff9b:0:0:1::8.8.8.8", "not global unicast"},
        {"2001:470:1:0:0:5efe:808:808", NULL},
        {"2001:470:1:0:100:5efe:a00:1", NULL},
        {"2001:470:1:0:1:5efe:a00:1", NULL},
        {"2001:470:1:0:0:5eff:a00:1", NULL},
        {"2001:470:1:0:0:5ffe:a00:1", NULL},
    };
    struct address_rules *rules = rules_with(NULL);
    (void)state;
    check_verdicts(rules, verdicts, sizeof verdicts / sizeof verdicts[0]);
    address_rules_close(rules);
}

/* Changes one bit of the address, counted from the first. */
static union address
with_bit_changed(union address address, unsigned bit)
{
    uint8_t *bytes = address.any.sa_family == AF_INET ? (uint8_t *)&address.v4.sin_addr
                                                      : (uint8_t *)&address.v6.sin6_addr;
    bytes[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
    return address;
}

/* A prefix holds what differs from it only behind its last bit, whatever its length. */
static void
prefixes_of_all_lengths(void **state)
{
    static const struct {
        const char *address;
        unsigned bits;
    } bases[] = {{"10.170.85.204", 32}, {"fd12:3456:789a:bcde:f012:3456:789a:bcde", 128}};
    (void)state;
    for (size_t b = 0; b < 2; b++) {
        const union address base = address_of(bases[b].address);
        for (unsigned length = 0; length <= bases[b].bits; length++) {
            char cidr[64];
            snprintf(cidr, sizeof cidr, "%s/%u", bases[b].address, length);
            struct address_rules *rules = rules_with(cidr);
            assert_true(address_is_exempt(rules, &base.any));
            assert_null(address_refusal(rules, &base.any));
            for (unsigned bit = 0; bit < bases[b].bits; bit++) {
                const union address other = with_bit_changed(base, bit);
                assert_int_equal(address_is_exempt(rules, &other.any), bit >= length);
            }
            address_rules_close(rules);
        }
        struct address_rules *whole = rules_with(bases[b].address); /* no length: it alone */
        const union address other = with_bit_changed(base, bases[b].bits - 1);
        assert_true(address_is_exempt(whole, &base.any));
        assert_false(address_is_exempt(whole, &other.any));
        address_rules_close(whole);
    }
    /* The whole of IPv4 holds no address of IPv6, but one that stands for one of IPv4's. */
    struct address_rules *all = rules_with("0.0.0.0/0");
    const union address v6 = address_of("fd00::1"), mapped = address_of("::ffff:10.0.0.1");
    assert_false(address_is_exempt(all, &v6.any));
    assert_true(address_is_exempt(all, &mapped.any));
    address_rules_close(all);
}

static void
any_of_several_prefixes_exempts(void **state)
{
    static const char *const cidrs[] = {"10.1.0.0/16", "::1", "192.168.7.9"};
    const struct verdict verdicts[] = {{"10.1.2.3", NULL},         {"::1", NULL},
                                       {"192.168.7.9", NULL},      {"10.2.0.0", "private"},
                                       {"192.168.7.8", "private"}, {"::", "unspecified"}};
    struct address_rules *rules;
    (void)state;
    assert_int_equal(address_rules_open(&rules, cidrs, 3, NULL), STATUS_OK);
    check_verdicts(rules, verdicts, sizeof verdicts / sizeof verdicts[0]);
    address_rules_close(rules);
}

static void
what_is_no_prefix_is_refused_and_named(void **state)
{
    static const char *const wrong[] = {
        "",
        "/8",
        "127.0.0.0/33",
        "127.0.0.0/",
        "127.0.0/8",
        "127.0.0.0/8x",
        "127.0.0.0/x8",
        "::/129",
        "::1/",
        "localhost",
        "127.0.0.1 ",
        "fe80::1%lo",
        "1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb:cccc/8", /* longer than any */
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const char *const cidrs[] = {"127.0.0.0/8", wrong[i]};
        struct address_rules *rules;
        struct reason why = {""};
        char named[128];
        if (address_rules_open(&rules, cidrs, 2, &why) != STATUS_MISUSE) {
            fail_msg("\"%s\" was taken", wrong[i]);
        }
        snprintf(named, sizeof named, "\"%s\" is no address or prefix", wrong[i]);
        assert_non_null(strstr(why.text, named));
        address_rules_close(rules);
    }
    address_rules_close(NULL);
}

static void
closed_rules_are_freed(void **state)
{
    enum { TIMES = 1000 };
    (void)state;
    if (!memory_is_counted()) {
        skip();
    }
    address_rules_close(rules_with("10.0.0.0/8"));
    const size_t before = memory_in_use();
    for (int i = 0; i < TIMES; i++) {
        address_rules_close(rules_with("10.0.0.0/8"));
    }
    assert_true(memory_in_use() < before + TIMES);
}

static void
other_families_are_never_connected_to(void **state)
{
    const struct sockaddr_un local = {.sun_family = AF_UNIX, .sun_path = "/run/queue.sock"};
    const struct sockaddr *address = (const struct sockaddr *)&local;
    struct address_rules *rules = rules_with("::/0");
    (void)state;
    assert_false(address_is_exempt(rules, address));
    assert_string_equal(address_refusal(rules, address), "not an internet address");
    address_rules_close(rules);
}

int
fetch_addresses_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_judged_by_what_they_reach),
        cmocka_unit_test(blocks_end_where_they_are_registered),
        cmocka_unit_test(prefixes_of_all_lengths),
        cmocka_unit_test(any_of_several_prefixes_exempts),
        cmocka_unit_test(what_is_no_prefix_is_refused_and_named),
        cmocka_unit_test(closed_rules_are_freed),
        cmocka_unit_test(other_families_are_never_connected_to),
    };
    return cmocka_run_group_tests_name("fetch addresses", tests, NULL, NULL);
}
