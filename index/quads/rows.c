#include "index/quads/rows.h"

#include <string.h>

#include "base/varint.h"

enum {
    CODEC_DELTA = 1,
    FIRST_SHIFT = 6, /* header of a row: index of the first place that differs */
    SAME_BIT = 0x20, /* place first+1 is the same as before; >> 1 for each further */
    STEP_MASK = 7,   /* 1..7: the first place's number grows by so much, its kind stays */
    PLACE_OTHER_KIND = 1,
    PLACE_NEAR = 2, /* counted from an earlier place of the same row */
    PLACE_BITS = 2,
    KIND_BITS = 3,
    NO_NEAR = 4 /* a place that is always 0 */
};

#define ALWAYS_INLINE inline __attribute__((always_inline))

const uint8_t rows_places[ORDER_COUNT][4] = {
    [ORDER_SPOC] = {0, 1, 2, 3}, [ORDER_POCS] = {1, 2, 3, 0}, [ORDER_OCSP] = {2, 3, 0, 1},
    [ORDER_CSPO] = {3, 0, 1, 2}, [ORDER_CPOS] = {3, 1, 2, 0}, [ORDER_OSPC] = {2, 0, 1, 3}};

/* Tells which earlier place of the row is likely a neighbour in number: terms of one document are,
 * predicates are not. Part of the format. */
static const uint8_t near_place[ORDER_COUNT][4] = {
    [ORDER_SPOC] = {NO_NEAR, NO_NEAR, 0, 0}, [ORDER_POCS] = {NO_NEAR, NO_NEAR, 1, 2},
    [ORDER_OCSP] = {NO_NEAR, 0, 1, NO_NEAR}, [ORDER_CSPO] = {NO_NEAR, 0, NO_NEAR, 0},
    [ORDER_CPOS] = {NO_NEAR, NO_NEAR, 0, 0}, [ORDER_OSPC] = {NO_NEAR, 0, NO_NEAR, 1}};

/* ---- keys ---- */

void
row_key(const struct row *row, uint8_t key[ROW_KEY_SIZE])
{
    for (int i = 0; i < 4; i++) {
        const uint64_t big = __builtin_bswap64(row->place[i]);
        memcpy(key + 8 * i, &big, 8);
    }
}

size_t
row_fence(const struct row *left, const struct row *right, uint8_t fence[ROW_KEY_SIZE])
{
    uint8_t left_key[ROW_KEY_SIZE];
    row_key(left, left_key);
    row_key(right, fence);
    size_t common = 0;
    while (common < ROW_KEY_SIZE - 1 && left_key[common] == fence[common]) {
        common++;
    }
    if (common == ROW_KEY_SIZE - 1) {
        memcpy(fence, left_key, ROW_KEY_SIZE);
        return ROW_KEY_SIZE;
    }
    return common + 1;
}

bool
row_within(const struct row *row, const uint8_t *fence, size_t length)
{
    uint8_t key[ROW_KEY_SIZE];
    row_key(row, key);
    const int order = memcmp(key, fence, length < ROW_KEY_SIZE ? length : ROW_KEY_SIZE);
    return order < 0 || (order == 0 && length >= ROW_KEY_SIZE);
}

/* ---- writing ---- */

static inline uint64_t
distance(oid from, uint64_t number)
{
    const uint64_t base = oid_is_stored(from) ? oid_number(from) : 0;
    return zigzag((int64_t)(number - base));
}

static inline uint8_t *
put_place(uint8_t *at, oid value, oid previous, const oid *near)
{
    if (!oid_is_stored(value)) {
        *at++ = PLACE_OTHER_KIND;
        *at++ = (uint8_t)(value >> OID_INLINE_BITS);
        const int64_t bias = (int64_t)1 << (OID_INLINE_BITS - 1);
        return varint_put(at, zigzag((int64_t)(value & OID_INLINE_MASK) - bias));
    }
    const uint64_t number = oid_number(value);
    uint64_t code = distance(previous, number);
    unsigned flags = 0;
    if (near != NULL) {
        const uint64_t other = distance(*near, number);
        if (other < code) {
            code = other;
            flags = PLACE_NEAR;
        }
    }
    if (oid_kind(value) == oid_kind(previous)) {
        return varint_put(at, code << PLACE_BITS | flags);
    }
    code = code << KIND_BITS | oid_kind(value);
    return varint_put(at, code << PLACE_BITS | flags | PLACE_OTHER_KIND);
}

