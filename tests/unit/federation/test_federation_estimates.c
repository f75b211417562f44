/* Estimates and terms of a federation (index/client/federation/federation.c, federation_terms.c).
 * The linker puts the functions below in the place of the links to partitions: what is posted is
 * answered when somebody waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/codec.h"
#include "index/client/federation/federation_state.h"
#include "index/protocol/service_protocol.h"

enum { PARTITIONS_ASKED = 3, POSTED_MOST = 8, SILENCE_MS = 777 };

/* ---- partitions of the test ---- */

static struct {
    rpc_done *done;
    void *context;
    size_t partition;
} posted[POSTED_MOST];
static size_t waiting, asked[PARTITIONS_ASKED], fails; /* fails: which partition; or none */
static uint64_t numbers[PARTITIONS_ASKED][3];
static size_t told; /* numbers of an answer */
static bool silent;
static uint64_t session_ended[PARTITIONS_ASKED];
static char request_asked[256];
static size_t request_length;

static struct partition_client links[PARTITIONS_ASKED];
static struct index_client client;

void __wrap_rpc_client_post(struct rpc_client *rpc, uint8_t verb, struct slice request,
                            uint32_t timeout_ms, rpc_done *done, void *context);
enum status __wrap_client_wait(struct index_client *waiter, struct reason *why);

void
__wrap_rpc_client_post(struct rpc_client *rpc, uint8_t verb, struct slice request,
                       uint32_t timeout_ms, rpc_done *done, void *context)
{
    const size_t partition = (size_t)((const char *)rpc - (const char *)links) / sizeof *links;
    assert_int_equal(timeout_ms, SILENCE_MS);
    if (verb == INDEX_VERB_END) {
        struct codec_reader in = codec_reader_of(request);
        assert_true(partition < PARTITIONS_ASKED);
        session_ended[partition] = codec_get_u64(&in);
        assert_true(codec_at_end(&in));
        done(context, STATUS_TIMEOUT, SLICE(""), NULL); /* nothing depends on it */
        return;
    }
    assert_true(verb == INDEX_VERB_ESTIMATE || verb == INDEX_VERB_STAR);
    assert_true(waiting < POSTED_MOST);
    posted[waiting].done = done;
    posted[waiting].context = context;
    posted[waiting++].partition = partition;
    asked[partition]++;
    assert_true(request.length < sizeof request_asked);
    memcpy(request_asked, request.at, request.length);
    request_length = request.length;
}

static void
answer(void)
{
    for (; waiting > 0; waiting--) {
        const size_t partition = posted[waiting - 1].partition;
        const struct reason why = {"it is ill"};
        struct buf text;
        buf_init(&text, 64);
        for (size_t i = 0; i < told; i++) {
            codec_put_u64(&text, numbers[partition][i]);
        }
        posted[waiting - 1].done(posted[waiting - 1].context,
                                 partition == fails ? STATUS_SYSTEM : STATUS_OK, buf_slice(&text),
                                 &why);
        buf_release(&text);
    }
}

enum status
__wrap_client_wait(struct index_client *waiter, struct reason *why)
{
    assert_ptr_equal(waiter, &client);
    if (silent) {
        return status_fail(why, STATUS_TIMEOUT, "it took too long");
    }
    assert_true(waiting > 0);
    answer();
    return STATUS_OK;
}

/* ---- estimates ---- */

static struct federation *federation;

static int
set_up(void **state)
{
    static char endpoint[] = "an endpoint";
    (void)state;
    memset(links, 0, sizeof links);
    for (size_t i = 0; i < PARTITIONS_ASKED; i++) {
        links[i].rpc = (struct rpc_client *)&links[i];
        links[i].endpoint = endpoint;
        numbers[i][0] = UINT64_C(1) << (8 * i);
        numbers[i][1] = UINT64_C(1000) << (8 * i);
        numbers[i][2] = 77;
    }
    client = (struct index_client){
        .partitions = links, .count = PARTITIONS_ASKED, .silence_ms = SILENCE_MS};
    federation = federation_new(&client, 1 << 20);
    fails = PARTITIONS_ASKED;
    told = 2;
    silent = false;
    memset(asked, 0, sizeof asked);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    answer(); /* late: nobody waits any more */
    federation_free(federation);
    return 0;
}

static oid
id_of(const char *iri)
{
    const struct term term = term_iri(slice_string(iri));
    struct reason why = {""};
    oid id;
    assert_int_equal(federation_id(federation, &term, &id, &why), STATUS_OK);
    return id;
}

static enum status
estimate(struct quad_oids pattern, uint64_t *rows)
{
    struct reason why = {""};
    const enum status status =
        federation->source.estimate(federation->source.context, &pattern, rows, &why);
    assert_int_equal(status != STATUS_OK, why.text[0] != '\0');
    return status;
}

