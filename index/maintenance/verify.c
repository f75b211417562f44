/* Verifies that what is stored agrees with itself, and with the checksums of its pages:
 *
 *   pages       each page of each file has the checksum it was written with
 *   literals    words are in order; they are exactly those of the lexicon's string literals
 *   lexicon     numbers without gap; each term is found again under its key, and no key more
 *   trees       rows ascend and keep their fences; six times the same set, as many as counted
 *   documents   each graph's rows give the count and digest recorded; no rows of other graphs
 *   statistics  counts per predicate, class, host and set of predicates are those of the rows
 *   change log  batches without gap, each with the changes it says
 *
 * Batches and queries go on: all is looked at in short steps, and what batches change meanwhile is
 * added to and taken from what was counted (verify_rolling.h); so the result is that of one commit,
 * the last before the end. A batch waits for a step at the end, of some milliseconds. All checks
 * run even when one finds something, but for damaged pages: Berkeley DB refuses to go on when it
 * meets one. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/maintenance/statistics_check.h"
#include "index/maintenance/verify_rolling.h"
#include "index/read/quad_text.h"
#include "store/line_sort.h"

enum {
    LINE_SIZE = 700,
    PAGES_BYTES = 128 << 10,
    TERMS_AT_ONCE = 50000,
    TERMS_LEFT = 20000, /* that a batch may have to wait for */
    DOCUMENTS_AT_ONCE = 256,
    QUADS_AT_ONCE = 100000,
    PROBLEMS_SHOWN = 100
};

struct verification {
    struct partition *partition;
    bool change_log_checked;
    const char *scratch_folder;
    size_t sort_memory;
    const atomic_bool *cancel;
    partition_report *report;
    void *context;
    uint64_t problems;
    struct rolling rolling;
    uint64_t terms;      /* looked at: numbers up to this */
    uint64_t limit;      /* of the walk that is under way */
    uint64_t strings;    /* string literals among them */
    uint64_t searched;   /* whose words were compared */
    struct term_set set; /* of the lexicon, waiting to be looked up */
    oid *ids;
    uint64_t keys, greatest; /* of the tree of terms */
};

__attribute__((format(printf, 3, 4))) static enum status
report_line(struct verification *v, struct reason *why, const char *format, ...)
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
    ((v)->problems++ < PROBLEMS_SHOWN ? report_line(v, why, "wrong: " __VA_ARGS__) : STATUS_OK)

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
    return problem(v, why, "%s", what.text);
}

static enum status
check_cancelled(const struct verification *v, struct reason *why)
{
    return atomic_load(v->cancel) ? status_fail(why, STATUS_CANCELLED, "verifying was ended")
                                  : STATUS_OK;
}

static struct totals
committed(const struct verification *v)
{
    struct partition_stats stats;
    partition_stats(v->partition, &stats);
    return stats.totals;
}

/* ---- pages ---- */

static enum status
check_pages_of(struct verification *v, struct tree *tree, uint8_t *bytes, uint64_t *pages,
               struct reason *why)
{
    uint32_t page = 0;
    for (bool end = false; !end;) {
        size_t length = 0;
        const enum status status =
            tree_copy_pages(tree, &page, bytes, PAGES_BYTES, &length, &end, why);
        TRY(found(v, status, why));
        if (status == STATUS_CORRUPT) {
            page++;
            end = false;
        }
        TRY(check_cancelled(v, why));
    }
    *pages += page;
    return STATUS_OK;
}

static enum status
check_pages(struct verification *v, struct reason *why)
{
    const struct environment *environment = v->partition->environment;
    uint8_t *bytes = memory_alloc(PAGES_BYTES);
    uint64_t pages = 0;
    enum status status = STATUS_OK;
    for (struct tree *tree = environment_tree(environment, NULL);
         tree != NULL && status == STATUS_OK; tree = environment_tree(environment, tree)) {
        status = check_pages_of(v, tree, bytes, &pages, why);
    }
    free(bytes);
    TRY(status);
    return report_line(v, why, "pages: %" PRIu64 " with their checksums", pages);
}

/* ---- lexicon ---- */

