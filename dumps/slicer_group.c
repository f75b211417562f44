/* The second half of slicing: components of blank nodes, then keys, each brought together part by
 * part. A part that does not fit into its share of memory is spread over a spool of its own by the
 * next byte of its hash. One thread takes a part after the other; several do so at a time for keys,
 * since their records have all been written then. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/codec.h"
#include "base/memory.h"
#include "dumps/slicer_private.h"

enum { COMPONENT_SIZE = 8, BUCKET_BITS = 16, INSERTION_MAXIMUM = 32 };

/* ---- parts that are brought together ---- */

struct gathered {
    uint64_t hash;
    struct slice record;
};

struct gather {
    struct buf bytes;
    struct gathered *records, *sorted;
    uint32_t *ends; /* of buckets */
    size_t count, capacity;
};

typedef uint64_t gather_hash(struct slice record);

static int
compare_hashes(const void *a, const void *b)
{
    const struct gathered *left = a, *right = b;
    return (left->hash > right->hash) - (left->hash < right->hash);
}

/* Few at a time, but a dataset may be made so that many hashes begin alike. */
static void
sort_bucket(struct gathered *records, size_t count)
{
    if (count > INSERTION_MAXIMUM) {
        qsort(records, count, sizeof *records, compare_hashes);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        const struct gathered record = records[i];
        size_t at = i;
        for (; at > 0 && records[at - 1].hash > record.hash; at--) {
            records[at] = records[at - 1];
        }
        records[at] = record;
    }
}

/* In order of their hashes. The first `shift` bits are the same in all of them; about as many as
 * tell the records apart, next to these, choose buckets. */
static void
sort_records(struct gather *gather, unsigned shift)
{
    unsigned bits = 1;
    while (bits < BUCKET_BITS && (size_t)1 << bits < gather->count) {
        bits++;
    }
    const size_t buckets = (size_t)1 << bits;
    const struct gathered *records = gather->records;
    uint32_t *ends = gather->ends;
    memset(ends, 0, (buckets + 1) * sizeof *ends);
    for (size_t i = 0; i < gather->count; i++) {
        ends[((records[i].hash << shift) >> (64 - bits)) + 1]++;
    }
    for (size_t i = 0; i < buckets; i++) {
        ends[i + 1] += ends[i];
    }
    for (size_t i = 0; i < gather->count; i++) {
        gather->sorted[ends[(records[i].hash << shift) >> (64 - bits)]++] = records[i];
    }
    for (size_t i = 0, start = 0; i < buckets; start = ends[i++]) {
        sort_bucket(&gather->sorted[start], ends[i] - start);
    }
}

/* Records of a part in order of their hashes. *whole: false: the buffer took only some of them. */
static enum status
gather_part(struct gather *gather, const struct spool *spool, unsigned part, unsigned level,
            gather_hash *hash, bool *whole, struct reason *why)
{
    TRY(spool_load(spool, part, &gather->bytes, whole, why));
    struct slice rest = buf_slice(&gather->bytes), record;
    gather->count = 0;
    while (spool_next(&rest, &record)) {
        if (gather->count == gather->capacity) {
            gather->capacity = gather->capacity ? 2 * gather->capacity : 4096;
            gather->records =
                memory_resize(gather->records, gather->capacity, sizeof *gather->records);
            gather->sorted =
                memory_resize(gather->sorted, gather->capacity, sizeof *gather->sorted);
        }
        gather->records[gather->count++] = (struct gathered){hash(record), record};
    }
    sort_records(gather, 8 * (level + 1));
    return STATUS_OK;
}

struct respread {
    struct spool *into;
    gather_hash *hash;
};

static enum status
respread_record(void *context, struct slice record, struct reason *why)
{
    const struct respread *respread = context;
    return spool_add(respread->into, respread->hash(record), record, why);
}

/* What is done with records of one hash. cut: there may be more of them. */
typedef enum status gather_group(void *context, struct gathered *records, size_t count, bool cut,
                                 struct reason *why);

