/* Documents made by chance and an index folder for them: shared by the index tests. */
#ifndef TESTS_UNIT_INDEX_INDEX_FIXTURE_H
#define TESTS_UNIT_INDEX_INDEX_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "index/read/dump.h"
#include "index/write/partition.h"
#include "rdf/core/graph.h"
#include "rdf/core/writer.h"
#include "rdf/nquads/nquads.h"
#include "tests/unit/scratch.h"

static uint64_t fixture_seed = 88172645463325252u;

static inline uint64_t
random_number(void)
{
    fixture_seed ^= fixture_seed << 13;
    fixture_seed ^= fixture_seed >> 7;
    fixture_seed ^= fixture_seed << 17;
    return fixture_seed;
}

static inline void
must(enum status status, const struct reason *why)
{
    if (status != STATUS_OK) {
        fail_msg("%s: %s", status_name(status), why->text);
    }
}

static inline void
fixture_uri(unsigned document, char uri[64])
{
    snprintf(uri, 64, "http://host%u.example/document/%u", document % 7, document);
}

/* N-Quads of a document with about `quads` lines, duplicates among them. */
static inline void
fixture_document(unsigned document, unsigned quads, struct buf *out)
{
    static const char *const words[] = {"alpha", "beta", "gamma", "delta", "caf\xc3\xa9", "zeta"};
    char uri[64];
    fixture_uri(document, uri);
    for (unsigned i = 0; i < quads; i++) {
        switch (random_number() % 3) {
        case 0:
            (void)buf_printf(out, "_:d%016xn%u ", document, (unsigned)(random_number() % 3));
            break;
        case 1:
            (void)buf_printf(out, "<http://shared.example/%u> ", (unsigned)(random_number() % 40));
            break;
        default:
            (void)buf_printf(out, "<%s#it> ", uri);
            break;
        }
        if (random_number() % 5 == 0) {
            (void)buf_printf(out,
                             "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
                             "<http://class.example/%u>",
                             (unsigned)(random_number() % 9));
        } else {
            (void)buf_printf(out, "<http://p.example/%u> ", (unsigned)(random_number() % 12));
            switch (random_number() % 6) {
            case 0:
                (void)buf_printf(out, "\"%u\"^^<http://www.w3.org/2001/XMLSchema#integer>",
                                 (unsigned)(random_number() % 100));
                break;
            case 1:
                (void)buf_printf(out, "\"%s %s\"@en", words[random_number() % 6],
                                 words[random_number() % 6]);
                break;
            case 2:
                (void)buf_printf(out, "\"0%u\"^^<http://www.w3.org/2001/XMLSchema#integer>",
                                 (unsigned)(random_number() % 10));
                break;
            case 3:
                (void)buf_printf(out, "<http://host%u.example/document/%u>",
                                 (unsigned)(random_number() % 7), (unsigned)(random_number() % 50));
                break;
            default:
                (void)buf_printf(out, "\"%s number %u\"", words[random_number() % 6],
                                 (unsigned)(random_number() % 1000));
                break;
            }
        }
        (void)buf_printf(out, " <%s> .\n", uri);
    }
}

/* Sorted canonical N-Quads of all the documents. */
static inline void
fixture_canonical(const struct buf *documents, size_t count, struct buf *out)
{
    struct graph graph;
    graph_init(&graph, 0);
    const struct quad_sink sink = graph_sink(&graph);
    struct reason why = {""};
    for (size_t i = 0; i < count; i++) {
        must(nquads_parse(buf_slice(&documents[i]), NULL, &sink, &why), &why);
    }
    graph_sort_unique(&graph);
    for (size_t i = 0; i < graph.count; i++) {
        (void)nquads_write(out, &graph.quads[i]);
    }
    graph_release(&graph);
}

static inline enum status
fixture_append(void *context, struct slice bytes, struct reason *why)
{
    (void)why;
    (void)buf_append_slice(context, bytes);
    return STATUS_OK;
}

/* Tests open thousands of partitions of a few documents: caches of usual size take longer to make
 * than such a partition to fill. */
static inline void
fixture_options(struct partition_options *options, const char *folder)
{
    partition_options_default(options, folder);
    options->cache_bytes = 16 << 20;
    options->term_memory = 256 << 10;
    options->disk_reserve = 0;
}

static inline struct partition *
fixture_open(const char *folder, uint64_t cache_bytes)
{
    struct partition_options options;
    struct partition *partition;
    struct reason why = {""};
    fixture_options(&options, folder);
    options.cache_bytes = cache_bytes;
    options.checkpoint_bytes = 1 << 20;
    must(partition_open(&partition, &options, &why), &why);
    return partition;
}

static inline void
fixture_dump(struct partition *partition, const char *folder, struct buf *out)
{
    struct reason why = {""};
    buf_reset(out);
    must(partition_dump(partition, false, folder, 1 << 20, fixture_append, out, &why), &why);
}

static inline void
fixture_verify(struct partition *partition, const char *folder)
{
    struct reason why = {""};
    struct buf report;
    buf_init(&report, 1 << 20);
    const atomic_bool cancel = false;
    const enum status status =
        partition_verify(partition, folder, 1 << 20, &cancel, fixture_append, &report, &why);
    if (status != STATUS_OK) {
        fail_msg("%s\n%.*s", why.text, SLICE_PRINT(buf_slice(&report)));
    }
    buf_release(&report);
}

static inline size_t
fixture_add(struct index_batch *batch, unsigned document, uint64_t generation,
            const struct buf *nquads)
{
    char uri[64];
    fixture_uri(document, uri);
    const struct index_document d = {.uri = slice_string(uri), .generation = generation};
    struct reason why = {""};
    size_t number;
    must(index_batch_add(batch, &d, buf_slice(nquads), &number, &why), &why);
    return number;
}

static inline void
fixture_run(const char *format, const char *a, const char *b)
{
    char command[256];
    snprintf(command, sizeof(command), format, a, b);
    assert_int_equal(system(command), 0);
}

static inline int
fixture_remove_one(const char *path, const struct stat *at, int kind, struct FTW *where)
{
    (void)at;
    (void)kind;
    (void)where;
    return remove(path);
}

/* Makes BASE/copy the same as BASE/index. Tests of faults do it hundreds of times, and to start rm
 * and cp takes longer than the index does. */
static inline void
fixture_copy(char copy[SCRATCH_SIZE + 32], const char *base)
{
    char from[SCRATCH_SIZE + 300], to[SCRATCH_SIZE + 300];
    snprintf(copy, SCRATCH_SIZE + 32, "%s/copy", base);
    snprintf(from, sizeof from, "%s/index", base);
    assert_true(nftw(copy, fixture_remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0 || errno == ENOENT);
    assert_int_equal(mkdir(copy, 0700), 0);
    DIR *folder = opendir(from);
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        struct stat file;
        if (entry->d_name[0] == '.') {
            continue;
        }
        snprintf(from, sizeof from, "%s/index/%s", base, entry->d_name);
        snprintf(to, sizeof to, "%s/%s", copy, entry->d_name);
        const int in = open(from, O_RDONLY | O_CLOEXEC);
        assert_true(in >= 0 && fstat(in, &file) == 0 && S_ISREG(file.st_mode));
        const int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, file.st_mode & 0777);
        assert_true(out >= 0);
        while (file.st_size > 0) {
            const ssize_t n = sendfile(out, in, NULL, (size_t)file.st_size);
            assert_true(n > 0);
            file.st_size -= n;
        }
        close(in);
        close(out);
    }
    closedir(folder);
}

#endif
