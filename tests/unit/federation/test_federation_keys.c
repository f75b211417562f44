/* The nodes that several partitions have (index/client/federation/federation_keys.c), from the
 * logs that partitions send. The linker puts the functions below in the place of the streams: each
 * partition is a list of hashes. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/client/federation/federation_state.h"
#include "index/protocol/triples_request.h"
#include "tests/unit/federation/told_rows.h"
#include "tests/unit/federation/told_streams.h"

enum { HASHES_MOST = 16, ANSWER_MOST = 1 << 16 };

static struct {
    uint32_t hashes[HASHES_MOST];
    size_t count;
    uint64_t epoch;
    enum { HONEST, BREAKS_OFF, ENDS_EARLY, SKIPS, TOO_MANY } how;
} partitions[PARTITIONS_ASKED];
static size_t sent;     /* hashes */
static size_t requests; /* for them */

enum status
told_answer(size_t partition, uint8_t kind, struct codec_reader *in, struct buf *out)
{
    if (kind != INDEX_STREAM_KEYS) {
        return told_rows_answer(partition, kind, in, out);
    }
    assert_int_equal(codec_get_u8(in), KEYS_SUBJECTS);
    requests++;
    const uint64_t epoch = codec_get_u64(in), known = codec_get_varint(in);
    const size_t from = epoch == partitions[partition].epoch ? known : 0;
    const bool skips = partitions[partition].how == SKIPS;
    codec_put_u8(out, partitions[partition].how == TOO_MANY ? TRIPLES_UNKNOWN : TRIPLES_KNOWN);
    codec_put_u64(out, partitions[partition].epoch);
    codec_put_varint(out, from + skips);
    for (size_t i = from; i < partitions[partition].count; i++) {
        codec_put_u32(out, partitions[partition].hashes[i]);
        sent++;
    }
    if (partitions[partition].how == BREAKS_OFF || partitions[partition].how == ENDS_EARLY) {
        out->length -= 2;
        return partitions[partition].how == BREAKS_OFF ? STATUS_SYSTEM : STATUS_OK;
    }
    return STATUS_OK;
}

static void
add(size_t partition, uint32_t hash)
{
    partitions[partition].hashes[partitions[partition].count++] = hash;
}

/* Fails unless the partition's list is these places, "02" for the first and the third. */
static void
expect_list(struct federation *federation, size_t partition, const char *places)
{
    struct buf list;
    buf_init(&list, ANSWER_MOST);
    federation_put_shared(federation, KEYS_SUBJECTS, partition, &list);
    struct codec_reader in = codec_reader_of(buf_slice(&list));
    assert_int_equal(codec_get_u64(&in), partitions[partition].epoch);
    assert_int_equal(codec_get_varint(&in), strlen(places));
    uint64_t place = 0;
    for (const char *at = places; *at != '\0'; at++) {
        place += codec_get_varint(&in);
        assert_int_equal(place, *at - '0');
    }
    assert_true(codec_at_end(&in));
    buf_release(&list);
}

/* One query. lists: of each partition, when it is OK. */
static void
expect(enum status expected, const char *const lists[PARTITIONS_ASKED])
{
    struct federation *federation = federation_new(&client, 1 << 28);
    const struct quad_source *source = federation_source(federation);
    struct reason why = {""};
    bool any = false, some = false;
    sent = 0;
    client_begin(&client, client.partial, 0, NULL);
    for (int i = 0; i < 2; i++) { /* the second time nothing is asked */
        const size_t before = sent, asked = requests;
        assert_int_equal(source->part(source->context, KEYS_SUBJECTS, &any, &why), expected);
        assert_true(i == 0 || expected != STATUS_OK || sent == before);
        assert_true(i == 0 || (expected != STATUS_OK && expected != STATUS_LIMIT) ||
                    requests == asked);
    }
    for (size_t i = 0; i < PARTITIONS_ASKED && lists != NULL; i++) {
        expect_list(federation, i, lists[i]);
        some = some || *lists[i] != '\0';
    }
    assert_true(lists == NULL || any == some);
    federation_free(federation);
}

static int
set_up(void **state)
{
    (void)state;
    memset(partitions, 0, sizeof partitions);
    told_begin();
    for (uint32_t p = 0; p < PARTITIONS_ASKED; p++) {
        partitions[p].epoch = 7 + p;
        for (uint32_t i = 0; i < 8; i++) {
            add(p, 1000 * p + i);
        }
    }
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < KEY_PLACES; i++) {
        node_keys_free(client.keys[i]);
    }
    return 0;
}

static void
what_several_have_is_found(void **state)
{
    static const char *const none[] = {"", "", ""}, *const one[] = {"3", "8", ""},
                             *const all[] = {"3", "8", "8"}, *const own[] = {"3", "8", "089"};
    (void)state;
    expect(STATUS_OK, none);
    add(1, 3);
    expect(STATUS_OK, one);
    assert_int_equal(sent, 1); /* logs are read on */
    add(2, 3);
    expect(STATUS_OK, all);
    add(2, 2000); /* two nodes of one partition have one hash */
    expect(STATUS_OK, own);
}

static void
too_much_in_common_is_not_parted(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        add(0, 2000 + i);
    }
    expect(STATUS_LIMIT, NULL);
    (void)tear_down(NULL);
    (void)set_up(NULL);
    partitions[1].how = TOO_MANY;
    expect(STATUS_LIMIT, NULL);
}

/* Places in a log mean nothing in the next one. */
static void
a_partition_that_was_opened_anew_is_read_anew(void **state)
{
    static const char *const before[] = {"3", "8", ""}, *const after[] = {"8", "1", ""};
    (void)state;
    add(1, 3);
    expect(STATUS_OK, before);
    partitions[1].epoch = 99;
    partitions[1].count = 0;
    for (uint32_t i = 0; i < 9; i++) {
        add(1, 500 + i);
    }
    add(0, 501);
    expect(STATUS_OK, after);
}

static void
answers_that_are_wrong_are_refused(void **state)
{
    static const char *const none[] = {"", "", ""};
    (void)state;
    partitions[1].how = SKIPS;
    expect(STATUS_PROTOCOL, NULL);
    partitions[1].how = ENDS_EARLY;
    expect(STATUS_PROTOCOL, NULL);
    client.partial = INDEX_PARTIAL_ERROR;
    partitions[1].how = BREAKS_OFF;
    expect(STATUS_SYSTEM, NULL);
    partitions[1].how = HONEST;
    expect(STATUS_OK, none); /* nothing is left of what came before */
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(what_several_have_is_found),
        CASE(too_much_in_common_is_not_parted),
        CASE(a_partition_that_was_opened_anew_is_read_anew),
        CASE(answers_that_are_wrong_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) + told_rows_run();
}
