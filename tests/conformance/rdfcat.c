/* rdfcat FORMAT FILE [BASE]: parses a file and prints its quads as N-Quads. For tests, fuzzing
 * and measuring. FILE "-" is standard input. With -c only counts, with -l parses leniently,
 * problems to stderr; with -k prints the canonical form (RDFC-1.0). */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "rdf/canonical/canonical.h"
#include "rdf/core/writer.h"
#include "rdf/format.h"
#include "tests/support/nquads_writer.h"

struct arguments {
    bool count, lenient, canonical;
    enum rdf_format format;
    const char *path, *base;
};

static void
print_problem(void *context, const struct parse_problem *problem)
{
    (void)context;
    fprintf(stderr, "line %llu, column %llu: %s\n", (unsigned long long)problem->line,
            (unsigned long long)problem->column, problem->text);
}

static enum status
count_quad(void *context, const struct quad *quad, struct reason *why)
{
    (void)quad;
    (void)why;
    ++*(uint64_t *)context;
    return STATUS_OK;
}

static enum status
read_all(int descriptor, struct buf *bytes, struct reason *why)
{
    for (;;) {
        char *room = buf_reserve(bytes, 1 << 20);
        const ssize_t n = room != NULL ? read(descriptor, room, 1 << 20) : -1;
        if (n < 0) {
            return status_fail_errno(why, "cannot read");
        }
        if (n == 0) {
            return STATUS_OK;
        }
        buf_commit(bytes, (size_t)n);
    }
}

static enum status
print_canonical(const struct arguments *arguments, struct slice bytes,
                const struct parse_options *options, const struct quad_sink *sink,
                struct reason *why)
{
    struct graph graph;
    graph_init(&graph, 0);
    const struct quad_sink collect = graph_sink(&graph);
    enum status status = rdf_parse(arguments->format, bytes, options, &collect, why);
    if (status == STATUS_OK) {
        status = graph_canonicalize(&graph, CANONICAL_SHA256, 0, why);
    }
    if (status == STATUS_OK) {
        status = graph_send(&graph, sink, why);
    }
    graph_release(&graph);
    return status;
}

static enum status
run(const struct arguments *arguments, struct slice bytes, struct reason *why)
{
    const struct parse_options options = {.base = slice_string(arguments->base),
                                          .lenient = arguments->lenient,
                                          .problems = {.problem = print_problem}};
    if (arguments->count) {
        uint64_t count = 0;
        const struct quad_sink sink = {.quad = count_quad, .context = &count};
        const enum status status = rdf_parse(arguments->format, bytes, &options, &sink, why);
        printf("%llu\n", (unsigned long long)count);
        return status;
    }
    struct nquads_writer writer;
    nquads_writer_init(&writer, STDOUT_FILENO);
    const struct quad_sink sink = nquads_writer_sink(&writer);
    enum status status = arguments->canonical
                             ? print_canonical(arguments, bytes, &options, &sink, why)
                             : rdf_parse(arguments->format, bytes, &options, &sink, why);
    struct reason flush_why;
    const enum status flushed = nquads_writer_flush(&writer, &flush_why);
    if (status == STATUS_OK && flushed != STATUS_OK) {
        status = flushed;
        *why = flush_why;
    }
    nquads_writer_release(&writer);
    return status;
}

static enum status
open_and_run(const struct arguments *arguments, struct reason *why)
{
    const bool input = strcmp(arguments->path, "-") == 0;
    const int descriptor = input ? STDIN_FILENO : open(arguments->path, O_RDONLY | O_CLOEXEC);
    struct stat state;
    if (descriptor < 0 || fstat(descriptor, &state) != 0) {
        return status_fail_errno(why, "cannot open %s", arguments->path);
    }
    enum status status;
    if (!S_ISREG(state.st_mode) || state.st_size == 0) {
        struct buf bytes;
        buf_init(&bytes, SIZE_MAX / 2);
        status = read_all(descriptor, &bytes, why);
        status = status == STATUS_OK ? run(arguments, buf_slice(&bytes), why) : status;
        buf_release(&bytes);
    } else {
        const size_t size = (size_t)state.st_size;
        void *map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        if (map == MAP_FAILED) {
            status = status_fail_errno(why, "cannot map %s", arguments->path);
        } else {
            status = run(arguments, slice_of(map, size), why);
            munmap(map, size);
        }
    }
    if (!input) {
        close(descriptor);
    }
    return status;
}

int
main(int argc, char **argv)
{
    struct arguments arguments = {0};
    struct reason why = {{0}};
    int option;
    while ((option = getopt(argc, argv, "clk")) != -1) {
        arguments.count |= option == 'c';
        arguments.lenient |= option == 'l';
        arguments.canonical |= option == 'k';
    }
    if (argc - optind >= 2) {
        arguments.format = rdf_format_of_name(slice_string(argv[optind]));
        arguments.path = argv[optind + 1];
        arguments.base = argc - optind > 2 ? argv[optind + 2] : "";
    }
    if (arguments.format == RDF_FORMAT_NONE) {
        fprintf(stderr, "usage: rdfcat [-clk] ntriples|nquads|turtle|trig|rdfxml FILE [BASE]\n");
        return EXIT_MISUSE;
    }
    const enum status status = open_and_run(&arguments, &why);
    if (status != STATUS_OK) {
        fprintf(stderr, "rdfcat: %s: %s\n", arguments.path, why.text);
    }
    return status_exit_code(status);
}