void
rows_begin(struct rows_writer *writer, enum quad_order order, uint8_t *bytes, size_t size)
{
    writer->order = order;
    writer->start = bytes;
    writer->at = bytes + ROWS_HEADER;
    writer->limit = bytes + size;
    writer->last = (struct row){{0}};
    writer->count = 0;
}

bool
rows_add(struct rows_writer *writer, const struct row *row)
{
    const struct row *last = &writer->last;
    const uint8_t *near = near_place[writer->order];
    unsigned first = 0;
    while (first < 3 && row->place[first] == last->place[first]) {
        first++;
    }
    uint8_t *at = writer->at;
    uint8_t *header = at++;
    unsigned code = first << FIRST_SHIFT;
    const oid value = row->place[first];
    const oid before = last->place[first];
    const uint64_t step = oid_number(value) - oid_number(before);
    if (oid_is_stored(value) && oid_is_stored(before) && oid_kind(value) == oid_kind(before) &&
        step >= 1 && step <= STEP_MASK) {
        code |= (unsigned)step;
    } else {
        at = put_place(at, value, before, near[first] == NO_NEAR ? NULL : &row->place[near[first]]);
    }
    for (unsigned i = first + 1; i < 4; i++) {
        if (row->place[i] == last->place[i]) {
            code |= SAME_BIT >> (i - first - 1);
        } else {
            at = put_place(at, row->place[i], last->place[i],
                           near[i] == NO_NEAR ? NULL : &row->place[near[i]]);
        }
    }
    if (at > writer->limit || writer->count == UINT16_MAX) {
        return false;
    }
    *header = (uint8_t)code;
    writer->at = at;
    writer->last = *row;
    writer->count++;
    return true;
}

size_t
rows_end(struct rows_writer *writer)
{
    writer->start[0] = CODEC_DELTA;
    return (size_t)(writer->at - writer->start);
}

/* ---- reading ---- */

static const char malformed[] = "a block of rows is malformed";

/* A row while a block is read. What a row does not say stays as it was in the row before. */
struct unfolding {
    oid place[NO_NEAR + 1];
};

/* Place by place: bytes of several places that were just written would be waited for. */
static ALWAYS_INLINE struct row
unfolded(const struct unfolding *row)
{
    return (struct row){{row->place[0], row->place[1], row->place[2], row->place[3]}};
}

static ALWAYS_INLINE const uint8_t *
get_place(const uint8_t *at, const uint8_t *end, struct unfolding *row, unsigned place,
          unsigned near)
{
    uint64_t code;
    at = varint_get(at, end, &code);
    if (at == NULL) {
        return NULL;
    }
    const oid previous = row->place[place];
    const unsigned flags = code & (PLACE_OTHER_KIND | PLACE_NEAR);
    code >>= PLACE_BITS;
    enum oid_kind kind = oid_kind(previous);
    if (flags & PLACE_OTHER_KIND) {
        kind = (enum oid_kind)(code & ((1 << KIND_BITS) - 1));
        code >>= KIND_BITS;
    }
    if (kind == OID_KIND_NONE) {
        if (at == end) {
            return NULL;
        }
        const oid type = *at++;
        at = type <= OID_INLINE_TYPE_MAXIMUM ? varint_get(at, end, &code) : NULL;
        const uint64_t bias = UINT64_C(1) << (OID_INLINE_BITS - 1);
        row->place[place] =
            type << OID_INLINE_BITS | (((uint64_t)unzigzag(code) + bias) & OID_INLINE_MASK);
        return at;
    }
    const oid from = flags & PLACE_NEAR ? row->place[near] : previous;
    const uint64_t base = oid_is_stored(from) ? oid_number(from) : 0;
    row->place[place] = oid_stored((base + (uint64_t)unzigzag(code)) & OID_NUMBER_MAXIMUM, kind);
    return at;
}

