/* Following what changes in three partitions (index/client/client_changes.c): each change comes
 * once, in order, however it comes about; outages are waited for; positions lead on from a dump.
 * And which partition gets a graph when shares have been moved. */
#include "tests/unit/index_service/served_partitions.h"

#include "index/client/index_client.h"
#include "index/client/partitions/client_calls.h"

enum { TEXT_MOST = 1 << 20, PARTITIONS_SERVED = 3, UPDATES = 7, GRAPHS_BYTES = 9 << 20 };

static char folder[SCRATCH_SIZE];
static struct served served;
static struct index_client *writer; /* a client calls one thing at a time */
static struct buf text, position;

/* The linker puts this in the place of what reads the streams: some reads fail. */
static struct {
    unsigned failing; /* so many fail, from the next on */
    enum status status;
    unsigned failed;
} fault;

enum status __real_stream_next(struct index_stream_reader *stream, struct slice *bytes,
                               struct reason *why);
enum status __wrap_stream_next(struct index_stream_reader *stream, struct slice *bytes,
                               struct reason *why);

enum status
__wrap_stream_next(struct index_stream_reader *stream, struct slice *bytes, struct reason *why)
{
    if (fault.failing > 0) {
        fault.failing--;
        fault.failed++;
        return status_fail(why, fault.status, "a fault of the test");
    }
    return __real_stream_next(stream, bytes, why);
}

/* ---- a follower ---- */

struct followed {
    struct buf changes; /* lines: sign, quad */
    unsigned begun, committed, aborted, documents;
    unsigned last; /* so many commits, then it stops; each but the last makes a change */
    bool stopped;
    char positions[PARTITIONS_SERVED][64]; /* of the last batch of each */
};

static void
insert(unsigned number, size_t partition)
{
    char uri[SERVED_URI], operations[256];
    const struct index_update_options options = {0};
    struct reason why = {""};
    snprintf(operations, sizeof operations, "INSERT DATA { GRAPH <%s> { <a:s> <a:p> 'n%u' } }",
             served_graph(&served, partition, 0, uri), number);
    must(index_update(writer, slice_string(operations), &options, NULL, &why), &why);
}

static void
keep(char kept[64], struct slice now)
{
    assert_in_range(now.length, 1, 63);
    memcpy(kept, now.at, now.length);
    kept[now.length] = '\0';
}

static enum status
take_begin(void *context, const struct index_changes_begin *begin, struct reason *why)
{
    struct followed *followed = context;
    (void)why;
    followed->begun++;
    assert_true(begin->partition < PARTITIONS_SERVED);
    assert_true(begin->wall_ms > 0);
    char *const last = followed->positions[begin->partition];
    if (last[0] != '\0') {
        assert_true(slice_is(begin->previous, last));
    }
    keep(last, begin->position);
    return STATUS_OK;
}

static enum status
take_document(void *context, struct slice uri, uint64_t generation, struct reason *why)
{
    struct followed *followed = context;
    (void)why;
    assert_true(slice_starts(uri, SLICE("http://g")));
    assert_int_equal(generation, 0);
    followed->documents++;
    return STATUS_OK;
}

static enum status
take_quad(void *context, bool removed, struct slice line, struct reason *why)
{
    struct followed *followed = context;
    (void)why;
    const size_t value = slice_find(line, '"') + 1;
    assert_true(value + 2 < line.length);
    (void)buf_printf(&followed->changes, "%c%.2s\n", removed ? '-' : '+', line.at + value);
    return STATUS_OK;
}

static enum status
take_commit(void *context, struct slice reached, struct reason *why)
{
    struct followed *followed = context;
    (void)why;
    buf_reset(&position);
    (void)buf_append_slice(&position, reached);
    followed->committed++;
    if (followed->committed == followed->last) {
        followed->stopped = true;
    } else if (followed->last > 0) {
        insert(followed->committed, followed->committed % PARTITIONS_SERVED);
    }
    return STATUS_OK;
}

static enum status
take_abort(void *context, struct reason *why)
{
    struct followed *followed = context;
    (void)why;
    followed->aborted++;
    return STATUS_OK;
}

static enum status
follow(struct followed *followed, const struct index_follow_options *options, struct reason *why)
{
    const struct index_follower follower = {take_begin,  take_document, take_quad,
                                            take_commit, take_abort,    followed};
    struct index_follow_options how = *options;
    how.stopped = &followed->stopped;
    memset(followed, 0, offsetof(struct followed, last));
    buf_init(&followed->changes, TEXT_MOST);
    memset(followed->positions, 0, sizeof followed->positions);
    followed->stopped = false;
    const enum status status = index_changes(served.client, &how, &follower, why);
    (void)buf_append_string(&followed->changes, "");
    return status;
}

