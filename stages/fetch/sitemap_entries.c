/* Order of events: the records of submitter and sitemap; its entries; sightings of the entries, a
 * chunk at a time; visits of the documents that are said to have changed; records. */
#include "stages/fetch/sitemap_entries.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/digest.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "base/url/url.h"
#include "datasets/sitemap_score.h"

enum {
    CHUNK = 1000,       /* records asked for at a time */
    VISITS_CHUNK = 100, /* the same of documents, which are larger */
    ENTRY_BYTES = 320,  /* of a job and a record beside its strings */
    OUTPUT_BYTES_MAXIMUM = 40 << 20,
    LISTING_MEMORY = 128 << 20,
    MINUTE_MS = 60000,
    SUBMISSION_PERIOD_MS = 24 * 60 * MINUTE_MS,
    /* The protocol knows one index above a sitemap, some sites have two; without a limit indexes
     * that list indexes have no end. */
    SITEMAP_NESTING = 3
};

void
listing_free(struct listing *listing)
{
    buf_release(&listing->entries_memory);
    arena_release(&listing->arena);
    free(listing->entries);
    free(listing->claims);
    free(listing);
}

static void
fail(struct listing *listing, const struct reason *why)
{
    struct task *task = listing->task;
    void (*done)(void *, struct listing *, const char *) = listing->done;
    listing_free(listing);
    done(task, NULL, why->text);
}

/* ---- entries ---- */

static bool
names_origin(struct slice lines, struct slice host)
{
    while (lines.length > 0) {
        if (slice_equal(url_host(slice_take(&lines, '\n')), host)) {
            return true;
        }
    }
    return false;
}

/* Tells whether the sitemap may speak of it; counts what it may not. */
static bool
may_list(struct listing *listing, struct slice key)
{
    const struct slice sitemap = listing->task->url, host = url_host(key);
    const bool by_robots = (listing->named && slice_equal(host, url_host(listing->submitter))) ||
                           names_origin(listing->origins, host);
    if (by_robots) {
        return true;
    }
    if (!slice_equal(host, url_host(sitemap))) {
        listing->refused++;
        return false;
    }
    if (sitemap_is_below(sitemap, key)) {
        return true;
    }
    listing->outside++;
    return !listing->task->fetch->sitemaps.obey_location;
}

static bool
is_in_scope(struct listing *listing, struct slice key, unsigned depth)
{
    struct task *task = listing->task;
    const bool allowed = scope_allows(task->fetch->scope, key, depth, NULL);
    if (!allowed && (task->end.refused & REFUSED_ENTRIES) == 0) {
        task_note_refused(task, REFUSED_ENTRIES);
    }
    return allowed;
}

/* False: there is no room for more. */
static bool
add(struct listing *listing, struct slice location, const struct listed *listed)
{
    struct task *task = listing->task;
    const unsigned depth = task->job->job.depth + (listing->index ? 0u : 1u);
    struct buf key;
    bool room = true;
    buf_init(&key, URL_MAXIMUM);
    if (url_rules_key(&task->fetch->url_rules, location, task->url, &key, NULL) == STATUS_OK &&
        may_list(listing, buf_slice(&key)) && is_in_scope(listing, buf_slice(&key), depth)) {
        listing->bytes += key.length * 3 + task->url.length * 2 + listed->facts.length +
                          listed->frequency.length + ENTRY_BYTES;
        room = listing->bytes <= OUTPUT_BYTES_MAXIMUM;
        if (room && listing->count == listing->capacity) {
            listing->capacity = listing->capacity * 2 + 64;
            listing->entries =
                memory_resize(listing->entries, listing->capacity, sizeof *listing->entries);
        }
        if (room) {
            struct listed *to = &listing->entries[listing->count++];
            *to = *listed;
            to->key = arena_copy(&listing->arena, buf_slice(&key));
            to->frequency = arena_copy(&listing->arena, listed->frequency);
            to->facts = arena_copy(&listing->arena, listed->facts);
        }
    }
    buf_release(&key);
    listing->result.limited |= !room;
    return room;
}

