/* Replacement of documents against a model: random batches, dumps, verify, search, reopening. */
#include "index/write/partition.h"
#include "tests/unit/index/index_fixture.h"

#include "index/write/packed_quads.h"
#include "tests/unit/index/index_outcomes.h"
#include "tests/unit/index/index_steps.h"

enum { DOCUMENTS = 120, ROUNDS = 40 };

static struct buf model[DOCUMENTS]; /* N-Quads of each document now; empty: not there */
static uint64_t generations[DOCUMENTS];
static char folder[SCRATCH_SIZE];

static void
check_dump(struct partition *partition)
{
    struct buf expected, actual;
    buf_init(&expected, 1 << 28);
    buf_init(&actual, 1 << 28);
    fixture_canonical(model, DOCUMENTS, &expected);
    fixture_dump(partition, folder, &actual);
    assert_int_equal(actual.length, expected.length);
    assert_memory_equal(actual.data ? actual.data : "", expected.data ? expected.data : "",
                        expected.length);
    buf_release(&expected);
    buf_release(&actual);
}

static void
random_batch(struct partition *partition, struct index_batch *batch)
{
    index_batch_reset(batch);
    const unsigned count = 1 + random_number() % 40;
    for (unsigned i = 0; i < count; i++) {
        const unsigned document = random_number() % DOCUMENTS;
        struct buf text;
        buf_init(&text, 1 << 20);
        switch (random_number() % 4) {
        case 0: /* the same again */
            (void)buf_append_slice(&text, buf_slice(&model[document]));
            break;
        case 1: /* most of it */
            (void)buf_append_slice(&text, buf_slice(&model[document]));
            fixture_document(document, 1, &text);
            break;
        default:
            fixture_document(document, random_number() % 30, &text);
            break;
        }
        if (random_number() % 10 == 0 && generations[document] > 1) {
            fixture_add(batch, document, generations[document] - 1, &text);
            buf_release(&text);
            continue;
        }
        generations[document] += random_number() % 2 || generations[document] == 0;
        fixture_add(batch, document, generations[document], &text);
        buf_release(&model[document]);
        model[document] = text;
    }
    struct reason why = {""};
    must(index_batch_commit(batch, &why), &why);
    (void)partition;
}

static void
random_batches_agree_with_the_model(void **state)
{
    (void)state;
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        buf_init(&model[i], 1 << 20);
    }
    assert_true(scratch_folder(folder, "test_index_partition"));
    struct partition *partition = fixture_open(folder, 1 << 20);
    struct index_batch *batch = index_batch_new(partition);
    for (int round = 0; round < ROUNDS; round++) {
        random_batch(partition, batch);
        if (round % 4 == 0) {
            check_dump(partition);
            fixture_verify(partition, folder);
        }
        if (round % 10 == 9) {
            index_batch_free(batch);
            partition_close(partition);
            partition = fixture_open(folder, 1 << 20);
            batch = index_batch_new(partition);
        }
    }
    check_dump(partition);
    fixture_verify(partition, folder);
    index_batch_free(batch);
    partition_close(partition);
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        buf_release(&model[i]);
    }
    fixture_run("rm -r %s%s", folder, "");
}

static struct partition *
fresh(char *where)
{
    assert_true(scratch_folder(where, "test_index_partition"));
    return fixture_open(where, 1 << 20);
}

static struct index_result
put(struct partition *partition, uint64_t generation, bool removed, const char *nquads)
{
    struct reason why = {""};
    struct index_batch *batch = index_batch_new(partition);
    const struct index_document document = {
        .uri = SLICE("http://a.example/"), .generation = generation, .removed = removed};
    size_t number;
    must(index_batch_add(batch, &document, slice_string(nquads), &number, &why), &why);
    must(index_batch_commit(batch, &why), &why);
    const struct index_result result = *index_batch_result(batch, number);
    index_batch_free(batch);
    return result;
}