/* ---- tests ---- */

/* Changes made while others are read, in whatever partition, come each once. */
static void
changes_come_once_as_they_are_made(void **state)
{
    (void)state;
    struct followed followed = {.last = UPDATES};
    struct reason why = {""};
    insert(0, 0);
    must(follow(&followed, &(const struct index_follow_options){.follow = true}, &why), &why);
    assert_int_equal(followed.begun, UPDATES);
    assert_int_equal(followed.committed, UPDATES);
    assert_int_equal(followed.documents, UPDATES);
    assert_int_equal(followed.aborted, 0);
    assert_string_equal(followed.changes.data, "+n0\n+n1\n+n2\n+n3\n+n4\n+n5\n+n6\n");
    buf_release(&followed.changes);
    /* All of it again from the start, and nothing after what was reached. */
    followed.last = 0;
    must(follow(&followed, &(const struct index_follow_options){0}, &why), &why);
    assert_int_equal(followed.committed, UPDATES);
    buf_release(&followed.changes);
    must(follow(&followed, &(const struct index_follow_options){.since = buf_slice(&position)},
                &why),
         &why);
    assert_int_equal(followed.begun, 0);
    buf_release(&followed.changes);
}

/* Where following is over when all was read, a failure is one; else it is waited for. */
static void
outages_are_waited_for(void **state)
{
    (void)state;
    static const enum status passing[] = {STATUS_TIMEOUT, STATUS_NOT_FOUND, STATUS_AGAIN,
                                          STATUS_SYSTEM, STATUS_LIMIT};
    struct followed followed = {.last = 0};
    struct reason why = {""};
    insert(0, 0);
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++) {
        fault.failing = 1;
        fault.status = passing[i];
        followed.last = 0;
        assert_int_equal(follow(&followed, &(const struct index_follow_options){0}, &why),
                         passing[i]);
        assert_int_equal(followed.begun, 0);
        buf_release(&followed.changes);
    }
    /* The first partition alone at first; and then all of them. */
    for (unsigned failing = 1; failing <= 4; failing += 3) {
        fault.failing = failing;
        fault.failed = 0;
        fault.status = STATUS_TIMEOUT;
        followed.last = 2;
        must(follow(&followed, &(const struct index_follow_options){.follow = true}, &why), &why);
        assert_int_equal(fault.failed, failing);
        assert_int_equal(followed.committed, 2);
        /* The second time both are there, and the first partition fails twice. */
        assert_string_equal(followed.changes.data, failing == 1 ? "+n0\n+n1\n" : "+n1\n+n0\n");
        buf_release(&followed.changes);
    }
    /* What does not pass ends it. */
    fault.failing = 1;
    fault.status = STATUS_CORRUPT;
    assert_int_equal(follow(&followed, &(const struct index_follow_options){.follow = true}, &why),
                     STATUS_CORRUPT);
    buf_release(&followed.changes);
}

static void
a_dump_and_the_changes_since_are_all(void **state)
{
    (void)state;
    struct followed followed = {.last = 0};
    struct reason why = {""};
    struct buf of_dump;
    buf_init(&of_dump, TEXT_MOST);
    insert(1, 0);
    insert(2, 1);
    buf_reset(&text);
    must(index_dump(served.client, &of_dump, fixture_append, &text, &why), &why);
    assert_non_null(strstr(text.data, "\"n1\""));
    assert_non_null(strstr(text.data, "\"n2\""));
    buf_reset(&position);
    must(index_position(served.client, &position, &why), &why);
    assert_true(slice_equal(buf_slice(&position), buf_slice(&of_dump)));
    insert(3, 2);
    insert(4, 0);
    must(
        follow(&followed, &(const struct index_follow_options){.since = buf_slice(&of_dump)}, &why),
        &why);
    assert_int_equal(followed.committed, 2);
    assert_string_equal(followed.changes.data, "+n4\n+n3\n"); /* by partition */
    buf_release(&followed.changes);
    buf_release(&of_dump);
    buf_init(&of_dump, TEXT_MOST);
    must(index_position(served.client, &of_dump, &why), &why);
    assert_true(slice_equal(buf_slice(&position), buf_slice(&of_dump)));
    buf_release(&of_dump);
    assert_int_equal(follow(&followed,
                            &(const struct index_follow_options){.since = SLICE("0:1.1,1:1.1")},
                            &why),
                     STATUS_MISUSE);
    buf_release(&followed.changes);
}

