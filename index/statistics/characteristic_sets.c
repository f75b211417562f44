#include "index/statistics/characteristic_sets.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/codec.h"
#include "base/memory.h"
#include "base/varint.h"
#include "index/statistics/statistics.h"

enum { VALUE_MOST = (2 + 2 * SET_PREDICATES_MOST) * VARINT_MAXIMUM, RESTS = 64 };
enum { ESTIMATES = 128, ESTIMATED_PREDICATES = 6 };

/* Holds what is left of a predicate's counts when those of all sets held are taken away. */
struct rest {
    oid predicate; /* OID_NONE: of none */
    struct statistic_count left;
};

/* Holds an estimate. */
struct estimate {
    oid predicates[ESTIMATED_PREDICATES]; /* then OID_NONE; all: it is free */
    double subjects, rows;
};

struct characteristic_sets {
    struct tree *tree;
    uint64_t next_number;        /* of a new set */
    pthread_mutex_t mutex;       /* guards what follows; the writer alone changes it */
    struct predicate_sets table; /* `number` is that of the set's key */
    uint64_t subjects, large, other;
    /* Both until the next change: a predicate has one place, as have several. */
    struct rest rests[RESTS];
    struct estimate estimates[ESTIMATES];
};

static void
forget_answers(struct characteristic_sets *sets)
{
    memset(sets->rests, 0, sizeof(sets->rests));
    memset(sets->estimates, 0, sizeof(sets->estimates));
}

/* ---- the tree ---- */

static struct slice
write_value(const struct characteristic_sets *sets, const struct predicate_set *set,
            uint8_t value[VALUE_MOST])
{
    uint8_t *at = varint_put(value, (uint64_t)set->subjects);
    at = varint_put(at, set->count);
    oid last = OID_STORED;
    for (size_t i = set->first; i < set->first + set->count; i++) {
        at = varint_put(at, sets->table.predicates[i] - last);
        at = varint_put(at, (uint64_t)sets->table.rows[i]);
        last = sets->table.predicates[i];
    }
    return slice_of((const char *)value, (size_t)(at - value));
}

static bool
read_value(struct predicate_sets *table, const uint8_t *at, const uint8_t *end, uint64_t number)
{
    uint64_t subjects = 0;
    uint64_t count = 0;
    oid predicates[SET_PREDICATES_MOST];
    int64_t rows[SET_PREDICATES_MOST];
    oid last = OID_STORED;
    at = varint_get(at, end, &subjects);
    at = at != NULL ? varint_get(at, end, &count) : NULL;
    if (at == NULL || count == 0 || count > SET_PREDICATES_MOST) {
        return false;
    }
    for (size_t i = 0; i < count && at != NULL; i++) {
        uint64_t step = 0;
        uint64_t n = 0;
        at = varint_get(at, end, &step);
        at = at != NULL ? varint_get(at, end, &n) : NULL;
        predicates[i] = last + step;
        rows[i] = (int64_t)n;
        if (i > 0 && predicates[i] <= last) {
            return false;
        }
        last = predicates[i];
    }
    if (at != end) {
        return false;
    }
    struct predicate_set *set = predicate_sets_add(table, predicates, count);
    const bool fresh = set->number == 0;
    set->number = number;
    set->subjects = (int64_t)subjects;
    memcpy(table->rows + set->first, rows, count * sizeof(*rows));
    return fresh;
}

