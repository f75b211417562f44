/* WARC bytes for other nodes: exact ranges, in pieces, of files of the archive alone, and nothing
 * for whoever has not the cluster's keys. And reads of a node that does not answer. */
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/codec.h"
#include "base/system/file.h"
#include "metastore/archive_link.h"
#include "metastore/metastore_client.h"
#include "metastore/metastore_service.h"
#include "metastore/protocol.h"
#include "metastore/store.h"
#include "tests/unit/open_descriptors.h"
#include "tests/unit/own_address.h"
#include "tests/unit/scratch.h"

enum { LARGE = 2 * ARCHIVE_PIECE + 12345, REFUSED_MS = 400 };

static struct {
    char folder[SCRATCH_SIZE], warc[SCRATCH_SIZE + 8], store[SCRATCH_SIZE + 8], endpoint[64];
    char public_key[RPC_KEY_SIZE], secret_key[RPC_KEY_SIZE];
    struct rpc_keys keys;
    atomic_bool stop, ready;
    pthread_t thread;
    struct buf member;
    char *content;
    struct archive_keep *keep;
} fixture;

/* The daemon's service over a real store. */
static void *
serve(void *context)
{
    const char *const endpoints[] = {fixture.endpoint, NULL};
    const struct meta_store_options options = {
        .folder = fixture.store, .cache_bytes = 1 << 20, .checkpoint_bytes = 1 << 20};
    struct meta_store *store = NULL;
    struct meta_service *service = NULL;
    struct rpc_server *server = NULL;
    struct reason why = {""};
    bool more;
    (void)context;
    if (meta_store_open(&store, &options, &why) != STATUS_OK ||
        rpc_server_open(&server, endpoints, &fixture.keys, &why) != STATUS_OK ||
        meta_service_open(&service, store, server, &why) != STATUS_OK) {
        fprintf(stderr, "%s\n", why.text);
        abort();
    }
    meta_service_serve_archive(service, fixture.warc, fixture.keep);
    atomic_store(&fixture.ready, true);
    while (!atomic_load(&fixture.stop) && meta_service_turn(service, &more, &why) == STATUS_OK) {
        struct pollfd input = {.fd = rpc_server_descriptor(server), .events = POLLIN};
        (void)poll(&input, 1, more ? 0 : 20);
    }
    meta_service_free(service);
    rpc_server_close(server);
    meta_store_close(store);
    return NULL;
}

static int
start(void **state)
{
    struct reason why = {""};
    char path[128], address[OWN_ADDRESS_SIZE];
    (void)state;
    if (!scratch_folder(fixture.folder, "archive") ||
        rpc_keys_make(fixture.public_key, fixture.secret_key, &why) != STATUS_OK) {
        return -1;
    }
    snprintf(fixture.warc, sizeof fixture.warc, "%s/warc", fixture.folder);
    snprintf(fixture.store, sizeof fixture.store, "%s/store", fixture.folder);
    own_address(address);
    snprintf(fixture.endpoint, sizeof fixture.endpoint, "tcp://%s", address);
    fixture.keys = (struct rpc_keys){.server_public = fixture.public_key,
                                     .own_public = fixture.public_key,
                                     .own_secret = fixture.secret_key};
    assert_int_equal(mkdir(fixture.warc, 0700), 0);
    fixture.content = malloc(LARGE);
    for (size_t i = 0; i < LARGE; i++) {
        fixture.content[i] = (char)(i * i >> 7);
    }
    snprintf(path, sizeof path, "%s/large.warc.gz", fixture.warc);
    const int file = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(file_write_all(file, slice_of(fixture.content, LARGE)));
    close(file);
    snprintf(path, sizeof path, "%s/link", fixture.warc);
    assert_int_equal(symlink("large.warc.gz", path), 0);
    snprintf(path, sizeof path, "%s/fifo", fixture.warc);
    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(path, sizeof path, "%s/folder", fixture.warc);
    assert_int_equal(mkdir(path, 0700), 0);
    buf_init(&fixture.member, 2 * LARGE);
    const struct warc_writer_options keep = {
        .prefix = "test", .node = "a", .process = "helpers", .size = LARGE, .level = 1};
    fixture.keep = archive_keep_new(fixture.warc, &keep);
    assert_int_equal(pthread_create(&fixture.thread, NULL, serve, NULL), 0);
    while (!atomic_load(&fixture.ready)) {
        usleep(1000);
    }
    return 0;
}

