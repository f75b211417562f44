/* Counters against counting: what verify recomputes, and estimates of stars against the rows. */
#include "tests/unit/index/index_fixture.h"

#include "index/statistics/characteristic_sets.h"
#include "index/statistics/statistics.h"
#include "index/trees/environment.h"
#include "tests/unit/brief.h"
#include "tests/unit/scratch.h"

enum { DOCUMENTS = 40, PREDICATES = 16, CACHE = 4 << 20 };

static char folder[SCRATCH_SIZE];
static struct partition *partition;

static int
open_index(void **state)
{
    (void)state;
    assert_true(scratch_folder(folder, "test_index_statistics"));
    partition = fixture_open(folder, CACHE);
    return 0;
}

static int
close_index(void **state)
{
    (void)state;
    partition_close(partition);
    fixture_run("rm -r %s%s", folder, "");
    return 0;
}

static void
reopen(void)
{
    partition_close(partition);
    partition = fixture_open(folder, CACHE);
}

/* ---- estimates ---- */

static oid
identifier(const struct quad_source *source, const char *iri)
{
    struct reason why = {""};
    oid id = OID_NONE;
    const struct term term = term_iri(slice_string(iri));
    must(source->lookup(source->context, &term, &id, &why), &why);
    return id;
}

/* How many subjects, each once per graph, have all the predicates. */
static uint64_t
count_subjects(const struct quad_source *source, const oid *predicates, size_t count)
{
    struct reason why = {""};
    const struct quad_oids all = {0};
    struct quad_scan *scan;
    struct quad_oids row;
    struct quad_oids last = {0};
    uint64_t found = 0;
    unsigned seen = 0;
    must(source->scan(source->context, &all, ORDER_CSPO, &scan, &why), &why);
    for (size_t n = 1; n > 0;) {
        must(source->scan_next(scan, &row, 1, &n, &why), &why);
        if (n == 0 || row.graph != last.graph || row.subject != last.subject) {
            found += seen == (1U << count) - 1;
            seen = 0;
            last = row;
        }
        for (size_t i = 0; n > 0 && i < count; i++) {
            seen |= row.predicate == predicates[i] ? 1U << i : 0;
        }
    }
    source->scan_close(scan);
    return found;
}

static void
compare_stars(void)
{
    struct reason why = {""};
    struct partition_reader *reader;
    must(partition_reader_open(&reader, partition, &why), &why);
    const struct quad_source *source = partition_reader_source(reader);
    const int stars = (int)brief(30, 10);
    for (int i = 0; i < stars; i++) {
        oid predicates[3];
        size_t count = 0;
        const size_t wanted = 1 + random_number() % 3;
        for (unsigned first = (unsigned)(random_number() % 12); count < wanted; first++) {
            char iri[64];
            snprintf(iri, sizeof(iri), "http://p.example/%u", first % 12);
            predicates[count++] = identifier(source, iri);
        }
        double subjects = -1;
        double rows = -1;
        must(source->estimate_star(source->context, predicates, count, &subjects, &rows, &why),
             &why);
        const uint64_t expected = count_subjects(source, predicates, count);
        assert_int_equal((uint64_t)(subjects + 0.5), expected);
        assert_true(rows >= subjects - 0.001);
        if (count == 1) {
            uint64_t exact = 0;
            const struct quad_oids pattern = {.predicate = predicates[0]};
            must(source->estimate(source->context, &pattern, &exact, &why), &why);
            assert_int_equal((uint64_t)(rows + 0.5), exact);
        }
    }
    partition_reader_close(reader);
}

static void
put(unsigned document, uint64_t generation, const struct buf *nquads)
{
    struct reason why = {""};
    struct index_batch *batch = index_batch_new(partition);
    (void)fixture_add(batch, document, generation, nquads);
    must(index_batch_commit(batch, &why), &why);
    index_batch_free(batch);
}

static void
stars_are_counted_exactly_through_replacements(void **state)
{
    (void)state;
    struct buf text;
    buf_init(&text, 1 << 20);
    for (uint64_t round = 1; round <= 6; round++) {
        struct reason why = {""};
        struct index_batch *batch = index_batch_new(partition);
        for (unsigned i = 0; i < DOCUMENTS; i++) {
            buf_reset(&text);
            if (random_number() % 4 != 0) {
                fixture_document(i, (unsigned)(random_number() % 60), &text);
            }
            (void)fixture_add(batch, i, round, &text);
        }
        must(index_batch_commit(batch, &why), &why);
        index_batch_free(batch);
        compare_stars();
        fixture_verify(partition, folder);
        if (round % 2 == 0) {
            reopen();
        }
    }
    buf_release(&text);
}

