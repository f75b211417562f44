/* The routed client of the metadata stores (metastore/metastore_client.c): how it parts what is
 * asked, joins what is answered, and ends what nobody answers. What stands in the place
 * of the messages is in metastore_messages.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/digest.h"
#include "base/memory.h"
#include "metastore/metastore_client.h"
#include "queue/cluster/cluster.h"
#include "tests/unit/memory_in_use.h"
#include "tests/unit/metastore/metastore_messages.h"

enum { SILENCE_MS = 700 };

/* ---- a client ---- */

static const char *const endpoints[NODES] = {"ipc:a", "tcp://b:1", "tcp://c:1"};
static uint16_t owners[PARTITIONS];

static int
begin(void **state)
{
    for (size_t i = 0; i < PARTITIONS; i++) {
        owners[i] = (uint16_t)(i % 2);
    }
    return messages_begin(state);
}

static struct metastore_client_options
options_of(size_t nodes)
{
    return (struct metastore_client_options){.endpoints = endpoints,
                                             .endpoint_count = nodes,
                                             .owner_of_partition = nodes > 1 ? owners : NULL,
                                             .name = "test.1",
                                             .silence_ms = SILENCE_MS};
}

static struct metastore_client *
open_client(size_t nodes)
{
    const struct metastore_client_options options = options_of(nodes);
    struct metastore_client *client;
    struct reason why = {""};
    assert_int_equal(metastore_client_open(&client, &options, &why), STATUS_OK);
    assert_int_equal(opened, nodes);
    return client;
}

/* The n-th key that this node keeps. */
static struct slice
key_of(size_t node, unsigned n, char text[32])
{
    for (unsigned i = 0;; i++) {
        snprintf(text, 32, "uhttp://h%u/", i);
        const struct slice key = slice_string(text);
        if (cluster_key_partition(key) % 2 == node && n-- == 0) {
            return key;
        }
    }
}

/* ---- opening ---- */

static void
test_options_are_copied_whole(void **state)
{
    (void)state;
    for (size_t nodes = 1; nodes <= NODES; nodes++) {
        char texts[NODES][16], name[16] = "fetch.7";
        const char *places_of[NODES];
        struct metastore_client_options options = options_of(nodes);
        for (size_t i = 0; i < nodes; i++) {
            snprintf(texts[i], sizeof texts[i], "%s", endpoints[i]);
            places_of[i] = texts[i];
        }
        options.endpoints = places_of;
        options.name = name;
        struct metastore_client_options *copy = metastore_client_options_copy(&options);
        memset(texts, 'x', sizeof texts);
        memset(name, 'x', sizeof name);
        memset(places_of, 0, sizeof places_of);
        memset(owners, 0xff, sizeof owners);
        assert_int_equal(copy->endpoint_count, nodes);
        assert_int_equal(copy->silence_ms, SILENCE_MS);
        assert_string_equal(copy->name, "fetch.7");
        for (size_t i = 0; i < nodes; i++) {
            assert_string_equal(copy->endpoints[i], endpoints[i]);
        }
        /* All of it is in one piece of memory. */
        assert_true((size_t)(copy->name - (const char *)copy) < malloc_usable_size(copy));
        assert_int_equal(copy->owner_of_partition != NULL, nodes > 1);
        for (size_t i = 0; i < PARTITIONS; i++) {
            owners[i] = (uint16_t)(i % 2);
            assert_true(nodes == 1 || copy->owner_of_partition[i] == i % 2);
        }
        free(copy);
    }
}

static void
test_a_client_that_cannot_be_opened_leaves_nothing(void **state)
{
    struct metastore_client *client = (struct metastore_client *)owners;
    struct metastore_client_options options = options_of(0);
    struct reason why = {""};
    (void)state;
    assert_int_equal(metastore_client_open(&client, &options, &why), STATUS_MISUSE);
    assert_null(client);
    options = options_of(NODES);
    owners[9] = NODES;
    assert_int_equal(metastore_client_open(&client, &options, &why), STATUS_MISUSE);
    assert_string_equal(why.text, "partition 9 has no metastore");
    owners[9] = NODES - 1;
    for (size_t i = 0; i < NODES; i++) {
        opened = closed = 0;
        open_fails_at = i;
        assert_int_equal(metastore_client_open(&client, &options, &why), STATUS_DENIED);
        assert_null(client);
        assert_int_equal(opened, i);
        assert_int_equal(closed, i);
    }
    metastore_client_close(NULL);
}