static void
outcomes_say_what_changed(void **state)
{
    (void)state;
    char where[SCRATCH_SIZE];
    struct partition *partition = fresh(where);
    const char *two = "<http://s/> <http://p/> \"one\" .\n<http://s/> <http://p/> \"two\" .\n"
                      "<http://s/> <http://p/> \"two\" .\n";
    const char *other = "<http://s/> <http://p/> \"two\" .\n<http://s/> <http://p/> \"three\" .\n";
    struct index_result r = put(partition, 1, false, two);
    assert_int_equal(r.outcome, DOCUMENT_CHANGED);
    assert_int_equal(r.added, 2);
    assert_int_equal(r.quads, 2);
    r = put(partition, 1, false, two);
    assert_int_equal(r.outcome, DOCUMENT_UNCHANGED);
    assert_int_equal(r.added, 0);
    r = put(partition, 3, false, other);
    assert_int_equal(r.outcome, DOCUMENT_CHANGED);
    assert_int_equal(r.added, 1);
    assert_int_equal(r.removed, 1);
    r = put(partition, 2, false, two);
    assert_int_equal(r.outcome, DOCUMENT_STALE);
    r = put(partition, 4, true, two);
    assert_int_equal(r.outcome, DOCUMENT_CHANGED);
    assert_int_equal(r.removed, 2);
    assert_int_equal(r.quads, 0);
    struct partition_stats stats;
    partition_stats(partition, &stats);
    assert_int_equal(stats.totals.quads, 0);
    assert_int_equal(stats.totals.documents, 0);
    fixture_verify(partition, where);
    partition_close(partition);
    fixture_run("rm -r %s%s", where, "");
}

static size_t
hits(struct partition *partition, const char *words)
{
    struct reason why = {""};
    struct partition_reader *reader;
    struct text_scan *scan;
    must(partition_settle(partition, &why), &why);
    must(partition_reader_open(&reader, partition, &why), &why);
    const struct quad_source *source = partition_reader_source(reader);
    must(source->search(source->context, slice_string(words), 100, &scan, &why), &why);
    size_t count = 0;
    bool end = false;
    oid literal;
    double score;
    for (;;) {
        must(source->search_next(scan, &literal, &score, &end, &why), &why);
        if (end) {
            break;
        }
        assert_true(score > 0);
        count++;
    }
    source->search_close(scan);
    partition_reader_close(reader);
    return count;
}

static size_t
patch(struct index_batch *batch, const char *removed, const char *added)
{
    struct reason why = {""};
    const struct quad_sink removals = {index_batch_removal, batch};
    const struct quad_sink additions = {index_batch_quad, batch};
    index_batch_begin_patch(batch, SLICE("http://a.example/"));
    must(nquads_parse(slice_string(removed), NULL, &removals, &why), &why);
    must(nquads_parse(slice_string(added), NULL, &additions, &why), &why);
    return index_batch_end(batch);
}

static void
patches_change_what_they_name(void **state)
{
    (void)state;
    char where[SCRATCH_SIZE];
    struct reason why = {""};
    struct partition *partition = fresh(where);
    struct index_batch *batch = index_batch_new(partition);
    struct buf dump;
    buf_init(&dump, 1 << 16);
    put(partition, 5, false,
        "<http://s/> <http://p/> \"one\" .\n<http://s/> <http://p/> \"two\" .\n");
    /* When three are in one batch, the last that has a quad decides; a dropped one counts for
     * nothing. */
    const size_t first = patch(batch, "<http://s/> <http://p/> \"one\" .\n",
                               "<http://s/> <http://p/> \"three\" .\n");
    const size_t second = patch(batch,
                                "<http://s/> <http://p/> \"three\" .\n"
                                "<http://n/> <http://n/> <http://n/> .\n",
                                "<http://s/> <http://p/> \"two\" .\n");
    const size_t dropped = patch(batch, "", "<http://s/> <http://p/> \"dropped\" .\n");
    index_batch_truncate(batch, dropped);
    const size_t third = patch(batch, "",
                               "<http://s/> <http://p/> \"one\" .\n"
                               "<http://t/> <http://p/> \"four\" .\n");
    must(index_batch_commit(batch, &why), &why);
    assert_int_equal(index_batch_result(batch, first)->removed, 0);
    assert_int_equal(index_batch_result(batch, first)->added, 0);
    assert_int_equal(index_batch_result(batch, second)->added, 0);
    assert_int_equal(index_batch_result(batch, third)->added, 1);
    fixture_dump(partition, where, &dump);
    assert_string_equal(dump.data, "<http://s/> <http://p/> \"one\" <http://a.example/> .\n"
                                   "<http://s/> <http://p/> \"two\" <http://a.example/> .\n"
                                   "<http://t/> <http://p/> \"four\" <http://a.example/> .\n");
    /* The graph keeps its generation; the next crawl compares quads, having no digest. */
    assert_int_equal(put(partition, 4, false, "").outcome, DOCUMENT_STALE);
    const struct index_result r =
        put(partition, 6, false,
            "<http://s/> <http://p/> \"two\" .\n<http://s/> <http://p/> \"x\" .\n");
    assert_int_equal(r.outcome, DOCUMENT_CHANGED);
    assert_int_equal(r.added, 1);
    assert_int_equal(r.removed, 2);
    /* Doubles, and more rows than are sorted in place. */
    index_batch_reset(batch);
    index_batch_begin_patch(batch, SLICE("http://b.example/"));
    const struct term p = term_iri(SLICE("http://p/"));
    uint32_t predicate, object;
    index_batch_terms(batch, &p, 1, &predicate);
    for (int i = 300; i > 0; i--) {
        char text[16];
        snprintf(text, sizeof(text), "%03d", i % 150);
        const struct term value = term_literal(slice_string(text));
        index_batch_terms(batch, &value, 1, &object);
        index_batch_triple(batch, predicate, predicate, object);
    }
    const size_t many = index_batch_end(batch);
    must(index_batch_commit(batch, &why), &why);
    assert_int_equal(index_batch_result(batch, many)->added, 150);
    fixture_verify(partition, where);
    buf_release(&dump);
    index_batch_free(batch);
    partition_close(partition);
    fixture_run("rm -r %s%s", where, "");
}

