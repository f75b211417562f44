/* JSON-LD, strict and lenient, with contexts that the loader has: quads must be writable. What the
 * JSON reader reads must read the same again when it is written. */
#include "rdf/json/json.h"
#include "rdf/jsonld/jsonld.h"
#include "tests/fuzz/rdf/rdf_fuzz.h"
#include "tests/support/jsonld_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXT_MAXIMUM = 64 << 20, WORK = 200000 };

static enum status
load(void *context, struct slice url, struct jsonld_remote *remote, struct reason *why)
{
    static const char plain[] =
        "{\"@context\":{\"@vocab\":\"http://v.example/\",\"id\":\"@id\",\"type\":\"@type\","
        "\"list\":{\"@container\":\"@list\"},\"T\":{\"@context\":{\"id\":\"http://x.example/\"}},"
        "\"r\":{\"@reverse\":\"http://x.example/r\"},\"lang\":{\"@container\":\"@language\"},"
        "\"map\":{\"@container\":[\"@graph\",\"@id\"]},\"json\":{\"@type\":\"@json\"}}}";
    static const char cyclic[] = "{\"@context\":[\"http://c.example/a\",\"http://c.example/b\"]}";
    static const char scoped[] =
        "{\"@context\":{\"@import\":\"/p\",\"s\":{\"@id\":\"http://x.example/s\",\"@context\":"
        "\"/s\"},\"t\":{\"@id\":\"http://x.example/t\",\"@context\":[null,\"/p\",\"/s\"]}}}";
    (void)context;
    const char last = url.length > 0 ? url.at[url.length - 1] : '?';
    switch (last) {
    case 'p':
        remote->bytes = SLICE(plain);
        remote->fixed = true;
        return STATUS_OK;
    case 'a':
    case 'b':
        remote->bytes = SLICE(cyclic);
        return STATUS_OK;
    case 's':
        remote->bytes = SLICE(scoped);
        remote->document_uri = SLICE("http://c.example/s");
        remote->fixed = url.length % 2;
        return STATUS_OK;
    case 'w':
        return status_fail(why, STATUS_AGAIN, "not now");
    default:
        return status_fail(why, STATUS_NOT_FOUND, "no such context");
    }
}

static void
check_quads(struct slice text)
{
    struct jsonld_contexts *contexts = jsonld_contexts_new();
    for (int round = 0; round < 6; round++) {
        struct graph graph;
        struct reason why;
        struct jsonld_options options = {
            .loader = {.load = load},
            .contexts = contexts,
            .direction = (enum jsonld_direction)(round % 3),
            .mode_1_0 = round == 4,
            .work = WORK,
        };
        options.parse = (struct parse_options){.base = SLICE("http://a.example/b/c"),
                                               .lenient = round % 2 == 1,
                                               .problems = {.problem = rdf_fuzz_problem},
                                               .term_size = 1 << 20};
        graph_init(&graph, RDF_FUZZ_GRAPH);
        const struct quad_sink sink = graph_sink(&graph);
        jsonld_read(text, &options, &sink, &why);
        rdf_fuzz_check_graph(&graph);
        graph_release(&graph);
    }
    jsonld_contexts_free(contexts);
}

static struct buf
read_and_write(struct slice text, bool lenient, bool canonical, bool *good)
{
    struct arena arena;
    struct buf out;
    struct json *tree;
    struct reason why;
    const struct json_options options = {.lenient = lenient};
    arena_init(&arena, 0);
    buf_init(&out, TEXT_MAXIMUM);
    struct json_pool pool = {.arena = &arena};
    *good = json_read(text, &options, &pool, &tree, &why) == STATUS_OK;
    if (*good) {
        canonical ? json_write_canonical(&out, tree) : json_write(&out, tree);
    }
    arena_release(&arena);
    return out;
}

static void
check_json(struct slice text)
{
    for (int round = 0; round < 4; round++) {
        bool good, again;
        struct buf out = read_and_write(text, round & 1, round & 2, &good);
        if (good) {
            struct buf second = read_and_write(buf_slice(&out), false, round & 2, &again);
            rdf_fuzz_require(again && slice_equal(buf_slice(&out), buf_slice(&second)));
            buf_release(&second);
        }
        buf_release(&out);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct slice text = slice_of((const char *)data, size);
    check_json(text);
    check_quads(text);
    return 0;
}
