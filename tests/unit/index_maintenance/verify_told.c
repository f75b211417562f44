#include "tests/unit/index_maintenance/verify_told.h"

#include <errno.h>
#include <inttypes.h>

#include "base/memory.h"
#include "index/maintenance/statistics_check.h"
#include "index/read/quad_text.h"
#include "tests/unit/stand_in.h"

const char *const names[CALLS] = {"what waits", "a page",    "words",      "nodes",      "a term",
                                  "keys",       "rows",      "a document", "a host",     "subjects",
                                  "quads",      "changes",   "counts",     "statistics", "health",
                                  "no words",   "no reader", "no lock"};

struct told told;
struct partition partition;
struct buf report;
atomic_bool cancel;
struct reason why;

static enum status
ends(enum call call, struct reason *reason)
{
    if (++told.calls[call] != told.at || told.call != call) {
        return STATUS_OK;
    }
    if (told.cancelled) {
        atomic_store(&cancel, true);
        return STATUS_OK;
    }
    return status_fail(reason, told.ends, "%s: it failed", names[call]);
}

/* ---- the stores ---- */

STAND_IN(enum status, partition_merge_staged,
         (struct partition * of, uint64_t *added, struct reason *reason))
{
    assert_ptr_equal(of, &partition);
    assert_null(added);
    return ends(MERGE_STAGED, reason);
}

STAND_IN(enum status, partition_health, (struct partition * of, struct reason *reason))
{
    assert_ptr_equal(of, &partition);
    return ends(HEALTH, reason);
}

STAND_IN(enum status, partition_write_words, (struct partition * of, struct reason *reason))
{
    assert_ptr_equal(of, &partition);
    return ends(WRITE_WORDS, reason);
}

STAND_IN(void, partition_stats, (struct partition * of, struct partition_stats *stats))
{
    assert_ptr_equal(of, &partition);
    *stats = told.stats;
    told.stats.totals.terms += told.more_terms;
    told.more_terms = 0;
}

/* Each tree has 25 pages, which are copied ten at a time. Behind a page that fails there may be
 * more, also behind the last one. */
static max_align_t trees[TREES];

STAND_IN(struct tree *, environment_tree,
         (const struct environment *environment, const struct tree *after))
{
    (void)environment;
    return after == NULL                       ? (struct tree *)&trees[0]
           : after == (struct tree *)&trees[0] ? (struct tree *)&trees[1]
                                               : NULL;
}

STAND_IN(enum status, tree_copy_pages,
         (struct tree * tree, uint32_t *page, uint8_t *bytes, size_t most, size_t *length,
          bool *end, struct reason *reason))
{
    static uint32_t next;
    assert_true(tree == (struct tree *)&trees[0] || tree == (struct tree *)&trees[1]);
    assert_int_equal(*length, 0);
    assert_false(*end);
    memset(bytes, 1, most);
    next = told.calls[COPY_PAGES] == 0 || next > 25 ? 0 : next;
    assert_int_equal(*page, next);
    const enum status status = ends(COPY_PAGES, reason);
    if (status == STATUS_OK) {
        *page = *page + 10 < 25 ? *page + 10 : 25;
    }
    *end = *page == 25 || status != STATUS_OK;
    next = status != STATUS_OK ? *page + 1 : *page == 25 ? UINT32_MAX : *page;
    return status;
}

STAND_IN(enum status, literals_check,
         (struct literals * literals, struct nodes *nodes, const atomic_bool *cancelled,
          uint64_t *count, struct reason *reason))
{
    (void)literals, (void)nodes;
    assert_ptr_equal(cancelled, &cancel);
    *count = told.searched;
    return ends(WORDS, reason);
}

STAND_IN(struct nodes *, lexicon_nodes, (struct lexicon * lexicon))
{
    (void)lexicon;
    return NULL;
}

/* Every third is a string, the others are IRIs and texts in a language, in turn. */
static oid
id_of(uint64_t number)
{
    static const enum oid_kind kinds[] = {OID_KIND_STRING, OID_KIND_IRI, OID_KIND_LANGUAGE};
    return oid_stored(number, kinds[number % 3]);
}

STAND_IN(enum status, nodes_walk,
         (struct nodes * nodes, uint64_t first, nodes_visit *visit, void *context,
          struct reason *reason))
{
    (void)nodes;
    assert_int_equal(first > 0, 1);
    TRY(ends(NODES, reason));
    for (uint64_t i = first; i <= told.stored; i++) {
        static char text[4096];
        if (i == told.gap) {
            continue;
        }
        snprintf(text, sizeof text, "%" PRIu64 "%s", told.twice == i ? i - 2 : i,
                 told.text != NULL ? told.text : "");
        const struct term term = term_iri(slice_string(text));
        TRY(visit(context, id_of(i), &term, reason));
    }
    return STATUS_OK;
}

