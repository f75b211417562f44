/* These tests compare what a partition answers on the stream TRIPLES
 * (index/serve/answer_triples.c, answer_values.c) with its own quads. The answers run in cursors as
 * in the service. */
#include "tests/unit/index_answers/direct_answers.h"

#include "tests/unit/index/index_fixture.h"

#include <poll.h>
#include <sys/eventfd.h>

#include "base/codec.h"
#include "base/memory.h"
#include "index/protocol/service_protocol.h"
#include "index/protocol/triples_request.h"
#include "index/serve/answer_keys.h"
#include "index/serve/answer_triples.h"
#include "index/statistics/triple_counts.h"
#include "index/terms/oid.h"

enum {
    DOCUMENTS = 60,
    QUADS_EACH = 60,
    LONG = 100,
    QUADS_MOST = DIRECT_QUADS_MOST,
    ANSWER_MOST = 1 << 24,
    MEMORY = 16 << 20,
    NAMES_MOST = QUADS_MOST * 4
};

static char folder[SCRATCH_SIZE];
static struct partition *partition;
struct partition_reader *direct_reader;
const struct quad_source *direct_source;
static struct arena arena;

/* ---- asking ---- */

struct buf direct_request, direct_answer;
static struct reason why;

static enum status
produce(void *job, struct cursor *cursor, struct reason *reason)
{
    (void)job;
    return answer_triples(direct_reader, buf_slice(&direct_request), cursor, reason);
}

static enum status
produce_keys(void *job, struct cursor *cursor, struct reason *reason)
{
    (void)job;
    return answer_keys(partition, buf_slice(&direct_request), cursor, reason);
}

static void
release(void *job)
{
    (void)job;
}

/* Takes the whole answer to the request; it may use so much memory. */
enum status
direct_ask(cursor_produce *producer, size_t memory)
{
    struct turns *turns = turns_new(1, memory);
    struct threads *threads = threads_new(1, 0);
    const struct cursor_settings settings = {.threads = threads,
                                             .turns = turns,
                                             .client = 1,
                                             .event = eventfd(0, EFD_NONBLOCK),
                                             .window = ANSWER_MOST};
    struct cursor *cursor;
    enum status status;
    bool end = false;
    buf_reset(&direct_answer);
    must(cursor_open(&cursor, 1, &settings, producer, release, NULL, &why), &why);
    do {
        status = cursor_read(cursor, direct_answer.length, ANSWER_MOST, &direct_answer, &end, &why);
        if (status == STATUS_AGAIN) {
            (void)poll(NULL, 0, 1);
        }
    } while (!end && (status == STATUS_OK || status == STATUS_AGAIN));
    cursor_close(cursor);
    turns_free(turns);
    threads_free(threads);
    close(settings.event);
    return status;
}

static enum status
ask(void)
{
    return direct_ask(produce, MEMORY);
}

/* Begins a request; places that are OID_NONE are open. */
static void
begin_request(uint8_t form, const struct quad_oids *pattern)
{
    const oid places[] = {pattern->subject, pattern->predicate, pattern->object};
    buf_reset(&direct_request);
    codec_put_u8(&direct_request, form);
    for (int i = 0; i < 3; i++) {
        struct term term = {.kind = TERM_NONE};
        if (places[i] != OID_NONE) {
            must(direct_source->resolve(direct_source->context, places[i], &arena, &term, &why),
                 &why);
        }
        index_put_term(&direct_request, &term);
    }
}

/* ---- what answers consist of ---- */

static oid names[NAMES_MOST];
size_t direct_name_count;