static void
test_the_first_to_do_something_is_waited_for(void **state)
{
    static const struct {
        int wait_ms[NODES], least;
    } cases[] = {{{-1, -1, -1}, -1}, {{-1, 5, -1}, 5}, {{7, 5, 9}, 5}, {{3, 5, 0}, 0}, {{4}, 0}};
    int descriptors[NODES + 1] = {0};
    struct metastore_client *client = open_client(NODES);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        memcpy(wait_ms, cases[i].wait_ms, sizeof wait_ms);
        assert_int_equal(metastore_wait_ms(client), cases[i].least);
    }
    assert_int_equal(metastore_descriptors(client, descriptors, 2), 2);
    assert_int_equal(descriptors[2], 0);
    assert_int_equal(metastore_descriptors(client, descriptors, NODES + 1), NODES);
    for (int i = 0; i < NODES; i++) {
        assert_int_equal(descriptors[i], 100 + i);
    }
    metastore_client_close(client);
}

/* ---- puts ---- */

struct ended {
    unsigned times;
    enum status status;
    char why[64];
    char records[8][16];
    size_t n;
    struct warc_location location;
};

static void
end(struct ended *ended, enum status status, const struct reason *why)
{
    ended->times++;
    ended->status = status;
    snprintf(ended->why, sizeof ended->why, "%.60s", why != NULL ? why->text : "");
}

static void
put_ended(void *context, enum status status, const struct reason *why)
{
    end(context, status, why);
}