/* ---- more sets than are held ---- */

/* Subject n has the predicates that are the bits of n. */
static void
add_subjects(struct buf *text, unsigned from, unsigned to)
{
    for (unsigned n = from; n < to; n++) {
        for (unsigned bit = 0; bit < PREDICATES; bit++) {
            if (n & 1U << bit) {
                (void)buf_printf(text, "<http://s.example/%u> <http://p.example/%u> \"x\" .\n", n,
                                 bit);
            }
        }
    }
}

static uint64_t
total(const char *text, const char *name)
{
    char line[64];
    snprintf(line, sizeof(line), "\t%s\n", name);
    const char *at = strstr(text, line);
    assert_non_null(at);
    while (at[-1] != '\t') {
        at--;
    }
    return strtoull(at, NULL, 10);
}

static struct characteristic_totals
totals_now(void)
{
    struct buf lines;
    struct characteristic_totals totals = {0};
    struct reason why = {""};
    buf_init(&lines, 1 << 26);
    must(partition_counts(partition, true, fixture_append, &lines, &why), &why);
    (void)buf_append_char(&lines, '\0');
    const char *text = lines.data;
    totals.subjects = total(text, "subjects");
    totals.large = total(text, "subjects-large");
    totals.other = total(text, "subjects-other");
    for (const char *at = strchr(text, '\n'); at != NULL; at = strchr(at + 1, '\n')) {
        totals.sets += at[1] == 'S' && at[2] == '\t';
    }
    buf_release(&lines);
    return totals;
}

static void
sets_past_the_bound_are_counted_together(void **state)
{
    (void)state;
    struct buf text;
    buf_init(&text, 1 << 26);
    add_subjects(&text, 1, SETS_MOST + 101); /* 100 too many */
    put(0, 1, &text);
    struct characteristic_totals totals = totals_now();
    assert_int_equal(totals.sets, SETS_MOST);
    assert_int_equal(totals.subjects, SETS_MOST + 100);
    assert_int_equal(totals.other, 100);
    fixture_verify(partition, folder);

    /* While others are counted, the sets that are held stay, with and without subjects. */
    buf_reset(&text);
    add_subjects(&text, SETS_MOST / 2, SETS_MOST + 101);
    put(0, 2, &text);
    reopen();
    fixture_verify(partition, folder);
    totals = totals_now();
    assert_int_equal(totals.other, 100);
    assert_int_equal(totals.subjects, SETS_MOST / 2 + 101);
    buf_reset(&text);
    add_subjects(&text, SETS_MOST - 10, SETS_MOST + 201);
    put(0, 3, &text);
    fixture_verify(partition, folder);
    assert_int_equal(totals_now().other, 200);

    /* When there are no others any more, new sets take the room of those without subjects. */
    buf_reset(&text);
    put(0, 4, &text);
    assert_int_equal(totals_now().other, 0);
    assert_int_equal(totals_now().subjects, 0);
    add_subjects(&text, SETS_MOST + 1, SETS_MOST + 201);
    put(0, 5, &text);
    totals = totals_now();
    assert_int_equal(totals.other, 0);
    assert_int_equal(totals.sets, 200);
    fixture_verify(partition, folder);
    buf_release(&text);
}

static void
subjects_with_many_predicates_are_counted_together(void **state)
{
    (void)state;
    struct buf text;
    buf_init(&text, 1 << 22);
    for (unsigned subject = 0; subject < 5; subject++) {
        for (unsigned i = 0; i < SET_PREDICATES_MOST + (subject > 1); i++) {
            (void)buf_printf(&text, "<http://s.example/%u> <http://p.example/%u> \"x\" .\n",
                             subject, i);
        }
    }
    put(0, 1, &text);
    const struct characteristic_totals totals = totals_now();
    assert_int_equal(totals.subjects, 5);
    assert_int_equal(totals.large, 3);
    assert_int_equal(totals.sets, 1);
    compare_stars();
    fixture_verify(partition, folder);
    buf_reset(&text);
    put(0, 2, &text);
    assert_int_equal(totals_now().subjects, 0);
    fixture_verify(partition, folder);
    buf_release(&text);
}

