#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "identity/identity_state.h"

enum { ROWS = 512, LIST_FIRST = 16 };

static const struct identity_limits usual = {
    .shared = IDENTITY_SHARED_MOST, .members = 10000, .rows = 100000};
static const struct query_options free_of;
static const size_t memory_usual = (size_t)256 << 20;

const char *
identity_rule_name(enum identity_rule rule)
{
    static const char *const names[IDENTITY_RULES] = {
        [IDENTITY_SAME_AS] = "sameAs",
        [IDENTITY_JOINED] = "joined",
        [IDENTITY_INVERSE_FUNCTIONAL] = "inverseFunctional",
        [IDENTITY_FUNCTIONAL] = "functional",
        [IDENTITY_INVERSE_CARDINALITY] = "inverseCardinality",
        [IDENTITY_CARDINALITY] = "cardinality",
    };
    return names[rule];
}

/* ---- reading ---- */

void *
list_add(void *list, size_t *count, size_t size)
{
    char *at;
    memcpy(&at, list, sizeof at);
    /* Room doubles whenever the count is a power of two, so no capacity is kept. */
    if (*count == 0 || (*count >= LIST_FIRST && (*count & (*count - 1)) == 0)) {
        at = memory_resize(at, *count == 0 ? LIST_FIRST : 2 * *count, size);
        memcpy(list, &at, sizeof at);
    }
    return at + size * (*count)++;
}

void
rows_release(struct rows *rows)
{
    free(rows->at);
    *rows = (struct rows){0};
}

static enum status
take_rows(const struct quad_source *source, struct quad_scan *scan, size_t most, struct rows *rows,
          struct reason *why)
{
    for (size_t n = 1; n > 0;) {
        if (rows->count + ROWS > rows->capacity) {
            rows->capacity = 2 * rows->capacity + ROWS;
            rows->at = memory_resize(rows->at, rows->capacity, sizeof *rows->at);
        }
        TRY(source->scan_next(scan, rows->at + rows->count, ROWS, &n, why));
        rows->count += n;
        if (rows->count > most) {
            rows->count = most;
            rows->cut = true;
            break;
        }
    }
    return STATUS_OK;
}

enum status
identity_rows(struct identity *identity, const struct quad_oids *pattern, size_t most,
              struct rows *rows, struct reason *why)
{
    const struct quad_source *source = identity->settings.source;
    struct quad_scan *scan;
    if (pattern->subject == OID_NONE && pattern->predicate == OID_NONE &&
        pattern->object == OID_NONE && pattern->graph == OID_NONE) {
        return STATUS_OK;
    }
    TRY(deadline_check(&identity->deadline, why));
    TRY(source->scan(source->context, pattern, ORDER_COUNT, &scan, why));
    const enum status status = take_rows(source, scan, most, rows, why);
    source->scan_close(scan);
    return status;
}

/* ---- many patterns ---- */

struct many {
    const struct quad_oids *patterns;
    size_t count, left; /* left: rows that may still come */
    row_visit *visit;
    void *state;
    bool cut;
};

static enum status
hand_out(struct many *many, uint32_t number, const struct quad_oids *row, struct reason *why)
{
    if (many->left == 0) {
        many->cut = true;
        return STATUS_END;
    }
    many->left--;
    return many->visit(many->state, number, row, why);
}

static enum status
read_together(struct identity *identity, struct many *many, struct reason *why)
{
    const struct quad_source *source = identity->settings.source;
    struct quad_oids rows[ROWS];
    uint32_t numbers[ROWS];
    struct quad_scan *scan;
    TRY(deadline_check(&identity->deadline, why));
    TRY(source->scan_many(source->context, many->patterns, many->count, true, &scan, why));
    enum status status = STATUS_OK;
    for (size_t n = 1; n > 0 && status == STATUS_OK;) {
        status = source->scan_many_next(scan, rows, numbers, ROWS, &n, why);
        for (size_t i = 0; i < n && status == STATUS_OK; i++) {
            status = hand_out(many, numbers[i], &rows[i], why);
        }
    }
    source->scan_close(scan);
    return status;
}