static int
end(void **state)
{
    char command[128];
    (void)state;
    atomic_store(&fixture.stop, true);
    pthread_join(fixture.thread, NULL);
    archive_keep_free(fixture.keep);
    buf_release(&fixture.member);
    free(fixture.content);
    snprintf(command, sizeof command, "rm -rf %s", fixture.folder);
    return system(command);
}

static void
ranges_come_exactly(void **state)
{
    (void)state;
    static const struct {
        uint64_t offset, length;
        enum status status;
    } cases[] = {{0, 1, STATUS_OK},
                 {0, LARGE, STATUS_OK},
                 {17, 2 * ARCHIVE_PIECE, STATUS_OK},
                 {ARCHIVE_PIECE - 1, 2, STATUS_OK},
                 {LARGE - 1, 1, STATUS_OK},
                 {LARGE - 1, 2, STATUS_CORRUPT},
                 {LARGE, 1, STATUS_CORRUPT},
                 {1, LARGE, STATUS_CORRUPT},
                 {UINT64_MAX, 1, STATUS_PROTOCOL},
                 {0, 0, STATUS_LIMIT},
                 {0, 2 * LARGE + 1, STATUS_LIMIT}};
    struct archive_link *link;
    struct reason why = {""};
    assert_int_equal(archive_link_open(&link, fixture.endpoint, &fixture.keys, &why), STATUS_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct archive_range range = {SLICE("large.warc.gz"), cases[i].offset,
                                            cases[i].length};
        assert_int_equal(archive_link_read(link, &range, &fixture.member, &why), cases[i].status);
        if (cases[i].status == STATUS_OK) {
            assert_int_equal(fixture.member.length, cases[i].length);
            assert_memory_equal(fixture.member.data, fixture.content + cases[i].offset,
                                cases[i].length);
        }
    }
    archive_link_close(link);
}

