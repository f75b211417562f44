#include "cli/datasets/dataset_execute.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/url/url.h"
#include "cli/datasets/slice_store.h"
#include "stages/skeleton/content.h"

enum {
    REDIRECTS = 10,
    RECORD_BYTES = 1 << 20,
    SAMPLE_BYTES = 256 << 20,
    RUN_MEMORY = 512 << 20,
    SCAN_KEYS = 1000,
    KEY_BYTES = 16 << 10,
    TEXT_BYTES = 512 << 10
};

/* ---- what is known ---- */

static enum status
record_of(struct metastore_client *metastore, char kind, struct slice name, const char *fragment,
          struct buf *record, struct reason *why)
{
    struct buf key;
    buf_init(&key, KEY_BYTES);
    buf_printf(&key, "%c%.*s%s", kind, SLICE_PRINT(name), fragment);
    const enum status status =
        metastore_get_wait(metastore, buf_slice(&key), record, CLI_ANSWER_MS, why);
    buf_release(&key);
    return status;
}

/* Goes along redirects; *uri is the last one's, in the arena, *record what is known of it. */
static enum status
follow(struct dataset_run *run, struct metastore_client *metastore, struct slice *uri,
       const char *fragment, struct buf *record, struct reason *why)
{
    for (unsigned hops = 0; hops <= REDIRECTS; hops++) {
        struct slice state, target;
        buf_init(record, RECORD_BYTES);
        const enum status status = record_of(metastore, 'u', *uri, fragment, record, why);
        if (status != STATUS_OK) {
            buf_release(record);
            return status;
        }
        run->requests++;
        if (!meta_record_text(buf_slice(record), META_STATE, &state) ||
            !slice_is(state, "redirected") ||
            !meta_record_text(buf_slice(record), META_REDIRECT_TO, &target)) {
            return STATUS_OK;
        }
        *uri = arena_copy(&run->arena, target);
        buf_release(record);
    }
    return status_fail(why, STATUS_BAD_INPUT, "%.*s redirects too often", SLICE_PRINT(*uri));
}

static enum status
find_dump(struct dataset_run *run, struct cli *cli, struct metastore_client *metastore,
          struct slice uri, struct reason *why)
{
    struct buf record, name;
    struct slice type = {0};
    uint64_t fetched_ms = 0, queries = 0; /* of an endpoint */
    TRY(follow(run, metastore, &uri, DUMP_FRAGMENT, &record, why));
    meta_record_text(buf_slice(&record), META_CONTENT_TYPE, &type);
    meta_record_number(buf_slice(&record), META_FETCHED, &fetched_ms);
    meta_record_number(buf_slice(&record), META_DATASET_REQUESTS, &queries);
    run->requests += queries > 0 ? queries - 1 : 0;
    type = slice_trim(slice_of(type.at, slice_find(type, ';')));
    buf_init(&name, KEY_BYTES);
    buf_printf(&name, "%s/dumps/", cli->directory);
    execution_file_name(uri, &name);
    buf_append_char(&name, '\0');
    run->dumps[run->dump_count++] = (struct dump_file){
        .path = arena_copy(&run->arena, buf_slice(&name)).at,
        .uri = uri,
        .format = rdf_format_of_media_type(type),
    };
    run->fetched_ms = fetched_ms > run->fetched_ms ? fetched_ms : run->fetched_ms;
    buf_release(&name);
    buf_release(&record);
    return STATUS_OK;
}

/* A sample that could not be had proves nothing. */
static enum status
find_sample(struct dataset_run *run, struct metastore_client *metastore, struct content *content,
            struct slice uri, struct reason *why)
{
    struct crawled_sample *sample = &run->samples[run->sample_count++];
    struct document_record where = {0};
    struct warc_record archived;
    struct buf record, memory;
    sample->resource = sample->document = uri;
    const enum status status = follow(run, metastore, &sample->document, "", &record, why);
    if (status != STATUS_OK) {
        return status == STATUS_NOT_FOUND || status == STATUS_BAD_INPUT ? STATUS_OK : status;
    }
    const struct slice known = buf_slice(&record);
    struct slice state = {0};
    meta_record_text(known, META_STATE, &state);
    struct slice reason = {0};
    meta_record_text(known, META_REASON, &reason);
    const bool unchanged = slice_is(state, "fetched") && slice_is(reason, "not modified");
    if ((slice_is(state, "indexed") || unchanged) &&
        meta_record_text(known, META_CONVERSION_FILE, &where.file)) {
        meta_record_text(known, META_CONVERSION_NODE, &where.node);
        meta_record_number(known, META_CONVERSION_OFFSET, &where.offset);
        meta_record_number(known, META_CONVERSION_LENGTH, &where.length);
        buf_init(&memory, SAMPLE_BYTES);
        if (content_read(content, &where, &memory, &archived, why) == STATUS_OK) {
            sample->quads = arena_copy(&run->arena, archived.body);
        }
        buf_release(&memory);
    }
    buf_release(&record);
    return STATUS_OK;
}

