/* Verifying (index/maintenance/verify.c) over stores that say what a test tells them: each line of
 * its report, each thing that can be wrong, each step that can fail, and how much it does at once.
 * The linker puts the functions below in the place of those of the stores. */
#include "tests/unit/index_maintenance/verify_told.h"

#include <inttypes.h>

static const char *const well[] = {"pages: 50 with their checksums\n",
                                   "change log: 9 batches\n",
                                   "lexicon: 7 terms, each way\n",
                                   "literals: words of 4, each way\n",
                                   "trees: 5 quads in each of six orders\n",
                                   "documents: 2 with 5 quads, digests recomputed\n",
                                   "statistics: 2 of kind predicate\n",
                                   "statistics: 2 of kind class\n",
                                   "statistics: all of them\n"};
enum { WELL = sizeof well / sizeof well[0] };

static void
expect_well(void)
{
    char text[1024] = "";
    if (verify_told() != STATUS_OK) {
        fail_msg("%s\n%s", why.text, report.data);
    }
    for (size_t i = 0; i < WELL; i++) {
        strcat(text, well[i]);
    }
    assert_string_equal(report.data, text);
    assert_int_equal(told.opened, 1);
}

/* The report has these lines, and so many things are wrong. */
static void
expect_wrong(unsigned things, const char *lines)
{
    char text[64];
    assert_int_equal(verify_told(), STATUS_CORRUPT);
    snprintf(text, sizeof text, "here: %u things are wrong", things);
    assert_string_equal(why.text, text);
    struct buf wrong;
    buf_init(&wrong, REPORT_MOST);
    struct slice rest = slice_of(report.data, report.length - 1);
    while (rest.length > 0) {
        const struct slice line = slice_take(&rest, '\n');
        if (slice_starts(line, SLICE("wrong: "))) {
            (void)buf_printf(&wrong, "%.*s\n", (int)line.length - 7, line.at + 7);
        }
    }
    (void)buf_append_char(&wrong, '\0');
    assert_string_equal(wrong.data, lines);
    buf_release(&wrong);
}

static void
what_is_well_is_reported(void **state)
{
    (void)state;
    expect_well();
    assert_true(told.next_graph == UINT64_MAX); /* all documents are counted */
    told.stored_documents[0].entry.removed = true;
    told.stored_documents[1].entry.patched = true;
    told.stored_documents[1].entry.digest[0] ^= 1; /* nobody keeps one of what was patched */
    expect_well();
    told.stored = 20; /* which are not committed */
    told.greatest = 7;
    told.keys = 6;
    expect_well();
}

/* Each step that fails ends it, or is what is wrong. */
static void
each_step_can_fail(void **state)
{
    (void)state;
    for (enum call call = 0; call < CALLS; call++) {
        char text[64];
        told.call = call;
        told.ends = STATUS_SYSTEM;
        told.at = 0;
        expect_well();
        const unsigned calls = told.calls[call];
        assert_true(calls > 0);
        snprintf(text, sizeof text, "%s: it failed", names[call]);
        for (told.at = 1; told.at <= calls; told.at++) {
            assert_int_equal(verify_told(), STATUS_SYSTEM);
            assert_string_equal(why.text, text);
            assert_int_equal(told.opened, call != MERGE_STAGED && call != HEALTH);
            assert_null(strstr(report.data, "wrong:"));
        }
        told.ends = STATUS_CORRUPT;
        for (told.at = 1; told.at <= calls; told.at++) {
            assert_int_equal(verify_told(), STATUS_CORRUPT);
            if (call >= FOUND_CALLS) {
                assert_string_equal(why.text, text);
                assert_null(strstr(report.data, "wrong:"));
            } else {
                char line[80];
                snprintf(line, sizeof line, "wrong: %s\n", text);
                assert_non_null(strstr(report.data, line));
                assert_null(strstr(strstr(report.data, line) + 1, line));
                assert_non_null(strstr(why.text, "things are wrong"));
            }
            if (call == STEP) { /* the rest of that tree is not looked at */
                assert_int_equal(told.calls[STEP], calls - told.at % 2);
            }
            if (call == DOCUMENT) { /* the other one is */
                assert_int_equal(told.calls[DOCUMENT], 2);
                assert_int_equal(told.calls[LINES_OF], 1);
            }
        }
    }
}