/* A name stands for the term that it came with. */
oid
direct_name(struct codec_reader *in)
{
    struct term term, own;
    oid id;
    const uint64_t code = codec_get_varint(in);
    if (code >= INDEX_NAME_FIRST) {
        assert_true(code - INDEX_NAME_FIRST < direct_name_count);
        return names[code - INDEX_NAME_FIRST];
    }
    assert_int_equal(code, INDEX_NAME_NEW);
    id = codec_get_u64(in);
    if (oid_is_stored(id)) {
        assert_true(index_get_term(in, &term));
        must(direct_source->resolve(direct_source->context, id, &arena, &own, &why), &why);
        assert_true(term_compare(&term, &own) == 0);
    }
    for (size_t i = 0; i < direct_name_count; i++) {
        assert_true(names[i] != id);
    }
    names[direct_name_count++] = id;
    return id;
}

static void
check_version(struct codec_reader *in)
{
    uint64_t version[2];
    partition_reader_version(direct_reader, version);
    assert_int_equal(codec_get_u64(in), version[0]);
    assert_int_equal(codec_get_u64(in), version[1]);
}

static struct term_digest
get_digest(struct codec_reader *in)
{
    struct term_digest digest;
    digest.high = codec_get_u64(in);
    digest.low = codec_get_u64(in);
    return digest;
}

static struct term_digest
digest_of(oid id)
{
    struct term_digest digest;
    must(partition_reader_digest(direct_reader, id, &arena, &digest, &why), &why);
    return digest;
}

static bool
same_digest(struct term_digest a, struct term_digest b)
{
    return term_digest_compare(&a, &b) == 0;
}

/* ---- the quads of the partition ---- */

struct quad_oids direct_rows[QUADS_MOST];

size_t
direct_scan(const struct quad_oids *pattern, enum quad_order order)
{
    struct quad_scan *scanning;
    size_t count = 0;
    must(direct_source->scan(direct_source->context, pattern, order, &scanning, &why), &why);
    for (size_t n = 1; n > 0; count += n) {
        must(direct_source->scan_next(scanning, direct_rows + count, QUADS_MOST - count, &n, &why),
             &why);
    }
    direct_source->scan_close(scanning);
    return count;
}

static bool
same_triple(const struct quad_oids *a, const struct quad_oids *b)
{
    return a->subject == b->subject && a->predicate == b->predicate && a->object == b->object;
}

/* The places of some quad that are told by the bits of `bound`. */
static struct quad_oids
bound_places(unsigned bound)
{
    const struct quad_oids any = {0};
    const size_t count = direct_scan(&any, ORDER_SPOC);
    struct quad_oids quad = direct_rows[count / 2];
    assert_true(count > QUADS_MOST / 2);
    for (size_t i = count / 2; i < count && (quad.subject & 7) != OID_KIND_IRI; i++) {
        quad = direct_rows[i];
    }
    return (struct quad_oids){bound & 1 ? quad.subject : OID_NONE,
                              bound & 2 ? quad.predicate : OID_NONE,
                              bound & 4 ? quad.object : OID_NONE, OID_NONE};
}

/* The order of rows that are named by their numbers: SEVERAL.md, "Counts of triples". */
static enum quad_order
order_of(unsigned bound)
{
    static const enum quad_order orders[] = {ORDER_SPOC, ORDER_SPOC, ORDER_POCS, ORDER_SPOC,
                                             ORDER_OSPC, ORDER_OSPC, ORDER_POCS, ORDER_SPOC};
    return orders[bound];
}

static enum status
go_on(const void *context, struct reason *reason)
{
    (void)context;
    (void)reason;
    return STATUS_OK;
}