static enum status
load(struct characteristic_sets *sets, struct reason *why)
{
    uint64_t numbers[2] = {0};
    uint8_t key[TREE_KEY_MAXIMUM];
    uint8_t value[VALUE_MOST];
    size_t key_length = 0;
    size_t length = 0;
    enum status status = statistics_read(sets->tree, SLICE("S"), numbers, 2, why);
    TRY(status == STATUS_NOT_FOUND ? STATUS_OK : status);
    predicate_sets_release(&sets->table);
    sets->other = numbers[0];
    sets->large = numbers[1];
    sets->subjects = sets->other + sets->large;
    sets->next_number = 1;
    (void)statistic_key(STATISTIC_SET, 1, key);
    key_length = STATISTIC_KEY_SIZE;
    struct tree_cursor *cursor;
    TRY(tree_cursor_open(&cursor, sets->tree, NULL, why));
    for (enum tree_move move = TREE_AT_OR_AFTER;; move = TREE_NEXT) {
        status = tree_cursor_move(cursor, move, key, sizeof(key), &key_length, value, sizeof(value),
                                  &length, why);
        if (status != STATUS_OK || key[0] != STATISTIC_SET) {
            break;
        }
        const uint64_t number = key_length == STATISTIC_KEY_SIZE ? codec_read_u64(key + 1) : 0;
        if (number == 0 || !read_value(&sets->table, value, value + length, number)) {
            status = status_fail(why, STATUS_CORRUPT, "tree statistics: a set is malformed");
            break;
        }
        sets->subjects += (uint64_t)sets->table.sets[sets->table.count - 1].subjects;
        sets->next_number = number + 1;
    }
    tree_cursor_close(cursor);
    return status == STATUS_END ? STATUS_OK : status;
}

enum status
characteristic_sets_reload(struct characteristic_sets *sets, struct reason *why)
{
    pthread_mutex_lock(&sets->mutex);
    forget_answers(sets);
    const enum status status = load(sets, why);
    pthread_mutex_unlock(&sets->mutex);
    return status;
}

enum status
characteristic_sets_open(struct characteristic_sets **result, struct tree *statistics,
                         struct reason *why)
{
    struct characteristic_sets *sets = memory_new(sizeof(*sets));
    sets->tree = statistics;
    pthread_mutex_init(&sets->mutex, NULL);
    *result = sets;
    return load(sets, why);
}

void
characteristic_sets_close(struct characteristic_sets *sets)
{
    if (sets != NULL) {
        predicate_sets_release(&sets->table);
        pthread_mutex_destroy(&sets->mutex);
        free(sets);
    }
}

/* ---- changing ---- */

/* Holds what one call of apply needs. */
struct applying {
    struct characteristic_sets *sets;
    struct transaction *transaction;
    const struct predicate_sets *differences;
    bool reaped;
};

static enum status
malformed(struct reason *why)
{
    return status_fail(why, STATUS_CORRUPT, "tree statistics: a count of subjects would pass 0");
}

static enum status
write_set(const struct applying *applying, const struct predicate_set *set, struct reason *why)
{
    uint8_t key[STATISTIC_KEY_SIZE];
    uint8_t value[VALUE_MOST];
    return tree_put(applying->sets->tree, applying->transaction,
                    statistic_key(STATISTIC_SET, set->number, key),
                    write_value(applying->sets, set, value), why);
}

/* Lets go of the sets without subjects. */
static enum status
reap(struct applying *applying, struct reason *why)
{
    struct characteristic_sets *sets = applying->sets;
    struct predicate_sets kept = {0};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < sets->table.count && status == STATUS_OK; i++) {
        const struct predicate_set *set = &sets->table.sets[i];
        uint8_t key[STATISTIC_KEY_SIZE];
        if (set->subjects == 0) {
            status = tree_delete(sets->tree, applying->transaction,
                                 statistic_key(STATISTIC_SET, set->number, key), why);
            continue;
        }
        struct predicate_set *copy =
            predicate_sets_add(&kept, sets->table.predicates + set->first, set->count);
        copy->number = set->number;
        copy->subjects = set->subjects;
        memcpy(kept.rows + copy->first, sets->table.rows + set->first,
               set->count * sizeof(*kept.rows));
    }
    predicate_sets_release(&sets->table);
    sets->table = kept;
    applying->reaped = true;
    return status;
}

static enum status
change_other(struct characteristic_sets *sets, uint64_t *count, int64_t difference,
             struct reason *why)
{
    if (difference < 0 && (uint64_t)-difference > *count) {
        return malformed(why);
    }
    *count += (uint64_t)difference;
    sets->subjects += (uint64_t)difference;
    return STATUS_OK;
}

