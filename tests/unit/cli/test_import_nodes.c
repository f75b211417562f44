/* Names of blank nodes of imports: the same for isomorphic graphs, whatever labels, order and
 * pieces they come in, and whatever of them the index has already. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/memory.h"
#include "cli/import/import_nodes.h"
#include "cli/import/node_names.h"
#include "rdf/core/writer.h"
#include "rdf/nquads/nquads.h"
#include "tests/unit/scratch.h"

enum { MUCH = 4 << 20, TEXT = 16 << 20 };

static char folder[SCRATCH_SIZE];

static int
make_folder(void **state)
{
    (void)state;
    return scratch_folder(folder, "nodes") ? 0 : -1;
}

static int
remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

/* An index in memory, and an import of a file into it. */
struct index {
    struct graph quads;
    size_t asked;
    bool refuses; /* has too much to say */
};

static enum status
give_present(void *context, struct slice graph, struct graph *quads, struct reason *why)
{
    struct index *index = context;
    index->asked++;
    if (index->refuses) {
        return status_fail(why, STATUS_LIMIT, "too many");
    }
    for (size_t i = 0; i < index->quads.count; i++) {
        const struct quad *quad = &index->quads.quads[i];
        if (slice_equal(quad->graph.value, graph) &&
            (quad->subject.kind == TERM_BLANK || quad->object.kind == TERM_BLANK)) {
            TRY(graph_add(quads, quad, why));
        }
    }
    return STATUS_OK;
}

struct taking {
    struct import_nodes *nodes;
    struct quad_sink sink;
};

static enum status
take(void *context, const struct quad *quad, struct reason *why)
{
    struct taking *taking = context;
    return import_nodes_concern(quad) ? import_nodes_add(taking->nodes, quad, why)
                                      : taking->sink.quad(taking->sink.context, quad, why);
}

/* Returns the quads that kept names of the file's own. */
static uint64_t
import(struct index *index, const char *text, size_t memory)
{
    struct reason why = {""};
    const struct import_nodes_options options = {.folder = folder,
                                                 .memory = memory,
                                                 .prefix = SLICE("f0123456789abcdefn"),
                                                 .work = 10000,
                                                 .present = give_present,
                                                 .context = index};
    struct taking taking = {import_nodes_new(&options), graph_sink(&index->quads)};
    const struct quad_sink sink = {take, &taking};
    if (nquads_parse(slice_string(text), NULL, &sink, &why) != STATUS_OK) {
        fail_msg("%s", why.text);
    }
    assert_int_equal(import_nodes_finish(taking.nodes, &taking.sink, &why), STATUS_OK);
    const uint64_t unnamed = import_nodes_unnamed(taking.nodes);
    import_nodes_free(taking.nodes);
    graph_sort_unique(&index->quads);
    return unnamed;
}

static void
open_index(struct index *index)
{
    *index = (struct index){.asked = 0};
    graph_init(&index->quads, 0);
}

static char *
text_of(const struct index *index)
{
    struct buf text;
    buf_init(&text, TEXT);
    buf_append_char(&text, '\0');
    buf_reset(&text);
    for (size_t i = 0; i < index->quads.count; i++) {
        assert_int_equal(nquads_write(&text, &index->quads.quads[i]), STATUS_OK);
    }
    char *copy = memory_string(text.data);
    buf_release(&text);
    return copy;
}

/* Imports into a new index; what is there then. */
static char *
imported(const char *text, size_t memory)
{
    struct index index;
    open_index(&index);
    (void)import(&index, text, memory);
    char *result = text_of(&index);
    graph_release(&index.quads);
    return result;
}

/* Random graphs: trees, rings, copies of them, nodes that graphs share. */
static char *
random_text(unsigned *seed, bool shared)
{
    struct buf text;
    buf_init(&text, TEXT);
    for (int part = 0; part < 12; part++) {
        const int graph = rand_r(seed) % 3, size = 1 + rand_r(seed) % 5;
        const int copies = 1 + rand_r(seed) % 3, shape = rand_r(seed);
        for (int copy = 0; copy < copies; copy++) {
            for (int i = 0; i < size; i++) {
                const int other = (shape & 1) != 0 ? (i + 1) % size : i / 2;
                buf_printf(&text, "_:b%d.%d.%d <urn:p> _:b%d.%d.%d <urn:g%d> .\n", part, copy, i,
                           part, copy, other, shared && i == 1 ? (graph + 1) % 3 : graph);
            }
            buf_printf(&text, "<urn:s> <urn:q%d> _:b%d.%d.0 <urn:g%d> .\n", shape % 4, part, copy,
                       graph);
        }
        buf_printf(&text, "<urn:s> <urn:ground> \"%d\" <urn:g%d> .\n", part, graph);
    }
    char *copy = memory_string(text.data);
    buf_release(&text);
    return copy;
}

