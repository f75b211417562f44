#include "dumps/closure.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "rdf/core/vocabulary.h"

#define STATEMENT_SUBJECT "<" RDF_NAMESPACE "subject>"
#define STATEMENT_PREDICATE "<" RDF_NAMESPACE "predicate>"
#define STATEMENT_OBJECT "<" RDF_NAMESPACE "object>"

#define NOBODY UINT32_MAX

/* A blank rdf:Statement: node, and the line of what it states. */
struct reification {
    struct slice node, line;
};

struct place {
    struct slice node;
    bool backwards;
};

struct closure_work {
    struct triple_line *triples; /* in order of lines, so of subjects; each once */
    uint32_t *by_object;         /* places in triples */
    uint32_t *taken[2];          /* by which walk, on to objects and back to subjects */
    struct slice *resources;     /* IRIs that the component names */
    struct place *stack;         /* to go on from */
    struct reification *reifications, *by_stated; /* in order of lines; of what these state */
    size_t count, capacity, resource_count, stack_count, stack_capacity, reification_count;
    uint32_t walk, first_walk; /* this one; the first of this description */
    struct buf statement, document;
    /* of the call */
    const struct closure_options *options;
    closure_emit *emit;
    void *context;
    struct slice condition;
    uint64_t emitted;
    bool cut;
};

struct triple_line
triple_line_of(struct slice line)
{
    struct triple_line triple = {.line = line};
    const size_t subject = slice_find(line, ' ');
    triple.subject = slice_of(line.at, subject);
    struct slice rest = slice_of(line.at + subject + 1, line.length - subject - 1);
    const size_t predicate = slice_find(rest, ' ');
    triple.predicate = slice_of(rest.at, predicate);
    triple.object = slice_of(rest.at + predicate + 1, rest.length - predicate - 1 - strlen(" .\n"));
    return triple;
}

struct slice
token_iri(struct slice token)
{
    return token.at[0] == '<' ? slice_of(token.at + 1, token.length - 2) : (struct slice){0};
}

struct closure_work *
closure_work_new(void)
{
    struct closure_work *work = memory_new(sizeof *work);
    buf_init(&work->statement, SIZE_MAX / 2);
    buf_init(&work->document, SIZE_MAX / 2);
    return work;
}

void
closure_work_free(struct closure_work *work)
{
    if (work != NULL) {
        free(work->triples);
        free(work->by_object);
        free(work->taken[0]);
        free(work->taken[1]);
        free(work->resources);
        free(work->stack);
        free(work->reifications);
        free(work->by_stated);
        buf_release(&work->statement);
        buf_release(&work->document);
        free(work);
    }
}

/* ---- the component's triples, found by subject and by object ---- */

static int
compare_lines(const void *a, const void *b)
{
    return slice_compare(((const struct triple_line *)a)->line,
                         ((const struct triple_line *)b)->line);
}

static int
compare_subjects(const void *a, const void *b)
{
    const struct triple_line *left = a, *right = b;
    const int order = slice_compare(left->subject, right->subject);
    return order != 0 ? order : compare_lines(a, b);
}

static int
compare_objects(const void *a, const void *b, void *context)
{
    const struct triple_line *triples = context;
    return slice_compare(triples[*(const uint32_t *)a].object,
                         triples[*(const uint32_t *)b].object);
}

static int
compare_slices(const void *a, const void *b)
{
    return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

static void
reserve(struct closure_work *work, size_t count)
{
    if (count > work->capacity) {
        work->capacity = 2 * count;
        work->triples = memory_resize(work->triples, work->capacity, sizeof *work->triples);
        work->by_object = memory_resize(work->by_object, work->capacity, sizeof *work->by_object);
        for (size_t i = 0; i < 2; i++) {
            work->taken[i] = memory_resize(work->taken[i], work->capacity, sizeof(uint32_t));
        }
        work->resources =
            memory_resize(work->resources, 2 * work->capacity, sizeof *work->resources);
        work->reifications =
            memory_resize(work->reifications, work->capacity, sizeof *work->reifications);
        work->by_stated = memory_resize(work->by_stated, work->capacity, sizeof *work->by_stated);
    }
}

static bool
is_wanted(const struct closure_work *work, struct slice iri)
{
    const struct slice_space *space =
        slice_space_of(work->options->spaces, work->options->count, iri);
    return iri.length > 0 && space != NULL && space->slicing >= SLICING_CBD;
}

static void
load(struct closure_work *work, const struct slice *lines, size_t count)
{
    reserve(work, count);
    for (size_t i = 0; i < count; i++) {
        work->triples[i] = triple_line_of(lines[i]);
    }
    qsort(work->triples, count, sizeof *work->triples, compare_subjects);
    work->count = work->resource_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && compare_lines(&work->triples[i], &work->triples[work->count - 1]) == 0) {
            continue;
        }
        const struct triple_line triple = work->triples[i];
        const struct slice ends[2] = {token_iri(triple.subject), token_iri(triple.object)};
        work->taken[0][work->count] = work->taken[1][work->count] = NOBODY;
        work->by_object[work->count] = (uint32_t)work->count;
        work->triples[work->count++] = triple;
        for (size_t k = 0; k < 2; k++) {
            if (is_wanted(work, ends[k])) {
                work->resources[work->resource_count++] = ends[k];
            }
        }
    }
    qsort_r(work->by_object, work->count, sizeof *work->by_object, compare_objects, work->triples);
    qsort(work->resources, work->resource_count, sizeof *work->resources, compare_slices);
}

