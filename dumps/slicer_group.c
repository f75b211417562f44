/* The second half of slicing: documents brought together part by part, by several threads. */
#include <endian.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dumps/slicer_private.h"

enum { HASH_SIZE = 8, INSERTION_MAXIMUM = 48 };

struct grouping {
    struct slicer *slicer;
    slicer_visit *visit;
    void *context;
    _Atomic unsigned next; /* part */
    _Atomic bool failed;
    pthread_mutex_t lock;
    enum status status;
    struct reason why;
};

/* A line, and which document it is of. */
struct member {
    struct slice line, document;
    uint64_t condition; /* hash of the line that must be there, too; 0: none */
    size_t offset;      /* of the document in the line */
};

/* A line's place in the order: eight bytes, behind what all lines have in common. */
struct place {
    uint64_t order;
    const struct member *member;
};

struct grouper {
    struct grouping *grouping;
    unsigned thread;
    pthread_t id;
    struct gather gather;
    struct member *members;
    struct place *places;
    size_t capacity;
    struct buf unpacked, lines;
};

/* ---- records ---- */

/* Offsets into `unpacked` until all are read: it may move. */
static bool
read_member(struct grouper *grouper, struct slice record, struct member *member)
{
    const char *at = record.at + HASH_SIZE, *end = record.at + record.length;
    struct unpacked unpacked;
    *member = (struct member){0};
    const int place = at < end ? *at++ : -1;
    if (place == DOCUMENT_WRITTEN) {
        uint64_t length = 0;
        if (end - at < HASH_SIZE) {
            return false;
        }
        memcpy(&member->condition, at, HASH_SIZE);
        at += HASH_SIZE;
        for (unsigned shift = 0; at < end && shift < 64; shift += 7) {
            length |= (uint64_t)(*at & 0x7f) << shift;
            if ((*at++ & 0x80) == 0) {
                break;
            }
        }
        if (length > (uint64_t)(end - at)) {
            return false;
        }
        member->document = slice_of(at, (size_t)length);
        at += length;
    }
    if (place < 0 ||
        !dictionary_unpack(grouper->grouping->slicer->dictionary, slice_of(at, (size_t)(end - at)),
                           &grouper->unpacked, &unpacked)) {
        return false;
    }
    member->line.length = unpacked.line;
    if (place != DOCUMENT_WRITTEN) { /* without brackets */
        const bool subject = place == DOCUMENT_OF_SUBJECT;
        member->offset = subject ? 1 : unpacked.line - strlen(" .\n") - unpacked.object + 1;
        member->document.length = (subject ? unpacked.subject : unpacked.object) - 2;
    }
    return true;
}

static enum status
read_members(struct grouper *grouper, const struct gathered *records, size_t count,
             struct reason *why)
{
    if (count > grouper->capacity) {
        grouper->capacity = 2 * count;
        grouper->members =
            memory_resize(grouper->members, grouper->capacity, sizeof *grouper->members);
        grouper->places =
            memory_resize(grouper->places, 2 * grouper->capacity, sizeof *grouper->places);
    }
    buf_reset(&grouper->unpacked);
    for (size_t i = 0; i < count; i++) {
        if (!read_member(grouper, records[i].record, &grouper->members[i])) {
            return status_fail(why, STATUS_CORRUPT, "a temporary file was changed");
        }
    }
    const char *at = grouper->unpacked.data;
    for (size_t i = 0; i < count; i++) {
        struct member *member = &grouper->members[i];
        member->line.at = at;
        if (member->document.at == NULL) {
            member->document.at = at + member->offset;
            member->document = slice_key(member->document);
        }
        at += member->line.length;
    }
    return STATUS_OK;
}

/* ---- order ---- */

static int
compare_documents(const void *a, const void *b)
{
    const struct member *left = a, *right = b;
    return slice_compare(left->document, right->document);
}

static int
compare_conditions(const void *a, const void *b)
{
    const uint64_t left = ((const struct place *)a)->member->condition;
    const uint64_t right = ((const struct place *)b)->member->condition;
    return (left > right) - (left < right);
}

static size_t
common_length(const struct place *places, size_t count, size_t from)
{
    const struct slice first = places->member->line;
    size_t common = first.length;
    for (size_t i = 1; i < count; i++) {
        const struct slice line = places[i].member->line;
        size_t length = from;
        while (length < common && line.at[length] == first.at[length]) {
            length++; /* a line's last byte is nowhere else in one */
        }
        common = length;
    }
    return common;
}

/* Byte by byte from the last; bytes that are the same in all cost nothing. */
static void
sort_radix(struct place *places, size_t count, struct place *spare)
{
    struct place *from = places, *to = spare;
    uint64_t varying = 0;
    for (size_t i = 1; i < count; i++) {
        varying |= places[i].order ^ places->order;
    }
    for (unsigned shift = 0; shift < 8 * sizeof places->order; shift += 8) {
        size_t ends[(1 << 8) + 1] = {0};
        if ((varying >> shift & 0xff) == 0) {
            continue;
        }
        for (size_t i = 0; i < count; i++) {
            ends[(from[i].order >> shift & 0xff) + 1]++;
        }
        for (size_t i = 0; i < 1 << 8; i++) {
            ends[i + 1] += ends[i];
        }
        for (size_t i = 0; i < count; i++) {
            to[ends[from[i].order >> shift & 0xff]++] = from[i];
        }
        struct place *const swap = from;
        from = to;
        to = swap;
    }
    if (from != places) {
        memcpy(places, from, count * sizeof *places);
    }
}

