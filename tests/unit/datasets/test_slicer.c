/* Slicing against its definitions (slicing_oracle.h), with so little memory that parts go to files
 * and are spread again; components by themselves; limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>

#include "dumps/components.h"
#include "dumps/slicer.h"
#include "dumps/text_sort.h"
#include "rdf/nquads/nquads.h"
#include "tests/unit/brief.h"
#include "tests/unit/datasets/slicing_oracle.h"

/* ---- results as sorted "document\tline" ---- */

struct pairs {
    char **items;
    size_t count, capacity;
    uint64_t cut;
    pthread_mutex_t lock;
};

static void
take_pair(void *context, const char *pair)
{
    struct pairs *pairs = context;
    if (pairs->count == pairs->capacity) {
        pairs->capacity = 2 * pairs->capacity + 64;
        pairs->items = realloc(pairs->items, pairs->capacity * sizeof *pairs->items);
    }
    pairs->items[pairs->count++] = strdup(pair);
}

static int
compare_strings(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void
sort_pairs(struct pairs *pairs)
{
    qsort(pairs->items, pairs->count, sizeof *pairs->items, compare_strings);
    size_t count = 0;
    for (size_t i = 0; i < pairs->count; i++) {
        if (count > 0 && strcmp(pairs->items[i], pairs->items[count - 1]) == 0) {
            free(pairs->items[i]);
        } else {
            pairs->items[count++] = pairs->items[i];
        }
    }
    pairs->count = count;
}

static void
release_pairs(struct pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++) {
        free(pairs->items[i]);
    }
    free(pairs->items);
    *pairs = (struct pairs){0};
}

/* Each document once, its lines in order, each once. */
static enum status
take_document(void *context, unsigned thread, const struct sliced_document *document,
              struct reason *why)
{
    struct pairs *pairs = context;
    struct slice rest = document->lines, last = {0};
    uint64_t count = 0;
    (void)thread;
    (void)why;
    pthread_mutex_lock(&pairs->lock);
    pairs->cut += document->cut ? 1 : 0;
    while (rest.length > 0) {
        const size_t length = slice_find(rest, '\n') + 1;
        const struct slice line = slice_of(rest.at, length);
        char text[16 * TOKEN_SIZE];
        assert_true(count++ == 0 || slice_compare(last, line) < 0);
        snprintf(text, sizeof text, "%.*s\t%.*s", SLICE_PRINT(document->uri), SLICE_PRINT(line));
        take_pair(pairs, text);
        last = line;
        rest = slice_of(rest.at + length, rest.length - length);
    }
    assert_int_equal(count, document->count);
    assert_true(count > 0);
    pthread_mutex_unlock(&pairs->lock);
    return STATUS_OK;
}

static void
feed(struct slicer *slicer, const char *text, size_t length)
{
    const struct quad_sink sink = {slicer_take, slicer};
    struct reason why = {""};
    assert_int_equal(nquads_parse(slice_of(text, length), NULL, &sink, &why), STATUS_OK);
}

static void
run(const struct slicer_options *options, const struct oracle *oracle, struct pairs *pairs)
{
    struct slicer *slicer = slicer_new(options);
    struct reason why = {""};
    pthread_mutex_init(&pairs->lock, NULL);
    for (unsigned file = 0; file < 2; file++) {
        char *text = NULL;
        size_t length = 0;
        FILE *out = open_memstream(&text, &length);
        oracle_write(oracle, file, out);
        fclose(out);
        feed(slicer, text, length);
        slicer_next_file(slicer);
        free(text);
    }
    const enum status status = slicer_group(slicer, take_document, pairs, &why);
    assert_string_equal(why.text, "");
    assert_int_equal(status, STATUS_OK);
    struct slicer_counts counts;
    slicer_counted(slicer, &counts);
    assert_int_equal(counts.triples, oracle->count);
    assert_int_equal(counts.lines, pairs->count);
    slicer_free(slicer);
    pthread_mutex_destroy(&pairs->lock);
    const size_t given = pairs->count;
    sort_pairs(pairs);
    assert_int_equal(given, pairs->count); /* no document twice */
}

static void
compare(const struct pairs *found, const struct pairs *expected, const char *what)
{
    for (size_t i = 0; i < found->count || i < expected->count; i++) {
        const char *a = i < found->count ? found->items[i] : "",
                   *b = i < expected->count ? expected->items[i] : "";
        if (strcmp(a, b) != 0) {
            fail_msg("%s: slicer has %s, definition %s", what, a, b);
        }
    }
}

