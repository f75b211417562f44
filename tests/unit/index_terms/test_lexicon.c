/* Terms and their identifiers beside an array of both: batches that come and are taken back, trees
 * changed in their places and built anew; blocks of keys, and what is malformed. */
#include "tests/unit/index/index_fixture.h"

#include "base/memory.h"
#include "index/terms/lexicon.h"
#include "index/terms/term_blocks.h"
#include "index/terms/terms_write.h"
#include "index/trees/fences.h"

enum { POOL = 3000, CACHE = 1 << 20, MEMORY = 64 << 10, ROUNDS = 40, TEXT = 400 };

static char folder[SCRATCH_SIZE];
static struct environment *environment;
static struct lexicon *lexicon;
static struct reason why;

static void
open_lexicon(void)
{
    const struct environment_options options = {
        .folder = folder, .cache_bytes = CACHE, .checkpoint_bytes = CACHE, .no_sync = true};
    must(environment_open(&environment, &options, &why), &why);
    must(lexicon_open(&lexicon, environment, MEMORY, MEMORY, &why), &why);
}

static void
close_lexicon(void)
{
    lexicon_close(lexicon);
    environment_close(environment);
}

/* ---- the pool ---- */

static struct {
    struct term term;
    oid id; /* OID_NONE: not stored yet */
} pool[POOL];
static uint64_t next; /* number of the next new term */

/* Their keys begin alike, and some differ in the last byte alone, or in a kind, or in what a long
 * key has no room for. */
static void
make_pool(void)
{
    for (unsigned i = 0; i < POOL; i++) {
        const unsigned group = i / 10, kind = i % 10;
        char *text = memory_alloc(TEXT);
        struct term *term = &pool[i].term;
        memset(text, 'x', TEXT);
        const int at = snprintf(text, TEXT, "http://host%u.example/%u", group % 7, group);
        struct slice value = slice_of(text, (size_t)at);
        if (kind == 1 || kind == 2) { /* the longest that stays whole, and one more */
            value.length = (size_t)(157 + kind);
        } else if (kind == 3) {
            value.length = TEXT - group % 3;
        }
        text[at] = 'x';
        *term = (struct term){.kind = kind < 4 ? TERM_IRI : TERM_LITERAL, .value = value};
        if (kind == 4) {
            term->kind = TERM_BLANK;
        } else if (kind == 5) {
            term->datatype = SLICE("http://type.example/");
        } else if (kind == 6) {
            term->language = SLICE("en");
        } else if (kind == 7) {
            term->language = SLICE("de");
        } else if (kind == 8) {
            term->datatype = SLICE("http://www.w3.org/2001/XMLSchema#integer");
            term->value = slice_of(text, (size_t)snprintf(text, TEXT, "%u", i));
            pool[i].id = oid_inline_of(term);
            assert_true(pool[i].id != OID_NONE);
        }
    }
}

static void
set_add(struct term_set *set, unsigned chosen[], unsigned i)
{
    const uint32_t at = term_set_add(set, &pool[i].term);
    chosen[at] = i;
}

/* ---- batches ---- */

static void
assign(size_t count, size_t build_from, bool commits)
{
    static unsigned chosen[POOL];
    static oid before[POOL];
    struct term_set set;
    struct transaction *transaction;
    uint64_t added, first = next;
    term_set_init(&set);
    for (size_t i = 0; i < count; i++) {
        set_add(&set, chosen, (unsigned)(random_number() % POOL));
    }
    for (size_t i = 0; i < set.count; i++) {
        set.terms[i].unwanted = random_number() % 20 == 0;
        before[i] = pool[chosen[i]].id;
        if (random_number() % 20 == 0) {
            set.terms[i].id = before[i];
        }
    }
    must(transaction_begin(&transaction, environment, 0, &why), &why);
    must(lexicon_assign(lexicon, transaction, &set, build_from, &added, &why), &why);
    for (size_t i = 0; i < set.count; i++) {
        const struct set_term *term = &set.terms[i];
        if (term->unwanted) {
            assert_true(term->id == OID_NONE || term->id == before[i]);
        } else if (before[i] != OID_NONE) {
            assert_int_equal(term->id, before[i]);
        } else {
            assert_int_equal(term->id, oid_stored(next++, oid_kind_of(&pool[chosen[i]].term)));
            pool[chosen[i]].id = term->id;
        }
    }
    assert_int_equal(added, next - first);
    if (commits) {
        must(transaction_commit(transaction, &why), &why);
        nodes_committed(lexicon_nodes(lexicon));
    } else {
        transaction_abort(transaction);
        must(lexicon_forget(lexicon, &why), &why);
        for (size_t i = 0; i < set.count; i++) {
            pool[chosen[i]].id = before[i];
        }
        next = first;
    }
    term_set_release(&set);
}