/* After a damaged page the one behind it is looked at, but none of what is in them. */
static void
damaged_pages_end_it(void **state)
{
    (void)state;
    told.call = COPY_PAGES;
    told.ends = STATUS_CORRUPT;
    told.at = 2;
    assert_int_equal(verify_told(), STATUS_CORRUPT);
    assert_string_equal(why.text, "here: 1 things are wrong");
    assert_string_equal(report.data, "wrong: a page: it failed\npages: 50 with their checksums\n"
                                     "the rest was not looked at\n");
    assert_int_equal(told.calls[COPY_PAGES], 7);
    assert_int_equal(told.calls[NODES], 0);
}

static void
a_report_that_is_not_taken_ends_it(void **state)
{
    (void)state;
    for (told.refused = 1; told.refused <= WELL; told.refused++) {
        assert_int_equal(verify_told(), STATUS_FULL);
        assert_string_equal(why.text, "no room for a line");
        assert_int_equal(told.lines_reported, told.refused);
        assert_int_equal(told.opened, 1);
    }
}

static void
what_is_wrong_is_counted_beyond_what_is_shown(void **state)
{
    (void)state;
    struct buf lines;
    buf_init(&lines, REPORT_MOST);
    told.document_count = 150;
    for (size_t i = 0; i < 150; i++) {
        told.stored_documents[i].graph = oid_stored(1000 + i, OID_KIND_IRI);
        told.stored_documents[i].entry.quads = 4;
        if (i < 100) {
            (void)buf_printf(&lines, "document %zu: 3 quads, recorded 4\n", 1000 + i);
        }
    }
    (void)buf_append_char(&lines, '\0');
    expect_wrong(150, lines.data);
    buf_release(&lines);
}

/* ---- what is wrong ---- */

static void
wrong_terms(void **state)
{
    (void)state;
    static const uint64_t lost[] = {1, 5, 7};
    for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++) {
        char line[64];
        told.lost = lost[i];
        snprintf(line, sizeof line, "term %" PRIu64 " is found as 0: %" PRIu64 "\n", lost[i],
                 lost[i]);
        expect_wrong(1, line);
    }
    told.lost = 0;
    told.twice = 6;
    expect_wrong(1, "term 6 is stored twice\n");
    told.twice = 0;
    told.gap = 4;
    expect_wrong(3, "no term has the number 4\n3 terms are stored, 7 counted\n"
                    "2 string literals, counted 4\n");
    assert_int_equal(told.sets[0], 0); /* those before it are not looked up with later ones */
}

static void
wrong_keys(void **state)
{
    (void)state;
    told.keys = 8; /* one is newer than what is looked at */
    expect_wrong(1, "a key leads to term 8 of 7\n");
    told.keys = 6;
    expect_wrong(1, "6 keys for 7 terms\n");
    told.greatest = 3;
    expect_well();
    told.greatest = 9;
    expect_wrong(2, "6 keys for 7 terms\na key leads to term 9 of 7\n");
}

static void
wrong_trees(void **state)
{
    (void)state;
    for (int order = 1; order < ORDER_COUNT; order++) {
        static const char *const orders[] = {"spoc", "pocs", "ocsp", "cspo", "cpos", "ospc"};
        char line[96];
        snprintf(line, sizeof line, "tree %s holds other quads than spoc (5 and 5)\n",
                 orders[order]);
        for (int i = 0; i < 2; i++) {
            told.trees[order].sums[i]++;
            expect_wrong(1, line);
            told.trees[order].sums[i]--;
        }
        snprintf(line, sizeof line, "tree %s holds other quads than spoc (6 and 5)\n",
                 orders[order]);
        told.trees[order].count++;
        expect_wrong(1, line);
        told.trees[order].count--;
    }
    told.stats.totals.quads = 6;
    expect_wrong(1, "5 quads are stored, 6 counted\n");
}

