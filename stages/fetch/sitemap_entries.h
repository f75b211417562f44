/* A sitemap that was fetched, being compared with what is known: its entries, what of them is new,
 * claims to have changed, or passes the budget of who submits it. docs/SITEMAPS.md; inside of the
 * fetch stage. */
#ifndef STAGES_FETCH_SITEMAP_ENTRIES_H
#define STAGES_FETCH_SITEMAP_ENTRIES_H

#include "datasets/sitemap.h"
#include "stages/fetch/fetch_steps.h"

/* An entry, or a translation that it names. */
struct listed {
    struct slice key;
    uint64_t modified_ms;
    struct slice frequency, facts;
    uint8_t stated;   /* priority as said, 0..100 */
    uint8_t priority; /* of its job */
    bool is_new;      /* no sitemap listed it before */
    bool claimed;     /* it has changed since, it says, and is to be visited now */
    bool held;        /* over the budget */
    bool left_out;    /* over what sitemaps.budget allows */
};

struct listing {
    struct task *task;
    struct arena arena;
    struct buf entries_memory; /* what a worker said of them */
    struct slice submitter;    /* origin whose robots.txt names the sitemap, else its own */
    struct slice origins;      /* further hosts that name it: lines */
    bool named, index, describes;
    char problem[REASON_SIZE]; /* why it is none; "": it is one */
    bool archived;             /* it was read before, and is now for what an older scope refused */
    bool again;      /* an index that is read for its entries, which are to be fetched again */
    const char *cut; /* which limit of ours left entries out; NULL: none */
    struct sitemap_result result;
    struct listed *entries;
    size_t count, capacity;
    size_t bytes; /* that its jobs and records will take, about */
    unsigned refused, outside, fresh;
    /* of the submitter */
    struct submissions submissions; /* as its record says; the cache's are newer */
    uint64_t allowance;
    uint64_t claims_held, claims_broken;
    /* of the reading */
    size_t at; /* entries before it are decided */
    size_t *claims, claim_count;
    void (*done)(void *context, struct listing *listing, const char *problem);
};

/* Copies what it needs of sitemap, which is a candidate. done gets the task, and the listing, whose
 * records have been put with the task's job (to be freed by listing_free), or NULL and why metadata
 * could not be read. */
void listing_read(struct task *task, struct slice submitter, bool named,
                  const struct parsed_sitemap *sitemap,
                  void (*done)(void *context, struct listing *listing, const char *problem));
void listing_free(struct listing *listing);

#endif