static enum status
walk_part(struct gather *gather, struct spool_room *room, struct spool *spool, unsigned part,
          unsigned level, gather_hash *hash, gather_group *group, void *context, struct reason *why)
{
    bool whole = true;
    if (spool_part_bytes(spool, part) > gather->bytes.maximum && level + 1 < SPOOL_LEVELS) {
        struct respread respread = {spool_new(room, level + 1), hash};
        enum status status = spool_walk(spool, part, respread_record, &respread, why);
        if (status == STATUS_OK) {
            status = spool_flush(respread.into, why);
        }
        spool_forget(spool, part);
        for (unsigned i = 0; i < SPOOL_PARTS && status == STATUS_OK; i++) {
            status =
                walk_part(gather, room, respread.into, i, level + 1, hash, group, context, why);
        }
        spool_free(respread.into);
        return status;
    }
    TRY(gather_part(gather, spool, part, level, hash, &whole, why));
    for (size_t i = 0, end; i < gather->count; i = end) {
        for (end = i + 1; end < gather->count && gather->sorted[end].hash == gather->sorted[i].hash;
             end++) {
        }
        TRY(group(context, &gather->sorted[i], end - i, !whole, why));
    }
    spool_forget(spool, part);
    return STATUS_OK;
}

static void
gather_init(struct gather *gather, uint64_t memory)
{
    *gather = (struct gather){0};
    gather->ends = memory_alloc(((1 << BUCKET_BITS) + 1) * sizeof *gather->ends);
    buf_init(&gather->bytes, (size_t)memory);
}

static void
gather_release(struct gather *gather)
{
    buf_release(&gather->bytes);
    free(gather->records);
    free(gather->sorted);
    free(gather->ends);
}

/* ---- components ---- */

struct describe {
    struct slicer *slicer;
    struct closure_work *work;
    struct closure_options options;
    struct slice *lines;
    size_t capacity;
    struct spool *into; /* records under their component's final name */
};

static uint64_t
component_of(struct slice record)
{
    return codec_read_u64((const uint8_t *)record.at);
}

static enum status
emit_line(void *context, struct slice key, struct slice text, struct slice condition,
          struct reason *why)
{
    struct slicer *slicer = context;
    const struct sliced_line line = {.place = KEY_BEFORE_LINE,
                                     .hash = sliced_hash(key),
                                     .condition = condition.length > 0 ? sliced_hash(condition) : 0,
                                     .key = key,
                                     .line = text};
    return sliced_line_add(slicer->keys, &slicer->record, &line, why);
}

/* Without going through blank nodes: for a component that no memory holds. */
static enum status
emit_direct(struct describe *describe, struct slice text, struct reason *why)
{
    const struct triple_line triple = triple_line_of(text);
    const struct slice ends[2] = {token_iri(triple.subject), token_iri(triple.object)};
    for (size_t i = 0; i < 2; i++) {
        const struct slice_space *space =
            slice_space_of(describe->options.spaces, describe->options.count, ends[i]);
        if (ends[i].length > 0 && space != NULL && space->slicing >= SLICING_CBD &&
            (i == 0 || space->slicing != SLICING_CBD)) {
            TRY(emit_line(describe->slicer, slice_key(ends[i]), text, (struct slice){0}, why));
        }
    }
    return STATUS_OK;
}

static enum status
describe_component(void *context, struct gathered *records, size_t count, bool cut,
                   struct reason *why)
{
    struct describe *describe = context;
    if (count > describe->capacity) {
        describe->capacity = 2 * count;
        describe->lines = memory_resize(describe->lines, describe->capacity, sizeof(struct slice));
    }
    for (size_t i = 0; i < count; i++) {
        const struct slice record = records[i].record;
        describe->lines[i] = slice_of(record.at + COMPONENT_SIZE, record.length - COMPONENT_SIZE);
        if (cut) {
            TRY(emit_direct(describe, describe->lines[i], why));
        }
    }
    if (!cut) {
        TRY(closure_of_component(describe->work, &describe->options, describe->lines, count,
                                 emit_line, describe->slicer, &cut, why));
    }
    describe->slicer->cut += cut ? 1 : 0;
    return STATUS_OK;
}

static enum status
rename_component(void *context, struct slice record, struct reason *why)
{
    struct describe *describe = context;
    struct slicer *slicer = describe->slicer;
    const uint64_t component = components_find(slicer->components, component_of(record));
    buf_reset(&slicer->record);
    codec_put_u64(&slicer->record, component);
    buf_append_slice(&slicer->record,
                     slice_of(record.at + COMPONENT_SIZE, record.length - COMPONENT_SIZE));
    return spool_add(describe->into, component, buf_slice(&slicer->record), why);
}

