/* The documents that a document needs (stages/skeleton/resources.c), as a made-up metadata store
 * and archive know them. The linker puts the functions below in the place of both, and of the
 * clocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "stages/skeleton/resources.h"
#include "tests/unit/memory_in_use.h"

enum {
    ROOM = 1 << 16,
    KEYS_MOST = 80,
    BYTES_MOST = 20,
    AGE_MS = 1000,
    CACHE_FOUND_MS = 60000,
    CACHE_BYTES = 64 << 20
};

static const struct known {
    const char *key, *state, *reason, *to; /* state NULL: none */
    const char *body;                      /* in the archive; NULL: none */
    uint64_t fetched, status;
    bool truncated;
} knowns[] = {
    {"uhttp://a.example/1#resource", "fetched", NULL, NULL, "one", 900, 200, false},
    {"uhttp://a.example/2#resource", "fetched", NULL, NULL, "two, which is long", 900, 200, false},
    {"uhttp://a.example/old#resource", "fetched", NULL, NULL, "old", 1, 200, false},
    {"uhttp://a.example/moved#resource", "redirected", NULL, "http://a.example/1", NULL, 0, 0,
     false},
    {"uhttp://a.example/away#resource", "redirected", NULL, "http://a.example/none", NULL, 0, 0,
     false},
    {"uhttp://a.example/ring#resource", "redirected", NULL, "http://a.example/ring", NULL, 0, 0,
     false},
    {"uhttp://a.example/lost#resource", "redirected", NULL, NULL, NULL, 0, 0, false},
    {"uhttp://a.example/tried#resource", NULL, NULL, NULL, NULL, 0, 0, false},
    {"uhttp://a.example/gone#resource", "gone", "the server answered 404", NULL, NULL, 0, 0, false},
    {"uhttp://a.example/denied#resource", "denied", NULL, NULL, NULL, 0, 0, false},
    {"uhttp://a.example/earlier#resource", "failed", "cut", NULL, "kept", 900, 200, false},
    {"uhttp://a.example/wrong#resource", "failed", "500", NULL, "error", 900, 300, false},
    {"uhttp://a.example/cut#resource", "failed", "cut", NULL, "part", 900, 200, true},
    {"uhttp://a.example/first#resource", "failed", "cut", NULL, "kept", 900, 200, false},
    {"uhttp://a.example/last#resource", "failed", "cut", NULL, "kept", 900, 299, false},
    {"uhttp://a.example/before#resource", "failed", "199", NULL, "error", 900, 199, false},
    {"uhttp://a.example/shut#resource", "denied", NULL, NULL, "kept", 900, 200, false},
    {"uhttp://a.example/aged#resource", "fetched", NULL, NULL, "a", 1500 - AGE_MS - 1, 200, false},
    {"uhttp://a.example/ageing#resource", "fetched", NULL, NULL, "a", 1500 - AGE_MS, 200, false},
    {"uhttp://a.example/gone-long#resource", "gone", NULL, NULL, "a", 1, 404, false},
    {"uhttp://a.example/damaged#resource", "fetched", NULL, NULL, "!CORRUPT", 900, 200, false},
    {"uhttp://a.example/long#resource", "fetched", NULL, NULL, "!LONG", 900, 200, false},
    {"uhttp://a.example/half1#resource", "fetched", NULL, NULL, "!HALF", 900, 200, false},
    {"uhttp://a.example/half2#resource", "fetched", NULL, NULL, "!HALF", 900, 200, false},
    {"uhttp://a.example/half3#resource", "fetched", NULL, NULL, "!HALF", 900, 200, false},
    {"uhttp://a.example/far#resource", "fetched", NULL, NULL, "!TIMEOUT", 900, 200, false},
};

static uint64_t now_ms;
static int store, archive;
static unsigned asked, reads;
static char asked_for[ROOM];
static struct {
    metastore_got *done;
    void *context;
    struct slice records[KEYS_MOST];
    struct buf merged[KEYS_MOST];
    size_t count;
} waiting;

void __wrap_metastore_get(struct metastore_client *client, const struct slice *keys, size_t n,
                          metastore_got *done, void *context);
enum status __wrap_content_read(struct content *content, const struct document_record *where,
                                struct buf *memory, struct warc_record *record, struct reason *why);
