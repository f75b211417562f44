#include "web/http/host.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

struct slice
web_host_of(struct slice authority)
{
    const struct slice none = {NULL, 0};
    const size_t scheme = slice_find(authority, ':');
    if (authority.length > scheme + 2 && memcmp(authority.at + scheme, "://", 3) == 0) {
        authority = slice_of(authority.at + scheme + 3, authority.length - scheme - 3);
        authority.length = slice_find(authority, '/');
    }
    authority = slice_trim(authority);
    const bool bracketed = authority.length > 0 && authority.at[0] == '[';
    const size_t end = slice_find(authority, bracketed ? ']' : ':');
    if (bracketed && end == authority.length) {
        return none;
    }
    const struct slice host =
        bracketed ? slice_of(authority.at + 1, end - 1) : slice_of(authority.at, end);
    const size_t after = end + bracketed;
    struct slice port = slice_of(authority.at + after, authority.length - after);
    if (port.length > 0 && port.at[0] != ':') {
        return none;
    }
    for (size_t i = 1; i < port.length; i++) {
        if (port.at[i] < '0' || port.at[i] > '9') {
            return none;
        }
    }
    return host;
}

/* The family of the address that host is, which is put into *address; AF_UNSPEC: it is a name. */
static int
address_of(struct slice host, struct in6_addr *address)
{
    char text[INET6_ADDRSTRLEN];
    if (host.length == 0 || host.length >= sizeof text) {
        return AF_UNSPEC;
    }
    (void)snprintf(text, sizeof text, "%.*s", SLICE_PRINT(host));
    return inet_pton(AF_INET, text, address) == 1    ? AF_INET
           : inet_pton(AF_INET6, text, address) == 1 ? AF_INET6
                                                     : AF_UNSPEC;
}

bool
web_host_is_address(struct slice host)
{
    struct in6_addr address;
    return address_of(host, &address) != AF_UNSPEC;
}

bool
web_host_is_loopback(struct slice host)
{
    static const char local[] = "localhost", below[] = ".localhost";
    const size_t tail = sizeof below - 1;
    struct in6_addr address;
    if (slice_equal_nocase(host, slice_string(local)) ||
        (host.length > tail &&
         slice_equal_nocase(slice_of(host.at + host.length - tail, tail), slice_string(below)))) {
        return true;
    }
    const int family = address_of(host, &address);
    return family == AF_INET ? address.s6_addr[0] == 127
                             : family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&address);
}

bool
web_host_is_listed(struct slice host, const char *names)
{
    for (const char *at = names + strspn(names, " ,"); *at != '\0'; at += strspn(at, " ,")) {
        const struct slice name = slice_of(at, strcspn(at, " ,"));
        if (slice_is(name, "*") || (name.length > 0 && slice_equal_nocase(name, host))) {
            return true;
        }
        at += name.length;
    }
    return false;
}
