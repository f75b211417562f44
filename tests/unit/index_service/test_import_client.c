/* Many quads into the partitions (index/client/import_client.c): they are there afterwards, each
 * once, however often they are sent; requests under way are bounded; and of an import that broke
 * off it is known how much is certainly there. */
#include "tests/unit/index_service/served_partitions.h"

#include "index/client/import_client.h"
#include "index/protocol/service_protocol.h"
#include "index/write/patch.h"

enum { DOCUMENTS = 30, QUADS = 20, POSTS_MOST = 64, LARGE = 1 << 20, REQUEST_BYTES = 16 << 20 };
enum { QUAD_MOST = RPC_PAYLOAD_MAXIMUM / 4 };

static char folder[SCRATCH_SIZE];
static struct buf documents[DOCUMENTS], text, expected;

/* ---- requests ---- */

/* The linker puts this in the place of the importer's requests. It notes them; those from `failing`
 * on fail at once, those from `lost` on are never answered. */
static struct {
    size_t posted, failing, lost;
    uint8_t kinds[POSTS_MOST];
    size_t sizes[POSTS_MOST];
    struct {
        rpc_done *done;
        void *context;
        size_t bytes;
    } posts[POSTS_MOST];
    size_t under_way, most;
} seen;

void __real_rpc_client_post(struct rpc_client *client, uint8_t verb, struct slice payload,
                            uint32_t timeout_ms, rpc_done *done, void *context);
void __wrap_rpc_client_post(struct rpc_client *client, uint8_t verb, struct slice payload,
                            uint32_t timeout_ms, rpc_done *done, void *context);

static void
note_end(void *context, enum status status, struct slice payload, const struct reason *why)
{
    const size_t i = (size_t)(uintptr_t)context;
    seen.under_way -= seen.posts[i].bytes;
    seen.posts[i].done(seen.posts[i].context, status, payload, why);
}

void
__wrap_rpc_client_post(struct rpc_client *client, uint8_t verb, struct slice payload,
                       uint32_t timeout_ms, rpc_done *done, void *context)
{
    if (verb != INDEX_VERB_CHANGE) {
        __real_rpc_client_post(client, verb, payload, timeout_ms, done, context);
        return;
    }
    const size_t i = seen.posted++;
    assert_true(i < POSTS_MOST && payload.length > 0);
    assert_int_equal(timeout_ms, 0);
    seen.kinds[i] = (uint8_t)payload.at[0];
    seen.sizes[i] = payload.length;
    if (i >= seen.failing) {
        struct reason why = {""};
        (void)status_fail(&why, i == seen.failing ? STATUS_CORRUPT : STATUS_SYSTEM,
                          "request %zu failed", i);
        done(context, i == seen.failing ? STATUS_CORRUPT : STATUS_SYSTEM, SLICE(""), &why);
        return;
    }
    seen.posts[i].done = done;
    seen.posts[i].context = context;
    seen.posts[i].bytes = payload.length;
    if (i < seen.lost) {
        seen.under_way += payload.length;
        seen.most = seen.under_way > seen.most ? seen.under_way : seen.most;
        __real_rpc_client_post(client, verb, payload, timeout_ms, note_end, (void *)(uintptr_t)i);
    }
}

static void
see_anew(void)
{
    memset(&seen, 0, sizeof seen);
    seen.failing = SIZE_MAX;
    seen.lost = SIZE_MAX;
}

static size_t
requests_of(enum patch_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < seen.posted; i++) {
        n += seen.kinds[i] == kind;
    }
    return n;
}

/* ---- importers ---- */

static struct importer *
importer_of(const struct served *served, const struct importer_options *more)
{
    struct importer_options options = more != NULL ? *more : (struct importer_options){0};
    struct importer *importer;
    struct reason why = {""};
    options.endpoints = served->endpoints;
    options.count = served->count;
    must(importer_open(&importer, &options, &why), &why);
    return importer;
}

static struct importer_progress
progress_of(const struct importer *importer)
{
    struct importer_progress progress;
    importer_progress(importer, &progress);
    return progress;
}

static void
check_progress(const struct importer *importer, uint64_t taken, uint64_t durable, uint64_t added)
{
    const struct importer_progress progress = progress_of(importer);
    assert_int_equal(progress.taken, taken);
    assert_int_equal(progress.durable, durable);
    assert_int_equal(progress.added, added);
}

static enum status
take_text(struct importer *importer, const char *quads, struct reason *why)
{
    const struct quad_sink sink = importer_sink(importer);
    return nquads_parse(slice_string(quads), NULL, &sink, why);
}

