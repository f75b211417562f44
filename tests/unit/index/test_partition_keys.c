/* The log of a partition's nodes: it has those of all quads, each once, what was read before stays
 * as it is, and places in it name the nodes. */
#include "base/codec.h"
#include "index/write/partition_keys.h"
#include "index/write/partition_state.h"
#include "tests/unit/index/index_fixture.h"

enum { ANSWER_MOST = 1 << 20, HASHES_MOST = 64 };

static struct partition *partition;
static char folder[SCRATCH_SIZE];

struct answer {
    uint64_t epoch, from;
    uint32_t hashes[HASHES_MOST];
    size_t count;
};

static enum status
go_on(const void *context, struct reason *why)
{
    return context == NULL ? STATUS_OK : status_fail(why, STATUS_CANCELLED, "cancelled");
}

static enum status
ask(enum key_places places, uint64_t epoch, uint64_t from, bool cancelled, struct answer *answer)
{
    const struct keys_request request = {places, epoch, from, go_on, cancelled ? answer : NULL};
    struct reason why = {""};
    struct buf out;
    buf_init(&out, ANSWER_MOST);
    const enum status status = partition_keys_read(partition, &request, &out, &why);
    struct codec_reader in = codec_reader_of(buf_slice(&out));
    *answer = (struct answer){.epoch = codec_get_u64(&in), .from = codec_get_varint(&in)};
    while (status == STATUS_OK && !codec_at_end(&in)) {
        assert_true(answer->count < HASHES_MOST && !in.bad);
        answer->hashes[answer->count++] = codec_get_u32(&in);
    }
    buf_release(&out);
    return status;
}

static void
commit(unsigned document, uint64_t generation, const char *nquads)
{
    struct index_batch *batch = index_batch_new(partition);
    struct reason why = {""};
    struct buf text;
    buf_init(&text, ANSWER_MOST);
    (void)buf_append_string(&text, nquads);
    (void)fixture_add(batch, document, generation, &text);
    must(index_batch_commit(batch, &why), &why);
    buf_release(&text);
    index_batch_free(batch);
}

/* Returns whether the place of the log names the node. */
static bool
is_node(const struct answer *answer, enum key_places places, size_t place, const char *iri)
{
    const struct term term = {.kind = TERM_IRI, .value = slice_string(iri)};
    struct partition_reader *reader;
    struct oid_set set;
    struct reason why = {""};
    struct buf list;
    oid id;
    buf_init(&list, ANSWER_MOST);
    codec_put_u64(&list, answer->epoch);
    codec_put_varint(&list, 1);
    codec_put_varint(&list, place);
    must(partition_reader_open(&reader, partition, &why), &why);
    const struct quad_source *source = partition_reader_source(reader);
    must(source->lookup(source->context, &term, &id, &why), &why);
    must(partition_keys_set(partition, places, buf_slice(&list), &set, &why), &why);
    const bool has = oid_set_has(&set, id);
    oid_set_release(&set);
    partition_reader_close(reader);
    buf_release(&list);
    return has;
}

static int
set_up(void **state)
{
    (void)state;
    assert_true(scratch_folder(folder, "partition_keys"));
    partition = fixture_open(folder, 4 << 20);
    commit(1, 1,
           "<urn:a> <urn:p> <urn:b> <urn:g> .\n<urn:a> <urn:p> \"x\" <urn:g> .\n"
           "<urn:c> <urn:p> \"5\" <urn:g> .\n");
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    partition_close(partition);
    fixture_run("rm -rf '%s'%s", folder, "");
    return 0;
}

