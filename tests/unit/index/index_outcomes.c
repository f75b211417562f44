/* These tests are of what a batch makes of each document: a table of documents one after the other,
 * and what is remembered of them; how much room a batch asks for; and which terms the lexicon looks
 * up and which it remembers. The linker lets the test see what is asked of the environment. */
#include "tests/unit/index/index_outcomes.h"

#include "index/write/batch.h"
#include "tests/unit/index/index_fixture.h"
#include "tests/unit/moved_clock.h"

/* ---- what the environment is asked ---- */

static uint64_t room_asked, environment_had;
static unsigned looked_up, fails_at; /* blocks sought since; the one that fails, 0: none */

enum status __real_transaction_begin(struct transaction **transaction,
                                     struct environment *environment, uint64_t bytes,
                                     struct reason *why);
enum status __wrap_transaction_begin(struct transaction **transaction,
                                     struct environment *environment, uint64_t bytes,
                                     struct reason *why);
enum status
__wrap_transaction_begin(struct transaction **transaction, struct environment *environment,
                         uint64_t bytes, struct reason *why)
{
    room_asked = bytes;
    environment_had = environment_bytes(environment);
    return __real_transaction_begin(transaction, environment, bytes, why);
}

static int64_t documents_noted; /* those that came, less those that went */

void __real_snapshots_publish(struct snapshots *snapshots, struct change_set *set, bool gathered);
void __wrap_snapshots_publish(struct snapshots *snapshots, struct change_set *set, bool gathered);
void
__wrap_snapshots_publish(struct snapshots *snapshots, struct change_set *set, bool gathered)
{
    for (size_t i = 0; i < set->document_count; i++) {
        assert_int_not_equal(set->documents[i].step, 0);
        documents_noted += set->documents[i].step;
    }
    __real_snapshots_publish(snapshots, set, gathered);
}

enum status __real_fence_seek(struct fence_cursor *cursor, struct slice key, struct reason *why);
enum status __wrap_fence_seek(struct fence_cursor *cursor, struct slice key, struct reason *why);
enum status
__wrap_fence_seek(struct fence_cursor *cursor, struct slice key, struct reason *why)
{
    return ++looked_up == fails_at ? status_fail(why, STATUS_SYSTEM, "no block")
                                   : __real_fence_seek(cursor, key, why);
}

/* ---- documents ---- */

#define ONE "<http://s/> <http://p/> \"one\" .\n"
#define TWO "<http://s/> <http://p/> \"two\" .\n"
#define GRAPH "http://a.example/"

enum made { WHOLE, GONE, PATCH };
enum { CHANGED = DOCUMENT_CHANGED, UNCHANGED = DOCUMENT_UNCHANGED, STALE = DOCUMENT_STALE };

/* Commits of one document each, one after the other, and what is known then. */
static const struct {
    const char *what;
    enum made made;
    uint64_t generation;
    bool linked_data;
    const char *removals, *quads;
    int outcome; /* -1: any */
    uint64_t added, removed;
    struct document_entry entry;
    bool now;             /* it was indexed now; else it says when before */
    struct totals totals; /* without terms */
} steps[] = {
    /* clang-format off */
    {"gone before it came", GONE, 1, false, "", ONE, CHANGED, 0, 0, {1, 0, 0, true, false, false, {0}}, true, {0, 0, 0, 1, 0}},
    {"it comes", WHOLE, 2, false, "", ONE TWO ONE, CHANGED, 2, 0, {2, 2, 0, false, false, false, {0}}, true, {2, 1, 2, 2, 0}},
    {"the same", WHOLE, 2, false, "", TWO ONE, UNCHANGED, 0, 0, {2, 2, 0, false, false, false, {0}}, false, {2, 1, 2, 2, 0}},
    {"the same, later", WHOLE, 3, false, "", TWO ONE, UNCHANGED, 0, 0, {3, 2, 0, false, false, false, {0}}, false, {2, 1, 2, 3, 0}},
    {"the same as RDF", WHOLE, 3, true, "", TWO ONE, UNCHANGED, 0, 0, {3, 2, 0, false, true, false, {0}}, false, {2, 1, 2, 4, 0}},
    {"an older one", WHOLE, 2, true, "", ONE, STALE, 0, 0, {3, 2, 0, false, true, false, {0}}, false, {2, 1, 2, 4, 0}},
    {"others", WHOLE, 4, true, "", ONE "<http://s/> <http://p/> \"new\"@en .\n", CHANGED, 1, 1, {4, 2, 0, false, true, false, {0}}, true, {2, 1, 3, 5, 0}},
    {"a patch of nothing", PATCH, 0, false, TWO, ONE, -1, 0, 0, {4, 2, 0, false, true, false, {0}}, false, {2, 1, 3, 6, 0}},
    {"a patch", PATCH, 0, false, ONE, TWO "<http://s/> <http://p/> \"4\"^^<http://t/> .\n", -1, 2, 1, {4, 3, 0, false, true, true, {0}}, true, {3, 1, 3, 7, 0}},
    {"the same as the patch made", WHOLE, 4, true, "", TWO, CHANGED, 0, 2, {4, 1, 0, false, true, false, {0}}, true, {1, 1, 3, 8, 0}},
    {"nothing in it", WHOLE, 5, true, "", "", CHANGED, 0, 1, {5, 0, 0, false, true, false, {0}}, true, {0, 1, 3, 9, 0}},
    {"gone, which is other than empty", GONE, 5, true, "", "", CHANGED, 0, 0, {5, 0, 0, true, true, false, {0}}, true, {0, 0, 3, 10, 0}},
    {"still gone", GONE, 6, true, "", "", UNCHANGED, 0, 0, {6, 0, 0, true, true, false, {0}}, false, {0, 0, 3, 11, 0}},
    {"a patch of what is gone", PATCH, 0, false, "", ONE, -1, 1, 0, {6, 1, 0, false, true, true, {0}}, true, {1, 1, 3, 12, 0}},
    /* clang-format on */
};