static enum status
change_set(struct applying *applying, const struct predicate_set *difference, struct reason *why)
{
    struct characteristic_sets *sets = applying->sets;
    const oid *predicates = applying->differences->predicates + difference->first;
    const int64_t *rows = applying->differences->rows + difference->first;
    if (difference->count > SET_PREDICATES_MOST) {
        return change_other(sets, &sets->large, difference->subjects, why);
    }
    struct predicate_set *set = predicate_sets_find(&sets->table, predicates, difference->count);
    if (set == NULL && sets->other == 0 && difference->subjects > 0) {
        if (sets->table.count == SETS_MOST && !applying->reaped) {
            TRY(reap(applying, why));
        }
        if (sets->table.count < SETS_MOST) {
            set = predicate_sets_add(&sets->table, predicates, difference->count);
            set->number = sets->next_number++;
        }
    }
    if (set == NULL) {
        return change_other(sets, &sets->other, difference->subjects, why);
    }
    set->subjects += difference->subjects;
    sets->subjects += (uint64_t)difference->subjects;
    bool good = set->subjects >= 0;
    for (size_t i = 0; i < set->count; i++) {
        sets->table.rows[set->first + i] += rows[i];
        good = good && sets->table.rows[set->first + i] >= 0;
    }
    return good ? write_set(applying, set, why) : malformed(why);
}

static bool
makes_no_difference(const struct predicate_sets *differences, const struct predicate_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        if (differences->rows[set->first + i] != 0) {
            return false;
        }
    }
    return set->subjects == 0;
}

enum status
characteristic_sets_apply(struct characteristic_sets *sets, struct transaction *transaction,
                          const struct predicate_sets *differences, struct reason *why)
{
    struct applying applying = {
        .sets = sets, .transaction = transaction, .differences = differences};
    enum status status = STATUS_OK;
    pthread_mutex_lock(&sets->mutex);
    forget_answers(sets);
    const uint64_t before[2] = {sets->other, sets->large};
    for (size_t i = 0; i < differences->count && status == STATUS_OK; i++) {
        if (!makes_no_difference(differences, &differences->sets[i])) {
            status = change_set(&applying, &differences->sets[i], why);
        }
    }
    const uint64_t after[2] = {sets->other, sets->large};
    pthread_mutex_unlock(&sets->mutex);
    TRY(status);
    return before[0] == after[0] && before[1] == after[1]
               ? STATUS_OK
               : statistics_write(sets->tree, transaction, SLICE("S"), after, 2, why);
}

/* ---- reading ---- */

void
characteristic_sets_totals(struct characteristic_sets *sets, struct characteristic_totals *totals)
{
    pthread_mutex_lock(&sets->mutex);
    *totals = (struct characteristic_totals){
        .subjects = sets->subjects, .large = sets->large, .other = sets->other};
    for (size_t i = 0; i < sets->table.count; i++) {
        totals->sets += sets->table.sets[i].subjects > 0;
    }
    pthread_mutex_unlock(&sets->mutex);
}

void
characteristic_sets_copy(struct characteristic_sets *sets, struct predicate_sets *copy)
{
    *copy = (struct predicate_sets){0};
    pthread_mutex_lock(&sets->mutex);
    for (size_t i = 0; i < sets->table.count; i++) {
        const struct predicate_set *set = &sets->table.sets[i];
        if (set->subjects > 0) {
            struct predicate_set *added =
                predicate_sets_add(copy, sets->table.predicates + set->first, set->count);
            added->subjects = set->subjects;
            memcpy(copy->rows + added->first, sets->table.rows + set->first,
                   set->count * sizeof(*copy->rows));
        }
    }
    pthread_mutex_unlock(&sets->mutex);
}