/* The first triple, in order of subjects or objects, whose end is not before the token. */
static size_t
first_of(const struct closure_work *work, struct slice token, bool backwards)
{
    size_t low = 0, high = work->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const struct triple_line *triple =
            &work->triples[backwards ? work->by_object[middle] : middle];
        if (slice_compare(backwards ? triple->object : triple->subject, token) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The object of the triple with this subject and predicate; empty: there is none. */
static struct slice
object_of(const struct closure_work *work, struct slice subject, const char *predicate)
{
    for (size_t i = first_of(work, subject, false);
         i < work->count && slice_equal(work->triples[i].subject, subject); i++) {
        if (slice_is(work->triples[i].predicate, predicate)) {
            return work->triples[i].object;
        }
    }
    return (struct slice){0};
}

/* ---- reifications ---- */

static int
compare_reifications(const void *a, const void *b)
{
    const struct reification *left = a, *right = b;
    const int order = slice_compare(left->line, right->line);
    return order != 0 ? order : slice_compare(left->node, right->node);
}

/* Compares by what they state as object. */
static int
compare_stated(const void *a, const void *b)
{
    const struct reification *left = a, *right = b;
    const int order =
        slice_compare(triple_line_of(left->line).object, triple_line_of(right->line).object);
    return order != 0 ? order : compare_reifications(a, b);
}

static void
find_reifications(struct closure_work *work)
{
    work->reification_count = 0;
    for (size_t i = 0; i < work->count; i++) {
        const struct triple_line *triple = &work->triples[i];
        if (!slice_is(triple->predicate, STATEMENT_SUBJECT) || !token_is_blank(triple->subject)) {
            continue;
        }
        const struct slice predicate = object_of(work, triple->subject, STATEMENT_PREDICATE);
        const struct slice object = object_of(work, triple->subject, STATEMENT_OBJECT);
        if (predicate.length > 0 && object.length > 0) {
            /* Lines are told apart after all are built: the buffer may move. */
            const size_t from = work->statement.length;
            buf_append_slice(&work->statement, triple->object);
            buf_append_char(&work->statement, ' ');
            buf_append_slice(&work->statement, predicate);
            buf_append_char(&work->statement, ' ');
            buf_append_slice(&work->statement, object);
            buf_append_string(&work->statement, " .\n");
            work->reifications[work->reification_count++] = (struct reification){
                .node = triple->subject,
                .line = slice_of(NULL, work->statement.length - from),
            };
        }
    }
    const char *at = work->statement.data;
    for (size_t i = 0; i < work->reification_count; i++) {
        work->reifications[i].line.at = at;
        at += work->reifications[i].line.length;
        work->by_stated[i] = work->reifications[i];
    }
    qsort(work->reifications, work->reification_count, sizeof *work->reifications,
          compare_reifications);
    qsort(work->by_stated, work->reification_count, sizeof *work->by_stated, compare_stated);
}

/* The first whose line is not before this text. */
static size_t
first_reification(const struct closure_work *work, struct slice text)
{
    size_t low = 0, high = work->reification_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (slice_compare(work->reifications[middle].line, text) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The first that states something of this object. */
static size_t
first_stated(const struct closure_work *work, struct slice object)
{
    size_t low = 0, high = work->reification_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (slice_compare(triple_line_of(work->by_stated[middle].line).object, object) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* ---- walks ---- */

static enum status
emit_line(struct closure_work *work, struct slice line, struct reason *why)
{
    work->emitted += line.length;
    if (work->emitted > work->options->most) {
        work->cut = true;
        return STATUS_OK;
    }
    return work->emit(work->context, buf_slice(&work->document), line, work->condition, why);
}

static void
push(struct closure_work *work, struct slice node, bool backwards)
{
    work->stack =
        array_grow(work->stack, work->stack_count, &work->stack_capacity, sizeof *work->stack);
    work->stack[work->stack_count++] = (struct place){node, backwards};
}

/* Takes a triple, and with it whatever states it. */
static enum status
take_triple(struct closure_work *work, uint32_t at, bool backwards, struct reason *why)
{
    const struct triple_line *triple = &work->triples[at];
    uint32_t *taken = &work->taken[backwards][at];
    /* Triples that the description has unconditionally are not needed a second time. */
    if (*taken == work->walk || *taken == work->first_walk) {
        return STATUS_OK;
    }
    *taken = work->walk;
    TRY(emit_line(work, triple->line, why));
    const struct slice end = backwards ? triple->subject : triple->object;
    if (token_is_blank(end)) {
        push(work, end, backwards);
    }
    for (size_t i = first_reification(work, triple->line);
         i < work->reification_count && slice_equal(work->reifications[i].line, triple->line);
         i++) {
        push(work, work->reifications[i].node, false);
    }
    return STATUS_OK;
}

/* All triples that begin (or end, backwards) with what is on the stack, and on through the blank
 * nodes at their other ends. */
static enum status
walk(struct closure_work *work, struct reason *why)
{
    while (work->stack_count > 0 && !work->cut) {
        const struct place place = work->stack[--work->stack_count];
        for (size_t i = first_of(work, place.node, place.backwards); i < work->count && !work->cut;
             i++) {
            const uint32_t at = place.backwards ? work->by_object[i] : (uint32_t)i;
            const struct triple_line *triple = &work->triples[at];
            if (!slice_equal(place.backwards ? triple->object : triple->subject, place.node)) {
                break;
            }
            TRY(take_triple(work, at, place.backwards, why));
        }
    }
    work->stack_count = 0;
    return STATUS_OK;
}

/* Walks the reification of a ground triple, which is not in this component: what describes the
 * reification counts only if the triple is there. */
static enum status
walk_reification(struct closure_work *work, const struct reification *reification,
                 struct reason *why)
{
    const struct triple_line stated = triple_line_of(reification->line);
    if (token_is_blank(stated.subject) || token_is_blank(stated.object)) {
        return STATUS_OK;
    }
    work->walk++;
    work->condition = reification->line;
    push(work, reification->node, false);
    const enum status status = walk(work, why);
    work->condition = (struct slice){0};
    return status;
}

static enum status
walk_reifications(struct closure_work *work, struct slice token, bool symmetric, struct reason *why)
{
    for (size_t i = first_reification(work, token); i < work->reification_count && !work->cut;
         i++) {
        const struct reification *reification = &work->reifications[i];
        if (!slice_starts(reification->line, token)) {
            break;
        }
        TRY(walk_reification(work, reification, why));
    }
    for (size_t i = first_stated(work, token);
         symmetric && i < work->reification_count && !work->cut; i++) {
        const struct reification *reification = &work->by_stated[i];
        if (!slice_equal(triple_line_of(reification->line).object, token)) {
            break;
        }
        TRY(walk_reification(work, reification, why));
    }
    return STATUS_OK;
}

/* ---- resources ---- */

static enum status
describe(struct closure_work *work, struct slice resource, struct reason *why)
{
    const struct slice_space *space =
        slice_space_of(work->options->spaces, work->options->count, resource);
    const bool symmetric = space->slicing == SLICING_SCBD;
    const struct slice token = slice_of(resource.at - 1, resource.length + 2);
    buf_reset(&work->document);
    slice_document(space, slice_key(resource), &work->document);
    work->first_walk = ++work->walk;
    if (space->slicing == SLICING_MSG) {
        for (size_t i = 0; i < work->count && !work->cut; i++) {
            TRY(emit_line(work, work->triples[i].line, why));
        }
        return STATUS_OK;
    }
    push(work, token, false);
    if (symmetric) {
        push(work, token, true);
    }
    TRY(walk(work, why));
    return walk_reifications(work, token, symmetric, why);
}

enum status
closure_of_component(struct closure_work *work, const struct closure_options *options,
                     const struct slice *lines, size_t count, closure_emit *emit, void *context,
                     bool *cut, struct reason *why)
{
    work->options = options;
    work->emit = emit;
    work->context = context;
    work->emitted = 0;
    work->cut = false;
    work->walk = 0;
    buf_reset(&work->statement);
    load(work, lines, count);
    find_reifications(work);
    for (size_t i = 0; i < work->resource_count && !work->cut; i++) {
        const struct slice resource = work->resources[i];
        if (i == 0 || !slice_equal(resource, work->resources[i - 1])) {
            TRY(describe(work, resource, why));
        }
    }
    *cut = work->cut;
    return STATUS_OK;
}
