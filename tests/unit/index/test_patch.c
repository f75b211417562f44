/* Changes of single graphs (index/write/patch.c, packed_quads.c): what each kind does and counts,
 * that malformed ones change nothing and harm no others, and how they share transactions. */
#include "tests/unit/index/index_fixture.h"

#include "base/codec.h"
#include "index/write/packed_quads.h"
#include "index/write/partition_state.h"
#include "index/write/patch.h"

enum { TEXT_MOST = 1 << 20, MEMORY = 1 << 20, EVENT_NONE = -1, REQUESTS = 8, PACKED_MOST = 64 };

#define Q(s, o, g) "<a:" s "> <a:p> \"" o "\" <a:" g "> .\n"

static char folder[SCRATCH_SIZE];
static struct partition *partition;
static struct patch_queue *queue;
static struct buf text;

/* ---- requests ---- */

struct change {
    enum status status;
    struct reason why;
    uint64_t removed, added;
};

static void
add(const struct buf *request)
{
    const struct rpc_request received = {.payload = buf_slice(request)};
    patch_queue_add(queue, &received);
}

/* The outcomes of all that wait, in their order. */
static size_t
work(size_t memory, struct change changes[REQUESTS])
{
    struct reason why = {""};
    size_t n = 0;
    must(patch_queue_work(queue, partition, memory, &why), &why);
    struct patch *list = patch_queue_take(queue), *turned = NULL;
    while (list != NULL) { /* the last that ended comes first */
        struct patch *next = list->next;
        list->next = turned;
        turned = list;
        list = next;
    }
    while (turned != NULL) {
        struct patch *next = turned->next;
        assert_true(n < REQUESTS);
        changes[n++] = (struct change){turned->status, turned->why, turned->removed, turned->added};
        free(turned);
        turned = next;
    }
    return n;
}

static struct change
one(const struct buf *request)
{
    struct change changes[REQUESTS];
    add(request);
    assert_int_equal(work(MEMORY, changes), 1);
    return changes[0];
}

static void
holds(const char *quads)
{
    fixture_dump(partition, folder, &text);
    (void)buf_append_string(&text, "");
    assert_string_equal(text.data != NULL ? text.data : "", quads);
}

static uint64_t
batches(void)
{
    struct partition_stats stats;
    partition_stats(partition, &stats);
    return stats.totals.batches;
}

static void
quads_request(struct buf *out, const char *graph, const char *removed, const char *added)
{
    buf_reset(out);
    codec_put_u8(out, PATCH_QUADS);
    codec_put_varint(out, 1);
    codec_put_slice(out, slice_string(graph));
    codec_put_slice(out, slice_string(removed));
    codec_put_slice(out, slice_string(added));
}

struct packed {
    struct term_set terms;
    struct packed_quad quads[PACKED_MOST];
    size_t count;
};

static enum status
pack(void *context, const struct quad *quad, struct reason *why)
{
    struct packed *packed = context;
    (void)why;
    const uint32_t subject = term_set_add(&packed->terms, &quad->subject),
                   predicate = term_set_add(&packed->terms, &quad->predicate),
                   object = term_set_add(&packed->terms, &quad->object),
                   graph = term_set_add(&packed->terms, &quad->graph);
    assert_true(packed->count < PACKED_MOST);
    packed->quads[packed->count++] = (struct packed_quad){subject, predicate, object, graph};
    return STATUS_OK;
}

static void
packed_request(struct buf *out, enum patch_kind kind, const char *lines)
{
    struct packed packed = {.count = 0};
    const struct quad_sink sink = {pack, &packed};
    struct reason why = {""};
    term_set_init(&packed.terms);
    must(nquads_parse(slice_string(lines), NULL, &sink, &why), &why);
    buf_reset(out);
    codec_put_u8(out, (uint8_t)kind);
    packed_quads_write(out, &packed.terms, packed.quads, packed.count);
    term_set_release(&packed.terms);
}

static void
clear_request(struct buf *out, const char *first, const char *second)
{
    buf_reset(out);
    codec_put_u8(out, PATCH_CLEAR);
    codec_put_varint(out, 2);
    codec_put_slice(out, slice_string(first));
    codec_put_slice(out, slice_string(second));
}

static void
all_but_request(struct buf *out, const char *graph)
{
    buf_reset(out);
    codec_put_u8(out, PATCH_CLEAR_ALL_BUT);
    codec_put_slice(out, slice_string(graph));
}

static void
kind_request(struct buf *out, uint8_t kind)
{
    buf_reset(out);
    codec_put_u8(out, kind);
}