/* The same lines give the same nodes in another order, some twice, with other labels. */
static char *
disguise(const char *text, unsigned *seed)
{
    size_t count = 0;
    const char *lines[4096];
    struct buf other;
    for (const char *at = text; *at != '\0'; at = strchr(at, '\n') + 1) {
        lines[count++] = at;
    }
    for (size_t i = count; i > 1; i--) {
        const size_t k = (size_t)rand_r(seed) % i;
        const char *swap = lines[i - 1];
        lines[i - 1] = lines[k];
        lines[k] = swap;
    }
    const int salt = rand_r(seed) % 1000;
    buf_init(&other, TEXT);
    for (size_t i = 0; i < count; i++) {
        for (int n = rand_r(seed) % 5 == 0; n >= 0; n--) {
            for (const char *at = lines[i]; *at != '\n'; at++) {
                buf_append_char(&other, *at);
                if (at[0] == ':' && at[-1] == '_') { /* reversed, so that their order is another */
                    const size_t length = strcspn(at + 1, " ");
                    buf_printf(&other, "z%d-", salt);
                    for (size_t k = length; k > 0; k--) {
                        buf_append_char(&other, at[k] == '.' ? '-' : at[k]);
                    }
                    at += length;
                }
            }
            buf_append_char(&other, '\n');
        }
    }
    char *copy = memory_string(other.data);
    buf_release(&other);
    return copy;
}

static void
isomorphic_files_are_the_same(void **state)
{
    (void)state;
    unsigned seed = 7;
    for (int round = 0; round < 60; round++) {
        char *text = random_text(&seed, round % 2 == 1), *other = disguise(text, &seed);
        /* With little memory names are by components alone, but the same in both. */
        const size_t memory = round % 3 == 2 ? 1 << 14 : MUCH;
        char *first = imported(text, memory), *second = imported(other, memory);
        assert_string_equal(first, second);
        char *dumped = imported(first, MUCH);
        assert_string_equal(dumped, first); /* names that were given are kept */
        free(dumped);
        free(text);
        free(other);
        free(first);
        free(second);
    }
}

static void
importing_again_changes_nothing(void **state)
{
    (void)state;
    unsigned seed = 11;
    for (int round = 0; round < 60; round++) {
        struct index index;
        open_index(&index);
        char *first = random_text(&seed, round % 4 == 3), *second = random_text(&seed, false);
        assert_int_equal(import(&index, first, MUCH), 0);
        if (round % 2 == 1) { /* what came first has names by the whole graph, the other has not */
            assert_int_equal(import(&index, second, MUCH), 0);
        }
        char *before = text_of(&index), *dump = disguise(before, &seed);
        char *again = disguise(round % 4 == 1 ? second : first, &seed);
        (void)import(&index, again, MUCH);
        (void)import(&index, first, MUCH);
        (void)import(&index, dump, MUCH);
        char *after = text_of(&index);
        assert_string_equal(before, after);
        assert_true(index.asked > 0);
        graph_release(&index.quads);
        free(first);
        free(second);
        free(before);
        free(dump);
        free(again);
        free(after);
    }
}

/* Any part of what an import sends may be there when it is said again. */
static void
what_was_cut_off_goes_on(void **state)
{
    (void)state;
    unsigned seed = 13;
    for (int round = 0; round < 60; round++) {
        struct index index;
        open_index(&index);
        char *base = random_text(&seed, false), *text = random_text(&seed, round % 2 == 1);
        if (round % 3 != 0) {
            assert_int_equal(import(&index, base, MUCH), 0);
        }
        char *before = text_of(&index);
        (void)import(&index, text, MUCH);
        char *whole = text_of(&index);
        size_t kept = 0;
        for (size_t i = 0; i < index.quads.count; i++) {
            struct buf line;
            buf_init(&line, TEXT);
            assert_int_equal(nquads_write(&line, &index.quads.quads[i]), STATUS_OK);
            if (strstr(before, line.data) != NULL || rand_r(&seed) % 2 == 0) {
                index.quads.quads[kept++] = index.quads.quads[i];
            }
            buf_release(&line);
        }
        index.quads.count = kept;
        (void)import(&index, text, MUCH);
        char *after = text_of(&index);
        assert_string_equal(whole, after);
        graph_release(&index.quads);
        free(base);
        free(text);
        free(before);
        free(whole);
        free(after);
    }
}

