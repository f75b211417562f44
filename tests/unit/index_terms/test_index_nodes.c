/* Terms by their numbers: found at any moment once they are committed, and as they were appended,
 * whatever their kinds and lengths; malformed blocks are told. */
#include "tests/unit/index/index_fixture.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/codec.h"
#include "base/memory.h"
#include "index/terms/node_cache.h"
#include "index/terms/nodes.h"
#include "index/terms/term_cache.h"

enum { TERMS = 1500, TOGETHER = 3, CACHE = 1 << 20 };

static char folder[SCRATCH_SIZE];
static struct environment *environment;
static struct nodes *nodes;

static int
set_up(void **state)
{
    (void)state;
    struct reason why = {""};
    assert_true(scratch_folder(folder, "test_index_nodes"));
    const struct environment_options options = {
        .folder = folder, .cache_bytes = CACHE, .checkpoint_bytes = CACHE};
    must(environment_open(&environment, &options, &why), &why);
    must(nodes_open(&nodes, environment, 1, &why), &why); /* no room for unpacked blocks */
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    nodes_close(nodes);
    environment_close(environment);
    fixture_run("rm -rf %s%s", folder, "");
    return 0;
}

struct reading {
    atomic_uint_fast64_t committed; /* numbers below */
    atomic_bool end;
    uint64_t looks, failures;
    struct reason why;
};

static void *
look_for_the_last(void *context)
{
    struct reading *reading = context;
    struct arena arena;
    arena_init(&arena, 0);
    while (!atomic_load(&reading->end)) {
        const uint64_t number = atomic_load(&reading->committed) - 1;
        struct nodes_reader *reader = nodes_reader_new(nodes); /* which remembers nothing */
        struct term term;
        if (number > 0) {
            const enum status status = nodes_resolve(reader, oid_stored(number, OID_KIND_STRING),
                                                     &arena, &term, &reading->why);
            reading->looks++;
            reading->failures += status != STATUS_OK;
        }
        nodes_reader_free(reader);
        arena_reset(&arena);
    }
    arena_release(&arena);
    return NULL;
}

struct literal {
    uint64_t number; /* of the first of them */
    char text[32];
    struct term term;
};

static const struct term *
literal_at(void *context, size_t i)
{
    struct literal *literal = context;
    snprintf(literal->text, sizeof literal->text, "literal %llu",
             (unsigned long long)literal->number + i);
    literal->term = term_literal(slice_string(literal->text));
    return &literal->term;
}

static void
the_last_terms_are_found_while_their_block_is_filled(void **state)
{
    (void)state;
    pthread_t reader;
    struct reason why = {""};
    struct reading reading = {.committed = 1};
    assert_int_equal(pthread_create(&reader, NULL, look_for_the_last, &reading), 0);
    for (uint64_t number = 1; number < TERMS; number += TOGETHER) {
        struct transaction *transaction;
        struct literal literal = {.number = number};
        must(transaction_begin(&transaction, environment, 0, &why), &why);
        must(nodes_append(nodes, transaction, literal_at, &literal, TOGETHER, &why), &why);
        must(transaction_commit_unsynced(transaction, &why), &why);
        nodes_committed(nodes);
        atomic_store(&reading.committed, nodes_next(nodes));
    }
    atomic_store(&reading.end, true);
    pthread_join(reader, NULL);
    print_message("%llu looks\n", (unsigned long long)reading.looks);
    assert_true(reading.looks > 0);
    if (reading.failures > 0) {
        fail_msg("%llu terms were not found: %s", (unsigned long long)reading.failures,
                 reading.why.text);
    }
}

static enum status
expect_next(void *context, oid id, const struct term *term, struct reason *why)
{
    uint64_t *number = context;
    char text[32];
    (void)why;
    snprintf(text, sizeof text, "literal %llu", (unsigned long long)++*number);
    assert_int_equal(oid_number(id), *number);
    assert_true(slice_is(term->value, text));
    return STATUS_OK;
}

static void
a_walk_finds_all_in_order(void **state)
{
    (void)state;
    uint64_t number = 0;
    struct reason why = {""};
    must(nodes_walk(nodes, 1, expect_next, &number, &why), &why);
    assert_int_equal(number + 1, nodes_next(nodes));
}

/* ---- beside an array of terms ---- */

enum { MODEL = 12000, LONGEST = 300000, WIDE = 5000, BLOCK_MOST = 985, MEMORY = 1 << 20 };

static struct model {
    struct term terms[MODEL + 1];
    oid ids[MODEL + 1];
    uint64_t next;
} model;

static const struct term *
model_at(void *context, size_t i)
{
    const struct model *m = context;
    return &m->terms[m->next + i];
}

/* Makes terms of all kinds, some long, some that pack to next to nothing, and some that do not at
 * all. */
