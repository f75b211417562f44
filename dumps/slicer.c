#include "dumps/slicer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/codec.h"
#include "base/memory.h"
#include "dumps/slicer_private.h"
#include "rdf/writer.h"

enum {
    LINE_MAXIMUM = 1 << 28,
    LABEL_MAXIMUM = 1 << 20,
    LEAST_MEMORY = 64 << 20,
    THREADS_MAXIMUM = 64
};

void
slicer_options_default(struct slicer_options *options, const char *folder)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    *options = (struct slicer_options){
        .folder = folder,
        .memory = (uint64_t)512 << 20,
        .disk = (uint64_t)1 << 40,
        .document_most = 64 << 20,
        .closure_most = 256 << 20,
        .graphs = true,
        .threads = processors > 0 ? (unsigned)processors : 1,
    };
}

struct slicer *
slicer_new(const struct slicer_options *options)
{
    struct slicer *slicer = memory_zero(1, sizeof *slicer);
    slicer->options = *options;
    if (slicer->options.memory < LEAST_MEMORY) {
        slicer->options.memory = LEAST_MEMORY;
    }
    if (slicer->options.threads < 1 || slicer->options.threads > THREADS_MAXIMUM) {
        slicer->options.threads = slicer->options.threads < 1 ? 1 : (unsigned)THREADS_MAXIMUM;
    }
    slicer->spaces = memory_zero(options->count + 1, sizeof *slicer->spaces);
    for (size_t i = 0; i < options->count; i++) {
        const struct slice_space *from = &options->spaces[i];
        slicer->spaces[i] = *from;
        slicer->spaces[i].prefix.at = memory_string_n(from->prefix.at, from->prefix.length);
        slicer->spaces[i].replacement.at =
            memory_string_n(from->replacement.at, from->replacement.length);
        slicer->spaces[i].suffix.at = memory_string_n(from->suffix.at, from->suffix.length);
        slicer->closures |= from->slicing >= SLICING_CBD;
    }
    slicer->room.folder = options->folder;
    slicer->room.memory = slicer->options.memory / 2;
    slicer->room.disk = options->disk;
    slicer->keys = spool_new(&slicer->room, 0);
    if (slicer->closures) {
        slicer->blank = spool_new(&slicer->room, 0);
        slicer->components = components_new(&slicer->room, slicer->options.memory / 4);
    }
    buf_init(&slicer->line, LINE_MAXIMUM);
    buf_init(&slicer->record, LINE_MAXIMUM + LABEL_MAXIMUM);
    buf_init(&slicer->label, LABEL_MAXIMUM);
    return slicer;
}

void
slicer_free(struct slicer *slicer)
{
    if (slicer == NULL) {
        return;
    }
    for (size_t i = 0; i < slicer->options.count; i++) {
        free((char *)slicer->spaces[i].prefix.at);
        free((char *)slicer->spaces[i].replacement.at);
        free((char *)slicer->spaces[i].suffix.at);
    }
    free(slicer->spaces);
    spool_free(slicer->keys);
    spool_free(slicer->blank);
    components_free(slicer->components);
    buf_release(&slicer->line);
    buf_release(&slicer->record);
    buf_release(&slicer->label);
    free(slicer);
}

void
slicer_next_file(struct slicer *slicer)
{
    slicer->file++;
}

void
slicer_counted(const struct slicer *slicer, struct slicer_counts *counts)
{
    *counts = (struct slicer_counts){.triples = slicer->triples,
                                     .outside = slicer->outside,
                                     .documents = slicer->documents,
                                     .lines = slicer->lines,
                                     .cut = slicer->cut,
                                     .disk = slicer->room.disk_peak};
}

/* ---- records ---- */

uint64_t
sliced_hash(struct slice bytes)
{
    const uint64_t hash = XXH3_64bits(bytes.at, bytes.length);
    return hash != 0 ? hash : 1;
}

enum status
sliced_line_add(struct spool *keys, struct buf *record, const struct sliced_line *line,
                struct reason *why)
{
    buf_reset(record);
    codec_put_varint(record, line->key.length << 2 | line->place);
    if (line->place == KEY_IN_LINE) {
        codec_put_varint(record, (uint64_t)(line->key.at - line->line.at));
    } else if (line->place != KEY_IN_SUBJECT) {
        if (line->place == KEY_BEFORE_LINE) {
            codec_put_u64(record, line->condition);
        }
        buf_append_slice(record, line->key);
    }
    buf_append_slice(record, line->line);
    return spool_add(keys, line->hash, buf_slice(record), why);
}

