#include "index/statistics/triple_counts.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { ROWS = 1024, TABLE_LEAST = 64, SUBJECTS_LEAST = 256 };

static const char too_many[] = "there are too many values to count";

/* ---- counting ---- */

struct counting {
    const struct count_request *request;
    bool by_object; /* repetitions are dropped among the subjects of one object */
    struct quad_oids last;
    oid value; /* of the triples that are not in the table yet, and their number */
    uint64_t pending;
    struct triple_count *table; /* places of value OID_NONE are free; of pairs a list */
    size_t places, used;
    oid *subjects; /* of the present object */
    size_t subject_count, subject_room;
    bool ascending;
};

static oid
place_of(const struct quad_oids *quad, enum triple_place place)
{
    return place == TRIPLE_SUBJECT     ? quad->subject
           : place == TRIPLE_PREDICATE ? quad->predicate
           : place == TRIPLE_OBJECT    ? quad->object
                                       : OID_LOCAL;
}

static bool
choose_order(const struct count_request *request, enum quad_order *order, bool *by_object)
{
    const struct quad_oids *pattern = &request->pattern;
    *by_object = pattern->predicate && !pattern->subject;
    *order = *by_object                               ? ORDER_POCS
             : pattern->object && !pattern->predicate ? ORDER_OSPC
                                                      : ORDER_SPOC;
    return request->by == TRIPLE_GRAPHS ? *by_object
           : request->by == TRIPLE_PAIRS
               ? *by_object && !pattern->object
               : !place_of(pattern, request->by) == (request->by != TRIPLE_ALL);
}

static struct triple_count *
find_place(struct triple_count *table, size_t places, oid value)
{
    const uint64_t hash = value * UINT64_C(0x9E3779B97F4A7C15);
    size_t at = (hash ^ hash >> 32) & (places - 1);
    while (table[at].value != OID_NONE && table[at].value != value) {
        at = (at + 1) & (places - 1);
    }
    return &table[at];
}

static enum status
grow_table(struct counting *c, struct reason *why)
{
    const size_t places = c->places ? 2 * c->places : TABLE_LEAST;
    /* The old one is half as large; a list that is sorted and lent takes no more than both. */
    if (places * sizeof *c->table > c->request->memory / 2) {
        return status_fail(why, STATUS_LIMIT, too_many);
    }
    struct triple_count *table = memory_zero(places, sizeof *table);
    for (size_t i = 0; i < c->places; i++) {
        if (c->table[i].value != OID_NONE) {
            *find_place(table, places, c->table[i].value) = c->table[i];
        }
    }
    free(c->table);
    c->table = table;
    c->places = places;
    return STATUS_OK;
}

/* Brings what is pending into the table. */
static enum status
settle(struct counting *c, struct reason *why)
{
    if (c->pending == 0) {
        return STATUS_OK;
    }
    if (2 * c->used >= c->places) {
        TRY(grow_table(c, why));
    }
    struct triple_count *place = find_place(c->table, c->places, c->value);
    c->used += place->value == OID_NONE;
    place->value = c->value;
    place->triples += c->pending;
    c->pending = 0;
    return STATUS_OK;
}

static inline enum status
add(struct counting *c, oid value, uint64_t triples, struct reason *why)
{
    if (value != c->value) {
        TRY(settle(c, why));
        c->value = value;
    }
    c->pending += triples;
    return STATUS_OK;
}

static int
compare_oids(const void *left, const void *right)
{
    const oid a = *(const oid *)left, b = *(const oid *)right;
    return (a > b) - (a < b);
}

static int
compare_counts(const void *left, const void *right)
{
    const struct triple_count *a = left, *b = right;
    const int values = compare_oids(&a->value, &b->value);
    return values ? values : compare_oids(&a->triples, &b->triples);
}

/* Drops repetitions among the subjects gathered. */
static void
tidy_subjects(struct counting *c)
{
    if (c->ascending) {
        return;
    }
    size_t kept = 0;
    qsort(c->subjects, c->subject_count, sizeof *c->subjects, compare_oids);
    for (size_t i = 0; i < c->subject_count; i++) {
        if (kept == 0 || c->subjects[i] != c->subjects[kept - 1]) {
            c->subjects[kept++] = c->subjects[i];
        }
    }
    c->subject_count = kept;
    c->ascending = true;
}