static enum status
look_up_terms(struct verification *v, struct reason *why)
{
    TRY(check_cancelled(v, why));
    TRY(lexicon_find_stored(v->partition->lexicon, &v->set, why));
    for (size_t i = 0; i < v->set.count; i++) {
        if (v->set.terms[i].id != v->ids[i]) {
            TRY(problem(v, why, "term %" PRIu64 " is found as %" PRIu64 ": %.*s",
                        oid_number(v->ids[i]), oid_number(v->set.terms[i].id),
                        SLICE_PRINT(v->set.terms[i].term.value)));
        }
    }
    term_set_reset(&v->set);
    return STATUS_OK;
}

static enum status
check_term(void *context, oid id, const struct term *term, struct reason *why)
{
    struct verification *v = context;
    const uint64_t number = oid_number(id);
    if (number > v->limit) {
        return STATUS_END;
    }
    if (number != v->terms + 1) {
        return status_fail(why, STATUS_CORRUPT, "no term has the number %" PRIu64, v->terms + 1);
    }
    v->terms = number;
    if (oid_kind(id) == OID_KIND_STRING || oid_kind(id) == OID_KIND_LANGUAGE) {
        v->strings++;
    }
    const uint32_t index = term_set_add(&v->set, term);
    if (index + 1 != v->set.count) {
        return problem(v, why, "term %" PRIu64 " is stored twice", number);
    }
    v->ids[index] = id;
    return v->set.count == TERMS_AT_ONCE ? look_up_terms(v, why) : STATUS_OK;
}

/* Goes on to the terms committed so far. */
static enum status
check_terms(struct verification *v, struct reason *why)
{
    struct nodes *nodes = lexicon_nodes(v->partition->lexicon);
    v->limit = committed(v).terms;
    enum status status = nodes_walk(nodes, v->terms + 1, check_term, v, why);
    if (status == STATUS_OK || status == STATUS_END) {
        status = look_up_terms(v, why);
    }
    term_set_reset(&v->set);
    TRY(found(v, status, why));
    if (v->terms < v->limit) {
        TRY(problem(v, why, "%" PRIu64 " terms are stored, %" PRIu64 " counted", v->terms,
                    v->limit));
        v->terms = v->limit;
    }
    return STATUS_OK;
}

static enum status
count_key(void *context, struct slice key, oid id, struct reason *why)
{
    (void)key;
    (void)why;
    struct verification *v = context;
    const uint64_t number = oid_number(id);
    v->keys += number <= v->limit;
    v->greatest = number > v->greatest ? number : v->greatest;
    return STATUS_OK;
}

static enum status
check_keys(struct verification *v, struct reason *why)
{
    v->limit = v->terms;
    TRY(found(v, lexicon_walk(v->partition->lexicon, count_key, v, why), why));
    return v->keys == v->limit
               ? STATUS_OK
               : problem(v, why, "%" PRIu64 " keys for %" PRIu64 " terms", v->keys, v->limit);
}

static enum status
check_lexicon(struct verification *v, struct reason *why)
{
    do {
        TRY(check_terms(v, why));
    } while (committed(v).terms > v->terms + TERMS_LEFT);
    return check_keys(v, why);
}

/* ---- trees ---- */

static enum status
check_trees(struct verification *v, struct reason *why)
{
    for (int order = 0; order < ORDER_COUNT; order++) {
        for (bool end = false; !end;) {
            TRY(check_cancelled(v, why));
            const enum status status = rolling_step(&v->rolling, (enum quad_order)order, &end, why);
            TRY(found(v, status, why));
            end = end || status != STATUS_OK; /* its count will be wrong, too */
        }
    }
    return STATUS_OK;
}

