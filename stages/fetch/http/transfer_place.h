/* Where a transfer's connection goes, and whether it may: the addresses of its host, the proxy,
 * fetch.connect_to, private ranges, the limit of an address. */
#ifndef STAGES_FETCH_HTTP_TRANSFER_PLACE_H
#define STAGES_FETCH_HTTP_TRANSFER_PLACE_H

#include <curl/curl.h>
#include <netinet/in.h>

#include "base/slice.h"
#include "stages/fetch/http/fetch_dns.h"

struct fetch_http;
struct transfer;

struct host_address {
    int family; /* AF_UNSPEC: none */
    uint8_t bytes[sizeof(struct in6_addr)];
};

/* transfer_place.c changes it. */
struct transfer_place {
    uint64_t host;              /* digest_local */
    struct curl_slist *connect; /* own address, by fetch.hosts_file or DNS; else NULL */
    struct host_address target; /* that address */
    struct host_address alias;  /* what libcurl takes for it */
    bool named;                 /* by fetch.hosts_file */
    bool proxied;
    uint64_t address;    /* its fingerprint; 0: counted nowhere */
    uint64_t at_limit;   /* the address that has too many; 0: none */
    const char *refused; /* kind of the address that was refused; NULL: none */
    bool no_name;        /* a name server said so */
};

/* What is told once of a handle. */
void place_constants(struct transfer *transfer);
/* Sets where the connection goes, and counts the transfers that are there. known_address: of its
 * host when it was asked last, a fingerprint; 0: not known. */
void place_set(struct transfer *transfer, struct slice url, uint64_t known_address);
/* Returns whether the address of its host must be looked up. */
bool place_needs_address(const struct transfer *transfer, struct slice url);
/* Goes to the first address that is allowed; false: there is none, and problem says why. */
bool place_go_to(struct transfer *transfer, const struct dns_answer *answer);
/* The fingerprint of an address, by which hosts are grouped; 0: this one is not counted. */
uint64_t place_number(const struct transfer *transfer, const char *ip);
/* The transfer has ended: it is counted nowhere. */
void place_leave(struct transfer *transfer);
/* Forgets all but what the handle was told. */
void place_reset(struct transfer *transfer);

#endif