/* Every prefix of a packed change, and every byte of it changed, is taken or refused; what is taken
 * can be committed and verified. */
static void
packed_quads_are_read_or_refused(void **state)
{
    (void)state;
    char where[SCRATCH_SIZE];
    struct reason why = {""};
    struct partition *partition = fresh(where);
    struct index_batch *batch = index_batch_new(partition);
    struct term_set terms;
    struct buf packed, damaged;
    term_set_init(&terms);
    buf_init(&packed, 1 << 16);
    buf_init(&damaged, 1 << 16);
    const struct term subject = term_iri(SLICE("http://s/")), blank = term_blank(SLICE("b"));
    struct term text = term_literal(SLICE("text")), typed = text;
    text.language = SLICE("en");
    typed.datatype = SLICE("http://t/");
    const uint32_t s = term_set_add(&terms, &subject), b = term_set_add(&terms, &blank);
    const uint32_t t = term_set_add(&terms, &text), d = term_set_add(&terms, &typed);
    struct packed_quad quads[] = {{b, s, t, s}, {s, s, d, s}, {b, s, b, s}};
    packed_quads_write(&packed, &terms, quads, 3);
    unsigned refused = 0, taken = 0;
    for (size_t i = 0; i < packed.length * 4; i++) {
        static const uint8_t patterns[] = {0x01, 0x80, 0xff};
        const size_t at = i / 4;
        buf_reset(&damaged);
        (void)buf_append(&damaged, packed.data, i % 4 == 3 ? at : packed.length);
        if (i % 4 < 3) {
            damaged.data[at] ^= (char)patterns[i % 4];
        }
        struct codec_reader in = codec_reader_of(buf_slice(&damaged));
        const size_t before = index_batch_documents(batch);
        const enum status status = packed_quads_read(&in, batch, &why);
        assert_true(status == STATUS_OK || status == STATUS_PROTOCOL);
        if (status != STATUS_OK) {
            index_batch_truncate(batch, before);
        }
        taken += status == STATUS_OK;
        refused += status != STATUS_OK;
    }
    assert_true(taken > 20 && refused > 40);
    must(index_batch_commit(batch, &why), &why);
    fixture_verify(partition, where);
    term_set_release(&terms);
    buf_release(&packed);
    buf_release(&damaged);
    index_batch_free(batch);
    partition_close(partition);
    fixture_run("rm -r %s%s", where, "");
}