static enum status
take_literal(struct importer *importer, const char *graph, struct slice literal, struct reason *why)
{
    const struct quad_sink sink = importer_sink(importer);
    const struct quad quad = {.subject = term_iri(SLICE("a:s")),
                              .predicate = term_iri(SLICE("a:p")),
                              .object = term_literal(literal),
                              .graph = term_iri(slice_string(graph))};
    return sink.quad(sink.context, &quad, why);
}

static void
take_documents(struct importer *importer)
{
    struct reason why = {""};
    for (size_t i = 0; i < DOCUMENTS; i++) {
        must(take_text(importer, documents[i].data, &why), &why);
    }
}

static size_t
lines_of(const struct buf *lines)
{
    size_t n = 0;
    for (size_t i = 0; i < lines->length; i++) {
        n += lines->data[i] == '\n';
    }
    return n;
}

/* ---- what comes in ---- */

static void
check_import(size_t count)
{
    struct served served;
    struct reason why = {""};
    served_start(&served, folder, count);
    for (unsigned again = 0; again < 2; again++) {
        struct importer *importer = importer_of(&served, NULL);
        see_anew();
        check_progress(importer, 0, 0, 0);
        take_documents(importer);
        check_progress(importer, DOCUMENTS * QUADS, 0, 0);
        assert_int_equal(seen.posted, 0); /* they are gathered */
        must(importer_finish(importer, &why), &why);
        assert_int_equal(seen.posted, count);
        assert_int_equal(requests_of(PATCH_PACKED), count);
        served_dump(&served, &text);
        assert_true(slice_equal(buf_slice(&text), buf_slice(&expected)));
        check_progress(importer, DOCUMENTS * QUADS, DOCUMENTS * QUADS,
                       again ? 0 : lines_of(&expected));
        importer_close(importer);
    }
    served_stop(&served);
}

static void
one_partition_has_all_quads_once(void **state)
{
    (void)state;
    check_import(1);
}

static void
three_partitions_have_all_quads_once(void **state)
{
    (void)state;
    check_import(3);
}

/* Quads that are known to be there are counted, but not sent. */
static void
quads_at_the_start_are_skipped(void **state)
{
    (void)state;
    static const char quads[] = "<a:s> <a:p> \"1\" <a:g> .\n<a:s> <a:p> \"2\" <a:h> .\n"
                                "<a:s> <a:p> \"3\" <a:g> .\n<a:s> <a:p> \"4\" <a:h> .\n";
    struct served served;
    struct reason why = {""};
    served_start(&served, folder, 2);
    struct importer *importer = importer_of(&served, &(const struct importer_options){.skip = 3});
    must(take_text(importer, quads, &why), &why);
    check_progress(importer, 4, 3, 0);
    must(importer_finish(importer, &why), &why);
    check_progress(importer, 4, 4, 1);
    served_dump(&served, &text);
    assert_string_equal(text.data, "<a:s> <a:p> \"4\" <a:h> .\n");
    importer_close(importer);
    served_stop(&served);
}

static void
triples_go_to_the_graph_for_them(void **state)
{
    (void)state;
    static const char triple[] = "<a:s> <a:p> \"1\" .\n", blank[] = "<a:s> <a:p> \"1\" _:g .\n";
    char graph[] = "a:graph";
    struct served served;
    struct reason why = {""};
    served_start(&served, folder, 2);
    struct importer *importer = importer_of(&served, NULL);
    assert_int_equal(take_text(importer, triple, &why), STATUS_BAD_INPUT);
    assert_non_null(strstr(why.text, "a quad without a graph that has an IRI"));
    assert_int_equal(take_text(importer, blank, &why), STATUS_BAD_INPUT);
    check_progress(importer, 0, 0, 0);
    importer_close(importer);
    importer = importer_of(
        &served, &(const struct importer_options){.graph = slice_of(graph, strlen(graph))});
    memset(graph, 'x', strlen(graph)); /* it has a copy */
    must(take_text(importer, triple, &why), &why);
    must(take_text(importer, "<a:s> <a:p> \"2\" <a:own> .\n", &why), &why);
    assert_int_equal(take_text(importer, blank, &why), STATUS_BAD_INPUT);
    must(importer_finish(importer, &why), &why);
    check_progress(importer, 2, 2, 2);
    served_dump(&served, &text);
    assert_string_equal(text.data, "<a:s> <a:p> \"1\" <a:graph> .\n<a:s> <a:p> \"2\" <a:own> .\n");
    importer_close(importer);
    served_stop(&served);
}