/* ---- the tests ---- */

static const struct slice_space one_space[] = {{.prefix = {"", 0}}};

/* Options with this method for all; or several prefixes with different ones. */
static size_t
make_spaces(struct slice_space spaces[4], enum slicing slicing)
{
    if (slicing != SLICING_NONE) {
        spaces[0] = one_space[0];
        spaces[0].slicing = slicing;
        return 1;
    }
    spaces[0] = (struct slice_space){.prefix = SLICE("http://a.example/"), .slicing = SLICING_SCBD};
    spaces[1] = (struct slice_space){.prefix = SLICE("http://a.example/b/"),
                                     .slicing = SLICING_SUBJECT_OBJECT,
                                     .replaced = true,
                                     .replacement = SLICE("http://a.example/doc/"),
                                     .suffix = SLICE(".rdf")};
    spaces[2] = (struct slice_space){
        .prefix = SLICE("http://c.example/v#"), .slicing = SLICING_CBD, .suffix = SLICE(".ttl")};
    spaces[3] = (struct slice_space){.prefix = SLICE("http://d.example/"), .slicing = SLICING_MSG};
    return 4;
}

static void
check(uint64_t seed, enum slicing slicing, size_t count, unsigned reifications, bool graphs)
{
    static struct oracle oracle;
    struct slice_space spaces[4];
    struct slicer_options options;
    struct pairs found = {0}, expected = {0};
    char what[96];
    slicer_options_default(&options, "/tmp");
    options.count = make_spaces(spaces, slicing);
    options.spaces = spaces;
    options.memory = seed % 2 ? 1 : (uint64_t)64 << 20;
    options.threads = 1 + seed % 3;
    oracle_make(&oracle, seed, count, reifications, graphs);
    oracle_slice(&oracle, spaces, options.count, take_pair, &expected);
    sort_pairs(&expected);
    run(&options, &oracle, &found);
    snprintf(what, sizeof what, "seed %llu, %s", (unsigned long long)seed, slicing_name(slicing));
    compare(&found, &expected, what);
    assert_int_equal(found.cut, 0);
    release_pairs(&found);
    release_pairs(&expected);
}

static void
each_slicing_is_its_definition(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= brief(12, 6); seed++) {
        for (enum slicing slicing = SLICING_NONE; slicing <= SLICING_MSG; slicing++) {
            check(seed, slicing, 10 + 7 * seed, 0, false);
        }
    }
}

static void
reifications_go_with_what_they_state(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= brief(25, 6); seed++) {
        check(seed, SLICING_CBD, 12, 12, false);
        check(seed, SLICING_SCBD, 12, 12, false);
        check(seed, SLICING_NONE, 30, 12, false);
    }
}

static void
graphs_are_documents(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= brief(8, 6); seed++) {
        check(seed, SLICING_NONE, 60, 0, true);
        check(seed, SLICING_SUBJECT, 60, 0, true);
    }
}

/* One hub in everything: parts of little memory are spread again, and again. */
static void
little_memory_gives_the_same(void **state)
{
    struct slice_space space = {.slicing = SLICING_SUBJECT_OBJECT};
    struct slicer_options options;
    struct pairs found[2] = {{0}, {0}};
    struct buf text;
    (void)state;
    buf_init(&text, 1 << 24);
    for (unsigned i = 0; i < 20000; i++) {
        buf_printf(&text, "<http://a.example/%u> <urn:p:%u> <http://a.example/%u> .\n", i % 4999,
                   i % 13, i * 7 % 9001);
    }
    slicer_options_default(&options, "/tmp");
    options.spaces = &space;
    options.count = 1;
    for (unsigned i = 0; i < 2; i++) {
        struct reason why = {""};
        options.memory = i == 0 ? (uint64_t)256 << 20 : 1;
        options.threads = 2;
        struct slicer *slicer = slicer_new(&options);
        feed(slicer, text.data, text.length);
        pthread_mutex_init(&found[i].lock, NULL);
        assert_int_equal(slicer_group(slicer, take_document, &found[i], &why), STATUS_OK);
        struct slicer_counts counts;
        slicer_counted(slicer, &counts);
        assert_true(i == 0 ? counts.disk == 0 : counts.disk > 100000);
        slicer_free(slicer);
        sort_pairs(&found[i]);
    }
    assert_true(found[0].count > 30000);
    compare(&found[1], &found[0], "little memory");
    release_pairs(&found[0]);
    release_pairs(&found[1]);
    buf_release(&text);
}

