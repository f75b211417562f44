#include <string.h>

#include "base/codec.h"
#include "index/documents.h"
#include "index/varint.h"

enum { FORMAT = 1, COUNT_KEY = 9 };

static enum status
read_number(struct tree *statistics, struct slice key, uint64_t *numbers, size_t n,
            struct reason *why)
{
    uint8_t value[64];
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

static enum status
write_numbers(struct tree *statistics, struct transaction *transaction, struct slice key,
              const uint64_t *numbers, size_t n, struct reason *why)
{
    uint8_t value[64];
    uint8_t *at = value;
    for (size_t i = 0; i < n; i++) {
        at = varint_put(at, numbers[i]);
    }
    return tree_put(statistics, transaction, key, slice_of((char *)value, (size_t)(at - value)),
                    why);
}

enum status
statistics_open(struct tree *statistics, struct environment *environment, struct totals *totals,
                struct reason *why)
{
    uint64_t format = FORMAT;
    enum status status = read_number(statistics, SLICE("F"), &format, 1, why);
    if (status == STATUS_NOT_FOUND) {
        struct transaction *transaction;
        TRY(transaction_begin(&transaction, environment, why));
        status = write_numbers(statistics, transaction, SLICE("F"), &format, 1, why);
        if (status != STATUS_OK) {
            transaction_abort(transaction);
            return status;
        }
        status = transaction_commit(transaction, why);
    }
    TRY(status);
    if (format != FORMAT) {
        return status_fail(why, STATUS_UNSUPPORTED,
                           "the index has format %llu, this program reads %d",
                           (unsigned long long)format, FORMAT);
    }
    return statistics_totals(statistics, totals, why);
}

enum status
statistics_totals(struct tree *statistics, struct totals *totals, struct reason *why)
{
    uint64_t numbers[4] = {0};
    const enum status status = read_number(statistics, SLICE("T"), numbers, 4, why);
    *totals = (struct totals){.quads = numbers[0],
                              .documents = numbers[1],
                              .literals = numbers[2],
                              .batches = numbers[3]};
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static struct slice
count_key(enum statistic kind, oid id, uint8_t key[COUNT_KEY])
{
    key[0] = (uint8_t)kind;
    codec_write_u64(key + 1, id);
    return slice_of((const char *)key, COUNT_KEY);
}

enum status
statistics_count(struct tree *statistics, enum statistic kind, oid id, uint64_t *count,
                 struct reason *why)
{
    uint8_t key[COUNT_KEY];
    *count = 0;
    const enum status status = read_number(statistics, count_key(kind, id, key), count, 1, why);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status
statistics_next(struct tree *statistics, enum statistic kind, oid *id, uint64_t *count,
                struct reason *why)
{
    uint8_t key[COUNT_KEY];
    uint8_t value[64];
    (void)count_key(kind, *id + 1, key);
    size_t key_length = COUNT_KEY;
    size_t length = 0;
    struct tree_cursor *cursor;
    TRY(tree_cursor_open(&cursor, statistics, NULL, why));
    const enum status status = tree_cursor_move(cursor, TREE_AT_OR_AFTER, key, sizeof(key),
                                                &key_length, value, sizeof(value), &length, why);
    tree_cursor_close(cursor);
    TRY(status);
    if (key[0] != (uint8_t)kind || key_length != COUNT_KEY) {
        return STATUS_END;
    }
    *id = codec_read_u64(key + 1);
    return varint_get(value, value + length, count)
               ? STATUS_OK
               : status_fail(why, STATUS_CORRUPT, "tree statistics: a number is malformed");
}

static enum status
add_count(struct tree *statistics, struct transaction *transaction, enum statistic kind, oid id,
          int64_t difference, struct reason *why)
{
    if (difference == 0 || id == OID_NONE) {
        return STATUS_OK;
    }
    uint8_t key[COUNT_KEY];
    uint64_t count;
    TRY(statistics_count(statistics, kind, id, &count, why));
    count += (uint64_t)difference;
    if (count == 0) {
        return tree_delete(statistics, transaction, count_key(kind, id, key), why);
    }
    return write_numbers(statistics, transaction, count_key(kind, id, key), &count, 1, why);
}

/* Runs of equal predicates, and inside rdf:type's run of equal objects, lie together in POCS. */
enum status
statistics_apply(struct tree *statistics, struct transaction *transaction,
                 const struct change_set *set, oid type, const struct totals *totals,
                 struct reason *why)
{
    oid predicate = OID_NONE;
    oid class = OID_NONE;
    int64_t predicate_difference = 0;
    int64_t class_difference = 0;
    for (size_t i = 0; i < set->count; i++) {
        const struct quad_change *change = &set->changes[set->orders[ORDER_POCS][i]];
        const oid object = change->quad.predicate == type ? change->quad.object : OID_NONE;
        const int64_t step = change->removed ? -1 : 1;
        if (object != class) {
            TRY(add_count(statistics, transaction, STATISTIC_CLASS, class, class_difference, why));
            class = object;
            class_difference = 0;
        }
        if (change->quad.predicate != predicate) {
            TRY(add_count(statistics, transaction, STATISTIC_PREDICATE, predicate,
                          predicate_difference, why));
            predicate = change->quad.predicate;
            predicate_difference = 0;
        }
        predicate_difference += step;
        class_difference += step;
    }
    TRY(add_count(statistics, transaction, STATISTIC_CLASS, class, class_difference, why));
    TRY(add_count(statistics, transaction, STATISTIC_PREDICATE, predicate, predicate_difference,
                  why));
    const uint64_t numbers[4] = {totals->quads, totals->documents, totals->literals,
                                 totals->batches};
    return write_numbers(statistics, transaction, SLICE("T"), numbers, 4, why);
}
