#include "index/terms/term_digests.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/codec.h"
#include "base/digest.h"
#include "base/memory.h"
#include "index/terms/oid.h"

enum { PAGE_TERMS = 4096, PAGES = TERM_DIGESTS_MOST / PAGE_TERMS, TERM_MOST = 1 << 30 };

/* low is written last and is 0 as long as the digest is not known. Two threads that make the same
 * digest write the same. */
struct kept {
    _Atomic uint64_t high, low;
};

struct page {
    struct kept terms[PAGE_TERMS];
};

struct term_digests {
    _Atomic(struct page *) pages[PAGES]; /* made when first needed */
};

struct term_digests *
term_digests_new(void)
{
    return memory_new(sizeof(struct term_digests));
}

void
term_digests_free(struct term_digests *digests)
{
    for (size_t i = 0; digests != NULL && i < PAGES; i++) {
        free(atomic_load(&digests->pages[i]));
    }
    free(digests);
}

/* NULL: the number is too high to be kept. */
static struct kept *
place_of(struct term_digests *digests, uint64_t number)
{
    if (number >= TERM_DIGESTS_MOST) {
        return NULL;
    }
    _Atomic(struct page *) *at = &digests->pages[number / PAGE_TERMS];
    struct page *page = atomic_load_explicit(at, memory_order_acquire);
    if (page == NULL) {
        struct page *made = memory_new(sizeof(*made));
        if (atomic_compare_exchange_strong(at, &page, made)) {
            page = made;
        } else {
            free(made);
        }
    }
    return &page->terms[number % PAGE_TERMS];
}

static struct term_digest
digest_of(const struct term *term)
{
    struct buf bytes;
    uint8_t digest[FINGERPRINT_SIZE];
    buf_init(&bytes, TERM_MOST);
    codec_put_u8(&bytes, (uint8_t)term->kind);
    codec_put_slice(&bytes, term->value);
    codec_put_slice(&bytes, term->datatype);
    codec_put_slice(&bytes, term->language);
    fingerprint_of(buf_slice(&bytes), digest);
    buf_release(&bytes);
    const uint64_t low = codec_read_u64(digest + sizeof(uint64_t));
    return (struct term_digest){codec_read_u64(digest), low > 0 ? low : 1};
}

enum status
term_digests_find(struct term_digests *digests, const struct quad_source *source, oid id,
                  struct arena *arena, struct term_digest *digest, struct reason *why)
{
    if (!oid_is_stored(id)) {
        *digest = (struct term_digest){UINT64_MAX, id}; /* the same in every partition */
        return STATUS_OK;
    }
    struct kept *kept = place_of(digests, oid_number(id));
    digest->low = kept ? atomic_load_explicit(&kept->low, memory_order_acquire) : 0;
    if (digest->low > 0) {
        digest->high = atomic_load_explicit(&kept->high, memory_order_relaxed);
        return STATUS_OK;
    }
    struct term term;
    arena_reset(arena);
    TRY(source->resolve(source->context, id, arena, &term, why));
    *digest = digest_of(&term);
    if (kept != NULL) {
        atomic_store_explicit(&kept->high, digest->high, memory_order_relaxed);
        atomic_store_explicit(&kept->low, digest->low, memory_order_release);
    }
    return STATUS_OK;
}
