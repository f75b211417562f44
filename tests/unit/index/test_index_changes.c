/* Who applies the change log to a dump has what the index has: through replacements, removals,
 * patches, new starts, and a log that is too short. */
#include "index/changes/change_log.h"
#include "tests/unit/index/index_fixture.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zmq.h>

#include "index/serve/change_lines.h"
#include "index/serve/publisher.h"
#include "tests/unit/index/index_change_log.h"
#include "tests/unit/index/index_mirror.h"
#include "tests/unit/own_address.h"
#include "tests/unit/scratch.h"

enum { DOCUMENTS = 30, CACHE = 4 << 20, TEXT = MIRROR_MAXIMUM };

static char folder[SCRATCH_SIZE];
static struct partition *partition;

static void
open_with(uint64_t change_bytes)
{
    struct partition_options options;
    struct reason why = {""};
    fixture_options(&options, folder);
    options.cache_bytes = CACHE;
    options.change_bytes = change_bytes;
    must(partition_open(&partition, &options, &why), &why);
}

static int
open_index(void **state)
{
    (void)state;
    assert_true(scratch_folder(folder, "test_index_changes"));
    open_with(1 << 20);
    return 0;
}

static int
close_index(void **state)
{
    (void)state;
    partition_close(partition);
    fixture_run("rm -r %s%s", folder, "");
    return 0;
}

static void
put_batch(uint64_t generation, unsigned documents, unsigned quads)
{
    struct reason why = {""};
    struct buf text;
    buf_init(&text, TEXT);
    struct index_batch *batch = index_batch_new(partition);
    for (unsigned i = 0; i < documents; i++) {
        buf_reset(&text);
        if (random_number() % 5 != 0) {
            fixture_document(i, 1 + (unsigned)(random_number() % quads), &text);
        }
        (void)fixture_add(batch, i, generation, &text);
    }
    must(index_batch_commit(batch, &why), &why);
    index_batch_free(batch);
    buf_release(&text);
}

static enum status
read_changes(const struct change_position *since, struct buf *text, struct reason *why)
{
    struct change_request request = {.since = *since};
    buf_reset(text);
    return partition_changes(partition, &request, fixture_append, text, why);
}

/* Catches up and compares with the index. */
static void
follow(struct mirror *mirror)
{
    struct reason why = {""};
    struct buf text, dump;
    buf_init(&text, TEXT);
    buf_init(&dump, TEXT);
    must(read_changes(&mirror->position, &text, &why), &why);
    for (struct slice rest = buf_slice(&text); rest.length > 0;) {
        rest = apply_batch(mirror, rest);
    }
    fixture_dump(partition, folder, &dump);
    assert_true(slice_equal(buf_slice(&dump), buf_slice(&mirror->lines)));
    struct change_position last;
    partition_position(partition, &last, NULL);
    assert_int_equal(last.batch, mirror->position.batch);
    assert_int_equal(last.stamp, mirror->position.stamp);
    buf_release(&text);
    buf_release(&dump);
}

static void
begin_with_dump(struct mirror *mirror)
{
    struct reason why = {""};
    buf_reset(&mirror->lines);
    must(partition_dump(partition, true, folder, 1 << 20, fixture_append, &mirror->lines, &why),
         &why);
    const struct slice text = buf_slice(&mirror->lines);
    const size_t end = slice_find(text, '\n');
    assert_true(slice_starts(text, SLICE("position\t")));
    assert_true(change_position_get(slice_of(text.at + 9, end - 9), &mirror->position));
    buf_reset(&mirror->next);
    (void)buf_append(&mirror->next, text.at + end + 1, text.length - end - 1);
    const struct buf swap = mirror->lines;
    mirror->lines = mirror->next;
    mirror->next = swap;
}

/* ---- tests ---- */

static void
a_mirror_stays_equal(void **state)
{
    (void)state;
    struct mirror whole, later;
    mirror_init(&whole);
    mirror_init(&later);
    for (uint64_t generation = 1; generation <= 12; generation++) {
        put_batch(generation, DOCUMENTS, generation % 3 == 0 ? 300 : 20);
        if (generation % 3 != 1) {
            follow(&whole);
        }
        if (generation == 5) {
            begin_with_dump(&later);
        } else if (generation > 5) {
            follow(&later);
        }
        if (generation % 4 == 0) {
            partition_close(partition);
            open_with(1 << 20);
        }
    }
    fixture_verify(partition, folder);
    mirror_release(&whole);
    mirror_release(&later);
}

