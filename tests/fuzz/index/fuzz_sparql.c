/* A query: it is read, planned and run over a small graph, with limits. */
#include <stdlib.h>

#include "index/query/query.h"
#include "rdf/turtle/turtle.h"
#include "tests/support/memory_source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct memory_source *
small_graph(void)
{
    static const char text[] = "@prefix : <a:> . :s :p :o , 1 , 2.5 , \"x\"@en , _:b . :o :p :s ; "
                               ":q \"2020-01-01T00:00:00Z\"^^:t . :g { :s :p :o . _:b :q () }";
    struct memory_source *source = memory_source_new(0);
    const struct quad_sink sink = memory_source_sink(source);
    (void)memory_source_begin(source, SLICE("a:default"), (struct slice){"", 0}, NULL);
    if (trig_parse(SLICE(text), NULL, &sink, NULL) != STATUS_OK) {
        abort();
    }
    return source;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct memory_source *source;
    const struct query_sink sink = {0};
    const struct query_options options = {.timeout_ms = 200, .memory = 16 << 20, .rows = 1000};
    struct query *query;
    struct reason why;
    if (!source) {
        source = small_graph();
    }
    if (query_prepare(&query, slice_of((const char *)data, size), SLICE("http://a.example/b"),
                      &why) == STATUS_OK) {
        struct buf out;
        buf_init(&out, 1 << 16);
        (void)query_explain(query, memory_source_table(source), &options, false, &out, &why);
        (void)query_run(query, memory_source_table(source), &options, &sink, NULL, &why);
        buf_release(&out);
        query_free(query);
    }
    return 0;
}