static size_t
add_document(struct index_batch *batch, size_t step)
{
    struct reason why = {""};
    const struct quad_sink removals = {index_batch_removal, batch};
    const struct quad_sink additions = {index_batch_quad, batch};
    const struct index_document document = {.uri = SLICE(GRAPH),
                                            .generation = steps[step].generation,
                                            .removed = steps[step].made == GONE,
                                            .linked_data = steps[step].linked_data};
    if (steps[step].made == PATCH) {
        index_batch_begin_patch(batch, SLICE(GRAPH));
        must(nquads_parse(slice_string(steps[step].removals), NULL, &removals, &why), &why);
    } else {
        index_batch_begin(batch, &document);
    }
    must(nquads_parse(slice_string(steps[step].quads), NULL, &additions, &why), &why);
    return index_batch_end(batch);
}

static struct document_entry
entry_of(struct partition *partition, const char *uri)
{
    struct reason why = {""};
    struct document_entry entry;
    const struct term term = term_iri(slice_string(uri));
    oid graph;
    must(lexicon_find(partition->lexicon, &term, &graph, &why), &why);
    latch_enter_reading(tree_latch(partition->documents));
    must(documents_get(partition->documents, graph, &entry, &why), &why);
    latch_leave(tree_latch(partition->documents));
    return entry;
}

static void
check_step(struct partition *partition, size_t i, const struct index_result *result,
           uint64_t *indexed_ms)
{
    struct partition_stats stats;
    const struct document_entry entry = entry_of(partition, GRAPH);
    partition_stats(partition, &stats);
    if (steps[i].outcome >= 0) {
        assert_int_equal(result->outcome, steps[i].outcome);
    }
    assert_int_equal(result->added, steps[i].added);
    assert_int_equal(result->removed, steps[i].removed);
    assert_int_equal(entry.generation, steps[i].entry.generation);
    assert_int_equal(entry.quads, steps[i].entry.quads);
    assert_int_equal(entry.removed, steps[i].entry.removed);
    assert_int_equal(entry.linked_data, steps[i].entry.linked_data);
    assert_int_equal(entry.patched, steps[i].entry.patched);
    if (steps[i].now) {
        assert_true(entry.indexed_ms > *indexed_ms);
        *indexed_ms = entry.indexed_ms;
    }
    assert_int_equal(entry.indexed_ms, *indexed_ms);
    if (steps[i].made != PATCH && steps[i].outcome != STALE) {
        assert_memory_equal(entry.digest, result->digest, sizeof entry.digest);
    }
    assert_int_equal(stats.totals.quads, steps[i].totals.quads);
    assert_int_equal(stats.totals.documents, steps[i].totals.documents);
    assert_int_equal(documents_noted, steps[i].totals.documents);
    assert_int_equal(stats.totals.literals, steps[i].totals.literals);
    assert_int_equal(stats.totals.batches, steps[i].totals.batches);
    assert_int_equal(stats.writes, STATUS_OK);
}