bool
sliced_line_read(struct slice record, struct sliced_line *line)
{
    struct codec_reader reader = codec_reader_of(record);
    const uint64_t head = codec_get_varint(&reader), length = head >> 2;
    *line = (struct sliced_line){.place = (enum key_place)(head & 3)};
    size_t offset = 1;
    if (line->place == KEY_IN_LINE) {
        offset = (size_t)codec_get_varint(&reader);
    } else if (line->place != KEY_IN_SUBJECT) {
        line->condition = line->place == KEY_BEFORE_LINE ? codec_get_u64(&reader) : 0;
        offset = 0;
    }
    const struct slice left = slice_of((const char *)reader.at, (size_t)(reader.end - reader.at));
    if (reader.bad || length > left.length || offset > left.length - length) {
        return false;
    }
    line->key = slice_of(left.at + offset, (size_t)length);
    line->line = offset > 0 ? left : slice_of(left.at + length, left.length - (size_t)length);
    line->hash = sliced_hash(line->key);
    return true;
}

/* ---- taking ---- */

static enum status
put(struct slicer *slicer, enum key_place place, struct slice key, struct reason *why)
{
    const struct sliced_line line = {
        .place = place, .hash = sliced_hash(key), .key = key, .line = buf_slice(&slicer->line)};
    return sliced_line_add(slicer->keys, &slicer->record, &line, why);
}

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
    buf_printf(label, "f%ux%.*s", slicer->file, SLICE_PRINT(term->value));
}

static uint64_t
blank_node(const struct slicer *slicer, struct buf *label, const struct term *term)
{
    buf_reset(label);
    append_blank(slicer, label, term);
    return sliced_hash(buf_slice(label));
}

static enum status
put_blank(struct slicer *slicer, const struct quad *quad, struct reason *why)
{
    const bool subject = quad->subject.kind == TERM_BLANK, object = quad->object.kind == TERM_BLANK;
    uint64_t ends[2];
    ends[0] = subject ? blank_node(slicer, &slicer->label, &quad->subject) : 0;
    ends[1] = object ? blank_node(slicer, &slicer->label, &quad->object) : ends[0];
    if (subject && object) {
        TRY(components_join(slicer->components, ends[0], ends[1], why));
    }
    buf_reset(&slicer->record);
    codec_put_u64(&slicer->record, ends[1]);
    buf_append_slice(&slicer->record, buf_slice(&slicer->line));
    return spool_add(slicer->blank, 0, buf_slice(&slicer->record), why);
}

/* Writes the line, with the file's name in the labels of blank nodes. */
static enum status
write_line(struct slicer *slicer, const struct quad *quad, struct reason *why)
{
    struct quad triple = *quad;
    triple.graph = (struct term){0};
    buf_reset(&slicer->line);
    buf_reset(&slicer->label);
    size_t subject = 0;
    if (triple.subject.kind == TERM_BLANK) {
        append_blank(slicer, &slicer->label, &triple.subject);
        subject = slicer->label.length;
    }
    if (triple.object.kind == TERM_BLANK) {
        append_blank(slicer, &slicer->label, &triple.object);
        triple.object.value =
            slice_of(slicer->label.data + subject, slicer->label.length - subject);
    }
    if (subject > 0) {
        triple.subject.value = slice_of(slicer->label.data, subject);
    }
    if (slicer->label.overflowed || nquads_write(&slicer->line, &triple) != STATUS_OK) {
        return status_fail(why, STATUS_LIMIT, "a statement of more than %d bytes", LINE_MAXIMUM);
    }
    return STATUS_OK;
}

enum status
slicer_take(void *context, const struct quad *quad, struct reason *why)
{
    struct slicer *slicer = context;
    slicer->triples++;
    if (quad->graph.kind == TERM_IRI && slicer->options.graphs) {
        TRY(write_line(slicer, quad, why));
        return put(slicer, KEY_IS_DOCUMENT, slice_key(quad->graph.value), why);
    }
    const bool blank = quad->subject.kind == TERM_BLANK || quad->object.kind == TERM_BLANK;
    const struct slice_space *subject = space_of(slicer, &quad->subject);
    const struct slice_space *object = space_of(slicer, &quad->object);
    const bool aside = blank && slicer->closures;
    /* What closures add to is put here; what they find by themselves is not. */
    const bool of_subject = subject != NULL && !(aside && subject->slicing >= SLICING_CBD);
    const bool of_object = object != NULL && object->slicing != SLICING_SUBJECT &&
                           object->slicing != SLICING_CBD &&
                           !(aside && object->slicing >= SLICING_CBD);
    if (!of_subject && !of_object && !aside) {
        slicer->outside++;
        return STATUS_OK;
    }
    TRY(write_line(slicer, quad, why));
    if (aside) {
        TRY(put_blank(slicer, quad, why));
    }
    const struct triple_line line = triple_line_of(buf_slice(&slicer->line));
    const struct slice subject_key = slice_key(token_iri(line.subject));
    const struct slice object_key = slice_key(token_iri(line.object));
    if (of_subject) {
        TRY(put(slicer, KEY_IN_SUBJECT, subject_key, why));
    }
    if (of_object && !(of_subject && slice_equal(object_key, subject_key))) {
        TRY(put(slicer, KEY_IN_LINE, object_key, why));
    }
    return STATUS_OK;
}
