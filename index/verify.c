/* Whether what is stored agrees with itself:
 *
 *   trees       rows ascend and keep their fences; six times the same set, as many as counted
 *   lexicon     numbers without gap; each term is found again under its key, and no key more
 *   documents   each graph's rows give the count and digest recorded; no rows of other graphs
 *   statistics  counts per predicate, class, host and set of predicates are those of the rows
 *   literals    FTS5's own check; exactly the string literals of the lexicon are indexed
 *
 * All checks run even when one finds something. The writer waits meanwhile. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/line_sort.h"
#include "index/partition_private.h"
#include "index/quad_text.h"
#include "rdf/vocabulary.h"

enum { LINE_SIZE = 700, TERMS_AT_ONCE = 50000, PROBLEMS_SHOWN = 100 };

struct verification {
    struct partition *partition;
    struct partition_reader *reader;
    const char *scratch_folder;
    size_t sort_memory;
    partition_report *report;
    void *context;
    uint64_t problems;
    uint64_t rows;         /* in each tree */
    uint64_t strings;      /* string literals in the lexicon, */
    uint64_t id_sum;       /* and the sum of their identifiers */
    struct term_set terms; /* of the lexicon, waiting to be looked up */
    oid *ids;
    uint64_t keys;
};

__attribute__((format(printf, 3, 4))) static enum status
say(struct verification *v, struct reason *why, const char *format, ...)
{
    char line[LINE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(line, sizeof(line) - 1, format, arguments);
    va_end(arguments);
    size_t n = length < 0 ? 0 : (size_t)length;
    n = n < sizeof(line) - 1 ? n : sizeof(line) - 2;
    line[n] = '\n';
    return v->report(v->context, slice_of(line, n + 1), why);
}

#define problem(v, why, ...) \
    ((v)->problems++ < PROBLEMS_SHOWN ? say(v, why, __VA_ARGS__) : STATUS_OK)

/* A check that ended with CORRUPT has found a problem; any other failure ends verifying. */
static enum status
found(struct verification *v, enum status status, struct reason *why)
{
    if (status != STATUS_CORRUPT) {
        return status;
    }
    struct reason what = {""};
    if (why != NULL) {
        what = *why;
    }
    return problem(v, why, "wrong: %s", what.text);
}

/* ---- trees ---- */

static enum status
check_trees(struct verification *v, struct reason *why)
{
    uint64_t counts[ORDER_COUNT];
    uint64_t sums[ORDER_COUNT][2];
    bool good = true;
    for (int order = 0; order < ORDER_COUNT; order++) {
        const enum status status = quads_check(v->partition->quads, (enum quad_order)order,
                                               &counts[order], sums[order], why);
        good = good && status == STATUS_OK;
        TRY(found(v, status, why));
    }
    for (int order = 1; order < ORDER_COUNT && good; order++) {
        if (counts[order] != counts[0] || memcmp(sums[order], sums[0], sizeof(sums[0])) != 0) {
            TRY(problem(v, why,
                        "wrong: tree %d holds other quads than tree 0 (%" PRIu64 " and %" PRIu64
                        ")",
                        order, counts[order], counts[0]));
        }
    }
    v->rows = counts[0];
    if (counts[0] != v->partition->totals.quads) {
        TRY(problem(v, why, "wrong: %" PRIu64 " quads are stored, %" PRIu64 " counted", counts[0],
                    v->partition->totals.quads));
    }
    return say(v, why, "trees: %" PRIu64 " quads in each of six orders", counts[0]);
}

/* ---- lexicon ---- */

static enum status
look_up_terms(struct verification *v, struct reason *why)
{
    TRY(lexicon_find_all(v->partition->lexicon, &v->terms, why));
    for (size_t i = 0; i < v->terms.count; i++) {
        if (v->terms.terms[i].id != v->ids[i]) {
            TRY(problem(v, why, "wrong: term %" PRIu64 " is found as %" PRIu64 ": %.*s",
                        oid_number(v->ids[i]), oid_number(v->terms.terms[i].id),
                        SLICE_PRINT(v->terms.terms[i].term.value)));
        }
    }
    term_set_reset(&v->terms);
    return STATUS_OK;
}

static enum status
check_term(void *context, oid id, const struct term *term, struct reason *why)
{
    struct verification *v = context;
    if (oid_kind(id) == OID_KIND_STRING || oid_kind(id) == OID_KIND_LANGUAGE) {
        v->strings++;
        v->id_sum += id;
    }
    const uint32_t index = term_set_add(&v->terms, term);
    if (index + 1 != v->terms.count) {
        return problem(v, why, "wrong: term %" PRIu64 " is stored twice", oid_number(id));
    }
    v->ids[index] = id;
    return v->terms.count == TERMS_AT_ONCE ? look_up_terms(v, why) : STATUS_OK;
}

static enum status
count_key(void *context, struct slice key, oid id, struct reason *why)
{
    (void)key;
    (void)id;
    (void)why;
    struct verification *v = context;
    v->keys++;
    return STATUS_OK;
}

static enum status
check_lexicon(struct verification *v, struct reason *why)
{
    struct lexicon *lexicon = v->partition->lexicon;
    term_set_init(&v->terms);
    v->ids = memory_alloc(TERMS_AT_ONCE * sizeof(*v->ids));
    /* What memory remembers must not stand in for what is stored. */
    enum status status = lexicon_forget(lexicon, why);
    if (status == STATUS_OK) {
        status = nodes_walk(lexicon_nodes(lexicon), 1, check_term, v, why);
    }
    if (status == STATUS_OK) {
        status = look_up_terms(v, why);
    }
    term_set_release(&v->terms);
    free(v->ids);
    TRY(found(v, status, why));
    TRY(found(v, lexicon_walk(lexicon, count_key, v, why), why));
    const uint64_t terms = nodes_next(lexicon_nodes(lexicon)) - 1;
    if (v->keys != terms) {
        TRY(problem(v, why, "wrong: %" PRIu64 " keys for %" PRIu64 " terms", v->keys, terms));
    }
    return say(v, why, "lexicon: %" PRIu64 " terms, each way", terms);
}

/* ---- documents ---- */

static enum status
sort_line(void *context, struct slice line, struct reason *why)
{
    return line_sort_add(context, line, why);
}

static enum status
check_document(struct verification *v, oid graph, const struct document_entry *entry,
               struct reason *why)
{
    struct line_sort *sort = line_sort_new(v->scratch_folder, v->sort_memory);
    struct buf lines;
    buf_init(&lines, SIZE_MAX / 2);
    const struct quad_oids pattern = {.graph = graph};
    uint64_t count = 0;
    enum status status = quad_lines(partition_reader_source(v->reader), &pattern, ORDER_CSPO, 0,
                                    sort_line, sort, why);
    if (status == STATUS_OK) {
        status = line_sort_finish(sort, why);
    }
    struct slice line;
    while (status == STATUS_OK && (status = line_sort_next(sort, &line, why)) == STATUS_OK) {
        (void)buf_append_slice(&lines, line);
        count++;
    }
    status = status == STATUS_END ? STATUS_OK : status;
    uint8_t digest[DIGEST_SHA256_SIZE];
    digest_sha256(buf_slice(&lines), digest);
    buf_release(&lines);
    line_sort_free(sort);
    TRY(status);
    if (count != entry->quads ||
        (!entry->patched && memcmp(digest, entry->digest, sizeof(digest)) != 0)) {
        return status_fail(why, STATUS_CORRUPT,
                           "document %" PRIu64 ": %" PRIu64 " quads, recorded %" PRIu64 "%s",
                           oid_number(graph), count, entry->quads,
                           count == entry->quads ? ", and the digest differs" : "");
    }
    return STATUS_OK;
}

static enum status
check_documents(struct verification *v, struct reason *why)
{
    uint64_t documents = 0;
    uint64_t quads = 0;
    struct document_entry entry;
    enum status status;
    oid graph = OID_NONE;
    while ((status = partition_reader_document(v->reader, &graph, &entry, why)) == STATUS_OK) {
        TRY(found(v, check_document(v, graph, &entry, why), why));
        documents += !entry.removed;
        quads += entry.quads;
        graph++;
    }
    TRY(found(v, status == STATUS_END ? STATUS_OK : status, why));
    if (documents != v->partition->totals.documents) {
        TRY(problem(v, why, "wrong: %" PRIu64 " documents are recorded, %" PRIu64 " counted",
                    documents, v->partition->totals.documents));
    }
    if (quads != v->rows) {
        TRY(problem(v, why, "wrong: documents have %" PRIu64 " quads, the trees %" PRIu64, quads,
                    v->rows));
    }
    return say(v, why, "documents: %" PRIu64 " with %" PRIu64 " quads, digests recomputed",
               documents, quads);
}

/* ---- statistics ---- */

struct counting {
    struct verification *v;
    enum statistic kind;
    oid id; /* the run's */
    uint64_t count, runs;
};

static enum status
end_run(struct counting *c, struct reason *why)
{
    if (c->id == OID_NONE) {
        return STATUS_OK;
    }
    struct statistic_count stored;
    TRY(statistics_count(c->v->partition->statistics, c->kind, c->id, &stored, why));
    c->runs++;
    return stored.quads == c->count
               ? STATUS_OK
               : problem(c->v, why, "wrong: %s %" PRIu64 " has %" PRIu64 " quads, counted %" PRIu64,
                         c->kind == STATISTIC_CLASS ? "class" : "predicate", oid_number(c->id),
                         c->count, stored.quads);
}

static enum status
count_runs(struct counting *c, const struct quad_oids *pattern, struct reason *why)
{
    const struct quad_source *source = partition_reader_source(c->v->reader);
    struct quad_scan *scan;
    TRY(source->scan(source->context, pattern, ORDER_POCS, &scan, why));
    struct quad_oids rows[1024];
    enum status status = STATUS_OK;
    for (size_t n = 1; n > 0 && status == STATUS_OK;) {
        status = source->scan_next(scan, rows, 1024, &n, why);
        for (size_t i = 0; i < n && status == STATUS_OK; i++) {
            const oid id = c->kind == STATISTIC_CLASS ? rows[i].object : rows[i].predicate;
            if (id != c->id) {
                status = end_run(c, why);
                c->id = id;
                c->count = 0;
            }
            c->count++;
        }
    }
    source->scan_close(scan);
    TRY(status);
    TRY(end_run(c, why));
    uint64_t stored = 0;
    struct statistic_count count;
    for (oid id = OID_NONE;
         statistics_next(c->v->partition->statistics, c->kind, &id, &count, NULL) == STATUS_OK;) {
        stored++;
    }
    return stored == c->runs
               ? STATUS_OK
               : problem(c->v, why,
                         "wrong: %" PRIu64 " counts for %" PRIu64 " predicates or classes", stored,
                         c->runs);
}

/* A line that a check of its own file found something wrong; without "wrong" it is news. */
static enum status
note_problem(void *context, bool wrong, const char *text, struct reason *why)
{
    struct verification *v = context;
    return wrong ? problem(v, why, "wrong: %s", text) : say(v, why, "%s", text);
}

static enum status
check_statistics(struct verification *v, struct reason *why)
{
    struct counting predicates = {.v = v, .kind = STATISTIC_PREDICATE};
    struct counting classes = {.v = v, .kind = STATISTIC_CLASS};
    const struct quad_oids all = {0};
    struct quad_oids typed = {0};
    const struct term type = term_iri(SLICE(RDF_TYPE));
    TRY(found(v, count_runs(&predicates, &all, why), why));
    TRY(lexicon_find(v->partition->lexicon, &type, &typed.predicate, why));
    if (typed.predicate != OID_NONE) {
        TRY(found(v, count_runs(&classes, &typed, why), why));
    }
    TRY(say(v, why, "statistics: %" PRIu64 " predicates, %" PRIu64 " classes", predicates.runs,
            classes.runs));
    return found(v, statistics_check(v->partition, v->reader, note_problem, v, why), why);
}

/* ---- literals ---- */

static enum status
check_literals(struct verification *v, struct reason *why)
{
    struct literals_search *search;
    uint64_t count = 0;
    uint64_t sum = 0;
    TRY(literals_search_open(&search, v->partition->folder, why));
    enum status status = literals_check(search, &count, &sum, why);
    literals_search_close(search);
    TRY(found(v, status, why));
    if (count != v->strings || sum != v->id_sum) {
        TRY(problem(v, why, "wrong: %" PRIu64 " literals can be searched, the lexicon has %" PRIu64,
                    count, v->strings));
    }
    if (v->strings != v->partition->totals.literals) {
        TRY(problem(v, why, "wrong: %" PRIu64 " string literals, counted %" PRIu64, v->strings,
                    v->partition->totals.literals));
    }
    return say(v, why, "literals: %" PRIu64 " can be searched", count);
}

static enum status
check_all(struct verification *v, struct reason *why)
{
    TRY(check_trees(v, why));
    TRY(check_lexicon(v, why));
    TRY(check_documents(v, why));
    TRY(check_statistics(v, why));
    return check_literals(v, why);
}

enum status
partition_verify(struct partition *partition, const char *scratch_folder, size_t sort_memory,
                 partition_report *report, void *context, struct reason *why)
{
    struct verification v = {.partition = partition,
                             .scratch_folder = scratch_folder,
                             .sort_memory = sort_memory,
                             .report = report,
                             .context = context};
    pthread_mutex_lock(&partition->writer);
    enum status status = partition_settle(partition, why);
    if (status == STATUS_OK) {
        status = partition_reader_open(&v.reader, partition, why);
    }
    if (status == STATUS_OK) {
        status = check_all(&v, why);
    }
    partition_reader_close(v.reader);
    pthread_mutex_unlock(&partition->writer);
    if (status == STATUS_OK && v.problems > 0) {
        return status_fail(why, STATUS_CORRUPT, "%s: %" PRIu64 " things are wrong",
                           partition->folder, v.problems);
    }
    return status;
}