/* Gives every record its component's name, round by round; spread by it in the end. */
static enum status
solve_components(struct slicer *slicer, struct spool **solved, struct reason *why)
{
    struct describe describe = {.slicer = slicer};
    bool last = false;
    TRY(spool_flush(slicer->blank, why));
    struct spool *from = slicer->blank;
    slicer->blank = NULL;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && !last) {
        status = components_round(slicer->components, &last, why);
        describe.into = spool_new(&slicer->room, 0);
        for (unsigned i = 0; i < SPOOL_PARTS && status == STATUS_OK; i++) {
            status = spool_walk(from, i, rename_component, &describe, why);
            spool_forget(from, i);
        }
        if (status == STATUS_OK) {
            status = spool_flush(describe.into, why);
        }
        spool_free(from);
        from = describe.into;
    }
    components_free(slicer->components);
    slicer->components = NULL;
    *solved = from;
    return status;
}

static enum status
describe_components(struct slicer *slicer, struct reason *why)
{
    struct spool *solved = NULL;
    struct gather gather;
    struct describe describe = {
        .slicer = slicer,
        .work = closure_work_new(),
        .options = {slicer->spaces, slicer->options.count, slicer->options.closure_most}};
    gather_init(&gather, slicer->options.memory / 4);
    enum status status = solve_components(slicer, &solved, why);
    for (unsigned i = 0; i < SPOOL_PARTS && status == STATUS_OK; i++) {
        status = walk_part(&gather, &slicer->room, solved, i, 0, component_of, describe_component,
                           &describe, why);
    }
    spool_free(solved);
    gather_release(&gather);
    closure_work_free(describe.work);
    free(describe.lines);
    return status;
}

/* ---- keys ---- */

struct grouping {
    struct slicer *slicer;
    slicer_visit *visit;
    void *context;
    _Atomic unsigned next; /* part */
    _Atomic int failed;
    pthread_mutex_t lock;
    enum status status;
    struct reason why;
};

struct grouper {
    struct grouping *grouping;
    unsigned thread;
    pthread_t id;
    struct gather gather;
    struct sliced_line *lines;
    size_t capacity;
    struct buf document, text;
};

static uint64_t
hash_of_key(struct slice record)
{
    struct sliced_line line;
    return sliced_line_read(record, &line) ? line.hash : 0;
}

static bool
is_document(const struct sliced_line *line)
{
    return line->place == KEY_IS_DOCUMENT;
}

static bool
is_same_key(const struct sliced_line *a, const struct sliced_line *b)
{
    return is_document(a) == is_document(b) && slice_equal(a->key, b->key);
}

static int
compare_sliced(const void *a, const void *b)
{
    const struct sliced_line *left = a, *right = b;
    if (is_document(left) != is_document(right)) {
        return is_document(left) ? 1 : -1;
    }
    const int order = slice_compare(left->key, right->key);
    if (order != 0) {
        return order;
    }
    const int lines = slice_compare(left->line, right->line);
    /* Without a condition first: it makes the others needless. */
    return lines != 0 ? lines
                      : (left->condition > right->condition) - (left->condition < right->condition);
}

static bool
condition_holds(const struct sliced_line *lines, size_t count, uint64_t condition)
{
    for (size_t i = 0; i < count; i++) {
        if (lines[i].condition == 0 && sliced_hash(lines[i].line) == condition) {
            return true;
        }
    }
    return false;
}

/* All lines of one key, sorted. */
static enum status
give_document(struct grouper *grouper, const struct sliced_line *lines, size_t count, bool cut,
              struct reason *why)
{
    struct grouping *grouping = grouper->grouping;
    struct slicer *slicer = grouping->slicer;
    const struct slice_space *space =
        slice_space_of(slicer->spaces, slicer->options.count, lines->key);
    struct sliced_document document = {.cut = cut};
    buf_reset(&grouper->text);
    buf_reset(&grouper->document);
    for (size_t i = 0; i < count; i++) {
        if ((i > 0 && slice_equal(lines[i].line, lines[i - 1].line)) ||
            (lines[i].condition != 0 && !condition_holds(lines, count, lines[i].condition))) {
            continue;
        }
        if (buf_append_slice(&grouper->text, lines[i].line) != STATUS_OK) {
            document.cut = true;
            break;
        }
        document.count++;
    }
    if (is_document(lines) || space == NULL) {
        buf_append_slice(&grouper->document, lines->key);
    } else {
        slice_document(space, lines->key, &grouper->document);
    }
    document.uri = buf_slice(&grouper->document);
    document.lines = buf_slice(&grouper->text);
    slicer->documents++;
    slicer->lines += document.count;
    slicer->cut += document.cut ? 1 : 0;
    return grouping->visit(grouping->context, grouper->thread, &document, why);
}

