#include "dumps/slicer_taker.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/memory.h"
#include "base/varint.h"
#include "dumps/closure.h"
#include "dumps/slicer_state.h"

enum {
    LINE_MAXIMUM = 1 << 28,
    LABEL_MAXIMUM = 1 << 20,
    RUNS_PER_BLOCK = 8, /* at least */
    HASH_SIZE = 8,
    VARINT_SIZE = 10
};

/* A record that triples may still be added to. */
struct slicer_run {
    struct buf record;    /* empty: there is none */
    size_t head, subject; /* lengths of what comes before the subject; of the subject */
    bool of_last;         /* it is the last subject's, by its document */
};

struct slicer_taker {
    struct slicer *slicer;
    struct spool_writer *keys, *blank;
    struct buf subject, rest; /* of the triple, packed; subject is kept for the next */
    struct buf last;          /* subject of the last triple, as it was given */
    enum term_kind last_kind;
    unsigned last_file;
    uint64_t last_node; /* hash of the subject if it is blank */
    const struct slice_space *last_space;
    struct buf label, document, head;
    struct slicer_run run;
    uint64_t triples, outside;
};

struct slicer_taker *
slicer_taker_new(struct slicer *slicer)
{
    struct slicer_taker *taker = memory_new(sizeof *taker);
    taker->slicer = slicer;
    taker->keys = spool_writer_new(slicer->keys);
    taker->blank = slicer->blank != NULL ? spool_writer_new(slicer->blank) : NULL;
    buf_init(&taker->subject, LINE_MAXIMUM);
    buf_init(&taker->rest, LINE_MAXIMUM);
    buf_init(&taker->last, LINE_MAXIMUM);
    buf_init(&taker->label, LABEL_MAXIMUM);
    buf_init(&taker->document, LABEL_MAXIMUM);
    buf_init(&taker->head, LINE_MAXIMUM);
    buf_init(&taker->run.record, SIZE_MAX / 2);
    return taker;
}

/* ---- records ---- */

uint64_t
sliced_hash(struct slice bytes)
{
    const uint64_t hash = XXH3_64bits(bytes.at, bytes.length);
    return hash != 0 ? hash : 1;
}

static enum status
end_run(struct slicer_taker *taker, struct reason *why)
{
    const struct slice record = buf_slice(&taker->run.record);
    uint64_t hash;
    if (record.length == 0) {
        return STATUS_OK;
    }
    memcpy(&hash, record.at, HASH_SIZE);
    const enum status status = spool_add(taker->keys, hash, record, why);
    buf_reset(&taker->run.record);
    taker->run.of_last = false;
    return status;
}

/* The triple's predicate and object into the run. */
static enum status
extend_run(struct slicer_taker *taker, struct reason *why)
{
    struct buf *record = &taker->run.record;
    buf_append_slice(record, buf_slice(&taker->rest));
    return record->length < taker->slicer->room.block / RUNS_PER_BLOCK ? STATUS_OK
                                                                       : end_run(taker, why);
}

/* Writes the line's beginning, all that comes before the subject but the hash. */
static void
write_head(struct slicer_taker *taker, enum document_place place, struct slice document,
           uint64_t condition)
{
    char name[1 + HASH_SIZE + VARINT_SIZE] = {(char)place}, *end = name + 1;
    buf_reset(&taker->head);
    if (place == DOCUMENT_WRITTEN) {
        memcpy(end, &condition, HASH_SIZE);
        end = (char *)varint_put((uint8_t *)end + HASH_SIZE, document.length);
    }
    buf_append(&taker->head, name, (size_t)(end - name));
    if (place == DOCUMENT_WRITTEN) {
        buf_append_slice(&taker->head, document);
    }
}

static bool
run_goes_on(const struct slicer_taker *taker)
{
    const struct slicer_run *run = &taker->run;
    const struct slice head = buf_slice(&taker->head), subject = buf_slice(&taker->subject);
    const char *at = run->record.data;
    return run->record.length > 0 && run->head == head.length && run->subject == subject.length &&
           memcmp(at + HASH_SIZE, head.at, head.length) == 0 &&
           memcmp(at + HASH_SIZE + head.length, subject.at, subject.length) == 0;
}

static enum status
put(struct slicer_taker *taker, enum document_place place, struct slice document,
    uint64_t condition, struct reason *why)
{
    struct slicer_run *run = &taker->run;
    write_head(taker, place, document, condition);
    if (taker->head.overflowed) {
        return status_fail(why, STATUS_LIMIT, "a document of more than %d bytes", LINE_MAXIMUM);
    }
    if (!run_goes_on(taker)) {
        const uint64_t hash = sliced_hash(document);
        TRY(end_run(taker, why));
        run->head = taker->head.length;
        run->subject = taker->subject.length;
        buf_append(&run->record, &hash, HASH_SIZE);
        buf_append_slice(&run->record, buf_slice(&taker->head));
        buf_append_slice(&run->record, buf_slice(&taker->subject));
    }
    return extend_run(taker, why);
}

