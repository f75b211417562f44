/* Records of other nodes' archives: many by one message where jobs wait that will want them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "metastore/archive_link.h"
#include "metastore/protocol.h"
#include "stages/skeleton/content.h"
#include "stages/skeleton/stage.h"
#include "tests/unit/stand_in.h"

enum { NODES = 3, JOBS = 3000, NAME_BYTES = 32, LONGEST = 4000 };

static struct {
    struct job jobs[JOBS];
    struct buf data[JOBS];
    char files[JOBS][NAME_BYTES];
    size_t next; /* the first that waits */
    size_t messages, ranges;
    size_t singles,
        unread;  /* messages for one record; records of messages that failed for several */
    bool away;   /* every node */
    size_t open; /* links */
    size_t record_most;
    struct content *content;
    struct buf memory;
} world;

static struct cluster_node nodes[NODES] = {
    {.name = "a", .metastore = "tcp://a"},
    {.name = "b", .metastore = "tcp://b"},
    {.name = "c", .metastore = "tcp://c"},
};
static const struct rpc_keys keys;
static const char *helper; /* NULL: this process is one of the node's own */

/* ---- in the place of others ---- */

STAND_IN(const struct rpc_keys *, cluster_keys, (const struct cluster *cluster))
{
    (void)cluster;
    return &keys;
}

STAND_IN(size_t, cluster_self, (const struct cluster *cluster))
{
    (void)cluster;
    return 0;
}

STAND_IN(const char *, cluster_helper, (const struct cluster *cluster))
{
    (void)cluster;
    return helper;
}

STAND_IN(bool, cluster_find, (const struct cluster *cluster, struct slice name, size_t *node))
{
    (void)cluster;
    *node = (size_t)(name.at[0] - 'a');
    return name.length == 1 && *node < NODES;
}

STAND_IN(const struct cluster_node *, cluster_node, (const struct cluster *cluster, size_t node))
{
    (void)cluster;
    return &nodes[node];
}

STAND_IN(size_t, cluster_node_count, (const struct cluster *cluster))
{
    (void)cluster;
    return NODES;
}

STAND_IN(void, stage_waiting, (struct stage_run * run, stage_visit *visit, void *context))
{
    (void)run;
    for (size_t i = world.next; i < JOBS && visit(context, &world.jobs[i]); i++) {
    }
}

/* A link is its node: its endpoint's last letter. */
STAND_IN(enum status, archive_link_open,
         (struct archive_link * *link, const char *endpoint, const struct rpc_keys *of,
          struct reason *why))
{
    (void)why;
    assert_ptr_equal(of, &keys);
    char *letter = memory_alloc(1);
    *letter = endpoint[strlen(endpoint) - 1];
    world.open++;
    *link = (struct archive_link *)letter;
    return STATUS_OK;
}

STAND_IN(void, archive_link_close, (struct archive_link * link))
{
    world.open -= link != NULL;
    free(link);
}

static enum status
serve(struct archive_link *link, const struct archive_range *ranges, size_t n, struct buf *bytes,
      struct reason *why)
{
    world.messages++;
    buf_reset(bytes);
    for (size_t i = 0; i < n; i++) {
        if (ranges[i].file.at[0] != *(char *)link || memchr(ranges[i].file.at, 'x', 2) != NULL) {
            world.unread += n > 1 ? n : 0;
            return status_fail(why, STATUS_NOT_FOUND, "%.*s is lost", SLICE_PRINT(ranges[i].file));
        }
        for (uint64_t at = 0; at < ranges[i].length; at++) {
            const char byte = (char)(ranges[i].file.at[1] + (ranges[i].offset + at) % 251);
            (void)buf_append(bytes, &byte, 1);
        }
    }
    world.ranges += n;
    return world.away ? STATUS_UNAVAILABLE : STATUS_OK;
}

STAND_IN(enum status, archive_link_read,
         (struct archive_link * link, const struct archive_range *range, struct buf *member,
          struct reason *why))
{
    world.singles++;
    return serve(link, range, 1, member, why);
}

STAND_IN(enum status, archive_link_read_ranges,
         (struct archive_link * link, const struct archive_range *ranges, size_t n,
          struct buf *bytes, struct reason *why))
{
    uint64_t length = 0;
    for (size_t i = 0; i < n; i++) {
        length += ranges[i].length;
    }
    assert_true(length <= ARCHIVE_PIECE);
    return serve(link, ranges, n, bytes, why);
}

