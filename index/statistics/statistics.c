#include "index/statistics/statistics.h"

#include <string.h>

#include "base/codec.h"
#include "base/varint.h"

/* An index of the format before is one of this without changes that are gathered. */
enum { FORMAT = 8, FORMAT_BEFORE = 7 };
enum { AHEAD = 16, VALUE_MOST = STATISTIC_NUMBERS_MOST * VARINT_MAXIMUM };

/* ---- numbers ---- */

enum status
statistics_read(struct tree *statistics, struct slice key, uint64_t *numbers, size_t n,
                struct reason *why)
{
    uint8_t value[VALUE_MOST];
    size_t length = sizeof(value);
    TRY(tree_get(statistics, NULL, key, value, &length, why));
    struct codec_reader reader = codec_reader_of(slice_of((char *)value, length));
    for (size_t i = 0; i < n; i++) {
        numbers[i] = codec_get_varint(&reader);
    }
    return codec_at_end(&reader)
               ? STATUS_OK
               : status_fail(why, STATUS_CORRUPT, "tree statistics: a number is malformed");
}

enum status
statistics_write(struct tree *statistics, struct transaction *transaction, struct slice key,
                 const uint64_t *numbers, size_t n, struct reason *why)
{
    uint8_t value[VALUE_MOST];
    uint8_t *at = value;
    for (size_t i = 0; i < n; i++) {
        at = varint_put(at, numbers[i]);
    }
    return tree_put(statistics, transaction, key, slice_of((char *)value, (size_t)(at - value)),
                    why);
}

/* Two pages: an index that cannot grow can still be opened to be read. */
static enum status
write_format(struct tree *statistics, struct environment *environment, struct reason *why)
{
    const uint64_t format = FORMAT;
    struct transaction *transaction;
    TRY(transaction_begin(&transaction, environment, TRANSACTION_WITHIN_RESERVE, why));
    const enum status status =
        statistics_write(statistics, transaction, SLICE("F"), &format, 1, why);
    if (status != STATUS_OK) {
        transaction_abort(transaction);
        return status;
    }
    return transaction_commit(transaction, why);
}

enum status
statistics_open(struct tree *statistics, struct environment *environment, struct totals *totals,
                struct reason *why)
{
    uint64_t format = FORMAT;
    enum status status = statistics_read(statistics, SLICE("F"), &format, 1, why);
    if (status == STATUS_NOT_FOUND || (status == STATUS_OK && format == FORMAT_BEFORE)) {
        status = write_format(statistics, environment, why);
        format = FORMAT;
    }
    TRY(status);
    if (format != FORMAT) {
        return status_fail(why, STATUS_UNSUPPORTED,
                           "the index has format %llu and this program reads %d only: begin a new "
                           "directory, or use the program that wrote it",
                           (unsigned long long)format, FORMAT);
    }
    return statistics_totals(statistics, totals, why);
}