/* Several ranges by one message, of several files; what one cannot have nobody gets. */
static void
many_ranges_come_by_one_message(void **state)
{
    (void)state;
    enum { N = 300 };
    const struct slice large = SLICE("large.warc.gz"), other = SLICE("other.warc.gz");
    struct archive_range ranges[N];
    struct archive_link *link;
    struct reason why = {""};
    char path[128];
    snprintf(path, sizeof path, "%s/other.warc.gz", fixture.warc);
    const int file = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(file_write_all(file, slice_of(fixture.content + 1000, 1000)));
    close(file);
    assert_int_equal(archive_link_open(&link, fixture.endpoint, &fixture.keys, &why), STATUS_OK);
    for (size_t i = 0; i < N; i++) {
        ranges[i] = i % 7 == 3 ? (struct archive_range){other, i, 500}
                               : (struct archive_range){large, i * 5000, 1 + i};
    }
    assert_int_equal(archive_link_read_ranges(link, ranges, N, &fixture.member, &why), STATUS_OK);
    size_t at = 0;
    for (size_t i = 0; i < N; i++) {
        const char *should = fixture.content + ranges[i].offset + (i % 7 == 3 ? 1000 : 0);
        assert_memory_equal(fixture.member.data + at, should, ranges[i].length);
        at += (size_t)ranges[i].length;
    }
    assert_int_equal(fixture.member.length, at);
    const struct archive_range whole = {large, 0, ARCHIVE_PIECE / 2};
    const struct {
        struct archive_range second, third;
        enum status status;
    } cases[] = {
        {{large, 9, ARCHIVE_PIECE / 2 - 1}, {large, 0, 1}, STATUS_OK},
        {{large, 9, ARCHIVE_PIECE / 2}, {large, 0, 1}, STATUS_PROTOCOL},
        {{SLICE("missing.warc.gz"), 0, 1}, {large, 0, 1}, STATUS_NOT_FOUND},
        {{large, 0, 1}, {other, 999, 2}, STATUS_CORRUPT},
        {{large, 0, 1}, {other, 999, 1}, STATUS_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct archive_range three[] = {whole, cases[i].second, cases[i].third};
        assert_int_equal(archive_link_read_ranges(link, three, 3, &fixture.member, &why),
                         cases[i].status);
    }
    archive_link_close(link);
}

static void
nothing_but_files_of_the_archive(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum status at_client, at_daemon;
    } cases[] = {{"missing.warc.gz", STATUS_NOT_FOUND, STATUS_NOT_FOUND},
                 {"link", STATUS_NOT_FOUND, STATUS_NOT_FOUND},
                 {"fifo", STATUS_NOT_FOUND, STATUS_NOT_FOUND},
                 {"folder", STATUS_NOT_FOUND, STATUS_NOT_FOUND},
                 {"../store/records.db", STATUS_MISUSE, STATUS_PROTOCOL},
                 {"..", STATUS_MISUSE, STATUS_PROTOCOL},
                 {"/etc/passwd", STATUS_MISUSE, STATUS_PROTOCOL},
                 {"", STATUS_MISUSE, STATUS_PROTOCOL}};
    struct archive_link *link;
    struct reason why = {""};
    struct buf request;
    buf_init(&request, 4096);
    assert_int_equal(archive_link_open(&link, fixture.endpoint, &fixture.keys, &why), STATUS_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct slice name = slice_string(cases[i].name);
        const struct archive_range range = {name, 0, 1};
        assert_int_equal(archive_link_read(link, &range, &fixture.member, &why),
                         cases[i].at_client);
        buf_reset(&request);
        codec_put_slice(&request, name);
        codec_put_varint(&request, 0);
        codec_put_varint(&request, 1);
        assert_int_equal(archive_answer(fixture.warc, buf_slice(&request), &fixture.member, &why),
                         cases[i].at_daemon);
    }
    /* More than a piece, cut off, and with something behind. */
    buf_reset(&request);
    codec_put_slice(&request, SLICE("large.warc.gz"));
    codec_put_varint(&request, 0);
    codec_put_varint(&request, ARCHIVE_PIECE + 1);
    assert_int_equal(archive_answer(fixture.warc, buf_slice(&request), &fixture.member, &why),
                     STATUS_PROTOCOL);
    request.length -= 4;
    assert_int_equal(archive_answer(fixture.warc, buf_slice(&request), &fixture.member, &why),
                     STATUS_PROTOCOL);
    buf_append_string(&request, "\1\1\1");
    assert_int_equal(archive_answer(fixture.warc, buf_slice(&request), &fixture.member, &why),
                     STATUS_PROTOCOL);
    buf_release(&request);
    archive_link_close(link);
}

/* ---- records that others have kept ---- */

struct put {
    bool ended;
    enum status status;
    struct warc_location location;
};

static void
put(void *context, enum status status, const struct warc_location *location,
    const struct reason *why)
{
    struct put *put = context;
    (void)why;
    *put = (struct put){.ended = true, .status = status};
    if (status == STATUS_OK) {
        put->location = *location;
    }
}

/* What a process without an archive makes is a record of the daemon's; sent again it is the same.
 */