STAND_IN(enum status, warc_read_member,
         (struct slice member, const struct warc_limits *limits, struct buf *memory,
          struct warc_record *record, struct reason *why))
{
    (void)why;
    assert_int_equal(limits->record, world.record_most);
    buf_reset(memory);
    (void)buf_append_slice(memory, member);
    *record = (struct warc_record){.body = buf_slice(memory)};
    return STATUS_OK;
}

/* ---- jobs ---- */

static const struct document_record *
conversion_of(const struct document *document)
{
    return &document->conversion;
}

static uint64_t
length_of(size_t i)
{
    return 1 + i * 7919 % LONGEST;
}

/* Jobs of the other nodes in turns; every lost_each'th is of a file that is lost. */
static void
make_jobs(size_t lost_each)
{
    for (size_t i = 0; i < JOBS; i++) {
        const char node = i % 2 == 0 ? 'b' : 'c';
        const bool lost = lost_each > 0 && i % lost_each == lost_each / 2;
        snprintf(world.files[i], NAME_BYTES, "%c%c.warc.gz", node,
                 lost ? 'x' : (char)('0' + i % 5));
        const struct document document = {.conversion = {.node = slice_of(&world.files[i][0], 1),
                                                         .file = slice_string(world.files[i]),
                                                         .offset = i * 31,
                                                         .length = length_of(i)}};
        buf_reset(&world.data[i]);
        document_encode(&world.data[i], &document);
        world.jobs[i] = (struct job){.data = buf_slice(&world.data[i])};
    }
    world.next = world.messages = world.ranges = world.singles = world.unread = 0;
    world.away = false;
}

static enum status
read_next(struct warc_record *record, struct reason *why)
{
    struct document document;
    assert_true(document_decode(world.jobs[world.next++].data, &document));
    return content_read(world.content, &document.conversion, &world.memory, record, why);
}

static void
check(size_t i, const struct warc_record *record)
{
    assert_int_equal(record->body.length, length_of(i));
    for (size_t at = 0; at < record->body.length; at++) {
        assert_int_equal(record->body.at[at],
                         (char)(world.files[i][1] + (char)((i * 31 + at) % 251)));
    }
}

static int
start(void **state)
{
    const struct warc_limits limits = {.record = 1 << 20};
    (void)state;
    for (size_t i = 0; i < JOBS; i++) {
        buf_init(&world.data[i], 4096);
    }
    buf_init(&world.memory, 1 << 22);
    world.record_most = limits.record;
    return content_open(&world.content, "/nowhere", NULL, &limits, NULL) == STATUS_OK ? 0 : -1;
}

static int
end(void **state)
{
    (void)state;
    content_close(world.content);
    for (size_t i = 0; i < JOBS; i++) {
        buf_release(&world.data[i]);
    }
    buf_release(&world.memory);
    return 0;
}

/* ---- tests ---- */

static void
records_come_one_by_one_unless_told(void **state)
{
    struct warc_record record;
    struct reason why;
    (void)state;
    make_jobs(0);
    for (size_t i = 0; i < 100; i++) {
        assert_int_equal(read_next(&record, &why), STATUS_OK);
        check(i, &record);
    }
    assert_int_equal(world.messages, 100);
}

/* A helper has nothing of the node for which it works, and asks it. */
static void
a_helper_asks_the_node_that_it_works_for(void **state)
{
    const struct document_record where = {
        .node = SLICE("a"), .file = SLICE("a0.warc.gz"), .length = 3};
    const struct warc_limits limits = {.record = 1 << 20};
    struct content *content;
    struct warc_record record;
    struct reason why;
    (void)state;
    make_jobs(0);
    for (int helps = 0; helps < 2; helps++) {
        const size_t open = world.open;
        helper = helps ? "helper" : NULL;
        assert_int_equal(content_open(&content, "/nowhere", NULL, &limits, NULL), STATUS_OK);
        assert_int_equal(content_read(content, &where, &world.memory, &record, &why),
                         helps ? STATUS_OK : STATUS_NOT_FOUND);
        assert_int_equal(world.messages, helps);
        content_close(content);
        assert_int_equal(world.open, open);
    }
    helper = NULL;
}

static void
a_node_without_a_store_is_not_asked(void **state)
{
    const struct document_record where = {
        .node = SLICE("b"), .file = SLICE("b0.warc.gz"), .length = 3};
    const char *endpoint = nodes[1].metastore;
    struct warc_record record;
    struct reason why = {""};
    (void)state;
    make_jobs(0);
    nodes[1].metastore = NULL;
    assert_int_equal(content_read(world.content, &where, &world.memory, &record, &why),
                     STATUS_MISUSE);
    nodes[1].metastore = endpoint;
    assert_string_equal(why.text,
                        "cluster.conf: node b has no metastore=, which its archive is read by");
    assert_int_equal(world.messages, 0);
}

