/* bench_ranking ENDPOINT [items=N]: at which place a search finds a thing that is known, by what it
 * is called, in the index that answers at the endpoint.
 *
 * Items are resources whose label (rdfs:label, skos:prefLabel, foaf:name, dcterms:title) no other
 * has, of two words and more, taken at even distances. Each is searched for by the whole label, by
 * two of its words, and by these with two letters exchanged in one of 5 letters or more. A line for
 * each way to weigh: the mean of 1 / place over the items, 0 beyond place 10. The first line has
 * plain BM25: the best statement alone counts, whatever its property and host. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/memory.h"
#include "rdf/nquads/nquads.h"
#include "search/find.h"

enum { LABELS_MOST = 50000, PLACES = 10, WORDS_MOST = 12, LINES_MOST = 256 << 20, KINDS = 3 };

struct item {
    struct slice resource, label;
};
struct bench {
    struct index_client *client;
    struct arena arena;
    struct item *items;
    size_t count;
};

static void
must(enum status status, const struct reason *why)
{
    if (status != STATUS_OK) {
        fprintf(stderr, "bench_ranking: %s\n", why->text);
        exit(EXIT_SYSTEM);
    }
}

/* ---- items ---- */

static enum status
take_label(void *context, const struct quad *quad, struct reason *why)
{
    struct bench *bench = context;
    (void)why;
    if (quad->subject.kind == TERM_IRI && quad->object.kind == TERM_LITERAL &&
        bench->count < (size_t)4 * LABELS_MOST) {
        bench->items[bench->count++] = (struct item){arena_copy(&bench->arena, quad->subject.value),
                                                     arena_copy(&bench->arena, quad->object.value)};
    }
    return STATUS_OK;
}

static enum status
append(void *buffer, struct slice bytes, struct reason *why)
{
    (void)why;
    return buf_append_slice(buffer, bytes);
}

static int
compare_items(const void *a, const void *b)
{
    const struct item *left = a, *right = b;
    const int order = slice_compare(left->label, right->label);
    return order != 0 ? order : slice_compare(left->resource, right->resource);
}

/* Words of ASCII letters, at least three each; others are left out. */
static size_t
words_of(struct slice label, struct slice words[WORDS_MOST])
{
    size_t count = 0;
    for (size_t i = 0; i < label.length && count < WORDS_MOST;) {
        size_t end = i;
        while (end < label.length && ascii_is_letter(label.at[end])) {
            end++;
        }
        if (end - i >= 3) {
            words[count++] = slice_of(label.at + i, end - i);
        }
        i = end + 1;
    }
    return count;
}

static void
read_items(struct bench *bench, size_t wanted)
{
    static const char *const properties[] = {"http://www.w3.org/2000/01/rdf-schema#label",
                                             "http://www.w3.org/2004/02/skos/core#prefLabel",
                                             "http://xmlns.com/foaf/0.1/name",
                                             "http://purl.org/dc/terms/title"};
    const struct quad_sink sink = {take_label, bench};
    struct slice words[WORDS_MOST];
    struct reason why = {""};
    bench->items = memory_zero((size_t)4 * LABELS_MOST, sizeof *bench->items);
    for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++) {
        const struct quad pattern = {.predicate = term_iri(slice_string(properties[i]))};
        struct buf lines;
        buf_init(&lines, LINES_MOST);
        must(index_pattern(bench->client, &pattern, LABELS_MOST, append, &lines, &why), &why);
        must(nquads_parse(buf_slice(&lines), NULL, &sink, &why), &why);
        buf_release(&lines);
    }
    qsort(bench->items, bench->count, sizeof *bench->items, compare_items);
    size_t kept = 0;
    for (size_t i = 0, end; i < bench->count; i = end) {
        bool one = true;
        for (end = i + 1;
             end < bench->count && slice_equal(bench->items[end].label, bench->items[i].label);
             end++) {
            one &= slice_equal(bench->items[end].resource, bench->items[i].resource);
        }
        if (one && words_of(bench->items[i].label, words) >= 2) {
            bench->items[kept++] = bench->items[i];
        }
    }
    wanted = wanted < kept ? wanted : kept;
    for (size_t i = 0; i < wanted; i++) {
        bench->items[i] = bench->items[i * kept / wanted];
    }
    printf("items=%zu of labels=%zu\n", wanted, kept);
    bench->count = wanted;
}

/* ---- questions ---- */

