/* The queue daemon step by step: links to other nodes, metadata that other nodes bring, changes of
 * the scope, and the loop around them. Broker, sockets, stores and clocks are stood in for, and
 * tell what was asked of them as lines of a trace. */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "config/scope_change.h"
#include "config/scope_file.h"
#include "metastore/metastore_client.h"
#include "queue/client/message.h"
#include "queue/daemon/daemon_scope.h"
#include "queue/daemon/metadata_intake.h"
#include "queue/daemon/node_links.h"
#include "queue/daemon/queue_daemon.h"
#include "tests/unit/queue_daemon/daemon_stand_ins.h"
#include "tests/unit/scratch.h"

/* ---- links ---- */

static struct node_links *
open_links(void)
{
    struct node_links *links;
    struct reason why;
    read_cluster(NODES, "n1");
    assert_int_equal(node_links_open(&links, cluster, BROKER, &why), STATUS_OK);
    assert_trace("open ipc:///run/s0 as queue@n1\nopen ipc:///run/s2 as queue@n1\n");
    return links;
}

static void
process_links(struct node_links *links)
{
    const struct pollfd silent[NODES] = {{0}};
    node_links_process(links, silent);
}

#define SIGN(node) "post 5 to " #node ": 00 00 00 00 00 00 00 00\n"

static void
every_other_node_has_a_link(void **state)
{
    struct node_links *links = open_links();
    struct pollfd polls[NODES];
    (void)state;
    assert_int_equal(node_links_polls(links, polls), 2);
    assert_int_equal(polls[0].fd, 100);
    assert_int_equal(polls[1].fd, 102);
    assert_int_equal(polls[0].events, POLLIN);
    node_links_close(links);
    assert_trace("close 0\nclose 2\n");
    node_links_close(NULL);
    struct reason why;
    client_fails = 0;
    assert_int_equal(node_links_open(&links, cluster, BROKER, &why), STATUS_SYSTEM);
    assert_string_equal(why.text, "no socket");
    assert_trace("open ipc:///run/s0 as queue@n1\n");
    node_links_close(links);
    assert_trace("");
}

static void
signs_of_life_are_asked_for_once_a_second(void **state)
{
    struct node_links *links = open_links();
    (void)state;
    assert_int_equal(node_links_wait_ms(links), 0); /* to ask */
    process_links(links);
    assert_trace(SIGN(0) SIGN(2));
    process_links(links);
    assert_trace("");
    assert_int_equal(node_links_wait_ms(links), 5000);
    client_wait_ms[2] = 7;
    assert_int_equal(node_links_wait_ms(links), 7);
    client_wait_ms[2] = 0;
    assert_int_equal(node_links_wait_ms(links), 0);
    client_wait_ms[2] = -1;
    now_ms += 10;
    answer_post(0, STATUS_OK, SLICE(""), "");
    assert_int_equal(node_links_wait_ms(links), 1000);
    now_ms += 999;
    process_links(links);
    assert_trace("");
    now_ms++;
    process_links(links);
    assert_trace(SIGN(0));
    answer_post(1, STATUS_CANCELLED, SLICE(""), ""); /* closing: it was not heard */
    answer_post(2, STATUS_CANCELLED, SLICE(""), "");
    assert_trace("");
    node_links_close(links);
    assert_trace("close 0\nclose 2\n");
}

/* Eight nodes ask each other half as often as two, and wait twice as long for a sign. */
static void
many_nodes_ask_less_often(void **state)
{
    const struct pollfd silent[NODES_MOST] = {{0}};
    struct node_links *links;
    struct reason why;
    (void)state;
    read_cluster(NODES_MOST, "n1");
    assert_int_equal(node_links_open(&links, cluster, BROKER, &why), STATUS_OK);
    node_links_process(links, silent);
    assert_int_equal(node_links_wait_ms(links), 10000);
    answer_post(0, STATUS_OK, SLICE(""), "");
    assert_int_equal(node_links_wait_ms(links), 2000);
    buf_reset(&trace);
    now_ms += 1999;
    node_links_process(links, silent);
    assert_trace("");
    now_ms++;
    node_links_process(links, silent);
    assert_trace(SIGN(0));
    node_links_close(links);
    buf_reset(&trace);
}