static enum status
compare_trees(struct verification *v, const struct totals *totals, struct reason *why)
{
    const struct rolling_tree *trees = v->rolling.trees;
    for (int order = 1; order < ORDER_COUNT; order++) {
        if (trees[order].count != trees[0].count ||
            memcmp(trees[order].sums, trees[0].sums, sizeof(trees[0].sums)) != 0) {
            TRY(problem(v, why, "tree %s holds other quads than %s (%" PRIu64 " and %" PRIu64 ")",
                        quads_tree_name(v->partition->quads, (enum quad_order)order),
                        quads_tree_name(v->partition->quads, 0), trees[order].count,
                        trees[0].count));
        }
    }
    if (trees[0].count != totals->quads) {
        TRY(problem(v, why, "%" PRIu64 " quads are stored, %" PRIu64 " counted", trees[0].count,
                    totals->quads));
    }
    return report_line(v, why, "trees: %" PRIu64 " quads in each of six orders", trees[0].count);
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
    enum status status = quad_lines(partition_reader_source(v->rolling.reader), &pattern,
                                    ORDER_CSPO, 0, sort_line, sort, why);
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

/* Documents as of one commit. */
struct some_documents {
    oid graphs[DOCUMENTS_AT_ONCE];
    struct document_entry entries[DOCUMENTS_AT_ONCE];
    size_t count;
    bool end;
};

/* The writer is kept away, so that the records are those of the snapshot. */
static enum status
take_documents(struct verification *v, struct some_documents *some, struct reason *why)
{
    struct rolling *r = &v->rolling;
    uint64_t quads = 0;
    while (some->count < DOCUMENTS_AT_ONCE && quads < QUADS_AT_ONCE) {
        oid graph = r->next_graph;
        struct document_entry *entry = &some->entries[some->count];
        const enum status status = partition_reader_document(r->reader, &graph, entry, why);
        if (status == STATUS_END) {
            r->next_graph = UINT64_MAX;
            some->end = true;
            return STATUS_OK;
        }
        if (status == STATUS_OK) {
            TRY(found(v, rolling_document(r, graph, entry, why), why));
            quads += entry->quads;
            some->graphs[some->count++] = graph;
        } else {
            r->next_graph = graph + 1;
            TRY(found(v, status, why));
        }
    }
    return STATUS_OK;
}

static enum status
check_documents(struct verification *v, struct reason *why)
{
    struct some_documents *some = memory_alloc(sizeof(*some));
    enum status status = STATUS_OK;
    some->end = false;
    while (!some->end && status == STATUS_OK) {
        some->count = 0;
        status = rolling_lock(&v->rolling, why);
        if (status == STATUS_OK) {
            status = take_documents(v, some, why);
        }
        pthread_mutex_unlock(&v->partition->writer);
        for (size_t i = 0; i < some->count && status == STATUS_OK; i++) {
            status = found(v, check_document(v, some->graphs[i], &some->entries[i], why), why);
            if (status == STATUS_OK) {
                status = found(v, rolling_subjects(&v->rolling, some->graphs[i], why), why);
            }
        }
        if (status == STATUS_OK) {
            status = check_cancelled(v, why);
        }
    }
    free(some);
    return status;
}

static enum status
compare_documents(struct verification *v, const struct totals *totals, struct reason *why)
{
    const struct rolling *r = &v->rolling;
    if (r->documents != totals->documents) {
        TRY(problem(v, why, "%" PRIu64 " documents are recorded, %" PRIu64 " counted", r->documents,
                    totals->documents));
    }
    if (r->document_quads != r->trees[0].count) {
        TRY(problem(v, why, "documents have %" PRIu64 " quads, the trees %" PRIu64,
                    r->document_quads, r->trees[0].count));
    }
    return report_line(v, why, "documents: %" PRIu64 " with %" PRIu64 " quads, digests recomputed",
                       r->documents, r->document_quads);
}

/* ---- statistics ---- */

static enum status
compare_counts(struct verification *v, enum statistic kind, const struct tally *tally,
               struct reason *why)
{
    const char *name = kind == STATISTIC_CLASS ? "class" : "predicate";
    struct statistic_count count;
    uint64_t stored = 0, counted = 0;
    enum status status;
    for (oid id = OID_NONE; (status = statistics_next(v->partition->statistics, kind, &id, &count,
                                                      why)) == STATUS_OK;) {
        stored++;
        if ((int64_t)count.quads != tally_count(tally, id)) {
            TRY(problem(v, why, "%s %" PRIu64 " has %" PRId64 " quads, counted %" PRIu64, name,
                        oid_number(id), tally_count(tally, id), count.quads));
        }
    }
    TRY(found(v, status == STATUS_END ? STATUS_OK : status, why));
    for (size_t i = 0; i < tally->places.count; i++) {
        counted += tally->counts[i] != 0;
    }
    return stored == counted
               ? report_line(v, why, "statistics: %" PRIu64 " of kind %s", stored, name)
               : problem(v, why, "%" PRIu64 " counts for %" PRIu64 " of kind %s", stored, counted,
                         name);
}

/* A line that a check of its own file found something wrong; without "wrong" it is news. */
static enum status
note_problem(void *context, bool wrong, const char *text, struct reason *why)
{
    struct verification *v = context;
    return wrong ? problem(v, why, "%s", text) : report_line(v, why, "%s", text);
}

static enum status
compare_statistics(struct verification *v, struct reason *why)
{
    TRY(compare_counts(v, STATISTIC_PREDICATE, &v->rolling.predicates, why));
    TRY(compare_counts(v, STATISTIC_CLASS, &v->rolling.classes, why));
    census_finish(&v->rolling.census);
    return found(v, statistics_compare(v->partition, &v->rolling.census, note_problem, v, why),
                 why);
}

/* ---- literals ---- */

static enum status
check_literals(struct verification *v, struct reason *why)
{
    struct partition *partition = v->partition;
    TRY(partition_write_words(partition, why));
    return found(v,
                 literals_check(partition->literals, lexicon_nodes(partition->lexicon), v->cancel,
                                &v->searched, why),
                 why);
}

static enum status
compare_literals(struct verification *v, const struct totals *totals, struct reason *why)
{
    if (v->strings != totals->literals) {
        TRY(problem(v, why, "%" PRIu64 " string literals, counted %" PRIu64, v->strings,
                    totals->literals));
    }
    return report_line(v, why, "literals: words of %" PRIu64 ", each way", v->searched);
}

/* ---- change log ---- */

/* While the writer goes on it may take away what is being read; then it is looked at again when the
 * writer is kept away. */
static enum status
check_change_log(struct verification *v, bool writer_away, struct reason *why)
{
    uint64_t batches = 0;
    if (v->change_log_checked) {
        return STATUS_OK;
    }
    enum status status = change_log_check(v->partition->change_log, &batches, why);
    if (status == STATUS_STALE && !writer_away) {
        return STATUS_OK;
    }
    v->change_log_checked = true;
    TRY(found(v, status == STATUS_STALE ? STATUS_CORRUPT : status, why));
    return report_line(v, why, "change log: %" PRIu64 " batches", batches);
}

/* ---- all ---- */

/* The writer is kept away. */
static enum status
compare_all(struct verification *v, struct reason *why)
{
    const struct totals totals = committed(v);
    TRY(check_terms(v, why));
    if (v->greatest > v->terms) {
        TRY(problem(v, why, "a key leads to term %" PRIu64 " of %" PRIu64, v->greatest, v->terms));
    }
    TRY(report_line(v, why, "lexicon: %" PRIu64 " terms, each way", v->terms));
    TRY(compare_literals(v, &totals, why));
    TRY(compare_trees(v, &totals, why));
    TRY(compare_documents(v, &totals, why));
    TRY(check_change_log(v, true, why));
    return compare_statistics(v, why);
}

static enum status
check_all(struct verification *v, struct reason *why)
{
    TRY(check_pages(v, why));
    if (v->problems > 0) {
        return report_line(v, why, "the rest was not looked at");
    }
    TRY(check_literals(v, why));
    TRY(check_lexicon(v, why));
    TRY(check_trees(v, why));
    TRY(check_documents(v, why));
    TRY(check_change_log(v, false, why));
    enum status status = rolling_lock(&v->rolling, why);
    if (status == STATUS_OK) {
        status = compare_all(v, why);
    }
    pthread_mutex_unlock(&v->partition->writer);
    return status;
}

enum status
partition_verify(struct partition *partition, const char *scratch_folder, size_t sort_memory,
                 const atomic_bool *cancel, partition_report *report, void *context,
                 struct reason *why)
{
    struct verification v = {.partition = partition,
                             .scratch_folder = scratch_folder,
                             .sort_memory = sort_memory,
                             .cancel = cancel,
                             .report = report,
                             .context = context};
    TRY(found(&v, partition_merge_staged(partition, NULL, why), why));
    TRY(partition_health(partition, why));
    term_set_init(&v.set);
    v.ids = memory_alloc(TERMS_AT_ONCE * sizeof(*v.ids));
    enum status status = rolling_open(&v.rolling, partition, why);
    if (status == STATUS_OK) {
        status = check_all(&v, why);
    }
    free(v.ids);
    term_set_release(&v.set);
    rolling_close(&v.rolling);
    if (status == STATUS_OK && v.problems > 0) {
        return status_fail(why, STATUS_CORRUPT, "%s: %" PRIu64 " things are wrong",
                           partition->folder, v.problems);
    }
    return status;
}