static void
records_are_kept(void **state)
{
    (void)state;
    enum { N = 3 };
    const struct slice bodies[N] = {SLICE("<http://a/> <http://b/> \"1\" .\n"), SLICE(""),
                                    SLICE("<http://a/> <http://b/> \"3\" .\n")};
    const struct warc_writer_options options = {
        .prefix = "none", .node = "b", .process = "transform.1", .size = LARGE, .level = 1};
    const char *endpoints[] = {fixture.endpoint};
    const struct metastore_client_options client_options = {
        .endpoints = endpoints, .endpoint_count = 1, .name = "keeper", .keys = &fixture.keys};
    struct metastore_client *client;
    struct warc_writer *maker;
    struct warc_reader *reader;
    struct buf members[N], memory;
    char ids[N][WARC_ID_SIZE], folder[SCRATCH_SIZE + 16];
    struct put puts[N + 1];
    struct reason why = {""};
    snprintf(folder, sizeof folder, "%s/maker", fixture.folder);
    assert_int_equal(warc_writer_open(&maker, folder, &options, &why), STATUS_OK);
    assert_int_equal(metastore_client_open(&client, &client_options, &why), STATUS_OK);
    for (size_t i = 0; i < N; i++) {
        const struct warc_conversion conversion = {.uri = SLICE("http://h.example/"),
                                                   .refers_to = SLICE("urn:uuid:of-the-answer"),
                                                   .content_type = SLICE("application/n-quads"),
                                                   .body = bodies[i]};
        struct slice member;
        assert_int_equal(warc_pack_conversion(maker, &conversion, ids[i], &member, &why),
                         STATUS_OK);
        buf_init(&members[i], LARGE);
        assert_true(buf_append_slice(&members[i], member) == STATUS_OK);
    }
    memset(puts, 0, sizeof puts);
    for (size_t i = 0; i < N + 1; i++) {
        metastore_keep(client, 0, ids[i % N], buf_slice(&members[i % N]), put, &puts[i]);
    }
    for (size_t i = 0; i < N + 1;) {
        metastore_wait(client, 1000);
        i += puts[i].ended;
    }
    reader = warc_reader_open(fixture.warc, &(struct warc_limits){0});
    buf_init(&memory, LARGE);
    for (size_t i = 0; i < N + 1; i++) {
        const struct warc_location *at = &puts[i].location;
        struct warc_record record;
        assert_int_equal(puts[i].status, STATUS_OK);
        assert_non_null(strstr(at->file, "-a-helpers.warc.gz"));
        assert_int_equal(warc_read(reader, slice_string(at->file), at->offset, at->length, &memory,
                                   &record, &why),
                         STATUS_OK);
        assert_true(slice_is(record.id, ids[i % N]));
        assert_true(slice_is(record.type, "conversion"));
        assert_true(slice_is(record.refers_to, "urn:uuid:of-the-answer"));
        assert_true(slice_equal(record.body, bodies[i % N]));
    }
    assert_int_equal(puts[N].location.offset, puts[0].location.offset);
    assert_true(puts[1].location.offset != puts[0].location.offset);
    warc_reader_close(reader);
    metastore_client_close(client);
    assert_int_equal(warc_writer_close(maker, &why), STATUS_OK);
    assert_int_equal(rmdir(folder), 0); /* it has written no file */
    for (size_t i = 0; i < N; i++) {
        buf_release(&members[i]);
    }
    buf_release(&memory);
}

/* The latest 1,024 are known by their identifiers, which may have 47 bytes: what comes again is
 * where it was put. Whatever came before them is archived once more. */
static void
the_latest_records_are_known(void **state)
{
    enum { LATEST = 1024, N = LATEST + 1, AGAIN = 3, ID_MOST = WARC_ID_SIZE - 1 };
    static const size_t again[AGAIN] = {N - 1, 1,
                                        0}; /* the last; the first that is known; one that is not */
    static struct buf payloads[N];
    static struct slice slices[N];
    static struct archive_kept kept[N], later[AGAIN];
    const struct warc_writer_options options = {
        .prefix = "test", .node = "d", .process = "latest", .size = LARGE, .level = 1};
    (void)state;
    for (size_t i = 0; i < N; i++) {
        char id[ID_MOST + 1];
        assert_int_equal(snprintf(id, sizeof id, "urn:uuid:%0*zu", ID_MOST - 9, i), ID_MOST);
        buf_init(&payloads[i], 128);
        codec_put_slice(&payloads[i], slice_string(id));
        codec_put_slice(&payloads[i], SLICE("\x1f\x8b member"));
        slices[i] = buf_slice(&payloads[i]);
    }
    struct archive_keep *keep = archive_keep_new(fixture.warc, &options);
    archive_keep_all(keep, slices, N, kept);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(kept[i].status, STATUS_OK);
        assert_true(i == 0 || kept[i].location.offset > kept[i - 1].location.offset);
    }
    const struct slice then[AGAIN] = {slices[again[0]], slices[again[1]], slices[again[2]]};
    archive_keep_all(keep, then, AGAIN, later);
    for (size_t i = 0; i < AGAIN; i++) {
        assert_int_equal(later[i].status, STATUS_OK);
        assert_string_equal(later[i].location.id, kept[again[i]].location.id);
        assert_int_equal(later[i].location.offset == kept[again[i]].location.offset, i < 2);
    }
    archive_keep_free(keep);
    for (size_t i = 0; i < N; i++) {
        buf_release(&payloads[i]);
    }
}