static void
who_is_silent_for_five_seconds_is_down(void **state)
{
    struct node_links *links = open_links();
    (void)state;
    process_links(links);
    assert_trace(SIGN(0) SIGN(2));
    now_ms += 300;
    answer_post(1, STATUS_DENIED, SLICE(""), "whatever it says");
    assert_trace("");
    now_ms += 4699;
    process_links(links);
    assert_trace(SIGN(2));
    now_ms++;
    assert_int_equal(node_links_wait_ms(links), 0);
    process_links(links);
    assert_trace("node 0 down since 1000100 trouble ''\n");
    assert_int_equal(node_links_wait_ms(links), 300); /* for the other; this one is asked */
    now_ms += 299;
    process_links(links);
    assert_trace("");
    answer_post(2, STATUS_OK, SLICE(""), "");
    now_ms += 1000;
    process_links(links);
    assert_trace(SIGN(2));
    answer_post(0, STATUS_CANCELLED, SLICE(""), "");
    assert_trace("");
    process_links(links);
    assert_trace(SIGN(0));
    answer_post(4, STATUS_OK, SLICE(""), "");
    assert_trace("node 0 down since 0 trouble ''\n");
    node_links_close(links);
    assert_trace("close 0\nclose 2\n");
}

static void
jobs_are_sent_and_their_ends_told(void **state)
{
    static const char last[] = "\0\0\0\0\0\0\1\2";
    struct node_links *links = open_links();
    (void)state;
    node_links_send(links);
    assert_trace("");
    outgoing = 2;
    node_links_send(links);
    assert_trace("post 9 to 2: 6a 62\n");
    answer_post(0, STATUS_OK, slice_of(last, 8), "");
    assert_trace("delivered to 2 OK 258\n");
    answer_post(0, STATUS_FULL, slice_of(last, 8), "no room");
    assert_trace("node 2 down since 0 trouble 'no room'\ndelivered to 2 FULL 0\n");
    answer_post(0, STATUS_FULL, SLICE(""), "no room"); /* is known */
    assert_trace("delivered to 2 FULL 0\n");
    answer_post(0, STATUS_CORRUPT, SLICE(""), "a gap");
    assert_trace("node 2 down since 0 trouble 'a gap'\ndelivered to 2 CORRUPT 0\n");
    answer_post(0, STATUS_AGAIN, SLICE(""), "later");
    assert_trace("node 2 down since 0 trouble ''\ndelivered to 2 AGAIN 0\n");
    answer_post(0, STATUS_OK, slice_of(last, 8), "");
    assert_trace("delivered to 2 OK 258\n");
    answer_post(0, STATUS_CANCELLED, SLICE(""), "");
    assert_trace("");
    now_ms += 5000;
    outgoing = -1;
    process_links(links);
    assert_trace(SIGN(0) "node 0 down since 1000100 trouble ''\n" SIGN(
        2) "node 2 down since 1000100 trouble ''\n");
    answer_post(0, STATUS_OK, slice_of(last, 8), ""); /* jobs are a sign of life, too */
    assert_trace("node 2 down since 0 trouble ''\ndelivered to 2 OK 258\n");
    node_links_close(links);
    assert_trace("close 0\nclose 2\n");
}

/* The first goes at once; the next waits, unless the one before was large. */
static void
messages_to_a_node_keep_their_distance(void **state)
{
    struct node_links *links = open_links();
    (void)state;
    outgoing = 2;
    node_links_send(links);
    assert_trace("post 9 to 2: 6a 62\n");
    assert_int_equal(node_links_wait_ms(links), 0); /* to ask for signs of life */
    process_links(links);
    assert_trace(SIGN(0) SIGN(2));
    assert_int_equal(node_links_wait_ms(links), 500);
    now_ms += 499;
    node_links_send(links);
    assert_trace("");
    assert_int_equal(node_links_wait_ms(links), 1);
    now_ms++;
    outgoing_bytes = 256 << 10;
    node_links_send(links);
    assert_trace("post 9 to 2: 6a 62 2e 2e 2e 2e 2e 2e\n");
    outgoing_bytes = 0;
    node_links_send(links);
    assert_trace("post 9 to 2: 6a 62\n");
    node_links_close(links);
    assert_trace("close 0\nclose 2\n");
}

static void
links_are_asked_when_there_is_something(void **state)
{
    struct node_links *links = open_links();
    struct pollfd polls[NODES] = {{0}};
    (void)state;
    node_links_process(links, polls); /* nobody has polled yet */
    assert_int_equal(processed[0], 1);
    assert_int_equal(processed[2], 1);
    polls[1].revents = POLLIN;
    node_links_process(links, polls);
    assert_int_equal(processed[0], 1);
    assert_int_equal(processed[2], 2);
    polls[1].revents = 0;
    client_wait_ms[0] = 0;
    node_links_process(links, polls);
    assert_int_equal(processed[0], 2);
    assert_int_equal(processed[2], 2);
    buf_reset(&trace);
    node_links_close(links);
}

