/* quadrille import: RDF files into the index without a crawl.
 *
 * What is durable is noted in DIR/import/FINGERPRINT while a file is read: "quads TAB path TAB size
 * TAB modification time". The same command after a crash reads the file again and sends only what
 * comes after that many quads. */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/system/clock.h"
#include "cli/import/import_files.h"
#include "cli/import/import_nodes.h"
#include "cli/shared/cli.h"
#include "config/config.h"
#include "index/client/import_client.h"
#include "index/client/index_client.h"
#include "rdf/nquads/nquads.h"
#include "stages/skeleton/services.h"

enum { TOLD_MS = 1000, LOOK_EVERY = 4096 /* quads between looks at the clock */ };

struct import_flags {
    struct cli_common common;
    const char *format, *graph, *base;
    bool lenient, keep_labels, quiet;
    int64_t memory;
};

struct import {
    struct cli *cli;
    const struct import_flags *flags;
    struct cluster_services services;
    struct importer *importer;
    struct import_nodes *nodes; /* NULL: labels are kept */
    struct index_client *index; /* opened when it is asked what it has */
    struct slice graph;         /* of triples */
    bool empty;                 /* the index has no graph but those of this file */
    bool given;                 /* blank nodes of the file had names that the index gave */
    bool whole;                 /* all of the file is durable */
    uint64_t read;
    uint64_t streamed; /* quads before those of import_nodes */
    const char *path;
    char note[PATH_MAX], identity[PATH_MAX + 64]; /* empty: not a file that can be read again */
    uint64_t started_ms, told_ms, durable;
    unsigned until_look;
};

/* ---- resuming ---- */

static void
identify(struct import *import)
{
    struct stat about;
    char whole[PATH_MAX];
    import->note[0] = import->identity[0] = '\0';
    if (realpath(import->path, whole) == NULL || stat(whole, &about) != 0 ||
        !S_ISREG(about.st_mode)) {
        return;
    }
    snprintf(import->identity, sizeof import->identity, "%s\t%lld\t%lld.%09ld", whole,
             (long long)about.st_size, (long long)about.st_mtim.tv_sec, about.st_mtim.tv_nsec);
    snprintf(import->note, sizeof import->note, "%s/import/%016llx", import->cli->directory,
             (unsigned long long)fingerprint64(slice_string(import->identity)));
}

static uint64_t
noted(const struct import *import)
{
    char line[PATH_MAX + 128], *rest;
    FILE *file = import->note[0] != '\0' ? fopen(import->note, "re") : NULL;
    uint64_t quads = 0;
    if (file != NULL && fgets(line, sizeof line, file) != NULL) {
        quads = strtoull(line, &rest, 10);
        line[strcspn(line, "\n")] = '\0';
        if (*rest != '\t' || strcmp(rest + 1, import->identity) != 0) {
            quads = 0;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return quads;
}

/* Lost notes cost time, no quads: failures are passed over. */
static void
note(const struct import *import, uint64_t quads)
{
    char folder[PATH_MAX], new[PATH_MAX + 8];
    if (import->note[0] == '\0') {
        return;
    }
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(import->note, '/') - import->note),
             import->note);
    snprintf(new, sizeof new, "%s.new", import->note);
    (void)mkdir(folder, 0700);
    const int descriptor = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (file != NULL) {
        fprintf(file, "%llu\t%s\n", (unsigned long long)quads, import->identity);
        if (fclose(file) == 0) {
            (void)rename(new, import->note);
        }
    }
}

/* ---- one file ---- */

static void
print_progress(struct import *import, bool last)
{
    struct importer_progress progress;
    const uint64_t now = clock_monotonic_ms();
    if (!last && now - import->told_ms < TOLD_MS) {
        return;
    }
    import->told_ms = now;
    importer_progress(import->importer, &progress);
    /* Which quads with blank nodes are sent depends on what is there. */
    note(import, progress.durable < import->streamed ? progress.durable : import->streamed);
    if (!import->flags->quiet && (last || isatty(STDERR_FILENO))) {
        const double seconds = (double)(now - import->started_ms + 1) / 1000;
        fprintf(stderr, "%s%s: %llu quads read, %llu durable, %.0f/s%s",
                isatty(STDERR_FILENO) ? "\r" : "", import->path, (unsigned long long)import->read,
                (unsigned long long)(import->whole ? import->read : progress.durable),
                (double)import->read / seconds, last ? "\n" : "");
    }
}

/* Blank nodes wait for their names until the file is read. */
static enum status
take(void *context, const struct quad *quad, struct reason *why)
{
    struct import *import = context;
    const struct quad_sink sink = importer_sink(import->importer);
    import->read++;
    if (import->until_look-- == 0) {
        import->until_look = LOOK_EVERY;
        print_progress(import, false);
    }
    if (import->nodes == NULL ||
        (quad->subject.kind != TERM_BLANK && quad->object.kind != TERM_BLANK)) {
        return sink.quad(sink.context, quad, why);
    }
    struct quad whole = *quad;
    if (quad->graph.kind == TERM_NONE) {
        whole.graph = term_iri(import->graph);
    }
    if (whole.graph.kind == TERM_IRI && import_nodes_concern(&whole)) {
        return import_nodes_add(import->nodes, &whole, why);
    }
    import->given = true;
    return sink.quad(sink.context, &whole, why);
}