static void
a_batch_without_changes_moves_the_position(void **state)
{
    (void)state;
    struct mirror mirror;
    mirror_init(&mirror);
    put_batch(1, 3, 5);
    follow(&mirror);
    struct buf text;
    struct reason why = {""};
    buf_init(&text, TEXT);
    fixture_document(50, 5, &text);
    for (uint64_t generation = 1; generation <= 2; generation++) {
        struct index_batch *batch = index_batch_new(partition);
        (void)fixture_add(batch, 50, generation, &text);
        must(index_batch_commit(batch, &why), &why);
        index_batch_free(batch);
        follow(&mirror);
    }
    assert_int_equal(mirror.position.batch, 3);
    buf_release(&text);
    mirror_release(&mirror);
}

static void
only_the_latest_changes_are_kept(void **state)
{
    (void)state;
    struct mirror mirror;
    struct reason why = {""};
    struct buf text;
    mirror_init(&mirror);
    buf_init(&text, TEXT);
    partition_close(partition);
    open_with(16 << 10);
    const struct change_position beginning = {0, 0};
    struct change_position last;
    uint64_t first = 0;
    for (uint64_t generation = 1; first == 0; generation++) {
        put_batch(generation, DOCUMENTS, 20);
        partition_position(partition, &last, &first);
        assert_true(generation < 100);
    }
    assert_true(first < last.batch);
    assert_int_equal(read_changes(&beginning, &text, &why), STATUS_STALE);
    assert_non_null(strstr(why.text, "dump again"));
    begin_with_dump(&mirror);
    put_batch(200, DOCUMENTS, 60); /* so large that it is counted first; it fits */
    follow(&mirror);
    fixture_verify(partition, folder);

    /* A batch that does not fit alone leaves an empty log. */
    put_batch(201, DOCUMENTS, 6000);
    partition_position(partition, &last, &first);
    assert_int_equal(first, last.batch);
    assert_int_equal(read_changes(&mirror.position, &text, &why), STATUS_STALE);
    fixture_verify(partition, folder);
    begin_with_dump(&mirror);
    put_batch(202, 2, 10);
    follow(&mirror);

    /* Switched off, and on again. */
    partition_close(partition);
    open_with(0);
    put_batch(203, 2, 10);
    assert_int_equal(read_changes(&mirror.position, &text, &why), STATUS_STALE);
    partition_close(partition);
    open_with(1 << 20);
    begin_with_dump(&mirror);
    put_batch(204, 2, 10);
    follow(&mirror);
    fixture_verify(partition, folder);
    buf_release(&text);
    mirror_release(&mirror);
}

static void
another_history_is_told_apart(void **state)
{
    (void)state;
    struct mirror mirror;
    struct reason why = {""};
    struct buf text;
    char command[256];
    mirror_init(&mirror);
    buf_init(&text, TEXT);
    put_batch(1, DOCUMENTS, 20);
    partition_close(partition);
    snprintf(command, sizeof(command), "cp -r %s %s.copy", folder, folder);
    assert_int_equal(system(command), 0);
    open_with(1 << 20);
    put_batch(2, DOCUMENTS, 20);
    follow(&mirror);
    partition_close(partition);
    snprintf(command, sizeof(command), "rm -r %s && mv %s.copy %s", folder, folder, folder);
    assert_int_equal(system(command), 0);
    open_with(1 << 20);
    assert_int_equal(read_changes(&mirror.position, &text, &why), STATUS_STALE);
    put_batch(3, DOCUMENTS, 20);
    assert_int_equal(read_changes(&mirror.position, &text, &why), STATUS_STALE);
    put_batch(4, DOCUMENTS, 20);
    assert_int_equal(read_changes(&mirror.position, &text, &why), STATUS_STALE);
    assert_non_null(strstr(why.text, "history"));
    buf_release(&text);
    mirror_release(&mirror);
}

static void
changes_of_some_graphs(void **state)
{
    (void)state;
    struct reason why = {""};
    struct buf text;
    char uri[64];
    buf_init(&text, TEXT);
    put_batch(1, DOCUMENTS, 20);
    put_batch(2, DOCUMENTS, 20);
    fixture_uri(4, uri);
    const struct slice graph = slice_string(uri);
    struct change_request request = {.graphs = &graph, .graph_count = 1};
    must(partition_changes(partition, &request, fixture_append, &text, &why), &why);
    assert_int_equal(request.since.batch, 2);
    struct slice *lines;
    const size_t count = split(buf_slice(&text), &lines);
    char end[80];
    snprintf(end, sizeof(end), " <%s> .\n", uri);
    size_t quads = 0;
    for (size_t i = 0; i < count; i++) {
        if (lines[i].at[0] == '+' || lines[i].at[0] == '-') {
            const struct slice tail =
                slice_of(lines[i].at + lines[i].length - strlen(end), strlen(end));
            assert_true(slice_is(tail, end));
            quads++;
        }
    }
    assert_true(quads > 0);
    free(lines);
    buf_release(&text);
}