static void
look_up(void)
{
    static unsigned chosen[POOL];
    for (unsigned stored = 0; stored < 2; stored++) {
        struct term_set set;
        term_set_init(&set);
        for (unsigned i = 0; i < 200; i++) {
            set_add(&set, chosen, (unsigned)(random_number() % POOL));
        }
        set.terms[0].unwanted = true;
        must(stored ? lexicon_find_stored(lexicon, &set, &why)
                    : lexicon_find_all(lexicon, &set, &why),
             &why);
        assert_int_equal(set.terms[0].id, OID_NONE);
        for (size_t i = 1; i < set.count; i++) {
            assert_int_equal(set.terms[i].id, pool[chosen[i]].id);
        }
        term_set_release(&set);
    }
    for (unsigned i = 0; i < 50; i++) {
        const unsigned at = (unsigned)(random_number() % POOL);
        oid id;
        must(lexicon_find(lexicon, &pool[at].term, &id, &why), &why);
        assert_int_equal(id, pool[at].id);
    }
    oid id = 1;
    must(lexicon_find(lexicon, &(struct term){.kind = TERM_NONE}, &id, &why), &why);
    assert_int_equal(id, OID_NONE);
}

struct walking {
    char last[TERM_KEY_MAXIMUM];
    size_t length;
    uint64_t count, stop_at;
    bool seen[POOL + 1]; /* by number */
};

static enum status
visit_key(void *context, struct slice key, oid id, struct reason *reason)
{
    struct walking *walking = context;
    assert_true(slice_compare(slice_of(walking->last, walking->length), key) < 0);
    memcpy(walking->last, key.at, key.length);
    walking->length = key.length;
    assert_in_range(oid_number(id), 1, next - 1);
    assert_false(walking->seen[oid_number(id)]);
    walking->seen[oid_number(id)] = true;
    return ++walking->count == walking->stop_at ? status_fail(reason, STATUS_FULL, "enough")
                                                : STATUS_OK;
}

static void
walk(void)
{
    static struct walking walking;
    walking = (struct walking){.length = 0};
    must(lexicon_walk(lexicon, visit_key, &walking, &why), &why);
    assert_int_equal(walking.count, next - 1);
    walking = (struct walking){.stop_at = next / 2};
    if (next > 2) {
        assert_int_equal(lexicon_walk(lexicon, visit_key, &walking, &why), STATUS_FULL);
        assert_int_equal(walking.count, next / 2);
    }
}

static void
terms_keep_their_identifiers(void **state)
{
    (void)state;
    next = 1;
    for (unsigned round = 0; round < ROUNDS; round++) {
        assign(random_number() % (round % 5 == 0 ? 900 : 60), round % 3 == 0 ? 1 : 0,
               round % 4 != 3);
        assert_int_equal(nodes_next(lexicon_nodes(lexicon)), next);
        look_up();
        walk();
        if (round % 8 == 5) {
            close_lexicon();
            open_lexicon();
        }
    }
    assert_true(next > POOL / 4);
    assert_true(lexicon_bytes(lexicon) > 10 * CACHE / 1024);
    for (unsigned i = 0; i < POOL; i++) { /* all terms are those of their numbers */
        struct arena arena;
        struct term term;
        struct nodes_reader *reader = nodes_reader_new(lexicon_nodes(lexicon));
        arena_init(&arena, 0);
        if (pool[i].id != OID_NONE) {
            must(nodes_resolve(reader, pool[i].id, &arena, &term, &why), &why);
            assert_true(term_equal(&term, &pool[i].term));
        }
        arena_release(&arena);
        nodes_reader_free(reader);
    }
}