static void
test_puts_go_to_their_owners_and_end_once(void **state)
{
    static const struct {
        enum status first, second, expected;
        const char *why;
    } cases[] = {
        {STATUS_OK, STATUS_OK, STATUS_OK, ""},
        {STATUS_FULL, STATUS_OK, STATUS_FULL, "post 0"},
        {STATUS_OK, STATUS_FULL, STATUS_FULL, "post 1"},
        {STATUS_FULL, STATUS_SYSTEM, STATUS_FULL, "post 0"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin(NULL);
        struct metastore_client *client = open_client(2);
        struct ended ended = {0};
        struct meta_put puts[5];
        char keys[5][32];
        for (unsigned k = 0; k < 5; k++) {
            puts[k] = (struct meta_put){key_of(k % 2, k / 2, keys[k]), SLICE("fields")};
        }
        metastore_put(client, puts, 5, put_ended, &ended);
        assert_int_equal(posted, 2);
        for (size_t node = 0; node < 2; node++) {
            struct codec_reader in = codec_reader_of(buf_slice(&posts[node].payload));
            assert_int_equal(posts[node].node, node);
            assert_int_equal(posts[node].verb, METASTORE_PUT);
            assert_int_equal(posts[node].timeout_ms, 0);
            assert_int_equal(codec_get_varint(&in), node == 0 ? 3 : 2);
            for (size_t k = node; k < 5; k += 2) {
                assert_true(slice_is(codec_get_slice(&in), keys[k]));
                assert_true(slice_is(codec_get_slice(&in), "fields"));
            }
            assert_true(codec_at_end(&in));
        }
        answer(0, cases[i].first, SLICE(""));
        assert_int_equal(ended.times, 0);
        answer(1, cases[i].second, SLICE(""));
        assert_int_equal(ended.times, 1);
        assert_int_equal(ended.status, cases[i].expected);
        assert_string_equal(ended.why, cases[i].why);
        metastore_client_close(client);
        messages_end(NULL);
    }
    begin(NULL);
}

/* How many puts each message has, of so many with fields of so many bytes. */
static void
check_parts(size_t n, size_t bytes, const uint64_t *expected, size_t messages)
{
    struct metastore_client *client = open_client(1);
    struct ended ended = {0};
    char *fields = memory_zero(bytes + 1, 1);
    struct meta_put *puts = memory_zero(n + 1, sizeof *puts);
    for (size_t i = 0; i < n; i++) {
        puts[i] = (struct meta_put){SLICE("uhttp://a/"), slice_of(fields, bytes)};
    }
    metastore_put(client, puts, n, put_ended, &ended);
    assert_int_equal(posted, messages);
    for (size_t i = 0; i < messages; i++) {
        struct codec_reader in = codec_reader_of(buf_slice(&posts[i].payload));
        assert_int_equal(codec_get_varint(&in), expected[i]);
        assert_int_equal(ended.times, 0);
        answer(i, STATUS_OK, SLICE(""));
    }
    assert_int_equal(ended.times, 1);
    metastore_client_close(client);
    opened = closed = posted = 0;
    free(puts);
    free(fields);
}

static void
test_puts_travel_in_messages_of_some_size(void **state)
{
    enum { OTHERS = 14 }; /* bytes of an entry besides its fields: key and two lengths */
    (void)state;
    check_parts(0, 0, (const uint64_t[]){0}, 1);
    check_parts(1, 0, (const uint64_t[]){1}, 1);
    check_parts(16384, 0, (const uint64_t[]){16384}, 1);
    check_parts(16385, 0, (const uint64_t[]){16384, 1}, 2);
    check_parts(4, (1 << 20) - OTHERS + 1, (const uint64_t[]){4}, 1);
    check_parts(5, (1 << 20) - OTHERS + 1, (const uint64_t[]){4, 1}, 2);
    check_parts(5, (1 << 20) - OTHERS, (const uint64_t[]){5}, 1);
}

/* ---- gets ---- */

static void
got(void *context, enum status status, const struct slice *records, size_t n,
    const struct reason *why)
{
    struct ended *ended = context;
    end(ended, status, why);
    ended->n = n;
    for (size_t i = 0; i < n && i < 8; i++) {
        snprintf(ended->records[i], sizeof ended->records[i], "%.*s", SLICE_PRINT(records[i]));
    }
}

static void
get(struct metastore_client *client, struct ended *ended, const char *keys)
{
    struct slice list[8], rest = slice_string(keys);
    size_t n = 0;
    while (rest.length > 0) {
        list[n++] = slice_take(&rest, ' ');
    }
    *ended = (struct ended){0};
    metastore_get(client, list, n, got, ended);
}

/* The latest message asks for these keys. */
static void
is_asked(size_t messages, const char *keys)
{
    assert_int_equal(posted, messages);
    struct codec_reader in = codec_reader_of(buf_slice(&posts[messages - 1].payload));
    struct slice rest = slice_string(keys);
    assert_int_equal(posts[messages - 1].verb, METASTORE_GET);
    for (uint64_t n = codec_get_varint(&in); n > 0; n--) {
        assert_true(slice_equal(codec_get_slice(&in), slice_take(&rest, ' ')));
    }
    assert_int_equal(rest.length, 0);
    assert_true(codec_at_end(&in));
}

/* Answers with these records; "-" stands for an empty one. */
static void
answer_records(size_t i, uint32_t count, const char *records)
{
    struct buf payload;
    struct slice rest = slice_string(records);
    buf_init(&payload, 1000);
    codec_put_u32(&payload, count);
    while (rest.length > 0) {
        const struct slice one = slice_take(&rest, ' ');
        codec_put_slice(&payload, slice_is(one, "-") ? SLICE("") : one);
    }
    answer(i, STATUS_OK, buf_slice(&payload));
    buf_release(&payload);
}

static void
is_ended(const struct ended *ended, enum status status, const char *records)
{
    struct slice rest = slice_string(records);
    assert_int_equal(ended->times, 1);
    assert_int_equal(ended->status, status);
    for (size_t i = 0; i < ended->n; i++) {
        const struct slice one = slice_take(&rest, ' ');
        assert_string_equal(ended->records[i], slice_is(one, "-") ? "" : ended->records[i]);
        assert_true(slice_is(one, "-") || slice_is(one, ended->records[i]));
    }
    assert_int_equal(rest.length, 0);
}

static void
test_gets_that_come_meanwhile_travel_together(void **state)
{
    struct ended a, b, c, none;
    struct metastore_client *client = open_client(1);
    (void)state;
    get(client, &a, "ua");
    is_asked(1, "ua");
    assert_int_equal(posts[0].timeout_ms, 0); /* this node is waited for */
    get(client, &b, "ub1 ub2 ub3");
    get(client, &c, "uc1 uc2");
    get(client, &none, "");
    metastore_process(client);
    assert_int_equal(processed, 1);
    assert_int_equal(posted, 1);
    assert_int_equal(b.times + c.times + none.times, 0);
    answer_records(0, 1, "A");
    is_ended(&a, STATUS_OK, "A");
    is_asked(2, "ub1 ub2 ub3 uc1 uc2");
    /* The reply was full: what it left out is asked for before what has come since. */
    get(client, &a, "ua");
    answer_records(1, 2, "B1 -");
    is_asked(3, "ub3 uc1 uc2 ua");
    assert_int_equal(b.times + c.times, 0);
    is_ended(&none, STATUS_OK, "");
    answer_records(2, 4, "B3 C1 C2 -");
    is_ended(&b, STATUS_OK, "B1 - B3");
    is_ended(&c, STATUS_OK, "C1 C2");
    is_ended(&a, STATUS_OK, "-");
    assert_int_equal(posted, 3);
    metastore_client_close(client);
}

/* ---- gets of many keys ---- */

static void
get_many(struct metastore_client *client, struct ended *ended, size_t n)
{
    struct slice *keys = memory_zero(n, sizeof *keys);
    for (size_t i = 0; i < n; i++) {
        keys[i] = SLICE("uhttp://a/");
    }
    *ended = (struct ended){0};
    metastore_get(client, keys, n, got, ended);
    free(keys);
}

/* The i-th message asks for so many records, and gets each of them: they are empty. */
static void
many_are_asked(size_t i, uint32_t n)
{
    struct buf payload;
    assert_int_equal(posted, i + 1);
    struct codec_reader in = codec_reader_of(buf_slice(&posts[i].payload));
    assert_int_equal(codec_get_varint(&in), n);
    buf_init(&payload, 1 << 20);
    codec_put_u32(&payload, n);
    for (uint32_t k = 0; k < n; k++) {
        codec_put_slice(&payload, SLICE(""));
    }
    answer(i, STATUS_OK, buf_slice(&payload));
    buf_release(&payload);
}

/* A message has 16384 keys at most: of a get that has more, or of gets that wait together. */
static void
test_gets_travel_in_messages_of_some_size(void **state)
{
    enum { MOST = 16384 };
    struct metastore_client *client = open_client(1);
    struct ended ended[3];
    (void)state;
    get_many(client, &ended[0], 0); /* it is asked, too: whoever waits is told in its turn */
    many_are_asked(0, 0);
    assert_int_equal(ended[0].times, 1);
    get_many(client, &ended[0], MOST + 1);
    many_are_asked(1, MOST);
    assert_int_equal(ended[0].times, 0);
    many_are_asked(2, 1);
    assert_int_equal(ended[0].times, 1);
    assert_int_equal(ended[0].n, MOST + 1);
    for (uint32_t more = 0; more < 2; more++) {
        const size_t first = 3 + 2 * more;
        get_many(client, &ended[0], 1); /* under way while the others come */
        get_many(client, &ended[1], MOST - 1 + more);
        get_many(client, &ended[2], 1);
        many_are_asked(first, 1);
        many_are_asked(first + 1, MOST);
        assert_int_equal(ended[1].times, 1);
        assert_int_equal(ended[2].times, 1 - more);
        if (more) {
            many_are_asked(first + 2, 1);
        }
        assert_int_equal(ended[2].times, 1);
    }
    metastore_client_close(client);
}

static void
use_a_client(void)
{
    const struct metastore_client_options options = options_of(2);
    struct metastore_client *client;
    struct reason why = {""};
    struct ended ended = {0};
    posted = 0;
    if (metastore_client_open(&client, &options, &why) == STATUS_OK) {
        const struct slice key = SLICE("uhttp://a/");
        metastore_get(client, &key, 1, got, &ended);
        answer_records(0, 1, "record");
        metastore_client_close(client);
    }
    opened = closed = posted = 0;
}

static void
test_clients_leave_nothing(void **state)
{
    (void)state;
    assert_true(leaves_no_memory(use_a_client));
}

static void
test_only_the_get_at_fault_fails(void **state)
{
    struct ended a, b, c;
    struct metastore_client *client = open_client(1);
    (void)state;
    get(client, &a, "ua");
    get(client, &b, "ub");
    get(client, &c, "uc");
    answer(0, STATUS_CORRUPT, SLICE(""));
    is_ended(&a, STATUS_CORRUPT, "-");
    assert_string_equal(a.why, "post 0");
    is_asked(2, "ub uc");
    answer(1, STATUS_CORRUPT, SLICE(""));
    assert_int_equal(b.times + c.times, 0);
    is_asked(3, "ub");
    get(client, &a, "ua");
    answer(2, STATUS_CORRUPT, SLICE(""));
    is_ended(&b, STATUS_CORRUPT, "-");
    is_asked(4, "uc");
    answer_records(3, 1, "C");
    is_ended(&c, STATUS_OK, "C");
    is_asked(5, "ua");
    answer_records(4, 1, "A");
    is_ended(&a, STATUS_OK, "A");
    metastore_client_close(client);
}

static void
test_malformed_answers_to_a_get_are_refused(void **state)
{
    static const struct {
        uint32_t count;
        const char *records;
    } cases[] = {{0, ""}, {1, ""}, {1, "A B"}, {3, "A B C"}, {2, "A"}};
    struct metastore_client *client = open_client(1);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ended ended;
        get(client, &ended, "ua ub");
        answer_records(i, cases[i].count, cases[i].records);
        assert_int_equal(ended.times, 1);
        assert_int_equal(ended.status, STATUS_PROTOCOL);
        assert_string_equal(ended.why, "metastore: a malformed answer to a get");
    }
    metastore_client_close(client);
}