static void
make_term(uint64_t number)
{
    static const enum oid_kind kinds[] = {OID_KIND_IRI, OID_KIND_BLANK, OID_KIND_STRING,
                                          OID_KIND_TYPED, OID_KIND_LANGUAGE};
    struct term *term = &model.terms[number];
    size_t length = random_number() % 90;
    if (number % 1700 == 3) {
        length = LONGEST + random_number() % 1000;
    } else if (number % 50 == 7) {
        length = random_number() % WIDE;
    }
    char *text = memory_alloc(length + 40);
    int at = snprintf(text, 40, "http://terms.example/%llu/", (unsigned long long)number);
    const bool noise = number % 3 == 0;
    for (size_t i = 0; i < length; i++) {
        text[at++] = (char)(noise ? random_number() % 256 : 'a' + number % 7);
    }
    const size_t kind = random_number() % (sizeof kinds / sizeof *kinds);
    *term = (struct term){.kind = kind == 0   ? TERM_IRI
                                  : kind == 1 ? TERM_BLANK
                                              : TERM_LITERAL,
                          .value = slice_of(text, (size_t)at)};
    if (kinds[kind] == OID_KIND_TYPED) {
        term->datatype = number % 2 == 0 ? SLICE("http://type.example/one") : SLICE("a:t");
    } else if (kinds[kind] == OID_KIND_LANGUAGE) {
        term->language = number % 2 == 0 ? SLICE("en") : SLICE("de-AT");
    }
    model.ids[number] = oid_stored(number, kinds[kind]);
}

static void
append(size_t count, bool commits)
{
    struct transaction *transaction;
    struct reason why = {""};
    for (size_t i = 0; i < count; i++) {
        free((void *)(uintptr_t)model.terms[model.next + i].value.at);
        make_term(model.next + i);
    }
    must(transaction_begin(&transaction, environment, 0, &why), &why);
    must(nodes_append(nodes, transaction, model_at, &model, count, &why), &why);
    assert_int_equal(nodes_next(nodes), model.next + count);
    if (commits) {
        must(transaction_commit_unsynced(transaction, &why), &why);
        nodes_committed(nodes);
        model.next += count;
    } else {
        transaction_abort(transaction);
        must(nodes_reload(nodes, &why), &why);
        assert_int_equal(nodes_next(nodes), model.next);
    }
}

static void
look_up(struct nodes_reader *reader, uint64_t number)
{
    struct reason why = {""};
    struct arena arena;
    struct term term;
    arena_init(&arena, 0);
    const oid other = oid_stored(
        number, oid_kind(model.ids[number]) == OID_KIND_IRI ? OID_KIND_BLANK : OID_KIND_IRI);
    if (number % 4 == 0) {
        assert_int_equal(nodes_resolve(reader, other, &arena, &term, &why), STATUS_CORRUPT);
    }
    for (unsigned times = 0; times < 2; times++) {
        must(nodes_resolve(reader, model.ids[number], &arena, &term, &why), &why);
        assert_true(term_equal(&term, &model.terms[number]));
    }
    if (number % 4 == 1) {
        assert_int_equal(nodes_resolve(reader, other, &arena, &term, &why), STATUS_CORRUPT);
        assert_non_null(strstr(why.text, "of another kind"));
    }
    arena_release(&arena);
    struct arena small;
    arena_init(&small, 16);
    assert_int_equal(nodes_resolve(reader, model.ids[number], &small, &term, &why), STATUS_LIMIT);
    arena_release(&small);
}

struct walking {
    uint64_t next, end_at;
};

static enum status
expect_model(void *context, oid id, const struct term *term, struct reason *why)
{
    struct walking *walking = context;
    assert_int_equal(id, model.ids[walking->next]);
    assert_true(term_equal(term, &model.terms[walking->next]));
    return ++walking->next == walking->end_at ? status_fail(why, STATUS_FULL, "enough") : STATUS_OK;
}

static void
check_model(void)
{
    struct reason why = {""};
    struct nodes_reader *reader = nodes_reader_new(nodes);
    struct arena arena;
    struct term term;
    for (unsigned i = 0; i < 300; i++) {
        look_up(reader, 1 + random_number() % (model.next - 1));
    }
    look_up(reader, 1);
    look_up(reader, model.next - 1);
    arena_init(&arena, 0);
    for (unsigned past = 0; past < 2; past++) {
        assert_int_equal(
            nodes_resolve(reader, oid_stored(model.next + past, OID_KIND_IRI), &arena, &term, &why),
            STATUS_CORRUPT);
        assert_non_null(strstr(why.text, "no term has the number"));
    }
    arena_release(&arena);
    nodes_reader_free(reader);
    const uint64_t firsts[] = {0, 1, 2, model.next / 2, model.next - 1, model.next};
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
        struct walking walking = {firsts[i] > 0 ? firsts[i] : 1, 0};
        must(nodes_walk(nodes, firsts[i], expect_model, &walking, &why), &why);
        assert_int_equal(walking.next, model.next);
    }
    struct walking walking = {1, 1 + model.next / 2};
    assert_int_equal(nodes_walk(nodes, 1, expect_model, &walking, &why), STATUS_FULL);
    assert_string_equal(why.text, "enough");
    assert_int_equal(walking.next, walking.end_at);
}