static enum status
add_pair(struct counting *c, oid subject, oid other, struct reason *why)
{
    if (c->used == c->places) {
        const size_t room = c->places ? 2 * c->places : TABLE_LEAST;
        if (room * sizeof *c->table > c->request->memory / 2) {
            return status_fail(why, STATUS_LIMIT, too_many);
        }
        c->table = memory_resize(c->table, room, sizeof *c->table);
        c->places = room;
    }
    c->table[c->used++] = (struct triple_count){subject, other};
    return STATUS_OK;
}

static enum status
end_object(struct counting *c, struct reason *why)
{
    tidy_subjects(c);
    const size_t count = c->subject_count;
    c->subject_count = 0;
    if (c->request->by == TRIPLE_PAIRS) {
        for (size_t i = 0; i < count; i++) {
            TRY(add_pair(c, c->subjects[i], c->last.object, why));
        }
        return STATUS_OK;
    }
    for (size_t i = 0; i < count && c->request->by == TRIPLE_SUBJECT; i++) {
        TRY(add(c, c->subjects[i], 1, why));
    }
    if (c->request->by == TRIPLE_SUBJECT) {
        return STATUS_OK;
    }
    return count ? add(c, place_of(&c->last, c->request->by), count, why) : STATUS_OK;
}

static enum status
make_room(struct counting *c, struct reason *why)
{
    tidy_subjects(c);
    if (2 * c->subject_count < c->subject_room) {
        return STATUS_OK;
    }
    const size_t room = c->subject_room ? 2 * c->subject_room : SUBJECTS_LEAST;
    if (room * sizeof *c->subjects > c->request->memory / 2) {
        return status_fail(why, STATUS_LIMIT, too_many);
    }
    c->subjects = memory_resize(c->subjects, room, sizeof *c->subjects);
    c->subject_room = room;
    return STATUS_OK;
}

static enum status
add_subject(struct counting *c, const struct quad_oids *quad, struct reason *why)
{
    if (quad->object != c->last.object) {
        TRY(end_object(c, why));
    }
    c->last = *quad;
    if (c->subject_count == c->subject_room) {
        TRY(make_room(c, why));
    }
    c->ascending = c->subject_count == 0 ||
                   (c->ascending && quad->subject > c->subjects[c->subject_count - 1]);
    c->subjects[c->subject_count++] = quad->subject;
    return STATUS_OK;
}

static enum status
add_triple(struct counting *c, const struct quad_oids *quad, struct reason *why)
{
    const struct quad_oids *last = &c->last;
    if (quad->object == last->object && quad->subject == last->subject &&
        quad->predicate == last->predicate) {
        return STATUS_OK;
    }
    c->last = *quad;
    return add(c, place_of(quad, c->request->by), 1, why);
}

static enum status
add_rows(struct counting *c, const struct quad_oids *quads, size_t n, struct reason *why)
{
    const enum triple_place by = c->request->by;
    for (size_t i = 0; i < n; i++) {
        const struct quad_oids *quad = &quads[i];
        TRY(by == TRIPLE_GRAPHS ? add_pair(c, quad->subject, quad->graph, why)
            : c->request->quads ? add(c, place_of(quad, by), 1, why)
            : c->by_object      ? add_subject(c, quad, why)
                                : add_triple(c, quad, why));
    }
    return STATUS_OK;
}

/* Leaves those of the quads that have a term of the kind asked for. */
static size_t
pick_kind(const struct count_request *request, const struct quad_source *source,
          struct quad_oids *quads, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        quads[kept] = quads[i];
        kept += source->kind(place_of(&quads[i], request->of)) == request->kind;
    }
    return kept;
}

static enum status
count_scan(struct counting *c, const struct quad_source *source, struct quad_scan *scan,
           struct reason *why)
{
    struct quad_oids quads[ROWS];
    size_t n = 1;
    while (n > 0) {
        TRY(c->request->check(c->request->check_context, why));
        TRY(source->scan_next(scan, quads, ROWS, &n, why));
        const bool any = c->request->kind == TERM_NONE;
        TRY(add_rows(c, quads, any ? n : pick_kind(c->request, source, quads, n), why));
    }
    TRY(end_object(c, why));
    return settle(c, why);
}