/* ---- metadata ---- */

static void
taken(void *context, struct rpc_request *request, enum status status, const struct reason *why)
{
    assert_ptr_equal(context, &trace);
    buf_printf(&trace, "taken %llu '%.*s' %s %s\n", (unsigned long long)request->id,
               SLICE_PRINT(request->payload), status_name(status), why->text);
    free(request);
}

static struct rpc_request *
request_of(uint8_t verb, uint64_t id, uint64_t incarnation, const char *client, const char *payload)
{
    struct rpc_request *request = memory_new(sizeof *request);
    *request = (struct rpc_request){.verb = verb,
                                    .id = id,
                                    .incarnation = incarnation,
                                    .client = slice_string(client),
                                    .payload = slice_string(payload)};
    return request;
}

static struct meta_update update;

/* Good fields, as the store takes them. */
static const char *
good_fields(void)
{
    static char text[TEXT];
    meta_update_init(&update);
    meta_set_text(&update, META_STATE, SLICE("x"));
    const struct slice fields = meta_update_fields(&update);
    assert_true(fields.length > 0 && fields.length < sizeof text);
    assert_null(memchr(fields.at, '\0', fields.length));
    memcpy(text, fields.at, fields.length);
    text[fields.length] = '\0';
    meta_update_release(&update);
    return text;
}

static void
metadata_is_put_before_its_request_goes_on(void **state)
{
    struct metadata_intake *intake = metadata_intake_new("ipc://store", taken, &trace);
    char wanted[TEXT];
    (void)state;
    assert_int_equal(metadata_intake_descriptor(intake), -1);
    assert_int_equal(metadata_intake_wait_ms(intake), -1);
    metadata_intake_process(intake, BROKER);
    assert_trace("");
    /* Nothing to put: it does not wait. */
    metadata_intake_hold(intake, BROKER, request_of(QUEUE_TRANSFER, 1, 1, "queue@b", ""));
    assert_trace("taken 1 '' OK \n");
    now_ms += 250;
    metadata[0].key = "q"; /* no key */
    metadata[0].fields = good_fields();
    metadata[1].key = "uhttp://a/";
    metadata[1].fields = "\377";
    metadata_count = 2;
    metadata_intake_hold(intake, BROKER, request_of(QUEUE_TRANSFER, 1, 1, "queue@b", ""));
    assert_trace("taken 1 '' OK \n");
    now_ms += 250;
    metadata[2].key = "uhttp://a/";
    metadata[2].fields = good_fields();
    metadata[3] = metadata[2];
    metadata[3].key = "hhttp://b";
    metadata_count = 4;
    metadata_intake_hold(intake, BROKER, request_of(QUEUE_TRANSFER, 2, 1, "queue@b", "two"));
    snprintf(wanted, sizeof wanted, "open store ipc://store\nput uhttp://a/+%zu hhttp://b+%zu\n",
             strlen(good_fields()), strlen(good_fields()));
    assert_trace(wanted);
    assert_int_equal(metadata_intake_descriptor(intake), 55);
    store_wait_ms = 3;
    assert_int_equal(metadata_intake_wait_ms(intake), 3);
    metadata_intake_process(intake, BROKER);
    assert_trace("process store\n");
    end_put(0, STATUS_OK);
    assert_trace("taken 2 'two' OK the store says\n");
    assert_false(metadata_intake_holds(intake, QUEUE_TRANSFER));
    metadata_intake_free(intake);
    assert_trace("close store\n");
    metadata_intake_free(NULL);
}

static void
without_a_store_metadata_is_refused(void **state)
{
    struct metadata_intake *intake = metadata_intake_new(NULL, taken, &trace);
    (void)state;
    metadata[0].key = "uhttp://a/";
    metadata[0].fields = good_fields();
    metadata_count = 1;
    metadata_intake_hold(intake, BROKER, request_of(QUEUE_TRANSFER, 1, 1, "queue@b", ""));
    assert_trace("taken 1 '' MISUSE this node has no metadata store\n");
    metadata_intake_free(intake);
    intake = metadata_intake_new("ipc://store", taken, &trace);
    store_status = STATUS_SYSTEM;
    metadata_intake_hold(intake, BROKER, request_of(QUEUE_TRANSFER, 1, 1, "queue@b", ""));
    assert_trace("open store ipc://store\ntaken 1 '' SYSTEM no store\n");
    assert_false(metadata_intake_holds(intake, QUEUE_TRANSFER));
    metadata_intake_free(intake);
    assert_trace("");
}

