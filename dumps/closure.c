#include "dumps/closure.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "rdf/vocabulary.h"

#define STATEMENT_SUBJECT "<" RDF_NAMESPACE "subject>"
#define STATEMENT_PREDICATE "<" RDF_NAMESPACE "predicate>"
#define STATEMENT_OBJECT "<" RDF_NAMESPACE "object>"

#define NOBODY UINT32_MAX

/* A blank rdf:Statement: node, and the line of what it states. */
struct reification {
    struct slice node, line;
    bool visited;
};

struct closure_work {
    struct triple_line *triples; /* in order of lines, so of subjects; each once */
    uint32_t *by_object;         /* places in triples */
    uint32_t *taken;             /* by which walk; at the same places */
    struct slice *resources;     /* IRIs that the component names */
    struct slice *stack;         /* blank nodes to go on from; the high ones backwards */
    struct reification *reifications;
    size_t count, capacity, resource_count, stack_count, stack_capacity, reification_count;
    uint32_t walk, first_walk; /* this one; the first of this description */
    struct buf statement;
    /* of the call */
    const struct closure_options *options;
    closure_emit *emit;
    void *context;
    struct slice key, condition;
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
    struct closure_work *work = memory_zero(1, sizeof *work);
    buf_init(&work->statement, SIZE_MAX / 2);
    return work;
}

void
closure_work_free(struct closure_work *work)
{
    if (work != NULL) {
        free(work->triples);
        free(work->by_object);
        free(work->taken);
        free(work->resources);
        free(work->stack);
        free(work->reifications);
        buf_release(&work->statement);
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
        work->taken = memory_resize(work->taken, work->capacity, sizeof *work->taken);
        work->resources =
            memory_resize(work->resources, 2 * work->capacity, sizeof *work->resources);
        work->reifications =
            memory_resize(work->reifications, work->capacity, sizeof *work->reifications);
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
        work->taken[work->count] = NOBODY;
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

/* ---- walks ---- */

static enum status
emit_line(struct closure_work *work, struct slice line, struct reason *why)
{
    work->emitted += line.length;
    if (work->emitted > work->options->most) {
        work->cut = true;
        return STATUS_OK;
    }
    return work->emit(work->context, work->key, line, work->condition, why);
}

static void
push(struct closure_work *work, struct slice token)
{
    if (work->stack_count == work->stack_capacity) {
        work->stack_capacity = work->stack_capacity ? 2 * work->stack_capacity : 64;
        work->stack = memory_resize(work->stack, work->stack_capacity, sizeof *work->stack);
    }
    work->stack[work->stack_count++] = token;
}

/* All triples that begin (or end, backwards) with the token, and on through the blank nodes at
 * their other ends. */
static enum status
walk_from(struct closure_work *work, struct slice token, bool backwards, struct reason *why)
{
    push(work, token);
    while (work->stack_count > 0 && !work->cut) {
        const struct slice node = work->stack[--work->stack_count];
        for (size_t i = first_of(work, node, backwards); i < work->count; i++) {
            const uint32_t at = backwards ? work->by_object[i] : (uint32_t)i;
            const struct triple_line *triple = &work->triples[at];
            if (!slice_equal(backwards ? triple->object : triple->subject, node)) {
                break;
            }
            if (work->taken[at] == work->walk) {
                continue;
            }
            work->taken[at] = work->walk;
            TRY(emit_line(work, triple->line, why));
            const struct slice end = backwards ? triple->subject : triple->object;
            if (token_is_blank(end)) {
                push(work, end);
            }
        }
    }
    work->stack_count = 0;
    return STATUS_OK;
}

/* ---- reifications ---- */

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
    }
}

/* Whether this description has taken the line. */
static bool
has_taken(const struct closure_work *work, struct slice line)
{
    const struct triple_line sought = triple_line_of(line);
    const struct triple_line *found =
        bsearch(&sought, work->triples, work->count, sizeof *work->triples, compare_subjects);
    if (found == NULL) {
        return false;
    }
    const uint32_t walk = work->taken[found - work->triples];
    return walk != NOBODY && walk >= work->first_walk;
}

static bool
is_ground(const struct triple_line *triple)
{
    return !token_is_blank(triple->subject) && !token_is_blank(triple->object);
}

static bool
names(const struct triple_line *statement, struct slice resource, bool symmetric)
{
    return slice_equal(token_iri(statement->subject), resource) ||
           (symmetric && slice_equal(token_iri(statement->object), resource));
}

/* Those of triples that were taken, and of theirs; of ground triples on condition. */
static enum status
take_reifications(struct closure_work *work, struct slice resource, bool symmetric,
                  struct reason *why)
{
    for (bool more = true; more && !work->cut;) {
        more = false;
        for (size_t i = 0; i < work->reification_count; i++) {
            struct reification *reification = &work->reifications[i];
            const struct triple_line statement = triple_line_of(reification->line);
            const bool ground = is_ground(&statement);
            if (reification->visited || (ground ? !names(&statement, resource, symmetric)
                                                : !has_taken(work, reification->line))) {
                continue;
            }
            reification->visited = more = true;
            work->condition = ground ? reification->line : (struct slice){0};
            TRY(walk_from(work, reification->node, false, why));
        }
    }
    work->condition = (struct slice){0};
    return STATUS_OK;
}

/* ---- resources ---- */

static enum status
describe(struct closure_work *work, struct slice resource, enum slicing slicing, struct reason *why)
{
    const bool symmetric = slicing == SLICING_SCBD;
    const struct slice token = slice_of(resource.at - 1, resource.length + 2);
    work->key = slice_key(resource);
    work->first_walk = ++work->walk;
    if (slicing == SLICING_MSG) {
        for (size_t i = 0; i < work->count && !work->cut; i++) {
            TRY(emit_line(work, work->triples[i].line, why));
        }
        return STATUS_OK;
    }
    for (size_t i = 0; i < work->reification_count; i++) {
        work->reifications[i].visited = false;
    }
    TRY(walk_from(work, token, false, why));
    if (symmetric) {
        work->walk++; /* a triple may be met both ways, and goes on to both sides */
        TRY(walk_from(work, token, true, why));
    }
    return take_reifications(work, resource, symmetric, why);
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
            TRY(describe(work, resource,
                         slice_space_of(options->spaces, options->count, resource)->slicing, why));
        }
    }
    *cut = work->cut;
    return STATUS_OK;
}