static enum status
keep_blank(void *graph, const struct quad *quad, struct reason *why)
{
    return quad->subject.kind == TERM_BLANK || quad->object.kind == TERM_BLANK
               ? graph_add(graph, quad, why)
               : STATUS_OK;
}

static enum status
read_piece(void *reader, struct slice bytes, struct reason *why)
{
    return nquads_reader_feed(reader, bytes, why);
}

/* Asks the index which quads of the graph it has. */
static enum status
ask_present(void *context, struct slice graph, struct graph *quads, struct reason *why)
{
    struct import *import = context;
    const struct quad pattern = {.graph = term_iri(graph)};
    const struct quad_sink sink = {keep_blank, quads};
    if (import->empty && !import->given) {
        return STATUS_OK;
    }
    struct nquads_reader *reader = nquads_reader_new(NULL, false, &sink);
    enum status status = index_pattern(import->index, &pattern, 0, read_piece, reader, why);
    if (status == STATUS_OK) {
        status = nquads_reader_finish(reader, why);
    }
    nquads_reader_free(reader);
    return status;
}

/* Those with blank nodes, after all others: what the index has of their graphs is looked at. */
static enum status
import_blank(struct import *import, struct reason *why)
{
    struct importer_progress progress;
    const struct quad_sink sink = importer_sink(import->importer);
    if (import_nodes_count(import->nodes) == 0) {
        return STATUS_OK;
    }
    if (!import->empty || import->given) {
        TRY(importer_finish(import->importer, why));
    }
    importer_progress(import->importer, &progress);
    import->streamed = progress.taken;
    TRY(import_nodes_finish(import->nodes, &sink, why));
    if (import_nodes_unnamed(import->nodes) > 0) {
        fprintf(stderr,
                "%s: blank nodes of %llu statements are too alike, or too many, to be compared "
                "with those of other files: an import of the same under another name adds them "
                "again\n",
                import->path, (unsigned long long)import_nodes_unnamed(import->nodes));
    }
    return STATUS_OK;
}

static enum status
read_all(struct import *import, const struct importer_options *options, uint64_t *problems,
         struct reason *why)
{
    const struct import_flags *flags = import->flags;
    const struct import_source source = {
        .path = import->path,
        .format = flags->format != NULL ? rdf_format_of_name(slice_string(flags->format))
                                        : RDF_FORMAT_NONE,
        .base = slice_string(flags->base),
        .lenient = flags->lenient};
    const struct quad_sink sink = {take, import};
    enum status status = importer_open(&import->importer, options, why);
    if (status == STATUS_OK) {
        status = import_read(&source, &sink, problems, why);
    }
    if (status == STATUS_OK && import->nodes != NULL) {
        status = import_blank(import, why);
    }
    if (status == STATUS_OK) {
        status = importer_finish(import->importer, why);
    } else if (import->importer != NULL) {
        (void)importer_merge(import->importer, NULL);
    }
    return status;
}

static enum status
import_file(struct import *import, const char *path, struct reason *why)
{
    const struct import_flags *flags = import->flags;
    struct buf uri, scratch;
    char prefix[32];
    uint64_t problems = 0;
    import->path = path;
    import->started_ms = clock_monotonic_ms();
    import->told_ms = 0;
    import->given = import->whole = false;
    import->read = 0;
    import->streamed = UINT64_MAX;
    identify(import);
    buf_init(&uri, 4 * PATH_MAX);
    buf_init(&scratch, 4 * PATH_MAX);
    import_file_uri(path, &uri);
    config_path(import->cli->directory, "tmp", &scratch);
    snprintf(prefix, sizeof prefix, "f%016llxn",
             (unsigned long long)fingerprint64(
                 slice_string(import->identity[0] != '\0' ? import->identity : path)));
    import->graph = flags->graph != NULL ? slice_string(flags->graph) : buf_slice(&uri);
    const struct importer_options options = {.endpoints = import->services.endpoints,
                                             .count = import->services.count,
                                             .keys = import->services.keys,
                                             .memory = (size_t)flags->memory << 20,
                                             .skip = noted(import),
                                             .graph = import->graph};
    const struct import_nodes_options naming = {.folder = scratch.data,
                                                .memory = (size_t)flags->memory << 20,
                                                .prefix = slice_string(prefix),
                                                .present = ask_present,
                                                .context = import};
    import->nodes = flags->keep_labels ? NULL : import_nodes_new(&naming);
    const enum status status = read_all(import, &options, &problems, why);
    import->whole = status == STATUS_OK;
    if (import->importer != NULL) {
        print_progress(import, true);
    }
    if (status == STATUS_OK && import->note[0] != '\0') {
        (void)unlink(import->note);
    }
    if (problems > 0) {
        fprintf(stderr, "%s: %llu statements were malformed and left out\n", path,
                (unsigned long long)problems);
    }
    import->empty = false;
    import_nodes_free(import->nodes);
    importer_close(import->importer);
    import->importer = NULL;
    buf_release(&uri);
    buf_release(&scratch);
    return status;
}