uint64_t __wrap_clock_monotonic_ms(void);
uint64_t __wrap_clock_wall_ms(void);

uint64_t
__wrap_clock_monotonic_ms(void)
{
    return now_ms;
}

uint64_t
__wrap_clock_wall_ms(void)
{
    return 1500;
}

static void
describe(struct meta_update *update, const struct known *known)
{
    if (known->state != NULL) {
        meta_set_text(update, META_STATE, slice_string(known->state));
    } else {
        meta_set_number(update, META_DEPTH, 1);
    }
    if (known->reason != NULL) {
        meta_set_text(update, META_REASON, slice_string(known->reason));
    }
    if (known->to != NULL) {
        meta_set_text(update, META_REDIRECT_TO, slice_string(known->to));
    }
    if (known->body != NULL) {
        meta_set_text(update, META_WARC_FILE, slice_string(known->body));
        meta_set_text(update, META_WARC_NODE, SLICE("n1"));
        meta_set_number(update, META_WARC_OFFSET, 7);
        meta_set_number(update, META_WARC_LENGTH, 8);
        meta_set_text(update, META_WARC_RECORD_ID, SLICE("<urn:uuid:9>"));
        meta_set_number(update, META_FETCHED, known->fetched);
        meta_set_number(update, META_HTTP_STATUS, known->status);
    }
    if (known->truncated) {
        meta_set_text(update, META_TRUNCATED, SLICE("length"));
    }
}

void
__wrap_metastore_get(struct metastore_client *client, const struct slice *keys, size_t n,
                     metastore_got *done, void *context)
{
    assert_non_null(client);
    assert_true(n <= KEYS_MOST);
    asked++;
    asked_for[0] = '\0';
    waiting.done = done;
    waiting.context = context;
    waiting.count = n;
    for (size_t i = 0; i < n; i++) {
        struct meta_update update;
        meta_update_init(&update);
        buf_init(&waiting.merged[i], ROOM);
        snprintf(asked_for + strlen(asked_for), sizeof asked_for - strlen(asked_for), "%.*s\n",
                 SLICE_PRINT(keys[i]));
        waiting.records[i] = SLICE("");
        if (slice_starts(keys[i], SLICE("uhttp://n.example/"))) { /* each is there */
            describe(&update, &knowns[0]);
            (void)meta_merge(SLICE(""), meta_update_fields(&update), &waiting.merged[i]);
            waiting.records[i] = buf_slice(&waiting.merged[i]);
        }
        for (size_t k = 0; k < sizeof knowns / sizeof *knowns; k++) {
            if (slice_is(keys[i], knowns[k].key)) {
                describe(&update, &knowns[k]);
                (void)meta_merge(SLICE(""), meta_update_fields(&update), &waiting.merged[i]);
                waiting.records[i] = buf_slice(&waiting.merged[i]);
            }
        }
        meta_update_release(&update);
    }
}

enum status
__wrap_content_read(struct content *content, const struct document_record *where,
                    struct buf *memory, struct warc_record *record, struct reason *why)
{
    assert_ptr_equal(content, &archive);
    reads++;
    assert_true(slice_is(where->node, "n1"));
    assert_int_equal(where->offset, 7);
    assert_int_equal(where->length, 8);
    assert_true(slice_is(where->id, "<urn:uuid:9>"));
    if (slice_is(where->file, "!CORRUPT")) {
        return status_fail(why, STATUS_CORRUPT, "the record is damaged");
    }
    if (slice_is(where->file, "!TIMEOUT")) {
        return status_fail(why, STATUS_TIMEOUT, "another node does not answer");
    }
    if (slice_is(where->file, "!LONG")) {
        static char body[CACHE_BYTES + 1]; /* which nobody reads */
        *record = (struct warc_record){.body = slice_of(body, sizeof body)};
        return STATUS_OK;
    }
    if (slice_is(where->file, "!HALF")) {
        static char body[CACHE_BYTES / 2];
        *record = (struct warc_record){.body = slice_of(body, sizeof body)};
        return STATUS_OK;
    }
    buf_reset(memory);
    (void)buf_append_slice(memory, where->file);
    *record = (struct warc_record){
        .http_header = SLICE("HTTP/1.1 200 OK\r\nContent-Type: text/x\r\nLink: <l>\r\n\r\n"),
        .body = buf_slice(memory)};
    return STATUS_OK;
}