static void
check_change(const struct change *change, uint64_t removed, uint64_t added)
{
    if (change->status != STATUS_OK) {
        fail_msg("%s", change->why.text);
    }
    assert_int_equal(change->removed, removed);
    assert_int_equal(change->added, added);
}

/* ---- tests ---- */

static void
each_kind_changes_what_it_says(void **state)
{
    (void)state;
    struct buf request;
    struct change change;
    buf_init(&request, TEXT_MOST);
    quads_request(&request, "a:g", "", Q("s", "1", "g") Q("s", "2", "g") Q("s", "2", "g"));
    change = one(&request);
    check_change(&change, 0, 2);
    change = one(&request); /* the same again makes no difference */
    check_change(&change, 0, 0);
    quads_request(&request, "a:g", Q("s", "1", "g") Q("s", "9", "g"),
                  Q("s", "3", "g") Q("s", "2", "g"));
    change = one(&request);
    check_change(&change, 1, 1);
    holds(Q("s", "2", "g") Q("s", "3", "g"));
    packed_request(&request, PATCH_PACKED,
                   Q("s", "4", "h") Q("s", "3", "g") Q("s", "5", "i") Q("s", "6", "h"));
    change = one(&request);
    check_change(&change, 0, 3);
    holds(Q("s", "2", "g") Q("s", "3", "g") Q("s", "4", "h") Q("s", "5", "i") Q("s", "6", "h"));
    packed_request(&request, PATCH_MANY, Q("s", "7", "h") Q("s", "4", "h"));
    change = one(&request);
    check_change(&change, 0, 0); /* counted when it is brought in */
    kind_request(&request, PATCH_BRING_IN);
    change = one(&request);
    check_change(&change, 0, 1);
    clear_request(&request, "a:none", "a:h");
    change = one(&request);
    check_change(&change, 3, 0);
    holds(Q("s", "2", "g") Q("s", "3", "g") Q("s", "5", "i"));
    all_but_request(&request, "a:i");
    change = one(&request);
    check_change(&change, 2, 0);
    holds(Q("s", "5", "i"));
    all_but_request(&request, "");
    change = one(&request);
    check_change(&change, 1, 0);
    holds("");
    buf_release(&request);
}

static struct document_entry
entry_of(const char *graph)
{
    const struct term term = term_iri(slice_string(graph));
    struct document_entry entry;
    struct reason why = {""};
    oid id;
    must(lexicon_find(partition->lexicon, &term, &id, &why), &why);
    latch_enter_reading(tree_latch(partition->documents));
    must(documents_get(partition->documents, id, &entry, &why), &why);
    latch_leave(tree_latch(partition->documents));
    return entry;
}

/* A crawl's document that is emptied keeps what the next crawl compares with; what is empty, or is
 * no graph, stays as it is. */
static void
emptied_documents_keep_their_generation(void **state)
{
    (void)state;
    struct buf request;
    struct reason why = {""};
    buf_init(&request, TEXT_MOST);
    for (unsigned all = 0; all < 2; all++) {
        struct index_batch *batch = index_batch_new(partition);
        const struct index_document document = {
            .uri = SLICE("a:g"), .generation = 7 + all, .linked_data = all == 0};
        const struct quad_sink sink = {index_batch_quad, batch};
        index_batch_begin(batch, &document);
        must(nquads_parse(SLICE(Q("s", "1", "g")), NULL, &sink, &why), &why);
        index_batch_end(batch);
        must(index_batch_commit(batch, &why), &why);
        index_batch_free(batch);
        if (all) {
            all_but_request(&request, "");
        } else {
            clear_request(&request, "a:s", "a:g"); /* the first is a subject */
        }
        struct change change = one(&request);
        check_change(&change, 1, 0);
        const struct document_entry emptied = entry_of("a:g");
        assert_int_equal(emptied.generation, 7 + all);
        assert_int_equal(emptied.linked_data, all == 0);
        assert_true(emptied.removed);
        assert_int_equal(emptied.quads, 0);
        const uint64_t before = batches();
        all_but_request(&request, "");
        change = one(&request);
        check_change(&change, 0, 0);
        assert_in_range(batches(), before, before + 1);
        assert_int_equal(entry_of("a:g").indexed_ms, emptied.indexed_ms);
        holds("");
    }
    buf_release(&request);
}