STAND_IN(enum status, lexicon_find_stored,
         (struct lexicon * lexicon, struct term_set *set, struct reason *reason))
{
    (void)lexicon;
    const unsigned call = told.calls[FIND_STORED];
    TRY(ends(FIND_STORED, reason));
    if (call < sizeof told.sets / sizeof told.sets[0]) {
        told.sets[call] = set->count;
    }
    for (size_t i = 0; i < set->count; i++) {
        struct slice rest = set->terms[i].term.value;
        const uint64_t number = slice_number(slice_next_word(&rest));
        set->terms[i].id = number == told.lost ? OID_NONE : id_of(number);
    }
    return STATUS_OK;
}

STAND_IN(enum status, lexicon_walk,
         (struct lexicon * lexicon, lexicon_visit *visit, void *context, struct reason *reason))
{
    (void)lexicon;
    for (uint64_t i = 1; i <= told.keys; i++) {
        TRY(visit(context, SLICE("key"), id_of(i), reason));
    }
    if (told.greatest > 0) {
        TRY(visit(context, SLICE("key"), id_of(told.greatest), reason));
    }
    return ends(KEYS, reason);
}

static void
tally_of(struct tally *tally, size_t count, const uint64_t *quads)
{
    *tally = (struct tally){.counts = memory_zero(count + 1, sizeof *tally->counts)};
    for (size_t i = 0; i < count; i++) {
        map_set(&tally->places, oid_stored(i + 1, OID_KIND_IRI), (uint32_t)i);
        tally->counts[i] = (int64_t)quads[i] + (i == 0 ? told.tallied : 0);
    }
}

STAND_IN(enum status, rolling_open,
         (struct rolling * rolling, struct partition *of, struct reason *reason))
{
    assert_ptr_equal(of, &partition);
    *rolling = (struct rolling){.partition = of};
    TRY(ends(OPEN, reason));
    tally_of(&rolling->predicates, told.predicates, told.predicate_quads);
    tally_of(&rolling->classes, told.classes, told.class_quads);
    return STATUS_OK;
}

STAND_IN(void, rolling_close, (struct rolling * rolling))
{
    map_release(&rolling->predicates.places);
    map_release(&rolling->classes.places);
    free(rolling->predicates.counts);
    free(rolling->classes.counts);
    told.opened++;
}

STAND_IN(enum status, rolling_lock, (struct rolling * rolling, struct reason *reason))
{
    assert_int_equal(pthread_mutex_lock(&rolling->partition->writer), 0);
    told.locked++;
    told.next_graph = rolling->next_graph;
    return ends(LOCK, reason);
}

/* Each tree takes two steps. */
STAND_IN(enum status, rolling_step,
         (struct rolling * rolling, enum quad_order order, bool *end, struct reason *reason))
{
    assert_int_equal(told.calls[STEP] / 2, told.call == STEP && told.ends == STATUS_CORRUPT
                                               ? told.calls[STEP] / 2
                                               : (unsigned)order);
    TRY(ends(STEP, reason));
    *end = rolling->trees[order].count > 0;
    rolling->trees[order] = told.trees[order];
    return STATUS_OK;
}

STAND_IN(enum status, rolling_document,
         (struct rolling * rolling, oid graph, const struct document_entry *entry,
          struct reason *reason))
{
    rolling->next_graph = graph + 1;
    assert_true(entry->quads > 0 || entry->removed);
    rolling->documents = told.documents;
    rolling->document_quads = told.document_quads;
    return ends(ROLLING_DOCUMENT, reason);
}

STAND_IN(enum status, rolling_subjects,
         (struct rolling * rolling, oid graph, struct reason *reason))
{
    assert_true(graph < rolling->next_graph);
    return ends(SUBJECTS, reason);
}

STAND_IN(enum status, partition_reader_document,
         (struct partition_reader * reader, oid *graph, struct document_entry *entry,
          struct reason *reason))
{
    assert_null(reader);
    assert_int_equal(pthread_mutex_trylock(&partition.writer), EBUSY);
    for (size_t i = 0; i < told.document_count; i++) {
        if (told.stored_documents[i].graph >= *graph) {
            *graph = told.stored_documents[i].graph;
            *entry = told.stored_documents[i].entry;
            return ends(DOCUMENT, reason);
        }
    }
    return STATUS_END;
}

STAND_IN(const struct quad_source *, partition_reader_source, (struct partition_reader * reader))
{
    assert_null(reader);
    return NULL;
}

