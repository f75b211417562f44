/* The second half of slicing: documents brought together part by part, by several threads. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dumps/closure.h"
#include "dumps/slicer_state.h"
#include "dumps/slicer_taker.h"
#include "dumps/text_sort.h"

enum { HASH_SIZE = 8, RECORDS_AHEAD = 16, ENTRIES_AHEAD = 6, CACHE_LINE = 64 };

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

/* Triples of one subject and document that came together. */
struct run {
    struct slice subject, document;
    uint64_t condition; /* hash of a line that must be there, too; 0: none */
    enum document_place place;
    size_t first, count; /* members */
};

/* Holds what a line has behind its subject. */
struct member {
    struct slice object;
    struct unpacked_predicate predicate;
    uint64_t condition;
};

struct grouper {
    struct grouping *grouping;
    unsigned thread;
    pthread_t id;
    struct gather gather;
    struct run *runs;
    struct member *members;
    struct text_place *places; /* of runs, of members, and as many spare */
    uint64_t *conditions;      /* hashes of lines that others are for, in order */
    uint32_t *lengths;         /* of lines of the document */
    size_t run_count, run_capacity, member_count, member_capacity, place_capacity, condition_count;
    struct buf texts, lines;
};

/* ---- records ---- */

static bool
read_name(const char **at, const char *end, struct run *run)
{
    uint64_t length = 0;
    if (end - *at < HASH_SIZE) {
        return false;
    }
    memcpy(&run->condition, *at, HASH_SIZE);
    *at += HASH_SIZE;
    for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
        const char byte = *(*at)++;
        length |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0) {
            break;
        }
    }
    if (length > (uint64_t)(end - *at)) {
        return false;
    }
    run->document = slice_of(*at, (size_t)length);
    *at += length;
    return true;
}

static struct member *
new_member(struct grouper *grouper)
{
    if (grouper->member_count == grouper->member_capacity) {
        grouper->member_capacity = 2 * grouper->member_capacity + 256;
        grouper->members =
            memory_resize(grouper->members, grouper->member_capacity, sizeof *grouper->members);
    }
    return &grouper->members[grouper->member_count++];
}

/* Terms that were unpacked have no place until all are: texts may move. */
static bool
read_run(struct grouper *grouper, struct slice record, struct run *run)
{
    const struct dictionary *dictionary = grouper->grouping->slicer->dictionary;
    const char *at = record.at + HASH_SIZE, *end = record.at + record.length;
    *run = (struct run){.first = grouper->member_count};
    if (at >= end) {
        return false;
    }
    run->place = (enum document_place)(unsigned char)*at++;
    if (run->place == DOCUMENT_WRITTEN && !read_name(&at, end, run)) {
        return false;
    }
    struct slice rest = slice_of(at, (size_t)(end - at));
    if (!dictionary_unpack_term(dictionary, &rest, &grouper->texts, &run->subject)) {
        return false;
    }
    while (rest.length > 0) {
        struct member *member = new_member(grouper);
        member->condition = run->condition;
        if (!dictionary_unpack_predicate(dictionary, &rest, &member->predicate) ||
            !dictionary_unpack_term(dictionary, &rest, &grouper->texts, &member->object)) {
            return false;
        }
    }
    run->count = grouper->member_count - run->first;
    return run->count > 0;
}

static void
locate(struct slice *text, const char **at)
{
    if (text->at == NULL) {
        text->at = *at;
        *at += text->length;
    }
}

/* Records lie as they came, far from each other: while some are worked on the next come nearer, and
 * what their subjects begin with. */
static inline void
expect_records(const struct grouper *grouper, const struct gathered *records, size_t count)
{
    if (count > RECORDS_AHEAD) {
        __builtin_prefetch(records[RECORDS_AHEAD].record.at);
        __builtin_prefetch(records[RECORDS_AHEAD].record.at + CACHE_LINE);
        const struct slice record = records[ENTRIES_AHEAD].record;
        if (record.length > HASH_SIZE + 3) {
            dictionary_expect(grouper->grouping->slicer->dictionary, record.at + HASH_SIZE + 1);
        }
    }
}