/* ---- a set ---- */

static struct {
    unsigned times;
    enum status status;
    char why[REASON_SIZE];
} gathered;

static void
note_gathered(void *context, enum status status, const struct reason *why)
{
    assert_ptr_equal(context, &gathered);
    gathered.times++;
    gathered.status = status;
    snprintf(gathered.why, sizeof gathered.why, "%s", why != NULL ? why->text : "");
}

/* The store's answer to what was asked last. */
static void
give(enum status status)
{
    struct buf merged[KEYS_MOST];
    struct slice records[KEYS_MOST];
    const size_t count = waiting.count;
    const struct reason why = {"no store"};
    memcpy(merged, waiting.merged, sizeof merged);
    memcpy(records, waiting.records, sizeof records);
    waiting.count = 0;
    waiting.done(waiting.context, status, records, count, status == STATUS_OK ? NULL : &why);
    for (size_t i = 0; i < count; i++) {
        buf_release(&merged[i]);
    }
}

static void
gather(struct resource_set *set, const char *needs)
{
    gathered.times = 0;
    resource_set_gather(set, slice_string(needs), note_gathered, &gathered);
    while (gathered.times == 0) {
        give(STATUS_OK);
    }
    assert_int_equal(gathered.times, 1);
}

static struct resources *
open_resources(void)
{
    const struct resources_settings settings = {.metastore = (struct metastore_client *)&store,
                                                .content = (struct content *)&archive,
                                                .bytes = BYTES_MOST,
                                                .age_ms = AGE_MS};
    asked = reads = 0;
    return resources_open(&settings);
}

static void
append_key(void *context, struct slice key, bool again)
{
    (void)buf_printf(context, "%.*s%s\n", SLICE_PRINT(key), again ? " again" : "");
}

static void
check_keys(const struct resource_set *set,
           void (*visit)(const struct resource_set *set, resource_visit *each, void *context),
           const char *expected)
{
    struct buf text;
    buf_init(&text, ROOM);
    visit(set, append_key, &text);
    (void)buf_append(&text, "", 1);
    assert_string_equal(text.data, expected);
    buf_release(&text);
}

static void
check_names(const struct resource_set *set, const char *expected)
{
    struct buf text;
    buf_init(&text, ROOM);
    resource_set_names(set, &text);
    (void)buf_append(&text, "", 1);
    assert_string_equal(text.data, expected);
    buf_release(&text);
}

static void
check_one(struct resource_set *set, size_t i, const char *document, const char *bytes,
          const char *failure)
{
    const struct transform_resource *list;
    assert_true(resource_set_list(set, &list) > i);
    if (!slice_is(list[i].document_uri, document)) {
        fail_msg("%.*s led to \"%.*s\", not \"%s\": %.*s", SLICE_PRINT(list[i].uri),
                 SLICE_PRINT(list[i].document_uri), document, SLICE_PRINT(list[i].failure));
    }
    assert_true(slice_is(list[i].bytes, bytes));
    assert_true(slice_is(list[i].failure, failure));
    assert_true(slice_is(list[i].content_type, bytes[0] != '\0' ? "text/x" : ""));
    assert_true(slice_is(list[i].link_header, bytes[0] != '\0' ? "<l>" : ""));
}

/* ---- tests ---- */