/* The triple to the document that its object is of: the next will hardly be of the same. */
static enum status
put_to_object(struct slicer_taker *taker, struct slice document, struct reason *why)
{
    const uint64_t hash = sliced_hash(document);
    const struct slice subject = buf_slice(&taker->subject), rest = buf_slice(&taker->rest);
    char *at;
    TRY(spool_make(taker->keys, hash, HASH_SIZE + 1 + subject.length + rest.length, &at, why));
    memcpy(at, &hash, HASH_SIZE);
    at[HASH_SIZE] = (char)DOCUMENT_OF_OBJECT;
    at += HASH_SIZE + 1;
    memcpy(at, subject.at, subject.length);
    memcpy(at + subject.length, rest.at, rest.length);
    return STATUS_OK;
}

enum status
slicer_taker_free(struct slicer_taker *taker, struct reason *why)
{
    enum status status = STATUS_OK;
    if (taker != NULL) {
        if (why != NULL) {
            status = end_run(taker, why);
        }
        if (why != NULL && status == STATUS_OK) {
            status = spool_flush(taker->keys, why);
        }
        if (why != NULL && taker->blank != NULL && status == STATUS_OK) {
            status = spool_flush(taker->blank, why);
        }
        atomic_fetch_add(&taker->slicer->triples, taker->triples);
        atomic_fetch_add(&taker->slicer->outside, taker->outside);
        spool_writer_free(taker->keys);
        spool_writer_free(taker->blank);
        buf_release(&taker->subject);
        buf_release(&taker->rest);
        buf_release(&taker->last);
        buf_release(&taker->label);
        buf_release(&taker->document);
        buf_release(&taker->head);
        buf_release(&taker->run.record);
        free(taker);
    }
    return status;
}

/* ---- taking ---- */

static const struct slice_space *
space_of(const struct slicer *slicer, const struct term *term)
{
    return term->kind == TERM_IRI
               ? slice_space_of(slicer->spaces, slicer->options.count, term->value)
               : NULL;
}

static void
append_blank(const struct slicer *slicer, struct buf *label, const struct term *term)
{
    char start[16];
    char *at = start + sizeof start;
    *--at = 'x';
    unsigned file = slicer->file;
    do {
        *--at = (char)('0' + file % 10);
    } while ((file /= 10) > 0);
    *--at = 'f';
    buf_append(label, at, (size_t)(start + sizeof start - at));
    buf_append_slice(label, term->value);
}

/* With the file's name in the label of a blank node, whose hash goes to *node. */
static bool
pack_node(struct slicer_taker *taker, const struct term *term, struct buf *packed, uint64_t *node)
{
    struct term labelled = *term;
    *node = 0;
    if (term->kind == TERM_BLANK) {
        buf_reset(&taker->label);
        append_blank(taker->slicer, &taker->label, term);
        labelled.value = buf_slice(&taker->label);
        *node = sliced_hash(labelled.value);
    }
    return !taker->label.overflowed &&
           dictionary_pack_term(taker->slicer->dictionary, &labelled, packed);
}

/* Most dumps have the triples of one subject together. */
static bool
is_last_subject(const struct slicer_taker *taker, const struct term *subject)
{
    return taker->last_kind == subject->kind && taker->last_file == taker->slicer->file &&
           slice_equal(buf_slice(&taker->last), subject->value);
}

/* again: the subject is the last one. ends: hashes of blank nodes. */
static enum status
pack(struct slicer_taker *taker, const struct quad *quad, bool again, uint64_t ends[2],
     struct reason *why)
{
    bool packed = true;
    if (!again) {
        taker->run.of_last = false;
        buf_reset(&taker->subject);
        buf_reset(&taker->last);
        packed = pack_node(taker, &quad->subject, &taker->subject, &taker->last_node) &&
                 buf_append_slice(&taker->last, quad->subject.value) == STATUS_OK;
        taker->last_kind = packed ? quad->subject.kind : TERM_NONE;
        taker->last_file = taker->slicer->file;
    }
    ends[0] = taker->last_node;
    buf_reset(&taker->rest);
    if (!packed ||
        !dictionary_pack_predicate(taker->slicer->dictionary, quad->predicate.value,
                                   &taker->rest) ||
        !pack_node(taker, &quad->object, &taker->rest, &ends[1])) {
        return status_fail(why, STATUS_LIMIT, "a statement of more than %d bytes", LINE_MAXIMUM);
    }
    return STATUS_OK;
}