static void
test_gets_of_several_owners_are_joined(void **state)
{
    char keys[3][32], list[128];
    struct ended ended;
    struct metastore_client *client = open_client(2);
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        (void)key_of(i % 2, i / 2, keys[i]);
    }
    snprintf(list, sizeof list, "%s %s %s", keys[0], keys[1], keys[2]);
    get(client, &ended, list);
    assert_int_equal(posted, 2);
    assert_int_equal(posts[0].node, 0);
    assert_int_equal(posts[1].node, 1);
    assert_int_equal(posts[1].timeout_ms, SILENCE_MS);
    answer_records(1, 1, "B");
    assert_int_equal(ended.times, 0);
    answer_records(0, 2, "A C");
    is_ended(&ended, STATUS_OK, "A B C");
    get(client, &ended, list);
    answer(2, STATUS_SYSTEM, SLICE(""));
    assert_int_equal(ended.times, 0);
    answer(3, STATUS_CORRUPT, SLICE(""));
    is_ended(&ended, STATUS_SYSTEM, "- - -");
    assert_string_equal(ended.why, "post 2");
    metastore_client_close(client);
}

static void
test_a_silent_node_is_away_until_it_answers(void **state)
{
    char key[32];
    struct ended first, second, third;
    struct metastore_client *client = open_client(2);
    (void)state;
    wait_ms[0] = wait_ms[1] = -1;
    (void)key_of(1, 0, key);
    get(client, &first, key);
    get(client, &second, key);
    answer(0, STATUS_TIMEOUT, SLICE(""));
    is_ended(&first, STATUS_UNAVAILABLE, "-");
    is_ended(&second, STATUS_UNAVAILABLE, "-");
    assert_string_equal(second.why, "the node of this metadata store does not answer");
    is_asked(2, "");
    assert_int_equal(posts[1].node, 1);
    assert_int_equal(posts[1].timeout_ms, 0);
    assert_int_equal(metastore_wait_ms(client), -1);
    metastore_process(client);
    get(client, &third, key);
    assert_int_equal(posted, 2);
    assert_int_equal(third.times, 0);
    assert_int_equal(metastore_wait_ms(client), 0);
    metastore_process(client);
    is_ended(&third, STATUS_UNAVAILABLE, "-");
    get(client, &third, key);
    answer(1, STATUS_SYSTEM, SLICE("")); /* whatever it says, it lives */
    is_asked(3, key);
    answer_records(2, 1, "C");
    is_ended(&third, STATUS_OK, "C");
    get(client, &third, key);
    answer(3, STATUS_TIMEOUT, SLICE(""));
    metastore_client_close(client); /* while the sign of life is waited for */
    assert_int_equal(posted, 5);
}