/* Held: 1, 2 and 3, and a forget; they end in another order. */
static void
requests_that_wait_end_in_any_order(void **state)
{
    struct metadata_intake *intake = metadata_intake_new("ipc://store", taken, &trace);
    (void)state;
    metadata[0].key = "uhttp://a/";
    metadata[0].fields = good_fields();
    metadata_count = 1;
    assert_false(metadata_intake_holds(intake, QUEUE_TRANSFER));
    for (uint64_t id = 1; id <= 3; id++) {
        now_ms += 250; /* so that none waits for others */
        metadata_intake_hold(intake, BROKER, request_of(QUEUE_TRANSFER, id, 1, "queue@b", ""));
    }
    assert_false(metadata_intake_holds(intake, QUEUE_FORGET));
    metadata_intake_hold(intake, BROKER, request_of(QUEUE_FORGET, 4, 1, "cli", ""));
    assert_true(metadata_intake_holds(intake, QUEUE_FORGET));
    assert_true(metadata_intake_holds(intake, QUEUE_TRANSFER));
    assert_int_equal(put_count, 4); /* and the store was opened once */
    assert_ptr_equal(strstr(trace.data, "open store"), trace.data);
    assert_null(strstr(trace.data + 1, "open store"));
    buf_reset(&trace);
    end_put(1, STATUS_FULL);
    assert_trace("taken 2 '' FULL the store says\n");
    end_put(3, STATUS_OK);
    assert_trace("taken 4 '' OK the store says\n");
    assert_false(metadata_intake_holds(intake, QUEUE_FORGET));
    end_put(0, STATUS_OK);
    assert_trace("taken 1 '' OK the store says\n");
    assert_true(metadata_intake_holds(intake, QUEUE_TRANSFER));
    end_put(2, STATUS_OK);
    assert_trace("taken 3 '' OK the store says\n");
    assert_false(metadata_intake_holds(intake, QUEUE_TRANSFER));
    metadata_intake_free(intake);
    assert_trace("close store\n");
}

/* After one that went at once the others are one message to the store and end together. */
static void
requests_wait_for_each_other(void **state)
{
    struct metadata_intake *intake = metadata_intake_new("ipc://store", taken, &trace);
    (void)state;
    metadata_intake_hold(intake, BROKER, request_of(QUEUE_TRANSFER, 1, 1, "queue@b", ""));
    assert_trace("taken 1 '' OK \n");
    metadata[0].key = "uhttp://a/";
    metadata[0].fields = "";
    metadata_count = 1;
    metadata_intake_hold(intake, BROKER, request_of(QUEUE_TRANSFER, 2, 1, "queue@b", "two"));
    metadata_intake_hold(intake, BROKER, request_of(QUEUE_TRANSFER, 1, 1, "queue@c", "one"));
    metadata_intake_hold(intake, BROKER, request_of(QUEUE_TRANSFER, 2, 1, "queue@b", "again"));
    assert_trace("drop 2\n");
    assert_true(metadata_intake_holds(intake, QUEUE_TRANSFER));
    assert_int_equal(metadata_intake_wait_ms(intake), 250);
    now_ms += 249;
    metadata_intake_process(intake, BROKER);
    assert_trace("");
    assert_int_equal(metadata_intake_wait_ms(intake), 1);
    now_ms += 2; /* it came too late */
    assert_int_equal(metadata_intake_wait_ms(intake), 0);
    now_ms--;
    assert_int_equal(metadata_intake_wait_ms(intake), 0);
    metadata_intake_process(intake, BROKER);
    assert_trace("open store ipc://store\nput uhttp://a/+0 uhttp://a/+0\n");
    end_put(0, STATUS_OK);
    assert_trace("taken 2 'again' OK the store says\ntaken 1 'one' OK the store says\n");
    /* A large one goes at once, and takes along who waits. */
    struct buf large;
    buf_init(&large, 1 << 20);
    while (large.length < 256 << 10) {
        buf_append_char(&large, '.');
    }
    metadata_intake_hold(intake, BROKER, request_of(QUEUE_TRANSFER, 3, 1, "queue@b", "three"));
    assert_trace("");
    metadata_intake_hold(intake, BROKER, request_of(QUEUE_TRANSFER, 2, 1, "queue@c", large.data));
    assert_trace("put uhttp://a/+0 uhttp://a/+0\n");
    /* What waits at the end is told so. */
    metadata_intake_hold(intake, BROKER, request_of(QUEUE_TRANSFER, 4, 1, "queue@b", "four"));
    static const int waits[][2] = {{-1, 250}, {0, 0}, {249, 249}, {250, 250}, {251, 250}};
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) { /* the store's, or its own */
        store_wait_ms = waits[i][0];
        assert_int_equal(metadata_intake_wait_ms(intake), waits[i][1]);
    }
    end_put(1, STATUS_FULL);
    buf_reset(&trace);
    buf_release(&large);
    metadata_intake_free(intake);
    assert_trace("close store\ntaken 4 'four' CANCELLED the queue is closed\n");
}