static void
quads_are_bounded(void **state)
{
    (void)state;
    struct served served;
    struct reason why = {""};
    char *const literal = malloc(QUAD_MOST);
    memset(literal, 'x', QUAD_MOST);
    served_start(&served, folder, 1);
    struct importer *importer = importer_of(&served, NULL);
    const size_t others = strlen("a:sa:pa:g");
    assert_int_equal(take_literal(importer, "a:g", slice_of(literal, QUAD_MOST - others + 1), &why),
                     STATUS_LIMIT);
    check_progress(importer, 0, 0, 0);
    must(take_literal(importer, "a:g", slice_of(literal, QUAD_MOST - others), &why), &why);
    must(importer_finish(importer, &why), &why);
    check_progress(importer, 1, 1, 1);
    importer_close(importer);
    free(literal);
    served_stop(&served);
}

/* ---- more than one request ---- */

/* Puts so many bytes of literals, none like another, into the graph. */
static uint64_t
take_large(struct importer *importer, const char *graph, size_t bytes, enum status *status)
{
    static char literal[LARGE];
    static unsigned made;
    struct reason why = {""};
    uint64_t n = 0;
    *status = STATUS_OK;
    for (; bytes > 0 && *status == STATUS_OK; n++) {
        const size_t length = bytes < LARGE ? bytes : LARGE;
        memset(literal, 'x', length);
        memcpy(literal, &(char[]){(char)('a' + made % 26), (char)('a' + made / 26 % 26)}, 2);
        made++;
        *status = take_literal(importer, graph, slice_of(literal, length), &why);
        bytes -= length;
    }
    return n;
}

/* Where there are many, they may wait in the partition, and are brought in at the end; of other
 * partitions they need not wait. No more is under way than is allowed, but for one request. */
static void
many_quads_wait_and_are_brought_in(void **state)
{
    (void)state;
    struct served served;
    struct reason why = {""};
    enum status status;
    char first[SERVED_URI], second[SERVED_URI];
    served_start(&served, folder, 2);
    (void)served_graph(&served, 0, 0, first);
    (void)served_graph(&served, 1, 0, second);
    see_anew();
    struct importer *importer = importer_of(&served, &(const struct importer_options){.memory = 1});
    must(take_literal(importer, second, SLICE("alone"), &why), &why);
    const uint64_t n = take_large(importer, first, 2 * REQUEST_BYTES, &status);
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(requests_of(PATCH_MANY), 2);
    assert_int_equal(seen.posted, 2);
    assert_int_equal(seen.under_way, 0);
    /* The first of all has not been sent. */
    check_progress(importer, n + 1, 0, 0);
    must(importer_merge(importer, &why), &why);
    assert_int_equal(requests_of(PATCH_BRING_IN), 1);
    check_progress(importer, n + 1, 0, n);
    must(importer_merge(importer, &why), &why); /* nothing came since */
    assert_int_equal(seen.posted, 3);
    must(take_literal(importer, first, SLICE("one more"), &why), &why);
    must(importer_finish(importer, &why), &why);
    check_progress(importer, n + 2, n + 2, n + 2);
    assert_int_equal(requests_of(PATCH_MANY), 2);
    assert_int_equal(requests_of(PATCH_PACKED), 2);
    assert_int_equal(requests_of(PATCH_BRING_IN), 1);
    assert_in_range(seen.most, REQUEST_BYTES / 2, REQUEST_BYTES + LARGE + 4096);
    served_dump(&served, &text);
    assert_int_equal(lines_of(&text), n + 2);
    importer_close(importer);
    served_stop(&served);
}

/* ---- imports that break off ---- */

/* What was taken before the first quad of the request that failed is there; what fails first is
 * the reason, of the import and of all that follows. */
static void
a_failure_says_how_much_is_there(void **state)
{
    (void)state;
    struct served served;
    struct reason why = {""};
    enum status status;
    char graph[SERVED_URI];
    served_start(&served, folder, 2);
    (void)served_graph(&served, 0, 0, graph);
    see_anew();
    seen.failing = 1;
    struct importer *importer = importer_of(&served, &(const struct importer_options){.memory = 1});
    const uint64_t first = take_large(importer, graph, REQUEST_BYTES, &status);
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(seen.posted, 1);
    const uint64_t taken = first + take_large(importer, graph, REQUEST_BYTES, &status);
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(seen.posted, 2);
    check_progress(importer, taken, first, 0);
    assert_int_equal(take_text(importer, "<a:s> <a:p> \"1\" <a:g> .\n", &why), STATUS_CORRUPT);
    assert_string_equal(why.text, "request 1 failed");
    check_progress(importer, taken, first, 0);
    assert_int_equal(importer_merge(importer, &why), STATUS_CORRUPT);
    assert_int_equal(importer_finish(importer, &why), STATUS_CORRUPT);
    assert_string_equal(why.text, "request 1 failed");
    assert_int_equal(seen.posted, 2);
    importer_close(importer);
    served_stop(&served);
}