enum status
statistics_totals(struct tree *statistics, struct totals *totals, struct reason *why)
{
    uint64_t numbers[4] = {0};
    const enum status status = statistics_read(statistics, SLICE("T"), numbers, 4, why);
    *totals = (struct totals){.quads = numbers[0],
                              .documents = numbers[1],
                              .literals = numbers[2],
                              .batches = numbers[3]};
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status
statistics_put_totals(struct tree *statistics, struct transaction *transaction,
                      const struct totals *totals, struct reason *why)
{
    const uint64_t numbers[4] = {totals->quads, totals->documents, totals->literals,
                                 totals->batches};
    return statistics_write(statistics, transaction, SLICE("T"), numbers, 4, why);
}

struct slice
statistic_key(enum statistic kind, uint64_t id, uint8_t key[STATISTIC_KEY_SIZE])
{
    key[0] = (uint8_t)kind;
    codec_write_u64(key + 1, id);
    return slice_of((const char *)key, STATISTIC_KEY_SIZE);
}

/* ---- predicates and classes ---- */

static size_t
numbers_of(enum statistic kind)
{
    return kind == STATISTIC_PREDICATE ? 2 : 1;
}

enum status
statistics_count(struct tree *statistics, enum statistic kind, oid id,
                 struct statistic_count *count, struct reason *why)
{
    uint8_t key[STATISTIC_KEY_SIZE];
    uint64_t numbers[2] = {0};
    const enum status status =
        statistics_read(statistics, statistic_key(kind, id, key), numbers, numbers_of(kind), why);
    *count = (struct statistic_count){numbers[0], numbers[1]};
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

/* The first record at or after the key of *key_length bytes, if it is of that kind; END. */
static enum status
read_at_or_after(struct tree *statistics, enum statistic kind, uint8_t key[TREE_KEY_MAXIMUM],
                 size_t *key_length, uint64_t numbers[2], struct reason *why)
{
    uint8_t value[VALUE_MOST];
    size_t length = 0;
    struct tree_cursor *cursor;
    TRY(tree_cursor_open(&cursor, statistics, NULL, why));
    const enum status status = tree_cursor_move(cursor, TREE_AT_OR_AFTER, key, TREE_KEY_MAXIMUM,
                                                key_length, value, sizeof(value), &length, why);
    tree_cursor_close(cursor);
    TRY(status);
    if (key[0] != (uint8_t)kind) {
        return STATUS_END;
    }
    struct codec_reader reader = codec_reader_of(slice_of((char *)value, length));
    for (size_t i = 0; i < (kind == STATISTIC_CLASS ? 1 : 2); i++) {
        numbers[i] = codec_get_varint(&reader);
    }
    return codec_at_end(&reader)
               ? STATUS_OK
               : status_fail(why, STATUS_CORRUPT, "tree statistics: a number is malformed");
}

enum status
statistics_next(struct tree *statistics, enum statistic kind, oid *id,
                struct statistic_count *count, struct reason *why)
{
    uint8_t key[TREE_KEY_MAXIMUM];
    uint64_t numbers[2] = {0};
    size_t length = STATISTIC_KEY_SIZE;
    (void)statistic_key(kind, *id + 1, key);
    TRY(read_at_or_after(statistics, kind, key, &length, numbers, why));
    if (length != STATISTIC_KEY_SIZE) {
        return status_fail(why, STATUS_CORRUPT, "tree statistics: a key is malformed");
    }
    *id = codec_read_u64(key + 1);
    *count = (struct statistic_count){numbers[0], numbers[1]};
    return STATUS_OK;
}

static enum status
add_count(struct tree *statistics, struct transaction *transaction, enum statistic kind, oid id,
          int64_t quads, int64_t subjects, struct reason *why)
{
    if ((quads == 0 && subjects == 0) || id == OID_NONE) {
        return STATUS_OK;
    }
    uint8_t key[STATISTIC_KEY_SIZE];
    struct statistic_count count;
    TRY(statistics_count(statistics, kind, id, &count, why));
    const uint64_t numbers[2] = {count.quads + (uint64_t)quads,
                                 count.subjects + (uint64_t)subjects};
    const struct slice name = statistic_key(kind, id, key);
    return numbers[0] == 0
               ? tree_delete(statistics, transaction, name, why)
               : statistics_write(statistics, transaction, name, numbers, numbers_of(kind), why);
}

/* A subject gains or loses a predicate only by a quad with it, so each predicate whose subjects
 * differ has changes, though their sum may be 0. */
static enum status
add_predicate(struct tree *statistics, struct transaction *transaction, const struct census *census,
              oid predicate, int64_t quads, struct reason *why)
{
    const struct predicate_set *set = predicate_sets_find(&census->predicates, &predicate, 1);
    return add_count(statistics, transaction, STATISTIC_PREDICATE, predicate, quads,
                     set != NULL ? set->subjects : 0, why);
}

/* Runs of equal predicates, and inside rdf:type's run of equal objects, lie together in POCS. */
static enum status
apply_runs(struct tree *statistics, struct transaction *transaction,
           const struct statistics_change *change, struct reason *why)
{
    const struct change_set *set = change->set;
    oid predicate = OID_NONE;
    oid class = OID_NONE;
    int64_t predicate_difference = 0;
    int64_t class_difference = 0;
    for (size_t i = 0; i < set->count; i++) {
        change_prefetch(set, ORDER_POCS, i + AHEAD);
        const struct quad_change *quad = &set->changes[set->orders[ORDER_POCS][i]];
        const oid object = quad->quad.predicate == change->type ? quad->quad.object : OID_NONE;
        const int64_t step = quad->removed ? -1 : 1;
        if (object != class) {
            TRY(add_count(statistics, transaction, STATISTIC_CLASS, class, class_difference, 0,
                          why));
            class = object;
            class_difference = 0;
        }
        if (quad->quad.predicate != predicate) {
            TRY(add_predicate(statistics, transaction, change->census, predicate,
                              predicate_difference, why));
            predicate = quad->quad.predicate;
            predicate_difference = 0;
        }
        predicate_difference += step;
        class_difference += step;
    }
    TRY(add_count(statistics, transaction, STATISTIC_CLASS, class, class_difference, 0, why));
    return add_predicate(statistics, transaction, change->census, predicate, predicate_difference,
                         why);
}

/* ---- hosts ---- */

static struct slice
host_key(struct slice name, uint8_t key[1 + HOST_MAXIMUM])
{
    key[0] = STATISTIC_HOST;
    if (name.length > 0) {
        memcpy(key + 1, name.at, name.length);
    }
    return slice_of((const char *)key, 1 + name.length);
}

static enum status
apply_hosts(struct tree *statistics, struct transaction *transaction, const struct census *census,
            struct reason *why)
{
    uint8_t bytes[1 + HOST_MAXIMUM];
    for (size_t i = 0; i < census->hosts.count; i++) {
        const struct host_count *difference = &census->host_counts[i];
        if (difference->documents == 0 && difference->quads == 0) {
            continue;
        }
        const struct slice key = host_key(census->hosts.terms[i].term.value, bytes);
        uint64_t numbers[2] = {0};
        const enum status status = statistics_read(statistics, key, numbers, 2, why);
        TRY(status == STATUS_NOT_FOUND ? STATUS_OK : status);
        numbers[0] += (uint64_t)difference->documents;
        numbers[1] += (uint64_t)difference->quads;
        TRY(numbers[0] == 0 && numbers[1] == 0
                ? tree_delete(statistics, transaction, key, why)
                : statistics_write(statistics, transaction, key, numbers, 2, why));
    }
    return STATUS_OK;
}

enum status
statistics_next_host(struct tree *statistics, bool first, struct host_entry *entry,
                     struct reason *why)
{
    uint8_t key[TREE_KEY_MAXIMUM];
    uint64_t numbers[2] = {0};
    size_t length =
        host_key(slice_of((const char *)entry->name, first ? 0 : entry->length), key).length;
    if (!first) {
        key[length++] = 0; /* the first key after the entry's */
    }
    TRY(read_at_or_after(statistics, STATISTIC_HOST, key, &length, numbers, why));
    if (length > 1 + HOST_MAXIMUM) {
        return status_fail(why, STATUS_CORRUPT, "tree statistics: a host is too long");
    }
    memcpy(entry->name, key + 1, length - 1);
    entry->length = length - 1;
    entry->documents = numbers[0];
    entry->quads = numbers[1];
    return STATUS_OK;
}

/* ---- all of it ---- */

enum status
statistics_apply(struct tree *statistics, struct transaction *transaction,
                 const struct statistics_change *change, struct reason *why)
{
    TRY(apply_runs(statistics, transaction, change, why));
    TRY(apply_hosts(statistics, transaction, change->census, why));
    return statistics_put_totals(statistics, transaction, change->totals, why);
}