/* More predicates and beginnings of IRIs than have numbers, some of them the same texts; whether
 * those or these come first. */
static void
terms_without_numbers_are_the_same(void **state)
{
    enum { MANY = 40000, ORDERS = 3 };
    static const char *const orders[ORDERS] = {"bpi", "pib", "ibp"};
    struct slice_space space = {.slicing = SLICING_SUBJECT};
    struct slicer_options options;
    struct pairs found[ORDERS] = {{0}};
    (void)state;
    slicer_options_default(&options, "/tmp");
    options.spaces = &space;
    options.count = 1;
    for (unsigned i = 0; i < ORDERS; i++) {
        struct reason why = {""};
        struct buf text;
        buf_init(&text, 1 << 26);
        for (unsigned k = 0; k < 3 * MANY; k++) {
            const unsigned n = k % MANY;
            switch (orders[i][k / MANY]) {
            case 'b':
                buf_printf(&text, "<http://a.example/%u/x> <urn:p> \"1\" .\n", n);
                break;
            case 'p': /* twice in each of two subjects */
                buf_printf(&text, "<urn:s%u> <urn:p:%u/> <urn:o> .\n", n % 50, n / 2);
                buf_printf(&text, "<urn:s%u> <urn:p:%u/> <urn:o%u> .\n", n % 50, n / 2, n);
                break;
            default:
                buf_printf(&text, "<urn:p:%u/x> <urn:p> <urn:p:%u/y> .\n", n, n);
            }
        }
        struct slicer *slicer = slicer_new(&options);
        feed(slicer, text.data, text.length);
        pthread_mutex_init(&found[i].lock, NULL);
        assert_int_equal(slicer_group(slicer, take_document, &found[i], &why), STATUS_OK);
        slicer_free(slicer);
        buf_release(&text);
        sort_pairs(&found[i]);
        assert_int_equal(found[i].count, 4 * MANY);
        compare(&found[i], &found[0], orders[i]);
    }
    for (unsigned i = 0; i < ORDERS; i++) {
        release_pairs(&found[i]);
    }
}

/* ---- limits ---- */

static void
what_is_too_large_is_cut_and_said(void **state)
{
    struct slice_space space = {.slicing = SLICING_CBD};
    struct slicer_options options;
    struct pairs found = {0};
    struct reason why = {""};
    struct buf text;
    struct slicer_counts counts;
    (void)state;
    buf_init(&text, 1 << 24);
    for (unsigned i = 0; i < 1000; i++) {
        buf_printf(&text, "<urn:large> <urn:p> \"%u\" .\n<urn:small%u> <urn:p> \"x\" .\n", i, i);
        buf_printf(&text, "_:b <urn:p> \"%u\" .\n<urn:many%u> <urn:p> _:b .\n", i, i);
    }
    slicer_options_default(&options, "/tmp");
    options.spaces = &space;
    options.count = 1;
    options.document_most = 1000;
    options.closure_most = 50000;
    struct slicer *slicer = slicer_new(&options);
    feed(slicer, text.data, text.length);
    pthread_mutex_init(&found.lock, NULL);
    assert_int_equal(slicer_group(slicer, take_document, &found, &why), STATUS_OK);
    slicer_counted(slicer, &counts);
    assert_true(counts.cut >= 2); /* urn:large, and the component of _:b */
    assert_true(counts.documents >= 1001);
    assert_true(found.count > 1000 && found.count < 1000 + 50 + 4000);
    slicer_free(slicer);
    release_pairs(&found);
    buf_release(&text);
}

static void
the_disk_ends(void **state)
{
    struct slice_space space = {.slicing = SLICING_SUBJECT};
    struct slicer_options options;
    struct reason why = {""};
    struct buf text;
    (void)state;
    buf_init(&text, 1 << 24);
    for (unsigned i = 0; i < 20000; i++) {
        buf_printf(&text, "<urn:%u> <urn:p> \"%u\" .\n", i * 2654435761u, i * 40503u);
    }
    slicer_options_default(&options, "/tmp");
    options.spaces = &space;
    options.count = 1;
    options.memory = 1;
    options.disk = 1000;
    struct slicer *slicer = slicer_new(&options);
    const struct quad_sink sink = {slicer_take, slicer};
    assert_int_equal(nquads_parse(buf_slice(&text), NULL, &sink, &why), STATUS_LIMIT);
    assert_non_null(strstr(why.text, "/tmp"));
    slicer_free(slicer);
    options.folder = "/nowhere/at/all";
    options.disk = 1 << 30;
    slicer = slicer_new(&options);
    const struct quad_sink other = {slicer_take, slicer};
    assert_int_equal(nquads_parse(buf_slice(&text), NULL, &other, &why), STATUS_SYSTEM);
    slicer_free(slicer);
    buf_release(&text);
}