/* Several fail: the first reason and the first quad count, whichever partition it was. */
static void
the_first_failure_counts(void **state)
{
    (void)state;
    struct served served;
    struct reason why = {""};
    char uris[3][SERVED_URI];
    served_start(&served, folder, 3);
    see_anew();
    seen.failing = 1;
    struct importer *importer = importer_of(&served, NULL);
    /* The third partition's quads came first, the second's last. */
    static const size_t order[] = {2, 0, 1};
    for (size_t i = 0; i < 3; i++) {
        must(take_literal(importer, served_graph(&served, order[i], 0, uris[i]), SLICE("x"), &why),
             &why);
        check_progress(importer, i + 1, 0, 0);
    }
    assert_int_equal(importer_finish(importer, &why), STATUS_CORRUPT);
    assert_string_equal(why.text, "request 1 failed");
    assert_int_equal(seen.posted, 3);
    assert_int_equal(progress_of(importer).durable, 0);
    importer_close(importer);
    served_stop(&served);
}

/* Requests that are not yet answered are not counted as there, and an importer that is given up
 * lets go of them. */
static void
what_is_under_way_is_not_yet_there(void **state)
{
    (void)state;
    struct served served;
    enum status status;
    char graph[SERVED_URI];
    served_start(&served, folder, 1);
    (void)served_graph(&served, 0, 0, graph);
    see_anew();
    struct importer *importer = importer_of(&served, &(const struct importer_options){.memory = 1});
    const uint64_t taken = take_large(importer, graph, REQUEST_BYTES, &status);
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(seen.posted, 1);
    check_progress(importer, taken, taken, 0);
    importer_close(importer);
    /* With more memory nothing waits for answers, which are lost here. */
    seen.lost = 1;
    importer = importer_of(&served, NULL);
    const uint64_t more = take_large(importer, graph, 2 * REQUEST_BYTES + LARGE, &status);
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(seen.posted, 3);
    check_progress(importer, more, 0, 0);
    for (size_t i = 1; i < 3; i++) { /* they end when the connection is given up */
        seen.posts[i].done(seen.posts[i].context, STATUS_CANCELLED, SLICE(""),
                           &(const struct reason){"cancelled"});
        check_progress(importer, more, 0, 0);
    }
    importer_close(importer);
    importer_close(NULL);
    served_stop(&served);
}

static void
addresses_are_checked(void **state)
{
    (void)state;
    static const char *const endpoints[] = {"ipc:///nonexistent/0", "nonsense"};
    struct importer_options options = {.endpoints = endpoints, .count = 1};
    struct importer *importer = NULL;
    struct reason why = {""};
    must(importer_open(&importer, &options, &why), &why);
    importer_close(importer);
    options.count = 2;
    assert_int_not_equal(importer_open(&importer, &options, &why), STATUS_OK);
    assert_null(importer);
    assert_non_null(strstr(why.text, "nonsense"));
}

/* ---- setup ---- */

static int
make_folder(void **state)
{
    (void)state;
    buf_init(&text, SERVED_ANSWER);
    see_anew();
    return scratch_folder(folder, "import") ? 0 : -1;
}

static int
remove_folder(void **state)
{
    (void)state;
    buf_release(&text);
    fixture_run("rm -rf %s%s", folder, "");
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_partition_has_all_quads_once),
        TEST(three_partitions_have_all_quads_once),
        TEST(quads_at_the_start_are_skipped),
        TEST(triples_go_to_the_graph_for_them),
        TEST(quads_are_bounded),
        TEST(many_quads_wait_and_are_brought_in),
        TEST(a_failure_says_how_much_is_there),
        TEST(the_first_failure_counts),
        TEST(what_is_under_way_is_not_yet_there),
        TEST(addresses_are_checked),
    };
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        buf_init(&documents[i], 1 << 20);
        fixture_document(i, QUADS, &documents[i]);
    }
    buf_init(&expected, SERVED_ANSWER);
    fixture_canonical(documents, DOCUMENTS, &expected);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        buf_release(&documents[i]);
    }
    buf_release(&expected);
    return failed;
}