static enum status
read_runs(struct grouper *grouper, const struct gathered *records, size_t count, size_t ahead,
          struct reason *why)
{
    if (count > grouper->run_capacity) {
        grouper->run_capacity = 2 * count;
        grouper->runs = memory_resize(grouper->runs, grouper->run_capacity, sizeof *grouper->runs);
    }
    buf_reset(&grouper->texts);
    grouper->member_count = 0;
    for (size_t i = 0; i < count; i++) {
        expect_records(grouper, &records[i], count + ahead - i);
        if (!read_run(grouper, records[i].record, &grouper->runs[i])) {
            return status_fail(why, STATUS_CORRUPT, "a temporary file was changed");
        }
    }
    buf_reserve(&grouper->texts, DICTIONARY_SLACK);
    const char *at = grouper->texts.data;
    for (size_t i = 0; i < count; i++) {
        struct run *run = &grouper->runs[i];
        locate(&run->subject, &at);
        for (size_t k = run->first; k < run->first + run->count; k++) {
            locate(&grouper->members[k].object, &at);
        }
        if (run->place != DOCUMENT_WRITTEN) {
            run->document = slice_key(token_iri(run->place == DOCUMENT_OF_SUBJECT
                                                    ? run->subject
                                                    : grouper->members[run->first].object));
        }
    }
    const size_t places = 2 * (count + grouper->member_count);
    if (places > grouper->place_capacity) {
        grouper->place_capacity = 2 * places;
        grouper->places =
            memory_resize(grouper->places, grouper->place_capacity, sizeof *grouper->places);
        grouper->lengths =
            memory_resize(grouper->lengths, grouper->place_capacity, sizeof *grouper->lengths);
    }
    return STATUS_OK;
}

/* ---- order ---- */

static int
compare_documents(const void *a, const void *b)
{
    const struct run *left = a, *right = b;
    return slice_compare(left->document, right->document);
}

/* Tokens with numbers are at one place in memory. */
static inline bool
same_predicate(const struct member *a, const struct member *b)
{
    return a->predicate.token.at == b->predicate.token.at ||
           slice_equal(a->predicate.token, b->predicate.token);
}

static inline bool
same_line(const struct member *a, const struct member *b)
{
    return same_predicate(a, b) && slice_equal(a->object, b->object);
}

/* Lines of one subject: by predicate, then by object. That is the order of their bytes, since a
 * term ends before a space, which comes before all that a longer one could go on with. */
static void
sort_members(struct member *members, struct text_place *places, size_t count,
             struct text_place *spare)
{
    bool ranked = true;
    for (size_t i = 0; i < count; i++) {
        places[i].order = members[places[i].item].predicate.rank;
        ranked &= places[i].order > 0;
    }
    if (ranked) {
        text_sort_numbers(places, count, spare);
    } else {
        for (size_t i = 0; i < count; i++) {
            places[i] = text_place_of(members[places[i].item].predicate.token, places[i].item);
        }
        text_sort(places, count, spare);
    }
    for (size_t i = 0, end; i < count; i = end) {
        const struct member *first = &members[places[i].item];
        for (end = i; end < count && same_predicate(first, &members[places[end].item]); end++) {
            places[end] = text_place_of(members[places[end].item].object, places[end].item);
        }
        text_sort(&places[i], end - i, spare);
    }
}

/* ---- documents ---- */

static size_t
line_length(struct slice subject, const struct member *member)
{
    return subject.length + member->predicate.token.length + member->object.length + strlen("  ") +
           strlen(" .\n");
}

/* false past the buffer's maximum. Behind all texts here there is slack. */
static bool
append_line(struct buf *lines, struct slice subject, const struct member *member)
{
    const size_t length = line_length(subject, member);
    char *to = buf_reserve(lines, length + DICTIONARY_SLACK);
    if (to == NULL) {
        return false;
    }
    to = dictionary_copy(to, subject.at, subject.length);
    *to++ = ' ';
    to = dictionary_copy(to, member->predicate.token.at, member->predicate.token.length);
    *to++ = ' ';
    to = dictionary_copy(to, member->object.at, member->object.length);
    memcpy(to, " .\n", 3);
    buf_commit(lines, length);
    return true;
}