/* No cut of a request is one, and nothing may follow it. */
static void
check_cuts(const struct buf *request)
{
    const uint64_t before = batches();
    struct change change;
    struct buf cut;
    buf_init(&cut, TEXT_MOST);
    for (size_t length = 0; length <= request->length + 1; length++) {
        if (length == request->length) {
            continue;
        }
        /* Bytes of their own, so that reading past the end is found. */
        buf_release(&cut);
        buf_init(&cut, TEXT_MOST);
        (void)buf_append_slice(
            &cut, slice_of(request->data, length < request->length ? length : request->length));
        if (length > request->length) {
            codec_put_u8(&cut, 0);
        }
        change = one(&cut);
        assert_int_equal(change.status, STATUS_PROTOCOL);
        assert_true(strstr(change.why.text, "malformed") != NULL ||
                    strstr(change.why.text, "no known kind") != NULL);
        assert_int_equal(change.removed + change.added, 0);
    }
    assert_int_equal(batches(), before);
    buf_release(&cut);
}

static void
cut_requests_change_nothing(void **state)
{
    (void)state;
    struct buf request;
    struct change change;
    buf_init(&request, TEXT_MOST);
    quads_request(&request, "a:g", "", Q("s", "1", "g"));
    change = one(&request);
    check_change(&change, 0, 1);
    quads_request(&request, "a:g", Q("s", "1", "g"), Q("s", "2", "g"));
    check_cuts(&request);
    packed_request(&request, PATCH_PACKED, Q("s", "2", "g") "_:b <a:p> \"x\"@en <a:h> .\n");
    check_cuts(&request);
    clear_request(&request, "a:h", "a:g");
    check_cuts(&request);
    all_but_request(&request, "a:h");
    check_cuts(&request);
    kind_request(&request, PATCH_BRING_IN);
    check_cuts(&request);
    holds(Q("s", "1", "g"));
    buf_release(&request);
}

/* ---- packed ones that say what cannot be ---- */

struct strange_term {
    uint8_t kind;
    const char *before, *value; /* before: datatype or language */
};

/* Two IRIs, then the term; then a graph and a quad of numbers. */
static void
strange_request(struct buf *out, const struct strange_term *term, const uint64_t numbers[4])
{
    kind_request(out, PATCH_PACKED);
    codec_put_varint(out, 3);
    for (unsigned i = 0; i < 2; i++) {
        codec_put_u8(out, OID_KIND_IRI);
        codec_put_slice(out, slice_string(i == 0 ? "a:s" : "a:p"));
    }
    codec_put_u8(out, term->kind);
    if (term->before != NULL) {
        codec_put_slice(out, slice_string(term->before));
    }
    codec_put_slice(out, slice_string(term->value));
    codec_put_varint(out, 1);
    codec_put_varint(out, numbers[0]);
    codec_put_varint(out, 1);
    for (unsigned i = 1; i < 4; i++) {
        codec_put_varint(out, numbers[i]);
    }
}

static void
packed_terms_are_checked(void **state)
{
    (void)state;
    static const uint64_t usual[4] = {0, 0, 1, 2};
    static const struct strange_term good[] = {{OID_KIND_STRING, NULL, "x"},
                                               {OID_KIND_IRI, NULL, "a:o"},
                                               {OID_KIND_BLANK, NULL, "b"},
                                               {OID_KIND_TYPED, "a:t", "x"},
                                               {OID_KIND_LANGUAGE, "en", "x"}};
    static const struct strange_term bad[] = {{OID_KIND_STRING, NULL, "\xff"},
                                              {OID_KIND_IRI, NULL, "relative"},
                                              {OID_KIND_IRI, NULL, "a: b"},
                                              {OID_KIND_IRI, NULL, ""},
                                              {OID_KIND_BLANK, NULL, ""},
                                              {OID_KIND_BLANK, NULL, "a b"},
                                              {OID_KIND_TYPED, "t", "x"},
                                              {OID_KIND_TYPED, "a:t", "\xc3"},
                                              {OID_KIND_LANGUAGE, "", "x"},
                                              {OID_KIND_LANGUAGE, "e n", "x"},
                                              {OID_KIND_LANGUAGE, "en", "\xed\xa0\x80"},
                                              {OID_KIND_NONE, NULL, "x"},
                                              {7, NULL, "x"}};
    /* Each row has the numbers of graph, subject, predicate and object; 2 is a literal. */
    static const uint64_t numbers[][4] = {{2, 0, 1, 2}, {0, 2, 1, 0}, {0, 0, 2, 0}, {3, 0, 1, 2},
                                          {0, 3, 1, 2}, {0, 0, 3, 2}, {0, 0, 1, 3}};
    struct buf request;
    struct change change;
    buf_init(&request, TEXT_MOST);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        strange_request(&request, &good[i], usual);
        change = one(&request);
        check_change(&change, 0, 1);
    }
    const uint64_t before = batches();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        strange_request(&request, &bad[i], usual);
        change = one(&request);
        if (change.status != STATUS_PROTOCOL) {
            fail_msg("taken: bad term %zu", i);
        }
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        strange_request(&request, &good[0], numbers[i]);
        change = one(&request);
        if (change.status != STATUS_PROTOCOL) {
            fail_msg("taken: bad numbers %zu", i);
        }
    }
    /* A blank node names neither graph nor predicate. */
    strange_request(&request, &good[2], numbers[0]);
    assert_int_equal(one(&request).status, STATUS_PROTOCOL);
    strange_request(&request, &good[2], numbers[2]);
    assert_int_equal(one(&request).status, STATUS_PROTOCOL);
    quads_request(&request, "a:g", "", "no quad at all\n");
    assert_int_equal(one(&request).status, STATUS_BAD_INPUT);
    quads_request(&request, "a:g", "no quad at all\n", "");
    assert_int_equal(one(&request).status, STATUS_BAD_INPUT);
    assert_int_equal(batches(), before);
    buf_release(&request);
}

