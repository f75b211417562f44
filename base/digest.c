#include "base/digest.h"

#include <gcrypt.h>
#include <sodium.h>
#include <unistd.h>

#include "base/codec.h"
#include "base/status.h"

/* Before main: workers that hash inside a sandbox could not open the file by which the library
 * learns of FIPS mode. */
__attribute__((constructor)) static void
gcrypt_start(void)
{
    if (gcry_check_version(GCRYPT_VERSION) == NULL) {
        _exit(EXIT_SYSTEM);
    }
    (void)gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
    (void)gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
}

void
digest_sha1_parts(struct slice first, struct slice second, uint8_t digest[DIGEST_SHA1_SIZE])
{
    const gcry_buffer_t parts[] = {
        {.data = (void *)(uintptr_t)first.at, .len = first.length},
        {.data = (void *)(uintptr_t)second.at, .len = second.length},
    };
    /* Cannot fail: FIPS mode allows SHA-1, too. */
    (void)gcry_md_hash_buffers(GCRY_MD_SHA1, 0, digest, parts, 2);
}

void
digest_sha256(struct slice bytes, uint8_t digest[DIGEST_SHA256_SIZE])
{
    gcry_md_hash_buffer(GCRY_MD_SHA256, digest, bytes.at, bytes.length);
}

void
digest_hex(const uint8_t *digest, int size, char *text)
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < size; i++) {
        *text++ = digits[digest[i] >> 4];
        *text++ = digits[digest[i] & 15];
    }
    *text = '\0';
}

void
digest_base32(const uint8_t *digest, int size, char *text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    uint32_t bits = 0;
    int held = 0;
    for (int i = 0; i < size; i++) {
        bits = bits << 8 | digest[i];
        held += 8;
        while (held >= 5) {
            held -= 5;
            *text++ = digits[bits >> held & 31];
        }
    }
    if (held > 0) {
        *text++ = digits[bits << (5 - held) & 31];
    }
    *text = '\0';
}

static unsigned char local_key[crypto_shorthash_KEYBYTES];

/* Before main: workers that hash inside a sandbox could not open a source of randomness,
 * which libsodium asks for although hashing needs none. */
__attribute__((constructor)) static void
sodium_start(void)
{
    if (sodium_init() < 0) {
        _exit(EXIT_SYSTEM);
    }
    crypto_shorthash_keygen(local_key);
}

uint64_t
digest_local(struct slice bytes)
{
    uint8_t hash[crypto_shorthash_BYTES];
    (void)crypto_shorthash(hash, (const unsigned char *)bytes.at, bytes.length, local_key);
    const uint64_t number = codec_read_u64(hash);
    return number != 0 ? number : 1;
}

void
fingerprint_of(struct slice uri, uint8_t fingerprint[FINGERPRINT_SIZE])
{
    /* Cannot fail: the sizes are within BLAKE2b's. */
    (void)crypto_generichash_blake2b(fingerprint, FINGERPRINT_SIZE, (const unsigned char *)uri.at,
                                     uri.length, NULL, 0);
}

uint64_t
fingerprint64(struct slice uri)
{
    uint8_t fingerprint[FINGERPRINT_SIZE];
    fingerprint_of(uri, fingerprint);
    return codec_read_u64(fingerprint);
}

/* The last bits: independent of the first ones, by which keys are sorted. */
uint16_t
partition_of(struct slice uri)
{
    uint8_t fingerprint[FINGERPRINT_SIZE];
    fingerprint_of(uri, fingerprint);
    return codec_read_u16(fingerprint + FINGERPRINT_SIZE - 2) % PARTITIONS;
}
