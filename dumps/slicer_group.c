/* The second half of slicing: documents brought together part by part, by several threads. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dumps/slicer_private.h"

enum { HASH_SIZE = 8, INSERTION_MAXIMUM = 16 };

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
    uint64_t order; /* eight bytes of the line, behind what all lines have in common */
    struct slice line, document;
    uint64_t condition;
};

struct grouper {
    struct grouping *grouping;
    unsigned thread;
    pthread_t id;
    struct gather gather;
    struct member *members;
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
    if (place != DOCUMENT_WRITTEN) { /* without brackets; at: where in the line */
        const bool subject = place == DOCUMENT_OF_SUBJECT;
        member->order = subject ? 1 : unpacked.line - strlen(" .\n") - unpacked.object + 1;
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
            member->document.at = at + member->order;
            member->document = slice_key(member->document);
        }
        at += member->line.length;
    }
    return STATUS_OK;
}

/* ---- order ---- */

static int
compare_members(const void *a, const void *b)
{
    const struct member *left = a, *right = b;
    if (left->order != right->order) {
        return left->order < right->order ? -1 : 1;
    }
    const int lines = slice_compare(left->line, right->line);
    /* Without a condition first: it makes the others needless. */
    return lines != 0 ? lines
                      : (left->condition > right->condition) - (left->condition < right->condition);
}

static int
compare_documents(const void *a, const void *b)
{
    const struct member *left = a, *right = b;
    const int order = slice_compare(left->document, right->document);
    return order != 0 ? order : compare_members(a, b);
}

static size_t
common_length(struct slice a, struct slice b, size_t most)
{
    size_t length = 0;
    while (length < most && length < b.length && a.at[length] == b.at[length]) {
        length++;
    }
    return length;
}

static void
sort_members(struct member *members, size_t count)
{
    size_t common = members->line.length;
    for (size_t i = 1; i < count; i++) {
        common = common_length(members->line, members[i].line, common);
    }
    for (size_t i = 0; i < count; i++) {
        const struct slice line = members[i].line;
        uint64_t order = 0;
        const size_t left = line.length - common;
        memcpy(&order, line.at + common, left < sizeof order ? left : sizeof order);
        members[i].order = __builtin_bswap64(order);
    }
    if (count > INSERTION_MAXIMUM) {
        qsort(members, count, sizeof *members, compare_members);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        const struct member member = members[i];
        size_t at = i;
        for (; at > 0 && compare_members(&members[at - 1], &member) > 0; at--) {
            members[at] = members[at - 1];
        }
        members[at] = member;
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

/* All lines of one document. */
static enum status
give_document(struct grouper *grouper, struct member *members, size_t count, bool cut,
              struct reason *why)
{
    struct grouping *grouping = grouper->grouping;
    struct slicer *slicer = grouping->slicer;
    struct sliced_document document = {.uri = members->document, .cut = cut};
    struct slice last = {0};
    sort_members(members, count);
    buf_reset(&grouper->lines);
    for (size_t i = 0; i < count; i++) {
        const struct member *member = &members[i];
        if (slice_equal(member->line, last) ||
            (member->condition != 0 && !condition_holds(members, count, member->condition))) {
            continue;
        }
        if (buf_append_slice(&grouper->lines, member->line) != STATUS_OK) {
            document.cut = true;
            break;
        }
        last = member->line;
        document.count++;
    }
    if (document.count == 0 && !document.cut) {
        return STATUS_OK; /* nothing but conditions that do not hold */
    }
    document.lines = buf_slice(&grouper->lines);
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