/* The log has what is there at the first asking, and what commits bring. */
static void
a_log_grows(void **state)
{
    struct answer first, second, known;
    (void)state;
    assert_int_equal(ask(KEYS_SUBJECTS, 0, 0, false, &first), STATUS_OK);
    assert_int_equal(first.count, 2);
    assert_int_equal(first.from, 0);
    assert_true(is_node(&first, KEYS_SUBJECTS, 0, "urn:a") &&
                is_node(&first, KEYS_SUBJECTS, 1, "urn:c"));
    commit(2, 1, "<urn:a> <urn:q> <urn:d> <urn:h> .\n<urn:d> <urn:q> <urn:e> <urn:h> .\n");
    commit(1, 2, "<urn:f> <urn:p> <urn:b> <urn:g> .\n"); /* the others are removed */
    assert_int_equal(ask(KEYS_SUBJECTS, first.epoch, first.count, true, &known),
                     STATUS_CANCELLED); /* of a log that has begun, too */
    assert_int_equal(ask(KEYS_SUBJECTS, first.epoch, first.count, false, &second), STATUS_OK);
    assert_int_equal(second.epoch, first.epoch);
    assert_int_equal(second.from, 2);
    assert_int_equal(second.count, 2);
    assert_true(
        is_node(&first, KEYS_SUBJECTS, 0, "urn:a") && is_node(&first, KEYS_SUBJECTS, 2, "urn:d") &&
        is_node(&first, KEYS_SUBJECTS, 3, "urn:f") && !is_node(&first, KEYS_SUBJECTS, 3, "urn:d"));
    assert_int_equal(ask(KEYS_SUBJECTS, first.epoch, 4, false, &known), STATUS_OK);
    assert_int_equal(known.count, 0);
    /* Whoever knows another log, or more than there is, gets all. */
    assert_int_equal(ask(KEYS_SUBJECTS, first.epoch + 1, 2, false, &known), STATUS_OK);
    assert_true(known.from == 0 && known.count == 4);
    assert_memory_equal(known.hashes, first.hashes, sizeof(uint32_t) * 2);
    assert_memory_equal(known.hashes + 2, second.hashes, sizeof(uint32_t) * 2);
    assert_int_equal(ask(KEYS_SUBJECTS, first.epoch, 5, false, &known), STATUS_OK);
    assert_true(known.from == 0 && known.count == 4);
}

/* Objects are in the other log, but for literals. */
static void
nodes_are_subjects_and_objects(void **state)
{
    struct answer answer, again;
    (void)state;
    assert_int_equal(ask(KEYS_NODES, 0, 0, false, &answer), STATUS_OK);
    assert_int_equal(answer.count, 3);
    commit(2, 1, "<urn:b> <urn:q> <urn:d> <urn:h> .\n<urn:b> <urn:q> \"y\" <urn:h> .\n");
    assert_int_equal(ask(KEYS_NODES, answer.epoch, 3, false, &again), STATUS_OK);
    assert_int_equal(again.count, 1);
    assert_true(is_node(&answer, KEYS_NODES, 3, "urn:d"));
}

/* One hash whichever partition it is. */
static void
hashes_are_of_the_text(void **state)
{
    struct answer first, other;
    (void)state;
    assert_int_equal(ask(KEYS_SUBJECTS, 0, 0, false, &first), STATUS_OK);
    (void)tear_down(NULL);
    assert_true(scratch_folder(folder, "partition_keys"));
    partition = fixture_open(folder, 4 << 20);
    commit(7, 1, "<urn:z> <urn:p> <urn:a> <urn:g> .\n<urn:c> <urn:p> \"7\" <urn:g> .\n");
    assert_int_equal(ask(KEYS_SUBJECTS, first.epoch, 2, false, &other), STATUS_OK);
    assert_int_not_equal(other.epoch, first.epoch);
    assert_int_equal(other.count, 2);
    assert_true(other.hashes[0] == first.hashes[1] || other.hashes[1] == first.hashes[1]);
    assert_true(other.hashes[0] != first.hashes[0] && other.hashes[1] != first.hashes[0]);
}

static void
an_asking_that_is_cancelled_leaves_no_half_log(void **state)
{
    struct answer answer;
    (void)state;
    assert_int_equal(ask(KEYS_SUBJECTS, 0, 0, true, &answer), STATUS_CANCELLED);
    commit(2, 1, "<urn:d> <urn:q> <urn:e> <urn:h> .\n");
    assert_int_equal(ask(KEYS_SUBJECTS, 0, 0, false, &answer), STATUS_OK);
    assert_int_equal(answer.count, 3);
}