static int
set_up(void **state)
{
    struct buf text;
    (void)state;
    fixture_seed = 88172645463325252u;
    buf_init(&direct_request, ANSWER_MOST);
    buf_init(&direct_answer, ANSWER_MOST);
    buf_init(&text, 1 << 20);
    arena_init(&arena, 0);
    assert_true(scratch_folder(folder, "direct_answers"));
    partition = fixture_open(folder, 4 << 20);
    struct index_batch *batch = index_batch_new(partition);
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        buf_reset(&text);
        fixture_document(i, QUADS_EACH, &text);
        (void)fixture_add(batch, i, 1, &text);
    }
    buf_reset(&text);
    for (unsigned i = 0; i < LONG; i++) { /* more of one resource than are read at once */
        (void)buf_printf(&text, "<http://s.example/long> <http://p.example/%u> \"%u\" .\n",
                         i < LONG - 3 ? 0 : i - LONG + 4, i);
    }
    (void)fixture_add(batch, DOCUMENTS, 1, &text);
    must(index_batch_commit(batch, &why), &why);
    index_batch_free(batch);
    buf_release(&text);
    must(partition_reader_open(&direct_reader, partition, &why), &why);
    direct_source = partition_reader_source(direct_reader);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    partition_reader_close(direct_reader);
    partition_close(partition);
    fixture_run("rm -r %s%s", folder, "");
    arena_release(&arena);
    buf_release(&direct_request);
    buf_release(&direct_answer);
    return 0;
}

/* ---- counts ---- */

static void
check_counts(const struct count_request *wanted)
{
    struct triple_count *counts;
    size_t count;
    struct codec_reader in = codec_reader_of(buf_slice(&direct_answer));
    must(triple_counts_read(direct_source, wanted, &counts, &count, &why), &why);
    assert_int_equal(codec_get_u8(&in), TRIPLES_KNOWN);
    check_version(&in);
    direct_name_count = 0;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(codec_get_varint(&in), counts[i].triples);
        assert_true(wanted->by == TRIPLE_ALL || direct_name(&in) == counts[i].value);
    }
    assert_true(count > 0 && codec_at_end(&in));
    free(counts);
}

static void
counts_are_those_of_the_quads(void **state)
{
    (void)state;
    for (unsigned bound = 0; bound < 8; bound++) {
        struct count_request wanted = {
            .pattern = bound_places(bound), .memory = MEMORY, .check = go_on};
        for (unsigned by = TRIPLE_SUBJECT; by <= TRIPLE_ALL; by++) {
            wanted.by = (enum triple_place)by;
            begin_request((uint8_t)by, &wanted.pattern);
            assert_int_equal(ask(), STATUS_OK);
            if (by == TRIPLE_ALL || !(bound & 1U << by)) {
                check_counts(&wanted);
                continue;
            }
            struct codec_reader in = codec_reader_of(buf_slice(&direct_answer));
            assert_int_equal(codec_get_u8(&in), TRIPLES_UNKNOWN);
            check_version(&in);
            assert_true(codec_at_end(&in));
        }
    }
}

static void
what_does_not_fit_is_not_known(void **state)
{
    const struct quad_oids any = {0};
    (void)state;
    begin_request(TRIPLE_OBJECT, &any);
    assert_int_equal(direct_ask(produce, 1 << 10), STATUS_OK);
    assert_int_equal(direct_answer.data[0], TRIPLES_UNKNOWN);
    assert_int_equal(direct_answer.length, 17);
    begin_request(TRIPLES_FINGERPRINTS, &any);
    assert_int_equal(direct_ask(produce, 1 << 10), STATUS_OK);
    assert_int_equal(direct_answer.data[0], TRIPLES_UNKNOWN);
    assert_int_equal(direct_answer.length, 1);
    begin_request(TRIPLES_VALUES, &any);
    codec_put_u8(&direct_request, TRIPLE_OBJECT);
    codec_put_u64(&direct_request, 0);
    codec_put_u64(&direct_request, 0);
    assert_int_equal(direct_ask(produce, 1 << 10), STATUS_OK);
    assert_int_equal(direct_answer.data[0], TRIPLES_UNKNOWN);
    assert_int_equal(direct_answer.length, 17);
}

/* ---- fingerprints, and rows by their numbers ---- */