static void
each_state_of_the_store_is_told(void **state)
{
    static const struct {
        const char *name, *document, *bytes, *failure;
    } cases[] = {
        {"1", "http://a.example/1", "one", ""},
        {"moved", "http://a.example/1", "one", ""},
        {"ring", "", "", "it redirects too often"},
        {"lost", "", "", "it redirects too often"},
        {"gone", "http://a.example/gone", "", "gone: the server answered 404"},
        {"denied", "http://a.example/denied", "", "denied"},
        {"earlier", "http://a.example/earlier", "kept", ""},
        {"wrong", "http://a.example/wrong", "", "failed: 500"},
        {"first", "http://a.example/first", "kept", ""},
        {"last", "http://a.example/last", "kept", ""},
        {"before", "http://a.example/before", "", "failed: 199"},
        {"shut", "http://a.example/shut", "", "denied"}, /* whatever there was before */
        {"cut", "http://a.example/cut", "", "failed: cut"},
        {"damaged", "", "", "the record is damaged"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct resources *resources = open_resources();
        struct resource_set *set = resource_set_new(resources);
        char uri[64];
        snprintf(uri, sizeof uri, "http://a.example/%s", cases[i].name);
        gather(set, uri);
        assert_int_equal(gathered.status, STATUS_OK);
        assert_int_equal(resource_set_missing(set), 0);
        check_one(set, 0, cases[i].document, cases[i].bytes, cases[i].failure);
        snprintf(uri, sizeof uri, "http://a.example/%s\n", cases[i].name);
        check_names(set, cases[i].failure[0] == '\0' ? uri : "");
        check_keys(set, resource_set_unknown, "");
        check_keys(set, resource_set_old, "");
        resource_set_free(set);
        resources_close(resources);
    }
}

/* What is older than is wanted is asked for again, be it a body or a failure. */
static void
what_is_old_is_asked_for_again(void **state)
{
    (void)state;
    struct resources *resources = open_resources();
    struct resource_set *set = resource_set_new(resources);
    gather(set, "http://a.example/ageing\nhttp://a.example/aged\nhttp://a.example/gone-long\n");
    assert_int_equal(resource_set_missing(set), 0);
    check_keys(set, resource_set_old,
               "http://a.example/aged#resource again\nhttp://a.example/gone-long#resource again\n");
    resource_set_free(set);
    resources_close(resources);
    const struct resources_settings ageless = {.metastore = (struct metastore_client *)&store,
                                               .content = (struct content *)&archive,
                                               .bytes = BYTES_MOST};
    resources = resources_open(&ageless);
    set = resource_set_new(resources);
    gather(set, "http://a.example/aged\nhttp://a.example/gone-long\n");
    check_keys(set, resource_set_old, "");
    resource_set_free(set);
    resources_close(resources);
}

/* For a while nobody is asked again for what failed; ten redirects are followed, not one more. */
static void
failures_are_kept_too(void **state)
{
    (void)state;
    struct resources *resources = open_resources();
    for (int i = 0; i < 2; i++) {
        struct resource_set *set = resource_set_new(resources);
        gather(set, "http://a.example/gone");
        assert_int_equal(asked, 1);
        check_one(set, 0, "http://a.example/gone", "", "gone: the server answered 404");
        resource_set_free(set);
    }
    struct resource_set *ring = resource_set_new(resources);
    asked = 0;
    gather(ring, "http://a.example/ring");
    assert_int_equal(asked, 1 + 10);
    check_one(ring, 0, "", "", "it redirects too often");
    resource_set_free(ring);
    resources_close(resources);
}

static void
what_is_missing_is_to_be_fetched_or_waited_for(void **state)
{
    (void)state;
    struct resources *resources = open_resources();
    struct resource_set *set = resource_set_new(resources);
    gather(set, "http://a.example/none\nhttp://a.example/tried\n\nhttp://a.example/away\n"
                "http://a.example/old\nno uri\nhttp://a.example/none\nhttp://a.example/tried\n");
    assert_int_equal(asked, 2); /* the second time for the redirect's target */
    assert_string_equal(asked_for, "uhttp://a.example/none#resource\n");
    assert_int_equal(resource_set_missing(set), 3);
    check_keys(set, resource_set_unknown, "http://a.example/none#resource\n");
    check_keys(set, resource_set_old, "http://a.example/old#resource again\n");
    check_names(set, "http://a.example/old\n");
    const struct transform_resource *list;
    assert_int_equal(resource_set_list(set, &list), 5);
    assert_true(slice_is(list[0].uri, "http://a.example/none"));
    assert_true(list[4].failure.length > 0);
    resource_set_give_up(set, "");
    assert_int_equal(resource_set_missing(set), 0);
    check_one(set, 0, "", "", "it was not fetched");
    check_one(set, 3, "http://a.example/old", "old", "");
    resource_set_free(set);
    set = resource_set_new(resources);
    gather(set, "http://a.example/none");
    resource_set_give_up(set, "no time");
    check_one(set, 0, "", "", "no time");
    resource_set_free(set);
    resource_set_free(NULL);
    resources_close(resources);
    resources_close(NULL);
}

static void
what_was_read_is_kept_for_a_while(void **state)
{
    (void)state;
    struct resources *resources = open_resources();
    for (unsigned i = 0; i < 4; i++) {
        struct resource_set *set = resource_set_new(resources);
        gather(set, i == 1 ? "http://a.example/1\nhttp://a.example/2" : "http://a.example/1");
        check_one(set, 0, "http://a.example/1", "one", "");
        assert_int_equal(reads, i == 0 ? 1 : i < 3 ? 2 : 3);
        assert_int_equal(asked, i == 0 ? 1 : i < 3 ? 2 : 3);
        now_ms += i == 1 ? CACHE_FOUND_MS : i == 2 ? 1 : 0;
        resource_set_free(set);
    }
    resources_close(resources);
}

static void
gather_one(struct resources *resources, unsigned number)
{
    char uri[64];
    struct resource_set *set = resource_set_new(resources);
    snprintf(uri, sizeof uri, "http://n.example/%u", number);
    gather(set, uri);
    check_one(set, 0, uri, "one", "");
    resource_set_free(set);
}

/* What was not used for longest makes room. */
static void
only_so_many_are_kept(void **state)
{
    enum { KEPT = 128 };
    (void)state;
    struct resources *resources = open_resources();
    for (unsigned i = 0; i <= KEPT; i++) {
        gather_one(resources, i);
        assert_int_equal(reads, i + 1);
    }
    gather_one(resources, 1);
    gather_one(resources, KEPT);
    assert_int_equal(reads, KEPT + 1);
    gather_one(resources, 0);
    assert_int_equal(reads, KEPT + 2);
    gather_one(resources, 1);
    gather_one(resources, 3);
    assert_int_equal(reads, KEPT + 2);
    gather_one(resources, 2);
    assert_int_equal(reads, KEPT + 3);
    resources_close(resources);
}

/* So much is kept as makes just the most bytes; what was not used for longest makes room. */
static void
only_so_many_bytes_are_kept(void **state)
{
    static const struct {
        const char *name;
        unsigned reads;
    } rows[] = {{"half1", 1}, {"half2", 2}, {"half1", 2}, {"half3", 3},
                {"half1", 3}, {"half3", 3}, {"half2", 4}, {"half3", 4}};
    (void)state;
    struct resources *resources = open_resources();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct resource_set *set = resource_set_new(resources);
        char uri[64];
        snprintf(uri, sizeof uri, "http://a.example/%s", rows[i].name);
        gather(set, uri);
        assert_int_equal(reads, rows[i].reads);
        resource_set_free(set);
    }
    resources_close(resources);
}