static void
lists_that_name_nothing_are_refused(void **state)
{
    static const struct {
        uint64_t epoch_off, count, first, second;
        size_t cut;
        enum status status;
    } cases[] = {
        {0, 2, 0, 1, 0, STATUS_OK},
        {1, 2, 0, 1, 0, STATUS_STALE},
        {0, 2, 0, 2, 0, STATUS_PROTOCOL},
        {0, 2, 1, UINT64_MAX, 0, STATUS_PROTOCOL},
        {0, 1, 0, 1, 0, STATUS_PROTOCOL},
        {0, 3, 0, 1, 0, STATUS_PROTOCOL},
        {0, UINT64_MAX, 0, 1, 0, STATUS_PROTOCOL},
        {0, 2, 0, 1, 1, STATUS_PROTOCOL},
        {0, 2, 0, 1, 6, STATUS_PROTOCOL},
    };
    struct answer answer;
    (void)state;
    assert_int_equal(ask(KEYS_SUBJECTS, 0, 0, false, &answer), STATUS_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct oid_set set;
        struct reason why = {""};
        struct buf list;
        buf_init(&list, ANSWER_MOST);
        codec_put_u64(&list, answer.epoch + cases[i].epoch_off);
        codec_put_varint(&list, cases[i].count);
        codec_put_varint(&list, cases[i].first);
        codec_put_varint(&list, cases[i].second);
        const struct slice bytes = slice_of(list.data, list.length - cases[i].cut);
        const enum status status = partition_keys_set(partition, KEYS_SUBJECTS, bytes, &set, &why);
        assert_int_equal(status, cases[i].status);
        if (status == STATUS_OK) {
            oid_set_release(&set);
        }
        buf_release(&list);
    }
}

/* An answer that is refused has the reason in its text. */
static void
refusals_have_their_reasons(void **state)
{
    struct answer answer;
    struct oid_set set;
    struct reason why = {""};
    struct buf list;
    (void)state;
    assert_int_equal(ask(KEYS_SUBJECTS, 0, 0, false, &answer), STATUS_OK);
    assert_int_equal(partition_keys_set(partition, KEYS_SUBJECTS, SLICE("short"), &set, &why),
                     STATUS_PROTOCOL);
    assert_string_equal(why.text, "a list of keys is malformed");
    buf_init(&list, ANSWER_MOST);
    codec_put_u64(&list, answer.epoch + 1);
    codec_put_varint(&list, 0);
    assert_int_equal(partition_keys_set(partition, KEYS_SUBJECTS, buf_slice(&list), &set, &why),
                     STATUS_STALE);
    assert_string_equal(why.text, "the partition was opened anew");
    buf_reset(&list);
    codec_put_u64(&list, answer.epoch);
    codec_put_varint(&list, 1);
    codec_put_varint(&list, 2); /* there are places 0 and 1 */
    why.text[0] = '\0';
    assert_int_equal(partition_keys_set(partition, KEYS_SUBJECTS, buf_slice(&list), &set, &why),
                     STATUS_PROTOCOL);
    assert_string_equal(why.text, "a list of keys is malformed");
    buf_reset(&list);
    codec_put_u64(&list, answer.epoch);
    codec_put_varint(&list, 0);
    assert_int_equal(partition_keys_set(partition, KEYS_SUBJECTS, buf_slice(&list), &set, &why),
                     STATUS_OK);
    oid_set_release(&set);
    buf_release(&list);
}

/* The hash of a node's kind and text, as every partition has to make it. */
static uint32_t
expected_hash(enum term_kind kind, const char *text)
{
    uint64_t hash = kind;
    for (; *text != '\0'; text++) {
        hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001B3);
    }
    return (uint32_t)((hash ^ hash >> 32) * UINT64_C(0x9E3779B97F4A7C15) >> 32);
}

static bool
has_hash(const struct answer *answer, uint32_t hash)
{
    for (size_t i = 0; i < answer->count; i++) {
        if (answer->hashes[i] == hash) {
            return true;
        }
    }
    return false;
}