/* Asks again for what was cancelled. */
static struct {
    struct metastore_client *client;
    struct ended cancelled, again;
} asking;

static void
ask_again(void *context, enum status status, const struct slice *records, size_t n,
          const struct reason *why)
{
    got(context, status, records, n, why);
    get(asking.client, &asking.again, "ua");
}

static void
test_closing_ends_all_gets(void **state)
{
    struct ended under_way, waiting;
    struct metastore_client *client = open_client(1);
    (void)state;
    get(client, &under_way, "ua");
    get(client, &waiting, "ub");
    metastore_client_close(client);
    is_ended(&under_way, STATUS_CANCELLED, "-");
    is_ended(&waiting, STATUS_CANCELLED, "-");
    assert_int_equal(posted, 1);
    opened = closed = 0;
    memset(&asking, 0, sizeof asking);
    asking.client = open_client(2);
    for (unsigned owner = 0; owner < 2; owner++) {
        char key[32];
        const struct slice asked = key_of(owner, 0, key);
        if (owner == 1) {
            metastore_get(asking.client, &asked, 1, ask_again, &asking.cancelled);
        } else {
            get(asking.client, &under_way, key);
        }
    }
    metastore_client_close(asking.client);
    is_ended(&under_way, STATUS_CANCELLED, "-");
    is_ended(&asking.cancelled, STATUS_CANCELLED, "-");
    is_ended(&asking.again, STATUS_UNAVAILABLE, "-");
    assert_int_equal(posted, 3);
}