static void
each_document_leaves_what_is_known_of_it(void **state)
{
    char folder[SCRATCH_SIZE];
    uint64_t indexed_ms = 0;
    documents_noted = 0;
    (void)state;
    assert_true(scratch_folder(folder, "test_index_outcomes"));
    struct partition *partition = fixture_open(folder, 1 << 20);
    struct index_batch *batch = index_batch_new(partition);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct reason why = {""};
        index_batch_reset(batch);
        const size_t number = add_document(batch, i);
        clock_move(60000);
        must(index_batch_commit(batch, &why), &why);
        check_step(partition, i, index_batch_result(batch, number), &indexed_ms);
        fixture_verify(partition, folder);
        if (i % 5 == 4) {
            index_batch_free(batch);
            partition_close(partition);
            partition = fixture_open(folder, 1 << 20);
            batch = index_batch_new(partition);
        }
    }
    index_batch_free(batch);
    partition_close(partition);
    fixture_run("rm -r %s%s", folder, "");
}

/* The rows of the first batch in the change log, each with the generation of its document. */
static size_t
check_generations(struct partition *partition, const char *uri, uint64_t generation)
{
    static struct change_block block;
    const struct change_position since = {0, 0};
    const struct term term = term_iri(slice_string(uri));
    struct reason why = {""};
    struct change_reader *reader;
    struct change_batch changes;
    size_t found = 0;
    oid graph;
    must(lexicon_find(partition->lexicon, &term, &graph, &why), &why);
    must(change_reader_open(&reader, partition->change_log, &since, &why), &why);
    must(change_reader_batch(reader, &changes, &why), &why);
    while (change_reader_block(reader, &block, &why) == STATUS_OK) {
        for (size_t i = 0; i < block.count; i++) {
            if (block.rows[i].place[0] == graph) {
                assert_int_equal(block.generations[i], generation);
                found++;
            }
        }
    }
    change_reader_close(reader);
    return found;
}

/* Generations of documents of two URIs in one batch, and which of them are left. */
static void
of_doubles_the_latest_is_left(void **state)
{
    static const struct {
        unsigned document;
        uint64_t generation;
        bool left;
    } cases[] = {{0, 2, false}, {1, 7, true},  {0, 1, false}, {0, 2, true},
                 {1, 6, false}, {2, 1, false}, {2, 2, false}, {2, 3, true}};
    enum { COUNT = sizeof cases / sizeof *cases };
    char folder[SCRATCH_SIZE], uri[64];
    struct reason why = {""};
    struct buf text;
    (void)state;
    assert_true(scratch_folder(folder, "test_index_outcomes"));
    struct partition *partition = fixture_open(folder, 1 << 20);
    struct index_batch *batch = index_batch_new(partition);
    buf_init(&text, 1 << 10);
    for (size_t i = 0; i < COUNT; i++) {
        buf_reset(&text);
        (void)buf_printf(&text, "<http://s/> <http://p/> \"%zu\" .\n", i);
        (void)fixture_add(batch, cases[i].document, cases[i].generation, &text);
    }
    must(index_batch_commit(batch, &why), &why);
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(index_batch_result(batch, i)->outcome,
                         cases[i].left ? DOCUMENT_CHANGED : DOCUMENT_SUPERSEDED);
        fixture_uri(cases[i].document, uri);
        if (cases[i].left) {
            assert_int_equal(entry_of(partition, uri).generation, cases[i].generation);
            assert_int_equal(check_generations(partition, uri, cases[i].generation), 1);
        }
        char number[8];
        snprintf(number, sizeof number, "%zu", i);
        const struct term text_of_it = {.kind = TERM_LITERAL, .value = slice_string(number)};
        oid id;
        must(lexicon_find(partition->lexicon, &text_of_it, &id, &why), &why);
        assert_int_equal(id != OID_NONE, cases[i].left); /* terms of the others are not stored */
    }
    fixture_verify(partition, folder);
    buf_release(&text);
    index_batch_free(batch);
    partition_close(partition);
    fixture_run("rm -r %s%s", folder, "");
}

/* All of a batch of hundreds are written, and room is asked for: twice what the batch holds, and a
 * block in three trees for each quad, but no more than all blocks twice. */