/* A repetition has another connection: its answer goes there. */
static void
a_repetition_takes_the_place_of_what_it_repeats(void **state)
{
    static const struct {
        uint64_t id, incarnation;
        const char *client;
        bool same;
    } cases[] = {{7, 9, "queue@b", true},
                 {8, 9, "queue@b", false},
                 {7, 8, "queue@b", false},
                 {7, 9, "queue@c", false}};
    (void)state;
    metadata[0].key = "uhttp://a/";
    metadata[0].fields = good_fields();
    metadata_count = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct metadata_intake *intake = metadata_intake_new("ipc://store", taken, &trace);
        put_count = 0;
        now_ms += 250;
        metadata_intake_hold(intake, BROKER, request_of(QUEUE_TRANSFER, 7, 9, "queue@b", "first"));
        buf_reset(&trace);
        now_ms += 250;
        metadata_intake_hold(intake, BROKER,
                             request_of(QUEUE_TRANSFER, cases[i].id, cases[i].incarnation,
                                        cases[i].client, "second"));
        assert_int_equal(put_count, cases[i].same ? 1 : 2);
        if (cases[i].same) {
            assert_trace("drop 7\n");
        }
        buf_reset(&trace);
        end_put(0, STATUS_OK);
        assert_trace(cases[i].same ? "taken 7 'second' OK the store says\n"
                                   : "taken 7 'first' OK the store says\n");
        if (!cases[i].same) {
            end_put(1, STATUS_OK);
        }
        metadata_intake_free(intake);
        buf_reset(&trace);
    }
}

/* ---- scope ---- */

static char version_path[SCRATCH_SIZE + 32];

static void
write_version(time_t seconds, long nanoseconds)
{
    struct buf path;
    buf_init(&path, 4096);
    scope_edition_path(folder, &path);
    snprintf(version_path, sizeof version_path, "%s", path.data);
    buf_release(&path);
    const int file = open(version_path, O_CREAT | O_WRONLY, 0600);
    const struct timespec times[] = {{seconds, nanoseconds}, {seconds, nanoseconds}};
    assert_true(file >= 0);
    assert_int_equal(futimens(file, times), 0);
    close(file);
}

static void
open_scope(struct daemon_scope *scope, size_t nodes)
{
    read_cluster(nodes, "n0");
    const struct broker_options options = {.directory = folder, .cluster = cluster};
    daemon_scope_open(scope, &options, NULL);
}

static void
a_node_alone_reads_versions_that_are_new(void **state)
{
    struct daemon_scope scope;
    (void)state;
    open_scope(&scope, 1);
    assert_true(scope.alone);
    daemon_scope_look(&scope, BROKER); /* there is no file: it is looked for each time */
    daemon_scope_look(&scope, BROKER);
    assert_trace("edition\nscope 0 ''\nedition\nscope 0 ''\n");
    files.version = 3;
    write_version(1000, 5);
    daemon_scope_look(&scope, BROKER);
    assert_trace("edition\nscope 3 ''\n");
    daemon_scope_look(&scope, BROKER);
    assert_trace("");
    write_version(1000, 6);
    daemon_scope_look(&scope, BROKER);
    assert_trace("edition\nscope 3 ''\n");
    write_version(1001, 6);
    daemon_scope_look(&scope, BROKER);
    assert_trace("edition\nscope 3 ''\n");
    char old[sizeof version_path + 4];
    snprintf(old, sizeof old, "%s.o", version_path);
    assert_int_equal(rename(version_path, old), 0); /* keeps its number from being given again */
    write_version(1001, 6);
    daemon_scope_look(&scope, BROKER);
    assert_trace("edition\nscope 3 ''\n");
    daemon_scope_look(&scope, BROKER);
    daemon_scope_settle(&scope, BROKER); /* nobody is told */
    assert_trace("");
    assert_int_equal(unlink(version_path), 0);
    files.version = 0;
    daemon_scope_look(&scope, BROKER);
    assert_trace("edition\nscope 0 ''\n");
    daemon_scope_close(&scope);
}