static enum status
find_all(struct dataset_run *run, struct cli *cli, struct metastore_client *metastore,
         struct reason *why)
{
    const struct execution *execution = &run->execution;
    const struct warc_limits limits = {.record = SAMPLE_BYTES};
    struct content *content;
    run->dumps = arena_zero(&run->arena, (execution->dumps.count + 1) * sizeof *run->dumps);
    run->samples = arena_zero(&run->arena, (execution->samples.count + 1) * sizeof *run->samples);
    enum status status = content_open(&content, cli->directory, cli->cluster, &limits, why);
    for (size_t i = 0; status == STATUS_OK && i < execution->dumps.count; i++) {
        status = find_dump(run, cli, metastore, execution->dumps.items[i], why);
    }
    for (size_t i = 0; status == STATUS_OK && i < execution->samples.count; i++) {
        status = find_sample(run, metastore, content, execution->samples.items[i], why);
    }
    content_close(content);
    return status;
}

/* ---- withdrawing ---- */

struct again {
    struct metastore_client *metastore;
    struct queue_client *queue;
    struct slice uri;           /* of the dataset's job */
    struct slice_store *slices; /* which have come out of dumps; NULL: none has */
    struct arena arena;
    struct job jobs[SCAN_KEYS];
    size_t count, seen;
    struct slice last;
};

static bool
take_covered(void *context, struct slice key, struct slice record)
{
    struct again *again = context;
    struct slice state = {0}, reason = {0};
    uint64_t depth = 0;
    again->seen++;
    again->last = arena_copy(&again->arena, key);
    meta_record_text(record, META_STATE, &state);
    meta_record_text(record, META_REASON, &reason);
    meta_record_number(record, META_DEPTH, &depth);
    const struct slice uri = slice_of(again->last.at + 1, again->last.length - 1);
    if (slice_is(state, "covered") && slice_find_slice(reason, again->uri) < reason.length &&
        (again->slices == NULL || !slice_store_has(again->slices, uri))) {
        again->jobs[again->count++] = (struct job){.key.stage = STAGE_FETCH,
                                                   .uri = uri,
                                                   .lane_name = url_origin(uri),
                                                   .priority = 128,
                                                   .flags = JOB_RECRAWL,
                                                   .depth = (uint16_t)depth};
    }
    return true;
}

/* Pages that were left out are fetched after all. */
static enum status
crawl_covered(struct again *again, struct slice prefix, uint64_t *pages, struct reason *why)
{
    struct buf start;
    enum status status = STATUS_OK;
    buf_init(&start, KEY_BYTES);
    buf_printf(&start, "u%.*s", SLICE_PRINT(prefix));
    again->last = (struct slice){0};
    do {
        struct buf after;
        buf_init(&after, KEY_BYTES);
        buf_append_slice(&after, again->last);
        arena_reset(&again->arena);
        again->count = again->seen = 0;
        status = metastore_scan(again->metastore, buf_slice(&start), buf_slice(&after), SCAN_KEYS,
                                take_covered, again, CLI_ANSWER_MS, why);
        if (status == STATUS_OK && again->count > 0) {
            status = cli_put_and_wait(again->queue, again->jobs, again->count, why);
            *pages += again->count;
        }
        buf_release(&after);
    } while (status == STATUS_OK && again->seen == SCAN_KEYS);
    buf_release(&start);
    return status;
}

