/* quadrille slice: a dataset into the documents that describe its resources. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/file.h"
#include "cli/datasets/slice_spaces.h"
#include "cli/datasets/slice_steps.h"
#include "cli/datasets/slice_store.h"
#include "cli/import/import_files.h"
#include "cli/shared/cli.h"
#include "dumps/slicer.h"
#include "rdf/core/writer.h"

enum { OUTPUT_BYTES = 1 << 20, MEBIBYTE_SHIFT = 20 };

struct slice_flags {
    struct cli_common common;
    struct slice_space_flags spaces;
    const char *format, *temporary, *output, *source;
    int64_t memory, disk, threads, depth;
    bool lenient, quiet;
};

/* Documents of several threads go out whole. */
struct output {
    int descriptor;
    pthread_mutex_t lock;
    struct buf *texts; /* one for each thread */
};

static enum status
write_text(const struct output *output, struct buf *text, struct reason *why)
{
    const bool written = file_write_all(output->descriptor, buf_slice(text));
    buf_reset(text);
    return written ? STATUS_OK : status_fail_errno(why, "cannot write documents");
}

/* Writes what this thread has gathered; nobody else writes until it unlocks. */
static enum status
flush(struct output *output, struct buf *text, bool *locked, struct reason *why)
{
    if (!*locked) {
        pthread_mutex_lock(&output->lock);
        *locked = true;
    }
    return write_text(output, text, why);
}

/* As N-Quads whose graph is the document. */
static enum status
write_document(void *context, unsigned thread, const struct sliced_document *document,
               struct reason *why)
{
    struct output *output = context;
    struct buf *text = &output->texts[thread];
    const struct term iri = term_iri(document->uri);
    struct buf graph;
    buf_init(&graph, SIZE_MAX / 2);
    nquads_write_term(&graph, &iri);
    buf_append_string(&graph, " .\n");
    const char *line = document->lines.at;
    enum status status = STATUS_OK;
    bool locked = false;
    for (uint64_t i = 0; i < document->count && status == STATUS_OK; i++) {
        const size_t length = document->lengths[i] - strlen(".\n");
        char *at = buf_reserve(text, length + graph.length);
        memcpy(at, line, length);
        memcpy(at + length, graph.data, graph.length);
        buf_commit(text, length + graph.length);
        line += document->lengths[i];
        if (text->length > 2 * OUTPUT_BYTES) { /* a large document goes out piece by piece */
            status = flush(output, text, &locked, why);
        }
    }
    buf_release(&graph);
    if (status == STATUS_OK && (locked || text->length >= OUTPUT_BYTES)) {
        status = flush(output, text, &locked, why);
    }
    if (locked) {
        pthread_mutex_unlock(&output->lock);
    }
    return status;
}

static enum status
write_documents(struct slicer *slicer, unsigned threads, const char *path, struct reason *why)
{
    int descriptor = STDOUT_FILENO;
    if (path != NULL) {
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (descriptor < 0) {
            return status_fail_errno(why, "cannot write %s", path);
        }
    }
    struct output output = {.descriptor = descriptor,
                            .texts = memory_zero(threads, sizeof *output.texts)};
    pthread_mutex_init(&output.lock, NULL);
    for (unsigned i = 0; i < threads; i++) {
        buf_init(&output.texts[i], SIZE_MAX / 2);
    }
    enum status status = slicer_group(slicer, write_document, &output, why);
    for (unsigned i = 0; i < threads; i++) {
        if (status == STATUS_OK) {
            status = write_text(&output, &output.texts[i], why);
        }
        buf_release(&output.texts[i]);
    }
    pthread_mutex_destroy(&output.lock);
    free(output.texts);
    if (path != NULL && close(descriptor) != 0 && status == STATUS_OK) {
        status = status_fail_errno(why, "cannot write %s", path);
    }
    return status;
}

/* Into the pipeline of DIR. */
static enum status
store_documents(struct slicer *slicer, const struct slice_flags *flags, unsigned threads,
                struct reason *why)
{
    struct cli cli = {0};
    struct slice_store *store = NULL;
    struct slice_store_counts counts;
    const struct slice_store_options options = {
        .dump = slice_string(flags->source),
        .slicing = slice_string(flags->spaces.slicing != NULL ? flags->spaces.slicing : "subject"),
        .fetched_ms = clock_wall_ms(),
        .depth = (unsigned)flags->depth,
        .threads = threads};
    enum status status = cli_open(&cli, &flags->common, why);
    if (status == STATUS_OK) {
        status = cli_serve(&cli, "queue,metastore", why);
    }
    if (status == STATUS_OK) {
        status = slice_store_open(&store, &cli, &options, why);
    }
    if (status == STATUS_OK) {
        status = slicer_group(slicer, slice_store_take, store, why);
    }
    if (status == STATUS_OK) {
        status = slice_store_flush(store, why);
    }
    if (status == STATUS_OK && !flags->quiet) {
        slice_store_counted(store, &counts);
        fprintf(stderr, "%llu documents of %llu quads on their way to the index; %llu refused\n",
                (unsigned long long)counts.documents, (unsigned long long)counts.quads,
                (unsigned long long)counts.refused);
    }
    slice_store_close(store);
    cli_close(&cli);
    return status;
}