/* Blocks of several terms fit in a quarter of a page, and are more than half full on average,
 * though some terms are long and some batches small. */
static void
check_blocks(void)
{
    struct reason why = {""};
    struct tree *tree;
    struct tree_cursor *cursor;
    static uint8_t value[1 << 19];
    uint8_t key[8];
    size_t key_length, length, blocks = 0, bytes = 0;
    uint64_t next = 1;
    must(tree_open(&tree, environment, "nodes", &why), &why);
    must(tree_cursor_open(&cursor, tree, NULL, &why), &why);
    enum tree_move move = TREE_FIRST;
    while (tree_cursor_move(cursor, move, key, sizeof key, &key_length, value, sizeof value,
                            &length, &why) == STATUS_OK) {
        struct codec_reader reader = codec_reader_of(slice_of((char *)value, length));
        if (codec_get_u8(&reader) == 2) {
            assert_in_range(codec_get_varint(&reader), 1, 2);
        }
        assert_int_equal(codec_get_varint(&reader), next);
        const uint64_t count = codec_get_varint(&reader);
        next += count;
        assert_int_equal(codec_read_u64(key), next - 1);
        assert_true(count == 1 || length <= BLOCK_MOST);
        blocks += length <= BLOCK_MOST;
        bytes += length <= BLOCK_MOST ? length : 0;
        move = TREE_NEXT;
    }
    assert_int_equal(next, model.next);
    print_message("%zu blocks of %zu bytes\n", blocks, bytes / blocks);
    assert_true(bytes > blocks * BLOCK_MOST / 2);
    tree_cursor_close(cursor);
    tree_close(tree);
}

static void
terms_come_back_as_they_were_appended(void **state)
{
    (void)state;
    struct reason why = {""};
    model.next = 1;
    append(0, true);
    while (model.next < MODEL - 2600) {
        const unsigned kind = random_number() % 4;
        append(kind == 0 ? 1 + random_number() % 3 : random_number() % 2500, kind != 1);
        if (model.next > 1) {
            check_model();
        }
        if (kind == 2) {
            nodes_close(nodes);
            must(nodes_open(&nodes, environment, kind == 2 ? MEMORY : 1, &why), &why);
            assert_int_equal(nodes_next(nodes), model.next);
        }
    }
    check_blocks();
}

/* ---- what caches are given ---- */

static size_t put_bytes, put_blocks;

__typeof__(term_cache_put) __real_term_cache_put, __wrap_term_cache_put;
__typeof__(node_cache_put) __real_node_cache_put, __wrap_node_cache_put;

bool
__wrap_term_cache_put(struct term_cache *cache, uint64_t number, struct slice entry)
{
    const bool kept = __real_term_cache_put(cache, number, entry);
    put_bytes += kept ? entry.length : 0;
    return kept;
}

void
__wrap_node_cache_put(struct node_cache *cache, uint64_t number, struct node_block *block)
{
    put_blocks++;
    __real_node_cache_put(cache, number, block);
}

/* Resolves so many of the model's terms, each `step` after the one before. */
static void
resolve_all(uint64_t count, uint64_t step)
{
    struct nodes_reader *reader = nodes_reader_new(nodes);
    struct reason why = {""};
    struct arena arena;
    arena_init(&arena, 0);
    put_bytes = put_blocks = 0;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t number = i * step % (model.next - 1) + 1;
        struct term term;
        must(nodes_resolve(reader, model.ids[number], &arena, &term, &why), &why);
        assert_true(term_equal(&term, &model.terms[number]));
        arena_reset(&arena);
    }
    arena_release(&arena);
    nodes_reader_free(reader);
}

static void
who_goes_through_all_takes_few_places(void **state)
{
    enum { CACHES = 128 << 10, ROOM = CACHES / 2 };
    struct reason why = {""};
    (void)state;
    nodes_close(nodes);
    must(nodes_open(&nodes, environment, CACHES, &why), &why);
    for (int again = 0; again < 3; again++) {
        resolve_all(model.next - 1, 1);
        print_message("%zu bytes, %zu blocks\n", put_bytes, put_blocks);
        assert_in_range(put_bytes, again ? 0 : ROOM / 8, ROOM / 2);
        assert_in_range(put_blocks, 0, again ? 8 : 40);
    }
    resolve_all(2000, 7919);
    assert_true(put_blocks > 100);
}