/* The host's cover without the lines of this dataset. */
static enum status
uncover(struct again *again, struct slice origin, struct reason *why)
{
    struct buf record, cover, key;
    struct meta_update update;
    struct slice lines = {0}, line;
    buf_init(&record, RECORD_BYTES);
    buf_init(&cover, TEXT_BYTES);
    buf_init(&key, KEY_BYTES);
    meta_update_init(&update);
    enum status status = record_of(again->metastore, 'h', origin, "", &record, why);
    if (status == STATUS_OK) {
        meta_record_text(buf_slice(&record), META_COVER, &lines);
        while (execution_line(&lines, &line)) {
            const size_t blank = slice_find(line, ' ');
            if (!slice_equal(slice_trim(slice_of(line.at + blank, line.length - blank)),
                             again->uri)) {
                buf_append_slice(&cover, line);
                buf_append_char(&cover, '\n');
            }
        }
        meta_set_text(&update, META_COVER, buf_slice(&cover));
        buf_printf(&key, "h%.*s", SLICE_PRINT(origin));
        const struct meta_put put = {buf_slice(&key), meta_update_fields(&update)};
        status = cli_note_and_wait(again->metastore, &put, 1, why);
    }
    meta_update_release(&update);
    buf_release(&key);
    buf_release(&cover);
    buf_release(&record);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

/* slices: those that need not be fetched; NULL: all do. */
static enum status
withdraw(const struct dataset_run *run, struct cli *cli, struct metastore_client *metastore,
         struct slice uri, struct slice_store *slices, struct reason *why)
{
    struct again *again = memory_new(sizeof *again);
    uint64_t pages = 0;
    again->slices = slices;
    again->metastore = metastore;
    again->uri = uri;
    arena_init(&again->arena, 0);
    enum status status = cli_queue(cli, &again->queue, why);
    for (size_t i = 0; status == STATUS_OK && i < run->execution.space_count; i++) {
        status = uncover(again, url_origin(run->execution.spaces[i].prefix), why);
    }
    for (size_t i = 0; status == STATUS_OK && i < run->execution.space_count; i++) {
        status = crawl_covered(again, run->execution.spaces[i].prefix, &pages, why);
    }
    queue_client_close(again->queue);
    arena_release(&again->arena);
    free(again);
    return status;
}

/* ---- slicing ---- */

struct storing {
    const struct execution *execution;
    struct slice_store *store;
    uint64_t refused; /* documents that are others' */
};

static enum status
store(void *context, unsigned thread, const struct sliced_document *document, struct reason *why)
{
    struct storing *storing = context;
    if (!execution_owns(storing->execution, document->uri)) {
        __atomic_add_fetch(&storing->refused, 1, __ATOMIC_RELAXED);
        return STATUS_OK;
    }
    return slice_store_take(storing->store, thread, document, why);
}

/* ---- documents that the dumps have no more ---- */

struct removing {
    const struct dataset_run *run;
    struct slice_store *store;
    struct buf last;
    size_t seen;
    enum status status;
    struct reason *why;
};

static bool
take_sliced(void *context, struct slice key, struct slice record)
{
    struct removing *removing = context;
    const struct dataset_run *run = removing->run;
    struct slice dump = {0}, state = {0};
    removing->seen++;
    buf_reset(&removing->last);
    buf_append_slice(&removing->last, key);
    (void)meta_record_text(record, META_DUMP, &dump);
    (void)meta_record_text(record, META_STATE, &state);
    for (size_t i = 0; removing->status == STATUS_OK && i < run->dump_count; i++) {
        const struct slice uri = slice_of(key.at + 1, key.length - 1);
        if (slice_equal(dump, run->dumps[i].uri) && !slice_is(state, "gone") &&
            !slice_store_has(removing->store, uri)) {
            removing->status = slice_store_remove(removing->store, uri, removing->why);
        }
    }
    return removing->status == STATUS_OK;
}

static enum status
remove_others(const struct dataset_run *run, struct metastore_client *metastore,
              struct slice_store *store, struct reason *why)
{
    struct removing removing = {.run = run, .store = store, .status = STATUS_OK, .why = why};
    struct buf start, after;
    enum status status = STATUS_OK;
    buf_init(&start, KEY_BYTES);
    buf_init(&after, KEY_BYTES);
    buf_init(&removing.last, KEY_BYTES);
    for (size_t i = 0; status == STATUS_OK && i < run->execution.own.count; i++) {
        buf_reset(&start);
        buf_printf(&start, "u%.*s", SLICE_PRINT(run->execution.own.items[i]));
        buf_reset(&removing.last);
        do {
            removing.seen = 0;
            buf_reset(&after);
            buf_append_slice(&after, buf_slice(&removing.last));
            status = metastore_scan(metastore, buf_slice(&start), buf_slice(&after), SCAN_KEYS,
                                    take_sliced, &removing, CLI_ANSWER_MS, why);
            status = status == STATUS_OK ? removing.status : status;
        } while (status == STATUS_OK && removing.seen == SCAN_KEYS);
    }
    buf_release(&removing.last);
    buf_release(&after);
    buf_release(&start);
    return status == STATUS_OK ? slice_store_flush(store, why) : status;
}

/* ---- slicing them ---- */

static void
next_file(void *slicer)
{
    slicer_next_file(slicer);
}

static struct slice
methods_of(struct dataset_run *run)
{
    const struct slice_space *first = &run->execution.spaces[0];
    for (size_t i = 1; i < run->execution.space_count; i++) {
        if (run->execution.spaces[i].slicing != first->slicing) {
            return SLICE("several");
        }
    }
    return arena_printf(&run->arena, "%s%s", slicing_name(first->slicing),
                        run->proved > 0 ? ", proved by samples" : "");
}

static enum status
slice_dumps(struct dataset_run *run, struct cli *cli, struct metastore_client *metastore,
            struct slice uri, struct slice_store_counts *counts, struct storing *storing,
            struct reason *why)
{
    struct slicer_options options;
    slicer_options_default(&options, run->folder);
    options.spaces = run->execution.spaces;
    options.count = run->execution.space_count;
    options.graphs = true;
    const struct slice_store_options target = {.dump = run->dumps[0].uri,
                                               .slicing = methods_of(run),
                                               .authority = run->execution.authority,
                                               .fetched_ms = run->fetched_ms,
                                               .depth = run->execution.depth,
                                               .remember =
                                                   run->dumped_ms > 0 || run->execution.provisional,
                                               .threads = options.threads};
    struct slicer *slicer = slicer_new(&options);
    const struct quad_sink sink = {slicer_take, slicer};
    enum status status = dataset_read(run, &sink, next_file, why);
    if (status == STATUS_OK) {
        status = slice_store_open(&storing->store, cli, &target, why);
    }
    if (status == STATUS_OK) {
        status = slicer_group(slicer, store, storing, why);
    }
    if (status == STATUS_OK) {
        status = slice_store_flush(storing->store, why);
    }
    if (status == STATUS_OK && run->dumped_ms > 0) {
        status = remove_others(run, metastore, storing->store, why);
    }
    if (status == STATUS_OK) {
        slice_store_counted(storing->store, counts);
    }
    /* Covered on the word of a description that promises less than a sitemap does. */
    if (status == STATUS_OK && run->execution.provisional && counts->documents > 0) {
        status = withdraw(run, cli, metastore, uri, storing->store, why);
    }
    slice_store_close(storing->store);
    slicer_free(slicer);
    return status;
}

/* ---- all of it ---- */

static enum status
note(const struct dataset_run *run, struct metastore_client *metastore, struct slice uri,
     uint64_t documents, const char *withdrawn, struct reason *why)
{
    struct meta_update update;
    struct buf key;
    buf_init(&key, KEY_BYTES);
    buf_printf(&key, "u%.*s", SLICE_PRINT(uri));
    meta_update_init(&update);
    meta_set_number(&update, META_DATASET_DOCUMENTS, documents);
    meta_set_number(&update, META_DATASET_REQUESTS, run->requests);
    meta_set_number(&update, META_DATASET_DUMPED, run->fetched_ms);
    meta_set_text(&update, META_TRANSFORM_PROBLEMS,
                  slice_string(withdrawn != NULL ? withdrawn : ""));
    const struct meta_put put = {buf_slice(&key), meta_update_fields(&update)};
    const enum status status = cli_note_and_wait(metastore, &put, 1, why);
    meta_update_release(&update);
    buf_release(&key);
    return status;
}

static void
remove_files(const struct dataset_run *run)
{
    for (size_t i = 0; i < run->dump_count; i++) {
        char head[KEY_BYTES];
        snprintf(head, sizeof head, "%s.head", run->dumps[i].path);
        (void)unlink(head);
        (void)unlink(run->dumps[i].path);
    }
}

/* Tells whether a process that was killed has done it all: its files are gone. */
static bool
was_done(const struct dataset_run *run)
{
    bool missing = false;
    for (size_t i = 0; i < run->dump_count; i++) {
        missing |= access(run->dumps[i].path, F_OK) != 0;
    }
    return missing && run->dumped_ms > 0 && run->dumped_ms == run->fetched_ms;
}

static enum status
carry_out(struct dataset_run *run, struct cli *cli, struct metastore_client *metastore,
          struct slice uri, const char *withdrawn, struct reason *why)
{
    struct slice_store_counts counts = {0};
    struct storing storing = {.execution = &run->execution};
    struct reason contradiction = {""};
    enum status status = STATUS_OK;
    if (withdrawn == NULL) {
        TRY(find_all(run, cli, metastore, why));
        if (was_done(run)) {
            remove_files(run);
            fprintf(stderr, "%s%.*s\n", run->problem.length > 0 ? "withdrawn: " : "done before",
                    SLICE_PRINT(run->problem));
            return STATUS_OK;
        }
        status = dataset_prove(run, &contradiction);
        if (status == STATUS_OK) {
            status = slice_dumps(run, cli, metastore, uri, &counts, &storing, &contradiction);
        }
        if (status == STATUS_OK && counts.documents == 0) {
            status = status_fail(&contradiction, STATUS_BAD_INPUT,
                                 "the dumps describe none of the dataset's own documents");
        }
    }
    if (withdrawn != NULL || status == STATUS_BAD_INPUT || status == STATUS_UNSUPPORTED) {
        const char *because = withdrawn != NULL ? withdrawn : contradiction.text;
        TRY(withdraw(run, cli, metastore, uri, NULL, why));
        TRY(note(run, metastore, uri, 0, because, why));
        fprintf(stderr, "withdrawn: %s\n", because);
        remove_files(run);
        return STATUS_OK;
    }
    if (status != STATUS_OK) {
        return status_fail(why, status, "%s", contradiction.text);
    }
    TRY(note(run, metastore, uri, counts.documents, NULL, why));
    remove_files(run);
    fprintf(stderr,
            "%llu documents of %llu quads for %llu requests (%llu to one); %u samples are equal; "
            "%llu documents refused, %llu removed\n",
            (unsigned long long)counts.documents, (unsigned long long)counts.quads,
            (unsigned long long)run->requests,
            (unsigned long long)(run->requests > 0 ? counts.documents / run->requests : 0),
            run->proved, (unsigned long long)(counts.refused + storing.refused),
            (unsigned long long)counts.removed);
    return STATUS_OK;
}

enum status
dataset_execute(struct cli *cli, struct slice uri, const char *withdrawn, struct reason *why)
{
    struct dataset_run run = {0};
    struct metastore_client *metastore = NULL;
    struct buf record;
    struct slice text;
    char folder[4096];
    snprintf(folder, sizeof folder, "%s/dumps", cli->directory);
    run.folder = folder;
    arena_init(&run.arena, RUN_MEMORY);
    buf_init(&record, RECORD_BYTES);
    enum status status = cli_metastore(cli, &metastore, why);
    if (status == STATUS_OK) {
        status = record_of(metastore, 'u', uri, "", &record, why);
    }
    if (status == STATUS_OK &&
        (!meta_record_text(buf_slice(&record), META_EXECUTION, &text) ||
         !execution_decode(text, &run.arena, &run.execution) || run.execution.space_count == 0)) {
        status =
            status_fail(why, STATUS_NOT_FOUND, "%.*s is no dataset of a plan", SLICE_PRINT(uri));
    }
    if (status == STATUS_OK) {
        meta_record_number(buf_slice(&record), META_DATASET_DUMPED, &run.dumped_ms);
        meta_record_text(buf_slice(&record), META_TRANSFORM_PROBLEMS, &run.problem);
        status = carry_out(&run, cli, metastore, uri, withdrawn, why);
    }
    metastore_client_close(metastore);
    buf_release(&record);
    arena_release(&run.arena);
    return status;
}