/* ---- order ---- */

enum { TEXTS = 3000 };

static int
compare_texts(const void *a, const void *b)
{
    return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

/* Texts that begin alike, begin others, are equal, or nothing of the kind. */
static void
texts_are_sorted_by_bytes(void **state)
{
    static char bytes[TEXTS][64];
    static struct slice texts[TEXTS];
    static struct text_place places[TEXTS], spare[TEXTS];
    uint64_t random = 3;
    (void)state;
    for (size_t count = 0; count <= TEXTS; count = 2 * count + 1) {
        for (size_t i = 0; i < count; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            const unsigned kind = (unsigned)(random >> 60), number = (unsigned)(random >> 40) % 99;
            const int length =
                snprintf(bytes[i], sizeof bytes[i], "<http://%s.example/%s/%u%s",
                         kind % 2 ? "www" : "\xc3\xa4", kind < 9 ? "a/long/part" : "b", number,
                         kind % 3 == 0 ? ">" : "");
            texts[i] = slice_of(bytes[i], kind == 15 ? number % 20 : (size_t)length);
            places[i] = text_place_of(texts[i], i);
        }
        text_sort(places, count, spare);
        for (size_t i = 0; i < count; i++) {
            assert_ptr_equal(places[i].text, bytes[places[i].item]);
        }
        qsort(texts, count, sizeof *texts, compare_texts);
        for (size_t i = 0; i < count; i++) {
            assert_true(slice_equal(texts[i], slice_of(places[i].text, places[i].length)));
        }
    }
}

/* ---- components ---- */

enum { NODES = 20000 };

static uint32_t
root_of(uint32_t *parents, uint32_t at)
{
    while (parents[at] != at) {
        at = parents[at] = parents[parents[at]];
    }
    return at;
}

static int
compare_numbers(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* Chains and random edges, with memory for a few hundred of them at a time. */
static void
components_need_little_memory(void **state)
{
    struct spool_room room = {.folder = "/tmp", .memory = 1 << 20, .disk = 1 << 28, .block = 4096};
    struct components *components = components_new(&room, 1);
    static uint32_t parents[NODES];
    static uint64_t names[NODES], least[NODES];
    struct reason why = {""};
    uint64_t random = 7;
    unsigned rounds = 0;
    (void)state;
    for (uint32_t i = 0; i < NODES; i++) {
        parents[i] = i;
        names[i] = (i + 1) * 0x9E3779B97F4A7C15u;
        least[i] = UINT64_MAX;
    }
    for (uint32_t i = 0; i < 12000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const uint32_t a = (uint32_t)(random >> 33) % NODES;
        const uint32_t b = i % 3 == 0 ? (a + 1) % NODES : (uint32_t)(random >> 13) % NODES;
        assert_int_equal(components_join(components, names[a], names[b], &why), STATUS_OK);
        parents[root_of(parents, a)] = root_of(parents, b);
    }
    static uint64_t found[NODES];
    memcpy(found, names, sizeof found);
    for (bool last = false; !last; rounds++) {
        assert_int_equal(components_round(components, &last, &why), STATUS_OK);
        for (uint32_t i = 0; i < NODES; i++) {
            found[i] = components_find(components, found[i]);
        }
        assert_true(rounds < 1000);
    }
    assert_true(rounds > 3);
    for (uint32_t i = 0; i < NODES; i++) {
        uint64_t *name = &least[root_of(parents, i)];
        *name = *name == UINT64_MAX ? found[i] : *name;
        assert_int_equal(*name, found[i]);
    }
    /* Different components have different names. */
    qsort(least, NODES, sizeof *least, compare_numbers);
    for (uint32_t i = 1; i < NODES; i++) {
        assert_true(least[i] == UINT64_MAX || least[i] != least[i - 1]);
    }
    components_free(components);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_slicing_is_its_definition),
        cmocka_unit_test(reifications_go_with_what_they_state),
        cmocka_unit_test(graphs_are_documents),
        cmocka_unit_test(little_memory_gives_the_same),
        cmocka_unit_test(terms_without_numbers_are_the_same),
        cmocka_unit_test(what_is_too_large_is_cut_and_said),
        cmocka_unit_test(the_disk_ends),
        cmocka_unit_test(texts_are_sorted_by_bytes),
        cmocka_unit_test(components_need_little_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