static void
take_entries(struct listing *listing)
{
    struct slice rest = buf_slice(&listing->entries_memory);
    struct sitemap_entry entry;
    while (parsed_sitemap_next(&rest, &entry)) {
        const struct listed listed = {.modified_ms = entry.modified_ms,
                                      .frequency = entry.change_frequency,
                                      .facts = entry.facts,
                                      .stated = entry.priority};
        if (!add(listing, entry.location, &listed)) {
            break;
        }
    }
}

/* Translations come behind all entries: most of them are entries themselves, who say more. */
static void
take_alternates(struct listing *listing)
{
    struct slice rest = buf_slice(&listing->entries_memory), language, location;
    struct sitemap_entry entry;
    while (parsed_sitemap_next(&rest, &entry)) {
        const struct listed listed = {.stated = entry.priority};
        while (sitemap_next_alternate(&entry.alternates, &language, &location)) {
            if (!add(listing, location, &listed)) {
                return;
            }
        }
    }
}

static void
remove_duplicates(struct listing *listing)
{
    struct map keys = {0};
    size_t kept = 0;
    for (size_t i = 0; i < listing->count; i++) {
        if (map_add(&keys, fingerprint64(listing->entries[i].key))) {
            listing->entries[kept++] = listing->entries[i];
        }
    }
    listing->count = kept;
    map_release(&keys);
}

static void
take_sitemap(struct listing *listing)
{
    const struct slice uri = listing->task->url;
    listing->index = listing->result.kind == SITEMAP_INDEX;
    if (listing->result.kind == SITEMAP_NONE) {
        if (listing->named) {
            log_info("sitemap_unreadable", "uri=%.*s reason=%s", SLICE_PRINT(uri),
                     listing->problem);
            meta_set_text(&listing->task->job->meta, META_REASON, slice_string(listing->problem));
        }
        return;
    }
    take_entries(listing);
    if (!listing->result.limited) {
        take_alternates(listing);
    }
    remove_duplicates(listing);
    if (listing->index && listing->count > 0 &&
        listing->task->job->document.nesting >= SITEMAP_NESTING) {
        listing->cut = "more indexes above a sitemap than are followed";
        listing->count = 0;
    }
}

/* ---- records ---- */

static void
put_sighting(struct listing *listing, const struct listed *listed)
{
    struct task *task = listing->task;
    const uint64_t now_ms = clock_wall_ms();
    struct meta_update update;
    meta_update_init(&update);
    meta_set_text(&update, META_SITEMAP, task->url);
    meta_set_number(&update, META_SITEMAP_SEEN, now_ms);
    meta_set_number(&update, META_SITEMAP_LISTED, now_ms);
    meta_set_number(&update, META_SITEMAP_PRIORITY, listed->stated);
    if (listing->index) {
        meta_set_text(&update, META_SITEMAP_KIND, SLICE("sitemap"));
    }
    if (listed->modified_ms > 0) {
        meta_set_number(&update, META_SITEMAP_LASTMOD, listed->modified_ms);
    }
    if (listed->frequency.length > 0) {
        meta_set_text(&update, META_SITEMAP_CHANGEFREQ, listed->frequency);
    }
    if (listed->facts.length > 0) {
        meta_set_text(&update, META_SITEMAP_FACTS, listed->facts);
    }
    if (listed->held) {
        meta_set_text(&update, META_SITEMAP_HELD,
                      SLICE("its host has submitted more than sitemaps.budget allows"));
    }
    stage_put_meta(task->job, arena_printf(&listing->arena, "s%.*s", SLICE_PRINT(listed->key)),
                   meta_update_fields(&update));
    meta_update_release(&update);
}

