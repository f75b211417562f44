/* Samples prove dumps: their slices must be the bytes that crawling them has brought. */
#include <string.h>

#include "cli/datasets/dataset_execute.h"
#include "cli/datasets/slice_store.h"

enum { CANDIDATES = 5, PROOF_MEMORY = 64 << 20, GRAPH_BYTES = 256 << 20 };

enum status
dataset_read(const struct dataset_run *run, const struct quad_sink *sink,
             void (*next_file)(void *context), struct reason *why)
{
    for (size_t i = 0; i < run->dump_count; i++) {
        next_file(sink->context);
        TRY(dump_read(&run->dumps[i], sink, why));
    }
    return STATUS_OK;
}

/* ---- names of documents ---- */

/* Where `part` begins in `whole` for the last time; its length: nowhere. */
static size_t
find_last(struct slice whole, struct slice part)
{
    for (size_t at = whole.length - part.length + 1; part.length <= whole.length && at-- > 0;) {
        if (memcmp(whole.at + at, part.at, part.length) == 0) {
            return at;
        }
    }
    return whole.length;
}

/* Returns how the sample's document is named after the resource. False: by no rule. */
static bool
name_by(struct slice_space *space, const struct crawled_sample *sample)
{
    const struct slice key = slice_key(sample->resource), document = sample->document;
    space->replaced = false;
    space->replacement = space->suffix = (struct slice){0};
    if (slice_starts(document, key)) {
        space->suffix = slice_of(document.at + key.length, document.length - key.length);
        return true;
    }
    const struct slice local =
        slice_of(key.at + space->prefix.length, key.length - space->prefix.length);
    const size_t at = local.length > 0 ? find_last(document, local) : document.length;
    if (at == document.length) {
        return false;
    }
    space->replaced = true;
    space->replacement = slice_of(document.at, at);
    space->suffix = slice_of(document.at + at + local.length, document.length - at - local.length);
    return true;
}

static struct slice_space *
space_of(const struct execution *execution, struct slice resource)
{
    const struct slice_space *space =
        slice_space_of(execution->spaces, execution->space_count, resource);
    return space != NULL ? &execution->spaces[space - execution->spaces] : NULL;
}

static enum status
name_documents(struct dataset_run *run, struct reason *why)
{
    struct execution *execution = &run->execution;
    bool *named = arena_zero(&run->arena, execution->space_count * sizeof *named);
    for (size_t i = 0; named != NULL && i < run->sample_count; i++) {
        const struct crawled_sample *sample = &run->samples[i];
        struct slice_space *space = space_of(execution, sample->resource), found;
        if (space == NULL || sample->quads.length == 0) {
            continue;
        }
        found = *space;
        if (!name_by(&found, sample)) {
            return status_fail(why, STATUS_BAD_INPUT,
                               "the sample %.*s is described by %.*s, by no rule that is known",
                               SLICE_PRINT(sample->resource), SLICE_PRINT(sample->document));
        }
        bool *const known = &named[space - execution->spaces];
        if (*known && (found.replaced != space->replaced ||
                       !slice_equal(found.replacement, space->replacement) ||
                       !slice_equal(found.suffix, space->suffix))) {
            return status_fail(why, STATUS_BAD_INPUT,
                               "the samples' documents are named by different rules: %.*s",
                               SLICE_PRINT(sample->document));
        }
        *known = true;
        *space = found;
    }
    return STATUS_OK;
}

/* ---- slices of samples ---- */

/* All methods that may be meant, over the same triples at once. */
struct trial {
    struct dataset_run *run;
    struct slicer *slicers[CANDIDATES];
    size_t count;
    struct graph graph;
    struct buf text;
    unsigned equal; /* of the slicer that is grouped now */
    struct slice differs;
};

static enum status
take(void *context, const struct quad *quad, struct reason *why)
{
    struct trial *trial = context;
    for (size_t i = 0; i < trial->count; i++) {
        TRY(slicer_take(trial->slicers[i], quad, why));
    }
    return STATUS_OK;
}

static void
next_file(void *context)
{
    struct trial *trial = context;
    for (size_t i = 0; i < trial->count; i++) {
        slicer_next_file(trial->slicers[i]);
    }
}