static void
wrong_documents(void **state)
{
    (void)state;
    struct document *documents = told.stored_documents;
    documents[0].graph = oid_stored(12, OID_KIND_IRI);
    documents[1].graph = oid_stored(13, OID_KIND_IRI);
    documents[0].entry.quads = 2;
    documents[1].entry.digest[DIGEST_SHA256_SIZE - 1]++;
    expect_wrong(2, "document 12: 3 quads, recorded 2\n"
                    "document 13: 3 quads, recorded 3, and the digest differs\n");
    documents[0].entry.patched = true;
    documents[1].entry.patched = true;
    expect_wrong(1, "document 12: 3 quads, recorded 2\n");
    documents[0].entry.quads = 3;
    told.documents = 3;
    expect_wrong(1, "3 documents are recorded, 2 counted\n");
    told.documents = 2;
    told.document_quads = 6;
    expect_wrong(1, "documents have 6 quads, the trees 5\n");
}

static void
wrong_statistics(void **state)
{
    (void)state;
    told.tallied = 1;
    expect_wrong(2, "predicate 1 has 3 quads, counted 2\nclass 1 has 4 quads, counted 3\n");
    told.tallied = -2; /* of the predicate there is nothing */
    expect_wrong(3, "predicate 1 has 0 quads, counted 2\n2 counts for 1 of kind predicate\n"
                    "class 1 has 1 quads, counted 3\n");
    told.tallied = 0;
    told.predicates = told.classes = 1;
    expect_wrong(4, "predicate 2 has 0 quads, counted 3\n2 counts for 1 of kind predicate\n"
                    "class 2 has 0 quads, counted 2\n2 counts for 1 of kind class\n");
    told.predicates = told.classes = 2;
    told.counted = 1;
    expect_wrong(2, "1 counts for 2 of kind predicate\n1 counts for 2 of kind class\n");
    told.counted = 2;
    told.stats.totals.literals = 5;
    expect_wrong(1, "4 string literals, counted 5\n");
}

/* What the writer takes away while it is read is looked at when it is kept away, and then has to
 * be there. */
static void
a_change_log_that_is_written_to(void **state)
{
    (void)state;
    told.call = CHANGE_LOG;
    told.ends = STATUS_STALE;
    told.at = 1;
    assert_int_equal(verify_told(), STATUS_OK);
    assert_int_equal(told.calls[CHANGE_LOG], 2);
    assert_non_null(strstr(report.data, "quads, digests recomputed\nchange log: 9 batches\n"));
    told.at = 0;
    expect_well();
    assert_int_equal(told.calls[CHANGE_LOG], 1);
}

/* ---- how much at once ---- */

static void
verifying_can_be_ended_at_any_step(void **state)
{
    (void)state;
    atomic_store(&cancel, true);
    assert_int_equal(verify_told(), STATUS_CANCELLED);
    assert_string_equal(why.text, "verifying was ended");
    assert_int_equal(told.calls[COPY_PAGES], 1);
    assert_int_equal(told.opened, 1);
    told.cancelled = true;
    told.at = 1;
    told.document_count = 300;
    for (size_t i = 2; i < 300; i++) {
        told.stored_documents[i] = told.stored_documents[0];
        told.stored_documents[i].graph = 10 + i;
    }
    told.stored = told.keys = told.stats.totals.terms = 50001;
    static const enum call calls[] = {COPY_PAGES, FIND_STORED, STEP, LINES_OF};
    static const unsigned most[] = {1, 1, 1, 256};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        atomic_store(&cancel, false);
        told.call = calls[i];
        assert_int_equal(verify_told(), STATUS_CANCELLED);
        assert_in_range(told.calls[calls[i]], 1, most[i]);
        assert_int_equal(told.opened, 1);
    }
}