/* Places from `from` on; the bit of the header that says that a place is as before is shifted to
 * SAME_BIT for the place `from`. */
static ALWAYS_INLINE const uint8_t *
get_places(const uint8_t *near, unsigned code, unsigned from, const uint8_t *at, const uint8_t *end,
           struct unfolding *row)
{
    if (from <= 1 && at != NULL && !(code & SAME_BIT)) {
        at = get_place(at, end, row, 1, near[1]);
    }
    if (from <= 2 && at != NULL && !(code & SAME_BIT >> (2 - (from < 2 ? from : 2)))) {
        at = get_place(at, end, row, 2, near[2]);
    }
    if (from <= 3 && at != NULL && !(code & SAME_BIT >> (3 - (from < 3 ? from : 3)))) {
        at = get_place(at, end, row, 3, near[3]);
    }
    return at;
}

/* A row of which `first` is the first place that differs. */
static ALWAYS_INLINE const uint8_t *
read_row_from(const uint8_t *near, unsigned code, unsigned first, const uint8_t *at,
              const uint8_t *end, struct unfolding *row)
{
    const unsigned step = code & STEP_MASK;
    const oid before = row->place[first];
    if (step > 0) {
        if (!oid_is_stored(before) || oid_number(before) > OID_NUMBER_MAXIMUM - step) {
            return NULL;
        }
        row->place[first] = before + ((oid)step << KIND_BITS);
    } else {
        at = get_place(at, end, row, first, near[first]);
    }
    at = get_places(near, code, first + 1, at, end, row);
    return at != NULL && row->place[first] > before ? at : NULL;
}

/* Where near is known to the compiler, all is but the header. */
static ALWAYS_INLINE const uint8_t *
read_row(const uint8_t *near, const uint8_t *at, const uint8_t *end, struct unfolding *row)
{
    const unsigned code = *at++;
    switch (code >> FIRST_SHIFT) {
    case 0:
        return read_row_from(near, code, 0, at, end, row);
    case 1:
        return read_row_from(near, code, 1, at, end, row);
    case 2:
        return read_row_from(near, code, 2, at, end, row);
    default:
        return read_row_from(near, code, 3, at, end, row);
    }
}

static enum status
check_codec(const uint8_t *bytes, size_t length, struct reason *why)
{
    if (bytes[0] != CODEC_DELTA || length == ROWS_HEADER) {
        return status_fail(why, STATUS_CORRUPT, "a block of %zu bytes has codec %u", length,
                           bytes[0]);
    }
    return STATUS_OK;
}

struct reading {
    const uint8_t *at, *end;
    struct row *rows;
    size_t count;
    bool passed;
};

/* All rows, without a look at bounds; at is NULL when the bytes are malformed. */
static ALWAYS_INLINE void
read_all(const uint8_t *near, struct reading *r)
{
    const uint8_t *at = r->at;
    const uint8_t *const end = r->end;
    struct unfolding unfolding = {{0}};
    size_t i = 0;
    for (; i < ROWS_BLOCK_MOST && at != NULL && at < end; i++) {
        at = read_row(near, at, end, &unfolding);
        r->rows[i] = unfolded(&unfolding);
    }
    r->count = i;
    r->at = at;
}

/* The first place in which the rows differ, 4: none. */
static inline unsigned
first_different(const struct row *a, const struct row *b)
{
    unsigned i = 0;
    while (i < 4 && a->place[i] == b->place[i]) {
        i++;
    }
    return i;
}

/* Where a row stands to a bound. Rows ascend; so one that begins as the row before it up to behind
 * the place in which that one was below the bound is below it, too, and need not be compared. */