static enum status
compare(void *context, unsigned thread, const struct sliced_document *document, struct reason *why)
{
    struct trial *trial = context;
    const struct dataset_run *run = trial->run;
    (void)thread;
    for (size_t i = 0; i < run->sample_count; i++) {
        const struct crawled_sample *sample = &run->samples[i];
        if (sample->quads.length == 0 || !slice_equal(document->uri, sample->document)) {
            continue;
        }
        TRY(sliced_quads(&trial->graph, document, &trial->text, why));
        if (slice_equal(buf_slice(&trial->text), sample->quads)) {
            trial->equal++;
        } else {
            trial->differs = sample->document;
        }
    }
    return STATUS_OK;
}

/* A slicer that knows nothing but the samples. */
static struct slicer *
slicer_of_samples(struct dataset_run *run, enum slicing candidate)
{
    struct slicer_options options;
    struct slice_space *spaces = arena_zero(&run->arena, (run->sample_count + 1) * sizeof *spaces);
    slicer_options_default(&options, run->folder);
    options.spaces = spaces;
    options.threads = 1;
    options.memory = PROOF_MEMORY;
    for (size_t i = 0; i < run->sample_count; i++) {
        const struct crawled_sample *sample = &run->samples[i];
        const struct slice_space *space = space_of(&run->execution, sample->resource);
        if (sample->quads.length > 0 && space != NULL) {
            spaces[options.count++] = (struct slice_space){
                .prefix = slice_key(sample->resource),
                .slicing = space->slicing != SLICING_NONE ? space->slicing : candidate,
                .replaced = true,
                .replacement = sample->document};
        }
    }
    return slicer_new(&options);
}

static bool
all_declared(const struct execution *execution)
{
    for (size_t i = 0; i < execution->space_count; i++) {
        if (execution->spaces[i].slicing == SLICING_NONE) {
            return false;
        }
    }
    return true;
}

static void
declare(struct execution *execution, enum slicing slicing)
{
    for (size_t i = 0; i < execution->space_count; i++) {
        if (execution->spaces[i].slicing == SLICING_NONE) {
            execution->spaces[i].slicing = slicing;
        }
    }
}

static unsigned
provable(const struct dataset_run *run)
{
    unsigned count = 0;
    for (size_t i = 0; i < run->sample_count; i++) {
        count += run->samples[i].quads.length > 0 &&
                         space_of(&run->execution, run->samples[i].resource) != NULL
                     ? 1
                     : 0;
    }
    return count;
}

static enum status
try_all(struct trial *trial, unsigned wanted, enum slicing *found, struct reason *why)
{
    static const enum slicing candidates[CANDIDATES] = {SLICING_SUBJECT, SLICING_CBD, SLICING_SCBD,
                                                        SLICING_SUBJECT_OBJECT, SLICING_MSG};
    const struct quad_sink sink = {take, trial};
    trial->count = all_declared(&trial->run->execution) ? 1 : CANDIDATES;
    for (size_t i = 0; i < trial->count; i++) {
        trial->slicers[i] = slicer_of_samples(trial->run, candidates[i]);
    }
    TRY(dataset_read(trial->run, &sink, next_file, why));
    for (size_t i = 0; i < trial->count; i++) {
        trial->equal = 0;
        TRY(slicer_group(trial->slicers[i], compare, trial, why));
        if (trial->equal == wanted) {
            *found = candidates[i];
            return STATUS_OK;
        }
    }
    return trial->differs.length > 0
               ? status_fail(why, STATUS_BAD_INPUT,
                             "what the dumps say of the sample %.*s is not what it says itself",
                             SLICE_PRINT(trial->differs))
               : status_fail(why, STATUS_BAD_INPUT, "the dumps do not know the samples");
}

enum status
dataset_prove(struct dataset_run *run, struct reason *why)
{
    struct trial trial = {.run = run};
    enum slicing found = SLICING_SUBJECT;
    TRY(name_documents(run, why));
    const unsigned wanted = provable(run);
    enum status status = STATUS_OK;
    if (wanted > 0) {
        graph_init(&trial.graph, GRAPH_BYTES);
        buf_init(&trial.text, GRAPH_BYTES);
        status = try_all(&trial, wanted, &found, why);
        for (size_t i = 0; i < trial.count; i++) {
            slicer_free(trial.slicers[i]);
        }
        graph_release(&trial.graph);
        buf_release(&trial.text);
    }
    declare(&run->execution, found);
    run->proved = wanted;
    return status;
}