/* ---- records that are kept ---- */

static void
kept(void *context, enum status status, const struct warc_location *location,
     const struct reason *why)
{
    struct ended *ended = context;
    end(ended, status, why);
    ended->location = *location;
}

static void
test_where_a_record_is_kept(void **state)
{
    char name[WARC_FILE_SIZE + 1];
    struct metastore_client *client = open_client(2);
    (void)state;
    memset(name, 'n', sizeof name);
    for (size_t i = 0; i < 5; i++) {
        static const enum status expected[] = {STATUS_OK, STATUS_PROTOCOL, STATUS_PROTOCOL,
                                               STATUS_PROTOCOL, STATUS_FULL};
        struct ended ended = {0};
        struct buf payload;
        buf_init(&payload, 1000);
        metastore_keep(client, 1, "<urn:uuid:1>", SLICE("member"), kept, &ended);
        struct codec_reader in = codec_reader_of(buf_slice(&posts[i].payload));
        assert_int_equal(posts[i].node, 1);
        assert_int_equal(posts[i].verb, METASTORE_KEEP);
        assert_true(slice_is(codec_get_slice(&in), "<urn:uuid:1>"));
        assert_true(slice_is(codec_get_slice(&in), "member"));
        assert_true(codec_at_end(&in));
        codec_put_slice(&payload, slice_of(name, WARC_FILE_SIZE - (i == 1 ? 0 : 1)));
        codec_put_varint(&payload, 70000);
        if (i != 2) {
            codec_put_varint(&payload, 300);
        }
        if (i == 3) {
            codec_put_u8(&payload, 0);
        }
        answer(i, i == 4 ? STATUS_FULL : STATUS_OK, buf_slice(&payload));
        assert_int_equal(ended.times, 1);
        assert_int_equal(ended.status, expected[i]);
        assert_string_equal(ended.why, i == 0   ? ""
                                       : i == 4 ? "post 4"
                                                : "metastore: a malformed answer");
        if (i == 0) {
            assert_int_equal(strlen(ended.location.file), WARC_FILE_SIZE - 1);
            assert_int_equal(ended.location.offset, 70000);
            assert_int_equal(ended.location.length, 300);
            assert_string_equal(ended.location.id, "<urn:uuid:1>");
        }
        buf_release(&payload);
    }
    metastore_client_close(client);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_options_are_copied_whole, begin, messages_end),
        cmocka_unit_test_setup_teardown(test_a_client_that_cannot_be_opened_leaves_nothing, begin,
                                        messages_end),
        cmocka_unit_test_setup_teardown(test_the_first_to_do_something_is_waited_for, begin,
                                        messages_end),
        cmocka_unit_test_setup_teardown(test_puts_go_to_their_owners_and_end_once, begin,
                                        messages_end),
        cmocka_unit_test_setup_teardown(test_puts_travel_in_messages_of_some_size, begin,
                                        messages_end),
        cmocka_unit_test_setup_teardown(test_gets_that_come_meanwhile_travel_together, begin,
                                        messages_end),
        cmocka_unit_test_setup_teardown(test_gets_travel_in_messages_of_some_size, begin,
                                        messages_end),
        cmocka_unit_test_setup_teardown(test_clients_leave_nothing, begin, messages_end),
        cmocka_unit_test_setup_teardown(test_only_the_get_at_fault_fails, begin, messages_end),
        cmocka_unit_test_setup_teardown(test_malformed_answers_to_a_get_are_refused, begin,
                                        messages_end),
        cmocka_unit_test_setup_teardown(test_gets_of_several_owners_are_joined, begin,
                                        messages_end),
        cmocka_unit_test_setup_teardown(test_a_silent_node_is_away_until_it_answers, begin,
                                        messages_end),
        cmocka_unit_test_setup_teardown(test_closing_ends_all_gets, begin, messages_end),
        cmocka_unit_test_setup_teardown(test_where_a_record_is_kept, begin, messages_end),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + metastore_calls_tests();
}