static enum status
put_blank(struct slicer_taker *taker, const uint64_t ends[2], struct reason *why)
{
    const struct slice subject = buf_slice(&taker->subject), rest = buf_slice(&taker->rest);
    const uint64_t node = ends[0] != 0 ? ends[0] : ends[1];
    char *at;
    if (ends[0] != 0 && ends[1] != 0) {
        TRY(components_join(taker->slicer->components, ends[0], ends[1], why));
    }
    TRY(spool_make(taker->blank, 0, HASH_SIZE + subject.length + rest.length, &at, why));
    memcpy(at, &node, HASH_SIZE);
    memcpy(at + HASH_SIZE, subject.at, subject.length);
    memcpy(at + HASH_SIZE + subject.length, rest.at, rest.length);
    return STATUS_OK;
}

static enum status
put_resource(struct slicer_taker *taker, const struct slice_space *space, enum document_place place,
             struct slice iri, struct reason *why)
{
    const struct slice key = slice_key(iri);
    if (space->replaced || space->suffix.length > 0) {
        buf_reset(&taker->document);
        slice_document(space, key, &taker->document);
        return taker->document.overflowed
                   ? status_fail(why, STATUS_LIMIT, "a document of more than %d bytes",
                                 LABEL_MAXIMUM)
                   : put(taker, DOCUMENT_WRITTEN, buf_slice(&taker->document), 0, why);
    }
    return place == DOCUMENT_OF_OBJECT ? put_to_object(taker, key, why)
                                       : put(taker, place, key, 0, why);
}

static enum status
put_to_subject(struct slicer_taker *taker, const struct slice_space *space, struct slice iri,
               struct reason *why)
{
    if (taker->run.of_last) {
        return extend_run(taker, why);
    }
    TRY(put_resource(taker, space, DOCUMENT_OF_SUBJECT, iri, why));
    taker->run.of_last = taker->run.record.length > 0;
    return STATUS_OK;
}

/* Both ends in one document: once. */
static bool
same_document(const struct slice_space *a, const struct slice_space *b, const struct quad *quad)
{
    return a == b && slice_equal(slice_key(quad->subject.value), slice_key(quad->object.value));
}

enum status
slicer_taker_take(void *context, const struct quad *quad, struct reason *why)
{
    struct slicer_taker *taker = context;
    const struct slicer *slicer = taker->slicer;
    const bool again = is_last_subject(taker, &quad->subject);
    uint64_t ends[2] = {0, 0};
    taker->triples++;
    if (quad->graph.kind == TERM_IRI && slicer->options.graphs) {
        TRY(pack(taker, quad, again, ends, why));
        taker->last_space = space_of(slicer, &quad->subject);
        taker->run.of_last = false;
        return put(taker, DOCUMENT_WRITTEN, slice_key(quad->graph.value), 0, why);
    }
    const bool blank = quad->subject.kind == TERM_BLANK || quad->object.kind == TERM_BLANK;
    const struct slice_space *subject =
        again ? taker->last_space : space_of(slicer, &quad->subject);
    const struct slice_space *object = space_of(slicer, &quad->object);
    const bool aside = blank && slicer->closures;
    /* Documents that closures add to are put here; those that they find by themselves are not. */
    const bool of_subject = subject != NULL && !(aside && subject->slicing >= SLICING_CBD);
    const bool of_object = object != NULL && object->slicing != SLICING_SUBJECT &&
                           object->slicing != SLICING_CBD &&
                           !(aside && object->slicing >= SLICING_CBD);
    if (!of_subject && !of_object && !aside) {
        taker->outside++;
        return STATUS_OK;
    }
    TRY(pack(taker, quad, again, ends, why));
    taker->last_space = subject;
    if (aside) {
        TRY(put_blank(taker, ends, why));
    }
    if (of_subject) {
        TRY(put_to_subject(taker, subject, quad->subject.value, why));
    }
    if (of_object && !(of_subject && same_document(subject, object, quad))) {
        TRY(put_resource(taker, object, DOCUMENT_OF_OBJECT, quad->object.value, why));
    }
    return STATUS_OK;
}

enum status
slicer_taker_put_line(struct slicer_taker *taker, struct slice document, struct slice line,
                      struct slice condition, struct reason *why)
{
    const struct triple_line triple = triple_line_of(line);
    buf_reset(&taker->subject);
    buf_reset(&taker->rest);
    if (!dictionary_pack_line(taker->slicer->dictionary, &triple, &taker->subject, &taker->rest)) {
        return status_fail(why, STATUS_LIMIT, "a statement is too long");
    }
    return put(taker, DOCUMENT_WRITTEN, document, condition.length > 0 ? sliced_hash(condition) : 0,
               why);
}

void
slicer_taker_add_counts(const struct slicer_taker *taker, struct slicer_counts *counts)
{
    counts->triples += taker->triples;
    counts->outside += taker->outside;
}