static enum status
read_one_by_one(struct identity *identity, struct many *many, struct reason *why)
{
    enum status status = STATUS_OK;
    for (uint32_t k = 0; k < many->count && status == STATUS_OK; k++) {
        struct rows rows = {0};
        status = identity_rows(identity, &many->patterns[k], many->left, &rows, why);
        many->cut = many->cut || rows.cut;
        for (size_t i = 0; i < rows.count && status == STATUS_OK; i++) {
            status = hand_out(many, k, &rows.at[i], why);
        }
        rows_release(&rows);
    }
    return status;
}

enum status
identity_rows_many(struct identity *identity, const struct quad_oids *patterns, size_t count,
                   size_t most, row_visit *visit, void *state, bool *cut, struct reason *why)
{
    const struct quad_source *source = identity->settings.source;
    struct many many = {patterns, count, most, visit, state, false};
    if (count == 0) {
        return STATUS_OK;
    }
    const bool together =
        source->scan_many != NULL &&
        (source->rather_many == NULL || source->rather_many(source->context, patterns[0].graph));
    const enum status status =
        together ? read_together(identity, &many, why) : read_one_by_one(identity, &many, why);
    *cut = *cut || many.cut;
    return status == STATUS_END ? STATUS_OK : status;
}

enum status
keep_in(struct arena *arena, const void *from, size_t size, void *result, const char *full,
        struct reason *why)
{
    void *copy = size > 0 ? arena_alloc(arena, size) : NULL;
    if (size > 0 && copy == NULL) {
        return status_fail(why, STATUS_LIMIT, "%s", full);
    }
    if (size > 0) {
        memcpy(copy, from, size);
    }
    memcpy(result, &copy, sizeof copy);
    return STATUS_OK;
}

enum status
identity_keep(struct identity *identity, const void *from, size_t size, void *result,
              struct reason *why)
{
    return keep_in(&identity->arena, from, size, result, "who is the same touches too many terms",
                   why);
}

enum status
identity_term(struct identity *identity, oid id, struct term *term, struct reason *why)
{
    const struct quad_source *source = identity->settings.source;
    uint32_t place = map_get(&identity->term_places, id);
    if (place == (uint32_t)MAP_NONE) {
        struct term found = {.kind = TERM_NONE};
        TRY(source->resolve(source->context, id, &identity->arena, &found, why));
        place = (uint32_t)identity->term_count;
        *(struct term *)list_add(&identity->terms, &identity->term_count, sizeof found) = found;
        map_set(&identity->term_places, id, place);
    }
    *term = identity->terms[place];
    return STATUS_OK;
}

/* ---- life ---- */

struct identity *
identity_new(const struct identity_settings *settings)
{
    struct identity *identity = memory_new(sizeof *identity);
    identity->settings = *settings;
    struct identity_limits *limits = &identity->settings.limits;
    limits->shared = limits->shared > 0 ? limits->shared : usual.shared;
    limits->members = limits->members > 0 ? limits->members : usual.members;
    limits->rows = limits->rows > 0 ? limits->rows : usual.rows;
    const struct query_options *options = settings->options != NULL ? settings->options : &free_of;
    deadline_begin(&identity->deadline, options);
    arena_init(&identity->arena, options->memory > 0 ? options->memory / 2 : memory_usual);
    return identity;
}

void
identity_free(struct identity *identity)
{
    if (identity == NULL) {
        return;
    }
    map_release(&identity->term_places);
    free(identity->terms);
    vocabulary_release(&identity->vocabulary);
    schemas_release(&identity->schemas);
    authorities_release(&identity->authorities);
    meanings_release(&identity->meanings);
    arena_release(&identity->arena);
    free(identity);
}

struct identity_counts
identity_counts(const struct identity *identity)
{
    return identity->counts;
}
