/* IANA's special-purpose registries (RFC 6890 and later), as one table of prefixes of 128 bits:
 * IPv4 stands in ::ffff:0:0/96. Addresses that carry an IPv4 address inside (mapped, NAT64, 6to4,
 * ISATAP) are judged by that one. Of IPv6 only what IANA gives out as global unicast, 2000::/3, can
 * be public at all: whatever else there is, or will be, needs no line to be refused, but for a
 * name. Anycast services in 192.0.0.0/24 and 2001::/23 that can be reached from everywhere are no
 * web servers, and are refused with the rest of these blocks. */
#include "stages/fetch/http/address_rules.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct prefix {
    uint8_t bytes[16];
    unsigned bits;
};

struct address_rules {
    struct prefix *exempt;
    size_t count;
};

static void
set_v4(uint8_t bytes[16], const void *v4)
{
    memset(bytes, 0, 10);
    bytes[10] = 0xff;
    bytes[11] = 0xff;
    memcpy(bytes + 12, v4, 4);
}

static bool
parse_prefix(const char *text, struct prefix *prefix)
{
    char address[INET6_ADDRSTRLEN];
    struct in_addr v4;
    const char *slash = strchr(text, '/');
    const size_t length = slash != NULL ? (size_t)(slash - text) : strlen(text);
    if (length == 0 || length >= sizeof address) {
        return false;
    }
    memcpy(address, text, length);
    address[length] = '\0';
    unsigned most = 128;
    if (inet_pton(AF_INET, address, &v4) == 1) {
        set_v4(prefix->bytes, &v4);
        most = 32;
    } else if (inet_pton(AF_INET6, address, prefix->bytes) != 1) {
        return false;
    }
    unsigned long bits = most;
    if (slash != NULL) {
        char *end;
        bits = strtoul(slash + 1, &end, 10);
        if (end == slash + 1 || *end != '\0' || bits > most) {
            return false;
        }
    }
    prefix->bits = (unsigned)bits + (128 - most);
    return true;
}

static bool
matches(const struct prefix *prefix, const uint8_t bytes[16])
{
    const unsigned whole = prefix->bits / 8;
    const unsigned rest = prefix->bits % 8;
    if (memcmp(prefix->bytes, bytes, whole) != 0) {
        return false;
    }
    const uint8_t mask = (uint8_t)(0xff00 >> rest);
    return rest == 0 || (prefix->bytes[whole] & mask) == (bytes[whole] & mask);
}

static bool
bytes_of(const struct sockaddr *address, uint8_t bytes[16])
{
    if (address->sa_family == AF_INET) {
        set_v4(bytes, &((const struct sockaddr_in *)(const void *)address)->sin_addr);
        return true;
    }
    if (address->sa_family == AF_INET6) {
        memcpy(bytes, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, 16);
        return true;
    }
    return false;
}

/* Puts the IPv4 address that an IPv6 address leads to in its place: those of NAT64 (RFC 6052) and
 * 6to4 (RFC 3056), and ISATAP's under any prefix (RFC 5214, section 6.1). Mapped ones (RFC 4291)
 * stand there already. */
static void
unwrap_v4(uint8_t bytes[16])
{
    static const uint8_t nat64[12] = {0x00, 0x64, 0xff, 0x9b};
    const bool isatap = (bytes[8] & 0xfd) == 0 && bytes[9] == 0 && bytes[10] == 0x5e &&
                        bytes[11] == 0xfe && (bytes[0] & 0xe0) == 0x20;
    uint8_t v4[4];
    if (memcmp(bytes, nat64, sizeof nat64) == 0 || isatap) {
        memcpy(v4, bytes + 12, 4);
        set_v4(bytes, v4);
    } else if (bytes[0] == 0x20 && bytes[1] == 0x02) {
        memcpy(v4, bytes + 2, 4);
        set_v4(bytes, v4);
    }
}

struct special {
    const char *prefix, *name;
};

/* The first prefix that fits counts. */
static const struct special specials[] = {
    {"0.0.0.0/8", "this network"},
    {"10.0.0.0/8", "private"},
    {"100.64.0.0/10", "shared (carrier-grade NAT)"},
    {"127.0.0.0/8", "loopback"},
    {"169.254.0.0/16", "link-local"},
    {"172.16.0.0/12", "private"},
    {"192.0.0.0/24", "protocol assignment"},
    {"192.0.2.0/24", "documentation"},
    {"192.88.99.0/24", "6to4 relay"},
    {"192.168.0.0/16", "private"},
    {"198.18.0.0/15", "benchmark"},
    {"198.51.100.0/24", "documentation"},
    {"203.0.113.0/24", "documentation"},
    {"224.0.0.0/4", "multicast"},
    {"240.0.0.0/4", "reserved"},
    {"::/128", "unspecified"},
    {"::1/128", "loopback"},
    {"64:ff9b:1::/48", "local-use translation"},
    {"100::/64", "discard-only"},
    {"100:0:0:1::/64", "dummy"},
    {"2001::/32", "Teredo"},
    {"2001::/23", "protocol assignment"},
    {"2001:db8::/32", "documentation"},
    {"3fff::/20", "documentation"},
    {"5f00::/16", "segment routing"},
    {"fc00::/7", "unique local"},
    {"fe80::/10", "link-local"},
    {"fec0::/10", "site-local"},
    {"ff00::/8", "multicast"},
};

static bool
may_be_public(const uint8_t bytes[16])
{
    static const uint8_t v4[12] = {[10] = 0xff, [11] = 0xff};
    return memcmp(bytes, v4, sizeof v4) == 0 || (bytes[0] & 0xe0) == 0x20;
}

enum status
address_rules_open(struct address_rules **result, const char *const *cidrs, size_t n,
                   struct reason *why)
{
    struct address_rules *rules = memory_new(sizeof *rules);
    rules->exempt = memory_zero(n + 1, sizeof *rules->exempt);
    *result = rules;
    for (size_t i = 0; i < n; i++) {
        if (!parse_prefix(cidrs[i], &rules->exempt[i])) {
            return status_fail(why, STATUS_MISUSE,
                               "fetch.allow_address: \"%s\" is no address or prefix, such as "
                               "127.0.0.0/8",
                               cidrs[i]);
        }
        rules->count++;
    }
    return STATUS_OK;
}

void
address_rules_close(struct address_rules *rules)
{
    if (rules != NULL) {
        free(rules->exempt);
        free(rules);
    }
}

bool
address_is_exempt(const struct address_rules *rules, const struct sockaddr *address)
{
    uint8_t bytes[16];
    if (!bytes_of(address, bytes)) {
        return false;
    }
    for (size_t i = 0; i < rules->count; i++) {
        if (matches(&rules->exempt[i], bytes)) {
            return true;
        }
    }
    return false;
}

const char *
address_refusal(const struct address_rules *rules, const struct sockaddr *address)
{
    uint8_t bytes[16];
    struct prefix prefix;
    if (address_is_exempt(rules, address)) {
        return NULL;
    }
    if (!bytes_of(address, bytes)) {
        return "not an internet address";
    }
    unwrap_v4(bytes);
    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++) {
        if (parse_prefix(specials[i].prefix, &prefix) && matches(&prefix, bytes)) {
            return specials[i].name;
        }
    }
    return may_be_public(bytes) ? NULL : "not global unicast";
}
