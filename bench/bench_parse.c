/* bench_parse SYNTAX FILE...: statements per CPU second of a parser from memory, to a sink that
 * does nothing. SYNTAX as the registry names them: nquads, ntriples, turtle, trig, rdfxml. Prints
 * TSV: syntax, statements, bytes, thousand statements per CPU second, MB/s. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/buf.h"
#include "rdf/format.h"

enum { ROUNDS = 3 };

static enum status
count(void *context, const struct quad *quad, struct reason *why)
{
    (void)quad, (void)why;
    ++*(uint64_t *)context;
    return STATUS_OK;
}

static double
cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static bool
read_file(const char *path, struct buf *bytes)
{
    FILE *in = fopen(path, "rb");
    size_t n = in ? 1 : 0;
    buf_reset(bytes);
    while (n > 0) {
        char *room = buf_reserve(bytes, 1 << 20);
        n = room ? fread(room, 1, 1 << 20, in) : 0;
        buf_commit(bytes, n);
    }
    if (in) {
        fclose(in);
    }
    return in != NULL;
}

int
main(int argc, char **argv)
{
    struct buf bytes;
    buf_init(&bytes, SIZE_MAX / 4);
    for (int i = 2; i < argc; i++) {
        if (!read_file(argv[i], &bytes)) {
            fprintf(stderr, "bench_parse: cannot read %s\n", argv[i]);
            return 1;
        }
        double best = 1e9;
        uint64_t statements = 0;
        for (unsigned round = 0; round < ROUNDS; round++) {
            struct reason why;
            statements = 0;
            const struct quad_sink sink = {count, &statements};
            const struct parse_options options = {.base = SLICE("http://bench.example/"),
                                                  .lenient = true};
            const double start = cpu_seconds();
            if (rdf_parse(rdf_format_of_name(slice_string(argv[1])), buf_slice(&bytes), &options,
                          &sink, &why) != STATUS_OK) {
                fprintf(stderr, "bench_parse: %s: %s\n", argv[i], why.text);
                return 1;
            }
            const double took = cpu_seconds() - start;
            best = took < best ? took : best;
        }
        printf("%s\t%lu\t%zu\t%.0f\t%.0f\n", argv[1], (unsigned long)statements, bytes.length,
               (double)statements / best / 1e3, (double)bytes.length / best / 1e6);
    }
    buf_release(&bytes);
    return argc > 2 ? 0 : 2;
}