static void
other_nodes_are_told_what_changed(void **state)
{
    struct daemon_scope scope;
    (void)state;
    open_scope(&scope, 2);
    assert_false(scope.alone);
    files.version = 4;
    scope_in_force = 4; /* as before the daemon was started again */
    write_version(1000, 5);
    daemon_scope_look(&scope, BROKER);
    assert_trace("edition\nscope 4 ''\n");
    daemon_scope_settle(&scope, BROKER);
    assert_trace("");
    files.version = 5;
    write_version(1000, 6);
    daemon_scope_look(&scope, BROKER);
    assert_trace("edition\nscope 5 '+scope.hosts=b\n'\n");
    daemon_scope_settle(&scope, BROKER); /* it is not in force yet */
    assert_trace("");
    scope_in_force = 5;
    files.write = STATUS_FULL; /* they are told again some time */
    daemon_scope_settle(&scope, BROKER);
    assert_trace("told 'scope.hosts = a, b\n'\n");
    daemon_scope_settle(&scope, BROKER);
    daemon_scope_look(&scope, BROKER);
    assert_trace("");
    assert_int_equal(daemon_scope_take(&scope, SLICE("+x=y\n"), NULL), STATUS_AGAIN);
    assert_trace("take '+x=y\n'\n");
    daemon_scope_close(&scope);
}

static void
files_that_are_being_written_are_looked_at_again(void **state)
{
    struct daemon_scope scope;
    (void)state;
    open_scope(&scope, 2);
    files.version = 5;
    write_version(1000, 5);
    files.whole = false;
    daemon_scope_look(&scope, BROKER);
    assert_trace("edition\n");
    files.whole = true;
    files.read = STATUS_SYSTEM;
    daemon_scope_look(&scope, BROKER);
    assert_trace("edition\n");
    files.read = STATUS_OK;
    files.told = STATUS_SYSTEM;
    daemon_scope_look(&scope, BROKER);
    assert_trace("edition\n");
    assert_int_equal(scope.telling, 0);
    files.told = STATUS_OK;
    files.read = STATUS_NOT_FOUND; /* without rules each node has its own */
    daemon_scope_look(&scope, BROKER);
    assert_trace("edition\nscope 5 ''\n");
    assert_int_equal(scope.telling, 5);
    daemon_scope_look(&scope, BROKER);
    assert_trace("");
    daemon_scope_close(&scope);
}

/* ---- the loop ---- */

static enum status
run_daemon(struct reason *why)
{
    static const char *const endpoints[] = {"ipc://own", NULL};
    const struct queue_daemon_options options = {
        .broker = {.directory = folder, .cluster = cluster},
        .endpoints = endpoints,
        .metastore = "ipc://store",
        .ready_descriptor = 12,
    };
    return queue_daemon_run(&options, why);
}

#define BEGUN "serve as 4711\nedition\nscope 0 ''\nwork\nready 12\n"

static void
the_daemon_begins_works_and_ends(void **state)
{
    struct reason why;
    (void)state;
    read_cluster(1, "n0");
    polls_left = 1;
    assert_int_equal(run_daemon(&why), STATUS_OK);
    assert_trace("open broker\n" BEGUN "edition\nscope 0 ''\nwork\npoll 700: 44 -1\n"
                 "edition\nscope 0 ''\nwork\npoll 700: 44 -1\nclose broker\nclose server\n");
}

static int signals_fail; /* the call of the two that fails; 0: none */

int __real_sigprocmask(int how, const sigset_t *set, sigset_t *before);
int __wrap_sigprocmask(int how, const sigset_t *set, sigset_t *before);
int __real_signalfd(int descriptor, const sigset_t *set, int flags);
int __wrap_signalfd(int descriptor, const sigset_t *set, int flags);

int
__wrap_sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
    errno = EPERM;
    return signals_fail == 1 ? -1 : __real_sigprocmask(how, set, before);
}