/* ---- blocks ---- */

static int
compare_term_keys(const void *a, const void *b)
{
    return slice_compare(term_key_slice(a), term_key_slice(b));
}

static void
assert_block(const uint8_t *bytes, size_t length, const struct term_key *keys, size_t count)
{
    struct term_block_reader reader;
    size_t n = 0;
    term_block_open(&reader, bytes, length);
    while (term_block_next(&reader)) {
        assert_true(slice_equal(term_key_slice(&reader.key), term_key_slice(&keys[n])));
        assert_int_equal(reader.id, oid_stored(1 + n * 7919 % 5000, OID_KIND_BLANK));
        n++;
    }
    assert_false(reader.bad);
    assert_int_equal(n, count);
    /* Its beginning has fewer, or is bad. */
    for (size_t cut = 0; cut < length; cut++) {
        size_t less = 0;
        term_block_open(&reader, bytes, cut);
        while (term_block_next(&reader)) {
            assert_true(slice_equal(term_key_slice(&reader.key), term_key_slice(&keys[less++])));
        }
        assert_true(reader.bad || less < count || count == 0);
        assert_false(term_block_next(&reader));
    }
}

static void
blocks_of_keys_come_back(void **state)
{
    (void)state;
    enum { KEYS = 400 };
    static struct term_key keys[KEYS];
    uint8_t bytes[BLOCK_MAXIMUM + TERM_ENTRY_BYTES];
    struct term_block_writer writer;
    for (unsigned i = 0; i < KEYS; i++) {
        term_key_of(&pool[i * 7].term, &keys[i]);
    }
    qsort(keys, KEYS, sizeof *keys, compare_term_keys);
    for (size_t size = 20; size <= BLOCK_MAXIMUM; size += 47) {
        size_t count = 0;
        bool more = true;
        term_block_begin(&writer, bytes, size);
        while (more) {
            const struct term_entry entry = {keys[count].bytes, keys[count].length,
                                             oid_stored(1 + count * 7919 % 5000, OID_KIND_BLANK)};
            more = term_block_add(&writer, &entry);
            count += more;
        }
        const size_t length = term_block_end(&writer);
        assert_true(length <= size);
        assert_true(length + TERM_ENTRY_BYTES > size || count == TERM_ENTRY_MOST);
        assert_block(bytes, length, keys, count);
    }
    /* Never more entries than a reader has room for. */
    char short_keys[TERM_ENTRY_MOST + 2][2];
    size_t count = 0;
    bool more = true;
    term_block_begin(&writer, bytes, BLOCK_MAXIMUM);
    while (more) {
        short_keys[count][0] = (char)('a' + count / 16);
        short_keys[count][1] = (char)('a' + count % 16);
        const struct term_entry entry = {(uint8_t *)short_keys[count], 2,
                                         oid_stored(count + 1, OID_KIND_IRI)};
        more = term_block_add(&writer, &entry);
        count += more;
        assert_true(count <= TERM_ENTRY_MOST);
    }
    struct term_block_reader reader;
    size_t read = 0;
    term_block_open(&reader, bytes, term_block_end(&writer));
    while (term_block_next(&reader)) {
        read++;
    }
    assert_false(reader.bad);
    assert_int_equal(read, count);
}