/* Lines of a graph: they are not sorted, and the writer may write. */
STAND_IN(enum status, quad_lines,
         (const struct quad_source *source, const struct quad_oids *pattern, enum quad_order order,
          uint64_t limit, quad_line *line, void *context, struct reason *reason))
{
    assert_null(source);
    assert_int_equal(order, ORDER_CSPO);
    assert_int_equal(limit, 0);
    assert_true(pattern->graph > 0 && pattern->subject == 0 && pattern->predicate == 0 &&
                pattern->object == 0);
    assert_int_equal(pthread_mutex_trylock(&partition.writer), 0);
    assert_int_equal(pthread_mutex_unlock(&partition.writer), 0);
    for (size_t i = told.lines; i > 0; i--) {
        char text[32];
        snprintf(text, sizeof text, "line %03zu\n", i);
        TRY(line(context, slice_string(text), reason));
    }
    return ends(LINES_OF, reason);
}

STAND_IN(enum status, change_log_check,
         (struct change_log * log, uint64_t *batches, struct reason *reason))
{
    assert_null(log);
    *batches = told.batches;
    return ends(CHANGE_LOG, reason);
}

STAND_IN(const char *, quads_tree_name, (const struct quads *quads, enum quad_order order))
{
    static const char *const orders[] = {"spoc", "pocs", "ocsp", "cspo", "cpos", "ospc"};
    assert_null(quads);
    return orders[order];
}

STAND_IN(enum status, statistics_next,
         (struct tree * statistics, enum statistic kind, oid *id, struct statistic_count *count,
          struct reason *reason))
{
    assert_null(statistics);
    const bool of_predicates = kind == STATISTIC_PREDICATE;
    assert_true(of_predicates || kind == STATISTIC_CLASS);
    const uint64_t last = *id == OID_NONE ? 0 : oid_number(*id);
    TRY(ends(COUNTS, reason));
    if (last == told.counted) {
        return STATUS_END;
    }
    *id = oid_stored(last + 1, OID_KIND_IRI);
    count->quads = of_predicates ? told.predicate_quads[last] : told.class_quads[last];
    return STATUS_OK;
}

STAND_IN(enum status, statistics_compare,
         (struct partition * of, const struct census *census, statistics_say *say, void *context,
          struct reason *reason))
{
    assert_ptr_equal(of, &partition);
    assert_int_equal(census->sets.count, 0);
    TRY(ends(COMPARISON, reason));
    return say(context, false, "statistics: all of them", reason);
}

/* ---- verifying ---- */

static enum status
take_line(void *context, struct slice line, struct reason *reason)
{
    assert_ptr_equal(context, &report);
    if (++told.lines_reported == told.refused) {
        return status_fail(reason, STATUS_FULL, "no room for a line");
    }
    return buf_append_slice(&report, line);
}

static void
digest_of(size_t lines, uint8_t digest[DIGEST_SHA256_SIZE])
{
    struct buf text;
    buf_init(&text, 1 << 16);
    for (size_t i = 1; i <= lines; i++) {
        (void)buf_printf(&text, "line %03zu\n", i);
    }
    digest_sha256(buf_slice(&text), digest);
    buf_release(&text);
}

/* Seven terms, five quads in each tree, two documents with three lines each, one of them removed.
 */
int
begin_told(void **state)
{
    (void)state;
    memset(&told, 0, sizeof told);
    memset(&partition, 0, sizeof partition);
    assert_int_equal(pthread_mutex_init(&partition.writer, NULL), 0);
    partition.folder = (char *)"here";
    buf_init(&report, REPORT_MOST);
    atomic_store(&cancel, false);
    told.stored = told.keys = told.stats.totals.terms = 7;
    told.stats.totals.quads = told.document_quads = 5;
    told.stats.totals.documents = told.documents = 2;
    told.stats.totals.literals = 4; /* 2, 3, 5, 6 */
    for (int order = 0; order < ORDER_COUNT; order++) {
        told.trees[order] = (struct rolling_tree){.count = 5, .sums = {11, 12}};
    }
    told.lines = 3;
    told.document_count = 2;
    for (size_t i = 0; i < 2; i++) {
        told.stored_documents[i].graph = 10 + i;
        told.stored_documents[i].entry.quads = 3;
        digest_of(3, told.stored_documents[i].entry.digest);
    }
    told.counted = told.predicates = told.classes = 2;
    told.predicate_quads[0] = told.class_quads[1] = 2;
    told.predicate_quads[1] = told.class_quads[0] = 3;
    told.searched = 4;
    told.batches = 9;
    return 0;
}

int
end_told(void **state)
{
    (void)state;
    buf_release(&report);
    assert_int_equal(pthread_mutex_destroy(&partition.writer), 0);
    return 0;
}

enum status
verify_told(void)
{
    buf_reset(&report);
    why.text[0] = '\0';
    told.opened = told.locked = told.lines_reported = 0;
    memset(told.calls, 0, sizeof told.calls);
    const enum status status =
        partition_verify(&partition, "/tmp", 1 << 20, &cancel, take_line, &report, &why);
    (void)buf_append_char(&report, '\0');
    assert_int_equal(pthread_mutex_trylock(&partition.writer), 0);
    assert_int_equal(pthread_mutex_unlock(&partition.writer), 0);
    return status;
}