static void
expect(const char *subject, uint64_t expected)
{
    uint64_t rows = 12345;
    assert_int_equal(estimate((struct quad_oids){.subject = id_of(subject)}, &rows), STATUS_OK);
    assert_int_equal(rows, expected);
}

static void
expect_asked(size_t first, size_t second, size_t third)
{
    assert_int_equal(asked[0], first);
    assert_int_equal(asked[1], second);
    assert_int_equal(asked[2], third);
}

static void
test_estimates_are_added_up(void **state)
{
    (void)state;
    expect("a:1", 0x010101);
    expect_asked(1, 1, 1);
    expect("a:2", 0x010101);
    expect_asked(2, 2, 2);
    numbers[0][0] = 5;
    expect("a:1", 0x010101); /* is known */
    expect_asked(2, 2, 2);
    expect("a:3", 0x010105);
    told = 3; /* of a later version */
    expect("a:4", 0x010105);
    told = 0;
    expect("a:5", 0);
}

static void
test_the_owner_of_a_graph_is_asked_alone(void **state)
{
    const size_t owner = client_owner(&client, SLICE("g:1"));
    uint64_t rows;
    (void)state;
    assert_int_equal(estimate((struct quad_oids){.graph = id_of("g:1")}, &rows), STATUS_OK);
    assert_int_equal(rows, numbers[owner][0]);
    for (size_t i = 0; i < PARTITIONS_ASKED; i++) {
        assert_int_equal(asked[i], i == owner);
    }
    assert_int_equal(federation_owner(federation, id_of("g:1")), owner);
    assert_int_equal(federation_owner(federation, OID_NONE), PARTITIONS_ASKED);
}

static void
test_places_of_an_estimate(void **state)
{
    struct codec_reader in;
    struct quad pattern;
    uint64_t rows;
    (void)state;
    const struct quad_oids oids = {id_of("s:1"), id_of("p:1"), id_of("o:1"), id_of("g:1")};
    assert_int_equal(estimate(oids, &rows), STATUS_OK);
    in = codec_reader_of(slice_of(request_asked, request_length));
    assert_true(index_get_pattern(&in, &pattern) && codec_at_end(&in));
    assert_true(slice_is(pattern.subject.value, "s:1") && slice_is(pattern.predicate.value, "p:1"));
    assert_true(slice_is(pattern.object.value, "o:1") && slice_is(pattern.graph.value, "g:1"));
}

static void
test_a_partition_that_fails(void **state)
{
    struct reason why = {""};
    uint64_t rows;
    (void)state;
    fails = 1;
    const struct quad_oids pattern = {.subject = id_of("a:1")};
    assert_int_equal(federation->source.estimate(federation->source.context, &pattern, &rows, &why),
                     STATUS_SYSTEM);
    assert_non_null(strstr(why.text, "it is ill"));
    assert_int_equal(waiting, 0);
    client.partial = INDEX_PARTIAL_WARN;
    expect("a:1", 0x010001); /* what failed is not kept */
    assert_true(links[1].missing);
    expect_asked(2, 2, 2);
    expect("a:2", 0x010001);
    expect_asked(3, 2, 3);
}

static void
test_partitions_that_are_silent(void **state)
{
    uint64_t rows;
    (void)state;
    silent = true;
    assert_int_equal(estimate((struct quad_oids){.subject = id_of("a:1")}, &rows), STATUS_TIMEOUT);
    assert_int_equal(waiting, PARTITIONS_ASKED);
    answer(); /* and nobody takes it */
    silent = false;
    expect("a:1", 0x010101);
}

static void
test_stars(void **state)
{
    struct reason why = {""};
    double subjects, rows;
    (void)state;
    const oid one = id_of("p:1"), two = id_of("p:2"), three = id_of("p:3");
    const oid stars[][3] = {{one, two, three}, {three, one, two}, {two, three, one}};
    for (size_t i = 0; i < 3; i++) {
        subjects = rows = 0;
        assert_int_equal(federation->source.estimate_star(federation->source.context, stars[i], 3,
                                                          &subjects, &rows, &why),
                         STATUS_OK);
        assert_true(subjects * 1000 > 65792.5 && subjects * 1000 < 65793.5); /* 0x010101 */
        assert_true(rows > 65792.5 && rows < 65793.5);
        expect_asked(1, 1, 1); /* whatever order they come in */
    }
    struct codec_reader in = codec_reader_of(slice_of(request_asked, request_length));
    struct term term;
    assert_int_equal(codec_get_varint(&in), 3);
    assert_true(index_get_term(&in, &term) && slice_is(term.value, "p:1"));
    assert_int_equal(federation->source.estimate_star(federation->source.context, stars[0], 2,
                                                      &subjects, &rows, &why),
                     STATUS_OK);
    expect_asked(2, 2, 2);
    /* The same bytes asked as a pattern and as a star are two questions. */
    expect("p:1", 0x010101);
}