static void
only_the_graphs_that_are_wanted_come(void **state)
{
    (void)state;
    struct followed followed = {.last = 0};
    struct reason why = {""};
    char uri[SERVED_URI];
    char *const large = malloc(GRAPHS_BYTES);
    for (unsigned i = 0; i < 4; i++) {
        insert(i, i % 2);
    }
    const struct slice graph = slice_string(served_graph(&served, 1, 0, uri));
    must(follow(&followed, &(const struct index_follow_options){.graphs = &graph, .graph_count = 1},
                &why),
         &why);
    assert_string_equal(followed.changes.data, "+n1\n+n3\n");
    assert_int_equal(followed.documents, 2);
    buf_release(&followed.changes);
    memset(large, 'x', GRAPHS_BYTES);
    const struct slice too_long = slice_of(large, GRAPHS_BYTES);
    for (int goes_on = 0; goes_on < 2; goes_on++) {
        assert_int_equal(follow(&followed,
                                &(const struct index_follow_options){
                                    .graphs = &too_long, .graph_count = 1, .follow = goes_on},
                                &why),
                         STATUS_LIMIT);
        assert_string_equal(why.text, "too many graphs");
        buf_release(&followed.changes);
    }
    free(large);
}

static void
take_links(void *context, enum status status, const struct index_link *links, size_t n,
           const struct reason *why)
{
    (void)links, (void)n, (void)why;
    *(enum status *)context = status;
}

static void
shares_that_were_moved_get_their_graphs(void **state)
{
    (void)state;
    static uint16_t owners[PARTITIONS];
    struct index_client *client;
    struct reason why = {""};
    struct partition_stats stats;
    int descriptors[PARTITIONS_SERVED + 1] = {-1, -1, -1, -1};
    for (size_t i = 0; i < PARTITIONS; i++) {
        owners[i] = 2;
    }
    const struct index_client_options options = {.endpoints = served.endpoints,
                                                 .count = PARTITIONS_SERVED,
                                                 .owner_of_partition = owners,
                                                 .name = "moved"};
    must(index_client_open(&client, &options, &why), &why);
    memset(owners, 0, sizeof owners); /* it has a copy */
    const struct index_update_options usual = {0};
    must(index_update(client,
                      SLICE("INSERT DATA { GRAPH <a:a> { <a:s> <a:p> 1 } GRAPH <a:b> { <a:s> <a:p> "
                            "2 } GRAPH <a:c> { <a:s> <a:p> 3 } GRAPH <a:d> { <a:s> <a:p> 4 } }"),
                      &usual, NULL, &why),
         &why);
    for (size_t i = 0; i < PARTITIONS_SERVED; i++) {
        partition_stats(served.partitions[i], &stats);
        assert_int_equal(stats.totals.quads, i == 2 ? 4 : 0);
    }
    assert_int_equal(index_client_partitions(client), PARTITIONS_SERVED);
    assert_int_equal(index_client_descriptors(client, descriptors, 2), 2);
    assert_int_equal(descriptors[2], -1);
    assert_int_equal(index_client_descriptors(client, descriptors, PARTITIONS_SERVED + 1),
                     PARTITIONS_SERVED);
    assert_true(descriptors[0] >= 0 && descriptors[1] >= 0 && descriptors[2] >= 0);
    assert_true(descriptors[0] != descriptors[1] && descriptors[1] != descriptors[2]);
    assert_int_equal(descriptors[3], -1);
    /* What is wanted is asked for at once; an answer that nobody waits for is cancelled. */
    enum status status = STATUS_OK;
    assert_int_not_equal(index_client_wait_ms(client), 0);
    index_links(client, SLICE("a:a"), take_links, &status);
    assert_int_equal(index_client_wait_ms(client), 0);
    index_client_close(client);
    assert_int_equal(status, STATUS_CANCELLED);
}

/* ---- setup ---- */

static int
set_up(void **state)
{
    (void)state;
    if (!scratch_folder(folder, "follower")) {
        return -1;
    }
    struct reason why = {""};
    buf_init(&text, SERVED_ANSWER);
    buf_init(&position, TEXT_MOST);
    memset(&fault, 0, sizeof fault);
    served_start(&served, folder, PARTITIONS_SERVED);
    const struct index_client_options options = {
        .endpoints = served.endpoints, .count = served.count, .name = "writer"};
    must(index_client_open(&writer, &options, &why), &why);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    index_client_close(writer);
    served_stop(&served);
    buf_release(&text);
    buf_release(&position);
    fixture_run("rm -rf %s%s", folder, "");
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(changes_come_once_as_they_are_made),      TEST(outages_are_waited_for),
        TEST(a_dump_and_the_changes_since_are_all),    TEST(only_the_graphs_that_are_wanted_come),
        TEST(shares_that_were_moved_get_their_graphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