static void
put_question(const struct item *item, unsigned kind, struct buf *out)
{
    struct slice words[WORDS_MOST];
    const size_t count = words_of(item->label, words);
    size_t first = 0, second;
    if (kind == 0) {
        for (size_t i = 0; i < count; i++) {
            (void)buf_printf(out, "%s%.*s", i > 0 ? " " : "", SLICE_PRINT(words[i]));
        }
        return;
    }
    for (size_t i = 0; i < count; i++) { /* the longest, and the longest of the others */
        first = words[i].length > words[first].length ? i : first;
    }
    second = first == 0 ? 1 : 0;
    for (size_t i = 0; i < count; i++) {
        second = i != first && words[i].length > words[second].length ? i : second;
    }
    char wrong[64];
    struct slice word = words[first];
    if (kind == 2 && word.length >= 5 && word.length < sizeof wrong) {
        memcpy(wrong, word.at, word.length);
        size_t at = word.length / 2;
        while (at + 2 < word.length && wrong[at] == wrong[at + 1]) {
            at++;
        }
        wrong[at] = word.at[at + 1];
        wrong[at + 1] = word.at[at];
        word = slice_of(wrong, word.length);
    }
    (void)buf_printf(out, "%.*s %.*s", SLICE_PRINT(word), SLICE_PRINT(words[second]));
}

static double
ask(struct bench *bench, const struct item *item, unsigned kind, const struct find_request *way)
{
    const struct find_access access = {.index = bench->client, .timeout_ms = 60000};
    struct find_request request = *way;
    struct find_results results;
    struct reason why = {""};
    struct buf words;
    double worth = 0;
    buf_init(&words, 4096);
    put_question(item, kind, &words);
    request.text = buf_slice(&words);
    request.group = FIND_BY_RESOURCE;
    must(find_run(&access, &request, &results, &why), &why);
    for (size_t i = 0; i < results.count && i < PLACES && worth == 0; i++) {
        worth = slice_equal(results.entries[i].resource.value, item->resource)
                    ? 1.0 / ((double)i + 1)
                    : 0;
    }
    find_release(&results);
    buf_release(&words);
    return worth;
}

int
main(int argc, char **argv)
{
    static const struct {
        const char *name;
        struct find_weights weights;
        size_t rows;
    } ways[] = {{"plain BM25", {1, 0, 1}, 1000},
                {"labels 1.5", {1.5, 0, 1}, 1000},
                {"labels 2", {2, 0, 1}, 1000},
                {"labels 4", {4, 0, 1}, 1000},
                {"host 1.5", {1, 0, 1.5}, 1000},
                {"rest 0.5", {1, 0.5, 1}, 1000},
                {"labels 2, rest 0.5, host 1.5", {2, 0.5, 1.5}, 1000},
                {"labels 2, rest 0.25, host 1.5", {2, 0.25, 1.5}, 1000},
                {"labels 2, rest 0.5, host 1.2", {2, 0.5, 1.2}, 1000},
                {"as it is, 30 statements", {0, 0, 0}, 30},
                {"as it is, 50 statements", {0, 0, 0}, 50},
                {"as it is, 100 statements", {0, 0, 0}, 100},
                {"as it is, 1000 statements", {0, 0, 0}, 1000}};
    struct bench bench = {.count = 0};
    struct reason why = {""};
    size_t items = 300;
    if (argc < 2) {
        fputs("usage: bench_ranking ENDPOINT [items=N]\n", stderr);
        return EXIT_MISUSE;
    }
    if (argc > 2 && strncmp(argv[2], "items=", 6) == 0) {
        items = strtoull(argv[2] + 6, NULL, 10);
    }
    const char *const endpoints[] = {argv[1]};
    const struct index_client_options options = {
        .endpoints = endpoints, .count = 1, .name = "bench"};
    must(index_client_open(&bench.client, &options, &why), &why);
    arena_init(&bench.arena, 0);
    read_items(&bench, items > 0 ? items : 1);
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
        double sums[KINDS] = {0};
        const struct find_request way = {
            .weights = ways[w].weights.label > 0 ? &ways[w].weights : NULL, .rows = ways[w].rows};
        for (size_t i = 0; i < bench.count; i++) {
            for (unsigned kind = 0; kind < KINDS; kind++) {
                sums[kind] += ask(&bench, &bench.items[i], kind, &way);
            }
        }
        const double count = bench.count > 0 ? (double)bench.count : 1;
        printf("%-32s whole=%.3f two_words=%.3f typing_error=%.3f\n", ways[w].name, sums[0] / count,
               sums[1] / count, sums[2] / count);
        fflush(stdout);
    }
    free(bench.items);
    arena_release(&bench.arena);
    index_client_close(bench.client);
    return EXIT_DONE;
}