static void
room_is_asked_for_what_is_written(void **state)
{
    enum { MANY = 300, QUADS = 20, BLOCK_LOG = 12 << 10 };
    char folder[SCRATCH_SIZE], uri[64];
    struct reason why = {""};
    struct buf text;
    (void)state;
    assert_true(scratch_folder(folder, "test_index_outcomes"));
    struct partition *partition = fixture_open(folder, 1 << 20);
    struct index_batch *batch = index_batch_new(partition);
    buf_init(&text, 1 << 16);
    for (unsigned round = 1; round <= 3; round++) {
        index_batch_reset(batch);
        const unsigned documents = round == 2 ? 1 : MANY;
        for (unsigned i = 0; i < documents; i++) {
            buf_reset(&text);
            for (unsigned k = 0; k < QUADS; k++) {
                (void)buf_printf(&text, "<http://s/> <http://p/> \"%u of %u in %u\" .\n", k, i,
                                 round);
            }
            (void)fixture_add(batch, i, round, &text);
        }
        const uint64_t held = index_batch_bytes(batch);
        const uint64_t scattered = (uint64_t)index_batch_quads(batch) * BLOCK_LOG;
        must(index_batch_commit(batch, &why), &why);
        const uint64_t all = 2 * environment_had;
        assert_int_equal(scattered < all, round == 2);
        assert_int_equal(room_asked, 2 * held + (scattered < all ? scattered : all));
    }
    for (unsigned i = 0; i < MANY; i++) {
        fixture_uri(i, uri);
        assert_int_equal(entry_of(partition, uri).generation, 3);
        assert_int_equal(entry_of(partition, uri).quads, QUADS);
    }
    fixture_verify(partition, folder);
    buf_release(&text);
    index_batch_free(batch);
    partition_close(partition);
    fixture_run("rm -r %s%s", folder, "");
}

/* ---- the lexicon ---- */

enum { MEMORY = 64 << 10, TERMS_MOST = 6000 };

struct terms {
    char folder[SCRATCH_SIZE];
    struct environment *environment;
    struct lexicon *lexicon;
    struct term_set set;
};

static void
open_terms(struct terms *terms)
{
    struct reason why = {""};
    assert_true(scratch_folder(terms->folder, "test_index_lexicon"));
    const struct environment_options options = {
        .folder = terms->folder, .cache_bytes = 4 << 20, .checkpoint_bytes = 8 << 20};
    must(environment_open(&terms->environment, &options, &why), &why);
    must(lexicon_open(&terms->lexicon, terms->environment, MEMORY, 1 << 20, &why), &why);
    term_set_init(&terms->set);
}

static void
close_terms(struct terms *terms)
{
    term_set_release(&terms->set);
    lexicon_close(terms->lexicon);
    environment_close(terms->environment);
    fixture_run("rm -r %s%s", terms->folder, "");
}

/* The set becomes IRIs of these numbers, of `length` bytes each. */
static void
take_terms(struct terms *terms, unsigned first, unsigned count, int length)
{
    char text[600];
    term_set_reset(&terms->set);
    for (unsigned i = first; i < first + count; i++) {
        snprintf(text, sizeof text, "http://%0*u", length - 7, i);
        const struct term term = term_iri(slice_string(text));
        (void)term_set_add(&terms->set, &term);
    }
}

/* Gives them identifiers; how many are new. looked_up says how many blocks that took. */
static uint64_t
assign(struct terms *terms, bool commit)
{
    struct reason why = {""};
    struct transaction *transaction;
    uint64_t added = 99;
    looked_up = 0;
    must(transaction_begin(&transaction, terms->environment, 1 << 20, &why), &why);
    must(lexicon_assign(terms->lexicon, transaction, &terms->set, 0, &added, &why), &why);
    if (commit) {
        must(transaction_commit(transaction, &why), &why);
        nodes_committed(lexicon_nodes(terms->lexicon));
    } else {
        transaction_abort(transaction);
        must(lexicon_forget(terms->lexicon, &why), &why);
    }
    return added;
}

static void
check_numbers(const struct terms *terms, uint64_t first)
{
    for (size_t i = 0; i < terms->set.count; i++) {
        assert_int_equal(terms->set.terms[i].id, oid_stored(first + i, OID_KIND_IRI));
    }
}

