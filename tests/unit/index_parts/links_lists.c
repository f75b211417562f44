/* Which URIs a list of queries finds in documents (index/read/links.c). */
#include "tests/unit/index_parts/index_parts.h"

#include "index/read/links.h"
#include "tests/unit/index/index_fixture.h"

void
lists_of_links_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *list;
        size_t count;
        const char *reason; /* NULL: it is right */
    } cases[] = {
        {"", 0, NULL},
        {"\n \n# nothing\n", 0, NULL},
        {"SELECT ?uri { ?s <a:p> ?uri }", 1, NULL},
        {"SELECT ?uri { ?s <a:p> ?uri }\n\n\n  # a\n\nselect ?uri where\n{?uri <a:p> ?o.}", 2,
         NULL},
        {"policy linked-data\n\npolicy vocabularies\n \t\nSELECT ?uri { ?s <a:p> ?uri }", 3, NULL},
        {"SELECT ?uri # ?x\n{ ?s <a:p> ?uri }", 1, NULL},
        {"# SELECT ?x {}\nSELECT ?uri\n  # more\n{ ?s <a:p> ?uri . ?uri <a:q> 1 }", 1, NULL},
        {"SELECT ?x { ?s <a:p> ?x }", 0, "extract query 1 does not select ?uri"},
        {"SELECT ?uri { ?s <a:p> ?uri }\n\nSELECT ?x ?y { ?x <a:p> ?y }", 0,
         "extract query 2 does not select ?uri"},
        {"ASK { ?uri ?p ?o }", 0, "extract query 1 does not select ?uri"},
        {"SELECT ?uri {}\n\npolicy\n\nASK {}", 0, "extract query 2: "},
        {"SELECT", 0, "extract query 1: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct links *links;
        struct reason why = {""};
        const enum status status = links_open(&links, slice_string(cases[i].list), &why);
        if (cases[i].reason != NULL) {
            assert_int_equal(status, STATUS_BAD_INPUT);
            assert_null(links);
            assert_ptr_equal(strstr(why.text, cases[i].reason), why.text);
            continue;
        }
        must(status, &why);
        assert_int_equal(links_count(links), cases[i].count);
        links_close(links);
    }
    links_close(NULL);
    struct links *links;
    struct reason why = {""};
    must(links_open(&links, slice_string(links_default), &why), &why);
    assert_true(links_count(links) > 40);
    links_close(links);
}

#define GRAPH " <http://d.example/1> .\n"
#define TYPE "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"

static const char document[] =
    "<http://d.example/1> <a:p> <http://o.example/1>" GRAPH
    "<http://d.example/1> <a:p> <http://o.example/1#x>" GRAPH
    "<http://d.example/1> <a:q> \"http://text.example/\"" GRAPH
    "<http://d.example/1> <a:q> \"https://text.example/t\"^^<a:t>" GRAPH
    "<http://d.example/1> <a:q> \"http://tagged.example/\"@en" GRAPH
    "<http://d.example/1> <a:q> \"urn:text\"" GRAPH
    "<http://d.example/1> <a:q> \"http://no iri.example/\"" GRAPH
    "<http://d.example/1> <a:q> \"text\"" GRAPH "<http://d.example/1> <a:q> _:b" GRAPH
    "<http://d.example/1> <a:q> <urn:o>" GRAPH "<http://s.example/1> <a:r> \"1\"" GRAPH
    "<http://s.example/1> <http://v.example/p> \"1\"" GRAPH "<urn:s> " TYPE
    " <http://v.example/C>" GRAPH;

static enum status
take_link(void *context, struct slice target, uint32_t query, struct reason *why)
{
    (void)why;
    (void)buf_printf(context, "%u %.*s\n", query, SLICE_PRINT(target));
    return STATUS_OK;
}

static enum status
refuse_link(void *context, struct slice target, uint32_t query, struct reason *why)
{
    (void)target;
    (void)query;
    ++*(unsigned *)context;
    return status_fail(why, STATUS_FULL, "enough");
}

