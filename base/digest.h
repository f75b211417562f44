/* Digests. SHA-1 and SHA-256 by libgcrypt, which has the fastest code for processors without
 * instructions for them; fingerprints are BLAKE2b-128 by libsodium. */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include <stdint.h>

#include "base/slice.h"

enum { DIGEST_SHA1_SIZE = 20, DIGEST_SHA256_SIZE = 32, FINGERPRINT_SIZE = 16, PARTITIONS = 4096 };

/* Computes the digest of both parts, one after the other, as WARC has it for header and body. */
void digest_sha1_parts(struct slice first, struct slice second, uint8_t digest[DIGEST_SHA1_SIZE]);
/* Computes the digest of both parts and that of the second alone, in little more time. */
void digest_sha1_pair(struct slice first, struct slice second, uint8_t both[DIGEST_SHA1_SIZE],
                      uint8_t alone[DIGEST_SHA1_SIZE]);
void digest_sha256(struct slice bytes, uint8_t digest[DIGEST_SHA256_SIZE]);
/* text needs 2 * size + 1 bytes; lower-case hexadecimal. */
void digest_hex(const uint8_t *digest, int size, char *text);
/* RFC 4648 base32 as WARC digests use it; text needs 33 bytes for SHA-1. */
void digest_base32(const uint8_t *digest, int size, char *text);

/* The 128-bit key of a URI: URI-seen, partitions, blank node labels. */
void fingerprint_of(struct slice uri, uint8_t fingerprint[FINGERPRINT_SIZE]);
/* The first 64 bits of it. */
uint64_t fingerprint64(struct slice uri);
/* Returns a hash for tables in memory: SipHash-2-4 with a key of this process, so nobody can choose
 * names that fall together; a seventh of a fingerprint's time. Never 0. */
uint64_t digest_local(struct slice bytes);
/* 0 .. PARTITIONS-1. */
uint16_t partition_of(struct slice uri);

#endif