static void
hashes_tell_kinds_and_texts(void **state)
{
    struct answer subjects, nodes;
    (void)state;
    commit(3, 1,
           "_:d0000000000000003x <urn:p> _:d0000000000000003y <urn:h> .\n"
           "<urn:p> <urn:p> <urn:o> <urn:h> .\n");
    assert_int_equal(ask(KEYS_SUBJECTS, 0, 0, false, &subjects), STATUS_OK);
    assert_int_equal(ask(KEYS_NODES, 0, 0, false, &nodes), STATUS_OK);
    assert_int_equal(subjects.count, 4); /* a, c, the blank one, p */
    assert_int_equal(nodes.count, 7);    /* and b, the other blank one, o */
    static const char *const iris[] = {"urn:a", "urn:c", "urn:p", "urn:b", "urn:o"};
    for (size_t i = 0; i < sizeof iris / sizeof *iris; i++) {
        const uint32_t hash = expected_hash(TERM_IRI, iris[i]);
        assert_int_equal(has_hash(&subjects, hash), i < 3);
        assert_true(has_hash(&nodes, hash));
    }
    assert_true(has_hash(&subjects, expected_hash(TERM_BLANK, "d0000000000000003x")));
    assert_true(has_hash(&nodes, expected_hash(TERM_BLANK, "d0000000000000003x")));
    assert_true(has_hash(&nodes, expected_hash(TERM_BLANK, "d0000000000000003y")));
    assert_false(has_hash(&subjects, expected_hash(TERM_BLANK, "d0000000000000003y")));
}

/* How many nodes an answer has from a place on, each of them once. */
static size_t
count_hashes(enum key_places places, uint64_t epoch, uint64_t from, struct answer *head)
{
    const struct keys_request request = {places, epoch, from, go_on, NULL};
    struct reason why = {""};
    struct buf out;
    size_t count = 0;
    buf_init(&out, ANSWER_MOST);
    must(partition_keys_read(partition, &request, &out, &why), &why);
    struct codec_reader in = codec_reader_of(buf_slice(&out));
    *head = (struct answer){.epoch = codec_get_u64(&in), .from = codec_get_varint(&in)};
    for (; !codec_at_end(&in); count++) {
        assert_false(in.bad);
        (void)codec_get_u32(&in);
    }
    buf_release(&out);
    return count;
}

/* A log has more nodes than are read or hashed together. */
static void
large_logs_have_each_node_once(void **state)
{
    enum { FIRST = 3000, MORE = 2500 };
    struct answer head;
    struct buf text;
    (void)state;
    buf_init(&text, 4 << 20);
    for (unsigned i = 0; i < FIRST; i++) {
        (void)buf_printf(&text, "<urn:n%u> <urn:p> <urn:n%u> <urn:h> .\n", i, i / 2);
    }
    (void)buf_append_char(&text, '\0');
    commit(2, 1, text.data);
    assert_int_equal(count_hashes(KEYS_SUBJECTS, 0, 0, &head), 2 + FIRST);
    buf_reset(&text);
    for (unsigned i = 0; i < MORE; i++) {
        (void)buf_printf(&text, "<urn:m%u> <urn:p> <urn:n%u> <urn:h> .\n", i, i);
    }
    (void)buf_append_char(&text, '\0');
    commit(3, 1, text.data);
    assert_int_equal(count_hashes(KEYS_SUBJECTS, head.epoch, 2 + FIRST, &head), MORE);
    assert_int_equal(head.from, 2 + FIRST);
    assert_int_equal(count_hashes(KEYS_SUBJECTS, head.epoch, 5, &head), 2 + FIRST + MORE - 5);
    assert_int_equal(count_hashes(KEYS_NODES, 0, 0, &head), 3 + FIRST + MORE);
    buf_release(&text);
}

/* Notes subjects with these numbers, as a batch that adds quads would, or removes them. */
static void
note_subjects(uint64_t from, uint64_t to, bool removed)
{
    enum { EACH = 1 << 16 };
    static struct quad_change changes[EACH];
    while (from < to) {
        struct change_set set = {.changes = changes};
        for (; set.count < EACH && from < to; from++) {
            changes[set.count++] = (struct quad_change){{.subject = oid_stored(from, OID_KIND_IRI),
                                                         .object = oid_stored(1, OID_KIND_STRING)},
                                                        removed};
        }
        partition_keys_note(partition->keys, &set);
    }
}