enum status
triple_counts_read(const struct quad_source *source, const struct count_request *request,
                   struct triple_count **counts, size_t *count, struct reason *why)
{
    struct counting c = {.request = request, .ascending = true};
    enum quad_order order;
    struct quad_scan *scan;
    *counts = NULL;
    *count = 0;
    if (!choose_order(request, &order, &c.by_object) || (request->kind && !source->kind)) {
        return status_fail(why, STATUS_UNSUPPORTED, "no order has the place, or no kind is known");
    }
    TRY(source->scan(source->context, &request->pattern, order, &scan, why));
    const enum status status = count_scan(&c, source, scan, why);
    source->scan_close(scan);
    free(c.subjects);
    if (status != STATUS_OK) {
        free(c.table);
        return status;
    }
    const bool pairs = request->by == TRIPLE_PAIRS || request->by == TRIPLE_GRAPHS;
    *count = pairs ? c.used : 0;
    for (size_t i = *count; i < c.places && !pairs; i++) {
        if (c.table[i].value != OID_NONE) {
            c.table[(*count)++] = c.table[i];
        }
    }
    if (*count > 1) {
        /* A join goes through them beside others in this order, also when they were counted, and
         * kept, for something else. */
        qsort(c.table, *count, sizeof *c.table, compare_counts);
    }
    *counts = c.table;
    return STATUS_OK;
}

/* ---- answers that are kept ---- */

enum { ENTRIES = 64 };

/* A list that several may have; the last to release it frees it. */
struct lent {
    atomic_size_t users;
    struct triple_count list[];
};

static struct lent *
lent_of(struct triple_count *counts)
{
    return (struct lent *)(void *)((char *)counts - offsetof(struct lent, list));
}

static struct triple_count *
lend(struct triple_count *counts)
{
    if (counts != NULL) {
        atomic_fetch_add_explicit(&lent_of(counts)->users, 1, memory_order_relaxed);
    }
    return counts;
}

void
triple_counts_release(struct triple_count *counts)
{
    if (counts != NULL &&
        atomic_fetch_sub_explicit(&lent_of(counts)->users, 1, memory_order_acq_rel) == 1) {
        free(lent_of(counts));
    }
}

/* A list that can be lent, of one that is freed. */
static struct triple_count *
make_lent(struct triple_count *counts, size_t count)
{
    struct lent *lent = memory_alloc(sizeof *lent + count * sizeof *counts);
    atomic_init(&lent->users, 1);
    if (count > 0) {
        memcpy(lent->list, counts, count * sizeof *counts);
    }
    free(counts);
    return lent->list;
}

struct entry {
    struct quad_oids pattern;
    enum triple_place by, of;
    bool quads;
    enum term_kind kind;
    struct triple_count *counts;
    size_t count;
    size_t failed; /* nonzero: the counts are not known, and did not fit in so much memory */
    bool asked;    /* the counts are not known, and were asked for */
    uint64_t used; /* when; 0: never */
};

struct triple_count_cache {
    pthread_mutex_t mutex;
    uint64_t version, uses;
    size_t bytes, most; /* of counts */
    struct entry entries[ENTRIES];
};

struct triple_count_cache *
triple_count_cache_new(size_t bytes)
{
    struct triple_count_cache *cache = memory_new(sizeof *cache);
    pthread_mutex_init(&cache->mutex, NULL);
    cache->most = bytes;
    return cache;
}

static void
forget(struct triple_count_cache *cache, struct entry *entry)
{
    cache->bytes -= entry->count * sizeof *entry->counts;
    triple_counts_release(entry->counts);
    *entry = (struct entry){.used = 0};
}

void
triple_count_cache_free(struct triple_count_cache *cache)
{
    if (cache == NULL) {
        return;
    }
    for (size_t i = 0; i < ENTRIES; i++) {
        forget(cache, &cache->entries[i]);
    }
    pthread_mutex_destroy(&cache->mutex);
    free(cache);
}

static struct entry *
find_entry(struct triple_count_cache *cache, const struct count_request *request)
{
    for (size_t i = 0; i < ENTRIES; i++) {
        struct entry *entry = &cache->entries[i];
        if (entry->used && entry->by == request->by && entry->of == request->of &&
            entry->kind == request->kind && entry->quads == request->quads &&
            memcmp(&entry->pattern, &request->pattern, sizeof entry->pattern) == 0) {
            return entry;
        }
    }
    return NULL;
}