/* Several sitemaps of a host may be read at a time: what they submit is counted with the host. */
static struct submissions *
submissions_of(struct listing *listing)
{
    const struct fetch *fetch = listing->task->fetch;
    struct host *host = hosts_find(fetch->hosts, listing->submitter, 0);
    struct submissions *submissions = host != NULL ? &host->submissions : &listing->submissions;
    const uint64_t now_ms = clock_wall_ms();
    const uint64_t files = submissions->files;
    if (submissions->period_ms < listing->submissions.period_ms) {
        *submissions = listing->submissions;
    }
    submissions->files = files > submissions->files ? files : submissions->files;
    if (submissions->period_ms + SUBMISSION_PERIOD_MS <= now_ms) {
        submissions->period_ms = now_ms;
        submissions->submitted = 0;
    }
    return submissions;
}

static void
put_submitter(struct listing *listing)
{
    const struct submissions *submissions = submissions_of(listing);
    struct meta_update update;
    meta_update_init(&update);
    if (!listing->archived) {
        meta_set_number(&update, META_SITEMAP_READ, clock_wall_ms());
    }
    meta_set_number(&update, META_SITEMAP_PERIOD, submissions->period_ms);
    meta_set_number(&update, META_SITEMAP_SUBMITTED, submissions->submitted);
    meta_set_number(&update, META_SITEMAP_EXCESS, submissions->excess);
    meta_set_number(&update, META_SITEMAP_FILES, submissions->files);
    stage_put_meta(listing->task->job,
                   arena_printf(&listing->arena, "h%.*s", SLICE_PRINT(listing->submitter)),
                   meta_update_fields(&update));
    meta_update_release(&update);
}

static void
finish(struct listing *listing)
{
    struct meta_update *meta = &listing->task->job->meta;
    const struct sitemap_result *result = &listing->result;
    const char *cut = listing->cut != NULL ? listing->cut : sitemap_truncation(result);
    put_submitter(listing);
    if (result->kind != SITEMAP_NONE && !listing->archived) {
        meta_set_text(meta, META_SITEMAP_SUBMITTER,
                      listing->named ? listing->submitter : (struct slice){0});
        meta_set_number(meta, META_SITEMAP_NESTING, listing->task->job->document.nesting);
        meta_set_text(meta, META_SITEMAP_KIND, slice_string(sitemap_kind_name(result->kind)));
        meta_set_number(meta, META_SITEMAP_ENTRIES, result->entries);
        meta_set_number(meta, META_SITEMAP_NEW, listing->fresh);
        meta_set_number(meta, META_SITEMAP_REFUSED, listing->refused);
        meta_set_number(meta, META_SITEMAP_OUTSIDE, listing->outside);
        meta_set_text(meta, META_SITEMAP_TRUNCATED, slice_string(cut));
        log_debug("sitemap", "uri=%.*s kind=%s entries=%u new=%u refused=%u cut=%s incomplete=%d",
                  SLICE_PRINT(listing->task->job->job.uri), sitemap_kind_name(result->kind),
                  result->entries, listing->fresh, listing->refused, cut, (int)result->incomplete);
    }
    listing->done(listing->task, listing, NULL);
}

/* ---- claims of change ---- */

static void check_claims(struct listing *listing);

static void
visits_read(void *context, enum status status, const struct slice *records, size_t n,
            const struct reason *why)
{
    struct listing *listing = context;
    if (status != STATUS_OK) {
        fail(listing, why);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        struct listed *listed = &listing->entries[listing->claims[listing->at + i]];
        listed->claimed =
            meta_record_count(records[i], META_VISITED) < sitemap_latest(listed->modified_ms);
    }
    listing->at += n;
    check_claims(listing);
}

/* Checks the entries: one that was visited after the time when it is said to have changed need not
 * be visited again. */
static void
check_claims(struct listing *listing)
{
    struct slice keys[VISITS_CHUNK];
    const size_t left = listing->claim_count - listing->at;
    const size_t n = left < VISITS_CHUNK ? left : VISITS_CHUNK;
    if (n == 0) {
        finish(listing);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const struct listed *listed = &listing->entries[listing->claims[listing->at + i]];
        keys[i] = arena_printf(&listing->arena, "u%.*s", SLICE_PRINT(listed->key));
    }
    metastore_get(stage_metastore(listing->task->job->run), keys, n, visits_read, listing);
}