static enum status
estimate_star(oid predicate, double *rows, struct reason *why)
{
    double subjects;
    return federation->source.estimate_star(federation->source.context, &predicate, 1, &subjects,
                                            rows, why);
}

/* A pattern and a star may have the same bytes. */
static void
test_questions_of_two_kinds(void **state)
{
    const struct term other = term_iri(slice_of("\0\0\0", 3));
    struct reason why = {""};
    double rows;
    oid id;
    (void)state;
    expect("\3", 0x010101);
    char pattern[sizeof request_asked];
    const size_t length = request_length;
    memcpy(pattern, request_asked, length);
    assert_int_equal(federation_id(federation, &other, &id, &why), STATUS_OK);
    assert_int_equal(estimate_star(id, &rows, &why), STATUS_OK);
    assert_int_equal(request_length, length);
    assert_memory_equal(request_asked, pattern, length);
    expect_asked(2, 2, 2);
    assert_true(rows > 65792.5 && rows < 65793.5);
    expect("\3", 0x010101);
    expect_asked(2, 2, 2);
}

static void
test_stars_that_fail(void **state)
{
    struct reason why = {""};
    double rows;
    (void)state;
    fails = 2;
    assert_int_equal(estimate_star(id_of("p:1"), &rows, &why), STATUS_SYSTEM);
    assert_non_null(strstr(why.text, "it is ill"));
}

static void
test_questions_that_are_too_long(void **state)
{
    const size_t length = FEDERATION_REQUEST_MAXIMUM;
    char *text = malloc(length);
    struct reason why = {""};
    double rows;
    oid id;
    (void)state;
    assert_non_null(text);
    memset(text, 'a', length);
    federation->terms.most = 4 * length;
    const struct term term = term_iri(slice_of(text, length));
    assert_int_equal(federation_id(federation, &term, &id, &why), STATUS_OK);
    assert_int_equal(estimate_star(id, &rows, &why), STATUS_LIMIT);
    assert_string_equal(why.text, "a request to the index is too long");
    expect_asked(0, 0, 0);
    free(text);
}

/* Each federation is a session, which is ended where it has begun. */
static void
test_sessions(void **state)
{
    (void)state;
    const uint64_t first = federation->session;
    assert_int_equal(client.last_session, first);
    for (size_t begun = 0; begun < 8; begun++) {
        struct federation *other = federation_new(&client, 1 << 20);
        assert_int_equal(other->session, first + 1 + begun);
        memset(session_ended, 0, sizeof session_ended);
        for (size_t i = 0; i < PARTITIONS_ASKED; i++) {
            other->begun[i] = begun >> i & 1;
        }
        federation_free(other);
        for (size_t i = 0; i < PARTITIONS_ASKED; i++) {
            assert_int_equal(session_ended[i], begun >> i & 1 ? first + 1 + begun : 0);
        }
    }
    federation_free(NULL);
}

/* So many different questions that not all answers are kept: all are right. */
static void
test_many_estimates(void **state)
{
    (void)state;
    for (int round = 0; round < 2; round++) {
        for (unsigned i = 0; i < 600; i++) {
            char iri[16];
            (void)snprintf(iri, sizeof iri, "a:%u", i);
            expect(iri, 0x010101);
        }
    }
    assert_true(asked[0] >= 600 && asked[0] < 1200); /* the first are kept */
    const size_t before = asked[0];
    expect("a:0", 0x010101);
    assert_int_equal(asked[0], before);
}

/* ---- terms ---- */

static void
test_terms(void **state)
{
    char text[OID_INLINE_TEXT];
    struct reason why = {""};
    (void)state;
    const oid one = id_of("a:1"), two = id_of("a:2");
    assert_int_equal(id_of("a:1"), one);
    assert_int_not_equal(one, two);
    assert_true(federation_is_numbered(federation, one) && federation_is_numbered(federation, two));
    assert_false(federation_is_numbered(federation, OID_NONE));
    assert_false(federation_is_numbered(federation, (one > two ? one : two) + 1));
    assert_true(slice_is(federation_term(federation, two, text).value, "a:2"));
    assert_int_equal(federation_term(federation, OID_NONE, text).kind, TERM_NONE);
    assert_int_equal(federation_member_id(federation, 1, one), OID_NONE);
    assert_int_equal(federation_learn(federation, 1, two, 4711, &why), STATUS_OK);
    assert_int_equal(federation_member_id(federation, 1, one), OID_NONE);
    assert_int_equal(federation_member_id(federation, 1, two), 4711);
    assert_int_equal(federation_member_id(federation, 2, two), OID_NONE);
    for (unsigned i = 3; i < 200; i++) {
        char iri[16];
        (void)snprintf(iri, sizeof iri, "a:%u", i);
        const oid id = id_of(iri);
        assert_int_equal(federation_member_id(federation, 1, id), OID_NONE);
        assert_int_equal(federation_learn(federation, 1, id, 10000 + i, &why), STATUS_OK);
        assert_int_equal(federation_member_id(federation, 1, id), 10000 + i);
    }
    assert_int_equal(federation_member_id(federation, 1, two), 4711);
    /* Numbers are written into their identifiers, and all partitions have the same for them. */
    const struct term number = {.kind = TERM_LITERAL,
                                .value = SLICE("5"),
                                .datatype = SLICE("http://www.w3.org/2001/XMLSchema#integer")};
    oid id;
    assert_int_equal(federation_id(federation, &number, &id, &why), STATUS_OK);
    assert_false(federation_is_numbered(federation, id));
    assert_int_equal(federation_member_id(federation, 0, id), id);
    assert_true(slice_is(federation_term(federation, id, text).value, "5"));
}

