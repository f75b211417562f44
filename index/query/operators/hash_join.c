/* Hash join, left join, minus and semi-join: the inner pipeline becomes a table. */
#include "index/query/operators/hash_join.h"

_Static_assert((int)ROW_TABLE_MANY >= (int)BATCH_ROWS,
               "the rows of a batch are looked up together");

/* ---- probing ---- */

/* Tells whether row and stored row agree where both are bound; merged: gets what stored has
 * more. */
static bool
merge(const struct hash_join *join, const oid *row, const oid *stored, oid *merged, bool *shared)
{
    *shared = join->keys > 0;
    for (size_t column = join->keys; column < join->count; column++) {
        const uint32_t slot = join->slots[column];
        if (stored[column] && row[slot]) {
            if (stored[column] != row[slot]) {
                return false;
            }
            *shared = true;
        } else if (stored[column] && merged) {
            merged[slot] = stored[column];
        }
    }
    return true;
}

/* Appends the merger of a row and a stored one with equal keys, if there is one; *matched becomes
 * true when they are a pair, also for MINUS and SEMI, which append none. */
static enum status
join_pair(struct hash_join *join, const oid *row, const oid *stored, struct batch *batch,
          bool *matched, struct reason *why)
{
    struct run *run = join->operator.run;
    oid *merged = batch_row(run, batch, batch->count);
    bool shared;
    row_copy(run, merged, row);
    if (!merge(join, row, stored, merged, &shared)) {
        return STATUS_OK;
    }
    if (counts_once(join)) {
        *matched = *matched || shared;
        return STATUS_OK;
    }
    if (join->stored_count > join->count) {
        TRY(row_multiply(merged, join->spec.weight, stored[join->count], why));
    }
    marks_set(&join->marks, merged);
    if (join->spec.expression) {
        evaluation_next_row(&run->evaluation);
        if (expression_test(&run->evaluation, join->spec.expression, merged) != 1) {
            return evaluation_check(&run->evaluation, why);
        }
    }
    *matched = true;
    batch->count++;
    return STATUS_OK;
}

/* Tells whether an input row is an answer by itself, having a match or none. */
static bool
keeps(const struct hash_join *join, bool matched)
{
    return join->spec.mode == HASH_SEMI ? matched : join->spec.mode != HASH_JOIN && !matched;
}

static void
append_row(const struct hash_join *join, const oid *row, struct batch *batch)
{
    const struct run *run = join->operator.run;
    row_copy(run, batch_row(run, batch, batch->count++), row);
}

/* The stored row at a place of the table or, of pairs, of the list. */
static const oid *
stored_row(const struct hash_join *join, size_t at)
{
    if (!join->list.list) {
        return row_table_row(&join->table, at);
    }
    const oid row[3] = {join->list.list[at].value, join->list.list[at].triples, 1};
    for (size_t i = 0; i < join->stored_count; i++) {
        join->stored[i] = row[i];
    }
    return join->stored;
}

/* One input row against its next stored row. *more: there is another. */
static enum status
probe(struct hash_join *join, struct batch *batch, bool *more, struct reason *why)
{
    const oid *row = batch_row(join->operator.run, join->input, join->at);
    if (!join->begun) {
        take_columns(join, row, join->keys);
        join->match = join->list.list ? join_list_find(&join->list, row)
                                      : row_table_find(&join->table, join->stored);
        join->begun = true;
        join->matched = false;
    } else if (join->match != SIZE_MAX) {
        join->match = join->list.list ? join_list_next(&join->list, join->match)
                                      : row_table_next(&join->table, join->stored, join->match);
    }
    *more = join->match != SIZE_MAX;
    if (!*more) {
        if (keeps(join, join->matched)) {
            append_row(join, row, batch);
        }
        return STATUS_OK;
    }
    TRY(join_pair(join, row, stored_row(join, join->match), batch, &join->matched, why));
    *more = !(counts_once(join) && join->matched);
    if (!*more && keeps(join, true)) {
        append_row(join, row, batch);
    }
    return STATUS_OK;
}

/* ---- the same when the built side is in files ---- */

static enum status
spill_input(struct hash_join *join, struct reason *why)
{
    const struct run *run = join->operator.run;
    while (join->input->count) {
        for (size_t i = 0; i < join->input->count; i++) {
            const oid *row = batch_row(run, join->input, i);
            take_columns(join, row, join->keys);
            TRY(join_spill_input(join->spilled, join->stored, row, why));
        }
        TRY(operator_next(join->operator.input, &join->input, why));
    }
    join->input_spilled = true;
    return join_spill_begin(join->spilled, why);
}