static void
check_fingerprints(const struct quad_oids *pattern, unsigned bound)
{
    static uint64_t hashes[QUADS_MOST];
    static bool seen[QUADS_MOST];
    struct codec_reader in = codec_reader_of(buf_slice(&direct_answer));
    const size_t count = direct_scan(pattern, order_of(bound));
    uint64_t before = 0;
    memset(seen, 0, sizeof seen);
    assert_int_equal(codec_get_u8(&in), TRIPLES_KNOWN);
    for (size_t i = 0; i < count; i++) {
        const uint64_t hash = codec_get_u64(&in), number = codec_get_varint(&in);
        assert_true(hash >= before && number < count && !seen[number]);
        seen[number] = true;
        hashes[number] = before = hash;
    }
    assert_true(codec_at_end(&in));
    for (size_t i = 0; i < count; i++) {
        for (size_t k = i > 50 ? i - 50 : 0; k < i; k++) {
            assert_int_equal(hashes[i] == hashes[k], same_triple(&direct_rows[i], &direct_rows[k]));
        }
    }
}

static void
fingerprints_tell_triples_apart(void **state)
{
    (void)state;
    for (unsigned bound = 0; bound < 8; bound++) {
        const struct quad_oids pattern = bound_places(bound);
        begin_request(TRIPLES_FINGERPRINTS, &pattern);
        assert_int_equal(ask(), STATUS_OK);
        check_fingerprints(&pattern, bound);
    }
}

/* Asks for each so-manieth row, beginning with the first one given. */
static void
ask_rows(const struct quad_oids *pattern, size_t first, size_t each, size_t count)
{
    size_t asked = 0;
    for (size_t i = first; i < count; i += each) {
        asked++;
    }
    begin_request(TRIPLES_ROWS, pattern);
    codec_put_varint(&direct_request, asked);
    for (size_t i = first; i < count; i += each) {
        codec_put_varint(&direct_request, i == first ? first : each);
    }
}

static void
rows_are_named_by_their_numbers(void **state)
{
    static const size_t steps[][2] = {{0, 1}, {1, 1}, {0, 7}, {3, 1024}, {1023, 1}, {1024, 600}};
    (void)state;
    for (unsigned bound = 0; bound < 8; bound++) {
        const struct quad_oids pattern = bound_places(bound);
        const size_t count = direct_scan(&pattern, order_of(bound));
        for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
            const size_t first = steps[s][0], each = steps[s][1];
            ask_rows(&pattern, first, each, count);
            assert_int_equal(ask(), STATUS_OK);
            struct codec_reader in = codec_reader_of(buf_slice(&direct_answer));
            direct_name_count = 0;
            for (size_t i = first; i < count; i += each) {
                assert_int_equal(direct_name(&in), direct_rows[i].subject);
                assert_int_equal(direct_name(&in), direct_rows[i].predicate);
                assert_int_equal(direct_name(&in), direct_rows[i].object);
            }
            assert_true(codec_at_end(&in));
        }
    }
}

static void
numbers_that_are_wrong_are_refused(void **state)
{
    const struct quad_oids any = {0};
    const size_t count = direct_scan(&any, ORDER_SPOC);
    static const uint64_t wrong[][4] = {
        {3, 1, 0, 2}, {2, 5, 0, 0}, {4, 1, 1, 1}, {2, 1, 1, 1}, {2, 0, 1 << 20, 0}};
    static const size_t lengths[] = {4, 3, 4, 4, 3};
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        begin_request(TRIPLES_ROWS, &any);
        for (size_t k = 0; k < lengths[i]; k++) {
            codec_put_varint(&direct_request, wrong[i][k]);
        }
        assert_int_equal(ask(), STATUS_PROTOCOL);
    }
    for (size_t last = count - 1; last <= count; last++) {
        begin_request(TRIPLES_ROWS, &any);
        codec_put_varint(&direct_request, 1);
        codec_put_varint(&direct_request, last);
        assert_int_equal(ask(), last < count ? STATUS_OK : STATUS_PROTOCOL);
    }
}

/* ---- values by their digests ---- */