struct bound {
    const struct row *row;
    unsigned different;
};

/* Returns whether the row is still below the bound. first is the place in which it differs from the
 * row before, which was below. */
static ALWAYS_INLINE bool
stays_below(struct bound *bound, const struct row *row, unsigned first)
{
    if (first > bound->different) {
        return true;
    }
    const unsigned i = first_different(row, bound->row);
    bound->different = i;
    return i < 4 && row->place[i] < bound->row->place[i];
}

static ALWAYS_INLINE void
read_between(const uint8_t *near, const struct row *from, const struct row *to, struct reading *r)
{
    struct unfolding unfolding = {{0}};
    struct row row;
    struct bound lower = {from, 4}, upper = {to, 4};
    bool begun = from == NULL;
    for (size_t i = 0; i < ROWS_BLOCK_MOST && r->at != NULL && r->at < r->end; i++) {
        const unsigned first = *r->at >> FIRST_SHIFT;
        r->at = read_row(near, r->at, r->end, &unfolding);
        row = unfolded(&unfolding);
        if (!begun && stays_below(&lower, &row, first)) {
            continue;
        }
        begun = true;
        if (to != NULL && !stays_below(&upper, &row, first)) {
            r->passed = r->at != NULL;
            break;
        }
        r->rows[r->count++] = row;
    }
}

static ALWAYS_INLINE void
read_rows(const uint8_t *near, const struct row *from, const struct row *to, struct reading *r)
{
    if (from == NULL && to == NULL) {
        read_all(near, r);
    } else {
        read_between(near, from, to, r);
    }
}

/* Code of its own for each order: most of the time of scans and of lookups is spent here. */
static void
read_of(enum quad_order order, const struct row *from, const struct row *to, struct reading *r)
{
    switch (order) {
    case ORDER_SPOC:
        read_rows(near_place[ORDER_SPOC], from, to, r);
        break;
    case ORDER_POCS:
        read_rows(near_place[ORDER_POCS], from, to, r);
        break;
    case ORDER_OSPC:
        read_rows(near_place[ORDER_OSPC], from, to, r);
        break;
    default:
        read_rows(near_place[order], from, to, r);
    }
}

enum status
rows_read_range(enum quad_order order, const uint8_t *bytes, size_t length, const struct row *from,
                const struct row *to, struct row *rows, size_t *count, bool *passed,
                struct reason *why)
{
    *count = 0;
    *passed = false;
    if (length == 0) {
        return STATUS_OK;
    }
    TRY(check_codec(bytes, length, why));
    struct reading reading = {.at = bytes + ROWS_HEADER, .end = bytes + length, .rows = rows};
    read_of(order, from, to, &reading);
    *count = reading.count;
    *passed = reading.passed;
    return reading.at == reading.end || *passed ? STATUS_OK
                                                : status_fail(why, STATUS_CORRUPT, malformed);
}

enum status
rows_read(enum quad_order order, const uint8_t *bytes, size_t length, struct row *rows,
          size_t *count, struct reason *why)
{
    bool passed;
    return rows_read_range(order, bytes, length, NULL, NULL, rows, count, &passed, why);
}

/* ---- changing ---- */

struct splice {
    struct rows_writer *writer;
    const struct row_change *next, *end;
    const uint8_t *kept; /* old bytes from here on are not in the new block yet */
    bool follows;        /* the old row has the same row before it in the new block */
    bool fits;
};

/* Copies old rows up to `at`; last is the last of them. */
static void
splice_copy(struct splice *s, const uint8_t *at, const struct row *last)
{
    struct rows_writer *writer = s->writer;
    const size_t length = (size_t)(at - s->kept);
    s->fits = s->fits && length <= (size_t)(writer->limit - writer->at);
    if (length > 0 && s->fits) {
        memcpy(writer->at, s->kept, length);
        writer->at += length;
        writer->last = *last;
    }
    s->kept = at;
}