/* ---- malformed blocks ---- */

static void
put_last(const struct slice *block)
{
    struct reason why = {""};
    struct tree *tree;
    struct transaction *transaction;
    uint8_t key[8];
    memset(key, 0xff, sizeof key);
    const struct slice name = slice_of((char *)key, sizeof key);
    must(tree_open(&tree, environment, "nodes", &why), &why);
    must(transaction_begin(&transaction, environment, 0, &why), &why);
    must(block != NULL ? tree_put(tree, transaction, name, *block, &why)
                       : tree_delete(tree, transaction, name, &why),
         &why);
    must(transaction_commit(transaction, &why), &why);
    tree_close(tree);
}

static void
malformed_blocks_are_told(void **state)
{
    (void)state;
    /* Codec, number of the first, count, length, entries. */
    static const struct slice malformed[] = {
        SLICE_INIT(""),
        SLICE_INIT("\0"),
        SLICE_INIT("\0\x01\x01"),
        SLICE_INIT("\0\x01\x01\x03\x01\x01"),   /* shorter, */
        SLICE_INIT("\0\x01\x01\x03\x01\x01yz"), /* or longer than it says */
        SLICE_INIT("\0\x01\x01\x04\x01\x01yz"), /* bytes after the term */
        SLICE_INIT("\0\x01\x02\x03\x01\x01y"),  /* no second term */
        SLICE_INIT("\0\x01\x01\x03\x01\x02y"),  /* a text that ends too early */
        SLICE_INIT("\0\x01\x01\x03\x06\x01y"),  /* kinds that are none */
        SLICE_INIT("\0\x01\x01\x03\0\x01y"),
        SLICE_INIT("\0\x01\x01\x03\x04\x01y"),            /* a datatype and no text */
        SLICE_INIT("\0\x01\x04\x03\x01\x01y"),            /* more terms than bytes */
        SLICE_INIT("\0\x01\x01\xff\xff\xff\xff\x7f\x01"), /* too long for any */
        SLICE_INIT("\x01\x01\x01\x03\x01\x01y"),          /* not packed */
        SLICE_INIT("\x02\x07\x01\x01\x03\x01\x01y"),
        SLICE_INIT("\x03\x01\x01\x03\x01\x01y"), /* a codec that is none */
    };
    struct reason why = {""};
    nodes_close(nodes);
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        put_last(&malformed[i]);
        const enum status status = nodes_open(&nodes, environment, 1, &why);
        if (status != STATUS_CORRUPT) {
            fail_msg("block %zu: %s", i, status_name(status));
        }
        assert_null(nodes);
    }
    put_last(&SLICE("\0\x01\x01\x03\x01\x01y"));
    must(nodes_open(&nodes, environment, 1, &why), &why);
    assert_int_equal(nodes_next(nodes), 2);
    nodes_close(nodes);
    /* A number that is in no block. */
    put_last(NULL);
    must(nodes_open(&nodes, environment, 1, &why), &why);
    const uint64_t next = nodes_next(nodes);
    nodes_close(nodes);
    put_last(&SLICE("\0\x80\x80\x04\x01\x03\x01\x01y"));
    must(nodes_open(&nodes, environment, 1, &why), &why);
    assert_int_equal(nodes_next(nodes), (1 << 16) + 1);
    struct walking walking = {1, 0};
    assert_int_equal(nodes_walk(nodes, 1, expect_model, &walking, &why), STATUS_CORRUPT);
    assert_int_equal(walking.next, next);
    assert_non_null(strstr(why.text, "no term has the number"));
    struct nodes_reader *reader = nodes_reader_new(nodes);
    struct arena arena;
    struct term term;
    arena_init(&arena, 0);
    assert_int_equal(nodes_resolve(reader, oid_stored(next, OID_KIND_IRI), &arena, &term, &why),
                     STATUS_CORRUPT);
    must(nodes_resolve(reader, oid_stored(1 << 16, OID_KIND_IRI), &arena, &term, &why), &why);
    assert_true(slice_is(term.value, "y"));
    arena_release(&arena);
    nodes_reader_free(reader);
}

/* Who gives back what he never had does no harm. */
static void
what_never_was_is_let_go(void **state)
{
    (void)state;
    nodes_close(NULL);
    nodes_reader_free(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_terms_are_found_while_their_block_is_filled),
        cmocka_unit_test(a_walk_finds_all_in_order),
        cmocka_unit_test(what_never_was_is_let_go),
    };
    const struct CMUnitTest models[] = {
        cmocka_unit_test(terms_come_back_as_they_were_appended),
        cmocka_unit_test(who_goes_through_all_takes_few_places),
        cmocka_unit_test(malformed_blocks_are_told),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down) +
           cmocka_run_group_tests(models, set_up, tear_down);
}