static enum status
set_of_place(uint64_t place, struct oid_set *set)
{
    struct reason why = {""};
    struct buf list;
    buf_init(&list, 64);
    codec_put_u64(&list, partition->incarnation);
    codec_put_varint(&list, 1);
    codec_put_varint(&list, place);
    const enum status status =
        partition_keys_set(partition, KEYS_SUBJECTS, buf_slice(&list), set, &why);
    buf_release(&list);
    return status;
}

static void
assert_too_many(void)
{
    const struct keys_request request = {KEYS_SUBJECTS, 0, 0, go_on, NULL};
    struct reason why = {""};
    struct buf out;
    buf_init(&out, 64);
    assert_int_equal(partition_keys_read(partition, &request, &out, &why), STATUS_LIMIT);
    assert_string_equal(why.text, "there are too many nodes");
    buf_release(&out);
}

/* A log takes so many nodes and not one more; then it has none, whatever comes. */
static void
logs_have_a_bound(void **state)
{
    enum { FIRST = 100000, LAST = FIRST + PARTITION_KEYS_MOST - 2 };
    struct answer answer;
    struct oid_set set;
    (void)state;
    assert_int_equal(ask(KEYS_SUBJECTS, 0, 0, false, &answer), STATUS_OK);
    assert_int_equal(answer.count, 2);
    note_subjects(FIRST, LAST, false);
    note_subjects(LAST - 10, LAST, false); /* they are known */
    note_subjects(LAST, LAST + 10, true);  /* what is removed does not count */
    assert_int_equal(set_of_place(PARTITION_KEYS_MOST - 1, &set), STATUS_OK);
    assert_true(oid_set_has(&set, oid_stored(LAST - 1, OID_KIND_IRI)));
    oid_set_release(&set);
    assert_int_equal(set_of_place(PARTITION_KEYS_MOST, &set), STATUS_PROTOCOL);
    note_subjects(LAST, LAST + 1, false);
    assert_int_equal(set_of_place(0, &set), STATUS_PROTOCOL);
    assert_too_many();
    note_subjects(FIRST, FIRST + 10, false);
    assert_int_equal(set_of_place(0, &set), STATUS_PROTOCOL);
    assert_too_many();
    assert_int_equal(ask(KEYS_NODES, 0, 0, false, &answer), STATUS_OK); /* the other log is well */
    assert_int_equal(answer.count, 3);
}

/* Who asks while another one asks waits, and may give up. */
static enum status
ask_meanwhile(const void *context, struct reason *why)
{
    struct answer answer;
    (void)why;
    if (*(const bool *)context) {
        assert_int_equal(ask(KEYS_NODES, 0, 0, true, &answer), STATUS_CANCELLED);
    }
    return STATUS_OK;
}

static void
one_asks_after_the_other(void **state)
{
    static const bool yes = true;
    const struct keys_request request = {KEYS_SUBJECTS, 0, 0, ask_meanwhile, &yes};
    struct answer answer;
    struct reason why = {""};
    struct buf out;
    (void)state;
    buf_init(&out, 256);
    must(partition_keys_read(partition, &request, &out, &why), &why);
    assert_int_equal(out.length, 8 + 1 + 2 * 4);
    buf_release(&out);
    assert_int_equal(ask(KEYS_NODES, 0, 0, false, &answer), STATUS_OK);
    assert_int_equal(answer.count, 3);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(a_log_grows),
        CASE(nodes_are_subjects_and_objects),
        CASE(hashes_are_of_the_text),
        CASE(an_asking_that_is_cancelled_leaves_no_half_log),
        CASE(lists_that_name_nothing_are_refused),
        CASE(refusals_have_their_reasons),
        CASE(hashes_tell_kinds_and_texts),
        CASE(large_logs_have_each_node_once),
        CASE(logs_have_a_bound),
        CASE(one_asks_after_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