/* ---- hosts ---- */

static void
put_uri(const char *uri, unsigned quads, bool removed)
{
    struct reason why = {""};
    struct buf text;
    static uint64_t generation;
    size_t number;
    buf_init(&text, 1 << 16);
    for (unsigned i = 0; i < quads; i++) {
        (void)buf_printf(&text, "<http://s.example/> <http://p.example/> \"%u\" .\n", i);
    }
    generation++;
    struct index_batch *batch = index_batch_new(partition);
    const struct index_document document = {
        .uri = slice_string(uri), .generation = generation, .removed = removed};
    must(index_batch_add(batch, &document, buf_slice(&text), &number, &why), &why);
    must(index_batch_commit(batch, &why), &why);
    index_batch_free(batch);
    buf_release(&text);
}

static void
hosts_have_their_documents_and_quads(void **state)
{
    (void)state;
    struct reason why = {""};
    struct buf lines;
    buf_init(&lines, 1 << 20);
    put_uri("http://www.shop.example.co.uk/a", 3, false);
    put_uri("https://example.co.uk:8443/b", 2, false);
    put_uri("http://192.0.2.1/x", 1, false);
    put_uri("http://[2001:db8::1]:80/x", 1, false);
    put_uri("urn:x-thing:1", 4, false);
    put_uri("http://other.example/", 5, false);
    put_uri("http://other.example/", 0, true);
    must(partition_counts(partition, false, fixture_append, &lines, &why), &why);
    (void)buf_append_char(&lines, '\0');
    const char *text = lines.data;
    assert_non_null(strstr(text, "\nH\t5 2\texample.co.uk\n"));
    assert_non_null(strstr(text, "\nH\t1 1\t192.0.2.1\n"));
    assert_non_null(strstr(text, "\nH\t1 1\t[2001:db8::1]\n"));
    assert_non_null(strstr(text, "\nH\t4 1\t\n"));
    assert_null(strstr(text, "other.example"));
    fixture_verify(partition, folder);
    buf_release(&lines);
}

/* The number in the tree becomes `format`, if any; returns the one before. */
static uint64_t
change_format(uint64_t format)
{
    struct reason why = {""};
    struct environment *environment;
    struct tree *tree;
    struct transaction *transaction;
    uint64_t before;
    const struct environment_options options = {.folder = folder, .cache_bytes = CACHE};
    must(environment_open(&environment, &options, &why), &why);
    must(tree_open(&tree, environment, "statistics", &why), &why);
    must(statistics_read(tree, SLICE("F"), &before, 1, &why), &why);
    must(transaction_begin(&transaction, environment, 0, &why), &why);
    must(statistics_write(tree, transaction, SLICE("F"), format > 0 ? &format : &before, 1, &why),
         &why);
    must(transaction_commit(transaction, &why), &why);
    tree_close(tree);
    environment_close(environment);
    return before;
}

static void
other_formats_are_refused(void **state)
{
    (void)state;
    struct reason why = {""};
    struct partition_options options;
    put_uri("http://example.co.uk/", 3, false);
    partition_close(partition);
    const uint64_t format = change_format(0);
    fixture_options(&options, folder);
    for (int i = -3; i <= 1; i += i == -2 ? 3 : 1) {
        (void)change_format(format + (uint64_t)i);
        assert_int_equal(partition_open(&partition, &options, &why), STATUS_UNSUPPORTED);
    }
    (void)change_format(format - 1); /* it becomes the present one */
    partition = fixture_open(folder, CACHE);
    partition_close(partition);
    assert_int_equal(change_format(0), format);
    partition = fixture_open(folder, CACHE);
}

/* Who gives back what he never had does no harm. */
static void
what_never_was_is_let_go(void **state)
{
    (void)state;
    characteristic_sets_close(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(stars_are_counted_exactly_through_replacements, open_index,
                                        close_index),
        cmocka_unit_test_setup_teardown(sets_past_the_bound_are_counted_together, open_index,
                                        close_index),
        cmocka_unit_test_setup_teardown(subjects_with_many_predicates_are_counted_together,
                                        open_index, close_index),
        cmocka_unit_test_setup_teardown(hosts_have_their_documents_and_quads, open_index,
                                        close_index),
        cmocka_unit_test_setup_teardown(other_formats_are_refused, open_index, close_index),
        cmocka_unit_test(what_never_was_is_let_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