static void
put_one(unsigned document, uint64_t generation, const char *quads)
{
    struct reason why = {""};
    struct buf text;
    struct index_batch *batch = index_batch_new(partition);
    buf_init(&text, TEXT);
    (void)buf_append_string(&text, quads);
    (void)fixture_add(batch, document, generation, &text);
    must(index_batch_commit(batch, &why), &why);
    index_batch_free(batch);
    buf_release(&text);
}

/* Lines of the document's last change, but for that of the batch before. */
static enum status
read_last(unsigned document, struct buf *text, struct reason *why)
{
    char uri[64];
    fixture_uri(document, uri);
    buf_reset(text);
    const enum status status =
        partition_last_change(partition, slice_string(uri), fixture_append, text, why);
    (void)buf_append(text, "", 1);
    return status;
}

#define S "<http://s.example/> <http://p.example/> "

static void
the_last_change_of_a_document_is_found(void **state)
{
    (void)state;
    struct reason why = {""};
    struct buf text;
    char uri[64], line[400];
    buf_init(&text, TEXT);
    put_one(70, 1, S "\"a\" .\n" S "\"b\" .\n");
    must(read_last(70, &text, &why), &why);
    fixture_uri(70, uri);
    assert_int_equal(strncmp(text.data, "B\t1.", 4), 0);
    snprintf(line, sizeof(line), "\nG\t1\t%s\n+" S "\"a\" <%s> .\n+" S "\"b\" <%s> .\nC\t1.", uri,
             uri, uri);
    assert_non_null(strstr(text.data, line));

    put_one(70, 2, S "\"b\" .\n" S "\"c\" .\n");
    for (uint64_t generation = 3; generation < 30; generation++) {
        put_one(70, generation, S "\"b\" .\n" S "\"c\" .\n"); /* no change */
        put_batch(generation, DOCUMENTS, 20);
    }
    must(read_last(70, &text, &why), &why);
    assert_int_equal(strncmp(text.data, "B\t2.", 4), 0);
    assert_non_null(strstr(text.data, "\nG\t2\t"));
    snprintf(line, sizeof(line), "-" S "\"a\" <%s> .\n", uri);
    assert_non_null(strstr(text.data, line));
    snprintf(line, sizeof(line), "+" S "\"c\" <%s> .\nC\t2.", uri);
    assert_non_null(strstr(text.data, line));
    assert_null(strstr(text.data, "\"b\""));

    put_one(70, 40, ""); /* gone */
    must(read_last(70, &text, &why), &why);
    assert_null(strstr(text.data, "\n+"));
    assert_non_null(strstr(text.data, "\n-" S "\"b\""));
    must(read_last(71, &text, &why), &why);
    assert_string_equal(text.data, "");
    buf_release(&text);
}

static void
a_last_change_that_is_not_kept_is_told(void **state)
{
    (void)state;
    struct reason why = {""};
    struct buf text;
    struct change_position last;
    uint64_t first = 0;
    buf_init(&text, TEXT);
    partition_close(partition);
    open_with(16 << 10);
    put_one(70, 1, S "\"a\" .\n");
    for (uint64_t generation = 1; first < 2; generation++) {
        put_batch(generation, DOCUMENTS, 20);
        partition_position(partition, &last, &first);
        assert_true(generation < 100);
    }
    assert_int_equal(read_last(70, &text, &why), STATUS_STALE);
    assert_non_null(strstr(why.text, "is no longer kept"));
    assert_string_equal(text.data, "");
    put_one(70, 2, S "\"b\" .\n");
    must(read_last(70, &text, &why), &why);
    put_batch(200, DOCUMENTS, 6000); /* so large that the log is empty */
    assert_int_equal(read_last(70, &text, &why), STATUS_STALE);
    partition_close(partition);
    open_with(0);
    put_one(70, 3, S "\"c\" .\n");
    assert_int_equal(read_last(70, &text, &why), STATUS_STALE);
    buf_release(&text);
}