static void
ask_values(const struct quad_oids *pattern, enum triple_place by, uint64_t first, uint64_t second)
{
    begin_request(TRIPLES_VALUES, pattern);
    codec_put_u8(&direct_request, (uint8_t)by);
    codec_put_u64(&direct_request, first);
    codec_put_u64(&direct_request, second);
    assert_int_equal(ask(), STATUS_OK);
}

static void
check_values(const struct quad_oids *pattern, enum triple_place by)
{
    const struct count_request wanted = {
        .pattern = *pattern, .by = by, .memory = MEMORY, .check = go_on};
    struct triple_count *counts;
    size_t count;
    struct codec_reader in = codec_reader_of(buf_slice(&direct_answer));
    struct term_digest before = {0};
    must(triple_counts_read(direct_source, &wanted, &counts, &count, &why), &why);
    assert_int_equal(codec_get_u8(&in), TRIPLES_KNOWN);
    check_version(&in);
    struct term_digest *digests = memory_alloc(count * sizeof *digests);
    for (size_t i = 0; i < count; i++) {
        digests[i] = digest_of(counts[i].value);
    }
    for (size_t i = 0; i < count; i++) {
        const struct term_digest value = get_digest(&in);
        assert_true(i == 0 || term_digest_compare(&before, &value) < 0);
        before = value;
        size_t at = 0;
        while (at < count && !same_digest(digests[at], value)) {
            at++;
        }
        assert_true(at < count);
        assert_int_equal(codec_get_varint(&in), counts[at].triples);
    }
    assert_true(codec_at_end(&in));
    free(digests);
    free(counts);
}

static void
values_are_told_by_their_digests(void **state)
{
    uint64_t version[2];
    (void)state;
    partition_reader_version(direct_reader, version);
    for (unsigned bound = 0; bound < 4; bound++) {
        const struct quad_oids pattern = bound_places(bound);
        for (unsigned by = TRIPLE_SUBJECT; by < TRIPLE_ALL; by++) {
            if (bound & 1U << by) {
                continue;
            }
            ask_values(&pattern, (enum triple_place)by, version[0], version[1] + 1);
            check_values(&pattern, (enum triple_place)by);
            ask_values(&pattern, (enum triple_place)by, version[0] + 1, version[1]);
            check_values(&pattern, (enum triple_place)by);
            /* Who knows this version is told no values. */
            ask_values(&pattern, (enum triple_place)by, version[0], version[1]);
            assert_int_equal(direct_answer.length, 17);
            assert_int_equal(direct_answer.data[0], TRIPLES_KNOWN);
        }
    }
}

/* How many triples that match have the value in the place; triples of several graphs count once
 * where they stand side by side. */
static void
check_triples_of(const struct quad_oids *pattern, unsigned by, const oid *values, size_t count)
{
    struct codec_reader in = codec_reader_of(buf_slice(&direct_answer));
    const size_t all = direct_scan(pattern, ORDER_COUNT);
    const oid bound[] = {pattern->subject, pattern->predicate, pattern->object};
    unsigned open = 0;
    for (unsigned i = 0; i < 3; i++) {
        open += bound[i] == OID_NONE && i != by;
    }
    assert_int_equal(codec_get_u8(&in), TRIPLES_KNOWN);
    for (size_t i = 0; i < all; i++) {
        const oid places[] = {direct_rows[i].subject, direct_rows[i].predicate,
                              direct_rows[i].object};
        size_t at = 0;
        while (at < count && values[at] != places[by]) {
            at++;
        }
        if (at == count || (i > 0 && same_triple(&direct_rows[i], &direct_rows[i - 1]))) {
            continue;
        }
        assert_int_equal(codec_get_varint(&in), at);
        const struct term_digest rest = get_digest(&in);
        assert_int_equal(rest.high == 0 && rest.low == 0, open == 0);
        for (unsigned k = 0; k < 3 && open == 1; k++) {
            assert_true(bound[k] != OID_NONE || k == by || same_digest(rest, digest_of(places[k])));
        }
    }
    assert_true(codec_at_end(&in));
}