static void
terms_are_numbered_in_the_order_of_the_set(void **state)
{
    struct terms terms;
    struct reason why = {""};
    const struct term inline_term = {.kind = TERM_LITERAL,
                                     .value = SLICE("7"),
                                     .datatype = SLICE("http://www.w3.org/2001/XMLSchema#integer")};
    (void)state;
    open_terms(&terms);
    take_terms(&terms, 0, 20, 40);
    assert_int_equal(assign(&terms, false), 20); /* aborted: the numbers are given again */
    check_numbers(&terms, 1);
    take_terms(&terms, 0, 20, 40);
    must(lexicon_find_all(terms.lexicon, &terms.set, &why), &why);
    for (size_t i = 0; i < 20; i++) {
        assert_int_equal(terms.set.terms[i].id, OID_NONE);
    }
    take_terms(&terms, 10, 20, 40);
    assert_int_equal(assign(&terms, true), 20);
    check_numbers(&terms, 1);
    take_terms(&terms, 0, 40, 40); /* 10 .. 29 are there */
    (void)term_set_add(&terms.set, &inline_term);
    terms.set.terms[3].unwanted = terms.set.terms[15].unwanted = true;
    terms.set.terms[7].id = oid_stored(77, OID_KIND_BLANK);
    assert_int_equal(assign(&terms, true), 18);
    assert_int_equal(terms.set.terms[2].id, oid_stored(23, OID_KIND_IRI));
    assert_int_equal(terms.set.terms[3].id, OID_NONE);
    assert_int_equal(terms.set.terms[4].id, oid_stored(24, OID_KIND_IRI));
    assert_int_equal(terms.set.terms[7].id, oid_stored(77, OID_KIND_BLANK));
    assert_int_equal(terms.set.terms[14].id, oid_stored(5, OID_KIND_IRI));
    assert_int_equal(terms.set.terms[15].id, OID_NONE);
    assert_int_equal(terms.set.terms[39].id, oid_stored(38, OID_KIND_IRI));
    assert_int_equal(terms.set.terms[40].id, oid_inline_of(&inline_term));
    assert_int_equal(nodes_next(lexicon_nodes(terms.lexicon)), 39);
    const struct term none = {.kind = TERM_NONE};
    oid id = 7;
    must(lexicon_find(terms.lexicon, &none, &id, &why), &why);
    assert_int_equal(id, OID_NONE);
    must(lexicon_find(terms.lexicon, &inline_term, &id, &why), &why);
    assert_int_equal(id, oid_inline_of(&inline_term));
    must(lexicon_find(terms.lexicon, &terms.set.terms[14].term, &id, &why), &why);
    assert_int_equal(id, oid_stored(5, OID_KIND_IRI));
    must(lexicon_find(terms.lexicon, &terms.set.terms[3].term, &id, &why), &why);
    assert_int_equal(id, OID_NONE);
    close_terms(&terms);
}

static void
recent_terms_are_not_looked_up(void **state)
{
    static const struct {
        int length;
        bool remembered;
    } lengths[] = {{40, true}, {512, true}, {513, false}};
    struct terms terms;
    struct reason why = {""};
    (void)state;
    open_terms(&terms);
    for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        take_terms(&terms, 0, 3, lengths[i].length);
        assert_int_equal(assign(&terms, true), 3);
        assert_true(looked_up > 0);
        for (int again = 0; again < 2; again++) {
            take_terms(&terms, 0, 3, lengths[i].length);
            assert_int_equal(assign(&terms, true), 0);
            check_numbers(&terms, 1 + 3 * i);
            assert_int_equal(looked_up == 0, lengths[i].remembered);
        }
        /* Who asks what is stored is not told what memory recalls. */
        take_terms(&terms, 0, 3, lengths[i].length);
        looked_up = 0;
        must(lexicon_find_stored(terms.lexicon, &terms.set, &why), &why);
        check_numbers(&terms, 1 + 3 * i);
        assert_true(looked_up > 0);
        take_terms(&terms, 0, 3, lengths[i].length);
        looked_up = 0;
        must(lexicon_find_all(terms.lexicon, &terms.set, &why), &why);
        check_numbers(&terms, 1 + 3 * i);
        assert_int_equal(looked_up == 0, lengths[i].remembered);
    }
    /* Those that are used again and again stay, whatever comes between; those that are not go. */
    for (unsigned round = 1; round <= 60; round++) {
        take_terms(&terms, 1000 * round, 50, 40);
        assert_int_equal(assign(&terms, true), 50);
        take_terms(&terms, 0, 3, 40);
        assert_int_equal(assign(&terms, true), 0);
        assert_int_equal(looked_up, 0);
        check_numbers(&terms, 1);
    }
    take_terms(&terms, 60000, 50, 40);
    assert_int_equal(assign(&terms, true), 0);
    assert_int_equal(looked_up, 0);
    take_terms(&terms, 1000, 50, 40);
    assert_int_equal(assign(&terms, true), 0);
    assert_true(looked_up > 0);
    /* When there are more than memory holds, those are remembered that were stored before. */
    take_terms(&terms, 100000, TERMS_MOST, 40);
    for (unsigned i = 0; i < 3; i++) {
        char text[64];
        snprintf(text, sizeof text, "http://%033u", 2000 + i);
        const struct term term = term_iri(slice_string(text));
        (void)term_set_add(&terms.set, &term);
    }
    assert_int_equal(assign(&terms, true), TERMS_MOST);
    take_terms(&terms, 2000, 3, 40);
    (void)assign(&terms, true);
    assert_int_equal(looked_up, 0);
    take_terms(&terms, 100000 + TERMS_MOST - 3, 3, 40);
    assert_int_equal(assign(&terms, true), 0);
    assert_true(looked_up > 0);
    close_terms(&terms);
}