static enum status
read_files(const struct slice_flags *flags, struct slicer *slicer, const struct quad_sink *sinks,
           unsigned threads, char **paths, int n, struct reason *why)
{
    uint64_t problems = 0;
    enum status status = STATUS_OK;
    for (int i = 0; i < n && status == STATUS_OK; i++) {
        const struct import_source source = {
            .path = paths[i],
            .format = flags->format != NULL ? rdf_format_of_name(slice_string(flags->format))
                                            : RDF_FORMAT_NONE,
            .lenient = flags->lenient,
            .sinks = sinks,
            .threads = threads};
        slicer_next_file(slicer);
        status = import_read(&source, sinks, &problems, why);
    }
    if (problems > 0) {
        fprintf(stderr, "quadrille slice: %llu statements were malformed and left out\n",
                (unsigned long long)problems);
    }
    return status;
}

/* Each thread takes by itself. */
static enum status
take_files(const struct slice_flags *flags, struct slicer *slicer, unsigned threads, char **paths,
           int n, struct reason *why)
{
    struct slicer_taker **takers = memory_zero(threads, sizeof(struct slicer_taker *));
    struct quad_sink *sinks = memory_zero(threads, sizeof *sinks);
    for (unsigned i = 0; i < threads; i++) {
        takers[i] = slicer_taker_new(slicer);
        sinks[i] = (struct quad_sink){slicer_taker_take, takers[i]};
    }
    enum status status = read_files(flags, slicer, sinks, threads, paths, n, why);
    for (unsigned i = 0; i < threads; i++) {
        const enum status freed = slicer_taker_free(takers[i], status == STATUS_OK ? why : NULL);
        status = status != STATUS_OK ? status : freed;
    }
    free(takers);
    free(sinks);
    return status;
}

static void
print_counts(const struct slicer *slicer)
{
    struct slicer_counts counts;
    slicer_counted(slicer, &counts);
    fprintf(stderr,
            "%llu triples, %llu of no resource here; %llu documents of %llu triples; "
            "%llu over a limit; %.1f MB of temporary files\n",
            (unsigned long long)counts.triples, (unsigned long long)counts.outside,
            (unsigned long long)counts.documents, (unsigned long long)counts.lines,
            (unsigned long long)counts.cut, (double)counts.disk / 1e6);
}

static enum status
slice_files(const struct slice_flags *flags, char **paths, int n, struct reason *why)
{
    struct slice_space spaces[SLICE_SPACES_MAXIMUM];
    struct slicer_options options;
    slicer_options_default(&options, flags->temporary);
    options.spaces = spaces;
    TRY(slice_spaces_read(&flags->spaces, spaces, &options.count, why));
    options.memory = (uint64_t)flags->memory << MEBIBYTE_SHIFT;
    options.disk = (uint64_t)flags->disk << MEBIBYTE_SHIFT;
    options.threads = flags->threads > 0 ? (unsigned)flags->threads : options.threads;
    struct slicer *slicer = slicer_new(&options);
    enum status status = take_files(flags, slicer, options.threads, paths, n, why);
    if (status == STATUS_OK) {
        status = flags->common.directory != NULL
                     ? store_documents(slicer, flags, options.threads, why)
                     : write_documents(slicer, options.threads, flags->output, why);
    }
    if (status == STATUS_OK && !flags->quiet) {
        print_counts(slicer);
    }
    slicer_free(slicer);
    return status;
}