/* Malformed ones harm no other that came with them. */
static void
what_is_no_record_is_not_kept(void **state)
{
    (void)state;
    enum { N = 7 };
    static const char member[] = "\x1f\x8b member";
    struct buf payloads[N];
    struct slice slices[N];
    struct archive_kept kept[N];
    for (size_t i = 0; i < N; i++) {
        buf_init(&payloads[i], 4096);
    }
    codec_put_slice(&payloads[1], SLICE("urn:uuid:1"));
    codec_put_slice(&payloads[2], SLICE("urn:uuid:2"));
    codec_put_slice(&payloads[2], SLICE("no member"));
    codec_put_slice(&payloads[3], SLICE(""));
    codec_put_slice(&payloads[3], slice_string(member));
    codec_put_slice(&payloads[4], SLICE("urn:uuid:4 is longer than any identifier of records is"));
    codec_put_slice(&payloads[4], slice_string(member));
    codec_put_slice(&payloads[5], SLICE("urn:uuid:5 with more behind"));
    codec_put_slice(&payloads[5], slice_string(member));
    codec_put_u8(&payloads[5], 0);
    codec_put_slice(&payloads[6], SLICE("urn:uuid:6"));
    codec_put_slice(&payloads[6], slice_string(member));
    for (size_t i = 0; i < N; i++) {
        slices[i] = buf_slice(&payloads[i]);
    }
    struct warc_writer_options options = {
        .prefix = "test", .node = "c", .process = "helpers", .size = LARGE, .level = 1};
    const size_t open = open_files(fixture.warc);
    struct archive_keep *keep = archive_keep_new(fixture.warc, &options);
    archive_keep_all(keep, slices, N, kept);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(kept[i].status, i < N - 1 ? STATUS_PROTOCOL : STATUS_OK);
    }
    assert_true(open_files(fixture.warc) > open);
    archive_keep_free(keep);
    archive_keep_free(NULL);
    assert_int_equal(open_files(fixture.warc), open);
    options.level = 99; /* no writer can be opened, and that ends nothing */
    keep = archive_keep_new(fixture.warc, &options);
    archive_keep_all(keep, &slices[N - 1], 1, kept);
    assert_int_equal(kept[0].status, STATUS_SYSTEM);
    archive_keep_free(keep);
    for (size_t i = 0; i < N; i++) {
        buf_release(&payloads[i]);
    }
}