static void
fences_are_the_shortest_between(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3000; i++) {
        char left[6], right[6];
        const size_t lengths[2] = {1 + random_number() % 6, 1 + random_number() % 6};
        for (size_t k = 0; k < 6; k++) {
            left[k] = (char)('a' + random_number() % 2);
            right[k] = (char)('a' + random_number() % 2);
        }
        const struct slice a = slice_of(left, lengths[0]), b = slice_of(right, lengths[1]);
        if (slice_compare(a, b) >= 0) {
            continue;
        }
        const struct slice fence = term_fence(a, b);
        assert_true(slice_compare(a, fence) <= 0 && slice_compare(fence, b) < 0);
        for (size_t length = 0; length < b.length; length++) {
            const bool possible = slice_compare(slice_of(b.at, length), a) > 0;
            assert_true(!possible || (fence.at == b.at && fence.length <= length));
        }
        assert_true(fence.at == b.at || slice_equal(fence, a));
    }
}

/* ---- what is malformed ---- */

static void
malformed_blocks_of_terms_are_told(void **state)
{
    (void)state;
    /* Codec, then: shared bytes, further bytes, the bytes, number and kind. */
    static const struct slice malformed[] = {
        SLICE_INIT("\x02\0\x02Ia\x11"),
        SLICE_INIT("\0\0\x02Ia\x11"),
        SLICE_INIT("\x01\0"),
        SLICE_INIT("\x01\x01\x02Ia\x11"),
        SLICE_INIT("\x01\0\x03Ia"),
        SLICE_INIT("\x01\0\x02Ia"),
        SLICE_INIT("\x01\0\x02Ia\x91"),
        SLICE_INIT("\x01\x80"),
        SLICE_INIT("\x01\0\x80"),
        SLICE_INIT("\x01\0\xff\x7fIa\x11"),
        SLICE_INIT("\x01\0\x02Ia\x11\x03\x01q\x11"),
    };
    struct tree *terms = lexicon_terms(lexicon);
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        struct transaction *transaction;
        static struct walking walking;
        struct term_set set;
        uint64_t added;
        oid id;
        const struct term after = term_iri(SLICE("zz"));
        next = 100;
        must(transaction_begin(&transaction, environment, 0, &why), &why);
        must(tree_put(terms, transaction, FENCE_LAST, malformed[i], &why), &why);
        must(transaction_commit(transaction, &why), &why);
        assert_int_equal(lexicon_find(lexicon, &after, &id, &why), STATUS_CORRUPT);
        assert_non_null(strstr(why.text, "tree terms: a block is malformed"));
        walking = (struct walking){.length = 0};
        assert_int_equal(lexicon_walk(lexicon, visit_key, &walking, &why), STATUS_CORRUPT);
        for (size_t build_from = 0; build_from < 2; build_from++) {
            term_set_init(&set);
            (void)term_set_add(&set, &after);
            assert_int_equal(lexicon_find_stored(lexicon, &set, &why), STATUS_CORRUPT);
            must(transaction_begin(&transaction, environment, 0, &why), &why);
            assert_int_equal(lexicon_assign(lexicon, transaction, &set, build_from, &added, &why),
                             STATUS_CORRUPT);
            transaction_abort(transaction);
            must(lexicon_forget(lexicon, &why), &why);
            assert_int_equal(nodes_next(lexicon_nodes(lexicon)), 1);
            term_set_release(&set);
        }
    }
}

/* ---- setup ---- */

static int
set_up(void **state)
{
    (void)state;
    assert_true(scratch_folder(folder, "lexicon"));
    open_lexicon();
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    close_lexicon();
    fixture_run("rm -rf %s%s", folder, "");
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* Who gives back what he never had does no harm. */
static void
what_never_was_is_let_go(void **state)
{
    (void)state;
    lexicon_close(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(terms_keep_their_identifiers),
        cmocka_unit_test(blocks_of_keys_come_back),
        cmocka_unit_test(fences_are_the_shortest_between),
        TEST(malformed_blocks_of_terms_are_told),
        cmocka_unit_test(what_never_was_is_let_go),
    };
    make_pool();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