static enum status
next_spilled(struct hash_join *join, struct batch *batch, struct reason *why)
{
    unsigned work = 0;
    if (!join->input_spilled) {
        TRY(spill_input(join, why));
    }
    while (batch->count < join->operator.batch_rows) {
        const oid *row, *stored;
        uint8_t *mark;
        TRY(join_spill_next(join->spilled, &row, &stored, &mark, why));
        if (!row) {
            return STATUS_OK;
        }
        if (stored) {
            bool matched = *mark;
            TRY(join_pair(join, row, stored, batch, &matched, why));
            if (matched && !*mark && keeps(join, true)) {
                append_row(join, row, batch);
            }
            *mark = matched;
        } else if (keeps(join, false)) {
            append_row(join, row, batch);
        }
        if ((++work & 4095) == 0) {
            TRY(run_check(join->operator.run, why));
        }
    }
    return run_check(join->operator.run, why);
}

/* ---- the same when a row has at most one match, from which it takes nothing but the number ----
 */

static bool
matches_once(const struct hash_join *join)
{
    return join->keys > 0 && join->count == join->keys && !join->spec.expression &&
           (counts_once(join) || join->spec.weight != NUMBER_NONE);
}

/* The matches of the input's rows. */
static void
find_matches(struct hash_join *join, size_t found[ROW_TABLE_MANY])
{
    const struct run *run = join->operator.run;
    const struct batch *input = join->input;
    if (join->list.list) {
        for (size_t i = 0; i < input->count; i++) {
            found[i] = join_list_find(&join->list, batch_row(run, input, i));
        }
        return;
    }
    if (join->keys == 1) {
        row_table_find_many(&join->table, input->rows + join->slots[0], run->width, input->count,
                            found);
        return;
    }
    for (size_t i = 0; i < input->count; i++) {
        take_columns(join, batch_row(run, input, i), join->keys);
        found[i] = row_table_find(&join->table, join->stored);
    }
}

/* Leaves those of the input's rows that are answers, where they are. */
static enum status
sift_input(struct hash_join *join, struct reason *why)
{
    const struct run *run = join->operator.run;
    const bool multiplies = join->stored_count > join->count && !counts_once(join);
    size_t found[ROW_TABLE_MANY], kept = 0;
    find_matches(join, found);
    for (size_t i = 0; i < join->input->count; i++) {
        oid *row = batch_row(run, join->input, i);
        const bool matched = found[i] != SIZE_MAX;
        if (matched && multiplies) {
            const uint64_t number = join->list.list
                                        ? join_list_number(&join->list, found[i])
                                        : row_table_row(&join->table, found[i])[join->count];
            TRY(row_multiply(row, join->spec.weight, number, why));
            marks_set(&join->marks, row);
        }
        if (keeps(join, matched) || (matched && !counts_once(join))) {
            if (kept < i) {
                row_copy(run, batch_row(run, join->input, kept), row);
            }
            kept++;
        }
    }
    join->input->count = kept;
    return run_check(run, why);
}

static enum status
next_sifted(struct hash_join *join, struct batch **batch, struct reason *why)
{
    struct operator* operator= & join->operator;
    do {
        TRY(operator_next(operator->input, &join->input, why));
        if (join->input->count == 0) {
            break;
        }
        if (!join->built) {
            TRY(hash_join_build(join, why));
        }
        if (join->spilled) {
            TRY(operator_batch(operator, batch, why));
            return next_spilled(join, *batch, why);
        }
        TRY(sift_input(join, why));
    } while (join->input->count == 0);
    *batch = join->input;
    join->input = NULL;
    return STATUS_OK;
}

static enum status
hash_join_next(struct operator* operator, struct batch ** batch, struct reason *why)
{
    struct hash_join *join = (struct hash_join *)operator;
    if (join->sifts && !join->input_spilled) {
        return next_sifted(join, batch, why);
    }
    TRY(operator_batch(operator, batch, why));
    if (join->input_spilled) {
        return next_spilled(join, *batch, why);
    }
    unsigned work = 0;
    while ((*batch)->count < operator->batch_rows) {
        if (!join->input || join->at == join->input->count) {
            TRY(operator_next(operator->input, &join->input, why));
            join->at = 0;
            join->begun = false;
            if (join->input->count == 0) {
                join->input = NULL;
                return STATUS_OK;
            }
            if (!join->built) {
                TRY(hash_join_build(join, why));
            }
            if (join->spilled) {
                return next_spilled(join, *batch, why);
            }
        }
        bool more;
        TRY(probe(join, *batch, &more, why));
        if (!more) {
            join->at++;
            join->begun = false;
        }
        if ((++work & 4095) == 0) {
            TRY(run_check(operator->run, why));
        }
    }
    return run_check(operator->run, why);
}