/* Records of waiting jobs are read ahead also where jobs end without being read. */
static void
records_of_waiting_jobs_come_together(void **state)
{
    struct warc_record record;
    struct reason why;
    (void)state;
    content_read_ahead(world.content, conversion_of);
    for (size_t passed_each = 0; passed_each <= 10; passed_each += 10) {
        make_jobs(0);
        for (size_t i = 0; i < JOBS; i++) {
            if (passed_each > 0 && i % passed_each == 3) {
                world.next++;
                continue;
            }
            assert_int_equal(read_next(&record, &why), STATUS_OK);
            check(i, &record);
        }
        assert_in_range(world.messages, 2, 16); /* 6 MB, 1 MiB each, of two nodes */
        assert_in_range(world.ranges, JOBS / 10 * 9, JOBS);
    }
}

/* What one job cannot read is its own failure. */
static void
a_lost_record_hinders_no_other(void **state)
{
    struct warc_record record;
    size_t lost = 0;
    (void)state;
    content_read_ahead(world.content, conversion_of);
    make_jobs(600);
    for (size_t i = 0; i < JOBS; i++) {
        struct reason why = {""};
        const enum status status = read_next(&record, &why);
        if (world.files[i][1] == 'x') {
            assert_int_equal(status, STATUS_NOT_FOUND);
            assert_non_null(strstr(why.text, "x.warc.gz is lost"));
            lost++;
        } else {
            assert_int_equal(status, STATUS_OK);
            check(i, &record);
        }
    }
    assert_int_equal(lost, JOBS / 600);
    assert_true(world.unread > 0);
    assert_int_equal(world.singles, world.unread); /* those, and no others */
    world.next = 0;
    world.away = true;
    struct reason why = {""};
    assert_int_equal(read_next(&record, &why), STATUS_UNAVAILABLE);
}

/* Others behind jobs whose data are damaged, or that have no record, come together all the same. */
static void
damaged_jobs_hinder_no_other(void **state)
{
    struct warc_record record;
    (void)state;
    content_read_ahead(world.content, conversion_of);
    make_jobs(0);
    for (size_t i = 2; i < JOBS; i += 10) {
        world.jobs[i].data = SLICE("\x63");
        world.jobs[i + 1].data = (struct slice){0};
    }
    for (size_t i = 0; i < JOBS; i++) {
        struct reason why = {""};
        if (i % 10 == 2 || i % 10 == 3) {
            world.next++;
            continue;
        }
        assert_int_equal(read_next(&record, &why), STATUS_OK);
        check(i, &record);
    }
    assert_in_range(world.messages, 2, 16);
}

/* Records that have all but one of file, offset and length in common: the one that is wanted is
 * given, behind any of the others. */
static void
records_that_are_alike_are_told_apart(void **state)
{
    enum { ALIKE = 8 };
    (void)state;
    content_read_ahead(world.content, conversion_of);
    for (unsigned wanted = 0; wanted < ALIKE; wanted++) {
        make_jobs(0);
        for (unsigned i = 0; i < ALIKE; i++) {
            const unsigned bits = i ^ wanted ^ (ALIKE - 1); /* the wanted one is the last */
            char *name = world.files[1 + i];
            snprintf(name, NAME_BYTES, "b%c.warc.gz", bits & 1 ? '1' : '2');
            const struct document document = {.conversion = {.node = SLICE("b"),
                                                             .file = slice_string(name),
                                                             .offset = bits & 2 ? 1000 : 2000,
                                                             .length = bits & 4 ? 50 : 70}};
            buf_reset(&world.data[1 + i]);
            document_encode(&world.data[1 + i], &document);
            world.jobs[1 + i].data = buf_slice(&world.data[1 + i]);
        }
        struct warc_record record;
        struct reason why = {""};
        assert_int_equal(read_next(&record, &why), STATUS_OK); /* and those behind it, ahead */
        assert_int_equal(world.messages, 1);
        world.next = ALIKE;
        assert_int_equal(read_next(&record, &why), STATUS_OK);
        assert_int_equal(world.messages, 1);
        assert_int_equal(record.body.length, wanted & 4 ? 50 : 70);
        for (size_t at = 0; at < record.body.length; at++) {
            const size_t offset = (wanted & 2 ? 1000 : 2000) + at;
            assert_int_equal(record.body.at[at],
                             (char)((wanted & 1 ? '1' : '2') + (char)(offset % 251)));
        }
    }
}

