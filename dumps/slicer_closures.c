/* The first thing of slicer_group: blank nodes into components, components into descriptions. One
 * thread. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dumps/closure.h"
#include "dumps/slicer_state.h"
#include "dumps/slicer_taker.h"

enum { COMPONENT_SIZE = 8 };

struct describe {
    struct slicer *slicer;
    struct closure_work *work;
    struct closure_options options;
    struct slice *lines;
    size_t capacity;
    struct buf text, document;
    struct spool_writer *into; /* records under their component's final name */
};

static enum status
emit_line(void *context, struct slice document, struct slice text, struct slice condition,
          struct reason *why)
{
    return slicer_taker_put_line(context, document, text, condition, why);
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
            buf_reset(&describe->document);
            slice_document(space, slice_key(ends[i]), &describe->document);
            TRY(emit_line(describe->slicer->taker, buf_slice(&describe->document), text,
                          (struct slice){0}, why));
        }
    }
    return STATUS_OK;
}

/* Lines of the component, in describe->lines. */
static enum status
unpack_lines(struct describe *describe, const struct gathered *records, size_t count,
             struct reason *why)
{
    buf_reset(&describe->text);
    if (count > describe->capacity) {
        describe->capacity = 2 * count;
        describe->lines = memory_resize(describe->lines, describe->capacity, sizeof(struct slice));
    }
    for (size_t i = 0; i < count; i++) {
        const struct slice record = records[i].record;
        if (!dictionary_unpack_line(
                describe->slicer->dictionary,
                slice_of(record.at + COMPONENT_SIZE, record.length - COMPONENT_SIZE),
                &describe->text, &describe->lines[i].length)) {
            return status_fail(why, STATUS_CORRUPT, "a temporary file was changed");
        }
    }
    const char *at = describe->text.data;
    for (size_t i = 0; i < count; i++) {
        describe->lines[i].at = at;
        at += describe->lines[i].length;
    }
    return STATUS_OK;
}

static enum status
describe_component(void *context, const struct gathered *records, size_t count, size_t ahead,
                   bool cut, struct reason *why)
{
    (void)ahead;
    struct describe *describe = context;
    TRY(unpack_lines(describe, records, count, why));
    for (size_t i = 0; i < count && cut; i++) {
        TRY(emit_direct(describe, describe->lines[i], why));
    }
    if (!cut) {
        TRY(closure_of_component(describe->work, &describe->options, describe->lines, count,
                                 emit_line, describe->slicer->taker, &cut, why));
    }
    describe->slicer->cut += cut ? 1 : 0;
    return STATUS_OK;
}

static enum status
rename_component(void *context, struct slice record, struct reason *why)
{
    const struct describe *describe = context;
    uint64_t component;
    char *at;
    memcpy(&component, record.at, COMPONENT_SIZE);
    component = components_find(describe->slicer->components, component);
    TRY(spool_make(describe->into, component, record.length, &at, why));
    memcpy(at, &component, COMPONENT_SIZE);
    memcpy(at + COMPONENT_SIZE, record.at + COMPONENT_SIZE, record.length - COMPONENT_SIZE);
    return STATUS_OK;
}

/* Writes all records again under the names of this round. */
static enum status
rename_all(struct slicer *slicer, struct spool *from, struct spool *into, struct reason *why)
{
    struct describe describe = {.slicer = slicer, .into = spool_writer_new(into)};
    enum status status = STATUS_OK;
    for (unsigned i = 0; i < SPOOL_PARTS && status == STATUS_OK; i++) {
        status = spool_walk(from, i, rename_component, &describe, why);
        spool_forget(from, i);
    }
    if (status == STATUS_OK) {
        status = spool_flush(describe.into, why);
    }
    spool_writer_free(describe.into);
    return status;
}

/* Gives every record its component's name, round by round; spread by it in the end. */
static enum status
solve_components(struct slicer *slicer, struct reason *why)
{
    enum status status = STATUS_OK;
    for (bool last = false; status == STATUS_OK && !last;) {
        status = components_round(slicer->components, &last, why);
        if (status == STATUS_OK) {
            struct spool *into = spool_new(&slicer->room, 0);
            status = rename_all(slicer, slicer->blank, into, why);
            spool_free(slicer->blank);
            slicer->blank = into;
        }
    }
    components_free(slicer->components);
    slicer->components = NULL;
    return status;
}

enum status
slicer_close(struct slicer *slicer, struct reason *why)
{
    struct gather gather;
    struct describe describe = {
        .slicer = slicer,
        .options = {slicer->spaces, slicer->options.count, slicer->options.closure_most}};
    TRY(solve_components(slicer, why));
    slicer->taker = slicer_taker_new(slicer);
    describe.work = closure_work_new();
    buf_init(&describe.text, SIZE_MAX / 2);
    buf_init(&describe.document, SIZE_MAX / 2);
    gather_init(&gather, &slicer->room, slicer->options.memory / 4);
    enum status status = STATUS_OK;
    for (unsigned i = 0; i < SPOOL_PARTS && status == STATUS_OK; i++) {
        status = gather_part(&gather, slicer->blank, i, describe_component, &describe, why);
    }
    gather_release(&gather);
    closure_work_free(describe.work);
    buf_release(&describe.text);
    buf_release(&describe.document);
    free(describe.lines);
    const enum status flushed = slicer_taker_free(slicer->taker, why);
    slicer->taker = NULL;
    return status != STATUS_OK ? status : flushed;
}