/* What did not come to the disk is said to be kept by nobody, and is once when there is room. */
static void
without_room_nothing_is_kept(void **state)
{
    enum { N = 2 };
    (void)state;
    struct buf payloads[N];
    struct slice slices[N];
    struct archive_kept kept[N];
    struct rlimit before;
    const struct warc_writer_options options = {
        .prefix = "test", .node = "r", .process = "helpers", .size = LARGE, .level = 1};
    struct archive_keep *keep = archive_keep_new(fixture.warc, &options);
    for (size_t i = 0; i < N; i++) {
        buf_init(&payloads[i], 4096);
        codec_put_slice(&payloads[i], i == 0 ? SLICE("urn:uuid:a") : SLICE("urn:uuid:b"));
        codec_put_slice(&payloads[i], SLICE("\x1f\x8b member"));
        slices[i] = buf_slice(&payloads[i]);
    }
    archive_keep_all(keep, slices, 1, kept);
    assert_int_equal(kept[0].status, STATUS_OK);
    const uint64_t first = kept[0].location.offset;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    const struct rlimit none = {.rlim_cur = 1, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    enum status told[2][N];
    for (int round = 0; round < 2; round++) {
        memset(kept, 0, sizeof kept);
        archive_keep_all(keep, slices, N, kept);
        for (size_t i = 0; i < N; i++) {
            told[round][i] = kept[i].why.text[0] != '\0' ? kept[i].status : STATUS_OK;
        }
    }
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_DFL);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(told[0][i], STATUS_FULL);
        assert_int_equal(told[1][i], STATUS_FULL);
    }
    archive_keep_all(keep, slices, N, kept);
    assert_int_equal(kept[0].status, STATUS_OK);
    assert_int_equal(kept[0].location.offset, first);
    assert_int_equal(kept[1].status, STATUS_OK);
    const uint64_t second = kept[1].location.offset;
    assert_true(second > first);
    archive_keep_all(keep, slices + 1, 1, kept);
    assert_int_equal(kept[0].location.offset, second);
    archive_keep_free(keep);
    for (size_t i = 0; i < N; i++) {
        buf_release(&payloads[i]);
    }
}