static void
sort_by_order(struct place *places, size_t count, struct place *spare)
{
    if (count > INSERTION_MAXIMUM) {
        sort_radix(places, count, spare);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        const struct place place = places[i];
        size_t at = i;
        for (; at > 0 && places[at - 1].order > place.order; at--) {
            places[at] = places[at - 1];
        }
        places[at] = place;
    }
}

/* By lines, whose first `from` bytes are known to be equal; equal lines by condition: none comes
 * first, since it makes the others needless. Each call goes on by eight bytes at least. */
static void
sort_lines(struct place *places, size_t count, size_t from, struct place *spare)
{
    const size_t common = common_length(places, count, from);
    if (common == places->member->line.length) {
        qsort(places, count, sizeof *places, compare_conditions);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const struct slice line = places[i].member->line;
        const size_t left = line.length - common;
        uint64_t order = 0;
        memcpy(&order, line.at + common, left < sizeof order ? left : sizeof order);
        places[i].order = be64toh(order);
    }
    sort_by_order(places, count, spare);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && places[end].order == places[i].order; end++) {
        }
        if (end - i > 1) {
            sort_lines(&places[i], end - i, common, spare);
        }
    }
}

/* ---- documents ---- */

static bool
condition_holds(const struct member *members, size_t count, uint64_t condition)
{
    for (size_t i = 0; i < count; i++) {
        if (members[i].condition == 0 && sliced_hash(members[i].line) == condition) {
            return true;
        }
    }
    return false;
}

/* The lines, in order, into document; each once. */
static void
join_lines(struct grouper *grouper, const struct member *members, size_t count,
           struct sliced_document *document)
{
    struct place *places = grouper->places;
    struct slice last = {0};
    for (size_t i = 0; i < count; i++) {
        places[i].member = &members[i];
    }
    sort_lines(places, count, 0, places + count);
    buf_reset(&grouper->lines);
    for (size_t i = 0; i < count; i++) {
        const struct member *member = places[i].member;
        if (slice_equal(member->line, last) ||
            (member->condition != 0 && !condition_holds(members, count, member->condition))) {
            continue;
        }
        if (buf_append_slice(&grouper->lines, member->line) != STATUS_OK) {
            document->cut = true;
            break;
        }
        last = member->line;
        document->count++;
    }
    document->lines = buf_slice(&grouper->lines);
}

/* All lines of one document. */
static enum status
give_document(struct grouper *grouper, const struct member *members, size_t count, bool cut,
              struct reason *why)
{
    struct grouping *grouping = grouper->grouping;
    struct slicer *slicer = grouping->slicer;
    struct sliced_document document = {.uri = members->document, .cut = cut};
    if (count == 1 && members->condition == 0 && members->line.length <= grouper->lines.maximum) {
        document.lines = members->line;
        document.count = 1;
    } else {
        join_lines(grouper, members, count, &document);
    }
    if (document.count == 0 && !document.cut) {
        return STATUS_OK; /* nothing but conditions that do not hold */
    }
    slicer->documents++;
    slicer->lines += document.count;
    slicer->cut += document.cut ? 1 : 0;
    return grouping->visit(grouping->context, grouper->thread, &document, why);
}

/* Records of one hash: nearly always of one document. */
static enum status
group_documents(void *context, const struct gathered *records, size_t count, bool cut,
                struct reason *why)
{
    struct grouper *grouper = context;
    struct member *members;
    bool mixed = false;
    if (atomic_load_explicit(&grouper->grouping->failed, memory_order_relaxed)) {
        return STATUS_CANCELLED;
    }
    TRY(read_members(grouper, records, count, why));
    members = grouper->members;
    for (size_t i = 1; i < count && !mixed; i++) {
        mixed = !slice_equal(members[i].document, members->document);
    }
    if (mixed) {
        qsort(members, count, sizeof *members, compare_documents);
    }
    for (size_t i = 0, end; i < count; i = end) {
        for (end = mixed ? i + 1 : count;
             end < count && slice_equal(members[end].document, members[i].document); end++) {
        }
        TRY(give_document(grouper, &members[i], end - i, cut, why));
    }
    return STATUS_OK;
}

/* ---- threads ---- */

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
        status = gather_part(&grouper->gather, slicer->keys, part, group_documents, grouper, &why);
    }
    pthread_mutex_lock(&grouping->lock);
    if (status != STATUS_OK && grouping->status == STATUS_OK) {
        grouping->status = status;
        grouping->why = why;
        atomic_store(&grouping->failed, true);
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
        gather_init(&grouper->gather, &slicer->room, slicer->options.memory / (4 * threads));
        buf_init(&grouper->unpacked, SIZE_MAX / 2);
        buf_init(&grouper->lines, (size_t)slicer->options.document_most);
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
        free(groupers[i].members);
        free(groupers[i].places);
        buf_release(&groupers[i].unpacked);
        buf_release(&groupers[i].lines);
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
    struct slicer_taker *taker = slicer->taker;
    slicer->taker = NULL;
    TRY(slicer_taker_free(taker, why));
    if (slicer->closures) {
        TRY(slicer_close(slicer, why));
    }
    return group_all(slicer, visit, context, why);
}
