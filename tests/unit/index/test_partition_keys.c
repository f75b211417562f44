/* The log of a partition's nodes: it has those of all quads, each once, what was read before stays
 * as it is, and places in it name the nodes. */
#include "base/codec.h"
#include "index/write/partition_keys.h"
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