/* After a failure nobody knows what of the files is on the disk: all is kept anew. */
static void
after_a_failure_all_is_kept_anew(void **state)
{
    enum { N = 3 };
    (void)state;
    char folder[SCRATCH_SIZE + 16];
    struct rlimit before;
    struct buf payloads[N];
    struct slice slices[N];
    struct archive_kept first[N], kept[N];
    const struct warc_writer_options options = {
        .prefix = "test", .node = "f", .process = "helpers", .size = 1, .level = 1};
    snprintf(folder, sizeof folder, "%s/kept", fixture.folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    struct archive_keep *keep = archive_keep_new(folder, &options);
    for (size_t i = 0; i < N; i++) {
        char id[16];
        snprintf(id, sizeof id, "urn:uuid:%zu", i);
        buf_init(&payloads[i], 4096);
        codec_put_slice(&payloads[i], slice_string(id));
        codec_put_slice(&payloads[i], SLICE("\x1f\x8b member"));
        slices[i] = buf_slice(&payloads[i]);
    }
    for (size_t i = 0; i + 1 < N; i++) { /* a file for each */
        archive_keep_all(keep, &slices[i], 1, &first[i]);
        assert_int_equal(first[i].status, STATUS_OK);
        archive_keep_all(keep, &slices[i], 1, kept);
        assert_string_equal(kept[0].location.file, first[i].location.file);
    }
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    const struct rlimit none = {.rlim_cur = 3, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0); /* nobody can open a file */
    archive_keep_all(keep, &slices[N - 1], 1, kept);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(kept[0].status, STATUS_SYSTEM);
    for (size_t i = 0; i + 1 < N; i++) {
        archive_keep_all(keep, &slices[i], 1, kept);
        assert_int_equal(kept[0].status, STATUS_OK);
        assert_string_not_equal(kept[0].location.file, first[i].location.file);
    }
    archive_keep_free(keep);
    for (size_t i = 0; i < N; i++) {
        buf_release(&payloads[i]);
    }
}

static void
strangers_get_nothing(void **state)
{
    (void)state;
    char public_key[RPC_KEY_SIZE], secret_key[RPC_KEY_SIZE];
    struct reason why = {""};
    struct buf request;
    assert_int_equal(rpc_keys_make(public_key, secret_key, &why), STATUS_OK);
    const struct rpc_keys others = {
        .server_public = fixture.public_key, .own_public = public_key, .own_secret = secret_key};
    const struct rpc_keys *const keys[] = {NULL, &others, &fixture.keys};
    buf_init(&request, 4096);
    codec_put_slice(&request, SLICE("large.warc.gz"));
    codec_put_varint(&request, 0);
    codec_put_varint(&request, 1);
    for (size_t i = 0; i < 3; i++) {
        struct rpc_client *client;
        const struct rpc_client_options options = {
            .endpoint = fixture.endpoint, .name = "stranger", .keys = keys[i]};
        assert_int_equal(rpc_client_open(&client, &options, &why), STATUS_OK);
        buf_reset(&fixture.member);
        assert_int_equal(rpc_call(client, METASTORE_ARCHIVE, buf_slice(&request),
                                  i < 2 ? REFUSED_MS : 0, &fixture.member, &why),
                         i < 2 ? STATUS_TIMEOUT : STATUS_OK);
        assert_int_equal(fixture.member.length, i < 2 ? 0 : 1);
        rpc_client_close(client);
    }
    buf_release(&request);
}

/* ---- a node that is away ---- */

struct got {
    bool ended;
    enum status status;
};

static void
got(void *context, enum status status, const struct slice *records, size_t n,
    const struct reason *why)
{
    struct got *got = context;
    (void)records;
    (void)n;
    (void)why;
    *got = (struct got){.ended = true, .status = status};
}

static enum status
get(struct metastore_client *client)
{
    const struct slice key = SLICE("uhttp://h.example/");
    struct got here = {0};
    metastore_get(client, &key, 1, got, &here);
    assert_false(here.ended); /* callbacks run inside metastore_process */
    while (!here.ended) {
        metastore_wait(client, 1000);
    }
    return here.status;
}

static void
goes_away(void)
{
    atomic_store(&fixture.stop, true);
    pthread_join(fixture.thread, NULL);
    atomic_store(&fixture.stop, false);
    atomic_store(&fixture.ready, false);
}

static void
comes_back(void)
{
    assert_int_equal(pthread_create(&fixture.thread, NULL, serve, NULL), 0);
    while (!atomic_load(&fixture.ready)) {
        usleep(1000);
    }
}

/* What needs a node that is away is told so, soon and then at once, until the node says something.
 */
static void
reads_of_a_node_that_is_away_end(void **state)
{
    enum { SILENCE_MS = 2000, READS = 1000 };
    const char *const endpoints[] = {fixture.endpoint};
    const struct metastore_client_options options = {.endpoints = endpoints,
                                                     .endpoint_count = 1,
                                                     .name = "test",
                                                     .keys = &fixture.keys,
                                                     .silence_ms = SILENCE_MS};
    struct metastore_client *client;
    struct reason why = {""};
    (void)state;
    assert_int_equal(metastore_client_open(&client, &options, &why), STATUS_OK);
    while (get(client) != STATUS_OK) { /* a busy machine may be silent for a while, too */
        metastore_wait(client, 10);
    }
    goes_away();
    for (int i = 0; i < READS; i++) { /* half an hour, if each waited */
        assert_int_equal(get(client), STATUS_UNAVAILABLE);
    }
    comes_back();
    while (get(client) != STATUS_OK) {
        metastore_wait(client, 10);
    }
    goes_away();
    const struct slice key = SLICE("uhttp://h.example/");
    struct got left = {0};
    metastore_get(client, &key, 1, got, &left);
    metastore_client_close(client);
    assert_true(left.ended);
    comes_back();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_come_exactly),
        cmocka_unit_test(many_ranges_come_by_one_message),
        cmocka_unit_test(nothing_but_files_of_the_archive),
        cmocka_unit_test(records_are_kept),
        cmocka_unit_test(the_latest_records_are_known),
        cmocka_unit_test(what_is_no_record_is_not_kept),
        cmocka_unit_test(without_room_nothing_is_kept),
        cmocka_unit_test(after_a_failure_all_is_kept_anew),
        cmocka_unit_test(strangers_get_nothing),
        cmocka_unit_test(reads_of_a_node_that_is_away_end),
    };
    return cmocka_run_group_tests(tests, start, end);
}