static void
triples_are_told_of_the_values_asked_for(void **state)
{
    enum { VALUES = 100 };
    oid values[VALUES];
    (void)state;
    for (unsigned bound = 0; bound < 8; bound++) {
        const struct quad_oids pattern = bound_places(bound);
        for (unsigned by = 0; by < 3; by++) {
            size_t count = 0;
            const size_t all = direct_scan(&pattern, ORDER_COUNT);
            for (size_t i = 0; i < all && count < VALUES; i += 3) {
                const oid places[] = {direct_rows[i].subject, direct_rows[i].predicate,
                                      direct_rows[i].object};
                bool known = false;
                for (size_t k = 0; k < count; k++) {
                    known = known || values[k] == places[by];
                }
                values[count] = places[by];
                count += !known;
            }
            begin_request(TRIPLES_OF_VALUES, &pattern);
            codec_put_u8(&direct_request, (uint8_t)by);
            codec_put_varint(&direct_request, count);
            for (size_t i = 0; i < count; i++) {
                const struct term_digest digest = digest_of(values[i]);
                codec_put_u64(&direct_request, digest.high);
                codec_put_u64(&direct_request, digest.low);
            }
            assert_int_equal(ask(), STATUS_OK);
            check_triples_of(&pattern, by, values, count);
        }
    }
}

/* ---- other requests ---- */

/* No quad has the term: nothing is known to match, whatever is asked. */
static void
patterns_of_unknown_terms_match_nothing(void **state)
{
    static const struct {
        uint8_t form;
        size_t rest, length; /* bytes of the request, and of the answer */
    } cases[] = {{TRIPLE_OBJECT, 0, 17}, {TRIPLE_ALL, 0, 17},      {TRIPLES_FINGERPRINTS, 0, 1},
                 {TRIPLES_ROWS, 1, 1},   {TRIPLES_VALUES, 17, 17}, {TRIPLES_OF_VALUES, 18, 1}};
    const struct term unknown = {.kind = TERM_IRI, .value = SLICE("http://nobody.example/")},
                      any = {.kind = TERM_NONE};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int place = 0; place < 2; place++) {
            buf_reset(&direct_request);
            codec_put_u8(&direct_request, cases[i].form);
            index_put_term(&direct_request, place == 0 ? &unknown : &any);
            index_put_term(&direct_request, place == 1 ? &unknown : &any);
            index_put_term(&direct_request, &any);
            for (size_t k = 0; k < cases[i].rest; k++) {
                codec_put_u8(&direct_request, cases[i].form == TRIPLES_OF_VALUES && k == 1);
            }
            assert_int_equal(ask(), STATUS_OK);
            assert_int_equal(direct_answer.length, cases[i].length);
            assert_int_equal(direct_answer.data[0], TRIPLES_KNOWN);
        }
    }
}

static void
malformed_requests_are_refused(void **state)
{
    const struct quad_oids any = {0};
    (void)state;
    for (uint8_t form = 0; form <= TRIPLES_OF_VALUES + 1; form++) {
        begin_request(form, &any);
        direct_request.length--; /* the last term is missing */
        assert_int_equal(ask(), STATUS_PROTOCOL);
        begin_request(form, &any);
        codec_put_u8(&direct_request, 0xFF); /* a byte too many, or less than is needed */
        assert_int_equal(ask(), STATUS_PROTOCOL);
        begin_request(form, &any);
        const enum status expected = form <= TRIPLES_FINGERPRINTS ? STATUS_OK : STATUS_PROTOCOL;
        assert_int_equal(ask(), expected);
    }
    for (int wrong = 0; wrong < 4; wrong++) {
        begin_request(TRIPLES_VALUES, &any);
        codec_put_u8(&direct_request, wrong == 1 ? TRIPLE_ALL : TRIPLE_OBJECT);
        codec_put_u64(&direct_request, 1);
        codec_put_u64(&direct_request, 1);
        if (wrong == 2) {
            codec_put_u8(&direct_request, 0);
        }
        direct_request.length -= wrong == 3;
        assert_int_equal(ask(), wrong ? STATUS_PROTOCOL : STATUS_OK);
        begin_request(TRIPLES_OF_VALUES, &any);
        codec_put_u8(&direct_request, wrong == 1 ? TRIPLE_ALL : TRIPLE_OBJECT);
        codec_put_varint(&direct_request, wrong == 2 ? 2 : 1);
        codec_put_u64(&direct_request, 1);
        codec_put_u64(&direct_request, 1);
        direct_request.length -= wrong == 3;
        assert_int_equal(ask(), wrong ? STATUS_PROTOCOL : STATUS_OK);
    }
}

