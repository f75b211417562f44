/* Caches the triples that several partitions have, until one of these partitions commits. */
#include "index/client/federation/federation_counts.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { KEPT = 32, KEPT_BYTES = 8 << 20 };

/* By how much the sum of the partitions' counts is too high. The federation's identifiers mean
 * nothing to the next one, so terms are kept. */
struct repeated_counts {
    char *question;
    size_t length;
    uint64_t used;
    bool too_many; /* what is repeated has no room, so it is scanned each time */
    struct term_set terms;
    struct triple_count *list; /* values: index + 1 of a term, or inline, or OID_LOCAL */
    size_t count, bytes;
};

struct repeated_cache {
    struct repeated_counts kept[KEPT];
    uint64_t uses;
    size_t bytes;
};

static void
forget(struct repeated_cache *cache, struct repeated_counts *kept)
{
    cache->bytes -= kept->bytes;
    if (kept->question != NULL) {
        term_set_release(&kept->terms);
    }
    free(kept->question);
    free(kept->list);
    *kept = (struct repeated_counts){.used = 0};
}

void
repeated_cache_free(struct repeated_cache *cache)
{
    for (size_t i = 0; cache != NULL && i < KEPT; i++) {
        forget(cache, &cache->kept[i]);
    }
    free(cache);
}

struct repeated_counts *
repeated_find(const struct counting *counting)
{
    struct repeated_cache *cache = counting->federation->client->repeated;
    for (size_t i = 0; cache != NULL && i < KEPT; i++) {
        struct repeated_counts *kept = &cache->kept[i];
        if (kept->used > 0 && kept->length == counting->question.length &&
            memcmp(kept->question, counting->question.data, kept->length) == 0) {
            return kept;
        }
    }
    return NULL;
}

/* The entry that was used least lately, or one that is free. */
static struct repeated_counts *
oldest(struct repeated_cache *cache)
{
    struct repeated_counts *found = &cache->kept[0];
    for (size_t i = 1; i < KEPT; i++) {
        found = cache->kept[i].used < found->used ? &cache->kept[i] : found;
    }
    return found;
}

/* Takes over what is repeated. False: it is too long to be kept. */
static bool
fill(struct repeated_counts *kept, const struct counting *counting)
{
    const struct totals *repeated = &counting->repeated;
    const size_t room = KEPT_BYTES / 2, list = repeated->count * sizeof(*kept->list);
    kept->bytes = kept->length + list;
    if (kept->bytes > room) {
        return false;
    }
    kept->list = memory_alloc(list);
    for (; kept->count < repeated->count; kept->count++) {
        struct triple_count one = repeated->list[kept->count];
        char text[OID_INLINE_TEXT];
        if (federation_is_numbered(counting->federation, one.value)) {
            const struct term term = federation_term(counting->federation, one.value, text);
            one.value = (oid)term_set_add(&kept->terms, &term) + 1;
        }
        if (kept->bytes + term_set_bytes(&kept->terms) > room) {
            return false;
        }
        kept->list[kept->count] = one;
    }
    kept->bytes += term_set_bytes(&kept->terms);
    return true;
}

void
repeated_keep(struct counting *counting)
{
    struct index_client *client = counting->federation->client;
    if (client->repeated == NULL) {
        client->repeated = memory_new(sizeof(*client->repeated));
    }
    struct repeated_cache *cache = client->repeated;
    struct repeated_counts one = {.too_many = counting->too_many,
                                  .length = counting->question.length};
    one.question = memory_string_n(counting->question.data, one.length);
    term_set_init(&one.terms);
    const bool fits = fill(&one, counting);
    cache->bytes += one.bytes;
    if (!fits) {
        forget(cache, &one);
        return;
    }
    struct repeated_counts *kept = repeated_find(counting);
    kept = kept == NULL ? oldest(cache) : kept;
    forget(cache, kept);
    one.used = ++cache->uses;
    *kept = one;
    for (size_t i = 0; i < KEPT && cache->bytes > KEPT_BYTES; i++) {
        struct repeated_counts *least = NULL;
        for (size_t k = 0; k < KEPT; k++) {
            struct repeated_counts *other = &cache->kept[k];
            least = other->used > 0 && (least == NULL || other->used < least->used) ? other : least;
        }
        forget(cache, least);
    }
}

enum status
repeated_recall(struct counting *counting, struct repeated_counts *kept, struct reason *why)
{
    if (kept->too_many) {
        return status_fail(why, STATUS_LIMIT, "too many triples are in several partitions");
    }
    kept->used = ++counting->federation->client->repeated->uses;
    for (size_t i = 0; i < kept->count; i++) {
        oid value = kept->list[i].value;
        if (value <= kept->terms.count) {
            TRY(federation_id(counting->federation, &kept->terms.terms[value - 1].term, &value,
                              why));
        }
        totals_add(&counting->repeated, value, kept->list[i].triples);
    }
    return totals_sum(&counting->repeated, &counting->check, why);
}