static void
different_nodes_stay_apart(void **state)
{
    (void)state;
    struct index index;
    open_index(&index);
    (void)import(&index, "<urn:s> <urn:p> _:a <urn:g> .\n_:a <urn:q> \"1\" <urn:g> .\n", MUCH);
    (void)import(&index, "<urn:s> <urn:p> _:a <urn:g> .\n_:a <urn:q> \"2\" <urn:g> .\n", MUCH);
    assert_int_equal(index.quads.count, 4);
    /* Of copies the most that one file has are there. */
    (void)import(&index, "_:a <urn:c> _:a <urn:g> .\n_:b <urn:c> _:b <urn:g> .\n", MUCH);
    assert_int_equal(index.quads.count, 6);
    (void)import(&index, "_:c <urn:c> _:c <urn:g> .\n", MUCH);
    assert_int_equal(index.quads.count, 6);
    /* A node that an update made keeps its name, also beside one that has none. */
    (void)import(&index,
                 "_:u0123456789abcdefo0x1x2 <urn:n> _:x <urn:g> .\n"
                 "_:u0123456789abcdefo0x1x2 <urn:m> \"\" <urn:g> .\n",
                 MUCH);
    char *text = text_of(&index);
    assert_int_equal(index.quads.count, 8);
    assert_non_null(strstr(text, "_:u0123456789abcdefo0x1x2 <urn:n> _:h"));
    assert_non_null(strstr(text, "_:u0123456789abcdefo0x1x2 <urn:m>"));
    free(text);
    /* More than can be compared with is there: names must still not fall together. */
    index.refuses = true;
    (void)import(&index, "<urn:s> <urn:p> _:a <urn:g> .\n_:a <urn:q> \"3\" <urn:g> .\n", MUCH);
    assert_int_equal(index.quads.count, 10);
    graph_release(&index.quads);
}

/* A complete graph of nodes that are all alike takes factorial work. */
static void
nodes_too_alike_keep_names_of_the_file(void **state)
{
    (void)state;
    struct index index;
    struct buf text;
    enum { NODES = 12 };
    open_index(&index);
    buf_init(&text, TEXT);
    for (int i = 0; i < NODES; i++) {
        for (int k = 0; k < NODES; k++) {
            buf_printf(&text, "_:n%d <urn:p> _:n%d <urn:g> .\n", i, k);
        }
    }
    buf_printf(&text, "_:other <urn:p> \"%0*d\" <urn:g> .\n", 200000, 0);
    assert_int_equal(import(&index, text.data, MUCH), NODES * NODES);
    assert_int_equal(import(&index, text.data, MUCH), NODES * NODES);
    assert_int_equal(index.quads.count, NODES * NODES + 1);
    graph_release(&index.quads);
    /* A component that is larger than memory. */
    open_index(&index);
    assert_int_equal(import(&index, text.data, 1 << 14), NODES * NODES + 1);
    assert_int_equal(index.quads.count, NODES * NODES + 1);
    graph_release(&index.quads);
    buf_release(&text);
}

static void
names_that_were_given_are_known(void **state)
{
    (void)state;
    static const struct {
        const char *label;
        bool given;
    } cases[] = {{"d6fd1eab3e3c2b3d5n0", false}, /* of another graph */
                 {"h0123456789abcdef0123456789abcdefn12", true},
                 {"h0123456789abcdef0123456789abcdefx3n12", true},
                 {"h0123456789abcdef0123456789abcdefxn12", false},
                 {"h0123456789abcdef0123456789abcdefn", false},
                 {"h0123456789abcdef0123456789abcdefn1x", false},
                 {"h0123456789abcdef0123456789abcden1", false},
                 {"u0123456789abcdefo0x1x2", true},
                 {"u0123456789abcdefo0x1", false},
                 {"f0123456789abcdefng1", true},
                 {"f0123456789abcdefn", false},
                 {"f0123456789ABCDEFng1", false},
                 {"b0", false},
                 {"d", false},
                 {"", false}};
    char own[64];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(node_name_is_given(slice_string(cases[i].label), SLICE("urn:g")),
                         cases[i].given);
    }
    const unsigned long long print = fingerprint64(SLICE("urn:g"));
    static const char *const ends[] = {"n0", "p17", "n", "x1", "n1x"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        snprintf(own, sizeof own, "d%016llx%s", print, ends[i]);
        assert_int_equal(node_name_is_given(slice_string(own), SLICE("urn:g")), i < 2);
        assert_false(node_name_is_given(slice_string(own), SLICE("urn:h")));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(isomorphic_files_are_the_same),
        cmocka_unit_test(importing_again_changes_nothing),
        cmocka_unit_test(what_was_cut_off_goes_on),
        cmocka_unit_test(different_nodes_stay_apart),
        cmocka_unit_test(nodes_too_alike_keep_names_of_the_file),
        cmocka_unit_test(names_that_were_given_are_known),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