/* A list of keys is known to whoever asks for as much of it. */
static void
keys_are_read_on(void **state)
{
    (void)state;
    for (int wrong = 0; wrong < 3; wrong++) {
        buf_reset(&direct_request);
        codec_put_u8(&direct_request, wrong == 1 ? KEY_PLACES : KEYS_SUBJECTS);
        codec_put_u64(&direct_request, 0);
        codec_put_varint(&direct_request, 0);
        if (wrong == 2) {
            codec_put_u8(&direct_request, 0);
        }
        assert_int_equal(direct_ask(produce_keys, MEMORY), wrong ? STATUS_PROTOCOL : STATUS_OK);
    }
    buf_reset(&direct_request);
    codec_put_u8(&direct_request, KEYS_SUBJECTS);
    codec_put_u64(&direct_request, 0);
    codec_put_varint(&direct_request, 0);
    assert_int_equal(direct_ask(produce_keys, MEMORY), STATUS_OK);
    struct codec_reader in = codec_reader_of(buf_slice(&direct_answer));
    assert_int_equal(codec_get_u8(&in), TRIPLES_KNOWN);
    const uint64_t epoch = codec_get_u64(&in);
    assert_int_equal(codec_get_varint(&in), 0);
    const size_t keys = (size_t)(in.end - in.at) / 4;
    assert_int_equal((size_t)(in.end - in.at) % 4, 0);
    assert_true(keys > DOCUMENTS);
    buf_reset(&direct_request);
    codec_put_u8(&direct_request, KEYS_SUBJECTS);
    codec_put_u64(&direct_request, epoch);
    codec_put_varint(&direct_request, keys - 2);
    assert_int_equal(direct_ask(produce_keys, MEMORY), STATUS_OK);
    in = codec_reader_of(buf_slice(&direct_answer));
    assert_int_equal(codec_get_u8(&in), TRIPLES_KNOWN);
    assert_int_equal(codec_get_u64(&in), epoch);
    assert_int_equal(codec_get_varint(&in), keys - 2);
    assert_int_equal((size_t)(in.end - in.at), 8);
}

int
direct_answers_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_those_of_the_quads),
        cmocka_unit_test(what_does_not_fit_is_not_known),
        cmocka_unit_test(fingerprints_tell_triples_apart),
        cmocka_unit_test(rows_are_named_by_their_numbers),
        cmocka_unit_test(numbers_that_are_wrong_are_refused),
        cmocka_unit_test(values_are_told_by_their_digests),
        cmocka_unit_test(triples_are_told_of_the_values_asked_for),
        cmocka_unit_test(patterns_of_unknown_terms_match_nothing),
        cmocka_unit_test(malformed_requests_are_refused),
        cmocka_unit_test(keys_are_read_on),
        cmocka_unit_test(quads_of_patterns_are_found),
        cmocka_unit_test(patterns_have_what_their_answers_rest_on),
        cmocka_unit_test(quads_of_words_are_found),
        cmocka_unit_test(resources_are_described),
        cmocka_unit_test(malformed_lookups_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