/* A packed change may have more terms than the index looks up at a time. Its quads come in another
 * order than those of the dump, and their graphs alternate. */
static void
packed_terms_are_many(void **state)
{
    (void)state;
    struct buf request, quads, expected;
    buf_init(&request, TEXT_MOST);
    buf_init(&quads, TEXT_MOST);
    buf_init(&expected, TEXT_MOST);
    for (unsigned i = 0; i < PACKED_MOST; i++) {
        const unsigned number = 10 + (7 * i) % PACKED_MOST; /* each once */
        (void)buf_printf(&quads, "<a:s%u> <a:p> \"o%u\" <a:g%u> .\n", number, number, i % 2);
        (void)buf_printf(&expected, "<a:s%u> <a:p> \"o%u\" <a:g%u> .\n", 10 + i, 10 + i,
                         (55 * i) % PACKED_MOST % 2); /* 55 times 7 is 1 more than a multiple */
    }
    packed_request(&request, PATCH_PACKED, quads.data);
    const struct change change = one(&request);
    check_change(&change, 0, PACKED_MOST);
    holds(expected.data);
    buf_release(&request);
    buf_release(&quads);
    buf_release(&expected);
}

/* Nothing is made room for that the request is too short for. */
static void
packed_numbers_are_no_larger_than_the_request(void **state)
{
    (void)state;
    struct buf request;
    buf_init(&request, TEXT_MOST);
    kind_request(&request, PATCH_PACKED);
    codec_put_varint(&request, UINT64_C(1) << 60); /* terms */
    assert_int_equal(one(&request).status, STATUS_PROTOCOL);
    kind_request(&request, PATCH_PACKED);
    codec_put_varint(&request, 0);
    codec_put_varint(&request, UINT64_MAX); /* graphs */
    assert_int_equal(one(&request).status, STATUS_PROTOCOL);
    kind_request(&request, PATCH_QUADS);
    codec_put_varint(&request, UINT64_MAX);
    assert_int_equal(one(&request).status, STATUS_PROTOCOL);
    kind_request(&request, PATCH_CLEAR);
    codec_put_varint(&request, UINT64_MAX);
    assert_int_equal(one(&request).status, STATUS_PROTOCOL);
    buf_release(&request);
}

/* A buffer without room for all of the quads says so. */
static void
packed_quads_need_room(void **state)
{
    (void)state;
    static struct packed_quad quads[PACKED_MOST];
    struct term_set terms;
    struct buf out;
    term_set_init(&terms);
    buf_init(&out, PACKED_MOST);
    packed_quads_write(&out, &terms, quads, PACKED_MOST);
    assert_true(out.overflowed);
    buf_release(&out);
    buf_init(&out, TEXT_MOST);
    packed_quads_write(&out, &terms, quads, 0);
    assert_int_equal(out.length, 2); /* no term, no graph */
    buf_release(&out);
    term_set_release(&terms);
}

/* ---- several ---- */