int
__wrap_signalfd(int descriptor, const sigset_t *set, int flags)
{
    errno = EPERM;
    return signals_fail == 2 ? -1 : __real_signalfd(descriptor, set, flags);
}

/* Who cannot be told to end does not begin. */
static void
nothing_begins_without_signals(void **state)
{
    static const char *const texts[] = {"cannot block signals: ", "cannot wait for signals: "};
    (void)state;
    read_cluster(1, "n0");
    for (signals_fail = 1; signals_fail <= 2; signals_fail++) {
        struct reason why = {""};
        polls_left = 0;
        assert_int_equal(run_daemon(&why), STATUS_SYSTEM);
        assert_int_equal(strncmp(why.text, texts[signals_fail - 1], 20), 0);
        assert_trace("close none\n");
    }
    signals_fail = 0;
}

static void
what_fails_at_the_beginning_is_told(void **state)
{
    struct reason why;
    (void)state;
    read_cluster(NODES, "n1");
    open_status = STATUS_CORRUPT;
    assert_int_equal(run_daemon(&why), STATUS_CORRUPT);
    assert_string_equal(why.text, "no broker");
    assert_trace("open broker\nclose none\n");
    open_status = STATUS_OK;
    bind_failures = -1;
    bind_status = STATUS_SYSTEM; /* not worth waiting */
    assert_int_equal(run_daemon(&why), STATUS_SYSTEM);
    assert_int_equal(binds, 1);
    assert_trace("open broker\nclose broker\n");
    bind_status = STATUS_DENIED; /* its predecessor may be dying */
    binds = 0;
    assert_int_equal(run_daemon(&why), STATUS_DENIED);
    assert_int_equal(binds, 251);
    assert_trace("open broker\nclose broker\n");
    bind_failures = 3;
    client_fails = 0;
    binds = 0;
    assert_int_equal(run_daemon(&why), STATUS_SYSTEM);
    assert_int_equal(binds, 4);
    assert_trace("open broker\nopen ipc:///run/s0 as queue@n1\nclose broker\nclose server\n");
    client_fails = -1;
    work_left = 0;
    work_status = STATUS_CORRUPT;
    assert_int_equal(run_daemon(&why), STATUS_CORRUPT);
    assert_string_equal(why.text, "a store that is no more");
    assert_trace("open broker\nopen ipc:///run/s0 as queue@n1\nopen ipc:///run/s2 as queue@n1\n"
                 "serve as 4711\nedition\nscope 0 ''\nwork\nclose 0\nclose 2\nclose broker\n"
                 "close server\n");
    work_left = 1;
    assert_int_equal(run_daemon(&why), STATUS_CORRUPT);
    assert_non_null(strstr(trace.data, "ready 12\n"));
    assert_null(strstr(trace.data, "poll"));
    buf_reset(&trace);
}

static void
answer_all(void)
{
    struct reason why = {"as it is"};
    const size_t n = submitted_count;
    submitted_count = 0;
    for (size_t i = 0; i < n; i++) {
        answers(answers_context, submitted[i], i % 2 == 0 ? STATUS_OK : STATUS_CANCELLED,
                SLICE("done"), &why);
    }
    for (; put_count > 0; put_count--) {
        end_put(put_count - 1, put_count == 2 ? STATUS_OK : STATUS_FULL);
    }
}

static void
requests_are_taken_while_there_is_room(void **state)
{
    struct rpc_request requests[] = {
        {.verb = QUEUE_PUT, .id = 1, .incarnation = 5, .client = SLICE("a"), .payload = SLICE("p")},
        {.verb = QUEUE_STATS, .id = 2, .incarnation = 6, .client = SLICE("b")},
        {.verb = QUEUE_WATCH, .id = 3, .incarnation = 7, .client = SLICE("c")},
    };
    struct reason why;
    (void)state;
    read_cluster(1, "n0");
    to_come = requests;
    come_count = 3;
    room = 2; /* the third has to wait for the next round, and then for room */
    polls_left = 1;
    between = answer_all;
    assert_int_equal(run_daemon(&why), STATUS_OK);
    assert_trace("open broker\n" BEGUN "submit 1 1 of 5 'a' 'p'\nsubmit 6 2 of 6 'b' ''\n"
                 "edition\nscope 0 ''\nwork\npoll 0: 44 -1\n"
                 "reply to 1 OK 'done' as it is\ndrop 2\n"
                 "edition\nscope 0 ''\nwork\npoll 700: 44 -1\nclose broker\nclose server\n");
    assert_int_equal(come, 2);
}