static int
compare_lines(const void *a, const void *b)
{
    return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

static void
sort_lines(struct buf *text)
{
    struct slice lines[32], rest = buf_slice(text);
    size_t count = 0;
    struct buf sorted;
    while (rest.length > 0) {
        assert_true(count < 32);
        lines[count++] = slice_take(&rest, '\n');
    }
    qsort(lines, count, sizeof *lines, compare_lines);
    buf_init(&sorted, 1 << 16);
    for (size_t i = 0; i < count; i++) {
        (void)buf_printf(&sorted, "%.*s\n", SLICE_PRINT(lines[i]));
    }
    buf_release(text);
    *text = sorted;
}

static void
found_are(struct partition *partition, const char *list, const char *uri, const char *expected)
{
    struct links *links;
    struct partition_reader *reader;
    struct reason why = {""};
    struct buf found;
    buf_init(&found, 1 << 16);
    must(links_open(&links, slice_string(list), &why), &why);
    must(partition_reader_open(&reader, partition, &why), &why);
    struct links_run *run = links_run_new(links, reader);
    for (unsigned times = 0; times < 2; times++) { /* what one document had is not the next one's */
        buf_reset(&found);
        must(links_of(run, slice_string(uri), 0, take_link, &found, &why), &why);
        (void)buf_append_string(&found, "");
        sort_lines(&found);
        assert_string_equal(found.length > 0 ? found.data : "", expected);
    }
    links_run_free(run);
    links_run_free(NULL);
    partition_reader_close(reader);
    links_close(links);
    buf_release(&found);
}

void
links_are_found(void **state)
{
    (void)state;
    char base[SCRATCH_SIZE];
    struct reason why = {""};
    assert_true(scratch_folder(base, "links"));
    struct partition *partition = fixture_open(base, 4 << 20);
    struct index_batch *batch = index_batch_new(partition);
    size_t number;
    const struct index_document one = {.uri = SLICE("http://d.example/1"),
                                       .generation = 1,
                                       .linked_data = true},
                                two = {.uri = SLICE("http://d.example/2"), .generation = 1};
    must(index_batch_add(batch, &one, slice_string(document), &number, &why), &why);
    must(index_batch_add(
             batch, &two,
             SLICE("<http://s.example/2> <a:p> <http://o.example/2> <http://d.example/2> .\n"),
             &number, &why),
         &why);
    must(index_batch_commit(batch, &why), &why);
    index_batch_free(batch);
    static const struct {
        const char *list, *uri, *expected;
    } cases[] = {
        {"SELECT ?uri { ?s <a:p> ?uri }", "http://d.example/1",
         "0 http://o.example/1\n0 http://o.example/1#x\n"},
        {"SELECT ?uri { ?s <a:p> ?uri }", "http://d.example/2", "0 http://o.example/2\n"},
        {"SELECT ?uri { ?s <a:p> ?uri }", "http://d.example/3", ""},
        {"SELECT ?uri { ?s <a:p> ?uri }", "http://o.example/1", ""}, /* a term, no document */
        {"SELECT DISTINCT ?uri WHERE { ?s <a:q> ?uri . }", "http://d.example/1",
         "0 http://text.example/\n0 https://text.example/t\n0 urn:o\n"},
        {"SELECT ?uri { ?uri <a:r> ?o }", "http://d.example/1", "0 http://s.example/1\n"},
        /* The first that finds a target has it. */
        {"SELECT ?uri { ?s <a:none> ?uri }\n\nSELECT ?uri { ?uri <a:p> ?o }\n\nSELECT ?uri { ?uri "
         "<a:p> ?x "
         "}\n\nSELECT ?uri { ?s <a:p> ?uri }",
         "http://d.example/1",
         "1 http://d.example/1\n3 http://o.example/1\n3 http://o.example/1#x\n"},
        {"policy linked-data", "http://d.example/1",
         "0 http://d.example/1\n0 http://o.example/1\n0 http://o.example/1#x\n0 "
         "http://s.example/1\n0 "
         "http://v.example/C\n"},
        {"policy linked-data", "http://d.example/2", ""},
        {"SELECT ?uri { ?s <a:none> ?uri }\n\npolicy vocabularies", "http://d.example/1",
         "1 http://v.example/C\n1 http://v.example/p\n1 "
         "http://www.w3.org/1999/02/22-rdf-syntax-ns#type\n"},
        {"policy vocabularies", "http://d.example/2", ""},
        {"SELECT ?x ?uri { ?x <a:p> ?uri FILTER(CONTAINS(STR(?uri), \"#\")) }",
         "http://d.example/1", "0 http://o.example/1#x\n"},
        {"SELECT ?uri ?uri { ?uri ?p \"1\" . }", "http://d.example/1", "0 http://s.example/1\n"},
        {"SELECT ?uri { ?uri <a:p> ?uri }", "http://d.example/1", ""},
        {"SELECT ?uri { ?uri <a:p> <http://o.example/1> }", "http://d.example/1",
         "0 http://d.example/1\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        found_are(partition, cases[i].list, cases[i].uri, cases[i].expected);
    }
    /* Whoever takes them may end it. */
    static const char *const lists[] = {
        "SELECT ?uri { ?s <a:p> ?uri }", "SELECT ?uri { ?uri <a:p> ?o }", "policy linked-data",
        "policy vocabularies", "SELECT ?uri { ?s <a:p> ?uri ; <a:q> ?x }"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct links *links;
        struct partition_reader *reader;
        unsigned calls = 0;
        must(links_open(&links, slice_string(lists[i]), &why), &why);
        must(partition_reader_open(&reader, partition, &why), &why);
        struct links_run *run = links_run_new(links, reader);
        assert_int_equal(links_of(run, one.uri, 0, refuse_link, &calls, &why), STATUS_FULL);
        assert_int_equal(calls, 1);
        links_run_free(run);
        partition_reader_close(reader);
        links_close(links);
    }
    partition_close(partition);
    fixture_run("rm -r %s%s", base, "");
}
