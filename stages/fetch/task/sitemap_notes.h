/* Sitemaps, as far as every task of a host knows of them:
 *
 *   sitemap_notes.c     the sitemaps that robots.txt names as jobs; what is noted of sitemaps
 *   queue_shares.c      how fetches are divided between what sitemaps list and what links lead to
 */
#ifndef STAGES_FETCH_TASK_SITEMAP_NOTES_H
#define STAGES_FETCH_TASK_SITEMAP_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"

struct task;

enum sitemap_score { SCORE_PRIORITY, SCORE_LINK, SCORE_BOTH };

/* What options say. */
struct sitemap_settings {
    bool followed;
    bool guessed;       /* /sitemap.xml is asked for where nobody names one */
    bool obey_location; /* sitemaps speak for their folder only */
    enum sitemap_score score;
    uint64_t files;  /* most that a host's indexes and robots.txt have fetched */
    uint64_t budget; /* new URLs of sitemaps of a host a day; 0: all */
};

/* A copy of what the host's robots.txt names, since the cache may forget it any time. rules.c
 * fills it. */
struct named_sitemaps {
    struct slice *urls; /* still to be queued; in the job's arena */
    size_t count;
    bool mapped; /* the host has sitemaps */
    bool again;  /* they were queued before, at a greater depth */
    bool guess;  /* no sitemap is named: the one of them is where one may be */
};

#define GUESS_FOUND "found"
/* Tells the host's other jobs what the guess came to: GUESS_FOUND, or why it is none. */
void task_note_guess(struct task *task, const char *outcome);
/* Queues the sitemaps that the host's robots.txt names, unless that was done; a guess only after a
 * good page. */
void task_queue_sitemaps(struct task *task, bool good);
/* Puts a job of a sitemap, or of what one lists. */
void sitemap_put_job(struct task *task, struct slice key, unsigned depth, uint8_t priority,
                     struct slice via, struct slice data, uint8_t flags);
/* The data of a sitemap's job: who names it, and how far below robots.txt. */
void sitemap_encode_naming(struct slice origin, bool guess, uint64_t nesting, struct buf *data);
/* Notes of a sitemap on another host that whoever follows it may take entries of the host that
 * names it. */
void sitemap_note_naming(struct task *task, struct slice sitemap, struct slice origins);
/* A sitemap that was read before has not changed. */
void task_note_reading(struct task *task);
/* Notes when a link led to it, of what links found before any sitemap. */
void task_note_first_link(struct task *task);

/* queue_shares.c: counts the fetch for the balance of the host's two queues. */
void task_balance(struct task *task);

#endif