static void
test_identifiers_are_resolved(void **state)
{
    const struct quad_source *source = federation_source(federation);
    struct reason why = {""};
    struct arena arena;
    struct term term;
    oid id;
    (void)state;
    arena_init(&arena, 1 << 16);
    const oid one = id_of("a:1");
    const struct term two = term_iri(SLICE("a:2"));
    assert_int_equal(source->lookup(source->context, &two, &id, &why), STATUS_OK);
    assert_int_equal(source->resolve(source->context, one, &arena, &term, &why), STATUS_OK);
    assert_true(term.kind == TERM_IRI && slice_is(term.value, "a:1"));
    assert_int_equal(source->resolve(source->context, id, &arena, &term, &why), STATUS_OK);
    assert_true(slice_is(term.value, "a:2"));
    assert_int_equal(source->resolve(source->context, OID_NONE, &arena, &term, &why),
                     STATUS_CORRUPT);
    assert_string_equal(why.text, "no term has the identifier 0");
    arena_release(&arena);
    arena_init(&arena, 1);
    assert_int_equal(source->resolve(source->context, one, &arena, &term, &why), STATUS_LIMIT);
    assert_string_equal(why.text, "a term does not fit in memory");
    arena_release(&arena);
}

/* The memory of a query holds its terms and what partitions call them, together. */
static void
test_memory_of_terms(void **state)
{
    struct reason why = {""};
    enum status status = STATUS_OK;
    (void)state;
    size_t terms = 0, learned = 0;
    for (int learns = 0; learns < 2; learns++) {
        (void)tear_down(NULL);
        (void)set_up(NULL);
        size_t *count = learns ? &learned : &terms;
        for (*count = 0, status = STATUS_OK; status == STATUS_OK; ++*count) {
            char iri[16];
            oid id;
            (void)snprintf(iri, sizeof iri, "a:%zu", *count);
            const struct term term = term_iri(slice_string(iri));
            status = federation_id(federation, &term, &id, &why);
            for (size_t i = 0; learns && status == STATUS_OK && i < PARTITIONS_ASKED; i++) {
                status = federation_learn(federation, i, id, 1, &why);
            }
        }
        assert_int_equal(status, STATUS_LIMIT);
        assert_true(*count > 1000); /* a MiB has room for some */
        assert_true(term_set_bytes(&federation->terms.set) + federation->terms.ids_memory <
                    2 * federation->terms.most);
    }
    assert_true(learned < terms);
}

static void
test_terms_may_take_all_of_their_memory(void **state)
{
    const struct term term = term_iri(SLICE("a:0"));
    struct federation_terms *terms = &federation->terms;
    struct reason why = {""};
    oid id;
    (void)state;
    assert_int_equal(federation_id(federation, &term, &id, &why), STATUS_OK);
    terms->most = term_set_bytes(&terms->set) + terms->ids_memory;
    assert_int_equal(federation_id(federation, &term, &id, &why), STATUS_OK);
    terms->most--;
    assert_int_equal(federation_id(federation, &term, &id, &why), STATUS_LIMIT);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_estimates_are_added_up),
        CASE(test_the_owner_of_a_graph_is_asked_alone),
        CASE(test_places_of_an_estimate),
        CASE(test_a_partition_that_fails),
        CASE(test_partitions_that_are_silent),
        CASE(test_stars),
        CASE(test_questions_of_two_kinds),
        CASE(test_stars_that_fail),
        CASE(test_questions_that_are_too_long),
        CASE(test_sessions),
        CASE(test_many_estimates),
        CASE(test_terms),
        CASE(test_identifiers_are_resolved),
        CASE(test_memory_of_terms),
        CASE(test_terms_may_take_all_of_their_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