static void
positions_are_read_as_written(void **state)
{
    (void)state;
    struct reason why = {""};
    struct change_position positions[2];
    struct buf text;
    buf_init(&text, 1 << 10);
    const struct slice good = SLICE("0:124.19aef3b21c0,1:18446744073709551615.0");
    must(change_positions_get(good, positions, 2, &why), &why);
    change_positions_put(&text, positions, 2);
    assert_true(slice_equal(buf_slice(&text), good));
    static const char *const bad[] = {"",
                                      "0:1.2",
                                      "0:1.2,",
                                      "0:1,1:2",
                                      "1:1.2,0:1.2",
                                      "0:1.2,1:18446744073709551616.0",
                                      "0:1.G,1:1.2",
                                      "0:1.2,1:1.2,2:1.2",
                                      "0:1.2,1:1.2 "};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(change_positions_get(slice_string(bad[i]), positions, 2, &why),
                         STATUS_MISUSE);
    }
    buf_release(&text);
}

/* ---- publishing ---- */

static void *
subscribe(void *context, const char *endpoint, const char *topic, const struct rpc_keys *keys)
{
    const int wait = 120000;
    void *socket = zmq_socket(context, ZMQ_SUB);
    assert_non_null(socket);
    assert_int_equal(zmq_setsockopt(socket, ZMQ_RCVTIMEO, &wait, sizeof(wait)), 0);
    if (keys != NULL) {
        assert_int_equal(zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, keys->server_public, 40), 0);
        assert_int_equal(zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, keys->own_public, 40), 0);
        assert_int_equal(zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, keys->own_secret, 40), 0);
    }
    assert_int_equal(zmq_setsockopt(socket, ZMQ_SUBSCRIBE, topic, strlen(topic)), 0);
    assert_int_equal(zmq_connect(socket, endpoint), 0);
    return socket;
}

/* The next frame as text; false when none comes. */
static bool
receive(void *socket, struct buf *frame)
{
    zmq_msg_t message;
    zmq_msg_init(&message);
    buf_reset(frame);
    const bool come = zmq_msg_recv(&message, socket, 0) >= 0;
    if (come) {
        (void)buf_append(frame, zmq_msg_data(&message), zmq_msg_size(&message));
    }
    (void)buf_append_char(frame, '\0');
    zmq_msg_close(&message);
    return come;
}

/* A message has changes of the document that it is of, and not many bytes more than 64 KiB. */
static void
check_patch(const char *topic, struct slice patch)
{
    enum { PATCH_MOST = (64 << 10) + 512 };
    char graph[128];
    const int length = snprintf(graph, sizeof graph, " <%s> .", topic);
    assert_true(patch.length <= PATCH_MOST);
    while (patch.length > 0) {
        const struct slice line = slice_take(&patch, '\n');
        assert_true(line.length > (size_t)length && (line.at[0] == '+' || line.at[0] == '-'));
        assert_memory_equal(line.at + line.length - (size_t)length, graph, (size_t)length);
    }
}

/* All messages of one batch; their patches come together in text. Returns how many there were. */
static unsigned
receive_batch(void *socket, const char *topic_prefix, char position[64], struct buf *text)
{
    struct buf frame;
    char previous[64] = "";
    char reached[64] = "";
    char topic[128];
    char more = '+';
    unsigned count = 0;
    buf_init(&frame, TEXT);
    while (more == '+') {
        unsigned number = 0;
        assert_true(receive(socket, &frame));
        assert_int_equal(strncmp(frame.data, topic_prefix, strlen(topic_prefix)), 0);
        snprintf(topic, sizeof topic, "%s", frame.data);
        assert_true(receive(socket, &frame));
        assert_int_equal(sscanf(frame.data, "%63s %63s %u %c", reached, previous, &number, &more),
                         4);
        count++;
        assert_int_equal(number, count);
        assert_true(position[0] == '\0' || strcmp(previous, position) == 0);
        assert_true(receive(socket, &frame));
        check_patch(topic, slice_of(frame.data, frame.length - 1));
        (void)buf_append(text, frame.data, frame.length - 1);
    }
    strcpy(position, reached);
    buf_release(&frame);
    return count;
}

static bool
has_come(void *socket)
{
    zmq_pollitem_t item = {.socket = socket, .events = ZMQ_POLLIN};
    return zmq_poll(&item, 1, 50) > 0;
}