/* Adds up the sets that have all the predicates. */
static void
add_matching(const struct predicate_sets *table, const oid *predicates, size_t count,
             double *subjects, double *rows)
{
    uint64_t wanted = 0;
    for (size_t i = 0; i < count; i++) {
        wanted |= predicate_bit(predicates[i]);
    }
    for (size_t i = 0; i < table->count; i++) {
        const struct predicate_set *set = &table->sets[i];
        if ((set->signature & wanted) != wanted || set->subjects == 0) {
            continue;
        }
        double joined = (double)set->subjects;
        for (size_t k = 0; k < count && joined > 0; k++) {
            const int64_t *n = predicate_set_rows(table, set, predicates[k]);
            joined *= n != NULL ? (double)*n / (double)set->subjects : 0;
        }
        if (joined > 0) {
            *subjects += (double)set->subjects;
            *rows += joined;
        }
    }
}

/* Each predicate of a query is asked for many times. */
static enum status
rest_of(struct characteristic_sets *sets, oid predicate, struct statistic_count *left,
        struct reason *why)
{
    struct rest *rest = &sets->rests[oid_number(predicate) % RESTS];
    if (rest->predicate != predicate) {
        struct statistic_count found;
        TRY(statistics_count(sets->tree, STATISTIC_PREDICATE, predicate, &found, why));
        for (size_t i = 0; i < sets->table.count; i++) {
            const struct predicate_set *set = &sets->table.sets[i];
            const int64_t *n = predicate_set_rows(&sets->table, set, predicate);
            found.subjects -= n != NULL ? (uint64_t)set->subjects : 0;
            found.quads -= n != NULL ? (uint64_t)*n : 0;
        }
        *rest = (struct rest){predicate, found};
    }
    *left = rest->left;
    return STATUS_OK;
}

/* Adds what the subjects bring that are in none of the sets held. */
static enum status
add_rest(struct characteristic_sets *sets, const oid *predicates, size_t count, double *subjects,
         double *rows, struct reason *why)
{
    const double rest = (double)(sets->large + sets->other);
    double found = rest;
    double joined = rest;
    for (size_t k = 0; k < count && found > 0; k++) {
        struct statistic_count left;
        TRY(rest_of(sets, predicates[k], &left, why));
        found *= (double)left.subjects / rest;
        joined *= (double)left.quads / rest;
    }
    *subjects += found;
    *rows += joined;
    return STATUS_OK;
}

static enum status
estimate(struct characteristic_sets *sets, const oid *predicates, size_t count, double *subjects,
         double *rows, struct reason *why)
{
    *subjects = *rows = 0;
    add_matching(&sets->table, predicates, count, subjects, rows);
    return sets->large + sets->other > 0 ? add_rest(sets, predicates, count, subjects, rows, why)
                                         : STATUS_OK;
}

/* All sets are gone through for an estimate, and the same queries ask for the same ones again. */
static enum status
estimate_once(struct characteristic_sets *sets, const oid *predicates, size_t count,
              double *subjects, double *rows, struct reason *why)
{
    struct estimate asked = {.subjects = 0};
    uint64_t hash = 0;
    for (size_t i = 0; i < count; i++) {
        asked.predicates[i] = predicates[i];
        hash = (hash ^ predicates[i]) * UINT64_C(0x9E3779B97F4A7C15);
    }
    struct estimate *kept = &sets->estimates[(hash >> 32) % ESTIMATES];
    if (memcmp(kept->predicates, asked.predicates, sizeof(asked.predicates)) != 0) {
        TRY(estimate(sets, predicates, count, &asked.subjects, &asked.rows, why));
        *kept = asked;
    }
    *subjects = kept->subjects;
    *rows = kept->rows;
    return STATUS_OK;
}

enum status
characteristic_sets_estimate(struct characteristic_sets *sets, const oid *predicates, size_t count,
                             double *subjects, double *rows, struct reason *why)
{
    pthread_mutex_lock(&sets->mutex);
    const enum status status = (count > ESTIMATED_PREDICATES ? estimate : estimate_once)(
        sets, predicates, count, subjects, rows, why);
    pthread_mutex_unlock(&sets->mutex);
    return status;
}