static void
splice_change(struct splice *s)
{
    if (!s->next->removed) {
        s->fits = s->fits && rows_add(s->writer, &s->next->row);
        s->follows = false;
    }
    s->next++;
}

/* An old row, which stands from start to end, comes after `before`. */
static void
splice_row(struct splice *s, const struct row *row, const uint8_t *start, const uint8_t *end,
           const struct row *before)
{
    int comparison = -1;
    if (s->next < s->end && (comparison = row_compare(&s->next->row, row)) <= 0) {
        splice_copy(s, start, before);
        while (comparison < 0) {
            splice_change(s);
            comparison = s->next < s->end ? row_compare(&s->next->row, row) : 1;
        }
        if (comparison == 0 && s->next++->removed) {
            s->kept = end;
            s->follows = false;
            return;
        }
    }
    if (!s->follows) {
        s->fits = s->fits && rows_add(s->writer, row);
        s->kept = end;
        s->follows = true;
    }
}

enum status
rows_splice(const uint8_t *bytes, size_t length, const struct row_change *changes, size_t count,
            struct rows_writer *writer, struct reason *why)
{
    if (length > 0) {
        TRY(check_codec(bytes, length, why));
    }
    const uint8_t *at = length > 0 ? bytes + ROWS_HEADER : bytes, *start;
    const uint8_t *end = bytes + length;
    struct splice s = {writer, changes, changes + count, at, true, true};
    struct unfolding unfolding = {{0}};
    struct row row = {{0}}, before;
    while (at < end && s.fits && (s.next < s.end || !s.follows)) {
        start = at;
        before = row;
        at = read_row(near_place[writer->order], at, end, &unfolding);
        if (at == NULL) {
            return status_fail(why, STATUS_CORRUPT, malformed);
        }
        memcpy(&row, unfolding.place, sizeof(row));
        splice_row(&s, &row, start, at, &before);
    }
    splice_copy(&s, end, &row);
    while (s.next < s.end) {
        splice_change(&s);
    }
    return s.fits ? STATUS_OK : status_fail(why, STATUS_LIMIT, "no room for a block of rows");
}

/* ---- cutting ---- */

static enum status
cut_read(struct rows_cutter *cutter, struct row *row, struct reason *why)
{
    struct unfolding unfolding = {{0}};
    memcpy(unfolding.place, row, sizeof(*row));
    cutter->at = read_row(near_place[cutter->order], cutter->at, cutter->end, &unfolding);
    memcpy(row, unfolding.place, sizeof(*row));
    return cutter->at != NULL ? STATUS_OK : status_fail(why, STATUS_CORRUPT, malformed);
}

enum status
rows_cut_begin(struct rows_cutter *cutter, enum quad_order order, const uint8_t *bytes,
               size_t length, struct reason *why)
{
    TRY(check_codec(bytes, length, why));
    *cutter = (struct rows_cutter){
        .order = order, .at = bytes + ROWS_HEADER, .end = bytes + length, .more = true};
    return cut_read(cutter, &cutter->first, why);
}

/* A block's first row is coded against zeros, the others stay as they are. */
enum status
rows_cut(struct rows_cutter *cutter, uint8_t *block, size_t size, size_t *length,
         struct reason *why)
{
    struct rows_writer writer;
    rows_begin(&writer, cutter->order, block, size);
    (void)rows_add(&writer, &cutter->first);
    const uint8_t *start = cutter->at, *limit = start + (writer.limit - writer.at), *end = start;
    cutter->last = cutter->first;
    while (cutter->at < cutter->end) {
        TRY(cut_read(cutter, &cutter->first, why));
        if (cutter->at > limit) {
            break;
        }
        end = cutter->at;
        cutter->last = cutter->first;
    }
    cutter->more = end < cutter->end;
    memcpy(writer.at, start, (size_t)(end - start));
    writer.at += end - start;
    *length = rows_end(&writer);
    return STATUS_OK;
}