static enum status
check_flags(const struct slice_flags *flags, int n, struct reason *why)
{
    if (n == 0) {
        return status_fail(why, STATUS_MISUSE, "which FILE? See --help");
    }
    if (flags->format != NULL &&
        rdf_format_of_name(slice_string(flags->format)) == RDF_FORMAT_NONE) {
        return status_fail(why, STATUS_MISUSE, "--format %s is no RDF syntax", flags->format);
    }
    if ((flags->common.directory != NULL) != (flags->source != NULL)) {
        return status_fail(why, STATUS_MISUSE, "--dir and --source belong together");
    }
    if (flags->common.directory != NULL) {
        TRY(cli_check_directory(flags->common.directory, why));
    }
    if (flags->depth < 0 || flags->depth > UINT16_MAX) {
        return status_fail(why, STATUS_MISUSE, "--depth is 0 to %d", UINT16_MAX);
    }
    if (flags->threads < 0 || flags->threads > 64) {
        return status_fail(why, STATUS_MISUSE, "--threads is 1 to 64");
    }
    if (flags->disk < 1 || flags->disk > INT64_MAX >> MEBIBYTE_SHIFT) {
        return status_fail(why, STATUS_MISUSE, "--disk is a number of MiB");
    }
    return flags->memory >= 64 && flags->memory <= 1 << 20
               ? STATUS_OK
               : status_fail(why, STATUS_MISUSE, "--memory is 64 to 1048576 MiB");
}

int
command_slice(int argc, char **argv)
{
    const char *temporary = getenv("TMPDIR");
    struct slice_flags slice = {
        .memory = 512, .disk = 1 << 20, .temporary = temporary != NULL ? temporary : "/var/tmp"};
    const struct flag flags[] = {
        CLI_COMMON_FLAGS(slice.common),
        {"source", 0, FLAG_STRING, "URI", &slice.source,
         "With --dir: puts the documents into the crawl of DIR, as cut out of the dump at URI."},
        {"depth", 0, FLAG_INTEGER, "N", &slice.depth,
         "With --dir: how many links from a seed the documents are (0)."},
        SLICE_SPACE_FLAGS(slice.spaces),
        {"format", 'f', FLAG_STRING, "FORMAT", &slice.format,
         "nquads, ntriples, turtle, trig, rdfxml or jsonld, instead of what the name tells."},
        {"output", 'o', FLAG_STRING, "FILE", &slice.output,
         "Writes there, not to standard output."},
        {"memory", 0, FLAG_INTEGER, "MIB", &slice.memory, "Memory to use, about (512)."},
        {"disk", 0, FLAG_INTEGER, "MIB", &slice.disk,
         "The most that temporary files may take (1048576)."},
        {"temporary", 0, FLAG_STRING, "DIR", &slice.temporary,
         "Where temporary files go ($TMPDIR, /var/tmp)."},
        {"threads", 0, FLAG_INTEGER, "N", &slice.threads, "Threads (one for each processor)."},
        {"lenient", 0, FLAG_SWITCH, NULL, &slice.lenient,
         "Leaves malformed statements out instead of stopping at the first."},
        {"quiet", 'q', FLAG_SWITCH, NULL, &slice.quiet, "Does not tell what was done."},
        {0},
    };
    const struct program program = {
        .name = "quadrille slice",
        .synopsis = "[OPTION]... FILE...",
        .summary = "cut a dataset into the documents that describe its resources",
        .description =
            "Reads dumps of a dataset and writes, as N-Quads, what resolving each resource would "
            "give if its publisher describes resources by METHOD; the graph is the document. "
            "Files may be N-Triples, N-Quads, Turtle, TriG, RDF/XML or JSON-LD, plain or packed; - "
            "is standard input. Statements of N-Quads belong to the document that their graph "
            "names.\n\n"
            "With --dir and --source the documents go to the index of DIR as if they had been "
            "fetched, "
            "and their links are followed as usual.\n\n"
            "quadrille slice map, follow and reduce do the same in steps, between which another "
            "program sorts lines, for clusters; each answers --help.\n\n"
            "Memory and disk are bounded; time grows with the size of the dumps. Blank nodes of "
            "different files are different.",
        .examples = "quadrille slice --slicing cbd --prefix http://example.com/id/ dump.nt.gz\n"
                    "quadrille slice --dir DIR --source http://example.com/dump.nt dump.nt",
        .flags = flags,
    };
    if (argc > 1 && slice_step_is(argv[1])) {
        return slice_step(argc - 1, argv + 1);
    }
    struct reason why = {""};
    char **operands;
    int n;
    enum status status = program_parse(&program, argc, argv, &operands, &n, &why);
    if (status == STATUS_OK) {
        status = check_flags(&slice, n, &why);
    }
    if (status == STATUS_OK) {
        status = cli_check_files(operands, n, &why);
    }
    if (status == STATUS_OK) {
        status = slice_files(&slice, operands, n, &why);
    }
    return cli_end(&program, status, &why);
}
