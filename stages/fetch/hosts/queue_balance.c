#include "stages/fetch/hosts/queue_balance.h"

#include <stdlib.h>

#include "base/memory.h"

enum { SAMPLED_MOST = 400 }; /* what was long ago counts less */

static const enum meta_field sampled_fields[] = {META_SITEMAP_SAMPLED, META_LINK_SAMPLED};
static const enum meta_field useful_fields[] = {META_SITEMAP_USEFUL, META_LINK_USEFUL};

struct balance *
balance_new(unsigned epoch)
{
    struct balance *balance = memory_new(sizeof *balance);
    queue_balance_init(&balance->queues, epoch);
    balance->size =
        balance->queues.step < BALANCE_SAMPLE ? balance->queues.step : (unsigned)BALANCE_SAMPLE;
    return balance;
}

static void
clear(struct balance_sample *sample)
{
    for (unsigned i = 0; i < BALANCE_SAMPLE; i++) {
        free(sample->uris[i]);
    }
    *sample = (struct balance_sample){0};
}

void
balance_free(struct balance *balance)
{
    for (int kind = 0; balance != NULL && kind < BALANCE_KINDS; kind++) {
        clear(&balance->now[kind]);
        clear(&balance->before[kind]);
    }
    free(balance);
}

bool
balance_note(struct balance *balance, enum balance_kind kind, struct slice uri)
{
    struct balance_sample *sample = &balance->now[kind];
    char **place = &sample->uris[sample->count++ % balance->size];
    free(*place);
    *place = memory_string_n(uri.at, uri.length);
    return ++balance->fetched >= balance->queues.total;
}

/* Tells whether the document brought something new; remembers it. */
static bool
balance_is_useful(struct balance *balance, struct slice record)
{
    struct slice state = {0}, text = {0};
    uint64_t quads = 0;
    struct minhash minhash;
    (void)meta_record_text(record, META_STATE, &state);
    (void)meta_record_number(record, META_QUADS, &quads);
    if (!slice_is(state, "indexed") || quads == 0) {
        return false;
    }
    if (!meta_record_text(record, META_SKETCH, &text) || !minhash_read(text, &minhash)) {
        return true;
    }
    const unsigned known = balance->minhash_count < BALANCE_SKETCHES ? balance->minhash_count
                                                                     : (unsigned)BALANCE_SKETCHES;
    for (unsigned i = 0; i < known; i++) {
        if (minhash_agreement(&balance->minhashes[i], &minhash) >= MINHASH_SAME) {
            return false;
        }
    }
    balance->minhashes[balance->minhash_count++ % BALANCE_SKETCHES] = minhash;
    return true;
}

static void
take_record(struct balance *balance, struct slice host)
{
    uint64_t share = 0;
    for (int kind = 0; kind < BALANCE_KINDS; kind++) {
        (void)meta_record_number(host, sampled_fields[kind], &balance->sampled[kind]);
        (void)meta_record_number(host, useful_fields[kind], &balance->useful[kind]);
    }
    if (meta_record_number(host, META_SITEMAP_SHARE, &share)) {
        queue_balance_set_share(&balance->queues, (uint8_t)share);
    }
    balance->known = true;
}

void
balance_next_epoch(struct balance *balance)
{
    for (int kind = 0; kind < BALANCE_KINDS; kind++) {
        clear(&balance->before[kind]);
        balance->before[kind] = balance->now[kind];
        balance->now[kind] = (struct balance_sample){0};
    }
    balance->fetched = 0;
}

void
balance_look(struct balance *balance, struct slice host, const struct slice *records,
             const unsigned counts[BALANCE_KINDS])
{
    double utility[BALANCE_KINDS] = {0};
    if (!balance->known) {
        take_record(balance, host);
    }
    for (int kind = 0; kind < BALANCE_KINDS; kind++) {
        unsigned useful = 0;
        for (unsigned i = 0; i < counts[kind]; i++) {
            useful += balance_is_useful(balance, *records++);
        }
        balance->sampled[kind] += counts[kind];
        balance->useful[kind] += useful;
        if (balance->sampled[kind] > SAMPLED_MOST) {
            balance->sampled[kind] /= 2;
            balance->useful[kind] /= 2;
        }
        utility[kind] = counts[kind] > 0 ? (double)useful / counts[kind] : 0;
    }
    if (counts[BALANCE_SITEMAP] > 0 && counts[BALANCE_LINK] > 0) {
        queue_balance_adjust(&balance->queues, utility[BALANCE_SITEMAP], utility[BALANCE_LINK]);
    }
    balance->pending = true;
}