/* One at fault fails by itself; the others share a transaction and have counts of their own. */
static void
changes_share_a_transaction(void **state)
{
    (void)state;
    struct buf requests[6];
    struct change changes[REQUESTS];
    for (size_t i = 0; i < 6; i++) {
        buf_init(&requests[i], TEXT_MOST);
    }
    const uint64_t before = batches();
    quads_request(&requests[0], "a:g", "", Q("s", "1", "g") Q("s", "2", "g"));
    packed_request(&requests[1], PATCH_PACKED, Q("s", "3", "h"));
    quads_request(&requests[2], "a:h", "", Q("s", "4", "h") "and no quad\n");
    quads_request(&requests[3], "a:h", "", Q("s", "5", "h") Q("s", "6", "h") Q("s", "7", "h"));
    for (size_t i = 0; i < 4; i++) {
        add(&requests[i]);
    }
    assert_int_equal(work(MEMORY, changes), 4);
    check_change(&changes[0], 0, 2);
    check_change(&changes[1], 0, 1);
    assert_int_equal(changes[2].status, STATUS_BAD_INPUT);
    assert_int_equal(changes[2].added, 0);
    check_change(&changes[3], 0, 3);
    assert_int_equal(batches(), before + 1);
    holds(Q("s", "1", "g") Q("s", "2", "g") Q("s", "3", "h") Q("s", "5", "h") Q("s", "6", "h")
              Q("s", "7", "h"));
    /* What is no change of quads keeps its place between them. */
    quads_request(&requests[0], "a:g", "", Q("s", "8", "g"));
    clear_request(&requests[1], "a:g", "a:none");
    quads_request(&requests[2], "a:g", "", Q("s", "9", "g"));
    for (size_t i = 0; i < 3; i++) {
        add(&requests[i]);
    }
    assert_int_equal(work(MEMORY, changes), 3);
    check_change(&changes[0], 0, 1);
    check_change(&changes[1], 3, 0);
    check_change(&changes[2], 0, 1);
    assert_int_equal(batches(), before + 4);
    /* As many are committed at once as memory is for. */
    for (size_t i = 0; i < 3; i++) {
        quads_request(&requests[i], "a:g", "",
                      i == 0   ? Q("t", "1", "g")
                      : i == 1 ? Q("t", "2", "g")
                               : Q("t", "3", "g"));
        add(&requests[i]);
    }
    assert_int_equal(work(1, changes), 3);
    assert_int_equal(batches(), before + 7);
    for (size_t i = 0; i < 3; i++) {
        check_change(&changes[i], 0, 1);
    }
    for (size_t i = 0; i < 6; i++) {
        buf_release(&requests[i]);
    }
}

/* Those that wait are handed back unharmed, and later ones are carried out. */
static void
waiting_changes_can_be_refused(void **state)
{
    (void)state;
    struct buf request;
    struct change changes[REQUESTS];
    struct reason why = {""};
    buf_init(&request, TEXT_MOST);
    quads_request(&request, "a:g", "", Q("s", "1", "g"));
    add(&request);
    add(&request);
    (void)status_fail(&why, STATUS_FULL, "no room");
    patch_queue_refuse(queue, STATUS_FULL, &why);
    assert_int_equal(work(MEMORY, changes), 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(changes[i].status, STATUS_FULL);
        assert_string_equal(changes[i].why.text, "no room");
    }
    holds("");
    patch_queue_refuse(queue, STATUS_FULL, &why);
    assert_int_equal(work(MEMORY, changes), 0);
    const struct change change = one(&request);
    check_change(&change, 0, 1);
    add(&request); /* the queue frees what waits and what is done */
    must(patch_queue_work(queue, partition, MEMORY, &why), &why);
    add(&request);
    buf_release(&request);
}

/* ---- setup ---- */

static int
open_partition(void **state)
{
    (void)state;
    if (!scratch_folder(folder, "patch")) {
        return -1;
    }
    buf_init(&text, TEXT_MOST);
    partition = fixture_open(folder, 4 << 20);
    queue = patch_queue_new(EVENT_NONE);
    return 0;
}

static int
close_partition(void **state)
{
    (void)state;
    patch_queue_free(queue);
    fixture_verify(partition, folder);
    partition_close(partition);
    buf_release(&text);
    fixture_run("rm -rf %s%s", folder, "");
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_partition, close_partition)

/* Who gives back what he never had does no harm. */
static void
what_never_was_is_let_go(void **state)
{
    (void)state;
    patch_queue_free(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_kind_changes_what_it_says), TEST(emptied_documents_keep_their_generation),

        TEST(cut_requests_change_nothing),    TEST(packed_terms_are_checked),
        TEST(packed_terms_are_many),          TEST(packed_numbers_are_no_larger_than_the_request),
        TEST(packed_quads_need_room),         TEST(changes_share_a_transaction),
        TEST(waiting_changes_can_be_refused), cmocka_unit_test(what_never_was_is_let_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