static int
compare_numbers(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* Hashes of the lines that are there without condition, if there are conditions. */
static void
find_conditions(struct grouper *grouper, const struct run *runs, size_t count)
{
    bool any = false;
    size_t most = 0;
    grouper->condition_count = 0;
    for (size_t i = 0; i < count; i++) {
        any |= runs[i].condition != 0;
        most += runs[i].count;
    }
    if (!any) {
        return;
    }
    grouper->conditions = memory_resize(grouper->conditions, most, sizeof *grouper->conditions);
    for (size_t i = 0; i < count; i++) {
        const struct run *run = &runs[i];
        for (size_t k = run->first; k < run->first + run->count && run->condition == 0; k++) {
            buf_reset(&grouper->lines);
            if (append_line(&grouper->lines, run->subject, &grouper->members[k])) {
                grouper->conditions[grouper->condition_count++] =
                    sliced_hash(buf_slice(&grouper->lines));
            }
        }
    }
    qsort(grouper->conditions, grouper->condition_count, sizeof *grouper->conditions,
          compare_numbers);
}

static bool
condition_holds(const struct grouper *grouper, uint64_t condition)
{
    return condition == 0 || bsearch(&condition, grouper->conditions, grouper->condition_count,
                                     sizeof *grouper->conditions, compare_numbers) != NULL;
}

/* Lines of one subject, each once. */
static void
join_members(struct grouper *grouper, struct slice subject, struct text_place *places, size_t count,
             struct sliced_document *document)
{
    struct member *members = grouper->members;
    sort_members(members, places, count, places + count);
    for (size_t i = 0, end; i < count && !document->cut; i = end) {
        const struct member *member = &members[places[i].item];
        bool holds = condition_holds(grouper, member->condition);
        for (end = i + 1; end < count && same_line(member, &members[places[end].item]); end++) {
            holds = holds || condition_holds(grouper, members[places[end].item].condition);
        }
        if (holds && !append_line(&grouper->lines, subject, member)) {
            document->cut = true;
        } else if (holds) {
            grouper->lengths[document->count++] = (uint32_t)line_length(subject, member);
        }
    }
}

/* The lines, in order, each once. */
static void
join_runs(struct grouper *grouper, const struct run *runs, size_t count,
          struct sliced_document *document)
{
    struct text_place *places = grouper->places, *of_members = places + count;
    for (size_t i = 0; i < count; i++) {
        places[i] = text_place_of(runs[i].subject, i);
    }
    text_sort(places, count, of_members);
    find_conditions(grouper, runs, count);
    buf_reset(&grouper->lines);
    for (size_t i = 0, end; i < count; i = end) {
        const struct slice subject = runs[places[i].item].subject;
        size_t members = 0;
        for (end = i; end < count && slice_equal(runs[places[end].item].subject, subject); end++) {
            const struct run *run = &runs[places[end].item];
            for (size_t k = run->first; k < run->first + run->count; k++) {
                of_members[members++] = text_place_of(grouper->members[k].object, k);
            }
        }
        join_members(grouper, subject, of_members, members, document);
    }
    document->lines = buf_slice(&grouper->lines);
    document->lengths = grouper->lengths;
}

/* All lines of one document. */
static enum status
give_document(struct grouper *grouper, const struct run *runs, size_t count, bool cut,
              struct reason *why)
{
    struct grouping *grouping = grouper->grouping;
    struct slicer *slicer = grouping->slicer;
    struct sliced_document document = {.uri = runs->document, .cut = cut};
    join_runs(grouper, runs, count, &document);
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
group_documents(void *context, const struct gathered *records, size_t count, size_t ahead, bool cut,
                struct reason *why)
{
    struct grouper *grouper = context;
    bool mixed = false;
    if (atomic_load_explicit(&grouper->grouping->failed, memory_order_relaxed)) {
        return STATUS_CANCELLED;
    }
    TRY(read_runs(grouper, records, count, ahead, why));
    struct run *runs = grouper->runs;
    for (size_t i = 1; i < count && !mixed; i++) {
        mixed = !slice_equal(runs[i].document, runs->document);
    }
    if (mixed) {
        qsort(runs, count, sizeof *runs, compare_documents);
    }
    for (size_t i = 0, end; i < count; i = end) {
        for (end = mixed ? i + 1 : count;
             end < count && slice_equal(runs[end].document, runs[i].document); end++) {
        }
        TRY(give_document(grouper, &runs[i], end - i, cut, why));
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
        buf_init(&grouper->texts, SIZE_MAX / 2);
        buf_init(&grouper->lines, (size_t)slicer->options.document_most + DICTIONARY_SLACK);
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
        free(groupers[i].runs);
        free(groupers[i].members);
        free(groupers[i].places);
        free(groupers[i].conditions);
        free(groupers[i].lengths);
        buf_release(&groupers[i].texts);
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
    dictionary_rank(slicer->dictionary);
    return group_all(slicer, visit, context, why);
}