/* ---- what was known ---- */

/* A sitemap that was read before the record existed: later than that reading. */
static bool
claims_change(const struct listing *listing, const struct listed *listed, struct slice record)
{
    const uint64_t known_ms = meta_record_count(record, META_SITEMAP_LASTMOD);
    const uint64_t visited_ms = listing->task->visit.visited_ms;
    if (listed->modified_ms == 0 || listed->is_new) {
        return false;
    }
    return known_ms > 0 ? listed->modified_ms > known_ms
                        : visited_ms > 0 && listed->modified_ms + MINUTE_MS > visited_ms;
}

static bool
says_something_new(const struct listing *listing, const struct listed *listed, struct slice record)
{
    struct slice frequency = {0}, facts = {0}, sitemap = {0};
    (void)meta_record_text(record, META_SITEMAP_CHANGEFREQ, &frequency);
    (void)meta_record_text(record, META_SITEMAP_FACTS, &facts);
    (void)meta_record_text(record, META_SITEMAP, &sitemap);
    return listed->is_new ||
           listed->modified_ms > meta_record_count(record, META_SITEMAP_LASTMOD) ||
           listed->stated != meta_record_count(record, META_SITEMAP_PRIORITY) ||
           (listed->frequency.length > 0 && !slice_equal(listed->frequency, frequency)) ||
           (listed->facts.length > 0 && !slice_equal(listed->facts, facts)) ||
           !slice_equal(sitemap, listing->task->url);
}

/* SitemapScore, 0..1. */
static double
score_of(const struct listing *listing, const struct listed *listed, struct slice record)
{
    uint64_t rank = 0;
    const bool ranked = meta_record_number(
        record,
        listing->task->fetch->sitemaps.score == SCORE_LINK ? META_LINK_RANK : META_PRIORITY_RANK,
        &rank);
    const double stated = (double)listed->stated / 100, ranks = (double)rank / 1000;
    switch (listing->task->fetch->sitemaps.score) {
    case SCORE_PRIORITY:
        return stated;
    case SCORE_LINK:
        return ranks;
    case SCORE_BOTH:
        break;
    }
    return ranked ? ranks : stated;
}

/* Tells whether an index may have the sitemap fetched. Those that are fetched again for their
 * entries count like new ones: indexes that list each other would have no end. */
static bool
has_room_for_file(struct listing *listing, const struct listed *listed)
{
    struct submissions *submissions = submissions_of(listing);
    if (!listed->is_new && !listing->again) {
        return true;
    }
    if (submissions->files >= listing->task->fetch->sitemaps.files) {
        listing->cut = "more sitemaps of the host than sitemaps.files";
        return false;
    }
    submissions->files++;
    return true;
}

static void
decide(struct listing *listing, size_t at, struct slice record)
{
    struct listed *listed = &listing->entries[at];
    struct fetch *fetch = listing->task->fetch;
    listed->is_new = meta_record_count(record, META_SITEMAP_SEEN) == 0;
    if (listing->index && !has_room_for_file(listing, listed)) {
        listed->left_out = true;
        return;
    }
    listed->priority = listed_priority(score_of(listing, listed, record));
    if (listed->is_new && !listing->index) {
        struct submissions *submissions = submissions_of(listing);
        listing->fresh++;
        listed->held = ++submissions->submitted > listing->allowance;
        submissions->excess += listed->held;
        listed->priority = listed->held ? SUBMISSION_PRIORITY : listed->priority;
    }
    const double trust = recrawl_trust(listing->claims_held, listing->claims_broken);
    if (fetch->recrawl.on && claims_change(listing, listed, record) &&
        recrawl_believes(trust, fingerprint64(listed->key) + listing->task->job->job.generation)) {
        listed->claimed = true;
        listing->claims[listing->claim_count++] = at;
    }
    if (says_something_new(listing, listed, record)) {
        put_sighting(listing, listed);
    }
}