/* NOT_FOUND when there is no such entry, AGAIN when its counts were asked for; else how it went
 * when it was counted. */
static enum status
look_up(struct triple_count_cache *cache, uint64_t version, const struct count_request *request,
        struct triple_count **counts, size_t *count)
{
    enum status status = STATUS_NOT_FOUND;
    pthread_mutex_lock(&cache->mutex);
    struct entry *entry = version == cache->version ? find_entry(cache, request) : NULL;
    if (entry != NULL) {
        entry->used = ++cache->uses;
    }
    if (entry != NULL && entry->asked) {
        status = STATUS_AGAIN;
    } else if (entry != NULL && entry->failed) {
        status = entry->failed >= request->memory ? STATUS_LIMIT : STATUS_NOT_FOUND;
    } else if (entry != NULL && entry->count * sizeof *entry->counts <= request->memory) {
        *counts = lend(entry->counts);
        *count = entry->count;
        status = STATUS_OK;
    }
    pthread_mutex_unlock(&cache->mutex);
    return status;
}

/* The entry that was used least lately, or one that is free. */
static struct entry *
oldest(struct triple_count_cache *cache)
{
    struct entry *found = &cache->entries[0];
    for (size_t i = 1; i < ENTRIES; i++) {
        found = cache->entries[i].used < found->used ? &cache->entries[i] : found;
    }
    return found;
}

/* Room for an entry with so many bytes. */
static struct entry *
make_entry(struct triple_count_cache *cache, size_t bytes)
{
    struct entry *entry = oldest(cache);
    forget(cache, entry);
    while (cache->bytes + bytes > cache->most) {
        struct entry *filled = &cache->entries[0];
        for (size_t i = 1; i < ENTRIES; i++) {
            struct entry *other = &cache->entries[i];
            if (other->count > 0 && (filled->count == 0 || other->used < filled->used)) {
                filled = other;
            }
        }
        forget(cache, filled);
    }
    return entry;
}

static void
keep(struct triple_count_cache *cache, uint64_t version, const struct count_request *request,
     struct triple_count *counts, size_t count, enum status outcome)
{
    const size_t bytes = count * sizeof *counts;
    pthread_mutex_lock(&cache->mutex);
    if (version > cache->version) {
        for (size_t i = 0; i < ENTRIES; i++) {
            forget(cache, &cache->entries[i]);
        }
        cache->version = version;
    }
    if (version == cache->version && bytes <= cache->most / 2) {
        struct entry *entry = find_entry(cache, request);
        if (entry != NULL) {
            forget(cache, entry);
        }
        entry = make_entry(cache, bytes);
        *entry = (struct entry){.pattern = request->pattern,
                                .by = request->by,
                                .of = request->of,
                                .quads = request->quads,
                                .kind = request->kind,
                                .counts = lend(counts),
                                .count = count,
                                .failed = outcome == STATUS_LIMIT ? request->memory : 0,
                                .asked = outcome == STATUS_UNSUPPORTED,
                                .used = ++cache->uses};
        cache->bytes += bytes;
    }
    pthread_mutex_unlock(&cache->mutex);
}

enum status
triple_counts_cached(struct triple_count_cache *cache, uint64_t version,
                     const struct quad_source *source, const struct count_request *request,
                     struct triple_count **counts, size_t *count, struct reason *why)
{
    *counts = NULL;
    *count = 0;
    const enum status known = look_up(cache, version, request, counts, count);
    if (known == STATUS_NOT_FOUND && request->again) {
        keep(cache, version, request, NULL, 0, STATUS_UNSUPPORTED);
        return status_fail(why, STATUS_UNSUPPORTED, "it was not asked for before");
    }
    if (known != STATUS_NOT_FOUND && known != STATUS_AGAIN) {
        return known == STATUS_OK ? STATUS_OK : status_fail(why, known, too_many);
    }
    const enum status status = triple_counts_read(source, request, counts, count, why);
    *counts = status == STATUS_OK ? make_lent(*counts, *count) : NULL;
    if (status == STATUS_OK || status == STATUS_LIMIT) {
        keep(cache, version, request, *counts, *count, status);
    }
    return status;
}