/* Nothing can be there that blank nodes would have to be compared with. */
static enum status
look_whether_empty(struct import *import, struct reason *why)
{
    struct index_stats stats;
    TRY(cli_index(import->cli, &import->index, why));
    TRY(index_stats_get(import->index, &stats, why));
    import->empty = stats.quads == 0;
    return STATUS_OK;
}

static enum status
import_all(struct cli *cli, const struct import_flags *flags, char **paths, int n,
           struct reason *why)
{
    struct import import = {.cli = cli, .flags = flags};
    TRY(cli_serve(cli, "queue,metastore,index", why));
    TRY(services_all_indexes(cli->cluster, cli->directory, cli->options, &import.services, why));
    enum status status = flags->keep_labels ? STATUS_OK : look_whether_empty(&import, why);
    for (int i = 0; i < n && status == STATUS_OK; i++) {
        status = import_file(&import, paths[i], why);
    }
    index_client_close(import.index);
    cluster_services_release(&import.services);
    return status;
}

static enum status
check_flags(const struct import_flags *flags, int n, struct reason *why)
{
    if (n == 0) {
        return status_fail(why, STATUS_MISUSE, "which FILE? See --help");
    }
    if (flags->format != NULL &&
        rdf_format_of_name(slice_string(flags->format)) == RDF_FORMAT_NONE) {
        return status_fail(why, STATUS_MISUSE, "--format %s is no RDF syntax", flags->format);
    }
    if (flags->common.directory == NULL) {
        return status_fail(why, STATUS_MISUSE, "--dir DIR is needed: the data directory");
    }
    if (flags->memory < 16 || flags->memory > 1 << 20) {
        return status_fail(why, STATUS_MISUSE, "--memory is 16 to 1048576 MiB");
    }
    return STATUS_OK;
}

int
command_import(int argc, char **argv)
{
    struct import_flags import = {.memory = 256, .base = ""};
    struct cli cli = {0};
    const struct flag flags[] = {
        CLI_COMMON_FLAGS(import.common),
        {"format", 'f', FLAG_STRING, "FORMAT", &import.format,
         "nquads, ntriples, turtle, trig, rdfxml or jsonld, instead of what the name tells."},
        {"graph", 'g', FLAG_STRING, "IRI", &import.graph,
         "The graph of triples; without it the file's URI."},
        {"base", 'b', FLAG_STRING, "IRI", &import.base,
         "Relative IRIs are relative to this; without it to the file's URI."},
        {"keep-labels", 0, FLAG_SWITCH, NULL, &import.keep_labels,
         "Keeps all blank node labels as they are. Without it those that `quadrille dump` wrote "
         "mean the nodes that they were of, and others are named by what is said of them: what "
         "the index has already, under whatever labels, is not added again."},
        {"lenient", 0, FLAG_SWITCH, NULL, &import.lenient,
         "Leaves malformed statements out instead of stopping at the first."},
        {"memory", 0, FLAG_INTEGER, "MIB", &import.memory,
         "Memory for quads on their way to the index (256)."},
        {"quiet", 'q', FLAG_SWITCH, NULL, &import.quiet, "Shows no progress."},
        {0},
    };
    const struct program program = {
        .name = "quadrille import",
        .synopsis = "--dir DIR [OPTION]... FILE...",
        .summary = "add RDF files to the index",
        .description =
            "Adds the quads of files to the graphs that they name. Files may be N-Quads, "
            "N-Triples, Turtle, TriG, RDF/XML or JSON-LD, plain or packed by gzip, bzip2, xz or "
            "zstd, or several in a zip or tar archive; - is standard input.\n\n"
            "All is durable when the command returns. After a crash the same command goes on "
            "where it was. Quads that are there already make no difference. It is fastest when "
            "the quads of a graph stand together. The pipeline may run or not.",
        .examples = "quadrille import --dir DIR all.nq\n"
                    "quadrille import --dir DIR --graph urn:my:data more.ttl",
        .flags = flags,
    };
    struct reason why = {""};
    char **operands;
    int n;
    enum status status = program_parse(&program, argc, argv, &operands, &n, &why);
    if (status == STATUS_OK) {
        status = check_flags(&import, n, &why);
    }
    if (status == STATUS_OK) {
        status = cli_check_files(operands, n, &why);
    }
    for (int i = 0; i < n && status == STATUS_OK && import.format == NULL; i++) {
        status = import_look(operands[i], &why);
    }
    if (status == STATUS_OK) {
        status = cli_make_directory(import.common.directory, &why);
    }
    if (status == STATUS_OK) {
        status = cli_open(&cli, &import.common, &why);
    }
    if (status == STATUS_OK) {
        status = import_all(&cli, &import, operands, n, &why);
    }
    cli_close(&cli);
    return cli_end(&program, status, &why);
}