static void
requests_with_metadata_wait_for_the_store(void **state)
{
    struct rpc_request requests[] = {
        {.verb = QUEUE_FORGET, .id = 1, .incarnation = 5, .client = SLICE("a")},
        {.verb = QUEUE_FORGET, .id = 2, .incarnation = 6, .client = SLICE("b")},
        {.verb = QUEUE_TRANSFER, .id = 3, .incarnation = 7, .client = SLICE("c")},
    };
    struct reason why;
    char wanted[1024];
    (void)state;
    read_cluster(1, "n0");
    to_come = requests;
    come_count = 3;
    room = 8;
    polls_left = 2;
    store_wait_ms = 20;
    between = answer_all;
    metadata[0].key = "uhttp://a/";
    metadata[0].fields = good_fields();
    metadata_count = 1;
    const size_t n = strlen(good_fields());
    assert_int_equal(run_daemon(&why), STATUS_OK);
    snprintf(wanted, sizeof wanted,
             "open broker\n" BEGUN "open store ipc://store\nput uhttp://a/+%zu\n"
             "reply to 2 AGAIN '' another command has this node forget one\n"
             "put uhttp://a/+%zu\nedition\nscope 0 ''\nwork\npoll 0: 44 55\n"
             "submit 9 3 of 7 'c' ''\nreply to 1 FULL '' the store says\n"
             "process store\nedition\nscope 0 ''\nwork\npoll 20: 44 55\n"
             "reply to 3 OK 'done' as it is\nprocess store\nedition\nscope 0 ''\nwork\n"
             "poll 20: 44 55\nclose store\nclose broker\nclose server\n",
             n, n);
    assert_trace(wanted);
}

static void
a_round_passes_the_links_and_tells_of_the_scope(void **state)
{
    struct reason why;
    (void)state;
    read_cluster(NODES, "n1");
    outgoing = 0;
    files.version = scope_in_force = 2;
    client_wait_ms[2] = 9;
    assert_int_equal(run_daemon(&why), STATUS_OK);
    assert_trace("open broker\nopen ipc:///run/s0 as queue@n1\nopen ipc:///run/s2 as queue@n1\n"
                 "serve as 4711\nedition\nscope 2 ''\nwork\nready 12\n" SIGN(0) SIGN(
                     2) "edition\nscope 2 ''\nwork\npost 9 to 0: 6a 62\npoll 9: 44 -1 100 102\n"
                        "close 0\nclose 2\nclose broker\nclose server\n");
}

/* What the poll says of a link's descriptor is what is made of that link. */
static void
links_are_passed_what_was_polled(void **state)
{
    enum { POLLS = 3, SECOND = 102 };
    struct reason why;
    (void)state;
    read_cluster(NODES, "n1");
    outgoing = 0;
    client_wait_ms[0] = client_wait_ms[2] = 9;
    polls_left = POLLS;
    readable = SECOND;
    assert_int_equal(run_daemon(&why), STATUS_OK);
    assert_int_equal(processed[0], 1); /* before anybody has polled */
    assert_int_equal(processed[2], 1 + POLLS);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(every_other_node_has_a_link),
        CASE(signs_of_life_are_asked_for_once_a_second),
        CASE(many_nodes_ask_less_often),
        CASE(who_is_silent_for_five_seconds_is_down),
        CASE(jobs_are_sent_and_their_ends_told),
        CASE(messages_to_a_node_keep_their_distance),
        CASE(links_are_asked_when_there_is_something),
        CASE(metadata_is_put_before_its_request_goes_on),
        CASE(without_a_store_metadata_is_refused),
        CASE(requests_that_wait_end_in_any_order),
        CASE(requests_wait_for_each_other),
        CASE(a_repetition_takes_the_place_of_what_it_repeats),
        CASE(a_node_alone_reads_versions_that_are_new),
        CASE(other_nodes_are_told_what_changed),
        CASE(files_that_are_being_written_are_looked_at_again),
        CASE(the_daemon_begins_works_and_ends),
        CASE(nothing_begins_without_signals),
        CASE(what_fails_at_the_beginning_is_told),
        CASE(requests_are_taken_while_there_is_room),
        CASE(requests_with_metadata_wait_for_the_store),
        CASE(a_round_passes_the_links_and_tells_of_the_scope),
        CASE(links_are_passed_what_was_polled),
    };
    return cmocka_run_group_tests_name("daemon_steps", tests, NULL, NULL);
}