static void
use_sets(void)
{
    struct resources *resources = open_resources();
    for (int i = 0; i < 3; i++) {
        struct resource_set *set = resource_set_new(resources);
        gather(set, "http://a.example/1\nhttp://a.example/gone\nhttp://a.example/moved\n"
                    "http://a.example/none\nhttp://a.example/ring\nno uri\n");
        resource_set_give(set, SLICE("http://a.example/none"), SLICE("text/y"), SLICE("x"));
        resource_set_give_up(set, "no time");
        resource_set_free(set);
        now_ms += i == 1 ? CACHE_FOUND_MS + 1 : 0;
    }
    struct resource_set *set = resource_set_new(resources);
    gathered.times = 0;
    resource_set_gather(set, SLICE("http://a.example/2"), note_gathered, &gathered);
    resource_set_free(set);
    give(STATUS_OK);
    assert_int_equal(gathered.times, 0);
    resources_close(resources);
}

/* Also what is too old, was given up, or was on its way when its set ended is given back. */
static void
nothing_is_left_in_memory(void **state)
{
    (void)state;
    assert_true(leaves_no_memory(use_sets));
}

static void
what_is_too_long_for_a_document_is_told(void **state)
{
    (void)state;
    struct resources *resources = open_resources();
    struct resource_set *set = resource_set_new(resources);
    const struct transform_resource *list;
    gather(set, "http://a.example/long");
    assert_int_equal(resource_set_list(set, &list), 1);
    assert_true(slice_is(list[0].failure, "it is too long"));
    resource_set_free(set);
    resources_close(resources);
}