struct walked {
    struct terms *terms;
    struct buf last;
    size_t count, most; /* visits; the one that ends the walk */
};

static enum status
visit_key(void *context, struct slice key, oid id, struct reason *why)
{
    struct walked *walked = context;
    assert_true(slice_compare(buf_slice(&walked->last), key) < 0);
    buf_reset(&walked->last);
    (void)buf_append_slice(&walked->last, key);
    char text[64];
    snprintf(text, sizeof text, "Ihttp://%033u", (unsigned)(oid_number(id) - 1));
    assert_true(slice_is(key, text));
    return ++walked->count == walked->most ? status_fail(why, STATUS_LIMIT, "enough") : STATUS_OK;
}

static void
many_terms_are_found_and_walked(void **state)
{
    struct terms terms;
    struct reason why = {""};
    struct walked walked = {.terms = &terms};
    (void)state;
    open_terms(&terms);
    buf_init(&walked.last, 1 << 10);
    must(lexicon_walk(terms.lexicon, visit_key, &walked, &why), &why);
    assert_int_equal(walked.count, 0);
    take_terms(&terms, 0, TERMS_MOST, 40);
    assert_int_equal(assign(&terms, true), TERMS_MOST);
    take_terms(&terms, 0, TERMS_MOST + 5, 40);
    looked_up = 0;
    must(lexicon_find_stored(terms.lexicon, &terms.set, &why), &why);
    assert_true(looked_up > LATCH_BLOCKS && looked_up < TERMS_MOST / 4);
    for (size_t i = 0; i < TERMS_MOST + 5; i++) {
        assert_int_equal(terms.set.terms[i].id,
                         i < TERMS_MOST ? oid_stored(i + 1, OID_KIND_IRI) : OID_NONE);
    }
    must(lexicon_walk(terms.lexicon, visit_key, &walked, &why), &why);
    assert_int_equal(walked.count, TERMS_MOST);
    buf_reset(&walked.last);
    walked.count = 0;
    walked.most = 700;
    assert_int_equal(lexicon_walk(terms.lexicon, visit_key, &walked, &why), STATUS_LIMIT);
    assert_int_equal(walked.count, walked.most);
    /* A block that cannot be read ends it. */
    for (unsigned at = 1; at <= 2; at++) {
        walked.count = walked.most = looked_up = 0;
        buf_reset(&walked.last);
        fails_at = at;
        assert_int_equal(lexicon_walk(terms.lexicon, visit_key, &walked, &why), STATUS_SYSTEM);
        looked_up = 0;
        take_terms(&terms, 0, TERMS_MOST, 40);
        assert_int_equal(lexicon_find_stored(terms.lexicon, &terms.set, &why), STATUS_SYSTEM);
        assert_int_equal(looked_up, at);
        fails_at = 0;
    }
    buf_release(&walked.last);
    close_terms(&terms);
}

int
index_outcomes_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_document_leaves_what_is_known_of_it),
        cmocka_unit_test(of_doubles_the_latest_is_left),
        cmocka_unit_test(room_is_asked_for_what_is_written),
        cmocka_unit_test(terms_are_numbered_in_the_order_of_the_set),
        cmocka_unit_test(recent_terms_are_not_looked_up),
        cmocka_unit_test(many_terms_are_found_and_walked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