/* Jobs of node b whose records are so long; no others wait. */
static void
make_jobs_of(const uint64_t *lengths, size_t n, const char *file)
{
    make_jobs(0);
    for (size_t i = 0; i < JOBS; i++) {
        const struct document document = {.conversion = {.node = SLICE("b"),
                                                         .file = slice_string(file),
                                                         .offset = i * 31,
                                                         .length = i < n ? lengths[i] : 0}};
        buf_reset(&world.data[i]);
        document_encode(&world.data[i], &document);
        world.jobs[i].data = buf_slice(&world.data[i]);
    }
}

/* A message has as many bytes as it may, in the order of the jobs, and a record that is longer is
 * read by itself. */
static void
messages_are_filled_in_order(void **state)
{
    enum { PIECE = ARCHIVE_PIECE, MOST = 5 };
    static const struct {
        uint64_t lengths[MOST];
        size_t n, messages, ranges, singles;
    } rows[] = {{{PIECE / 2, PIECE / 2, PIECE / 2, PIECE / 2}, 4, 2, 4, 0},
                {{PIECE / 2, PIECE / 2 + 1, PIECE / 2 - 1}, 3, 2, 3, 1},
                {{PIECE - 30, 10, 30, 5}, 4, 2, 4, 0},
                {{PIECE, 1, 1}, 3, 2, 3, 1},
                {{PIECE + 1, 1, PIECE + 1, 1, 1}, 5, 4, 5, 3},
                {{7}, 1, 1, 1, 1}};
    const struct warc_limits unlimited = {0};
    (void)state;
    content_close(world.content);
    assert_int_equal(world.open, 0); /* all links */
    world.record_most = 0;
    assert_int_equal(content_open(&world.content, "/nowhere", NULL, &unlimited, NULL), STATUS_OK);
    content_read_ahead(world.content, conversion_of);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        make_jobs_of(rows[i].lengths, rows[i].n, "b0.warc.gz");
        for (size_t k = 0; k < rows[i].n; k++) {
            struct warc_record record;
            struct reason why = {""};
            assert_int_equal(read_next(&record, &why), STATUS_OK);
            assert_int_equal(record.body.length, rows[i].lengths[k]);
            assert_int_equal(record.body.at[0], (char)('0' + (char)(k * 31 % 251)));
        }
        if (world.messages != rows[i].messages || world.ranges != rows[i].ranges ||
            world.singles != rows[i].singles) {
            fail_msg("row %zu: %zu messages, %zu ranges, %zu singles", i, world.messages,
                     world.ranges, world.singles);
        }
    }
}

/* However short they are, a message has so many records at most, of files with long names, too. */
static void
messages_have_so_many_records(void **state)
{
    enum { RANGES = 512, TIMES = 5, SHORT = TIMES * RANGES + 1, NAME = WARC_FILE_SIZE - 1 };
    static uint64_t lengths[SHORT];
    char file[NAME + 1] = "b0";
    (void)state;
    memset(file + 2, 'n', NAME - 2);
    memcpy(file + NAME - 8, ".warc.gz", 8);
    content_read_ahead(world.content, conversion_of);
    for (size_t i = 0; i < SHORT; i++) {
        lengths[i] = 1;
    }
    for (size_t n = SHORT - 1; n <= SHORT; n++) {
        make_jobs_of(lengths, n, file);
        for (size_t k = 0; k < n; k++) {
            struct warc_record record;
            struct reason why = {""};
            assert_int_equal(read_next(&record, &why), STATUS_OK);
        }
        assert_int_equal(world.messages, n == SHORT ? TIMES + 1 : TIMES);
        assert_int_equal(world.ranges, n);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_come_one_by_one_unless_told),
        cmocka_unit_test(a_helper_asks_the_node_that_it_works_for),
        cmocka_unit_test(a_node_without_a_store_is_not_asked),
        cmocka_unit_test(records_of_waiting_jobs_come_together),
        cmocka_unit_test(damaged_jobs_hinder_no_other),
        cmocka_unit_test(records_that_are_alike_are_told_apart),
        cmocka_unit_test(messages_are_filled_in_order),
        cmocka_unit_test(messages_have_so_many_records),
        cmocka_unit_test(a_lost_record_hinders_no_other),
    };
    return cmocka_run_group_tests(tests, start, end);
}