static void
only_so_many_bytes_come_to_a_document(void **state)
{
    (void)state;
    struct resources *resources = open_resources();
    struct resource_set *set = resource_set_new(resources);
    gather(set, "http://a.example/2\nhttp://a.example/1\nhttp://a.example/gone");
    check_one(set, 0, "http://a.example/2", "two, which is long", "");
    const struct transform_resource *list;
    assert_int_equal(resource_set_list(set, &list), 3);
    assert_int_equal(list[1].bytes.length, 0);
    assert_non_null(strstr(list[1].failure.at, "transform.input"));
    assert_true(slice_is(list[2].failure, "gone: the server answered 404"));
    resource_set_free(set);
    /* No more than so many are asked for. */
    struct buf needs;
    buf_init(&needs, ROOM);
    for (int i = 0; i <= TRANSFORM_RESOURCES; i++) {
        (void)buf_printf(&needs, "http://b.example/%d\n", i);
    }
    (void)buf_append(&needs, "", 1);
    set = resource_set_new(resources);
    gather(set, needs.data);
    assert_int_equal(resource_set_missing(set), TRANSFORM_RESOURCES);
    buf_release(&needs);
    resource_set_free(set);
    resources_close(resources);
}

static void
what_does_not_answer_is_worth_another_try(void **state)
{
    (void)state;
    struct resources *resources = open_resources();
    struct resource_set *set = resource_set_new(resources);
    gather(set, "http://a.example/far");
    assert_int_equal(gathered.status, STATUS_TIMEOUT);
    assert_string_equal(gathered.why, "another node does not answer");
    gathered.times = 0;
    resource_set_gather(set, SLICE(""), note_gathered, &gathered);
    give(STATUS_AGAIN);
    assert_int_equal(gathered.times, 1);
    assert_int_equal(gathered.status, STATUS_AGAIN);
    assert_string_equal(gathered.why, "no store");
    /* Freed while the answer is on its way: nobody is told. */
    gathered.times = 0;
    resource_set_gather(set, SLICE("http://a.example/1"), note_gathered, &gathered);
    resource_set_free(set);
    give(STATUS_OK);
    assert_int_equal(gathered.times, 0);
    resources_close(resources);
}

static void
what_is_given_by_hand_counts_first(void **state)
{
    (void)state;
    const struct resources_settings alone = {.bytes = BYTES_MOST};
    struct resources *resources = resources_open(&alone);
    struct resource_set *set = resource_set_new(resources);
    resource_set_give(set, SLICE("http://a.example/1"), SLICE("text/y"), SLICE("by hand"));
    resource_set_give(set, SLICE("http://a.example/1"), SLICE("text/z"), SLICE("later"));
    resource_set_give(set, SLICE("no uri"), SLICE("text/y"), SLICE("named"));
    gathered.times = 0;
    resource_set_gather(set, SLICE("http://a.example/1\nhttp://a.example/2"), note_gathered,
                        &gathered);
    assert_int_equal(gathered.times, 1);
    const struct transform_resource *list;
    assert_int_equal(resource_set_list(set, &list), 3);
    assert_true(slice_is(list[0].bytes, "by hand"));
    assert_true(slice_is(list[0].content_type, "text/y"));
    assert_true(slice_is(list[1].bytes, "named"));
    assert_int_equal(list[1].failure.length, 0);
    check_keys(set, resource_set_unknown, "http://a.example/2#resource\n");
    resource_set_free(set);
    resources_close(resources);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_state_of_the_store_is_told),
        cmocka_unit_test(what_is_missing_is_to_be_fetched_or_waited_for),
        cmocka_unit_test(what_is_old_is_asked_for_again),
        cmocka_unit_test(failures_are_kept_too),
        cmocka_unit_test(what_was_read_is_kept_for_a_while),
        cmocka_unit_test(only_so_many_are_kept),
        cmocka_unit_test(only_so_many_bytes_are_kept),
        cmocka_unit_test(nothing_is_left_in_memory),
        cmocka_unit_test(what_is_too_long_for_a_document_is_told),
        cmocka_unit_test(only_so_many_bytes_come_to_a_document),
        cmocka_unit_test(what_does_not_answer_is_worth_another_try),
        cmocka_unit_test(what_is_given_by_hand_counts_first),
    };
    now_ms = 1000000;
    return cmocka_run_group_tests_name("resources", tests, NULL, NULL);
}