/* Records of one hash: nearly always of one key. */
static enum status
group_keys(void *context, struct gathered *records, size_t count, bool cut, struct reason *why)
{
    struct grouper *grouper = context;
    size_t n = 0;
    if (atomic_load(&grouper->grouping->failed)) {
        return STATUS_CANCELLED;
    }
    if (count > grouper->capacity) {
        grouper->capacity = 2 * count;
        grouper->lines = memory_resize(grouper->lines, grouper->capacity, sizeof *grouper->lines);
    }
    for (size_t i = 0; i < count; i++) {
        n += sliced_line_read(records[i].record, &grouper->lines[n]) ? 1 : 0;
    }
    qsort(grouper->lines, n, sizeof *grouper->lines, compare_sliced);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && is_same_key(&grouper->lines[end], &grouper->lines[i]); end++) {
        }
        TRY(give_document(grouper, &grouper->lines[i], end - i, cut, why));
    }
    return STATUS_OK;
}

static void *
group_parts(void *context)
{
    struct grouper *grouper = context;
    struct grouping *grouping = grouper->grouping;
    struct slicer *slicer = grouping->slicer;
    struct reason why = {0};
    enum status status = STATUS_OK;
    for (unsigned part;
         status == STATUS_OK && (part = atomic_fetch_add(&grouping->next, 1)) < SPOOL_PARTS;) {
        status = walk_part(&grouper->gather, &slicer->room, slicer->keys, part, 0, hash_of_key,
                           group_keys, grouper, &why);
    }
    pthread_mutex_lock(&grouping->lock);
    if (status != STATUS_OK && grouping->status == STATUS_OK) {
        grouping->status = status;
        grouping->why = why;
        atomic_store(&grouping->failed, 1);
    }
    pthread_mutex_unlock(&grouping->lock);
    return NULL;
}

static enum status
group_all(struct slicer *slicer, slicer_visit *visit, void *context, struct reason *why)
{
    const unsigned threads = slicer->options.threads;
    struct grouping grouping = {.slicer = slicer, .visit = visit, .context = context};
    struct grouper *groupers = memory_zero(threads, sizeof *groupers);
    unsigned started = 0;
    pthread_mutex_init(&grouping.lock, NULL);
    for (unsigned i = 0; i < threads; i++) {
        struct grouper *grouper = &groupers[i];
        *grouper = (struct grouper){.grouping = &grouping, .thread = i};
        gather_init(&grouper->gather, slicer->options.memory / (4 * threads));
        buf_init(&grouper->text, (size_t)slicer->options.document_most);
        buf_init(&grouper->document, 1 << 20);
        if (i > 0 && pthread_create(&grouper->id, NULL, group_parts, grouper) == 0) {
            started = i;
        } else if (i > 0) {
            break; /* fewer threads do it too */
        }
    }
    group_parts(&groupers[0]);
    for (unsigned i = 1; i <= started; i++) {
        pthread_join(groupers[i].id, NULL);
    }
    for (unsigned i = 0; i < threads; i++) {
        gather_release(&groupers[i].gather);
        free(groupers[i].lines);
        buf_release(&groupers[i].text);
        buf_release(&groupers[i].document);
    }
    pthread_mutex_destroy(&grouping.lock);
    free(groupers);
    if (grouping.status != STATUS_OK) {
        return status_fail(why, grouping.status, "%s", grouping.why.text);
    }
    return STATUS_OK;
}

enum status
slicer_group(struct slicer *slicer, slicer_visit *visit, void *context, struct reason *why)
{
    if (slicer->closures) {
        TRY(describe_components(slicer, why));
    }
    TRY(spool_flush(slicer->keys, why));
    return group_all(slicer, visit, context, why);
}
