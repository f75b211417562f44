#include "index/read/provenance_records.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/system/clock.h"
#include "index/terms/term_set.h"

enum { ANSWER_MS = 30000, LOOK_MS = 50 };

/* Remembered records are the terms of a set, whose numbers are places in `known`: a set of names
 * that are compared as bytes and hashed with a secret. */
struct provenance_records {
    const struct provenance_settings *settings;
    uint64_t deadline_ms; /* monotonic, 0: none */
    struct metastore_client *client;
    struct term_set keys;
    struct slice *known; /* records, of keys.terms; empty: nothing is known */
    size_t known_room;
    struct arena arena; /* of known */
    /* A get that is under way, or was given up. */
    struct slice const *wanted;
    size_t wanted_count;
    bool answered, given_up;
    enum status status;
    struct reason why;
};

struct provenance_records *
provenance_records_new(const struct provenance_settings *settings)
{
    struct provenance_records *records = memory_new(sizeof *records);
    records->settings = settings;
    records->deadline_ms =
        settings->timeout_ms > 0 ? clock_monotonic_ms() + settings->timeout_ms : 0;
    term_set_init(&records->keys);
    arena_init(&records->arena, 0);
    return records;
}

void
provenance_records_free(struct provenance_records *records)
{
    if (records != NULL) {
        metastore_client_close(records->client);
        term_set_release(&records->keys);
        arena_release(&records->arena);
        free(records->known);
        free(records);
    }
}

enum status
provenance_records_check(const struct provenance_records *records, struct reason *why)
{
    if (records->settings->cancel != NULL && atomic_load(records->settings->cancel)) {
        return status_fail(why, STATUS_CANCELLED, "the query was cancelled");
    }
    if (records->deadline_ms > 0 && clock_monotonic_ms() >= records->deadline_ms) {
        return status_fail(why, STATUS_TIMEOUT, "the query took too long to read metadata");
    }
    return STATUS_OK;
}

static enum status
open_client(struct provenance_records *records, struct reason *why)
{
    if (records->given_up) {
        return status_fail(why, STATUS_TIMEOUT, "the metadata store has not answered");
    }
    if (records->client != NULL) {
        return STATUS_OK;
    }
    if (records->settings->metastore == NULL) {
        return status_fail(why, STATUS_UNSUPPORTED,
                           "<" QUERY_PROVENANCE "> is not known here: there is no metadata store");
    }
    return metastore_client_open(&records->client, records->settings->metastore, why);
}

/* ---- some records ---- */

static struct set_term *
find(const struct provenance_records *records, struct slice key)
{
    const struct term name = term_iri(key);
    return term_set_find(&records->keys, &name, term_hash(&name));
}

static void
remember(struct provenance_records *records, struct slice key, struct slice record)
{
    const struct term name = term_iri(key);
    const size_t at = term_set_add(&records->keys, &name);
    records->known = array_grow(records->known, at, &records->known_room, sizeof *records->known);
    records->known[at] = arena_copy(&records->arena, record);
}

static void
got(void *context, enum status status, const struct slice *found, size_t n,
    const struct reason *why)
{
    struct provenance_records *records = context;
    records->answered = true;
    records->status = status;
    if (status != STATUS_OK && why != NULL) {
        records->why = *why;
    }
    if (records->given_up) {
        return;
    }
    for (size_t i = 0; status == STATUS_OK && i < n && i < records->wanted_count; i++) {
        remember(records, records->wanted[i], found[i]);
    }
}

static enum status
wait_for_answer(struct provenance_records *records, struct reason *why)
{
    const uint64_t end = clock_monotonic_ms() + ANSWER_MS;
    while (!records->answered) {
        metastore_wait(records->client, LOOK_MS);
        if (!records->answered) {
            TRY(provenance_records_check(records, why));
            if (clock_monotonic_ms() >= end) {
                return status_fail(why, STATUS_TIMEOUT, "the metadata store does not answer");
            }
        }
    }
    return STATUS_OK;
}

enum status
provenance_records_fetch(struct provenance_records *records, const struct slice *keys, size_t n,
                         struct reason *why)
{
    struct slice *missing = memory_zero(n + 1, sizeof *missing);
    size_t count = 0;
    enum status status = open_client(records, why);
    if (records->arena.used + term_set_bytes(&records->keys) > records->settings->memory) {
        term_set_reset(&records->keys);
        arena_reset(&records->arena);
    }
    for (size_t i = 0; i < n; i++) {
        const bool again = count > 0 && slice_equal(keys[i], missing[count - 1]);
        if (!again && meta_key_valid(keys[i]) && find(records, keys[i]) == NULL) {
            missing[count++] = keys[i];
        }
    }
    if (status == STATUS_OK && count > 0) {
        records->answered = false;
        records->wanted = missing;
        records->wanted_count = count;
        metastore_get(records->client, missing, count, got, records);
        status = wait_for_answer(records, why);
        records->given_up = !records->answered;
        if (status == STATUS_OK && records->status != STATUS_OK) {
            status = status_fail(why, records->status, "metadata: %s", records->why.text);
        }
    }
    free(missing);
    return status;
}

enum status
provenance_records_get(struct provenance_records *records, struct slice key, struct slice *record,
                       struct reason *why)
{
    *record = (struct slice){NULL, 0};
    struct set_term *found = find(records, key);
    if (found == NULL) {
        TRY(provenance_records_fetch(records, &key, 1, why));
        found = find(records, key);
    }
    if (found != NULL) {
        *record = records->known[found - records->keys.terms];
    }
    return STATUS_OK;
}

/* ---- all records ---- */

enum status
provenance_records_scan(struct provenance_records *records, struct slice prefix, struct slice after,
                        metastore_visit *visit, void *context, struct reason *why)
{
    TRY(open_client(records, why));
    TRY(provenance_records_check(records, why));
    uint64_t wait = ANSWER_MS;
    if (records->deadline_ms > 0) {
        const uint64_t now = clock_monotonic_ms();
        const uint64_t left = records->deadline_ms > now ? records->deadline_ms - now : 1;
        wait = left < wait ? left : wait;
    }
    const enum status status = metastore_scan(records->client, prefix, after, UINT32_MAX, visit,
                                              context, (uint32_t)wait, why);
    return status == STATUS_OK ? STATUS_OK : status_prefix(why, status, "metadata");
}