static void next_chunk(struct listing *listing);

static void
sightings_read(void *context, enum status status, const struct slice *records, size_t n,
               const struct reason *why)
{
    struct listing *listing = context;
    if (status != STATUS_OK) {
        fail(listing, why);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        decide(listing, listing->at + i, records[i]);
    }
    listing->at += n;
    next_chunk(listing);
}

static void
next_chunk(struct listing *listing)
{
    struct slice keys[CHUNK];
    const size_t left = listing->count - listing->at;
    const size_t n = left < CHUNK ? left : CHUNK;
    if (n == 0) {
        listing->at = 0;
        check_claims(listing);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        keys[i] = arena_printf(&listing->arena, "s%.*s",
                               SLICE_PRINT(listing->entries[listing->at + i].key));
    }
    metastore_get(stage_metastore(listing->task->job->run), keys, n, sightings_read, listing);
}

/* ---- the beginning ---- */

static void
take_submitter(struct listing *listing, struct slice host)
{
    const struct fetch *fetch = listing->task->fetch;
    listing->submissions =
        (struct submissions){.period_ms = meta_record_count(host, META_SITEMAP_PERIOD),
                             .submitted = meta_record_count(host, META_SITEMAP_SUBMITTED),
                             .excess = meta_record_count(host, META_SITEMAP_EXCESS),
                             .files = meta_record_count(host, META_SITEMAP_FILES)};
    listing->claims_held = meta_record_count(host, META_CLAIMS_HELD);
    listing->claims_broken = meta_record_count(host, META_CLAIMS_BROKEN);
    listing->allowance = fetch->sitemaps.budget == 0
                             ? UINT64_MAX
                             : submission_allowance(fetch->sitemaps.budget,
                                                    meta_record_count(host, META_SITEMAP_SAMPLED),
                                                    meta_record_count(host, META_SITEMAP_USEFUL));
}

static void
records_read(void *context, enum status status, const struct slice *records, size_t n,
             const struct reason *why)
{
    struct listing *listing = context;
    struct slice origins = {0};
    if (status != STATUS_OK || n < 2) {
        fail(listing, why);
        return;
    }
    take_submitter(listing, records[0]);
    (void)meta_record_text(records[1], META_SITEMAP_FOR, &origins);
    listing->origins = arena_copy(&listing->arena, origins);
    take_sitemap(listing);
    listing->claims = memory_zero(listing->count + 1, sizeof *listing->claims);
    next_chunk(listing);
}

void
listing_read(struct task *task, struct slice submitter, bool named,
             const struct parsed_sitemap *sitemap,
             void (*done)(void *context, struct listing *listing, const char *problem))
{
    struct listing *listing = memory_new(sizeof *listing);
    const bool archived = task_kind(task->job->job.uri) == TASK_LISTING;
    *listing = (struct listing){.task = task,
                                .submitter = submitter,
                                .named = named,
                                .describes = sitemap->describes,
                                .result = sitemap->result,
                                .again = (task->job->job.flags & JOB_RECRAWL) != 0 &&
                                         task->job->job.due_ms == 0 && !archived,
                                .archived = archived,
                                .done = done};
    snprintf(listing->problem, sizeof listing->problem, "%.*s", SLICE_PRINT(sitemap->problem));
    buf_init(&listing->entries_memory, PARSER_ENTRIES_BYTES);
    buf_append_slice(&listing->entries_memory, sitemap->entries);
    arena_init(&listing->arena, LISTING_MEMORY);
    const struct slice keys[2] = {
        arena_printf(&listing->arena, "h%.*s", SLICE_PRINT(submitter)),
        arena_printf(&listing->arena, "u%.*s", SLICE_PRINT(task->url)),
    };
    metastore_get(stage_metastore(task->job->run), keys, 2, records_read, listing);
}