/* Lines are cut where there is no more room for them. */
static void
long_lines(void **state)
{
    (void)state;
    enum { ROOM = 699 }; /* with the end of the line */
    static char text[2000];
    const char *start = "wrong: term 5 is found as 0: 5 ";
    told.lost = 5;
    for (size_t length = ROOM - 3; length < ROOM + 4; length++) {
        memset(text, 'x', sizeof text);
        text[0] = ' ';
        text[length - strlen(start) + 1] = '\0';
        told.text = text;
        assert_int_equal(verify_told(), STATUS_CORRUPT);
        const char *line = strstr(report.data, start);
        assert_non_null(line);
        const size_t found = (size_t)(strchr(line, '\n') - line);
        assert_int_equal(strlen(line) >= found, 1);
        assert_int_equal(found, length < ROOM ? length : ROOM - 1);
        assert_int_equal(line[found - 1], 'x');
    }
}

/* Terms are looked up so many at a time as memory is set aside for, and what batches add meanwhile
 * before the writer has to wait for it. */
static void
many_terms(void **state)
{
    (void)state;
    enum { AT_ONCE = 50000, LEFT = 20000 };
    told.stored = told.keys = told.stats.totals.terms = AT_ONCE + 1;
    told.stats.totals.literals = 2 * ((AT_ONCE + 1) / 3);
    told.stats.totals.literals += (AT_ONCE + 1) % 3 == 2;
    assert_int_equal(verify_told(), STATUS_OK);
    assert_int_equal(told.sets[0], AT_ONCE);
    assert_int_equal(told.sets[1], 1);
    assert_int_equal(told.calls[NODES], 2);
    for (uint64_t more = LEFT; more <= LEFT + 1; more++) {
        char line[64];
        told.stored = 7 + more;
        told.stats.totals.terms = 7;
        told.more_terms = more;
        told.keys = more == LEFT ? 7 : 7 + more;
        (void)verify_told();
        assert_int_equal(told.calls[NODES], more == LEFT ? 2 : 3);
        assert_null(strstr(report.data, " keys for "));
        snprintf(line, sizeof line, "lexicon: %" PRIu64 " terms, each way\n", 7 + more);
        assert_non_null(strstr(report.data, line));
    }
}

/* The writer is kept away while so many records of documents are read, or documents with so many
 * quads. */
static void
many_documents(void **state)
{
    (void)state;
    static const struct {
        size_t documents;
        uint64_t quads;
        unsigned locked; /* that often, once to compare */
    } cases[] = {{255, 3, 2}, {256, 3, 3}, {300, 3, 3}, {600, 3, 4}, {3, 50000, 3}, {3, 33333, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        told.document_count = cases[i].documents;
        for (size_t k = 0; k < told.document_count; k++) {
            told.stored_documents[k] = told.stored_documents[0];
            told.stored_documents[k].graph = 10 + k;
            told.stored_documents[k].entry.quads = cases[i].quads;
        }
        assert_int_equal(verify_told(), cases[i].quads == 3 ? STATUS_OK : STATUS_CORRUPT);
        assert_int_equal(told.calls[LINES_OF], cases[i].documents);
        assert_int_equal(told.calls[SUBJECTS], cases[i].documents);
        assert_int_equal(told.locked, cases[i].locked);
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin_told, end_told)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_is_well_is_reported),
        CASE(each_step_can_fail),
        CASE(damaged_pages_end_it),
        CASE(a_report_that_is_not_taken_ends_it),
        CASE(what_is_wrong_is_counted_beyond_what_is_shown),
        CASE(wrong_terms),
        CASE(wrong_keys),
        CASE(wrong_trees),
        CASE(wrong_documents),
        CASE(wrong_statistics),
        CASE(a_change_log_that_is_written_to),
        CASE(verifying_can_be_ended_at_any_step),
        CASE(long_lines),
        CASE(many_terms),
        CASE(many_documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