static void hash_join_reset(struct operator* operator)
{
    struct hash_join *join = (struct hash_join *)operator;
    join->input = NULL;
    join->input_spilled = false;
    if (join->spilled) {
        join_spill_restart(join->spilled);
    }
    if (join->spec.rebuild) {
        join->built = false;
        hash_join_drop_filter(join);
    }
}

static void hash_join_close(struct operator* operator)
{
    struct hash_join *join = (struct hash_join *)operator;
    if (!join->borrowed) {
        hash_join_release(join);
    }
}

bool
is_hash_join(const struct operator* operator)
{
    return operator->kind->close == hash_join_close;
}

bool
hash_join_sifts(const struct operator* operator)
{
    return is_hash_join(operator) && ((const struct hash_join *)operator)->sifts;
}

bool
hash_join_can_lend(const struct operator* operator)
{
    const struct hash_join *join = (const struct hash_join *)operator;
    return is_hash_join(operator) && join->built && !join->spilled && !join->spec.rebuild;
}

bool
hash_join_borrow(struct operator* operator, const struct operator* from)
{
    struct hash_join *join = (struct hash_join *)operator;
    const struct hash_join *lender = (const struct hash_join *)from;
    if (!is_hash_join(operator) || join->built || join->count != lender->count ||
        join->keys != lender->keys || join->stored_count != lender->stored_count ||
        memcmp(join->slots, lender->slots, join->count * sizeof *join->slots) != 0) {
        return false;
    }
    join->table = lender->table;
    join->list = lender->list;
    join->list.at = 0;
    join->built = join->borrowed = true;
    if (lender->filter.words && join->filter_key == lender->filter_key) {
        hash_join_give_filter(join, &lender->filter);
    }
    return true;
}

/* The key, if there is one, by which the input can leave rows out that the join drops. */
static void
choose_filter(struct hash_join *join)
{
    const bool drops = join->spec.mode == HASH_JOIN || join->spec.mode == HASH_SEMI;
    while (join->filter_key < join->keys &&
           !(drops && (scan_can_filter(join->operator.input, join->slots[join->filter_key]) ||
                       counts_can_filter(join->operator.input, join->slots[join->filter_key])))) {
        join->filter_key++;
    }
}

struct operator* hash_join_new(struct run *run, struct operator* input, struct operator* built,
                               const struct hash_spec *spec, size_t batch_rows)
{
    static const struct operator_kind kinds[] = {
        {"hash join", sizeof(struct hash_join), hash_join_next, hash_join_reset, hash_join_close},
        {"hash optional", sizeof(struct hash_join), hash_join_next, hash_join_reset,
         hash_join_close},
        {"minus", sizeof(struct hash_join), hash_join_next, hash_join_reset, hash_join_close},
        {"semi-join", sizeof(struct hash_join), hash_join_next, hash_join_reset, hash_join_close}};
    struct hash_join *join =
        (struct hash_join *)operator_new(run, &kinds[spec->mode], input, batch_rows);
    uint32_t *slots = arena_alloc(&run->arena, SLOTS_MAXIMUM * sizeof *slots);
    oid *stored = arena_alloc(&run->arena, SLOTS_MAXIMUM * sizeof *stored);
    if (!join || !slots || !stored || !marks_init(&join->marks, run, &spec->bound)) {
        return NULL;
    }
    for (uint32_t slot = slots_next(&spec->keys, 0); slot < SLOTS_MAXIMUM;
         slot = slots_next(&spec->keys, slot + 1)) {
        slots[join->keys++] = slot;
    }
    /* Subtraction needs the shared columns only. */
    const struct slots rest =
        slots_without(spec->mode >= HASH_MINUS ? &spec->shared : &spec->built, &spec->keys);
    join->count = join->keys;
    for (uint32_t slot = slots_next(&rest, 0); slot < SLOTS_MAXIMUM;
         slot = slots_next(&rest, slot + 1)) {
        slots[join->count++] = slot;
    }
    join->slots = slots;
    join->stored = stored;
    join->spec = *spec;
    operator_contain(&join->operator, built);
    join->stored_count = join->count + (spec->weight != NUMBER_NONE);
    row_table_init(&join->table, &run->account, "joins", join->stored_count, join->keys);
    join->sifts = matches_once(join);
    choose_filter(join);
    return &join->operator;
}