/* Enough terms for two dictionaries, each used before and after the next start. */
static void
terms_packed_with_dictionaries_come_back(void **state)
{
    (void)state;
    enum { QUADS = 24000, BATCHES = 3 };
    char where[64], text[96];
    struct reason why = {""};
    struct partition *partition = fresh(where);
    struct buf lines, dump;
    buf_init(&lines, 1 << 26);
    buf_init(&dump, 1 << 26);
    for (unsigned i = 0; i < BATCHES; i++) {
        struct index_batch *batch = index_batch_new(partition);
        snprintf(text, sizeof(text), "http://graph.example/%u", i);
        index_batch_begin_patch(batch, slice_string(text));
        const unsigned quads = QUADS >> 3 * (BATCHES - 1 - i);
        for (unsigned k = 0; k < quads; k++) {
            snprintf(text, sizeof(text), "http://host%u.example/of/things/%u", i, 100000 + k);
            const struct quad quad = {.subject = term_iri(slice_string(text)),
                                      .predicate = term_iri(SLICE("http://predicate.example/")),
                                      .object = term_literal(slice_string(text + 7))};
            must(index_batch_quad(batch, &quad, &why), &why);
            (void)buf_printf(
                &lines, "<%s> <http://predicate.example/> \"%s\" <http://graph.example/%u> .\n",
                text, text + 7, i);
        }
        index_batch_end(batch);
        must(index_batch_commit(batch, &why), &why);
        index_batch_free(batch);
        fixture_dump(partition, where, &dump);
        assert_true(slice_equal(buf_slice(&dump), buf_slice(&lines)));
        partition_close(partition);
        partition = fixture_open(where, 1 << 20);
    }
    fixture_dump(partition, where, &dump);
    assert_true(slice_equal(buf_slice(&dump), buf_slice(&lines)));
    fixture_verify(partition, where);
    buf_release(&lines);
    buf_release(&dump);
    partition_close(partition);
    fixture_run("rm -r %s%s", where, "");
}

static void
searches_find_what_is_in_the_graphs_now(void **state)
{
    (void)state;
    char where[SCRATCH_SIZE];
    struct partition *partition = fresh(where);
    put(partition, 1, false,
        "<http://s/> <http://p/> \"The quick brown fox\" .\n"
        "<http://s/> <http://p/> \"quick foxes in a CAF\\u00C9\"@en .\n"
        "<http://s/> <http://p/> \"quick\"^^<http://d/> .\n");
    assert_int_equal(hits(partition, "quick"), 2);
    assert_int_equal(hits(partition, "cafe"), 1);
    assert_int_equal(hits(partition, "\"brown fox\""), 1);
    assert_int_equal(hits(partition, "\"quick fox\""), 0);
    assert_int_equal(hits(partition, "fox*"), 2);
    assert_int_equal(hits(partition, "fox AND (\" nor"), 0);
    put(partition, 2, false, "<http://s/> <http://p/> \"The quick brown fox\" .\n");
    assert_int_equal(hits(partition, "quick"), 1);
    put(partition, 3, true, "");
    assert_int_equal(hits(partition, "quick"), 0);
    partition_close(partition);
    fixture_run("rm -r %s%s", where, "");
}

static void
terms_of_every_shape_come_back(void **state)
{
    (void)state;
    char where[SCRATCH_SIZE];
    struct partition *partition = fresh(where);
    struct buf text, out;
    buf_init(&text, 16 << 20);
    buf_init(&out, 16 << 20);
    (void)buf_append_string(&text, "<http://s/> <http://p/> \"");
    for (int i = 0; i < 2000000; i++) {
        (void)buf_append_char(&text, (char)('a' + random_number() % 26));
    }
    (void)buf_append_string(&text, "\" <http://a.example/> .\n<http://s/> <http://p/> <http://l/");
    for (int i = 0; i < 5000; i++) {
        (void)buf_append_char(&text, (char)('a' + i % 26));
    }
    (void)buf_append_string(&text, "> <http://a.example/> .\n<http://s/> <http://p/> <http://l/");
    for (int i = 0; i < 5001; i++) {
        (void)buf_append_char(&text, (char)('a' + i % 26));
    }
    (void)buf_append_string(&text, "> <http://a.example/> .\n<http://s/> <http://q/> \"\" "
                                   "<http://a.example/> .\n");
    put(partition, 1, false, text.data);
    fixture_dump(partition, where, &out);
    assert_int_equal(out.length, text.length);
    assert_memory_equal(out.data, text.data, text.length);
    fixture_verify(partition, where);
    buf_release(&text);
    buf_release(&out);
    partition_close(partition);
    fixture_run("rm -r %s%s", where, "");
}

/* Who gives back what he never had does no harm. */
static void
what_never_was_is_let_go(void **state)
{
    (void)state;
    partition_close(NULL);
    index_batch_free(NULL);
    partition_reader_close(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_batches_agree_with_the_model),
        cmocka_unit_test(outcomes_say_what_changed),
        cmocka_unit_test(patches_change_what_they_name),
        cmocka_unit_test(packed_quads_are_read_or_refused),
        cmocka_unit_test(terms_packed_with_dictionaries_come_back),
        cmocka_unit_test(searches_find_what_is_in_the_graphs_now),
        cmocka_unit_test(terms_of_every_shape_come_back),
        cmocka_unit_test(what_never_was_is_let_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) + index_steps_run() + index_outcomes_run();
}