/* The number in "PARTITION:BATCH.HISTORY"; 0 in "". */
static uint64_t
batch_of(const char *position)
{
    const char *batch = strchr(position, ':');
    return batch != NULL ? strtoull(batch + 1, NULL, 10) : 0;
}

static void
subscribers_get_all_batches(void **state)
{
    (void)state;
    struct reason why = {""};
    struct publisher *publisher;
    struct buf text, lines;
    char endpoint[128], public_key[RPC_KEY_SIZE], secret_key[RPC_KEY_SIZE];
    char position[2][64] = {"", ""};
    char address[OWN_ADDRESS_SIZE], tcp[64];
    own_address(address);
    snprintf(tcp, sizeof(tcp), "tcp://%s", address);
    buf_init(&text, TEXT);
    buf_init(&lines, TEXT);
    must(rpc_keys_make(public_key, secret_key, &why), &why);
    const struct rpc_keys keys = {
        .server_public = public_key, .own_public = public_key, .own_secret = secret_key};
    snprintf(endpoint, sizeof(endpoint), "ipc://%s/changes.sock", folder);
    const char *const endpoints[] = {endpoint, tcp, NULL};
    must(publisher_start(&publisher, partition, 3, endpoints, &keys, &why), &why);
    void *context = zmq_ctx_new();
    void *sockets[] = {subscribe(context, endpoint, "", NULL), subscribe(context, tcp, "", &keys)};
    struct change_position before, after;
    uint64_t generation = 1;
    while (!has_come(sockets[0]) || !has_come(sockets[1])) { /* subscriptions take their way */
        put_batch(generation++, DOCUMENTS, 20);
        publisher_wake(publisher);
    }
    put_batch(generation++, DOCUMENTS, 20); /* which both get */
    publisher_wake(publisher);
    partition_position(partition, &after, NULL);
    for (size_t i = 0; i < 2; i++) {
        while (batch_of(position[i]) != after.batch) {
            buf_reset(&text);
            (void)receive_batch(sockets[i], "", position[i], &text);
        }
    }
    const uint64_t first = generation;
    for (; generation < first + 3; generation++) {
        partition_position(partition, &before, NULL);
        put_batch(generation, generation == first + 1 ? 0 : DOCUMENTS,
                  generation == first + 2 ? 900 : 20);
        partition_position(partition, &after, NULL);
        if (after.batch == before.batch) {
            continue; /* without documents there is no batch */
        }
        publisher_wake(publisher);
        must(read_changes(&before, &lines, &why), &why);
        for (size_t i = 0; i < 2; i++) {
            buf_reset(&text);
            assert_true(receive_batch(sockets[i], "", position[i], &text) > 1);
            struct slice *wanted;
            size_t at = 0;
            const size_t count = split(buf_slice(&lines), &wanted);
            for (size_t k = 0; k < count; k++) {
                if (wanted[k].at[0] == '+' || wanted[k].at[0] == '-') {
                    assert_true(at + wanted[k].length <= text.length);
                    assert_memory_equal(text.data + at, wanted[k].at, wanted[k].length);
                    at += wanted[k].length;
                }
            }
            assert_int_equal(at, text.length);
            free(wanted);
        }
    }
    zmq_close(sockets[0]);
    zmq_close(sockets[1]);
    zmq_ctx_term(context);
    publisher_stop(publisher);
    buf_release(&text);
    buf_release(&lines);
}

/* Who gives back what he never had does no harm. */
static void
what_never_was_is_let_go(void **state)
{
    (void)state;
    change_log_close(NULL);
    publisher_stop(NULL);
    publisher_wake(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_mirror_stays_equal, open_index, close_index),
        cmocka_unit_test_setup_teardown(a_batch_without_changes_moves_the_position, open_index,
                                        close_index),
        cmocka_unit_test_setup_teardown(only_the_latest_changes_are_kept, open_index, close_index),
        cmocka_unit_test_setup_teardown(another_history_is_told_apart, open_index, close_index),
        cmocka_unit_test_setup_teardown(changes_of_some_graphs, open_index, close_index),
        cmocka_unit_test_setup_teardown(the_last_change_of_a_document_is_found, open_index,
                                        close_index),
        cmocka_unit_test_setup_teardown(a_last_change_that_is_not_kept_is_told, open_index,
                                        close_index),
        cmocka_unit_test_setup_teardown(subscribers_get_all_batches, open_index, close_index),
        cmocka_unit_test(positions_are_read_as_written),
        cmocka_unit_test(what_never_was_is_let_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) + index_change_log_run();
}
